/* expr.h - law templates: hash-consed expressions over numbered slots
 *
 * A law is written once as a template over slots 0, 1, ...; an element is (template, slots). Equal expressions are
 * equal node numbers, children are always older (smaller) than parents, so that a pass over a template is a loop over
 * ascending node numbers and needs no recursion. Differentiation, simplification and folding work on templates, once
 * per kind of law.
 *
 * values   doubles in SI; conditions are 0 or 1
 * memory   one pool per compilation; nodes are never freed
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
    EX_POW,  /* a^b; an integer exponent stays an EX_CONST child: structure, not data */
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
    EX_TABLE_SLOPE, /* its slope at a in piece b */
    EX_NOPS
};

typedef struct pool pool;

/* What an operation asks of its operands' units, and gives */
enum ex_units {
    EX_UNITS_NONE,
    EX_UNITS_KEPT,  /* any, kept */
    EX_UNITS_SAME,  /* equal ones, kept */
    EX_UNITS_PURE,  /* pure number to pure number */
    EX_UNITS_SIGN,  /* any, to a pure number */
    EX_UNITS_RATIO, /* equal ones, to a pure number */
    EX_UNITS_PRODUCT,
    EX_UNITS_QUOTIENT,
    EX_UNITS_ROOT,
    EX_UNITS_POWER /* any, to the power that the second operand is */
};
enum ex_parity { EX_NEITHER, EX_ODD, EX_EVEN };

/* One row an operation (operators.c) */
struct ex_op_info {
    const char *name;  /* in the language */
    const char *latex; /* between or before its operands; NULL: its name as a word, or a form of its own (latex.c) */
    uint8_t arity, precedence;
    bool infix, commutative;
    bool called;   /* a text calls it by its name, with `arity` arguments */
    bool switches; /* jumps or bends */
    bool sharp;    /* may do all it does within little of its operand */
    bool linked;   /* generated code calls `one` or `two`, where it does no better */
    enum ex_parity parity;
    enum ex_units units;
    double (*one)(double); /* its value; neither: it needs more than its operands' values */
    double (*two)(double, double);
    node (*slope)(pool *p, node n, node a); /* of one operand: n = f(a) by a; NULL: 0 between jumps, or in derive.c */
    enum ex_op inverse;                     /* f(a) = r where a = inverse(r); EX_CONST: none, or in derive.c */
};
extern const struct ex_op_info ex_ops[EX_NOPS];

typedef struct ex_node {
    uint8_t op;
    bool switching; /* itself or a descendant is a relation, abs, sign, min, max, floor, ceil or an unfrozen table */
    uint32_t table;
    node a, b, c; /* NODE_NONE where there is none */
    double value;
    uint32_t depth; /* longest path to a leaf */
} ex_node;

/* Points (x rising, y) read linearly, constant outside. name: the first arguments of table() as the language writes
 * them, such as "tyre.csv", 2 with its quotes. With an x twice it is smooth in between
 * and parted there: a cubic spline with the second derivatives `bend`, or (without) what such a spline's second
 * derivative is, read linearly. Its corners are then those of the table `ends`: first and last x and where it parts. */
typedef struct ex_table {
    const char *name;
    size_t n;
    double *x, *y, *bend, *end;
    size_t nends;          /* 0: none of these, read linearly with a corner at each x */
    uint32_t ends, second; /* numbers of these tables */
    uint32_t number;       /* its own */
} ex_table;
/* piece i: between x[i-1] and x[i], of a smooth one between its ends i-1 and i; 0 before, the last behind; < 0:
 * searched */
double ex_table_at(const ex_table *t, double piece, double x);
double ex_table_slope(const ex_table *t, double piece, double x);
double ex_table_piece(const ex_table *t, double x); /* as a double; right-continuous */

/* The tables of a compilation, in their order. Images and machine code read them where they lie, so that they are
 * apart from the pool: they go with the last who keeps them. */
typedef struct table_set table_set;
table_set *tables_new(void); /* kept once */
table_set *tables_keep(table_set *s);
void tables_release(table_set *s);

pool *pool_new(void);
pool *pool_over(table_set *tables); /* with tables that are there; takes over that they are kept */
void pool_free(pool *p);
table_set *pool_tables(const pool *p);
const ex_node *pool_node(const pool *p, node n); /* stays where it is while the pool lives */
size_t pool_count(const pool *p);
uint32_t pool_add_table(pool *p, ex_table t);  /* takes x and y (malloc'ed), copies the name */
uint32_t pool_add_spline(pool *p, ex_table t); /* cubic splines through the points, parted where an x stands twice */
/* Second derivatives of the natural cubic spline at its points, n > 0. free() it */
double *ex_spline_bends(const double *x, const double *y, size_t n);
const ex_table *pool_table(const pool *p, uint32_t i); /* stays where it is while the tables do */

