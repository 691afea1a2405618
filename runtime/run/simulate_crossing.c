/* simulate_crossing.c - the first point in a step at which a condition contradicts its mode */
#include <float.h>
#include <math.h>
#include <string.h>

#include "simulate_inside.h"

/* Accuracy with which a piece of a step follows functions of time alone, relative to their size (pieces.h). The
 * search for conditions needs a few points for each period; for the integral of power Lobatto's rule is far more
 * accurate than the polynomial. */
#define SMOOTH_FOR_EVENTS 0.01
enum { PIECE_PLACES = 4 }; /* of a piece, behind its beginning, that show what happens in it */

/* Where conditions may go through many periods within a step: how far from its beginning their pace is looked at, of
 * the step; how far a relative margin may go from one place to the next; what remains of the pace, which is nothing
 * where a sine has its peak, after a step; and most places of a piece. */
#define PACE_PLACE 1e-6
#define PACE_PART 0.5
#define PACE_FADES 0.9
enum { PACE_MOST = 1 << 16 };

#define DIP_LOOKS 8          /* most evaluations that follow a dip of a margin */
enum { MOST_DOUBTS = 6 };    /* repetitions of a step, */
enum { DOUBTS_IN_ALL = 60 }; /* and within DOUBTED of the run */
#define DOUBTED 1e-6
#define DOUBTFUL_DEPTH 1e-3 /* of it: a greater one is no error of the interpolation */

/* Rates jump if across any part of the step they differ by more than this share of their difference over the whole
 * step, also after so many halvings. A block's solution may end with an infinite slope on its branch, whose change
 * falls by the root of 2 with each halving. */
enum { SMOOTH_HALVINGS = 10 };
#define SMOOTH_LEAP 0.1
#define MATTERS 0.1 /* of the tolerance: a smaller effect of the rates on the step is no jump */

enum { CLOSER = 200 }; /* greatest number of evaluations to locate a switching */
/* of a run: how far ahead a condition that is zero now is looked at, from rounding on, until it shows its side */
#define EDGE_FIRST 1e-15
#define EDGE_LAST 1e-6
/* Times that are nearer to each other are one instant: an integrated quantity meets its threshold, or a known time, by
 * rounding only. Of a run, but no more than a part of a step. */
#define ONE_INSTANT 1e-12
#define PART_OF_STEP 1e-3
#define BY_ROUNDING 1e-9 /* of a condition's size: a greater margin is not passed within one instant */
/* of the distance between the last two estimates: how far beside the second the next evaluation is */
#define ASIDE 1e-3

/* Margin at t of the last step, its state in x_probe. */
static bool
margin_at(run *s, double t, double *m)
{
    return integrator_dense(s->integrator, t, s->x_probe) && events_margin(s->events, t, s->x_probe, m);
}

/* The same with what is fast where its rate says: what a switching is located by. */
static bool
settled_margin(run *s, double t, double *m)
{
    return integrator_dense_settled(s->integrator, t, s->x_probe) && events_margin(s->events, t, s->x_probe, m);
}

/* Margin at the start of the last step; usually known from the end of the one before. */
static bool
look_at_start(run *s, struct look *at)
{
    double t0 = integrator_t0(s->integrator);

    if (s->looked.t == t0 && events_trail_end(s->events) == t0) {
        *at = s->looked;
        return true;
    }
    at->t = t0;
    if (!margin_at(s, t0, &at->m))
        return false;
    events_trail(s->events, t0, true);
    return true;
}

/* Follows a dip of a mode's margin to its lowest point. True: a contradiction, *at. */
static bool
goes_below(run *s, struct dip d, struct look *at)
{
    for (int k = 0; k < DIP_LOOKS && events_dip_lowest(&d, &at->t); k++) {
        double own;
        bool left = at->t < d.t[1];
        int to;

        if (!margin_at(s, at->t, &at->m))
            return false;
        if (at->m < -DIP_DEPTH)
            return true;
        own = events_relative_margin(s->events, d.mode);
        if (!(own > 0))
            return false; /* it only touches zero */
        /* the three around the lowest so far */
        to = own < d.margin[1] ? 1 : left ? 0 : 2;
        if (to == 1) {
            d.t[left ? 2 : 0] = d.t[1];
            d.margin[left ? 2 : 0] = d.margin[1];
        }
        d.t[to] = at->t;
        d.margin[to] = own;
    }
    return false;
}

