/* subspace.c - see subspace.h */
#include "subspace.h"

#include <cblas.h>
#include <complex.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base.h"
#include "least_squares.h"

/* Relative size below which a direction of the observability matrix counts as rounding. */
static const double RANK = 1e-12;
/* Relative to the greatest singular value: below it entries of the input matrix are not determined. */
static const double DEPENDENT = 1e-13;
/* Columns for each regressor: a tenth more than there must be. */
static const double COLUMNS_EACH = 1.1;

size_t
subspace_most_rows(size_t m, size_t n, size_t samples)
{
    /* samples - 2i + 1 columns against i (2m + n) regressors */
    return (size_t)((double)samples / (COLUMNS_EACH * (double)(2 * m + n) + 2));
}

void
subspace_free(subspace_model *s)
{
    free(s->F);
    free(s->G);
    free(s->H);
    free(s->J);
    memset(s, 0, sizeof *s);
}

struct hankel {
    size_t m, n, samples, rows, columns;
    const double *u, *y;
}; /* rows: block rows; columns: times */

/* Channel c of the past (block rows 0..i-1: inputs, then outputs) or of the future, at its first time. */
static const double *
past_channel(const struct hankel *h, size_t c)
{
    size_t inputs = h->rows * h->m;

    return c < inputs ? h->u + c % h->m * h->samples + c / h->m
                      : h->y + (c - inputs) % h->n * h->samples + (c - inputs) / h->n;
}

static const double *
future_input(const struct hankel *h, size_t c)
{
    return h->u + c % h->m * h->samples + h->rows + c / h->m;
}
static const double *
future_output(const struct hankel *h, size_t c)
{
    return h->y + c % h->n * h->samples + h->rows + c / h->n;
}

/* R23 [ny][np]: the block of R of [U_f W_p | Y_f] (rows are times) that relates the outputs to the past. */
static bool
regress_on_past(const struct hankel *h, double *R23)
{
    size_t nu = h->rows * h->m, np = h->rows * (h->m + h->n), ny = h->rows * h->n, nt = h->columns;
    double *z = bg_malloc(nt * (nu + np) * sizeof *z), *y = bg_malloc(nt * ny * sizeof *y),
           *tau = bg_malloc((nu + np) * sizeof *tau);
    bool fine;

    for (size_t c = 0; c < nu; c++)
        memcpy(z + c * nt, future_input(h, c), nt * sizeof *z);
    for (size_t c = 0; c < np; c++)
        memcpy(z + (nu + c) * nt, past_channel(h, c), nt * sizeof *z);
    for (size_t c = 0; c < ny; c++)
        memcpy(y + c * nt, future_output(h, c), nt * sizeof *y);
    fine = LAPACKE_dgeqrf(LAPACK_COL_MAJOR, (lapack_int)nt, (lapack_int)(nu + np), z, (lapack_int)nt, tau) == 0 &&
           LAPACKE_dormqr(LAPACK_COL_MAJOR, 'L', 'T', (lapack_int)nt, (lapack_int)ny, (lapack_int)(nu + np), z,
                          (lapack_int)nt, tau, y, (lapack_int)nt) == 0;
    for (size_t c = 0; c < ny && fine; c++)
        memcpy(R23 + c * np, y + c * nt + nu, np * sizeof *R23);
    free(z);
    free(y);
    free(tau);
    return fine;
}

/* gamma [order][ny]: left singular vectors of the column space of R23'. */
static bool
observability(const double *R23, size_t np, size_t ny, size_t order, double *gamma, const char **why)
{
    size_t least = np < ny ? np : ny;
    double *copy = bg_malloc(np * ny * sizeof *copy), *sigma = bg_malloc(least * sizeof *sigma),
           *u = bg_malloc(np * least * sizeof *u);
    double *vt = bg_malloc(least * ny * sizeof *vt);
    bool fine = least >= order;

    memcpy(copy, R23, np * ny * sizeof *copy);
    fine = fine && LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'S', (lapack_int)np, (lapack_int)ny, copy, (lapack_int)np, sigma, u,
                                  (lapack_int)np, vt, (lapack_int)least) == 0;
    if (!fine) {
        *why = "the projection of the outputs onto the past has no singular values";
    } else if (!(sigma[order - 1] > RANK * sigma[0])) {
        *why = "the data do not excite all degrees of freedom";
        fine = false;
    }
    for (size_t j = 0; j < order && fine; j++)
        for (size_t c = 0; c < ny; c++)
            gamma[j * ny + c] = vt[c * least + j];
    free(copy);
    free(sigma);
    free(u);
    free(vt);
    return fine;
}

