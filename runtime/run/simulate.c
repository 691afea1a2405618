/* simulate.c - the driver: steps, switchings, windows, the grid, and what is said when a run fails; see simulate.h
 *
 * Each pass of the main loop makes one step, which ends at the next known time (switching, border of a window, stop) at
 * the latest. A watched condition that contradicts its mode at the end or in the middle of the step cuts it at the
 * crossing, found on the dense output. What remains of the step is smooth: its activities and grid points are taken
 * with the modes as they were, then the modes switch and the integrator sets out anew.
 */
#include "simulate.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "activity.h"
#include "delays.h"
#include "events.h"
#include "integrator.h"
#include "pieces.h"
#include "quartic.h"
#include "reach.h"
#include "variational.h"
#include "vectors.h"
#include "watch.h"

#define DEFAULT_RTOL 1e-6
#define DEFAULT_STEPS 50000000
/* How well a piece of a step follows what depends on time alone, in parts of its size (pieces.h): where conditions are
 * looked for, a few looks a period; where power is integrated, Lobatto's rule does far better than the polynomial. */
#define SMOOTH_FOR_EVENTS 0.01
#define SMOOTH_FOR_ACTIVITY 1e-5
/* A dip of a margin between looks is followed while its parabola comes below this part of the lowest, so many looks at
 * most. */
#define DIP_SHARE 0.3
#define DIP_LOOKS 8
#define DIP_DEPTH 1e-7 /* in parts of the condition's size: less may be the integrator's error */
#define MOST_JUMP \
    1e-4 /* of a state's greatest size: what a switching may move it to meet a constraint, for the integrator's errors \
          */
#define PROGRESS_EVERY 256     /* steps */
#define SWITCHINGS_TOLD 200000 /* after so many it is asked whether the run will ever end */
#define STIFF_EVERY 16384      /* steps after which it is asked whether the explicit method is the right one */
#define STIFF_STEPS 1e7        /* that it may need to the end, where nobody allowed a number */
#define LIMIT_EVERY 16         /* steps, or pieces of them, between looks at the clock */

typedef struct run {
    bg_model *model;
    const sim_options *o;
    sim_result *r;
    sources *sources;
    size_t nx, ny, ne;
    double start, stop, t, rtol;
    size_t max_steps;
    integrator *integrator;
    events *events;
    activity *activity;
    struct look {
        double t, m;
    } looked;       /* the margin at the end of the last step, while no mode has changed */
    pieces *pieces; /* NULL: steps are looked at as they are */
    reach *reach;   /* NULL: nothing happens that depends on time alone */
    bool blocks;
    double *x, *x_probe, *inner[3]; /* present state; scratch; states inside a step */
    double *x_first;                /* the state that the first step set out from */
    double *x_most;     /* greatest magnitude of each state so far, in a model with constraints; else NULL */
    VEC(double) border; /* of the union of windows: from, to, from, to, ... ascending */
    size_t next_border;
    bool inside; /* of a window */
    size_t grid; /* next grid point */
    size_t station;
    VEC(double) event;
    bool bent;    /* it is only that delayed values bend here */
    bool resumes; /* what happened at the present time left the equations as they were */
    bool ended;
    double ended_at;                 /* by `stop when` */
    double piece_from, *piece_begin; /* for delays: where the piece at hand begins, and its state there */
    double *x_before, *modes_before; /* for a follower: where the last piece ended, and its modes */
    delays *delays;                  /* NULL: the model has none */
    const sim_follower *follow;      /* the options', or the audit */
    sim_follower audited;
    audit *audit;
    watch *watch;
    struct timespec began;
    size_t unlooked; /* steps and pieces since the last look at the clock */
} run;

static double
tiny(const run *s, double t)
{
    return 8 * DBL_EPSILON * fmax(fabs(t), s->stop - s->start);
}

/* ---- windows ---- */

typedef struct interval {
    double from, to;
} interval;

static int
by_begin(const void *a, const void *b)
{
    const interval *x = a, *y = b;

    return (x->from > y->from) - (x->from < y->from);
}

static void
join_windows(run *s)
{
    const sim_options *o = s->o;

    if (!o->activity)
        return;
    VEC(interval) w = { 0 };
    for (size_t i = 0; i < o->nwindows; i++) {
        interval k = { fmax(o->window_from[i], s->start), fmin(o->window_to[i], s->stop) };
        if (k.to > k.from)
            vec_push(&w, k);
    }
    if (o->nwindows == 0)
        vec_push(&w, ((interval){ s->start, s->stop }));
    qsort(w.at, w.n, sizeof *w.at, by_begin);
    for (size_t i = 0; i < w.n; i++) {
        if (s->border.n && w.at[i].from <= s->border.at[s->border.n - 1]) {
            s->border.at[s->border.n - 1] = fmax(s->border.at[s->border.n - 1], w.at[i].to);
        } else {
            vec_push(&s->border, w.at[i].from);
            vec_push(&s->border, w.at[i].to);
        }
    }
    for (size_t i = 0; i + 1 < s->border.n; i += 2)
        s->r->window_length += s->border.at[i + 1] - s->border.at[i];
    vec_free(&w);
}

/* ---- what is said when it fails ---- */

/* An evaluation fails at or just ahead of (t, x): names the equation. */
static bool
explain(run *s, double t, const double *x)
{
    static const double ahead[] = { 0, 1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2 };
    double *f = s->inner[0];
    int status = model_rhs(s->model, t, x, f);

    for (size_t k = 0; k < sizeof ahead / sizeof *ahead; k++) {
        double d = ahead[k] * (s->stop - s->start);
        char *text = NULL;

        if (k > 0 && status != 0)
            break;
        for (size_t i = 0; i < s->nx; i++)
            s->x_probe[i] = x[i] + d * (k > 0 ? f[i] : 0);
        span at = model_explain(s->model, t + d, s->x_probe, &text);
        if (text && span_known(at)) {
            diag_error(s->sources, "run-singular", at, "%s, at %.6g s", text, t);
            free(text);
            return true;
        }
        free(text);
    }
    return false;
}

