/* stick.c - see stick.h
 *
 * With x as the equation of s, a sign is algebraic where s lies on a loop.
 */
#include <stdlib.h>

#include "loops.h"
#include "stick.h"

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
hash_of(const flat_model *f, inst i)
{
    return bg_hash_bytes(inst_slots(f, i), i.n * sizeof(var_id), i.root);
}

/* Conditions on an x that may stick (abs(x) beside sign(x)) rest while it does: x is zero there but for rounding. */
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
        map_set(&seen, hash_of(f, x), 2 * k);
        map_set(&seen, hash_of(f, negative.at[k]), 2 * k + 1);
        vec_free(&slot);
    }
    for (size_t i = 0; i < e->mode.n; i++) {
        eq_mode *m = &e->mode.at[i];
        uint32_t k;

        if (m->kind != MODE_LESS && m->kind != MODE_LESS_EQUAL && m->kind != MODE_EQUAL)
            continue;
        k = map_get(&seen, hash_of(f, m->g));
        if (k == MAP_NONE || !inst_equal(f, m->g, k % 2 ? negative.at[k / 2] : e->sign.at[k / 2].x))
            continue;
        m->side = k % 2 ? -1 : 1;
        m->partner = e->sign.at[k / 2].stick;
    }
    map_free(&seen);
    vec_free(&negative);
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
    for (size_t k = 0; k < e->sign.n; k++) {
        const eq_sign *q = &e->sign.at[k];
        var_id x = eq_new_var(e, VAR_AUX, UINT32_MAX, var_name(f, q->s), q->at,
                              q->x.n ? f->var.at[f->slot.at[q->x.first]].position : 0);

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
