/* reduce.c - a smaller model that behaves alike, as edits of the source text */
#include <math.h>
#include <string.h>

#include "columns.h"
#include "readings.h"
#include "reduce.h"

static const double SHARE_WITHOUT_TOLERANCE = 0.01;      /* performance index of outputs without `within`: 1 % of their mean size */
/* An output that grows so many times beyond what it was says that the smaller model is unstable. */
static const double UNSTABLE_TIMES = 1e3;
/* With more ports, what their variables are is not looked at: elements are dropped first, clamped where that does not do. */
enum { FACTORS_MOST_PORTS = 2000 };

/* A text, what was compiled from it and how it ran. The first is the caller's. */
struct version {
    compilation *c;
    bool own;
    const char *text; size_t length;
    sim_result run;
};

/* What is to be done with an element: the reading at hand, and why an earlier one was not it. */
struct chosen { const char *name; uint32_t element; struct reading reading[READINGS_MOST]; int n, at; const char *refused; };
typedef VEC(struct chosen) choices;

struct reducer {
    const reduce_options *o;
    reduction *out;
    const char *path;
    VEC(struct elaborate_override) set;      /* those whose parameters are still there */
    map turn;                                /* interned name -> reading to try in this round, beyond the last: put back */
    VEC(const char *) refused;               /* why the first readings were refused */
    map refused_at;                          /* interned name -> index of it */
    map said;                                /* hash of a name -> 1: reported as kept */
};

struct trajectory_error
trajectory_compare(const double *a, size_t stride_a, const double *b, size_t stride_b, size_t n)
{
    struct trajectory_error e = { 0 };
    double square = 0;

    for (size_t i = 0; i < n; i++) {
        double d = fabs(a[i * stride_a] - b[i * stride_b]);

        if (!(d <= e.max))
            e.max = d;                       /* NaN stays */
        square += d * d;
        e.mean += d;
        e.reference += fabs(a[i * stride_a]);
    }
    if (n) {
        e.rms = sqrt(square / (double)n);
        e.mean /= (double)n;
        e.reference /= (double)n;
    }
    return e;
}

size_t
reduction_origin(void *ctx, size_t at)
{
    const reduction *r = ctx;

    for (size_t i = r->rounds.n; i-- > 0;)
        at = edits_origin(&r->rounds.at[i], at);
    return at;
}

void
reduction_name_edits(reduction *r, const sources *given, uint32_t file, const edits *e)
{
    map named = { 0 };

    for (size_t i = 0; i < r->operation.n; i++)
        map_set(&named, (uint64_t)r->operation.at[i].line, 1);
    for (size_t i = 0; i < e->list.n; i++) {
        const edit *x = &e->list.at[i];
        size_t from = 0, n = x->n;
        int line, unused;

        source_place(given, file, (uint32_t)reduction_origin(r, x->begin), &line, &unused);
        if (n == 0 || map_get(&named, (uint64_t)line) != MAP_NONE)
            continue;
        map_set(&named, (uint64_t)line, 1);
        while (from < n && strchr(" \t\r\n,", x->text[from]))
            from++;
        while (n > from && strchr(" \t\r\n;", x->text[n - 1]))
            n--;
        vec_push(&r->operation, ((reduce_operation){ .kind = REWRITE_WITHOUT, .name = arena_strndup(r->arena, x->text + from, n - from), .line = line,
                                                     .round = (int)r->rounds.n + 1 }));
    }
    map_free(&named);
}

const char *
reduction_said(arena *a, const sources *s, const rewrite_item *item)
{
    const char *text;
    size_t n;

    if ((item->kind != REWRITE_INITIAL && item->kind != REWRITE_LET) || !span_known(item->at))
        return NULL;
    text = source_text(s, item->at.file) + item->at.begin;
    for (n = item->at.end - item->at.begin; n && strchr("; \t\r\n", text[n - 1]);)
        n--;
    return arena_strndup(a, text, n);
}

static void
version_free(struct version *v)
{
    sim_result_free(&v->run);
    if (v->own && v->c) {
        compile_free(v->c);
        free(v->c);
    }
    v->c = NULL;
}

