/* tree.c - makes the nodes of ast.h for the grammar
 *
 * in       values and spans of the grammar's symbols
 * out      nodes in the arena; a tree above AST_MAX_HEIGHT is reported and replaced by a number
 */
#include <string.h>

#include "parse.h"

/* ---------------------------------------------------------------- lists */

enum { MOST_SPARE = 1 << 16 }; /* memory that a list keeps for its next use, in bytes */

struct list *
list_new(struct parse *p)
{
    struct list *l = p->spare_list;

    if (!l) {
        l = arena_alloc(p->a, sizeof *l);
        vec_push(&p->lists, l);
        return l;
    }
    p->spare_list = l->next;
    l->n = l->height = 0;
    return l;
}

void
list_add(struct list *l, const void *entry, size_t size, int height)
{
    size_t used = (size_t)l->n * size;

    if (used + size > l->room)
        l->at = bg_vec_grow(l->at, &l->room, used + size, 1);
    memcpy((char *)l->at + used, entry, size);
    l->n++;
    if (height > l->height)
        l->height = height;
}

void
list_drop(struct parse *p, struct list *l)
{
    if (l->room > MOST_SPARE) {
        free(l->at);
        l->at = NULL;
        l->room = 0;
    }
    l->next = p->spare_list;
    p->spare_list = l;
}

void *
list_take(struct parse *p, struct list *l, size_t size)
{
    void *at = NULL;

    if (l->n) {
        at = arena_alloc(p->a, (size_t)l->n * size);
        memcpy(at, l->at, (size_t)l->n * size);
    }
    list_drop(p, l);
    return at;
}

void
lists_free(struct parse *p)
{
    for (size_t k = 0; k < p->lists.n; k++)
        free(p->lists.at[k]->at);
    vec_free(&p->lists);
    vec_free(&p->spare_part);
}

/* ---------------------------------------------------------------- expressions */

/* The name of a reference that is a single name without an index; nobody needs its part any longer. NULL: it is
 * something else. */
static const char *
plain_name(struct parse *p, const ast_ref *r)
{
    ast_part *part = r->part;

    if (r->nparts != 1 || part->nindex || part->at.end - part->at.begin != strlen(part->name))
        return NULL;
    vec_push(&p->spare_part, part);
    return part->name;
}

static int
max(int a, int b)
{
    return a > b ? a : b;
}

#define EXPR_SIZE(member) (offsetof(ast_expr, number) + sizeof((const ast_expr *)NULL)->member)

/* A new node; it may exceed the height limit and become a number. plain: as in ast_expr */
static struct tree_expr
node(struct parse *p, enum ast_expr_kind kind, bool plain, span at, int height)
{
    static const size_t size[] = {
        [AST_NUMBER] = EXPR_SIZE(number), [AST_STRING] = EXPR_SIZE(string), [AST_REF] = EXPR_SIZE(path),
        [AST_NEG] = EXPR_SIZE(un),        [AST_NOT] = EXPR_SIZE(un),        [AST_BINARY] = EXPR_SIZE(bin),
        [AST_IF] = EXPR_SIZE(cond),       [AST_CALL] = EXPR_SIZE(call),     [AST_MATRIX] = EXPR_SIZE(matrix)
    };
    struct tree_expr t = { arena_alloc(p->a, plain ? EXPR_SIZE(number.value) : size[kind]), height };

    t.e->kind = kind;
    t.e->plain = plain;
    t.e->at = at;
    if (height > AST_MAX_HEIGHT && !p->too_high) {
        p->too_high = true;
        parse_error(p, "syntax-nesting", (span){ at.file, at.end, at.end },
                    "this expression has more than %d levels; give parts of it names with `signal`", AST_MAX_HEIGHT);
    }
    return t;
}

/* Checks the height of a node; above the limit it becomes a number, so that no tree is ever too high. */
static bool
fits(struct tree_expr *t)
{
    if (t->height <= AST_MAX_HEIGHT)
        return true;
    t->e->kind = AST_NUMBER;
    t->e->plain = true;
    t->height = 1;
    return false;
}

struct tree_expr
tree_number(struct parse *p, span at, double value, ast_unit *unit)
{
    struct tree_expr t = node(p, AST_NUMBER, !unit, at, 1);

    t.e->number.value = value;
    if (unit)
        t.e->number.unit = unit;
    return t;
}

