/* elab.h - declarations shared by the files of elaboration
 *
 * What each file does: the table in compiler/README.md; the order of their steps: elaborate.c. Whoever reports an error
 * marks what it made as bad (val.bad, VAR_NONE, NONE, false), and whoever gets that reports nothing more.
 */
#ifndef BG_ELAB_H
#define BG_ELAB_H

#include "elab_data.h"

/* ---- families (scopes.c) ---- */
/* The family of a number, whether or not there is a record of it. */
static inline family
family_of(const elab *el, uint32_t at)
{
    const part *p;

    if (!(at & FAMILY_PART))
        return el->family.at[at];
    p = &el->part.at[at & ~FAMILY_PART];
    return (
        family){ .name = part_own_name(p), .scope = p->in->id, .first = at & ~FAMILY_PART, .n = 1, .is_part = true };
}
/* For a value: here or further out, and in imported files; for a part: only here. NONE */
uint32_t find_family(const elab *el, const scope *in, const char *name, bool part);
static inline const family_array *
array_of(const elab *el, const family *f)
{
    return &el->array.at[f->array];
}
/* The declaration of its first item. */
static inline span
family_at(const elab *el, uint32_t at)
{
    const family f = family_of(el, at);

    return f.rank ? array_of(el, &f)->at : f.is_part ? part_at(&el->part.at[f.first]) : el->value.at[f.first].at;
}
/* Like find_family, but in this scope alone. */
uint32_t own_family(const elab *el, const scope *in, const char *name, bool part);
/* Prefetches a part that will be looked up soon. Names of a large model come in any order, so that a look-up has three
 * cache misses: the data of each step are fetched while others are looked up, and the next step continues there. */
enum fetch { FETCH_PLACE, FETCH_FAMILY, FETCH_PART, FETCHES };
void fetch_part(const elab *el, const scope *in, const char *name, enum fetch step);
/* The value or part with these indexes, or NONE. *entry: within a value that is an array. */
uint32_t family_item(const elab *el, uint32_t f, const int32_t *at, uint32_t *entry);
/* Enters item `index` (a value or part) under its name; a part has to exist before the next name is entered. The
 * indexes are those of the item, or (block) the sizes, from 1. False: an error was reported. */
bool enter_name(elab *el, const scope *in, bool part, const char *name, span at, uint8_t rank, const int32_t *idx,
                bool block, uint32_t index);
uint32_t find_value(const elab *el, const scope *in, const char *name); /* the first of the family, or NONE */
/* The value to which a variable belongs, or NULL. Values are in the order of their variables. (values.c) */
const value *value_of_variable(const elab *el, var_id v);
uint32_t find_part(const elab *el, const scope *in, const char *name);
/* "name", "name[3]", "name[1,2]" behind the scope's prefix; interned */
const char *full_name(elab *el, const scope *in, const char *name, uint8_t rank, const int32_t *idx);
/* The same for a part: uninterned if the options say that nobody looks it up. */
const char *part_name(elab *el, const scope *in, const char *name, uint8_t rank, const int32_t *idx);
/* Two imports of the scope's file have the name: reported at `at`. */
bool import_clash(elab *el, const scope *in, const char *name, span at);
scope *element_scope(const elab *el, uint32_t element);
/* Counts parts about to be made; false beyond the limit, reported once. */
bool may_make_more(elab *el, uint64_t n, span at);

/* ---- imports (imports.c): loads imported files, declares nothing ---- */
void load_imports(elab *el);
uint32_t find_function(const elab *el, const scope *in, const char *name);
const ast_model *find_model(const elab *el, const scope *in, const char *name, uint32_t *from);
bool import_ambiguous(elab *el, const scope *in, const char *name, bool is_model, span where); /* said */

/* ---- numbers known while the model is built (known.c) ---- */
/* A size or loop variable; false: there is none of that name. found may be NULL. */
bool find_known(const scope *in, const char *name, known_value *found);
/* quiet: reports nothing. *sized (may be NULL): was a size or loop variable read? */
bool known_number(elab *el, scope *in, const ast_expr *e, const char *what, bool quiet, double *x, bool *sized);
bool known_integer(elab *el, scope *in, const ast_expr *e, const char *what, int64_t *x);
/* An index or size within the allowed range. */
bool known_index(elab *el, scope *in, const ast_expr *e, const char *what, int32_t *x);

