/* test_expr.c - expressions: simplified values against naive ones, derivatives against complex steps, solutions put
 * back */
#include <complex.h>
#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "expr_pool.h"
#include "formula.h"

enum { NSLOT = 4, NLEAF = 8, NTREE = 24 };

static uint64_t seed = 1;

static uint32_t
rnd(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((seed >> 33) % n);
}

static double
rnd_real(void)
{
    return (rnd(2000001) - 1e6) / 4e5;
}

/* An operation as asked for, beside the node that came of it */
struct plain {
    enum ex_op op;
    int kid[3];
    double value;
    uint32_t slot;
    node made;
};

static uint32_t
add_table(pool *p)
{
    static const double x[] = { -2, -1, 0.5, 2 }, y[] = { 1, -1, 0.25, 3 };
    ex_table t = { .name = "\"curve.csv\", 2", .n = 4, .x = malloc(sizeof x), .y = malloc(sizeof y) };

    memcpy(t.x, x, sizeof x);
    memcpy(t.y, y, sizeof y);
    return pool_add_table(p, t);
}

/* Random operations over NLEAF leaves; smooth: nothing that jumps or bends */
static void
grow(pool *p, struct plain *t, bool smooth)
{
    static const enum ex_op some[] = { EX_ADD, EX_SUB, EX_MUL, EX_DIV, EX_NEG, EX_ADD, EX_SUB, EX_MUL, EX_DIV, EX_POW };

    for (int i = 0; i < NTREE; i++) {
        struct plain *e = &t[i];
        enum ex_op op = rnd(3) ? some[rnd(10)] : (enum ex_op)(EX_ADD + rnd(EX_TABLE - EX_ADD));
        node kid[3] = { NODE_NONE, NODE_NONE, NODE_NONE };

        if (i < NLEAF) {
            e->op = i < NSLOT ? EX_SLOT : EX_CONST;
            e->slot = (uint32_t)i;
            e->value = rnd(2) ? (double)rnd(5) - 2 : rnd_real();
            e->made = e->op == EX_SLOT ? ex_slot(p, e->slot) : ex_const(p, e->value);
            continue;
        }
        if (smooth && op >= EX_FLOOR)
            op = EX_MUL;
        e->op = op;
        for (int j = 0; j < ex_ops[op].arity; j++) {
            e->kid[j] = rnd(3) ? i - 1 - (int)rnd(i < 6 ? (uint32_t)i : 6) : (int)rnd((uint32_t)i);
            if (op == EX_POW && j == 1 && rnd(8))
                e->kid[j] = NSLOT + (int)rnd(NLEAF - NSLOT);
            kid[j] = t[e->kid[j]].made;
        }
        e->made = ex_make(p, op, kid[0], kid[1], kid[2]);
    }
}

/* Values and bounds of their rounding errors, one operation after the other as written; false when one is not finite */
static bool
naive(const struct plain *t, const double *slot, double *v, double *err)
{
    for (int i = 0; i < NTREE; i++) {
        const struct plain *e = &t[i];
        int m = ex_ops[e->op].arity;
        double a[3] = { 0 }, r;

        if (m == 0) {
            v[i] = e->op == EX_SLOT ? slot[e->slot] : e->value;
            err[i] = 0;
            continue;
        }
        for (int j = 0; j < m; j++)
            a[j] = v[e->kid[j]];
        v[i] = r = ex_apply(e->op, a[0], a[1], a[2], NULL);
        err[i] = 4e-16 * fabs(r) + 1e-300;
        for (int j = 0; j < m; j++) {
            for (int s = -1; s <= 1; s += 2) {
                double b[3] = { a[0], a[1], a[2] };

                b[j] += s * (err[e->kid[j]] + 4e-16 * fabs(a[j]));
                err[i] += fabs(ex_apply(e->op, b[0], b[1], b[2], NULL) - r);
            }
        }
        /* a decision within rounding may go either way */
        if (e->op == EX_SELECT || (e->op >= EX_LT && e->op <= EX_NOT)) {
            double near = m == 2 ? 100 * (err[e->kid[0]] + err[e->kid[1]]) : 100 * err[e->kid[0]];

            if (near > 0 && (fabs(a[0]) <= near || (m == 2 && (fabs(a[1]) <= near || fabs(a[0] - a[1]) <= near))))
                return false;
        }
        if (!isfinite(r) || !isfinite(err[i]))
            return false;
    }
    return true;
}

