/* alike.c - see alike.h */
#include <stdlib.h>
#include <string.h>

#include "alike.h"
#include "rough.h"
#include "views.h"

enum {
    ROUNDS = 16,  /* what is left out makes more residuals alike */
    MOST_READ = 8 /* unknowns of a residual that is compared with others: not sums of many */
};

/* How an expression goes with one of its slots. EITHER: rises or falls, by the sign of something else. */
enum course { CONSTANT, RISES, FALLS, EITHER, ANYHOW };

struct block_alike {
    equations *e;
    alike *found;
    VEC(var_id) unknown;
    VEC(inst) residual;
    map is_unknown;
    map kept; /* variables that others are left out for in this round */
    bool changed;
};

/* ---- how it goes ---- */

static enum course
reversed(enum course c)
{
    return c == RISES ? FALLS : c == FALLS ? RISES : c;
}

static enum course
added(enum course a, enum course b)
{
    if (a == CONSTANT || b == CONSTANT)
        return a == CONSTANT ? b : a;
    return a == b && a != EITHER ? a : ANYHOW;
}

/* n is constant. */
static enum course
multiplied(const pool *p, enum course c, node n)
{
    double value;

    if (c == CONSTANT || c == ANYHOW)
        return c;
    if (!ex_is_const(p, n, &value))
        return EITHER;
    return value > 0 ? c : value < 0 ? reversed(c) : CONSTANT;
}

static bool
is_above(const pool *p, node n, double than)
{
    double value;

    return ex_is_const(p, n, &value) && value > than;
}

static enum course
course_of(const pool *p, const ex_node *x, enum course a, enum course b)
{
    switch (x->op) {
    case EX_ADD: return added(a, b);
    case EX_SUB: return added(a, reversed(b));
    case EX_NEG: return reversed(a);
    case EX_MUL: return b == CONSTANT ? multiplied(p, a, x->b) : a == CONSTANT ? multiplied(p, b, x->a) : ANYHOW;
    case EX_DIV: return b == CONSTANT ? multiplied(p, a, x->b) : ANYHOW;
    case EX_SPOW: return b == CONSTANT && is_above(p, x->b, 0) ? a : ANYHOW;
    case EX_POW: return a == CONSTANT && is_above(p, x->a, 1) ? b : ANYHOW;
    case EX_SQRT:
    case EX_EXP:
    case EX_LN:
    case EX_LOG10:
    case EX_ATAN:
    case EX_SINH:
    case EX_TANH:
    case EX_ASINH: return a;
    default: return ANYHOW;
    }
}

/* Of root with slot k. */
static enum course
course(pool *p, node root, uint32_t k)
{
    size_t count;
    const node *tape = ex_tape(p, root, &count);
    enum course *of = bg_malloc(count * sizeof *of), found;
    map at = { 0 };

    for (size_t i = 0; i < count; i++) {
        const ex_node *x = pool_node(p, tape[i]);
        enum course c[3] = { CONSTANT, CONSTANT, CONSTANT };

        map_set(&at, tape[i], (uint32_t)i);
        if (x->op == EX_CONST || x->op == EX_SLOT) {
            of[i] = x->op == EX_SLOT && x->a == k ? RISES : CONSTANT;
            continue;
        }
        for (int j = 0; j < 3; j++) {
            node operand = j == 0 ? x->a : j == 1 ? x->b : x->c;

            if (operand != NODE_NONE)
                c[j] = of[map_get(&at, operand)];
        }
        of[i] = c[0] == CONSTANT && c[1] == CONSTANT && c[2] == CONSTANT ? CONSTANT : course_of(p, x, c[0], c[1]);
    }
    found = of[count - 1];
    map_free(&at);
    free(of);
    return found;
}

/* ---- multiples ---- */

/* With the numbers of the text in their slots: equal ones of several elements are several variables. */
static node
with_numbers(const flat_model *f, inst i)
{
    VEC(node) with = { 0 };
    node root;

    for (uint32_t k = 0; k < i.n; k++) {
        var_id v = f->slot.at[i.first + k];

        vec_push(&with, f->var.at[v].kind == VAR_LITERAL ? ex_const(f->pool, var_value(f, v)) : NODE_NONE);
    }
    root = ex_substitute(f->pool, i.root, with.at, i.n);
    vec_free(&with);
    return root;
}

