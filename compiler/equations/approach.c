/* approach.c - see approach.h */
#include <math.h>
#include <stdlib.h>

#include "equations_inside.h"
#include "approach.h"
#include "walks.h"

enum {
    MOST_LIMITS = 4,  /* logarithms of one law */
    MOST_INLINED = 8, /* definitions that follow from each other */
    LARGEST = 200     /* nodes of a law with them */
};
/* ln q is followed down to this q at least, where the voltage is 18 times that of the law (Vt), and the flow rests: of
 * a law that only approaches the limit that another in the row reaches, the first stays below it. */
#define EPSILON 1e-8
#define FAR 1e300    /* an exponential that has no end */
#define NEARER 1e200 /* a limit */

/* A logarithm of a law over its slots, and q, affine in x: how far it is to the limit. */
struct limit {
    node log, q;
    uint32_t x;  /* the only slot of q that varies */
    node beyond; /* the logarithm by q, a slot behind those of the law; NODE_NONE: ln q */
};

/* One law: its definition y = law, and its limits. */
struct approach {
    equations *e;
    struct groups *g;
    group_walk walk;
    var_id y;
    inst law;
    struct limit limit[MOST_LIMITS];
    uint32_t n;
    uint32_t implicit; /* the slot of y, if the law is 0 = F(y, x), which has no inverse; NONE */
};

static bool
is_varying(const flat_model *f, var_id v)
{
    return f->var.at[v].kind != VAR_PARAM && f->var.at[v].kind != VAR_LITERAL;
}

static bool
is_logarithm(const ex_node *x)
{
    return x->op == EX_LN || x->op == EX_LOG10;
}

/* The only slot of n that varies; NONE. */
static uint32_t
only_varying(const flat_model *f, inst i, node n)
{
    bool *used = bg_calloc((size_t)i.n + 1, sizeof *used);
    uint32_t x = NONE, count = 0;

    ex_slots_used(f->pool, n, used, i.n);
    for (uint32_t k = 0; k < i.n; k++)
        if (used[k] && is_varying(f, inst_slots(f, i)[k])) {
            x = k;
            count++;
        }
    free(used);
    return count == 1 ? x : NONE;
}

static bool
is_affine(pool *p, node n, uint32_t x)
{
    bool *own = bg_calloc((size_t)x + 1, sizeof *own), affine;

    own[x] = true;
    affine = ex_affine_in(p, n, own, x + 1);
    free(own);
    return affine;
}

static node
at_zero(pool *p, node n, uint32_t x)
{
    node *with = bg_malloc(((size_t)x + 1) * sizeof *with);

    for (uint32_t k = 0; k <= x; k++)
        with[k] = k == x ? ex_const(p, 0) : NODE_NONE;
    n = ex_substitute(p, n, with, x + 1);
    free(with);
    return n;
}

/* The value of n, if it is of numbers of the text and of parameters. */
static bool
is_number(const flat_model *f, inst i, node n, double *value)
{
    bool *used = bg_calloc((size_t)i.n + 1, sizeof *used), known = ex_slot_bound(f->pool, n) <= i.n;
    double *slot = bg_calloc((size_t)i.n + 1, sizeof *slot);

    ex_slots_used(f->pool, n, used, i.n);
    for (uint32_t k = 0; k < i.n && known; k++)
        if (used[k]) {
            var_id v = inst_slots(f, i)[k];

            if (f->var.at[v].kind == VAR_LITERAL)
                slot[k] = var_value(f, v);
            else
                known = f->var.at[v].kind == VAR_PARAM && inst_known(var_def(f, v)) &&
                        is_number(f, var_def(f, v), var_def(f, v).root, &slot[k]);
        }
    *value = known ? ex_eval(f->pool, n, slot) : NAN;
    free(slot);
    free(used);
    return known;
}

struct quotient {
    node over, under;
};

