/* parse.h - shared by scanner, grammar and error recovery of the parser; private to grammar/ */
#ifndef BG_PARSE_H
#define BG_PARSE_H

#include "ast.h"

/* ---------------------------------------------------------------- semantic values */

/* Values have the height of their tree if it can grow with the text. */
struct tree_expr {
    ast_expr *e;
    int height;
};
struct tree_ref {
    ast_ref ref;
    int height;
};
struct tree_part {
    ast_part *part;
    int height;
};
struct tree_index {
    ast_index index;
    int height;
};

/* A list under construction: entries of one size, contiguous. Its result is moved into the arena (list_take), and the
 * list is reused; lists lost in error recovery are freed with the parser. */
struct list {
    void *at;
    size_t room; /* bytes */
    int n, height;
    struct list *next; /* of the free list */
};

/* A node of a chain under construction. */
struct tree_node {
    ast_own own;
    ast_ref ref;
    ast_part one; /* storage for a plain reference */
    span at;
    ast_block block;
    ast_more more;
    struct tree_node *next; /* of the free list */
};

/* ---------------------------------------------------------------- scanner */

/* kind: '(' '{' 'i' (index) 'm' (matrix); indent: blanks before the first token of its line */
struct open_bracket {
    char kind;
    span at;
    uint32_t indent;
};

struct scan {
    sources *say; /* receives lexical errors; NULL: nobody */
    names *names; /* NULL: names and values are not needed */
    arena *a;
    uint32_t file;
    const char *text;
    size_t length;
    uint32_t pos;        /* end of what was scanned */
    uint32_t unit_begin; /* start of the unit being scanned */
    int before;          /* kind of the previous token, 0 at the beginning */
    uint32_t before_end;
    bool first;            /* no token yet on this line */
    uint32_t line, indent; /* start of the line; blanks before its first token */
    bool broken;           /* a lexical error was found */
    uint32_t error_at;     /* start of the last one */
    const char *said_code;
    uint32_t said_line; /* its kind, and its line */
    uint32_t quiet_to;  /* up to here one message covers everything */
    bool stop;          /* gave up: only the end token follows */
    size_t errors;
    VEC(struct open_bracket) open;
    size_t braces;               /* number of '{' among them */
    struct open_bracket dropped; /* innermost bracket still open at the last `}`; kind 0: none */
    /* In the current declaration, the first `{` whose `}`, the first token of its line, stands left of the line that
     * opens it: judging by the layout, that `}` was meant to close an outer block. opener.kind 0: none */
    struct {
        struct open_bracket opener;
        span closer;
    } misfit;
    VEC(span) comment;
    char *buffer; /* the text that flex reads, with zero bytes replaced by another invalid one */
};

/* The token of a reserved word; NAME for all others. */
int bg_word(const char *s, size_t n);

/* ---------------------------------------------------------------- parser */

struct seen_token {
    int kind;
    span at;
    bool first;
}; /* first: on its line */

enum { EXPECTED_CODES = 512 }; /* more than there are tokens */

struct parse {
    struct scan *scan;
    void *scanner; /* state of flex */
    sources *s;
    names *n;
    arena *a;
    uint32_t file;
    bool broken; /* some error was reported */
    size_t errors;
    struct list decls;
    VEC(const char *) named;        /* files: by imports, tables, expectations */
    struct seen_token last, before; /* the current token of the parser, and the previous one */
    struct pending *pending;        /* read but not yet passed on (parse.c) */
    bool recovering;                /* skips to the end of the statement */
    bool reuse;                     /* the current token already begins the next statement */
    /* end of the token at which recovery continued; an error there is still the old one */
    uint32_t resumed;
    bool end_given;
    bool fresh;         /* the next token begins a statement */
    uint32_t statement; /* start of the current statement */
    int declaration;    /* its word: MODEL, EXPERIMENT, ... */
    bool units;         /* a unit was read outside of experiments */
    uint32_t said_to;   /* up to here one message covers everything */
    /* in_experiment: the last declaration is one; item_begins: the next token is the first of a statement */
    bool in_experiment, item_begins;
    /* What stands between the word of a model or experiment and its `{`, as far as it was read: kind of its last token,
     * 0 outside; indent: that of its line. */
    struct {
        int last;
        span at;
        uint32_t indent;
    } head;
    span unclosed;                 /* the `{` of a block of laws with statements in it, as reported; else SPAN_NONE */
    bool section_said;             /* reported that a model has no sections */
    bool too_high;                 /* an expression was too high; reported once */
    ast_law_item law;              /* the last one read, before it goes into its list */
    bool reserved[EXPECTED_CODES]; /* words already reported as reserved */
    VEC(struct list *) lists;      /* all that were made */
    struct list *spare_list;
    struct tree_node *spare_node;
    VEC(ast_part *) spare_part; /* of references of which only the name was kept */
    const ast_own *plain[2];    /* shared by 0- and 1-junctions without properties */
    const ast_own *reference;   /* shared by references */
};

void parse_error(struct parse *p, const char *code, span at, const char *fmt, ...) BG_PRINTF(4, 5);

/* ---------------------------------------------------------------- messages (errors.c) */

