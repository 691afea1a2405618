/* gramians.h - Gramians, Hankel singular values and balanced truncation of a stable linear system
 *
 * A P + P A^T + B B^T = 0, A^T Q + Q A + C^T C = 0; the Hankel values are the square roots of the eigenvalues of P Q.
 * The H-infinity error of balanced truncation to order r is at most twice the sum of the truncated values (Moore 1981;
 * Glover 1984).
 *
 * Modes that are not asymptotically stable, but are not transmitted from inputs to outputs (redundant states), are
 * removed first.
 *
 * shapes   by columns, as in state_space.h; units SI
 */
#ifndef BG_GRAMIANS_H
#define BG_GRAMIANS_H

#include "state_space.h"

/* The stable part of s in `out` (of order out->n). False: an unstable mode is transmitted, *why (free() it) says
 * which. */
bool stable_part(const state_space *s, state_space *out, char **why);
/* Solves A X + X A^T + Q = 0 for X (n by n), Q symmetric, A stable. False: A has eigenvalues of opposite sign.
 * transposed: with A^T instead of A. */
bool lyapunov(size_t n, const double *A, const double *Q, bool transposed, double *X);
/* The controllability and observability Gramians of a stable system; free() them. */
bool gramians(const state_space *s, double **P, double **Q);
/* Hankel singular values in descending order, s->n of them; free() them. NULL: the Gramians do not exist
 * numerically. */
double *hankel_values(const state_space *s);
/* Balances and truncates to order r <= s->n. False: as above, or value r is rounding. */
bool balanced_truncation(const state_space *s, size_t r, state_space *out);
/* The system whose response is that of a minus that of b. */
state_space difference_of(const state_space *a, const state_space *b);

#endif
