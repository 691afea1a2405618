/* version.c - see version.h */
#include "version.h"

#include <math.h>
#include <string.h>

#include "side_by_side.h"

#define NOT_COMPILED "it does not compile: "

static compile_options
options(const struct trier *r, size_t experiment, const overrides *set)
{
    return (compile_options){ .experiment = r->experiment[experiment],
                              .set = set->at,
                              .nset = set->n,
                              .shared = r->shared };
}

/* ---------------------------------------------------------------- versions */

void
trier_lock(const struct trier *r)
{
    if (r->texts)
        pthread_mutex_lock(r->texts);
}

void
trier_unlock(const struct trier *r)
{
    if (r->texts)
        pthread_mutex_unlock(r->texts);
}

static bool
compile_in(const struct trier *r, struct version *v, size_t i, const overrides *set)
{
    compile_options o = options(r, i, set);
    bool fine;

    trier_lock(r);
    if (v->of) {
        o.taken = v->taken;
        o.ntaken = v->ntaken;
        o.unstated = v->unstated;
        o.nunstated = v->nunstated;
        fine = compile_another(&v->c[i], &v->of[i], STAGE_MODEL, &o);
    } else {
        fine = compile_text(&v->c[i], r->path, v->text, v->length, STAGE_MODEL, &o);
    }
    trier_unlock(r);
    return fine;
}

static const char *
run_in(const struct trier *r, struct version *v, size_t i)
{
    compilation *c = &v->c[i];
    const char *why = NULL;
    sim_options so = { 0 };
    bool fine = sim_options_from_experiment(c->model, &so);

    if (fine) {
        if (r->adjust)
            r->adjust(r->ctx, c->model, &so);
        r->prepare(r->of, v, i, &so);
        so.track = &v->outputs[i];
        if (!so.told_to_stop)
            so.told_to_stop = side_by_side_useless;
        v->rtol = fmax(v->rtol, so.rtol);
        fine = simulate(c->model, &so, &v->run[i]);
        if (!fine && r->why)
            why = r->why(r->of, v, i);
    }
    sim_options_free(&so);
    return fine ? NULL : why ? why : arena_strdup(r->arena, diag_first_error(c->sources));
}

const char *
version_run(const struct trier *r, struct version *v, const overrides *set, size_t *at)
{
    const char *why = NULL;

    if (!v->lent)
        v->c = bg_calloc(r->n, sizeof *v->c);
    v->run = bg_calloc(r->n, sizeof *v->run);
    v->outputs = bg_calloc(r->n, sizeof *v->outputs);
    for (size_t i = 0; i < r->n && !why; i++) {
        *at = i;
        if (!v->lent && !compile_in(r, v, i, set))
            why = arena_strdup(r->arena, diag_first_error(v->c[i].sources));
        else if (!r->worth || !(why = r->worth(r->of, &v->c[i])))
            why = run_in(r, v, i);
    }
    return why;
}

void
version_free(const struct trier *r, struct version *v)
{
    for (size_t i = 0; v->run && i < r->n; i++) {
        sim_result_free(&v->run[i]);
        track_free(&v->outputs[i]);
    }
    for (size_t i = 0; v->c && !v->lent && i < r->n; i++)
        compile_free(&v->c[i]);
    if (!v->lent)
        free(v->c);
    free(v->run);
    free(v->outputs);
    free(v->own);
    *v = (struct version){ 0 };
}

bool
version_ends(const struct version *a, const struct version *b, size_t experiment, double end[2])
{
    end[0] = a->run[experiment].t_end;
    end[1] = b->run[experiment].t_end;
    return a->run[experiment].stopped || b->run[experiment].stopped;
}

/* ---------------------------------------------------------------- trials */

bool
trial_write(const struct version *now, const overrides *set, struct trial *t)
{
    strbuf text = { 0 };

    if (t->plan.edits.list.n == 0)
        return false;
    edits_apply(&t->plan.edits, now->text, now->length, &text);
    if (!text.at)
        strbuf_puts(&text, "");
    t->v = (struct version){ .text = text.at, .length = text.n, .own = text.at };
    vec_resize(&t->set, set->n);
    t->set.n = reduction_remaining(set->at, set->n, &t->plan, t->set.at);
    return true;
}

