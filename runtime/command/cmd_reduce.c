/* cmd_reduce.c - bgc reduce: a smaller source text with nearly the same behaviour */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "codegen.h"
#include "command.h"
#include "reduce.h"
#include "reduce_command.h"
#include "refit.h"
#include "report.h"
#include "side_by_side.h"
#include "simplify.h"
#include "textdiff.h"
#include "verify.h"

typedef VEC(const char *) name_list;

static bool
is_same_folder(const char *a, const char *b)
{
    const char *of_a = strrchr(a, '/'), *of_b = strrchr(b, '/');
    size_t n = of_a ? (size_t)(of_a - a) : 0;

    return !of_a == !of_b && n == (of_b ? (size_t)(of_b - b) : 0) && !strncmp(a, b, n);
}

/* Imports and tables are found relative to the text; one written into another folder may lose them. */
static void
warn_of_place(const loaded *l, const reduction *r, const char *target)
{
    compile_shared units = { .units = l->c.units };
    compile_options o = { .experiment = l->experiment, .shared = &units };
    compilation here = { 0 }, there = { 0 };

    if (is_same_folder(l->path, target) || sources_count(l->c.sources) == 1)
        return;
    if (compile_text(&here, l->path, r->text, r->length, STAGE_GRAPH, &o) &&
        !compile_text(&there, target, r->text, r->length, STAGE_GRAPH, &o))
        complain("warning: %s cannot find the files that %s reads: imports and tables are searched beside the text "
                 "that names them",
                 target, l->path);
    compile_free(&here);
    compile_free(&there);
}

/* Was it a value that was removed because nothing reads it? setting: NAME=... */
static bool
went(const reduction *r, const char *setting)
{
    size_t n = strcspn(setting, "=");

    for (size_t i = 0; i < r->operation.n; i++)
        if (r->operation.at[i].kind == REWRITE_VALUE && strlen(r->operation.at[i].name) == n &&
            !strncmp(r->operation.at[i].name, setting, n))
            return true;
    return false;
}

/* Copies those settings of --set and --input that the reduced model still has into `left` (the caller frees its lists);
 * reports the others. */
static void
settings_left(const request *q, const reduction *r, request *left)
{
    *left = *q;
    memset(&left->set, 0, sizeof left->set);
    memset(&left->input, 0, sizeof left->input);
    for (size_t i = 0; i < q->set.n; i++)
        if (!went(r, q->set.at[i]))
            vec_push(&left->set, q->set.at[i]);
        else if (!q->quiet)
            complain("--verify: --set %s has no effect on the reduced model, which no longer reads it", q->set.at[i]);
    for (size_t i = 0; i < q->input.n; i++)
        if (!went(r, q->input.at[i]))
            vec_push(&left->input, q->input.at[i]);
        else if (!q->quiet)
            complain("--verify: --input %s has no effect on the reduced model, which no longer reads it",
                     q->input.at[i]);
}

/* Verifies both texts in each experiment that decided: errors between them mean something only if the numbers of each
 * are correct. */
static int
verify_both(const request *q, const loaded *l, const reduction *r, const char *const *experiment, size_t n)
{
    int status = STATUS_DONE;
    request left;

    settings_left(q, r, &left);
    for (size_t i = 0; i < n && status == STATUS_DONE; i++) {
        status = verify_text(q, l, "as given", l->text, l->length, experiment[i]);
        if (status == STATUS_DONE)
            status = verify_text(&left, l, "reduced", r->text, r->length, experiment[i]);
    }
    vec_free(&left.set);
    vec_free(&left.input);
    if (status != STATUS_DONE)
        complain("--verify: nothing is written");
    return status;
}

