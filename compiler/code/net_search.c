/* net_search.c - see net.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "net_inside.h"

/* In a model without states the arrays may be NULL, which memcpy does not allow. */
static void
copy_states(double *to, const double *from, size_t n)
{
    if (n)
        memcpy(to, from, n * sizeof *to);
}

enum {
    KICKS = 6,    /* steps of Newton's method onto the constraints; one is enough where these are linear */
    GUESSES = 3,  /* how far ahead is looked, in turn (search_net) */
    TANGENTS = 8, /* searches by the tangents of a curved net, each from the solution in the modes found before */
    MOST_ALL = 12 /* all combinations are tried of so many modes, or groups of modes, at most: 2^12 */
};
#define LONGEST 1e2   /* of the usual look ahead: it is no longer; beside a flow and an effort, a ratio is no time */
#define KICKED 1e-15  /* of the states' sizes: when a step moves them by no more, they are on the constraints */
#define AGREES 1e-9   /* of the greatest magnitude of a difference so far: less is rounding, and contradicts nothing */
#define NEAR 1e-6     /* of a difference a short time ahead: now it may still be this far on the other side of zero */
#define MOVED 1e-4    /* of a state's usual size: a state that moves more than by the integrator's error jumps */
#define LITTLE 1e-6   /* of a state's usual size: the instant of a switching is known to within such a change */
#define ROUNDED 1e-12 /* a relative change of the states, or a part of what a net can move them by: rounding */
#define ALIKE 1e-9    /* relative: two differences that are nearer to each other than this are equal */
#define PLAUSIBLE \
    1e-6 /* of a difference's terms: what a look ahead may excuse; beside infinite slopes it sees any number */
#define BLUNT 1e-7 /* of the greatest flow: a law so near its limit is there (approach.h) */

/* ---- do the modes agree? ---- */

/* Do the differences in s->raw agree with the present modes? noise: rounding error of each unknown. still: no state has
 * been moved. before (or NULL): the differences before states were moved a little. */
static bool
watches_agree(nets *s, struct net *k, const double *noise, bool still, const double *before)
{
    const net_part *q = k->q;
    const struct known *w = k->known.at[k->last];

    for (uint32_t i = 0; i < q->nwatch; i++) {
        double g = s->raw[ORDERS * (s->nheld + q->watch0 + i)], slack = 0, terms = 0;

        if (!isfinite(g))
            return false;
        for (uint32_t j = 0; j < q->n; j++) {
            uint32_t h = q->held0 + j;
            double a = fabs(w->aw[(size_t)ORDERS * i * q->n + j]);

            slack += a * noise[j];
            terms += a * fmax(NET_SMALL, noise[j] > 0 ? fmax(fabs(s->held[h]), s->unit_size[s->unit[h]]) : 0);
        }
        /* What a condition sets to zero excuses nothing: beside it, the other side's unit may be far smaller. If states
         * moved, the look ahead has seen impulses, not how the difference grows. */
        if (still)
            slack += fmin(NEAR / 10 * k->ahead[i], PLAUSIBLE * terms);
        if (before)
            slack += fabs(g - before[i]);
        double *size = &k->size[*net_mode_of(s, k, i) != 0 ? q->nwatch + i : i];

        if (net_margin_of(s, k, i, g) < -(AGREES * *size + 10 * slack))
            return false;
        *size = fmax(*size, fabs(g));
    }
    return true;
}

double
net_reach(const struct net *k, double ahead)
{
    return isfinite(k->tau) ? fmin(NET_AHEAD * k->tau, LONGEST * ahead) : ahead;
}

/* Solves for the unknowns of a net in the present modes and evaluates the rows with them, into s->raw. noise: rounding
 * error of each unknown. */
static bool
solve_rows(nets *s, struct net *k, struct known *w, double t, const double *x, double *noise)
{
    const net_part *q = k->q;

    if (!k->varies) {
        sparse_apply(&w->now->solve, s->raw + ORDERS * q->held0, s->z);
        for (uint32_t i = 0; i < q->n; i++)
            s->held[q->held0 + i] = 0 - s->z[i];
    } else {
        if (nets_solve(s, t, x) != 0)
            return false;
        w = k->now;
    }
    net_noise(s, k, w->now, s->raw + ORDERS * q->held0, noise);
    net_note_sizes(s, k, noise);
    net_forget(s);
    return net_rows(s, t, x) == 0;
}

