/* curvature.h - derivatives of the linear model by states and parameters: second derivatives of the equations,
 * contracted
 *
 * All equations together are 0 = G(y, x, q), where y are all computed variables (including unknowns of blocks), x the
 * states, q parameters; the rates dx/dt are some of the y. For vectors `left` and `right` over the states, left^T A
 * right is linear in the first derivatives of G, with y depending on x; its gradient by x and q needs the second ones:
 *     U = -G_y^-1 G_x right,  V = -G_y^-T E^T left      (E selects the rates from y)
 *     left^T A right = V^T (G_x right) + ...,
 *     gradient by any p of  V^T (dG/d(x,y)) (right, U),  plus the effect of y: dy/dp = -G_y^-1 G_p.
 * The derivatives are exact: symbolic, made once for each template, and stored as formulas, so that what they are made
 * from may be freed. Modes and time are constant.
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

/* position: index of states in x, by variable. by: parameters (moved with what is computed from them). held: in
 * everything that follows, quantities determined by ideal switches come after the states, and their conditions after
 * the rates (equations/switched.h). */
curvature *curvature_new(struct equations *e, const uint32_t *position, const var_id *by, size_t n, bool held);
void curvature_free(curvature *c);
/* v: values of all variables at the point (interpret.h); fixed: parameters set from outside. False: a derivative is not
 * finite there, or G_y is singular. */
bool curvature_at(curvature *c, const double *v, const bool *fixed);
/* d(left^T A right)/dx [nstates, and held] and /dq [n]; either may be NULL. No conjugation. */
bool curvature_gradient(curvature *c, const double complex *left, const double complex *right, double complex *by_state,
                        double complex *by_parameter);

#endif
