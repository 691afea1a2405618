/* mdk.c - see mdk.h: the starts, and the choice among their results */
#include <cblas.h>
#include <complex.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base.h"
#include "mdk_parts.h"

/* Horizons of the subspace step that are tried, in block rows; the first one that fits and gives a valid result ends
 * the search. */
static const size_t horizons[] = { 40, 100, 20, 10, 5 };
/* A result whose cost exceeds the noise estimate by this factor is checked from another start. */
static const double SUSPICIOUS = 1.25;
/* A cost below this counts as zero. */
static const double EXACT = 1e-12;
/* A matrix whose smallest eigenvalue is below this share of the greatest counts as indefinite. */
static const double DEFINITE = 1e-9;
/* Eigenvalues of a start below LOW times the mean size are raised to LIFTED times the mean size. */
static const double LOW = 1e-6, LIFTED = 1e-2;
/* Relative to the greatest diagonal entry: below it an equation depends on others. */
static const double DEPENDENT = 1e-12;
/* Relative to an eigenvalue: an imaginary part that is rounding; and a distance from 1 at which log(mu)/(mu - 1) is
 * taken as its limit. */
static const double REAL = 1e-12, AT_ONE = 1e-14;
/* Relative to the cost: two horizons lead to the same minimum. */
static const double SAME_COST = 1e-6;

void
midpoint_discrete(size_t count, double h, const double *M, const double *D, const double *K, double *Md, double *Dd,
                  double *Kd)
{
    for (size_t i = 0; i < count; i++) {
        Md[i] = M[i] / h + h * K[i] / 4 + D[i] / 2;
        Dd[i] = h * K[i] / 2 - 2 * M[i] / h;
        Kd[i] = M[i] / h + h * K[i] / 4 - D[i] / 2;
    }
}

void
midpoint_continuous(size_t count, double h, const double *Md, const double *Dd, const double *Kd, double *M, double *D,
                    double *K)
{
    for (size_t i = 0; i < count; i++) {
        M[i] = h / 4 * (Md[i] + Kd[i] - Dd[i]);
        D[i] = Md[i] - Kd[i];
        K[i] = (Md[i] + Kd[i] + Dd[i]) / h;
    }
}

void
mdk_free(mdk_result *r)
{
    free(r->M);
    free(r->D);
    free(r->K);
    memset(r, 0, sizeof *r);
}

/* ---------------------------------------------------------------- small dense algebra, by columns */

/* C = A B, all n by n unless m says how many columns B has. */
static void
multiply_matrices(size_t rows, size_t inner, size_t columns, const double *A, const double *B, double *C)
{
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)columns, (int)inner, 1, A, (int)rows, B,
                (int)inner, 0, C, (int)rows);
}

/* Replaces B by A^-1 B; A is overwritten. */
static bool
solve_columns(size_t n, double *A, double *B, size_t columns)
{
    lapack_int *pivot = bg_malloc((n + 1) * sizeof *pivot);
    bool fine = LAPACKE_dgesv(LAPACK_COL_MAJOR, (lapack_int)n, (lapack_int)columns, A, (lapack_int)n, pivot, B,
                              (lapack_int)n) == 0;

    free(pivot);
    return fine;
}

static void
transpose(size_t rows, size_t columns, const double *A, double *B)
{
    for (size_t c = 0; c < columns; c++)
        for (size_t i = 0; i < rows; i++)
            B[i * columns + c] = A[c * rows + i];
}

static void
symmetrise(size_t n, double *A)
{
    for (size_t c = 0; c < n; c++)
        for (size_t i = 0; i < c; i++)
            A[c * n + i] = A[i * n + c] = (A[c * n + i] + A[i * n + c]) / 2;
}

/* Eigenvalues in ascending order; eigenvectors too where V is not NULL. */
static bool
symmetric_eigenvalues(size_t n, const double *A, double *value, double *V)
{
    double *copy = V ? V : bg_malloc(n * n * sizeof *copy);
    bool fine;

    memcpy(copy, A, n * n * sizeof *copy);
    fine = LAPACKE_dsyev(LAPACK_COL_MAJOR, V ? 'V' : 'N', 'U', (lapack_int)n, copy, (lapack_int)n, value) == 0;
    if (!V)
        free(copy);
    return fine;
}

