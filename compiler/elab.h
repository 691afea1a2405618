/* elab.h - inside elaboration: what its files share
 *
 * elaborate.c   the order of all of it
 * scopes.c      finding names; texts for messages
 * declare.c     names of the file and the model
 * structure.c   bonds and ports
 * values.c      values in the order of what they read
 * resolve.c     an expression of the text to a template over variables
 * references.c  what a name in it reads
 * calls.c       functions in it
 * check_units.c whether units in it fit together
 * check_bonds.c the units of bonds, from those of linear laws
 * laws.c        laws and initial values
 * table.c       tables from CSV files
 * experiment.c  the experiment's items and what is set from outside
 *
 * Names are found in one hash map each for values and parts, keyed by (scope, interned name). A scope is a text that has names of its own:
 * the file, and within it the model being elaborated.
 */
#ifndef BG_ELAB_H
#define BG_ELAB_H

#include "elaborate.h"

enum { NONE = UINT32_MAX };

/* ---------------------------------------------------------------- units of expressions */

/* What an expression fits. A bare number is SI and fits any unit; so does what it multiplies, and what nothing is known of. */
enum fit { FIT_ZERO, FIT_BARE, FIT_ANY, FIT_UNIT };

typedef struct val {
    node n;
    enum fit fit;
    const unit *unit;               /* FIT_UNIT: its dimension */
    const unit *shown;              /* the unit a name in it was declared in, if that is not coherent with SI ([bar], [mm]); else NULL */
    const unit *likely;             /* of 1/k: its unit if the 1 is a pure number, which is what a compliance means */
    const unit *written;            /* the unit of the one name it is, for what SI cannot tell apart (Hz, rad/s) */
    bool condition;                 /* true or false rather than a number */
    bool bad;                       /* an error was reported; says nothing further */
} val;

/* ---------------------------------------------------------------- scopes and what is declared */

typedef struct scope {
    uint32_t id;
    struct scope *parent;           /* where names are looked for next */
    const ast_model *model;         /* NULL: the file */
} scope;

enum mark { MARK_NEW, MARK_OPEN, MARK_DONE };

typedef struct value {
    enum ast_value_kind kind;
    const char *name;
    span at;
    scope *in;
    const ast_stmt *stmt;
    const ast_expr *expr;           /* its own, or the experiment's */
    bool let;                       /* expr is the experiment's */
    bool set; double set_value;     /* from outside, SI */
    const unit *declared;           /* as written; NULL: none */
    var_id var;
    val fits;                       /* n unused */
    enum mark mark;
} value;

typedef struct user_function {
    const ast_function *ast;
    uint32_t nargs;
    const unit **arg_unit;          /* as written, NULL: any */
    const unit *result;
    size_t size;                    /* operations */
    node root;                      /* over arguments 0 .. nargs-1, then captured ones */
    VEC(var_id) captured;
    VEC(uint32_t) callee;
    val fits;
    enum mark mark;
    bool bad;                       /* an error was reported; calls say nothing further */
} user_function;

enum part_kind { PART_JUNCTION, PART_ELEMENT, PART_BOND };

typedef struct part {
    enum part_kind kind;
    const char *name;
    span at;
    uint32_t index;                 /* of the flat junction or element, or of the link */
    uint32_t nlinks, link[2];       /* elements: the first two bonds */
} part;

/* One bond as written. After bonds are made it knows what carries its power. */
typedef struct link {
    uint32_t from, to;              /* parts; NONE after an error */
    const char *name;
    span at;                        /* the arrow */
    uint32_t junction_from, junction_to;
    var_id e, f;
} link;

typedef struct initial_override {   /* let spring.q(0) = ..., let x(0) = ... */
    const ast_expr *expr; double set_value; bool set;
    span at;
    enum quantity q;
} initial_override;

