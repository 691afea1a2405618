/* identify.c - see identify.h */
#include "identify.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "chosen.h"
#include "forward.h"
#include "least_squares.h"

/* Singular values below this part of the greatest: the derivatives are no better. */
static const double BLIND = 1e-7;
/* A relative standard error along a direction above which the data do not tell. */
static const double VAGUE = 1;
/* Activities are taken anew when a parameter moved by this part. */
static const double MOVED = 0.1;
/* A parameter's share of a direction that is worth naming. */
static const double SHARE = 1e-3;

struct search {
    fit *f;
    size_t n;
    double *size; /* what theta is in parts of */
    bool *held;
    double *seen; /* theta at which activities were last taken */
    size_t evaluations;
    VEC(double *) output, activity; /* of each run, at the last evaluation; activity where that is looked at */
};

static void
set_parameters(struct search *s, const double *theta)
{
    for (size_t r = 0; r < s->f->run.n; r++)
        for (size_t k = 0; k < s->n; k++)
            for (size_t i = 0; i < s->f->parameter.at[k].all.n; i++)
                model_set_parameter(s->f->run.at[r].model, s->f->parameter.at[k].all.at[i], theta[k] * s->size[k]);
}

/* Where run r starts, with the initial values that are moved; others may be formulas of parameters. */
static bool
set_start(struct search *s, size_t r, const double *theta)
{
    fit_run *run = &s->f->run.at[r];

    if (!run->x0)
        return true;
    if (!model_initial(run->model, run->o.start, run->x0))
        return false;
    for (size_t k = 0; k < s->n; k++)
        if (s->f->parameter.at[k].state.n)
            run->x0[s->f->parameter.at[k].state.at[r]] = theta[k] * s->size[k];
    run->o.x0 = run->x0;
    return true;
}

/* One run's rows. */
static bool
add_run(struct search *s, size_t index, ls_rows *rows)
{
    const fit_run *run = &s->f->run.at[index];
    size_t ny = model_noutputs(run->model);
    VEC(var_id) by = { 0 };
    VEC(size_t) of = { 0 }, initial = { 0 };
    size_t columns;
    forward f;
    double *row = bg_calloc(s->n + 1, sizeof *row);
    bool fine;

    for (size_t k = 0; k < s->n && rows; k++)
        for (size_t i = 0; i < s->f->parameter.at[k].all.n && !s->held[k]; i++) {
            vec_push(&by, model_parameter(run->model, s->f->parameter.at[k].all.at[i]));
            vec_push(&of, k);
        }
    for (size_t k = 0; k < s->n && rows; k++)
        if (s->f->parameter.at[k].state.n) {
            vec_push(&initial, s->f->parameter.at[k].state.at[index]);
            vec_push(&of, k);
        }
    columns = by.n + initial.n;
    f = (forward){ .model = run->model,
                   .by = by.at,
                   .n = by.n,
                   .initial = initial.at,
                   .ninitial = initial.n,
                   .time = run->time,
                   .ntimes = run->ntimes,
                   .output = s->output.at[index],
                   .activity = s->activity.n ? s->activity.at[index] : NULL,
                   .derivative = bg_calloc(run->ntimes * ny * columns + 1, sizeof(double)) };
    s->evaluations++;
    for (size_t k = 0; k < s->n && rows; k++)
        s->evaluations += !s->held[k];
    fine = forward_run(&f, &run->o);
    if (fine && f.done < f.ntimes) {
        const flat_model *flat = model_flat(run->model);

        diag_error(flat->sources, "run-ended", flat->experiment.at,
                   "the run ended at %.9g s, but there are data of %.9g s", f.end, f.time[f.done]);
        fine = false;
    }
    for (size_t c = 0; c < run->ncolumns && fine && rows; c++)
        for (size_t i = 0; i < run->ntimes; i++) {
            double datum = run->datum[c * run->ntimes + i];
            size_t at = i * ny + run->output[c];

            if (isnan(datum))
                continue;
            memset(row, 0, s->n * sizeof *row);
            for (size_t q = 0; q < columns; q++)
                row[of.at[q]] += run->weight[c] * f.derivative[at * columns + q] * s->size[of.at[q]];
            ls_rows_add(rows, row, run->weight[c] * (f.output[at] - datum));
        }
    free(f.derivative);
    free(row);
    vec_free(&by);
    vec_free(&of);
    vec_free(&initial);
    return fine;
}

