/* modes.c - see modes.h
 *
 * Golub & Van Loan (2013), Matrix Computations, 7.6: invariant subspaces and their duals from the Schur form, here by
 * substitution. Parts that act on each other one way only are kept apart (block_form.h).
 */
#include "modes.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base.h"
#include "block_form.h"
#include "dense.h"
#include "joined.h"

#define ROUNDING (100 * DBL_EPSILON)  /* rounding error of the QR algorithm, relative to the norm of a block */
#define NILPOTENT (1e4 * DBL_EPSILON) /* relative to the terms of an entry of N: more is not rounding */
#define WORST_CONDITION 1e4 /* more of an eigenvalue's condition does not count when its parts are set to zero */
#define WIDEST 1e-3    /* relative to the norm of a block: further apart is no cluster, however badly conditioned */
#define ONE_VALUE 1e-9 /* relative: eigenvalues of different blocks further apart are two */
#define EQUAL 1e-10    /* relative: imaginary parts that count as equal when sorting */

double
mode_damping(double complex lambda)
{
    return creal(lambda) == 0 ? 0 : -creal(lambda) / cabs(lambda); /* not -0 */
}

void
modes_free(modes *m)
{
    free(m->eigenvalue);
    free(m->U);
    free(m->W);
    free(m->condition);
    free(m->cluster_of);
    free(m->cluster);
    *m = (modes){ 0 };
}

/* Eigenvalues and vectors of f.M, each at the place of its block. */
struct raw {
    block_form f;
    double *re, *im, *left, *right;
    double complex *lambda, *u, *w;
    double *condition; /* of each as an eigenvalue of its block alone */
};

static void
raw_free(struct raw *r)
{
    void *const all[] = { r->re, r->im, r->left, r->right, r->lambda, r->u, r->w, r->condition };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    block_form_free(&r->f);
}

static bool
raw_find(size_t n, const double *A, struct raw *r)
{
    double *copy = bg_malloc((n * n + 1) * sizeof *copy), *scale = bg_calloc(n, sizeof *scale), norm;
    lapack_int low, high, status;

    *r = (struct raw){ .re = bg_calloc(n, sizeof(double)),
                       .im = bg_calloc(n, sizeof(double)),
                       .left = bg_calloc(n * n, sizeof(double)),
                       .right = bg_calloc(n * n, sizeof(double)),
                       .lambda = bg_calloc(n, sizeof(double complex)),
                       .u = bg_calloc(n * n, sizeof(double complex)),
                       .w = bg_calloc(n * n, sizeof(double complex)),
                       .condition = bg_calloc(n, sizeof(double)) };
    block_form_make(n, A, &r->f);
    memcpy(copy, r->f.M, n * n * sizeof *copy);
    /* not balanced any more: a permutation would break the blocks */
    status = LAPACKE_dgeevx(LAPACK_COL_MAJOR, 'N', 'V', 'V', 'N', (lapack_int)n, copy, (lapack_int)n, r->re, r->im,
                            r->left, (lapack_int)n, r->right, (lapack_int)n, &low, &high, scale, &norm, NULL, NULL);
    free(copy);
    free(scale);
    for (size_t k = 0; k < n && status == 0; k++) {
        bool second = k > 0 && r->im[k] < 0 && r->im[k - 1] == -r->im[k];
        size_t re = second ? k - 1 : k;

        r->lambda[k] = r->re[k] + r->im[k] * I;
        for (size_t i = 0; i < n; i++) {
            double ui = r->im[k] == 0 ? 0 : r->right[i + n * (re + 1)],
                   wi = r->im[k] == 0 ? 0 : r->left[i + n * (re + 1)];

            r->u[i + n * k] = r->right[i + n * re] + (second ? -ui : ui) * I;
            r->w[i + n * k] = r->left[i + n * re] - (second ? -wi : wi) * I;
        }
    }
    return status == 0;
}

/* Sets parts to zero that are no more than rounding. */
static double complex
without_rounding(double complex lambda, double least)
{
    return (fabs(creal(lambda)) <= least ? 0 : creal(lambda)) + (fabs(cimag(lambda)) <= least ? 0 : cimag(lambda)) * I;
}

