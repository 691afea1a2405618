/* integrator_roots.c - BDF's Newton iteration in models whose laws may have infinite slopes (roots at zero)
 *
 * Near the zero of a root the slope changes fast, and a Jacobian is of use only near the point at which it was
 * evaluated. One from nearer to the zero is too large: the iteration's steps are too small, the library takes that for
 * convergence, and an empty vessel that is being filled stays empty. One from farther away is too small: the iterates
 * jump from one side of the zero to the other, and the library shortens the time step again and again. So this
 * iteration judges convergence by the ratio of two successive steps; if that is poor, it evaluates the Jacobian again
 * at the iterate, and it shortens a step that goes back.
 *
 * In this file a step is one of the iteration, not of time.
 */
#include <math.h>
#include <stdlib.h>
#include <sunnonlinsol/sunnonlinsol_newton.h>

#include "integrator_inside.h"
#include "library_status.h"

#define BADLY 0.3      /* with a greater ratio of two steps the Jacobian is evaluated again */
#define TURNS 0.5      /* of the step before: a longer step in the opposite direction is shortened */
#define ROUNDING 1e-14 /* of a state: a smaller step is rounding */
#define FORGETS 0.3    /* least factor between successive estimates of the ratio: one good step does not suffice */
enum { MOST_ITERATIONS = 12, MOST_TRUSTED = 16, MOST_CUT = 2 };

/* If an orifice is wide, the pressures on both sides differ by the square of a small flow, which may be far less than
 * the tolerances. If the iteration is only as precise as the tolerances require, the flow then shows its errors as
 * noise: the error test shortens the steps, and conditions switch. So the iteration goes on to PRECISELY times the
 * required precision, as far as it converges: if slopes change within the iteration, in PRECISE_FOR solutions from
 * there on, and wherever flows are small differences of large terms. */
#define PRECISELY 1e-6
enum { PRECISE_FOR = 20 };

struct roots {
    SUNNonlinearSolver solver;
    integrator *of;
    N_Vector before;  /* the previous step */
    bool turned;      /* the last step went back, and was shortened */
    double ratio;     /* estimated ratio of two successive steps with the present Jacobian; INFINITY: not known */
    int trusted, age; /* number of solutions for which the ratio is used; for how many it has been used */
    int precise;      /* number of solutions for which the iteration is to be precise */
};

static int
take_jacobian(SUNNonlinearSolverContent_Newton c, struct roots *r, booleantype bad, void *memory)
{
    int status = c->LSetup(bad, &c->jcur, memory);

    r->ratio = INFINITY;
    r->age = 0;
    r->trusted = 1;
    return status;
}

/* Is this step below the rounding of the states? start + sum: the iterate. */
static bool
only_rounding(N_Vector start, N_Vector sum, N_Vector step)
{
    const double *x = NV_DATA_S(start), *so_far = NV_DATA_S(sum), *d = NV_DATA_S(step);

    for (sunindextype i = 0; i < NV_LENGTH_S(step); i++)
        if (fabs(d[i]) > ROUNDING * fabs(x[i] + so_far[i]))
            return false;
    return true;
}

/* Estimated distance to the solution after a step of this size: the rest of the geometric series of steps. After a step
 * back the solution lies between the last two iterates. */
static double
still_off(const struct roots *r, double size)
{
    return r->turned ? size : r->ratio < 1 ? size * r->ratio / (1 - r->ratio) : INFINITY;
}

/* Forgets the ratio after it was used `trusted` times, so that it is estimated again; each time the number is doubled.
 */
static void
doubt_in_time(struct roots *r)
{
    if (r->age++ < r->trusted)
        return;
    r->ratio = INFINITY;
    r->age = 0;
    r->trusted = r->trusted < MOST_TRUSTED ? 2 * r->trusted : MOST_TRUSTED;
}

/* Compares a step with the previous one, whose size is `before`, and updates the ratio. A step back is shortened to the
 * zero of the straight line through both residuals (secant rule). */
static void
compare(struct roots *r, N_Vector step, N_Vector weight, double before, double *size)
{
    const double *now = NV_DATA_S(step), *last = NV_DATA_S(r->before), *w = NV_DATA_S(weight);
    double ratio = *size / before, along = 0;

    for (sunindextype i = 0; i < NV_LENGTH_S(step); i++)
        along += now[i] * w[i] * last[i] * w[i];
    r->turned = ratio > TURNS && along < 0;
    if (r->turned) {
        N_VScale(1 / (1 + ratio), step, step);
        *size /= 1 + ratio;
    }
    r->ratio = isfinite(r->ratio) ? fmax(ratio, FORGETS * r->ratio) : ratio;
}

