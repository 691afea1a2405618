/* terms.c - see terms.h */
#include <math.h>
#include <string.h>

#include "terms.h"

struct finder {
    const char *text;
    arena *arena;
    terms *out;
    map fixed; /* interned names of parameters, constants, sizes and loop variables */
    const ast_model *model;
    bool inner;
    const char *owner;
    bool of_value, no_number;
    const ast_node *node;
    const char *port; /* in a resistive field, the port whose equation it is */
};

static bool
is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
static bool
is_sum(const ast_expr *e)
{
    return e->kind == AST_BINARY && (e->op == AST_ADD || e->op == AST_SUB);
}

/* Is it one of the law's own e f q p or ports? */
static bool
is_own_variable(const ast_node *n, const ast_ref *r)
{
    const char *name = r->part[0].name;

    if (!n)
        return false;
    if (r->nparts == 1)
        return name[0] && !name[1] && strchr("efqp", name[0]);
    for (int i = 0; i < n->own->block->nitems; i++)
        for (int k = 0; n->own->block->item[i].kind == AST_LAW_PORT && k < n->own->block->item[i].nports; k++)
            if (n->own->block->item[i].port[k].name == name)
                return true;
    return false;
}

/* Does it read anything that is not a parameter? Trees are no higher than AST_MAX_HEIGHT. */
static bool
varies(const struct finder *f, const ast_expr *e)
{
    ast_part room;
    ast_ref ref;

    switch (e->kind) {
    case AST_NUMBER:
    case AST_STRING: return false;
    case AST_REF:
        ref = ast_expr_ref(e, &room);
        return ref.nparts &&
               (is_own_variable(f->node, &ref) || ref.nparts > 1 ||
                (strcmp(ref.part[0].name, "pi") && map_get(&f->fixed, map_ptr_key(ref.part[0].name)) == MAP_NONE));
    case AST_NEG:
    case AST_NOT: return varies(f, e->un.a);
    case AST_BINARY: return varies(f, e->bin.a) || varies(f, e->bin.b);
    case AST_IF: return varies(f, e->cond.c) || varies(f, e->cond.a) || varies(f, e->cond.b);
    case AST_CALL:
        for (int i = 0; i < e->call.nargs; i++)
            if (varies(f, e->call.arg[i]))
                return true;
        return false;
    case AST_MATRIX:
        for (int i = 0; i < e->matrix.rows * e->matrix.cols; i++)
            if (varies(f, e->matrix.entry[i]))
                return true;
        return false;
    }
    return true;
}

static span
trimmed(const struct finder *f, span at)
{
    while (at.begin < at.end && is_space(f->text[at.begin]))
        at.begin++;
    while (at.end > at.begin && is_space(f->text[at.end - 1]))
        at.end--;
    return at;
}

/* The + or - of a sum: the first one behind its left operand, where brackets, blanks and comments may stand between. */
static span
sign_place(const struct finder *f, const ast_expr *e)
{
    uint32_t at = e->bin.a->at.end;

    while (f->text[at] != '+' && f->text[at] != '-')
        at += f->text[at] == '/' ? (uint32_t)strcspn(f->text + at, "\n") : 1;
    return (span){ e->at.file, at, at + 1 };
}

static void find_text_sums(struct finder *f, const ast_expr *e, uint32_t within);

