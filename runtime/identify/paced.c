/* paced.c - see paced.h */
#include "paced.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

enum {
    ORDER = 5,        /* of a step */
    UNSEEN_MOST = 10, /* steps after one whose error was estimated for which its length serves */
    TRIES = 6,        /* shorter and shorter steps, after which a difference that stays is taken for rounding */
    CLOCK_EVERY = 64  /* steps between two looks at the clock */
};
#define SAFE 0.9   /* of the length at which the error would be as allowed */
#define ROUGHLY 10 /* times a difference that was rounding: so much is taken for rounding from there on */
/* Differences below this share of the greatest value that a shorter step reduces by less than this power of its length
 * are rounding errors: truncation errors decrease with the sixth power, or at least the third where a mode is fast. */
#define SMALL 1e-12
enum { FALLS = 2 };
/* Differences above this share of the greatest value are not rounding, however many shorter steps were tried: where the
 * slope of a law is infinite at an event, derivatives grow like a square root, and steps shorten towards it. */
#define LARGE 1e-7
#define SHARE 1e-3 /* as for states, scales.h */
#define LEAST_SCALE 1e-18
#define UNKNOWN_SCALE 1e-9 /* size of what has rested so far; with less, rounding errors would be resolved */
/* Relative differences that may be rounding errors of cancelling terms. Tolerances are at least a tenth of it: with a
 * tighter tolerance the run's steps are so short that derivatives are accurate anyway. */
#define ROUNDING 1e-8
/* Factors of the length from one step to the next: after one that failed, and after one that succeeded. A failed step
 * shows only that its error is large, so the next is at most half as long; one that succeeded may have begun at rest.
 */
#define LEAST_AGAIN 0.02
#define MOST_AGAIN 0.5
#define LEAST_NEXT 0.2
#define MOST_NEXT 20
#define WHOLE (1 - 1e-9) /* of a number of steps: a rest that rounding leaves over is no further step */

void
paced_open(paced *p, const sim_options *o)
{
    p->seen = bg_calloc(p->n + 1, sizeof *p->seen);
    p->floor = bg_calloc(p->n + 1, sizeof *p->floor);
    p->noise = bg_calloc(p->n + 1, sizeof *p->noise);
    p->rounding = bg_calloc(p->n + 1, sizeof *p->rounding);
    p->whole = bg_calloc(p->n + 1, sizeof *p->whole);
    p->from = bg_calloc(p->n + 1, sizeof *p->from);
    p->rtol = fmax(o->rtol > 0 ? o->rtol : SIM_RTOL, ROUNDING / 10);
    p->most = o->max_steps ? o->max_steps : SIM_MOST_STEPS;
    p->until = o->max_seconds > 0 ? bg_wall_seconds() + o->max_seconds : INFINITY;
    paced_forget(p);
}

bool
paced_wary(bg_model *m)
{
    bool *rooted = bg_calloc(model_nstates(m) + 1, sizeof *rooted),
         wary = model_has_nets(m) && model_nstates(m) > 0 && model_root_states(m, rooted);

    free(rooted);
    return wary;
}

void
paced_close(paced *p)
{
    free(p->seen);
    free(p->floor);
    free(p->noise);
    free(p->rounding);
    free(p->whole);
    free(p->from);
}

void
paced_forget(paced *p)
{
    p->unseen = 0;
    p->pace = INFINITY;
}

/* ---------------------------------------------------------------- error of a step */

static double
greatest_seen(const paced *p)
{
    double most = 0;

    for (size_t i = 0; i < p->n; i++)
        most = fmax(most, p->seen[i]);
    return most;
}

static double
error_of_step(const paced *p, const double *v, size_t i)
{
    return fabs(v[i] - p->whole[i]) / ((1 << ORDER) - 1);
}

static double
may_be_off(const paced *p, size_t i)
{
    return p->rtol * fmax(p->seen[i], p->floor[i]) + p->rounding[i];
}

/* Error of the halves v, in units of the tolerance. */
static double
estimate_error(paced *p, const double *v)
{
    double worst = 0, all;

    for (size_t i = 0; i < p->n; i++)
        p->seen[i] = fmax(p->seen[i], fabs(v[i]));
    p->least(p->ctx, p->seen, p->floor);
    all = greatest_seen(p);
    for (size_t i = 0; i < p->n; i++) {
        double off = error_of_step(p, v, i), may = may_be_off(p, i) + p->noise[i] * all;

        if (off > 0 && !(off / may <= worst)) {
            worst = may > 0 ? off / may : INFINITY;
            p->worst = i;
        }
    }
    return worst;
}

