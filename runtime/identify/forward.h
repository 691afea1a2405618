/* forward.h - a run's outputs at given times, and their exact derivatives by parameters
 *
 * The sensitivity equations are solved along the run as it goes, on its own steps cut at the times wanted (tangent.h)
 * and where s needs shorter ones for the run's tolerance (paced.h). Of the variational integrator the derivatives are
 * exact: its steps end at the times wanted. Where something switches, jumps or is sampled, s follows (crossing.h). At
 * the start s is that of the initial values, or of the equilibrium (outset.h).
 *
 * Columns are parameters, then initial values of states, then sizes of jumps: what is added to what a reinit gives.
 *
 * units    SI
 * shapes   output[time][outputs]; derivative[time][outputs][columns]
 */
#ifndef BG_FORWARD_H
#define BG_FORWARD_H

#include "simulate.h"

typedef struct forward {
    bg_model *model;
    const var_id *by;
    size_t n;              /* parameters; no columns at all: outputs alone */
    const size_t *initial; /* states, whose initial values are moved; not from an equilibrium */
    size_t ninitial;
    const size_t *jump; /* states, whose jumps at `when` and `every` are moved in size */
    size_t njumps;
    const double *time;
    size_t ntimes;               /* ascending, within the run */
    double *output, *derivative; /* filled as far as the run got */
    double *activity;            /* [elements] J, over the experiment's windows; NULL: not wanted */
    double seconds;              /* CPU time of the integration */
    size_t steps;                /* that it took */
    size_t done; /* times that were reached; where the run ended earlier (`stop when`) the others are filled with what
                    was there */
    double end;  /* s, where it ended */
    size_t lost; /* switchings at which a time could not be moved: a condition only touches there */
} forward;

/* o: of the run; its points and what they carry are left out. False with a diagnostic: the run failed, or a derivative
 * has no value. */
bool forward_run(forward *f, const sim_options *o);
size_t forward_columns(const forward *f);
/* Says that derivatives have no value at t. False. */
bool forward_no_value(const bg_model *m, double t, const char *what);

#endif
