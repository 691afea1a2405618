/* walks.h - what variables follow from, directly or through others
 *
 * definition_walk   over definitions that are built. Every variable is met once. The unknowns of a block are met
 *                   together: one of them stands for all. Nothing is behind states, held unknowns, modes, time and
 *                   parameters.
 * group_walk        while they are built, over explicit definitions and groups. One can walk again and again: what a
 *                   walk has met is marked by its number, so that it costs what it meets.
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
/* Where the walk begins: at a variable, or at all that an expression reads. More may be added on the way. */
void definition_walk_add(definition_walk *r, var_id v);
void definition_walk_read(definition_walk *r, inst i);
/* The next variable; what it is defined by is met after it. False: there are no more. */
bool definition_walk_next(definition_walk *r, var_id *v);

typedef struct group_walk {
    const equations *e;
    const struct groups *g;
    VEC(uint32_t) met, group_met; /* by variable, by group: the last walk that met it */
    uint32_t number;
    VEC(var_id) todo;
} group_walk;

void group_walk_free(group_walk *w);
void group_walk_begin(group_walk *w, const equations *e, const struct groups *g);
void group_walk_read(group_walk *w, inst i);
/* The next variable without an explicit definition. False: there are no more. */
bool group_walk_next(group_walk *w, var_id *v);
/* The equations of the group whose unknown v is, if it is one of a group, are walked too. */
void group_walk_enter(group_walk *w, var_id v);

#endif
