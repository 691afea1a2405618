/* events_together.c - several sign(x) whose x are zero at the same time: which of them stick
 *
 * Each dry friction that sticks changes the load on the others, so they are decided together. With s the values of the
 * signs, and x' the rates of their x, this is a linear complementarity problem:
 *
 *   x' = b - G s,   s = 1 where x' > 0,  -1 where x' < 0,  between -1 and 1 where x' = 0
 *
 * For friction, G is symmetric and positive semidefinite, but for a positive factor of each column (the greatest
 * friction force), and projected Gauss-Seidel sweeps converge. For relays G may be any matrix; where the sweeps do not
 * converge, all combinations are tried, if there are few.
 *
 * G is singular where only sums of frictions are determined (blocks that rub against each other and against the
 * ground). When such a group comes to rest, the least-squares solution shares each sum evenly, if that is within the
 * limits. Some of these x then stay at zero because the others stick ("followers"): their s is held constant, and the
 * others take up all changes of the load until one of them reaches its limit. Then the decision is made anew, and
 * another one takes its place.
 *
 * source   Moreau (1988), Unilateral contact and dry friction in finite freedom dynamics; Cottle, Pang, Stone (1992)
 */
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "events_inside.h"

enum { MOST_SIGNS = 200, SWEEPS = 20000, MOST_COMBINED = 6 };
#define SWEPT 1e-12   /* the sweeps have converged when no s changes by more */
#define AT_LIMIT 1e-9 /* an |s| that is nearer to 1 than this is at its limit */
#define MOVES 1e-6    /* of the sum of a rate's terms: a smaller rate is zero; it comes from difference quotients */
#define FOLLOWS 1e-9  /* of a diagonal element of G: where elimination leaves less, the row depends on the others */

struct together {
    events *e;
    double t, d; /* d: the step of the difference quotients that give the rates of x */
    const double *x;
    VEC(uint32_t) sign;       /* the m modes: their x are zero, and depend on the signs through the states only */
    double *G, *b, *s, *rate; /* [m*m] by columns; [m] */
    bool *rests, *follows;    /* [m] its x stays at zero; it does so because others stick */
};

/* x' of all signs, with the modes as they are: its mean over d, by the midpoint rule. At the limit of a friction the
 * rates decide what they will be, not what they are. */
static bool
rates_of(struct together *c, double *rate)
{
    events *e = c->e;

    if (model_rhs(e->model, c->t, c->x, e->f) != 0 || !events_conditions(e, c->t, c->x, e->g_try))
        return false;
    for (size_t i = 0; i < e->nx; i++)
        e->x_ahead[i] = c->x[i] + c->d / 2 * e->f[i];
    if (model_rhs(e->model, c->t + c->d / 2, e->x_ahead, e->f_half) != 0)
        return false;
    for (size_t i = 0; i < e->nx; i++)
        e->x_ahead[i] = c->x[i] + c->d * e->f_half[i];
    if (!events_conditions(e, c->t + c->d, e->x_ahead, e->g_aside))
        return false;
    for (size_t i = 0; i < c->sign.n; i++) {
        rate[i] = (e->g_aside[c->sign.at[i]] - e->g_try[c->sign.at[i]]) / c->d;
        if (!isfinite(rate[i]))
            return false;
    }
    return true;
}

/* Does x of sign(x) k itself, not only its rate, depend on the value of the sign (friction on a joint without mass)?
 * Such signs are decided one by one. above: the conditions with the sign at 1. */
static bool
moves_at_once(struct together *c, uint32_t k, const double *above)
{
    events *e = c->e;
    bool at_once;

    events_set_side(e, k, -1);
    at_once = !events_conditions(e, c->t, c->x, e->g_try) || fabs(e->g_try[k] - above[k]) > CONTRADICTION * e->size[k];
    events_set_side(e, k, 1);
    return at_once;
}

/* Has sign j no effect at all, on no x (a clutch whose capacity is zero)? */
static bool
acts_on_nothing(const struct together *c, size_t j)
{
    const double *column = c->G + j * c->sign.n;
    bool none = true;

    for (size_t i = 0; i < c->sign.n; i++)
        none = none && column[i] == 0;
    return none;
}

/* b and the columns of G, from the rates with each sign at 1 and at -1; what all of them make of an x in a while is its
 * size. False: they cannot be evaluated, or sign *idle (none before) does not brake its own x. */
