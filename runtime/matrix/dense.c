/* dense.c - see dense.h */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base.h"
#include "dense.h"

void
dense_multiply(size_t m, size_t k, size_t n, double factor, const double *A, const double *B, double keep, double *C)
{
    if (!m || !n)
        return;
    if (!k) {
        for (size_t i = 0; i < m * n; i++)
            C[i] = keep == 0 ? 0 : keep * C[i];
        return;
    }
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, factor, A, (int)m, B, (int)k, keep,
                C, (int)m);
}

bool
dense_solve(size_t n, double *A, size_t columns, double *B)
{
    lapack_int *pivot = bg_calloc(n + 1, sizeof *pivot);
    bool fine = n == 0 || columns == 0 ||
                LAPACKE_dgesv(LAPACK_COL_MAJOR, (lapack_int)n, (lapack_int)columns, A, (lapack_int)n, pivot, B,
                              (lapack_int)n) == 0;

    free(pivot);
    return fine;
}

bool
dense_solve_complex(size_t n, double complex *A, size_t columns, double complex *B)
{
    lapack_int *pivot = bg_calloc(n + 1, sizeof *pivot);
    bool fine = n == 0 || columns == 0 ||
                LAPACKE_zgesv(LAPACK_COL_MAJOR, (lapack_int)n, (lapack_int)columns, A, (lapack_int)n, pivot, B,
                              (lapack_int)n) == 0;

    free(pivot);
    return fine;
}

double *
dense_identity(size_t n)
{
    double *M = bg_calloc(n * n + 1, sizeof *M);

    for (size_t i = 0; i < n; i++)
        M[i + n * i] = 1;
    return M;
}

double *
dense_transpose(size_t rows, size_t columns, const double *A)
{
    double *T = bg_calloc(rows * columns + 1, sizeof *T);

    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < columns; k++)
            T[k + columns * i] = A[i + rows * k];
    return T;
}

bool
dense_finite(size_t n, const double *A)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(A[i]))
            return false;
    return true;
}

double
dense_norm(size_t n, const double *A)
{
    double most = 0, sum = 0;

    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(A[i]));
    for (size_t i = 0; i < n && most > 0; i++)
        sum += A[i] / most * (A[i] / most);
    return most * sqrt(sum);
}

bool
dense_symmetric(size_t n, double *A, bool vectors, double *eigenvalue)
{
    return n == 0 ||
           LAPACKE_dsyev(LAPACK_COL_MAJOR, vectors ? 'V' : 'N', 'U', (lapack_int)n, A, (lapack_int)n, eigenvalue) == 0;
}