static void
simplified_values_equal_naive_values(void **state)
{
    struct plain t[NTREE];
    size_t checked = 0;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        pool *p = pool_new();

        grow(p, t, false);
        for (int again = 0; again < 3; again++) {
            double slot[NSLOT], v[NTREE], err[NTREE];

            for (int k = 0; k < NSLOT; k++)
                slot[k] = rnd(6) ? rnd_real() : (double)rnd(3) - 1;
            if (!naive(t, slot, v, err))
                continue;
            for (int i = 0; i < NTREE; i++) {
                double s = ex_eval(p, t[i].made, slot);

                checked++;
                if (!(fabs(s - v[i]) <= 100 * err[i] + 1e-12 * fabs(v[i])) && 100 * err[i] < fabs(v[i]) + 1e-9)
                    fail_msg("round %d, operation %d (%s): %.17g, naive %.17g +- %g", round, i, ex_ops[t[i].op].name, s,
                             v[i], err[i]);
            }
        }
        pool_free(p);
    }
    assert_true(checked > 100000);
}

static const char *
slot_name(void *ctx, uint32_t k)
{
    static const char *const name[] = { "a", "b", "x", "y" };

    (void)ctx;
    return name[k % 4];
}

/* ---------------------------------------------------------------- reading back, as the grammar does */

struct reader {
    pool *p;
    const char *at;
    uint32_t curve;
};

static bool
eat(struct reader *r, const char *word)
{
    size_t n = strlen(word);

    r->at += strspn(r->at, " ");
    if (strncmp(r->at, word, n) != 0)
        return false;
    if (isalpha((unsigned char)*word) && (isalnum((unsigned char)r->at[n]) || r->at[n] == '_'))
        return false;
    r->at += n;
    return true;
}

static node read_binding(struct reader *r, int least);

static node
read_call(struct reader *r, enum ex_op op)
{
    node arg[3] = { NODE_NONE, NODE_NONE, NODE_NONE };

    eat(r, "(");
    if (op == EX_TABLE || op == EX_TABLE_SLOPE)
        eat(r, "\"curve.csv\", 2,");
    arg[0] = read_binding(r, 1);
    if (eat(r, ","))
        arg[1] = read_binding(r, 1);
    assert_true(eat(r, ")"));
    return op == EX_TABLE || op == EX_TABLE_SLOPE ? ex_table_node(r->p, op, r->curve, arg[0], NODE_NONE)
                                                  : ex_make(r->p, op, arg[0], arg[1], arg[2]);
}

static node
read_prefix(struct reader *r)
{
    node c, a;

    if (eat(r, "if")) {
        c = read_binding(r, 1);
        assert_true(eat(r, "then"));
        a = read_binding(r, 1);
        assert_true(eat(r, "else"));
        return ex_make(r->p, EX_SELECT, c, a, read_binding(r, 1));
    }
    if (eat(r, "not"))
        return ex_make(r->p, EX_NOT, read_binding(r, 4), NODE_NONE, NODE_NONE);
    if (eat(r, "-"))
        return ex_neg(r->p, read_binding(r, 8));
    if (eat(r, "(")) {
        a = read_binding(r, 1);
        assert_true(eat(r, ")"));
        return a;
    }
    for (uint32_t k = 0; k < NSLOT; k++)
        if (eat(r, slot_name(NULL, k)))
            return ex_slot(r->p, k);
    for (enum ex_op op = EX_SPOW; op < EX_NOPS; op++)
        if (isalpha((unsigned char)ex_ops[op].name[0]) && eat(r, ex_ops[op].name))
            return read_call(r, op);
    assert_true(isdigit((unsigned char)*r->at));
    return ex_const(r->p, strtod(r->at, (char **)&r->at));
}

/* One level of recursion a level of precedence: the texts here are short. */
static node
read_binding(struct reader *r, int least)
{
    static const enum ex_op infix[] = { EX_OR,  EX_AND, EX_LE,  EX_LT,  EX_EQ, EX_NE,
                                        EX_ADD, EX_SUB, EX_MUL, EX_DIV, EX_POW };
    node left = read_prefix(r);

    for (size_t i = 0; i < sizeof infix / sizeof *infix;) {
        const struct ex_op_info *op = &ex_ops[infix[i]];

        if (op->precedence < least || !eat(r, op->name)) {
            i++;
            continue;
        }
        left = ex_make(r->p, infix[i], left, read_binding(r, op->precedence + (infix[i] != EX_POW)), NODE_NONE);
        i = 0;
    }
    return left;
}

static void
text_reads_back(void **state)
{
    struct plain t[NTREE];

    (void)state;
    for (int round = 0; round < 20000; round++) {
        pool *p = pool_new();
        struct reader r = { .p = p, .curve = add_table(p) };

        grow(p, t, false);
        for (int i = NLEAF; i < NTREE; i++) {
            node curve = ex_table_node(p, EX_TABLE + (i & 1), r.curve, t[i - 1].made, NODE_NONE);
            node n = i % 5 ? t[i].made : ex_mul(p, t[i].made, curve);
            strbuf b = { 0 };

            ex_print(p, n, slot_name, NULL, &b);
            r.at = b.at;
            if (b.n < 5000 && (read_binding(&r, 1) != n || *r.at))
                fail_msg("round %d: %s", round, b.at);
            strbuf_free(&b);
        }
        pool_free(p);
    }
}

