/* activity.h - integrals of |P|, P and P^2 over the steps of a run
 *
 * Each step is integrated by Lobatto's rule with five points: its two ends, known from the integrator itself, and three places inside. Through the five
 * values goes a polynomial of degree four, which that rule integrates exactly; where it may change sign (its Bernstein coefficients do) its zeros are located
 * and |P| is integrated piece by piece. So a change of sign costs no further evaluation of powers.
 *
 * units    powers in W, integrals in J and W^2 s
 * errors   as the evaluations of model.h: 0, 1, -1
 */
#ifndef BG_ACTIVITY_H
#define BG_ACTIVITY_H

#include "../compiler/model.h"

typedef struct activity activity;

/* Where the three inner places are, as parts of the step. */
extern const double activity_place[3];

activity *activity_new(bg_model *m);
void activity_free(activity *a);

/* A stretch begins at (t, x): after the start, after a switching, at a window. */
int activity_begin(activity *a, double t, const double *x);
/* The step from where the last call ended to t; x[0..2] at the inner places, x[3] at its end. */
int activity_step(activity *a, double t, const double *const x[4]);

/* Totals, each [nelements]. */
void activity_totals(activity *a, double *absolute, double *square, double *net);
double activity_imbalance(const activity *a);   /* greatest |sum of powers| at step ends over the greatest |P| up to then */

#endif
