/* factorial.c - see factorial.h */
#include "factorial.h"

#include <math.h>
#include <string.h>

#include "base.h"

static const double CONVERGED = 1e-15; /* last relative change of a continued fraction */

/* ---------------------------------------------------------------- designs */

/* Length of the shortest product of generators that is the identity. word: a factor and the base factors whose product
 * it is, as bits. */
static size_t
shortest_word(const design *d, size_t upto)
{
    size_t p = upto - d->base, least = SIZE_MAX;

    for (uint64_t pick = 1; pick < UINT64_C(1) << p; pick++) {
        uint64_t word = 0;
        size_t length;

        for (size_t k = 0; k < p; k++)
            if (pick >> k & 1)
                word ^= d->generator[d->base + k] | UINT64_C(1) << (d->base + k);
        length = (size_t)__builtin_popcountll(word);
        least = length < least ? length : least;
    }
    return least;
}

/* Finds generators for the dropped factors that reach a resolution; for each factor the shortest one that does. */
static bool
reach_resolution(design *d, size_t resolution)
{
    for (size_t k = d->base; k < d->factors; k++) {
        bool found = false;

        for (size_t weight = resolution - 1; weight <= d->base && !found; weight++)
            for (uint64_t g = 1; g < UINT64_C(1) << d->base && !found; g++)
                if ((size_t)__builtin_popcountll(g) == weight) {
                    d->generator[k] = g;
                    found = shortest_word(d, k + 1) >= resolution;
                }
        if (!found)
            return false;
    }
    return true;
}

bool
design_make(size_t factors, size_t dropped, design *d)
{
    memset(d, 0, sizeof *d);
    if (factors == 0 || factors > MOST_FACTORS || dropped >= factors || dropped > 12 || factors - dropped > 12)
        return false;
    d->factors = factors;
    d->base = factors - dropped;
    d->resolution = SIZE_MAX;
    for (size_t k = 0; k < d->base; k++)
        d->generator[k] = UINT64_C(1) << k;
    if (dropped == 0)
        return true;
    for (d->resolution = d->base + 1; d->resolution >= 3; d->resolution--)
        if (reach_resolution(d, d->resolution))
            return true;
    return false;
}

uint64_t
design_levels(const design *d, size_t i)
{
    uint64_t levels = 0;

    for (size_t k = 0; k < d->factors; k++) {
        /* the sign of a product of signs: high where an even number of them is low */
        unsigned low = (unsigned)__builtin_popcountll(d->generator[k] & ~(uint64_t)i);

        levels |= (uint64_t)(low % 2 == 0) << k;
    }
    return levels;
}

void
anova_make(const design *d, const double *response, anova *a)
{
    size_t k = d->factors, runs = design_runs(d), at = 0, distinct = 0;
    double mean = 0, explained = 0;

    *a = (anova){ .n = k + k * (k - 1) / 2, .effect = bg_calloc(k + k * (k - 1) / 2, sizeof(effect)) };
    for (size_t i = 0; i < k; i++)
        a->effect[at++] = (effect){ .a = i, .b = NO_INDEX };
    for (size_t i = 0; i < k; i++)
        for (size_t j = i + 1; j < k; j++)
            a->effect[at++] = (effect){ .a = i, .b = j };
    for (size_t i = 0; i < runs; i++)
        mean += response[i] / (double)runs;
    for (size_t i = 0; i < runs; i++)
        a->total += (response[i] - mean) * (response[i] - mean);
    for (size_t e = 0; e < a->n; e++) {
        effect *x = &a->effect[e];
        uint64_t product = d->generator[x->a] ^ (x->b == NO_INDEX ? 0 : d->generator[x->b]);
        double contrast = 0;

        x->alias = NO_INDEX;
        for (size_t o = 0; o < e && x->alias == NO_INDEX; o++) {
            const effect *y = &a->effect[o];

            if (product == (d->generator[y->a] ^ (y->b == NO_INDEX ? 0 : d->generator[y->b])))
                x->alias = o;
        }
        for (size_t i = 0; i < runs; i++) {
            unsigned low = (unsigned)__builtin_popcountll(product & ~(uint64_t)i);

            contrast += low % 2 ? -(response[i] - mean) : response[i] - mean;
        }
        x->sum = contrast * contrast / (double)runs;
        if (x->alias == NO_INDEX) {
            explained += x->sum;
            distinct++;
        }
    }
    a->error_freedom = runs - 1 > distinct ? runs - 1 - distinct : 0;
    a->error = a->error_freedom ? fmax(a->total - explained, 0) : 0;
    for (size_t e = 0; e < a->n; e++) {
        effect *x = &a->effect[e];

        x->F = a->error_freedom ? x->sum / (a->error / (double)a->error_freedom) : NAN;
        x->p = a->error_freedom ? f_tail(x->F, 1, (double)a->error_freedom) : NAN;
    }
}

/* ---------------------------------------------------------------- distributions */

/* Regularised incomplete beta function I_x(a, b), by Lentz's evaluation of its continued fraction (Abramowitz,
 * Stegun 26.5.8). */
static double
incomplete_beta(double x, double a, double b)
{
    double front, c = 1, d, value;

    if (!(x > 0))
        return 0;
    if (x >= 1)
        return 1;
    if (x > (a + 1) / (a + b + 2))
        return 1 - incomplete_beta(1 - x, b, a);
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a;
    d = 1 - (a + b) * x / (a + 1);
    d = 1 / d;
    value = d;
    for (int m = 1; m < 2000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
               odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), change;

        d = 1 / (1 + even * d);
        c = 1 + even / c;
        value *= d * c;
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        change = d * c;
        value *= change;
        if (fabs(change - 1) < CONVERGED)
            break;
    }
    return front * value;
}

double
f_tail(double x, double m, double n)
{
    if (isnan(x))
        return NAN;
    return x <= 0 ? 1 : isinf(x) ? 0 : incomplete_beta(n / (n + m * x), n / 2, m / 2);
}

static void
ranks(size_t n, const double *a, double *rank)
{
    for (size_t i = 0; i < n; i++) {
        size_t below = 0, same = 0;

        for (size_t k = 0; k < n; k++) {
            below += a[k] < a[i];
            same += a[k] == a[i];
        }
        rank[i] = (double)below + ((double)same + 1) / 2;
    }
}

double
rank_correlation(size_t n, const double *a, const double *b)
{
    double *x = bg_malloc((n + 1) * sizeof *x), *y = bg_malloc((n + 1) * sizeof *y), mean = ((double)n + 1) / 2, xx = 0,
           yy = 0, xy = 0;

    ranks(n, a, x);
    ranks(n, b, y);
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mean) * (x[i] - mean);
        yy += (y[i] - mean) * (y[i] - mean);
        xy += (x[i] - mean) * (y[i] - mean);
    }
    free(x);
    free(y);
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}
