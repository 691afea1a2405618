/* events.c - see events.h */
#include "events.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "samples.h"

#define FARTHER \
    100.0 /* and so much farther each time, the search for a net's modes looks where one contradicts that it found to \
             agree */
#define FARTHEST 1e4
#define LOUDER 4.0       /* times what was found to be rounding is none */
#define CHATTER_MOST 500 /* switchings of one condition within CHATTER_SPAN of the run */
#define CHATTER_SPAN 1e-9
#define ROUNDS 60           /* of switchings that follow from one another at one time; four more for each condition */
#define MOST_TOGETHER 12    /* modes whose combinations are all tried, where nothing else settles them */
#define MOST_TRIES 64       /* modes tried where the equations have no solution with those at hand */
#define CONTRADICTION 1e-11 /* of a condition's size: below it is rounding, and the next step tells */
#define CLOSER \
    0.999 /* events of the text whose intervals shrink so, CLOSER_MOST times in a row, and to less than CLOSEST of the \
             run, */
#define CLOSER_MOST 8 /* have no end */
#define CLOSEST 1e-5
#define NOISE 1e-13     /* of a condition's size: what is left of an x that sticks */
#define HELD_SIZE 1e-3  /* of the run: in that time friction alone makes an x of usual size */
#define AT_REST 1e-9    /* of the size of what may stick: slower it rests */
#define BELOW_ZERO 1e-5 /* of its size: what the integrator's error may leave of a number of which a root is taken */
#define AHEAD 1e-7      /* of the run: how far right limits look at most */
#define AHEAD_CHANGE \
    0.5 /* of a rate: more may not become of it meanwhile, or the look is past the fastest time constant */
#define AHEAD_SHORTER 12 /* times ten, at most */

struct due {
    double t;
    uint32_t mode;
};

struct events {
    bg_model *model;
    size_t n, nx;
    double start, stop, t;
    struct model_mode *mode;
    double *value;                          /* the model's frozen values */
    double *g, *size;                       /* [n] differences; greatest |g| so far */
    double *sign;                           /* [n] of a MODE_EQUAL's g since its last zero */
    double *g_ahead, *x_ahead, *f, *f_half; /* forward evaluation, for right limits */
    VEC(uint32_t) watched, turn;            /* turn: those that are to switch */
    bool *marked;
    unsigned *count;
    double *since; /* [n] switchings since that time, for the guard */
    VEC(struct due) heap;
    size_t *passed;                         /* [n] corners passed, of known pieces */
    double *value_before;                   /* [n] modes before the last switching */
    double *g_try, *g_aside, *x_try, *kick; /* what would be, were a mode or the state another */
    bool any_sign;
    bool nets, starting; /* the model has ideal switches; x are initial values */
    double *quiet;       /* [n] up to this size a net's condition is rounding */
    bool *of_net;        /* [n] modes that the search for theirs sets */
    double drift;        /* greatest |x| that sticks, in parts of its size */
    size_t last;         /* mode that switched last, or SIZE_MAX */
    size_t nwhens, nreinits;
    struct model_when *when;
    bool *held, *turned; /* [nwhens] condition was true when last seen; turned true just now */
    double *reinit;      /* [nwhens + nreinits] */
    samples *samples;    /* NULL: the text has none */
    void (*follow)(void *ctx, size_t when, bool first, const double *x);
    void *follow_ctx;
    size_t stopped; /* `stop when` that turned true, or SIZE_MAX */
    struct firing {
        double at, interval, since;
        unsigned count, closer;
    } * firing; /* [nwhens] for the guard */
};

static double
tiny(const events *e, double t)
{
    return 8 * DBL_EPSILON * fmax(fabs(t), e->stop - e->start);
}

/* ---- known times ---- */

static void
heap_push(events *e, struct due d)
{
    size_t i = e->heap.n;

    vec_push(&e->heap, d);
    while (i > 0 && e->heap.at[(i - 1) / 2].t > d.t) {
        e->heap.at[i] = e->heap.at[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    e->heap.at[i] = d;
}

static struct due
heap_pop(events *e)
{
    struct due top = e->heap.at[0], last = e->heap.at[--e->heap.n];
    size_t i = 0, n = e->heap.n;

    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= n)
            break;
        if (child + 1 < n && e->heap.at[child + 1].t < e->heap.at[child].t)
            child++;
        if (e->heap.at[child].t >= last.t)
            break;
        e->heap.at[i] = e->heap.at[child];
        i = child;
    }
    if (n > 0)
        e->heap.at[i] = last;
    return top;
}

static double
corner_time(const struct model_mode *m, size_t passed)
{
    const ex_table *t = m->table;
    double x = m->slope > 0 ? t->x[passed] : t->x[t->n - 1 - passed];

    return (x - m->offset) / m->slope;
}

/* Sets a known mode for just after t and puts its next switching into the heap. */
static bool
set_known(events *e, uint32_t k, double t)
{
    const struct model_mode *m = &e->mode[k];
    double before = e->value[k], now;

    if (m->kind == MODE_GIVEN)
        return false;
    if (m->slope == 0) {
        now = m->kind == MODE_PIECE        ? ex_table_piece(m->table, m->offset)
              : m->kind == MODE_FLOOR      ? floor(m->offset)
              : m->kind == MODE_SIGN       ? (m->offset > 0) - (m->offset < 0)
              : m->kind == MODE_LESS       ? m->offset < 0
              : m->kind == MODE_LESS_EQUAL ? m->offset <= 0
                                           : m->offset == 0;
    } else if (m->kind == MODE_PIECE) {
        size_t p = e->passed[k], n = m->table->n;
        while (p < n && corner_time(m, p) <= t + tiny(e, t))
            p++;
        e->passed[k] = p;
        now = m->slope > 0 ? (double)p : (double)(n - p);
        if (p < n && corner_time(m, p) < e->stop)
            heap_push(e, (struct due){ corner_time(m, p), k });
    } else if (m->kind == MODE_FLOOR) {
        double up = m->slope > 0, g = m->offset + m->slope * t;
        now = up ? floor(g) : ceil(g) - 1; /* just after t, if g is a whole number now */
        double next = (now + up - m->offset) / m->slope;
        if (next <= t + tiny(e, t)) { /* it is one but for rounding */
            g = m->offset + m->slope * (t + 2 * tiny(e, t));
            now = up ? floor(g) : ceil(g) - 1;
            next = fmax((now + up - m->offset) / m->slope, t + 2 * tiny(e, t));
        }
        if (next < e->stop)
            heap_push(e, (struct due){ next, k });
    } else {
        double zero = -m->offset / m->slope;
        bool after = zero <= t + tiny(e, t);
        now = m->kind == MODE_EQUAL  ? 0
              : m->kind == MODE_SIGN ? (after == (m->slope > 0) ? 1 : -1)
                                     : after == (m->slope < 0);
        if (!after && m->kind != MODE_EQUAL && zero < e->stop)
            heap_push(e, (struct due){ zero, k });
    }
    e->value[k] = now;
    return now != before;
}

