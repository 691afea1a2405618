/* events_stick.c - sign(x): slip and stick, and the impulse that holds what sticks */
#include <math.h>
#include <string.h>

#include "events_inside.h"

/* Lets sign k stick if its x is at zero and something between -1 and 1 keeps it there. The value that would is left in
 * *s, not finite where there is none. (An x that follows from sign(x) by equations alone is at zero because it sticks.)
 */
static bool
try_stick(events *e, uint32_t k, double t, const double *x, double *s)
{
    uint32_t stick = (uint32_t)e->mode[k].partner;

    e->value[stick] = 1;
    *s = model_conditions(e->model, t, x, e->g_try) == 0 ? e->g_try[stick] : NAN;
    if (isfinite(*s) && fabs(*s) <= 1 + CONTRADICTION && fabs(e->g_try[k]) <= AT_REST * e->size[k])
        return true;
    e->value[stick] = 0;
    return false;
}

/* Change of x of sign k over a short time, by Euler's method. */
static bool
drift_of(events *e, uint32_t k, double t, const double *x, double *change)
{
    double d;

    if (model_conditions(e->model, t, x, e->g_try) != 0 || !events_ahead_of(e, t, x, &d))
        return false;
    *change = -e->g_try[k];
    for (size_t i = 0; i < e->nx; i++)
        e->x_ahead[i] = x[i] + d * e->f[i];
    if (model_conditions(e->model, t + d, e->x_ahead, e->g_try) != 0)
        return false;
    *change += e->g_try[k];
    return isfinite(*change);
}

void
events_set_side(events *e, uint32_t k, double side)
{
    e->value[k] = side;
    for (size_t i = 0; i < e->watched.n; i++) {
        uint32_t c = e->watched.at[i];

        if (e->mode[c].side == 0 || e->mode[c].partner != e->mode[k].partner)
            continue;
        e->value[c] = e->mode[c].kind == MODE_EQUAL ? side == 0
                      : side == 0                   ? e->mode[c].kind == MODE_LESS_EQUAL
                                                    : side * e->mode[c].side < 0;
        e->sign[c] = side * e->mode[c].side < 0 ? -1 : 1;
    }
}

/* Slips to the side that x of sign k then takes; `first` is tried first, as is what it is if none fits. */
static void
choose_side(events *e, uint32_t k, double t, const double *x, double first)
{
    double side[] = { first, first != 0 ? -first : 1, first != 0 ? 0 : -1 };

    for (int i = 0; i < 3; i++) {
        double change, g;

        events_set_side(e, k, side[i]);
        if (model_conditions(e->model, t, x, e->g_try) != 0)
            continue;
        g = e->g_try[k];
        if (fabs(g) > CONTRADICTION * e->size[k]
                ? g * side[i] > 0
                : drift_of(e, k, t, x, &change) && (side[i] != 0 ? change * side[i] >= 0 : change == 0))
            return;
    }
    events_set_side(e, k, first);
}

void
events_meet_zero(events *e, uint32_t k, double t, const double *x, double g)
{
    double s;

    if (!try_stick(e, k, t, x, &s))
        choose_side(e, k, t, x, isfinite(s) && s != 0 ? copysign(1, s) : g != 0 ? copysign(1, g) : -e->value[k]);
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

    for (size_t i = 0; i < e->watched.n && e->any_sign; i++) {
        uint32_t k = e->watched.at[i];

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

/* Puts x of sign k, which sticks, to zero along the way in which its s moves the states: as by an impulse of that
 * friction, so that what friction leaves alone (a common momentum) stays. */
static bool
hold(events *e, uint32_t k, double t, double *x)
{
    uint32_t stick = (uint32_t)e->mode[k].partner;
    double slip = e->value[k], g, h = AHEAD * (e->stop - e->start);
    bool ok, changed = false;

    e->value[stick] = 0;
    e->value[k] = 1;
    ok = model_rhs(e->model, t, x, e->kick) == 0;
    e->value[k] = -1;
    ok = ok && model_rhs(e->model, t, x, e->f) == 0;
    e->value[stick] = 1;
    e->value[k] = slip;
    for (size_t i = 0; i < e->nx && ok; i++)
        ok = isfinite(e->kick[i] -= e->f[i]);
    ok = ok && model_conditions(e->model, t, x, e->g_try) == 0;
    g = e->g_try[k];
    for (int round = 0; round < 4 && ok && (g != 0 || round == 0); round++) {
        double there;

        for (size_t i = 0; i < e->nx; i++)
            e->x_try[i] = x[i] + h * e->kick[i];
        ok = model_conditions(e->model, t, e->x_try, e->g_try) == 0 && isfinite(e->g_try[k]) && e->g_try[k] != g;
        if (ok) /* an x that was never but zero: its size is what this friction makes of it */
            e->size[k] = fmax(e->size[k], HELD_SIZE / AHEAD * fabs(e->g_try[k] - g));
        if (g == 0)
            break;
        there = ok ? -g * h / (e->g_try[k] - g) : 0;
        for (size_t i = 0; i < e->nx; i++)
            e->x_try[i] = x[i] + there * e->kick[i];
        ok = ok && model_conditions(e->model, t, e->x_try, e->g_try) == 0 && fabs(e->g_try[k]) < fabs(g);
        if (ok) {
            memcpy(x, e->x_try, e->nx * sizeof(double));
            g = e->g_try[k];
            changed = true;
        }
    }
    return changed;
}

void
events_hold_all(events *e, double t, double *x)
{
    if (!e->any_sign || e->nx == 0 || !events_look(e, t, x, e->g))
        return;
    for (size_t i = 0; i < e->watched.n; i++) {
        uint32_t k = e->watched.at[i];

        if (e->mode[k].kind == MODE_SIGN && events_sticks(e, k) && hold(e, k, t, x) && !events_look(e, t, x, e->g))
            return;
    }
    e->drift = 0;
}