static bool
evaluate(void *ctx, const double *theta, ls_rows *rows)
{
    struct search *s = ctx;

    set_parameters(s, theta);
    for (size_t r = 0; r < s->f->run.n; r++)
        if (!set_start(s, r, theta) || !add_run(s, r, rows))
            return false;
    return true;
}

/* ---------------------------------------------------------------- the active ones */

struct ranked {
    double share;
    size_t index;
};

static int
by_share(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    return x->share != y->share ? (x->share < y->share) - (x->share > y->share)
                                : (x->index > y->index) - (x->index < y->index);
}

/* Share of the activity, without sources, of the elements that read each parameter: greatest over the experiments, at
 * the last evaluation. */
static void
share_activities(struct search *s, double *share)
{
    memset(share, 0, s->n * sizeof *share);
    for (size_t r = 0; r < s->f->run.n; r++) {
        const bg_model *m = s->f->run.at[r].model;
        const flat_model *f = model_flat(m);
        size_t n = model_nelements(m);
        bool *reads = bg_calloc(n + 1, sizeof *reads), *any = bg_calloc(n + 1, sizeof *any);
        double total = 0;

        for (size_t e = 0; e < n; e++)
            if (f->element.at[e].type != EL_SE && f->element.at[e].type != EL_SF)
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
                if (any[e] && f->element.at[e].type != EL_SE && f->element.at[e].type != EL_SF)
                    sum += s->activity.at[r][e] / total;
            share[k] = fmax(share[k], sum);
        }
        free(reads);
        free(any);
    }
}

/* The smallest leading set whose shares reach the threshold moves, the others are held. True if the set changed. */
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
    qsort(list, s->n, sizeof *list, by_share);
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

/* ---------------------------------------------------------------- what the data tell */

/* From the triangle of the derivatives by theta at the end. */
static void
judge(struct search *s, const double *theta, const ls_result *found, fit_result *r)
{
    size_t n = s->n, nfree = 0, *of = bg_calloc(n + 1, sizeof *of);
    double *a = bg_calloc(n * n + 1, sizeof *a), *sigma = bg_calloc(n + 1, sizeof *sigma),
           *u = bg_calloc(n * n + 1, sizeof *u);
    double *vt = bg_calloc(n * n + 1, sizeof *vt), *cover = bg_calloc(n * n + 1, sizeof *cover), noise;
    bool *blind = bg_calloc(n + 1, sizeof *blind);

    for (size_t k = 0; k < n; k++) {
        r->deviation[k] = NAN;
        for (size_t j = 0; j < n; j++)
            r->correlation[k * n + j] = NAN;
        r->bound[k] = !s->held[k] && (theta[k] * s->size[k] <= s->f->parameter.at[k].low ||
                                      theta[k] * s->size[k] >= s->f->parameter.at[k].high);
        if (!s->held[k] && !r->bound[k])
            of[nfree++] = k;
    }
    /* by relative change */
    for (size_t c = 0; c < nfree; c++)
        for (size_t i = 0; i < n; i++)
            a[c * n + i] = found->triangle[of[c] * n + i] * (theta[of[c]] != 0 ? theta[of[c]] : 1);
    noise = found->rows > nfree ? sqrt(found->cost / (double)(found->rows - nfree))
                                : NAN; /* as many data as parameters: unknown */
    if (nfree && LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'S', 'A', (lapack_int)n, (lapack_int)nfree, a, (lapack_int)n, sigma,
                                u, (lapack_int)n, vt, (lapack_int)nfree, cover) == 0) {
        memset(cover, 0, n * n * sizeof *cover);
        for (size_t d = 0; d < nfree; d++) {
            /* what is merely vague adds to the errors of the others */
            bool singular = !(sigma[d] > BLIND * sigma[0]), unknown = singular || noise > VAGUE * sigma[d];

            if (unknown) {
                fit_direction direction = { bg_calloc(n, sizeof(double)) };

                for (size_t c = 0; c < nfree; c++) {
                    direction.part[of[c]] = vt[c * nfree + d];
                    blind[of[c]] |= singular && vt[c * nfree + d] * vt[c * nfree + d] > SHARE;
                }
                vec_push(&r->unknown, direction);
            }
            if (singular)
                continue;
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
            r->deviation[k] = noise * sqrt(cover[k * n + k]) * fabs((theta[k] != 0 ? theta[k] : 1) * s->size[k]);
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
}

/* Mean over the columns of 1 - (mean deviation over mean size)/1 %. */
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
            sum += 1 - (bottom > 0 ? top / bottom / 0.01 : 0);
        }
    }
    return sum / (double)count;
}

