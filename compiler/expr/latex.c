/* latex.c - expressions as LaTeX
 *
 * needs     a template and the LaTeX of its slots' names
 * provides  mathematics as it is set: fractions, roots, powers, functions; in bounded time
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr_pool.h"

enum { PIECES = 1 << 18 }; /* shared operands can make the text exponential in the template */
enum { ANY = 0, BRANCH = 1, SUM = 6, PRODUCT = 7, SIGNED = 8, FACTOR = 9, CLOSED = 10 };

/* Still to be written: text, or a node, in parentheses if it binds weaker than least. */
struct todo {
    const char *text;
    node n;
    int least;
};

struct printer {
    const pool *p;
    VEC(struct todo) todo;
}; /* last first */

static void
text(struct printer *w, const char *s)
{
    vec_push(&w->todo, ((struct todo){ s, NODE_NONE, 0 }));
}
static void
operand(struct printer *w, node n, int least)
{
    vec_push(&w->todo, ((struct todo){ NULL, n, least }));
}

static void
put_number(strbuf *out, double v)
{
    char digits[32], *e;

    if (!isfinite(v)) {
        strbuf_puts(out, isnan(v) ? "\\mathrm{NaN}" : v < 0 ? "-\\infty" : "\\infty");
        return;
    }
    for (int n = 15; n <= 17; n++) {
        snprintf(digits, sizeof digits, "%.*g", n, v);
        if (strtod(digits, NULL) == v)
            break;
    }
    e = strchr(digits, 'e');
    if (!e) {
        strbuf_puts(out, digits);
        return;
    }
    *e = '\0';
    if (!strcmp(digits, "1") || !strcmp(digits, "-1"))
        strbuf_printf(out, "%s10^{%d}", *digits == '-' ? "-" : "", atoi(e + 1));
    else
        strbuf_printf(out, "%s \\cdot 10^{%d}", digits, atoi(e + 1));
}

/* How tightly the text of e holds together. */
static int
binding(const ex_node *e)
{
    switch (e->op) {
    case EX_CONST: return e->value < 0 ? SIGNED : fabs(e->value) >= 1e15 || fabs(e->value) < 1e-4 ? PRODUCT : CLOSED;
    case EX_NEG: return SUM;
    case EX_DIV:
    case EX_SQRT:
    case EX_SELECT:
    case EX_ABS: return FACTOR;
    case EX_POW:
    case EX_SPOW:
    case EX_APOW:
    case EX_EXP: return FACTOR;
    default: return ex_ops[e->op].infix ? ex_ops[e->op].precedence : CLOSED;
    }
}

/* before a after: the parts are queued last first. */
static void
around(struct printer *w, const char *before, node a, const char *after)
{
    text(w, after);
    operand(w, a, ANY);
    text(w, before);
}

static const char *
function_name(enum ex_op op)
{
    switch (op) {
    case EX_LN: return "\\ln";
    case EX_LOG10: return "\\log_{10}";
    case EX_SIN: return "\\sin";
    case EX_COS: return "\\cos";
    case EX_TAN: return "\\tan";
    case EX_ASIN: return "\\arcsin";
    case EX_ACOS: return "\\arccos";
    case EX_ATAN: return "\\arctan";
    case EX_SINH: return "\\sinh";
    case EX_COSH: return "\\cosh";
    case EX_TANH: return "\\tanh";
    case EX_MIN: return "\\min";
    case EX_MAX: return "\\max";
    default: return NULL;
    }
}

static const char *
infix_name(enum ex_op op)
{
    switch (op) {
    case EX_ADD: return " + ";
    case EX_SUB: return " - ";
    case EX_MUL: return " \\, ";
    case EX_LT: return " < ";
    case EX_LE: return " \\le ";
    case EX_EQ: return " = ";
    case EX_NE: return " \\ne ";
    case EX_AND: return " \\wedge ";
    case EX_OR: return " \\vee ";
    default: return " ? ";
    }
}