/* ---- paths (paths.c) ---- */
enum place_kind { PLACE_NONE, PLACE_VALUE, PLACE_PART };
typedef struct path_end {
    enum place_kind kind;
    uint32_t family;
    int32_t low[2], high[2]; /* of the items; rank 0: none */
    bool one;                /* a single item, not an array */
    int used;                /* number of names of the path used; the rest is applied to the result */
} path_end;
/* Follows a path through instances. in: scope for its first name, at: scope for its indexes. value: the last name may
 * be a value. how: quiet, reports nothing; gone, also enters instances that were taken out. PLACE_NONE: it leads
 * nowhere. */
enum { FOLLOW_QUIET = 1, FOLLOW_GONE = 2 };
path_end follow(elab *el, const scope *in, scope *at, const ast_ref *r, bool value, unsigned how);
/* Like follow, through arrays and ranges of components: calls `see` for each result, in order, until `see` returns
 * false. A path that leads nowhere is reported once and ends the calls. Returns whether all were visited. */
bool each_place(elab *el, const scope *in, scope *at, const ast_ref *r, bool as_value,
                bool (*see)(void *ctx, const path_end *p), void *ctx);
/* Calls `see` for each existing item of a place, in order, until it returns false. A gap in an array is reported (at)
 * unless quiet. */
bool each_item(elab *el, const path_end *p, span at, bool quiet, bool (*see)(void *ctx, uint32_t index, uint32_t entry),
               void *ctx);
/* The only item: a part or value, or NONE after an error. */
uint32_t single_item(elab *el, const path_end *p, span at, uint32_t *entry);
/* r with the index of its last name, a quantity, moved to the part before it. False: an error was reported. */
bool index_of_quantity(elab *el, const ast_ref *r, ast_ref *moved);
/* Reports an index on a name that stands for one number. True: it has none. */
bool takes_no_index(elab *el, const ast_part *p, const char *what);
ast_ref text_ref(elab *el, const char *text, size_t n, span at, bool *fine); /* of --set; at: its place */

/* ---- parts taken out (without.c) ---- */
void add_taken(elab *el, scope *in);             /* what the options take out, as by `without` */
void take_out_parts(elab *el);                   /* what `without` names */
bool scope_gone(const elab *el, const scope *s); /* its component was taken out */
void clean_up(elab *el);                         /* call after links: removes what dangles */

/* The value, part or other name most similar to a wrong one, or NULL; not searched after many errors. */
const char *nearest_value(const elab *el, const scope *in, const char *wrong);
const char *nearest_part(const elab *el, const scope *in, const char *wrong);
/* A sentence that lists the existing names; NULL: there are none, or too many. */
const char *parts_listed(const elab *el, const scope *in);
const char *values_listed(const elab *el, const scope *in);
/* The path of a file named in a text, relative to that text's folder, with links followed. NULL: *why, which is NULL if
 * an error was reported (outside the allowed folders). */
const char *path_beside(elab *el, uint32_t file, const char *name);
const char *find_named(elab *el, span at, const char *name, const char *path, const char **why);
/* Is a name unknown only because its declaration was refused, as reported? */
bool refused_before(const elab *el, const scope *in, const char *name);
/* One cause gives one error: was this one reported? told_before then counts it as reported. */
bool is_told(const elab *el, enum cause c, uint64_t of, uint64_t what);
bool told_before(elab *el, enum cause c, uint64_t of, uint64_t what);
/* Did a value not fit the unit of this declaration, here or in another instance? Which of both is wrong is not known,
 * so nothing that reads it is checked. */
bool in_doubt(const elab *el, const value *v);
/* The scope of the instance, or of the model, whose text this is in. */
const scope *scope_of_text(const scope *s);
bool errors_are_many(const elab *el);
/* The text of a span on one line, shortened; in the arena. */
const char *text_of(elab *el, span at);
const char *whole_text_of(elab *el, span at);
const unit *read_unit(elab *el, const ast_unit *text); /* NULL after an error or without text */

void said_twice(elab *el, span at, const char *name, span before);
inst set_inst(elab *el, double x); /* a constant */

/* ---------------------------------------------------------------- steps of elaborate.c */

void declare_files(elab *el);
void declare_model(elab *el, scope *in, const ast_model *m);
void show_signals(elab *el); /* the signals of `output NAME;` */
void make_structure(elab *el);
void make_values(elab *el, bool early); /* those fixed before the run, or all others */
void make_law(elab *el, scope *in, uint32_t element);
void make_initial(elab *el, scope *in, uint32_t part_index);
void override_integrals(elab *el); /* let x(0) for signals */
void check_junction(elab *el, const flat_junction *j);
/* A value fixed before the run. who: for messages; want: the required unit, or NULL. *out is unchanged after an
 * error. */
val initial_value(elab *el, scope *in, const ast_expr *e, const char *who, const unit *want, inst *out);

