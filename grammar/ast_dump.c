/* ast_dump.c - prints the tree of a file, one node a line, children indented
 *
 * in       a tree, also of a text with errors
 * out      text without positions, so that two layouts of one model print the same
 */
#include <string.h>

#include "ast.h"

static void
begin(FILE *out, int depth, const char *what)
{
    fprintf(out, "%*s%s", 2 * depth, "", what);
}

static void
dump_quoted(FILE *out, const char *s)
{
    fputs(" \"", out);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            fputc('\\', out);
        fputc(*s, out);
    }
    fputc('"', out);
}

static void
dump_unit(FILE *out, const ast_unit *u)
{
    if (u)
        fprintf(out, " [%s]", u->text);
}

static void dump_expr(const ast_expr *e, FILE *out, int depth);

/* The name on the current line; indexes are children. */
static void
dump_ref(const ast_ref *r, FILE *out, int depth)
{
    for (int i = 0; i < r->nparts; i++) {
        fprintf(out, "%s%s", i ? "." : " ", r->part[i].name);
        for (int k = 0; k < r->part[i].nindex; k++)
            fputs(k ? "#" : "[#", out);
        if (r->part[i].nindex)
            fputc(']', out);
    }
    fputc('\n', out);
    for (int i = 0; i < r->nparts; i++) {
        for (int k = 0; k < r->part[i].nindex; k++) {
            const ast_index *x = &r->part[i].brackets->index[k];

            begin(out, depth + 1, x->to ? "index range\n" : "index\n");
            dump_expr(x->from, out, depth + 2);
            if (x->to)
                dump_expr(x->to, out, depth + 2);
        }
    }
}

static void
dump_named(const char *what, const ast_expr *e, FILE *out, int depth)
{
    if (!e)
        return;
    begin(out, depth, what);
    fputc('\n', out);
    dump_expr(e, out, depth + 1);
}

/* Recursion is limited by AST_MAX_HEIGHT. */
static void
dump_expr(const ast_expr *e, FILE *out, int depth)
{
    static const char *const op[] = {
        [AST_ADD] = "+", [AST_SUB] = "-",   [AST_MUL] = "*", [AST_DIV] = "/", [AST_POW] = "^",
        [AST_LT] = "<",  [AST_LE] = "<=",   [AST_GT] = ">",  [AST_GE] = ">=", [AST_EQ] = "==",
        [AST_NE] = "!=", [AST_AND] = "and", [AST_OR] = "or"
    };
    ast_part room;
    ast_ref ref;

    switch (e->kind) {
    case AST_NUMBER:
        begin(out, depth, "number");
        fprintf(out, " %.17g", e->number.value);
        dump_unit(out, ast_number_unit(e));
        fputc('\n', out);
        break;
    case AST_STRING:
        begin(out, depth, "text");
        dump_quoted(out, e->string);
        fputc('\n', out);
        break;
    case AST_REF:
        begin(out, depth, "read");
        ref = ast_expr_ref(e, &room);
        dump_ref(&ref, out, depth);
        break;
    case AST_NEG:
    case AST_NOT:
        begin(out, depth, e->kind == AST_NEG ? "negative\n" : "not\n");
        dump_expr(e->un.a, out, depth + 1);
        break;
    case AST_BINARY:
        begin(out, depth, op[e->op]);
        fputc('\n', out);
        dump_expr(e->bin.a, out, depth + 1);
        dump_expr(e->bin.b, out, depth + 1);
        break;
    case AST_IF:
        begin(out, depth, "if\n");
        dump_expr(e->cond.c, out, depth + 1);
        dump_expr(e->cond.a, out, depth + 1);
        dump_expr(e->cond.b, out, depth + 1);
        break;
    case AST_CALL:
        begin(out, depth, "call");
        fprintf(out, " %s\n", e->call.name);
        for (int i = 0; i < e->call.nargs; i++)
            dump_expr(e->call.arg[i], out, depth + 1);
        break;
    case AST_MATRIX:
        begin(out, depth, "matrix");
        fprintf(out, " %d x %d", e->matrix.rows, e->matrix.cols);
        dump_unit(out, e->matrix.unit);
        fputc('\n', out);
        for (int i = 0; i < e->matrix.rows * e->matrix.cols; i++)
            dump_expr(e->matrix.entry[i], out, depth + 1);
        break;
    }
}

static void
dump_refs(const char *what, const ast_ref *ref, int n, FILE *out, int depth)
{
    for (int i = 0; i < n; i++) {
        begin(out, depth, what);
        dump_ref(&ref[i], out, depth);
    }
}

