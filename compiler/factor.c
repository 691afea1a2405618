/* factor.c - see factor.h */
#include <klu.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "factor.h"

enum { DENSE_ALWAYS = 16, DENSE_LIMIT = 400 };

struct factor {
    uint32_t n;
    size_t nonzeros;
    bool dense;
    double *row_scale, *column_scale;    /* powers of two */
    uint32_t *row, *column;
    /* dense: row-major LU with partial pivoting */
    double *a;
    uint32_t *pivot;
    /* sparse */
    int *ap, *ai, *place;                /* place[k]: where value[k] goes in ax */
    double *ax;
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
};

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void build_columns(factor *f)
{
    uint64_t *key = bg_malloc((f->nonzeros + 1) * sizeof *key);
    size_t distinct = 0;
    map at = { 0 };

    for (size_t k = 0; k < f->nonzeros; k++)
        key[k] = (uint64_t)f->column[k] << 32 | f->row[k];
    qsort(key, f->nonzeros, sizeof *key, compare_u64);
    f->ap = bg_calloc(f->n + 1, sizeof *f->ap);
    f->ai = bg_malloc((f->nonzeros + 1) * sizeof *f->ai);
    f->place = bg_malloc((f->nonzeros + 1) * sizeof *f->place);
    for (size_t k = 0; k < f->nonzeros; k++) {
        if (k && key[k] == key[k - 1])
            continue;
        map_set(&at, key[k], (uint32_t)distinct);
        f->ai[distinct++] = (int)(uint32_t)key[k];
        f->ap[(key[k] >> 32) + 1]++;
    }
    for (uint32_t c = 0; c < f->n; c++)
        f->ap[c + 1] += f->ap[c];
    for (size_t k = 0; k < f->nonzeros; k++)
        f->place[k] = (int)map_get(&at, (uint64_t)f->column[k] << 32 | f->row[k]);
    f->ax = bg_malloc((distinct + 1) * sizeof *f->ax);
    map_free(&at);
    free(key);
}

factor *factor_new(uint32_t n, const uint32_t *row, const uint32_t *column, size_t nonzeros)
{
    factor *f = bg_calloc(1, sizeof *f);

    f->n = n;
    f->nonzeros = nonzeros;
    f->row = bg_malloc((nonzeros + 1) * sizeof *f->row);
    f->column = bg_malloc((nonzeros + 1) * sizeof *f->column);
    memcpy(f->row, row, nonzeros * sizeof *row);
    memcpy(f->column, column, nonzeros * sizeof *column);
    f->row_scale = bg_malloc((n + 1) * sizeof *f->row_scale);
    f->column_scale = bg_malloc((n + 1) * sizeof *f->column_scale);
    f->dense = n <= DENSE_ALWAYS || (n <= DENSE_LIMIT && nonzeros * 5 > (size_t)n * n);
    if (f->dense) {
        f->a = bg_malloc(((size_t)n * n + 1) * sizeof *f->a);
        f->pivot = bg_malloc((n + 1) * sizeof *f->pivot);
    } else {
        build_columns(f);
        klu_defaults(&f->common);
        f->common.scale = 0;             /* scaled here */
        f->symbolic = klu_analyze((int)n, f->ap, f->ai, &f->common);
    }
    return f;
}

void factor_free(factor *f)
{
    if (!f)
        return;
    if (f->numeric)
        klu_free_numeric(&f->numeric, &f->common);
    if (f->symbolic)
        klu_free_symbolic(&f->symbolic, &f->common);
    free(f->row);
    free(f->column);
    free(f->row_scale);
    free(f->column_scale);
    free(f->a);
    free(f->pivot);
    free(f->ap);
    free(f->ai);
    free(f->place);
    free(f->ax);
    free(f);
}

static double power_of_two(double x)
{
    int exponent;

    if (!(x > 0) || !isfinite(x))
        return 1;
    frexp(x, &exponent);
    return ldexp(1, -exponent);
}

static void scale(factor *f, const double *value)
{
    for (uint32_t i = 0; i < f->n; i++)
        f->row_scale[i] = f->column_scale[i] = 0;
    for (size_t k = 0; k < f->nonzeros; k++)
        f->row_scale[f->row[k]] = fmax(f->row_scale[f->row[k]], fabs(value[k]));
    for (uint32_t i = 0; i < f->n; i++)
        f->row_scale[i] = power_of_two(f->row_scale[i]);
    for (size_t k = 0; k < f->nonzeros; k++)
        f->column_scale[f->column[k]] = fmax(f->column_scale[f->column[k]], fabs(value[k]) * f->row_scale[f->row[k]]);
    for (uint32_t i = 0; i < f->n; i++)
        f->column_scale[i] = power_of_two(f->column_scale[i]);
}

