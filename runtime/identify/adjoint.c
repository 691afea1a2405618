/* adjoint.c - see adjoint.h */
#include "adjoint.h"

#include <string.h>

#include "crossing.h"
#include "forward.h"
#include "outset.h"
#include "tangent.h"

#define SLOPE "a law has no finite slope there, or the linearised equations are singular"
static const double MOST_NUMBERS = 2.5e8; /* of a recorded run: 2 GB */

/* A step, or (event not SIZE_MAX) what happened between two. */
struct record {
    double t0, t1;
    size_t states, modes, event; /* numbers in the tape's lists */
};

struct tape {
    adjoint *a;
    const sim_options *o;
    tangent *tangent;
    outset *outset;
    crossings *crossings;
    size_t nx, nmodes, each; /* each: states a step */
    VEC(struct record) record;
    VEC(double) states;
    VEC(double *) modes;
    VEC(crossing) event;
    double start;
    double *resting; /* [nx] where the run set out, before its first events */
    size_t rest_modes;
    bool failed;
};

static bool
no_value(struct tape *w, double t, const char *what)
{
    w->failed = true;
    return forward_no_value(w->a->model, t, what);
}

/* The number of the present modes. */
static size_t
keep_modes(struct tape *w, const double *modes)
{
    double *copy;

    if (w->modes.n && (w->nmodes == 0 || !memcmp(w->modes.at[w->modes.n - 1], modes, w->nmodes * sizeof *modes)))
        return w->modes.n - 1;
    copy = bg_calloc(w->nmodes + 1, sizeof *copy);
    if (w->nmodes)
        memcpy(copy, modes, w->nmodes * sizeof *modes);
    vec_push(&w->modes, copy);
    return w->modes.n - 1;
}

static void
set_modes(struct tape *w, size_t number)
{
    if (w->nmodes)
        memcpy(model_modes(w->a->model), w->modes.at[number], w->nmodes * sizeof(double));
}

static void
keep_event(struct tape *w, crossing c)
{
    vec_push(&w->event, c);
    vec_push(&w->record, ((struct record){ .event = w->event.n - 1 }));
}

static bool
on_start(void *ctx, double t, const double *x)
{
    struct tape *w = ctx;
    crossing c;

    w->start = t;
    if (crossings_begin(w->crossings, t, &c)) {
        w->rest_modes = keep_modes(w, c.modes);
        keep_event(w, c);
        x = c.x;
    } else {
        w->rest_modes = keep_modes(w, model_modes(w->a->model));
    }
    if (w->nx)
        memcpy(w->resting, x, w->nx * sizeof *x);
    return true;
}

static bool
on_piece(void *ctx, double t0, double t1, sim_dense *dense, void *of)
{
    struct tape *w = ctx;
    size_t at = w->states.n;

    if (!(t1 > t0) || w->nx == 0)
        return true;
    if ((double)at + (double)w->each > MOST_NUMBERS) {
        sources *src = model_sources(w->a->model);

        diag_error(src, "run-sensitivity", model_run_place(w->a->model),
                   "a run of more than %zu steps of %zu states is too long to be recorded", w->record.n, w->nx);
        diag_help(src, "`--method forward` needs no record.");
        w->failed = true;
        return false;
    }
    vec_resize(&w->states, at + w->each);
    if (!tangent_gather(w->tangent, t0, t1, dense, of, w->states.at + at))
        return no_value(w, t0, "the model cannot be evaluated");
    vec_push(&w->record, ((struct record){ t0, t1, at, keep_modes(w, model_modes(w->a->model)), SIZE_MAX }));
    return true;
}

static void
on_fire(void *ctx, size_t when, bool first, const double *x)
{
    struct tape *w = ctx;

    crossings_fire(w->crossings, when, first, x);
}

static bool
on_jump(void *ctx, double t, const double *before, const double *modes_before, const double *after)
{
    struct tape *w = ctx;
    crossing c;

    if (w->nx == 0)
        return true;
    if (!crossings_jump(w->crossings, t, before, modes_before, after, &c)) {
        crossing_free(&c);
        return no_value(w, t, "a condition has none");
    }
    keep_event(w, c);
    return true;
}

/* ---------------------------------------------------------------- back */

