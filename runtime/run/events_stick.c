/* events_stick.c - sign(x): which way x slips, whether it sticks, and the impulse that keeps it at zero */
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "events_inside.h"

enum { MOST_JOINT = 200 }; /* most relays that are held by one system of equations; it costs their cube */
#define LEFT 1e-13         /* of its size: an x that is held at zero may be off by this, which is rounding */

/* The change of x of sign(x) k over a short time, by one step of the midpoint rule. */
static bool
drift_of(events *e, uint32_t k, double t, const double *x, double *change)
{
    double d;

    if (!events_conditions(e, t, x, e->g_try) || !events_ahead_of(e, t, x, &d))
        return false;
    *change = -e->g_try[k];
    for (size_t i = 0; i < e->nx; i++)
        e->x_ahead[i] = x[i] + d * e->f_half[i];
    if (!events_conditions(e, t + d, e->x_ahead, e->g_try))
        return false;
    *change += e->g_try[k];
    return isfinite(*change);
}

void
events_set_side(events *e, uint32_t k, double side)
{
    e->value[k] = side;
    for (size_t i = 0; i < e->near.n; i++) {
        uint32_t c = e->near.at[i];

        if (e->mode[c].side == 0 || e->mode[c].partner != e->mode[k].partner)
            continue;
        e->value[c] = e->mode[c].kind == MODE_EQUAL ? side == 0
                      : side == 0                   ? e->mode[c].kind == MODE_LESS_EQUAL
                                                    : side * e->mode[c].side < 0;
        e->sign[c] = side * e->mode[c].side < 0 ? -1 : 1;
    }
}

/* Does x of sign(x) k move towards zero on both sides? Only then can it stay there. A side on which the equations have
 * no solution does not count as leading away. */
static bool
leads_back(events *e, uint32_t k, double t, const double *x)
{
    double slip = e->value[k], there[2] = { 0, 0 };
    bool known = true;

    for (int above = 0; above < 2 && known; above++) {
        double change;

        events_set_side(e, k, above ? 1 : -1);
        known = drift_of(e, k, t, x, &change);
        there[above] = e->g_try[k];
    }
    events_set_side(e, k, slip);
    return !known || there[0] > there[1];
}

/* The direction in which friction k, which sticks, moves the states: the rates with its sign at 1 less those at -1. */
static bool
find_kick(events *e, uint32_t k, double t, const double *x, double *kick)
{
    uint32_t stick = (uint32_t)e->mode[k].partner;
    double slip = e->value[k];
    bool ok;

    e->value[stick] = 0;
    events_set_side(e, k, 1);
    ok = model_rhs(e->model, t, x, kick) == 0;
    events_set_side(e, k, -1);
    ok = ok && model_rhs(e->model, t, x, e->f) == 0;
    e->value[stick] = 1;
    events_set_side(e, k, slip);
    for (size_t i = 0; i < e->nx && ok; i++)
        ok = isfinite(kick[i] -= e->f[i]);
    return ok;
}

/* Does sign(x) k, which sticks, act on a state or on its own x at all? A clutch whose capacity is zero does not. */
static bool
acts(events *e, uint32_t k, double t, const double *x)
{
    uint32_t stick = (uint32_t)e->mode[k].partner;
    double slip = e->value[k], g[2];
    bool ok = find_kick(e, k, t, x, e->kick), any = false;

    for (size_t i = 0; i < e->nx && ok; i++)
        any |= e->kick[i] != 0;
    e->value[stick] = 0;
    for (int above = 0; above < 2 && ok && !any; above++) {
        events_set_side(e, k, above ? 1 : -1);
        ok = events_conditions(e, t, x, e->g_try);
        g[above] = e->g_try[k];
    }
    events_set_side(e, k, slip);
    e->value[stick] = 1;
    return !ok || any || g[0] != g[1];
}

/* x of sign(x) k changes by this in AHEAD of the run, by its friction: x may always have been zero, and its size too.
 */
static void
know_size(events *e, uint32_t k, double change)
{
    e->size[k] = fmax(e->size[k], HELD_SIZE / AHEAD * fabs(change));
}

/* Does x of sign(x) k, which sticks and is g, count as zero? If it has been no more than rounding so far, its friction
 * tells its size. */
static bool
is_slip_zero(events *e, uint32_t k, double t, const double *x, double g)
{
    double h = AHEAD * (e->stop - e->start);
    bool known;

    if (fabs(g) <= AT_REST * e->size[k])
        return true;
    known = find_kick(e, k, t, x, e->kick);
    for (size_t i = 0; i < e->nx; i++)
        e->x_try[i] = x[i] + h * e->kick[i];
    if (known && events_conditions(e, t, e->x_try, e->g_try) && isfinite(e->g_try[k]))
        know_size(e, k, e->g_try[k] - g);
    return fabs(g) <= AT_REST * e->size[k];
}

