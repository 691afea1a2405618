/* elab_data.h - the data of elaboration: values of expressions, scopes, families, values, parts, bonds, fields
 *
 * A scope is a part of the text with names of its own: a file, a model, and each instance of a component in it. The
 * body of a loop is a scope that has the loop variable and shares all other names with its surroundings. A name denotes
 * a family: one thing, or the items of an array. Whatever is made remembers its scope, which also tells its origin:
 * scopes are linked outward to the instance or loop iteration that made them.
 */
#ifndef BG_ELAB_DATA_H
#define BG_ELAB_DATA_H

#include "elaborate.h"

/* ---------------------------------------------------------------- units of expressions */

/* The units that an expression fits. A bare number is in SI and fits any unit, alone and in sums; so does its product
 * with variables of bonds and time (ANY: `unit` is the unit without the number). Beside a stated unit it is a pure
 * factor. */
enum fit { FIT_ZERO, FIT_BARE, FIT_ANY, FIT_UNIT };

/* A vector (rank 1: rows entries) or matrix (rank 2), row by row. */
typedef struct matrix {
    uint8_t rank;
    uint32_t rows, cols;
    node *at;
} matrix;

/* Kind of a temperature: from absolute zero, a difference of two, or the sum of two. */
enum zero { ZERO_NONE, ZERO_POINT, ZERO_DIFFERENCE, ZERO_SUM };

typedef struct val {
    node n;
    const matrix *m; /* the entries, if it is not a single number; else NULL */
    enum fit fit;
    const unit *unit; /* FIT_UNIT: its dimension; FIT_ANY: that of what a bare number multiplies, NULL if unknown */
    bool stated;      /* FIT_UNIT: stated by a number, parameter or constant; not dimensionless */
    bool factor;      /* a bare number was taken as a pure factor */
    /* FIT_ANY: a function of pure numbers, sin(2*time): like a bare number, it fits any unit alone, and is a pure
     * factor beside a stated one */
    bool number;
    const unit *shown;   /* declared unit of a name in it that is not coherent with SI ([bar], [mm]); else NULL */
    const unit *written; /* if it is a single name, its unit, for display */
    const unit *said;    /* the unit of a name or number as written; NULL: there is none, or several */
    uint8_t zero;        /* for a temperature, enum zero */
    bool condition;      /* true or false, not a number */
    bool bad;            /* an error was reported; causes no further messages */
} val;

/* ---------------------------------------------------------------- scopes and declarations */

enum {
    /* limit for junctions, elements, bonds, instances, entries of values and loop iterations together: a million
     * elements with their surroundings */
    MOST_MADE = 8000000,
    MOST_INDEX = 5000000,    /* for an array index; iterations of one loop */
    MOST_ENTRIES = 1000000,  /* for a vector or matrix */
    MOST_WRITTEN = 20000000, /* for written-out entries of vector expressions, whole model */
    DEEPEST_COMPONENTS = 30  /* nesting of components */
};

/* A number known while the model is built. A loop variable has another value in each iteration. */
typedef struct known_value {
    const char *name;
    span at;
    double value;
} known_value;

typedef struct scope {
    struct scope *parent;   /* scope in which values are searched next */
    const ast_model *model; /* NULL: a file */
    const char *prefix;     /* prefix of full names in it: "front." */
    known_value *known;     /* sizes of the model, or the loop variable */
    struct scope *outer;    /* for an instance: the scope in which it was made */
    uint32_t id;            /* of its names; the body of a loop has that of its surroundings */
    uint32_t module;        /* the file it is in */
    uint32_t nknown;
    int32_t round;            /* of a loop: value of its variable */
    uint32_t instance;        /* the instance's part; NONE */
    uint32_t nports, port[2]; /* number of declared ports, and the first two */
    uint32_t origin;          /* flat.origin of the instance or iteration; NONE: the model itself */
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
    span import_at; /* the place of the first import */
} module;

/* What a name denotes: one thing (rank 0), an array made at once (block: consecutive), or items made one by one. A part
 * that is no array, as most are, has no record: the number of its family is its own and FAMILY_PART. */
