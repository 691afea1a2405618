/* bg.y - parses tokens into the tree of ast.h
 *
 * Actions build nodes with their spans. They decide nothing about names or meaning.
 * Recovery: after a syntax error read_token (parse.c) skips the rest of the statement and returns RESUME. Only the
 * rules `error RESUME` accept that token.
 */
%code requires {
#include "parse.h"
}
%code provides {
int bg_yylex(BG_YYSTYPE *value, span *at, struct parse *p);
void bg_yyerror(const span *at, struct parse *p, const char *message);
}
%{
#include <string.h>

#include "parse.h"
/* The limit on brackets does not bound chains of unary operators, powers and else-ifs; the depth of the stack does. */
#define YYMAXDEPTH 10000
#define YYLLOC_DEFAULT(at, rhs, n)                                                       \
    ((at) = (n) ? span_join(YYRHSLOC(rhs, 1), YYRHSLOC(rhs, n))                          \
                : (span){ YYRHSLOC(rhs, 0).file, YYRHSLOC(rhs, 0).end, YYRHSLOC(rhs, 0).end })
%}

%define api.pure full
%define api.prefix {bg_yy}
%define api.location.type {span}
%define parse.error custom
%define parse.lac full
%locations
%expect 0
%param { struct parse *p }
%initial-action { @$ = (span){ p->file, 0, 0 }; }

%union {
    const char *name;            /* names, words; texts without quotes */
    double number;
    ast_unit *unit;
    enum ast_value_kind value;
    struct tree_expr expr;
    struct tree_ref ref;
    struct tree_part part;
    struct tree_index index;
    struct list *list;
    struct tree_node *node;
    struct { ast_stmt *s; int height; } stmt;
    ast_law_item *law;
    ast_exp_item *item;
    ast_model *model;
    ast_domain *domain;
}

%token END_OF_TEXT "the end of the text"
%token RESUME "the next statement"
%token <name> NAME "a name" STRING "a text in quotes"
%token <number> NUMBER "a number"
%token <unit> UNIT_TEXT "a unit"
%token <name> VALUE_WORD "`time`" CALL_WORD "`der`"
%token MODEL "model" FUNCTION "function" EXPERIMENT "experiment" DOMAIN "domain" IMPORT "import"
%token PARAMETER "parameter" CONSTANT "constant" SIGNAL "signal" INPUT "input" OUTPUT "output"
%token PORT "port" FOR "for" IN "in" IF "if" THEN "then" ELSE "else" WHEN "when" REINIT "reinit" WITHOUT "without"
%token AS "as" SUCH "such" THAT "that" OF "of" LET "let" FROM "from" OBSERVE "observe" WITHIN "within"
%token EXPECT "expect" KEEP "keep" AND "and" OR "or" NOT "not"
%token <name> RECORD "record" WINDOW "window" START "start"
%token EVERY "every" ASSERT "assert"
%token ARROW "->" DOTS ".." LE "<=" GE ">=" EQ "==" NE "!="
%token INDEX "index [" INDEX_END "] of an index" MATRIX "matrix [" MATRIX_END "]"

%precedence ELSE
%left OR
%left AND
%precedence NOT
%nonassoc '<' LE '>' GE EQ NE
%left '+' '-'
%left '*' '/'
%precedence UMINUS
%right '^'

%type <name> type text in_opt
%type <unit> unit
%type <value> value_kind
%type <expr> expr value_opt
%type <ref> ref
%type <part> part
%type <index> index
%type <list> indexes args arg_list exprs row rows refs
%type <list> chain chain_open chain_closed
%type <list> law_items law_ports law_names law_block
%type <node> node_open node_closed declared listed port
%type <list> ports junctions stmts block size_opt formals formal_list sets items named_args named_list
%type <list> size_params dotted
%type <stmt> stmt
%type <stmt> if_stmt
%type <law> law_item
%type <item> item expected
%type <domain> domain_items
%type <number> zero