/* After scaling the entries are of size 1: a pivot below this is a linear dependency, not a number. */
static const double tiny_pivot = 1e-13;

static bool factor_dense(factor *f, const double *value, uint32_t *singular)
{
    uint32_t n = f->n;
    double *a = f->a;

    memset(a, 0, (size_t)n * n * sizeof *a);
    for (size_t k = 0; k < f->nonzeros; k++)
        a[(size_t)f->row[k] * n + f->column[k]] += value[k] * f->row_scale[f->row[k]] * f->column_scale[f->column[k]];
    for (uint32_t c = 0; c < n; c++) {
        uint32_t best = c;

        for (uint32_t r = c + 1; r < n; r++)
            if (fabs(a[(size_t)r * n + c]) > fabs(a[(size_t)best * n + c]))
                best = r;
        f->pivot[c] = best;
        if (!(fabs(a[(size_t)best * n + c]) > tiny_pivot)) {
            *singular = c;
            return false;
        }
        if (best != c)
            for (uint32_t k = 0; k < n; k++) {
                double swap = a[(size_t)c * n + k];

                a[(size_t)c * n + k] = a[(size_t)best * n + k];
                a[(size_t)best * n + k] = swap;
            }
        for (uint32_t r = c + 1; r < n; r++) {
            double m = a[(size_t)r * n + c] / a[(size_t)c * n + c];

            a[(size_t)r * n + c] = m;
            if (m != 0)
                for (uint32_t k = c + 1; k < n; k++)
                    a[(size_t)r * n + k] -= m * a[(size_t)c * n + k];
        }
    }
    return true;
}

static bool factor_sparse(factor *f, const double *value, uint32_t *singular)
{
    memset(f->ax, 0, (size_t)f->ap[f->n] * sizeof *f->ax);
    for (size_t k = 0; k < f->nonzeros; k++)
        f->ax[f->place[k]] += value[k] * f->row_scale[f->row[k]] * f->column_scale[f->column[k]];
    *singular = 0;
    if (!f->symbolic)
        return false;
    if (f->numeric) {
        if (klu_refactor(f->ap, f->ai, f->ax, f->symbolic, f->numeric, &f->common) && klu_rgrowth(f->ap, f->ai, f->ax, f->symbolic, f->numeric, &f->common) &&
            f->common.rgrowth > 1e-4 && klu_rcond(f->symbolic, f->numeric, &f->common) && f->common.rcond > tiny_pivot)
            return true;
        klu_free_numeric(&f->numeric, &f->common);
    }
    f->numeric = klu_factor(f->ap, f->ai, f->ax, f->symbolic, &f->common);
    if (!f->numeric || !klu_rcond(f->symbolic, f->numeric, &f->common) || f->common.rcond < 1e-16) {
        *singular = f->common.singular_col >= 0 && (uint32_t)f->common.singular_col < f->n ? (uint32_t)f->common.singular_col : 0;
        return false;
    }
    return true;
}

bool factor_numeric(factor *f, const double *value, uint32_t *singular)
{
    for (size_t k = 0; k < f->nonzeros; k++)
        if (!isfinite(value[k])) {
            *singular = f->column[k];
            return false;
        }
    scale(f, value);
    return f->dense ? factor_dense(f, value, singular) : factor_sparse(f, value, singular);
}

void factor_solve(const factor *f, double *b)
{
    uint32_t n = f->n;

    for (uint32_t i = 0; i < n; i++)
        b[i] *= f->row_scale[i];
    if (f->dense) {
        for (uint32_t c = 0; c < n; c++) {
            double swap = b[c];

            b[c] = b[f->pivot[c]];
            b[f->pivot[c]] = swap;
        }
        for (uint32_t r = 1; r < n; r++)
            for (uint32_t k = 0; k < r; k++)
                b[r] -= f->a[(size_t)r * n + k] * b[k];
        for (uint32_t r = n; r-- > 0;) {
            for (uint32_t k = r + 1; k < n; k++)
                b[r] -= f->a[(size_t)r * n + k] * b[k];
            b[r] /= f->a[(size_t)r * n + r];
        }
    } else {
        klu_common common = f->common;

        klu_solve(f->symbolic, f->numeric, (int)n, 1, b, &common);
    }
    for (uint32_t i = 0; i < n; i++)
        b[i] *= f->column_scale[i];
}