/* e is the topmost + or - of a sum: gathers its operands from the right. */
static void
find_sum(struct finder *f, const ast_expr *e, uint32_t within)
{
    VEC(term) list = { 0 };
    term_sum s = { .first = (uint32_t)f->out->term.n };
    bool any = false;

    for (;;) {
        const ast_expr *left = e->bin.a;
        span op = sign_place(f, e);
        term x = { .op = op, .minus = e->op == AST_SUB, .expr = e->bin.b };

        x.at = trimmed(f, (span){ e->at.file, op.end, e->at.end });
        vec_push(&list, x);
        if (is_sum(left) && left->at.begin == e->at.begin) { /* without brackets */
            e = left;
            continue;
        }
        x = (term){ .op = SPAN_NONE, .expr = left };
        x.at = trimmed(f, (span){ e->at.file, e->at.begin, op.begin });
        vec_push(&list, x);
        break;
    }
    for (size_t i = list.n; i-- > 0;) {
        term *x = &list.at[i];

        x->varies = varies(f, x->expr);
        any |= x->varies;
        x->owner = f->owner;
        x->of_value = f->of_value;
        x->no_number = f->no_number;
        x->port = f->port;
        x->with = NONE;
        x->model = f->model;
        x->inner = f->inner;
        x->within = within;
        x->sum = (uint32_t)f->out->sum.n;
        x->text = arena_format(f->arena, "%s%.*s", x->minus ? "-" : "", (int)(x->at.end - x->at.begin),
                               f->text + x->at.begin);
        x->name = f->inner ? arena_format(f->arena, "%s of %s: %s", x->owner, f->model->name, x->text)
                           : arena_format(f->arena, "%s: %s", x->owner, x->text);
        s.n++;
    }
    if (any) {
        for (size_t i = list.n; i-- > 0;)
            vec_push(&f->out->term, list.at[i]);
        vec_push(&f->out->sum, s);
        for (uint32_t i = 0; i < s.n; i++)
            find_text_sums(f, f->out->term.at[s.first + i].expr, s.first + i);
    }
    vec_free(&list);
}

/* Finds sums in an expression, from the outside in. Conditions, exponents and names of columns are skipped. */
static void
find_text_sums(struct finder *f, const ast_expr *e, uint32_t within)
{
    if (!e)
        return;
    switch (e->kind) {
    case AST_BINARY:
        if (is_sum(e)) {
            find_sum(f, e, within);
        } else if (e->op == AST_MUL || e->op == AST_DIV) {
            find_text_sums(f, e->bin.a, within);
            find_text_sums(f, e->bin.b, within);
        } else if (e->op == AST_POW) {
            find_text_sums(f, e->bin.a, within);
        }
        break;
    case AST_NEG: find_text_sums(f, e->un.a, within); break;
    case AST_IF:
        find_text_sums(f, e->cond.a, within);
        find_text_sums(f, e->cond.b, within);
        break;
    case AST_CALL:
        for (int i = 0; i < e->call.nargs && strcmp(e->call.name, "table"); i++)
            find_text_sums(f, e->call.arg[i], within);
        break;
    case AST_MATRIX:
        for (int i = 0; i < e->matrix.rows * e->matrix.cols; i++)
            find_text_sums(f, e->matrix.entry[i], within);
        break;
    default: break;
    }
}

/* ---- pairs of terms in a resistive field ---- */

struct mention {
    const char *port;
    bool found;
};

static void
see_mention(void *ctx, const ast_ref *r)
{
    struct mention *m = ctx;

    m->found = m->found || r->part[0].name == m->port;
}

static bool
reads_port(const term *x, const char *port)
{
    struct mention m = { port, false };

    ast_each_ref(x->expr, see_mention, &m);
    return m.found;
}

/* Are the texts equal, apart from blanks and the sign? */
static bool
says_same(const term *x, const term *y)
{
    const char *a = x->text + x->minus, *b = y->text + y->minus;

    for (;;) {
        while (is_space(*a))
            a++;
        while (is_space(*b))
            b++;
        if (*a != *b || !*a)
            return *a == *b;
        a++;
        b++;
    }
}

static void
join_terms(terms *t, size_t i, size_t k)
{
    uint32_t first = t->term.at[k].with != NONE ? t->term.at[k].with : (uint32_t)k;

    if (t->term.at[i].with != NONE && t->term.at[i].with < first)
        first = t->term.at[i].with;
    t->term.at[k].with = t->term.at[i].with = first;
}

/* Pairs the terms of one element, from `first` on. A field has few. */
static void
pair(struct finder *f, size_t first)
{
    terms *t = f->out;
    size_t n = t->term.n;

    for (int by_text = 1; by_text >= 0; by_text--)
        for (size_t i = first; i < n; i++)
            for (size_t k = first; k < i; k++) {
                const term *x = &t->term.at[i], *y = &t->term.at[k];

                if (!x->port || !y->port || x->port == y->port || !x->varies || !y->varies)
                    continue;
                if (by_text ? says_same(x, y)
                            : x->with == NONE && y->with == NONE && reads_port(x, y->port) && reads_port(y, x->port))
                    join_terms(t, i, k);
            }
}