/* n with what divides by slot x brought to one divisor. */
static struct quotient
as_quotient(pool *p, node n, uint32_t x)
{
    ex_node of = *pool_node(p, n);
    struct quotient whole = { n, ex_const(p, 1) }, a, b;

    if (is_affine(p, n, x))
        return whole;
    switch (of.op) {
    case EX_NEG: a = as_quotient(p, of.a, x); return (struct quotient){ ex_neg(p, a.over), a.under };
    case EX_ADD:
    case EX_SUB:
        a = as_quotient(p, of.a, x);
        b = as_quotient(p, of.b, x);
        return (struct quotient){ ex_make(p, of.op, ex_mul(p, a.over, b.under), ex_mul(p, b.over, a.under), NODE_NONE),
                                  ex_mul(p, a.under, b.under) };
    case EX_DIV:
        a = as_quotient(p, of.a, x);
        b = as_quotient(p, of.b, x);
        return (struct quotient){ ex_mul(p, a.over, b.under), ex_mul(p, a.under, b.over) };
    default: return whole;
    }
}

/* ln(a/b) with a and b affine in x, of a logistic law, as ln a - ln b: each has a limit of its own, between which both
 * have one sign. NODE_NONE: ln q is of another kind. */
static node
split_quotient(const flat_model *f, inst law, node q, uint32_t x)
{
    pool *p = f->pool;
    struct quotient of = as_quotient(p, q, x);
    node slope[2], way;
    double outside;

    if (!is_affine(p, of.over, x) || !is_affine(p, of.under, x))
        return NODE_NONE;
    slope[0] = ex_derivative(p, of.over, x);
    slope[1] = ex_derivative(p, of.under, x);
    if (is_number(f, law, ex_mul(p, slope[0], slope[1]), &outside) && outside >= 0)
        return NODE_NONE;
    way = ex_sub(p, ex_mul(p, at_zero(p, of.over, x), slope[1]), ex_mul(p, at_zero(p, of.under, x), slope[0]));
    way = ex_make(p, EX_SIGN, ex_mul(p, way, slope[1]), NODE_NONE, NODE_NONE);
    return ex_sub(p, ex_make(p, EX_LN, ex_mul(p, way, of.over), NODE_NONE, NODE_NONE),
                  ex_make(p, EX_LN, ex_mul(p, way, of.under), NODE_NONE, NODE_NONE));
}

/* The law with its logarithms of quotients split. */
static void
split_quotients(struct approach *a)
{
    flat_model *f = a->e->f;
    size_t count;
    const node *tape = ex_tape(f->pool, a->law.root, &count);

    for (size_t i = 0; i < count; i++) {
        node at = tape[i], q = pool_node(f->pool, at)->a, split = NODE_NONE;
        uint32_t x = pool_node(f->pool, at)->op == EX_LN ? only_varying(f, a->law, q) : NONE;

        if (x != NONE && !is_affine(f->pool, q, x) && ex_fits(f->pool, q, LARGEST / MOST_LIMITS))
            split = split_quotient(f, a->law, q, x);
        if (split != NODE_NONE)
            a->law.root = ex_put(f->pool, a->law.root, at, split);
    }
}

/* The limit of ln(b*exp(s) + c), s affine in x, as a softplus law's inverse has it. *none: it has none, since b and c
 * are of one sign. False: it is of another kind, or this cannot be told. */
static bool
find_exponential(const flat_model *f, inst law, struct limit *l, node of, bool *none)
{
    pool *p = f->pool;
    size_t count;
    const node *tape = ex_tape(p, of, &count);
    node t = NODE_NONE, by, slope, end, way, beyond;
    double value;

    for (size_t i = 0; i < count && t == NODE_NONE; i++)
        if (pool_node(p, tape[i])->op == EX_EXP && only_varying(f, law, tape[i]) == l->x)
            t = tape[i];
    if (t == NODE_NONE)
        return false;
    by = ex_put(p, of, t, ex_slot(p, law.n));
    if (only_varying(f, law, by) != NONE || !is_affine(p, by, law.n) || !is_affine(p, pool_node(p, t)->a, l->x))
        return false;
    slope = ex_derivative(p, by, law.n);
    end = ex_neg(p, ex_div(p, at_zero(p, by, law.n), slope));
    if (!is_number(f, law, end, &value))
        return false;
    *none = value <= 0;
    way = ex_make(p, EX_SIGN, slope, NODE_NONE, NODE_NONE);
    l->q = ex_mul(p, way, ex_sub(p, pool_node(p, t)->a, ex_make(p, EX_LN, end, NODE_NONE, NODE_NONE)));
    beyond = ex_sub(p, ex_make(p, EX_EXP, ex_mul(p, way, ex_slot(p, law.n)), NODE_NONE, NODE_NONE), ex_const(p, 1));
    l->beyond = ex_make(p, EX_LN, ex_mul(p, ex_mul(p, slope, end), beyond), NODE_NONE, NODE_NONE);
    return true;
}

