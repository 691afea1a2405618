/* flat.h - the flat bond graph: plain arrays, ids are indexes, names on the side
 *
 * Made by elaboration from the syntax tree of one model (and one experiment, or none). Everything after it works on this and on nothing
 * hierarchical. Normal form:
 *   - a junction has one common variable (f of a 1, e of a 0) and a balance of the others;
 *   - an element port is always on a junction (a bond between two elements gets an implicit 1-junction);
 *   - a bond joins two junctions; between a 0 and a 1 it adds no variable (e is the 0's, f the 1's); between two of a kind it has
 *     a variable of its own (the one that is not common) and says that the common ones are equal.
 * Signs: a port's or bond's power is positive along its arrow. In a junction's balance what arrives counts +, what leaves -.
 */
#ifndef BG_FLAT_H
#define BG_FLAT_H

#include "ast.h"
#include "expr.h"
#include "units.h"

typedef uint32_t var_id;
#define VAR_NONE UINT32_MAX

/* template and what stands in its slots: slot[first .. first+n) of the flat model */
typedef struct inst { node root; uint32_t first, n; } inst;
#define INST_NONE ((inst){ NODE_NONE, 0, 0 })
static inline bool inst_known(inst i) { return i.root != NODE_NONE; }

enum var_kind {
    VAR_TIME,        /* id 0 */
    VAR_PARAM,       /* parameter, constant, input held constant: def over VAR_PARAM and VAR_LITERAL only */
    VAR_LITERAL,     /* a number of the text; value */
    VAR_SIGNAL,      /* signal, input given by a formula, hidden parts of expressions: def */
    VAR_INTEGRAL,    /* integral(e, e0): a state; def is its rate, init its initial value */
    VAR_COMMON,      /* common variable of junction `owner` */
    VAR_PORT,        /* what port `owner` adds to its junction's balance (effort at a 1, flow at a 0) */
    VAR_BOND,        /* own variable of a bond between junctions of one kind, `owner` */
    VAR_STORED,      /* q or p of the storage port `owner` */
    VAR_RATE,        /* time derivative of variable `owner`: der(expr) owns a hidden VAR_SIGNAL; defined by the equations stage */
    /* made by the equations stage: */
    VAR_MODE,        /* a frozen condition (0 or 1), or a table's piece */
    VAR_AUX
};
typedef struct flat_var {
    enum var_kind kind;
    uint32_t owner;
    const char *name;            /* in the model's words: "k_s1", "body.f", "spring_s.q" */
    span at;
    const unit *unit;            /* NULL: unknown or pure number */
    const unit *display;         /* as written, for tables and CSV; NULL: SI */
    double value;                /* VAR_LITERAL */
    inst def, init;
    uint32_t position;           /* along a breadth-first walk of the graph; neighbours are near */
} flat_var;

enum element_type { EL_SE, EL_SF, EL_R, EL_C, EL_I, EL_TF, EL_GY };
enum quantity { Q_EFFORT, Q_FLOW, Q_DISPLACEMENT, Q_MOMENTUM };     /* e f q p */

/* One-ports: `out` of the port = def over its other quantities, parameters, signals, time, anything readable.
 *   linear `= a`: R: e = a*f, C: q = a*e, I: p = a*f, Se: e = a, Sf: f = a.
 * Two-ports: def is the modulus n or r (TF: e_in = n*e_out, f_out = n*f_in; GY: e_in = r*f_out, e_out = r*f_in).
 * Residual sources (`such that`): def = 0 is the equation. Fields have one law a port. */
enum law_kind { LAW_ASSIGN, LAW_MODULUS, LAW_RESIDUAL };
typedef struct flat_law { enum law_kind kind; uint32_t port; enum quantity out; inst def; span at; } flat_law;