/* ---------------------------------------------------------------- order and clusters */

struct item {
    double complex lambda;
    size_t at;
};

static int
compare_items(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    double p = fabs(cimag(x->lambda)), q = fabs(cimag(y->lambda));

    if (p != q)
        return p > q ? -1 : 1;
    if (creal(x->lambda) != creal(y->lambda))
        return creal(x->lambda) < creal(y->lambda) ? -1 : 1;
    if (cimag(x->lambda) != cimag(y->lambda))
        return cimag(x->lambda) > cimag(y->lambda) ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static int
compare_real(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    if (creal(x->lambda) != creal(y->lambda))
        return creal(x->lambda) < creal(y->lambda) ? -1 : 1;
    if ((cimag(x->lambda) > 0) != (cimag(y->lambda) > 0))
        return cimag(x->lambda) > 0 ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static void
sort_items(struct item *item, size_t n)
{
    if (n)
        qsort(item, n, sizeof *item, compare_items);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && fabs(fabs(cimag(item[i].lambda)) - fabs(cimag(item[k].lambda))) <=
                                     EQUAL * fabs(cimag(item[i].lambda));)
            k++;
        qsort(item + i, k - i, sizeof *item, compare_real);
    }
}

/* ---------------------------------------------------------------- invariant subspaces */

/* The complex Schur form M = Q T Q^H, computed for the first cluster; its diagonal keeps the blocks. */
struct schur {
    double complex *T, *Q;
    bool made, fine;
};

static bool
schur_find(const block_form *f, struct schur *b)
{
    size_t n = f->n;
    lapack_int N = (lapack_int)n;
    double complex *tau, *lambda;
    lapack_complex_double *T, *Q;

    if (b->made)
        return b->fine;
    *b = (struct schur){ bg_calloc(n * n + 1, sizeof *b->T), bg_calloc(n * n + 1, sizeof *b->Q), true, false };
    tau = bg_calloc(n + 1, sizeof *tau);
    lambda = bg_calloc(n + 1, sizeof *lambda);
    T = (lapack_complex_double *)b->T;
    Q = (lapack_complex_double *)b->Q;
    for (size_t i = 0; i < n * n; i++)
        b->T[i] = f->M[i];
    b->fine = LAPACKE_zgehrd(LAPACK_COL_MAJOR, N, 1, N, T, N, (lapack_complex_double *)tau) == 0;
    memcpy(b->Q, b->T, n * n * sizeof *b->Q);
    b->fine = b->fine && LAPACKE_zunghr(LAPACK_COL_MAJOR, N, 1, N, Q, N, (lapack_complex_double *)tau) == 0 &&
              LAPACKE_zhseqr(LAPACK_COL_MAJOR, 'S', 'V', N, 1, N, T, N, (lapack_complex_double *)lambda, Q, N) == 0;
    free(tau);
    free(lambda);
    return b->fine;
}

static void
schur_free(struct schur *b)
{
    free(b->T);
    free(b->Q);
}

/* T X = X M for an upper triangular T (n by n), X (n by m) having the unit matrix in the rows `at` (rising), M (m by m)
 * upper triangular with the chosen elements of T's diagonal; terms: the sum of magnitudes in each entry of M. Each
 * column is solved from its row upwards, so that zeros of T between blocks stay zeros of X. */
static void
triangular_basis(size_t n, const double complex *T, const size_t *at, size_t m, double complex *X, double complex *M,
                 double *terms)
{
    double complex *sum = bg_calloc(n + 1, sizeof *sum);
    double *size = bg_calloc(n + 1, sizeof *size);

    for (size_t j = 0; j < m; j++) {
        size_t own = at[j], s = j;
        double complex lambda = T[own + n * own];

        memcpy(sum, T + n * own, n * sizeof *sum);
        memset(size, 0, n * sizeof *size);
        X[own + n * j] = 1;
        M[j + m * j] = lambda;
        for (size_t i = own; i-- > 0;) {
            double complex x, apart = T[i + n * i] - lambda;
            double least = fmax(DBL_EPSILON * cabs(lambda), DBL_MIN / DBL_EPSILON);

            if (s > 0 && at[s - 1] == i) {
                M[--s + m * j] = sum[i];
                terms[s + m * j] = size[i];
                continue;
            }
            x = -sum[i];
            for (size_t k = s; k < j; k++)
                x += X[i + n * k] * M[k + m * j];
            x = x == 0 ? 0 : x / (cabs(apart) < least ? least : apart);
            X[i + n * j] = x;
            for (size_t k = 0; k < i && x != 0; k++) {
                sum[k] += T[k + n * i] * x;
                size[k] += cabs(T[k + n * i] * x);
            }
        }
    }
    free(sum);
    free(size);
}

