/* test_fields.c - fields and residual sources: laws, causality, powers, constraints */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "compile.h"

static compilation
compile(const char *body, bool fine)
{
    compilation c = { 0 };
    char *text = bg_format("model m {\n%s\n}\n", body);

    if (compile_text(&c, "test.bg", text, strlen(text), STAGE_MODEL, &(compile_options){ 0 }) != fine) {
        diag_print(c.sources, stderr, false, DIAG_ALL);
        fail_msg("%s:\n%s", fine ? "refused" : "accepted", text);
    }
    free(text);
    return c;
}

static bool
says(const compilation *c, const char *code)
{
    for (size_t i = 0; i < diag_count(c->sources); i++)
        if (!strcmp(diag_at(c->sources, i)->code, code))
            return true;
    return false;
}

static void
refused(const char *body, const char *code)
{
    compilation c = compile(body, false);

    if (!says(&c, code)) {
        diag_print(c.sources, stderr, false, DIAG_ALL);
        fail_msg("not said: %s", code);
    }
    compile_free(&c);
}

static size_t
state_of(const compilation *c, const char *name)
{
    for (size_t i = 0; i < model_nstates(c->model); i++)
        if (!strcmp(model_state(c->model, i).name, name))
            return i;
    fail_msg("no state %s", name);
    return 0;
}

static bool
is_state(const compilation *c, const char *name)
{
    for (size_t i = 0; i < model_nstates(c->model); i++)
        if (!strcmp(model_state(c->model, i).name, name))
            return true;
    return false;
}

/* Rates at states that are all different, and that the powers of all elements sum to zero there. */
static void
evaluate(compilation *c, double *x, double *dx)
{
    size_t n = model_nstates(c->model), elements = model_nelements(c->model);
    double *power = bg_calloc(elements + 1, sizeof *power), sum = 0, size = 0;

    for (size_t i = 0; i < n; i++)
        x[i] = 0.3 + 0.17 * (double)i;
    assert_int_equal(model_rhs(c->model, 0.4, x, dx), 0);
    assert_int_equal(model_powers(c->model, 0.4, x, power), 0);
    for (size_t i = 0; i < elements; i++) {
        sum += power[i];
        size += fabs(power[i]);
    }
    assert_true(fabs(sum) <= 1e-12 * size + 1e-300);
    free(power);
}

static double
rate(const compilation *c, const double *dx, const char *name)
{
    return dx[state_of(c, name)];
}

static void
near_at(double a, double b, int line)
{
    if (!(fabs(a - b) <= 1e-12 * (fabs(b) + 1)))
        fail_msg("line %d: %.15g instead of %.15g", line, a, b);
}
#define NEAR(a, b) near_at((a), (b), __LINE__)

static void
storage_by_energy(void **unused)
{
    double x[8], dx[8];
    compilation c = compile(
        "C:s { port a, b; energy = a.q^2*b.q + b.q^4; }\n1:u -> I:mu = 2; 1:v -> I:mv = 3;\nu -> s.a; v -> s.b;", true);

    (void)unused;
    evaluate(&c, x, dx);
    {
        double a = x[state_of(&c, "s.a.q")], b = x[state_of(&c, "s.b.q")];

        NEAR(rate(&c, dx, "mu.p"), -2 * a * b);
        NEAR(rate(&c, dx, "mv.p"), -(a * a + 4 * b * b * b));
        NEAR(rate(&c, dx, "s.a.q"), x[state_of(&c, "mu.p")] / 2);
    }
    compile_free(&c);
}

/* Behind an arrow power comes out: what is stored integrates the flow out, and the effort turns its sign. */
static void
power_out_of_storage(void **unused)
{
    double x[8], dx[8];
    compilation c = compile(
        "C:s { port a -> b; energy = (a.q - 2*b.q)^2/2; }\n1:u -> I:mu = 2; 1:v -> I:mv = 3;\nu -> s.a; s.b -> v;",
        true);

    (void)unused;
    evaluate(&c, x, dx);
    {
        double d = x[state_of(&c, "s.a.q")] - 2 * x[state_of(&c, "s.b.q")];

        NEAR(rate(&c, dx, "mu.p"), -d);
        NEAR(rate(&c, dx, "mv.p"), 2 * d);
        NEAR(rate(&c, dx, "s.b.q"), x[state_of(&c, "mv.p")] / 3);
    }
    compile_free(&c);
}

