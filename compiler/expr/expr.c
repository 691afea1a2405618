/* expr.c - the pool of expressions: making nodes, which simplifies, and asking about them
 *
 * needs     operands of the same pool
 * provides  canonical nodes: factors of products in front, minus signs outside, constants of sums behind, divisions
 *           outside divisions, operands of commutative operations in order (slots, other nodes, constants)
 * keeps     the value wherever operands and result are finite, up to rounding; a result that is not finite is left to
 *           be found where it arises
 */
#include <math.h>
#include <string.h>

#include "expr_pool.h"

/* Precedence as the grammar has it: 1 if, 2 or, 3 and, 4 not, 5 comparisons, 6 sums, 7 products, 8 sign, 9 power, 10
 * calls */
const struct ex_op_info ex_ops[EX_NOPS] = {
    [EX_CONST] = { "const", 0, 10, false, false },
    [EX_SLOT] = { "slot", 0, 10, false, false },
    [EX_ADD] = { "+", 2, 6, true, true },
    [EX_SUB] = { "-", 2, 6, true, false },
    [EX_MUL] = { "*", 2, 7, true, true },
    [EX_DIV] = { "/", 2, 7, true, false },
    [EX_NEG] = { "-", 1, 8, false, false },
    [EX_POW] = { "^", 2, 9, true, false },
    [EX_SPOW] = { "spow", 2, 10, false, false },
    [EX_APOW] = { "apow", 2, 10, false, false },
    [EX_SQRT] = { "sqrt", 1, 10, false, false },
    [EX_EXP] = { "exp", 1, 10, false, false },
    [EX_LN] = { "ln", 1, 10, false, false },
    [EX_LOG10] = { "log10", 1, 10, false, false },
    [EX_SIN] = { "sin", 1, 10, false, false },
    [EX_COS] = { "cos", 1, 10, false, false },
    [EX_TAN] = { "tan", 1, 10, false, false },
    [EX_ASIN] = { "asin", 1, 10, false, false },
    [EX_ACOS] = { "acos", 1, 10, false, false },
    [EX_ATAN] = { "atan", 1, 10, false, false },
    [EX_ATAN2] = { "atan2", 2, 10, false, false },
    [EX_SINH] = { "sinh", 1, 10, false, false },
    [EX_COSH] = { "cosh", 1, 10, false, false },
    [EX_TANH] = { "tanh", 1, 10, false, false },
    [EX_ASINH] = { "asinh", 1, 10, false, false },
    [EX_FLOOR] = { "floor", 1, 10, false, false },
    [EX_CEIL] = { "ceil", 1, 10, false, false },
    [EX_ABS] = { "abs", 1, 10, false, false },
    [EX_SIGN] = { "sign", 1, 10, false, false },
    [EX_MIN] = { "min", 2, 10, false, true },
    [EX_MAX] = { "max", 2, 10, false, true },
    [EX_LT] = { "<", 2, 5, true, false },
    [EX_LE] = { "<=", 2, 5, true, false },
    [EX_EQ] = { "==", 2, 5, true, true },
    [EX_NE] = { "!=", 2, 5, true, true },
    [EX_AND] = { "and", 2, 3, true, true },
    [EX_OR] = { "or", 2, 2, true, true },
    [EX_NOT] = { "not", 1, 4, false, false },
    [EX_SELECT] = { "if", 3, 1, false, false },
    [EX_TABLE] = { "table", 2, 10, false, false },
    [EX_TABLE_SLOPE] = { "table_slope", 2, 10, false, false },
};

/* ---------------------------------------------------------------- the pool */

pool *
pool_new(void)
{
    pool *p = bg_calloc(1, sizeof *p);

    p->mem = arena_new();
    p->scratch = bg_calloc(1, sizeof *p->scratch);
    p->zero = ex_const(p, 0);
    p->one = ex_const(p, 1);
    return p;
}