/* ---- making ---- */

events *
events_new(bg_model *m, double start, double stop)
{
    events *e = bg_calloc(1, sizeof *e);
    size_t n = model_nmodes(m), nx = model_nstates(m);

    e->model = m;
    e->n = n;
    e->nx = nx;
    e->last = e->stopped = SIZE_MAX;
    e->start = e->t = start;
    e->stop = stop;
    e->mode = bg_calloc(n + 1, sizeof *e->mode);
    e->g = bg_calloc(n + 1, sizeof(double));
    e->size = bg_calloc(n + 1, sizeof(double));
    e->sign = bg_calloc(n + 1, sizeof(double));
    e->g_ahead = bg_calloc(n + 1, sizeof(double));
    e->x_ahead = bg_calloc(nx + 1, sizeof(double));
    e->f = bg_calloc(nx + 1, sizeof(double));
    e->f_half = bg_calloc(nx + 1, sizeof(double));
    e->marked = bg_calloc(n + 1, sizeof *e->marked);
    e->count = bg_calloc(n + 1, sizeof *e->count);
    e->since = bg_calloc(n + 1, sizeof *e->since);
    e->passed = bg_calloc(n + 1, sizeof *e->passed);
    e->value_before = bg_calloc(n + 1, sizeof(double));
    e->g_try = bg_calloc(n + 1, sizeof(double));
    e->g_aside = bg_calloc(n + 1, sizeof(double));
    e->x_try = bg_calloc(nx + 1, sizeof(double));
    e->kick = bg_calloc(nx + 1, sizeof(double));
    e->nwhens = model_nwhens(m);
    e->nreinits = model_nreinits(m);
    e->when = bg_calloc(e->nwhens + 1, sizeof *e->when);
    e->held = bg_calloc(e->nwhens + 1, sizeof *e->held);
    e->turned = bg_calloc(e->nwhens + 1, sizeof *e->turned);
    e->reinit = bg_calloc(e->nwhens + e->nreinits + 1, sizeof(double));
    e->firing = bg_calloc(e->nwhens + 1, sizeof *e->firing);
    for (size_t w = 0; w < e->nwhens; w++) {
        e->when[w] = model_when(m, w);
        e->firing[w] = (struct firing){ .at = -INFINITY, .since = -INFINITY };
    }
    for (size_t k = 0; k < n; k++) {
        e->mode[k] = model_mode(m, k);
        e->since[k] = -INFINITY;
        if (!e->mode[k].known)
            vec_push(&e->watched, (uint32_t)k);
        e->any_sign |= e->mode[k].kind == MODE_SIGN;
    }
    e->value = model_modes(m);
    e->samples = samples_new(m, start, stop);
    e->nets = model_has_nets(m);
    e->quiet = bg_calloc(n + 1, sizeof *e->quiet);
    e->of_net = bg_calloc(n + 1, sizeof *e->of_net);
    for (size_t k = 0; k < n && e->nets; k++)
        e->of_net[k] = model_net_mode(m, k);
    return e;
}

void
events_follow(events *e, void (*fire)(void *ctx, size_t when, bool first, const double *x), void *ctx)
{
    e->follow = fire;
    e->follow_ctx = ctx;
}

void
events_free(events *e)
{
    if (!e)
        return;
    free(e->mode);
    free(e->g);
    free(e->size);
    free(e->sign);
    free(e->g_ahead);
    free(e->x_ahead);
    free(e->f);
    free(e->f_half);
    free(e->marked);
    free(e->quiet);
    free(e->of_net);
    free(e->count);
    free(e->since);
    free(e->passed);
    free(e->value_before);
    free(e->g_try);
    free(e->g_aside);
    free(e->x_try);
    free(e->kick);
    free(e->when);
    free(e->held);
    free(e->turned);
    free(e->reinit);
    free(e->firing);
    samples_free(e->samples);
    vec_free(&e->watched);
    vec_free(&e->turn);
    vec_free(&e->heap);
    free(e);
}

bool
events_watched(const events *e)
{
    return e->watched.n > 0;
}
size_t
events_last(const events *e)
{
    return e->last;
}
double
events_next(const events *e)
{
    return fmin(e->heap.n ? e->heap.at[0].t : INFINITY, samples_next(e->samples));
}
bool
events_sample_due(const events *e, double t)
{
    return samples_next(e->samples) <= t + tiny(e, t);
}
size_t
events_stopped(const events *e)
{
    return e->stopped;
}
size_t
events_samples(const events *e)
{
    return samples_count(e->samples);
}
bool
events_check(const events *e)
{
    return samples_check(e->samples, model_flat(e->model)->sources);
}

/* ---- conditions ---- */

/* Is a root taken of what is negative, and not by rounding or by the integrator's error alone? */
static bool
outside(const events *e, uint32_t k, double g)
{
    return e->mode[k].kind == MODE_DOMAIN && g < -BELOW_ZERO * e->size[k];
}

static bool
look(events *e, double t, const double *x, double *g)
{
    if (model_conditions(e->model, t, x, g) != 0)
        return false;
    for (size_t i = 0; i < e->watched.n; i++)
        if ((!isfinite(g[e->watched.at[i]]) && e->mode[e->watched.at[i]].kind != MODE_STICK) ||
            outside(e, e->watched.at[i], g[e->watched.at[i]]))
            return false;
    return true;
}

/* Of a sign, and of a condition on the same x. */
static bool
sticks(const events *e, uint32_t k)
{
    return e->value[e->mode[k].partner] != 0;
}

/* Modes that count pieces: of a table, or whole numbers. Where a piece begins and ends, and which one g is in. */
static bool
stepped(const struct model_mode *m)
{
    return m->kind == MODE_PIECE || m->kind == MODE_FLOOR;
}

static double
lower_corner(const struct model_mode *m, double piece)
{
    if (m->kind == MODE_FLOOR)
        return piece;
    return piece > 0 ? m->table->x[(size_t)piece - 1] : -INFINITY;
}

static double
upper_corner(const struct model_mode *m, double piece)
{
    if (m->kind == MODE_FLOOR)
        return piece + 1;
    return piece < (double)m->table->n ? m->table->x[(size_t)piece] : INFINITY;
}

