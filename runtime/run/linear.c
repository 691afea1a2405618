/* linear.c - see linear.h */
#include "linear.h"

#include "factor.h"
#include <lapacke.h>
#include <string.h>

enum { MOST_SHARED = 100 }; /* greatest number of unknowns whose undetermined part is shared: the cost is cubic in it */

struct linear {
    bg_model *model;
    struct model_pattern pattern;
    factor *factor;
    bool known;
    double *jacobian, *matrix; /* [nonzeros] */
    double *one;               /* [nonzeros] 1 on the diagonal of state rows, 0 else */
    double *rate;              /* [nonzeros] 1 in state rows, 0 in the others */
    double *work;              /* [3n] */
    bool of_step;              /* the matrix is that of a step, */
    double gamma;              /* with this one */
    void (*correct)(void *ctx, const double *right, double *solution);
    void *ctx;   /* of correct */
    bool shared; /* and it leaves some unknowns of blocks undetermined */
    uint64_t factorizations, evaluations;
};

linear *
linear_new(bg_model *m)
{
    if (!model_need(m, PART_JACOBIAN))
        return NULL;

    linear *l = bg_calloc(1, sizeof *l);
    struct model_pattern p = model_jacobian_pattern(m);

    l->model = m;
    l->pattern = p;
    l->factor = factor_new(p.n, p.column, p.row, 0);
    l->jacobian = bg_calloc(p.nonzeros + 1, sizeof(double));
    l->matrix = bg_calloc(p.nonzeros + 1, sizeof(double));
    l->one = bg_calloc(p.nonzeros + 1, sizeof(double));
    l->rate = bg_calloc(p.nonzeros + 1, sizeof(double));
    l->work = bg_calloc(3 * p.n + 1, sizeof(double));
    for (size_t j = 0; j < p.n; j++)
        for (int64_t k = p.column[j]; k < p.column[j + 1]; k++) {
            size_t i = (size_t)p.row[k];
            l->rate[k] = i < p.nx;
            l->one[k] = i == j && i < p.nx;
        }
    return l;
}

void
linear_free(linear *l)
{
    if (!l)
        return;
    factor_free(l->factor);
    free(l->jacobian);
    free(l->matrix);
    free(l->one);
    free(l->rate);
    free(l->work);
    free(l);
}

struct model_pattern
linear_pattern(const linear *l)
{
    return l->pattern;
}
const double *
linear_values(const linear *l)
{
    return l->jacobian;
}
bool
linear_known(const linear *l)
{
    return l->known;
}
uint64_t
linear_factorizations(const linear *l)
{
    return l->factorizations;
}
uint64_t
linear_evaluations(const linear *l)
{
    return l->evaluations;
}

double
linear_gamma(const linear *l)
{
    return l->of_step ? l->gamma : 0;
}

double
linear_fill(const linear *l)
{
    return factor_fill(l->factor);
}
double
linear_flops(const linear *l)
{
    return factor_flops(l->factor);
}

int
linear_evaluate(linear *l, double t, const double *x)
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

int
linear_evaluate_mean(linear *l, double t, size_t n, double *const *x)
{
    int status = 0;

    memset(l->matrix, 0, l->pattern.nonzeros * sizeof(double));
    for (size_t i = 0; i < n && status == 0; i++) {
        status = linear_evaluate(l, t, x[i]);
        for (size_t k = 0; k < l->pattern.nonzeros; k++)
            l->matrix[k] += l->jacobian[k] / (double)n;
    }
    memcpy(l->jacobian, l->matrix, l->pattern.nonzeros * sizeof(double));
    return status;
}

bool
linear_reduced(const linear *l, double *full)
{
    const struct model_pattern p = l->pattern;
    size_t n = p.nx, nz = p.n - p.nx;
    double *fz = bg_calloc(n * nz + 1, sizeof(double)), *gx = bg_calloc(nz * n + 1, sizeof(double)),
           *gz = bg_calloc(nz * nz + 1, sizeof(double));
    lapack_int *pivot = bg_calloc(nz + 1, sizeof *pivot);
    bool ok = true;

    memset(full, 0, n * n * sizeof *full);
    for (size_t j = 0; j < p.n; j++)
        for (int64_t k = p.column[j]; k < p.column[j + 1]; k++) {
            size_t i = (size_t)p.row[k];
            double *to = i < n ? (j < n ? &full[j * n + i] : &fz[(j - n) * n + i])
                               : (j < n ? &gx[j * nz + i - n] : &gz[(j - n) * nz + i - n]);
            *to = l->jacobian[k];
        }
    if (nz > 0) {
        ok = LAPACKE_dgesv(LAPACK_COL_MAJOR, (lapack_int)nz, (lapack_int)n, gz, (lapack_int)nz, pivot, gx,
                           (lapack_int)nz) == 0;
        for (size_t j = 0; ok && j < n; j++)
            for (size_t k = 0; k < nz; k++)
                if (gx[j * nz + k] != 0)
                    for (size_t i = 0; i < n; i++)
                        full[j * n + i] -= fz[k * n + i] * gx[j * nz + k];
    }
    free(fz);
    free(gx);
    free(gz);
    free(pivot);
    return ok;
}

