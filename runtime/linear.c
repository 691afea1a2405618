/* linear.c - see linear.h */
#include "linear.h"

#include <klu.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#define TINY_MOST 16                 /* own LU up to here */
#define DENSE_MOST 200               /* LAPACK below this, if the pattern is over a third full */

/* Threads cost more than they bring at these sizes, and their number would decide the last bits. Absent from other BLAS. */
extern void openblas_set_num_threads(int n) __attribute__((weak));

enum linear_kind { TINY, DENSE, SPARSE };

struct linear {
    bg_model *model;
    struct model_pattern pattern;
    enum linear_kind kind;
    bool known;
    double *jacobian, *matrix;       /* [nonzeros] */
    double *one;                     /* [nonzeros] 1 on the diagonal of state rows, 0 else */
    double *rate;                    /* [nonzeros] 1 in state rows, 0 in the others */
    double *full, *work;             /* [n*n] columns, factored in place; [n] */
    lapack_int *pivot;
    klu_l_common common;
    klu_l_symbolic *symbolic;
    klu_l_numeric *numeric;
    double rcond;                    /* at the last full factorisation */
    uint64_t factorizations, evaluations;
};

linear *linear_new(bg_model *m)
{
    if (!model_need(m, PART_JACOBIAN))
        return NULL;

    linear *l = bg_calloc(1, sizeof *l);
    struct model_pattern p = model_jacobian_pattern(m);

    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
    l->model = m;
    l->pattern = p;
    l->kind = p.n <= TINY_MOST ? TINY : p.n < DENSE_MOST && 3 * p.nonzeros > p.n * p.n ? DENSE : SPARSE;
    l->jacobian = bg_calloc(p.nonzeros + 1, sizeof(double));
    l->matrix = bg_calloc(p.nonzeros + 1, sizeof(double));
    l->one = bg_calloc(p.nonzeros + 1, sizeof(double));
    l->rate = bg_calloc(p.nonzeros + 1, sizeof(double));
    l->work = bg_calloc(p.n + 1, sizeof(double));
    for (size_t j = 0; j < p.n; j++)
        for (int64_t k = p.column[j]; k < p.column[j + 1]; k++) {
            size_t i = (size_t)p.row[k];
            l->rate[k] = i < p.nx;
            l->one[k] = i == j && i < p.nx;
        }
    if (l->kind != SPARSE) {
        l->full = bg_calloc(p.n * p.n + 1, sizeof(double));
        l->pivot = bg_calloc(p.n + 1, sizeof *l->pivot);
        return l;
    }
    klu_l_defaults(&l->common);
    /* KLU does not write to the pattern; its interface only lacks the const. */
    l->symbolic = klu_l_analyze((SuiteSparse_long)p.n, (SuiteSparse_long *)(uintptr_t)p.column, (SuiteSparse_long *)(uintptr_t)p.row,
                                &l->common);
    return l;
}

void linear_free(linear *l)
{
    if (!l)
        return;
    if (l->numeric)
        klu_l_free_numeric(&l->numeric, &l->common);
    if (l->symbolic)
        klu_l_free_symbolic(&l->symbolic, &l->common);
    free(l->jacobian);
    free(l->matrix);
    free(l->one);
    free(l->rate);
    free(l->full);
    free(l->work);
    free(l->pivot);
    free(l);
}

struct model_pattern linear_pattern(const linear *l) { return l->pattern; }
const double *linear_values(const linear *l) { return l->jacobian; }
bool linear_known(const linear *l) { return l->known; }
uint64_t linear_factorizations(const linear *l) { return l->factorizations; }
uint64_t linear_evaluations(const linear *l) { return l->evaluations; }

double linear_fill(const linear *l)
{
    double n = (double)l->pattern.n;

    if (l->kind != SPARSE)
        return n * n;
    if (l->numeric)
        return (double)(l->numeric->lnz + l->numeric->unz);
    return l->symbolic && l->symbolic->lnz > 0 ? l->symbolic->lnz + l->symbolic->unz : 3.0 * (double)l->pattern.nonzeros;
}

