/* integrator_dense.c - dense output: the states at any time within the last step */
#include <math.h>
#include <string.h>

#include "integrator_inside.h"

/* ---- dense output of the explicit method ----
 * Hermite polynomials through states and rates at the ends of steps: of degree five over this step and the previous
 * one, with an error of the method's order. In a first step: the cubic over this step, with the term of degree four of
 * the method's own interpolation. Neither needs further evaluations. In models whose laws bend sharply or have infinite
 * slopes, that term would magnify the differences between the stages; it is taken there from one more evaluation, at a
 * third of the step. */

/* Hermite's basis at s for the points -r, 0 and 1, in units of the step length h. */
static void
two_step_coefficients(double r, double h, double s, double c[6])
{
    double by_r = 1 / r, by_sum = 1 / (1 + r);
    double l[3] = { s * (s - 1) * by_r * by_sum, -(s + r) * (s - 1) * by_r, s * (s + r) * by_sum };
    double from[3] = { s + r, s, s - 1 }, slope[3] = { -by_r - by_sum, by_r - 1, 1 + by_sum };

    for (int a = 0; a < 3; a++) {
        c[a] = l[a] * l[a] * (1 - 2 * slope[a] * from[a]);
        c[a + 3] = l[a] * l[a] * from[a] * h;
    }
}

#define THIRD (1 / 3.)
#define BEND_OF_THIRD (27 / 4.) /* the slope of s²(1-s)² at a third is 4/27 */

static void
first_step_coefficients(double h, double s, double c[6])
{
    double q = 1 - s;

    c[0] = 0;
    c[1] = (1 + 2 * s) * q * q;
    c[2] = s * s * (3 - 2 * s);
    c[3] = h * s * q * q;
    c[4] = -h * s * s * q;
    c[5] = h * s * s * q * q;
}

/* The term of degree four, from the difference between the rate at a third of the step and the slope of the cubic. */
static bool
bend_at_third(integrator *g, const double *const x[6], double h)
{
    double c[6];
    bool failed = g->failed;

    memset(g->bend, 0, g->n * sizeof *g->bend);
    first_step_coefficients(h, THIRD, c);
    vec_combine1(g->n, c, x, g->scratch);
    if (integrator_evaluate(g, g->t[1] + THIRD * h, g->scratch, g->bend) != 0)
        return false;
    g->failed = failed;
    for (size_t i = 0; i < g->n; i++) {
        double slope = 4 * THIRD * (x[2][i] - x[1][i]) / h - THIRD * x[4][i];

        g->bend[i] = (g->bend[i] - slope) * BEND_OF_THIRD;
    }
    return true;
}

/* Of a step: the previous one is used if it is longer than this. A far shorter one has probably ended at a switching.
 * In models whose laws bend sharply a shorter one will do, since without it an evaluation is needed; only rounding
 * limits it. */
#define ALIKE 0.2
#define LEAST_BEFORE 0.02

/* Settling: dense output of an implicit method with its fast modes corrected by a Newton step (integrator.h). A step
 * below SMALL_SETTLING, in tolerances, is made at once. A greater one is made only if the one after it would be less
 * than SETTLES of it, so that Newton's method converges there. */
#define SMALL_SETTLING 0.1
#define SETTLES 0.1
/* Of the step: before that time fast modes may still decay from their values at the start of the step, so the
 * correction grows linearly up to there. */
#define SETTLED_AT 1e-3
enum { SETTLING = 5 }; /* number of steps after a switching in which rows of a table are settled */

/* Where flows cancel, rows of a table are settled, until a settling step changes the flows by less than this part of
 * themselves. */
#define NO_MATTER 1e-5
enum { SETTLING_STEPS = 8 };

static bool
explicit_base(integrator *g, const double *x[6])
{
    double h = g->t[2] - g->t[1];

    x[0] = integrator_state(g, 0), x[1] = integrator_state(g, 1), x[2] = integrator_state(g, 2);
    x[3] = g->f[0], x[4] = g->f[1], x[5] = g->f[2];
    if (g->history && g->t[1] - g->t[0] > (g->bent[0] ? LEAST_BEFORE : ALIKE) * h)
        return true;
    if (g->kind == MIDPOINT && !integrator_midpoint_rates(g))
        return false;
    g->history = false;
    x[0] = x[1], x[3] = g->f[1], x[4] = g->f[2], x[5] = g->bend;
    if (!g->bend_known && g->kind == MIDPOINT)
        memset(g->bend, 0, g->n * sizeof *g->bend);
    else if (!g->bend_known && !g->bent[0])
        explicit_bend(g, g->bend);
    else if (!g->bend_known && !bend_at_third(g, x, h))
        return false;
    g->bend_known = true;
    return true;
}

bool
integrator_dense3(integrator *g, const double s[3], double t_end, double *const x[3])
{
    double h = g->t[2] - g->t[1], part = h != 0 ? (t_end - g->t[1]) / h : 0;

    if (g->kind == STATIC)
        return true;
    if (g->kind == BDF || g->kind == ROSENBROCK) {
        for (int i = 0; i < 3; i++)
            if (!integrator_dense(g, g->t[1] + s[i] * (t_end - g->t[1]), x[i]))
                return false;
        return true;
    }
    double c[3][6];
    const double *base[6];
    if (!explicit_base(g, base))
        return false;
    for (int i = 0; i < 3; i++) {
        if (g->history)
            two_step_coefficients((g->t[1] - g->t[0]) / h, h, s[i] * part, c[i]);
        else
            first_step_coefficients(h, s[i] * part, c[i]);
    }
    vec_combine3(g->n, c, base, x);
    for (int i = 0; i < 3; i++)
        integrator_keep_still(g, x[i]);
    return true;
}

