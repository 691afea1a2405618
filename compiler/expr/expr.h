/* expr.h - templates of laws: hash-consed expressions over numbered slots
 *
 * A law is stored once as a template over slots 0, 1, ...; an element has a template and the variables in its slots.
 * Equal expressions have equal node numbers, and children have smaller numbers than their parents, so that a pass over
 * a template is a loop over ascending numbers without recursion. Differentiation, simplification and constant folding
 * work on templates, once for each kind of law.
 *
 * values   doubles in SI; conditions are 0 or 1
 * memory   one pool for each compilation; nodes are never freed
 */
#ifndef BG_EXPR_H
#define BG_EXPR_H

#include "base.h"

typedef uint32_t node;
#define NODE_NONE NONE

enum ex_op {
    EX_CONST, /* value */
    EX_SLOT,  /* a = slot number (not a node) */
    EX_ADD,
    EX_SUB,
    EX_MUL,
    EX_DIV,
    EX_NEG,
    EX_POW,  /* a^b; an integer exponent remains an EX_CONST child, since it determines the form of the code */
    EX_SPOW, /* sign(a)*|a|^b: odd in a, without a condition */
    EX_APOW, /* |a|^b, the slope of EX_SPOW: finite at 0 also where b < 0 */
    EX_SQRT,
    EX_EXP,
    EX_LN,
    EX_LOG10,
    EX_SIN,
    EX_COS,
    EX_TAN,
    EX_ASIN,
    EX_ACOS,
    EX_ATAN,
    EX_ATAN2,
    EX_SINH,
    EX_COSH,
    EX_TANH,
    EX_ASINH,
    EX_FLOOR,
    EX_CEIL,
    EX_ABS,
    EX_SIGN,
    EX_MIN,
    EX_MAX,
    EX_LT,
    EX_LE,
    EX_EQ,
    EX_NE, /* a > b is written b < a */
    EX_AND,
    EX_OR,
    EX_NOT,
    EX_SELECT,      /* a ? b : c */
    EX_TABLE,       /* table number `table`, at a; b = piece (NODE_NONE: searched) */
    EX_TABLE_SLOPE, /* its slope at a, in piece b */
    EX_NOPS
};

typedef struct pool pool;

/* What an operation requires of the units of its operands, and the unit of its result. */
enum ex_units {
    EX_UNITS_NONE,
    EX_UNITS_KEPT,  /* any, kept */
    EX_UNITS_SAME,  /* equal units, which the result has */
    EX_UNITS_PURE,  /* a pure number to a pure number */
    EX_UNITS_SIGN,  /* any unit to a pure number */
    EX_UNITS_RATIO, /* equal units to a pure number */
    EX_UNITS_PRODUCT,
    EX_UNITS_QUOTIENT,
    EX_UNITS_ROOT,
    EX_UNITS_POWER /* any unit, raised to the second operand */
};
enum ex_parity { EX_NEITHER, EX_ODD, EX_EVEN };

/* One row for each operation (operators.c). */
struct ex_op_info {
    const char *name;  /* in the language */
    const char *latex; /* text between or before its operands; NULL: its name as a word, or a special form (latex.c) */
    uint8_t arity, precedence;
    bool infix, commutative;
    bool called;   /* written as a call by its name, with `arity` arguments */
    bool switches; /* discontinuous, or with a corner */
    bool sharp;    /* may change completely within a small range of its operand */
    bool linked;   /* generated code calls `one` or `two` unless it has something better */
    enum ex_parity parity;
    enum ex_units units;
    double (*one)(double); /* its value; neither: it needs more than its operands' values */
    double (*two)(double, double);
    /* for one operand: the derivative of n = f(a) by a; NULL: 0 between jumps, or in derive.c */
    node (*slope)(pool *p, node n, node a);
    enum ex_op inverse; /* f(a) = r where a = inverse(r); EX_CONST: none, or in derive.c */
};
extern const struct ex_op_info ex_ops[EX_NOPS];

