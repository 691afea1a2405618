/* factor.c - see factor.h */
#include <klu.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "factor.h"

/* Constants of all factorisations. LU of its own up to TINY_MOST rows; LAPACK below DENSE_MOST if over a third of
 * the entries are nonzero; else KLU. */
enum { TINY_MOST = 16, DENSE_MOST = 200 };
enum { SCALINGS = 4 }; /* iterations of the scaling of rows and columns */
#define COUNTS 1e-13   /* of the greatest entries of its row and column: smaller entries are ignored by the scaling */
#define SHARED 1e-10   /* of the greatest singular value: directions below it are undetermined */
/* Old pivots are used for new numbers if the condition number has not become much worse since they were chosen, and
 * entries grow little during elimination (KLU gives one over the growth). */
#define WORSE 1e-3
#define GROWTH 1e-7
/* KLU scales only rows, so its reciprocal condition may be below the least pivot of a matrix scaled in both
 * directions. */
#define SCALED_ONE_WAY 1e-3

/* More threads cost time at these sizes, and their number would change the last bits. Other BLAS libraries lack the
 * function. */
extern void openblas_set_num_threads(int n) __attribute__((weak));

struct factor {
    size_t n, nonzeros;
    const int64_t *column, *row;
    double tiny_pivot;
    bool dense, regular;              /* the last matrix was */
    double *row_scale, *column_scale; /* powers of two; dense only, since KLU scales by itself */
    double *full;                     /* [n*n] columns, factored in place */
    lapack_int *pivot;
    klu_l_common common;
    klu_l_symbolic *symbolic;
    bool lent; /* `symbolic` is that of another factor */
    klu_l_numeric *numeric;
    double rcond; /* at the last full factorisation */
    size_t choices;
};

static factor *
with_pattern(size_t n, const int64_t *column, const int64_t *row, double tiny_pivot)
{
    factor *f = bg_calloc(1, sizeof *f);

    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
    f->n = n;
    f->nonzeros = (size_t)column[n];
    f->column = column;
    f->row = row;
    f->tiny_pivot = tiny_pivot;
    f->dense = n <= TINY_MOST || (n < DENSE_MOST && 3 * f->nonzeros > n * n);
    if (f->dense) {
        f->full = bg_calloc(n * n + 1, sizeof *f->full);
        f->pivot = bg_calloc(n + 1, sizeof *f->pivot);
        f->row_scale = bg_calloc(n + 1, sizeof *f->row_scale);
        f->column_scale = bg_calloc(n + 1, sizeof *f->column_scale);
    } else {
        klu_l_defaults(&f->common);
    }
    return f;
}

factor *
factor_new(size_t n, const int64_t *column, const int64_t *row, double tiny_pivot)
{
    factor *f = with_pattern(n, column, row, tiny_pivot);

    /* KLU does not modify the pattern; its interface only lacks the const. */
    if (!f->dense)
        f->symbolic = klu_l_analyze((SuiteSparse_long)n, (SuiteSparse_long *)(uintptr_t)column,
                                    (SuiteSparse_long *)(uintptr_t)row, &f->common);
    return f;
}

void
factor_free(factor *f)
{
    if (!f)
        return;
    if (f->numeric)
        klu_l_free_numeric(&f->numeric, &f->common);
    if (f->symbolic && !f->lent)
        klu_l_free_symbolic(&f->symbolic, &f->common);
    free(f->row_scale);
    free(f->column_scale);
    free(f->full);
    free(f->pivot);
    free(f);
}

double
factor_fill(const factor *f)
{
    double n = (double)f->n;

    if (f->dense)
        return n * n;
    if (f->numeric)
        return (double)(f->numeric->lnz + f->numeric->unz);
    return f->symbolic && f->symbolic->lnz > 0 ? f->symbolic->lnz + f->symbolic->unz : 3.0 * (double)f->nonzeros;
}

double
factor_flops(const factor *f)
{
    double n = (double)f->n, fill = factor_fill(f);

    return f->dense ? n * n * n * 2 / 3 : fill * fill / (n > 0 ? n : 1);
}

/* ---------------------------------------------------------------- dense */