/* Lets sign(x) k stick if that puts x at zero with a value of the sign between -1 and 1. *s: the value that holds x,
 * not finite if there is none. (x may depend on the sign by equations alone, so x is evaluated with the mode "stick".)
 */
static bool
try_stick(events *e, uint32_t k, double t, const double *x, double *s)
{
    uint32_t stick = (uint32_t)e->mode[k].partner;

    e->value[stick] = 1;
    *s = events_conditions(e, t, x, e->g_try) ? e->g_try[stick] : NAN;
    if (isfinite(*s) && fabs(*s) <= 1 + CONTRADICTION && is_slip_zero(e, k, t, x, e->g_try[k])) {
        e->value[stick] = 0;
        if (e->mode[k].relay ? leads_back(e, k, t, x) : acts(e, k, t, x)) {
            e->value[stick] = 1;
            return true;
        }
    }
    e->value[stick] = 0;
    return false;
}

/* Does x of sign(x) k, which is zero, move to this side, or stay, as far as rounding tells? */
static bool
moves_to(events *e, uint32_t k, double side, double t, const double *x)
{
    double change;

    return drift_of(e, k, t, x, &change) &&
           (side == 0 ? change == 0 : change * side >= 0 || fabs(change) <= model_condition_noise(e->model, k, t, x));
}

/* Lets sign(x) k slip to a side to which x then moves; `first` is tried first, and taken if none fits. */
static void
choose_side(events *e, uint32_t k, double t, const double *x, double first)
{
    double side[] = { first, first != 0 ? -first : 1, first != 0 ? 0 : -1 };

    for (int i = 0; i < 3; i++) {
        double g;

        events_set_side(e, k, side[i]);
        if (!events_conditions(e, t, x, e->g_try))
            continue;
        g = e->g_try[k];
        if (fabs(g) > CONTRADICTION * e->size[k] ? g * side[i] > 0 : moves_to(e, k, side[i], t, x))
            return;
    }
    events_set_side(e, k, first);
}

/* The side of x = 0 whose branch the conditions on the x of relay k choose at zero itself; 0: there is no condition. */
static double
side_of_border(const events *e, uint32_t k)
{
    for (size_t i = 0; i < e->near.n; i++) {
        const struct model_mode *m = &e->mode[e->near.at[i]];

        if (m->side != 0 && m->partner == e->mode[k].partner && m->kind != MODE_EQUAL)
            return m->kind == MODE_LESS ? m->side : -m->side;
    }
    return 0;
}

void
events_meet_zero(events *e, uint32_t k, double t, const double *x, double g)
{
    double s, side = 0;

    if (try_stick(e, k, t, x, &s))
        return;
    if (isfinite(s) && !(e->mode[k].relay && fabs(s) <= 1))
        side = s;
    if (side == 0)
        side = g;
    if (side == 0 && e->mode[k].relay)
        side = side_of_border(e, k);
    choose_side(e, k, t, x, side != 0 ? copysign(1, side) : -e->value[k]);
}

void
events_release(events *e, uint32_t stick, double t, const double *x, double s)
{
    uint32_t k = (uint32_t)e->mode[stick].partner;

    e->value[stick] = 0;
    choose_side(e, k, t, x, isnan(s) || s == 0 ? e->value[k] : copysign(1, s));
}

bool
events_look_released(events *e, double t, const double *x)
{
    bool ok = events_look(e, t, x, e->g), any = false;

    for (size_t i = 0; i < e->near.n && e->any_sign; i++) {
        uint32_t k = e->near.at[i];

        if (e->mode[k].kind != MODE_STICK || e->value[k] == 0 || (ok && isfinite(e->g[k])))
            continue;
        events_release(e, k, t, x, e->g[k]);
        any = true;
    }
    return any ? events_look(e, t, x, e->g) : ok;
}

bool
events_settle_sign(events *e, uint32_t k, double t, const double *x, double g, double slack)
{
    uint32_t stick = (uint32_t)e->mode[k].partner;
    double slip = e->value[k], stuck = e->value[stick];

    if (e->follows[k] && fabs(g) <= fmax(slack, AT_REST * e->size[k]))
        return false;
    e->follows[k] = false;
    if (fabs(g) > slack) {
        double s, side = g > 0 ? 1 : -1;

        e->value[stick] = 0;
        if (slip != side && stuck == 0 && try_stick(e, k, t, x, &s))
            return true;
        e->value[k] = side;
    } else if (stuck == 0) {
        events_meet_zero(e, k, t, x, g);
    } else if (!(fabs(e->g[stick]) <= 1 + CONTRADICTION)) {
        events_release(e, stick, t, x, e->g[stick]);
    }
    return e->value[k] != slip || e->value[stick] != stuck;
}

