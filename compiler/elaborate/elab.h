/* elab.h - inside elaboration: what its files share
 *
 * elaborate.c   the order of all of it
 * imports.c     the files that a file imports
 * scopes.c      names and their families (arrays); texts for messages
 * known.c       numbers known while the model is built: sizes, loop variables, indexes
 * paths.c       where a path like front.spring[2].q leads
 * declare.c     names of the files and the model, values
 * declare_parts.c parts; loops, conditions and components written out
 * without.c     parts taken out
 * structure.c   bonds and ports
 * values.c      values in the order of what they read
 * resolve.c     an expression of the text to a template over variables
 * references.c  what a name in it reads
 * vectors.c     vectors and matrices in it
 * calls.c       functions in it
 * several.c     those of several numbers: sum, min, mod
 * habits.c      names of other languages, for messages
 * check_units.c whether units in it fit together
 * turning.c     what SI cannot tell apart: Hz and rad/s, temperatures and differences
 * domain.c      what bonds carry, and what their power is
 * quantities.c  efforts and flows by the names of their domain
 * check_bonds.c the units of bonds, from everything that reads them
 * laws.c        laws and initial values
 * fields.c      elements with ports of their own
 * field_laws.c  and their laws
 * reciprocity.c whether a storage field could create energy
 * table.c       tables from CSV files
 * plane.c       tables over two quantities
 * when.c        events
 * weights.c     operands made weighable
 * experiment.c  the experiment's items
 * overrides.c   initial values as statements; what `let` and --set set from outside
 *
 * A scope is a text that has names of its own: a file, a model, and each instance of a component within it. The body of
 * a loop is a scope that knows its variable and shares the names of what it stands in. A name stands for a family: one
 * thing, or the items of an array. What is made remembers the scope it was made in, which is also where it comes from:
 * scopes lead outward to the instance or loop that made them.
 */
#ifndef BG_ELAB_H
#define BG_ELAB_H

#include "elaborate.h"

/* ---------------------------------------------------------------- units of expressions */

/* What an expression fits. A bare number is SI and fits any unit alone and in sums, and so does what it multiplies as
 * long as that is made of variables of bonds and time (ANY: its base is the unit without the number); beside a unit
 * that is stated it is a pure factor. */
enum fit { FIT_ZERO, FIT_BARE, FIT_ANY, FIT_UNIT };

/* A vector (rank 1: rows entries) or matrix (rank 2), row by row. */
typedef struct matrix {
    uint8_t rank;
    uint32_t rows, cols;
    node *at;
} matrix;

/* Of a temperature: counted from absolute zero, a difference of two such, or their sum. */
enum zero { ZERO_NONE, ZERO_POINT, ZERO_DIFFERENCE, ZERO_SUM };

typedef struct val {
    node n;
    const matrix *m; /* not one number but these; else NULL */
    enum fit fit;
    const unit
        *unit;   /* FIT_UNIT: its dimension; FIT_ANY: of what a bare number multiplies, NULL where that is not known */
    bool stated; /* FIT_UNIT: by a number, parameter or constant that carries one; no pure number */
    bool factor; /* a bare number was taken for a pure factor */
    bool number; /* FIT_ANY: it is what a function of pure numbers gives, sin(2*time): alone it fits any unit, as a bare
                    number does, and beside one that is stated it is a pure factor */
    const unit
        *shown; /* the unit a name in it was declared in, if that is not coherent with SI ([bar], [mm]); else NULL */
    const unit *written; /* the unit of the one name it is, in which it may be shown */
    const unit *said;    /* the unit as the text has it, of a name or a number; NULL: of none, or of several */
    uint8_t zero;        /* of a temperature, enum zero */
    bool condition;      /* true or false rather than a number */
    bool bad;            /* an error was reported; says nothing further */
} val;

/* ---------------------------------------------------------------- scopes and what is declared */

enum {
    MOST_MADE = 8000000, /* junctions, elements, bonds, instances, entries of values and rounds of loops in one model: a
                            million elements with all that belongs to them */
    MOST_INDEX = 5000000,    /* of an array's item; rounds of one loop */
    MOST_ENTRIES = 1000000,  /* of a vector or matrix */
    MOST_WRITTEN = 20000000, /* entries that expressions of vectors are written out to, whole model */
    DEEPEST_COMPONENTS = 30  /* components within components */
};

/* A number known while the model is built, by name. Of a loop's variable each round has its own value. */
typedef struct known_value {
    const char *name;
    span at;
    double value;
} known_value;