static bool
all_finite(const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(v[i]))
            return false;
    return true;
}

/* Raises eigenvalues that are not positive. True if there were any. */
static bool
clip(size_t n, double *A)
{
    double *value = bg_malloc(n * sizeof *value), *V = bg_malloc(n * n * sizeof *V), size = 0;
    bool lifted = false;

    if (symmetric_eigenvalues(n, A, value, V)) {
        for (size_t i = 0; i < n; i++)
            size += fabs(value[i]) / (double)n;
        for (size_t i = 0; i < n; i++)
            if (value[i] < LOW * size) {
                value[i] = LIFTED * size;
                lifted = true;
            }
        for (size_t c = 0; c < n && lifted; c++)
            for (size_t i = 0; i < n; i++) {
                A[c * n + i] = 0;
                for (size_t k = 0; k < n; k++)
                    A[c * n + i] += value[k] * V[k * n + i] * V[k * n + c];
            }
    }
    free(value);
    free(V);
    return lifted;
}

/* Smallest eigenvalue over the greatest magnitude. */
static double
lowest(size_t n, const double *A)
{
    double *value = bg_malloc(n * sizeof *value), result = -1;

    if (all_finite(A, n * n) && symmetric_eigenvalues(n, A, value, NULL)) {
        double top = fmax(fabs(value[0]), fabs(value[n - 1]));

        result = top > 0 ? value[0] / top : -1;
    }
    free(value);
    return result;
}

/* ---------------------------------------------------------------- second-order form from a gain and two matrices */

/* M0 = W^-1 where all coordinates are forced. Otherwise the symmetric M0 that makes M0 W = L and M0 P, M0 Q symmetric,
 * in the least-squares sense (each relation in units of its own size): the given forces determine the scale, symmetry
 * determines the rest. */
static bool
mass_from(const mdk_data *d, const double *W, const double *P, const double *Q, double *M0)
{
    size_t n = d->n, m = d->m, unknowns = n * (n + 1) / 2, rows = n * m + 2 * (n * (n - 1) / 2), at = 0, ld;
    const double *pair[2] = { P, Q };
    double *a, *b, size;
    lapack_int *pivot, rank;
    bool fine;

    if (m == n) {
        double *copy = bg_malloc(n * n * sizeof *copy);

        memcpy(copy, W, n * n * sizeof *copy);
        memset(M0, 0, n * n * sizeof *M0);
        for (size_t k = 0; k < m; k++)
            M0[k * n + d->at[k]] = 1;
        /* W = M0^-1 L, so M0 = L W^-1: solved transposed */
        {
            double *Wt = bg_malloc(n * n * sizeof *Wt), *Lt = bg_malloc(n * n * sizeof *Lt);

            transpose(n, n, copy, Wt);
            transpose(n, n, M0, Lt);
            fine = solve_columns(n, Wt, Lt, n);
            transpose(n, n, Lt, M0);
            free(Wt);
            free(Lt);
        }
        free(copy);
        return fine;
    }
    if (rows < unknowns)
        rows = unknowns;
    ld = rows;
    a = bg_calloc(rows * unknowns + 1, sizeof *a);
    b = bg_calloc(rows + 1, sizeof *b);
    pivot = bg_calloc(unknowns + 1, sizeof *pivot);
#define ENTRY(i, j) ((i) <= (j) ? (j) * ((j) + 1) / 2 + (i) : (i) * ((i) + 1) / 2 + (j))
    size = cblas_dnrm2((int)(n * m), W, 1);
    for (size_t k = 0; k < m; k++)
        for (size_t i = 0; i < n; i++, at++) {
            for (size_t j = 0; j < n; j++)
                a[ENTRY(i, j) * ld + at] += W[k * n + j] / size;
            b[at] = (i == d->at[k]) / size;
        }
    for (int which = 0; which < 2; which++) {
        const double *X = pair[which];

        size = cblas_dnrm2((int)(n * n), X, 1);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < i; j++, at++)
                for (size_t k = 0; k < n; k++) {
                    a[ENTRY(i, k) * ld + at] += X[j * n + k] / size;
                    a[ENTRY(j, k) * ld + at] -= X[i * n + k] / size;
                }
    }
    fine = LAPACKE_dgelsy(LAPACK_COL_MAJOR, (lapack_int)rows, (lapack_int)unknowns, 1, a, (lapack_int)ld, b,
                          (lapack_int)ld, pivot, DEPENDENT, &rank) == 0 &&
           (size_t)rank == unknowns;
    for (size_t j = 0; j < n && fine; j++)
        for (size_t i = 0; i < n; i++)
            M0[j * n + i] = b[ENTRY(i, j)];
