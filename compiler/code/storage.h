/* storage.h - energies of storage laws, evaluated one port at a time
 *
 * units    what the port stores (q or p) in SI, its conjugate (effort of a q, flow of a p), energy in J
 * values   value[v]: of parameters and literals, by variable
 */
#ifndef BG_STORAGE_H
#define BG_STORAGE_H

#include "flat.h"

/* The variable that is the derivative of the stored energy by what a port of storage stores. */
var_id storage_conjugate(const flat_model *f, uint32_t port);
/* Energy taken up from one point to another, each {stored, conjugate}; NAN where the law reads more than its own port
 * and parameters (of a linear law: what the coefficient is at the end). */
double storage_energy(const flat_model *f, const double *value, uint32_t port, const double from[2],
                      const double to[2]);
/* Does the law read its own port and parameters alone? */
bool storage_is_alone(const flat_model *f, uint32_t port);
/* Second derivative of the energy by what the port stores, at the states x (position: of state variables in it, by
 * variable): 1/C, 1/m. NAN where the law reads what is no state, or has no slope there. */
double storage_curvature(const flat_model *f, const double *value, const uint32_t *position, uint32_t port,
                         const double *x);

#endif
