/* test_part_errors.c - what elements taken out are predicted to do, against first-order perturbations in closed form
 *
 * A tank that runs out through a resistor, q' = -a q with q(0) = 1, is exp(-a t); with the law of either times f it is
 * exp(-a f t), whose slope by f is -a t exp(-a t), greatest at 1/a: exp(-1). What the tank's junction would be without
 * taking up q' is the same, as q' times exp(-a (T - t)) is integrated. An oscillator q'' + 4q = -eps q' is damped by
 * eps (sin(2t)/4 - t/2 cos(2t)).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "compile.h"
#include "part_errors.h"

enum { ELEMENTS_MOST = 8, TIMES = 40 };

/* Of the first output, within 1, by element in the order of the text, and by workers; moves: NULL, or to be freed, with
 * the influence of parts left out. False: nothing is predicted. */
static bool
predicted_with(const char *text, size_t workers, part_error *out, part_moves *moves)
{
    compilation c = { 0 };
    sim_options o = { 0 };
    bool fine;

    memset(out, 0, ELEMENTS_MOST * sizeof *out);
    assert_true(compile_text(&c, "case.bg", text, strlen(text), STAGE_MODEL,
                             &(compile_options){ .experiment = "x", .removable = true }));
    assert_true(sim_options_from_experiment(c.model, &o));
    o.rtol = 1e-10;
    fine = part_errors(&(part_run){ c.model, &o, &(held_output){ 0, 1 }, 1 }, 1, workers, out, moves) == 1;
    sim_options_free(&o);
    if (moves) {
        influence_free(moves->influence);
        moves->influence = NULL;
    }
    compile_free(&c);
    return fine;
}

static bool
predicted(const char *text, part_error *out)
{
    return predicted_with(text, 2, out, NULL);
}

static void
near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-3 * fabs(b)))
        fail_msg("%.9g, not %.9g", a, b);
}

static void
test_tank(void **state)
{
    part_error at[ELEMENTS_MOST];

    (void)state;
    /* 1/a = 2 s is the tenth of the forty times */
    assert_true(predicted("model m {\n 0:p -> C:tank { e = 2*q; q(0) = 1; }\n p -> R:out = 4;\n output y = tank.q;\n}\n"
                          "experiment x of m { stop = 8; }\n",
                          at));
    near(at[0].rests, exp(-1));
    near(at[0].dropped, exp(-1));
    near(at[1].dropped, exp(-1));
    assert_true(at[1].rests == INFINITY);
}

/* Two leaks of a tank, and their sum, at each time, whatever the number of workers: a part that takes something out
 * leaves the more, by a_i t exp(-a t) with a = a_1 + a_2. */
static void
test_moves(void **state)
{
    const char *text = "model m {\n 0:p -> C:tank { e = q; q(0) = 1; }\n p -> R:one { f = 0.3*e; }\n p -> R:two { f = "
                       "0.1*e; }\n output y = tank.q;\n}\nexperiment x of m { stop = 8; }\n";

    (void)state;
    for (size_t workers = 1; workers < 4; workers++) {
        part_error at[ELEMENTS_MOST];
        part_moves m;

        assert_true(predicted_with(text, workers, at, &m));
        assert_int_equal(m.n, TIMES);
        for (size_t k = 0; k < m.n; k++) {
            double t = m.time[k], whole = t * exp(-0.4 * t);

            assert_true(fabs(t - 8.0 * (double)(TIMES - k) / TIMES) < 8.0 / 500);
            near(m.at[2 * m.n + k], 0.3 * whole);
            near(m.at[4 * m.n + k], 0.1 * whole);
            assert_true(isnan(m.at[3 * m.n + k]));
        }
        part_moves_free(&m);
    }
}

/* Two tanks and a door between them: the leak of the second acts on the first until the door is shut. */
static void
test_influence(void **state)
{
    enum { LEFT, DOOR, RIGHT, LEAK, OUT };
    const char *text =
        "model m {\n 0:p -> C:left { e = q; q(0) = 1; }\n p -> 1:b -> 0:r;\n b -> R:door { f = 0.3*e; }\n"
        " r -> C:right { e = q; q(0) = 2; }\n r -> R:leak { f = 0.1*e; }\n p -> R:out { f = 0.2*e; }\n"
        " output y = p.e;\n}\nexperiment x of m { stop = 8; }\n";
    compilation c = { 0 };
    sim_options o = { 0 };
    part_error at[ELEMENTS_MOST] = { 0 };
    part_moves m;

    (void)state;
    assert_true(compile_text(&c, "case.bg", text, strlen(text), STAGE_MODEL,
                             &(compile_options){ .experiment = "x", .removable = true }));
    assert_true(sim_options_from_experiment(c.model, &o));
    assert_int_equal(part_errors(&(part_run){ c.model, &o, &(held_output){ 0, 1 }, 1 }, 1, 1, at, &m), 1);
    assert_non_null(m.influence);
    for (size_t e = LEFT; e <= OUT; e++)
        assert_true(influence_of(m.influence, e, model_removal(c.model, e).rests));
    assert_true(model_removal(c.model, DOOR).rests); /* it imposes what flows */
    influence_take_out(m.influence, DOOR, true);
    assert_false(influence_of(m.influence, LEAK, false));
    assert_false(influence_of(m.influence, RIGHT, true));
    assert_false(influence_of(m.influence, RIGHT, false));
    assert_true(influence_of(m.influence, OUT, false));
    influence_take_out(m.influence, LEFT, false); /* the level is then what the flows make it */
    assert_true(influence_of(m.influence, OUT, false));
    part_moves_free(&m);
    sim_options_free(&o);
    compile_free(&c);
}