/* watches_agree where the constraints have moved states a little, from x_given to x. The instant of the switching is
 * known only to some error, so a current that flowed until then may be on the wrong side of zero by as much: each
 * difference may be off by its change between x_given and x. */
static bool
agree_but_for_place(nets *s, struct net *k, struct known *w, double t, const double *x, const double *x_given,
                    double *noise)
{
    double *before = bg_malloc((k->q->nwatch + 1) * sizeof *before);
    bool ok = true;

    for (int at = 0; at < 2 && ok; at++) {
        ok = net_rows_free(s, t, at ? x : x_given) == 0 && solve_rows(s, k, w, t, at ? x : x_given, noise);
        for (uint32_t i = 0; i < k->q->nwatch && !at; i++)
            before[i] = s->raw[ORDERS * (s->nheld + k->q->watch0 + i)];
    }
    ok = ok && watches_agree(s, k, noise, false, before);
    free(before);
    return ok;
}

/* Moves the states onto the constraints of the present modes. *jumps: the greatest step, of the states' sizes. */
static bool
kick(nets *s, struct net *k, double t, double *x, double *jumps)
{
    double most = 0;

    *jumps = 0;
    for (int i = 0; i < KICKS && (i == 0 || most > KICKED); i++) {
        if (net_kick(s, t, x, k, &most) != 0)
            return false;
        *jumps = fmax(*jumps, most);
    }
    return true;
}

bool
net_admit(nets *s, struct net *k, double t, double *x, const double *x_given)
{
    const net_part *q = k->q;
    struct known *w = NULL;
    double jumps = 0, *noise = s->c;

    /* a curved net is linearized at its solution in these modes, if there is one before states are moved */
    if (k->guess && nets_solve(s, t, x) < 0)
        return false;
    if (!kick(s, k, t, x, &jumps))
        return false;
    w = net_known(s, k, t, x);
    if (!w || !net_find_rest(s, k, w, t, x))
        return false;
    for (size_t i = 0; i < w->rest.n; i++)
        x[w->rest.at[i]] = 0;
    if (net_rows_free(s, t, x) != 0)
        return false;
    for (uint32_t i = 0; i < ORDERS * q->n; i++)
        k->rows[i] = fmax(k->rows[i], fabs(s->raw[ORDERS * q->held0 + i]));
    if (!net_on_constraints(s, k, w, x, NULL))
        return false;
    if (!solve_rows(s, k, w, t, x, noise))
        return false;
    if (watches_agree(s, k, noise, jumps <= ROUNDED, NULL))
        return true;
    return jumps > ROUNDED && jumps <= LITTLE && agree_but_for_place(s, k, w, t, x, x_given, noise);
}

/* ---- the search ---- */

void
net_keep_modes(nets *s, const struct net *k, double *to)
{
    for (uint32_t i = 0; i < k->q->nwatch; i++)
        to[i] = *net_mode_of(s, k, i);
}

void
net_set_modes(nets *s, const struct net *k, const double *from)
{
    for (uint32_t i = 0; i < k->q->nwatch; i++)
        *net_mode_of(s, k, i) = from[i];
}

/* Groups modes that have equal values and whose differences are equal a time h later (ten diodes in parallel, or in
 * series): of[i] is the group of mode i. Returns the number of groups. */
static uint32_t
group_alike(nets *s, struct net *k, double t, const double *x, double h, uint32_t *of)
{
    uint32_t nw = k->q->nwatch, n = 0, *which = bg_malloc((nw + 1) * sizeof *which);
    struct known *w;

    if (net_rows_free(s, t, x) == 0 && (w = net_known(s, k, t, x)))
        net_contradictions(s, k, w, h, which);
    for (uint32_t i = 0; i < nw; i++) {
        uint32_t j = 0;

        while (j < i && !(k->ahead[i] > 0 && *net_mode_of(s, k, i) == *net_mode_of(s, k, j) &&
                          fabs(k->ahead[i] - k->ahead[j]) <= ALIKE * k->ahead[i]))
            j++;
        of[i] = j < i ? of[j] : n++;
    }
    free(which);
    return n;
}

