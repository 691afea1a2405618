/* second_order.h - a linear model as second-order equations: M q'' + D q' + K q = L u (+ N times the integral of u)
 *
 * q are the displacements of the independent inertias from the operating point, one for each momentum that is a state.
 * With v = S p, de/dt = G v + G_u u and dp/dt = A_pp p + A_pe e + B u:
 *     M = S^-T Q_pp S^-1 (Q: second derivatives of the energy, dependent inertias included),
 *     D = -M S A_pp S^-1,  K = -M S A_pe G,  L = M S B,  N = M S A_pe G_u
 * M is symmetric; so is D except for gyrators, and K except for forces that depend on position without a potential.
 *
 * Where a ratio between inertias depends on displacements, M is taken at the operating point, and D and K contain the
 * derivatives of the ratio: M(q) a = F(q, v) becomes M da + D dv + K dq = L du with D = -dF/dv, K = dM/dq a - dF/dq,
 * where F contains Coriolis forces. This requires that displacements are functions of positions, e = e(q) with slope G.
 * Otherwise (a rolling wheel whose path depends on its motion) there is no such form: q does not determine e.
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
    bool symmetric[3]; /* M, D, K, up to rounding */
    double least[3];   /* smallest eigenvalues of their symmetric parts, relative to the greatest */
    char *why;         /* why there is no such form: a sentence that names the element; else NULL */
} second_order;

void second_order_make(const linearization *l, second_order *s);
void second_order_free(second_order *s);
/* The name of coordinate i: that of its inertia. free() it */
char *second_order_name(const linearization *l, const second_order *s, size_t i);

/* M, D, K, L, N as expressions over variables of the flat model (adds to the pool). False: *why (free() it).
 * structure_block_free in any case. */
bool second_order_write(const linearization *l, const second_order *s, structure_block out[5], char **why);

/* ---- shared by the two files ---- */
/* [n] Marks displacements whose rates depend on displacements, by more than rounding relative to the fastest
 * oscillation of the model. momentum: [n] not NO_INDEX where a state is a momentum. free() it */
bool *second_order_rates_moved(const linearization *l, const size_t *momentum);
/* Computes the numbers from the bond graph, where structural zeros are exact; they are compared with those from A and
 * B. moves: includes what changes along the motion. False: nothing is changed, *why (free() it). */
bool second_order_values(const linearization *l, second_order *s, bool moves, char **why);

#endif
