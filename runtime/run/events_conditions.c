/* events_conditions.c - conditions: their margins, the way they move, and chattering */
#include <math.h>
#include <string.h>

#include "events_inside.h"
#include "vectors.h"

#define NOISE 1e-13     /* of a condition's size: rounding error that an x which sticks leaves in it */
#define BELOW_ZERO 1e-5 /* of its size: a number under a root may be negative by this, the integrator's error */
/* of the rate: a look ahead over which a rate changes by more is beyond the fastest time constant */
#define AHEAD_CHANGE 0.5
#define AHEAD_SHORTER 12 /* such a look ahead is made shorter by a factor of ten, so many times at most */

enum { FEW = 8 }; /* below this number of conditions a plain loop is faster than one of vectors */

/* Is g under a root, and negative by more than rounding and the integrator's error? */
static bool
outside(const events *e, uint32_t k, double g)
{
    return e->mode[k].kind == MODE_DOMAIN && g < -BELOW_ZERO * e->size[k];
}

static bool
few_finite(size_t n, const double *g)
{
    double all = 0;

    for (size_t i = 0; i < n; i++)
        all += g[i] * 0;
    return all == 0;
}

/* events_look, whatever the numbers under roots are. A sign that sticks need not be finite: then nothing holds it. */
static bool
look_beyond(events *e, double t, const double *x, double *g)
{
    if (!events_conditions(e, t, x, g))
        return false;
    if (!e->nladders && (e->n < FEW ? few_finite(e->n, g) : vec_finite(e->n, g)))
        return true;
    for (size_t i = 0; i < e->near.n; i++)
        if (!isfinite(g[e->near.at[i]]) && e->mode[e->near.at[i]].kind != MODE_STICK)
            return false;
    return true;
}

static bool
roots_exist(const events *e, const double *g)
{
    for (size_t i = 0; i < e->near.n && e->any_domain; i++)
        if (outside(e, e->near.at[i], g[e->near.at[i]]))
            return false;
    return true;
}

bool
events_look(events *e, double t, const double *x, double *g)
{
    return look_beyond(e, t, x, g) && roots_exist(e, g);
}

bool
events_sticks(const events *e, uint32_t k)
{
    return e->value[e->mode[k].partner] != 0;
}

bool
events_stepped(const struct model_mode *m)
{
    return m->kind == MODE_PIECE || m->kind == MODE_FLOOR;
}

double
events_lower_corner(const struct model_mode *m, double piece)
{
    if (m->kind == MODE_FLOOR)
        return piece;
    return piece > 0 ? m->table->x[(size_t)piece - 1] : -INFINITY;
}

double
events_upper_corner(const struct model_mode *m, double piece)
{
    if (m->kind == MODE_FLOOR)
        return piece + 1;
    return piece < (double)m->table->n ? m->table->x[(size_t)piece] : INFINITY;
}

double
events_piece_of(const struct model_mode *m, double g)
{
    return m->kind == MODE_FLOOR ? floor(g) : ex_table_piece(m->table, g);
}

double
events_margin_other(const events *e, uint32_t k, double g)
{
    const struct model_mode *m = &e->mode[k];

    if (events_stepped(m))
        return fmin(g - events_lower_corner(m, e->value[k]), events_upper_corner(m, e->value[k]) - g);
    if (m->side != 0 && events_sticks(e, k))
        return INFINITY;
    if (m->kind == MODE_DOMAIN)
        return INFINITY;
    if (m->kind == MODE_EQUAL)
        return e->value[k] != 0 ? -fabs(g) : e->sign[k] * g;
    if (m->kind == MODE_SIGN)
        return events_sticks(e, k) || e->follows[k] ? INFINITY : e->value[k] != 0 ? e->value[k] * g : -fabs(g);
    if (m->kind == MODE_STICK)
        return e->value[k] == 0 ? INFINITY : isfinite(g) ? 1 - fabs(g) : -INFINITY;
    return e->value[k] != 0 ? -g : g;
}

bool
events_rests(events *e, uint32_t k, double t, const double *x, double g)
{
    if (fabs(g) > e->quiet[k]) {
        double noise = model_condition_noise(e->model, k, t, x);

        if (!(fabs(g) > noise))
            e->quiet[k] = LOUDER * fmax(fabs(g), noise);
    }
    return fabs(g) <= e->quiet[k];
}

static double
size_of_other(const events *e, uint32_t k, double g)
{
    const ex_table *t = e->mode[k].kind == MODE_PIECE ? e->mode[k].table : NULL;
    double a = e->mode[k].kind == MODE_STICK ? 1 : fmax(fabs(g), e->mode[k].kind == MODE_FLOOR);

    return t && t->n > 0 ? fmax(a, fmax(fabs(t->x[0]), fabs(t->x[t->n - 1]))) : a;
}

