/* approach.h - resistors whose laws approach a limit, where a state drives them towards it
 *
 * A coil's current goes through a blocking diode, f = Is*(exp(e/V) - 1), or through f = I*tanh(e/V). The inverse that
 * gives e has a logarithm of what f leaves of the way to the limit, q(f) >= 0. Some hundred times V bring f so near the
 * limit that no number tells them apart; then f rests there, and e is what keeps it there:
 *
 *   e = G(f) + z    G with its logarithms continued below eps
 *   z = 0           while q > EPSILON
 *   q = EPSILON     while z < 0 at a lower limit, z > 0 at an upper one
 *
 * The last two are the conditions of an ideal diode, and z is solved for as that of one (switched.h). The current
 * differs from that of the law by EPSILON of the limit at most. eps is EPSILON too, until f has been greater than the
 * limit: what is next to nothing beside the greatest f of the run is as little known as its rounding, so that e, which
 * follows from it, would be noise when f leaves the limit. So eps is raised while f rests there (eq_near, set by the
 * nets' search). The same holds for a vessel whose pressure a law approaches, with e and f exchanged. Laws with tanh,
 * which have no inverse in the language, get theirs here. The inverse of a logistic law has the logarithm of a
 * quotient, which is that of two limits; that of a softplus law ln(exp(q) - 1).
 *
 * Laws side by side that approach limits at different rates, 0 = F(e, f), have no inverse in closed form. There G(f) is
 * an unknown of its own in F, with f continued so that no q is below 0; q is what f leaves of the way from its value at
 * e = 0 to that at e = +-infinity.
 */
#ifndef BG_APPROACH_H
#define BG_APPROACH_H

#include "switched.h"

struct switches;

/* needs     every variable defined, nothing that differentiates left to be made but for ideal switches
 * provides  groups of such resistors, listed with the ideal switches
 * cost      a look at each resistor's definition */
void approach_define(equations *e, struct groups *g, struct rates *r, struct switches *sw);

#endif
