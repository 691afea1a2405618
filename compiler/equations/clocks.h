/* clocks.h - the parts of the equations that depend on time alone
 *
 * sin(2*pi*50*t) goes through many periods while the states hardly move, so that the integrator's steps, which follow
 * the states, may be longer than a period. Code that looks inside a step (for conditions that switch, for power that is
 * integrated) has to know. A clock is a maximal expression over time, parameters and frozen conditions that is not
 * linear in time.
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
} eq_clock; /* driving: rates depend on it */
typedef struct clock_list {
    eq_clock *at;
    size_t n, cap;
} clock_list;

/* An expression read by rates (driving) or by conditions that depends on states and may change strongly within a small
 * range of them: an exponential, or an expression of one; or, reciprocal, something over def. */
typedef struct eq_bend {
    inst def;
    bool reciprocal, driving;
} eq_bend;
typedef struct bend_list {
    eq_bend *at;
    size_t n, cap;
} bend_list;

/* Lists each once. at: the place of a variable that contains it. The result, to be freed: by mode, does its condition
 * read a sine of states, which may go through many periods while the states go straight on (that of an arctangent does
 * not: the force of a tyre)? NULL: none does. */
bool *clocks_find(equations *e, clock_list *out, bend_list *bends);

#endif
