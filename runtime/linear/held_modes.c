/* held_modes.c - see held_modes.h */
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dense.h"
#include "held_modes.h"

#define NULL_VALUE 1e-9 /* relative to the greatest singular value, after scaling rows and columns: counts as zero */
#define NO_SHARE 1e-7   /* relative to the greatest scale of a state: a vector without a part in E */
#define AT_ZERO 1e-12   /* relative to the size of A: the eigenvalue counts as 0 */
enum { SCALINGS = 8 };

void
mode_vectors_free(mode_vectors *v)
{
    free(v->left);
    free(v->right);
    *v = (mode_vectors){ 0 };
}

/* ---------------------------------------------------------------- conditions that determine z */

/* The vectors of A, extended by z = -G x on the right and by -w B D^-1 on the left. */
static bool
extend_vectors(const linearization *l, const held_space *h, const cluster *c, mode_vectors *v)
{
    size_t n = h->n, nw = h->nw, N = n + nw;
    double *D = bg_calloc(nw * nw + 1, sizeof *D), *X = bg_calloc(nw * n + 1, sizeof *X); /* (B D^-1)^T */
    bool fine;

    for (size_t i = 0; i < nw; i++) {
        for (size_t k = 0; k < nw; k++)
            D[k + nw * i] = h->J[n + i + N * (n + k)];
        for (size_t k = 0; k < n; k++)
            X[i + nw * k] = h->J[k + N * (n + i)];
    }
    fine = dense_solve(nw, D, n, X);
    for (size_t k = 0; k < c->n; k++) {
        double complex *left = v->left + N * k, *right = v->right + N * k;

        for (size_t i = 0; i < n; i++) {
            left[l->order[i]] = l->modes.W[c->first + k + l->modes.count * i];
            right[l->order[i]] = l->modes.U[i + n * (c->first + k)];
        }
        for (size_t j = 0; j < nw; j++)
            for (size_t i = 0; i < n; i++) {
                left[n + j] -= left[i] * X[j + nw * i];
                right[n + j] -= h->G[j + nw * i] * right[i];
            }
    }
    v->m = c->n;
    free(D);
    free(X);
    return fine;
}

/* ---------------------------------------------------------------- conditions that constrain states */

/* Scales rows and columns so that the greatest entry of each is about 1. */
static void
scale(size_t N, double complex *K, double *row, double *column)
{
    for (size_t i = 0; i < N; i++)
        row[i] = column[i] = 1;
    for (int way = 0; way < 2 * SCALINGS; way++)
        for (size_t i = 0; i < N; i++) {
            double most = 0, by;

            for (size_t k = 0; k < N; k++)
                most = fmax(most, cabs(way % 2 ? K[k + N * i] : K[i + N * k]));
            if (!(most > 0))
                continue;
            by = ldexp(1, -(int)lrint(log2(most) / 2));
            for (size_t k = 0; k < N; k++)
                K[way % 2 ? k + N * i : i + N * k] *= by;
            *(way % 2 ? &column[i] : &row[i]) *= by;
        }
}

/* Rank of the last k rows of Q (N by N), restricted to states. */
static size_t
rank_in_states(const held_space *h, size_t k, const double complex *Q)
{
    size_t N = h->n + h->nw, least = h->n < k ? h->n : k, rank = 0;
    double complex *part = bg_calloc(h->n * k + 1, sizeof *part);
    double *sigma = bg_calloc(least + 1, sizeof *sigma), *work = bg_calloc(least + 1, sizeof *work);

    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < h->n; i++)
            part[i + h->n * c] = Q[N - 1 - c + N * i];
    if (least && LAPACKE_zgesvd(LAPACK_COL_MAJOR, 'N', 'N', (lapack_int)h->n, (lapack_int)k,
                                (lapack_complex_double *)part, (lapack_int)h->n, sigma, NULL, 1, NULL, 1, work) == 0)
        while (rank < least && sigma[rank] > NO_SHARE)
            rank++;
    free(part);
    free(sigma);
    free(work);
    return rank;
}

/* Null vectors of J - lambda E into v; *size: the greatest scale of a state; *moving: rank of the right ones restricted
 * to states. */
