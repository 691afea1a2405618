/* rewrite_without.h - takes parts of components, loops and arrays out, by `without`
 *
 * What one text makes several times has no line of its own to take away: `without drag[3..5];` behind its loop, or
 * `Axle:front(...) without Btire;` at its component, takes single copies out. Where all copies of a line of a loop go,
 * the line goes. The text of other files is never touched.
 *
 * needs    the flat model of the text; what the planner of rewrite.c takes out of the text itself
 * cost     n log n in what is taken out, linear in the model
 */
#ifndef BG_REWRITE_WITHOUT_H
#define BG_REWRITE_WITHOUT_H

#include "rewrite.h"

/* Which of the named elements only `without` can take out: those of a component, loop or array, or of an `if` of the
 * text. */
void without_elements(const flat_model *f, const char *const *name, size_t n, bool *is);

/* wanted: interned names of such elements, the most important first; clamped: those whose junction's common variable is
 * to be zero
 * (`without mass[3].f`); gone: names that the text itself loses (elements, junctions, two-ports). Adds edits, items and
 * blocked elements to r, and to lost[] the statements that go with their line (free lost->at). */
typedef struct without_lost {
    VEC(span) list;
} without_lost;
bool without_plan(const flat_model *f, const ast_file *file, const char *const *wanted, size_t n,
                  const char *const *clamped, size_t nclamped, const char *const *gone, size_t ngone,
                  without_lost *lost, rewrite *r);

#endif
