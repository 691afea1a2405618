/* rough.h - reformulates functions in a block for which Newton's method fails, through their inverses
 *
 * A root has an infinite slope at 0, an exponential overflows, a logarithm is undefined below 0. Where one of them
 * depends on an unknown of a block, its value becomes a further unknown u, with an equation in the direction that is
 * smooth everywhere:
 *
 *   u = root of a, spow(a, b < 1)    a - spow(u, 1/b) = 0
 *   u = exp(a), and a = ln(u)        G(u) - H(a) = 0,  G(u) = ln u above 1, u - 1 below;  H(a) = a above 0, exp(a) - 1
 * below u = sinh(a)                      asinh(u) - a = 0
 *
 * The middle one has the same zeros as u = exp(a) and a continuous slope: for large values it is the logarithm, for
 * small ones (a blocking junction) the exponential.
 */
#ifndef BG_ROUGH_H
#define BG_ROUGH_H

#include "equations.h"

typedef struct unfolding unfolding;

/* For the block being made, which is the last one: its unknowns from unknown0 on, its residuals from residual0 on. New
 * ones are appended. */
bool rough_grows(const equations *e, const map *variables, uint32_t residual0);
/* For what ideal switches and other laws determine together: n variables, none of which is solved yet. Square roots
 * stay: where a switch holds their argument at zero they are zero, whereas the square in the inverse equation has no
 * slope there. */
unfolding *rough_unfold(equations *e, uint32_t unknown0, uint32_t residual0);
/* A definition over unknowns of the block, rewritten with the unknowns made here where it contains their operations:
 * outside the block, the inverse of a blocking law would lose accuracy. With rough_among, new unknowns are made. */
unfolding *rough_among(equations *e, const var_id *v, size_t n);
/* A definition over unknowns of the block, with those made here where it has their operations: the inverse of a law
 * that blocks, read outside the block, loses what the block knows. Of rough_among: new ones are made. */
inst rough_reuse(unfolding *z, inst d);
void rough_free(unfolding *z);

#endif
