/* jumps.h - checks that nothing that jumps is differentiated
 *
 * The derivative of a step is an impulse, which a run cannot represent. Where a condition switches at a known time, the
 * differentiated expression is evaluated on both sides of it; where it depends on states, nothing is known in advance
 * and nothing is reported.
 */
#ifndef BG_JUMPS_H
#define BG_JUMPS_H

#include "equations.h"

/* needs    known conditions (eq_mode.known), explicit definitions, and the values of parameters and literals by
 * variable
 * reports  derivative-jump, for each of the n variables whose definition jumps within the experiment's time. False if
 *          any does. */
bool jumps_check(equations *e, const double *value, const var_id *differentiated, size_t n);

#endif
