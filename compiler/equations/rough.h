/* rough.h - functions in a block that Newton's method cannot follow: by their inverses
 *
 * A root has an infinite slope at 0, an exponential grows out of all bounds, a logarithm ends. Where one reads an
 * unknown of a block, its value becomes an unknown u of its own, and its equation the direction that is smooth
 * everywhere:
 *
 *   u = root of a, spow(a, b < 1)    a - spow(u, 1/b) = 0 u = exp(a), and a = ln(u)        G(u) - H(a) = 0,  G(u) = ln
 *   u above 1, u - 1 below;  H(a) = a above 0, exp(a) - 1 below
 *   u = sinh(a)                      asinh(u) - a = 0
 *
 * The middle one has the same zeros as u = exp(a) and one continuous slope: for large values it is the logarithm, for
 * small ones (a junction that blocks) the exponential.
 */
#ifndef BG_ROUGH_H
#define BG_ROUGH_H

#include "equations.h"

typedef struct unfolding unfolding;

/* Do residuals from residual0 on have exponentials or logarithms of these variables? */
bool rough_grows(const equations *e, const map *variables, uint32_t residual0);
/* For the block being made, the last one: its unknowns from unknown0 on, its residuals from residual0 on. New ones come
 * behind them. */
unfolding *rough_unfold(equations *e, uint32_t unknown0, uint32_t residual0);
/* For what ideal switches and other laws determine together: among n variables, none of which is solved for yet. Roots
 * stay: where a switch holds their argument at zero, they are zero, and the square beside it is not. */
unfolding *rough_among(equations *e, const var_id *v, size_t n);
/* A definition over unknowns of the block, with those made here where it has their operations: the inverse of a law
 * that blocks, read outside the block, loses what the block knows. Of rough_among: new ones are made. */
inst rough_reuse(unfolding *z, inst d);
void rough_free(unfolding *z);

#endif
