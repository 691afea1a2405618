/* tangent.h - how small changes of states and parameters at the start of a step show at its end, and back again
 *
 * The sensitivity equations  ds/dt = f_x s + f_z z + f_q,  0 = g_x s + g_z z + g_q,  dy = y_x s + y_z z + y_q
 * (partials.h) are linear in s. A step of them is one linear map, s1 = A s0 + a_q: by Radau IIA of order 5, stiffly
 * accurate, along the run's dense output; of the variational integrator by its own rule, so that s is the exact
 * derivative of what it computes. One factorisation serves all parameters. Transposed, it carries the derivatives of
 * something at its end back to its start.
 *
 * errors   false: the partial derivatives have no value, or the equations are singular there
 * shapes   s, lambda: [nstates]; gradient: [parameters]
 * source   Hairer, Wanner (1996), Solving ODE II, IV.5 (Radau IIA)
 */
#ifndef BG_TANGENT_H
#define BG_TANGENT_H

#include "simulate.h"

typedef struct tangent tangent;

/* by: n parameters, kept. equal_steps: of the variational integrator. NULL: code failed, with a diagnostic. */
tangent *tangent_new(bg_model *m, const var_id *by, size_t n, bool equal_steps);
void tangent_free(tangent *g);

/* The states that a step's map is made from, one behind the other in x: tangent_states times [nstates]. False: dense
 * has none. */
size_t tangent_states(const tangent *g);
bool tangent_gather(const tangent *g, double t0, double t1, sim_dense *dense, void *of, double *x);
/* The map from t0 to t1, modes as they are. */
bool tangent_step(tangent *g, double t0, double t1, const double *x);
/* s at t1 from s at t0, in place, of `count` columns [count][nx]; q[i]: the parameter, NO_INDEX: none. rounding, if not
 * NULL: what the rounding of the step may leave in s is added to it. */
bool tangent_forward(tangent *g, const size_t *q, size_t count, double *s, double *rounding);
/* lambda at t0 from that at t1, in place; adds to the gradient. The roundings likewise. */
bool tangent_back(tangent *g, double *lambda, double *gradient, double *lambda_rounding, double *gradient_rounding);

/* The outputs at a point. dy: [outputs]. */
bool tangent_point(tangent *g, double t, const double *x);
bool tangent_outputs(tangent *g, size_t q, const double *s, double *dy);
/* The rates there, likewise. ds: [nstates]. */
bool tangent_rates(tangent *g, size_t q, const double *s, double *ds);
/* Derivatives of the sum of weight[outputs] times outputs: added to lambda and to the gradient; what the terms of those
 * by the states add up to, before they cancel, to terms [nstates]. */
bool tangent_outputs_back(tangent *g, const double *weight, double *lambda, double *terms, double *gradient);

/* The partial derivatives at the last point (partials.h). */
struct model_pattern tangent_pattern(const tangent *g);
const double *tangent_values(const tangent *g);

#endif
