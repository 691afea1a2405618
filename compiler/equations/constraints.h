/* constraints.h - residual sources: `such that` expr is zero
 *
 * The unknown effort or flow of each residual source is a group of its own, its residual the expression. Where no
 * unknown can be matched to a residual, because what it reads is a function of states alone, the expression is
 * differentiated until one can (at most 3 times); it and its derivatives before the last then hold by themselves once
 * they hold, and are kept as constraints: drift is projected. Conditions with alternatives are not for this stage
 * (switched.h).
 * needs     every variable defined, rates included
 * provides  groups ready for blocks_sort; e->constraint
 * reports   residual-free (the condition reads nothing that the source could change), residual-twice (two conditions
 *           ask one unknown)
 * source    matching of equations and unknowns, and what is differentiated: Pantelides (1988), one condition at a time
 */
#ifndef BG_CONSTRAINTS_H
#define BG_CONSTRAINTS_H

#include "rates.h"

struct residual_source {
    var_id unknown;
    uint32_t group, port;
    var_id condition; /* the expression or its last derivative, VAR_NONE: not differentiated */
};
struct constraints {
    VEC(struct residual_source) source;
};

void constraints_add(struct constraints *k, struct groups *g, var_id unknown, inst residual, uint32_t port);
bool constraints_make(struct constraints *k, struct rates *r);
void constraints_free(struct constraints *k);

#endif
