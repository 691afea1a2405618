/* net_solve.c - held unknowns for given modes, see net.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "net_inside.h"

enum {
    MAX_ITERATIONS = 40, /* of nets with linear laws, whose coefficients vary: three or four are usual */
    MAX_CURVED = 100,    /* of nets with curved laws: down an exponential, each step lowers its argument by 1 */
    PATIENCE = 4,        /* steps before rounding is measured */
    REFINED = 8,         /* of linear nets, where one step is exact but for rounding: after so many no more is gained */
    PLACES = 4,          /* starts of the iteration, tried one after the other (start_from) */
    FEWEST_PARTS = 4,    /* of the way from the last solution, and the most (walk_from_last) */
    MOST_PARTS = 64,
    STALLS = 3 /* after so many steps in a row that move nothing the iteration ends */
};
#define OF_NOISE 1e-2   /* of the rounding in it: a shorter step is only rounding */
#define CONVERGED 1e-13 /* a step so short, relative to the greatest unknown, has converged; */
#define OF_UNIT 0.1     /* an unknown that passes zero counts as so much of the greatest value of its unit */
#define NO_PART 1e-14   /* of a step: so small a part of it moves nothing */
#define CLOSE 1e-9      /* of the unknowns: shorter steps that no longer shrink by half have reached rounding */
#define LAST \
    1e-9 /* of the smallest size: of what begins from nothing, an iteration that cannot go on leaves so much \
          */
#define LITTLE \
    1e-6          /* of the greatest value of its unit: up to here an unknown may be what an iteration leaves of zero */
#define MET 1e-12 /* of a condition's terms: greatest remainder at a solution */

static bool
is_solved(const nets *s, double t, const double *x)
{
    return s->solved && s->solved_t == t && memcmp(s->solved_modes, s->modes, s->nmodes * sizeof(double)) == 0 &&
           (s->nx == 0 || memcmp(s->solved_x, x, s->nx * sizeof(double)) == 0);
}

/* Moves the unknowns of a linear net onto its conditions. *change: how far, relative to the greatest of them or, near
 * zero, to OF_UNIT of the greatest value of their unit so far. refined: no more is gained; then steps of unknowns that
 * are next to nothing are the rounding of other terms (of a friction that holds a mass). Large unknowns whose steps do
 * not end are next to a pole. */
static bool
step_linear(nets *s, struct net *q, bool refined, double *change)
{
    double *z = s->held + q->q->held0, most = 0, moved = 0;
    bool nothing = refined;

    for (uint32_t i = 0; i < q->q->n; i++) {
        z[i] -= s->z[i];
        if (!isfinite(z[i]))
            return false;
    }
    for (uint32_t i = 0; i < q->q->n && q->varies; i++) {
        most = fmax(most, fmax(fabs(z[i]), OF_UNIT * s->unit_size[s->unit[q->q->held0 + i]]));
        moved = fmax(moved, fabs(s->z[i]));
        nothing = nothing && (s->z[i] == 0 || fabs(z[i]) <= fmax(NET_SMALL, 2 * fabs(s->z[i])));
    }
    if (q->varies && moved > 0 && !nothing)
        *change = fmax(*change, moved / most);
    return true;
}

/* Newton's step of a curved net, and its length. rounding (or NULL): of all rows; if the step is no more than what
 * rounding gives, the solution is found. */
static bool
step_curved(nets *s, struct net *q, const double *rounding, double *size)
{
    const sparse_rows *solve = &q->now->now->solve;
    uint32_t h0 = q->q->held0;
    bool rounded = rounding != NULL;

    q->before = q->whole;
    q->whole = 0;
    for (uint32_t i = 0; i < q->q->n; i++) {
        double noise = 0, *of = &size[s->unit[h0 + i]];

        for (uint32_t e = solve->start[i]; e < solve->start[i + 1] && rounded; e++)
            noise += fabs(solve->value[e]) * rounding[ORDERS * h0 + solve->column[e]];
        rounded = rounded && fabs(s->z[i]) <= OF_NOISE * noise;
        s->stepped[h0 + i] = 0 - s->z[i];
        if (!isfinite(s->z[i]))
            return false;
        *of = fmax(*of, fabs(s->held[h0 + i]));
    }
    for (uint32_t i = 0; i < q->q->n; i++)
        q->whole = fmax(q->whole, fabs(s->z[i]) / size[s->unit[h0 + i]]);
    if (rounded)
        q->whole = 0;
    q->done = q->whole == 0;
    return true;
}

