/* linear_symbolic.h - the structured form of a linear model with symbolic entries, as text, JSON or LaTeX
 *
 * Names are those of the text; numbers of the text stay numbers. For nonlinear laws the entries are their slopes, as
 * functions of the model's variables. At an operating point that moves, where coefficients of dependent storage vary,
 * they are those of the model's own equations (structure.h).
 */
#ifndef BG_LINEAR_SYMBOLIC_H
#define BG_LINEAR_SYMBOLIC_H

#include <stdio.h>

#include "json.h"
#include "linearize.h"

/* The matrices S to B. j: written as an object of this JSON where it is given. False: *why (free() it). */
bool linear_symbolic(linearization *l, bool latex, FILE *out, json *j, char **why);

/* One such matrix, over the variables of the flat model. */
void linear_symbolic_matrix(const linearization *l, const char *name, const structure_block *b, bool latex, FILE *out,
                            json *j);

#endif
