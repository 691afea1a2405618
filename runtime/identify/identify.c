/* identify.c - see identify.h */
#include "identify.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "chosen.h"
#include "directions.h"
#include "fit_runs.h"
#include "model_graph.h"
#include "side_by_side.h"

/* Relative to the greatest singular value: smaller ones are below the accuracy of the derivatives. */
static const double BLIND = 1e-7;
/* A direction with a relative standard error above this counts as undetermined. */
static const double VAGUE = 1;
/* Activities are computed again when a parameter has moved by this relative amount. */
static const double MOVED = 0.1;
/* Smallest share of a parameter in a direction that is reported. */
static const double SHARE = 1e-3;
/* Greatest factor by which a parameter moves in one step: a parameter with little effect would otherwise be sent to
 * values where runs take very long. */
static const double STRIDE = 2;
/* Limits of a search where the user sets none: number of steps, and step size relative to the parameter. */
enum { MOST_STEPS = 100 };
static const double STEP_TOLERANCE = 1e-6;
/* Two costs belong to the same minimum if they differ by less than this relative to the cost, or, where nothing is
 * left, per row (rows are scaled to 1). */
static const double SAME_COST = 1e-6, SAME_ROW = 1e-12;
/* A fit is astray if it leaves more than this share of the data's variance (or did not converge) and its residuals are
 * not noise: the outputs oscillate, and the fit has a wrong number of oscillations. For white noise neighbouring
 * residuals differ by sqrt(2) of their size (mean squares are compared). */
static const double ASTRAY = 0.01, NO_NOISE = 1;
/* A parameter that keeps its sign comes no nearer to zero than this share of its start: masses and resistances of zero
 * leave equations singular. */
static const double LEAST_SHARE = 1e-6;
/* Share of a column's mean size: a mean deviation of this size gives a performance of zero. */
static const double POOR = 0.01;
/* The first part of the data's time that such a search uses, and the factor by which that time then grows. */
static const double FIRST_PART = 1.0 / 32, MORE_TIME = 2;

/* ---------------------------------------------------------------- choice of active parameters */

struct ranked {
    double share;
    size_t index;
};

static int
by_activity_share(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    return x->share != y->share ? (x->share < y->share) - (x->share > y->share)
                                : (x->index > y->index) - (x->index < y->index);
}

/* Share of the activity, without sources, of the elements that read each parameter: the greatest over the experiments,
 * at the last evaluation. */
static void
share_activities(struct search *s, double *share)
{
    memset(share, 0, s->n * sizeof *share);
    for (size_t r = 0; r < s->f->run.n; r++) {
        const bg_model *m = s->f->run.at[r].model;
        const model_graph *g = model_graph_of(m);
        size_t n = model_nelements(m);
        bool *reads = bg_calloc(n + 1, sizeof *reads), *any = bg_calloc(n + 1, sizeof *any);
        double total = 0;

        for (size_t e = 0; e < n; e++)
            if (!element_is_source(g->element[e].type))
                total += s->activity.at[r][e];
        for (size_t k = 0; k < s->n && total > 0; k++) {
            double sum = 0;

            memset(any, 0, n * sizeof *any);
            for (size_t i = 0; i < s->f->parameter.at[k].all.n; i++) {
                chosen_readers(m, model_parameter(m, s->f->parameter.at[k].all.at[i]), reads);
                for (size_t e = 0; e < n; e++)
                    any[e] |= reads[e];
            }
            for (size_t e = 0; e < n; e++)
                if (any[e] && !element_is_source(g->element[e].type))
                    sum += s->activity.at[r][e] / total;
            share[k] = fmax(share[k], sum);
        }
        free(reads);
        free(any);
    }
}

/* Lets the smallest leading set whose shares reach the threshold move and holds the others. True if the set changed. */
static bool
choose_active(struct search *s, const double *theta)
{
    struct ranked *list = bg_calloc(s->n + 1, sizeof *list);
    double *share = bg_calloc(s->n + 1, sizeof *share), total = 0, sum = 0;
    bool changed = false;

    share_activities(s, share);
    for (size_t k = 0; k < s->n; k++) {
        list[k] = (struct ranked){ share[k], k };
        total += share[k];
    }
    qsort(list, s->n, sizeof *list, by_activity_share);
    for (size_t k = 0; k < s->n; k++) {
        bool held = k > 0 && sum >= s->f->threshold * total && !s->f->parameter.at[list[k].index].state.n;

        changed |= s->held[list[k].index] != held;
        s->held[list[k].index] = held;
        sum += list[k].share;
    }
    memcpy(s->seen, theta, s->n * sizeof *theta);
    free(list);
    free(share);
    return changed;
}

