/* poles.h - divisors in rates and powers that may pass through zero, and determinants of blocks that may
 *
 * x/(1 - t) is finite at nearly every number and infinite at one in between: a step may cross from one side to the
 * other unnoticed. The integrator watches the divisors: one that changed its sign was zero within the step.
 *
 * Divisors that cannot be zero (1 + x^2, exp(x)) and those of parameters alone are left out. tan(x) divides by cos(x).
 * Of blocks those are listed that are linear in their unknowns with varying coefficients. Matrices of nonlinear blocks
 * are defined only at a solution: for these the unknowns are watched instead (runtime/run/watch.h).
 *
 * needs    all variables defined
 * cost     linear in the equations
 */
#ifndef BG_POLES_H
#define BG_POLES_H

#include "equations.h"

/* var: the variable whose definition contains it; VAR_NONE: it is in a block's equation or a power. block: the block
 * whose determinant it is (var is then one of its unknowns); NONE */
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

/* Can it be zero, unlike 1 + x^2 and exp(x)? */
bool poles_may_be_zero(const pool *p, node n);
/* Lists each once, for everything that rates and powers need. */
void poles_find(equations *e, pole_list *out);

#endif
