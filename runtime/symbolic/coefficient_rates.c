/* coefficient_rates.c - see coefficient_rates.h */
#include "coefficient_rates.h"

#include <stdlib.h>

enum { DEEPEST = 200 }; /* greatest depth of definitions that are followed */

struct coefficient_rates {
    struct relations *w;
    var_id *rate_of; /* [var] the variable that is its rate; VAR_NONE */
    map of_variable, of_text;
    VEC(struct slope) known;
    int depth;
};

coefficient_rates *
coefficient_rates_new(struct relations *w)
{
    coefficient_rates *r = bg_calloc(1, sizeof *r);

    r->w = w;
    r->rate_of = bg_malloc((w->nvars + 1) * sizeof *r->rate_of);
    for (size_t v = 0; v < w->nvars; v++)
        r->rate_of[v] = VAR_NONE;
    for (uint32_t v = 0; v < w->nvars; v++) {
        const flat_var *x = &w->f->var.at[v];

        if (x->kind == VAR_RATE && x->owner < w->nvars &&
            (w->e->var.at[v].kind == DEF_EXPLICIT || w->e->var.at[v].kind == DEF_BLOCK))
            r->rate_of[x->owner] = v;
    }
    return r;
}

void
coefficient_rates_free(coefficient_rates *r)
{
    if (!r)
        return;
    free(r->rate_of);
    map_free(&r->of_variable);
    map_free(&r->of_text);
    vec_free(&r->known);
    free(r);
}

static bool
is_zero_slope(const struct relations *w, struct slope a)
{
    double x;

    return a.value == 0 && ex_is_const(w->pool, a.text, &x) && x == 0;
}

static struct slope
plus_product(const struct relations *w, struct slope to, struct slope a, struct slope b)
{
    return (struct slope){ to.value + a.value * b.value,
                           ex_add(w->pool, to.text, elimination_product(w->pool, a.text, b.text, false)) };
}

static struct slope rate_of_variable(coefficient_rates *r, var_id v);

/* but: a block whose unknowns have zero rates, or NULL */
static struct slope
rate_of_definition(coefficient_rates *r, inst def, const eq_block *but)
{
    struct slope total = { 0, relations_number(r->w, 0) };

    for (uint32_t k = 0; k < def.n && r->w->fine; k++) {
        var_id v = inst_slots(r->w->f, def)[k];
        const eq_var *e = &r->w->e->var.at[v];
        bool rests = but && e->kind == DEF_BLOCK && &r->w->e->block.at[e->index] == but;
        struct slope rate = rests ? (struct slope){ 0, relations_number(r->w, 0) } : rate_of_variable(r, v);

        if (!is_zero_slope(r->w, rate))
            total = plus_product(r->w, total, relations_slope(r->w, def, k), rate);
    }
    return total;
}

/* The rate of an unknown of a block, from the time derivatives of the block's equations. */
static struct slope
rate_of_unknown(coefficient_rates *r, var_id v)
{
    struct relations *w = r->w;
    const eq_block *b = &w->e->block.at[w->e->var.at[v].index];
    elimination *rows = elimination_new(b->n + 1u, w->pool); /* columns: the unknowns' rates, and 1 */
    uint8_t *may = bg_calloc(b->n + 1u, 1);
    struct slope rate = { 0, relations_number(w, 0) };

    for (uint32_t i = 0; i < b->n && w->fine; i++) {
        inst zero = w->e->residual.at[b->residual0 + i];
        struct slope rest;

        may[i] = 1;
        for (uint32_t k = 0; k < b->n; k++) {
            uint32_t at = inst_slot_of(w->f, zero, w->e->unknown.at[b->unknown0 + k]);
            struct slope by = at == NONE ? rate : relations_slope(w, zero, at);

            elimination_put(rows, k, by.value, by.text);
        }
        rest = rate_of_definition(r, zero, b);
        elimination_put(rows, b->n, rest.value, rest.text);
        elimination_end(rows);
    }
    elimination_eliminate(rows, may);
    for (uint32_t k = 0; k < b->n && w->fine; k++) {
        term unused;
        sum s = elimination_express(rows, k, &unused);
        const term *last = &s.at[s.n - 1];

        if (w->e->unknown.at[b->unknown0 + k] != v)
            continue;
        if (!elimination_solved(rows, k))
            relations_fail(w, "\"%s\" has no rate here: its equations have no slopes", var_name(w->f, v));
        else if (last->column == b->n)
            rate = (struct slope){ -last->value, ex_neg(w->pool, last->text) };
    }
    elimination_free(rows);
    free(may);
    return rate;
}

