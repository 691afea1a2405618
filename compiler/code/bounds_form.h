/* bounds_form.h - clocks, or expressions of states, as sequences of operations: the part of bounds.h that instances
 * share */
#ifndef BG_BOUNDS_FORM_H
#define BG_BOUNDS_FORM_H

#include "expr.h"
#include "kinds.h"

struct equations;
struct clock_list;
struct bend_list;

/* Leaves, after ex_op. */
enum { OP_TIME = EX_NOPS, OP_GIVEN, OP_MODE, OP_STATE, OP_UNKNOWN };

struct bounds_op {
    uint8_t op, kind; /* kind: of a mode */
    /* operands; a: the variable, or the index of the mode or state; b: of a state its number among the moving ones */
    uint32_t a, b, c;
    double value; /* of a constant */
    const ex_table *table;
};
struct bounds_term {
    uint32_t op, clock;
};

typedef struct bounds_form {
    VEC(struct bounds_op) op;
    VEC(struct bounds_term) term;
    size_t driving_ops, driving_terms; /* those for clocks that rates read come first */
    VEC(uint32_t) moving;              /* ops of states */
} bounds_form;

/* position: index of modes and states, by variable */
bounds_form *bounds_form_of_clocks(const struct equations *e, const struct clock_list *clocks,
                                   const uint32_t *position);
bounds_form *bounds_form_of_bends(const struct equations *e, const struct bend_list *bends, const uint32_t *position);
void bounds_form_free(bounds_form *f); /* NULL is fine */

#endif