#undef ENTRY
    free(a);
    free(b);
    free(pivot);
    return fine;
}

/* [X1 X2] [H; HA] = HA^2: the companion form of a model with as many outputs as degrees of freedom. Omega: [H; HA]. */
static bool
companion(size_t n, const double *A, const double *H, double *Omega, double *X1, double *X2)
{
    size_t two = 2 * n;
    double *HA = bg_malloc(n * two * sizeof *HA), *HAA = bg_malloc(n * two * sizeof *HAA),
           *left = bg_malloc(two * two * sizeof *left);
    double *right = bg_malloc(two * n * sizeof *right);
    bool fine;

    multiply_matrices(n, two, two, H, A, HA);
    multiply_matrices(n, two, two, HA, A, HAA);
    for (size_t c = 0; c < two; c++)
        for (size_t i = 0; i < n; i++) {
            Omega[c * two + i] = H[c * n + i];
            Omega[c * two + n + i] = HA[c * n + i];
        }
    transpose(two, two, Omega, left);
    transpose(n, two, HAA, right);
    fine = solve_columns(two, left, right, n);
    for (size_t c = 0; c < n; c++)
        for (size_t i = 0; i < n; i++) {
            X1[c * n + i] = right[i * two + c];
            X2[c * n + i] = right[i * two + n + c];
        }
    free(HA);
    free(HAA);
    free(left);
    free(right);
    return fine;
}

/* (4.7)-(4.12), then (2.10). */
static bool
variational_start(const mdk_data *d, const subspace_model *s, double *M, double *D, double *K)
{
    size_t n = d->n, m = d->m, two = 2 * n;
    double *Omega = bg_malloc(two * two * sizeof *Omega), *F21 = bg_malloc(n * n * sizeof *F21),
           *F22 = bg_malloc(n * n * sizeof *F22);
    double *G = bg_malloc(two * m * sizeof *G), *W = bg_malloc(n * m * sizeof *W);
    double *Md = bg_malloc(n * n * sizeof *Md), *Dd = bg_malloc(n * n * sizeof *Dd),
           *Kd = bg_malloc(n * n * sizeof *Kd);
    bool fine = companion(n, s->F, s->H, Omega, F21, F22);

    if (fine) {
        multiply_matrices(two, two, m, Omega, s->G, G);
        /* G0 = B0 + B1 + B2 = (I - F22 - F21) J + (I - F22) G1 + G2 */
        for (size_t c = 0; c < m; c++)
            for (size_t i = 0; i < n; i++) {
                double sum = s->J[c * n + i] + G[c * two + i] + G[c * two + n + i];

                for (size_t k = 0; k < n; k++)
                    sum -= (F22[k * n + i] + F21[k * n + i]) * s->J[c * n + k] + F22[k * n + i] * G[c * two + k];
                W[c * n + i] = sum;
            }
        fine = mass_from(d, W, F21, F22, Md);
    }
    if (fine) {
        multiply_matrices(n, n, n, Md, F22, Dd);
        multiply_matrices(n, n, n, Md, F21, Kd);
        cblas_dscal((int)(n * n), -1, Dd, 1);
        cblas_dscal((int)(n * n), -1, Kd, 1);
        symmetrise(n, Md);
        symmetrise(n, Dd);
        symmetrise(n, Kd);
        midpoint_continuous(n * n, d->step, Md, Dd, Kd, M, D, K);
    }
    free(Omega);
    free(F21);
    free(F22);
    free(G);
    free(W);
    free(Md);
    free(Dd);
    free(Kd);
    return fine;
}

