/* unwritten.c - see unwritten.h */
#include "unwritten.h"

#include <math.h>
#include <string.h>

#include "in_image.h"
#include "side_by_side.h"

void
unwritten_begin(struct search *d, const struct version *base, const overrides *set, size_t taken)
{
    in_image_forget(d, taken);
    d->base = base;
    d->base_set = set;
    d->base_taken = taken;
    d->base_key = text_key_of(base->text, base->length);
    for (size_t i = 0; i < set->n; i++)
        text_key_add(&d->base_key, set->at[i].name, strlen(set->at[i].name));
}

void
unwritten_end(struct search *d)
{
    in_image_forget(d, 0);
    d->base = NULL;
}

const flat_element *
unwritten_plain(const struct search *d, const struct candidate *x)
{
    const flat_model *f = d->base->c[0].flat;
    enum rewrite_kind kind = x->reading[x->chosen].kind;

    if (x->element == NONE || x->reading[x->chosen].bond || strpbrk(x->name, ".[") ||
        (kind != REWRITE_ELEMENT && kind != REWRITE_CLAMP))
        return NULL;
    for (uint32_t i = 0; i < f->element.n; i++) {
        const flat_element *e = &f->element.at[i];

        if (!strcmp(e->name, x->name))
            return e->read || e->nports > 1 || is_source(e) ? NULL : e;
    }
    return NULL;
}

text_key
unwritten_key(const struct search *d, struct candidate *const *taken, size_t n, const struct demand *demand)
{
    text_key k = d->base_key;

    for (size_t i = d->base_taken; i < n; i++) {
        text_key_add(&k, taken[i]->name, strlen(taken[i]->name));
        text_key_add(&k, &taken[i]->reading[taken[i]->chosen].kind, sizeof taken[i]->reading[taken[i]->chosen].kind);
    }
    text_key_add(&k, demand, sizeof *demand);
    return k;
}

typedef VEC(span) spans;

/* The stated initial value at a place, if it is stated once, in a part of the model itself. */
static bool
is_stated_once(const flat_model *f, span at)
{
    size_t n = 0;

    for (size_t i = 0; i < f->initial.n; i++) {
        const flat_initial *x = &f->initial.at[i];

        if (x->at.file == at.file && x->at.begin == at.begin)
            n += x->port == NONE || f->element.at[f->port.at[x->port].element].parent != NONE ? 2 : 1;
    }
    return n == 1;
}

/* Adds the values that the diagnostics of `tried` call contradicted, as rewrite_contradicted does for a text. True:
 * there is a new one. */
static bool
find_contradicted(const struct search *d, const compilation *tried, spans *out)
{
    size_t before = out->n;

    for (size_t i = 0; i < diag_count(tried->sources); i++) {
        const diagnostic *x = diag_at(tried->sources, i);
        bool known = false;

        for (size_t k = 0; k < out->n; k++)
            known |= out->at[k].begin == x->at.begin;
        if (x->severity == SEV_ERROR && !strcmp(x->code, "initial-contradiction") && span_known(x->at) && !known &&
            is_stated_once(d->base->c[0].flat, x->at))
            vec_push(out, x->at);
    }
    return out->n > before;
}

struct elaborate_taken *
unwritten_taken(const struct search *d, struct candidate *const *part, size_t n)
{
    const flat_model *f = d->base->c[0].flat;
    struct elaborate_taken *out = bg_calloc(n + 1, sizeof *out);

    for (size_t i = 0; i < n; i++) {
        const flat_element *e = unwritten_plain(d, part[i]);

        out[i].name = e->name;
        if (part[i]->reading[part[i]->chosen].kind == REWRITE_CLAMP)
            out[i].variable = f->junction.at[f->port.at[e->port0].junction].type == 1 ? "f" : "e";
    }
    return out;
}

/* Compiles and runs the base without the parts: does that decide? Contradicting initial values are left out; a result
 * within the tolerances is then accepted only as a text, which reports what it leaves out. */