typedef struct scope {
    struct scope *parent;   /* where values are looked for next */
    const ast_model *model; /* NULL: a file */
    const char *prefix;     /* of the full names in it: "front." */
    known_value *known;     /* sizes of the model, or the variable of the loop */
    struct scope *outer;    /* an instance's: the one it was made in */
    uint32_t id;            /* of its names; the body of a loop has that of what it stands in */
    uint32_t module;        /* the file it is in */
    uint32_t nknown;
    int32_t round;            /* of a loop: the value of its variable */
    uint32_t instance;        /* part of the instance; NONE */
    uint32_t nports, port[2]; /* ports declared, and the first two of them */
    uint32_t origin;          /* flat.origin of the instance or round; NONE: the model itself */
    uint8_t depth;            /* components around */
    bool loop;
} scope;

/* One file. */
typedef struct module {
    const ast_file *file;
    scope *scope;
    map functions, models; /* name -> index; models into file->decl */
    VEC(uint32_t) import;
    uint32_t from;
    span import_at; /* what imported it first */
} module;

/* What a name stands for: one thing (rank 0), an array made at once (block: consecutive), or items made one by one. */
typedef struct family {
    const char *name;
    uint32_t scope; /* id */
    uint32_t first; /* value or part; of an array the first made */
    uint32_t n;     /* items */
    uint32_t array; /* in elab.array; of one thing the first of these, which is empty */
    uint8_t rank;
    bool is_part, block;
} family;
/* The indexes of an array. Items made one by one: index run_from + k is first + k*run_by for k < run, as loops make
 * them; others are in elab.items. */
typedef struct family_array {
    int32_t low[2], high[2];
    int32_t run_from;
    uint32_t run, run_by;
    span at;
} family_array;

enum mark { MARK_NEW, MARK_OPEN, MARK_DONE };

/* A declared value. An array of a stated size is one value with a variable for each entry. */
typedef struct value {
    enum ast_value_kind kind;
    const char *name; /* full */
    span at;
    scope *in;
    const ast_stmt *stmt;
    const ast_expr *expr; /* its own, or what replaced it */
    scope *expr_in;       /* where that is read */
    bool let;             /* expr is the experiment's */
    bool given;           /* expr is the instance's */
    bool gone;            /* its component was taken out */
    bool clash;           /* what it is given does not fit its unit, which was said */
    bool unread;          /* nothing is known of its unit, since what says it was refused: what reads it says no more */
    const ast_stmt *shown; /* output NAME [unit]; that makes it one, or NULL */
    bool entries_set;      /* some entries are set by themselves: entry_key */
    bool set;
    double set_value;     /* from outside, SI */
    const unit *declared; /* as written; NULL: none */
    uint8_t rank;
    uint32_t size[2], count; /* entries, row by row; 1 for a single value */
    var_id var;              /* the first */
    val fits;                /* n unused */
    enum mark mark;
} value;

typedef struct user_function {
    const ast_function *ast;
    scope *in; /* its file */
    uint32_t nargs;
    const unit **arg_unit; /* as written, NULL: any */
    const unit *result;
    size_t size; /* operations */
    node root;   /* over arguments 0 .. nargs-1, then captured ones */
    VEC(var_id) captured;
    VEC(uint32_t) callee;
    val fits;
    enum mark mark;
    bool bad; /* an error was reported; calls say nothing further */
} user_function;

enum part_kind { PART_JUNCTION, PART_ELEMENT, PART_BOND, PART_INSTANCE };

/* Large models have millions of parts: what few have stands elsewhere. */
typedef struct part {
    const char *name; /* full: "front.spring[2]" */
    scope *in;        /* where it was declared */
    const ast_stmt *stmt;
    const ast_node *node; /* NULL: a bond */
    union {
        scope *inside;    /* instances: their own */
        uint32_t link[2]; /* others: the first two bonds */
    };
    uint32_t index;  /* of the flat junction or element, or of the link; NONE: none was made */
    uint32_t nlinks; /* not of instances */
    enum part_kind kind : 8;
    enum element_type element : 8;
    enum quantity rest : 4;
    unsigned junction : 1; /* type of a junction */
    bool modulated : 1;
    bool field : 1;   /* an element with ports of its own */
    bool port : 1;    /* a junction that bonds from outside may join */
    bool keep : 1;    /* the experiment's */
    bool thinned : 1; /* lost a bond to something taken out */
    bool gone : 1;    /* taken out */
    bool rests : 1;   /* of an element, its e or f was taken out: it is a source of zero */
} part;
static inline scope *
part_inside(const part *p)
{
    return p->kind == PART_INSTANCE ? p->inside : NULL;
}
/* Where it is declared: TYPE:name, or the name of a bond. */
static inline span
part_at(const part *p)
{
    return p->node ? span_join(ast_type_at(p->node), ast_node_ref_at(p->node)) : p->stmt->chain.bond->name_at;
}

