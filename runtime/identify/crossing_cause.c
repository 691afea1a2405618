/* crossing_cause.c - which condition determines the time of an event, and what happens there: several by coincidence
 * are taken apart */
#include <math.h>
#include <string.h>

#include "crossing_inside.h"
#include "joined.h"

/* TIME_MOVE, relative to the step of differences: the shift in time that measures how fast conditions change. Relative
 * to the length of the run: NEAR, how near in time a condition that switched is to its border, and AT_BORDER, one that
 * switched back at once, or with others. */
static const double TIME_MOVE = 1e-2, NEAR = 1e-4, AT_BORDER = 1e-9;
/* Rates that differ by less than this, relatively, are the same. */
static const double SAME = 1e-12;
/* A state that ideal switches move by less, in parts of its usual size, stays where it is. */
static const double MOVE_BY_ROUNDING = 1e-6;
/* A condition that would need this many times the length of the run to change by its own size only touches its border:
 * the time of the event is then undetermined. */
static const double TOUCHES = 1e6;

/* Distance of condition k with value g from its border. */
static double
from_border(const struct model_mode *mode, double g)
{
    double away = fabs(g);

    if (mode->kind == MODE_FLOOR)
        return fabs(g - round(g));
    if (mode->kind == MODE_STICK)
        return fabs(1 - away);
    for (size_t i = 0; mode->kind == MODE_PIECE && mode->table && i < mode->table->n; i++)
        away = i ? fmin(away, fabs(g - mode->table->x[i])) : fabs(g - mode->table->x[0]);
    return away;
}

/* Evaluates the conditions a little before and after c into w->g, with modes and rates as before the event. False: they
 * are not defined. */
static bool
look_before_and_after(crossings *w, const crossing *c, double *d)
{
    *d = TIME_MOVE * MOVE * w->length;
    for (int side = 0; side < 2; side++) {
        double e = side ? -*d : *d;

        for (size_t i = 0; i < w->nx; i++)
            w->moved[i] = c->x[i] + e * c->rate[0][i];
        if (model_conditions_raw(w->m, c->t + e, w->moved, w->g[side]) != 0)
            return false;
    }
    return true;
}

/* After look_around: the distance in time of condition k from its border, and its slope. False: it only touches the
 * border, or nothing is known. */
static bool
crosses(const crossings *w, size_t k, double d, double *away, double *slope)
{
    double g = (w->g[0][k] + w->g[1][k]) / 2, dg = (w->g[0][k] - w->g[1][k]) / (2 * d);
    struct model_mode mode = model_mode(w->m, k);

    if (isfinite(g))
        w->size[k] = fmax(w->size[k], fabs(g));
    *slope = dg;
    *away = from_border(&mode, g) / fabs(dg);
    return mode.kind != MODE_GIVEN && isfinite(dg) && fabs(dg) * w->length * TOUCHES > w->size[k];
}

/* Did condition k change? Where x comes to rest at zero, sign(x) keeps its side and its MODE_STICK turns on. */
static bool
changed(const crossings *w, const crossing *c, size_t k)
{
    struct model_mode mode = model_mode(w->m, k);

    return c->modes[k] != c->modes_after[k] ||
           (mode.kind == MODE_SIGN && c->modes[mode.partner] == 0 && c->modes_after[mode.partner] != 0);
}

/* Finds the condition that caused the event: among those that changed, the one nearest to its border in time. A
 * condition that made the states jump may have changed back at once; it is at its border. */
static void
find_trigger(crossings *w, crossing *c, bool jumped)
{
    double d, least = NEAR * w->length, away, slope;

    for (size_t k = look_before_and_after(w, c, &d) ? 0 : w->nmodes; k < w->nmodes; k++) {
        bool same = !changed(w, c, k);

        if (!crosses(w, k, d, &away, &slope) || (same && !jumped))
            continue;
        if (away < (same ? fmin(least, AT_BORDER * w->length) : least)) {
            least = away;
            c->trigger = k;
            c->slope = slope;
        }
    }
}

