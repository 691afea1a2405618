/* flat.h - the flat bond graph: plain arrays, ids are indexes, names apart
 *
 * Made by elaboration from the syntax tree of one model (and one experiment, or none). All later stages use this and
 * nothing hierarchical. Normal form:
 *   - a junction has one common variable (f of a 1-junction, e of a 0-junction) and a balance of the others;
 *   - an element port is always on a junction (a bond between two elements gets an implicit 1-junction);
 *   - a bond joins two junctions. Between a 0 and a 1 it has no variable of its own (its e is that of the 0, its f that
 *     of the 1); between two junctions of one kind it has one (the one that is not common), and states that the common
 *     variables are equal.
 * Signs: the power of a port or bond is positive along its arrow. In a junction's balance what arrives counts +, what
 * leaves -.
 */
#ifndef BG_FLAT_H
#define BG_FLAT_H

#include "ast.h"
#include "expr.h"
#include "kinds.h"
#include "units.h"

/* A template and the variables in its slots: slot[first .. first+n) of the flat model. */
typedef struct inst {
    node root;
    uint32_t first, n;
} inst;
#define INST_NONE ((inst){ NODE_NONE, 0, 0 })
static inline bool
inst_known(inst i)
{
    return i.root != NODE_NONE;
}

/* A model has several variables for each element, so what only some of them have is stored elsewhere. Variables of
 * bonds and storage elements take name and place from their owner; their names are made when asked for. */
typedef struct flat_var {
    enum var_kind kind : 5;
    enum var_role role : 4;
    uint32_t holds : 1;       /* VAR_INTEGRAL: has no rate, events alone set it */
    uint32_t unit_index : 22; /* index in flat.unit, whose first entry is NULL: see var_unit */
    /* of an opened parameter (flat_opening): the parameter that is its time derivative; VAR_NONE: none */
    uint32_t owner;
    uint32_t position; /* its position in a breadth-first walk of the graph, in which neighbours are close */
    uint32_t said;     /* of a VAR_LITERAL: index in flat.literal; otherwise in flat.said, whose first entry is empty */
} flat_var;
typedef struct flat_said {
    const char *name;    /* in the model's words, such as "k_s1"; NULL: see var_name */
    const unit *display; /* the unit as written, for tables and CSV; NULL: SI */
    span at;
    inst def, init;
} flat_said;
typedef struct flat_literal {
    double value;
    span at;
    uint32_t said; /* of a literal with a unit, or one that is not a number in the text */
} flat_literal;

/* One-ports: `out` of the port = def over its other quantities, parameters, signals, time, or any readable variable.
 *   linear `= a`: R: e = a*f, C: q = a*e, I: p = a*f, Se: e = a, Sf: f = a.
 * Two-ports: def is the modulus n or r (TF: e_in = n*e_out, f_out = n*f_in; GY: e_in = r*f_out, e_out = r*f_in).
 * Residual sources (`such that`): def = 0 is the equation. A field has one law for each port, in the order of its
 * ports. A transformer field is a TF with several pairs of ports (in, out, in, out, ...) and one modulus for each pair;
 * its pairs are connected through junctions only. */
enum law_kind { LAW_ASSIGN, LAW_MODULUS, LAW_RESIDUAL };
/* switched: a condition with alternatives, as in an ideal diode or switch: the law determines neither effort nor flow
 * but relates them like a resistor. Set by equations_prepare. */
typedef struct flat_law {
    enum law_kind kind : 8;
    enum quantity out : 8;
    bool switched;
    uint32_t port;
    inst def;
    span at;
} flat_law;

typedef struct flat_element {
    enum element_type type : 8;
    bool modulated : 1; /* written as MSe, MTF, ... */
    bool linear : 1;    /* law given as `= expr` */
    bool keep : 1;      /* experiment's keep */
    bool read : 1;      /* an expression other than its own law names it */
    bool thinned : 1;   /* it lost a bond to something taken out */
    bool rests : 1;     /* its effort or flow was taken out: it acts as a source of zero, whatever its text */
    uint32_t parent;    /* the origin that made it; NONE: the model itself */
    const char *name;
    const ast_stmt *stmt;
    const ast_node *node;
    uint32_t port0, nports; /* of a two-port: the in-port first */
    uint32_t law0, nlaws;
} flat_element;
/* The place of its declaration, TYPE:name. */
static inline span
element_at(const flat_element *x)
{
    return x->node ? ast_declared_at(x->node) : SPAN_NONE;
}

/* port or junction, the other one is NONE. unit: of the value as given, NULL for a number without one; written: as in
 * the text, NULL if it is made of several statements */
