/* sparse_modes.c - see sparse_modes.h */
#include <float.h>
#include <klu.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <arpack/arpack.h>

#include "base.h"
#include "sparse_modes.h"

#define CLOSE 1e-8 /* relative to the distance from the shift: eigenvalues that form one cluster */
#define REAL 1e-10 /* relative to the distance from the shift: imaginary parts that count as zero */
/* relative to the distance from the shift: distance from an eigenvalue at which its vectors are iterated */
#define BESIDE 1e-5
#define DIAGONALLY (0.8 + 0.6 * I) /* direction of that distance, of length 1: off both axes, where eigenvalues lie */
#define NILPOTENT 1e-6             /* relative to the inverse on a cluster: the cluster is defective */
#define ROUNDING 1e-13             /* relative to the greatest eigenvalue found: parts that count as zero */
#define EQUAL 1e-10                /* relative: imaginary parts that count as equal when sorting */
#define NEARER (1 - 1e-12)         /* ratio of distances: nearer by more than rounding */
#define REGULAR (1e3 * DBL_MIN)    /* reciprocal condition number below which a shifted matrix is singular */
/* Relative to the shift, or to the matrix: how far a shift that meets an eigenvalue is moved, and the factor of each
 * further try. */
#define ASIDE 1e-9
#define FURTHER 30
#define LEAST_DISTANCE \
    1e-3 /* relative to an eigenvalue: least distance from the shift that others are compared with \
          */
enum { ITERATIONS = 4, RESTARTS = 1000, SHIFTS = 6 };

void
sparse_jacobian_free(sparse_jacobian *j)
{
    free(j->column);
    free(j->row);
    free(j->value);
    *j = (sparse_jacobian){ 0 };
}

/* ---------------------------------------------------------------- (A - s)^-1 */

typedef struct shifted {
    const sparse_jacobian *j;
    double *value;     /* re, im */
    double complex *b; /* [n] */
    klu_l_symbolic *symbolic;
    klu_l_numeric *numeric;
    klu_l_common common;
} shifted;

static bool
shifted_open(shifted *s, const sparse_jacobian *j)
{
    *s = (shifted){ .j = j,
                    .value = bg_calloc(2 * (size_t)j->column[j->n] + 2, sizeof(double)),
                    .b = bg_calloc(j->n + 1, sizeof *s->b) };
    klu_l_defaults(&s->common);
    s->symbolic = klu_l_analyze((SuiteSparse_long)j->n, (SuiteSparse_long *)j->column, (SuiteSparse_long *)j->row,
                                &s->common);
    return s->symbolic != NULL;
}

static void
shifted_close(shifted *s)
{
    if (s->numeric)
        klu_zl_free_numeric(&s->numeric, &s->common);
    if (s->symbolic)
        klu_l_free_symbolic(&s->symbolic, &s->common);
    free(s->value);
    free(s->b);
}

/* Factors A - at. False: it is singular. */
static bool
shift_to(shifted *s, double complex at)
{
    const sparse_jacobian *j = s->j;

    for (int64_t c = 0; c < (int64_t)j->n; c++)
        for (int64_t k = j->column[c]; k < j->column[c + 1]; k++) {
            bool diagonal = c < (int64_t)j->nx && j->row[k] == c;

            s->value[2 * k] = j->value[k] - (diagonal ? creal(at) : 0);
            s->value[2 * k + 1] = diagonal ? -cimag(at) : 0;
        }
    if (s->numeric)
        klu_zl_free_numeric(&s->numeric, &s->common);
    s->numeric = klu_zl_factor((SuiteSparse_long *)j->column, (SuiteSparse_long *)j->row, s->value, s->symbolic,
                               &s->common);
    return s->numeric && s->common.status == KLU_OK && klu_zl_rcond(s->symbolic, s->numeric, &s->common) &&
           s->common.rcond > REGULAR;
}

/* y = (A - s)^-1 x, or with the transpose; x and y may be the same array. */
static bool
apply_inverse(shifted *s, bool transposed, const double complex *x, double complex *y)
{
    SuiteSparse_long n = (SuiteSparse_long)s->j->n;
    bool fine;

    memset(s->b, 0, s->j->n * sizeof *s->b);
    memcpy(s->b, x, s->j->nx * sizeof *x);
    fine = transposed ? klu_zl_tsolve(s->symbolic, s->numeric, n, 1, (double *)s->b, 0, &s->common)
                      : klu_zl_solve(s->symbolic, s->numeric, n, 1, (double *)s->b, &s->common);
    memcpy(y, s->b, s->j->nx * sizeof *y);
    return fine;
}