static bool
run(const struct reducer *d, struct version *v)
{
    sim_options o = { 0 };
    bool fine;

    if (!sim_options_from_experiment(v->c->model, &o))
        return false;
    o.points = REDUCE_POINTS;
    o.outputs = true;
    o.activity = true;
    if (d->o->adjust)
        d->o->adjust(d->o->ctx, v->c->model, &o);
    fine = simulate(v->c->model, &o, &v->run);
    sim_options_free(&o);
    return fine;
}

static struct compile_options
options(const struct reducer *d)
{
    return (struct compile_options){ .experiment = d->o->experiment, .set = d->set.at, .nset = d->set.n };
}

/* How small the factors of each element's power are, or NULL. */
static factor *
find_factors(const struct reducer *d, const struct version *v)
{
    const flat_model *f = v->c->flat;
    recording r = { .path = d->path, .text = v->text, .length = v->length, .experiment = d->o->experiment, .set = d->set.at, .nset = d->set.n,
                    .adjust = d->o->adjust, .ctx = d->o->ctx };
    factor *at = f->port.n <= FACTORS_MOST_PORTS ? bg_calloc(f->element.n + 1, sizeof *at) : NULL;

    if (at && !predict_factors(f, &r, 1, at)) {
        free(at);
        at = NULL;
    }
    return at;
}

/* Elements to try, the most important first: those behind the leading set that the threshold asks for. */
static void
choose(struct reducer *d, const struct version *v, const factor *at, choices *out)
{
    const flat_model *f = v->c->flat;
    ranking r;
    double total = 0, rest;

    ranking_make(f, &v->run, d->o->metric, &r);
    for (size_t i = r.row.n; i-- > 0;)
        total += r.row.at[i].source ? 0 : r.row.at[i].value;
    rest = 0;
    /* from the small end: what may go together stays within the share that the threshold leaves */
    for (size_t i = r.row.n; i-- > 0 && total > 0;) {
        const metric_row *row = &r.row.at[i];
        const flat_element *e = &f->element.at[row->element];
        struct chosen x = { .name = e->name, .element = row->element };
        uint32_t turn = map_get(&d->turn, map_ptr_key(e->name)), refused = map_get(&d->refused_at, map_ptr_key(e->name));

        if (row->source)
            continue;
        rest += row->value;
        if (rest > (1 - d->o->threshold) * total)
            break;
        if (e->keep || !e->node)
            continue;
        x.n = readings_of(f, e, at ? &at[row->element] : NULL, d->out->arena, x.reading);
        x.at = turn == MAP_NONE ? 0 : (int)turn;
        x.refused = refused == MAP_NONE ? NULL : d->refused.at[refused];
        if (x.at < x.n)
            vec_push(out, x);
    }
    for (size_t i = 0; i < out->n / 2; i++) {
        struct chosen x = out->at[i];

        out->at[i] = out->at[out->n - 1 - i];
        out->at[out->n - 1 - i] = x;
    }
    ranking_free(&r);
}

static bool
make_plan(const struct version *v, const choices *x, rewrite *plan)
{
    const char **name = bg_calloc(x->n + 1, sizeof *name);
    rewrite_change *change = bg_calloc(x->n + 1, sizeof *change);
    size_t nnames = 0, nchanges = 0;
    bool fine;

    for (size_t i = 0; i < x->n; i++) {
        if (x->at[i].reading[x->at[i].at].kind == REWRITE_CLAMP)
            change[nchanges++] = (rewrite_change){ .kind = REWRITE_CLAMP, .owner = x->at[i].name, .name = x->at[i].name };
        else
            name[nnames++] = x->at[i].name;
    }
    fine = rewrite_plan_model(v->c->flat, v->c->ast, name, nnames, change, nchanges, plan);
    free(name);
    free(change);
    return fine;
}

static int
line_of(const struct reducer *d, const struct version *first, span at)
{
    int line = 0, unused;

    if (span_known(at))
        source_place(first->c->sources, first->c->ast->file, (uint32_t)reduction_origin(d->out, at.begin), &line, &unused);
    return line;
}

