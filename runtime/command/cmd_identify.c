/* cmd_identify.c - bgc identify: estimates parameters from measured data */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "chosen.h"
#include "columns.h"
#include "edit.h"
#include "identify.h"
#include "identify_command.h"
#include "numbers.h"
#include "report.h"
#include "textdiff.h"
#include "compiled.h"

/* Default share of the activity that the active parameters must carry. */
static const double ACTIVE = 0.92;
/* A column whose spread is below this share of its size is constant: no instrument has this resolution. */
static const double RESTS = 1e-10;
/* Smallest squared share of a direction that is reported, as text and as JSON. */
static const double NAMED = 1e-3, NAMED_IN_JSON = 1e-6;
/* Two parameters that are correlated by more than this are reported as known only together. */
static const double CORRELATED = 0.95;
/* A number that changes by less than this share stays as it is written. */
static const double ANOTHER = 1e-9;

struct session {
    const request *q;
    VEC(loaded *) run;       /* one for each data file */
    VEC(const char *) data;  /* their paths */
    VEC(number_place) place; /* of the parameters */
    VEC(char *) names;       /* of initial values */
    fit f;
    fit_result r;
    edits edits;
    strbuf text;
};

int
read_data(const char *path, measured *m)
{
    sources *s = sources_new();
    int file = sources_read(s, path), status = STATUS_DONE;
    char *why;

    memset(m, 0, sizeof *m);
    if (file < 0) {
        status = complain_file(path);
    } else if (!measured_read(source_text(s, (uint32_t)file), source_length(s, (uint32_t)file), m, &why)) {
        complain("%s: %s", strcmp(path, "-") ? path : "<stdin>", why);
        free(why);
        status = STATUS_USAGE;
    }
    sources_free(s);
    return status;
}

/* ---------------------------------------------------------------- data of one experiment */

/* Reports an error in a data file; frees why. */
static int
wrong_data(const char *path, char *why)
{
    complain("%s: %s", path, why);
    free(why);
    return STATUS_USAGE;
}

/* The least distance of the data in time, and from the start to the first: the default step of the variational
 * integrator. */
static double
least_spacing(const fit_run *run)
{
    double least = INFINITY, before = run->o.start;

    for (size_t i = 0; i < run->ntimes; before = run->time[i++])
        if (run->time[i] - before > TIME_SLACK * (run->o.stop - run->o.start))
            least = fmin(least, run->time[i] - before);
    return isfinite(least) ? least : run->o.stop - run->o.start;
}

static int
take_times(const loaded *l, const char *path, const measured *m, fit_run *run, struct timed *order)
{
    char *why;

    if (!measured_times(m, l->c.units, run->o.start, run->o.stop, order, &why))
        return wrong_data(path, why);
    run->ntimes = m->rows;
    run->time = bg_malloc((m->rows + 1) * sizeof *run->time);
    for (size_t i = 0; i < m->rows; i++)
        run->time[i] = order[i].t;
    if (run->o.solver == SIM_VARIATIONAL && !(run->o.max_step > 0))
        run->o.max_step = least_spacing(run);
    return STATUS_DONE;
}

