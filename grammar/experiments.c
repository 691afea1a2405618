/* experiments.c - completes experiments: their model, and the items inherited from other experiments
 *
 * needs     all declarations of the file
 * provides  the model of each experiment; its own items after those of its bases, of which it replaces equal ones
 * reports   a model that cannot be determined, bases that are unknown or circular
 * time      linear in the text and in the inherited items, whose number is limited
 */
#include <string.h>

#include "parse.h"

enum {
    DEEPEST_BASE = 100,     /* depth of inheritance */
    MOST_INHERITED = 100000 /* inherited items, whole file */
};

struct completing {
    struct parse *p;
    const ast_model *only;
    int models;
    map by_name; /* experiment -> declaration, the first of its name */
    size_t inherited;
};

ast_experiment *
experiment_new(struct parse *p, span at, const char *name, span name_at, struct list *items)
{
    ast_experiment *e = arena_alloc(p->a, sizeof *e);

    *e = (ast_experiment){ .at = at,
                           .name_at = name_at,
                           .model_at = name_at,
                           .base_at = SPAN_NONE,
                           .name = name,
                           .item = LIST_TAKE(p, items, ast_exp_item),
                           .nitems = items->n };
    file_add(p, (ast_decl){ .kind = AST_DECL_EXPERIMENT, .experiment = e });
    return e;
}

/* ---------------------------------------------------------------- models */

/* The only model of the file, or the only one that is no component; else NULL. */
static void
find_only_model(struct completing *c)
{
    const ast_decl *d = c->p->decls.at;
    const ast_model *whole = NULL;
    int wholes = 0;

    for (int k = 0; k < c->p->decls.n; k++) {
        if (d[k].kind != AST_DECL_MODEL)
            continue;
        c->models++;
        c->only = d[k].model;
        if (!ast_is_component(c->only)) {
            wholes++;
            whole = c->only;
        }
    }
    if (c->models > 1)
        c->only = wholes == 1 ? whole : NULL;
}

static const char *
model_of_experiment(struct completing *c, const ast_experiment *e)
{
    if (c->only)
        return c->only->name;
    if (!c->p->broken) { /* otherwise the model may have been lost in a syntax error */
        parse_error(c->p, "experiment-model", e->name_at,
                    "experiment \"%.60s\" does not name its model, and the file has %s", e->name,
                    c->models ? "several" : "none");
        diag_help(c->p->s, "Write `experiment %.60s of MODEL { ... }`.", e->name);
    }
    return "";
}

/* ---------------------------------------------------------------- inheritance */

static bool
same_text(const struct parse *p, span a, span b)
{
    const char *text = p->scan->text;

    return a.end - a.begin == b.end - b.begin && !memcmp(text + a.begin, text + b.begin, a.end - a.begin);
}

/* Does the item refer to something by name? */
static bool
refers_by_name(const ast_exp_item *x)
{
    return x->kind == AST_EXP_SET || x->kind == AST_EXP_LET || x->kind == AST_EXP_OBSERVE;
}

/* Can an item replace another? */
static bool
replaces(const ast_exp_item *x)
{
    return refers_by_name(x) || x->kind == AST_EXP_WINDOW || x->kind == AST_EXP_EQUILIBRIUM;
}

/* Do two such items set the same, so that one replaces the other? */
static bool
says_the_same(const struct parse *p, const ast_exp_item *own, const ast_exp_item *x)
{
    return own->kind == x->kind &&
           (!refers_by_name(x) || (own->initial == x->initial && same_text(p, own->ref.at, x->ref.at)));
}

/* The items of one experiment, indexed by what they set. */
struct own_items {
    const struct parse *p;
    const ast_exp_item *item;
    index_set found;
};

static uint64_t
hash_of_item(const void *ctx, uint32_t k)
{
    const struct own_items *own = ctx;
    const ast_exp_item *x = &own->item[k];

    return refers_by_name(x)
               ? bg_hash_bytes(own->p->scan->text + x->ref.at.begin, x->ref.at.end - x->ref.at.begin, x->kind)
               : bg_hash_mix(x->kind, 0);
}

