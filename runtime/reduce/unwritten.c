/* unwritten.c - see unwritten.h */
#include "unwritten.h"

#include <math.h>
#include <string.h>

#include "in_image.h"

void
unwritten_begin(struct search *d, const struct version *base, const overrides *set, size_t taken)
{
    in_image_forget(d);
    d->base = base;
    d->base_set = set;
    d->base_taken = taken;
    d->base_key = text_key_of(base->text, base->length);
    for (size_t i = 0; i < set->n; i++)
        text_key_add(&d->base_key, set->at[i].name, strlen(set->at[i].name));
}

const flat_element *
unwritten_plain(const struct search *d, const struct candidate *x)
{
    const flat_model *f = d->base->c[0].flat;
    enum rewrite_kind kind = x->reading[x->chosen].kind;

    if (x->element == UINT32_MAX || x->reading[x->chosen].bond || strpbrk(x->name, ".[") ||
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

/* The stated value that stands at a place, once: a part of the model itself says it. */
static bool
is_stated_once(const flat_model *f, span at)
{
    size_t n = 0;

    for (size_t i = 0; i < f->initial.n; i++) {
        const flat_initial *x = &f->initial.at[i];

        if (x->at.file == at.file && x->at.begin == at.begin)
            n += x->port == UINT32_MAX || f->element.at[f->port.at[x->port].element].parent != UINT32_MAX ? 2 : 1;
    }
    return n == 1;
}

/* Adds the values that what was compiled calls contradicted, as rewrite_contradicted does for a text. True: there is a
 * new one. */
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

/* Runs the base without the parts. NULL, or what it does beyond doubt. */
static const char *
run_without(struct search *d, const struct elaborate_taken *taken, size_t n)
{
    spans unstated = { 0 };
    const char *why = NULL;
    bool more;

    do {
        struct version v = { .of = d->base->c,
                             .taken = taken,
                             .ntaken = n,
                             .unstated = unstated.at,
                             .nunstated = unstated.n };
        size_t at = 0;

        more = version_run(&d->trier, &v, d->base_set, &at);
        if (more && v.outputs[at].beyond)
            why = trial_too_far(d, &v.outputs[at], at);
        more = more && !why && v.c[at].model && find_contradicted(d, &v.c[at], &unstated);
        version_free(&d->trier, &v);
    } while (more);
    vec_free(&unstated);
    return why;
}

/* The base without taken[d->base_taken..n), compiled: refused by what it does beyond doubt? */
static bool
refuse(struct search *d, struct candidate *const *taken, size_t n, const struct demand *demand, struct verdict *out)
{
    const flat_model *f = d->base->c[0].flat;
    size_t count = n - d->base_taken, before = d->out->simulations;
    struct elaborate_taken *part = bg_calloc(count + 1, sizeof *part);

    for (size_t i = 0; i < count; i++) {
        const struct candidate *x = taken[d->base_taken + i];
        const flat_element *e = unwritten_plain(d, x);

        part[i].name = e->name;
        if (x->reading[x->chosen].kind == REWRITE_CLAMP)
            part[i].variable = f->junction.at[f->port.at[e->port0].junction].type == 1 ? "f" : "e";
    }
    *out = (struct verdict){ .worst = NAN, .ran = true, .unwritten = true };
    d->slack = BEYOND_DOUBT;
    d->demand = demand;
    out->why = run_without(d, part, count);
    d->demand = NULL;
    d->slack = 0;
    out->spent = d->out->simulations - before;
    free(part);
    return out->why;
}

struct verdict
try_one_more(struct search *d, struct candidate *const *taken, size_t n, const struct demand *demand)
{
    bool plain = demand && d->base;
    struct verdict v = { .worst = NAN, .ran = true, .unwritten = true };
    const refusal *known;
    text_key key;

    for (size_t i = d->base_taken; plain && i < n; i++)
        plain = unwritten_plain(d, taken[i]) != NULL;
    if (!plain)
        return try_set(d, taken, n, demand);
    key = unwritten_key(d, taken, n, demand);
    known = refusals_find(&d->known, key);
    if (known)
        v.why = known->why;
    else if (!in_image_try(d, taken, n, demand, &v) && !refuse(d, taken, n, demand, &v))
        return try_set(d, taken, n, demand);
    v.lasts = !v.fine;
    v.key = key;
    return v;
}

struct verdict
try_many(struct search *d, struct candidate *const *taken, size_t n, const struct demand *demand)
{
    struct verdict v;

    return d->base && in_image_try(d, taken, n, demand, &v) ? v : try_set(d, taken, n, demand);
}
