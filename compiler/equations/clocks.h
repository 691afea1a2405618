/* clocks.h - what the equations read of time alone
 *
 * sin(2*pi*50*t) runs through many periods while the states hardly move: the integrator's steps, which follow the states, may be longer than these. Who
 * looks inside a step (for conditions that switch, for power that is integrated) must know. A clock is a greatest expression over time, parameters and
 * frozen conditions that is not linear in time.
 *
 * needs    all variables defined
 * cost     linear in the equations
 */
#ifndef BG_CLOCKS_H
#define BG_CLOCKS_H

#include "equations.h"

typedef struct eq_clock { inst def; span at; bool driving; } eq_clock;     /* driving: rates read it */
typedef VEC(eq_clock) clock_list;

/* Each once. at: of a variable that it is in. *bends: do rates read a function of what moves that may bend sharply, an exponential or one made of them? */
void clocks_find(equations *e, clock_list *out, bool *bends);

#endif
