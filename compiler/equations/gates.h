/* gates.h - conditions that can be evaluated before anything is solved for
 *
 * A gate is a comparison, a floor() or a table's argument that states, parameters, time and other conditions determine,
 * directly or through signals: the gate signal of a transistor, the state of a controller. Its value is known whatever
 * ideal switches and blocks do, so it is set first: in between, two switches that are never closed together would be.
 *
 * needs     finished definitions
 */
#ifndef BG_GATES_H
#define BG_GATES_H

#include "equations.h"

typedef VEC(uint32_t) gate_list;

/* Adds the places of these conditions in e->mode, but for those that switch at known times. */
void gates_find(const equations *e, gate_list *gates);

#endif