/* A chain as written, in one place where it is made. */
typedef struct chain_made {
    const ast_stmt *stmt;
    scope *in;
    uint32_t bond;
} chain_made; /* bond: part of its name, or NONE */

/* `without` as written, in one place. */
typedef struct without_made {
    const ast_ref *ref;
    scope *in;
    scope *at;
} without_made; /* in: names; at: indexes */

/* One bond as written. After bonds are made it knows what carries its power. */
typedef struct link {
    uint32_t from, to; /* parts; NONE after an error */
    uint32_t junction_from, junction_to;
    var_id e, f;
    span at;       /* the arrow */
    uint32_t said; /* its name and the ports it names: in elab.said; the first of them is of bonds that say neither */
    bool gone;     /* an end was taken out */
} link;
typedef struct link_said {
    const char *name;
    scope *in;                           /* where the indexes of ports are read */
    const ast_part *from_name, *to_name; /* the port of a field, as written; NULL: none is */
    uint32_t from_port, to_port;         /* of a field: number in field_port; else NONE */
} link_said;

/* A port of a field, and all of them of one element: field_port[first .. first+n). */
typedef struct field_port {
    const char *name, *full; /* "gap", "plate.gap" */
    bool out;                /* right of the arrow: power goes out */
    bool momentum;           /* of C and I: stores a p */
    uint32_t count, number;  /* of an array of ports (0: one port), and which of them, from 1 */
    span at;
    uint32_t link, port; /* its bond; in the flat model (NONE: made of pairs). NONE: none */
    var_id e, f, stored;
} field_port;
typedef struct field_pair {
    uint32_t in, out;
} field_pair; /* of a transformer field */
/* broken: a port of it was refused, which was said; nothing further is made or said of the field */
typedef struct field {
    uint32_t element, first, n, pair0, npairs;
    bool made, by_energy, broken;
} field;

typedef struct initial_override { /* let spring.q(0) = ..., let x(0) = ..., and the same as a statement of a model */
    const ast_expr *expr;
    scope *in; /* where expr is read */
    bool of_model;
    double set_value;
    bool set;
    span at;
    enum quantity q;
} initial_override;

struct remembered {
    var_id of, memory;
}; /* a variable, and the state that keeps what it was at the last sample */
/* `output NAME [unit];` as written, in one place where it is made. */
typedef struct shown_made {
    const ast_stmt *stmt;
    scope *in;
} shown_made;

/* An effort or flow read by a name of its domain: what is checked once units are known. */
typedef struct named_quantity {
    uint32_t junction;
    bool effort;
    const char *name;
    span at;
} named_quantity;

typedef struct pending_when {
    scope *in;
    const ast_stmt *stmt;
} pending_when;

/* `spring.q(0) = ...;` as written, in one place where it is made. */
typedef struct initial_made {
    const ast_stmt *stmt;
    scope *in;
} initial_made;

enum { LAST_FAMILIES = 64 };

