/* asked.c - see asked.h */
#include "asked.h"

void
asked_add(asked_list *a, const char *name, const struct reading *r)
{
    if (r->bond)
        vec_push(&a->bond, *r->bond);
    else if (r->kind == REWRITE_CLAMP)
        vec_push(&a->change, ((rewrite_change){ .kind = REWRITE_CLAMP, .owner = name, .name = name }));
    else
        vec_push(&a->name, name);
}

void
asked_add_bond(asked_list *a, rewrite_bond bond)
{
    vec_push(&a->bond, bond);
}

void
asked_add_changes(asked_list *a, const rewrite_change *change, size_t n)
{
    for (size_t i = 0; i < n; i++)
        vec_push(&a->change, change[i]);
}

bool
asked_plan(asked_list *a, const compilation *c, rewrite *plan)
{
    bool fine = rewrite_plan(&(rewrite_request){ .f = c->flat,
                                                 .file = c->ast,
                                                 .name = a->name.at,
                                                 .n = a->name.n,
                                                 .change = a->change.at,
                                                 .nchanges = a->change.n,
                                                 .bond = a->bond.at,
                                                 .nbonds = a->bond.n },
                             plan);

    vec_free(&a->name);
    vec_free(&a->change);
    vec_free(&a->bond);
    return fine;
}
