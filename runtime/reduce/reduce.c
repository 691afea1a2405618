/* reduce.c - see reduce.h: reduction by ranking */
#include <math.h>
#include <string.h>

#include "asked.h"
#include "bonds.h"
#include "components.h"
#include "readings.h"
#include "reduce.h"
#include "version.h"
#include "compiled.h"

/* An output that grows by this factor beyond its former size shows that the smaller model is unstable. */
static const double UNSTABLE_TIMES = 1e3;

/* An element to take out: its present reading, and why an earlier one was not accepted. */
struct chosen {
    const char *name;
    span place;
    struct reading reading[READINGS_MOST];
    int n, at;
    const char *refused;
};
typedef VEC(struct chosen) choices;

struct reducer {
    const reduce_options *o;
    reduction *out;
    struct trier trier;
    overrides set;     /* those whose parameters are still there */
    map said;          /* hash of a name -> 1: reported as kept */
    size_t most_steps; /* limit for one run; 0: none */
    bool only_compile; /* only compile the texts: most failures show there, and early */
};

size_t
reduction_steps(uint64_t steps)
{
    enum { TIMES = 10, AT_LEAST = 20000 };

    return steps * TIMES > AT_LEAST ? (size_t)(steps * TIMES) : AT_LEAST;
}

void
reduction_note_end(struct reduction *r, const char *experiment, const struct version *a, const struct version *b,
                   size_t k)
{
    reduce_end e = { .experiment = arena_strdup(r->arena, experiment ? experiment : "") };

    if (version_ends(a, b, k, e.at))
        vec_push(&r->end, e);
}

void
reduce_error_measure(reduce_error *e, track_difference t)
{
    double tolerance = isnan(e->within) ? SHARE_WITHOUT_TOLERANCE * t.reference : e->within;

    e->max = t.max;
    e->rms = t.rms;
    e->avasim = tolerance > 0 ? 1 - t.mean / tolerance : t.mean == 0 ? 1 : NAN;
}

void
reduction_note_error(reduction *r, const char *experiment, const flat_output *y, double within, track_difference t)
{
    const char *shown = unit_shown(y->unit, y->display);
    reduce_error e = { .experiment = arena_strdup(r->arena, experiment),
                       .output = arena_strdup(r->arena, y->name),
                       .unit = shown ? arena_strdup(r->arena, shown) : NULL,
                       .shown = y->display ? unit_scale(y->display) : 1,
                       .within = within };

    reduce_error_measure(&e, t);
    vec_push(&r->error, e);
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
        vec_push(&r->operation, ((reduce_operation){ .kind = REWRITE_WITHOUT,
                                                     .name = arena_strndup(r->arena, x->text + from, n - from),
                                                     .line = line,
                                                     .round = (int)r->rounds.n + 1 }));
    }
    map_free(&named);
}

const char *
reduction_said(arena *a, const sources *s, const rewrite_item *item)
{
    const char *text;
    size_t n;

    if ((item->kind != REWRITE_INITIAL && item->kind != REWRITE_LET && item->kind != REWRITE_EXPECT) ||
        !span_known(item->at))
        return NULL;
    text = source_text(s, item->at.file) + item->at.begin;
    for (n = item->at.end - item->at.begin; n && strchr("; \t\r\n", text[n - 1]);)
        n--;
    return arena_strndup(a, text, n);
}

/* Records all outputs, and activity. */
static void
prepare_ranking(void *of, struct version *v, size_t i, sim_options *so)
{
    const struct reducer *d = of;

    v->outputs[i].n = model_noutputs(v->c[i].model);
    so->activity = true;
    if (d->most_steps)
        so->max_steps = d->most_steps;
}

/* The factors of each element's power, or NULL. */
static factor *
run_factors(const struct reducer *d, const struct version *v)
{
    factor *at = bg_calloc(v->c->flat->element.n + 1, sizeof *at);

    if (predict_factors(&v->c->model, 1, 1, d->o->adjust, d->o->ctx, at))
        return at;
    free(at);
    return NULL;
}

