/* image.h - a model as its instances share it, and what makes its parts
 *
 * An image is data and code over numbers: where states stand, how parameters are computed, schedules, blocks, kernels.
 * It refers to nothing of the compiler's. Its parts are made when they are first asked for, by a maker that has the
 * compiler's structures; a part that is there stays as it is (routine.h), so that any number of threads run it. What a
 * run writes is an instance's (model_inside.h).
 *
 * threads  whoever touches what the maker has (the pool grows, slots move) holds its lock; who holds it may take it
 *          again. Parts are read without it.
 */
#ifndef BG_IMAGE_H
#define BG_IMAGE_H

#include "bounds.h"
#include "clocks.h"
#include "equations.h"
#include "initial_program.h"
#include "interpret.h"
#include "jacobian.h"
#include "model_graph.h"
#include "parameter_store.h"
#include "partials.h"
#include "poles.h"
#include "storage.h"

typedef VEC(var_id) var_list;

struct image_mode {
    enum mode_kind kind;
    span at;
    const ex_table *table;
    uint32_t partner;
    int8_t side;
    bool corner; /* nothing jumps where it turns */
    bool known;  /* switches at a known time, g = offset + slope*t */
};

/* What model_graph.h gives, and the formulas of the moduli */
typedef struct image_graph {
    model_graph graph;
    formula_book book;
    VEC(formula) ratio;
    arena *arena;
} image_graph;
void image_graph_free(image_graph *g);
void image_reads_free(model_reads *r);

struct image_when {
    struct model_when when;
    formula period, offset; /* unless NAN and 0 */
    bool periodic;
    const var_id *reads; /* of its condition, through other conditions too */
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
    bool said; /* what it was before */
};
enum { SETTING_START, SETTING_STOP, SETTING_RTOL, SETTING_ATOL, SETTING_MAX_STEP, SETTING_MAX_TIME, SETTING_COUNT };
/* What an experiment sets; absent: INST_NONE in the text */
struct image_setting {
    formula value;
    bool there;
};

typedef struct image {
    arena *arena;               /* names and texts */
    table_set *tables;          /* that formulas and machine code read where they lie */
    const char *name, **output; /* of the model, and of the text's outputs */
    span at, run_at;
    sources *sources;
    size_t nvars, nstates, nmodes, nheld, noutputs, nelements, nunknowns, nblocks, nconstraints;
    bool iterates;                             /* has nonlinear blocks */
    uint32_t *position;                        /* layout: of states in x, of modes in m, by variable */
    uint32_t *state_of;                        /* state number -> number in the equations */
    uint32_t *state_port;                      /* by state: the port of storage whose it is, UINT32_MAX: of none */
    bool *stated;                              /* by state */
    _Atomic(struct model_variable *) variable; /* [nvars]; NULL: nobody asked yet */
    _Atomic(struct model_state *) state;       /* [nstates]; likewise */
    _Atomic(image_graph *) graph;
    _Atomic(model_reads *) reads;
    arena *variable_names, *state_names;
    VEC(struct image_when) when;
    VEC(struct image_reinit) reinit;
    VEC(struct image_draw) draw;
    VEC(struct image_delay) delay;
    struct model_experiment experiment; /* but for the numbers: */
    struct image_setting setting[SETTING_COUNT];
    VEC(formula) window; /* from, to */
    span *constraint_at;
    size_t nbond_values, nweights, ndeclared;
    parameter_program *parameters;
    struct image_mode *mode;
    struct model_removal *element; /* NULL: none was to be removable */
    VEC(formula) line;             /* slope and offset of each mode; of those that are not known anything */
    readers_later line_readers;
    _Atomic(initial_program *) initial;
    _Atomic(storage_program *) storage;
    _Atomic(interpret_program *) numbers;
    _Atomic(routine *) part[PART_COUNT]; /* NULL: not asked for yet */
} image;

typedef struct maker {
    pthread_mutex_t lock;
    flat_model *f;
    causal *c;
    equations *e;
    bool long_run;
    program *program[PART_COUNT];
    jacobian_form *jacobian, *net_partials;
    VEC(partials_form *) partials;
    VEC(condition_program *) conditions;
    const char **mode_text;
    clock_list clock;
    bend_list bend;
    pole_list pole;
    bool clocks_known, poles_known;
    double compile_seconds;
} maker;

image *image_new(maker *k);
void image_free(image *m);
maker *maker_new(flat_model *f, causal *c, equations *e, bool long_run);
void maker_free(maker *k);
void maker_lock(maker *k);
void maker_unlock(maker *k);

/* The variables' table, made unless it is there. */
const struct model_variable *image_variables(image *m, maker *k);
const struct model_state *image_states(image *m, maker *k);
const image_graph *image_graph_of(image *m, maker *k);
/* Parts, made unless they are there. NULL with a diagnostic when that fails. */
routine *image_part(image *m, maker *k, enum model_part part);
const jacobian_form *image_jacobian(const image *m, maker *k);
const jacobian_form *image_net_partials(const image *m, maker *k);
const partials_form *image_partials(const image *m, maker *k, const var_id *by, size_t n, size_t noutputs, bool held);
const initial_program *image_initial(image *m, maker *k);
const storage_program *image_storage(image *m, maker *k);
const interpret_program *image_numbers(image *m, maker *k);
/* For these variables, in their order. */
const condition_program *image_conditions(const image *m, maker *k, const var_id *var, size_t n);
double maker_seconds(const maker *k); /* CPU time that they took */

#endif
