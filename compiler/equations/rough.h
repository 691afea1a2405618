/* rough.h - reformulates functions in a block for which Newton's method fails, through their inverses
 *
 * A root has an infinite slope at 0, an exponential overflows, a logarithm is undefined below 0. Where one of them
 * depends on an unknown of a block, its value becomes a further unknown u, with an equation in the direction that is
 * smooth everywhere:
 *
 *   root:         u = spow(a, b), b < 1      a - spow(u, 1/b) = 0
 *   exponential:  u = exp(a), or a = ln(u)   G(u) - H(a) = 0,  G(u) = ln u for u > 1, else u - 1,
 *                                                              H(a) = a for a > 0, else exp(a) - 1
 *   sinh:         u = sinh(a)                asinh(u) - a = 0
 *
 * The equation of the exponential has the same zeros as u = exp(a) and a continuous slope: for large values it is the
 * logarithm, for small ones (a blocking junction) the exponential.
 */
#ifndef BG_ROUGH_H
#define BG_ROUGH_H

#include "equations.h"

typedef struct unfolding unfolding;

/* Do the residuals from residual0 on have an exponential or logarithm of one of the variables (keys of the map)? */
bool rough_grows(const equations *e, const map *variables, uint32_t residual0);
/* For the block being made, which is the last one: its unknowns from unknown0 on, its residuals from residual0 on. New
 * ones are appended. rough_free it. */
unfolding *rough_unfold(equations *e, uint32_t unknown0, uint32_t residual0);
/* For what ideal switches and other laws determine together: n variables, none of which is solved yet; unknowns are
 * made by rough_reuse. Roots stay: where a switch holds their argument at zero they are zero, whereas the power in the
 * inverse equation has no slope there. rough_free it. */
unfolding *rough_among(equations *e, const var_id *v, size_t n);
/* A definition over unknowns of the block, with the unknowns made for its rough operations in their place: computed
 * anew outside the block, the inverse of a law that blocks would lose the accuracy that the block has. Of rough_among:
 * makes new ones, appended to the equations' unknowns and residuals. */
inst rough_reuse(unfolding *z, inst d);
void rough_free(unfolding *z);

#endif
