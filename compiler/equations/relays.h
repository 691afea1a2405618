/* relays.h - which `if` is a relay: one at whose border its branches differ, and with them the law that reads it
 *
 * A conductance that depends on the sign of its own effort, f = e*(if e > 0 then a else b), has no jump: f is zero
 * where the condition changes. Branches are compared numerically at a few points of the border.
 */
#ifndef BG_RELAYS_H
#define BG_RELAYS_H

#include "equations.h"

/* Values for the slots of a template, of order 1 and all different. */
void relays_values(double *value, uint32_t n, uint64_t number);
/* Replaces every `if` on a combination of comparisons (and, or, not) by nested ones on a single comparison each. */
node relays_split(pool *p, node n);
/* n: an `if` (EX_SELECT) in `whole`. Does the whole jump at its border? */
bool relays_jumps(pool *p, node whole, node n);
/* [variable] signals that jump while nothing that reads them does (f = g*e with g = if e > 0 then a else b); NULL:
 * none. To be freed. Call before conditions become modes. */
bool *relays_smooth_signals(equations *e);

#endif