static bool
accepted(void *ctx, double *theta)
{
    struct search *s = ctx;
    bool moved = false;

    for (size_t k = 0; k < s->n; k++)
        moved |= fabs(theta[k] - s->seen[k]) > MOVED * fabs(s->seen[k]);
    return moved && choose_active(s, theta);
}

/* ---------------------------------------------------------------- what the data determine */

/* The size to which a change of parameter k is relative: its value; at a bound, where the value may be tiny, at least
 * its starting value. */
static double
change_of(const double *theta, const bool *bound, size_t k)
{
    return bound[k] ? fmax(fabs(theta[k]), 1) : theta[k] != 0 ? theta[k] : 1;
}

static void
add_unknown(fit_result *r, size_t n, size_t nfree, const size_t *of, const double *part, size_t stride)
{
    fit_direction direction = { bg_calloc(n, sizeof(double)) };

    for (size_t c = 0; c < nfree; c++)
        direction.part[of[c]] = part[c * stride];
    vec_push(&r->unknown, direction);
}

/* Computes errors and directions from the triangle of derivatives at the end. A parameter at a bound counts as free: if
 * it ended there because the data hardly determine it, the others are as uncertain as without the bound. */
static void
judge_fit(struct search *s, const double *theta, const ls_result *found, fit_result *r)
{
    size_t n = s->n, nfree = 0, *of = bg_calloc(n + 1, sizeof *of);
    double *a = bg_calloc(n * n + 1, sizeof *a), *sigma = bg_calloc(n + 1, sizeof *sigma),
           *u = bg_calloc(n * n + 1, sizeof *u);
    double *vt = bg_calloc(n * n + 1, sizeof *vt), *cover = bg_calloc(n * n + 1, sizeof *cover), noise;
    bool *blind = bg_calloc(n + 1, sizeof *blind);
    double *lost = bg_calloc(n * n + 1, sizeof *lost);
    size_t nseen = 0;

    for (size_t k = 0; k < n; k++) {
        r->deviation[k] = NAN;
        for (size_t j = 0; j < n; j++)
            r->correlation[k * n + j] = NAN;
        r->bound[k] = !s->held[k] && (theta[k] * s->size[k] <= s->f->parameter.at[k].low ||
                                      theta[k] * s->size[k] >= s->f->parameter.at[k].high);
        if (!s->held[k])
            of[nfree++] = k;
    }
    /* by relative change */
    for (size_t c = 0; c < nfree; c++)
        for (size_t i = 0; i < n; i++)
            a[c * n + i] = found->triangle[of[c] * n + i] * change_of(theta, r->bound, of[c]);
    noise = found->rows > nfree ? sqrt(found->cost / (double)(found->rows - nfree))
                                : NAN; /* as many data as parameters: the noise is unknown */
    if (nfree && LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'S', 'A', (lapack_int)n, (lapack_int)nfree, a, (lapack_int)n, sigma,
                                u, (lapack_int)n, vt, (lapack_int)nfree, cover) == 0) {
        memset(cover, 0, n * n * sizeof *cover);
        /* singular values descend: those of undetermined directions are the last */
        while (nseen < nfree && sigma[nseen] > BLIND * sigma[0])
            nseen++;
        for (size_t d = nseen; d < nfree; d++)
            for (size_t c = 0; c < nfree; c++)
                lost[(d - nseen) * nfree + c] = vt[c * nfree + d];
        directions_part(nfree, nfree - nseen, lost);
        for (size_t d = nseen; d < nfree; d++) {
            const double *part = lost + (d - nseen) * nfree;

            add_unknown(r, n, nfree, of, part, 1);
            for (size_t c = 0; c < nfree; c++)
                blind[of[c]] |= part[c] * part[c] > SHARE;
        }
        for (size_t d = 0; d < nseen; d++) {
            /* a direction that is only uncertain adds to the errors of the others */
            if (noise > VAGUE * sigma[d])
                add_unknown(r, n, nfree, of, vt + d, nfree);
            for (size_t c = 0; c < nfree; c++)
                for (size_t e = 0; e < nfree; e++)
                    cover[of[c] * n + of[e]] += vt[c * nfree + d] * vt[e * nfree + d] / (sigma[d] * sigma[d]);
        }
        for (size_t c = 0; c < nfree; c++) {
            size_t k = of[c];

            blind[k] |= noise * sqrt(cover[k * n + k]) > VAGUE;
        }
        for (size_t c = 0; c < nfree; c++) {
            size_t k = of[c];

            if (blind[k])
                continue;
            r->deviation[k] = noise * sqrt(cover[k * n + k]) * fabs(change_of(theta, r->bound, k) * s->size[k]);
            for (size_t e = 0; e < nfree; e++)
                if (!blind[of[e]])
                    r->correlation[k * n + of[e]] = cover[k * n + of[e]] /
                                                    sqrt(cover[k * n + k] * cover[of[e] * n + of[e]]);
        }
    }
    free(of);
    free(a);
    free(sigma);
    free(u);
    free(vt);
    free(cover);
    free(blind);
    free(lost);
}