/* ---------------------------------------------------------------- estimates through the matrix logarithm */

/* Eigenvalues and right vectors of F: lambda [k], V [k][k]. */
static bool
eigen(size_t k, const double *F, double complex *lambda, double complex *V)
{
    double complex *copy = bg_malloc(k * k * sizeof *copy);
    bool fine;

    for (size_t i = 0; i < k * k; i++)
        copy[i] = F[i];
    fine = LAPACKE_zgeev(LAPACK_COL_MAJOR, 'N', 'V', (lapack_int)k, copy, (lapack_int)k, lambda, NULL, 1, V,
                         (lapack_int)k) == 0;
    free(copy);
    return fine;
}

/* Inverts the zero-order hold: eigenvalues mu of A = log(F)/h, right vectors V, and V^-1 B [m][k] (B = A (F - I)^-1
 * G). */
static bool
undo_hold(const subspace_model *s, double h, double complex *mu, double complex *V, double complex *VB, char **why)
{
    size_t k = s->order, m = s->m;
    double complex *left = bg_malloc(k * k * sizeof *left);
    lapack_int *pivot = bg_malloc(k * sizeof *pivot);
    bool fine = eigen(k, s->F, mu, V);

    if (!fine)
        *why = bg_format("the eigenvalues of the identified model do not converge");
    for (size_t i = 0; i < k && fine; i++)
        if (fabs(cimag(mu[i])) <= REAL * cabs(mu[i]) && creal(mu[i]) <= 0) {
            *why = bg_format("the identified model has the eigenvalue %.3g, which no continuous system sampled every "
                             "%g s has: its logarithm is not real",
                             creal(mu[i]), h);
            fine = false;
        }
    memcpy(left, V, k * k * sizeof *left);
    for (size_t i = 0; i < k * m && fine; i++)
        VB[i] = s->G[i];
    if (fine && LAPACKE_zgesv(LAPACK_COL_MAJOR, (lapack_int)k, (lapack_int)m, left, (lapack_int)k, pivot, VB,
                              (lapack_int)k) != 0) {
        *why = bg_format("the modes of the identified model are not independent of each other");
        fine = false;
    }
    for (size_t i = 0; i < k && fine; i++) {
        double complex log_of = clog(mu[i]) / h, ratio = cabs(mu[i] - 1) > AT_ONE ? log_of / (mu[i] - 1) : 1 / h;

        for (size_t c = 0; c < m; c++)
            VB[c * k + i] *= ratio;
        mu[i] = log_of;
    }
    free(left);
    free(pivot);
    return fine;
}

