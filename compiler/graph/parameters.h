/* parameters.h - numbers of parameters and literals
 *
 * Parameters may be computed from parameters declared later: values are found in order of dependency, without recursion.
 */
#ifndef BG_PARAMETERS_H
#define BG_PARAMETERS_H

#include "flat.h"

/* Fills value[v] (SI) of all parameters and literals of f; value has an entry a variable. Those with fixed[v] keep what is there; fixed may be NULL. */
void parameter_values(const flat_model *f, double *value, const bool *fixed);

/* reports  parameter-value: a computed parameter is not finite although what it is computed from is. False if any is not finite. */
bool parameters_finite(const flat_model *f, const double *value);

#endif