static bool
null_vectors(const held_space *h, double complex lambda, mode_vectors *v, double *size, size_t *moving)
{
    size_t N = h->n + h->nw;
    double complex *K = bg_calloc(N * N + 1, sizeof *K), *P = bg_calloc(N * N + 1, sizeof *P),
                   *Q = bg_calloc(N * N + 1, sizeof *Q);
    double *row = bg_calloc(N + 1, sizeof *row), *column = bg_calloc(N + 1, sizeof *column),
           *sigma = bg_calloc(N + 1, sizeof *sigma), *work = bg_calloc(N + 1, sizeof *work);
    bool fine;

    for (size_t i = 0; i < N * N; i++)
        K[i] = h->J[i];
    for (size_t i = 0; i < h->n; i++)
        K[i + N * i] -= lambda;
    scale(N, K, row, column);
    fine = LAPACKE_zgesvd(LAPACK_COL_MAJOR, 'A', 'A', (lapack_int)N, (lapack_int)N, (lapack_complex_double *)K,
                          (lapack_int)N, sigma, (lapack_complex_double *)P, (lapack_int)N, (lapack_complex_double *)Q,
                          (lapack_int)N, work) == 0;
    v->m = 0;
    while (fine && v->m < N && sigma[N - 1 - v->m] <= NULL_VALUE * sigma[0])
        v->m++;
    free(v->left);
    free(v->right);
    v->left = bg_calloc(N * v->m + 1, sizeof *v->left);
    v->right = bg_calloc(N * v->m + 1, sizeof *v->right);
    for (size_t k = 0; k < v->m; k++)
        for (size_t i = 0; i < N; i++) {
            v->left[i + N * k] = conj(P[i + N * (N - 1 - k)]) * row[i];
            v->right[i + N * k] = conj(Q[N - 1 - k + N * i]) * column[i];
        }
    *size = 0;
    for (size_t i = 0; i < h->n; i++)
        *size = fmax(*size, row[i] * column[i]);
    *moving = fine ? rank_in_states(h, v->m, Q) : 0;
    free(K);
    free(P);
    free(Q);
    free(row);
    free(column);
    free(sigma);
    free(work);
    return fine;
}

/* out (N by m) = in (N by k) M (k by m, or its conjugate), columns divided. */
static double complex *
combine_vectors(size_t N, size_t k, size_t m, const double complex *in, const double complex *M, size_t row_step,
                size_t column_step, const double *divide)
{
    double complex *out = bg_calloc(N * m + 1, sizeof *out);

    for (size_t c = 0; c < m; c++)
        for (size_t j = 0; j < k; j++)
            for (size_t i = 0; i < N; i++)
                out[i + N * c] += in[i + N * j] * conj(M[j * row_step + c * column_step]) / (divide ? divide[c] : 1);
    return out;
}

/* The combinations of null vectors that have a part in E, scaled against each other. The others show that something
 * else is undetermined, which no perturbation moves. */
static bool
pair_up(const held_space *h, double size, mode_vectors *v)
{
    size_t N = h->n + h->nw, k = v->m, m = 0;
    double complex *M = bg_calloc(k * k + 1, sizeof *M), *P = bg_calloc(k * k + 1, sizeof *P),
                   *Q = bg_calloc(k * k + 1, sizeof *Q), *left, *right;
    double *sigma = bg_calloc(k + 1, sizeof *sigma), *work = bg_calloc(k + 1, sizeof *work);
    bool fine;

    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < k; b++)
            for (size_t i = 0; i < h->n; i++)
                M[a + k * b] += v->left[i + N * a] * v->right[i + N * b];
    fine = k == 0 || LAPACKE_zgesvd(LAPACK_COL_MAJOR, 'A', 'A', (lapack_int)k, (lapack_int)k,
                                    (lapack_complex_double *)M, (lapack_int)k, sigma, (lapack_complex_double *)P,
                                    (lapack_int)k, (lapack_complex_double *)Q, (lapack_int)k, work) == 0;
    while (fine && m < k && sigma[m] > NO_SHARE * size)
        m++;
    /* M = P S Q: left' = P^H left / S, right' = right Q^H */
    left = combine_vectors(N, k, m, v->left, P, 1, k, sigma);
    right = combine_vectors(N, k, m, v->right, Q, k, 1, NULL);
    free(v->left);
    free(v->right);
    v->left = left;
    v->right = right;
    v->m = m;
    free(M);
    free(P);
    free(Q);
    free(sigma);
    free(work);
    return fine;
}

bool
held_vectors(const linearization *l, const held_space *h, const cluster *c, mode_vectors *v)
{
    size_t N = h->n + h->nw, moving;
    double size;

    *v = (mode_vectors){ .n = N };
    if (h->regular) {
        v->left = bg_calloc(N * c->n + 1, sizeof *v->left);
        v->right = bg_calloc(N * c->n + 1, sizeof *v->right);
        return extend_vectors(l, h, c, v);
    }
    /* constraints add zero eigenvalues to A that the pencil lacks, and these may make a cluster at zero defective */
    if (N > HELD_MOST || (c->defective && cabs(c->eigenvalue) > AT_ZERO * l->modes.size))
        return false;
    return null_vectors(h, c->eigenvalue, v, &size, &moving) && pair_up(h, size, v) && v->m == moving &&
           (v->m == c->n || (v->m < c->n && cabs(c->eigenvalue) <= AT_ZERO * l->modes.size));
}