static double
power_of_two(double x)
{
    uint64_t bits, exponent;
    int least;

    if (!(x > 0))
        return 1;
    memcpy(&bits, &x, sizeof bits);
    exponent = bits >> 52;
    if (exponent > 0 && exponent < 2044) { /* so is 2^-(exponent - 1022) normal: its own exponent is 2045 - exponent */
        bits = (2045 - exponent) << 52;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    frexp(x, &least);
    return ldexp(1, -least);
}

/* Powers of two that bring the entries of the rows (turned: columns) of a full matrix to about 1: by the geometric
 * mean of the least and the greatest, or by the greatest alone. Entries that are negligible in both their row and
 * their column are ignored: a law that blocks except for 1e-20 must not look like one that does not block. *by: the
 * factor of each row so far. */
static void
scale_rows(size_t n, double *full, bool turned, bool greatest, double *by)
{
    size_t along = turned ? 1 : n, across = turned ? n : 1;
    double *most = bg_calloc(2 * n + 1, sizeof *most), *other = most + n;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            most[i] = fmax(most[i], fabs(full[i * across + j * along]));
            other[j] = fmax(other[j], fabs(full[i * across + j * along]));
        }
    for (size_t i = 0; i < n; i++) {
        double least = most[i], scale;

        for (size_t j = 0; j < n && !greatest; j++) {
            double size = fabs(full[i * across + j * along]);

            if (size > COUNTS * sqrt(most[i]) * sqrt(other[j]))
                least = fmin(least, size);
        }
        scale = power_of_two(sqrt(least) * sqrt(most[i]));
        for (size_t j = 0; j < n; j++)
            full[i * across + j * along] *= scale;
        by[i] *= scale;
    }
    free(most);
}

/* Scales rows and columns: the units of pascals and cubic metres a second must not decide which entry is small. */
static void
scale_both(size_t n, double *full, double *row, double *column)
{
    for (size_t i = 0; i < n; i++)
        row[i] = column[i] = 1;
    for (int round = 0; round < SCALINGS; round++) {
        scale_rows(n, full, false, false, row);
        scale_rows(n, full, true, false, column);
    }
    scale_rows(n, full, false, true, row);
}

/* The scaled matrix; false with the column where one is empty. */
static bool
spread_scaled(factor *f, const double *value, size_t *singular)
{
    size_t n = f->n;

    memset(f->row_scale, 0, n * sizeof(double));
    memset(f->full, 0, n * n * sizeof(double));
    for (size_t k = 0; k < f->nonzeros; k++)
        f->row_scale[f->row[k]] = fmax(f->row_scale[f->row[k]], fabs(value[k]));
    for (size_t i = 0; i < n; i++)
        f->row_scale[i] = power_of_two(f->row_scale[i]);
    for (size_t j = 0; j < n; j++) {
        double largest = 0;

        for (int64_t k = f->column[j]; k < f->column[j + 1]; k++)
            largest = fmax(largest, fabs(value[k]) * f->row_scale[f->row[k]]);
        if (!(largest > 0)) {
            *singular = j;
            return false;
        }
        f->column_scale[j] = power_of_two(largest);
        for (int64_t k = f->column[j]; k < f->column[j + 1]; k++)
            f->full[j * n + (size_t)f->row[k]] = value[k] * f->row_scale[f->row[k]] * f->column_scale[j];
    }
    return true;
}

/* LU with partial pivoting, in the format of LAPACK's dgetrf. At these sizes the overhead of a library call would
 * dominate. */
static lapack_int
tiny_lu(size_t n, double *a, lapack_int *pivot)
{
    for (size_t k = 0; k < n; k++) {
        size_t best = k;

        for (size_t i = k + 1; i < n; i++)
            if (fabs(a[k * n + i]) > fabs(a[k * n + best]))
                best = i;
        pivot[k] = (lapack_int)best + 1;
        if (a[k * n + best] == 0)
            return (lapack_int)k + 1;
        if (best != k)
            for (size_t j = 0; j < n; j++) {
                double swap = a[j * n + k];

                a[j * n + k] = a[j * n + best];
                a[j * n + best] = swap;
            }
        double inverse = 1 / a[k * n + k];

        for (size_t i = k + 1; i < n; i++)
            a[k * n + i] *= inverse;
        for (size_t j = k + 1; j < n; j++) {
            double u = a[j * n + k];

            if (u != 0)
                for (size_t i = k + 1; i < n; i++)
                    a[j * n + i] -= a[k * n + i] * u;
        }
    }
    return 0;
}

