/* dense.h - operations on small dense matrices, by columns, through LAPACK and BLAS */
#ifndef BG_DENSE_H
#define BG_DENSE_H

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>

/* C = factor*A*B + keep*C; A m by k, B k by n, C m by n. */
void dense_multiply(size_t m, size_t k, size_t n, double factor, const double *A, const double *B, double keep,
                    double *C);
/* B = A^-1 B; A (n by n) is overwritten. False: singular. */
bool dense_solve(size_t n, double *A, size_t columns, double *B);
bool dense_solve_complex(size_t n, double complex *A, size_t columns, double complex *B);
double *dense_identity(size_t n);                                      /* malloc'ed */
double *dense_transpose(size_t rows, size_t columns, const double *A); /* malloc'ed */
bool dense_finite(size_t n, const double *A);                          /* are all n numbers finite? */
double dense_norm(size_t n, const double *A);                          /* Frobenius, of n numbers */
/* Eigenvalues of a symmetric matrix, ascending; with `vectors` A is replaced by the eigenvectors. False: no
 * convergence. */
bool dense_symmetric(size_t n, double *A, bool vectors, double *eigenvalue);

#endif