/* Lists the logarithms of the law that end at a limit. False: there are none, or one of another kind. */
static bool
find_limits(struct approach *a)
{
    flat_model *f = a->e->f;
    size_t count;
    const node *tape;
    bool fine = true;

    a->n = 0;
    split_quotients(a);
    tape = ex_tape(f->pool, a->law.root, &count);
    for (size_t i = 0; i < count && fine; i++) {
        node q = pool_node(f->pool, tape[i])->a;
        struct limit l = { .log = tape[i], .q = q, .beyond = NODE_NONE };
        bool none = false;

        if (!is_logarithm(pool_node(f->pool, tape[i])) || ex_slot_bound(f->pool, q) == 0)
            continue;
        l.x = only_varying(f, a->law, q);
        fine = a->n < MOST_LIMITS && l.x != NONE &&
               (is_affine(f->pool, q, l.x) || find_exponential(f, a->law, &l, q, &none));
        if (fine && !none)
            a->limit[a->n++] = l;
    }
    return fine && a->n > 0;
}

/* How a law's logarithms are continued, over its slots and the mode that tells how near to the limit it ends. */
struct continuation {
    const struct approach *a;
    node with[MOST_LIMITS];
};

/* eps, where q has this slope by x */
static node
least(pool *p, node slope, node near)
{
    return ex_add(p, ex_const(p, EPSILON), ex_mul(p, near, ex_make(p, EX_APOW, slope, ex_const(p, 1), NODE_NONE)));
}

/* ln q, continued to all q: ln((q + sqrt(q^2 + 4 eps^2))/2); or what has q in place of a logarithm. */
static node
continued(pool *p, const struct limit *l, uint32_t nslots, node near)
{
    node eps = least(p, ex_derivative(p, l->q, l->x), near);
    node part = ex_make(p, EX_ASINH, ex_div(p, l->q, ex_mul(p, ex_const(p, 2), eps)), NODE_NONE, NODE_NONE);
    node ln = ex_add(p, part, ex_make(p, EX_LN, eps, NODE_NONE, NODE_NONE));

    if (l->beyond != NODE_NONE)
        ln = ex_put(p, l->beyond, ex_slot(p, nslots), ex_make(p, EX_EXP, ln, NODE_NONE, NODE_NONE));
    return pool_node(p, l->log)->op == EX_LN ? ln : ex_div(p, ln, ex_const(p, log(10)));
}

/* x, continued so that no q of it is below 0. */
static node
continued_driver(pool *p, const struct approach *a, node near)
{
    node x = ex_slot(p, a->limit[0].x), sum = x;

    for (uint32_t i = 0; i < a->n; i++) {
        node slope = ex_derivative(p, a->limit[i].q, a->limit[i].x);
        node eps = least(p, slope, near);
        node part = ex_make(p, EX_ASINH, ex_div(p, a->limit[i].q, ex_mul(p, ex_const(p, 2), eps)), NODE_NONE,
                            NODE_NONE);
        node more = ex_mul(p, eps, ex_make(p, EX_EXP, ex_neg(p, part), NODE_NONE, NODE_NONE));

        sum = ex_add(p, sum, ex_div(p, more, slope));
    }
    return sum;
}

static node
continue_logarithm(void *ctx, pool *p, node at, const ex_node *x)
{
    const struct continuation *c = ctx;

    (void)p;
    (void)x;
    for (uint32_t i = 0; i < c->a->n; i++)
        if (c->a->limit[i].log == at)
            return c->with[i];
    return NODE_NONE;
}

