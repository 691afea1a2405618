/* routine.h - a program that is finished: schedule, blocks, parameter data, machine code
 *
 * Refers to variables by number and to nothing that it was made from but tables (expr.h). Any number of evaluators
 * (evaluate.h) in any threads run one routine; what they write is theirs. Once made it stays as it is; its machine code
 * alone may be exchanged for optimised code, which gives the same bits: who runs the former keeps it until it takes the
 * latter.
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
    uint32_t code; /* kernels: 2*class, + 1 for the variant through tables; else number of the chunk */
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

/* What blocks of equal form have in common. */
typedef struct block_class {
    VEC(block_code) residual, partial; /* r[n]; value[nonzeros] */
    int64_t *column_start, *row;       /* pattern of the partial derivatives, compressed columns */
    uint32_t nplaces;
} block_class;

/* A block: unknowns at w[w0 .. w0+n). */
typedef struct program_block {
    uint32_t block;    /* in equations */
    uint32_t unknown0; /* of all blocks' unknowns its first */
    uint32_t n, w0;
    bool linear, constant; /* affine in the unknowns; and the coefficients depend on parameters only */
    bool smooth;           /* reads no modes */
    const double *first;   /* [n] where the unknowns are sought from when nothing is known of them */
    uint32_t class_;
    const int64_t *column_start, *row; /* its class's */
    const int32_t *place;              /* where its data stand */
} program_block;

/* The schedule with the addresses of its code. */
typedef struct machine_code {
    gen *gen;
    item *item;
    gen_located **located; /* by number of a chunk, of those that blocks have */
    bool optimised;
    size_t users;
} machine_code;

typedef struct routine {
    arena *arena;
    size_t nitems, nvars;
    VEC(program_block) block;
    VEC(block_class) block_class;
    uint32_t *w_position; /* by variable: place in w, NONE: not materialised */
    uint32_t nw, ntargets;
    uint32_t *out_index; /* of each target: its place in the output array */
    formula_book book;
    VEC(formula) parameter;     /* data that code reads, over parameters and literals */
    readers_later by_parameter; /* which of them read a variable */
    size_t work;                /* operations of one run */
    pthread_mutex_t lock;       /* of what follows */
    machine_code *code;
} routine;

routine *routine_new(size_t nvars);
void routine_free(routine *r);
/* Other code from now on. */
void routine_exchange(routine *r, machine_code *code);
/* The code as it is now, until it is given back. */
machine_code *routine_take(routine *r);
void routine_give_back(routine *r, machine_code *code);

#endif
