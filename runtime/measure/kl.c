/* kl.c - see kl.h */
#include "kl.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base.h"

/* Euclidean length without overflow. */
static double
length(const double *v, size_t n)
{
    double top = 0, sum = 0;

    for (size_t i = 0; i < n; i++)
        top = fmax(top, fabs(v[i]));
    if (!(top > 0) || !isfinite(top))
        return top;
    for (size_t i = 0; i < n; i++)
        sum += (v[i] / top) * (v[i] / top);
    return top * sqrt(sum);
}

/* S = U diag(sigma) V'; U replaces S or is lost. vt: [columns][least], its row j at vt[j]. */
static bool
decompose(double *s, size_t rows, size_t columns, double *sigma, double *vt)
{
    lapack_int m = (lapack_int)rows, n = (lapack_int)columns, k = m < n ? m : n;
    double *copy = bg_malloc((rows * columns + 1) * sizeof *copy), *u = bg_malloc((rows * (size_t)k + 1) * sizeof *u);
    lapack_int info;

    memcpy(copy, s, rows * columns * sizeof *copy);
    info = LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'S', m, n, copy, m, sigma, u, m, vt, k);
    if (info > 0) { /* where divide and conquer did not converge, the slower method does */
        double *rest = bg_malloc(((size_t)k + 1) * sizeof *rest);

        memcpy(copy, s, rows * columns * sizeof *copy);
        info = LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'N', 'S', m, n, copy, m, sigma, u, m, vt, k, rest);
        free(rest);
    }
    free(copy);
    free(u);
    return info == 0;
}

bool
kl_importance_exact(double *g, size_t n, bool normalised, double *importance)
{
    double *value = bg_malloc((n + 1) * sizeof *value), *size = bg_malloc((n + 1) * sizeof *size), top = 0, total = 0;
    bool ok = true;

    memset(importance, 0, n * sizeof *importance);
    for (size_t i = 0; i < n; i++) {
        size[i] = sqrt(fmax(g[i * n + i], 0));
        ok = ok && isfinite(g[i * n + i]);
        top = fmax(top, size[i]);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) {
            double of = normalised ? size[i] * size[j] : top * top;

            g[i * n + j] = of > 0 ? g[i * n + j] / of : 0;
        }
    /* column-major, the upper triangle of rows is the lower one */
    ok = ok && (n == 0 || !(top > 0) ||
                LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', (lapack_int)n, g, (lapack_int)n, value) == 0);
    for (size_t i = 0; ok && top > 0 && i < n; i++) {
        for (size_t j = 0; j < n; j++) /* rising: small ones first */
            importance[i] += fmax(value[j], 0) * fabs(g[j * n + i]);
        total += importance[i];
    }
    for (size_t i = 0; ok && total > 0 && i < n; i++)
        importance[i] /= total;
    free(value);
    free(size);
    return ok;
}

bool
kl_importance(double *s, size_t rows, size_t columns, bool normalised, double *importance)
{
    size_t least = rows < columns ? rows : columns;
    double *sigma, *vt, top = 0, total = 0;
    bool ok;

    memset(importance, 0, columns * sizeof *importance);
    for (size_t i = 0; i < columns; i++) {
        double l = length(s + i * rows, rows);

        if (!isfinite(l))
            return false;
        for (size_t k = 0; normalised && l > 0 && k < rows; k++)
            s[i * rows + k] /= l;
        top = fmax(top, normalised ? l > 0 : l);
    }
    if (!(top > 0))
        return true;
    for (size_t k = 0; k < rows * columns; k++) /* sigma squared stays within range */
        s[k] /= top;
    sigma = bg_malloc((least + 1) * sizeof *sigma);
    vt = bg_malloc((least * columns + 1) * sizeof *vt);
    ok = decompose(s, rows, columns, sigma, vt);
    for (size_t i = 0; ok && i < columns; i++) {
        for (size_t j = least; j-- > 0;) /* small ones first */
            importance[i] += sigma[j] * sigma[j] * fabs(vt[i * least + j]);
        total += importance[i];
    }
    for (size_t i = 0; ok && i < columns; i++)
        importance[i] /= total;
    free(sigma);
    free(vt);
    return ok;
}
