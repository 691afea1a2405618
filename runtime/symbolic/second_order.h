/* second_order.h - a linear model as second order equations: M q'' + D q' + K q = L u (+ N times the integral of u)
 *
 * q are the displacements of the independent inertias, one for each momentum that is a state, from where they are at
 * the point. With v = S p, de/dt = G v + G_u u and dp/dt = A_pp p + A_pe e + B u M = S^-T Q_pp S^-1 (Q: second
 * derivatives of the energy, dependent inertias with it), D = -M S A_pp S^-1,  K = -M S A_pe G,  L = M S B,  N = M S
 * A_pe G_u M is symmetric; D is but for gyrators, K but for forces that follow positions without an energy.
 *
 * Where a ratio between inertias moves with displacements, M is that of the place, and D and K hold what moves with it:
 * M(q) a = F(q, v) is M da + D dv + K dq = L du with D = -dF/dv, K = dM/dq a - dF/dq, Coriolis forces being in F.
 * Displacements are then functions of positions, e = e(q) with G as its slope. Where they are not (ways that a rolling
 * wheel leads along while it moves), there is no such form: what e is does not follow from q.
 *
 * source   Bruschetta, Picci, Saccon (2014), Automatica 50:559, eqs. 1.1, 1.2
 * shapes   n by n by columns; L, N: n by the inputs
 */
#ifndef BG_SECOND_ORDER_H
#define BG_SECOND_ORDER_H

#include "linearize.h"

typedef struct second_order {
    size_t n, nu;
    size_t *momentum; /* [n] states, in the order of the linearization */
    double *M, *D, *K, *L, *N;
    bool integrals;    /* N is not zero */
    bool symmetric[3]; /* M, D, K, but for rounding */
    double least[3];   /* least eigenvalues of their symmetric parts, relative to the greatest */
    char *why;         /* there is no such form: a sentence that names the element */
} second_order;

void second_order_make(const linearization *l, second_order *s);
void second_order_free(second_order *s);
/* The name of coordinate i: its inertia's. free() it */
char *second_order_name(const linearization *l, const second_order *s, size_t i);

/* The same as expressions over variables of the flat model (the pool grows): M, D, K, L, N. False: *why (free it).
 * structure_block free in any case. */
bool second_order_write(const linearization *l, const second_order *s, structure_block out[5], char **why);

/* ---- between the two files ---- */
/* [n] Which displacements have rates that read displacements, beside the fastest swing of the model. momentum: [n] not
 * NO_INDEX where a state is one. free() it */
bool *second_order_rates_moved(const linearization *l, const size_t *momentum);
/* The numbers from the bond graph, in which rounding is no entry; those that are there have to agree. moves: what
 * changes along the motion is in them. False: nothing is changed, *why (free it). */
bool second_order_values(const linearization *l, second_order *s, bool moves, char **why);

#endif
