/* partials.h - sparse partial derivatives of rates and outputs by states, kept algebraic variables and chosen
 * parameters
 *
 * With x the states, z the kept variables (jacobian.h), q the chosen parameters and y the outputs,
 *     dx/dt = f(x, z, q),  0 = g(x, z, q),  y = h(x, z, q)
 * the matrix is, with rows and columns in this order,
 *              x    z    q   (y)
 *     f     [ f_x  f_z  f_q   . ]
 *     g     [ g_x  g_z  g_q   . ]
 *    (q)    [  .    .    .    . ]      rows of q and columns of y are empty: they keep the matrix square
 *     y     [ h_x  h_z  h_q   . ]
 * Moving a parameter moves what is computed from it (moves.h); a parameter that was set (model_set_parameter) does not
 * depend on anything. Modes are constant.
 */
#ifndef BG_PARTIALS_H
#define BG_PARTIALS_H

#include "jacobian.h"
#include "moves.h"

/* Shared by instances: patterns and code. */
typedef struct partials_form partials_form;
/* by: n parameters (VAR_PARAM). noutputs: number of outputs, the first ones of the equations. held: for ideal switches
 * (net.h), columns of held unknowns follow q, and rows of their conditions follow y. made: receives the program of its
 * routine. NULL with a diagnostic if the code fails. */
partials_form *partials_form_new(struct equations *e, struct layout l, bool optimise, const var_id *by, size_t n,
                                 size_t noutputs, bool held, struct program_list *made);
void partials_form_free(partials_form *p);
/* Was it made for these arguments? */
bool partials_form_is(const partials_form *p, const var_id *by, size_t n, size_t noutputs, bool held);

/* The numbers of an instance. */
partials *partials_new(const partials_form *f, block_memory *memory);
void partials_free(partials *p);
/* value: of all variables; fixed[v]: set from outside. Call before the first evaluation. */
void partials_set_parameters(partials *p, const double *value, const bool *fixed);
/* The same after n parameters changed, the first of which was set. */
void partials_follow_parameters(partials *p, const double *value, const bool *fixed, const var_id *changed, size_t n);
void partials_forget(partials *p); /* what runs left behind */
/* Compressed columns, rows ascending. The diagonal is stored in the columns of x and z. */
struct model_pattern partials_pattern(const partials *p);
int partials_evaluate(partials *p, double t, const double *x, const double *modes, double *value);

#endif
