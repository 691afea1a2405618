/* rewrite_without_lines.c - lines of loops all of whose copies go */

#include "rewrite_without_inside.h"

void
without_note(struct taking *t, enum rewrite_kind kind, const char *name, span at)
{
    rewrite_item x = { .kind = kind, .name = name, .at = at };

    vec_push(&t->r->item, x);
}

/* The loop whose body has the statement, if it is a line of its own there: one bond from a junction to the element.
 * NULL otherwise. */
static const ast_stmt *
line_of_loop(const struct taking *t, const flat_element *e)
{
    const flat_origin *o = e->parent == NONE ? NULL : &t->f->origin.at[e->parent];
    const ast_node *other;

    for (uint32_t k = e->parent; k != NONE; k = t->f->origin.at[k].parent)
        if (t->f->origin.at[k].model)
            return NULL; /* of a component, which others may use */
    if (!o || e->stmt->kind != AST_STMT_CHAIN || e->stmt->nnodes != 2 || e->stmt->named ||
        element_at(e).file != t->file->file)
        return NULL;
    other = &ast_chain(e->stmt)[ast_chain(e->stmt) == e->node];
    if (other->own->type)
        return NULL; /* it declares more */
    for (int k = 0; k < o->stmt->loop.n; k++)
        if (o->stmt->loop.body[k] == e->stmt)
            return o->stmt;
    return NULL;
}

/* Value of an index that is a number, the loop's variable, or the one plus or minus the other. */
static bool
index_value(const ast_expr *x, const char *variable, double round, double *value)
{
    ast_part room;
    double b;

    switch (x->kind) {
    case AST_NUMBER: *value = x->number.value; return true;
    case AST_REF:
        *value = round;
        return ast_expr_ref(x, &room).nparts == 1 && ast_expr_ref(x, &room).part[0].name == variable;
    case AST_BINARY:
        if ((x->op != AST_ADD && x->op != AST_SUB) || x->bin.a->kind == AST_BINARY || x->bin.b->kind == AST_BINARY ||
            !index_value(x->bin.a, variable, round, value) || !index_value(x->bin.b, variable, round, &b))
            return false;
        *value += x->op == AST_ADD ? b : -b;
        return true;
    default: return false;
    }
}

/* Does the junction stay that round `round` of the loop bonds the line's element to? */
static bool
junction_stays(const struct taking *t, const ast_stmt *loop, const ast_ref *ref, double round)
{
    const ast_part *p = &ref->part[0];
    char *name;
    double value;
    uint32_t j;

    if (ref->nparts != 1 || p->nindex > 1 ||
        (p->nindex &&
         (p->brackets->index[0].to || !index_value(p->brackets->index[0].from, loop->loop.var, round, &value))))
        return false;
    name = p->nindex ? bg_format("%s[%.0f]", p->name, value) : bg_strdup(p->name);
    j = map_get(&t->junction_of, map_ptr_key(names_intern_z(t->f->names, name)));
    free(name);
    return j != MAP_NONE && !t->junction_gone[j];
}

/* Do the junctions stay that copies were on which went before, by a list that says so? */
static bool
earlier_stay(const struct taking *t, const flat_element *e, const ast_stmt *loop)
{
    const ast_node *other = &ast_chain(e->stmt)[ast_chain(e->stmt) == e->node];
    ast_part own_room, other_room;
    const ast_part *own = ast_node_ref(e->node, &own_room).part;
    ast_ref on = ast_node_ref(other, &other_room);
    const ast_model *m = t->f->ast;

    for (int k = 0; k < m->nstmt; k++)
        for (int i = 0; m->stmt[k]->kind == AST_STMT_WITHOUT && i < m->stmt[k]->without.n; i++) {
            const ast_part *p = &m->stmt[k]->without.ref[i].part[0];
            double from, to;

            if (p->name != own->name)
                continue;
            if (p->nindex != 1 || own->nindex != 1 || own->brackets->index[0].from->kind != AST_REF ||
                ast_expr_name(own->brackets->index[0].from) != loop->loop.var ||
                p->brackets->index[0].from->kind != AST_NUMBER ||
                (p->brackets->index[0].to && p->brackets->index[0].to->kind != AST_NUMBER))
                return false;
            from = p->brackets->index[0].from->number.value;
            to = p->brackets->index[0].to ? p->brackets->index[0].to->number.value : from;
            for (double round = from; round <= to; round++)
                if (!junction_stays(t, loop, &on, round))
                    return false;
        }
    return true;
}

struct counted {
    uint32_t copies, going;
    bool whole, looked, kept;
};

void
without_drop_lines(struct taking *t, bool *whole)
{
    const flat_model *f = t->f;
    map of_node = { 0 }, left = { 0 };
    VEC(struct counted) count = { 0 };

    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t e = 0; e < f->element.n; e++) {
            uint64_t key = map_ptr_key(f->element.at[e].node);
            uint32_t at = map_get(&of_node, key);

            if (pass && at != MAP_NONE) {
                whole[e] = count.at[at].copies == count.at[at].going && line_of_loop(t, &f->element.at[e]);
                continue;
            }
            if (at == MAP_NONE) {
                at = (uint32_t)count.n;
                map_set(&of_node, key, at);
                vec_push(&count, ((struct counted){ 0 }));
            }
            count.at[at].copies++;
            count.at[at].going += t->wanted[e] != NONE;
        }
    }
    /* `without` cleans up after what it takes, a line that goes does not: the junctions that the copies are and were on
     * must stay */
    for (uint32_t e = 0; e < f->element.n; e++) {
        struct counted *c = &count.at[map_get(&of_node, map_ptr_key(f->element.at[e].node))];

        if (!whole[e])
            continue;
        c->kept |= t->junction_gone[f->port.at[f->element.at[e].port0].junction] ||
                   (!c->looked && !earlier_stay(t, &f->element.at[e], line_of_loop(t, &f->element.at[e])));
        c->looked = true;
    }
    for (uint32_t e = 0; e < f->element.n; e++)
        whole[e] = whole[e] && !count.at[map_get(&of_node, map_ptr_key(f->element.at[e].node))].kept;
    for (uint32_t e = 0; e < f->element.n; e++) {
        const ast_stmt *loop = whole[e] ? line_of_loop(t, &f->element.at[e]) : NULL;
        uint32_t at = map_get(&of_node, map_ptr_key(f->element.at[e].node)), n;

        if (!loop || count.at[at].whole)
            continue;
        count.at[at].whole = true;
        n = map_get(&left, map_ptr_key(loop));
        n = n == MAP_NONE ? (uint32_t)loop->loop.n - 1 : n - 1;
        map_set(&left, map_ptr_key(loop), n);
        /* the last line takes an outermost loop with it */
        if (!n && without_stands_in_model(t, loop)) {
            vec_push(&t->lost->list, loop->at);
            without_note(t, REWRITE_BOND, arena_format(t->f->arena, "for %s", loop->loop.var), loop->at);
        } else
            vec_push(&t->lost->list, f->element.at[e].stmt->at);
    }
    map_free(&of_node);
    map_free(&left);
    vec_free(&count);
}
