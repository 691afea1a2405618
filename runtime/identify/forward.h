/* forward.h - a run's outputs at given times, and their exact derivatives by parameters
 *
 * The sensitivity equations  ds/dt = f_x s + f_z z + f_q,  0 = g_x s + g_z z + g_q,  dy = y_x s + y_z z + y_q
 *                            (partials.h) are linear in s. They
 * are solved along the run as it goes, on its own steps cut at the times wanted, by Radau IIA of order 5, which is
 * stiffly accurate: one factorisation a step serves all parameters. The run's steps are controlled by its tolerance;
 * those of s are the same, s having the same modes.
 *
 * Where something switches, the time of that moves with the parameters: with g the condition that changed sign,
 *     dt/dq = -(g_x s + g_q)/(g_x f + g_t),   s+ = R_x (s + f- dt/dq) + R_t dt/dq + R_q - f+ dt/dq
 * R being what a reinit gives (the state itself without one). At the start s is that of the initial values, or of the
 * equilibrium.
 *
 * units    SI
 * shapes   output[time][outputs]; derivative[time][outputs][parameters]
 * source   Hairer, Wanner (1996), Solving ODE II, IV.5 (Radau IIA); Galan, Feehery, Barton (1999), Appl. Numer. Math.
 *          31:17 (jumps)
 */
#ifndef BG_FORWARD_H
#define BG_FORWARD_H

#include "simulate.h"

typedef struct forward {
    bg_model *model;
    const var_id *by;
    size_t n; /* parameters; none: outputs alone */
    const double *time;
    size_t ntimes;               /* ascending, within the run */
    double *output, *derivative; /* filled as far as the run got */
    double *activity;            /* [elements] J, over the experiment's windows; NULL: not wanted */
    double seconds;              /* CPU time of the integration */
    size_t done; /* times that were reached; where the run ended earlier (`stop when`) the others are filled with what
                    was there */
    double end;  /* s, where it ended */
    size_t lost; /* switchings at which a time could not be moved: a condition only touches there */
} forward;

/* o: of the run; its points and what they carry are left out. False with a diagnostic: the run failed, or a derivative
 * has no value. */
bool forward_run(forward *f, const sim_options *o);

#endif
