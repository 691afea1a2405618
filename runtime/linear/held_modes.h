/* held_modes.h - eigenvectors of models with ideal switches, including what the switches determine
 *
 * With the held unknowns z of the present modes (state_space.h) the model is E d/dt (x, z) = J (x, z), E = diag(I, 0).
 * Its eigenvalues are those lambda for which J - lambda E is singular; with its left and right null vectors w and v,
 * scaled so that w E v = 1,
 *     d lambda = w dJ v.
 * This holds whether the conditions determine z or are constraints on states (a pencil of any index); nothing has to be
 * differentiated in time. If they determine z, the vectors are those of A extended by z; else they are null vectors,
 * found by singular values. Constraints give A some zero eigenvalues that this pencil does not have: no parameter moves
 * these.
 */
#ifndef BG_HELD_MODES_H
#define BG_HELD_MODES_H

#include "linearize.h"

/* Left vectors as rows and right ones as columns, of one cluster: [i + n*k], k < m, in the model's order. */
typedef struct mode_vectors {
    size_t n, m;
    double complex *left, *right;
} mode_vectors;
void mode_vectors_free(mode_vectors *v);

enum { HELD_MOST = 160 }; /* greatest number of states and held unknowns for which null vectors are computed */
/* The vectors of cluster c of l. m may be less than c->n: the other eigenvalues do not move. False: the cluster is
 * defective or there are too many unknowns. Call mode_vectors_free in any case. */
bool held_vectors(const linearization *l, const held_space *h, const cluster *c, mode_vectors *v);

#endif