/* Slots renamed and named back: simplified expressions simplify no further. */
static void
simplified_is_final(void **state)
{
    struct plain t[NTREE];
    size_t checked = 0, changed = 0;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        pool *p = pool_new();
        node there[NSLOT], back[2 * NSLOT];

        for (uint32_t k = 0; k < NSLOT; k++) {
            there[k] = ex_slot(p, NSLOT + k);
            back[k] = NODE_NONE;
            back[NSLOT + k] = ex_slot(p, k);
        }
        grow(p, t, false);
        for (int i = NLEAF; i < NTREE; i++) {
            node again = ex_substitute(p, ex_substitute(p, t[i].made, there, NSLOT), back, 2 * NSLOT);

            checked++;
            changed += again != t[i].made;
        }
        pool_free(p);
    }
    if (changed)
        fail_msg("%zu of %zu expressions changed", changed, checked);
}

/* ---------------------------------------------------------------- derivatives */

static double complex
c_apply(enum ex_op op, double complex a, double complex b, double complex c)
{
    double complex r = 1;

    switch (op) {
    case EX_ADD: return a + b;
    case EX_SUB: return a - b;
    case EX_MUL: return a * b;
    case EX_DIV: return a / b;
    case EX_NEG: return -a;
    case EX_POW:
        if (cimag(b) == 0 && creal(b) == floor(creal(b)) && fabs(creal(b)) < 30) {
            for (int i = 0; i < fabs(creal(b)); i++)
                r *= a;
            return creal(b) < 0 ? 1 / r : r;
        }
        return cexp(b * clog(a));
    case EX_SPOW:
    case EX_APOW: r = cexp(b * clog(creal(a) < 0 ? -a : a)); return op == EX_SPOW && creal(a) < 0 ? -r : r;
    case EX_SQRT: return csqrt(a);
    case EX_EXP: return cexp(a);
    case EX_LN: return clog(a);
    case EX_LOG10: return clog(a) / log(10);
    case EX_SIN: return csin(a);
    case EX_COS: return ccos(a);
    case EX_TAN: return csin(a) / ccos(a);
    case EX_ASIN: return casin(a);
    case EX_ACOS: return cacos(a);
    case EX_ATAN: return catan(a);
    case EX_ATAN2: return 2 * catan(a / (csqrt(a * a + b * b) + b));
    case EX_SINH: return csinh(a);
    case EX_COSH: return ccosh(a);
    case EX_TANH: return csinh(a) / ccosh(a);
    case EX_ASINH: return casinh(a);
    case EX_ABS: return creal(a) < 0 ? -a : a;
    case EX_MIN: return creal(a) < creal(b) ? a : b;
    case EX_MAX: return creal(b) < creal(a) ? a : b;
    case EX_SELECT: return creal(a) != 0 ? b : c;
    default: return ex_apply(op, creal(a), creal(b), creal(c), NULL);
    }
}

static void
derivatives_equal_complex_steps(void **state)
{
    const double h = 1e-30;
    struct plain t[NTREE];
    size_t checked = 0, loose = 0;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        pool *p = pool_new();
        double slot[NSLOT], v[NTREE], err[NTREE];
        double complex z[NTREE];
        uint32_t k = rnd(NSLOT);
        bool ok;

        grow(p, t, round % 2);
        for (int j = 0; j < NSLOT; j++)
            slot[j] = rnd_real();
        ok = naive(t, slot, v, err);
        for (int i = 0; ok && i < NTREE; i++) {
            const struct plain *e = &t[i];
            int m = ex_ops[e->op].arity;
            double d, want;

            if (m == 0) {
                z[i] = v[i] + (e->op == EX_SLOT && e->slot == k ? h * I : 0);
                continue;
            }
            z[i] = c_apply(e->op, z[e->kid[0]], m > 1 ? z[e->kid[1]] : 0, m > 2 ? z[e->kid[2]] : 0);
            if (!isfinite(creal(z[i])) || !isfinite(cimag(z[i])) || err[i] > 1e-9 * fabs(v[i]) || fabs(v[i]) > 1e4 ||
                fabs(v[i]) < 1e-4 || fabs(creal(z[i]) - v[i]) > 1e-9 * fabs(v[i]))
                break;
            d = ex_eval(p, ex_derivative(p, t[i].made, k), slot);
            want = cimag(z[i]) / h;
            if (!isfinite(d) || fabs(want) > 1e6)
                break;
            checked++;
            if (fabs(d - want) > 1e-8 * (1 + fabs(want)))
                loose++;
        }
        pool_free(p);
    }
    assert_true(checked > 50000);
    /* cancellation between large terms may spoil a few; a wrong rule spoils thousands */
    if (loose * 5000 > checked)
        fail_msg("%zu of %zu derivatives differ", loose, checked);
}

