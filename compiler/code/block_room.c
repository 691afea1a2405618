/* block_room.c - see block_room.h */
#include "block_room.h"

#include <stdlib.h>

enum { ROOM = 8 }; /* the arrays of length n, beside `value` */

static double *
lay_out(struct block_room *at, double *numbers, size_t n, size_t nonzeros)
{
    double **of[ROOM] = { &at->r, &at->z, &at->step, &at->trial, &at->most, &at->before, &at->reach, &at->size };

    for (int i = 0; i < ROOM; i++, numbers += n)
        *of[i] = numbers;
    at->value = numbers;
    return numbers + nonzeros;
}

void
block_rooms_open(block_rooms *rooms, const routine *g, uint32_t large, struct block_run *run)
{
    size_t most = 0, nonzeros = 0, nlarge = 0;
    double *next;

    *rooms = (block_rooms){ 0 };
    for (size_t k = 0; k < g->block.n; k++) {
        const program_block *b = &g->block.at[k];
        size_t entries = (size_t)b->column_start[b->n];

        rooms->n += b->n;
        if (b->n >= large) {
            rooms->n += ROOM * (size_t)b->n + entries;
            nlarge++;
        } else {
            most = b->n > most ? b->n : most;
            nonzeros = entries > nonzeros ? entries : nonzeros;
        }
    }
    rooms->n += ROOM * most + nonzeros;
    rooms->room = bg_calloc(nlarge + 1, sizeof *rooms->room);
    rooms->numbers = bg_calloc(rooms->n + 1, sizeof *rooms->numbers);
    next = lay_out(rooms->room, rooms->numbers, most, nonzeros);
    nlarge = 0;
    for (size_t k = 0; k < g->block.n; k++) {
        const program_block *b = &g->block.at[k];

        run[k].at = rooms->room;
        if (b->n >= large) {
            run[k].at = &rooms->room[++nlarge];
            next = lay_out(run[k].at, next, b->n, (size_t)b->column_start[b->n]);
        }
        run[k].weight = next;
        next += b->n;
    }
}

void
block_rooms_close(block_rooms *rooms)
{
    free(rooms->room);
    free(rooms->numbers);
}