static void
mixed_storage(void **unused)
{
    double x[8], dx[8];
    compilation c = compile("I:coil { port flux, gap; energy = flux.p^2*(1 + gap.q^2)/2; }\n1:l -> R:r = 1; l -> "
                            "coil.flux; 1:v -> I:m = 2; v -> coil.gap;",
                            true);

    (void)unused;
    evaluate(&c, x, dx);
    {
        double p = x[state_of(&c, "coil.flux.p")], q = x[state_of(&c, "coil.gap.q")];

        NEAR(rate(&c, dx, "coil.flux.p"), -p * (1 + q * q));
        NEAR(rate(&c, dx, "m.p"), -p * p * q);
    }
    compile_free(&c);
}

static void
reciprocity(void **unused)
{
    /* by what is stored, by what is given, and one of each: the cross terms have one sign or, in the last, opposite
     * ones */
    const char *const right[] = {
        "C:s { port a, b; a.e = 2*a.q + 3*b.q; b.e = 3*a.q + 5*b.q; }",
        "C:s { port a, b; a.q = 2*a.e - b.e; b.q = -a.e + 4*b.e; }",
        "C:s { port a, b; a.e = 2*a.q + 3*b.e; b.q = -3*a.q + 5*b.e; }",
        "C:s { port a -> b; a.e = 2*a.q - 3*b.q; b.e = 3*a.q - 5*b.q; }",
        "parameter k = 3; parameter h = 3; C:s { port a, b; a.e = 2*a.q + k*b.q; b.e = h*a.q + 5*b.q; }",
        "C:s { port a, b; a.e = exp(a.q + b.q); b.e = exp(a.q)*exp(b.q); }",
    };
    const char *const wrong[] = {
        "C:s { port a, b; a.e = 2*a.q + 3*b.q; b.e = 4*a.q + 5*b.q; }",
        "C:s { port a, b; a.q = 2*a.e - b.e; b.q = a.e + 4*b.e; }",
        "C:s { port a, b; a.e = 2*a.q + 3*b.e; b.q = 3*a.q + 5*b.e; }",
        "C:s { port a -> b; a.e = 2*a.q + 3*b.q; b.e = 3*a.q + 5*b.q; }",
        "parameter k = 3; parameter h = 4; C:s { port a, b; a.e = 2*a.q + k*b.q; b.e = h*a.q + 5*b.q; }",
        "C:s { port a, b; a.e = a.q; b.e = if b.q > 0 then b.q + a.q else b.q; }",
    };
    char text[512];

    (void)unused;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        bool out = strstr(right[i], "->") != NULL;
        compilation c;
        double x[8], dx[8];

        snprintf(text, sizeof text, "%s\n1:u -> I:mu = 1; 1:v -> I:mv = 1; u -> s.a; %s", right[i],
                 out ? "s.b -> v;" : "v -> s.b;");
        c = compile(text, true);
        evaluate(&c, x, dx);
        compile_free(&c);
        snprintf(text, sizeof text, "%s\n1:u -> I:mu = 1; 1:v -> I:mv = 1; u -> s.a; %s", wrong[i],
                 strstr(wrong[i], "->") ? "s.b -> v;" : "v -> s.b;");
        refused(text, "field-reciprocity");
    }
}

/* Laws the other way round, solved together; a dependent port takes its q from the other's partner. */
static void
dependent_ports(void **unused)
{
    double x[8], dx[8];
    compilation c = compile("C:s { port a, b; energy = a.q^2 + a.q*b.q + b.q^2; }\n0:n -> C:c = 0.5; n -> s.a; 1:v -> "
                            "I:m = 1; v -> s.b; n -> R:r = 1;",
                            true);

    (void)unused;
    evaluate(&c, x, dx);
    assert_int_equal(model_nstates(c.model), 3);
    compile_free(&c);
    /* both ports on capacitors */
    c = compile("C:s { port a, b; energy = a.q^2 + a.q*b.q + b.q^2; }\n0:n -> C:c = 0.5; n -> s.a; 0:k -> C:d = 2; k "
                "-> s.b; n -> R:r = 1; k -> R:t = 3;",
                true);
    evaluate(&c, x, dx);
    assert_int_equal(model_nstates(c.model), 2);
    compile_free(&c);
}

