/* refit.c - see refit.h */
#include "refit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chosen.h"
#include "columns.h"
#include "identify.h"
#include "numbers.h"

/* A number that changes by less than this share is left as it was: the search cannot tell the difference. */
static const double ANOTHER = 1e-6;

/* An output without a tolerance got worse if its error grew by more than GREW, relatively, and is more than UNSEEN of
 * it. */
static const double GREW = 1e-6, UNSEEN = 1e-9;

/* A step must lower the sum of squares by more than this share. */
static const double WORTH_A_STEP = 1e-4;
/* The search ends with a step that changes parameters by less than this share. */
static const double LEAST_STEP = 1e-6;
/* Greatest ratio of errors that the weight of an output that got worse grows by in a round, before it is doubled. */
static const double GREATEST_GROWTH = 1e3;

enum {
    POINTS = 501, /* of each experiment */
    ROUNDS = 6,   /* of weights */
    STEPS = 150   /* of the search, in all rounds together */
};

/* The weight of an output's error: in units of its tolerance, or else of its size. column: in its run. */
struct measure {
    size_t error, run, column; /* error: of r->error */
    double unit;
};

struct refitter {
    const char *path;
    const refit_options *o;
    reduction *r;
    VEC(compilation *) full, small; /* of each experiment */
    VEC(track *) outputs;           /* outputs of the full model */
    fit f;
    VEC(number_place) place; /* of the parameters */
    fit_result found;
    size_t steps; /* of all searches */
    edits edits;
    strbuf text;
    VEC(reduce_error) error; /* of the new text, in the order of r->error */
    VEC(struct measure) measure;
};

static char *
first_error(const compilation *c, const char *otherwise)
{
    const char *first = diag_first_error(c->sources);

    return bg_strdup(first ? first : otherwise);
}

static compilation *
compile_one(struct refitter *d, const char *text, size_t n, const char *experiment, char **why)
{
    compilation *c = bg_calloc(1, sizeof *c);
    compile_options o = { .experiment = experiment };

    if (!compile_text(c, d->path, text, n, STAGE_MODEL, &o))
        *why = first_error(c, "it does not compile");
    return c;
}

/* Runs a model, with whole trajectories of outputs in k and values on the grid in r. */
static bool
run_refit(struct refitter *d, compilation *c, track *k, sim_result *r, char **why)
{
    sim_options o = { 0 };
    bool fine = sim_options_from_experiment(c->model, &o);

    memset(r, 0, sizeof *r);
    if (fine) {
        if (d->o->adjust)
            d->o->adjust(d->o->ctx, c->model, &o);
        k->n = model_noutputs(c->model);
        o.track = k;
        o.points = POINTS;
        o.outputs = true;
        fine = simulate(c->model, &o, r);
    }
    if (!fine)
        *why = first_error(c, "it does not run");
    sim_options_free(&o);
    return fine;
}

/* ---------------------------------------------------------------- the objective */

