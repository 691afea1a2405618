/* directions.c - see directions.h */
#include "directions.h"

#include <math.h>
#include <string.h>

#include "base.h"

static void
swap_rows(size_t n, double *a, double *b)
{
    for (size_t k = 0; k < n && a != b; k++) {
        double x = a[k];

        a[k] = b[k];
        b[k] = x;
    }
}

/* Finds a pivot for row d, the greatest entry of the remaining rows, and eliminates it from the other rows. */
static size_t
pivot_row(size_t n, size_t count, double *v, size_t d)
{
    size_t row = d, column = 0;
    double most = 0;

    for (size_t i = d; i < count; i++)
        for (size_t k = 0; k < n; k++)
            if (fabs(v[i * n + k]) > most) {
                most = fabs(v[i * n + k]);
                row = i;
                column = k;
            }
    swap_rows(n, v + d * n, v + row * n);
    for (size_t i = 0; i < count; i++) {
        double factor = v[i * n + column] / v[d * n + column];

        for (size_t k = 0; k < n && i != d && most > 0; k++)
            v[i * n + k] = k == column ? 0 : v[i * n + k] - factor * v[d * n + k];
    }
    return column;
}

void
directions_part(size_t n, size_t count, double *v)
{
    size_t *own = bg_calloc(count + 1, sizeof *own);

    for (size_t d = 0; d < count; d++)
        own[d] = pivot_row(n, count, v, d);
    for (size_t d = 0; d < count; d++) {
        double length = 0;

        for (size_t k = 0; k < n; k++)
            length = hypot(length, v[d * n + k]);
        length = copysign(length, v[d * n + own[d]]);
        for (size_t k = 0; k < n && length != 0; k++)
            v[d * n + k] /= length;
    }
    for (size_t d = 1; d < count; d++)
        for (size_t i = d; i > 0 && own[i] < own[i - 1]; i--) {
            size_t keep = own[i];

            own[i] = own[i - 1];
            own[i - 1] = keep;
            swap_rows(n, v + i * n, v + (i - 1) * n);
        }
    free(own);
}