/* Finds the weights of a column's residuals. file: read from a file of weights; NULL: none. */
static int
weigh_column(const request *q, const char *path, const char *name, const double *datum, size_t n, const measured *file,
             const unit *unit_of, double *weight)
{
    const char *by = q->text[OPT_WEIGHT] ? q->text[OPT_WEIGHT] : "std";
    double mean = 0, square = 0, least = INFINITY, most = -INFINITY, size, spread, greatest;
    size_t count = 0, which;

    for (size_t i = 0; i < n; i++)
        if (!isnan(datum[i])) {
            count++;
            mean += datum[i];
            least = fmin(least, datum[i]);
            most = fmax(most, datum[i]);
        }
    if (!count) {
        complain("%s: column %s has no values", path, name);
        return STATUS_USAGE;
    }
    mean /= (double)count;
    for (size_t i = 0; i < n; i++)
        if (!isnan(datum[i]))
            square += (datum[i] - mean) * (datum[i] - mean) / (double)count;
    spread = sqrt(square);
    if (file) {
        which = measured_column(file, name);
        if (which == NO_INDEX || !(file->value[which * file->rows] > 0)) {
            complain("%s gives no weight above 0 for %s", by, name);
            return STATUS_USAGE;
        }
        size = file->value[which * file->rows] * (unit_of ? unit_scale(unit_of) : 1);
    } else {
        size = !strcmp(by, "none")  ? 1
               : !strcmp(by, "std") ? spread
               : !strcmp(by, "rms") ? sqrt(square + mean * mean)
                                    : most - least;
    }
    greatest = fmax(fabs(least), fabs(most));
    /* a column that is constant up to rounding: weighted by its size, or not at all */
    if (!(size > 0) || (!file && strcmp(by, "none") && size < RESTS * greatest))
        size = greatest > 0 ? greatest : 1;
    *weight = 1 / size;
    return STATUS_DONE;
}

static bool
known_weight(const char *by)
{
    return !by || !strcmp(by, "none") || !strcmp(by, "std") || !strcmp(by, "rms") || !strcmp(by, "range");
}

static int
take_columns(const request *q, const loaded *l, const char *path, const measured *m, const measured *weights,
             const struct timed *order, fit_run *run)
{
    int status = STATUS_DONE;

    run->output = bg_calloc(m->columns, sizeof *run->output);
    run->weight = bg_calloc(m->columns, sizeof *run->weight);
    run->datum = bg_calloc(m->columns * m->rows, sizeof *run->datum);
    for (size_t c = 0; c < m->columns && status == STATUS_DONE; c++) {
        size_t k = model_output_find(run->model, m->name[c]);
        double *datum = run->datum + run->ncolumns * m->rows;
        const struct model_output *o;
        const unit *u;
        char *why;

        if (!strcmp(m->name[c], "time") || !strcmp(m->name[c], "t"))
            continue;
        if (k == NO_INDEX) {
            if (!q->quiet)
                complain("%s: column %s is no output of %s and is left out", path, m->name[c], model_name(run->model));
            continue;
        }
        o = &model_graph_of(run->model)->output[k];
        if (!measured_unit(m, l->c.units, c, &u, &why))
            return wrong_data(path, why);
        if (u && o->unit && unit_dimension(u) != unit_dimension(o->unit)) {
            complain("%s: column %s is in [%s], the output in [%s]", path, m->name[c], m->unit[c],
                     unit_text(o->display ? o->display : o->unit));
            return STATUS_USAGE;
        }
        for (size_t i = 0; i < m->rows; i++)
            datum[i] = measured_si(u, m->value[c * m->rows + order[i].row]);
        status = weigh_column(q, path, m->name[c], datum, m->rows, weights, u, &run->weight[run->ncolumns]);
        run->output[run->ncolumns++] = (uint32_t)k;
    }
    if (status == STATUS_DONE && run->ncolumns == 0) {
        complain("%s has no column that is an output of %s", path, model_name(run->model));
        status = STATUS_USAGE;
    }
    return status;
}

static int
load_run(struct session *s, const char *experiment, const char *path)
{
    struct run_settings settings = { .q = s->q, .default_rtol = RANKING_RTOL, .shown = -1 };
    request one = *s->q;
    loaded *l = bg_calloc(1, sizeof *l);
    measured m = { 0 }, weights = { 0 };
    struct timed *order = NULL;
    fit_run run = { 0 };
    int status;

    if (experiment)
        one.text[OPT_EXPERIMENT] = experiment;
    status = load_model(&one, s->q->file.at[0], STAGE_MODEL, EXPERIMENT_NEEDED, l);
    vec_push(&s->run, l);
    vec_push(&s->data, path);
    if (status == STATUS_DONE) {
        run.model = l->c.model;
        if (!sim_options_from_experiment(run.model, &run.o)) {
            print_diagnostics(s->q, l->c.sources);
            status = status_of(l->c.sources);
        }
    }
    if (status == STATUS_DONE) {
        adjust_run(&settings, run.model, &run.o);
        run.o.progress = NULL;
        status = read_data(path, &m);
    }
    if (status == STATUS_DONE && !known_weight(s->q->text[OPT_WEIGHT]))
        status = read_data(s->q->text[OPT_WEIGHT], &weights);
    if (status == STATUS_DONE) {
        order = bg_malloc((m.rows + 1) * sizeof *order);
        if ((status = take_times(l, path, &m, &run, order)) == STATUS_DONE)
            status = take_columns(s->q, l, path, &m, weights.rows ? &weights : NULL, order, &run);
    }
    vec_push(&s->f.run, run);
    free(order);
    measured_free(&m);
    measured_free(&weights);
    return status;
}