/* The elements of T's diagonal that are the chosen eigenvalues: the nearest of their blocks. */
static void
find_chosen_places(const block_form *f, const struct schur *b, const bool *chosen, const double complex *lambda,
                   size_t *at)
{
    size_t n = f->n, m = 0;
    bool *taken = bg_calloc(n + 1, sizeof *taken);

    for (size_t k = 0; k < n; k++) {
        size_t first = f->first[f->block_of[k]], end = f->first[f->block_of[k] + 1], best = end;

        for (size_t i = first; i < end && chosen[k]; i++)
            if (!taken[i] &&
                (best == end || cabs(b->T[i * (n + 1)] - lambda[k]) < cabs(b->T[best * (n + 1)] - lambda[k])))
                best = i;
        if (chosen[k])
            taken[best] = true;
    }
    for (size_t i = 0; i < n; i++)
        if (taken[i])
            at[m++] = i;
    free(taken);
}

/* X by places (n by m, orthonormal), its dual Y (m by n), and the restriction T11 (m by m) for the chosen eigenvalues;
 * terms: the magnitudes that each entry above its diagonal is the sum of. */
static void
subspace_of(const block_form *f, const struct schur *b, const bool *chosen, const double complex *lambda, size_t m,
            double complex *X, double complex *Y, double complex *T11, double *terms)
{
    size_t n = f->n, *at = bg_calloc(m + 1, sizeof *at), *back = bg_calloc(m + 1, sizeof *back);
    double complex *turned = bg_calloc(n * n + 1, sizeof *turned), *left = bg_calloc(n * m + 1, sizeof *left),
                   *right = bg_calloc(n * m + 1, sizeof *right), *other = bg_calloc(m * m + 1, sizeof *other);
    double *unused = bg_calloc(m * m + 1, sizeof *unused);

    find_chosen_places(f, b, chosen, lambda, at);
    triangular_basis(n, b->T, at, m, right, T11, terms);
    for (size_t i = 0; i < m; i++)
        for (size_t k = i + 1; k < m; k++)
            terms[i + m * k] += f->greatest[f->block_of[at[i]] + f->nblocks * f->block_of[at[k]]];
    /* left vectors: those of the transpose, which is upper triangular backwards */
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            turned[i + n * k] = b->T[n - 1 - k + n * (n - 1 - i)];
    for (size_t k = 0; k < m; k++)
        back[k] = n - 1 - at[m - 1 - k];
    triangular_basis(n, turned, back, m, left, other, unused);
    /* X = Q right; Y = (left right)^-1 left Q^H, where left right is upper triangular with a diagonal of 1 */
    for (size_t k = m; k-- > 0;)
        for (size_t j = k + 1; j < m; j++) {
            const double complex *row = left + n * (m - 1 - k);
            double complex dot = 0;

            for (size_t i = 0; i < n; i++)
                dot += row[n - 1 - i] * right[i + n * j];
            other[k + m * j] = dot;
        }
    for (size_t k = m; k-- > 0;) {
        double complex *row = left + n * (m - 1 - k);

        for (size_t j = k + 1; j < m; j++)
            for (size_t i = 0; i < n; i++)
                row[i] -= other[k + m * j] * left[i + n * (m - 1 - j)];
    }
    for (size_t k = 0; k < m; k++)
        for (size_t j = 0; j < n; j++) {
            double complex r = right[j + n * k], l = left[n - 1 - j + n * (m - 1 - k)];

            for (size_t i = 0; i < n && r != 0; i++)
                X[i + n * k] += b->Q[i + n * j] * r;
            for (size_t i = 0; i < n && l != 0; i++)
                Y[k + m * i] += l * conj(b->Q[i + n * j]);
        }
    free(at);
    free(back);
    free(turned);
    free(left);
    free(right);
    free(other);
    free(unused);
}