/* Mean over the columns of 1 - (mean deviation / mean size)/1 %. */
static double
performance(struct search *s)
{
    double sum = 0;
    size_t count = 0;

    for (size_t r = 0; r < s->f->run.n; r++) {
        const fit_run *run = &s->f->run.at[r];

        for (size_t c = 0; c < run->ncolumns; c++, count++) {
            double top = 0, bottom = 0;

            for (size_t i = 0; i < run->ntimes; i++) {
                double datum = run->datum[c * run->ntimes + i];

                if (isnan(datum))
                    continue;
                top += fabs(s->output.at[r][i * model_noutputs(run->model) + run->output[c]] - datum);
                bottom += fabs(datum);
            }
            sum += 1 - (bottom > 0 ? top / bottom / POOR : 0);
        }
    }
    return sum / (double)count;
}

/* Is the mean of a column's data nearer to them than the output is? */
static bool
is_poor(struct search *s, size_t r, size_t c, fit_poor *found)
{
    const fit_run *run = &s->f->run.at[r];
    const double *datum = run->datum + c * run->ntimes;
    double mean = 0, fitted = 0, spread = 0;
    size_t n = 0;

    for (size_t i = 0; i < run->ntimes; i++)
        if (!isnan(datum[i]))
            mean += (datum[i] - mean) / (double)++n;
    for (size_t i = 0; i < run->ntimes; i++) {
        double off = s->output.at[r][i * model_noutputs(run->model) + run->output[c]] - datum[i];

        if (isnan(datum[i]))
            continue;
        fitted += off * off / (double)n;
        spread += (datum[i] - mean) * (datum[i] - mean) / (double)n;
    }
    *found = (fit_poor){ r, c, sqrt(fitted), sqrt(spread) };
    return fitted > spread && spread > 0; /* no spread: to be off by their noise is no fault */
}

static double
uniform(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(*seed >> 11) + 0.5) * 0x1p-53;
}

/* The best result of several searches. */
struct best {
    bool any;
    double *theta;
    bool *held;
    ls_result found;
};

/* Searches from theta (out: the end point). False: the model does not run there. */
static bool
run_search(struct search *s, const ls_problem *p, double *theta, ls_result *found)
{
    if (s->f->active && fit_evaluate(s, theta, NULL))
        choose_active(s, theta);
    least_squares(p, theta, found);
    if (found->end == LS_NO_START) {
        free(found->triangle);
        found->triangle = NULL;
    }
    return found->end != LS_NO_START;
}

