/* cmd_partition.c - bgc partition: divides a model where bonds carry little power, or act in one direction only */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "figure.h"
#include "plot.h"
#include "sweep.h"

#define DEFAULT_MORA 0.97

struct partition_settings {
    struct run_settings run;
    const request *q;
    int status;
};

static void
adjust_partition(void *ctx, bg_model *m, sim_options *o)
{
    struct partition_settings *s = ctx;

    adjust_run(&s->run, m, o);
    o->progress = NULL; /* many short runs */
}

static int
partition_failed(void *ctx, const sources *s)
{
    struct partition_settings *p = ctx;

    print_diagnostics(p->q, s);
    return p->status = status_of(s);
}

typedef VEC(const char *) experiment_names;

/* The experiments named with -e, all with --all, else the only one. One message if some are missing or belong to
 * several models. */
static int
choose_experiments(const request *q, const loaded *file, experiment_names *out)
{
    const ast_file *ast = file->c.ast;
    const char *model = NULL;
    bool all = (q->given & OPT(OPT_ALL)) != 0;

    if (all && q->experiment.n) {
        complain("--all takes every experiment, -e only the named ones: use one of them");
        return STATUS_USAGE;
    }
    for (size_t i = 0; i < ast->ndecls; i++) {
        const ast_experiment *x = ast->decl[i].kind == AST_DECL_EXPERIMENT ? ast->decl[i].experiment : NULL;
        bool named = false;

        for (size_t k = 0; x && k < q->experiment.n; k++)
            named |= !strcmp(q->experiment.at[k], x->name);
        if (!x || (q->experiment.n && !named))
            continue;
        if (out->n && (all || named) && strcmp(model, x->model)) {
            complain("experiment %s is of %s, %s of %s: name those of one model with -e", out->at[0], model, x->name,
                     x->model);
            return STATUS_USAGE;
        }
        model = x->model;
        vec_push(out, x->name);
    }
    return STATUS_DONE;
}

static bool
read_freezes(const request *q, arena *a, freeze *list)
{
    for (size_t i = 0; i < q->freeze.n; i++) {
        char *why;

        if (!freeze_parse(q->freeze.at[i], a, &list[i], &why)) {
            complain("%s", why);
            free(why);
            return false;
        }
    }
    return true;
}

/* Parses "0..1", in seconds or with a unit of time in brackets. */
static bool
read_regime(const char *text, unit_system *units, regime *out)
{
    const char *dots = strstr(text, "..");
    char *first, *rest = NULL;
    double scale = 1;

    out->from = strtod(text, &first);
    out->to = dots ? strtod(dots + 2, &rest) : 0;
    /* strtod reads the first of the two dots as part of the number */
    if (!dots || first == text || first < dots || first > dots + 1 || rest == dots + 2 || !isfinite(out->from) ||
        !isfinite(out->to))
        return false;
    while (*rest == ' ')
        rest++;
    if (*rest == '[' && rest[strlen(rest) - 1] == ']') {
        char *name = bg_format("%.*s", (int)strlen(rest) - 2, rest + 1);
        const char *no = NULL;
        const unit *u = unit_parse(units, name, &no), *s = unit_parse(units, "s", &no);

        free(name);
        if (!u || unit_dimension(u) != unit_dimension(s))
            return false;
        scale = unit_scale(u);
    } else if (*rest) {
        return false;
    }
    out->from *= scale;
    out->to *= scale;
    return out->to > out->from;
}

static bool
read_regimes(const request *q, regime *list)
{
    unit_system *units = q->mora_window.n ? units_new() : NULL;
    bool fine = !q->mora_window.n || units;

    for (size_t i = 0; i < q->mora_window.n && fine; i++) {
        fine = read_regime(q->mora_window.at[i], units, &list[i]);
        if (!fine)
            complain("--mora-window is a time of the run, FROM..TO in s or with its unit, like 0..1 or 2..3[min], not "
                     "\"%s\"",
                     q->mora_window.at[i]);
    }
    units_free(units);
    return fine;
}

/* --over: status */
static int
sweep_over(const request *q, const partition_options *o, const struct partition_settings *settings)
{
    sweep s;
    char *why = NULL;
    int status = STATUS_USAGE;

    if (sweep_parse(q->text[OPT_OVER], &s, &why)) {
        switch (sweep_run(o, &s, &why)) {
        case PARTITION_DONE:
            if (q->json)
                sweep_json(&s, stdout);
            else
                sweep_text(&s, stdout);
            status = fflush(stdout) == 0 ? STATUS_DONE : complain_file("-");
            if (status == STATUS_DONE && q->text[OPT_PLOT] && !sweep_plot(&s, q->text[OPT_PLOT], &why))
                status = STATUS_FILE;
            break;
        case PARTITION_FAILED: status = settings->status != STATUS_DONE ? settings->status : STATUS_NUMBERS; break;
        case PARTITION_USAGE:
        case PARTITION_INTERNAL:
        case PARTITION_FILE: break;
        }
    }
    if (why)
        complain("%s", why);
    free(why);
    sweep_free(&s);
    return status;
}

