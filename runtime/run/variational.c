/* variational.c - see variational.h */
#include "variational.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "model_graph.h"
#include "joined.h"
#include "kinetic.h"

/* Newton's iteration of a step */
#define MOST_ITERATIONS 40
#define ROUNDING (4 * DBL_EPSILON) /* of the states' sizes: a smaller correction is rounding */
/* Ratio of a correction to the one before it: above the first the Jacobian is evaluated again; above the second the
 * iteration has reached its rounding, if the correction is below STALLED of the states' sizes. */
#define SLOW 0.1
#define FALLS 0.5
#define STALLED 1e-8
#define SAME_STEP 1e-6 /* of a step: factors made for a length that differs by less are kept */
/* Whether the rule applies is tested by rates at another point: each state moved by about so much of its size, or of 1;
 * and for ratios at another time, so much of the run later, which is no simple part of it. */
#define MOVED 1e-3
#define LATER 0.0618
/* relative: values that differ by less are equal except for rounding; a source on an inertia whose power is a smaller
 * part of the power counts as none */
#define EQUAL 1e-12
#define UNMOVED 1e-8 /* of a displacement's rate: effect that displacements may have on it */
/* A displacement's rate is linear in the momenta if the nonlinearity is below this part of their effect on it, or below
 * the second part of the rate itself, which is its rounding. */
#define STRAIGHT 1e-6
#define STRAIGHT_OF_ALL 1e-9

struct variational {
    bg_model *model;
    linear *linear;
    size_t n;
    double *d, *lost, *middle, *rate[2], *change; /* lost: what rounding took from the sums, added with the next step */
    double gamma;                                 /* of the factors; NAN: there are none */
    double before;                                /* length of the step to which d belongs; 0: none */
    uint64_t evaluations;
    struct moving *moving; /* NULL: ratios between inertias are constant */
};

/* For a model with an inertia matrix that depends on position: the rule is applied to canonical momenta B(q) x_p
 * (kinetic.h). */
struct moving {
    kinetic *kinetic;
    size_t n;
    const size_t *state;
    double *B, *rate, *right; /* n by n, n by n, n */
    double *P, *next;         /* canonical momenta at the start of the step, at its end */
    int *pivot;
    bool known; /* P is */
};

static void
close_moving(struct moving *w)
{
    if (!w)
        return;
    kinetic_free(w->kinetic);
    free(w->B);
    free(w->rate);
    free(w->right);
    free(w->P);
    free(w->next);
    free(w->pivot);
    free(w);
}

static struct moving *
open_moving(bg_model *m)
{
    struct moving *w = bg_calloc(1, sizeof *w);

    w->kinetic = kinetic_new(m);
    w->n = kinetic_count(w->kinetic);
    w->state = kinetic_states(w->kinetic);
    w->B = bg_calloc(w->n * w->n + 1, sizeof(double));
    w->rate = bg_calloc(w->n * w->n + 1, sizeof(double));
    w->right = bg_calloc(w->n + 1, sizeof(double));
    w->P = bg_calloc(w->n + 1, sizeof(double));
    w->next = bg_calloc(w->n + 1, sizeof(double));
    w->pivot = bg_calloc(w->n + 1, sizeof *w->pivot);
    return w;
}

variational *
variational_new(bg_model *m, linear *l, bool moving)
{
    variational *v = bg_calloc(1, sizeof *v);
    size_t n = model_nstates(m);

    *v = (variational){ .model = m, .linear = l, .n = n, .gamma = NAN };
    v->d = bg_calloc(n + 1, sizeof(double));
    v->lost = bg_calloc(n + 1, sizeof(double));
    v->middle = bg_calloc(n + 1, sizeof(double));
    v->change = bg_calloc(n + 1, sizeof(double));
    for (int i = 0; i < 2; i++)
        v->rate[i] = bg_calloc(n + 1, sizeof(double));
    v->moving = moving ? open_moving(m) : NULL;
    return v;
}