/* Does a margin go below zero between the last three places and come back? *at: there, of the first that does. */
static bool
margins_dip(run *s, struct look *at)
{
    bool below = false;
    struct dip d;

    for (size_t from = 0; events_next_dip(s->events, &from, &d);) {
        struct look lowest;

        if (!goes_below(s, d, &lowest) || (below && lowest.t >= at->t))
            continue;
        below = true;
        *at = lowest;
    }
    return below;
}

/* What contradicts its mode at last[2] need not be the first to do so: another margin may have dipped below zero
 * before. seen: places of the step so far; end: of its piece, which shows how margins go on where only two are known.
 */
static void
look_before(run *s, const struct look last[3], size_t seen, double end, struct look *before, struct look *at)
{
    struct look dip, farther = { end, 0 };

    if (!events_watches_several(s->events))
        return;
    if (seen == 2) {
        if (s->blocks || s->curved || !(end > last[2].t) || !margin_at(s, end, &farther.m))
            return; /* behind a contradiction blocks may have no solution */
        events_trail(s->events, end, false);
    }
    if (margins_dip(s, &dip) && dip.t < last[2].t) {
        *at = dip;
        *before = dip.t > last[1].t ? last[1] : last[0];
    }
}

/* Blocks or curved nets have a solution at `from`, but at `to` none, or one of another branch behind a fold. Before
 * the fold a condition may contradict its mode, because its law continues beyond its border. True: *at is the first
 * known contradiction, *before an evaluation before it; else both are the last point on this branch, and *behind is
 * a point just behind it. */
static bool
follow_margin(run *s, struct look from, double to, struct look *before, struct look *at, double *behind)
{
    *before = *at = from;
    while (to - at->t > run_tiny(s, at->t)) {
        struct look middle = { at->t + (to - at->t) / 2, 0 };

        if (!margin_at(s, middle.t, &middle.m) || model_left_branch(s->model)) {
            to = middle.t;
            continue;
        }
        *before = *at;
        *at = middle;
        if (at->m < 0)
            return true;
    }
    *behind = to;
    return false;
}

/* Sets the pace at which conditions move at the beginning of the last step. */
static void
find_pace(run *s)
{
    double t0 = integrator_t0(s->integrator), at = t0 + PACE_PLACE * (integrator_t1(s->integrator) - t0), m;

    s->pace *= PACE_FADES;
    if (at > t0 && margin_at(s, at, &m))
        s->pace = fmax(s->pace, events_pace(s->events, model_waving(s->model), at));
}

/* The number of places of a piece so long, that show what its conditions do. */
static int
number_of_places(const run *s, double length)
{
    /* What sticks lets go on both sides: half a swing from one to the other shows only its ends as near to them. */
    int least = s->pieces && s->places < PIECE_PLACES && events_sticking(s->events) ? PIECE_PLACES : s->places;

    return s->waves ? (int)fmin(PACE_MOST, fmax(least, ceil(length * s->pace / PACE_PART))) : least;
}

/* May one more step be repeated? */
static bool
may_doubt(run *s)
{
    double t0 = integrator_t0(s->integrator);

    if (!(t0 - s->doubted_from <= DOUBTED * (s->stop - s->start))) {
        s->doubted_from = t0;
        s->doubted = 0;
    }
    return s->doubts < MOST_DOUBTS && s->doubted++ < DOUBTS_IN_ALL;
}

/* The first known point at which a condition contradicts its mode in the last step. Evaluates the middle and the end,
 * or the places of its pieces (pieces.h), and dips of the margin between. *before: the evaluation before it. *cut:
 * there is no contradiction, but the present branch of the solution of blocks or curved nets ends here. *third: an
 * evaluation before these, or none. */
