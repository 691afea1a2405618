/* activity.h - integrals of |P|, P and P^2 over the steps of a run
 *
 * Each step is integrated by Lobatto's rule with five points: its two ends, known from the integrator itself, and three
 * places inside. Through the five values goes a polynomial of degree four, which that rule integrates exactly; where it
 * may change sign (its Bernstein coefficients do) its zeros are located and |P| is integrated piece by piece. So a
 * change of sign costs no further evaluation of powers.
 *
 * Beside the elements' powers further channels may be integrated the same way, and all of them sampled on uniform
 * grids: the samples are values of those polynomials, and the energies that go with them their integrals, so that
 * samples cost no evaluation either.
 *
 * units    powers in W, integrals in J and W^2 s
 * errors   as the evaluations of model.h: 0, 1, -1
 */
#ifndef BG_ACTIVITY_H
#define BG_ACTIVITY_H

#include "model.h"

typedef struct activity activity;

/* Channels behind the elements' powers: values from those powers and the state. Returns as the evaluations of model.h.
 * step, if not NULL, is called for each piece of a step of length h, with the values of all channels, in order, at the
 * five places of quartic.h. */
typedef struct activity_extra {
    size_t n;
    int (*evaluate)(void *ctx, double t, const double *x, const double *power, double *value);
    void *ctx;
    void (*step)(void *ctx, double h, const double *const value[5]);
} activity_extra;

/* One moment of a grid. Channels: elements, then the extra ones. At a break the values are those right of it. */
typedef struct activity_sample {
    size_t index, window; /* of all samples; which window, from 0 */
    bool first;           /* of its window */
    double t;
    const double *value, *energy; /* [channels]; energy: integral since the run's first window began, gaps left out */
} activity_sample;

/* A grid of about n moments: each window gets a share by its length, at least its two ends; a single window exactly n.
 */
typedef struct activity_sampler {
    size_t n;
    void (*take)(void *ctx, const activity_sample *s);
    void *ctx;
} activity_sampler;

/* extra: NULL for none; it must outlive the handle. */
activity *activity_new(bg_model *m, const activity_extra *extra);
void activity_free(activity *a);
/* Samplers, over windows border[0]..border[1], border[2]..border[3], ... (ascending). Before the first step; copied. */
void activity_sample_over(activity *a, const activity_sampler *s, size_t n, const double *border, size_t nborders);

/* A stretch begins at (t, x): after the start, after a switching, at a window. */
int activity_begin(activity *a, double t, const double *x);
/* The step from where the last call ended to t; x[0..2] at the inner places of quartic.h, x[3] at its end. */
int activity_step(activity *a, double t, const double *const x[4]);

/* Totals, each [channels]. */
void activity_totals(activity *a, double *absolute, double *square, double *net);
double
activity_imbalance(const activity *a); /* greatest |sum of powers| at step ends over the greatest |P| up to then */

#endif