%%

file: decls END_OF_TEXT ;

decls: %empty
    | decls decl
    | decls error RESUME { yyerrok; }
    | decls ';' { empty_statement(p, @2); }
    ;

decl: MODEL NAME size_params text '{' stmts '}' {
        ast_model *m = arena_alloc(p->a, sizeof *m);

        *m = (ast_model){ .at = @$, .name_at = @NAME, .name = $NAME, .text = $text,
                          .size = LIST_TAKE(p, $size_params, ast_size_param), .nsize = $size_params->n,
                          .stmt = LIST_TAKE(p, $stmts, ast_stmt *), .nstmt = $stmts->n };
        file_add(p, (ast_decl){ .kind = AST_DECL_MODEL, .model = m });
    }
    | FUNCTION NAME '(' formals ')' unit '=' expr ';' {
        ast_function *f = arena_alloc(p->a, sizeof *f);

        *f = (ast_function){ .at = @$, .name_at = @NAME, .name = $NAME,
                             .arg = LIST_TAKE(p, $formals, struct ast_formal), .nargs = $formals->n, .unit = $unit,
                             .body = $expr.e };
        file_add(p, (ast_decl){ .kind = AST_DECL_FUNCTION, .function = f });
    }
    | EXPERIMENT NAME[name] OF NAME[model] '{' items '}' {
        ast_experiment *e = experiment_new(p, @$, $name, @name, $items);

        e->model = $model;
        e->model_at = @model;
    }
    | EXPERIMENT NAME FROM NAME[base] '{' items '}' {
        ast_experiment *e = experiment_new(p, @$, $2, @2, $items);

        e->base = $base;
        e->base_at = @base;
    }
    | EXPERIMENT NAME '{' items '}' { experiment_new(p, @$, $NAME, @NAME, $items); }
    | DOMAIN NAME '{' domain_items '}' {
        ast_domain *d = $domain_items;

        d->at = @$;
        d->name_at = @NAME;
        d->name = $NAME;
        domain_complete(p, d);
        file_add(p, (ast_decl){ .kind = AST_DECL_DOMAIN, .domain = d });
    }
    | IMPORT dotted ';' {
        ast_import *i = arena_alloc(p->a, sizeof *i);
        strbuf path = { 0 };

        for (int k = 0; k < $dotted->n; k++) {
            strbuf_puts(&path, k ? "." : "");
            strbuf_puts(&path, ((const char **)$dotted->at)[k]);
        }
        *i = (ast_import){ .at = @$, .path = names_intern(p->n, path.at, path.n), .path_at = @dotted };
        strbuf_free(&path);
        list_drop(p, $dotted);
        file_add(p, (ast_decl){ .kind = AST_DECL_IMPORT, .import = i });
    }
    | IMPORT STRING ';' {
        ast_import *i = arena_alloc(p->a, sizeof *i);

        vec_push(&p->named, $STRING);
        *i = (ast_import){ .at = @$, .is_file = true, .path = $STRING, .path_at = @STRING };
        file_add(p, (ast_decl){ .kind = AST_DECL_IMPORT, .import = i });
    }
    | CONSTANT NAME size_opt unit '=' expr text ';' {
        ast_stmt *s = stmt_new(p, AST_STMT_VALUE, @$);

        s->value.kind = AST_CONSTANT;
        s->value.name = $NAME;
        s->value.name_at = @NAME;
        value_size(p, s, $size_opt);
        s->value.unit = $unit;
        s->value.value = $expr.e;
        s->value.text = $text;
        file_add(p, (ast_decl){ .kind = AST_DECL_CONSTANT, .constant = s });
    }
    ;

dotted: NAME { $$ = list_new(p); LIST_ADD($$, $1, 0); }
    | dotted '.' NAME { $$ = $1; LIST_ADD($$, $3, 0); }
    ;

text: %empty { $$ = NULL; }
    | STRING
    ;

