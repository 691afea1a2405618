/* operators.c - the table of operations
 *
 * provides  one row for each operation, with everything that the parser's functions, the printers, evaluation,
 *           derivatives, inverses, units and generated code need
 *
 * A function of one argument is added here and in enum ex_op, and (so that steps over it can be long) in the intervals
 * of bounds.c. An operation with more to it, such as a form of its own in text or a rule of simplification, also has a
 * case in expr_make.c, derive.c, print.c and latex.c.
 */
#include <math.h>

#include "expr_pool.h"

/* Rows of one line each. */
/* clang-format off */

/* ---------------------------------------------------------------- values */

#define VALUE(name, of) static double name { return of; }
VALUE(sum(double a, double b), a + b)
VALUE(difference(double a, double b), a - b)
VALUE(product(double a, double b), a * b)
VALUE(quotient(double a, double b), a / b)
VALUE(negative(double a), -a)
VALUE(sign(double a), a > 0 ? 1 : a < 0 ? -1 : a)
VALUE(lesser(double a, double b), isnan(a) ? a : a < b ? a : b)
VALUE(greater(double a, double b), isnan(a) ? a : b < a ? a : b)
VALUE(is_less(double a, double b), a < b)
VALUE(is_at_most(double a, double b), a <= b)
VALUE(is_equal(double a, double b), a == b)
VALUE(is_other(double a, double b), a != b)
VALUE(both(double a, double b), a != 0 && b != 0)
VALUE(either(double a, double b), a != 0 || b != 0)
VALUE(is_zero(double a), a == 0)

/* ---------------------------------------------------------------- derivatives of n = f(a) by a */

static node
square_of(pool *p, node a)
{
    return ex_make(p, EX_POW, a, ex_const(p, 2), NODE_NONE);
}

#define SLOPE(f, by) static node of_##f(pool *p, node n, node a) { (void)p, (void)n, (void)a; return by; }
SLOPE(sqrt, ex_div(p, ex_const(p, 0.5), n))
SLOPE(exp, n)
SLOPE(ln, ex_div(p, p->one, a))
SLOPE(log10, ex_div(p, ex_const(p, M_LOG10E), a))
SLOPE(sin, ex_call(p, EX_COS, a))
SLOPE(cos, ex_neg(p, ex_call(p, EX_SIN, a)))
SLOPE(tan, ex_add(p, p->one, square_of(p, n)))
SLOPE(asin, ex_div(p, p->one, ex_call(p, EX_SQRT, ex_sub(p, p->one, square_of(p, a)))))
SLOPE(acos, ex_neg(p, of_asin(p, n, a)))
SLOPE(atan, ex_div(p, p->one, ex_add(p, p->one, square_of(p, a))))
SLOPE(sinh, ex_call(p, EX_COSH, a))
SLOPE(cosh, ex_call(p, EX_SINH, a))
SLOPE(tanh, ex_sub(p, p->one, square_of(p, n)))
SLOPE(asinh, ex_div(p, p->one, ex_call(p, EX_SQRT, ex_add(p, p->one, square_of(p, a)))))

/* ---------------------------------------------------------------- rows */

/* Precedence as in the grammar. */
enum { IF = 1, OR, AND, NOT, COMPARISON, SUM, PRODUCT, SIGN, POWER, CALL };