/* ---------------------------------------------------------------- Arnoldi */

/* Pseudo-random numbers, the same in every run: a start vector that is almost surely orthogonal to no eigenvector. */
static double
any_number(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*seed >> 11) / (double)(UINT64_C(1) << 53) - 0.5;
}

/* Finds eigenvalues and right vectors nearest to `at`, where s is factored: lambda [nev] and X [nx*nev]. Returns their
 * number. */
static size_t
arnoldi(shifted *s, double complex at, size_t nev, double complex *lambda, double complex *X, char **why)
{
    a_int n = (a_int)s->j->nx, ncv = (a_int)fmin((double)n, fmax(2.0 * (double)nev + 1, 24)), ido = 0, info = 1,
          iparam[11] = { 1, 0, RESTARTS, 1, 0, 0, 3 };
    a_int ipntr[14], lworkl = 3 * ncv * ncv + 5 * ncv, *select = bg_calloc((size_t)ncv + 1, sizeof *select);
    double complex *resid = bg_calloc((size_t)n + 1, sizeof *resid),
                   *V = bg_calloc((size_t)n * (size_t)ncv + 1, sizeof *V);
    double complex *workd = bg_calloc(3 * (size_t)n + 1, sizeof *workd),
                   *workl = bg_calloc((size_t)lworkl + 1, sizeof *workl);
    double complex *workev = bg_calloc(2 * (size_t)ncv + 1, sizeof *workev), *d = bg_calloc((size_t)nev + 2, sizeof *d);
    double *rwork = bg_calloc((size_t)ncv + 1, sizeof *rwork);
    uint64_t seed = 1;
    size_t found = 0;
    bool fine = true;

    for (a_int i = 0; i < n; i++)
        resid[i] = any_number(&seed) + any_number(&seed) * I;
    while (fine && ido != 99) {
        znaupd_c(&ido, "I", n, "LM", (a_int)nev, 0, resid, ncv, V, n, iparam, ipntr, workd, workl, lworkl, rwork,
                 &info);
        if (ido == 1 || ido == -1)
            fine = apply_inverse(s, false, workd + ipntr[0] - 1, workd + ipntr[1] - 1);
    }
    if (fine && info >= 0) {
        zneupd_c(1, "A", select, d, V, n, at, workev, "I", n, "LM", (a_int)nev, 0, resid, ncv, V, n, iparam, ipntr,
                 workd, workl, lworkl, rwork, &info);
        found = info == 0 ? (size_t)iparam[4] < nev ? (size_t)iparam[4] : nev : 0;
    }
    if (!found)
        *why = bg_format("Arnoldi's method did not converge (ARPACK says %d)", (int)info);
    memcpy(lambda, d, found * sizeof *d);
    memcpy(X, V, found * (size_t)n * sizeof *X);
    void *const all[] = { select, resid, V, workd, workl, workev, d, rwork };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    return found;
}

/* ---------------------------------------------------------------- vectors of a cluster */

/* Makes the columns of X (n by m) orthonormal. */
static bool
orthonormal(size_t n, size_t m, double complex *X)
{
    double complex *tau = bg_calloc(m + 1, sizeof *tau);
    bool fine = LAPACKE_zgeqrf(LAPACK_COL_MAJOR, (lapack_int)n, (lapack_int)m, (lapack_complex_double *)X,
                               (lapack_int)n, (lapack_complex_double *)tau) == 0 &&
                LAPACKE_zungqr(LAPACK_COL_MAJOR, (lapack_int)n, (lapack_int)m, (lapack_int)m,
                               (lapack_complex_double *)X, (lapack_int)n, (lapack_complex_double *)tau) == 0;

    free(tau);
    return fine;
}

/* C (m by m) = A^T B, with n rows each; conjugated: A^H B. */
static void
products(size_t n, size_t m, const double complex *A, const double complex *B, bool conjugated, double complex *C)
{
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < m; k++) {
            double complex sum = 0;

            for (size_t r = 0; r < n; r++)
                sum += (conjugated ? conj(A[r + n * i]) : A[r + n * i]) * B[r + n * k];
            C[i + m * k] = sum;
        }
}

