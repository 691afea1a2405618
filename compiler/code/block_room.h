/* block_room.h - the numbers that solving an evaluator's blocks needs
 *
 * Small blocks, which keep little from one solution to the next, share the room in which they are solved: what is near
 * in memory is quick, where there are thousands of them.
 */
#ifndef BG_BLOCK_ROOM_H
#define BG_BLOCK_ROOM_H

#include "factor.h"
#include "routine.h"

/* [n] but `value` */
struct block_room {
    double *value, *r, *z, *step, *trial;
    double
        *most; /* greatest weight of this iteration, and of accepted points: below ROUNDED of it a residual is zero */
    double *before; /* residuals that a step set out from */
    double *reach;  /* greatest size of the unknowns in this iteration and at accepted points */
    double *size;   /* powers of two */
};

struct block_run {
    factor *factor;
    struct block_room *at;
    double *weight; /* [n] of residuals at the last point */
    bool factored;  /* constant matrix, factored for these parameters */
    bool serves;    /* the last step with these factors left little: they do for the next */
    bool old;       /* the factors are of an earlier matrix than `value` */
    bool sized;     /* the factors are of the matrix with its columns scaled by `size` */
    bool keeps;     /* what the equations leave open stays as it is, */
    bool shares;    /* or is shared evenly */
    bool regular;   /* so is the matrix of the last iteration */
    int8_t sense;   /* the sign of its determinant at the solution; 0: not known */
};

typedef struct block_rooms {
    struct block_room *room; /* of small blocks; behind it of the others, in their order */
    double *numbers;         /* n of them, of all rooms and blocks */
    size_t n;
} block_rooms;

/* Blocks of so many unknowns have rooms of their own. Sets each run's room and what it keeps, all zero. */
void block_rooms_open(block_rooms *rooms, const routine *g, uint32_t large, struct block_run *run);
void block_rooms_close(block_rooms *rooms);

#endif