static void
add_choice(const struct reducer *d, const flat_model *f, const flat_element *e, const factor *at, choices *out)
{
    struct chosen x = { .name = e->name, .place = rewrite_place(f, e->parent, element_at(e)) };

    if (e->keep || !e->node)
        return;
    x.n = readings_of(f, e, at, d->out->arena, x.reading);
    vec_push(out, x);
}

/* Lists the elements to try, the least important first: those that were named. */
static void
choose_named(const struct reducer *d, const struct version *v, const factor *at, choices *out)
{
    const flat_model *f = v->c->flat;
    map named = { 0 };
    ranking r;

    for (size_t i = 0; i < d->o->nonly; i++)
        map_set(&named, bg_hash_bytes(d->o->only[i], strlen(d->o->only[i]), 0), 1);
    ranking_make(v->c->model, v->run, d->o->metric, &r);
    for (size_t i = r.row.n; i-- > 0;) {
        const flat_element *e = &f->element.at[r.row.at[i].element];

        if (!r.row.at[i].source && map_get(&named, bg_hash_bytes(e->name, strlen(e->name), 0)) != MAP_NONE)
            add_choice(d, f, e, at ? &at[r.row.at[i].element] : NULL, out);
    }
    ranking_free(&r);
    map_free(&named);
}

/* Ranks a version: from its run, or by component, which needs another run. False: that fails. */
static bool
rank_version(const struct reducer *d, const struct version *v, ranking *out)
{
    measure_options mo = { .metrics = METRIC(d->o->metric), .components = true };
    sim_options so = { 0 };
    sim_result r = { 0 };
    measure *q = NULL;
    bool fine;

    if (!d->o->components) {
        ranking_make(v->c->model, v->run, d->o->metric, out);
        return true;
    }
    memset(out, 0, sizeof *out);
    fine = sim_options_from_experiment(v->c->model, &so);
    if (fine && d->o->adjust)
        d->o->adjust(d->o->ctx, v->c->model, &so);
    fine = fine && (q = measure_new(v->c->model, &mo, &so)) && simulate(v->c->model, &so, &r) &&
           measure_ranking(q, &r, d->o->metric, out);
    measure_free(q);
    sim_options_free(&so);
    sim_result_free(&r);
    return fine;
}

/* Adds the component of a row of a ranking by component, if it is one and may go. False: the row is an element. */
static bool
add_component(const component_list *list, const uint32_t *of, const metric_row *row, choices *out)
{
    const component *x = of[row->element] == NONE ? NULL : &list->at[of[row->element]];
    struct chosen c = { .n = 1 };

    if (!x)
        return false;
    c.name = x->name;
    c.place = x->at;
    c.reading[0] = (struct reading){ .kind = REWRITE_ELEMENT };
    if (!x->keep)
        vec_push(out, c);
    return true;
}

/* Lists the elements to try, the least important first: those below the leading set that reaches the threshold. */
static void
choose_elements(const struct reducer *d, const struct version *v, const factor *at, choices *out)
{
    const flat_model *f = v->c->flat;
    component_list list = { 0 };
    uint32_t *of = d->o->components ? components_find(v->c, &list) : NULL;
    ranking r;
    bool ranked = rank_version(d, v, &r);

    if (ranked)
        ranking_decide(&r, d->o->threshold);
    for (size_t i = r.row.n; i-- > 0 && ranked;) {
        const metric_row *row = &r.row.at[i];

        if (row->decision != DECISION_GOES && row->decision != DECISION_KEPT)
            continue;
        if (!of || !add_component(&list, of, row, out))
            add_choice(d, f, &f->element.at[row->element], at ? &at[row->element] : NULL, out);
    }
    ranking_free(&r);
    vec_free(&list);
    free(of);
}

/* Are all bonds at the junction negligible? Then the junction needs not be held at zero. */
static bool
junction_goes(const flat_model *f, const bond_measure *m, uint32_t junction)
{
    const flat_junction *j = &f->junction.at[junction];

    for (uint32_t i = j->inc0; i < j->inc0 + j->ninc; i++) {
        const flat_incidence *x = &f->incidence.at[i];

        if (!((x->is_bond ? m->from[x->index] : m->port[x->index]) < m->limit))
            return false;
    }
    return true;
}

