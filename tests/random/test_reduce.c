/* test_reduce.c - error-bounded reduction of random stable models
 *
 * `test_reduce FIRST COUNT` takes the models FIRST .. FIRST+COUNT-1. Each is a tree of bodies joined by springs and dampers, everything
 * damped, magnitudes over several decades, with nonlinear laws, transformers, and controllers. The reduced text must compile, run and stay within
 * its tolerances when another integrator measures it; its lines must differ from the model's only where the report says so; reducing it again must
 * give the same bytes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../runtime/reduce.h"
#include "generate.h"

static uint64_t rng;

static double uniform(double a, double b) { return rg_uniform(&rng, a, b); }
static bool chance(double p) { return uniform(0, 1) < p; }
static double magnitude(double decades) { return pow(10, uniform(-decades, decades)); }

/* ---------------------------------------------------------------- models */

struct model { strbuf text; int parameters; enum within_kind within; double tolerance; bool terms; };

/* A parameter of its own, or the number. */
static void
put_number(struct model *m, strbuf *head, strbuf *body, double x)
{
    if (chance(0.6)) {
        m->parameters++;
        strbuf_printf(head, "    parameter p%d = %.4g;\n", m->parameters, x);
        strbuf_printf(body, "p%d", m->parameters);
    } else {
        strbuf_printf(body, "%.4g", x);
    }
}

static void
put_spring(struct model *m, strbuf *head, strbuf *body, const char *at, int k)
{
    strbuf_printf(body, "    %s -> C:spring%d", at, k);
    if (chance(0.4)) {
        strbuf_puts(body, " { e = ");
        put_number(m, head, body, magnitude(1.5));
        strbuf_puts(body, "*q + ");
        put_number(m, head, body, magnitude(2));
        strbuf_puts(body, chance(0.5) ? "*q^3; }\n" : "*q^3 + 0.01*q/(1 + q^2); }\n");
    } else {
        strbuf_printf(body, " = ");
        put_number(m, head, body, magnitude(1.5));
        strbuf_puts(body, chance(0.3) ? " { q(0) = 0.1; }\n" : ";\n");
    }
}

static void
put_damper(struct model *m, strbuf *head, strbuf *body, const char *at, const char *name, int k)
{
    strbuf_printf(body, "    %s -> R:%s%d", at, name, k);
    if (chance(0.3)) {
        strbuf_puts(body, " { e = ");
        put_number(m, head, body, magnitude(1));
        strbuf_puts(body, "*f + ");
        put_number(m, head, body, magnitude(2));
        strbuf_puts(body, "*f^3; }\n");
    } else {
        strbuf_puts(body, " = ");
        put_number(m, head, body, magnitude(1.5));
        strbuf_puts(body, ";\n");
    }
}