/* The condition of an ideal switch is a flow in one mode and an effort in the other, each with a size of its own. */
static void
change_sizes(events *e)
{
    for (size_t i = 0; i < e->near.n; i++) {
        uint32_t k = e->near.at[i];
        double size = e->size[k];

        if (!e->of_net[k] || e->value[k] == e->sized[k])
            continue;
        e->sized[k] = e->value[k];
        e->size[k] = e->size_other[k];
        e->size_other[k] = size;
    }
}

void
events_note_sizes(events *e, const double *g)
{
    events_note_quantities(e);
    if (e->nets)
        change_sizes(e);
    for (size_t i = 0; i < e->near.n; i++) {
        uint32_t k = e->near.at[i];
        double a = e->plain[k] ? fabs(g[k]) : size_of_other(e, k, g[k]);

        if (a > e->size[k])
            e->size[k] = a;
    }
}

bool
events_mark(events *e, double t, const double *x)
{
    if (!events_look(e, t, x, e->g))
        return false;
    events_note_sizes(e, e->g);
    for (size_t i = 0; i < e->near.n; i++) {
        uint32_t k = e->near.at[i];
        e->marked[k] = events_margin_of(e, k, e->g[k]) <= 0;
    }
    return true;
}

/* The least margin relative to the size of its condition. noise is added to each. Most of a thousand conditions are
 * farther from zero than the least one so far, which the first test in the loop finds out without a division. */
static double
least_margin(events *e, double noise)
{
    const uint32_t *at = e->near.at;
    const double *g = e->g, *value = e->value, *size = e->size;
    const bool *plain = e->plain, *noted = e->noted;
    double low = INFINITY;

    e->drift = 0;
    for (size_t i = 0; i < e->near.n; i++) {
        uint32_t k = at[i];
        double usual = size[k], v;

        if (plain[k] && !noted[k] && (value[k] != 0 ? -g[k] : g[k]) >= low * usual)
            continue;
        usual = usual > 0 ? usual : 1;
        v = events_margin_of(e, k, g[k]);
        if (noted[k])
            e->most[k] = fmax(e->most[k], fabs(g[k]));
        if ((e->quiet[k] > 0 && fabs(v) <= e->quiet[k]) || (v < 0 && v > -NOTHING * usual))
            continue;
        if (v / usual + noise < low && (v != 0 || !e->marked[k])) /* zero since the step began: no switching */
            low = v / usual + noise;
        if (e->mode[k].kind == MODE_SIGN && events_sticks(e, k))
            e->drift = fmax(e->drift, fabs(g[k]) / usual);
    }
    return low;
}

double
events_relative_margin(const events *e, uint32_t k)
{
    double m = events_margin_of(e, k, e->g[k]);

    return e->quiet[k] > 0 && fabs(m) <= e->quiet[k] ? NAN : m / (e->size[k] > 0 ? e->size[k] : 1);
}

bool
events_sticking(const events *e)
{
    for (size_t i = 0; i < e->near.n && e->any_sign; i++)
        if (e->mode[e->near.at[i]].kind == MODE_STICK && e->value[e->near.at[i]] != 0)
            return true;
    return false;
}

bool
events_margin(events *e, double t, const double *x, double *least)
{
    if (!look_beyond(e, t, x, e->g))
        return false;
    *least = least_margin(e, events_sticking(e) ? NOISE : 0);
    events_rest_far(e);
    return *least < 0 || roots_exist(e, e->g); /* a switching before may avoid the branch with the root */
}

bool
events_drifted(const events *e, double part)
{
    return e->drift > part;
}

/* Has a rate changed by so much that a look ahead between e->f and e->f_half is too long for it? least: a rate below
 * this moves nothing; of what rests it is rounding, and of what starts from rest it cannot be compared. */
static bool
bends(double before, double after, double least)
{
    double most = fmax(fabs(before), fabs(after));

    return before != 0 && !(most <= least) && !(fabs(after - before) <= AHEAD_CHANGE * most);
}