double linear_flops(const linear *l)
{
    double n = (double)l->pattern.n, fill = linear_fill(l);

    return l->kind != SPARSE ? n * n * n * 2 / 3 : fill * fill / (n > 0 ? n : 1);
}

int linear_evaluate(linear *l, double t, const double *x)
{
    int status = model_jacobian(l->model, t, x, l->jacobian);

    l->evaluations++;
    if (status == 0) {
        double s = 0;
        for (size_t k = 0; k < l->pattern.nonzeros; k++)
            s += 0 * l->jacobian[k];
        if (!(s == 0))
            status = 1;
    }
    l->known = status == 0;
    return status;
}

void linear_form(linear *l, double gamma)
{
    const double *restrict jac = l->jacobian, *restrict one = l->one, *restrict rate = l->rate;
    double *restrict to = l->matrix;

    for (size_t k = 0; k < l->pattern.nonzeros; k++)
        to[k] = one[k] + jac[k] * ((1 - rate[k]) - gamma * rate[k]);
}

/* Row-equilibrated LU with partial pivoting, columns stored one after the other. False if singular. */
static bool tiny_factor(size_t n, double *a, lapack_int *pivot)
{
    double scale[TINY_MOST];

    for (size_t i = 0; i < n; i++) {
        scale[i] = 0;
        for (size_t j = 0; j < n; j++)
            scale[i] = fmax(scale[i], fabs(a[j * n + i]));
        if (!(scale[i] > 0))
            return false;
        scale[i] = 1 / scale[i];
    }
    for (size_t k = 0; k < n; k++) {
        size_t best = k;

        for (size_t i = k + 1; i < n; i++)
            if (fabs(a[k * n + i]) * scale[i] > fabs(a[k * n + best]) * scale[best])
                best = i;
        pivot[k] = (lapack_int)best;
        if (best != k) {
            double s = scale[k];
            scale[k] = scale[best];
            scale[best] = s;
            for (size_t j = 0; j < n; j++) {
                s = a[j * n + k];
                a[j * n + k] = a[j * n + best];
                a[j * n + best] = s;
            }
        }
        if (a[k * n + k] == 0)
            return false;
        double inverse = 1 / a[k * n + k];
        for (size_t i = k + 1; i < n; i++)
            a[k * n + i] *= inverse;
        for (size_t j = k + 1; j < n; j++) {
            double u = a[j * n + k];
            if (u != 0)
                for (size_t i = k + 1; i < n; i++)
                    a[j * n + i] -= a[k * n + i] * u;
        }
    }
    return true;
}

static void tiny_solve(size_t n, const double *a, const lapack_int *pivot, double *b)
{
    for (size_t k = 0; k < n; k++) {
        size_t p = (size_t)pivot[k];
        double s = b[k];
        b[k] = b[p];
        b[p] = s;
    }
    for (size_t k = 0; k < n; k++)
        for (size_t i = k + 1; i < n; i++)
            b[i] -= a[k * n + i] * b[k];
    for (size_t k = n; k-- > 0;) {
        b[k] /= a[k * n + k];
        for (size_t i = 0; i < k; i++)
            b[i] -= a[k * n + i] * b[k];
    }
}

/* Refactors on the pivots of last time while these are good; else chooses new ones. */
static int sparse_factor(linear *l)
{
    SuiteSparse_long *column = (SuiteSparse_long *)(uintptr_t)l->pattern.column, *row = (SuiteSparse_long *)(uintptr_t)l->pattern.row;

    if (!l->symbolic)
        return 1;
    if (l->numeric) {
        if (klu_l_refactor(column, row, l->matrix, l->symbolic, l->numeric, &l->common) && l->common.status == KLU_OK) {
            klu_l_rcond(l->symbolic, l->numeric, &l->common);
            double rcond = l->common.rcond;
            klu_l_rgrowth(column, row, l->matrix, l->symbolic, l->numeric, &l->common);
            if (rcond > 1e-3 * l->rcond && l->common.rgrowth > 1e-7)
                return 0;
        }
        klu_l_free_numeric(&l->numeric, &l->common);
    }
    l->numeric = klu_l_factor(column, row, l->matrix, l->symbolic, &l->common);
    if (!l->numeric || l->common.status != KLU_OK) {
        if (l->numeric)
            klu_l_free_numeric(&l->numeric, &l->common);
        return 1;
    }
    klu_l_rcond(l->symbolic, l->numeric, &l->common);
    l->rcond = l->common.rcond;
    return 0;
}