static struct model
make(uint64_t number)
{
    struct model m = { 0 };
    strbuf head = { 0 }, body = { 0 };
    int n;

    rng = number * 0x9E3779B97F4A7C15u + 17;
    n = 1 + (int)rg_below(&rng, 4);
    for (int i = 1; i <= n; i++) {
        char at[32], travel[32];

        strbuf_printf(&body, "\n    // body %d\n", i);
        snprintf(at, sizeof at, "body%d", i);
        if (chance(0.3)) {
            strbuf_printf(&body, "    1:body%d -> I:mass%d = ", i, i);
        } else {
            strbuf_printf(&body, "    1:body%d;\n    body%d -> I:mass%d = ", i, i, i);
        }
        put_number(&m, &head, &body, magnitude(1.5));
        strbuf_puts(&body, chance(0.2) ? " { p(0) = 0.2; }\n" : ";\n");
        put_damper(&m, &head, &body, at, "drag", i);
        if (i == 1 || chance(0.3)) {
            strbuf_printf(&body, "    Se:force%d = ", i);
            put_number(&m, &head, &body, magnitude(0.5));
            strbuf_printf(&body, "*sin(%.4g*time) -> body%d;\n", uniform(0.3, 4), i);
        }
        snprintf(travel, sizeof travel, "travel%d", i);
        if (i == 1) {
            put_spring(&m, &head, &body, at, i);
            continue;
        }
        int other = 1 + (int)rg_below(&rng, (uint32_t)i - 1);

        if (chance(0.25)) {
            strbuf_printf(&body, "    body%d -> TF:lever%d = ", i, i);
            put_number(&m, &head, &body, magnitude(0.4));
            strbuf_printf(&body, " -> 0:strut%d;\n", i);
        } else {
            strbuf_printf(&body, "    body%d -> 0:strut%d;\n", i, i);
        }
        strbuf_printf(&body, "    strut%d -> body%d;\n    strut%d -> 1:travel%d;\n", i, other, i, i);
        put_spring(&m, &head, &body, travel, i);
        put_damper(&m, &head, &body, travel, "damper", i);
    }
    if (chance(0.3)) {
        strbuf_puts(&body, "\n    signal error = 0.1*sin(1*time) - spring1.q;\n    signal control = ");
        put_number(&m, &head, &body, magnitude(1.5));
        strbuf_puts(&body, "*error - 0.001*body1.f;\n    MSe:actuator = control -> body1;\n");
    }
    strbuf_printf(&m.text, "// random model %llu\nmodel random {\n", (unsigned long long)number);
    strbuf_add(&m.text, head.at ? head.at : "", head.n);
    strbuf_add(&m.text, body.at, body.n);
    strbuf_puts(&m.text, "\n    output x = spring1.q;\n");
    strbuf_printf(&m.text, "    output v = body%d.f;\n}\n", n);
    strbuf_puts(&m.text, "\nexperiment first of random {\n    stop = 10;\n");
    m.within = chance(0.5) ? WITHIN_SHARE : WITHIN_STATED;
    m.tolerance = 0.01 * magnitude(1);
    m.terms = chance(0.5);
    if (m.within == WITHIN_STATED)
        strbuf_printf(&m.text, "    observe x within %.4g;\n    observe v within %.4g;\n", 0.01 * magnitude(1), 0.01 * magnitude(1));
    else if (chance(0.7))
        strbuf_puts(&m.text, "    observe x;\n");
    strbuf_puts(&m.text, "    keep drag1;\n}\n");
    strbuf_free(&head);
    strbuf_free(&body);
    return m;
}

/* ---------------------------------------------------------------- checks */

static int failures;

static bool
fail(uint64_t number, const struct model *m, const char *reduced, const char *what)
{
    fprintf(stderr, "model %llu: %s\n--- model\n%s--- reduced\n%s", (unsigned long long)number, what, m->text.at, reduced ? reduced : "");
    failures++;
    return false;
}

static void
fine_run(void *ctx, bg_model *m, sim_options *o)
{
    (void)ctx;
    (void)m;
    o->rtol = BOUNDED_RTOL;
}

/* Runs by itself, stiff and tighter than the reduction did. */
static bool
run_alone(const char *text, size_t n, compilation *c, sim_result *r)
{
    compile_options co = { .experiment = "first" };
    sim_options o = { 0 };
    bool fine = compile_text(c, "random.bg", text, n, STAGE_MODEL, &co) && sim_options_from_experiment(c->model, &o);

    if (fine) {
        o.points = 1237;
        o.outputs = true;
        o.rtol = 1e-9;
        o.solver = SIM_BDF;
        fine = simulate(c->model, &o, r);
    }
    sim_options_free(&o);
    if (!fine)
        diag_print(c->sources, stderr, false, true);
    return fine;
}

static bool
stays_within(const struct model *m, const reduction *r)
{
    compilation a = { 0 }, b = { 0 };
    sim_result ra = { 0 }, rb = { 0 };
    bool fine = run_alone(m->text.at, m->text.n, &a, &ra) && run_alone(r->text, r->length, &b, &rb);

    for (size_t i = 0; fine && i < r->error.n; i++) {
        size_t n = model_noutputs(a.model), k = !strcmp(r->error.at[i].output, "x") ? 0 : 1;
        struct trajectory_error e = trajectory_compare(ra.output + k, n, rb.output + k, n, ra.points);

        if (!isnan(r->error.at[i].within) && !(e.max <= r->error.at[i].within)) {
            fprintf(stderr, "%s: %g, may be %g\n", r->error.at[i].output, e.max, r->error.at[i].within);
            fine = false;
        }
    }
    sim_result_free(&ra);
    sim_result_free(&rb);
    compile_free(&a);
    compile_free(&b);
    return fine;
}

typedef VEC(struct { const char *at; size_t n; }) line_list;

static void
split(const char *text, line_list *out)
{
    while (*text) {
        const char *end = strchr(text, '\n');
        size_t n = end ? (size_t)(end - text) : strlen(text);

        vec_resize(out, out->n + 1);
        out->at[out->n - 1].at = text;
        out->at[out->n - 1].n = n;
        text += n + (end != NULL);
    }
}

