/* zero_divisors.h - divisions by parameters that are zero
 *
 * A mass of 0 is fine where others determine its velocity: the equations then multiply by it. Where they divide by it,
 * the run ends at its first instant; which of the two it is, only equations tell.
 */
#ifndef BG_ZERO_DIVISORS_H
#define BG_ZERO_DIVISORS_H

#include "equations.h"

/* reports  value-zero, a warning for each variable whose definition is a division by such a number */
void zero_divisors_warn(const equations *e);

#endif
