/* forward.h - a run's outputs at given times, and their exact derivatives by parameters
 *
 * The sensitivity equations are solved along with the run, on its own steps, which are cut at the requested times
 * (tangent.h) and wherever s needs shorter steps to keep the run's tolerance (paced.h). For the variational integrator
 * the derivatives are those of its discrete steps, which end at the requested times. At events s passes crossing.h. At
 * the start s is that of the initial values or of the equilibrium (outset.h).
 *
 * Columns are parameters, then initial values of states, then sizes of jumps (an amount added to what a reinit gives).
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
    size_t n;              /* parameters; without any columns only outputs are computed */
    const size_t *initial; /* states whose initial values are varied; not with an equilibrium */
    size_t ninitial;
    const size_t *jump; /* states whose jumps at `when` and `every` are varied */
    size_t njumps;
    const double *time;
    size_t ntimes;               /* ascending, within the run */
    double *output, *derivative; /* filled as far as the run went */
    double *activity;            /* [elements] J, over the experiment's windows; NULL: not computed */
    double seconds;              /* CPU time of the integration */
    size_t steps;                /* number of steps */
    /* number of times reached; where the run ended earlier (`stop when`), the rest is filled with the last values */
    size_t done;
    double end; /* s, end of the run */
    /* number of events whose time could not be differentiated, because a condition only touches its border */
    size_t lost;
} forward;

/* o: options of the run; its points and recordings are ignored. False: the run failed or a derivative is not defined
 * (with a diagnostic). */
bool forward_run(forward *f, const sim_options *o);
size_t forward_columns(const forward *f);
/* Reports that derivatives are not defined at t. Returns false. */
bool forward_no_value(const bg_model *m, double t, const char *what);

#endif