static double
piece_of(const struct model_mode *m, double g)
{
    return m->kind == MODE_FLOOR ? floor(g) : ex_table_piece(m->table, g);
}

static double
margin(const events *e, uint32_t k, double g)
{
    const struct model_mode *m = &e->mode[k];

    if (stepped(m))
        return fmin(g - lower_corner(m, e->value[k]), upper_corner(m, e->value[k]) - g);
    if (m->side != 0 && sticks(e, k))
        return INFINITY;
    if (m->kind == MODE_DOMAIN)
        return INFINITY;
    if (m->kind == MODE_EQUAL)
        return e->value[k] != 0 ? -fabs(g) : e->sign[k] * g;
    if (m->kind == MODE_SIGN)
        return sticks(e, k) ? INFINITY : e->value[k] != 0 ? e->value[k] * g : -fabs(g);
    if (m->kind == MODE_STICK)
        return e->value[k] == 0 ? INFINITY : isfinite(g) ? 1 - fabs(g) : -INFINITY;
    return e->value[k] != 0 ? -g : g;
}

static void
note_sizes(events *e, const double *g)
{
    for (size_t i = 0; i < e->watched.n; i++) {
        uint32_t k = e->watched.at[i];
        const ex_table *t = e->mode[k].kind == MODE_PIECE ? e->mode[k].table : NULL;
        double a = e->mode[k].kind == MODE_STICK ? 1 : fmax(fabs(g[k]), e->mode[k].kind == MODE_FLOOR);
        if (t && t->n > 0)
            a = fmax(a, fmax(fabs(t->x[0]), fabs(t->x[t->n - 1])));
        if (a > e->size[k])
            e->size[k] = a;
    }
}

bool
events_mark(events *e, double t, const double *x)
{
    if (!look(e, t, x, e->g))
        return false;
    note_sizes(e, e->g);
    for (size_t i = 0; i < e->watched.n; i++) {
        uint32_t k = e->watched.at[i];
        e->marked[k] = margin(e, k, e->g[k]) <= 0;
    }
    return true;
}

bool
events_margin(events *e, double t, const double *x, double *least)
{
    double low = INFINITY, noise = 0;

    if (!look(e, t, x, e->g))
        return false;
    e->drift = 0;
    for (size_t i = 0; i < e->watched.n && e->any_sign && noise == 0; i++)
        if (e->mode[e->watched.at[i]].kind == MODE_STICK && e->value[e->watched.at[i]] != 0)
            noise = NOISE;
    for (size_t i = 0; i < e->watched.n; i++) {
        uint32_t k = e->watched.at[i];
        double size = e->size[k] > 0 ? e->size[k] : 1, v = margin(e, k, e->g[k]);
        if (e->quiet[k] > 0 && fabs(v) <= e->quiet[k])
            continue;
        if (v / size + noise < low && (v != 0 || !e->marked[k])) /* on its border since the step began: no switching */
            low = v / size + noise;
        if (e->mode[k].kind == MODE_SIGN && sticks(e, k))
            e->drift = fmax(e->drift, fabs(e->g[k]) / size);
    }
    *least = low;
    return true;
}

bool
events_drifted(const events *e, double part)
{
    return e->drift > part;
}

/* How far ahead of (t, x) a straight line tells which way things go: not so far that the rates along it turn round,
 * which they do within the fastest time constant. Leaves the rates at (t, x) in e->f, those half of the way ahead in
 * f_half, the state there in x_ahead. False: not evaluable. */
static bool
ahead_of(events *e, double t, const double *x, double *d)
{
    bool straight = false;

    *d = AHEAD * (e->stop - e->start);
    if (model_rhs(e->model, t, x, e->f) != 0)
        return false;
    for (int k = 0; k < AHEAD_SHORTER && !straight; k++) {
        *d /= k > 0 ? 10 : 1;
        for (size_t i = 0; i < e->nx; i++)
            e->x_ahead[i] = x[i] + *d / 2 * e->f[i];
        straight = model_rhs(e->model, t + *d / 2, e->x_ahead, e->f_half) == 0;
        for (size_t i = 0; i < e->nx && straight; i++) /* what starts from rest has no rate to compare with */
            straight = e->f[i] == 0 ||
                       fabs(e->f_half[i] - e->f[i]) <= AHEAD_CHANGE * fmax(fabs(e->f[i]), fabs(e->f_half[i]));
    }
    return model_rhs(e->model, t + *d / 2, e->x_ahead, e->f_half) == 0;
}

/* Which way g goes from (t, x): its values a short time ahead, by a midpoint step so that a start from rest counts too.
 */
static bool
look_ahead(events *e, double t, const double *x, double *d)
{
    if (!ahead_of(e, t, x, d))
        return false;
    for (size_t i = 0; i < e->nx; i++)
        e->x_ahead[i] = x[i] + *d * e->f_half[i];
    return look(e, t + *d, e->x_ahead, e->g_ahead);
}

/* The same for what a jump left at a border (e->g is zero there): g_ahead is where the derivative of g leads, and only
 * where that is zero the midpoint step. So an impact counts as leaving however slow it is. */
static bool
look_aside(events *e, double t, const double *x)
{
    double d;

    if (!look_ahead(e, t, x, &d) || model_conditions(e->model, t, x, e->g_try) != 0)
        return false;
    for (size_t i = 0; i < e->nx; i++)
        e->x_ahead[i] = x[i] + d * e->f[i];
    if (!look(e, t + d, e->x_ahead, e->g_aside))
        return false;
    for (size_t i = 0; i < e->watched.n; i++) {
        uint32_t k = e->watched.at[i];
        double change = e->g_aside[k] - e->g_try[k];
        e->g_ahead[k] = e->g[k] + (change != 0 ? change : e->g_ahead[k] - e->g_try[k]);
        if (fabs(e->g_ahead[k]) <= NOISE * e->size[k])
            e->g_ahead[k] = 0;
    }
    return true;
}

/* Value of mode k just after g, where g moves to `ahead` next. resting: on a border that it came to by an event, it
 * stays on that event's side. */
