/* fuzz_run.c - any bytes as a model that is compiled to machine code and run, for a few hundred steps
 *
 * What runs to its end gives finite states and activities, and finite outputs or an error that names them. What does
 * not says why.
 */
#include <math.h>
#include <stdlib.h>

#include "fuzz.h"
#include "simulate.h"

enum { POINTS = 11, STEPS = 300 };
static const double SECONDS = 2;

static bool
all_finite(const double *x, size_t n)
{
    for (size_t i = 0; x && i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

static void
simulate_some(compilation *c)
{
    sim_options o = { 0 };
    sim_result r = { 0 };

    if (sim_options_from_experiment(c->model, &o)) {
        size_t before = diag_errors(c->sources);
        bool fine;

        o.points = POINTS;
        o.outputs = o.states = o.activity = true;
        o.max_steps = STEPS;
        o.max_seconds = SECONDS;
        fine = simulate(c->model, &o, &r);
        must(fine || diag_errors(c->sources) > before, "a run failed without an error", NULL);
        if (fine) {
            must(all_finite(r.state, r.points * model_nstates(c->model)), "a state is not finite", NULL);
            must(all_finite(r.activity, model_nelements(c->model)), "an activity is not finite", NULL);
            must(r.nunfinite || all_finite(r.output, r.points * model_noutputs(c->model)),
                 "an output is not finite, and nobody said so", NULL);
        }
        sim_result_free(&r);
    } else {
        must(diag_errors(c->sources), "an experiment was refused without an error", NULL);
    }
    sim_options_free(&o);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    compilation c = { 0 };

    if (size > LONGEST || leads_elsewhere(data, size))
        return 0;
    if (fuzz_compile(&c, "fuzz.bg", data, size, STAGE_MODEL) && c.model)
        simulate_some(&c);
    print_nowhere(c.sources);
    fuzz_free(&c);
    return 0;
}
