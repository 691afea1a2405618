/* freeze.c - see freeze.h
 *
 * A template is frozen once for all expressions that have it. What replaces its conditions and numbers are new slots
 * behind its own ("extras"). Each expression then fills them with variables: a number of the text with the variable of
 * that value, a condition with the mode of this condition on these variables, which is made where there is none yet.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "freeze.h"

/* What a slot that freezing adds to a template stands for: a number of the text; or, of an expression g over the slots
 * before it, a condition on g, sign(g), or whether sign(g) now has the value that keeps g at zero. */
enum extra_kind { EXTRA_LITERAL, EXTRA_MODE, EXTRA_SIGN, EXTRA_STICK };
struct extra {
    enum extra_kind is;
    double value;   /* EXTRA_LITERAL */
    uint8_t kind;   /* EXTRA_MODE: enum mode_kind, */
    uint32_t table; /* and the table whose pieces it tells apart */
    node g;
    /* EXTRA_MODE: something may jump where the condition changes (false: only min, max and abs read it, which have a
     * corner there). EXTRA_SIGN: something else than relays reads it. */
    bool jumps;
    node by; /* EXTRA_STICK: the jump of the relay; NODE_NONE: it depends on parameters and time alone */
};

/* A frozen template. What it becomes depends on its root, on which of its slots vary, on what was asked for (how), and
 * on which of its choices do not jump with the numbers of the text (relays, where FREEZE_RELAYS is asked for). */
struct frozen {
    node from, root;
    uint8_t how;
    relays_use relays;
    uint32_t extra0, nextra; /* its extras, in freezer.extra */
    uint32_t mask0, n;       /* which of its n slots vary, in freezer.masks */
    uint32_t next;           /* with the same hash; MAP_NONE */
};

/* A root that is continued below zero, and its argument. */
struct continued {
    node root, of;
};

/* What is known of a slot's value before a run: nothing, that it is a parameter or number, or that it is time. */
enum known_slot { SLOT_VARYING, SLOT_PARAMETER, SLOT_TIME };

/* Numbers of an expression are compared pair by pair: expressions with more slots than this are not looked at, so that
 * the time stays linear in the size of the model. Laws that are recognized as odd have a handful. */
enum { MOST_UNIFIED = 64 };

struct freezer {
    equations *e;
    relays *relays;
    VEC(struct frozen) done;
    VEC(struct extra) extra;
    VEC(uint8_t) masks;      /* [slot] of all of `done`: enum known_slot */
    map index;               /* hash of root and mask -> first of done */
    map literal;             /* bits of a number -> its variable */
    map mode;                /* hash of kind and g -> first of e->mode */
    VEC(uint32_t) mode_next; /* parallel to e->mode: the next with the same hash */
    map sign;                /* the same for e->sign */
    VEC(uint32_t) sign_next;
    /* of the template that is being frozen */
    VEC(node) mapped;   /* [node of the pool] what it becomes */
    VEC(bool) constant; /* [node] depends on parameters only */
    VEC(bool) timed;    /* [node] depends on parameters and time only */
    VEC(bool) exponent; /* [node] is the constant exponent of a power */
    VEC(struct continued) continued;
    VEC(node) reached;    /* [node] the condition under which its value is used */
    index_set conditions; /* where there are many: its conditions and signs, by their number among its extras */
    /* of the expression that is being frozen */
    VEC(uint8_t) mask; /* [slot] enum known_slot */
    VEC(var_id) slots; /* its own, then those for the extras */
};

enum { FEW_EXTRAS = 16 }; /* up to this number a search through all is as fast as a hash table */

freezer *
freezer_new(equations *e, relays *r)
{
    freezer *z = bg_calloc(1, sizeof *z);

    z->e = e;
    z->relays = r;
    return z;
}