static bool
companion_route(const mdk_data *d, const subspace_model *s, double *M, double *D, double *K, char **why)
{
    size_t n = d->n, m = d->m, two = 2 * n;
    double complex *mu = bg_malloc(two * sizeof *mu), *V = bg_malloc(two * two * sizeof *V),
                   *VB = bg_malloc(two * m * sizeof *VB);
    double complex *right = bg_malloc(two * two * sizeof *right), *left = bg_malloc(two * two * sizeof *left);
    lapack_int *pivot = bg_malloc(two * sizeof *pivot);
    double *A = bg_malloc(two * two * sizeof *A), *B = bg_malloc(two * m * sizeof *B),
           *Omega = bg_malloc(two * two * sizeof *Omega);
    double *X1 = bg_malloc(n * n * sizeof *X1), *X2 = bg_malloc(n * n * sizeof *X2), *W = bg_malloc(n * m * sizeof *W);
    double *OB = bg_malloc(two * m * sizeof *OB);
    bool fine = undo_hold(s, d->step, mu, V, VB, why);

    if (fine) {
        /* A = V mu V^-1, solved transposed; B = V (V^-1 B) */
        for (size_t c = 0; c < two; c++)
            for (size_t i = 0; i < two; i++) {
                left[i * two + c] = V[c * two + i];
                right[i * two + c] = V[c * two + i] * mu[c];
            }
        LAPACKE_zgesv(LAPACK_COL_MAJOR, (lapack_int)two, (lapack_int)two, left, (lapack_int)two, pivot, right,
                      (lapack_int)two);
        for (size_t c = 0; c < two; c++)
            for (size_t i = 0; i < two; i++)
                A[c * two + i] = creal(right[i * two + c]);
        for (size_t c = 0; c < m; c++)
            for (size_t i = 0; i < two; i++) {
                double complex sum = 0;

                for (size_t k = 0; k < two; k++)
                    sum += V[k * two + i] * VB[c * two + k];
                B[c * two + i] = creal(sum);
            }
        fine = companion(n, A, s->H, Omega, X1, X2);
        if (fine) {
            multiply_matrices(two, two, m, Omega, B, OB);
            for (size_t c = 0; c < m; c++)
                memcpy(W + c * n, OB + c * two + n, n * sizeof *W);
            fine = mass_from(d, W, X1, X2, M);
        }
        if (!fine)
            *why = bg_format("the identified model has no second-order form");
    }
    if (fine) {
        multiply_matrices(n, n, n, M, X1, K);
        multiply_matrices(n, n, n, M, X2, D);
        cblas_dscal((int)(n * n), -1, K, 1);
        cblas_dscal((int)(n * n), -1, D, 1);
        symmetrise(n, M);
        symmetrise(n, D);
        symmetrise(n, K);
    }
    free(mu);
    free(V);
    free(VB);
    free(right);
    free(left);
    free(pivot);
    free(A);
    free(B);
    free(Omega);
    free(X1);
    free(X2);
    free(W);
    free(OB);
    return fine;
}

/* Adds up the symmetric parts of the residues of the modes times a power of the eigenvalue. Residue: the shape [2n][n]
 * at the forced coordinates times the effect of the forces on the mode, VB [m][2n]; where a coordinate is not forced,
 * symmetry gives the entry. */
static void
add_residues(const mdk_data *d, const double complex *shape, const double complex *VB, const double complex *mu,
             int power, double *sum)
{
    size_t n = d->n, two = 2 * n;

    memset(sum, 0, n * n * sizeof *sum);
    for (size_t k = 0; k < two; k++) {
        double complex by = power == 1 ? mu[k] : power == -1 ? 1 / mu[k] : mu[k] * mu[k], along = 0;
        double complex *force = bg_calloc(n, sizeof *force);
        double size = 0;

        for (size_t c = 0; c < d->m; c++) {
            double complex at = shape[k * n + d->at[c]];

            along += conj(at) * VB[c * two + k];
            size += creal(at * conj(at));
        }
        for (size_t i = 0; i < n; i++)
            force[i] = shape[k * n + i] * along / size;
        for (size_t c = 0; c < d->m; c++)
            force[d->at[c]] = VB[c * two + k];
        for (size_t c = 0; c < n; c++)
            for (size_t i = 0; i < n; i++)
                sum[c * n + i] += creal(by * (shape[k * n + i] * force[c] + shape[k * n + c] * force[i])) / 2;
        free(force);
    }
}

