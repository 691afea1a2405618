/* solutions.c - see solutions.h */
#include "solutions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_UNKNOWNS = 24, /* of a block that is examined: with more, the starting points cover too little */
    STARTS = 6,         /* points from which several unknowns are started; again after each solution found */
    MOST_FOUND = 9,     /* solutions that are kept */
    MOST_STEPS = 40     /* of Newton's method from one start: deflation slows it down near solutions that are known */
};

/* One unknown: searched from AROUND times its size down to 1/AROUND of it, with steps of this ratio */
#define AROUND 1e-4
#define STEP 1.25
/* Steps are limited to so many sizes of the unknowns; a last step below this part of them has converged */
#define FARTHEST 4
#define NEAR 1e-3
/* Starting points in sizes of the unknowns: one so near the known solution, the others up to so far from zero */
#define NEAR_START 0.1
#define FAR_START 2
/* Of the unknowns: solutions closer than this are the same */
#define SAME 1e-6

struct search {
    evaluator *v;
    uint32_t k, n;
    const double *known; /* [n] the solution of the last run */
    double *found;       /* [MOST_FOUND * n] */
    size_t nfound;
};

static bool
is_same_solution(const struct search *s, const double *a, const double *b)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (!(fabs(a[i] - b[i]) <= SAME * fmax(fabs(a[i]), fabs(b[i]))))
            return false;
    return true;
}

static void
note_solution(struct search *s, const double *z)
{
    bool known = is_same_solution(s, z, s->known);

    for (uint32_t i = 0; i < s->n; i++)
        if (!isfinite(z[i]))
            return;
    for (size_t j = 0; j < s->nfound && !known; j++)
        known = is_same_solution(s, z, s->found + j * s->n);
    if (!known && s->nfound < MOST_FOUND)
        memcpy(s->found + s->nfound++ * s->n, z, s->n * sizeof *z);
}

/* Each sign change of the residual on the way outwards, on both sides of zero. */
static void
follow_signs(struct search *s, double size)
{
    double zero = 0, at_zero, z;

    evaluator_residuals(s->v, s->k, &zero, &at_zero);
    for (int side = 0; side < 2; side++) {
        double lo = 0, below = at_zero;

        for (double far = AROUND * size; far < size / AROUND; far *= STEP) {
            double hi = side ? -far : far, r;

            evaluator_residuals(s->v, s->k, &hi, &r);
            if (isfinite(below) && isfinite(r) && below != 0 && (r < 0) != (below < 0) &&
                evaluator_solve_between(s->v, s->k, lo, hi, below, &z))
                note_solution(s, &z);
            lo = hi;
            below = r;
        }
    }
}

/* The factor for a Newton step that leads away from the known solutions: deflation multiplies the residuals by a
 * product of 1 + 1/|z - known|^2, with distances in parts of the sizes (Brown and Gearhart 1971). */
static double
repulsed(const struct search *s, const double *z, const double *step, const double *size)
{
    double slope = 0; /* of the product's logarithm, along the step */

    for (size_t j = 0; j <= s->nfound; j++) {
        const double *known = j < s->nfound ? s->found + j * s->n : s->known;
        double square = 0, along = 0;

        for (uint32_t i = 0; i < s->n; i++) {
            double away = (z[i] - known[i]) / size[i];

            square += away * away;
            along += away * step[i] / size[i];
        }
        slope -= 2 * along / (square * (square + 1));
    }
    return 1 / (1 + slope);
}

/* Newton's method from z with deflation of the known solutions. */
static void
lead_away(struct search *s, double *z, double *step, const double *size)
{
    for (int it = 0; it < MOST_STEPS; it++) {
        double longest = 0, by;

        if (!evaluator_step(s->v, s->k, z, step))
            return;
        by = repulsed(s, z, step, size);
        for (uint32_t i = 0; i < s->n; i++)
            longest = fmax(longest, fabs(by * step[i]) / size[i]);
        if (!isfinite(longest))
            return;
        for (uint32_t i = 0; i < s->n; i++)
            z[i] -= by * step[i] * fmin(1, FARTHEST / longest);
        if (longest < NEAR && evaluator_solve_from(s->v, s->k, z, step)) {
            note_solution(s, step);
            return;
        }
    }
}

/* Starts beside the known solution, at its mirror image and at points of its size; again after each solution found. */
static void
start_about(struct search *s, double most)
{
    double *room = bg_calloc(s->n * 3, sizeof *room), *size = room + s->n, *z = size + s->n;
    size_t before;

    for (uint32_t i = 0; i < s->n; i++)
        size[i] = fmax(fabs(s->known[i]), NEAR * most);
    do {
        before = s->nfound;
        for (uint32_t start = 0; start < STARTS; start++) {
            for (uint32_t i = 0; i < s->n; i++) {
                double part = (double)(int64_t)bg_hash_mix(i + 1, 83 + start) * 0x1p-63;

                z[i] = start == 0   ? s->known[i] + NEAR_START * part * size[i]
                       : start == 1 ? -s->known[i]
                                    : FAR_START * part * size[i];
            }
            lead_away(s, z, room, size);
        }
    } while (s->nfound > before && s->nfound < MOST_FOUND);
    free(room);
}

size_t
solutions_of_block(evaluator *v, uint32_t k, double **others)
{
    const program_block *b = &evaluator_routine(v)->block.at[k];
    struct search s = { .v = v, .k = k, .n = b->n };
    double least, greatest, size = 0, *known;

    *others = NULL;
    if (b->linear || b->n > MOST_UNKNOWNS)
        return 0;
    known = bg_malloc(b->n * sizeof *known);
    memcpy(known, evaluator_variables(v) + b->w0, b->n * sizeof *known);
    s.known = known;
    s.found = *others = bg_calloc(MOST_FOUND * (size_t)b->n, sizeof(double));
    evaluator_start_sizes(v, k, &least, &greatest);
    for (uint32_t i = 0; i < b->n; i++)
        size = fmax(size, fabs(known[i]));
    if (size == 0)
        size = isfinite(least) && greatest > 0 ? sqrt(least * greatest) : 1;
    if (b->n == 1)
        follow_signs(&s, size);
    else
        start_about(&s, size);
    evaluator_put_back(v, k, known);
    free(known);
    return s.nfound;
}
