/* linear_symbolic.h - the structured form of a linear model with expressions for entries, as text, JSON or LaTeX
 *
 * Names are those of the text; what is a number in the text is a number here. Of nonlinear laws the entries are the
 * slopes, over the variables of the model. Where the point moves and coefficients on the way to dependent storage vary,
 * they are those of the model's own equations (structure.h).
 */
#ifndef BG_LINEAR_SYMBOLIC_H
#define BG_LINEAR_SYMBOLIC_H

#include <stdio.h>

#include "json.h"
#include "linearize.h"

/* The matrices S to B. j: as an object of this JSON, where there is one. False: *why (free it). */
bool linear_symbolic(linearization *l, bool latex, FILE *out, json *j, char **why);

/* One such matrix alone, over the variables of the flat model. */
void linear_symbolic_matrix(const linearization *l, const char *name, const structure_block *b, bool latex, FILE *out,
                            json *j);

#endif
