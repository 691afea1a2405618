/* response.h - the frequency response of a linear system at many frequencies
 *
 * The system is balanced and reduced to Hessenberg form once; each frequency then costs n^2.
 *
 * units    omega in rad/s; shapes as in state_space.h
 */
#ifndef BG_RESPONSE_H
#define BG_RESPONSE_H

#include <complex.h>

#include "state_space.h"

typedef struct responder responder;

/* NULL: the matrix is not finite. */
responder *responder_new(const state_space *s);
void responder_free(responder *r);
/* G(i omega), ny by nu by columns; omega may be infinite. False: i omega is an eigenvalue. */
bool response_at(responder *r, double omega, double complex *G);
/* The response at any point of the complex plane. */
bool transfer_at(responder *r, double complex at, double complex *G);
/* Greatest singular value of the response at i omega; infinite at an eigenvalue. */
double response_norm(responder *r, double omega);

#endif
