/* rates.h - time derivatives of variables, made on demand
 *
 * A state has its rate; parameters and modes have none; that of an explicit variable follows from its definition;
 * unknowns of a group get a new group, with its equations differentiated.
 *
 * needs    every variable that is reached to be defined, given, a state or an unknown of a group
 * reports  derivative-order: differentiated more often than any reasonable formula requires
 */
#ifndef BG_RATES_H
#define BG_RATES_H

#include "blocks.h"
#include "define.h"

struct rates {
    equations *e;
    struct groups *g;
    map of;                     /* variable -> its rate */
    VEC(var_id) pending;        /* rates without a definition yet */
    VEC(uint8_t) order;         /* by variable: order of differentiation */
    map group_of;               /* group -> group of its derivatives */
    VEC(var_id) differentiated; /* explicit variables whose definitions were differentiated */
    bool spare;                 /* derivatives of too high an order are zero, not errors */
    bool ok;
};

/* The variable that is the time derivative of v; VAR_NONE for zero. */
var_id rate_of(struct rates *r, var_id v);
/* d/dt of an expression: the sum of its partial derivatives times the rates of its slots. */
inst differentiate(struct rates *r, inst i);
/* Defines all rates that were asked for, and those that they need. */
void define_rates(struct rates *r);
void rates_free(struct rates *r);

#endif
