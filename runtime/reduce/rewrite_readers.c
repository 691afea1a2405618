/* rewrite_readers.c - who reads what in a text, experiments included */
#include <string.h>

#include "rewrite_inside.h"

static void
add_text_reading(struct plan *p, uint32_t reader, uint32_t target, span at)
{
    struct text_reading r = { reader, target, at };

    if (reader != target)
        vec_push(&p->reading, r);
}

/* owner: the node whose block this stands in, or NULL */
static void
note_reference(struct plan *p, uint32_t reader, const ast_ref *ref, const ast_node *owner)
{
    uint32_t x;

    if (!ref->nparts || ast_own_name(owner, ref->part[0].name))
        return;
    if (ref->nparts == 1) {
        if ((x = map_get(&p->value_of, map_ptr_key(ref->part[0].name))) != MAP_NONE)
            add_text_reading(p, reader, rewrite_value_entity(p, x), ref->at);
    } else if ((x = rewrite_find_part(p, ref->part[0].name)) != MAP_NONE) {
        const char *last = ref->part[ref->nparts - 1].name;

        add_text_reading(p, reader, x, ref->at);
        if ((!strcmp(last, "q") || !strcmp(last, "p")) && !span_known(p->part.at[x].stored_read))
            p->part.at[x].stored_read = ref->at;
    }
}

/* Whose expression is read, and of which node's block. */
struct reads {
    struct plan *p;
    uint32_t reader;
    const ast_node *owner;
};

static void
read_expression(void *ctx, const ast_ref *ref)
{
    const struct reads *r = ctx;

    note_reference(r->p, r->reader, ref, r->owner);
}

static void
read_expr(struct plan *p, uint32_t reader, const ast_expr *e, const ast_node *owner)
{
    ast_each_ref(e, read_expression, &(struct reads){ p, reader, owner });
}

/* A reference outside of expressions: its indexes, and the part or value itself. */
static void
read_outer_name(struct plan *p, uint32_t reader, const ast_ref *ref, bool as_part)
{
    uint32_t x;

    note_reference(p, reader, ref, NULL);
    for (int i = 0; i < ref->nparts; i++)
        for (int k = 0; k < ref->part[i].nindex; k++) {
            read_expr(p, reader, ref->part[i].brackets->index[k].from, NULL);
            read_expr(p, reader, ref->part[i].brackets->index[k].to, NULL);
        }
    if (as_part && ref->nparts && (x = rewrite_find_part(p, ref->part[0].name)) != MAP_NONE)
        add_text_reading(p, reader, x, ref->at);
}

static void
read_node(struct plan *p, const ast_node *n, bool nested)
{
    uint32_t part = ast_node_nparts(n) ? rewrite_find_part(p, ast_node_name(n)) : NONE;
    uint32_t reader = nested || part == NONE ? rewrite_world(p) : part;

    if (nested && part != NONE) {
        add_text_reading(p, reader, part, ast_node_at(n));
        p->part.at[part].fixed = true;
    }
    read_expr(p, reader, n->own->linear, NULL);
    read_expr(p, reader, n->own->more->such_that, NULL);
    for (int i = 0; i < n->own->block->nitems; i++) {
        const ast_law_item *item = &n->own->block->item[i];

        if (item->kind != AST_LAW_PORT)
            read_expr(p, reader, item->right, item->kind == AST_LAW_INITIAL ? NULL : n);
        for (int k = 0; item->kind == AST_LAW_PORT && k < item->nports; k++)
            read_expr(p, reader, item->port[k].size, n);
    }
    for (int i = 0; i < n->own->more->nargs; i++)
        read_expr(p, reader, n->own->more->arg[i].value, NULL);
}

uint32_t
rewrite_initial_target(const struct plan *p, const ast_ref *ref)
{
    uint32_t x;

    if (!ref->nparts)
        return NONE;
    if (ref->nparts > 1)
        x = rewrite_find_part(p, ref->part[0].name);
    else if ((x = map_get(&p->value_of, map_ptr_key(ref->part[0].name))) != MAP_NONE)
        x = rewrite_value_entity(p, x);
    return x == MAP_NONE ? NONE : x;
}

