/* poles.h - what the rates and powers divide by, where it may pass through zero; equations solved together whose
 * determinant may
 *
 * x/(1 - t) is finite at nearly every number and infinite between two of them: a step may pass from one side to the
 * other. Who makes steps looks at the divisors: one that has changed its sign was zero within the step.
 *
 * Divisors that cannot be zero (1 + x^2, exp(x)) and those of parameters alone are left out. tan(x) divides by cos(x).
 * Of equations solved together those count that are linear in their unknowns with coefficients that move: the others'
 * matrices are theirs at a solution, which has to be there: of these the unknowns are looked at (runtime/run/watch.h).
 *
 * needs    all variables defined
 * cost     linear in the equations
 */
#ifndef BG_POLES_H
#define BG_POLES_H

#include "equations.h"

/* var: in whose definition it is; VAR_NONE: of a block's equation or a power. block: its determinant it is, and var one
 * of its unknowns; NONE */
typedef struct eq_pole {
    inst divisor;
    var_id var;
    span at;
    uint32_t block;
} eq_pole;
typedef struct pole_list {
    eq_pole *at;
    size_t n, cap;
} pole_list;

/* Is it more than numbers that cannot be zero, as 1 + x^2 and exp(x)? */
bool poles_may_be_zero(const pool *p, node n);
/* Each once, of all that rates and powers need. */
void poles_find(equations *e, pole_list *out);

#endif