/* Did a mode change that a condition sets? */
static bool
switched(const crossings *w, const crossing *c)
{
    for (size_t k = 0; k < w->nmodes; k++)
        if (c->modes[k] != c->modes_after[k] && model_mode(w->m, k).kind != MODE_GIVEN)
            return true;
    return false;
}

/* Rates on both sides of c, and whether its time matters. Leaves the modes as before the event. */
static bool
take_rates(crossings *w, crossing *c, const double *after, bool *jumped)
{
    bool fine;

    *jumped = false;
    set_crossing_modes(w, c->modes_after);
    fine = model_rhs(w->m, c->t, after, c->rate[1]) == 0;
    set_crossing_modes(w, c->modes);
    fine = fine && model_rhs(w->m, c->t, c->x, c->rate[0]) == 0;
    for (size_t i = 0; i < w->nx; i++)
        *jumped |= c->x[i] != after[i];
    c->smooth = c->fired.n == 0 && !*jumped;
    for (size_t i = 0; i < w->nx && c->smooth; i++)
        c->smooth = fabs(c->rate[1][i] - c->rate[0][i]) <= SAME * fmax(fabs(c->rate[0][i]), fabs(c->rate[1][i]));
    return fine;
}

/* Do ideal switches move no state, but for rounding? Of one that has rested so far, its rates tell the size. */
static bool
states_stay(const crossings *w, const crossing *c, const double *after)
{
    bool fine = true;

    for (size_t i = 0; i < w->nx && fine; i++) {
        double change = RUN_SHARE * w->length * fmax(fabs(c->rate[0][i]), fabs(c->rate[1][i]));

        fine = fabs(after[i] - c->x[i]) <= MOVE_BY_ROUNDING * fmax(fmax(w->scale[i], fabs(c->x[i])), change);
    }
    return fine;
}

static crossing
crossing_at(const crossings *w, double t, const double *x, const double *modes, const double *modes_after)
{
    return (crossing){ .t = t,
                       .x = crossing_copy(x, w->nx),
                       .modes = crossing_copy(modes, w->nmodes),
                       .modes_after = crossing_copy(modes_after, w->nmodes),
                       .rate = { bg_calloc(w->nx + 1, sizeof(double)), bg_calloc(w->nx + 1, sizeof(double)) },
                       .trigger = NO_INDEX,
                       .sample = NO_INDEX };
}

/* ---------------------------------------------------------------- several events at one instant */

/* Conditions that reach their borders at one instant by coincidence; each has a time of its own. */
struct apart {
    VEC(size_t) trigger; /* in the order of their effects: of what fires last */
    VEC(size_t) owner;   /* for each firing: its place in `trigger` */
};

/* Does condition k alone cause the firing? */
static bool
starts_crossing(crossings *w, const crossing *c, const firing *f, size_t k)
{
    bool yes;

    if (f->modes[k] == c->modes[k])
        return false;
    set_crossing_modes(w, c->modes);
    model_modes(w->m)[k] = f->modes[k];
    yes = model_reinits(w->m, c->t, f->x, w->reinit[0]) == 0 && w->reinit[0][f->when] != 0;
    set_crossing_modes(w, c->modes);
    return yes;
}

