/* walks.h - walks over what variables depend on, directly or through others
 *
 * definition_walk   over finished definitions. Every variable is visited once. The unknowns of a block are visited
 *                   together: one of them represents all. States, held unknowns, modes, time and parameters are leaves.
 * group_walk        while definitions are built, over explicit ones and groups. It can be used repeatedly: visited
 *                   nodes are marked by the number of the walk, so that a walk costs only what it visits.
 */
#ifndef BG_WALKS_H
#define BG_WALKS_H

#include "blocks.h"

typedef struct definition_walk {
    const equations *e;
    VEC(var_id) todo;
    bool *met; /* [var] */
} definition_walk;

/* definition_walk_free it. */
void definition_walk_begin(definition_walk *r, const equations *e);
void definition_walk_free(definition_walk *r);
/* Starts the walk at a variable, or at all variables of an expression. More may be added during the walk. */
void definition_walk_add(definition_walk *r, var_id v);
void definition_walk_read(definition_walk *r, inst i);
/* The next variable; its definition is visited after it. False: there are no more. */
bool definition_walk_next(definition_walk *r, var_id *v);

typedef struct group_walk {
    const equations *e;
    const struct groups *g;
    VEC(uint32_t) met, group_met; /* by variable, by group: the last walk that visited it */
    uint32_t number;
    VEC(var_id) todo;
} group_walk;

void group_walk_free(group_walk *w);
void group_walk_begin(group_walk *w, const equations *e, const struct groups *g);
void group_walk_read(group_walk *w, inst i);
/* The next variable without an explicit definition. False: there are no more. */
bool group_walk_next(group_walk *w, var_id *v);
/* If v is an unknown of a group, the equations of the group are walked too. */
void group_walk_enter(group_walk *w, var_id v);
/* Does i depend on v, which has no explicit definition, through equations alone? */
bool group_walk_follows(group_walk *w, const equations *e, const struct groups *g, inst i, var_id v);
/* Do the rates of what x depends on depend on s? No, if x depends on a delayed value, whose rate is unknown. */
bool group_walk_moves(group_walk *w, const equations *e, const struct groups *g, inst x, var_id s);

#endif