void
freezer_free(freezer *z)
{
    if (!z)
        return;
    vec_free(&z->done);
    vec_free(&z->extra);
    vec_free(&z->masks);
    vec_free(&z->mode_next);
    vec_free(&z->sign_next);
    vec_free(&z->mapped);
    vec_free(&z->constant);
    vec_free(&z->timed);
    vec_free(&z->exponent);
    vec_free(&z->mask);
    vec_free(&z->slots);
    vec_free(&z->continued);
    vec_free(&z->reached);
    index_set_free(&z->conditions);
    map_free(&z->index);
    map_free(&z->literal);
    map_free(&z->mode);
    map_free(&z->sign);
    free(z);
}

static uint8_t
known_slot(const flat_model *f, var_id v)
{
    switch (f->var.at[v].kind) {
    case VAR_PARAM:
    case VAR_LITERAL: return SLOT_PARAMETER;
    case VAR_TIME: return SLOT_TIME;
    default: return SLOT_VARYING;
    }
}

static uint64_t
condition_hash(const struct extra *x)
{
    return bg_hash_mix((uint64_t)x->g << 32 | x->table, (uint64_t)x->is << 8 | x->kind);
}

static uint64_t
hash_of_condition(const void *ctx, uint32_t k)
{
    return condition_hash((const struct extra *)ctx + k);
}

static bool
same_condition(const struct extra *x, const struct extra *y)
{
    return x->is == y->is && x->kind == y->kind && x->g == y->g && x->table == y->table && x->by == y->by;
}

/* The number of a condition or sign equal to x among the template's extras; MAP_NONE */
static uint32_t
find_condition(const freezer *z, const struct frozen *r, const struct extra *x)
{
    const struct extra *all = z->extra.at + r->extra0;
    uint32_t k;

    if (r->nextra <= FEW_EXTRAS) {
        for (k = 0; k < r->nextra; k++)
            if (same_condition(&all[k], x))
                return k;
        return MAP_NONE;
    }
    for (size_t i = condition_hash(x); (k = index_set_at(&z->conditions, i)) != MAP_NONE; i++)
        if (same_condition(&all[k], x))
            return k;
    return MAP_NONE;
}

/* Enters the last extra into the hash table; the one that makes them too many for a search enters all. */
static void
remember_extras(freezer *z, const struct frozen *r)
{
    const struct extra *all = z->extra.at + r->extra0;

    for (uint32_t k = r->nextra == FEW_EXTRAS + 1 ? 0 : r->nextra - 1; k < r->nextra; k++)
        if (all[k].is != EXTRA_LITERAL)
            index_set_add(&z->conditions, condition_hash(&all[k]), k, hash_of_condition, all);
}

/* Adds a slot to the template. */
static node
add_extra(freezer *z, struct frozen *r, struct extra x)
{
    vec_push(&z->extra, x);
    r->nextra++;
    if (r->nextra > FEW_EXTRAS)
        remember_extras(z, r);
    return ex_slot(z->e->f->pool, r->n + r->nextra - 1);
}

/* The slot for a condition or sign, which a template has once however often it reads it. */
static node
add_condition(freezer *z, struct frozen *r, struct extra new)
{
    uint32_t k = find_condition(z, r, &new);

    if (k == MAP_NONE)
        return add_extra(z, r, new);
    z->extra.at[r->extra0 + k].jumps |= new.jumps;
    return ex_slot(z->e->f->pool, r->n + k);
}

static node
add_mode(freezer *z, struct frozen *r, uint8_t kind, node g, uint32_t table)
{
    return add_condition(z, r, (struct extra){ .is = EXTRA_MODE, .kind = kind, .table = table, .g = g, .jumps = true });
}

/* A condition at which min, max or abs has a corner: nothing jumps there. */
static node
add_corner_condition(freezer *z, struct frozen *r, node g)
{
    return add_condition(z, r, (struct extra){ .is = EXTRA_MODE, .kind = MODE_LESS, .g = g });
}

/* What an operation x that switches becomes. a, b, c: its operands, frozen. timed: it depends on parameters and time
 * only, so that nothing can keep its argument at zero. */
