/* delays.h - what delayed values were: the history of a run, and the times at which it is not smooth
 *
 * What is delayed is kept as polynomials of degree four over the pieces of the steps so far, as the dense output has
 * it. A step is no longer than the shortest delay, so that it reads nothing of itself, and no longer than a few pieces
 * of the history that it reads. Where what is delayed jumps or bends (the start, events, samples, and what follows from
 * these one delay later) a step ends: integrators assume that what they read is smooth.
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

/* Until where a step from t may go. */
double delays_limit(delays *d, double t);
/* From here on, a value at t itself is the one just behind t. */
void delays_from(delays *d, double t);
/* Puts delayed values at t into the modes. */
void delays_give(delays *d, double t, double *modes);
/* Stores the delayed quantities over t0..t1, from the states at its ends and at the three places of quartic.h. Status
 * of the evaluations. */
int delays_keep(delays *d, double t0, double t1, const double *const x[5]);

enum delays_break { DELAYS_SMOOTH, DELAYS_BENDS, DELAYS_JUMPS };
/* What delayed values do at t, which then is behind. */
enum delays_break delays_pass(delays *d, double t);
/* A delayed quantity jumps or bends at t, where the run starts anew from x. */
int delays_mark(delays *d, double t, const double *x);

#endif