static void
keep(struct reducer *d, const char *name, const char *why, int line)
{
    reduction *r = d->out;
    uint64_t key = bg_hash_bytes(name, strlen(name), 0);

    if (map_get(&d->said, key) != MAP_NONE)          /* in an earlier round */
        return;
    map_set(&d->said, key, 1);
    vec_push(&r->kept, ((reduce_kept){ arena_strdup(r->arena, name), arena_strdup(r->arena, why), line, (int)r->rounds.n + 1 }));
}

/* The graph of the new text must be the old one's without what the plan takes out. */
static char *
check_graph(const struct reducer *d, const struct version *v, const rewrite *plan, const char *text, size_t n)
{
    struct compile_options o = options(d);
    compilation a = { 0 }, b = { 0 };
    char *why = NULL;

    if (!compile_text(&a, d->path, v->text, v->length, STAGE_GRAPH, &o)) {
        why = bg_strdup("the text before the reduction cannot be read again");
    } else if (!compile_text(&b, d->path, text, n, STAGE_GRAPH, &o)) {
        const diagnostic *x = NULL;

        for (size_t i = 0; i < diag_count(b.sources) && !x; i++)
            if (diag_at(b.sources, i)->severity == SEV_ERROR)
                x = diag_at(b.sources, i);
        why = bg_format("the reduced text has an error: %s", x ? x->message : "unknown");
    } else {
        rewrite_check(a.flat, plan, b.flat, &why);
    }
    compile_free(&a);
    compile_free(&b);
    return why;
}

/* --set of a parameter that went has nothing to set any more. */
static void
forget_overrides(struct reducer *d, const rewrite *plan)
{
    size_t n = 0;
    map went = { 0 };

    for (size_t i = 0; i < plan->item.n && d->set.n; i++)
        if (plan->item.at[i].kind == REWRITE_VALUE)
            map_set(&went, bg_hash_bytes(plan->item.at[i].name, strlen(plan->item.at[i].name), 0), 1);
    for (size_t i = 0; i < d->set.n; i++)
        if (map_get(&went, bg_hash_bytes(d->set.at[i].name, strlen(d->set.at[i].name), 0)) == MAP_NONE)
            d->set.at[n++] = d->set.at[i];
    d->set.n = n;
    map_free(&went);
}

/* Of the n most important that the plan changes: reads them in another way, or puts them back. */
static void
turn_to_next(struct reducer *d, const struct version *first, const rewrite *plan, const choices *x, size_t n, const char *why)
{
    map goes = { 0 };

    for (size_t i = 0; i < plan->item.n; i++)
        if (plan->item.at[i].kind == REWRITE_ELEMENT || plan->item.at[i].kind == REWRITE_CLAMP)
            map_set(&goes, map_ptr_key(plan->item.at[i].name), (uint32_t)i);
    for (size_t i = 0; i < x->n && n; i++) {
        const struct chosen *c = &x->at[i];
        uint32_t k = map_get(&goes, map_ptr_key(c->name));

        if (k == MAP_NONE)
            continue;
        map_set(&d->turn, map_ptr_key(c->name), (uint32_t)c->at + 1);
        if (c->at + 1 == c->n) {
            keep(d, c->name, why, line_of(d, first, plan->item.at[k].at));
        } else {
            map_set(&d->refused_at, map_ptr_key(c->name), (uint32_t)d->refused.n);
            vec_push(&d->refused, arena_format(d->out->arena, "%s: %s", rewrite_kind_name(c->reading[c->at].kind), why));
        }
        n--;
    }
    map_free(&goes);
}

static const char *
why_done(const struct reducer *d, const choices *x, const rewrite_item *item)
{
    if (item->kind != REWRITE_ELEMENT && item->kind != REWRITE_CLAMP)
        return NULL;
    for (size_t i = 0; i < x->n; i++) {
        const struct chosen *c = &x->at[i];
        const char *why = c->reading[c->at].why;

        if (c->name == item->name)
            return !c->refused ? why : why ? arena_format(d->out->arena, "%s; %s", why, c->refused) : c->refused;
    }
    return NULL;
}