static node
freeze_node(freezer *z, struct frozen *r, const ex_node *x, node a, node b, node c, bool timed)
{
    pool *p = z->e->f->pool;

    switch (x->op) {
    case EX_LT: return add_mode(z, r, MODE_LESS, ex_sub(p, a, b), 0);
    case EX_LE: return add_mode(z, r, MODE_LESS_EQUAL, ex_sub(p, a, b), 0);
    case EX_EQ: return add_mode(z, r, MODE_EQUAL, ex_sub(p, a, b), 0);
    case EX_NE: return ex_make(p, EX_NOT, add_mode(z, r, MODE_EQUAL, ex_sub(p, a, b), 0), NODE_NONE, NODE_NONE);
    case EX_ABS: return ex_make(p, EX_SELECT, add_corner_condition(z, r, a), ex_neg(p, a), a);
    case EX_SIGN: {
        if (!timed)
            return add_condition(z, r, (struct extra){ .is = EXTRA_SIGN, .g = a, .jumps = true });
        node above = add_mode(z, r, MODE_LESS, ex_neg(p, a), 0), below = add_mode(z, r, MODE_LESS, a, 0);

        return ex_make(p, EX_SELECT, above, ex_const(p, 1),
                       ex_make(p, EX_SELECT, below, ex_const(p, -1), ex_const(p, 0)));
    }
    case EX_MIN: return ex_make(p, EX_SELECT, add_corner_condition(z, r, ex_sub(p, a, b)), a, b);
    case EX_MAX: return ex_make(p, EX_SELECT, add_corner_condition(z, r, ex_sub(p, a, b)), b, a);
    case EX_TABLE:
    case EX_TABLE_SLOPE: {
        const ex_table *t = pool_table(p, x->table);

        return ex_table_node(p, x->op, x->table, a, add_mode(z, r, MODE_PIECE, a, t->nends ? t->ends : x->table));
    }
    case EX_FLOOR: return add_mode(z, r, MODE_FLOOR, a, 0);
    case EX_CEIL: /* -floor(-a) */ return ex_neg(p, add_mode(z, r, MODE_FLOOR, ex_neg(p, a), 0));
    default: return ex_make(p, x->op, a, b, c);
    }
}

/* Is it made of terms and factors that are never negative, so that a root of it need not be watched? */
static bool
is_positive(const pool *p, node n)
{
    const ex_node *x = pool_node(p, n);
    double c;

    switch (x->op) {
    case EX_CONST: return x->value >= 0;
    case EX_ABS:
    case EX_APOW:
    case EX_EXP:
    case EX_COSH:
    case EX_SQRT: return true;
    case EX_POW: return ex_is_const(p, x->b, &c) && fmod(c, 2) == 0;
    case EX_ADD:
    case EX_MUL:
    case EX_DIV: return is_positive(p, x->a) && is_positive(p, x->b);
    default: return false;
    }
}

/* a^b continued below zero as an odd function; b NODE_NONE: the square root. */
static node
continue_root(freezer *z, node a, node b)
{
    pool *p = z->e->f->pool;
    node root = ex_make(p, EX_SPOW, a, b == NODE_NONE ? ex_const(p, 0.5) : b, NODE_NONE);

    vec_push(&z->continued, ((struct continued){ root, a }));
    return root;
}

/* Is x a root, or a power with a non-integer exponent, that has no value where its argument is negative? */
static bool
is_root(const pool *p, const ex_node *x)
{
    double c;

    return (x->op == EX_SQRT || (x->op == EX_POW && ex_is_const(p, x->b, &c) && c != floor(c))) &&
           !is_positive(p, x->a);
}

/* Makes a condition for each continued root, which ends the run where its argument is negative and its value is used:
 * the root in `if x > 0 then sqrt(x) else 0` is not used below zero. For each node `reached` is the condition under
 * which the choices around it lead to it, found from the whole expression down to its parts. */
