/* events.c - see events.h */
#include <float.h>
#include <math.h>
#include <string.h>

#include "events_inside.h"

/* Where a watched mode contradicts what the search for modes of ideal switches finds consistent, the search is repeated
 * with a look ahead that is FARTHER times as long, up to FARTHEST times the usual one. */
#define FARTHER 100.0
#define FARTHEST 1e4
/* How much more than a contradiction a margin has to be to be no rounding, and how far behind a fold is looked, of the
 * run */
#define CLEARLY 10
#define AFTER_FOLD 1e-6
/* of the change that the states' tolerances make in a condition: a condition that stayed nearer to zero is there by
 * rounding */
#define MET_BY_ROUNDING 3e-2
#define DOUBTFUL 10    /* the same: what a step's interpolation may be off by */
#define LAST_BITS 1e-2 /* of what rounding may leave of a condition, which is generous: what the last bits may */

double
events_tiny(const events *e, double t)
{
    return 8 * DBL_EPSILON * fmax(fabs(t), e->stop - e->start);
}

double
events_ahead(const events *e)
{
    return AHEAD * (e->stop - e->start);
}

/* ---- making ---- */

events *
events_new(bg_model *m, double start, double stop)
{
    events *e = bg_calloc(1, sizeof *e);
    size_t n = model_nmodes(m), nx = model_nstates(m);

    e->model = m;
    e->n = n;
    e->nx = nx;
    e->last = e->stopped = NO_INDEX;
    e->start = e->t = start;
    e->stop = stop;
    e->mode = bg_calloc(n + 1, sizeof *e->mode);
    e->noted = bg_calloc(n + 1, sizeof *e->noted);
    e->plain = bg_calloc(n + 1, sizeof *e->plain);
    e->far = bg_calloc(n + 1, sizeof *e->far);
    e->g = bg_calloc(n + 1, sizeof(double));
    e->trail.last = bg_calloc(n + 1, sizeof *e->trail.last);
    e->trail.margin = bg_calloc(n + 1, sizeof *e->trail.margin);
    e->size = bg_calloc(n + 1, sizeof(double));
    e->size_other = bg_calloc(n + 1, sizeof(double));
    e->sized = bg_calloc(n + 1, sizeof(double));
    e->sign = bg_calloc(n + 1, sizeof(double));
    e->g_before = bg_calloc(n + 1, sizeof(double));
    e->g_ahead = bg_calloc(n + 1, sizeof(double));
    e->x_ahead = bg_calloc(nx + 1, sizeof(double));
    e->f = bg_calloc(nx + 1, sizeof(double));
    e->f_half = bg_calloc(nx + 1, sizeof(double));
    e->marked = bg_calloc(n + 1, sizeof *e->marked);
    e->count = bg_calloc(n + 1, sizeof *e->count);
    e->turned_at = bg_calloc(n + 1, sizeof(double));
    e->since = bg_calloc(n + 1, sizeof *e->since);
    e->passed = bg_calloc(n + 1, sizeof *e->passed);
    e->next = bg_calloc(n + 1, sizeof *e->next);
    e->value_before = bg_calloc(n + 1, sizeof(double));
    e->g_try = bg_calloc(n + 1, sizeof(double));
    e->g_aside = bg_calloc(n + 1, sizeof(double));
    e->x_try = bg_calloc(nx + 1, sizeof(double));
    e->kick = bg_calloc(nx + 1, sizeof(double));
    e->value_kept = bg_calloc(n + 1, sizeof(double));
    e->x_kept = bg_calloc(nx + 1, sizeof(double));
    e->nwhens = model_nwhens(m);
    e->nreinits = model_nreinits(m);
    e->when = bg_calloc(e->nwhens + 1, sizeof *e->when);
    e->held = bg_calloc(e->nwhens + 1, sizeof *e->held);
    e->turned = bg_calloc(e->nwhens + 1, sizeof *e->turned);
    e->reinit = bg_calloc(e->nwhens + e->nreinits + 1, sizeof(double));
    e->firing = bg_calloc(e->nwhens + 1, sizeof *e->firing);
    for (size_t w = 0; w < e->nwhens; w++) {
        e->when[w] = model_when(m, w);
        e->firing[w] = (struct firing){ .at = -INFINITY, .since = -INFINITY };
    }
    for (size_t k = 0; k < n; k++) {
        e->mode[k] = model_mode(m, k);
        e->turned_at[k] = e->since[k] = -INFINITY;
        if (!e->mode[k].known)
            vec_push(&e->watched, (uint32_t)k);
        e->any_sign |= e->mode[k].kind == MODE_SIGN;
        e->any_domain |= e->mode[k].kind == MODE_DOMAIN;
        e->noted[k] = e->mode[k].corner;
        e->plain[k] = (e->mode[k].kind == MODE_LESS || e->mode[k].kind == MODE_LESS_EQUAL) && e->mode[k].side == 0;
    }
    events_list_counting(e);
    events_make_ladders(e);
    e->value = model_modes(m);
    e->samples = samples_new(m, start, stop);
    e->nets = model_has_nets(m);
    e->quiet = bg_calloc(n + 1, sizeof *e->quiet);
    e->little = bg_calloc(n + 1, sizeof *e->little);
    e->most = bg_calloc(n + 1, sizeof *e->most);
    e->of_net = bg_calloc(n + 1, sizeof *e->of_net);
    e->passing = bg_calloc(n + 1, sizeof *e->passing);
    e->follows = bg_calloc(n + 1, sizeof *e->follows);
    for (size_t k = 0; k < n && e->nets; k++)
        e->of_net[k] = model_net_mode(m, k);
    for (size_t i = 0; i < model_ngates(m); i++) {
        vec_push(&e->gates, model_gate(m, i));
        if (i + 1 == model_ngates(m) || model_gate_level(m, i + 1) > model_gate_level(m, i))
            vec_push(&e->gates_end, (uint32_t)i + 1);
        e->gates_alone += model_gate_level(m, i) == 0;
    }
    e->g_gates = bg_calloc(2 * (size_t)e->gates.n + 1, sizeof(double));
    return e;
}