typedef struct flat_initial {
    uint32_t port, junction;
    enum quantity q;
    inst def;
    span at;
    const unit *unit, *written;
} flat_initial;

typedef struct flat_port {
    uint32_t element, junction;
    var_id e, f;   /* one of them is the junction's common variable, the other this port's VAR_PORT */
    var_id stored; /* storage: q (C) or p (I), else VAR_NONE */
    int8_t sign;   /* +1: arrow from the junction into the element; -1: out of it */
    bool crossed;  /* port of a storage field with both kinds: p on a C, q on an I */
    uint32_t said; /* index in flat.port_said, whose first entry is empty */
    span at;       /* the arrow of the bond */
} flat_port;
typedef struct flat_port_said {
    const char *bond; /* the name of its bond */
    const char *name; /* of a field's port, such as "plate.gap"; NULL: the element's name suffices */
} flat_port_said;

typedef struct flat_bond {
    uint32_t from, to; /* junctions */
    const char *name;
    var_id own; /* VAR_BOND; VAR_NONE between a 0 and a 1 */
    span at;
} flat_bond;

typedef struct flat_junction {
    uint32_t type : 1; /* 0 or 1 */
    uint32_t implicit : 1;
    uint32_t port : 1; /* port of a component */
    uint32_t read : 1; /* as in elements */
    uint32_t thinned : 1;
    uint32_t domain : 27; /* domain of its bonds: 1 + index in flat.domain; 0: none is declared */
    uint32_t parent;      /* as in elements */
    const char *name;
    const ast_stmt *stmt;
    const ast_node *node;
    span at;
    var_id common;
    uint32_t inc0, ninc; /* its incidences: flat.incidence[inc0 .. inc0+ninc) */
} flat_junction;

/* What bonds carry. Pseudo bonds have a power of their own, a template over slots 0 (effort), 1 (flow) and 2 ..
 * 2+nreads (constants). */
typedef struct flat_domain {
    const char *name, *effort_name, *flow_name;
    const unit *effort, *flow; /* as declared; NULL: not declared */
    node power;                /* NODE_NONE: effort times flow */
    const var_id *reads;
    uint32_t nreads;
    span at;
    const ast_domain *ast;
} flat_domain;

/* A port or one end of a bond at a junction. sign: in the junction's balance (+1 arrives, -1 leaves). */
typedef struct flat_incidence {
    bool is_bond : 1;
    signed int sign : 2;
    uint32_t index : 29;
} flat_incidence;

/* A construct that makes parts of a text more than once: an instance of a component, or one iteration of a loop. Linked
 * to the enclosing one; shared by everything that it made. */
typedef struct flat_origin {
    const char *name; /* full name of an instance, such as "front"; NULL: an iteration */
    const ast_stmt *stmt;
    const ast_node *node;   /* the instance's declaration, or the loop */
    const ast_model *model; /* the instance's */
    int32_t index;          /* of the iteration */
    uint32_t parent;        /* NONE: the model itself */
} flat_origin;

/* An output is also a VAR_SIGNAL of its name, which others may read; def is that one slot. Recorded expressions are
 * outputs named by their text. */
typedef struct flat_output {
    const char *name;
    inst def;
    const unit *unit, *display;
    span at;
} flat_output;

/* `when condition { reinit target = value; ... }`: when the condition turns true, all values are computed and then
 * assigned to the targets. condition is 0 where it is false. `every period { target = value; ... }`: at offset +
 * k*period; no condition. An assertion ends the run with an error when its condition turns true (which means that the
 * assertion does not hold); `stop when` ends it without one. remembers: storage for `previous`, not a target in the
 * text. */
typedef struct flat_reinit {
    var_id target;
    inst value;
    bool remembers;
    const char *said; /* the target in the text's words */
    span at;
} flat_reinit;
typedef struct flat_when {
    enum when_kind kind;
    inst condition, period, offset; /* period and offset over parameters, s; INST_NONE: none */
    const char *text, *says;        /* says: text of an assertion, or NULL */
    uint32_t reinit0, nreinits;
    span at;
} flat_when;

/* delay(x, T), delay(x, T, before): the value of x at time - T; before the start `before`, or the value of x at the
 * start. var is a mode; by and before depend on parameters (before INST_NONE: not given). */
typedef struct flat_delay {
    var_id var;
    inst of, by, before;
    span at;
} flat_delay;

/* noise(seed), uniform(seed) in an `every`: a random number that each sample draws. var is a mode. */
typedef struct flat_draw {
    var_id var;
    bool normal;
    uint32_t when;
    inst seed;
    span at;
} flat_draw;

