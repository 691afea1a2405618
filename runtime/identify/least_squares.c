/* least_squares.c - see least_squares.h */
#include "least_squares.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base.h"

/* ---------------------------------------------------------------- rows */

void
ls_rows_open(ls_rows *s, size_t n)
{
    memset(s, 0, sizeof *s);
    s->n = n;
    s->most = 4 * (n + 1) + 512;
    s->block = bg_calloc(s->most * (n + 1), sizeof *s->block);
    s->tau = bg_calloc(n + 1, sizeof *s->tau);
}

void
ls_rows_clear(ls_rows *s)
{
    s->used = s->count = 0;
}

void
ls_rows_free(ls_rows *s)
{
    free(s->block);
    free(s->tau);
    memset(s, 0, sizeof *s);
}

static void
rotate_rows(ls_rows *s)
{
    size_t columns = s->n + 1, kept = s->used < columns ? s->used : columns;

    if (s->used == 0)
        return;
    LAPACKE_dgeqrf(LAPACK_COL_MAJOR, (lapack_int)s->used, (lapack_int)columns, s->block, (lapack_int)s->most, s->tau);
    for (size_t c = 0; c < columns; c++)
        for (size_t i = c + 1; i < kept; i++)
            s->block[c * s->most + i] = 0;
    s->used = kept;
}

void
ls_rows_add(ls_rows *s, const double *derivative, double residual)
{
    if (s->used == s->most)
        rotate_rows(s);
    for (size_t c = 0; c < s->n; c++)
        s->block[c * s->most + s->used] = derivative[c];
    s->block[s->n * s->most + s->used] = residual;
    s->used++;
    s->count++;
}

double
ls_rows_triangle(ls_rows *s, double *triangle, double *z)
{
    double sum = 0;

    rotate_rows(s);
    for (size_t c = 0; c < s->n; c++)
        for (size_t i = 0; i < s->n && triangle; i++)
            triangle[c * s->n + i] = i <= c && i < s->used ? s->block[c * s->most + i] : 0;
    for (size_t i = 0; i < s->n && z; i++)
        z[i] = i < s->used ? s->block[s->n * s->most + i] : 0;
    for (size_t i = 0; i < s->used; i++)
        sum += s->block[s->n * s->most + i] * s->block[s->n * s->most + i];
    return sum;
}

/* ---------------------------------------------------------------- search */

/* Derivatives by a parameter, and singular values of the scaled derivatives, smaller than this relative to the greatest
 * are rounding errors; a step along them would be meaningless and is not taken. */
static const double ROUNDING = 1e-10;
/* Defaults: relative to a parameter's size, and to the cost. */
static const double STEP_TOLERANCE = 1e-10, COST_TOLERANCE = 1e-14;
enum { MOST_STEPS = 200 };
/* Relative to the squared scales: small at first, so that a nearly linear problem starts with Gauss-Newton steps. */
static const double FIRST_DAMPING = 1e-3;
static const double LEAST_DAMPING = 1e-16, MOST_DAMPING = 1e30;
/* A step is accepted if the cost falls by more than this share of the decrease that the linear model predicts. */
static const double WORTH = 1e-4;
/* Relative to the cost: smaller changes are errors of the evaluation. */
static const double NOISE = 1e-9;
/* Factor for the damping where a step exceeds the stride. */
static const double MORE_DAMPING = 3;
/* Share of the predicted decrease above which the linear model is trusted, and the factor for the damping then. */
static const double AS_PROMISED = 0.9, LESS_DAMPING = 0.1;
/* With a cost below the floor, a step that leaves more than this share of it is the last. */
static const double SLOW = 0.5;
/* Smallest damping unit relative to the most sensitive parameter, so that a parameter with little effect is not moved
 * far for a small gain. */
static const double LEAST_UNIT = 0.1;

struct search {
    const ls_problem *p;
    size_t n;
    double *theta, *trial, *step;
    double *triangle, *z;   /* at theta */
    double *scale;          /* greatest norm of each column so far */
    double *gradient;       /* R'z */
    bool *fixed;            /* fixed for this step */
    double *system, *right; /* [2n][n], [2n] */
    double cost, damping;
    ls_rows rows;
};

static double
low_of(const struct search *s, size_t i)
{
    return s->p->low ? s->p->low[i] : -INFINITY;
}
static double
high_of(const struct search *s, size_t i)
{
    return s->p->high ? s->p->high[i] : INFINITY;
}
static bool
held(const struct search *s, size_t i)
{
    return s->p->held && s->p->held[i];
}

static bool
evaluate_rows(struct search *s, const double *theta, ls_result *r)
{
    r->evaluations++;
    ls_rows_clear(&s->rows);
    return s->p->evaluate(s->p->ctx, theta, &s->rows);
}

