/* bounded.c - search for the smallest model whose observed outputs stay within their tolerances
 *
 * A round works on one text: its candidates, in the order of their predicted errors, are taken out in batches; what was
 * accepted together gives the next text. Elements come before bonds, and bonds before terms, because an element saves
 * more than a term: a kind is tried only where nothing of the kinds before it can go.
 */
#include <math.h>
#include <string.h>

#include "bounded_inside.h"
#include "code_store.h"
#include "in_image.h"
#include "unwritten.h"
#include "compiled.h"

/* ---------------------------------------------------------------- tolerances */

static double
greatest(const struct version *v, const struct bound *x)
{
    return track_compare(&v->outputs[x->experiment], x->slot, NULL, 0).max;
}

/* Has the output the dimension of that unit? Without a unit any output has. */
static bool
is_of_unit(const compilation *c, const flat_output *y, const char *written)
{
    const char *why;
    const unit *u = written ? unit_parse(c->units, written, &why) : NULL;

    return !written || (u && (y->unit ? unit_dimension(u) == unit_dimension(y->unit) : unit_is_number(u)));
}

/* The requested tolerance, else the one that the experiment states. */
static double
tolerance(const struct search *d, const struct version *v, const struct bound *x)
{
    const compilation *c = &v->c[x->experiment];
    const flat_output *y = &c->flat->output.at[x->output];

    if (d->o->within == WITHIN_SHARE)
        return d->o->tolerance * greatest(v, x);
    return d->o->within == WITHIN_VALUE && is_of_unit(c, y, d->o->unit) ? d->o->tolerance : x->stated;
}

/* Checks that a tolerance in a unit applies to some output, and that there is any tolerance. */
static char *
check_tolerances(const struct search *d)
{
    bool of_unit = d->o->within != WITHIN_VALUE, held = false;

    for (size_t i = 0; i < d->bound.n; i++) {
        const compilation *c = &d->first.c[d->bound.at[i].experiment];

        held |= d->bound.at[i].tolerance < INFINITY;
        of_unit = of_unit || is_of_unit(c, &c->flat->output.at[d->bound.at[i].output], d->o->unit);
    }
    if (!of_unit)
        return bg_format("no observed output is in [%s]", d->o->unit);
    return held ? NULL : bg_strdup("no output is held to a tolerance");
}

static void
find_bounds(struct search *d)
{
    for (size_t i = 0; i < d->o->nexperiments; i++) {
        const compilation *c = &d->first.c[i];
        const flat_experiment *e = &c->flat->experiment;

        d->most[i] = bg_calloc(d->held[i].n + 1, sizeof **d->most);
        for (size_t k = 0; k < d->held[i].n; k++) {
            struct bound b = { .experiment = i, .output = d->held[i].at[k], .slot = k, .stated = INFINITY };

            if (k < e->observe.n && inst_known(e->observe.at[k].within))
                b.stated = model_value(c->model, e->observe.at[k].within);
            vec_push(&d->bound, b);
        }
    }
    for (size_t i = 0; i < d->bound.n; i++) {
        struct bound *b = &d->bound.at[i];

        b->tolerance = tolerance(d, &d->first, b);
        d->most[b->experiment][b->slot] = WITHIN * b->tolerance;
    }
}

/* ---------------------------------------------------------------- what is said of trials */

static const char *
shown_name(const struct search *d, const struct candidate *x)
{
    enum rewrite_kind k = x->reading[x->chosen].kind;

    return arena_format(d->out->arena, "%s (%s)", x->name, rewrite_kind_name(k));
}

/* Records why a candidate stays, for each of its readings. */
static void
note_refusal(struct search *d, const struct candidate *x, const struct verdict *v)
{
    arena *a = d->out->arena;
    const char *why = x->nreadings > 1
                          ? arena_format(a, "%s: %s", rewrite_kind_name(x->reading[x->chosen].kind), v->why)
                          : v->why;
    reduce_kept *last = d->refused.n ? &d->refused.at[d->refused.n - 1] : NULL;

    if (last && !strcmp(last->name, x->name) && last->line == x->line)
        last->why = arena_format(a, "%s; %s", last->why, why);
    else
        vec_push(&d->refused,
                 ((reduce_kept){ .name = arena_strdup(a, x->name), .why = why, .line = x->line, .round = d->round }));
}

