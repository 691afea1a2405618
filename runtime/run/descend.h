/* descend.h - a place where a model rests, through means of its rates
 *
 * At a law with an infinite slope (the root of a flow that comes to nothing, at the end of a pipe) or a corner,
 * Newton's method goes to and fro. Rates averaged over a neighbourhood of the states are smooth there; where they rest
 * is found by Euler's implicit steps of growing length, and the neighbourhood is drawn together, from the size of the
 * states down to their rounding.
 */
#ifndef BG_DESCEND_H
#define BG_DESCEND_H

#include "events.h"
#include "linear.h"

/* Moves x there; what motion conserves is kept. motion: a time in which the model moves. False: not found. */
bool descend(bg_model *m, linear *l, events *e, const bool *active, double t, double motion, double *x);

/* group[i]: a number for the unit of state i. */
void states_by_unit(bg_model *m, uint32_t *group);

#endif
