/* ast.h - the syntax tree of a .bg file, for the whole language
 *
 * The parser builds it without resolving names; statements are in the order of the text, and every node has its span.
 * Everything is in the arena of the file; lists are arrays.
 */
#ifndef BG_AST_H
#define BG_AST_H

#include <string.h>

#include "source.h"

typedef struct ast_unit {
    span at;
    const char *text;
} ast_unit; /* text between [ and ], trimmed; `at` includes them */

/* ---------------------------------------------------------------- expressions */
typedef struct ast_expr ast_expr;

/* `front.spring[2].q`: parts, each a name with up to two indexes; an index is an expression or a range */
typedef struct ast_index {
    ast_expr *from, *to;
} ast_index; /* to is NULL unless written from..to */
typedef struct ast_brackets {
    span at; /* from the first bracket to the last */
    ast_index index[2];
} ast_brackets;
typedef struct ast_part {
    const char *name;
    const ast_brackets *brackets; /* NULL without an index */
    span at;
    int nindex;
} ast_part;
typedef struct ast_ref {
    ast_part *part;
    int nparts;
    span at;
} ast_ref;

enum ast_expr_kind { AST_NUMBER, AST_STRING, AST_REF, AST_NEG, AST_NOT, AST_BINARY, AST_IF, AST_CALL, AST_MATRIX };
enum ast_binary {
    AST_ADD,
    AST_SUB,
    AST_MUL,
    AST_DIV,
    AST_POW,
    AST_LT,
    AST_LE,
    AST_GT,
    AST_GE,
    AST_EQ,
    AST_NE,
    AST_AND,
    AST_OR
};
/* Allocated only as large as its kind needs: never copy it. Large models consist of bare numbers and single names: of a
 * reference that is a name without an index only the name is stored, since its place is that of the expression. */
struct ast_expr {
    enum ast_expr_kind kind : 8;
    enum ast_binary op : 8; /* of AST_BINARY */
    bool plain;             /* AST_REF: a single name; AST_NUMBER: without a unit */
    span at;
    union {
        struct {
            double value;
            const ast_unit *unit; /* unless plain: see ast_number_unit */
        } number;
        const char *string; /* without quotes, escapes resolved */
        const char *name;   /* plain; also time and pi */
        ast_ref path;       /* otherwise; for both see ast_expr_ref */
        struct {
            ast_expr *a;
        } un;
        struct {
            ast_expr *a, *b;
        } bin;
        struct {
            ast_expr *c, *a, *b;
        } cond;
        struct {
            const char *name;
            ast_expr **arg;
            int nargs;
        } call; /* also der, integral, table */
        struct {
            ast_expr **entry;
            int rows, cols;
            ast_unit *unit;
        } matrix; /* row by row */
    };
};

/* The unit of a number; NULL: a bare number. */
static inline const ast_unit *
ast_number_unit(const ast_expr *e)
{
    return e->plain ? NULL : e->number.unit;
}
/* A name without an index as a reference; its part is stored in room. */
static inline ast_ref
ast_name_ref(const char *name, span at, ast_part *room)
{
    *room = (ast_part){ .name = name, .at = at };
    return (ast_ref){ room, 1, at };
}
/* What an AST_REF refers to. room: storage for a part */
static inline ast_ref
ast_expr_ref(const ast_expr *e, ast_part *room)
{
    return e->plain ? ast_name_ref(e->name, e->at, room) : e->path;
}
/* The name of a reference that is a single name without an index; NULL: it is something else. */
static inline const char *
ast_expr_name(const ast_expr *e)
{
    return e->kind == AST_REF && e->plain ? e->name : NULL;
}
/* The name of the function that is called. */
static inline span
ast_call_name_at(const ast_expr *e)
{
    return (span){ e->at.file, e->at.begin, e->at.begin + (uint32_t)strlen(e->call.name) };
}

/* ---------------------------------------------------------------- elements and chains */
enum ast_law_item_kind {
    AST_LAW_EQUATION, /* e = ..., x.f = ..., energy = ... */
    AST_LAW_INITIAL,  /* q(0) = ... */
    AST_LAW_PORT      /* port a, b -> c[3]; */
};
typedef struct ast_law_port {
    span at;
    const char *name;
    ast_expr *size;
    int arrow;
} ast_law_port; /* arrow: 0 none, 1 left of ->, 2 right */
typedef struct ast_law_item {
    enum ast_law_item_kind kind : 8;
    bool plain; /* the left side is a single name */
    span at;    /* including the semicolon */
    union {     /* the left side of an equation or initial value, without (0): see ast_law_left */
        const char *name;
        const ast_ref *ref;
        ast_law_port *port;
    };
    union {
        ast_expr *right; /* of an equation or initial value */
        int nports;      /* of ports */
    };
} ast_law_item;
/* What stands left of the = of an equation or initial value. room: storage for a part */
static inline ast_ref
ast_law_left(const ast_law_item *x, ast_part *room)
{
    if (!x->plain)
        return *x->ref;
    return ast_name_ref(x->name, (span){ x->at.file, x->at.begin, x->at.begin + (uint32_t)strlen(x->name) }, room);
}

