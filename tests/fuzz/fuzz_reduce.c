/* fuzz_reduce.c - any bytes as a model that is reduced, by a threshold and within tolerances; runs are short and
 * bounded, and so are their number and the number of elements: what a search does it does with few
 *
 * A reduction that works gives a text that compiles; it is never an internal error.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "reduce.h"
#include "simplify.h"

enum { STEPS = 200, MOST_BYTES = 4096, MOST_ELEMENTS = 12, MOST_RUNS = 60 };

static int runs;

static void
adjust(void *ctx, bg_model *m, sim_options *o)
{
    (void)ctx, (void)m;
    o->rtol = 1e-4;
    o->max_steps = runs++ < MOST_RUNS ? STEPS : 1;
    o->max_seconds = 0.5;
}

static void
compiles_still(enum reduce_result result, const reduction *r, const char *why)
{
    compilation after = { 0 };

    must(result != REDUCE_INTERNAL, why, r->text);
    if (result == REDUCE_DONE) {
        bool ok = fuzz_compile(&after, "fuzz.bg", r->text, r->length, STAGE_MODEL);

        must(ok, "the reduced text does not compile", r->text);
        fuzz_free(&after);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    compilation c = { 0 };

    if (size > MOST_BYTES || leads_elsewhere(data, size))
        return 0;
    if (fuzz_compile(&c, "fuzz.bg", data, size, STAGE_MODEL) && c.model && first_experiment(c.ast) &&
        c.flat->element.n <= MOST_ELEMENTS) {
        const char *experiment = first_experiment(c.ast);
        reduce_options o = { .experiment = experiment, .threshold = 0.9, .adjust = adjust };
        bounded_options b = { .experiment = &experiment,
                              .nexperiments = 1,
                              .within = WITHIN_SHARE,
                              .tolerance = 0.05,
                              .terms = size % 2,
                              .bonds = size % 3 == 0,
                              .adjust = adjust };
        char *why = NULL;
        reduction r = { 0 };
        enum reduce_result result;

        runs = 0;
        result = reduce(&c, &o, &r, &why);

        compiles_still(result, &r, why);
        reduction_free(&r);
        free(why);
        why = NULL;
        r = (reduction){ 0 };
        runs = 0;
        result = reduce_within("fuzz.bg", (const char *)data, size, &b, &r, &why);
        compiles_still(result, &r, why);
        reduction_free(&r);
        free(why);
    }
    fuzz_free(&c);
    return 0;
}
