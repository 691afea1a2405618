/* descend.h - finds an equilibrium through averaged rates
 *
 * At a law with an infinite slope (turbulent flow that stops) or a corner, Newton's method oscillates. Rates averaged
 * over a neighbourhood of the states are smooth there; their equilibrium is found by implicit Euler steps of growing
 * length, and the neighbourhood is reduced from the size of the states to their rounding.
 */
#ifndef BG_DESCEND_H
#define BG_DESCEND_H

#include "events.h"
#include "linear.h"

/* Moves x there; quantities conserved by the motion are kept. motion: time scale of the motion. False: not found. */
bool descend(bg_model *m, linear *l, events *e, const bool *active, double t, double motion, double *x);

/* group[i]: a number for the unit of state i. */
void states_by_unit(bg_model *m, uint32_t *group);

#endif