static bool
find_contradiction(run *s, struct look *third, struct look *before, struct look *at, bool *found, bool *cut,
                   double *behind, bool *doubtful)
{
    double t0 = integrator_t0(s->integrator), t1 = integrator_t1(s->integrator), end = t1;
    size_t seen = 1;
    int part = 0, parts = 2; /* of the piece: evaluated so far, and in all */
    struct look last[3] = { { NAN, NAN }, { NAN, NAN }, { NAN, NAN } };

    *found = *cut = *doubtful = false;
    *third = last[0];
    if (!look_at_start(s, &last[2]))
        return false;
    if (s->waves)
        find_pace(s);
    if (s->pieces)
        pieces_begin(s->pieces, t0, t1, SMOOTH_FOR_EVENTS);
    while (t0 < t1) { /* piece by piece, since the first switching may be near and the step long */
        if (part == 0 && s->pieces)
            end = pieces_next(s->pieces);
        if (part == 0)
            parts = number_of_places(s, end - t0);
        part++;

        bool at_end = part == parts;
        struct look next = { at_end ? end : t0 + (end - t0) * part / parts, 0 };

        if (at_end) {
            part = 0;
            t0 = end;
        }
        bool looked = margin_at(s, next.t, &next.m);

        if (!looked && !at_end)
            continue; /* the evaluation at the end decides */
        /* without blocks the unknowns of ideal switches may have no solution */
        if (!looked || (s->blocks && model_left_branch(s->model))) {
            *found = follow_margin(s, last[2], next.t, before, at, behind);
            *cut = (s->blocks || s->curved) && !*found && at->t > last[2].t;
            if (*found || *cut)
                return true;
            looked = looked && margin_at(s, next.t, &next.m); /* it was looked elsewhere */
        }
        if (!looked)
            return false;
        events_trail(s->events, next.t, false);
        last[0] = last[1];
        last[1] = last[2];
        last[2] = next;
        seen++;
        *third = last[0];
        *before = last[1];
        if (next.m < 0 && !at_end && !settled_margin(s, next.t, &next.m))
            return false;
        last[2] = *at = next;
        *found = next.m < 0;
        if (*found && !at_end && next.m > -DOUBTFUL_DEPTH && integrator_implicit(s->integrator) && may_doubt(s) &&
            events_doubtful(s->events, next.t, s->x_probe)) {
            *found = false;
            *doubtful = true;
            return true;
        }
        if (*found)
            look_before(s, last, seen, end, before, at);
        else if (seen > 2 && margins_dip(s, at)) {
            *found = true;
            *before = at->t > last[1].t ? last[1] : last[0];
            *third = at->t > last[1].t ? last[0] : last[1];
        }
        if (*found)
            return true;
    }
    s->looked = last[2];
    return true; /* exactly zero belongs to the next step */
}

/* The zero of a margin known at three points, by inverse interpolation; the third may be missing (NAN). */
static double
margin_zero(struct look lo, struct look hi, struct look third)
{
    double b = hi.t - lo.t, c = third.t - lo.t, line = lo.t + b * lo.m / (lo.m - hi.m),
           curve = lo.t + b * lo.m * third.m / ((hi.m - lo.m) * (hi.m - third.m)) +
                   c * lo.m * hi.m / ((third.m - lo.m) * (third.m - hi.m));

    return curve > lo.t && curve < hi.t ? curve : line;
}

/* Between a place where no condition contradicts its mode and one where some does: where that begins, to the last bit
 * of time or to rounding of the step. Nothing that switches there is farther behind its border than it must be;
 * otherwise it would cross the border again on the way back. Each evaluation is a little aside of where the zero of the
 * margin is expected, towards the end that is farther from it, so that both ends close in on it. The margin is the
 * least of those of many conditions and may have corners or jumps: if two evaluations have not halved the interval, the
 * third does. *third: another known place, or none. *t: the first place known where a condition contradicts. */
static bool
close_in(run *s, struct look lo, struct look hi, struct look third, double *t)
{
    double thought = NAN, halved = hi.t - lo.t, step = integrator_t1(s->integrator) - integrator_t0(s->integrator);
    int slow = 0;

    for (int k = 0; k < CLOSER && hi.m < 0; k++) {
        double rounding = DBL_EPSILON * fmax(fabs(lo.t), fabs(hi.t)), zero = margin_zero(lo, hi, third),
               aside = fmax(ASIDE * fabs(zero - thought), rounding / 2);
        struct look at = { isnan(thought) ? zero : hi.t - zero > zero - lo.t ? zero + aside : zero - aside, 0 };

        if (!(hi.t - lo.t > 2 * fmin(rounding, DBL_EPSILON * step)))
            break;
        if (slow == 2 || !(at.t > lo.t && at.t < hi.t))
            at.t = lo.t + (hi.t - lo.t) / 2;
        if (at.t <= lo.t || at.t >= hi.t)
            break;
        if (!settled_margin(s, at.t, &at.m))
            return false;
        thought = zero;
        third = at.m <= 0 ? hi : lo;
        *(at.m <= 0 ? &hi : &lo) = at;
        if (hi.t - lo.t > halved / 2) {
            slow++;
        } else {
            halved = hi.t - lo.t;
            slow = 0;
        }
    }
    *t = hi.t;
    return true;
}

/* Rates at t of the last step. False: they cannot be evaluated. */
static bool
rates_at(run *s, double t, double *f)
{
    return integrator_dense(s->integrator, t, s->x_probe) && model_rhs(s->model, t, s->x_probe, f) == 0;
}

