/* crossing.h - what happens to small changes of states and parameters where something switches, jumps or is sampled
 *
 * The time of a switching moves: with g the condition that changed sign, f- and f+ the rates before and after,
 *     dt = -(g_x s + g_q)/(g_x f- + g_t),   s+ = R(s + f- dt, q, dt) - f+ dt
 * R being what the events did, one after the other in the order in which they acted (states themselves without any),
 * then what ideal switches that close do (charges are shared, a current stops).
 * The time of a sample is a formula of parameters. Slopes of conditions and of what is set are central differences.
 * Transposed, the same carries derivatives back.
 *
 * source   Galan, Feehery, Barton (1999), Appl. Numer. Math. 31:17
 */
#ifndef BG_CROSSING_H
#define BG_CROSSING_H

#include "simulate.h"

/* What one `when` or `every` did: the state and the modes that it found. first: the first sample, which sets memories
 * of `previous` before it. */
typedef struct firing {
    size_t when;
    bool first;
    double *x, *modes;
} firing;

typedef struct crossing {
    double t;
    double *x, *modes, *modes_after, *rate[2]; /* before; rates before and after */
    double *kicked;                            /* the states that ideal switches act on then; NULL: there are none */
    size_t trigger;                            /* the condition whose time it is, NO_INDEX: none */
    double slope;                              /* of it in time */
    size_t sample;                             /* the `every` whose time it is, NO_INDEX */
    VEC(firing) fired;
    bool smooth; /* nothing fired, and the rates do not jump: when it happens does not matter */
} crossing;
void crossing_free(crossing *c);

typedef struct crossings crossings;

/* by: n parameters; length: of the run, s. All must outlive it. */
crossings *crossings_new(bg_model *m, const var_id *by, size_t n, double length);
void crossings_free(crossings *w);
/* How large the states are, as far as is known by now (sim_scales): what differences of states at zero are taken by. */
void crossings_scales(crossings *w, const double *scale);
/* As a follower (simulate.h) is told them. False: something has no value there. Takes what fired since the last.
 * part: n crossings, one after the other, for conditions that reach their borders at one instant have times of their
 * own; each to be freed, and the array. */
void crossings_fire(crossings *w, size_t when, bool first, const double *x);
bool crossings_jump(crossings *w, double t, const double *x, const double *modes, const double *after, crossing **part,
                    size_t *n);
/* The same at the start of the run, at x, where time does not move: what fired, and what ideal switches that are closed
 * make of the states. False: neither. */
bool crossings_begin(crossings *w, double t, const double *x, crossing *c);
size_t crossings_lost(const crossings *w); /* whose time could not be moved: a condition only touches there */

/* s behind it from s before, in place. q: the parameter, jump: the state whose jumps move in size; NO_INDEX: none. */
bool crossing_forward(crossings *w, const crossing *c, size_t q, size_t jump, double *s);
/* lambda before from that behind, in place; adds to the gradient and to that by the sizes of jumps [states]. */
bool crossing_back(crossings *w, const crossing *c, double *lambda, double *gradient, double *by_jump);

/* How far a parameter is moved where a derivative is taken by differences. */
double parameter_step(const bg_model *m, var_id v);

#endif