/* Keeps a result that is better than the best so far; takes over found's triangle. */
static void
keep_better(size_t n, const double *theta, const bool *held, const ls_result *found, struct best *best, fit_result *r)
{
    if (best->any &&
        fabs(found->cost - best->found.cost) <= SAME_COST * best->found.cost + SAME_ROW * (double)found->rows)
        r->same++;
    else if (best->any)
        r->other++;
    if (best->any && found->cost >= best->found.cost) {
        free(found->triangle);
        return;
    }
    free(best->found.triangle);
    best->found = *found;
    memcpy(best->theta, theta, n * sizeof *theta);
    memcpy(best->held, held, n * sizeof *held);
    best->any = true;
}

static bool
search_from(struct search *s, const ls_problem *p, double *theta, struct best *best, fit_result *r)
{
    ls_result found;

    if (!run_search(s, p, theta, &found))
        return false;
    keep_better(s->n, theta, s->held, &found, best, r);
    return true;
}

/* ---------------------------------------------------------------- further starting points, in parallel */

struct further {
    struct search *s;
    const ls_problem *p;
    const double *theta; /* [start][n] */
    size_t first, count; /* of those that run at present */
};

/* The result of a search as bytes for another process, followed by theta, the triangle and the held flags. */
struct ended {
    bool started;
    size_t evaluations;
    ls_result found;
};

static size_t
ended_size(size_t n)
{
    size_t bytes = sizeof(struct ended) + (n + n * n) * sizeof(double) + n * sizeof(bool);

    return (bytes + sizeof(double) - 1) / sizeof(double) * sizeof(double);
}

/* Each search runs in a process of its own, so that all start from the same memory. The last one is this process, which
 * has nothing to do. */
static bool
search_further(void *ctx, size_t i, void *to)
{
    const struct further *w = ctx;
    struct search *s = w->s;
    size_t n = s->n, before = s->evaluations;
    struct ended *e = to;
    double *theta = (double *)(e + 1), *triangle = theta + n;

    if (i == w->count)
        return false;
    memcpy(theta, w->theta + (w->first + i) * n, n * sizeof *theta);
    s->beside = true;
    e->started = run_search(s, w->p, theta, &e->found);
    s->beside = false;
    e->evaluations = s->evaluations - before;
    if (e->started)
        memcpy(triangle, e->found.triangle, n * n * sizeof *triangle);
    memcpy(triangle + n * n, s->held, n * sizeof *s->held);
    free(e->found.triangle);
    return true;
}

static void
take_further(struct search *s, const char *at, struct best *best, fit_result *r)
{
    size_t n = s->n;
    struct ended e;
    const double *theta = (const double *)(at + sizeof e), *triangle = theta + n;

    memcpy(&e, at, sizeof e);
    if (e.evaluations == NO_INDEX || !e.started) { /* the first, where its process ended early */
        r->failed++;
        s->evaluations += e.evaluations == NO_INDEX ? 0 : e.evaluations;
        return;
    }
    s->evaluations += e.evaluations;
    e.found.triangle = bg_calloc(n * n + 1, sizeof *triangle);
    memcpy(e.found.triangle, triangle, n * n * sizeof *triangle);
    keep_better(n, theta, (const bool *)(triangle + n * n), &e.found, best, r);
}

static void
search_further_starts(struct search *s, const ls_problem *p, struct best *best, fit_result *r)
{
    size_t n = s->n, starts = s->f->starts > 1 ? s->f->starts - 1 : 0, most = side_by_side_workers();
    double *theta = bg_calloc(starts * n + 1, sizeof *theta);
    char *result = bg_calloc(most + 1, ended_size(n));
    struct further w = { .s = s, .p = p, .theta = theta };
    uint64_t seed = 1;

    for (size_t k = 0; k < starts * n; k++)
        theta[k] = (s->f->parameter.at[k % n].start != 0 ? 1 : 0) * exp2(2 * uniform(&seed) - 1);
    for (; w.first < starts; w.first += w.count) {
        w.count = starts - w.first < most ? starts - w.first : most;
        side_by_side(w.count + 1, ended_size(n), w.count + 1, search_further, &w, result);
        for (size_t i = 0; i < w.count; i++)
            take_further(s, result + i * ended_size(n), best, r);
    }
    free(theta);
    free(result);
}

