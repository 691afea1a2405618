/* integrator_explicit.c - the explicit method: Dormand and Prince's pair of orders five and four
 *
 * The last stage is the rate at the end of the step, so that a step costs six evaluations, and a start none if the rate
 * is known. A step that is cut short by the time at which it has to end does not shorten the next one.
 *
 * source  Dormand and Prince, A family of embedded Runge-Kutta formulae, J. Comput. Appl. Math. 6(1):19-26 (1980); the
 *         controller of Gustafsson, Control theoretic techniques for stepsize selection, ACM TOMS 17(4) (1991); first
 *         steps as in Brown, Hindmarsh and Petzold, SIAM J. Sci. Comput. 19(5) (1998), section 3
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrator_inside.h"

enum { STAGES = 7, INNER = 5, TERMS = 7, MOST_FAILURES = 25, FEW_FAILURES = 2 };

/* Factor from the length of one step to that of the next, with errors in tolerances (Gustafsson's proportional and
 * integral control):
 *     SAFETY * (BIAS*error)^-BY_ERROR * (previous error)^BY_BEFORE
 * BY_ERROR is 1/5, since the error is proportional to the fifth power of the length. Where stability limits the steps,
 * this factor alone would alternate between steps too long and too short; the previous error damps that. */
#define SAFETY 0.99
#define BIAS 1.2 /* steps aim at a little less than the tolerance, so that few fail */
#define BY_ERROR 0.2
#define BY_BEFORE 0.0775
#define LEAST_ERROR 1e-10  /* smaller errors count as this: powers of them would say nothing */
#define MOST_GROWTH 25     /* greatest factor after an accepted step; */
#define FIRST_GROWTH 10000 /* after a first step whose length was estimated; */
#define LEAST_CHANGE 0.1   /* least factor, after any error */
#define FAILED_AGAIN 0.3   /* greatest factor after FEW_FAILURES: the error does not fall with the fifth power there */
#define UNEVALUATED 0.25   /* factor if a stage cannot be evaluated */
#define WORTH 1.5          /* a length is kept if it would grow by less than this */
#define NEARLY 1e-6        /* relative rounding in comparisons of lengths */
#define OF_STABLE 0.95     /* of the longest step that the estimated spectral radius allows */

/* The length h of a first step is chosen so that |x''| h²/2 equals the tolerance. x'' is estimated by the change of the
 * rates over a trial length; the length found is the next trial, until both agree within a factor of two. */
#define FIRST_LEAST 100  /* least length, in roundings of time */
#define FIRST_MOST 0.1   /* greatest length: of the time to the end, and of that in which a state changes by its size */
#define FIRST_SHARE 0.5  /* part of the length found that is taken */
#define FIRST_NEARER 0.2 /* factor of the trial length if the rates cannot be evaluated there */
enum { FIRST_LOOKS = 4 };

static const double a[STAGES][STAGES - 1] = {
    { 0 },
    { 1 / 5. },
    { 3 / 40., 9 / 40. },
    { 44 / 45., -56 / 15., 32 / 9. },
    { 19372 / 6561., -25360 / 2187., 64448 / 6561., -212 / 729. },
    { 9017 / 3168., -355 / 33., 46732 / 5247., 49 / 176., -5103 / 18656. },
    { 35 / 384., 0, 500 / 1113., 125 / 192., -2187 / 6784., 11 / 84. },
};
static const double place[STAGES] = { 0, 1 / 5., 3 / 10., 4 / 5., 8 / 9., 1, 1 };
static const double error_weight[STAGES] = { 71 / 57600.,      0,         -71 / 16695., 71 / 1920.,
                                             -17253 / 339200., 22 / 525., -1 / 40. };

/* The term of degree four of the method's own interpolation; source: Hairer, Norsett and Wanner I, section II.6. */
static const double bend_weight[STAGES] = { -12715105075 / 11282082432.,  0,
                                            87487479700 / 32700410799.,   -10690763975 / 1880347072.,
                                            701980252875 / 199316789632., -1453857185 / 822651844.,
                                            69997945 / 29380423. };

