/* test_reduce.c - reductions of random stable models, within tolerances and by thresholds
 *
 * `test_reduce FIRST COUNT` takes the models FIRST .. FIRST+COUNT-1. Odd ones are trees of bodies joined by springs and
 * dampers; even ones have components, nested ones too, arrays and loops, half of them (stable.h) in the words of four
 * domains. Everything is damped, magnitudes go over several decades, with nonlinear laws, transformers and controllers;
 * some have two experiments, that are held together. The reduced text must compile, run and stay within its tolerances
 * when another integrator measures it; its lines must differ from the model's only where the report says so; the
 * report's errors must be those measured, and what it took out must be gone; reducing twice must give the same bytes;
 * by a threshold, what stays must have the share of the activity that was asked for.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reduce.h"
#include "generate.h"
#include "stable.h"

static uint64_t rng;
static const char *const experiment_name[] = { "first", "second" };

static double
uniform(double a, double b)
{
    return rg_uniform(&rng, a, b);
}
static bool
chance(double p)
{
    return uniform(0, 1) < p;
}
static double
magnitude(double decades)
{
    return pow(10, uniform(-decades, decades));
}

/* ---------------------------------------------------------------- models */

enum { EXPERIMENTS = 2 };
struct model {
    strbuf text;
    int parameters, experiments;
    enum within_kind within;
    double tolerance, threshold;
    bool terms;
    enum metric metric;
};

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

/* Bodies on lines of their own. */
static void
make_tree(struct model *m, strbuf *head, strbuf *body)
{
    int n;

    n = 1 + (int)rg_below(&rng, 4);
    for (int i = 1; i <= n; i++) {
        char at[32], travel[32];

        strbuf_printf(body, "\n    // body %d\n", i);
        snprintf(at, sizeof at, "body%d", i);
        if (chance(0.3)) {
            strbuf_printf(body, "    1:body%d -> I:mass%d = ", i, i);
        } else {
            strbuf_printf(body, "    1:body%d;\n    body%d -> I:mass%d = ", i, i, i);
        }
        put_number(m, head, body, magnitude(1.5));
        strbuf_puts(body, chance(0.2) ? " { p(0) = 0.2; }\n" : ";\n");
        put_damper(m, head, body, at, "drag", i);
        if (i == 1 || chance(0.3)) {
            strbuf_printf(body, "    Se:force%d = ", i);
            put_number(m, head, body, magnitude(0.5));
            strbuf_printf(body, "*sin(%.4g*time) -> body%d;\n", uniform(0.3, 4), i);
        }
        snprintf(travel, sizeof travel, "travel%d", i);
        if (i == 1) {
            put_spring(m, head, body, at, i);
            continue;
        }
        int other = 1 + (int)rg_below(&rng, (uint32_t)i - 1);

        if (chance(0.25)) {
            strbuf_printf(body, "    body%d -> TF:lever%d = ", i, i);
            put_number(m, head, body, magnitude(0.4));
            strbuf_printf(body, " -> 0:strut%d;\n", i);
        } else {
            strbuf_printf(body, "    body%d -> 0:strut%d;\n", i, i);
        }
        strbuf_printf(body, "    strut%d -> body%d;\n    strut%d -> 1:travel%d;\n", i, other, i, i);
        put_spring(m, head, body, travel, i);
        put_damper(m, head, body, travel, "damper", i);
    }
    if (chance(0.3)) {
        strbuf_puts(body, "\n    signal error = 0.1*sin(1*time) - spring1.q;\n    signal control = ");
        put_number(m, head, body, magnitude(1.5));
        strbuf_puts(body, "*error - 0.001*body1.f;\n    MSe:actuator = control -> body1;\n");
    }
    strbuf_puts(body, "\n    output x = spring1.q;\n");
    strbuf_printf(body, "    output v = body%d.f;\n", n);
}

/* ---- models of components and loops ---- */

