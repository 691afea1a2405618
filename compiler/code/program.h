/* program.h - turns a set of expressions into executable form: variables, classes, layout, schedule, code
 *
 * A program computes targets (expressions in the model's variables) and what they need, nothing else. Variables that
 * are read once are substituted; the others are stored in the workspace w. Assignments of equal form are a class: a
 * class of 64 or more becomes one loop kernel over class-ordered storage, a smaller one goes into chunks of
 * straight-line code. If machine code is kept from model to model, every class has a kernel, since kernels can be
 * reused. Blocks of equal form share their code. The schedule is data.
 *
 * There are two steps, because the order of the states follows from the classes of their rates:
 *   program_plan   definitions, classes, positions of targets (out_index)
 *   program_code   layout of slots, schedule, machine code: a routine (routine.h)
 */
#ifndef BG_PROGRAM_H
#define BG_PROGRAM_H

#include "equations.h"
#include "routine.h"

/* Index of states in x and of modes in m, by variable; NONE for others. */
typedef struct layout {
    const uint32_t *position;
} layout;

/* One assignment: a stored variable or a target. */
typedef struct assign {
    inst def;   /* over states, stored variables, modes, time, parameters */
    var_id var; /* VAR_NONE: a target */
    uint32_t target;
    uint32_t class_, index; /* number within the class */
} assign;

/* A block for the planner; its code belongs to the routine's program_block. */
typedef struct planned_block {
    uint32_t block;     /* in equations */
    VEC(inst) residual; /* with slots as in assign.def */
} planned_block;

/* Straight-line code: assignments over fixed places, kept so that optimised code can be generated later. */
typedef struct chunk {
    struct gen_assign *assign;
    size_t n;
    uint32_t handle;
    /* for blocks, whose code gets the places of its data as arguments: those of the first block; NULL: another
     * chunk */
    int32_t *place;
} chunk;

/* What a routine is made from, and later optimised from. One thread at a time. */
typedef struct program {
    equations *e;
    arena *arena;
    routine *routine; /* positions of targets and variables after planning; complete once it has code */
    bool given;       /* it belongs to the caller */
    VEC(assign) assign;
    VEC(planned_block) block; /* parallel to the routine's */
    VEC(chunk) chunk;
    VEC(item) item;      /* the schedule */
    VEC(inst) parameter; /* parallel to the routine's */
    struct planner *planner;
    size_t nclasses, nkernels;
    size_t irregular;    /* number of operations of a run in straight-line code */
    double code_seconds; /* CPU time of code generation so far */
    bool keep_ir;
    char *ir; /* text of the code before compilation, on request */
} program;
/* Programs whose routines are in use; freed when these can no longer be optimised. */
typedef struct program_list {
    program **at;
    size_t n, cap;
} program_list;

/* Targets being collected: expressions, with the position of each in the graph. */
typedef struct target_list {
    VEC(inst) at;
    VEC(uint32_t) position;
} target_list;
void target_add(target_list *t, inst i, uint32_t position);
void target_add_rates(target_list *t, const equations *e);         /* those of all states */
void target_add_var(target_list *t, const equations *e, var_id v); /* at its own position */

/* target_position: position of each target in the graph, which orders the members of classes; NULL: as given. */
program *program_plan(equations *e, const inst *target, const uint32_t *target_position, uint32_t n);
program *program_plan_list(equations *e, target_list *t); /* frees the list */
/* Generates quick code, or optimised code (long_run). False with a diagnostic if LLVM fails. */
bool program_code(program *g, layout l, bool long_run);
/* Generates optimised code: worth the time once the program has run long enough. Both give the same bits. */
bool program_optimise(program *g);
/* Writes C instead: the functions, and `rates` that calls them (codegen_c.h). value: of parameters and literals. Needs
 * a planned program. */
void program_write_c(program *g, layout l, const double *value, strbuf *out);
/* The routine, which then belongs to the caller (routine_free). */
routine *program_give(program *g);
/* Frees the routine too, unless it was given away. */
void program_free(program *g);

#endif