/* Writes the text to the file or to standard output, if asked for. */
int
reduction_write(const request *q, const loaded *l, reduction *r, const char *const *experiment, size_t nexperiments,
                bool bounded, const order_report *of, const char *target)
{
    bool dry = (q->given & OPT(OPT_DRY_RUN)) != 0, text_out = target && !strcmp(target, "-");
    int status = q->given & OPT(OPT_VERIFY) ? verify_both(q, l, r, experiment, nexperiments) : STATUS_DONE;
    struct passive_word passive = { PASSIVITY_NOT_LOOKED_AT, NULL };

    if (status != STATUS_DONE)
        return status;
    if (dry && !q->json)
        textdiff_print(stdout, l->path, l->text, l->length, target && !text_out ? target : l->path, r->text, r->length,
                       reduction_origin, r, color_on(stdout));
    else if (!dry && target &&
             !(q->given & OPT(OPT_IN_PLACE) ? file_replace(target, l->text, l->length, r->text, r->length)
                                            : write_whole(target, r->text, r->length)))
        return complain_file(target);
    if (!dry && target && !text_out)
        warn_of_place(l, r, target);
    if (q->json || !q->quiet)
        passive = passive_of(l, r, nexperiments ? experiment[0] : NULL);
    if (q->json && !(text_out && !dry))
        reduction_write_json(r, bounded, of, &passive, stdout);
    else if (!q->quiet)
        reduction_report(r, bounded, of, &passive, q->verbose, dry || text_out ? stderr : stdout);
    free(passive.why);
    return fflush(stdout) == 0 ? STATUS_DONE : complain_file("-");
}

/* ---------------------------------------------------------------- by a threshold */

static int
finish_reduction(const request *q, loaded *l, enum reduce_result result, reduction *r, const name_list *experiment,
                 bool bounded, const char *target, char *why)
{
    int status = STATUS_MODEL;

    if (result == REDUCE_NO_TOLERANCE) {
        complain("--within: %s", why);
        status = STATUS_USAGE;
    } else if (result == REDUCE_INTERNAL)
        complain("internal error: the reduced text is not the intended one, nothing is written: %s", why);
    else
        status = reduction_write(q, l, r, experiment->at, experiment->n, bounded, NULL, target);
    return status;
}

void
reduction_adjust(void *ctx, bg_model *m, sim_options *o)
{
    adjust_run(ctx, m, o);
    o->progress = NULL; /* many short runs */
}

/* --refit, after the reduction. If the fit is rejected, this is reported and the reduction stays as it is. */
static int
refit(const request *q, const loaded *l, const char *const *experiment, size_t n,
      void (*adjust)(void *ctx, bg_model *m, sim_options *o), void *ctx, reduction *r)
{
    refit_options o = { .experiment = experiment,
                        .nexperiments = n,
                        .parameters = q->text[OPT_PARAMETERS],
                        .adjust = adjust,
                        .ctx = ctx };
    char *why = NULL;
    enum refit_result result;

    if (!(q->given & OPT(OPT_REFIT)) || !r->text)
        return STATUS_DONE;
    result = reduction_refit(l->path, l->text, l->length, &o, r, &why);
    if (why && (result == REFIT_FAILED || !q->quiet))
        complain("%s: %s%s", l->path,
                 result == REFIT_FAILED      ? "it cannot be fitted: "
                 : result == REFIT_NOT_TAKEN ? "not fitted: "
                                             : "fitted, but ",
                 why);
    free(why);
    return result == REFIT_FAILED ? STATUS_NUMBERS : STATUS_DONE;
}

static bool
by_component(const request *q)
{
    return q->text[OPT_BY] && !strcmp(q->text[OPT_BY], "component");
}