struct explicit_method {
    double *inner[INNER]; /* rates at the stages between the step's ends */
    double *error, *projected;
    double next;   /* length of the next step */
    double before; /* error of the previous step, in tolerances */
    double growth; /* greatest factor from this step's length to the next */
};

struct explicit_method *
explicit_new(size_t n, bool projects)
{
    struct explicit_method *e = bg_calloc(1, sizeof *e);

    for (int i = 0; i < INNER; i++)
        e->inner[i] = bg_calloc(n + 1, sizeof(double));
    e->error = bg_calloc(n + 1, sizeof(double));
    e->projected = projects ? bg_calloc(n + 1, sizeof(double)) : NULL;
    return e;
}

void
explicit_free(struct explicit_method *e)
{
    if (!e)
        return;
    for (int i = 0; i < INNER; i++)
        free(e->inner[i]);
    free(e->error);
    free(e->projected);
    free(e);
}

double
explicit_next(const struct explicit_method *e)
{
    return e->next;
}

const double *
explicit_error(const struct explicit_method *e)
{
    return e->error;
}

/* ---- the first step ---- */

/* Upper bound of the length of a first step; way: the time to the end. */
static double
most_first(const integrator *g, double way)
{
    const double *x = integrator_state(g, 2), *f = g->f[2];
    double fastest = 0, most = FIRST_MOST * way;

    for (size_t i = 0; i < g->n; i++)
        fastest = fmax(fastest, fabs(f[i]) / (FIRST_MOST * fabs(x[i]) + 1 / g->weight[i]));
    return most * fastest > 1 ? 1 / fastest : most;
}

/* Norm of the second time derivative of the states, from the rates after an Euler step of length h. False: these cannot
 * be evaluated. */
static bool
second_derivative(integrator *g, double h, double *size)
{
    struct explicit_method *e = g->explicit;

    vec_axpy(g->n, h, integrator_state(g, 2), g->f[2], e->error);
    if (integrator_evaluate(g, g->t[2] + h, e->error, e->inner[0]) != 0)
        return false;
    for (size_t i = 0; i < g->n; i++)
        e->error[i] = (e->inner[0][i] - g->f[2][i]) / h;
    *size = vec_wrms(g->n, e->error, g->weight);
    return true;
}

/* The length of a first step: see FIRST_MOST. */
static double
first_length(integrator *g, double until)
{
    double t = g->t[2], least = FIRST_LEAST * DBL_EPSILON * fmax(fabs(t), fabs(until)), most, h, found = 0, size = 0;

    integrator_weights(g, integrator_state(g, 2), g->weight);
    most = most_first(g, until - t);
    h = sqrt(least * most);
    if (most < least)
        return h;
    for (int look = 0; look < FIRST_LOOKS; look++) {
        while (h > least && !second_derivative(g, h, &size))
            h *= FIRST_NEARER;
        found = size * most * most > 2 ? sqrt(2 / size) : sqrt(h * most);
        if (look + 1 == FIRST_LOOKS || (found > h / 2 && found < 2 * h))
            break;
        if (look > 0 && found > 2 * h) {
            found = h;
            break;
        }
        h = found;
    }
    return fmin(fmax(FIRST_SHARE * found, least), most);
}

bool
explicit_begin(integrator *g, double hand, double until)
{
    struct explicit_method *e = g->explicit;

    if (!g->rated[2] && integrator_evaluate(g, g->t[2], integrator_state(g, 2), g->f[2]) != 0)
        return false;
    g->rated[2] = true;
    e->next = hand > 0 ? hand : first_length(g, until);
    e->growth = hand > 0 ? GROWTH : FIRST_GROWTH;
    e->before = 1;
    return true;
}

void
explicit_resume(integrator *g)
{
    g->explicit->growth = MOST_GROWTH;
}

/* ---- steps ---- */

