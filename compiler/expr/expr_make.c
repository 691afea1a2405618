/* expr_make.c - makes simplified nodes: sums, products, powers, conditions, calls */
#include <math.h>

#include "expr_pool.h"

/* Whole exponents up to this one are counted exactly and added: x^2*x^3 is x^5. */
static const double GREATEST_COUNT = 1e6;

/* ---------------------------------------------------------------- sums and products
 *
 * Each function expects simplified operands and calls others only on parts of them, so that the depth of calls is
 * bounded.
 */

static node make_add(pool *p, node a, node b);
static node make_sub(pool *p, node a, node b);
static node make_mul(pool *p, node a, node b);
static node make_div(pool *p, node a, node b);
static node make_pow(pool *p, node a, node b);

node
ex_const(pool *p, double v)
{
    if (v == 0)
        v = 0; /* a single zero: -0 would be another one */
    else if (isnan(v))
        v = NAN;
    return pool_intern(p, (ex_node){ .op = EX_CONST, .a = NODE_NONE, .b = NODE_NONE, .c = NODE_NONE, .value = v });
}

node
ex_slot(pool *p, uint32_t k)
{
    node n = k < FIRST_SLOTS ? p->first_slot[k] : NODE_NONE;

    if (n == NODE_NONE) {
        n = pool_intern(p, (ex_node){ .op = EX_SLOT, .a = k, .b = NODE_NONE, .c = NODE_NONE });
        if (k < FIRST_SLOTS)
            p->first_slot[k] = n;
    }
    return n;
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

bool
ex_is_op(const pool *p, node n, enum ex_op op)
{
    return pool_node(p, n)->op == op;
}

/* May v replace the computation? Not if it overflowed or underflowed. */
static bool
good_factor(double v)
{
    return isfinite(v) && v != 0;
}

/* Order of operands of a commutative operation: slots by number, other nodes by number, constants. */
static uint64_t
operand_order(const pool *p, node n)
{
    const ex_node *e = pool_node(p, n);

    return e->op == EX_SLOT ? e->a : e->op == EX_CONST ? (uint64_t)2 << 32 | n : (uint64_t)1 << 32 | n;
}

static node
raw_ordered(pool *p, enum ex_op op, node a, node b)
{
    return operand_order(p, a) > operand_order(p, b) ? pool_raw(p, op, b, a, NODE_NONE)
                                                     : pool_raw(p, op, a, b, NODE_NONE);
}

/* Does it begin with a minus sign: -x, -2*x, -2/x? */
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
            return pool_raw(p, EX_DIV, ex_const(p, -c), e->b, NODE_NONE);
        break;
    default: break;
    }
    return pool_raw(p, EX_NEG, a, NODE_NONE, NODE_NONE);
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
        return pool_raw(p, EX_DIV, ex_const(p, c * d), e->b, NODE_NONE);
    if (e->op == EX_DIV && ex_is_const(p, e->b, &d) && good_factor(c / d))
        return scaled(p, c / d, e->a);
    return pool_raw(p, EX_MUL, ex_const(p, c), core, NODE_NONE);
}

/* n = *c * result, where the result has no constant factor */
static node
split_constant(pool *p, node n, double *c)
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
        return pool_raw(p, EX_DIV, p->one, e->b, NODE_NONE);
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
        return pool_raw(p, EX_ADD, a, b, NODE_NONE);
    }
    core = split_constant(p, a, &x);
    if (core == split_constant(p, b, &y) && isfinite(c = x + y))
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
            return isfinite(x - y) ? ex_const(p, x - y) : pool_raw(p, EX_SUB, a, b, NODE_NONE);
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
        return pool_raw(p, EX_SUB, a, b, NODE_NONE);
    }
    core = split_constant(p, a, &x);
    if (core == split_constant(p, b, &y) && isfinite(c = x - y))
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
    return pool_raw(p, EX_SUB, a, b, NODE_NONE);
}

/* n = result ^ *m with integer m */
static node
split_power(const pool *p, node n, double *m)
{
    const ex_node *e = pool_node(p, n);

    *m = 1;
    if (e->op == EX_POW && ex_is_const(p, e->b, m) && *m == floor(*m) && fabs(*m) < GREATEST_COUNT)
        return e->a;
    *m = 1;
    return n;
}

/* a * b, both without constant factors */
static node
make_product(pool *p, node a, node b)
{
    double m, n;
    node base = split_power(p, a, &m);

    if (base == split_power(p, b, &n) && (m > 0) == (n > 0))
        return make_pow(p, base, ex_const(p, m + n));
    if (ex_is_op(p, a, EX_DIV) && pool_node(p, a)->a == p->one)
        return make_div(p, b, pool_node(p, a)->b);
    if (ex_is_op(p, b, EX_DIV) && pool_node(p, b)->a == p->one)
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
        return isfinite(x) ? scaled(p, x, b) : pool_raw(p, EX_MUL, a, b, NODE_NONE);
    u = split_constant(p, a, &x);
    v = split_constant(p, b, &y);
    return good_factor(x * y) ? scaled(p, x * y, make_product(p, u, v)) : raw_ordered(p, EX_MUL, a, b);
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
    core = split_constant(p, a, &x);
    if (c == 0 || !isfinite(c))
        return scaled(p, x, pool_raw(p, EX_DIV, core, ex_const(p, c), NODE_NONE));
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
    return pool_raw(p, EX_DIV, a, ex_const(p, c), NODE_NONE);
}

