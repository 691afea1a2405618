/* transfer.c - see transfer.h
 *
 * Zeros are the finite eigenvalues of the pencil [A - s I, b; c, d] (QZ); of one that cancels a pole both are left out.
 */
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dense.h"
#include "transfer.h"

#define FINITE 1e-10                 /* of the pencil: beta from here on belongs to a finite zero */
#define CANCELS 1e-6                 /* of the size of the matrix: a zero is a pole */

bool
response_at(const state_space *s, double omega, double complex *G)
{
    size_t n = s->n;
    double complex *M, *X;
    bool fine;

    for (size_t i = 0; i < s->ny * s->nu; i++)
        G[i] = s->D[i];
    if (isinf(omega) || n == 0)
        return true;
    M = bg_calloc(n * n + 1, sizeof *M);
    X = bg_calloc(n * s->nu + 1, sizeof *X);
    for (size_t i = 0; i < n * n; i++)
        M[i] = -s->A[i];
    for (size_t i = 0; i < n; i++)
        M[i + n * i] += omega * I;
    for (size_t i = 0; i < n * s->nu; i++)
        X[i] = s->B[i];
    fine = dense_solve_complex(n, M, s->nu, X);
    for (size_t u = 0; u < s->nu && fine; u++)
        for (size_t y = 0; y < s->ny; y++)
            for (size_t i = 0; i < n; i++)
                G[y + s->ny * u] += s->C[y + s->ny * i] * X[i + n * u];
    free(M);
    free(X);
    return fine;
}

double
response_norm(const state_space *s, double omega)
{
    size_t least = s->ny < s->nu ? s->ny : s->nu;
    double complex *G = bg_calloc(s->ny * s->nu + 1, sizeof *G);
    double *sigma = bg_calloc(least + 1, sizeof *sigma), *work = bg_calloc(least + 1, sizeof *work), norm = 0;

    if (!response_at(s, omega, G))
        norm = INFINITY;
    else if (least == 1 && s->ny * s->nu == 1)
        norm = cabs(G[0]);
    else if (least && LAPACKE_zgesvd(LAPACK_COL_MAJOR, 'N', 'N', (lapack_int)s->ny, (lapack_int)s->nu, (lapack_complex_double *)G, (lapack_int)s->ny, sigma,
                                     NULL, 1, NULL, 1, work) == 0)
        norm = sigma[0];
    free(G);
    free(sigma);
    free(work);
    return norm;
}

/* Takes out pairs that are equal; both lists shrink. */
static void
cancel(double complex *zero, size_t *nzeros, double complex *pole, size_t *npoles, double size)
{
    for (size_t i = 0; i < *nzeros;) {
        size_t best = *npoles;

        for (size_t k = 0; k < *npoles; k++)
            if (cabs(zero[i] - pole[k]) <= CANCELS * size && (best == *npoles || cabs(zero[i] - pole[k]) < cabs(zero[i] - pole[best])))
                best = k;
        if (best == *npoles) {
            i++;
            continue;
        }
        zero[i] = zero[--*nzeros];
        pole[best] = pole[--*npoles];
    }
}

static int
compare_complex(const void *a, const void *b)
{
    double complex x = *(const double complex *)a, y = *(const double complex *)b;
    double p = fabs(cimag(x)), q = fabs(cimag(y));

    if (fabs(p - q) > 1e-10 * (p + q))
        return p > q ? -1 : 1;
    if (fabs(creal(x) - creal(y)) > 1e-10 * (cabs(x) + cabs(y)))
        return creal(x) < creal(y) ? -1 : 1;
    return (cimag(x) < cimag(y)) - (cimag(x) > cimag(y));
}