#define FAMILY_PART UINT32_C(0x80000000)
typedef struct family {
    const char *name;
    uint32_t scope; /* id */
    uint32_t first; /* value or part; for an array the first one made */
    uint32_t n;     /* items */
    uint32_t array; /* in elab.array; for a single thing the first entry, which is empty */
    uint8_t rank;
    bool is_part, block;
} family;
/* The indexes of an array. For items made one by one, index run_from + k is first + k*run_by for k < run, as loops make
 * them; others are in elab.items. */
typedef struct family_array {
    int32_t low[2], high[2];
    int32_t run_from;
    uint32_t run, run_by;
    span at;
} family_array;

enum mark { MARK_NEW, MARK_OPEN, MARK_DONE };

/* A declared value. An array of stated size is one value with a variable for each entry. */
typedef struct value {
    enum ast_value_kind kind;
    const char *name; /* full */
    span at;
    scope *in;
    const ast_stmt *stmt;
    const ast_expr *expr;  /* its definition, or the one that replaced it */
    scope *expr_in;        /* scope in which that is read */
    bool let;              /* expr comes from the experiment */
    bool given;            /* expr comes from the instance */
    bool gone;             /* its component was taken out */
    bool clash;            /* its definition does not fit its unit, as reported */
    bool unread;           /* its unit is unknown after an error; expressions that read it report nothing */
    const ast_stmt *shown; /* the statement output NAME [unit] that makes it an output, or NULL */
    bool entries_set;      /* some entries are set separately: entry_key */
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
    node root;   /* over arguments 0 .. nargs-1, then captured variables */
    VEC(var_id) captured;
    VEC(uint32_t) callee;
    val fits;
    enum mark mark;
    bool bad; /* an error was reported; calls report nothing further */
} user_function;

enum declared_kind { DECLARED_JUNCTION, DECLARED_ELEMENT, DECLARED_BOND, DECLARED_INSTANCE };

/* Large models have millions of parts, so rare properties are stored elsewhere. */
typedef struct part {
    const char *name; /* full: "front.spring[2]" */
    scope *in;        /* scope of its declaration */
    const ast_stmt *stmt;
    const ast_node *node; /* NULL: a bond */
    union {
        scope *inside;    /* for instances: their own */
        uint32_t link[2]; /* for others: the first two bonds */
    };
    uint32_t index;  /* of the flat junction or element, or of a bond in elab.said; NONE: none was made */
    uint32_t nlinks; /* not of instances */
    enum declared_kind kind : 8;
    enum element_type element : 8;
    enum quantity rest : 4;
    unsigned junction : 1; /* type of a junction */
    bool modulated : 1;
    bool field : 1;   /* an element with ports of its own */
    bool port : 1;    /* a junction that outside bonds may connect to */
    bool keep : 1;    /* the experiment's */
    bool thinned : 1; /* lost a bond to something taken out */
    bool gone : 1;    /* taken out */
    bool rests : 1;   /* for an element: its e or f was taken out, it is a source of zero */
} part;
static inline scope *
part_inside(const part *p)
{
    return p->kind == DECLARED_INSTANCE ? p->inside : NULL;
}
/* The name of a part that is no item of an array, without the prefix of its scope. */
static inline const char *
part_own_name(const part *p)
{
    if (p->node)
        return p->in->prefix[0] ? ast_node_name(p->node) : p->name;
    return ast_chain_bond(p->stmt).name;
}
/* The place of its declaration: TYPE:name, or the name of a bond. */
static inline span
part_at(const part *p)
{
    return p->node ? ast_declared_at(p->node) : ast_chain_bond(p->stmt).name_at;
}

/* A chain as written, with the scope in which it is made. */
typedef struct chain_made {
    const ast_stmt *stmt;
    scope *in;
    uint32_t bond;
} chain_made; /* bond: the part for its name, or NONE */

