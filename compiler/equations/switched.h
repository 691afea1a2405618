/* switched.h - ideal diodes and switches, and the equations that they are solved with
 *
 * Which equations of a switched circuit can be solved, and which are constraints on states that have to be
 * differentiated, depends on the combination of modes. So this is not decided here: the unknowns that ideal switches
 * determine, alone or in a loop with others, are *held*, which means constant while everything else is evaluated
 * (code/net.h solves for them). This stage makes what that requires: each condition with its first two time derivatives
 * for constant held unknowns; the same for the differences whose signs are the modes; and the nets: sets of held
 * unknowns that depend on each other, directly or through states.
 *
 * needs     every variable defined, rates and signs included
 * provides  e->held, e->row, e->watch, e->net_mode, e->net; empties the groups that it takes
 * cost      linear in what the conditions and their derivatives read
 */
#ifndef BG_SWITCHED_H
#define BG_SWITCHED_H

#include "rates.h"

/* An ideal switch: a group with its one unknown and the condition as residual; the element's place. A valve is a
 * resistor that can shut: it is a switch if all equations that it is solved with are linear, else a law of a block,
 * whose solver handles such laws. */
typedef struct switch_group {
    uint32_t group;
    span at;
    bool valve;
    uint32_t loose; /* the port of loose storage whose condition it is (equations.loose); NONE: an ideal switch */
} switch_group;

void switched_define(equations *e, struct groups *g, struct rates *r, const switch_group *group, size_t n);

#endif