/* X <- X Q */
static void
turn_vectors(size_t n, size_t m, double complex *X, const double complex *Q)
{
    double complex *row = bg_calloc(m + 1, sizeof *row);

    for (size_t r = 0; r < n; r++) {
        for (size_t k = 0; k < m; k++) {
            row[k] = 0;
            for (size_t i = 0; i < m; i++)
                row[k] += X[r + n * i] * Q[i + m * k];
        }
        for (size_t k = 0; k < m; k++)
            X[r + n * k] = row[k];
    }
    free(row);
}

/* The invariant subspace near `at`: X (n by m; in: a start) and its dual Y with Y^T X = I, such that Y^T A X is upper
 * triangular; its diagonal has the eigenvalues. s is factored at `at`. */
static bool
subspace_near(shifted *s, double complex at, size_t m, double complex *X, double complex *Y, double complex *lambda,
              bool *defective)
{
    size_t n = s->j->nx;
    double complex *SX = bg_calloc(n * m + 1, sizeof *SX), *M = bg_calloc(m * m + 1, sizeof *M),
                   *G = bg_calloc(m * m + 1, sizeof *G);
    double complex *Q = bg_calloc(m * m + 1, sizeof *Q), *mu = bg_calloc(m + 1, sizeof *mu),
                   *YG = bg_calloc(n * m + 1, sizeof *YG);
    lapack_int *pivot = bg_calloc(m + 1, sizeof *pivot), sdim;
    uint64_t seed = 2;
    bool fine = true;
    double most = 0;

    for (size_t i = 0; i < n * m; i++)
        Y[i] = any_number(&seed) + any_number(&seed) * I;
    for (int k = 0; k < ITERATIONS && fine; k++) {
        for (size_t i = 0; i < m && fine; i++)
            fine = apply_inverse(s, false, X + n * i, X + n * i) && apply_inverse(s, true, Y + n * i, Y + n * i);
        fine = fine && orthonormal(n, m, X) && orthonormal(n, m, Y);
    }
    for (size_t i = 0; i < m && fine; i++)
        fine = apply_inverse(s, false, X + n * i, SX + n * i);
    /* Schur form of X^H (A - at)^-1 X: in its basis the inverse is upper triangular too */
    products(n, m, X, SX, true, M);
    fine = fine &&
           LAPACKE_zgees(LAPACK_COL_MAJOR, 'V', 'N', NULL, (lapack_int)m, (lapack_complex_double *)M, (lapack_int)m,
                         &sdim, (lapack_complex_double *)mu, (lapack_complex_double *)Q, (lapack_int)m) == 0;
    if (fine)
        turn_vectors(n, m, X, Q);
    /* Y <- Y (Y^T X)^-T */
    products(n, m, X, Y, false, G); /* (Y^T X)^T */
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < m; k++)
            Q[i + m * k] = i == k;
    fine = fine && LAPACKE_zgesv(LAPACK_COL_MAJOR, (lapack_int)m, (lapack_int)m, (lapack_complex_double *)G,
                                 (lapack_int)m, pivot, (lapack_complex_double *)Q, (lapack_int)m) == 0;
    if (fine)
        turn_vectors(n, m, Y, Q);
    for (size_t i = 0; i < m && fine; i++) {
        lambda[i] = at + 1 / mu[i];
        for (size_t k = i + 1; k < m; k++)
            most = fmax(most, cabs(M[i + m * k]) / cabs(mu[i]));
    }
    *defective = most > NILPOTENT;
    void *const all[] = { SX, M, G, Q, mu, YG, pivot };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    return fine;
}

/* ---------------------------------------------------------------- the whole */

struct found {
    double complex lambda;
    size_t at, group;
};

