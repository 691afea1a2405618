/* cmd_diff.c - bgc diff: the differences of two models and of their trajectories */
#include <math.h>
#include <string.h>

#include "command.h"
#include "columns.h"
#include "diff.h"
#include "reduce.h"
#include "report.h"

struct output_error {
    const char *name, *unit;
    double shown;
    track_difference e;
};
struct output_errors {
    VEC(struct output_error) at;
    double end[2]; /* s, of the runs */
    bool stopped;  /* one of them ended by `stop when` */
};

/* Elements by name; other parts of the model with their kind. */
static void
put_elements(json *j, const char *key, const diff_entry *e, size_t n)
{
    json_key(j, key);
    json_open(j, '[');
    for (size_t i = 0; i < n; i++)
        if (e[i].what == DIFF_ELEMENT)
            json_string(j, e[i].name);
    json_close(j, ']');
}

static void
put_others(json *j, const char *key, const diff_entry *e, size_t n, bool all)
{
    json_key(j, key);
    json_open(j, '[');
    for (size_t i = 0; i < n; i++) {
        if (!all && e[i].what == DIFF_ELEMENT)
            continue;
        json_open(j, '{');
        json_key(j, "name"), json_string(j, e[i].name);
        json_key(j, "kind"), json_string(j, diff_what_name(e[i].what));
        if (e[i].change)
            json_key(j, "what"), json_string(j, e[i].change);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void
write_diff_json(const diff *d, const struct output_errors *errors, const char *experiment, FILE *out)
{
    json j = { .out = out };

    json_open(&j, '{');
    put_elements(&j, "removed", d->removed.at, d->removed.n);
    put_elements(&j, "added", d->added.at, d->added.n);
    put_others(&j, "changed", d->changed.at, d->changed.n, true);
    put_others(&j, "removed_others", d->removed.at, d->removed.n, false);
    put_others(&j, "added_others", d->added.at, d->added.n, false);
    json_key(&j, "errors");
    json_open(&j, '[');
    for (size_t i = 0; i < errors->at.n; i++) {
        json_open(&j, '{');
        json_key(&j, "experiment"), json_string(&j, experiment);
        json_key(&j, "output"), json_string(&j, errors->at.at[i].name);
        json_key(&j, "max"), json_number(&j, errors->at.at[i].e.max);
        json_key(&j, "rms"), json_number(&j, errors->at.at[i].e.rms);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_key(&j, "ends");
    json_open(&j, '[');
    for (int i = 0; i < 2 && errors->stopped; i++)
        json_number(&j, errors->end[i]);
    json_close(&j, ']');
    json_close(&j, '}');
}

static void
put_list(FILE *out, char mark, const diff_entry *e, size_t n, const char *color, bool colored)
{
    for (size_t i = 0; i < n; i++) {
        fputs(colored ? color : "", out);
        put_text(out, "%c %s %s%s%s", mark, diff_what_name(e[i].what), e[i].name, e[i].change ? ": " : "",
                 e[i].change ? e[i].change : "");
        fputs(colored ? "\033[0m\n" : "\n", out);
    }
}

static void
report_diff(const diff *d, const struct output_errors *errors, const char *experiment, FILE *out)
{
    table t = { .columns = 3, .left = 1 };
    bool colored = color_on(out);

    put_list(out, '-', d->removed.at, d->removed.n, "\033[31m", colored);
    put_list(out, '+', d->added.at, d->added.n, "\033[32m", colored);
    put_list(out, '~', d->changed.at, d->changed.n, "\033[33m", colored);
    if (errors->stopped)
        put_text(out, "`stop when` ends the runs at %.9g s and at %.9g s%s\n", errors->end[0], errors->end[1],
                 errors->at.n == 0 || errors->end[0] == errors->end[1]
                     ? ""
                     : "; outputs are compared up to the earlier one");
    if (errors->at.n == 0)
        return;
    put_text(out, "outputs over experiment %s\n", experiment);
    table_put(&t, "output");
    table_put(&t, "maximum difference");
    table_put(&t, "rms difference");
    for (size_t i = 0; i < errors->at.n; i++) {
        const struct output_error *e = &errors->at.at[i];

        if (e->unit)
            table_put(&t, "%s [%s]", e->name, e->unit);
        else
            table_put(&t, "%s", e->name);
        table_put(&t, "%.4g", e->e.max / e->shown);
        table_put(&t, "%.4g", e->e.rms / e->shown);
    }
    table_print(&t, out, "  ");
}

/* Compares the graphs as elaborated, because later stages rewrite laws. */
static void
compare_graphs(const loaded *a, const loaded *b, diff *d)
{
    compilation x = { 0 }, y = { 0 };
    compile_options ox = { .experiment = a->experiment, .set = a->set.at, .nset = a->set.n };
    compile_options oy = { .experiment = b->experiment, .set = b->set.at, .nset = b->set.n };

    memset(d, 0, sizeof *d);
    if (compile_text(&x, a->path, a->text, a->length, STAGE_GRAPH, &ox) &&
        compile_text(&y, b->path, b->text, b->length, STAGE_GRAPH, &oy))
        diff_make(x.flat, y.flat, d);
    diff_experiments(a->c.sources, a->c.ast, b->c.sources, b->c.ast, d);
    compile_free(&x);
    compile_free(&y);
}

static bool
run_diff_model(const request *q, loaded *l, track *outputs, double *end, bool *stopped)
{
    sim_options o = { .track = outputs };
    sim_result r;
    bool fine;

    outputs->n = model_noutputs(l->c.model);
    fine = run_loaded(q, l, RANKING_RTOL, &o, &r);
    *end = r.t_end;
    *stopped |= fine && r.stopped;
    sim_options_free(&o);
    sim_result_free(&r);
    return fine;
}

static void
compare_trajectories(loaded *a, const track *ra, loaded *b, const track *rb, struct output_errors *errors)
{
    size_t na = model_noutputs(a->c.model), nb = model_noutputs(b->c.model);
    map by_name = { 0 };

    for (size_t k = 0; k < nb; k++) {
        const char *name = flat_output_at(b->c.flat, k)->name;

        map_set(&by_name, bg_hash_bytes(name, strlen(name), 0), (uint32_t)k);
    }
    for (size_t k = 0; k < na; k++) {
        const flat_output *o = flat_output_at(a->c.flat, k);
        uint32_t other = map_get(&by_name, bg_hash_bytes(o->name, strlen(o->name), 0));
        struct output_error e = { .name = o->name,
                                  .unit = unit_shown(o->unit, o->display),
                                  .shown = o->display ? unit_scale(o->display) : 1 };

        if (other == MAP_NONE)
            continue;
        e.e = track_compare(ra, k, rb, other);
        vec_push(&errors->at, e);
    }
    map_free(&by_name);
}

static bool
differ(const diff *d, const struct output_errors *errors)
{
    bool any = d->removed.n || d->added.n || d->changed.n || (errors->stopped && errors->end[0] != errors->end[1]);

    for (size_t i = 0; i < errors->at.n; i++)
        any = any || errors->at.at[i].e.max > 0;
    return any;
}

int
cmd_diff(const request *q)
{
    bool trajectories = q->text[OPT_EXPERIMENT] != NULL;
    enum compile_stage stage = trajectories ? STAGE_MODEL : STAGE_GRAPH;
    enum experiment_choice choice = trajectories ? EXPERIMENT_NEEDED : EXPERIMENT_NONE;
    struct output_errors errors = { 0 };
    track ra = { 0 }, rb = { 0 };
    loaded a = { 0 }, b = { 0 };
    diff d = { 0 };
    int status = load_model(q, q->file.at[0], stage, choice, &a);

    if (status == STATUS_DONE)
        status = load_model(q, q->file.at[1], stage, choice, &b);
    if (status == STATUS_DONE && trajectories) {
        if (!run_diff_model(q, &a, &ra, &errors.end[0], &errors.stopped))
            status = status_of(a.c.sources);
        else if (!run_diff_model(q, &b, &rb, &errors.end[1], &errors.stopped))
            status = status_of(b.c.sources);
        else if (ra.border.n && rb.border.n &&
                 (ra.border.at[0] != rb.border.at[0] || (ra.t != rb.t && !errors.stopped)))
            complain("the experiments do not cover the same time; outputs are not compared");
        else
            compare_trajectories(&a, &ra, &b, &rb, &errors);
    }
    if (status == STATUS_DONE) {
        compare_graphs(&a, &b, &d);
        if (q->json)
            write_diff_json(&d, &errors, a.experiment, stdout);
        else
            report_diff(&d, &errors, a.experiment, stdout);
        if (fflush(stdout) != 0)
            status = complain_file("-");
        else if (differ(&d, &errors))
            status = STATUS_MODEL;
    }
    vec_free(&errors.at);
    diff_free(&d);
    track_free(&ra);
    track_free(&rb);
    loaded_free(&a);
    loaded_free(&b);
    return status;
}
