/* program.h - a set of expressions made executable: variables, classes, layout, schedule, code
 *
 * A program computes targets (expressions in the model's variables) and whatever they need, nothing else. Variables
 * read once are put where they are read; the others are materialised in the workspace w. Assignments of equal form are
 * a class: 64 or more become one loop kernel over class-ordered storage, fewer go into chunks of straight-line code.
 * Where machine code is kept from model to model every class has a kernel, since kernels are found again. Blocks of
 * equal form share their code. The schedule is data.
 *
 * Two steps, because the order of the states follows from the classes of their rates:
 *   program_plan   definitions, classes, positions of targets (out_index)
 *   program_code   slots resolved with the layout, schedule, machine code
 */
#ifndef BG_PROGRAM_H
#define BG_PROGRAM_H

#include "codegen.h"
#include "equations.h"
#include "parameter_store.h"

/* Where states and modes stand in x and m, by variable; UINT32_MAX elsewhere. */
typedef struct layout {
    const uint32_t *position;
} layout;

/* One assignment: a materialised variable or a target. */
typedef struct assign {
    inst def;   /* over states, materialised variables, modes, time, parameters */
    var_id var; /* VAR_NONE: a target */
    uint32_t target;
    uint32_t class_, index; /* number within the class */
} assign;

enum item_kind { ITEM_KERNEL, ITEM_CHUNK, ITEM_BLOCK };
typedef struct item {
    uint8_t kind;
    bool to_out;   /* kernels: write the output array, not w */
    uint32_t code; /* kernels: 2*class, + 1 for the variant through tables; else number of the chunk or block */
    gen_kernel *kernel;
    gen_chunk *chunk;
    const int64_t *base;
    const int32_t *const *table;
    int64_t obase, begin, end;
} item;

/* A block in this program: unknowns at w[w0 .. w0+n). */
typedef struct program_block {
    uint32_t block; /* in equations */
    uint32_t n, w0;
    VEC(inst) residual;                         /* with slots as in assign.def */
    VEC(uint32_t) residual_code, jacobian_code; /* numbers of chunks, located: r[n]; value[nonzeros] */
    gen_located **residual_chunk, **jacobian_chunk;
    int64_t *column_start, *row; /* pattern of the partial derivatives, compressed columns */
} program_block;

/* Straight-line code: assignments over fixed places, kept so that it can be generated again, optimised. at: of located
 * code, its places; NULL: it contains them. */
typedef struct chunk {
    struct gen_assign *assign;
    size_t n;
    uint32_t handle;
    int32_t *at;
} chunk;

typedef struct parameter_slot {
    inst def;
} parameter_slot;

typedef struct program {
    equations *e;
    gen *gen;
    arena *arena;
    VEC(assign) assign;
    VEC(program_block) block;
    VEC(chunk) chunk;
    VEC(item) item;
    uint32_t *w_position; /* by variable: place in w, UINT32_MAX: not materialised */
    uint32_t nw, ntargets;
    uint32_t *out_index; /* of each target: its place in the output array */
    VEC(parameter_slot) parameter;
    double *p;               /* their values */
    readers by_parameter;    /* which of them read a variable; first NULL: not asked for yet */
    struct planner *planner; /* between plan and code */
    size_t nclasses, nkernels;
    size_t work;      /* operations of one run */
    size_t irregular; /* of them, in straight-line code */
    bool optimised;
    double code_seconds; /* CPU time that code generation took so far */
    bool keep_ir;
    char *ir; /* text of the code before it is compiled, where asked for */
} program;

/* target_position: place of each target along the graph, for the order of class members; NULL: as they come. */
program *program_plan(equations *e, const inst *target, const uint32_t *target_position, uint32_t n);
/* Quick code, or optimised from the start (long_run). False with a diagnostic when LLVM fails. */
bool program_code(program *g, layout l, bool long_run);
/* The same code again, optimised: worth its time once the program has run long enough. Both give the same bits. */
bool program_optimise(program *g);
void program_free(program *g);
/* Computes parameter data from the values of parameters and literals (by variable). */
void program_set_parameters(program *g, const double *value);
/* The same of what reads the n that changed. False: nothing does. */
bool program_follow_parameters(program *g, const double *value, const var_id *changed, size_t n);

#endif
