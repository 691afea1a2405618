/* equilibrium.c - states at which nothing moves, with the inputs of one time; see simulate.h
 *
 * Pseudo-transient continuation: implicit Euler steps (I/h - J) d = f whose length h grows as the rates shrink, so that the iteration follows the model's own motion
 * first and becomes Newton's method in the end. It needs no more than the integrator's matrix, and what the motion conserves (a total mass, a
 * momentum) keeps its initial value even where J is singular. Modes follow after every step. Up to 600 states a singular
 * value decomposition then gives minimum-norm corrections down to rounding and the directions that stay free.
 *
 * Kelley & Keyes (1998), SIAM J. Numer. Anal. 35(2):508-523
 */
#include "simulate.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "events.h"
#include "linear.h"
#include "vectors.h"

#define ITERATIONS 400
#define CLOSE 1e-9                   /* of the terms in a rate: an equilibrium, though perhaps not down to rounding */
#define DENSE_STATES 600
#define DENSE_UNKNOWNS 1200
#define NAMED 5                      /* states named in a message */

typedef struct rest {
    bg_model *model;
    size_t n;
    double t;
    bool *active;                    /* [n] takes part */
    double *f, *gross;               /* [n] rates; size of the terms they are made of */
    double *trial, *step, *probe;
    linear *linear;
    events *events;
    /* singular values of the scaled reduced Jacobian */
    bool svd;
    double *u, *sigma, *vt, *row_scale, *column_scale;
    size_t rank;
} rest;

static bool rates(rest *s, const double *x, double *f)
{
    if (model_rhs(s->model, s->t, x, f) != 0 || !vec_finite(s->n, f))
        return false;
    for (size_t i = 0; i < s->n; i++)
        if (!s->active[i])
            f[i] = 0;
    return true;
}

/* Size of the terms in each rate: what relative changes of the states (random signs, twice) do to it, over 1e-6. */
static void measure(rest *s, const double *x)
{
    const double relative = 1e-6;

    for (uint64_t trial = 0; trial < 2; trial++) {
        for (size_t i = 0; i < s->n; i++)
            s->trial[i] = x[i] * (bg_hash_mix(i + 1, 29 + trial) >> 63 ? 1 + relative : 1 - relative);
        if (!rates(s, s->trial, s->probe))
            continue;
        for (size_t i = 0; i < s->n; i++)
            s->gross[i] = fmax(s->gross[i], fmax(fabs(s->f[i]), fabs(s->probe[i] - s->f[i]) / relative));
    }
}

static double residual(const rest *s, const double *f)
{
    double r = 0;

    for (size_t i = 0; i < s->n; i++)
        if (f[i] != 0)
            r = fmax(r, fabs(f[i]) / fmax(s->gross[i], fabs(f[i])));
    return r;
}

/* A time in which the model moves by what it is: from J applied to its own rates. */
static double time_scale(rest *s, const double *x)
{
    double most = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->active[i] && x[i] != 0)
            most = fmax(most, s->gross[i] / fabs(x[i]));
    if (!(most > 0)) {
        const struct model_pattern p = linear_pattern(s->linear);
        const double *v = linear_values(s->linear);
        for (size_t k = 0; k < p.nonzeros; k++)
            most = fmax(most, fabs(v[k]));
    }
    return most > 0 && isfinite(most) ? 1 / most : 1;
}

/* Marches from x towards rest. Returns the scaled residual reached. */
static double march(rest *s, double *x)
{
    double h = 0, r, best, shortest = 0;
    int idle = 0;

    events_settle(s->events, s->t, x);
    if (!rates(s, x, s->f))
        return INFINITY;
    measure(s, x);
    best = r = residual(s, s->f);
    for (int k = 0; k < ITERATIONS && r > 1e-13 && idle < 40; k++) {
        if (linear_evaluate(s->linear, s->t, x) != 0)
            return INFINITY;
        if (h == 0) {
            h = time_scale(s, x);
            shortest = h * 1e-12;
        }
        linear_form(s->linear, h);
        bool good = linear_factor(s->linear) == 0;
        if (good) {
            for (size_t i = 0; i < s->n; i++)
                s->step[i] = h * s->f[i];
            good = linear_solve(s->linear, s->step) == 0 && vec_finite(s->n, s->step);
        }
        double now = INFINITY;
        if (good) {
            for (size_t i = 0; i < s->n; i++)
                s->trial[i] = s->active[i] ? x[i] + s->step[i] : x[i];
            good = rates(s, s->trial, s->probe);
        }
        if (good) {
            for (size_t i = 0; i < s->n; i++)    /* terms may grow on the way: 1e-12 is of what cancels */
                s->gross[i] = fmax(s->gross[i], fabs(s->probe[i]));
            now = residual(s, s->probe);
            good = now <= 4 * fmax(r, best) || now <= 0.5;
        }
        if (!good) {
            h /= 8;
            idle++;
            if (h < shortest)
                break;
            continue;
        }
        memcpy(x, s->trial, s->n * sizeof(double));
        bool switched = events_settle(s->events, s->t, x);
        if (!rates(s, x, s->f))
            return INFINITY;
        if (k % 8 == 0 || now < 1e-3)
            measure(s, x);
        now = residual(s, s->f);
        idle = now < 0.9 * best || switched ? 0 : idle + 1;
        if (now < r)
            h *= fmin(100, fmax(4, r / now));
        else if (now < 1.01 * r)
            h *= 2;
        else
            h /= 2;
        if (now < best)
            best = now;
        else if (best < CLOSE && now >= best)
            return now;              /* rounding has the word */
        r = now;
    }
    return r;
}

