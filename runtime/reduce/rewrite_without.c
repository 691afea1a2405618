/* rewrite_without.c - takes parts of components, loops and arrays out, by `without` */
#include <string.h>

#include "rewrite_without_inside.h"

/* ---------------------------------------------------------------- where elements come from */

uint32_t
without_outermost(const flat_model *f, uint32_t origin)
{
    while (origin != NONE && f->origin.at[origin].parent != NONE)
        origin = f->origin.at[origin].parent;
    return origin;
}

const ast_stmt *
without_top_statement(const flat_model *f, const flat_element *e)
{
    uint32_t o = without_outermost(f, e->parent);

    return o == NONE ? e->stmt : f->origin.at[o].stmt;
}

static void
gather_statements(const flat_model *f, map *top)
{
    for (int k = 0; k < f->ast->nstmt; k++)
        map_set(top, map_ptr_key(f->ast->stmt[k]), (uint32_t)k);
}

static void
gather_bonded(const ast_stmt *s, map *bonded)
{
    switch (s->kind) {
    case AST_STMT_CHAIN:
        for (int k = 0; k < s->nnodes; k++)
            if (ast_node_nparts(&ast_chain(s)[k]))
                map_set(bonded, map_ptr_key(ast_node_name(&ast_chain(s)[k])), 1);
        break;
    case AST_STMT_FOR:
        for (int k = 0; k < s->loop.n; k++)
            gather_bonded(s->loop.body[k], bonded);
        break;
    case AST_STMT_IF:
        for (int k = 0; k < s->cond.nthen; k++)
            gather_bonded(s->cond.then[k], bonded);
        for (int k = 0; k < s->cond.nother; k++)
            gather_bonded(s->cond.other[k], bonded);
        break;
    case AST_STMT_VALUE:
    case AST_STMT_PORT:
    case AST_STMT_WITHOUT:
    case AST_STMT_INITIAL:
    case AST_STMT_WHEN: break;
    }
}

/* First names that stand in bonds within loops and ifs. Nesting is bounded by the parser. */
static void
gather_inner_bonds(const flat_model *f, map *bonded)
{
    for (int k = 0; k < f->ast->nstmt; k++)
        if (f->ast->stmt[k]->kind == AST_STMT_FOR || f->ast->stmt[k]->kind == AST_STMT_IF)
            gather_bonded(f->ast->stmt[k], bonded);
}

/* Instances that the model itself makes: not those within others. */
static void
gather_instances(const flat_model *f, map *instance_of)
{
    for (uint32_t o = 0; o < f->origin.n; o++) {
        uint32_t up = f->origin.at[o].parent;

        while (up != NONE && !f->origin.at[up].model)
            up = f->origin.at[up].parent;
        if (f->origin.at[o].name && up == NONE)
            map_set(instance_of, map_ptr_key(names_intern_z(f->names, f->origin.at[o].name)), o);
    }
}

void
without_elements(const flat_model *f, const char *const *name, size_t n, bool *is)
{
    map top = { 0 }, element_of = { 0 }, bonded = { 0 }, instance_of = { 0 };

    gather_statements(f, &top);
    gather_inner_bonds(f, &bonded);
    gather_instances(f, &instance_of);
    for (uint32_t e = 0; e < f->element.n; e++)
        map_set(&element_of, map_ptr_key(f->element.at[e].name), e);
    for (size_t k = 0; k < n; k++) {
        uint32_t e = map_get(&element_of, map_ptr_key(name[k])), o = map_get(&instance_of, map_ptr_key(name[k]));

        is[k] = o != MAP_NONE && (f->origin.at[o].parent != NONE || strchr(name[k], '[') ||
                                  map_get(&top, map_ptr_key(f->origin.at[o].stmt)) == MAP_NONE ||
                                  map_get(&bonded, map_ptr_key(name[k])) != MAP_NONE);
        is[k] |= e != MAP_NONE && (f->element.at[e].parent != NONE || strchr(name[k], '[') ||
                                   map_get(&top, map_ptr_key(f->element.at[e].stmt)) == MAP_NONE ||
                                   map_get(&bonded, map_ptr_key(f->element.at[e].name)) != MAP_NONE);
    }
    map_free(&top);
    map_free(&element_of);
    map_free(&bonded);
    map_free(&instance_of);
}

bool
without_stands_in_model(const struct taking *t, const ast_stmt *s)
{
    return map_get(&t->top, map_ptr_key(s)) != MAP_NONE;
}