/* Why the smaller model is no stable one, or NULL. */
static const char *
unstable(const struct reducer *d, const struct version *first, const struct version *v)
{
    size_t n = model_noutputs(first->c->model), m = model_noutputs(v->c->model);

    for (size_t k = 0; k < n && k < m; k++) {
        double before = 0, after = 0;

        for (size_t i = 0; i < first->run.points; i++)
            before = fmax(before, fabs(first->run.output[i * n + k]));
        for (size_t i = 0; i < v->run.points; i++)
            after = fmax(after, fabs(v->run.output[i * m + k]));
        if (before > 0 && after > UNSTABLE_TIMES * before)
            return arena_format(d->out->arena, "with it so \"%s\" grows to %.2g times what it was", model_output(first->c->flat, (uint32_t)k)->name, after / before);
    }
    return NULL;
}

enum round { ROUND_CHANGED, ROUND_NOTHING, ROUND_INTERNAL };

/* One round on version v. Changed: *next is the new version and the plan's operations are recorded. */
static enum round
do_round(struct reducer *d, const struct version *first, const struct version *v, struct version *next, char **why)
{
    reduction *r = d->out;
    factor *at = find_factors(d, v);

    map_free(&d->turn);
    map_free(&d->refused_at);
    for (size_t back = 1;; back *= 2) {
        choices chosen = { 0 };
        rewrite plan;
        strbuf text = { 0 };
        struct compile_options o;
        VEC(struct elaborate_override) before = { 0 };
        const char *failure = NULL;
        enum round result = ROUND_CHANGED;

        choose(d, v, at, &chosen);
        if (!make_plan(v, &chosen, &plan)) {
            *why = bg_strdup(plan.error);
            result = ROUND_INTERNAL;
        }
        for (size_t i = 0; i < plan.blocked.n; i++)
            keep(d, plan.blocked.at[i].element, plan.blocked.at[i].why, line_of(d, first, plan.blocked.at[i].reader));
        if (result == ROUND_CHANGED && plan.edits.list.n == 0)
            result = ROUND_NOTHING;
        if (result != ROUND_CHANGED) {
            rewrite_free(&plan);
            vec_free(&chosen);
            free(at);
            return result;
        }
        edits_apply(&plan.edits, v->text, v->length, &text);
        if (!text.at)
            strbuf_puts(&text, "");
        for (size_t i = 0; i < d->set.n; i++)
            vec_push(&before, d->set.at[i]);
        forget_overrides(d, &plan);
        *why = check_graph(d, v, &plan, text.at, text.n);
        if (!*why) {
            *next = (struct version){ .c = bg_calloc(1, sizeof *next->c), .own = true };
            o = options(d);
            if (!compile_text(next->c, d->path, text.at, text.n, STAGE_MODEL, &o))
                failure = "the equations are singular or contradict each other";
            else if (!run(d, next))
                failure = "the run fails";
            else
                failure = unstable(d, first, next);
        }
        if (!*why && !failure) {
            next->text = arena_strndup(r->arena, text.at, text.n);
            next->length = text.n;
            for (size_t i = 0; i < plan.item.n; i++) {
                const rewrite_item *x = &plan.item.at[i];
                const char *said = reduction_said(r->arena, v->c->sources, x);

                vec_push(&r->operation, ((reduce_operation){ .kind = x->kind, .name = arena_strdup(r->arena, x->name), .line = line_of(d, first, x->at),
                                                             .round = (int)r->rounds.n + 1, .why = said ? said : why_done(d, &chosen, x) }));
            }
            reduction_name_edits(r, first->c->sources, first->c->ast->file, &plan.edits);
            vec_push(&r->rounds, plan.edits);
            plan.edits = (edits){ 0 };
        } else {
            if (!*why) {
                turn_to_next(d, first, &plan, &chosen, back, failure);
                version_free(next);
            }
            d->set.n = 0;
            for (size_t i = 0; i < before.n; i++)
                vec_push(&d->set, before.at[i]);
        }
        vec_free(&before);
        rewrite_free(&plan);
        strbuf_free(&text);
        vec_free(&chosen);
        if (*why || !failure) {
            free(at);
            return *why ? ROUND_INTERNAL : ROUND_CHANGED;
        }
    }
}

