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
 * Of laws that share what a state imposes, in a bridge, in rows side by side, each is such a switch, f = g(e) too: f is
 * then an unknown with e = G(f) + z as its equation. They are solved together, by a net. That takes longer than a block
 * does, so it is done only where one of them may be driven to its limit (carried.h).
 */
#ifndef BG_APPROACH_H
#define BG_APPROACH_H

#include "switched.h"

struct switches;

/* needs     every variable defined, nothing that differentiates left to be made but for ideal switches
 * provides  groups of such resistors, listed with the ideal switches
 * cost      a look at each resistor's definition; for loops of such resistors that of carried.h */
void approach_define(equations *e, struct groups *g, struct rates *r, struct switches *sw);

#endif