static void
watch_roots(freezer *z, struct frozen *r)
{
    pool *p = z->e->f->pool;
    size_t count;
    const node *shared = ex_tape(p, r->root, &count);
    node *tape = bg_malloc(count * sizeof *tape), one = ex_const(p, 1), zero = ex_const(p, 0);

    memcpy(tape, shared, count * sizeof *tape);
    vec_resize(&z->reached, pool_count(p));
    for (size_t i = 0; i < count; i++)
        z->reached.at[tape[i]] = zero;
    z->reached.at[r->root] = one;
    for (size_t i = count; i-- > 0;) {
        ex_node x = *pool_node(p, tape[i]);
        node kid[3] = { x.a, x.b, x.c }, here = z->reached.at[tape[i]];

        for (int k = 0; k < 3 && x.op != EX_SLOT && kid[k] != NODE_NONE; k++) {
            node taken = x.op != EX_SELECT || k == 0 ? one
                         : k == 1                    ? x.a
                                                     : ex_make(p, EX_NOT, x.a, NODE_NONE, NODE_NONE);

            z->reached.at[kid[k]] = ex_make(p, EX_OR, z->reached.at[kid[k]], ex_make(p, EX_AND, here, taken, NODE_NONE),
                                            NODE_NONE);
        }
    }
    for (size_t k = 0; k < z->continued.n; k++) {
        struct continued c = z->continued.at[k];

        /* a root that was simplified away is not watched; where one is not used, 1 is watched in place of its argument
         */
        if (bsearch(&c.root, tape, count, sizeof *tape, bg_compare_numbers))
            add_mode(z, r, MODE_DOMAIN, ex_make(p, EX_SELECT, z->reached.at[c.root], c.of, one), 0);
    }
    free(tape);
}

/* Has the operation pieces that are told apart by a condition? */
static bool
switches(const ex_node *x)
{
    switch (x->op) {
    case EX_LT:
    case EX_LE:
    case EX_EQ:
    case EX_NE:
    case EX_ABS:
    case EX_SIGN:
    case EX_MIN:
    case EX_MAX:
    case EX_FLOOR:
    case EX_CEIL: return true;
    case EX_TABLE:
    case EX_TABLE_SLOPE: return x->b == NODE_NONE;
    default: return false;
    }
}

/* ---- relays: an `if` that jumps at a border on which states may be kept (relays.h) ---- */

enum { TRIES = 3 }; /* points at which slopes are compared: one alone may happen to be a zero of their difference */
#define SAME 1e-6   /* relative to the slopes: smaller differences are rounding */

/* Is b - c independent of the slots that vary? Compared are their slopes, as numbers at a few points: an expression in
 * which the common part cancels need not be found. */
static bool
differ_by_constant(const freezer *z, const struct frozen *r, node b, node c)
{
    pool *p = z->e->f->pool;
    double *value;
    bool same = !pool_node(p, b)->switching && !pool_node(p, c)->switching;

    value = bg_malloc((r->n + 1) * sizeof *value);
    for (uint64_t t = 1; t <= TRIES && same; t++)
        for (uint32_t k = 0; k < r->n && same; k++) {
            double db, dc;

            if (z->masks.at[r->mask0 + k] != SLOT_VARYING)
                continue;
            relays_values(value, r->n, t);
            db = ex_eval(p, ex_derivative(p, b, k), value);
            dc = ex_eval(p, ex_derivative(p, c, k), value);
            same = fabs(db - dc) <= SAME * (fabs(db) + fabs(dc));
        }
    free(value);
    return same;
}

/* Where both branches lead back to the border of a relay, what reads it follows the border ("slides"): with the value
 * between the branches that keeps it there, as in Filippov's solution. With s = sign(g), which takes a value in -1..1
 * while it sticks, `if a < b then below else above` becomes
 *
 *   below + (1 + s)/2 (above - below)   while s sticks (g = a - b stays zero)
 *   the choice by its own condition     otherwise
 */