/* Decomposes the Jacobian of the states alone, scaled to rows and columns of size one. */
static bool decompose(rest *s, const double *x)
{
    const struct model_pattern p = linear_pattern(s->linear);
    size_t n = s->n, nz = p.n - p.nx;

    if (linear_evaluate(s->linear, s->t, x) != 0)
        return false;
    const double *v = linear_values(s->linear);
    double *full = bg_calloc(n * n + 1, sizeof(double));
    double *fz = bg_calloc(n * nz + 1, sizeof(double)), *gx = bg_calloc(nz * n + 1, sizeof(double)), *gz = bg_calloc(nz * nz + 1, sizeof(double));
    lapack_int *pivot = bg_calloc(nz + 1, sizeof *pivot);
    bool ok = true;

    for (size_t j = 0; j < p.n; j++)
        for (int64_t k = p.column[j]; k < p.column[j + 1]; k++) {
            size_t i = (size_t)p.row[k];
            double *to = i < n ? (j < n ? &full[j * n + i] : &fz[(j - n) * n + i]) : (j < n ? &gx[j * nz + i - n] : &gz[(j - n) * nz + i - n]);
            *to = v[k];
        }
    if (nz > 0) {                    /* f_x - f_z g_z^-1 g_x */
        ok = LAPACKE_dgesv(LAPACK_COL_MAJOR, (lapack_int)nz, (lapack_int)n, gz, (lapack_int)nz, pivot, gx, (lapack_int)nz) == 0;
        for (size_t j = 0; ok && j < n; j++)
            for (size_t k = 0; k < nz; k++)
                if (gx[j * nz + k] != 0)
                    for (size_t i = 0; i < n; i++)
                        full[j * n + i] -= fz[k * n + i] * gx[j * nz + k];
    }
    for (size_t i = 0; ok && i < n; i++) {
        double top = 0;
        for (size_t j = 0; j < n; j++) {
            if (!s->active[i] || !s->active[j])
                full[j * n + i] = 0;
            top = fmax(top, fabs(full[j * n + i]));
        }
        s->row_scale[i] = top > 0 ? 1 / top : 1;
    }
    for (size_t j = 0; ok && j < n; j++) {
        double top = 0;
        for (size_t i = 0; i < n; i++) {
            full[j * n + i] *= s->row_scale[i];
            top = fmax(top, fabs(full[j * n + i]));
        }
        s->column_scale[j] = top > 0 ? 1 / top : 1;
        for (size_t i = 0; i < n; i++)
            full[j * n + i] *= s->column_scale[j];
    }
    ok = ok && LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'A', (lapack_int)n, (lapack_int)n, full, (lapack_int)n, s->sigma, s->u, (lapack_int)n, s->vt,
                              (lapack_int)n) == 0;
    if (ok)
        for (s->rank = 0; s->rank < n && s->sigma[s->rank] > 1e-11 * s->sigma[0] && s->sigma[s->rank] > 0; s->rank++)
            ;
    free(full);
    free(fz);
    free(gx);
    free(gz);
    free(pivot);
    return ok;
}

/* Corrections of least size with the decomposed Jacobian, while they help. */
static double polish(rest *s, double *x)
{
    size_t n = s->n;
    double r = residual(s, s->f);

    for (int k = 0; k < 8 && r > 0; k++) {
        memset(s->step, 0, n * sizeof(double));
        for (size_t a = 0; a < s->rank; a++) {
            double c = 0;
            for (size_t i = 0; i < n; i++)
                c -= s->u[a * n + i] * s->f[i] * s->row_scale[i];
            c /= s->sigma[a];
            for (size_t j = 0; j < n; j++)
                s->step[j] += c * s->vt[j * n + a];
        }
        for (size_t j = 0; j < n; j++)
            s->trial[j] = s->active[j] ? x[j] + s->column_scale[j] * s->step[j] : x[j];
        if (!rates(s, s->trial, s->probe))
            break;
        double now = residual(s, s->probe);
        if (!(now < r))
            break;
        memcpy(x, s->trial, n * sizeof(double));
        memcpy(s->f, s->probe, n * sizeof(double));
        r = now;
    }
    return r;
}