unit: %empty { $$ = NULL; }
    | UNIT_TEXT
    ;

/* ---------------------------------------------------------------- functions, sizes, domains */

formals: %empty { $$ = list_new(p); }
    | formal_list
    ;
formal_list: NAME unit {
        struct ast_formal f = { @$, $1, $2 };

        $$ = list_new(p);
        LIST_ADD($$, f, 0);
    }
    | formal_list ',' NAME unit {
        struct ast_formal f = { span_join(@3, @4), $3, $4 };

        $$ = $1;
        LIST_ADD($$, f, 0);
    }
    ;

size_params: %empty { $$ = list_new(p); }
    | '(' named_list ')' {
        $$ = list_new(p);
        for (int k = 0; k < $2->n; k++) {
            const ast_arg *a = (const ast_arg *)$2->at + k;
            ast_size_param s = { a->at, a->name, a->value };

            LIST_ADD($$, s, 0);
        }
        list_drop(p, $2);
    }
    ;

named_list: NAME '=' expr {
        ast_arg a = { @$, @1, $1, $3.e };

        $$ = list_new(p);
        LIST_ADD($$, a, 0);
    }
    | named_list ',' NAME '=' expr {
        ast_arg a = { span_join(@3, @5), @3, $3, $5.e };

        $$ = $1;
        LIST_ADD($$, a, 0);
    }
    ;

domain_items: %empty { $$ = arena_alloc(p->a, sizeof(ast_domain)); }
    | domain_items NAME[what] NAME[name] unit ';' { $$ = $1; domain_quantity(p, $$, $what, @what, $name, $unit); }
    | domain_items NAME[what] '=' expr ';' { $$ = $1; domain_power(p, $$, $what, @what, $expr); }
    | domain_items error RESUME { $$ = $1; yyerrok; }
    ;

/* ---------------------------------------------------------------- statements of a model */

stmts: %empty { $$ = list_new(p); }
    | stmts stmt { $$ = $1; LIST_ADD($$, $2.s, $2.height); }
    | stmts junctions ';' { $$ = $1; junctions_add(p, $$, $2, @3); }
    | stmts error RESUME { $$ = $1; yyerrok; }
    | stmts ';' { $$ = $1; empty_statement(p, @2); }
    ;

block: '{' stmts '}' { $$ = $2; } ;

/* `1:a, 1:b;` stands for one statement for each junction. */
junctions: declared[a] ',' listed[b] {
        $$ = list_new(p);
        junction_listed(p, $$, $a, @2);
        junction_listed(p, $$, $b, @3);
    }
    | junctions ',' listed { $$ = $1; junction_separated($$, @2); junction_listed(p, $$, $listed, @3); }
    ;
listed: declared
    | declared '=' expr { $$ = $1; $$->own.linear = $3.e; $$->at = @$; }
    ;