int linear_factor(linear *l)
{
    size_t n = l->pattern.n;

    l->factorizations++;
    if (l->kind == SPARSE)
        return sparse_factor(l);
    memset(l->full, 0, n * n * sizeof(double));
    for (size_t j = 0; j < n; j++)
        for (int64_t k = l->pattern.column[j]; k < l->pattern.column[j + 1]; k++)
            l->full[j * n + (size_t)l->pattern.row[k]] = l->matrix[k];
    if (l->kind == TINY)
        return !tiny_factor(n, l->full, l->pivot);
    return LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, (lapack_int)n, (lapack_int)n, l->full, (lapack_int)n, l->pivot) != 0;
}

int linear_solve(linear *l, double *r)
{
    size_t n = l->pattern.n, nx = l->pattern.nx;
    double *b = l->work;

    memcpy(b, r, nx * sizeof(double));
    memset(b + nx, 0, (n - nx) * sizeof(double));
    switch (l->kind) {
    case TINY:
        tiny_solve(n, l->full, l->pivot, b);
        break;
    case DENSE:
        LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', (lapack_int)n, 1, l->full, (lapack_int)n, l->pivot, b, (lapack_int)n);
        break;
    case SPARSE:
        if (!l->numeric || !klu_l_solve(l->symbolic, l->numeric, (SuiteSparse_long)n, 1, b, &l->common))
            return 1;
        break;
    }
    memcpy(r, b, nx * sizeof(double));
    return 0;
}

/* ---- SUNDIALS' view ---- */

static SUNMatrix_ID matrix_id(SUNMatrix a) { (void)a; return SUNMATRIX_CUSTOM; }
static void matrix_destroy(SUNMatrix a) { SUNMatFreeEmpty(a); }
static SUNLinearSolver_Type solver_type(SUNLinearSolver s) { (void)s; return SUNLINEARSOLVER_DIRECT; }
static SUNLinearSolver_ID solver_id(SUNLinearSolver s) { (void)s; return SUNLINEARSOLVER_CUSTOM; }
static int solver_initialize(SUNLinearSolver s) { (void)s; return 0; }
static int solver_setup(SUNLinearSolver s, SUNMatrix a) { (void)a; return linear_factor(s->content); }
static int solver_solve(SUNLinearSolver s, SUNMatrix a, N_Vector x, N_Vector b, realtype tol)
{
    linear *l = s->content;
    double *to = N_VGetArrayPointer(x), *from = N_VGetArrayPointer(b);

    (void)a;
    (void)tol;
    if (to != from)
        memcpy(to, from, l->pattern.nx * sizeof(double));
    return linear_solve(l, to);
}
static int solver_free(SUNLinearSolver s) { SUNLinSolFreeEmpty(s); return 0; }

SUNMatrix linear_matrix(linear *l, SUNContext context)
{
    SUNMatrix a = SUNMatNewEmpty(context);

    if (!a)
        return NULL;
    a->ops->getid = matrix_id;
    a->ops->destroy = matrix_destroy;
    a->content = l;
    return a;
}

SUNLinearSolver linear_solver(linear *l, SUNContext context)
{
    SUNLinearSolver s = SUNLinSolNewEmpty(context);

    if (!s)
        return NULL;
    s->ops->gettype = solver_type;
    s->ops->getid = solver_id;
    s->ops->initialize = solver_initialize;
    s->ops->setup = solver_setup;
    s->ops->solve = solver_solve;
    s->ops->free = solver_free;
    s->content = l;
    return s;
}
