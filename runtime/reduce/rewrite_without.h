/* rewrite_without.h - takes parts of components, loops and arrays out, by `without`
 *
 * A part of which one line of text makes several copies has no line of its own to delete: `without drag[3..5];` behind
 * its loop, or `Axle:front(...) without Btire;` at its component, removes single copies. Where all copies of a line in
 * a loop are removed, the line is deleted. The text of other files is never changed.
 *
 * needs    the flat model of the text; what the planner of rewrite.c removes from the text itself
 * cost     n log n in what is taken out, linear in the model
 */
#ifndef BG_REWRITE_WITHOUT_H
#define BG_REWRITE_WITHOUT_H

#include "rewrite.h"

/* Marks the named elements that only `without` can take out: those of a component, loop or array, or of an `if`. */
void without_elements(const flat_model *f, const char *const *name, size_t n, bool *is);

/* wanted: interned names of such elements, the most important first. clamped: those whose junction's common variable is
 * to be zero (`without mass[3].f`). gone: names that are removed from the text itself (elements, junctions, two-ports).
 * Adds edits, items and blocked elements to r, and to lost[] the statements to delete with their line (free
 * lost->at). */
typedef struct without_lost {
    VEC(span) list;
} without_lost;
bool without_plan(const flat_model *f, const ast_file *file, const char *const *wanted, size_t n,
                  const char *const *clamped, size_t nclamped, const char *const *gone, size_t ngone,
                  without_lost *lost, rewrite *r);

#endif
