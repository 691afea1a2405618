/* state_space.h - the linear model at a point: dx/dt = A x + B u, y = C x + D u, for small deviations
 *
 * From the model's compiled partial derivatives (partials.h), with the algebraic variables eliminated:
 *     A = f_x - f_z g_z^-1 g_x,  B = f_q - f_z g_z^-1 g_q,  and C, D likewise from the rows of the outputs.
 *
 * shapes   by columns: A[i + n*j], B n by nu, C ny by n, D ny by nu
 * units    SI
 */
#ifndef BG_STATE_SPACE_H
#define BG_STATE_SPACE_H

#include "model.h"
#include "sparse_modes.h"

typedef struct state_space {
    size_t n, nu, ny;
    double *A, *B, *C, *D;
} state_space;

enum space_result {
    SPACE_DONE,
    SPACE_NO_VALUE /* a partial derivative is not finite there */,
    SPACE_SINGULAR /* the equations do not determine the algebraic variables */
};
/* p: of the model; its last ny rows are the outputs, the last nu columns before them are u. Uses the present modes.
 * Call state_space_free in any case. */
enum space_result state_space_at(bg_model *m, partials *p, size_t nu, size_t ny, double t, const double *x,
                                 state_space *s);
/* The quantities z that ideal switches determine, before they are eliminated, in the present modes:
 *     dx/dt = f(x, z, u), 0 = r(x, z, u); by columns of n + nw
 * and the result z = -G x - H u. Where the conditions constrain states, z follows from their derivatives in time. */
typedef struct held_space {
    size_t n, nw, nu;
    double *J;    /* n + nw square: f and r by x and z */
    double *G;    /* nw by n */
    double *H;    /* nw by nu */
    bool regular; /* r alone determines z */
} held_space;
void held_space_free(held_space *h);
/* The same with ideal switches in their present modes: p is model_partials_held. What the switches determine is
 * eliminated and returned in *h. Call held_space_free in any case. */
enum space_result state_space_held(bg_model *m, partials *p, size_t nu, size_t ny, double t, const double *x,
                                   state_space *s, held_space *h);
/* The same without A (NULL), which is given as a sparse matrix over states and kept variables instead. Call
 * sparse_jacobian_free in any case. */
enum space_result state_space_sparse(bg_model *m, partials *p, size_t nu, size_t ny, double t, const double *x,
                                     state_space *s, sparse_jacobian *A);
state_space state_space_new(size_t n, size_t nu, size_t ny); /* of zeros */
state_space state_space_copy(const state_space *s);
void state_space_free(state_space *s);

#endif
