/* integrator_rest.c - states that come to rest at the zero of a root
 *
 * A vessel that empties through an orifice, f = k sqrt(e), is empty after a finite time and stays so. To a method its
 * last drops are noise within the tolerance: it steps to and fro about zero, the faster the steeper the root, and what
 * flows is the root of that noise, far greater than it. So what has come to rest is put there: zero exactly, where
 * nothing moves it.
 */
#include <math.h>
#include <string.h>

#include "integrator_inside.h"

enum { MOST_TRIED = 8 };  /* states at the end of one step: further ones come to rest a step later */
enum { MOST_PAUSE = 16 }; /* steps between two checks that cost an evaluation, if no state came to rest */

#define SOON 10 /* times the last step: a state that its rate brings to zero in less is tried */
/* A rate is evaluated at two distances from zero whose ratio is NEARER. With a finite slope it falls by that ratio in
 * between, through a square root by 4: less than HARDLY_LESS is a root, up to powers of about 0.9. */
#define NEARER 16
#define HARDLY_LESS 12
#define FAR 1e3         /* tolerances from zero */
#define AS_GOOD_AS 1e-6 /* of a tolerance: a state below that is at zero, to put it there would gain nothing */
/* Of the rates beside zero: a smaller rate at zero moves the state no farther than by the square of that part of its
 * tolerance. BDF follows it there, and would have to begin anew. */
#define LITTLE 1e-3
#define LITTLE_OF_BDF 1e-12

/* Is the rate of state i next to nothing at zero, and does it lead back there from both sides by a root? x: scratch,
 * all but state i. */
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

/* BDF, which then has to begin anew, puts a state to rest once: its corrector keeps it about there. */
static bool
is_near_zero(const integrator *g, size_t i, const double *x)
{
    double part = fabs(x[i]) * g->weight[i];

    return g->rooted[i] && part <= 1 && part > AS_GOOD_AS && !(g->kind == BDF && g->emptied[i]);
}

/* What was at rest and is far from it may come to rest anew. */
static void
forget_rests(integrator *g, const double *x)
{
    for (size_t i = 0; i < g->n; i++)
        g->emptied[i] = g->emptied[i] && fabs(x[i]) * g->weight[i] <= FAR;
}

/* States that are within tolerance of zero and would soon pass it: 0 in `moved`, their numbers in `which`. Returns
 * their number. */
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
    /* together, since storage in a row rests together; a state that does not rest is left out, and the others are
     * checked without it */
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