void
variational_free(variational *v)
{
    if (!v)
        return;
    free(v->d);
    free(v->lost);
    free(v->middle);
    free(v->change);
    for (int i = 0; i < 2; i++)
        free(v->rate[i]);
    close_moving(v->moving);
    free(v);
}

void
variational_restart(variational *v)
{
    memset(v->lost, 0, v->n * sizeof *v->lost);
    v->before = 0;
    v->gamma = NAN;
    if (v->moving)
        v->moving->known = false;
}

uint64_t
variational_evaluations(const variational *v)
{
    return v->evaluations;
}

/* rate[0]: the mean of the rates at the middle, with the inputs of either end. */
static int
mean_rates(variational *v, double t0, double t1, const double *x0)
{
    int status;

    for (size_t i = 0; i < v->n; i++)
        v->middle[i] = x0[i] + v->d[i] / 2;
    v->evaluations += 2;
    status = model_rhs(v->model, t0, v->middle, v->rate[0]);
    if (status == 0)
        status = model_rhs(v->model, t1, v->middle, v->rate[1]);
    for (size_t i = 0; i < v->n && status == 0; i++) {
        v->rate[0][i] = (v->rate[0][i] + v->rate[1][i]) / 2;
        if (!isfinite(v->rate[0][i]))
            status = 1;
    }
    return status;
}

static int
factors(variational *v, double t, double gamma)
{
    int status = linear_evaluate(v->linear, t, v->middle);

    if (status != 0)
        return status;
    linear_form(v->linear, gamma);
    v->gamma = gamma;
    return linear_factor(v->linear);
}

/* ---------------------------------------------------------------- masses that move with displacements */

static double
row_times(size_t n, const double *A, size_t i, const double *x, const size_t *state)
{
    double sum = 0;

    for (size_t k = 0; k < n; k++)
        sum += A[i + n * k] * x[state[k]];
    return sum;
}

/* right = B^-1 right; B is overwritten. */
static int
by_masses(struct moving *w)
{
    return w->n == 0 || LAPACKE_dgesv(LAPACK_COL_MAJOR, (lapack_int)w->n, 1, w->B, (lapack_int)w->n, w->pivot, w->right,
                                      (lapack_int)w->n) == 0
               ? 0
               : 1;
}

/* At the middle, whose rates are in rate[0]: P0 + part h (B f_p + dB/dt x_p) in `to`; B is given. */
static int
momenta(variational *v, double t, double h, double part, double *to)
{
    struct moving *w = v->moving;
    int status = kinetic_masses(w->kinetic, t, v->middle, w->B);

    if (status == 0)
        status = kinetic_rate(w->kinetic, t, h, v->middle, v->rate[0], w->rate);
    for (size_t i = 0; i < w->n && status == 0; i++)
        to[i] = w->P[i] +
                part * h *
                    (row_times(w->n, w->B, i, v->rate[0], w->state) + row_times(w->n, w->rate, i, v->middle, w->state));
    return status;
}

/* The momenta and velocities that replace those of `change`. */
static int
moving_change(variational *v, double t, double h)
{
    struct moving *w = v->moving;
    int status = momenta(v, t, h, 0.5, w->right);

    if (status == 0)
        status = by_masses(w);
    for (size_t i = 0; i < w->n && status == 0; i++)
        v->change[w->state[i]] = 2 * (w->right[i] - v->middle[w->state[i]]);
    return status;
}

static int
moving_start(variational *v, double t, const double *x0)
{
    struct moving *w = v->moving;
    int status = w->known ? 0 : kinetic_masses(w->kinetic, t, x0, w->B);

    for (size_t i = 0; i < w->n && status == 0 && !w->known; i++)
        w->P[i] = row_times(w->n, w->B, i, x0, w->state);
    w->known = status == 0;
    return status;
}

