/* modes.h - eigenvalues and eigenvectors of a real matrix; equal eigenvalues are found as clusters
 *
 * A U = U diag(eigenvalue) and W A = diag(eigenvalue) W with W U = I, columns of U of length 1, without conjugation.
 * Order: falling |Im|, then rising Re, +Im before -Im.
 *
 * Eigenvalues that are closer than the effect of rounding the matrix form a cluster: by their conditions in one block
 * of states that act on each other (block_form.h), by rounding of the two blocks otherwise. Each of them is given as
 * their mean; their columns of U are a basis of the invariant subspace, their rows of W its dual. Where the subspace
 * has fewer eigenvectors than columns, the cluster is defective (Jordan blocks): then the restriction is W A U = mean I
 * + N, with N strictly upper triangular, and the first column of U is an eigenvector. Real and imaginary parts that
 * cannot be distinguished from zero are set to zero.
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
} cluster;

typedef struct modes {
    size_t n, count;
    double complex *eigenvalue; /* [count] */
    double complex *U, *W;
    double *condition;  /* [count] |u| |w|: upper bound for the change of the eigenvalue by a change of A of size 1 */
    size_t *cluster_of; /* [count] */
    size_t nclusters;
    cluster *cluster; /* in order, single eigenvalues included */
    double
        size; /* norm of the largest balanced block (block_form.h): rounding of eigenvalues is at most relative to it */
} modes;

/* False: the QR algorithm did not converge, or A is not finite. Call modes_free in any case. */
bool modes_find(size_t n, const double *A, modes *m);
void modes_free(modes *m);
/* Damping ratio: -Re/|lambda|, 0 for 0. */
double mode_damping(double complex lambda);

#endif
