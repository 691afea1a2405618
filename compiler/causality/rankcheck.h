/* rankcheck.h - what strokes cannot see: relations among known efforts and flows (inside causality only)
 *
 * Consistent strokes may still leave singular equations: three capacitors in a ring of nodes are all integral, and
 * their efforts sum to zero. For passive resistors this happens exactly where the equations of an open component have a
 * solution with every known effort and flow and every resistor at rest. Such a solution weights the balances so that
 * all unknowns cancel; what is left is a relation
 *     sum of coef * output = 0
 * among the outputs of sources, storages and state junctions. Without any output it means that something is left
 * undetermined.
 * source   Tellegen's theorem between that solution and the true one
 */
#ifndef BG_RANKCHECK_H
#define BG_RANKCHECK_H

#include "residue.h"
#include "strokes.h"

/* An output: port `of`, or, from nport on, the common variable of state junction of - nport. */
typedef struct relation_term {
    uint32_t of, coef;
} relation_term;
typedef struct relation {
    uint32_t first, n;             /* term[first .. first + n) */
    uint32_t junction0, njunction; /* the junctions that move: junction[junction0 ..) */
} relation;
typedef struct relations {
    VEC(relation) of;
    VEC(relation_term) term;
    VEC(uint32_t) junction;
} relations;

/* coef: of every end (strokes.h). one_way: does any resistor have a fixed causality? */
void rankcheck(const strokes *s, const uint32_t *coef, bool one_way, relations *out);
void relations_free(relations *r);

#endif
