/* verify_equations.h - holds equations against their rules (equations.h)
 *
 * Every variable that is read has one definition, or is an unknown of one block; what a definition reads was evaluated
 * before it; states have rates; what can be named in a message has a place in the text.
 *
 * cost     linear
 */
#ifndef BG_VERIFY_EQUATIONS_H
#define BG_VERIFY_EQUATIONS_H

#include "equations.h"

/* e: after equations_build. NULL: they are as they should be. Else what is not (free it). */
char *verify_equations(const equations *e);

#endif
