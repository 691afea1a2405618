/* integrator_newton.c - when Newton's iteration in a step of BDF has converged, beside laws that approach a limit
 *
 * The library ends an iteration once a step of it is short beside what is tolerated. Next to the limit of an
 * exponential law (compiler/equations/approach.h) all steps are: a current of 1e-12 A doubles in each, and would after
 * forty of them be the 1 A that is the solution. So one more step is made there, and states that it still moves by much
 * of themselves have not converged.
 */
#include <math.h>
#include <stdlib.h>
#include <sunnonlinsol/sunnonlinsol_newton.h>

#include "integrator_inside.h"
#include "library_status.h"

#define MUCH 1e-3   /* of a state: a step that moves it farther */
#define SHRINKS 0.5 /* of the step before: so short at most is a step of an iteration that converges */

struct newton {
    SUNNonlinearSolver solver;
    SUNNonlinSolConvTestFn test; /* the library's, */
    void *data;                  /* its data */
    void *cvode;
    bool doubted;
    N_Vector before; /* the step that seemed to be the last */
};

static int
still_converges(SUNNonlinearSolver s, N_Vector sum, N_Vector step, realtype tolerance, N_Vector weight, void *data)
{
    struct newton *n = data;
    int status = n->test(s, sum, step, tolerance, weight, n->data), iterations = 0;
    const double *now = NV_DATA_S(step), *before = NV_DATA_S(n->before), *y;
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
        if (fabs(now[i]) > MUCH * fabs(y[i]) && fabs(now[i]) > SHRINKS * fabs(before[i]))
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
