/* events.h - the modes of a model: set, watched, switched
 *
 * A mode is the value of a condition, or the number of a piece of a table or of floor(), held constant while the
 * integrator takes steps, so that the model is smooth there. Known modes depend on time linearly and switch at times
 * computed beforehand. The others are watched through their margins: how far a condition g is from contradicting its
 * mode, negative when it does. At a switching, a mode takes the value that holds just after it (the right limit).
 * sign(x) has two modes: which way x slips, and whether it sticks.
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
    EVENTS_STOP     /* no modes agree, a condition switches without end, or a reinit has no value: reported */
};

events *events_new(bg_model *m, double start, double stop);
void events_free(events *e);
/* `fire` is called before a `when` or `every` sets anything, while states and modes are still as before; first: it is
 * the first sample. */
void events_follow(events *e, void (*fire)(void *ctx, size_t when, bool first, const double *x), void *ctx);

/* moves: how far rates dx move the states within a time, relative to the tolerance. tolerated: the tolerance of each
 * state, in its unit. */
void events_measure(events *e, double (*moves)(void *ctx, const double *dx, double time),
                    void (*tolerated)(void *ctx, double *dx), void *ctx);

/* Do conditions contradict their modes at (t, x), where margins were looked at last, by no more than errors within the
 * tolerance may do? */
bool events_doubtful(events *e, double t, const double *x);
/* Does a condition that turned at t0 contradict its mode where margins were looked at last? */
bool events_turn_back(const events *e, double t0);

/* s: how far ahead a search for modes looks, assuming that nothing else happens until then */
double events_ahead(const events *e);

/* Sets all modes for (t, x). Here and below, x changes where ideal switches make states jump. */
enum events_status events_start(events *e, double t, double *x);

/* Switches modes that are contradicted at (t, x) until all agree, as long as these are pieces or comparisons by < and
 * <=: no friction, no ideal switch, no equality. False: they do not agree. */
bool events_agree(events *e, double t, const double *x);
/* Up to n other values that mode k could have, the nearest first, if it is one that events_agree switches. */
size_t events_others(const events *e, uint32_t k, double *value, size_t n);

/* The next known switching or sample after the present time; INFINITY if there is none. */
double events_next(const events *e);
/* Switches what is due at t, and whatever that contradicts. */
enum events_status events_due(events *e, double t, double *x);

/* Is a sample due at t? events_act takes it then. */
bool events_sample_due(const events *e, double t);
size_t events_samples(const events *e); /* taken so far */
/* Do the times of samples make sense, and may a run of at most so many steps take them all? False: reported. */
bool events_check(const events *e, size_t most);
/* The condition of a `stop when` that turned true, NO_INDEX: none did. */
size_t events_stopped(const events *e);

/* A value that conditions may read has jumped at t (a delayed signal): switches the modes that it contradicts. */
enum events_status events_jolted(events *e, double t, double *x);

/* The mode that switched last, NO_INDEX: none did. */
size_t events_last(const events *e);

/* Are there modes that must be watched? Are several looked at? */
bool events_watched(const events *e);
bool events_watches_several(const events *e);
/* Call at the start (t, x) of a step: notes which margins are not positive there because their modes have just
 * switched. False: they cannot be evaluated. */
bool events_mark(events *e, double t, const double *x);
/* The least margin of the watched modes at (t, x), each relative to its size so far. False: they cannot be evaluated.
 */
bool events_margin(events *e, double t, const double *x, double *least);
/* ---- dips of margins between three places of one step ---- */

#define DIP_DEPTH 1e-7 /* of a condition's size: a smaller contradiction may be the integrator's error */
/* The relative margins of a mode at three times, all positive. */
struct dip {
    uint32_t mode;
    double t[3], margin[3];
};
/* Notes all margins of the last events_margin, which was at t, the first place or the one after the last noted. */
void events_trail(events *e, double t, bool first);
/* The last time noted; NAN: none. */
double events_trail_end(const events *e);
/* How fast the relative margins of these modes move, at most, from the last place to t, where conditions were evaluated
 * since. 1/s */
double events_pace(const events *e, const bool *these, double t);
/* A mode whose margins at the last three places may go below zero and come back between them. *from: 0 at first. False:
 * there are no more. */
bool events_next_dip(const events *e, size_t *from, struct dip *d);
/* Where the parabola through the margins is lowest. False: it stays clearly above zero. */
bool events_dip_lowest(const struct dip *d, double *t);
/* The margin of a mode at the last events_margin, relative to its size; NAN where it is only noise. */
double events_relative_margin(const events *e, uint32_t k);

/* Switches at (t, x) the modes that are contradicted at (t_seen, x_seen), a point at or just after t, and what follows
 * from them. */
enum events_status events_switch(events *e, double t_seen, const double *x_seen, double t, double *x);

/* What a switching, or the start, does to states: an x that sticks is set to exactly zero, `when` and `every` of the
 * text act, and the modes that this contradicts switch. EVENTS_SWITCHED: x changed by more than rounding. */
enum events_status events_act(events *e, double t, double *x);
/* Does the x of any sign(x) stick? */
bool events_sticking(const events *e);
/* At the last events_margin, was an x that sticks farther from zero than this part of its size? events_act sets it back
 * to zero. */
bool events_drifted(const events *e, double part);

/* Sets all modes for an equilibrium at (t, x): from the values of the conditions alone, without right limits and
 * guards. True: one changed. */
bool events_settle(events *e, double t, const double *x);
/* Sets modes of the ideal switches that are consistent at (t, x), and moves x onto their constraints. False: there are
 * none. */
bool events_consistent(events *e, double t, double *x);

#endif
