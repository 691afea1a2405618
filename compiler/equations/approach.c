/* approach.c - see approach.h */
#include <math.h>
#include <stdlib.h>

#include "equations_inside.h"
#include "approach.h"
#include "carried.h"
#include "walks.h"

enum {
    MOST_LIMITS = 4,  /* logarithms of one law */
    MOST_INLINED = 8, /* definitions that follow from each other */
    LARGEST = 200     /* nodes of a law with them */
};
/* ln q is followed down to this q at least, where the voltage is 18 times that of the law (Vt), and the flow rests: of
 * a law that only approaches the limit that another in the row reaches, the first stays below it. */
#define EPSILON 1e-8
#define HALF_WAY -0.5 /* the relative change of q where half of the way from zero to the limit is gone */

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
    struct ways { /* [element] which way the flow or effort of its law may go without bound (carried.h) */
        uint8_t flow, effort;
    } * ways;
    carried *carried;
    group_walk walk;
    var_id y;
    inst law;
    struct limit limit[MOST_LIMITS];
    uint32_t n;
    var_id x; /* what the law gave as it was, and what drives it now; VAR_NONE: it gave y */
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

/* What follows has neither exponentials nor logarithms of what varies, which would get unknowns of their own (rough.h).
 */
static node
of(pool *p, enum ex_op op, node a)
{
    return ex_make(p, op, a, NODE_NONE, NODE_NONE);
}

/* ln(1 + w), to the last digits of w: what flows through several laws is found by iteration, which rounding would not
 * let end where all of it is small. */
static node
logarithm_of_more(pool *p, node w)
{
    node root = of(p, EX_SQRT, ex_add(p, ex_const(p, 1), w));

    return ex_mul(p, ex_const(p, 2), of(p, EX_ASINH, ex_div(p, w, ex_mul(p, ex_const(p, 2), root))));
}

/* a, or where it is less than this the number: what a branch reads that is not taken there, but may be looked at. */
static node
at_least(pool *p, double least, node a)
{
    node c = ex_const(p, least);

    return ex_make(p, EX_SELECT, ex_make(p, EX_LT, c, a, NODE_NONE), a, c);
}

/* ln n of a limit where n is more than half of what it is at x = 0, ln0 elsewhere. w: n = (1 + w) times what it is
 * there. */
static node
near_zero(pool *p, node start, node w, node ln0)
{
    node half = ex_make(p, EX_LT, ex_const(p, HALF_WAY), w, NODE_NONE);

    w = logarithm_of_more(p, at_least(p, HALF_WAY, w));
    return ex_make(p, EX_SELECT, half, ex_add(p, of(p, EX_LN, start), w), ln0);
}

