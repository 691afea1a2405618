/* events_settle.c - modes found without regard to their earlier values, at the start, after jumps, or by trying */
#include <math.h>
#include <string.h>
#include <stdlib.h>

#include "events_inside.h"
#include "model_graph.h"

#define MOST_TOGETHER 12  /* all combinations are tried of so many modes, or sets of modes, at most: 2^12 */
#define MOST_ELSEWHERE 64 /* of these, so many are tried with other solutions of the equations too */
#define MOST_TRIES 64     /* modes switched for trial, one by one, where the equations have no solution */

/* ---- ideal switches ---- */

enum events_status
events_search(events *e, double t, double *x, double farther)
{
    sources *s = model_sources(e->model);
    nets_report r;

    if (!e->nets)
        return EVENTS_SAME;
    switch (model_search(e->model, t, x, events_ahead(e), farther, e->starting, &r)) {
    case NETS_SAME: return EVENTS_SAME;
    case NETS_SWITCHED: memset(e->quiet, 0, e->n * sizeof *e->quiet); return EVENTS_SWITCHED;
    case NETS_NONE:
        diag_error(s, "run-no-mode", r.at,
                   "no combination of open and closed is consistent at %.6g s, for this switch and those it acts on",
                   t);
        diag_help(s, "Look for sources that a closed switch connects, or for flows that an open switch interrupts.");
        return EVENTS_STOP;
    case NETS_REFUSED: {
        struct model_state state = model_state(e->model, r.state);

        diag_error(s, "run-jump", state.at,
                   "\"%s\" would have to jump from %s to %s at %.6g s to meet a condition that holds from then on",
                   state.name, model_state_shown(e->model, r.state, r.from).text,
                   model_state_shown(e->model, r.state, r.to).text, t);
        diag_note(s, r.at, "the condition is here");
        diag_help(s, "A stored quantity cannot vanish in an instant: give it a path (a diode or resistor beside a "
                     "coil, a resistor before a capacitor), or set it with `when ... { reinit ... }`.");
        return EVENTS_STOP;
    }
    default: return EVENTS_FAILED;
    }
}

/* Sets one gate by its condition now and a short time later, if it is contradicted, or is zero: by a jump or, where
 * `zeros`, in any way. */
static void
settle_gate(events *e, uint32_t k, double g, double ahead, bool zeros)
{
    if (e->quiet[k] > 0 && fabs(g) <= e->quiet[k])
        return;
    if (events_margin_of(e, k, g) < -CONTRADICTION * e->size[k]) {
        events_set_mode(e, k, events_right_value(e, k, g, g, false), g, ahead);
    } else if ((zeros && g == 0) || events_jumped_onto(e, k, g)) {
        events_set_mode(e, k, events_right_value(e, k, g, ahead, false), g, ahead);
        e->g_before[k] = g;
    }
}

void
events_settle_gates(events *e, double t, const double *x, enum gates_at_zero which)
{
    size_t n = e->gates.n, from = 0;
    double *g = e->g_gates, *ahead = g + n;

    for (size_t level = 0; level < e->gates_end.n; from = e->gates_end.at[level++]) {
        bool any = false, zeros = which == ZERO_OF_ALL || (which == ZERO_OF_READERS && from >= e->gates_alone);

        if (model_gates(e->model, t, x, g) != 0)
            return;
        for (size_t i = from; i < e->gates_end.at[level]; i++)
            any |= g[i] == 0;
        memcpy(ahead, g, n * sizeof *g);
        if (any && model_gates(e->model, t + events_ahead(e), x, ahead) != 0)
            return;
        for (size_t i = from; i < e->gates_end.at[level]; i++)
            if (isfinite(g[i]) && isfinite(ahead[i]))
                settle_gate(e, e->gates.at[i], g[i], ahead[i], zeros);
    }
}

/* ---- on a border ---- */

/* The value of mode k where its condition is exactly zero; of a sign(x) 0, neither side. */
static double
said_on_border(const events *e, uint32_t k)
{
    return e->mode[k].kind != MODE_LESS && e->mode[k].kind != MODE_SIGN;
}