/* `without` as written, with its scope. */
typedef struct without_made {
    const ast_ref *ref;
    scope *in;
    scope *at;
} without_made; /* in: for names; at: for indexes */

/* A bond as written; bonds are dropped once the structure is made. */
typedef struct link {
    uint32_t from, to; /* parts; NONE after an error */
    uint32_t junction_from, junction_to;
    uint32_t file, begin; /* of the arrow */
    uint32_t said : 31;   /* index in elab.said, whose first entry is for bonds that have no name and name no ports */
    uint32_t gone : 1;    /* an end was taken out */
} link;
static inline span
link_at(const link *l)
{
    return (span){ l->file, l->begin, l->begin + 2 };
}
/* A bond that has a name or names ports: expressions may read it. */
typedef struct link_said {
    const char *name;
    scope *in;                           /* scope in which indexes of ports are read */
    const ast_part *from_name, *to_name; /* the port of a field, as written; NULL: none */
    uint32_t from_port, to_port;         /* for a field: index in field_port; else NONE */
    uint32_t from, to, junction;         /* those of the bond, once the structure is made */
    var_id e, f;                         /* its effort and flow */
    bool gone;
} link_said;

/* A port of a field; those of one element are field_port[first .. first+n). */
typedef struct field_port {
    const char *name, *full; /* "gap", "plate.gap" */
    bool out;                /* right of the arrow: power leaves */
    bool momentum;           /* of C and I: stores a p */
    uint32_t count, number;  /* for an array of ports (0: a single port), and the number in it, from 1 */
    span at;
    uint32_t link, port; /* its bond; its port in the flat model (NONE: made of pairs). NONE: none */
    var_id e, f, stored;
} field_port;
typedef struct field_pair {
    uint32_t in, out;
} field_pair; /* of a transformer field */
/* broken: one of its ports was refused, as reported; nothing further is made or reported */
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
}; /* a variable, and the state that holds its value at the last sample */
/* A loop without a round, or the branch of an `if` statement that is not taken: what stands in it is not made. */
typedef struct idle_text {
    const ast_stmt *stmt;
    ast_stmt *const *body;
    int n;
    const scope *in;
} idle_text;

/* `output NAME [unit];` as written, with its scope. */
typedef struct shown_made {
    const ast_stmt *stmt;
    scope *in;
} shown_made;

/* An effort or flow read under a name of its domain, to be checked once units are known. */
typedef struct named_quantity {
    uint32_t junction;
    bool effort;
    const char *name;
    span at;
} named_quantity;

/* Times to compare with those of the run, once both of its ends were read. A window has both ends, an expectation its
 * time. */
enum timed_kind { TIMED_WINDOW, TIMED_EXPECT };
typedef struct timed_item {
    enum timed_kind kind;
    inst from, to;
    span at;
} timed_item;

/* What must fit a unit and reads what has its unit from bonds, to be checked once these are known. */
typedef struct unit_claim {
    inst of;
    span at;
    const unit *want; /* as written; NULL: a condition, for which a pure number may stand */
    const char *name; /* of what is in that unit */
} unit_claim;

typedef struct pending_when {
    scope *in;
    const ast_stmt *stmt;
    uint32_t made; /* index in flat.when; NONE */
} pending_when;

/* `spring.q(0) = ...;` as written, with its scope. */
typedef struct initial_made {
    const ast_stmt *stmt;
    scope *in;
} initial_made;

enum { LAST_FAMILIES = 64 };

