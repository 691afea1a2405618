/* modes.h - eigenvalues and vectors of a real matrix; equal eigenvalues found as clusters
 *
 * A U = U diag(eigenvalue) and W A = diag(eigenvalue) W with W U = I, columns of U of length 1; no conjugation
 * anywhere. Order: falling |Im|, then rising Re, +Im before -Im.
 *
 * Eigenvalues that rounding cannot tell apart - closer than what a change of the matrix in its last digits does to them
 * - are a cluster: each is given as their mean, their columns of U are a basis of the invariant subspace, of rows of W
 * its dual. Where the subspace has fewer eigenvectors than columns the cluster is defective (Jordan blocks): then the
 * restriction W A U = mean I + N, N strictly upper triangular, the first column of U an eigenvector. Real and imaginary
 * parts that rounding cannot tell from zero are zero.
 *
 * shapes   by columns, U n by count, W count by n; count is n where all eigenvalues are known
 */
#ifndef BG_MODES_H
#define BG_MODES_H

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct cluster {
    size_t first, n;
    bool defective;
    double complex eigenvalue;
    double nilpotent; /* greatest entry of N */
} cluster;

typedef struct modes {
    size_t n, count;
    double complex *eigenvalue; /* [count] */
    double complex *U, *W;
    double *condition;  /* [count] |u| |w|: how far a change of A of size 1 may move it, at most */
    size_t *cluster_of; /* [count] */
    size_t nclusters;
    cluster *cluster; /* single eigenvalues too, in order */
    double size;      /* norm of the balanced matrix: what rounding is relative to */
} modes;

/* False: the iteration of the QR algorithm did not converge, or A is not finite. modes_free it in any case. */
bool modes_find(size_t n, const double *A, modes *m);
void modes_free(modes *m);
/* Damping ratio: -Re/|lambda|, 0 for 0. */
double mode_damping(double complex lambda);

#endif