static double
right_value(const events *e, uint32_t k, double g, double ahead, bool resting)
{
    const struct model_mode *m = &e->mode[k];

    switch (m->kind) {
    case MODE_LESS: return g != 0 ? g < 0 : ahead < 0 || (ahead == 0 && resting && e->value[k] != 0);
    case MODE_LESS_EQUAL: return g != 0 ? g < 0 : ahead <= 0;
    case MODE_EQUAL: return g == 0 && ahead == 0;
    case MODE_SIGN: return (g > 0) - (g < 0);
    case MODE_STICK:
    case MODE_GIVEN: return e->value[k];
    case MODE_DOMAIN: return 0;
    case MODE_PIECE:
    case MODE_FLOOR: {
        double piece = piece_of(m, g);
        return g == lower_corner(m, piece) && ahead < g ? piece - 1 : piece;
    }
    }
    return 0;
}

static bool
at_border(const events *e, uint32_t k, double g)
{
    const struct model_mode *m = &e->mode[k];

    if (m->kind == MODE_SIGN || m->kind == MODE_STICK || m->kind == MODE_DOMAIN)
        return false; /* looks for itself */
    return stepped(m) ? g == lower_corner(m, piece_of(m, g)) : g == 0;
}

static void
report_chatter(events *e, uint32_t k, double t)
{
    const struct model_mode *m = &e->mode[k];
    sources *s = model_flat(e->model)->sources;

    diag_error(s, "run-chattering", m->at, "\"%s\" switches to and fro without end at %.6g s",
               m->text ? m->text : "this condition", t);
    if (m->kind == MODE_SIGN || m->kind == MODE_STICK)
        diag_help(s, "Neither sign, nor any value between, goes with what it leads to. Let the law change gradually "
                     "there, for instance by tanh(v/v0) in the "
                     "place of sign(v).");
    else
        diag_help(s, "Both sides of the condition lead back to it. Write friction with sign(v), which sticks, or let "
                     "the law change gradually there, for "
                     "instance by tanh(v/v0).");
}

/* Counts a switching of k; false when there were too many. */
static bool
allow(events *e, uint32_t k, double t)
{
    if (!(t - e->since[k] <= CHATTER_SPAN * (e->stop - e->start))) {
        e->since[k] = t;
        e->count[k] = 0;
    }
    if (++e->count[k] <= CHATTER_MOST)
        return true;
    report_chatter(e, k, t);
    return false;
}

static void
set_mode(events *e, uint32_t k, double value, double g, double ahead)
{
    e->value[k] = value;
    e->sign[k] = g > 0 || (g == 0 && ahead >= 0) ? 1 : -1;
}

/* ---- sign(x): slip and stick ---- */

/* Lets sign k stick if its x is at zero and something between -1 and 1 keeps it there. The value that would is left in
 * *s, not finite where there is none. (An x that follows from sign(x) by equations alone is at zero because it sticks.)
 */
static bool
try_stick(events *e, uint32_t k, double t, const double *x, double *s)
{
    uint32_t stick = (uint32_t)e->mode[k].partner;

    e->value[stick] = 1;
    *s = model_conditions(e->model, t, x, e->g_try) == 0 ? e->g_try[stick] : NAN;
    if (isfinite(*s) && fabs(*s) <= 1 + CONTRADICTION && fabs(e->g_try[k]) <= AT_REST * e->size[k])
        return true;
    e->value[stick] = 0;
    return false;
}

/* Change of x of sign k over a short time, by Euler's method. */
static bool
drift_of(events *e, uint32_t k, double t, const double *x, double *change)
{
    double d;

    if (model_conditions(e->model, t, x, e->g_try) != 0 || !ahead_of(e, t, x, &d))
        return false;
    *change = -e->g_try[k];
    for (size_t i = 0; i < e->nx; i++)
        e->x_ahead[i] = x[i] + d * e->f[i];
    if (model_conditions(e->model, t + d, e->x_ahead, e->g_try) != 0)
        return false;
    *change += e->g_try[k];
    return isfinite(*change);
}

/* x of sign k leaves zero to this side: so do the conditions on it. */
static void
set_side(events *e, uint32_t k, double side)
{
    e->value[k] = side;
    for (size_t i = 0; i < e->watched.n; i++) {
        uint32_t c = e->watched.at[i];

        if (e->mode[c].side == 0 || e->mode[c].partner != e->mode[k].partner)
            continue;
        e->value[c] = e->mode[c].kind == MODE_EQUAL ? side == 0
                      : side == 0                   ? e->mode[c].kind == MODE_LESS_EQUAL
                                                    : side * e->mode[c].side < 0;
        e->sign[c] = side * e->mode[c].side < 0 ? -1 : 1;
    }
}

/* Slips to the side that x of sign k then takes; `first` is tried first, as is what it is if none fits. */
static void
choose_side(events *e, uint32_t k, double t, const double *x, double first)
{
    double side[] = { first, first != 0 ? -first : 1, first != 0 ? 0 : -1 };

    for (int i = 0; i < 3; i++) {
        double change, g;

        set_side(e, k, side[i]);
        if (model_conditions(e->model, t, x, e->g_try) != 0)
            continue;
        g = e->g_try[k];
        if (fabs(g) > CONTRADICTION * e->size[k]
                ? g * side[i] > 0
                : drift_of(e, k, t, x, &change) && (side[i] != 0 ? change * side[i] >= 0 : change == 0))
            return;
    }
    set_side(e, k, first);
}

/* x of sign k is at zero, g its value as seen: sticks if it can, else slips on. */
static void
meet_zero(events *e, uint32_t k, double t, const double *x, double g)
{
    double s;

    if (!try_stick(e, k, t, x, &s))
        choose_side(e, k, t, x, isfinite(s) && s != 0 ? copysign(1, s) : g != 0 ? copysign(1, g) : -e->value[k]);
}

static void
release(events *e, uint32_t stick, double t, const double *x, double s)
{
    uint32_t k = (uint32_t)e->mode[stick].partner;

    e->value[stick] = 0;
    choose_side(e, k, t, x, isnan(s) || s == 0 ? e->value[k] : copysign(1, s));
}

/* look(), giving up what sticks although nothing finite keeps it there. */
static bool
look_released(events *e, double t, const double *x)
{
    bool ok = look(e, t, x, e->g), any = false;

    for (size_t i = 0; i < e->watched.n && e->any_sign; i++) {
        uint32_t k = e->watched.at[i];

        if (e->mode[k].kind != MODE_STICK || e->value[k] == 0 || (ok && isfinite(e->g[k])))
            continue;
        release(e, k, t, x, e->g[k]);
        any = true;
    }
    return any ? look(e, t, x, e->g) : ok;
}