/* Are the conditions met: is what remains of each small beside its terms, or rounding? That the steps are short does
 * not show it: where a slope is zero (an exponential that blocks), the coefficients may leave an unknown without a
 * value, or show a constraint on states in place of a condition that is far from met; and beyond a fold steps end too.
 */
static bool
is_met(const nets *s, const struct net *k, const double *rounding, bool ended)
{
    uint32_t n = k->q->n;

    for (uint32_t i = 0; i < n; i++) {
        size_t row = (size_t)ORDERS * (k->q->held0 + i);
        double all = k->rows[ORDERS * i], steps = 0; /* of the remainder: what the last steps may leave */

        for (uint32_t j = 0; j < n; j++) {
            double of = fabs(k->now->a[(size_t)ORDERS * i * n + j]);

            all = fmax(all, of * fabs(s->held[k->q->held0 + j]));
            steps = fmax(steps, of * fmax(s->unit_size[s->unit[k->q->held0 + j]], NET_SMALL));
        }
        if (!(fabs(s->raw[row]) <= MET * all + CONVERGED * (steps + NET_SMALL) + (ended ? LAST * NET_SMALL : 0) +
                                       (rounding ? rounding[row] : 0)))
            return false;
    }
    return true;
}

/* Are the conditions of all curved nets met? Where states must meet some of the conditions, and have drifted from them
 * a little, there is always a remainder: then short steps have to do. ended: the iteration cannot go on. Nets whose
 * conditions are not met then ignore slopes that are only rounding, which may hide the remainder (of two exponentials
 * that block, one behind the other). */
static bool
all_met(nets *s, double t, const double *x, bool ended)
{
    const double *rounding = NULL;
    bool all = true;

    for (size_t i = 0; i < s->n; i++) {
        struct net *k = &s->net[i];
        uint32_t constraints = k->guess ? net_general(s, k, t, x).constraints : 0;
        bool bound = constraints > 0 && k->now->now->free == 0 && k->now->now->constraint.n <= constraints,
             met = !k->guess || (bound && (!ended || k->whole <= CLOSE)) || is_met(s, k, rounding, ended);

        if (!met && !rounding && net_rounding(s, t, x, s->raw_noise) == 0 &&
            net_rounding_of_unknowns(s, t, x, s->raw_noise) == 0) {
            rounding = s->raw_noise;
            met = is_met(s, k, rounding, ended);
        }
        k->coarse |= ended && !met;
        all = all && met;
    }
    return all;
}

/* Does no part of the step, however small, reduce the remainder of the conditions? Then it is rounding, or the
 * iteration cannot go on from here. */
static bool
is_stalled(const nets *s)
{
    bool stalled = true;

    for (size_t k = 0; k < s->n && stalled; k++)
        stalled = !s->net[k].guess || s->net[k].whole == 0 || s->net[k].part <= NO_PART;
    return stalled;
}

/* Nets whose steps are short and lead nowhere look nearer to zero. Is there one? */
static bool
come_nearer(nets *s)
{
    bool any = false;

    for (size_t k = 0; k < s->n; k++) {
        struct net *q = &s->net[k];

        if (q->guess && q->whole > 0 && q->whole <= CLOSE && q->part <= NO_PART)
            any |= net_come_nearer(s, q);
    }
    return any;
}