/* H is the first block row of gamma; F shifts it by one: [gamma without its last block row] F = [gamma without its
 * first]. */
static bool
shift(const double *gamma, size_t ny, subspace_model *s)
{
    size_t order = s->order, rows = ny - s->n;
    double *above = bg_malloc(rows * order * sizeof *above), *below = bg_malloc(rows * order * sizeof *below);
    bool fine;

    for (size_t j = 0; j < order; j++) {
        memcpy(s->H + j * s->n, gamma + j * ny, s->n * sizeof *gamma);
        memcpy(above + j * rows, gamma + j * ny, rows * sizeof *gamma);
        memcpy(below + j * rows, gamma + j * ny + s->n, rows * sizeof *gamma);
    }
    fine = LAPACKE_dgels(LAPACK_COL_MAJOR, 'N', (lapack_int)rows, (lapack_int)order, (lapack_int)order, above,
                         (lapack_int)rows, below, (lapack_int)rows) == 0;
    for (size_t j = 0; j < order && fine; j++)
        memcpy(s->F + j * order, below + j * rows, order * sizeof *below);
    free(above);
    free(below);
    return fine;
}

/* Moves eigenvalues outside the unit circle to their mirror images: F = V lambda V^-1. */
static bool
mirror_growth(subspace_model *s)
{
    size_t k = s->order;
    double complex *lambda = bg_malloc(k * sizeof *lambda), *V = bg_malloc(k * k * sizeof *V),
                   *left = bg_malloc(k * k * sizeof *left);
    double complex *right = bg_malloc(k * k * sizeof *right);
    lapack_int *pivot = bg_malloc(k * sizeof *pivot);
    bool grows = false, fine;

    for (size_t i = 0; i < k * k; i++)
        left[i] = s->F[i];
    fine = LAPACKE_zgeev(LAPACK_COL_MAJOR, 'N', 'V', (lapack_int)k, left, (lapack_int)k, lambda, NULL, 1, V,
                         (lapack_int)k) == 0;
    for (size_t c = 0; c < k && fine; c++) {
        if (cabs(lambda[c]) > 1) {
            lambda[c] = 1 / conj(lambda[c]);
            grows = true;
        }
        for (size_t i = 0; i < k; i++) { /* transposed: V' F' = lambda V' */
            left[i * k + c] = V[c * k + i];
            right[i * k + c] = V[c * k + i] * lambda[c];
        }
    }
    if (fine && grows) {
        fine = LAPACKE_zgesv(LAPACK_COL_MAJOR, (lapack_int)k, (lapack_int)k, left, (lapack_int)k, pivot, right,
                             (lapack_int)k) == 0;
        for (size_t c = 0; c < k && fine; c++)
            for (size_t i = 0; i < k; i++)
                s->F[c * k + i] = creal(right[i * k + c]);
    }
    free(lambda);
    free(V);
    free(left);
    free(right);
    free(pivot);
    return fine;
}

/* 1/std of each output. */
static double *
output_weights(size_t n, size_t samples, const double *y)
{
    double *weight = bg_malloc(n * sizeof *weight);

    for (size_t i = 0; i < n; i++) {
        double mean = 0, sum = 0;

        for (size_t k = 0; k < samples; k++)
            mean += y[i * samples + k] / (double)samples;
        for (size_t k = 0; k < samples; k++)
            sum += (y[i * samples + k] - mean) * (y[i * samples + k] - mean);
        weight[i] = sum > 0 ? 1 / sqrt(sum / (double)samples) : 0;
    }
    return weight;
}

/* G, J and the first state, in which the simulation's error is linear. X: derivatives of the state by the entries of G
 * and by the first state. */