/* Sets sign k from scratch: x within `slack` of zero may stick. g is its x. */
static bool
settle_sign(events *e, uint32_t k, double t, const double *x, double g, double slack)
{
    uint32_t stick = (uint32_t)e->mode[k].partner;
    double slip = e->value[k], stuck = e->value[stick];

    if (fabs(g) > slack) {
        double s, side = g > 0 ? 1 : -1;

        e->value[stick] = 0;
        if (slip != side && stuck == 0 && try_stick(e, k, t, x, &s))
            return true;
        e->value[k] = side;
    } else if (stuck == 0) {
        meet_zero(e, k, t, x, g);
    } else if (!(fabs(e->g[stick]) <= 1 + CONTRADICTION)) {
        release(e, stick, t, x, e->g[stick]);
    }
    return e->value[k] != slip || e->value[stick] != stuck;
}

/* ---- ideal switches ---- */

/* Sets the modes of ideal switches for just behind t, all those of a net together. */
static enum events_status
search(events *e, double t, double *x, double farther)
{
    sources *s = model_flat(e->model)->sources;
    nets_report r;

    if (!e->nets)
        return EVENTS_SAME;
    switch (model_search(e->model, t, x, AHEAD * (e->stop - e->start), farther, e->starting, &r)) {
    case NETS_SAME: return EVENTS_SAME;
    case NETS_SWITCHED: memset(e->quiet, 0, e->n * sizeof *e->quiet); return EVENTS_SWITCHED;
    case NETS_NONE:
        diag_error(s, "run-no-mode", r.at,
                   "no combination of open and closed is consistent at %.6g s, for this switch and those it acts on",
                   t);
        diag_help(s,
                  "Look for sources that a closed switch joins, or for flows that an open one leaves nowhere to go.");
        return EVENTS_STOP;
    case NETS_REFUSED: {
        struct model_state state = model_state(e->model, r.state);

        diag_error(s, "run-jump", state.at,
                   "\"%s\" would have to jump from %.6g to %.6g at %.6g s to meet a condition that holds from then on",
                   state.name, r.from, r.to, t);
        diag_note(s, r.at, "the condition of this source");
        diag_help(s, "What is stored cannot vanish in no time: give it somewhere to go (a diode or resistor beside a "
                     "coil, a resistor before a capacitor), or say "
                     "with `when ... { reinit ... }` what happens to it.");
        return EVENTS_STOP;
    }
    default: return EVENTS_FAILED;
    }
}

/* ---- setting from scratch, switching ---- */

/* With the modes as they are the equations have no solution (a switch opened, and the diode beside it has not closed
 * yet): looks for one mode more, or of several that switched together one alone, with which they have. */
static bool
look_around(events *e, double t, const double *x)
{
    size_t tries = e->watched.n < MOST_TRIES ? e->watched.n : MOST_TRIES;
    bool found = false;

    for (size_t i = 0; e->turn.n > 1 && i < e->turn.n && !found; i++) {
        uint32_t k = e->turn.at[i];
        double other = e->value[k];

        if (e->of_net[k] || stepped(&e->mode[k]) || e->mode[k].kind == MODE_SIGN || e->mode[k].kind == MODE_STICK)
            continue;
        memcpy(e->g_try, e->value, e->n * sizeof(double));
        memcpy(e->value, e->value_before, e->n * sizeof(double));
        e->value[k] = other;
        found = look(e, t, x, e->g);
        if (!found)
            memcpy(e->value, e->g_try, e->n * sizeof(double));
    }
    /* rather one that agrees with itself when turned (a diode) than one that time or a state would turn back (the
     * contact beside it) */
    for (int any = 0; any < 2; any++)
        for (size_t i = 0; i < tries && !found; i++) {
            uint32_t k = e->watched.at[i];

            if (e->of_net[k] || (e->mode[k].kind != MODE_LESS && e->mode[k].kind != MODE_LESS_EQUAL) ||
                e->value[k] != e->value_before[k])
                continue;
            e->value[k] = e->value[k] == 0;
            found = look(e, t, x, e->g) && (any || margin(e, k, e->g[k]) >= 0);
            if (!found)
                e->value[k] = e->value[k] == 0;
        }
    return found;
}

/* Where exchanging modes leads nowhere: all combinations of those that were (or of all, while there are few) are tried,
 * those with few exchanges first. */
static bool
look_everywhere(events *e, double t, const double *x)
{
    VEC(uint32_t) among = { 0 };
    bool found = false;

    for (size_t i = 0; i < e->watched.n; i++) {
        uint32_t k = e->watched.at[i];

        if ((e->mode[k].kind == MODE_LESS || e->mode[k].kind == MODE_LESS_EQUAL) && !e->of_net[k] &&
            e->mode[k].side == 0)
            vec_push(&among, k);
    }
    memcpy(e->value_before, e->value, e->n * sizeof(double));
    for (unsigned changes = 0; among.n <= MOST_TOGETHER && changes <= among.n && !found; changes++)
        for (uint32_t set = 0; set < 1u << among.n && !found; set++) {
            if ((unsigned)__builtin_popcount(set) != changes)
                continue;
            for (size_t i = 0; i < among.n; i++)
                e->value[among.at[i]] = set >> i & 1 ? e->value_before[among.at[i]] == 0 : e->value_before[among.at[i]];
            found = look(e, t, x, e->g);
            for (size_t i = 0; i < e->watched.n && found; i++) {
                uint32_t k = e->watched.at[i];

                found = e->of_net[k] || margin(e, k, e->g[k]) >= -CONTRADICTION * e->size[k];
            }
        }
    if (!found)
        memcpy(e->value, e->value_before, e->n * sizeof(double));
    vec_free(&among);
    return found;
}

/* Sets watched modes from scratch until they agree with themselves (a condition may depend on what another mode
 * changes). */
