/* equations.h - every variable gets one definition or belongs to a block
 *
 * Made from the flat graph and its causality: laws in the direction of their strokes, balances, dependent storage
 * through time derivatives, conditions frozen as modes, loops found (Tarjan) and collected into blocks. Definitions are
 * templates with slots; nothing here depends on parameter values.
 */
#ifndef BG_EQUATIONS_H
#define BG_EQUATIONS_H

#include "causality.h"
#include "inst.h"
#include "kinds.h"

enum def_kind {
    DEF_NONE,     /* not used by anything */
    DEF_GIVEN,    /* time, parameter, literal, mode */
    DEF_STATE,    /* index: state */
    DEF_EXPLICIT, /* def */
    DEF_BLOCK,    /* index: block */
    DEF_HELD /* index: in held; determined by ideal switches, constant while everything else is evaluated (switched.h)
              */
};
typedef struct eq_var {
    uint8_t kind, by; /* by: enum defined_by */
    bool from_one;    /* unknown of a block that is the result of an exponential: starts at 1; others start at 0 */
    union {
        uint32_t index;
        uint32_t rank; /* of DEF_EXPLICIT: order of evaluation, see eq_rank */
    };
    inst def;
    uint32_t of; /* the law, junction, ... that `by` refers to */
} eq_var;

typedef struct eq_state {
    var_id var, rate;  /* rate: the variable that is its time derivative */
    uint32_t element;  /* storage element, or NONE */
    uint32_t port;     /* its port */
    bool only_outputs; /* a pure integral that only outputs read: no part of an equilibrium (rest.h) */
} eq_state;

/* residual[i] = 0 for all unknowns together; residuals depend on unknowns and on what is evaluated before. */
typedef struct eq_block {
    uint32_t unknown0, residual0, n;
    bool linear;   /* affine in the unknowns */
    bool constant; /* and the coefficients depend on parameters only */
    uint32_t rank;
    span at; /* of its first element, for messages */
} eq_block;

typedef struct eq_mode {
    var_id var;
    uint8_t kind; /* enum mode_kind (kinds.h) */
    inst g;
    uint32_t table;
    uint32_t partner; /* the other mode of a sign(x); for a condition on that x its stick mode */
    int8_t side;      /* for a condition on x: +1 where g is x, -1 where it is -x; 0: no sign has this x */
    bool corner;      /* only min, max and abs read it: nothing jumps where it changes */
    bool relay;       /* of a sign(x): only relays read it (freeze.h) */
    bool apart;       /* only conditions of events, what these set, and recorded values read it */
    /* g is linear in time with parameter coefficients: slope and offset are parameter expressions. count: or in time
     * and the value of that mode (a known floor()), which `by` goes with; else NONE */
    bool known;
    inst slope, offset, by;
    uint32_t count;
    span at;
} eq_mode;

/* sign(x): its value s is `slip` while x is not 0, and the value that keeps x at 0 while `stick` is on (freeze.h). */
typedef struct eq_sign {
    var_id s;
    inst x;
    uint32_t slip, stick;
    bool relay; /* only relays read it (freeze.h) */
    span at;
} eq_sign;

/* A relay on the border of a sign whose jump varies. */
typedef struct eq_jump {
    uint32_t sign;
    inst by;
} eq_jump;

/* A held unknown that takes over where a law is near its limit (approach.h), and the mode that tells how near that is.
 */
typedef struct eq_near {
    var_id held;
    uint32_t mode;
} eq_near;

/* A value and its time derivatives with the held unknowns constant; VAR_NONE: zero from there on. */
typedef struct eq_expansion {
    var_id d[3];
} eq_expansion;
/* at: place of the ideal switch whose condition it is; else unknown */
typedef struct eq_row {
    eq_expansion r;
    span at;
} eq_row;
/* The difference whose sign is a mode of a net. */
typedef struct eq_watch {
    uint32_t mode;
    eq_expansion g;
} eq_watch;
/* Held unknowns that depend on each other, with as many conditions, the differences whose signs are their modes, and
 * all modes that any of it reads. */
