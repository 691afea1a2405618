/* image.h - a model as its instances share it
 *
 * An image is data and code over numbers: where states stand, how parameters are computed, schedules, blocks, kernels,
 * formulas for messages. It refers to nothing of the compiler's: not to the tree, the flat graph, causality, equations
 * or their pool. Beside it stand only what outlives all compilations that use it: units, texts and their places
 * (sources, for messages), machine code that models have in common, and tables, which it keeps (expr.h).
 *
 * What nobody asks for costs nothing: parts are made when they are first asked for, by a maker (maker.h) that has the
 * compiler's structures, or all of them when the image is closed (image_close), from when on there is no need of these.
 * What an analysis alone needs is no part of an image: machine code better than it has, derivatives by parameters that
 * nobody asked for before, second derivatives, symbolic forms. Who has the maker beside the image (compiled.h) has
 * them.
 *
 * A part that is there stays as it is (routine.h), so that any number of threads run it. What a run writes is an
 * instance's (model_inside.h).
 *
 * threads  parts are read without a lock; who makes one holds the maker's
 */
#ifndef BG_IMAGE_H
#define BG_IMAGE_H

#include "bounds_form.h"
#include "expressions.h"
#include "initial_program.h"
#include "interpret.h"
#include "jacobian.h"
#include "model_graph.h"
#include "net_form.h"
#include "parameter_store.h"
#include "partials.h"
#include "project.h"
#include "storage.h"

struct image_mode {
    enum mode_kind kind;
    span at;
    const ex_table *table;
    uint32_t partner;
    int8_t side;
    bool corner;    /* nothing jumps where it switches */
    bool relay;     /* for MODE_SIGN: only relays read it */
    bool apart;     /* no rate depends on it */
    bool known;     /* switches at a known time, g = offset + slope*t, */
    uint32_t count; /* + by*value of that mode, a known floor(); NONE: without */
    bool stored;    /* states, parameters and time alone determine it */
    uint32_t form;  /* of its difference */
    uint32_t of;    /* quantity that it compares with a threshold (program_thresholds.h); NONE: without one */
    bool above;     /* its difference is positive above the threshold */
};

/* The data of model_graph.h, and the formulas of the moduli. */
typedef struct image_graph {
    model_graph graph;
    formula_book book;
    VEC(formula) ratio;
    arena *arena;
} image_graph;

/* Tables of variables, with their names. */
typedef struct image_variables {
    struct model_variable *at; /* [nvars] */
    arena *names;
} image_variables;
typedef struct image_states {
    struct model_state *at; /* [nstates] */
    arena *names;
} image_states;
/* Unknowns of blocks, then of nets, with their names for messages. */
typedef struct image_unknowns {
    struct model_pole *at;
    arena *names;
} image_unknowns;
/* Parameters by name: hash -> the first in a list of those with that hash. A list begins with the last one declared. */
struct image_parameter {
    const char *name;
    var_id v;
    uint32_t next;
};
typedef struct image_parameters {
    map index;
    VEC(struct image_parameter) list;
    arena *names;
} image_parameters;

/* Clocks, and expressions of states that may vary strongly (model.h). */
typedef struct image_clocks {
    size_t n;
    span *at;             /* [n] */
    bool *waving;         /* [nmodes] its condition reads a sine of states; NULL: none does */
    bool hides;           /* conditions read, and no rates do, what may bend sharply */
    bool bends;           /* rates contain a function other than a quotient that may bend sharply */
    bounds_form *bounds;  /* of the clocks */
    bounds_form *bending; /* NULL: there are none */
} image_clocks;

/* States read by laws with infinite slopes (model_root_states). */
typedef struct image_roots {
    bool any, *fed;
} image_roots;

struct image_when {
    struct model_when when;
    formula period, offset; /* unless NAN and 0 */
    bool periodic;
    const var_id *reads; /* read by its condition, through other conditions too */
    size_t nreads;
};
struct image_reinit {
    uint32_t state;
    bool remembers;
};
struct image_draw {
    struct model_draw draw;
    formula seed;
};
struct image_delay {
    struct model_delay delay;
    formula by, before;
    bool said; /* its value before the start is given */
};
enum { SETTING_START, SETTING_STOP, SETTING_RTOL, SETTING_ATOL, SETTING_MAX_STEP, SETTING_MAX_TIME, SETTING_COUNT };
/* A setting of the experiment; INST_NONE: the text does not have it. */
struct image_setting {
    formula value;
    bool there;
};

/* A block of the equations: unknowns unknown0 .. unknown0+n */
struct image_block {
    uint32_t unknown0, n;
};

/* Parts made on first use. */
enum image_later {
    LATER_VARIABLES,
    LATER_STATES,
    LATER_UNKNOWNS,
    LATER_PARAMETERS, /* by name */
    LATER_GRAPH,
    LATER_READS,
    LATER_EXPRESSIONS,
    LATER_POLES,
    LATER_CLOCKS,
    LATER_ROOTS,
    LATER_PROJECTION,
    LATER_INITIAL,
    LATER_STORAGE,
    LATER_NUMBERS,
    LATER_JACOBIAN,
    LATER_NET_PARTIALS,
    LATER_COUNT
};

typedef struct image {
    arena *arena;               /* names and texts */
    table_set *tables;          /* read in place by formulas and machine code */
    const char *name, **output; /* of the model; of the outputs in the text */
    span at, run_at;
    sources *sources;
    size_t nvars, nstates, nmodes, nheld, noutputs, nelements, nunknowns, nblocks, nconstraints;
    bool iterates;             /* has nonlinear blocks */
    uint32_t *position;        /* layout: of states in x, of modes in m, by variable */
    uint32_t *state_port;      /* by state: the storage port to which it belongs; NONE: none */
    bool *stated;              /* by state */
    var_id *unknown;           /* [nunknowns] of blocks */
    struct image_block *block; /* [nblocks] */
    VEC(var_id) weight;        /* factor and offset of each operand with a weight */
    VEC(struct image_when) when;
    VEC(struct image_reinit) reinit;
    VEC(struct image_draw) draw;
    VEC(struct image_delay) delay;
    struct model_experiment experiment; /* except its numbers: */
    struct image_setting setting[SETTING_COUNT];
    VEC(formula) window; /* from, to */
    span *constraint_at;
    size_t nbond_values, ndeclared;
    parameter_program *parameters;
    struct image_mode *mode;
    struct model_removal *element;  /* NULL: elements are not removable */
    VEC(uint32_t) gate, gate_level; /* modes, and their levels (gates.h) */
    VEC(formula) line;              /* slope, offset and by of each known mode, threshold */
    VEC(uint32_t) others;           /* modes without a threshold (program_thresholds.h), */
    size_t nquantities;             /* and quantities that the others compare with theirs */
    readers_later line_readers;
    net_form *nets; /* NULL: no ideal switches */
    _Atomic(void *) later[LATER_COUNT];
    _Atomic(routine *) part[PART_COUNT]; /* NULL: not made yet */
    VEC(partials_form *) partials;       /* both: under the maker's lock, until it is closed */
    VEC(condition_program *) conditions;
} image;

void image_free(image *m);

#endif
