/* crossing.c - see crossing.h */
#include <float.h>
#include <math.h>
#include <string.h>

#include "crossing_inside.h"
#include "joined.h"

/* A state below this share of its usual size is at zero; its value is no measure of size. */
static const double AT_ZERO = 1e-9;
/* Greatest depth of memories that read other memories. */
enum { MOST_DEPTH = 8 };

double
parameter_step(const bg_model *m, var_id v)
{
    double at = fabs(model_parameter_value(m, v));

    return MOVE * (at > 0 ? at : 1);
}

crossings *
crossings_new(bg_model *m, const var_id *by, size_t n, double length)
{
    crossings *w = bg_calloc(1, sizeof *w);

    *w = (crossings){ .m = m, .by = by, .n = n, .nx = model_nstates(m), .nmodes = model_nmodes(m), .length = length };
    w->nwhens = model_nwhens(m);
    w->nreinits = model_nreinits(m);
    w->moved = bg_calloc(w->nx + 1, sizeof(double));
    w->scale = bg_calloc(w->nx + 1, sizeof(double));
    w->size = bg_calloc(w->nmodes + 1, sizeof(double));
    w->ahead = bg_calloc(w->nx + 1, sizeof(double));
    w->cause = bg_calloc(w->nmodes + 1, sizeof *w->cause);
    w->away = bg_calloc(w->nmodes + 1, sizeof(double));
    w->sets = joined_new(w->nmodes);
    model_nets_join(m, w->sets);
    w->given = bg_calloc(w->nreinits + 1, sizeof(double));
    for (int i = 0; i < 2; i++) {
        w->g[i] = bg_calloc(w->nmodes + 1, sizeof(double));
        w->reinit[i] = bg_calloc(w->nwhens + w->nreinits + 1, sizeof(double));
        w->kick[i] = bg_calloc(w->nx + 1, sizeof(double));
    }
    return w;
}

static void
firing_free(firing *f)
{
    free(f->x);
    free(f->modes);
}

void
crossings_free(crossings *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->fired.n; i++)
        firing_free(&w->fired.at[i]);
    vec_free(&w->fired);
    free(w->moved);
    free(w->scale);
    free(w->size);
    free(w->sets);
    free(w->cause);
    free(w->away);
    free(w->ahead);
    free(w->given);
    for (int i = 0; i < 2; i++) {
        free(w->g[i]);
        free(w->reinit[i]);
        free(w->kick[i]);
    }
    free(w);
}

void
crossing_free(crossing *c)
{
    for (size_t i = 0; i < c->fired.n; i++)
        firing_free(&c->fired.at[i]);
    vec_free(&c->fired);
    free(c->x);
    free(c->kicked);
    free(c->modes);
    free(c->modes_after);
    for (int i = 0; i < 2; i++)
        free(c->rate[i]);
}

size_t
crossings_lost(const crossings *w)
{
    return w->lost;
}

void
crossings_scales(crossings *w, const double *scale)
{
    if (w->nx)
        memcpy(w->scale, scale, w->nx * sizeof *scale);
}

double *
crossing_copy(const double *x, size_t n)
{
    double *to = bg_calloc(n + 1, sizeof *to);

    if (n)
        memcpy(to, x, n * sizeof *to);
    return to;
}

void
set_crossing_modes(crossings *w, const double *modes)
{
    if (w->nmodes)
        memcpy(model_modes(w->m), modes, w->nmodes * sizeof *modes);
}

void
crossings_fire(crossings *w, size_t when, bool first, const double *x)
{
    vec_push(&w->fired,
             ((firing){ when, first, crossing_copy(x, w->nx), crossing_copy(model_modes(w->m), w->nmodes) }));
}

/* ---------------------------------------------------------------- differences */

/* Conditions (or, with `reinits`, values that are set, with the present modes) where x and parameter q are moved by e
 * along the direction and time by e times dt. */
static bool
moved_values(crossings *w, double t, const double *x, const double *direction, size_t q, double e, double dt,
             bool reinits, double *to)
{
    var_id v = q != NO_INDEX ? w->by[q] : VAR_NONE;
    const char *name = v != VAR_NONE ? model_variable(w->m, v).name : NULL;
    double at = name ? model_parameter_value(w->m, v) : 0;
    int status;

    for (size_t i = 0; i < w->nx; i++)
        w->moved[i] = x[i] + (direction ? e * direction[i] : 0);
    if (name)
        model_set_parameter(w->m, name, at + e);
    status = reinits ? model_reinits(w->m, t + e * dt, w->moved, to)
                     : model_conditions_raw(w->m, t + e * dt, w->moved, to);
    if (name)
        model_set_parameter(w->m, name, at);
    return status == 0;
}