typedef struct elab {
    sources *s;
    names *names;
    arena *a;
    arena *own; /* freed with the elaboration: scopes */
    unit_system *u;
    pool *pool;
    const ast_file *file;
    const elaborate_options *opt;
    flat_model *f;
    const ast_experiment *experiment, *gives_sizes; /* NULL: none; both are equal unless the options say bare */
    const ast_expr **formula;                       /* of opt->set, once parsed */
    uint32_t *option_text;                          /* of opt->set: 1 + the number of its text, or 0 */
    size_t errors_before;
    strbuf name_room; /* buffer for full names */
    /* [LAST_FAMILIES] 1 + recent results, by hash: the iterations of a loop look up the same names */
    uint32_t *last_family;

    scope *file_scope, *model_scope;
    uint32_t nscopes;
    VEC(module) module; /* the file first */
    bool index_lent;    /* its models and experiments belong to opt->index */
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
    VEC(idle_text) idle;
    VEC(initial_made) initial;
    VEC(uint32_t) element_part; /* by flat element */
    uint64_t made;              /* counted against MOST_MADE */
    bool made_too_much;         /* said so */
    uint64_t written;           /* vector entries, counted against MOST_WRITTEN */
    bool written_too_much;
    VEC(link) link;
    VEC(link_said) said;
    VEC(span) taken; /* what took parts out */
    map taken_by;    /* part_key, rest_key -> what took out the part, its e or its f */
    VEC(user_function) function;
    VEC(initial_override) override;
    index_set families; /* by scope, name, value or part */
    map items;          /* (family, indexes) -> item, except for runs */
    map experiments;    /* name -> index into file->decl */
    map numbers;        /* known number -> its variable */
    VEC(field) field;
    VEC(field_port) field_port;
    VEC(field_pair) field_pair;
    map field_of, field_ports; /* element -> field; (field, name) -> field_port */
    VEC(named_quantity) named_quantity;
    VEC(unit_claim) claim;
    VEC(timed_item) timed;
    VEC(const unit *) table_unit;      /* by table of the pool: of what it gives; NULL: none is stated */
    VEC(pending_when) when;            /* made when all that they read exists */
    VEC(struct remembered) remembered; /* for previous(), in the current `every` */
    map domains;                       /* name -> index in flat.domain */
    VEC(uint32_t) domain_function;     /* for the power of each; NONE: effort times flow */
    index_set literals;                /* variables for numbers of the text, by place */
    map rates;                         /* variable -> its VAR_RATE */
    map hidden_rates;                  /* hash of an inst -> the hidden signal that der() made for it */
    map override_of;                   /* part_key, value_key, entry_key -> override */
    map shadow_said;
    VEC(uint32_t) torn;            /* junctions at which a bond could not be made, as reported */
    map told;                      /* causes of errors, see told_before */
    map refused;                   /* (scope, name) of refused declarations, whose uses report nothing */
    bool domains_wrong;            /* checking the units of bonds would repeat the message */
    bool incomplete;               /* a refused construct may declare any name, or a domain */
    struct csv_store *csv_store;   /* table.c */
    map planes;                    /* plane.c */
    uint64_t inlined;              /* weighted number of operations copied from functions so far */
    bool inlined_too_much;         /* said so */
    int depth;                     /* nesting of expressions being resolved */
    map weights;                   /* place of an operand with a weight -> flat.weight */
    uint32_t law_of;               /* element whose law is being made, or NONE */
    VEC(const scope *) weighed_in; /* parallel to flat.weighed */

    /* reserved names */
    const char *n_e, *n_f, *n_q, *n_p, *n_in, *n_out, *n_power, *n_time, *n_pi, *n_der, *n_integral, *n_table;
    const unit *second, *watt, *kelvin, *one;
} elab;

/* What may be the cause of several errors, and what `of` and `what` of told_before are for it. */
enum cause {
    CAUSE_TYPE = 1, /* no such element type: the file; the name */
    CAUSE_FUNCTION, /* no such function: the file; the name */
    CAUSE_ARGUMENT, /* no such parameter: the model; the name */
    CAUSE_QUANTITY, /* no such quantity: the model; hash of part and quantity */
    CAUSE_UNSET,    /* an input without a value: the instance as written; the input's declaration */
    CAUSE_UNIT,     /* a value that does not fit the unit of its declaration: the declaration; 0 */
    CAUSE_PART,     /* no such part: the model; the name of the part that is probably meant */
    CAUSE_IDLE      /* what is not made: the statement around it; 0 */
};

/* For refused declarations. */
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

/* The place that took a part out (gone), or its e or f (rests). */
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

#endif