typedef struct ast_arg {
    span at;
    span name_at;
    const char *name;
    ast_expr *value;
} ast_arg; /* k = expr */

/* `{ ... }` after a declaration */
typedef struct ast_block {
    ast_law_item *item;
    int nitems;
    span at; /* with braces; SPAN_NONE: no block */
} ast_block;
/* Properties that few declarations have. */
typedef struct ast_more {
    ast_expr *such_that; /* such that expr */
    const char *domain;
    ast_arg *arg;
    ast_ref *without;
    int nargs, nwithout; /* Wheel:front(...) without rim, hub.bearing */
    span domain_at;      /* in heat */
    span args_at;        /* Wheel:front(k = 2): with parentheses */
} ast_more;
/* Properties of a declared part. References share one that is empty, and so do junctions without any; block and more
 * are never NULL, but shared in the same way. */
typedef struct ast_own {
    const char *type; /* NULL: a reference. "1", "Se", "Wheel", ... */
    ast_expr *linear; /* = expr */
    const ast_block *block;
    const ast_more *more;
    uint32_t file;
    uint32_t end; /* of the declaration, with law and block; 0: of a reference, and of TYPE:name without blanks */
    uint32_t name_begin; /* of the name, unless end is 0 */
} ast_own;
extern const ast_own ast_own_nothing;

/* One node of a chain: a declaration `TYPE:name...` or a reference `name`, `front.hub`, `v[i]`. These are the most
 * frequent nodes: a single name without an index is stored in the node itself, and where it ends follows from its text.
 */
typedef struct ast_node {
    const ast_own *own;
    union {
        const char *name;   /* plain */
        const ast_ref *ref; /* otherwise: the name declared or referred to, with its index */
    };
    uint32_t begin : 31; /* a text has up to 1 GiB */
    uint32_t plain : 1;
    uint32_t arrow; /* start of the `->` before it */
} ast_node;
static inline int
ast_node_nparts(const ast_node *n)
{
    return n->plain ? 1 : n->ref->nparts;
}
/* Its first name. */
static inline const char *
ast_node_name(const ast_node *n)
{
    return n->plain ? n->name : n->ref->part[0].name;
}
static inline int
ast_node_nindex(const ast_node *n)
{
    return n->plain ? 0 : n->ref->part[0].nindex;
}
/* As a reference. room: storage for a part */
static inline ast_ref
ast_node_ref(const ast_node *n, ast_part *room)
{
    const ast_own *own = n->own;
    uint32_t begin;

    if (!n->plain)
        return n->ref->nparts ? *n->ref : (ast_ref){ NULL, 0, SPAN_NONE };
    begin = own->end ? own->name_begin : own->type ? n->begin + (uint32_t)strlen(own->type) + 1 : n->begin;
    return ast_name_ref(n->name, (span){ own->file, begin, begin + (uint32_t)strlen(n->name) }, room);
}
static inline span
ast_node_ref_at(const ast_node *n)
{
    ast_part room;

    return ast_node_ref(n, &room).at;
}
/* The place of the whole node. */
static inline span
ast_node_at(const ast_node *n)
{
    uint32_t end = n->own->end ? n->own->end : n->plain ? ast_node_ref_at(n).end : n->ref->at.end;

    return (span){ n->own->file, n->begin, end };
}
static inline bool
ast_has_block(const ast_node *n)
{
    return span_known(n->own->block->at);
}
/* The place of a declaration's type; SPAN_NONE for a reference. */
static inline span
ast_type_at(const ast_node *n)
{
    return n->own->type ? (span){ n->own->file, n->begin, n->begin + (uint32_t)strlen(n->own->type) } : SPAN_NONE;
}
/* The place of a declaration's type and name: TYPE:name. */
static inline span
ast_declared_at(const ast_node *n)
{
    return span_join(ast_type_at(n), ast_node_ref_at(n));
}
/* The arrow before node k of a chain, k > 0. */
static inline span
ast_arrow_at(const ast_node *chain, int k)
{
    return (span){ chain[k].own->file, chain[k].arrow, chain[k].arrow + 2 };
}

