/* simulate.c - the driver: steps, switchings, windows, the grid, and what is said when a run fails; see simulate.h
 *
 * Each pass of the main loop makes one step, which ends at the next known time (switching, border of a window, stop) at
 * the latest. A watched condition that contradicts its mode at the end or in the middle of the step cuts it at the
 * crossing, found on the dense output. What remains of the step is smooth: its activities and grid points are taken
 * with the modes as they were, then the modes switch and the integrator sets out anew.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "first_solution.h"
#include "model_graph.h"
#include "simulate_inside.h"

/* of a state's greatest size: how far a switching may move it to meet a constraint, which is what the integrator's
 * errors may have left; a greater distance is an impulse that the text does not state */
#define MOST_JUMP 1e-4

/* Of a step: so early does a condition that turned where it began not turn back, if the step follows it. The next one
 * is longer than the time to there by a factor, and not shorter than a part of the last; that time is clear of
 * rounding. */
#define SOON 0.1
#define LONGER 2
#define SHORTER 1e-2
#define CLEAR 100

/* Places of a step at which conditions are looked at: of usual ones, and of those that read what changes strongly, of
 * which a step is so short that it shows in each eighth. */
enum { USUAL_PLACES = 2, HIDING_PLACES = 8 };

#define PROGRESS_EVERY 256  /* steps, */
#define PROGRESS_SHARE 0.01 /* or this part of the run, after which progress is reported */
#define WHOLE (1 - 1e-9)    /* of a number of strides: a rest that rounding leaves over is no further stride */

enum { MOST_FOLDS = 8 }; /* times that a step is repeated up to the place where blocks leave their branch */

/* s: least and greatest length of a run. With others, lengths of steps and their powers are no floating-point numbers.
 */
#define LEAST_SPAN 1e-200
#define GREATEST_SPAN 1e200

double
run_tiny(const run *s, double t)
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

/* ---- the run ---- */

/* Constraints that begin to hold with a switching must be met by the states as they are: a current does not stop within
 * no time. */
static bool
project_onto_constraints(run *s)
{
    size_t worst = NO_INDEX, broken = 0, n = model_nconstraints(s->model);

    if (!s->x_most)
        return true;
    memcpy(s->x_probe, s->x, s->nx * sizeof(double));
    if (model_project(s->model, s->t, s->x_probe) != 0)
        return run_fail_evaluation(s, s->t, s->x);
    for (size_t i = 0; i < s->nx && worst == NO_INDEX; i++)
        if (fabs(s->x_probe[i] - s->x[i]) > MOST_JUMP * fmax(s->x_most[i], fabs(s->x[i])))
            worst = i;
    if (worst == NO_INDEX) {
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
               "\"%s\" would have to jump from %s to %s at %.6g s to meet a condition that holds from then on",
               state.name, model_state_shown(s->model, worst, s->x[worst]).text,
               model_state_shown(s->model, worst, to).text, s->t);
    diag_note(s->sources, model_constraint_place(s->model, broken), "the condition is here");
    diag_help(s->sources, "A stored quantity cannot vanish in an instant: give it a path (a diode or resistor beside "
                          "a coil, a resistor before a capacitor), or set it with `when ... { reinit ... }`.");
    return false;
}

/* After a switching or at a border: the integrator sets out anew from the present state. */
static bool
set_out_again(run *s)
{
    s->looked.t = NAN;
    if (!s->resumes) {
        reach_forget(s->reach);
        pieces_forget(s->pieces);
    }
    if (!project_onto_constraints(s))
        return false;
    if (s->blocks)
        model_accept(s->model, s->t, s->x);
    if (!(s->resumes ? integrator_resume : integrator_start)(s->integrator, s->t, s->x))
        return false;
    if (s->delays) {
        delays_from(s->delays, s->t);
        if (!s->bent && delays_mark(s->delays, s->t, s->x) != 0)
            return run_fail_evaluation(s, s->t, s->x);
    }
    watch_start(s->watch, s->t, s->x);
    if (s->t <= s->start)
        memcpy(s->x_first, s->x, s->nx * sizeof(double));
    if (s->inside && activity_begin(s->activity, s->t, s->x) != 0)
        return run_fail_evaluation(s, s->t, s->x);
    int status = s->o->track ? track_begin(s->o->track, s->model, s->t, s->x) : 0;
    if (status == TRACK_NOT_FINITE)
        watch_outputs(s->watch, s->t, s->x, s->o->track->all);
    if (status != 0)
        return status != TRACK_NOT_FINITE && run_fail_evaluation(s, s->t, s->x);
    return true;
}

