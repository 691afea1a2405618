/* forward.c - see forward.h */
#include "forward.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "crossing.h"
#include "outset.h"
#include "paced.h"
#include "tangent.h"

#define SLOPE "a law has no finite slope there, or the linearised equations are singular"

struct follower {
    forward *f;
    bg_model *m;
    const sim_options *o;
    tangent *tangent;
    outset *outset;
    crossings *crossings;
    paced paced;       /* unused with the variational integrator, whose steps define the model */
    size_t nx, ny, nq; /* nq: columns */
    double *s;         /* [nq][nx] */
    double *of_column; /* [nq] size of the quantity of each column, as far as its value tells */
    size_t *state_of;  /* [nq] the state whose initial value or jump it is; NO_INDEX: none */
    double *scale;     /* [nx] of the states */
    double *x, *y, *gathered;
    sim_dense *dense; /* of the current piece */
    void *of;
    size_t *parameter; /* [nq] parameter of each column */
    double tiny;
    bool failed;
};

/* The parameter of a column; NO_INDEX: the column is an initial value or a jump. */
static size_t
parameter_of(const struct follower *w, size_t column)
{
    return column < w->f->n ? column : NO_INDEX;
}

static bool map_step(void *ctx, double t0, double t1, double *s, double *rounding);
static void forward_floor(void *ctx, const double *seen, double *floor);

static void
open_follower(struct follower *w)
{
    forward *f = w->f;

    w->nx = model_nstates(w->m);
    w->ny = model_noutputs(w->m);
    w->nq = forward_columns(f);
    w->x = bg_calloc(w->nx + 1, sizeof(double));
    w->y = bg_calloc(w->ny + 1, sizeof(double));
    if (w->nq == 0)
        return;
    w->s = bg_calloc(w->nq * w->nx + 1, sizeof(double));
    w->parameter = bg_calloc(w->nq + 1, sizeof *w->parameter);
    for (size_t q = 0; q < w->nq; q++)
        w->parameter[q] = parameter_of(w, q);
    w->scale = bg_calloc(w->nx + 1, sizeof(double));
    w->of_column = bg_calloc(w->nq + 1, sizeof(double));
    w->state_of = bg_calloc(w->nq + 1, sizeof *w->state_of);
    for (size_t q = 0; q < w->nq; q++)
        w->state_of[q] = q < f->n                 ? NO_INDEX
                         : q < f->n + f->ninitial ? f->initial[q - f->n]
                                                  : f->jump[q - f->n - f->ninitial];
    for (size_t q = 0; q < f->n; q++)
        w->of_column[q] = model_parameter_value(w->m, f->by[q]);
    w->paced =
        (paced){ .n = w->nq * w->nx, .map = map_step, .least = forward_floor, .ctx = w, .wary = paced_wary(w->m) };
    paced_open(&w->paced, w->o);
    w->tangent = tangent_new(w->m, f->by, f->n, w->o->solver == SIM_VARIATIONAL);
    w->outset = outset_new(w->m, f->by, f->n, w->o->start);
    w->crossings = crossings_new(w->m, f->by, f->n, w->o->stop - w->o->start);
    w->failed = w->tangent == NULL;
    if (w->tangent)
        w->gathered = bg_calloc(tangent_states(w->tangent) * w->nx + 1, sizeof(double));
}

static void
close_follower(struct follower *w)
{
    tangent_free(w->tangent);
    outset_free(w->outset);
    crossings_free(w->crossings);
    paced_close(&w->paced);
    free(w->s);
    free(w->scale);
    free(w->of_column);
    free(w->state_of);
    free(w->x);
    free(w->y);
    free(w->gathered);
    free(w->parameter);
}

/* ---------------------------------------------------------------- steps and observations */

bool
forward_no_value(const bg_model *m, double t, const char *what)
{
    diag_error(model_sources(m), "run-sensitivity", model_run_place(m),
               "the derivatives by parameters have no value at %.6g s: %s", t, what);
    return false;
}