typedef struct elab {
    sources *s;
    names *names;
    arena *a;
    arena *own; /* of what goes with the elaboration: scopes */
    unit_system *u;
    pool *pool;
    const ast_file *file;
    const elaborate_options *opt;
    flat_model *f;
    const ast_experiment *experiment, *gives_sizes; /* NULL: none; the same but where the options say bare */
    const ast_expr **formula;                       /* of opt->set, once read */
    size_t errors_before;
    strbuf name_room;      /* where full names are put together */
    uint32_t *last_family; /* [LAST_FAMILIES] found, by hash: the rounds of a loop ask for the same ones */

    scope *file_scope, *model_scope;
    uint32_t nscopes;
    VEC(module) module; /* the file first */
    bool index_lent;    /* its models and the experiments are opt->index's */
    VEC(value) value;
    VEC(part) part;
    VEC(family) family;
    VEC(family_array) array;
    VEC(struct family_item {
        uint32_t family;
        int32_t at[2];
        uint32_t index;
    })
    item;
    VEC(chain_made) chain;
    VEC(without_made) without;
    VEC(shown_made) shown;
    VEC(initial_made) initial;
    VEC(uint32_t) element_part; /* by flat element */
    uint64_t made;              /* counted against MOST_MADE */
    bool made_too_much;         /* said so */
    uint64_t written;           /* entries of vectors, counted against MOST_WRITTEN */
    bool written_too_much;
    VEC(link) link;
    VEC(link_said) said;
    VEC(span) taken; /* what took parts out */
    map taken_by;    /* part_key, rest_key -> what took the part out, its e or f */
    VEC(user_function) function;
    VEC(initial_override) override;
    index_set families; /* by scope, name, value or part */
    map items;          /* (family, indexes) -> item; but for runs */
    map experiments;    /* name -> index into file->decl */
    map numbers;        /* known number -> its variable */
    VEC(field) field;
    VEC(field_port) field_port;
    VEC(field_pair) field_pair;
    map field_of, field_ports; /* element -> field; (field, name) -> field_port */
    VEC(named_quantity) named_quantity;
    VEC(pending_when) when;            /* made when all that they read exists */
    VEC(struct remembered) remembered; /* by previous(), in the `every` being made */
    map domains;                       /* name -> index in flat.domain */
    VEC(uint32_t) domain_function;     /* of the power of each, NONE: effort times flow */
    index_set literals;                /* variables of numbers of the text, by their place */
    map rates;                         /* variable -> its VAR_RATE */
    map hidden_rates;                  /* hash of an inst -> the hidden signal that der() made of it */
    map override_of;                   /* part_key, value_key, entry_key -> override */
    map shadow_said;
    map unset_said;              /* hash of an instance as written and an input of it */
    map refused;                 /* (scope, name) of what could not be declared, so that its uses say nothing further */
    bool domains_wrong;          /* units of bonds would say it again */
    bool incomplete;             /* a construct was refused that may declare any name, or say what bonds carry */
    struct csv_store *csv_store; /* table.c */
    map planes;                  /* plane.c */
    uint64_t inlined;            /* operations copied from functions so far, weighted */
    bool inlined_too_much;       /* said so */
    int depth;                   /* of expressions being resolved */
    map weights;                 /* place of an operand to be weighed -> flat.weight */
    uint32_t law_of;             /* element whose law is being made, or NONE */
    VEC(const scope *) weighed_in; /* parallel to flat.weighed */

    /* names that mean something by themselves */
    const char *n_e, *n_f, *n_q, *n_p, *n_in, *n_out, *n_power, *n_time, *n_pi, *n_der, *n_integral, *n_table;
    const unit *second, *watt, *kelvin, *one;
} elab;

/* For what could not be declared. */
static inline uint64_t
scope_key(const scope *s, const char *name)
{
    return bg_hash_mix(s->id, map_ptr_key(name));
}

static inline uint64_t
part_key(uint32_t i)
{
    return UINT64_C(1) << 60 | i;
}
static inline uint64_t
rest_key(uint32_t i)
{
    return UINT64_C(5) << 60 | i;
}
static inline uint64_t
value_key(uint32_t i)
{
    return UINT64_C(2) << 60 | i;
}
static inline uint64_t
field_key(uint32_t i)
{
    return UINT64_C(4) << 60 | i;
}
static inline uint64_t
entry_key(uint32_t i, uint32_t entry)
{
    return UINT64_C(3) << 60 | (uint64_t)i << 28 | entry;
}

/* What took a part out (gone), or its e or f (rests). */
static inline span
part_gone_at(const elab *el, const part *p)
{
    return el->taken.at[map_get(&el->taken_by, part_key((uint32_t)(p - el->part.at)))];
}
static inline span
part_rests_at(const elab *el, const part *p)
{
    return el->taken.at[map_get(&el->taken_by, rest_key((uint32_t)(p - el->part.at)))];
}

/* ---- families (scopes.c) ---- */
/* Of a value: here or further out, and in what the file imports; of a part: here. NONE */
uint32_t find_family(const elab *el, const scope *in, const char *name, bool part);
static inline const family_array *
array_of(const elab *el, const family *f)
{
    return &el->array.at[f->array];
}
/* Where its first item is declared. */
static inline span
family_at(const elab *el, const family *f)
{
    return f->rank ? array_of(el, f)->at : f->is_part ? part_at(&el->part.at[f->first]) : el->value.at[f->first].at;
}
/* As above, in one scope. */
uint32_t own_family(const elab *el, const scope *in, const char *name, bool part);
/* A part will be looked for soon. A large model's names are met in any order, so that finding one waits for memory
 * three times: what a step reads is fetched while others are looked for, and the next step begins where it ended. */
enum fetch { FETCH_PLACE, FETCH_FAMILY, FETCH_PART, FETCHES };
void fetch_part(const elab *el, const scope *in, const char *name, enum fetch step);
/* The value or part with these indexes, or NONE. *entry: within a value that is an array. */
uint32_t family_item(const elab *el, const family *f, const int32_t *at, uint32_t *entry);
/* Enters item `index` (a value or part) under its name. The indexes are those of the item, or (block) the sizes from 1.
 * False: said. */
