/* outset.h - derivatives of the states at the start of a run by parameters
 *
 * A stated initial value is a formula of parameters: s by central differences. At an equilibrium f = 0 and g = 0 hold
 * for every q: [f_x f_z; g_x g_z] (s, z) = -(f_q, g_q). States that only outputs read keep their stated initial values.
 * Where that system is singular, quantities conserved by the motion (w with w A = 0, where A is the matrix of the rates
 * by states) keep their initial values: A s = -b with w s = w s0.
 */
#ifndef BG_OUTSET_H
#define BG_OUTSET_H

#include "tangent.h"

typedef struct outset outset;

outset *outset_new(bg_model *m, const var_id *by, size_t n, double start);
void outset_free(outset *o);
/* s of the initial values by parameter q. Sets the modes of the model. False: nearby values have no initial state. */
bool outset_initial(outset *o, size_t q, double *s);
/* The run starts from the equilibrium x. False: a law has no slope there, or the equilibrium does not determine all
 * states. */
bool outset_rests(outset *o, tangent *g, double t, const double *x);
/* Replaces s of the initial values by s of the equilibrium. */
bool outset_equilibrium(outset *o, tangent *g, size_t q, double *s);

#endif
