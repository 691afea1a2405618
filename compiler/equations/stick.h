/* stick.h - sign(x) as a variable that can keep x at zero
 *
 * needs     every variable except the s of e->sign explicit, given, a state, an unknown of a group, or a rate not asked
 *           for
 * provides  each s as the unknown of a group: s = slip, or while its stick mode is on the value that keeps x at zero.
 *           Where x depends on s through equations alone (friction on a massless joint) the condition is x = 0;
 *           otherwise s acts on x through states (friction on a mass), and it is der(x) = 0. Where neither depends on s
 *           the group has no solution while stick is on, and the runtime leaves it off. Relays (freeze.h) that no s can
 *           keep on their border become plain conditions here: their s is 0, and their stick mode is never on.
 * time      linear in the equations; for a relay, in what its border and the rates there depend on
 */
#ifndef BG_STICK_H
#define BG_STICK_H

#include "rates.h"

void stick_define(equations *e, struct groups *g, struct rates *r);

#endif
