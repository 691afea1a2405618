/* jumps.h - what is differentiated must not jump
 *
 * The derivative of a step is an impulse, which no run can show. Where a condition switches at a known time, the
 * differentiated expression is evaluated on both sides of that time; where it depends on states, nothing is known
 * beforehand and nothing is said.
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
