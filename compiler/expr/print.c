/* print.c - expressions as text in the language's syntax
 *
 * needs     a template and the names of its slots
 * provides  text that reads back as the same node, in bounded time
 */
#include <math.h>
#include <stdio.h>

#include "expr_pool.h"

enum { PIECES = 1 << 20 }; /* shared operands can make the text exponential in the template */
enum { ANY = 0, BRANCH = 1, SUM = 6, PRODUCT = 7, SIGNED = 8, CALL = 10, MAGNITUDE = -1 };

/* Still to be written: text, or a node in parentheses if it binds weaker than least; MAGNITUDE: a constant without its
 * sign */
struct todo {
    const char *text;
    node n;
    int least;
};

struct printer {
    const pool *p;
    strbuf *out;
    VEC(struct todo) todo; /* last first */
};

static void
put_number(strbuf *out, double v)
{
    char text[32];

    if (isnan(v)) {
        strbuf_puts(out, "(0/0)");
        return;
    }
    if (isinf(v)) {
        strbuf_puts(out, v < 0 ? "-1e999" : "1e999");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    strbuf_puts(out, text);
}

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

/* May a number (or only a minus) be written in front of product or quotient n without parentheses? It joins the first
 * factor: a minus goes into a sum there, and numbers met on the way are multiplied at once. */
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

/* How tightly the text of e holds together */
static int
binding(const pool *p, const ex_node *e)
{
    if (e->op == EX_CONST)
        return e->value < 0 ? SIGNED : CALL;
    if (e->op == EX_NEG && takes_factor(p, e->a, true))
        return PRODUCT;
    return ex_ops[e->op].precedence;
}

static void
put_infix(struct printer *w, const ex_node *e)
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
        left = right; /* comparisons do not chain */
    }
    operand(w, e->b, right);
    if (spaced)
        text(w, " ");
    text(w, name);
    if (spaced)
        text(w, " ");
    operand(w, e->a, left);
}

/* Queues the parts of e, the last part first. */
static void
put_operation(struct printer *w, const ex_node *e)
{
    switch (e->op) {
    case EX_NEG:
        operand(w, e->a, takes_factor(w->p, e->a, true) ? PRODUCT : SIGNED);
        text(w, "-");
        break;
    case EX_NOT:
        operand(w, e->a, ex_ops[EX_NOT].precedence);
        text(w, "not ");
        break;
    case EX_SELECT:
        operand(w, e->c, BRANCH);
        text(w, " else ");
        operand(w, e->b, BRANCH + 1);
        text(w, " then ");
        operand(w, e->a, BRANCH + 1);
        text(w, "if ");
        break;
    case EX_TABLE:
    case EX_TABLE_SLOPE:
        text(w, ")");
        operand(w, e->a, ANY);
        text(w, ", ");
        text(w, pool_table(w->p, e->table)->name);
        text(w, "(");
        text(w, e->op == EX_TABLE && pool_table(w->p, e->table)->bend ? "spline" : ex_ops[e->op].name);
        break;
    default:
        if (ex_ops[e->op].infix) {
            put_infix(w, e);
            break;
        }
        text(w, ")");
        if (ex_ops[e->op].arity == 2) {
            operand(w, e->b, ANY);
            text(w, ", ");
        }
        operand(w, e->a, ANY);
        text(w, "(");
        text(w, ex_ops[e->op].name);
        break;
    }
}

void
ex_print(const pool *p, node n, const char *(*name)(void *ctx, uint32_t slot), void *ctx, strbuf *out)
{
    struct printer w = { .p = p, .out = out };
    size_t pieces = 0;

    operand(&w, n, ANY);
    while (w.todo.n > 0) {
        struct todo t = w.todo.at[--w.todo.n];
        const ex_node *e;

        if (++pieces > PIECES) {
            strbuf_puts(out, "...");
            break;
        }
        if (t.text) {
            strbuf_puts(out, t.text);
            continue;
        }
        e = pool_node(p, t.n);
        if (binding(p, e) < t.least) {
            strbuf_puts(out, "(");
            text(&w, ")");
        }
        if (e->op == EX_CONST)
            put_number(out, t.least == MAGNITUDE ? -e->value : e->value);
        else if (e->op == EX_SLOT)
            strbuf_puts(out, name(ctx, e->a));
        else
            put_operation(&w, e);
    }
    vec_free(&w.todo);
}