static void
every_rule_of_differentiation(void **state)
{
    const double h = 1e-30, at[] = { 0.3, 0.7 };
    pool *p = pool_new();
    node x = ex_slot(p, 0), y = ex_slot(p, 1);

    (void)state;
    for (enum ex_op op = EX_ADD; op < EX_TABLE; op++) {
        node n = ex_make(p, op, x, ex_ops[op].arity > 1 ? y : NODE_NONE,
                         ex_ops[op].arity > 2 ? ex_mul(p, x, x) : NODE_NONE);

        for (uint32_t k = 0; k < 2; k++) {
            double complex a = at[0] + (k == 0 ? h * I : 0), b = at[1] + (k == 1 ? h * I : 0), c = a * a;
            double want = op == EX_FLOOR || op == EX_CEIL || op == EX_SIGN || (op >= EX_LT && op <= EX_NOT)
                              ? 0
                              : cimag(c_apply(op, a, b, c)) / h;
            double d = ex_eval(p, ex_derivative(p, n, k), at);

            if (!(fabs(d - want) <= 1e-13 * (1 + fabs(want))))
                fail_msg("%s by slot %u: %.17g, not %.17g", ex_ops[op].name, (unsigned)k, d, want);
        }
    }
    pool_free(p);
}

/* All derivatives in one pass against a complex step for each; also of what has a factor or a divisor around it. */
static void
gradients_equal_complex_steps(void **state)
{
    static const uint32_t every[NSLOT] = { 0, 1, 2, 3 };
    const double h = 1e-30;
    struct plain t[NTREE];
    size_t checked = 0, loose = 0;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        pool *p = pool_new();
        double slot[NSLOT], v[NTREE], err[NTREE], outside = round % 3 == 0 ? 1 : rnd_real();
        double complex z[NSLOT][NTREE];
        node slope[NSLOT], whole;
        int last = NTREE - 1;

        grow(p, t, round % 2);
        for (int j = 0; j < NSLOT; j++)
            slot[j] = rnd_real();
        if (!naive(t, slot, v, err) || pool_node(p, t[last].made)->switching) {
            pool_free(p);
            continue;
        }
        whole = round % 3 == 1   ? ex_mul(p, ex_const(p, outside), t[last].made)
                : round % 3 == 2 ? ex_div(p, t[last].made, ex_const(p, outside))
                                 : t[last].made;
        outside = round % 3 == 2 ? 1 / outside : outside;
        ex_gradient(p, whole, every, NSLOT, slope);
        for (int k = 0; k < NSLOT; k++) {
            double d = ex_eval(p, slope[k], slot), want;
            bool ok = true;

            for (int i = 0; ok && i < NTREE; i++) {
                const struct plain *e = &t[i];
                int m = ex_ops[e->op].arity;

                if (m == 0)
                    z[k][i] = v[i] + (e->op == EX_SLOT && e->slot == (uint32_t)k ? h * I : 0);
                else
                    z[k][i] = c_apply(e->op, z[k][e->kid[0]], m > 1 ? z[k][e->kid[1]] : 0, m > 2 ? z[k][e->kid[2]] : 0);
                ok = isfinite(creal(z[k][i])) && isfinite(cimag(z[k][i])) && err[i] <= 1e-9 * fabs(v[i]) &&
                     fabs(v[i]) < 1e4 && fabs(v[i]) > 1e-4;
            }
            want = outside * cimag(z[k][last]) / h;
            if (!ok || !isfinite(d) || fabs(want) > 1e6)
                continue;
            checked++;
            loose += fabs(d - want) > 1e-8 * (1 + fabs(want));
        }
        pool_free(p);
    }
    print_message("%zu slopes, %zu off\n", checked, loose);
    assert_true(checked > 5000);
    if (loose * 5000 > checked)
        fail_msg("%zu of %zu derivatives differ", loose, checked);
}

/* ---------------------------------------------------------------- solving */

static void
check_solution(pool *p, node n, uint32_t k, bool solvable)
{
    node s, divisor, back, with[NSLOT] = { NODE_NONE, NODE_NONE, NODE_NONE, NODE_NONE };
    double slot[NSLOT] = { 0.31, 0.72, 0.43, 0.54 }, r, size;

    if (!ex_solve(p, n, k, &s, &divisor)) {
        assert_false(solvable);
        return;
    }
    assert_true(solvable);
    assert_true(ex_derivative(p, s, k) == ex_const(p, 0));
    with[k] = s;
    back = ex_substitute(p, n, with, NSLOT);
    r = ex_eval(p, back, slot);
    size = fabs(ex_eval(p, n, slot)) + 1;
    if (isfinite(ex_eval(p, s, slot)) && !(fabs(r) <= 1e-10 * size))
        fail_msg("residual %g after solving", r);
}

