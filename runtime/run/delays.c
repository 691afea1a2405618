/* delays.c - see delays.h */
#include "delays.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "quartic.h"

#define PIECES_AHEAD 3 /* of the history, that one step may read */
#define LAST_LEVEL 4   /* a jump of the derivative of this order does not disturb any of the methods */
/* of a value's greatest size: a smaller difference between the two sides of an event is no jump */
#define SAME 1e-11
/* greatest number of corners in the queue: where delays of many lengths follow from each other, the error test
 * handles further ones */
#define MOST_AHEAD 20000
#define FORGET_AT 256 /* unused pieces, before they are removed */

/* level: 0 where the delayed value jumps, 1 where it has a corner, 2 where its rate has one, ... */
struct break_point {
    double t;
    int level;
};
struct one {
    struct model_delay m;
    double before;
    size_t cursor;
    double size;
};

struct delays {
    bg_model *model;
    double start, stop, from, shortest, longest;
    size_t n, nx, first; /* first: first piece that is still needed */
    bool feeds;          /* a delayed value is delayed again without a state in between: jumps stay jumps */
    struct one *one;
    VEC(double) begin;             /* of each piece; begin[n] is where the last one ends */
    VEC(double) value;             /* [piece][delay][5], coefficients of the powers */
    VEC(struct break_point) ahead; /* ascending */
    size_t passed;                 /* of them */
    quartic_tables tables;
    double *now, *five; /* [n]; [5][n] */
};

static double
tiny(const delays *d, double t)
{
    return 16 * DBL_EPSILON * fmax(fabs(t), d->stop - d->start);
}
static size_t
npieces(const delays *d)
{
    return d->begin.n ? d->begin.n - 1 : 0;
}

/* The piece that contains time s; on a border the one behind it (right) or before it. */
static size_t
piece_at(const delays *d, struct one *o, double s, bool right)
{
    size_t n = npieces(d), k = o->cursor < d->first ? d->first : o->cursor >= n ? n - 1 : o->cursor;
    double slack = tiny(d, s);

    if (s < d->begin.at[k] || (k + 4 < n && s > d->begin.at[k + 4])) {
        size_t low = d->first, high = n;

        while (high - low > 1) {
            size_t mid = low + (high - low) / 2;

            if (d->begin.at[mid] <= s)
                low = mid;
            else
                high = mid;
        }
        k = low;
    }
    while (k + 1 < n && d->begin.at[k + 1] <= s)
        k++;
    if (right && k + 1 < n && d->begin.at[k + 1] - s <= slack)
        k++;
    else if (!right && k > d->first && s - d->begin.at[k] <= slack)
        k--;
    return o->cursor = k;
}

static double
value_at(delays *d, size_t i, double s, bool right)
{
    struct one *o = &d->one[i];
    size_t n = npieces(d), k;
    double slack = tiny(d, s), a, b;

    if (n == 0 || s < d->start - slack || (!right && s <= d->start + slack))
        return o->before;
    k = piece_at(d, o, s, right);
    a = d->begin.at[k];
    b = d->begin.at[k + 1];
    return quartic_value(d->value.at + (k * d->n + i) * 5, fmin(1, fmax(0, b > a ? (s - a) / (b - a) : 1)));
}

void
delays_give(delays *d, double t, double *modes)
{
    bool right = d && t <= d->from + tiny(d, t) / 2;

    for (size_t i = 0; d && i < d->n; i++)
        modes[d->one[i].m.mode] = value_at(d, i, t - d->one[i].m.by, right);
}

static void
give(void *ctx, double t, double *modes)
{
    delays_give(ctx, t, modes);
}