/* An operand of the text that is to be weighted (elaborate.h) becomes factor*operand + offset with two hidden
 * parameters of 1 and 0, shared by all its occurrences; VAR_NONE: it does not occur. */
typedef struct flat_weight {
    var_id factor, offset;
} flat_weight;
/* One of its occurrences, or an entry of one, with the operand's value. They are recorded, in this order, after the
 * experiment's own records. */
typedef struct flat_weighed {
    uint32_t weight;
    uint32_t element; /* the element whose law contains it; NONE: it is in the definition of a value */
    bool keep;        /* the experiment keeps the element or component */
    inst value;
} flat_weighed;

/* An external input that was opened (elaborate.h): one parameter moves it, another its rate. For an input that the
 * experiment holds constant, the first is that parameter itself; to a formula, and to the law of a source, a hidden
 * parameter of 0 is added. */
typedef struct flat_opening {
    const char *name, *rate_name;
    var_id by, rate;
    uint32_t element; /* the source; NONE: an input of the text */
    const unit *unit, *display;
} flat_opening;

/* ---- the experiment, resolved; values SI ---- */
typedef struct flat_window {
    inst from, to;
} flat_window;
typedef struct flat_observe {
    uint32_t output;
    inst within;
    span at;
} flat_observe; /* within INST_NONE: not given */
/* An expectation of the experiment; only if elaboration was asked for it. */
typedef struct flat_expect {
    enum ast_expect_kind kind;
    const char *name;         /* text of the expected quantity, or name of the element */
    uint32_t record;          /* index among the recorded expressions; unused for an activity */
    uint32_t element;         /* for an activity */
    inst time, value, within; /* time INST_NONE: at the end; value INST_NONE: given by a file or model */
    const char *file, *path;  /* name in the text; path */
    span at;
} flat_expect;
typedef struct flat_experiment {
    const char *name; /* NULL: none */
    span at;
    inst start, stop;        /* parameter expressions; INST_NONE: 0, or no stop */
    inst rtol, atol;         /* INST_NONE: default */
    inst max_step, max_time; /* INST_NONE: none */
    bool equilibrium;
    span equilibrium_at;
    const char *solver; /* "auto", "explicit", "bdf", "variational"; NULL */
    VEC(flat_window) window;
    VEC(flat_observe) observe;
    VEC(flat_output) record; /* name is the text of the expression */
    VEC(flat_expect) expect;
} flat_experiment;

typedef struct flat_model {
    const char *name, *text;
    span at;
    const ast_model *ast;
    const ast_experiment *ast_experiment;
    pool *pool;
    arena *arena;
    names *names;
    sources *sources;
    unit_system *units;
    VEC(flat_var) var;
    VEC(const unit *) unit; /* of variables, each once */
    map unit_number;        /* the index of each */
    VEC(flat_said) said;
    VEC(flat_literal) literal;
    struct flat_names *name_of; /* names that were made on request */
    map read_of;                /* element or junction (flat_note_read) -> place where an expression first reads it */
    VEC(span) read_at;
    VEC(var_id) slot;
    VEC(flat_element) element;
    VEC(flat_law) law;
    VEC(flat_port) port;
    VEC(flat_port_said) port_said;
    VEC(flat_bond) bond;
    VEC(flat_junction) junction;
    VEC(flat_domain) domain;
    VEC(flat_incidence) incidence;
    VEC(flat_initial) initial; /* for ports and junctions; only stated ones */
    VEC(flat_output) output;
    VEC(flat_origin) origin;
    VEC(flat_when) when;
    VEC(flat_reinit) reinit;
    VEC(flat_draw) draw;
    VEC(flat_delay) delay;
    VEC(flat_weight) weight;
    VEC(flat_weighed) weighed;
    VEC(flat_opening) opening;
    flat_experiment experiment;
} flat_model;