/* Searches by pivoting, from the modes given, modes that hold at (t, x) once x is moved onto their constraints.
 * Pivoting needs a linear net. A curved one is linearized, and if the modes found do not hold, again at the solution
 * there. */
static bool
pivot_and_admit(nets *s, struct net *k, double t, double *x, const double *x_given, const double *given, double h,
                bool soft)
{
    bool found = false;

    net_set_modes(s, k, given);
    for (int round = 0; round < (k->guess ? TANGENTS : 1) && !found; round++) {
        copy_states(x, x_given, s->nx);
        if (net_pivot(s, k, t, x, h, soft))
            found = net_admit(s, k, t, x, x_given);
        else if (k->guess && nets_solve(s, t, x) != 0)
            break;
    }
    return found;
}

/* Is a jump from x an impact: do the states meet what conditions demand of values, as closely as an instant is known,
 * and only the derivatives do not? A mass has reached a stop, which takes its momentum. */
static bool
is_impact(nets *s, struct net *k, const struct known *w, double t, const double *x, double ahead)
{
    bool derived = false;

    for (uint32_t r = 0; r < w->now->constraint.n; r++)
        derived |= !net_is_of_values(&w->now->constraint, r);
    return derived && net_rows_free(s, t, x) == 0 && net_on_constraints(s, k, w, x, &ahead);
}

/* A stop takes the momentum of a mass that is pulled away from it at once: the modes in which the states are moved are
 * not those that hold afterwards. */
static bool
touch_and_part(nets *s, struct net *k, double t, double *x, const double *x_given, const double *given, double h,
               double ahead)
{
    double *moved = bg_malloc((s->nx + 1) * sizeof *moved), jumps;
    bool found = false;
    struct known *w;

    net_set_modes(s, k, given);
    copy_states(x, x_given, s->nx);
    if (net_pivot(s, k, t, x, h, false) && (w = net_known(s, k, t, x)) && kick(s, k, t, x, &jumps) &&
        (jumps <= LITTLE || is_impact(s, k, w, t, x_given, ahead))) {
        copy_states(moved, x, s->nx);
        found = pivot_and_admit(s, k, t, x, moved, given, h, false);
    }
    free(moved);
    return found;
}

/* Tries all combinations, those with the fewest changes first; where modes are too many, with equal ones in groups. */
static bool
try_all(nets *s, struct net *k, double t, double *x, const double *x_given, const double *given, double h)
{
    uint32_t nw = k->q->nwatch, *which = bg_malloc((2 * (size_t)nw + 1) * sizeof *which), *of = which + nw, n = nw;
    bool found = false;

    for (uint32_t i = 0; i < nw; i++)
        of[i] = i;
    net_set_modes(s, k, given);
    copy_states(x, x_given, s->nx);
    if (nw > MOST_ALL)
        n = group_alike(s, k, t, x, h, of);
    for (uint32_t flips = 0; flips <= n && n <= MOST_ALL && !found; flips++)
        for (uint32_t set = 0; set < 1u << n && !found; set++) {
            struct known *w;

            if ((uint32_t)__builtin_popcount(set) != flips)
                continue;
            for (uint32_t i = 0; i < nw; i++)
                *net_mode_of(s, k, i) = set >> of[i] & 1 ? given[i] == 0 : given[i];
            copy_states(x, x_given, s->nx);
            if (net_rows_free(s, t, x) != 0 || !(w = net_known(s, k, t, x)) || net_contradictions(s, k, w, h, which))
                continue;
            found = net_admit(s, k, t, x, x_given);
        }
    free(which);
    return found;
}