struct tree_expr
tree_string(struct parse *p, span at, const char *string)
{
    struct tree_expr t = node(p, AST_STRING, false, at, 1);

    t.e->string = string;
    vec_push(&p->named, string);
    return t;
}

struct tree_expr
tree_word(struct parse *p, span at, const char *name)
{
    struct tree_expr t = node(p, AST_REF, true, at, 1);

    t.e->name = name;
    return t;
}

struct tree_expr
tree_read(struct parse *p, span at, struct tree_ref ref)
{
    const char *name = plain_name(p, &ref.ref);
    struct tree_expr t;

    if (name)
        return tree_word(p, at, name);
    t = node(p, AST_REF, false, at, ref.height + 1);
    if (fits(&t))
        t.e->path = ref.ref;
    return t;
}

struct tree_expr
tree_unary(struct parse *p, span at, enum ast_expr_kind kind, struct tree_expr a)
{
    struct tree_expr t = node(p, kind, false, at, a.height + 1);

    if (fits(&t))
        t.e->un.a = a.e;
    return t;
}

struct tree_expr
tree_binary(struct parse *p, span at, enum ast_binary op, struct tree_expr a, struct tree_expr b)
{
    struct tree_expr t = node(p, AST_BINARY, false, at, max(a.height, b.height) + 1);

    if (fits(&t)) {
        t.e->op = op;
        t.e->bin.a = a.e;
        t.e->bin.b = b.e;
    }
    return t;
}

struct tree_expr
tree_if(struct parse *p, span at, struct tree_expr c, struct tree_expr a, struct tree_expr b)
{
    struct tree_expr t = node(p, AST_IF, false, at, max(c.height, max(a.height, b.height)) + 1);

    if (fits(&t)) {
        t.e->cond.c = c.e;
        t.e->cond.a = a.e;
        t.e->cond.b = b.e;
    }
    return t;
}

struct tree_expr
tree_call(struct parse *p, span at, const char *name, struct list *args)
{
    struct tree_expr t = node(p, AST_CALL, false, at, args->height + 1);

    if (fits(&t)) {
        t.e->call.name = name;
        t.e->call.arg = LIST_TAKE(p, args, ast_expr *);
        t.e->call.nargs = args->n;
    }
    return t;
}

struct tree_expr
tree_matrix(struct parse *p, span at, struct list *rows, ast_unit *unit)
{
    struct tree_expr t = node(p, AST_MATRIX, false, at, rows->height + 1);
    struct list *const *row = rows->at;
    ast_expr **entry;
    size_t n = 0;
    int cols = row[0]->n;

    if (!fits(&t))
        return t;
    for (int i = 0; i < rows->n; i++)
        n += (size_t)row[i]->n;
    entry = arena_new_array(p->a, ast_expr *, n);
    n = 0;
    for (int i = 0; i < rows->n; i++) {
        ast_expr *const *e = row[i]->at;

        if (row[i]->n != cols) {
            parse_error(p, "syntax-matrix", span_join(e[0]->at, e[row[i]->n - 1]->at),
                        "this row has %d entr%s, the first row has %d", row[i]->n, row[i]->n == 1 ? "y" : "ies", cols);
            break;
        }
        for (int k = 0; k < cols; k++) {
            if (e[k]->kind == AST_MATRIX) {
                parse_error(p, "syntax-matrix", e[k]->at, "an entry of a matrix is a number, not a matrix");
                diag_help(p->s, "Rows are separated by `;`: `[1, 2; 3, 4]`.");
            }
            entry[n++] = e[k];
        }
        t.e->matrix.rows = i + 1;
    }
    for (int i = 0; i < rows->n; i++)
        list_drop(p, row[i]);
    list_drop(p, rows);
    t.e->matrix.cols = cols;
    t.e->matrix.entry = entry;
    t.e->matrix.unit = unit;
    return t;
}

/* ---------------------------------------------------------------- references */

struct tree_part
tree_part(struct parse *p, span at, const char *name)
{
    struct tree_part t = { p->spare_part.n ? p->spare_part.at[--p->spare_part.n] : arena_alloc(p->a, sizeof *t.part),
                           0 };

    *t.part = (ast_part){ .at = at, .name = name };
    return t;
}

