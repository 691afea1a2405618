/* test_track.c - differences of two runs between their steps: polynomials whose greatest difference and integrals are
 * known */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "quartic.h"
#include "track.h"

/* Adds the piece [from, to] of f to a track of one output. */
static void
add(track *k, double from, double to, double (*f)(double))
{
    k->n = 1;
    vec_push(&k->border, from);
    vec_push(&k->border, to);
    for (int i = 0; i < 5; i++)
        vec_push(&k->value, f(i == 0 ? from : i == 4 ? to : from + quartic_place[i - 1] * (to - from)));
}

static double
zero(double t)
{
    (void)t;
    return 0;
}
static double
one(double t)
{
    (void)t;
    return 1;
}
static double
hump(double t)
{
    return t * (1 - t) * t * (1 - t);
}
static double
line(double t)
{
    return 2 * t - 1;
}

static void
the_greatest_is_between_the_steps(void **unused)
{
    track a = { 0 }, b = { 0 };
    track_difference d;

    (void)unused;
    add(&a, 0, 0.3, hump);
    add(&a, 0.3, 1, hump);
    add(&b, 0, 1, zero);
    d = track_compare(&a, 0, &b, 0);
    assert_float_equal(d.max, 1.0 / 16, 1e-7); /* at 1/2, inside a piece of both */
    assert_float_equal(d.at, 0.5, 1e-3);
    assert_float_equal(d.mean, 1.0 / 30, 1e-14);       /* B(3, 3) */
    assert_float_equal(d.rms, sqrt(1.0 / 630), 1e-14); /* B(5, 5) */
    assert_float_equal(d.reference, 1.0 / 30, 1e-14);
    track_free(&a);
    track_free(&b);
}

static void
magnitudes_of_what_changes_sign(void **unused)
{
    track a = { 0 };
    track_difference d;

    (void)unused;
    add(&a, 0, 1, line);
    d = track_compare(&a, 0, NULL, 0);
    assert_float_equal(d.max, 1, 0);
    assert_float_equal(d.mean, 0.5, 1e-4); /* |2t - 1| */
    assert_float_equal(d.rms, sqrt(1.0 / 3), 1e-14);
    track_free(&a);
}

/* Two steps up, a microsecond apart: the difference is 1 in between, whatever the borders are. */
static void
a_switching_is_seen_on_both_sides(void **unused)
{
    track a = { 0 }, b = { 0 };
    track_difference d;

    (void)unused;
    add(&a, 0, 0.5, zero);
    add(&a, 0.5, 1, one);
    add(&b, 0, 0.500001, zero);
    add(&b, 0.500001, 1, one);
    d = track_compare(&a, 0, &b, 0);
    assert_float_equal(d.max, 1, 0);
    assert_float_equal(d.mean, 1e-6, 1e-12);
    assert_float_equal(track_compare(&b, 0, &a, 0).max, 1, 0);
    assert_float_equal(track_compare(&a, 0, &a, 0).max, 0, 0);
    track_free(&a);
    track_free(&b);
}

static void
what_is_no_number_differs(void **unused)
{
    track a = { 0 }, b = { 0 };

    (void)unused;
    add(&a, 0, 1, one);
    add(&b, 0, 1, one);
    b.value.at[2] = NAN;
    assert_true(isnan(track_compare(&a, 0, &b, 0).max));
    assert_true(isnan(track_compare(&b, 0, NULL, 0).rms));
    track_free(&a);
    track_free(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_greatest_is_between_the_steps),
        cmocka_unit_test(magnitudes_of_what_changes_sign),
        cmocka_unit_test(a_switching_is_seen_on_both_sides),
        cmocka_unit_test(what_is_no_number_differs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
