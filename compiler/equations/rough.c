/* rough.c - see rough.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rates.h"
#include "rough.h"

struct unfolding {
    equations *e;
    bool closed; /* no further unknowns are made */
    bool roots;  /* roots and sinh too, not only exponentials and logarithms */
    map unknown; /* unknown of the block -> 1 */
    map made;    /* hash of an operation on an inst -> first of done */
    VEC(struct done {
        inst what; /* the operation */
        var_id u;  /* the unknown that is its value */
        uint32_t next;
    })
    done;
    uint32_t position; /* of new unknowns in the text, */
    span at;           /* and their place in messages */
};

static node
apply(pool *p, enum ex_op op, node a)
{
    return ex_make(p, op, a, NODE_NONE, NODE_NONE);
}

/* The exponent b of a root a^b; 0: not a root. */
static double
root_exponent(const pool *p, const ex_node *x)
{
    double b;

    if (x->op == EX_SQRT)
        return 0.5;
    if ((x->op == EX_SPOW || x->op == EX_POW) && ex_is_const(p, x->b, &b) && b > 0 && b < 1)
        return b;
    return 0;
}

static bool
is_exponential(const pool *p, node n)
{
    const ex_node *x = pool_node(p, n);

    return x->op == EX_EXP || (x->op == EX_POW && ex_is_const(p, x->a, NULL));
}

static bool
is_rough(const pool *p, node n, bool roots)
{
    const ex_node *x = pool_node(p, n);

    return is_exponential(p, n) || x->op == EX_LN || (roots && (x->op == EX_SINH || root_exponent(p, x) > 0));
}

/* u = exp(a) as G(u) - H(a) = 0 (rough.h). Where u is below 1 and a below 0, the 1 that is taken from both is left out:
 * of u = 1e-20 it would leave nothing. */
static node
smooth_exponential(pool *p, node u, node a)
{
    node one = ex_const(p, 1), zero = ex_const(p, 0), e = apply(p, EX_EXP, a);
    node large = ex_make(p, EX_LT, one, u, NODE_NONE), positive = ex_make(p, EX_LT, zero, a, NODE_NONE);
    node from_large = ex_sub(p, apply(p, EX_LN, u), ex_make(p, EX_SELECT, positive, a, ex_sub(p, e, one)));
    node from_small = ex_make(p, EX_SELECT, positive, ex_sub(p, ex_sub(p, u, one), a), ex_sub(p, u, e));

    return ex_make(p, EX_SELECT, large, from_large, from_small);
}

/* u^b = a, b > 1. On the side of a condition where a is the number 0 the equation is u = 0: u^b = 0 is a multiple zero,
 * at which Newton's method converges slowly. */
static node
root_equation(pool *p, node a, node u, double b)
{
    ex_node x = *pool_node(p, a);
    double zero;

    if (x.op == EX_SELECT && ex_is_const(p, x.b, &zero) && zero == 0)
        return ex_make(p, EX_SELECT, x.a, ex_neg(p, u), root_equation(p, x.c, u, b));
    if (x.op == EX_SELECT && ex_is_const(p, x.c, &zero) && zero == 0)
        return ex_make(p, EX_SELECT, x.a, root_equation(p, x.b, u, b), ex_neg(p, u));
    return ex_sub(p, a, ex_make(p, EX_SPOW, u, ex_const(p, b), NODE_NONE));
}

/* The equation that defines u as the value of operation n, in the direction that is smooth. */
static node
smooth_equation(pool *p, node n, node u)
{
    ex_node x = *pool_node(p, n);
    double c, b = root_exponent(p, &x);

    if (b > 0)
        return root_equation(p, x.a, u, 1 / b);
    if (x.op == EX_LN)
        return smooth_exponential(p, x.a, u);
    if (x.op == EX_EXP)
        return smooth_exponential(p, u, x.a);
    if (x.op == EX_SINH)
        return ex_sub(p, apply(p, EX_ASINH, u), x.a);
    ex_is_const(p, x.a, &c);
    return smooth_exponential(p, u, ex_mul(p, ex_const(p, log(c)), x.b));
}

/* The first (innermost) rough operation in root that reads a flagged slot; NODE_NONE: there is none. used: [nslots] for
 * its work. */
static node
find_rough(pool *p, node root, bool roots, const bool *flag, uint32_t nslots, bool *used)
{
    size_t count;
    const node *tape = ex_tape(p, root, &count);

    for (size_t i = 0; i < count; i++) {
        double c;

        if (!is_rough(p, tape[i], roots) ||
            (pool_node(p, tape[i])->op == EX_POW && ex_is_const(p, pool_node(p, tape[i])->a, &c) && !(c > 0)))
            continue;
        ex_slots_used(p, tape[i], used, nslots);
        for (uint32_t k = 0; k < nslots; k++)
            if (used[k] && flag[k])
                return tape[i];
    }
    return NODE_NONE;
}

/* A hash that does not depend on the order of slots. */
static uint64_t
unordered_hash(const flat_model *f, inst i)
{
    uint64_t h = i.n;

    for (uint32_t k = 0; k < i.n; k++) {
        var_id v = f->slot.at[i.first + k];
        uint64_t what = v;

        if (f->var.at[v].kind == VAR_LITERAL) {
            double value = var_value(f, v);

            memcpy(&what, &value, sizeof what);
        }
        h += bg_hash_mix(what, 17);
    }
    return h;
}

/* The slot of i with variable v, or with the same number of the text; NONE. */
static uint32_t
slot_like(const flat_model *f, inst i, var_id v)
{
    uint32_t k = inst_slot_of(f, i, v);

    for (uint32_t j = 0; k == NONE && f->var.at[v].kind == VAR_LITERAL && j < i.n; j++) {
        var_id w = f->slot.at[i.first + j];

        if (f->var.at[w].kind == VAR_LITERAL && var_value(f, w) == var_value(f, v))
            k = j;
    }
    return k;
}

