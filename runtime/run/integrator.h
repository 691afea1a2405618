/* integrator.h - one step after the other, explicit, implicit or variational, with dense output in the last step
 *
 * Explicit: Dormand-Prince 5(4) of integrator_explicit.c. Implicit, on the systems of linear.h: Rosenbrock's method of
 * integrator_rosenbrock.c, or BDF of CVODES where factors are dear. Which of them is decided during the run from the
 * spectral radius, the step sizes and counts of operations, never from clocks: a run gives the same steps each time.
 * Variational: steps are as long as `until` says (variational.h). Modes are the caller's: they must not change within a
 * step, and after a change integrator_start is due.
 */
#ifndef BG_INTEGRATOR_H
#define BG_INTEGRATOR_H

#include "simulate.h"

typedef struct integrator integrator;

enum integrator_status {
    STEP_OK,
    STEP_SINGULAR, /* the model could not be evaluated however short the step */
    STEP_SMALL,    /* the step became too small for the tolerance */
    STEP_UNSOLVED  /* SIM_VARIATIONAL: the equations of a step of that length have no solution near */
};

/* rtol > 0; atol > 0, or 0: from the sizes of the states (scales.h). powers: will be integrated (a model
 * without states then takes steps that follow them). */
integrator *integrator_new(bg_model *m, double rtol, double atol, enum sim_solver solver, double start, double stop,
                           bool powers);
void integrator_free(integrator *g);
/* For SIM_VARIATIONAL: masses depend on displacements. Call before the first step. */
void integrator_masses_move(integrator *g, bool moving);

/* Starts from (t, x), x copied, and forgets earlier steps. False: the Jacobian does not compile (a diagnostic is
 * given). */
bool integrator_start(integrator *g, double t, const double *x);
/* The same with a first step of this length at most. */
bool integrator_start_short(integrator *g, double t, const double *x, double step);
/* The same after states without rates were set (held values): equations, sizes and spectral radius are unchanged. */
bool integrator_resume(integrator *g, double t, const double *x);
bool integrator_ready(const integrator *g); /* false: it needs a Jacobian that does not compile */
/* One accepted step that ends at `until` at the latest (exactly there if it gets so far). */
enum integrator_status integrator_step(integrator *g, double until);

/* Was the last step of an implicit method, and may so be long beside the fastest time constant? */
bool integrator_implicit(const integrator *g);
/* How long the next step would be, or may be; INFINITY if that is not known yet. */
double integrator_next(const integrator *g);

/* The last step: from t0 to t1, the states at its ends. After a failure both ends are the last accepted point. */
double integrator_t0(const integrator *g);
double integrator_t1(const integrator *g);
const double *integrator_x0(const integrator *g);
const double *integrator_x1(const integrator *g);
/* States at t in the last step; at three places t0 + s[i]*(t1-t0). False: the model could not be evaluated. */
bool integrator_dense(integrator *g, double t, double *x);
/* The same, and what is fast follows what is slow there: polynomials have errors that are small beside the states but
 * may be large beside their differences (the effort of a diode that conducts). Costs an evaluation in implicit
 * methods. */
bool integrator_dense_settled(integrator *g, double t, double *x);
/* For rows of a table: settled where flows are small differences of large terms, at the end of the step too; and in the
 * first steps after a switching, where a fast change begins that is long over at the end of the step but that its
 * polynomial spreads over it. */
bool integrator_dense_shown(integrator *g, double t, double *x);
bool integrator_dense3(integrator *g, const double s[3], double t_end, double *const x[3]); /* of [t0, t_end] */

/* The state with the greatest ratio of estimated error to tolerance in the last attempt, and that ratio. */
size_t integrator_worst(integrator *g, double *ratio);
/* How large the states are (scales.h), at the end of the last step. */
void integrator_scales(const integrator *g, double *scale);
/* The greatest distance, in tolerances, that a state would move in this time with the rates f (NULL: those at the ends
 * of the last step). */
double integrator_moves(integrator *g, const double *f, double time);
/* The tolerance of each state there. */
void integrator_tolerates(integrator *g, double *dx);

/* The number of steps to the end at the present length, if the explicit method was asked for and stability limits it;
 * else 0. */
double integrator_stiff(const integrator *g);
/* The solver that was not used and might do better, "bdf" or "explicit"; NULL if there is none. */
const char *integrator_other(const integrator *g);
void integrator_counts(integrator *g, sim_result *r);
char *integrator_method(const integrator *g); /* free() it */

#endif
