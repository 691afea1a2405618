/* integrator_rosenbrock.c - an implicit one-step method, which has its full order from the first step on
 *
 * Rodas5P: eight stages, one Jacobian and one factorisation a step, no iteration; order five, L-stable, stiffly
 * accurate, with an estimate of order four and dense output of order four. BDF begins with order one and takes some
 * fifteen steps to reach its order and step length, which are most of its steps if switchings follow closely.
 *
 * source  Steinebach, Construction of Rosenbrock-Wanner method Rodas5P and numerical benchmarks within the Julia
 *         Differential Equations package, BIT 63:27 (2023); the form without products with the Jacobian is that of
 *         Hairer and Wanner II, section IV.7
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrator_inside.h"

enum { STAGES = 8, KEPT = 3 };

#define DIAGONAL 0.21193756319429014
#define SAFETY 0.9
#define LEAST_CHANGE 0.1 /* factor of the step for the next attempt */
#define GREATEST_CHANGE 8
#define UNEVALUATED 0.25 /* factor of the step if a stage cannot be evaluated */
#define MOST_FAILURES 25
/* After more failures than this the step is shortened faster, by STIFF_CHANGE. A step far longer than the fastest time
 * constants has an error that hardly depends on its length while fast modes are excited; it has to become as short as
 * these. */
#define REDUCED 3
#define STIFF_CHANGE 0.2
#define ORDER 5
#define TIME_PART 1e-3 /* of the step: time difference with which rates are differentiated by time */
/* Length of a first step, in times in which the rates would change the states by their own size. */
#define FIRST_CHANGE 0.05
#define LAST_STEP (1 + 1e-9) /* a step that would end within rounding of the end is extended to it */
#define NO_ERROR 1e-10       /* in tolerances: smaller errors count as this */

/* The state at stage i is y0 + sum over j of reach[i][j] u[j]; at the last two, that of the previous stage + its u. */
static const double reach[6][5] = {
    { 0 },
    { 3.0 },
    { 2.849394379747939, 0.45842242204463923 },
    { -6.954028509809101, 2.489845061869568, -10.358996098473584 },
    { 2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641 },
    { -7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946 },
};
static const double couple[STAGES][STAGES - 1] = {
    { 0 },
    { -14.155112264123755 },
    { -17.97296035885952, -2.859693295451294 },
    { 147.12150275711716, -1.41221402718213, 71.68940251302358 },
    { 165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306 },
    { 24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471 },
    { 30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623,
      -28.087943162872662 },
    { 37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002,
      -54.66780262877968, -9.48861652309627 },
};
static const double place[STAGES] = {
    0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1, 1, 1
};
static const double by_time[STAGES] = { DIAGONAL, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734,
                                        2.325825639765069 };
static const double dense[KEPT][STAGES] = {
    { 25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204, 0.524948541321073,
      1.1241088310450404, 0.4272876194431874, -0.17202221070155493 },
    { -9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796, 20.176138334709044,
      15.98066361424651, -6.789040303419874, -6.710236069923372 },
    { 11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643, -52.072871366152654,
      -59.78993625266729, -0.15582684282751913, 4.883087185713722 },
};

struct rosenbrock {
    double *u[STAGES], *kept[KEPT], *by_time, *rate;
    double next; /* length of the next step */
};

struct rosenbrock *
rosenbrock_new(size_t n)
{
    struct rosenbrock *r = bg_calloc(1, sizeof *r);

    for (int i = 0; i < STAGES; i++)
        r->u[i] = bg_calloc(n + 1, sizeof(double));
    for (int i = 0; i < KEPT; i++)
        r->kept[i] = bg_calloc(n + 1, sizeof(double));
    r->by_time = bg_calloc(n + 1, sizeof(double));
    r->rate = bg_calloc(n + 1, sizeof(double));
    return r;
}

void
rosenbrock_free(struct rosenbrock *r)
{
    if (!r)
        return;
    for (int i = 0; i < STAGES; i++)
        free(r->u[i]);
    for (int i = 0; i < KEPT; i++)
        free(r->kept[i]);
    free(r->by_time);
    free(r->rate);
    free(r);
}

double
rosenbrock_next(const struct rosenbrock *r)
{
    return r->next;
}

const double *
rosenbrock_error(const struct rosenbrock *r)
{
    return r->u[STAGES - 1];
}

void
rosenbrock_begin(integrator *g, double hand)
{
    const double *f = g->f[2];
    double change;

    integrator_weights(g, integrator_state(g, 2), g->weight);
    change = g->rtol * vec_wrms(g->n, f, g->weight);
    g->rosenbrock->next = fmin(hand, change > 0 ? FIRST_CHANGE / change : INFINITY);
}

/* by_time: the partial derivative of the rates by time at (t, x), from the parabola through them at t and two later
 * times. f: the rates at t. */
