/* gates.h - conditions that can be evaluated before anything is solved for
 *
 * A gate is a comparison, a floor() or a table's argument that states, parameters, time and other gates determine,
 * directly or through signals: the gate signal of a transistor, the state of a controller. Its value is known whatever
 * ideal switches and blocks do, so it is set first: in between, two switches that are never closed together would be.
 * A gate that reads others has a level above theirs. Set level by level, none takes a value that it has neither before
 * nor after an event.
 *
 * needs     finished definitions
 */
#ifndef BG_GATES_H
#define BG_GATES_H

#include "equations.h"

struct gate {
    uint32_t mode, level;
};
typedef VEC(struct gate) gate_list;

/* Adds gates in ascending order of their levels, but not those that switch at known times: all of a model with ideal
 * switches; of others those that read modes, and those that are read. */
void gates_find(const equations *e, gate_list *gates);

#endif
