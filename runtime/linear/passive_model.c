/* passive_model.c - see passive_model.h */
#include "passive_model.h"

#include <math.h>
#include <stdlib.h>

#include "curvature.h"
#include "hamiltonian.h"
#include "mode_reduction.h"

enum { MOST_STATES = 300 };

/* Does A stay as it is when the states move a little, along mixed directions? */
static bool
bends_nowhere(bg_model *m, double t, const double *x)
{
    size_t n = model_nstates(m);
    double complex *left = bg_calloc(n + 1, sizeof *left), *right = bg_calloc(n + 1, sizeof *right),
                   *by = bg_calloc(n + 1, sizeof *by);
    curvature *c = model_curvature(m, NULL, 0);
    bool fine = model_curvature_at(m, c, t, x);

    for (size_t i = 0; i < n; i++) {
        left[i] = cos(1 + 1.3 * (double)i);
        right[i] = sin(2 + 0.7 * (double)i);
    }
    fine = fine && curvature_gradient(c, left, right, by, NULL);
    for (size_t i = 0; i < n && fine; i++)
        fine = by[i] == 0;
    curvature_free(c);
    free(left);
    free(right);
    free(by);
    return fine;
}

/* At x and beside it: a cubic spring has no curvature at rest. */
static bool
is_linear(bg_model *m, double t, const double *x)
{
    size_t n = model_nstates(m);
    double *beside = bg_calloc(n + 1, sizeof *beside);
    bool fine;

    for (size_t i = 0; i < n; i++)
        beside[i] = x[i] + 0.1 * (1 + fabs(x[i])) * cos(3 + 0.9 * (double)i);
    fine = bends_nowhere(m, t, x) && bends_nowhere(m, t, beside);
    free(beside);
    return fine;
}

enum model_passivity
passive_model(const char *path, const char *text, size_t length, const compile_options *o, char **why)
{
    compile_options open = *o;
    compilation c = { 0 };
    linearization l = { 0 };
    hamiltonian h = { 0 };
    enum model_passivity is = PASSIVITY_NOT_LOOKED_AT;
    double *x = NULL, t;

    *why = NULL;
    open.open = true;
    if (compile_text(&c, path, text, length, STAGE_MODEL, &open) && model_nstates(c.model) > 0 &&
        model_nstates(c.model) <= MOST_STATES && model_nmodes(c.model) == 0 && model_nwhens(c.model) == 0) {
        x = bg_calloc(model_nstates(c.model) + 1, sizeof *x);
        if (reduction_point(c.model, &t, x) && is_linear(c.model, t, x) && linearize_at(c.model, t, x, &l)) {
            hamiltonian_make(&l, &h);
            is = h.why ? MODEL_PASSIVITY_UNKNOWN : h.passive ? MODEL_PASSIVE : MODEL_NOT_PASSIVE;
            *why = h.why;
            h.why = NULL;
            hamiltonian_free(&h);
        }
        linearization_free(&l);
    }
    free(x);
    compile_free(&c);
    return is;
}
