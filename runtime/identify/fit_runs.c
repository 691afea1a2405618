/* fit_runs.c - see fit_runs.h */
#include "fit_runs.h"

#include <math.h>
#include <string.h>

#include "crew.h"
#include "forward.h"
#include "side_by_side.h"

/* A trial run may take at most so many times the steps of the longest accepted run, or this number. */
enum { MORE_STEPS = 20, FEW_STEPS = 20000 };

void
fit_set_parameters(struct search *s, const double *theta)
{
    for (size_t r = 0; r < s->f->run.n; r++)
        for (size_t k = 0; k < s->n; k++)
            for (size_t i = 0; i < s->f->parameter.at[k].all.n; i++)
                model_set_parameter(s->f->run.at[r].model, s->f->parameter.at[k].all.at[i], theta[k] * s->size[k]);
}

/* Sets the initial values of run r; those that are not estimated may be formulas of parameters. */
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

/* Number of data of a run in use. */
static size_t
times_of(const struct search *s, const fit_run *run)
{
    size_t n = run->ntimes;
    double last = n ? run->o.start + s->part * (run->time[n - 1] - run->o.start) : 0;

    while (s->part < 1 && n > 0 && run->time[n - 1] > last)
        n--;
    return n;
}

/* Options for a run up to the last datum in use, with a limit on its steps. */
static sim_options
options_of(const struct search *s, const fit_run *run)
{
    sim_options o = run->o;
    size_t n = times_of(s, run), most = s->steps * MORE_STEPS > FEW_STEPS ? s->steps * MORE_STEPS : FEW_STEPS;

    if (n < run->ntimes)
        o.stop = n ? run->time[n - 1] : o.start;
    if (s->steps && (!o.max_steps || o.max_steps > most))
        o.max_steps = most;
    return o;
}

/* A run, with its derivatives by whatever may move. of: the number of the theta that a column belongs to. */
struct derived {
    VEC(var_id) by;
    VEC(size_t) of, initial;
    forward f;
    bool fine;
};

static void
choose_columns(const struct search *s, size_t index, struct derived *d)
{
    const fit_run *run = &s->f->run.at[index];

    for (size_t k = 0; k < s->n; k++)
        for (size_t i = 0; i < s->f->parameter.at[k].all.n && !s->held[k]; i++) {
            vec_push(&d->by, model_parameter(run->model, s->f->parameter.at[k].all.at[i]));
            vec_push(&d->of, k);
        }
    for (size_t k = 0; k < s->n; k++)
        if (s->f->parameter.at[k].state.n) {
            vec_push(&d->initial, s->f->parameter.at[k].state.at[index]);
            vec_push(&d->of, k);
        }
}

static void
run_fit(const struct search *s, size_t index, bool derives, struct derived *d)
{
    const fit_run *run = &s->f->run.at[index];
    sim_options o = options_of(s, run);

    *d = (struct derived){ 0 };
    if (derives)
        choose_columns(s, index, d);
    d->f = (forward){ .model = run->model,
                      .by = d->by.at,
                      .n = d->by.n,
                      .initial = d->initial.at,
                      .ninitial = d->initial.n,
                      .time = run->time,
                      .ntimes = times_of(s, run),
                      .output = s->output.at[index],
                      .activity = s->activity.n ? s->activity.at[index] : NULL,
                      .derivative = bg_calloc(run->ntimes * model_noutputs(run->model) * d->of.n + 1, sizeof(double)) };
    d->fine = o.stop > o.start ? forward_run(&d->f, &o) : d->f.ntimes == 0;
    if (d->fine && d->f.done < d->f.ntimes) {
        diag_error(model_sources(run->model), "run-ended", model_run_place(run->model),
                   "the run ended at %.9g s, but there are data of %.9g s", d->f.end, d->f.time[d->f.done]);
        d->fine = false;
    }
}

/* Counts a run and adds its rows. */
static void
add_rows(struct search *s, size_t index, const struct derived *d, ls_rows *rows)
{
    const fit_run *run = &s->f->run.at[index];
    size_t ny = model_noutputs(run->model);
    double *row = bg_calloc(s->n + 1, sizeof *row);

    s->evaluations++;
    for (size_t k = 0; k < s->n && rows; k++)
        s->evaluations += !s->held[k];
    for (size_t c = 0; c < run->ncolumns && d->fine && rows; c++)
        for (size_t i = 0; i < d->f.ntimes; i++) {
            double datum = run->datum[c * run->ntimes + i];
            size_t at = i * ny + run->output[c];

            if (isnan(datum))
                continue;
            memset(row, 0, s->n * sizeof *row);
            for (size_t q = 0; q < d->of.n; q++)
                row[d->of.at[q]] += run->weight[c] * d->f.derivative[at * d->of.n + q] * s->size[d->of.at[q]];
            ls_rows_add(rows, row, run->weight[c] * (d->f.output[at] - datum));
        }
    if (d->fine && s->steps < d->f.steps)
        s->steps = d->f.steps;
    free(row);
}

static void
derived_free(struct derived *d)
{
    free(d->f.derivative);
    vec_free(&d->by);
    vec_free(&d->of);
    vec_free(&d->initial);
}

/* All runs with one theta. */
struct evaluation {
    struct search *s;
    const double *theta;
    bool derives;
    struct derived *of;
};

static void
evaluate_run(void *ctx, size_t r)
{
    const struct evaluation *e = ctx;

    if (set_start(e->s, r, e->theta))
        run_fit(e->s, r, e->derives, &e->of[r]);
}

/* The rows of runs are added in the order of runs, so that the sums do not depend on how many run at a time. */
bool
fit_evaluate(void *ctx, const double *theta, ls_rows *rows)
{
    struct search *s = ctx;
    size_t n = s->f->run.n;
    struct evaluation e = { s, theta, rows != NULL, bg_calloc(n + 1, sizeof *e.of) };
    bool fine = true;

    fit_set_parameters(s, theta);
    crew_each(n, s->beside ? 1 : side_by_side_workers(), evaluate_run, &e);
    for (size_t r = 0; r < n; r++) {
        if (fine && e.of[r].f.model)
            add_rows(s, r, &e.of[r], rows);
        fine = fine && e.of[r].fine;
        derived_free(&e.of[r]);
    }
    free(e.of);
    return fine;
}

void
fit_run_once(struct search *s, size_t index, const double *theta)
{
    struct derived d;

    if (!set_start(s, index, theta))
        return;
    run_fit(s, index, false, &d);
    add_rows(s, index, &d, NULL);
    derived_free(&d);
}