static int
compare_found(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    double p = fabs(cimag(x->lambda)), q = fabs(cimag(y->lambda));

    if (fabs(p - q) > EQUAL * (p + q))
        return p > q ? -1 : 1;
    if (creal(x->lambda) != creal(y->lambda))
        return creal(x->lambda) < creal(y->lambda) ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

/* Keeps one of each pair: the one with Im > 0, made from the other where only that was found; removes imaginary parts
 * that are rounding. Returns the number kept. */
static size_t
upper_half(size_t n, double complex near, double complex *lambda, double complex *X, size_t count, double least)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (fabs(cimag(lambda[i])) <= fmax(least, REAL * cabs(lambda[i] - near)))
            lambda[i] = creal(lambda[i]);
    for (size_t i = 0; i < count; i++) {
        bool other = false;

        for (size_t k = 0; k < count && cimag(lambda[i]) < -least; k++)
            other = other || cabs(lambda[k] - conj(lambda[i])) <= CLOSE * cabs(lambda[i]);
        if (other)
            continue;
        for (size_t r = 0; r < n && cimag(lambda[i]) < -least; r++)
            X[r + n * i] = conj(X[r + n * i]);
        lambda[kept] = cimag(lambda[i]) < -least ? conj(lambda[i]) : lambda[i];
        if (kept != i)
            memcpy(X + n * kept, X + n * i, n * sizeof *X);
        kept++;
    }
    return kept;
}

/* Keeps the nearest `wanted`, counting a pair as two; the last pair is kept whole. Returns the number kept. */
static size_t
nearest_few(size_t n, double complex near, double complex *lambda, double complex *X, size_t count, size_t wanted)
{
    size_t total = 0, kept = 0;

    for (; kept < count && total < wanted; kept++) {
        size_t best = kept;
        double complex swap;

        for (size_t i = kept; i < count; i++)
            if (cabs(lambda[i] - near) < cabs(lambda[best] - near) * NEARER)
                best = i;
        swap = lambda[kept];
        lambda[kept] = lambda[best];
        lambda[best] = swap;
        for (size_t r = 0; r < n && best != kept; r++) {
            swap = X[r + n * kept];
            X[r + n * kept] = X[r + n * best];
            X[r + n * best] = swap;
        }
        total += cimag(lambda[kept]) > 0 ? 2 : 1;
    }
    return kept;
}

/* Stores one cluster, from its columns in U and W (n by m each, W transposed), and its conjugate in m. */
static void
set_cluster(modes *m, size_t k, const double complex *X, const double complex *Y, const double complex *lambda,
            size_t first, bool defective, bool real, bool conjugate, double least)
{
    size_t n = m->n;
    double complex mean = 0;
    cluster *c = &m->cluster[m->nclusters];

    for (size_t i = 0; i < k; i++)
        mean += lambda[i] / (double)k;
    mean = (fabs(creal(mean)) <= least ? 0 : creal(mean)) + (real || fabs(cimag(mean)) <= least ? 0 : cimag(mean)) * I;
    *c = (cluster){ first, k, defective, conjugate ? conj(mean) : mean };
    for (size_t i = 0; i < k; i++) {
        double length = 0, wide = 0;

        for (size_t r = 0; r < n; r++) {
            length += pow(cabs(X[r + n * i]), 2);
            wide += pow(cabs(Y[r + n * i]), 2);
        }
        length = sqrt(length);
        for (size_t r = 0; r < n; r++) {
            double complex u = X[r + n * i] / length, w = Y[r + n * i] * length;

            m->U[r + n * (first + i)] = conjugate ? conj(u) : u;
            m->W[first + i + m->count * r] = conjugate ? conj(w) : w;
        }
        m->condition[first + i] = sqrt(wide) * length;
        m->eigenvalue[first + i] = c->eigenvalue;
        m->cluster_of[first + i] = m->nclusters;
    }
    m->nclusters++;
}

/* Factors the shifted matrix; moves the shift where it meets an eigenvalue. */
static bool
first_shift(shifted *s, double complex *at)
{
    double size = 0;

    for (size_t c = 0; c < s->j->nx; c++)
        for (int64_t k = s->j->column[c]; k < s->j->column[c + 1]; k++)
            size = fmax(size, fabs(s->j->value[k]));
    for (int k = 0; k < SHIFTS; k++) {
        double complex here = *at + (k ? (cabs(*at) > 0 ? cabs(*at) : size) * ASIDE * pow(FURTHER, k) : 0);

        if (shift_to(s, here)) {
            *at = here;
            return true;
        }
    }
    return false;
}