/* Size of state i at value x, which changes by `change` nearby. What ideal switches do is linear: for them it has its
 * usual size even at zero. */
static double
state_size(const crossings *w, size_t i, double x, double change, bool linear)
{
    double size = fmax(fabs(x), fabs(change)), usual = w->scale[i];

    if (linear || size <= AT_ZERO * usual)
        size = fmax(size, usual);
    return size > DBL_MIN ? size : 1;
}

/* Step along a direction, relative to the direction. */
static double
direction_step(const crossings *w, const double *x, const double *direction, bool linear)
{
    double part = 0;

    for (size_t i = 0; i < w->nx; i++)
        if (direction[i] != 0)
            part = fmax(part, fabs(direction[i]) / state_size(w, i, x[i], 0, linear));
    return part > 0 ? MOVE / part : MOVE;
}

/* Values on both sides; *e: the step, relative to the direction. */
static bool
both_sides(crossings *w, double t, const double *x, const double *direction, size_t q, double *e, double dt,
           bool reinits)
{
    *e = q != NO_INDEX ? parameter_step(w->m, w->by[q]) : direction ? direction_step(w, x, direction, false) : MOVE;
    if (!direction && q == NO_INDEX)
        *e = MOVE * w->length; /* time alone */
    return moved_values(w, t, x, direction, q, *e, dt, reinits, reinits ? w->reinit[0] : w->g[0]) &&
           moved_values(w, t, x, direction, q, -*e, dt, reinits, reinits ? w->reinit[1] : w->g[1]);
}

/* Derivative of the time of a sample by parameter q. */
static double
sample_moves(crossings *w, const crossing *c, size_t q)
{
    const char *name = model_variable(w->m, w->by[q]).name;
    double at = model_parameter_value(w->m, w->by[q]), e = parameter_step(w->m, w->by[q]), time[2], count;
    struct model_when when = model_when(w->m, c->sample);

    count = round((c->t - when.offset) / when.period);
    for (int side = 0; side < 2; side++) {
        model_set_parameter(w->m, name, side ? at - e : at + e);
        when = model_when(w->m, c->sample);
        time[side] = when.offset + count * when.period;
    }
    model_set_parameter(w->m, name, at);
    return (time[0] - time[1]) / (2 * e);
}

/* ---------------------------------------------------------------- forward */

/* Replaces `ahead` by what the firing makes of it. memories: only memories of `previous`, else all that is set. */
static bool
set_ahead(crossings *w, const crossing *c, const firing *f, size_t q, double dt, bool memories)
{
    struct model_when when = model_when(w->m, f->when);
    double e;

    if (!both_sides(w, c->t, f->x, w->ahead, q, &e, dt, true))
        return false;
    for (size_t r = when.first; r < when.first + when.n; r++)
        w->given[r] = (w->reinit[0][w->nwhens + r] - w->reinit[1][w->nwhens + r]) / (2 * e);
    for (size_t r = when.first; r < when.first + when.n; r++)
        if (!memories || model_reinit_remembers(w->m, r))
            w->ahead[model_reinit_state(w->m, r)] = w->given[r];
    return true;
}

/* Depth to which memories of a `when` read one another. */
static size_t
memory_depth(const crossings *w, size_t when)
{
    struct model_when m = model_when(w->m, when);
    size_t depth = 0;

    for (size_t r = m.first; r < m.first + m.n; r++)
        depth += model_reinit_remembers(w->m, r);
    return depth < MOST_DEPTH ? depth : MOST_DEPTH;
}

/* 1 where reinit r makes state `jump` jump and is no memory; else 0. */
static double
of_size(const crossings *w, size_t r, size_t jump)
{
    return model_reinit_state(w->m, r) == jump && !model_reinit_remembers(w->m, r);
}

/* The states after ideal switches acted, with states, parameter q and time moved by e times direction, 1 and dt. */
static bool
kicked(crossings *w, const crossing *c, const double *direction, size_t q, double e, double dt, double *to)
{
    const char *name = q != NO_INDEX ? model_variable(w->m, w->by[q]).name : NULL;
    double at = name ? model_parameter_value(w->m, w->by[q]) : 0, t = c->t + e * dt;
    bool fine;

    for (size_t i = 0; i < w->nx; i++)
        to[i] = c->kicked[i] + (direction ? e * direction[i] : 0);
    if (name)
        model_set_parameter(w->m, name, at + e);
    fine = model_kick(w->m, t, to) == 0;
    if (name)
        model_set_parameter(w->m, name, at);
    return fine;
}