static void
dump_law(const ast_law_item *item, FILE *out, int depth)
{
    static const char *const arrow[] = { "port", "port left", "port right" };
    ast_part room;
    ast_ref left;

    switch (item->kind) {
    case AST_LAW_EQUATION:
    case AST_LAW_INITIAL:
        begin(out, depth, item->kind == AST_LAW_EQUATION ? "equation" : "initial");
        left = ast_law_left(item, &room);
        dump_ref(&left, out, depth);
        dump_expr(item->right, out, depth + 1);
        break;
    case AST_LAW_PORT:
        for (int i = 0; i < item->nports; i++) {
            begin(out, depth, arrow[item->port[i].arrow]);
            fprintf(out, " %s\n", item->port[i].name);
            dump_named("size", item->port[i].size, out, depth + 1);
        }
        break;
    }
}

static void
dump_node(const ast_node *n, FILE *out, int depth)
{
    ast_part room;
    ast_ref ref = ast_node_ref(n, &room);

    begin(out, depth, n->own->type ? "part" : "reference");
    if (n->own->type)
        fprintf(out, " %s:", n->own->type);
    dump_ref(&ref, out, depth);
    depth++;
    if (n->own->more->domain) {
        begin(out, depth, "in");
        fprintf(out, " %s\n", n->own->more->domain);
    }
    for (int i = 0; i < n->own->more->nargs; i++) {
        begin(out, depth, "argument");
        fprintf(out, " %s\n", n->own->more->arg[i].name);
        dump_expr(n->own->more->arg[i].value, out, depth + 1);
    }
    dump_named("law", n->own->linear, out, depth);
    dump_named("such that", n->own->more->such_that, out, depth);
    for (int i = 0; i < n->own->block->nitems; i++)
        dump_law(&n->own->block->item[i], out, depth);
    dump_refs("without", n->own->more->without, n->own->more->nwithout, out, depth);
}

static void dump_stmts(ast_stmt *const *stmt, int n, FILE *out, int depth);

static void
dump_value(const ast_stmt *s, FILE *out, int depth)
{
    static const char *const kind[] = { [AST_PARAMETER] = "parameter",
                                        [AST_CONSTANT] = "constant",
                                        [AST_SIGNAL] = "signal",
                                        [AST_INPUT] = "input",
                                        [AST_OUTPUT] = "output" };

    begin(out, depth, kind[s->value.kind]);
    fprintf(out, " %s", s->value.name);
    dump_unit(out, s->value.unit);
    if (s->value.text)
        dump_quoted(out, s->value.text);
    fputc('\n', out);
    for (int i = 0; i < s->value.nsize; i++)
        dump_named("size", s->value.size[i], out, depth + 1);
    dump_named("value", s->value.value, out, depth + 1);
}

/* Recursion is limited by AST_MAX_NESTING. */
static void
dump_stmt(const ast_stmt *s, FILE *out, int depth)
{
    switch (s->kind) {
    case AST_STMT_CHAIN:
        begin(out, depth, "chain");
        if (s->named)
            fprintf(out, " as %s", ast_chain_bond(s).name);
        fputc('\n', out);
        for (int i = 0; i < s->nnodes; i++)
            dump_node(&ast_chain(s)[i], out, depth + 1);
        break;
    case AST_STMT_VALUE: dump_value(s, out, depth); break;
    case AST_STMT_PORT:
        begin(out, depth, "ports\n");
        for (int i = 0; i < s->port.n; i++)
            dump_node(&s->port.junction[i], out, depth + 1);
        break;
    case AST_STMT_FOR:
        begin(out, depth, "for");
        fprintf(out, " %s\n", s->loop.var);
        dump_named("from", s->loop.from, out, depth + 1);
        dump_named("to", s->loop.to, out, depth + 1);
        dump_stmts(s->loop.body, s->loop.n, out, depth + 1);
        break;
    case AST_STMT_IF:
        begin(out, depth, "if\n");
        dump_named("condition", s->cond.cond, out, depth + 1);
        dump_stmts(s->cond.then, s->cond.nthen, out, depth + 1);
        if (s->cond.nother) {
            begin(out, depth, "else\n");
            dump_stmts(s->cond.other, s->cond.nother, out, depth + 1);
        }
        break;
    case AST_STMT_WITHOUT: dump_refs("without", s->without.ref, s->without.n, out, depth); break;
    case AST_STMT_INITIAL:
        begin(out, depth, "initial");
        dump_ref(&s->initial.ref, out, depth);
        dump_expr(s->initial.value, out, depth + 1);
        break;
    case AST_STMT_WHEN:
        begin(out, depth, s->when.assertion ? "assert" : s->when.period ? "every" : "when");
        if (s->when.text)
            dump_quoted(out, s->when.text);
        fputc('\n', out);
        if (s->when.cond)
            dump_named("condition", s->when.cond, out, depth + 1);
        if (s->when.period)
            dump_named("period", s->when.period, out, depth + 1);
        if (s->when.offset)
            dump_named("offset", s->when.offset, out, depth + 1);
        for (int i = 0; i < s->when.n; i++) {
            begin(out, depth + 1, "reinit");
            dump_ref(&s->when.reinit[i].target, out, depth + 1);
            dump_expr(s->when.reinit[i].value, out, depth + 2);
        }
        break;
    }
}