static node
freeze_relay(freezer *z, struct frozen *r, const ex_node *x)
{
    pool *p = z->e->f->pool;
    const ex_node *q = pool_node(p, x->a);
    node g = ex_sub(p, z->mapped.at[q->a], z->mapped.at[q->b]), half = ex_const(p, 0.5), below = z->mapped.at[x->b],
         above = z->mapped.at[x->c], frozen = z->mapped.at[x->a], by, part, stick;
    bool constant = differ_by_constant(z, r, x->b, x->c);

    if (pool_node(p, g)->op == EX_NEG) { /* `if x > 0` and `if x < 0` share sign(x) */
        g = pool_node(p, g)->a;
        below = z->mapped.at[x->c];
        above = z->mapped.at[x->b];
    }
    by = ex_sub(p, above, below);
    if (constant) { /* b*f + 3 and b*f - 2 differ by 5 for any f, and for f = 1: equations that are solved for f stay
                     * linear */
        node *with = bg_malloc((r->n + 1) * sizeof *with);

        for (uint32_t k = 0; k < r->n; k++)
            with[k] = z->masks.at[r->mask0 + k] == SLOT_VARYING ? ex_const(p, 1) : NODE_NONE;
        by = ex_substitute(p, by, with, r->n);
        free(with);
    }
    part = ex_mul(p, half, ex_add(p, ex_const(p, 1), add_condition(z, r, (struct extra){ .is = EXTRA_SIGN, .g = g })));
    stick = add_condition(z, r, (struct extra){ .is = EXTRA_STICK, .g = g, .by = constant ? NODE_NONE : by });
    return ex_make(p, EX_SELECT, stick, ex_add(p, below, ex_mul(p, part, by)),
                   ex_make(p, EX_SELECT, frozen, z->mapped.at[x->b], z->mapped.at[x->c]));
}

/* Is a template with this root to be searched for relays? */
static bool
has_relays(const freezer *z, node root, unsigned how)
{
    return (how & FREEZE_RELAYS) && pool_node(z->e->f->pool, root)->switching;
}

/* Prepares the arrays by node for the nodes of the tape, and marks constant exponents among them: these stay in the
 * template, whose derivative and roots depend on them. */
static void
prepare_nodes(freezer *z, const node *tape, size_t count)
{
    pool *p = z->e->f->pool;

    if (z->mapped.n < pool_count(p)) {
        vec_resize(&z->mapped, pool_count(p));
        vec_resize(&z->constant, pool_count(p));
        vec_resize(&z->timed, pool_count(p));
        vec_resize(&z->exponent, pool_count(p));
    }
    for (size_t i = 0; i < count; i++)
        z->exponent.at[tape[i]] = false;
    for (size_t i = 0; i < count; i++) {
        const ex_node *x = pool_node(p, tape[i]);

        if ((x->op == EX_POW || x->op == EX_SPOW || x->op == EX_APOW) && ex_is_const(p, x->b, NULL))
            z->exponent.at[x->b] = true;
    }
}

static void
freeze_constant(freezer *z, struct frozen *r, node n, double value)
{
    bool stays = value == 0 || value == 1 || value == -1 || z->exponent.at[n];

    z->mapped.at[n] = stays ? n : add_extra(z, r, (struct extra){ .value = value });
    z->constant.at[n] = z->timed.at[n] = true;
}

static void
freeze_slot(freezer *z, const struct frozen *r, node n, uint32_t slot)
{
    uint8_t known = z->masks.at[r->mask0 + slot];

    z->mapped.at[n] = n;
    z->constant.at[n] = known == SLOT_PARAMETER;
    z->timed.at[n] = known != SLOT_VARYING;
}