stmt: chain_open ';' {
        $$.s = chain_new(p, @$, $1, false);
        $$.height = 0;
    }
    | chain_open AS NAME ';' {
        chain_name(p, $1, $3, @3, @2);
        $$.s = chain_new(p, @$, $1, true);
        $$.height = 0;
    }
    | chain_closed {
        $$.s = chain_new(p, @$, $1, false);
        $$.height = 0;
    }
    | chain_closed AS NAME ';' {
        chain_name(p, $1, $3, @3, @2);
        $$.s = chain_new(p, @$, $1, true);
        $$.height = 0;
    }
    | value_kind NAME size_opt unit value_opt text ';' {
        $$.s = stmt_new(p, AST_STMT_VALUE, @$);
        $$.height = 0;
        $$.s->value.kind = $1;
        $$.s->value.name = $2;
        $$.s->value.name_at = @2;
        value_size(p, $$.s, $3);
        $$.s->value.unit = $4;
        $$.s->value.value = $5.e;
        $$.s->value.text = $6;
        value_needed(p, $$.s);
    }
    | PORT ports ';' {
        $$.s = stmt_new(p, AST_STMT_PORT, @$);
        $$.height = 0;
        $$.s->port.junction = LIST_TAKE(p, $2, ast_node);
        $$.s->port.n = $2->n;
    }
    | FOR NAME IN expr[from] DOTS expr[to] block {
        $$.s = stmt_new(p, AST_STMT_FOR, @$);
        $$.height = $block->height + 1;
        $$.s->loop.var = $2;
        $$.s->loop.var_at = @2;
        $$.s->loop.from = $from.e;
        $$.s->loop.to = $to.e;
        $$.s->loop.body = LIST_TAKE(p, $block, ast_stmt *);
        $$.s->loop.n = $block->n;
    }
    | if_stmt
    | WITHOUT refs ';' {
        $$.s = stmt_new(p, AST_STMT_WITHOUT, @$);
        $$.height = 0;
        $$.s->without.ref = LIST_TAKE(p, $2, ast_ref);
        $$.s->without.n = $2->n;
    }
    | ref zero '=' expr ';' {
        $$.s = stmt_new(p, AST_STMT_INITIAL, @$);
        $$.height = 0;
        $$.s->initial.ref = $1.ref;
        $$.s->initial.value = $4.e;
    }
    | WHEN expr '{' sets '}' {
        $$.s = stmt_new(p, AST_STMT_WHEN, @$);
        $$.height = 0;
        $$.s->when.cond = $2.e;
        $$.s->when.reinit = LIST_TAKE(p, $4, struct ast_reinit);
        $$.s->when.n = $4->n;
    }
    | EVERY expr[period] '{' sets '}' {
        $$.s = stmt_new(p, AST_STMT_WHEN, @$);
        $$.height = 0;
        $$.s->when.head = span_join(@1, @period);
        $$.s->when.period = $period.e;
        $$.s->when.reinit = LIST_TAKE(p, $sets, struct ast_reinit);
        $$.s->when.n = $sets->n;
    }
    | EVERY expr[period] NAME expr[offset] '{' sets '}' {
        $$.s = stmt_new(p, AST_STMT_WHEN, @$);
        $$.height = 0;
        every_offset(p, $NAME, @NAME);
        $$.s->when.head = span_join(@1, @offset);
        $$.s->when.period = $period.e;
        $$.s->when.offset = $offset.e;
        $$.s->when.reinit = LIST_TAKE(p, $sets, struct ast_reinit);
        $$.s->when.n = $sets->n;
    }
    | ASSERT expr text ';' {
        $$.s = stmt_new(p, AST_STMT_WHEN, @$);
        $$.height = 0;
        $$.s->when.assertion = true;
        $$.s->when.cond = $expr.e;
        $$.s->when.text = $text;
    }
    ;

if_stmt: IF expr block {
        $$.s = stmt_new(p, AST_STMT_IF, @$);
        $$.height = $3->height + 1;
        $$.s->cond.cond = $2.e;
        $$.s->cond.then = LIST_TAKE(p, $3, ast_stmt *);
        $$.s->cond.nthen = $3->n;
    }
    | IF expr block[yes] ELSE block[no] {
        $$.s = stmt_new(p, AST_STMT_IF, @$);
        $$.height = ($yes->height > $no->height ? $yes->height : $no->height) + 1;
        $$.s->cond.cond = $2.e;
        $$.s->cond.then = LIST_TAKE(p, $yes, ast_stmt *);
        $$.s->cond.nthen = $yes->n;
        $$.s->cond.other = LIST_TAKE(p, $no, ast_stmt *);
        $$.s->cond.nother = $no->n;
    }
    | IF expr block ELSE if_stmt[no] {
        $$.s = stmt_new(p, AST_STMT_IF, @$);
        $$.height = ($3->height > $no.height ? $3->height : $no.height) + 1;
        $$.s->cond.cond = $2.e;
        $$.s->cond.then = LIST_TAKE(p, $3, ast_stmt *);
        $$.s->cond.nthen = $3->n;
        if ($$.height > AST_MAX_NESTING) {
            parse_error(p, "syntax-nesting", @1, "statements nest deeper than %d levels", AST_MAX_NESTING);
            $$.height = 1;
        } else {
            $$.s->cond.other = arena_new_array(p->a, ast_stmt *, 1);
            $$.s->cond.other[0] = $no.s;
            $$.s->cond.nother = 1;
        }
    }
    ;

