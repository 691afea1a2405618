/* sparse_modes.h - the eigenvalues nearest to a point, with eigenvectors, for models too large for dense matrices
 *
 * Shift and invert: Arnoldi's method (ARPACK) on (A - near)^-1. A is never formed. With the kept algebraic variables
 * beside the states,
 *     [f_x - s, f_z; g_x, g_z] (x, z) = (b, 0)   gives   x = (A - s)^-1 b,
 * and KLU factors this matrix. Left vectors, and improved right ones, follow by inverse iteration at each eigenvalue;
 * close eigenvalues are treated together as a cluster (modes.h).
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

/* The `count` eigenvalues nearest to `near`, and the conjugates of complex ones. *m has nx rows; call modes_free in any
 * case. False: *why (free() it). */
bool sparse_modes_find(const sparse_jacobian *j, double complex near, size_t count, modes *m, char **why);

#endif