/* sliding: the template was searched for relays. Its operands are frozen already. */
static void
freeze_operation(freezer *z, struct frozen *r, node n, bool sliding)
{
    pool *p = z->e->f->pool;
    ex_node x = *pool_node(p, n);
    node a = x.a, b = x.b, c = x.c, *operand[3] = { &a, &b, &c };
    bool constant = true, timed = true;

    for (int k = 0; k < 3; k++) {
        if (*operand[k] == NODE_NONE)
            continue;
        constant = constant && z->constant.at[*operand[k]];
        timed = timed && z->timed.at[*operand[k]];
        *operand[k] = z->mapped.at[*operand[k]];
    }
    if (!constant && switches(&x)) /* what parameters alone decide is computed with them */
        z->mapped.at[n] = freeze_node(z, r, &x, a, b, c, timed);
    else if (sliding && x.op == EX_SELECT && relays_is(z->relays, r->relays, n))
        z->mapped.at[n] = freeze_relay(z, r, &x);
    else if ((r->how & FREEZE_ROOTS) && !timed && is_root(p, &x))
        z->mapped.at[n] = continue_root(z, a, b);
    else if (x.op == EX_TABLE || x.op == EX_TABLE_SLOPE)
        z->mapped.at[n] = ex_table_node(p, x.op, x.table, a, b);
    else
        z->mapped.at[n] = ex_make(p, x.op, a, b, c);
    z->constant.at[n] = constant;
    z->timed.at[n] = timed;
}

static void
freeze_template(freezer *z, struct frozen *r)
{
    pool *p = z->e->f->pool;
    size_t count;
    bool sliding = has_relays(z, r->from, r->how);
    node from = sliding ? relays_whole(z->relays, r->relays) : ex_odd(p, r->from), *tape;
    const node *shared = ex_tape(p, from, &count);

    tape = bg_malloc(count * sizeof *tape); /* the pool may move its lists while new nodes are made */
    memcpy(tape, shared, count * sizeof *tape);
    z->continued.n = 0;
    index_set_free(&z->conditions);
    prepare_nodes(z, tape, count);
    for (size_t i = 0; i < count; i++) { /* operands stand before what reads them */
        ex_node x = *pool_node(p, tape[i]);

        if (x.op == EX_CONST)
            freeze_constant(z, r, tape[i], x.value);
        else if (x.op == EX_SLOT)
            freeze_slot(z, r, tape[i], x.a);
        else
            freeze_operation(z, r, tape[i], sliding);
    }
    r->root = z->mapped.at[from];
    if (z->continued.n)
        watch_roots(z, r);
    free(tape);
}

/* The variable for a number of the text: one for all places where it stands. */
static var_id
literal_var(freezer *z, double value, span at)
{
    uint64_t bits;
    uint32_t v;

    memcpy(&bits, &value, sizeof bits);
    v = map_get(&z->literal, bits);
    if (v == MAP_NONE) {
        flat_model *f = z->e->f;
        char text[32];

        snprintf(text, sizeof text, "%.17g", value);
        v = flat_add_literal(f, value, names_intern_z(f->names, text), at);
        map_set(&z->literal, bits, v);
    }
    return v;
}

uint32_t
freeze_new_mode(equations *e, uint8_t kind, inst g, uint32_t table, span at)
{
    eq_mode m = { .kind = kind, .g = g, .table = table, .at = at, .slope = INST_NONE, .offset = INST_NONE };
    char text[32];

    snprintf(text, sizeof text, "condition %zu", e->mode.n + 1);
    m.var = flat_add_var(e->f, VAR_MODE, (uint32_t)e->mode.n, names_intern_z(e->f->names, text), at);
    vec_push(&e->mode, m);
    return (uint32_t)e->mode.n - 1;
}