/* a / b, both without constant factors; a may be 1 */
static node
make_quotient(pool *p, node a, node b)
{
    const ex_node *ea = pool_node(p, a), *eb = pool_node(p, b);

    if (eb->op == EX_DIV)
        return make_mul(p, a, make_div(p, eb->b, eb->a));
    if (ea->op == EX_DIV)
        return make_div(p, ea->a, make_mul(p, ea->b, b));
    return pool_raw(p, EX_DIV, a, b, NODE_NONE);
}

static node
make_div(pool *p, node a, node b)
{
    double x, y;
    node u, v;

    if (ex_is_const(p, b, &y)) {
        if (ex_is_const(p, a, &x))
            return isfinite(x / y) ? ex_const(p, x / y) : pool_raw(p, EX_DIV, a, b, NODE_NONE);
        return divided(p, a, y);
    }
    v = split_constant(p, b, &y);
    if (ex_is_const(p, a, &x)) {
        if (x == 0)
            return p->zero;
        u = p->one;
    } else {
        u = split_constant(p, a, &x);
    }
    if (!good_factor(x / y))
        return pool_raw(p, EX_DIV, a, b, NODE_NONE);
    return scaled(p, x / y, make_quotient(p, u, v));
}

static node
make_pow(pool *p, node a, node b)
{
    double x, m, n;
    const ex_node *e = pool_node(p, a);

    if (!ex_is_const(p, b, &n))
        return a == p->one ? a : pool_raw(p, EX_POW, a, b, NODE_NONE);
    if (ex_is_const(p, a, &x)) {
        double r = ex_apply(EX_POW, x, n, 0, NULL);

        return isfinite(r) ? ex_const(p, r) : pool_raw(p, EX_POW, a, b, NODE_NONE);
    }
    if (n == 0)
        return p->one;
    if (n == 1)
        return a;
    if (n == -1)
        return make_div(p, p->one, a);
    if (n == 0.5)
        return pool_raw(p, EX_SQRT, a, NODE_NONE, NODE_NONE);
    if (n == floor(n) && fabs(n) < GREATEST_COUNT) {
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
    return pool_raw(p, EX_POW, a, b, NODE_NONE);
}

/* sign(a)*|a|^b, or |a|^b */
static node
make_signed_pow(pool *p, enum ex_op op, node a, node b)
{
    bool odd = op == EX_SPOW;
    double x, n, m;
    const ex_node *e = pool_node(p, a);

    if (!ex_is_const(p, b, &n))
        return pool_raw(p, op, a, b, NODE_NONE);
    if (ex_is_const(p, a, &x)) {
        double r = ex_apply(op, x, n, 0, NULL);

        return isfinite(r) ? ex_const(p, r) : pool_raw(p, op, a, b, NODE_NONE);
    }
    if (is_negative(p, a)) {
        node r = make_signed_pow(p, op, make_neg(p, a), b);

        return odd ? make_neg(p, r) : r;
    }
    if (n == 0 && !odd) /* an odd power of 0 is the sign without a condition: its factor is 0 where it jumps */
        return p->one;
    if (n > 0 && n == floor(n) && fmod(n, 2) == (odd ? 1 : 0))
        return make_pow(p, a, b);
    if (e->op == EX_SPOW && ex_is_const(p, e->b, &m) && m > 0 && n > 0)
        return make_signed_pow(p, op, e->a, ex_const(p, m * n));
    return pool_raw(p, op, a, b, NODE_NONE);
}

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
    bool absorbing = op == EX_OR; /* the operand value that decides alone */

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
    if (ex_is_op(p, c, EX_NOT))
        return pool_raw(p, EX_SELECT, pool_node(p, c)->a, b, a);
    return pool_raw(p, EX_SELECT, c, a, b);
}

static node
make_call(pool *p, enum ex_op op, node a)
{
    const ex_node *e = pool_node(p, a);
    double r;

    if (e->op == EX_CONST && isfinite(r = ex_apply(op, e->value, 0, 0, NULL)))
        return ex_const(p, r);
    if (ex_ops[op].parity == EX_ODD && is_negative(p, a))
        return make_neg(p, pool_raw(p, op, make_neg(p, a), NODE_NONE, NODE_NONE));
    if (ex_ops[op].parity == EX_EVEN && is_negative(p, a)) {
        a = make_neg(p, a);
        e = pool_node(p, a);
    }
    switch (op) {
    case EX_ABS:
        if (e->op == EX_ABS)
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
    return pool_raw(p, op, a, NODE_NONE, NODE_NONE);
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
    return ex_ops[op].commutative ? raw_ordered(p, op, a, b) : pool_raw(p, op, a, b, NODE_NONE);
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

    if (op == EX_TABLE_SLOPE && piece != NODE_NONE && !t->nends)
        x = p->zero; /* in a known piece the slope does not depend on x */
    if (ex_is_const(p, x, &at) && (piece == NODE_NONE || ex_is_const(p, piece, &i)) &&
        isfinite(r = ex_apply(op, at, i, 0, t)))
        return ex_const(p, r);
    return pool_intern(p, (ex_node){ .op = (uint8_t)op, .table = table, .a = x, .b = piece, .c = NODE_NONE });
}
