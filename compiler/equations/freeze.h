/* freeze.h - conditions become modes, literals become data
 *
 * needs     insts as elaborated
 * provides  each relation, abs, sign, min, max and table look-up that depends on more than parameters is replaced by a
 *           mode variable, constant between events; each number other than 0, 1, -1 and exponents becomes a literal
 *           variable, so that laws that differ only in numbers share one template
 * sign(x)   becomes a variable s that the equations stage defines (stick.c), with two modes: slip, the sign of x, and
 *           stick, which tells that s is the value in -1..1 that keeps x at 0. Where x depends on time alone it cannot
 *           be kept at 0, and sign(x) is two conditions.
 * relays    an `if` with a comparison at whose border it jumps: while the stick mode is on it has the value between its
 *           branches that sign(x) determines
 */
#ifndef BG_FREEZE_H
#define BG_FREEZE_H

#include "equations.h"
#include "relays.h"

typedef struct freezer freezer;
freezer *freezer_new(equations *e, relays *r);
void freezer_free(freezer *z);
/* ROOTS: square roots and powers with non-integer exponents of a varying argument are continued below 0 as odd
 * functions, so that a trial step or an iteration may evaluate them there; a mode watches where the root is used
 * (MODE_DOMAIN). RELAYS: relays may slide. They do not where only instants count (events), nor in the conditions of
 * ideal switches, which handle intermediate values in their own way. */
enum { FREEZE_ROOTS = 1, FREEZE_RELAYS = 2 };
/* at: place of the expression, for the modes made here. */
inst freeze(freezer *z, inst i, unsigned how, span at);
/* A mode of its own, of enum mode_kind, on g. table: of MODE_PIECE. */
uint32_t freeze_new_mode(equations *e, uint8_t kind, inst g, uint32_t table, span at);

#endif