/* Adds one experiment, with the outputs of the full model as data. */
static bool
add_refit_run(struct refitter *d, const char *experiment, const char *given, size_t ngiven, char **why)
{
    compilation *full = compile_one(d, given, ngiven, experiment, why), *small;
    track *k = bg_calloc(1, sizeof *k);
    sim_result r = { 0 };
    fit_run x = { 0 };
    bool fine;

    vec_push(&d->full, full);
    vec_push(&d->outputs, k);
    fine = !*why && run_refit(d, full, k, &r, why);
    small = compile_one(d, d->r->text, d->r->length, experiment, fine ? why : &(char *){ NULL });
    vec_push(&d->small, small);
    fine = fine && !*why;
    if (fine) {
        x = (fit_run){ .model = small->model, .ntimes = r.points };
        fine = sim_options_from_experiment(small->model, &x.o);
        if (fine && d->o->adjust)
            d->o->adjust(d->o->ctx, small->model, &x.o);
        x.o.progress = NULL;
        x.time = bg_calloc(r.points + 1, sizeof *x.time);
        memcpy(x.time, r.time, r.points * sizeof *x.time);
        x.output = bg_calloc(d->r->error.n + 1, sizeof *x.output);
        x.weight = bg_calloc(d->r->error.n + 1, sizeof *x.weight);
        x.datum = bg_calloc(d->r->error.n * r.points + 1, sizeof *x.datum);
    }
    for (size_t i = 0; i < d->r->error.n && fine; i++) {
        const reduce_error *e = &d->r->error.at[i];
        size_t of = flat_find_output(full->flat, e->output), in = flat_find_output(small->flat, e->output);
        double size = 0;

        if (strcmp(e->experiment, experiment) != 0 || of == NO_INDEX || in == NO_INDEX)
            continue;
        for (size_t p = 0; p < r.points; p++) {
            double v = r.output[p * model_noutputs(full->model) + of];

            x.datum[x.ncolumns * r.points + p] = v;
            size += v * v / (double)r.points;
        }
        vec_push(&d->measure, ((struct measure){ i, d->f.run.n, x.ncolumns,
                                                 e->within > 0 ? e->within
                                                 : size > 0    ? sqrt(size)
                                                               : 1 }));
        x.weight[x.ncolumns] = 1 / d->measure.at[d->measure.n - 1].unit;
        x.output[x.ncolumns++] = in;
    }
    vec_push(&d->f.run, x);
    sim_result_free(&r);
    return fine;
}

static bool
choose(struct refitter *d, char **why)
{
    const compilation *c = d->small.at[0];
    chosen by;
    bool fine = chosen_parameters(c->model, d->o->parameters, &by, why);

    for (size_t i = 0; i < by.by.n && fine; i++) {
        fit_parameter p = { .name = by.name.at[i], .start = model_parameter_value(c->model, by.by.at[i]) };
        number_place at = number_find(c, by.by.at[i], p.name);
        size_t k = 0;

        if (!at.known)
            continue; /* it is in an imported file, or a formula */
        while (k < d->place.n && !(at.known && d->place.at[k].known && d->place.at[k].at.begin == at.at.begin))
            k++;
        if (k < d->place.n) { /* one number that is read in several places */
            vec_push(&d->f.parameter.at[k].all, p.name);
            continue;
        }
        fit_keep_sign(&p);
        vec_push(&p.all, p.name);
        vec_push(&d->f.parameter, p);
        vec_push(&d->place, at);
    }
    if (fine && d->f.parameter.n == 0) {
        *why = bg_strdup("no remaining parameter is given as a number in this file");
        fine = false;
    }
    chosen_free(&by);
    return fine;
}

/* ---------------------------------------------------------------- the text */

static bool
edit_numbers(struct refitter *d, char **why)
{
    for (size_t k = 0; k < d->f.parameter.n; k++) {
        const number_place *p = &d->place.at[k];
        double to = (d->found.value[k] - p->offset) / p->scale;
        char *text;

        if (fabs(to - p->written) <= ANOTHER * fabs(p->written))
            continue;
        text = number_written(to);
        edits_replace(&d->edits, p->at.begin, p->at.end, text, strlen(text));
        free(text);
    }
    if (!edits_seal(&d->edits, d->r->length, why))
        return false;
    edits_apply(&d->edits, d->r->text, d->r->length, &d->text);
    return true;
}

static bool
measure_anew(struct refitter *d, size_t experiment, char **why)
{
    compilation *c = compile_one(d, d->text.at, d->text.n, d->o->experiment[experiment], why);
    track k = { 0 };
    sim_result r = { 0 };
    bool fine = !*why && run_refit(d, c, &k, &r, why);

    for (size_t i = 0; i < d->r->error.n && fine; i++) {
        reduce_error e = d->r->error.at[i];
        size_t of = flat_find_output(d->full.at[experiment]->flat, e.output), in = flat_find_output(c->flat, e.output);

        if (strcmp(e.experiment, d->o->experiment[experiment]) != 0 || of == NO_INDEX || in == NO_INDEX)
            continue;
        reduce_error_measure(&e, track_compare(d->outputs.at[experiment], of, &k, in));
        vec_push(&d->error, e);
    }
    sim_result_free(&r);
    track_free(&k);
    compile_free(c);
    free(c);
    return fine;
}