static void
resistive(void **unused)
{
    double x[8], dx[8];
    compilation c = compile("R:d { port a, b; a.e = 2*a.f - b.f; b.e = -b.f*0 + 3*b.f - a.f; }\n1:u -> I:mu = 1; 1:v "
                            "-> I:mv = 1; u -> d.a; v -> d.b;",
                            true);
    double a, b;

    (void)unused;
    evaluate(&c, x, dx);
    a = x[state_of(&c, "mu.p")];
    b = x[state_of(&c, "mv.p")];
    NEAR(rate(&c, dx, "mu.p"), -(2 * a - b));
    NEAR(rate(&c, dx, "mv.p"), -(3 * b - a));
    compile_free(&c);
    /* the same on capacitors: the laws inverted together, though no own coefficient is there */
    c = compile("R:d { port a, b; a.e = a.f + 2*b.f; b.e = 2*a.f + b.f; }\n0:u -> C:cu = 1; 0:v -> C:cv = 1; u -> d.a; "
                "v -> d.b;",
                true);
    evaluate(&c, x, dx);
    a = x[state_of(&c, "cu.q")];
    b = x[state_of(&c, "cv.q")];
    NEAR(rate(&c, dx, "cu.q"), -(a - 2 * b) / (1 - 4));
    NEAR(rate(&c, dx, "cv.q"), -(b - 2 * a) / (1 - 4));
    compile_free(&c);
}

static void
matrices(void **unused)
{
    double x[8], dx[8];
    compilation c = compile(
        "parameter K[2,2] = [4, -1; -1, 3]; parameter D[2,2] = [2, 0.5; -0.5, 1];\n"
        "C:k { port x[2]; energy = x.q*K*x.q/2; } R:d { port x[2]; x.e = D*x.f; }\n1:v[2];\n"
        "for i in 1..2 { v[i] -> I:m[i] = 1; v[i] -> k.x[i]; v[i] -> d.x[i]; }\noutput y[2] = k.x.q;",
        true);

    (void)unused;
    evaluate(&c, x, dx);
    {
        double q1 = x[state_of(&c, "k.x[1].q")], q2 = x[state_of(&c, "k.x[2].q")], p1 = x[state_of(&c, "m[1].p")],
               p2 = x[state_of(&c, "m[2].p")];

        NEAR(rate(&c, dx, "m[1].p"), -(4 * q1 - q2) - (2 * p1 + 0.5 * p2));
        NEAR(rate(&c, dx, "m[2].p"), -(-q1 + 3 * q2) - (-0.5 * p1 + p2));
    }
    compile_free(&c);
    refused("parameter K[2,2] = [4, -1; -2, 3]; C:k { port x[2]; x.e = K*x.q; }\n1:v[2]; for i in 1..2 { v[i] -> "
            "I:m[i] = 1; v[i] -> k.x[i]; }",
            "field-reciprocity");
}

static void
transformers(void **unused)
{
    double x[8], dx[8];
    /* two flows in, one out: on every kind of junction */
    const char *const ends[] = { "1:o", "0:o" };
    char text[512];

    (void)unused;
    for (int i = 0; i < 2; i++)
        for (int joined = 0; joined < 2; joined++) {
            compilation c;

            snprintf(text, sizeof text,
                     "TF:t { port a, b -> c; c.f = 2*a.f - 3*b.f; }\n1:u -> I:mu = 1; %s %s -> t.b; u -> t.a; t.c -> "
                     "%s; o -> %s;",
                     joined ? "" : "1:v -> I:mv = 2;", joined ? "u" : "v", ends[i], "C:k = 1");
            c = compile(text, true);
            evaluate(&c, x, dx);
            if (!joined) {
                double a = x[state_of(&c, "mu.p")], b = x[state_of(&c, "mv.p")] / 2, q = x[state_of(&c, "k.q")];

                NEAR(rate(&c, dx, "k.q"), 2 * a - 3 * b);
                NEAR(rate(&c, dx, "mu.p"), -2 * q);
                NEAR(rate(&c, dx, "mv.p"), 3 * q);
            } else {
                NEAR(rate(&c, dx, "k.q"), -x[state_of(&c, "mu.p")]);
            }
            compile_free(&c);
        }
    /* what nothing sets is a state where storage depends on it */
    {
        compilation c = compile("signal a = integral(w.f, 1); 1:w; TF:t { port w -> x, y; x.f = cos(a)*w.f; y.f = "
                                "sin(a)*w.f; }\nw -> t.w; w -> R:bearing = 0.1;\n"
                                "t.x -> 1:x -> I:mx = 1; t.y -> 1:y -> I:my = 1; Se:g = -9.81 -> y;",
                                true);

        evaluate(&c, x, dx);
        assert_true(is_state(&c, "w.f"));
        assert_int_equal(model_nstates(c.model), 2);
        NEAR(rate(&c, dx, "w.f"), -9.81 * sin(x[state_of(&c, "a")]) - 0.1 * x[state_of(&c, "w.f")]);
        compile_free(&c);
    }
}