static void
solutions_satisfy_their_equations(void **state)
{
    pool *p = pool_new();
    node a = ex_slot(p, 0), b = ex_slot(p, 1), k = ex_slot(p, 2), c = ex_slot(p, 3), two = ex_const(p, 2), s, divisor;

    (void)state;
#define call(op, x) ex_make(p, op, x, NODE_NONE, NODE_NONE)
#define pow2(x) ex_make(p, EX_POW, x, two, NODE_NONE)
    check_solution(p, ex_sub(p, a, ex_mul(p, b, k)), 2, true);
    check_solution(p, ex_sub(p, ex_mul(p, ex_add(p, k, a), b), ex_mul(p, ex_sub(p, k, b), c)), 2, true);
    check_solution(p, ex_sub(p, ex_mul(p, ex_mul(p, c, k), ex_add(p, ex_const(p, 1), a)), b), 2, true);
    check_solution(p, ex_add(p, k, ex_div(p, k, a)), 2, true);
    check_solution(
        p, ex_make(p, EX_SELECT, ex_make(p, EX_LT, a, b, NODE_NONE), ex_sub(p, k, a), ex_sub(p, ex_mul(p, two, k), b)),
        2, true);
    check_solution(p, ex_sub(p, call(EX_EXP, ex_mul(p, a, k)), b), 2, true);
    check_solution(p, ex_sub(p, call(EX_LN, ex_div(p, a, k)), b), 2, true);
    check_solution(p, ex_sub(p, call(EX_LOG10, k), b), 2, true);
    check_solution(p, ex_sub(p, call(EX_SINH, ex_div(p, k, a)), b), 2, true);
    check_solution(p, ex_sub(p, call(EX_ASINH, ex_sub(p, a, k)), b), 2, true);
    check_solution(p, ex_sub(p, call(EX_ATAN, k), b), 2, true);
    check_solution(p, ex_sub(p, call(EX_ASIN, k), b), 2, true);
    check_solution(p, ex_sub(p, call(EX_ACOS, ex_neg(p, k)), b), 2, true);
    check_solution(p, ex_sub(p, ex_make(p, EX_POW, ex_const(p, 3), k, NODE_NONE), b), 2, true);
    check_solution(p, ex_sub(p, ex_div(p, a, ex_add(p, b, k)), c), 2, true);
    check_solution(p, ex_sub(p, pow2(k), a), 2, false);
    check_solution(p, ex_sub(p, ex_make(p, EX_POW, k, ex_const(p, 3), NODE_NONE), a), 2, false);
    check_solution(p, ex_sub(p, call(EX_ABS, k), a), 2, false);
    check_solution(p, ex_sub(p, ex_add(p, k, call(EX_SIGN, k)), a), 2, false);
    check_solution(p, ex_sub(p, ex_add(p, k, call(EX_EXP, k)), a), 2, false);
    check_solution(p, ex_sub(p, call(EX_TANH, k), a), 2, false);
    check_solution(p, ex_sub(p, a, b), 2, false);
    check_solution(p, ex_sub(p, ex_add(p, k, a), k), 2, false);
    assert_true(ex_solve(p, ex_sub(p, a, ex_mul(p, b, k)), 2, &s, &divisor));
    assert_true(s == ex_div(p, a, b));
    assert_true(divisor != NODE_NONE && ex_slot_bound(p, divisor) == 2);
    assert_true(ex_solve(p, ex_sub(p, a, ex_mul(p, two, k)), 2, &s, &divisor));
    assert_true(divisor == NODE_NONE);
    pool_free(p);
}

/* Whatever random equation is said to be solved is; what is affine has derivatives without the slots. */
static void
random_equations(void **state)
{
    struct plain t[NTREE];
    size_t solved = 0, affine = 0, wrong = 0;

    (void)state;
    for (int round = 0; round < 40000; round++) {
        pool *p = pool_new();
        const bool flagged[] = { true, false, true, false };
        double slot[NSLOT], v[NTREE], err[NTREE];

        grow(p, t, round % 2);
        for (int k = 0; k < NSLOT; k++)
            slot[k] = rnd_real();
        if (naive(t, slot, v, err)) {
            for (int i = NLEAF; i < NTREE; i++) {
                node s, divisor, n = ex_sub(p, t[i].made, ex_const(p, v[i])); /* solved by slot[k], maybe by others */
                uint32_t k = rnd(NSLOT);
                double x[NSLOT], r;

                if (err[i] > 1e-10 * fabs(v[i]) || fabs(v[i]) > 1e3 || fabs(v[i]) < 1e-3 ||
                    !ex_solve(p, n, k, &s, &divisor))
                    continue;
                memcpy(x, slot, sizeof x);
                x[k] = ex_eval(p, s, slot);
                if (divisor != NODE_NONE && fabs(ex_eval(p, divisor, slot)) < 1e-3)
                    continue;
                assert_true(ex_slot_bound(p, ex_derivative(p, s, k)) == 0);
                solved++;
                r = ex_eval(p, n, x);
                wrong += !(fabs(r) <= 1e-7 * (1 + fabs(v[i])));
            }
            for (int i = NLEAF; i < NTREE; i++) {
                if (!ex_affine_in(p, t[i].made, flagged, NSLOT))
                    continue;
                affine++;
                for (uint32_t k = 0; k < NSLOT; k += 2)
                    for (uint32_t j = 0; j < NSLOT; j += 2)
                        assert_true(ex_derivative(p, ex_derivative(p, t[i].made, k), j) == ex_const(p, 0));
            }
        }
        pool_free(p);
    }
    assert_true(solved > 20000 && affine > 20000);
    if (wrong * 1000 > solved) /* badly conditioned ones */
        fail_msg("%zu of %zu solutions leave a residual", wrong, solved);
}