/* Has mode k a value at zero that it could keep? */
static bool
can_say(const events *e, uint32_t k)
{
    const struct model_mode *m = &e->mode[k];

    return m->side == 0 && (m->kind == MODE_LESS || m->kind == MODE_LESS_EQUAL || m->kind == MODE_EQUAL ||
                            (m->kind == MODE_SIGN && m->relay && !events_sticks(e, k)));
}

/* Do the conditions on the x of sign(x) k together say at x = 0 what they say neither above nor below it? */
static bool
zero_is_apart(const events *e, uint32_t k)
{
    bool above = false, below = false;

    for (size_t i = 0; i < e->near.n && !(above && below); i++) {
        const struct model_mode *m = &e->mode[e->near.at[i]];
        bool less = m->kind == MODE_LESS;

        if (m->side == 0 || m->partner != e->mode[k].partner)
            continue;
        above |= m->kind == MODE_EQUAL || (m->side < 0) == less;
        below |= m->kind == MODE_EQUAL || (m->side > 0) == less;
    }
    return above && below;
}

static void
set_as_said(events *e, uint32_t k)
{
    if (e->mode[k].kind == MODE_SIGN)
        events_set_side(e, k, 0);
    else
        e->value[k] = said_on_border(e, k);
}

static bool
agrees(const events *e, uint32_t k, double g, double rounding)
{
    return e->of_net[k] || events_margin_of(e, k, g) >= -rounding;
}

/* Do all modes agree with their conditions at (t, x), and those of on_border a short time later as well? */
static bool
agrees_ahead(events *e, double t, const double *x)
{
    bool all = events_look(e, t, x, e->g_try);
    double d;

    for (size_t i = 0; i < e->near.n && all; i++)
        all = agrees(e, e->near.at[i], e->g_try[e->near.at[i]], CONTRADICTION * e->size[e->near.at[i]]);
    all = all && events_look_ahead(e, t, x, &d);
    for (size_t i = 0; i < e->on_border.n && all; i++) {
        uint32_t k = e->on_border.at[i];

        all = agrees(e, k, e->g_ahead[k], CONTRADICTION * e->size[k]);
    }
    return all;
}

/* Lists in on_border the conditions that are zero (e->g_try), among those about to switch or, at the start, among all.
 * True: at zero they say together neither what they say now nor what they would say after switching. */
static bool
find_borders(events *e)
{
    size_t n = e->starting ? e->near.n : e->turn.n;
    bool from = false, to = false;

    e->on_border.n = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t k = e->starting ? e->near.at[i] : e->turn.at[i];
        bool apart = e->mode[k].kind == MODE_EQUAL || (e->mode[k].kind == MODE_SIGN && zero_is_apart(e, k)),
             said = e->value[k] == said_on_border(e, k);

        if (!can_say(e, k) || (e->starting && e->of_net[k]) || !(fabs(e->g_try[k]) <= CONTRADICTION * e->size[k]))
            continue;
        vec_push(&e->on_border, k);
        from |= apart || e->starting || !said;
        to |= apart || e->starting || said;
    }
    return from && to;
}

bool
events_stay_on_border(events *e, double t, double *x)
{
    bool alone = !e->starting && e->turn.n == 1 && e->mode[e->turn.at[0]].kind != MODE_EQUAL &&
                 e->mode[e->turn.at[0]].kind != MODE_SIGN;
    nets_report r;
    enum nets_status found;

    if (!e->nets || alone || !events_look(e, t, x, e->g_try) || !find_borders(e))
        return false;
    memcpy(e->value_kept, e->value, e->n * sizeof(double));
    memcpy(e->x_kept, x, e->nx * sizeof(double));
    for (size_t i = 0; i < e->near.n && e->starting; i++) { /* set for the first time */
        uint32_t k = e->near.at[i];

        if (!e->of_net[k] && (can_say(e, k) || events_stepped(&e->mode[k])) && e->mode[k].kind != MODE_SIGN)
            e->value[k] = events_right_value(e, k, e->g_try[k], e->g_try[k], false);
    }
    for (size_t i = 0; i < e->on_border.n; i++)
        set_as_said(e, e->on_border.at[i]);
    found = model_search(e->model, t, x, events_ahead(e), 1, e->starting, &r);
    if ((found == NETS_SAME || found == NETS_SWITCHED) && !r.jumped && agrees_ahead(e, t, x))
        return true;
    memcpy(e->value, e->value_kept, e->n * sizeof(double));
    memcpy(x, e->x_kept, e->nx * sizeof(double));
    return false;
}

