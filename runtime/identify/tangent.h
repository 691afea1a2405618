/* tangent.h - derivatives of states along one step of a run, forwards and backwards
 *
 * The sensitivity equations ds/dt = f_x s + f_z z + f_q, 0 = g_x s + g_z z + g_q, dy = y_x s + y_z z + y_q (partials.h)
 * are linear in s, so that a step of them is a linear map, s1 = A s0 + a_q. It is computed by Radau IIA of order 5
 * (stiffly accurate) along the run's dense output; for the variational integrator by that integrator's own rule, so
 * that s is the exact derivative of what it computes. One factorisation serves all parameters. The transposed map
 * carries derivatives of a later quantity from the end of the step to its start.
 *
 * errors   false: the partial derivatives are not defined, or the equations are singular there
 * shapes   s, lambda: [nstates]; gradient: [parameters]
 * source   Hairer, Wanner (1996), Solving ODE II, IV.5 (Radau IIA)
 */
#ifndef BG_TANGENT_H
#define BG_TANGENT_H

#include "simulate.h"

typedef struct tangent tangent;

/* by: n parameters; must outlive the result. equal_steps: for the variational integrator. NULL: code generation failed,
 * with a diagnostic. */
tangent *tangent_new(bg_model *m, const var_id *by, size_t n, bool equal_steps);
void tangent_free(tangent *g);

/* The states from which a step's map is made, one after the other in x: tangent_states times [nstates]. False: `dense`
 * is not defined there. */
size_t tangent_states(const tangent *g);
bool tangent_gather(const tangent *g, double t0, double t1, sim_dense *dense, void *of, double *x);
/* Prepares the map from t0 to t1, with the present modes. */
bool tangent_step(tangent *g, double t0, double t1, const double *x);
/* Replaces s at t0 by s at t1, for `count` columns [count][nx]; q[i]: the parameter of a column, NO_INDEX: none.
 * rounding, if not NULL: possible rounding errors of s are added. */
bool tangent_forward(tangent *g, const size_t *q, size_t count, double *s, double *rounding);
/* Replaces lambda at t1 by lambda at t0; adds to the gradient. Rounding errors as in tangent_forward. */
bool tangent_back(tangent *g, double *lambda, double *gradient, double *lambda_rounding, double *gradient_rounding);

/* Prepares derivatives of outputs at a point. dy: [outputs]. */
bool tangent_point(tangent *g, double t, const double *x);
bool tangent_outputs(tangent *g, size_t q, const double *s, double *dy);
/* Derivatives of the rates at that point. ds: [nstates]. */
bool tangent_rates(tangent *g, size_t q, const double *s, double *ds);
/* Derivatives of the sum of weight[outputs] times outputs: added to lambda and to the gradient. terms [nstates]: the
 * sums of the magnitudes of the terms of lambda, before they cancel, are added. */
bool tangent_outputs_back(tangent *g, const double *weight, double *lambda, double *terms, double *gradient);

/* The pattern of the partial derivatives at the last point (partials.h). */
struct model_pattern tangent_pattern(const tangent *g);
const double *tangent_values(const tangent *g);

#endif