/* ln q, continued to all q: ln((q + sqrt(q^2 + 4 eps^2))/2); or what has q in place of a logarithm. */
static node
continued(const struct approach *a, const struct limit *l, node near)
{
    pool *p = a->e->f->pool;
    node slope = ex_derivative(p, l->q, l->x), eps = least(p, slope, near), start = at_zero(p, l->q, l->x);
    node part = of(p, EX_ASINH, ex_div(p, l->q, ex_mul(p, ex_const(p, 2), eps)));
    node ln = ex_add(p, part, of(p, EX_LN, eps));
    double value;

    if (l->beyond != NODE_NONE)
        ln = ex_put(p, l->beyond, ex_slot(p, a->law.n), of(p, EX_EXP, ln));
    else if (is_number(a->e->f, a->law, start, &value) && value > 0)
        ln = near_zero(p, start, ex_div(p, ex_mul(p, slope, ex_slot(p, l->x)), start), ln);
    return pool_node(p, l->log)->op == EX_LN ? ln : ex_div(p, ln, ex_const(p, log(10)));
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

/* The law, continued beyond its limits, over its slots and `near` behind them. */
static node
continued_law(struct approach *a)
{
    pool *p = a->e->f->pool;
    struct continuation c = { .a = a };

    for (uint32_t i = 0; i < a->n; i++)
        c.with[i] = continued(a, &a->limit[i], ex_slot(p, a->law.n));
    return ex_replace(p, a->law.root, continue_logarithm, &c);
}

/* y = the law, continued, + what is added at a limit: the unknown of an ideal switch. */
static void
make_switch(struct approach *a, struct switches *sw, span at)
{
    equations *e = a->e;
    flat_model *f = e->f;
    uint32_t group = group_new(a->g), port = e->var.at[a->x == VAR_NONE ? a->y : a->x].of, near = make_near(e, at);
    uint32_t n = a->law.n;
    var_id beyond = eq_new_var(e, VAR_AUX, NONE, var_name(f, a->y), at, f->var.at[a->y].position);
    pool *p = f->pool;
    node measure = unit_of(a), law = ex_add(p, continued_law(a), ex_mul(p, measure, ex_slot(p, n + 1)));
    VEC(var_id) slot = { 0 };

    for (uint32_t k = 0; k < n; k++)
        vec_push(&slot, inst_slots(f, a->law)[k]);
    vec_push(&slot, e->mode.at[near].var);
    vec_push(&slot, beyond);
    vec_push(&slot, a->y);
    e->defining = (defined){ DEF_BY_LAW, port };
    group_add(a->g, group, beyond, limit_condition(a, beyond, measure, at));
    if (a->x == VAR_NONE) {
        eq_define(e, a->y, inst_part(e->composer, law, slot.at, n + 2));
    } else {
        e->var.at[a->x].kind = DEF_NONE;
        law = ex_sub(p, ex_slot(p, n + 2), law);
        group_add(a->g, group_new(a->g), a->x, inst_part(e->composer, law, slot.at, n + 3));
    }
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

/* ---- which resistors ---- */

/* The law f = g(e) of a resistor that gives v, solved for e. INST_NONE: it has no solution of this kind. */
static inst
law_turned(struct approach *a, var_id v)
{
    equations *e = a->e;
    flat_model *f = e->f;
    inst law = e->var.at[v].def, turned = INST_NONE;
    VEC(var_id) slots = { 0 };
    node solution, divisor;
    uint32_t y = NONE, varying = 0;

    for (uint32_t k = 0; k < law.n; k++) {
        vec_push(&slots, inst_slots(f, law)[k]);
        if (is_varying(f, slots.at[k])) {
            y = k;
            varying++;
        }
    }
    vec_push(&slots, v);
    if (varying == 1 && inst_slot_of(f, law, v) == NONE) {
        inst whole = inst_part(e->composer, ex_sub(f->pool, law.root, ex_slot(f->pool, law.n)), slots.at, law.n + 1);

        a->y = slots.at[y];
        a->x = v;
        y = inst_slot_of(f, whole, a->y);
        turned = invert_saturating(e, whole, y);
        if (!inst_known(turned) && ex_solve(f->pool, whole.root, y, &solution, &divisor))
            turned = inst_part(e->composer, solution, inst_slots(f, whole), whole.n);
    }
    vec_free(&slots);
    return turned;
}

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
    a->x = VAR_NONE;
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
    inverse = inst_known(law) && inst_slot_of(f, law, v) != NONE ? invert_saturating(e, law, inst_slot_of(f, law, v))
                                                                 : INST_NONE;
    if (inst_known(inverse))
        return inverse;
    law = group_residual(a->g, *group, 0);
    return inst_slot_of(f, law, v) == NONE ? INST_NONE : invert_saturating(e, law, inst_slot_of(f, law, v));
}

/* Finds the law that gives v, as of law_for or turned round, and its limits. False: it has none. *group: as of law_for.
 */
static bool
has_limits(struct approach *a, var_id v, uint32_t *group)
{
    bool found;

    a->law = law_for(a, v, group);
    found = inst_known(a->law) && find_limits(a);
    if (!found && *group == NONE && inst_known(a->law)) {
        a->law = law_turned(a, v);
        found = inst_known(a->law) && find_limits(a);
    }
    return found;
}

/* ---- which of them are driven there ---- */

static bool
is_flow(const flat_model *f, var_id v)
{
    const flat_var *x = &f->var.at[v];
    uint32_t j = x->kind == VAR_PORT ? f->port.at[x->owner].junction : x->owner;

    return x->kind == VAR_PORT ? f->junction.at[j].type == 0 : x->kind == VAR_COMMON && f->junction.at[j].type == 1;
}

/* For carried_may_end. */
static unsigned
ways_of(void *ctx, uint32_t element, bool flow)
{
    const struct approach *a = ctx;

    return flow ? a->ways[element].flow : a->ways[element].effort;
}

/* Notes which way the flow or effort of a law may go without bound. */
static void
note_ways(struct approach *a, uint32_t element)
{
    const flat_model *f = a->e->f;
    struct ways *to = &a->ways[element];
    uint8_t *ways = is_flow(f, inst_slots(f, a->law)[a->limit[0].x]) ? &to->flow : &to->effort;

    for (uint32_t i = 0; i < a->n; i++) {
        double slope = 0;

        is_number(f, a->law, ex_derivative(f->pool, a->limit[i].q, a->limit[i].x), &slope);
        *ways &= (uint8_t)(slope > 0 ? ~CARRIED_DOWN : slope < 0 ? ~CARRIED_UP : ~0);
    }
}

static void
find_ways(struct approach *a, const struct rates *r)
{
    equations *e = a->e;

    a->ways = bg_calloc(e->f->element.n + 1, sizeof *a->ways);
    for (size_t i = 0; i < e->f->element.n; i++)
        a->ways[i].flow = a->ways[i].effort = CARRIED_UP | CARRIED_DOWN;
    for (var_id v = 0; v < e->var.n; v++) {
        uint32_t group;

        if (e->var.at[v].by == DEF_BY_LAW && map_get(&r->of, v) == MAP_NONE && has_limits(a, v, &group))
            note_ways(a, e->f->port.at[e->var.at[v].of].element);
    }
}

/* May what drives the law of a resistor in a loop end at its limit? */
static bool
may_end(struct approach *a, var_id given)
{
    equations *e = a->e;
    uint32_t element = e->var.at[given].by == DEF_BY_LAW ? e->f->port.at[e->var.at[given].of].element : NONE;
    var_id x = inst_slots(e->f, a->law)[a->limit[0].x];

    if (element == NONE)
        return false;
    if (!a->carried)
        a->carried = carried_new(e, (carried_limits){ a, ways_of });
    return carried_may_end(a->carried, element, is_flow(e->f, x));
}

/* Does y move what drives its law, through rates of states, and to its limit? */
static bool
is_driven(struct approach *a)
{
    equations *e = a->e;
    var_id given = a->x == VAR_NONE ? a->y : a->x;
    eq_var kept = e->var.at[given];
    inst x = inst_var(e->f, a->x == VAR_NONE ? inst_slots(e->f, a->law)[a->limit[0].x] : a->y);
    bool moves, follows;

    e->var.at[given].kind = DEF_NONE; /* for the walks */
    moves = group_walk_moves(&a->walk, e, a->g, x, given);
    follows = group_walk_follows(&a->walk, e, a->g, x, given);
    e->var.at[given] = kept;
    return moves && (follows ? may_end(a, given) : a->x == VAR_NONE);
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
    find_ways(&a, r);
    for (var_id v = 0, n = (var_id)e->var.n; v < n; v++) {
        uint32_t group;

        if (map_get(&r->of, v) != MAP_NONE || !has_limits(&a, v, &group) || !is_driven(&a))
            continue;
        if (group != NONE)
            group_dissolve(g, group);
        make_switch(&a, sw, equations_place(e, v));
    }
    group_walk_free(&a.walk);
    free(a.ways);
    carried_free(a.carried);
}