/* h times a weighted sum of the last step's rates at its stages. */
static void
weigh_rates(const integrator *g, double h, const double weight[STAGES], double *to)
{
    double c[TERMS];
    const double *term[TERMS];
    int m = 0;

    for (int j = 0; j < STAGES; j++)
        if (weight[j] != 0) {
            c[m] = h * weight[j];
            term[m++] = j == 0 ? g->f[1] : j < STAGES - 1 ? g->explicit->inner[j - 1] : g->f[2];
        }
    vec_combine(g->n, m, c, term, to);
}

/* The stages of a step of length h to the time `end`. y[2] and f[2]: the state and its rates there. False: a stage
 * cannot be evaluated. */
static bool
stages(integrator *g, double h, double end)
{
    struct explicit_method *e = g->explicit;
    const double *rate[STAGES] = { g->f[1] }, *x0 = integrator_state(g, 1);
    double *x = integrator_state(g, 2);

    for (int i = 1; i < STAGES; i++) {
        double c[TERMS], *to = i < STAGES - 1 ? e->inner[i - 1] : g->f[2];
        const double *term[TERMS];
        int m = 0;

        for (int j = 0; j < i; j++)
            if (a[i][j] != 0) {
                c[m] = h * a[i][j];
                term[m++] = rate[j];
            }
        c[m] = 1;
        term[m++] = x0;
        vec_combine(g->n, m, c, term, x);
        if (integrator_evaluate(g, place[i] < 1 ? g->t[1] + place[i] * h : end, x, to) != 0)
            return false;
        rate[i] = to;
    }
    weigh_rates(g, h, error_weight, e->error);
    return true;
}

void
explicit_bend(const integrator *g, double *to)
{
    weigh_rates(g, 1, bend_weight, to);
}

/* Moves the state back onto the constraints of residual sources, from which it drifts. Seldom necessary. */
static bool
project_end(integrator *g, double t)
{
    double *x = integrator_state(g, 2), *kept = g->explicit->projected;

    if (!kept)
        return true;
    memcpy(kept, x, g->n * sizeof *x);
    if (model_project(g->model, t, x) != 0)
        return false;
    return memcmp(kept, x, g->n * sizeof *x) == 0 || integrator_evaluate(g, t, x, g->f[2]) == 0;
}

/* The factor from this step's length h to the next: see SAFETY. */
static double
change(const integrator *g, double h, double error)
{
    const struct explicit_method *e = g->explicit;
    double by = SAFETY * pow(fmax(BIAS * error, LEAST_ERROR), -BY_ERROR) * pow(fmax(e->before, LEAST_ERROR), BY_BEFORE);

    by = fmax(fmin(by, e->growth), LEAST_CHANGE);
    if (g->rho > 0)
        by = fmin(by, OF_STABLE * g->reach / (g->rho * h));
    return error <= 1 && by > 1 - NEARLY && by < WORTH * (1 + NEARLY) ? 1 : by;
}

int
explicit_advance(integrator *g, double until, double least, double *t_end)
{
    struct explicit_method *e = g->explicit;
    double t = g->t[1], h = fmax(e->next, least);

    integrator_weights(g, integrator_state(g, 1), g->weight);
    for (int failures = 0; failures < MOST_FAILURES;) {
        bool last = t + h >= until;
        double step = last ? until - t : h, end = last ? until : t + h, error, by;

        if (!stages(g, step, end)) {
            h = UNEVALUATED * step;
        } else {
            error = vec_wrms(g->n, e->error, g->weight);
            by = change(g, step, error);
            if (error <= 1) {
                if (!project_end(g, end))
                    return -1;
                e->next = last ? fmax(step * by, h) : step * by;
                e->growth = MOST_GROWTH;
                g->stopped = last;
                if (step == h)
                    e->before = BIAS * error;
                *t_end = end;
                return 0;
            }
            h = step * (failures + 1 >= FEW_FAILURES ? fmin(by, FAILED_AGAIN) : by);
        }
        failures++;
        g->failures++;
        e->growth = 1;
        if (step <= least * (1 + NEARLY))
            break;
        h = fmax(h, least);
    }
    return -1;
}