static void
read_stmt(struct plan *p, const ast_stmt *s, bool nested)
{
    uint32_t v;

    switch (s->kind) {
    case AST_STMT_CHAIN:
        for (int i = 0; i < s->nnodes; i++)
            read_node(p, &ast_chain(s)[i], nested);
        break;
    case AST_STMT_PORT:
        for (int i = 0; i < s->port.n; i++)
            read_node(p, &s->port.junction[i], false);
        break;
    case AST_STMT_VALUE:
        v = map_get(&p->value_of, map_ptr_key(s->value.name));
        read_expr(p, rewrite_value_entity(p, v), s->value.value, NULL);
        for (int i = 0; i < s->value.nsize; i++)
            read_expr(p, rewrite_value_entity(p, v), s->value.size[i], NULL);
        break;
    case AST_STMT_FOR:
        read_expr(p, rewrite_world(p), s->loop.from, NULL);
        read_expr(p, rewrite_world(p), s->loop.to, NULL);
        for (int i = 0; i < s->loop.n; i++)
            read_stmt(p, s->loop.body[i], true);
        break;
    case AST_STMT_IF:
        read_expr(p, rewrite_world(p), s->cond.cond, NULL);
        for (int i = 0; i < s->cond.nthen; i++)
            read_stmt(p, s->cond.then[i], true);
        for (int i = 0; i < s->cond.nother; i++)
            read_stmt(p, s->cond.other[i], true);
        break;
    case AST_STMT_WITHOUT:
        for (int i = 0; i < s->without.n; i++)
            read_outer_name(p, rewrite_world(p), &s->without.ref[i], true);
        break;
    case AST_STMT_INITIAL:
        /* it does not read what it sets: it goes with that */
        v = nested ? NONE : rewrite_initial_target(p, &s->initial.ref);
        read_expr(p, v == NONE ? rewrite_world(p) : v, s->initial.value, NULL);
        if (nested)
            read_outer_name(p, rewrite_world(p), &s->initial.ref, true);
        break;
    case AST_STMT_WHEN:
        for (int i = 0; i < 3; i++) {
            const ast_expr *e = i == 0 ? s->when.cond : i == 1 ? s->when.period : s->when.offset;

            if (e)
                read_expr(p, rewrite_world(p), e, NULL);
        }
        for (int i = 0; i < s->when.n; i++) {
            read_outer_name(p, rewrite_world(p), &s->when.reinit[i].target, false);
            read_expr(p, rewrite_world(p), s->when.reinit[i].value, NULL);
        }
        break;
    }
}

bool
rewrite_of_this_model(const struct plan *p, const ast_decl *d)
{
    return d->kind == AST_DECL_EXPERIMENT && d->experiment->model == p->model->name;
}

static void
read_experiment(struct plan *p, const ast_experiment *x)
{
    for (int i = 0; i < x->nitems; i++) {
        const ast_exp_item *item = &x->item[i];
        uint32_t target;

        switch (item->kind) {
        case AST_EXP_SET:
        case AST_EXP_WINDOW:
        case AST_EXP_STOP_WHEN:
            read_expr(p, rewrite_world(p), item->a, NULL);
            read_expr(p, rewrite_world(p), item->b, NULL);
            break;
        case AST_EXP_EQUILIBRIUM: break;
        case AST_EXP_LET:
            /* it does not read what it sets: it goes with that */
            target = rewrite_initial_target(p, &item->ref);
            read_expr(p, target == NONE ? rewrite_world(p) : target, item->a, NULL);
            break;
        case AST_EXP_OBSERVE:
            read_outer_name(p, rewrite_world(p), &item->ref, false);
            read_expr(p, rewrite_world(p), item->b, NULL);
            break;
        case AST_EXP_KEEP:
            for (int k = 0; k < item->nrefs; k++)
                read_outer_name(p, rewrite_world(p), &item->refs[k], true);
            break;
        case AST_EXP_EXPECT: break; /* nothing stays for it: it goes with what it reads */
        case AST_EXP_RECORD:
            for (int k = 0; k < item->nexprs; k++)
                read_expr(p, rewrite_world(p), item->exprs[k], NULL);
            break;
        }
    }
}

