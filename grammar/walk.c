/* walk.c - the references in expressions */
#include "ast.h"

struct walk { VEC(const ast_expr *) open; };

static void
add_indexes(struct walk *w, const ast_ref *r)
{
    for (int i = 0; i < r->nparts; i++)
        for (int k = 0; k < r->part[i].nindex; k++) {
            vec_push(&w->open, r->part[i].index[k].from);
            vec_push(&w->open, r->part[i].index[k].to);
        }
}

static void
add_children(struct walk *w, const ast_expr *e)
{
    switch (e->kind) {
    case AST_NUMBER:
    case AST_STRING:
        break;
    case AST_REF:
        add_indexes(w, &e->ref);
        break;
    case AST_NEG:
    case AST_NOT:
        vec_push(&w->open, e->un.a);
        break;
    case AST_BINARY:
        vec_push(&w->open, e->bin.a);
        vec_push(&w->open, e->bin.b);
        break;
    case AST_IF:
        vec_push(&w->open, e->cond.c);
        vec_push(&w->open, e->cond.a);
        vec_push(&w->open, e->cond.b);
        break;
    case AST_CALL:
        for (int i = 0; i < e->call.nargs; i++)
            vec_push(&w->open, e->call.arg[i]);
        break;
    case AST_MATRIX:
        for (int i = 0; i < e->matrix.rows * e->matrix.cols; i++)
            vec_push(&w->open, e->matrix.entry[i]);
        break;
    }
}

/* A list of its own instead of recursion: long sums are deep trees. */
static void
finish(struct walk *w, void (*call)(void *ctx, const ast_ref *r), void *ctx)
{
    while (w->open.n) {
        const ast_expr *e = w->open.at[--w->open.n];

        if (!e)
            continue;
        if (e->kind == AST_REF)
            call(ctx, &e->ref);
        add_children(w, e);
    }
    vec_free(&w->open);
}

void
ast_each_ref(const ast_expr *e, void (*call)(void *ctx, const ast_ref *r), void *ctx)
{
    struct walk w = { 0 };

    vec_push(&w.open, e);
    finish(&w, call, ctx);
}

void
ast_each_expected(const ast_exp_item *x, void (*call)(void *ctx, const ast_ref *r), void *ctx)
{
    struct walk w = { 0 };

    if (x->expect->kind == AST_EXPECT_ACTIVITY) {
        call(ctx, &x->expect->element);
        add_indexes(&w, &x->expect->element);
    }
    vec_push(&w.open, x->a);
    vec_push(&w.open, x->b);
    vec_push(&w.open, x->expect->time);
    vec_push(&w.open, x->expect->value);
    finish(&w, call, ctx);
}