static bool
factor_full(factor *f, size_t *singular)
{
    size_t n = f->n;
    lapack_int info = n <= TINY_MOST ? tiny_lu(n, f->full, f->pivot)
                                     : LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, (lapack_int)n, (lapack_int)n, f->full,
                                                           (lapack_int)n, f->pivot);

    if (info > 0) {
        *singular = (size_t)info - 1;
        return false;
    }
    for (size_t k = 0; k < n; k++)
        if (!(fabs(f->full[k * n + k]) > f->tiny_pivot)) {
            *singular = k;
            return false;
        }
    return true;
}

static void
fill(const factor *f, const double *value, double *full)
{
    memset(full, 0, f->n * f->n * sizeof *full);
    for (size_t j = 0; j < f->n; j++)
        for (int64_t k = f->column[j]; k < f->column[j + 1]; k++)
            full[j * f->n + (size_t)f->row[k]] = value[k];
}

static bool
factor_dense(factor *f, const double *value, size_t *singular)
{
    if (!spread_scaled(f, value, singular))
        return false;
    if (factor_full(f, singular))
        return true;
    if (f->tiny_pivot == 0)
        return false;
    /* it seems singular if scaled by the greatest entries alone */
    fill(f, value, f->full);
    scale_both(f->n, f->full, f->row_scale, f->column_scale);
    return factor_full(f, singular);
}

static void
solve_dense(const factor *f, double *b)
{
    size_t n = f->n;
    const double *a = f->full;

    for (size_t i = 0; i < n; i++)
        b[i] *= f->row_scale[i];
    if (n > TINY_MOST) {
        LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', (lapack_int)n, 1, a, (lapack_int)n, f->pivot, b, (lapack_int)n);
    } else {
        for (size_t k = 0; k < n; k++) {
            size_t p = (size_t)f->pivot[k] - 1;
            double swap = b[k];

            b[k] = b[p];
            b[p] = swap;
        }
        for (size_t k = 0; k < n; k++)
            for (size_t i = k + 1; i < n; i++)
                b[i] -= a[k * n + i] * b[k];
        for (size_t k = n; k-- > 0;) {
            b[k] /= a[k * n + k];
            for (size_t i = 0; i < k; i++)
                b[i] -= a[k * n + i] * b[k];
        }
    }
    for (size_t j = 0; j < n; j++)
        b[j] *= f->column_scale[j];
}

static void
solve_dense_transposed(const factor *f, double *b)
{
    size_t n = f->n;
    const double *a = f->full;

    for (size_t j = 0; j < n; j++)
        b[j] *= f->column_scale[j];
    if (n > TINY_MOST) {
        LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'T', (lapack_int)n, 1, a, (lapack_int)n, f->pivot, b, (lapack_int)n);
    } else {
        for (size_t k = 0; k < n; k++) {
            for (size_t i = 0; i < k; i++)
                b[k] -= a[k * n + i] * b[i];
            b[k] /= a[k * n + k];
        }
        for (size_t k = n; k-- > 0;)
            for (size_t i = k + 1; i < n; i++)
                b[k] -= a[k * n + i] * b[i];
        for (size_t k = n; k-- > 0;) {
            size_t p = (size_t)f->pivot[k] - 1;
            double swap = b[k];

            b[k] = b[p];
            b[p] = swap;
        }
    }
    for (size_t i = 0; i < n; i++)
        b[i] *= f->row_scale[i];
}

/* ---------------------------------------------------------------- sparse */

/* Refactors with the previous pivots while these are good; else chooses new ones. */
static bool
factor_sparse(factor *f, const double *value, size_t *singular)
{
    SuiteSparse_long *column = (SuiteSparse_long *)(uintptr_t)f->column, *row = (SuiteSparse_long *)(uintptr_t)f->row;
    double *a = (double *)(uintptr_t)value;

    *singular = 0;
    if (!f->symbolic)
        return false;
    if (f->numeric) {
        if (klu_l_refactor(column, row, a, f->symbolic, f->numeric, &f->common) && f->common.status == KLU_OK) {
            double rcond;

            klu_l_rcond(f->symbolic, f->numeric, &f->common);
            rcond = f->common.rcond;
            klu_l_rgrowth(column, row, a, f->symbolic, f->numeric, &f->common);
            if (rcond > WORSE * f->rcond && f->common.rgrowth > GROWTH)
                return true;
        }
        klu_l_free_numeric(&f->numeric, &f->common);
    }
    f->choices++;
    f->numeric = klu_l_factor(column, row, a, f->symbolic, &f->common);
    if (f->numeric && f->common.status == KLU_OK) {
        klu_l_rcond(f->symbolic, f->numeric, &f->common);
        f->rcond = f->common.rcond;
        if (f->rcond > f->tiny_pivot * SCALED_ONE_WAY)
            return true;
    }
    if (f->common.singular_col >= 0 && (size_t)f->common.singular_col < f->n)
        *singular = (size_t)f->common.singular_col;
    if (f->numeric)
        klu_l_free_numeric(&f->numeric, &f->common);
    return false;
}

