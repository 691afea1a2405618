/* partition.c - see partition.h */
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "partition_inside.h"

static const double SHOWS = 1e-3; /* of an output's size: a greater difference is reported where nothing was cut */

void
partition_run_failed(void *ctx, const sources *s)
{
    struct worker *d = ctx;

    d->o->failed(d->o->ctx, s);
    d->failed = true;
}

static bool
compile_run(struct worker *d, const recording *r, enum compile_stage upto, compilation *c)
{
    compile_options co = recording_options(r);

    if (compile_text(c, r->path, r->text, r->length, upto, &co))
        return true;
    partition_run_failed(d, c->sources);
    return false;
}

static void
set_text(struct worker *d, const char *text, size_t length)
{
    for (size_t i = 0; i < d->o->nruns; i++) {
        d->run[i].text = text;
        d->run[i].length = length;
    }
}

enum partition_result
partition_usage(struct worker *d, char *why)
{
    d->out->why = why;
    return PARTITION_USAGE;
}

/* ---------------------------------------------------------------- models of the text */

static enum partition_result
compile_models(struct worker *d, local_models *models)
{
    partitioning *p = d->out;
    const char *other = NULL;

    if (!compile_run(d, &d->run[0], STAGE_GRAPH, &p->graph) || !compile_run(d, &d->run[0], STAGE_CAUSALITY, &p->causal))
        return PARTITION_FAILED;
    switch (local_compile(p->graph.flat, d->run, d->o->nruns, partition_run_failed, d, models, &other)) {
    case LOCAL_DONE: break;
    case LOCAL_FAILED: return PARTITION_FAILED;
    case LOCAL_OTHER_GRAPH:
        return partition_usage(d, bg_format("experiment %s gives the model another graph than %s (its sizes differ): "
                                            "partition them separately",
                                            other, d->run[0].experiment));
    }
    return PARTITION_DONE;
}

static void
worker_free(struct worker *d)
{
    runs_free(d->as_given);
    free(d->freeze);
    free(d->run);
    free(d->given);
    free(d->written);
    free(d->text);
    portable_free(&d->portable);
}

/* Writes the values of --set into the text: from here on texts must run without a command line. */
static void
say_overrides(struct worker *d)
{
    size_t length;

    d->given = text_with_overrides(d->run, d->o->nruns, d->out->graph.flat, &length);
    if (!d->given)
        return;
    set_text(d, d->given, length);
    for (size_t i = 0; i < d->o->nruns; i++)
        d->run[i].nset = 0;
}

/* ---------------------------------------------------------------- freezes */

/* Why the signal v with this reader does not cross between two subgraphs. free() it. */
static char *
not_between(const flat_model *f, const subgraphs *s, const freeze *z, var_id v)
{
    bool reads = false;

    for (size_t i = 0; i < s->crossing.n && !reads; i++)
        reads = s->crossing.at[i].var == subgraphs_original(f, s, v);
    if (s->subgraph.n < 2)
        return bg_format("%s cannot be frozen: in these experiments the model is one piece, which --threshold decides",
                         z->name);
    if (reads)
        return bg_format(
            "%s does not read %s from another subgraph; others do: without @%s it is frozen in all of them", z->reader,
            z->name, z->reader);
    return bg_format("%s is read within its own subgraph only: there is nothing to freeze in %s", z->name, z->reader);
}

/* Is this crossing the requested signal, with the requested reader? */
static bool
is_meant(const crossing *x, const signal_freeze *z)
{
    return x->var == z->var && (!z->reader || !strcmp(z->reader, x->reader));
}