void
pool_free(pool *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->page.n; i++)
        free(p->page.at[i]);
    for (size_t i = 0; i < p->table.n; i++) {
        free(p->table.at[i]->x);
        free(p->table.at[i]->y);
    }
    for (size_t i = 0; i < p->tape.n; i++)
        free(p->tape.at[i].at);
    vec_free(&p->page);
    vec_free(&p->table);
    vec_free(&p->tape);
    map_free(&p->tape_of);
    map_free(&p->derivative_of);
    vec_free(&p->scratch->list);
    free(p->scratch->stamp);
    free(p->scratch->value);
    free(p->scratch->image);
    free(p->scratch);
    free(p->slot);
    free(p->hash);
    arena_free(p->mem);
    free(p);
}

const ex_node *
pool_node(const pool *p, node n)
{
    return &pool_entry(p, n)->n;
}

size_t
pool_count(const pool *p)
{
    return p->n;
}

uint32_t
pool_add_table(pool *p, ex_table t)
{
    ex_table *own = arena_alloc(p->mem, sizeof *own);

    *own = t;
    vec_push(&p->table, own);
    return (uint32_t)(p->table.n - 1);
}

const ex_table *
pool_table(const pool *p, uint32_t i)
{
    return p->table.at[i];
}

static uint32_t
node_hash(const ex_node *e)
{
    uint64_t bits, h;

    memcpy(&bits, &e->value, sizeof bits);
    h = bg_hash_mix((uint64_t)e->a << 32 | e->b, (uint64_t)e->c << 32 | e->table);
    h = bg_hash_mix(h, bits ^ (uint64_t)e->op << 56);
    return (uint32_t)(h ^ h >> 32);
}

static bool
node_equal(const ex_node *x, const ex_node *y)
{
    return x->op == y->op && x->a == y->a && x->b == y->b && x->c == y->c && x->table == y->table &&
           memcmp(&x->value, &y->value, sizeof x->value) == 0;
}

static void
rehash(pool *p)
{
    size_t n = p->nslot ? 2 * p->nslot : 1024;
    uint32_t *slot = bg_malloc(n * sizeof *slot), *hash = bg_malloc(n * sizeof *hash);

    memset(slot, 0xff, n * sizeof *slot);
    for (size_t i = 0; i < p->nslot; i++) {
        size_t at;

        if (p->slot[i] == NODE_NONE)
            continue;
        for (at = p->hash[i] & (n - 1); slot[at] != NODE_NONE; at = (at + 1) & (n - 1))
            ;
        slot[at] = p->slot[i];
        hash[at] = p->hash[i];
    }
    free(p->slot);
    free(p->hash);
    p->slot = slot;
    p->hash = hash;
    p->nslot = n;
}

/* Does the operation itself jump or bend? */
static bool
op_switches(const ex_node *e)
{
    switch (e->op) {
    case EX_FLOOR:
    case EX_CEIL:
    case EX_ABS:
    case EX_SIGN:
    case EX_MIN:
    case EX_MAX:
    case EX_LT:
    case EX_LE:
    case EX_EQ:
    case EX_NE: return true;
    case EX_TABLE:
    case EX_TABLE_SLOPE: return e->b == NODE_NONE;
    default: return false;
    }
}

static void
entry_complete(const pool *p, struct entry *e)
{
    const node kid[3] = { e->n.a, e->n.b, e->n.c };
    int n = ex_operands(&e->n);

    e->n.switching = op_switches(&e->n);
    if (e->n.op == EX_SLOT) {
        e->bound = e->n.a + 1;
        e->slots = UINT64_C(1) << (e->n.a < 63 ? e->n.a : 63);
    }
    for (int i = 0; i < n; i++) {
        const struct entry *k = pool_entry(p, kid[i]);

        e->n.switching |= k->n.switching;
        if (e->n.depth <= k->n.depth)
            e->n.depth = k->n.depth + 1;
        if (e->bound < k->bound)
            e->bound = k->bound;
        e->slots |= k->slots;
    }
}

