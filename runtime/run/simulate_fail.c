/* simulate_fail.c - messages of a run that fails */
#include <math.h>

#include "model_graph.h"
#include "simulate_inside.h"

#define END_OF_NUMBERS 1e300   /* a state of this size: the next step may exceed the range of floating-point numbers */
#define SWITCHINGS_TOLD 200000 /* switchings after which the length of the run is estimated */
#define STIFF_EVERY 16384      /* steps after which the choice of the explicit method is questioned */
#define STIFF_TOLD 1e6         /* steps that it still needs, from which on that is said */

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

/* Is the greatest state at the limit of floating-point numbers, or beyond? */
static bool
overflows(const double *x, size_t n, size_t *which)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        if (!(fabs(x[i]) <= most)) {
            most = isnan(x[i]) ? INFINITY : fabs(x[i]);
            *which = i;
        }
    return most > END_OF_NUMBERS;
}

static bool
fail_overflow(run *s, size_t state, double t)
{
    diag_error(s->sources, "run-overflow", model_state(s->model, state).at,
               "\"%s\" grows beyond all numbers after %.6g s", model_state(s->model, state).name, t);
    return false;
}

bool
run_fail_overflow(run *s, double t0)
{
    size_t i = 0;

    overflows(s->x, s->nx, &i);
    return fail_overflow(s, i, t0);
}

bool
run_fail_evaluation(run *s, double t, const double *x)
{
    size_t i = 0;

    if (explain(s, t, x))
        return false;
    if (overflows(x, s->nx, &i))
        fail_overflow(s, i, t);
    else
        diag_error(s->sources, "run-singular", model_place(s->model), "the equations have no finite solution at %.6g s",
                   t);
    return false;
}

/* What to do, and the solver that was not used when the run failed. */
static void
help_solver(run *s, const char *what)
{
    const char *other = integrator_other(s->integrator);

    diag_help(s->sources, "%s%s%s%s.", what, other ? "; or try `--solver " : "", other ? other : "", other ? "`" : "");
}

bool
run_fail_small_step(run *s)
{
    double t = integrator_t1(s->integrator), ratio;
    size_t i = integrator_worst(s->integrator, &ratio);

    if (s->nx == 0 || explain(s, t, s->x))
        return false;
    struct model_state state = model_state(s->model, i);
    diag_error(s->sources, "run-step", state.at,
               "the step becomes too small at %.6g s; \"%s\" = %s has the largest error there", t, state.name,
               model_state_shown(s->model, i, integrator_x1(s->integrator)[i]).text);
    watch_note_divisor(s->watch, t, integrator_x1(s->integrator));
    help_solver(s, "Look for a law that jumps or grows without bound near this point, or loosen rtol");
    return false;
}

bool
run_fail_steps(run *s, double t)
{
    double ratio;
    size_t i = integrator_worst(s->integrator, &ratio);
    span at = s->nx ? model_state(s->model, i).at : model_place(s->model);

    diag_error(s->sources, "run-steps", at, "the limit of %zu steps is reached at %.6g s of %.6g s", s->max_steps, t,
               s->stop);
    if (s->nx)
        diag_note(s->sources, at, "\"%s\" has the largest error of the last step", model_state(s->model, i).name);
    help_solver(s, "Loosen rtol, shorten the run, or look for a condition that switches over and over");
    return false;
}

/* Estimated number of switchings at the end of the run, from the rate of the last half of them. If they come ever
 * faster, it is more than a hundred times the limit, doubled as often as each doubling is that much quicker than the
 * one before (for exp(t) each takes equally long). */
static double
switchings_in_all(const run *s)
{
    size_t n = s->event.n;
    const double *at = s->event.at;
    double last = at[n - 1] - at[n / 2], before = at[n / 2] - at[n / 4], most = 100 * (double)s->max_steps;
    double all = (double)n * (1 + (s->stop - s->t) / (2 * last)), doubled = (double)n, t = s->t, next = last;

    while (before > 0 && doubled < most && t < s->stop) {
        next *= last / before;
        t += next;
        doubled *= 2;
    }
    return doubled >= most ? fmax(all, doubled) : all;
}

bool
run_never_ends(const run *s)
{
    return s->event.n >= SWITCHINGS_TOLD && !s->o->max_steps && switchings_in_all(s) > (double)s->max_steps;
}

bool
run_fail_switchings(run *s)
{
    size_t k = events_last(s->events);
    span at = k == NO_INDEX ? model_place(s->model) : model_mode(s->model, k).at;

    diag_error(s->sources, "run-steps", at,
               "%zu switchings were needed to %.6g s of %.6g s: at this rate the run needs %.2g", s->event.n, s->t,
               s->stop, switchings_in_all(s));
    if (k != NO_INDEX)
        diag_note(s->sources, at, "the last one was of \"%s\"", model_mode(s->model, k).text);
    diag_help(s->sources, "Shorten the run, or allow as many steps with --max-steps.");
    return false;
}

static double
last_step(const run *s)
{
    return integrator_t1(s->integrator) - integrator_t0(s->integrator);
}

bool
run_creeps(run *s, size_t step)
{
    if (step == 0 || step % STIFF_EVERY != 0)
        return false;
    double more = integrator_stiff(s->integrator);
    if (more <= STIFF_TOLD || s->o->max_steps)
        return false;
    if (more > (double)s->max_steps) {
        diag_error(s->sources, "run-steps", model_place(s->model),
                   "at %.6g s of %.6g s the explicit method needs %.2g more steps: stability limits them to %.2g s",
                   s->t, s->stop, more, last_step(s));
        help_solver(s, "The model is stiff: shorten the run, or allow as many steps with --max-steps");
        return true;
    }
    if (!s->stiff_told) {
        diag_info(
            s->sources, "run-stiff", model_place(s->model),
            "the explicit method takes %.2g more steps from %.6g s on: stability limits them to %.2g s; `--solver "
            "bdf` takes few",
            more, s->t, last_step(s));
        s->stiff_told = true;
    }
    return false;
}

bool
run_fail_unsolved(run *s)
{
    diag_error(s->sources, "run-step", model_place(s->model),
               "the midpoint equations of a step of %.3g s from %.6g s on have no solution nearby", s->o->max_step,
               s->t);
    diag_help(s->sources, "Take shorter steps: max_step, or --step.");
    return false;
}

bool
run_fail_time(run *s, size_t steps)
{
    diag_error(s->sources, "run-time", model_place(s->model),
               "the limit of %.3g seconds is reached at %.6g s of "
               "%.6g s, after %zu steps",
               s->o->max_seconds, s->t, s->stop, steps);
    diag_help(s->sources, "Allow more with --max-time, loosen rtol, or shorten the run.");
    return false;
}

bool
run_fail_told(run *s)
{
    diag_error(s->sources, "run-interrupted", model_place(s->model), "stopped on request at %.6g s of %.6g s", s->t,
               s->stop);
    return false;
}

bool
run_out_of_time(run *s)
{
    if (s->o->max_seconds <= 0 || ++s->unlooked < LIMIT_EVERY)
        return false;
    s->unlooked = 0;
    return bg_wall_seconds() - s->began > s->o->max_seconds;
}
