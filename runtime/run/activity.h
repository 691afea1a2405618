/* activity.h - integrals of |P|, P and P^2 over the steps of a run: here activity is summed
 *
 * Each step is integrated by Lobatto's rule with five points: its ends, known from the integrator, and three inner
 * points. A polynomial of degree four through the five values is integrated exactly by that rule. If the polynomial may
 * change its sign (judging by its Bernstein coefficients), its zeros are located and |P| is integrated piece by piece.
 * So a change of sign needs no further evaluation of powers.
 *
 * Further channels besides the elements' powers may be integrated in the same way, and all of them sampled on uniform
 * grids: samples are values of the polynomials, and the energies that belong to them are their integrals, so that
 * samples need no evaluation either.
 *
 * units    powers in W, integrals in J and W^2 s
 * errors   as the evaluations of model.h: 0, 1, -1
 */
#ifndef BG_ACTIVITY_H
#define BG_ACTIVITY_H

#include "model.h"

typedef struct activity activity;

/* Further channels after the elements' powers, computed from those powers and the state. Status as the evaluations of
 * model.h. step, if not NULL, is called for each piece of a step, of length h, with the values of all channels, in
 * order, at the five places of quartic.h. */
typedef struct activity_extra {
    size_t n;
    int (*evaluate)(void *ctx, double t, const double *x, const double *power, double *value);
    void *ctx;
    void (*step)(void *ctx, double h, const double *const value[5]);
} activity_extra;

/* One moment of a grid. Channels: elements, then the extra ones. At a discontinuity the values are those after it. */
typedef struct activity_sample {
    size_t index, window; /* index of the sample; index of the window, from 0 */
    bool first;           /* the first one in its window */
    double t;
    /* [channels]; energy: integral since the beginning of the first window, without gaps */
    const double *value, *energy;
} activity_sample;

/* A grid of about n moments: each window gets a number in proportion to its length, at least its two ends; a single
 * window gets exactly n. */
typedef struct activity_sampler {
    size_t n;
    void (*take)(void *ctx, const activity_sample *s);
    void *ctx;
} activity_sampler;

/* extra: NULL for none; must outlive the handle. */
activity *activity_new(bg_model *m, const activity_extra *extra);
void activity_free(activity *a);
/* Sets samplers for the windows border[0]..border[1], border[2]..border[3], ... (ascending). Call before the first
 * step; copied. */
void activity_sample_over(activity *a, const activity_sampler *s, size_t n, const double *border, size_t nborders);

/* A smooth stretch begins at (t, x): at the start, after a switching, at a window. */
int activity_begin(activity *a, double t, const double *x);
/* The step from the end of the last call to t; x[0..2] at the inner places of quartic.h, x[3] at its end. */
int activity_step(activity *a, double t, const double *const x[4]);

/* Totals, each [channels]. */
void activity_totals(activity *a, double *absolute, double *square, double *net);
double
activity_imbalance(const activity *a); /* greatest |sum of powers| at ends of steps, over the greatest |P| so far */

#endif
