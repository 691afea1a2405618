/* latex.c - expressions in LaTeX
 *
 * needs     a template and the LaTeX names of its slots
 * provides  typeset mathematics: fractions, roots, powers, functions; bounded in length
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer.h"

/* Numbers outside this range are printed with a power of ten, as a product. */
static const double LEAST_PLAIN = 1e-4, GREATEST_PLAIN = 1e15;

enum { PIECES = 1 << 18 };
enum { ANY = 0, BRANCH = 1, SUM = 6, PRODUCT = 7, SIGNED = 8, FACTOR = 9, CLOSED = 10 };

static void
put_number(strbuf *out, double v, int least)
{
    char digits[WRITER_DIGITS], *e;

    (void)least;
    if (!isfinite(v)) {
        strbuf_puts(out, isnan(v) ? "\\mathrm{NaN}" : v < 0 ? "-\\infty" : "\\infty");
        return;
    }
    writer_digits(v, digits);
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

/* How tightly the text of e binds. */
static int
latex_binding(const pool *p, const ex_node *e)
{
    (void)p;
    switch (e->op) {
    case EX_CONST:
        if (e->value < 0)
            return SIGNED;
        return e->value >= GREATEST_PLAIN || e->value < LEAST_PLAIN ? PRODUCT : CLOSED;
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

/* Queues before, a, after (the last part first). */
static void
around(struct ex_writer *w, const char *before, node a, const char *after)
{
    writer_text(w, after);
    writer_operand(w, a, ANY);
    writer_text(w, before);
}

static void
put_call(struct ex_writer *w, const ex_node *e)
{
    const char *name = ex_ops[e->op].latex;

    writer_text(w, "\\right)");
    if (e->op == EX_TABLE || e->op == EX_TABLE_SLOPE) {
        writer_operand(w, e->a, ANY);
    } else if (ex_ops[e->op].arity == 2) {
        writer_operand(w, e->b, ANY);
        writer_text(w, ", ");
        writer_operand(w, e->a, ANY);
    } else {
        writer_operand(w, e->a, ANY);
    }
    writer_text(w, "\\left(");
    if (name) {
        writer_text(w, name);
    } else {
        writer_text(w, "}");
        writer_text(w, ex_ops[e->op].name);
        writer_text(w, "\\operatorname{");
    }
}

static void
put_power(struct ex_writer *w, const ex_node *e)
{
    writer_text(w, "}");
    writer_operand(w, e->b, ANY);
    writer_text(w, "}^{");
    if (e->op == EX_POW)
        writer_operand(w, e->a, CLOSED);
    else
        around(w, "\\left|", e->a, "\\right|");
    writer_text(w, "{");
    if (e->op == EX_SPOW) /* odd in its base */
        around(w, "\\operatorname{sgn}\\left(", e->a, "\\right) ");
}

/* Does its text begin with a minus sign? */
static bool
leads_with_minus(const pool *p, node n)
{
    const ex_node *e = pool_node(p, n);

    while (e->op == EX_MUL)
        e = pool_node(p, e->a);
    return e->op == EX_NEG || (e->op == EX_CONST && e->value < 0);
}

static void
put_operation(struct ex_writer *w, const ex_node *e)
{
    switch (e->op) {
    case EX_NEG:
        writer_operand(w, e->a, PRODUCT);
        writer_text(w, "-");
        break;
    case EX_NOT:
        writer_operand(w, e->a, CLOSED);
        writer_text(w, "\\neg ");
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
        writer_text(w, " & \\text{otherwise} \\end{cases}");
        writer_operand(w, e->c, BRANCH);
        writer_text(w, " \\\\ ");
        writer_operand(w, e->a, ANY);
        writer_text(w, " & ");
        writer_operand(w, e->b, BRANCH);
        writer_text(w, "\\begin{cases} ");
        break;
    default:
        if (ex_ops[e->op].infix) {
            int strength = ex_ops[e->op].precedence;
            bool minus = e->op == EX_ADD && leads_with_minus(w->p, e->b);

            writer_operand(w, e->b, minus ? SUM : e->op == EX_MUL ? strength : strength + 1);
            writer_text(w, minus ? " " : ex_ops[e->op].latex);
            writer_operand(w, e->a, strength);
        } else {
            put_call(w, e);
        }
        break;
    }
}

void
ex_latex(const pool *p, node n, const char *(*name)(void *ctx, uint32_t slot), void *ctx, strbuf *out)
{
    static const struct ex_style latex = { PIECES,        "\\left(",  "\\right)",   "\\dots",
                                           latex_binding, put_number, put_operation };

    writer_run(&latex, p, n, name, ctx, out);
}
