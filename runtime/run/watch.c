/* watch.c - see watch.h */
#include "watch.h"

#include <math.h>
#include <string.h>

#include "model_graph.h"

/* Towards a zero of the divisor the rates are evaluated where it has these parts of its size at the step's end.
 * Differences between these points decrease with the parts for a smooth quotient (sin(x)/x), stay equal for a
 * logarithm, and grow for a pole. */
enum { PLACES = 4, LEAST_PLACES = 3 };
static const double part[PLACES] = { 1e-1, 1e-2, 1e-3, 1e-4 };
static const double REACHED = 2;   /* of the part */
static const double BOUNDED = 0.5; /* of the first difference: if the last one is smaller, the function is smooth */
static const double NOTHING =
    1e-6; /* of the rate's size, here or over the state's way so far: smaller differences are not evaluated */
/* Growth at both ends after some halvings: the function changes its sign through infinity. Nearer to the pole
 * equations have any solution within rounding. */
static const double GROWN = 2;
/* An unknown on its way to infinity: its growth since it began to grow, and the lengths of steps relative to that
 * time, on the way and at its end. */
static const double RISEN = 1e6, SHRUNK = 1e-4, AT_POLE = 1e-11;
/* Least motion of a state, in tolerances, while an unknown grows like this */
static const double MOVED = 1e-3;
/* Of the numbers of a unit: remainder that is rounding */
static const double CANCELLED = 1e-9;
/* Of a divisor's greatest size: where steps become too small, one that is less is why */
static const double VANISHED = 1e-6;
enum { HALVINGS = 50, SOON = 10 };

struct bad_output {
    double t;
    size_t points;
    char *why;
};

struct watch {
    bg_model *model;
    size_t nx, ny, n, nf;
    bool powers, looking, begun;
    double begin;                 /* s, of the run */
    double *before, *now;         /* [n] divisors, at the last accepted point and at the present one; */
    double *most;                 /* greatest sizes at accepted points */
    double *x, *rate, *f[PLACES]; /* scratch: states; rates; rates, then powers */
    size_t nu;
    double *earlier, *solved, *solution; /* [nu] unknowns at the last two accepted points, and at the point examined */
    double step;                         /* s, the last; INFINITY: none yet */
    double *rose_from, *rose_at;         /* [nu] its value and the time since when it has only grown */
    size_t points;
    struct bad_output *output; /* [ny] */
};

/* A quantity that may be zero: a divisor, or the reciprocal of an unknown. */
struct subject {
    size_t k;
    bool unknown;
    double at_start, at_end; /* of the part of the step */
    double most;             /* of an unknown: the largest number of its unit at the step's start */
    bool risen;              /* it has grown by decades, in ever shorter steps: this step begins at the pole */
};

watch *
watch_new(bg_model *m, bool powers)
{
    watch *w = bg_calloc(1, sizeof *w);

    w->model = m;
    w->nx = model_nstates(m);
    w->ny = model_noutputs(m);
    w->powers = powers;
    w->n = w->nx || powers ? model_npoles(m) : 0;
    w->nf = w->nx + (powers ? model_nelements(m) : 0);
    w->before = bg_calloc(w->n + 1, sizeof(double));
    w->now = bg_calloc(w->n + 1, sizeof(double));
    w->most = bg_calloc(w->n + 1, sizeof(double));
    w->x = bg_calloc(w->nx + 1, sizeof(double));
    w->rate = bg_calloc(w->nx + 1, sizeof(double));
    w->output = bg_calloc(w->ny + 1, sizeof *w->output);
    return w;
}

void
watch_free(watch *w)
{
    if (!w)
        return;
    for (size_t k = 0; k < w->ny; k++)
        free(w->output[k].why);
    for (int i = 0; i < PLACES; i++)
        free(w->f[i]);
    free(w->output);
    free(w->before);
    free(w->now);
    free(w->most);
    free(w->x);
    free(w->rate);
    free(w->earlier);
    free(w->solved);
    free(w->solution);
    free(w->rose_from);
    free(w->rose_at);
    free(w);
}

/* ---- outputs ---- */

bool
watch_outputs(watch *w, double t, const double *x, const double *y)
{
    bool fine = true;

    w->points++;
    for (size_t k = 0; k < w->ny; k++) {
        if (isfinite(y[k]))
            continue;
        fine = false;
        if (w->output[k].points++ == 0) {
            w->output[k].t = t;
            w->output[k].why = model_explain_output(w->model, k, t, x);
        }
    }
    return fine;
}

/* Is the recorded expression an output that was reported already? */
static bool
was_told(map *told, const model_graph *g, size_t k)
{
    uint64_t hash = bg_hash_bytes(g->output[k].name, strlen(g->output[k].name), 0);
    uint32_t other = map_get(told, hash);

    if (other != MAP_NONE)
        return !strcmp(g->output[other].name, g->output[k].name);
    map_set(told, hash, (uint32_t)k);
    return false;
}

