/* test_again.c - a run does not depend on runs before it: the same handle again, and after a run with another number,
 * gives what it gave, bit for bit, and what a new handle gives
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bgc.h"

static const bgc_run_options points = { .points = 101 };

static void
assert_same(const bgc_model *m, const bgc_run *a, const bgc_run *b)
{
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(bgc_run_points(a), bgc_run_points(b));
    assert_int_equal(bgc_run_steps(a), bgc_run_steps(b));
    for (size_t i = 0; i < bgc_run_points(a); i++) {
        for (size_t k = 0; k < bgc_output_count(m); k++) {
            double x = bgc_run_value(a, i, k), y = bgc_run_value(b, i, k);

            assert_memory_equal(&x, &y, sizeof x);
        }
        for (size_t k = 0; k < bgc_state_count(m); k++) {
            double x = bgc_run_state(a, i, k), y = bgc_run_state(b, i, k);

            assert_memory_equal(&x, &y, sizeof x);
        }
    }
}

static void
check_file(const char *name, const char *experiment)
{
    char path[400];
    bgc_model *m, *fresh;
    bgc_run *first, *again, *other;

    snprintf(path, sizeof path, "%s/../tests/run/%s.bg", BG_EXAMPLES, name);
    m = bgc_open(path, experiment);
    fresh = bgc_open(path, experiment);
    assert_true(bgc_ok(m));
    first = bgc_simulate(m, &points);
    again = bgc_simulate(m, &points);
    other = bgc_simulate(fresh, &points);
    assert_same(m, first, again);
    assert_same(m, first, other);
    bgc_run_free(first);
    bgc_run_free(again);
    bgc_run_free(other);
    bgc_free(m);
    bgc_free(fresh);
}

/* What switches, sticks, has several solutions, is projected on constraints, has ideal switches, waits for its rest. */
static void
test_runs_twice(void **unused)
{
    (void)unused;
    check_file("schmitt", "x");
    check_file("energy_audit", "share");
    check_file("charges_shared", "charge");
    check_file("coil_comes_to_rest", "turned");
    check_file("switch_together", "jump");
    check_file("pendulum_constraint", "large");
    check_file("linearize_switched_effects", "at_rest");
    check_file("rest_is_no_pole", "x");
    check_file("rests_on_corner", "x");
    check_file("stdlib_planar", "swing");
    check_file("voltage_multiplier", "x");
}

/* A run that ends sticking. */
static void
test_after_another_number(void **unused)
{
    static const char text[] = "model rubs {\n"
                               "    parameter F = 1;\n"
                               "    1:v { f(0) = 2; }\n"
                               "    v -> I:mass = 1;\n"
                               "    Se:push = F*sin(time) -> v;\n"
                               "    v -> R:rub { e = 0.8*sign(f); }\n"
                               "    v -> C:spring = 1;\n"
                               "    output x = spring.q;\n"
                               "}\n"
                               "experiment e of rubs { stop = 3; }\n";
    bgc_model *m = bgc_open_text("rubs.bg", text, strlen(text), NULL);
    bgc_run *first, *again;

    (void)unused;
    assert_true(bgc_ok(m));
    first = bgc_simulate(m, &points);
    assert_true(bgc_set(m, "F", 5));
    bgc_run_free(bgc_simulate(m, &points));
    assert_true(bgc_set(m, "F", 1));
    again = bgc_simulate(m, &points);
    assert_same(m, first, again);
    bgc_run_free(first);
    bgc_run_free(again);
    bgc_free(m);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_twice),
        cmocka_unit_test(test_after_another_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
