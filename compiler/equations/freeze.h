/* freeze.h - conditions become modes, literals become data
 *
 * needs     insts as elaborated
 * provides  each relation, abs, sign, min, max and table look-up that depends on more than parameters is replaced by a
 *           mode variable, constant between events; each number that is not 0, 1, -1 or an exponent becomes a literal
 *           variable, so that laws that differ in numbers alone are one template
 * sign(x)   becomes a variable s that the equations stage defines (stick.c), with two modes: slip, the sign of x, and
 *           stick, whether s is whatever in -1..1 keeps x at 0. Where x is over time alone it cannot be kept anywhere,
 *           and is two conditions.
 * relays    an `if` by a comparison at whose border it jumps has while that stick is on the value between its branches
 *           that sign(x) gives
 */
#ifndef BG_FREEZE_H
#define BG_FREEZE_H

#include "equations.h"

typedef struct freezer freezer;
freezer *freezer_new(equations *e);
void freezer_free(freezer *z);
/* ROOTS: square roots and powers that are no whole numbers, of what varies, are continued below 0 as odd functions, so
 * that a trial step or an iteration may look there, with a mode that watches where they are taken (MODE_DOMAIN).
 * RELAYS: relays may slide. Where only instants look (events) and in the conditions of ideal switches, which have their
 * own way of being in between, they do not. */
enum { FREEZE_ROOTS = 1, FREEZE_RELAYS = 2 };
/* at: place of the expression, for the modes made here. */
inst freeze(freezer *z, inst i, unsigned how, span at);

#endif
