/* rewrite_without_instances.c - whole instances of components taken out of loops and arrays, by `without` of their name
 *
 * With an instance goes all that it made. It stays where the model or one of its experiments names something in it, or
 * where what it holds is needed.
 */
#include <string.h>

#include "rewrite_without_inside.h"

void
without_ask_instances(struct taking *t)
{
    const flat_model *f = t->f;
    uint32_t *top = bg_malloc((f->origin.n + 1) * sizeof *top);

    for (uint32_t i = 0; i < f->origin.n; i++) { /* what is in another stands behind it */
        uint32_t up = f->origin.at[i].parent;

        top[i] = t->asked[i] != NONE ? i : up == NONE ? NONE : top[up];
    }
    for (uint32_t j = 0; j < f->junction.n; j++)
        t->inside[j] = f->junction.at[j].parent == NONE ? NONE : top[f->junction.at[j].parent];
    for (uint32_t e = 0; e < f->element.n; e++) {
        uint32_t o = f->element.at[e].parent == NONE ? NONE : top[f->element.at[e].parent];

        t->inside[f->junction.n + e] = o;
        if (o != NONE)
            t->wanted[e] = t->asked[o];
    }
    free(top);
}

void
without_keep_instance(struct taking *t, uint32_t origin, span reader, const char *why)
{
    const flat_model *f = t->f;

    if (t->asked[origin] == NONE)
        return;
    t->asked[origin] = NONE;
    for (uint32_t p = 0; p < f->junction.n + f->element.n; p++)
        if (t->inside[p] == origin) {
            t->inside[p] = NONE;
            if (p >= f->junction.n)
                t->wanted[p - f->junction.n] = NONE;
        }
    vec_push(&t->r->blocked, ((rewrite_block){ f->origin.at[origin].name, reader, why }));
}

/* "hair" of "hair[2]" */
static const char *
base_name(const struct taking *t, uint32_t origin)
{
    const char *name = t->f->origin.at[origin].name;

    return names_intern(t->f->names, name, strcspn(name, "["));
}

/* Does a reference lead into this instance, by its name or by one that may be it? */
static bool
leads_into(const struct taking *t, const ast_ref *r, uint32_t origin)
{
    const char *literal = without_literal_name(t->f, r, 1);

    return r->part[0].name == base_name(t, origin) &&
           (!r->part[0].nindex || !literal || !strcmp(literal, t->f->origin.at[origin].name));
}

/* bases: first names of the instances that are asked for */
struct naming {
    struct taking *t;
    const char *why;
    map bases;
};

static void
see_name(void *ctx, const ast_ref *r)
{
    const struct naming *n = ctx;

    if (!r->nparts || map_get(&n->bases, map_ptr_key(r->part[0].name)) == MAP_NONE)
        return;
    for (uint32_t o = 0; o < n->t->f->origin.n; o++)
        if (n->t->asked[o] != NONE && leads_into(n->t, r, o))
            without_keep_instance(n->t, o, r->at, n->why);
}

static void
look_at_reference(void *ctx, const ast_expr *e)
{
    ast_part room;

    if (e->kind == AST_REF) {
        ast_ref ref = ast_expr_ref(e, &room);

        see_name(ctx, &ref);
    }
}

/* `let` of an instance that goes, by its plain name, and what is expected of it go with it. */
static void
look_at_item(struct naming *n, const ast_exp_item *item)
{
    bool goes = item->kind == AST_EXP_LET && item->ref.nparts && item->ref.part[0].nindex &&
                without_literal_name(n->t->f, &item->ref, 1);

    if (item->kind == AST_EXP_EXPECT)
        return;
    if (!goes)
        see_name(n, &item->ref);
    ast_each_ref(item->a, see_name, n);
    ast_each_ref(item->b, see_name, n);
    for (int k = 0; k < item->nexprs; k++)
        ast_each_ref(item->exprs[k], see_name, n);
    for (int k = 0; k < item->nrefs; k++)
        see_name(n, &item->refs[k]);
}

void
without_block_instances(struct taking *t)
{
    const flat_model *f = t->f;
    struct naming n = { .t = t, .why = "it is read" };

    for (uint32_t o = 0; o < f->origin.n; o++)
        if (t->asked[o] != NONE)
            map_set(&n.bases, map_ptr_key(base_name(t, o)), 1);
    if (!n.bases.n)
        return;
    ast_visit_model(f->ast, look_at_reference, &n);
    for (size_t i = 0; i < f->reinit.n; i++) {
        const flat_var *v = &f->var.at[f->reinit.at[i].target];
        span at = f->reinit.at[i].at;
        uint32_t o = v->kind == VAR_STORED ? t->inside[f->junction.n + f->port.at[v->owner].element] : NONE;

        if (o != NONE && at.file == f->ast->at.file && f->ast->at.begin <= at.begin && at.end <= f->ast->at.end)
            without_keep_instance(t, o, at, "an event sets what it stores");
    }
    n.why = "an experiment names it";
    for (size_t d = 0; d < t->file->ndecls; d++) {
        const ast_experiment *x = t->file->decl[d].kind == AST_DECL_EXPERIMENT ? t->file->decl[d].experiment : NULL;

        for (int k = 0; x && x->model == f->ast->name && k < x->nitems; k++)
            look_at_item(&n, &x->item[k]);
    }
    map_free(&n.bases);
}