bool
trial_run(const struct trier *r, const struct version *now, const overrides *set, rewrite_changes *initial,
          struct trial *t)
{
    const char *why;
    bool compiled, contradicted;

    if (!t->v.text && !trial_write(now, set, t))
        return false;
    why = version_run(r, &t->v, &t->set, &t->at);
    if (!why)
        return false;
    compiled = t->v.c[t->at].model != NULL;
    t->failure = arena_format(r->arena, "%s%s", compiled ? "the run fails: " : NOT_COMPILED, why);
    trier_lock(r);
    contradicted = compiled && initial &&
                   rewrite_contradicted(&t->v.c[t->at], &t->plan.edits, &now->c[0], r->arena, initial) > 0;
    trier_unlock(r);
    return contradicted;
}

void
trial_compile(const struct trier *r, const struct version *now, const overrides *set, struct trial *t)
{
    if (!trial_write(now, set, t))
        return;
    t->v.c = bg_calloc(r->n, sizeof *t->v.c);
    for (t->at = 0; t->at < r->n && !t->failure; t->at += !t->failure)
        if (!compile_in(r, &t->v, t->at, &t->set))
            t->failure = arena_format(r->arena, NOT_COMPILED "%s", diag_first_error(t->v.c[t->at].sources));
}

/* Are the laws of a compiled text as they were written? Conditions in them would have become modes. */
static bool
has_laws_as_written(const compilation *c)
{
    return c && c->model && model_nmodes(c->model) == 0;
}

bool
trial_check(const struct trier *r, const struct version *now, const overrides *set, struct trial *t)
{
    compile_options before = options(r, 0, set), after = options(r, 0, &t->set);
    char *why = NULL;

    /* what was run was compiled from these texts: they need not be read again to be compared */
    if (has_laws_as_written(now->c) && has_laws_as_written(t->v.c) &&
        rewrite_check(now->c[0].flat, &t->plan, t->v.c[0].flat, &why))
        return true;
    free(why);
    t->internal = reduction_check(r->path, now->text, now->length, &before, &t->plan, t->v.text, t->v.length, &after);
    return !t->internal;
}

void
trial_free(const struct trier *r, struct trial *t)
{
    version_free(r, &t->v);
    rewrite_free(&t->plan);
    vec_free(&t->set);
    free(t->internal);
    *t = (struct trial){ 0 };
}

/* ---------------------------------------------------------------- the same for what runs by other means */

char *
reduction_check(const char *path, const char *before, size_t nbefore, const compile_options *of_before,
                const rewrite *plan, const char *after, size_t nafter, const compile_options *of_after)
{
    compilation a = { 0 }, b = { 0 };
    char *why = NULL;

    if (!compile_text(&a, path, before, nbefore, STAGE_GRAPH, of_before) ||
        !compile_text(&b, path, after, nafter, STAGE_GRAPH, of_after))
        why = bg_strdup("a text that was compiled cannot be read again");
    else
        rewrite_check(a.flat, plan, b.flat, &why);
    compile_free(&a);
    compile_free(&b);
    return why;
}

size_t
reduction_remaining(const struct elaborate_override *set, size_t n, const rewrite *plan, struct elaborate_override *out)
{
    size_t left = 0;
    map went = { 0 };

    for (size_t i = 0; i < plan->item.n && n; i++)
        if (plan->item.at[i].kind == REWRITE_VALUE)
            map_set(&went, bg_hash_bytes(plan->item.at[i].name, strlen(plan->item.at[i].name), 0), 1);
    for (size_t i = 0; i < n; i++)
        if (map_get(&went, bg_hash_bytes(set[i].name, strlen(set[i].name), 0)) == MAP_NONE)
            out[left++] = set[i];
    map_free(&went);
    return left;
}
