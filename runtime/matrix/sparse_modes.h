/* sparse_modes.h - the eigenvalues nearest to a point, with their vectors, of models too large for dense matrices
 *
 * Shift and invert: Arnoldi's method (ARPACK) on (A - near)^-1. A is never formed: with the kept algebraic variables
 * beside the states,
 *     [f_x - s, f_z; g_x, g_z] (x, z) = (b, 0)   gives   x = (A - s)^-1 b,
 * which KLU factors. Left vectors, and right ones once more, follow by inverse iteration at each eigenvalue found;
 * close ones are taken together as a cluster (modes.h).
 *
 * source   Lehoucq, Sorensen, Yang (1998), ARPACK Users' Guide, 3.2
 */
#ifndef BG_SPARSE_MODES_H
#define BG_SPARSE_MODES_H

#include <stdint.h>

#include "modes.h"

/* States and kept variables: compressed columns, rows ascending, the diagonal of the first nx columns stored. */
typedef struct sparse_jacobian {
    size_t n, nx;
    int64_t *column, *row;
    double *value;
} sparse_jacobian;
void sparse_jacobian_free(sparse_jacobian *j);

/* The `count` eigenvalues nearest to `near`, and the conjugates of those that are not real. In *m, of nx rows;
 * modes_free it in any case. False: *why (free it). */
bool sparse_modes_find(const sparse_jacobian *j, double complex near, size_t count, modes *m, char **why);

#endif
