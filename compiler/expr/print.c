/* print.c - expressions as text in the language's syntax
 *
 * needs     a template and the names of its slots
 * provides  text that reads back as the same node, in bounded time
 */
#include <math.h>
#include <stdio.h>

#include "writer.h"

enum { PIECES = 1 << 20 };
/* MAGNITUDE: a constant whose sign is already written */
enum { ANY = 0, BRANCH = 1, SUM = 6, PRODUCT = 7, SIGNED = 8, CALL = 10, MAGNITUDE = -1 };

static void
put_plain_number(strbuf *out, double v, int least)
{
    char digits[WRITER_DIGITS];

    if (least == MAGNITUDE)
        v = -v;
    if (isnan(v)) {
        strbuf_puts(out, "(0/0)");
        return;
    }
    if (isinf(v)) {
        strbuf_puts(out, v < 0 ? "-1e999" : "1e999");
        return;
    }
    writer_digits(v, digits);
    strbuf_puts(out, digits);
}

/* May a number (or only a minus sign) be written before the product or quotient n without parentheses? The parser joins
 * it to the first factor: a minus sign goes into a sum there, and numbers are multiplied at once. */
static bool
takes_factor(const pool *p, node n, bool minus)
{
    const ex_node *e = pool_node(p, n);

    if (e->op != EX_MUL && e->op != EX_DIV)
        return false;
    for (; e->op == EX_MUL || e->op == EX_DIV; e = pool_node(p, e->a))
        if (!minus && ex_is_const(p, e->b, NULL))
            return false;
    return e->op != EX_CONST && !(minus && (e->op == EX_ADD || e->op == EX_SUB));
}

/* How tightly the text of e binds. */
static int
print_binding(const pool *p, const ex_node *e)
{
    if (e->op == EX_CONST)
        return e->value < 0 ? SIGNED : CALL;
    if (e->op == EX_NEG && takes_factor(p, e->a, true))
        return PRODUCT;
    return ex_ops[e->op].precedence;
}

static void
put_infix(struct ex_writer *w, const ex_node *e)
{
    int strength = ex_ops[e->op].precedence, left = strength, right = strength + 1;
    bool spaced = strength < PRODUCT;
    const char *name = ex_ops[e->op].name;
    double c;

    if (e->op == EX_ADD && ex_is_const(w->p, e->b, &c) && c < 0) {
        name = "-";
        right = MAGNITUDE;
    } else if (e->op == EX_MUL && ex_is_const(w->p, e->a, NULL) && takes_factor(w->p, e->b, false)) {
        right = strength; /* 2*(x*y) and 2*x*y are one node */
    } else if (e->op == EX_POW) {
        left = right = CALL;
    } else if (e->op >= EX_LT && e->op <= EX_NE) {
        left = right; /* comparisons cannot be chained */
    }
    writer_operand(w, e->b, right);
    if (spaced)
        writer_text(w, " ");
    writer_text(w, name);
    if (spaced)
        writer_text(w, " ");
    writer_operand(w, e->a, left);
}

/* Queues the parts of e, last part first. */
static void
put_operation(struct ex_writer *w, const ex_node *e)
{
    switch (e->op) {
    case EX_NEG:
        writer_operand(w, e->a, takes_factor(w->p, e->a, true) ? PRODUCT : SIGNED);
        writer_text(w, "-");
        break;
    case EX_NOT:
        writer_operand(w, e->a, ex_ops[EX_NOT].precedence);
        writer_text(w, "not ");
        break;
    case EX_SELECT:
        writer_operand(w, e->c, BRANCH);
        writer_text(w, " else ");
        writer_operand(w, e->b, BRANCH + 1);
        writer_text(w, " then ");
        writer_operand(w, e->a, BRANCH + 1);
        writer_text(w, "if ");
        break;
    case EX_TABLE:
    case EX_TABLE_SLOPE:
        writer_text(w, ")");
        writer_operand(w, e->a, ANY);
        writer_text(w, ", ");
        writer_text(w, pool_table(w->p, e->table)->name);
        writer_text(w, "(");
        writer_text(w, e->op == EX_TABLE && pool_table(w->p, e->table)->bend ? "spline" : ex_ops[e->op].name);
        break;
    default:
        if (ex_ops[e->op].infix) {
            put_infix(w, e);
            break;
        }
        writer_text(w, ")");
        if (ex_ops[e->op].arity == 2) {
            writer_operand(w, e->b, ANY);
            writer_text(w, ", ");
        }
        writer_operand(w, e->a, ANY);
        writer_text(w, "(");
        writer_text(w, ex_ops[e->op].name);
        break;
    }
}

void
ex_print(const pool *p, node n, const char *(*name)(void *ctx, uint32_t slot), void *ctx, strbuf *out)
{
    static const struct ex_style language = { PIECES, "(", ")", "...", print_binding, put_plain_number, put_operation };

    writer_run(&language, p, n, name, ctx, out);
}