struct tree_part
tree_part_index(struct parse *p, span at, struct tree_part part, struct list *index, span index_at)
{
    ast_brackets *b = arena_alloc(p->a, sizeof *b);

    if (part.part->nindex)
        *b = *part.part->brackets;
    else
        b->at = index_at;
    for (int i = 0; i < index->n; i++) {
        if (part.part->nindex == 2) {
            parse_error(p, "syntax-index", index_at, "`%.60s` has more than two indices", part.part->name);
            diag_help(p->s, "For several matrices, make several instances of a component with one matrix.");
            break;
        }
        b->index[part.part->nindex++] = ((const ast_index *)index->at)[i];
    }
    b->at = span_join(b->at, index_at);
    part.part->at = at;
    part.part->brackets = b;
    part.height = max(part.height, index->height);
    list_drop(p, index);
    return part;
}

struct tree_ref
tree_ref(struct parse *p, struct tree_part part)
{
    (void)p;
    return (struct tree_ref){ { .at = part.part->at, .part = part.part, .nparts = 1 }, part.height };
}

struct tree_ref
tree_ref_add(struct parse *p, struct tree_ref ref, struct tree_part part)
{
    ast_ref *r = &ref.ref;

    if (r->nparts == 1 && r->part + 1 == part.part) {
        r->nparts++; /* made one behind the other: `spring.q` */
    } else {
        if (!(r->nparts & (r->nparts - 1))) { /* capacity grows at 1, 2, 4, 8 ... entries */
            ast_part *more = arena_new_array(p->a, ast_part, 2 * (size_t)r->nparts);

            memcpy(more, r->part, (size_t)r->nparts * sizeof *more);
            if (r->nparts == 1)
                vec_push(&p->spare_part, r->part);
            r->part = more;
        }
        r->part[r->nparts++] = *part.part;
        vec_push(&p->spare_part, part.part);
    }
    r->at = span_join(r->at, part.part->at);
    ref.height = max(ref.height, part.height);
    return ref;
}

/* ---------------------------------------------------------------- chains */

/* Junctions with only a name share their properties. */
static const ast_own *
plain_junction(struct parse *p, const char *type)
{
    const ast_own **shared = &p->plain[type[0] == '1'];

    if (!*shared) {
        ast_own *own = arena_alloc(p->a, sizeof *own);

        *own = ast_own_nothing;
        own->type = type;
        own->file = p->file;
        *shared = own;
    }
    return *shared;
}

/* References have nothing of their own but their file. */
static const ast_own *
no_properties(struct parse *p)
{
    if (!p->reference) {
        ast_own *own = arena_alloc(p->a, sizeof *own);

        *own = ast_own_nothing;
        own->file = p->file;
        p->reference = own;
    }
    return p->reference;
}

static const ast_own *
finish_own(struct parse *p, const struct tree_node *n, bool plain)
{
    bool block = span_known(n->block.at),
         more = n->more.such_that || n->more.domain || n->more.nwithout || span_known(n->more.args_at);
    ast_own *own;

    if (!n->own.type)
        return no_properties(p);
    if (!block && !more && !n->own.linear && plain && (!strcmp(n->own.type, "0") || !strcmp(n->own.type, "1")) &&
        n->one.at.begin == n->at.begin + 2 && n->one.at.end == n->at.end)
        return plain_junction(p, n->own.type);
    own = arena_alloc(p->a, sizeof *own);
    *own = n->own;
    own->file = p->file;
    own->end = n->at.end;
    own->name_begin = n->ref.part ? n->ref.part[0].at.begin : n->at.begin;
    if (block) {
        ast_block *b = arena_alloc(p->a, sizeof *b);

        *b = n->block;
        own->block = b;
    }
    if (more) {
        ast_more *m = arena_alloc(p->a, sizeof *m);

        *m = n->more;
        own->more = m;
    }
    return own;
}

ast_node
node_finish(struct parse *p, struct tree_node *n)
{
    bool plain = n->ref.part == &n->one;
    ast_node node = { .own = finish_own(p, n, plain), .begin = n->at.begin, .plain = plain };

    n->next = p->spare_node;
    p->spare_node = n;
    if (plain) {
        node.name = n->one.name;
    } else {
        ast_ref *ref = arena_alloc(p->a, sizeof *ref);

        *ref = n->ref;
        node.ref = ref;
    }
    return node;
}

void
chain_add(struct parse *p, struct list *chain, struct tree_node *n, span arrow)
{
    ast_node node = node_finish(p, n);

    node.arrow = arrow.begin;
    LIST_ADD(chain, node, 0);
}

