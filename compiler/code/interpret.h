/* interpret.h - numbers of all variables at a point, from those of states, parameters and blocks' unknowns
 *
 * Definitions in closed form, in the order of their evaluation: what the instances of a model share, made when numbers
 * are first asked for.
 */
#ifndef BG_INTERPRET_H
#define BG_INTERPRET_H

#include "formula.h"
#include "kinds.h"

struct equations;

typedef struct interpret_program {
    formula_book book;
    VEC(var_id) var;                  /* in the order of evaluation */
    VEC(formula) def;                 /* parallel to them */
    VEC(var_id) state, mode, unknown; /* by place in x; by place in the modes, what is held behind them; of blocks */
    bool *moves;                      /* [variable] rates, conditions or blocks depend on it */
} interpret_program;

/* position: of states in x, by variable */
interpret_program *interpret_program_new(const struct equations *e, const uint32_t *position);
void interpret_program_free(interpret_program *g);

/* v has an entry a variable; parameters, literals and unknowns of blocks are there already. Gives the first variable
 * that is not finite though what it reads is (VAR_NONE: there is none), one that moves before one that only outputs
 * read; ends at what moves unless `all` are to be evaluated. */
var_id interpret(const interpret_program *g, double t, const double *x, const double *modes, double *v, bool all);

#endif
