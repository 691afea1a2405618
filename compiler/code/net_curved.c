/* net_curved.c - nets whose conditions are not linear: what their conditions depend on, what rounding leaves of them,
 * and steps towards their solution; see net.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "net_inside.h"

enum { WAYS = 4, PLACES = 2, TRIES = 60 };
#define SHORTEST 1e-200 /* part of a step: where a law is flat, Newton's step may be too long by that much */
#define LEAST_CUT 1e-4  /* a step is shortened at most to this part of itself at once */
/* Ratio of a step to the one before it between which the convergence is linear and can be sped up: above it there is no
 * convergence, below it is fast enough. */
#define SLOWEST 0.97
#define SLOW 0.4
/* of the greatest unknown of a unit: so near Newton's method comes to a solution at a corner */
#define REACHED 1e-12
/* What conditions depend on is found by evaluating them anywhere: from FROM to FROM + SPREAD times a usual size, at
 * multiples of the golden ratio and, for each further place, of another number, so that no two unknowns and no two
 * places have equal values. States move by a small part of their size, to stay where laws are defined. */
#define GOLDEN 0.6180339887498949
#define ANOTHER_PLACE 0.37
#define ANOTHER_STATE 0.71
#define FROM 0.3
#define SPREAD 0.6
#define STATES_MOVE 1e-2

/* ---- what conditions depend on ---- */

void
net_stand_anywhere(nets *s, int number)
{
    for (size_t i = 0; i < s->nheld; i++) {
        double usual = s->unit_size[s->unit[i]], part = fmod((double)(i + 1) * GOLDEN + ANOTHER_PLACE * number, 1);

        s->held[i] = (usual > 0 ? usual : 1) * (FROM + SPREAD * part);
    }
}

/* Moves states a little from where they are, each by another part of its size. */
static void
move_states(const nets *s, const double *x, double *moved, int number)
{
    for (size_t i = 0; i < s->nx; i++) {
        double usual = net_size(s, i), part = fmod((double)(i + 1) * GOLDEN + ANOTHER_STATE * number, 1);

        moved[i] = x[i] + STATES_MOVE * (usual > 0 ? usual : 1) * (FROM + SPREAD * part);
    }
}

/* Marks the entries that are not zero. */
static void
add_nonzero(bool *may, const double *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        may[i] |= a[i] != 0;
}

static uint32_t
constraints_of(uint32_t n, const double *a)
{
    staircase *r;
    uint32_t count;

    for (size_t i = 0; i < (size_t)ORDERS * n * n; i++)
        if (!isfinite(a[i]))
            return UINT32_MAX;
    r = staircase_new(n, a);
    count = r->constraint.n;
    staircase_free(r);
    return count;
}

struct general
net_general(nets *s, struct net *k, double t, const double *x)
{
    uint32_t n = k->q->n;
    size_t na = (size_t)ORDERS * n * n, naw = (size_t)ORDERS * k->q->nwatch * n;
    uint64_t key = 14695981039346656037u;
    uint32_t found;
    double *kept, *a;
    struct general g = { 0 };

    for (uint32_t i = 0; i < k->q->nmodes; i++) {
        uint64_t bits;

        memcpy(&bits, &s->modes[s->form->mode[k->q->mode0 + i]], sizeof bits);
        key = bg_hash_mix(key, bits + i);
    }
    found = map_get(&k->general_of, key);
    if (found != MAP_NONE)
        return k->general.at[found];
    g.may = bg_calloc(na + naw + 1, sizeof *g.may);
    kept = bg_malloc((s->nheld + s->nx + na + naw + 1) * sizeof *kept);
    a = kept + s->nheld + s->nx;
    memcpy(kept, s->held, s->nheld * sizeof *kept);
    for (int i = 0; i < PLACES; i++) {
        net_stand_anywhere(s, i);
        move_states(s, x, kept + s->nheld, i);
        memset(a, 0, (na + naw) * sizeof *a);
        if (net_partials(s, t, kept + s->nheld) == 0) {
            net_coefficients(s, k, a, a + na);
            net_drop_rounding(k, a, a + na);
            g.constraints = constraints_of(n, a);
        } else {
            for (size_t e = 0; e < na + naw; e++)
                a[e] = 1;
        }
        add_nonzero(g.may, a, na + naw);
    }
    memcpy(s->held, kept, s->nheld * sizeof *kept);
    free(kept);
    map_set(&k->general_of, key, (uint32_t)k->general.n);
    vec_push(&k->general, g);
    return g;
}

/* ---- rounding ---- */