size_t
watch_report(watch *w)
{
    const model_graph *g = model_graph_of(w->model);
    sources *to = model_sources(w->model);
    map told = { 0 };
    size_t n = 0;

    for (size_t k = 0; k < w->ny; k++) {
        const struct bad_output *b = &w->output[k];
        const struct model_output *o = &g->output[k];

        if (!b->points || was_told(&told, g, k))
            continue;
        n++;
        if (b->points == 1)
            diag_error(to, "run-output", o->at, "output \"%s\" has no finite value at %.6g s", o->name, b->t);
        else
            diag_error(to, "run-output", o->at,
                       "output \"%s\" has no finite value at %zu of %zu points, first at %.6g s", o->name, b->points,
                       w->points, b->t);
        if (b->why)
            diag_note(to, o->at, "%s", b->why);
    }
    map_free(&told);
    return n;
}

/* ---- poles ---- */

void
watch_start(watch *w, double t, const double *x)
{
    if (!w->begun)
        w->begin = t;
    w->begun = true;
    w->looking = w->n && model_poles(w->model, t, x, w->before) == 0;
    if (!w->earlier && w->nx && (w->nu = model_nsolved(w->model)) > 0) {
        w->earlier = bg_calloc(w->nu, sizeof(double));
        w->solved = bg_calloc(w->nu, sizeof(double));
        w->solution = bg_calloc(w->nu, sizeof(double));
        w->rose_from = bg_calloc(w->nu, sizeof(double));
        w->rose_at = bg_calloc(w->nu, sizeof(double));
    }
    if (w->nu) {
        memset(w->earlier, 0, w->nu * sizeof(double));
        model_solved(w->model, w->solved);
        memcpy(w->rose_from, w->solved, w->nu * sizeof(double));
    }
    w->step = INFINITY;
    for (size_t k = 0; k < w->nu; k++)
        w->rose_at[k] = t;
}

/* The watched quantity at t of the last step, whose state is left in w->x. NAN: it cannot be evaluated. */
static double
subject_at(watch *w, integrator *g, const struct subject *s, double t)
{
    if (!integrator_dense(g, t, w->x))
        return NAN;
    if (!s->unknown)
        return model_poles(w->model, t, w->x, w->now) == 0 ? w->now[s->k] : NAN;
    if (model_rhs(w->model, t, w->x, w->rate) != 0)
        return NAN;
    model_solved(w->model, w->solution);
    return 1 / w->solution[s->k];
}

/* Rates, and powers if they are measured, at t of the last step. */
static bool
watched_rates(watch *w, integrator *g, double t, double *f)
{
    return integrator_dense(g, t, w->x) && (!w->nx || model_rhs(w->model, t, w->x, f) == 0) &&
           (!w->powers || model_powers(w->model, t, w->x, f + w->nx) == 0);
}

/* Do the rates grow without bound from t0 towards the point in (t0, t1] at which the watched quantity is zero?
 * *zero: that point. A quantity that changes its sign through infinity is not a divisor with a zero there. */
static bool
is_pole(watch *w, integrator *g, const struct subject *s, double t0, double t1, double *zero)
{
    double lo = t0, hi = t1, at_start = s->at_start, at_place[PLACES], at[2] = { s->at_start, s->at_end };
    double grown = GROWN * fmax(fabs(at[0]), fabs(at[1]));
    bool found = true;
    int n;

    for (int i = 0; i < HALVINGS && lo + (hi - lo) / 2 > lo && lo + (hi - lo) / 2 < hi; i++) {
        double middle = lo + (hi - lo) / 2, d = subject_at(w, g, s, middle);
        bool beyond = d == 0 || (d < 0) != (at_start < 0);

        if (isnan(d)) { /* exactly at the zero: the result of the division may be finite beside it */
            hi = middle;
            found = false;
            break;
        }
        *(beyond ? &hi : &lo) = middle;
        at[beyond] = d;
        if (i < SOON && fabs(at[0]) > grown && fabs(at[1]) > grown)
            return false;
    }
    *zero = hi;
    /* values below others of the same unit are rounding, which a root beside zero magnifies */
    if (s->unknown && found && fmin(fabs(at[0]), fabs(at[1])) * s->most > 1)
        return false;
    for (n = 0; n < PLACES; n++) { /* where the divisor has that part of what it was */
        double near = t0, far = *zero, at_near = at_start;

        for (int j = 0; j < HALVINGS; j++) {
            double middle = near + (far - near) / 2, d = subject_at(w, g, s, middle);
            bool before = fabs(d) > part[n] * fabs(at_start) && (d < 0) == (at_start < 0);

            if (!(middle > near && middle < far))
                break;
            *(before ? &near : &far) = middle;
            at_near = before ? d : at_near;
        }
        /* near a pole, equations solved together may have no solution within rounding */
        if (s->unknown && fabs(at_near) > REACHED * part[n] * fabs(at_start))
            break;
        at_place[n] = near;
        if (!w->f[n])
            w->f[n] = bg_calloc(w->nf + 1, sizeof(double));
        if (!watched_rates(w, g, near, w->f[n]))
            return true;
    }
    if (n < LEAST_PLACES || !(at_place[n - 1] > at_place[0]))
        return s->risen; /* it is zero throughout: the step begins there */
    /* the rounding of a quantity that is zero changes its sign all the time */
    if (s->unknown && w->nx && integrator_moves(g, w->f[n - 1], t1 - t0) < MOVED)
        return false;
    for (size_t i = 0; i < w->nf; i++) {
        double first = fabs(w->f[1][i] - w->f[0][i]), last = fabs(w->f[n - 1][i] - w->f[n - 2][i]);
        double size = fmax(fabs(w->f[0][i]), fabs(w->f[n - 1][i]));

        if (i<w->nx && * zero> w->begin)
            size = fmax(size, fabs(w->x[i]) / (*zero - w->begin));
        if (!isfinite(last) || (last > NOTHING * size && last > BOUNDED * first))
            return true;
    }
    return false;
}