/* Momenta at the end of the step, and from them and the displacements those of x1. */
static int
moving_end(variational *v, double t0, double t1, double h, double *x1)
{
    struct moving *w = v->moving;
    int status = momenta(v, t0, h, 1, w->next);

    for (size_t i = 0; i < w->n && status == 0; i++) {
        double add = w->next[i] - w->P[i] + v->lost[w->state[i]], sum = w->P[i] + add;

        v->lost[w->state[i]] = add - (sum - w->P[i]);
        w->P[i] = w->right[i] = sum;
    }
    if (status == 0)
        status = kinetic_masses(w->kinetic, t1, x1, w->B);
    if (status == 0)
        status = by_masses(w);
    for (size_t i = 0; i < w->n && status == 0; i++)
        x1[w->state[i]] = w->right[i];
    return status;
}

/* ---------------------------------------------------------------- a step */

/* By the rates themselves, so that equal and opposite forces cancel. */
static int
step_by_rates(variational *v, double t0, double t1, const double *x0, double *x1)
{
    double h = t1 - t0, *kept = v->lost;
    int status = mean_rates(v, t0, t1, x0);

    for (size_t i = 0; i < v->n && status == 0; i++) {
        double add = h * v->rate[0][i] + kept[i];

        if (v->moving && kinetic_is_velocity(v->model, i)) {
            x1[i] = x0[i] + v->d[i];
            continue;
        }
        x1[i] = x0[i] + add;
        kept[i] = add - (x1[i] - x0[i]);
        v->d[i] = h * v->rate[0][i];
    }
    return status == 0 && v->moving ? moving_end(v, t0, t1, h, x1) : status;
}

int
variational_step(variational *v, double t0, double t1, const double *x0, const double *size, double *x1)
{
    double h = t1 - t0, last = INFINITY;
    bool fresh = false;
    int status = v->moving ? moving_start(v, t0, x0) : 0;

    for (size_t i = 0; i < v->n; i++)
        v->d[i] = v->before > 0 ? v->d[i] * (h / v->before) : 0;
    v->before = 0;
    for (int k = 0; k < MOST_ITERATIONS && status == 0; k++) {
        double most = 0;

        status = mean_rates(v, t0, t1, x0);
        if (status == 0 && !(fabs(v->gamma - h / 2) <= SAME_STEP * h)) {
            status = factors(v, t0, h / 2);
            fresh = true;
        }
        if (status != 0)
            break;
        for (size_t i = 0; i < v->n; i++)
            v->change[i] = h * v->rate[0][i] - v->d[i];
        if (v->moving && (status = moving_change(v, t0, h)) != 0)
            break;
        status = linear_solve(v->linear, v->change);
        for (size_t i = 0; i < v->n && status == 0; i++) {
            double part = fabs(v->change[i]) / fmax(size[i], fabs(x0[i]) + fabs(v->d[i]));

            most = v->change[i] != 0 && !(part <= most) ? part : most;
            v->d[i] += v->change[i];
        }
        if (status == 0 && (most <= ROUNDING || (most < STALLED && most > FALLS * last))) {
            status = step_by_rates(v, t0, t1, x0, x1);
            v->before = h;
            return status;
        }
        if (status == 0 && !isfinite(most))
            return 1;
        if (status == 0 && most > SLOW * last) {
            if (fresh && k > MOST_ITERATIONS / 2 && !v->moving)
                return 1;
            status = factors(v, t0, h / 2);
            fresh = true;
        }
        last = most;
    }
    v->gamma = NAN;
    return status != 0 ? status : 1;
}

#define OTHER_RATE \
    "its rate does not depend on velocities of inertias alone: a damper in series or a filter is involved"

#define MOVED_RATE \
    "a varying ratio lies between it and the velocities of inertias; write it as a source whose force reads a " \
    "position"

/* ---------------------------------------------------------------- what it does not fit */

struct trial {
    bg_model *model;
    const model_graph *g;
    double t, later; /* two times */
    const double *x;
    double *moved, *v[4]; /* numbers of all variables: unchanged, moved, later, with velocities alone moved */
    uint32_t *group;      /* of a junction: joined by bonds and fixed two-ports */
    bool *stores;         /* a group does */
    /* a two-port between inertias or springs whose ratio depends on displacements; NONE: there is none */
    uint32_t mover;
};