/* ---------------------------------------------------------------- identities and text */

static void
expect_text(pool *p, node n, const char *want)
{
    strbuf s = { 0 };

    ex_print(p, n, slot_name, NULL, &s);
    assert_string_equal(s.at, want);
    strbuf_free(&s);
}

static const char *
literal_name(void *ctx, uint32_t k)
{
    static const char *const name[] = { "-1", "-2.5" };

    (void)ctx;
    return name[k % 2];
}

/* A slot may stand for a number that the text says: its sign binds as that of a number does. */
static void
text_of_negative_literals(void **state)
{
    pool *p = pool_new();
    strbuf s = { 0 };
    node a = ex_slot(p, 0), b = ex_slot(p, 1);

    (void)state;
    ex_print(p, ex_make(p, EX_POW, a, b, NODE_NONE), literal_name, NULL, &s);
    strbuf_puts(&s, "; ");
    ex_print(p, ex_mul(p, a, ex_make(p, EX_POW, b, ex_const(p, 2), NODE_NONE)), literal_name, NULL, &s);
    assert_string_equal(s.at, "(-1)^(-2.5); -1*(-2.5)^2");
    strbuf_free(&s);
    pool_free(p);
}

static void
canonical_forms_and_text(void **state)
{
    pool *p = pool_new();
    uint32_t curve = add_table(p);
    node a = ex_slot(p, 0), b = ex_slot(p, 1), x = ex_slot(p, 2), one = ex_const(p, 1), two = ex_const(p, 2),
         zero = ex_const(p, 0);
    node less = ex_make(p, EX_LT, a, b, NODE_NONE);

    (void)state;
    assert_true(ex_add(p, a, b) == ex_add(p, b, a));
    assert_true(ex_sub(p, a, a) == zero);
    assert_true(ex_mul(p, a, zero) == zero);
    assert_true(ex_sub(p, ex_add(p, a, b), b) == a);
    assert_true(ex_neg(p, ex_neg(p, a)) == a);
    assert_true(ex_const(p, -0.0) == zero);
    assert_true(ex_div(p, x, ex_div(p, one, a)) == ex_mul(p, x, a));
    assert_true(ex_mul(p, two, ex_mul(p, x, ex_const(p, 3))) == ex_mul(p, ex_const(p, 6), x));
    assert_true(ex_add(p, ex_add(p, x, one), two) == ex_add(p, ex_const(p, 3), x));
    assert_true(ex_add(p, ex_mul(p, two, x), ex_neg(p, x)) == x);
    assert_false(ex_is_const(p, ex_div(p, one, zero), NULL));
    assert_false(ex_is_const(p, ex_div(p, x, x), NULL));
    expect_text(p, ex_div(p, one, zero), "1/0");
    expect_text(p, ex_neg(p, pow2(x)), "-x^2");
    expect_text(p, pow2(ex_neg(p, x)), "x^2");
    expect_text(p, ex_mul(p, x, x), "x^2");
    expect_text(p, ex_make(p, EX_POW, x, ex_neg(p, a), NODE_NONE), "x^(-a)");
    expect_text(p, ex_make(p, EX_POW, ex_const(p, -2), a, NODE_NONE), "(-2)^a");
    expect_text(p, ex_sub(p, ex_mul(p, a, pow2(x)), ex_mul(p, ex_const(p, 3), x)), "a*x^2 - 3*x");
    expect_text(p, ex_sub(p, a, ex_sub(p, b, x)), "a - (b - x)");
    expect_text(p, ex_add(p, x, ex_const(p, -0.1)), "x - 0.1");
    expect_text(p, ex_mul(p, ex_add(p, a, b), x), "x*(a + b)");
    expect_text(p, ex_div(p, a, ex_mul(p, b, x)), "a/(b*x)");
    expect_text(p, ex_neg(p, ex_mul(p, a, b)), "-a*b");
    expect_text(p, ex_mul(p, two, ex_div(p, a, b)), "2*a/b");
    expect_text(p, ex_make(p, EX_SELECT, less, a, ex_make(p, EX_SELECT, ex_make(p, EX_LE, b, x, NODE_NONE), b, zero)),
                "if a < b then a else if b <= x then b else 0");
    expect_text(p, ex_add(p, x, ex_make(p, EX_SELECT, less, a, b)), "x + (if a < b then a else b)");
    expect_text(p,
                ex_make(p, EX_NOT, ex_make(p, EX_OR, less, ex_make(p, EX_EQ, a, x, NODE_NONE), NODE_NONE), NODE_NONE,
                        NODE_NONE),
                "not (a < b or a == x)");
    expect_text(p, call(EX_LN, ex_make(p, EX_MAX, a, b, NODE_NONE)), "ln(max(a, b))");
    expect_text(p, ex_table_node(p, EX_TABLE, curve, x, NODE_NONE), "table(\"curve.csv\", 2, x)");
    expect_text(p, ex_const(p, 0.1 + 0.2), "0.30000000000000004");
    expect_text(p, ex_const(p, 193915), "193915");
    expect_text(p, ex_const(p, 1e-12), "1e-12");
    pool_free(p);
}

