/* jacobian.h - sparse partial derivatives of the rates, augmented by the algebraic variables that cost more to
 * eliminate than to keep
 *
 * Rows are rates, then variables. An explicit variable with few readers and few operands (in*out <= in+out+4) is
 * eliminated in advance, symbolically for the pattern and by lists of products for the numbers; hubs and unknowns of
 * blocks are kept.
 */
#ifndef BG_JACOBIAN_H
#define BG_JACOBIAN_H

#include "evaluate.h"
#include "model.h"
#include "routine.h"

struct equations;
struct layout;
struct program;
struct program_list;

/* Shared by instances: pattern, code, eliminated variables. */
typedef struct jacobian_form jacobian_form;
/* rhs: the planned program of the rates (targets in the order of the states) and of any further targets, which become
 * rows after the variables. weight: parameters whose columns are wanted, after the variables too. To keep the matrix
 * square, the further rows have empty columns (last), and the further columns empty rows. made: receives the program of
 * its routine. NULL with a diagnostic if its code fails. */
jacobian_form *jacobian_form_new(struct equations *e, const struct program *rhs, struct layout l, bool optimise,
                                 const var_id *weight, uint32_t nweights, struct program_list *made);
void jacobian_form_free(jacobian_form *f);
struct model_pattern jacobian_form_pattern(const jacobian_form *f);

/* The numbers of an instance. */
typedef struct jacobian jacobian;
jacobian *jacobian_new(const jacobian_form *f, block_memory *memory);
void jacobian_free(jacobian *j);
void jacobian_set_parameters(jacobian *j, const double *value);
/* The same for what depends on the n changed parameters. False: nothing does. */
bool jacobian_follow_parameters(jacobian *j, const double *value, const var_id *changed, size_t n);
void jacobian_forget(jacobian *j); /* what runs left behind */
struct model_pattern jacobian_pattern(const jacobian *j);
/* Does a stored value depend on more than parameters and modes? */
bool jacobian_varies(const jacobian *j, int64_t nonzero);
int jacobian_evaluate(jacobian *j, double t, const double *x, const double *modes, double *value);

#endif