static bool
find_terms(struct together *c, size_t *idle)
{
    events *e = c->e;
    size_t m = c->sign.n;

    if (!rates_of(c, c->rate))
        return false;
    memcpy(c->b, c->rate, m * sizeof *c->b);
    for (size_t j = 0; j < m; j++) {
        double *column = c->G + j * m;
        bool known;

        events_set_side(e, c->sign.at[j], -1);
        known = rates_of(c, column);
        events_set_side(e, c->sign.at[j], 1);
        for (size_t i = 0; i < m && known; i++) {
            column[i] = (column[i] - c->rate[i]) / 2;
            c->b[i] += column[i];
        }
        if (!known)
            return false;
        if (!(column[j] > 0) && *idle >= m)
            *idle = j;
        for (size_t i = 0; i < m; i++) {
            double *size = &e->size[c->sign.at[i]];

            *size = fmax(*size, HELD_SIZE * (e->stop - e->start) * 2 * fabs(column[i]));
        }
    }
    return *idle >= m;
}

/* Projected Gauss-Seidel. False: it does not converge. */
static bool
sweep(struct together *c)
{
    size_t m = c->sign.n;
    double change = INFINITY;

    memcpy(c->rate, c->b, m * sizeof *c->rate);
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < m; i++)
            c->rate[i] -= c->G[j * m + i] * c->s[j];
    for (int k = 0; k < SWEEPS && change > SWEPT; k++) {
        change = 0;
        for (size_t j = 0; j < m; j++) {
            double next = fmax(-1, fmin(1, c->s[j] + c->rate[j] / c->G[j * m + j])), by = next - c->s[j];

            if (by == 0)
                continue;
            for (size_t i = 0; i < m; i++)
                c->rate[i] -= c->G[j * m + i] * by;
            c->s[j] = next;
            change = fmax(change, fabs(by));
        }
    }
    return change <= SWEPT;
}

/* Solves for s with those of side 0 at rest and the others slipping to their side. False: inconsistent with that. */
static bool
combine(struct together *c, const int *side)
{
    size_t m = c->sign.n, n = 0;
    double a[MOST_COMBINED * MOST_COMBINED], s[MOST_COMBINED];
    size_t at[MOST_COMBINED];
    lapack_int pivot[MOST_COMBINED];
    bool fits = true;

    for (size_t j = 0; j < m; j++)
        if (side[j] == 0)
            at[n++] = j;
    for (size_t i = 0; i < n; i++) {
        s[i] = c->b[at[i]];
        for (size_t j = 0; j < m; j++)
            s[i] -= c->G[j * m + at[i]] * side[j];
        for (size_t j = 0; j < n; j++)
            a[j * n + i] = c->G[at[j] * m + at[i]];
    }
    if (n && LAPACKE_dgesv(LAPACK_COL_MAJOR, (lapack_int)n, 1, a, (lapack_int)n, pivot, s, (lapack_int)n) != 0)
        return false;
    for (size_t j = 0; j < m; j++)
        c->s[j] = side[j];
    for (size_t i = 0; i < n; i++) {
        fits = fits && fabs(s[i]) <= 1 + AT_LIMIT;
        c->s[at[i]] = s[i];
    }
    for (size_t i = 0; i < m; i++) {
        c->rate[i] = c->b[i];
        for (size_t j = 0; j < m; j++)
            c->rate[i] -= c->G[j * m + i] * c->s[j];
        fits = fits && (side[i] == 0 || c->rate[i] * side[i] >= 0);
    }
    return fits;
}

/* Tries all combinations, first the one with all at rest. */
static bool
combine_any(struct together *c)
{
    int side[MOST_COMBINED], all = 1;
    bool found = false;

    for (size_t j = 0; j < c->sign.n; j++)
        all *= 3;
    for (int set = 0; set < all && !found; set++) {
        int left = set;

        for (size_t j = 0; j < c->sign.n; j++, left /= 3)
            side[j] = left % 3 == 2 ? -1 : left % 3;
        found = combine(c, side);
    }
    return found;
}

/* Is x' of sign j zero within rounding? */
static bool
stays(const struct together *c, size_t j)
{
    size_t m = c->sign.n;
    double terms = fabs(c->b[j]);

    for (size_t i = 0; i < m; i++)
        terms += fabs(c->G[i * m + j] * c->s[i]);
    return fabs(c->rate[j]) <= MOVES * terms;
}

static bool
at_limit(const struct together *c, size_t j)
{
    return fabs(c->s[j]) >= 1 - AT_LIMIT;
}

/* Which of those at rest follow from the others: whose rows of G depend on rows eliminated before. Pivots are chosen by
 * what is left of the diagonal times the distance of s from its limit, so that followers are those with least reserve.
 */
