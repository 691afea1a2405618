/* reduce_report.c - the report of bgc reduce, as JSON and for people */
#include <math.h>
#include <string.h>

#include "reduce.h"
#include "reduce_command.h"
#include "report.h"

static void
write_trials(json *j, const reduction *r)
{
    json_key(j, "tried");
    json_open(j, '[');
    for (size_t i = 0; i < r->trial.n; i++) {
        const reduce_trial *t = &r->trial.at[i];

        json_open(j, '{');
        json_key(j, "round"), json_number(j, t->round);
        json_key(j, "what"), json_string(j, t->names);
        json_key(j, "count"), json_count(j, t->n);
        json_key(j, "accepted"), json_bool(j, t->accepted);
        json_key(j, "error_over_tolerance"), json_number(j, t->worst);
        json_key(j, "why"), json_string(j, t->why);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_key(j, "simulations"), json_count(j, r->simulations);
    json_key(j, "sets"), json_count(j, r->sets);
}

static void
not_tried_json(json *j, const reduction *r)
{
    json_key(j, "not_tried"), json_open(j, '[');
    for (size_t i = 0; i < r->not_tried.n; i++)
        json_string(j, r->not_tried.at[i]);
    json_close(j, ']');
}

void
reduction_write_json(const reduction *r, bool bounded, const order_report *of, const struct passive_word *passive,
                     FILE *out)
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
        json_key(&j, "why"), json_string(&j, r->operation.at[i].why);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    if (bounded)
        write_trials(&j, r);
    not_tried_json(&j, r);
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
    json_key(&j, "steps_before"), json_count(&j, r->steps_before);
    json_key(&j, "steps_after"), json_count(&j, r->steps_after);
    json_key(&j, "evaluations_before"), json_count(&j, r->evaluations_before);
    json_key(&j, "evaluations_after"), json_count(&j, r->evaluations_after);
    if (!isnan(r->kept_share))
        json_key(&j, "kept_share"), json_number(&j, r->kept_share);
    json_key(&j, "errors");
    json_open(&j, '[');
    for (size_t i = 0; i < r->error.n; i++) {
        const reduce_error *e = &r->error.at[i];

        json_open(&j, '{');
        json_key(&j, "experiment"), json_string(&j, e->experiment);
        json_key(&j, "output"), json_string(&j, e->output);
        json_key(&j, "within"), json_number(&j, e->within);
        json_key(&j, "max"), json_number(&j, e->max);
        json_key(&j, "rms"), json_number(&j, e->rms);
        json_key(&j, "avasim"), json_number(&j, e->avasim);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_key(&j, "ends");
    json_open(&j, '[');
    for (size_t i = 0; i < r->end.n; i++) {
        json_open(&j, '{');
        json_key(&j, "experiment"), json_string(&j, r->end.at[i].experiment);
        json_key(&j, "given"), json_number(&j, r->end.at[i].at[0]);
        json_key(&j, "reduced"), json_number(&j, r->end.at[i].at[1]);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    if (of)
        order_write_json(&j, of);
    if (r->line.n)
        lines_write_json(&j, r);
    passive_json(&j, passive);
    json_close(&j, '}');
}

enum { NAMES_SHOWN = 12 };
/* A smaller model with this many times the steps is called slower. */
static const double SLOWER_TIMES = 2;

static void
put_names_json(FILE *out, const reduction *r, enum rewrite_kind kind, const char *head)
{
    size_t n = 0;

    for (size_t i = 0; i < r->operation.n; i++)
        if (r->operation.at[i].kind == kind && n++ < NAMES_SHOWN)
            put_text(out, "%s%s", n == 1 ? head : ", ", r->operation.at[i].name);
    if (n > NAMES_SHOWN)
        put_text(out, " and %zu more", n - NAMES_SHOWN);
    if (n)
        fputc('\n', out);
}

/* The cost of a run, and the share of the ranked measure that the remaining parts have. */
static void
put_cost(FILE *out, const reduction *r)
{
    double more = r->steps_before ? (double)r->steps_after / (double)r->steps_before : 1;

    if (r->steps_before + r->steps_after == 0) /* a reduction by eigenvalues runs nothing */
        return;
    put_text(out, "  %llu steps and %llu evaluations instead of %llu and %llu%s\n", (unsigned long long)r->steps_after,
             (unsigned long long)r->evaluations_after, (unsigned long long)r->steps_before,
             (unsigned long long)r->evaluations_before,
             more > SLOWER_TIMES ? ": smaller but slower, since the reduced model is stiff; `solver = bdf` may do "
                                   "better"
                                 : "");
    if (!isnan(r->kept_share))
        put_text(out, "  the remaining elements have %.4g %% of the activity, sources not counted\n",
                 100 * r->kept_share);
}

/* The reading used for each part, and its factor. */
static void
put_reasons(FILE *out, const reduction *r)
{
    for (size_t i = 0; i < r->operation.n; i++) {
        const reduce_operation *x = &r->operation.at[i];

        if (x->why)
            put_text(out, "  %-9s %s: %s (line %d)\n", rewrite_kind_name(x->kind), x->name, x->why, x->line);
    }
}

/* What was searched and how, so that a reader knows what may have been missed. */
static void
put_search(FILE *out, const reduction *r, bool verbose)
{
    put_text(out, "%zu trials, %zu simulations%s\n", r->trial.n, r->simulations,
             verbose ? "" : "; -v shows all of them");
    if (r->sets)
        put_text(out,
                 "looked for the fewest states, then the fewest elements, then the fewest terms; %zu sets of parts "
                 "were tried together\n",
                 r->sets);
}

static void
put_not_tried(FILE *out, const reduction *r)
{
    for (size_t i = 0; i < r->not_tried.n && i < NAMES_SHOWN; i++)
        put_text(out, "  not tried: %s\n", r->not_tried.at[i]);
    if (r->not_tried.n > NAMES_SHOWN)
        put_text(out, "  not tried: %zu more of their kind\n", r->not_tried.n - NAMES_SHOWN);
}

static void
put_trials(FILE *out, const reduction *r)
{
    int round = 0;

    for (size_t i = 0; i < r->trial.n; i++) {
        const reduce_trial *t = &r->trial.at[i];

        if (t->round != round)
            put_text(out, "  round %d\n", round = t->round);
        if (t->accepted)
            put_text(out, "    goes   %s: %.3g of the tolerance\n", t->names, t->worst);
        else
            put_text(out, "    stays  %s: %s\n", t->names, t->why);
    }
}

void
reduction_report(const reduction *r, bool bounded, const order_report *of, const struct passive_word *passive,
                 bool verbose, FILE *out)
{
    table t = { .columns = bounded ? 7 : 5, .left = bounded ? 2 : 1 };

    if (r->rounds.n == 0) {
        put_text(out, "%s: nothing to take out\n", r->model);
    } else {
        /* sources that replace bonds are new elements */
        put_text(out,
                 r->elements_after > r->elements_before
                     ? "%s: %zu elements instead of %zu, %zu states instead of %zu, after %zu round%s\n"
                     : "%s: %zu of %zu elements and %zu of %zu states stay, after %zu round%s\n",
                 r->model, r->elements_after, r->elements_before, r->states_after, r->states_before, r->rounds.n,
                 r->rounds.n == 1 ? "" : "s");
        put_cost(out, r);
        put_names_json(out, r, REWRITE_ELEMENT, "  taken out          ");
        put_names_json(out, r, REWRITE_DROP_BOND, "  bond taken out     ");
        put_names_json(out, r, REWRITE_CONDITION, "  acts one way       ");
        put_names_json(out, r, REWRITE_JUNCTION, "  left dangling      ");
        put_names_json(out, r, REWRITE_TWO_PORT, "  into nothing       ");
        put_names_json(out, r, REWRITE_VALUE, "  not read any more  ");
        put_names_json(out, r, REWRITE_MOVE, "  declared elsewhere ");
        put_names_json(out, r, REWRITE_LET, "  let gone           ");
        put_names_json(out, r, REWRITE_EXPECT, "  no longer expected ");
        put_names_json(out, r, REWRITE_INITIAL, "  initial value gone ");
        put_names_json(out, r, REWRITE_CLAMP, "  clamped            ");
        put_names_json(out, r, REWRITE_TERM_DELETE, "  term deleted       ");
        put_names_json(out, r, REWRITE_TERM_MEAN, "  term by its mean   ");
        put_names_json(out, r, REWRITE_FOLD, "  folded             ");
        put_names_json(out, r, REWRITE_REFIT, "  refitted           ");
        put_reasons(out, r);
        passive_put(passive, out);
    }
    if (bounded)
        put_search(out, r, verbose);
    put_not_tried(out, r);
    if (bounded && verbose)
        put_trials(out, r);
    for (size_t i = 0; i < r->kept.n && i < NAMES_SHOWN && !(bounded && verbose); i++)
        if (r->kept.at[i].line)
            put_text(out, "  %s stays: %s (line %d)\n", r->kept.at[i].name, r->kept.at[i].why, r->kept.at[i].line);
        else
            put_text(out, "  %s stays: %s\n", r->kept.at[i].name, r->kept.at[i].why);
    if (r->kept.n > NAMES_SHOWN && !(bounded && verbose))
        put_text(out, "  %zu more stay\n", r->kept.n - NAMES_SHOWN);
    if (of)
        order_put(of, out);
    if (r->error.n == 0 || r->rounds.n == 0)
        return;
    if (bounded)
        table_put(&t, "experiment");
    table_put(&t, "output");
    table_put(&t, "maximum error");
    table_put(&t, "rms error");
    table_put(&t, "within");
    if (bounded)
        table_put(&t, "left");
    table_put(&t, "performance index");
    for (size_t i = 0; i < r->error.n; i++) {
        const reduce_error *e = &r->error.at[i];

        if (bounded)
            table_put(&t, "%s", e->experiment);
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
        if (bounded && isnan(e->within))
            table_put(&t, "-");
        else if (bounded)
            table_put(&t, "%.4g", (e->within - e->max) / e->shown);
        if (isnan(e->avasim))
            table_put(&t, "-");
        else
            table_put(&t, "%.4f", e->avasim);
    }
    if (bounded)
        fputs("errors against the given model\n", out);
    else
        put_text(out, "errors over experiment %s\n", r->error.at[0].experiment);
    for (size_t i = 0; i < r->end.n; i++)
        put_text(out, "  %s ends at %.6g s, the given model at %.6g s; the common span is compared\n",
                 r->end.at[i].experiment, r->end.at[i].at[1], r->end.at[i].at[0]);
    table_print(&t, out, "  ");
}
