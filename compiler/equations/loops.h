/* loops.h - strongly connected sets of explicit definitions and groups, which have to be solved together
 *
 * cost     linear in the equations
 */
#ifndef BG_LOOPS_H
#define BG_LOOPS_H

#include "blocks.h"

/* Nodes are variables by number, then groups. */
struct loops {
    uint32_t *set; /* by node: number of its set; 0 for nodes without a definition */
    bool *loop;    /* by node: its set contains others */
    uint32_t nsets;
};

/* own: variables whose definition is taken from `definition`, with their index there; NULL: none. */
void loops_find(const equations *e, const struct groups *g, const map *own, const inst *definition, struct loops *out);
void loops_free(struct loops *l);

#endif
