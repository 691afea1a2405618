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
 *   program_code   slots resolved with the layout, schedule, machine code: a routine (routine.h)
 */
#ifndef BG_PROGRAM_H
#define BG_PROGRAM_H

#include "equations.h"
#include "routine.h"

/* Where states and modes stand in x and m, by variable; NONE elsewhere. */
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

/* A block as it is read here; its code is the routine's program_block. */
typedef struct planned_block {
    uint32_t block;     /* in equations */
    VEC(inst) residual; /* with slots as in assign.def */
} planned_block;

/* Straight-line code: assignments over fixed places, kept so that it can be generated again, optimised. */
typedef struct chunk {
    struct gen_assign *assign;
    size_t n;
    uint32_t handle;
    int32_t
        *place; /* of blocks, whose code is told where data stand: where those of the first block do; NULL: another */
} chunk;

/* What a routine is made from, and made better from later. Not for two threads at a time. */
typedef struct program {
    equations *e;
    arena *arena;
    routine *routine; /* positions of targets and variables once it is planned; whole when it has code */
    bool given;       /* it is another's */
    VEC(assign) assign;
    VEC(planned_block) block; /* parallel to the routine's */
    VEC(chunk) chunk;
    VEC(item) item;      /* the schedule */
    VEC(inst) parameter; /* parallel to the routine's */
    struct planner *planner;
    size_t nclasses, nkernels;
    size_t irregular;    /* of the operations of one run, those in straight-line code */
    double code_seconds; /* CPU time that code generation took so far */
    bool keep_ir;
    char *ir; /* text of the code before it is compiled, where asked for */
} program;
/* Programs whose routines are in use: they go when nobody improves these any more */
typedef struct program_list {
    program **at;
    size_t n, cap;
} program_list;

/* Targets that are gathered: expressions, and the place of each along the graph. */
typedef struct target_list {
    VEC(inst) at;
    VEC(uint32_t) position;
} target_list;
void target_add(target_list *t, inst i, uint32_t position);
void target_add_rates(target_list *t, const equations *e);         /* of all states */
void target_add_var(target_list *t, const equations *e, var_id v); /* at its own place */

/* target_position: place of each target along the graph, for the order of class members; NULL: as they come. */
program *program_plan(equations *e, const inst *target, const uint32_t *target_position, uint32_t n);
program *program_plan_list(equations *e, target_list *t); /* the list goes */
/* Quick code, or optimised from the start (long_run). False with a diagnostic when LLVM fails. */
bool program_code(program *g, layout l, bool long_run);
/* The same code again, optimised: worth its time once the program has run long enough. Both give the same bits. */
bool program_optimise(program *g);
/* C instead: the functions, and `rates` that calls them (codegen_c.h). value: of parameters and literals. Of a program
 * that is planned. */
void program_write_c(program *g, layout l, const double *value, strbuf *out);
/* The routine, which is the caller's from now on (routine_free). */
routine *program_give(program *g);
/* The routine goes too, unless it was given. */
void program_free(program *g);

#endif
