/* report.c - tables for people */
#include <string.h>

#include "report.h"

enum { BAR = 24 };

static size_t
width(const char *s)
{
    size_t n = 0;

    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

void
table_put(table *t, const char *fmt, ...)
{
    va_list ap;
    char *s;

    va_start(ap, fmt);
    if (vasprintf(&s, fmt, ap) < 0)
        s = bg_strdup("");
    va_end(ap);
    vec_push(&t->cell, s);
}

void
table_print(table *t, FILE *out, const char *indent)
{
    size_t *wide = bg_calloc((size_t)t->columns, sizeof *wide);

    for (size_t i = 0; i < t->cell.n; i++) {
        size_t w = width(t->cell.at[i]), k = i % (size_t)t->columns;

        if (w > wide[k])
            wide[k] = w;
    }
    for (size_t i = 0; i < t->cell.n; i++) {
        size_t k = i % (size_t)t->columns;
        bool last = k + 1 == (size_t)t->columns, left = k < (size_t)t->left;
        int pad = (int)(wide[k] - width(t->cell.at[i]));

        if (k == 0)
            fputs(indent, out);
        if (!left)
            fprintf(out, "%*s", pad, "");
        fputs(t->cell.at[i], out);
        if (last) {
            fputc('\n', out);
        } else {
            fprintf(out, "%*s", left ? pad + 2 : 2, "");
        }
    }
    for (size_t i = 0; i < t->cell.n; i++)
        free(t->cell.at[i]);
    vec_free(&t->cell);
    free(wide);
}

/* Eighths of a block, so that small shares show. */
static void
put_bar(strbuf *b, double share)
{
    static const char *const eighth[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
    int n = (int)(share * BAR * 8 + 0.5);

    for (; n >= 8; n -= 8)
        strbuf_puts(b, "█");
    strbuf_puts(b, eighth[n > 0 ? n : 0]);
}

void
report_ranking(FILE *out, const ranking *r, bool terminal, bool color)
{
    table t = { .columns = terminal ? 6 : 5, .left = 2 };
    double greatest = r->row.n ? r->row.at[0].index : 0;

    table_put(&t, "element");
    table_put(&t, "type");
    table_put(&t, "%s [%s]", metric_name(r->metric), metric_unit(r->metric));
    table_put(&t, "index");
    table_put(&t, "cumulative");
    if (terminal)
        table_put(&t, "%s", "");
    for (size_t i = 0; i < r->row.n; i++) {
        const metric_row *x = &r->row.at[i];

        table_put(&t, "%s", x->name);
        table_put(&t, "%s%s", x->type, x->source ? " (source)" : "");
        table_put(&t, "%.6g", x->value);
        table_put(&t, "%.2f %%", 100 * x->index);
        table_put(&t, "%.2f %%", 100 * x->cumulative);
        if (terminal) {
            strbuf b = { 0 };

            put_bar(&b, greatest > 0 ? x->index / greatest : 0);
            table_put(&t, "%s%s%s%*s", color ? x->source ? "\033[90m" : "\033[36m" : "", b.at ? b.at : "", color ? "\033[0m" : "",
                      (int)(BAR - width(b.at ? b.at : "")), "");
            strbuf_free(&b);
        }
    }
    table_put(&t, "total");
    table_put(&t, "%s", "");
    table_put(&t, "%.6g", r->total);
    table_put(&t, "%s", "");
    table_put(&t, "%s", "");
    if (terminal)
        table_put(&t, "%s", "");
    table_print(&t, out, "");
}
