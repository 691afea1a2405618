/* reference.h - evaluates a random bond graph straight from its description
 *
 * Unknowns are the effort and the flow of every bond; the equations are the constitutive laws and the junctions as they
 * stand, nothing is assigned or eliminated beforehand. Where storage elements depend on each other the equations are
 * differentiated in time (Taylor series of every law), as often as it takes to determine all rates.
 */
#ifndef BG_TEST_REFERENCE_H
#define BG_TEST_REFERENCE_H

#include "generate.h"

/* The pencil of all equations with random numbers modulo a prime in place of values: false if it is singular,
 * else *order is the number of free initial values. Exact, but for a chance of 1e-15. */
bool reference_order(const rgraph *g, size_t *order);

enum reference_outcome { REFERENCE_FINE, REFERENCE_UNDETERMINED, REFERENCE_NO_CONVERGENCE };
typedef struct reference {
    double *value;        /* [var] all variables */
    double *rate;         /* [nstates] rates of the given ones */
    double *power;        /* [element] into it */
    double *output;       /* [output] */
    double scale;         /* greatest magnitude among variables */
    double condition;     /* a rough condition number of the equations solved */
    unsigned derivatives; /* how often the equations were differentiated */
} reference;

/* Everything at time t, given values of nstates variables. Equations that close over a wave of a stored quantity may
 * have several solutions: Newton's method begins at the values of start[var], or, where that is NULL, at zero. state[i]
 * is a differential variable, or an algebraic one (the common variable of a junction that is a state). */
enum reference_outcome reference_at(const rgraph *g, double t, const uint32_t *state, const double *value,
                                    size_t nstates, const double *start, reference *r);
void reference_free(reference *r);

#endif