/* What the models below are made of. Numbers are drawn anew for each model. */
static void
put_components(struct model *m, strbuf *out)
{
    bool friction = chance(0.5), control = chance(0.4), cubic = chance(0.4);

    strbuf_printf(out,
                  "model Strut {\n    parameter k = %.4g;\n    parameter b = %.4g;\n    port 1:low, 1:high;\n    low "
                  "-> 0:force -> high;\n"
                  "    force -> 1:travel;\n",
                  magnitude(1.5), magnitude(1.5));
    strbuf_puts(out, cubic ? "    travel -> C:spring { e = k*q + 3*q^3; }\n" : "    travel -> C:spring = 1/k;\n");
    strbuf_puts(out, "    travel -> R:damper = b;\n");
    if (friction)
        strbuf_printf(out, "    travel -> R:friction { e = %.4g*tanh(f/0.1); }\n", magnitude(1.5));
    if (control)
        strbuf_printf(out, "    signal push = -%.4g*travel.f - %.4g*low.f;\n    MSe:actuator = push -> travel;\n",
                      magnitude(1), 0.001 * magnitude(1));
    strbuf_puts(out, "}\n\n");
    strbuf_printf(
        out,
        "model Body {\n    parameter m = %.4g;\n    parameter drag = %.4g;\n    port 1:hub;\n    hub -> I:mass = m;\n",
        magnitude(1), magnitude(1.5));
    strbuf_puts(out, chance(0.4) ? "    hub -> R:air { e = drag*f + 0.3*f*abs(f); }\n}\n\n"
                                 : "    hub -> R:air = drag;\n}\n\n");
    strbuf_printf(out,
                  "model Pair {\n    parameter k = %.4g;\n    parameter ratio = %.4g;\n    port 1:end;\n    "
                  "Body:near(m = %.4g);\n    Body:far;\n    Strut:joint(k = k);\n"
                  "    end -> near.hub;\n    near.hub -> joint.low;\n    joint.high -> far.hub;\n",
                  magnitude(1.5), magnitude(0.4), magnitude(1));
    if (chance(0.5))
        strbuf_puts(out,
                    "    far.hub -> TF:lever = ratio -> 1:tip;\n    tip -> R:load = 0.5;\n    tip -> C:bow = 2;\n");
    strbuf_puts(out, "}\n\n");
    (void)m;
}

/* A row of bodies in a loop, struts between them as components, pairs on some. */
static void
make_row(struct model *m, strbuf *head, strbuf *body)
{
    int n = 2 + (int)rg_below(&rng, 3), pairs = (int)rg_below(&rng, 2);
    bool bodies = chance(0.4), sides = chance(0.5);

    strbuf_puts(head, "    parameter stiff[n] = [");
    for (int i = 0; i < n; i++)
        strbuf_printf(head, "%s%.4g", i ? ", " : "", magnitude(1.5));
    strbuf_puts(head, "];\n    input push = 0;\n");
    strbuf_puts(body, "\n    1:v[n];\n    for i in 1..n {\n");
    if (bodies)
        strbuf_puts(body, "        Body:part[i](m = 0.2*i);\n        v[i] -> part[i].hub;\n");
    else
        strbuf_printf(body,
                      "        v[i] -> I:mass[i] = if i == 1 then 1 else %.4g;\n        v[i] -> R:drag[i] = %.4g;\n",
                      magnitude(1), magnitude(1.5));
    if (sides)
        strbuf_puts(body, "        v[i] -> C:side[i] = 1/stiff[i];\n");
    if (chance(0.4))
        strbuf_puts(body, "        v[i] -> R:grip[i] { e = 0.05*f + 0.2*f^3; }\n");
    strbuf_puts(body, "    }\n");
    strbuf_printf(body,
                  "    Strut:strut[n-1](k = %.4g);\n    for i in 1..n-1 {\n        v[i] -> strut[i].low;\n        "
                  "strut[i].high -> v[i+1];\n    }\n",
                  magnitude(1.5));
    strbuf_puts(body, "    MSe:force = push -> v[1];\n    v[1] -> C:ground = 1;\n");
    if (pairs) {
        strbuf_printf(body, "    Pair:rider(k = %.4g)%s;\n    v[n] -> rider.end;\n", magnitude(1.5),
                      chance(0.3) ? " without far.air" : "");
        if (chance(0.4))
            strbuf_puts(body, "    Pair:second;\n    v[1] -> second.end;\n");
    }
    if (!bodies && chance(0.3))
        strbuf_puts(body, "    without drag[2];\n");
    if (chance(0.3))
        strbuf_puts(body, "    if n > 2 {\n        v[2] -> R:extra = 0.3;\n    } else {\n        v[1] -> R:other = "
                          "0.2;\n    }\n");
    strbuf_puts(body, "\n    output x = ground.q;\n    output v_end = v[n].f;\n");
    m->parameters = n;
}

