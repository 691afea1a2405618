/* maker_roots.c - the states that laws with infinite slopes read: roots, and powers that are solved for their base */
#include <stdlib.h>

#include "maker_inside.h"

static bool
has_operation(pool *p, node n, bool (*is)(const pool *p, const ex_node *x))
{
    size_t count;
    const node *tape = ex_tape(p, n, &count);

    for (size_t i = 0; i < count; i++)
        if (is(p, pool_node(p, tape[i])))
            return true;
    return false;
}

static bool
is_root_of_variable(const pool *p, const ex_node *x)
{
    double b;

    return x->op == EX_SQRT ||
           ((x->op == EX_SPOW || x->op == EX_POW) && (!ex_is_const(p, x->b, &b) || (b > 0 && b < 1)));
}

/* In a block a root is replaced by its inverse, a power above 1. */
static bool
is_root_of_block(const pool *p, const ex_node *x)
{
    return is_root_of_variable(p, x) || x->op == EX_SPOW;
}

/* In curved laws that are solved together a root may appear as its inverse, however it is written. */
static bool
is_power(const pool *p, const ex_node *x)
{
    (void)p;
    return x->op == EX_SQRT || x->op == EX_SPOW || x->op == EX_POW || (x->op == EX_MUL && x->a == x->b);
}

/* Has n no slope by slot k where that is zero (a cube), with some of the branches of its pieces? known: the answers so
 * far. */
static bool
has_no_slope_at_zero(pool *p, map *known, node n, uint32_t k)
{
    uint64_t key = (uint64_t)n << 32 | k;
    uint32_t none = map_get(known, key);
    node slope, *with;

    if (none != MAP_NONE)
        return none;
    slope = ex_derivative(p, n, k);
    with = bg_malloc(((size_t)k + 1) * sizeof *with);
    for (uint32_t i = 0; i <= k; i++)
        with[i] = i == k ? ex_const(p, 0) : NODE_NONE;
    none = equations_is_zero_somewhere(p, ex_substitute(p, slope, with, k + 1));
    map_set(known, key, none);
    free(with);
    return none;
}

/* Reads what the equations of blocks read that have no slope by one of their unknowns where that is zero: solved for
 * it, they have an infinite one. */
static void
read_inverse_powers(const maker *k, definition_walk *back)
{
    const equations *e = k->e;
    map known = { 0 }, sloped = { 0 }; /* unknowns that an equation has a slope by */

    for (int round = 0; round < 2; round++)
        for (size_t b = 0; b < e->block.n; b++) {
            const eq_block *q = &e->block.at[b];

            for (uint32_t i = 0; i < q->n && !q->linear; i++) {
                inst d = e->residual.at[q->residual0 + i];

                for (uint32_t s = 0; s < d.n; s++) {
                    var_id v = k->f->slot.at[d.first + s];

                    if (e->var.at[v].kind != DEF_BLOCK || e->var.at[v].index != b)
                        continue;
                    if (round == 0 && !has_no_slope_at_zero(k->f->pool, &known, d.root, s))
                        map_set(&sloped, v, 1);
                    else if (round == 1 && map_get(&sloped, v) == MAP_NONE)
                        definition_walk_read(back, d);
                }
            }
        }
    map_free(&known);
    map_free(&sloped);
}

image_roots *
image_roots_make(const image *m, const maker *k)
{
    const equations *e = k->e;
    image_roots *r = bg_calloc(1, sizeof *r);
    map roots = { 0 }; /* template -> has one */
    definition_walk back;
    bool power = false; /* somewhere */
    var_id v;

    definition_walk_begin(&back, e);
    r->fed = bg_calloc(e->state.n + 1, sizeof *r->fed);
    for (size_t i = 0; i < e->var.n + e->residual.n; i++) {
        bool of_block = i >= e->var.n;
        inst d = of_block ? e->residual.at[i - e->var.n] : e->var.at[i].def;
        uint64_t key = (uint64_t)d.root << 1 | of_block;

        if (!of_block && e->var.at[i].kind != DEF_EXPLICIT)
            continue;
        if (map_get(&roots, key) == MAP_NONE)
            map_set(&roots, key, has_operation(k->f->pool, d.root, of_block ? is_root_of_block : is_root_of_variable));
        if (map_get(&roots, key))
            definition_walk_read(&back, d);
        power = power || (e->net.n && has_operation(k->f->pool, d.root, is_power));
    }
    for (size_t i = 0; i < e->net.n && power; i++)
        for (uint32_t h = 0; h < e->net.at[i].n && e->net.at[i].curved; h++)
            if ((v = e->row.at[e->net.at[i].held0 + h].r.d[0]) != VAR_NONE)
                definition_walk_read(&back, e->var.at[v].def);
    read_inverse_powers(k, &back);
    while (definition_walk_next(&back, &v))
        if (e->var.at[v].kind == DEF_STATE)
            r->fed[m->position[v]] = r->any = true;
    map_free(&roots);
    definition_walk_free(&back);
    return r;
}