/* Why a requested signal cannot be frozen: it crosses between no two subgraphs, or has no such reader. free() it. */
static char *
cannot_freeze(const struct worker *d, const subgraphs *s, size_t k)
{
    const freeze *z = &d->o->freeze[k];
    const flat_model *f = d->out->graph.flat;
    VEC(const char *) list = { 0 };
    const char *near;
    char *why;

    for (size_t i = 0; i < s->crossing.n; i++) {
        if (is_meant(&s->crossing.at[i], &d->freeze[k])) {
            vec_free(&list);
            return bg_format("%s is a signal made by conditioning, not one that was there before: change --threshold "
                             "instead",
                             z->name);
        }
        vec_push(&list, s->crossing.at[i].name);
    }
    near = nearest_name(z->name, list.at, list.n);
    vec_free(&list);
    if (d->freeze[k].var != VAR_NONE && z->reader)
        why = not_between(f, s, z, d->freeze[k].var);
    else
        why = bg_format("no signal %s goes from one subgraph to another%s%s%s", z->name, near ? "; did you mean " : "",
                        near ? near : "", near ? "?" : "");
    return why;
}

/* Resolves the requests: each must name a signal between two subgraphs, or a variable from which such a signal is
 * computed, and its readers. */
static enum partition_result
find_freezes(struct worker *d)
{
    const flat_model *f = d->out->graph.flat;
    enum partition_result result = PARTITION_DONE;
    subgraphs s;
    text_names known;

    subgraphs_find(f, &d->out->plan, NULL, 0, d->a, &s);
    text_names_make(f, &known);
    d->freeze = bg_calloc(d->o->nfreezes + 1, sizeof *d->freeze);
    for (size_t k = 0; k < d->o->nfreezes; k++) {
        var_id v = text_variable(&known, d->o->freeze[k].name);

        d->freeze[k] = (signal_freeze){ v == VAR_NONE ? v : subgraphs_original(f, &s, v), d->o->freeze[k].reader };
    }
    subgraphs_free(&s);
    subgraphs_find(f, &d->out->plan, d->freeze, d->o->nfreezes, d->a, &s);
    for (size_t k = 0; k < d->o->nfreezes && result == PARTITION_DONE; k++) {
        bool there = false;

        for (size_t i = 0; i < s.frozen.n; i++)
            there |= is_meant(&s.frozen.at[i], &d->freeze[k]);
        for (size_t i = 0; i < s.crossing.n; i++)
            there |= is_meant(&s.crossing.at[i], &d->freeze[k]) && s.crossing.at[i].link == LINK_NONE &&
                     s.crossing.at[i].element != LINK_NONE;
        if (!there)
            result = partition_usage(d, cannot_freeze(d, &s, k));
    }
    text_names_free(&known);
    subgraphs_free(&s);
    return result;
}

static void
find_subgraphs(struct worker *d)
{
    partitioning *p = d->out;

    subgraphs_free(&p->subgraphs);
    subgraphs_find(p->graph.flat, &p->plan, d->freeze, d->o->nfreezes, d->a, &p->subgraphs);
    p->one_piece = one_piece(p->graph.flat, &p->plan, &p->subgraphs, d->a);
    p->next = next_to_part(p->graph.flat, &p->plan, &p->next_ratio);
}

/* Makes the text with the requested signals frozen. */
static enum partition_result
freeze_signals(struct worker *d)
{
    const subgraphs *s = &d->out->subgraphs;
    double *value = bg_calloc(d->o->nfreezes + 1, sizeof *value);
    enum partition_result result = PARTITION_DONE;
    frozen_list list = { 0 };

    for (size_t k = 0; k < d->o->nfreezes && result == PARTITION_DONE; k++) {
        const char *name = var_name(d->out->graph.flat, d->freeze[k].var);

        value[k] = d->o->freeze[k].mean ? freeze_mean(d->o->run, d->o->nruns, name) : d->o->freeze[k].value;
        if (isnan(value[k]))
            result = partition_usage(d,
                                     bg_format("the mean of %s is not available: no experiment can record it", name));
    }
    for (size_t i = 0; i < s->frozen.n; i++) {
        const crossing *x = &s->frozen.at[i];

        vec_push(&d->out->frozen, ((frozen){ x->name, x->reader, value[x->freeze - 1] }));
        vec_push(&list, ((frozen){ d->written ? written_name(d->a, x->name) : x->name,
                                   d->written ? written_name(d->a, x->reader) : x->reader, value[x->freeze - 1] }));
    }
    if (result == PARTITION_DONE && list.n) {
        compilation c = { 0 };
        char *text = NULL, *why = NULL;
        size_t length = 0;

        if (!compile_run(d, &d->run[0], STAGE_GRAPH, &c))
            result = PARTITION_FAILED;
        else if (!freeze_text(&c, list.at, list.n, &text, &length, &why))
            result = partition_usage(d, why);
        compile_free(&c);
        if (text) {
            d->text = text;
            set_text(d, text, length);
        }
    }
    vec_free(&list);
    free(value);
    return result;
}