delays *
delays_new(bg_model *m, double start, double stop)
{
    delays *d;

    if (!model_ndelays(m))
        return NULL;
    d = bg_calloc(1, sizeof *d);
    d->model = m;
    d->n = model_ndelays(m);
    d->nx = model_nstates(m);
    d->start = d->from = start;
    d->stop = stop;
    d->shortest = INFINITY;
    d->one = bg_calloc(d->n, sizeof *d->one);
    d->now = bg_calloc(d->n, sizeof *d->now);
    d->five = bg_calloc(5 * d->n, sizeof *d->five);
    quartic_make_tables(&d->tables);
    for (size_t i = 0; i < d->n; i++) {
        d->one[i].m = model_delay(m, i);
        d->feeds |= d->one[i].m.feeds;
        d->shortest = fmin(d->shortest, d->one[i].m.by);
        d->longest = fmax(d->longest, d->one[i].m.by);
    }
    model_give(m, give, d);
    return d;
}

void
delays_free(delays *d)
{
    if (!d)
        return;
    model_give(d->model, NULL, NULL);
    free(d->one);
    free(d->now);
    free(d->five);
    vec_free(&d->begin);
    vec_free(&d->value);
    vec_free(&d->ahead);
    free(d);
}

static void
add_break(delays *d, double t, int level)
{
    size_t k = d->ahead.n;

    if (!(t < d->stop) || level > LAST_LEVEL || (level > 0 && d->ahead.n - d->passed > MOST_AHEAD))
        return;
    while (k > d->passed && d->ahead.at[k - 1].t > t + tiny(d, t))
        k--;
    if (k > d->passed && fabs(d->ahead.at[k - 1].t - t) <= tiny(d, t)) {
        if (level < d->ahead.at[k - 1].level)
            d->ahead.at[k - 1].level = level;
        return;
    }
    vec_push(&d->ahead, ((struct break_point){ t, level }));
    memmove(d->ahead.at + k + 1, d->ahead.at + k, (d->ahead.n - 1 - k) * sizeof *d->ahead.at);
    d->ahead.at[k] = (struct break_point){ t, level };
}

int
delays_start(delays *d, double t, const double *x)
{
    sources *s = model_sources(d->model);
    bool changed = true;
    int status;

    for (size_t i = 0; i < d->n; i++) {
        const struct one *o = &d->one[i];

        if (o->m.by > 64 * DBL_EPSILON * fmax(fabs(t), d->stop - d->start) && isfinite(o->m.by))
            continue;
        diag_error(s, "run-delay", o->m.at,
                   "\"%s\" is delayed by %.6g s: a delay must be positive and long enough for time to advance by it",
                   o->m.text, o->m.by);
        return -2;
    }
    /* A delayed quantity may depend on delayed values: as many rounds as there can be in a chain. */
    for (size_t round = 0; changed; round++) {
        changed = false;
        if ((status = model_delayed(d->model, t, x, d->now)) != 0)
            return status;
        for (size_t i = 0; i < d->n; i++) {
            double before = isnan(d->one[i].m.before) ? d->now[i] : d->one[i].m.before;

            if (before != d->one[i].before && round > d->n) {
                diag_error(s, "run-delay", d->one[i].m.at, "the value of \"%s\" before the start depends on itself",
                           d->one[i].m.text);
                diag_help(s, "Give that value: delay(x, T, before).");
                return -2;
            }
            changed |= before != d->one[i].before;
            d->one[i].before = before;
        }
    }
    for (size_t i = 0; i < d->n; i++)
        d->one[i].size = fmax(fabs(d->one[i].before), fabs(d->now[i]));
    return 0;
}

double
delays_next(const delays *d)
{
    return d && d->passed < d->ahead.n ? d->ahead.at[d->passed].t : INFINITY;
}

double
delays_limit(delays *d, double t)
{
    double limit;

    if (!d)
        return INFINITY;
    limit = t + d->shortest;
    for (size_t i = 0; i < d->n; i++) {
        double s = t - d->one[i].m.by;
        size_t n = npieces(d), k;

        if (n == 0 || s < d->start)
            continue;
        k = piece_at(d, &d->one[i], s, true);
        if (k + PIECES_AHEAD < n)
            limit = fmin(limit, d->begin.at[k + PIECES_AHEAD] + d->one[i].m.by);
    }
    return fmin(limit, fmax(delays_next(d), t + tiny(d, t)));
}