value_kind: PARAMETER { $$ = AST_PARAMETER; }
    | CONSTANT { $$ = AST_CONSTANT; }
    | SIGNAL { $$ = AST_SIGNAL; }
    | INPUT { $$ = AST_INPUT; }
    | OUTPUT { $$ = AST_OUTPUT; }
    ;
value_opt: %empty { $$ = (struct tree_expr){ NULL, 0 }; }
    | '=' expr { $$ = $2; }
    ;
size_opt: %empty { $$ = list_new(p); }
    | INDEX indexes INDEX_END { $$ = $2; }
    ;

/* Assignments of `when` and `every`. The optional word `reinit` tells the reader that a stored quantity jumps. */
sets: %empty { $$ = list_new(p); }
    | sets ref '=' expr ';' {
        struct ast_reinit r = { span_join(@2, @5), $2.ref, $4.e };

        $$ = $1;
        LIST_ADD($$, r, 0);
    }
    | sets REINIT ref '=' expr ';' {
        struct ast_reinit r = { span_join(@2, @6), $3.ref, $5.e };

        $$ = $1;
        LIST_ADD($$, r, 0);
    }
    | sets error RESUME { $$ = $1; yyerrok; }
    ;

ports: port { $$ = list_new(p); chain_add(p, $$, $1, SPAN_NONE); }
    | ports ',' port { $$ = $1; chain_add(p, $$, $3, SPAN_NONE); }
    ;
port: type ':' part in_opt {
        $$ = node_declaration(p, @$, $1, $3);
        $$->more.domain = $4;
        $$->more.domain_at = @4;
    }
    ;
in_opt: %empty { $$ = NULL; }
    | IN NAME { $$ = $2; @$ = @2; }
    ;

/* ---------------------------------------------------------------- chains of bonds */

/* A node with a block (closed) ends the statement without `;`, unless an arrow or `as NAME` follows. */
chain: chain_open
    | chain_closed
    ;
chain_open: node_open { $$ = list_new(p); chain_add(p, $$, $1, SPAN_NONE); }
    | chain ARROW node_open { $$ = $1; chain_add(p, $$, $3, @2); }
    ;
chain_closed: node_closed { $$ = list_new(p); chain_add(p, $$, $1, SPAN_NONE); }
    | chain ARROW node_closed { $$ = $1; chain_add(p, $$, $3, @2); }
    ;

node_open: ref { $$ = node_reference(p, $1); }
    | declared
    | declared '=' expr { $$ = $1; $$->own.linear = $3.e; $$->at = @$; }
    | declared SUCH THAT expr { $$ = $1; $$->more.such_that = $4.e; $$->at = @$; }
    | declared WITHOUT refs {
        $$ = $1;
        $$->more.without = LIST_TAKE(p, $3, ast_ref);
        $$->more.nwithout = $3->n;
        $$->at = @$;
    }
    ;
node_closed: declared law_block { $$ = $1; node_block(p, $$, @2, $2); $$->at = @$; }
    | declared '=' expr law_block { $$ = $1; $$->own.linear = $3.e; node_block(p, $$, @4, $4); $$->at = @$; }
    | declared SUCH THAT expr law_block { $$ = $1; $$->more.such_that = $4.e; node_block(p, $$, @5, $5); $$->at = @$; }
    ;

