/* unwritten.c - see unwritten.h */
#include "unwritten.h"

#include <math.h>
#include <string.h>

void
unwritten_begin(struct search *d, const struct version *base, const overrides *set)
{
    d->base = base;
    d->base_set = set;
    d->base_key = text_key_of(base->text, base->length);
    for (size_t i = 0; i < set->n; i++)
        text_key_add(&d->base_key, set->at[i].name, strlen(set->at[i].name));
}

/* The element of the base that a candidate is, where `without` says the same as the text without it: an element that
 * the model itself declares under a plain name, and that nothing reads. NULL: another. */
static const flat_element *
find_plain(const struct search *d, const struct candidate *x)
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

static text_key
key_of(const struct search *d, const struct candidate *x, const struct demand *demand)
{
    text_key k = d->base_key;

    text_key_add(&k, x->name, strlen(x->name));
    text_key_add(&k, &x->reading[x->chosen].kind, sizeof x->reading[x->chosen].kind);
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

/* Runs the base without the element. NULL, or what it does beyond doubt. */
static const char *
run_without(struct search *d, const struct elaborate_taken *taken)
{
    spans unstated = { 0 };
    const char *why = NULL;
    bool more;

    do {
        struct version v = { .of = d->base->c,
                             .taken = taken,
                             .ntaken = 1,
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

/* Refused by what it does beyond doubt? */
static bool
refuse(struct search *d, const struct candidate *x, const flat_element *e, const struct demand *demand,
       struct verdict *out)
{
    const flat_model *f = d->base->c[0].flat;
    struct elaborate_taken taken = { .name = e->name };
    const refusal *known;
    size_t before = d->out->simulations;

    if (x->reading[x->chosen].kind == REWRITE_CLAMP)
        taken.variable = f->junction.at[f->port.at[e->port0].junction].type == 1 ? "f" : "e";
    *out = (struct verdict){ .worst = NAN, .lasts = true, .ran = true, .key = key_of(d, x, demand) };
    known = refusals_find(&d->known, out->key);
    if (known) {
        out->why = known->why;
        return true;
    }
    d->slack = BEYOND_DOUBT;
    d->demand = demand;
    out->why = run_without(d, &taken);
    d->demand = NULL;
    d->slack = 0;
    out->spent = d->out->simulations - before;
    return out->why;
}

struct verdict
try_one_more(struct search *d, struct candidate *const *taken, size_t n, const struct demand *demand)
{
    const struct candidate *x = taken[n - 1];
    const flat_element *e = demand && d->base ? find_plain(d, x) : NULL;
    struct verdict v;

    return e && refuse(d, x, e, demand, &v) ? v : try_set(d, taken, n, demand);
}