/* ---- making: each simplifies (constant folding unless the result is not finite; neutral and absorbing elements,
 * double negation,
 *      a-a, x/x stays, powers 0, 1; nested constants gathered; commutative operands in canonical order) ---- */
node ex_const(pool *p, double v);
node ex_slot(pool *p, uint32_t k);
node ex_make(pool *p, enum ex_op op, node a, node b, node c); /* absent operands NODE_NONE */
node ex_table_node(pool *p, enum ex_op op, uint32_t table, node x, node piece);
#define ex_add(p, x, y) ex_make((p), EX_ADD, (x), (y), NODE_NONE)
#define ex_sub(p, x, y) ex_make((p), EX_SUB, (x), (y), NODE_NONE)
#define ex_mul(p, x, y) ex_make((p), EX_MUL, (x), (y), NODE_NONE)
#define ex_div(p, x, y) ex_make((p), EX_DIV, (x), (y), NODE_NONE)
#define ex_neg(p, x) ex_make((p), EX_NEG, (x), NODE_NONE, NODE_NONE)

/* ---- asking ---- */
bool ex_is_const(const pool *p, node n, double *value); /* value may be NULL */
uint32_t ex_slot_bound(const pool *p, node n);          /* 1 + greatest slot number in n, 0 if none */
/* used[k] = true for each slot k < nslots that occurs */
void ex_slots_used(const pool *p, node n, bool *used, uint32_t nslots);
/* The same as a list, ascending: how many. slot[nslots] */
size_t ex_slots_read(const pool *p, node n, uint32_t nslots, uint32_t *slot);
size_t ex_size(const pool *p, node n); /* distinct nodes */

/* Ascending list of the distinct nodes n is made of, n last. The array is kept by the pool (cached per n). */
const node *ex_tape(pool *p, node n, size_t *count);

/* ---- rewriting ---- */
/* n with slot k replaced by with[k] (k < nslots; NODE_NONE keeps it). Linear in the template. */
node ex_substitute(pool *p, node n, const node *with, uint32_t nslots);
/* n with sign(x)*g(|x|) where g(0) = 0, however it is written (products with sign and abs, both halves of an `if`), as
 * a function that is odd and continuous: signed powers where g is a product of powers. Only a sign that jumps is left a
 * condition. (odd.c) */
node ex_odd(pool *p, node n);
/* ∂n/∂slot k, simplified. Conditions and pieces are constants; abs, sign, min, max as their frozen branch. Cached on
 * (n, k). */
node ex_derivative(pool *p, node n, uint32_t k);
/* out[k] = ∂n/∂slot[k] for all k < nslots, in one pass; n has no conditions (its node is not `switching`). */
void ex_gradient(pool *p, node n, const uint32_t *slot, uint32_t nslots, node *out);
/* Solves n = 0 for slot k. True when slot k occurs linearly (coefficient free of k), or once under operations with one
 * inverse
 * (+ - * / neg exp ln log10 sinh asinh asin acos atan spow, constant^k; not odd powers, whose inverses have no slope at
 * 0). *solution is free of k. *divisor is what it divides by (NODE_NONE if by a nonzero constant): zero there means no
 * solution. */
bool ex_solve(pool *p, node n, uint32_t k, node *solution, node *divisor);
/* Is n affine in the slots with flag set (their coefficients free of flagged slots)? */
bool ex_affine_in(pool *p, node n, const bool *flagged, uint32_t nslots);

/* ---- evaluating ---- */
double ex_eval(pool *p, node n, const double *slot);

/* x^n as both the evaluator and generated code form it: by multiplications for |n| <= EX_POWER_UNROLLED, by pow()
 * above. */
enum { EX_POWER_UNROLLED = 64 };
bool ex_integer_power(double exponent, int *n); /* is x^exponent formed by multiplications? */
/* EX_SPOW and EX_APOW. Below EX_LEAST_BASE a base with a negative exponent counts as that: slopes of roots at 0 are
 * large, not infinite. */
double ex_signed_power(double x, double exponent);
double ex_absolute_power(double x, double exponent);
#define EX_LEAST_BASE 1e-100

/* Text in the language's syntax, least parentheses, numbers with the fewest digits that read back equal; names from
 * name(ctx, k). A shared operand is written where it is used; text beyond a million pieces ends in "...". */
void ex_print(const pool *p, node n, const char *(*name)(void *ctx, uint32_t slot), void *ctx, strbuf *out);
/* The same as LaTeX (mathematics, no dollar signs); the names are LaTeX too. */
void ex_latex(const pool *p, node n, const char *(*name)(void *ctx, uint32_t slot), void *ctx, strbuf *out);

#endif
