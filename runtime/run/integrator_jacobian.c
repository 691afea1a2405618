/* integrator_jacobian.c - when BDF's Jacobian is made anew, and where it is taken */
#include <math.h>

#include "integrator_inside.h"
#include "library_status.h"

#define BESIDE 0.01 /* of the tolerated error: how far from the state the Jacobian is taken at infinite slopes */
/* A state that moves along beside a root (what comes is what flows off) may be far closer to it than that, where slopes
 * are far greater: each time that the corrector fails there, the Jacobian is taken NEARER, and once it does not,
 * FARTHER again. */
#define NEARER 1e-2
#define NEAREST 1e-30
#define FARTHER 2
/* Entries below COUNTS times the greatest value they have had are left out; a change of an entry by more than the share
 * CHANGES is too much for a corrector that keeps the old one. */
#define COUNTS 1e-6
#define CHANGES 0.3
#define RENEWED 20 /* steps after which the library looks at its matrix by itself: its own default */

/* x but for a hundredth of what is tolerated. At the zero of a root itself the Jacobian would say that nothing can
 * move, and the corrector would believe that it has converged; from here a change that counts is seen as one. */
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

/* Greatest part by which an entry of the Jacobian has changed since it was made last; what is next to nothing beside
 * its own greatest value does not count. */
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

/* Beside a root the Jacobian is large, and falls fast as the state leaves it. With one that is too large the corrector
 * moves next to nothing and takes that for convergence: the library, which renews it each fifty steps, gives wrong
 * numbers then. So it is renewed step by step, and ever more rarely once it changes little. */
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

/* How near roots the next Jacobian is taken. */
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
        /* what is predicted may lie far from a root that the state rests at: no Jacobian for more than this step */
        bool in_time = kept && linear_known(g->linear);

        if (g->rooted)
            choose_near(g);
        int status = linear_evaluate(g->linear, in_time ? g->t[1] : t,
                                     integrator_beside(g, in_time ? integrator_state(g, 1) : NV_DATA_S(x)));
        if (status != 0)
            return status;
        if (g->renews)
            renew_in_time(g, step, in_time);
    }
    linear_form(g->linear, gamma);
    return 0;
}
