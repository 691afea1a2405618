/* linear.h - the integrator's linear systems with the augmented Jacobian
 *
 * With J = [f_x f_z; g_x g_z] of model.h the matrix is M = [I - gamma f_x, -gamma f_z; g_x, g_z], solved with right
 * side (r, 0): the first part of the solution is that of the system reduced to states. J is kept, and M is formed from
 * it for each gamma. If blocks leave something undetermined that rates do not depend on (the mean potential of a bridge
 * whose junctions all block, with slopes below rounding), the solution of least norm is used.
 *
 * errors   0 fine; 1 recoverable (the model could not be evaluated, M is singular); -1 never will
 */
#ifndef BG_LINEAR_H
#define BG_LINEAR_H

#include "model.h"
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>

typedef struct linear linear;

linear *linear_new(bg_model *m); /* NULL if the Jacobian does not compile (with a diagnostic) */
void linear_free(linear *l);

int linear_evaluate(linear *l, double t, const double *x);                 /* J at (t, x) */
int linear_evaluate_mean(linear *l, double t, size_t n, double *const *x); /* the mean of J at (t, x[i]) */
/* The Jacobian of the states alone, f_x - f_z g_z^-1 g_x, [nx*nx] by columns. False: g_z is singular. */
bool linear_reduced(const linear *l, double *full);
bool linear_known(const linear *l);        /* J was evaluated */
void linear_form(linear *l, double gamma); /* M from the kept J */
void linear_form_newton(linear *l,
                        const bool *active); /* M = [f_x f_z; g_x g_z], with unit rows for states that are not active */
double linear_gamma(const linear *l);        /* of the present M; 0: it is not that of a step */
int linear_factor(linear *l);
int linear_solve(linear *l, double *r); /* [nx], in place */
/* What is called with the right side and the solution of each system, and may change the solution; NULL: nothing. */
void linear_correct_by(linear *l, void (*correct)(void *ctx, const double *right, double *solution), void *ctx);

struct model_pattern linear_pattern(const linear *l);
const double *linear_values(const linear *l); /* of J */
double linear_fill(const linear *l);          /* nonzeros of L+U, estimated before the first factorisation */
double linear_flops(const linear *l);         /* of one factorisation */
uint64_t linear_factorizations(const linear *l);
uint64_t linear_evaluations(const linear *l);

/* The same as objects of SUNDIALS; they do not own l. The content of the matrix is l. */
SUNMatrix linear_matrix(linear *l, SUNContext context);
SUNLinearSolver linear_solver(linear *l, SUNContext context);

#endif