bool enter_name(elab *el, const scope *in, bool part, const char *name, span at, uint8_t rank, const int32_t *idx,
                bool block, uint32_t index);
uint32_t find_value(const elab *el, const scope *in, const char *name); /* the first of the family, or NONE */
uint32_t find_part(const elab *el, const scope *in, const char *name);
/* "name", "name[3]", "name[1,2]" behind the scope's prefix; interned */
const char *full_name(elab *el, const scope *in, const char *name, uint8_t rank, const int32_t *idx);
/* The same of a part: of its own where the options say that nobody looks for it. */
const char *part_name(elab *el, const scope *in, const char *name, uint8_t rank, const int32_t *idx);
/* Two imports of the scope's file have the name: said at `at`. */
bool import_clash(elab *el, const scope *in, const char *name, span at);
scope *element_scope(const elab *el, uint32_t element);
/* Counts what is about to be made; false when that is too much, which is said once. */
bool may_make_more(elab *el, uint64_t n, span at);

/* ---- imports (imports.c): loads what is imported, declares nothing ---- */
void load_imports(elab *el);
uint32_t find_function(const elab *el, const scope *in, const char *name);
const ast_model *find_model(const elab *el, const scope *in, const char *name, uint32_t *from);
bool import_ambiguous(elab *el, const scope *in, const char *name, bool is_model, span where); /* said */

/* ---- numbers known while the model is built (known.c) ---- */
/* A size or loop variable; false where there is none of that name. found may be NULL. */
bool find_known(const scope *in, const char *name, known_value *found);
/* quiet: nothing is said. *sized (may be NULL): whether a size or loop variable was read. */
bool known_number(elab *el, scope *in, const ast_expr *e, const char *what, bool quiet, double *x, bool *sized);
bool known_integer(elab *el, scope *in, const ast_expr *e, const char *what, int64_t *x);
/* An index or a size: within what an array can have. */
bool known_index(elab *el, scope *in, const ast_expr *e, const char *what, int32_t *x);

/* ---- paths (paths.c) ---- */
enum place_kind { PLACE_NONE, PLACE_VALUE, PLACE_PART };
typedef struct path_end {
    enum place_kind kind;
    uint32_t family;
    int32_t low[2], high[2]; /* of the items; rank 0: none */
    bool one;                /* a single item rather than an array */
    int used;                /* names of the path that led here; the rest is asked of what is here */
} path_end;
/* Follows a path through instances. in: where its first name is looked for, at: where its indexes are read. value: a
 * name that is the last one may be a value. how: quiet, nothing is said; gone, also into an instance that was taken
 * out. PLACE_NONE when it leads nowhere. */
enum { FOLLOW_QUIET = 1, FOLLOW_GONE = 2 };
path_end follow(elab *el, const scope *in, scope *at, const ast_ref *r, bool value, unsigned how);
/* As follow, through arrays and ranges of components on the way: calls see for each place it leads to, in order; false
 * from see stops. What leads nowhere is said once and stops, too. Returns whether all was seen. */
bool each_place(elab *el, const scope *in, scope *at, const ast_ref *r, bool as_value,
                bool (*see)(void *ctx, const path_end *p), void *ctx);
/* Calls see for each item of a place that exists, in order; false from see stops. A hole in an array is said (at)
 * unless quiet. */
bool each_item(elab *el, const path_end *p, span at, bool quiet, bool (*see)(void *ctx, uint32_t index, uint32_t entry),
               void *ctx);
/* The only item: a part or value, or NONE after an error. */
uint32_t single_item(elab *el, const path_end *p, span at, uint32_t *entry);
/* r with the index of its last name, a quantity, moved to the part before it. False: said. */
bool index_of_quantity(elab *el, const ast_ref *r, ast_ref *moved);
/* A name that stands for one number and has an index: said. True if it has none. */
bool takes_no_index(elab *el, const ast_part *p, const char *what);
ast_ref text_ref(elab *el, const char *text, size_t n, bool *fine); /* of --set */

/* ---- parts taken out (without.c) ---- */
void add_taken(elab *el, scope *in);             /* what the options take out, as if `without` named it */
void take_out_parts(elab *el);                   /* what `without` names */
bool scope_gone(const elab *el, const scope *s); /* its component was taken out */
void clean_up(elab *el);                         /* after links: what dangles now */

