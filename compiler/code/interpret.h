/* interpret.h - values of all variables at a point, from those of states, parameters and unknowns of blocks
 *
 * Definitions as formulas in order of evaluation: shared by the instances of a model, made when values are first
 * needed.
 */
#ifndef BG_INTERPRET_H
#define BG_INTERPRET_H

#include "formula.h"
#include "kinds.h"

struct equations;

typedef struct interpret_program {
    formula_book book;
    VEC(var_id) var;  /* in the order of evaluation */
    VEC(formula) def; /* parallel to them */
    /* by index in x; by index in the modes, which held unknowns follow; unknowns of blocks */
    VEC(var_id) state, mode, unknown;
    bool *moves; /* [variable] rates, conditions or blocks depend on it */
} interpret_program;

/* position: index of states in x, by variable */
interpret_program *interpret_program_new(const struct equations *e, const uint32_t *position);
void interpret_program_free(interpret_program *g);

/* v has one entry for each variable; parameters, literals and unknowns of blocks must be set. Returns the first
 * variable that is not finite although what it reads is (VAR_NONE: there is none); variables on which the motion
 * depends come before those only for outputs, which are evaluated only if `all`. */
var_id interpret(const interpret_program *g, double t, const double *x, const double *modes, double *v, bool all);

#endif
