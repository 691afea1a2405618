/* stick.c - see stick.h
 *
 * With x as the equation of s, a sign is algebraic where s lies on a loop: strongly connected sets by Tarjan's method, iterative.
 */
#include <stdlib.h>

#include "mode.h"
#include "stick.h"

enum { UNSEEN = 0 };

struct frame { uint32_t node, equation, slot; };

/* Nodes are variables by number, groups behind them. */
struct search {
    const equations *e;
    const struct groups *g;
    uint32_t nvars;
    map sign;                    /* s -> number of its sign */
    uint32_t *index, *low, counter;
    bool *on_stack;
    VEC(uint32_t) stack;
    VEC(struct frame) call;
};

static uint32_t equations_of(const struct search *s, uint32_t n)
{
    return n < s->nvars ? 1 : group_size(s->g, n - s->nvars);
}

static inst equation_of(const struct search *s, uint32_t n, uint32_t i)
{
    uint32_t k;

    if (n >= s->nvars)
        return group_residual(s->g, n - s->nvars, i);
    k = map_get(&s->sign, n);
    return k != MAP_NONE ? s->e->sign.at[k].x : s->e->var.at[n].def;
}

/* What has to be found before v is known, or UINT32_MAX. */
static uint32_t node_of(const struct search *s, var_id v)
{
    uint32_t group;

    if (s->e->var.at[v].kind == DEF_EXPLICIT || map_get(&s->sign, v) != MAP_NONE)
        return v;
    group = group_of(s->g, v);
    return group == UINT32_MAX ? UINT32_MAX : s->nvars + group;
}

static void enter(struct search *s, uint32_t n)
{
    s->index[n] = s->low[n] = ++s->counter;
    s->on_stack[n] = true;
    vec_push(&s->stack, n);
    vec_push(&s->call, ((struct frame){ n, 0, 0 }));
}

/* Takes the set that n is the root of from the stack. */
static void leave(struct search *s, uint32_t n, bool *algebraic)
{
    bool loop = s->stack.at[s->stack.n - 1] != n;
    uint32_t w;

    do {
        uint32_t k;

        w = s->stack.at[--s->stack.n];
        s->on_stack[w] = false;
        k = w < s->nvars ? map_get(&s->sign, w) : MAP_NONE;
        if (k != MAP_NONE)
            algebraic[k] = loop;
    } while (w != n);
}

static void visit(struct search *s, uint32_t root, bool *algebraic)
{
    enter(s, root);
    while (s->call.n) {
        struct frame *c = &s->call.at[s->call.n - 1];
        uint32_t n = c->node;

        if (c->equation < equations_of(s, n)) {
            inst d = equation_of(s, n, c->equation);
            uint32_t w;

            if (c->slot >= d.n) {
                c->equation++;
                c->slot = 0;
                continue;
            }
            w = node_of(s, s->e->f->slot.at[d.first + c->slot++]);
            if (w == UINT32_MAX)
                continue;
            if (s->index[w] == UNSEEN)
                enter(s, w);
            else if (s->on_stack[w] && s->index[w] < s->low[n])
                s->low[n] = s->index[w];
            continue;
        }
        s->call.n--;
        if (s->call.n) {
            uint32_t up = s->call.at[s->call.n - 1].node;

            if (s->low[n] < s->low[up])
                s->low[up] = s->low[n];
        }
        if (s->low[n] == s->index[n])
            leave(s, n, algebraic);
    }
}

/* algebraic[k]: x of sign k depends on its s through equations alone. */
static void find_algebraic(const equations *e, const struct groups *g, bool *algebraic)
{
    struct search s = { .e = e, .g = g, .nvars = (uint32_t)e->var.n };
    size_t nodes = e->var.n + g->group.n;

    s.index = bg_calloc(nodes + 1, sizeof *s.index);
    s.low = bg_calloc(nodes + 1, sizeof *s.low);
    s.on_stack = bg_calloc(nodes + 1, sizeof *s.on_stack);
    for (uint32_t k = 0; k < e->sign.n; k++)
        map_set(&s.sign, e->sign.at[k].s, k);
    for (uint32_t k = 0; k < e->sign.n; k++)
        if (s.index[e->sign.at[k].s] == UNSEEN)
            visit(&s, e->sign.at[k].s, algebraic);
    free(s.index);
    free(s.low);
    free(s.on_stack);
    map_free(&s.sign);
    vec_free(&s.stack);
    vec_free(&s.call);
}

static uint64_t hash_of(const flat_model *f, inst i)
{
    return bg_hash_bytes(inst_slots(f, i), i.n * sizeof(var_id), i.root);
}

/* Conditions on an x that may stick (abs(x) beside sign(x)) rest while it does: x is zero there but for rounding. */
static void find_conditions(equations *e)
{
    flat_model *f = e->f;
    map seen = { 0 };                    /* hash of x and -x -> 2*sign + (is -x) */
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

void stick_define(equations *e, struct groups *g, struct rates *r)
{
    flat_model *f = e->f;
    pool *p = f->pool;
    node residual = ex_make(p, EX_SELECT, ex_slot(p, 0), ex_slot(p, 1), ex_sub(p, ex_slot(p, 2), ex_slot(p, 3)));
    bool *algebraic = bg_calloc(e->sign.n + 1, sizeof *algebraic);
    VEC(var_id) held = { 0 };            /* what is to be zero: x or its rate */

    if (e->sign.n == 0) {
        free(algebraic);
        return;
    }
    eq_sync(e);
    find_algebraic(e, g, algebraic);
    for (size_t k = 0; k < e->sign.n; k++) {
        const eq_sign *q = &e->sign.at[k];
        var_id x = eq_new_var(e, VAR_AUX, UINT32_MAX, f->var.at[q->s].name, q->at, q->x.n ? f->var.at[f->slot.at[q->x.first]].position : 0);

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