static bool
fail_evaluation(run *s, double t, const double *x)
{
    if (!explain(s, t, x))
        diag_error(s->sources, "run-singular", model_flat(s->model)->at,
                   "the equations have no finite solution at %.6g s", t);
    return false;
}

/* What to do, and the solver that was not at work when it failed. */
static void
help_solver(run *s, const char *what)
{
    const char *other = integrator_other(s->integrator);

    diag_help(s->sources, "%s%s%s%s.", what, other ? "; or try `--solver " : "", other ? other : "", other ? "`" : "");
}

static bool
fail_small_step(run *s)
{
    double t = integrator_t1(s->integrator), ratio;
    size_t i = integrator_worst(s->integrator, &ratio);

    if (s->nx == 0 || explain(s, t, s->x))
        return false;
    struct model_state state = model_state(s->model, i);
    diag_error(s->sources, "run-step", state.at,
               "the step becomes too small at %.6g s; \"%s\" = %.6g has the largest error there", t, state.name,
               integrator_x1(s->integrator)[i]);
    help_solver(s, "Look for a law that jumps or grows without bound near this point, or loosen rtol");
    return false;
}

static bool
fail_steps(run *s, double t)
{
    double ratio;
    size_t i = integrator_worst(s->integrator, &ratio);
    span at = s->nx ? model_state(s->model, i).at : model_flat(s->model)->at;

    diag_error(s->sources, "run-steps", at, "%zu steps end at %.6g s of %.6g s", s->max_steps, t, s->stop);
    if (s->nx)
        diag_note(s->sources, at, "\"%s\" has the largest error of the last step", model_state(s->model, i).name);
    help_solver(s, "Loosen rtol, shorten the run, or look for a condition that switches over and over");
    return false;
}

/* At the rate so far there will be more switchings than steps are allowed: better said now than in an hour. Who allows
 * a number of steps is believed. */
static bool
never_ends(const run *s)
{
    return s->event.n >= SWITCHINGS_TOLD && !s->o->max_steps &&
           (double)s->event.n * (s->stop - s->start) > (s->t - s->start) * (double)s->max_steps;
}

static bool
fail_switchings(run *s)
{
    size_t k = events_last(s->events);
    span at = k == SIZE_MAX ? model_flat(s->model)->at : model_mode(s->model, k).at;

    diag_error(s->sources, "run-steps", at,
               "%zu switchings take the run to %.6g s of %.6g s: at that rate it needs %.2g", s->event.n, s->t, s->stop,
               (double)s->event.n * (s->stop - s->start) / (s->t - s->start));
    if (k != SIZE_MAX)
        diag_note(s->sources, at, "the last one was of \"%s\"", model_mode(s->model, k).text);
    diag_help(s->sources, "Shorten the run, or allow as many steps with --max-steps.");
    return false;
}

/* The explicit method was asked for, and creeps: better said now than in an hour. Who allows a number of steps is
 * believed. */
static bool
creeps(const run *s, size_t step)
{
    return step > 0 && step % STIFF_EVERY == 0 && !s->o->max_steps && integrator_stiff(s->integrator) > STIFF_STEPS;
}

static bool
fail_stiff(run *s)
{
    diag_error(s->sources, "run-steps", model_flat(s->model)->at,
               "at %.6g s of %.6g s the explicit method has %.2g steps to go: stability limits them to %.2g s", s->t,
               s->stop, integrator_stiff(s->integrator), integrator_t1(s->integrator) - integrator_t0(s->integrator));
    help_solver(s, "The model is stiff: shorten the run, or allow as many steps with --max-steps");
    return false;
}

static double
seconds_since(const struct timespec *t)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - t->tv_sec) + 1e-9 * (double)(now.tv_nsec - t->tv_nsec);
}

static bool
fail_unsolved(run *s)
{
    diag_error(s->sources, "run-step", model_flat(s->model)->at,
               "the midpoint equations of a step of %.3g s from %.6g s on have no solution near", s->o->max_step, s->t);
    diag_help(s->sources, "Take shorter steps: max_step, or --step.");
    return false;
}

/* A state has grown beyond all numbers in the step from t0. */
static bool
fail_overflow(run *s, double t0)
{
    size_t i = 0;

    while (i + 1 < s->nx && isfinite(s->x[i]))
        i++;
    diag_error(s->sources, "run-overflow", model_state(s->model, i).at, "\"%s\" grows beyond all numbers after %.6g s",
               model_state(s->model, i).name, t0);
    return false;
}

static bool
fail_time(run *s, size_t steps)
{
    diag_error(s->sources, "run-time", model_flat(s->model)->at,
               "%.3g seconds end at %.6g s of %.6g s, after %zu steps", s->o->max_seconds, s->t, s->stop, steps);
    diag_help(s->sources, "Allow more with --max-time, loosen rtol, or shorten the run.");
    return false;
}

static bool
fail_told(run *s)
{
    diag_error(s->sources, "run-interrupted", model_flat(s->model)->at, "told to stop at %.6g s of %.6g s", s->t,
               s->stop);
    return false;
}

/* Has the time that the run may take passed? Not every step looks at the clock. */
static bool
out_of_time(run *s)
{
    if (s->o->max_seconds <= 0 || ++s->unlooked < LIMIT_EVERY)
        return false;
    s->unlooked = 0;
    return seconds_since(&s->began) > s->o->max_seconds;
}

/* ---- grid ---- */

static double
grid_time(const run *s, size_t i)
{
    size_t last = s->o->points - 1;

    return i == last ? s->stop : s->start + (s->stop - s->start) * ((double)i / (double)last);
}

