/* program_thresholds.c - see program_thresholds.h */
#include <stdlib.h>
#include <string.h>

#include "expr_pool.h"
#include "program_thresholds.h"

enum { MANY = 8 }; /* fewer thresholds of a quantity are evaluated one by one */

/* Does it depend on parameters alone? */
static bool
is_set(const equations *e, inst g, node n)
{
    uint32_t *slot = bg_malloc((g.n + 1) * sizeof *slot);
    size_t nread = ex_slots_read(e->f->pool, n, g.n, slot);
    bool set = true;

    for (size_t i = 0; i < nread && set; i++) {
        enum var_kind kind = e->f->var.at[inst_slots(e->f, g)[slot[i]]].kind;

        set = kind == VAR_PARAM || kind == VAR_LITERAL;
    }
    free(slot);
    return set;
}

/* Takes a difference apart into a quantity and a threshold. */
static bool
split_difference(const equations *e, const eq_mode *q, inst *quantity, struct threshold *t)
{
    const ex_node difference = *pool_node(e->f->pool, q->g.root);
    node of;
    bool first;

    if (q->known || q->side != 0 || q->corner || (q->kind != MODE_LESS && q->kind != MODE_LESS_EQUAL) ||
        difference.op != EX_SUB)
        return false;
    first = is_set(e, q->g, difference.a);
    if (first == is_set(e, q->g, difference.b))
        return false;
    of = first ? difference.b : difference.a;
    t->above = !first;
    t->at = inst_part(e->composer, first ? difference.a : difference.b, inst_slots(e->f, q->g), q->g.n);
    *quantity = inst_part(e->composer, of, inst_slots(e->f, q->g), q->g.n);
    return true;
}

static uint64_t
hash_quantity(const equations *e, inst i)
{
    return bg_hash_bytes(inst_slots(e->f, i), i.n * sizeof(var_id), i.root);
}

struct candidates {
    const equations *e;
    VEC(inst) quantity;
    VEC(uint32_t) count;
    index_set found;
};

static uint64_t
hash_of_candidate(const void *ctx, uint32_t k)
{
    const struct candidates *c = ctx;

    return hash_quantity(c->e, c->quantity.at[k]);
}

static uint32_t
number_of_quantity(struct candidates *c, inst quantity)
{
    uint64_t hash = hash_quantity(c->e, quantity);
    uint32_t k;

    for (size_t i = hash; (k = index_set_at(&c->found, i)) != MAP_NONE; i++)
        if (inst_equal(c->e->f, c->quantity.at[k], quantity)) {
            c->count.at[k]++;
            return k;
        }
    vec_push(&c->quantity, quantity);
    vec_push(&c->count, 1);
    k = (uint32_t)c->quantity.n - 1;
    index_set_add(&c->found, hash, k, hash_of_candidate, c);
    return k;
}

thresholds
thresholds_find(equations *e)
{
    thresholds s = { bg_calloc(e->mode.n + 1, sizeof *s.of_mode), { 0 } };
    struct candidates c = { .e = e };
    bool *of_net = bg_calloc(e->mode.n + 1, sizeof *of_net);
    uint32_t *number;

    for (size_t i = 0; i < e->watch.n; i++)
        of_net[e->watch.at[i].mode] = true;
    for (size_t i = 0; i < e->mode.n; i++) {
        inst quantity;

        s.of_mode[i].of = NONE;
        if (!of_net[i] && split_difference(e, &e->mode.at[i], &quantity, &s.of_mode[i]))
            s.of_mode[i].of = number_of_quantity(&c, quantity);
    }
    number = bg_calloc(c.quantity.n + 1, sizeof *number);
    for (size_t k = 0; k < c.quantity.n; k++) {
        number[k] = c.count.at[k] >= MANY ? (uint32_t)s.quantity.n : NONE;
        if (c.count.at[k] >= MANY)
            vec_push(&s.quantity, c.quantity.at[k]);
    }
    for (size_t i = 0; i < e->mode.n; i++)
        if (s.of_mode[i].of != NONE)
            s.of_mode[i].of = number[s.of_mode[i].of];
    free(number);
    free(of_net);
    vec_free(&c.quantity);
    vec_free(&c.count);
    index_set_free(&c.found);
    return s;
}

void
thresholds_free(thresholds *s)
{
    free(s->of_mode);
    vec_free(&s->quantity);
    *s = (thresholds){ NULL, { 0 } };
}
