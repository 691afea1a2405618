/* effects.h - how eigenvalues move: with every parameter of the text, and with the slope of every element's law
 *
 * Of a single eigenvalue dlambda = w dA u; of a cluster the matrix W dA U of its rows and columns says it (linearize.h,
 * effect_table).
 *   at     states and inputs fixed: what dA/dtheta is, algebraic variables following
 *   total  at an equilibrium, which moves with the parameter: dx = -A^-1 df/dtheta, what the motion conserves staying
 * E_IC and E_R from the structure: dA/ds_j = J e_j e_j^T (+ what dependent storage adds), dA/dl_j = K e_j (d_in)_j.
 * Where ideal switches constrain states there are no such J: the same products in structure_pencil.h, with vectors of
 * held_modes.h.
 * The formula printed as (17) in Orbak, Eskinat, Turkay (2004) is wrong where J_LL is not 0; this one is right.
 */
#ifndef BG_EFFECTS_H
#define BG_EFFECTS_H

#include "linearize.h"

/* Fills l->effect, l->holder and the E of elements. by: the parameters; all: the linear model in the model's order,
 * whose B has the columns of `by` first. held: for a model with ideal switches (held_modes.h), else NULL; modes stay
 * as they are, and totals are found if no state is constrained. */
void effects_find(linearization *l, const var_id *by, size_t n, const state_space *all, const held_space *held);

#endif
