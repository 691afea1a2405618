/* clocks.h - what the equations read of time alone
 *
 * sin(2*pi*50*t) runs through many periods while the states hardly move: the integrator's steps, which follow the
 * states, may be longer than these. Who looks inside a step (for conditions that switch, for power that is integrated)
 * must know. A clock is a greatest expression over time, parameters and frozen conditions that is not linear in time.
 *
 * needs    all variables defined
 * cost     linear in the equations
 */
#ifndef BG_CLOCKS_H
#define BG_CLOCKS_H

#include "equations.h"

typedef struct eq_clock {
    inst def;
    span at;
    bool driving;
} eq_clock; /* driving: rates read it */
typedef struct clock_list {
    eq_clock *at;
    size_t n, cap;
} clock_list;

/* What rates read of states and may bend within little of them: an exponential or what is made of one; or, reciprocal,
 * one over def. */
typedef struct eq_bend {
    inst def;
    bool reciprocal;
} eq_bend;
typedef struct bend_list {
    eq_bend *at;
    size_t n, cap;
} bend_list;

/* Each once. at: of a variable that it is in. */
void clocks_find(equations *e, clock_list *out, bend_list *bends);

#endif
