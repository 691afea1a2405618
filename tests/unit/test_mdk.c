/* test_mdk.c - mass, damping and stiffness matrices from sampled data
 *
 * Data made here: forces are sums of sines or cubic splines through normal knots, displacements by Runge-Kutta steps
 * far finer than the samples (the truss) or by the midpoint rule itself (where the estimate must be exact). The truss's
 * matrices are Table 1 of Bruschetta, Picci, Saccon (2014) with the sign of D(3,7) that makes D symmetric; the errors
 * that estimates may have are an independent computation's over ten sets of data.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base.h"
#include "mdk.h"

enum { TRUSS = 8 };
static const double truss_K[TRUSS][TRUSS] = {
    { 27071.1, 0, 0, 0, -10000, 0, -3535.5, -3535.5 }, { 0, 17071.1, 0, -10000, 0, 0, -3535.5, -3535.5 },
    { 0, 0, 27071.1, 0, -3535.5, 3535.5, -10000, 0 },  { 0, -10000, 0, 17071.1, 3535.5, -3535.5, 0, 0 },
    { -10000, 0, -3535.5, 3535.5, 27071.1, 0, 0, 0 },  { 0, 0, 3535.5, -3535.5, 0, 17071.1, 0, -10000 },
    { -3535.5, -3535.5, -10000, 0, 0, 0, 27071.1, 0 }, { -3535.5, -3535.5, 0, 0, 0, -10000, 0, 17071.1 }
};
static const double truss_D[TRUSS][TRUSS] = {
    { 136.4, 0, 0, 0, -50, 0, -17.7, -17.7 }, { 0, 86.4, 0, -50, 0, 0, -17.7, -17.7 },
    { 0, 0, 136.4, 0, -17.7, 17.7, -50, 0 },  { 0, -50, 0, 86.4, 17.7, -17.7, 0, 0 },
    { -50, 0, -17.7, 17.7, 136.4, 0, 0, 0 },  { 0, 0, 17.7, -17.7, 0, 86.4, 0, -50 },
    { -17.7, -17.7, -50, 0, 0, 0, 136.4, 0 }, { -17.7, -17.7, 0, 0, 0, -50, 0, 86.4 }
};

static uint64_t seed;

static double
uniform(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double
normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* Natural cubic spline through knots every `apart`: second derivatives at the knots. */
static void
spline(size_t n, double apart, const double *knot, double *bend)
{
    double *c = bg_calloc(n, sizeof *c);

    bend[0] = bend[n - 1] = 0;
    for (size_t i = 1; i + 1 < n; i++) {
        double right = 6 * (knot[i + 1] - 2 * knot[i] + knot[i - 1]) / (apart * apart), w = 4 - c[i - 1];

        c[i] = 1 / w;
        bend[i] = (right - bend[i - 1]) / w;
    }
    for (size_t i = n - 2; i > 0; i--)
        bend[i] -= c[i] * bend[i + 1];
    free(c);
}

static double
spline_at(double apart, const double *knot, const double *bend, double t)
{
    size_t i = (size_t)(t / apart);
    double b = t / apart - (double)i, a = 1 - b;

    return a * knot[i] + b * knot[i + 1] +
           ((a * a * a - a) * bend[i] + (b * b * b - b) * bend[i + 1]) * apart * apart / 6;
}

static void
truss_rate(const double *x, const double *f, double *dx)
{
    for (int i = 0; i < TRUSS; i++) {
        double sum = f[i];

        for (int k = 0; k < TRUSS; k++)
            sum -= truss_K[i][k] * x[k] + truss_D[i][k] * x[TRUSS + k];
        dx[i] = x[TRUSS + i];
        dx[TRUSS + i] = sum / 100;
    }
}

