/* test_sensitivity.c - what deleting a term is predicted to do, against first-order perturbations in closed form
 *
 * The oscillator q'' + 4q = -eps*g with q(0) = 1 swings as cos 2t + eps*x1, where
 *     g = q^3:  x1 = (cos 6t - cos 2t)/128 - 3t/16 sin 2t          (Duffing's equation, straightforward expansion)
 *     g = q':   x1 = sin(2t)/4 - t/2 cos 2t
 * so that deleting the term moves q by -eps*x1.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "compile.h"
#include "sensitivity.h"
#include "terms.h"

enum { POINTS = 501 };

static double
duffing(double t)
{
    return (cos(6 * t) - cos(2 * t)) / 128 - 3 * t / 16 * sin(2 * t);
}
static double
damped(double t)
{
    return sin(2 * t) / 4 - t / 2 * cos(2 * t);
}

/* Greatest |x| on the grid. */
static double
greatest(double (*x)(double), double stop)
{
    double most = 0;

    for (int i = 0; i < POINTS; i++)
        most = fmax(most, fabs(x(stop * i / (POINTS - 1))));
    return most;
}

/* The predicted movement of the first output as the term with this text (the first such) changes by a factor's and an
 * offset's move. */
static double
predicted(const char *text, const char *term_text, double factor, double offset)
{
    compilation parsed = { 0 }, c = { 0 };
    const ast_model *model[8];
    VEC(span) weigh = { 0 };
    size_t nmodels = 0;
    sim_options o = { 0 };
    sim_result r;
    terms t;
    uint32_t which = UINT32_MAX;
    double error = 0;

    assert_true(compile_text(&parsed, "case.bg", text, strlen(text), STAGE_PARSE, NULL));
    for (size_t i = parsed.ast->ndecls; i-- > 0;)
        if (parsed.ast->decl[i].kind == AST_DECL_MODEL)
            model[nmodels++] = parsed.ast->decl[i].model;
    terms_find(parsed.sources, parsed.ast, model, nmodels, parsed.arena, &t);
    for (uint32_t i = 0; i < t.term.n; i++) {
        vec_push(&weigh, t.term.at[i].expr->at);
        if (which == UINT32_MAX && !strcmp(t.term.at[i].text, term_text))
            which = i;
    }
    assert_true(which != UINT32_MAX);
    assert_true(compile_text(&c, "case.bg", text, strlen(text), STAGE_MODEL,
                             &(compile_options){ .experiment = "x", .weigh = weigh.at, .nweigh = weigh.n }));
    assert_true(sim_options_from_experiment(c.model, &o));
    o.points = POINTS;
    o.rtol = 1e-10;
    o.states = o.modes = true;
    assert_true(simulate(c.model, &o, &r));
    assert_true(sensitivity(c.model, &r, o.equilibrium,
                            &(weight_change){ (weight_move[]){ { 2 * which, factor }, { 2 * which + 1, offset } }, 2 },
                            1, &(held_output){ 0, 1 }, 1, &error));
    sim_result_free(&r);
    sim_options_free(&o);
    terms_free(&t);
    vec_free(&weigh);
    compile_free(&c);
    compile_free(&parsed);
    return error;
}

static void
near(double a, double b)
{
    if (fabs(a - b) > 1e-3 * fabs(b))
        fail_msg("%.9g, not %.9g", a, b);
}

#define OSCILLATOR(law, damper) \
    "model m {\n 1:v -> I:i = 1;\n v -> C:c { e = " law "; q(0) = 1; }\n" damper \
    " output y = c.q;\n}\nexperiment x of m { stop = 5; }\n"