typedef struct flat_element {
    enum element_type type;
    bool modulated;              /* spelled MSe, MTF, ... */
    bool linear;                 /* law given as `= expr` */
    const char *name;
    uint32_t port0, nports;      /* two-ports: the in-port first */
    uint32_t law0, nlaws;
    span at;                     /* TYPE:name */
    const ast_stmt *stmt; const ast_node *node;
    uint32_t parent;             /* instance it belongs to, UINT32_MAX: the model itself */
    bool keep;                   /* experiment's keep */
} flat_element;

typedef struct flat_initial { uint32_t port, junction; enum quantity q; inst def; span at; } flat_initial; /* port or junction, the other UINT32_MAX */

typedef struct flat_port {
    uint32_t element, junction;
    int8_t sign;                 /* +1: arrow from the junction into the element; -1: out of it */
    var_id e, f;                 /* one is the junction's common variable, the other this port's VAR_PORT */
    var_id stored;               /* storage: q (C) or p (I), else VAR_NONE */
    const char *bond_name; span at;   /* of the bond; at: the arrow */
} flat_port;

typedef struct flat_bond {
    uint32_t from, to;           /* junctions */
    var_id own;                  /* VAR_BOND, VAR_NONE between a 0 and a 1 */
    const char *name; span at;
} flat_bond;

typedef struct flat_junction {
    uint8_t type;                /* 0 or 1 */
    bool implicit;
    const char *name;
    var_id common;
    span at;
    const ast_stmt *stmt; const ast_node *node;
    uint32_t inc0, ninc;         /* its incidences: flat.incidence[inc0 .. inc0+ninc) */
} flat_junction;

/* What meets a junction: a port or one end of a bond. sign: in the junction's balance (+1 arrives, -1 leaves). */
typedef struct flat_incidence { bool is_bond; uint32_t index; int8_t sign; } flat_incidence;

/* An output is also a VAR_SIGNAL of its name (others may read it); def is that one slot. Recorded expressions are outputs of their text. */
typedef struct flat_output { const char *name; inst def; const unit *unit, *display; span at; } flat_output;

/* ---- the experiment, resolved; values SI ---- */
typedef struct flat_window { inst from, to; } flat_window;
typedef struct flat_observe { uint32_t output; inst within; span at; } flat_observe;    /* within INST_NONE: not given */
typedef struct flat_experiment {
    const char *name;            /* NULL: none */
    span at;
    inst start, stop;            /* parameter expressions; INST_NONE: 0 and (no stop) */
    inst rtol, atol;             /* INST_NONE: default */
    bool equilibrium; span equilibrium_at;
    const char *solver;          /* "auto", "explicit", "bdf"; NULL */
    VEC(flat_window) window;
    VEC(flat_observe) observe;
    VEC(flat_output) record;     /* name is the text of the expression */
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
    VEC(var_id) slot;
    VEC(flat_element) element;
    VEC(flat_law) law;
    VEC(flat_port) port;
    VEC(flat_bond) bond;
    VEC(flat_junction) junction;
    VEC(flat_incidence) incidence;
    VEC(flat_initial) initial;   /* of ports and junctions; stated ones only */
    VEC(flat_output) output;
    flat_experiment experiment;
} flat_model;

inst flat_inst(flat_model *f, node root, const var_id *slot, uint32_t n);   /* copies the slots */
static inline const var_id *inst_slots(const flat_model *f, inst i) { return f->slot.at ? f->slot.at + i.first : NULL; }
var_id flat_add_var(flat_model *f, enum var_kind kind, uint32_t owner, const char *name, span at);
const char *element_type_name(enum element_type t);
/* Fills incidence, inc0, ninc and the breadth-first positions of variables (from the first declared element on). */
void flat_connect(flat_model *f);
/* Text of an inst in the model's names. */
void flat_print(const flat_model *f, inst i, strbuf *out);
/* Prints the graph for `--dump graph`. */
void flat_dump(const flat_model *f, FILE *out);
void flat_free(flat_model *f);   /* not the arena, names, sources, units */

#endif