static void
find_followers(struct together *c)
{
    size_t m = c->sign.n;
    double *a = bg_malloc(m * m * sizeof *a);
    bool *done = bg_calloc(m, sizeof *done);

    memcpy(a, c->G, m * m * sizeof *a);
    for (size_t round = 0; round < m; round++) {
        size_t best = m;
        double most = 0;

        for (size_t j = 0; j < m; j++) {
            double left = a[j * m + j] / c->G[j * m + j], room = (1 - fabs(c->s[j])) * left;

            if (c->rests[j] && !done[j] && left > FOLLOWS && (best == m || room > most)) {
                most = room;
                best = j;
            }
        }
        if (best == m)
            break;
        done[best] = true;
        for (size_t j = 0; j < m; j++) {
            double by = a[j * m + best] / a[best * m + best];

            for (size_t i = 0; i < m && j != best && by != 0; i++)
                a[j * m + i] -= by * a[best * m + i];
        }
    }
    for (size_t j = 0; j < m; j++)
        c->follows[j] = c->rests[j] && !done[j];
    free(a);
    free(done);
}

/* Replaces s of those at rest by the least-squares solution with the same sums, if it is within the limits. */
static void
split_evenly(struct together *c)
{
    size_t m = c->sign.n, n = 0;
    size_t *at = bg_malloc(m * sizeof *at);
    double *a = bg_malloc((m * m + 2 * m) * sizeof *a), *s = a + m * m, *singular = s + m;
    lapack_int rank;
    bool within = true;

    for (size_t j = 0; j < m; j++)
        if (c->rests[j])
            at[n++] = j;
    for (size_t i = 0; i < n; i++) {
        s[i] = 0;
        for (size_t j = 0; j < n; j++) {
            a[j * n + i] = c->G[at[j] * m + at[i]] / c->G[at[i] * m + at[i]];
            s[i] += a[j * n + i] * c->s[at[j]];
        }
    }
    within = LAPACKE_dgelsd(LAPACK_COL_MAJOR, (lapack_int)n, (lapack_int)n, 1, a, (lapack_int)n, s, (lapack_int)n,
                            singular, FOLLOWS, &rank) == 0;
    for (size_t i = 0; i < n; i++)
        within = within && fabs(s[i]) < 1 - AT_LIMIT;
    for (size_t i = 0; i < n && within; i++)
        c->s[at[i]] = s[i];
    free(at);
    free(a);
}

/* Sets the modes from s; slip and stuck: as they were. False: a relay would be a follower, but has no value between its
 * branches unless it sticks. */
static bool
set_modes(struct together *c, const double *slip, const bool *stuck)
{
    events *e = c->e;
    size_t m = c->sign.n;
    bool any = false, old = false, gives_in = false;

    for (size_t j = 0; j < m; j++) {
        c->rests[j] = !at_limit(c, j) || stays(c, j);
        old |= stuck[j];
    }
    find_followers(c);
    for (size_t j = 0; j < m; j++) {
        any |= c->follows[j];
        if (c->follows[j] && e->mode[c->sign.at[j]].relay)
            return false;
    }
    if (any && !old)
        split_evenly(c);
    for (size_t j = 0; j < m; j++) {
        uint32_t k = c->sign.at[j];
        bool slips = at_limit(c, j) && !c->follows[j] &&
                     (!c->rests[j] || (!stuck[j] && slip[j] == copysign(1, c->s[j])));

        gives_in |= slips && c->rests[j];
        events_set_side(e, k, slips ? copysign(1, c->s[j]) : slip[j]);
        e->value[e->mode[k].partner] = !slips;
    }
    for (size_t j = 0; j < m; j++) {
        uint32_t k = c->sign.at[j];

        if (!c->follows[j])
            continue;
        e->follows[k] = !gives_in || !at_limit(c, j);
        events_set_side(e, k, e->follows[k] ? 0 : copysign(1, c->s[j]));
        e->value[k] = c->s[j];
        e->value[e->mode[k].partner] = 0;
    }
    return true;
}

/* moves_at_once for relay k, whatever its mode. True also where the equations have no solution on one of its sides. */
static bool
relay_moves_at_once(struct together *c, uint32_t k)
{
    events *e = c->e;
    uint32_t stick = (uint32_t)e->mode[k].partner;
    double slip = e->value[k], stuck = e->value[stick];
    bool at_once;

    e->value[stick] = 0;
    events_set_side(e, k, 1);
    at_once = !events_conditions(e, c->t, c->x, e->g_aside) || moves_at_once(c, k, e->g_aside);
    events_set_side(e, k, slip);
    e->value[stick] = stuck;
    return at_once;
}

