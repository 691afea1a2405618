/* parameters.c - see parameters.h */
#include <math.h>

#include "parameters.h"

enum { NEW, OPEN, DONE };

static bool
to_compute(const flat_model *f, var_id v, const bool *fixed)
{
    return f->var.at[v].kind == VAR_PARAM && !(fixed && fixed[v]) && inst_known(f->var.at[v].def);
}

void
parameter_values(const flat_model *f, double *value, const bool *fixed)
{
    uint8_t *state = bg_calloc(f->var.n + 1, 1);
    VEC(var_id) stack = { 0 };
    VEC(double) slot = { 0 };

    for (uint32_t v = 0; v < f->var.n; v++) {
        if (f->var.at[v].kind == VAR_LITERAL)
            value[v] = f->var.at[v].value;
        else if (to_compute(f, v, fixed))
            vec_push(&stack, v);
    }
    while (stack.n) {
        var_id v = stack.at[stack.n - 1];
        inst d = f->var.at[v].def;
        bool ready = true;

        if (state[v] == DONE) {
            stack.n--;
            continue;
        }
        for (uint32_t k = 0; k < d.n && state[v] == NEW; k++) {
            var_id w = f->slot.at[d.first + k];

            if (to_compute(f, w, fixed) && state[w] == NEW) {
                vec_push(&stack, w);
                ready = false;
            }
        }
        if (!ready) {
            state[v] = OPEN;
            continue;
        }
        slot.n = 0;
        for (uint32_t k = 0; k < d.n; k++)
            vec_push(&slot, value[f->slot.at[d.first + k]]);
        value[v] = ex_eval(f->pool, d.root, slot.at);
        state[v] = DONE;
        stack.n--;
    }
    vec_free(&stack);
    vec_free(&slot);
    free(state);
}

bool
parameters_finite(const flat_model *f, const double *value)
{
    bool all = true;

    for (uint32_t v = 0; v < f->var.n; v++) {
        inst d = f->var.at[v].def;
        bool first = true;
        strbuf text = { 0 };

        if (!to_compute(f, v, NULL) || isfinite(value[v]))
            continue;
        all = false;
        for (uint32_t k = 0; k < d.n; k++)
            first = first && isfinite(value[f->slot.at[d.first + k]]);
        if (!first)
            continue;
        flat_print(f, d, &text);
        diag_error(f->sources, "parameter-value", f->var.at[v].at, "\"%s\" has no finite value: it is %s", f->var.at[v].name, text.n ? text.at : "");
        for (uint32_t k = 0; k < d.n; k++) {
            var_id w = f->slot.at[d.first + k];

            if (f->var.at[w].kind == VAR_PARAM)
                diag_note(f->sources, f->var.at[w].at, "\"%s\" is %.6g", f->var.at[w].name, value[w]);
        }
        strbuf_free(&text);
    }
    return all;
}