/* ---------------------------------------------------------------- statements of a model */
enum ast_stmt_kind {
    AST_STMT_CHAIN,
    AST_STMT_VALUE,
    AST_STMT_PORT,
    AST_STMT_FOR,
    AST_STMT_IF,
    AST_STMT_WITHOUT,
    AST_STMT_WHEN,
    AST_STMT_INITIAL
};
enum ast_value_kind { AST_PARAMETER, AST_CONSTANT, AST_SIGNAL, AST_INPUT, AST_OUTPUT };

/* `as name` after a chain */
typedef struct ast_bond {
    const char *name;
    span name_at, at;
} ast_bond;

typedef struct ast_stmt ast_stmt;
/* Allocated only as large as its kind needs: never copy it. */
struct ast_stmt {
    enum ast_stmt_kind kind : 4;
    uint32_t named : 1;   /* a chain: the name of its bond is one node more, see ast_chain_bond */
    uint32_t nnodes : 27; /* of a chain: a -> b -> c as name; */
    span at;              /* including the semicolon or closing brace */
    union {
        ast_node first; /* of a chain; the others follow: see ast_chain */
        struct {        /* parameter k[3,3] = 2 [N/m] "text"; the unit may be before or after the value */
            enum ast_value_kind kind;
            const char *name;
            span name_at;
            ast_expr *size[2];
            int nsize;
            ast_unit *unit;   /* unit written with the name */
            ast_expr *value;  /* NULL if none (input without default) */
            const char *text; /* description or NULL */
        } value;
        struct {
            ast_node *junction;
            int n;
        } port; /* port 1:hub, 0:patch; */
        struct {
            const char *var;
            span var_at;
            ast_expr *from, *to;
            ast_stmt **body;
            int n;
        } loop;
        struct {
            ast_expr *cond;
            ast_stmt **then;
            int nthen;
            ast_stmt **other;
            int nother;
        } cond;
        struct {
            ast_ref *ref;
            int n;
        } without;
        /* when cond { reinit target = value; }; every period offset offset { target = value; }, where cond is NULL;
         * assert cond "text", which sets nothing */
        struct {
            ast_expr *cond, *period, *offset;
            span head; /* `every period offset offset` */
            bool assertion;
            const char *text; /* of an assertion, or NULL */
            struct ast_reinit {
                span at;
                ast_ref target;
                ast_expr *value;
            } * reinit;
            int n;
        } when;
        struct {
            ast_ref ref;
            ast_expr *value;
        } initial; /* spring.q(0) = value; ref without (0) */
    };
};

enum { AST_MAX_CHAIN = (1 << 27) - 1 }; /* nodes of a chain */

/* The nodes of a chain. */
static inline const ast_node *
ast_chain(const ast_stmt *s)
{
    return &s->first;
}
/* What `as` says of a chain that is named. */
static inline ast_bond
ast_chain_bond(const ast_stmt *s)
{
    const ast_node *n = &ast_chain(s)[s->nnodes];
    uint32_t end = n->begin + (uint32_t)strlen(n->name);

    return (ast_bond){ n->name, { s->at.file, n->begin, end }, { s->at.file, n->arrow, end } };
}

/* ---------------------------------------------------------------- top level */
typedef struct ast_size_param {
    span at;
    const char *name;
    ast_expr *value;
} ast_size_param;
typedef struct ast_model {
    span at, name_at;
    const char *name, *text;
    ast_size_param *size;
    int nsize; /* model truck(n = 10) */
    ast_stmt **stmt;
    int nstmt;
} ast_model;

typedef struct ast_function {
    span at, name_at;
    const char *name;
    struct ast_formal {
        span at;
        const char *name;
        ast_unit *unit;
    } * arg;
    int nargs;
    ast_unit *unit; /* of the result, or NULL */
    ast_expr *body;
} ast_function;