/* Takes over the rows of the last evaluation as those of theta. */
static void
take_rows(struct search *s, ls_result *r)
{
    s->cost = ls_rows_triangle(&s->rows, s->triangle, s->z);
    r->rows = s->rows.count;
    for (size_t c = 0; c < s->n; c++) {
        double norm = 0;

        s->gradient[c] = 0;
        for (size_t i = 0; i <= c; i++) {
            norm = hypot(norm, s->triangle[c * s->n + i]);
            s->gradient[c] += s->triangle[c * s->n + i] * s->z[i];
        }
        s->scale[c] = fmax(s->scale[c], norm);
    }
}

/* Minimizes |R d + z|^2 + damping |unit d|^2 over the free parameters; fixed ones move by what `step` says. */
static void
solve_step(struct search *s)
{
    size_t n = s->n, m = 2 * n, nfree = 0;
    double root = sqrt(s->damping), most = 0, *unit = bg_calloc(n + 1, sizeof *unit);
    lapack_int rank;

    for (size_t i = 0; i < n; i++)
        most = fmax(most, s->scale[i]);
    for (size_t i = 0; i < n; i++)
        unit[i] = fmax(s->scale[i], s->p->stride > 0 ? LEAST_UNIT * most : 0);
    memset(s->right, 0, m * sizeof *s->right);
    for (size_t i = 0; i < n; i++)
        s->right[i] = -s->z[i];
    for (size_t c = 0; c < n; c++) {
        double *column = s->system + nfree * m;

        if (s->fixed[c]) {
            for (size_t i = 0; i <= c; i++)
                s->right[i] -= s->triangle[c * n + i] * s->step[c];
            continue;
        }
        memset(column, 0, m * sizeof *column);
        memcpy(column, s->triangle + c * n, (c + 1) * sizeof *column);
        column[n + c] = root * unit[c];
        for (size_t i = 0; i < m && unit[c] > 0; i++)
            column[i] /= unit[c];
        nfree++;
    }
    if (nfree > 0) {
        double *singular = bg_malloc(nfree * sizeof *singular);

        LAPACKE_dgelsd(LAPACK_COL_MAJOR, (lapack_int)m, (lapack_int)nfree, 1, s->system, (lapack_int)m, s->right,
                       (lapack_int)m, singular, ROUNDING, &rank);
        free(singular);
    }
    nfree = 0;
    for (size_t c = 0; c < n; c++)
        if (!s->fixed[c]) {
            s->step[c] = unit[c] > 0 ? s->right[nfree] / unit[c] : 0;
            nfree++;
        }
    free(unit);
}

/* Does the step exceed the stride of a parameter? */
static bool
strides_too_far(const struct search *s)
{
    double by = s->p->stride;

    for (size_t i = 0; i < s->n && by > 1; i++) {
        double from = s->theta[i], to = s->trial[i];
        bool keeps_sign = from != 0 && (low_of(s, i) >= 0 || high_of(s, i) <= 0);

        if (keeps_sign ? fabs(to) > by * fabs(from) || fabs(to) < fabs(from) / by
                       : fabs(to - from) > (by - 1) * fmax(fabs(from), 1))
            return true;
    }
    return false;
}

/* Proposes a step within the bounds. Returns the predicted decrease: that of |R d + z|^2. */
static double
propose(struct search *s)
{
    double promised = 0, most = 0;
    bool again = true;

    for (size_t i = 0; i < s->n; i++)
        most = fmax(most, s->scale[i]);
    for (size_t i = 0; i < s->n; i++) {
        double g = s->gradient[i];

        s->step[i] = 0;
        s->fixed[i] = held(s, i) || s->scale[i] <= ROUNDING * most || (s->theta[i] <= low_of(s, i) && g > 0) ||
                      (s->theta[i] >= high_of(s, i) && g < 0);
    }
    while (again) {
        again = false;
        solve_step(s);
        for (size_t i = 0; i < s->n; i++) {
            double to = s->theta[i] + s->step[i];

            if (s->fixed[i] || (to >= low_of(s, i) && to <= high_of(s, i)))
                continue;
            s->step[i] = (to < low_of(s, i) ? low_of(s, i) : high_of(s, i)) - s->theta[i];
            s->fixed[i] = again = true;
        }
    }
    for (size_t i = 0; i < s->n; i++) {
        double moved = 0;

        for (size_t c = i; c < s->n; c++)
            moved += s->triangle[c * s->n + i] * s->step[c];
        promised -= moved * (2 * s->z[i] + moved);
    }
    for (size_t i = 0; i < s->n; i++)
        s->trial[i] = fmin(fmax(s->theta[i] + s->step[i], low_of(s, i)), high_of(s, i));
    return promised;
}