/* From the end to the start; lambda [outputs][states]. */
static bool
go_back(struct tape *w, double *lambda)
{
    adjoint *a = w->a;

    for (size_t k = w->record.n; k-- > 0;) {
        const struct record *r = &w->record.at[k];

        if (r->event == SIZE_MAX) {
            set_modes(w, r->modes);
            if (!tangent_step(w->tangent, r->t0, r->t1, w->states.at + r->states))
                return no_value(w, r->t0, SLOPE);
        }
        for (size_t i = 0; i < a->noutputs; i++) {
            double *l = lambda + i * w->nx, *gradient = a->gradient + i * a->n;

            if (r->event == SIZE_MAX
                    ? !tangent_back(w->tangent, l, gradient)
                    : !crossing_back(w->crossings, &w->event.at[r->event], l, gradient, a->jump + i * w->nx))
                return no_value(w, r->t0, SLOPE);
        }
    }
    return true;
}

/* What lambda at the start says of parameters that initial values or the equilibrium follow. */
static bool
through_start(struct tape *w, const double *lambda)
{
    adjoint *a = w->a;
    double *s = bg_calloc(w->nx + 1, sizeof *s);
    bool fine = true;

    if (w->o->equilibrium && w->nx) {
        set_modes(w, w->rest_modes);
        fine = outset_rests(w->outset, w->tangent, w->start, w->resting);
    }
    for (size_t q = 0; q < a->n && fine; q++) {
        fine = outset_initial(w->outset, q, s);
        if (fine && w->o->equilibrium && w->nx)
            fine = outset_equilibrium(w->outset, w->tangent, q, s);
        for (size_t i = 0; i < a->noutputs && fine; i++)
            for (size_t k = 0; k < w->nx; k++)
                a->gradient[i * a->n + q] += lambda[i * w->nx + k] * s[k];
    }
    free(s);
    return fine || no_value(w, w->start, SLOPE);
}

static bool
at_end(struct tape *w, double t, const double *x, double *lambda)
{
    adjoint *a = w->a;
    size_t ny = model_noutputs(a->model);
    double *y = bg_calloc(ny + 1, sizeof *y), *weight = bg_calloc(ny + 1, sizeof *weight);
    bool fine = model_outputs(a->model, t, x, y) == 0 && tangent_point(w->tangent, t, x);

    for (size_t i = 0; i < a->noutputs && fine; i++) {
        a->value[i] = y[a->output[i]];
        weight[a->output[i]] = 1;
        fine = tangent_outputs_back(w->tangent, weight, lambda + i * w->nx, a->gradient + i * a->n);
        weight[a->output[i]] = 0;
    }
    free(y);
    free(weight);
    return fine || no_value(w, t, SLOPE);
}

bool
adjoint_run(adjoint *a, const sim_options *o)
{
    struct tape w = { .a = a, .o = o, .nx = model_nstates(a->model), .nmodes = model_nmodes(a->model) };
    sim_follower follow = { .start = on_start, .piece = on_piece, .jump = on_jump, .fire = on_fire, .ctx = &w };
    sim_options plain = *o;
    sim_result r = { 0 };
    double *lambda = bg_calloc(a->noutputs * w.nx + 1, sizeof *lambda);
    bool fine;

    plain.points = 0;
    plain.outputs = plain.states = plain.modes = plain.activity = false;
    plain.follow = &follow;
    memset(a->gradient, 0, a->noutputs * a->n * sizeof(double));
    memset(a->jump, 0, a->noutputs * w.nx * sizeof(double));
    w.tangent = tangent_new(a->model, a->by, a->n, o->solver == SIM_VARIATIONAL);
    w.outset = outset_new(a->model, a->by, a->n, o->start);
    w.crossings = crossings_new(a->model, a->by, a->n, o->stop - o->start);
    w.resting = bg_calloc(w.nx + 1, sizeof *w.resting);
    fine = w.tangent && model_need(a->model, PART_OUTPUTS);
    if (fine) {
        w.each = tangent_states(w.tangent) * w.nx;
        fine = simulate(a->model, &plain, &r) && at_end(&w, r.t_end, r.x_end, lambda) && go_back(&w, lambda) &&
               through_start(&w, lambda);
        a->end = r.t_end;
        sim_result_free(&r);
    }
    if (fine && w.nx)
        memcpy(a->initial, lambda, a->noutputs * w.nx * sizeof *lambda);
    a->lost = crossings_lost(w.crossings);
    for (size_t i = 0; i < w.modes.n; i++)
        free(w.modes.at[i]);
    for (size_t i = 0; i < w.event.n; i++)
        crossing_free(&w.event.at[i]);
    vec_free(&w.record);
    vec_free(&w.states);
    vec_free(&w.modes);
    vec_free(&w.event);
    tangent_free(w.tangent);
    outset_free(w.outset);
    crossings_free(w.crossings);
    free(w.resting);
    free(lambda);
    return fine;
}
