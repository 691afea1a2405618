/* test_partials.c - partial derivatives of rates and outputs by parameters, algebraic variables eliminated, against
 * central differences of the model's own rates and outputs with the parameter set to other values; and against closed
 * forms where parameters are computed from others
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "compile.h"
#include "state_space.h"

/* Two dampers in series (an algebraic loop), a dependent mass behind a lever, a nonlinear resistor in a loop of its
 * own, a gyrator, computed parameters; an input held constant and one given by a formula. */
static const char *const text =
    "model all {\n"
    "    parameter m = 2 [kg]; parameter n = 0.7; parameter k0 = 50; parameter k = 2*k0 + k0*n; parameter b = 3; "
    "parameter c = 0.4;\n"
    "    parameter r = 1.7; parameter L = 0.3; parameter R = 2; input F = 1; input u = 2;\n"
    "    1:v -> I:mass = m; v -> C:spring { e = k*q + 100*q^3; } Se:force = F -> v;\n"
    "    v -> 0:s; s -> 1:d1 -> R:damper1 = b; d1 -> 0:t; t -> R:leak { f = c*e + 0.1*e^3; } t -> 1:d2 -> R:damper2 = "
    "2*b; \n"
    "    v -> TF:lever = n -> 1:w; w -> I:tip = 0.5*m;\n"
    "    1:i -> I:coil = L; i -> R:wire = R; Se:supply = u -> i; i -> GY:motor = r -> v;\n"
    "    output force_of_damper = damper1.e; output x = spring.q; output y = mass.f + n*leak.e;\n"
    "}\n"
    "experiment e of all { let u = sin(3*time); stop = 1; }\n";

static double
reduced(const state_space *s, size_t row, size_t column)
{
    return row < s->n ? s->B[row + s->n * column] : s->D[row - s->n + s->ny * column];
}

static void
test_against_differences(void **state)
{
    static const char *const name[] = { "m", "n", "k0", "k", "b", "c", "r", "L", "R", "F" };
    enum { NAMES = sizeof name / sizeof *name, NX = 3, NY = 3 };
    double x[NX] = { 0.31, 0.11, 0.7 }, high[NX + NY], low[NX + NY];
    compilation c = { 0 };
    var_id by[NAMES];
    partials *p;
    state_space s;

    (void)state;
    if (!compile_text(&c, "case.bg", text, strlen(text), STAGE_MODEL, &(compile_options){ .experiment = "e" }))
        diag_print(c.sources, stderr, false, DIAG_ALL);
    assert_non_null(c.model);
    assert_int_equal(model_nstates(c.model), NX);
    for (size_t i = 0; i < NAMES; i++)
        assert_true((by[i] = model_parameter(c.model, name[i])) != VAR_NONE);
    p = model_partials(c.model, by, NAMES, NY);
    assert_non_null(p);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(state_space_at(c.model, p, NAMES, NY, 0.4, x, &s), SPACE_DONE);
        for (size_t q = 0; q < NAMES; q++) {
            compilation d = { 0 };
            double at = model_parameter_value(c.model, by[q]), h = 1e-5 * at;

            assert_true(
                compile_text(&d, "case.bg", text, strlen(text), STAGE_MODEL, &(compile_options){ .experiment = "e" }));
            if (round)
                model_set_parameter(d.model, "n", 0.9);
            model_set_parameter(d.model, name[q], at + h);
            assert_int_equal(model_rhs(d.model, 0.4, x, high), 0);
            assert_int_equal(model_outputs(d.model, 0.4, x, high + NX), 0);
            model_set_parameter(d.model, name[q], at - h);
            assert_int_equal(model_rhs(d.model, 0.4, x, low), 0);
            assert_int_equal(model_outputs(d.model, 0.4, x, low + NX), 0);
            for (size_t r = 0; r < NX + NY; r++) {
                double slope = (high[r] - low[r]) / (2 * h);

                if (!(fabs(reduced(&s, r, q) - slope) <= 1e-7 * (1 + fabs(slope))))
                    fail_msg("round %d, %s, row %zu: %.12g, by differences %.12g", round, name[q], r, reduced(&s, r, q),
                             slope);
            }
            compile_free(&d);
        }
        state_space_free(&s);
        model_set_parameter(c.model, "n", 0.9); /* the derivatives follow what is set */
    }
    compile_free(&c);
}

