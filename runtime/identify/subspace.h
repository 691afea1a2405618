/* subspace.h - a linear state-space model of given order from sampled inputs and outputs
 *
 *     x(k+1) = F x(k) + G u(k),   y(k) = H x(k) + J u(k) + noise
 *
 * The future outputs are projected onto the past, orthogonally to the future inputs (QR of the block Hankel matrices):
 * what remains spans the observability matrix, of which F and H follow by its shift. G, J and the first state are those
 * whose simulation is nearest to the outputs, each in units of its standard deviation (linear least squares). Modes
 * that grow are mirrored into the unit circle for that.
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

/* The most block rows that so many samples allow: the regression keeps more columns than rows. */
size_t subspace_most_rows(size_t m, size_t n, size_t samples);
/* False: *why (static) says what the data lack. subspace_free it in any case. */
bool subspace_identify(size_t m, size_t n, size_t samples, const double *u, const double *y, size_t order,
                       size_t block_rows, subspace_model *s, const char **why);
void subspace_free(subspace_model *s);

#endif