static void
tables_and_culprits(void **state)
{
    pool *p = pool_new();
    uint32_t curve = add_table(p);
    const ex_table *t = pool_table(p, curve);
    node x = ex_slot(p, 0), y = ex_slot(p, 1), one = ex_const(p, 1), n, bad;
    formula_book book = { 0 };
    const struct formula_op *ops;
    formula f;
    size_t count, culprit;
    double *room;
    double slot[] = { 0, 2 };

    (void)state;
    assert_true(ex_table_at(t, -1, -5) == 1 && ex_table_at(t, -1, 5) == 3 && ex_table_at(t, -1, -1) == -1 &&
                ex_table_at(t, -1, -1.5) == 0);
    assert_true(ex_table_piece(t, -2) == 1 && ex_table_piece(t, -2.5) == 0 && ex_table_piece(t, 2) == 4 &&
                ex_table_slope(t, -1, -1.5) == -2);
    assert_true(ex_table_at(t, 1, 0) == -3 && ex_table_at(t, 4, 0) == 3 && ex_table_at(t, 0, 0) == 1);
    assert_true(isnan(ex_table_at(t, -1, NAN)));
    n = ex_table_node(p, EX_TABLE, curve, ex_mul(p, ex_const(p, 3), x), NODE_NONE);
    assert_true(pool_node(p, n)->switching);
    slot[0] = -0.4;
    assert_true(ex_eval(p, ex_derivative(p, n, 0), slot) == -6);
    n = ex_table_node(p, EX_TABLE, curve, x, y);
    assert_false(pool_node(p, n)->switching);
    assert_true(ex_affine_in(p, n, (bool[]){ true }, 1));
    check_solution(p, n, 0, true);
    /* the division, not the logarithm of a branch that is not taken, nor the sum behind it */
    slot[0] = 0;
    bad = ex_div(p, y, x);
    n = ex_add(p,
               ex_make(p, EX_SELECT, ex_make(p, EX_LT, x, y, NODE_NONE), ex_mul(p, y, call(EX_SIN, bad)),
                       call(EX_LN, ex_neg(p, y))),
               one);
    f = formula_write(&book, p, n, (uint32_t[]){ 0, 1 }, 2);
    formula_close(&book);
    ops = formula_ops(&book, &f, &count);
    room = bg_malloc(count * sizeof *room);
    assert_false(isfinite(formula_explain(&book, f, slot, room, &culprit)));
    assert_true(culprit < count && ops[culprit].op == EX_DIV);
    slot[0] = 1;
    assert_true(isfinite(formula_explain(&book, f, slot, room, &culprit)) && culprit == SIZE_MAX);
    free(room);
    formula_book_free(&book);
    pool_free(p);
}

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void
a_million_nodes(void **state)
{
    enum { N = 250000 };
    pool *p = pool_new();
    double slot[100], t0 = now(), t1, t2;
    node sum = ex_slot(p, 0), d, with[100];
    strbuf s = { 0 };
    size_t nodes;

    (void)state;
    for (uint32_t k = 0; k < 100; k++) {
        slot[k] = 0.01 * k;
        with[k] = ex_slot(p, (k + 1) % 100);
    }
    for (uint32_t i = 0; i < N; i++)
        sum = ex_add(p, call(EX_SIN, sum), ex_mul(p, ex_slot(p, i % 100), ex_const(p, i + 0.5)));
    nodes = pool_count(p);
    t1 = now();
    d = ex_derivative(p, sum, 0);
    t2 = now();
    assert_true(isfinite(ex_eval(p, d, slot)));
    assert_true(ex_substitute(p, sum, with, 100) != sum);
    print_message("%zu nodes made in %.3f s, differentiated in %.3f s, evaluated and substituted in %.3f s\n", nodes,
                  t1 - t0, t2 - t1, now() - t2);
    assert_true(now() - t0 < 20);
    for (int i = 0; i < 100; i++)
        sum = ex_add(p, call(EX_COS, sum), call(EX_SIN, sum));
    ex_print(p, sum, slot_name, NULL, &s);
    strbuf_free(&s);
    pool_free(p);
}

