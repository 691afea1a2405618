/* rest.h - which states take part in an equilibrium
 *
 * All but pure integrals of outputs: integrals that neither another state's rate reads, nor, through whatever, their
 * own. (A lag reads its own, so it has a value at rest.)
 * needs     kinds and blocks
 * provides  only_outputs of each state
 */
#ifndef BG_REST_H
#define BG_REST_H

#include "equations.h"

void mark_only_outputs(equations *e);

#endif
