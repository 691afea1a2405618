/* fuzz_linear.c - any bytes as a model that is linearized where its experiment begins
 *
 * What can be linearized has finite matrices, or says why not; it prints as text and JSON, with expressions and as
 * LaTeX.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "events.h"
#include "fuzz.h"
#include "linear_report.h"
#include "linear_symbolic.h"
#include "simulate.h"

enum { MOST_BYTES = 8192, MOST_STATES = 40 };

static void
print(linearization *l, FILE *out)
{
    linear_view v = { 0 };
    json j = { .out = out };

    linear_json(l, &v, &j);
    linear_text(l, &v, out);
    for (int latex = 0; latex < 2; latex++) {
        char *why = NULL;

        must(linear_symbolic(l, latex, out, NULL, &why) || why, "no structured form, and nobody says why", NULL);
        free(why);
    }
}

static void
look(bg_model *m, FILE *out)
{
    size_t n = model_nstates(m);
    double *x = bg_calloc(n + 1, sizeof *x);
    linearization l = { 0 };
    sim_options o = { 0 };
    bool fine = sim_options_from_experiment(m, &o) && model_initial(m, o.start, x);

    if (fine && model_has_nets(m)) {
        events *e = events_new(m, o.start, o.start + 1);

        fine = events_start(e, o.start, x) != EVENTS_FAILED;
        events_free(e);
    }
    if (fine && linearize_at(m, o.start, x, &l)) {
        for (size_t i = 0; i < n * n && !l.sparse; i++)
            must(isfinite(l.space.A[i]), "the system matrix is not finite", NULL);
        print(&l, out);
    } else {
        must(!fine || l.why, "it is not linearized, and nobody says why", NULL);
    }
    linearization_free(&l);
    sim_options_free(&o);
    free(x);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    compilation c = { 0 };
    FILE *out = fopen("/dev/null", "w");

    if (size <= MOST_BYTES && out && !leads_elsewhere(data, size)) {
        if (fuzz_compile_open(&c, "fuzz.bg", data, size, STAGE_MODEL) && c.model &&
            model_nstates(c.model) <= MOST_STATES)
            look(c.model, out);
        print_nowhere(c.sources);
        fuzz_free(&c);
    }
    if (out)
        fclose(out);
    return 0;
}
