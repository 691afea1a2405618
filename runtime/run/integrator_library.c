/* integrator_library.c - the method of each kind made ready: SUNDIALS' ERKStep and CVODES, and what these ask for while
 * they step
 */
#include <arkode/arkode_erkstep.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrator_inside.h"
#include "library_status.h"

#define BDF_YOUTH 30 /* steps that BDF needs to find its step length; none of them counts for the choice of method */
/* What the explicit method is told where rates have no value: so many times what is tolerated, so that its error test
 * fails; but no rate beyond what can be computed with. */
#define FAR_OFF 1e8
#define MOST_RATE 1e200
/* Failed attempts at one step, each shorter than the last: more than the libraries allow by default, since a switching
 * may lie close by. */
#define MOST_ERK_FAILURES 25
#define MOST_BDF_FAILURES 20
#define OF_STABLE 0.95     /* of the longest step that the spectral radius allows, which is an estimate */
#define FIRST_GROWTH 10000 /* the second step over a first whose length the library guessed: its own default */

static void
silent(int code, const char *module, const char *function, char *text, void *data)
{
    (void)code, (void)module, (void)function, (void)text, (void)data;
}

static int
weights(N_Vector x, N_Vector w, void *data)
{
    integrator_weights(data, NV_DATA_S(x), NV_DATA_S(w));
    return 0;
}

/* After a step: back onto the constraints of residual sources, from which it drifts. */
static int
project_explicit(realtype t, N_Vector x, void *data)
{
    integrator *g = data;

    return model_project(g->model, t, NV_DATA_S(x));
}

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

/* ARKODE's explicit method gives up at once when a stage cannot be evaluated. Rates far beyond the tolerance make its
 * error test fail instead, and with it the step shrink. */
static int
explicit_rhs(realtype t, N_Vector x, N_Vector f, void *data)
{
    integrator *g = data;
    double *to = NV_DATA_S(f);
    const double *at = NV_DATA_S(x);
    bool again = g->last_x && t == g->last_t && g->last_f && to != g->last_f;

    /* The last two stages lie at the end of the step, the last one where it ends: the library asks for its rates anew,
     * since they may have been put back onto constraints, which seldom moves them. */
    if (again && g->asked == 2 && memcmp(at, g->last_x, g->n * sizeof *at) == 0) {
        memcpy(to, g->last_f, g->n * sizeof *to);
        g->asked = 0;
        return 0;
    }
    g->asked = again ? g->asked + 1 : 1;
    if (g->asked == 2)
        memcpy(g->last_x, at, g->n * sizeof *at);
    g->last_t = t;
    g->last_f = to;
    int status = integrator_evaluate(g, t, at, to);
    if (status <= 0)
        return status;
    double h = fmax(fabs(t - g->t[1]), DBL_MIN / DBL_EPSILON);
    scales_weights(g->scales, integrator_state(g, 1), g->weight);
    for (size_t i = 0; i < g->n; i++) {
        if (!(FAR_OFF / g->weight[i] < MOST_RATE)) /* no number is so far off that a step notices it */
            return -1;
        to[i] = fmin(FAR_OFF / g->weight[i] / h, MOST_RATE);
    }
    g->last_f = NULL;
    return 0;
}

static int
bdf_rhs(realtype t, N_Vector x, N_Vector f, void *data)
{
    return integrator_evaluate(data, t, NV_DATA_S(x), NV_DATA_S(f));
}

static int
stable_step(N_Vector x, realtype t, realtype *h, void *data)
{
    integrator *g = data;

    (void)x, (void)t;
    *h = g->rho > 0 ? g->reach / g->rho : 0;
    return 0;
}

bool
integrator_prepare(integrator *g)
{
    double t = g->t[2];

    if (g->kind == EXPLICIT) {
        g->asked = 0; /* rates may be others now */
        if (g->arkode) {
            library_set(ERKStepReInit(g->arkode, explicit_rhs, t, g->y[2]));
        } else {
            g->arkode = library_made(ERKStepCreate(explicit_rhs, t, g->y[2], g->context));
            library_set(ERKStepSetErrHandlerFn(g->arkode, silent, NULL));
            library_set(ERKStepSetUserData(g->arkode, g));
            library_set(ERKStepSetTableNum(g->arkode, ARKODE_DORMAND_PRINCE_7_4_5));
            library_set(ERKStepWFtolerances(g->arkode, weights));
            library_set(ERKStepSetMaxNumSteps(g->arkode, -1));
            library_set(ERKStepSetMaxHnilWarns(g->arkode, -1));
            library_set(ERKStepSetMaxErrTestFails(g->arkode, MOST_ERK_FAILURES));
            library_set(ERKStepSetStabilityFn(g->arkode, stable_step, g));
            library_set(ERKStepSetCFLFraction(g->arkode, OF_STABLE));
            if (model_projects(g->model))
                library_set(ERKStepSetPostprocessStepFn(g->arkode, project_explicit));
        }
        library_set(ERKStepSetInitStep(g->arkode, g->set_out));
        library_set(ERKStepSetMaxFirstGrowth(g->arkode, g->set_out > 0 ? GROWTH : FIRST_GROWTH));
        g->erk_failures = 0;
    } else if (g->kind == BDF) {
        if (!integrator_need_linear(g))
            return false;
        if (g->cvode) {
            library_set(CVodeReInit(g->cvode, t, g->y[2]));
        } else {
            g->cvode = library_made(CVodeCreate(CV_BDF, g->context));
            library_set(CVodeSetErrHandlerFn(g->cvode, silent, NULL));
            library_set(CVodeInit(g->cvode, bdf_rhs, t, g->y[2]));
            library_set(CVodeSetUserData(g->cvode, g));
            library_set(CVodeWFtolerances(g->cvode, weights));
            library_set(CVodeSetMaxNumSteps(g->cvode, -1));
            library_set(CVodeSetMaxHnilWarns(g->cvode, -1));
            library_set(CVodeSetMaxErrTestFails(g->cvode, MOST_BDF_FAILURES));
            library_set(CVodeSetMaxConvFails(g->cvode, MOST_BDF_FAILURES));
            g->matrix = library_made(linear_matrix(g->linear, g->context));
            g->solver = library_made(linear_solver(g->linear, g->context));
            library_set(CVodeSetLinearSolver(g->cvode, g->solver, g->matrix));
            library_set(CVodeSetLinSysFn(g->cvode, integrator_linear_system));
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