static bool
no_value(struct follower *w, double t, const char *what)
{
    w->failed = true;
    return forward_no_value(w->m, t, what);
}

/* One step of all columns. */
static bool
map_step(void *ctx, double t0, double t1, double *s, double *rounding)
{
    struct follower *w = ctx;

    return tangent_gather(w->tangent, t0, t1, w->dense, w->of, w->gathered) &&
           tangent_step(w->tangent, t0, t1, w->gathered) &&
           tangent_forward(w->tangent, w->parameter, w->nq, s, rounding);
}

static void
forward_floor(void *ctx, const double *seen, double *floor)
{
    struct follower *w = ctx;

    sim_scales(w->of, w->scale);
    for (size_t q = 0; q < w->nq; q++) {
        if (w->state_of[q] != NO_INDEX)
            w->of_column[q] = fmax(w->of_column[q], w->scale[w->state_of[q]]);
        paced_least(w->nx, w->scale, w->of_column[q], false, seen + q * w->nx, floor + q * w->nx);
        /* two quantities that have rested so far: no size of either is known */
        for (size_t i = 0; i < w->nx && w->state_of[q] != NO_INDEX && w->of_column[q] == 0; i++)
            if (w->scale[i] == 0)
                floor[q * w->nx + i] = fmax(floor[q * w->nx + i], paced_share(1));
    }
}

/* Carries s from t0 to t1, an interval on which the dense output is valid. */
static bool
step_sensitivities(struct follower *w, double t0, double t1, sim_dense *dense, void *of)
{
    if (!(t1 > t0) || w->nx == 0)
        return true;
    w->dense = dense;
    w->of = of;
    sim_scales(of, w->scale);
    crossings_scales(w->crossings, w->scale);
    if (w->o->solver == SIM_VARIATIONAL ? map_step(w, t0, t1, w->s, NULL) : paced_step(&w->paced, t0, t1, w->s))
        return true;
    return no_value(w, t0, w->paced.why ? w->paced.why : SLOPE);
}

static bool
observe(struct follower *w, double t, const double *x)
{
    forward *f = w->f;
    size_t i = f->done;

    if (model_outputs(w->m, t, x, f->output + i * w->ny) != 0)
        return no_value(w, t, "an output has none");
    f->done++;
    if (w->nq == 0)
        return true;
    if (!tangent_point(w->tangent, t, x))
        return no_value(w, t, SLOPE);
    for (size_t q = 0; q < w->nq; q++) {
        if (!tangent_outputs(w->tangent, parameter_of(w, q), w->s + q * w->nx, w->y))
            return no_value(w, t, SLOPE);
        for (size_t k = 0; k < w->ny; k++)
            f->derivative[(i * w->ny + k) * w->nq + q] = w->y[k];
    }
    return true;
}

static bool
on_piece(void *ctx, double t0, double t1, sim_dense *dense, void *of)
{
    struct follower *w = ctx;
    forward *f = w->f;
    double t = t0;

    while (f->done < f->ntimes && f->time[f->done] < t1 - w->tiny) {
        double next = fmax(f->time[f->done], t0);

        if (w->nq && next > t + w->tiny) {
            if (!step_sensitivities(w, t, next, dense, of))
                return false;
            t = next;
        }
        if (!dense(of, next, w->x))
            return no_value(w, next, "the model cannot be evaluated");
        if (!observe(w, next, w->x))
            return false;
    }
    return w->nq == 0 || step_sensitivities(w, t, t1, dense, of);
}

/* ---------------------------------------------------------------- events and the start */

static void
on_fire(void *ctx, size_t when, bool first, const double *x)
{
    struct follower *w = ctx;

    if (w->nq)
        crossings_fire(w->crossings, when, first, x);
}

