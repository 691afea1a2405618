/* verify_equations.h - checks equations against their rules (equations.h)
 *
 * Every variable that is read has one definition, or is an unknown of one block; what a definition reads is evaluated
 * before it; states have rates; what a message can name has a place in the text.
 *
 * cost     linear
 */
#ifndef BG_VERIFY_EQUATIONS_H
#define BG_VERIFY_EQUATIONS_H

#include "equations.h"

/* e: after equations_build. NULL: correct. Else a description of the error (free() it). */
char *verify_equations(const equations *e);

#endif
