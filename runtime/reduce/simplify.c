/* simplify.c - see simplify.h */
#include <math.h>
#include <string.h>

#include "fold.h"
#include "idle.h"
#include "simplify.h"
#include "version.h"

/* Outputs of two runs of one model with different equations may differ by this share, or by this multiple of the
 * relative tolerance. */
static const double ALIKE = 1e-6, ALIKE_TOLERANCES = 1e3;
/* Activities are integrals over steps whose error is not controlled for them: they may differ by this share of their
 * sum. */
static const double ACTIVITY_ALIKE = 1e-2;

struct simplifier {
    const simplify_options *o;
    const sources *given;
    uint32_t file;
    reduction *r;
    overrides set;
    map refused; /* hash of a name -> 1: reported */
    struct trier trier;
};

/* What one trial may remove: a fold, or an idle part. */
struct part {
    const char *name, *why;
    span at;
    const fold *fold;
    const idle_part *idle;
};
typedef VEC(struct part) parts;

/* Records all outputs, and activity. */
static void
prepare_comparison(void *of, struct version *v, size_t i, sim_options *so)
{
    (void)of;
    v->outputs[i].n = model_noutputs(v->c[i].model);
    so->activity = true;
}

/* ---------------------------------------------------------------- comparison */

static const char *
simplified_differs(struct simplifier *d, const struct version *a, const struct version *b, size_t i, double share)
{
    const flat_model *fa = a->c[i].flat, *fb = b->c[i].flat;
    const sim_result *ra = &a->run[i], *rb = &b->run[i];
    const track *oa = &a->outputs[i], *ob = &b->outputs[i];
    map element = { 0 };
    double total = 0;
    const char *why = NULL;

    for (uint32_t k = 0; k < oa->n && k < ob->n && !why; k++) {
        double most = track_compare(oa, k, NULL, 0).max, e = track_compare(oa, k, ob, k).max;

        if (!(e <= share * most))
            why = arena_format(d->r->arena, "%s would differ by %.2g of its greatest value",
                               flat_output_at(fa, k)->name, e / most);
    }
    for (uint32_t k = 0; k < fb->element.n; k++)
        map_set(&element, bg_hash_bytes(fb->element.at[k].name, strlen(fb->element.at[k].name), 0), k);
    for (uint32_t k = 0; k < fa->element.n; k++)
        total += ra->activity[k];
    for (uint32_t k = 0; k < fa->element.n && !why; k++) {
        const char *name = fa->element.at[k].name;
        uint32_t x = map_get(&element, bg_hash_bytes(name, strlen(name), 0));

        if (x != MAP_NONE && !(fabs(ra->activity[k] - rb->activity[x]) <= ACTIVITY_ALIKE * total))
            why = arena_format(d->r->arena, "the activity of %s would change", name);
    }
    map_free(&element);
    return why;
}

static bool
plan_parts(const struct version *now, const struct part *const *list, size_t n, rewrite *plan)
{
    const fold **folded = bg_calloc(n + 1, sizeof *folded);
    const char **name = bg_calloc(n + 1, sizeof *name);
    rewrite_bond *bond = bg_calloc(n + 1, sizeof *bond);
    size_t nfolds = 0, nnames = 0, nbonds = 0;
    bool fine;

    for (size_t i = 0; i < n; i++)
        if (list[i]->fold)
            folded[nfolds++] = list[i]->fold;
        else if (list[i]->idle->bond)
            bond[nbonds++] = *list[i]->idle->bond;
        else
            name[nnames++] = list[i]->name;
    fine = nfolds ? folds_plan(&now->c[0], folded, nfolds, plan)
                  : rewrite_plan(&(rewrite_request){ .f = now->c[0].flat,
                                                     .file = now->c[0].ast,
                                                     .name = name,
                                                     .n = nnames,
                                                     .bond = bond,
                                                     .nbonds = nbonds },
                                 plan);
    free(folded);
    free(name);
    free(bond);
    return fine;
}

static void
try_parts(struct simplifier *d, const struct version *now, const struct part *const *list, size_t n, struct trial *t)
{
    *t = (struct trial){ 0 };
    if (!plan_parts(now, list, n, &t->plan)) {
        t->internal = bg_strdup(t->plan.error ? t->plan.error : "unknown");
        return;
    }
    trial_run(&d->trier, now, &d->set, NULL, t);
    for (size_t i = 0; i < d->o->nexperiments && t->v.run && !t->failure; i++)
        t->failure = simplified_differs(d, now, &t->v, i, fmax(ALIKE, ALIKE_TOLERANCES * now->rtol));
    if (t->v.run && !t->failure)
        trial_check(&d->trier, now, &d->set, t);
}

/* ---------------------------------------------------------------- rounds */

