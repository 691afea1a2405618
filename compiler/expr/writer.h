/* writer.h - expressions as text, in different styles
 *
 * A style tells how tightly each operation binds and queues its parts; the writer adds parentheses, works without
 * recursion and stops after a bounded number of pieces, since shared operands can make the text exponentially long.
 */
#ifndef BG_WRITER_H
#define BG_WRITER_H

#include "expr.h"

/* Still to be written: text, or a node, in parentheses if it binds weaker than `least`. */
struct ex_part {
    const char *text;
    node n;
    int least;
};

struct ex_writer {
    const pool *p;
    VEC(struct ex_part) todo; /* last first */
};

struct ex_style {
    size_t pieces; /* number of pieces, after which `cut` is written */
    const char *open, *close, *cut;
    int (*binding)(const pool *p, const ex_node *e);
    void (*number)(strbuf *out, double v, int least);         /* least: as the operand was queued */
    void (*operation)(struct ex_writer *w, const ex_node *e); /* queues the parts of e, last part first */
};

void writer_text(struct ex_writer *w, const char *s);
void writer_operand(struct ex_writer *w, node n, int least);
void writer_run(const struct ex_style *style, const pool *p, node n, const char *(*name)(void *ctx, uint32_t slot),
                void *ctx, strbuf *out);

/* The fewest digits (15 to 17) that read back as v, which must be finite. */
enum { WRITER_DIGITS = 32 };
void writer_digits(double v, char text[WRITER_DIGITS]);

#endif
