/* adjoint.h - derivatives of outputs at the end of a run by any number of parameters, initial values and jumps
 *
 * The run is recorded: the states that the map of each step is made from, and what happened at events. Back along it go
 * the transposed maps of tangent.h and crossing.h, in steps that keep the run's tolerance (paced.h); its cost grows
 * with the outputs, not with the parameters. Of the variational integrator the result is that of forward.h to rounding.
 *
 * cost     one run; for each step one factorisation and for each output one solution; 6 states' worth of memory a step
 * shapes   gradient[outputs][parameters], initial[outputs][states], jump[outputs][states]: by what is added to a state
 *          at its start, and whenever a reinit or a sample sets it
 */
#ifndef BG_ADJOINT_H
#define BG_ADJOINT_H

#include "simulate.h"

typedef struct adjoint {
    bg_model *model;
    const var_id *by;
    size_t n;
    const uint32_t *output;
    size_t noutputs;
    double *value, *gradient, *initial, *jump;
    double end;  /* s, where the run ended */
    size_t lost; /* as in forward.h */
} adjoint;

/* The arrays are the caller's. From an equilibrium initial values mean nothing: initial is then what it would be
 * without one. False with a diagnostic. */
bool adjoint_run(adjoint *a, const sim_options *o);

#endif