/* `--data FILE` for the only experiment, or for those named with -e in their order; `--data EXPERIMENT=FILE`. */
static int
load_runs(struct session *s)
{
    const request *q = s->q;
    int status = STATUS_DONE;

    if (q->experiment.n > 1 && q->experiment.n != q->data.n) {
        complain("%zu experiments and %zu files of data: each -e needs its --data", q->experiment.n, q->data.n);
        return STATUS_USAGE;
    }
    for (size_t i = 0; i < q->data.n && status == STATUS_DONE; i++) {
        const char *equal = strchr(q->data.at[i], '=');
        char *name = equal ? bg_format("%.*s", (int)(equal - q->data.at[i]), q->data.at[i]) : NULL;

        if (name)
            status = load_run(s, name, equal + 1);
        else
            status = load_run(s, q->experiment.n ? q->experiment.at[q->experiment.n > 1 ? i : 0] : NULL, q->data.at[i]);
        free(name);
    }
    return status;
}

/* ---------------------------------------------------------------- parameters */

static int
set_bounds(struct session *s)
{
    for (size_t i = 0; i < s->q->bounds.n; i++) {
        const char *text = s->q->bounds.at[i], *equal = strchr(text, '='), *bracket = strchr(text, '[');
        double low, high;
        const unit *u = NULL;
        char *end = NULL, *name = equal ? bg_format("%.*s", (int)(equal - text), text) : NULL;
        size_t k = 0;
        bool fine = equal != NULL;

        if (fine) {
            low = strtod(equal + 1, &end);
            fine = end > equal + 1 && *end == ':';
        }
        if (fine) {
            const char *from = end + 1;

            high = strtod(from, &end);
            fine = end > from;
            while (fine && *end == ' ')
                end++;
        }
        if (fine && bracket == end && text[strlen(text) - 1] == ']') {
            char *inner = bg_format("%.*s", (int)(strlen(bracket) - 2), bracket + 1);
            const char *why;

            u = unit_parse(s->run.at[0]->c.units, inner, &why);
            fine = u != NULL;
            free(inner);
        } else if (fine) {
            fine = !*end;
        }
        if (fine && !(high > low)) {
            complain("--bounds %s: %g is not below %g", name, low, high);
            free(name);
            return STATUS_USAGE;
        }
        while (fine && k < s->f.parameter.n && strcmp(s->f.parameter.at[k].name, name))
            k++;
        if (fine && k < s->f.parameter.n) {
            s->f.parameter.at[k].low = measured_si(u, low);
            s->f.parameter.at[k].high = measured_si(u, high);
            fine = s->f.parameter.at[k].start >= measured_si(u, low) &&
                   s->f.parameter.at[k].start <= measured_si(u, high);
            if (!fine)
                complain("--bounds %s: the value it starts from, %g, is outside", name, s->f.parameter.at[k].start);
        } else {
            complain(fine ? "--bounds: \"%s\" is not one of the varied parameters"
                          : "--bounds is NAME=LOW:HIGH or NAME=LOW:HIGH[unit], not \"%s\"",
                     fine ? name : text);
            fine = false;
        }
        free(name);
        if (!fine)
            return STATUS_USAGE;
    }
    return STATUS_DONE;
}

