/* delays.h - delayed values: the history of a run, and the times at which it is not smooth
 *
 * Delayed quantities are stored as polynomials of degree four over the pieces of past steps, from the dense output. A
 * step is at most as long as the shortest delay, so that it does not depend on itself, and at most a few pieces of the
 * history that it reads. A step ends wherever a delayed quantity jumps or has a corner (the start, events, samples, and
 * their echoes one delay later), because integrators assume that what they read is smooth.
 *
 * units    s
 * source   Bellen & Zennaro (2003), Numerical Methods for Delay Differential Equations, ch. 2 to 4: method of steps,
 *          breaking points, their growing smoothness
 */
#ifndef BG_DELAYS_H
#define BG_DELAYS_H

#include "model.h"

typedef struct delays delays;

/* NULL: the model has no delays. Sets the model's delayed values until delays_free. */
delays *delays_new(bg_model *m, double start, double stop);
void delays_free(delays *d);
/* Computes the values before the start from the states there. 0, or the status of the evaluations; < 0 also if the
 * values make no sense, with a diagnostic. */
int delays_start(delays *d, double t, const double *x);

/* The next time at which a delayed quantity jumps or has a corner; INFINITY: none. */
double delays_next(const delays *d);
/* The latest end of a step from t. */
double delays_limit(delays *d, double t);
/* From here on, the value at t itself is the one just after t. */
void delays_from(delays *d, double t);
/* Puts delayed values at t into the modes. */
void delays_give(delays *d, double t, double *modes);
/* Stores the delayed quantities over t0..t1, from the states at its ends and at the three places of quartic.h. Status
 * as the evaluations. */
int delays_keep(delays *d, double t0, double t1, const double *const x[5]);

enum delays_break { DELAYS_SMOOTH, DELAYS_BENDS, DELAYS_JUMPS };
/* Tells what delayed values do at t, a time that is then passed. */
enum delays_break delays_pass(delays *d, double t);
/* A delayed quantity jumps or has a corner at t, where the run restarts from x. */
int delays_mark(delays *d, double t, const double *x);

#endif