static bool
is_unknown(const struct block_alike *b, var_id v)
{
    return map_get(&b->is_unknown, v) != MAP_NONE;
}

static bool
is_left_out(const struct block_alike *b, var_id v)
{
    return map_get(&b->found->of, v) != MAP_NONE;
}

static void
leave_out_unknown(struct block_alike *b, var_id v, inst def)
{
    map_set(&b->found->of, v, (uint32_t)b->found->same.n);
    vec_push(&b->found->same, ((struct same){ v, def }));
    b->changed = true;
}

/* Does the residual say that one unknown is a multiple of another? Then it is left out. */
static bool
take_multiple(struct block_alike *b, inst r)
{
    flat_model *f = b->e->f;
    node root = with_numbers(f, r), solution, divisor;
    uint32_t slot[2], n = 0;
    double *zero = bg_calloc(r.n + 1, sizeof *zero), *factor = bg_calloc(r.n + 1, sizeof *factor);
    bool *flag = bg_calloc(r.n + 1, sizeof *flag), is = true;
    var_id v[2];

    for (uint32_t k = 0; k < r.n && is; k++) {
        var_id u = f->slot.at[r.first + k];

        if (f->var.at[u].kind == VAR_LITERAL)
            continue;
        is = n < 2 && is_unknown(b, u) && !is_left_out(b, u);
        if (is) {
            flag[k] = true;
            slot[n] = k;
            v[n++] = u;
        }
    }
    is = is && n == 2 && view_is_combination(f->pool, root, flag, zero, r.n, factor);
    free(zero);
    free(factor);
    free(flag);
    if (is) { /* of two that none is left out for the later one goes */
        bool first = map_get(&b->kept, v[0]) != MAP_NONE, second = map_get(&b->kept, v[1]) != MAP_NONE;
        int out = second || (!first && v[0] > v[1]) ? 0 : 1;

        is = !(first && second) && ex_solve(f->pool, r.root, slot[out], &solution, &divisor);
        if (is) {
            leave_out_unknown(b, v[out], inst_part(b->e->composer, solution, inst_slots(f, r), r.n));
            map_set(&b->kept, v[1 - out], 1);
        }
    }
    return is;
}

/* ---- equal laws ---- */

/* A residual seen from one of its unknowns. */
struct seen {
    view as;
    var_id from;
    uint32_t next; /* with the same hash */
};

struct views {
    VEC(struct seen) all;
    view_variables others;
    map of; /* hash -> the first of all */
};

/* The unknown of which an earlier residual says what this one says of v; VAR_NONE. */
static var_id
same_as(struct block_alike *b, struct views *all, inst r, var_id v)
{
    view w = view_from(b->e, r, v, false, &all->others);
    uint64_t hash = bg_hash_bytes(all->others.at + w.others0, w.n * sizeof(var_id), w.root);
    uint32_t first = map_get(&all->of, hash);

    for (uint32_t i = first; i != MAP_NONE; i = all->all.at[i].next) {
        const struct seen *o = &all->all.at[i];

        if (o->as.root == w.root && o->as.n == w.n && o->from != v &&
            !memcmp(all->others.at + o->as.others0, all->others.at + w.others0, w.n * sizeof(var_id))) {
            enum course c = course(b->e->f->pool, w.root, 0);

            return c == RISES || c == FALLS || c == EITHER ? o->from : VAR_NONE;
        }
    }
    map_set(&all->of, hash, (uint32_t)all->all.n);
    vec_push(&all->all, ((struct seen){ w, v, first }));
    return VAR_NONE;
}

/* Residuals that say of one unknown what others say of another become that both are the same. */
static void
find_equal_laws(struct block_alike *b)
{
    equations *e = b->e;
    flat_model *f = e->f;
    struct views all = { 0 };

    for (size_t i = 0; i < b->residual.n; i++) {
        inst r = b->residual.at[i];
        uint32_t unknowns = 0;
        var_id same = VAR_NONE;

        for (uint32_t k = 0; k < r.n; k++)
            unknowns += is_unknown(b, f->slot.at[r.first + k]);
        for (uint32_t k = 0; k < r.n && unknowns <= MOST_READ && same == VAR_NONE; k++) {
            var_id v = f->slot.at[r.first + k];

            if (!is_unknown(b, v))
                continue;
            same = same_as(b, &all, r, v);
            if (same != VAR_NONE) {
                b->residual.at[i] = inst_part(e->composer, ex_sub(f->pool, ex_slot(f->pool, 0), ex_slot(f->pool, 1)),
                                              (var_id[]){ v, same }, 2);
                b->changed = true;
            }
        }
    }
    vec_free(&all.all);
    vec_free(&all.others);
    map_free(&all.of);
}