/* Lists the bonds and elements to try, the least important first: those negligible at their junctions. */
static void
choose_bonds(const struct reducer *d, const struct version *v, const factor *at, choices *out)
{
    double limit = d->o->metric == METRIC_REAPER ? nextafter(1 - d->o->threshold, 2) : d->o->threshold;
    const flat_model *f = v->c->flat;
    recording r = { .path = d->trier.path,
                    .text = v->text,
                    .length = v->length,
                    .experiment = d->o->experiment,
                    .set = d->set.at,
                    .nset = d->set.n,
                    .adjust = d->o->adjust,
                    .ctx = d->o->ctx,
                    .shared = d->trier.shared };
    bond_measure m;
    bond_candidates list = { 0 };

    if (bonds_measure(f, &r, 1, d->o->metric, limit, &m))
        bonds_find(v->c, &m, d->out->arena, &list);
    bonds_sort(&list);
    for (size_t i = 0; i < list.n; i++) {
        bond_candidate *kept = arena_new_array(d->out->arena, bond_candidate, 1);
        struct chosen x = { .name = list.at[i].name, .place = list.at[i].at };

        *kept = list.at[i];
        if (kept->element != NONE)
            x.place = rewrite_place(f, f->element.at[kept->element].parent, kept->at);
        x.n = bonds_readings(kept, d->o->metric, d->out->arena, x.reading);
        /* the share tells that the element has little power, its factors tell why */
        if (x.n && at && kept->element != NONE && !is_two_port(&f->element.at[kept->element]) &&
            !junction_goes(f, &m, f->port.at[f->element.at[kept->element].port0].junction))
            x.n = readings_of(f, &f->element.at[kept->element], &at[kept->element], d->out->arena, x.reading);
        if (x.n)
            vec_push(out, x);
    }
    vec_free(&list);
    bond_measure_free(&m);
}

/* Plans without the initial values that contradict the remaining model. */
static bool
plan_choices(const struct version *v, const choices *x, const rewrite_changes *initial, rewrite *plan)
{
    asked_list a = { 0 };

    for (size_t i = x->n; i-- > 0;) /* the most important first */
        asked_add(&a, x->at[i].name, &x->at[i].reading[x->at[i].at]);
    asked_add_changes(&a, initial->at, initial->n);
    return asked_plan(&a, v->c, plan);
}

static int
line_in_given(const struct reducer *d, const struct version *first, span at)
{
    int line = 0, unused;

    if (span_known(at))
        source_place(first->c->sources, first->c->ast->file, (uint32_t)reduction_origin(d->out, at.begin), &line,
                     &unused);
    return line;
}

static void
note_kept(struct reducer *d, const char *name, const char *why, int line)
{
    reduction *r = d->out;
    uint64_t key = bg_hash_bytes(name, strlen(name), 0);

    if (map_get(&d->said, key) != MAP_NONE) /* in an earlier round */
        return;
    map_set(&d->said, key, 1);
    vec_push(&r->kept,
             ((reduce_kept){ arena_strdup(r->arena, name), arena_strdup(r->arena, why), line, (int)r->rounds.n + 1 }));
}

static const char *
why_done(const struct reducer *d, const choices *x, const rewrite_item *item)
{
    if (item->kind != REWRITE_ELEMENT && item->kind != REWRITE_CLAMP && !item->bond)
        return NULL;
    for (size_t i = 0; i < x->n; i++) {
        const struct chosen *c = &x->at[i];
        const char *why = c->reading[c->at].why;

        if (c->name == item->name)
            return !c->refused ? why : why ? arena_format(d->out->arena, "%s; %s", why, c->refused) : c->refused;
    }
    return NULL;
}

/* Why the smaller model is unstable, or NULL. It is compared with the present text and not with the first one:
 * otherwise reducing the result again could end differently. */