static bool
emit(run *s, double t, const double *x)
{
    sim_result *r = s->r;
    size_t i = s->grid++;

    r->time[i] = s->ended ? s->ended_at : grid_time(s, i);
    if (r->state)
        memcpy(r->state + i * s->nx, x, s->nx * sizeof(double));
    if (r->output && model_outputs(s->model, t, x, r->output + i * s->ny) != 0)
        return fail_evaluation(s, t, x);
    if (r->mode) /* delayed values are those of this time */
        memcpy(r->mode + i * model_nmodes(s->model), model_modes(s->model), model_nmodes(s->model) * sizeof(double));
    return !r->output || watch_outputs(s->watch, r->time[i], x, r->output + i * s->ny) || !s->o->finite_outputs;
}

/* The points of the grid in [t0, t1) of the last step. */
static bool
emit_step(run *s, double t0, double t1)
{
    while (s->grid < s->o->points) {
        double t = grid_time(s, s->grid);
        if (t >= t1 - tiny(s, t1) || s->grid + 1 == s->o->points)
            return true;
        if (s->grid == 0 && t <= s->start) { /* dense output at the start is the state but for rounding */
            if (!emit(s, s->start, s->x_first))
                return false;
            continue;
        }
        t = fmax(t, t0);
        if (!integrator_dense(s->integrator, t, s->x_probe))
            return fail_evaluation(s, t, s->x);
        if (!emit(s, t, s->x_probe))
            return false;
    }
    return true;
}

/* ---- crossings ---- */

struct crossing {
    bool found, at_start;
    double t, t_seen;
};

/* Margin at t of the last step, its state in x_probe. */
static bool
margin_at(run *s, double t, double *m)
{
    return integrator_dense(s->integrator, t, s->x_probe) && events_margin(s->events, t, s->x_probe, m);
}

/* Margin at the start of the last step: known from the end of the one before, as a rule. */
static bool
look_at_start(run *s, struct look *at)
{
    double t0 = integrator_t0(s->integrator);

    if (s->looked.t == t0) {
        *at = s->looked;
        return true;
    }
    at->t = t0;
    return margin_at(s, t0, &at->m);
}

/* Between three looks without a contradiction: the parabola through them may dip below zero and come back. Looks where
 * it is lowest, and closer around that as long as it could. *at: the contradiction. */
static bool
dips(run *s, const struct look three[3], struct look *at)
{
    struct look a = three[0], b = three[1], c = three[2];

    if (!(fmin(a.m, fmin(b.m, c.m)) > DIP_DEPTH))
        return false; /* on its border still */
    for (int k = 0; k < DIP_LOOKS; k++) {
        double u = (b.m - a.m) / (b.t - a.t), v = (c.m - b.m) / (c.t - b.t), bend = (v - u) / (c.t - a.t), lowest,
               value;

        if (!(bend > 0) || !isfinite(bend))
            return false;
        lowest = (a.t + b.t) / 2 - u / (2 * bend);
        value = a.m + (lowest - a.t) * (u + bend * (lowest - b.t));
        if (!(lowest > a.t && lowest < c.t) || lowest == b.t || value > DIP_SHARE * fmin(a.m, fmin(b.m, c.m)))
            return false;
        at->t = lowest;
        if (!margin_at(s, lowest, &at->m))
            return false;
        if (at->m < -DIP_DEPTH)
            return true;
        if (at->m <= DIP_DEPTH)
            return false; /* touches */
        /* the three around the lowest so far */
        if (lowest < b.t) {
            if (at->m < b.m)
                c = b, b = *at;
            else
                a = *at;
        } else {
            if (at->m < b.m)
                a = b, b = *at;
            else
                c = *at;
        }
    }
    return false;
}

/* The first place known where a condition contradicts its mode in the last step: middles and ends of its pieces are
 * looked at, and where the margin dips between. *before: the look before it. */
static bool
find_contradiction(run *s, struct look *before, struct look *at, bool *found)
{
    double t0 = integrator_t0(s->integrator), t1 = integrator_t1(s->integrator), end = t1;
    size_t seen = 1;
    bool half = false; /* the piece's middle has been looked at */
    struct look last[3];

    *found = false;
    if (!look_at_start(s, &last[2]))
        return false;
    if (s->pieces)
        pieces_begin(s->pieces, t0, t1, SMOOTH_FOR_EVENTS);
    while (t0 < t1) { /* piece by piece, for the first switching may be near and the step long */
        if (!half && s->pieces)
            end = pieces_next(s->pieces);

        struct look next = { half ? end : t0 + (end - t0) / 2, 0 };
        bool at_end = half;

        half = !half;
        if (at_end)
            t0 = end;
        if (!margin_at(s, next.t, &next.m)) {
            if (at_end)
                return false;
            continue; /* the end will tell */
        }
        last[0] = last[1];
        last[1] = last[2];
        last[2] = next;
        seen++;
        *before = last[1];
        *at = next;
        *found = next.m < 0;
        if (!*found && seen > 2 && dips(s, last, at)) {
            *found = true;
            *before = at->t > last[1].t ? last[1] : last[0];
        }
        if (*found)
            return true;
    }
    s->looked = last[2];
    return true; /* exactly zero belongs to the next step */
}

/* Looks for the first condition in the last step that contradicts its mode. The state at t_seen is left in x_probe. */
static bool
find_crossing(run *s, struct crossing *c)
{
    double t0 = integrator_t0(s->integrator), hi, at_hi, lo, at_lo, m;
    struct look before = { 0 }, at;

    if (!find_contradiction(s, &before, &at, &c->found))
        return false;
    if (!c->found)
        return true;
    lo = before.t;
    hi = at.t;
    at_hi = at.m;
    if (!events_mark(s->events, t0, integrator_x0(s->integrator)) || !margin_at(s, lo, &at_lo))
        return false;
    if (at_lo <= 0 && lo > t0 && (lo = t0, !margin_at(s, lo, &at_lo)))
        return false;
    if (at_lo <= 0) {
        /* Just switched and back on zero: was it above in between? */
        double part = hi - t0, seen = hi; /* the first place known where it clearly contradicts */
        bool above = false;
        while (part > tiny(s, t0)) {
            part /= 2;
            lo = t0 + part;
            if (!margin_at(s, lo, &at_lo))
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
            return margin_at(s, seen, &at_lo);
        }
    }
    /* Illinois; bisection where that is slow. hi keeps the contradiction. */
    int side = 0;
    for (int k = 0; k < 100 && hi - lo > 2 * DBL_EPSILON * fmax(fabs(lo), fabs(hi)); k++) {
        double t = hi - at_hi * (hi - lo) / (at_hi - at_lo);
        if (!(t > lo && t < hi) || k % 8 == 7)
            t = lo + (hi - lo) / 2;
        if (t <= lo || t >= hi)
            break;
        if (!margin_at(s, t, &m))
            return false;
        if (m <= 0) {
            hi = t;
            at_hi = m;
            if (side == 1)
                at_lo /= 2;
            side = 1;
            if (m == 0)
                break;
        } else {
            lo = t;
            at_lo = m;
            if (side == -1)
                at_hi /= 2;
            side = -1;
        }
        if (at_hi == 0)
            at_hi = -DBL_MIN;
    }
    c->at_start = false;
    c->t = c->t_seen = hi;
    return margin_at(s, hi, &m);
}

