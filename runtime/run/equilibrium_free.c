/* equilibrium_free.c - states that an equilibrium leaves undetermined, from the Jacobian by states
 * (equilibrium_inside.h) */
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "equilibrium_inside.h"

#define STABLE_STATES 200 /* up to so many states eigenvalues are computed */
/* To see whether a state is free it is moved by this part of its size. It is free if the rates stay below that part
 * of their terms; a curved law has the square of it */
#define FREE_MOVE 1e-3
#define FREE_RATES 1e-5
#define GROWS 1e-6     /* of the greatest eigenvalue: a greater real part is instability, not rounding */
#define SINGULAR 1e-11 /* of the greatest singular value: directions below it are free */
#define DEPENDENT 1e-8 /* of the greatest singular value: below it conserved totals depend on each other */
#define NO_SHARE 1e-8  /* square of a state's component in the free directions below which it is not named */

/* [n][n], column by column; rows and columns of states that are not included are zero. NULL if it cannot be
 * evaluated. */
static double *
reduced_jacobian(rest *s, const double *x)
{
    size_t n = s->n;
    double *full;

    if (linear_evaluate(s->linear, s->t, x) != 0)
        return NULL;
    full = bg_calloc(n * n + 1, sizeof *full);
    if (!linear_reduced(s->linear, full)) {
        free(full);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (!s->active[i] || !s->active[j])
                full[j * n + i] = 0;
    return full;
}

bool
rest_stays(rest *s, const double *x)
{
    size_t n = s->n;
    double *full = n <= STABLE_STATES ? reduced_jacobian(s, x) : NULL, top = 0, most = 0;
    bool ok = true;

    if (!full)
        return true;
    double *real = bg_calloc(n + 1, sizeof(double)), *imaginary = bg_calloc(n + 1, sizeof(double));
    if (LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'N', (lapack_int)n, full, (lapack_int)n, real, imaginary, NULL, 1, NULL,
                      1) == 0) {
        for (size_t i = 0; i < n; i++) {
            top = fmax(top, hypot(real[i], imaginary[i]));
            most = fmax(most, real[i]);
        }
        ok = most <= GROWS * top;
    }
    free(real);
    free(imaginary);
    free(full);
    return ok;
}

bool
rest_decompose(rest *s, const double *x)
{
    size_t n = s->n;
    double *full = reduced_jacobian(s, x);
    bool ok = full != NULL;

    for (size_t i = 0; ok && i < n; i++) {
        double top = 0;
        for (size_t j = 0; j < n; j++) {
            top = fmax(top, fabs(full[j * n + i]));
        }
        s->row_scale[i] = top > 0 ? 1 / top : 1;
    }
    for (size_t j = 0; ok && j < n; j++) {
        double top = 0;
        for (size_t i = 0; i < n; i++) {
            full[j * n + i] *= s->row_scale[i];
            top = fmax(top, fabs(full[j * n + i]));
        }
        s->column_scale[j] = top > 0 ? 1 / top : 1;
        for (size_t i = 0; i < n; i++)
            full[j * n + i] *= s->column_scale[j];
    }
    ok = ok && LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'A', (lapack_int)n, (lapack_int)n, full, (lapack_int)n, s->sigma, s->u,
                              (lapack_int)n, s->vt, (lapack_int)n) == 0;
    if (ok)
        for (s->rank = 0; s->rank < n && s->sigma[s->rank] > SINGULAR * s->sigma[0] && s->sigma[s->rank] > 0; s->rank++)
            ;
    free(full);
    return ok;
}

/* Adds to the step a motion in the free directions such that it changes no quantity conserved by the motion: for
 * each w with w'J = 0, w'step = 0. All in scaled states. If motion in a free direction changes a total (a body that
 * drifts), nothing is added. */