/* Two experiments, side by side or not: each element gets the greater of both errors, where there is a prediction for
 * both. */
static void
test_experiments(void **state)
{
    static const char *const text =
        "model m {\n 0:p -> C:c { e = 2*q; q(0) = 3; }\n p -> R:r { f = 0.5*e; }\n p -> R:l { f = 0.1*e; }\n"
        " output y = p.e;\n}\nexperiment x of m { stop = 1; }\nexperiment z of m { stop = 0.3; let c.q(0) = 9; }\n";
    const char *const name[] = { "x", "z" };
    const held_output held = { 0, 1 };
    part_error alone[2][ELEMENTS_MOST] = { 0 }, both[ELEMENTS_MOST];
    compilation c[2] = { 0 };
    sim_options o[2] = { 0 };
    part_run run[2];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_true(compile_text(&c[i], "case.bg", text, strlen(text), STAGE_MODEL,
                                 &(compile_options){ .experiment = name[i], .removable = true }));
        assert_true(sim_options_from_experiment(c[i].model, &o[i]));
        run[i] = (part_run){ c[i].model, &o[i], &held, 1 };
        assert_int_equal(part_errors(&run[i], 1, 1, alone[i], NULL), 1);
    }
    for (size_t workers = 1; workers <= 3; workers++) {
        memset(both, 0, sizeof both);
        assert_int_equal(part_errors(run, 2, workers, both, NULL), 2);
        for (size_t e = 0; e < 3; e++) {
            assert_true(both[e].dropped == fmax(alone[0][e].dropped, alone[1][e].dropped));
            assert_true(both[e].rests == fmax(alone[0][e].rests, alone[1][e].rests));
        }
    }
    assert_true(alone[1][1].dropped > alone[0][1].dropped && isfinite(alone[1][1].dropped));
    run[1].nheld = 0; /* nothing to predict */
    memset(both, 0, sizeof both);
    assert_int_equal(part_errors(run, 2, 2, both, NULL), 1);
    for (size_t i = 0; i < 2; i++) {
        sim_options_free(&o[i]);
        compile_free(&c[i]);
    }
}

static void
test_oscillator(void **state)
{
    part_error at[ELEMENTS_MOST];
    double most = 0;

    (void)state;
    for (int k = 1; k <= TIMES; k++) {
        double t = 5.0 * k / TIMES;

        most = fmax(most, fabs(sin(2 * t) / 4 - t / 2 * cos(2 * t)));
    }
    assert_true(predicted("model m {\n 1:v -> I:i = 1;\n v -> C:c { e = 4*q; q(0) = 1; }\n v -> R:r = 1e-6;\n"
                          " output y = c.q;\n}\nexperiment x of m { stop = 5; }\n",
                          at));
    near(at[2].dropped, 1e-6 * most);
}

/* What the output reads of the element at once counts too: a tank that fills, q' = 1 - a f q, and y = a f q = 1 -
 * exp(-a f t), whose slope by f is a t exp(-a t). */
static void
test_output(void **state)
{
    part_error at[ELEMENTS_MOST];

    (void)state;
    assert_true(predicted("model m {\n Sf:s = 1 -> 0:p;\n p -> C:c = 1;\n p -> R:r = 10;\n output y = r.f;\n}\n"
                          "experiment x of m { stop = 100; }\n",
                          at));
    near(at[2].dropped, exp(-1));
}

/* Where something switches nothing is said. */
static void
test_switches(void **state)
{
    part_error at[ELEMENTS_MOST];

    (void)state;
    assert_false(predicted("model m {\n 0:p -> C:tank { e = 2*q; q(0) = 1; }\n p -> R:out { f = if e > 1 then e/4 else "
                           "e/8; }\n output y = tank.q;\n}\nexperiment x of m { stop = 8; }\n",
                           at));
}

/* What the leak of 1e-6 e takes up to the time T, to first order. y' = -2 y down to 1/2, which is at t1, and 1/4 - 5/2
 * y behind it: there y = (1 + 4 exp(-5/2 s))/10 with s = T - t1, and what was taken until then decays likewise. */
static double
taken_by_leak(double T)
{
    const double t1 = log(2) / 2, s = fmax(T - t1, 0), decay = exp(-2.5 * s), until = fmin(T, t1);

    return 2e-6 * (until * exp(-2 * until) * decay + 0.4 * s * decay + 0.1 / 2.5 * (1 - decay));
}

static void
test_corner(void **state)
{
    part_error at[ELEMENTS_MOST];
    double most = 0;

    (void)state;
    assert_true(predicted("model m {\n 0:p -> C:tank { e = 2*q; q(0) = 1; }\n p -> R:out { f = if e > 1 then e else "
                          "1.25*e - 0.25; }\n p -> R:leak { f = 1e-6*e; }\n output y = tank.q;\n}\nexperiment x of m { "
                          "stop = 2; }\n",
                          at));
    for (int k = 1; k <= 40; k++)
        most = fmax(most, taken_by_leak(k / 20.0));
    near(at[2].dropped, most);
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_tank),       cmocka_unit_test(test_moves),
                                        cmocka_unit_test(test_influence),  cmocka_unit_test(test_experiments),
                                        cmocka_unit_test(test_oscillator), cmocka_unit_test(test_output),
                                        cmocka_unit_test(test_switches),   cmocka_unit_test(test_corner) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
