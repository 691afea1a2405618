/* relays.h - which `if` is a relay: one at whose border its branches differ, and with them the law that reads it
 *
 * A conductance that depends on the sign of its own effort, f = e*(if e > 0 then a else b), has no jump: f is zero
 * where the condition changes. Branches are compared numerically at a few points of the border. Most laws jump or not
 * whatever their numbers are, which is found once a template. Where they jump for most numbers, those of the text
 * count: f = if e > 5 then 100/e else 4*e does not jump. A parameter that is set to another value later does not make
 * a relay of such a law: it is a condition that switches then.
 */
#ifndef BG_RELAYS_H
#define BG_RELAYS_H

#include "equations.h"

typedef struct relays relays;

/* An expression's template as a number, and which of its choices do not jump with the expression's own numbers. */
typedef struct relays_use {
    uint32_t judged;
    uint64_t smooth;
} relays_use;

/* For expressions whose conditions are not modes yet. To be freed before e. */
relays *relays_new(equations *e);
void relays_free(relays *w);

relays_use relays_of(relays *w, inst i);
/* The expression's template with nested choices of one comparison each instead of combinations (and, or, not). */
node relays_whole(const relays *w, relays_use u);
/* Is the choice n (EX_SELECT) of relays_whole a relay? */
bool relays_is(const relays *w, relays_use u, node n);

/* Values for the slots of a template, of order 1 and all different. */
void relays_values(double *value, uint32_t n, uint64_t number);
/* [variable] signals that jump while nothing that reads them does (f = g*e with g = if e > 0 then a else b); NULL:
 * none. To be freed. Call before conditions become modes. */
bool *relays_smooth_signals(relays *w);

#endif
