/* constraints.h - residual sources: `such that` expr is zero
 *
 * The unknown effort or flow of each residual source forms a group with the expression as its residual. Where no
 * unknown can be matched to a residual, because it depends on states alone, the expression is differentiated until one
 * can (at most 3 times). The expression and its derivatives except the last are then constraints on the states: they
 * stay zero once they are, and drift is corrected by projection. Conditions with alternatives are handled in
 * switched.h.
 *
 * needs     every variable defined, rates included
 * provides  groups ready for blocks_sort; e->constraint
 * reports   residual-free (the condition reads nothing that the source could change), residual-twice (two conditions
 *           for one unknown)
 * source    matching of equations and unknowns, and what is differentiated: Pantelides (1988), one condition at a time
 */
#ifndef BG_CONSTRAINTS_H
#define BG_CONSTRAINTS_H

#include "rates.h"

struct residual_source {
    var_id unknown;
    uint32_t group, port;
    var_id condition; /* the expression or its last derivative; VAR_NONE: not differentiated */
};
struct constraints {
    VEC(struct residual_source) source;
};

void constraints_add(struct constraints *k, struct groups *g, var_id unknown, inst residual, uint32_t port);
bool constraints_make(struct constraints *k, struct rates *r);
void constraints_free(struct constraints *k);

#endif