static void
find_node(struct finder *f, const ast_node *n)
{
    size_t first = f->out->term.n;

    if (!n->own->type || ast_node_nparts(n) != 1)
        return;
    f->owner = ast_node_name(n);
    f->of_value = false;
    f->node = NULL; /* in `= expr` e f q p are no names of the law */
    find_text_sums(f, n->own->linear, NONE);
    f->node = n;
    for (int i = 0; i < n->own->block->nitems; i++) {
        const ast_law_item *item = &n->own->block->item[i];
        ast_part room;
        ast_ref left;

        if (item->kind != AST_LAW_EQUATION)
            continue;
        left = ast_law_left(item, &room);
        f->no_number = !strcmp(n->own->type, "TF") || !strcmp(n->own->type, "MTF") ||
                       (left.nparts == 1 && !strcmp(left.part[0].name, "energy"));
        f->port = !strcmp(n->own->type, "R") && left.nparts > 1 ? left.part[0].name : NULL;
        find_text_sums(f, item->right, NONE);
    }
    f->no_number = false;
    f->port = NULL;
    pair(f, first);
}

/* Notes the declarations of a model that are numbers before the run. The parser limits nesting. */
static void
note_fixed(struct finder *f, const ast_stmt *s)
{
    switch (s->kind) {
    case AST_STMT_VALUE:
        if (s->value.kind == AST_PARAMETER || s->value.kind == AST_CONSTANT)
            map_set(&f->fixed, map_ptr_key(s->value.name), 1);
        break;
    case AST_STMT_FOR:
        map_set(&f->fixed, map_ptr_key(s->loop.var), 1);
        for (int i = 0; i < s->loop.n; i++)
            note_fixed(f, s->loop.body[i]);
        break;
    case AST_STMT_IF:
        for (int i = 0; i < s->cond.nthen; i++)
            note_fixed(f, s->cond.then[i]);
        for (int i = 0; i < s->cond.nother; i++)
            note_fixed(f, s->cond.other[i]);
        break;
    default: break;
    }
}

static void
find_stmt(struct finder *f, const ast_stmt *s)
{
    switch (s->kind) {
    case AST_STMT_CHAIN:
        for (int k = 0; k < s->nnodes; k++)
            find_node(f, &ast_chain(s)[k]);
        break;
    case AST_STMT_VALUE:
        if (s->value.kind != AST_SIGNAL)
            break;
        f->owner = s->value.name;
        f->of_value = true;
        f->node = NULL;
        find_text_sums(f, s->value.value, NONE);
        break;
    case AST_STMT_FOR:
        for (int i = 0; i < s->loop.n; i++)
            find_stmt(f, s->loop.body[i]);
        break;
    case AST_STMT_IF:
        for (int i = 0; i < s->cond.nthen; i++)
            find_stmt(f, s->cond.then[i]);
        for (int i = 0; i < s->cond.nother; i++)
            find_stmt(f, s->cond.other[i]);
        break;
    default: break;
    }
}

void
terms_find(const sources *s, const ast_file *file, const ast_model *const *model, size_t n, arena *a, terms *out)
{
    memset(out, 0, sizeof *out);
    for (size_t m = 0; m < n; m++) {
        struct finder f = { .text = source_text(s, file->file),
                            .arena = a,
                            .out = out,
                            .model = model[m],
                            .inner = m > 0 };

        if (model[m]->at.file != file->file)
            continue;
        for (size_t i = 0; i < file->ndecls; i++)
            if (file->decl[i].kind == AST_DECL_CONSTANT)
                map_set(&f.fixed, map_ptr_key(file->decl[i].constant->value.name), 1);
        for (int i = 0; i < model[m]->nsize; i++)
            map_set(&f.fixed, map_ptr_key(model[m]->size[i].name), 1);
        for (int i = 0; i < model[m]->nstmt; i++)
            note_fixed(&f, model[m]->stmt[i]);
        for (int i = 0; i < model[m]->nstmt; i++)
            find_stmt(&f, model[m]->stmt[i]);
        map_free(&f.fixed);
    }
}

void
terms_free(terms *t)
{
    vec_free(&t->term);
    vec_free(&t->sum);
}

/* ---------------------------------------------------------------- changes */