/* How far two rates move the states apart during the last step, in tolerances. */
static double
apart(run *s, const double *a, const double *b)
{
    for (size_t i = 0; i < s->nx; i++)
        s->x_probe[i] = a[i] - b[i];
    return integrator_moves(s->integrator, s->x_probe, integrator_t1(s->integrator) - integrator_t0(s->integrator));
}

bool
run_find_fold(run *s, struct crossing *c)
{
    double *from = s->inner[0], *to = s->inner[1], *middle = s->inner[2], t0 = integrator_t0(s->integrator), lo = t0,
           hi = integrator_t1(s->integrator), whole, leap;

    if (!rates_at(s, lo, from) || !rates_at(s, hi, to))
        return true;
    whole = leap = apart(s, from, to);
    if (!(whole > MATTERS))
        return false;
    for (int k = 0; hi - lo > run_tiny(s, lo); k++) {
        double t = lo + (hi - lo) / 2, before, behind;

        if (!rates_at(s, t, middle))
            return true;
        before = apart(s, from, middle);
        behind = apart(s, middle, to);
        leap = fmax(before, behind);
        if (!(leap > MATTERS) || (k >= SMOOTH_HALVINGS && !(leap > SMOOTH_LEAP * whole)))
            return true;
        if (before > behind) {
            hi = t;
            memcpy(to, middle, s->nx * sizeof *to);
        } else {
            lo = t;
            memcpy(from, middle, s->nx * sizeof *from);
        }
    }
    c->cut = c->found = lo > t0 && integrator_dense(s->integrator, lo, s->x_probe);
    c->t = c->t_seen = lo;
    return true;
}

/* Rates a time d on from the present point, along the rates f there; the states are then in x_probe. */
static bool
rates_along(run *s, const double *f, double d, double *to)
{
    for (size_t i = 0; i < s->nx; i++)
        s->x_probe[i] = s->x[i] + d * f[i];
    return model_rhs(s->model, s->t + d, s->x_probe, to) == 0;
}

/* Do the rates jump between times lo and hi after the present point, as in run_find_fold? By an amount that matters
 * within the run, since where all is at rest rounding jumps too. */
static bool
leaps_between(run *s, const double *f, double lo, double hi)
{
    double *from = s->inner[1], *to = s->inner[2], *middle = bg_malloc((s->nx + 1) * sizeof *middle), whole, leap;
    bool known = rates_along(s, f, lo, from) && rates_along(s, f, hi, to);

    whole = leap = known ? apart(s, from, to) : 0;
    known = whole * (s->stop - s->start) > integrator_t1(s->integrator) - integrator_t0(s->integrator);
    for (int k = 0; k < SMOOTH_HALVINGS && known; k++) {
        double at = lo + (hi - lo) / 2, before, behind;

        known = rates_along(s, f, at, middle);
        before = known ? apart(s, from, middle) : 0;
        behind = known ? apart(s, middle, to) : 0;
        leap = fmax(before, behind);
        *(before > behind ? &hi : &lo) = at;
        memcpy(before > behind ? to : from, middle, s->nx * sizeof *to);
    }
    free(middle);
    return known && leap > SMOOTH_LEAP * whole;
}

bool
run_fold_ahead(run *s, double most, double *at)
{
    double *f = s->inner[0], *behind = s->inner[1], before = 0;

    if (!s->nx || model_rhs(s->model, s->t, s->x, f) != 0)
        return false;
    for (double d = run_tiny(s, s->t); s->t + d < s->stop && d <= most; d *= 2) {
        if (s->blocks)
            model_follow_branch(s->model);
        *at = d;
        if (!rates_along(s, f, d, behind))
            return true;
        if (s->blocks && model_leapt(s->model))
            return leaps_between(s, f, before, d);
        before = d;
    }
    return false;
}

bool
run_pass_fold(run *s)
{
    double *f = s->inner[0], d;

    if (!s->nx || model_rhs(s->model, s->t, s->x, f) != 0 ||
        !run_fold_ahead(s, 1 / integrator_moves(s->integrator, f, 1), &d))
        return false;
    for (size_t i = 0; i < s->nx; i++)
        s->x[i] += d * f[i];
    s->t += d;
    return true;
}

static double
one_instant(const run *s)
{
    double step = integrator_t1(s->integrator) - integrator_t0(s->integrator); /* a rest, where a known time cut it */

    return fmin(ONE_INSTANT * (s->stop - s->start), PART_OF_STEP * fmax(step, integrator_next(s->integrator)));
}

