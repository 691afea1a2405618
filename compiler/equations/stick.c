/* stick.c - see stick.h
 *
 * A sign is algebraic if, with x as the equation of s, s is in a loop.
 */
#include <stdlib.h>

#include "loops.h"
#include "stick.h"
#include "walks.h"

/* algebraic[k]: x of sign k depends on its s through equations alone. */
static void
find_algebraic(const equations *e, const struct groups *g, bool *algebraic)
{
    map own = { 0 };
    VEC(inst) x = { 0 };
    struct loops found;

    for (uint32_t k = 0; k < e->sign.n; k++) {
        map_set(&own, e->sign.at[k].s, k);
        vec_push(&x, e->sign.at[k].x);
    }
    loops_find(e, g, &own, x.at, &found);
    for (uint32_t k = 0; k < e->sign.n; k++)
        algebraic[k] = found.loop[e->sign.at[k].s];
    loops_free(&found);
    map_free(&own);
    vec_free(&x);
}

static uint64_t
ordered_hash(const flat_model *f, inst i)
{
    return bg_hash_bytes(inst_slots(f, i), i.n * sizeof(var_id), i.root);
}

/* Conditions on an x that may stick (abs(x) beside sign(x)) do not switch while it does: x is zero there up to
 * rounding. */
static void
find_conditions(equations *e)
{
    flat_model *f = e->f;
    map seen = { 0 }; /* hash of x and -x -> 2*sign + (is -x) */
    VEC(inst) negative = { 0 };

    for (uint32_t k = 0; k < e->sign.n; k++) {
        inst x = e->sign.at[k].x;
        VEC(var_id) slot = { 0 };

        for (uint32_t i = 0; i < x.n; i++)
            vec_push(&slot, f->slot.at[x.first + i]);
        vec_push(&negative, inst_part(e->composer, ex_neg(f->pool, x.root), slot.at, x.n));
        map_set(&seen, ordered_hash(f, x), 2 * k);
        map_set(&seen, ordered_hash(f, negative.at[k]), 2 * k + 1);
        vec_free(&slot);
    }
    for (size_t i = 0; i < e->mode.n; i++) {
        eq_mode *m = &e->mode.at[i];
        uint32_t k;

        if (m->kind != MODE_LESS && m->kind != MODE_LESS_EQUAL && m->kind != MODE_EQUAL)
            continue;
        k = map_get(&seen, ordered_hash(f, m->g));
        if (k == MAP_NONE || !inst_equal(f, m->g, k % 2 ? negative.at[k / 2] : e->sign.at[k / 2].x))
            continue;
        m->side = k % 2 ? -1 : 1;
        m->partner = e->sign.at[k / 2].stick;
    }
    map_free(&seen);
    vec_free(&negative);
}

/* A condition that is never on. */
static void
never(equations *e, eq_mode *m)
{
    m->kind = MODE_LESS;
    m->g = inst_const(e->f, 1);
}

/* Is the border of a relay left - right, for two variables? */
static bool
compares_two(const equations *e, const eq_sign *q, var_id *left, var_id *right)
{
    const pool *p = e->f->pool;
    const ex_node *x = pool_node(p, q->x.root);
    const var_id *slot = inst_slots(e->f, q->x);

    if (!q->relay || x->op != EX_SUB || pool_node(p, x->a)->op != EX_SLOT || pool_node(p, x->b)->op != EX_SLOT)
        return false;
    *left = slot[pool_node(p, x->a)->a];
    *right = slot[pool_node(p, x->b)->a];
    return true;
}

/* Relays on one border that is written from both sides (a > b, b > a) would each have a value of their own there, which
 * staying on the border does not determine. They remain plain conditions. */
static void
drop_opposite(const equations *e, bool *drop)
{
    map at = { 0 };

    for (size_t k = 0; k < e->sign.n; k++) {
        var_id left, right;
        uint32_t other;

        if (!compares_two(e, &e->sign.at[k], &left, &right))
            continue;
        other = map_get(&at, (uint64_t)right << 32 | left);
        if (other != MAP_NONE)
            drop[other] = drop[k] = true;
        map_set(&at, (uint64_t)left << 32 | right, (uint32_t)k);
    }
    map_free(&at);
}

/* Relays that nothing can keep on their border remain plain conditions: s must act on x, through equations or through
 * the rates of states. If it acts through rates, their jump must not depend on s through equations: otherwise two
 * resistors in turns, where all is linear, would need an iteration in every step. */
static void
drop_relays(equations *e, const struct groups *g, bool *algebraic)
{
    group_walk w = { 0 };
    bool *drop = bg_calloc(e->sign.n, sizeof *drop);
    size_t n = 0;

    for (size_t i = 0; i < e->jump.n; i++) {
        uint32_t k = e->jump.at[i].sign;

        drop[k] |= e->sign.at[k].relay && !algebraic[k] &&
                   group_walk_follows(&w, e, g, e->jump.at[i].by, e->sign.at[k].s);
    }
    drop_opposite(e, drop);
    for (size_t k = 0; k < e->sign.n; k++) {
        const eq_sign *q = &e->sign.at[k];

        drop[k] |= q->relay && !algebraic[k] && !group_walk_moves(&w, e, g, q->x, q->s);
    }
    for (size_t k = 0; k < e->sign.n; k++) {
        eq_sign q = e->sign.at[k];

        if (drop[k]) {
            eq_define(e, q.s, inst_const(e->f, 0));
            never(e, &e->mode.at[q.slip]);
            never(e, &e->mode.at[q.stick]);
            continue;
        }
        e->f->var.at[q.s].owner = (uint32_t)n;
        algebraic[n] = algebraic[k];
        e->sign.at[n++] = q;
    }
    e->sign.n = n;
    group_walk_free(&w);
    free(drop);
}

void
stick_define(equations *e, struct groups *g, struct rates *r)
{
    flat_model *f = e->f;
    pool *p = f->pool;
    node residual = ex_make(p, EX_SELECT, ex_slot(p, 0), ex_slot(p, 1), ex_sub(p, ex_slot(p, 2), ex_slot(p, 3)));
    bool *algebraic = bg_calloc(e->sign.n + 1, sizeof *algebraic);
    VEC(var_id) held = { 0 }; /* what is to be zero: x or its rate */

    if (e->sign.n == 0) {
        free(algebraic);
        return;
    }
    eq_sync(e);
    find_algebraic(e, g, algebraic);
    drop_relays(e, g, algebraic);
    for (size_t k = 0; k < e->sign.n; k++) {
        const eq_sign *q = &e->sign.at[k];
        var_id x = eq_new_var(e, VAR_AUX, NONE, var_name(f, q->s), q->at,
                              q->x.n ? f->var.at[f->slot.at[q->x.first]].position : 0);

        e->mode.at[q->slip].relay = q->relay;
        eq_define(e, x, q->x);
        f->var.at[q->s].position = f->var.at[x].position;
        vec_push(&held, algebraic[k] ? x : rate_of(r, x));
    }
    define_rates(r);
    for (size_t k = 0; k < e->sign.n; k++) {
        const eq_sign *q = &e->sign.at[k];
        var_id slot[] = { e->mode.at[q->stick].var, held.at[k], q->s, e->mode.at[q->slip].var };

        group_add(g, group_new(g), q->s, flat_inst(f, residual, slot, 4));
    }
    vec_free(&held);
    free(algebraic);
    find_conditions(e);
}
