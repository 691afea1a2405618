/* block_room.h - memory for solving an evaluator's blocks
 *
 * Small blocks, which keep little from one solution to the next, share work arrays: with thousands of blocks these stay
 * in the cache.
 */
#ifndef BG_BLOCK_ROOM_H
#define BG_BLOCK_ROOM_H

#include "factor.h"
#include "routine.h"

/* Arrays are [n], except `value`. */
struct block_room {
    double *value, *r, *z, *step, *trial;
    /* greatest weight in this iteration, and at accepted points: residuals below ROUNDED times it count as zero */
    double *most;
    double *before; /* residuals before a step */
    double *reach;  /* greatest size of the unknowns in this iteration and at accepted points */
    double *size;   /* powers of two */
};

struct block_run {
    factor *factor;
    struct block_room *at;
    double *weight; /* [n] of the residuals at the last point */
    bool factored;  /* the constant matrix is factored for the present parameters */
    bool serves;    /* the last step with these factors left a small residual: they are used again */
    bool old;       /* the factors are those of an earlier matrix than `value` */
    bool sized;     /* the columns of the factored matrix were scaled by `size` */
    bool keeps;     /* unknowns that the equations do not determine keep their values, */
    bool shares;    /* or are shared evenly */
    bool regular;   /* and so is the matrix of the last iteration */
    int8_t sense;   /* sign of its determinant at the solution; 0: unknown */
};

typedef struct block_rooms {
    struct block_room *room; /* one for all small blocks, then one for each other block, in order */
    double *numbers;         /* n numbers, for all of it */
    size_t n;
} block_rooms;

/* Blocks with at least `large` unknowns have arrays of their own. Sets each run's room and what it keeps, all zero. */
void block_rooms_open(block_rooms *rooms, const routine *g, uint32_t large, struct block_run *run);
void block_rooms_close(block_rooms *rooms);

#endif