int
net_rounding(nets *s, double t, const double *x, double *to)
{
    double *moved = bg_malloc((s->nx + 1) * sizeof *moved);
    int status = net_rows(s, t, x);

    memset(to, 0, s->nrows * sizeof *to);
    for (size_t way = 1; way <= WAYS && status == 0; way++) {
        for (size_t i = 0; i < s->nx; i++)
            moved[i] = x[i] * (1 + (__builtin_parityll((i + 1) & way) ? NET_NOISE : -NET_NOISE));
        status = s->access.rows(s->access.ctx, t * (1 + (way & 1 ? NET_NOISE : -NET_NOISE)), moved, s->raw0);
        for (size_t r = 0; r < s->nrows && status == 0; r++)
            if (isfinite(s->raw0[r] - s->raw[r]))
                to[r] = fmax(to[r], fabs(s->raw0[r] - s->raw[r]));
    }
    free(moved);
    return status;
}

int
net_rounding_of_unknowns(nets *s, double t, const double *x, double *to)
{
    double *kept = bg_malloc((s->nheld + s->form->nunits + 1) * sizeof *kept), *most = kept + s->nheld;
    int status = 0;

    memcpy(kept, s->held, s->nheld * sizeof *kept);
    memset(most, 0, s->form->nunits * sizeof *most);
    for (size_t i = 0; i < s->nheld; i++)
        most[s->unit[i]] = fmax(most[s->unit[i]], fabs(kept[i]));
    for (size_t way = 1; way <= WAYS && status == 0; way++) {
        for (size_t i = 0; i < s->nheld; i++)
            s->held[i] = kept[i] + (__builtin_parityll((i + 1) & way) ? REACHED : -REACHED) * most[s->unit[i]];
        status = s->access.rows(s->access.ctx, t, x, s->raw0);
        for (size_t r = 0; r < s->nrows && status == 0; r++)
            if (isfinite(s->raw0[r] - s->raw[r]))
                to[r] = fmax(to[r], fabs(s->raw0[r] - s->raw[r]));
    }
    memcpy(s->held, kept, s->nheld * sizeof *kept);
    free(kept);
    return status;
}

/* ---- steps ---- */

void
net_unknown_sizes(const nets *s, double *size)
{
    for (size_t i = 0; i < s->form->nunits; i++)
        size[i] = fmax(s->unit_size[i], NET_SMALL);
}

/* How far the unknowns are from meeting the rows in s->raw, by the coefficients of the last step: the greatest
 * distance, in parts of their sizes. */
static double
off_by(nets *s, const struct net *k, const double *size)
{
    double most = 0;

    sparse_apply(&k->now->now->solve, s->raw + ORDERS * k->q->held0, s->z);
    for (uint32_t i = 0; i < k->q->n; i++) {
        double part = fabs(s->z[i]) / size[s->unit[k->q->held0 + i]];

        most = part > most || isnan(part) ? part : most;
    }
    return isnan(most) ? INFINITY : most;
}

/* Computed from the start of the step: subtracting part of a step that is far too long would leave its rounding. */
static void
move(nets *s, const struct net *k)
{
    for (uint32_t i = k->q->held0; i < k->q->held0 + k->q->n; i++)
        s->held[i] = s->from[i] + k->part * s->stepped[i];
}

int
net_shorten(nets *s, double t, const double *x, const double *size)
{
    int status = 0;
    bool any = true;

    memcpy(s->from, s->held, s->nheld * sizeof *s->from);
    for (size_t i = 0; i < s->n; i++) {
        struct net *k = &s->net[i];
        double slower = k->whole / k->before;

        if (!k->guess)
            continue;
        /* near a solution where slopes are zero, each step misses it by the same part */
        k->part = k->part == 1 && k->before > 0 && slower > SLOW && slower < SLOWEST ? 1 / (1 - slower) : 1;
        k->walks = k->whole > 0;
        if (k->walks)
            move(s, k);
    }
    for (int round = 0; round < TRIES && any; round++) {
        any = false;
        status = net_rows(s, t, x);
        if (status < 0)
            return status;
        for (size_t i = 0; i < s->n; i++) {
            struct net *k = &s->net[i];
            double left, cut;

            if (!k->guess || !k->walks)
                continue;
            left = status == 0 ? off_by(s, k, size) : INFINITY;
            k->walks = !(left <= (1 - fmin(k->part, 1) / 4) * k->whole) && k->part >= SHORTEST;
            if (!k->walks)
                continue;
            /* the remainder of a power law grows at least with the third power of a step that is too long */
            cut = fmin(0.5, fmax(LEAST_CUT, cbrt(k->whole / left)));
            k->part *= cut;
            move(s, k);
            any = true;
        }
    }
    return status;
}
