/* variational.h - the variational midpoint integrator for mechanical models
 *
 * The discrete action of the midpoint rule is stationary, with forces divided equally between both ends of the step:
 *     L_d = h L((q0 + q1)/2, (q1 - q0)/h),   f_d = h/2 [f(q_m, v, t0) + f(q_m, v, t1)]
 * In momenta and displacements this is
 *     x1 = x0 + h/2 [f(x_m, t0) + f(x_m, t1)],   x_m = (x0 + x1)/2
 * The method has order two. It conserves linear invariants (momentum) up to rounding and every quadratic invariant,
 * such as the energy of linear models; for other models the energy error is bounded. For a linear model it is the
 * Cayley-Tustin transform.
 *
 * This requires that the states are momenta and displacements: displacements follow the velocities of inertias by
 * ratios that are constant, or depend on time. Forces may depend on positions, velocities and time in any way.
 *
 * If ratios between inertias depend on displacements, so do masses: T = v' M(q) v / 2, and the same rule holds for the
 * canonical momenta P = M(q) v,
 *     q1 = q0 + h v,   (P0 + P1)/2 = M(q_m) v,   P1 = P0 + h (force + dT/dq)(q_m, v)
 * It conserves the momentum of a cyclic coordinate up to rounding. Other states (the momentum of one inertia, the
 * velocity of a junction) follow from P and q.
 *
 * units    SI
 * source   Bruschetta, Picci, Saccon (2014), Automatica 50:559, eqs. 2.3-2.10; Marsden, West (2001), Acta Numerica
 */
#ifndef BG_VARIATIONAL_H
#define BG_VARIATIONAL_H

#include "linear.h"

/* Is the model mechanical in this sense? Its modes belong to (t, x); its run ends at stop. False: reported, with the
 * element. moving: masses depend on displacements. */
bool variational_fits(bg_model *m, double t, double stop, const double *x, bool *moving);

typedef struct variational variational;

/* l: of the model; must outlive it. */
variational *variational_new(bg_model *m, linear *l, bool moving);
void variational_free(variational *v);
/* The next step does not continue the previous ones: removes what is carried over. */
void variational_restart(variational *v);
/* x1 at t1 from x0 at t0 < t1; size: of each state. Not 0: could not be evaluated, or no solution was found. */
int variational_step(variational *v, double t0, double t1, const double *x0, const double *size, double *x1);
uint64_t variational_evaluations(const variational *v); /* of rates */

#endif