bool offset_in_tolerance(elab *el, const ast_expr *e); /* reports that a tolerance is a difference */
void make_expect(elab *el, const ast_exp_item *item);  /* expect.c */

/* ---- constant numbers that make no sense (settings.c) ---- */
/* Is it a constant of the text? */
bool known_setting(const elab *el, inst i, double *x);
void check_positive(elab *el, const char *code, const char *name, const char *in, inst i, span at);
void check_tolerance(elab *el, const char *name, inst i, span at); /* name: of what it is for */
void note_timed(elab *el, enum timed_kind kind, inst from, inst to, span at);
void check_times(elab *el, span start_at, span stop_at); /* of the run, and those noted */
void check_delays(elab *el);                             /* and periods of samples */

/* ---------------------------------------------------------------- fields (fields.c, field_laws.c, reciprocity.c) */

void declare_field(elab *el, uint32_t element, const ast_node *written); /* only if the block has ports */
const field *field_of(const elab *el, uint32_t element);                 /* NULL: it is none */
bool is_field(const elab *el, uint32_t element);
bool field_broken(const elab *el, uint32_t element); /* one of its ports was refused, as reported */
uint32_t find_field_port(const elab *el, uint32_t element, const char *name); /* the first of an array; NONE */
/* The port that a name with its index denotes; NONE after an error, which was reported. */
uint32_t single_field_port(elab *el, scope *in, uint32_t element, const ast_part *p);
const char *field_ports_text(elab *el, uint32_t element); /* "gap and charge" */
const char *field_port_first(const elab *el, uint32_t element);
/* Bond `link` ends (else begins) at port p; reports a second one, and one that points the wrong way. */
void join_field_port(elab *el, uint32_t p, uint32_t link, bool ends);
void make_field(elab *el, uint32_t element); /* makes its ports, after bonds have their junctions */
void make_field_laws(elab *el, scope *in, uint32_t element);
bool field_initial_quantity(const elab *el, uint32_t p, enum quantity q); /* may it be stated for this port? */
void override_fields(elab *el);                                           /* let plate.gap.q(0) (laws.c) */
/* reciprocity; call after all values are made */
void check_fields(elab *el);
struct builder;
val read_own_port(struct builder *b, const ast_ref *r); /* NODE_NONE in n: not a port of the element itself */
/* plate.gap.q, plate.power: part[first] names the port, or is `power`. */
val read_field(struct builder *b, const ast_ref *r, int first, uint32_t element);

/* ---------------------------------------------------------------- expressions (resolve.c, references.c, calls.c) */

enum reads {
    READ_CONSTANTS,
    READ_PARAMETERS, /* parameters and constants */
    READ_TIME,       /* parameters, constants and time */
    READ_ALL
};

enum { FEW_SLOTS = 8 }; /* so few slots of an expression are searched linearly, without allocated memory */

/* An expression under construction: its slots are distinct variables, in the order of first use. Must not be copied
 * once it has slots. */
