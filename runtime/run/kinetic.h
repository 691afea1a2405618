/* kinetic.h - kinetic energy of inertias where ratios between them depend on displacements
 *
 * With x_p the states that are momenta of inertias or velocities of junctions, and q the displacements, the velocities
 * of all inertias are v = V(q) x_p, their momenta p = P(q) x_p, and the kinetic energy is x_p' B(q) x_p / 2 with B = V'
 * P. B x_p are the canonical momenta in units of x_p: d/dt (B x_p) is given by the forces and dT/dq.
 *
 * holds    for linear inertias, if no velocity is imposed from outside next to a varying ratio (variational_fits)
 * shapes   matrices n by n by columns, n the number of such states
 */
#ifndef BG_KINETIC_H
#define BG_KINETIC_H

#include "model.h"

/* Is state i a momentum or velocity, not a displacement? */
bool kinetic_is_velocity(const bg_model *m, size_t i);

typedef struct kinetic kinetic;

kinetic *kinetic_new(bg_model *m);
void kinetic_free(kinetic *k);
size_t kinetic_count(const kinetic *k);
const size_t *kinetic_states(const kinetic *k); /* [n] numbers of these states */
/* B at the displacements of x. Not 0: the model cannot be evaluated there. */
int kinetic_masses(kinetic *k, double t, const double *x, double *B);
/* Its derivative along the rates of the displacements, from six points within 3/8 of h before and after. */
int kinetic_rate(kinetic *k, double t, double h, const double *x, const double *rate, double *to);
/* Greatest velocity of an inertia for x_p = 0, relative to the velocities with x_p; NAN: cannot be evaluated. */
double kinetic_carried(kinetic *k, double t, const double *x);

#endif
