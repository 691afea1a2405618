/* diff.h - what two models differ in: parts, values, laws, bonds; and their trajectories
 *
 * Parts are matched by name. Both graphs as elaborated, before any later stage.
 */
#ifndef BG_DIFF_H
#define BG_DIFF_H

#include "flat.h"

enum diff_what { DIFF_ELEMENT, DIFF_JUNCTION, DIFF_BOND, DIFF_PARAMETER, DIFF_SIGNAL, DIFF_OUTPUT, DIFF_EXPERIMENT };
typedef struct diff_entry {
    enum diff_what what;
    char *name;
    char *change; /* changed: "law: 2*f -> 3*f"; NULL else */
} diff_entry;

typedef struct diff {
    VEC(diff_entry) removed, added, changed;
} diff;

const char *diff_what_name(enum diff_what w);
void diff_make(const flat_model *a, const flat_model *b, diff *out);
/* Adds what experiments of the files differ in, statement by statement, however they are laid out. */
void diff_experiments(const sources *sa, const ast_file *a, const sources *sb, const ast_file *b, diff *out);
void diff_free(diff *d);

#endif