/* Does y move what drives its law, and only through rates of states? */
static bool
is_driven(struct approach *a)
{
    equations *e = a->e;
    eq_var kept = e->var.at[a->y];
    bool driven = true;

    e->var.at[a->y].kind = DEF_NONE; /* for the walks */
    for (uint32_t i = 0; i < a->n && driven; i++) {
        inst x = inst_var(e->f, inst_slots(e->f, a->law)[a->limit[i].x]);

        driven = !group_walk_follows(&a->walk, e, a->g, x, a->y) && group_walk_moves(&a->walk, e, a->g, x, a->y);
    }
    e->var.at[a->y] = kept;
    return driven;
}

/* Of two laws in a row that approach one limit, f = I*tanh(e/V), only the sum of the efforts is determined there, which
 * their slopes divide as V1 to V2, however small they are. Nets take the least of what is not determined, the least
 * sum of squares: with the root of V as the unit of each, that is this division. */
static node
unit_of(const struct approach *a)
{
    flat_model *f = a->e->f;
    pool *p = f->pool;
    node by = ex_derivative(p, ex_put(p, a->law.root, a->limit[0].log, ex_slot(p, a->law.n)), a->law.n);
    bool *used = bg_calloc(a->law.n + 1, sizeof *used), number = true;

    ex_slots_used(p, by, used, a->law.n + 1);
    for (uint32_t k = 0; k < a->law.n; k++)
        number = number && !(used[k] && is_varying(f, inst_slots(f, a->law)[k]));
    number = number && !used[a->law.n];
    free(used);
    return number ? ex_make(p, EX_APOW, by, ex_const(p, 0.5), NODE_NONE) : ex_const(p, 1);
}

/* The condition of what is added to y at a limit, over the slots of the law, `beyond` and the modes that are made here.
 */
static inst
limit_condition(struct approach *a, var_id beyond, node measure, span at)
{
    equations *e = a->e;
    flat_model *f = e->f;
    pool *p = f->pool;
    VEC(var_id) slot = { 0 };
    uint32_t n = a->law.n;
    node extra = ex_mul(p, measure, ex_slot(p, n)), row = extra;
    inst condition;

    for (uint32_t k = 0; k < n; k++)
        vec_push(&slot, inst_slots(f, a->law)[k]);
    vec_push(&slot, beyond);
    for (uint32_t i = 0; i < a->n; i++) {
        /* in the unit of x: as large as other flows, whatever the limit */
        node q = a->limit[i].q, slope = ex_derivative(p, q, a->limit[i].x);
        node way = ex_div(p, ex_sub(p, q, ex_const(p, EPSILON)), slope);
        node g = ex_mul(p, ex_make(p, EX_SIGN, slope, NODE_NONE, NODE_NONE), ex_add(p, way, extra));
        uint32_t mode = freeze_new_mode(e, MODE_LESS, inst_part(e->composer, g, slot.at, n + 1), 0, at);

        e->mode.at[mode].corner = true;
        row = ex_make(p, EX_SELECT, ex_slot(p, (uint32_t)slot.n), way, row);
        vec_push(&slot, e->mode.at[mode].var);
    }
    eq_sync(e);
    condition = inst_part(e->composer, row, slot.at, (uint32_t)slot.n);
    vec_free(&slot);
    return condition;
}

/* The mode that tells how near to the limit the law ends, in the unit of x. */
static uint32_t
make_near(equations *e, span at)
{
    inst zero = inst_const(e->f, 0);
    uint32_t mode = freeze_new_mode(e, MODE_GIVEN, zero, 0, at);

    e->mode.at[mode].known = true;
    e->mode.at[mode].slope = e->mode.at[mode].offset = zero;
    e->mode.at[mode].count = NONE;
    eq_sync(e);
    return mode;
}

/* The law, continued beyond its limits, over its slots and `near` behind them; for one without an inverse an unknown of
 * its own, *own, behind these and what is added. */
static node
continued_law(struct approach *a, var_id *own, span at)
{
    equations *e = a->e;
    pool *p = e->f->pool;
    uint32_t n = a->law.n;
    struct continuation c = { .a = a };

    *own = VAR_NONE;
    if (a->implicit != NONE) {
        *own = eq_new_var(e, VAR_AUX, NONE, var_name(e->f, a->y), at, e->f->var.at[a->y].position);
        return ex_slot(p, n + 2);
    }
    for (uint32_t i = 0; i < a->n; i++)
        c.with[i] = continued(p, &a->limit[i], n, ex_slot(p, n));
    return ex_replace(p, a->law.root, continue_logarithm, &c);
}