/* ---- trials ---- */

/* Modes in sets that switch together: set i ends before end[i]. */
struct sets {
    VEC(uint32_t) mode, end;
};

static int
compare_forms(const void *a, const void *b, void *ctx)
{
    const events *e = ctx;
    uint32_t k = *(const uint32_t *)a, l = *(const uint32_t *)b, x = e->mode[k].form, y = e->mode[l].form;

    return x != y ? (x > y) - (x < y) : (k > l) - (k < l);
}

/* Makes sets of s->mode: each mode alone, or all modes of one form together. Ten equal parts in series, or in parallel,
 * switch at one instant. */
static void
divide(events *e, bool alone, struct sets *s)
{
    s->end.n = 0;
    if (!alone && s->mode.n > 1)
        qsort_r(s->mode.at, s->mode.n, sizeof *s->mode.at, compare_forms, e);
    for (uint32_t i = 1; i <= s->mode.n; i++) {
        bool more = !alone && i < s->mode.n && e->mode[s->mode.at[i]].form == e->mode[s->mode.at[i - 1]].form;

        if (!more)
            vec_push(&s->end, i);
    }
}

static void
free_sets(struct sets *s)
{
    vec_free(&s->mode);
    vec_free(&s->end);
}

/* Switches the first mode of a set, and gives the others the same value. False: the equations have no solution then or,
 * unless `any`, one of these modes is contradicted; the modes are as before. */
static bool
turn_set(events *e, double t, const double *x, const uint32_t *k, size_t n, bool any)
{
    double to = e->value[k[0]] == 0;
    bool found;

    memcpy(e->value_kept, e->value, e->n * sizeof(double));
    for (size_t i = 0; i < n; i++)
        e->value[k[i]] = to;
    found = events_look(e, t, x, e->g);
    for (size_t i = 0; i < n && found && !any; i++)
        found = events_margin_of(e, k[i], e->g[k[i]]) >= 0;
    if (!found)
        memcpy(e->value, e->value_kept, e->n * sizeof(double));
    return found;
}

/* One pass of events_look_around over modes that have not just switched; any: as of turn_set. */
static bool
look_around(events *e, double t, const double *x, bool any, bool alone)
{
    struct sets s = { 0 };
    bool found = false;

    for (size_t i = 0; i < e->near.n && !(alone && i == MOST_TRIES); i++) {
        uint32_t k = e->near.at[i];

        if (!e->of_net[k] && (e->mode[k].kind == MODE_LESS || e->mode[k].kind == MODE_LESS_EQUAL) &&
            e->value[k] == e->value_before[k])
            vec_push(&s.mode, k);
    }
    divide(e, alone, &s);
    for (size_t i = 0; i < s.end.n && i < MOST_TRIES && !found; i++) {
        uint32_t from = i > 0 ? s.end.at[i - 1] : 0, n = s.end.at[i] - from;

        found = (alone || n > 1) && turn_set(e, t, x, s.mode.at + from, n, any);
    }
    free_sets(&s);
    return found;
}

bool
events_look_around(events *e, double t, const double *x)
{
    bool found = false;

    for (size_t i = 0; e->turn.n > 1 && i < e->turn.n && !found; i++) {
        uint32_t k = e->turn.at[i];
        double other = e->value[k];

        if (e->of_net[k] || events_stepped(&e->mode[k]) || e->mode[k].kind == MODE_SIGN ||
            e->mode[k].kind == MODE_STICK)
            continue;
        memcpy(e->g_try, e->value, e->n * sizeof(double));
        memcpy(e->value, e->value_before, e->n * sizeof(double));
        e->value[k] = other;
        found = events_look(e, t, x, e->g);
        if (!found)
            memcpy(e->value, e->g_try, e->n * sizeof(double));
    }
    /* first a mode that agrees once it is switched (a diode); only then one that time or a state would switch back (the
     * contact beside it) */
    for (int any = 0; any < 2 && !found; any++)
        for (int alone = 0; alone < 2 && !found; alone++)
            found = look_around(e, t, x, any, alone);
    return found;
}