/* From rest, noise of a tenth of each displacement's deviation. */
static void
make_truss(double h, size_t samples, double *u, double *y)
{
    const double apart = 0.02;
    size_t nknots = (size_t)(h * (double)samples / apart) + 3, sub = (size_t)ceil(h / 0.0025);
    double *knot = bg_calloc(TRUSS * nknots, sizeof *knot), *bend = bg_calloc(TRUSS * nknots, sizeof *bend),
           x[2 * TRUSS] = { 0 };

    for (size_t i = 0; i < TRUSS * nknots; i++)
        knot[i] = normal();
    for (int c = 0; c < TRUSS; c++)
        spline(nknots, apart, knot + (size_t)c * nknots, bend + (size_t)c * nknots);
    for (size_t k = 0; k < samples; k++) {
        for (size_t c = 0; c < TRUSS; c++) {
            u[c * samples + k] = spline_at(apart, knot + c * nknots, bend + c * nknots, h * (double)k);
            y[c * samples + k] = x[c];
        }
        for (size_t j = 0; j < sub; j++) {
            double d = h / (double)sub, t = h * (double)k + d * (double)j, f[3][TRUSS], slope[4][2 * TRUSS],
                   at[2 * TRUSS];

            for (size_t c = 0; c < TRUSS; c++)
                for (int i = 0; i < 3; i++)
                    f[i][c] = spline_at(apart, knot + c * nknots, bend + c * nknots, t + d * i / 2);
            truss_rate(x, f[0], slope[0]);
            for (int s = 1; s < 4; s++) {
                for (int i = 0; i < 2 * TRUSS; i++)
                    at[i] = x[i] + (s == 3 ? d : d / 2) * slope[s - 1][i];
                truss_rate(at, f[s == 3 ? 2 : 1], slope[s]);
            }
            for (int i = 0; i < 2 * TRUSS; i++)
                x[i] += d / 6 * (slope[0][i] + 2 * slope[1][i] + 2 * slope[2][i] + slope[3][i]);
        }
    }
    for (size_t c = 0; c < TRUSS; c++) {
        double mean = 0, square = 0;

        for (size_t k = 0; k < samples; k++)
            mean += y[c * samples + k] / (double)samples;
        for (size_t k = 0; k < samples; k++)
            square += (y[c * samples + k] - mean) * (y[c * samples + k] - mean) / (double)samples;
        for (size_t k = 0; k < samples; k++)
            y[c * samples + k] += 0.1 * sqrt(square) * normal();
    }
    free(knot);
    free(bend);
}

/* ||A - B|| / ||B|| */
static double
distance(size_t n, const double *A, const double *B)
{
    double difference = 0, size = 0;

    for (size_t i = 0; i < n; i++) {
        difference += (A[i] - B[i]) * (A[i] - B[i]);
        size += B[i] * B[i];
    }
    return sqrt(difference / size);
}

static void
test_truss(void **state)
{
    /* greatest errors of M, D, K in ten sets of the independent computation */
    static const struct {
        double h, M, D, K;
    } known[] = { { 0.002, 0.0173, 0.0574, 0.0173 }, { 0.01, 0.0179, 0.0484, 0.0161 } };
    size_t at[TRUSS], samples = 3300;
    double *u = bg_calloc(TRUSS * samples, sizeof *u), *y = bg_calloc(TRUSS * samples, sizeof *y),
           mass[TRUSS * TRUSS] = { 0 };

    (void)state;
    for (size_t i = 0; i < TRUSS; i++) {
        at[i] = i;
        mass[i * TRUSS + i] = 100;
    }
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        mdk_data d = { .n = TRUSS, .m = TRUSS, .samples = samples, .step = known[k].h, .u = u, .y = y, .at = at };
        mdk_result r;
        char *why;

        seed = 7 + k;
        make_truss(known[k].h, samples, u, y);
        assert_true(mdk_identify(&d, MDK_PEM, 0, &r, &why));
        assert_true(r.positive_definite);
        assert_true(r.cost > 0.0095 && r.cost < 0.0105);
        assert_true(distance(TRUSS * TRUSS, r.M, mass) < 1.5 * known[k].M);
        assert_true(distance(TRUSS * TRUSS, r.D, truss_D[0]) < 1.5 * known[k].D);
        assert_true(distance(TRUSS * TRUSS, r.K, truss_K[0]) < 1.5 * known[k].K);
        mdk_free(&r);
    }
    free(u);
    free(y);
}