static void
help_unfit(struct trial *w)
{
    diag_help(model_sources(w->model),
              "It needs springs that move with the velocities of masses by constant ratios, and no switching; "
              "`solver = auto` takes any model.");
}

static bool
refuse_model(struct trial *w, span at, const char *name, const char *why)
{
    diag_error(model_sources(w->model), "variational-form", at, "the variational integrator does not take \"%s\": %s",
               name, why);
    help_unfit(w);
    return false;
}

static bool
nothing_switches(struct trial *w)
{
    bg_model *m = w->model;

    if (model_has_nets(m))
        for (size_t i = 0; i < w->g->nelements; i++)
            if (w->g->element[i].switched)
                return refuse_model(w, w->g->element[i].at, w->g->element[i].name, "it is an ideal switch");
    for (size_t k = 0; k < model_ndelays(m); k++)
        return refuse_model(w, model_delay(m, k).at, model_delay(m, k).text, "it is delayed");
    for (size_t k = 0; k < model_nwhens(m); k++) {
        struct model_when when = model_when(m, k);

        if (when.kind == WHEN_TURNS && when.n)
            return refuse_model(w, when.at, when.text, "it sets states anew");
        if (when.kind == WHEN_SAMPLES)
            return refuse_model(w, when.at, when.text, "it takes samples");
    }
    for (size_t k = 0; k < model_nmodes(m); k++) {
        struct model_mode mode = model_mode(m, k);

        if (!mode.known && mode.kind != MODE_DOMAIN && mode.kind != MODE_GIVEN)
            return refuse_model(w, mode.at, mode.text, "it switches as the states move");
    }
    for (size_t k = 0; k < model_nconstraints(m); k++)
        return refuse_model(w, model_constraint_place(m, k), "such that", "a condition constrains the states");
    return true;
}

/* Does the port store a displacement? */
static bool
is_displacement(const struct trial *w, uint32_t port)
{
    return !w->g->port[port].momentum;
}

static bool
differs(double a, double b)
{
    return !(fabs(a - b) <= EQUAL * fmax(fabs(a), fabs(b)));
}

/* Does a ratio depend on displacements alone, as in kinematics? */
static bool
is_kinematic(const struct trial *w, const struct model_element *el)
{
    for (uint32_t k = el->ratio0; k < el->ratio0 + el->nratios; k++) {
        double at = model_ratio(w->model, k, w->v[0]);

        if (differs(at, model_ratio(w->model, k, w->v[2])) || differs(at, model_ratio(w->model, k, w->v[3])))
            return false;
    }
    return el->type == EL_TF;
}

/* Between storage elements ratios are constant or depend on displacements. Two-ports with other moduli may only lead
 * to sources and dampers. */
static bool
ratios_fit(struct trial *w)
{
    const model_graph *g = w->g;
    bool *moves = bg_calloc(g->nelements + 1, sizeof *moves), fine = true;

    for (size_t i = 0; i < g->nbonds; i++)
        joined_join(w->group, g->bond[i].from, g->bond[i].to);
    for (size_t i = 0; i < g->nelements; i++) {
        const struct model_element *el = &g->element[i];

        if (!element_is_two_port(el->type))
            continue;
        for (uint32_t k = el->ratio0; k < el->ratio0 + el->nratios; k++) {
            double at = model_ratio(w->model, k, w->v[0]);

            moves[i] |= differs(at, model_ratio(w->model, k, w->v[1])) ||
                        differs(at, model_ratio(w->model, k, w->v[2]));
        }
        for (uint32_t k = 1; k < el->nports && !moves[i]; k++)
            joined_join(w->group, g->port[el->port0].junction, g->port[el->port0 + k].junction);
    }
    for (size_t i = 0; i < g->nports; i++)
        if (g->port[i].stored != VAR_NONE)
            w->stores[joined_first(w->group, g->port[i].junction)] = true;
    for (size_t i = 0; i < g->nelements && fine; i++) {
        const struct model_element *el = &g->element[i];
        size_t sides = 0;

        for (uint32_t k = 0; k < el->nports && moves[i]; k++)
            sides += w->stores[joined_first(w->group, g->port[el->port0 + k].junction)];
        if (sides > 1 && is_kinematic(w, el))
            w->mover = (uint32_t)i;
        else if (sides > 1)
            fine = refuse_model(
                w, el->at, el->name,
                "its ratio does not depend on displacements alone, and there is storage on both of its sides");
    }
    free(moves);
    return fine;
}

