/* network_fit.h - numbers of a piece of a network, so that it responds as the whole does
 *
 * The errors of the response at some frequencies, weighted, least in their sum of squares over logarithms of numbers:
 * so what is positive stays so. Derivatives are exact, of rank one each (network.h). For the greatest error over all
 * frequencies the weights follow the errors (Lawson 1961), the least over all rounds is kept, and frequencies are added
 * where errors rise between those there are: sums of squares of so weighted errors are p-norms whose p grows.
 *
 * units    omega in 1/s; errors relative to the greatest response
 */
#ifndef BG_NETWORK_FIT_H
#define BG_NETWORK_FIT_H

#include "network.h"

/* ---- where it is looked at ---- */
typedef struct frequencies {
    size_t n, size; /* size: ny*nu */
    double *omega;
    double complex *G; /* [n][size] of the whole */
    double *weight;    /* [n] */
    double scale;      /* greatest response, Frobenius */
    /* the same, everywhere: what errors are looked for at */
    size_t ndense;
    double *dense;
    double complex *dense_G;
} frequencies;
/* Of a stable system: `count` frequencies between which the response, or its logarithm of frequency, moves alike.
 * False: no response. */
bool frequencies_of(const state_space *s, const double complex *eigenvalue, size_t neigenvalues, size_t count,
                    frequencies *f);
frequencies frequencies_copy(const frequencies *f);
void frequencies_free(frequencies *f);

/* ---- what is moved ---- */
typedef struct tuned {
    size_t parameter; /* the coefficient goes with this power of the parameter, alone or among others */
    double power;
} tuned;
typedef struct tuning {
    size_t nparameters;
    VEC(tuned) * of; /* [parts] */
} tuning;

/* Relative root mean square of the weighted errors of fate at theta [nparameters], logarithms of parameters over their
 * starts; INFINITY: it has no response. */
double network_error(const network *k, const tuning *t, const uint8_t *fate, const frequencies *f, const double *theta);
/* Moves theta. steps: at most so many. The error as above. */
double network_fit(const network *k, const tuning *t, const uint8_t *fate, const frequencies *f, size_t steps,
                   double *theta);
/* Moves theta to lessen the greatest relative error (largest singular value) over the dense frequencies; f's weights
 * are changed and frequencies added. */
double network_fit_worst(const network *k, const tuning *t, const uint8_t *fate, frequencies *f, size_t rounds,
                         double *theta);

/* ---- what would become of the error if one part more went ---- */
typedef struct prospect {
    size_t part;
    enum part_fate fate;
    double error; /* predicted to first order after fitting */
} prospect;
/* For all storage that stays and may go, both ways; *n of them, malloc'ed, in no order. every: of the frequencies each
 * so-manieth is looked at. NULL: no response. */
prospect *network_prospects(const network *k, const tuning *t, const uint8_t *fate, const frequencies *f, size_t every,
                            const double *theta, size_t *n);

#endif
