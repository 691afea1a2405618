/* watch.c - see watch.h */
#include "watch.h"

#include <math.h>
#include <string.h>

#include "columns.h"

/* Towards a zero of the divisor the rates are looked at where it has these parts of its size at the step's end. Of a
 * quotient that stays smooth (sin(x)/x) the differences from place to place fall with the parts; of a logarithm's they
 * stay, of a pole's they grow. */
enum { PLACES = 4 };
static const double part[PLACES] = { 1e-1, 1e-2, 1e-3, 1e-4 };
static const double BOUNDED = 0.5; /* of the first difference: below it the last is that of a smooth function */
static const double NOTHING =
    1e-6; /* of the rate's size, here or on the way of its state so far: what no difference is looked at below */
enum { HALVINGS = 50 };

struct bad_output {
    double t;
    size_t points;
    char *why;
};

struct watch {
    bg_model *model;
    size_t nx, ny, n, nf;
    bool powers, looking, begun;
    double begin;          /* s, of the run */
    double *before, *now;  /* [n] divisors, at the last accepted point and at the present one */
    double *x, *f[PLACES]; /* scratch: states; rates, then powers */
    size_t points;
    struct bad_output *output; /* [ny] */
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
    w->x = bg_calloc(w->nx + 1, sizeof(double));
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
    free(w->x);
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

size_t
watch_report(watch *w)
{
    const flat_model *f = model_flat(w->model);
    size_t n = 0;

    for (size_t k = 0; k < w->ny; k++) {
        const struct bad_output *b = &w->output[k];
        const flat_output *o = model_output(f, k);

        if (!b->points)
            continue;
        n++;
        if (b->points == 1)
            diag_error(f->sources, "run-output", o->at, "output \"%s\" has no finite value at %.6g s", o->name, b->t);
        else
            diag_error(f->sources, "run-output", o->at,
                       "output \"%s\" has no finite value at %zu of %zu points, first at %.6g s", o->name, b->points,
                       w->points, b->t);
        if (b->why)
            diag_note(f->sources, o->at, "%s", b->why);
    }
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
}

/* The divisor at t of the last step, whose state is left in w->x. NAN: it cannot be evaluated. */
static double
divisor_at(watch *w, integrator *g, size_t k, double t)
{
    return integrator_dense(g, t, w->x) && model_poles(w->model, t, w->x, w->now) == 0 ? w->now[k] : NAN;
}

/* Rates, and powers where they count, at t of the last step. */
static bool
rates_at(watch *w, integrator *g, double t, double *f)
{
    return integrator_dense(g, t, w->x) && (!w->nx || model_rhs(w->model, t, w->x, f) == 0) &&
           (!w->powers || model_powers(w->model, t, w->x, f + w->nx) == 0);
}

/* Do the rates grow without bound from t0 towards the place in (t0, t1] where divisor k is zero? *zero: that place. */
static bool
is_pole(watch *w, integrator *g, size_t k, double t0, double t1, double *zero)
{
    double lo = t0, hi = t1, at_start = w->before[k], at_place[PLACES];

    for (int i = 0; i < HALVINGS && lo + (hi - lo) / 2 > lo && lo + (hi - lo) / 2 < hi; i++) {
        double middle = lo + (hi - lo) / 2, d = divisor_at(w, g, k, middle);

        if (isnan(d)) { /* the very place: what is divided by zero there may be finite beside it */
            hi = middle;
            break;
        }
        *(d == 0 || (d < 0) != (at_start < 0) ? &hi : &lo) = middle;
    }
    *zero = hi;
    for (int i = 0; i < PLACES; i++) { /* where the divisor has that part of what it was */
        double near = t0, far = *zero;

        for (int j = 0; j < HALVINGS; j++) {
            double middle = near + (far - near) / 2, d = divisor_at(w, g, k, middle);

            if (!(middle > near && middle < far))
                break;
            *(fabs(d) > part[i] * fabs(at_start) && (d < 0) == (at_start < 0) ? &near : &far) = middle;
        }
        at_place[i] = near;
        if (!w->f[i])
            w->f[i] = bg_calloc(w->nf + 1, sizeof(double));
        if (!rates_at(w, g, near, w->f[i]))
            return true;
    }
    if (!(at_place[PLACES - 1] > at_place[0]))
        return false; /* it is zero all along: the step begins there */
    for (size_t i = 0; i < w->nf; i++) {
        double first = fabs(w->f[1][i] - w->f[0][i]), last = fabs(w->f[PLACES - 1][i] - w->f[PLACES - 2][i]);
        double size = fmax(fabs(w->f[0][i]), fabs(w->f[PLACES - 1][i]));

        if (i<w->nx && * zero> w->begin)
            size = fmax(size, fabs(w->x[i]) / (*zero - w->begin));
        if (!isfinite(last) || (last > NOTHING * size && last > BOUNDED * first))
            return true;
    }
    return false;
}

static void
report_pole(watch *w, size_t k, double t)
{
    struct model_pole p = model_pole(w->model, k);
    sources *s = model_flat(w->model)->sources;

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
    diag_help(s, "What goes through infinity comes back as another number each time: stop before, or keep the divisor "
                 "away from zero.");
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

        if (!(w->before[k] * now < 0))
            continue;
        if (is_pole(w, g, k, integrator_t0(g), t, &zero)) {
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
