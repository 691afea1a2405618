/* writer.h - expressions as text, in one style or another
 *
 * A style says how tightly each operation holds together and queues its parts; the writer puts parentheses, walks down
 * without recursion and ends in bounded time: shared operands can make the text exponential in the template.
 */
#ifndef BG_WRITER_H
#define BG_WRITER_H

#include "expr.h"

/* Still to be written: text, or a node, in parentheses if it binds weaker than least */
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
    size_t pieces; /* so many, and then `cut` */
    const char *open, *close, *cut;
    int (*binding)(const pool *p, const ex_node *e);
    void (*number)(strbuf *out, double v, int least);         /* least: as the operand was queued with */
    void (*operation)(struct ex_writer *w, const ex_node *e); /* queues the parts of e, the last part first */
};

void writer_text(struct ex_writer *w, const char *s);
void writer_operand(struct ex_writer *w, node n, int least);
void writer_run(const struct ex_style *style, const pool *p, node n, const char *(*name)(void *ctx, uint32_t slot),
                void *ctx, strbuf *out);

/* The fewest digits, of 15 to 17, that read back as v, which is finite */
enum { WRITER_DIGITS = 32 };
void writer_digits(double v, char text[WRITER_DIGITS]);

#endif