static bool
ends_at_known_time(const run *s)
{
    double t1 = integrator_t1(s->integrator);

    return fmin(events_next(s->events), delays_next(s->delays)) <= t1 + run_tiny(s, t1);
}

bool
run_find_crossing(run *s, struct crossing *c)
{
    double t0 = integrator_t0(s->integrator), hi, at_hi, lo, at_lo;
    struct look before = { 0 }, at, third;

    if (!find_contradiction(s, &third, &before, &at, &c->found, &c->cut, &c->t_seen, &c->doubtful))
        return false;
    if (c->doubtful) {
        c->t = at.t;
        return true;
    }
    if (c->cut) {
        c->found = true;
        c->t = at.t;
        return settled_margin(s, at.t, &at.m);
    }
    if (!c->found)
        return true;
    lo = before.t;
    hi = at.t;
    at_hi = at.m;
    at_lo = before.m;
    if (!events_mark(s->events, t0, integrator_x0(s->integrator)))
        return false;
    /* settled, and without conditions that were at their border */
    if ((at_lo <= 0 || lo > t0) && !settled_margin(s, lo, &at_lo))
        return false;
    if (at_lo <= 0 && lo > t0) {
        hi = lo;
        at_hi = at_lo;
        lo = t0;
        if (!settled_margin(s, lo, &at_lo))
            return false;
    }
    if (at_lo <= 0) {
        /* It has just switched and is back at zero: was it positive in between? */
        double part = hi - t0, seen = hi; /* the first known point of a clear contradiction */
        bool above = false;
        while (part > run_tiny(s, t0)) {
            part /= 2;
            lo = t0 + part;
            if (!settled_margin(s, lo, &at_lo))
                return false;
            above = at_lo > 0;
            if (above)
                break;
            hi = lo;
            at_hi = at_lo;
            if (at_lo < 0)
                seen = lo;
        }
        if (!above) {
            c->at_start = true;
            c->t = t0;
            c->t_seen = seen;
            return settled_margin(s, seen, &at_lo);
        }
    }
    if (!close_in(s, (struct look){ lo, at_lo }, (struct look){ hi, at_hi }, third, &hi))
        return false;
    if (ends_at_known_time(s) && integrator_t1(s->integrator) - hi <= one_instant(s))
        hi = integrator_t1(s->integrator);
    c->at_start = false;
    c->t = c->t_seen = hi;
    return settled_margin(s, hi, &at_hi);
}

/* Does a condition contradict its mode, by rounding only, at the end of the instant that begins at the present point?
 * *t and x_probe: there. */
static bool
turns_within_instant(run *s, double *t)
{
    double *f = s->inner[2], d = one_instant(s), m;

    *t = s->t + d;
    if (!s->nx || model_rhs(s->model, s->t, s->x, f) != 0)
        return false;
    for (size_t i = 0; i < s->nx; i++)
        s->x_probe[i] = s->x[i] + d * f[i];
    return events_margin(s->events, *t, s->x_probe, &m) && m < 0 && m > -BY_ROUNDING;
}

void
run_see_instant(run *s, struct crossing *c, double *seen)
{
    double t;

    if (model_nwhens(s->model) < 2 || !events_watches_several(s->events) || !turns_within_instant(s, &t))
        return;
    c->t_seen = t;
    memcpy(seen, s->x_probe, s->nx * sizeof *seen);
}

enum events_status
run_switch_at_known(run *s)
{
    double t;

    if (!(s->looked.t == s->t && fabs(s->looked.m) < BY_ROUNDING) || !ends_at_known_time(s) ||
        !turns_within_instant(s, &t) || !events_mark(s->events, s->t, s->x))
        return EVENTS_SAME;
    return events_switch(s->events, t, s->x_probe, s->t, s->x);
}

enum events_status
run_switch_at_edge(run *s)
{
    double *f = s->inner[0];

    if (!s->nx || !events_watched(s->events) || model_rhs(s->model, s->t, s->x, f) != 0 ||
        !events_mark(s->events, s->t, s->x))
        return EVENTS_SAME;
    for (double part = EDGE_FIRST; part < EDGE_LAST; part *= 10) {
        double d = part * (s->stop - s->start), m;

        for (size_t i = 0; i < s->nx; i++)
            s->x_probe[i] = s->x[i] + d * f[i];
        if (s->t + d < s->stop && events_margin(s->events, s->t + d, s->x_probe, &m) && m < 0) {
            s->t += d;
            memcpy(s->x, s->x_probe, s->nx * sizeof(double));
            return events_switch(s->events, s->t, s->x_probe, s->t, s->x);
        }
    }
    return EVENTS_SAME;
}