static void report_failure(rest *s)
{
    sources *src = model_flat(s->model)->sources;
    size_t worst[NAMED], count = 0;
    strbuf list = { 0 };

    for (size_t i = 0; i < s->n; i++) {       /* the largest scaled rates, by insertion */
        double r = fabs(s->f[i]) / fmax(s->gross[i], fabs(s->f[i]) + 1e-300);
        size_t k = count;
        if (!(r > CLOSE))
            continue;
        while (k > 0 && fabs(s->f[worst[k - 1]]) / fmax(s->gross[worst[k - 1]], 1e-300) < r)
            k--;
        if (k >= NAMED)
            continue;
        count += count < NAMED;
        memmove(worst + k + 1, worst + k, (count - k - 1) * sizeof *worst);
        worst[k] = i;
    }
    for (size_t k = 0; k < count; k++)
        strbuf_printf(&list, "%s\"%s\" (%.3g/s)", k ? ", " : "", model_state(s->model, worst[k]).name, s->f[worst[k]]);
    if (count > 0) {
        diag_error(src, "run-equilibrium", model_state(s->model, worst[0]).at, "no equilibrium at %.6g s: what keeps changing is %s", s->t, list.at);
        for (size_t k = 1; k < count; k++)
            diag_note(src, model_state(s->model, worst[k]).at, "\"%s\" is here", model_state(s->model, worst[k]).name);
        diag_help(src, "A force, a flow or a voltage that nothing balances keeps a model moving; start from given values instead.");
    } else {
        diag_error(src, "run-equilibrium", model_flat(s->model)->at, "no equilibrium found at %.6g s: the equations have no finite solution there",
                   s->t);
    }
    strbuf_free(&list);
}

/* Says which states the equilibrium leaves free though nobody states a value for them. */
static void report_free(rest *s)
{
    size_t n = s->n, named = 0, more = 0;
    strbuf list = { 0 };
    span at = SPAN_NONE;

    for (size_t j = 0; j < n; j++) {
        double share = 0;
        for (size_t a = s->rank; a < n; a++)
            share += s->vt[j * n + a] * s->vt[j * n + a];
        struct model_state state = model_state(s->model, j);
        if (!s->active[j] || share < 1e-8 || state.stated)
            continue;
        if (named == NAMED) {
            more++;
            continue;
        }
        if (named++ == 0)
            at = state.at;
        strbuf_printf(&list, "%s\"%s\"", named > 1 ? ", " : "", state.name);
    }
    if (more)
        strbuf_printf(&list, " and %zu more", more);
    if (named)
        diag_info(model_flat(s->model)->sources, "equilibrium-free", at, "the equilibrium does not determine %s: %s initial value%s kept", list.at,
                  named + more > 1 ? "their" : "its", named + more > 1 ? "s are" : " is");
    strbuf_free(&list);
}

bool equilibrium(bg_model *m, double t, double *x)
{
    size_t n = model_nstates(m), active = 0;
    rest s = { .model = m, .n = n, .t = t };
    bool ok = false;

    if (n == 0)
        return true;
    if (!model_need(m, PART_RHS) || (model_nmodes(m) > 0 && !model_need(m, PART_CONDITIONS)) || !(s.linear = linear_new(m)))
        return false;
    s.active = bg_calloc(n, sizeof *s.active);
    for (size_t i = 0; i < n; i++) {
        s.active[i] = !model_state(m, i).only_outputs;
        active += s.active[i];
    }
    double **vector[] = { &s.f, &s.gross, &s.trial, &s.step, &s.probe, &s.sigma, &s.row_scale, &s.column_scale };
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        *vector[k] = bg_calloc(n, sizeof(double));
    s.events = events_new(m, t, t + 1);

    double r = active ? march(&s, x) : 0;
    if (n <= DENSE_STATES && linear_pattern(s.linear).n <= DENSE_UNKNOWNS && active && r < 1e-3) {
        s.u = bg_calloc(n * n, sizeof(double));
        s.vt = bg_calloc(n * n, sizeof(double));
        for (int k = 0; k < 4; k++) {            /* afresh while the point still moves */
            double before = r;
            if (!decompose(&s, x))
                break;
            s.svd = true;
            r = polish(&s, x);
            bool switched = events_settle(s.events, t, x);
            if (!rates(&s, x, s.f)) {
                r = INFINITY;
                break;
            }
            r = residual(&s, s.f);
            if (!switched && (r < 1e-14 || r > 0.1 * before))
                break;
        }
    }
    if (r <= CLOSE) {
        ok = true;
        if (model_has_blocks(m))
            model_accept(m, t, x);
        if (s.svd)
            report_free(&s);
    } else {
        report_failure(&s);
    }
    free(s.active);
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        free(*vector[k]);
    free(s.u);
    free(s.vt);
    events_free(s.events);
    linear_free(s.linear);
    return ok;
}
