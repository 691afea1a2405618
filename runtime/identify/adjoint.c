/* adjoint.c - see adjoint.h */
#include "adjoint.h"

#include <math.h>
#include <string.h>

#include "crossing.h"
#include "forward.h"
#include "outset.h"
#include "paced.h"
#include "tangent.h"

#define SLOPE "a law has no finite slope there, or the linearised equations are singular"
static const double MOST_NUMBERS = 2.5e8; /* limit for a recorded run: 2 GB */
/* A step is kept by its states at Lobatto's points; the polynomial through them is the integrator's own. */
enum { PLACES = 6 };
static const double lobatto_place[PLACES] = {
    0, 0.11747233803526765, 0.35738424175967745, 0.64261575824032255, 0.88252766196473235, 1
};

/* A step, or (event not NO_INDEX) what happened between two steps. */
struct record {
    double t0, t1;
    size_t states, modes, event; /* positions in the tape's lists */
};

struct tape {
    adjoint *a;
    const sim_options *o;
    tangent *tangent;
    outset *outset;
    crossings *crossings;
    paced paced;              /* lambda and gradient of all outputs, integrated backwards */
    const struct record *at;  /* the current step */
    double *gathered, *scale; /* scale: [nx] of the states */
    double *size;             /* [outputs] sizes of the outputs over the run, since they may be zero at its end */
    size_t nx, nmodes, each;  /* each: numbers kept for a step */
    VEC(struct record) record;
    VEC(double) states;
    VEC(double *) modes;
    VEC(crossing) event;
    double start;
    double *resting; /* [nx] the initial state, before the first events */
    size_t rest_modes;
    bool failed;
};

static bool
no_value(struct tape *w, double t, const char *what)
{
    w->failed = true;
    return forward_no_value(w->a->model, t, what);
}