/* Removes pieces that no delay reads any more. */
static void
forget(delays *d, double t)
{
    while (d->first + 1 < npieces(d) && d->begin.at[d->first + 1] < t - d->longest - tiny(d, t))
        d->first++;
    if (d->first < FORGET_AT || 2 * d->first < npieces(d))
        return;
    memmove(d->begin.at, d->begin.at + d->first, (d->begin.n - d->first) * sizeof(double));
    memmove(d->value.at, d->value.at + d->first * d->n * 5, (d->value.n - d->first * d->n * 5) * sizeof(double));
    d->begin.n -= d->first;
    d->value.n -= d->first * d->n * 5;
    for (size_t i = 0; i < d->n; i++)
        d->one[i].cursor -= d->one[i].cursor < d->first ? d->one[i].cursor : d->first;
    d->first = 0;
}

void
delays_from(delays *d, double t)
{
    if (!d)
        return;
    d->from = t;
    forget(d, t);
}

int
delays_keep(delays *d, double t0, double t1, const double *const x[5])
{
    const double place[5] = { 0, quartic_place[0], quartic_place[1], quartic_place[2], 1 };

    if (!(t1 > t0))
        return 0;
    for (int k = 0; k < 5; k++) {
        int status = model_delayed(d->model, t0 + place[k] * (t1 - t0), x[k], d->five + (size_t)k * d->n);

        if (status != 0)
            return status;
    }
    if (!d->begin.n)
        vec_push(&d->begin, t0);
    vec_push(&d->begin, t1);
    for (size_t i = 0; i < d->n; i++) {
        double v[5], c[5];

        for (int k = 0; k < 5; k++) {
            v[k] = d->five[(size_t)k * d->n + i];
            d->one[i].size = fmax(d->one[i].size, fabs(v[k]));
        }
        quartic_monomial(&d->tables, v, c);
        for (int k = 0; k < 5; k++)
            vec_push(&d->value, c[k]);
    }
    return 0;
}

enum delays_break
delays_pass(delays *d, double t)
{
    enum delays_break found = DELAYS_SMOOTH;

    while (d && d->passed < d->ahead.n && d->ahead.at[d->passed].t <= t + tiny(d, t)) {
        struct break_point b = d->ahead.at[d->passed++];

        if (b.level == 0)
            found = DELAYS_JUMPS;
        else if (found == DELAYS_SMOOTH)
            found = DELAYS_BENDS;
        /* at a jump the run restarts the integrator and marks it */
        for (size_t i = 0; i < d->n && b.level > 0; i++)
            add_break(d, b.t + d->one[i].m.by, d->feeds ? b.level : b.level + 1);
    }
    if (d && d->passed > FORGET_AT && 2 * d->passed > d->ahead.n) {
        memmove(d->ahead.at, d->ahead.at + d->passed, (d->ahead.n - d->passed) * sizeof *d->ahead.at);
        d->ahead.n -= d->passed;
        d->passed = 0;
    }
    return found;
}

int
delays_mark(delays *d, double t, const double *x)
{
    int status = model_delayed(d->model, t, x, d->now);

    if (status != 0)
        return status;
    for (size_t i = 0; i < d->n; i++) {
        struct one *o = &d->one[i];
        size_t n = npieces(d);
        double before = o->before;

        if (n) {
            const double *c = d->value.at + ((n - 1) * d->n + i) * 5;

            before = quartic_value(c, 1);
        }
        o->size = fmax(o->size, fabs(d->now[i]));
        add_break(d, t + o->m.by, fabs(d->now[i] - before) > SAME * o->size ? 0 : 1);
    }
    return 0;
}