void
bounded_note_trial(struct search *d, struct candidate *const *set, size_t n, const struct verdict *x)
{
    arena *a = d->out->arena;
    reduce_trial t = { .round = d->round,
                       .n = n,
                       .accepted = x->fine,
                       .worst = x->worst,
                       .why = x->fine ? NULL : x->why };

    t.names = n == 1   ? shown_name(d, set[0])
              : n == 2 ? arena_format(a, "%s, %s", shown_name(d, set[0]), shown_name(d, set[1]))
                       : arena_format(a, "%s, %s and %zu more", shown_name(d, set[0]), shown_name(d, set[1]), n - 2);
    vec_push(&d->out->trial, t);
    if (n == 1 && !x->fine)
        note_refusal(d, set[0], x);
}

/* ---------------------------------------------------------------- rounds */

/* Rounds to three digits, so that errors which differ by integration errors alone are equal and the order of
 * declaration decides. */
static double
to_three_digits(double x)
{
    double power = x > 0 && isfinite(x) ? pow(10, floor(log10(x)) - 2) : 0;

    return power > 0 ? round(x / power) * power : x;
}

/* Of a candidate tried alone: is one of its readings accepted? They are tried in order; `chosen` becomes the accepted
 * one, or the last. */
static bool
judge_alone(struct search *d, struct candidate *x, const struct outcome *y, struct order *o, double *worst)
{
    for (x->chosen = 0; x->chosen < x->nreadings; x->chosen++) {
        struct verdict v = { 0 };
        bool fine;

        if (y[x->chosen].refused || y[x->chosen].fine) {
            v = outcome_use(d, &y[x->chosen]);
        } else {
            v = try_set(d, &x, 1, NULL);
            note_verdict(d, &v);
        }
        if (!v.internal)
            bounded_note_trial(d, &x, 1, &v);
        *worst = v.worst;
        vec_push(&o->option, ((struct option){ x, x->chosen, v.ran ? v.worst : INFINITY }));
        fine = v.fine || v.internal;
        verdict_free(d, &v);
        if (fine)
            return !v.internal;
    }
    x->chosen = x->nreadings - 1;
    return false;
}

/* Tries each candidate alone; those that fail are left out of this round. The first batch is what should go together if
 * errors add up. */
static bool
order_by_error(struct search *d, candidates *list, struct order *o)
{
    struct outcome *y = bg_calloc(list->n * READINGS_MOST + 1, sizeof *y);
    struct ahead_trial *trial = bg_calloc(list->n + 1, sizeof *trial);
    struct outcome *of = bg_calloc(list->n + 1, sizeof *of);
    size_t *who = bg_calloc(list->n + 1, sizeof *who);
    struct candidate **alone = bg_calloc(list->n + 1, sizeof *alone);
    int as[READINGS_MOST];
    foretelling *f = foretell_workers(d) > 1 ? foretell_begin(d, list->n, 1, NULL) : NULL;

    for (int reading = 0; reading < READINGS_MOST && f; reading++) {
        size_t n = 0;

        as[reading] = reading;
        for (size_t i = 0; i < list->n; i++)
            if (reading < list->at[i].nreadings &&
                (reading == 0 || y[i * READINGS_MOST + (size_t)reading - 1].refused)) {
                alone[n] = &list->at[i];
                trial[n] = (struct ahead_trial){ &alone[n], &as[reading], 1 };
                who[n++] = i;
            }
        foretell(f, trial, n, of);
        for (size_t k = 0; k < n; k++)
            y[who[k] * READINGS_MOST + (size_t)reading] = of[k];
    }
    if (f)
        foretell_end(f);
    for (size_t i = 0; i < list->n && !d->error; i++) {
        struct candidate *x = &list->at[i];
        double worst = NAN;

        if (judge_alone(d, x, y + i * READINGS_MOST, o, &worst))
            vec_push(&o->at, x);
        x->predicted = to_three_digits(worst);
    }
    free(y);
    free(trial);
    free(of);
    free(who);
    free(alone);
    if (o->at.n)
        qsort(o->at.at, o->at.n, sizeof *o->at.at, bounded_by_prediction);
    o->batch = bounded_fitting(o, 0, 1);
    return !d->error;
}