void
linear_form(linear *l, double gamma)
{
    const double *restrict jac = l->jacobian, *restrict one = l->one, *restrict rate = l->rate;
    double *restrict to = l->matrix;

    l->of_step = true;
    l->gamma = gamma;
    for (size_t k = 0; k < l->pattern.nonzeros; k++)
        to[k] = one[k] + jac[k] * ((1 - rate[k]) - gamma * rate[k]);
}

void
linear_form_newton(linear *l, const bool *active)
{
    l->of_step = false;
    for (size_t j = 0; j < l->pattern.n; j++)
        for (int64_t k = l->pattern.column[j]; k < l->pattern.column[j + 1]; k++) {
            size_t i = (size_t)l->pattern.row[k];

            l->matrix[k] = i >= l->pattern.nx || active[i] ? l->jacobian[k] : i == j;
        }
}

int
linear_factor(linear *l)
{
    size_t singular;

    l->factorizations++;
    l->shared = false;
    if (factor_numeric(l->factor, l->matrix, &singular))
        return 0;
    l->shared = l->of_step && l->pattern.n <= MOST_SHARED;
    return !l->shared;
}

void
linear_correct_by(linear *l, void (*correct)(void *ctx, const double *right, double *solution), void *ctx)
{
    l->correct = correct;
    l->ctx = ctx;
}

/* The solution takes the place of the right side r. */
static void
take_solution(const linear *l, double *solution, double *r)
{
    if (l->correct)
        l->correct(l->ctx, r, solution);
    memcpy(r, solution, l->pattern.nx * sizeof *r);
}

int
linear_solve(linear *l, double *r)
{
    size_t n = l->pattern.n, nx = l->pattern.nx;

    memcpy(l->work, r, nx * sizeof(double));
    memset(l->work + nx, 0, (n - nx) * sizeof(double));
    if (l->shared) {
        double *nothing = memset(l->work + n, 0, n * sizeof(double)), *step = l->work + 2 * n;

        if (!factor_shared_step(l->factor, l->matrix, l->work, nothing, false, step, NULL))
            return 1;
        take_solution(l, step, r);
        return 0;
    }
    if (!factor_solve(l->factor, l->work))
        return 1;
    take_solution(l, l->work, r);
    return 0;
}

/* ---- SUNDIALS' view ---- */

static SUNMatrix_ID
matrix_id(SUNMatrix a)
{
    (void)a;
    return SUNMATRIX_CUSTOM;
}
static int
matrix_zero(SUNMatrix a)
{
    (void)a;
    return 0;
} /* it is formed anew in any case */
static void
matrix_destroy(SUNMatrix a)
{
    SUNMatFreeEmpty(a);
}
static SUNLinearSolver_Type
solver_type(SUNLinearSolver s)
{
    (void)s;
    return SUNLINEARSOLVER_DIRECT;
}
static SUNLinearSolver_ID
solver_id(SUNLinearSolver s)
{
    (void)s;
    return SUNLINEARSOLVER_CUSTOM;
}
static int
solver_initialize(SUNLinearSolver s)
{
    (void)s;
    return 0;
}
static int
solver_setup(SUNLinearSolver s, SUNMatrix a)
{
    (void)a;
    return linear_factor(s->content);
}
static int
solver_solve(SUNLinearSolver s, SUNMatrix a, N_Vector x, N_Vector b, realtype tol)
{
    linear *l = s->content;
    double *to = N_VGetArrayPointer(x), *from = N_VGetArrayPointer(b);

    (void)a;
    (void)tol;
    if (to != from)
        memcpy(to, from, l->pattern.nx * sizeof(double));
    return linear_solve(l, to);
}
static int
solver_free(SUNLinearSolver s)
{
    SUNLinSolFreeEmpty(s);
    return 0;
}

SUNMatrix
linear_matrix(linear *l, SUNContext context)
{
    SUNMatrix a = SUNMatNewEmpty(context);

    if (!a)
        return NULL;
    a->ops->getid = matrix_id;
    a->ops->zero = matrix_zero;
    a->ops->destroy = matrix_destroy;
    a->content = l;
    return a;
}

SUNLinearSolver
linear_solver(linear *l, SUNContext context)
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