void
events_follow(events *e, void (*fire)(void *ctx, size_t when, bool first, const double *x), void *ctx)
{
    e->follow = fire;
    e->follow_ctx = ctx;
}

void
events_measure(events *e, double (*moves)(void *ctx, const double *dx, double time),
               void (*tolerated)(void *ctx, double *dx), void *ctx)
{
    e->moves = moves;
    e->tolerated = tolerated;
    e->moves_ctx = ctx;
}

void
events_free(events *e)
{
    if (!e)
        return;
    free(e->mode);
    free(e->g);
    free(e->size);
    free(e->trail.last);
    free(e->trail.margin);
    free(e->size_other);
    free(e->sized);
    free(e->sign);
    free(e->g_before);
    free(e->g_ahead);
    free(e->x_ahead);
    free(e->f);
    free(e->f_half);
    free(e->marked);
    free(e->quiet);
    free(e->most);
    free(e->little);
    free(e->noted);
    free(e->plain);
    free(e->far);
    events_free_ladders(e);
    free(e->of_net);
    free(e->follows);
    free(e->passing);
    free(e->count);
    free(e->turned_at);
    free(e->since);
    free(e->passed);
    free(e->next);
    free(e->first_counting);
    free(e->counting);
    free(e->value_before);
    free(e->g_try);
    free(e->g_aside);
    free(e->x_try);
    free(e->kick);
    free(e->value_kept);
    free(e->x_kept);
    vec_free(&e->on_border);
    free(e->when);
    free(e->held);
    free(e->turned);
    free(e->reinit);
    free(e->firing);
    samples_free(e->samples);
    vec_free(&e->watched);
    vec_free(&e->gates);
    vec_free(&e->gates_end);
    free(e->g_gates);
    vec_free(&e->turn);
    vec_free(&e->heap);
    free(e);
}

bool
events_watched(const events *e)
{
    return e->watched.n > 0;
}

bool
events_watches_several(const events *e)
{
    return e->near.n > 1;
}

size_t
events_last(const events *e)
{
    return e->last;
}