/* The number of watched modes that are contradicted at (t, x); SIZE_MAX: the equations have no solution. A sign(x)
 * needs an x that is clearly not zero: at zero, both sides would do. */
static size_t
disagreeing(events *e, double t, const double *x)
{
    size_t n = 0;

    if (!events_look(e, t, x, e->g))
        return SIZE_MAX;
    for (size_t i = 0; i < e->near.n; i++) {
        uint32_t k = e->near.at[i];
        double least = (e->mode[k].kind == MODE_SIGN ? CONTRADICTION : -CONTRADICTION) * e->size[k];

        n += !e->of_net[k] && !(events_margin_of(e, k, e->g[k]) >= least);
    }
    return n;
}

/* Blocks of equations may have several solutions with the modes held, and Newton's method may have found one in which
 * the modes are contradicted. Takes for each block the solution with the fewest contradictions, from which it is solved
 * henceforth. True: none is left. */
static bool
agrees_elsewhere(events *e, double t, const double *x)
{
    size_t before = disagreeing(e, t, x);
    struct model_choice *c = model_choice_new(e->model, t, x, true);
    struct model_solutions s;

    while (before > 0 && model_choice_next(c, &s)) {
        const double *best = NULL;

        for (size_t i = 0; i < s.n && before > 0; i++) {
            const double *z = s.other + i * s.unknowns;
            size_t n;

            model_choose(c, z);
            n = disagreeing(e, t, x);
            best = n < before ? z : best;
            before = n < before ? n : before;
        }
        model_choose(c, best);
    }
    model_choice_free(c);
    return before == 0;
}

/* Sets mode k to the earlier value of the first mode of its set, or to the opposite of that. */
static void
set_otherwise(events *e, uint32_t k, uint32_t first, bool other)
{
    double before = e->value_before[first];

    if (e->mode[k].kind == MODE_SIGN)
        events_set_side(e, k, other ? -before : before);
    else
        e->value[k] = other ? before == 0 : before;
}

/* Tries the combinations of the sets, those with the fewest changes first. elsewhere: with other solutions of the
 * equations too, MOST_ELSEWHERE combinations at most. */
static bool
combine_sets(events *e, double t, const double *x, const struct sets *s, bool elsewhere)
{
    size_t tries = elsewhere ? MOST_ELSEWHERE : SIZE_MAX;
    bool found = false;

    for (unsigned changes = 0; changes <= s->end.n && !found; changes++)
        for (uint32_t set = 0; set < 1u << s->end.n && !found; set++) {
            if ((unsigned)__builtin_popcount(set) != changes || tries == 0)
                continue;
            tries--;
            for (size_t i = 0, k = 0; i < s->end.n; i++)
                for (size_t first = k; k < s->end.at[i]; k++)
                    set_otherwise(e, s->mode.at[k], s->mode.at[first], set >> i & 1);
            found = elsewhere ? agrees_elsewhere(e, t, x) : disagreeing(e, t, x) == 0;
        }
    for (size_t k = 0; k < s->mode.n && !found; k++)
        set_otherwise(e, s->mode.at[k], s->mode.at[k], false);
    return found;
}