static void
help_pole(sources *s)
{
    diag_help(s, "Beyond infinity the numbers are arbitrary: stop the run before, or keep the divisor away from zero.");
}

static void
report_pole(watch *w, size_t k, double t)
{
    struct model_pole p = model_pole(w->model, k);
    sources *s = model_sources(w->model);

    if (!p.text)
        diag_error(s, "run-pole", p.at,
                   "the equations that \"%s\" is solved from have no finite solution at %.6g s: their determinant "
                   "changes its sign there",
                   p.var, t);
    else if (p.var)
        diag_error(s, "run-pole", p.at,
                   "\"%s\" has no finite value at %.6g s: it divides by %s, which changes its sign there", p.var, t,
                   p.text);
    else
        diag_error(s, "run-pole", p.at,
                   "the equations have no finite solution at %.6g s: they divide by %s, which changes its sign there",
                   t, p.text);
    help_pole(s);
}

void
watch_note_divisor(watch *w, double t, const double *x)
{
    double least = VANISHED;
    size_t which = NO_INDEX;

    if (!w->n || model_poles(w->model, t, x, w->now) != 0)
        return;
    for (size_t k = 0; k < w->n; k++) {
        double left = fabs(w->now[k]) / w->most[k];

        if (left < least && model_pole(w->model, k).text) {
            least = left;
            which = k;
        }
    }
    if (which != NO_INDEX) {
        struct model_pole p = model_pole(w->model, which);

        diag_note(model_sources(w->model), p.at, "%s%s%s divides by %s, which comes to zero at %.6g s",
                  p.var ? "\"" : "", p.var ? p.var : "this", p.var ? "\"" : "", p.text, t);
    }
}

bool
watch_step(watch *w, integrator *g, double t, const double *x)
{
    double *swap, zero;

    if (!w->n)
        return true;
    if (!w->looking) {
        watch_start(w, t, x);
        return true;
    }
    if (model_poles(w->model, t, x, w->now) != 0) {
        w->looking = false;
        return true;
    }
    for (size_t k = 0; k < w->n; k++) {
        double now = w->now[k];

        w->most[k] = fmax(w->most[k], fabs(now));
        if (!(w->before[k] * now < 0))
            continue;
        struct subject of = { .k = k, .at_start = w->before[k], .at_end = now };

        if (is_pole(w, g, &of, integrator_t0(g), t, &zero)) {
            report_pole(w, k, zero);
            return false;
        }
        if (model_poles(w->model, t, x, w->now) != 0) /* it was scratch */
            return true;
    }
    swap = w->before;
    w->before = w->now;
    w->now = swap;
    return true;
}

/* ---- unknowns ---- */

bool
watch_solves(const watch *w)
{
    return w->nu > 0;
}

/* The largest number of the unit of unknown k at (t, x). If the numbers of a unit cancel, as in a model at rest, an
 * unknown far below them is rounding, and changes its sign all the time. */
static double
most_of_unit(watch *w, size_t k, double t, const double *x)
{
    const unit *of = model_solved_pole(w->model, k).unit;
    size_t n = model_nvariables(w->model);
    double *v = bg_calloc(n + 1, sizeof *v), most = 0;

    if (model_variables(w->model, t, x, v))
        for (var_id i = 0; i < n; i++) {
            struct model_variable one = model_variable(w->model, i);

            if (one.unit == of && one.kind != VAR_TIME && isfinite(v[i]))
                most = fmax(most, fabs(v[i]));
        }
    free(v);
    return most;
}

