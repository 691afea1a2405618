/* crossing.h - how small changes of states and parameters pass an event: a switching, a jump or a sample
 *
 * The time of a switching moves. With g the condition that changes sign, and f-, f+ the rates before and after:
 *     dt = -(g_x s + g_q)/(g_x f- + g_t),   s+ = R(s + f- dt, q, dt) - f+ dt
 * Where ideal switches alone act, and move no state, R follows the flow after the event, R_x f+ + R_t = f+, so that
 *     s+ = R_x (s + (f- - f+) dt) + R_q
 * in which nothing cancels where a condition crosses its border so slowly that dt is large.
 * R is what the events did to the states, one after the other in the order in which they acted (the identity where they
 * set none), followed by what closing ideal switches do (charges are shared, a current stops). The time of a sample is
 * a formula of parameters. Slopes of conditions and of the values set are central differences. The transposed map
 * carries derivatives backwards.
 *
 * source   Galan, Feehery, Barton (1999), Appl. Numer. Math. 31:17
 */
#ifndef BG_CROSSING_H
#define BG_CROSSING_H

#include "simulate.h"

/* What one `when` or `every` did: the state and modes before it. first: the first sample, which first sets the memories
 * of `previous`. */
typedef struct firing {
    size_t when;
    bool first;
    double *x, *modes;
} firing;

typedef struct crossing {
    double t;
    double *x, *modes, *modes_after, *rate[2]; /* before; rates before and after */
    double *kicked;                            /* states before ideal switches act on them; NULL: none act */
    size_t trigger;                            /* the condition that determines the time; NO_INDEX: none */
    double slope;                              /* its slope in time */
    size_t sample;                             /* the `every` that determines the time; NO_INDEX: none */
    VEC(firing) fired;
    bool still;  /* ideal switches act and move no state */
    bool smooth; /* nothing fired and the rates do not jump: the exact time does not matter */
} crossing;
void crossing_free(crossing *c);

typedef struct crossings crossings;

/* by: n parameters; length: of the run, s. All of them must outlive the result. */
crossings *crossings_new(bg_model *m, const var_id *by, size_t n, double length);
void crossings_free(crossings *w);
/* Sizes of the states as far as they are known (sim_scales): steps of differences for states that are zero. */
void crossings_scales(crossings *w, const double *scale);
/* Called as a follower (simulate.h) is told of events. False: a value is not defined. */
void crossings_fire(crossings *w, size_t when, bool first, const double *x);
bool crossings_jump(crossings *w, double t, const double *x, const double *modes, const double *after, crossing **part,
                    size_t *n);
/* The same at the start of the run, at x, where time does not move: what fired, and what ideal switches that are closed
 * make of the states. False: neither. */
bool crossings_begin(crossings *w, double t, const double *x, crossing *c);
/* number of crossings whose time could not be differentiated, because a condition only touches its border */
size_t crossings_lost(const crossings *w);

/* Replaces s before the event by s after it. q: the parameter; jump: the state whose jumps are varied; NO_INDEX:
 * none. */
bool crossing_forward(crossings *w, const crossing *c, size_t q, size_t jump, double *s);
/* Replaces lambda after the event by lambda before it; adds to the gradient and to the derivatives by sizes of jumps
 * [states]. */
bool crossing_back(crossings *w, const crossing *c, double *lambda, double *gradient, double *by_jump);

/* Step of a central difference by a parameter. */
double parameter_step(const bg_model *m, var_id v);

#endif