static void
open_ports(void **unused)
{
    double x[8], dx[8];
    compilation c = compile("C:s { port a, b; energy = a.q^2*b.q; b.q(0) = 2; }\n1:u -> I:m = 1; u -> s.a;\nR:d { port "
                            "a, b; a.e = a.f + b.f; b.e = a.f + 2*b.f; }\nu -> d.a;",
                            true);

    (void)unused;
    evaluate(&c, x, dx);
    NEAR(rate(&c, dx, "s.b.q"), 0);
    NEAR(rate(&c, dx, "m.p"), -2 * x[state_of(&c, "s.a.q")] * x[state_of(&c, "s.b.q")] - x[state_of(&c, "m.p")]);
    assert_int_equal(model_initial(c.model, 0, x), true);
    NEAR(x[state_of(&c, "s.b.q")], 2);
    compile_free(&c);
}

static void
residual_sources(void **unused)
{
    double x[8], dx[8];
    compilation c = compile("1:u -> I:m = 2; u -> C:k = 1; Se:hold such that m.e - 5 -> u;", true);

    (void)unused;
    evaluate(&c, x, dx);
    NEAR(rate(&c, dx, "m.p"), 5);
    assert_int_equal(model_nconstraints(c.model), 0);
    compile_free(&c);
    /* two that determine each other's unknown */
    c = compile("1:u -> I:m = 2; 1:v -> I:n = 1; Se:a such that n.e - 5 -> u; Se:b such that m.e - 7 -> v;", true);
    evaluate(&c, x, dx);
    NEAR(rate(&c, dx, "m.p"), 7);
    NEAR(rate(&c, dx, "n.p"), 5);
    compile_free(&c);
    refused("1:u -> I:m = 2; Se:a such that time - 1 [s] -> u;", "residual-free");
    refused("1:u -> I:m = 2; Se:a such that a.e - 1 -> u; Se:b such that a.e - 2 -> u;", "residual-twice");
}

/* A speed that is held: differentiated once. Positions that are held together: twice. */
static void
constraints(void **unused)
{
    double x[8], dx[8], rest[4];
    compilation c = compile("1:u -> I:m = 2; u -> C:k = 1; Se:hold such that u.f - sin(time/1 [s]) -> u;", true);

    (void)unused;
    assert_int_equal(model_nconstraints(c.model), 1);
    evaluate(&c, x, dx);
    NEAR(rate(&c, dx, "m.p"), 2 * cos(0.4));
    assert_int_equal(model_project(c.model, 0.4, x), 0);
    NEAR(x[state_of(&c, "m.p")], 2 * sin(0.4));
    compile_free(&c);

    c = compile("signal a = integral(u.f, 0.6); signal b = integral(v.f, 0.8); 1:u -> I:m = 1; 1:v -> I:n = 1; u -> "
                "I:more = 3; v -> I:less = 3;\n"
                "TF:t { port u, v -> s; s.f = a*u.f + b*v.f; } u -> t.u; v -> t.v; t.s -> 1:s -> Se:rod such that a^2 "
                "+ b^2 - 1; Se:g = -9.81 -> v;",
                true);
    assert_int_equal(model_nconstraints(c.model), 2);
    assert_true(model_initial(c.model, 0, x));
    assert_int_equal(model_constraints(c.model, 0, x, rest), 0);
    NEAR(rest[0], 0);
    NEAR(rest[1], 0);
    for (size_t i = 0; i < model_nstates(c.model); i++)
        x[i] += 0.01 * (double)(i + 1);
    assert_int_equal(model_project(c.model, 0, x), 0);
    assert_int_equal(model_constraints(c.model, 0, x, rest), 0);
    NEAR(rest[0], 0);
    NEAR(rest[1], 0);
    compile_free(&c);
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(storage_by_energy), cmocka_unit_test(power_out_of_storage),
                                        cmocka_unit_test(mixed_storage),     cmocka_unit_test(reciprocity),
                                        cmocka_unit_test(dependent_ports),   cmocka_unit_test(resistive),
                                        cmocka_unit_test(matrices),          cmocka_unit_test(transformers),
                                        cmocka_unit_test(open_ports),        cmocka_unit_test(residual_sources),
                                        cmocka_unit_test(constraints) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