double
events_next(const events *e)
{
    return fmin(e->heap.n ? e->heap.at[0].t : INFINITY, samples_next(e->samples));
}

bool
events_sample_due(const events *e, double t)
{
    return samples_next(e->samples) <= t + events_tiny(e, t);
}

size_t
events_stopped(const events *e)
{
    return e->stopped;
}

size_t
events_samples(const events *e)
{
    return samples_count(e->samples);
}

bool
events_check(const events *e, size_t most)
{
    return samples_check(e->samples, most, model_sources(e->model));
}

/* Switches mode k, which g contradicts at (t, x): a comparison to its other value, a numbered piece to the piece of g.
 */
static void
flip(events *e, uint32_t k, double g, double t, const double *x)
{
    const struct model_mode *m = &e->mode[k];

    if (m->kind == MODE_SIGN) {
        events_meet_zero(e, k, t, x, g);
    } else if (m->kind == MODE_STICK) {
        events_release(e, k, t, x, g);
    } else if (events_stepped(m)) {
        double piece = e->value[k], there = events_piece_of(m, g);
        if (g - events_lower_corner(m, piece) < events_upper_corner(m, piece) - g)
            e->value[k] = fmin(piece - 1, there);
        else
            e->value[k] = fmax(piece + 1, there);
    } else if (m->kind == MODE_EQUAL) {
        e->any_passing |= e->passing[k] = e->value[k] == 0 && !e->passing[k];
        e->sign[k] = e->value[k] != 0 ? (g >= 0 ? 1 : -1) : -e->sign[k];
        e->value[k] = 0;
    } else {
        e->value[k] = e->value[k] == 0;
    }
}

/* Puts into g_try the conditions at states that are moved by `part` of their tolerances, each by another random share:
 * moved alike, two equal states would leave their difference as it is. */
static bool
conditions_beside(events *e, double t, const double *x, double part)
{
    e->tolerated(e->moves_ctx, e->x_try);
    for (size_t i = 0; i < e->nx; i++)
        e->x_try[i] = x[i] + part * (double)(int64_t)bg_hash_mix(i + 1, 47) * 0x1p-63 * e->x_try[i];
    return events_conditions(e, t, e->x_try, e->g_try);
}

/* Puts into g_aside what the tolerances of the states can do to the conditions that are to switch. */
static bool
look_beside(events *e, double t, const double *x)
{
    bool known = true;

    memset(e->g_aside, 0, e->n * sizeof *e->g_aside);
    for (int side = -1; side <= 1 && known; side += 2) {
        known = conditions_beside(e, t, x, side);
        for (size_t i = 0; i < e->turn.n && known; i++) {
            uint32_t k = e->turn.at[i];

            e->g_aside[k] = fmax(e->g_aside[k], fabs(e->g_try[k] - e->g[k]));
        }
    }
    return known;
}

/* An ideal switch beside a law that is flat or steep at zero switches again and again as long as its condition is
 * within the tolerances of zero (a vessel that is filled as fast as it drains, pressures that follow each other by
 * less than their errors). Such a switch is held until its condition exceeds what the tolerances of the states can do
 * to it, or until the search switches any mode of its net. */
static bool
stays_within_tolerance(events *e, double t, const double *x)
{
    bool soon = e->moves && e->nx, within;

    for (size_t i = 0; i < e->turn.n && soon; i++)
        soon = e->of_net[e->turn.at[i]] && t - e->turned_at[e->turn.at[i]] < SOON_AGAIN * (e->stop - e->start);
    soon = within = soon && look_beside(e, t, x);
    for (size_t i = 0; i < e->turn.n; i++) {
        uint32_t k = e->turn.at[i];
        bool now = soon && fabs(e->g[k]) <= e->g_aside[k];

        if (!e->of_net[k])
            continue;
        e->little[k] = now && e->most[k] <= e->g_aside[k] ? e->little[k] + 1 : 0;
        e->most[k] = 0;
        within = within && now && (e->little[k] > CHATTERS || e->count[k] > CHATTERS);
    }
    for (size_t i = 0; i < e->turn.n && within; i++)
        e->quiet[e->turn.at[i]] = e->g_aside[e->turn.at[i]];
    return within;
}