/* Splits c into crossings with one condition each. False: it is one, or its effects cannot be separated. */
static bool
find_apart(crossings *w, const crossing *c, struct apart *a)
{
    VEC(size_t) at_border = { 0 };
    double d, away, slope;
    bool apart = c->sample == NO_INDEX && !c->kicked && look_before_and_after(w, c, &d);

    for (size_t k = 0; k < w->nmodes && apart; k++) {
        struct model_mode mode = model_mode(w->m, k);
        bool turned = c->modes[k] != c->modes_after[k];
        enum mode_kind kind = mode.kind;

        if (mode.relay && c->modes_after[mode.partner] == 0) /* not sliding: its condition alone counts */
            continue;

        for (size_t j = 0; j < c->fired.n && !turned; j++)
            turned = c->fired.at[j].modes[k] != c->modes[k];
        if (!turned || !crosses(w, k, d, &away, &slope) || away > AT_BORDER * w->length)
            continue;
        vec_push(&at_border, k);
        apart = kind != MODE_SIGN && kind != MODE_STICK;
    }
    apart = apart && at_border.n > 1;
    for (int fires = 0; fires < 2 && apart; fires++) {
        if (!fires)
            for (size_t i = 0; i < at_border.n; i++) {
                bool any = false;

                for (size_t j = 0; j < c->fired.n && !any; j++)
                    any = starts_crossing(w, c, &c->fired.at[j], at_border.at[i]);
                if (!any)
                    vec_push(&a->trigger, at_border.at[i]);
            }
        for (size_t j = 0; j < c->fired.n && fires && apart; j++) {
            size_t k = NO_INDEX, last = a->owner.n ? a->owner.at[a->owner.n - 1] : NO_INDEX;

            for (size_t i = 0; i < at_border.n && k == NO_INDEX; i++)
                if (starts_crossing(w, c, &c->fired.at[j], at_border.at[i]))
                    k = at_border.at[i];
            /* caused by an earlier one: happens with it */
            if (k == NO_INDEX ? last == NO_INDEX : last != NO_INDEX && a->trigger.at[last] == k) {
                apart = k != NO_INDEX;
                vec_push(&a->owner, last);
                continue;
            }
            if (k != NO_INDEX) {
                for (size_t i = 0; i < a->trigger.n; i++)
                    apart &= a->trigger.at[i] != k;
                vec_push(&a->trigger, k);
                last = a->trigger.n - 1;
            }
            vec_push(&a->owner, last);
        }
    }
    vec_free(&at_border);
    return apart && a->trigger.n > 1;
}

/* Evaluates c as one crossing for each of its conditions, one after the other. */
static bool
cross_apart(crossings *w, crossing *c, const struct apart *a, const double *after, crossing *part)
{
    const double *x = c->x, *modes = c->modes;
    size_t j = 0;
    bool fine = true, jumped;

    for (size_t p = 0; p < a->trigger.n; p++) {
        size_t first = j, k = a->trigger.at[p];
        double d, away;

        while (j < c->fired.n && a->owner.at[j] == p)
            j++;
        part[p] = crossing_at(w, c->t, x, modes, modes);
        part[p].modes_after[k] = c->modes_after[k];
        if (p + 1 == a->trigger.n && w->nmodes)
            memcpy(part[p].modes_after, c->modes_after, w->nmodes * sizeof *modes);
        for (size_t f = first; f < j; f++)
            vec_push(&part[p].fired, c->fired.at[f]);
        x = j == first ? x : j < c->fired.n ? c->fired.at[j].x : after;
        modes = part[p].modes_after;
        fine = fine && take_rates(w, &part[p], x, &jumped) && look_before_and_after(w, &part[p], &d);
        if (fine && !part[p].smooth && crosses(w, k, d, &away, &part[p].slope))
            part[p].trigger = k;
        w->lost += fine && !part[p].smooth && part[p].trigger == NO_INDEX;
    }
    c->fired.n = 0; /* theirs now */
    return fine;
}

/* The same where ideal switches act: those of nets that have nothing in common each switch at a time of their own, and
 * so do conditions that no net reads. Their causes, by the first mode of each set, into w->cause. Returns their number.
 */
static size_t
find_nets_apart(crossings *w, const crossing *c)
{
    size_t n = 0;
    double d, away, slope;

    for (size_t k = 0; k < w->nmodes; k++)
        w->cause[k] = NO_INDEX;
    if (!c->kicked || c->fired.n || c->sample != NO_INDEX || !look_before_and_after(w, c, &d))
        return 0;
    for (size_t k = 0; k < w->nmodes; k++) {
        size_t set = joined_first(w->sets, k);

        if (c->modes[k] == c->modes_after[k] || !crosses(w, k, d, &away, &slope) || away > AT_BORDER * w->length)
            continue;
        if (w->cause[set] != NO_INDEX && away >= w->away[set])
            continue;
        n += w->cause[set] == NO_INDEX;
        w->cause[set] = k;
        w->away[set] = away;
    }
    return n;
}

