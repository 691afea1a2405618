/* events.h - the modes of a model: set, watched, switched
 *
 * A mode is a frozen condition or piece of a table. Between switchings the model is smooth. Known modes (linear in
 * time) switch at times worked out beforehand; the others are watched through margins: how far each condition is from
 * contradicting its mode, below zero when it does. A mode has the value that holds just after the present time (right
 * limit). sign(x) has two: which way x slips, and whether it sticks.
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
    EVENTS_STOP     /* a condition switches without end, a reinit has no value; diagnostic given */
};

events *events_new(bg_model *m, double start, double stop);
void events_free(events *e);
/* Told before what a `when` or `every` sets: with the state and the modes that it finds; first: it is a first sample.
 */
void events_follow(events *e, void (*fire)(void *ctx, size_t when, bool first, const double *x), void *ctx);

/* How much states move by rates dx in a time, in parts of what is tolerated; what is tolerated. */
void events_measure(events *e, double (*moves)(void *ctx, const double *dx, double time),
                    void (*tolerated)(void *ctx, double *dx), void *ctx);

/* Sets all modes for (t, x) and what follows. Here as below, x moves where ideal switches ask for it. */
enum events_status events_start(events *e, double t, double *x);

/* Switches what contradicts its mode at (t, x) until all agree, where only pieces, comparisons and their like do: no
 * friction, no ideal switch, nothing that is to be equal. False: they do not. */
bool events_agree(events *e, double t, const double *x);
/* Values that watched mode k could have instead, of those that events_agree switches: up to n, the nearest first. */
size_t events_others(const events *e, uint32_t k, double *value, size_t n);

/* Next known switching or sample after the present time, INFINITY if there is none. */
double events_next(const events *e);
/* Switches what is due at t, and what follows from it. */
enum events_status events_due(events *e, double t, double *x);

/* Is a sample due at t? events_act takes it. */
bool events_sample_due(const events *e, double t);
size_t events_samples(const events *e); /* taken so far */
/* Do the times of samples make sense? False: said. */
bool events_check(const events *e);
/* The condition of a `stop when` that turned true, SIZE_MAX: none did. */
size_t events_stopped(const events *e);

/* Something that conditions may read jumped at t (a delayed value): switches what follows. */
enum events_status events_jolted(events *e, double t, double *x);

/* The mode that switched last, SIZE_MAX: none did. */
size_t events_last(const events *e);

/* Are there modes that must be watched? */
bool events_watched(const events *e);
/* A step begins at (t, x): notes which margins are not above zero there (just switched). False: not evaluable. */
bool events_mark(events *e, double t, const double *x);
/* Least margin of the watched modes at (t, x), each relative to its size so far. False: not evaluable. */
bool events_margin(events *e, double t, const double *x, double *least);
/* Switches at (t, x) what contradicts its mode at (t_seen, x_seen), a point at or just behind t, and what follows from
 * it. */
enum events_status events_switch(events *e, double t_seen, const double *x_seen, double t, double *x);

/* What follows from a switching, or from the start, in the states: x that sticks is put to zero exactly, conditions of
 * the text that turned true set theirs anew, and modes follow. EVENTS_SWITCHED: x changed by more than rounding. */
enum events_status events_act(events *e, double t, double *x);
/* Has an x that sticks moved from zero at the last events_margin, by more than this part of its size? events_act puts
 * it back. */
bool events_drifted(const events *e, double part);

/* Sets the watched and known modes for rest at (t, x): no right limits, no guard. True if a mode changed. */
bool events_settle(events *e, double t, const double *x);

#endif
