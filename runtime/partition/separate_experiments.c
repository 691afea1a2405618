/* separate_experiments.c - the experiments of one partition's text: see separate.h */
#include <string.h>

#include "separate_inside.h"

static bool
keeps_ref(const struct one *x, const ast_ref *r)
{
    uint32_t k = r->nparts ? map_get(&x->d->part, part_key(r->part[0].name)) : MAP_NONE;

    return k == x->k;
}

const char *
part_with_inputs(const struct one *x, const ast_expr *e)
{
    text_refs r = { 0 };
    edits change = { 0 };
    strbuf b = { 0 };
    const char *text;
    char *why = NULL;

    textrefs_of(e, NULL, (text_ref){ 0 }, &r);
    for (size_t i = 0; i < r.n; i++) {
        span at = r.at[i].expr->at;
        const char *of = part_source(x, at), *name;
        ast_part room;

        if (ast_expr_ref(r.at[i].expr, &room).nparts < 2 || !part_needs(x, of))
            continue;
        name = x->need.at[map_get(&x->of_text, bg_hash_bytes(of, strlen(of), 0))].input;
        edits_replace(&change, at.begin - e->at.begin, at.end - e->at.begin, name, strlen(name));
    }
    text = part_source(x, e->at);
    if (change.list.n && edits_seal(&change, strlen(text), &why)) {
        edits_apply(&change, text, strlen(text), &b);
        text = arena_strndup(x->d->a, b.at, b.n);
    }
    free(why);
    strbuf_free(&b);
    edits_free(&change);
    vec_free(&r);
    return text;
}

/* An item that lists several things, reduced to those of this part; NULL: none are left. */
static const char *
remaining(const struct one *x, const ast_exp_item *item)
{
    strbuf b = { 0 };
    const char *text = NULL;

    for (int n = 0; n < item->nexprs + item->nrefs; n++) {
        bool expr = n < item->nexprs;

        if (expr ? part_of_expr(x->d, item->exprs[n]) != x->k : !keeps_ref(x, &item->refs[n - item->nexprs]))
            continue;
        strbuf_printf(&b, "%s%s", b.n ? ", " : "",
                      expr ? part_with_inputs(x, item->exprs[n]) : part_source(x, item->refs[n - item->nexprs].at));
    }
    if (b.n)
        text = arena_format(x->d->a, "%s %s;", item->kind == AST_EXP_RECORD ? "record" : "keep", b.at);
    strbuf_free(&b);
    return text;
}

/* An item of an experiment as it stands in this part; NULL: nothing. */
static const char *
item_here(const struct one *x, const ast_exp_item *item)
{
    const struct ending *end = ends_of(x->d, item);

    if (end)
        return ends_item(x, end);
    if (item->kind == AST_EXP_OBSERVE && item->ref.nparts && part_of_value(x->d, item->ref.part[0].name) != x->k)
        return NULL;
    if (item->kind == AST_EXP_LET && item->initial && !part_begins(x, item->ref.part[0].name))
        return NULL;
    if (item->kind == AST_EXP_EXPECT) /* an expectation holds for the whole model only */
        return NULL;
    return item->kind == AST_EXP_RECORD || item->kind == AST_EXP_KEEP ? remaining(x, item) : part_source(x, item->at);
}

/* Writes out the items inherited from other experiments, because those are removed or have inputs of their own. */
static void
say_inherited(struct one *x, const ast_experiment *e)
{
    const char *brace = strchr(x->text + e->base_at.end, '{'), *of = arena_format(x->d->a, " of %s", e->model);
    strbuf b = { 0 };

    for (int i = 0; i < e->inherited; i++) {
        const char *now = item_here(x, &e->item[i]);

        if (now)
            strbuf_printf(&b, "\n    %s", now);
    }
    edits_replace(&x->e, e->name_at.end, e->base_at.end, of, strlen(of));
    if (b.n && brace)
        edits_insert(&x->e, (size_t)(brace - x->text) + 1, b.at, b.n);
    strbuf_free(&b);
}

static void
edit_experiment(struct one *x, const ast_experiment *e, spans *lost)
{
    struct splitter *d = x->d;
    part *self = &d->out->part.at[x->k];
    strbuf more = { 0 };

    if (e->base)
        say_inherited(x, e);
    for (int i = 0; i < e->nitems; i++) {
        const ast_exp_item *item = &e->item[i];
        const struct ending *end = ends_of(d, item);
        const char *now = i < e->inherited ? NULL : item_here(x, item);

        if (i >= e->inherited && !now)
            vec_push(lost, item->at);
        else if (now && strcmp(now, part_source(x, item->at)))
            edits_replace(&x->e, item->at.begin, item->at.end, now, strlen(now));
        if (end && end->owner > x->k)
            strbuf_printf(&more, "    let %s = %.17g [s];\n", end->time, d->end[part_run(d, e)]);
    }
    for (size_t i = 0; i < x->need.n; i++)
        if (x->need.at[i].owner != NONE)
            strbuf_printf(&more, "    let %s = spline(\"%s\", \"%s\", time);\n", x->need.at[i].input,
                          part_csv(&d->out->part.at[x->need.at[i].owner], e->name, d->a), x->need.at[i].text);
    turns_start(x, e, &more);
    for (size_t i = 0; i < self->recorded.n; i++)
        strbuf_printf(&more, "%s%s", i ? ", " : "    record ", self->recorded.at[i]);
    if (self->recorded.n)
        strbuf_puts(&more, ";\n");
    if (more.n) {
        size_t at = e->at.end - 1;

        while (at && (x->text[at - 1] == ' ' || x->text[at - 1] == '\t'))
            at--;
        if (at && x->text[at - 1] != '\n')
            edits_insert(&x->e, e->at.end - 1, "\n", 1);
        edits_insert(&x->e, at && x->text[at - 1] == '\n' ? at : e->at.end - 1, more.at, more.n);
    }
    strbuf_free(&more);
}

void
part_experiments(struct one *x, spans *lost)
{
    const struct splitter *d = x->d;
    const ast_model *m = d->c.flat->ast;

    for (size_t i = 0; i < d->c.ast->ndecls; i++) {
        const ast_experiment *e = d->c.ast->decl[i].kind == AST_DECL_EXPERIMENT ? d->c.ast->decl[i].experiment : NULL;

        if (!e)
            continue;
        if (e->model == m->name && part_is_asked(d, e))
            edit_experiment(x, e, lost);
        else
            vec_push(lost, e->at);
    }
}
