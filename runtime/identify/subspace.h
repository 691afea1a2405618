/* subspace.h - a linear state-space model of given order from sampled inputs and outputs
 *
 *     x(k+1) = F x(k) + G u(k),   y(k) = H x(k) + J u(k) + noise
 *
 * The future outputs are projected onto the past, orthogonally to the future inputs (QR of the block Hankel matrices).
 * The result spans the observability matrix, whose shift gives F and H. G, J and the first state minimize the error of
 * the simulation, each output in units of its standard deviation (linear least squares); growing modes are first
 * mirrored into the unit circle.
 *
 * source   Verhaegen (1994), Automatica 30:61 (PO-MOESP)
 * shapes   signals by channels: u[m][samples], y[n][samples]; matrices by columns
 * cost     samples times (2 block_rows (m + n))^2 operations, samples times 2 block_rows (m + n) numbers
 */
#ifndef BG_SUBSPACE_H
#define BG_SUBSPACE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct subspace_model {
    size_t m, n, order;
    double *F, *G, *H, *J; /* [order][order], [m][order], [order][n], [m][n] */
    double noise;          /* mean over outputs and times of ((y - simulation)/std y)^2 */
} subspace_model;

/* Greatest number of block rows for so many samples: the regression needs more columns than rows. */
size_t subspace_most_rows(size_t m, size_t n, size_t samples);
/* False: *why (static) says what the data lack. Call subspace_free in any case. */
bool subspace_identify(size_t m, size_t n, size_t samples, const double *u, const double *y, size_t order,
                       size_t block_rows, subspace_model *s, const char **why);
void subspace_free(subspace_model *s);

#endif
