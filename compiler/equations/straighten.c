/* straighten.c - see straighten.h */
#include <stdlib.h>

#include "straighten.h"

enum { MOST_PIECES = 16 };

static bool
reads_slot(pool *p, node n, uint32_t k)
{
    bool *used = bg_calloc((size_t)k + 1, sizeof *used), reads;

    ex_slots_used(p, n, used, k + 1);
    reads = used[k];
    free(used);
    return reads;
}

/* The choice in n, outside of all others, that reads slot k. */
static node
outer_choice(pool *p, node n, uint32_t k)
{
    size_t count;
    const node *tape = ex_tape(p, n, &count);
    node found = NODE_NONE;

    for (size_t i = count; i-- > 0 && found == NODE_NONE;) /* operands stand before what reads them */
        if (pool_node(p, tape[i])->op == EX_SELECT)
            found = tape[i];
    return found != NODE_NONE && reads_slot(p, found, k) ? found : NODE_NONE;
}

static node
straightened(pool *p, node n, uint32_t k, int *left)
{
    node choice = outer_choice(p, n, k), of[2], solution, divisor;

    if (--*left < 0)
        return NODE_NONE;
    if (choice == NODE_NONE) {
        if (!reads_slot(p, n, k))
            return n;
        return ex_solve(p, n, k, &solution, &divisor) ? ex_sub(p, ex_slot(p, k), solution) : NODE_NONE;
    }
    for (int i = 0; i < 2; i++) {
        const ex_node *x = pool_node(p, choice);

        of[i] = straightened(p, ex_put(p, n, choice, i ? x->c : x->b), k, left);
        if (of[i] == NODE_NONE)
            return NODE_NONE;
    }
    return ex_make(p, EX_SELECT, pool_node(p, choice)->a, of[0], of[1]);
}

node
straighten_pieces(pool *p, node n, uint32_t k)
{
    int left = MOST_PIECES;

    return outer_choice(p, n, k) == NODE_NONE ? NODE_NONE : straightened(p, n, k, &left);
}