static bool
cross_event(struct follower *w, const crossing *c)
{
    for (size_t q = 0; q < w->nq; q++) {
        size_t jump = q >= w->f->n + w->f->ninitial ? w->state_of[q] : NO_INDEX;

        if (!crossing_forward(w->crossings, c, parameter_of(w, q), jump, w->s + q * w->nx))
            return false;
    }
    return true;
}

static bool
on_jump(void *ctx, double t, const double *before, const double *modes_before, const double *after)
{
    struct follower *w = ctx;
    crossing *c;
    size_t n;
    bool fine;

    if (w->nq == 0 || w->nx == 0)
        return true;
    paced_forget(&w->paced);
    fine = crossings_jump(w->crossings, t, before, modes_before, after, &c, &n);
    for (size_t i = 0; i < n; i++) {
        fine = fine && cross_event(w, &c[i]);
        crossing_free(&c[i]);
    }
    free(c);
    return fine || no_value(w, t, "a condition has none");
}

static bool
initial_sensitivities(struct follower *w)
{
    for (size_t q = 0; q < w->f->n; q++)
        if (!outset_initial(w->outset, q, w->s + q * w->nx))
            return false;
    for (size_t k = 0; k < w->f->ninitial; k++)
        w->s[(w->f->n + k) * w->nx + w->f->initial[k]] = 1;
    return true;
}

static bool
on_start(void *ctx, double t, const double *x)
{
    struct follower *w = ctx;
    crossing c;
    bool fired, fine = true;

    if (w->nq == 0 || w->nx == 0)
        return true;
    for (size_t k = 0; k < w->f->ninitial; k++)
        w->of_column[w->f->n + k] = x[w->f->initial[k]];
    fired = crossings_begin(w->crossings, t, x, &c);
    if (w->o->equilibrium) {
        fine = outset_rests(w->outset, w->tangent, t, fired ? c.x : x);
        for (size_t q = 0; q < w->f->n && fine; q++)
            fine = outset_equilibrium(w->outset, w->tangent, q, w->s + q * w->nx);
    }
    fine = fine && (!fired || cross_event(w, &c));
    if (fired)
        crossing_free(&c);
    return fine || no_value(w, t, SLOPE);
}

size_t
forward_columns(const forward *f)
{
    return f->n + f->ninitial + f->njumps;
}

bool
forward_run(forward *f, const sim_options *o)
{
    struct follower w = { .f = f,
                          .m = f->model,
                          .o = o,
                          .tiny = 8 * DBL_EPSILON * fmax(fabs(o->stop), o->stop - o->start) };
    sim_follower follow = { .start = on_start, .piece = on_piece, .jump = on_jump, .fire = on_fire, .ctx = &w };
    sim_options plain = *o;
    sim_result r = { 0 };
    size_t reached;
    bool fine;

    plain.points = 0;
    plain.outputs = plain.states = plain.modes = false;
    plain.activity = f->activity != NULL;
    plain.follow = &follow;
    if (o->solver == SIM_VARIATIONAL) {
        plain.station = f->time;
        plain.nstations = f->ntimes;
    }
    f->done = f->lost = 0;
    open_follower(&w);
    fine = !w.failed && model_need(f->model, PART_OUTPUTS) && initial_sensitivities(&w);
    if (fine) {
        fine = simulate(f->model, &plain, &r);
        reached = f->done;
        f->end = r.t_end;
        while (fine && f->done < f->ntimes) {
            reached += f->time[f->done] <= r.t_end + w.tiny;
            fine = observe(&w, r.t_end, r.x_end);
        }
        f->done = reached;
        if (fine && f->activity)
            memcpy(f->activity, r.activity, model_nelements(f->model) * sizeof(double));
        f->seconds = r.cpu_seconds;
        f->steps = r.steps;
        sim_result_free(&r);
    }
    if (w.crossings)
        f->lost = crossings_lost(w.crossings);
    close_follower(&w);
    return fine;
}
