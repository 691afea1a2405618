/* relays.h - which choices jump: an `if` at whose border the branches differ, and with them the law that reads it
 *
 * A conductance that depends on the sign of its own effort, f = e*(if e > 0 then a else b), has no jump: f is zero
 * where the choice changes. Branches are compared at a few points of the border, by numbers.
 */
#ifndef BG_RELAYS_H
#define BG_RELAYS_H

#include "equations.h"

/* Values for the slots of a template, of order 1 and all different. */
void relays_values(double *value, uint32_t n, uint64_t number);
/* Every `if` on a combination of comparisons as a tree of such with one comparison each. */
node relays_split(pool *p, node n);
/* n: a choice (EX_SELECT) in `whole`. Does the whole jump at its border? */
bool relays_jumps(pool *p, node whole, node n);
/* [variable] signals that jump although nothing that reads them does (f = g*e with g = if e > 0 then a else b); NULL:
 * none. To be freed. Before conditions become modes. */
bool *relays_smooth_signals(equations *e);

#endif
