/* events.h - the modes of a model: set, watched, switched
 *
 * A mode is a frozen condition or piece of a table. Between switchings the model is smooth. Known modes (linear in
 * time) switch at times computed beforehand. The others are watched through margins: the distance of a condition from
 * contradicting its mode, negative when it does. A mode has the value that holds just after the present time (right
 * limit). sign(x) has two modes: which way x slips, and whether it sticks.
 */
#ifndef BG_EVENTS_H
#define BG_EVENTS_H

#include "model.h"

typedef struct events events;

enum events_status {
    EVENTS_SAME, /* nothing switched */
    EVENTS_SWITCHED,
    EVENTS_SAMPLED, /* samples set states, and nothing switched */
    EVENTS_FAILED,  /* the conditions could not be evaluated */
    EVENTS_STOP     /* a condition switches without end, or a reinit has no value; a diagnostic is given */
};

events *events_new(bg_model *m, double start, double stop);
void events_free(events *e);
/* Called before a `when` or `every` sets anything, with the state and modes at that moment; first: it is a first
 * sample. */
void events_follow(events *e, void (*fire)(void *ctx, size_t when, bool first, const double *x), void *ctx);

/* How far rates dx move the states in a time, in parts of the tolerance; and the tolerance itself. */
void events_measure(events *e, double (*moves)(void *ctx, const double *dx, double time),
                    void (*tolerated)(void *ctx, double *dx), void *ctx);

/* s: how far ahead a search of modes may look; it assumes that nothing else happens until then. */
double events_ahead(const events *e);

/* Sets all modes for (t, x), with what follows from them. Here and below, x moves where ideal switches require it. */
enum events_status events_start(events *e, double t, double *x);

/* Switches modes that are contradicted at (t, x) until all agree, if these are only pieces of tables and comparisons:
 * no friction, no ideal switch, no equality. False: they do not agree. */
bool events_agree(events *e, double t, const double *x);
/* Other values that watched mode k could have, if events_agree switches it: up to n, the nearest first. */
size_t events_others(const events *e, uint32_t k, double *value, size_t n);

/* The next known switching or sample after the present time; INFINITY if there is none. */
double events_next(const events *e);
/* Switches what is due at t, and what follows from it. */
enum events_status events_due(events *e, double t, double *x);

/* Is a sample due at t? events_act takes it. */
bool events_sample_due(const events *e, double t);
size_t events_samples(const events *e); /* taken so far */
/* Do the times of samples make sense? False: said. */
bool events_check(const events *e);
/* The condition of a `stop when` that turned true, NO_INDEX: none did. */
size_t events_stopped(const events *e);

/* A value that conditions may read has jumped at t (a delayed value): switches what follows from it. */
enum events_status events_jolted(events *e, double t, double *x);

/* The mode that switched last, NO_INDEX: none did. */
size_t events_last(const events *e);

/* Are there modes that must be watched? */
bool events_watched(const events *e);
/* Call at the start (t, x) of a step: notes which margins are not positive there (just switched). False: they cannot
 * be evaluated. */
bool events_mark(events *e, double t, const double *x);
/* The least margin of the watched modes at (t, x), each relative to its size so far. False: they cannot be evaluated.
 */
bool events_margin(events *e, double t, const double *x, double *least);
/* Switches at (t, x) the modes that are contradicted at (t_seen, x_seen), a point at or just after t, and what follows
 * from them. */
enum events_status events_switch(events *e, double t_seen, const double *x_seen, double t, double *x);

/* The effects of a switching, or of the start, on states: an x that sticks is set to exactly zero, conditions of the
 * text that turned true act, and modes follow. EVENTS_SWITCHED: x changed by more than rounding. */
enum events_status events_act(events *e, double t, double *x);
/* Had an x that sticks moved away from zero at the last events_margin, by more than this part of its size? events_act
 * puts it back. */
bool events_drifted(const events *e, double part);

/* Sets the watched and known modes for an equilibrium at (t, x): without right limits and guards. True if a mode
 * changed. */
bool events_settle(events *e, double t, const double *x);
/* Is there a combination of ideal switches that is consistent at (t, x)? It is set, and x moved onto its constraints.
 */
bool events_consistent(events *e, double t, double *x);

#endif
