/* rest.h - the states that take part in an equilibrium
 *
 * All except pure integrals for outputs: integrals that no other state's rate depends on and that do not depend on
 * themselves. (A lag depends on itself, so it has a value at equilibrium.)
 *
 * needs     kinds and blocks
 * provides  only_outputs of each state
 */
#ifndef BG_REST_H
#define BG_REST_H

#include "equations.h"

void mark_only_outputs(equations *e);

#endif
