/* hamiltonian.h - the port-Hamiltonian form of a linear model: dx/dt = (J - R) Q x + B u, energy x^T Q x / 2
 *
 * Q: slopes of storage, and of dependent storage seen from the states; J antisymmetric, R symmetric. Stored energy only
 * falls without inputs where R has no negative and Q has only positive eigenvalues: the model is passive. States that
 * are no storage (integrals) take no part; they may not act back.
 */
#ifndef BG_HAMILTONIAN_H
#define BG_HAMILTONIAN_H

#include "linearize.h"

typedef struct hamiltonian {
    size_t n;
    size_t *state;           /* which states take part */
    double *J, *R, *Q;       /* n by n by columns */
    double *B;               /* n by the inputs */
    double least_R, least_Q; /* least eigenvalues, relative to the greatest magnitude */
    bool passive;
    char *why; /* there is no such form: a sentence */
} hamiltonian;

/* x^T Q x / 2 is the energy near the point, over all states: Q by columns, malloc'ed. There is a structured form. */
double *hamiltonian_energy(const linearization *l);
void hamiltonian_make(const linearization *l, hamiltonian *h);
void hamiltonian_free(hamiltonian *h);

#endif
