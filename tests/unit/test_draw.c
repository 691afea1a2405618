/* test_draw.c - numbers drawn, against the vectors of their sources
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "draw.h"

/* The known answers published with Random123, for Philox4x32-10 */
static void
test_words(void **state)
{
    static const struct {
        uint32_t count[4], key[2], out[4];
    } known[] = {
        { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
        { { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
          { 0xffffffff, 0xffffffff },
          { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
        { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
          { 0xa4093822, 0x299f31d0 },
          { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
    };

    (void)state;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        uint32_t out[4];

        draw_words(known[k].count, known[k].key, out);
        for (int i = 0; i < 4; i++)
            assert_int_equal(out[i], known[k].out[i]);
    }
}

/* Phi(x) = erfc(-x/sqrt 2)/2 is its inverse: near the middle, in both ranges of the tails, at the ends of what is drawn
 */
static void
test_quantile(void **state)
{
    static const double p[] = { 0.5, 0.3, 0.1, 0.0749, 0.01, 1e-5, 1e-10, 1e-12, 1e-15, 0x1p-53 };

    (void)state;
    for (size_t k = 0; k < sizeof p / sizeof *p; k++) {
        double x = normal_quantile(p[k]);

        assert_true(fabs(erfc(-x / sqrt(2)) / 2 / p[k] - 1) < 1e-13);
        if (p[k] > 1e-6)
            assert_true(fabs(normal_quantile(1 - p[k]) + x) < 1e-10);
    }
}

/* Moments of 100,000, within five standard errors */
static void
test_moments(void **state)
{
    double sum = 0, square = 0, lag = 0, before = 0, uniform = 0;
    int n = 100000;

    (void)state;
    for (int k = 0; k < n; k++) {
        double x = draw_normal(42, k), u = draw_uniform(-3, k);

        assert_true(u > 0 && u < 1);
        sum += x;
        square += x * x;
        lag += x * before;
        uniform += u;
        before = x;
    }
    assert_true(fabs(sum / n) < 5 / sqrt(n));
    assert_true(fabs(square / n - 1) < 5 * sqrt(2.0 / n));
    assert_true(fabs(lag / n) < 5 / sqrt(n));
    assert_true(fabs(uniform / n - 0.5) < 5 * sqrt(1.0 / 12 / n));
    assert_true(draw_uniform(1, -1) != draw_uniform(1, 1));
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_words), cmocka_unit_test(test_quantile),
                                        cmocka_unit_test(test_moments) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