static void
note_parted(run *s)
{
    if (s->o->parted && (s->parted.n == 0 || s->parted.at[s->parted.n - 1] != s->t))
        vec_push(&s->parted, s->t);
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
        note_parted(s);
        return true;
    case EVENTS_SAMPLED:
        *switched = true;
        note_parted(s);
        return true;
    case EVENTS_FAILED: return run_fail_evaluation(s, s->t, s->x);
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
    if (events_stopped(s->events) != NO_INDEX && !s->ended) {
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

    while (s->next_border < s->border.n && s->border.at[s->next_border] <= s->t + run_tiny(s, s->t)) {
        s->inside = !s->inside;
        s->next_border++;
        crossed = true;
    }
    if (crossed && s->inside && activity_begin(s->activity, s->t, s->x) != 0)
        return run_fail_evaluation(s, s->t, s->x);
    return true;
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
    note_parted(s);
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

    while (s->station < s->o->nstations && s->o->station[s->station] <= s->t + run_tiny(s, s->t))
        s->station++;
    if (s->station < s->o->nstations)
        until = fmin(until, s->o->station[s->station]);
    left = until - s->t;
    count = ceil(left / s->o->max_step * WHOLE);
    return count > 1 ? s->t + left / count : until;
}

/* Where the step that delays allow ends. If that is within rounding of the run's end, it is the run's end, so that a
 * sample there is still taken. */
static double
delayed_until(const run *s)
{
    double limit = delays_limit(s->delays, s->t);

    return fabs(s->stop - limit) <= 2 * run_tiny(s, s->t) ? s->stop : limit;
}

/* Within the last step blocks left their branch: behind that place its rates belong to another branch, and its end
 * state to both. The step is repeated up to there until it ends there: *again. False: reported. */
static bool
take_to_fold(run *s, struct crossing *c, bool *again)
{
    double t0 = integrator_t0(s->integrator), t1 = integrator_t1(s->integrator);

    *again = c->cut && s->nx && t1 - c->t > run_tiny(s, t1) && s->o->solver != SIM_VARIATIONAL &&
             s->folds++ < MOST_FOLDS;
    if (*again) {
        s->fold = c->t;
        return integrator_start(s->integrator, t0, s->x);
    }
    if (!c->found && t1 >= s->fold) { /* what follows begins anew there */
        c->found = c->cut = true;
        c->t = c->t_seen = t1;
        memcpy(s->x_probe, integrator_x1(s->integrator), s->nx * sizeof(double));
    }
    if (c->found) {
        s->fold = INFINITY;
        s->folds = 0;
    }
    return true;
}

/* Blocks take another solution just behind this place; or, if they have none there, other modes. */
static bool
go_on_behind(run *s, double behind, bool *switched)
{
    double margin;

    if (s->blocks)
        model_accept(s->model, s->t + run_tiny(s, s->t), s->x);
    behind = fmax(behind, s->t + 2 * run_tiny(s, s->t));
    if (events_margin(s->events, behind, s->x, &margin))
        return true;
    s->t = behind;
    return note_event(s, events_jolted(s->events, s->t, s->x), switched);
}

/* The present solution ends here: the run goes on from a state just behind this place. */
static bool
jump_from_fold(run *s, double behind, bool *switched)
{
    if (s->nx) {
        if (s->blocks)
            model_accept(s->model, s->t, s->x);
        if (!run_pass_fold(s)) /* it ends a little farther on: repeat up to there */
            return go_on_behind(s, behind, switched);
        if (s->blocks)
            model_accept(s->model, s->t, s->x);
    } else if (s->curved) {
        s->t = behind;
    } else {
        return go_on_behind(s, behind, switched);
    }
    return note_event(s, events_jolted(s->events, s->t, s->x), switched);
}

/* A condition that turned where the last step began turns back early in it: a step that is long beside the fastest time
 * constant does not follow what sets out there (the effort of a diode that begins to conduct), and errors within the
 * tolerance decide the sign of what is small. The step is repeated, so short that it does. */
static bool
turns_back_soon(const run *s, const struct crossing *c)
{
    double t0 = integrator_t0(s->integrator), t1 = integrator_t1(s->integrator);

    return integrator_implicit(s->integrator) && !c->cut && !c->at_start && c->t - t0 < SOON * (t1 - t0) &&
           c->t - t0 > CLEAR * run_tiny(s, t0) && events_turn_back(s->events, t0);
}

static bool
main_loop(run *s)
{
    double shown = s->start;
    bool switched;

    for (size_t step = 0; s->t < s->stop && !s->ended; step++) {
        s->resumes = s->bent = false;
        double until = fmin(fmin(s->stop, events_next(s->events)), delayed_until(s));
        if (s->next_border < s->border.n)
            until = fmin(until, s->border.at[s->next_border]);
        until = fmin(until, fmin(s->fold, s->nearer));
        if (s->stop - s->t <= 2 * run_tiny(s, s->t)) /* a switching within a rounding of the end */
            break;
        if (until - s->t <= run_tiny(s, s->t))
            until = fmin(s->stop, s->t + 2 * run_tiny(s, s->t));
        if (step >= s->max_steps)
            return run_fail_steps(s, s->t);
        if (run_out_of_time(s))
            return run_fail_time(s, step);
        if (s->o->told_to_stop && s->o->told_to_stop())
            return run_fail_told(s);
        if (step % LIMIT_EVERY == 0 && run_never_ends(s))
            return run_fail_switchings(s);
        if (run_creeps(s, step))
            return false;

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
        if (s->blocks)
            model_follow_branch(s->model);
        enum integrator_status status = integrator_step(s->integrator, until);
        if (status != STEP_OK) {
            if (!integrator_ready(s->integrator))
                return false; /* the Jacobian does not compile, as reported */
            if (status == STEP_UNSOLVED)
                return run_fail_unsolved(s);
            if (status == STEP_SINGULAR && !watch_edge(s->watch, s->integrator, s->t))
                return false;
            enum events_status edge = status == STEP_SINGULAR ? run_switch_at_edge(s) : EVENTS_SAME;
            if (edge == EVENTS_SAME && s->curved && run_pass_fold(s))
                edge = events_jolted(s->events, s->t, s->x);
            if (!note_event(s, edge, &switched))
                return false;
            if (switched && !act(s, &switched))
                return false;
            if (!switched)
                return status == STEP_SINGULAR ? run_fail_evaluation(s, s->t, s->x) : run_fail_small_step(s);
            if (!set_out_again(s))
                return false;
            continue;
        }
        double t0 = integrator_t0(s->integrator), t1 = integrator_t1(s->integrator);
        struct crossing c = { .found = false };
        double ahead;
        bool again, leapt = s->nx && s->blocks && model_leapt(s->model);

        if (events_watched(s->events) && !run_find_crossing(s, &c))
            return run_fail_evaluation(s, t0, s->x);
        if (c.doubtful) {
            s->looked.t = NAN;
            s->nearer = c.t;
            s->doubts++;
            if (!integrator_start(s->integrator, t0, s->x))
                return false;
            continue;
        }
        s->nearer = INFINITY;
        s->doubts = 0;
        if (c.found && turns_back_soon(s, &c)) {
            s->looked.t = NAN;
            if (!integrator_start_short(s->integrator, t0, s->x, fmax(LONGER * (c.t - t0), SHORTER * (t1 - t0))))
                return false;
            continue;
        }
        if (!c.found && leapt && !run_find_fold(s, &c) && run_fold_ahead(s, t1 - t0, &ahead)) {
            /* between its ends, of stages on both sides: anew, to half as far */
            c.cut = true;
            c.t = t0 + ahead / 2;
        }
        if (!take_to_fold(s, &c, &again))
            return false;
        if (again)
            continue;
        if (c.found) {
            double *seen = s->inner[0];
            memcpy(seen, s->x_probe, s->nx * sizeof(double));
            if (c.at_start) {
                s->t = t0; /* s->x is still the state there */
            } else {
                s->t = c.t;
                memcpy(s->x, seen, s->nx * sizeof(double));
                if (watch_solves(s->watch) && !watch_switching(s->watch, s->integrator, s->t, s->x))
                    return false;
                if (!run_take_step(s, t0, c.t))
                    return false;
                memcpy(seen, s->x, s->nx * sizeof(double));
                if (!c.cut)
                    run_see_instant(s, &c, seen);
            }
            if (c.at_start)
                events_mark(s->events, t0, s->x);
            switched = false;
            /* what solves blocks behind the switching sets out from what does just before it */
            if (s->blocks && !c.at_start && !c.cut)
                model_accept(s->model, s->t, s->x);
            if (c.cut && !jump_from_fold(s, c.t_seen, &switched))
                return false;
            if (!c.cut && !note_event(s, events_switch(s->events, c.t_seen, seen, s->t, s->x), &switched))
                return false;
        } else {
            s->t = t1;
            if (s->nx)
                memcpy(s->x, integrator_x1(s->integrator), s->nx * sizeof(double));
            if (!run_take_step(s, t0, t1))
                return false;
            switched = false;
            if (s->blocks || watch_solves(s->watch)) {
                model_accept(s->model, s->t, s->x);
                if (!watch_solved(s->watch, s->integrator, s->t, s->x))
                    return false;
            }
            if (!note_event(s, run_switch_at_known(s), &switched))
                return false;
        }
        delays_from(s->delays, s->t);
        if (!pass_breaks(s, &switched))
            return false;
        /* nothing follows the end but samples, which read what is there from now on */
        if ((s->t < s->stop || events_sample_due(s->events, s->t)) &&
            events_next(s->events) <= s->t + run_tiny(s, s->t)) {
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
        if ((switched || c.found || s->bent) && s->t < s->stop && !s->ended && !set_out_again(s))
            return false;
        if (s->o->progress && (step % PROGRESS_EVERY == 0 || s->t - shown > PROGRESS_SHARE * (s->stop - s->start))) {
            shown = s->t;
            s->o->progress(s->o->ctx, s->t, step + 1);
        }
    }
    while (s->grid < s->o->points) { /* the last point; or points that rounding left over */
        if (!run_emit_end(s))
            return false;
        if (s->ended)
            break;
    }
    return true;
}

static double
what_moves(void *ctx, const double *dx, double time)
{
    return integrator_moves(ctx, dx, time);
}

static void
tolerated(void *ctx, double *dx)
{
    integrator_tolerates(ctx, dx);
}

static bool
check_options(run *s)
{
    const sim_options *o = s->o;
    span at = model_run_place(s->model);

    if (!isfinite(o->start) || !isfinite(o->stop) || !(o->stop > o->start)) {
        diag_error(s->sources, "run-span", at, "the run's end (%.6g s) is not after its start (%.6g s)", o->stop,
                   o->start);
        return false;
    }
    if (!(o->stop - o->start > LEAST_SPAN && o->stop - o->start < GREATEST_SPAN)) {
        diag_error(s->sources, "run-span", at, "from %.6g s to %.6g s: no steps are that %s", o->start, o->stop,
                   o->stop - o->start < 1 ? "short" : "long");
        return false;
    }
    if (o->solver == SIM_VARIATIONAL && !(o->max_step > 0)) {
        diag_error(s->sources, "variational-step", at,
                   "the variational integrator takes equal steps, and their length is not given");
        diag_help(s->sources, "Give it: max_step = 1 [ms]; in the experiment, or --step 0.001.");
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

    return status == 0 || (status > -2 && run_fail_evaluation(s, s->start, s->x));
}

static bool
begin_run(run *s)
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
                   "no search for an equilibrium exists for a model with delays");
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
    if (!events_check(s->events, s->max_steps) || !start_delays(s) ||
        !note_event(s, events_start(s->events, s->start, s->x), &switched))
        return false;
    if (first_solution(s->model, s->events, s->start, s->x) == FIRST_CHANGED &&
        !note_event(s, events_start(s->events, s->start, s->x), &switched))
        return false;
    if (o->outputs && o->points && model_has_nets(s->model))
        first_moved(s->model, r->x_start, s->x);
    s->event.n = 0;       /* setting modes at the start is no event */
    if (!start_delays(s)) /* with the modes as they are */
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
    if (o->solver == SIM_VARIATIONAL) {
        bool moving;

        if (!variational_fits(s->model, s->start, s->stop, s->x, &moving))
            return false;
        if (moving && s->follow && s->follow->fire) { /* who follows derivatives looks at what events do */
            diag_error(
                s->sources, "variational-form", model_place(s->model),
                "a ratio between inertias varies: the variational integrator gives no derivatives by parameters in "
                "that case");
            diag_help(s->sources, "Take `solver = auto` for sensitivities and identification.");
            return false;
        }
        integrator_masses_move(s->integrator, moving);
    }
    if (s->nx) { /* said here with the equation's line rather than by the integrator */
        if (model_rhs(s->model, s->start, s->x, s->inner[0]) != 0)
            return run_fail_evaluation(s, s->start, s->x);
    }
    return set_out_again(s);
}

/* Powers are looked at where steps end; what one was in between tells in its integral. */
static bool
finite_powers(run *s)
{
    for (size_t i = 0; i < s->ne; i++)
        if (!isfinite(s->r->activity[i]) || !isfinite(s->r->square[i]) || !isfinite(s->r->net[i])) {
            const struct model_element *e = &model_graph_of(s->model)->element[i];

            diag_error(s->sources, "run-power", e->at,
                       "the energy through \"%s\" is not finite: its power grows beyond all numbers before %.6g s",
                       e->name, s->t);
            return false;
        }
    return true;
}

bool
simulate(bg_model *m, const sim_options *o, sim_result *r)
{
    double rtol = o->rtol > 0 ? o->rtol : SIM_RTOL;
    run s = { .model = m,
              .o = o,
              .r = r,
              .sources = model_sources(m),
              .nx = model_nstates(m),
              .ny = model_noutputs(m),
              .ne = model_nelements(m),
              .start = o->start,
              .stop = o->stop,
              .t = o->start,
              .rtol = rtol,
              .fold = INFINITY,
              .nearer = INFINITY,
              .max_steps = o->max_steps ? o->max_steps : SIM_MOST_STEPS };
    bool ok = false;

    memset(r, 0, sizeof *r);
    r->x_start = bg_calloc(s.nx + 1, sizeof(double));
    r->x_end = bg_calloc(s.nx + 1, sizeof(double));
    if (!check_options(&s) || !need_parts(m, o))
        return false;
    if (!o->goes_on)
        model_forget(m);
    s.blocks = model_has_blocks(m);
    s.curved = model_nets_curved(m);
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
    s.waves = events_watched(s.events) && model_waving(m);
    s.places = events_watched(s.events) && model_hides(m) ? HIDING_PLACES : USUAL_PLACES;
    if (o->activity || o->track || s.delays || events_watched(s.events))
        s.pieces = pieces_new(m, s.start, s.stop);

    s.follow = o->follow;
    if (o->audit && !o->follow) {
        s.audit = audit_new(m, rtol, o->solver == SIM_VARIATIONAL, s.start, s.stop);
        s.audited = (sim_follower){ audit_start, audit_piece, audit_jump, NULL, s.audit };
        s.follow = &s.audited;
    }
    if (s.follow && s.follow->fire)
        events_follow(s.events, s.follow->fire, s.follow->ctx);
    s.watch = watch_new(m, o->activity);
    s.began = bg_wall_seconds();
    s.reach = reach_new(m, s.start, s.stop, s.nx == 0);
    s.integrator = integrator_new(m, rtol, o->atol, o->solver, s.start, s.stop, o->activity || o->track);
    events_measure(s.events, what_moves, tolerated, s.integrator);
    double before = bg_cpu_seconds(), compiled = model_compile_seconds(m);
    ok = begin_run(&s) && main_loop(&s);
    run_warn_unresolved(&s);
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
    r->nparted = s.parted.n;
    r->parted = s.parted.at;
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
    free(r->parted);
    free(r->method);
    memset(r, 0, sizeof *r);
}