/* ---------------------------------------------------------------- odd laws */

/* text after ex_odd; slots 0, 1 are a, b */
static void
expect_odd(pool *p, node n, const char *want)
{
    strbuf b = { 0 };

    ex_print(p, ex_odd(p, n), slot_name, NULL, &b);
    assert_string_equal(b.at, want);
    strbuf_free(&b);
}

static void
odd_laws_have_no_conditions(void **state)
{
    pool *p = pool_new();
    node x = ex_slot(p, 0), y = ex_slot(p, 1), d = ex_sub(p, x, y), zero = ex_const(p, 0), half = ex_const(p, 0.5);
    node sign = call(EX_SIGN, x), size = call(EX_ABS, x), above = ex_make(p, EX_LT, zero, x, NODE_NONE);

    (void)state;
    expect_odd(p, ex_mul(p, sign, call(EX_SQRT, size)), "spow(a, 0.5)");
    expect_odd(p, ex_mul(p, x, size), "spow(a, 2)");
    expect_odd(p, ex_mul(p, sign, call(EX_SQRT, ex_mul(p, ex_div(p, ex_const(p, 2), y), size))),
               "spow(a, 0.5)*sqrt(2/b)");
    expect_odd(p, ex_mul(p, x, ex_make(p, EX_POW, size, ex_const(p, 0.75), NODE_NONE)), "spow(a, 1.75)");
    expect_odd(p, ex_div(p, x, call(EX_SQRT, size)), "spow(a, 0.5)");
    expect_odd(p, ex_mul(p, x, call(EX_SQRT, ex_mul(p, x, x))), "spow(a, 2)");
    expect_odd(p, ex_mul(p, sign, ex_mul(p, x, x)), "spow(a, 2)");
    expect_odd(p, ex_mul(p, sign, size), "a");
    expect_odd(p, ex_mul(p, sign, x), "abs(a)");
    expect_odd(p, ex_mul(p, ex_div(p, x, y), call(EX_ABS, ex_div(p, x, y))), "spow(a, 2)/(b*abs(b))");
    expect_odd(p, ex_mul(p, call(EX_SIGN, ex_sub(p, y, x)), call(EX_SQRT, call(EX_ABS, d))), "spow(b - a, 0.5)");
    expect_odd(p, ex_make(p, EX_SELECT, above, call(EX_SQRT, x), ex_neg(p, call(EX_SQRT, ex_neg(p, x)))),
               "spow(a, 0.5)");
    expect_odd(
        p, ex_make(p, EX_SELECT, ex_make(p, EX_LT, x, zero, NODE_NONE), ex_neg(p, ex_mul(p, x, x)), ex_mul(p, x, x)),
        "spow(a, 2)");
    /* another function of |x| that is 0 at 0: no condition either */
    assert_false(pool_node(p, ex_odd(p, ex_mul(p, sign, call(EX_LN, ex_add(p, ex_const(p, 1), size)))))->switching);
    /* friction sticks, a corner is one, and halves that are no mirror images stay */
    expect_odd(p, ex_mul(p, y, sign), "b*sign(a)");
    expect_odd(p, ex_mul(p, sign, ex_add(p, size, y)), "sign(a)*(b + abs(a))");
    expect_odd(p, size, "abs(a)");
    expect_odd(p, ex_make(p, EX_SELECT, above, ex_make(p, EX_POW, x, half, NODE_NONE), zero),
               "if 0 < a then sqrt(a) else 0");
    pool_free(p);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simplified_values_equal_naive_values),
        cmocka_unit_test(text_reads_back),
        cmocka_unit_test(simplified_is_final),
        cmocka_unit_test(derivatives_equal_complex_steps),
        cmocka_unit_test(every_rule_of_differentiation),
        cmocka_unit_test(odd_laws_have_no_conditions),
        cmocka_unit_test(solutions_satisfy_their_equations),
        cmocka_unit_test(gradients_equal_complex_steps),
        cmocka_unit_test(random_equations),
        cmocka_unit_test(canonical_forms_and_text),
        cmocka_unit_test(text_of_negative_literals),
        cmocka_unit_test(tables_and_culprits),
        cmocka_unit_test(a_million_nodes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