static void
put_experiment(struct model *m, const char *name, bool row)
{
    strbuf_printf(&m->text, "\nexperiment %s of random {\n    stop = 10;\n", name);
    if (row)
        strbuf_printf(&m->text, "    let push = %.4g*sin(%.4g*time);\n", magnitude(0.5), uniform(0.3, 4));
    if (m->within == WITHIN_STATED)
        strbuf_printf(&m->text, "    observe x within %.4g;\n    observe %s within %.4g;\n", 0.01 * magnitude(1),
                      row ? "v_end" : "v", 0.01 * magnitude(1));
    else if (chance(0.7))
        strbuf_puts(&m->text, "    observe x;\n");
    if (!row)
        strbuf_puts(&m->text, "    keep drag1;\n");
    else if (chance(0.4))
        strbuf_puts(&m->text, "    keep strut[1];\n");
    strbuf_puts(&m->text, "}\n");
}

static struct model
make(uint64_t number)
{
    struct model m = { 0 };
    strbuf head = { 0 }, body = { 0 };
    bool row = number % 4 == 0;

    if (number % 4 == 2) {
        struct stable_model s = stable_model(number);

        return (struct model){ .text = s.text,
                               .experiments = s.both ? 2 : 1,
                               .within = s.within,
                               .tolerance = s.tolerance,
                               .threshold = s.threshold,
                               .terms = s.terms,
                               .metric = s.metric };
    }
    rng = number * 0x9E3779B97F4A7C15u + 17;
    strbuf_printf(&m.text, "// random model %llu\n", (unsigned long long)number);
    if (row) {
        put_components(&m, &m.text);
        make_row(&m, &head, &body);
        strbuf_printf(&m.text, "model random(n = %d) {\n", m.parameters);
    } else {
        make_tree(&m, &head, &body);
        strbuf_puts(&m.text, "model random {\n");
    }
    strbuf_add(&m.text, head.at ? head.at : "", head.n);
    strbuf_add(&m.text, body.at, body.n);
    strbuf_puts(&m.text, "}\n");
    m.within = chance(0.5) ? WITHIN_SHARE : WITHIN_STATED;
    m.tolerance = 0.01 * magnitude(1);
    m.threshold = 1 - pow(10, uniform(-3, -0.7));
    m.terms = chance(0.5);
    m.experiments = row && chance(0.5) ? 2 : 1;
    for (int i = 0; i < m.experiments; i++)
        put_experiment(&m, experiment_name[i], row);
    strbuf_free(&head);
    strbuf_free(&body);
    return m;
}

/* ---------------------------------------------------------------- checks */

static int failures;

