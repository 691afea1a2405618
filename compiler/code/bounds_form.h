/* bounds_form.h - clocks, or what may bend, as operations in a row: what instances share of bounds.h */
#ifndef BG_BOUNDS_FORM_H
#define BG_BOUNDS_FORM_H

#include "expr.h"
#include "kinds.h"

struct equations;
struct clock_list;
struct bend_list;

/* Behind ex_op: what stands at leaves. */
enum { OP_TIME = EX_NOPS, OP_GIVEN, OP_MODE, OP_STATE, OP_UNKNOWN };

struct bounds_op {
    uint8_t op, kind; /* kind: of a mode */
    uint32_t a, b, c; /* operands; a: the variable, or the place of the mode or state; b: of a state its number among
                         those that move */
    double value;     /* of a constant */
    const ex_table *table;
};
struct bounds_term {
    uint32_t op, clock;
};

typedef struct bounds_form {
    VEC(struct bounds_op) op;
    VEC(struct bounds_term) term;
    size_t driving_ops, driving_terms; /* those of clocks that rates read come first */
    VEC(uint32_t) moving;              /* ops of states */
} bounds_form;

/* position: of modes and states, by variable */
bounds_form *bounds_form_of_clocks(const struct equations *e, const struct clock_list *clocks,
                                   const uint32_t *position);
bounds_form *bounds_form_of_bends(const struct equations *e, const struct bend_list *bends, const uint32_t *position);
void bounds_form_free(bounds_form *f); /* NULL is fine */

#endif