/* Newton's method from the unknowns as they are. curved: any net is. */
static int
iterate_nets(nets *s, double t, const double *x, bool curved)
{
    int most = curved ? MAX_CURVED : MAX_ITERATIONS, status = 0;
    double before = 0, *rounding = NULL, *size = bg_malloc((s->form->nunits + 1) * sizeof *size);
    bool done = false, coarse = false;
    int stalled = 0;

    for (size_t k = 0; k < s->n; k++)
        s->net[k].whole = s->net[k].part = 0;
    memset(s->stepped, 0, s->nheld * sizeof(double));
    for (int i = 0; status == 0 && !done; i++) {
        double change = 0;

        if (i == 0 || !curved)
            status = net_rows(s, t, x);
        if (curved && i == PATIENCE && status == 0) {
            rounding = bg_malloc((s->nrows + 1) * sizeof *rounding);
            status = net_rounding(s, t, x, rounding);
        }
        if (curved)
            net_unknown_sizes(s, size);
        done = true;
        if (status == 0)
            net_share_partials(s, t, x);
        for (size_t k = 0; k < s->n && status == 0; k++) {
            struct net *q = &s->net[k];

            if (i > 0 && !q->varies)
                continue;
            q->now = net_known(s, q, t, x);
            if (!q->now) {
                status = 1;
                break;
            }
            sparse_apply(&q->now->now->solve, s->raw + ORDERS * q->q->held0, s->z);
            status = (q->guess ? step_curved(s, q, rounding, size) : step_linear(s, q, i >= REFINED, &change)) ? 0 : 1;
            done = done && (!q->guess || q->done);
        }
        s->shared = false;
        if (status == 0 && curved)
            status = net_shorten(s, t, x, size);
        for (size_t k = 0; k < s->n && curved; k++)
            if (s->net[k].guess)
                change = fmax(change, fmax(s->net[k].part, 1) *
                                          s->net[k].whole); /* a step that was cut short shows no convergence */
        /* beside an infinite slope one step is small and the next is not, so both must be */
        if (s->any_varies && status == 0)
            done = (done && change == 0) || (i > 0 && change <= CONVERGED && (!curved || before <= CONVERGED)) ||
                   (i >= PATIENCE && change < CLOSE && change >= before / 2);
        stalled = status == 0 && curved && i >= PATIENCE && is_stalled(s) ? stalled + 1 : 0;
        done = (done || stalled == STALLS) && !(status == 0 && curved && come_nearer(s));
        before = change;
        if (done && curved && status == 0) {
            bool ended = change == 0 || stalled == STALLS;

            done = all_met(s, t, x, ended);
            if (ended && !done) {
                status = coarse ? 1 : 0;
                coarse = true;
                stalled = 0;
            }
        }
        if (!done && i == most)
            status = 1;
    }
    for (size_t k = 0; k < s->n; k++) {
        s->net[k].coarse = false;
        s->net[k].near = 1;
    }
    free(rounding);
    free(size);
    return status;
}

/* For nets whose coefficients depend on modes alone: one step solves them. */
static int
solve_constant(nets *s, double t, const double *x)
{
    int status;
    bool again = memcmp(s->solved_modes, s->modes, s->nmodes * sizeof *s->modes) == 0;

    memset(s->held, 0, s->nheld * sizeof *s->held);
    status = net_rows(s, t, x);
    for (size_t k = 0; k < s->n && status == 0; k++) {
        struct net *q = &s->net[k];
        double *z = s->held + q->q->held0;

        q->now = net_known(s, q, t, x);
        if (!q->now)
            return 1;
        sparse_apply(&q->now->now->solve, s->raw + ORDERS * q->q->held0, s->z);
        for (uint32_t i = 0; i < q->q->n; i++) {
            z[i] = 0 - s->z[i];
            if (!isfinite(z[i]))
                return 1;
        }
    }
    if (status == 0 && again)
        net_join(s);
    return status;
}

/* Starts of Newton's method for the unknowns of curved nets: the last solution, where slopes may be zero; then zero;
 * then points anywhere. The unknowns of linear nets start from zero. */
static void
start_from(nets *s, int place)
{
    if (place > 1)
        net_stand_anywhere(s, place);
    for (size_t k = 0; k < s->n; k++) {
        const struct net *q = &s->net[k];
        double *z = s->held + q->q->held0;

        if (place == 0 && q->guess)
            memcpy(z, q->guess, q->q->n * sizeof *z);
        else if (place <= 1 || !q->guess)
            memset(z, 0, q->q->n * sizeof *z);
    }
}

