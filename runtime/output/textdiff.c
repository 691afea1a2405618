/* textdiff.c - see textdiff.h */
#include <string.h>
#include <unistd.h>

#include "quote.h"
#include "textdiff.h"

enum { CONTEXT = 3 };

struct text {
    const char *at;
    size_t n;
    VEC(size_t) line;
}; /* line: start of each line, and the end of the text */

struct look {
    bool terminal, color;
};

/* One line of the diff. */
struct row {
    char mark;
    size_t old_line, new_line;
}; /* line numbers from 0; where a side lacks the line, that of its next line */

static void
split_lines(struct text *t)
{
    for (size_t i = 0; i < t->n;) {
        const char *end = memchr(t->at + i, '\n', t->n - i);

        vec_push(&t->line, i);
        i = end ? (size_t)(end + 1 - t->at) : t->n;
    }
    vec_push(&t->line, t->n);
}

static bool
same_line(const struct text *a, size_t i, const struct text *b, size_t j)
{
    size_t n = a->line.at[i + 1] - a->line.at[i];

    return n == b->line.at[j + 1] - b->line.at[j] && !memcmp(a->at + a->line.at[i], b->at + b->line.at[j], n);
}

static void
print_row(FILE *out, const struct text *a, const struct text *b, const struct row *r, const struct look *look)
{
    const struct text *t = r->mark == '+' ? b : a;
    size_t line = r->mark == '+' ? r->new_line : r->old_line;
    size_t n = t->line.at[line + 1] - t->line.at[line];
    bool ended = n && t->at[t->line.at[line] + n - 1] == '\n';

    fprintf(out, "%s%c",
            look->color && r->mark == '-'   ? "\033[31m"
            : look->color && r->mark == '+' ? "\033[32m"
                                            : "",
            r->mark);
    if (look->terminal) {
        strbuf shown = { 0 };

        quote(&shown, QUOTE_LINES, t->at + t->line.at[line], n - ended);
        fwrite(shown.at, 1, shown.n, out);
        strbuf_free(&shown);
    } else {
        fwrite(t->at + t->line.at[line], 1, n - ended, out);
    }
    fputs(look->color && r->mark != ' ' ? "\033[0m\n" : "\n", out);
    if (!ended)
        fputs("\\ No newline at end of file\n", out);
}

static void
print_hunk(FILE *out, const struct text *a, const struct text *b, const struct row *row, size_t n,
           const struct look *look)
{
    size_t old_n = 0, new_n = 0;

    for (size_t i = 0; i < n; i++) {
        old_n += row[i].mark != '+';
        new_n += row[i].mark != '-';
    }
    fprintf(out, "@@ -%zu,%zu +%zu,%zu @@\n", row[0].old_line + (old_n > 0), old_n, row[0].new_line + (new_n > 0),
            new_n);
    for (size_t i = 0; i < n; i++)
        print_row(out, a, b, &row[i], look);
}

void
textdiff_print(FILE *out, const char *old_name, const char *old_text, size_t old_n, const char *new_name,
               const char *new_text, size_t new_n, size_t (*origin)(void *ctx, size_t at), void *ctx, bool color)
{
    const struct look look = { isatty(fileno(out)) == 1, color };
    struct text a = { old_text, old_n, { 0 } }, b = { new_text, new_n, { 0 } };
    VEC(struct row) row = { 0 };
    size_t i = 0, nold, nnew;

    split_lines(&a);
    split_lines(&b);
    nold = a.line.n - 1;
    nnew = b.line.n - 1;
    for (size_t j = 0; j < nnew; j++) {
        size_t from = origin(ctx, b.line.at[j]), k = i;

        /* the old line from which this one came, if it is the same and not yet used */
        while (k < nold && a.line.at[k + 1] <= from)
            k++;
        if (k < nold && a.line.at[k] <= from && same_line(&a, k, &b, j)) {
            for (; i < k; i++)
                vec_push(&row, ((struct row){ '-', i, j }));
            vec_push(&row, ((struct row){ ' ', i, j }));
            i++;
        } else {
            /* removed lines come first */
            for (; i < k || (i == k && k < nold && a.line.at[k] <= from); i++)
                vec_push(&row, ((struct row){ '-', i, j }));
            vec_push(&row, ((struct row){ '+', i, j }));
        }
    }
    for (; i < nold; i++)
        vec_push(&row, ((struct row){ '-', i, nnew }));

    bool headed = false;

    for (size_t r = 0; r < row.n;) {
        size_t first, last, end;

        if (row.at[r].mark == ' ') {
            r++;
            continue;
        }
        first = r > CONTEXT ? r - CONTEXT : 0;
        last = r; /* the last change of this hunk */
        for (end = r; end < row.n && end - last <= 2 * CONTEXT; end++)
            if (row.at[end].mark != ' ')
                last = end;
        end = last + 1 + CONTEXT < row.n ? last + 1 + CONTEXT : row.n;
        if (!headed)
            fprintf(out, "--- %s\n+++ %s\n", old_name, new_name);
        headed = true;
        print_hunk(out, &a, &b, row.at + first, end - first, &look);
        r = end;
    }
    vec_free(&row);
    vec_free(&a.line);
    vec_free(&b.line);
}
