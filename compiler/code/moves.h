/* moves.h - first-order derivatives of computed parameters by chosen ones
 *
 * Moving a parameter moves what is computed from it, and nothing that it is computed from; a parameter set from outside
 * is no longer computed. Slopes are formulas, so that flat model and pool are not needed to evaluate them.
 *
 * threads  read-only after it is made
 */
#ifndef BG_MOVES_H
#define BG_MOVES_H

#include "formula.h"
#include "kinds.h"

struct flat_model;

/* The derivative of a computed parameter by one that it reads and that itself moves. */
struct moves_turn {
    formula slope;
    var_id of;
    uint32_t link0, nlinks;
};
/* slope[to] += that times slope[from] */
struct moves_link {
    uint32_t to, from;
};

typedef struct moves_program {
    uint32_t *first;             /* the derivatives of variable v are first[v] .. first[v+1]: */
    VEC(uint32_t) by;            /* number of the chosen parameter */
    VEC(uint32_t) own;           /* for each chosen parameter its derivative by itself; NONE: it is none */
    bool *computed;              /* by variable: it moves with others */
    VEC(struct moves_turn) turn; /* in the order of evaluation */
    VEC(struct moves_link) link;
    formula_book book;
} moves_program;

/* by: n parameters; VAR_NONE entries are ignored */
void moves_make(moves_program *p, const struct flat_model *f, const var_id *by, size_t n);
void moves_free(moves_program *p);
/* slope[by.n], for these values of parameters and literals; fixed[v]: set from outside. */
void moves_slopes(const moves_program *p, const double *value, const bool *fixed, double *slope);

#endif