/* Of ten diodes in series that block, one alone would do. Both sides of the conditions of the others are then zero, now
 * and a time h later, so their modes may as well be exchanged. If that leaves only the sum of their voltages
 * determined, it is done, and all ten share it evenly. (The same holds for the currents of switches in parallel.) The
 * present modes hold at (t, x), and no state was moved. */
static void
share(nets *s, struct net *k, double t, double *x, double h)
{
    uint32_t nw = k->q->nwatch, *which = s->which, before;
    double *modes = s->given + s->nwatch, *given = s->x_given; /* states are where the search began */
    struct known *w = net_known(s, k, t, x);
    bool any = false, better = false;
    double most = 0;

    before = w ? w->now->free : UINT32_MAX;
    net_keep_modes(s, k, modes);
    for (uint32_t i = 0; i < nw; i++)
        most = fmax(most, fmax(k->size[i], k->size[nw + i]));
    for (uint32_t i = 0; i < nw && w && most > 0; i++) {
        double g = fmax(fabs(s->raw[ORDERS * (s->nheld + k->q->watch0 + i)]), k->ahead[i]);

        if (g <= AGREES * fmax(k->size[i], k->size[nw + i])) {
            *net_mode_of(s, k, i) = modes[i] == 0;
            any = true;
        }
    }
    if (any) {
        better = net_rows_free(s, t, x) == 0 && (w = net_known(s, k, t, x)) && w->now->free > before &&
                 net_contradictions(s, k, w, h, which) == 0 && net_admit(s, k, t, x, given);
    }
    if (any && !better) {
        net_set_modes(s, k, modes);
        copy_states(x, given, s->nx);
    }
}

/* May the states jump as they did, from `before` to x? Not if a constraint fixes one state alone, or contains a source:
 * then nothing is conserved; but an impact may. *r tells which one jumps and what demands it. */
static bool
check_jump(nets *s, struct net *k, double t, double *before, const double *x, double ahead, const bool *stated,
           nets_report *r)
{
    struct known *w;
    struct slopes g;
    size_t worst = NO_INDEX;
    bool refused = false;
    double *small;

    r->jumped = false;
    if (s->nx == 0 || !memcmp(x, before, s->nx * sizeof *x))
        return true;
    w = net_known(s, k, t, x);
    if (w && net_off_by_rounding(s, k, w, t, before, ahead))
        return true;
    small = bg_malloc((s->nx + 1) * sizeof *small);
    for (size_t i = 0; i < s->nx; i++)
        small[i] = MOVED * fmax(net_size(s, i), fabs(before[i]));
    /* a state that has always been zero has no size: what the net moves it by within its time constant counts */
    for (size_t i = 0; w && i < w->push.n; i++)
        small[w->push.at[i].state] += ROUNDED * fabs(w->push.at[i].value) *
                                      s->unit_size[s->unit[k->q->held0 + w->push.at[i].held]] *
                                      fmin(k->tau, ahead / NET_AHEAD);
    for (size_t i = 0; i < s->nx; i++)
        if (fabs(x[i] - before[i]) > small[i]) {
            r->jumped = true;
            if (stated && !stated[i])
                continue;
            if (worst == NO_INDEX)
                worst = i;
        }
    if (worst == NO_INDEX) {
        free(small);
        return true;
    }
    if (w && is_impact(s, k, w, t, before, ahead)) {
        free(small);
        return true;
    }
    if (!w || !net_slopes(s, k, w, t, before, NULL, &g)) {
        net_slopes_free(&g);
        free(small);
        return false;
    }
    for (uint32_t c = 0; c < g.nc && !refused; c++) {
        uint32_t i = net_single(&g, c);
        double sum = 0, all = 0;

        if (i != NONE) {
            refused = fabs(x[i] - before[i]) > small[i];
            if (refused)
                worst = i;
            continue;
        }
        /* x is on the constraint: where its terms in the states do not add up to zero, a source is the rest */
        for (uint32_t j = 0; j < g.ns; j++) {
            double v = g.a[(size_t)c * g.ns + j] * x[g.state.at[j]];

            sum += v;
            all += fabs(v);
        }
        refused = fabs(sum) > NET_HOLDS * all;
    }
    net_slopes_free(&g);
    free(small);
    if (refused) {
        double most = 0;

        r->state = worst;
        r->from = before[worst];
        r->to = x[worst];
        r->at = k->q->at;
        for (uint32_t i = 0; i < w->now->constraint.n; i++)
            for (uint32_t e = w->now->constraint.start[i]; e < w->now->constraint.start[i + 1]; e++) {
                span at = s->form->at[k->q->held0 + w->now->constraint.column[e] / ORDERS];

                if (span_known(at) && fabs(w->now->constraint.value[e]) > most) {
                    most = fabs(w->now->constraint.value[e]);
                    r->at = at;
                }
            }
    }
    return !refused;
}