/* ---------------------------------------------------------------- what other experiments name */

const char *
without_literal_name(const flat_model *f, const ast_ref *ref, int n)
{
    strbuf b = { 0 };
    const char *name = NULL;
    bool plain = true;

    for (int k = 0; k < n; k++) {
        const ast_part *p = &ref->part[k];

        strbuf_printf(&b, "%s%s", k ? "." : "", p->name);
        for (int i = 0; i < p->nindex; i++) {
            plain &= p->brackets->index[i].from->kind == AST_NUMBER && !p->brackets->index[i].to;
            if (plain)
                strbuf_printf(&b, "%s%.0f%s", i ? "," : "[", p->brackets->index[i].from->number.value,
                              i + 1 == p->nindex ? "]" : "");
        }
    }
    if (plain)
        name = names_intern(f->names, b.at, b.n);
    strbuf_free(&b);
    return name;
}

static void
mention(struct taking *t, const ast_ref *ref, int n)
{
    const char *name;

    if (n < 1)
        return;
    name = without_literal_name(t->f, ref, n);
    map_set(name ? &t->mentioned : &t->mentioned_base, map_ptr_key(name ? name : ref->part[0].name),
            (uint32_t)t->mention.n);
    vec_push(&t->mention, ref->at);
}

static void
mention_read(void *ctx, const ast_ref *ref)
{
    mention(ctx, ref, ref->nparts - 1);
}

/* The experiment that is run was elaborated and its readers are known; the others are read from the text. */
static void
read_experiments(struct taking *t)
{
    for (size_t d = 0; d < t->file->ndecls; d++) {
        const ast_experiment *x = t->file->decl[d].kind == AST_DECL_EXPERIMENT ? t->file->decl[d].experiment : NULL;

        if (!x || x == t->f->ast_experiment || x->model != t->f->ast->name)
            continue;
        for (int k = 0; k < x->nitems; k++) {
            for (int i = 0; i < x->item[k].nexprs; i++)
                ast_each_ref(x->item[k].exprs[i], mention_read, t);
            for (int i = 0; i < x->item[k].nrefs; i++)
                mention(t, &x->item[k].refs[i], x->item[k].refs[i].nparts);
        }
    }
}

/* ---------------------------------------------------------------- let and expect of the experiments */

/* Does the part, or what it stores, or the instance go by a `without` of this plan? */
static bool
goes(const struct taking *t, const char *name)
{
    uint32_t e = map_get(&t->element_of, map_ptr_key(name)), j = map_get(&t->junction_of, map_ptr_key(name)),
             o = map_get(&t->instance_of, map_ptr_key(name));

    if (o != MAP_NONE)
        return t->asked[o] != NONE;
    if (e != MAP_NONE && t->clamped[e])
        return true;
    return e != MAP_NONE ? t->element_gone[e] && !t->by_text[t->f->junction.n + e]
                         : j != MAP_NONE && t->junction_gone[j] && !t->by_text[j];
}

/* element: of an activity, a name without a quantity behind it */
struct expecting {
    const struct taking *t;
    const ast_ref *element;
    const char *gone;
};

static void
copies_expect_gone(void *ctx, const ast_ref *r)
{
    struct expecting *w = ctx;

    for (int n = r == w->element ? r->nparts : r->nparts - 1; n > 0 && !w->gone; n--) {
        const char *name = without_literal_name(w->t->f, r, n);

        if (name && goes(w->t, name))
            w->gone = name;
    }
}

/* What a `let` sets that goes: a part's initial value, or anything in an instance. NULL: it stays. */
static const char *
let_of_gone(const struct taking *t, const ast_exp_item *item)
{
    const char *name = item->ref.nparts > 1 ? without_literal_name(t->f, &item->ref, 1) : NULL;

    if (name && map_get(&t->instance_of, map_ptr_key(name)) != MAP_NONE && goes(t, name))
        return name;
    name = item->initial && item->ref.nparts > 1 ? without_literal_name(t->f, &item->ref, item->ref.nparts - 1) : NULL;
    return name && goes(t, name) ? name : NULL;
}

