/* cmd_run.c - bgc run: simulates an experiment; writes CSV, JSON or a figure */
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "csv.h"
#include "folder.h"
#include "interrupt.h"
#include "figure.h"
#include "plot.h"
#include "report.h"
#include "verify.h"

static void
audit_json(json *j, const flat_model *f, const audit_totals *a)
{
    json_key(j, "energy");
    json_open(j, '{');
    json_key(j, "supplied"), json_number(j, a->supplied);
    json_key(j, "stored"), json_number(j, a->stored);
    json_key(j, "dissipated"), json_number(j, a->dissipated);
    json_key(j, "jumps"), json_number(j, a->jumps);
    json_key(j, "residual"), json_number(j, a->residual);
    json_key(j, "size"), json_number(j, a->size);
    json_key(j, "worst"), json_string(j, a->worst == NO_INDEX ? NULL : f->element.at[a->worst].name);
    json_key(j, "worst_residual"), json_number(j, a->worst_residual);
    json_key(j, "pseudo_elements"), json_count(j, a->pseudo);
    json_close(j, '}');
}

/* A run as far as it went: to its end or not, with the result of its verification (NULL: none), and the path of its
 * table (NULL: standard output). */
struct extent {
    bool whole;
    size_t each; /* of so many points of the run one is a row of the table */
    const verified *compared;
    const char *table;
};

static void
write_run_json(const loaded *l, const sim_result *r, const struct extent *e, const columns *c, FILE *out)
{
    json j = { .out = out };

    json_open(&j, '{');
    json_key(&j, "model"), json_string(&j, l->c.flat->name);
    json_key(&j, "experiment"), json_string(&j, l->experiment);
    json_key(&j, "time");
    json_open(&j, '[');
    for (size_t i = 0; i < c->points; i++)
        json_number(&j, c->time[i]);
    json_close(&j, ']');
    json_key(&j, "columns");
    json_open(&j, '{');
    for (size_t k = 0; k < c->column.n; k++) {
        json_key(&j, c->column.at[k].name);
        json_open(&j, '[');
        for (size_t i = 0; i < c->points; i++)
            json_number(&j, column_at(&c->column.at[k], i));
        json_close(&j, ']');
    }
    json_close(&j, '}');
    json_key(&j, "steps"), json_count(&j, r->steps);
    json_key(&j, "rhs_evaluations"), json_count(&j, r->rhs_evaluations);
    json_key(&j, "events");
    json_open(&j, '[');
    for (size_t i = 0; i < r->nevents; i++)
        json_number(&j, r->event[i]);
    json_close(&j, ']');
    if (r->audit.known)
        audit_json(&j, l->c.flat, &r->audit);
    json_key(&j, "samples"), json_count(&j, r->nsamples);
    if (r->stopped)
        json_key(&j, "stopped_by"), json_string(&j, r->stopped);
    json_key(&j, "method"), json_string(&j, r->method);
    if (!e->whole)
        json_key(&j, "complete"), json_bool(&j, false);
    if (e->compared)
        verify_json(&j, e->compared);
    json_close(&j, '}');
}

static int
write_run_table(const request *q, const loaded *l, const sim_result *r, const struct extent *e, const columns *c)
{
    outfile out;

    if (!outfile_open(&out, e->table))
        return complain_file(e->table);
    if (q->json)
        write_run_json(l, r, e, c, out.out);
    else
        csv_write(out.out, c);
    return outfile_commit(&out) ? STATUS_DONE : complain_file(e->table);
}

static int
draw_run(const request *q, const loaded *l, const columns *c)
{
    const char *text = l->c.flat->text && *l->c.flat->text ? l->c.flat->text : l->c.flat->name;
    char *title = bg_format(l->experiment ? "%s: %s" : "%s", text, l->experiment), *why;
    int status = STATUS_DONE;

    if (!plot_columns(c, title, q->text[OPT_PLOT], &why)) {
        complain("%s", why);
        free(why);
        status = STATUS_FILE;
    }
    free(title);
    return status;
}

/* ---------------------------------------------------------------- a folder of partitions */

static void
adjust_folder(void *ctx, bg_model *m, sim_options *o)
{
    adjust_run(ctx, m, o);
    o->progress = NULL; /* several runs at once */
}