/* Are the expressions equal up to the order of their slots? */
static bool
is_same_unordered(const flat_model *f, inst a, inst b)
{
    VEC(node) with = { 0 };
    bool same = a.n == b.n;

    if (inst_equal(f, a, b))
        return true;
    for (uint32_t k = 0; k < b.n && same; k++) {
        uint32_t at = slot_like(f, a, f->slot.at[b.first + k]);

        same = at != NONE;
        vec_push(&with, same ? ex_slot(f->pool, at) : NODE_NONE);
    }
    same = same && ex_substitute(f->pool, b.root, with.at, b.n) == a.root;
    vec_free(&with);
    return same;
}

/* The unknown for an operation; made, with its equation, at its first occurrence. VAR_NONE if no more are made. */
static var_id
unknown_for(unfolding *z, inst what)
{
    equations *e = z->e;
    flat_model *f = e->f;
    uint64_t hash = unordered_hash(f, what);
    uint32_t first = map_get(&z->made, hash);
    strbuf name = { 0 };
    VEC(var_id) slot = { 0 };
    var_id u;

    for (uint32_t k = first; k != MAP_NONE; k = z->done.at[k].next)
        if (is_same_unordered(f, z->done.at[k].what, what))
            return z->done.at[k].u;
    if (z->closed)
        return VAR_NONE;
    flat_print(f, what, &name);
    u = eq_new_var(e, VAR_AUX, NONE, names_intern_z(f->names, name.at), z->at, z->position);
    strbuf_free(&name);
    map_set(&z->made, hash, (uint32_t)z->done.n);
    vec_push(&z->done, ((struct done){ what, u, first }));
    for (uint32_t k = 0; k < what.n; k++)
        vec_push(&slot, f->slot.at[what.first + k]);
    vec_push(&slot, u);
    vec_push(&e->unknown, u);
    vec_push(&e->residual, inst_part(e->composer, smooth_equation(f->pool, what.root, ex_slot(f->pool, what.n)),
                                     slot.at, what.n + 1));
    map_set(&z->unknown, u, 1);
    e->var.at[u].from_one = is_exponential(f->pool, what.root);
    vec_free(&slot);
    return u;
}

/* Replaces the rough operations of a residual one by one, innermost first, so that the equations of new unknowns are
 * smooth too. */
static inst
unfold(unfolding *z, inst r)
{
    equations *e = z->e;
    flat_model *f = e->f;

    for (;;) {
        VEC(var_id) slot = { 0 };
        bool *flag = bg_calloc(2 * (size_t)r.n + 1, sizeof *flag);
        node n;

        for (uint32_t k = 0; k < r.n; k++) {
            vec_push(&slot, f->slot.at[r.first + k]);
            flag[k] = map_get(&z->unknown, slot.at[k]) != MAP_NONE;
        }
        n = find_rough(f->pool, r.root, z->roots, flag, r.n, flag + r.n);
        free(flag);
        if (n != NODE_NONE) {
            var_id u = unknown_for(z, inst_part(e->composer, n, slot.at, r.n));

            if (u == VAR_NONE) {
                n = NODE_NONE;
            } else {
                vec_push(&slot, u);
                r = inst_part(e->composer, ex_put(f->pool, r.root, n, ex_slot(f->pool, r.n)), slot.at, r.n + 1);
            }
        }
        vec_free(&slot);
        if (n == NODE_NONE)
            return r;
    }
}

/* New unknowns have the place of `like`. */
static unfolding *
new_unfolding(equations *e, var_id like, bool roots)
{
    unfolding *z = bg_calloc(1, sizeof *z);

    z->e = e;
    z->roots = roots;
    z->position = e->f->var.at[like].position;
    z->at = var_at(e->f, like);
    return z;
}

bool
rough_grows(const equations *e, const map *variables, uint32_t residual0)
{
    const flat_model *f = e->f;
    bool grows = false;

    for (size_t i = residual0; i < e->residual.n && !grows; i++) {
        inst r = e->residual.at[i];
        bool *flag = bg_calloc(2 * (size_t)r.n + 1, sizeof *flag);

        for (uint32_t k = 0; k < r.n; k++)
            flag[k] = map_get(variables, f->slot.at[r.first + k]) != MAP_NONE;
        grows = find_rough(f->pool, r.root, false, flag, r.n, flag + r.n) != NODE_NONE;
        free(flag);
    }
    return grows;
}

unfolding *
rough_unfold(equations *e, uint32_t unknown0, uint32_t residual0)
{
    size_t given = e->residual.n;
    unfolding *z = new_unfolding(e, e->unknown.at[unknown0], true);

    for (size_t k = unknown0; k < e->unknown.n; k++)
        map_set(&z->unknown, e->unknown.at[k], 1);
    for (size_t k = residual0; k < given; k++) {
        inst r = unfold(z, e->residual.at[k]);

        e->residual.at[k] = r;
    }
    z->closed = true;
    return z;
}

unfolding *
rough_among(equations *e, const var_id *v, size_t n)
{
    unfolding *z = new_unfolding(e, v[0], false);

    for (size_t k = 0; k < n; k++)
        map_set(&z->unknown, v[k], 1);
    return z;
}

inst
rough_reuse(unfolding *z, inst d)
{
    return z->done.n || !z->closed ? unfold(z, d) : d;
}

void
rough_free(unfolding *z)
{
    if (!z)
        return;
    map_free(&z->unknown);
    map_free(&z->made);
    vec_free(&z->done);
    free(z);
}
