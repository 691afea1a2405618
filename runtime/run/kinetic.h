/* kinetic.h - what inertias weigh together where ratios between them move with displacements
 *
 * With x_p the states that are momenta of inertias or velocities of junctions, and q the displacements, the velocities
 * of all inertias are v = V(q) x_p, their momenta p = P(q) x_p, and the kinetic energy is x_p' B(q) x_p / 2 with B = V'
 * P. B x_p are the canonical momenta in units of x_p: d/dt (B x_p) is what forces and dT/dq give.
 *
 * holds    for linear inertias, and no velocity given from outside beside a moving ratio (variational_fits)
 * shapes   matrices n by n by columns, n the number of such states
 */
#ifndef BG_KINETIC_H
#define BG_KINETIC_H

#include "model.h"

/* Is state i a momentum or a velocity, rather than a displacement? */
bool kinetic_is_velocity(const bg_model *m, size_t i);

typedef struct kinetic kinetic;

kinetic *kinetic_new(bg_model *m);
void kinetic_free(kinetic *k);
size_t kinetic_count(const kinetic *k);
const size_t *kinetic_states(const kinetic *k); /* [n] numbers of these states */
/* B at the displacements of x. Not 0: the model cannot be evaluated there. */
int kinetic_masses(kinetic *k, double t, const double *x, double *B);
/* Its derivative along the rates of the displacements, from six places as far as 3/8 of h before and behind. */
int kinetic_rate(kinetic *k, double t, double h, const double *x, const double *rate, double *to);
/* Greatest velocity of an inertia where all of x_p are 0, relative to those with x_p; NAN: it cannot be evaluated. */
double kinetic_carried(kinetic *k, double t, const double *x);

#endif