/* Steps leave what the conditions do not determine where the last solution had it. Takes the least values instead,
 * which are those that the linearized conditions give and the search for modes looks at, if the conditions are met
 * there too. */
static int
share_curved(nets *s, double t, const double *x)
{
    double *before = NULL;
    int status = 0;
    bool met = true;

    for (size_t i = 0; i < s->n; i++) {
        const struct net *k = &s->net[i];
        uint32_t n = k->q->n;
        double *z = s->held + k->q->held0, *raw = s->raw + (size_t)ORDERS * k->q->held0;

        if (!k->guess || k->now->now->free == 0)
            continue;
        if (!before) {
            before = bg_malloc(s->nheld * sizeof *before);
            memcpy(before, s->held, s->nheld * sizeof *before);
            status = net_rows(s, t, x);
        }
        for (uint32_t r = 0; r < ORDERS * n; r++)
            for (uint32_t j = 0; j < n; j++)
                raw[r] -= k->now->a[(size_t)r * n + j] * z[j];
        sparse_apply(&k->now->now->solve, raw, s->z);
        for (uint32_t j = 0; j < n; j++)
            z[j] = 0 - s->z[j];
    }
    if (before && status == 0)
        status = net_rows(s, t, x);
    for (size_t i = 0; i < s->n && before && status == 0; i++)
        met = met && (!s->net[i].guess || is_met(s, &s->net[i], NULL, false));
    if (before && (status > 0 || !met)) {
        memcpy(s->held, before, s->nheld * sizeof *before);
        status = 0;
    }
    free(before);
    return status;
}

/* Where slopes are zero at the solution (a quadratic law at rest), each step halves an unknown, which never ends: what
 * is no more than the last step leaves is zero. */
static void
drop_steps(nets *s, const struct net *k)
{
    for (uint32_t i = k->q->held0; i < k->q->held0 + k->q->n; i++)
        if (fabs(s->held[i]) <= NET_LEFT * fabs(s->stepped[i]) &&
            fabs(s->held[i]) <= NET_FLOOR * fmax(s->unit_size[s->unit[i]], NET_SMALL))
            s->held[i] = 0;
}

/* May unknown i be zero, for all that a number of its size says? That is so where slopes were not taken at it but
 * beside zero, or where the last step was about as great. */
static bool
is_little(const nets *s, size_t i)
{
    double usual = s->unit_size[s->unit[i]], a = fabs(s->held[i]);

    return a > 0 && a <= LITTLE * fmax(usual, NET_SMALL) &&
           (a < NET_BESIDE * (usual > 0 ? usual : 1) || a <= NET_LEFT * fabs(s->stepped[i]));
}

/* Newton's steps from the unknowns in s->held, with the slopes of the last iteration. */
static int
steps_from_here(nets *s, double t, const double *x, double *step)
{
    int status = net_rows(s, t, x);

    for (size_t k = 0; k < s->n && status == 0; k++)
        sparse_apply(&s->net[k].now->now->solve, s->raw + ORDERS * s->net[k].q->held0, step + s->net[k].q->held0);
    return status;
}

/* Sets the marked unknowns to zero. Does that solve the conditions as well, by steps that are no longer than the given
 * ones? Marks are left where it does. */
static bool
zeros_solve(nets *s, double t, const double *x, const double *given, double *step, bool *zero)
{
    bool solve;

    for (size_t i = 0; i < s->nheld; i++)
        s->held[i] = zero[i] ? 0 : s->held[i];
    solve = steps_from_here(s, t, x, step) == 0;
    for (size_t i = 0; i < s->nheld; i++) {
        bool as_well = fabs(step[i]) <= fabs(given[i]);

        zero[i] = zero[i] && as_well;
        solve = solve && as_well;
    }
    return solve;
}