/* The node as it stands, made unless it is there. */
static node
intern(pool *p, ex_node e)
{
    uint32_t h = node_hash(&e);
    size_t at;
    struct entry *new;

    if (4 * p->n >= 3 * p->nslot)
        rehash(p);
    for (at = h & (p->nslot - 1); p->slot[at] != NODE_NONE; at = (at + 1) & (p->nslot - 1))
        if (p->hash[at] == h && node_equal(pool_node(p, p->slot[at]), &e))
            return p->slot[at];
    if (p->n >> PAGE_BITS == p->page.n)
        vec_push(&p->page, bg_malloc(PAGE * sizeof(struct entry)));
    new = pool_entry(p, (node)p->n);
    *new = (struct entry){ .n = e };
    entry_complete(p, new);
    p->slot[at] = (node)p->n;
    p->hash[at] = h;
    return (node)p->n++;
}

static node
raw(pool *p, enum ex_op op, node a, node b, node c)
{
    return intern(p, (ex_node){ .op = (uint8_t)op, .a = a, .b = b, .c = c });
}

/* ---------------------------------------------------------------- making: sums and products
 *
 * Each maker assumes simplified operands and calls others only on parts of them, so the nesting of calls has a fixed
 * bound. */

static node make_add(pool *p, node a, node b);
static node make_sub(pool *p, node a, node b);
static node make_mul(pool *p, node a, node b);
static node make_div(pool *p, node a, node b);
static node make_pow(pool *p, node a, node b);

node
ex_const(pool *p, double v)
{
    if (v == 0)
        v = 0; /* one zero: -0 would be a second */
    else if (isnan(v))
        v = NAN;
    return intern(p, (ex_node){ .op = EX_CONST, .a = NODE_NONE, .b = NODE_NONE, .c = NODE_NONE, .value = v });
}

node
ex_slot(pool *p, uint32_t k)
{
    return intern(p, (ex_node){ .op = EX_SLOT, .a = k, .b = NODE_NONE, .c = NODE_NONE });
}

bool
ex_is_const(const pool *p, node n, double *value)
{
    const ex_node *e = pool_node(p, n);

    if (e->op != EX_CONST)
        return false;
    if (value)
        *value = e->value;
    return true;
}

static bool
is_op(const pool *p, node n, enum ex_op op)
{
    return pool_node(p, n)->op == op;
}

/* Is v good to stand for what was computed? Overflow, and a product that vanished, are not. */
static bool
good_factor(double v)
{
    return isfinite(v) && v != 0;
}

/* Place of an operand of a commutative operation: slots by their number, then nodes by theirs, then constants */
static uint64_t
place(const pool *p, node n)
{
    const ex_node *e = pool_node(p, n);

    return e->op == EX_SLOT ? e->a : e->op == EX_CONST ? (uint64_t)2 << 32 | n : (uint64_t)1 << 32 | n;
}

static node
raw_ordered(pool *p, enum ex_op op, node a, node b)
{
    return place(p, a) > place(p, b) ? raw(p, op, b, a, NODE_NONE) : raw(p, op, a, b, NODE_NONE);
}

/* Minus sign in front: -x, -2*x, -2/x */
static bool
is_negative(const pool *p, node n)
{
    const ex_node *e = pool_node(p, n);
    double c;

    return e->op == EX_NEG || ((e->op == EX_MUL || e->op == EX_DIV) && ex_is_const(p, e->a, &c) && c < 0);
}

static node scaled(pool *p, double c, node core);

static node
make_neg(pool *p, node a)
{
    const ex_node *e = pool_node(p, a);
    double c;

    switch (e->op) {
    case EX_CONST: return ex_const(p, -e->value);
    case EX_NEG: return e->a;
    case EX_SUB: return make_sub(p, e->b, e->a);
    case EX_ADD:
        if (ex_is_const(p, e->b, &c))
            return make_sub(p, ex_const(p, -c), e->a);
        break;
    case EX_MUL:
        if (ex_is_const(p, e->a, &c))
            return scaled(p, -c, e->b);
        break;
    case EX_DIV:
        if (ex_is_const(p, e->a, &c))
            return raw(p, EX_DIV, ex_const(p, -c), e->b, NODE_NONE);
        break;
    default: break;
    }
    return raw(p, EX_NEG, a, NODE_NONE, NODE_NONE);
}

