/* diff.h - the differences of two models: parts, values, laws, bonds; and their trajectories
 *
 * Parts are matched by name. Both graphs are as elaborated, before any later stage.
 */
#ifndef BG_DIFF_H
#define BG_DIFF_H

#include "flat.h"

enum diff_what { DIFF_ELEMENT, DIFF_JUNCTION, DIFF_BOND, DIFF_PARAMETER, DIFF_SIGNAL, DIFF_OUTPUT, DIFF_EXPERIMENT };
typedef struct diff_entry {
    enum diff_what what;
    char *name;
    char *change; /* "law: 2*f -> 3*f"; NULL: not a change */
} diff_entry;

typedef struct diff {
    VEC(diff_entry) removed, added, changed;
} diff;

const char *diff_what_name(enum diff_what w);
void diff_make(const flat_model *a, const flat_model *b, diff *out);
/* Adds the differences of the files' experiments, statement by statement, whatever their layout. */
void diff_experiments(const sources *sa, const ast_file *a, const sources *sb, const ast_file *b, diff *out);
void diff_free(diff *d);

#endif
