/* scales.h - how large each state is, and what error of it does not matter
 *
 * A stated atol is one number for all states. Without one each state has its own, a thousandth of rtol of its scale: so
 * small that it does not matter where the state is of its usual size, large enough that a state passing through zero,
 * or at rest but for rounding, does not stop the run. The scale is the greatest of
 *   - the largest |x| seen, and at the start (sum of the terms in its rate) / (spectral radius): what such terms can
 *     move it by, so their noise at rest;
 *   - at the start, of what sticks, what friction that slips would move it by in that time;
 *   - what the greatest value of an input that depends on time alone will move it by, while it lasts;
 *   - a thousandth of the largest state of its unit;
 *   - a thousandth of sqrt(2E/H): H is the second derivative of the energy by this state (1/m, k), E the largest energy
 *     that a state of the same connected part of the graph has stored so far; of the whole model's E a millionth. What
 *     has a millionth of the energy at hand, or less, moves nothing;
 *   - a thousandth, of a state that stores no energy (an integral), of what the terms of its rate can move it by, each
 *     state there being of its size.
 * A state that rests while large terms of its rate cancel (coils between voltages that are equal) is moved by what
 * rounding leaves of them, without a scale of its own: of it, what rounding will have moved it by when the run ends is
 * tolerated.
 *
 * units    states in SI; weights are 1/(rtol |x| + atol)
 */
#ifndef BG_SCALES_H
#define BG_SCALES_H

#include "model.h"

typedef struct scales scales;

/* rtol > 0; atol > 0: the same for all; else from the sizes. */
scales *scales_new(bg_model *m, double rtol, double atol);
void scales_free(scales *s);

/* Are the tolerances from the sizes? */
bool scales_sized(const scales *s);
/* The run begins at x; its sizes are complete, and later calls for all mean the unknown ones. */
void scales_begin(scales *s, const double *x);
void scales_begun(scales *s);
/* Sizes changed: the scales follow. Now and then; linear in the states. */
void scales_update(scales *s);
void scales_weights(scales *s, const double *x, double *w);
/* The scales themselves, at least |x|; 0 where nothing is known. */
void scales_of(const scales *s, const double *x, double *scale);

/* Has a state no size yet? */
bool scales_unknown(const scales *s);
/* What depends on time alone moves the states by other rates than f for so long, later in the run, from x on: sizes,
 * before any of it happens. evaluate: the rates there, 0 if they could be evaluated. */
void scales_peak(scales *s, const double *x, const double *f, double time,
                 int (*evaluate)(void *ctx, const double *x, double *f), void *ctx);
/* Sizes from what moves the states: f the rates at (t, x), `time` that in which they act (1/spectral radius). `all`: at
 * the start, and later while some are unknown; else of those without energy alone, and nothing where all have one.
 * evaluate: the rates, 0 if they could be evaluated; scratch[0..1]: [n] each. */
void scales_from_rates(scales *s, const double *x, const double *f, double time, bool all,
                       int (*evaluate)(void *ctx, const double *x, double *f), void *ctx, double *const scratch[2]);

/* Rates, and what rounding leaves in them, which moves the states for so long where there is nothing else. Does more of
 * it become tolerated? */
bool scales_rounded(scales *s, const double *f, const double *noise, double time);

#endif