/* ---- all of it ---- */

inst
alike_replace(equations *e, const alike *found, inst d)
{
    struct {
        inst *at;
        size_t n, cap;
    } inner = { 0 };
    bool any = false;

    for (uint32_t k = 0; k < d.n; k++) {
        uint32_t at = map_get(&found->of, e->f->slot.at[d.first + k]);

        any = any || at != MAP_NONE;
        vec_push(&inner, at != MAP_NONE ? found->same.at[at].def : INST_NONE);
    }
    if (any)
        d = inst_compact(e->composer, inst_compose(e->composer, d, inner.at));
    vec_free(&inner);
    return d;
}

/* Multiples are left out once. False: a residual is left without unknowns. */
static bool
leave_out_multiples(struct block_alike *b)
{
    size_t known = b->found->same.n, left = 0;
    bool all = true;

    map_free(&b->kept);
    b->kept = (map){ 0 };
    for (size_t i = 0; i < b->residual.n; i++)
        if (!take_multiple(b, b->residual.at[i]))
            b->residual.at[left++] = b->residual.at[i];
    b->residual.n = left;
    for (size_t i = 0; i < known; i++)
        b->found->same.at[i].def = alike_replace(b->e, b->found, b->found->same.at[i].def);
    for (size_t i = 0; i < left && all; i++) {
        inst r = alike_replace(b->e, b->found, b->residual.at[i]);

        b->residual.at[i] = r;
        all = false;
        for (uint32_t k = 0; k < r.n && !all; k++)
            all = is_unknown(b, b->e->f->slot.at[r.first + k]);
    }
    return all;
}

static void
apply_found(struct block_alike *b, uint32_t unknown0, uint32_t residual0)
{
    equations *e = b->e;

    e->unknown.n = unknown0;
    for (size_t i = 0; i < b->unknown.n; i++)
        if (!is_left_out(b, b->unknown.at[i]))
            vec_push(&e->unknown, b->unknown.at[i]);
    e->residual.n = residual0;
    for (size_t i = 0; i < b->residual.n; i++)
        vec_push(&e->residual, b->residual.at[i]);
    for (size_t i = 0; i < b->found->same.n; i++) {
        eq_var *d = &e->var.at[b->found->same.at[i].v];

        d->kind = DEF_EXPLICIT;
        d->def = b->found->same.at[i].def;
    }
}

void
alike_leave_out(equations *e, uint32_t unknown0, uint32_t residual0, alike *found)
{
    struct block_alike b = { .e = e, .found = found };
    bool fine = true;

    *found = (alike){ 0 };
    for (size_t i = unknown0; i < e->unknown.n; i++) {
        vec_push(&b.unknown, e->unknown.at[i]);
        map_set(&b.is_unknown, e->unknown.at[i], 1);
    }
    if (!rough_grows(e, &b.is_unknown, residual0)) {
        map_free(&b.is_unknown);
        vec_free(&b.unknown);
        return;
    }
    for (size_t i = residual0; i < e->residual.n; i++)
        vec_push(&b.residual, e->residual.at[i]);
    b.changed = true;
    for (int round = 0; round < ROUNDS && b.changed && fine; round++) {
        b.changed = false;
        fine = leave_out_multiples(&b);
        if (fine)
            find_equal_laws(&b);
    }
    if (fine && found->same.n)
        apply_found(&b, unknown0, residual0);
    else
        alike_free(found);
    vec_free(&b.unknown);
    vec_free(&b.residual);
    map_free(&b.is_unknown);
    map_free(&b.kept);
}

void
alike_free(alike *found)
{
    vec_free(&found->same);
    map_free(&found->of);
    *found = (alike){ 0 };
}