static void
test_oscillator(void **state)
{
    (void)state;
    near(predicted(OSCILLATOR("4*q + 1e-6*q^3", ""), "1e-6*q^3", -1, 0), 1e-6 * greatest(duffing, 5));
    near(predicted(OSCILLATOR("4*q", " v -> R:r { e = 1e-6*f + 0*f^3; }\n"), "1e-6*f", -1, 0),
         1e-6 * greatest(damped, 5));
    /* terms of a signal that the law reads, and one inside another */
    near(predicted(OSCILLATOR("s", " signal s = 4*c.q + 1e-6*(c.q^3 + c.q^5);\n"), "c.q^3", -1, 0),
         1e-6 * greatest(duffing, 5));
}

/* q' = 1 - q + u with u = 1e-6*(1 - cos t): the mean in its place leaves 1e-6*cos t out, and q moves by 1e-6*(cos t +
 * sin t - exp -t)/2. */
static double
lag(double t)
{
    return (cos(t) + sin(t) - exp(-t)) / 2;
}

static void
test_mean(void **state)
{
    (void)state;
    near(predicted("model m {\n MSe:s = 1 + 1e-6*(1 - cos(time/1[s])) -> 1:v;\n v -> R:r = 1;\n v -> C:c = 1;\n output "
                   "y = c.q;\n}\n"
                   "experiment x of m { stop = 6.283185307179586; }\n",
                   "1e-6*(1 - cos(time/1[s]))", -1, 1e-6),
         1e-6 * greatest(lag, 2 * M_PI));
}

/* One text, several occurrences: their effects add up. Two oscillators of one component, three dampers of one loop (1 +
 * 2 + 3). */
static void
test_occurrences(void **state)
{
    (void)state;
    near(predicted("model m {\n Spring:a;\n Spring:b;\n 1:v -> I:i = 1;\n v -> a.end;\n 1:w -> I:j = 1;\n w -> "
                   "b.end;\n output y = a.c.q + b.c.q;\n}\n"
                   "model Spring {\n port 1:end;\n end -> C:c { e = 4*q + 1e-6*q^3; q(0) = 1; }\n}\nexperiment x of m "
                   "{ stop = 5; }\n",
                   "1e-6*q^3", -1, 0),
         2e-6 * greatest(duffing, 5));
    near(predicted(OSCILLATOR("4*q", " for k in 1..3 { v -> R:r[k] { e = 1e-6*k*f + 0*f^3; } }\n"), "1e-6*k*f", -1, 0),
         6e-6 * greatest(damped, 5));
}

/* Without states: 2f + 1e-6*f^3 = 4 is an equation to be iterated; f moves by 1e-6*2^3/2. From equilibrium: 4q +
 * 1e-6*q^3 = 8, q by 1e-6*2^3/4. */
static void
test_at_rest(void **state)
{
    (void)state;
    near(predicted("model m {\n Se:s = 4 -> 1:v;\n v -> R:r { e = 2*f + 1e-6*f^3; }\n output y = r.f;\n}\nexperiment x "
                   "of m { stop = 1; }\n",
                   "1e-6*f^3", -1, 0),
         4e-6);
    near(predicted("model m {\n Se:s = 8 -> 1:v;\n v -> I:i = 1;\n v -> R:r = 1;\n v -> C:c { e = 4*q + 1e-6*q^3; }\n "
                   "output y = c.q;\n}\n"
                   "experiment x of m { stop = 1; start from equilibrium; }\n",
                   "1e-6*q^3", -1, 0),
         2e-6);
}

/* Terms that the outputs read directly, and an output that no term reaches. */
static void
test_outputs(void **state)
{
    (void)state;
    near(predicted(OSCILLATOR("4*q", " signal s = c.q + 1e-6*time;\n output z = s;\n"), "1e-6*time", -1, 0), 5e-6);
    assert_true(predicted(OSCILLATOR("4*q", " output z = c.q;\n signal s = c.q + 1e-6*time;\n"), "1e-6*time", -1, 0) ==
                0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_oscillator), cmocka_unit_test(test_mean),
                                        cmocka_unit_test(test_occurrences), cmocka_unit_test(test_at_rest),
                                        cmocka_unit_test(test_outputs) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
