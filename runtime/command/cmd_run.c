/* cmd_run.c - bgc run: simulates an experiment, as CSV, JSON or a figure */
#include <string.h>

#include "command.h"
#include "csv.h"
#include "plot.h"
#include "verify.h"

static void
write_json(const loaded *l, const sim_result *r, const columns *c, const verified *v, FILE *out)
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
    json_key(&j, "method"), json_string(&j, r->method);
    if (v)
        verify_json(&j, v);
    json_close(&j, '}');
}

static int
write_table(const request *q, const loaded *l, const sim_result *r, const columns *c, const verified *v)
{
    outfile out;

    if (!outfile_open(&out, q->text[OPT_OUTPUT]))
        return complain_file(q->text[OPT_OUTPUT]);
    if (q->json)
        write_json(l, r, c, v, out.out);
    else
        csv_write(out.out, c);
    return outfile_commit(&out) ? STATUS_DONE : complain_file(q->text[OPT_OUTPUT]);
}

static int
draw(const request *q, const loaded *l, const columns *c)
{
    const char *text = l->c.flat->text && *l->c.flat->text ? l->c.flat->text : l->c.flat->name;
    char *title = bg_format("%s: %s", text, l->experiment), *why;
    int status = STATUS_DONE;

    if (!plot_columns(c, title, q->text[OPT_PLOT], &why)) {
        complain("%s", why);
        free(why);
        status = STATUS_FILE;
    }
    free(title);
    return status;
}

int
cmd_run(const request *q)
{
    loaded l;
    bool verify = (q->given & OPT(OPT_VERIFY)) != 0;
    size_t points = q->points ? q->points : RUN_POINTS;
    sim_options o = { .points = verify ? verify_points(points) : points, .outputs = true, .states = verify || (q->given & OPT(OPT_STATES)),
                      .activity = verify };
    sim_result r = { 0 };
    columns c = { 0 };
    verified v = { 0 };
    double *hidden = NULL;                   /* states that were asked for to be compared, not to be shown */
    int status;

    if (q->text[OPT_PLOT] && !plot_form_known(q->text[OPT_PLOT])) {
        complain("%s: a figure's name ends in .svg, .png or .pdf", q->text[OPT_PLOT]);
        return STATUS_USAGE;
    }
    status = load(q, q->file.at[0], STAGE_MODEL, EXPERIMENT_NEEDED, &l);
    if (status == STATUS_DONE) {
        if (!run_loaded(q, &l, 0, &o, &r)) {
            status = status_of(l.c.sources);
        } else if (!verify || (status = verify_run(q, &l, &o, &r, &v)) == STATUS_DONE) {
            if (verify)
                verify_thin(l.c.model, &r, points);
            if (!(q->given & OPT(OPT_STATES))) {
                hidden = r.state;
                r.state = NULL;
            }
            columns_make(l.c.model, &r, &c);
            if (c.column.n == 0 && !q->quiet)
                complain("%s has no outputs; --states adds its states", l.c.flat->name);
            /* a figure alone is what was asked for, unless a table has a place or a form of its own */
            if (!q->text[OPT_PLOT] || q->text[OPT_OUTPUT] || q->json)
                status = write_table(q, &l, &r, &c, verify ? &v : NULL);
            if (status == STATUS_DONE && q->text[OPT_PLOT])
                status = draw(q, &l, &c);
            if (status == STATUS_DONE && r.nunfinite)
                status = STATUS_NUMBERS;     /* the gaps in the table have been named */
            if (verify && (status == STATUS_DONE || status == STATUS_NUMBERS) && verify_report(q, &v) != STATUS_DONE)
                status = STATUS_NUMBERS;
            columns_free(&c);
        }
        sim_options_free(&o);
        sim_result_free(&r);
        free(hidden);
        verified_free(&v);
    }
    loaded_free(&l);
    return status;
}