static bool
fail(uint64_t number, const struct model *m, const char *reduced, const char *what)
{
    fprintf(stderr, "model %llu: %s\n--- model\n%s--- reduced\n%s", (unsigned long long)number, what, m->text.at,
            reduced ? reduced : "");
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

enum { POINTS = 5003 }; /* no round number: what has a period would be seen at one phase */

/* Of two trajectories on the same grid. */
struct difference {
    double max, reference;
};

static struct difference
on_grid(const double *a, size_t stride_a, const double *b, size_t stride_b, size_t n)
{
    struct difference d = { 0 };

    for (size_t i = 0; i < n; i++) {
        d.max = fmax(d.max, fabs(a[i * stride_a] - b[i * stride_b]));
        d.reference += fabs(a[i * stride_a]) / (double)n;
    }
    return d;
}

/* Runs by itself, stiff and tighter than the reduction did. */
static bool
run_alone(const char *text, size_t n, const char *experiment, compilation *c, sim_result *r)
{
    compile_options co = { .experiment = experiment };
    sim_options o = { 0 };
    bool fine = compile_text(c, "random.bg", text, n, STAGE_MODEL, &co) && sim_options_from_experiment(c->model, &o);

    if (fine) {
        o.points = POINTS;
        o.outputs = true;
        o.rtol = 1e-9;
        o.solver = SIM_BDF;
        fine = simulate(c->model, &o, r);
    }
    sim_options_free(&o);
    if (!fine)
        diag_print(c->sources, stderr, false, DIAG_ERRORS);
    return fine;
}

static bool
has_element(const flat_model *f, const char *name)
{
    for (size_t i = 0; i < f->element.n; i++)
        if (!strcmp(f->element.at[i].name, name))
            return true;
    return false;
}

/* The report against the compiled models: how many there are, and that what is said to be gone is. */
static bool
counts_agree(const reduction *r, const compilation *a, const compilation *b)
{
    bool fine = r->states_before == model_nstates(a->model) && r->states_after == model_nstates(b->model) &&
                r->elements_before == a->flat->element.n && r->elements_after == b->flat->element.n;

    for (size_t i = 0; i < r->operation.n; i++)
        if (r->operation.at[i].kind == REWRITE_ELEMENT &&
            (!has_element(a->flat, r->operation.at[i].name) || has_element(b->flat, r->operation.at[i].name)))
            fine = false;
    for (size_t i = 0; i < a->flat->element.n; i++) {
        const char *name = a->flat->element.at[i].name;
        bool named = has_element(b->flat, name);

        for (size_t k = 0; k < r->operation.n && !named; k++)
            named = !strcmp(r->operation.at[k].name, name);
        fine = fine && named;
    }
    if (!fine)
        fprintf(stderr, "the report's counts or names are not those of the models\n");
    return fine;
}

/* Measured by itself, each output is within its tolerance (if it must be) and off by what the report says. */
static bool
as_reported(const struct model *m, const reduction *r, bool must_be_within)
{
    bool fine = true;

    for (int x = 0; x < m->experiments && fine; x++) {
        compilation a = { 0 }, b = { 0 };
        sim_result ra = { 0 }, rb = { 0 };

        fine = run_alone(m->text.at, m->text.n, experiment_name[x], &a, &ra) &&
               run_alone(r->text, r->length, experiment_name[x], &b, &rb);
        for (size_t i = 0; fine && i < r->error.n; i++) {
            const reduce_error *y = &r->error.at[i];
            size_t n = model_noutputs(a.model), k = !strcmp(y->output, "x") ? 0 : 1;
            struct difference e;

            if (strcmp(y->experiment, experiment_name[x]))
                continue;
            e = on_grid(ra.output + k, n, rb.output + k, n, ra.points);
            if (must_be_within && !isnan(y->within) && !(e.max <= y->within))
                fine = false;
            /* 1e-6: of both integrators */
            if (!(fabs(e.max - y->max) <= 0.02 * y->max + 1e-6 * (1 + e.reference)))
                fine = false;
            if (!fine)
                fprintf(stderr, "%s in %s: %g, reported %g, may be %g\n", y->output, y->experiment, e.max, y->max,
                        y->within);
        }
        fine = fine && counts_agree(r, &a, &b);
        sim_result_free(&ra);
        sim_result_free(&rb);
        compile_free(&a);
        compile_free(&b);
    }
    return fine;
}

typedef VEC(struct {
    const char *at;
    size_t n;
}) line_list;

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

/* By the longest common subsequence of lines: those of the model that are not in it must be named, and no more lines
 * come than went. */
static bool
only_named_lines(const struct model *m, const reduction *r)
{
    line_list a = { 0 }, b = { 0 };
    size_t gone = 0, come = 0, without = 0, i = 0, j = 0;
    bool fine = true, went = false;
    int *common;

    split(m->text.at, &a);
    split(r->text, &b);
    common = bg_calloc((a.n + 1) * (b.n + 1), sizeof *common);
#define COMMON(x, y) common[(x) * (b.n + 1) + (y)]
#define EQUAL(x, y) (a.at[x].n == b.at[y].n && !memcmp(a.at[x].at, b.at[y].at, a.at[x].n))
    for (size_t x = a.n; x-- > 0;)
        for (size_t y = b.n; y-- > 0;)
            COMMON(x, y) = EQUAL(x, y)                           ? COMMON(x + 1, y + 1) + 1
                           : COMMON(x + 1, y) > COMMON(x, y + 1) ? COMMON(x + 1, y)
                                                                 : COMMON(x, y + 1);
    while (i < a.n || j < b.n) {
        if (i < a.n && j < b.n && EQUAL(i, j)) {
            went = false;
            i++, j++;
        } else if (i < a.n && (j == b.n || COMMON(i + 1, j) >= COMMON(i, j + 1))) {
            bool named = false;

            /* the brace of a loop goes with what stands in it, an empty line with the first lines of a block */
            named = went && a.at[i].n == 0;
            named |= went && i && a.at[i].n && a.at[i].at[a.at[i].n - 1] == '}' &&
                     strspn(a.at[i].at, " ") + 1 == a.at[i].n;
            for (size_t k = 0; k < r->operation.n; k++)
                named |= r->operation.at[k].line == (int)i + 1;
            went = true;
            if (!named)
                fprintf(stderr, "line %zu changed and is not named\n", i + 1);
            fine &= named;
            gone++, i++;
        } else {
            come += strncmp(b.at[j].at, "    without ", 12) != 0 || without++; /* one statement may be new */
            j++;
        }
    }
    for (size_t k = 0; k < r->operation.n; k++)
        /* a chain cut at a bond is two */
        gone += r->operation.at[k].kind == REWRITE_DROP_BOND || r->operation.at[k].kind == REWRITE_CONDITION;
    free(common);
    vec_free(&a);
    vec_free(&b);
    return fine && come <= gone;
}

struct counts {
    size_t models, changed, dropped, clamped, inside, terms, simulations, elements, by_threshold;
};

static bool
same_text(const reduction *a, const reduction *b)
{
    return a->length == b->length && !memcmp(a->text, b->text, a->length);
}

static bool
check_within(uint64_t number, const struct model *m, struct counts *n)
{
    bounded_options o = { .experiment = experiment_name,
                          .nexperiments = (size_t)m->experiments,
                          .within = m->within,
                          .tolerance = m->tolerance,
                          .terms = m->terms,
                          .bonds = number % 4 == 0,
                          .adjust = fine_run };
    reduction r, again = { 0 }, twice = { 0 };
    char *why = NULL, *why2 = NULL, *why3 = NULL;
    bool fine = true;

    if (reduce_within("random.bg", m->text.at, m->text.n, &o, &r, &why) != REDUCE_DONE)
        fine = fail(number, m, r.text, why ? why : "the model as given does not run");
    else if (!as_reported(m, &r, true))
        fine = fail(number, m, r.text, "the result does not run, leaves its tolerance, or is not as reported");
    else if (!only_named_lines(m, &r))
        fine = fail(number, m, r.text, "lines changed that the report does not name");
    else if (reduce_within("random.bg", r.text, r.length, &o, &again, &why2) != REDUCE_DONE ||
             again.elements_after > r.elements_after)
        fine = fail(number, m, again.text, "the result cannot be reduced again");
    else if (number % 8 == 0 && (reduce_within("random.bg", m->text.at, m->text.n, &o, &twice, &why3) != REDUCE_DONE ||
                                 !same_text(&twice, &r)))
        fine = fail(number, m, twice.text, "reducing twice gives two results");
    n->changed += r.rounds.n > 0;
    n->simulations += r.simulations;
    n->elements += r.elements_before;
    for (size_t i = 0; i < r.operation.n; i++) {
        enum rewrite_kind k = r.operation.at[i].kind;
        bool inside = r.operation.at[i].name && strpbrk(r.operation.at[i].name, ".[") != NULL;

        n->dropped += k == REWRITE_ELEMENT;
        n->clamped += k == REWRITE_CLAMP;
        n->inside += (k == REWRITE_ELEMENT || k == REWRITE_CLAMP) && inside;
        n->terms += k == REWRITE_TERM_DELETE || k == REWRITE_TERM_MEAN;
    }
    reduction_free(&r);
    if (again.arena)
        reduction_free(&again);
    if (twice.arena)
        reduction_free(&twice);
    free(why);
    free(why2);
    free(why3);
    return fine;
}

static enum reduce_result
by_threshold(const char *text, size_t length, enum metric metric, double threshold, reduction *r, char **why)
{
    compilation c = { 0 };
    compile_options co = { .experiment = experiment_name[0] };
    reduce_options o = { .experiment = experiment_name[0],
                         .metric = metric,
                         .threshold = threshold,
                         .adjust = fine_run };
    enum reduce_result result = REDUCE_FAILED;

    memset(r, 0, sizeof *r);
    if (compile_text(&c, "random.bg", text, length, STAGE_MODEL, &co))
        result = reduce(&c, &o, r, why);
    compile_free(&c);
    return result;
}

/* What the elements that the report does not name as gone have of all that is not a source's activity, in a run of its
 * own. */
static double
share_left(const struct model *m, const reduction *r)
{
    compilation c = { 0 };
    compile_options co = { .experiment = experiment_name[0] };
    sim_options o = { 0 };
    sim_result run = { 0 };
    double left = 0, all = 0;

    if (compile_text(&c, "random.bg", m->text.at, m->text.n, STAGE_MODEL, &co) &&
        sim_options_from_experiment(c.model, &o)) {
        o.activity = true;
        o.rtol = 1e-9;
        o.solver = SIM_BDF;
        if (simulate(c.model, &o, &run))
            for (size_t i = 0; i < c.flat->element.n; i++) {
                const flat_element *e = &c.flat->element.at[i];
                bool gone = e->type == EL_SE || e->type == EL_SF;

                all += gone ? 0 : run.activity[i];
                for (size_t k = 0; k < r->operation.n && !gone; k++)
                    gone = (r->operation.at[k].kind == REWRITE_ELEMENT || r->operation.at[k].kind == REWRITE_CLAMP) &&
                           !strcmp(r->operation.at[k].name, e->name);
                left += gone ? 0 : run.activity[i];
            }
    }
    sim_options_free(&o);
    sim_result_free(&run);
    compile_free(&c);
    return all > 0 ? left / all : 1;
}

static bool
check_threshold(uint64_t number, const struct model *m, struct counts *n)
{
    reduction r, nothing = { 0 };
    char *why = NULL, *why3 = NULL;
    bool fine = true;

    if (by_threshold(m->text.at, m->text.n, m->metric, m->threshold, &r, &why) != REDUCE_DONE)
        fine = fail(number, m, r.text, why ? why : "by threshold: the model as given does not run");
    else if (!as_reported(&(struct model){ .text = m->text, .experiments = 1 }, &r, false))
        fine = fail(number, m, r.text, "by threshold: the result does not run or is not as reported");
    else if (!only_named_lines(m, &r))
        fine = fail(number, m, r.text, "by threshold: lines changed that the report does not name");
    else if (m->metric == METRIC_ACTIVITY &&
             (share_left(m, &r) < m->threshold - 1e-6 || fabs(share_left(m, &r) - r.kept_share) > 1e-6))
        fine = fail(number, m, r.text,
                    "by threshold: what stays has less of the activity than asked for, or than is said");
    else if (by_threshold(m->text.at, m->text.n, m->metric, 1, &nothing, &why3) != REDUCE_DONE ||
             nothing.length != m->text.n || memcmp(nothing.text, m->text.at, m->text.n))
        fine = fail(number, m, nothing.text, "a threshold of 100 % changes the text");
    n->by_threshold += r.rounds.n > 0;
    reduction_free(&r);
    if (nothing.arena)
        reduction_free(&nothing);
    free(why);
    free(why3);
    return fine;
}

int
main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
    struct counts n = { 0 };

    for (uint64_t i = first; i < first + count && failures < 10; i++) {
        struct model m = make(i);

        n.models++;
        if (check_within(i, &m, &n))
            check_threshold(i, &m, &n);
        strbuf_free(&m.text);
    }
    printf("%zu models of %zu elements, %zu made smaller within tolerances: %zu elements dropped, %zu clamped (%zu of "
           "these in components and loops), %zu terms, "
           "%zu simulations; %zu made smaller by a threshold\n",
           n.models, n.elements, n.changed, n.dropped, n.clamped, n.inside, n.terms, n.simulations, n.by_threshold);
    return failures ? 1 : 0;
}