/* `let spring[1].q(0)` of what goes, and what is expected of it, in any experiment of the model. */
static void
drop_items(struct taking *t)
{
    for (size_t d = 0; d < t->file->ndecls; d++) {
        const ast_experiment *x = t->file->decl[d].kind == AST_DECL_EXPERIMENT ? t->file->decl[d].experiment : NULL;

        for (int k = x ? x->inherited : 0; x && x->model == t->f->ast->name && k < x->nitems; k++) {
            const ast_exp_item *item = &x->item[k];
            const char *name = item->kind == AST_EXP_LET ? let_of_gone(t, item) : NULL;
            struct expecting expecting = { t, item->expect ? &item->expect->element : NULL, NULL };

            if (item->kind == AST_EXP_EXPECT) {
                ast_each_expected(item, copies_expect_gone, &expecting);
                if (expecting.gone) {
                    vec_push(&t->lost->list, item->at);
                    without_note(t, REWRITE_EXPECT, expecting.gone, item->at);
                }
            }
            if (!name)
                continue;
            vec_push(&t->lost->list, item->at);
            without_note(t, REWRITE_LET, name, item->at);
        }
    }
}

/* `spring[1].q(0) = ...;` of what goes; of a range that says several, what is left of it stays. */
static void
drop_initials(struct taking *t)
{
    for (int k = 0; k < t->f->ast->nstmt; k++) {
        const ast_stmt *s = t->f->ast->stmt[k];
        const ast_ref *r = &s->initial.ref;
        const char *name = s->kind == AST_STMT_INITIAL && r->nparts > 1 ? without_literal_name(t->f, r, r->nparts - 1)
                                                                        : NULL;

        if (!name || !goes(t, name))
            continue;
        vec_push(&t->lost->list, s->at);
        without_note(t, REWRITE_INITIAL, name, s->at);
    }
}

static void
note_item_initials(struct taking *t, const char *name, const ast_node *n)
{
    for (int i = 0; n && i < n->own->block->nitems; i++)
        if (n->own->block->item[i].kind == AST_LAW_INITIAL)
            without_note(t, REWRITE_INITIAL, name, n->own->block->item[i].at);
}

static void
make_items(struct taking *t)
{
    const flat_model *f = t->f;

    for (uint32_t e = 0; e < f->element.n; e++) {
        if (!t->clamped[e])
            continue;
        without_note(t, REWRITE_CLAMP, f->element.at[e].name,
                     rewrite_place(f, f->element.at[e].parent, element_at(&f->element.at[e])));
        t->r->item.at[t->r->item.n - 1].owner = f->element.at[e].name;
        note_item_initials(t, f->element.at[e].name, f->element.at[e].node);
    }

    for (uint32_t o = 0; o < f->origin.n; o++)
        if (t->asked[o] != NONE)
            without_note(t, REWRITE_ELEMENT, f->origin.at[o].name, ast_node_at(f->origin.at[o].node));
    for (uint32_t e = 0; e < f->element.n; e++) {
        const flat_element *x = &f->element.at[e];

        if (!t->element_gone[e] || t->by_text[f->junction.n + e] || t->inside[f->junction.n + e] != NONE)
            continue;
        without_note(t, t->wanted[e] != NONE ? REWRITE_ELEMENT : REWRITE_TWO_PORT, x->name,
                     rewrite_place(f, x->parent, element_at(x)));
        note_item_initials(t, x->name, x->node);
    }
    for (uint32_t j = 0; j < f->junction.n; j++)
        if (t->junction_gone[j] && !t->by_text[j] && !f->junction.at[j].implicit && t->inside[j] == NONE) {
            without_note(t, REWRITE_JUNCTION, f->junction.at[j].name,
                         rewrite_place(f, f->junction.at[j].parent, f->junction.at[j].at));
            note_item_initials(t, f->junction.at[j].name, f->junction.at[j].node);
        }
}

static bool
shares_flow(const flat_model *f, uint32_t e)
{
    return f->junction.at[f->port.at[f->element.at[e].port0].junction].type == 1;
}