static bool
small_step(const struct search *s)
{
    double tolerance = s->p->step_tolerance > 0 ? s->p->step_tolerance : STEP_TOLERANCE;

    for (size_t i = 0; i < s->n; i++)
        if (fabs(s->step[i]) > tolerance * fabs(s->theta[i]) &&
            s->scale[i] * fabs(s->step[i]) > DBL_EPSILON * sqrt(s->cost))
            return false;
    return true;
}

/* Descends from theta until nothing more is gained. */
static enum ls_end
descend_to_least(struct search *s, ls_result *r)
{
    double tolerance = s->p->cost_tolerance > 0 ? s->p->cost_tolerance : COST_TOLERANCE, growth = 2;
    size_t most = s->p->most_steps ? s->p->most_steps : MOST_STEPS;

    s->damping = FIRST_DAMPING;
    while (r->steps < most) {
        double promised = propose(s), fresh, gain;
        bool fine;

        if (small_step(s)) { /* its own error is of second order: accepted without an evaluation */
            memcpy(s->theta, s->trial, s->n * sizeof *s->theta);
            s->cost = fmax(s->cost - fmax(promised, 0), 0);
            return LS_CONVERGED;
        }
        /* beyond the range of the linear model, or several parameters cut off at bounds at once */
        if ((strides_too_far(s) || promised < 0) && s->damping < MOST_DAMPING) {
            s->damping = fmax(MORE_DAMPING * s->damping, LEAST_DAMPING);
            continue;
        }
        if (promised <= tolerance * s->cost)
            return LS_CONVERGED;
        fine = evaluate_rows(s, s->trial, r);
        fresh = fine ? ls_rows_triangle(&s->rows, NULL, NULL) : INFINITY;
        gain = (s->cost - fresh) / promised;
        if (isfinite(fresh) && gain > WORTH) {
            double before = s->cost;

            memcpy(s->theta, s->trial, s->n * sizeof *s->theta);
            take_rows(s, r);
            r->steps++;
            if (s->cost <= s->p->cost_floor && s->cost > SLOW * before)
                return LS_CONVERGED;
            s->damping *= fmax(1.0 / 3, 1 - pow(2 * fmin(gain, 1) - 1, 3)) * (gain > AS_PROMISED ? LESS_DAMPING : 1);
            s->damping = fmax(s->damping, LEAST_DAMPING);
            growth = 2;
            if (s->p->accepted && s->p->accepted(s->p->ctx, s->theta)) {
                memset(s->scale, 0, s->n * sizeof *s->scale);
                if (!evaluate_rows(s, s->theta, r))
                    return LS_STUCK;
                take_rows(s, r);
            }
            continue;
        }
        /* the predicted decrease is within the errors of the evaluation */
        if (isfinite(fresh) && promised <= NOISE * s->cost && fabs(fresh - s->cost) <= NOISE * s->cost)
            return LS_CONVERGED;
        s->damping *= growth;
        growth *= 2;
        if (!(s->damping < MOST_DAMPING))
            return LS_STUCK;
    }
    return LS_STEPS;
}

void
least_squares(const ls_problem *p, double *theta, ls_result *r)
{
    size_t n = p->n;
    struct search s = { .p = p, .n = n, .theta = theta };

    memset(r, 0, sizeof *r);
    r->triangle = s.triangle = bg_calloc(n * n + 1, sizeof(double));
    s.trial = bg_calloc(n + 1, sizeof(double));
    s.step = bg_calloc(n + 1, sizeof(double));
    s.z = bg_calloc(n + 1, sizeof(double));
    s.scale = bg_calloc(n + 1, sizeof(double));
    s.gradient = bg_calloc(n + 1, sizeof(double));
    s.fixed = bg_calloc(n + 1, sizeof(bool));
    s.system = bg_calloc(2 * n * n + 1, sizeof(double));
    s.right = bg_calloc(2 * n + 1, sizeof(double));
    ls_rows_open(&s.rows, n);
    for (size_t i = 0; i < n; i++)
        theta[i] = fmin(fmax(theta[i], low_of(&s, i)), high_of(&s, i));
    if (evaluate_rows(&s, theta, r)) {
        take_rows(&s, r);
        r->end = isfinite(s.cost) ? descend_to_least(&s, r) : LS_NO_START;
    } else {
        r->end = LS_NO_START;
    }
    r->cost = s.cost;
    ls_rows_free(&s.rows);
    free(s.trial);
    free(s.step);
    free(s.z);
    free(s.scale);
    free(s.gradient);
    free(s.fixed);
    free(s.system);
    free(s.right);
}