/* Makes the columns of X orthonormal, one after the other: X <- X R^-1, Y <- R Y, T <- R T R^-1, R upper triangular. */
static void
make_orthonormal(size_t n, size_t m, double complex *X, double complex *Y, double complex *T)
{
    for (size_t j = 0; j < m; j++) {
        double length = 0;

        for (size_t k = 0; k < 2 * j; k++) { /* twice, against rounding */
            size_t by = k % j;
            double complex dot = 0;

            for (size_t i = 0; i < n; i++)
                dot += conj(X[i + n * by]) * X[i + n * j];
            for (size_t i = 0; i < n; i++) {
                X[i + n * j] -= dot * X[i + n * by];
                Y[by + m * i] += dot * Y[j + m * i];
            }
            for (size_t i = 0; i < m; i++)
                T[i + m * j] -= dot * T[i + m * by];
            for (size_t i = 0; i < m; i++)
                T[by + m * i] += dot * T[j + m * i];
        }
        for (size_t i = 0; i < n; i++)
            length += creal(X[i + n * j] * conj(X[i + n * j]));
        length = sqrt(length);
        for (size_t i = 0; i < n; i++) {
            X[i + n * j] /= length;
            Y[j + m * i] *= length;
        }
        for (size_t i = 0; i < m; i++) {
            T[i + m * j] /= length;
            T[j + m * i] *= length;
        }
    }
}

/* X <- X G, Y <- G^H Y, T <- G^H T G for a unitary G (m by m). */
static void
turn_basis(size_t n, size_t m, double complex *X, double complex *Y, double complex *T, const double complex *G)
{
    double complex *x = bg_calloc(n * m + 1, sizeof *x), *y = bg_calloc(n * m + 1, sizeof *y),
                   *t = bg_calloc(m * m + 1, sizeof *t);

    for (size_t k = 0; k < m; k++)
        for (size_t j = 0; j < m; j++) {
            for (size_t i = 0; i < n; i++) {
                x[i + n * k] += X[i + n * j] * G[j + m * k];
                y[k + m * i] += conj(G[j + m * k]) * Y[j + m * i];
            }
            for (size_t i = 0; i < m; i++)
                t[i + m * k] += T[i + m * j] * G[j + m * k];
        }
    memcpy(X, x, n * m * sizeof *x);
    memcpy(Y, y, n * m * sizeof *y);
    memset(T, 0, m * m * sizeof *T);
    for (size_t k = 0; k < m; k++)
        for (size_t j = 0; j < m; j++)
            for (size_t i = 0; i < m; i++)
                T[i + m * k] += conj(G[j + m * i]) * t[j + m * k];
    free(x);
    free(y);
    free(t);
}

/* T (m by m, trace 0): transforms to a basis in which it is strictly upper triangular, its null vectors first. */
static void
flag(size_t n, size_t m, double complex *X, double complex *Y, double complex *T)
{
    for (size_t k = 0; k + 1 < m; k++) {
        size_t rest = m - k;
        double complex *part = bg_calloc(rest * rest + 1, sizeof *part), *V = bg_calloc(rest * rest + 1, sizeof *V),
                       *G = bg_calloc(m * m + 1, sizeof *G);
        double *sigma = bg_calloc(rest + 1, sizeof *sigma), *work = bg_calloc(rest + 1, sizeof *work);

        for (size_t i = 0; i < rest; i++)
            for (size_t j = 0; j < rest; j++)
                part[i + rest * j] = T[k + i + m * (k + j)];
        LAPACKE_zgesvd(LAPACK_COL_MAJOR, 'N', 'A', (lapack_int)rest, (lapack_int)rest, (lapack_complex_double *)part,
                       (lapack_int)rest, sigma, NULL, 1, (lapack_complex_double *)V, (lapack_int)rest, work);
        for (size_t i = 0; i < m; i++)
            G[i + m * i] = i < k;
        for (size_t i = 0; i < rest; i++)
            for (size_t j = 0; j < rest; j++)
                G[k + i + m * (k + j)] = conj(V[rest - 1 - j + rest * i]);
        turn_basis(n, m, X, Y, T, G);
        free(part);
        free(V);
        free(G);
        free(sigma);
        free(work);
    }
}