static bool
fit_gains(const struct hankel *h, subspace_model *s)
{
    size_t m = h->m, n = h->n, order = s->order, dynamic = order * m + order, unknowns = dynamic + n * m;
    double *X = bg_calloc(order * dynamic, sizeof *X), *next = bg_calloc(order * dynamic, sizeof *next),
           *seen = bg_malloc(n * dynamic * sizeof *seen);
    double *row = bg_malloc(unknowns * sizeof *row), *triangle = bg_malloc(unknowns * unknowns * sizeof *triangle),
           *z = bg_malloc(unknowns * sizeof *z);
    double *singular = bg_malloc(unknowns * sizeof *singular), *weight = output_weights(n, h->samples, h->y), left = 0;
    lapack_int rank;
    ls_rows rows;
    bool fine;

    ls_rows_open(&rows, unknowns);
    for (size_t i = 0; i < order; i++)
        X[(order * m + i) * order + i] = 1;
    for (size_t k = 0; k < h->samples; k++) {
        double *swap = X;

        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)dynamic, (int)order, 1, s->H, (int)n, X,
                    (int)order, 0, seen, (int)n);
        for (size_t i = 0; i < n; i++) {
            for (size_t c = 0; c < dynamic; c++)
                row[c] = weight[i] * seen[c * n + i];
            memset(row + dynamic, 0, n * m * sizeof *row);
            for (size_t c = 0; c < m; c++)
                row[dynamic + c * n + i] = weight[i] * h->u[c * h->samples + k];
            ls_rows_add(&rows, row, -weight[i] * h->y[i * h->samples + k]);
        }
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)order, (int)dynamic, (int)order, 1, s->F,
                    (int)order, X, (int)order, 0, next, (int)order);
        for (size_t c = 0; c < m; c++)
            for (size_t i = 0; i < order; i++)
                next[(c * order + i) * order + i] += h->u[c * h->samples + k];
        X = next;
        next = swap;
    }
    left = ls_rows_triangle(&rows, triangle, z);
    for (size_t i = 0; i < unknowns; i++) {
        left -= z[i] * z[i];
        z[i] = -z[i];
    }
    s->noise = fmax(left, 0) / (double)rows.count;
    fine = isfinite(left) &&
           LAPACKE_dgelsd(LAPACK_COL_MAJOR, (lapack_int)unknowns, (lapack_int)unknowns, 1, triangle,
                          (lapack_int)unknowns, z, (lapack_int)unknowns, singular, DEPENDENT, &rank) == 0;
    for (size_t i = 0; i < order * m && fine; i++)
        s->G[i] = z[i];
    for (size_t i = 0; i < n * m && fine; i++)
        s->J[i] = z[dynamic + i];
    ls_rows_free(&rows);
    free(X);
    free(next);
    free(seen);
    free(row);
    free(triangle);
    free(z);
    free(singular);
    free(weight);
    return fine;
}

bool
subspace_identify(size_t m, size_t n, size_t samples, const double *u, const double *y, size_t order, size_t block_rows,
                  subspace_model *s, const char **why)
{
    struct hankel h = { .m = m,
                        .n = n,
                        .samples = samples,
                        .rows = block_rows,
                        .columns = samples - 2 * block_rows + 1,
                        .u = u,
                        .y = y };
    size_t np = block_rows * (m + n), ny = block_rows * n;
    double *R23, *gamma;
    bool fine;

    memset(s, 0, sizeof *s);
    *s = (subspace_model){ .m = m,
                           .n = n,
                           .order = order,
                           .F = bg_calloc(order * order, sizeof(double)),
                           .G = bg_calloc(order * m, sizeof(double)),
                           .H = bg_calloc(order * n, sizeof(double)),
                           .J = bg_calloc(n * m, sizeof(double)) };
    *why = NULL;
    if ((block_rows - 1) * n < order || block_rows > subspace_most_rows(m, n, samples) ||
        samples < 2 * block_rows + order + m + 2) {
        *why = "there are too few samples";
        return false;
    }
    R23 = bg_malloc(np * ny * sizeof *R23);
    gamma = bg_malloc(ny * order * sizeof *gamma);
    fine = regress_on_past(&h, R23) && observability(R23, np, ny, order, gamma, why) && shift(gamma, ny, s) &&
           mirror_growth(s) && fit_gains(&h, s);
    if (!fine && !*why)
        *why = "the inputs are not independent of each other";
    free(R23);
    free(gamma);
    return fine;
}