static void
make_edits(struct taking *t)
{
    const flat_model *f = t->f;
    bool *whole = bg_calloc(f->element.n, sizeof *whole), top = false;
    const char *name;
    map dropped = { 0 };

    without_drop_lines(t, whole);
    for (uint32_t e = 0; e < f->element.n; e++) {
        whole[e] |= t->inside[f->junction.n + e] != NONE; /* its instance is named for it */
        if (t->inside[f->junction.n + e] != NONE)
            top = true;
        else if (whole[e] && t->wanted[e] != NONE)
            map_set(&dropped, map_ptr_key(ast_node_name(f->element.at[e].node)), 1);
        else if (t->wanted[e] != NONE || t->clamped[e])
            top = true; /* a list of the model may be asked for */
    }
    without_find_old_lists(t, &dropped, top);
    for (uint32_t e = 0; e < f->element.n; e++)
        if ((t->wanted[e] != NONE || t->clamped[e]) && !whole[e])
            without_group_of(t, e, &name);
    for (uint32_t o = 0; o < f->origin.n; o++)
        if (t->asked[o] != NONE)
            without_group_of_instance(t, o);
    without_take_over(t, &dropped);
    for (uint32_t o = 0; o < f->origin.n; o++)
        if (t->asked[o] != NONE)
            without_add_entry(t, f->origin.at[o].name, without_group_of_instance(t, o));
    for (uint32_t e = 0; e < f->element.n; e++) {
        if ((t->wanted[e] != NONE || t->clamped[e]) && !whole[e]) {
            uint32_t g = without_group_of(t, e, &name);

            if (t->clamped[e])
                name = arena_format(t->f->arena, "%s.%s", name, shares_flow(f, e) ? "f" : "e");
            without_add_entry(t, name, g);
        }
    }
    without_write_lists(t);
    drop_items(t);
    drop_initials(t);
    make_items(t);
    map_free(&dropped);
    free(whole);
}

bool
without_plan(const flat_model *f, const ast_file *file, const char *const *wanted, size_t n, const char *const *clamped,
             size_t nclamped, const char *const *gone, size_t ngone, without_lost *lost, rewrite *r)
{
    struct taking t = { .f = f,
                        .file = file,
                        .text = source_text(f->sources, file->file),
                        .length = source_length(f->sources, file->file),
                        .r = r,
                        .lost = lost };
    size_t all = f->element.n + f->junction.n;
    bool fine = true;

    t.wanted = bg_malloc((f->element.n + 1) * sizeof *t.wanted);
    t.clamped = bg_calloc(f->element.n + 1, sizeof *t.clamped);
    t.asked = bg_malloc((f->origin.n + 1) * sizeof *t.asked);
    memset(t.asked, 0xff, (f->origin.n + 1) * sizeof *t.asked);
    t.inside = bg_malloc((all + 1) * sizeof *t.inside);
    gather_instances(f, &t.instance_of);
    t.element_gone = bg_calloc(f->element.n, sizeof *t.element_gone);
    t.junction_gone = bg_calloc(f->junction.n, sizeof *t.junction_gone);
    without_gather_links(&t);
    t.by_text = bg_calloc(all, sizeof *t.by_text);
    for (uint32_t e = 0; e < f->element.n; e++) {
        map_set(&t.element_of, map_ptr_key(f->element.at[e].name), e);
        t.wanted[e] = NONE;
    }
    for (uint32_t j = 0; j < f->junction.n; j++)
        if (!f->junction.at[j].implicit)
            map_set(&t.junction_of, map_ptr_key(f->junction.at[j].name), j);
    for (size_t k = 0; k < n && fine; k++) {
        uint32_t e = map_get(&t.element_of, map_ptr_key(wanted[k])),
                 o = map_get(&t.instance_of, map_ptr_key(wanted[k]));

        if (o != MAP_NONE) {
            t.asked[o] = (uint32_t)k;
        } else if (e == MAP_NONE) {
            r->error = bg_format("model \"%s\" has no element \"%s\"", f->name, wanted[k]);
            fine = false;
        } else {
            t.wanted[e] = (uint32_t)k;
        }
    }
    for (size_t k = 0; k < nclamped && fine; k++) {
        uint32_t e = map_get(&t.element_of, map_ptr_key(clamped[k]));

        if (e != MAP_NONE && t.wanted[e] == NONE)
            t.clamped[e] = true;
    }
    gather_statements(f, &t.top);
    if (fine) {
        without_ask_instances(&t);
        without_block_instances(&t);
        read_experiments(&t);
        without_block_named(&t);
        do
            without_cascade(&t, gone, ngone);
        while (without_keep_needed(&t));
        make_edits(&t);
    }
    free(t.wanted);
    free(t.clamped);
    free(t.asked);
    free(t.inside);
    map_free(&t.instance_of);
    free(t.element_gone);
    free(t.junction_gone);
    cleanup_free(&t.clean);
    free(t.by_text);
    map_free(&t.top);
    map_free(&t.element_of);
    map_free(&t.junction_of);
    map_free(&t.mentioned);
    map_free(&t.mentioned_base);
    map_free(&t.heads);
    vec_free(&t.mention);
    vec_free(&t.open);
    vec_free(&t.entry);
    vec_free(&t.group);
    return fine;
}