/* Have the conditions that are to switch stayed so near to zero since their last switching that rounding alone moves
 * them? The measure is what the tolerances of the states do to them. A condition of time alone does not pass: the
 * states do nothing to it. */
static bool
met_by_rounding(events *e, double t, const double *x)
{
    bool rounding = true;

    if (!conditions_beside(e, t, x, 1))
        return false;
    for (size_t i = 0; i < e->turn.n && rounding; i++) {
        uint32_t k = e->turn.at[i];

        rounding = fmax(e->most[k], fabs(e->g[k])) <= MET_BY_ROUNDING * fabs(e->g_try[k] - e->g[k]);
    }
    return rounding;
}

static void
flip_all(events *e, double t, const double *x)
{
    for (size_t i = 0; i < e->turn.n; i++)
        flip(e, e->turn.at[i], e->g[e->turn.at[i]], t, x);
}

/* Would switching change nothing within the tolerances, as far as the conditions have been from zero? The rates of both
 * modes are compared at the moved states that met_by_rounding left in x_try, since at the corner itself they differ by
 * rounding only. The modes are switched afterwards. */
static bool
moves_nothing(events *e, double t, const double *x)
{
    double part = 0;
    bool known = model_rhs(e->model, t, e->x_try, e->f) == 0;

    flip_all(e, t, x);
    known = known && model_rhs(e->model, t, e->x_try, e->f_half) == 0;
    for (size_t i = 0; i < e->nx && known; i++)
        e->f[i] = e->f_half[i] - e->f[i];
    for (size_t i = 0; i < e->turn.n; i++)
        part = fmax(part, e->most[e->turn.at[i]] / fabs(e->g_try[e->turn.at[i]]));
    return known && e->moves(e->moves_ctx, e->f, e->stop - t) * part < MOVES_NOTHING;
}

/* A system at rest at the corner of a law (max, min, abs), or a state that starts from zero at a border, crosses it
 * again and again by rounding. Where the switching changes nothing, such conditions are held until they are LOUDER
 * times as far from zero. */
static bool
rests(events *e, double t, const double *x)
{
    bool corners = e->moves && e->nx, known;

    for (size_t i = 0; i < e->turn.n && corners; i++) {
        uint32_t k = e->turn.at[i];
        enum mode_kind kind = e->mode[k].kind;

        corners = (e->mode[k].corner || e->count[k] > CHATTERS) && !e->of_net[k] && e->mode[k].side == 0 &&
                  kind != MODE_SIGN && kind != MODE_STICK;
    }
    if (!corners)
        return false;
    known = met_by_rounding(e, t, x);
    if (known && !moves_nothing(e, t, x)) {
        flip_all(e, t, x);
        known = false;
    }
    for (size_t i = 0; i < e->turn.n; i++) {
        uint32_t k = e->turn.at[i];

        if (known)
            e->quiet[k] = LOUDER * fmax(e->most[k], fabs(e->g[k]));
        e->most[k] = 0;
    }
    return known;
}

/* A condition that is negative by the last bits of its terms is so again when the step is repeated: these count as zero
 * from now on. */
static void
quiet_last_bits(events *e, uint32_t k, double t, const double *x)
{
    double bits = LAST_BITS * model_condition_noise(e->model, k, t, x);

    if (fabs(e->g[k]) <= bits)
        e->quiet[k] = fmax(e->quiet[k], LOUDER * bits);
}

bool
events_doubtful(events *e, double t, const double *x)
{
    bool doubtful = e->moves && e->nx && conditions_beside(e, t, x, 1);

    for (size_t i = 0; i < e->near.n && doubtful; i++) {
        uint32_t k = e->near.at[i];

        doubtful = events_margin_of(e, k, e->g[k]) >=
                   (e->plain[k] && !e->of_net[k] ? -DOUBTFUL * fabs(e->g_try[k] - e->g[k]) : 0);
    }
    for (size_t i = 0; i < e->near.n && doubtful; i++)
        if (events_margin_of(e, e->near.at[i], e->g[e->near.at[i]]) < 0)
            quiet_last_bits(e, e->near.at[i], t, x);
    return doubtful;
}

