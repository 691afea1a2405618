/* structure_pencil.h - a bond graph's relations at a point with nothing solved that the states cannot be solved for:
 *     E d/dt v = K v,  E = diag(I, 0)
 * for points at which ideal switches constrain states, where there are no S, L, J of independent states. v holds the
 * states and what dependent storage holds, then rates of dependent storage, what dissipators give, and what the
 * junctions leave open; each store's and each dissipator's law stands in it once, so that what its slope does to K is
 * one product of a column and a row.
 *
 * shapes   by columns; N = n + nw, of which n are what E keeps. K: N by N; x: N by structure.n, 1 where a state is;
 * of_z: N by structure.nz, what an independent store's effort or flow does to each row; in: N by structure.nl, what a
 * dissipator gets; depends: N by structure.nd, what dependent storage gives
 */
#ifndef BG_STRUCTURE_PENCIL_H
#define BG_STRUCTURE_PENCIL_H

#include "structure.h"

typedef struct structure_pencil {
    size_t n, nw;
    double *K, *x, *of_z, *in, *depends;
    size_t first_given, first_law; /* rows of the laws of dissipators and of dependent storage */
} structure_pencil;

/* Of s only the lists of ports, S, L and C_d are filled. False: see s->why. Call structure_free(s) and
 * structure_pencil_free(p) in any case. */
bool structure_pencil_make(bg_model *m, double t, const double *x, const size_t *order, structure *s,
                           structure_pencil *p);
void structure_pencil_free(structure_pencil *p);

#endif
