/* report.c - tables for people */
#include <math.h>
#include <string.h>

#include "quote.h"
#include "report.h"

enum { BAR = 24 };

static size_t
shown_width(const char *s)
{
    size_t n = 0;

    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

void
put_text(FILE *out, const char *fmt, ...)
{
    va_list ap;
    char *s, *clean;

    va_start(ap, fmt);
    if (vasprintf(&s, fmt, ap) < 0)
        s = bg_strdup("");
    va_end(ap);
    clean = quoted(QUOTE_LINES, s);
    fputs(clean, out);
    free(clean);
    free(s);
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
    vec_push(&t->cell, quoted(QUOTE_LINE, s));
    free(s);
}

void
table_print(table *t, FILE *out, const char *indent)
{
    size_t *wide = bg_calloc((size_t)t->columns, sizeof *wide);

    for (size_t i = 0; i < t->cell.n; i++) {
        size_t w = shown_width(t->cell.at[i]), k = i % (size_t)t->columns;

        if (w > wide[k])
            wide[k] = w;
    }
    for (size_t i = 0, blanks = 0; i < t->cell.n; i++) {
        size_t k = i % (size_t)t->columns, pad = wide[k] - shown_width(t->cell.at[i]);
        bool last = k + 1 == (size_t)t->columns, left = k < (size_t)t->left || (last && t->tail);

        if (k == 0)
            fputs(indent, out);
        blanks += left ? 0 : pad;
        if (*t->cell.at[i]) {
            fprintf(out, "%*s%s", (int)blanks, "", t->cell.at[i]);
            blanks = 0;
        }
        blanks += (left ? pad : 0) + 2;
        if (last) {
            fputc('\n', out);
            blanks = 0;
        }
    }
    for (size_t i = 0; i < t->cell.n; i++)
        free(t->cell.at[i]);
    vec_free(&t->cell);
    free(wide);
}

/* A bar in eighths of a character, so that small shares are visible. */
static void
put_bar(table *t, double share, const char *color)
{
    static const char *const eighth[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
    int n = (int)(fmin(fmax(share, 0), 1) * BAR * 8 + 0.5);
    strbuf b = { 0 };

    for (; n >= 8; n -= 8)
        strbuf_puts(&b, "█");
    strbuf_puts(&b, eighth[n > 0 ? n : 0]);
    if (!b.at || !*b.at)
        table_put(t, "%s", "");
    else
        vec_push(&t->cell, bg_format("%s%s%s", color ? color : "", b.at, color ? "\033[0m" : ""));
    strbuf_free(&b);
}

static void
put_unless_nan(table *t, double x)
{
    if (isnan(x))
        table_put(t, "-");
    else
        table_put(t, "%.4g", x);
}

const char *
decision_name(enum decision d)
{
    static const char *const name[] = { [DECISION_STAYS] = "stays",
                                        [DECISION_GOES] = "goes",
                                        [DECISION_KEPT] = "kept",
                                        [DECISION_SOURCE] = "source" };

    return name[d];
}

void
report_ranking(FILE *out, const ranking *r, const char *const *experiment, double threshold, bool terminal, bool color)
{
    int n = r->nper > 1 ? (int)r->nper : 0;
    bool shares = metric_unit(r->metric)[0] == '1' || n; /* the value is an index itself */
    table t = { .columns = 2 + n + (shares && !n ? 0 : 1) + 3 + terminal, .left = 2, .tail = terminal };
    double greatest = r->row.n ? r->row.at[0].index : 0;

    table_put(&t, r->metric == METRIC_REAPER ? "connection" : "element");
    table_put(&t, "type");
    for (int k = 0; k < n; k++)
        table_put(&t, "%s", experiment[k]);
    if (n)
        table_put(&t, "greatest");
    else if (!shares)
        table_put(&t, "%s [%s]", metric_name(r->metric), metric_unit(r->metric));
    table_put(&t, "%s", n ? "share" : shares ? metric_name(r->metric) : "index");
    table_put(&t, "cumulative");
    table_put(&t, "at %.6g %%", 100 * threshold);
    if (terminal)
        table_put(&t, "%s", "");
    for (size_t i = 0; i < r->row.n; i++) {
        const metric_row *x = &r->row.at[i];

        table_put(&t, "%s", x->name);
        table_put(&t, "%s%s", x->type, x->source ? " (source)" : "");
        for (int k = 0; k < n; k++) {
            const metric_row *one = r->per.at[i * r->nper + (size_t)k];

            if (one)
                table_put(&t, "%.2f %%", 100 * one->index);
            else
                table_put(&t, "-");
        }
        if (n)
            table_put(&t, "%.2f %%", 100 * x->value);
        else if (!shares)
            table_put(&t, "%.6g", x->value);
        table_put(&t, "%.2f %%", 100 * x->index);
        table_put(&t, "%.2f %%", 100 * x->cumulative);
        table_put(&t, "%s", x->source ? "-" : decision_name(x->decision));
        if (terminal)
            put_bar(&t, greatest > 0 ? x->index / greatest : 0, !color ? NULL : x->source ? "\033[90m" : "\033[36m");
    }
    if (!shares) {
        table_put(&t, "total");
        table_put(&t, "%s", "");
        table_put(&t, "%.6g", r->total);
        for (int k = 0; k < 3 + terminal; k++)
            table_put(&t, "%s", "");
    }
    table_print(&t, out, "");
}

void
report_ratios(FILE *out, const ratio_table *r, double limit, bool terminal, bool color)
{
    bool energy = r->metric == METRIC_RELATIVE;
    table t = { .columns = (energy ? 9 : 5) + terminal, .left = energy ? 4 : 1, .tail = terminal };

    if (energy) {
        table_put(&t, "element");
        table_put(&t, "type");
        table_put(&t, "at");
        table_put(&t, "neighbour");
        table_put(&t, "energy [J]");
        table_put(&t, "neighbour's [J]");
        table_put(&t, "of its energy (ratio9)");
        table_put(&t, "of what it stores (ratio10)");
    } else {
        table_put(&t, "bond");
        table_put(&t, "activity [J]");
        table_put(&t, "ratio from");
        table_put(&t, "ratio to");
    }
    table_put(&t, "below %.6g %%", 100 * limit);
    if (terminal)
        table_put(&t, "%s", "");
    for (size_t i = 0; i < r->row.n; i++) {
        const ratio_row *x = &r->row.at[i];
        bool again = energy && i && !strcmp(r->row.at[i - 1].of, x->of) && !strcmp(r->row.at[i - 1].from, x->from);
        bool negligible = ratio_negligible(r, x, limit);

        if (x->named)
            table_put(&t, "%s (%s -> %s)", x->of, x->from, x->to);
        else
            table_put(&t, "%s", again ? "" : x->of);
        if (energy) {
            table_put(&t, "%s", again ? "" : x->type);
            table_put(&t, "%s", again ? "" : x->from);
            table_put(&t, "%s", x->to);
            if (again)
                table_put(&t, "%s", "");
            else
                table_put(&t, "%.6g", x->value[RATIO_ENERGY]);
            table_put(&t, "%.6g", x->value[RATIO_NEIGHBOUR]);
            put_unless_nan(&t, x->value[RATIO_9]);
            put_unless_nan(&t, x->value[RATIO_10]);
        } else {
            table_put(&t, "%.6g", x->value[RATIO_ACTIVITY]);
            put_unless_nan(&t, x->value[RATIO_FROM]);
            put_unless_nan(&t, x->value[RATIO_TO]);
        }
        table_put(&t, "%s", negligible ? "negligible" : "");
        if (terminal)
            put_bar(&t,
                    energy ? fmax(x->value[RATIO_9], x->value[RATIO_10])
                           : fmax(x->value[RATIO_FROM], x->value[RATIO_TO]),
                    !color       ? NULL
                    : negligible ? "\033[90m"
                                 : "\033[36m");
    }
    table_print(&t, out, "");
}