bool
events_turn_back(const events *e, double t0)
{
    for (size_t i = 0; i < e->near.n; i++) {
        uint32_t k = e->near.at[i];

        if (e->plain[k] && !e->of_net[k] && e->turned_at[k] == t0 && events_margin_of(e, k, e->g[k]) < 0)
            return true;
    }
    return false;
}

/* Does mode k agree with its condition a time h after (t, x), and not by rounding alone, in modes and solutions that
 * were looked for there? */
static bool
agrees_after(events *e, uint32_t k, double t, const double *x, double h)
{
    if (model_rhs(e->model, t, x, e->x_try) != 0)
        return false;
    for (size_t i = 0; i < e->nx; i++)
        e->x_try[i] = x[i] + h * e->x_try[i];
    return events_look_everywhere(e, t + h, e->x_try) && events_look(e, t + h, e->x_try, e->g) &&
           events_margin_of(e, k, e->g[k]) > CLEARLY * CONTRADICTION * e->size[k];
}

/* Mode k switches back and forth: where a law folds back at its condition's border, both sides lead to it, and
 * equations that are solved together may go on elsewhere. What they do a short time later decides. */
static bool
leave_fold(events *e, uint32_t k, double t, const double *x)
{
    double *before = bg_malloc((e->n + 1) * sizeof *before);
    bool left = false;

    memcpy(before, e->value, e->n * sizeof *before);
    for (double h = events_tiny(e, t); h < AFTER_FOLD * (e->stop - e->start) && !left; h *= FARTHER) {
        left = agrees_after(e, k, t, x, h);
        if (!left)
            memcpy(e->value, before, e->n * sizeof *before);
    }
    free(before);
    e->count[k] = left ? 0 : e->count[k];
    return left;
}

/* Switches the modes of e->turn; false: one did so too often. */
static bool
turn_all(events *e, double t, const double *x)
{
    bool signs = false;

    for (size_t i = 0; i < e->turn.n && model_has_blocks(e->model); i++)
        if (e->count[e->turn.at[i]] == CHATTER_MOST && !e->of_net[e->turn.at[i]] && leave_fold(e, e->turn.at[i], t, x))
            return true;
    memcpy(e->value_before, e->value, e->n * sizeof(double));
    for (size_t i = 0; i < e->turn.n; i++) {
        uint32_t k = e->turn.at[i];

        if (!events_allow(e, k, t))
            return false;
        e->last = k;
        if (!e->of_net[k])
            flip(e, k, e->g[k], t, x);
        signs |= e->mode[k].kind == MODE_SIGN || e->mode[k].kind == MODE_STICK;
    }
    if (signs)
        events_stick_together(e, t, x);
    return true;
}

/* events_search where e->turn holds contradicted modes. If one is of a net, and the search finds the modes consistent
 * however far it looks, the contradiction is rounding: the condition is held until it is larger. */
static enum events_status
search_seen(events *e, double t, double *x)
{
    enum events_status found = EVENTS_SAME;
    bool seen = false;

    for (size_t i = 0; i < e->turn.n; i++)
        seen |= e->of_net[e->turn.at[i]];
    for (double farther = 1; farther <= (seen ? FARTHEST : 1) && found == EVENTS_SAME; farther *= FARTHER)
        found = events_search(e, t, x, farther);
    for (size_t i = 0; i < e->turn.n && found == EVENTS_SAME; i++)
        if (e->of_net[e->turn.at[i]])
            e->quiet[e->turn.at[i]] = LOUDER * fabs(e->g[e->turn.at[i]]);
    return found;
}

/* A condition that has jumped to exactly zero (a gate signal from 1 to 0 that is compared with 0) has the margin zero,
 * so it contradicts nothing. Switches those that have another value there, or just after, if they move on; each once an
 * event. False: one switched too often. */
