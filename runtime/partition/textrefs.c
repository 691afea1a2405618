/* textrefs.c - see textrefs.h */
#include "textrefs.h"

#include <string.h>

#include "domain.h"

/* The node whose law is walked, and the list to which references are added. */
struct gathering {
    const ast_node *node;
    text_ref like;
    text_refs *out;
};

static void
gather_ref(void *ctx, const ast_expr *e)
{
    struct gathering *g = ctx;
    ast_part room;
    ast_ref ref;

    if (e->kind != AST_REF)
        return;
    ref = ast_expr_ref(e, &room);
    if (!ref.nparts || ast_own_name(g->node, ref.part[0].name))
        return;
    g->like.expr = e;
    vec_push(g->out, g->like);
}

void
textrefs_of(const ast_expr *e, const ast_node *n, text_ref like, text_refs *out)
{
    ast_visit(e, gather_ref, &(struct gathering){ n, like, out });
}

static void
refs_of_node(const ast_node *n, text_refs *out)
{
    text_ref like = { .kind = READS_PART, .reader = ast_node_nparts(n) ? ast_node_name(n) : "" };

    textrefs_of(n->own->linear, NULL, like, out);
    textrefs_of(n->own->more->such_that, NULL, like, out);
    for (int i = 0; i < n->own->block->nitems; i++)
        if (n->own->block->item[i].kind != AST_LAW_PORT)
            textrefs_of(n->own->block->item[i].right, n->own->block->item[i].kind == AST_LAW_INITIAL ? NULL : n, like,
                        out);
}

static void
of_experiment(const ast_experiment *x, text_refs *out)
{
    for (int i = 0; i < x->nitems; i++) {
        const ast_exp_item *item = &x->item[i];
        text_ref like = { .kind = READS_EXPERIMENT, .reader = x->name, .item = item };

        if (item->kind == AST_EXP_EXPECT)
            continue; /* an expectation does not make anything be computed */
        textrefs_of(item->a, NULL, like, out);
        textrefs_of(item->b, NULL, like, out);
        for (int k = 0; k < item->nexprs; k++)
            textrefs_of(item->exprs[k], NULL, like, out);
    }
}

void
textrefs_gather(const ast_model *m, const ast_file *file, text_refs *out)
{
    for (int i = 0; i < m->nstmt; i++) {
        const ast_stmt *s = m->stmt[i];

        if (s->kind == AST_STMT_CHAIN) {
            for (int k = 0; k < s->nnodes; k++)
                refs_of_node(&ast_chain(s)[k], out);
        } else if (s->kind == AST_STMT_VALUE) {
            textrefs_of(s->value.value, NULL, (text_ref){ .kind = READS_VALUE, .reader = s->value.name }, out);
        } else if (s->kind == AST_STMT_INITIAL) {
            text_ref like = { .kind = READS_JUMP, .reader = s->initial.ref.part[0].name, .item = s };

            textrefs_of(s->initial.value, NULL, like, out);
        } else if (s->kind == AST_STMT_WHEN) {
            for (int k = 0; k < s->when.n; k++) {
                const ast_ref *target = &s->when.reinit[k].target;
                text_ref like = { .kind = READS_JUMP, .reader = target->nparts ? target->part[0].name : "", .item = s };

                if (s->when.cond) /* each target's partition decides by itself */
                    textrefs_of(s->when.cond, NULL, like, out);
                textrefs_of(s->when.reinit[k].value, NULL, like, out);
            }
        }
    }
    for (size_t i = 0; i < file->ndecls; i++)
        if (file->decl[i].kind == AST_DECL_EXPERIMENT && file->decl[i].experiment->model == m->name)
            of_experiment(file->decl[i].experiment, out);
}

/* ---------------------------------------------------------------- variables by name */

static uint64_t
key_of_text(const char *name, size_t n)
{
    return bg_hash_bytes(name, n, 0);
}

static bool
is_value(enum var_kind k)
{
    return k == VAR_SIGNAL || k == VAR_INTEGRAL || k == VAR_PARAM || k == VAR_TIME;
}

void
text_names_make(const flat_model *f, text_names *out)
{
    *out = (text_names){ .f = f };
    for (uint32_t v = 0; v < f->var.n; v++)
        if (is_value(f->var.at[v].kind) &&
            map_get(&out->value, key_of_text(var_name(f, v), strlen(var_name(f, v)))) == MAP_NONE)
            map_set(&out->value, key_of_text(var_name(f, v), strlen(var_name(f, v))), v);
    for (uint32_t i = 0; i < f->element.n; i++)
        map_set(&out->element, key_of_text(f->element.at[i].name, strlen(f->element.at[i].name)), i);
    for (uint32_t i = 0; i < f->junction.n; i++)
        if (!f->junction.at[i].implicit)
            map_set(&out->junction, key_of_text(f->junction.at[i].name, strlen(f->junction.at[i].name)), i);
    for (uint32_t i = 0; i < f->bond.n; i++)
        if (f->bond.at[i].name)
            map_set(&out->bond, key_of_text(f->bond.at[i].name, strlen(f->bond.at[i].name)), i);
}

void
text_names_free(text_names *t)
{
    map_free(&t->value);
    map_free(&t->element);
    map_free(&t->junction);
    map_free(&t->bond);
}

static var_id
of_bond(const flat_model *f, const flat_bond *b, char quantity)
{
    uint8_t type = quantity == 'e' ? 0 : 1;

    if (f->junction.at[b->from].type == type)
        return f->junction.at[b->from].common;
    if (f->junction.at[b->to].type == type)
        return f->junction.at[b->to].common;
    return b->own;
}

/* e, f, q or p, for which a domain may have other names; 0: none of them. x NULL: no element. */
static char
letter_of(const flat_model *f, uint32_t junction, const flat_element *x, const char *name)
{
    enum quantity is;

    if (name[0] && !name[1] &&
        (strchr("ef", name[0]) || (x && ((x->type == EL_C && name[0] == 'q') || (x->type == EL_I && name[0] == 'p')))))
        return name[0];
    return !quantity_by_name(f, junction, !x && !f->junction.at[junction].type, name, &is) ? 0
           : is == Q_EFFORT                                                                ? 'e'
                                                                                           : 'f';
}

var_id
text_variable(const text_names *t, const char *name)
{
    const flat_model *f = t->f;
    const char *dot = strrchr(name, '.');
    size_t n = dot ? (size_t)(dot - name) : 0;
    uint32_t i;
    char q;

    if ((i = map_get(&t->value, key_of_text(name, strlen(name)))) != MAP_NONE)
        return i;
    if (!n)
        return VAR_NONE;
    if ((i = map_get(&t->junction, key_of_text(name, n))) != MAP_NONE &&
        letter_of(f, i, NULL, dot + 1) == (f->junction.at[i].type ? 'f' : 'e'))
        return f->junction.at[i].common;
    if ((i = map_get(&t->element, key_of_text(name, n))) != MAP_NONE && f->element.at[i].nports == 1) {
        const flat_port *p = &f->port.at[f->element.at[i].port0];

        q = letter_of(f, p->junction, &f->element.at[i], dot + 1);
        return q == 'e' ? p->e : q == 'f' ? p->f : q ? p->stored : VAR_NONE;
    }
    if ((i = map_get(&t->bond, key_of_text(name, n))) != MAP_NONE &&
        ((q = letter_of(f, f->bond.at[i].from, NULL, dot + 1)) == 'e' || q == 'f'))
        return of_bond(f, &f->bond.at[i], q);
    return VAR_NONE;
}