static void
dump_stmts(ast_stmt *const *stmt, int n, FILE *out, int depth)
{
    for (int i = 0; i < n; i++)
        dump_stmt(stmt[i], out, depth);
}

static void
dump_expect(const ast_exp_item *x, FILE *out)
{
    const ast_expect *e = x->expect;

    if (e->kind == AST_EXPECT_ACTIVITY) {
        fputs(" activity of", out);
        dump_ref(&e->element, out, 1);
    } else {
        fputc('\n', out);
        dump_named("subject", x->a, out, 2);
    }
    if (e->path) {
        begin(out, 2, e->kind == AST_EXPECT_FILE ? "from" : "of");
        dump_quoted(out, e->path);
        fputc('\n', out);
    }
    if (e->time)
        dump_named("at", e->time, out, 2);
    if (e->value)
        dump_named("value", e->value, out, 2);
    dump_named("within", x->b, out, 2);
}

static void
dump_experiment_tree(const ast_experiment *e, FILE *out)
{
    static const char *const kind[] = {
        [AST_EXP_SET] = "set",         [AST_EXP_EQUILIBRIUM] = "start from equilibrium\n",
        [AST_EXP_LET] = "let",         [AST_EXP_WINDOW] = "window\n",
        [AST_EXP_OBSERVE] = "observe", [AST_EXP_KEEP] = "keep",
        [AST_EXP_RECORD] = "record\n", [AST_EXP_STOP_WHEN] = "stop when\n",
        [AST_EXP_EXPECT] = "expect"
    };

    fprintf(out, "experiment %s", e->name);
    if (e->base)
        fprintf(out, " from %s", e->base);
    else if (e->model)
        fprintf(out, " of %s", e->model);
    fputc('\n', out);
    for (int i = e->inherited; i < e->nitems; i++) {
        const ast_exp_item *x = &e->item[i];

        if (x->kind == AST_EXP_KEEP) {
            dump_refs("keep", x->refs, x->nrefs, out, 1);
            continue;
        }
        begin(out, 1, x->initial ? "let initial" : kind[x->kind]);
        if (x->kind == AST_EXP_EXPECT) {
            dump_expect(x, out);
            continue;
        }
        if (x->kind == AST_EXP_SET || x->kind == AST_EXP_LET || x->kind == AST_EXP_OBSERVE)
            dump_ref(&x->ref, out, 1);
        if (x->a)
            dump_expr(x->a, out, 2);
        if (x->b)
            dump_expr(x->b, out, 2);
        for (int k = 0; k < x->nexprs; k++)
            dump_expr(x->exprs[k], out, 2);
    }
}

static void
dump_decl(const ast_decl *d, FILE *out)
{
    switch (d->kind) {
    case AST_DECL_MODEL:
        fprintf(out, "model %s", d->model->name);
        if (d->model->text)
            dump_quoted(out, d->model->text);
        fputc('\n', out);
        for (int i = 0; i < d->model->nsize; i++) {
            begin(out, 1, "size");
            fprintf(out, " %s\n", d->model->size[i].name);
            dump_expr(d->model->size[i].value, out, 2);
        }
        dump_stmts(d->model->stmt, d->model->nstmt, out, 1);
        break;
    case AST_DECL_FUNCTION:
        fprintf(out, "function %s", d->function->name);
        dump_unit(out, d->function->unit);
        fputc('\n', out);
        for (int i = 0; i < d->function->nargs; i++) {
            begin(out, 1, "argument");
            fprintf(out, " %s", d->function->arg[i].name);
            dump_unit(out, d->function->arg[i].unit);
            fputc('\n', out);
        }
        dump_expr(d->function->body, out, 1);
        break;
    case AST_DECL_EXPERIMENT: dump_experiment_tree(d->experiment, out); break;
    case AST_DECL_DOMAIN:
        fprintf(out, "domain %s\n", d->domain->name);
        if (d->domain->effort) {
            fprintf(out, "  effort %s", d->domain->effort);
            dump_unit(out, d->domain->effort_unit);
            fputc('\n', out);
        }
        if (d->domain->flow) {
            fprintf(out, "  flow %s", d->domain->flow);
            dump_unit(out, d->domain->flow_unit);
            fputc('\n', out);
        }
        dump_named("power", d->domain->power, out, 1);
        break;
    case AST_DECL_IMPORT:
        fputs("import", out);
        if (d->import->is_file)
            dump_quoted(out, d->import->path);
        else
            fprintf(out, " %s", d->import->path);
        fputc('\n', out);
        break;
    case AST_DECL_CONSTANT: dump_stmt(d->constant, out, 0); break;
    }
}

void
ast_dump(const sources *s, const ast_file *f, FILE *out)
{
    fprintf(out, "file %s%s\n", source_path(s, f->file), f->ok ? "" : " (with syntax errors)");
    for (size_t i = 0; i < f->ndecls; i++)
        dump_decl(&f->decl[i], out);
}