/* A state that seems to jump may only come to rest within the time looked ahead (a coil behind a diode, with next to no
 * current). Searches again with shorter looks ahead, and takes modes without a jump if there are some. */
static bool
look_nearer(nets *s, struct net *k, double t, double *x, double *x_given, const double *given, double h, double ahead,
            const bool *stated)
{
    static const double part[] = { 1e-3, 1e-6 };
    double *modes = bg_malloc((k->q->nwatch + s->nx + 1) * sizeof *modes), *moved = modes + k->q->nwatch;
    bool better = false;

    net_keep_modes(s, k, modes);
    copy_states(moved, x, s->nx);
    for (size_t i = 0; i < sizeof part / sizeof *part && !better; i++) {
        nets_report r = { 0 };

        better = pivot_and_admit(s, k, t, x, x_given, given, part[i] * h, false) &&
                 check_jump(s, k, t, x_given, x, ahead, stated, &r) && !r.jumped;
    }
    if (!better) {
        net_set_modes(s, k, modes);
        copy_states(x, moved, s->nx);
    }
    free(modes);
    return better;
}

/* For a curved net: the rounding errors of its conditions, and its shortest time constant, at the last solution. */
static bool
find_rounding(nets *s, struct net *k, double t, const double *x)
{
    if (!k->guess)
        return true;
    if (net_rows_free(s, t, x) != 0)
        return false;
    memcpy(s->held + k->q->held0, k->guess, k->q->n * sizeof *k->guess);
    return net_rounding(s, t, x, s->rounding) == 0;
}

static void
set_back(nets *s, const struct net *k, double *x, const double *given, const double *x_given)
{
    net_set_modes(s, k, given);
    copy_states(x, x_given, s->nx);
}

/* Do the present modes hold as they are, whatever a look ahead says? */
static bool
admit_as_they_are(nets *s, struct net *k, double t, double *x, const double *x_given, double h)
{
    struct known *w = net_rows_free(s, t, x) == 0 ? net_known(s, k, t, x) : NULL;
    uint32_t *which = bg_malloc((k->q->nwatch + 1) * sizeof *which);
    bool ok = w && net_contradictions(s, k, w, h, which) >= 0; /* sets what differences become ahead in these modes */

    free(which);
    return ok && net_admit(s, k, t, x, x_given);
}

