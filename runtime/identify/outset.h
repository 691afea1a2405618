/* outset.h - how the states at the start of a run move with parameters
 *
 * Each stated initial value is a formula of the parameters: s by central differences. At an equilibrium f = 0 and g = 0
 * for every q: [f_x f_z; g_x g_z] (s, z) = -(f_q, g_q). States that only outputs read keep what their initial values
 * say. Where that system is singular, what the motion conserves (w with w A = 0, A the rates by states) keeps its
 * initial value: A s = -b with w s = w s0.
 */
#ifndef BG_OUTSET_H
#define BG_OUTSET_H

#include "tangent.h"

typedef struct outset outset;

outset *outset_new(bg_model *m, const var_id *by, size_t n, double start);
void outset_free(outset *o);
/* s of the initial values by parameter q. Sets the model's modes. False: there are none for values so near. */
bool outset_initial(outset *o, size_t q, double *s);
/* The run starts from the equilibrium x. False: a law has no slope there, or what it leaves free is not told. */
bool outset_rests(outset *o, tangent *g, double t, const double *x);
/* s of the equilibrium from s of the initial values, in place. */
bool outset_equilibrium(outset *o, tangent *g, size_t q, double *s);

#endif