/* The value, part or other name nearest to a wrong one, or NULL; not looked for any more once errors are many. */
const char *nearest_value(const elab *el, const scope *in, const char *wrong);
const char *nearest_part(const elab *el, const scope *in, const char *wrong);
/* A sentence that lists a few of the names that there are; NULL where there are none or many. */
const char *parts_listed(const elab *el, const scope *in);
const char *values_listed(const elab *el, const scope *in);
/* A file that a text names, as seen from the folder of the text; and where it lies, links followed. NULL: *why, which
 * is NULL where it was said (outside of what may be read). */
const char *path_beside(elab *el, uint32_t file, const char *name);
const char *find_named(elab *el, span at, const char *name, const char *path, const char **why);
/* Whether a name is unknown only because its declaration was refused: said already. */
bool refused_before(const elab *el, const scope *in, const char *name);
bool errors_are_many(const elab *el);
/* The text of a span on one line, shortened; in the arena. */
const char *text_of(elab *el, span at);
const char *whole_text_of(elab *el, span at);
const unit *read_unit(elab *el, const ast_unit *text); /* NULL after an error or without text */

void said_twice(elab *el, span at, const char *name, span before);
inst set_inst(elab *el, double x); /* a constant */

/* ---------------------------------------------------------------- the stages of elaborate.c */

void declare_files(elab *el);
void declare_model(elab *el, scope *in, const ast_model *m);
void show_signals(elab *el); /* what `output NAME;` names */
void make_structure(elab *el);
void make_values(elab *el, bool early); /* those fixed before the run, or all that are left */
void make_law(elab *el, scope *in, uint32_t element);
void make_initial(elab *el, scope *in, uint32_t part_index);
void override_integrals(elab *el); /* let x(0) of signals */
void check_junction(elab *el, const flat_junction *j);
/* A value fixed before the run. who: for messages; want: the unit of what it is given to, or NULL. *out stays as it is
 * after an error. */
val initial_value(elab *el, scope *in, const ast_expr *e, const char *who, const unit *want, inst *out);

bool offset_in_tolerance(elab *el, const ast_expr *e); /* said: a tolerance is a difference */
void make_expect(elab *el, const ast_exp_item *item);  /* expect.c */

/* ---------------------------------------------------------------- fields (fields.c, field_laws.c, reciprocity.c) */

void declare_field(elab *el, uint32_t element, const ast_node *written); /* if the block has ports */
const field *field_of(const elab *el, uint32_t element);                 /* NULL: it is none */
bool is_field(const elab *el, uint32_t element);
bool field_broken(const elab *el, uint32_t element); /* a port of it was refused: said already */
uint32_t find_field_port(const elab *el, uint32_t element, const char *name); /* the first of an array; NONE */
/* The port that a name with its index means; NONE after an error, which was said. */
uint32_t single_field_port(elab *el, scope *in, uint32_t element, const ast_part *p);
const char *field_ports_text(elab *el, uint32_t element); /* "gap and charge" */
const char *field_port_first(const elab *el, uint32_t element);
void join_field_port(elab *el, uint32_t p, uint32_t link, bool ends);
void make_field(elab *el, uint32_t element); /* ports; after bonds have their junctions */
void make_field_laws(elab *el, scope *in, uint32_t element);
bool field_initial_quantity(const elab *el, uint32_t p, enum quantity q); /* may it be stated of this port? */
void override_fields(elab *el);                                           /* let plate.gap.q(0) (laws.c) */
void check_fields(elab *el);                                              /* reciprocity; after all values */
struct builder;
val read_own_port(struct builder *b, const ast_ref *r); /* NODE_NONE in n: no port of the own element */
val read_field(struct builder *b, const ast_ref *r, int first,
               uint32_t element); /* part[first] names the port, or is power */

/* ---------------------------------------------------------------- expressions (resolve.c, references.c, calls.c) */

enum reads {
    READ_CONSTANTS,
    READ_PARAMETERS, /* parameters and constants */
    READ_TIME,       /* these and time */
    READ_ALL
};

enum { FEW_SLOTS = 8 }; /* of an expression: looked through one by one, and kept without memory of their own */

/* One expression being made: its slots are distinct variables, in order of first mention. Not to be copied once it has
 * slots. */
typedef struct builder {
    elab *el;
    scope *in;
    enum reads reads;
    const char *who; /* "parameter \"k\"": for messages */
    bool any_unit;   /* it is only compared with zero: alternatives need not have one unit */
    bool only_looks; /* what it reads need not stay for it */
    uint32_t every;  /* number of the `every` whose value it is, or NONE */
    bool structure;  /* literals are constants of the template, not data */
    bool units;      /* but those with units in formulas, which are checked and written out by their parts */
    uint32_t own;    /* element whose e f q p are plain names, or NONE */
    const ast_function *function; /* arguments are the first slots */
    const map *formal;            /* their names -> slot */
    const val *formal_fits;
    VEC(var_id) slot; /* in `few` as long as they fit */
    var_id few[FEW_SLOTS];
    map slot_of; /* used above a few slots */
    map calls;   /* hash of (function, arguments) -> call_memo index */
    VEC(struct call_memo {
        uint32_t function;
        node *arg;
        node result;
    })
    call_memo;
} builder;