static bool
turn_jumped(events *e, double t, const double *x)
{
    bool any = false;
    double d;

    for (size_t i = 0; i < e->near.n && !any; i++)
        any = events_jumped_onto(e, e->near.at[i], e->g[e->near.at[i]]);
    e->turn.n = 0;
    if (!any)
        return true;
    if (!events_look_ahead(e, t, x, &d))
        memcpy(e->g_ahead, e->g, e->n * sizeof(double));
    for (size_t i = 0; i < e->near.n; i++) {
        uint32_t k = e->near.at[i];
        double now;

        if (!events_jumped_onto(e, k, e->g[k]))
            continue;
        now = events_right_value(e, k, e->g[k], e->g_ahead[k], false);
        e->g_before[k] = e->g[k];
        if (now == e->value[k])
            continue;
        if (!events_allow(e, k, t))
            return false;
        e->last = k;
        events_set_mode(e, k, now, e->g[k], e->g_ahead[k]);
        vec_push(&e->turn, k);
    }
    return true;
}

/* Sets what sticks to exactly zero where there are ideal switches: beside one, the rounding of a long rest would count
 * as a motion. */
static void
rest_exactly(events *e, double t, double *x)
{
    bool moved = false;

    if (!e->nets || !e->any_sign || !events_look(e, t, x, e->g_try))
        return;
    for (size_t i = 0; i < e->near.n; i++) {
        uint32_t k = e->near.at[i];

        moved |= e->mode[k].kind == MODE_SIGN && events_sticks(e, k) && e->g_try[k] != 0;
    }
    if (moved)
        events_hold_all(e, t, x);
}

/* Switches the modes that are clearly contradicted at (t, x), in rounds: at first all of them, later only the first
 * one, which ends whenever there is a solution for diodes and contacts (least-index pivoting; Murty 1974). */
static enum events_status
follow_contradictions(events *e, double t, double *x)
{
    size_t most = ROUNDS + 4 * e->watched.n;

    rest_exactly(e, t, x);
    for (size_t round = 0;; round++) {
        enum events_status found;

        events_settle_gates(e, t, x, ZERO_OF_READERS);
        found = round == 0 ? search_seen(e, t, x) : events_search(e, t, x, 1);
        if (found == EVENTS_FAILED || found == EVENTS_STOP)
            return found;
        if (!events_look_released(e, t, x) && !events_look_around(e, t, x) && !events_look_everywhere(e, t, x))
            return EVENTS_FAILED;
        e->turn.n = 0;
        for (size_t i = 0; i < e->near.n; i++) {
            uint32_t k = e->near.at[i];
            if (!e->of_net[k] && events_margin_of(e, k, e->g[k]) < -CONTRADICTION * e->size[k] &&
                !(round > CHASING && events_rests(e, k, t, x, e->g[k])))
                vec_push(&e->turn, k);
        }
        if (e->turn.n == 0) { /* sizes only from the final modes: in those on the way, g may be anything */
            events_note_sizes(e, e->g);
            if (!turn_jumped(e, t, x))
                return EVENTS_STOP;
            if (e->turn.n == 0)
                return EVENTS_SWITCHED;
            continue;
        }
        if (round == ROUNDS / 2 && events_look_everywhere(e, t, x))
            return EVENTS_SWITCHED;
        if (round >= most) {
            events_report_chatter(e, e->turn.at[0], t);
            return EVENTS_STOP;
        }
        if (round > ROUNDS / 2)
            e->turn.n = 1;
        if (!turn_all(e, t, x))
            return EVENTS_STOP;
    }
}

bool
events_agree(events *e, double t, const double *x)
{
    for (size_t round = 0; round < ROUNDS; round++) {
        bool agree = true;

        if (!events_look(e, t, x, e->g))
            return false;
        for (size_t i = 0; i < e->near.n; i++) {
            uint32_t k = e->near.at[i];

            if (!(events_margin_of(e, k, e->g[k]) < -CONTRADICTION * e->size[k]))
                continue;
            if (e->of_net[k] || e->mode[k].kind == MODE_SIGN || e->mode[k].kind == MODE_STICK ||
                e->mode[k].kind == MODE_EQUAL)
                return false;
            flip(e, k, e->g[k], t, x);
            agree = false;
        }
        if (agree)
            return true;
    }
    return false;
}

