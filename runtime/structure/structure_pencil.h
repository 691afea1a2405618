/* structure_pencil.h - the relations of a bond graph at a point, without solving what the states do not determine:
 *     E d/dt v = K v,  E = diag(I, 0)
 * For points at which ideal switches constrain states, so that S, L, J of independent states do not exist. v holds the
 * states and the quantities of dependent storage, then rates of dependent storage, outputs of dissipators, and
 * variables that the junctions leave open. The law of each storage element and each dissipator appears once, so that
 * the derivative of K by its slope is one product of a column and a row.
 *
 * shapes   by columns; N = n + nw, of which E keeps n. K: N by N; x: N by structure.n, 1 where a state is; of_z: N by
 *          structure.nz, effect of an independent storage element's output on each row; in: N by structure.nl, input of
 *          a dissipator; depends: N by structure.nd, output of dependent storage
 */
#ifndef BG_STRUCTURE_PENCIL_H
#define BG_STRUCTURE_PENCIL_H

#include "structure.h"

typedef struct structure_pencil {
    size_t n, nw;
    double *K, *x, *of_z, *in, *depends;
    size_t first_given, first_law; /* first rows of the laws of dissipators and of dependent storage */
} structure_pencil;

/* Of s only the lists of ports, S, L and C_d are filled. False: see s->why. Call structure_free(s) and
 * structure_pencil_free(p) in any case. */
bool structure_pencil_make(bg_model *m, double t, const double *x, const size_t *order, structure *s,
                           structure_pencil *p);
void structure_pencil_free(structure_pencil *p);

#endif
