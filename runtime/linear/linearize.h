/* linearize.h - the linear model at an operating point, and the results that follow from it alone
 *
 * states   in the order of the text (elements, then integrals), which may differ from the model's order
 * inputs   the inputs of the text; where there are none, its sources. An input whose rate the equations read has a
 *          second column, der(name)
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
} linear_input; /* element: that of a source, else NONE */

/* Derivatives of the eigenvalues by some parameters: [parameter][eigenvalue]. NAN: there is none (a defective cluster
 * splits like a root; the equilibrium is not differentiable). For a cluster with a full basis the derivatives are in
 * descending magnitude; for a defective one along its chain where no parameter splits it, else their mean. */
typedef struct effect_table {
    size_t nparameters;
    const char **parameter;
    double *value;
    double complex *at;
    double complex *total;
    bool has_total;
    bool determined; /* false: the equilibrium does not move smoothly with some parameter, or is not the only one */
} effect_table;

typedef struct linearization {
    bg_model *model;
    double time;
    bool equilibrium; /* all rates are zero, except those of integrals that only outputs read */
    double *x, *rate; /* [n] in the order used here */
    size_t *order;    /* [n] number of the state in the model */
    VEC(linear_input) input;
    state_space space;
    structure structure; /* structure.why: there is none */
    /* dependent storage is taken from the model's equations: there is no E of single storage elements */
    bool as_equations;
    /* difference between A and B from the structure and from the equations, relative to each row; NAN without a
     * structure */
    double mismatch;
    modes modes;
    bool modes_known; /* false: the eigenvalue iteration did not converge */
    /* the model has ideal switches: the matrices are those of the present modes; there is no structure where they
     * constrain states, but E of elements */
    bool switched;
    bool sparse; /* large model: only some eigenvalues are known; A, and results that need all of A, are not */
    char *few;   /* why no eigenvalues of a large model are known */
    effect_table effect;
    bool *holder; /* [nclusters] some parameter splits the cluster like a root */
    /* |dlambda/ds|, |dlambda/dl|: [eigenvalue + n*element], if all eigenvalues are known; by the physical parameter;
     * relative. NULL: not computed; NAN: for an eigenvalue without vectors, where ideal switches constrain states */
    double *E_IC, *E_R, *E_IC_physical, *E_R_physical, *E_IC_relative, *E_R_relative;
    double *E_D; /* of dependent storage, as E_IC */
    double *conserved;
    /* [n] each: combinations of states whose rates depend on no state (inputs may change them: linear_is_integrator) */
    size_t nconserved;
    char *why; /* why there is no linear model: a sentence */
} linearization;

enum {
    DENSE_MOST = 1500, /* greatest number of states for which all eigenvalues are computed, by the QR algorithm */
    SPARSE_COUNT = 12
}; /* number of eigenvalues computed for larger models, unless another is asked for */
/* The eigenvalues to compute. count 0: all if A may be dense, else SPARSE_COUNT. */
typedef struct mode_request {
    size_t count;
    double complex near;
} mode_request;

/* Is A the same for all states? Points near x are checked too: a cubic spring has zero curvature at rest. */
bool linear_everywhere(bg_model *m, double t, const double *x);
/* m: compiled with open inputs and sources; its modes belong to (t, x). False: l->why. Call linearization_free in any
 * case, before the model is freed. */
bool linearize_at(bg_model *m, double t, const double *x, linearization *l);
bool linearize_some(bg_model *m, double t, const double *x, mode_request which, linearization *l);
void linearization_free(linearization *l);
/* states at the operating point in the model's order; free() it */
double *linearization_states(const linearization *l);

/* The residue of mode i from an input to an output: (C u)(w B). */
double complex mode_residue(const linearization *l, size_t i, size_t input, size_t output);

/* linear_fed_by: does the input change the k-th conserved combination? linear_is_integrator: does anything change it,
 * an input or the rates at the point? If not, it is redundant. */
bool linear_fed_by(const linearization *l, size_t k, size_t input);
bool linear_is_integrator(const linearization *l, size_t k);

const char *linear_state_name(const linearization *l, size_t i);
const char *linear_storage_name(const linearization *l, size_t i);
const char *linear_dissipator_name(const linearization *l, size_t i);
/* The name of a storage element's physical parameter: "k" of a spring (stiffness), else "C" or "I"; of a dissipator
 * "R". */
const char *linear_storage_parameter(const linearization *l, size_t i);

#endif