/* c * core */
static node
scaled(pool *p, double c, node core)
{
    const ex_node *e = pool_node(p, core);
    double d;

    if (c == 0)
        return p->zero;
    if (c == 1)
        return core;
    if (e->op == EX_CONST && isfinite(c * e->value))
        return ex_const(p, c * e->value);
    if (c == -1)
        return make_neg(p, core);
    if (e->op == EX_NEG)
        return scaled(p, -c, e->a);
    if (e->op == EX_MUL && ex_is_const(p, e->a, &d) && good_factor(c * d))
        return scaled(p, c * d, e->b);
    if (e->op == EX_DIV && ex_is_const(p, e->a, &d) && good_factor(c * d))
        return raw(p, EX_DIV, ex_const(p, c * d), e->b, NODE_NONE);
    if (e->op == EX_DIV && ex_is_const(p, e->b, &d) && good_factor(c / d))
        return scaled(p, c / d, e->a);
    return raw(p, EX_MUL, ex_const(p, c), core, NODE_NONE);
}

/* n = *c * result, the result without a constant factor */
static node
split(pool *p, node n, double *c)
{
    const ex_node *e = pool_node(p, n);

    *c = 1;
    if (e->op == EX_NEG) {
        *c = -1;
        return e->a;
    }
    if (e->op == EX_MUL && ex_is_const(p, e->a, c))
        return e->b;
    if (e->op == EX_DIV && e->a != p->one && ex_is_const(p, e->a, c) && good_factor(*c))
        return raw(p, EX_DIV, p->one, e->b, NODE_NONE);
    *c = 1;
    return n;
}

static node
make_add(pool *p, node a, node b)
{
    double x, y, c;
    const ex_node *e;
    node core;

    if (ex_is_const(p, a, &x)) {
        node swap = a;

        if (ex_is_const(p, b, &y))
            return isfinite(x + y) ? ex_const(p, x + y) : raw_ordered(p, EX_ADD, a, b);
        a = b;
        b = swap;
    }
    e = pool_node(p, a);
    if (ex_is_const(p, b, &y)) {
        if (y == 0)
            return a;
        if (e->op == EX_ADD && ex_is_const(p, e->b, &x) && isfinite(x + y))
            return make_add(p, e->a, ex_const(p, x + y));
        if (e->op == EX_SUB && ex_is_const(p, e->a, &x) && isfinite(x + y))
            return make_sub(p, ex_const(p, x + y), e->b);
        if (is_negative(p, a))
            return make_sub(p, b, make_neg(p, a));
        return raw(p, EX_ADD, a, b, NODE_NONE);
    }
    core = split(p, a, &x);
    if (core == split(p, b, &y) && isfinite(c = x + y))
        return scaled(p, c, core);
    if (is_negative(p, b))
        return is_negative(p, a) ? make_neg(p, make_add(p, make_neg(p, a), make_neg(p, b)))
                                 : make_sub(p, a, make_neg(p, b));
    if (is_negative(p, a))
        return make_sub(p, b, make_neg(p, a));
    if (e->op == EX_SUB && e->b == b)
        return e->a;
    e = pool_node(p, b);
    if (e->op == EX_SUB && e->b == a)
        return e->a;
    return raw_ordered(p, EX_ADD, a, b);
}

static node
make_sub(pool *p, node a, node b)
{
    double x, y, c;
    const ex_node *ea = pool_node(p, a), *eb = pool_node(p, b);
    node core;

    if (ex_is_const(p, b, &y)) {
        if (ex_is_const(p, a, &x))
            return isfinite(x - y) ? ex_const(p, x - y) : raw(p, EX_SUB, a, b, NODE_NONE);
        return make_add(p, a, ex_const(p, -y));
    }
    if (is_negative(p, b))
        return make_add(p, a, make_neg(p, b));
    if (ex_is_const(p, a, &x)) {
        if (x == 0)
            return make_neg(p, b);
        if (eb->op == EX_ADD && ex_is_const(p, eb->b, &y) && isfinite(x - y))
            return make_sub(p, ex_const(p, x - y), eb->a);
        if (eb->op == EX_SUB && ex_is_const(p, eb->a, &y) && isfinite(x - y))
            return make_add(p, eb->b, ex_const(p, x - y));
        return raw(p, EX_SUB, a, b, NODE_NONE);
    }
    core = split(p, a, &x);
    if (core == split(p, b, &y) && isfinite(c = x - y))
        return scaled(p, c, core);
    if (is_negative(p, a))
        return make_neg(p, make_add(p, make_neg(p, a), b));
    if (ea->op == EX_ADD && (ea->a == b || ea->b == b))
        return ea->a == b ? ea->b : ea->a;
    if (ea->op == EX_SUB && ea->a == b)
        return make_neg(p, ea->b);
    if (eb->op == EX_ADD && (eb->a == a || eb->b == a))
        return make_neg(p, eb->a == a ? eb->b : eb->a);
    if (eb->op == EX_SUB && eb->a == a)
        return eb->b;
    return raw(p, EX_SUB, a, b, NODE_NONE);
}

