/* variational.h - the variational midpoint integrator of mechanical models
 *
 * The discrete action of the midpoint rule made stationary, forces taken half at either end of the step,
 *     L_d = h L((q0 + q1)/2, (q1 - q0)/h),   f_d = h/2 [f(q_m, v, t0) + f(q_m, v, t1)]
 * is in momenta and displacements
 *     x1 = x0 + h/2 [f(x_m, t0) + f(x_m, t1)],   x_m = (x0 + x1)/2
 * It is of order two, keeps what is a sum of states (momentum) to rounding and every quadratic invariant, the energy of
 * linear models among them; of others the energy error stays bounded. Of a linear model it is the Cayley-Tustin
 * transform.
 *
 * That holds where the states are momenta and displacements: where displacements move with the velocities of inertias
 * by fixed ratios, and with time. Everything else about forces is free: they may follow positions, velocities, time.
 *
 * Where ratios between inertias move with displacements, masses do: T = v' M(q) v / 2, and the same rule is in the
 * canonical momenta P = M(q) v,
 *     q1 = q0 + h v,   (P0 + P1)/2 = M(q_m) v,   P1 = P0 + h (force + dT/dq)(q_m, v)
 * It keeps the momentum of a coordinate that nothing reads, to rounding. What states there are besides (the momentum of
 * one inertia, the velocity of a junction) follow from P and q.
 *
 * units    SI
 * source   Bruschetta, Picci, Saccon (2014), Automatica 50:559, eqs. 2.3-2.10; Marsden, West (2001), Acta Numerica
 */
#ifndef BG_VARIATIONAL_H
#define BG_VARIATIONAL_H

#include "linear.h"

/* Is the model mechanical in this sense? Its modes are those at (t, x); its run ends at stop. False: said, with the
 * element. moving: its masses move with displacements. */
bool variational_fits(bg_model *m, double t, double stop, const double *x, bool *moving);

typedef struct variational variational;

/* l: of the model; outlives it. */
variational *variational_new(bg_model *m, linear *l, bool moving);
void variational_free(variational *v);
/* Steps from here on do not follow those before: nothing is carried over. */
void variational_restart(variational *v);
/* x1 at t1 from x0 at t0 > t1; size: how large each state is. Not 0: it could not be evaluated, or has no solution that
 * is found. */
int variational_step(variational *v, double t0, double t1, const double *x0, const double *size, double *x1);
uint64_t variational_evaluations(const variational *v); /* of rates */

#endif