static const char *
unstable(const struct reducer *d, const struct version *now, const struct version *v)
{
    for (size_t k = 0; k < now->outputs->n && k < v->outputs->n; k++) {
        double before = track_compare(now->outputs, k, NULL, 0).max, after = track_compare(v->outputs, k, NULL, 0).max;

        if (before > 0 && after > UNSTABLE_TIMES * before)
            return arena_format(d->out->arena, "in this way \"%s\" grows to %.2g times its size",
                                flat_output_at(now->c->flat, (uint32_t)k)->name, after / before);
    }
    return NULL;
}

/* Like try_choices, without the initial values in `initial`. True: further contradicting values were found, and another
 * try may succeed. */
static bool
try_unstated_choices(struct reducer *d, const struct version *v, const choices *x, rewrite_changes *initial,
                     struct trial *t)
{
    bool more;

    *t = (struct trial){ 0 };
    if (!plan_choices(v, x, initial, &t->plan)) {
        t->internal = bg_strdup(t->plan.error);
        return false;
    }
    if (d->only_compile) {
        trial_compile(&d->trier, v, &d->set, t);
        return false;
    }
    more = trial_run(&d->trier, v, &d->set, initial, t);
    if (t->v.run && !t->failure)
        t->failure = unstable(d, v, &t->v);
    if (t->v.run && !t->failure)
        trial_check(&d->trier, v, &d->set, t);
    return more;
}

/* Takes the choices out of version v, then compiles and (if asked for) runs the rest. A plan without edits succeeds. */
static void
try_choices(struct reducer *d, const struct version *v, const choices *x, struct trial *t)
{
    rewrite_changes initial = { 0 };

    while (try_unstated_choices(d, v, x, &initial, t))
        trial_free(&d->trier, t);
    vec_free(&initial);
}

/* Does the plan keep the element because a remaining part needs it? */
static bool
is_blocked(const rewrite *plan, const char *name)
{
    for (size_t i = 0; i < plan->blocked.n; i++)
        if (plan->blocked.at[i].element == name)
            return true;
    return false;
}

/* Takes out as many of the choices as possible, the least important first, in batches; a batch that fails is halved
 * down to a single choice, which gets its other reading or stays. *taken: those that went; *left: the others with the
 * reasons; *best: the trial of *taken. False: an internal error. */
static bool
take_most(struct reducer *d, const struct version *v, const choices *x, size_t batch, choices *taken, choices *left,
          struct trial *best)
{
    for (size_t i = 0; i < x->n;) {
        size_t n = batch < x->n - i ? batch : x->n - i, before = taken->n;
        struct chosen *alone = &x->at[i];
        struct trial t;

        for (size_t k = 0; k < n; k++)
            vec_push(taken, x->at[i + k]);
        try_choices(d, v, taken, &t);
        if (t.internal || !t.failure) {
            trial_free(&d->trier, best);
            *best = t;
            if (t.internal)
                return false;
            i += n;
            batch *= 2;
            continue;
        }
        taken->n = before;
        batch = (n + 1) / 2;
        if (n == 1) {
            const char *kind = rewrite_kind_name(alone->reading[alone->at].kind);

            if (!is_blocked(&t.plan, alone->name) && alone->at + 1 < alone->n) {
                alone->refused = arena_format(d->out->arena, "%s: %s", kind, t.failure);
                alone->at++;
            } else {
                alone->refused = alone->refused
                                     ? arena_format(d->out->arena, "%s; %s: %s", alone->refused, kind, t.failure)
                                     : t.failure;
                vec_push(left, *alone);
                i++;
            }
        }
        trial_free(&d->trier, &t);
    }
    return true;
}

/* The same for all choices. Where they fail at once because the text does not compile, those that compile together are
 * found first, without runs; of the others, some may still fit beside those that run. */