static bool
rates_by_time(integrator *g, double t, double h, const double *x, const double *f)
{
    double *near = g->rosenbrock->by_time, *far = g->rosenbrock->rate, a = t + TIME_PART * h - t,
           b = t + 2 * TIME_PART * h - t;

    if (!(a > 0 && b > a)) {
        memset(near, 0, g->n * sizeof *near);
        return true;
    }
    if (integrator_evaluate(g, t + a, x, near) != 0 || integrator_evaluate(g, t + b, x, far) != 0)
        return false;
    for (size_t i = 0; i < g->n; i++)
        near[i] = ((near[i] - f[i]) * (b / a) - (far[i] - f[i]) * (a / b)) / (b - a);
    return true;
}

/* The stages of a step of length h from t to the time `end`. y[2]: the state there. Returns 0, or 1: a stage could not
 * be evaluated. */
static int
rosenbrock_stages(integrator *g, double t, double h, double end)
{
    struct rosenbrock *r = g->rosenbrock;
    const double *x0 = integrator_state(g, 1), *f = g->f[1];
    double *x = integrator_state(g, 2);

    linear_form(g->linear, DIAGONAL * h);
    if (linear_factor(g->linear) != 0)
        return 1;
    for (int i = 0; i < STAGES; i++) {
        double *u = r->u[i];

        if (i > 5) {
            vec_axpy(g->n, 1, x, r->u[i - 1], x);
        } else if (i > 0) {
            vec_axpy(g->n, reach[i][0], x0, r->u[0], x);
            for (int j = 1; j < i; j++)
                vec_axpy(g->n, reach[i][j], x, r->u[j], x);
        }
        if (i > 0) {
            if (integrator_evaluate(g, place[i] < 1 ? t + place[i] * h : end, x, r->rate) != 0)
                return 1;
            f = r->rate;
        }
        for (size_t k = 0; k < g->n; k++)
            u[k] = h * (f[k] + by_time[i] * h * r->by_time[k]);
        for (int j = 0; j < i; j++)
            vec_axpy(g->n, couple[i][j], u, r->u[j], u);
        for (size_t k = 0; k < g->n; k++)
            u[k] *= DIAGONAL;
        if (linear_solve(g->linear, u) != 0)
            return 1;
    }
    vec_axpy(g->n, 1, x, r->u[STAGES - 1], x);
    return vec_finite(g->n, x) ? 0 : 1;
}

int
rosenbrock_advance(integrator *g, double until, double least, double *t_end)
{
    struct rosenbrock *r = g->rosenbrock;
    const double *x0 = integrator_state(g, 1);
    double t = g->t[1], h = r->next;
    int status = linear_evaluate(g->linear, t, integrator_beside(g, x0));

    g->stopped = false;
    if (status == 0)
        status = rates_by_time(g, t, fmin(h, until - t), x0, g->f[1]) ? 0 : 1;
    if (status != 0) {
        g->failed = true;
        return -1;
    }
    integrator_weights(g, x0, g->weight);
    for (int tries = 0; tries < MOST_FAILURES && h > least; tries++) {
        bool last = t + h * LAST_STEP >= until;
        double step = last ? until - t : h, error;

        if (rosenbrock_stages(g, t, step, last ? until : t + step) != 0) {
            h = UNEVALUATED * step;
            g->failures++;
            continue;
        }
        error = vec_wrms(g->n, r->u[STAGES - 1], g->weight);
        double change = SAFETY * pow(fmax(error, NO_ERROR), -1.0 / ORDER);
        if (error <= 1) {
            for (int k = 0; k < KEPT; k++) {
                memset(r->kept[k], 0, g->n * sizeof(double));
                for (int i = 0; i < STAGES; i++)
                    vec_axpy(g->n, dense[k][i], r->kept[k], r->u[i], r->kept[k]);
            }
            if (model_projects(g->model) &&
                model_project(g->model, last ? until : t + step, integrator_state(g, 2)) != 0)
                return -1;
            r->next = fmax(step * fmin(change, tries ? 1 : GREATEST_CHANGE), last ? h : 0);
            g->stopped = last;
            *t_end = last ? until : t + step;
            return 0;
        }
        h = step * fmin(fmax(change, LEAST_CHANGE), tries < REDUCED ? SAFETY : STIFF_CHANGE);
        g->failures++;
    }
    return -1;
}

void
rosenbrock_dense(const integrator *g, double t, double *x)
{
    const struct rosenbrock *r = g->rosenbrock;
    const double *x0 = integrator_state(g, 1), *x1 = integrator_state(g, 2);
    double s = (t - g->t[1]) / (g->t[2] - g->t[1]), q = 1 - s;

    for (size_t i = 0; i < g->n; i++)
        x[i] = q * x0[i] + s * (x1[i] + q * (r->kept[0][i] + s * (r->kept[1][i] + s * r->kept[2][i])));
}

void
rosenbrock_slope(const integrator *g, double t, double *slope)
{
    const struct rosenbrock *r = g->rosenbrock;
    const double *x0 = integrator_state(g, 1), *x1 = integrator_state(g, 2);
    double h = g->t[2] - g->t[1], s = (t - g->t[1]) / h, q = 1 - s;

    for (size_t i = 0; i < g->n; i++) {
        double a = r->kept[0][i] + s * (r->kept[1][i] + s * r->kept[2][i]), b = r->kept[1][i] + 2 * s * r->kept[2][i];

        slope[i] = (x1[i] - x0[i] + (q - s) * a + s * q * b) / h;
    }
}
