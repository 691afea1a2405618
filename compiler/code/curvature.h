/* curvature.h - how the linear model at a point moves with states and parameters: second derivatives of the equations,
 * contracted
 *
 * All equations together are 0 = G(y, x, q): y every variable that is computed (of blocks too), x states, q parameters;
 * the rates dx/dt are some of the y. For vectors `left` and `right` over the states, left^T A right is linear in the
 * first derivatives of G, with y following x; and its gradient by x and q needs the second ones:
 *     U = -G_y^-1 G_x right,  V = -G_y^-T E^T left      (E picks the rates out of y)
 *     left^T A right = V^T (G_x right) + ...,
 *     gradient by anything p of  V^T (dG/d(x,y)) (right, U),  plus what y does: dy/dp = -G_y^-1 G_p.
 * Exact: the derivatives are symbolic, made once for each template, and kept as formulas: what they are made from may
 * go. Modes stay as they are. Time is held.
 *
 * cost     curvature_at: the equations; curvature_gradient: the nonzero second derivatives, and three solutions with
 *          the factored G_y
 */
#ifndef BG_CURVATURE_H
#define BG_CURVATURE_H

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>

#include "kinds.h"

struct equations;
typedef struct curvature curvature;

/* position: of states in x, by variable. by: parameters (moved with what is computed from them). held: what ideal
 * switches determine stands behind the states, and the values of its conditions behind the rates, in all that follows
 * (equations/switched.h). */
curvature *curvature_new(struct equations *e, const uint32_t *position, const var_id *by, size_t n, bool held);
void curvature_free(curvature *c);
/* v: numbers of all variables at the point (interpret.h); fixed: parameters set from outside. False: a derivative is
 * not finite there, or G_y is singular. */
bool curvature_at(curvature *c, const double *v, const bool *fixed);
/* d(left^T A right)/dx [nstates, and held] and /dq [n]; either may be NULL. No conjugation. */
bool curvature_gradient(curvature *c, const double complex *left, const double complex *right, double complex *by_state,
                        double complex *by_parameter);

#endif
