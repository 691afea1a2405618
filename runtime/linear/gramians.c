/* gramians.c - see gramians.h */
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "block_form.h"
#include "dense.h"
#include "gramians.h"

#define UNSTABLE 1e-10   /* relative to the norm of a block: a real part above minus this counts as not stable */
#define NO_VALUE 1e-14   /* relative to the greatest Hankel value: rounding, which cannot be balanced */
#define TRANSMITTED 1e-8 /* relative to the product of the norms of input and output vectors */

bool
lyapunov(size_t n, const double *A, const double *Q, bool transposed, double *X)
{
    double *T = bg_calloc(n * n + 1, sizeof *T), *V = bg_calloc(n * n + 1, sizeof *V),
           *W = bg_calloc(n * n + 1, sizeof *W), *R = bg_calloc(n * n + 1, sizeof *R), factor = 1;
    block_form f;
    bool fine;

    block_form_make(n, A, &f);
    fine = block_form_schur(&f, T, V, W);
    block_form_free(&f);
    if (fine && n) {
        /* A = V T W: T Y + Y T^T = -W Q W^T, X = V Y V^T; T^T Y + Y T = -V^T Q V, X = W^T Y W */
        const double *in = transposed ? V : W, *out = transposed ? W : V;
        char first = transposed ? 'T' : 'N', second = transposed ? 'N' : 'T';
        double *in_turned = dense_transpose(n, n, in), *out_turned = dense_transpose(n, n, out);

        dense_multiply(n, n, n, -1, transposed ? in_turned : in, Q, 0, X);
        dense_multiply(n, n, n, 1, X, transposed ? in : in_turned, 0, R);
        fine = LAPACKE_dtrsyl(LAPACK_COL_MAJOR, first, second, 1, (lapack_int)n, (lapack_int)n, T, (lapack_int)n, T,
                              (lapack_int)n, R, (lapack_int)n, &factor) == 0 &&
               factor > 0;
        dense_multiply(n, n, n, 1 / factor, transposed ? out_turned : out, R, 0, X);
        dense_multiply(n, n, n, 1, X, transposed ? out : out_turned, 0, R);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < n; k++)
                X[i + n * k] = (R[i + n * k] + R[k + n * i]) / 2;
        free(in_turned);
        free(out_turned);
    }
    free(T);
    free(V);
    free(W);
    free(R);
    return fine;
}

bool
gramians(const state_space *s, double **P, double **Q)
{
    size_t n = s->n;
    double *BB = bg_calloc(n * n + 1, sizeof *BB), *T = dense_transpose(n, s->nu, s->B),
           *CC = bg_calloc(n * n + 1, sizeof *CC);
    double *U = dense_transpose(s->ny, n, s->C);
    bool fine;

    *P = bg_calloc(n * n + 1, sizeof **P);
    *Q = bg_calloc(n * n + 1, sizeof **Q);
    dense_multiply(n, s->nu, n, 1, s->B, T, 0, BB);
    dense_multiply(n, s->ny, n, 1, U, s->C, 0, CC);
    fine = lyapunov(n, s->A, BB, false, *P) && lyapunov(n, s->A, CC, true, *Q);
    free(BB);
    free(CC);
    free(T);
    free(U);
    return fine;
}

/* R with P = R R^T (n by n), found with a diagonal of 1: small states keep their digits. */
static bool
root_of_positive(size_t n, const double *P, double *R)
{
    double *value = bg_calloc(n + 1, sizeof *value), *scale = bg_calloc(n + 1, sizeof *scale);
    bool fine;

    for (size_t i = 0; i < n; i++)
        scale[i] = P[i * (n + 1)] > 0 ? sqrt(P[i * (n + 1)]) : 1;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            R[i + n * k] = P[i + n * k] / scale[i] / scale[k];
    fine = dense_symmetric(n, R, true, value);
    for (size_t k = 0; k < n && fine; k++)
        for (size_t i = 0; i < n; i++)
            R[i + n * k] *= value[k] > 0 ? scale[i] * sqrt(value[k]) : 0;
    free(value);
    free(scale);
    return fine;
}

/* Singular values of Ro^T Rc, P = Rc Rc^T, Q = Ro Ro^T, and the vectors where wanted. */
static bool
balance_roots(const state_space *s, double **Rc, double **Ro, double *sigma, double *U, double *VT)
{
    size_t n = s->n;
    double *P, *Q, *T, *M = bg_calloc(n * n + 1, sizeof *M), *work = bg_calloc(n + 1, sizeof *work);
    bool fine = gramians(s, &P, &Q);

    *Rc = bg_calloc(n * n + 1, sizeof **Rc);
    *Ro = bg_calloc(n * n + 1, sizeof **Ro);
    fine = fine && root_of_positive(n, P, *Rc) && root_of_positive(n, Q, *Ro);
    T = dense_transpose(n, n, *Ro);
    dense_multiply(n, n, n, 1, T, *Rc, 0, M);
    fine = fine &&
           (n == 0 || LAPACKE_dgesvd(LAPACK_COL_MAJOR, U ? 'A' : 'N', U ? 'A' : 'N', (lapack_int)n, (lapack_int)n, M,
                                     (lapack_int)n, sigma, U, (lapack_int)n, VT, (lapack_int)n, work) == 0);
    free(P);
    free(Q);
    free(T);
    free(M);
    free(work);
    return fine;
}