bool
transfer_function(const state_space *s, size_t input, size_t output, struct zeros_poles *out)
{
    size_t n = s->n, m = n + 1;
    double *P = bg_calloc(m * m + 1, sizeof *P), *E = bg_calloc(m * m + 1, sizeof *E), *re = bg_calloc(m + 1, sizeof *re), *im = bg_calloc(m + 1, sizeof *im);
    double *beta = bg_calloc(m + 1, sizeof *beta), *A = bg_malloc((n * n + 1) * sizeof *A), size = dense_norm(n * n, s->A), b = 0, c = 0;
    bool fine;

    *out = (struct zeros_poles){ .zero = bg_calloc(m + 1, sizeof(double complex)), .pole = bg_calloc(m + 1, sizeof(double complex)) };
    for (size_t i = 0; i < n; i++) {
        b = fmax(b, fabs(s->B[i + n * input]));
        c = fmax(c, fabs(s->C[output + s->ny * i]));
    }
    if (b == 0 || c == 0)
        b = c = 1;
    /* rows and columns of input and output of the size of A: zeros do not mind */
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++)
            P[i + m * k] = s->A[i + n * k];
        P[i + m * n] = s->B[i + n * input] / b * size;
        P[n + m * i] = s->C[output + s->ny * i] / c * size;
        E[i + m * i] = 1;
    }
    P[n + m * n] = s->D[output + s->ny * input] / (b * c) * size * size;
    memcpy(A, s->A, n * n * sizeof *A);
    fine = n == 0 || LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'N', (lapack_int)n, A, (lapack_int)n, re, im, NULL, 1, NULL, 1) == 0;
    for (size_t i = 0; i < n && fine; i++)
        out->pole[out->npoles++] = re[i] + im[i] * I;
    fine = fine && LAPACKE_dggev(LAPACK_COL_MAJOR, 'N', 'N', (lapack_int)m, P, (lapack_int)m, E, (lapack_int)m, re, im, beta, NULL, 1, NULL, 1) == 0;
    for (size_t i = 0; i < m && fine; i++)
        if (fabs(beta[i]) > FINITE && hypot(re[i], im[i]) < 1e6 * size * fabs(beta[i]))
            out->zero[out->nzeros++] = (re[i] + im[i] * I) / beta[i];
    if (fine) {
        double complex G, at = 1, far = size > 0 ? 10.37 * size : 1;
        double complex *M = bg_calloc(n * n + 1, sizeof *M), *X = bg_calloc(n + 1, sizeof *X), product = 1;

        cancel(out->zero, &out->nzeros, out->pole, &out->npoles, size);
        /* the gain from one value, off all poles and zeros */
        for (size_t i = 0; i < n * n; i++)
            M[i] = -s->A[i];
        for (size_t i = 0; i < n; i++) {
            M[i + n * i] += far;
            X[i] = s->B[i + n * input];
        }
        fine = dense_solve_complex(n, M, 1, X);
        G = s->D[output + s->ny * input];
        for (size_t i = 0; i < n; i++)
            G += s->C[output + s->ny * i] * X[i];
        for (size_t i = 0; i < out->nzeros || i < out->npoles; i++) {
            at = 1;
            if (i < out->npoles)
                at *= far - out->pole[i];
            if (i < out->nzeros)
                at /= far - out->zero[i];
            product *= at;
        }
        out->gain = creal(G * product);
        product = out->gain;
        for (size_t i = 0; i < out->nzeros; i++)
            product *= -out->zero[i];
        for (size_t i = 0; i < out->npoles; i++)
            product /= -out->pole[i];
        out->dc = out->gain == 0 ? 0 : creal(product);
        free(M);
        free(X);
    }
    if (out->nzeros)
        qsort(out->zero, out->nzeros, sizeof *out->zero, compare_complex);
    if (out->npoles)
        qsort(out->pole, out->npoles, sizeof *out->pole, compare_complex);
    free(P);
    free(E);
    free(re);
    free(im);
    free(beta);
    free(A);
    return fine;
}

void
zeros_poles_free(struct zeros_poles *z)
{
    free(z->zero);
    free(z->pole);
    *z = (struct zeros_poles){ 0 };
}

/* exp(M) by scaling and squaring with a diagonal Pade approximant of order 6 (Golub & Van Loan, 11.3). */
static bool
exponential(size_t n, double *M)
{
    enum { ORDER = 8 };
    double size = dense_norm(n * n, M), factor = 1;
    int squarings = size > 0.25 ? (int)ceil(log2(size / 0.25)) : 0;
    double *X = bg_calloc(n * n + 1, sizeof *X), *N = bg_calloc(n * n + 1, sizeof *N), *D = bg_calloc(n * n + 1, sizeof *D), *T = bg_calloc(n * n + 1, sizeof *T);
    bool fine;

    for (size_t i = 0; i < n * n; i++)
        M[i] = ldexp(M[i], -squarings);
    for (size_t i = 0; i < n; i++)
        X[i + n * i] = N[i + n * i] = D[i + n * i] = 1;
    for (int k = 1; k <= ORDER; k++) {
        factor *= (double)(ORDER - k + 1) / (double)(k * (2 * ORDER - k + 1));
        dense_multiply(n, n, n, 1, M, X, 0, T);
        memcpy(X, T, n * n * sizeof *X);
        for (size_t i = 0; i < n * n; i++) {
            N[i] += factor * X[i];
            D[i] += (k % 2 ? -factor : factor) * X[i];
        }
    }
    fine = dense_solve(n, D, n, N);
    for (int k = 0; k < squarings; k++) {
        dense_multiply(n, n, n, 1, N, N, 0, T);
        memcpy(N, T, n * n * sizeof *N);
    }
    memcpy(M, N, n * n * sizeof *M);
    free(X);
    free(N);
    free(D);
    free(T);
    return fine;
}

bool
time_response(const state_space *s, size_t input, bool impulse, double h, size_t points, double *y)
{
    size_t n = s->n, m = n + 1;
    double *E = bg_calloc(m * m + 1, sizeof *E), *x = bg_calloc(m + 1, sizeof *x), *next = bg_calloc(m + 1, sizeof *next);
    bool fine;

    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++)
            E[i + m * k] = h * s->A[i + n * k];
        if (impulse)
            x[i] = s->B[i + n * input];
        else
            E[i + m * n] = h * s->B[i + n * input];
    }
    x[n] = !impulse;
    fine = exponential(m, E);
    for (size_t k = 0; k < points && fine; k++) {
        for (size_t i = 0; i < s->ny; i++) {
            double sum = x[n] * s->D[i + s->ny * input];

            for (size_t j = 0; j < n; j++)
                sum += s->C[i + s->ny * j] * x[j];
            y[k * s->ny + i] = sum;
        }
        dense_multiply(m, m, 1, 1, E, x, 0, next);
        memcpy(x, next, m * sizeof *x);
    }
    free(E);
    free(x);
    free(next);
    return fine;
}
