/* switched.h - ideal diodes and switches with the equations they are solved with
 *
 * Which of a switched circuit's equations can be solved, and which are constraints on states that must be
 * differentiated, depends on the combination of modes that holds. So nothing is decided here: the unknowns that ideal
 * switches determine, alone or in a loop with others, are *held*: given from outside while everything else is evaluated
 * (code/net.h solves for them). What that takes is made here: each condition with its first two derivatives in time,
 * the held unknowns resting; the same for the differences whose signs the modes are; and the nets: sets of held
 * unknowns that act on each other, be it through states.
 *
 * needs     every variable defined, rates and signs included
 * provides  e->held, e->row, e->watch, e->net_mode, e->net; empties the groups it takes
 * cost      linear in what the conditions and their derivatives read
 */
#ifndef BG_SWITCHED_H
#define BG_SWITCHED_H

#include "rates.h"

/* Of an ideal switch: a group with its one unknown and the condition as residual; the element's place. A valve is a
 * resistor that shuts: a switch where all that it is solved with is linear, else one of the laws of a block, whose
 * solver knows how to follow them. */
typedef struct switch_group {
    uint32_t group;
    span at;
    bool valve;
} switch_group;

void switched_define(equations *e, struct groups *g, struct rates *r, const switch_group *group, size_t n);

#endif
