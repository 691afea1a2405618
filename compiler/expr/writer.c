/* writer.c - see writer.h */
#include <stdio.h>
#include <stdlib.h>

#include "writer.h"

void
writer_text(struct ex_writer *w, const char *s)
{
    vec_push(&w->todo, ((struct ex_part){ s, NODE_NONE, 0 }));
}

void
writer_operand(struct ex_writer *w, node n, int least)
{
    vec_push(&w->todo, ((struct ex_part){ NULL, n, least }));
}

void
writer_digits(double v, char text[WRITER_DIGITS])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, WRITER_DIGITS, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
}

void
writer_run(const struct ex_style *style, const pool *p, node n, const char *(*name)(void *ctx, uint32_t slot),
           void *ctx, strbuf *out)
{
    static const ex_node negative = { .op = EX_CONST, .value = -1 }; /* as which a literal of that sign reads */
    struct ex_writer w = { .p = p };
    const char *slot;
    size_t pieces = 0;

    writer_operand(&w, n, 0);
    while (w.todo.n > 0) {
        struct ex_part t = w.todo.at[--w.todo.n];
        const ex_node *e;

        if (++pieces > style->pieces) {
            strbuf_puts(out, style->cut);
            break;
        }
        if (t.text) {
            strbuf_puts(out, t.text);
            continue;
        }
        e = pool_node(p, t.n);
        slot = e->op == EX_SLOT ? name(ctx, e->a) : NULL;
        if (style->binding(p, slot && *slot == '-' ? &negative : e) < t.least) {
            strbuf_puts(out, style->open);
            writer_text(&w, style->close);
        }
        if (e->op == EX_CONST)
            style->number(out, e->value, t.least);
        else if (slot)
            strbuf_puts(out, slot);
        else
            style->operation(&w, e);
    }
    vec_free(&w.todo);
}