double *
hankel_values(const state_space *s)
{
    double *Rc, *Ro, *sigma = bg_calloc(s->n + 1, sizeof *sigma);
    bool fine = balance_roots(s, &Rc, &Ro, sigma, NULL, NULL);

    free(Rc);
    free(Ro);
    if (fine)
        return sigma;
    free(sigma);
    return NULL;
}

bool
balanced_truncation(const state_space *s, size_t r, state_space *out)
{
    size_t n = s->n;
    double *Rc, *Ro, *sigma = bg_calloc(n + 1, sizeof *sigma), *U = bg_calloc(n * n + 1, sizeof *U),
                     *VT = bg_calloc(n * n + 1, sizeof *VT);
    double *right = bg_calloc(n * r + 1, sizeof *right), *left = bg_calloc(r * n + 1, sizeof *left),
           *T = bg_calloc(n * (r + n) + 1, sizeof *T);
    bool fine = balance_roots(s, &Rc, &Ro, sigma, U, VT) && (r == 0 || sigma[r - 1] > NO_VALUE * sigma[0]);

    *out = state_space_new(r, s->nu, s->ny);
    for (size_t k = 0; k < r && fine; k++)
        for (size_t i = 0; i < n; i++) {
            double c = 0, o = 0;

            for (size_t j = 0; j < n; j++) {
                c += Rc[i + n * j] * VT[k + n * j];
                o += U[j + n * k] * Ro[i + n * j];
            }
            right[i + n * k] = c / sqrt(sigma[k]);
            left[k + r * i] = o / sqrt(sigma[k]);
        }
    if (fine) {
        dense_multiply(n, n, r, 1, s->A, right, 0, T);
        dense_multiply(r, n, r, 1, left, T, 0, out->A);
        dense_multiply(r, n, s->nu, 1, left, s->B, 0, out->B);
        dense_multiply(s->ny, n, r, 1, s->C, right, 0, out->C);
        memcpy(out->D, s->D, s->ny * s->nu * sizeof(double));
    }
    free(Rc);
    free(Ro);
    free(sigma);
    free(U);
    free(VT);
    free(right);
    free(left);
    free(T);
    return fine;
}

state_space
difference_of(const state_space *a, const state_space *b)
{
    state_space s = state_space_new(a->n + b->n, a->nu, a->ny);

    for (size_t i = 0; i < a->n; i++) {
        for (size_t k = 0; k < a->n; k++)
            s.A[i + s.n * k] = a->A[i + a->n * k];
        for (size_t k = 0; k < a->nu; k++)
            s.B[i + s.n * k] = a->B[i + a->n * k];
        for (size_t k = 0; k < a->ny; k++)
            s.C[k + a->ny * i] = a->C[k + a->ny * i];
    }
    for (size_t i = 0; i < b->n; i++) {
        for (size_t k = 0; k < b->n; k++)
            s.A[a->n + i + s.n * (a->n + k)] = b->A[i + b->n * k];
        for (size_t k = 0; k < b->nu; k++)
            s.B[a->n + i + s.n * k] = b->B[i + b->n * k];
        for (size_t k = 0; k < b->ny; k++)
            s.C[k + a->ny * (a->n + i)] = -b->C[k + b->ny * i];
    }
    for (size_t i = 0; i < a->ny * a->nu; i++)
        s.D[i] = a->D[i] - b->D[i];
    return s;
}

/* ---------------------------------------------------------------- the stable part */

/* Reorders the Schur form A = V T W so that the stable eigenvalues come first. Returns their number; NO_INDEX: no
 * convergence. */
static size_t
stable_first(const block_form *f, double *T, double *V, double *W)
{
    size_t n = f->n;
    lapack_int N = (lapack_int)n, m = 0, least;
    lapack_logical *stable = bg_calloc(n + 1, sizeof *stable);
    double *re = bg_calloc(n + 1, sizeof *re), *im = bg_calloc(n + 1, sizeof *im), *Q = dense_identity(n),
           *work = bg_calloc(n + 1, sizeof *work), *moved = bg_calloc(n * n + 1, sizeof *moved),
           *back = bg_calloc(n * n + 1, sizeof *back), *QT;
    bool fine = block_form_schur(f, T, V, W);

    /* of a pair, LAPACK gives both places the same real part */
    for (size_t i = 0; i < n; i++)
        stable[i] = T[i + n * i] < -UNSTABLE * f->size[f->block_of[i]];
    /* with its own work: the simpler call passes none for integers, where dtrsen writes one */
    fine = fine && (n == 0 || LAPACKE_dtrsen_work(LAPACK_COL_MAJOR, 'N', 'V', stable, N, T, N, Q, N, re, im, &m, NULL,
                                                  NULL, work, N, &least, 1) == 0);
    QT = dense_transpose(n, n, Q);
    dense_multiply(n, n, n, 1, V, Q, 0, moved);
    dense_multiply(n, n, n, 1, QT, W, 0, back);
    memcpy(V, moved, n * n * sizeof *V);
    memcpy(W, back, n * n * sizeof *W);
    free(stable);
    free(re);
    free(im);
    free(work);
    free(Q);
    free(QT);
    free(moved);
    free(back);
    return fine ? (size_t)m : NO_INDEX;
}

