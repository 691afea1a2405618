/* net_solve.c - held unknowns for given modes, see net.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "net_inside.h"

enum {
    MAX_ITERATIONS = 40, /* where coefficients vary with time or states alone, or kept variables: three or four do */
    MAX_CURVED = 100,    /* an exponential goes down by one exponent a step */
    PATIENCE = 4,        /* steps before rounding is looked at */
    PLACES = 4,          /* where iterations begin, one after the other (start_from) */
    STALLS = 3           /* steps in a row that move nothing */
};
#define OF_NOISE 1e-2   /* of what rounding may have left: a step that is shorter is one of rounding */
#define CONVERGED 1e-13 /* last step of an iteration, in parts of the unknowns */
#define OF_UNIT 0.1     /* or in parts of this much of the greatest value of their unit, where they pass zero */
#define NO_PART 1e-14   /* of a step: moves nothing */
#define CLOSE 1e-9      /* of the unknowns: steps that are shorter, and no longer get much shorter, are of rounding */
#define MET 1e-12       /* of a condition's terms: what is left of it at a solution */

static bool
is_solved(const nets *s, double t, const double *x)
{
    return s->solved && s->solved_t == t && memcmp(s->solved_modes, s->modes, s->nmodes * sizeof(double)) == 0 &&
           (s->nx == 0 || memcmp(s->solved_x, x, s->nx * sizeof(double)) == 0);
}

/* The unknowns of linear nets, moved onto their conditions: *change: in parts of them or, near zero, of what they have
 * been. */
static bool
step_linear(nets *s, struct net *q, double *change)
{
    double *z = s->held + q->q->held0, most = 0, moved = 0;

    for (uint32_t i = 0; i < q->q->n; i++) {
        z[i] -= s->z[i];
        if (!isfinite(z[i]))
            return false;
    }
    for (uint32_t i = 0; i < q->q->n && q->varies; i++) {
        most = fmax(most, fmax(fabs(z[i]), OF_UNIT * s->unit_size[s->unit[q->q->held0 + i]]));
        moved = fmax(moved, fabs(s->z[i]));
    }
    if (q->varies && moved > 0)
        *change = fmax(*change, moved / most);
    return true;
}

/* The step that a curved net's tangents ask for, and its length. rounding (or NULL): of all rows; where it is all there
 * is, the solution is found. */
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

/* What is left of the conditions is little beside their terms, or rounding. Where a slope is none (of an exponential
 * that blocks), the coefficients of a curved net's last step leave unknowns without a value, or read a constraint on
 * states in the place of a condition, which may be far from met. Beyond a fold, too, steps come to an end. */
static bool
is_met(const nets *s, const struct net *k, const double *rounding)
{
    uint32_t n = k->q->n;

    for (uint32_t i = 0; i < n; i++) {
        size_t row = (size_t)ORDERS * (k->q->held0 + i);
        double all = k->rows[ORDERS * i], steps = 0; /* what the last steps of an iteration may leave */

        for (uint32_t j = 0; j < n; j++) {
            double of = fabs(k->now->a[(size_t)ORDERS * i * n + j]);

            all = fmax(all, of * fabs(s->held[k->q->held0 + j]));
            steps = fmax(steps, of * fmax(s->unit_size[s->unit[k->q->held0 + j]], NET_SMALL));
        }
        if (!(fabs(s->raw[row]) <= MET * all + CONVERGED * (steps + NET_SMALL) + (rounding ? rounding[row] : 0)))
            return false;
    }
    return true;
}

/* The same of all curved nets. Of one whose states must meet some of its conditions that drift from them a little is
 * left too: there it has to do that its steps have become short. ended: there is no way on; those that fail take no
 * slope any more that is rounding (two exponentials that block in a row: what their slopes make of rounding hides what
 * is left). */
static bool
all_met(nets *s, double t, const double *x, bool ended)
{
    const double *rounding = NULL;
    bool all = true;

    for (size_t i = 0; i < s->n; i++) {
        struct net *k = &s->net[i];
        uint32_t constraints = k->guess ? net_general(s, k, t, x).constraints : 0;
        bool bound = constraints > 0 && k->now->now->free == 0 && k->now->now->constraint.n <= constraints,
             met = !k->guess || (bound && (!ended || k->whole <= CLOSE)) || is_met(s, k, rounding);

        if (!met && !rounding && net_rounding(s, t, x, s->raw_noise) == 0 &&
            net_rounding_of_unknowns(s, t, x, s->raw_noise) == 0) {
            rounding = s->raw_noise;
            met = is_met(s, k, rounding);
        }
        k->coarse |= ended && !met;
        all = all && met;
    }
    return all;
}

/* No part of a step that can be told from none leaves less of the conditions: what is left of them is rounding, or
 * there is no way on from here. */
static bool
is_stalled(const nets *s)
{
    bool stalled = true;

    for (size_t k = 0; k < s->n && stalled; k++)
        stalled = !s->net[k].guess || s->net[k].whole == 0 || s->net[k].part <= NO_PART;
    return stalled;
}

/* Newton's method from the unknowns as they are. curved: any net is. */
static int
iterate(nets *s, double t, const double *x, bool curved)
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
            status = (q->guess ? step_curved(s, q, rounding, size) : step_linear(s, q, &change)) ? 0 : 1;
            done = done && (!q->guess || q->done);
        }
        if (status == 0 && curved)
            status = net_shorten(s, t, x, size);
        for (size_t k = 0; k < s->n && curved; k++)
            if (s->net[k].guess)
                change = fmax(change, fmax(s->net[k].part, 1) * s->net[k].whole); /* a short step is no small one */
        /* the step beside an infinite slope is small too, and the next one is not */
        if (s->any_varies && status == 0)
            done = (done && change == 0) || (i > 0 && change <= CONVERGED && (!curved || before <= CONVERGED)) ||
                   (i >= PATIENCE && change < CLOSE && change >= before / 2);
        stalled = status == 0 && curved && i >= PATIENCE && is_stalled(s) ? stalled + 1 : 0;
        done = done || stalled == STALLS;
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
    for (size_t k = 0; k < s->n; k++)
        s->net[k].coarse = false;
    free(rounding);
    free(size);
    return status;
}

/* The unknowns where nothing but modes changes the coefficients: solved at once. */
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

/* Where the unknowns of curved nets are before Newton's method: as at the last solution, which may lie where slopes say
 * nothing; zero; anywhere. Those of linear nets are zero. */
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

static int
solve_varying(nets *s, double t, const double *x)
{
    bool curved = nets_curved(s);
    int status = 1;

    for (int place = 0; place == 0 || (place < PLACES && curved && status == 1); place++) {
        start_from(s, place);
        status = iterate(s, t, x, curved);
    }
    for (size_t k = 0; k < s->n && status == 0; k++)
        if (s->net[k].guess)
            memcpy(s->net[k].guess, s->held + s->net[k].q->held0, s->net[k].q->n * sizeof(double));
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
