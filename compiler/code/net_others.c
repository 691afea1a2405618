/* net_others.c - the other solutions of a net, where a run begins; see net.h */
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "net_inside.h"

enum { MOST_ALL = 8, MOST_STARTS = 64, PLACES = 12, MOST_OTHERS = 8, MOST_NEAREST = 256 };
#define STAYS 1e-12  /* of a state's size: a solution that moves it by less moves it by rounding */
#define ALIKE 1e-9   /* relative: coefficients that differ by less are equal */
#define AS_NONE 1e-9 /* relative: a difference of two resistances below this counts as none */
#define ALMOST 1e-6  /* relative: solutions whose unknowns differ by less are the same */

/* ---- is there only one solution? ---- */

static double
greatest_of(const double *a, size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(a[i]));
    return most;
}

/* Is row b of n coefficients sign times row a? most: the greatest of both. */
static bool
is_alike(const double *a, const double *b, double sign, size_t n, double most)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(b[i] - sign * a[i]) <= ALIKE * most))
            return false;
    return true;
}

/* Which condition each watch is the choice of, and whether what is left of it is the greater (max) or the less (min) of
 * two: of `this` it is one, of `other`, with all modes exchanged, the other one. */
static bool
match_conditions(nets *s, const struct net *k, const struct known *this, const struct known *other, uint32_t *of,
                 double *sign)
{
    uint32_t n = k->q->n, nw = k->q->nwatch;
    size_t wide = (size_t)ORDERS * n;
    double *between = bg_malloc((wide * n + n + 1) * sizeof *between), *most = between + wide * n;
    bool *taken = bg_calloc(n + 1, sizeof *taken), fine = true;

    for (size_t i = 0; i < wide * n; i++)
        between[i] = this->a[i] - other->a[i];
    for (uint32_t i = 0; i < n; i++)
        most[i] = greatest_of(between + wide * i, wide);
    for (uint32_t w = 0; w < nw && fine; w++) {
        double as_less = net_margin_of(s, k, w, -1), of_watch = greatest_of(this->aw + wide * w, wide);

        fine = false;
        for (uint32_t i = 0; i < n && !fine; i++)
            for (int side = -1; side <= 1 && !fine && !taken[i]; side += 2)
                if (is_alike(this->aw + wide * w, between + wide * i, side, wide, fmax(of_watch, most[i]))) {
                    fine = taken[i] = true;
                    of[w] = i;
                    sign[w] = as_less * side;
                }
    }
    free(between);
    free(taken);
    return fine;
}

/* Whatever else the rest of a net does, it takes power from what acts on it: the matrix between the sides of its
 * complementary pairs is positive semidefinite, and what it can be seen by is one (Cottle, Pang and Stone 1992). Sides
 * that are conditions now are those of `this`, which are given the value 1 one by one; the other sides follow. */
