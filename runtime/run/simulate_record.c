/* simulate_record.c - records a step: points of the grid, and smooth pieces for measurements */
#include <math.h>
#include <string.h>

#include "simulate_inside.h"

#define SMOOTH_FOR_ACTIVITY 1e-5

static double
grid_time(const run *s, size_t i)
{
    size_t last = s->o->points - 1;

    return i == last ? s->stop : s->start + (s->stop - s->start) * ((double)i / (double)last);
}

bool
run_emit(run *s, double t, const double *x)
{
    sim_result *r = s->r;
    size_t i = s->grid++;

    r->time[i] = s->ended ? s->ended_at : grid_time(s, i);
    if (r->state)
        memcpy(r->state + i * s->nx, x, s->nx * sizeof(double));
    if (r->output && model_outputs(s->model, t, x, r->output + i * s->ny) != 0)
        return run_fail_evaluation(s, t, x);
    if (r->mode) /* delayed values belong to this time */
        memcpy(r->mode + i * model_nmodes(s->model), model_modes(s->model), model_nmodes(s->model) * sizeof(double));
    return !r->output || watch_outputs(s->watch, r->time[i], x, r->output + i * s->ny) || !s->o->finite_outputs;
}

bool
run_emit_end(run *s)
{
    double t = s->ended ? s->ended_at : s->stop;
    const double *x = s->x;

    /* not if something was set or switched there */
    if (s->nx > 0 && t == integrator_t1(s->integrator) &&
        memcmp(x, integrator_x1(s->integrator), s->nx * sizeof *x) == 0 &&
        integrator_dense_shown(s->integrator, t, s->x_probe))
        x = s->x_probe;
    return run_emit(s, t, x);
}

/* The points of the grid in [t0, t1) of the last step. */
static bool
emit_step(run *s, double t0, double t1)
{
    while (s->grid < s->o->points) {
        double t = grid_time(s, s->grid);
        if (t >= t1 - run_tiny(s, t1) || s->grid + 1 == s->o->points)
            return true;
        if (s->grid == 0 && t <= s->start) { /* dense output at the start equals the state except for rounding */
            if (!run_emit(s, s->start, s->x_first))
                return false;
            continue;
        }
        t = fmax(t, t0);
        if (!integrator_dense_shown(s->integrator, t, s->x_probe))
            return run_fail_evaluation(s, t, s->x);
        if (!run_emit(s, t, s->x_probe))
            return false;
    }
    return true;
}

/* The same piece for delays: it begins where the one before ended. */
static int
keep_history(run *s, double t, const double *last)
{
    const double *const x[5] = { s->piece_begin, s->inner[0], s->inner[1], s->inner[2], last };
    int status = delays_keep(s->delays, s->piece_from, t, x);

    s->piece_from = t;
    memcpy(s->piece_begin, last, s->nx * sizeof(double));
    return status;
}

/* One piece of a step, to t: the states inside it are s->inner, the state at its end is last. */
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

void
sim_scales(void *of, double *scale)
{
    run *s = of;

    integrator_scales(s->integrator, scale);
}

/* The smooth piece [t0, t1] of the last step for a follower; its end state is s->x. */
static bool
follow_piece(run *s, double t0, double t1)
{
    memcpy(s->x_before, s->x, s->nx * sizeof(double));
    memcpy(s->modes_before, model_modes(s->model), model_nmodes(s->model) * sizeof(double));
    delays_give(s->delays, t1, s->modes_before);
    return s->follow->piece(s->follow->ctx, t0, t1, dense_in_step, s);
}

bool
run_take_step(run *s, double t0, double t1)
{
    for (size_t i = 0; s->x_most && i < s->nx; i++)
        s->x_most[i] = fmax(s->x_most[i], fabs(s->x[i]));
    if (!vec_finite(s->nx, s->x))
        return run_fail_overflow(s, t0);
    if (!watch_step(s->watch, s->integrator, t1, s->x))
        return false;
    int status = (s->inside || s->o->track || s->delays) && t1 > t0 ? take_pieces(s, t0, t1) : 0;
    if (status == TRACK_NOT_FINITE || status == TRACK_BEYOND)
        return false; /* watch_report names the output; the track's owner knows it */
    if (status != 0)
        return run_fail_evaluation(s, t0, s->x);
    return (!s->follow || follow_piece(s, t0, t1)) && emit_step(s, t0, t1);
}

void
run_warn_unresolved(const run *s)
{
    size_t k = pieces_unresolved(s->pieces);

    if (k == NO_INDEX)
        return;
    diag_warn(s->sources, "run-unresolved", model_clock_place(s->model, k),
              "this function of time changes too often to be followed: conditions between steps may be missed, and "
              "activities are estimates");
    diag_help(s->sources, "Use a shorter experiment, or one for the slow part alone.");
}