static int
line_in_first(const struct simplifier *d, span at)
{
    int line = 0, unused;

    source_place(d->given, d->file, (uint32_t)reduction_origin(d->r, at.begin), &line, &unused);
    return line;
}

static void
refuse_part(struct simplifier *d, const struct part *x, const char *why)
{
    uint64_t key = bg_hash_bytes(x->name, strlen(x->name), 0);

    if (map_get(&d->refused, key) != MAP_NONE)
        return;
    map_set(&d->refused, key, 1);
    vec_push(&d->r->kept, ((reduce_kept){ arena_strdup(d->r->arena, x->name),
                                          arena_format(d->r->arena, "%s: %s", x->fold ? "fold" : "idle", why),
                                          line_in_first(d, x->at), (int)d->r->rounds.n + 1 }));
}

/* Takes out as many as possible: all at once, or in halves where that fails. False: an internal error. */
static bool
take_most_parts(struct simplifier *d, const struct version *now, const parts *all, const struct part **taken,
                struct trial *best)
{
    size_t batch = all->n, ntaken = 0;

    for (size_t i = 0; i < all->n;) {
        size_t n = batch < all->n - i ? batch : all->n - i;
        struct trial t;

        for (size_t k = 0; k < n; k++)
            taken[ntaken + k] = &all->at[i + k];
        try_parts(d, now, taken, ntaken + n, &t);
        if (t.internal || !t.failure) {
            trial_free(&d->trier, best);
            *best = t;
            if (t.internal)
                return false;
            ntaken += n;
            i += n;
            batch *= 2;
            continue;
        }
        if (n == 1)
            refuse_part(d, &all->at[i++], t.failure);
        batch = (n + 1) / 2;
        trial_free(&d->trier, &t);
    }
    return true;
}

static const char *
why_part_goes(const parts *all, const rewrite_item *x)
{
    for (size_t i = 0; i < all->n; i++)
        if (!strcmp(all->at[i].name, x->name) && (all->at[i].idle || all->at[i].at.begin == x->at.begin))
            return all->at[i].why;
    return NULL;
}

/* Records the operations of the accepted text. */
static void
record(struct simplifier *d, const parts *all, struct trial *best)
{
    reduction *r = d->r;

    for (size_t i = 0; i < best->plan.item.n; i++) {
        const rewrite_item *x = &best->plan.item.at[i];

        vec_push(&r->operation, ((reduce_operation){ .kind = x->kind,
                                                     .name = arena_strdup(r->arena, x->name),
                                                     .line = line_in_first(d, x->at),
                                                     .round = (int)r->rounds.n + 1,
                                                     .why = why_part_goes(all, x) }));
    }
    reduction_name_edits(r, d->given, d->file, &best->plan.edits);
    vec_push(&r->rounds, best->plan.edits);
    best->plan.edits = (edits){ 0 };
}

/* Drops overrides of --set for parameters that the reduction removed. */
static void
remaining_set(struct simplifier *d)
{
    map went = { 0 };

    for (size_t i = 0; i < d->r->operation.n; i++)
        if (d->r->operation.at[i].kind == REWRITE_VALUE)
            map_set(&went, bg_hash_bytes(d->r->operation.at[i].name, strlen(d->r->operation.at[i].name), 0), 1);
    for (size_t i = 0; i < d->o->nset; i++)
        if (map_get(&went, bg_hash_bytes(d->o->set[i].name, strlen(d->o->set[i].name), 0)) == MAP_NONE)
            vec_push(&d->set, d->o->set[i]);
    map_free(&went);
}

static void
measure_error(const struct version *a, const struct version *b, size_t experiment, uint32_t k, reduce_error *e)
{
    reduce_error_measure(e, track_compare(&a->outputs[experiment], k, &b->outputs[experiment], k));
}

/* Errors of the result against the text as given. */
static void
measure_simplified(struct simplifier *d, const struct version *now)
{
    size_t length = source_length(d->given, d->file);
    char *text = bg_malloc(length + 1);
    struct version first = { .text = text, .length = length, .own = text };
    const char *why;
    size_t at;

    memcpy(text, source_text(d->given, d->file), length);
    text[length] = '\0';
    d->set.n = 0;
    for (size_t i = 0; i < d->o->nset; i++)
        vec_push(&d->set, d->o->set[i]);
    why = version_run(&d->trier, &first, &d->set, &at);
    for (size_t x = 0; x < d->o->nexperiments && !why; x++) {
        map output = { 0 };

        for (uint32_t k = 0; k < model_noutputs(first.c[x].model) && k < model_noutputs(now->c[x].model); k++) {
            const char *name = flat_output_at(first.c[x].flat, k)->name;

            map_set(&output, bg_hash_bytes(name, strlen(name), 0), k);
        }
        for (size_t i = 0; i < d->r->error.n; i++) {
            reduce_error *e = &d->r->error.at[i];
            uint32_t k = map_get(&output, bg_hash_bytes(e->output, strlen(e->output), 0));

            if (k != MAP_NONE && !strcmp(d->o->experiment[x], e->experiment))
                measure_error(&first, now, x, k, e);
        }
        map_free(&output);
    }
    version_free(&d->trier, &first);
}