static bool
takes_power(const struct net *k, const struct known *this, const struct known *other, double h, const uint32_t *of,
            const double *sign)
{
    const double weight[ORDERS] = { 1, h, h * h / 2 };
    uint32_t n = k->q->n, nw = k->q->nwatch;
    staircase *ahead = staircase_ahead(n, this->a, h);
    double *M = bg_calloc((size_t)nw * nw + ORDERS * (size_t)n + n + 1, sizeof *M), *b = M + (size_t)nw * nw,
           *z = b + ORDERS * (size_t)n;
    bool fine = ahead->free == 0;

    for (uint32_t j = 0; j < nw && fine; j++) {
        b[ORDERS * of[j]] = 1;
        sparse_apply(&ahead->solve, b, z);
        b[ORDERS * of[j]] = 0;
        for (uint32_t i = 0; i < nw; i++)
            for (uint32_t o = 0; o < ORDERS; o++)
                for (uint32_t c = 0; c < n; c++)
                    M[i + (size_t)nw * j] += sign[i] * sign[j] * weight[o] *
                                             other->a[((size_t)ORDERS * of[i] + o) * n + c] * z[c];
    }
    for (uint32_t i = 0; i < nw && fine; i++)
        fine = isfinite(M[i + (size_t)nw * i]) && M[i + (size_t)nw * i] >= 0;
    for (uint32_t j = 0; j < nw && fine; j++)
        for (uint32_t i = 0; i < j; i++)
            M[i + (size_t)nw * j] = (M[i + (size_t)nw * j] + M[j + (size_t)nw * i]) / 2;
    /* in parts of the diagonal, so that units do not matter */
    for (uint32_t j = 0; j < nw && fine; j++)
        for (uint32_t i = 0; i < j; i++) {
            double size = sqrt(M[i + (size_t)nw * i] * M[j + (size_t)nw * j]), *at = &M[i + (size_t)nw * j];

            *at = size > 0 ? *at / size : *at != 0 ? INFINITY : 0;
            fine = fine && isfinite(*at);
        }
    for (uint32_t i = 0; i < nw; i++)
        M[i + (size_t)nw * i] = 1 + AS_NONE;
    fine = fine && LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', (lapack_int)nw, M, (lapack_int)nw) == 0;
    staircase_free(ahead);
    free(M);
    return fine;
}

/* Is there at most one solution, whatever the modes of other nets? */
static bool
is_alone(nets *s, struct net *k, double t, const double *x, double h)
{
    uint32_t nw = k->q->nwatch, *of = bg_malloc((nw + 1) * sizeof *of);
    double *sign = bg_malloc((nw + 1) * sizeof *sign);
    struct known *this, *other = NULL;
    bool alone = nw == 0 && !k->guess; /* nothing to choose */

    if (!k->varies && !k->guess && nw > 0) {
        this = net_known(s, k, t, x);
        net_exchange_all(s, k);
        other = net_known(s, k, t, x);
        net_exchange_all(s, k);
        alone = this && other && match_conditions(s, k, this, other, of, sign) &&
                takes_power(k, this, other, h, of, sign);
    }
    free(of);
    free(sign);
    return alone;
}

/* ---- looking for others ---- */

struct others {
    nets *s;
    struct net *k;
    double t, h;
    const double *x;
    double *x_try, *given, *guess;
    double *found; /* [MOST_OTHERS * (nwatch + n)] */
    size_t n;
};

/* Are the present modes, with these values of the unknowns, a solution that moves no state? */
static void
add(struct others *o)
{
    nets *s = o->s;
    uint32_t nw = o->k->q->nwatch, n = o->k->q->n;
    double *to = o->found + o->n * (nw + n);

    if (o->n == MOST_OTHERS)
        return;
    net_keep_modes(s, o->k, to);
    memcpy(to + nw, s->held + o->k->q->held0, n * sizeof *to);
    for (size_t i = 0; i < o->n; i++) {
        const double *before = o->found + i * (nw + n);
        bool same = !memcmp(before, to, nw * sizeof *to);

        for (uint32_t j = nw; j < nw + n && same; j++)
            same = fabs(to[j] - before[j]) <= ALMOST * fmax(fabs(to[j]), fabs(before[j]));
        if (same)
            return;
    }
    o->n++;
}

static void
start_over(struct others *o)
{
    net_set_modes(o->s, o->k, o->given);
    if (o->s->nx)
        memcpy(o->x_try, o->x, o->s->nx * sizeof *o->x_try);
}

/* Where the iteration for a curved net starts: from its present unknowns first, then from points of all sizes about
 * them. */
static void
stand(struct others *o, int place)
{
    static const double size[PLACES] = { 1, 1, -1, 0.1, 10, -0.1, -10, 3, 0.3, 100, 0.01, -3 };
    double *z = o->s->held + o->k->q->held0;

    if (!o->k->guess)
        return;
    memcpy(o->k->guess, o->guess, o->k->q->n * sizeof *z);
    if (place > 0) {
        net_stand_anywhere(o->s, place);
        for (uint32_t i = 0; i < o->k->q->n; i++)
            o->k->guess[i] = size[place] * (place % 2 ? z[i] : o->guess[i]);
    }
    net_forget(o->s);
}

