/* transfer.h - transfer functions and time responses of linear systems: zeros, poles, steps
 *
 * units    time in s; shapes as in state_space.h
 */
#ifndef BG_TRANSFER_H
#define BG_TRANSFER_H

#include <complex.h>

#include "state_space.h"

/* Zeros and poles from one input to one output, without those that cancel, and the gain: G = gain * prod(s - z)/prod(s
 * - p); finite zeros only. */
struct zeros_poles {
    size_t nzeros, npoles;
    double complex *zero, *pole;
    double gain, dc; /* G(0), infinite if it has a pole there */
};
bool transfer_function(const state_space *s, size_t input, size_t output, struct zeros_poles *out);
void zeros_poles_free(struct zeros_poles *z);
/* Response to a step (impulse: to a pulse of area 1) at input `input`: y[k*ny + output] at times k*h, k < points. */
bool time_response(const state_space *s, size_t input, bool impulse, double h, size_t points, double *y);

#endif