static enum events_status
settle_right(events *e, double t, double *x, bool jumped)
{
    bool any = false;
    double d, border = jumped ? CONTRADICTION : 0; /* of a condition's size: what the way to an event leaves of zero */

    e->turn.n = 0;
    memcpy(e->value_before, e->value, e->n * sizeof(double));
    for (int round = 0; round < ROUNDS; round++) {
        bool changed = false, ahead = false;
        enum events_status found = search(e, t, x, 1);

        if (found == EVENTS_FAILED || found == EVENTS_STOP)
            return found;
        changed = found == EVENTS_SWITCHED;
        if (!look_released(e, t, x) && !look_around(e, t, x))
            return EVENTS_FAILED;
        note_sizes(e, e->g);
        for (size_t i = 0; i < e->watched.n; i++) {
            uint32_t k = e->watched.at[i];
            if (e->of_net[k])
                continue;
            if (jumped && !stepped(&e->mode[k]) && fabs(e->g[k]) <= border * e->size[k])
                e->g[k] = 0;
            ahead |= at_border(e, k, e->g[k]);
        }
        memcpy(e->g_ahead, e->g, e->n * sizeof(double));
        if (ahead && !(jumped ? look_aside(e, t, x) : look_ahead(e, t, x, &d)))
            memcpy(e->g_ahead, e->g, e->n * sizeof(double));
        for (size_t i = 0; i < e->watched.n; i++) {
            uint32_t k = e->watched.at[i];
            double now = right_value(e, k, e->g[k], e->g_ahead[k], jumped), before = e->value[k];

            if (e->of_net[k] || (round > ROUNDS / 2 && changed))
                continue; /* one at a time, in case they chase each other */
            if (e->mode[k].kind == MODE_STICK)
                continue;
            if (e->mode[k].kind == MODE_SIGN) {
                changed |= settle_sign(e, k, t, x, e->g[k], border * e->size[k]);
                if (changed && round == ROUNDS - 1) {
                    report_chatter(e, k, t);
                    return EVENTS_STOP;
                }
                continue;
            }
            set_mode(e, k, now, e->g[k], e->g_ahead[k]);
            changed |= now != before;
            if (now != before && round == ROUNDS - 1) {
                if (look_everywhere(e, t, x))
                    return EVENTS_SWITCHED;
                report_chatter(e, k, t);
                return EVENTS_STOP;
            }
        }
        any |= changed;
        if (!changed)
            break;
    }
    return any ? EVENTS_SWITCHED : EVENTS_SAME;
}

/* Sets known modes for just after `known` and watched ones to agree with them at (t, x). */
static enum events_status
set_all(events *e, double known, double t, double *x)
{
    e->heap.n = 0;
    memset(e->passed, 0, e->n * sizeof *e->passed);
    for (uint32_t k = 0; k < e->n; k++)
        if (e->mode[k].known)
            set_known(e, k, known);
    return e->watched.n || e->nets ? settle_right(e, t, x, false) : EVENTS_SAME;
}

/* Conditions on a border at (t, x) are what they are there, not just behind. False: not evaluable. */
static bool
set_exactly(events *e, double t, const double *x)
{
    for (int round = 0; round < ROUNDS; round++) {
        bool changed = false;

        if (!look(e, t, x, e->g))
            return false;
        for (size_t i = 0; i < e->watched.n; i++) {
            uint32_t k = e->watched.at[i];
            double before = e->value[k];

            if (e->g[k] == 0 && !e->of_net[k] && (e->mode[k].kind == MODE_LESS || e->mode[k].kind == MODE_LESS_EQUAL))
                e->value[k] = e->mode[k].kind == MODE_LESS_EQUAL;
            changed |= e->value[k] != before;
        }
        if (!changed)
            break;
    }
    return true;
}

static void fail_assertion(events *e, size_t w, double t, const double *x);

/* Conditions of the text that hold at the start have not turned true, unless they do so by time, at this very time. One
 * on its border turns true just behind, if it does. */
enum events_status
events_start(events *e, double t, double *x)
{
    enum events_status status;

    e->t = t;
    e->starting = true;
    if (e->nwhens > 0) {
        enum events_status before = set_all(e, t - 2 * tiny(e, t), t, x);

        if (before == EVENTS_FAILED || before == EVENTS_STOP)
            return before;
        if (!set_exactly(e, t, x) || model_reinits(e->model, t, x, e->reinit) != 0)
            return EVENTS_FAILED;
        for (size_t w = 0; w < e->nwhens; w++) {
            e->held[w] = e->reinit[w] != 0;
            if (e->held[w] && e->when[w].kind == WHEN_ASSERTS) {
                fail_assertion(e, w, t, x);
                return EVENTS_STOP;
            }
            if (e->held[w] && e->when[w].kind == WHEN_STOPS)
                diag_warn(model_flat(e->model)->sources, "run-stop", e->when[w].at,
                          "\"%s\" holds at the start already: the run stops when it turns true", e->when[w].text);
        }
    }
    status = set_all(e, t, t, x);
    e->starting = false;
    return status;
}

/* Switches k away from what it contradicts at (t, x): by one piece, or to where g is. */
static void
flip(events *e, uint32_t k, double g, double t, const double *x)
{
    const struct model_mode *m = &e->mode[k];

    if (m->kind == MODE_SIGN) {
        meet_zero(e, k, t, x, g);
    } else if (m->kind == MODE_STICK) {
        release(e, k, t, x, g);
    } else if (stepped(m)) {
        double piece = e->value[k], there = piece_of(m, g);
        if (g - lower_corner(m, piece) < upper_corner(m, piece) - g)
            e->value[k] = fmin(piece - 1, there);
        else
            e->value[k] = fmax(piece + 1, there);
    } else if (m->kind == MODE_EQUAL) {
        e->sign[k] = e->value[k] != 0 ? (g >= 0 ? 1 : -1) : -e->sign[k];
        e->value[k] = 0;
    } else {
        e->value[k] = e->value[k] == 0;
    }
}

/* Switches those of e->turn; false when one did so too often. */
static bool
turn_all(events *e, double t, const double *x)
{
    memcpy(e->value_before, e->value, e->n * sizeof(double));
    for (size_t i = 0; i < e->turn.n; i++) {
        uint32_t k = e->turn.at[i];

        if (!allow(e, k, t))
            return false;
        e->last = k;
        if (!e->of_net[k])
            flip(e, k, e->g[k], t, x);
    }
    return true;
}

/* The same where a condition of a net is seen to contradict. Where nothing comes of it however far the search looks, it
 * is rounding, and rests until it is larger. */
static enum events_status
search_seen(events *e, double t, double *x)
{
    enum events_status found = EVENTS_SAME;
    bool seen = false;

    for (size_t i = 0; i < e->turn.n; i++)
        seen |= e->of_net[e->turn.at[i]];
    for (double farther = 1; farther <= (seen ? FARTHEST : 1) && found == EVENTS_SAME; farther *= FARTHER)
        found = search(e, t, x, farther);
    for (size_t i = 0; i < e->turn.n && found == EVENTS_SAME; i++)
        if (e->of_net[e->turn.at[i]])
            e->quiet[e->turn.at[i]] = LOUDER * fabs(e->g[e->turn.at[i]]);
    return found;
}

/* Switches what clearly contradicts its mode at (t, x), round by round: all of it at first, later the first alone,
 * which comes to an end where diodes and contacts have one (least-index pivoting; Murty 1974). */
