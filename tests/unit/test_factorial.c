/* test_factorial.c - designs, analysis of variance, F and rank correlation, against worked numbers
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "factorial.h"

static void
test_f(void **state)
{
    (void)state;
    /* F(1, n) is t(n) squared; with n = 1, 2 in closed form, with 42 from SciPy 1.10 (scipy.stats.f.sf) */
    assert_true(fabs(f_tail(1, 1, 1) - 0.5) < 1e-14);
    assert_true(fabs(f_tail(4, 1, 2) - (1 - 2 / sqrt(6))) < 1e-14);
    assert_true(fabs(f_tail(2, 2, 2) - 1.0 / 3) < 1e-14);
    assert_true(fabs(f_tail(9.198487343479538, 1, 42) / 0.004141055711547804 - 1) < 1e-12);
    assert_true(fabs(f_tail(1079.9010995584053, 1, 42) / 1.364023461145263e-31 - 1) < 1e-10);
    assert_true(f_tail(0, 1, 42) == 1);
}

/* y = 10 + 2 a - 3 b + 0.5 ab + 4 c: effects exactly, nothing left for the error. */
static void
test_full(void **state)
{
    double y[8];
    design d;
    anova a;

    (void)state;
    assert_true(design_make(3, 0, &d));
    assert_int_equal(design_runs(&d), 8);
    for (size_t i = 0; i < 8; i++) {
        uint64_t l = design_levels(&d, i);
        double A = l & 1 ? 1 : -1, B = l & 2 ? 1 : -1, C = l & 4 ? 1 : -1;

        assert_int_equal(l, i);
        y[i] = 10 + 2 * A - 3 * B + 0.5 * A * B + 4 * C + 0.25 * A * B * C;
    }
    anova_make(&d, y, &a);
    assert_int_equal(a.n, 6);
    assert_true(fabs(a.effect[0].sum - 32) < 1e-12 && fabs(a.effect[1].sum - 72) < 1e-12 &&
                fabs(a.effect[2].sum - 128) < 1e-12);
    assert_true(fabs(a.effect[3].sum - 2) < 1e-12 && a.effect[4].sum < 1e-20 && a.effect[5].sum < 1e-20);
    assert_int_equal(a.error_freedom, 1);
    assert_true(fabs(a.error - 0.5) < 1e-12);
    assert_true(fabs(a.effect[0].F - 64) < 1e-9);
    free(a.effect);
}

/* Half of five factors has resolution 5: mains and pairs are apart. Half of four has 4: pairs share their sums by two.
 */
static void
test_fractions(void **state)
{
    double y[16] = { 0 };
    size_t shared = 0;
    design d;
    anova a;

    (void)state;
    assert_true(design_make(5, 1, &d));
    assert_int_equal(d.resolution, 5);
    assert_true(design_make(7, 3, &d));
    assert_int_equal(d.resolution, 4);
    assert_false(design_make(4, 2, &d));
    assert_true(design_make(4, 1, &d));
    assert_int_equal(d.resolution, 4);
    for (size_t i = 0; i < 8; i++)
        y[i] = design_levels(&d, i) & 8 ? 1 : -1;
    anova_make(&d, y, &a);
    for (size_t e = 0; e < a.n; e++)
        shared += a.effect[e].alias != SIZE_MAX;
    assert_int_equal(shared, 3);
    assert_true(fabs(a.effect[3].sum - 8) < 1e-12 && a.effect[0].sum < 1e-20);
    free(a.effect);
}

static void
test_ranks(void **state)
{
    static const double a[] = { 1, 2, 3, 4, 5 }, b[] = { 5, 6, 7, 8, 7 }, c[] = { 3, 3, 3, 3, 3 };

    (void)state;
    assert_true(fabs(rank_correlation(5, a, a) - 1) < 1e-15);
    assert_true(fabs(rank_correlation(5, a, b) - 0.8207826816681233) < 1e-12); /* scipy.stats.spearmanr */
    assert_true(isnan(rank_correlation(5, a, c)));
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_f), cmocka_unit_test(test_full),
                                        cmocka_unit_test(test_fractions), cmocka_unit_test(test_ranks) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