/* Does anything but storage have a state? Then some initial values follow from others. */
static bool
starts_follow(const flat_model *f)
{
    for (size_t i = 0; i < f->initial.n; i++)
        if (f->initial.at[i].port == NONE || f->initial.at[i].q < Q_DISPLACEMENT)
            return true;
    return false;
}

/* Chooses an initial value whose number stands in the text. */
static int
choose_initial(struct session *s, size_t state)
{
    const loaded *l = s->run.at[0];
    struct model_state x = model_state(l->c.model, state);
    number_place at = number_initial(&l->c, state);
    fit_parameter p = { .name = bg_format("%s(0)", x.name), .low = -INFINITY, .high = INFINITY };

    vec_push(&s->names, (char *)p.name);
    p.start = at.scale * at.written + at.offset;
    for (size_t r = 0; r < s->run.n; r++) {
        const bg_model *m = s->run.at[r]->c.model;
        size_t k = 0;

        while (k < model_nstates(m) && strcmp(model_state(m, k).name, x.name))
            k++;
        if (k == model_nstates(m) || s->f.run.at[r].o.equilibrium) {
            complain(k == model_nstates(m) ? "%s is no state of the model of experiment \"%s\""
                                           : "%s: %s starts from equilibrium, its initial values are found, not given",
                     x.name, s->run.at[r]->experiment);
            vec_free(&p.state);
            return STATUS_USAGE;
        }
        vec_push(&p.state, k);
    }
    vec_push(&s->f.parameter, p);
    vec_push(&s->place, at);
    if (!at.known || starts_follow(l->c.flat)) {
        complain(at.known ? "%s: initial values follow from flows or efforts given at the start: vary these through "
                            "parameters"
                          : "%s is not given as a number in this file: vary the parameters that it is computed from",
                 p.name);
        return STATUS_USAGE;
    }
    return STATUS_DONE;
}

static int
choose_parameters(struct session *s)
{
    const loaded *l = s->run.at[0];
    const flat_model *f = l->c.flat;
    chosen c;
    char *why;
    int status = STATUS_DONE;

    bool named = s->q->text[OPT_PARAMETERS] != NULL;

    if (!(named ? chosen_everything(l->c.model, s->q->text[OPT_PARAMETERS], true, &c, &why)
                : chosen_parameters(l->c.model, NULL, &c, &why))) {
        complain("%s", why);
        free(why);
        chosen_free(&c);
        return STATUS_USAGE;
    }
    if (c.jump.n) {
        complain("%s(+): a jump is fitted by the parameters of its reinit", model_state(l->c.model, c.jump.at[0]).name);
        status = STATUS_USAGE;
    }
    for (size_t i = 0; i < c.initial.n && status == STATUS_DONE; i++)
        status = choose_initial(s, c.initial.at[i]);
    for (size_t i = 0; i < c.by.n && status == STATUS_DONE; i++) {
        fit_parameter p = { .name = c.name.at[i], .start = model_parameter_value(l->c.model, c.by.at[i]) };
        number_place at = number_find(&l->c, c.by.at[i], p.name);
        size_t k = 0;

        if (!at.known && !s->q->text[OPT_PARAMETERS])
            continue; /* in an imported file, or written as a formula: this text has no number to change */
        while (k < s->place.n && !(at.known && s->place.at[k].known && s->place.at[k].at.begin == at.at.begin))
            k++;
        if (k < s->place.n) { /* one number of a component with several instances */
            vec_push(&s->f.parameter.at[k].all, p.name);
            continue;
        }
        fit_keep_sign(&p);
        vec_push(&p.all, p.name);
        vec_push(&s->f.parameter, p);
        vec_push(&s->place, at);
        for (size_t r = 1; r < s->run.n && status == STATUS_DONE; r++)
            if (model_parameter(s->run.at[r]->c.model, p.name) == VAR_NONE) {
                complain("\"%s\" is no parameter of the model of experiment \"%s\"", p.name, s->run.at[r]->experiment);
                status = STATUS_USAGE;
            }
    }
    if (status == STATUS_DONE && s->f.parameter.n == 0) {
        complain("%s has no parameters that are given as numbers in this file", f->name);
        status = STATUS_USAGE;
    }
    chosen_free(&c);
    return status == STATUS_DONE ? set_bounds(s) : status;
}

