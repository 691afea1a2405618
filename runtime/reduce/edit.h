/* edit.h - a set of changes to one text, checked for contradictions and applied once
 *
 * An edit replaces a half-open byte range of the original text. All ranges speak of the original, so that the order in
 * which edits are found does not matter. Deletions may overlap and merge. An insertion at the border of a deletion
 * survives. A replacement inside a deletion is dropped. An insertion inside a deletion, or two different replacements
 * that overlap, contradict each other.
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
    uint32_t serial;  /* order in which it was found; orders insertions at one place */
    size_t new_begin; /* where its text begins in the new text; known after edits_seal */
} edit;

typedef struct edits {
    VEC(edit) list;
    bool sealed;
} edits; /* {0} is empty */

void edits_delete(edits *e, size_t begin, size_t end);
void edits_insert(edits *e, size_t at, const char *text, size_t n);
void edits_replace(edits *e, size_t begin, size_t end, const char *text, size_t n);
/* Sorts and resolves the set for a text of `length` bytes. False: a contradiction, *why says which (free it). */
bool edits_seal(edits *e, size_t length, char **why);
/* The new text; the set is sealed. */
void edits_apply(const edits *e, const char *text, size_t length, strbuf *out);
/* Where byte `at` of the new text came from; for text that an edit brought, where that edit begins. */
size_t edits_origin(const edits *e, size_t at);
void edits_free(edits *e);

#endif
