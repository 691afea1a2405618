/* test_least_squares.c - Rosenbrock's valley with and without bounds, a parameter that is held, a region without
 * residuals; blind directions taken apart
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "directions.h"
#include "least_squares.h"

/* r = (10 (y - x^2), 1 - x); nothing for y < -1. */
static bool
valley(void *ctx, const double *p, ls_rows *rows)
{
    (void)ctx;
    if (p[1] < -1)
        return false;
    ls_rows_add(rows, (double[]){ -20 * p[0], 10 }, 10 * (p[1] - p[0] * p[0]));
    ls_rows_add(rows, (double[]){ -1, 0 }, 1 - p[0]);
    return true;
}

static void
test_valley(void **state)
{
    ls_problem p = { .n = 2, .evaluate = valley };
    double at[2] = { -1.2, 1 };
    ls_result r;

    (void)state;
    least_squares(&p, at, &r);
    assert_int_equal(r.end, LS_CONVERGED);
    assert_true(fabs(at[0] - 1) < 1e-8 && fabs(at[1] - 1) < 1e-8 && r.cost < 1e-15);
    free(r.triangle);
}

/* With x <= 0.5 the least is at x = 0.5, y = x^2: cost 0.25. From a start outside the bounds. */
static void
test_bounds(void **state)
{
    ls_problem p = { .n = 2,
                     .evaluate = valley,
                     .low = (double[]){ -2, -INFINITY },
                     .high = (double[]){ 0.5, INFINITY } };
    double at[2] = { 3, 5 };
    ls_result r;

    (void)state;
    least_squares(&p, at, &r);
    assert_int_equal(r.end, LS_CONVERGED);
    assert_true(at[0] == 0.5 && fabs(at[1] - 0.25) < 1e-9 && fabs(r.cost - 0.25) < 1e-12);
    free(r.triangle);
}

/* r = (x - y - 1, 0.1 (y - 100)), least at (101, 100), with x <= 0.5, y <= 5 at (0.5, 0.5/1.01): a step that is cut off
 * at both bounds leads upwards. */
static bool
slope(void *ctx, const double *p, ls_rows *rows)
{
    (void)ctx;
    ls_rows_add(rows, (double[]){ 1, -1 }, p[0] - p[1] - 1);
    ls_rows_add(rows, (double[]){ 0, 0.1 }, 0.1 * (p[1] - 100));
    return true;
}

static void
test_two_bounds(void **state)
{
    ls_problem p = { .n = 2, .evaluate = slope, .low = (double[]){ -2, -2 }, .high = (double[]){ 0.5, 5 } };
    double at[2] = { 0, 0 };
    ls_result r;

    (void)state;
    least_squares(&p, at, &r);
    assert_int_equal(r.end, LS_CONVERGED);
    assert_true(at[0] == 0.5 && fabs(at[1] - 0.5 / 1.01) < 1e-6);
    free(r.triangle);
}

/* r = (x - 1, 1e-6 (y - 1000)) from (2, 1): y hardly shows; by a stride of 2 at most it comes there too, without steps
 * that take it further. */
static bool
flat(void *ctx, const double *p, ls_rows *rows)
{
    double *last = ctx;

    assert_true(p[1] <= 2 * *last * (1 + 1e-12));
    *last = fmax(p[1], *last);
    ls_rows_add(rows, (double[]){ 1, 0 }, p[0] - 1);
    ls_rows_add(rows, (double[]){ 0, 1e-6 }, 1e-6 * (p[1] - 1000));
    return true;
}

static void
test_stride(void **state)
{
    double at[2] = { 2, 1 }, last = 1;
    ls_problem p = { .n = 2,
                     .evaluate = flat,
                     .low = (double[]){ 1e-6, 1e-6 },
                     .high = (double[]){ 1e6, 1e6 },
                     .stride = 2,
                     .ctx = &last };
    ls_result r;

    (void)state;
    least_squares(&p, at, &r);
    assert_int_equal(r.end, LS_CONVERGED);
    assert_true(fabs(at[0] - 1) < 1e-9 && fabs(at[1] - 1000) < 1e-3);
    free(r.triangle);
}

static void
test_held(void **state)
{
    ls_problem p = { .n = 2, .evaluate = valley, .held = (bool[]){ true, false } };
    double at[2] = { 2, 0 };
    ls_result r;

    (void)state;
    least_squares(&p, at, &r);
    assert_true(at[0] == 2 && fabs(at[1] - 4) < 1e-9);
    free(r.triangle);
    at[1] = -2;
    least_squares(&p, at, &r);
    assert_int_equal(r.end, LS_NO_START);
    free(r.triangle);
}

/* More rows than a block holds: the triangle is that of all. Rows (1, k): sums in closed form. */
static void
test_rows(void **state)
{
    double triangle[4], z[2], sum;
    ls_rows rows;

    (void)state;
    ls_rows_open(&rows, 2);
    for (int k = 0; k < 5000; k++)
        ls_rows_add(&rows, (double[]){ 1, k }, 3 + 2.0 * k);
    sum = ls_rows_triangle(&rows, triangle, z);
    assert_true(fabs(fabs(triangle[0]) - sqrt(5000)) < 1e-9);
    assert_true(fabs(triangle[0] * triangle[2] / 5000 - 2499.5) < 1e-8);
    assert_true(fabs(z[1] / triangle[3] - 2) < 1e-11);
    assert_true(fabs(sum / (z[0] * z[0] + z[1] * z[1]) - 1) < 1e-12);
    ls_rows_free(&rows);
}

/* (2, -1, 0, 0, 0), (0, 0, -1, 2, 0) and (0, 0, 0, 0, 1), turned among each other, come out again with the greatest
 * entry of each positive. */
static void
test_directions(void **state)
{
    const double apart[3][5] = { { 2, -1, 0, 0, 0 }, { 0, 0, -1, 2, 0 }, { 0, 0, 0, 0, 1 } };
    const double turn[3][3] = { { 0.6, 0.64, 0.48 }, { 0, 0.6, -0.8 }, { -0.8, 0.48, 0.36 } };
    double v[15] = { 0 };

    (void)state;
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < 5; k++)
            for (int i = 0; i < 3; i++)
                v[5 * d + k] += turn[d][i] * apart[i][k] / sqrt(i < 2 ? 5 : 1);
    directions_part(5, 3, v);
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < 5; k++)
            assert_true(fabs(v[5 * d + k] - apart[d][k] / sqrt(d < 2 ? 5 : 1)) < 1e-14);
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_valley),     cmocka_unit_test(test_bounds),
                                        cmocka_unit_test(test_two_bounds), cmocka_unit_test(test_stride),
                                        cmocka_unit_test(test_held),       cmocka_unit_test(test_rows),
                                        cmocka_unit_test(test_directions) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