/* ---------------------------------------------------------------- the conditioned text */

/* What a link is called in the text that is written out. */
static uint64_t
link_key(arena *a, const flat_model *f, const link *x, bool rename)
{
    const char *called[3] = { x->name, junction_label(f, x->end[0], x->port[0]),
                              junction_label(f, x->end[1], x->port[1]) };
    uint64_t key = x->bond == LINK_NONE;

    for (int k = 0; k < 3; k++) {
        const char *name = rename ? written_name(a, called[k]) : called[k];

        key = bg_hash_bytes(name, strlen(name), key);
    }
    return key;
}

/* Makes the plan for the current text from that of the model; links are matched by name where the text was written out.
 * back: carries refusals back to the model's plan instead. */
static void
carry(struct worker *d, const flat_model *f, link_plan *to, bool back)
{
    link_plan *from = &d->out->plan;
    map at = { 0 };

    for (size_t i = 0; i < to->link.n; i++)
        map_set(&at, link_key(d->a, f, &to->link.at[i], true), (uint32_t)i);
    for (size_t i = 0; i < from->link.n; i++) {
        link *x = &from->link.at[i];
        uint32_t k = map_get(&at, link_key(d->a, d->out->graph.flat, x, true));
        link *y = k == MAP_NONE ? NULL : &to->link.at[k];

        if (!back && y) {
            y->fate = x->left ? LINK_STAYS : x->fate;
            y->refused = x->refused;
        } else if (back && !x->left && x->fate != LINK_STAYS && (!y || y->fate == LINK_STAYS)) {
            x->fate = LINK_STAYS;
            x->refused = y ? y->refused : "the text cannot say it";
            from->conditioned--;
            from->refused++;
        }
    }
    to->conditioned = to->refused = 0;
    for (size_t i = 0; i < to->link.n; i++) {
        to->conditioned += to->link.at[i].fate != LINK_STAYS;
        to->refused += to->link.at[i].refused != NULL;
    }
    map_free(&at);
}

/* Is the error of an output greater than the output itself? Then the conditioned model says nothing about it. */
static bool
says_nothing(const run_errors *e)
{
    for (size_t i = 0; i < e->n; i++)
        if (!e->at[i].state && e->at[i].size > 0 && !(e->at[i].rms <= e->at[i].size))
            return true;
    return false;
}

/* Sets `left` of links that act in one direction within one partition: cutting them gains nothing, because their
 * subgraphs are simulated together anyway. Returns their number. */
static size_t
leave_inner(struct worker *d, bool left)
{
    partitioning *p = d->out;
    size_t n = 0;

    for (size_t i = 0; i < p->plan.link.n; i++) {
        link *x = &p->plan.link.at[i];
        uint32_t a = p->subgraphs.subgraph.at[p->subgraphs.of_junction[x->end[0]]].partition;
        uint32_t b = p->subgraphs.subgraph.at[p->subgraphs.of_junction[x->end[1]]].partition;
        bool inner = (x->fate == LINK_TO_HEAD || x->fate == LINK_TO_TAIL) && a == b;

        x->left = inner && left;
        n += inner;
    }
    return n;
}

/* Makes the text with the links of the plan cut, and measures its errors. */
static enum partition_result
cut(struct worker *d, const recording *from, bool at_once, char **text, size_t *length)
{
    partitioning *p = d->out;
    enum partition_result result = PARTITION_DONE;
    compilation c = { 0 };
    link_plan plan = { 0 };
    char *why = NULL;

    *text = NULL;
    if (!compile_run(d, from, STAGE_CAUSALITY, &c)) {
        result = PARTITION_FAILED;
    } else {
        plan_make(c.flat, c.causal, NULL, 0, d->a, &plan);
        carry(d, c.flat, &plan, false);
        if (!condition_text(&c, from, d->o->nruns, &plan, at_once, d->a, text, length, &why)) {
            p->why = why;
            result = PARTITION_INTERNAL;
        } else {
            carry(d, c.flat, &plan, true);
        }
    }
    plan_free(&plan);
    compile_free(&c);
    return result;
}

