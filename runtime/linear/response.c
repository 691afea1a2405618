/* response.c - see response.h */
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "block_form.h"
#include "dense.h"
#include "response.h"

struct responder {
    state_space s;             /* A upper Hessenberg */
    double complex *M, *X, *G; /* s I - A by rows; (s I - A)^-1 B; a response */
};

/* Rows of B and columns of C by places and scales of the block form. */
static void
place_ports(state_space *s, const block_form *f, const state_space *from)
{
    for (size_t i = 0; i < s->n; i++) {
        size_t state = f->order[i];

        for (size_t k = 0; k < s->nu; k++)
            s->B[i + s->n * k] = from->B[state + s->n * k] / f->scale[state];
        for (size_t k = 0; k < s->ny; k++)
            s->C[k + s->ny * i] = from->C[k + s->ny * state] * f->scale[state];
    }
}

/* The blocks stay apart, so that a response keeps its digits where one of them drives another by a large
 * coefficient. */
static bool
to_hessenberg(state_space *s, const state_space *from)
{
    lapack_int n = (lapack_int)s->n;
    double *tau = bg_calloc(s->n + 1, sizeof *tau), *Q = bg_malloc((s->n * s->n + 1) * sizeof *Q);
    block_form f;
    bool fine;

    block_form_make(s->n, from->A, &f);
    memcpy(s->A, f.M, s->n * s->n * sizeof *s->A);
    place_ports(s, &f, from);
    block_form_free(&f);
    fine = LAPACKE_dgehrd(LAPACK_COL_MAJOR, n, 1, n, s->A, n, tau) == 0;
    memcpy(Q, s->A, s->n * s->n * sizeof *Q);
    fine = fine && LAPACKE_dorghr(LAPACK_COL_MAJOR, n, 1, n, Q, n, tau) == 0;
    if (fine) {
        double *B = bg_calloc(s->n * s->nu + 1, sizeof *B), *C = bg_calloc(s->ny * s->n + 1, sizeof *C), *T;

        T = dense_transpose(s->n, s->n, Q);
        dense_multiply(s->n, s->n, s->nu, 1, T, s->B, 0, B);
        dense_multiply(s->ny, s->n, s->n, 1, s->C, Q, 0, C);
        free(T);
        free(s->B);
        free(s->C);
        s->B = B;
        s->C = C;
    }
    free(tau);
    free(Q);
    return fine;
}

responder *
responder_new(const state_space *s)
{
    responder *r = bg_calloc(1, sizeof *r);

    r->s = state_space_copy(s);
    r->M = bg_calloc(s->n * s->n + 1, sizeof *r->M);
    r->X = bg_calloc(s->n * s->nu + 1, sizeof *r->X);
    r->G = bg_calloc(s->ny * s->nu + 1, sizeof *r->G);
    if (s->n && (!dense_finite(s->n * s->n, s->A) || !to_hessenberg(&r->s, s))) {
        responder_free(r);
        return NULL;
    }
    return r;
}

void
responder_free(responder *r)
{
    if (!r)
        return;
    state_space_free(&r->s);
    free(r->M);
    free(r->X);
    free(r->G);
    free(r);
}

/* X (n by nu by columns) = M^-1 X, M upper Hessenberg by rows: Gaussian elimination, pivoting between two rows. */
static bool
hessenberg_solve(size_t n, double complex *M, size_t nu, double complex *X)
{
    for (size_t k = 0; k + 1 < n; k++) {
        double complex *row = M + n * k, *below = row + n, factor;

        if (cabs(below[k]) > cabs(row[k])) {
            for (size_t i = k; i < n; i++) {
                double complex x = row[i];

                row[i] = below[i];
                below[i] = x;
            }
            for (size_t u = 0; u < nu; u++) {
                double complex x = X[k + n * u];

                X[k + n * u] = X[k + 1 + n * u];
                X[k + 1 + n * u] = x;
            }
        }
        if (row[k] == 0)
            return false;
        factor = below[k] / row[k];
        for (size_t i = k; i < n && factor != 0; i++)
            below[i] -= factor * row[i];
        for (size_t u = 0; u < nu; u++)
            X[k + 1 + n * u] -= factor * X[k + n * u];
    }
    for (size_t k = n; k-- > 0;) {
        const double complex *row = M + n * k;

        if (row[k] == 0)
            return false;
        for (size_t u = 0; u < nu; u++) {
            double complex sum = X[k + n * u];

            for (size_t i = k + 1; i < n; i++)
                sum -= row[i] * X[i + n * u];
            X[k + n * u] = sum / row[k];
        }
    }
    return true;
}

bool
transfer_at(responder *r, double complex at, double complex *G)
{
    const state_space *s = &r->s;
    size_t n = s->n;

    for (size_t i = 0; i < s->ny * s->nu; i++)
        G[i] = s->D[i];
    if (isinf(creal(at)) || isinf(cimag(at)) || n == 0)
        return true;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i ? i - 1 : 0; k < n; k++)
            r->M[i * n + k] = (i == k ? at : 0) - s->A[i + n * k];
    for (size_t i = 0; i < n * s->nu; i++)
        r->X[i] = s->B[i];
    if (!hessenberg_solve(n, r->M, s->nu, r->X))
        return false;
    for (size_t u = 0; u < s->nu; u++)
        for (size_t y = 0; y < s->ny; y++)
            for (size_t i = 0; i < n; i++)
                G[y + s->ny * u] += s->C[y + s->ny * i] * r->X[i + n * u];
    return true;
}

bool
response_at(responder *r, double omega, double complex *G)
{
    return transfer_at(r, isinf(omega) ? omega : omega * I, G);
}

double
response_norm(responder *r, double omega)
{
    size_t ny = r->s.ny, nu = r->s.nu, least = ny < nu ? ny : nu;
    double *sigma, *work, norm = 0;

    if (!response_at(r, omega, r->G))
        return INFINITY;
    if (ny == 1 && nu == 1)
        return cabs(r->G[0]);
    sigma = bg_calloc(least + 1, sizeof *sigma);
    work = bg_calloc(least + 1, sizeof *work);
    if (least && LAPACKE_zgesvd(LAPACK_COL_MAJOR, 'N', 'N', (lapack_int)ny, (lapack_int)nu,
                                (lapack_complex_double *)r->G, (lapack_int)ny, sigma, NULL, 1, NULL, 1, work) == 0)
        norm = sigma[0];
    free(sigma);
    free(work);
    return norm;
}