/* A real basis where the subspace is real. */
static void
make_real(size_t n, size_t m, double complex *X, double complex *Y)
{
    double *both = bg_calloc(n * 2 * m + 1, sizeof *both), *sigma = bg_calloc(2 * m + 1, sizeof *sigma),
           *work = bg_calloc(2 * m + 1, sizeof *work);
    double *V = bg_calloc(n * n + 1, sizeof *V);
    double complex *y = bg_calloc(n * m + 1, sizeof *y);

    for (size_t k = 0; k < m; k++)
        for (size_t i = 0; i < n; i++) {
            both[i + n * 2 * k] = creal(X[i + n * k]);
            both[i + n * (2 * k + 1)] = cimag(X[i + n * k]);
        }
    LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'A', 'N', (lapack_int)n, (lapack_int)(2 * m), both, (lapack_int)n, sigma, V,
                   (lapack_int)n, NULL, 1, work);
    /* Y = V^T X Y: the projector in the new basis */
    for (size_t k = 0; k < m; k++)
        for (size_t j = 0; j < m; j++) {
            double complex dot = 0;

            for (size_t i = 0; i < n; i++)
                dot += V[i + n * k] * X[i + n * j];
            for (size_t i = 0; i < n; i++)
                y[k + m * i] += dot * Y[j + m * i];
        }
    for (size_t k = 0; k < m; k++)
        for (size_t i = 0; i < n; i++) {
            X[i + n * k] = V[i + n * k];
            Y[k + m * i] = creal(y[k + m * i]);
        }
    free(both);
    free(sigma);
    free(work);
    free(V);
    free(y);
}

/* ---------------------------------------------------------------- the whole */

/* The columns and rows of simple eigenvalues. */
static void
put_vectors(modes *m, const struct item *item, const struct raw *r)
{
    size_t n = m->n;
    const block_form *f = &r->f;

    for (size_t k = 0; k < n; k++) {
        size_t at = item[k].at, b = f->block_of[at];
        const double complex *u = r->u + n * at, *w = r->w + n * at;
        double complex dot = 0;
        double length = 0, wide = 0;

        /* where both are not zero: w ends at the block, u begins there */
        for (size_t i = f->first[b]; i < f->first[b + 1]; i++)
            dot += w[i] * u[i];
        for (size_t i = 0; i < n; i++)
            length = hypot(length, cabs(u[i]) * f->scale[f->order[i]]);
        for (size_t i = 0; i < n; i++) {
            size_t state = f->order[i];

            m->U[state + n * k] = u[i] * (f->scale[state] / length);
            m->W[k + n * state] = w[i] / dot * (length / f->scale[state]);
            wide = hypot(wide, cabs(m->W[k + n * state]));
        }
        m->condition[k] = wide;
    }
}

/* The columns and rows of a cluster; is it defective? size: that of its largest block. */
static void
put_cluster(modes *m, cluster *c, const block_form *f, const struct schur *b, const bool *chosen,
            const double complex *lambda, double size)
{
    size_t n = m->n, k = c->n;
    double complex *X = bg_calloc(n * k + 1, sizeof *X), *Y = bg_calloc(n * k + 1, sizeof *Y),
                   *T = bg_calloc(k * k + 1, sizeof *T), mean = 0;
    double *terms = bg_calloc(k * k + 1, sizeof *terms);

    subspace_of(f, b, chosen, lambda, k, X, Y, T, terms);
    for (size_t i = 0; i < k; i++)
        mean += T[i + k * i] / (double)k;
    for (size_t i = 0; i < k; i++)
        T[i + k * i] -= mean;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i <= j; i++)
            c->defective |= cabs(T[i + k * j]) > NILPOTENT * (i == j ? size : terms[i + k * j]);
    mean = without_rounding(mean, ROUNDING * size);
    make_orthonormal(n, k, X, Y, T);
    if (cimag(mean) == 0 && !c->defective)
        make_real(n, k, X, Y);
    if (c->defective)
        flag(n, k, X, Y, T);
    c->eigenvalue = mean;
    for (size_t j = 0; j < k; j++) {
        double length = 0, wide = 0;

        for (size_t i = 0; i < n; i++)
            length = hypot(length, cabs(X[i + n * j]) * f->scale[f->order[i]]);
        for (size_t i = 0; i < n; i++) {
            size_t state = f->order[i];

            m->U[state + n * (c->first + j)] = X[i + n * j] * (f->scale[state] / length);
            m->W[c->first + j + n * state] = Y[j + k * i] * (length / f->scale[state]);
            wide = hypot(wide, cabs(m->W[c->first + j + n * state]));
        }
        m->condition[c->first + j] = wide;
        m->eigenvalue[c->first + j] = mean;
    }
    free(X);
    free(Y);
    free(T);
    free(terms);
}

