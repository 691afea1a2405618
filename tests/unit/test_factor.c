/* test_factor.c - determinants of the three ways to factor, against elimination in long double */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "factor.h"

enum { MOST = 60 };

static uint64_t state = 1;

static double
some(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 11) / 9007199254740992.0 - 0.5;
}

/* By complete pivoting; a is destroyed. */
static long double
determinant(size_t n, long double a[MOST][MOST])
{
    long double d = 1;

    for (size_t k = 0; k < n; k++) {
        size_t p = k, q = k;

        for (size_t i = k; i < n; i++)
            for (size_t j = k; j < n; j++)
                if (fabsl(a[i][j]) > fabsl(a[p][q]))
                    p = i, q = j;
        for (size_t j = 0; j < n; j++) {
            long double swap = a[k][j];

            a[k][j] = a[p][j], a[p][j] = swap;
        }
        for (size_t i = 0; i < n; i++) {
            long double swap = a[i][k];

            a[i][k] = a[i][q], a[i][q] = swap;
        }
        d *= (p != k) != (q != k) ? -a[k][k] : a[k][k];
        for (size_t i = k + 1; i < n; i++)
            for (size_t j = n; j-- > k;)
                a[i][j] -= a[i][k] / a[k][k] * a[k][j];
    }
    return d;
}

/* n: how large; fill: share of the entries that are there beside the diagonal. */
static void
compare(size_t n, double fill)
{
    static long double a[MOST][MOST];
    int64_t column[MOST + 1], row[MOST * MOST];
    double value[MOST * MOST];
    size_t nonzeros = 0, singular;
    factor *f;

    for (size_t j = 0; j < n; j++) {
        column[j] = (int64_t)nonzeros;
        for (size_t i = 0; i < n; i++)
            if (i == j || some() + 0.5 < fill)
                row[nonzeros++] = (int64_t)i;
    }
    column[n] = (int64_t)nonzeros;
    f = factor_new(n, column, row, 1e-13);
    assert_true(factor_determinant(f) == 0);
    for (int round = 0; round < 8; round++) {
        long double wanted;

        memset(a, 0, sizeof a);
        for (size_t j = 0; j < n; j++)
            for (int64_t k = column[j]; k < column[j + 1]; k++)
                a[row[k]][j] = value[k] = some() * (row[k] % 3 ? 1 : 1e3);
        assert_true(factor_numeric(f, value, &singular));
        wanted = determinant(n, a);
        assert_true(fabsl(factor_determinant(f) - wanted) <= 1e-8L * fabsl(wanted));
    }
    factor_free(f);
}

static void
determinants(void **unused)
{
    (void)unused;
    for (size_t n = 1; n <= 16; n++)
        compare(n, 0.5); /* by hand */
    for (size_t n = 17; n <= MOST; n += 7) {
        compare(n, 0.9);  /* LAPACK */
        compare(n, 0.05); /* KLU, many blocks */
        compare(n, 0.15); /* KLU, few */
    }
}

/* Beyond all doubles there is still a sign. */
static void
far_away(void **unused)
{
    int64_t column[MOST + 1], row[MOST];
    double value[MOST];
    size_t singular;
    factor *f;

    (void)unused;
    for (int64_t k = 0; k <= MOST; k++)
        column[k] = k;
    for (int64_t k = 0; k < MOST; k++)
        row[k] = k, value[k] = 1e30;
    f = factor_new(MOST, column, row, 1e-13);
    value[7] = -1e30;
    assert_true(factor_numeric(f, value, &singular));
    assert_true(factor_determinant(f) < 0 && isfinite(factor_determinant(f)));
    for (int k = 0; k < MOST; k++)
        value[k] = 1e-30;
    assert_true(factor_numeric(f, value, &singular));
    assert_true(factor_determinant(f) > 0);
    value[3] = NAN;
    assert_false(factor_numeric(f, value, &singular));
    assert_true(factor_determinant(f) == 0);
    factor_free(f);
}

/* Another factor with the pivots of the first solves as the first would, in whose memory it works, and leaves it as it
 * is. */
static void
beside(void **unused)
{
    int64_t column[MOST + 1], row[3 * MOST];
    double value[3 * MOST], later[3 * MOST], x[2 * MOST], first[MOST], again[MOST];
    size_t n = 0, singular;
    factor *f, *g;

    (void)unused;
    for (int64_t j = 0; j < MOST; j++) {
        column[j] = (int64_t)n;
        for (int64_t i = j - 1; i <= j + 1; i++)
            if (i >= 0 && i < MOST) {
                row[n] = i;
                value[n] = i == j ? 3 + some() : some();
                later[n] = value[n] + 0.1 * some();
                n++;
            }
    }
    column[MOST] = (int64_t)n;
    f = factor_new(MOST, column, row, 0);
    g = factor_beside(f);
    assert_true(factor_numeric(f, value, &singular));
    for (size_t i = 0; i < MOST; i++)
        first[i] = again[i] = x[i] = x[MOST + i] = some();
    assert_true(factor_solve(f, first));
    factor_follow(g, f);
    assert_true(factor_numeric(g, later, &singular));
    assert_true(factor_choices(f) == 1 && factor_choices(g) == 0);
    assert_true(factor_solve_beside(g, f, 2, x));
    for (int64_t i = 0; i < MOST; i++) {
        double sum = -again[i];

        for (int64_t j = 0; j < MOST; j++)
            for (int64_t k = column[j]; k < column[j + 1]; k++)
                sum += row[k] == i ? later[k] * x[j] : 0;
        assert_true(fabs(sum) < 1e-13);
    }
    assert_memory_equal(x, x + MOST, MOST * sizeof *x);
    assert_true(factor_solve(f, again));
    assert_memory_equal(first, again, sizeof first);
    assert_true(factor_numeric(f, later, &singular));
    factor_free(g);
    factor_free(f);
}

/* Two restrictions in a row, e1 + e2 = 3e7 Pa and e_k = R_k q, and their flow: pascals beside cubic metres a second.
 * With both shut (q = 0) only the sum of the pressures is determined, and shared evenly. */
static void
two_sizes(void **unused)
{
    const int64_t column[] = { 0, 2, 4, 6 }, row[] = { 0, 1, 0, 2, 1, 2 };
    const double value[] = { 1, 1, 1, 1, -1e21, -2e21 }, shut[] = { 1, 0, 1, 0, 1, 1 }, zero[3] = { 0 },
                 r[] = { -3e7, 0, 0 };
    double b[] = { 3e7, 0, 0 }, step[3], left;
    size_t singular;
    factor *f = factor_new(3, column, row, 1e-13);

    (void)unused;
    assert_true(factor_numeric(f, value, &singular));
    assert_true(factor_solve(f, b));
    assert_true(fabs(b[0] - 1e7) < 1e-3 && fabs(b[1] - 2e7) < 1e-3 && fabs(b[2] - 1e-14) < 1e-24);
    assert_false(factor_numeric(f, shut, &singular));
    assert_true(factor_shared_step(f, shut, r, zero, false, step, &left));
    assert_true(fabs(step[0] + 1.5e7) < 1e-3 && fabs(step[1] + 1.5e7) < 1e-3 && fabs(step[2]) < 1e-9);
    factor_free(f);
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(determinants), cmocka_unit_test(far_away),
                                        cmocka_unit_test(two_sizes), cmocka_unit_test(beside) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