static bool
take_choices(struct reducer *d, const struct version *v, choices *x, choices *taken, choices *left, struct trial *best)
{
    choices fit = { 0 }, other = { 0 };
    bool fine;

    try_choices(d, v, x, best);
    if (best->internal || !best->failure) {
        for (size_t i = 0; i < x->n; i++)
            vec_push(taken, x->at[i]);
        return !best->internal;
    }
    d->only_compile = best->v.c && !best->v.c[best->at].model;
    trial_free(&d->trier, best);
    if (d->only_compile) {
        fine = take_most(d, v, x, (x->n + 1) / 2, &fit, &other, best);
        d->only_compile = false;
        trial_free(&d->trier, best);
        fine = fine && take_most(d, v, &fit, fit.n, taken, left, best);
        for (size_t i = 0; i < other.n && left->n; i++) {
            other.at[i].at = 0;
            other.at[i].refused = NULL;
        }
        if (fine && left->n)
            fine = take_most(d, v, &other, other.n, taken, left, best);
        else
            for (size_t i = 0; i < other.n; i++)
                vec_push(left, other.at[i]);
    } else {
        fine = take_most(d, v, x, (x->n + 1) / 2, taken, left, best);
    }
    vec_free(&fit);
    vec_free(&other);
    return fine;
}

enum round { ROUND_CHANGED, ROUND_NOTHING, ROUND_INTERNAL };

/* One round on version v. If it changed something, *next is the new version and the plan's operations are recorded. */
static enum round
do_ranked_round(struct reducer *d, const struct version *first, const struct version *v, struct version *next,
                char **why)
{
    reduction *r = d->out;
    factor *at = metric_ranks(d->o->metric) ? run_factors(d, v) : NULL;
    choices all = { 0 }, taken = { 0 }, left = { 0 };
    struct trial best = { 0 };
    enum round result = ROUND_NOTHING;

    d->most_steps = reduction_steps(v->run->steps);
    if (d->o->nonly)
        choose_named(d, v, at, &all);
    else if (metric_is_integral(d->o->metric))
        choose_elements(d, v, at, &all);
    else
        choose_bonds(d, v, at, &all);
    if (all.n && !take_choices(d, v, &all, &taken, &left, &best)) {
        *why = best.internal;
        best.internal = NULL;
        result = ROUND_INTERNAL;
    } else {
        for (size_t i = 0; i < left.n; i++)
            note_kept(d, left.at[i].name, left.at[i].refused, line_in_given(d, first, left.at[i].place));
        for (size_t i = 0; i < best.plan.blocked.n; i++)
            note_kept(d, best.plan.blocked.at[i].element, best.plan.blocked.at[i].why,
                      line_in_given(d, first, best.plan.blocked.at[i].reader));
    }
    if (result == ROUND_NOTHING && best.plan.edits.list.n) {
        for (size_t i = 0; i < best.plan.item.n; i++) {
            const rewrite_item *x = &best.plan.item.at[i];
            const char *said = reduction_said(r->arena, v->c->sources, x);

            vec_push(&r->operation, ((reduce_operation){ .kind = x->kind,
                                                         .name = arena_strdup(r->arena, x->name),
                                                         .line = line_in_given(d, first, x->at),
                                                         .round = (int)r->rounds.n + 1,
                                                         .why = said ? said : why_done(d, &taken, x) }));
        }
        reduction_name_edits(r, first->c->sources, first->c->ast->file, &best.plan.edits);
        vec_push(&r->rounds, best.plan.edits);
        best.plan.edits = (edits){ 0 };
        *next = best.v;
        best.v = (struct version){ 0 };
        d->set.n = 0;
        for (size_t i = 0; i < best.set.n; i++)
            vec_push(&d->set, best.set.at[i]);
        result = ROUND_CHANGED;
    }
    trial_free(&d->trier, &best);
    vec_free(&all);
    vec_free(&taken);
    vec_free(&left);
    free(at);
    return result;
}

static void
measure_output(reduction *r, const struct version *a, const struct version *b, uint32_t k, inst within)
{
    const char *experiment = a->c->flat->experiment.name;

    reduction_note_error(r, experiment ? experiment : "", flat_output_at(a->c->flat, k),
                         inst_known(within) ? model_value(a->c->model, within) : NAN,
                         track_compare(a->outputs, k, b->outputs, k));
}