static void
order_by_prediction(candidates *list, bool predicts, struct order *o)
{
    for (size_t i = 0; i < list->n; i++)
        vec_push(&o->at, &list->at[i]);
    if (o->at.n)
        qsort(o->at.at, o->at.n, sizeof *o->at.at, bounded_by_prediction);
    o->predicts = predicts;
    o->demand = &HASTY;
    o->batch = predicts ? bounded_fitting(o, 0, 1) : 1;
}

void
bounded_refuse_unseen(struct search *d, const struct candidate *x)
{
    vec_push(&d->refused, ((reduce_kept){ .name = arena_strdup(d->out->arena, x->name),
                                          .why = x->reading[0].why,
                                          .line = x->line,
                                          .round = d->round }));
}

static const char *
why_taken(struct candidate *const *taken, size_t n, const rewrite_item *item)
{
    for (size_t i = 0; i < n; i++) {
        const struct reading *r = &taken[i]->reading[taken[i]->chosen];

        if (r->kind == item->kind && !strcmp(r->bond ? r->bond->label : taken[i]->name, item->name))
            return r->why;
    }
    return NULL;
}

/* Trials may take at least as many steps as this version allows, so that reducing the result again, which starts from
 * it, refuses nothing that was accepted. */
static void
allow_steps(struct search *d, const struct version *v)
{
    for (size_t i = 0; i < d->o->nexperiments; i++) {
        size_t most = reduction_steps(v->run[i].steps);

        if (most > d->most_steps[i])
            d->most_steps[i] = most;
    }
}

/* Key of a number that replaced a term, by the name of that term in the next text: "b1: -0.02". */
static uint64_t
mean_key(struct candidate *const *taken, size_t n, const char *name)
{
    size_t head = strcspn(name, ":");
    char *number;
    uint64_t key;
    double mean = 0;

    for (size_t i = 0; i < n; i++)
        if (taken[i]->term != NONE && !strcmp(taken[i]->name, name))
            mean = taken[i]->mean;
    if (!strncmp(name + head, ": -", 3))
        mean = -mean;
    number = bg_format("%.*s: %.9g", (int)head, name, mean);
    key = bg_hash_bytes(number, strlen(number), 0);
    free(number);
    return key;
}

/* An operation as a reader of the given text sees it: where a number that replaced a term is taken out in turn, the
 * term was deleted. True: that is the whole operation. */
static bool
ends_mean(struct search *d, struct candidate *const *taken, size_t n, const rewrite_item *x)
{
    reduction *r = d->out;
    uint32_t at = MAP_NONE;

    if (x->kind == REWRITE_TERM_MEAN)
        map_set(&d->means, mean_key(taken, n, x->name), (uint32_t)r->operation.n);
    else if (x->kind == REWRITE_TERM_DELETE)
        at = map_get(&d->means, bg_hash_bytes(x->name, strlen(x->name), 0));
    if (at == MAP_NONE)
        return false;
    r->operation.at[at].kind = REWRITE_TERM_DELETE;
    r->operation.at[at].why = "its mean first, which errs as little";
    return true;
}

/* Once a round, which includes its intermediate texts: the accepted text has the graph of the present one after the
 * plan's operations. */
static bool
check_accepted(struct search *d, const struct verdict *best)
{
    struct trial t = { .plan = best->plan, .v = best->v };
    bool fine;

    bounded_set_in(d, best, &t.set);
    model_lock(best->v.c[0].model); /* its runs go on */
    fine = trial_check(&d->trier, &d->now, &d->set, &t);
    model_unlock(best->v.c[0].model);
    d->error = t.internal;
    vec_free(&t.set);
    return fine;
}

