/* zero_divisors.h - divisions by parameters that are zero
 *
 * A mass of 0 is fine where others determine its velocity: the equations then multiply by it. Where they divide by it,
 * the run ends at its first instant; which of the two it is, only equations tell. A condition that divides by zero
 * (mod(time, T) with T = 0 counts the periods by one) ends no run: it compares as false, or counts nothing.
 */
#ifndef BG_ZERO_DIVISORS_H
#define BG_ZERO_DIVISORS_H

#include "equations.h"

/* Both report value-zero, a warning: for each variable whose definition divides by such a number, and for each
 * condition. What stands in a branch of a choice may never be computed and is left out. value: of parameters and
 * literals, by variable. */
void zero_divisors_warn(const equations *e, const double *value);
void zero_divisors_warn_of_conditions(const equations *e, const double *value);

#endif