static void
finish(struct simplifier *d, struct version *now)
{
    reduction *r = d->r;

    free(r->text);
    r->text = now->own;
    r->length = now->length;
    now->own = NULL;
    measure_simplified(d, now);
    r->elements_after = now->c[0].flat->element.n;
    r->states_after = model_nstates(now->c[0].model);
    r->steps_after = r->evaluations_after = 0;
    for (size_t i = 0; i < d->o->nexperiments; i++) {
        r->steps_after += now->run[i].steps;
        r->evaluations_after += now->run[i].rhs_evaluations;
    }
}

/* Lists the parts without power in all experiments. */
static void
find_idle(struct simplifier *d, const struct version *now, idle_parts *list, parts *out)
{
    recording *r = bg_calloc(d->o->nexperiments, sizeof *r);

    for (size_t i = 0; i < d->o->nexperiments; i++)
        r[i] = (recording){ .path = d->trier.path,
                            .text = now->text,
                            .length = now->length,
                            .experiment = d->o->experiment[i],
                            .set = d->set.at,
                            .nset = d->set.n,
                            .adjust = d->o->adjust,
                            .ctx = d->o->ctx,
                            .shared = d->trier.shared };
    idle_find(&now->c[0], r, d->o->nexperiments, d->r->arena, list);
    for (size_t i = 0; i < list->n; i++)
        vec_push(out, ((struct part){ .name = list->at[i].name,
                                      .why = "no power goes through",
                                      .at = list->at[i].at,
                                      .idle = &list->at[i] }));
    free(r);
}

static void
find_folds(struct simplifier *d, const struct version *now, folds *list, parts *out)
{
    folds_find(&now->c[0], d->r->arena, list);
    for (size_t i = 0; i < list->n; i++)
        vec_push(out, ((struct part){ .name = list->at[i].name,
                                      .why = list->at[i].why,
                                      .at = list->at[i].at,
                                      .fold = &list->at[i] }));
}

/* Rounds of idle parts, or of folds, until nothing is left. False: an internal error. */
static bool
take_rounds(struct simplifier *d, bool idle, struct version *now, bool *any, char **why)
{
    bool changed = true, fine = true;

    while (changed && fine) {
        folds folded = { 0 };
        idle_parts list = { 0 };
        parts all = { 0 };
        struct trial best = { 0 };
        const struct part **taken;

        if (idle)
            find_idle(d, now, &list, &all);
        else
            find_folds(d, now, &folded, &all);
        taken = bg_calloc(all.n + 1, sizeof *taken);
        fine = take_most_parts(d, now, &all, taken, &best);
        changed = fine && best.plan.edits.list.n > 0;
        if (!fine) {
            *why = best.internal;
            best.internal = NULL;
        } else if (changed) {
            record(d, &all, &best);
            version_free(&d->trier, now);
            *now = best.v;
            best.v = (struct version){ 0 };
            d->set.n = 0;
            for (size_t i = 0; i < best.set.n; i++)
                vec_push(&d->set, best.set.at[i]);
            *any = true;
        }
        trial_free(&d->trier, &best);
        free(taken);
        vec_free(&all);
        vec_free(&folded);
        vec_free(&list);
    }
    return fine;
}

bool
reduction_simplify(const char *path, const simplify_options *o, const sources *s, uint32_t file, reduction *r,
                   char **why)
{
    compile_shared *own = o->shared ? NULL : compile_shared_new(NULL), *shared = own ? own : o->shared;
    struct simplifier d = { .o = o, .given = s, .file = file, .r = r };
    char *text = bg_malloc(r->length + 1);
    struct version now = { .text = text, .length = r->length, .own = text };
    bool any = false, fine = true;
    size_t at;

    d.trier = (struct trier){ .path = path,
                              .experiment = o->experiment,
                              .n = o->nexperiments,
                              .shared = shared,
                              .arena = r->arena,
                              .adjust = o->adjust,
                              .ctx = o->ctx,
                              .prepare = prepare_comparison,
                              .of = &d };
    *why = NULL;
    memcpy(text, r->text, r->length + 1);
    remaining_set(&d);
    /* this text has just run; it runs again */
    if (!version_run(&d.trier, &now, &d.set, &at))
        fine = (!o->idle || take_rounds(&d, true, &now, &any, why)) &&
               (!o->folds || take_rounds(&d, false, &now, &any, why));
    if (any)
        finish(&d, &now);
    version_free(&d.trier, &now);
    vec_free(&d.set);
    map_free(&d.refused);
    compile_shared_free(own);
    return fine;
}
