/* modes.c - see modes.h
 *
 * Golub & Van Loan (2013), Matrix Computations, 7.6: invariant subspaces from the ordered Schur form, their duals from
 * a Sylvester equation.
 */
#include "modes.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base.h"
#include "dense.h"
#include "joined.h"

#define ROUNDING (100 * DBL_EPSILON)  /* rounding error of the QR algorithm, relative to the norm of the matrix */
#define NILPOTENT (1e4 * DBL_EPSILON) /* relative to the norm: a larger N is not rounding */
#define WORST_CONDITION 1e4 /* more of an eigenvalue's condition does not count when its parts are set to zero */
#define WIDEST 1e-3 /* relative to the norm: eigenvalues further apart are no cluster, however badly conditioned */
#define EQUAL 1e-10 /* relative: imaginary parts that count as equal when sorting */

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

/* Eigenvalues and unit vectors of A in LAPACK's order; balancing in `scale`, the norm in m->size. */
struct raw {
    double *re, *im, *left, *right, *scale;
    double complex *lambda, *u, *w;
};

static void
raw_free(struct raw *r)
{
    void *const all[] = { r->re, r->im, r->left, r->right, r->scale, r->lambda, r->u, r->w };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static bool
raw_find(size_t n, const double *A, struct raw *r, double *size)
{
    double *copy = bg_malloc((n * n + 1) * sizeof *copy);
    lapack_int low, high, status;

    *r = (struct raw){ bg_calloc(n, sizeof(double)),
                       bg_calloc(n, sizeof(double)),
                       bg_calloc(n * n, sizeof(double)),
                       bg_calloc(n * n, sizeof(double)),
                       bg_calloc(n, sizeof(double)),
                       bg_calloc(n, sizeof(double complex)),
                       bg_calloc(n * n, sizeof(double complex)),
                       bg_calloc(n * n, sizeof(double complex)) };
    memcpy(copy, A, n * n * sizeof *copy);
    status = LAPACKE_dgeevx(LAPACK_COL_MAJOR, 'B', 'V', 'V', 'N', (lapack_int)n, copy, (lapack_int)n, r->re, r->im,
                            r->left, (lapack_int)n, r->right, (lapack_int)n, &low, &high, r->scale, size, NULL, NULL);
    free(copy);
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

/* The Schur form Q T Q^H of the balanced matrix, computed for the first cluster. */
struct schur {
    double complex *T, *Q, *lambda;
    double *scale;
    bool made, fine;
};

static bool
schur_find(size_t n, const double *A, struct schur *b)
{
    double *copy;
    lapack_int low, high, sdim;

    if (b->made)
        return b->fine;
    copy = bg_malloc((n * n + 1) * sizeof *copy);
    *b = (struct schur){ bg_calloc(n * n + 1, sizeof *b->T),
                         bg_calloc(n * n + 1, sizeof *b->Q),
                         bg_calloc(n + 1, sizeof *b->lambda),
                         bg_calloc(n + 1, sizeof(double)),
                         true,
                         false };
    memcpy(copy, A, n * n * sizeof *copy);
    LAPACKE_dgebal(LAPACK_COL_MAJOR, 'S', (lapack_int)n, copy, (lapack_int)n, &low, &high, b->scale);
    for (size_t i = 0; i < n * n; i++)
        b->T[i] = copy[i];
    b->fine = LAPACKE_zgees(LAPACK_COL_MAJOR, 'V', 'N', NULL, (lapack_int)n, (lapack_complex_double *)b->T,
                            (lapack_int)n, &sdim, (lapack_complex_double *)b->lambda, (lapack_complex_double *)b->Q,
                            (lapack_int)n) == 0;
    free(copy);
    return b->fine;
}

static void
schur_free(struct schur *b)
{
    free(b->T);
    free(b->Q);
    free(b->lambda);
    free(b->scale);
}

/* X (n by m) and its dual Y (m by n, by columns) for the chosen eigenvalues, and T11 (m by m). False: they are not
 * separated from the others. */
static bool
subspace_of(size_t n, const struct schur *b, const bool *chosen, const double complex *lambda, size_t m,
            double complex *X, double complex *Y, double complex *T11)
{
    double complex *T = bg_calloc(n * n + 1, sizeof *T), *Q = bg_calloc(n * n + 1, sizeof *Q),
                   *own = bg_calloc(n + 1, sizeof *own);
    lapack_logical *select = bg_calloc(n + 1, sizeof *select);
    bool *taken = bg_calloc(n + 1, sizeof *taken);
    lapack_int count = 0;
    bool fine = b->fine;

    memcpy(T, b->T, n * n * sizeof *T);
    memcpy(Q, b->Q, n * n * sizeof *Q);
    memcpy(own, b->lambda, n * sizeof *own);
    /* the eigenvalues of this factorisation nearest to the chosen ones */
    for (size_t k = 0; k < n && fine; k++) {
        size_t best = n;

        if (!chosen[k])
            continue;
        for (size_t i = 0; i < n; i++)
            if (!taken[i] && (best == n || cabs(own[i] - lambda[k]) < cabs(own[best] - lambda[k])))
                best = i;
        taken[best] = true;
        select[best] = 1;
    }
    fine = fine &&
           LAPACKE_ztrsen(LAPACK_COL_MAJOR, 'N', 'V', select, (lapack_int)n, (lapack_complex_double *)T, (lapack_int)n,
                          (lapack_complex_double *)Q, (lapack_int)n, (lapack_complex_double *)own, &count, NULL,
                          NULL) == 0 &&
           (size_t)count == m;
    if (fine) {
        size_t rest = n - m;
        double complex *R = bg_calloc(m * rest + 1, sizeof *R);
        double factor = 1;

        for (size_t i = 0; i < m; i++)
            for (size_t k = 0; k < m; k++)
                T11[i + m * k] = T[i + n * k];
        /* the projector is Q [I R; 0 0] Q^H with T11 R - R T22 = T12 */
        for (size_t i = 0; i < m; i++)
            for (size_t k = 0; k < rest; k++)
                R[i + m * k] = T[i + n * (m + k)];
        if (rest)
            fine = LAPACKE_ztrsyl(LAPACK_COL_MAJOR, 'N', 'N', -1, (lapack_int)m, (lapack_int)rest,
                                  (lapack_complex_double *)T, (lapack_int)n, (lapack_complex_double *)(T + m + n * m),
                                  (lapack_int)n, (lapack_complex_double *)R, (lapack_int)m, &factor) >= 0 &&
                   factor > 0;
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < m; k++) {
                double complex sum = conj(Q[i + n * k]);

                for (size_t j = 0; j < rest; j++)
                    sum += R[k + m * j] / factor * conj(Q[i + n * (m + j)]);
                X[i + n * k] = b->scale[i] * Q[i + n * k];
                Y[k + m * i] = sum / b->scale[i];
            }
        free(R);
    }
    free(T);
    free(Q);
    free(own);
    free(select);
    free(taken);
    return fine;
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

static void
put_vectors(modes *m, const struct item *item, const struct raw *r)
{
    size_t n = m->n;

    for (size_t k = 0; k < n; k++) {
        const double complex *u = r->u + n * item[k].at, *w = r->w + n * item[k].at;
        double complex dot = 0;
        double wide = 0;

        for (size_t i = 0; i < n; i++)
            dot += w[i] * u[i];
        for (size_t i = 0; i < n; i++) {
            m->U[i + n * k] = u[i];
            m->W[k + n * i] = w[i] / dot;
            wide += creal(w[i] * conj(w[i]));
        }
        m->condition[k] = sqrt(wide) / cabs(dot);
    }
}

/* The columns and rows of a cluster; is it defective? */
static void
put_cluster(modes *m, cluster *c, const struct schur *b, const bool *chosen, const double complex *lambda)
{
    size_t n = m->n, k = c->n;
    double complex *X = bg_calloc(n * k + 1, sizeof *X), *Y = bg_calloc(n * k + 1, sizeof *Y),
                   *T = bg_calloc(k * k + 1, sizeof *T), mean = 0;
    double most = 0;

    if (subspace_of(n, b, chosen, lambda, k, X, Y, T)) {
        for (size_t i = 0; i < k; i++)
            mean += T[i + k * i] / (double)k;
        for (size_t i = 0; i < k; i++)
            T[i + k * i] -= mean;
        for (size_t i = 0; i < k * k; i++)
            most = fmax(most, cabs(T[i]));
        c->nilpotent = most;
        c->defective = most > NILPOTENT * m->size;
        mean = without_rounding(mean, ROUNDING * m->size);
        if (cimag(mean) == 0 && !c->defective)
            make_real(n, k, X, Y);
        if (c->defective)
            flag(n, k, X, Y, T);
        c->eigenvalue = mean;
        for (size_t j = 0; j < k; j++) {
            double length = 0, wide = 0;

            for (size_t i = 0; i < n; i++)
                length += creal(X[i + n * j] * conj(X[i + n * j]));
            length = sqrt(length);
            for (size_t i = 0; i < n; i++) {
                m->U[i + n * (c->first + j)] = X[i + n * j] / length;
                m->W[c->first + j + n * i] = Y[j + k * i] * length;
                wide += creal(Y[j + k * i] * conj(Y[j + k * i]));
            }
            m->condition[c->first + j] = sqrt(wide) * length;
            m->eigenvalue[c->first + j] = mean;
        }
    }
    free(X);
    free(Y);
    free(T);
}

bool
modes_find(size_t n, const double *A, modes *m)
{
    struct raw r = { 0 };
    struct schur b = { 0 };
    struct item *item = bg_calloc(n + 1, sizeof *item);
    uint32_t *joined = joined_new(n); /* sets of eigenvalues that are clusters */
    double *condition = bg_calloc(n + 1, sizeof *condition);
    bool fine, *chosen = bg_calloc(n + 1, sizeof *chosen);

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
    fine = n == 0 || (dense_finite(n * n, A) && raw_find(n, A, &r, &m->size));
    if (n == 0) {
        free(item);
        free(joined);
        free(condition);
        free(chosen);
        return true;
    }
    for (size_t k = 0; k < n && fine; k++) {
        double complex dot = 0;
        double wide_u = 0, wide_w = 0;

        /* in the balanced coordinates, which the iteration used */
        for (size_t i = 0; i < n; i++) {
            double s = r.scale[i] > 0 ? r.scale[i] : 1;

            dot += r.w[i + n * k] * r.u[i + n * k];
            wide_u += pow(cabs(r.u[i + n * k]) / s, 2);
            wide_w += pow(cabs(r.w[i + n * k]) * s, 2);
        }
        condition[k] = cabs(dot) > 0 ? fmin(sqrt(wide_u * wide_w) / cabs(dot), 1 / DBL_EPSILON) : 1 / DBL_EPSILON;
        r.lambda[k] = without_rounding(r.lambda[k], ROUNDING * m->size * fmin(condition[k], WORST_CONDITION));
    }
    for (size_t i = 0; i < n && fine; i++)
        for (size_t k = i + 1; k < n; k++)
            if (cabs(r.lambda[i] - r.lambda[k]) <= ROUNDING * m->size * fmin(condition[i], condition[k]) &&
                cabs(r.lambda[i] - r.lambda[k]) <= WIDEST * m->size)
                joined_join(joined, k, i);
    /* a cluster keeps together in the order */
    for (size_t k = 0; k < n && fine; k++) {
        double complex mean = 0;
        size_t count = 0;

        for (size_t i = 0; i < n; i++)
            if (joined_first(joined, i) == joined_first(joined, k)) {
                mean += r.lambda[i];
                count++;
            }
        mean /= (double)count;
        if (count > 1)
            mean = without_rounding(mean, ROUNDING * m->size);
        item[k] = (struct item){ mean, k };
    }
    if (fine) {
        sort_items(item, n);
        put_vectors(m, item, &r);
    }
    for (size_t i = 0, k; i < n && fine; i = k) {
        cluster *c = &m->cluster[m->nclusters];
        cluster *twin = NULL;

        for (k = i + 1; k < n && joined_first(joined, item[k].at) == joined_first(joined, item[i].at);)
            k++;
        *c = (cluster){ i, k - i, false, item[i].lambda, 0 };
        for (size_t j = i; j < k; j++) {
            m->eigenvalue[j] = item[i].lambda;
            m->cluster_of[j] = m->nclusters;
        }
        for (size_t j = 0; j < m->nclusters && cimag(item[i].lambda) < 0 && c->n > 1; j++)
            if (m->cluster[j].n == c->n && cabs(m->cluster[j].eigenvalue - conj(item[i].lambda)) <= EQUAL * m->size)
                twin = &m->cluster[j];
        if (twin) {
            c->defective = twin->defective;
            c->nilpotent = twin->nilpotent;
            c->eigenvalue = conj(twin->eigenvalue);
            for (size_t j = 0; j < c->n; j++) {
                for (size_t q = 0; q < n; q++) {
                    m->U[q + n * (i + j)] = conj(m->U[q + n * (twin->first + j)]);
                    m->W[i + j + n * q] = conj(m->W[twin->first + j + n * q]);
                }
                m->eigenvalue[i + j] = c->eigenvalue;
                m->condition[i + j] = m->condition[twin->first + j];
            }
        } else if (c->n > 1 && schur_find(n, A, &b)) {
            memset(chosen, 0, n * sizeof *chosen);
            for (size_t j = i; j < k; j++)
                chosen[item[j].at] = true;
            put_cluster(m, c, &b, chosen, r.lambda);
        }
        m->nclusters++;
    }
    raw_free(&r);
    schur_free(&b);
    free(item);
    free(joined);
    free(condition);
    free(chosen);
    return fine;
}