/* Residues R_k of the modes: M^-1 = sum R mu, K^-1 = -sum R/mu, M^-1 D M^-1 = -sum R mu^2. */
static bool
modal_route(const mdk_data *d, const subspace_model *s, double *M, double *D, double *K, char **why)
{
    size_t n = d->n, m = d->m, two = 2 * n;
    double complex *mu = bg_malloc(two * sizeof *mu), *V = bg_malloc(two * two * sizeof *V),
                   *VB = bg_malloc(two * m * sizeof *VB);
    double complex *shape = bg_calloc(n * two, sizeof *shape);
    double *X = bg_malloc(n * n * sizeof *X), *Y = bg_malloc(n * n * sizeof *Y);
    bool fine = undo_hold(s, d->step, mu, V, VB, why);

    for (size_t k = 0; k < two && fine; k++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < two; j++)
                shape[k * n + i] += s->H[j * n + i] * V[k * two + j];
    if (fine) {
        memset(M, 0, n * n * sizeof *M);
        memset(K, 0, n * n * sizeof *K);
        for (size_t i = 0; i < n; i++) {
            M[i * n + i] = 1;
            K[i * n + i] = -1;
        }
        add_residues(d, shape, VB, mu, 1, X);
        add_residues(d, shape, VB, mu, -1, Y);
        fine = solve_columns(n, X, M, n) && solve_columns(n, Y, K, n);
        if (!fine)
            *why = bg_format("the identified modes give no invertible mass or stiffness");
    }
    if (fine) {
        add_residues(d, shape, VB, mu, 2, Y);
        multiply_matrices(n, n, n, M, Y, X);
        multiply_matrices(n, n, n, X, M, D);
        cblas_dscal((int)(n * n), -1, D, 1);
        symmetrise(n, M);
        symmetrise(n, D);
        symmetrise(n, K);
    }
    free(mu);
    free(V);
    free(VB);
    free(shape);
    free(X);
    free(Y);
    return fine;
}

/* ---------------------------------------------------------------- the complete method */

static void
allocate(size_t n, mdk_result *r)
{
    *r = (mdk_result){ .n = n,
                       .M = bg_calloc(n * n, sizeof(double)),
                       .D = bg_calloc(n * n, sizeof(double)),
                       .K = bg_calloc(n * n, sizeof(double)) };
}

/* fd at k = 2, 3, ..., by channels. */
static double *
filtered_input(const mdk_data *d)
{
    double *f = bg_malloc((d->m * (d->samples - 2) + 1) * sizeof *f);

    for (size_t c = 0; c < d->m; c++) {
        const double *u = d->u + c * d->samples;

        for (size_t k = 2; k < d->samples; k++)
            f[c * (d->samples - 2) + k - 2] = d->step / 4 * (u[k] + 2 * u[k - 1] + u[k - 2]);
    }
    return f;
}

/* Estimates by a subspace step and the chosen method. False: *why. */
static bool
estimate_matrices(const mdk_data *d, enum mdk_method method, size_t block_rows, const double *fd, mdk_result *r,
                  char **why)
{
    subspace_model s;
    const char *lacking = NULL;
    double *shifted = NULL;
    bool by_midpoint = method == MDK_PEM || method == MDK_VARIATIONAL, fine;

    r->block_rows = block_rows;
    if (by_midpoint) {
        shifted = bg_malloc(d->n * (d->samples - 2) * sizeof *shifted);
        for (size_t c = 0; c < d->n; c++)
            memcpy(shifted + c * (d->samples - 2), d->y + c * d->samples + 2, (d->samples - 2) * sizeof *shifted);
        fine = subspace_identify(d->m, d->n, d->samples - 2, fd, shifted, 2 * d->n, block_rows, &s, &lacking);
    } else {
        fine = subspace_identify(d->m, d->n, d->samples, d->u, d->y, 2 * d->n, block_rows, &s, &lacking);
    }
    if (!fine)
        *why = bg_format("%s", lacking);
    r->noise = s.noise;
    if (fine && by_midpoint && !(fine = variational_start(d, &s, r->M, r->D, r->K)))
        *why = bg_format("the identified model has no second-order form");
    else if (fine && method == MDK_COMPANION)
        fine = companion_route(d, &s, r->M, r->D, r->K, why);
    else if (fine && method == MDK_MODAL)
        fine = modal_route(d, &s, r->M, r->D, r->K, why);
    if (fine && !(all_finite(r->M, r->n * r->n) && all_finite(r->D, r->n * r->n) && all_finite(r->K, r->n * r->n))) {
        *why = bg_format("what is estimated is not finite");
        fine = false;
    }
    subspace_free(&s);
    free(shifted);
    return fine;
}

static void
look_at_modes(mdk_result *r)
{
    const double *matrix[3] = { r->M, r->D, r->K };

    r->positive_definite = true;
    for (int i = 0; i < 3; i++) {
        r->lowest[i] = lowest(r->n, matrix[i]);
        r->positive_definite &= r->lowest[i] > DEFINITE;
    }
}