static struct slope
variable_itself(const struct relations *w, var_id v)
{
    return (struct slope){ w->v[v], ex_slot(w->pool, v) };
}

static struct slope
find_rate(coefficient_rates *r, var_id v)
{
    const struct relations *w = r->w;
    const flat_var *x = &w->f->var.at[v];
    const eq_var *e = &w->e->var.at[v];

    if (x->kind == VAR_TIME)
        return (struct slope){ 1, relations_number(w, 1) };
    if (!relations_moves(w, v) || (w->acts && w->acts[v]))
        return (struct slope){ 0, relations_number(w, 0) };
    if (e->kind == DEF_STATE) {
        var_id rate = w->e->state.at[e->index].rate;
        inst def = w->e->var.at[rate].def;

        if (x->kind == VAR_INTEGRAL && def.n == 1 && pool_node(w->f->pool, def.root)->op == EX_SLOT)
            rate = inst_slots(w->f, def)[0]; /* under its name in the text */
        return variable_itself(w, rate);
    }
    if (x->kind != VAR_SIGNAL && r->rate_of[v] != VAR_NONE)
        return variable_itself(w, r->rate_of[v]);
    if (r->depth < DEEPEST && (x->kind == VAR_SIGNAL || e->kind == DEF_EXPLICIT || e->kind == DEF_BLOCK)) {
        struct slope rate;

        r->depth++;
        rate = x->kind != VAR_SIGNAL && e->kind == DEF_BLOCK
                   ? rate_of_unknown(r, v)
                   : rate_of_definition(r, x->kind == VAR_SIGNAL ? var_def(w->f, v) : e->def, NULL);
        r->depth--;
        return rate;
    }
    relations_fail(r->w, "the equations have no rate of \"%s\"", var_name(w->f, v));
    return (struct slope){ 0, relations_number(w, 0) };
}

static struct slope
rate_of_variable(coefficient_rates *r, var_id v)
{
    uint32_t at = map_get(&r->of_variable, v);

    if (at == MAP_NONE) {
        struct slope rate = find_rate(r, v);

        at = (uint32_t)r->known.n;
        vec_push(&r->known, rate);
        map_set(&r->of_variable, v, at);
    }
    return r->known.at[at];
}

struct slope
coefficient_rate(coefficient_rates *r, struct slope a)
{
    struct relations *w = r->w;
    struct slope total = { 0, relations_number(w, 0) };
    const node *tape;
    uint32_t at;
    size_t n;

    if (!w->pool || ex_is_const(w->pool, a.text, NULL))
        return total;
    at = map_get(&r->of_text, a.text);
    if (at != MAP_NONE)
        return r->known.at[at];
    tape = ex_tape(w->pool, a.text, &n);
    for (size_t i = 0; i < n && w->fine; i++) {
        const ex_node *e = pool_node(w->pool, tape[i]);
        struct slope rate;

        if (e->op != EX_SLOT)
            continue;
        rate = rate_of_variable(r, e->a);
        if (!is_zero_slope(w, rate)) {
            node by = ex_derivative(w->pool, a.text, e->a);

            total = plus_product(w, total, (struct slope){ ex_eval(w->pool, by, w->v), by }, rate);
        }
    }
    map_set(&r->of_text, a.text, (uint32_t)r->known.n);
    vec_push(&r->known, total);
    return total;
}