bool
events_look_everywhere(events *e, double t, const double *x)
{
    struct sets s = { 0 };
    bool found = false;

    for (size_t i = 0; i < e->near.n; i++) {
        uint32_t k = e->near.at[i];

        if ((e->mode[k].kind == MODE_LESS || e->mode[k].kind == MODE_LESS_EQUAL) && !e->of_net[k] &&
            e->mode[k].side == 0)
            vec_push(&s.mode, k);
        if (e->mode[k].kind == MODE_SIGN && !events_sticks(e, k) && e->value[k] != 0)
            vec_push(&s.mode, k);
    }
    memcpy(e->value_before, e->value, e->n * sizeof(double));
    for (int elsewhere = 0; elsewhere <= model_has_blocks(e->model) && !found; elsewhere++)
        for (int alone = 0; alone < 2 && !found; alone++) {
            divide(e, alone, &s);
            found = s.end.n <= MOST_TOGETHER && (alone || s.end.n < s.mode.n) && combine_sets(e, t, x, &s, elsewhere);
        }
    free_sets(&s);
    return found;
}

/* Conditions that rest on their borders are set for the first time: what rubs elsewhere may be at rest too. */
static void
settle_other_signs(events *e, double t, const double *x)
{
    if (!events_look(e, t, x, e->g))
        return;
    for (size_t i = 0; i < e->near.n; i++) {
        uint32_t k = e->near.at[i];
        bool apart = e->mode[k].kind == MODE_SIGN;

        for (size_t j = 0; j < e->on_border.n && apart; j++)
            apart = e->on_border.at[j] != k;
        if (apart)
            events_settle_sign(e, k, t, x, e->g[k], 0);
    }
}

enum events_status
events_settle_right(events *e, double t, double *x, bool jumped)
{
    bool any = false;
    double d, border = jumped ? CONTRADICTION : 0; /* of a condition's size: an event is located no better than this */

    e->turn.n = 0;
    memcpy(e->value_before, e->value, e->n * sizeof(double));
    for (int round = 0; round < ROUNDS; round++) {
        bool changed = false, ahead = false;
        enum events_status found;

        events_settle_gates(e, t, x, round == 0 && !jumped ? ZERO_OF_ALL : ZERO_BY_JUMP);
        found = events_search(e, t, x, 1);
        if (found == EVENTS_FAILED && e->starting && round == 0 && /* other equations have no solution in their modes */
            (events_look_around(e, t, x) || events_look_everywhere(e, t, x)))
            found = events_search(e, t, x, 1);
        if (found == EVENTS_FAILED || found == EVENTS_STOP)
            return found;
        changed = found == EVENTS_SWITCHED || ((round == 0 || round > CHASING) && events_stick_together(e, t, x));
        if (!events_look_released(e, t, x) && !events_look_around(e, t, x) &&
            !(e->starting && events_look_everywhere(e, t, x)))
            return EVENTS_FAILED;
        events_note_sizes(e, e->g);
        if (e->starting && round >= CHASING) /* equations with several solutions: the next one starts from here */
            model_accept(e->model, t, x);
        if (round == 0 && e->starting && events_stay_on_border(e, t, x)) {
            settle_other_signs(e, t, x);
            return EVENTS_SWITCHED;
        }
        for (size_t i = 0; i < e->near.n; i++) {
            uint32_t k = e->near.at[i];
            if (e->of_net[k])
                continue;
            if (jumped && fabs(e->g[k]) <= border * e->size[k] && !events_stepped(&e->mode[k]))
                e->g[k] = 0;
            ahead |= events_at_border(e, k, e->g[k]);
        }
        memcpy(e->g_ahead, e->g, e->n * sizeof(double));
        if (ahead && !(jumped ? events_look_aside(e, t, x) : events_look_ahead(e, t, x, &d)))
            memcpy(e->g_ahead, e->g, e->n * sizeof(double));
        for (size_t i = 0; i < e->near.n; i++) {
            uint32_t k = e->near.at[i];
            double now = events_right_value(e, k, e->g[k], e->g_ahead[k], jumped && !events_jumped_onto(e, k, e->g[k])),
                   before = e->value[k];
            bool switched;

            if (now != before && round > CHASING && events_rests(e, k, t, x, e->g[k]))
                continue;
            if (e->of_net[k] || (round > ROUNDS / 2 && changed))
                continue; /* from here on one a round: together they may undo one another */
            if (e->mode[k].kind == MODE_STICK)
                continue;
            if (e->mode[k].kind == MODE_SIGN) {
                switched = events_settle_sign(e, k, t, x, e->g[k], border * e->size[k]);
            } else {
                events_set_mode(e, k, now, e->g[k], e->g_ahead[k]);
                switched = now != before;
            }
            changed |= switched;
            if (switched && round == ROUNDS - 1) {
                if (events_look_everywhere(e, t, x))
                    return EVENTS_SWITCHED;
                events_report_chatter(e, k, t);
                return EVENTS_STOP;
            }
        }
        any |= changed;
        if (!changed)
            break;
    }
    return any ? EVENTS_SWITCHED : EVENTS_SAME;
}