/* Does an own item replace item k of `base`? */
static bool
is_replaced(const struct own_items *own, const struct own_items *base, uint32_t k)
{
    uint32_t at;

    for (size_t i = hash_of_item(base, k); replaces(&base->item[k]) && (at = index_set_at(&own->found, i)) != MAP_NONE;
         i++)
        if (says_the_same(own->p, &own->item[at], &base->item[k]))
            return true;
    return false;
}

static void
inherit(struct completing *c, ast_experiment *e, const ast_experiment *base)
{
    struct own_items own = { c->p, e->item, { 0 } }, inherited = { c->p, base->item, { 0 } };
    ast_exp_item *all;
    int n = 0;

    e->from = base;
    if (c->inherited > MOST_INHERITED)
        return;
    c->inherited += (size_t)base->nitems;
    if (c->inherited > MOST_INHERITED) {
        parse_error(c->p, "experiment-base", e->base_at, "the experiments of this file inherit more than %d items",
                    MOST_INHERITED);
        return;
    }
    all = arena_new_array(c->p->a, ast_exp_item, (size_t)base->nitems + (size_t)e->nitems);
    for (int k = 0; k < e->nitems; k++)
        if (replaces(&e->item[k]) && !is_replaced(&own, &own, (uint32_t)k))
            index_set_add(&own.found, hash_of_item(&own, (uint32_t)k), (uint32_t)k, hash_of_item, &own);
    for (int k = 0; k < base->nitems; k++)
        if (!is_replaced(&own, &inherited, (uint32_t)k))
            all[n++] = base->item[k];
    index_set_free(&own.found);
    e->inherited = n;
    if (e->nitems)
        memcpy(all + n, e->item, (size_t)e->nitems * sizeof *all);
    e->item = all;
    e->nitems += n;
}

/* The experiment that e inherits from, or NULL with a message. path: the experiments that lead to e. */
static ast_experiment *
base_of(struct completing *c, const ast_experiment *e, ast_experiment *const *path, int n)
{
    uint32_t at = map_get(&c->by_name, map_ptr_key(e->base));
    ast_experiment *base = at == MAP_NONE ? NULL : ((ast_decl *)c->p->decls.at)[at].experiment;

    if (!base) {
        parse_error(c->p, "experiment-base", e->base_at, "no experiment of this file is called \"%.60s\"", e->base);
        return NULL;
    }
    for (int k = 0; k < n; k++) {
        if (path[k] == base) {
            parse_error(c->p, "experiment-base", e->base_at,
                        "experiments take over items from each other in a circle: \"%.60s\" leads back to itself",
                        e->base);
            return NULL;
        }
    }
    if (n == DEEPEST_BASE) {
        parse_error(c->p, "experiment-base", e->base_at,
                    "experiments take over items from each other in more than "
                    "%d levels",
                    DEEPEST_BASE);
        return NULL;
    }
    return base;
}

/* Goes to the first experiment that is complete, then back, completing each from its base. */
static void
complete(struct completing *c, ast_experiment *e)
{
    ast_experiment *path[DEEPEST_BASE + 1];
    int n = 0;

    while (!e->model) {
        ast_experiment *base;

        if (!e->base) {
            e->model = model_of_experiment(c, e);
            break;
        }
        path[n++] = e;
        base = base_of(c, e, path, n);
        if (!base) {
            path[--n]->model = "";
            break;
        }
        e = base;
    }
    while (n) {
        ast_experiment *derived = path[--n];

        derived->model = e->model;
        inherit(c, derived, e);
        e = derived;
    }
}

void
experiments_complete(struct parse *p)
{
    struct completing c = { .p = p };
    const ast_decl *d = p->decls.at;

    find_only_model(&c);
    for (int k = p->decls.n; k-- > 0;)
        if (d[k].kind == AST_DECL_EXPERIMENT)
            map_set(&c.by_name, map_ptr_key(d[k].experiment->name), (uint32_t)k);
    for (int k = 0; k < p->decls.n; k++)
        if (d[k].kind == AST_DECL_EXPERIMENT)
            complete(&c, d[k].experiment);
    map_free(&c.by_name);
}
