/* gramians.h - what a stable linear system transmits: Gramians, Hankel singular values, balanced truncation
 *
 * A P + P A^T + B B^T = 0, A^T Q + Q A + C^T C = 0; Hankel values: square roots of the eigenvalues of P Q. Of balanced
 * truncation to order r the H-infinity error is at most twice the sum of the values left out (Moore 1981; Glover 1984).
 *
 * What is not asymptotically stable but is not transmitted either (redundant states) is left out first.
 *
 * shapes   by columns, as state_space.h; units SI
 */
#ifndef BG_GRAMIANS_H
#define BG_GRAMIANS_H

#include "state_space.h"

/* The stable part of s in `out` (of order out->n). False: a mode that is not stable is transmitted, *why (free it) says
 * so. */
bool stable_part(const state_space *s, state_space *out, char **why);
/* Solves A X + X A^T + Q = 0 for X (n by n), Q symmetric, A stable. False: A has eigenvalues of opposite sign.
 * transposed: with A^T instead of A. */
bool lyapunov(size_t n, const double *A, const double *Q, bool transposed, double *X);
/* The controllability and observability Gramians of a stable system, malloc'ed. */
bool gramians(const state_space *s, double **P, double **Q);
/* Hankel singular values, falling, s->n of them; malloc'ed. NULL: the Gramians cannot be found. */
double *hankel_values(const state_space *s);
/* Balanced and truncated to order r <= s->n. False: as above, or value r is rounding. */
bool balanced_truncation(const state_space *s, size_t r, state_space *out);
/* The system whose response is that of a minus that of b. */
state_space difference_of(const state_space *a, const state_space *b);

#endif