static void
measure_output(reduction *r, const struct version *a, const struct version *b, uint32_t k, inst within)
{
    const flat_output *x = model_output(a->c->flat, k);
    size_t n = a->run.points < b->run.points ? a->run.points : b->run.points;
    struct trajectory_error t = trajectory_compare(a->run.output + k, model_noutputs(a->c->model), b->run.output + k, model_noutputs(b->c->model), n);
    const char *shown = unit_shown(x->unit, x->display);
    reduce_error e = { .experiment = arena_strdup(r->arena, a->c->flat->experiment.name ? a->c->flat->experiment.name : ""),
                       .output = arena_strdup(r->arena, x->name), .unit = shown ? arena_strdup(r->arena, shown) : NULL,
                       .shown = x->display ? unit_scale(x->display) : 1, .max = t.max, .rms = t.rms, .within = NAN };
    double tolerance;

    if (inst_known(within))
        e.within = model_value(a->c->model, within);
    tolerance = inst_known(within) ? e.within : SHARE_WITHOUT_TOLERANCE * t.reference;
    e.avasim = tolerance > 0 ? 1 - t.mean / tolerance : t.mean == 0 ? 1 : NAN;
    vec_push(&r->error, e);
}

/* The observed outputs, or all where none are observed. */
static void
measure_errors(reduction *r, const struct version *a, const struct version *b)
{
    const flat_model *f = a->c->flat;

    for (size_t i = 0; i < f->experiment.observe.n; i++)
        measure_output(r, a, b, f->experiment.observe.at[i].output, f->experiment.observe.at[i].within);
    for (uint32_t i = 0; i < f->output.n && f->experiment.observe.n == 0; i++)
        measure_output(r, a, b, i, INST_NONE);
}

enum reduce_result
reduce(compilation *c, const reduce_options *o, reduction *out, char **why)
{
    struct reducer d = { .o = o, .out = out, .path = source_path(c->sources, c->ast->file) };
    struct version first = { .c = c, .text = source_text(c->sources, c->ast->file), .length = source_length(c->sources, c->ast->file) };
    struct version last = { 0 };
    const struct version *now = &first;
    enum reduce_result result = REDUCE_DONE;
    enum round step = ROUND_CHANGED;

    memset(out, 0, sizeof *out);
    *why = NULL;
    out->arena = arena_new();
    out->model = arena_strdup(out->arena, c->flat->name);
    for (size_t i = 0; i < o->nset; i++)
        vec_push(&d.set, o->set[i]);
    if (!run(&d, &first)) {
        sim_result_free(&first.run);
        vec_free(&d.set);
        return REDUCE_FAILED;
    }
    while (step == ROUND_CHANGED) {
        struct version next = { 0 };

        step = do_round(&d, &first, now, &next, why);
        if (step == ROUND_CHANGED) {
            version_free(&last);
            last = next;
            now = &last;
        }
    }
    if (step == ROUND_INTERNAL)
        result = REDUCE_INTERNAL;
    out->text = bg_malloc(now->length + 1);
    memcpy(out->text, now->text, now->length);
    out->text[now->length] = '\0';
    out->length = now->length;
    out->states_before = model_nstates(first.c->model);
    out->states_after = model_nstates(now->c->model);
    out->elements_before = first.c->flat->element.n;
    out->elements_after = now->c->flat->element.n;
    out->cpu_before = first.run.cpu_seconds;
    out->cpu_after = now->run.cpu_seconds;
    measure_errors(out, &first, now);
    version_free(&last);
    sim_result_free(&first.run);
    vec_free(&d.set);
    map_free(&d.turn);
    map_free(&d.refused_at);
    vec_free(&d.refused);
    map_free(&d.said);
    return result;
}

void
reduction_free(reduction *r)
{
    for (size_t i = 0; i < r->rounds.n; i++)
        edits_free(&r->rounds.at[i]);
    vec_free(&r->rounds);
    vec_free(&r->operation);
    vec_free(&r->kept);
    vec_free(&r->trial);
    vec_free(&r->error);
    free(r->text);
    arena_free(r->arena);
    memset(r, 0, sizeof *r);
}