bool
factor_numeric(factor *f, const double *value, size_t *singular)
{
    f->regular = false;
    for (size_t j = 0; j < f->n; j++)
        for (int64_t k = f->column[j]; k < f->column[j + 1]; k++)
            if (!isfinite(value[k])) {
                *singular = j;
                return false;
            }
    f->regular = f->dense ? factor_dense(f, value, singular) : factor_sparse(f, value, singular);
    return f->regular;
}

bool
factor_solve(factor *f, double *b)
{
    return factor_solve_several(f, 1, b);
}

bool
factor_solve_several(factor *f, size_t count, double *b)
{
    return factor_solve_beside(f, f, count, b);
}

bool
factor_solve_transposed(factor *f, double *b)
{
    if (!f->dense)
        return f->numeric && klu_l_tsolve(f->symbolic, f->numeric, (SuiteSparse_long)f->n, 1, b, &f->common);
    solve_dense_transposed(f, b);
    return true;
}

/* ---------------------------------------------------------------- several of one pattern */

factor *
factor_beside(const factor *f)
{
    factor *x = with_pattern(f->n, f->column, f->row, f->tiny_pivot);

    x->symbolic = f->symbolic;
    x->lent = true;
    return x;
}

size_t
factor_choices(const factor *f)
{
    return f->choices;
}

static void *
copied_array(const void *of, size_t n, size_t size, klu_l_common *c)
{
    void *p = of ? klu_l_malloc(n, size, c) : NULL;

    if (of && !p)
        bg_out_of_memory(n * size);
    return p ? memcpy(p, of, n * size) : NULL;
}

/* KLU has no function for this. */
static klu_l_numeric *
copied_numeric(const klu_l_numeric *of, klu_l_common *c)
{
    size_t n = (size_t)of->n, blocks = (size_t)of->nblocks, apart = (size_t)of->nzoff + 1;
    klu_l_numeric *to = copied_array(of, 1, sizeof *of, c);
    void **block = to->LUbx = copied_array(of->LUbx, blocks, sizeof(void *), c);

    for (size_t k = 0; k < blocks; k++)
        block[k] = copied_array(block[k], block[k] ? of->LUsize[k] : 0, sizeof(double), c);
    to->LUsize = copied_array(of->LUsize, blocks, sizeof(size_t), c);
    to->Pnum = copied_array(of->Pnum, n, sizeof *of->Pnum, c);
    to->Pinv = copied_array(of->Pinv, n, sizeof *of->Pinv, c);
    to->Lip = copied_array(of->Lip, n, sizeof *of->Lip, c);
    to->Uip = copied_array(of->Uip, n, sizeof *of->Uip, c);
    to->Llen = copied_array(of->Llen, n, sizeof *of->Llen, c);
    to->Ulen = copied_array(of->Ulen, n, sizeof *of->Ulen, c);
    to->Udiag = copied_array(of->Udiag, n, sizeof(double), c);
    to->Rs = copied_array(of->Rs, n, sizeof(double), c);
    to->Offp = copied_array(of->Offp, n + 1, sizeof *of->Offp, c);
    to->Offi = copied_array(of->Offi, apart, sizeof *of->Offi, c);
    to->Offx = copied_array(of->Offx, apart, sizeof(double), c);
    to->Work = to->Xwork = copied_array(of->Work, of->worksize, 1, c);
    to->Iwork = (SuiteSparse_long *)((char *)to->Work + ((const char *)of->Iwork - (const char *)of->Work));
    return to;
}

void
factor_follow(factor *f, const factor *of)
{
    if (f->numeric)
        klu_l_free_numeric(&f->numeric, &f->common);
    if (of->numeric)
        f->numeric = copied_numeric(of->numeric, &f->common);
    f->rcond = of->rcond;
}

