/* moves.h - how computed parameters move with chosen ones, to first order
 *
 * Moving a parameter moves what is computed from it, and nothing that it is computed from itself; what was set from
 * outside is computed no longer. Slopes are formulas, so that neither flat model nor pool is needed to work them out.
 *
 * threads  read only once it is made
 */
#ifndef BG_MOVES_H
#define BG_MOVES_H

#include "formula.h"
#include "kinds.h"

struct flat_model;

/* The slope of a computed parameter by one that it reads, which itself moves */
struct moves_turn {
    formula slope;
    var_id of;
    uint32_t link0, nlinks;
};
/* slope[to] gets that times slope[from] */
struct moves_link {
    uint32_t to, from;
};

typedef struct moves_program {
    uint32_t *first;             /* the moves of variable v are first[v] .. first[v+1]: */
    VEC(uint32_t) by;            /* by which of the chosen ones */
    VEC(uint32_t) own;           /* of each chosen one its move by itself; NONE: it is none */
    bool *computed;              /* by variable: it moves with others */
    VEC(struct moves_turn) turn; /* in the order of evaluation */
    VEC(struct moves_link) link;
    formula_book book;
} moves_program;

/* by: n parameters, VAR_NONE among them: nothing */
void moves_make(moves_program *p, const struct flat_model *f, const var_id *by, size_t n);
void moves_free(moves_program *p);
/* slope[by.n] of all moves at these values of parameters and literals; fixed[v]: set from outside. */
void moves_slopes(const moves_program *p, const double *value, const bool *fixed, double *slope);

#endif
