/* stick.h - sign(x) as a variable that may keep x at zero
 *
 * needs     every variable but the s of e->sign explicit, given, a state, an unknown of a group, or a rate not asked
 *           for
 * provides  each s as the unknown of a group: s = slip, or while its stick mode is on what keeps x at zero. Where x
 *           depends on s through equations alone (friction on a massless joint) that is x = 0; else s can change it
 *           through states only (friction on a mass), and der(x) = 0. Where neither reads s the group has no solution
 *           while stick is on, and the runtime leaves it off. Relays (freeze.h) that no s could keep on their border
 *           are plain conditions from here on: their s is 0, and no mode of theirs is ever on.
 * time      linear in the equations; of a relay, in what its border and the rates there follow from
 */
#ifndef BG_STICK_H
#define BG_STICK_H

#include "rates.h"

void stick_define(equations *e, struct groups *g, struct rates *r);

#endif
