/* rewrite_lines.c - statements deleted from a text, with their lines */
#include <string.h>

#include "rewrite_inside.h"

bool
rewrite_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Does a block open before `at`, with nothing but space between? */
static bool
opens_before(const char *t, size_t at)
{
    while (at > 0 && (rewrite_is_blank(t[at - 1]) || t[at - 1] == '\r' || t[at - 1] == '\n'))
        at--;
    return at > 0 && t[at - 1] == '{';
}

/* Where the empty lines at `at`, the start of a line, end. */
static size_t
behind_empty_lines(const char *t, size_t length, size_t at)
{
    for (size_t k = at; k < length; k++) {
        if (t[k] == '\n')
            at = k + 1;
        else if (!rewrite_is_blank(t[k]) && t[k] != '\r')
            break;
    }
    return at;
}

/* Where the text that ends before `at` ends, comments and empty lines left out. */
static size_t
text_before(const char *t, size_t at)
{
    for (;;) {
        size_t line = at, comment;

        while (at > 0 && strchr(" \t\r\f\v", t[at - 1]) && t[at - 1])
            at--;
        if (!at || t[at - 1] != '\n')
            return at;
        at--;
        for (line = at; line > 0 && t[line - 1] != '\n';)
            line--;
        for (comment = line; comment + 1 < at && (t[comment] != '/' || t[comment + 1] != '/');)
            comment++;
        if (comment + 1 < at)
            at = comment;
    }
}

/* What goes ends a list, 1:a, 1:b; whose rest stays: its last comma becomes the end. */
static void
end_list_before(edits *e, const char *t, const span *lost, size_t i)
{
    size_t at = text_before(t, lost[i].begin);

    while (i > 0 && lost[i - 1].end == at && t[at - 1] == ',')
        at = text_before(t, lost[--i].begin);
    if (at && t[at - 1] == ',')
        edits_replace(e, at - 1, at, ";", 1);
}

void
rewrite_delete_statements(edits *e, const char *t, size_t length, span *lost, size_t n)
{
    size_t taken = 0;   /* whole lines go up to here */
    bool first = false; /* and are the first of their block */

    if (n)
        qsort(lost, n, sizeof *lost, rewrite_span_order);
    for (size_t i = 0, j; i < n; i = j) {
        size_t begin = lost[i].begin, end = lost[i].end, left = begin, right = end, after;
        bool alone_left, alone_right;

        if (t[lost[i].end - 1] == ';')
            end_list_before(e, t, lost, i);
        /* neighbours on the line that go too */
        for (j = i + 1; j < n; j++) {
            size_t k = end;

            while (k < length && rewrite_is_blank(t[k]))
                k++;
            if (k != lost[j].begin)
                break;
            end = lost[j].end;
            if (t[end - 1] == ';')
                end_list_before(e, t, lost, j);
        }
        while (left > 0 && rewrite_is_blank(t[left - 1]))
            left--;
        for (right = end; right < length && rewrite_is_blank(t[right]);)
            right++;
        alone_left = left == 0 || t[left - 1] == '\n';
        after = right;
        if (after + 1 < length && t[after] == '/' && t[after + 1] == '/')
            while (after < length && t[after] != '\n')
                after++;
        if (after < length && t[after] == '\r')
            after++;
        alone_right = after == length || t[after] == '\n';
        if (alone_left && alone_right) {
            first = (first && left == taken) || opens_before(t, left);
            taken = after < length ? after + 1 : after;
            /* a block does not begin with an empty line because its first lines went */
            if (first)
                taken = behind_empty_lines(t, length, taken);
            edits_delete(e, left, taken);
        } else if (alone_left)
            edits_delete(e, begin, right);
        else
            edits_delete(e, left, end);
    }
}