void
chain_name(struct parse *p, struct list *chain, const char *name, span name_at, span as)
{
    ast_node n = { .own = no_properties(p), .name = name, .begin = name_at.begin, .plain = true, .arrow = as.begin };

    LIST_ADD(chain, n, 0);
}

static ast_stmt *
chain_of(struct parse *p, span at, const ast_node *node, size_t n)
{
    ast_stmt *s = arena_alloc(p->a, offsetof(ast_stmt, first) + n * sizeof *node);

    s->kind = AST_STMT_CHAIN;
    s->at = at;
    memcpy(&s->first, node, n * sizeof *node);
    return s;
}

ast_stmt *
chain_new(struct parse *p, span at, struct list *chain, bool named)
{
    ast_stmt *s = chain_of(p, at, chain->at, (size_t)chain->n);
    const ast_node *first = ast_chain(s);

    s->named = named;
    s->nnodes = (uint32_t)(chain->n - named) & AST_MAX_CHAIN;
    if (chain->n > AST_MAX_CHAIN)
        parse_error(p, "syntax-chain", at, "a chain of more than %d parts", AST_MAX_CHAIN);
    list_drop(p, chain);
    if (s->nnodes == 1 && !first->own->type) {
        parse_error(p, "syntax-chain", ast_node_at(first), "`%.60s` alone is not a statement", ast_node_name(first));
        diag_help(p->s, "A part is declared with its type, `1:%.60s;`, and bonded with `->`.", ast_node_name(first));
    }
    return s;
}

struct tree_node *
node_reference(struct parse *p, struct tree_ref ref)
{
    struct tree_node *n = p->spare_node;

    if (n)
        p->spare_node = n->next;
    else
        n = arena_alloc(p->a, sizeof *n);
    *n = (struct tree_node){ .own = ast_own_nothing,
                             .ref = ref.ref,
                             .at = ref.ref.at,
                             .block = *ast_own_nothing.block,
                             .more = *ast_own_nothing.more };
    if (plain_name(p, &ref.ref)) {
        n->one = ref.ref.part[0]; /* which is spare now, but as it was */
        n->ref.part = &n->one;
    }
    return n;
}

struct tree_node *
node_declaration(struct parse *p, span at, const char *type, struct tree_part part)
{
    struct tree_node *n = node_reference(p, tree_ref(p, part));

    n->at = at;
    n->own.type = type;
    return n;
}

void
node_block(struct parse *p, struct tree_node *n, span at, struct list *items)
{
    n->block = (ast_block){ LIST_TAKE(p, items, ast_law_item), items->n, at };
}

/* ---------------------------------------------------------------- statements */

#define STMT_SIZE(member) (offsetof(ast_stmt, first) + sizeof((const ast_stmt *)NULL)->member)

ast_stmt *
stmt_new(struct parse *p, enum ast_stmt_kind kind, span at)
{
    static const size_t size[] = { [AST_STMT_CHAIN] = STMT_SIZE(first), [AST_STMT_VALUE] = STMT_SIZE(value),
                                   [AST_STMT_PORT] = STMT_SIZE(port),   [AST_STMT_FOR] = STMT_SIZE(loop),
                                   [AST_STMT_IF] = STMT_SIZE(cond),     [AST_STMT_WITHOUT] = STMT_SIZE(without),
                                   [AST_STMT_WHEN] = STMT_SIZE(when),   [AST_STMT_INITIAL] = STMT_SIZE(initial) };
    ast_stmt *s = arena_alloc(p->a, size[kind]);

    s->kind = kind;
    s->at = at;
    return s;
}

void
value_size(struct parse *p, ast_stmt *s, struct list *sizes)
{
    const ast_index *size = sizes->at;

    for (int i = 0; i < sizes->n; i++) {
        if (size[i].to) {
            parse_error(p, "syntax-index", span_join(size[i].from->at, size[i].to->at),
                        "a size is one number, not a range");
            diag_help(p->s, "`m[n]` is m[1] to m[n].");
        }
        if (i < 2)
            s->value.size[i] = size[i].from;
    }
    s->value.nsize = sizes->n;
    if (sizes->n > 2) {
        parse_error(p, "syntax-index", span_join(size[0].from->at, size[sizes->n - 1].from->at),
                    "`%.60s` has more than two indices", s->value.name);
        s->value.nsize = 2;
    }
    list_drop(p, sizes);
}

