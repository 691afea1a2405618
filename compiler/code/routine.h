/* routine.h - a finished program: schedule, blocks, parameter data, machine code
 *
 * Refers to variables by number, and to nothing that it was made from except tables (expr.h). Any number of evaluators
 * (evaluate.h) in any threads run one routine; what they write is theirs. It does not change after it is made, except
 * that its machine code may be exchanged for optimised code with the same results: evaluators that run the old code
 * keep it until they take the new one.
 */
#ifndef BG_ROUTINE_H
#define BG_ROUTINE_H

#include <pthread.h>

#include "codegen.h"
#include "formula.h"

enum item_kind { ITEM_KERNEL, ITEM_CHUNK, ITEM_BLOCK };
typedef struct item {
    uint8_t kind;
    bool to_out;   /* kernels: write the output array, not w */
    uint32_t code; /* kernels: 2*class, + 1 for the variant with tables; otherwise number of the chunk */
    gen_kernel *kernel;
    gen_chunk *chunk;
    const int64_t *base;
    const int32_t *const *table;
    int64_t obase, begin, end; /* members of a class; blocks */
} item;

/* A chunk of a block: its places begin at place[place0] of each block. */
typedef struct block_code {
    uint32_t chunk, place0;
} block_code;

/* Common data of blocks of equal form. */
typedef struct block_class {
    VEC(block_code) residual, partial; /* r[n]; value[nonzeros] */
    int64_t *column_start, *row;       /* pattern of the partial derivatives, compressed columns */
    uint32_t nplaces;
} block_class;

/* A block: unknowns at w[w0 .. w0+n). */
typedef struct program_block {
    uint32_t block;    /* in equations */
    uint32_t unknown0; /* number of its first unknown among those of all blocks */
    uint32_t n, w0;
    bool linear, constant; /* affine in the unknowns; and the coefficients depend on parameters only */
    bool smooth;           /* reads no modes */
    const double *first;   /* [n] start of the iteration when nothing is known of the unknowns */
    uint32_t class_;
    const int64_t *column_start, *row; /* its class's */
    const int32_t *place;              /* places of its data */
} program_block;

/* The schedule, with addresses of its code. */
typedef struct machine_code {
    gen *gen;
    item *item;
    gen_located **located; /* by number of the chunks of blocks */
    bool optimised;
    size_t users;
} machine_code;

typedef struct routine {
    arena *arena;
    size_t nitems, nvars;
    VEC(program_block) block;
    VEC(block_class) block_class;
    uint32_t *w_position; /* by variable: index in w; NONE: not stored */
    uint32_t nw, ntargets;
    uint32_t *out_index; /* of each target: its place in the output array */
    formula_book book;
    VEC(formula) parameter;     /* data that code reads, over parameters and literals */
    readers_later by_parameter; /* which of them read a variable */
    size_t work;                /* number of operations of one run */
    pthread_mutex_t lock;       /* protects what follows */
    machine_code *code;
} routine;

routine *routine_new(size_t nvars);
void routine_free(routine *r);
/* Replaces the code. */
void routine_exchange(routine *r, machine_code *code);
/* The present code, kept until it is given back. */
machine_code *routine_take(routine *r);
void routine_give_back(routine *r, machine_code *code);

#endif