enum ast_exp_kind {
    AST_EXP_SET,         /* start, stop, rtol, atol, solver = expr; ref has one part */
    AST_EXP_EQUILIBRIUM, /* start from equilibrium; */
    AST_EXP_LET,         /* let ref = expr; initial: let spring.q(0) = expr; */
    AST_EXP_WINDOW,      /* window a .. b; */
    AST_EXP_OBSERVE,     /* observe ref within expr; b NULL: without within */
    AST_EXP_KEEP,        /* keep refs; */
    AST_EXP_RECORD,      /* record exprs; */
    AST_EXP_EXPECT,      /* expect a ... within b; */
    AST_EXP_STOP_WHEN    /* stop when expr; */
};
/* What `bgc test` compares a with. */
enum ast_expect_kind {
    AST_EXPECT_VALUE,   /* expect a at time = value; time NULL: at the end */
    AST_EXPECT_FILE,    /* expect a from "path"; a trajectory */
    AST_EXPECT_MODEL,   /* expect a of "path"; the same experiment of another model */
    AST_EXPECT_ACTIVITY /* expect activity of element = value; a NULL */
};
typedef struct ast_expect {
    enum ast_expect_kind kind;
    ast_expr *time, *value;
    ast_ref element;
    const char *path;
    span path_at;
} ast_expect;
typedef struct ast_exp_item {
    enum ast_exp_kind kind;
    span at;
    ast_ref ref;
    bool initial;
    ast_expr *a, *b;
    ast_ref *refs;
    int nrefs;
    ast_expr **exprs;
    int nexprs;
    const ast_expect *expect;
} ast_exp_item;
typedef struct ast_experiment ast_experiment;
struct ast_experiment {
    span at, name_at, model_at; /* model_at: the experiment's name if no model is written */
    const char *name, *model;   /* model: if none is written that of its base, or the only one in the file */
    const char *base;
    span base_at;               /* from BASE; NULL: from none */
    const ast_experiment *from; /* BASE; NULL: none, or unknown */
    /* The first `inherited` items come from the texts of its bases; the others are its own. */
    ast_exp_item *item;
    int nitems, inherited;
};

typedef struct ast_domain {
    span at, name_at;
    const char *name;
    const char *effort, *flow;
    ast_unit *effort_unit, *flow_unit;
    ast_expr *power; /* NULL: effort*flow */
} ast_domain;

typedef struct ast_import {
    span at;
    bool is_file;
    const char *path;
    span path_at;
} ast_import; /* mechanics.translation or "tire.bg" */

enum ast_decl_kind {
    AST_DECL_MODEL,
    AST_DECL_FUNCTION,
    AST_DECL_EXPERIMENT,
    AST_DECL_DOMAIN,
    AST_DECL_IMPORT,
    AST_DECL_CONSTANT
};
typedef struct ast_decl {
    enum ast_decl_kind kind;
    union {
        ast_model *model;
        ast_function *function;
        ast_experiment *experiment;
        ast_domain *domain;
        ast_import *import;
        ast_stmt *constant;
    };
} ast_decl;

typedef struct ast_file {
    uint32_t file; /* number among the sources */
    ast_decl *decl;
    size_t ndecls;
    span *comment;
    size_t ncomments; /* in the order of the text, without the newline */
    const char **named;
    size_t nnamed; /* named files, in the order of the text; columns of tables too */
    bool ok;       /* no syntax errors */
    bool units;    /* something outside of its experiments has a unit, or it imports a file */
} ast_file;

/* Limits of a tree's depth, so that passes may recurse: brackets, braces and else-ifs nest at most AST_MAX_NESTING
 * levels, and an expression is at most AST_MAX_HEIGHT high (each term of a sum adds a level, since sums associate to
 * the left). */
enum { AST_MAX_NESTING = 200, AST_MAX_HEIGHT = 2000 };

/* Parses text number `file`. Syntax errors are reported (several in one run), and parsing continues: what could be read
 * is in the tree, with ok false. Names are interned in n. Accepts any input; a tree above the limits is an error. */
ast_file *parse_file(sources *s, names *n, arena *a, uint32_t file);

/* Calls `call` for each reference in an expression, also in indexes; the reference is valid during the call. e may be
 * NULL. */
void ast_each_ref(const ast_expr *e, void (*call)(void *ctx, const ast_ref *r), void *ctx);
/* The same for the references of an expectation; the element of an activity is passed as written. */
void ast_each_expected(const ast_exp_item *x, void (*call)(void *ctx, const ast_ref *r), void *ctx);
/* Is the name, alone or before a dot, a variable of the law in n's block (e f q p) or one of its ports? n NULL: no. */
bool ast_own_name(const ast_node *n, const char *name);
/* Has the model ports? Then it is a component. Its signals may be read from outside through a path; its parameters and
 * inputs may not. */
bool ast_is_component(const ast_model *m);

/* Formats a file without syntax errors (ok): idempotent, keeps every comment and the tree. */
void format_file(const sources *s, const ast_file *f, strbuf *out);

/* Calls see(ctx, e) for e and every expression in it (indexes too), in the order of the text. e may be NULL. */
void ast_visit(const ast_expr *e, void (*see)(void *ctx, const ast_expr *e), void *ctx);
/* The same for every expression of a model, also in loops and conditional parts. */
void ast_visit_model(const ast_model *m, void (*see)(void *ctx, const ast_expr *e), void *ctx);
/* The same for every expression of the file, except those of domains. */
void ast_visit_file(const ast_file *f, void (*see)(void *ctx, const ast_expr *e), void *ctx);

/* Prints the tree, for `bgc check --dump ast`. */
void ast_dump(const sources *s, const ast_file *f, FILE *out);

#endif
