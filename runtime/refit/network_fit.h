/* network_fit.h - fits the coefficients of a reduced network to the response of the full one
 *
 * Minimizes the sum of squares of the weighted errors of the response at some frequencies, over logarithms of the
 * numbers, so that positive numbers stay positive. Derivatives are exact, of rank one each (network.h). For the
 * greatest error over all frequencies the weights follow the errors (Lawson 1961): weighted least squares then approach
 * p-norms of growing p; the best round is kept, and frequencies are added where errors peak between the existing ones.
 *
 * units    omega in 1/s; errors relative to the greatest response
 */
#ifndef BG_NETWORK_FIT_H
#define BG_NETWORK_FIT_H

#include "network.h"

/* ---- the frequencies ---- */
typedef struct frequencies {
    size_t n, size; /* size: ny*nu */
    double *omega;
    double complex *G; /* [n][size] response of the full network */
    double *weight;    /* [n] */
    double scale;      /* greatest response, Frobenius */
    /* a finer grid, on which errors are searched for */
    size_t ndense;
    double *dense;
    double complex *dense_G;
} frequencies;
/* For a stable system: `count` frequencies between which the response (or it per logarithm of frequency) changes by
 * equal amounts. False: there is no response. */
bool frequencies_of(const state_space *s, const double complex *eigenvalue, size_t neigenvalues, size_t count,
                    frequencies *f);
frequencies frequencies_copy(const frequencies *f);
void frequencies_free(frequencies *f);

/* ---- the parameters ---- */
typedef struct tuned {
    size_t parameter; /* the coefficient is proportional to this power of the parameter, alone or with others */
    double power;
} tuned;
typedef struct tuning {
    size_t nparameters;
    VEC(tuned) * of; /* [parts] */
} tuning;

/* Relative root mean square of the weighted errors for `fate` at theta [nparameters], which holds logarithms of
 * parameters over their start values; INFINITY: there is no response. */
double network_error(const network *k, const tuning *t, const uint8_t *fate, const frequencies *f, const double *theta);
/* Fits theta, with at most `steps` steps. Returns the error as above. */
double network_fit(const network *k, const tuning *t, const uint8_t *fate, const frequencies *f, size_t steps,
                   double *theta);
/* Fits theta for the smallest greatest relative error (largest singular value) over the dense frequencies; changes the
 * weights of f and adds frequencies. */
double network_fit_worst(const network *k, const tuning *t, const uint8_t *fate, frequencies *f, size_t rounds,
                         double *theta);

/* ---- the predicted error if one more part is removed ---- */
typedef struct prospect {
    size_t part;
    enum part_fate fate;
    double error; /* predicted to first order, after fitting */
} prospect;
/* For all storage that stays and may be removed, both ways; *n of them (free() the list), in no order. every: uses one
 * of so many frequencies. NULL: there is no response. */
prospect *network_prospects(const network *k, const tuning *t, const uint8_t *fate, const frequencies *f, size_t every,
                            const double *theta, size_t *n);

#endif
