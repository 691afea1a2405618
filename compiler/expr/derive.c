/* derive.c - transformation of templates: substitution, derivatives, solving for a slot
 *
 * needs     a template
 * provides  simplified expressions; time linear in the template
 * keeps     conditions and pieces of tables: a derivative is that of the active branch
 */
#include "expr_pool.h"

node
pool_remake(pool *p, const ex_node *e, node a, node b, node c)
{
    if (e->op == EX_TABLE || e->op == EX_TABLE_SLOPE)
        return ex_table_node(p, e->op, e->table, a, b);
    return ex_make(p, e->op, a, b, c);
}

node
ex_substitute(pool *p, node n, const node *with, uint32_t nslots)
{
    size_t count;
    const node *tape = pool_collect(p, n, &count);
    node *image = pool_images(p, n);

    for (size_t i = 0; i < count; i++) {
        node at = tape[i];
        const ex_node *e = pool_node(p, at);
        int m = ex_operands(e);
        node a = m > 0 ? image[e->a] : NODE_NONE, b = m > 1 ? image[e->b] : NODE_NONE,
             c = m > 2 ? image[e->c] : NODE_NONE;

        if (e->op == EX_SLOT && e->a < nslots && with[e->a] != NODE_NONE)
            image[at] = with[e->a];
        else if (m == 0 || (a == e->a && b == e->b && c == e->c))
            image[at] = at;
        else
            image[at] = pool_remake(p, e, a, b, c);
    }
    return image[n];
}

node
ex_replace(pool *p, node n, node (*replace)(void *ctx, pool *p, node at, const ex_node *e), void *ctx)
{
    size_t count;
    const node *tape = pool_collect(p, n, &count);
    node *image = pool_images(p, n);

    for (size_t i = 0; i < count; i++) {
        ex_node e = *pool_node(p, tape[i]);
        node *operand[3] = { &e.a, &e.b, &e.c };
        bool changed = false;

        for (int k = 0, m = ex_operands(&e); k < m; k++) {
            changed |= image[*operand[k]] != *operand[k];
            *operand[k] = image[*operand[k]];
        }
        image[tape[i]] = replace(ctx, p, tape[i], &e);
        if (image[tape[i]] == NODE_NONE)
            image[tape[i]] = changed ? pool_remake(p, &e, e.a, e.b, e.c) : tape[i];
    }
    return image[n];
}

struct put {
    node old, by;
};

static node
put_by(void *ctx, pool *p, node at, const ex_node *e)
{
    const struct put *put = ctx;

    (void)p, (void)e;
    return at == put->old ? put->by : NODE_NONE;
}

node
ex_put(pool *p, node n, node old, node by)
{
    struct put put = { old, by };

    return ex_replace(p, n, put_by, &put);
}

/* ---------------------------------------------------------------- derivatives */

static node
squared_node(pool *p, node a)
{
    return ex_make(p, EX_POW, a, ex_const(p, 2), NODE_NONE);
}

/* n = a^b with derivatives da, db, at least one of which is not 0 */
static node
power_slope(pool *p, node n, node a, node b, node da, node db)
{
    node one_less = ex_make(p, EX_POW, a, ex_sub(p, b, p->one), NODE_NONE);
    node by_base = ex_mul(p, ex_mul(p, b, one_less), da);

    if (db == p->zero)
        return by_base;
    return ex_add(p, by_base, ex_mul(p, ex_mul(p, n, ex_call(p, EX_LN, a)), db));
}

/* n = sign(a)*|a|^b or |a|^b; the derivative of one contains the other */
static node
signed_power_slope(pool *p, enum ex_op op, node n, node a, node b, node da, node db)
{
    node one_less = ex_make(p, op == EX_SPOW ? EX_APOW : EX_SPOW, a, ex_sub(p, b, p->one), NODE_NONE);
    node by_base = ex_mul(p, ex_mul(p, b, one_less), da);

    if (db == p->zero)
        return by_base;
    return ex_add(p, by_base,
                  ex_mul(p, ex_mul(p, n, ex_call(p, EX_LN, ex_make(p, EX_ABS, a, NODE_NONE, NODE_NONE))), db));
}