/* Has the iteration converged, after a step of this size that leaves it `off`? A precise one does not rely on the ratio
 * of steps in earlier solutions (compared: it was found in this one): with a Jacobian from nearer to the zero of a
 * root, which is far too large, a step would be small wherever it begins. */
static bool
is_done(const struct roots *r, bool compared, double size, double off, double tolerance)
{
    return r->precise ? (compared ? off : size) <= PRECISELY * tolerance : off <= tolerance;
}

/* Iterates; sum: of the steps so far. renew: evaluate the Jacobian first; again: an attempt has failed before. 0: it
 * has converged. */
static int
iterate(struct roots *r, SUNNonlinearSolverContent_Newton c, N_Vector start, N_Vector sum, N_Vector weight,
        double tolerance, bool renew, bool again, void *memory)
{
    N_Vector step = c->delta;
    double size, off, before = 0;
    bool cut, good = false; /* good: as precise as the tolerances need */
    int status;

    r->of->strayed = INFINITY;
    for (c->curiter = 0; c->curiter < MOST_ITERATIONS; c->curiter++) {
        if ((status = c->Sys(sum, step, memory)) != 0 ||
            (renew && (status = take_jacobian(c, r, again || c->curiter > 0, memory)) != 0))
            return status;
        N_VScale(-1, step, step);
        if ((status = c->LSolve(step, memory)) != 0)
            return status;
        c->niters++;
        size = N_VWrmsNorm(step, weight);
        r->turned = false;
        if (before > 0)
            compare(r, step, weight, before, &size);
        renew = before > 0 && r->ratio > BADLY;
        if (renew)
            r->precise = PRECISE_FOR;
        N_VLinearSum(1, sum, 1, step, sum);
        cut = r->of->at_root && c->curiter < MOST_CUT;
        off = still_off(r, size);
        good = !cut && off <= tolerance;
        if (!cut && (is_done(r, before > 0, size, off, tolerance) || only_rounding(start, sum, step)))
            return SUN_NLS_SUCCESS;
        N_VScale(1, step, r->before);
        r->of->strayed = size;
        before = cut ? 0 : size;
    }
    return good ? SUN_NLS_SUCCESS : SUN_NLS_CONV_RECVR;
}

static bool
flows_cancel(const integrator *g)
{
    double step = 0;

    library_set(CVodeGetCurrentStep(g->cvode, &step));
    return integrator_cancellation(g, step) > CANCELS;
}

static int
solve(SUNNonlinearSolver solver, N_Vector start, N_Vector sum, N_Vector weight, realtype tolerance, booleantype renew,
      void *memory)
{
    SUNNonlinearSolverContent_Newton c = solver->content;
    struct roots *r = c->ctest_data;
    int status;

    c->jcur = false;
    c->niters = c->nconvfails = 0;
    r->precise -= r->precise > 0;
    if (flows_cancel(r->of))
        r->precise = PRECISE_FOR;
    if (!renew)
        doubt_in_time(r);
    status = iterate(r, c, start, sum, weight, tolerance, renew, false, memory);
    if (status > 0 && !c->jcur) {
        N_VConst(0, sum);
        status = iterate(r, c, start, sum, weight, tolerance, true, true, memory);
    }
    if (status != SUN_NLS_SUCCESS) {
        c->nconvfails++;
        r->ratio = INFINITY;
    }
    return status;
}

struct roots *
roots_new(integrator *g)
{
    struct roots *r = bg_calloc(1, sizeof *r);
    SUNNonlinearSolverContent_Newton inside;

    r->solver = library_made(SUNNonlinSol_Newton(g->y[2], g->context));
    r->before = library_made(N_VClone(g->y[2]));
    r->ratio = INFINITY;
    r->of = g;
    library_set(CVodeSetNonlinearSolver(g->cvode, r->solver));
    inside = r->solver->content;
    inside->ctest_data = r;
    r->solver->ops->solve = solve;
    return r;
}

void
roots_free(struct roots *r)
{
    if (!r)
        return;
    SUNNonlinSolFree(r->solver);
    N_VDestroy(r->before);
    free(r);
}