/* By the longest common subsequence of lines: those of the model that are not in it must be named, and no more lines come than went. */
static bool
only_named_lines(const struct model *m, const reduction *r)
{
    line_list a = { 0 }, b = { 0 };
    size_t gone = 0, come = 0, i = 0, j = 0;
    bool fine = true;
    int *common;

    split(m->text.at, &a);
    split(r->text, &b);
    common = bg_calloc((a.n + 1) * (b.n + 1), sizeof *common);
#define COMMON(x, y) common[(x) * (b.n + 1) + (y)]
#define EQUAL(x, y) (a.at[x].n == b.at[y].n && !memcmp(a.at[x].at, b.at[y].at, a.at[x].n))
    for (size_t x = a.n; x-- > 0;)
        for (size_t y = b.n; y-- > 0;)
            COMMON(x, y) = EQUAL(x, y) ? COMMON(x + 1, y + 1) + 1 : COMMON(x + 1, y) > COMMON(x, y + 1) ? COMMON(x + 1, y) : COMMON(x, y + 1);
    while (i < a.n || j < b.n) {
        if (i < a.n && j < b.n && EQUAL(i, j)) {
            i++, j++;
        } else if (i < a.n && (j == b.n || COMMON(i + 1, j) >= COMMON(i, j + 1))) {
            bool named = false;

            for (size_t k = 0; k < r->operation.n; k++)
                named |= r->operation.at[k].line == (int)i + 1;
            if (!named)
                fprintf(stderr, "line %zu changed and is not named\n", i + 1);
            fine &= named;
            gone++, i++;
        } else {
            come++, j++;
        }
    }
    for (size_t k = 0; k < r->operation.n; k++)
        gone += r->operation.at[k].kind == REWRITE_TOLERANCE;        /* may be a line of its own */
    free(common);
    vec_free(&a);
    vec_free(&b);
    return fine && come <= gone;
}

struct counts { size_t models, changed, dropped, clamped, terms, tolerances, simulations, elements; };

static bool
check(uint64_t number, struct counts *n)
{
    static const char *const experiment[] = { "first" };
    struct model m = make(number);
    bounded_options o = { .experiment = experiment, .nexperiments = 1, .within = m.within, .tolerance = m.tolerance, .terms = m.terms,
                          .adjust = fine_run };
    reduction r, again = { 0 };
    char *why = NULL, *why2 = NULL;
    enum reduce_result result = reduce_within("random.bg", m.text.at, m.text.n, &o, &r, &why);
    bool fine = true;

    if (result != REDUCE_DONE)
        fine = fail(number, &m, r.text, why ? why : "the model as given does not run");
    else if (!stays_within(&m, &r))
        fine = fail(number, &m, r.text, "the result does not run or leaves its tolerance");
    else if (!only_named_lines(&m, &r))
        fine = fail(number, &m, r.text, "lines changed that the report does not name");
    else if (reduce_within("random.bg", r.text, r.length, &o, &again, &why2) != REDUCE_DONE || again.length != r.length ||
             memcmp(again.text, r.text, r.length) != 0)
        fine = fail(number, &m, again.text, "reducing the result again changes it");
    n->models++;
    n->changed += r.rounds.n > 0;
    n->simulations += r.simulations;
    n->elements += r.elements_before;
    for (size_t i = 0; i < r.operation.n; i++) {
        enum rewrite_kind k = r.operation.at[i].kind;

        n->dropped += k == REWRITE_ELEMENT;
        n->clamped += k == REWRITE_CLAMP;
        n->terms += k == REWRITE_TERM_DELETE || k == REWRITE_TERM_MEAN;
        n->tolerances += k == REWRITE_TOLERANCE;
    }
    reduction_free(&r);
    if (again.arena)
        reduction_free(&again);
    free(why);
    free(why2);
    strbuf_free(&m.text);
    return fine;
}

int
main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
    struct counts n = { 0 };

    for (uint64_t i = first; i < first + count && failures < 10; i++)
        check(i, &n);
    printf("%zu models of %zu elements, %zu made smaller: %zu elements dropped, %zu clamped, %zu terms, %zu tolerances written; %zu simulations\n",
           n.models, n.elements, n.changed, n.dropped, n.clamped, n.terms, n.tolerances, n.simulations);
    return failures ? 1 : 0;
}