/* Sum of squares that would remain if each column were fitted by its mean. */
static double
variation(const fit *f)
{
    double total = 0;

    for (size_t r = 0; r < f->run.n; r++) {
        const fit_run *run = &f->run.at[r];

        for (size_t c = 0; c < run->ncolumns; c++) {
            const double *datum = run->datum + c * run->ntimes;
            double mean = 0, squares = 0;
            size_t count = 0;

            for (size_t i = 0; i < run->ntimes; i++)
                if (!isnan(datum[i])) {
                    double apart = datum[i] - mean;

                    mean += apart / (double)++count;
                    squares += apart * (datum[i] - mean);
                }
            total += squares * run->weight[c] * run->weight[c];
        }
    }
    return total;
}

/* Relative error of the runs according to their tolerance; 0 where none is given. */
static double
error_of_runs(const fit *f)
{
    double most = 0;

    for (size_t r = 0; r < f->run.n; r++)
        most = fmax(most, f->run.at[r].o.rtol);
    return most;
}

/* Mean square of the differences of neighbouring residuals over that of the residuals, at the last evaluation. */
static double
roughness(const struct search *s)
{
    double apart = 0, size = 0;

    for (size_t r = 0; r < s->f->run.n; r++) {
        const fit_run *run = &s->f->run.at[r];

        for (size_t c = 0; c < run->ncolumns; c++) {
            double before = NAN;

            for (size_t i = 0; i < run->ntimes; i++) {
                double e = run->weight[c] * (s->output.at[r][i * model_noutputs(run->model) + run->output[c]] -
                                             run->datum[c * run->ntimes + i]);

                if (isnan(e))
                    continue;
                size += e * e;
                apart += isnan(before) ? 0 : (e - before) * (e - before);
                before = e;
            }
        }
    }
    return size > 0 ? apart / size : INFINITY;
}

static bool
lost_its_way(struct search *s, const struct best *best)
{
    return !s->f->near && best->any && (best->found.cost > ASTRAY * variation(s->f) || best->found.end == LS_STEPS) &&
           fit_evaluate(s, best->theta, NULL) && roughness(s) < NO_NOISE;
}

/* Searches from the start over a growing part of the data, so that an oscillation is followed period by period. */
static void
search_growing(struct search *s, const ls_problem *p, double *theta, struct best *best, fit_result *r)
{
    double before = best->found.cost;
    size_t same = r->same, other = r->other;
    bool fine = true;

    for (s->part = FIRST_PART; s->part < 1 && fine; s->part *= MORE_TIME) {
        ls_result found;

        least_squares(p, theta, &found);
        fine = found.end != LS_NO_START;
        free(found.triangle);
    }
    s->part = 1;
    if (fine && search_from(s, p, theta, best, r))
        r->grown = best->found.cost < before;
    r->same = same, r->other = other; /* it does not count as a further start */
}

