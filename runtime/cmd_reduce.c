/* cmd_reduce.c - bgc reduce: a smaller source text that behaves alike */
#include <math.h>
#include <string.h>

#include "command.h"
#include "reduce.h"
#include "report.h"
#include "textdiff.h"

static void
write_json(const loaded *l, const reduction *r, FILE *out)
{
    json j = { .out = out };

    json_open(&j, '{');
    json_key(&j, "model"), json_string(&j, r->model);
    json_key(&j, "removed");
    json_open(&j, '[');
    for (size_t i = 0; i < r->operation.n; i++)
        if (r->operation.at[i].kind == REWRITE_ELEMENT)
            json_string(&j, r->operation.at[i].name);
    json_close(&j, ']');
    json_key(&j, "operations");
    json_open(&j, '[');
    for (size_t i = 0; i < r->operation.n; i++) {
        json_open(&j, '{');
        json_key(&j, "kind"), json_string(&j, rewrite_kind_name(r->operation.at[i].kind));
        json_key(&j, "target"), json_string(&j, r->operation.at[i].name);
        json_key(&j, "line"), json_number(&j, r->operation.at[i].line);
        json_key(&j, "round"), json_number(&j, r->operation.at[i].round);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_key(&j, "kept");
    json_open(&j, '[');
    for (size_t i = 0; i < r->kept.n; i++) {
        json_open(&j, '{');
        json_key(&j, "name"), json_string(&j, r->kept.at[i].name);
        json_key(&j, "why"), json_string(&j, r->kept.at[i].why);
        json_key(&j, "line"), json_number(&j, r->kept.at[i].line);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_key(&j, "rounds"), json_count(&j, r->rounds.n);
    json_key(&j, "states_before"), json_count(&j, r->states_before);
    json_key(&j, "states_after"), json_count(&j, r->states_after);
    json_key(&j, "elements_before"), json_count(&j, r->elements_before);
    json_key(&j, "elements_after"), json_count(&j, r->elements_after);
    json_key(&j, "errors");
    json_open(&j, '[');
    for (size_t i = 0; i < r->error.n; i++) {
        const reduce_error *e = &r->error.at[i];

        json_open(&j, '{');
        json_key(&j, "experiment"), json_string(&j, l->experiment);
        json_key(&j, "output"), json_string(&j, e->output);
        json_key(&j, "max"), json_number(&j, e->max);
        json_key(&j, "rms"), json_number(&j, e->rms);
        json_key(&j, "avasim"), json_number(&j, e->avasim);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
}

enum { NAMES_SHOWN = 12 };

static void
put_names(FILE *out, const reduction *r, enum rewrite_kind kind, const char *head)
{
    size_t n = 0;

    for (size_t i = 0; i < r->operation.n; i++)
        if (r->operation.at[i].kind == kind && n++ < NAMES_SHOWN)
            fprintf(out, "%s%s", n == 1 ? head : ", ", r->operation.at[i].name);
    if (n > NAMES_SHOWN)
        fprintf(out, " and %zu more", n - NAMES_SHOWN);
    if (n)
        fputc('\n', out);
}

static void
report(const loaded *l, const reduction *r, FILE *out)
{
    table t = { .columns = 5, .left = 1 };

    if (r->rounds.n == 0) {
        fprintf(out, "%s: nothing to take out\n", r->model);
    } else {
        fprintf(out, "%s: %zu of %zu elements and %zu of %zu states stay, after %zu round%s; the run takes %.3g s instead of %.3g s\n", r->model,
                r->elements_after, r->elements_before, r->states_after, r->states_before, r->rounds.n, r->rounds.n == 1 ? "" : "s", r->cpu_after,
                r->cpu_before);
        put_names(out, r, REWRITE_ELEMENT,  "  taken out          ");
        put_names(out, r, REWRITE_JUNCTION, "  left dangling      ");
        put_names(out, r, REWRITE_TWO_PORT, "  into nothing       ");
        put_names(out, r, REWRITE_VALUE,    "  not read any more  ");
        put_names(out, r, REWRITE_MOVE,     "  declared elsewhere ");
        put_names(out, r, REWRITE_LET,      "  let gone           ");
        put_names(out, r, REWRITE_INITIAL,  "  initial value gone ");
    }
    for (size_t i = 0; i < r->kept.n && i < NAMES_SHOWN; i++)
        fprintf(out, "  %s stays: %s (line %d)\n", r->kept.at[i].name, r->kept.at[i].why, r->kept.at[i].line);
    if (r->kept.n > NAMES_SHOWN)
        fprintf(out, "  %zu more stay\n", r->kept.n - NAMES_SHOWN);
    if (r->error.n == 0 || r->rounds.n == 0)
        return;
    table_put(&t, "output");
    table_put(&t, "maximum error");
    table_put(&t, "rms error");
    table_put(&t, "within");
    table_put(&t, "performance index");
    for (size_t i = 0; i < r->error.n; i++) {
        const reduce_error *e = &r->error.at[i];

        if (e->unit)
            table_put(&t, "%s [%s]", e->output, e->unit);
        else
            table_put(&t, "%s", e->output);
        table_put(&t, "%.4g", e->max / e->shown);
        table_put(&t, "%.4g", e->rms / e->shown);
        if (isnan(e->within))
            table_put(&t, "-");
        else
            table_put(&t, "%.4g%s", e->within / e->shown, e->max <= e->within ? "" : " exceeded");
        if (isnan(e->avasim))
            table_put(&t, "-");
        else
            table_put(&t, "%.4f", e->avasim);
    }
    fprintf(out, "errors over experiment %s\n", l->experiment);
    table_print(&t, out, "  ");
}

/* Tables are found beside the text: one written elsewhere may lose them. */
static void
warn_of_place(const loaded *l, const reduction *r, const char *target)
{
    compile_options o = { .experiment = l->experiment };
    compilation here = { 0 }, there = { 0 };

    if (compile_text(&here, l->path, r->text, r->length, STAGE_GRAPH, &o) && !compile_text(&there, target, r->text, r->length, STAGE_GRAPH, &o))
        complain("warning: %s does not find from where it is what %s reads: tables stand beside the text that names them", target, l->path);
    compile_free(&here);
    compile_free(&there);
}

/* Where the text goes: the file, standard output, or nowhere. */
static int
write_results(const request *q, const loaded *l, reduction *r, const char *target)
{
    bool dry = (q->given & OPT(OPT_DRY_RUN)) != 0, text_out = target && !strcmp(target, "-");

    if (dry && !q->json)
        textdiff_print(stdout, l->path, l->text, l->length, target && !text_out ? target : l->path, r->text, r->length, reduction_origin, r,
                       color_on(stdout));
    else if (!dry && target && !write_whole(target, r->text, r->length))
        return complain_file(target);
    if (!dry && target && !text_out)
        warn_of_place(l, r, target);
    if (q->json && !(text_out && !dry))
        write_json(l, r, stdout);
    else if (!q->quiet)
        report(l, r, dry || text_out ? stderr : stdout);
    return fflush(stdout) == 0 ? STATUS_DONE : complain_file("-");
}

int
cmd_reduce(const request *q)
{
    struct run_settings settings = { .q = q, .default_rtol = RANKING_RTOL, .shown = -1 };
    reduce_options o = { .metric = METRIC_ACTIVITY, .threshold = 0.99, .adjust = adjust_run, .ctx = &settings };
    const char *input = q->file.at[0], *target = q->text[OPT_OUTPUT];
    loaded l;
    int status;

    if (q->text[OPT_METRIC] && !metric_find(q->text[OPT_METRIC], &o.metric)) {
        complain("there is no metric \"%s\"; there are activity and rms", q->text[OPT_METRIC]);
        return STATUS_USAGE;
    }
    if (q->text[OPT_THRESHOLD] && !parse_share(q->text[OPT_THRESHOLD], &o.threshold)) {
        complain("the threshold is a share like 99%% or 0.99, not \"%s\"", q->text[OPT_THRESHOLD]);
        return STATUS_USAGE;
    }
    if (q->given & OPT(OPT_IN_PLACE))
        target = input;
    else if (!target && !q->json)
        target = "-";
    status = load(q, input, STAGE_MODEL, EXPERIMENT_NEEDED, &l);
    if (status == STATUS_DONE) {
        reduction r;
        char *why = NULL;
        enum reduce_result result;

        o.experiment = l.experiment;
        o.set = l.set.at;
        o.nset = l.set.n;
        result = reduce(&l.c, &o, &r, &why);
        progress_done(&settings);
        print_diagnostics(q, l.c.sources);
        if (result == REDUCE_FAILED) {
            status = status_of(l.c.sources);
        } else if (result == REDUCE_INTERNAL) {
            complain("internal error: the reduced text is not what was meant, nothing is written: %s", why);
            status = STATUS_MODEL;
        } else {
            status = write_results(q, &l, &r, target);
        }
        free(why);
        reduction_free(&r);
    }
    loaded_free(&l);
    return status;
}