bool
events_ahead_of(events *e, double t, const double *x, double *d)
{
    bool straight = false;
    double *tolerance = e->x_try;

    *d = AHEAD * (e->stop - e->start);
    if (model_rhs(e->model, t, x, e->f) != 0)
        return false;
    memset(tolerance, 0, e->nx * sizeof *tolerance);
    if (e->tolerated && e->nx)
        e->tolerated(e->moves_ctx, tolerance);
    for (int k = 0; k < AHEAD_SHORTER && !straight; k++) {
        *d /= k > 0 ? 10 : 1;
        for (size_t i = 0; i < e->nx; i++)
            e->x_ahead[i] = x[i] + *d / 2 * e->f[i];
        straight = model_rhs(e->model, t + *d / 2, e->x_ahead, e->f_half) == 0;
        for (size_t i = 0; i < e->nx && straight; i++)
            straight = !bends(e->f[i], e->f_half[i], MOVES_NOTHING * tolerance[i] / (e->stop - e->start));
    }
    return model_rhs(e->model, t + *d / 2, e->x_ahead, e->f_half) == 0;
}

bool
events_look_ahead(events *e, double t, const double *x, double *d)
{
    if (!events_ahead_of(e, t, x, d))
        return false;
    for (size_t i = 0; i < e->nx; i++)
        e->x_ahead[i] = x[i] + *d * e->f_half[i];
    return events_look(e, t + *d, e->x_ahead, e->g_ahead);
}

bool
events_look_aside(events *e, double t, const double *x)
{
    double d;

    if (!events_look_ahead(e, t, x, &d) || !events_conditions(e, t, x, e->g_try))
        return false;
    for (size_t i = 0; i < e->nx; i++)
        e->x_ahead[i] = x[i] + d * e->f[i];
    if (!events_look(e, t + d, e->x_ahead, e->g_aside))
        return false;
    for (size_t i = 0; i < e->near.n; i++) {
        uint32_t k = e->near.at[i];
        double change = e->g_aside[k] - e->g_try[k];
        e->g_ahead[k] = e->g[k] + (change != 0 ? change : e->g_ahead[k] - e->g_try[k]);
        if (fabs(e->g_ahead[k]) <= NOISE * e->size[k])
            e->g_ahead[k] = 0;
    }
    return true;
}

double
events_right_value_other(const events *e, uint32_t k, double g, double ahead, bool resting)
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
        double piece = events_piece_of(m, g);
        return g == events_lower_corner(m, piece) && ahead < g ? piece - 1 : piece;
    }
    }
    return 0;
}

bool
events_at_border_other(const events *e, uint32_t k, double g)
{
    const struct model_mode *m = &e->mode[k];

    if (m->kind == MODE_SIGN || m->kind == MODE_STICK || m->kind == MODE_DOMAIN)
        return false; /* events_settle_sign decides these, and roots have no border */
    return events_stepped(m) ? g == events_lower_corner(m, events_piece_of(m, g)) : g == 0;
}

bool
events_jumped_onto_other(const events *e, uint32_t k, double g)
{
    return !e->of_net[k] && events_margin_of(e, k, g) == 0 && e->mode[k].kind != MODE_SIGN &&
           fabs(g - e->g_before[k]) > CONTRADICTION * e->size[k];
}

void
events_report_chatter(events *e, uint32_t k, double t)
{
    const struct model_mode *m = &e->mode[k];
    sources *s = model_sources(e->model);

    diag_error(s, "run-chattering", m->at, "\"%s\" switches back and forth without end at %.6g s",
               m->text ? m->text : "this condition", t);
    if (m->kind == MODE_SIGN || m->kind == MODE_STICK)
        diag_help(s, "Neither sign, nor any value between, is consistent with the motion that follows from it. Make "
                     "the law continuous there, for instance with tanh(v/v0) instead of sign(v).");
    else
        diag_help(s, "Both sides of the condition lead back to it, and no value between its branches keeps it there. "
                     "Make the law continuous there, for instance with tanh(v/v0), or give it two thresholds: signal "
                     "on = 1; when T > 22 [degC] { on = 0; } when T < 20 [degC] { on = 1; }");
}

bool
events_allow(events *e, uint32_t k, double t)
{
    if (!(t - e->since[k] <= CHATTER_SPAN * (e->stop - e->start))) {
        e->since[k] = t;
        e->count[k] = 0;
    }
    e->noted[k] = e->mode[k].corner || e->count[k] >= CHATTERS ||
                  (e->of_net[k] && t - e->turned_at[k] < SOON_AGAIN * (e->stop - e->start));
    e->turned_at[k] = t;
    if (++e->count[k] <= (e->of_net[k] ? CHATTER_NETS : 1) * CHATTER_MOST)
        return true;
    events_report_chatter(e, k, t);
    return false;
}

void
events_set_mode(events *e, uint32_t k, double value, double g, double ahead)
{
    e->value[k] = value;
    e->sign[k] = g > 0 || (g == 0 && ahead >= 0) ? 1 : -1;
}
