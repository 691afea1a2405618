/* parameters.h - numbers of parameters and literals
 *
 * Parameters may be computed from parameters declared later: values are found in order of dependency, without
 * recursion.
 */
#ifndef BG_PARAMETERS_H
#define BG_PARAMETERS_H

#include "flat.h"

/* Fills value[v] (SI) of all parameters and literals of f; value has an entry a variable. Those with fixed[v] keep what
 * is there; fixed may be NULL. */
void parameter_values(const flat_model *f, double *value, const bool *fixed);

/* rank[v] of every computed parameter: from 1, each greater than those of what it is computed from; 0: not computed. */
void parameter_order(const flat_model *f, uint32_t *rank);

/* How parameters move with others. Moving a parameter moves what is computed from it (not what has fixed[v]; fixed may
 * be NULL), and nothing that it is computed from itself. The moves of parameter v by those asked for (VAR_NONE: by
 * nothing), to first order, at the given values, are entry[first[v] .. first[v+1]), slopes that happen to be 0 among
 * them. Free with parameter_moves_free. */
typedef struct parameter_move {
    uint32_t by;
    double slope;
} parameter_move; /* by: number in the list asked for */
typedef struct parameter_moves {
    uint32_t *first;
    VEC(parameter_move) entry;
} parameter_moves;
void parameter_moves_find(const flat_model *f, const double *value, const bool *fixed, const var_id *by, size_t n,
                          parameter_moves *out);
void parameter_moves_free(parameter_moves *m);

/* reports  parameter-value: a computed parameter is not finite although what it is computed from is. False if any is
 * not finite. */
bool parameters_finite(const flat_model *f, const double *value);

#endif