/* Evaluates c as one crossing for each of these, one after the other. What switches without a cause of its own follows
 * from the others and switches with the last. */
static bool
take_nets_apart(crossings *w, const crossing *c, const double *after, crossing *part, size_t n)
{
    double *x = crossing_copy(c->x, w->nx);
    const double *modes = c->modes;
    size_t p = 0;
    bool fine = true, jumped;

    for (size_t set = 0; set < w->nmodes && fine; set++) {
        double d, away;
        crossing *now = &part[p];

        if (w->cause[set] == NO_INDEX)
            continue;
        *now = crossing_at(w, c->t, x, modes, modes);
        now->kicked = crossing_copy(x, w->nx);
        for (size_t k = 0; k < w->nmodes; k++)
            if (p + 1 == n || joined_first(w->sets, k) == set)
                now->modes_after[k] = c->modes_after[k];
        set_crossing_modes(w, now->modes_after);
        if (p + 1 == n && w->nx)
            memcpy(x, after, w->nx * sizeof *x);
        else
            fine = model_kick(w->m, c->t, x) == 0;
        fine = fine && take_rates(w, now, x, &jumped) && look_before_and_after(w, now, &d);
        now->smooth = false;
        if (fine && crosses(w, w->cause[set], d, &away, &now->slope))
            now->trigger = w->cause[set];
        now->still = states_stay(w, now, x);
        w->lost += fine && now->trigger == NO_INDEX;
        modes = now->modes_after;
        p++;
    }
    free(x);
    return fine;
}

bool
crossings_jump(crossings *w, double t, const double *x, const double *modes, const double *after, crossing **part,
               size_t *n)
{
    crossing *c = *part = bg_calloc(1, sizeof *c);
    struct apart a = { 0 };
    size_t nets;
    bool fine, jumped;

    *n = 1;
    *c = crossing_at(w, t, x, modes, model_modes(w->m));
    c->kicked = model_has_nets(w->m) ? crossing_copy(w->fired.n ? after : x, w->nx) : NULL;
    for (size_t i = 0; i < w->fired.n; i++) {
        vec_push(&c->fired, w->fired.at[i]);
        if (model_when(w->m, w->fired.at[i].when).kind == WHEN_SAMPLES)
            c->sample = w->fired.at[i].when;
    }
    w->fired.n = 0;
    fine = take_rates(w, c, after, &jumped);
    nets = fine ? find_nets_apart(w, c) : 0;
    if (nets > 1 || (fine && !c->smooth && find_apart(w, c, &a))) {
        crossing whole = *c;

        *n = nets > 1 ? nets : a.trigger.n;
        *part = bg_calloc(*n, sizeof **part);
        fine = nets > 1 ? take_nets_apart(w, &whole, after, *part, nets) : cross_apart(w, &whole, &a, after, *part);
        set_crossing_modes(w, whole.modes_after);
        crossing_free(&whole);
        free(c);
    } else {
        if (fine && c->sample == NO_INDEX && !c->smooth)
            find_trigger(w, c, jumped);
        c->still = c->kicked && c->fired.n == 0 && states_stay(w, c, after);
        w->lost += fine && !c->smooth && c->sample == NO_INDEX && c->trigger == NO_INDEX && switched(w, c);
        c->smooth = c->smooth && !(c->kicked && switched(w, c));
        set_crossing_modes(w, c->modes_after);
    }
    vec_free(&a.trigger);
    vec_free(&a.owner);
    return fine;
}

bool
crossings_begin(crossings *w, double t, const double *x, crossing *c)
{
    bool fired = w->fired.n > 0, nets = model_has_nets(w->m) && w->nx > 0;

    if (!fired && !nets)
        return false;
    *c = crossing_at(w, t, fired ? w->fired.at[0].x : x, fired ? w->fired.at[0].modes : model_modes(w->m),
                     model_modes(w->m));
    c->kicked = nets ? crossing_copy(x, w->nx) : NULL;
    for (size_t i = 0; i < w->fired.n; i++)
        vec_push(&c->fired, w->fired.at[i]);
    w->fired.n = 0;
    return true;
}