bool
fit_search(fit *f, fit_result *r, char **why)
{
    size_t n = f->parameter.n;
    struct search s = { .f = f,
                        .n = n,
                        .part = 1,
                        .size = bg_calloc(n, sizeof(double)),
                        .held = bg_calloc(n, sizeof(bool)),
                        .seen = bg_calloc(n, sizeof(double)) };
    double *theta = bg_calloc(n, sizeof *theta), *low = bg_calloc(n, sizeof *low), *high = bg_calloc(n, sizeof *high);
    struct best best = { .theta = bg_calloc(n, sizeof(double)), .held = bg_calloc(n, sizeof(bool)) };
    ls_problem p = { .n = n,
                     .low = low,
                     .high = high,
                     .evaluate = fit_evaluate,
                     .held = s.held,
                     .ctx = &s,
                     .most_steps = f->most_steps ? f->most_steps : MOST_STEPS,
                     .stride = STRIDE,
                     .step_tolerance = f->step_tolerance > 0 ? f->step_tolerance : STEP_TOLERANCE,
                     .cost_tolerance = f->cost_tolerance };

    *r = (fit_result){ .value = bg_calloc(n, sizeof(double)),
                       .deviation = bg_calloc(n, sizeof(double)),
                       .correlation = bg_calloc(n * n, sizeof(double)),
                       .active = bg_calloc(n, sizeof(bool)),
                       .bound = bg_calloc(n, sizeof(bool)) };
    *why = NULL;
    for (size_t k = 0; k < f->run.n && f->active; k++)
        vec_push(&s.activity, bg_calloc(model_nelements(f->run.at[k].model) + 1, sizeof(double)));
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < f->parameter.at[k].state.n; i++)
            if (!f->run.at[i].x0)
                f->run.at[i].x0 = bg_calloc(model_nstates(f->run.at[i].model) + 1, sizeof(double));
    for (size_t k = 0; k < f->run.n; k++)
        vec_push(&s.output, bg_calloc(f->run.at[k].ntimes * model_noutputs(f->run.at[k].model) + 1, sizeof(double)));
    for (size_t k = 0; k < n; k++) {
        const fit_parameter *q = &f->parameter.at[k];

        s.size[k] = q->start != 0 ? q->start : 1;
        low[k] = s.size[k] > 0 ? q->low / s.size[k] : q->high / s.size[k];
        high[k] = s.size[k] > 0 ? q->high / s.size[k] : q->low / s.size[k];
    }
    if (f->active)
        p.accepted = accepted;
    p.cost_floor = variation(f) * error_of_runs(f) * error_of_runs(f);
    for (size_t k = 0; k < n; k++)
        theta[k] = f->parameter.at[k].start != 0 ? 1 : 0;
    search_from(&s, &p, theta, &best, r);
    search_further_starts(&s, &p, &best, r);
    if (lost_its_way(&s, &best)) {
        for (size_t k = 0; k < n; k++)
            theta[k] = f->parameter.at[k].start != 0 ? 1 : 0;
        search_growing(&s, &p, theta, &best, r);
    }
    if (best.any) {
        memcpy(s.held, best.held, n * sizeof *best.held);
        fit_set_parameters(&s, best.theta);
        judge_fit(&s, best.theta, &best.found, r);
        for (size_t k = 0; k < n; k++) {
            r->value[k] = best.theta[k] * s.size[k];
            r->active[k] = !s.held[k];
        }
        r->evaluations = s.evaluations;
        for (size_t k = 0; k < f->run.n; k++)
            fit_run_once(&s, k, best.theta);
        r->avasim = performance(&s);
        for (size_t k = 0; k < f->run.n; k++)
            for (size_t c = 0; c < f->run.at[k].ncolumns; c++) {
                fit_poor poor;

                if (is_poor(&s, k, c, &poor))
                    vec_push(&r->poor, poor);
            }
        r->cost = best.found.cost;
        r->data = best.found.rows;
        r->steps = best.found.steps;
        r->converged = best.found.end == LS_CONVERGED;
        r->residual = best.found.rows ? sqrt(best.found.cost / (double)best.found.rows) : 0;
    } else {
        *why = bg_format("the model does not run with the initial parameters");
    }
    free(best.found.triangle);
    for (size_t k = 0; k < s.output.n; k++)
        free(s.output.at[k]);
    for (size_t k = 0; k < s.activity.n; k++)
        free(s.activity.at[k]);
    vec_free(&s.output);
    vec_free(&s.activity);
    free(s.size);
    free(s.held);
    free(s.seen);
    free(theta);
    free(best.theta);
    free(best.held);
    free(low);
    free(high);
    return best.any;
}

void
fit_keep_sign(fit_parameter *p)
{
    p->low = p->start > 0 ? LEAST_SHARE * p->start : -INFINITY;
    p->high = p->start < 0 ? LEAST_SHARE * p->start : INFINITY;
}

void
fit_free(fit *f)
{
    for (size_t k = 0; k < f->run.n; k++) {
        fit_run *run = &f->run.at[k];

        sim_options_free(&run->o);
        free(run->time);
        free(run->output);
        free(run->datum);
        free(run->weight);
        free(run->x0);
    }
    vec_free(&f->run);
    for (size_t k = 0; k < f->parameter.n; k++) {
        vec_free(&f->parameter.at[k].all);
        vec_free(&f->parameter.at[k].state);
    }
    vec_free(&f->parameter);
}

void
fit_result_free(fit_result *r)
{
    for (size_t k = 0; k < r->unknown.n; k++)
        free(r->unknown.at[k].part);
    vec_free(&r->unknown);
    vec_free(&r->poor);
    free(r->value);
    free(r->deviation);
    free(r->correlation);
    free(r->active);
    free(r->bound);
}