/* Beside infinite and zero slopes an iteration that comes from other values ends near zero, not at it, and what rests
 * there would be moved by the rest for ever. Small unknowns are zero where that solves the conditions as well: mostly
 * all of them, else some. */
static int
drop_remainders(nets *s, double t, const double *x)
{
    double *kept, *given, *step;
    bool *zero, any = false, solve = false;
    int status;

    for (size_t i = 0; i < s->nheld; i++)
        any |= is_little(s, i);
    if (!any)
        return 0;
    kept = bg_malloc(s->nheld * (3 * sizeof *kept + sizeof *zero));
    given = kept + s->nheld;
    step = given + s->nheld;
    zero = (bool *)(step + s->nheld);
    memcpy(kept, s->held, s->nheld * sizeof *kept);
    for (size_t i = 0; i < s->nheld; i++)
        zero[i] = is_little(s, i);
    status = steps_from_here(s, t, x, given);
    for (int tries = 0; tries < 2 && any && !solve && status == 0; tries++) {
        memcpy(s->held, kept, s->nheld * sizeof *kept);
        solve = zeros_solve(s, t, x, given, step, zero);
        any = false;
        for (size_t i = 0; i < s->nheld; i++)
            any |= zero[i];
    }
    if (!solve) {
        memcpy(s->held, kept, s->nheld * sizeof *kept);
        status = status ? status : net_rows(s, t, x);
    }
    free(kept);
    return status;
}

/* From the last solution in small steps of the states, where Newton's method leads nowhere at once: next to limits that
 * several laws reach together, each step of it turns round which of them is beyond its own. */
static int
walk_from_last(nets *s, double t, const double *x)
{
    double *at = bg_malloc((s->nx + s->nheld + 1) * sizeof *at), *guess = at + s->nx;
    bool same = memcmp(s->solved_modes, s->modes, s->nmodes * sizeof *s->modes) == 0;
    int status = 1;

    start_from(s, 0);
    memcpy(guess, s->held, s->nheld * sizeof *guess);
    for (int parts = FEWEST_PARTS; parts <= MOST_PARTS && same && status == 1; parts *= FEWEST_PARTS) {
        memcpy(s->held, guess, s->nheld * sizeof *guess);
        status = 0;
        for (int part = 1; part <= parts && status == 0; part++) {
            for (size_t i = 0; i < s->nx; i++)
                at[i] = part == parts ? x[i] : s->solved_x[i] + (x[i] - s->solved_x[i]) * part / parts;
            status = iterate_nets(s, t, at, true);
        }
    }
    free(at);
    return status;
}

static int
solve_varying(nets *s, double t, const double *x)
{
    bool curved = nets_curved(s);
    int status = 1;

    for (int place = 0; place == 0 || (place < PLACES && curved && status == 1); place++) {
        start_from(s, place);
        status = iterate_nets(s, t, x, curved);
        if (place == 0 && curved && status == 1)
            status = walk_from_last(s, t, x);
    }
    if (status == 0 && curved)
        status = share_curved(s, t, x);
    if (status == 0 && curved)
        status = drop_remainders(s, t, x);
    for (size_t k = 0; k < s->n && status == 0; k++)
        if (s->net[k].guess) {
            drop_steps(s, &s->net[k]);
            memcpy(s->net[k].guess, s->held + s->net[k].q->held0, s->net[k].q->n * sizeof(double));
        }
    return status;
}

int
nets_solve(nets *s, double t, const double *x)
{
    int status;

    if (is_solved(s, t, x))
        return 0;
    s->solved = false;
    s->joined.used = net_joins(s);
    if (s->joined.used)
        status = net_joined_solve(s, t, x);
    else if (!net_need_partials(s))
        status = -1;
    else
        status = s->any_varies ? solve_varying(s, t, x) : solve_constant(s, t, x);
    if (status)
        return status;
    s->solved = true;
    s->solved_t = t;
    for (size_t i = 0; i < s->nx; i++)
        s->solved_x[i] = x[i];
    for (size_t i = 0; i < s->nmodes; i++)
        s->solved_modes[i] = s->modes[i];
    return 0;
}