/* Sets known modes to their values just after the time `known`, and watched ones so that all agree at (t, x). */
static enum events_status
set_all(events *e, double known, double t, double *x)
{
    events_set_all_known(e, known);
    return e->watched.n || e->nets ? events_settle_right(e, t, x, false) : EVENTS_SAME;
}

/* Gives comparisons that are exactly zero at (t, x) their value at zero, not the one just after. False: conditions
 * cannot be evaluated. */
static bool
set_exactly(events *e, double t, const double *x)
{
    for (int round = 0; round < ROUNDS; round++) {
        bool changed = false;

        if (!events_look(e, t, x, e->g))
            return false;
        for (size_t i = 0; i < e->near.n; i++) {
            uint32_t k = e->near.at[i];
            double before = e->value[k];

            if (e->g[k] == 0 && !e->of_net[k] && (e->mode[k].kind == MODE_LESS || e->mode[k].kind == MODE_LESS_EQUAL))
                e->value[k] = e->mode[k].kind == MODE_LESS_EQUAL;
            changed |= e->value[k] != before;
        }
        if (!changed)
            break;
    }
    return true;
}

/* A `when` whose condition is true at the start already has not turned true, so it does not act, except where time
 * makes the condition true at the start itself. Therefore conditions are evaluated first with the known modes of just
 * before t, and exactly at t for comparisons that are zero: such a one turns true just after t, if at all. */
enum events_status
events_start(events *e, double t, double *x)
{
    enum events_status status;

    e->t = t;
    e->starting = true;
    for (uint32_t k = 0; k < e->n; k++) /* much is zero at the start: the search begins with the modes at zero */
        if (e->of_net[k] && e->mode[k].kind == MODE_LESS_EQUAL)
            e->value[k] = 1;
    if (e->nwhens > 0) {
        enum events_status before = set_all(e, t - 2 * events_tiny(e, t), t, x);

        if (before == EVENTS_FAILED || before == EVENTS_STOP)
            return before;
        if (!set_exactly(e, t, x) || model_reinits(e->model, t, x, e->reinit) != 0)
            return EVENTS_FAILED;
        for (size_t w = 0; w < e->nwhens; w++) {
            e->held[w] = e->reinit[w] != 0;
            if (e->held[w] && e->when[w].kind == WHEN_ASSERTS) {
                events_fail_assertion(e, w, t, x);
                return EVENTS_STOP;
            }
            if (e->held[w] && e->when[w].kind == WHEN_STOPS)
                diag_warn(model_sources(e->model), "run-stop", e->when[w].at,
                          "\"%s\" is true at the start already: the run stops when it becomes true again",
                          e->when[w].text);
        }
    }
    status = set_all(e, t, t, x);
    e->starting = false;
    return status;
}

size_t
events_others(const events *e, uint32_t k, double *value, size_t n)
{
    const struct model_mode *m = &e->mode[k];
    size_t found = 0;

    if (m->known || e->of_net[k] || m->side != 0 || n == 0)
        return 0;
    if (m->kind == MODE_LESS || m->kind == MODE_LESS_EQUAL) {
        *value = e->value[k] == 0;
        return e->g[k] != 0; /* at zero its value is given, and the other one is no solution */
    }
    for (double far = 1; m->kind == MODE_PIECE && far <= (double)m->table->n && found < n; far++)
        for (int side = -1; side <= 1 && found < n; side += 2) {
            double piece = e->value[k] + side * far;

            if (piece >= 0 && piece <= (double)m->table->n)
                value[found++] = piece;
        }
    return found;
}
