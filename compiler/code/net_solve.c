/* net_solve.c - held unknowns for given modes, see net.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "net_inside.h"

enum { MAX_ITERATIONS = 40, MAX_CURVED = 100 };
#define SMALL_SIZE 1e-3 /* no unknown is so small that less than 1e-16 of it matters */
#define SHORTEST 1e-3   /* part of a step */
#define CONVERGED 1e-13 /* last step of an iteration, in parts of the unknowns */
#define OF_UNIT 0.1     /* or in parts of this much of the greatest value of their unit, where they pass zero */
#define MET 1e-4        /* of a condition's terms: what is left of it at a solution */

static bool
is_solved(const nets *s, double t, const double *x)
{
    return s->solved && s->solved_t == t && memcmp(s->solved_modes, s->modes, s->nmodes * sizeof(double)) == 0 &&
           (s->nx == 0 || memcmp(s->solved_x, x, s->nx * sizeof(double)) == 0);
}

/* Greatest part of their sizes that curved nets' unknowns are off by, where the rows in s->raw are what is left, seen
 * with the coefficients of the last step. */
static double
off_by(nets *s, const double *size)
{
    double most = 0;

    for (size_t k = 0; k < s->n; k++) {
        const struct net *q = &s->net[k];

        if (!q->guess)
            continue;
        sparse_apply(&q->now->now->solve, s->raw + ORDERS * q->q->held0, s->z);
        for (uint32_t i = 0; i < q->q->n; i++)
            if (s->z[i] != 0)
                most = fmax(most, fabs(s->z[i]) / size[s->unit[q->q->held0 + i]]);
    }
    return most;
}

/* Steps of curved nets that overshoot (a root whose solution is zero is stepped over for ever) are shortened until what
 * is left falls. In: the unknowns after the whole step, s->stepped. */
static int
shorten(nets *s, double t, const double *x, double *change)
{
    double *size = bg_calloc(s->form->nunits + 1, sizeof *size), part = 1, whole = 0;
    int status;

    memcpy(size, s->unit_size, s->form->nunits * sizeof *size);
    for (size_t i = 0; i < s->nheld; i++) {
        double *at = &size[s->unit[i]];

        *at = fmax(fmax(*at, SMALL_SIZE), fmax(fabs(s->held[i]), fabs(s->held[i] + s->stepped[i])));
    }
    for (size_t i = 0; i < s->nheld; i++)
        if (s->stepped[i] != 0)
            whole = fmax(whole, fabs(s->stepped[i]) / size[s->unit[i]]);
    for (;;) {
        status = net_rows(s, t, x);
        if ((status == 0 && off_by(s, size) <= (1 - part / 4) * whole) || part < SHORTEST)
            break;
        part /= 2;
        for (size_t i = 0; i < s->nheld; i++)
            s->held[i] += part * s->stepped[i];
    }
    *change = fmax(*change, part * whole);
    free(size);
    return status;
}

/* One step towards the solution; *change: of the unknowns, in parts of them or, near zero, of what they have been. */
static int
step(nets *s, double t, const double *x, bool first, double *change)
{
    int status = first ? net_rows_free(s, t, x) : net_rows(s, t, x);
    bool curved = false;

    *change = 0;
    if (status)
        return status;
    memset(s->stepped, 0, s->nheld * sizeof(double));
    for (size_t k = 0; k < s->n; k++) {
        struct net *q = &s->net[k];
        double *z = s->held + q->q->held0, most = 0, moved = 0;

        if (!first && !q->varies)
            continue;
        curved |= q->guess != NULL;
        q->now = net_known(s, q, t, x);
        if (!q->now)
            return 1;
        sparse_apply(&q->now->now->solve, s->raw + ORDERS * q->q->held0, s->z);
        for (uint32_t i = 0; i < q->q->n; i++) {
            z[i] = first ? 0 - s->z[i] : z[i] - s->z[i];
            s->stepped[q->q->held0 + i] = q->guess ? s->z[i] : 0;
            if (!isfinite(z[i]))
                return 1;
            most = fmax(most, fmax(fabs(z[i]), OF_UNIT * s->unit_size[s->unit[q->q->held0 + i]]));
            moved = fmax(moved, fabs(s->z[i]));
        }
        if (q->varies && !q->guess && moved > 0)
            *change = fmax(*change, moved / most);
    }
    return curved && !first ? shorten(s, t, x, change) : 0;
}

static void
exchange(double *a, double *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        double x = a[i];

        a[i] = b[i];
        b[i] = x;
    }
}

/* Where a slope is none (of an exponential that blocks), the coefficients of a curved net's last step leave unknowns
 * without a value, and the conditions may be far from met. */
static bool
is_met(nets *s, const struct net *k)
{
    uint32_t n = k->q->n;

    for (uint32_t i = 0; i < n && k->guess && k->now->now->free > 0; i++) {
        double all = k->rows[ORDERS * i];

        for (uint32_t j = 0; j < n; j++)
            all = fmax(all, fabs(k->now->a[(size_t)ORDERS * i * n + j] * s->held[k->q->held0 + j]));
        if (!(fabs(s->raw[ORDERS * (k->q->held0 + i)]) <= MET * all + CONVERGED * SMALL_SIZE))
            return false;
    }
    return true;
}

/* From the guesses of curved nets, if there are any. */
static int
iterate(nets *s, double t, const double *x, bool curved)
{
    double change;
    int status = step(s, t, x, true, &change);

    for (int i = 0; i < (curved ? MAX_CURVED : MAX_ITERATIONS) && status == 0 && s->any_varies; i++) {
        double before = change;

        status = step(s, t, x, false, &change);
        /* the step beside an infinite slope is small too, and the next one is not */
        if ((change <= CONVERGED && (!curved || before <= CONVERGED)) ||
            (i > 2 && change < 1e-9 && change >= before / 2))
            break;
        if (i + 1 == (curved ? MAX_CURVED : MAX_ITERATIONS))
            status = 1;
    }
    for (size_t k = 0; k < s->n && status == 0; k++)
        status = is_met(s, &s->net[k]) ? 0 : 1;
    return status;
}

int
nets_solve(nets *s, double t, const double *x)
{
    bool curved = false;
    int status;

    if (is_solved(s, t, x))
        return 0;
    for (size_t k = 0; k < s->n; k++)
        curved |= s->net[k].guess != NULL;
    s->solved = false;
    status = iterate(s, t, x, curved);
    if (status == 1 && curved) { /* the last solution may lie where slopes say nothing: from zero */
        double *kept = bg_calloc(s->nheld + 1, sizeof *kept);

        for (size_t k = 0; k < s->n; k++)
            if (s->net[k].guess)
                exchange(s->net[k].guess, kept + s->net[k].q->held0, s->net[k].q->n);
        status = iterate(s, t, x, curved);
        for (size_t k = 0; k < s->n && status != 0; k++)
            if (s->net[k].guess)
                exchange(s->net[k].guess, kept + s->net[k].q->held0, s->net[k].q->n);
        free(kept);
    }
    if (status)
        return status;
    for (size_t k = 0; k < s->n; k++)
        if (s->net[k].guess)
            memcpy(s->net[k].guess, s->held + s->net[k].q->held0, s->net[k].q->n * sizeof(double));
    s->solved = true;
    s->solved_t = t;
    if (s->nx)
        memcpy(s->solved_x, x, s->nx * sizeof(double));
    memcpy(s->solved_modes, s->modes, s->nmodes * sizeof(double));
    return 0;
}