typedef struct builder {
    elab *el;
    scope *in;
    enum reads reads;
    const char *who;              /* "parameter \"k\"": for messages */
    bool any_unit;                /* only compared with zero: branches need not have the same unit */
    bool only_looks;              /* what it reads need not be kept for it */
    uint32_t every;               /* number of the `every` to which the value belongs, or NONE */
    bool structure;               /* literals become constants of the template, not data */
    bool units;                   /* except those with units in formulas, which are checked and written out in parts */
    uint32_t own;                 /* element whose e f q p are plain names, or NONE */
    const ast_function *function; /* the first slots are its arguments */
    const map *formal;            /* their names -> slot */
    const val *formal_fits;
    VEC(var_id) slot; /* in `few` as long as they fit */
    var_id few[FEW_SLOTS];
    map slot_of; /* used beyond a few slots */
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
/* The expression as a template over b's slots. whole: it is used as it stands, so that degC has its offset. */
val resolve(builder *b, const ast_expr *e, bool whole);
/* The operation for an operator of the text; *turned: with exchanged operands (`a > b` is `b < a`); *verb: what it does
 * to them, "added". */
enum ex_op tree_operation(enum ast_binary op);
bool tree_turned(enum ast_binary op);
const char *tree_verb(enum ast_binary op);
val read_ref(builder *b, const ast_ref *r);
val read_variable(builder *b, var_id v);         /* in its unit, if known */
val read_two_port(builder *b, const ast_ref *r); /* in.f of its block; NODE_NONE in n: none of its own (laws.c) */
val resolve_call(builder *b, const ast_expr *e);
/* Is there a function of this name, of the language or of the file? */
bool is_function(const elab *el, const scope *in, const char *name);
node builder_slot(builder *b, var_id v);
inst builder_inst(builder *b, node root);  /* unused slots are left out */
inst builder_entry(builder *b, node root); /* the same for one of many entries of a vector */
/* A single number in the text becomes data. */
val resolve_law(builder *b, const ast_expr *e);
/* Makes each function's template, callees first; reports recursion. */
void make_functions(elab *el);
/* `integral(...)` as a whole value: sets the rate and initial value of `into`. */
bool is_integral(const elab *el, const ast_expr *e);
val make_integral(builder *b, const ast_expr *e, var_id into);
/* Are all n variables parameters or numbers? */
bool only_parameters(const flat_model *f, const var_id *slot, size_t n);

/* ---------------------------------------------------------------- functions of several numbers (several.c) */

bool is_several(const char *name);
const char *several_name(size_t k); /* NULL behind the last */
val call_several(builder *b, const ast_expr *e);

/* ---------------------------------------------------------------- habits of other languages (habits.c) */

/* The equivalent in this language of a function, value or type of that name; NULL. */
const char *habit_function(const char *name);
const char *habit_value(const char *name);
const char *habit_part(const char *name);
const char *habit_quantity(const char *name); /* with {} for the part */
const char *habit_type(const char *name);
const char *habit_setting(const char *name);
const char *habit_solver(const char *name);

/* ---------------------------------------------------------------- vectors and matrices (vectors.c) */

/* A matrix in the text, or of values read from a file (arena). */
val make_matrix(builder *b, const ast_expr *e);
val matrix_of(elab *el, uint8_t rank, uint32_t rows, uint32_t cols, const node *at);
/* a op b where one of them is a vector or matrix. */
val combine_matrices(builder *b, const ast_expr *e, val x, val y);
val negate_matrix(elab *el, val v);
/* Counts entries about to be written out; false beyond the limit, reported once. */
bool may_write_out(elab *el, uint64_t n, span at);
const char *size_words(elab *el, const val *v); /* "a vector of 3", "a matrix of 2 by 3" */

/* ---------------------------------------------------------------- units (check_units.c) */

val val_bad(elab *el);
val val_unit(node n, const unit *written); /* for a name with this declared unit; NULL: fits any */
/* Help: a bare number was taken as a pure factor; with a unit it would turn what `is` into what it `takes`. */
void units_help_factor(elab *el, const unit *takes, const unit *is);
/* a and b are added, compared, ...; verb is "added". Reports a clash; returns the unit of both. n is a's. */
val units_together(elab *el, const char *verb, val a, span a_at, val b, span b_at);
val units_multiply(elab *el, val a, val b);
val units_divide(elab *el, val a, val b);
val units_power(elab *el, val a, span a_at, val exponent, span exponent_at);
bool small_fraction(double x, int *num, int *den); /* is |x| <= 1000 a fraction with a denominator up to 12? */
/* v is assigned to something declared in target (as written; NULL: unknown). name: "parameter \"k\"" */
bool units_give(elab *el, val v, span at, const unit *target, const char *name);
bool units_pure(elab *el, val v, span at, const char *name); /* for an argument of sin, exp, ... */
void need_single(elab *el, val *v, span at);                 /* reports a vector or matrix */
void need_number(elab *el, val *v, span at);
/* Reports a number that is no condition; a pure number means: not 0. */
void need_condition(struct builder *b, val *v, span at);
void condition_clash(elab *el, span at, const unit *said); /* the words for a quantity in a unit */
/* Where b reads bonds whose units are unknown yet, checks later that v is in a unit as written; want NULL: in none. */
void claim_unit(struct builder *b, val v, span at, const unit *want, const char *name);
/* units_give, now or once the units of bonds are known. */
bool claim_given(struct builder *b, val v, span at, const unit *target, const char *name);
void as_number(elab *el, val *v); /* converts a condition to 1 or 0 */

/* "[kN] (kg.m/s^2)": as written, then in base units if these differ */
const char *unit_said(elab *el, const unit *u);

/* ---------------------------------------------------------------- what SI cannot distinguish (turning.c) */

/* v is assigned to something declared in target: warns if one is a frequency and the other an angular velocity. */
void turning_given(elab *el, val v, span at, const unit *target, const char *name);
void turning_flow(elab *el, val v, span at, const char *name);                /* v is assigned to the flow of a bond */
void turning_angle(elab *el, scope *in, const ast_expr *e, const char *name); /* e is the argument of sin or cos */
void check_turning(elab *el);                                                 /* call after the units of bonds */
/* Of a + b (adds) or a - b of two temperatures, enum zero: the difference of two points is a difference. */
uint8_t zero_of_sum(bool adds, val a, val b);
uint8_t
zero_of_number(double x); /* 273.15 is a point, so that what is left of a temperature without it is a difference */
/* Warns if v, assigned to something in that unit, is a difference shown in [degC], or a sum of two temperatures. */
void zero_given(elab *el, val v, span at, const unit *target, const char *name);

/* ---------------------------------------------------------------- bonds (domains.c, check_bonds.c) */

void declare_domain(elab *el, const ast_domain *d);
void make_domain_powers(elab *el);                       /* after functions */
uint32_t read_domain(elab *el, const ast_node *written); /* `in NAME`: 1 + index in flat.domain, 0: none */
void spread_domains(elab *el);                           /* after bonds */
/* by junction, the smallest one connected to it by bonds; free it */
uint32_t *junction_regions(const flat_model *f);
void check_bonds(elab *el); /* call after laws, values, initial values and what events set */
/* What a table of the pool gives is in this unit. */
void set_table_unit(elab *el, uint32_t table, const unit *u);

/* ---------------------------------------------------------------- names of efforts and flows (quantities.c) */

/* q, or in *as the same with the name e or f if q is a name of the bond's domain. stores_p: p is a momentum. */
const ast_part *plain_quantity(elab *el, uint32_t junction, bool stores_p, bool common_effort, const ast_part *q,
                               ast_part *as);
/* v was read under that name */
void note_quantity(elab *el, uint32_t junction, const ast_part *q, const ast_part *as, val v);
void check_quantities(elab *el); /* call after the units of bonds */

/* ---------------------------------------------------------------- tables (table.c) */

/* The number in the pool of the table of a column (smooth: of the spline through it), or NONE after an error. Units of
 * x and y are NULL if the header names none. */
uint32_t read_table(elab *el, const ast_expr *call, const char *file, const char *column, double number, span column_at,
                    bool smooth, const unit **x, const unit **y);
val read_matrix(elab *el, const ast_expr *call, const char *file); /* the whole file */
void tables_free(elab *el);

/* ---- over two quantities (plane.c) ---- */

/* z[i*cols + j] at x[i], y[j], in SI; units NULL: not given. name: of the file, in quotes */
typedef struct plane {
    const char *name;
    size_t rows, cols;
    double *x, *y, *z;
    const unit *x_unit, *y_unit, *z_unit;
} plane;
/* Reads it from a file (table.c). False after an error. */
bool read_plane(elab *el, const ast_expr *call, const char *file, plane *p);
val look_up_plane(builder *b, const ast_expr *e); /* table2d(...) */

/* ---------------------------------------------------------------- events (when.c) */

void make_whens(elab *el);                        /* those in el->when, without their conditions */
void make_when_conditions(elab *el);              /* once the units of bonds are known */
void make_stop_when(elab *el, const ast_expr *e); /* for an experiment */

/* ---------------------------------------------------------------- samples (sampled.c) */

val make_previous(builder *b, const ast_expr *e);
val make_delay(builder *b, const ast_expr *e);             /* delay(x, T), delay(x, T, before) */
val make_draw(builder *b, const ast_expr *e, bool normal); /* noise(seed), uniform(seed) */

/* ---------------------------------------------------------------- operands with weights (weights.c) */

void weights_begin(elab *el);
void weights_end(elab *el);                                /* call after the experiment is made */
val weighed_operand(builder *b, const ast_expr *e, val v); /* v, with a weight if e is one of these operands */

/* ---------------------------------------------------------------- inputs and sources that can be moved (open.c) */

void open_ends(elab *el); /* call after all laws are made */

/* ---------------------------------------------------------------- experiment (experiment.c) */

/* all experiments of the file: their names, and models that they name */
void check_experiments(elab *el);
bool choose_model(elab *el, const ast_model **model, uint32_t *from); /* and the experiment, if one is asked for */
void add_output(elab *el, const value *v, uint32_t entry);            /* elaborate.c */
bool is_output(const value *v);
void make_experiment(elab *el); /* call after outputs are made */

/* ---------------------------------------------------------------- set from outside (overrides.c) */

bool from_outside(const elab *el, span at);                 /* does the place lie in an option of the command line? */
void override_size(elab *el, scope *in, known_value *size); /* let and --set for the model's sizes */
/* `x.q(0) = ...;` in models: call before the overrides from outside */
void apply_initials(elab *el);
void apply_experiment_lets(elab *el); /* let and --set: call before values are made */

#endif
