/* carried.h - can a flow that a coil imposes always go on, or an effort that a vessel imposes?
 *
 * A bridge of blocking junctions carries the current of a coil in both directions if its load is a resistor: no
 * junction is ever driven to its limit. Two junctions that block in opposite directions do not. What decides is whether
 * the balances have a solution in which the coil's current grows beyond all bounds, and no other one over its limit:
 * linear inequalities. Where a further source or store is among the resistors, none of them may conduct (a bridge
 * beside a charged capacitor), so that what the coil imposes says nothing of the efforts.
 */
#ifndef BG_CARRIED_H
#define BG_CARRIED_H

#include "equations.h"

/* Which way the flow (or effort) of a resistor may grow without bound. */
enum { CARRIED_UP = 1, CARRIED_DOWN = 2 };
typedef struct carried_limits {
    void *ctx;
    unsigned (*ways)(void *ctx, uint32_t element, bool flow);
} carried_limits;

/* May a state drive flows (efforts) of the resistors that are joined with this one to a limit? No where gyrators,
 * fields or ideal switches are among them. The answer holds for all that are joined, so that it is found once for them.
 * cost: linear in their number; up to some hundred junctions, one linear program for each such state. */
typedef struct carried carried;
carried *carried_new(const equations *e, carried_limits limits);
void carried_free(carried *c); /* NULL is allowed */
bool carried_may_end(carried *c, uint32_t element, bool flow);

#endif