static enum nets_status
search_net(nets *s, struct net *k, double t, double *x, double ahead, double farther, const bool *stated,
           nets_report *r)
{
    static const double part[GUESSES] = { 1, 1e-3, 1e2 };
    uint32_t nw = k->q->nwatch;
    double *given = s->given, *x_given = s->x_given, h;
    bool found = false, same = true;
    enum nets_status status = NETS_NONE;

    net_keep_modes(s, k, given);
    copy_states(x_given, x, s->nx);
    if (!find_rounding(s, k, t, x) || !net_known(s, k, t, x)) {
        status = NETS_FAILED;
    } else {
        h = net_reach(k, ahead) * farther;
        for (int i = 0; i < 2 * GUESSES && !found; i++)
            found = pivot_and_admit(s, k, t, x, x_given, given, part[i % GUESSES] * h, i >= GUESSES);
        for (int i = 0; i < GUESSES && !found && s->nx; i++)
            found = touch_and_part(s, k, t, x, x_given, given, part[i] * h, ahead);
        for (int i = 0; i < GUESSES && !found; i++)
            found = try_all(s, k, t, x, x_given, given, part[i] * h);
        if (!found) { /* next to a steep law, a difference can be zero within rounding long before it switches */
            set_back(s, k, x, given, x_given);
            found = admit_as_they_are(s, k, t, x, x_given, h);
        }
        if (!found && k->guess) /* next to a root, derivatives are beyond all measure: the values now have to do */
            found = pivot_and_admit(s, k, t, x, x_given, given, 0, false) || try_all(s, k, t, x, x_given, given, 0);
        if (!found && k->guess) {
            set_back(s, k, x, given, x_given);
            found = net_take_nearest(s, k, t, x, h);
        }
        if (found && (s->nx == 0 || !memcmp(x, x_given, s->nx * sizeof *x)))
            share(s, k, t, x, h);
        if (found) {
            bool allowed = check_jump(s, k, t, x_given, x, ahead, stated, r);

            if (r->jumped && look_nearer(s, k, t, x, x_given, given, h, ahead, stated)) {
                r->jumped = false;
                allowed = true;
            }
            for (uint32_t i = 0; i < nw; i++)
                same &= *net_mode_of(s, k, i) == given[i];
            status = !allowed ? NETS_REFUSED : same ? NETS_SAME : NETS_SWITCHED;
            if (r->jumped && status == NETS_SAME)
                status = NETS_SWITCHED;
        }
    }
    if (!found || status == NETS_REFUSED)
        set_back(s, k, x, given, x_given);
    return status;
}

/* Exchanges the modes of a net with those found by its last search. */
static void
exchange_settled(nets *s, struct net *k)
{
    const uint32_t *mode = s->form->mode + k->q->mode0;

    for (uint32_t i = 0; i < k->q->nmodes; i++) {
        double now = s->modes[mode[i]];

        s->modes[mode[i]] = k->settled[i];
        k->settled[i] = now;
    }
}

/* Moves the states back onto the constraints that held so far, so that the integrator's error does not count as a jump.
 */
static bool
settle_drift(nets *s, double t, double *x)
{
    double most = 1;
    bool ok = true, any = false;

    for (size_t i = 0; i < s->n; i++)
        if (s->net[i].bound) {
            exchange_settled(s, &s->net[i]);
            any = true;
        }
    for (int round = 0; round < KICKS && any && ok && most > KICKED; round++)
        ok = net_kick(s, t, x, NULL, &most) == 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->net[i].bound)
            exchange_settled(s, &s->net[i]);
    return ok;
}

/* ---- what stays ---- */

/* What is known of a net that has the modes of its last search, and whose coefficients do not vary; NULL otherwise. */
static struct known *
unchanged(nets *s, struct net *k, double t, const double *x)
{
    struct known *w = !k->varies && net_settled(s, k) ? net_known(s, k, t, x) : NULL;

    return w && w->rest_known ? w : NULL;
}

/* Finds the nets that need no search since their modes agree, at x and a short time later. All rows are evaluated
 * together: of a thousand nets few change at an event. */
static void
find_staying(nets *s, double t, double *x, double ahead, double farther)
{
    uint32_t most = 0, *which;

    for (size_t i = 0; i < s->n; i++) {
        struct known *w = s->n > 1 ? unchanged(s, &s->net[i], t, x) : NULL;

        s->net[i].stays = w != NULL;
        most = s->net[i].q->nwatch > most ? s->net[i].q->nwatch : most;
        for (size_t r = 0; w && r < w->rest.n; r++)
            x[w->rest.at[r]] = 0;
    }
    memset(s->held, 0, s->nheld * sizeof(double));
    net_forget(s);
    if (s->n == 1 || net_rows(s, t, x) != 0) {
        for (size_t i = 0; i < s->n; i++)
            s->net[i].stays = false;
        return;
    }
    which = bg_malloc((most + 1) * sizeof *which);
    for (size_t i = 0; i < s->n; i++) {
        struct net *k = &s->net[i];
        uint32_t h0 = k->q->held0;

        if (!k->stays)
            continue;
        struct known *w = net_known(s, k, t, x);
        k->stays = net_on_constraints(s, k, w, x, NULL) &&
                   net_contradictions(s, k, w, net_reach(k, ahead) * farther, which) == 0;
        net_noise(s, k, w->now, s->raw + ORDERS * h0, s->noise + h0);
        sparse_apply(&w->now->solve, s->raw + ORDERS * h0, s->z);
        for (uint32_t j = 0; j < k->q->n; j++)
            s->held[h0 + j] = 0 - s->z[j];
    }
    free(which);
    if (net_rows(s, t, x) != 0)
        memset(s->raw, 0xff, s->nrows * sizeof *s->raw); /* not a number */
    for (size_t i = 0; i < s->n; i++)
        if (s->net[i].stays)
            s->net[i].stays = watches_agree(s, &s->net[i], s->noise + s->net[i].q->held0, true, NULL);
}

