/* rankcheck.h - relations among known efforts and flows, which strokes cannot detect (used inside causality only)
 *
 * Consistent strokes may still leave singular equations: three capacitors in a loop of nodes are all integral, and
 * their efforts sum to zero. For passive resistors this happens exactly if the equations of an open component have a
 * nontrivial solution with all known efforts and flows and all resistors at zero. Such a solution, used as weights of
 * the balances, cancels all unknowns and leaves a relation
 *     sum of coef * output = 0
 * among the outputs of sources, storage elements and state junctions. Without any output it means that something is
 * undetermined.
 *
 * source   Tellegen's theorem between that solution and the true one
 */
#ifndef BG_RANKCHECK_H
#define BG_RANKCHECK_H

#include "residue.h"
#include "strokes.h"

/* An output: of port `of`, or, from nport on, the common variable of state junction of - nport. */
typedef struct relation_term {
    uint32_t of, coef;
} relation_term;
typedef struct relation {
    uint32_t first, n;             /* term[first .. first + n) */
    uint32_t junction0, njunction; /* the junctions in the solution: junction[junction0 ..) */
} relation;
typedef struct relations {
    VEC(relation) of;
    VEC(relation_term) term;
    VEC(uint32_t) junction;
} relations;

/* coef: of every end (strokes.h). one_way: does any resistor have fixed causality? */
void rankcheck(const strokes *s, const uint32_t *coef, bool one_way, relations *out);
void relations_free(relations *r);

#endif
