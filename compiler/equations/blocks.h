/* blocks.h - groups of equations that are solved together, and the order of everything
 *
 * A group is what an open component, a law without inverse, or the derivative of such gives: unknowns and as many
 * residuals. blocks_sort finds the strongly connected sets of definitions and groups (Tarjan, iterative); each becomes
 * a block whose unknowns are as few as substitution allows. Blocks of one unknown with a closed form become explicit
 * definitions.
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
uint32_t group_of(const struct groups *g, var_id v); /* NONE: none */
uint32_t group_size(const struct groups *g, uint32_t group);
var_id group_unknown(const struct groups *g, uint32_t group, uint32_t i);
inst group_residual(const struct groups *g, uint32_t group, uint32_t i);
void group_set_residual(struct groups *g, uint32_t group, uint32_t i, inst residual);
void groups_free(struct groups *g);

/* Splits every group into the smallest that can be solved one after the other; needs all explicit definitions but those
 * of rates. (split.c) */
void groups_split(equations *e, struct groups *g);

/* needs     every variable explicit, given, a state, or an unknown of a group
 * provides  kinds, blocks, ranks
 * reports   block-singular: an unknown that no equation of its block contains */
bool blocks_sort(equations *e, struct groups *g);

#endif
