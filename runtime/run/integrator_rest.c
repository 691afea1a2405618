/* integrator_rest.c - states that come to rest at the zero of a root law
 *
 * A vessel that empties through an orifice, f = k sqrt(e), is empty after a finite time and stays empty. A numerical
 * method leaves a remainder within the tolerance, of changing sign; the flow is the root of that remainder, so it may
 * be far larger than any tolerance, and the steep slope makes the steps very short. So a state that has come to rest is
 * set to exactly zero, where its rate is zero too.
 */
#include <math.h>
#include <string.h>

#include "integrator_inside.h"

enum { MOST_TRIED = 8 }; /* greatest number of states tried after one step; others follow after the next */
enum {
    MOST_PAUSE = 16
}; /* greatest number of steps between checks that cost an evaluation, while no state comes to rest */

#define SOON 10 /* in lengths of the last step: a state is tried if its rate brings it to zero in less time */
/* A rate is evaluated at two distances from zero with the ratio NEARER. If the law is linear there, the ratio of the
 * rates is 16, for a square root it is 4: a ratio less than HARDLY_LESS means a root (of an exponent up to about 0.9).
 */
#define NEARER 16
#define HARDLY_LESS 12
#define FAR 1e3         /* in tolerances: a state farther from zero than this may come to rest again */
#define AS_GOOD_AS 1e-6 /* in tolerances: a state closer to zero than this need not be set to zero */
/* Of the rates at one tolerance from zero: a state may be set to zero if its rate there is below this part of them. By
 * the root law it then settles at the square of that part of its tolerance. BDF would have to start again after that,
 * so it does so only for a rate of nearly nothing. */
#define LITTLE 1e-3
#define LITTLE_OF_BDF 1e-12

/* Is the rate of state i negligible at zero, and does a root law drive it to zero from both sides? near: one tolerance;
 * x: the other states (x[i] is overwritten); f: scratch. */
static bool
rests_at_zero(integrator *g, size_t i, double near, double *x, double *f)
{
    double rate[4], at[4] = { 0, near, -near, near / NEARER }, little = g->kind == BDF ? LITTLE_OF_BDF : LITTLE;

    for (int k = 0; k < 4; k++) {
        x[i] = at[k];
        if (integrator_evaluate(g, g->t[2], x, f) != 0)
            return false;
        rate[k] = f[i];
    }
    return rate[1] < 0 && rate[2] > 0 && fabs(rate[0]) <= little * fmin(-rate[1], rate[2]) &&
           fabs(rate[1]) < HARDLY_LESS * fabs(rate[3]);
}

bool
integrator_rests_at_root(const integrator *g, size_t i, const double *x, const double *f)
{
    return g->emptied && g->emptied[i] && x[i] == 0 && f[i] == 0;
}

/* The rates at the end of the last step; for BDF they have to be evaluated. A state may be near zero during a whole
 * run without coming to rest, so checks become rarer. */
static const double *
rates_at_end(integrator *g, double *f)
{
    if (g->kind != BDF)
        return g->f[2];
    if (g->steps < g->rest_from || integrator_evaluate(g, g->t[2], integrator_state(g, 2), f) != 0)
        return NULL;
    g->rest_pause = g->rest_pause < MOST_PAUSE / 2 ? 2 * g->rest_pause + 1 : MOST_PAUSE;
    g->rest_from = g->steps + g->rest_pause;
    return f;
}

/* Is state i within its tolerance of zero, and to be tried? With BDF, which has to start again when a state is set,
 * once is enough: its corrector keeps it about zero (integrator_library.c). */
static bool
is_near_zero(const integrator *g, size_t i, const double *x)
{
    double part = fabs(x[i]) * g->weight[i];

    return g->rooted[i] && part <= 1 && part > AS_GOOD_AS && !(g->kind == BDF && g->emptied[i]);
}

/* A state that was set to zero and is far from it now may come to rest again. */
static void
forget_rests(integrator *g, const double *x)
{
    for (size_t i = 0; i < g->n; i++)
        g->emptied[i] = g->emptied[i] && fabs(x[i]) * g->weight[i] <= FAR;
}

/* Finds states within their tolerance of zero that would soon pass it, and returns how many there are. which: their
 * numbers; moved[n]: the states, with these at zero. */
static size_t
nearly_empty(integrator *g, double *moved, double *scratch, size_t *which)
{
    const double *x = integrator_state(g, 2), *f;
    double soon = SOON * (g->t[2] - g->t[1]);
    size_t count = 0;
    bool any = false;

    for (size_t i = 0; i < g->n && !any; i++)
        any = is_near_zero(g, i, x);
    if (!any || !(f = rates_at_end(g, scratch)))
        return 0;
    memcpy(moved, x, g->n * sizeof *moved);
    for (size_t i = 0; i < g->n && count < MOST_TRIED; i++)
        if (is_near_zero(g, i, x) && x[i] * f[i] < 0 && fabs(f[i]) * soon > fabs(x[i])) {
            moved[i] = 0;
            which[count++] = i;
        }
    return count;
}

bool
integrator_come_to_rest(integrator *g)
{
    double *x = integrator_state(g, 2), *moved = g->scratch, *f = g->scratch2;
    size_t which[MOST_TRIED], count, kept = 0;
    bool failed = g->failed;

    if (!g->rooted)
        return false;
    scales_weights(g->scales, x, g->weight);
    forget_rests(g, x);
    count = nearly_empty(g, moved, f, which);
    g->near_rest = count > 0 ? g->near_rest + 1 : 0;
    /* All are tried at once, since vessels in a row come to rest together. If one does not rest, the others are tried
     * again without it. */
    while (count > 0 && kept < count) {
        kept = 0;
        for (size_t k = 0; k < count; k++) {
            size_t i = which[k];
            bool rests = rests_at_zero(g, i, 1 / g->weight[i], moved, f);

            moved[i] = rests ? 0 : x[i];
            if (rests)
                which[kept++] = i;
        }
        if (kept < count) {
            count = kept;
            kept = 0;
        }
    }
    for (size_t k = 0; k < count; k++) {
        x[which[k]] = 0;
        g->emptied[which[k]] = true;
    }
    if (count > 0) {
        integrator_evaluate(g, g->t[2], x, g->f[2]);
        g->rest_from = g->rest_pause = 0;
    }
    g->failed = failed;
    return count > 0;
}