declared: type ':' part named_args in_opt {
        $$ = node_declaration(p, @$, $1, $3);
        if ($4) {
            $$->more.arg = LIST_TAKE(p, $4, ast_arg);
            $$->more.nargs = $4->n;
            $$->more.args_at = @4;
        }
        $$->more.domain = $5;
        $$->more.domain_at = @5;
    }
    ;
type: NAME
    | NUMBER { $$ = junction_type(p, @1); }
    ;
named_args: %empty { $$ = NULL; }
    | '(' ')' { $$ = list_new(p); }
    | '(' named_list ')' { $$ = $2; }
    ;

law_block: '{' law_items '}' { $$ = $2; } ;
law_items: %empty { $$ = list_new(p); }
    | law_items law_item { $$ = $1; LIST_ADD($$, *$2, 0); }
    | law_items error RESUME { $$ = $1; yyerrok; }
    | law_items ';' { $$ = $1; empty_statement(p, @2); }
    ;
law_item: ref '=' expr ';' { $$ = law_equation(p, @$, AST_LAW_EQUATION, &$1.ref, $3.e); }
    | ref zero '=' expr ';' { $$ = law_equation(p, @$, AST_LAW_INITIAL, &$1.ref, $4.e); }
    | PORT law_ports ';' {
        $$ = &p->law;
        *$$ = (ast_law_item){ .kind = AST_LAW_PORT, .at = @$, .port = LIST_TAKE(p, $2, ast_law_port), .nports = $2->n };
    }
    ;
zero: '(' NUMBER ')' { $$ = $2; initial_zero(p, @2, $2); } ;

law_ports: law_names
    | law_names[left] ARROW law_names[right] {
        $$ = $left;
        for (int k = 0; k < $left->n; k++)
            ((ast_law_port *)$left->at)[k].arrow = 1;
        for (int k = 0; k < $right->n; k++) {
            ast_law_port *port = (ast_law_port *)$right->at + k;

            port->arrow = 2;
            LIST_ADD($$, *port, 0);
        }
        list_drop(p, $right);
    }
    ;
law_names: NAME size_opt {
        ast_law_port port = { @$, $1, size_single(p, $2), 0 };

        $$ = list_new(p);
        LIST_ADD($$, port, 0);
    }
    | law_names ',' NAME size_opt {
        ast_law_port port = { span_join(@3, @4), $3, size_single(p, $4), 0 };

        $$ = $1;
        LIST_ADD($$, port, 0);
    }
    ;

/* ---------------------------------------------------------------- experiments */

items: %empty { $$ = list_new(p); }
    | items item { $$ = $1; LIST_ADD($$, *$2, 0); }
    | items error RESUME { $$ = $1; yyerrok; }
    | items ';' { $$ = $1; empty_statement(p, @2); }
    ;
