/* effects.h - derivatives of eigenvalues by every parameter of the text, and by the slope of every element's law
 *
 * For a single eigenvalue dlambda = w dA u; for a cluster they follow from the matrix W dA U of its rows and columns
 * (linearize.h, effect_table).
 *   at     at fixed states and inputs: dA/dtheta includes the change of algebraic variables
 *   total  at an equilibrium, which moves with the parameter: dx = -A^-1 df/dtheta, conserved quantities being fixed
 * E_IC and E_R from the structure: dA/ds_j = J e_j e_j^T (plus the part of dependent storage), dA/dl_j = K e_j
 * (d_in)_j. Where ideal switches constrain states there are no such J: then the same products in structure_pencil.h are
 * used, with the vectors of held_modes.h.
 *
 * Formula (17) as printed in Orbak, Eskinat, Turkay (2004) is wrong where J_LL is not 0; the one used here is right.
 */
#ifndef BG_EFFECTS_H
#define BG_EFFECTS_H

#include "linearize.h"

#define EFFECT_ROUNDING 1e-12      /* of the greatest eigenvalue: a smaller effect counts as none */
#define CLEARLY_GREATER (1 + 1e-9) /* ratio: of values equal except for rounding the first one is taken */

/* Fills l->effect, l->holder and the E of elements. by: the parameters; all: the linear model in the model's order,
 * whose B begins with the columns of `by`. held: for a model with ideal switches (held_modes.h), else NULL; modes are
 * kept, and totals are computed if no state is constrained. */
void effects_find(linearization *l, const var_id *by, size_t n, const state_space *all, const held_space *held);

#endif