typedef struct ex_node {
    uint8_t op;
    /* it or a descendant is a relation, abs, sign, min, max, floor, ceil or a table without a known piece */
    bool switching;
    uint32_t table;
    node a, b, c; /* NODE_NONE: absent */
    double value;
    uint32_t depth; /* longest path to a leaf */
} ex_node;

/* Points (x ascending, y), interpolated linearly, constant outside. name: the first arguments of table() as written in
 * the language, such as "tyre.csv", 2 with its quotes. If an x occurs twice, the table is smooth between such points
 * and divided there: a cubic spline with the second derivatives `bend`, or (without) the second derivative of such a
 * spline, interpolated linearly. Its corners are then those of the table `ends`: first and last x, and the points of
 * division. */
typedef struct ex_table {
    const char *name;
    size_t n;
    double *x, *y, *bend, *end;
    size_t nends;          /* 0: neither; linear, with a corner at each x */
    uint32_t ends, second; /* numbers of these tables */
    uint32_t number;       /* its own */
} ex_table;
/* piece i: between x[i-1] and x[i], or for a smooth table between its ends i-1 and i; 0 before the first point, the
 * last one behind; < 0: to be searched */
double ex_table_at(const ex_table *t, double piece, double x);
double ex_table_slope(const ex_table *t, double piece, double x);
double ex_table_piece(const ex_table *t, double x); /* as a double; right-continuous */

/* The tables of a compilation, in order. Images and machine code read them in place, so they are stored apart from the
 * pool and freed with their last user. */
typedef struct table_set table_set;
table_set *tables_new(void); /* kept once */
table_set *tables_keep(table_set *s);
void tables_release(table_set *s);

pool *pool_new(void);
pool *pool_over(table_set *tables); /* with existing tables; takes over the caller's reference to them */
void pool_free(pool *p);
table_set *pool_tables(const pool *p);
const ex_node *pool_node(const pool *p, node n); /* address valid as long as the pool */
size_t pool_count(const pool *p);
uint32_t pool_add_table(pool *p, ex_table t);  /* takes x and y (malloc'ed), copies the name */
uint32_t pool_add_spline(pool *p, ex_table t); /* cubic splines through the points, parted where an x stands twice */
/* Second derivatives of the natural cubic spline at its points, n > 0. free() it */
double *ex_spline_bends(const double *x, const double *y, size_t n);
const ex_table *pool_table(const pool *p, uint32_t i); /* address valid as long as the tables */

/* ---- making nodes. Each function simplifies: constant folding unless the result is not finite; neutral and absorbing
 * elements, double negation, a-a, powers 0 and 1 (x/x stays); nested constants are combined; operands of commutative
 * operations are put into canonical order ---- */
node ex_const(pool *p, double v);
node ex_slot(pool *p, uint32_t k);
node ex_make(pool *p, enum ex_op op, node a, node b, node c); /* absent operands are NODE_NONE */
node ex_table_node(pool *p, enum ex_op op, uint32_t table, node x, node piece);
#define ex_add(p, x, y) ex_make((p), EX_ADD, (x), (y), NODE_NONE)
#define ex_sub(p, x, y) ex_make((p), EX_SUB, (x), (y), NODE_NONE)
#define ex_mul(p, x, y) ex_make((p), EX_MUL, (x), (y), NODE_NONE)
#define ex_div(p, x, y) ex_make((p), EX_DIV, (x), (y), NODE_NONE)
#define ex_neg(p, x) ex_make((p), EX_NEG, (x), NODE_NONE, NODE_NONE)