/* Do the present modes hold at (t, x) and a time h later, without moving a state? x_try: x, scratch. */
static bool
modes_hold(nets *s, struct net *k, double t, const double *x, double *x_try, double h)
{
    uint32_t *which = bg_malloc((k->q->nwatch + 1) * sizeof *which);
    struct known *w;
    bool fine = net_rows_free(s, t, x_try) == 0 && (w = net_known(s, k, t, x_try)) &&
                net_contradictions(s, k, w, h, which) == 0 && net_admit(s, k, t, x_try, x);

    for (size_t i = 0; i < s->nx && fine; i++)
        fine = fabs(x_try[i] - x[i]) <= STAYS * net_size(s, i);
    free(which);
    return fine;
}

/* Adds the solutions with the present modes: one for each start that leads to another one. */
static void
try_modes(struct others *o, int places)
{
    nets *s = o->s;
    struct net *k = o->k;
    double *modes = bg_malloc((k->q->nwatch + 1) * sizeof *modes);

    net_keep_modes(s, k, modes);
    for (int place = 0; place < (k->guess ? places : 1); place++) {
        start_over(o);
        net_set_modes(s, k, modes);
        stand(o, place);
        if ((!k->guess || nets_solve(s, o->t, o->x_try) == 0) && modes_hold(s, k, o->t, o->x, o->x_try, o->h) &&
            nets_solve(s, o->t, o->x) == 0)
            add(o);
    }
    free(modes);
}

/* Tries all combinations of modes if there are few; otherwise those that pivoting reaches from all modes exchanged, and
 * from each one exchanged alone. */
static size_t
try_all_modes(struct others *o, size_t most)
{
    struct net *k = o->k;
    uint32_t nw = k->q->nwatch;
    bool each = nw <= MOST_ALL && (size_t)1 << nw <= most;
    size_t starts = each ? (size_t)1 << nw : nw + 1 < MOST_STARTS ? nw + 1 : MOST_STARTS;
    int places = starts * PLACES <= MOST_STARTS ? PLACES : starts < MOST_STARTS ? (int)(MOST_STARTS / starts) : 1;

    if (starts > most)
        starts = most;
    for (size_t start = 0; start < starts; start++) {
        start_over(o);
        for (uint32_t i = 0; i < nw; i++)
            if (each ? start >> i & 1 : start == 0 || i + 1 == start)
                *net_mode_of(o->s, k, i) = o->given[i] == 0;
        if (!each) {
            stand(o, 0);
            if (!net_pivot(o->s, k, o->t, o->x_try, o->h, false))
                continue;
        }
        try_modes(o, places);
    }
    return starts;
}

/* Finds all solutions at (t, x) into o->found. present: the first of them is the last solution. Restores modes and
 * unknowns. */
static size_t
look_for_all(struct others *o, size_t most, bool present)
{
    nets *s = o->s;
    struct net *k = o->k;
    size_t nw = k->q->nwatch, n = k->q->n, tried;
    double *room = bg_calloc(s->nx + 3 * nw + (1 + ORDERS) * n + s->form->nunits + 1, sizeof *room), *size, *rows,
           *of_unit;

    o->x_try = room;
    o->given = room + s->nx;
    o->guess = o->given + nw;
    size = o->guess + n;
    rows = size + 2 * nw;
    of_unit = rows + ORDERS * n;
    net_keep_modes(s, k, o->given);
    memcpy(o->guess, k->guess ? k->guess : s->held + k->q->held0, n * sizeof *room);
    /* trials do not count for the sizes of unknowns */
    memcpy(size, k->size, 2 * nw * sizeof *room);
    memcpy(rows, k->rows, ORDERS * n * sizeof *room);
    memcpy(of_unit, s->unit_size, s->form->nunits * sizeof *room);
    o->found = bg_calloc((MOST_OTHERS + 1) * (nw + n) + 1, sizeof *room);
    if (present)
        add(o);
    tried = try_all_modes(o, most);
    memcpy(k->size, size, 2 * nw * sizeof *room);
    memcpy(k->rows, rows, ORDERS * n * sizeof *room);
    memcpy(s->unit_size, of_unit, s->form->nunits * sizeof *room);
    net_set_modes(s, k, o->given);
    if (k->guess)
        memcpy(k->guess, o->guess, n * sizeof *room);
    net_forget(s);
    free(room);
    return tried;
}