/* Replaces `ahead` by what closing ideal switches make of it: charges are shared, currents stop. */
static bool
kick_ahead(crossings *w, const crossing *c, size_t q, double dt)
{
    double e = q != NO_INDEX ? parameter_step(w->m, w->by[q]) : direction_step(w, c->kicked, w->ahead, true);

    set_crossing_modes(w, c->modes_after);
    if (!kicked(w, c, w->ahead, q, e, dt, w->kick[0]) || !kicked(w, c, w->ahead, q, -e, dt, w->kick[1]))
        return false;
    for (size_t i = 0; i < w->nx; i++)
        w->ahead[i] = (w->kick[0][i] - w->kick[1][i]) / (2 * e);
    return true;
}

bool
crossing_forward(crossings *w, const crossing *c, size_t q, size_t jump, double *s)
{
    double dt = 0, e;
    bool fine = true;

    if (c->smooth)
        return true;

    set_crossing_modes(w, c->modes);
    if (c->sample != NO_INDEX) {
        dt = q != NO_INDEX ? sample_moves(w, c, q) : 0;
    } else if (c->trigger != NO_INDEX) {
        fine = both_sides(w, c->t, c->x, s, q, &e, 0, false);
        dt = -(w->g[0][c->trigger] - w->g[1][c->trigger]) / (2 * e) / c->slope;
    }
    for (size_t i = 0; i < w->nx; i++)
        w->ahead[i] = s[i] + (c->still ? c->rate[0][i] - c->rate[1][i] : c->rate[0][i]) * dt;
    for (size_t k = 0; k < c->fired.n && fine; k++) {
        const firing *f = &c->fired.at[k];
        struct model_when when = model_when(w->m, f->when);

        set_crossing_modes(w, f->modes);
        for (size_t d = f->first ? memory_depth(w, f->when) : 0; d > 0 && fine; d--)
            fine = set_ahead(w, c, f, q, dt, true);
        fine = fine && set_ahead(w, c, f, q, dt, false);
        for (size_t r = when.first; r < when.first + when.n; r++)
            w->ahead[model_reinit_state(w->m, r)] += of_size(w, r, jump);
    }
    fine = fine && (!c->kicked || kick_ahead(w, c, q, c->still ? 0 : dt));
    for (size_t i = 0; i < w->nx; i++)
        s[i] = w->ahead[i] - (c->still ? 0 : c->rate[1][i] * dt);
    set_crossing_modes(w, c->modes_after);
    return fine;
}

/* ---------------------------------------------------------------- back */

/* Step of a difference by state i at an event. */
static double
state_step(const crossings *w, const crossing *c, const double *x, size_t i, bool linear)
{
    return MOVE * state_size(w, i, x[i], RUN_SHARE * w->length * c->rate[0][i], linear);
}

/* Carries lambda back through a firing; w->given holds lambda of the values that each reinit sets. */
static bool
back_through(crossings *w, const crossing *c, const firing *f, bool memories, double *lambda, double *by_time,
             double *gradient)
{
    struct model_when when = model_when(w->m, f->when);
    double e;

    for (size_t r = when.first; r < when.first + when.n; r++) {
        size_t i = model_reinit_state(w->m, r);
        bool set = !memories || model_reinit_remembers(w->m, r);

        w->given[r] = set ? lambda[i] : 0;
        if (set)
            lambda[i] = 0;
    }
    memset(w->ahead, 0, w->nx * sizeof *w->ahead);
    for (size_t k = 0; k < w->nx + w->n + 1; k++) { /* states, parameters, time */
        size_t q = k >= w->nx && k < w->nx + w->n ? k - w->nx : NO_INDEX;
        double sum = 0;

        if (k < w->nx) {
            w->ahead[k] = 1;
            e = state_step(w, c, f->x, k, false);
            if (!moved_values(w, c->t, f->x, w->ahead, NO_INDEX, e, 0, true, w->reinit[0]) ||
                !moved_values(w, c->t, f->x, w->ahead, NO_INDEX, -e, 0, true, w->reinit[1]))
                return false;
            w->ahead[k] = 0;
        } else if (!both_sides(w, c->t, f->x, NULL, q, &e, q == NO_INDEX, true)) {
            return false;
        }
        for (size_t r = when.first; r < when.first + when.n; r++)
            sum += w->given[r] * (w->reinit[0][w->nwhens + r] - w->reinit[1][w->nwhens + r]) / (2 * e);
        *(k < w->nx ? &lambda[k] : q != NO_INDEX ? &gradient[q] : by_time) += sum;
    }
    return true;
}

