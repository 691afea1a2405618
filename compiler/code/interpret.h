/* interpret.h - numbers of all variables at a point, by the interpreter instead of compiled code */
#ifndef BG_INTERPRET_H
#define BG_INTERPRET_H

#include "equations.h"

/* v: by variable; in: parameters, literals, and the unknowns of blocks; out: time, states, modes and what is defined
 * explicitly. position: of states in x and of modes in `modes`. Returns the first variable that is not finite though
 * what it reads is, with the operation to blame in *culprit (may be NULL); VAR_NONE: all are. It stops there, or goes
 * on to the end (all). What reads something that is not finite is not a number. */
var_id interpret(const equations *e, const uint32_t *position, double t, const double *x, const double *modes,
                 double *v, node *culprit, bool all);

#endif