/* n = result ^ *m, m a whole number */
static node
split_power(const pool *p, node n, double *m)
{
    const ex_node *e = pool_node(p, n);

    *m = 1;
    if (e->op == EX_POW && ex_is_const(p, e->b, m) && *m == floor(*m) && fabs(*m) < 1e6)
        return e->a;
    *m = 1;
    return n;
}

/* a * b, both without constant factors */
static node
product(pool *p, node a, node b)
{
    double m, n;
    node base = split_power(p, a, &m);

    if (base == split_power(p, b, &n) && (m > 0) == (n > 0))
        return make_pow(p, base, ex_const(p, m + n));
    if (is_op(p, a, EX_DIV) && pool_node(p, a)->a == p->one)
        return make_div(p, b, pool_node(p, a)->b);
    if (is_op(p, b, EX_DIV) && pool_node(p, b)->a == p->one)
        return make_div(p, a, pool_node(p, b)->b);
    return raw_ordered(p, EX_MUL, a, b);
}

static node
make_mul(pool *p, node a, node b)
{
    double x, y;
    bool ca = ex_is_const(p, a, &x), cb = ex_is_const(p, b, &y);
    node u, v;

    if (ca && cb)
        return isfinite(x * y) ? ex_const(p, x * y) : raw_ordered(p, EX_MUL, a, b);
    if (cb)
        return make_mul(p, b, a);
    if (ca)
        return isfinite(x) ? scaled(p, x, b) : raw(p, EX_MUL, a, b, NODE_NONE);
    u = split(p, a, &x);
    v = split(p, b, &y);
    return good_factor(x * y) ? scaled(p, x * y, product(p, u, v)) : raw_ordered(p, EX_MUL, a, b);
}

/* a / c */
static node
divided(pool *p, node a, double c)
{
    double x, d;
    node core;
    int exponent;
    const ex_node *e;

    if (c == 1)
        return a;
    core = split(p, a, &x);
    if (c == 0 || !isfinite(c))
        return scaled(p, x, raw(p, EX_DIV, core, ex_const(p, c), NODE_NONE));
    if (c < 0)
        return make_neg(p, divided(p, a, -c));
    if (fabs(x) != 1 && good_factor(x / c))
        return scaled(p, x / c, core);
    if (x == -1)
        return make_neg(p, divided(p, core, c));
    if (frexp(c, &exponent) == 0.5 && isfinite(1 / c))
        return scaled(p, 1 / c, a);
    e = pool_node(p, a);
    if (e->op == EX_DIV && ex_is_const(p, e->b, &d) && good_factor(d * c))
        return divided(p, e->a, d * c);
    return raw(p, EX_DIV, a, ex_const(p, c), NODE_NONE);
}

/* a / b, both without constant factors; a may be 1 */
static node
quotient(pool *p, node a, node b)
{
    const ex_node *ea = pool_node(p, a), *eb = pool_node(p, b);

    if (eb->op == EX_DIV)
        return make_mul(p, a, make_div(p, eb->b, eb->a));
    if (ea->op == EX_DIV)
        return make_div(p, ea->a, make_mul(p, ea->b, b));
    return raw(p, EX_DIV, a, b, NODE_NONE);
}