static bool
elements_fit(struct trial *w)
{
    const model_graph *g = w->g;

    for (size_t i = 0; i < g->nelements; i++) {
        const struct model_element *el = &g->element[i];

        for (uint32_t k = 0; k < el->nports && el->type == EL_SF; k++) {
            var_id flow = g->port[el->port0 + k].f;

            if (differs(w->v[0][flow], w->v[1][flow]))
                return refuse_model(w, el->at, el->name,
                                    "a source of velocity that depends on the motion is not a "
                                    "force");
        }
    }
    for (size_t i = 0; i < g->ndependent; i++) {
        const struct model_element *el = &g->element[g->port[g->dependent[i]].element];

        if (!el->linear && !is_displacement(w, g->dependent[i]))
            return refuse_model(w, el->at, el->name,
                                "it depends on another inertia, and its law is not given by one number");
    }
    for (size_t k = 0; k < g->ndependent && g->common_states; k++) {
        const struct model_element *el = &g->element[g->port[g->dependent[k]].element];

        if (!el->linear)
            return refuse_model(w, el->at, el->name,
                                "its stored quantity is not a state, and its law is not given by one number");
    }
    return true;
}

/* With a varying ratio inertias are given by numbers, and no source imposes a velocity. */
static bool
masses_fit(struct trial *w)
{
    const model_graph *g = w->g;
    const struct model_element *mover = w->mover == NONE ? NULL : &g->element[w->mover];
    kinetic *k;
    bool fine = true;

    if (!mover)
        return true;
    for (size_t i = 0; i < g->nelements; i++) {
        const struct model_element *el = &g->element[i];

        if (el->type == EL_I && (!el->linear || el->nports != 1 || g->port[el->port0].crossed))
            return refuse_model(w, el->at, el->name,
                                "its law is not given by one number, and a ratio between stores varies");
    }
    for (size_t i = 0; i < g->ndependent; i++)
        if (is_displacement(w, g->dependent[i])) {
            const struct model_element *el = &g->element[g->port[g->dependent[i]].element];

            return refuse_model(w, el->at, el->name,
                                "its stored quantity is not a state, and a ratio between stores "
                                "varies");
        }
    k = kinetic_new(w->model);
    if (!(kinetic_carried(k, w->t, w->moved) < EQUAL))
        fine = refuse_model(w, mover->at, mover->name,
                            "its ratio varies, and a source imposes the velocity of "
                            "inertias");
    kinetic_free(k);
    return fine;
}

/* Numbers from -1 to 1, the same in every run. */
static double
scatter(size_t i, uint64_t seed)
{
    return (double)(int64_t)bg_hash_mix(i + 1, seed) * 0x1p-63;
}

/* The small amount by which a state is moved from x: between half and two and a half times MOVED of its size. */
static double
probe_step(double x, double anywhere)
{
    static const double middle = 1.5;

    return MOVED * (fabs(x) + MOVED) * (middle + anywhere);
}

static bool
state_is_displacement(const struct trial *w, size_t i)
{
    const struct model_state s = model_state(w->model, i);

    if (s.kind == VAR_STORED)
        return is_displacement(w, s.port);
    if (s.kind == VAR_INTEGRAL)
        return !s.only_outputs;
    return s.kind == VAR_COMMON && w->g->junction[s.junction].type == 0;
}

/* Rates with displacements (or momenta) moved by `by` times a small amount. */
static bool
rates_moved(struct trial *w, bool displacements, double by, double *rate)
{
    for (size_t i = 0; i < model_nstates(w->model); i++)
        w->moved[i] = w->x[i] +
                      (state_is_displacement(w, i) == displacements ? by * probe_step(w->x[i], scatter(i, 7)) : 0);
    return model_rhs(w->model, w->t, w->moved, rate) == 0;
}