/* For each token code that was possible at the error its name, else NULL. */
struct expected {
    const char *name[EXPECTED_CODES];
};
void syntax_error(struct parse *p, const struct expected *e);
void empty_statement(struct parse *p, span at);
bool guess(struct parse *p, const struct expected *e); /* statements of other languages (guesses.c) */
/* Can the token only begin a statement of a model or experiment, or a declaration of a file? */
bool begins_statement(int kind);
bool begins_declaration(int kind);

/* ---------------------------------------------------------------- tree building (tree.c); spans as the grammar has
 * them */

struct list *list_new(struct parse *p);
void list_add(struct list *l, const void *entry, size_t size, int height);
#define LIST_ADD(l, entry, height) list_add((l), &(entry), sizeof(entry), (height))
/* The contents of the list, in the arena; NULL if it is empty. n is valid until the next list is made. */
void *list_take(struct parse *p, struct list *l, size_t size);
#define LIST_TAKE(p, l, T) ((T *)list_take((p), (l), sizeof(T)))
void list_drop(struct parse *p, struct list *l); /* releases the list */
void lists_free(struct parse *p);

struct tree_expr tree_number(struct parse *p, span at, double value, ast_unit *unit);
struct tree_expr tree_string(struct parse *p, span at, const char *string);
struct tree_expr tree_word(struct parse *p, span at, const char *name);
struct tree_expr tree_read(struct parse *p, span at, struct tree_ref ref);
struct tree_expr tree_unary(struct parse *p, span at, enum ast_expr_kind kind, struct tree_expr a);
struct tree_expr tree_binary(struct parse *p, span at, enum ast_binary op, struct tree_expr a, struct tree_expr b);
struct tree_expr tree_if(struct parse *p, span at, struct tree_expr c, struct tree_expr a, struct tree_expr b);
struct tree_expr tree_call(struct parse *p, span at, const char *name, struct list *args);
struct tree_expr tree_matrix(struct parse *p, span at, struct list *rows, ast_unit *unit);

struct tree_part tree_part(struct parse *p, span at, const char *name);
struct tree_part tree_part_index(struct parse *p, span at, struct tree_part part, struct list *index, span index_at);
struct tree_ref tree_ref(struct parse *p, struct tree_part part);
struct tree_ref tree_ref_add(struct parse *p, struct tree_ref ref, struct tree_part part);

void chain_add(struct parse *p, struct list *chain, struct tree_node *node, span arrow);
/* named: the last node is the name of its bond */
ast_stmt *chain_new(struct parse *p, span at, struct list *chain, bool named);
/* checks the word between period and offset */
void chain_name(struct parse *p, struct list *chain, const char *name, span name_at, span as); /* as NAME, last */
struct tree_node *node_reference(struct parse *p, struct tree_ref ref);
struct tree_node *node_declaration(struct parse *p, span at, const char *type, struct tree_part part);
/* An equation or initial value of a law; valid until the next one. */
ast_law_item *law_equation(struct parse *p, span at, enum ast_law_item_kind kind, const ast_ref *left, ast_expr *right);
void node_block(struct parse *p, struct tree_node *node, span at, struct list *items);
ast_node node_finish(struct parse *p, struct tree_node *node);

ast_stmt *stmt_new(struct parse *p, enum ast_stmt_kind kind, span at);
void value_size(struct parse *p, ast_stmt *s, struct list *sizes);
void value_needed(struct parse *p, const ast_stmt *s);
/* 1:a, 1:b; - statements of the list; each ends with its separator */
void every_offset(struct parse *p, const char *word, span at);
/* of the last one */
void junction_listed(struct parse *p, struct list *l, struct tree_node *n, span separator);
/* their models and inherited items; call after everything is read */
void junction_separated(struct list *l, span separator);
void junctions_add(struct parse *p, struct list *stmts, struct list *junctions, span end);
ast_experiment *experiment_new(struct parse *p, span at, const char *name, span name_at, struct list *items);
void experiments_complete(struct parse *p); /* checks that need the text alone */
ast_exp_item *item_set(struct parse *p, span at, const char *name, span name_at, struct tree_expr value);
ast_exp_item *item_expect(struct parse *p, enum ast_expect_kind kind, ast_expr *subject, ast_expr *time,
                          ast_expr *value);
ast_exp_item *item_expect_path(struct parse *p, enum ast_expect_kind kind, ast_expr *subject, const char *path,
                               span path_at);
ast_exp_item *item_expect_activity(struct parse *p, const ast_expr *word, ast_ref element, ast_expr *value);
void file_add(struct parse *p, ast_decl decl);

/* checks that need nothing but the text */
const char *junction_type(struct parse *p, span at);        /* "0" or "1" */
void initial_zero(struct parse *p, span at, double value);  /* checks the 0 of q(0) */
ast_expr *size_single(struct parse *p, struct list *sizes); /* NULL: no size */
void domain_quantity(struct parse *p, ast_domain *d, const char *what, span what_at, const char *name, ast_unit *unit);
void domain_power(struct parse *p, ast_domain *d, const char *what, span what_at, struct tree_expr value);
void domain_complete(struct parse *p, const ast_domain *d);

#endif