node
pool_slope(pool *p, node n, node da, node db, node dc)
{
    const ex_node *e = pool_node(p, n);
    node a = e->a, b = e->b, zero = p->zero;

    switch (e->op) {
    case EX_ADD: return ex_add(p, da, db);
    case EX_SUB: return ex_sub(p, da, db);
    case EX_NEG: return ex_neg(p, da);
    case EX_MUL: return ex_add(p, ex_mul(p, da, b), ex_mul(p, a, db));
    case EX_DIV:
        if (db == zero)
            return ex_div(p, da, b);
        return ex_div(p, ex_sub(p, da, ex_mul(p, n, db)), b);
    case EX_POW: return da == zero && db == zero ? zero : power_slope(p, n, a, b, da, db);
    case EX_SPOW:
    case EX_APOW: return da == zero && db == zero ? zero : signed_power_slope(p, e->op, n, a, b, da, db);
    case EX_ATAN2:
        return ex_div(p, ex_sub(p, ex_mul(p, b, da), ex_mul(p, a, db)),
                      ex_add(p, squared_node(p, a), squared_node(p, b)));
    case EX_ABS: return ex_make(p, EX_SELECT, ex_make(p, EX_LE, zero, a, NODE_NONE), da, ex_neg(p, da));
    case EX_MIN: return ex_make(p, EX_SELECT, ex_make(p, EX_LT, a, b, NODE_NONE), da, db);
    case EX_MAX: return ex_make(p, EX_SELECT, ex_make(p, EX_LT, b, a, NODE_NONE), da, db);
    case EX_SELECT: return ex_make(p, EX_SELECT, a, db, dc);
    case EX_TABLE: return da == zero ? zero : ex_mul(p, ex_table_node(p, EX_TABLE_SLOPE, e->table, a, b), da);
    case EX_TABLE_SLOPE:
        if (da == zero || !pool_table(p, e->table)->bend)
            return zero;
        return ex_mul(p, ex_table_node(p, EX_TABLE, pool_table(p, e->table)->second, a, b), da);
    case EX_LT:
    case EX_LE:
    case EX_EQ:
    case EX_NE:
    case EX_AND:
    case EX_OR: return zero;
    default: /* one operand without a slope: constant between jumps */
        return da == zero || !ex_ops[e->op].slope ? zero : ex_mul(p, ex_ops[e->op].slope(p, n, a), da);
    }
}

node
ex_derivative(pool *p, node n, uint32_t k)
{
    uint64_t key = (uint64_t)n << 32 | k;
    uint32_t known = map_get(&p->derivative_of, key);
    const node *tape;
    node *image;
    size_t count;

    if (!pool_may_read(p, n, k))
        return p->zero;
    if (known != MAP_NONE)
        return known;
    tape = pool_collect(p, n, &count);
    image = pool_images(p, n);
    for (size_t i = 0; i < count; i++) {
        const ex_node *e = pool_node(p, tape[i]);
        int m = ex_operands(e);

        if (!pool_may_read(p, tape[i], k))
            image[tape[i]] = p->zero;
        else if (e->op == EX_SLOT)
            image[tape[i]] = e->a == k ? p->one : p->zero;
        else
            image[tape[i]] = pool_slope(p, tape[i], image[e->a], m > 1 ? image[e->b] : p->zero,
                                        m > 2 ? image[e->c] : p->zero);
    }
    map_set(&p->derivative_of, key, image[n]);
    return image[n];
}

/* ---------------------------------------------------------------- linearity */

enum { FREE, LINEAR, NONLINEAR };