/* The variable of a mode for condition x on g, which is made at its first occurrence. */
static var_id
mode_var(freezer *z, const struct extra *x, inst g, span at)
{
    equations *e = z->e;
    uint64_t hash = bg_hash_mix(bg_hash_bytes(inst_slots(e->f, g), g.n * sizeof(var_id), x->kind),
                                bg_hash_mix(g.root, x->table));
    uint32_t i = map_get(&z->mode, hash), k = i;

    for (; k != MAP_NONE; k = z->mode_next.at[k])
        if (e->mode.at[k].kind == x->kind && e->mode.at[k].table == x->table && inst_equal(e->f, e->mode.at[k].g, g))
            break;
    if (k != MAP_NONE) {
        e->mode.at[k].corner &= !x->jumps;
        return e->mode.at[k].var;
    }
    vec_resize(&z->mode_next, e->mode.n + 1);
    z->mode_next.at[e->mode.n] = i;
    map_set(&z->mode, hash, (uint32_t)e->mode.n);
    i = freeze_new_mode(e, x->kind, g, x->table, at);
    e->mode.at[i].corner = !x->jumps;
    return e->mode.at[i].var;
}

/* The variable for sign(x), made with its two modes at its first occurrence. relay: a relay reads it; the sign is one
 * of relays as long as nothing else does. */
static var_id
sign_var(freezer *z, inst x, bool relay, span at)
{
    equations *e = z->e;
    flat_model *f = e->f;
    uint64_t hash = bg_hash_bytes(inst_slots(f, x), x.n * sizeof(var_id), x.root);
    uint32_t i = map_get(&z->sign, hash);
    eq_sign s = { .x = x, .relay = relay, .at = at };
    strbuf name = { 0 };

    for (uint32_t k = i; k != MAP_NONE; k = z->sign_next.at[k])
        if (inst_equal(f, e->sign.at[k].x, x)) {
            e->sign.at[k].relay &= relay;
            return e->sign.at[k].s;
        }
    strbuf_puts(&name, "sign(");
    flat_print(f, x, &name);
    strbuf_puts(&name, ")");
    s.s = flat_add_var(f, VAR_AUX, (uint32_t)e->sign.n, names_intern_z(f->names, name.at), at);
    strbuf_free(&name);
    s.slip = freeze_new_mode(e, MODE_SIGN, x, 0, at);
    s.stick = freeze_new_mode(e, MODE_STICK, inst_var(f, s.s), 0, at);
    e->mode.at[s.slip].partner = s.stick;
    e->mode.at[s.stick].partner = s.slip;
    vec_push(&z->sign_next, i);
    map_set(&z->sign, hash, (uint32_t)e->sign.n);
    vec_push(&e->sign, s);
    return s.s;
}

/* The mode that is on while sign(x) keeps x at zero, for a relay that jumps by `by` there. */
static var_id
stick_var(freezer *z, inst x, inst by, span at)
{
    equations *e = z->e;
    uint32_t sign = e->f->var.at[sign_var(z, x, true, at)].owner;

    if (inst_known(by))
        vec_push(&e->jump, ((eq_jump){ sign, by }));
    return e->mode.at[e->sign.at[sign].stick].var;
}

/* Replaces equal or opposite numbers of the text by one slot, and a zero with a unit by zero, so that the branches of
 * an `if` are recognized as those of one odd law (ex_odd). */
static inst
unify_literals(freezer *z, inst i)
{
    flat_model *f = z->e->f;
    VEC(node) with = { 0 };
    bool any = false;

    for (uint32_t k = 0; k < i.n; k++) {
        const flat_var *v = &f->var.at[f->slot.at[i.first + k]];
        node same = v->kind == VAR_LITERAL && var_value(f, f->slot.at[i.first + k]) == 0 ? ex_const(f->pool, 0)
                                                                                         : NODE_NONE;

        for (uint32_t j = 0; v->kind == VAR_LITERAL && j < k && same == NODE_NONE; j++) {
            const flat_var *w = &f->var.at[f->slot.at[i.first + j]];

            if (w->kind == VAR_LITERAL &&
                fabs(var_value(f, f->slot.at[i.first + j])) == fabs(var_value(f, f->slot.at[i.first + k])))
                same = var_value(f, f->slot.at[i.first + j]) == var_value(f, f->slot.at[i.first + k])
                           ? ex_slot(f->pool, j)
                           : ex_neg(f->pool, ex_slot(f->pool, j));
        }
        any = any || same != NODE_NONE;
        vec_push(&with, same);
    }
    if (any) {
        node root = ex_substitute(f->pool, i.root, with.at, i.n);

        z->slots.n = 0;
        for (uint32_t k = 0; k < i.n; k++)
            vec_push(&z->slots, f->slot.at[i.first + k]);
        i = inst_part(z->e->composer, root, z->slots.at, i.n);
    }
    vec_free(&with);
    return i;
}

