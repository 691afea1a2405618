/* passive_model.c - see passive_model.h */
#include "passive_model.h"

#include <stdlib.h>

#include "hamiltonian.h"
#include "mode_reduction.h"

enum { MOST_STATES = 300 };

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
        if (reduction_point(c.model, &t, x) && linear_everywhere(c.model, t, x) && linearize_at(c.model, t, x, &l)) {
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