int
rewrite_span_order(const void *pa, const void *pb)
{
    const span *a = pa, *b = pb;

    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* Does it stand in one of these places, which are in order? */
static bool
is_in_places(span at, const span *place, size_t n)
{
    size_t low = 0, high = n;

    while (low < high) { /* how many begin at or before it */
        size_t middle = low + (high - low) / 2;

        if (place[middle].begin <= at.begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low && at.end <= place[low - 1].end;
}

/* A reading that reads nothing is one of the reader's own. */
static void
forget_own(struct plan *p, const span *place, size_t n)
{
    for (size_t i = 0; i < p->reading.n && n; i++)
        if (is_in_places(p->reading.at[i].at, place, n))
            p->reading.at[i].target = p->reading.at[i].reader;
}

void
rewrite_forget(struct plan *p, span *lost, size_t n)
{
    qsort(lost, n, sizeof *lost, rewrite_span_order);
    forget_own(p, lost, n);
}

void
rewrite_gather_readings(struct plan *p)
{
    for (int i = 0; i < p->model->nstmt; i++)
        read_stmt(p, p->model->stmt[i], false);
    for (int i = 0; i < p->model->nsize; i++)
        read_expr(p, rewrite_world(p), p->model->size[i].value, NULL);
    for (size_t i = 0; i < p->file->ndecls; i++)
        if (rewrite_of_this_model(p, &p->file->decl[i]))
            read_experiment(p, p->file->decl[i].experiment);
}

void
rewrite_refuse_clamps(struct plan *p)
{
    for (size_t i = 0; i < p->part.n; i++)
        if (p->part.at[i].clamped && span_known(p->part.at[i].stored_read)) {
            p->part.at[i].clamped = false;
            vec_push(&p->out->blocked,
                     ((rewrite_block){ p->part.at[i].name, p->part.at[i].stored_read, "what it stores is read" }));
        }
}

void
rewrite_gather_replaced(struct plan *p)
{
    for (size_t i = 0; i < p->nchanges; i++) {
        const rewrite_change *c = &p->change[i];
        uint32_t x = c->kind == REWRITE_CLAMP ? rewrite_find_part(p, c->owner) : MAP_NONE;

        for (size_t k = 0; k < c->npieces && (x == MAP_NONE || p->part.at[x].clamped); k++)
            vec_push(&p->replaced, c->piece[k].at);
    }
    if (p->replaced.n)
        qsort(p->replaced.at, p->replaced.n, sizeof *p->replaced.at, rewrite_span_order);
}

void
rewrite_sort_readings(struct plan *p)
{
    size_t n = rewrite_world(p) + 1;
    struct text_reading *sorted;

    p->reads0 = bg_calloc(n + 2, sizeof *p->reads0);
    sorted = bg_calloc(p->reading.n, sizeof *sorted);
    for (size_t i = 0; i < p->reading.n; i++)
        p->reads0[p->reading.at[i].reader + 2]++;
    for (size_t i = 2; i < n + 2; i++)
        p->reads0[i] += p->reads0[i - 1];
    for (size_t i = 0; i < p->reading.n; i++)
        sorted[p->reads0[p->reading.at[i].reader + 1]++] = p->reading.at[i];
    free(p->reading.at);
    p->reading.at = sorted;
    p->reading.cap = p->reading.n;
    for (size_t i = 0; i < p->reading.n; i++)
        if (sorted[i].target >= p->part.n)
            p->value.at[sorted[i].target - p->part.n].read = true;
    forget_own(p, p->replaced.at, p->replaced.n);
}