static int
folder_failed(void *ctx, const sources *s)
{
    struct run_settings *r = ctx;

    print_diagnostics(r->q, s);
    return status_of(s);
}

static void
print_runs(const folder_runs *runs, bool as_json)
{
    table t = { .columns = 7, .left = 2 };
    json j = { .out = stdout };

    if (as_json) {
        json_open(&j, '[');
        for (size_t i = 0; i < runs->n; i++) {
            json_open(&j, '{');
            json_key(&j, "name"), json_string(&j, runs->at[i].name);
            json_key(&j, "experiment"), json_string(&j, runs->at[i].experiment);
            json_key(&j, "states"), json_count(&j, runs->at[i].states);
            json_key(&j, "steps"), json_count(&j, runs->at[i].steps);
            json_key(&j, "seconds"), json_number(&j, runs->at[i].seconds);
            json_key(&j, "points"), json_count(&j, runs->at[i].points);
            json_key(&j, "sampling_error"), json_number(&j, runs->at[i].sampling);
            json_close(&j, '}');
        }
        json_close(&j, ']');
        return;
    }
    table_put(&t, "partition");
    table_put(&t, "experiment");
    table_put(&t, "states");
    table_put(&t, "steps");
    table_put(&t, "time [s]");
    table_put(&t, "points");
    table_put(&t, "sampling error");
    for (size_t i = 0; i < runs->n; i++) {
        table_put(&t, "%s", runs->at[i].name);
        table_put(&t, "%s", runs->at[i].experiment);
        table_put(&t, "%zu", runs->at[i].states);
        table_put(&t, "%llu", (unsigned long long)runs->at[i].steps);
        table_put(&t, "%.3g", runs->at[i].seconds);
        table_put(&t, "%zu", runs->at[i].points);
        table_put(&t, isnan(runs->at[i].sampling) ? "-" : "%.1e", runs->at[i].sampling);
    }
    table_print(&t, stdout, "");
}

static int
run_folder(const request *q)
{
    struct run_settings s = { .q = q, .default_rtol = RANKING_RTOL, .shown = -1 };
    folder_options o = { .path = q->file.at[0],
                         .points = q->points,
                         .only = q->text[OPT_EXPERIMENT],
                         .adjust = adjust_folder,
                         .failed = folder_failed,
                         .ctx = &s };
    folder_runs runs = { 0 };
    char *why = NULL;
    int status = STATUS_DONE;

    if (q->set.n || q->text[OPT_PLOT] || q->text[OPT_OUTPUT] ||
        (q->given & (OPT(OPT_STATES) | OPT(OPT_VERIFY) | OPT(OPT_KEEP_PARTIAL)))) {
        complain("of a folder each partition's run is written beside it as NAME_EXPERIMENT.csv; --set, --states, "
                 "--verify, --keep-partial, -o and --plot are for "
                 "one file");
        return STATUS_USAGE;
    }
    if (!folder_run_all(&o, &runs, &why)) {
        if (why)
            complain("%s", why);
        status = why ? STATUS_FILE : STATUS_NUMBERS;
        for (size_t i = 0; i < runs.n; i++)
            if (runs.at[i].status)
                status = runs.at[i].status;
    } else {
        print_runs(&runs, q->json);
    }
    vec_free(&runs);
    free(why);
    return status;
}

static bool
is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A figure replaces the table, unless a place or format for the table was given. */
static bool
wants_table(const request *q)
{
    return !q->text[OPT_PLOT] || q->text[OPT_OUTPUT] || q->json;
}

/* Writes and draws the run as far as it went. Returns the run's status unless writing fails. */
static int
show_run(const request *q, const loaded *l, sim_result *r, const struct extent *e, bool figure)
{
    double *hidden = NULL; /* states recorded only for the comparison, not shown */
    columns c = { 0 };
    int status = STATUS_DONE;

    if (!(q->given & OPT(OPT_STATES))) {
        hidden = r->state;
        r->state = NULL;
    }
    if (figure) {
        columns_make(l->c.model, r, &c);
        status = draw_run(q, l, &c);
        columns_free(&c);
        c = (columns){ 0 };
    }
    run_thin(l->c.model, r, e->each, e->whole);
    columns_make(l->c.model, r, &c);
    if (c.column.n == 0 && !q->quiet)
        complain("%s has no outputs; --states adds its states", l->c.flat->name);
    if (wants_table(q)) {
        int written = write_run_table(q, l, r, e, &c);

        status = status == STATUS_DONE ? written : status;
    }
    columns_free(&c);
    free(hidden);
    return status;
}