static enum events_status
follow(events *e, double t, double *x)
{
    size_t most = ROUNDS + 4 * e->watched.n;

    for (size_t round = 0;; round++) {
        enum events_status found = round == 0 ? search_seen(e, t, x) : search(e, t, x, 1);

        if (found == EVENTS_FAILED || found == EVENTS_STOP)
            return found;
        if (!look_released(e, t, x) && !look_around(e, t, x))
            return EVENTS_FAILED;
        note_sizes(e, e->g);
        e->turn.n = 0;
        for (size_t i = 0; i < e->watched.n; i++) {
            uint32_t k = e->watched.at[i];
            if (!e->of_net[k] && margin(e, k, e->g[k]) < -CONTRADICTION * e->size[k])
                vec_push(&e->turn, k);
        }
        if (e->turn.n == 0)
            return EVENTS_SWITCHED;
        if (round == ROUNDS / 2 && look_everywhere(e, t, x))
            return EVENTS_SWITCHED;
        if (round >= most) {
            report_chatter(e, e->turn.at[0], t);
            return EVENTS_STOP;
        }
        if (round > ROUNDS / 2)
            e->turn.n = 1;
        if (!turn_all(e, t, x))
            return EVENTS_STOP;
    }
}

enum events_status
events_switch(events *e, double t_seen, const double *x_seen, double t, double *x)
{
    e->t = t;
    e->turn.n = 0;
    if (!look(e, t_seen, x_seen, e->g))
        return EVENTS_FAILED;
    for (size_t i = 0; i < e->watched.n; i++) {
        uint32_t k = e->watched.at[i];
        double v = margin(e, k, e->g[k]);
        if (v < 0 || (v == 0 && !e->marked[k]))
            vec_push(&e->turn, k);
    }
    if (e->turn.n == 0)
        return EVENTS_SAME;
    return turn_all(e, t, x) ? follow(e, t, x) : EVENTS_STOP;
}

enum events_status
events_due(events *e, double t, double *x)
{
    bool any = false;

    e->t = t;
    e->turn.n = 0;
    memcpy(e->value_before, e->value, e->n * sizeof(double));
    while (e->heap.n && e->heap.at[0].t <= t + tiny(e, t)) {
        struct due d = heap_pop(e);
        e->last = d.mode;
        any |= set_known(e, d.mode, t);
    }
    if (!any)
        return EVENTS_SAME;
    return e->watched.n || e->nets ? follow(e, t, x) : EVENTS_SWITCHED;
}

enum events_status
events_jolted(events *e, double t, double *x)
{
    e->t = t;
    return e->watched.n || e->nets ? follow(e, t, x) : EVENTS_SWITCHED;
}

/* ---- what events do to states ---- */

/* Puts x of sign k, which sticks, to zero along the way in which its s moves the states: as by an impulse of that
 * friction, so that what friction leaves alone (a common momentum) stays. */
static bool
hold(events *e, uint32_t k, double t, double *x)
{
    uint32_t stick = (uint32_t)e->mode[k].partner;
    double slip = e->value[k], g, h = AHEAD * (e->stop - e->start);
    bool ok, changed = false;

    e->value[stick] = 0;
    e->value[k] = 1;
    ok = model_rhs(e->model, t, x, e->kick) == 0;
    e->value[k] = -1;
    ok = ok && model_rhs(e->model, t, x, e->f) == 0;
    e->value[stick] = 1;
    e->value[k] = slip;
    for (size_t i = 0; i < e->nx && ok; i++)
        ok = isfinite(e->kick[i] -= e->f[i]);
    ok = ok && model_conditions(e->model, t, x, e->g_try) == 0;
    g = e->g_try[k];
    for (int round = 0; round < 4 && ok && (g != 0 || round == 0); round++) {
        double there;

        for (size_t i = 0; i < e->nx; i++)
            e->x_try[i] = x[i] + h * e->kick[i];
        ok = model_conditions(e->model, t, e->x_try, e->g_try) == 0 && isfinite(e->g_try[k]) && e->g_try[k] != g;
        if (ok) /* an x that was never but zero: its size is what this friction makes of it */
            e->size[k] = fmax(e->size[k], HELD_SIZE / AHEAD * fabs(e->g_try[k] - g));
        if (g == 0)
            break;
        there = ok ? -g * h / (e->g_try[k] - g) : 0;
        for (size_t i = 0; i < e->nx; i++)
            e->x_try[i] = x[i] + there * e->kick[i];
        ok = ok && model_conditions(e->model, t, e->x_try, e->g_try) == 0 && fabs(e->g_try[k]) < fabs(g);
        if (ok) {
            memcpy(x, e->x_try, e->nx * sizeof(double));
            g = e->g_try[k];
            changed = true;
        }
    }
    return changed;
}

static void
hold_all(events *e, double t, double *x)
{
    if (!e->any_sign || e->nx == 0 || !look(e, t, x, e->g))
        return;
    for (size_t i = 0; i < e->watched.n; i++) {
        uint32_t k = e->watched.at[i];

        if (e->mode[k].kind == MODE_SIGN && sticks(e, k) && hold(e, k, t, x) && !look(e, t, x, e->g))
            return;
    }
    e->drift = 0;
}

/* Counts a firing of w. False when there were too many in a very short time; when they come closer and closer, as the
 * last bounces of a ball do, and cannot be told apart soon; or when no time has passed since the last one, from which
 * this one does not follow. */
static bool
allow_firing(events *e, size_t w, double t, bool follows)
{
    struct firing *f = &e->firing[w];
    double interval = t - f->at, whole = e->stop - e->start;
    bool stuck = !follows && interval <= 4 * tiny(e, t);

    f->closer = interval < CLOSER * f->interval ? f->closer + 1 : 0;
    f->interval = interval;
    f->at = t;
    if (!(t - f->since <= CHATTER_SPAN * whole)) {
        f->since = t;
        f->count = 0;
    }
    if (++f->count <= CHATTER_MOST && !stuck && !(f->closer >= CLOSER_MOST && interval < CLOSEST * whole))
        return true;

    sources *s = model_flat(e->model)->sources;
    diag_error(s, "run-chattering", e->when[w].at, "\"%s\" turns true again and again without end at %.6g s",
               e->when[w].text, t);
    diag_help(s, "Each event leads to the next one sooner. Stop before, or let a spring and a damper take up what the "
                 "events do.");
    return false;
}

