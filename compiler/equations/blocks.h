/* blocks.h - groups of equations that are solved together, and the order of evaluation
 *
 * A group comes from an open component, a law without an inverse, or the derivative of one: some unknowns and as many
 * residuals. blocks_sort finds the strongly connected sets of definitions and groups (Tarjan, iterative); each becomes
 * a block with as few unknowns as substitution allows. A block with one unknown that has a closed form becomes an
 * explicit definition.
 */
#ifndef BG_BLOCKS_H
#define BG_BLOCKS_H

#include "equations.h"

struct group {
    VEC(var_id) unknown;
    VEC(inst) residual;
};
struct groups {
    equations *e;
    VEC(struct group) group;
    map of;
}; /* of: variable -> its group */

uint32_t group_new(struct groups *g);
void group_add(struct groups *g, uint32_t group, var_id unknown, inst residual);
void group_dissolve(struct groups *g, uint32_t group); /* its unknowns get definitions of their own */
uint32_t group_of(const struct groups *g, var_id v);   /* NONE: none */
uint32_t group_size(const struct groups *g, uint32_t group);
var_id group_unknown(const struct groups *g, uint32_t group, uint32_t i);
inst group_residual(const struct groups *g, uint32_t group, uint32_t i);
void group_set_residual(struct groups *g, uint32_t group, uint32_t i, inst residual);
void groups_free(struct groups *g);

/* Splits every group into the smallest ones that can be solved one after the other; needs all explicit definitions
 * except those of rates. (split.c) */
void groups_split(equations *e, struct groups *g);

/* needs     every variable explicit, given, a state, or an unknown of a group
 * provides  kinds, blocks, ranks
 * reports   block-singular: an unknown that no equation of its block contains */
bool blocks_sort(equations *e, struct groups *g);

#endif
