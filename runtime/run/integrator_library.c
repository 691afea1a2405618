/* integrator_library.c - sets up each method, and serves the callbacks of SUNDIALS' CVODES */
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrator_inside.h"
#include "library_status.h"

#define BDF_YOUTH 30 /* steps in which BDF finds its step length; they do not count in the choice of the method */
/* In BDF's tolerances: a state closer to zero than this counts as zero. (These are BDF_CARE times smaller than the
 * run's.)
 */
#define ABOUT_ZERO 10
/* Failed attempts at one step, each shorter than the one before. More than the library's default, since a step that
 * starts right before a switching has to become very short. */
#define MOST_BDF_FAILURES 20

static int
weights(N_Vector x, N_Vector w, void *data)
{
    integrator *g = data;

    integrator_weights(g, NV_DATA_S(x), NV_DATA_S(w));
    if (g->rooted)
        memcpy(g->iterate + 2 * g->n, NV_DATA_S(w), g->n * sizeof *g->iterate);
    return 0;
}

/* After a step: moves the state back onto the constraints of residual sources, from which it drifts. */
static int
project_bdf(realtype t, N_Vector x, N_Vector correction, realtype epsilon, N_Vector error, void *data)
{
    integrator *g = data;
    double *to = NV_DATA_S(correction);

    (void)epsilon, (void)error;
    memcpy(to, NV_DATA_S(x), g->n * sizeof *to);
    if (model_project(g->model, t, to) != 0)
        return 1;
    for (size_t i = 0; i < g->n; i++)
        to[i] -= NV_DATA_S(x)[i];
    return 0;
}

static int
bdf_rhs(realtype t, N_Vector x, N_Vector f, void *data)
{
    integrator *g = data;
    int status = integrator_evaluate(g, t, NV_DATA_S(x), NV_DATA_S(f));

    if (g->rooted) {
        memcpy(g->iterate, NV_DATA_S(x), g->n * sizeof *g->iterate);
        memcpy(g->iterate + g->n, NV_DATA_S(f), g->n * sizeof *g->iterate);
    }
    return status;
}

/* Corrects a step of BDF's corrector for states read by laws with infinite slopes. A state with a rate of zero and no
 * residual (right[i] == 0) is not moved; the matrix, whose Jacobian is evaluated at a point nearby, would move it by
 * rounding. A state about zero that would pass zero is stopped there; otherwise the slope on the other side, as steep
 * as on this one, would move it back in the next iteration, and so on without end. */
static void
keep_at_roots(void *ctx, const double *right, double *step)
{
    integrator *g = ctx;
    const double *x = g->iterate, *f = x + g->n, *weight = f + g->n;

    g->at_root = false;
    for (size_t i = 0; i < g->n; i++) {
        if (!g->rooted[i])
            continue;
        if (right[i] == 0 && f[i] == 0) {
            step[i] = 0;
        } else if (fabs(x[i]) * weight[i] <= ABOUT_ZERO && x[i] * (x[i] + step[i]) < 0) {
            step[i] = 0 - x[i];
            g->at_root = true;
        }
    }
}

bool
integrator_prepare(integrator *g, double until)
{
    double t = g->t[2];

    if (g->kind == EXPLICIT) {
        if (!g->explicit)
            g->explicit = explicit_new(g->n, model_projects(g->model));
        if (!explicit_begin(g, g->set_out, until))
            return false;
    } else if (g->kind == BDF) {
        if (!integrator_need_linear(g))
            return false;
        if (g->cvode) {
            library_set(CVodeReInit(g->cvode, t, g->y[2]));
        } else {
            g->cvode = library_made(CVodeCreate(CV_BDF, g->context));
            library_set(CVodeSetErrHandlerFn(g->cvode, library_says_nothing, NULL));
            library_set(CVodeInit(g->cvode, bdf_rhs, t, g->y[2]));
            library_set(CVodeSetUserData(g->cvode, g));
            library_set(CVodeWFtolerances(g->cvode, weights));
            library_set(CVodeSetMaxNumSteps(g->cvode, -1));
            library_set(CVodeSetMaxHnilWarns(g->cvode, -1));
            library_set(CVodeSetMaxErrTestFails(g->cvode, MOST_BDF_FAILURES));
            library_set(CVodeSetMaxConvFails(g->cvode, MOST_BDF_FAILURES));
            g->matrix = library_made(linear_matrix(g->linear, g->context));
            g->solver = library_made(linear_solver(g->linear, g->context));
            if (g->rooted)
                linear_correct_by(g->linear, keep_at_roots, g);
            library_set(CVodeSetLinearSolver(g->cvode, g->solver, g->matrix));
            library_set(CVodeSetLinSysFn(g->cvode, integrator_linear_system));
            if (model_has_limits(g->model))
                g->newton = newton_new(g->cvode, g->y[2], g->context);
            else if (g->rooted)
                g->roots = roots_new(g);
            if (model_projects(g->model)) {
                library_set(CVodeSetProjFn(g->cvode, project_bdf));
                library_set(CVodeSetProjErrEst(g->cvode, false));
            }
        }
        library_set(CVodeSetInitStep(g->cvode, g->set_out));
        integrator_renew_from_start(g);
        g->cv_failures = 0;
        g->young = BDF_YOUTH;
    }
    if (g->kind == ROSENBROCK) {
        if (!integrator_need_linear(g))
            return false;
        if (!g->rosenbrock)
            g->rosenbrock = rosenbrock_new(g->n);
        if (integrator_evaluate(g, t, integrator_state(g, 2), g->f[2]) != 0)
            return false;
        rosenbrock_begin(g, g->set_out > 0 ? g->set_out : INFINITY);
    }
    if (g->kind == MIDPOINT && !g->variational) {
        if (!integrator_need_linear(g))
            return false;
        g->variational = variational_new(g->model, g->linear, g->masses_move);
    }
    if (g->kind == MIDPOINT)
        variational_restart(g->variational);
    g->set_out = 0;
    g->restart = false;
    return true;
}