item: NAME '=' expr ';' { $$ = item_set(p, @$, $1, @1, $3); }
    | START '=' expr ';' { $$ = item_set(p, @$, $1, @1, $3); }
    | START FROM NAME ';' {
        $$ = arena_alloc(p->a, sizeof *$$);
        *$$ = (ast_exp_item){ .kind = AST_EXP_EQUILIBRIUM, .at = @$ };
        if (strcmp($3, "equilibrium") != 0)
            parse_error(p, "syntax", @3, "an experiment starts from `equilibrium`, not from `%.40s`", $3);
    }
    | NAME WHEN expr ';' {
        $$ = arena_alloc(p->a, sizeof *$$);
        *$$ = (ast_exp_item){ .kind = AST_EXP_STOP_WHEN, .at = @$, .a = $3.e };
        if (strcmp($1, "stop") != 0)
            parse_error(p, "syntax", @1,
                        "only `stop` takes a condition in an experiment, `stop when ...`; `%.40s when` does not exist", $1);
    }
    | LET ref '=' expr ';' {
        $$ = arena_alloc(p->a, sizeof *$$);
        *$$ = (ast_exp_item){ .kind = AST_EXP_LET, .at = @$, .ref = $2.ref, .a = $4.e };
    }
    | LET ref zero '=' expr ';' {
        $$ = arena_alloc(p->a, sizeof *$$);
        *$$ = (ast_exp_item){ .kind = AST_EXP_LET, .at = @$, .ref = $2.ref, .initial = true, .a = $5.e };
    }
    | WINDOW expr DOTS expr ';' {
        $$ = arena_alloc(p->a, sizeof *$$);
        *$$ = (ast_exp_item){ .kind = AST_EXP_WINDOW, .at = @$, .a = $2.e, .b = $4.e };
    }
    | OBSERVE ref ';' {
        $$ = arena_alloc(p->a, sizeof *$$);
        *$$ = (ast_exp_item){ .kind = AST_EXP_OBSERVE, .at = @$, .ref = $2.ref };
    }
    | OBSERVE ref WITHIN expr ';' {
        $$ = arena_alloc(p->a, sizeof *$$);
        *$$ = (ast_exp_item){ .kind = AST_EXP_OBSERVE, .at = @$, .ref = $2.ref, .b = $4.e };
    }
    | KEEP refs ';' {
        $$ = arena_alloc(p->a, sizeof *$$);
        *$$ = (ast_exp_item){ .kind = AST_EXP_KEEP, .at = @$, .refs = LIST_TAKE(p, $2, ast_ref), .nrefs = $2->n };
    }
    | RECORD exprs ';' {
        $$ = arena_alloc(p->a, sizeof *$$);
        *$$ = (ast_exp_item){ .kind = AST_EXP_RECORD, .at = @$, .exprs = LIST_TAKE(p, $2, ast_expr *),
                              .nexprs = $2->n };
    }
    | EXPECT expected WITHIN expr ';' {
        $$ = $2;
        $$->at = @$;
        $$->b = $4.e;
    }
    ;
expected: expr '=' expr { $$ = item_expect(p, AST_EXPECT_VALUE, $1.e, NULL, $3.e); }
    | expr NAME expr '=' expr {
        $$ = item_expect(p, AST_EXPECT_VALUE, $1.e, $3.e, $5.e);
        if (strcmp($2, "at") != 0)
            parse_error(p, "syntax", @2, "a time is given with `at`, not with `%.40s`", $2);
    }
    | expr FROM STRING { $$ = item_expect_path(p, AST_EXPECT_FILE, $1.e, $3, @3); }
    | expr OF STRING { $$ = item_expect_path(p, AST_EXPECT_MODEL, $1.e, $3, @3); }
    | expr OF ref '=' expr { $$ = item_expect_activity(p, $1.e, $3.ref, $5.e); }
    ;

/* ---------------------------------------------------------------- references and expressions */

refs: ref { $$ = list_new(p); LIST_ADD($$, $1.ref, $1.height); }
    | refs ',' ref { $$ = $1; LIST_ADD($$, $3.ref, $3.height); }
    ;
ref: part { $$ = tree_ref(p, $1); }
    | ref '.' part { $$ = tree_ref_add(p, $1, $3); }
    ;
part: name { $$ = tree_part(p, @$, $1); }
    | part_index
    ;
/* At the beginning of a statement the scanner cannot tell a word of experiments from a name; in a model it is a name. */
name: NAME
    | START
    | WINDOW
    | RECORD
    ;
%type <name> name;
%type <part> part_index;
part_index: name INDEX indexes INDEX_END { $$ = tree_part_index(p, @$, tree_part(p, @1, $1), $3, span_join(@2, @4)); }
    | part_index INDEX indexes INDEX_END { $$ = tree_part_index(p, @$, $1, $3, span_join(@2, @4)); }
    ;
indexes: index { $$ = list_new(p); LIST_ADD($$, $1.index, $1.height); }
    | indexes ',' index { $$ = $1; LIST_ADD($$, $3.index, $3.height); }
    ;