static node
make_div(pool *p, node a, node b)
{
    double x, y;
    node u, v;

    if (ex_is_const(p, b, &y)) {
        if (ex_is_const(p, a, &x))
            return isfinite(x / y) ? ex_const(p, x / y) : raw(p, EX_DIV, a, b, NODE_NONE);
        return divided(p, a, y);
    }
    v = split(p, b, &y);
    if (ex_is_const(p, a, &x)) {
        if (x == 0)
            return p->zero;
        u = p->one;
    } else {
        u = split(p, a, &x);
    }
    if (!good_factor(x / y))
        return raw(p, EX_DIV, a, b, NODE_NONE);
    return scaled(p, x / y, quotient(p, u, v));
}

static node
make_pow(pool *p, node a, node b)
{
    double x, m, n;
    const ex_node *e = pool_node(p, a);

    if (!ex_is_const(p, b, &n))
        return a == p->one ? a : raw(p, EX_POW, a, b, NODE_NONE);
    if (ex_is_const(p, a, &x)) {
        double r = ex_apply(EX_POW, x, n, 0, NULL);

        return isfinite(r) ? ex_const(p, r) : raw(p, EX_POW, a, b, NODE_NONE);
    }
    if (n == 0)
        return p->one;
    if (n == 1)
        return a;
    if (n == -1)
        return make_div(p, p->one, a);
    if (n == 0.5)
        return raw(p, EX_SQRT, a, NODE_NONE, NODE_NONE);
    if (n == floor(n) && fabs(n) < 1e6) {
        bool even = fmod(n, 2) == 0;
        node base;

        if (e->op == EX_NEG)
            return even ? make_pow(p, e->a, b) : make_neg(p, make_pow(p, e->a, b));
        if (e->op == EX_ABS && even)
            return make_pow(p, e->a, b);
        base = split_power(p, a, &m);
        if (m != 1)
            return make_pow(p, base, ex_const(p, m * n));
    }
    return raw(p, EX_POW, a, b, NODE_NONE);
}

/* sign(a)*|a|^b, or |a|^b */
static node
make_signed_pow(pool *p, enum ex_op op, node a, node b)
{
    bool odd = op == EX_SPOW;
    double x, n, m;
    const ex_node *e = pool_node(p, a);

    if (!ex_is_const(p, b, &n))
        return raw(p, op, a, b, NODE_NONE);
    if (ex_is_const(p, a, &x)) {
        double r = ex_apply(op, x, n, 0, NULL);

        return isfinite(r) ? ex_const(p, r) : raw(p, op, a, b, NODE_NONE);
    }
    if (is_negative(p, a)) {
        node r = make_signed_pow(p, op, make_neg(p, a), b);

        return odd ? make_neg(p, r) : r;
    }
    if (n == 0 && !odd) /* an odd 0 is the sign without a condition: what it multiplies is 0 where it jumps */
        return p->one;
    if (n > 0 && n == floor(n) && fmod(n, 2) == (odd ? 1 : 0))
        return make_pow(p, a, b);
    if (e->op == EX_SPOW && ex_is_const(p, e->b, &m) && m > 0 && n > 0)
        return make_signed_pow(p, op, e->a, ex_const(p, m * n));
    return raw(p, op, a, b, NODE_NONE);
}

/* ---------------------------------------------------------------- making: the rest */

/* Is the value always 0 or 1? */
static bool
is_condition(const pool *p, node n)
{
    const ex_node *e = pool_node(p, n);

    return (e->op >= EX_LT && e->op <= EX_NOT) || (e->op == EX_CONST && (e->value == 0 || e->value == 1));
}

static node
as_condition(pool *p, node n)
{
    double v;

    if (ex_is_const(p, n, &v))
        return v != 0 ? p->one : p->zero;
    return is_condition(p, n) ? n : raw_ordered(p, EX_NE, n, p->zero);
}

static node
make_logical(pool *p, enum ex_op op, node a, node b)
{
    double v;
    bool absorbing = op == EX_OR; /* the value that decides alone */

    if (ex_is_const(p, a, &v))
        return (v != 0) == absorbing ? (absorbing ? p->one : p->zero) : as_condition(p, b);
    if (ex_is_const(p, b, &v))
        return (v != 0) == absorbing ? (absorbing ? p->one : p->zero) : as_condition(p, a);
    if (a == b)
        return as_condition(p, a);
    return raw_ordered(p, op, a, b);
}