/* The states that w sets, from values that were all taken before. *moved: one of them is another than it was. */
static bool
jump(events *e, size_t w, double t, double *x, bool *moved)
{
    const struct model_when *m = &e->when[w];

    for (size_t r = m->first; r < m->first + m->n; r++) {
        size_t state = model_reinit_state(e->model, r);
        double value = e->reinit[e->nwhens + r];

        if (!isfinite(value)) {
            sources *s = model_flat(e->model)->sources;
            diag_error(s, "run-reinit", m->at,
                       m->kind == WHEN_SAMPLES ? "at the sample \"%s\" of %.6g s, the value for \"%s\" is not finite"
                                               : "as \"%s\" turns true at %.6g s, the value for \"%s\" is not finite",
                       m->text, t, model_state(e->model, state).name);
            return false;
        }
        *moved |= x[state] != value;
        x[state] = value;
    }
    return true;
}

/* What `previous` reads in the first sample of w: what is there now. One memory may be of another. */
static bool
remember_first(events *e, size_t w, double t, double *x)
{
    const struct model_when *m = &e->when[w];

    for (bool changed = true; changed;) {
        changed = false;
        for (size_t r = m->first; r < m->first + m->n; r++) {
            double value = e->reinit[e->nwhens + r], *at = &x[model_reinit_state(e->model, r)];

            if (!model_reinit_remembers(e->model, r) || *at == value || !isfinite(value))
                continue;
            *at = value;
            changed = true;
        }
        if (changed && model_reinits(e->model, t, x, e->reinit) != 0)
            return false;
    }
    return true;
}

/* An assertion that does not hold: said with what it reads. */
static void
fail_assertion(events *e, size_t w, double t, const double *x)
{
    const struct model_when *m = &e->when[w];
    const flat_model *f = model_flat(e->model);
    double *v = bg_calloc(f->var.n + 1, sizeof *v);
    strbuf values = { 0 };

    if (model_variables(e->model, t, x, v))
        samples_values(e->model, w, v, &values);
    if (m->says)
        diag_error(f->sources, "run-assert", m->at, "%s: \"%s\" does not hold at %.6g s%s%s", m->says, m->text, t,
                   values.n ? ", where " : "", values.n ? values.at : "");
    else
        diag_error(f->sources, "run-assert", m->at, "\"%s\" does not hold at %.6g s%s%s", m->text, t,
                   values.n ? ", where " : "", values.n ? values.at : "");
    strbuf_free(&values);
    free(v);
}

/* What w does as its condition turns true, or as its sample is due. */
static enum events_status
fire(events *e, size_t w, double t, double *x, bool follows, bool *moved)
{
    bool first = false;

    switch (e->when[w].kind) {
    case WHEN_ASSERTS: fail_assertion(e, w, t, x); return EVENTS_STOP;
    case WHEN_STOPS:
        if (e->stopped == SIZE_MAX)
            e->stopped = w;
        return EVENTS_SAME;
    case WHEN_SAMPLES: first = samples_first(e->samples, w); break;
    case WHEN_TURNS:
        if (!allow_firing(e, w, t, follows))
            return EVENTS_STOP;
        *moved = true; /* an event, whatever it sets */
        break;
    }
    if (e->follow)
        e->follow(e->follow_ctx, w, first, x);
    if (first && !remember_first(e, w, t, x))
        return EVENTS_FAILED;
    return jump(e, w, t, x, moved) ? EVENTS_SWITCHED : EVENTS_STOP;
}

/* Which conditions turned true, and (first) which samples are due. */
static enum events_status
find_turned(events *e, double t, const double *x, bool first, bool *sampled)
{
    *sampled = first && samples_take(e->samples, t + tiny(e, t), e->value);
    if (model_reinits(e->model, t, x, e->reinit) != 0)
        return EVENTS_FAILED;
    for (size_t w = 0; w < e->nwhens; w++) {
        bool now = e->reinit[w] != 0;

        e->turned[w] = (now && !e->held[w]) || (*sampled && samples_taken(e->samples, w));
        e->held[w] = now;
    }
    return EVENTS_SAME;
}

enum events_status
events_act(events *e, double t, double *x)
{
    bool any = false, any_switched = false, sampled;

    hold_all(e, t, x);
    for (bool first = true; e->nwhens > 0; first = false) { /* ends: firings are counted */
        bool fired = false, moved = false;
        enum events_status status = find_turned(e, t, x, first, &sampled);

        if (status != EVENTS_SAME)
            return status;
        /* in the order of the text, each reading what those before it left */
        for (size_t w = 0; w < e->nwhens; w++) {
            if (!e->turned[w])
                continue;
            if (fired && model_reinits(e->model, t, x, e->reinit) != 0)
                return EVENTS_FAILED;
            status = fire(e, w, t, x, any, &moved);
            if (status == EVENTS_FAILED || status == EVENTS_STOP)
                return status;
            any_switched |= status == EVENTS_SWITCHED && e->when[w].kind == WHEN_TURNS;
            fired |= status == EVENTS_SWITCHED;
        }
        if (!moved)
            break;
        any = true;
        if (e->watched.n || e->nets) {
            enum events_status settled = settle_right(e, t, x, true);

            if (settled == EVENTS_FAILED || settled == EVENTS_STOP)
                return settled;
            any_switched |= settled == EVENTS_SWITCHED;
        }
        hold_all(e, t, x);
    }
    return any_switched ? EVENTS_SWITCHED : any ? EVENTS_SAMPLED : EVENTS_SAME;
}

bool
events_settle(events *e, double t, const double *x)
{
    bool changed = false;

    for (uint32_t k = 0; k < e->n; k++)
        if (e->mode[k].known)
            changed |= set_known(e, k, t);
    e->heap.n = 0;
    if (e->nets) {
        nets_report r;

        memcpy(e->x_try, x, e->nx * sizeof(double));
        changed |= model_search(e->model, t, e->x_try, AHEAD * (e->stop - e->start), 1, true, &r) == NETS_SWITCHED;
    }
    if (!e->watched.n || !look_released(e, t, x))
        return changed;
    note_sizes(e, e->g);
    for (size_t i = 0; i < e->watched.n; i++) {
        uint32_t k = e->watched.at[i];
        double before = e->value[k];
        if (e->of_net[k])
            continue;
        if (e->mode[k].kind == MODE_SIGN) {
            changed |= settle_sign(e, k, t, x, e->g[k], AT_REST * e->size[k]);
            continue;
        }
        if (e->mode[k].kind != MODE_EQUAL && margin(e, k, e->g[k]) >= -CONTRADICTION * e->size[k])
            continue; /* fits within rounding: stays */
        set_mode(e, k, right_value(e, k, e->g[k], e->g[k], false), e->g[k], e->g[k]);
        changed |= e->value[k] != before;
    }
    return changed;
}
