/* paced.c - see paced.h */
#include "paced.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base.h"

enum { ORDER = 5, UNSEEN_MOST = 10, TRIES = 6 };
static const double SAFE = 0.9, SHARE = 1e-3, ROUGHLY = 10;

void
paced_open(paced *p)
{
    p->seen = bg_calloc(p->n + 1, sizeof *p->seen);
    p->floor = bg_calloc(p->n + 1, sizeof *p->floor);
    p->noise = bg_calloc(p->n + 1, sizeof *p->noise);
    p->whole = bg_calloc(p->n + 1, sizeof *p->whole);
    p->from = bg_calloc(p->n + 1, sizeof *p->from);
    p->pace = INFINITY;
    if (!(p->rtol > 0))
        p->rtol = 1e-6;
    paced_forget(p);
}

void
paced_close(paced *p)
{
    free(p->seen);
    free(p->floor);
    free(p->noise);
    free(p->whole);
    free(p->from);
}

void
paced_forget(paced *p)
{
    p->unseen = 0;
}

static void
note(paced *p, const double *v)
{
    for (size_t i = 0; i < p->n; i++)
        p->seen[i] = fmax(p->seen[i], fabs(v[i]));
}

static double
greatest(const paced *p)
{
    double most = 0;

    for (size_t i = 0; i < p->n; i++)
        most = fmax(most, p->seen[i]);
    return most;
}

static double
off_by(const paced *p, const double *v, size_t i)
{
    return fabs(v[i] - p->whole[i]) / ((1 << ORDER) - 1);
}

/* What the halves v are off by, in units of the tolerance. */
static double
estimate(paced *p, const double *v)
{
    double worst = 0, all;

    note(p, v);
    p->least(p->ctx, p->seen, p->floor);
    all = greatest(p);
    for (size_t i = 0; i < p->n; i++) {
        double off = off_by(p, v, i), may = p->rtol * fmax(p->seen[i], p->floor[i]) + p->noise[i] * all;

        if (off > 0)
            worst = fmax(worst, may > 0 ? off / may : INFINITY);
    }
    return worst;
}

/* From here on differences as these are rounding: what cancels grows with the rest. */
static void
let_be(paced *p, const double *v)
{
    double all = greatest(p);

    for (size_t i = 0; i < p->n; i++)
        if (off_by(p, v, i) > p->rtol * fmax(p->seen[i], p->floor[i]) + p->noise[i] * all)
            p->noise[i] = ROUGHLY * off_by(p, v, i) / all;
}

/* What a step may be longer or shorter by. */
static double
factor_of(double error, double least, double most)
{
    return error > 0 ? fmin(fmax(SAFE * pow(error, -1.0 / (ORDER + 1)), least), most) : most;
}

/* One step, whole and halved; v: by halves. */
static bool
halves(paced *p, double t0, double t1, double *v, double *error)
{
    double middle = t0 + (t1 - t0) / 2;

    memcpy(p->whole, v, p->n * sizeof *v);
    if (!p->map(p->ctx, t0, t1, p->whole) || !p->map(p->ctx, t0, middle, v) || !p->map(p->ctx, middle, t1, v))
        return false;
    *error = estimate(p, v);
    return true;
}

bool
paced_step(paced *p, double t0, double t1, double *v)
{
    double way = t1 > t0 ? 1 : -1, t = t0, least = 16 * DBL_EPSILON * fmax(fabs(t0), fabs(t1)), error;
    size_t tries = 0;

    if (p->n == 0)
        return true;
    while ((t1 - t) * way > 0) {
        double h = fmin(fabs(t1 - t), p->pace), next = fabs(t1 - t) <= h * (1 + 1e-9) ? t1 : t + way * h;

        if (p->unseen && h <= p->trusted) {
            if (!p->map(p->ctx, t, next, v))
                return false;
            p->unseen--;
            t = next;
            continue;
        }
        memcpy(p->from, v, p->n * sizeof *v);
        if (!halves(p, t, next, v, &error))
            return false;
        if (error > 1 && ++tries > TRIES) {
            let_be(p, v);
            error = 1;
            p->pace = INFINITY;
        }
        if (error > 1 && h > least) {
            memcpy(v, p->from, p->n * sizeof *v);
            p->pace = h * factor_of(error, 0.02, 0.5);
            continue;
        }
        tries = 0;
        p->trusted = h * factor_of(error, 0.5, 2);
        p->pace = h * factor_of(error, 0.2, 5);
        p->unseen = error < 1 ? (size_t)fmin(UNSEEN_MOST, error > 0 ? pow(error, -1.0 / (ORDER + 1)) - 1 : UNSEEN_MOST)
                              : 0;
        t = next;
    }
    return true;
}

void
paced_metric(const bg_model *m, const double *x, double *metric)
{
    for (size_t i = 0; i < model_nstates(m); i++) {
        double h = model_energy_curvature(m, i, x);

        metric[i] = isfinite(h) ? sqrt(fabs(h)) : 0;
    }
}

void
paced_sizes(size_t n, const double *x, double *size)
{
    for (size_t i = 0; i < n; i++)
        size[i] = fmax(size[i], fabs(x[i]));
}

void
paced_least(size_t n, const double *metric, const double *size, double something, bool dual, const double *seen,
            double *floor)
{
    double most = 0, part;

    something = fabs(something);
    for (size_t i = 0; i < n; i++)
        if (metric[i] > 0)
            most = fmax(most, dual ? seen[i] / metric[i] : seen[i] * metric[i]);
    for (size_t i = 0; i < n; i++) {
        floor[i] = metric[i] > 0 ? most * (dual ? metric[i] : 1 / metric[i]) : 0;
        part = dual ? something / size[i] : size[i] / something;
        if (size[i] > 0 && something > 0 && isfinite(part))
            floor[i] = fmax(floor[i], part);
        floor[i] *= SHARE;
    }
}