/* Sets x of sign(x) k, which sticks, to exactly zero by moving the states in the direction of find_kick. This is an
 * impulse of that friction, so what friction cannot change (the momentum of two bodies together) stays. */
static bool
hold(events *e, uint32_t k, double t, double *x)
{
    double g, h = AHEAD * (e->stop - e->start);
    bool ok = find_kick(e, k, t, x, e->kick), changed = false;

    ok = ok && events_conditions(e, t, x, e->g_try);
    g = e->g_try[k];
    for (int round = 0; round < 4 && ok && (g != 0 || round == 0); round++) {
        double there;

        for (size_t i = 0; i < e->nx; i++)
            e->x_try[i] = x[i] + h * e->kick[i];
        ok = events_conditions(e, t, e->x_try, e->g_try) && isfinite(e->g_try[k]) && e->g_try[k] != g;
        if (ok)
            know_size(e, k, e->g_try[k] - g);
        if (g == 0)
            break;
        there = ok ? -g * h / (e->g_try[k] - g) : 0;
        for (size_t i = 0; i < e->nx; i++)
            e->x_try[i] = x[i] + there * e->kick[i];
        ok = ok && events_conditions(e, t, e->x_try, e->g_try) && fabs(e->g_try[k]) < fabs(g);
        if (ok) {
            memcpy(x, e->x_try, e->nx * sizeof(double));
            g = e->g_try[k];
            changed = true;
        }
    }
    return changed;
}

/* Relays held one after the other may undo each other. If one is off zero, all are held by one system of equations. */
static void
hold_jointly(events *e, double t, double *x)
{
    VEC(uint32_t) sign = { 0 };
    double *kick, *by, *change, h = AHEAD * (e->stop - e->start);
    lapack_int *pivot;
    size_t m;
    bool left = false;

    for (size_t i = 0; i < e->near.n; i++) {
        uint32_t k = e->near.at[i];

        if (e->mode[k].kind != MODE_SIGN || !e->mode[k].relay || !events_sticks(e, k))
            continue;
        vec_push(&sign, k);
        left |= fabs(e->g[k]) > LEFT * e->size[k];
    }
    m = sign.n;
    if (left && m > 1 && m <= MOST_JOINT) {
        kick = bg_malloc(m * (e->nx + m + 1) * sizeof *kick);
        change = kick + m * e->nx;
        by = change + m * m;
        pivot = bg_malloc(m * sizeof *pivot);
        for (size_t j = 0; j < m && left; j++) {
            left = find_kick(e, sign.at[j], t, x, kick + j * e->nx);
            for (size_t i = 0; i < e->nx; i++)
                e->x_try[i] = x[i] + h * kick[j * e->nx + i];
            left = left && events_conditions(e, t, e->x_try, e->g_try);
            for (size_t i = 0; i < m && left; i++)
                change[j * m + i] = (e->g_try[sign.at[i]] - e->g[sign.at[i]]) / h;
            by[j] = -e->g[sign.at[j]];
        }
        left = left &&
               LAPACKE_dgesv(LAPACK_COL_MAJOR, (lapack_int)m, 1, change, (lapack_int)m, pivot, by, (lapack_int)m) == 0;
        memcpy(e->x_try, x, e->nx * sizeof(double));
        for (size_t j = 0; j < m && left; j++)
            for (size_t i = 0; i < e->nx; i++)
                e->x_try[i] += by[j] * kick[j * e->nx + i];
        left = left && events_conditions(e, t, e->x_try, e->g_try);
        for (size_t j = 0; j < m && left; j++)
            left = fabs(e->g_try[sign.at[j]]) <= LEFT * e->size[sign.at[j]];
        if (left)
            memcpy(x, e->x_try, e->nx * sizeof(double));
        free(kick);
        free(pivot);
    }
    vec_free(&sign);
}

void
events_hold_all(events *e, double t, double *x)
{
    if (!e->any_sign || e->nx == 0 || !events_look(e, t, x, e->g))
        return;
    for (size_t i = 0; i < e->near.n; i++) {
        uint32_t k = e->near.at[i];

        if (e->mode[k].kind == MODE_SIGN && events_sticks(e, k) && hold(e, k, t, x) && !events_look(e, t, x, e->g))
            return;
    }
    hold_jointly(e, t, x);
    e->drift = 0;
}