static int
degree(const pool *p, const ex_node *e, int a, int b, int c)
{
    int more = a > b ? a : b;

    switch (e->op) {
    case EX_ADD:
    case EX_SUB:
    case EX_NEG: return more;
    case EX_MUL: return a == FREE || b == FREE ? more : NONLINEAR;
    case EX_DIV: return b == FREE ? a : NONLINEAR;
    case EX_SELECT: return a == FREE ? (b > c ? b : c) : NONLINEAR;
    case EX_TABLE:
        return e->b != NODE_NONE && b == FREE && !pool_table(p, e->table)->nends ? a
               : a == FREE && b == FREE                                          ? FREE
                                                                                 : NONLINEAR;
    default: return more == FREE ? FREE : NONLINEAR;
    }
}

/* The degree of n in the flagged slots, or (flagged NULL) in slot k. */
static int
degree_in(pool *p, node n, const bool *flagged, uint32_t nslots, uint32_t k)
{
    size_t count;
    const node *tape = pool_collect(p, n, &count);
    node *deg = pool_images(p, n);

    for (size_t i = 0; i < count; i++) {
        const ex_node *e = pool_node(p, tape[i]);
        int m = ex_operands(e);

        if (e->op == EX_SLOT)
            deg[tape[i]] = (flagged ? e->a < nslots && flagged[e->a] : e->a == k) ? LINEAR : FREE;
        else
            deg[tape[i]] = (node)degree(p, e, m > 0 ? (int)deg[e->a] : FREE, m > 1 ? (int)deg[e->b] : FREE,
                                        m > 2 ? (int)deg[e->c] : FREE);
    }
    return (int)deg[n];
}

bool
ex_affine_in(pool *p, node n, const bool *flagged, uint32_t nslots)
{
    return degree_in(p, n, flagged, nslots, 0) != NONLINEAR;
}

/* ---------------------------------------------------------------- solving */

static bool
solve_for_slot(pool *p, node n, uint32_t k, node *solution, node *divisor)
{
    node slope_of_n = ex_derivative(p, n, k), rest;
    node *with;

    /* checks the degree too: if other powers of k cancel only in the slope, n need not be defined at k = 0 */
    if (slope_of_n == p->zero || pool_reads(p, slope_of_n, k) || degree_in(p, n, NULL, 0, k) != LINEAR)
        return false;
    with = bg_malloc(((size_t)k + 1) * sizeof *with);
    for (uint32_t i = 0; i < k; i++)
        with[i] = NODE_NONE;
    with[k] = p->zero;
    rest = ex_substitute(p, n, with, k + 1);
    free(with);
    *solution = ex_div(p, ex_neg(p, rest), slope_of_n);
    *divisor = ex_is_const(p, slope_of_n, NULL) ? NODE_NONE : slope_of_n;
    return true;
}

/* Marks the nodes of n on the path to its only occurrence of slot k with 1 in the work images; false if there are
 * several. */
static bool
mark_path(pool *p, node n, uint32_t k)
{
    size_t count;
    const node *tape = pool_collect(p, n, &count);
    node *paths = pool_images(p, n);
    bool once = false;

    for (size_t i = 0; i < count; i++)
        paths[tape[i]] = 0;
    paths[n] = 1;
    for (size_t i = count; i-- > 0;) {
        const ex_node *e = pool_node(p, tape[i]);
        const node kid[3] = { e->a, e->b, e->c };

        for (int j = 0, m = ex_operands(e); j < m; j++)
            if (paths[kid[j]] < 2)
                paths[kid[j]] += paths[tape[i]];
        if (e->op == EX_SLOT && e->a == k)
            once = paths[tape[i]] == 1;
    }
    if (!once)
        return false;
    /* upwards: keeps the mark only above slot k */
    for (size_t i = 0; i < count; i++) {
        const ex_node *e = pool_node(p, tape[i]);
        const node kid[3] = { e->a, e->b, e->c };
        bool below = e->op == EX_SLOT && e->a == k;

        for (int j = 0, m = ex_operands(e); j < m; j++)
            below |= paths[kid[j]] == 1;
        paths[tape[i]] = below;
    }
    return true;
}