void
value_needed(struct parse *p, const ast_stmt *s)
{
    static const char *const kind[] = { [AST_PARAMETER] = "parameter",
                                        [AST_CONSTANT] = "constant",
                                        [AST_SIGNAL] = "signal",
                                        [AST_INPUT] = "input",
                                        [AST_OUTPUT] = "output" };

    if (!s->value.value && (s->value.kind == AST_CONSTANT || s->value.kind == AST_SIGNAL)) {
        parse_error(p, "syntax-value", s->value.name_at, "%s `%.60s` has no value", kind[s->value.kind], s->value.name);
        diag_help(p->s, "Write `%s %.60s = ...;`.", kind[s->value.kind], s->value.name);
    }
}

void
every_offset(struct parse *p, const char *word, span at)
{
    if (strcmp(word, "offset") == 0)
        return;
    parse_error(p, "syntax", at, "between the period of `every` and its block only `offset` can stand, not `%.40s`",
                word);
    diag_help(p->s, "Write: every 50 [ms] { u = ...; }, or: every 50 [ms] offset 10 [ms] { u = ...; }");
}

void
junction_separated(struct list *l, span separator)
{
    ast_stmt **last = (ast_stmt **)l->at + (l->n - 1);

    (*last)->at = span_join((*last)->at, separator);
}

void
junction_listed(struct parse *p, struct list *l, struct tree_node *n, span separator)
{
    span at = span_join(n->at, separator);
    ast_node node = node_finish(p, n);
    ast_stmt *s = chain_of(p, at, &node, 1);

    s->nnodes = 1;
    LIST_ADD(l, s, 0);
}

void
junctions_add(struct parse *p, struct list *stmts, struct list *junctions, span end)
{
    ast_stmt **s = junctions->at;

    junction_separated(junctions, end);
    for (int k = 0; k < junctions->n; k++)
        LIST_ADD(stmts, s[k], 0);
    for (int k = 0; k < junctions->n; k++) {
        const ast_node *n = ast_chain(s[k]);
        uint32_t comma = s[k ? k - 1 : 0]->at.end;

        if (!strcmp(n->own->type, "0") || !strcmp(n->own->type, "1"))
            continue;
        parse_error(p, "syntax-semicolon", (span){ end.file, comma - 1, comma }, "a statement ends with `;`");
        diag_help(p->s, "Only junctions can be declared in a list: `1:a, 1:b;`.");
        break;
    }
    list_drop(p, junctions);
}

ast_exp_item *
item_set(struct parse *p, span at, const char *name, span name_at, struct tree_expr value)
{
    ast_exp_item *i = arena_alloc(p->a, sizeof *i);

    *i = (ast_exp_item){ .kind = AST_EXP_SET,
                         .at = at,
                         .ref = tree_ref(p, tree_part(p, name_at, name)).ref,
                         .a = value.e };
    return i;
}

/* The grammar sets its place and tolerance. */
static ast_exp_item *
expect_new(struct parse *p, ast_expr *subject, ast_expect x)
{
    ast_exp_item *i = arena_alloc(p->a, sizeof *i);
    ast_expect *e = arena_alloc(p->a, sizeof *e);

    *e = x;
    *i = (ast_exp_item){ .kind = AST_EXP_EXPECT, .a = subject, .expect = e };
    return i;
}

ast_exp_item *
item_expect(struct parse *p, enum ast_expect_kind kind, ast_expr *subject, ast_expr *time, ast_expr *value)
{
    return expect_new(p, subject, (ast_expect){ .kind = kind, .time = time, .value = value });
}

ast_exp_item *
item_expect_path(struct parse *p, enum ast_expect_kind kind, ast_expr *subject, const char *path, span path_at)
{
    vec_push(&p->named, path);
    return expect_new(p, subject, (ast_expect){ .kind = kind, .path = path, .path_at = path_at });
}

/* `activity` is not reserved. */
ast_exp_item *
item_expect_activity(struct parse *p, const ast_expr *word, ast_ref element, ast_expr *value)
{
    const char *name = ast_expr_name(word);
    bool fine = name && !strcmp(name, "activity");

    if (!fine)
        parse_error(p, "syntax", word->at,
                    "the only expectation about an element is its activity: `expect activity of %.40s = ...`",
                    element.nparts ? element.part[0].name : "x");
    return expect_new(p, NULL, (ast_expect){ .kind = AST_EXPECT_ACTIVITY, .element = element, .value = value });
}

