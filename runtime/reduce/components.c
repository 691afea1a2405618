/* components.c - see components.h */
#include "components.h"

#include <string.h>

/* Is it declared by a chain of the model's own text, by a name alone? */
static bool
is_once(const compilation *c, const flat_origin *o, const map *own)
{
    return o->parent == UINT32_MAX && o->node && o->stmt && o->stmt->kind == AST_STMT_CHAIN && !strchr(o->name, '[') &&
           map_get(own, map_ptr_key(o->stmt)) != MAP_NONE && c->flat->ast->at.file == c->ast->file;
}

uint32_t *
components_find(const compilation *c, component_list *out)
{
    const flat_model *f = c->flat;
    uint32_t *top = bg_malloc((f->origin.n + 1) * sizeof *top), *of = bg_malloc((f->element.n + 1) * sizeof *of),
             *at = bg_malloc((f->origin.n + 1) * sizeof *at);
    map own = { 0 };

    for (int k = 0; k < f->ast->nstmt; k++)
        map_set(&own, map_ptr_key(f->ast->stmt[k]), 1);
    for (uint32_t i = 0; i < f->origin.n; i++) { /* what is in another stands behind it */
        const flat_origin *o = &f->origin.at[i];

        top[i] = o->parent == UINT32_MAX ? UINT32_MAX : top[o->parent];
        if (top[i] == UINT32_MAX && o->name)
            top[i] = i;
        at[i] = UINT32_MAX;
    }
    for (uint32_t e = 0; e < f->element.n; e++) {
        const flat_element *x = &f->element.at[e];
        uint32_t o = x->parent == UINT32_MAX ? UINT32_MAX : top[x->parent];
        component *in;

        of[e] = UINT32_MAX;
        if (o == UINT32_MAX)
            continue;
        if (at[o] == UINT32_MAX) {
            const flat_origin *y = &f->origin.at[o];

            at[o] = (uint32_t)out->n;
            vec_push(out, ((component){ .name = names_intern_z(c->names, y->name),
                                        .origin = o,
                                        .at = y->node ? y->node->at : SPAN_NONE,
                                        .once = is_once(c, y, &own) }));
        }
        in = &out->at[at[o]];
        in->nelements++;
        in->nstorages += x->type == EL_C || x->type == EL_I;
        in->keep |= x->keep;
        of[e] = at[o];
    }
    map_free(&own);
    free(top);
    free(at);
    return of;
}