static void
put_call(struct printer *w, const ex_node *e)
{
    const char *name = function_name(e->op);

    text(w, "\\right)");
    if (e->op == EX_TABLE || e->op == EX_TABLE_SLOPE) {
        operand(w, e->a, ANY);
    } else if (ex_ops[e->op].arity == 2) {
        operand(w, e->b, ANY);
        text(w, ", ");
        operand(w, e->a, ANY);
    } else {
        operand(w, e->a, ANY);
    }
    text(w, "\\left(");
    if (name) {
        text(w, name);
    } else {
        text(w, "}");
        text(w, ex_ops[e->op].name);
        text(w, "\\operatorname{");
    }
}

static void
put_power(struct printer *w, const ex_node *e)
{
    text(w, "}");
    operand(w, e->b, ANY);
    text(w, "}^{");
    if (e->op == EX_POW)
        operand(w, e->a, CLOSED);
    else
        around(w, "\\left|", e->a, "\\right|");
    text(w, "{");
    if (e->op == EX_SPOW) /* odd in its base */
        around(w, "\\operatorname{sgn}\\left(", e->a, "\\right) ");
}

/* Does its text begin with a minus? */
static bool
leads_with_minus(const pool *p, node n)
{
    const ex_node *e = pool_node(p, n);

    while (e->op == EX_MUL)
        e = pool_node(p, e->a);
    return e->op == EX_NEG || (e->op == EX_CONST && e->value < 0);
}

static void
put_operation(struct printer *w, const ex_node *e)
{
    switch (e->op) {
    case EX_NEG:
        operand(w, e->a, PRODUCT);
        text(w, "-");
        break;
    case EX_NOT:
        operand(w, e->a, CLOSED);
        text(w, "\\neg ");
        break;
    case EX_DIV:
        around(w, "{", e->b, "}");
        around(w, "\\frac{", e->a, "}");
        break;
    case EX_SQRT: around(w, "\\sqrt{", e->a, "}"); break;
    case EX_EXP: around(w, "\\mathrm{e}^{", e->a, "}"); break;
    case EX_ABS: around(w, "\\left|", e->a, "\\right|"); break;
    case EX_POW:
    case EX_SPOW:
    case EX_APOW: put_power(w, e); break;
    case EX_SELECT:
        text(w, " & \\text{otherwise} \\end{cases}");
        operand(w, e->c, BRANCH);
        text(w, " \\\\ ");
        operand(w, e->a, ANY);
        text(w, " & ");
        operand(w, e->b, BRANCH);
        text(w, "\\begin{cases} ");
        break;
    default:
        if (ex_ops[e->op].infix) {
            int strength = ex_ops[e->op].precedence;
            bool minus = e->op == EX_ADD && leads_with_minus(w->p, e->b);

            operand(w, e->b, minus ? SUM : e->op == EX_MUL ? strength : strength + 1);
            text(w, minus ? " " : infix_name(e->op));
            operand(w, e->a, strength);
        } else {
            put_call(w, e);
        }
        break;
    }
}

void
ex_latex(const pool *p, node n, const char *(*name)(void *ctx, uint32_t slot), void *ctx, strbuf *out)
{
    struct printer w = { .p = p };
    size_t pieces = 0;

    operand(&w, n, ANY);
    while (w.todo.n > 0) {
        struct todo t = w.todo.at[--w.todo.n];
        const ex_node *e;

        if (++pieces > PIECES) {
            strbuf_puts(out, "\\dots");
            break;
        }
        if (t.text) {
            strbuf_puts(out, t.text);
            continue;
        }
        e = pool_node(p, t.n);
        if (binding(e) < t.least) {
            strbuf_puts(out, "\\left(");
            text(&w, "\\right)");
        }
        if (e->op == EX_CONST)
            put_number(out, e->value);
        else if (e->op == EX_SLOT)
            strbuf_puts(out, name(ctx, e->a));
        else
            put_operation(&w, e);
    }
    vec_free(&w.todo);
}
