/* band.h - linear equations with a complex band matrix
 *
 * Gaussian elimination with partial pivoting. LAPACK has the same; but with a few entries in each column its calls take
 * longer than the arithmetic, and here tens of millions of columns are eliminated.
 *
 * shapes   entry (i, c), |i - c| <= band, is at[2 band + i - c + (3 band + 1) c]; the first `band` rows are work space
 */
#ifndef BG_BAND_H
#define BG_BAND_H

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct band_matrix {
    size_t n, band;
    double complex *at; /* overwritten by its factors, pivots by their reciprocals */
    size_t *pivot;      /* [n] */
} band_matrix;

/* Sets all entries to zero. */
band_matrix band_new(size_t n, size_t band);
void band_free(band_matrix *m);
static inline double complex *
band_entry(const band_matrix *m, size_t i, size_t c)
{
    return m->at + (2 * m->band + i - c + (3 * m->band + 1) * c);
}

/* False: singular. */
bool band_factor(band_matrix *m);
/* With a factored matrix A solves A x = b, or A^T x = b; b is replaced by x. */
void band_solve(const band_matrix *m, double complex *b);
void band_solve_transposed(const band_matrix *m, double complex *b);
/* Entry (i, i) of the inverse. work: n. */
double complex band_inverse_entry(const band_matrix *m, size_t i, double complex *work);

#endif