/* For a run that failed: a named file is written completely or not at all, so that the rows go into a file beside it,
 * unless --keep-partial asks for them in its place. */
static int
show_partial(const request *q, const loaded *l, const sim_options *o, sim_result *r, size_t each, int why)
{
    const char *path = q->text[OPT_OUTPUT];
    bool keep = (q->given & OPT(OPT_KEEP_PARTIAL)) != 0, file = path && strcmp(path, "-") && !is_written_in_place(path);
    char *beside = file && !keep ? bg_format("%s.partial", path) : NULL;
    struct extent e = { .each = each, .table = beside ? beside : q->text[OPT_OUTPUT] };
    size_t points = (o->points - 1) / each + 1, there = r->points ? (r->points - 1) / each + 1 : 0;
    bool shows = model_noutputs(l->c.model) > 0 || (q->given & OPT(OPT_STATES)) != 0;
    int status = STATUS_DONE;

    /* the row at the start alone is kept only on request */
    if (there < points && (keep ? there > 0 : there > 1 && shows && wants_table(q))) {
        status = show_run(q, l, r, &e, keep && q->text[OPT_PLOT]);
        if (status == STATUS_DONE)
            complain("%zu of %zu points are %s%s, to %.6g s of %.6g s", there, points, beside ? "in " : "there",
                     beside ? beside : "", r->time[r->points - 1], o->stop);
    }
    free(beside);
    return status == STATUS_DONE ? why : status;
}

int
cmd_run(const request *q)
{
    loaded l;
    bool verify = (q->given & OPT(OPT_VERIFY)) != 0, keep = (q->given & OPT(OPT_KEEP_PARTIAL)) != 0, fine;
    size_t points = q->points ? q->points : RUN_POINTS, each = verify || q->text[OPT_PLOT] ? run_finer(points) : 1;
    sim_options o = { .points = (points - 1) * each + 1,
                      .outputs = true,
                      .states = verify || (q->given & OPT(OPT_STATES)),
                      .activity = verify,
                      .audit = q->json || q->verbose,
                      .told_to_stop = verify ? NULL : interrupt_asked };
    sim_result r = { 0 };
    verified v = { 0 };
    struct extent e = { .whole = true, .each = each, .table = q->text[OPT_OUTPUT] };
    int status;

    if (q->text[OPT_PLOT] && !figure_form_known(q->text[OPT_PLOT])) {
        complain("%s: a figure's name ends in .svg, .png or .pdf", q->text[OPT_PLOT]);
        return STATUS_USAGE;
    }
    if (verify && keep) {
        complain("--verify compares whole runs, --keep-partial keeps parts of them: not both");
        return STATUS_USAGE;
    }
    if (is_folder(q->file.at[0]))
        return run_folder(q);
    status = load_model(q, q->file.at[0], STAGE_MODEL, EXPERIMENT_NEEDED, &l);
    if (status == STATUS_DONE) {
        interrupt_defer(!verify);
        fine = run_loaded(q, &l, 0, &o, &r);
        interrupt_defer(false);
        if (!fine) {
            status = status_of(l.c.sources);
            if (!verify)
                status = show_partial(q, &l, &o, &r, each, status);
        } else if (!verify || (status = verify_run(q, &l, &o, &r, &v)) == STATUS_DONE) {
            e.compared = verify ? &v : NULL;
            status = show_run(q, &l, &r, &e, q->text[OPT_PLOT] != NULL);
            if (status == STATUS_DONE && r.nunfinite)
                status = STATUS_NUMBERS; /* gaps in the table have already been reported */
            if (verify && (status == STATUS_DONE || status == STATUS_NUMBERS) && verify_report(q, &v) != STATUS_DONE)
                status = STATUS_NUMBERS;
        }
        sim_options_free(&o);
        sim_result_free(&r);
        verified_free(&v);
    }
    loaded_free(&l);
    return status;
}