/* The frozen template of i, by its number in z->done; made at its first occurrence. */
static uint32_t
frozen_template(freezer *z, inst i, unsigned how, relays_use used)
{
    flat_model *f = z->e->f;
    struct frozen fresh = { .from = i.root, .root = NODE_NONE, .how = (uint8_t)how, .relays = used, .n = i.n };
    uint64_t hash;
    uint32_t k;

    vec_resize(&z->mask, i.n);
    for (uint32_t s = 0; s < i.n; s++)
        z->mask.at[s] = known_slot(f, f->slot.at[i.first + s]);
    hash = bg_hash_bytes(z->mask.at, i.n, bg_hash_mix(i.root, how) ^ used.smooth);
    fresh.next = map_get(&z->index, hash);
    for (k = fresh.next; k != MAP_NONE; k = z->done.at[k].next) {
        const struct frozen *r = &z->done.at[k];

        if (r->from == i.root && r->how == how && r->relays.smooth == used.smooth && r->n == i.n &&
            (i.n == 0 || !memcmp(z->masks.at + r->mask0, z->mask.at, i.n)))
            return k;
    }
    fresh.extra0 = (uint32_t)z->extra.n;
    fresh.mask0 = (uint32_t)z->masks.n;
    for (uint32_t s = 0; s < i.n; s++)
        vec_push(&z->masks, z->mask.at[s]);
    freeze_template(z, &fresh);
    k = (uint32_t)z->done.n;
    map_set(&z->index, hash, k);
    vec_push(&z->done, fresh);
    return k;
}

/* The variable for a slot that was added to a template, over the slots filled so far. */
static var_id
extra_var(freezer *z, const struct extra *x, span at)
{
    const var_id *slots = z->slots.at;
    uint32_t n = (uint32_t)z->slots.n;
    inst g, by = INST_NONE;

    if (x->is == EXTRA_LITERAL)
        return literal_var(z, x->value, at);
    g = inst_part(z->e->composer, x->g, slots, n);
    if (x->is == EXTRA_SIGN)
        return sign_var(z, g, !x->jumps, at);
    if (x->is == EXTRA_MODE)
        return mode_var(z, x, g, at);
    if (x->by != NODE_NONE)
        by = inst_part(z->e->composer, x->by, slots, n);
    return stick_var(z, g, by, at);
}

inst
freeze(freezer *z, inst i, unsigned how, span at)
{
    flat_model *f = z->e->f;
    relays_use used = { 0, 0 };
    struct frozen r;
    uint32_t k;

    if (!inst_known(i))
        return i;
    if (pool_node(f->pool, i.root)->switching && i.n <= MOST_UNIFIED)
        i = unify_literals(z, i);
    if (has_relays(z, i.root, how))
        used = relays_of(z->relays, i);
    k = frozen_template(z, i, how, used); /* moves z->done.at */
    r = z->done.at[k];
    if (!r.nextra && r.root == i.root)
        return i;
    z->slots.n = 0;
    for (uint32_t s = 0; s < i.n; s++)
        vec_push(&z->slots, f->slot.at[i.first + s]);
    for (uint32_t s = 0; s < r.nextra; s++) {
        struct extra x = z->extra.at[r.extra0 + s];
        var_id v = extra_var(z, &x, at);

        vec_push(&z->slots, v);
    }
    return inst_part(z->e->composer, r.root, z->slots.at, (uint32_t)z->slots.n);
}
