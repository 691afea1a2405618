/* loops.h - definitions and groups that need each other
 *
 * Strongly connected sets of explicit definitions and groups: what has to be solved together.
 * cost     linear in the equations
 */
#ifndef BG_LOOPS_H
#define BG_LOOPS_H

#include "blocks.h"

/* Nodes are variables by number, groups behind them. */
struct loops {
    uint32_t *set; /* by node: number of its set; of nodes that nothing defines: 0 */
    bool *loop;    /* by node: there are others in its set */
    uint32_t nsets;
};

/* own: variables whose definition is taken from `definition`, by the number that the map has for them; NULL: none. */
void loops_find(const equations *e, const struct groups *g, const map *own, const inst *definition, struct loops *out);
void loops_free(struct loops *l);

#endif