/* One start, refined if the method refines. */
static bool
from_start(const mdk_data *d, enum mdk_method method, size_t block_rows, const double *fd, mdk_result *r, char **why)
{
    if (!estimate_matrices(d, method, block_rows, fd, r, why))
        return false;
    if (method == MDK_PEM) {
        r->clipped = clip(d->n, r->M);
        r->clipped |= clip(d->n, r->D);
        r->clipped |= clip(d->n, r->K);
        if (!mdk_refine(d, fd, r, why))
            return false;
    }
    look_at_modes(r);
    if (method != MDK_PEM)
        mdk_cost(d, fd, r);
    return true;
}

/* Where the first horizon's estimate is not definite (samples are close together), tries the longer horizon first if it
 * simulates better. */
static void
choose_first(const mdk_data *d, const double *fd, size_t most, size_t order[])
{
    mdk_result one[2];
    char *why = NULL;
    bool fine;

    if (order[1] > most)
        return;
    allocate(d->n, &one[0]);
    allocate(d->n, &one[1]);
    fine = estimate_matrices(d, MDK_PEM, order[0], fd, &one[0], &why);
    look_at_modes(&one[0]);
    if (!fine || !one[0].positive_definite) {
        free(why);
        why = NULL;
        if (estimate_matrices(d, MDK_PEM, order[1], fd, &one[1], &why) && (!fine || one[1].noise < one[0].noise)) {
            size_t first = order[0];

            order[0] = order[1];
            order[1] = first;
        }
    }
    free(why);
    mdk_free(&one[0]);
    mdk_free(&one[1]);
}

bool
mdk_identify(const mdk_data *d, enum mdk_method method, size_t block_rows, mdk_result *r, char **why)
{
    size_t evaluations = 0, most = subspace_most_rows(d->m, d->n, d->samples > 2 ? d->samples - 2 : 0);
    size_t order[sizeof horizons / sizeof *horizons];
    double *fd;
    bool found = false, settled = false;

    *why = NULL;
    memset(r, 0, sizeof *r);
    if (most < 3) {
        *why = bg_format("%zu samples are too few for %zu coordinates and %zu forces", d->samples, d->n, d->m);
        return false;
    }
    for (size_t i = 0; i < d->n; i++)
        if (!(mdk_spread(d, i) > 0)) {
            *why = bg_format("coordinate y%zu does not move", i + 1);
            return false;
        }
    fd = filtered_input(d);
    memcpy(order, horizons, sizeof order);
    if (!block_rows && method == MDK_PEM)
        choose_first(d, fd, most, order);
    for (size_t k = 0; k < sizeof horizons / sizeof *horizons && !settled; k++) {
        size_t rows = block_rows ? block_rows : order[k];
        mdk_result one;
        char *trouble = NULL;

        if (rows > most && (block_rows || found || k + 1 < sizeof horizons / sizeof *horizons)) {
            if (!block_rows)
                continue;
            *why = bg_format("%zu block rows need more than %zu samples", rows, d->samples);
            break;
        }
        allocate(d->n, &one);
        if (from_start(d, method, rows < most ? rows : most, fd, &one, &trouble)) {
            /* a method without refinement has nothing to search for: it takes the first horizon */
            settled = block_rows || method != MDK_PEM || one.cost <= fmax(SUSPICIOUS * one.noise, EXACT) ||
                      (found && fabs(one.cost - r->cost) <= SAME_COST * r->cost);
            evaluations += one.evaluations;
            if (!found || one.cost < r->cost) {
                mdk_free(r);
                *r = one;
            } else {
                mdk_free(&one);
            }
            found = true;
        } else {
            evaluations += one.evaluations;
            settled = block_rows > 0;
            mdk_free(&one);
        }
        if (trouble && !*why)
            *why = trouble;
        else
            free(trouble);
    }
    free(fd);
    if (found) {
        free(*why);
        *why = NULL;
        r->evaluations = evaluations;
    }
    return found;
}