/* Takes sign j off the list, with its modes as they were. */
static void
leave_out(struct together *c, size_t j, double *slip, bool *stuck)
{
    uint32_t k = c->sign.at[j];

    events_set_side(c->e, k, slip[j]);
    c->e->value[c->e->mode[k].partner] = stuck[j];
    c->sign.n--;
    for (; j < c->sign.n; j++) {
        c->sign.at[j] = c->sign.at[j + 1];
        slip[j] = slip[j + 1];
        stuck[j] = stuck[j + 1];
        c->s[j] = c->s[j + 1];
    }
}

/* Lists the signs whose x are zero. Their modes are kept in slip and stuck, and set to slip towards 1. */
static void
gather(struct together *c, double *slip, bool *stuck)
{
    events *e = c->e;

    for (size_t i = 0; i < e->near.n && c->sign.n <= MOST_SIGNS; i++) {
        uint32_t k = e->near.at[i];

        if (e->mode[k].kind == MODE_SIGN && (events_sticks(e, k) || fabs(e->g[k]) <= AT_REST * e->size[k]) &&
            !(e->mode[k].relay && relay_moves_at_once(c, k)))
            vec_push(&c->sign, k);
    }
    if (c->sign.n < 2 || c->sign.n > MOST_SIGNS) {
        c->sign.n = 0;
        return;
    }
    for (size_t j = 0; j < c->sign.n; j++) {
        uint32_t k = c->sign.at[j], stick = (uint32_t)e->mode[k].partner;

        slip[j] = e->value[k];
        stuck[j] = e->value[stick] != 0;
        c->s[j] = stuck[j] && isfinite(e->g[stick]) ? fmax(-1, fmin(1, e->g[stick])) : slip[j];
        events_set_side(e, k, 1);
        e->value[stick] = 0;
    }
    if (!events_conditions(e, c->t, c->x, e->g)) {
        c->sign.n = 0;
        return;
    }
    for (size_t j = c->sign.n; j-- > 0;)
        if (moves_at_once(c, c->sign.at[j], e->g))
            leave_out(c, j, slip, stuck);
}

bool
events_stick_together(events *e, double t, const double *x)
{
    struct together c = { .e = e, .t = t, .x = x, .d = AHEAD * (e->stop - e->start) };
    size_t room = e->near.n < MOST_SIGNS + 1 ? e->near.n : MOST_SIGNS + 1;
    double *before, *slip;
    bool *stuck, found = false;
    size_t idle = NO_INDEX;

    if (!e->any_sign || e->nx == 0 || !events_look(e, t, x, e->g))
        return false;
    before = bg_malloc((2 * e->n + 4 * room + 1) * sizeof *before);
    slip = before + 2 * e->n;
    c.s = slip + room;
    c.b = c.s + room;
    c.rate = c.b + room;
    stuck = bg_calloc(3 * room + 1, sizeof *stuck);
    c.rests = stuck + room;
    c.follows = c.rests + room;
    for (size_t i = 0; i < e->near.n; i++)
        if (fabs(e->g[e->near.at[i]]) > AT_REST * e->size[e->near.at[i]])
            e->follows[e->near.at[i]] = false;
    memcpy(before, e->value, e->n * sizeof *before);
    memcpy(before + e->n, e->sign, e->n * sizeof *before);
    gather(&c, slip, stuck);
    if (c.sign.n > 1) {
        c.G = bg_malloc(c.sign.n * c.sign.n * sizeof *c.G);
        while (!(found = find_terms(&c, &idle)) && idle < c.sign.n) {
            if (stuck[idle] && acts_on_nothing(&c, idle)) { /* nor can it hold its x at zero */
                slip[idle] = 0;
                stuck[idle] = false;
            }
            leave_out(&c, idle, slip, stuck);
            idle = NO_INDEX;
        }
        found = found && (sweep(&c) || c.sign.n > MOST_COMBINED || combine_any(&c));
        if (found) {
            for (size_t j = 0; j < c.sign.n; j++)
                e->follows[c.sign.at[j]] = false;
            found = set_modes(&c, slip, stuck);
        }
        free(c.G);
    }
    if (!found) {
        memcpy(e->value, before, e->n * sizeof *before);
        memcpy(e->sign, before + e->n, e->n * sizeof *before);
    }
    found = found && memcmp(before, e->value, e->n * sizeof *before) != 0;
    vec_free(&c.sign);
    free(before);
    free(stuck);
    return found;
}