/* Makes the accepted text the present one. */
static void
commit(struct search *d, struct candidate *const *taken, size_t n, struct verdict *best)
{
    reduction *r = d->out;
    struct elaborate_override *left = bg_calloc(d->set.n + 1, sizeof *left);
    size_t nleft = reduction_remaining(d->set.at, d->set.n, &best->plan, left);

    for (size_t i = 0; i < best->plan.item.n; i++) {
        const rewrite_item *x = &best->plan.item.at[i];

        if (x->kind == REWRITE_CLAMP)
            map_set(&d->clamped, bg_hash_bytes(x->name, strlen(x->name), 0), 1);
        const char *said = reduction_said(r->arena, d->now.c[0].sources, x);

        if (ends_mean(d, taken, n, x))
            continue;
        vec_push(&r->operation, ((reduce_operation){ .kind = x->kind,
                                                     .name = x->name,
                                                     .line = trial_line(d, x->at),
                                                     .round = (int)r->rounds.n + 1,
                                                     .why = said ? said : why_taken(taken, n, x) }));
    }
    reduction_name_edits(r, d->first.c[0].sources, d->first.c[0].ast->file, &best->plan.edits);
    vec_push(&r->rounds, best->plan.edits);
    best->plan.edits = (edits){ 0 };
    for (size_t i = 0; i < nleft; i++)
        d->set.at[i] = left[i];
    d->set.n = nleft;
    free(left);
    if (d->now.c != d->first.c)
        version_free(&d->trier, &d->now);
    d->now = best->v;
    best->v = (struct version){ 0 };
    allow_steps(d, &d->now);
}

/* Looks for a better set of elements than those found in the order of their errors. */
static bool
find_better(struct search *d, const struct order *o, size_t ncandidates, struct candidate **taken, size_t *n,
            struct verdict *best)
{
    if (ncandidates > ALONE_MOST)
        note_not_tried(d, "sets of parts other than those in their order: there are too many parts to try each alone");
    else if (exchange(d, o->option.at, o->option.n, taken, n, best))
        bounded_note_trial(d, taken, *n, best);
    return !d->error;
}

enum step { STEP_CHANGED, STEP_NOTHING, STEP_INTERNAL };
enum subject { OF_ELEMENTS, OF_BONDS, OF_TERMS };

static enum step
do_bounded_round(struct search *d, enum subject what)
{
    candidates list = { 0 };
    struct order o = { .batch = 1 };
    struct verdict best = { 0 };
    struct candidate **taken;
    size_t n = 0;
    bool fine = true, predicts = false;

    d->round++;
    unwritten_begin(d, &d->now, &d->set, 0);
    if (what == OF_TERMS)
        bounded_find_terms(d, &list);
    else if (what == OF_BONDS)
        bounded_find_bonds(d, &list);
    else
        predicts = bounded_find_elements(d, &list);
    for (size_t i = 0; i < list.n; i++)
        list.at[i].number = i;
    if (what == OF_TERMS || list.n > ALONE_MOST)
        order_by_prediction(&list, predicts || (what == OF_TERMS && d->terms.predicts), &o);
    else
        fine = order_by_error(d, &list, &o);
    taken = bg_calloc(list.n + 1, sizeof *taken);
    fine = fine && bounded_take(d, &o, taken, &n, &best) &&
           (what != OF_ELEMENTS || find_better(d, &o, list.n, taken, &n, &best));
    unwritten_end(d);
    together_free(d);
    if (fine && n) {
        trial_record(d, &best.v); /* meanwhile */
        if ((fine = check_accepted(d, &best)))
            commit(d, taken, n, &best);
    }
    verdict_free(d, &best);
    term_candidates_free(&d->terms);
    vec_free(&o.at);
    vec_free(&o.option);
    vec_free(&list);
    free(taken);
    return !fine ? STEP_INTERNAL : n ? STEP_CHANGED : STEP_NOTHING;
}

/* Takes out elements until none can go, then bonds, then terms; after a bond or term was taken out it starts with
 * elements again. */
static bool
search_all(struct search *d)
{
    for (;;) {
        enum step step;

        do {
            d->refused.n = 0;
            step = do_bounded_round(d, OF_ELEMENTS);
        } while (step == STEP_CHANGED);
        if (step == STEP_NOTHING && d->o->bonds)
            step = do_bounded_round(d, OF_BONDS);
        if (step == STEP_NOTHING && d->o->terms)
            step = do_bounded_round(d, OF_TERMS);
        if (step == STEP_INTERNAL)
            return false;
        if (step == STEP_NOTHING)
            break;
    }
    for (size_t i = 0; i < d->refused.n; i++)
        vec_push(&d->out->kept, d->refused.at[i]);
    return true;
}

/* ---------------------------------------------------------------- all of it */