typedef struct elab {
    sources *s;
    names *names;
    arena *a;
    unit_system *u;
    pool *pool;
    const ast_file *file;
    const elaborate_options *opt;
    flat_model *f;
    const ast_experiment *experiment;
    size_t errors_before;

    scope file_scope, model_scope;
    VEC(value) value;
    VEC(part) part;
    VEC(link) link;
    VEC(user_function) function;
    VEC(initial_override) override;
    map values, parts;              /* (scope, name) -> index */
    map functions, models, experiments;      /* name -> index; models and experiments into file->decl */
    map literals;                   /* AST number -> its variable */
    map rates;                      /* variable -> its VAR_RATE */
    map hidden_rates;               /* hash of an inst -> the hidden signal that der() made of it */
    map override_of;                /* part_key, value_key -> override */
    map shadow_said;
    map refused;                    /* (scope, name) of what could not be declared, so that its uses say nothing further */
    bool incomplete;                /* a construct was refused that may declare any name, or say what bonds carry */
    struct csv_store *csv_store;    /* table.c */
    uint64_t inlined;               /* operations copied from functions so far, weighted */
    bool inlined_too_much;          /* said so */
    int depth;                      /* of expressions being resolved */

    /* names that mean something by themselves */
    const char *n_e, *n_f, *n_q, *n_p, *n_power, *n_time, *n_pi, *n_der, *n_integral, *n_table;
    const unit *second, *one;
} elab;

static inline uint64_t scope_key(const scope *s, const char *name) { return (uint64_t)s->id << 56 ^ map_ptr_key(name); }

static inline uint64_t part_key(uint32_t i) { return UINT64_C(1) << 40 | i; }
static inline uint64_t value_key(uint32_t i) { return UINT64_C(2) << 40 | i; }

uint32_t find_value(const elab *el, const scope *in, const char *name);       /* here or further out; NONE */
uint32_t find_part(const elab *el, const scope *in, const char *name);
/* The value, part or other name nearest to a wrong one, or NULL; not looked for any more once errors are many. */
const char *nearest_value(const elab *el, const scope *in, const char *wrong);
const char *nearest_part(const elab *el, const scope *in, const char *wrong);
/* Whether a name is unknown only because its declaration was refused: said already. */
bool refused_before(const elab *el, const scope *in, const char *name);
bool errors_are_many(const elab *el);
/* The text of a span on one line, shortened; in the arena. */
const char *text_of(elab *el, span at);
const char *whole_text_of(elab *el, span at);
const unit *read_unit(elab *el, const ast_unit *text);                        /* NULL after an error or without text */
bool refuse_unbuilt_ref(elab *el, const ast_ref *ref);                        /* indexes: not built yet; true if refused */

void not_built(elab *el, span at, const char *what);                          /* what: "for loops are" */
void said_twice(elab *el, span at, const char *name, span before);
inst set_inst(elab *el, double x);                                            /* a constant */
static inline bool is_two_port(enum element_type t) { return t == EL_TF || t == EL_GY; }
static inline bool is_source(enum element_type t) { return t == EL_SE || t == EL_SF; }

/* ---------------------------------------------------------------- the stages of elaborate.c */

void declare_file(elab *el);
void declare_model(elab *el, scope *in, const ast_model *m);
void make_structure(elab *el, scope *in, const ast_model *m);
void make_values(elab *el, bool early);                                       /* those fixed before the run, or all that are left */
void make_law(elab *el, scope *in, uint32_t element);
void make_initial(elab *el, scope *in, uint32_t part_index);
void override_integrals(elab *el);                                            /* let x(0) of signals */
void check_junction(elab *el, const flat_junction *j);
/* A value fixed before the run. who: for messages; want: the unit of what it is given to, or NULL. *out stays as it is after an error. */
val initial_value(elab *el, scope *in, const ast_expr *e, const char *who, const unit *want, inst *out);

/* ---------------------------------------------------------------- expressions (resolve.c, references.c, calls.c) */

