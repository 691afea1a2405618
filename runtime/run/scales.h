/* scales.h - the scale of each state, and the absolute error of it that is tolerated
 *
 * A stated atol is one number for all states. Without one each state has its own, a thousandth of rtol times its scale:
 * negligible while the state has its usual size, but large enough that a state that passes through zero, or is at rest
 * up to rounding, does not make the steps short. The scale is the greatest of
 *   - the largest |x| so far; at the start, (sum of the magnitudes of the terms in its rate) / (spectral radius). Such
 *     terms can cause a change of this size, and while they cancel, rounding of it;
 *   - at the start, for a state held by friction, the change that slipping friction would cause in that time;
 *   - the change that the greatest value of an input that depends on time alone will cause while it lasts;
 *   - a thousandth of sqrt(2E/H), where H is the second derivative of the energy by this state (1/m, k) and E the
 *     largest energy that a state of the same connected part of the graph has stored so far: a state with a millionth
 * of that energy hardly affects the others;
 *   - the greatest of the next three, but at most a hundred times the largest |x| so far, so that states that are small
 *     compared with others (the displacement of a stiff spring, electronics that control a machine) are still followed:
 *     a thousandth of the largest state of its unit; three hundredths of sqrt(2E/H); a millionth of sqrt(2E/H) with E
 * of the whole model. The rounding of sums with the largest state of its unit counts without that bound;
 *   - for a state that stores no energy (an integral), a thousandth of the change that the terms of its rate can cause
 *     when each state has its size.
 * A state that rests while large terms of its rate cancel (coils between equal voltages) is moved by rounding alone,
 * which says nothing of its scale. What is tolerated then is the change that rounding will have caused by the end of
 * the run.
 *
 * units    states in SI; weights are 1/(rtol |x| + atol)
 */
#ifndef BG_SCALES_H
#define BG_SCALES_H

#include "model.h"

typedef struct scales scales;

/* rtol > 0; atol > 0: the same for all states; atol = 0: from the scales. */
scales *scales_new(bg_model *m, double rtol, double atol);
void scales_free(scales *s);

/* Do the tolerances come from the scales? */
bool scales_sized(const scales *s);
/* The run begins at x. */
void scales_begin(scales *s, const double *x);
/* The sizes at the start are complete: later calls of scales_from_rates with `all` set unknown ones alone. */
void scales_begun(scales *s);
/* Updates the scales after sizes changed, in a time linear in the number of states. To be called now and then. */
void scales_update(scales *s);
/* w[n]: reciprocals of the tolerated errors, 1/(rtol |x| + atol). Raises the sizes to |x|. */
void scales_weights(scales *s, const double *x, double *w);
/* scale[n]: the scales, at least |x|; 0 if unknown. */
void scales_of(const scales *s, const double *x, double *scale);

/* Is the size of any state with a rate unknown? (Sizes never become smaller.) */
bool scales_unknown(scales *s);
/* Are the rates f of all states of unknown size exactly zero? */
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

/* size[n]: the same for models with infinite slopes, where the spectral radius varies much from point to point and
 * tells no time constant. It is how far the rates f move a state of unknown size until they have changed by their own
 * magnitude, in `time` at most; 0: the size is known, or nothing was found. */
void scales_beside_roots(scales *s, const double *x, const double *f, double time,
                         int (*evaluate)(void *ctx, const double *x, double *f), void *ctx, double *size);
/* Replaces sizes that are far below these. */
void scales_not_far_below(scales *s, const double *size);

/* noise[n]: rounding errors of the rates f, which may act for `time`. Raises the tolerances of states that nothing else
 * moves. True: one was raised. */
bool scales_rounded(scales *s, const double *f, const double *noise, double time);

#endif
