/* band.c - see band.h */
#include "band.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

band_matrix
band_new(size_t n, size_t band)
{
    return (band_matrix){ .n = n,
                          .band = band,
                          .at = bg_calloc(n * (3 * band + 1) + 1, sizeof(double complex)),
                          .pivot = bg_calloc(n + 1, sizeof(size_t)) };
}

void
band_free(band_matrix *m)
{
    free(m->at);
    free(m->pivot);
    *m = (band_matrix){ 0 };
}

/* y -= a x. By real and imaginary parts: complex products in C check for infinities, which no factor here needs. */
static void
subtract(double complex *y, double complex a, const double complex *x, size_t n)
{
    double *to = (double *)y, re = creal(a), im = cimag(a);
    const double *of = (const double *)x;

    for (size_t k = 0; k < 2 * n; k += 2) {
        to[k] -= re * of[k] - im * of[k + 1];
        to[k + 1] -= re * of[k + 1] + im * of[k];
    }
}

/* Returns y minus the sum of the products. */
static double complex
less_products(double complex y, const double complex *a, const double complex *b, size_t n)
{
    const double *x = (const double *)a, *z = (const double *)b;
    double part[2] = { creal(y), cimag(y) };

    for (size_t k = 0; k < 2 * n; k += 2) {
        part[0] -= x[k] * z[k] - x[k + 1] * z[k + 1];
        part[1] -= x[k] * z[k + 1] + x[k + 1] * z[k];
    }
    return part[0] + I * part[1];
}

static double
size_of_number(double complex x)
{
    return fabs(creal(x)) + fabs(cimag(x));
}

static double complex
inverse_number(double complex x)
{
    double size = size_of_number(x), re = creal(x) / size, im = cimag(x) / size, square = (re * re + im * im) * size;

    return re / square - I * (im / square);
}

static double complex
complex_product(double complex a, double complex b)
{
    return creal(a) * creal(b) - cimag(a) * cimag(b) + I * (creal(a) * cimag(b) + cimag(a) * creal(b));
}

static size_t
smaller_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Number of entries of column c below the diagonal. */
static size_t
below(const band_matrix *m, size_t c)
{
    return smaller_of(m->band, m->n - 1 - c);
}

static void
exchange_rows(double complex *a, double complex *b)
{
    double complex was = *a;

    *a = *b;
    *b = was;
}

bool
band_factor(band_matrix *m)
{
    size_t right = 0; /* the last column with an entry in a row so far */

    for (size_t j = 0; j < m->n; j++) {
        size_t rows = below(m, j), at = 0;
        double complex *column = band_entry(m, j, j);

        for (size_t t = 1; t <= rows; t++)
            if (size_of_number(column[t]) > size_of_number(column[at]))
                at = t;
        m->pivot[j] = j + at;
        if (!(size_of_number(column[at]) > 0) || !isfinite(size_of_number(column[at])))
            return false;
        right = smaller_of(m->n - 1, right > j + m->band + at ? right : j + m->band + at);
        for (size_t c = j; c <= right && at; c++)
            exchange_rows(band_entry(m, j, c), band_entry(m, j + at, c));
        column[0] = inverse_number(column[0]);
        for (size_t t = 1; t <= rows; t++)
            column[t] = complex_product(column[t], column[0]);
        for (size_t c = j + 1; c <= right; c++) {
            double complex *other = band_entry(m, j, c);

            if (other[0] != 0)
                subtract(other + 1, other[0], column + 1, rows);
        }
    }
    return true;
}

/* Solves L x = b from row `from` on, before which b is zero, with row exchanges. */
static void
forward(const band_matrix *m, double complex *b, size_t from)
{
    for (size_t j = from; j < m->n; j++) {
        if (m->pivot[j] != j)
            exchange_rows(&b[j], &b[m->pivot[j]]);
        if (b[j] != 0)
            subtract(b + j + 1, b[j], band_entry(m, j, j) + 1, below(m, j));
    }
}

/* Solves U x = b down to row `to`. */
static void
backward(const band_matrix *m, double complex *b, size_t to)
{
    for (size_t j = m->n; j-- > to;) {
        size_t above = smaller_of(2 * m->band, j - to);

        b[j] = complex_product(b[j], *band_entry(m, j, j));
        if (b[j] != 0)
            subtract(b + j - above, b[j], band_entry(m, j - above, j), above);
    }
}

void
band_solve(const band_matrix *m, double complex *b)
{
    forward(m, b, 0);
    backward(m, b, 0);
}

void
band_solve_transposed(const band_matrix *m, double complex *b)
{
    for (size_t j = 0; j < m->n; j++) {
        size_t above = smaller_of(2 * m->band, j);

        b[j] = complex_product(less_products(b[j], band_entry(m, j - above, j), b + j - above, above),
                               *band_entry(m, j, j));
    }
    for (size_t j = m->n; j-- > 0;) {
        b[j] = less_products(b[j], band_entry(m, j, j) + 1, b + j + 1, below(m, j));
        if (m->pivot[j] != j)
            exchange_rows(&b[j], &b[m->pivot[j]]);
    }
}

double complex
band_inverse_entry(const band_matrix *m, size_t i, double complex *work)
{
    memset(work, 0, m->n * sizeof *work);
    work[i] = 1;
    forward(m, work, i > m->band ? i - m->band : 0);
    backward(m, work, i);
    return work[i];
}
