/* integrator_jacobian.c - when BDF's Jacobian is evaluated again, and where */
#include <math.h>

#include "integrator_inside.h"
#include "library_status.h"

/* Of the tolerated error: distance between the state and the point at which the Jacobian is evaluated, if slopes may be
 * infinite. */
#define BESIDE 0.01
/* A state that nearly rests (inflow almost equals outflow) may be far closer to the zero of a root than that distance,
 * where slopes are far greater. After each failure of the corrector the distance is multiplied by NEARER, after each
 * success by FARTHER, between NEAREST and 1. */
#define NEARER 1e-2
#define NEAREST 1e-30
#define FARTHER 2
#define STEEPEST 1e40       /* a greater entry of the Jacobian is an infinite slope */
#define OUT_OF_ROUNDING 1e3 /* factor of the distance while it is lost in rounding, */
#define FARTHEST 1e10       /* and the greatest product of these */
/* Entries below COUNTS times their greatest value so far are ignored. If another entry changes by more than the part
 * CHANGES of itself, the corrector needs a new Jacobian. */
#define COUNTS 1e-6
#define CHANGES 0.3
#define RENEWED 20 /* steps after which the library checks its matrix by itself: its default */

/* x, moved by BESIDE of the tolerance. At the zero of a root the Jacobian would be infinite: the corrector's steps
 * would be zero, as if it had converged. At this distance slopes are finite, and so small that a change of the state by
 * its tolerance is not suppressed. */
const double *
integrator_beside(integrator *g, const double *x)
{
    double *to = g->beside;

    if (!g->rooted)
        return x;
    scales_weights(g->scales, x, to);
    for (size_t i = 0; i < g->n; i++)
        to[i] = g->rooted[i] ? x[i] + BESIDE * g->near * (integrator_scatter(i, 53) < 0 ? -1 : 1) *
                                          (1 + fabs(integrator_scatter(i, 59))) / to[i]
                             : x[i];
    return to;
}

/* Is an entry of the Jacobian so large that the slope of a law is infinite there? */
static bool
is_infinite_somewhere(const linear *l)
{
    const double *entry = linear_values(l);
    bool any = false;

    for (size_t i = 0, n = (size_t)linear_pattern(l).nonzeros; i < n && !any; i++)
        any = !(fabs(entry[i]) < STEEPEST);
    return any;
}

/* Evaluates the Jacobian near x. Within the corrector's iteration it is evaluated nearer, since the solution is about
 * as near as the last step was long. If the root is of a difference in whose rounding that distance is lost (1 + q/V
 * minus 1), it is evaluated farther away. */
static int
evaluate_beside(integrator *g, double t, const double *x)
{
    double near = g->near;
    int status;

    g->near = fmin(near, g->strayed);
    status = linear_evaluate(g->linear, t, integrator_beside(g, x));
    for (; g->rooted && status == 0 && g->near < near * FARTHEST && is_infinite_somewhere(g->linear);
         status = linear_evaluate(g->linear, t, integrator_beside(g, x)))
        g->near *= OUT_OF_ROUNDING;
    g->near = near;
    return status;
}

/* Greatest relative change of an entry of the Jacobian since its last evaluation. Entries that are negligible beside
 * their own greatest value are ignored. */
static double
change_of_jacobian(integrator *g)
{
    size_t n = (size_t)linear_pattern(g->linear).nonzeros;
    const double *now = linear_values(g->linear);
    double change = 0;
    bool first = !g->before;

    if (first)
        g->before = bg_calloc(2 * n + 1, sizeof *g->before);
    for (size_t i = 0; i < n; i++) {
        double a = fabs(g->before[i]), b = fabs(now[i]), *peak = &g->before[n + i];

        *peak = fmax(*peak, b);
        if (fmax(a, b) > COUNTS * *peak)
            change = fmax(change, fabs(now[i] - g->before[i]) / fmax(a, b));
        g->before[i] = now[i];
    }
    return first ? 1 : change;
}

/* Sets the step in which the Jacobian is evaluated next. Near the zero of a root it is large, and falls fast as the
 * state moves away. A Jacobian that is too large makes the corrector's steps so small that it seems to have converged;
 * the library, which evaluates it every fifty steps, then gives wrong numbers. So it is evaluated in every step, and
 * less often once it changes little. in_time: it was evaluated because of that, not because the library asked for it.
 */
static void
renew_in_time(integrator *g, long step, bool in_time)
{
    double change = change_of_jacobian(g);

    if (in_time || step == 0)
        g->every = change > CHANGES ? 1 : 2 * g->every;
    if (g->every > RENEWED)
        g->every = 0;
    g->renewed = step;
    library_set(CVodeSetLSetupFrequency(g->cvode, g->every ? g->every : RENEWED));
}

/* Sets the distance from roots at which the next Jacobian is evaluated. */
static void
choose_near(integrator *g)
{
    long failures = 0;

    library_set(CVodeGetNumNonlinSolvConvFails(g->cvode, &failures));
    g->near = failures > g->unsolved ? fmax(NEAREST, NEARER * g->near) : fmin(1, FARTHER * g->near);
    g->unsolved = failures;
}

void
integrator_renew_from_start(integrator *g)
{
    if (g->renews)
        library_set(CVodeSetLSetupFrequency(g->cvode, 1));
    g->every = 1;
    g->renewed = 0;
}

int
integrator_linear_system(realtype t, N_Vector x, N_Vector f, SUNMatrix a, booleantype kept, booleantype *fresh,
                         realtype gamma, void *data, N_Vector t1, N_Vector t2, N_Vector t3)
{
    integrator *g = data;

    long step = 0;

    (void)f, (void)a, (void)t1, (void)t2, (void)t3;
    if (g->renews)
        library_set(CVodeGetNumSteps(g->cvode, &step));
    *fresh = !kept || !linear_known(g->linear) || (g->renews && g->every && step >= g->renewed + g->every);
    if (*fresh) {
        /* If the library did not ask for it: at the start of the step, since the predicted state x may lie far from the
         * zero at which a state rests, and a Jacobian from there would be outdated after this step. */
        bool in_time = kept && linear_known(g->linear);

        if (g->rooted)
            choose_near(g);
        int status = evaluate_beside(g, in_time ? g->t[1] : t, in_time ? integrator_state(g, 1) : NV_DATA_S(x));
        if (status != 0)
            return status;
        if (g->renews)
            renew_in_time(g, step, in_time);
    }
    linear_form(g->linear, gamma);
    return 0;
}
