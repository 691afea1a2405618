/* evaluate_inside.h - declarations shared by evaluate.c and evaluate_blocks.c; no other file includes it */
#ifndef BG_EVALUATE_INSIDE_H
#define BG_EVALUATE_INSIDE_H

#include "block_room.h"
#include "evaluate.h"
#include "factor.h"

/* Entries of a block's matrix are scaled to 1: a pivot below this is a linear dependency, not a number. */
#define TINY_PIVOT 1e-13
/* number of unknowns of a block from which a factorisation costs more than another step with old factors */
enum { LEAST_KEPT = 100 };

struct evaluator {
    routine *g;
    machine_code *code;
    block_memory *memory;
    double *w, *p, *room; /* room: for formulas */
    struct block_run *block;
    block_rooms rooms;
    double t;
    const double *x, *modes;
    size_t work; /* number of operations executed in quick code */
};

/* Solves block k at the evaluator's point. Not 0: the block memory tells which block and row failed. */
int evaluator_run_block(evaluator *v, uint32_t k);

#endif