/* ---------------------------------------------------------------- the text */

static bool
edit_text(struct session *s, char **why)
{
    const loaded *l = s->run.at[0];

    for (size_t k = 0; k < s->f.parameter.n; k++) {
        const number_place *p = &s->place.at[k];
        double to = (s->r.value[k] - p->offset) / p->scale;
        char *text;

        if (!p->known || !s->r.active[k] || fabs(to - p->written) <= ANOTHER * fabs(p->written))
            continue;
        text = number_written(to);
        edits_replace(&s->edits, p->at.begin, p->at.end, text, strlen(text));
        free(text);
    }
    if (!edits_seal(&s->edits, l->length, why))
        return false;
    edits_apply(&s->edits, l->text, l->length, &s->text);
    return true;
}

static size_t
origin_of(void *ctx, size_t at)
{
    return edits_origin(ctx, at);
}

/* ---------------------------------------------------------------- reports */

static void
write_identified_json(const struct session *s, FILE *out)
{
    json j = { .out = out };
    size_t n = s->f.parameter.n;

    json_open(&j, '{');
    json_key(&j, "model"), json_string(&j, s->run.at[0]->c.flat->name);
    json_key(&j, "experiments");
    json_open(&j, '[');
    for (size_t r = 0; r < s->run.n; r++)
        json_string(&j, s->run.at[r]->experiment);
    json_close(&j, ']');
    json_key(&j, "parameters");
    json_open(&j, '[');
    for (size_t k = 0; k < n; k++) {
        json_open(&j, '{');
        json_key(&j, "name"), json_string(&j, s->f.parameter.at[k].name);
        json_key(&j, "initial"), json_number(&j, s->f.parameter.at[k].start);
        json_key(&j, "value"), json_number(&j, s->r.value[k]);
        json_key(&j, "stderr"), json_number(&j, s->r.deviation[k]);
        json_key(&j, "active"), json_bool(&j, s->r.active[k]);
        json_key(&j, "at_bound"), json_bool(&j, s->r.bound[k]);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_key(&j, "evaluations"), json_count(&j, s->r.evaluations);
    json_key(&j, "avasim"), json_number(&j, s->r.avasim);
    json_key(&j, "residual_rms"), json_number(&j, s->r.residual);
    json_key(&j, "cost"), json_number(&j, s->r.cost);
    json_key(&j, "data"), json_count(&j, s->r.data);
    json_key(&j, "converged"), json_bool(&j, s->r.converged);
    json_key(&j, "correlation");
    json_open(&j, '[');
    for (size_t i = 0; i < n; i++) {
        json_open(&j, '[');
        for (size_t k = 0; k < n; k++)
            json_number(&j, s->r.correlation[i * n + k]);
        json_close(&j, ']');
    }
    json_close(&j, ']');
    json_key(&j, "unidentifiable");
    json_open(&j, '[');
    for (size_t d = 0; d < s->r.unknown.n; d++) {
        json_open(&j, '{');
        for (int which = 0; which < 2; which++) {
            json_key(&j, which ? "direction" : "parameters");
            json_open(&j, '{');
            for (size_t k = 0; k < n; k++) {
                double part = s->r.unknown.at[d].part[k];

                if (part * part > NAMED_IN_JSON)
                    json_key(&j, s->f.parameter.at[k].name), json_number(&j, which ? part : part * part);
            }
            json_close(&j, '}');
        }
        json_close(&j, '}');
    }
    json_close(&j, ']');
    if (s->f.starts > 1) {
        json_key(&j, "starts");
        json_open(&j, '{');
        json_key(&j, "same"), json_count(&j, s->r.same);
        json_key(&j, "other"), json_count(&j, s->r.other);
        json_key(&j, "failed"), json_count(&j, s->r.failed);
        json_close(&j, '}');
    }
    json_close(&j, '}');
}

static void
write_identified_text(const struct session *s, FILE *out)
{
    table t = { .columns = 5, .left = 1, .tail = true };
    size_t n = s->f.parameter.n;

    table_put(&t, "parameter"), table_put(&t, "before"), table_put(&t, "now"), table_put(&t, "standard error"),
        table_put(&t, "%s", "");
    for (size_t k = 0; k < n; k++) {
        const number_place *p = &s->place.at[k];
        double scale = p->known ? p->scale : 1, offset = p->known ? p->offset : 0;

        table_put(&t, "%s", s->f.parameter.at[k].name);
        table_put(&t, "%.6g", (s->f.parameter.at[k].start - offset) / scale);
        table_put(&t, "%.8g", (s->r.value[k] - offset) / scale);
        if (isnan(s->r.deviation[k]))
            table_put(&t, "-");
        else
            table_put(&t, "%.2g", s->r.deviation[k] / fabs(scale));
        table_put(&t, "%s",
                  !s->r.active[k]             ? "held: little activity"
                  : !isnan(s->r.deviation[k]) ? s->r.bound[k] ? "at its bound" : ""
                  : s->r.bound[k]             ? "at its bound, not determined by the data"
                                              : "not determined by the data");
    }
    table_print(&t, out, "");
    for (size_t d = 0; d < s->r.unknown.n; d++) {
        const double *part = s->r.unknown.at[d].part;
        const char *between = "";
        size_t count = 0;

        for (size_t k = 0; k < n; k++)
            count += part[k] * part[k] > NAMED;
        fputs(count == 1 ? "not determined by the data" : "the data do not determine a common change of", out);
        for (size_t k = 0; k < n; k++)
            if (part[k] * part[k] > NAMED) {
                fprintf(out, "%s %s", between, s->f.parameter.at[k].name);
                if (count > 1)
                    fprintf(out, " (%+.3g %%)", 100 * part[k]);
                between = ",";
            }
        fputc('\n', out);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (fabs(s->r.correlation[i * n + k]) > CORRELATED)
                fprintf(out, "%s and %s are correlated by %.3f: the data determine their %s better than each\n",
                        s->f.parameter.at[k].name, s->f.parameter.at[i].name, s->r.correlation[i * n + k],
                        s->r.correlation[i * n + k] > 0 ? "ratio" : "sum");
    fprintf(out, "%zu data, residual %.4g (root mean square, weighted), performance index %.4f", s->r.data,
            s->r.residual, s->r.avasim);
    if (s->r.avasim < 0)
        fprintf(out, " (outputs are off by %.3g %% of the data)", 1 - s->r.avasim);
    fprintf(out, ", %zu evaluations in %zu steps\n", s->r.evaluations, s->r.steps);
    if (s->r.grown)
        fprintf(out, "found by fitting a growing part of the data; fitting all of them from the start ends "
                     "elsewhere\n");
    if (s->f.starts > 1)
        fprintf(out, "of %zu further starts %zu end here, %zu at other minima, %zu do not converge\n", s->f.starts - 1,
                s->r.same, s->r.other, s->r.failed);
}

/* Writes the text and the report to their places, as in bgc reduce. */
static int
write_results(struct session *s)
{
    const request *q = s->q;
    const loaded *l = s->run.at[0];
    const char *target = q->given & OPT(OPT_IN_PLACE) ? q->file.at[0] : q->text[OPT_OUTPUT];
    bool dry = (q->given & OPT(OPT_DRY_RUN)) != 0, text_out = target && !strcmp(target, "-");
    char *why = NULL;

    if (!edit_text(s, &why)) {
        complain("internal error: the edits contradict each other, nothing is written: %s", why);
        free(why);
        return STATUS_MODEL;
    }
    for (size_t k = 0; k < s->place.n && target; k++)
        if (!s->place.at[k].known && s->r.active[k])
            complain("%s is not written as one number in %s: its value is reported only", s->f.parameter.at[k].name,
                     l->path);
    if (dry && !q->json)
        textdiff_print(stdout, l->path, l->text, l->length, target && !text_out ? target : l->path,
                       s->text.at ? s->text.at : "", s->text.n, origin_of, &s->edits, color_on(stdout));
    else if (!dry && target &&
             !(q->given & OPT(OPT_IN_PLACE) ? file_replace(target, l->text, l->length, s->text.at, s->text.n)
                                            : write_whole(target, s->text.at, s->text.n)))
        return complain_file(target);
    if (q->json && !(text_out && !dry))
        write_identified_json(s, stdout);
    else if (!q->quiet)
        write_identified_text(s, dry || text_out ? stderr : stdout);
    return fflush(stdout) == 0 ? STATUS_DONE : complain_file("-");
}

/* Names the outputs to which the data do not fit at all. */
static void
warn_of_poor_fits(const struct session *s)
{
    for (size_t k = 0; k < s->r.poor.n; k++) {
        const fit_poor *p = &s->r.poor.at[k];
        const fit_run *run = &s->f.run.at[p->run];
        const struct model_output *o = &model_graph_of(run->model)->output[run->output[p->column]];
        double scale = o->display ? unit_scale(o->display) : 1;
        const char *in = unit_shown(o->unit, o->display);

        complain(
            "\"%s\" does not fit its data: its root mean square error is %.3g%s%s, that of their mean would be %.3g",
            o->name, p->fitted / scale, in ? " " : "", in ? in : "", p->mean / scale);
    }
}

static int
identify_parameters(struct session *s)
{
    char *why;
    int status;

    if ((status = load_runs(s)) != STATUS_DONE || (status = choose_parameters(s)) != STATUS_DONE)
        return status;
    if (!fit_search(&s->f, &s->r, &why)) {
        for (size_t r = 0; r < s->run.n; r++)
            print_diagnostics(s->q, s->run.at[r]->c.sources);
        complain("%s", why);
        free(why);
        return STATUS_NUMBERS;
    }
    if (!s->r.converged)
        complain("the search did not converge in %zu steps; the best values so far follow, nothing is written",
                 s->r.steps);
    if (!s->q->quiet)
        warn_of_poor_fits(s);
    if (s->r.converged)
        return write_results(s);
    if (s->q->json)
        write_identified_json(s, stdout);
    else
        write_identified_text(s, stdout);
    return STATUS_NUMBERS;
}

int
cmd_identify(const request *q)
{
    struct session s = {
        .q = q,
        .f = { .active = (q->given & OPT(OPT_ACTIVE)) != 0, .threshold = ACTIVE, .starts = q->starts ? q->starts : 1 }
    };
    int status = STATUS_DONE;

    if (q->given & OPT(OPT_MDK))
        return identify_matrices(q);
    if (!q->file.n || !q->data.n) {
        complain(q->file.n ? "the measured data are missing: --data FILE.csv"
                           : "a model is needed (or --mdk for matrices from data alone)");
        return STATUS_USAGE;
    }
    if (q->text[OPT_THRESHOLD] && (!parse_share(q->text[OPT_THRESHOLD], &s.f.threshold) || !(s.f.threshold > 0))) {
        complain("--threshold is a share like 92%%, not \"%s\"", q->text[OPT_THRESHOLD]);
        return STATUS_USAGE;
    }
    status = identify_parameters(&s);
    fit_result_free(&s.r);
    fit_free(&s.f);
    for (size_t r = 0; r < s.run.n; r++) {
        loaded_free(s.run.at[r]);
        free(s.run.at[r]);
    }
    vec_free(&s.run);
    vec_free(&s.data);
    vec_free(&s.place);
    for (size_t i = 0; i < s.names.n; i++)
        free(s.names.at[i]);
    vec_free(&s.names);
    edits_free(&s.edits);
    strbuf_free(&s.text);
    return status;
}
