/* parameters.h - values of parameters and literals
 *
 * A parameter may depend on parameters declared later: values are computed in order of dependency, without recursion.
 */
#ifndef BG_PARAMETERS_H
#define BG_PARAMETERS_H

#include "flat.h"

/* Fills value[v] (SI) for all parameters and literals of f; value has one entry for each variable. Entries with
 * fixed[v] are kept; fixed may be NULL. */
void parameter_values(const flat_model *f, double *value, const bool *fixed);

/* rank[v] of every computed parameter: from 1, greater than the ranks of those it depends on; 0: not computed. */
void parameter_order(const flat_model *f, uint32_t *rank);

/* Derivatives of parameters by others. Moving a parameter moves those computed from it (except those with fixed[v];
 * fixed may be NULL), and none that it is computed from. The derivatives of parameter v by the requested ones
 * (VAR_NONE: none), at the given values, are entry[first[v] .. first[v+1]); some may happen to be 0. Free with
 * parameter_moves_free. */
typedef struct parameter_move {
    uint32_t by;
    double slope;
} parameter_move; /* by: number in the requested list */
typedef struct parameter_moves {
    uint32_t *first;
    VEC(parameter_move) entry;
} parameter_moves;
void parameter_moves_find(const flat_model *f, const double *value, const bool *fixed, const var_id *by, size_t n,
                          parameter_moves *out);
void parameter_moves_free(parameter_moves *m);

/* reports  parameter-value: a computed parameter is not finite although what it depends on is. False if any is not
 * finite. */
bool parameters_finite(const flat_model *f, const double *value);

#endif