/* The derivative of the given order of BDF's polynomial. */
static bool
bdf_dense(const integrator *g, double t, int order, double *to)
{
    struct _generic_N_Vector v = *g->y[2];
    struct _N_VectorContent_Serial content = *(N_VectorContent_Serial)g->y[2]->content;

    content.data = to;
    content.own_data = SUNFALSE;
    v.content = &content;
    return CVodeGetDky(g->cvode, t, order, &v) == 0;
}

bool
integrator_dense(integrator *g, double t, double *x)
{
    size_t n = g->n;

    if (g->kind == STATIC)
        return true;
    if (t == g->t[2] || t == g->t[1]) {
        memcpy(x, integrator_state(g, t == g->t[2] ? 2 : 1), n * sizeof(double));
        return true;
    }
    if (g->kind == BDF) {
        bool known = bdf_dense(g, t, 0, x);
        integrator_keep_still(g, x);
        return known;
    }
    if (g->kind == ROSENBROCK) {
        rosenbrock_dense(g, t, x);
        integrator_keep_still(g, x);
        return true;
    }
    double c[6], h = g->t[2] - g->t[1], s = (t - g->t[1]) / h;
    const double *base[6];
    if (!explicit_base(g, base))
        return false;
    if (g->history)
        two_step_coefficients((g->t[1] - g->t[0]) / h, h, s, c);
    else
        first_step_coefficients(h, s, c);
    vec_combine1(n, c, base, x);
    integrator_keep_still(g, x);
    return true;
}

/* The time derivative of the dense output of an implicit method. */
static bool
dense_slope(const integrator *g, double t, double *slope)
{
    if (g->kind == BDF)
        return bdf_dense(g, t, 1, slope);
    rosenbrock_slope(g, t, slope);
    return true;
}

/* The Newton step from x to a state whose rates equal the slope of the polynomial: M step = gamma (f(x) - slope), with
 * the matrix M = I - gamma J of the integration step. False: it cannot be computed. */
static bool
settling_step(integrator *g, double t, const double *x, const double *slope, double *step)
{
    double gamma = linear_gamma(g->linear);

    if (!(gamma > 0) || integrator_evaluate(g, t, x, step) != 0)
        return false;
    for (size_t i = 0; i < g->n; i++)
        step[i] = gamma * (step[i] - slope[i]);
    return linear_solve(g->linear, step) == 0 && vec_finite(g->n, step);
}

/* Moves x by the part of a settling step that is in fast modes, step - M^-1 step: M^-1 removes modes with gamma
 * |lambda| far above 1, and leaves those far below 1 as they are. Returns the norm of that part, in tolerances. */
static double
move_what_is_fast(integrator *g, double share, double *step, double *scratch, double *x)
{
    memcpy(scratch, step, g->n * sizeof *step);
    if (linear_solve(g->linear, scratch) != 0)
        return 0;
    vec_axpy(g->n, -1, step, scratch, step);
    vec_axpy(g->n, share, x, step, x);
    return vec_wrms(g->n, step, g->weight);
}

double
integrator_cancellation(const integrator *g, double step)
{
    return g->rtol * g->rho * step;
}

/* Dense output, settled by at most `most` steps: each leaves a part of the fast modes, because the Jacobian was
 * evaluated at another point. If it has changed much since, settling steps do not become smaller; x is not corrected
 * then. */
static bool
settle(integrator *g, double t, double *x, unsigned most)
{
    double *slope = g->bend, *first = g->scratch, *second = g->scratch2, before = INFINITY, share;
    bool failed = g->failed, settles;

    if (!integrator_dense(g, t, x))
        return false;
    if (!g->settles || !integrator_implicit(g) || !(t > g->t[1]))
        return true;
    share = fmin((t - g->t[1]) / (SETTLED_AT * (g->t[2] - g->t[1])), 1);
    scales_weights(g->scales, integrator_state(g, 1), g->weight);
    settles = dense_slope(g, t, slope);
    for (unsigned made = 0; settles && made < (share < 1 ? 1 : most); made++) {
        settles = settling_step(g, t, x, slope, first);
        double size = settles ? vec_wrms(g->n, first, g->weight) : 0;

        if (size > SMALL_SETTLING) {
            vec_axpy(g->n, 1, x, first, x);
            settles = settling_step(g, t, x, slope, second) && vec_wrms(g->n, second, g->weight) < SETTLES * size;
            vec_axpy(g->n, -1, x, first, x);
        }
        settles = settles && size < before &&
                  move_what_is_fast(g, share, first, second, x) * integrator_cancellation(g, g->t[2] - g->t[1]) >
                      NO_MATTER;
        before = size;
    }
    integrator_keep_still(g, x);
    g->failed = failed;
    return true;
}

bool
integrator_dense_settled(integrator *g, double t, double *x)
{
    return t < g->t[2] ? settle(g, t, x, 1) : integrator_dense(g, t, x);
}

/* If flows cancel, the end of a step is settled too: BDF's corrector leaves the states there off by parts of their
 * tolerances. */
bool
integrator_dense_shown(integrator *g, double t, double *x)
{
    if (integrator_implicit(g) && integrator_cancellation(g, g->t[2] - g->t[1]) > CANCELS)
        return settle(g, t, x, SETTLING_STEPS);
    if (model_nmodes(g->model) > 0 && g->steps - g->set_out_at <= SETTLING)
        return integrator_dense_settled(g, t, x);
    return integrator_dense(g, t, x);
}