void
file_add(struct parse *p, ast_decl decl)
{
    LIST_ADD(&p->decls, decl, 0);
}

/* ---------------------------------------------------------------- checks that need the text alone */

const char *
junction_type(struct parse *p, span at)
{
    const char *text = source_text(p->s, at.file) + at.begin;

    if (at.end - at.begin != 1 || (*text != '0' && *text != '1')) {
        parse_error(p, "syntax-type", at, "there is no element type %.*s",
                    at.end - at.begin > 20 ? 20 : (int)(at.end - at.begin), text);
        diag_help(p->s, "The junctions are `0` (common effort) and `1` (common flow).");
        return names_intern_z(p->n, "1");
    }
    return names_intern(p->n, text, 1);
}

/* The left side of a law or initial value is a quantity; for arrays of ports the index belongs to the port. */
static void
check_left(struct parse *p, const ast_ref *left)
{
    const ast_part *last = &left->part[left->nparts - 1];

    if (!last->nindex)
        return;
    if (left->nparts > 1) {
        parse_error(p, "syntax-index", last->brackets->at, "`%.60s` takes no index here: it is one quantity of a port",
                    last->name);
        diag_help(p->s, "The index stands behind the port: `%.60s[...].%.60s`.", last[-1].name, last->name);
    } else {
        parse_error(p, "syntax-index", last->brackets->at,
                    "`%.60s` takes no index here: it is one quantity of this element", last->name);
    }
}

ast_law_item *
law_equation(struct parse *p, span at, enum ast_law_item_kind kind, const ast_ref *left, ast_expr *right)
{
    const char *name;

    check_left(p, left);
    name = plain_name(p, left);
    p->law = (ast_law_item){ .kind = kind, .plain = name != NULL, .at = at, .right = right };
    if (name) {
        p->law.name = name;
    } else {
        ast_ref *ref = arena_alloc(p->a, sizeof *ref);

        *ref = *left;
        p->law.ref = ref;
    }
    return &p->law;
}

void
initial_zero(struct parse *p, span at, double value)
{
    if (value < 0 || value > 0) {
        parse_error(p, "syntax-initial", at, "an initial value is given at `(0)`");
        diag_help(p->s, "`q(0)` is the value at the start, at whatever time that is.");
    }
}

ast_expr *
size_single(struct parse *p, struct list *sizes)
{
    const ast_index *size = sizes->at;
    ast_expr *first = sizes->n ? size->from : NULL;

    if (sizes->n > 1 || (first && size->to))
        parse_error(p, "syntax-index", span_join(first->at, size[sizes->n - 1].from->at),
                    "a port has one size, `x[8]`");
    list_drop(p, sizes);
    return first;
}

void
domain_quantity(struct parse *p, ast_domain *d, const char *what, span what_at, const char *name, ast_unit *unit)
{
    bool effort = !strcmp(what, "effort");

    if (!effort && strcmp(what, "flow") != 0) {
        parse_error(p, "syntax-domain", what_at, "a domain has an `effort`, a `flow` and a `power`, no `%.40s`", what);
        return;
    }
    if (effort ? d->effort : d->flow)
        parse_error(p, "syntax-domain", what_at, "the %s is stated twice", what);
    if (effort) {
        d->effort = name;
        d->effort_unit = unit;
    } else {
        d->flow = name;
        d->flow_unit = unit;
    }
}

void
domain_power(struct parse *p, ast_domain *d, const char *what, span what_at, struct tree_expr value)
{
    if (strcmp(what, "power") != 0) {
        parse_error(p, "syntax-domain", what_at, "only `power` is given with `=` in a domain");
        diag_help(p->s, "Effort and flow are named, with their units: `effort temperature [K];`.");
        return;
    }
    if (d->power)
        parse_error(p, "syntax-domain", what_at, "the power is stated twice");
    d->power = value.e;
}

void
domain_complete(struct parse *p, const ast_domain *d)
{
    if (!d->effort || !d->flow)
        parse_error(p, "syntax-domain", d->name_at, "domain `%.60s` does not say what its %s is", d->name,
                    d->effort ? "flow" : "effort");
}