enum reads {
    READ_CONSTANTS,
    READ_PARAMETERS,                /* parameters and constants */
    READ_TIME,                      /* these and time */
    READ_ALL
};

/* One expression being made: its slots are distinct variables, in order of first mention. */
typedef struct builder {
    elab *el;
    scope *in;
    enum reads reads;
    const char *who;                /* "parameter \"k\"": for messages */
    bool structure;                 /* literals are constants of the template, not data */
    uint32_t own;                   /* element whose e f q p are plain names, or NONE */
    const ast_function *function;   /* arguments are the first slots */
    const map *formal;              /* their names -> slot */
    const val *formal_fits;
    VEC(var_id) slot;
    map slot_of;                    /* used above a few slots */
    map calls;                      /* hash of (function, arguments) -> call_memo index */
    VEC(struct call_memo { uint32_t function; node *arg; node result; }) call_memo;
} builder;

builder builder_new(elab *el, scope *in, enum reads reads, const char *who);
void builder_free(builder *b);
/* The expression as a template over b's slots. whole: it is given to something as it stands, so that degC has its offset. */
val resolve(builder *b, const ast_expr *e, bool whole);
val read_ref(builder *b, const ast_ref *r);
val resolve_call(builder *b, const ast_expr *e);
node builder_slot(builder *b, var_id v);
inst builder_inst(builder *b, node root);                                     /* slots that do not occur are left out */
/* A number of the text that stands alone: data of its own. */
val resolve_law(builder *b, const ast_expr *e);
/* Makes each function's template, callees first; reports recursion. */
void make_functions(elab *el);
/* `integral(...)` as a whole value: the rate and initial value of `into`. */
bool is_integral(const elab *el, const ast_expr *e);
val make_integral(builder *b, const ast_expr *e, var_id into);
/* Calls see(ctx, e) for e and every expression in it, in no set order, without recursion. */
void each_expr(const ast_expr *e, void (*see)(void *ctx, const ast_expr *e), void *ctx);
bool only_parameters(const flat_model *f, const var_id *slot, size_t n);

/* ---------------------------------------------------------------- units (check_units.c) */

val val_bad(elab *el);
val val_unit(node n, const unit *written);                                    /* of a name declared so; NULL: fits any */
/* a and b added, compared, ... ; verb is "added". Reports and returns what both fit. n is a's. */
val units_together(elab *el, const char *verb, val a, span a_at, val b, span b_at);
val units_multiply(elab *el, val a, val b);
val units_divide(elab *el, val a, val b);
val units_power(elab *el, val a, span a_at, val exponent, span exponent_at);
/* v is given to something declared in target (as written, NULL: nothing known). name: "parameter \"k\"" */
bool units_give(elab *el, val v, span at, const unit *target, const char *name);
bool units_pure(elab *el, val v, span at, const char *name);                  /* an argument of sin, exp, ... */
void need_number(elab *el, val *v, span at);
void need_condition(elab *el, val *v, span at);                              /* a pure number is one: not 0 */
void as_number(elab *el, val *v);                                             /* a condition becomes 1 or 0 */

/* ---------------------------------------------------------------- bonds (check_bonds.c) */

void make_bond_units(elab *el, scope *in);

/* ---------------------------------------------------------------- tables (table.c) */

/* The number in the pool of the table of a column, or NONE after an error. x and y units NULL where the head names none. */
uint32_t read_table(elab *el, const ast_expr *call, const char *file, const char *column, double number, span column_at,
                    const unit **x, const unit **y);
void tables_free(elab *el);

/* ---------------------------------------------------------------- experiment (experiment.c) */

void check_experiments(elab *el);                                             /* names, and models they name; all of the file */
bool choose_model(elab *el, const ast_model **model);                         /* and the experiment, if one is asked for */
void apply_experiment_lets(elab *el);                                         /* let and --set: before values are made */
void make_experiment(elab *el);                                               /* after outputs are made */

#endif