/* ---- queries ---- */
bool ex_is_const(const pool *p, node n, double *value); /* value may be NULL */
uint32_t ex_slot_bound(const pool *p, node n);          /* 1 + greatest slot number in n; 0: no slots */
/* used[k] = true for each slot k < nslots that occurs */
void ex_slots_used(const pool *p, node n, bool *used, uint32_t nslots);
/* The slots as an ascending list; returns their number. slot[nslots] */
size_t ex_slots_read(const pool *p, node n, uint32_t nslots, uint32_t *slot);
size_t ex_size(const pool *p, node n); /* distinct nodes */
/* Are these at most so many? Takes time for as many, however large n is. */
bool ex_fits(const pool *p, node n, size_t most);

/* Ascending list of the distinct nodes of n, n last. The pool keeps the array (cached for each n). */
const node *ex_tape(pool *p, node n, size_t *count);

/* ---- rewriting ---- */
/* n with slot k replaced by with[k] (k < nslots; NODE_NONE keeps it). Linear in the template. */
node ex_substitute(pool *p, node n, const node *with, uint32_t nslots);
/* n with some of its operations replaced, from the leaves up. replace(ctx, p, at, e) returns what takes the place of
 * node `at`, which is e with its operands already replaced; NODE_NONE: e itself. It makes nodes, and calls nothing else
 * here. */
node ex_replace(pool *p, node n, node (*replace)(void *ctx, pool *p, node at, const ex_node *e), void *ctx);
/* n with `by` in place of its operation `old`. */
node ex_put(pool *p, node n, node old, node by);
/* Rewrites sign(x)*g(|x|) with g(0) = 0, in any spelling (products with sign and abs, both branches of an `if`), as an
 * odd and continuous function: signed powers if g is a product of powers. Only a sign that jumps remains a condition.
 * (odd.c) */
node ex_odd(pool *p, node n);
/* ∂n/∂slot k, simplified. Conditions and pieces are constants; abs, sign, min, max as their frozen branch. Cached on
 * (n, k). */
node ex_derivative(pool *p, node n, uint32_t k);
/* out[k] = ∂n/∂slot[k] for all k < nslots, in one pass; n must have no conditions (node not `switching`). */
void ex_gradient(pool *p, node n, const uint32_t *slot, uint32_t nslots, node *out);
/* Solves n = 0 for slot k. True if slot k occurs linearly (with a coefficient free of k), or once under operations with
 * one inverse (+ - * / neg exp ln log10 sinh asinh asin acos atan spow, constant^k; not odd powers, whose inverses have
 * no slope at 0). *solution is free of k. *divisor is what it divides by (NODE_NONE for a nonzero constant): where that
 * is zero there is no solution. */
bool ex_solve(pool *p, node n, uint32_t k, node *solution, node *divisor);
/* Is n affine in the flagged slots, with coefficients free of flagged slots? */
bool ex_affine_in(pool *p, node n, const bool *flagged, uint32_t nslots);

/* ---- evaluation ---- */
double ex_eval(pool *p, node n, const double *slot);

/* x^n as computed by both the evaluator and generated code: by multiplications for |n| <= EX_POWER_UNROLLED, otherwise
 * by pow(). */
enum { EX_POWER_UNROLLED = 64 };
bool ex_integer_power(double exponent, int *n); /* is x^exponent computed by multiplications? */
/* EX_SPOW and EX_APOW. With a negative exponent, a base below EX_LEAST_BASE is replaced by it: slopes of roots at 0 are
 * large instead of infinite. */
double ex_signed_power(double x, double exponent);
double ex_absolute_power(double x, double exponent);
#define EX_LEAST_BASE 1e-100

/* Text in the language's syntax, with minimal parentheses and numbers of the fewest digits that read back equal; names
 * from name(ctx, k). A shared operand is written wherever it is used; text longer than a million pieces ends in
 * "...". */
void ex_print(const pool *p, node n, const char *(*name)(void *ctx, uint32_t slot), void *ctx, strbuf *out);
/* The same in LaTeX (mathematics without dollar signs); names are LaTeX too. */
void ex_latex(const pool *p, node n, const char *(*name)(void *ctx, uint32_t slot), void *ctx, strbuf *out);

#endif