/* The law of a port: its own, or that of its pair. */
static inline const flat_law *
port_law(const flat_model *f, uint32_t port)
{
    const flat_element *el = &f->element.at[f->port.at[port].element];
    uint32_t k = port - el->port0;

    return &f->law.at[el->law0 + (el->type == EL_TF || el->type == EL_GY ? k / 2 : k)];
}
/* Is it a one-port that relates effort and flow: a resistor, ideal diode or switch? */
static inline bool
port_is_resistive(const flat_model *f, uint32_t port)
{
    const flat_element *el = &f->element.at[f->port.at[port].element];

    return el->type == EL_R || (el->nlaws && (el->type == EL_SE || el->type == EL_SF) && port_law(f, port)->switched);
}
static inline bool
is_source(const flat_element *e)
{
    return element_is_source(e->type);
}
static inline bool
is_two_port(const flat_element *e)
{
    return element_is_two_port(e->type);
}
/* The name of its bond; NULL: it has none. */
static inline const char *
port_bond_name(const flat_model *f, const flat_port *p)
{
    return f->port_said.at[p->said].bond;
}
/* Of a field's port, such as "plate.gap"; NULL: the element's name suffices. */
static inline const char *
port_own_name(const flat_model *f, uint32_t port)
{
    return f->port_said.at[f->port.at[port].said].name;
}
/* "plate.gap" or the element's name */
static inline const char *
port_name(const flat_model *f, uint32_t port)
{
    const char *own = port_own_name(f, port);

    return own ? own : f->element.at[f->port.at[port].element].name;
}
static inline bool
port_has_momentum(const flat_model *f, uint32_t port)
{
    return (f->element.at[f->port.at[port].element].type == EL_I) != f->port.at[port].crossed;
}

inst flat_inst(flat_model *f, node root, const var_id *slot, uint32_t n); /* copies the slots */
static inline const var_id *
inst_slots(const flat_model *f, inst i)
{
    return f->slot.at ? f->slot.at + i.first : NULL;
}
/* name NULL: name and place are those of its owner. */
var_id flat_add_var(flat_model *f, enum var_kind kind, uint32_t owner, const char *name, span at);
/* name NULL: the text at the place. */
var_id flat_add_literal(flat_model *f, double value, const char *name, span at);
/* Adds a port with the names of its bond and its own; NULL: it has none. */
uint32_t flat_add_port(flat_model *f, flat_port p, const char *bond, const char *name);
/* NULL: unknown, or a pure number */
static inline const unit *
var_unit(const flat_model *f, var_id v)
{
    return f->unit.at[f->var.at[v].unit_index];
}
void var_set_unit(flat_model *f, var_id v, const unit *u);
static inline const flat_said *
var_said(const flat_model *f, var_id v)
{
    const flat_var *x = &f->var.at[v];

    return &f->said.at[x->kind == VAR_LITERAL ? f->literal.at[x->said].said : x->said];
}
/* The same, for writing. */
flat_said *var_say(flat_model *f, var_id v);
/* The name in the model's words: "k_s1", "body.f", "spring_s.q". Names made here live as long as the model; not
 * thread-safe. */
const char *var_name(const flat_model *f, var_id v);
const char *var_name_in(const flat_model *f, var_id v, arena *a); /* a copy in the arena; NULL if it has no name */
span var_at(const flat_model *f, var_id v);
/* A junction's variable as the text writes it at an element: "source.e" of this port. In the arena. */
const char *var_name_at_port(const flat_model *f, var_id v, uint32_t port, arena *a);
static inline inst
var_def(const flat_model *f, var_id v)
{
    return var_said(f, v)->def;
}
static inline inst
var_init(const flat_model *f, var_id v)
{
    return var_said(f, v)->init;
}
static inline const unit *
var_display(const flat_model *f, var_id v)
{
    return var_said(f, v)->display;
}
static inline double
var_value(const flat_model *f, var_id v) /* of a VAR_LITERAL */
{
    return f->literal.at[f->var.at[v].said].value;
}
/* Notes where an expression first reads an element or junction. */
void flat_note_read(flat_model *f, bool junction, uint32_t index, span at);
span flat_read_at(const flat_model *f, bool junction, uint32_t index);
/* Fills incidence, inc0, ninc and the breadth-first positions of variables (starting at the first declared element).
 * The signs of the balances are set here. */
void flat_connect(flat_model *f);
static inline const flat_domain *
junction_domain(const flat_model *f, uint32_t junction)
{
    uint32_t d = f->junction.at[junction].domain;

    return d ? &f->domain.at[d - 1] : NULL;
}
/* Text of an inst in the model's names. */
void flat_print(const flat_model *f, inst i, strbuf *out);
/* Label of a junction in tables: a junction without a name is labelled by what is connected to it other than this
 * port. */
const char *junction_label(const flat_model *f, uint32_t junction, uint32_t port);
/* Name and unit of output k (outputs, then recorded expressions). */
const flat_output *flat_output_at(const flat_model *f, size_t k);
/* The number of the output with that name; NO_INDEX: there is none. */
size_t flat_find_output(const flat_model *f, const char *name);
/* Prints the graph for `--dump graph`. */
void flat_dump(const flat_model *f, FILE *out);
void flat_free(flat_model *f); /* does not free the arena, names, sources and units */

#endif