static int
reduce_by_threshold(const request *q, const loaded *file, const char *target)
{
    struct run_settings settings = { .q = q, .default_rtol = RANKING_RTOL, .shown = -1 };
    reduce_options o = { .metric = METRIC_ACTIVITY,
                         .threshold = DEFAULT_THRESHOLD,
                         .rounds = q->rounds,
                         .components = by_component(q),
                         .adjust = adjust_run,
                         .ctx = &settings };
    loaded l;
    int status;

    if (q->text[OPT_METRIC] &&
        (!metric_find(q->text[OPT_METRIC], &o.metric) || o.metric == METRIC_KL || o.metric == METRIC_KL_NORMALISED)) {
        complain("reductions use activity, rms, reaper, junction or relative-energy, not \"%s\"", q->text[OPT_METRIC]);
        return STATUS_USAGE;
    }
    if (o.components && !metric_is_integral(o.metric)) {
        complain("components are reduced by activity or rms, or within tolerances");
        return STATUS_USAGE;
    }
    if (!metric_ranks(o.metric))
        o.threshold = DEFAULT_LIMIT;
    if ((q->given & OPT(OPT_INACTIVE)) && !q->text[OPT_THRESHOLD] && !q->text[OPT_METRIC])
        o.threshold = nextafter(1, 2); /* takes nothing else out: a threshold above 1 keeps everything */
    if (q->text[OPT_THRESHOLD] && !parse_share(q->text[OPT_THRESHOLD], &o.threshold)) {
        complain("the threshold is a share like 99%% or 0.99, not \"%s\"", q->text[OPT_THRESHOLD]);
        return STATUS_USAGE;
    }
    status = load_experiment(q, file, q->text[OPT_EXPERIMENT], STAGE_MODEL, &l);
    if (status == STATUS_DONE) {
        reduction r;
        char *why = NULL;
        name_list used = { 0 };
        enum reduce_result result;

        vec_push(&used, l.experiment);
        o.experiment = l.experiment;
        o.set = l.set.at;
        o.nset = l.set.n;
        l.shared = compile_shared_new(l.c.units);
        result = reduce(&l.c, &o, &r, &why);
        progress_done(&settings);
        if (result == REDUCE_DONE && (q->given & (OPT(OPT_SIMPLIFY) | OPT(OPT_INACTIVE)))) {
            simplify_options so = { .idle = (q->given & OPT(OPT_INACTIVE)) != 0,
                                    .folds = (q->given & OPT(OPT_SIMPLIFY)) != 0,
                                    .experiment = &o.experiment,
                                    .nexperiments = 1,
                                    .set = o.set,
                                    .nset = o.nset,
                                    .shared = l.shared,
                                    .adjust = reduction_adjust,
                                    .ctx = &settings };

            if (!reduction_simplify(l.path, &so, l.c.sources, l.c.ast->file, &r, &why))
                result = REDUCE_INTERNAL;
        }
        print_diagnostics(q, l.c.sources);
        status = result == REDUCE_FAILED ? status_of(l.c.sources) : STATUS_DONE;
        if (result == REDUCE_DONE)
            status = refit(q, &l, &o.experiment, 1, reduction_adjust, &settings, &r);
        if (status == STATUS_DONE)
            status = finish_reduction(q, &l, result, &r, &used, false, target, why);
        vec_free(&used);
        free(why);
        reduction_free(&r);
    }
    loaded_free(&l);
    return status;
}

/* ---------------------------------------------------------------- within tolerances */

static bool
observes(const ast_experiment *x, bool within)
{
    for (int i = 0; i < x->nitems; i++)
        if (x->item[i].kind == AST_EXP_OBSERVE && (!within || x->item[i].b))
            return true;
    return false;
}

static bool
is_named_experiment(const request *q, const char *name)
{
    for (size_t i = 0; i < q->experiment.n; i++)
        if (!strcmp(q->experiment.at[i], name))
            return true;
    return false;
}

/* The experiments to use: those named; else those of the first model that observe something within a tolerance (with a
 * tolerance given: that observe anything); if there are none, all. */
static void
find_experiments(const request *q, const ast_file *file, name_list *out)
{
    const char *model = NULL;

    for (int least = q->experiment.n ? 2 : q->text[OPT_WITHIN] ? 1 : 0; out->n == 0 && least <= 2; least++) {
        for (size_t i = 0; i < file->ndecls; i++) {
            const ast_experiment *x = file->decl[i].kind == AST_DECL_EXPERIMENT ? file->decl[i].experiment : NULL;

            if (!x || (q->experiment.n && !is_named_experiment(q, x->name)) || (model && model != x->model))
                continue;
            if (least < 2 && !observes(x, least == 0))
                continue;
            model = x->model;
            vec_push(out, x->name);
        }
        if (!q->text[OPT_WITHIN])
            break;
    }
}

static bool
any_within(const ast_file *file, const name_list *chosen)
{
    for (size_t i = 0; i < file->ndecls; i++)
        for (size_t k = 0; k < chosen->n && file->decl[i].kind == AST_DECL_EXPERIMENT; k++)
            if (file->decl[i].experiment->name == chosen->at[k] && observes(file->decl[i].experiment, true))
                return true;
    return false;
}

/* Parses "2%", "1[mm]", "0.001". */
static bool
parse_within(const char *text, arena *a, bounded_options *o)
{
    char *end;

    o->tolerance = strtod(text, &end);
    o->within = WITHIN_VALUE;
    if (end == text || !isfinite(o->tolerance) || o->tolerance < 0)
        return false;
    while (*end == ' ')
        end++;
    if (!strcmp(end, "%")) {
        o->within = WITHIN_SHARE;
        o->tolerance /= 100;
        return true;
    }
    if (*end == '[' && end[strlen(end) - 1] == ']') {
        unit_system *units = units_new();
        const char *why;
        const unit *u;

        o->unit = arena_strndup(a, end + 1, strlen(end) - 2);
        u = units ? unit_parse(units, o->unit, &why) : NULL;
        if (u)
            o->tolerance *= unit_scale(u);
        units_free(units);
        return u != NULL;
    }
    return !*end;
}