/* Does an x that sticks begin to slip? */
static bool
any_released(const events *e)
{
    bool any = false;

    for (size_t i = 0; i < e->turn.n; i++)
        any |= e->mode[e->turn.at[i]].kind == MODE_STICK;
    return any;
}

enum events_status
events_switch(events *e, double t_seen, const double *x_seen, double t, double *x)
{
    e->t = t;
    e->turn.n = 0;
    if (!events_look(e, t_seen, x_seen, e->g))
        return EVENTS_FAILED;
    for (size_t i = 0; i < e->near.n; i++) {
        uint32_t k = e->near.at[i];
        double v = events_margin_of(e, k, e->g[k]);
        /* what switches again and again may be the rounding error of equations that are solved together */
        if ((v < -NOTHING * e->size[k] || (v == 0 && !e->marked[k])) &&
            !(e->count[k] > CHATTERS && !e->of_net[k] && events_rests(e, k, t_seen, x_seen, e->g[k])))
            vec_push(&e->turn, k);
    }
    if (e->turn.n == 0 || rests(e, t, x) || stays_within_tolerance(e, t, x))
        return EVENTS_SAME;
    if (events_stay_on_border(e, t, x))
        return EVENTS_SWITCHED;
    events_keep_before(e);
    if (any_released(e)) { /* the rounding of a long rest may be on the side to which it does not go */
        events_hold_all(e, t, x);
        if (!events_look(e, t_seen, x_seen, e->g))
            return EVENTS_FAILED;
    }
    return turn_all(e, t, x) ? follow_contradictions(e, t, x) : EVENTS_STOP;
}

enum events_status
events_due(events *e, double t, double *x)
{
    bool any = false;

    e->t = t;
    e->turn.n = 0;
    events_keep_before(e);
    memcpy(e->value_before, e->value, e->n * sizeof(double));
    while (e->heap.n && e->heap.at[0].t <= t + events_tiny(e, t)) {
        struct due d = events_heap_pop(e);
        e->last = d.mode;
        any |= events_set_known(e, d.mode, t) || e->passing[d.mode];
    }
    if (!any)
        return EVENTS_SAME;
    return e->watched.n || e->nets ? follow_contradictions(e, t, x) : EVENTS_SWITCHED;
}

enum events_status
events_jolted(events *e, double t, double *x)
{
    e->t = t;
    events_keep_before(e);
    memcpy(e->value_before, e->value, e->n * sizeof(double));
    return e->watched.n || e->nets ? follow_contradictions(e, t, x) : EVENTS_SWITCHED;
}

/* ---- what events do to states ---- */

bool
events_consistent(events *e, double t, double *x)
{
    nets_report r;
    enum nets_status status = e->nets ? model_search(e->model, t, x, events_ahead(e), 1, true, &r) : NETS_SAME;

    return status == NETS_SAME || status == NETS_SWITCHED;
}

bool
events_settle(events *e, double t, const double *x)
{
    bool changed = events_set_all_known(e, t);

    e->heap.n = 0;
    if (e->nets) {
        nets_report r;

        memcpy(e->x_try, x, e->nx * sizeof(double));
        changed |= model_search(e->model, t, e->x_try, events_ahead(e), 1, true, &r) == NETS_SWITCHED;
    }
    if (!e->watched.n || !events_look_released(e, t, x))
        return changed;
    events_note_sizes(e, e->g);
    for (size_t i = 0; i < e->near.n; i++) {
        uint32_t k = e->near.at[i];
        double before = e->value[k];
        if (e->of_net[k])
            continue;
        if (e->mode[k].kind == MODE_SIGN) {
            changed |= events_settle_sign(e, k, t, x, e->g[k], AT_REST * e->size[k]);
            continue;
        }
        if (e->mode[k].kind != MODE_EQUAL && events_margin_of(e, k, e->g[k]) >= -CONTRADICTION * e->size[k])
            continue; /* agrees within rounding */
        events_set_mode(e, k, events_right_value(e, k, e->g[k], e->g[k], false), e->g[k], e->g[k]);
        changed |= e->value[k] != before;
    }
    return changed;
}
