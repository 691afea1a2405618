/* scales.h - the size of each state, and the error of it that does not matter
 *
 * A stated atol is one number for all states. Without one each state has its own, a thousandth of rtol times its scale:
 * small enough not to matter while the state has its usual size, large enough that a state passing through zero, or at
 * rest up to rounding, does not stop the run. The scale is the greatest of
 *   - the largest |x| so far, and at the start (sum of the magnitudes of the terms in its rate) / (spectral radius).
 *     That is the change which such terms can cause, hence the noise at rest;
 *   - at the start, for what sticks, the change that slipping friction would cause in that time;
 *   - the change that the greatest value of an input that depends on time alone will cause while it lasts;
 *   - a thousandth of sqrt(2E/H), where H is the second derivative of the energy by this state (1/m, k) and E the
 *     largest energy that a state of the same connected part of the graph has stored so far. What has a millionth of
 *     the present energy, or less, moves nothing;
 *   - the following, but no more than a hundred times the largest |x| so far, so that what is small beside others (a
 *     stiff spring's displacement, electronics beside a machine that they control) is followed nevertheless: a
 *     thousandth of the largest state of its unit (the rounding of what its part stores even if that is more);
 *     three hundredths of sqrt(2E/H); a millionth of it for E of the whole model;
 *   - for a state that stores no energy (an integral), a thousandth of the change that the terms of its rate can cause
 *     when each state has its size.
 * A state that rests while large terms of its rate cancel (coils between equal voltages) is moved by rounding errors
 * and has no scale of its own: the change that rounding will have caused at the end of the run is tolerated.
 *
 * units    states in SI; weights are 1/(rtol |x| + atol)
 */
#ifndef BG_SCALES_H
#define BG_SCALES_H

#include "model.h"

typedef struct scales scales;

/* rtol > 0; atol > 0: the same for all states; otherwise from the sizes. */
scales *scales_new(bg_model *m, double rtol, double atol);
void scales_free(scales *s);

/* Do the tolerances come from the sizes? */
bool scales_sized(const scales *s);
/* The run begins at x with complete sizes; later calls with `all` only set the unknown ones. */
void scales_begin(scales *s, const double *x);
void scales_begun(scales *s);
/* Updates the scales after sizes changed; call now and then; linear in the states. */
void scales_update(scales *s);
void scales_weights(scales *s, const double *x, double *w);
/* The scales themselves, at least |x|; 0 if unknown. */
void scales_of(const scales *s, const double *x, double *scale);

/* Is the size of any state unknown that has a rate? Sizes do not fall back to zero. */
bool scales_unknown(scales *s);
/* Are the rates f of all of these exactly zero? */
bool scales_idle(const scales *s, const double *f);
/* Later in the run, inputs that depend on time alone will move the states by the rates f for this time, from x on:
 * updates the sizes in advance. evaluate: the rates there; 0 if they could be evaluated. */
void scales_peak(scales *s, const double *x, const double *f, double time,
                 int (*evaluate)(void *ctx, const double *x, double *f), void *ctx);
/* Sizes from the terms that move the states: f are the rates at (t, x), `time` the time in which they act (1/spectral
 * radius). `all`: at the start, and later while some sizes are unknown; otherwise only for states without energy.
 * evaluate: the rates, 0 if they could be evaluated; scratch[0..1]: [n] each. */
void scales_from_rates(scales *s, const double *x, const double *f, double time, bool all,
                       int (*evaluate)(void *ctx, const double *x, double *f), void *ctx, double *const scratch[2]);

/* The same for states beside infinite slopes, where the spectral radius is that of a point and tells no time: what the
 * rates move those by whose size is unknown, until the rates have changed by as much as they are, within `time` at
 * most.
 */
void scales_beside_roots(scales *s, const double *x, const double *f, double time,
                         int (*evaluate)(void *ctx, const double *x, double *f), void *ctx, double *size);
/* Sizes that are far less than these are these. */
void scales_not_far_below(scales *s, const double *size);

/* The rates, and their rounding errors, which move the states for this time where nothing else does. Did a tolerance
 * become larger? */
bool scales_rounded(scales *s, const double *f, const double *noise, double time);

#endif
