/* components.c - see components.h */
#include "components.h"

uint32_t *
components_find(const compilation *c, component_list *out)
{
    const flat_model *f = c->flat;
    uint32_t *top = bg_malloc((f->origin.n + 1) * sizeof *top), *of = bg_malloc((f->element.n + 1) * sizeof *of),
             *at = bg_malloc((f->origin.n + 1) * sizeof *at);

    for (uint32_t i = 0; i < f->origin.n; i++) { /* instances inside another one come after it */
        const flat_origin *o = &f->origin.at[i];

        top[i] = o->parent == NONE ? NONE : top[o->parent];
        if (top[i] == NONE && o->name)
            top[i] = i;
        at[i] = NONE;
    }
    for (uint32_t e = 0; e < f->element.n; e++) {
        const flat_element *x = &f->element.at[e];
        uint32_t o = x->parent == NONE ? NONE : top[x->parent];
        component *in;

        of[e] = NONE;
        if (o == NONE)
            continue;
        if (at[o] == NONE) {
            const flat_origin *y = &f->origin.at[o];

            at[o] = (uint32_t)out->n;
            vec_push(out, ((component){ .name = names_intern_z(c->names, y->name),
                                        .origin = o,
                                        .at = y->node ? ast_node_at(y->node) : SPAN_NONE }));
        }
        in = &out->at[at[o]];
        in->nelements++;
        in->nstorages += x->type == EL_C || x->type == EL_I;
        in->keep |= x->keep;
        of[e] = at[o];
    }
    free(top);
    free(at);
    return of;
}
