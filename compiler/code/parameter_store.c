/* parameter_store.c - see parameter_store.h */
#include "parameter_store.h"

#include <stdlib.h>
#include <string.h>

#include "parameters.h"

struct parameter_store {
    const flat_model *f;
    double *value;
    bool *fixed;
    map name;         /* hash of a name -> the first parameter with that hash */
    uint32_t *rank;   /* by variable: of computed parameters, falling behind what they read */
    readers computed; /* computed parameters by what they read; first NULL: nothing was set yet */
    bool *waits;      /* by variable: stands in the list below */
    VEC(var_id) changed;
    VEC(double) slot;
};

/* ---------------------------------------------------------------- who reads what */

void
readers_of(const flat_model *f, const inst *list, size_t n, readers *out)
{
    uint32_t *first = bg_calloc(f->var.n + 2, sizeof *first), *reader, total = 0;

    /* counted one place ahead, so that filling moves each begin to where it belongs */
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < list[i].n; k++, total++)
            first[f->slot.at[list[i].first + k] + 2]++;
    for (size_t v = 2; v < f->var.n + 2; v++)
        first[v] += first[v - 1];
    reader = bg_calloc((size_t)total + 1, sizeof *reader);
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < list[i].n; k++)
            reader[first[f->slot.at[list[i].first + k] + 1]++] = (uint32_t)i;
    *out = (readers){ first, reader };
}

void
readers_free(readers *r)
{
    free(r->first);
    free(r->reader);
    *r = (readers){ 0 };
}

/* ---------------------------------------------------------------- the store */

static uint64_t
name_hash(const char *name)
{
    return bg_hash_bytes(name, strlen(name), 0);
}

parameter_store *
parameter_store_new(const flat_model *f)
{
    parameter_store *s = bg_calloc(1, sizeof *s);

    s->f = f;
    s->value = bg_calloc(f->var.n + 1, sizeof *s->value);
    s->fixed = bg_calloc(f->var.n + 1, sizeof *s->fixed);
    parameter_values(f, s->value, s->fixed);
    return s;
}

void
parameter_store_free(parameter_store *s)
{
    if (!s)
        return;
    map_free(&s->name);
    readers_free(&s->computed);
    vec_free(&s->changed);
    vec_free(&s->slot);
    free(s->rank);
    free(s->waits);
    free(s->value);
    free(s->fixed);
    free(s);
}

double *
parameter_store_values(parameter_store *s)
{
    return s->value;
}

const bool *
parameter_store_fixed(const parameter_store *s)
{
    return s->fixed;
}

/* What setting needs is made when something is set for the first time: most models are run as they are. */
static void
make_order(parameter_store *s)
{
    const flat_model *f = s->f;
    inst *def = bg_calloc(f->var.n + 1, sizeof *def);

    s->rank = bg_calloc(f->var.n + 1, sizeof *s->rank);
    s->waits = bg_calloc(f->var.n + 1, sizeof *s->waits);
    parameter_order(f, s->rank);
    for (uint32_t v = 0; v < f->var.n; v++)
        if (s->rank[v])
            def[v] = f->var.at[v].def;
    readers_of(f, def, f->var.n, &s->computed);
    free(def);
}

var_id
parameter_store_find(parameter_store *s, const char *name)
{
    const flat_model *f = s->f;
    uint32_t v;

    if (!s->name.n)
        for (uint32_t k = 0; k < f->var.n; k++)
            if (f->var.at[k].kind == VAR_PARAM && map_get(&s->name, name_hash(f->var.at[k].name)) == MAP_NONE)
                map_set(&s->name, name_hash(f->var.at[k].name), k);
    v = map_get(&s->name, name_hash(name));
    if (v == MAP_NONE)
        return VAR_NONE;
    if (!strcmp(f->var.at[v].name, name))
        return v;
    for (v = 0; v < f->var.n; v++) /* two names with one hash */
        if (f->var.at[v].kind == VAR_PARAM && !strcmp(f->var.at[v].name, name))
            return v;
    return VAR_NONE;
}

/* ---------------------------------------------------------------- setting one */

/* Everything that is computed from what the list holds, each once, at its end. */
static void
gather_followers(parameter_store *s)
{
    for (size_t i = 0; i < s->changed.n; i++) {
        var_id v = s->changed.at[i];

        for (uint32_t k = s->computed.first[v]; k < s->computed.first[v + 1]; k++) {
            var_id w = s->computed.reader[k];

            if (s->fixed[w] || s->waits[w])
                continue;
            s->waits[w] = true;
            vec_push(&s->changed, w);
        }
    }
}

static int
by_rank(const void *pa, const void *pb, void *ctx)
{
    const uint32_t *rank = ctx;
    uint32_t a = rank[*(const var_id *)pa], b = rank[*(const var_id *)pb];

    return a < b ? -1 : a > b;
}

size_t
parameter_store_set(parameter_store *s, var_id v, double value, const var_id **changed)
{
    const flat_model *f = s->f;

    if (!s->computed.first)
        make_order(s);
    s->changed.n = 0;
    vec_push(&s->changed, v);
    s->waits[v] = true;
    s->fixed[v] = true;
    s->value[v] = value;
    gather_followers(s);
    if (s->changed.n > 2)
        qsort_r(s->changed.at + 1, s->changed.n - 1, sizeof *s->changed.at, by_rank, s->rank);
    s->waits[v] = false;
    for (size_t i = 1; i < s->changed.n; i++) {
        var_id w = s->changed.at[i];
        inst d = f->var.at[w].def;

        s->waits[w] = false;
        s->slot.n = 0;
        for (uint32_t k = 0; k < d.n; k++)
            vec_push(&s->slot, s->value[f->slot.at[d.first + k]]);
        s->value[w] = ex_eval(f->pool, d.root, s->slot.at);
    }
    *changed = s->changed.at;
    return s->changed.n;
}