builder builder_new(elab *el, scope *in, enum reads reads, const char *who);
void builder_free(builder *b);
/* The expression as a template over b's slots. whole: it is given to something as it stands, so that degC has its
 * offset. */
val resolve(builder *b, const ast_expr *e, bool whole);
/* What an operator of the text becomes, its operands turned round (`a > b` is `b < a`) or not; what is done to them:
 * "added". */
enum ex_op tree_operation(enum ast_binary op);
bool tree_turned(enum ast_binary op);
const char *tree_verb(enum ast_binary op);
val read_ref(builder *b, const ast_ref *r);
val read_variable(builder *b, var_id v);         /* in its unit, where that is known */
val read_two_port(builder *b, const ast_ref *r); /* in.f of its block; NODE_NONE in n: none of its own (laws.c) */
val resolve_call(builder *b, const ast_expr *e);
node builder_slot(builder *b, var_id v);
inst builder_inst(builder *b, node root);  /* slots that do not occur are left out */
inst builder_entry(builder *b, node root); /* the same for one of many entries of a vector */
/* A number of the text that stands alone: data of its own. */
val resolve_law(builder *b, const ast_expr *e);
/* Makes each function's template, callees first; reports recursion. */
void make_functions(elab *el);
/* `integral(...)` as a whole value: the rate and initial value of `into`. */
bool is_integral(const elab *el, const ast_expr *e);
val make_integral(builder *b, const ast_expr *e, var_id into);
bool only_parameters(const flat_model *f, const var_id *slot, size_t n);

/* ---------------------------------------------------------------- functions of several numbers (several.c) */

bool is_several(const char *name);
const char *several_name(size_t k); /* NULL behind the last */
val call_several(builder *b, const ast_expr *e);

/* ---------------------------------------------------------------- habits of other languages (habits.c) */

/* What says the same here as a function, value or type of that name; NULL. */
const char *habit_function(const char *name);
const char *habit_value(const char *name);
const char *habit_part(const char *name);
const char *habit_quantity(const char *name); /* with {} for the part */
const char *habit_type(const char *name);
const char *habit_setting(const char *name);
const char *habit_solver(const char *name);

/* ---------------------------------------------------------------- vectors and matrices (vectors.c) */

/* A matrix of the text, or of entries read (arena). */
val make_matrix(builder *b, const ast_expr *e);
val matrix_of(elab *el, uint8_t rank, uint32_t rows, uint32_t cols, const node *at);
/* a op b where one of them is no number. */
val combine_matrices(builder *b, const ast_expr *e, val x, val y);
val negate_matrix(elab *el, val v);
/* Counts entries about to be written out; false when they are too many in all, which is said once. */
bool may_write_out(elab *el, uint64_t n, span at);
const char *size_words(elab *el, const val *v); /* "a vector of 3", "a matrix of 2 by 3" */

/* ---------------------------------------------------------------- units (check_units.c) */

val val_bad(elab *el);
val val_unit(node n, const unit *written); /* of a name declared so; NULL: fits any */
/* Help: a bare number was taken for a pure factor; one with a unit would turn what `is` into what it `takes`. */
void units_help_factor(elab *el, const unit *takes, const unit *is);
/* a and b added, compared, ... ; verb is "added". Reports and returns what both fit. n is a's. */
val units_together(elab *el, const char *verb, val a, span a_at, val b, span b_at);
val units_multiply(elab *el, val a, val b);
val units_divide(elab *el, val a, val b);
val units_power(elab *el, val a, span a_at, val exponent, span exponent_at);
bool small_fraction(double x, int *num, int *den); /* is |x| <= 1000 one, with a denominator up to 12? */
/* v is given to something declared in target (as written, NULL: nothing known). name: "parameter \"k\"" */
bool units_give(elab *el, val v, span at, const unit *target, const char *name);
bool units_pure(elab *el, val v, span at, const char *name); /* an argument of sin, exp, ... */
void need_single(elab *el, val *v, span at);                 /* no vector or matrix */
void need_number(elab *el, val *v, span at);
void need_condition(elab *el, val *v, span at); /* a pure number is one: not 0 */
void as_number(elab *el, val *v);               /* a condition becomes 1 or 0 */