static void
report_unknown(watch *w, size_t k, double t)
{
    struct model_pole p = model_solved_pole(w->model, k);
    sources *s = model_sources(w->model);

    diag_error(
        s, "run-pole", p.at,
        "the equations that \"%s\" is solved from have no finite solution at %.6g s: it changes its sign through "
        "infinity there",
        p.var, t);
    help_pole(s);
}

/* False: reported; true: it is rounding. */
static bool
pass_unknown(watch *w, size_t k, double t, const double *x, double u)
{
    if (fabs(u) <= CANCELLED * most_of_unit(w, k, t, x))
        return true;
    report_unknown(w, k, t);
    return false;
}

/* Does unknown k, or u at most, change its sign through infinity in the last step? Locating the point takes some
 * hundred evaluations; recognising rounding takes one. */
static bool
is_pole_of_number(watch *w, integrator *g, struct subject *of, double t, double u)
{
    double t0 = integrator_t0(g), zero;

    of->most = most_of_unit(w, of->k, t0, integrator_x0(g));
    if (fabs(u) <= CANCELLED * of->most || !is_pole(w, g, of, t0, t, &zero))
        return false;
    report_unknown(w, of->k, zero);
    return true;
}

/* Has an unknown grown by decades, in ever shorter steps, of which this was the last? A quantity that is zero except
 * for rounding, as in a model at rest, grows by decades too, but then no state moves. */
static bool
has_risen(const watch *w, integrator *g, size_t k, double t, double step)
{
    return fabs(w->solved[k]) > RISEN * fabs(w->rose_from[k]) && step < SHRUNK * (t - w->rose_at[k]) &&
           !model_solved_pole(w->model, k).stands_in && integrator_moves(g, NULL, t - w->rose_at[k]) > MOVED;
}

bool
watch_edge(watch *w, integrator *g, double t)
{
    for (size_t k = 0; k < w->nu; k++)
        if (has_risen(w, g, k, t, w->step) && !pass_unknown(w, k, t, integrator_x1(g), w->solved[k]))
            return false;
    return true;
}

bool
watch_switching(watch *w, integrator *g, double t, const double *x)
{
    if (!w->nu || model_rhs(w->model, t, x, w->rate) != 0)
        return true;
    model_solved(w->model, w->solution);
    for (size_t k = 0; k < w->nu; k++) {
        struct subject of = { .k = k, .unknown = true, .at_start = 1 / w->solved[k], .at_end = 1 / w->solution[k] };

        /* on its way through zero it has become less, mostly */
        if (!(w->solved[k] * w->solution[k] < 0) ||
            (fabs(w->solved[k]) < fabs(w->earlier[k]) && fabs(w->solution[k]) < fabs(w->solved[k])))
            continue;
        if (is_pole_of_number(w, g, &of, t, fmax(fabs(w->solved[k]), fabs(w->solution[k]))))
            return false;
        if (model_rhs(w->model, t, x, w->rate) != 0)
            return true;
        model_solved(w->model, w->solution); /* it was scratch */
    }
    return true;
}

bool
watch_solved(watch *w, integrator *g, double t, const double *x)
{
    double *swap;

    if (!w->nu)
        return true;
    model_solved(w->model, w->solution);
    for (size_t k = 0; k < w->nu; k++) {
        double before = w->solved[k], now = w->solution[k], t0 = integrator_t0(g);
        struct subject of = { .k = k,
                              .unknown = true,
                              .at_start = 1 / before,
                              .at_end = 1 / now,
                              .risen = has_risen(w, g, k, t0, t - t0) };

        /* beside infinity any number solves the equations within rounding */
        if (of.risen && (fabs(now) * RISEN < fabs(before) || fmax(t - t0, w->step) < AT_POLE * (t0 - w->rose_at[k])) &&
            !pass_unknown(w, k, t, integrator_x0(g), before))
            return false;
        if (fabs(now) < fabs(before)) {
            w->rose_from[k] = now;
            w->rose_at[k] = t;
        }
        /* on its way through zero it has become less, mostly */
        if (!(before * now < 0) || fabs(before) < fabs(w->earlier[k]))
            continue;
        if (is_pole_of_number(w, g, &of, t, fmax(fabs(before), fabs(now))))
            return false;
        if (model_rhs(w->model, t, x, w->rate) != 0)
            return true;
        model_solved(w->model, w->solution); /* it was scratch */
    }
    w->step = t - integrator_t0(g);
    swap = w->earlier;
    w->earlier = w->solved;
    w->solved = w->solution;
    w->solution = swap;
    return true;
}
