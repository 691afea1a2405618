/* parameter_store.c - see parameter_store.h */
#include "parameter_store.h"

#include <stdlib.h>
#include <string.h>

#include "flat.h"
#include "parameters.h"

struct parameter_program {
    size_t nvars;
    formula_book book;
    VEC(var_id) computed;    /* parameters, each behind those that it is computed from */
    VEC(formula) def;        /* parallel to them */
    readers_later followers; /* which of them read a variable */
};

struct parameter_store {
    parameter_program *program;
    double *value;
    bool *fixed;
    bool *waits; /* by computed parameter: stands in the list below */
    VEC(uint32_t) waiting;
    VEC(var_id) changed;
    double *room; /* for formulas */
};

/* ---------------------------------------------------------------- what instances share */

parameter_program *
parameter_program_new(const flat_model *f)
{
    parameter_program *p = bg_calloc(1, sizeof *p);
    uint32_t *rank = bg_calloc(f->var.n + 1, sizeof *rank), n = 0;

    p->nvars = f->var.n;
    parameter_order(f, rank);
    for (uint32_t v = 0; v < f->var.n; v++)
        n += rank[v] > 0;
    vec_resize(&p->computed, n);
    vec_resize(&p->def, n);
    for (uint32_t v = 0; v < f->var.n; v++)
        if (rank[v])
            p->computed.at[rank[v] - 1] = v;
    for (uint32_t i = 0; i < n; i++)
        p->def.at[i] = parameter_program_add(p, f, var_def(f, p->computed.at[i]));
    free(rank);
    return p;
}

void
parameter_program_free(parameter_program *p)
{
    if (!p)
        return;
    readers_free(&p->followers);
    formula_book_free(&p->book);
    vec_free(&p->computed);
    vec_free(&p->def);
    free(p);
}

formula
parameter_program_add(parameter_program *p, const flat_model *f, inst i)
{
    return formula_write(&p->book, f->pool, i.root, inst_slots(f, i), i.n);
}

const readers *
parameter_program_readers(const parameter_program *p, readers_later *at, const formula *list, size_t n)
{
    return readers_of(at, &p->book, list, n, p->nvars);
}

/* ---------------------------------------------------------------- the store */

static parameter_store *
store_of(parameter_program *p)
{
    parameter_store *s = bg_calloc(1, sizeof *s);

    s->program = p;
    s->value = bg_calloc(p->nvars + 1, sizeof *s->value);
    s->fixed = bg_calloc(p->nvars + 1, sizeof *s->fixed);
    s->room = bg_calloc(p->book.room + 1, sizeof *s->room);
    return s;
}

parameter_store *
parameter_store_new(parameter_program *p, const flat_model *f)
{
    parameter_store *s;

    formula_close(&p->book);
    s = store_of(p);
    for (uint32_t v = 0; v < f->var.n; v++)
        if (f->var.at[v].kind == VAR_LITERAL)
            s->value[v] = var_value(f, v);
    for (size_t i = 0; i < p->computed.n; i++)
        s->value[p->computed.at[i]] = formula_value(&p->book, p->def.at[i], s->value, s->room);
    return s;
}

parameter_store *
parameter_store_another(const parameter_store *s)
{
    parameter_store *r = store_of(s->program);

    memcpy(r->value, s->value, s->program->nvars * sizeof *r->value);
    memcpy(r->fixed, s->fixed, s->program->nvars * sizeof *r->fixed);
    return r;
}

void
parameter_store_free(parameter_store *s)
{
    if (!s)
        return;
    vec_free(&s->waiting);
    vec_free(&s->changed);
    free(s->waits);
    free(s->value);
    free(s->fixed);
    free(s->room);
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

double
parameter_store_value(parameter_store *s, formula f)
{
    return formula_value(&s->program->book, f, s->value, s->room);
}

/* ---------------------------------------------------------------- setting one */

static void
gather_followers(parameter_store *s, const readers *by, var_id v)
{
    for (uint32_t k = by->first[v]; k < by->first[v + 1]; k++) {
        uint32_t i = by->reader[k];

        if (s->waits[i] || s->fixed[s->program->computed.at[i]])
            continue;
        s->waits[i] = true;
        vec_push(&s->waiting, i);
    }
}

static int
ascending(const void *pa, const void *pb)
{
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

    return (a > b) - (a < b);
}

size_t
parameter_store_set(parameter_store *s, var_id v, double value, const var_id **changed)
{
    parameter_program *p = s->program;
    const readers *by = readers_of(&p->followers, &p->book, p->def.at, p->def.n, p->nvars);

    if (!s->waits)
        s->waits = bg_calloc(p->computed.n + 1, sizeof *s->waits);
    s->waiting.n = s->changed.n = 0;
    vec_push(&s->changed, v);
    s->fixed[v] = true;
    s->value[v] = value;
    gather_followers(s, by, v);
    for (size_t i = 0; i < s->waiting.n; i++)
        gather_followers(s, by, p->computed.at[s->waiting.at[i]]);
    if (s->waiting.n > 1)
        qsort(s->waiting.at, s->waiting.n, sizeof *s->waiting.at, ascending);
    for (size_t i = 0; i < s->waiting.n; i++) {
        uint32_t k = s->waiting.at[i];
        var_id w = p->computed.at[k];

        s->waits[k] = false;
        vec_push(&s->changed, w);
        s->value[w] = formula_value(&p->book, p->def.at[k], s->value, s->room);
    }
    *changed = s->changed.at;
    return s->changed.n;
}
