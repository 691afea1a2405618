/* test_smallest.c - reductions within tolerances against trying every set of parts
 *
 *   test_smallest FIRST COUNT
 *
 * Models are random: masses in a row or circuits in steps, of up to ten parts that may go, sizes over three decades,
 * some with weights, some with a branch in resonance. Every set of parts, each dropped or clamped, that would leave
 * fewer states than the reduction did, or as many and fewer elements, is taken out here, run, and held against the
 * model as given on its own. None may fit, unless the report names the kind of set that was not tried.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "reduce.h"
#include "rewrite.h"

enum { MOST = 10 };

static uint64_t state;

static uint32_t
below(uint32_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((state >> 33) % n);
}

static double
between(double a, double b)
{
    return a + (b - a) * below(1 << 20) / (1 << 20);
}
static double
sized(double x)
{
    return x * pow(10, between(-2, 1));
}

/* ---------------------------------------------------------------- models */

static void
masses(strbuf *b, int n)
{
    strbuf_puts(b, "model m {\n    Se:push = sin(2*time) + 0.3*sin(7*time) -> v1;\n");
    for (int i = 1; i <= n; i++) {
        strbuf_printf(b, "    1:v%d -> I:m%d = %.3g;\n", i, i, sized(1));
        if (i < n)
            strbuf_printf(b, "    v%d -> 0:s%d -> v%d;\n", i, i, i + 1);
        else
            strbuf_printf(b, "    v%d -> 0:s%d -> Sf:wall = 0;\n", i, i);
        strbuf_printf(b, "    s%d -> 1:d%d;\n", i, i);
        strbuf_printf(b, "    d%d -> C:c%d { e = %.3g*q + %.3g*q^3; }\n", i, i, sized(20), between(0, 1));
        if (below(3))
            strbuf_printf(b, "    d%d -> R:r%d = %.3g;\n", i, i, sized(1));
    }
    if (below(2))
        strbuf_printf(b, "    Se:weight = %.3g -> v%d;\n", -sized(0.1), n);
    strbuf_puts(b, "    output x = integral(v1.f);\n}\n");
}

static void
circuit(strbuf *b, int n)
{
    strbuf_puts(b, "model m {\n    Se:mains = sin(5*time) -> 1:i1;\n");
    for (int i = 1; i <= n; i++) {
        if (i > 1)
            strbuf_printf(b, "    1:i%d;\n    n%d -> i%d;\n", i, i - 1, i);
        strbuf_printf(b, "    i%d -> R:r%d = %.3g;\n", i, i, sized(1));
        if (below(2))
            strbuf_printf(b, "    i%d -> I:l%d = %.3g;\n", i, i, sized(0.1));
        strbuf_printf(b, "    i%d -> 0:n%d -> C:c%d = %.3g;\n", i, i, i, sized(0.2));
        if (i == n && below(2)) /* a coil that the capacitor cancels at the frequency of the mains, nearly */
            strbuf_printf(b, "    n%d -> 1:b -> I:branch = %.3g;\n", i, 1 / (25 * sized(0.2)));
    }
    strbuf_printf(b, "    n%d -> R:load = %.3g;\n    output u = n%d.e;\n}\n", n, between(1, 5), n);
}

static char *
model(uint32_t number)
{
    strbuf b = { 0 };

    state = number * UINT64_C(0x9E3779B97F4A7C15) + 1;
    below(2);
    if (below(2))
        masses(&b, 1 + (int)below(2));
    else
        circuit(&b, 1 + (int)below(2));
    strbuf_printf(&b, "experiment e of m { stop = 6; rtol = 1e-6; observe %s within %.3g; }\n",
                  strstr(b.at, "output x") ? "x" : "u", pow(10, between(-3, -0.7)));
    return b.at;
}

/* ---------------------------------------------------------------- every set */

struct text_run {
    compilation c;
    track out;
    bool ran;
};

/* shared: machine code and units of the texts before, which say almost the same */
static void
run_text(struct text_run *r, const char *text, compile_shared *shared, const struct text_run *first, const double *most)
{
    compile_options co = { .experiment = "e", .shared = shared };
    sim_options so = { 0 };
    sim_result result;

    memset(r, 0, sizeof *r);
    if (!compile_text(&r->c, "m.bg", text, strlen(text), STAGE_MODEL, &co) ||
        !sim_options_from_experiment(r->c.model, &so)) {
        sim_options_free(&so);
        return;
    }
    r->out.n = 1;
    if (first) {
        r->out.against = &first->out;
        r->out.most = most;
    }
    so.track = &r->out;
    so.max_steps = 200000;
    r->ran = simulate(r->c.model, &so, &result);
    sim_result_free(&result);
    sim_options_free(&so);
}

static void
run_free(struct text_run *r)
{
    track_free(&r->out);
    compile_free(&r->c);
}

static bool
is_part(const flat_model *f, const flat_element *e)
{
    return e->nports == 1 && (e->type != EL_SE || f->junction.at[f->port.at[e->port0].junction].type == 1) &&
           (e->type != EL_SF || f->junction.at[f->port.at[e->port0].junction].type == 0);
}

