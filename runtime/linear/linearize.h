/* linearize.h - the linear model at an operating point and all that follows from it alone
 *
 * states   in the order of the text (elements, then integrals), not the model's own
 * inputs   the inputs of the text; where there are none, its sources. An input whose rate the equations read has a
 *          column of its own, der(name)
 * outputs  those of the text
 * units    SI
 */
#ifndef BG_LINEARIZE_H
#define BG_LINEARIZE_H

#include "modes.h"
#include "state_space.h"
#include "structure.h"

typedef struct linear_input {
    const char *name;
    const unit *unit;
    uint32_t element;
} linear_input; /* element: of a source, else NONE */

/* How each eigenvalue moves with each of some parameters: [parameter][eigenvalue]. NAN: there is no such number (a
 * defective cluster splits like a root; the equilibrium does not move smoothly). Of a cluster: of a simple basis the
 * moves in falling size, of a defective one each along the chain where no parameter splits it, else their mean. */
typedef struct effect_table {
    size_t nparameters;
    const char **parameter;
    double *value;
    double complex *at;
    double complex *total;
    bool has_total;
} effect_table;

typedef struct linearization {
    bg_model *model;
    double time;
    bool equilibrium; /* nothing moves there, but for integrals that only outputs read */
    double *x, *rate; /* [n] in the order here */
    size_t *order;    /* [n] number in the model */
    VEC(linear_input) input;
    state_space space;
    structure structure; /* structure.why: there is none */
    bool as_equations;   /* dependent storage is taken as the equations have it: no E of single stores */
    double mismatch; /* between A and B of the structure and those of the equations, relative to each row; NAN without a
                        structure */
    modes modes;
    bool modes_known; /* false: they did not converge */
    bool switched;    /* ideal switches are in it: the matrices are those of the modes as they are; no structure where
                         they constrain states, but E of elements */
    bool sparse;      /* only some eigenvalues are known, A is not, nor what needs all of it */
    char *few;        /* why none is known of a sparse one */
    effect_table effect;
    bool *holder; /* [nclusters] some parameter splits it like a root */
    /* |dlambda/ds|, |dlambda/dl|: [eigenvalue + n*element], where all eigenvalues are known; by the physical parameter;
     * relative. NULL: none; NAN: of an eigenvalue that has no vectors, where ideal switches constrain states */
    double *E_IC, *E_R, *E_IC_physical, *E_R_physical, *E_IC_relative, *E_R_relative;
    double *E_D; /* of dependent storage, as E_IC */
    double *conserved;
    size_t nconserved; /* [n] each: combinations of states that no state changes (inputs may: linear_is_integrator) */
    char *why;         /* it could not be done: a sentence */
} linearization;

enum {
    DENSE_MOST = 1500, /* states up to which all eigenvalues are found, by the QR algorithm */
    SPARSE_COUNT = 12
}; /* eigenvalues that are found where there are more, unless told otherwise */
/* Which eigenvalues to find. count 0: all if A may be dense, else SPARSE_COUNT. */
typedef struct mode_request {
    size_t count;
    double complex near;
} mode_request;

/* m: compiled with open inputs and sources, its modes those at (t, x). False: l->why. linearization_free it in any
 * case, before the model. */
/* Is A the same for all states? Points beside x are looked at, too: a cubic spring has no curvature at rest. */
bool linear_everywhere(bg_model *m, double t, const double *x);
bool linearize_at(bg_model *m, double t, const double *x, linearization *l);
bool linearize_some(bg_model *m, double t, const double *x, mode_request which, linearization *l);
void linearization_free(linearization *l);
double *linearization_states(const linearization *l); /* at its point, in the model's order; free it */

/* What mode i carries from an input to an output: (C u)(w B). */
double complex mode_residue(const linearization *l, size_t i, size_t input, size_t output);

/* Does input u change the k-th of what no state changes? Does that change at all, by an input or at the point as it is?
 * What does not is redundant. */
bool linear_fed_by(const linearization *l, size_t k, size_t input);
bool linear_is_integrator(const linearization *l, size_t k);

const char *linear_state_name(const linearization *l, size_t i);
const char *linear_storage_name(const linearization *l, size_t i);
const char *linear_dissipator_name(const linearization *l, size_t i);
/* What the physical parameter of a storage is: "k" of a spring (stiffness), else "C" or "I"; of a dissipator "R". */
const char *linear_storage_parameter(const linearization *l, size_t i);

#endif
