/* factorial.h - two-level factorial designs and their analysis of variance
 *
 * In run i factor k is at its high level where bit k of design_levels(i) is set. A full design has 2^k runs; a
 * fractional one 2^(k-p), in which the last p factors are products of others, chosen for the greatest resolution. The
 * sum of squares of an effect is (contrast . response)^2 / runs; what main effects and two-factor interactions do not
 * explain is error. Effects that a fraction cannot distinguish share one sum.
 *
 * source   Box, Hunter, Hunter (1978), Statistics for Experimenters; Montgomery, Design and Analysis of Experiments
 */
#ifndef BG_FACTORIAL_H
#define BG_FACTORIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_FACTORS = 32 };

typedef struct design {
    size_t factors, base;             /* 2^base runs */
    uint64_t generator[MOST_FACTORS]; /* for each factor: the base factors whose product it is */
    size_t resolution;                /* SIZE_MAX: full */
} design;

/* False: with so many runs main effects cannot be distinguished. */
bool design_make(size_t factors, size_t dropped, design *d);
static inline size_t
design_runs(const design *d)
{
    return (size_t)1 << d->base;
}
/* Bit k: factor k is high in run i. */
uint64_t design_levels(const design *d, size_t i);

typedef struct effect {
    size_t a, b;      /* factors; b NO_INDEX: main effect */
    size_t alias;     /* an earlier effect that shares its sum; NO_INDEX: none */
    double sum, F, p; /* NAN where there is no error to compare with */
} effect;
typedef struct anova {
    effect *effect;
    size_t n; /* main effects, then interactions (0,1), (0,2), ...; free() it */
    double error;
    size_t error_freedom;
    double total;
} anova;
void anova_make(const design *d, const double *response, anova *a);

/* Probability that an F-distributed variable with (m, n) degrees of freedom exceeds x. */
double f_tail(double x, double m, double n);
/* Spearman's rank correlation of a and b; ties share their rank. NAN where one of them is constant. */
double rank_correlation(size_t n, const double *a, const double *b);

#endif