/* The error of the new text that corresponds to this error of the old one; NULL: it is not measured. */
static const reduce_error *
now_of(const struct refitter *d, size_t error)
{
    const reduce_error *was = &d->r->error.at[error];

    for (size_t i = 0; i < d->error.n; i++)
        if (!strcmp(d->error.at[i].experiment, was->experiment) && !strcmp(d->error.at[i].output, was->output))
            return &d->error.at[i];
    return NULL;
}

/* Is an output outside its tolerance although it was inside, or (without a tolerance) has its error grown? */
static bool
is_worse(const struct refitter *d, const struct measure *m)
{
    const reduce_error *was = &d->r->error.at[m->error], *now = now_of(d, m->error);

    if (!now)
        return false;
    if (was->within > 0)
        return was->max <= was->within ? !(now->max <= now->within) : now->max > (1 + GREW) * was->max;
    return now->rms > (1 + GREW) * was->rms && now->rms > UNSEEN * m->unit;
}

/* Raises the weights of outputs that got worse. Returns the first of them; NULL: none. */
static const struct measure *
weigh_worse(struct refitter *d)
{
    const struct measure *first = NULL;

    for (size_t i = 0; i < d->measure.n; i++) {
        const struct measure *m = &d->measure.at[i];
        const reduce_error *was = &d->r->error.at[m->error], *now = now_of(d, m->error);

        if (!is_worse(d, m))
            continue;
        if (!first)
            first = m;
        d->f.run.at[m->run].weight[m->column] *= 2 * fmin(fmax(now->rms / fmax(was->rms, UNSEEN * m->unit), 1),
                                                          GREATEST_GROWTH);
    }
    return first;
}

/* Is the sum of squares smaller? */
static bool
better(const struct refitter *d)
{
    double before = 0, now = 0;

    for (size_t i = 0; i < d->measure.n; i++) {
        const struct measure *m = &d->measure.at[i];
        const reduce_error *x = now_of(d, m->error), *was = &d->r->error.at[m->error];

        if (!x)
            continue;
        before += was->rms * was->rms / (m->unit * m->unit);
        now += x->rms * x->rms / (m->unit * m->unit);
    }
    return now < before;
}

static void
take_numbers_over(struct refitter *d)
{
    reduction *r = d->r;
    const compilation *c = d->small.at[0];

    for (size_t k = 0; k < d->f.parameter.n; k++) {
        const number_place *p = &d->place.at[k];
        double to = (d->found.value[k] - p->offset) / p->scale;
        int line, at;
        char *text;

        if (fabs(to - p->written) <= ANOTHER * fabs(p->written))
            continue;
        text = number_written(to);
        source_place(c->sources, c->ast->file, p->at.begin, &line, &at);
        vec_push(&r->operation,
                 ((reduce_operation){ .kind = REWRITE_REFIT,
                                      .name = arena_strdup(r->arena, d->f.parameter.at[k].name),
                                      .line = line,
                                      .round = (int)r->rounds.n + 1,
                                      .why = arena_format(r->arena, "%.*s becomes %s", (int)(p->at.end - p->at.begin),
                                                          r->text + p->at.begin, text) }));
        free(text);
    }
    vec_push(&r->rounds, d->edits);
    d->edits = (edits){ 0 };
    free(r->text);
    r->text = d->text.at;
    r->length = d->text.n;
    d->text = (strbuf){ 0 };
    for (size_t i = 0; i < d->error.n; i++)
        for (size_t k = 0; k < r->error.n; k++)
            if (!strcmp(d->error.at[i].experiment, r->error.at[k].experiment) &&
                !strcmp(d->error.at[i].output, r->error.at[k].output))
                r->error.at[k] = d->error.at[i];
}