/* Computes the subspaces of each group of close eigenvalues, in order. */
static bool
fill_groups(shifted *s, double complex near, double complex *lambda, double complex *X, size_t count, double least,
            modes *m)
{
    size_t n = s->j->nx, *parent = bg_calloc(count + 1, sizeof *parent), total = 0, next = 0;
    struct found *list = bg_calloc(count + 1, sizeof *list);
    double complex *Y = bg_calloc(n * count + 1, sizeof *Y), *own = bg_calloc(n * count + 1, sizeof *own),
                   *value = bg_calloc(count + 1, sizeof *value);
    bool fine = true;

    for (size_t i = 0; i < count; i++) {
        parent[i] = i;
        for (size_t k = 0; k < i; k++)
            if (cabs(lambda[i] - lambda[k]) <= CLOSE * fmax(cabs(lambda[i] - near), LEAST_DISTANCE * cabs(lambda[i]))) {
                parent[i] = parent[k];
                break;
            }
        list[i] = (struct found){ lambda[parent[i]], i, parent[i] };
        total += cimag(lambda[i]) > 0 ? 2 : 1;
    }
    if (count)
        qsort(list, count, sizeof *list, compare_found);
    m->n = n;
    m->count = total;
    m->eigenvalue = bg_calloc(total + 1, sizeof *m->eigenvalue);
    m->U = bg_calloc(n * total + 1, sizeof *m->U);
    m->W = bg_calloc(n * total + 1, sizeof *m->W);
    m->condition = bg_calloc(total + 1, sizeof *m->condition);
    m->cluster_of = bg_calloc(total + 1, sizeof *m->cluster_of);
    m->cluster = bg_calloc(total + 1, sizeof *m->cluster);
    for (size_t i = 0, k; i < count && fine; i = k) {
        double distance = fmax(cabs(list[i].lambda - near), LEAST_DISTANCE * cabs(list[i].lambda));
        double complex at = list[i].lambda + BESIDE * (distance > 0 ? distance : least) * DIAGONALLY;
        bool pair = cimag(list[i].lambda) > 0, defective = false;

        for (k = i; k < count && list[k].group == list[i].group; k++)
            memcpy(own + n * (k - i), X + n * list[k].at, n * sizeof *own);
        fine = shift_to(s, at) && subspace_near(s, at, k - i, own, Y, value, &defective);
        if (fine) {
            set_cluster(m, k - i, own, Y, value, next, defective, !pair, false, least);
            if (pair)
                set_cluster(m, k - i, own, Y, value, next + k - i, defective, false, true, least);
            next += (pair ? 2 : 1) * (k - i);
        }
    }
    for (size_t i = 0; i < m->count; i++)
        m->size = fmax(m->size, cabs(m->eigenvalue[i]));
    free(parent);
    free(list);
    free(Y);
    free(own);
    free(value);
    return fine;
}

bool
sparse_modes_find(const sparse_jacobian *j, double complex near, size_t count, modes *m, char **why)
{
    size_t nev = count + 1; /* room to recognize half a pair at the end */
    double complex *lambda = bg_calloc(nev + 1, sizeof *lambda), *X = bg_calloc(j->nx * nev + 1, sizeof *X), at = near;
    double least = 0;
    shifted s;

    *m = (modes){ .n = j->nx };
    *why = NULL;
    if (nev + 2 > j->nx)
        *why = bg_format("of %zu states not more than %zu eigenvalues are found this way", j->nx,
                         j->nx > 3 ? j->nx - 3 : 0);
    if (!shifted_open(&s, j) && !*why)
        *why = bg_strdup("the pattern of the equations cannot be ordered");
    if (!*why && !first_shift(&s, &at))
        *why = bg_strdup("algebraic variables are not determined there");
    if (!*why)
        nev = arnoldi(&s, at, nev, lambda, X, why);
    if (!*why) {
        for (size_t i = 0; i < nev; i++)
            least = fmax(least, ROUNDING * cabs(lambda[i]));
        nev = upper_half(j->nx, at, lambda, X, nev, least);
        nev = nearest_few(j->nx, near, lambda, X, nev, count);
        if (!fill_groups(&s, at, lambda, X, nev, least, m))
            *why = bg_strdup("inverse iteration at an eigenvalue failed");
    }
    shifted_close(&s);
    free(lambda);
    free(X);
    return !*why;
}