index: expr { $$.index = (ast_index){ $1.e, NULL }; $$.height = $1.height; }
    | expr[from] DOTS expr[to] {
        $$.index = (ast_index){ $from.e, $to.e };
        $$.height = $from.height > $to.height ? $from.height : $to.height;
    }
    ;

args: %empty { $$ = list_new(p); }
    | arg_list
    ;
arg_list: exprs ;
exprs: expr { $$ = list_new(p); LIST_ADD($$, $1.e, $1.height); }
    | exprs ',' expr { $$ = $1; LIST_ADD($$, $3.e, $3.height); }
    ;

row: exprs ;
rows: row { $$ = list_new(p); LIST_ADD($$, $1, $1->height); }
    | rows ';' row { $$ = $1; LIST_ADD($$, $3, $3->height); }
    ;

expr: NUMBER unit { $$ = tree_number(p, @$, $1, $2); }
    | STRING { $$ = tree_string(p, @$, $1); }
    | ref { $$ = tree_read(p, @$, $1); }
    | VALUE_WORD { $$ = tree_word(p, @$, $1); }
    | NAME '(' args ')' { $$ = tree_call(p, @$, $1, $3); }
    | CALL_WORD '(' args ')' { $$ = tree_call(p, @$, $1, $3); }
    | MATRIX rows MATRIX_END unit { $$ = tree_matrix(p, @$, $2, $4); }
    | '(' expr ')' { $$ = $2; }
    | '-' expr %prec UMINUS { $$ = tree_unary(p, @$, AST_NEG, $2); }
    | NOT expr { $$ = tree_unary(p, @$, AST_NOT, $2); }
    | expr '+' expr { $$ = tree_binary(p, @$, AST_ADD, $1, $3); }
    | expr '-' expr { $$ = tree_binary(p, @$, AST_SUB, $1, $3); }
    | expr '*' expr { $$ = tree_binary(p, @$, AST_MUL, $1, $3); }
    | expr '/' expr { $$ = tree_binary(p, @$, AST_DIV, $1, $3); }
    | expr '^' expr { $$ = tree_binary(p, @$, AST_POW, $1, $3); }
    | expr '<' expr { $$ = tree_binary(p, @$, AST_LT, $1, $3); }
    | expr LE expr { $$ = tree_binary(p, @$, AST_LE, $1, $3); }
    | expr '>' expr { $$ = tree_binary(p, @$, AST_GT, $1, $3); }
    | expr GE expr { $$ = tree_binary(p, @$, AST_GE, $1, $3); }
    | expr EQ expr { $$ = tree_binary(p, @$, AST_EQ, $1, $3); }
    | expr NE expr { $$ = tree_binary(p, @$, AST_NE, $1, $3); }
    | expr AND expr { $$ = tree_binary(p, @$, AST_AND, $1, $3); }
    | expr OR expr { $$ = tree_binary(p, @$, AST_OR, $1, $3); }
    | IF expr[c] THEN expr[a] ELSE expr[b] { $$ = tree_if(p, @$, $c, $a, $b); }
    ;

%%

/* Tells syntax_error which tokens would have been accepted at the error. */
static int
yyreport_syntax_error(const yypcontext_t *context, struct parse *p)
{
    yysymbol_kind_t symbol[YYNTOKENS];
    struct expected e = { 0 };
    bool allowed[YYNTOKENS] = { 0 };
    int n = yypcontext_expected_tokens(context, symbol, YYNTOKENS);

    if (n < 0)
        return n;
    for (int i = 0; i < n; i++)
        allowed[symbol[i]] = true;
    for (int code = 0; code <= YYMAXUTOK && code < EXPECTED_CODES; code++) {
        yysymbol_kind_t k = YYTRANSLATE(code);

        if (k != YYSYMBOL_YYUNDEF && k != YYSYMBOL_YYerror && allowed[k])
            e.name[code] = yysymbol_name(k);
    }
    syntax_error(p, &e);
    return 0;
}