static bool
keep_totals(rest *s)
{
    size_t n = s->n, k = n - s->rank;
    double *w = bg_calloc(n * k + 1, sizeof(double)), *m = bg_calloc(k * k + 1, sizeof(double));
    double *c = bg_calloc(k + 1, sizeof(double)), *work = bg_calloc(k + 1, sizeof(double));
    lapack_int rank;

    for (size_t a = 0; a < k; a++)
        for (size_t j = 0; j < n; j++)
            w[a * n + j] = s->active[j] ? s->u[(s->rank + a) * n + j] * s->row_scale[j] * s->column_scale[j] : 0;
    bool ok = LAPACKE_dgeqrf(LAPACK_COL_MAJOR, (lapack_int)n, (lapack_int)k, w, (lapack_int)n, work) == 0 &&
              LAPACKE_dorgqr(LAPACK_COL_MAJOR, (lapack_int)n, (lapack_int)k, (lapack_int)k, w, (lapack_int)n, work) ==
                  0;
    for (size_t a = 0; ok && a < k; a++)
        for (size_t j = 0; j < n; j++) {
            c[a] -= w[a * n + j] * s->step[j];
            for (size_t b = 0; b < k; b++)
                m[b * k + a] += w[a * n + j] * s->vt[j * n + s->rank + b];
        }
    ok = ok && LAPACKE_dgelsd(LAPACK_COL_MAJOR, (lapack_int)k, (lapack_int)k, 1, m, (lapack_int)k, c, (lapack_int)k,
                              work, DEPENDENT, &rank) == 0;
    for (size_t b = 0; ok && b < k; b++)
        for (size_t j = 0; j < n; j++)
            s->step[j] += c[b] * s->vt[j * n + s->rank + b];
    free(w);
    free(m);
    free(c);
    free(work);
    return ok;
}

double
rest_polish(rest *s, double *x)
{
    size_t n = s->n;
    double r = rest_residual(s, s->f);

    for (int k = 0; k < 8 && r > 0; k++) {
        memset(s->step, 0, n * sizeof(double));
        for (size_t a = 0; a < s->rank; a++) {
            double c = 0;
            for (size_t i = 0; i < n; i++)
                c -= s->u[a * n + i] * s->f[i] * s->row_scale[i];
            c /= s->sigma[a];
            for (size_t j = 0; j < n; j++)
                s->step[j] += c * s->vt[j * n + a];
        }
        if (s->rank < n && !keep_totals(s))
            break;
        for (size_t j = 0; j < n; j++)
            s->trial[j] = s->active[j] ? x[j] + s->column_scale[j] * s->step[j] : x[j];
        if (!rest_rates(s, s->trial, s->probe))
            break;
        double now = rest_residual(s, s->probe);
        if (!(now < r))
            break;
        memcpy(x, s->trial, n * sizeof(double));
        memcpy(s->f, s->probe, n * sizeof(double));
        r = now;
    }
    return r;
}

/* Does motion in direction a, in which the Jacobian is singular, keep everything at rest? Not where the Jacobian
 * only seems singular: beside an infinite slope (a root without flow), or where an ideal switch holds states. Uses
 * s->trial and s->probe. */
static bool
free_along(rest *s, const double *x, size_t a)
{
    size_t n = s->n;
    double most = 0, left = 0;

    for (size_t j = 0; j < n; j++) {
        double size = fmax(s->size[j], fabs(x[j]));

        s->step[j] = s->active[j] ? s->column_scale[j] * s->vt[j * n + a] : 0;
        if (size > 0)
            most = fmax(most, fabs(s->step[j]) / size);
    }
    for (size_t j = 0; j < n; j++)
        s->trial[j] = x[j] + (most > 0 ? FREE_MOVE / most : 1) * s->step[j];
    if (model_kick(s->model, s->t, s->trial) != 0)
        return true;
    for (size_t j = 0; j < n && most > 0; j++) {
        double size = fmax(s->size[j], fabs(x[j]));

        if (size > 0)
            left = fmax(left, fabs(s->trial[j] - x[j]) / size);
    }
    return (most == 0 || left > FREE_MOVE / 2) &&
           (!rest_rates(s, s->trial, s->probe) || rest_residual(s, s->probe) <= FREE_RATES);
}

void
rest_report_free(rest *s, const double *x)
{
    size_t n = s->n, named = 0, more = 0;
    strbuf list = { 0 };
    span at = SPAN_NONE;
    bool *along = bg_calloc(n + 1, sizeof *along);

    for (size_t a = s->rank; a < n; a++)
        along[a] = free_along(s, x, a);
    for (size_t j = 0; j < n; j++) {
        double share = 0;
        for (size_t a = s->rank; a < n; a++)
            share += along[a] ? s->vt[j * n + a] * s->vt[j * n + a] : 0;
        struct model_state state = model_state(s->model, j);
        if (!s->active[j] || share < NO_SHARE || state.stated)
            continue;
        if (named == NAMED) {
            more++;
            continue;
        }
        if (named++ == 0)
            at = state.at;
        strbuf_printf(&list, "%s\"%s\"", named > 1 ? ", " : "", state.name);
    }
    if (more)
        strbuf_printf(&list, " and %zu more", more);
    if (named)
        diag_info(model_sources(s->model), "equilibrium-free", at, "the equilibrium does not determine %s: %s", list.at,
                  named + more > 1 ? "their initial values stay" : "its initial value stays");
    strbuf_free(&list);
    free(along);
}
