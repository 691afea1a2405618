/* events.c - see events.h */
#include "events.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define CHATTER_MOST 100             /* switchings of one condition within CHATTER_SPAN of the run */
#define CHATTER_SPAN 1e-9
#define ROUNDS 60                    /* of switchings that follow from one another at one time */
#define CONTRADICTION 1e-11          /* of a condition's size: below it is rounding, and the next step tells */

struct due { double t; uint32_t mode; };

struct events {
    bg_model *model;
    size_t n, nx;
    double start, stop, t;
    struct model_mode *mode;
    double *value;                   /* the model's frozen values */
    double *g, *size;                /* [n] differences; greatest |g| so far */
    double *sign;                    /* [n] of a MODE_EQUAL's g since its last zero */
    double *g_ahead, *x_ahead, *f;   /* forward evaluation, for right limits */
    VEC(uint32_t) watched;
    bool *marked, any_marked;
    unsigned *count; double *since;  /* [n] switchings since that time, for the guard */
    VEC(struct due) heap;
    size_t *passed;                  /* [n] corners passed, of known pieces */
};

static double tiny(const events *e, double t) { return 8 * DBL_EPSILON * fmax(fabs(t), e->stop - e->start); }

/* ---- known times ---- */

static void heap_push(events *e, struct due d)
{
    size_t i = e->heap.n;

    vec_push(&e->heap, d);
    while (i > 0 && e->heap.at[(i - 1) / 2].t > d.t) {
        e->heap.at[i] = e->heap.at[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    e->heap.at[i] = d;
}

static struct due heap_pop(events *e)
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

static double corner_time(const struct model_mode *m, size_t passed)
{
    const ex_table *t = m->table;
    double x = m->slope > 0 ? t->x[passed] : t->x[t->n - 1 - passed];

    return (x - m->offset) / m->slope;
}

/* Sets a known mode for just after t and puts its next switching into the heap. */
static bool set_known(events *e, uint32_t k, double t)
{
    const struct model_mode *m = &e->mode[k];
    double before = e->value[k], now;

    if (m->slope == 0) {
        now = m->kind == MODE_PIECE ? ex_table_piece(m->table, m->offset)
            : m->kind == MODE_FLOOR ? floor(m->offset)
            : m->kind == MODE_LESS ? m->offset < 0 : m->kind == MODE_LESS_EQUAL ? m->offset <= 0 : m->offset == 0;
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
        now = up ? floor(g) : ceil(g) - 1;                   /* just after t, if g is a whole number now */
        double next = (now + up - m->offset) / m->slope;
        if (next <= t + tiny(e, t)) {                        /* it is one but for rounding */
            g = m->offset + m->slope * (t + 2 * tiny(e, t));
            now = up ? floor(g) : ceil(g) - 1;
            next = fmax((now + up - m->offset) / m->slope, t + 2 * tiny(e, t));
        }
        if (next < e->stop)
            heap_push(e, (struct due){ next, k });
    } else {
        double zero = -m->offset / m->slope;
        bool after = zero <= t + tiny(e, t);
        now = m->kind == MODE_EQUAL ? 0 : after == (m->slope < 0);
        if (!after && m->kind != MODE_EQUAL && zero < e->stop)
            heap_push(e, (struct due){ zero, k });
    }
    e->value[k] = now;
    return now != before;
}

/* ---- making ---- */

events *events_new(bg_model *m, double start, double stop)
{
    events *e = bg_calloc(1, sizeof *e);
    size_t n = model_nmodes(m), nx = model_nstates(m);

    e->model = m;
    e->n = n;
    e->nx = nx;
    e->start = e->t = start;
    e->stop = stop;
    e->mode = bg_calloc(n + 1, sizeof *e->mode);
    e->g = bg_calloc(n + 1, sizeof(double));
    e->size = bg_calloc(n + 1, sizeof(double));
    e->sign = bg_calloc(n + 1, sizeof(double));
    e->g_ahead = bg_calloc(n + 1, sizeof(double));
    e->x_ahead = bg_calloc(nx + 1, sizeof(double));
    e->f = bg_calloc(nx + 1, sizeof(double));
    e->marked = bg_calloc(n + 1, sizeof *e->marked);
    e->count = bg_calloc(n + 1, sizeof *e->count);
    e->since = bg_calloc(n + 1, sizeof *e->since);
    e->passed = bg_calloc(n + 1, sizeof *e->passed);
    for (size_t k = 0; k < n; k++) {
        e->mode[k] = model_mode(m, k);
        e->since[k] = -INFINITY;
        if (!e->mode[k].known)
            vec_push(&e->watched, (uint32_t)k);
    }
    e->value = model_modes(m);
    return e;
}

void events_free(events *e)
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
    free(e->marked);
    free(e->count);
    free(e->since);
    free(e->passed);
    vec_free(&e->watched);
    vec_free(&e->heap);
    free(e);
}

bool events_watched(const events *e) { return e->watched.n > 0; }
bool events_marked(const events *e) { return e->any_marked; }
double events_next(const events *e) { return e->heap.n ? e->heap.at[0].t : INFINITY; }

/* ---- conditions ---- */

static bool look(events *e, double t, const double *x, double *g)
{
    if (model_conditions(e->model, t, x, g) != 0)
        return false;
    for (size_t i = 0; i < e->watched.n; i++)
        if (!isfinite(g[e->watched.at[i]]))
            return false;
    return true;
}

/* Modes that count pieces: of a table, or whole numbers. Where a piece begins and ends, and which one g is in. */
static bool stepped(const struct model_mode *m) { return m->kind == MODE_PIECE || m->kind == MODE_FLOOR; }

static double lower_corner(const struct model_mode *m, double piece)
{
    if (m->kind == MODE_FLOOR)
        return piece;
    return piece > 0 ? m->table->x[(size_t)piece - 1] : -INFINITY;
}

static double upper_corner(const struct model_mode *m, double piece)
{
    if (m->kind == MODE_FLOOR)
        return piece + 1;
    return piece < (double)m->table->n ? m->table->x[(size_t)piece] : INFINITY;
}

static double piece_of(const struct model_mode *m, double g)
{
    return m->kind == MODE_FLOOR ? floor(g) : ex_table_piece(m->table, g);
}

static double margin(const events *e, uint32_t k, double g)
{
    const struct model_mode *m = &e->mode[k];

    if (stepped(m))
        return fmin(g - lower_corner(m, e->value[k]), upper_corner(m, e->value[k]) - g);
    if (m->kind == MODE_EQUAL)
        return e->value[k] != 0 ? -fabs(g) : e->sign[k] * g;
    return e->value[k] != 0 ? -g : g;
}

static void note_sizes(events *e, const double *g)
{
    for (size_t i = 0; i < e->watched.n; i++) {
        uint32_t k = e->watched.at[i];
        const ex_table *t = e->mode[k].kind == MODE_PIECE ? e->mode[k].table : NULL;
        double a = fmax(fabs(g[k]), e->mode[k].kind == MODE_FLOOR);
        if (t && t->n > 0)
            a = fmax(a, fmax(fabs(t->x[0]), fabs(t->x[t->n - 1])));
        if (a > e->size[k])
            e->size[k] = a;
    }
}

bool events_mark(events *e, double t, const double *x)
{
    e->any_marked = false;
    if (!look(e, t, x, e->g))
        return false;
    note_sizes(e, e->g);
    for (size_t i = 0; i < e->watched.n; i++) {
        uint32_t k = e->watched.at[i];
        e->marked[k] = margin(e, k, e->g[k]) <= 0;
        e->any_marked |= e->marked[k];
    }
    return true;
}

bool events_margin(events *e, double t, const double *x, double *least)
{
    double low = INFINITY;

    if (!look(e, t, x, e->g))
        return false;
    for (size_t i = 0; i < e->watched.n; i++) {
        uint32_t k = e->watched.at[i];
        double v = margin(e, k, e->g[k]) / (e->size[k] > 0 ? e->size[k] : 1);
        if (v < low)
            low = v;
    }
    *least = low;
    return true;
}

/* Which way g goes from (t, x): its values a short time ahead, by a midpoint step so that a start from rest counts too. */
static bool look_ahead(events *e, double t, const double *x, double part)
{
    double d = part * (e->stop - e->start);

    if (model_rhs(e->model, t, x, e->f) != 0)
        return false;
    for (size_t i = 0; i < e->nx; i++)
        e->x_ahead[i] = x[i] + d / 2 * e->f[i];
    if (model_rhs(e->model, t + d / 2, e->x_ahead, e->f) != 0)
        return false;
    for (size_t i = 0; i < e->nx; i++)
        e->x_ahead[i] = x[i] + d * e->f[i];
    return look(e, t + d, e->x_ahead, e->g_ahead);
}

/* Value of mode k just after g, where g moves to `ahead` next. */
static double right_value(const events *e, uint32_t k, double g, double ahead)
{
    const struct model_mode *m = &e->mode[k];

    switch (m->kind) {
    case MODE_LESS: return g != 0 ? g < 0 : ahead < 0;
    case MODE_LESS_EQUAL: return g != 0 ? g < 0 : ahead <= 0;
    case MODE_EQUAL: return g == 0 && ahead == 0;
    case MODE_PIECE: case MODE_FLOOR: {
        double piece = piece_of(m, g);
        return g == lower_corner(m, piece) && ahead < g ? piece - 1 : piece;
    }
    }
    return 0;
}

static bool at_border(const events *e, uint32_t k, double g)
{
    const struct model_mode *m = &e->mode[k];

    return stepped(m) ? g == lower_corner(m, piece_of(m, g)) : g == 0;
}

static void report_chatter(events *e, uint32_t k, double t)
{
    const struct model_mode *m = &e->mode[k];
    sources *s = model_flat(e->model)->sources;

    diag_error(s, "run-chattering", m->at, "\"%s\" switches to and fro without end at %.6g s", m->text ? m->text : "this condition", t);
    diag_help(s, "Both sides of the condition lead back to it. Let the law change gradually there, for instance by tanh(v/v0) in the place of sign(v).");
}

/* Counts a switching of k; false when there were too many. */
static bool allow(events *e, uint32_t k, double t)
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

static void set_mode(events *e, uint32_t k, double value, double g, double ahead)
{
    e->value[k] = value;
    e->sign[k] = g > 0 || (g == 0 && ahead >= 0) ? 1 : -1;
}

/* Sets watched modes from scratch until they agree with themselves (a condition may depend on what another mode changes). */
static enum events_status settle_right(events *e, double t, const double *x)
{
    bool any = false;

    for (int round = 0; round < ROUNDS; round++) {
        bool changed = false, ahead = false;

        if (!look(e, t, x, e->g))
            return EVENTS_FAILED;
        note_sizes(e, e->g);
        memcpy(e->g_ahead, e->g, e->n * sizeof(double));
        for (size_t i = 0; i < e->watched.n && !ahead; i++)
            ahead = at_border(e, e->watched.at[i], e->g[e->watched.at[i]]);
        if (ahead && !look_ahead(e, t, x, 1e-7))
            memcpy(e->g_ahead, e->g, e->n * sizeof(double));
        for (size_t i = 0; i < e->watched.n; i++) {
            uint32_t k = e->watched.at[i];
            double now = right_value(e, k, e->g[k], e->g_ahead[k]), before = e->value[k];

            if (now != before && round > ROUNDS / 2 && changed)
                continue;            /* one at a time, in case they chase each other */
            set_mode(e, k, now, e->g[k], e->g_ahead[k]);
            changed |= now != before;
            if (now != before && round == ROUNDS - 1) {
                report_chatter(e, k, t);
                return EVENTS_CHATTER;
            }
        }
        any |= changed;
        if (!changed)
            break;
    }
    return any ? EVENTS_SWITCHED : EVENTS_SAME;
}

enum events_status events_start(events *e, double t, const double *x)
{
    e->t = t;
    e->heap.n = 0;
    memset(e->passed, 0, e->n * sizeof *e->passed);
    for (uint32_t k = 0; k < e->n; k++)
        if (e->mode[k].known)
            set_known(e, k, t);
    return e->watched.n ? settle_right(e, t, x) : EVENTS_SAME;
}

/* Switches k away from what it contradicts: by one piece, or to where g is. */
static void flip(events *e, uint32_t k, double g)
{
    const struct model_mode *m = &e->mode[k];

    if (stepped(m)) {
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

/* Switches what clearly contradicts its mode at (t, x), round by round. */
static enum events_status follow(events *e, double t, const double *x)
{
    for (int round = 0;; round++) {
        bool changed = false;

        if (!look(e, t, x, e->g))
            return EVENTS_FAILED;
        note_sizes(e, e->g);
        for (size_t i = 0; i < e->watched.n; i++) {
            uint32_t k = e->watched.at[i];
            if (margin(e, k, e->g[k]) >= -CONTRADICTION * e->size[k])
                continue;
            if (round >= ROUNDS) {
                report_chatter(e, k, t);
                return EVENTS_CHATTER;
            }
            if (changed && round > ROUNDS / 2)
                continue;
            if (!allow(e, k, t))
                return EVENTS_CHATTER;
            flip(e, k, e->g[k]);
            changed = true;
        }
        if (!changed)
            return EVENTS_SWITCHED;
    }
}

enum events_status events_switch(events *e, double t_seen, const double *x_seen, double t, const double *x)
{
    bool any = false;

    e->t = t;
    if (!look(e, t_seen, x_seen, e->g))
        return EVENTS_FAILED;
    for (size_t i = 0; i < e->watched.n; i++) {
        uint32_t k = e->watched.at[i];
        double v = margin(e, k, e->g[k]);
        if (v > 0 || (v == 0 && e->marked[k]))
            continue;
        if (!allow(e, k, t))
            return EVENTS_CHATTER;
        flip(e, k, e->g[k]);
        any = true;
    }
    return any ? follow(e, t, x) : EVENTS_SAME;
}

enum events_status events_due(events *e, double t, const double *x)
{
    bool any = false;

    e->t = t;
    while (e->heap.n && e->heap.at[0].t <= t + tiny(e, t)) {
        struct due d = heap_pop(e);
        any |= set_known(e, d.mode, t);
    }
    if (!any)
        return EVENTS_SAME;
    return e->watched.n ? follow(e, t, x) : EVENTS_SWITCHED;
}

bool events_settle(events *e, double t, const double *x)
{
    bool changed = false;

    for (uint32_t k = 0; k < e->n; k++)
        if (e->mode[k].known)
            changed |= set_known(e, k, t);
    e->heap.n = 0;
    if (!e->watched.n || !look(e, t, x, e->g))
        return changed;
    note_sizes(e, e->g);
    for (size_t i = 0; i < e->watched.n; i++) {
        uint32_t k = e->watched.at[i];
        double before = e->value[k];
        if (e->mode[k].kind != MODE_EQUAL && margin(e, k, e->g[k]) >= -CONTRADICTION * e->size[k])
            continue;                /* fits within rounding: stays */
        set_mode(e, k, right_value(e, k, e->g[k], e->g[k]), e->g[k], e->g[k]);
        changed |= e->value[k] != before;
    }
    return changed;
}