size_t
nets_others(nets *s, size_t number, double t, const double *x, double ahead, size_t most, double **others,
            size_t *tried)
{
    struct net *k = &s->net[number];
    struct others o = { .s = s, .k = k, .t = t, .h = net_reach(k, ahead), .x = x };

    *others = NULL;
    *tried = 0;
    if (nets_solve(s, t, x) != 0 || is_alone(s, k, t, x, o.h))
        return 0;
    *tried = look_for_all(&o, most, true);
    *others = o.found;
    return nets_solve(s, t, x) == 0 ? o.n : 0;
}

bool
net_take_nearest(nets *s, struct net *k, double t, const double *x, double h)
{
    struct others o = { .s = s, .k = k, .t = t, .h = h, .x = x };
    const net_part *q = k->q;
    double least = INFINITY;
    const double *nearest = NULL;

    look_for_all(&o, MOST_NEAREST, false);
    for (size_t i = 0; i < o.n; i++) {
        const double *one = o.found + i * (q->nwatch + q->n), *z = one + q->nwatch;
        double far = 0;

        for (uint32_t j = 0; j < q->n; j++) {
            double usual = s->unit_size[s->unit[q->held0 + j]];

            far = fmax(far, fabs(z[j] - k->guess[j]) / (usual > 0 ? usual : 1));
        }
        if (far < least) {
            least = far;
            nearest = one;
        }
    }
    if (nearest) {
        net_set_modes(s, k, nearest);
        memcpy(k->guess, nearest + q->nwatch, q->n * sizeof *nearest);
        net_forget(s);
    }
    free(o.found);
    return nearest != NULL;
}

void
nets_take(nets *s, size_t number, const double *one)
{
    struct net *k = &s->net[number];

    net_set_modes(s, k, one);
    if (k->guess)
        memcpy(k->guess, one + k->q->nwatch, k->q->n * sizeof *one);
    net_forget(s);
}

span
nets_place(const nets *s, size_t number)
{
    return net_place(s, &s->net[number]);
}

size_t
nets_wide(const nets *s, size_t number)
{
    return s->net[number].q->nwatch + s->net[number].q->n;
}

bool
nets_hold(nets *s, double t, const double *x, double ahead)
{
    double *x_try = bg_malloc((s->nx + 1) * sizeof *x_try);
    bool fine = true;

    for (size_t k = 0; k < s->n && fine; k++) {
        if (s->nx)
            memcpy(x_try, x, s->nx * sizeof *x_try);
        fine = modes_hold(s, &s->net[k], t, x, x_try, net_reach(&s->net[k], ahead));
    }
    free(x_try);
    net_forget(s);
    return fine;
}

bool
nets_have_limits(const nets *s)
{
    bool any = false;

    for (size_t i = 0; i < s->nheld; i++)
        any |= s->form->near[i] != NONE;
    return any;
}

bool
nets_curved(const nets *s)
{
    bool curved = false;

    for (size_t k = 0; k < s->n; k++)
        curved |= s->net[k].guess != NULL;
    return curved;
}

size_t
nets_count(const nets *s)
{
    return s->n;
}