/* Of f = -a*x with a = 3*b^2, b = c/2: df/dc = -3*c*x/2. When a is set it does not follow. */
static void
test_computed(void **state)
{
    static const char *const chain = "model m { parameter a = 3*b^2; parameter b = c/2; parameter c = 4; signal x = "
                                     "integral(-a*x, 1); output y = x; }\n"
                                     "experiment e of m { stop = 1; }\n";
    compilation c = { 0 };
    var_id by[3];
    double x = 0.5;
    partials *p;
    state_space s;

    (void)state;
    assert_true(
        compile_text(&c, "case.bg", chain, strlen(chain), STAGE_MODEL, &(compile_options){ .experiment = "e" }));
    by[0] = model_parameter(c.model, "a");
    by[1] = model_parameter(c.model, "b");
    by[2] = model_parameter(c.model, "c");
    p = model_partials(c.model, by, 3, 1);
    assert_int_equal(state_space_at(c.model, p, 3, 1, 0, &x, &s), SPACE_DONE);
    assert_true(fabs(s.A[0] + 12) < 1e-12);
    assert_true(fabs(s.B[0] + x) < 1e-12);
    assert_true(fabs(s.B[1] + 12 * x) < 1e-12);
    assert_true(fabs(s.B[2] + 6 * x) < 1e-12);
    assert_true(s.C[0] == 1 && s.D[0] == 0);
    state_space_free(&s);
    model_set_parameter(c.model, "a", 7);
    assert_int_equal(state_space_at(c.model, p, 3, 1, 0, &x, &s), SPACE_DONE);
    assert_true(fabs(s.B[0] + x) < 1e-12 && s.B[1] == 0 && s.B[2] == 0);
    state_space_free(&s);
    compile_free(&c);
}

/* Inputs and sources opened: a constant input, one given by a formula, one whose rate is read, a source of its own. */
static void
test_opened(void **state)
{
    static const char *const open =
        "model m { input a = 1; input b = 2; input z = 0; 1:v -> I:mass = 2; Se:push = 3*a -> v; Se:pull = 4*b -> v;\n"
        "v -> R:damper = 1; 1:w -> I:other = 1; Se:third = 5*der(z) -> w; output y = v.f + b + z; }\n"
        "experiment e of m { let b = sin(3*time); let z = time/1 [s]; stop = 1; }\n";
    static const struct {
        const char *name;
        double B[2], D;
    } known[] = { /* p of mass, of other */
                  { "a", { 3, 0 }, 0 },    { "der(a)", { 0, 0 }, 0 }, { "b", { 4, 0 }, 1 },
                  { "z", { 0, 0 }, 1 },    { "der(z)", { 0, 5 }, 0 }, { "push", { 1, 0 }, 0 },
                  { "pull", { 1, 0 }, 0 }, { "third", { 0, 1 }, 0 }
    };
    compilation c = { 0 };
    VEC(var_id) by = { 0 };
    VEC(const char *) name = { 0 };
    double x[2] = { 1, 1 };
    partials *p;
    state_space s;

    (void)state;
    assert_true(compile_text(&c, "case.bg", open, strlen(open), STAGE_MODEL,
                             &(compile_options){ .experiment = "e", .open = true }));
    for (size_t i = 0; i < c.flat->opening.n; i++) {
        vec_push(&by, c.flat->opening.at[i].by);
        vec_push(&name, c.flat->opening.at[i].name);
        vec_push(&by, c.flat->opening.at[i].rate);
        vec_push(&name, c.flat->opening.at[i].rate_name);
    }
    p = model_partials(c.model, by.at, by.n, 1);
    assert_int_equal(state_space_at(c.model, p, by.n, 1, 0, x, &s), SPACE_DONE);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        size_t i = 0, mass = strcmp(model_state(c.model, 0).name, "mass.p") ? 1 : 0;

        while (i < name.n && strcmp(name.at[i], known[k].name))
            i++;
        assert_true(i < name.n);
        assert_true(s.B[2 * i + mass] == known[k].B[0] && s.B[2 * i + 1 - mass] == known[k].B[1] &&
                    s.D[i] == known[k].D);
    }
    state_space_free(&s);
    vec_free(&by);
    vec_free(&name);
    compile_free(&c);
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_against_differences), cmocka_unit_test(test_computed),
                                        cmocka_unit_test(test_opened) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
