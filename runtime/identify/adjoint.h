/* adjoint.h - derivatives of outputs at the end of a run by any number of parameters, initial values and jumps
 *
 * The run is recorded: the states from which the linear map of each step is made, and what happened at events. The
 * transposed maps of tangent.h and crossing.h are then applied from the end of the run to its start, in steps that keep
 * the run's tolerance (paced.h); the cost grows with the number of outputs, not with that of parameters. For the
 * variational integrator the result equals that of forward.h up to rounding.
 *
 * cost     one run; for each step one factorisation, and one solution for each output; memory for 6 state vectors a
 *          step
 * shapes   gradient[outputs][parameters], initial[outputs][states], jump[outputs][states]: derivatives by an amount
 *          added to a state at its start, and whenever a reinit or a sample sets it
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

/* The arrays belong to the caller. Where the run starts from an equilibrium, initial values have no effect; `initial`
 * is then what it would be without the equilibrium. False: failed, with a diagnostic. */
bool adjoint_run(adjoint *a, const sim_options *o);

#endif
