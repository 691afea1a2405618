/* net_kept.c - derivatives of the conditions, also through variables that blocks of equations keep; see net.h
 *
 * At rest a root has an infinite slope and a quadratic law none, so that blocks with them have no derivative there
 * (orifices in a row between equal levels). It is taken beside: at states that are moved by a small part of their
 * sizes, each by another.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "net_inside.h"

#define STEEP 1e40 /* SI: steeper than any law but a root that is next to zero (1e-100): as good as infinite */

/* Fills gy and by_y: derivatives of the equations of kept variables by these and by held unknowns. */
static void
collect_kept(nets *s)
{
    const struct model_pattern *p = &s->pattern;

    memset(s->by_y, 0, s->ny * s->nheld * sizeof(double));
    memset(s->gy, 0, s->ny * s->ny * sizeof(double)); /* the last factors are there */
    for (size_t c = s->nx; c < s->held0 + s->nheld; c++)
        for (int64_t i = p->column[c]; i < p->column[c + 1]; i++) {
            size_t row = (size_t)p->row[i];

            if (row < s->nx || row >= s->held0)
                continue;
            if (c < s->held0)
                s->gy[(c - s->nx) * s->ny + row - s->nx] = s->value[i];
            else
                s->by_y[(c - s->held0) * s->ny + row - s->nx] = s->value[i];
        }
}

/* The derivatives at (t, x), those of kept variables by held unknowns in by_y. 1: they are infinite, or not determined.
 */
static int
partials_at(nets *s, double t, const double *x)
{
    int64_t from = s->pattern.column[s->nx], to = s->pattern.column[s->pattern.n]; /* by kept and by held ones */
    int status = jacobian_evaluate(s->j, t, x, s->modes, s->value);

    if (status || !s->ny)
        return status;
    for (int64_t i = from; i < to; i++)
        if (!(fabs(s->value[i]) < STEEP))
            return 1;
    collect_kept(s);
    return LAPACKE_dgesv(LAPACK_COL_MAJOR, (lapack_int)s->ny, (lapack_int)s->nheld, s->gy, (lapack_int)s->ny, s->pivot,
                         s->by_y, (lapack_int)s->ny) != 0;
}

int
net_partials(nets *s, double t, const double *x)
{
    double *beside;
    int status;

    if (!net_need_partials(s))
        return -1;
    status = partials_at(s, t, x);
    if (status <= 0 || !s->ny)
        return status;
    beside = bg_malloc((s->nx + 1) * sizeof *beside);
    for (size_t i = 0; i < s->nx; i++)
        beside[i] = x[i] + NET_PROBE * (1 + (double)(bg_hash_mix(i + 1, 53) >> 1) * 0x1p-63) *
                               fmax(net_size(s, i), NET_LEAST_SIZE);
    status = partials_at(s, t, beside);
    free(beside);
    return status;
}