/* The equation of an unknown of a law's own: the law, of the continued driver. slot: as for the law. */
static void
add_own(struct approach *a, var_id own, const var_id *slot)
{
    pool *p = a->e->f->pool;
    uint32_t n = a->law.n, group = group_new(a->g);
    node *with = bg_malloc(((size_t)n + 1) * sizeof *with);

    for (uint32_t k = 0; k < n; k++)
        with[k] = k == a->implicit ? ex_slot(p, n + 2) : NODE_NONE;
    with[a->limit[0].x] = continued_driver(p, a, ex_slot(p, n));
    group_add(a->g, group, own, inst_part(a->e->composer, ex_substitute(p, a->law.root, with, n), slot, n + 3));
    free(with);
}

/* y = the law, continued, + what is added at a limit: the unknown of an ideal switch. */
static void
make_switch(struct approach *a, struct switches *sw, span at)
{
    equations *e = a->e;
    flat_model *f = e->f;
    uint32_t group = group_new(a->g), port = e->var.at[a->y].of, near = make_near(e, at), n = a->law.n;
    var_id beyond = eq_new_var(e, VAR_AUX, NONE, var_name(f, a->y), at, f->var.at[a->y].position);
    pool *p = f->pool;
    node measure = a->implicit == NONE ? unit_of(a) : ex_const(p, 1), law;
    VEC(var_id) slot = { 0 };
    var_id own;

    for (uint32_t k = 0; k < n; k++)
        vec_push(&slot, inst_slots(f, a->law)[k]);
    vec_push(&slot, e->mode.at[near].var);
    vec_push(&slot, beyond);
    law = continued_law(a, &own, at);
    vec_push(&slot, own);
    e->defining = (defined){ DEF_BY_LAW, port };
    if (own != VAR_NONE)
        add_own(a, own, slot.at);
    group_add(a->g, group, beyond, limit_condition(a, beyond, measure, at));
    law = ex_add(p, law, ex_mul(p, measure, ex_slot(p, n + 1)));
    eq_define(e, a->y, inst_part(e->composer, law, slot.at, (uint32_t)slot.n - (own == VAR_NONE)));
    vec_push(&e->near, ((eq_near){ beyond, near }));
    vec_push(sw, ((switch_group){ group, at, false, NONE }));
    vec_free(&slot);
}

/* ---- laws without an inverse: tanh, which the language does not invert; exponentials side by side ---- */

/* The only tanh or exponential in the law that reads y; NODE_NONE. */
static node
find_saturating(const flat_model *f, inst law, uint32_t y)
{
    size_t count;
    const node *tape = ex_tape(f->pool, law.root, &count);
    bool *used = bg_calloc(law.n + 1, sizeof *used);
    node found = NODE_NONE;
    uint32_t n = 0;

    for (size_t i = 0; i < count; i++) {
        enum ex_op op = pool_node(f->pool, tape[i])->op;

        if (op != EX_TANH && op != EX_EXP)
            continue;
        used[y] = false;
        ex_slots_used(f->pool, tape[i], used, law.n);
        found = used[y] ? tape[i] : found;
        n += used[y];
    }
    free(used);
    return n == 1 ? found : NODE_NONE;
}

/* a, where tanh a or exp a is t. */
static node
saturating_inverse(pool *p, enum ex_op op, node t)
{
    node one = ex_const(p, 1);

    if (op == EX_EXP)
        return ex_make(p, EX_LN, t, NODE_NONE, NODE_NONE);
    return ex_mul(p, ex_const(p, 0.5),
                  ex_sub(p, ex_make(p, EX_LN, ex_add(p, one, t), NODE_NONE, NODE_NONE),
                         ex_make(p, EX_LN, ex_sub(p, one, t), NODE_NONE, NODE_NONE)));
}

