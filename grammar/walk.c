/* walk.c - walks over the expressions of a tree and the references in them: see ast.h */
#include "ast.h"

static void
visit_indexes(const ast_ref *r, void (*see)(void *ctx, const ast_expr *e), void *ctx)
{
    for (int k = 0; k < r->nparts; k++)
        for (int i = 0; i < r->part[k].nindex; i++) {
            ast_visit(r->part[k].brackets->index[i].from, see, ctx);
            ast_visit(r->part[k].brackets->index[i].to, see, ctx);
        }
}

/* The parser limits the height of a tree. */
void
ast_visit(const ast_expr *e, void (*see)(void *ctx, const ast_expr *e), void *ctx)
{
    if (!e)
        return;
    see(ctx, e);
    switch (e->kind) {
    case AST_NUMBER:
    case AST_STRING: break;
    case AST_REF:
        if (!e->plain)
            visit_indexes(&e->path, see, ctx);
        break;
    case AST_NEG:
    case AST_NOT: ast_visit(e->un.a, see, ctx); break;
    case AST_BINARY:
        ast_visit(e->bin.a, see, ctx);
        ast_visit(e->bin.b, see, ctx);
        break;
    case AST_IF:
        ast_visit(e->cond.c, see, ctx);
        ast_visit(e->cond.a, see, ctx);
        ast_visit(e->cond.b, see, ctx);
        break;
    case AST_CALL:
        for (int k = 0; k < e->call.nargs; k++)
            ast_visit(e->call.arg[k], see, ctx);
        break;
    case AST_MATRIX:
        for (int k = 0; k < e->matrix.rows * e->matrix.cols; k++)
            ast_visit(e->matrix.entry[k], see, ctx);
        break;
    }
}

static void
visit_node(const ast_node *n, void (*see)(void *ctx, const ast_expr *e), void *ctx)
{
    ast_visit(n->own->linear, see, ctx);
    ast_visit(n->own->more->such_that, see, ctx);
    for (int i = 0; i < n->own->block->nitems; i++) {
        const ast_law_item *item = &n->own->block->item[i];

        for (int k = 0; item->kind == AST_LAW_PORT && k < item->nports; k++)
            ast_visit(item->port[k].size, see, ctx);
        if (item->kind != AST_LAW_PORT)
            ast_visit(item->right, see, ctx);
    }
    for (int i = 0; i < n->own->more->nargs; i++)
        ast_visit(n->own->more->arg[i].value, see, ctx);
}

/* The parser limits nesting. */
static void
visit_stmt(const ast_stmt *s, void (*see)(void *ctx, const ast_expr *e), void *ctx)
{
    switch (s->kind) {
    case AST_STMT_CHAIN:
        for (int i = 0; i < s->nnodes; i++)
            visit_node(&ast_chain(s)[i], see, ctx);
        break;
    case AST_STMT_VALUE:
        for (int i = 0; i < s->value.nsize; i++)
            ast_visit(s->value.size[i], see, ctx);
        ast_visit(s->value.value, see, ctx);
        break;
    case AST_STMT_PORT:
        for (int i = 0; i < s->port.n; i++)
            visit_node(&s->port.junction[i], see, ctx);
        break;
    case AST_STMT_FOR:
        ast_visit(s->loop.from, see, ctx);
        ast_visit(s->loop.to, see, ctx);
        for (int i = 0; i < s->loop.n; i++)
            visit_stmt(s->loop.body[i], see, ctx);
        break;
    case AST_STMT_IF:
        ast_visit(s->cond.cond, see, ctx);
        for (int i = 0; i < s->cond.nthen; i++)
            visit_stmt(s->cond.then[i], see, ctx);
        for (int i = 0; i < s->cond.nother; i++)
            visit_stmt(s->cond.other[i], see, ctx);
        break;
    case AST_STMT_WITHOUT: break;
    case AST_STMT_INITIAL: ast_visit(s->initial.value, see, ctx); break;
    case AST_STMT_WHEN:
        ast_visit(s->when.cond, see, ctx);
        ast_visit(s->when.period, see, ctx);
        ast_visit(s->when.offset, see, ctx);
        for (int i = 0; i < s->when.n; i++)
            ast_visit(s->when.reinit[i].value, see, ctx);
        break;
    }
}

void
ast_visit_model(const ast_model *m, void (*see)(void *ctx, const ast_expr *e), void *ctx)
{
    for (int k = 0; k < m->nsize; k++)
        ast_visit(m->size[k].value, see, ctx);
    for (int k = 0; k < m->nstmt; k++)
        visit_stmt(m->stmt[k], see, ctx);
}

/* Inherited items are visited in their own experiment. */
static void
visit_experiment(const ast_experiment *x, void (*see)(void *ctx, const ast_expr *e), void *ctx)
{
    for (int i = x->inherited; i < x->nitems; i++) {
        ast_visit(x->item[i].a, see, ctx);
        ast_visit(x->item[i].b, see, ctx);
        if (x->item[i].expect) {
            ast_visit(x->item[i].expect->time, see, ctx);
            ast_visit(x->item[i].expect->value, see, ctx);
        }
        for (int k = 0; k < x->item[i].nexprs; k++)
            ast_visit(x->item[i].exprs[k], see, ctx);
    }
}

void
ast_visit_file(const ast_file *f, void (*see)(void *ctx, const ast_expr *e), void *ctx)
{
    for (size_t i = 0; i < f->ndecls; i++) {
        const ast_decl *d = &f->decl[i];

        switch (d->kind) {
        case AST_DECL_MODEL: ast_visit_model(d->model, see, ctx); break;
        case AST_DECL_FUNCTION: ast_visit(d->function->body, see, ctx); break;
        case AST_DECL_EXPERIMENT: visit_experiment(d->experiment, see, ctx); break;
        case AST_DECL_CONSTANT: visit_stmt(d->constant, see, ctx); break;
        case AST_DECL_DOMAIN:
        case AST_DECL_IMPORT: break;
        }
    }
}

/* ---------------------------------------------------------------- references */

struct each_ref {
    void (*call)(void *ctx, const ast_ref *r);
    void *ctx;
};

static void
call_for_ref(void *ctx, const ast_expr *e)
{
    const struct each_ref *w = ctx;
    ast_part room;

    if (e->kind == AST_REF) {
        ast_ref ref = ast_expr_ref(e, &room);

        w->call(w->ctx, &ref);
    }
}

void
ast_each_ref(const ast_expr *e, void (*call)(void *ctx, const ast_ref *r), void *ctx)
{
    ast_visit(e, call_for_ref, &(struct each_ref){ call, ctx });
}

void
ast_each_expected(const ast_exp_item *x, void (*call)(void *ctx, const ast_ref *r), void *ctx)
{
    const ast_ref *r = &x->expect->element;

    if (x->expect->kind == AST_EXPECT_ACTIVITY) {
        call(ctx, r);
        for (int i = 0; i < r->nparts; i++)
            for (int k = 0; k < r->part[i].nindex; k++) {
                ast_each_ref(r->part[i].brackets->index[k].from, call, ctx);
                ast_each_ref(r->part[i].brackets->index[k].to, call, ctx);
            }
    }
    ast_each_ref(x->a, call, ctx);
    ast_each_ref(x->b, call, ctx);
    ast_each_ref(x->expect->time, call, ctx);
    ast_each_ref(x->expect->value, call, ctx);
}