static bool
run_without(struct search *d, const struct elaborate_taken *part, size_t n, struct verdict *out)
{
    spans unstated = { 0 };
    bool more, decided = false;

    do {
        struct version v = { .of = d->base->c,
                             .taken = part,
                             .ntaken = n,
                             .unstated = unstated.at,
                             .nunstated = unstated.n };
        size_t at = 0;
        bool failed = version_run(&d->trier, &v, d->base_set, &at) != NULL;

        if (failed && v.outputs[at].beyond) {
            out->why = trial_too_far(d, &v.outputs[at], at);
            decided = true;
        } else if (!failed && !unstated.n && !d->exact) {
            trial_measure(d, out, &v);
            decided = out->fine = out->worst <= WITHIN / LIKELY;
        }
        more = failed && !decided && v.c[at].model && find_contradicted(d, &v.c[at], &unstated);
        version_free(&d->trier, &v);
    } while (more);
    vec_free(&unstated);
    return decided;
}

/* The same for candidates that d->base still contains. */
static bool
try_compiled(struct search *d, struct candidate *const *taken, size_t n, const struct demand *demand,
             struct verdict *out)
{
    size_t before = d->out->simulations;
    struct elaborate_taken *part = unwritten_taken(d, taken + d->base_taken, n - d->base_taken);
    bool decided;

    *out = (struct verdict){ .worst = NAN, .ran = true, .unwritten = true };
    d->slack = BEYOND_DOUBT;
    d->demand = demand;
    decided = run_without(d, part, n - d->base_taken, out);
    d->demand = NULL;
    d->slack = 0;
    out->spent = d->out->simulations - before;
    free(part);
    return decided;
}

/* The same, first in the image. Where a run there is too close to the tolerance, one of the base without the parts
 * would be too: the text decides. */
static bool
try_in_turn(struct search *d, struct candidate *const *taken, size_t n, const struct demand *demand,
            struct verdict *out)
{
    if (in_image_try(d, taken, n, demand, out) || side_by_side_useless())
        return true;
    if (isnan(out->worst))
        return try_compiled(d, taken, n, demand, out) || side_by_side_useless();
    if (out->worst > WITHIN && d->refuses)
        atomic_store(d->refuses, true);
    return false;
}

/* begun: number of simulations when the trial began. */
static struct verdict
try_text(struct search *d, struct candidate *const *taken, size_t n, const struct demand *demand, size_t begun)
{
    size_t before = d->out->simulations - begun;
    struct verdict v = d->no_text ? (struct verdict){ .worst = NAN, .undecided = true } : try_set(d, taken, n, demand);

    v.before = before;
    return v;
}

/* Is the refusal of these candidates known already? Else *plain: they are plain, and out->key is theirs. */
static bool
is_known_refusal(const struct search *d, struct candidate *const *taken, size_t n, const struct demand *demand,
                 struct verdict *out, bool *plain)
{
    const refusal *known = NULL;

    *out = (struct verdict){ .worst = NAN, .ran = true, .unwritten = true, .lasts = true };
    *plain = demand && d->base;
    for (size_t i = d->base_taken; *plain && i < n; i++)
        *plain = unwritten_plain(d, taken[i]) != NULL;
    if (*plain) {
        out->key = unwritten_key(d, taken, n, demand);
        known = refusals_find(&d->known, out->key);
    }
    if (known)
        out->why = known->why;
    return known;
}

bool
try_known(const struct search *d, struct candidate *const *taken, size_t n, const struct demand *demand,
          struct verdict *out)
{
    bool plain;

    return is_known_refusal(d, taken, n, demand, out, &plain);
}

struct verdict
try_more(struct search *d, struct candidate *const *taken, size_t n, const struct demand *demand)
{
    size_t begun = d->out->simulations;
    struct verdict v;
    text_key key;
    bool plain;

    if (is_known_refusal(d, taken, n, demand, &v, &plain))
        return v;
    key = v.key;
    if (!plain || !try_in_turn(d, taken, n, demand, &v))
        return try_text(d, taken, n, demand, begun);
    v.lasts = !v.fine;
    v.key = key;
    return v;
}