static enum partition_result
cost(struct worker *d)
{
    run_errors *e = &d->out->error;

    e->n = 0;
    return compare_runs(d->o->run, d->run, d->o->nruns, d->written ? written_name : NULL, d->a, partition_run_failed, d,
                        e)
               ? PARTITION_DONE
               : PARTITION_FAILED;
}

static enum partition_result
take_apart(struct worker *d, char *text, size_t length)
{
    if (text) {
        free(d->text);
        d->text = text;
        set_text(d, text, length);
    }
    return d->run->text == d->o->run->text ? PARTITION_DONE : cost(d);
}

/* Are the differences between the runs so large that they have to be reported although nothing was cut? A text that is
 * written out may start from another of several solutions. */
static bool
shows(const run_errors *e)
{
    for (size_t i = 0; i < e->n; i++)
        if (e->at[i].rms > SHOWS * e->at[i].size)
            return true;
    return false;
}

/* Cuts all links of the plan; if that text does not run or says nothing about an output, cuts only the links between
 * different partitions and those that are cut altogether. */
static enum partition_result
condition_links(struct worker *d)
{
    partitioning *p = d->out;
    recording *from = bg_calloc(d->o->nruns, sizeof *from);
    enum partition_result result = PARTITION_DONE;
    char *text = NULL, *frozen_text = d->text;
    size_t length = 0, before = p->plan.conditioned, inner = leave_inner(d, false);

    memcpy(from, d->run, d->o->nruns * sizeof *from);
    d->text = NULL; /* keeps the text for a second try */
    if (inner) {
        result = cut(d, from, true, &text, &length);
        if (result == PARTITION_DONE && text)
            result = take_apart(d, text, length);
        if (result == PARTITION_DONE && (!text || says_nothing(&p->error))) {
            free(d->text);
            d->text = text = NULL;
            memcpy(d->run, from, d->o->nruns * sizeof *from);
            leave_inner(d, true);
        }
    }
    if (result == PARTITION_DONE && before && !text) {
        result = cut(d, from, false, &text, &length);
        if (result == PARTITION_DONE && p->plan.conditioned != before)
            find_subgraphs(d);
    }
    if (result == PARTITION_DONE && (text != d->text || !text))
        result = take_apart(d, text, length);
    if (!d->text)
        d->text = frozen_text;
    else
        free(frozen_text);
    p->changed = d->text != NULL || shows(&p->error);
    free(from);
    return result;
}

/* Writes out a text that makes parts by components, loops or conditions, so that each part stands in it once. */
static enum partition_result
write_out_whole(struct worker *d)
{
    char *why = NULL;
    size_t length;

    if ((!d->out->plan.conditioned && !d->o->nfreezes && !d->o->folder) || is_written_out(&d->out->graph))
        return PARTITION_DONE;
    switch (written_out(d->run, d->o->nruns, d->a, &d->written, &length, &why)) {
    case WRITTEN: break;
    case WRITTEN_APART: return partition_usage(d, why);
    case WRITTEN_NOT: d->out->why = why; return PARTITION_INTERNAL;
    }
    set_text(d, d->written, length);
    return PARTITION_DONE;
}

static struct worker
worker_new(const partition_options *o, partitioning *out)
{
    struct worker d = { .o = o, .out = out, .portable.folder = o->folder };

    if (!out->arena)
        out->arena = arena_new();
    d.a = out->arena;
    d.run = bg_calloc(o->nruns, sizeof *d.run);
    memcpy(d.run, o->run, o->nruns * sizeof *d.run);
    return d;
}

