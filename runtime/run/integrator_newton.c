/* integrator_newton.c - convergence test of BDF's Newton iteration in models with laws that approach a limit
 *
 * The library ends an iteration once its last step is small relative to the tolerances. Near the limit of an
 * exponential law (compiler/equations/approach.h) that is too early: a current of 1e-12 A may double in each iteration,
 * with steps far below the tolerance, and reach the solution of 1 A after forty of them. So one more iteration is made,
 * and if it still changes a state by a large part of its value, the iteration counts as failed, and BDF tries a shorter
 * step.
 */
#include <math.h>
#include <stdlib.h>
#include <sunnonlinsol/sunnonlinsol_newton.h>

#include "integrator_inside.h"
#include "library_status.h"

/* An iteration has not converged if its last step is both more than MUCH of the state and more than SHRINKS of the step
 * before it. */
#define MUCH 1e-3
#define SHRINKS 0.5
/* Of the tolerance: a shorter step is the rounding of a state that a limit holds at zero. */
#define NOTHING 1e-20

struct newton {
    SUNNonlinearSolver solver;
    SUNNonlinSolConvTestFn test; /* the library's convergence test, */
    void *data;                  /* its data */
    void *cvode;
    bool doubted;    /* that test has passed, and one more iteration is being made */
    N_Vector before; /* the iteration's step at which it passed */
};

static int
still_converges(SUNNonlinearSolver s, N_Vector sum, N_Vector step, realtype tolerance, N_Vector weight, void *data)
{
    struct newton *n = data;
    int status = n->test(s, sum, step, tolerance, weight, n->data), iterations = 0;
    const double *now = NV_DATA_S(step), *before = NV_DATA_S(n->before), *per_tolerance = NV_DATA_S(weight), *y;
    N_Vector state;

    library_set(SUNNonlinSolGetCurIter(s, &iterations));
    n->doubted = n->doubted && iterations > 0;
    if (status != SUN_NLS_SUCCESS)
        return status;
    if (!n->doubted) {
        n->doubted = true;
        N_VScale(1, step, n->before);
        return SUN_NLS_CONTINUE;
    }
    n->doubted = false;
    library_set(CVodeGetCurrentState(n->cvode, &state));
    y = NV_DATA_S(state);
    for (sunindextype i = 0; i < NV_LENGTH_S(step); i++)
        if (fabs(now[i]) > MUCH * fabs(y[i]) && fabs(now[i]) > SHRINKS * fabs(before[i]) &&
            fabs(now[i]) * per_tolerance[i] > NOTHING)
            return SUN_NLS_CONV_RECVR;
    return SUN_NLS_SUCCESS;
}

struct newton *
newton_new(void *cvode, N_Vector like, SUNContext context)
{
    struct newton *n = bg_calloc(1, sizeof *n);
    SUNNonlinearSolverContent_Newton inside;

    n->cvode = cvode;
    n->solver = library_made(SUNNonlinSol_Newton(like, context));
    n->before = library_made(N_VClone(like));
    library_set(CVodeSetNonlinearSolver(cvode, n->solver));
    inside = n->solver->content;
    n->test = inside->CTest;
    n->data = inside->ctest_data;
    library_set(SUNNonlinSolSetConvTestFn(n->solver, still_converges, n));
    return n;
}

void
newton_free(struct newton *n)
{
    if (!n)
        return;
    SUNNonlinSolFree(n->solver);
    N_VDestroy(n->before);
    free(n);
}