static node
make_select(pool *p, node c, node a, node b)
{
    double v;

    if (ex_is_const(p, c, &v))
        return v != 0 ? a : b;
    if (a == b)
        return a;
    if (is_op(p, c, EX_NOT))
        return raw(p, EX_SELECT, pool_node(p, c)->a, b, a);
    return raw(p, EX_SELECT, c, a, b);
}

static node
make_call(pool *p, enum ex_op op, node a)
{
    const ex_node *e = pool_node(p, a);
    double r;

    if (e->op == EX_CONST && isfinite(r = ex_apply(op, e->value, 0, 0, NULL)))
        return ex_const(p, r);
    switch (op) {
    case EX_SIN:
    case EX_TAN:
    case EX_ASIN:
    case EX_ATAN:
    case EX_SINH:
    case EX_TANH:
    case EX_ASINH:
    case EX_SIGN:
        if (is_negative(p, a))
            return make_neg(p, raw(p, op, make_neg(p, a), NODE_NONE, NODE_NONE));
        break;
    case EX_COS:
    case EX_COSH:
    case EX_ABS:
        if (is_negative(p, a))
            a = make_neg(p, a);
        if (op == EX_ABS && is_op(p, a, EX_ABS))
            return a;
        break;
    case EX_LN:
        if (e->op == EX_EXP)
            return e->a;
        break;
    case EX_FLOOR:
    case EX_CEIL:
        if (e->op == EX_FLOOR || e->op == EX_CEIL)
            return a;
        break;
    case EX_NOT:
        if (e->op == EX_NOT)
            return as_condition(p, e->a);
        break;
    default: break;
    }
    return raw(p, op, a, NODE_NONE, NODE_NONE);
}

static node
make_binary(pool *p, enum ex_op op, node a, node b)
{
    double x, y, r;

    if (ex_is_const(p, a, &x) && ex_is_const(p, b, &y) && isfinite(r = ex_apply(op, x, y, 0, NULL)))
        return ex_const(p, r);
    if (a == b) {
        if (op == EX_MIN || op == EX_MAX)
            return a;
        if (op == EX_LE || op == EX_EQ)
            return p->one;
        if (op == EX_LT || op == EX_NE)
            return p->zero;
    }
    return ex_ops[op].commutative ? raw_ordered(p, op, a, b) : raw(p, op, a, b, NODE_NONE);
}

node
ex_make(pool *p, enum ex_op op, node a, node b, node c)
{
    switch (op) {
    case EX_ADD: return make_add(p, a, b);
    case EX_SUB: return make_sub(p, a, b);
    case EX_MUL: return make_mul(p, a, b);
    case EX_DIV: return make_div(p, a, b);
    case EX_NEG: return make_neg(p, a);
    case EX_POW: return make_pow(p, a, b);
    case EX_SPOW:
    case EX_APOW: return make_signed_pow(p, op, a, b);
    case EX_AND:
    case EX_OR: return make_logical(p, op, a, b);
    case EX_SELECT: return make_select(p, a, b, c);
    default: return ex_ops[op].arity == 2 ? make_binary(p, op, a, b) : make_call(p, op, a);
    }
}

node
ex_table_node(pool *p, enum ex_op op, uint32_t table, node x, node piece)
{
    const ex_table *t = pool_table(p, table);
    double at = 0, i = -1, r;

    if (op == EX_TABLE_SLOPE && piece != NODE_NONE)
        x = p->zero; /* a known piece has its slope wherever x is */
    if (ex_is_const(p, x, &at) && (piece == NODE_NONE || ex_is_const(p, piece, &i)) &&
        isfinite(r = ex_apply(op, at, i, 0, t)))
        return ex_const(p, r);
    return intern(p, (ex_node){ .op = (uint8_t)op, .table = table, .a = x, .b = piece, .c = NODE_NONE });
}

/* ---------------------------------------------------------------- asking */

static int
by_number(const void *x, const void *y)
{
    node a = *(const node *)x, b = *(const node *)y;

    return (a > b) - (a < b);
}