/* Accepts differences of this size as rounding errors from here on: cancelling terms grow with the rest. */
static void
let_be(paced *p, const double *v)
{
    double all = greatest_seen(p);

    for (size_t i = 0; i < p->n && all > 0; i++)
        if (error_of_step(p, v, i) > may_be_off(p, i) + p->noise[i] * all)
            p->noise[i] = ROUGHLY * error_of_step(p, v, i) / all;
}

/* Is the greatest error of a failed long step rounding, judging by its change in a shorter step h? */
static bool
is_rounding(paced *p, const double *v, size_t worst, double off, double longer, double h)
{
    double all = greatest_seen(p);

    if (!(off < SMALL * all) || error_of_step(p, v, worst) < off * pow(h / longer, FALLS))
        return false;
    p->noise[worst] = fmax(p->noise[worst], ROUGHLY * off / all);
    return true;
}

/* Length of the next step after two halves of length h with this error. */
static double
length_of(double error, double h, double least, double most)
{
    return h * (error > 0 ? fmin(fmax(SAFE * pow(error / 2, -1.0 / (ORDER + 1)), least), most) : most);
}

/* ---------------------------------------------------------------- steps */

static bool
advance_pace(paced *p, double t0, double t1, double *v, double *rounding)
{
    if (++p->steps > p->most)
        p->why = "they take more steps than a run may have";
    else if (p->steps % CLOCK_EVERY == 0 && isfinite(p->until) && bg_wall_seconds() > p->until)
        p->why = "they take longer than a run may";
    return !p->why && p->map(p->ctx, t0, t1, v, rounding);
}

/* One step, whole and in halves; v: by halves. */
static bool
halves(paced *p, double t0, double t1, double *v, double *error)
{
    double middle = t0 + (t1 - t0) / 2;

    memcpy(p->whole, v, p->n * sizeof *v);
    memcpy(p->from, v, p->n * sizeof *v);
    memset(p->rounding, 0, p->n * sizeof *p->rounding);
    if (!advance_pace(p, t0, t1, p->whole, p->rounding) || !advance_pace(p, t0, middle, v, NULL) ||
        !advance_pace(p, middle, t1, v, NULL))
        return false;
    *error = estimate_error(p, v);
    return true;
}

bool
paced_step(paced *p, double t0, double t1, double *v)
{
    double t = t0, shortest = 16 * DBL_EPSILON * fmax(fabs(t0), fabs(t1)), error;
    double longer = 0, off = 0; /* the last failed step: its length and its greatest error */
    size_t tries = 0, worst = 0;

    if (p->n == 0)
        return true;
    while (t != t1) {
        double left = fabs(t1 - t), parts = ceil(left / (p->unseen ? p->pace : 2 * p->pace) * WHOLE),
               h = parts > 1 ? left / parts : left, next = parts > 1 ? t + copysign(h, t1 - t) : t1;

        if (p->unseen && !(p->wary && next == t1)) {
            if (!advance_pace(p, t, next, v, NULL))
                return false;
            p->unseen--;
            t = next;
            continue;
        }
        if (!halves(p, t, next, v, &error))
            return false;
        if ((tries > 0 && is_rounding(p, v, worst, off, longer, h)) ||
            (error > 1 && ++tries > TRIES && error_of_step(p, v, p->worst) < LARGE * greatest_seen(p))) {
            let_be(p, v);
            error = fmin(error, 1);
        }
        if (error > 1 && h > shortest) {
            worst = p->worst;
            off = error_of_step(p, v, worst);
            longer = h;
            memcpy(v, p->from, p->n * sizeof *v);
            p->pace = length_of(error, h / 2, LEAST_AGAIN, MOST_AGAIN);
            continue;
        }
        if (error > 1 && error_of_step(p, v, p->worst) > LARGE * greatest_seen(p)) {
            p->why = "a derivative is infinite there, so no step is short enough";
            return false;
        }
        tries = 0;
        p->pace = length_of(error, h / 2, LEAST_NEXT, MOST_NEXT);
        p->unseen = UNSEEN_MOST;
        t = next;
    }
    return true;
}

double
paced_share(double size)
{
    return SHARE * size;
}

double
paced_known(double scale)
{
    return scale > LEAST_SCALE ? scale : UNKNOWN_SCALE;
}

double
paced_least(size_t n, const double *scale, double something, bool dual, const double *seen, double *floor)
{
    double most = something = fabs(something);

    if (!dual)
        most = something > 0 ? 1 / something : 0;
    for (size_t i = 0; i < n; i++)
        if (scale[i] > LEAST_SCALE)
            most = fmax(most, dual ? seen[i] * scale[i] : seen[i] / scale[i]);
    for (size_t i = 0; i < n; i++)
        floor[i] = SHARE * (dual ? most / paced_known(scale[i]) : most * paced_known(scale[i]));
    return most;
}