typedef struct eq_net {
    uint32_t held0, n, watch0, nwatch, mode0, nmodes;
    bool curved; /* its conditions are nonlinear in the unknowns because they include other laws */
    span at;
} eq_net;

/* An element that a run can do without: what it imposes is multiplied by a parameter of 1. With 0 it adds nothing to
 * its junction, or (rests) its junction's common variable is zero. factor VAR_NONE: not possible for the element. */
typedef struct eq_part {
    var_id factor;
    bool rests;
} eq_part;

/* A cycle of signals, from v back to v. */
typedef struct eq_circle {
    var_id v;
    const char *path;
} eq_circle;

typedef struct equations {
    flat_model *f;
    const causal *c;
    composer *composer;
    /* [port] storage with derivative causality whose law is flat somewhere: what others give it does not tell what it
     * stores, so that is a state too, and its flow (C) or effort (I) keeps the law; while building only */
    bool *loose;
    defined defining; /* while building: origin of the current definitions */
    VEC(eq_var) var;  /* parallel to f->var */
    VEC(eq_state) state;
    VEC(eq_block) block;
    VEC(var_id) unknown;
    VEC(inst) residual;
    VEC(eq_mode) mode;
    VEC(eq_sign) sign;
    VEC(eq_jump) jump;
    VEC(inst) power;        /* of each element: power into it; only what runs needs them: see equations_powers */
    VEC(var_id) constraint; /* zero at every instant: functions of states and time (constraints.h) */
    VEC(var_id) held;
    VEC(eq_row) row; /* parallel to held: conditions that are zero together */
    VEC(eq_watch) watch;
    VEC(uint32_t) net_mode;
    VEC(eq_net) net;
    VEC(eq_near) near;
    VEC(inst) output; /* outputs, then recorded expressions */
    VEC(eq_circle) circle;
    bool removable;
    VEC(eq_part) part; /* by element, if elements are to be removable */
    uint32_t nranks;
    /* [junction] the junction that determines the value of its common variable: itself, except for bonds between two
     * junctions of one kind; until all balances are made */
    uint32_t *equal;
    size_t nloops;           /* number of loops, those with closed forms included */
    struct code_store *code; /* machine code shared between models (codegen.h); NULL: none */
} equations;

/* The place of an explicit variable or an unknown of a block in the order of evaluation. */
static inline uint32_t
eq_rank(const equations *e, var_id v)
{
    const eq_var *d = &e->var.at[v];

    return d->kind == DEF_EXPLICIT ? d->rank : d->kind == DEF_BLOCK ? e->block.at[d->index].rank : 0;
}

/* Compares variables by it, for qsort_r with the equations as context. */
static inline int
eq_compare_rank(const void *a, const void *b, void *ctx)
{
    const equations *e = ctx;
    uint32_t x = eq_rank(e, *(const var_id *)a), y = eq_rank(e, *(const var_id *)b);

    return (x > y) - (x < y);
}

/* Finds the directions in which laws can be solved: arrays of ports and elements for causality() (causality.h). Also
 * freezes conditions and turns literals into data in all insts of f, so that equal laws are equal templates: call it
 * once, before causality(). */
equations *equations_prepare(flat_model *f);
void equations_ways(const equations *e, enum law_way *way, bool *varying, bool *invertible, bool *stated);
/* Makes everything else. False after errors. */
bool equations_build(equations *e, const causal *c);
/* Makes the powers of the elements. */
void equations_powers(equations *e);
void equations_free(equations *e);

/* Does the expression depend on parameters and literals only? */
bool inst_is_parameter(const flat_model *f, inst i);
/* The place and name of v where something is wrong with its value: of a junction's variable that an element's law gives
 * those of the element. The name is in the arena; NULL: it has none. */
span equations_place(const equations *e, var_id v);
const char *equations_name(const equations *e, var_id v, arena *to);
size_t equations_nloops(const equations *e);
/* Prints state equations, blocks and outputs in the model's names. */
void equations_dump(const equations *e, FILE *out);

/* Is d zero for some combination of its conditions? A condition may choose in several places: max(e, 0) + 0.01*min(e,
 * 0) has a slope on both sides. */
bool equations_is_zero_somewhere(pool *p, node d);

#endif