/* The conditions of the eigenvalues in their blocks; removes parts that are rounding. */
static void
judge_eigenvalues(struct raw *r)
{
    const block_form *f = &r->f;

    for (size_t k = 0; k < f->n; k++) {
        size_t b = f->block_of[k];
        double complex dot = 0;
        double wide_u = 0, wide_w = 0;

        for (size_t i = f->first[b]; i < f->first[b + 1]; i++) {
            dot += r->w[i + f->n * k] * r->u[i + f->n * k];
            wide_u = hypot(wide_u, cabs(r->u[i + f->n * k]));
            wide_w = hypot(wide_w, cabs(r->w[i + f->n * k]));
        }
        dot = wide_u > 0 && wide_w > 0 ? dot / wide_u / wide_w : 0;
        r->condition[k] = cabs(dot) > DBL_EPSILON ? 1 / cabs(dot) : 1 / DBL_EPSILON;
        r->lambda[k] = without_rounding(r->lambda[k], ROUNDING * f->size[b] * fmin(r->condition[k], WORST_CONDITION));
    }
}

/* The mean of the eigenvalues joined with each, and their number; parts that are rounding of the largest of their
 * blocks are set to zero. */
static void
find_means(const struct raw *r, uint32_t *joined, double complex *mean, size_t *count, double *size)
{
    size_t n = r->f.n;

    memset(mean, 0, n * sizeof *mean);
    memset(count, 0, n * sizeof *count);
    memset(size, 0, n * sizeof *size);
    for (size_t k = 0; k < n; k++) {
        size_t first = joined_first(joined, (uint32_t)k);

        mean[first] += r->lambda[k];
        count[first]++;
        size[first] = fmax(size[first], r->f.size[r->f.block_of[k]]);
    }
    for (size_t k = 0; k < n; k++)
        if (count[k] > 1)
            mean[k] = without_rounding(mean[k] / (double)count[k], ROUNDING * size[k]);
    for (size_t k = 0; k < n; k++) {
        size_t first = joined_first(joined, (uint32_t)k);

        mean[k] = mean[first];
        count[k] = count[first];
        size[k] = size[first];
    }
}

/* Joins the eigenvalues that are one: first those of each block, by their conditions; then those of different blocks,
 * which do not spoil each other, by what rounding of the blocks leaves unsure. */
static void
join_equal(const struct raw *r, uint32_t *joined, double complex *mean, size_t *count, double *size)
{
    const block_form *f = &r->f;
    size_t n = f->n;

    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < f->first[f->block_of[i] + 1]; k++) {
            double apart = cabs(r->lambda[i] - r->lambda[k]), of = f->size[f->block_of[i]];

            if (apart <= ROUNDING * of * fmin(r->condition[i], r->condition[k]) && apart <= WIDEST * of)
                joined_join(joined, (uint32_t)k, (uint32_t)i);
        }
    find_means(r, joined, mean, count, size);
    for (size_t i = 0; i < n; i++)
        for (size_t k = f->first[f->block_of[i] + 1]; k < n; k++) {
            double unsure_i = size[i] * (count[i] > 1 ? 1 : fmin(r->condition[i], WORST_CONDITION)),
                   unsure_k = size[k] * (count[k] > 1 ? 1 : fmin(r->condition[k], WORST_CONDITION));

            if (cabs(mean[i] - mean[k]) <= fmin(ROUNDING * fmax(unsure_i, unsure_k), ONE_VALUE * cabs(mean[i])))
                joined_join(joined, (uint32_t)k, (uint32_t)i);
        }
    find_means(r, joined, mean, count, size);
}