/* Finds the partitions and reports them; returns a status. */
static int
run_partition(const request *q, const partition_options *o, const struct partition_settings *settings)
{
    partitioning p = { 0 };
    int status = STATUS_MODEL;

    switch (partition_find(o, &p)) {
    case PARTITION_DONE: {
        partition_report r = partition_report_of(&p);

        if (q->json)
            partition_report_json(&r, stdout);
        else
            partition_report_text(&r, q->verbose, stdout);
        status = fflush(stdout) == 0 ? STATUS_DONE : complain_file("-");
        break;
    }
    case PARTITION_FAILED: status = settings->status != STATUS_DONE ? settings->status : STATUS_NUMBERS; break;
    case PARTITION_USAGE:
        complain("%s", p.why);
        status = STATUS_USAGE;
        break;
    case PARTITION_FILE:
        complain("%s", p.why);
        status = STATUS_FILE;
        break;
    case PARTITION_INTERNAL:
        complain("internal error: the conditioned text is not the intended one, nothing more is written: %s", p.why);
        break;
    }
    partitioning_free(&p);
    return status;
}

static int
partition_experiments(const request *q, const loaded *file, const loaded *first, const experiment_names *chosen)
{
    struct partition_settings settings = { { .q = q, .default_rtol = RANKING_RTOL, .shown = -1 }, q, STATUS_DONE };
    compile_shared *shared = compile_shared_new(first->c.units); /* for many similar texts */
    recording *run = bg_calloc(chosen->n, sizeof *run);
    freeze *list = bg_calloc(q->freeze.n + 1, sizeof *list);
    regime *regimes = bg_calloc(q->mora_window.n + 1, sizeof *regimes);
    partition_options o = { .run = run,
                            .nruns = chosen->n,
                            .limit = DEFAULT_LIMIT,
                            .mora = DEFAULT_MORA,
                            .freeze = list,
                            .nfreezes = q->freeze.n,
                            .regime = regimes,
                            .nregimes = q->mora_window.n,
                            .folder = q->text[OPT_OUTPUT],
                            .points = q->points,
                            .failed = partition_failed,
                            .ctx = &settings };
    int status;

    for (size_t i = 0; i < chosen->n; i++)
        run[i] = (recording){ .path = file->path,
                              .text = file->text,
                              .length = file->length,
                              .experiment = chosen->at[i],
                              .set = first->set.at,
                              .nset = first->set.n,
                              .shared = shared,
                              .adjust = adjust_partition,
                              .ctx = &settings };
    if (q->text[OPT_THRESHOLD])
        parse_share(q->text[OPT_THRESHOLD], &o.limit);
    if (q->text[OPT_MORA])
        parse_share(q->text[OPT_MORA], &o.mora);
    if (!read_freezes(q, first->arena, list) || !read_regimes(q, regimes)) {
        status = STATUS_USAGE;
    } else if (q->text[OPT_OVER]) {
        status = sweep_over(q, &o, &settings);
    } else {
        status = run_partition(q, &o, &settings);
    }
    free(regimes);
    free(list);
    free(run);
    compile_shared_free(shared);
    return status;
}
int
cmd_partition(const request *q)
{
    experiment_names chosen = { 0 };
    loaded file = { 0 }, first = { 0 };
    double limit;
    int status;

    if (q->text[OPT_THRESHOLD] && !parse_share(q->text[OPT_THRESHOLD], &limit)) {
        complain("the threshold is a share like 5%% or 0.05, not \"%s\"", q->text[OPT_THRESHOLD]);
        return STATUS_USAGE;
    }
    if (q->text[OPT_MORA] && !parse_share(q->text[OPT_MORA], &limit)) {
        complain("--mora is a share like 97%% or 0.97, not \"%s\"", q->text[OPT_MORA]);
        return STATUS_USAGE;
    }
    if (q->text[OPT_PLOT] && (!q->text[OPT_OVER] || !figure_form_known(q->text[OPT_PLOT]))) {
        complain(q->text[OPT_OVER] ? "%s: a figure's name ends in .svg, .png or .pdf"
                                   : "%s: --plot draws the curves of --over",
                 q->text[OPT_PLOT]);
        return STATUS_USAGE;
    }
    status = load_model(q, q->file.at[0], STAGE_PARSE,
                        q->given & OPT(OPT_ALL) ? EXPERIMENT_OPTIONAL : EXPERIMENT_NEEDED, &file);
    if (status == STATUS_DONE)
        status = choose_experiments(q, &file, &chosen);
    if (status == STATUS_DONE && chosen.n == 0) {
        complain(
            "%s has no experiment to run; one says at least when to stop: experiment NAME of MODEL { stop = 10 [s]; }",
            file.path);
        status = STATUS_USAGE;
    }
    if (status == STATUS_DONE)
        status = load_experiment(q, &file, chosen.at[0], STAGE_GRAPH, &first);
    if (status == STATUS_DONE) {
        print_diagnostics(q, first.c.sources);
        status = partition_experiments(q, &file, &first, &chosen);
    }
    loaded_free(&first);
    loaded_free(&file);
    vec_free(&chosen);
    return status;
}