/* y by t = tanh a or exp a, where the law is 0 = F(t, x) and a = A(y). INST_NONE: it is not of this form. */
static inst
invert_saturating(equations *e, inst law, uint32_t y)
{
    flat_model *f = e->f;
    pool *p = f->pool;
    node of = find_saturating(f, law, y), slot = ex_slot(p, law.n), part, divisor, angle;
    VEC(var_id) slots = { 0 };
    inst found = INST_NONE;

    if (of == NODE_NONE || !ex_solve(p, ex_put(p, law.root, of, slot), law.n, &part, &divisor))
        return INST_NONE;
    angle = saturating_inverse(p, pool_node(p, of)->op, part);
    for (uint32_t k = 0; k < law.n; k++)
        vec_push(&slots, inst_slots(f, law)[k]);
    if (inst_slot_of(f, inst_part(e->composer, angle, slots.at, law.n), slots.at[y]) == NONE &&
        ex_solve(p, ex_sub(p, pool_node(p, of)->a, angle), y, &part, &divisor))
        found = inst_part(e->composer, part, slots.at, law.n);
    vec_free(&slots);
    return found;
}

/* Equal numbers of the text in one slot: two exponentials of the same are one. */
static inst
with_equal_numbers(equations *e, inst law)
{
    flat_model *f = e->f;
    VEC(node) with = { 0 };
    VEC(var_id) slots = { 0 };

    for (uint32_t k = 0; k < law.n; k++) {
        var_id v = inst_slots(f, law)[k];
        node same = NODE_NONE;

        for (uint32_t j = 0; j < k && f->var.at[v].kind == VAR_LITERAL && same == NODE_NONE; j++)
            if (f->var.at[slots.at[j]].kind == VAR_LITERAL && var_value(f, slots.at[j]) == var_value(f, v))
                same = ex_slot(f->pool, j);
        vec_push(&with, same);
        vec_push(&slots, v);
    }
    law = inst_part(e->composer, ex_substitute(f->pool, law.root, with.at, law.n), slots.at, law.n);
    vec_free(&with);
    vec_free(&slots);
    return law;
}

/* The law with the definitions in it that depend on y: those of what flows beside. */
static inst
with_followers(struct approach *a, inst law)
{
    equations *e = a->e;
    flat_model *f = e->f;
    bool any = true;

    for (int round = 0; round < MOST_INLINED && any && ex_fits(f->pool, law.root, LARGEST); round++) {
        VEC(inst) inner = { 0 };

        any = false;
        for (uint32_t k = 0; k < law.n; k++) {
            var_id v = inst_slots(f, law)[k];
            bool follows = e->var.at[v].kind == DEF_EXPLICIT &&
                           group_walk_follows(&a->walk, e, a->g, inst_var(f, v), a->y);

            vec_push(&inner, follows ? e->var.at[v].def : INST_NONE);
            any |= follows;
        }
        if (any)
            law = inst_compose(e->composer, law, inner.at);
        vec_free(&inner);
    }
    return any ? INST_NONE : with_equal_numbers(e, law);
}

/* ---- laws side by side that approach limits at different rates: no inverse at all ---- */

/* x of the law as y goes to infinity, in the direction `way`: each tanh and exponential that reads y is at its end.
 * NODE_NONE: it has none. */
static node
far_value(const flat_model *f, inst law, node x, uint32_t y, int way)
{
    pool *p = f->pool;
    size_t count;
    const node *tape = ex_tape(p, x, &count);
    bool *used = bg_calloc((size_t)law.n + 1, sizeof *used), finite = true;
    node n = x;
    double value;

    for (size_t i = 0; i < count && finite; i++) {
        ex_node of = *pool_node(p, tape[i]);
        double slope;

        used[y] = false;
        ex_slots_used(p, tape[i], used, law.n);
        if (!used[y] || (of.op != EX_TANH && of.op != EX_EXP))
            continue;
        finite = is_affine(p, of.a, y) && is_number(f, law, ex_derivative(p, of.a, y), &slope) && slope != 0;
        if (!finite)
            break;
        slope *= way;
        n = ex_put(p, n, tape[i], ex_const(p, of.op == EX_EXP ? (slope > 0 ? FAR : 0) : slope > 0 ? 1 : -1));
    }
    used[y] = false;
    ex_slots_used(p, n, used, law.n);
    finite = finite && !used[y] && is_number(f, law, n, &value) && fabs(value) < NEARER;
    free(used);
    return finite ? n : NODE_NONE;
}