span
net_place(const nets *s, const struct net *k)
{
    for (uint32_t i = 0; i < k->q->n; i++)
        if (span_known(s->form->at[k->q->held0 + i]))
            return s->form->at[k->q->held0 + i];
    return k->q->at;
}

/* The greatest flow so far on the way to the limit whose condition is row j, by the sizes of the states in it; 0: the
 * states are not at the limit. */
static double
size_of_way(const nets *s, const struct known *w, uint32_t j)
{
    const sparse_rows *c = &w->now->constraint;
    double most = 0;

    for (uint32_t r = 0; r < c->n; r++) {
        double of = 0, size = 0;

        for (uint32_t e = c->start[r]; e < c->start[r + 1]; e++)
            of = c->column[e] == ORDERS * j ? fabs(c->value[e]) : of;
        for (size_t i = 0; i < w->slope.n && of > 0; i++)
            if (w->slope.at[i].constraint == r)
                size += fabs(w->slope.at[i].value) * net_size(s, w->slope.at[i].state) / of;
        most = fmax(most, size);
    }
    return most;
}

/* Sets how near to its limit a law counts as there, while it rests there: beside flows as great as those of this run,
 * less could not be told from zero when it leaves the limit. */
static void
blunt_limits(nets *s, struct net *k, struct known *w, double t, double *x)
{
    for (uint32_t j = 0; j < k->q->n; j++) {
        uint32_t near = s->form->near[k->q->held0 + j];

        if (near != NONE && net_find_rest(s, k, w, t, x))
            s->modes[near] = fmax(s->modes[near], BLUNT * size_of_way(s, w, j));
    }
}

enum nets_status
nets_search(nets *s, double t, double *x, double ahead, double farther, const bool *stated, nets_report *r)
{
    enum nets_status all = NETS_SAME;
    bool jumped = false;

    *r = (nets_report){ .state = NO_INDEX, .at = SPAN_NONE };
    net_sizes(s, x);
    if (!settle_drift(s, t, x))
        return NETS_FAILED;
    find_staying(s, t, x, ahead, farther);
    for (size_t i = 0; i < s->n; i++) {
        bool stays = s->net[i].stays && !jumped;
        enum nets_status one = stays ? NETS_SAME : search_net(s, &s->net[i], t, x, ahead, farther, stated, r);
        struct known *w;

        if (one > NETS_SWITCHED) {
            if (one == NETS_NONE)
                r->at = net_place(s, &s->net[i]);
            net_forget(s);
            return one;
        }
        jumped |= !stays && r->jumped;
        s->net[i].searched = true;
        if (one == NETS_SWITCHED)
            all = one;
        w = net_known(s, &s->net[i], t, x);
        if (w)
            blunt_limits(s, &s->net[i], w, t, x);
        s->net[i].now = w;
        s->net[i].bound = w && w->now->constraint.n > 0;
        for (uint32_t m = 0; m < s->net[i].q->nmodes; m++)
            s->net[i].settled[m] = s->modes[s->form->mode[s->net[i].q->mode0 + m]];
        s->net[i].rest.n = 0;
        for (size_t k = 0; w && k < w->rest.n; k++)
            vec_push(&s->net[i].rest, w->rest.at[k]);
    }
    r->jumped = jumped;
    net_forget(s);
    return all;
}