/* The text without the parts that a way of 1 drops and one of 2 clamps. NULL: it cannot be said. */
static char *
without(const struct text_run *first, const char *text, const uint32_t *part, const int *way, size_t n)
{
    const flat_model *f = first->c.flat;
    const char *name[MOST];
    rewrite_change change[MOST];
    size_t nnames = 0, nchanges = 0;
    rewrite plan;
    strbuf out = { 0 };

    for (size_t i = 0; i < n; i++) {
        const char *x = f->element.at[part[i]].name;

        if (way[i] == 1)
            name[nnames++] = x;
        else if (way[i] == 2)
            change[nchanges++] = (rewrite_change){ .kind = REWRITE_CLAMP, .owner = x, .name = x };
    }
    if (rewrite_plan(&(rewrite_request){ .f = f,
                                         .file = first->c.ast,
                                         .name = name,
                                         .n = nnames,
                                         .change = change,
                                         .nchanges = nchanges },
                     &plan) &&
        plan.edits.list.n)
        edits_apply(&plan.edits, text, strlen(text), &out);
    rewrite_free(&plan);
    return out.at;
}

/* A set that fits and is smaller, as text for a complaint; NULL: there is none. */
static char *
find_smaller(const struct text_run *first, const char *text, compile_shared *shared, double tolerance, size_t states,
             size_t elements, size_t *tried)
{
    const flat_model *f = first->c.flat;
    uint32_t part[MOST];
    int way[MOST] = { 0 }, ways[MOST];
    size_t n = 0;
    double most = 0.99 * tolerance;
    char *found = NULL;

    for (uint32_t i = 0; i < f->element.n && n < MOST; i++)
        if (is_part(f, &f->element.at[i])) {
            enum element_type t = f->element.at[i].type;

            ways[n] = t == EL_I || t == EL_C ? 3 : 2;
            part[n++] = i;
        }
    for (;;) {
        size_t k = 0, gone = 0, storages = 0;
        char *small;
        struct text_run r;

        while (k < n && ++way[k] == ways[k])
            way[k++] = 0;
        if (k == n)
            break;
        for (size_t i = 0; i < n; i++) {
            gone += way[i] != 0;
            storages += way[i] && (f->element.at[part[i]].type == EL_I || f->element.at[part[i]].type == EL_C);
        }
        if (model_nstates(first->c.model) > states + storages ||
            (model_nstates(first->c.model) == states + storages && f->element.n >= elements + gone))
            continue;
        small = without(first, text, part, way, n);
        if (!small)
            continue;
        ++*tried;
        run_text(&r, small, shared, first, &most);
        if (r.ran && !r.out.beyond && track_compare(&first->out, 0, &r.out, 0).max <= most &&
            (model_nstates(r.c.model) < states ||
             (model_nstates(r.c.model) == states && r.c.flat->element.n < elements))) {
            found = small;
            run_free(&r);
            break;
        }
        run_free(&r);
        free(small);
    }
    return found;
}

int
main(int argc, char **argv)
{
    uint32_t first = argc > 1 ? (uint32_t)atoi(argv[1]) : 1, count = argc > 2 ? (uint32_t)atoi(argv[2]) : 10, bad = 0,
             named = 0, smaller = 0;
    size_t tried = 0;

    for (uint32_t k = first; k < first + count; k++) {
        char *text = model(k), *why = NULL, *better;
        const char *experiment = "e";
        bounded_options o = { .experiment = &experiment, .nexperiments = 1 };
        compile_shared *shared = compile_shared_new(NULL);
        struct text_run whole;
        reduction r;

        run_text(&whole, text, shared, NULL, NULL);
        if (!whole.ran || reduce_within("m.bg", text, strlen(text), &o, &r, &why) != REDUCE_DONE) {
            printf("model %u: %s\n%s", (unsigned)k, why ? why : diag_first_error(whole.c.sources), text);
            bad++;
            run_free(&whole);
            compile_shared_free(shared);
            free(text);
            continue;
        }
        smaller += r.elements_after < r.elements_before;
        better = find_smaller(&whole, text, shared, r.error.at[0].within, r.states_after, r.elements_after, &tried);
        if (better && r.not_tried.n == 0) {
            printf("model %u: %zu states and %zu elements are left, and there is better\n%s== found\n%s== there is\n%s",
                   (unsigned)k, r.states_after, r.elements_after, text, r.text, better);
            bad++;
        }
        named += better && r.not_tried.n;
        free(better);
        reduction_free(&r);
        run_free(&whole);
        compile_shared_free(shared);
        free(text);
    }
    printf("%u models, %u made smaller; %zu sets tried apart; %u where a smaller one was found of a kind that the "
           "report names, %u where not\n",
           (unsigned)count, (unsigned)smaller, tried, (unsigned)named, (unsigned)bad);
    return bad != 0;
}