static void
measure_result(struct search *d)
{
    reduction *r = d->out;

    for (size_t i = 0; i < d->bound.n; i++) {
        const struct bound *b = &d->bound.at[i];
        const flat_output *y = &d->first.c[b->experiment].flat->output.at[b->output];

        reduction_note_error(r, d->o->experiment[b->experiment], y, b->tolerance < INFINITY ? b->tolerance : NAN,
                             version_difference(&d->first, &d->now, b));
    }
    r->states_before = model_nstates(d->first.c[0].model);
    r->states_after = model_nstates(d->now.c[0].model);
    r->elements_before = d->first.c[0].flat->element.n;
    r->elements_after = d->now.c[0].flat->element.n;
    for (size_t i = 0; i < d->o->nexperiments; i++) {
        reduction_note_end(r, d->o->experiment[i], &d->first, &d->now, i);
        r->steps_before += d->first.run[i].steps;
        r->steps_after += d->now.run[i].steps;
        r->evaluations_before += d->first.run[i].rhs_evaluations;
        r->evaluations_after += d->now.run[i].rhs_evaluations;
    }
}

static void
begin_search(struct search *d)
{
    d->now = d->first;
    find_bounds(d);
    d->most_steps = bg_calloc(d->o->nexperiments, sizeof *d->most_steps);
    allow_steps(d, &d->first);
    for (size_t i = 0; i < d->o->nexperiments; i++) {
        const flat_model *f = d->first.c[i].flat;

        for (size_t k = 0; k < f->element.n; k++)
            if (f->element.at[k].keep)
                map_set(&d->kept_names, bg_hash_bytes(f->element.at[k].name, strlen(f->element.at[k].name), 0), 1);
    }
}

enum reduce_result
reduce_within(const char *path, const char *text, size_t length, const bounded_options *o, reduction *out, char **why)
{
    struct search d = { .o = o,
                        .out = out,
                        .first = { .text = text, .length = length },
                        .held = bg_calloc(o->nexperiments + 1, sizeof *d.held),
                        .most = bg_calloc(o->nexperiments + 1, sizeof *d.most),
                        .recorded = bg_calloc(o->nexperiments + 1, sizeof *d.recorded) };
    compile_shared *own = o->shared ? NULL : compile_shared_new(NULL), *shared = own ? own : o->shared;
    pthread_mutex_t texts = PTHREAD_MUTEX_INITIALIZER;
    enum reduce_result result = REDUCE_DONE;
    size_t at = 0;

    memset(out, 0, sizeof *out);
    *why = NULL;
    out->arena = arena_new();
    out->kept_share = NAN;
    for (size_t i = 0; i < o->nset; i++)
        vec_push(&d.set, o->set[i]);
    if (foretell_workers(&d) > 1)
        code_store_share(shared->code);
    search_trier(&d, path, shared, foretell_workers(&d) > 1 ? &texts : NULL);
    d.next = true;
    if (version_run(&d.trier, &d.first, &d.set, &at)) {
        if (o->failed)
            o->failed(o->ctx, d.first.c[at].sources);
        result = REDUCE_FAILED;
    } else {
        d.next = false;
        out->model = arena_strdup(out->arena, d.first.c[0].flat->name);
        begin_search(&d);
        if ((d.error = check_tolerances(&d)))
            result = REDUCE_NO_TOLERANCE;
        else if (!search_all(&d))
            result = REDUCE_INTERNAL;
        if (d.error && result == REDUCE_DONE)
            result = REDUCE_INTERNAL;
        factors_drop(d.recording);
        d.recording = NULL;
        out->text = bg_malloc(d.now.length + 1);
        memcpy(out->text, d.now.text, d.now.length);
        out->text[d.now.length] = '\0';
        out->length = d.now.length;
        measure_result(&d);
        if (d.now.c != d.first.c)
            version_free(&d.trier, &d.now);
    }
    *why = d.error;
    factors_drop(d.recording);
    version_free(&d.trier, &d.first);
    vec_free(&d.bound);
    for (size_t i = 0; i < o->nexperiments; i++) {
        vec_free(&d.held[i]);
        free(d.most[i]);
    }
    free(d.recorded);
    free(d.held);
    free(d.most);
    vec_free(&d.refused);
    vec_free(&d.set);
    map_free(&d.kept_names);
    map_free(&d.clamped);
    map_free(&d.means);
    term_candidates_free(&d.terms);
    refusals_free(&d.known);
    free(d.most_steps);
    compile_shared_free(own);
    side_by_side_end();
    return result;
}