/* The cluster of eigenvalues i .. i + c->n - 1: taken from its conjugate where that is done, else computed. */
static void
fill_cluster(modes *m, cluster *c, const struct item *item, const struct raw *r, struct schur *b, double size)
{
    size_t n = m->n;
    const cluster *twin = NULL;

    for (size_t j = 0; j < m->nclusters && cimag(c->eigenvalue) < 0; j++)
        if (m->cluster[j].n == c->n &&
            cabs(m->cluster[j].eigenvalue - conj(c->eigenvalue)) <= EQUAL * cabs(c->eigenvalue))
            twin = &m->cluster[j];
    if (twin) {
        c->defective = twin->defective;
        c->eigenvalue = conj(twin->eigenvalue);
        for (size_t j = 0; j < c->n; j++) {
            for (size_t q = 0; q < n; q++) {
                m->U[q + n * (c->first + j)] = conj(m->U[q + n * (twin->first + j)]);
                m->W[c->first + j + n * q] = conj(m->W[twin->first + j + n * q]);
            }
            m->eigenvalue[c->first + j] = c->eigenvalue;
            m->condition[c->first + j] = m->condition[twin->first + j];
        }
    } else if (schur_find(&r->f, b)) {
        bool *chosen = bg_calloc(n + 1, sizeof *chosen);

        for (size_t j = c->first; j < c->first + c->n; j++)
            chosen[item[j].at] = true;
        put_cluster(m, c, &r->f, b, chosen, r->lambda, size);
        free(chosen);
    }
}

bool
modes_find(size_t n, const double *A, modes *m)
{
    struct raw r = { 0 };
    struct schur b = { 0 };
    struct item *item = bg_calloc(n + 1, sizeof *item);
    uint32_t *joined = joined_new(n); /* sets of eigenvalues that are clusters */
    double complex *mean = bg_calloc(n + 1, sizeof *mean);
    double *size = bg_calloc(n + 1, sizeof *size);
    size_t *count = bg_calloc(n + 1, sizeof *count);
    bool fine;

    *m = (modes){ n,
                  n,
                  bg_calloc(n + 1, sizeof(double complex)),
                  bg_calloc(n * n + 1, sizeof(double complex)),
                  bg_calloc(n * n + 1, sizeof(double complex)),
                  bg_calloc(n + 1, sizeof(double)),
                  bg_calloc(n + 1, sizeof(size_t)),
                  0,
                  bg_calloc(n + 1, sizeof(cluster)),
                  0 };
    fine = n == 0 || (dense_finite(n * n, A) && raw_find(n, A, &r));
    if (fine) {
        judge_eigenvalues(&r);
        join_equal(&r, joined, mean, count, size);
        for (size_t k = 0; k < r.f.nblocks; k++)
            m->size = fmax(m->size, r.f.size[k]);
        /* a cluster keeps together in the order */
        for (size_t k = 0; k < n; k++)
            item[k] = (struct item){ mean[k], k };
        sort_items(item, n);
        put_vectors(m, item, &r);
    }
    for (size_t i = 0, k; i < n && fine; i = k) {
        cluster *c = &m->cluster[m->nclusters];

        k = i + count[item[i].at];
        *c = (cluster){ i, k - i, false, item[i].lambda };
        for (size_t j = i; j < k; j++) {
            m->eigenvalue[j] = item[i].lambda;
            m->cluster_of[j] = m->nclusters;
        }
        if (c->n > 1)
            fill_cluster(m, c, item, &r, &b, size[item[i].at]);
        m->nclusters++;
    }
    raw_free(&r);
    schur_free(&b);
    free(item);
    free(joined);
    free(mean);
    free(size);
    free(count);
    return fine;
}
