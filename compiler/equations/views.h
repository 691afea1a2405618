/* views.h - an expression as one of its variables sees it
 *
 * Laws of different elements say the same of a variable each, L(e1, p) and L(e2, p), although their templates may have
 * their slots in another order, and equal numbers in their texts are several variables. Their views are equal: the
 * variable is slot 0, the others follow in ascending order, and numbers of the text are constants.
 */
#ifndef BG_VIEWS_H
#define BG_VIEWS_H

#include "equations.h"

typedef VEC(var_id) view_variables;
typedef struct view {
    node root; /* NODE_NONE: there is no view */
    uint32_t others0, n;
} view; /* the variables of its slots from 1 on: n from others0 on in the list that view_from was given */

/* i seen from one of its variables; appends to *others. whole: conditions on that variable are written out, though they
 * are modes already; there is no view of what else than comparisons and pieces of tables chooses. */
view view_from(equations *e, inst i, var_id from, bool whole, view_variables *others);

/* Is root a multiple of each of its flagged slots, added up? value: of the n slots, 0 where flagged. factor[k]: of
 * flagged slot k, neither zero nor infinite where true is returned. */
bool view_is_combination(pool *p, node root, const bool *flag, const double *value, uint32_t n, double *factor);

#endif