/* Number under which the present modes are kept. */
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
set_recorded_modes(struct tape *w, size_t number)
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
    if (crossings_begin(w->crossings, t, x, &c)) {
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
keep_states(struct tape *w, double t0, double t1, sim_dense *dense, void *of, double *to)
{
    for (size_t i = 0; i < PLACES; i++)
        if (!dense(of, i + 1 == PLACES ? t1 : t0 + lobatto_place[i] * (t1 - t0), to + i * w->nx))
            return false;
    return true;
}

/* The states within the current step at t, by Lagrange's polynomial. */
static bool
kept_dense(void *of, double t, double *x)
{
    const struct tape *w = of;
    double u = (t - w->at->t0) / (w->at->t1 - w->at->t0);

    memset(x, 0, w->nx * sizeof *x);
    for (size_t i = 0; i < PLACES; i++) {
        const double *from = w->states.at + w->at->states + i * w->nx;
        double weight = 1;

        for (size_t j = 0; j < PLACES; j++)
            if (j != i)
                weight *= (u - lobatto_place[j]) / (lobatto_place[i] - lobatto_place[j]);
        for (size_t k = 0; k < w->nx; k++)
            x[k] += weight * from[k];
    }
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
    if (w->o->solver == SIM_VARIATIONAL ? !tangent_gather(w->tangent, t0, t1, dense, of, w->states.at + at)
                                        : !keep_states(w, t0, t1, dense, of, w->states.at + at))
        return no_value(w, t0, "the model cannot be evaluated");
    sim_scales(of, w->scale);
    crossings_scales(w->crossings, w->scale);
    vec_push(&w->record, ((struct record){ t0, t1, at, keep_modes(w, model_modes(w->a->model)), NO_INDEX }));
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
    crossing *c;
    size_t n;
    bool fine;

    if (w->nx == 0)
        return true;
    fine = crossings_jump(w->crossings, t, before, modes_before, after, &c, &n);
    for (size_t i = 0; i < n; i++)
        keep_event(w, c[i]);
    free(c);
    return fine || no_value(w, t, "a condition has none");
}

/* ---------------------------------------------------------------- back */

/* From t0 back to t1 within the current step; v: lambda [outputs][states], gradient [outputs][parameters]. */
static bool
map_back(void *ctx, double t0, double t1, double *v, double *rounding)
{
    struct tape *w = ctx;
    const adjoint *a = w->a;
    const double *x = w->states.at + w->at->states;

    if (w->o->solver != SIM_VARIATIONAL) {
        if (!tangent_gather(w->tangent, t1, t0, kept_dense, w, w->gathered))
            return false;
        x = w->gathered;
    }
    if (!tangent_step(w->tangent, t1, t0, x))
        return false;
    for (size_t i = 0; i < a->noutputs; i++) {
        size_t lambda = i * w->nx, gradient = a->noutputs * w->nx + i * a->n;

        if (!tangent_back(w->tangent, v + lambda, v + gradient, rounding ? rounding + lambda : NULL,
                          rounding ? rounding + gradient : NULL))
            return false;
    }
    return true;
}

/* For a parameter: the change of the output that its own size causes. A parameter of zero has no size: then lambda
 * alone counts. */
static void
backward_floor(void *ctx, const double *seen, double *floor)
{
    struct tape *w = ctx;
    const adjoint *a = w->a;
    double *gradient = floor + a->noutputs * w->nx;

    for (size_t i = 0; i < a->noutputs; i++) {
        double most = paced_least(w->nx, w->scale, w->size[i], true, seen + i * w->nx, floor + i * w->nx);

        for (size_t q = 0; q < a->n; q++) {
            double size = fabs(model_parameter_value(a->model, a->by[q]));

            *gradient++ = size > 0 ? paced_share(most / size) : INFINITY;
        }
    }
}

static bool
back_over_event(struct tape *w, const crossing *c, double *v)
{
    adjoint *a = w->a;

    paced_forget(&w->paced);
    for (size_t i = 0; i < a->noutputs; i++)
        if (!crossing_back(w->crossings, c, v + i * w->nx, v + a->noutputs * w->nx + i * a->n, a->jump + i * w->nx))
            return false;
    return true;
}

/* From the end of the run to its start. */
static bool
go_back(struct tape *w, double *lambda)
{
    adjoint *a = w->a;
    size_t nl = a->noutputs * w->nx, ng = a->noutputs * a->n;
    double *v = bg_calloc(nl + ng + 1, sizeof *v);
    bool fine = true;

    if (nl)
        memcpy(v, lambda, nl * sizeof *v);
    memcpy(v + nl, a->gradient, ng * sizeof *v);
    w->paced =
        (paced){ .n = nl + ng, .map = map_back, .least = backward_floor, .ctx = w, .wary = paced_wary(w->a->model) };
    paced_open(&w->paced, w->o);
    for (size_t k = w->record.n; k-- > 0 && fine;) {
        const struct record *r = w->at = &w->record.at[k];

        if (r->event != NO_INDEX) {
            fine = back_over_event(w, &w->event.at[r->event], v);
        } else {
            set_recorded_modes(w, r->modes);
            fine = w->o->solver == SIM_VARIATIONAL ? map_back(w, r->t1, r->t0, v, NULL)
                                                   : paced_step(&w->paced, r->t1, r->t0, v);
        }
        fine = fine || no_value(w, r->t0, w->paced.why ? w->paced.why : SLOPE);
    }
    if (nl)
        memcpy(lambda, v, nl * sizeof *v);
    memcpy(a->gradient, v + nl, ng * sizeof *v);
    paced_close(&w->paced);
    free(v);
    return fine;
}

/* Adds to the gradient what lambda at the start says of parameters that determine initial values or the equilibrium. */
static bool
through_start(struct tape *w, const double *lambda)
{
    adjoint *a = w->a;
    double *s = bg_calloc(w->nx + 1, sizeof *s);
    bool fine = true;

    if (w->o->equilibrium && w->nx) {
        set_recorded_modes(w, w->rest_modes);
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
    double *y = bg_calloc(ny + 1, sizeof *y), *weight = bg_calloc(ny + 1, sizeof *weight),
           *terms = bg_calloc(w->nx + 1, sizeof *terms);
    bool fine = model_outputs(a->model, t, x, y) == 0 && tangent_point(w->tangent, t, x);

    for (size_t i = 0; i < a->noutputs && fine; i++) {
        a->value[i] = y[a->output[i]];
        weight[a->output[i]] = 1;
        memset(terms, 0, w->nx * sizeof *terms);
        fine = tangent_outputs_back(w->tangent, weight, lambda + i * w->nx, terms, a->gradient + i * a->n);
        weight[a->output[i]] = 0;
        w->size[i] = fabs(a->value[i]);
        for (size_t k = 0; k < w->nx; k++)
            w->size[i] = fmax(w->size[i], terms[k] * paced_known(w->scale[k]));
    }
    free(y);
    free(terms);
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
    w.scale = bg_calloc(w.nx + 1, sizeof *w.scale);
    w.size = bg_calloc(a->noutputs + 1, sizeof *w.size);
    fine = w.tangent && model_need(a->model, PART_OUTPUTS);
    if (fine) {
        w.each = (o->solver == SIM_VARIATIONAL ? tangent_states(w.tangent) : PLACES) * w.nx;
        w.gathered = bg_calloc(tangent_states(w.tangent) * w.nx + 1, sizeof *w.gathered);
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
    free(w.scale);
    free(w.size);
    free(w.gathered);
    free(lambda);
    return fine;
}