struct bounded_settings {
    struct run_settings run;
    const request *q;
    int status;
};

static void
adjust_bounded(void *ctx, bg_model *m, sim_options *o)
{
    struct run_settings own = ((struct bounded_settings *)ctx)->run; /* many runs, some at the same time */

    adjust_run(&own, m, o);
    o->progress = NULL;
    o->ctx = NULL;
}

static void
reduction_failed(void *ctx, const sources *s)
{
    struct bounded_settings *b = ctx;

    print_diagnostics(b->q, s);
    b->status = status_of(s);
}

static int
reduce_within_tolerances(const request *q, const loaded *file, const name_list *chosen, const char *target)
{
    struct bounded_settings settings = { { .q = q, .default_rtol = BOUNDED_RTOL, .shown = -1 }, q, STATUS_DONE };
    bounded_options o = { .experiment = chosen->at,
                          .nexperiments = chosen->n,
                          .terms = (q->given & OPT(OPT_TERMS)) != 0,
                          .bonds = (q->given & OPT(OPT_BONDS)) != 0,
                          .components = by_component(q),
                          .adjust = adjust_bounded,
                          .failed = reduction_failed,
                          .ctx = &settings };
    loaded l;
    int status;

    if (q->text[OPT_WITHIN] && !parse_within(q->text[OPT_WITHIN], file->arena, &o)) {
        complain("--within is a value like 1[mm] or 0.001 (SI), or a share like 2%%, not \"%s\"", q->text[OPT_WITHIN]);
        return STATUS_USAGE;
    }
    status = load_experiment(q, file, chosen->at[0], STAGE_EQUATIONS, &l);
    if (status == STATUS_DONE) {
        reduction r;
        char *why = NULL;
        enum reduce_result result;

        print_diagnostics(q, l.c.sources);
        o.set = l.set.at;
        o.nset = l.set.n;
        o.shared = l.shared = compile_shared_new(l.c.units);
        result = reduce_within(l.path, l.text, l.length, &o, &r, &why);
        if (result == REDUCE_DONE && (q->given & (OPT(OPT_SIMPLIFY) | OPT(OPT_INACTIVE)))) {
            simplify_options so = { .idle = (q->given & OPT(OPT_INACTIVE)) != 0,
                                    .folds = (q->given & OPT(OPT_SIMPLIFY)) != 0,
                                    .experiment = o.experiment,
                                    .nexperiments = o.nexperiments,
                                    .set = o.set,
                                    .nset = o.nset,
                                    .shared = l.shared,
                                    .adjust = o.adjust,
                                    .ctx = o.ctx };

            if (!reduction_simplify(l.path, &so, l.c.sources, l.c.ast->file, &r, &why))
                result = REDUCE_INTERNAL;
        }
        status = result == REDUCE_FAILED ? settings.status : STATUS_DONE;
        if (result == REDUCE_DONE)
            status = refit(q, &l, o.experiment, o.nexperiments, o.adjust, o.ctx, &r);
        if (status == STATUS_DONE)
            status = finish_reduction(q, &l, result, &r, chosen, true, target, why);
        free(why);
        reduction_free(&r);
    }
    loaded_free(&l);
    return status;
}

/* Experiments named with -e must exist and belong to one model. */
static int
check_names(const request *q, const loaded *file, const name_list *found)
{
    const ast_file *ast = file->c.ast;

    for (size_t i = 0; i < q->experiment.n; i++) {
        bool there = false, of_model = false;

        for (size_t k = 0; k < ast->ndecls; k++)
            there |= ast->decl[k].kind == AST_DECL_EXPERIMENT &&
                     !strcmp(ast->decl[k].experiment->name, q->experiment.at[i]);
        for (size_t k = 0; k < found->n; k++)
            of_model |= !strcmp(found->at[k], q->experiment.at[i]);
        if (!there) {
            complain("%s has no experiment \"%s\"", file->path, q->experiment.at[i]);
            return STATUS_USAGE;
        }
        if (!of_model) {
            complain("experiments of one model are reduced together; \"%s\" is of another model than \"%s\"",
                     q->experiment.at[i], found->at[0]);
            return STATUS_USAGE;
        }
    }
    return STATUS_DONE;
}