/* Errors of the observed outputs, or of all where none are observed. */
static void
measure_errors(reduction *r, const struct version *a, const struct version *b)
{
    const flat_model *f = a->c->flat;

    for (size_t i = 0; i < f->experiment.observe.n; i++)
        measure_output(r, a, b, f->experiment.observe.at[i].output, f->experiment.observe.at[i].within);
    for (uint32_t i = 0; i < f->output.n && f->experiment.observe.n == 0; i++)
        measure_output(r, a, b, i, INST_NONE);
    reduction_note_end(r, a->c->flat->experiment.name, a, b, 0);
}

/* The share of the given model's measure that the remaining elements (or components) have, without sources. A clamped
 * element is a source. NAN: it was not measured. */
static double
kept_share(const struct reducer *d, const struct version *first, const struct version *now)
{
    map left = { 0 };
    ranking r;
    double kept = 0, total = 0;

    for (size_t i = 0; i < now->c->flat->element.n; i++)
        if (!is_source(&now->c->flat->element.at[i]))
            map_set(&left, bg_hash_bytes(now->c->flat->element.at[i].name, strlen(now->c->flat->element.at[i].name), 0),
                    1);
    for (size_t i = 0; i < now->c->flat->origin.n && d->o->components; i++) {
        const char *name = now->c->flat->origin.at[i].name;

        if (name)
            map_set(&left, bg_hash_bytes(name, strlen(name), 0), 1);
    }
    if (!rank_version(d, first, &r))
        total = kept = NAN;
    for (size_t i = r.row.n; i-- > 0;) {
        const metric_row *x = &r.row.at[i];

        total += x->source ? 0 : x->value;
        kept += !x->source && map_get(&left, bg_hash_bytes(x->name, strlen(x->name), 0)) != MAP_NONE ? x->value : 0;
    }
    ranking_free(&r);
    map_free(&left);
    return total <= 0 ? 1 : kept / total;
}

enum reduce_result
reduce(compilation *c, const reduce_options *o, reduction *out, char **why)
{
    compile_shared *shared = compile_shared_new(c->units);
    struct reducer d = { .o = o, .out = out };
    struct version first = { .c = c,
                             .lent = true,
                             .text = source_text(c->sources, c->ast->file),
                             .length = source_length(c->sources, c->ast->file) };
    struct version last = { 0 };
    const struct version *now = &first;
    enum reduce_result result = REDUCE_DONE;
    enum round step = ROUND_CHANGED;
    size_t at;

    memset(out, 0, sizeof *out);
    *why = NULL;
    out->arena = arena_new();
    out->model = arena_strdup(out->arena, c->flat->name);
    for (size_t i = 0; i < o->nset; i++)
        vec_push(&d.set, o->set[i]);
    d.trier = (struct trier){ .path = source_path(c->sources, c->ast->file),
                              .experiment = &o->experiment,
                              .n = 1,
                              .shared = shared,
                              .arena = out->arena,
                              .adjust = o->adjust,
                              .ctx = o->ctx,
                              .prepare = prepare_ranking,
                              .of = &d };
    if (version_run(&d.trier, &first, &d.set, &at)) {
        version_free(&d.trier, &first);
        vec_free(&d.set);
        compile_shared_free(shared);
        return REDUCE_FAILED;
    }
    for (size_t round = 0; step == ROUND_CHANGED && round < (o->rounds ? o->rounds : 1); round++) {
        struct version next = { 0 };

        step = do_ranked_round(&d, &first, now, &next, why);
        if (step == ROUND_CHANGED) {
            version_free(&d.trier, &last);
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
    out->steps_before = first.run->steps;
    out->steps_after = now->run->steps;
    out->evaluations_before = first.run->rhs_evaluations;
    out->evaluations_after = now->run->rhs_evaluations;
    out->kept_share = metric_is_integral(o->metric) ? kept_share(&d, &first, now) : NAN;
    measure_errors(out, &first, now);
    version_free(&d.trier, &last);
    version_free(&d.trier, &first);
    vec_free(&d.set);
    map_free(&d.said);
    compile_shared_free(shared);
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
    vec_free(&r->not_tried);
    vec_free(&r->error);
    vec_free(&r->end);
    vec_free(&r->line);
    free(r->text);
    arena_free(r->arena);
    memset(r, 0, sizeof *r);
}