/* One step down: from e = rhs to (operand with the unknown) = *rhs. first: it is operand a. */
static bool
invert(pool *p, const ex_node *e, bool first, node *rhs, node *divisor)
{
    node r = *rhs, other = first ? e->b : e->a;
    double c;

    *divisor = NODE_NONE;
    switch (e->op) {
    case EX_ADD: *rhs = ex_sub(p, r, other); break;
    case EX_SUB: *rhs = first ? ex_add(p, r, other) : ex_sub(p, other, r); break;
    case EX_NEG: *rhs = ex_neg(p, r); break;
    case EX_MUL:
        *rhs = ex_div(p, r, other);
        *divisor = other;
        break;
    case EX_DIV:
        *rhs = first ? ex_mul(p, r, other) : ex_div(p, other, r);
        *divisor = first ? NODE_NONE : r;
        break;
    case EX_POW:
        if (first || !ex_is_const(p, e->a, &c) || !(c > 0))
            return false; /* for c = 1 it is no exponential */
        *rhs = ex_div(p, ex_call(p, EX_LN, r), ex_call(p, EX_LN, e->a));
        break;
    case EX_SPOW:
        if (!first || !ex_is_const(p, e->b, &c) || !(c > 0))
            return false;
        *rhs = ex_make(p, EX_SPOW, r, ex_const(p, 1 / c), NODE_NONE);
        break;
    case EX_LOG10: *rhs = ex_make(p, EX_POW, ex_const(p, 10), r, NODE_NONE); break;
    default:
        if (!ex_ops[e->op].inverse)
            return false;
        *rhs = ex_call(p, ex_ops[e->op].inverse, r);
        break;
    }
    return true;
}

static bool
solve_by_inverses(pool *p, node n, uint32_t k, node *solution, node *divisor)
{
    VEC(node) path = { 0 };
    const node *on_path;
    node rhs = p->zero, by = p->one;
    bool ok = mark_path(p, n, k);

    if (!ok)
        return false;
    on_path = pool_images(p, n);
    for (node at = n;;) {
        const ex_node *e = pool_node(p, at);
        int m = ex_operands(e);

        vec_push(&path, at);
        if (m == 0)
            break;
        at = on_path[e->a] == 1 ? e->a : m > 1 && on_path[e->b] == 1 ? e->b : e->c;
    }
    for (size_t i = 0; ok && i + 1 < path.n; i++) {
        const ex_node *e = pool_node(p, path.at[i]);
        node d;

        ok = invert(p, e, path.at[i + 1] == e->a, &rhs, &d);
        if (ok && d != NODE_NONE)
            by = ex_mul(p, by, d);
    }
    vec_free(&path);
    if (!ok || by == p->zero)
        return false;
    *solution = rhs;
    *divisor = ex_is_const(p, by, NULL) ? NODE_NONE : by;
    return true;
}

bool
ex_solve(pool *p, node n, uint32_t k, node *solution, node *divisor)
{
    uint64_t key = (uint64_t)n << 32 | k;
    uint32_t known = map_get(&p->solved_of, key);

    if (known == MAP_NONE) {
        struct solved x = { NODE_NONE, NODE_NONE };

        if (pool_reads(p, n, k) && !solve_for_slot(p, n, k, &x.solution, &x.divisor) &&
            !solve_by_inverses(p, n, k, &x.solution, &x.divisor))
            x.solution = NODE_NONE;
        known = (uint32_t)p->solved.n;
        vec_push(&p->solved, x);
        map_set(&p->solved_of, key, known);
    }
    *solution = p->solved.at[known].solution;
    *divisor = p->solved.at[known].divisor;
    return *solution != NODE_NONE;
}