static const char *
signed_number(arena *a, double x, bool first)
{
    if (first)
        return arena_format(a, "%.9g", x);
    return arena_format(a, "%s %.9g", x < 0 ? "-" : "+", fabs(x));
}

/* The pieces of one sum. A deleted term takes the sign before it; the first one that stays loses its plus. */
static void
sum_pieces(const terms *t, const term_sum *s, const enum term_change *what, const double *mean, arena *a,
           rewrite_piece *piece, size_t *npieces)
{
    const term *x = &t->term.at[s->first];
    uint32_t lead = 0;

    while (lead < s->n && what[s->first + lead] == TERM_DELETED)
        lead++;
    for (uint32_t k = 0; k < s->n; k++) {
        enum term_change w = what[s->first + k];
        double value = mean[s->first + k] * (x[k].minus ? -1 : 1);
        rewrite_piece *out = &piece[s->first + k];

        npieces[s->first + k] = 1;
        if (lead == s->n) /* nothing stays */
            *out = k == 0 ? (rewrite_piece){ { x[0].at.file, x[0].at.begin, x[s->n - 1].at.end }, "0" }
                          : (rewrite_piece){ x[0].at, NULL };
        else if (k < lead)
            *out = k > 0 ? (rewrite_piece){ x[0].at, NULL }
                   : what[s->first + lead] == TERM_MEAN
                       ? (rewrite_piece){ { x[0].at.file, x[0].at.begin, x[lead].at.end },
                                          signed_number(a, mean[s->first + lead] * (x[lead].minus ? -1 : 1), true) }
                       : (rewrite_piece){ { x[0].at.file, x[0].at.begin, x[lead].at.begin }, x[lead].minus ? "-" : "" };
        else if (w == TERM_DELETED)
            *out = (rewrite_piece){ { x[k].at.file, x[k - 1].at.end, x[k].at.end }, "" };
        else if (w == TERM_MEAN && k == lead && lead > 0)
            *out = (rewrite_piece){ x[0].at, NULL }; /* replaced together with the first */
        else if (w == TERM_MEAN)
            *out = (rewrite_piece){ { x[k].at.file, k ? x[k].op.begin : x[k].at.begin, x[k].at.end },
                                    signed_number(a, value, k == 0) };
        else
            npieces[s->first + k] = 0;
        if (npieces[s->first + k] && !out->text)
            npieces[s->first + k] = 0;
    }
}

size_t
terms_changes(const terms *t, const enum term_change *what, const double *mean, arena *a, rewrite_change **out)
{
    size_t n = 0, all = t->term.n;
    rewrite_change *c = arena_new_array(a, rewrite_change, all + 1);
    rewrite_piece *piece = arena_new_array(a, rewrite_piece, all + 1);
    size_t *npieces = arena_new_array(a, size_t, all + 1);
    enum term_change *w = arena_new_array(a, enum term_change, all + 1);
    bool *inside = arena_new_array(a, bool, all + 1);

    for (size_t i = 0; i < all; i++) { /* a term comes after the one that contains it */
        uint32_t outer = t->term.at[i].within;

        inside[i] = outer != NONE && (inside[outer] || what[outer] != TERM_STAYS);
        w[i] = inside[i] ? TERM_STAYS : what[i];
    }
    for (size_t i = 0; i < t->sum.n; i++) {
        bool any = false;

        for (uint32_t k = 0; k < t->sum.at[i].n; k++)
            any |= w[t->sum.at[i].first + k] != TERM_STAYS;
        if (any)
            sum_pieces(t, &t->sum.at[i], w, mean, a, piece, npieces);
    }
    for (size_t i = 0; i < all; i++) {
        const term *x = &t->term.at[i];

        if (w[i] == TERM_STAYS)
            continue;
        c[n++] = (rewrite_change){ .kind = w[i] == TERM_DELETED ? REWRITE_TERM_DELETE : REWRITE_TERM_MEAN,
                                   .owner = x->owner,
                                   .of_value = x->of_value,
                                   .inner = x->inner,
                                   .element = x->element,
                                   .nelements = x->nelements,
                                   .name = x->name,
                                   .at = x->at,
                                   .piece = &piece[i],
                                   .npieces = npieces[i] };
    }
    *out = c;
    return n;
}