/* Measures ratios, plans which links to cut, and finds the resulting subgraphs. */
static enum partition_result
look_at_ratios(struct worker *d, const local_models *models, const local_setting *set)
{
    partitioning *p = d->out;
    enum partition_result result;

    if (local_measure(models, d->run, set, partition_run_failed, d, &p->local) != LOCAL_DONE)
        return PARTITION_FAILED;
    plan_make(p->causal.flat, p->causal.causal, &p->local, d->o->limit, d->a, &p->plan);
    result = find_freezes(d);
    if (result == PARTITION_DONE)
        find_subgraphs(d);
    return result;
}

enum partition_result
partition_compile(const partition_options *o, partitioning *out, local_models *models)
{
    enum partition_result result;

    *out = (partitioning){ 0 };
    *models = (local_models){ 0 };
    struct worker d = worker_new(o, out);
    result = compile_models(&d, models);
    worker_free(&d);
    return result;
}

enum partition_result
partition_look(const partition_options *o, const partitioning *of, const local_models *models, const local_setting *set,
               partitioning *out)
{
    enum partition_result result;

    *out = (partitioning){ .graph = of->graph, .causal = of->causal };
    struct worker d = worker_new(o, out);
    result = look_at_ratios(&d, models, set);
    memset(&out->graph, 0, sizeof out->graph);
    memset(&out->causal, 0, sizeof out->causal);
    worker_free(&d);
    return result;
}

enum partition_result
partition_find(const partition_options *o, partitioning *out)
{
    local_models models = { 0 };
    enum partition_result result;

    *out = (partitioning){ .mora = o->mora, .regimes = o->nregimes > 0 };
    struct worker d = worker_new(o, out);
    result = compile_models(&d, &models);
    if (result == PARTITION_DONE)
        result = look_at_ratios(&d, &models, NULL);
    local_models_free(&models);
    if (result == PARTITION_DONE) {
        say_overrides(&d);
        result = write_out_whole(&d);
    }
    if (result == PARTITION_DONE)
        result = freeze_signals(&d);
    if (result == PARTITION_DONE)
        result = condition_links(&d);
    if (result == PARTITION_DONE && o->folder)
        result = partition_write_folder(&d);
    if (result == PARTITION_DONE && out->parts.part.n)
        result = partition_run_folder(&d);
    if (result == PARTITION_DONE)
        result = partition_compare(&d);
    worker_free(&d);
    return result;
}

partition_report
partition_report_of(const partitioning *p)
{
    return (partition_report){ .model = p->graph.flat->name,
                               .f = p->graph.flat,
                               .local = &p->local,
                               .plan = &p->plan,
                               .subgraphs = &p->subgraphs,
                               .one_piece = p->one_piece,
                               .next = p->next,
                               .next_ratio = p->next_ratio,
                               .error = &p->error,
                               .parts = &p->parts,
                               .runs = &p->runs,
                               .table = &p->table,
                               .inactive = &p->inactive,
                               .all_inactive = &p->all_inactive,
                               .of_whole = &p->of_whole,
                               .kept = &p->kept,
                               .less_whole = &p->less_whole,
                               .less_parts = &p->less_parts,
                               .mora = p->mora,
                               .regimes = p->regimes,
                               .frozen = &p->frozen,
                               .conditioned = p->changed };
}

void
partitioning_free(partitioning *p)
{
    subgraphs_free(&p->subgraphs);
    plan_free(&p->plan);
    local_free(&p->local);
    parts_free(&p->parts);
    vec_free(&p->error);
    vec_free(&p->less_whole.error);
    vec_free(&p->less_whole.stay.name);
    vec_free(&p->less_parts.error);
    vec_free(&p->less_parts.stay.name);
    vec_free(&p->all_inactive.name);
    vec_free(&p->of_whole.name);
    vec_free(&p->kept);
    vec_free(&p->share);
    vec_free(&p->runs);
    vec_free(&p->table);
    vec_free(&p->frozen);
    for (size_t i = 0; i < p->inactive.n; i++)
        vec_free(&p->inactive.at[i].name);
    vec_free(&p->inactive);
    compile_free(&p->graph);
    compile_free(&p->causal);
    free(p->why);
    arena_free(p->arena);
    memset(p, 0, sizeof *p);
}
