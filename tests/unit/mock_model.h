/* mock_model.h - hand-written models behind model.h, so that the runtime is tested without the compiler
 *
 * A model is a table of functions over (t, x) with its frozen modes. Without a Jacobian of its own it has a full one by
 * central differences.
 */
#ifndef MOCK_MODEL_H
#define MOCK_MODEL_H

#include "model_graph.h"

typedef struct mock mock;
struct mock {
    size_t nstates, nmodes, noutputs, nelements;
    const char *const *state_name;     /* NULL: x0, x1, ... */
    const bool *only_outputs, *stated; /* NULL: none, all */
    const double *p;                   /* parameters */
    void (*rhs)(const mock *m, const double *mode, double t, const double *x, double *dx);
    void (*powers)(const mock *m, const double *mode, double t, const double *x, double *power);
    void (*outputs)(const mock *m, const double *mode, double t, const double *x, double *y);
    void (*conditions)(const mock *m, const double *mode, double t, const double *x, double *g);
    const struct model_mode *mode; /* [nmodes] */
    /* events of the text: conditions, then values of the reinits; when: what each sets, reinit_state: which states */
    size_t nwhens, nreinits;
    const struct model_when *when;
    const size_t *reinit_state;
    void (*reinits)(const mock *m, const double *mode, double t, const double *x, double *value);
    const double *x0;
    /* sparse Jacobian, augmented if n > nstates; NULL: full, by differences */
    struct model_pattern pattern;
    void (*jacobian)(const mock *m, const double *mode, double t, const double *x, double *value);
    const char *explain; /* what model_explain says where the rates are not finite */
};

bg_model *mock_new(const mock *spec);
void mock_free(bg_model *m);
uint64_t mock_rhs_calls(const bg_model *m);

#endif