#define INFIX .infix = true, .arity = 2, .precedence
#define ONE .arity = 1, .precedence = CALL, .called = true, .one
#define TWO .arity = 2, .precedence = CALL, .two
#define PURE .units = EX_UNITS_PURE, .linked = true
const struct ex_op_info ex_ops[EX_NOPS] = {
    [EX_CONST] = { "const", .precedence = CALL },
    [EX_SLOT] = { "slot", .precedence = CALL },

    [EX_ADD] = { "+", " + ", INFIX = SUM, .two = sum, .commutative = true, .units = EX_UNITS_SAME },
    [EX_SUB] = { "-", " - ", INFIX = SUM, .two = difference, .units = EX_UNITS_SAME },
    [EX_MUL] = { "*", " \\, ", INFIX = PRODUCT, .two = product, .commutative = true, .units = EX_UNITS_PRODUCT },
    [EX_DIV] = { "/", NULL, INFIX = PRODUCT, .two = quotient, .units = EX_UNITS_QUOTIENT },
    [EX_NEG] = { "-", NULL, .arity = 1, .precedence = SIGN, .one = negative, .units = EX_UNITS_KEPT },
    /* integer exponents are multiplied out, by ex_apply and by generated code */
    [EX_POW] = { "^", NULL, INFIX = POWER, .two = pow, .linked = true, .units = EX_UNITS_POWER },
    [EX_SPOW] = { "spow", NULL, TWO = ex_signed_power, .called = true, .linked = true, .units = EX_UNITS_POWER },
    [EX_APOW] = { "apow", NULL, TWO = ex_absolute_power, .linked = true, .units = EX_UNITS_POWER },

    [EX_SQRT] = { "sqrt", NULL, ONE = sqrt, .slope = of_sqrt, .units = EX_UNITS_ROOT },
    [EX_EXP] = { "exp", NULL, ONE = exp, .slope = of_exp, .inverse = EX_LN, .sharp = true, PURE },
    [EX_LN] = { "ln", "\\ln", ONE = log, .slope = of_ln, .inverse = EX_EXP, .sharp = true, PURE },
    [EX_LOG10] = { "log10", "\\log_{10}", ONE = log10, .slope = of_log10, .sharp = true, PURE },
    [EX_SIN] = { "sin", "\\sin", ONE = sin, .slope = of_sin, .parity = EX_ODD, PURE },
    [EX_COS] = { "cos", "\\cos", ONE = cos, .slope = of_cos, .parity = EX_EVEN, PURE },
    [EX_TAN] = { "tan", "\\tan", ONE = tan, .slope = of_tan, .parity = EX_ODD, PURE },
    [EX_ASIN] = { "asin", "\\arcsin", ONE = asin, .slope = of_asin, .parity = EX_ODD, .inverse = EX_SIN, PURE },
    [EX_ACOS] = { "acos", "\\arccos", ONE = acos, .slope = of_acos, .inverse = EX_COS, PURE },
    [EX_ATAN] = { "atan", "\\arctan", ONE = atan, .slope = of_atan, .parity = EX_ODD, .inverse = EX_TAN, .sharp = true,
                  PURE },
    [EX_ATAN2] = { "atan2", NULL, TWO = atan2, .called = true, .linked = true, .units = EX_UNITS_RATIO },
    [EX_SINH] = { "sinh", "\\sinh", ONE = sinh, .slope = of_sinh, .parity = EX_ODD, .inverse = EX_ASINH, .sharp = true,
                  PURE },
    [EX_COSH] = { "cosh", "\\cosh", ONE = cosh, .slope = of_cosh, .parity = EX_EVEN, .sharp = true, PURE },
    [EX_TANH] = { "tanh", "\\tanh", ONE = tanh, .slope = of_tanh, .parity = EX_ODD, .sharp = true, PURE },
    /* the inverse of sinh; not available in the language */
    [EX_ASINH] = { "asinh", NULL, .arity = 1, .precedence = CALL, .one = asinh, .slope = of_asinh, .parity = EX_ODD,
                   .inverse = EX_SINH, .sharp = true, PURE },

    [EX_FLOOR] = { "floor", NULL, ONE = floor, .switches = true, .units = EX_UNITS_KEPT },
    [EX_CEIL] = { "ceil", NULL, ONE = ceil, .switches = true, .units = EX_UNITS_KEPT },
    [EX_ABS] = { "abs", NULL, ONE = fabs, .parity = EX_EVEN, .switches = true, .units = EX_UNITS_KEPT },
    [EX_SIGN] = { "sign", NULL, ONE = sign, .parity = EX_ODD, .switches = true, .units = EX_UNITS_SIGN },
    /* in the language min and max take any number of arguments */
    [EX_MIN] = { "min", "\\min", TWO = lesser, .commutative = true, .switches = true, .units = EX_UNITS_SAME },
    [EX_MAX] = { "max", "\\max", TWO = greater, .commutative = true, .switches = true, .units = EX_UNITS_SAME },

    [EX_LT] = { "<", " < ", INFIX = COMPARISON, .two = is_less, .switches = true, .units = EX_UNITS_RATIO },
    [EX_LE] = { "<=", " \\le ", INFIX = COMPARISON, .two = is_at_most, .switches = true, .units = EX_UNITS_RATIO },
    [EX_EQ] = { "==", " = ", INFIX = COMPARISON, .two = is_equal, .commutative = true, .switches = true,
                .units = EX_UNITS_RATIO },
    [EX_NE] = { "!=", " \\ne ", INFIX = COMPARISON, .two = is_other, .commutative = true, .switches = true,
                .units = EX_UNITS_RATIO },
    [EX_AND] = { "and", " \\wedge ", INFIX = AND, .two = both, .commutative = true, .units = EX_UNITS_SIGN },
    [EX_OR] = { "or", " \\vee ", INFIX = OR, .two = either, .commutative = true, .units = EX_UNITS_SIGN },
    [EX_NOT] = { "not", NULL, .arity = 1, .precedence = NOT, .one = is_zero, .units = EX_UNITS_SIGN },

    [EX_SELECT] = { "if", NULL, .arity = 3, .precedence = IF },
    [EX_TABLE] = { "table", NULL, .arity = 2, .precedence = CALL, .linked = true },
    [EX_TABLE_SLOPE] = { "table_slope", NULL, .arity = 2, .precedence = CALL, .linked = true },
};
/* clang-format on */

double
ex_apply(enum ex_op op, double a, double b, double c, const ex_table *table)
{
    const struct ex_op_info *row = &ex_ops[op];

    if (op == EX_POW)
        return ex_power(a, b);
    if (row->two)
        return row->two(a, b);
    if (row->one)
        return row->one(a);
    switch (op) {
    case EX_SELECT: return a != 0 ? b : c;
    case EX_TABLE: return ex_table_at(table, b, a);
    case EX_TABLE_SLOPE: return ex_table_slope(table, b, a);
    default: return NAN;
    }
}