const node *
pool_collect(const pool *p, node n, size_t *count)
{
    struct scratch *s = p->scratch;
    node least = n;

    if (s->nstamp <= n) {
        size_t want = p->n + p->n / 2;

        s->stamp = bg_realloc(s->stamp, want * sizeof *s->stamp);
        memset(s->stamp + s->nstamp, 0, (want - s->nstamp) * sizeof *s->stamp);
        s->nstamp = want;
    }
    if (++s->now == 0) {
        memset(s->stamp, 0, s->nstamp * sizeof *s->stamp);
        s->now = 1;
    }
    s->list.n = 0;
    vec_push(&s->list, n);
    s->stamp[n] = s->now;
    for (size_t i = 0; i < s->list.n; i++) {
        const ex_node *e = pool_node(p, s->list.at[i]);
        const node kid[3] = { e->a, e->b, e->c };

        if (s->list.at[i] < least)
            least = s->list.at[i];
        for (int j = 0, m = ex_operands(e); j < m; j++) {
            if (s->stamp[kid[j]] == s->now)
                continue;
            s->stamp[kid[j]] = s->now;
            vec_push(&s->list, kid[j]);
        }
    }
    if ((n - least) / 8 < s->list.n) { /* dense: reading the stamps is quicker than sorting */
        size_t m = 0;

        for (size_t i = least; i <= n; i++)
            if (s->stamp[i] == s->now)
                s->list.at[m++] = (node)i;
    } else {
        qsort(s->list.at, s->list.n, sizeof *s->list.at, by_number);
    }
    *count = s->list.n;
    return s->list.at;
}

double *
pool_values(const pool *p, node n)
{
    struct scratch *s = p->scratch;

    if (s->nvalue <= n) {
        s->nvalue = p->n + p->n / 2;
        s->value = bg_realloc(s->value, s->nvalue * sizeof *s->value);
    }
    return s->value;
}

node *
pool_images(const pool *p, node n)
{
    struct scratch *s = p->scratch;

    if (s->nimage <= n) {
        s->nimage = p->n + p->n / 2;
        s->image = bg_realloc(s->image, s->nimage * sizeof *s->image);
    }
    return s->image;
}

bool
pool_reads(const pool *p, node n, uint32_t k)
{
    const node *at;
    size_t count;

    if (!pool_may_read(p, n, k))
        return false;
    if (k < 63)
        return true;
    at = pool_collect(p, n, &count);
    for (size_t i = 0; i < count; i++)
        if (is_op(p, at[i], EX_SLOT) && pool_node(p, at[i])->a == k)
            return true;
    return false;
}

uint32_t
ex_slot_bound(const pool *p, node n)
{
    return pool_entry(p, n)->bound;
}

void
ex_slots_used(const pool *p, node n, bool *used, uint32_t nslots)
{
    const struct entry *e = pool_entry(p, n);
    const node *at;
    size_t count;

    for (uint32_t k = 0; k < nslots; k++)
        used[k] = k < 63 && (e->slots >> k & 1);
    if (nslots <= 63 || !(e->slots >> 63))
        return;
    at = pool_collect(p, n, &count);
    for (size_t i = 0; i < count; i++) {
        const ex_node *s = pool_node(p, at[i]);

        if (s->op == EX_SLOT && s->a < nslots)
            used[s->a] = true;
    }
}

size_t
ex_size(const pool *p, node n)
{
    size_t count;

    pool_collect(p, n, &count);
    return count;
}

const node *
ex_tape(pool *p, node n, size_t *count)
{
    uint32_t known = map_get(&p->tape_of, n);
    const node *at;
    struct tape t;

    if (known != MAP_NONE) {
        *count = p->tape.at[known].n;
        return p->tape.at[known].at;
    }
    at = pool_collect(p, n, &t.n);
    t.at = bg_malloc(t.n * sizeof *t.at);
    memcpy(t.at, at, t.n * sizeof *t.at);
    map_set(&p->tape_of, n, (uint32_t)p->tape.n);
    vec_push(&p->tape, t);
    *count = t.n;
    return t.at;
}
