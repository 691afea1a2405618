/* integrator.h - integrates the states step by step, by an explicit, an implicit or a variational method; dense output
 * within the last step
 *
 * Explicit: Dormand-Prince 5(4) of integrator_explicit.c. Implicit, with the linear systems of linear.h: BDF of CVODES,
 * or Rosenbrock's method of integrator_rosenbrock.c between switchings that follow one another within few steps. Which
 * of them is decided during the run from the spectral radius, the step lengths and counts of operations, never from
 * measured times, so that a run takes the same steps whenever it is repeated. Variational: the caller chooses the step
 * length by `until` (variational.h). Modes are set by the caller: they must not change within a step, and after a
 * change integrator_start must be called.
 */
#ifndef BG_INTEGRATOR_H
#define BG_INTEGRATOR_H

#include "simulate.h"

typedef struct integrator integrator;

enum integrator_status {
    STEP_OK,
    STEP_SINGULAR, /* the model could not be evaluated however short the step */
    STEP_SMALL,    /* the step became too small for the tolerance */
    STEP_UNSOLVED  /* SIM_VARIATIONAL: Newton's method found no solution of the equations of a step of that length */
};

/* rtol > 0; atol > 0, or 0: each state has its own, from its size (scales.h). powers: the caller will integrate the
 * powers of the elements; steps of a model without states are then short enough for that. */
integrator *integrator_new(bg_model *m, double rtol, double atol, enum sim_solver solver, double start, double stop,
                           bool powers);
void integrator_free(integrator *g);
/* For SIM_VARIATIONAL: do masses depend on displacements? Call before the first step. */
void integrator_masses_move(integrator *g, bool moving);

/* Starts from (t, x), x copied, and forgets earlier steps. False: the Jacobian does not compile (a diagnostic is
 * given). */
bool integrator_start(integrator *g, double t, const double *x);
/* The same with a first step of this length at most. */
bool integrator_start_short(integrator *g, double t, const double *x, double step);
/* The same after states without a rate (held values) were set. Equations, sizes and spectral radius are unchanged, so
 * the step length is kept. */
bool integrator_resume(integrator *g, double t, const double *x);
bool integrator_ready(const integrator *g); /* false: the method needs a Jacobian, and it does not compile */
/* Takes one accepted step. It does not pass `until`, and if it reaches `until`, it ends at exactly that time. */
enum integrator_status integrator_step(integrator *g, double until);

/* Was the last step one of an implicit method? It may then be far longer than the fastest time constant. */
bool integrator_implicit(const integrator *g);
/* Length of the next step, or an upper bound of it; INFINITY if neither is known yet. */
double integrator_next(const integrator *g);

/* The last step: from t0 to t1, the states at its ends. After a failure both ends are the last accepted point. */
double integrator_t0(const integrator *g);
double integrator_t1(const integrator *g);
const double *integrator_x0(const integrator *g);
const double *integrator_x1(const integrator *g);
/* States at t in the last step; at three places t0 + s[i]*(t1-t0). False: the model could not be evaluated. */
bool integrator_dense(integrator *g, double t, double *x);
/* The same, corrected for implicit methods. The error of their polynomials is small relative to the states, but may be
 * large relative to differences of states (the voltage of a conducting diode). So the modes of the Jacobian that decay
 * within a small part of the step are moved to the values that their equations give them for the present values of the
 * slow ones ("settled"). Costs one or two evaluations. */
bool integrator_dense_settled(integrator *g, double t, double *x);
/* For rows of a table: settled where flows are small differences of large terms, at the end of the step too; and in the
 * first steps after a switching. Fast modes change at the switching and have decayed
 * long before the end of such a step, but the polynomial spreads their change over the whole step. */
bool integrator_dense_shown(integrator *g, double t, double *x);
bool integrator_dense3(integrator *g, const double s[3], double t_end, double *const x[3]); /* of [t0, t_end] */

/* The state whose estimated error was greatest relative to its tolerance in the last attempt at a step; ratio: of
 * these.
 */
size_t integrator_worst(integrator *g, double *ratio);
/* scale[n]: how large each state is (scales.h), at the end of the last step. */
void integrator_scales(const integrator *g, double *scale);
/* The greatest distance, in tolerances, that a state would move in this time with the rates f (NULL: those at the ends
 * of the last step). */
double integrator_moves(integrator *g, const double *f, double time);
/* dx[n]: the tolerated error of each state, at the end of the last step. */
void integrator_tolerates(integrator *g, double *dx);

/* If the user asked for the explicit method and stability limits its steps: how many more steps of the present length
 * the run would take; otherwise 0. */
double integrator_stiff(const integrator *g);
/* Another solver that may succeed where this one failed: "bdf" or "explicit"; NULL: there is none. */
const char *integrator_other(const integrator *g);
void integrator_counts(integrator *g, sim_result *r);
char *integrator_method(const integrator *g); /* free() it */

#endif
