/* interpret.h - numbers of all variables at a point, by the interpreter instead of compiled code */
#ifndef BG_INTERPRET_H
#define BG_INTERPRET_H

#include "equations.h"

/* v: by variable; in: parameters, literals, and the unknowns of blocks; out: time, states, modes and what is defined explicitly. position: of states in x
 * and of modes in `modes`. Stops at the first variable that is not finite though what it reads is, and returns it, with the operation to blame in
 * *culprit (may be NULL); VAR_NONE: all are. What reads something that is not finite is not a number. */
var_id interpret(const equations *e, const uint32_t *position, double t, const double *x, const double *modes, double *v, node *culprit);

#endif
