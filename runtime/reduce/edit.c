/* edit.c - a set of edits of one text, checked for conflicts and applied together */
#include <string.h>

#include "edit.h"

static void
add_edit(edits *e, size_t begin, size_t end, const char *text, size_t n)
{
    edit x = { .begin = begin, .end = end, .n = n, .serial = (uint32_t)e->list.n };

    if (begin == end && n == 0)
        return;
    if (n) {
        x.text = bg_malloc(n);
        memcpy(x.text, text, n);
    }
    vec_push(&e->list, x);
    e->sealed = false;
}

void
edits_delete(edits *e, size_t begin, size_t end)
{
    add_edit(e, begin, end, NULL, 0);
}
void
edits_insert(edits *e, size_t at, const char *text, size_t n)
{
    add_edit(e, at, at, text, n);
}
void
edits_replace(edits *e, size_t begin, size_t end, const char *text, size_t n)
{
    add_edit(e, begin, end, text, n);
}

static int
by_edit_place(const void *pa, const void *pb)
{
    const edit *a = pa, *b = pb;

    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return a->serial < b->serial ? -1 : a->serial > b->serial;
}

static bool
is_deletion(const edit *x)
{
    return x->n == 0;
}
static bool
is_insertion(const edit *x)
{
    return x->begin == x->end;
}

/* Merges overlapping deletions. Those that only touch stay separate: an insertion between them is at the border of
 * both. */
static void
merge_deletions(edits *e)
{
    size_t kept = 0, last = NO_INDEX; /* last: index among the kept ones of the deletion that reaches farthest */

    for (size_t i = 0; i < e->list.n; i++) {
        edit x = e->list.at[i];

        if (is_deletion(&x) && last != NO_INDEX && x.begin < e->list.at[last].end) {
            if (x.end > e->list.at[last].end)
                e->list.at[last].end = x.end;
            continue;
        }
        e->list.at[kept] = x;
        if (is_deletion(&x))
            last = kept;
        kept++;
    }
    e->list.n = kept;
}

/* A merged deletion may now include edits that begin later; a sweep from left to right resolves those inside it. */
bool
edits_seal(edits *e, size_t length, char **why)
{
    size_t kept = 0, deletion = NO_INDEX, replacement = NO_INDEX;

    *why = NULL;
    if (e->list.n)
        qsort(e->list.at, e->list.n, sizeof *e->list.at, by_edit_place);
    merge_deletions(e);
    if (e->list.n)
        qsort(e->list.at, e->list.n, sizeof *e->list.at, by_edit_place);
    for (size_t i = 0; i < e->list.n; i++) {
        edit x = e->list.at[i];
        const edit *d = deletion == NO_INDEX ? NULL : &e->list.at[deletion];
        const edit *r = replacement == NO_INDEX ? NULL : &e->list.at[replacement];
        bool dropped = false;

        if (x.end < x.begin || x.end > length) {
            *why = bg_format("an edit of bytes %zu to %zu lies outside the text of %zu bytes", x.begin, x.end, length);
        } else if (is_insertion(&x)) {
            if (d && x.begin > d->begin && x.begin < d->end)
                *why = bg_format("an insertion at byte %zu lies inside the deletion of bytes %zu to %zu", x.begin,
                                 d->begin, d->end);
            else if (r && x.begin > r->begin && x.begin < r->end)
                *why = bg_format("an insertion at byte %zu lies inside the replacement of bytes %zu to %zu", x.begin,
                                 r->begin, r->end);
        } else if (is_deletion(&x)) {
            if (r && x.begin < r->end) {
                if (r->begin == x.begin && r->end <= x.end)
                    e->list.at[replacement].begin = NO_INDEX; /* inside a deletion: dropped below */
                else
                    *why = bg_format("the deletion of bytes %zu to %zu cuts into a replacement", x.begin, x.end);
            }
        } else if (d && x.begin < d->end) {
            if (x.end <= d->end)
                dropped = true;
            else
                *why = bg_format("the replacement of bytes %zu to %zu is half inside a deletion", x.begin, x.end);
        } else if (r && r->begin != NO_INDEX && x.begin < r->end) {
            if (x.begin == r->begin && x.end == r->end && x.n == r->n && !memcmp(x.text, r->text, x.n))
                dropped = true;
            else
                *why = bg_format("two different replacements meet at byte %zu", x.begin);
        }
        if (*why || dropped) {
            free(x.text);
            if (*why) {
                /* the edits behind it are still in the list, which owns their texts */
                memmove(e->list.at + kept, e->list.at + i + 1, (e->list.n - i - 1) * sizeof *e->list.at);
                e->list.n = kept + e->list.n - i - 1;
                return false;
            }
            continue;
        }
        e->list.at[kept] = x;
        if (is_deletion(&x))
            deletion = kept;
        else if (!is_insertion(&x))
            replacement = kept;
        kept++;
    }
    e->list.n = kept;

    size_t out = 0, at = 0, n = 0;

    for (size_t i = 0; i < e->list.n; i++) {
        edit x = e->list.at[i];

        if (x.begin == NO_INDEX) {
            free(x.text);
            continue;
        }
        out += x.begin - at;
        x.new_begin = out;
        out += x.n;
        at = x.end;
        e->list.at[n++] = x;
    }
    e->list.n = n;
    e->sealed = true;
    return true;
}

void
edits_apply(const edits *e, const char *text, size_t length, strbuf *out)
{
    size_t at = 0;

    for (size_t i = 0; i < e->list.n; i++) {
        const edit *x = &e->list.at[i];

        strbuf_add(out, text + at, x->begin - at);
        if (x->n)
            strbuf_add(out, x->text, x->n);
        at = x->end;
    }
    strbuf_add(out, text + at, length - at);
}

size_t
edits_origin(const edits *e, size_t at)
{
    size_t low = 0, high = e->list.n;

    while (low < high) { /* binary search: number of edits that begin at or before `at` in the new text */
        size_t middle = low + (high - low) / 2;

        if (e->list.at[middle].new_begin <= at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return at;
    /* several edits can begin at one place (deletions have no text): take the one with text there */
    for (size_t i = low; i > 0 && e->list.at[i - 1].new_begin + e->list.at[i - 1].n > at; i--)
        if (at >= e->list.at[i - 1].new_begin)
            return e->list.at[i - 1].begin;
    return e->list.at[low - 1].end + (at - e->list.at[low - 1].new_begin - e->list.at[low - 1].n);
}

void
edits_free(edits *e)
{
    for (size_t i = 0; i < e->list.n; i++)
        free(e->list.at[i].text);
    vec_free(&e->list);
    e->sealed = false;
}