bool
factor_solve_beside(const factor *f, factor *room, size_t count, double *b)
{
    klu_l_numeric mine;

    if (!f->dense) {
        if (!f->numeric || !room->numeric)
            return false;
        mine = *f->numeric;
        mine.Work = room->numeric->Work;
        mine.Xwork = room->numeric->Xwork;
        mine.Iwork = room->numeric->Iwork;
        return klu_l_solve(f->symbolic, &mine, (SuiteSparse_long)f->n, (SuiteSparse_long)count, b, &room->common);
    }
    for (size_t i = 0; i < count; i++)
        solve_dense(f, b + i * f->n);
    return true;
}

/* ---------------------------------------------------------------- singular */

bool
factor_shared_step(const factor *f, const double *value, const double *r, const double *z, bool whole, double *step,
                   double *left)
{
    size_t n = f->n;
    double *full = bg_calloc(n * n + 1, sizeof *full), *to = bg_calloc(4 * n + 1, sizeof *to), *s = to + n,
           *row = s + n, *column = row + n, residual = 0, size = 0;
    lapack_int rank;
    bool ok = true;

    fill(f, value, full);
    for (size_t i = 0; i < n * n; i++)
        ok = ok && isfinite(full[i]);
    for (size_t j = 0; j < n && whole; j++)
        for (size_t i = 0; i < n; i++)
            to[i] += full[j * n + i] * z[j];
    scale_both(n, full, row, column);
    for (size_t i = 0; i < n; i++) {
        to[i] = row[i] * (to[i] - r[i]);
        residual = fmax(residual, row[i] * fabs(r[i]));
        size = fmax(size, fabs(z[i]) / column[i]);
        ok = ok && isfinite(to[i]);
    }
    if (left)
        *left = residual > 0 ? residual / size : 0;
    ok = ok && LAPACKE_dgelsd(LAPACK_COL_MAJOR, (lapack_int)n, (lapack_int)n, 1, full, (lapack_int)n, to, (lapack_int)n,
                              s, SHARED, &rank) == 0;
    for (size_t i = 0; i < n; i++) {
        to[i] *= column[i];
        step[i] = (whole ? z[i] : 0) - to[i];
        ok = ok && isfinite(to[i]);
    }
    free(full);
    free(to);
    return ok;
}

/* ---------------------------------------------------------------- determinant */

/* Is the permutation odd? seen: scratch, all false before. */
static bool
is_odd(const SuiteSparse_long *p, size_t n, bool *seen)
{
    bool odd = false;

    for (size_t i = 0; i < n; i++)
        for (size_t at = i, length = 0; !seen[at]; at = (size_t)p[at]) {
            seen[at] = true;
            odd ^= length++ > 0;
        }
    return odd;
}

static const double *
diagonal(const factor *f, size_t *apart)
{
    *apart = f->dense ? f->n + 1 : 1;
    return f->dense ? f->full : f->numeric ? f->numeric->Udiag : NULL;
}

int
factor_sense(const factor *f)
{
    size_t apart;
    const double *d = diagonal(f, &apart);
    bool negative = false;

    if (!f->regular)
        return 0;
    for (size_t k = 0; k < f->n; k++) {
        negative ^= d[k * apart] < 0;
        negative ^= f->dense && (size_t)f->pivot[k] != k + 1;
    }
    if (!f->dense) {
        bool *seen = bg_calloc(2 * f->n, sizeof *seen);

        negative ^= is_odd(f->numeric->Pnum, f->n, seen);
        negative ^= is_odd(f->symbolic->Q, f->n, seen + f->n);
        free(seen);
    }
    return negative ? -1 : 1;
}

double
factor_determinant(const factor *f)
{
    size_t apart;
    const double *d = diagonal(f, &apart);
    double size = 0; /* power of two */

    if (!f->regular)
        return 0;
    for (size_t k = 0; k < f->n; k++) {
        double scale = f->dense ? 1 / (f->row_scale[k] * f->column_scale[k]) : f->numeric->Rs ? f->numeric->Rs[k] : 1;

        size += log2(fabs(d[k * apart])) + log2(scale);
    }
    return factor_sense(f) * exp2(fmax(-1000, fmin(1000, size)));
}