bool
stable_part(const state_space *s, state_space *out, char **why)
{
    size_t n = s->n, m, rest;
    double *T = bg_calloc(n * n + 1, sizeof *T), *V = bg_calloc(n * n + 1, sizeof *V),
           *W = bg_calloc(n * n + 1, sizeof *W);
    double *B = bg_calloc(n * s->nu + 1, sizeof *B), *C = bg_calloc(s->ny * n + 1, sizeof *C), *X, factor = 1;
    block_form f;
    bool fine;

    *why = NULL;
    block_form_make(n, s->A, &f);
    m = stable_first(&f, T, V, W);
    block_form_free(&f);
    fine = m != NO_INDEX;
    m = fine ? m : 0;
    rest = n - m;
    X = bg_calloc(m * rest + 1, sizeof *X);
    dense_multiply(n, n, s->nu, 1, W, s->B, 0, B);
    dense_multiply(s->ny, n, n, 1, s->C, V, 0, C);
    if (fine && m && rest) {
        /* [I X; 0 I] splits it: T11 X - X T22 = -T12 */
        for (size_t i = 0; i < m; i++)
            for (size_t k = 0; k < rest; k++)
                X[i + m * k] = -T[i + n * (m + k)];
        fine = LAPACKE_dtrsyl(LAPACK_COL_MAJOR, 'N', 'N', -1, (lapack_int)m, (lapack_int)rest, T, (lapack_int)n,
                              T + m + n * m, (lapack_int)n, X, (lapack_int)m, &factor) >= 0 &&
               factor > 0;
    }
    *out = state_space_new(m, s->nu, s->ny);
    if (!fine) {
        *why = bg_strdup("eigenvalues do not converge");
    } else {
        double *B2 = bg_calloc(rest * s->nu + 1, sizeof *B2), *C2 = bg_calloc(s->ny * rest + 1, sizeof *C2),
               *A2 = bg_calloc(rest * rest + 1, sizeof *A2);
        double *G = bg_calloc(s->ny * s->nu + 1, sizeof *G),
               limit = TRANSMITTED * dense_norm(n * s->nu, B) * dense_norm(s->ny * n, C);
        double scale = dense_norm(n * n, T);

        for (size_t i = 0; i < m; i++)
            for (size_t k = 0; k < m; k++)
                out->A[i + m * k] = T[i + n * k];
        for (size_t k = 0; k < s->nu; k++) {
            for (size_t i = 0; i < m; i++) {
                out->B[i + m * k] = B[i + n * k];
                for (size_t j = 0; j < rest; j++)
                    out->B[i + m * k] -= X[i + m * j] / factor * B[m + j + n * k];
            }
            for (size_t i = 0; i < rest; i++)
                B2[i + rest * k] = B[m + i + n * k];
        }
        memcpy(out->C, C, s->ny * m * sizeof(double));
        memcpy(out->D, s->D, s->ny * s->nu * sizeof(double));
        for (size_t k = 0; k < s->ny; k++)
            for (size_t i = 0; i < rest; i++) {
                C2[k + s->ny * i] = C[k + s->ny * (m + i)];
                for (size_t j = 0; j < m; j++)
                    C2[k + s->ny * i] += C[k + s->ny * j] * X[j + m * i] / factor;
            }
        /* Markov parameters C2 A2^k B2 of the unstable rest: if they are not rounding, it is transmitted */
        for (size_t i = 0; i < rest; i++)
            for (size_t k = 0; k < rest; k++)
                A2[i + rest * k] = T[m + i + n * (m + k)] / (scale > 0 ? scale : 1);
        for (size_t k = 0; k < rest && !*why; k++) {
            double *next = bg_calloc(rest * s->nu + 1, sizeof *next);

            dense_multiply(s->ny, rest, s->nu, 1, C2, B2, 0, G);
            if (dense_norm(s->ny * s->nu, G) > limit)
                *why = bg_strdup("a mode that does not decay is transmitted from the inputs to the outputs");
            dense_multiply(rest, rest, s->nu, 1, A2, B2, 0, next);
            memcpy(B2, next, rest * s->nu * sizeof *next);
            free(next);
        }
        free(A2);
        free(B2);
        free(C2);
        free(G);
    }
    free(T);
    free(V);
    free(W);
    free(X);
    free(B);
    free(C);
    return !*why;
}
