/* transfer.h - what linear systems answer: zeros and poles, steps
 *
 * units    time in s; shapes as state_space.h
 */
#ifndef BG_TRANSFER_H
#define BG_TRANSFER_H

#include <complex.h>

#include "state_space.h"

/* Zeros and poles of one input to one output, what cancels taken out of both, and gain: G = gain * prod(s - z)/prod(s -
 * p); finite zeros only. */
struct zeros_poles {
    size_t nzeros, npoles;
    double complex *zero, *pole;
    double gain, dc; /* G(0), infinite with a pole there */
};
bool transfer_function(const state_space *s, size_t input, size_t output, struct zeros_poles *out);
void zeros_poles_free(struct zeros_poles *z);
/* Of a step (impulse: of a pulse of area 1) at input `input`: y[k*ny + output] at times k*h, k < points. */
bool time_response(const state_space *s, size_t input, bool impulse, double h, size_t points, double *y);

#endif