/* "[kN] (kg.m/s^2)": as written, then in base units where these are others */
const char *unit_said(elab *el, const unit *u);

/* ---------------------------------------------------------------- what SI cannot tell apart (turning.c) */

/* v is given to what is declared in target: warns where one is a frequency and the other a speed. */
void turning_given(elab *el, val v, span at, const unit *target, const char *name);
void turning_flow(elab *el, val v, span at, const char *name);                /* to the flow of a bond */
void turning_angle(elab *el, scope *in, const ast_expr *e, const char *name); /* e is the argument of sin or cos */
void check_turning(elab *el);                                                 /* after the units of bonds */
uint8_t zero_of_sum(bool adds, val a, val b);
void zero_given(elab *el, val v, span at, const unit *target, const char *name);

/* ---------------------------------------------------------------- bonds (domain.c, check_bonds.c) */

void declare_domain(elab *el, const ast_domain *d);
void make_domain_powers(elab *el);                       /* after functions */
uint32_t read_domain(elab *el, const ast_node *written); /* `in NAME`: 1 + index in flat.domain, 0 without */
void spread_domains(elab *el);                           /* after bonds */
uint32_t *junction_regions(const flat_model *f);         /* by junction, the least one that bonds join it to; free it */
void check_bonds(elab *el);                              /* after laws, values and initial values */

/* ---------------------------------------------------------------- names of efforts and flows (quantities.c) */

/* q, or in *as the same with e or f for its name, where that is one of its domain. stores_p: p is a momentum. */
const ast_part *plain_quantity(elab *el, uint32_t junction, bool stores_p, bool common_effort, const ast_part *q,
                               ast_part *as);
void note_quantity(elab *el, uint32_t junction, const ast_part *q, const ast_part *as, val v); /* v was read so */
void check_quantities(elab *el); /* after the units of bonds */

/* ---------------------------------------------------------------- tables (table.c) */

/* The number in the pool of the table of a column (smooth: of the spline through it), or NONE after an error. x and y
 * units NULL where the head names none. */
uint32_t read_table(elab *el, const ast_expr *call, const char *file, const char *column, double number, span column_at,
                    bool smooth, const unit **x, const unit **y);
val read_matrix(elab *el, const ast_expr *call, const char *file); /* all of it */
void tables_free(elab *el);

/* ---- over two quantities (plane.c) ---- */

/* z[i*cols + j] at x[i], y[j], in SI; units NULL where none is said. name: of the file, in quotes */
typedef struct plane {
    const char *name;
    size_t rows, cols;
    double *x, *y, *z;
    const unit *x_unit, *y_unit, *z_unit;
} plane;
/* From a file (table.c). False after an error. */
bool read_plane(elab *el, const ast_expr *call, const char *file, plane *p);
val look_up_plane(builder *b, const ast_expr *e); /* table2d(...) */

/* ---------------------------------------------------------------- events (when.c) */

void make_whens(elab *el);                        /* those of el->when */
void make_stop_when(elab *el, const ast_expr *e); /* of an experiment */

/* ---------------------------------------------------------------- samples (sampled.c) */

val make_previous(builder *b, const ast_expr *e);
val make_delay(builder *b, const ast_expr *e);             /* delay(x, T), delay(x, T, before) */
val make_draw(builder *b, const ast_expr *e, bool normal); /* noise(seed), uniform(seed) */

/* ---------------------------------------------------------------- operands made weighable (weights.c) */

void weights_begin(elab *el);
void weights_end(elab *el);                                /* after the experiment is made */
val weighed_operand(builder *b, const ast_expr *e, val v); /* v, weighed if e is one of them */

/* ---------------------------------------------------------------- inputs and sources that can be moved (open.c) */

void open_ends(elab *el); /* after all laws are made */

/* ---------------------------------------------------------------- experiment (experiment.c) */

void check_experiments(elab *el);                                     /* names, and models they name; all of the file */
bool choose_model(elab *el, const ast_model **model, uint32_t *from); /* and the experiment, if one is asked for */
void add_output(elab *el, const value *v, uint32_t entry);            /* elaborate.c */
bool is_output(const value *v);
void make_experiment(elab *el); /* after outputs are made */

/* ---------------------------------------------------------------- set from outside (overrides.c) */

bool from_outside(const elab *el, span at);                 /* does it stand in a formula given on the command line? */
void override_size(elab *el, scope *in, known_value *size); /* let and --set of the model's sizes */
void apply_initials(elab *el);                              /* `x.q(0) = ...;` of models: before those of outside */
void apply_experiment_lets(elab *el);                       /* let and --set: before values are made */

#endif
