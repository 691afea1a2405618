/* fit_runs.h - the runs of a fit with given parameters: their outputs, and rows for least squares
 *
 * Runs, which are of models of their own, run side by side on all cores. Rows are added in the order of runs: the
 * result does not depend on the number of cores. theta: each parameter in units of its size.
 */
#ifndef BG_FIT_RUNS_H
#define BG_FIT_RUNS_H

#include "identify.h"
#include "least_squares.h"

struct search {
    fit *f;
    size_t n;
    double *size; /* unit of each theta */
    bool *held;
    double *seen; /* theta at which activities were last computed */
    size_t evaluations;
    bool beside;                    /* other processes search further at the same time */
    double part;                    /* part of the data's time in use */
    size_t steps;                   /* steps of the longest good run; 0: there was none */
    VEC(double *) output, activity; /* of each run, at the last evaluation; activity only where it is needed */
};

void fit_set_parameters(struct search *s, const double *theta);
/* All runs, with rows unless it is NULL. False: one of them failed; rows are those of the runs before it. */
bool fit_evaluate(void *search, const double *theta, ls_rows *rows);
/* One run, for its outputs */
void fit_run_once(struct search *s, size_t index, const double *theta);

#endif