/* Rates of displacements depend on momenta alone, linearly if inertias are given by numbers. */
static bool
displacements_follow(struct trial *w)
{
    size_t n = model_nstates(w->model);
    double *rate[4];
    bool fine = true, numbers = true;

    for (int k = 0; k < 4; k++)
        rate[k] = bg_calloc(n + 1, sizeof(double));
    for (size_t i = 0; i < w->g->nelements; i++)
        numbers &= w->g->element[i].type != EL_I || w->g->element[i].linear;
    if (model_rhs(w->model, w->t, w->x, rate[0]) == 0 && rates_moved(w, true, 1, rate[1]) &&
        rates_moved(w, false, 1, rate[2]) && rates_moved(w, false, -1, rate[3]))
        for (size_t i = 0; i < n && fine; i++) {
            double size = fabs(rate[0][i]) + fabs(rate[2][i] - rate[0][i]);
            struct model_state s = model_state(w->model, i);

            if (!state_is_displacement(w, i))
                continue;
            if (fabs(rate[1][i] - rate[0][i]) > UNMOVED * size)
                fine = refuse_model(w, s.at, s.name, w->mover == NONE ? OTHER_RATE : MOVED_RATE);
            else if (numbers && fabs(rate[2][i] + rate[3][i] - 2 * rate[0][i]) >
                                    STRAIGHT * fabs(rate[2][i] - rate[3][i]) + STRAIGHT_OF_ALL * fabs(rate[0][i]))
                fine = refuse_model(w, s.at, s.name, "its rate is not a sum of velocities with constant ratios");
        }
    for (int k = 0; k < 4; k++)
        free(rate[k]);
    return fine;
}

static bool
has_inertia(struct trial *w)
{
    for (size_t i = 0; i < w->g->nelements; i++)
        if (w->g->element[i].type == EL_I)
            return true;
    diag_error(model_sources(w->model), "variational-form", model_place(w->model),
               "the variational integrator does not take \"%s\": it has no inertia", model_name(w->model));
    help_unfit(w);
    return false;
}

/* The numbers of all variables with only velocities and momenta moved. */
static bool
velocities_moved(struct trial *w)
{
    size_t n = model_nstates(w->model);
    double *x = bg_calloc(n + 1, sizeof *x);
    bool fine;

    for (size_t i = 0; i < n; i++)
        x[i] = kinetic_is_velocity(w->model, i) ? w->moved[i] : w->x[i];
    fine = model_variables(w->model, w->t, x, w->v[3]);
    free(x);
    return fine;
}

bool
variational_fits(bg_model *m, double t, double stop, const double *x, bool *moving)
{
    const model_graph *g = model_graph_of(m);
    size_t n = model_nstates(m);
    struct trial w = { .model = m, .g = g, .t = t, .later = t + LATER * (stop - t), .x = x, .mover = NONE };
    bool fine;

    w.moved = bg_calloc(n + 1, sizeof(double));
    for (int k = 0; k < 4; k++)
        w.v[k] = bg_calloc(model_nvariables(m) + 1, sizeof(double));
    w.group = joined_new(g->njunctions);
    w.stores = bg_calloc(g->njunctions + 1, sizeof *w.stores);
    for (size_t i = 0; i < n; i++)
        w.moved[i] = x[i] + probe_step(x[i], scatter(i, 11));
    fine = has_inertia(&w) && nothing_switches(&w);
    if (fine && model_variables(m, t, x, w.v[0]) && model_variables(m, t, w.moved, w.v[1]) &&
        model_variables(m, w.later, x, w.v[2]) && velocities_moved(&w))
        fine = ratios_fit(&w) && elements_fit(&w) && masses_fit(&w);
    fine = fine && displacements_follow(&w);
    *moving = w.mover != NONE;
    free(w.moved);
    for (int k = 0; k < 4; k++)
        free(w.v[k]);
    free(w.group);
    free(w.stores);
    return fine;
}