static double
uniform(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(*seed >> 11) + 0.5) / 9007199254740992.0;
}

bool
fit_search(fit *f, fit_result *r, char **why)
{
    size_t n = f->parameter.n;
    struct search s = { .f = f,
                        .n = n,
                        .size = bg_calloc(n, sizeof(double)),
                        .held = bg_calloc(n, sizeof(bool)),
                        .seen = bg_calloc(n, sizeof(double)) };
    double *theta = bg_calloc(n, sizeof *theta), *best = bg_calloc(n, sizeof *best), *low = bg_calloc(n, sizeof *low),
           *high = bg_calloc(n, sizeof *high);
    bool *best_held = bg_calloc(n, sizeof *best_held), any = false;
    ls_problem p = { .n = n,
                     .low = low,
                     .high = high,
                     .evaluate = evaluate,
                     .held = s.held,
                     .ctx = &s,
                     .most_steps = 100,
                     .step_tolerance = f->step_tolerance > 0 ? f->step_tolerance : 1e-6,
                     .cost_tolerance = f->cost_tolerance };
    ls_result found, kept = { 0 };
    uint64_t seed = 1;

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
    for (size_t start = 0; start < (f->starts ? f->starts : 1); start++) {
        for (size_t k = 0; k < n; k++)
            theta[k] = (f->parameter.at[k].start != 0 ? 1 : 0) * (start ? exp2(2 * uniform(&seed) - 1) : 1);
        if (f->active && evaluate(&s, theta, NULL))
            choose_active(&s, theta);
        least_squares(&p, theta, &found);
        if (found.end == LS_NO_START) {
            free(found.triangle);
            r->failed += start > 0;
            if (start == 0 && f->starts <= 1)
                break;
            continue;
        }
        if (any && fabs(found.cost - kept.cost) <= 1e-6 * kept.cost + 1e-12 * (double)kept.rows) {
            r->same++;
        } else if (any) {
            r->other++;
        }
        if (any && found.cost >= kept.cost) {
            free(found.triangle);
            continue;
        }
        free(kept.triangle);
        kept = found;
        memcpy(best, theta, n * sizeof *theta);
        memcpy(best_held, s.held, n * sizeof *best_held);
        any = true;
    }
    if (any) {
        memcpy(s.held, best_held, n * sizeof *best_held);
        set_parameters(&s, best);
        judge(&s, best, &kept, r);
        for (size_t k = 0; k < n; k++) {
            r->value[k] = best[k] * s.size[k];
            r->active[k] = !s.held[k];
        }
        r->evaluations = s.evaluations;
        for (size_t k = 0; k < f->run.n; k++)
            if (set_start(&s, k, best))
                add_run(&s, k, NULL);
        r->avasim = performance(&s);
        r->cost = kept.cost;
        r->data = kept.rows;
        r->steps = kept.steps;
        r->converged = kept.end == LS_CONVERGED;
        r->residual = kept.rows ? sqrt(kept.cost / (double)kept.rows) : 0;
    } else {
        *why = bg_format("the model does not run with the values it starts from");
    }
    free(kept.triangle);
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
    free(best);
    free(best_held);
    free(low);
    free(high);
    return any;
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
    free(r->value);
    free(r->deviation);
    free(r->correlation);
    free(r->active);
    free(r->bound);
}