/* Two masses, data by the midpoint rule: every force, then the first alone. */
static void
test_exact(void **state)
{
    enum { N = 2, SAMPLES = 400 };
    static const double M[4] = { 2, 0.3, 0.3, 1 }, D[4] = { 0.5, -0.1, -0.1, 0.4 }, K[4] = { 90, -40, -40, 70 };
    static double u[N * SAMPLES], y[N * SAMPLES];
    double h = 0.02, Md[4], Dd[4], Kd[4], back[3][4];

    (void)state;
    midpoint_discrete(4, h, M, D, K, Md, Dd, Kd);
    midpoint_continuous(4, h, Md, Dd, Kd, back[0], back[1], back[2]);
    for (int i = 0; i < 4; i++)
        assert_true(fabs(back[0][i] - M[i]) < 1e-13 && fabs(back[1][i] - D[i]) < 1e-13 * 200 &&
                    fabs(back[2][i] - K[i]) < 1e-11);
    for (size_t forces = N; forces >= 1; forces--) {
        static const size_t at[N] = { 0, 1 };
        mdk_data d = { .n = N, .m = forces, .samples = SAMPLES, .step = h, .u = u, .y = y, .at = at };
        double det = Md[0] * Md[3] - Md[1] * Md[2];
        mdk_result r;
        char *why = NULL;

        seed = 3;
        for (size_t i = 0; i < N * SAMPLES; i++)
            u[i] = normal();
        for (size_t k = 0; k < SAMPLES; k++) {
            double f[2] = { 0, 0 };

            y[k] = y[SAMPLES + k] = 0;
            if (k < 2)
                continue;
            for (size_t i = 0; i < N; i++) {
                for (size_t c = 0; c < N; c++)
                    f[i] -= Dd[c * 2 + i] * y[c * SAMPLES + k - 1] + Kd[c * 2 + i] * y[c * SAMPLES + k - 2];
                if (i < forces)
                    f[i] += h / 4 * (u[i * SAMPLES + k] + 2 * u[i * SAMPLES + k - 1] + u[i * SAMPLES + k - 2]);
            }
            y[k] = (Md[3] * f[0] - Md[2] * f[1]) / det;
            y[SAMPLES + k] = (Md[0] * f[1] - Md[1] * f[0]) / det;
        }
        if (!mdk_identify(&d, MDK_PEM, 0, &r, &why))
            fail_msg("%zu forces: %s", forces, why);
        assert_true(distance(4, r.M, M) < 1e-7);
        assert_true(distance(4, r.D, D) < 1e-6);
        assert_true(distance(4, r.K, K) < 1e-7);
        mdk_free(&r);
        assert_true(mdk_identify(&d, MDK_VARIATIONAL, 0, &r, &why));
        assert_true(distance(4, r.K, K) < 1e-5);
        mdk_free(&r);
    }
}

/* A coordinate that rests, too few samples: said, never a result. */
static void
test_no_answer(void **state)
{
    static double u[200], y[200];
    static const size_t at[2] = { 0, 1 };
    mdk_data d = { .n = 2, .m = 2, .samples = 100, .step = 0.01, .u = u, .y = y, .at = at };
    mdk_result r;
    char *why = NULL;

    (void)state;
    seed = 1;
    for (int i = 0; i < 200; i++) {
        u[i] = normal();
        y[i] = i < 100 ? normal() : 0;
    }
    assert_false(mdk_identify(&d, MDK_PEM, 0, &r, &why));
    assert_non_null(strstr(why, "y2 does not move"));
    free(why);
    mdk_free(&r);
    d.samples = 8;
    assert_false(mdk_identify(&d, MDK_PEM, 0, &r, &why));
    assert_non_null(strstr(why, "too few"));
    free(why);
    mdk_free(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_exact), cmocka_unit_test(test_no_answer),
                                        cmocka_unit_test(test_truss) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