/* Carries lambda back through the action of ideal switches. */
static bool
kick_back(crossings *w, const crossing *c, double *lambda, double *by_time, double *gradient)
{
    double *before = bg_calloc(w->nx + 1, sizeof *before);
    bool fine = true;

    set_crossing_modes(w, c->modes_after);
    memset(w->ahead, 0, w->nx * sizeof *w->ahead);
    for (size_t k = 0; k < w->nx + w->n + 1 && fine; k++) { /* states, parameters, time */
        size_t q = k >= w->nx && k < w->nx + w->n ? k - w->nx : NO_INDEX;
        bool time = k == w->nx + w->n;
        double e = k < w->nx ? state_step(w, c, c->kicked, k, true)
                   : time    ? MOVE * w->length
                             : parameter_step(w->m, w->by[q]),
               by = 0;

        if (k < w->nx)
            w->ahead[k] = 1;
        fine = kicked(w, c, w->ahead, q, e, time, w->kick[0]) && kicked(w, c, w->ahead, q, -e, time, w->kick[1]);
        if (k < w->nx)
            w->ahead[k] = 0;
        for (size_t i = 0; i < w->nx; i++)
            by += lambda[i] * (w->kick[0][i] - w->kick[1][i]) / (2 * e);
        *(k < w->nx ? &before[k] : time ? by_time : &gradient[q]) += by;
    }
    memcpy(lambda, before, w->nx * sizeof *lambda);
    free(before);
    return fine;
}

/* Distributes lambda of the time of the event to states and parameters. */
static bool
back_through_time(crossings *w, const crossing *c, double by_time, double *lambda, double *gradient)
{
    double e;

    for (size_t q = 0; q < w->n && c->sample != NO_INDEX; q++)
        gradient[q] += by_time * sample_moves(w, c, q);
    if (c->sample != NO_INDEX || c->trigger == NO_INDEX)
        return true;
    memset(w->ahead, 0, w->nx * sizeof *w->ahead);
    for (size_t k = 0; k < w->nx + w->n; k++) {
        if (k < w->nx) {
            w->ahead[k] = 1;
            e = state_step(w, c, c->x, k, false);
            if (!moved_values(w, c->t, c->x, w->ahead, NO_INDEX, e, 0, false, w->g[0]) ||
                !moved_values(w, c->t, c->x, w->ahead, NO_INDEX, -e, 0, false, w->g[1]))
                return false;
            w->ahead[k] = 0;
        } else if (!both_sides(w, c->t, c->x, NULL, k - w->nx, &e, 0, false)) {
            return false;
        }
        *(k < w->nx ? &lambda[k] : &gradient[k - w->nx]) -= by_time * (w->g[0][c->trigger] - w->g[1][c->trigger]) /
                                                            (2 * e) / c->slope;
    }
    return true;
}

bool
crossing_back(crossings *w, const crossing *c, double *lambda, double *gradient, double *by_jump)
{
    double by_time = 0, kick_time = 0; /* what the kick's own time does is in the flow after it, where nothing moves */
    bool fine = true;

    if (c->smooth)
        return true;

    for (size_t i = 0; i < w->nx && !c->still; i++)
        by_time -= c->rate[1][i] * lambda[i];
    fine = !c->kicked || kick_back(w, c, lambda, c->still ? &kick_time : &by_time, gradient);
    for (size_t k = c->fired.n; k-- > 0 && fine;) {
        const firing *f = &c->fired.at[k];
        struct model_when when = model_when(w->m, f->when);

        for (size_t r = when.first; r < when.first + when.n; r++)
            by_jump[model_reinit_state(w->m, r)] += of_size(w, r, model_reinit_state(w->m, r)) *
                                                    lambda[model_reinit_state(w->m, r)];
        set_crossing_modes(w, f->modes);
        fine = back_through(w, c, f, false, lambda, &by_time, gradient);
        for (size_t d = f->first ? memory_depth(w, f->when) : 0; d > 0 && fine; d--)
            fine = back_through(w, c, f, true, lambda, &by_time, gradient);
    }
    for (size_t i = 0; i < w->nx; i++)
        by_time += (c->still ? c->rate[0][i] - c->rate[1][i] : c->rate[0][i]) * lambda[i];
    set_crossing_modes(w, c->modes);
    return fine && back_through_time(w, c, by_time, lambda, gradient);
}