static void
free_all(struct refitter *d)
{
    fit_free(&d->f);
    fit_result_free(&d->found);
    for (size_t i = 0; i < d->full.n; i++) {
        compile_free(d->full.at[i]);
        free(d->full.at[i]);
    }
    for (size_t i = 0; i < d->small.n; i++) {
        compile_free(d->small.at[i]);
        free(d->small.at[i]);
    }
    for (size_t i = 0; i < d->outputs.n; i++) {
        track_free(d->outputs.at[i]);
        free(d->outputs.at[i]);
    }
    vec_free(&d->full);
    vec_free(&d->small);
    vec_free(&d->outputs);
    vec_free(&d->place);
    vec_free(&d->error);
    vec_free(&d->measure);
    edits_free(&d->edits);
    strbuf_free(&d->text);
}

static bool
moves_anything(const struct refitter *d)
{
    for (size_t k = 0; k < d->f.parameter.n; k++)
        if (isfinite(d->found.deviation[k]))
            return true;
    return false;
}

/* Fits, writes and measures the numbers; a further search continues from the result before. False: *why; neither *why
 * nor edits: there is nothing to change. */
static bool
fit_once(struct refitter *d, char **why)
{
    bool fine;

    for (size_t k = 0; k < d->f.parameter.n && d->found.value; k++)
        d->f.parameter.at[k].start = d->found.value[k];
    d->f.most_steps = STEPS - d->steps;
    fit_result_free(&d->found);
    edits_free(&d->edits);
    strbuf_free(&d->text);
    d->found = (fit_result){ 0 };
    d->edits = (edits){ 0 };
    d->text = (strbuf){ 0 };
    d->error.n = 0;
    fine = fit_search(&d->f, &d->found, why) && edit_numbers(d, why);
    d->steps += d->found.steps;
    for (size_t i = 0; i < d->o->nexperiments && fine && d->edits.list.n; i++)
        fine = measure_anew(d, i, why);
    return fine;
}

enum refit_result
reduction_refit(const char *path, const char *given, size_t ngiven, const refit_options *o, reduction *r, char **why)
{
    struct refitter d = { .path = path,
                          .o = o,
                          .r = r,
                          .f = { .step_tolerance = LEAST_STEP, .cost_tolerance = WORTH_A_STEP, .near = true } };
    enum refit_result result = REFIT_FAILED;
    const struct measure *worse = NULL;
    bool fine = true;

    *why = NULL;
    for (size_t i = 0; i < o->nexperiments && fine; i++)
        fine = add_refit_run(&d, o->experiment[i], given, ngiven, why);
    fine = fine && choose(&d, why) && fit_once(&d, why);
    for (int round = 1; fine && d.edits.list.n && (worse = weigh_worse(&d)) && round < ROUNDS && d.steps < STEPS;
         round++)
        fine = fit_once(&d, why);
    if (fine && d.edits.list.n == 0) {
        result = REFIT_NOT_TAKEN;
        *why = bg_strdup(moves_anything(&d) ? "no number has to change"
                                            : "no remaining parameter changes the compared outputs");
    } else if (fine && worse) {
        result = REFIT_NOT_TAKEN;
        *why = bg_format("the numbers that fit the others best make %s worse over %s than the old numbers",
                         r->error.at[worse->error].output, r->error.at[worse->error].experiment);
    } else if (fine && !better(&d)) {
        result = REFIT_NOT_TAKEN;
        *why = bg_strdup("the numbers that fit best at the points of the grid fit whole runs less well than the old "
                         "ones");
    } else if (fine) {
        if (!d.found.converged)
            *why = bg_format("the fit stopped after %d steps: the numbers are better than the old ones, but not yet "
                             "the best; name only the most important ones with --parameters",
                             STEPS);
        take_numbers_over(&d);
        result = REFIT_DONE;
    }
    free_all(&d);
    return result;
}
