/* events_by_hand.c - two systems with many events, written by hand: the peer of the `events` part of run.py
 *
 * usage    events_by_hand relay|boost STOP RTOL
 * method   Dormand and Prince, 5(4); a switching is found on the cubic polynomial of its step (rates at both ends), and
 *          the step is made again up to there
 * prints   `events N solve X ms`, then the two states
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 2, STAGES = 7 };
enum { CHARGING, GIVING, EMPTY }; /* of the converter's coil; a relay is on or off */

#define PERIOD 20e-6
#define COIL 100e-6
#define CAPACITOR 10e-6
#define LOAD 100.0

static const double a[STAGES][STAGES - 1] = {
    { 0 },
    { 1 / 5. },
    { 3 / 40., 9 / 40. },
    { 44 / 45., -56 / 15., 32 / 9. },
    { 19372 / 6561., -25360 / 2187., 64448 / 6561., -212 / 729. },
    { 9017 / 3168., -355 / 33., 46732 / 5247., 49 / 176., -5103 / 18656. },
    { 35 / 384., 0, 500 / 1113., 125 / 192., -2187 / 6784., 11 / 84. },
};
static const double error_weight[STAGES] = { 71 / 57600.,      0,         -71 / 16695., 71 / 1920.,
                                             -17253 / 339200., 22 / 525., -1 / 40. };

static int converter, mode;

static void
rates(const double *x, double *d)
{
    if (!converter) {
        d[0] = 3 * mode - x[1];
        d[1] = (x[0] - x[1]) / 0.5;
        return;
    }
    d[0] = mode == CHARGING ? 5 / COIL : mode == GIVING ? (5 - x[1]) / COIL : 0;
    d[1] = ((mode == GIVING ? x[0] : 0) - x[1] / LOAD) / CAPACITOR;
}

/* Below zero: the mode has ended. */
static double
margin(const double *x)
{
    if (converter)
        return mode == GIVING ? x[0] : 1;
    return mode ? 1.2 - x[0] : x[0] - 0.8;
}

static void
stages(double h, const double *x, double k[STAGES][N], double *y)
{
    for (int s = 1; s < STAGES; s++) {
        for (int i = 0; i < N; i++) {
            double sum = x[i];

            for (int j = 0; j < s; j++)
                sum += h * a[s][j] * k[j][i];
            y[i] = sum;
        }
        rates(y, k[s]);
    }
}

/* Part of the step at which the margin is zero. */
static double
crossing(double h, const double *x, const double *y, double k[STAGES][N])
{
    double lo = 0, hi = 1, at_lo = margin(x), at_hi = margin(y);

    for (int it = 0; it < 60 && hi - lo > 1e-14; it++) {
        double part = it % 3 == 2 ? (lo + hi) / 2 : lo + (hi - lo) * at_lo / (at_lo - at_hi), back, z[N], m;

        if (!(part > lo && part < hi))
            part = (lo + hi) / 2;
        back = part - 1;
        for (int i = 0; i < N; i++)
            z[i] = (1 - part) * x[i] + part * y[i] +
                   part * back * ((1 - 2 * part) * (y[i] - x[i]) + back * h * k[0][i] + part * h * k[STAGES - 1][i]);
        m = margin(z);
        *(m < 0 ? &hi : &lo) = part;
        *(m < 0 ? &at_hi : &at_lo) = m;
    }
    return hi;
}

int
main(int argc, char **argv)
{
    double stop = argc > 3 ? atof(argv[2]) : 0, rtol = argc > 3 ? atof(argv[3]) : 0, t = 0, x[N], y[N], k[STAGES][N];
    double h = stop * 1e-7, next;
    long events = 0;
    clock_t begin = clock();

    if (argc < 4) {
        fprintf(stderr, "usage: events_by_hand relay|boost STOP RTOL\n");
        return 2;
    }
    converter = !strcmp(argv[1], "boost");
    x[0] = converter ? 0 : 0.5;
    x[1] = converter ? 5 : 0;
    mode = converter ? CHARGING : 1;
    next = converter ? PERIOD / 2 : stop;
    rates(x, k[0]);
    while (t < stop) {
        double until = fmin(next, stop), now = fmin(h, until - t), error = 0, longer;
        int ends = now < h || t + now >= until;

        stages(now, x, k, y);
        for (int i = 0; i < N; i++) {
            double e = 0;

            for (int j = 0; j < STAGES; j++)
                e += error_weight[j] * k[j][i];
            error += pow(now * e / (rtol * (1e-3 + fmax(fabs(x[i]), fabs(y[i])))), 2) / N;
        }
        longer = fmin(5, fmax(0.2, 0.9 * pow(error + 1e-30, -0.1)));
        if (error > 1) {
            h = now * longer;
            continue;
        }
        if (margin(y) < 0) {
            now *= crossing(now, x, y, k);
            stages(now, x, k, y);
            memcpy(x, y, sizeof x);
            t += now;
            events++;
            mode = converter ? EMPTY : !mode;
            x[0] = converter ? 0 : x[0];
            rates(x, k[0]);
            continue;
        }
        memcpy(x, y, sizeof x);
        memcpy(k[0], k[STAGES - 1], sizeof k[0]);
        t = ends ? until : t + now;
        h = ends ? fmax(h, now * longer) : now * longer;
        if (ends && converter && t < stop) {
            events++;
            mode = mode == CHARGING ? GIVING : CHARGING;
            next += PERIOD / 2;
            rates(x, k[0]);
        }
    }
    printf("events %ld solve %.3f ms\n%.12g %.12g\n", events, 1e3 * (double)(clock() - begin) / CLOCKS_PER_SEC, x[0],
           x[1]);
    return 0;
}
