/* edit.h - a set of edits of one text, checked for conflicts and applied together
 *
 * An edit replaces a half-open byte range of the original text. All ranges refer to the original, so that the order in
 * which edits are found does not matter. Deletions may overlap; they are merged. An insertion at the border of a
 * deletion is kept. A replacement inside a deletion is dropped. An insertion inside a deletion, and two different
 * replacements that overlap, are conflicts.
 *
 * ownership  texts are copied
 */
#ifndef BG_EDIT_H
#define BG_EDIT_H

#include "base.h"

typedef struct edit {
    size_t begin, end; /* begin == end: insertion */
    char *text;
    size_t n;         /* n == 0: deletion */
    uint32_t serial;  /* number in the order of addition; orders insertions at one place */
    size_t new_begin; /* start of its text in the new text; set by edits_seal */
} edit;

typedef struct edits {
    VEC(edit) list;
    bool sealed;
} edits; /* {0} is empty */

void edits_delete(edits *e, size_t begin, size_t end);
void edits_insert(edits *e, size_t at, const char *text, size_t n);
void edits_replace(edits *e, size_t begin, size_t end, const char *text, size_t n);
/* Sorts the set and resolves overlaps, for a text of `length` bytes. False: a conflict, *why (free() it) names it. */
bool edits_seal(edits *e, size_t length, char **why);
/* Makes the new text; the set must be sealed. */
void edits_apply(const edits *e, const char *text, size_t length, strbuf *out);
/* The place in the original of byte `at` of the new text; for text that an edit inserted, the place of that edit. */
size_t edits_origin(const edits *e, size_t at);
void edits_free(edits *e);

#endif