/* The model cannot be evaluated beyond (t, x): perhaps because a condition should have switched there. Then the state
 * moves on past that border by an Euler step below anything the tolerance sees. */
static enum events_status
switch_at_edge(run *s)
{
    double *f = s->inner[0];

    if (!s->nx || !events_watched(s->events) || model_rhs(s->model, s->t, s->x, f) != 0 ||
        !events_mark(s->events, s->t, s->x))
        return EVENTS_SAME;
    for (double part = 1e-15; part < 1e-6; part *= 10) {
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

/* ---- the run ---- */

/* Constraints that began to hold with a switching must be met by the states as they are: no current is stopped in no
 * time. */
static bool
meet_constraints(run *s)
{
    size_t worst = SIZE_MAX, broken = 0, n = model_nconstraints(s->model);

    if (!s->x_most)
        return true;
    memcpy(s->x_probe, s->x, s->nx * sizeof(double));
    if (model_project(s->model, s->t, s->x_probe) != 0)
        return fail_evaluation(s, s->t, s->x);
    for (size_t i = 0; i < s->nx && worst == SIZE_MAX; i++)
        if (fabs(s->x_probe[i] - s->x[i]) > MOST_JUMP * fmax(s->x_most[i], fabs(s->x[i])))
            worst = i;
    if (worst == SIZE_MAX) {
        memcpy(s->x, s->x_probe, s->nx * sizeof(double));
        return true;
    }
    struct model_state state = model_state(s->model, worst);
    double *c = bg_calloc(n, sizeof *c),
           to = fabs(s->x_probe[worst]) > DBL_EPSILON * fabs(s->x[worst]) ? s->x_probe[worst] : 0;

    model_constraints(s->model, s->t, s->x, c);
    for (size_t i = 0; i < n; i++)
        if (fabs(c[i]) > fabs(c[broken]))
            broken = i;
    free(c);
    diag_error(s->sources, "run-jump", state.at,
               "\"%s\" would have to jump from %.6g to %.6g at %.6g s to meet a condition that holds from then on",
               state.name, s->x[worst], to, s->t);
    diag_note(s->sources, model_constraint_place(s->model, broken), "the condition of this source");
    diag_help(s->sources, "What is stored cannot vanish in no time: give it somewhere to go (a diode or resistor "
                          "beside a coil, a resistor before a capacitor), or say "
                          "with `when ... { reinit ... }` what happens to it.");
    return false;
}

/* After a switching or at a border: the integrator sets out anew from the present state. */
static bool
set_out(run *s)
{
    s->looked.t = NAN;
    if (!s->resumes) {
        reach_forget(s->reach);
        pieces_forget(s->pieces);
    }
    if (!meet_constraints(s))
        return false;
    if (s->blocks)
        model_accept(s->model, s->t, s->x);
    if (!(s->resumes ? integrator_resume : integrator_start)(s->integrator, s->t, s->x))
        return false;
    if (s->delays) {
        delays_from(s->delays, s->t);
        if (!s->bent && delays_mark(s->delays, s->t, s->x) != 0)
            return fail_evaluation(s, s->t, s->x);
    }
    watch_start(s->watch, s->t, s->x);
    if (s->t <= s->start)
        memcpy(s->x_first, s->x, s->nx * sizeof(double));
    if (s->inside && activity_begin(s->activity, s->t, s->x) != 0)
        return fail_evaluation(s, s->t, s->x);
    int status = s->o->track ? track_begin(s->o->track, s->model, s->t, s->x) : 0;
    if (status == TRACK_NOT_FINITE)
        watch_outputs(s->watch, s->t, s->x, s->o->track->all);
    if (status != 0)
        return status != TRACK_NOT_FINITE && fail_evaluation(s, s->t, s->x);
    return true;
}

static bool
note_event(run *s, enum events_status status, bool *switched)
{
    *switched = false;
    switch (status) {
    case EVENTS_SAME: return true;
    case EVENTS_SWITCHED:
        *switched = true;
        if (s->event.n == 0 || s->event.at[s->event.n - 1] != s->t)
            vec_push(&s->event, s->t);
        return true;
    case EVENTS_SAMPLED: *switched = true; return true;
    case EVENTS_FAILED: return fail_evaluation(s, s->t, s->x);
    case EVENTS_STOP: return false;
    }
    return false;
}

/* Lets the events and samples at the present time act on the states. */
static bool
act(run *s, bool *switched)
{
    enum events_status status = events_act(s->events, s->t, s->x);
    bool jumped;

    s->resumes = status == EVENTS_SAMPLED && !*switched && s->t > s->start;
    if (!note_event(s, status, &jumped))
        return false;
    *switched |= jumped;
    if (events_stopped(s->events) != SIZE_MAX && !s->ended) {
        s->ended = true;
        s->ended_at = s->t;
        s->r->stopped = model_when(s->model, events_stopped(s->events)).text;
    }
    return true;
}

/* Enters or leaves windows at the present time. */
static bool
cross_border(run *s)
{
    bool crossed = false;

    while (s->next_border < s->border.n && s->border.at[s->next_border] <= s->t + tiny(s, s->t)) {
        s->inside = !s->inside;
        s->next_border++;
        crossed = true;
    }
    if (crossed && s->inside && activity_begin(s->activity, s->t, s->x) != 0)
        return fail_evaluation(s, s->t, s->x);
    return true;
}

/* The same piece for what is delayed: it began where the one before ended. */
static int
keep_history(run *s, double t, const double *last)
{
    const double *const x[5] = { s->piece_begin, s->inner[0], s->inner[1], s->inner[2], last };
    int status = delays_keep(s->delays, s->piece_from, t, x);

    s->piece_from = t;
    memcpy(s->piece_begin, last, s->nx * sizeof(double));
    return status;
}

/* One piece of a step, to t: the states inside it are s->inner, that at its end is last. */
static int
take_piece(run *s, double t, const double *last)
{
    const double *const x[4] = { s->inner[0], s->inner[1], s->inner[2], last };
    int status = s->delays ? keep_history(s, t, last) : 0;

    if (status == 0 && s->inside)
        status = activity_step(s->activity, t, x);

    if (status != 0 || !s->o->track)
        return status;
    status = track_step(s->o->track, s->model, t, x);
    if (status == TRACK_NOT_FINITE)
        watch_outputs(s->watch, s->o->track->t, last, s->o->track->all);
    return status;
}

/* Integrates over [t0, t1] of the last step, whose end state is s->x, piece by piece. */
static int
take_pieces(run *s, double t0, double t1)
{
    const double *end = &t1;
    size_t n = 1;

    if (s->delays) {
        s->piece_from = t0;
        if (!integrator_dense(s->integrator, t0, s->piece_begin))
            return 1;
    }
    if (s->pieces)
        pieces_cut(s->pieces, t0, t1, SMOOTH_FOR_ACTIVITY, &end, &n);
    s->unlooked += n - 1;
    if (n == 1) { /* the three states in one pass */
        if (!integrator_dense3(s->integrator, quartic_place, t1, s->inner))
            return 1;
        return take_piece(s, t1, s->x);
    }
    for (size_t i = 0; i < n; t0 = end[i++]) {
        double *last = i + 1 < n ? s->x_probe : s->x;
        int status;

        for (int k = 0; k < 3; k++)
            if (!integrator_dense(s->integrator, t0 + quartic_place[k] * (end[i] - t0), s->inner[k]))
                return 1;
        if (last == s->x_probe && !integrator_dense(s->integrator, end[i], last))
            return 1;
        status = take_piece(s, end[i], last);
        if (status != 0)
            return status;
    }
    return 0;
}

static bool
dense_in_step(void *of, double t, double *x)
{
    run *s = of;

    return integrator_dense(s->integrator, t, x);
}

/* The smooth piece [t0, t1] of the last step for a follower; its end state is s->x. */
static bool
follow_piece(run *s, double t0, double t1)
{
    memcpy(s->x_before, s->x, s->nx * sizeof(double));
    memcpy(s->modes_before, model_modes(s->model), model_nmodes(s->model) * sizeof(double));
    return s->follow->piece(s->follow->ctx, t0, t1, dense_in_step, s);
}

/* Takes what the smooth piece [t0, t1] of the last step gives; its end state is s->x. */
static bool
take_step(run *s, double t0, double t1)
{
    for (size_t i = 0; s->x_most && i < s->nx; i++)
        s->x_most[i] = fmax(s->x_most[i], fabs(s->x[i]));
    if (!vec_finite(s->nx, s->x))
        return fail_overflow(s, t0);
    if (!watch_step(s->watch, s->integrator, t1, s->x))
        return false;
    int status = (s->inside || s->o->track || s->delays) && t1 > t0 ? take_pieces(s, t0, t1) : 0;
    if (status == TRACK_NOT_FINITE || status == TRACK_BEYOND)
        return false; /* watch_report says which output it is; the track's owner knows */
    if (status != 0)
        return fail_evaluation(s, t0, s->x);
    return (!s->follow || follow_piece(s, t0, t1)) && emit_step(s, t0, t1);
}

static void
warn_unresolved(const run *s)
{
    size_t k = pieces_unresolved(s->pieces);

    if (k == SIZE_MAX)
        return;
    diag_warn(s->sources, "run-unresolved", model_clock_place(s->model, k),
              "what is read of time here changes too often to be followed: between steps, "
              "conditions may be missed and activities are estimates");
    diag_help(s->sources, "A shorter experiment, or one that looks at the slow part alone, can do better.");
}

/* Where delayed values jump, conditions may switch; where they bend, the integrator sets out anew with the step it has.
 */
static bool
pass_breaks(run *s, bool *switched)
{
    bool jolted = false;

    switch (delays_pass(s->delays, s->t)) {
    case DELAYS_SMOOTH: return true;
    case DELAYS_BENDS: s->bent = s->resumes = true; return true;
    case DELAYS_JUMPS: break;
    }
    if (s->t < s->stop && !note_event(s, events_jolted(s->events, s->t, s->x), &jolted))
        return false;
    *switched |= jolted;
    return true;
}

/* Where the next step of the variational integrator ends: steps are equal from one fixed time to the next. */
static double
next_stride(run *s, double until)
{
    double left, count;

    while (s->station < s->o->nstations && s->o->station[s->station] <= s->t + tiny(s, s->t))
        s->station++;
    if (s->station < s->o->nstations)
        until = fmin(until, s->o->station[s->station]);
    left = until - s->t;
    count = ceil(left / s->o->max_step * (1 - 1e-9));
    return count > 1 ? s->t + left / count : until;
}

static bool
main_loop(run *s)
{
    double shown = s->start;
    bool switched;

    for (size_t step = 0; s->t < s->stop && !s->ended; step++) {
        s->resumes = s->bent = false;
        double until = fmin(fmin(s->stop, events_next(s->events)), delays_limit(s->delays, s->t));
        if (s->next_border < s->border.n)
            until = fmin(until, s->border.at[s->next_border]);
        if (s->stop - s->t <= 2 * tiny(s, s->t)) /* a switching within a rounding of the end */
            break;
        if (until - s->t <= tiny(s, s->t))
            until = fmin(s->stop, s->t + 2 * tiny(s, s->t));
        if (step >= s->max_steps)
            return fail_steps(s, s->t);
        if (out_of_time(s))
            return fail_time(s, step);
        if (s->o->told_to_stop && s->o->told_to_stop())
            return fail_told(s);
        if (step % LIMIT_EVERY == 0 && never_ends(s))
            return fail_switchings(s);
        if (creeps(s, step))
            return fail_stiff(s);

        if (s->o->solver == SIM_VARIATIONAL && s->nx) {
            until = next_stride(s, until);
        } else {
            if (s->o->max_step > 0)
                until = fmin(until, s->t + s->o->max_step);
            double wanted = fmin(integrator_next(s->integrator), until - s->t),
                   clear = reach_step(s->reach, s->t, wanted, until);
            if (clear < wanted)
                until = s->t + clear;
        }
        enum integrator_status status = integrator_step(s->integrator, until);
        if (status != STEP_OK) {
            if (!integrator_ready(s->integrator))
                return false; /* the Jacobian does not compile: said already */
            if (status == STEP_UNSOLVED)
                return fail_unsolved(s);
            enum events_status edge = status == STEP_SINGULAR ? switch_at_edge(s) : EVENTS_SAME;
            if (!note_event(s, edge, &switched))
                return false;
            if (switched && !act(s, &switched))
                return false;
            if (!switched)
                return status == STEP_SINGULAR ? fail_evaluation(s, s->t, s->x) : fail_small_step(s);
            if (!set_out(s))
                return false;
            continue;
        }
        double t0 = integrator_t0(s->integrator), t1 = integrator_t1(s->integrator);
        struct crossing c = { .found = false };

        if (events_watched(s->events) && !find_crossing(s, &c))
            return fail_evaluation(s, t0, s->x);
        if (c.found) {
            double *seen = s->inner[0];
            memcpy(seen, s->x_probe, s->nx * sizeof(double));
            if (c.at_start) {
                s->t = t0; /* s->x is the state there still */
            } else {
                s->t = c.t;
                memcpy(s->x, seen, s->nx * sizeof(double));
                if (!take_step(s, t0, c.t))
                    return false;
                memcpy(seen, s->x, s->nx * sizeof(double));
            }
            if (c.at_start)
                events_mark(s->events, t0, s->x);
            if (!note_event(s, events_switch(s->events, c.t_seen, seen, s->t, s->x), &switched))
                return false;
        } else {
            s->t = t1;
            if (s->nx)
                memcpy(s->x, integrator_x1(s->integrator), s->nx * sizeof(double));
            if (!take_step(s, t0, t1))
                return false;
            switched = false;
            if (s->blocks)
                model_accept(s->model, s->t, s->x);
        }
        delays_from(s->delays, s->t);
        if (!pass_breaks(s, &switched))
            return false;
        if (s->t < s->stop && events_next(s->events) <= s->t + tiny(s, s->t)) {
            bool due;
            if (!note_event(s, events_due(s->events, s->t, s->x), &due))
                return false;
            switched |= due;
        }
        if (!c.found && !switched && events_drifted(s->events, s->rtol))
            switched = true;
        if ((switched || c.found || events_sample_due(s->events, s->t)) && !act(s, &switched))
            return false;
        if (!cross_border(s))
            return false;
        if ((switched || c.found) && s->follow &&
            !s->follow->jump(s->follow->ctx, s->t, s->x_before, s->modes_before, s->x))
            return false;
        if (s->bent && (switched || c.found))
            s->bent = false;
        if ((switched || c.found || s->bent) && s->t < s->stop && !s->ended && !set_out(s))
            return false;
        if (s->o->progress && (step % PROGRESS_EVERY == 0 || s->t - shown > 0.01 * (s->stop - s->start))) {
            shown = s->t;
            s->o->progress(s->o->ctx, s->t, step + 1);
        }
    }
    while (s->grid < s->o->points) { /* the last point; without it, those that rounding left over */
        if (!emit(s, s->ended ? s->ended_at : s->stop, s->x))
            return false;
        if (s->ended)
            break;
    }
    return true;
}

static bool
check_options(run *s)
{
    const sim_options *o = s->o;
    const flat_model *f = model_flat(s->model);
    span at = span_known(f->experiment.at) && f->experiment.name ? f->experiment.at : f->at;

    if (!isfinite(o->start) || !isfinite(o->stop) || !(o->stop > o->start)) {
        diag_error(s->sources, "run-span", at, "the run's end (%.6g s) is not after its start (%.6g s)", o->stop,
                   o->start);
        return false;
    }
    if (o->solver == SIM_VARIATIONAL && !(o->max_step > 0)) {
        diag_error(s->sources, "variational-step", at,
                   "the variational integrator takes equal steps, and nothing says "
                   "how long they are");
        diag_help(s->sources, "Say it: max_step = 1 [ms]; in the experiment, or --step 0.001.");
        return false;
    }
    if (isnan(o->rtol) || isnan(o->atol) || o->rtol > GREATEST_RTOL || (o->rtol > 0 && o->rtol < LEAST_RTOL)) {
        diag_error(s->sources, "run-tolerance", at, "rtol = %.3g is no tolerance; take one between %g and %g", o->rtol,
                   LEAST_RTOL, GREATEST_RTOL);
        return false;
    }
    return true;
}

static bool
need_parts(bg_model *m, const sim_options *o)
{
    return (model_nstates(m) == 0 || model_need(m, PART_RHS)) &&
           ((!o->activity && !o->audit) || model_need(m, PART_POWERS)) &&
           (!((o->outputs && o->points) || o->track) || model_need(m, PART_OUTPUTS)) &&
           (model_nmodes(m) == 0 || model_need(m, PART_CONDITIONS)) &&
           (model_nwhens(m) == 0 || model_need(m, PART_REINITS)) &&
           (model_ndelays(m) == 0 || model_need(m, PART_DELAYS));
}

static bool
start_delays(run *s)
{
    int status = s->delays ? delays_start(s->delays, s->start, s->x) : 0;

    return status == 0 || (status > -2 && fail_evaluation(s, s->start, s->x));
}

static bool
begin(run *s)
{
    const sim_options *o = s->o;
    sim_result *r = s->r;

    r->points = o->points;
    if (o->points) {
        r->time = bg_calloc(o->points, sizeof(double));
        if (o->outputs)
            r->output = bg_calloc(o->points * s->ny + 1, sizeof(double));
        if (o->states)
            r->state = bg_calloc(o->points * s->nx + 1, sizeof(double));
        if (o->modes)
            r->mode = bg_calloc(o->points * model_nmodes(s->model) + 1, sizeof(double));
    }
    if (o->x0)
        memcpy(s->x, o->x0, s->nx * sizeof(double));
    else if (!model_initial(s->model, s->start, s->x))
        return false;
    if (o->equilibrium && s->delays) {
        diag_error(s->sources, "equilibrium-delay", model_delay(s->model, 0).at,
                   "an equilibrium is not looked for in a model with delays");
        diag_help(s->sources, "Start from stated values, or run until it rests.");
        return false;
    }
    if (o->equilibrium && !equilibrium(s->model, s->start, s->x))
        return false;
    memcpy(r->x_start, s->x, s->nx * sizeof(double));
    join_windows(s);
    if (o->activity)
        activity_sample_over(s->activity, o->sampler, o->nsamplers, s->border.at, s->border.n);
    bool switched;
    if (!events_check(s->events) || !start_delays(s) ||
        !note_event(s, events_start(s->events, s->start, s->x), &switched))
        return false;
    s->event.n = 0;       /* setting modes at the start is no event */
    if (!start_delays(s)) /* by the modes as they are */
        return false;
    if (!act(s, &switched))
        return false;
    if (!cross_border(s)) /* the first window may begin here */
        return false;
    if (s->follow) {
        memcpy(s->x_before, s->x, s->nx * sizeof(double));
        memcpy(s->modes_before, model_modes(s->model), model_nmodes(s->model) * sizeof(double));
        if (!s->follow->start(s->follow->ctx, s->start, s->x))
            return false;
    }
    if (o->solver == SIM_VARIATIONAL && !variational_fits(s->model, s->start, s->stop, s->x))
        return false;
    if (s->nx) { /* said here with the equation's line rather than by the integrator */
        if (model_rhs(s->model, s->start, s->x, s->inner[0]) != 0)
            return fail_evaluation(s, s->start, s->x);
    }
    return set_out(s);
}

/* Powers are looked at where steps end; what one was in between tells in its integral. */
static bool
finite_powers(run *s)
{
    const flat_model *f = model_flat(s->model);

    for (size_t i = 0; i < s->ne; i++)
        if (!isfinite(s->r->activity[i]) || !isfinite(s->r->square[i]) || !isfinite(s->r->net[i])) {
            diag_error(s->sources, "run-power", f->element.at[i].at,
                       "the energy through \"%s\" is not finite: its power grows beyond all numbers before %.6g s",
                       f->element.at[i].name, s->t);
            return false;
        }
    return true;
}

bool
simulate(bg_model *m, const sim_options *o, sim_result *r)
{
    double rtol = o->rtol > 0 ? o->rtol : DEFAULT_RTOL;
    run s = { .model = m,
              .o = o,
              .r = r,
              .sources = model_flat(m)->sources,
              .nx = model_nstates(m),
              .ny = model_noutputs(m),
              .ne = model_nelements(m),
              .start = o->start,
              .stop = o->stop,
              .t = o->start,
              .rtol = rtol,
              .max_steps = o->max_steps ? o->max_steps : DEFAULT_STEPS };
    bool ok = false;

    memset(r, 0, sizeof *r);
    r->x_start = bg_calloc(s.nx + 1, sizeof(double));
    r->x_end = bg_calloc(s.nx + 1, sizeof(double));
    if (!check_options(&s) || !need_parts(m, o))
        return false;
    s.blocks = model_has_blocks(m);
    s.x = bg_calloc(s.nx + 1, sizeof(double));
    s.x_probe = bg_calloc(s.nx + 1, sizeof(double));
    s.x_first = bg_calloc(s.nx + 1, sizeof(double));
    s.x_before = bg_calloc(s.nx + 1, sizeof(double));
    s.modes_before = bg_calloc(model_nmodes(m) + 1, sizeof(double));
    if (model_nconstraints(m))
        s.x_most = bg_calloc(s.nx + 1, sizeof(double));
    for (int i = 0; i < 3; i++)
        s.inner[i] = bg_calloc(s.nx + 1, sizeof(double));
    s.events = events_new(m, s.start, s.stop);
    s.delays = delays_new(m, s.start, s.stop);
    s.piece_begin = bg_calloc(s.nx + 1, sizeof(double));
    if (o->activity)
        s.activity = activity_new(m, o->extra);
    model_clocks_over(m, s.start, s.stop);
    if (o->activity || o->track || s.delays || events_watched(s.events))
        s.pieces = pieces_new(m, s.start, s.stop);

    s.follow = o->follow;
    if (o->audit && !o->follow) {
        s.audit = audit_new(m, rtol, o->solver == SIM_VARIATIONAL, s.start, s.stop);
        s.audited = (sim_follower){ audit_start, audit_piece, audit_jump, s.audit };
        s.follow = &s.audited;
    }
    s.watch = watch_new(m, o->activity);
    clock_gettime(CLOCK_MONOTONIC, &s.began);
    s.reach = reach_new(m, s.start, s.stop, s.nx == 0);
    s.integrator = integrator_new(m, rtol, o->atol, o->solver, s.start, s.stop, o->activity || o->track);
    double before = bg_cpu_seconds(), compiled = model_compile_seconds(m);
    ok = begin(&s) && main_loop(&s);
    warn_unresolved(&s);
    r->nunfinite = watch_report(s.watch);
    r->cpu_seconds = bg_cpu_seconds() - before - (model_compile_seconds(m) - compiled);

    memcpy(r->x_end, s.x, s.nx * sizeof(double));
    if (s.audit)
        r->audit = audit_close(s.audit, s.t, s.x);
    integrator_counts(s.integrator, r);
    r->method = integrator_method(s.integrator);
    if (!ok || s.ended)
        r->points = s.grid; /* what there is */
    r->t_end = s.ended ? s.ended_at : s.t;
    r->nsamples = events_samples(s.events);
    r->nevents = s.event.n;
    r->event = s.event.at;
    if (o->activity) {
        size_t n = s.ne + (o->extra ? o->extra->n : 0);
        r->activity = bg_calloc(n + 1, sizeof(double));
        r->square = bg_calloc(n + 1, sizeof(double));
        r->net = bg_calloc(n + 1, sizeof(double));
        activity_totals(s.activity, r->activity, r->square, r->net);
        r->max_power_sum = activity_imbalance(s.activity);
        ok = ok && finite_powers(&s);
    }
    integrator_free(s.integrator);
    events_free(s.events);
    delays_free(s.delays);
    free(s.piece_begin);
    activity_free(s.activity);
    pieces_free(s.pieces);
    reach_free(s.reach);
    watch_free(s.watch);
    audit_free(s.audit);
    free(s.x);
    free(s.x_probe);
    free(s.x_first);
    free(s.x_most);
    free(s.x_before);
    free(s.modes_before);
    for (int i = 0; i < 3; i++)
        free(s.inner[i]);
    vec_free(&s.border);
    return ok;
}

void
sim_result_free(sim_result *r)
{
    free(r->time);
    free(r->output);
    free(r->state);
    free(r->mode);
    free(r->activity);
    free(r->square);
    free(r->net);
    free(r->x_start);
    free(r->x_end);
    free(r->event);
    free(r->method);
    memset(r, 0, sizeof *r);
}

/* ---- options from the experiment ---- */

/* A time that an experiment sets, if it does. */
static bool
positive_setting(bg_model *m, inst given, const char *name, double *to)
{
    const flat_model *f = model_flat(m);
    double value = inst_known(given) ? model_value(m, given) : 0;

    if (inst_known(given) && !(value > 0 && isfinite(value))) {
        diag_error(f->sources, "experiment-limit", f->experiment.name ? f->experiment.at : f->at,
                   "%s = %.3g s is not positive", name, value);
        return false;
    }
    if (inst_known(given))
        *to = value;
    return true;
}

bool
sim_options_from_experiment(bg_model *m, sim_options *o)
{
    const flat_model *f = model_flat(m);
    const flat_experiment *e = &f->experiment;
    span at = e->name ? e->at : f->at;

    if (inst_known(e->start))
        o->start = model_value(m, e->start);
    if (inst_known(e->stop))
        o->stop = model_value(m, e->stop);
    if (inst_known(e->rtol)) {
        o->rtol = model_value(m, e->rtol);
        if (!(o->rtol >= LEAST_RTOL && o->rtol <= GREATEST_RTOL)) {
            diag_error(f->sources, "experiment-tolerance", at,
                       "rtol = %.3g is no tolerance; take one between %g and %g", o->rtol, LEAST_RTOL, GREATEST_RTOL);
            return false;
        }
    }
    if (inst_known(e->atol)) {
        o->atol = model_value(m, e->atol);
        if (!(o->atol > 0 && isfinite(o->atol))) {
            diag_error(f->sources, "experiment-tolerance", at, "atol = %.3g is not positive", o->atol);
            return false;
        }
    }
    if (!positive_setting(m, e->max_step, "max_step", &o->max_step) ||
        (o->max_seconds <= 0 && !positive_setting(m, e->max_time, "max_time", &o->max_seconds)))
        return false;
    o->equilibrium |= e->equilibrium;
    if (e->solver)
        o->solver = strcmp(e->solver, "explicit") == 0      ? SIM_EXPLICIT
                    : strcmp(e->solver, "bdf") == 0         ? SIM_BDF
                    : strcmp(e->solver, "variational") == 0 ? SIM_VARIATIONAL
                                                            : SIM_AUTO;
    if (!isfinite(o->start) || !isfinite(o->stop) || !(o->stop > o->start)) {
        if (e->name && !inst_known(e->stop))
            diag_error(f->sources, "experiment-span", at, "experiment \"%s\" has no stop", e->name);
        else
            diag_error(f->sources, "experiment-span", at, "stop (%.6g s) is not after start (%.6g s)", o->stop,
                       o->start);
        return false;
    }
    if (e->window.n) {
        double *from = bg_calloc(e->window.n, sizeof *from), *to = bg_calloc(e->window.n, sizeof *to);
        o->nwindows = e->window.n;
        o->window_from = from;
        o->window_to = to;
        for (size_t i = 0; i < e->window.n; i++) {
            from[i] = model_value(m, e->window.at[i].from);
            to[i] = model_value(m, e->window.at[i].to);
            double slack = 1e-9 * (o->stop - o->start);
            if (!(to[i] > from[i]) || from[i] < o->start - slack || to[i] > o->stop + slack) {
                diag_error(f->sources, "experiment-window", at, "window %.6g .. %.6g s is not within %.6g .. %.6g s",
                           from[i], to[i], o->start, o->stop);
                sim_options_free(o);
                return false;
            }
        }
    }
    return true;
}

void
sim_options_free(sim_options *o)
{
    free((void *)(uintptr_t)o->window_from);
    free((void *)(uintptr_t)o->window_to);
    o->window_from = o->window_to = NULL;
    o->nwindows = 0;
}