int
cmd_reduce(const request *q)
{
    const char *input = q->file.at[0], *target = q->text[OPT_OUTPUT];
    bool by_threshold = q->text[OPT_THRESHOLD] || q->text[OPT_METRIC],
         bounded = q->text[OPT_WITHIN] || (q->given & (OPT(OPT_TERMS) | OPT(OPT_BONDS)));
    name_list chosen = { 0 };
    loaded file;
    int status;

    if (bounded && (q->given & OPT(OPT_ROUNDS))) {
        complain("--rounds needs a threshold; within tolerances the search continues until nothing more can be taken "
                 "out");
        return STATUS_USAGE;
    }
    if (by_threshold && bounded) {
        complain("thresholds and metrics are one way to reduce, --within, --bonds and --terms are another: use one "
                 "of them");
        return STATUS_USAGE;
    }
    if ((q->given & (OPT(OPT_REFIT) | OPT(OPT_ORDER))) && q->set.n) {
        complain("--refit changes the numbers of the text, and --set would override them: use one of them");
        return STATUS_USAGE;
    }
    if ((q->given & OPT(OPT_PARAMETERS)) && !(q->given & (OPT(OPT_REFIT) | OPT(OPT_ORDER)))) {
        complain("--parameters needs --refit: it names the parameters to fit");
        return STATUS_USAGE;
    }
    if (q->text[OPT_BY] && strcmp(q->text[OPT_BY], "element") && strcmp(q->text[OPT_BY], "component")) {
        complain("--by is element or component, not \"%s\"", q->text[OPT_BY]);
        return STATUS_USAGE;
    }
    if (by_component(q) && (q->text[OPT_MODES] || q->text[OPT_BAND])) {
        complain("--by component goes with a threshold or with tolerances");
        return STATUS_USAGE;
    }
    if ((q->given & OPT(OPT_DIRECT)) && !q->text[OPT_MODES] && !q->text[OPT_BAND]) {
        complain("--direct needs --modes or --band: it changes how the lines of outputs are corrected");
        return STATUS_USAGE;
    }
    if (q->given & OPT(OPT_IN_PLACE))
        target = input;
    else if (!target && !q->json)
        target = "-";
    if (q->given & OPT(OPT_ORDER)) {
        if (by_threshold || bounded || q->text[OPT_MODES] || q->text[OPT_BAND] || by_component(q) ||
            (q->given & (OPT(OPT_INACTIVE) | OPT(OPT_SIMPLIFY)))) {
            complain("a number of states (--order) is one way to reduce; thresholds, tolerances, eigenvalues, --by "
                     "component, --inactive and --simplify are others: use one of them");
            return STATUS_USAGE;
        }
        return reduce_by_order(q, target);
    }
    if (q->text[OPT_MODES] || q->text[OPT_BAND]) {
        if (by_threshold || bounded || (q->given & OPT(OPT_REFIT)) || (q->text[OPT_MODES] && q->text[OPT_BAND])) {
            complain("eigenvalues (--modes or --band) are one way to reduce; thresholds, tolerances and --refit are "
                     "others: use one of them");
            return STATUS_USAGE;
        }
        return reduce_by_modes(q, target);
    }
    /* while the text is parsed: one that can be read is likely to be right */
    if (side_by_side_workers() > 1 && access(input, R_OK) == 0)
        codegen_load_ahead();
    status = load_model(q, input, STAGE_PARSE, EXPERIMENT_OPTIONAL, &file);
    if (status == STATUS_DONE) {
        find_experiments(q, file.c.ast, &chosen);
        if (!by_threshold && !bounded && !(q->given & OPT(OPT_INACTIVE)))
            bounded = chosen.n && any_within(file.c.ast, &chosen);
        if (bounded)
            status = check_names(q, &file, &chosen);
        if (status == STATUS_DONE && bounded &&
            (chosen.n == 0 || (!q->text[OPT_WITHIN] && !any_within(file.c.ast, &chosen)))) {
            complain("%s states no tolerance: give --within TOL, or write in an experiment: observe OUTPUT within "
                     "TOL;",
                     file.path);
            status = STATUS_USAGE;
        }
        if (status == STATUS_DONE)
            status = bounded ? reduce_within_tolerances(q, &file, &chosen, target)
                             : reduce_by_threshold(q, &file, target);
    }
    vec_free(&chosen);
    loaded_free(&file);
    return status;
}