/* Has n a logarithm, which an exponential of FAR would not end? */
static bool
has_logarithm(pool *p, node n)
{
    size_t count;
    const node *tape = ex_tape(p, n, &count);

    for (size_t i = 0; i < count; i++)
        if (is_logarithm(pool_node(p, tape[i])))
            return true;
    return false;
}

/* The limits of x in the law 0 = F(y, x). */
static bool
find_far_limits(struct approach *a)
{
    flat_model *f = a->e->f;
    pool *p = f->pool;
    uint32_t x = NONE, varying = 0;
    node solution, divisor;

    a->n = 0;
    for (uint32_t k = 0; k < a->law.n; k++)
        if (k != a->implicit && is_varying(f, inst_slots(f, a->law)[k])) {
            x = k;
            varying++;
        }
    if (varying != 1 || has_logarithm(p, a->law.root) || !ex_solve(p, a->law.root, x, &solution, &divisor))
        return false;
    for (int way = -1; way <= 1; way += 2) {
        node far = far_value(f, a->law, solution, a->implicit, way);
        node range = far == NODE_NONE ? far : ex_sub(p, far, at_zero(p, solution, a->implicit));
        struct limit l = { .log = NODE_NONE, .x = x, .beyond = NODE_NONE };
        double width;

        if (far == NODE_NONE)
            continue;
        if (!is_number(f, a->law, range, &width) || width == 0)
            return false;
        l.q = ex_div(p, ex_sub(p, far, ex_slot(p, x)), range);
        a->limit[a->n++] = l;
    }
    return a->n > 0;
}

/* ---- which resistors ---- */

/* The law that gives v, solved for it, if it is a resistor's or that of several side by side. INST_NONE: it is not, or
 * has no solution of this kind. *group: that v is the unknown of; NONE. */
static inst
law_for(struct approach *a, var_id v, uint32_t *group)
{
    equations *e = a->e;
    flat_model *f = e->f;
    const eq_var *d = &e->var.at[v];
    inst law, inverse;

    a->y = v;
    a->implicit = NONE;
    *group = d->kind == DEF_NONE ? group_of(a->g, v) : NONE;
    if (d->by == DEF_BY_LAW) {
        const flat_element *el = &f->element.at[f->port.at[d->of].element];

        if (el->type != EL_R || el->nports != 1)
            return INST_NONE;
    }
    if (*group == NONE)
        return d->kind == DEF_EXPLICIT && d->by == DEF_BY_LAW ? d->def : INST_NONE;
    if (group_size(a->g, *group) != 1)
        return INST_NONE;
    law = with_followers(a, group_residual(a->g, *group, 0));
    if (!inst_known(law) || inst_slot_of(f, law, v) == NONE)
        return INST_NONE;
    inverse = invert_saturating(e, law, inst_slot_of(f, law, v));
    if (inst_known(inverse))
        return inverse;
    a->implicit = inst_slot_of(f, law, v);
    return law;
}

/* Does any resistor have such a law? */
static bool
any_saturates(flat_model *f)
{
    for (uint32_t i = 0; i < f->element.n; i++) {
        const flat_element *el = &f->element.at[i];
        size_t count;
        const node *tape;

        if (el->type != EL_R || el->nports != 1)
            continue;
        tape = ex_tape(f->pool, port_law(f, el->port0)->def.root, &count);
        for (size_t k = 0; k < count; k++) {
            const ex_node *x = pool_node(f->pool, tape[k]);

            if (x->op == EX_TANH || x->op == EX_EXP || x->op == EX_POW || is_logarithm(x))
                return true;
        }
    }
    return false;
}

void
approach_define(equations *e, struct groups *g, struct rates *r, struct switches *sw)
{
    struct approach a = { .e = e, .g = g };

    if (!any_saturates(e->f))
        return;
    for (var_id v = 0, n = (var_id)e->var.n; v < n; v++) {
        uint32_t group;

        a.law = law_for(&a, v, &group);
        if (!inst_known(a.law) || map_get(&r->of, v) != MAP_NONE ||
            !(a.implicit == NONE ? find_limits(&a) : find_far_limits(&a)) || !is_driven(&a))
            continue;
        if (group != NONE)
            group_dissolve(g, group);
        make_switch(&a, sw, equations_place(e, v));
    }
    group_walk_free(&a.walk);
}
