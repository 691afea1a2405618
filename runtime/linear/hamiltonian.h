/* hamiltonian.h - the port-Hamiltonian form of a linear model: dx/dt = (J - R) Q x + B u, energy x^T Q x / 2
 *
 * Q: slopes of storage, with dependent storage expressed by the states; J antisymmetric, R symmetric. If R has no
 * negative eigenvalue and Q only positive ones, the stored energy never grows without inputs: the model is passive.
 * States that store no energy (integrals) are left out; they must not act back.
 */
#ifndef BG_HAMILTONIAN_H
#define BG_HAMILTONIAN_H

#include "linearize.h"

typedef struct hamiltonian {
    size_t n;
    size_t *state;           /* the states in the form */
    double *J, *R, *Q;       /* n by n by columns */
    double *B;               /* n by the inputs */
    double least_R, least_Q; /* smallest eigenvalues, relative to the greatest magnitude */
    bool passive;
    char *why; /* why there is no such form: a sentence */
} hamiltonian;

/* x^T Q x / 2 is the energy near the operating point, over all states: Q by columns; free() it. Needs a structured
 * form. */
double *hamiltonian_energy(const linearization *l);
void hamiltonian_make(const linearization *l, hamiltonian *h);
void hamiltonian_free(hamiltonian *h);

#endif
