/* evaluate_blocks.c - solves blocks: linear ones by their factors, others by Newton's method from several starts */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate_inside.h"

enum {
    MAX_ITERATIONS = 60,
    MAX_HALVINGS = 8,
    MAX_HOMOTOPY_STEPS = 200,
    MAX_BISECTIONS = 64, /* so many, and the ends of the interval are neighbouring numbers (half_way) */
    REGULAR = 2,         /* a singular matrix before so many regular steps is the start's fault: another one is tried */
    MOST_SHARED = 100,   /* unknowns of a block in which only sums of some are determined (dense least squares) */
    EVENLY = 20,         /* first steps that distribute undetermined sums evenly; halved from the second one on */
    SHARED_ROUNDS = 3,   /* of linear equations: the later ones remove the rounding of the first */
    ONE_WAY = 8,         /* pieces in which the way between two solutions of one equation is looked at */
    MOST_EXPONENT = 300  /* of the power of two that scales a column: its entries stay finite */
};

/* A residual counts as zero in three cases.
 * - It is at most CONVERGED times the size of its terms.
 * - It is at most ROUNDED times the size that its terms had earlier, and the Newton step is at most STILL times the
 *   unknowns. So a flow stops that decays through a law with zero slope, where the terms shrink with the residual. The
 *   condition on the step is for exponentials: coming from a far start, their earlier terms exceed all later ones.
 * - It is at most NOTHING, less than any physical quantity. */
#define CONVERGED 1e-13
#define ROUNDED 1e-16
#define STILL 1e-7
#define NOTHING 1e-250
#define PIVOTS 0.1         /* of an equation's largest coefficient: the unknown may be solved from it */
#define CLEARED 1e-13      /* of an unknown's greatest value during the iteration: its rounding */
#define SHORT 1e-13        /* of the unknowns: the second step as short as this ends the iteration, it is rounding */
#define MET 1e-6           /* of a residual's terms: with steps so short, more is no rounding */
#define FAR 1e6            /* of the unknowns: so long a step shows that there is no slope, not that all is rounding; */
#define FAR_LEAST 1.0      /* and at least so long, SI */
#define HOMOTOPY_FIRST 0.1 /* first step of the homotopy's parameter, which goes from 0 to 1; */
#define HOMOTOPY_LEAST 1e-6  /* and its least step: a path that needs shorter ones turns back (a fold) */
#define ZERO_MET 1e-6        /* of an unknown: Newton's method must confirm a bisected zero within this distance, */
#define ZERO_LEAST 1e-100    /* plus this distance in SI, for a zero at zero */
#define SCAN_FROM 1e-6       /* of the unknown: first step of the search outwards, doubled each time; */
#define SCAN_FROM_ZERO 1e-15 /* in SI, where the unknown is zero */
#define SCAN_FAR 1e15        /* of the unknown, or of 1: greatest distance of that search; */
#define BRANCH_FAR 1e3       /* of the unknown: the same, in the search for the branch of the last accepted point */
#define SIZE_LEAST 1e-12     /* in SI: sizes of unknowns that start_sizes tries, by decades, */
#define SIZE_MOST 1e13       /* up to this one */
#define LEAP 0.5             /* of an unknown's greatest size: a solution farther than this may be another branch */
#define LITTLE 0.02 /* of a residual: a step that leaves no more than this shows that the old factors still serve */

static void
run_chunks(evaluator *v, const program_block *b, const block_code *code, size_t n, double *to)
{
    for (size_t i = 0; i < n; i++)
        v->code->located[code[i].chunk](v->t, v->x, v->w, v->p, v->modes, to, b->place + code[i].place0);
}

static void
residuals(evaluator *v, const program_block *b, const double *z, double *r)
{
    const block_class *c = &v->g->block_class.at[b->class_];

    memcpy(v->w + b->w0, z, b->n * sizeof(double));
    run_chunks(v, b, c->residual.at, c->residual.n, r);
}

/* r(z) - offset; offset NULL is zero */
static void
residuals_beside(evaluator *v, const program_block *b, const double *z, const double *offset, double *r)
{
    residuals(v, b, z, r);
    for (uint32_t i = 0; i < b->n && offset; i++)
        r[i] -= offset[i];
}

static void
partials(evaluator *v, const program_block *b, double *value)
{
    const block_class *c = &v->g->block_class.at[b->class_];

    run_chunks(v, b, c->partial.at, c->partial.n, value);
}

static int
fail(evaluator *v, const program_block *b, uint32_t row, bool singular)
{
    v->memory->failed = b->block;
    v->memory->failed_row = row;
    v->memory->failed_singular = singular;
    return 1;
}

/* Size of each residual's terms: |J||z| + |r - J z|. A residual small against it is zero to rounding. */
static void
residual_weights(const program_block *b, struct block_run *run)
{
    double *rest = run->at->trial;

    memset(run->weight, 0, b->n * sizeof(double));
    memcpy(rest, run->at->r, b->n * sizeof(double));
    for (uint32_t j = 0; j < b->n; j++)
        for (int64_t k = b->column_start[j]; k < b->column_start[j + 1]; k++) {
            double term = run->at->value[k] * run->at->z[j];

            run->weight[b->row[k]] += fabs(term);
            rest[b->row[k]] -= term;
        }
    for (uint32_t i = 0; i < b->n; i++)
        run->weight[i] += fabs(rest[i]);
}

/* Are all residuals zero to rounding? stepped: the Newton step from here is known. The terms and unknowns are compared
 * with their sizes at accepted points and at the iteration's start, not with those on its way. This may lead far out,
 * and beside terms of 1e99 every residual would be rounding. */
static bool
residuals_are_zero(const program_block *b, const struct block_run *run, bool stepped)
{
    bool converged = true;

    for (uint32_t i = 0; i < b->n; i++) {
        if (!(fabs(run->at->r[i]) <=
              fmax(CONVERGED * run->weight[i], fmax(ROUNDED * fmax(run->at->most[i], run->weight[i]), NOTHING))))
            return false;
        converged = converged && fabs(run->at->r[i]) <= fmax(CONVERGED * run->weight[i], NOTHING);
    }
    for (uint32_t i = 0; i < b->n && stepped && !converged; i++)
        if (!(fabs(run->at->step[i]) <= STILL * fmax(run->at->reach[i], fabs(run->at->z[i]))))
            return false;
    return true;
}

static double
scaled_norm(const program_block *b, const double *r, const double *weight, uint32_t *worst)
{
    double norm = 0;

    for (uint32_t i = 0; i < b->n; i++) {
        double s = weight[i] > 0 ? fabs(r[i]) / weight[i] : r[i] == 0 ? 0 : 1;

        if (!(s <= norm)) {
            norm = isfinite(s) ? s : INFINITY;
            *worst = i;
            if (!isfinite(s))
                break;
        }
    }
    return norm;
}

/* Linear equations that leave unknowns undetermined (the pressures between closed valves). These keep the values of
 * the last accepted point; at first they are shared evenly. False: the equations contradict each other, or there are
 * too many. */
static bool
solve_shared(evaluator *v, const program_block *b, struct block_run *run)
{
    double left = INFINITY;

    if (b->n == 1 || b->n > MOST_SHARED)
        return false;
    if (v->memory->started[b->block])
        memcpy(run->at->z, v->memory->start + b->unknown0, b->n * sizeof(double));
    for (int round = 0; round < SHARED_ROUNDS; round++) {
        residuals(v, b, run->at->z, run->at->r);
        if (!factor_shared_step(run->factor, run->at->value, run->at->r, run->at->z, false, run->at->step, &left))
            return false;
        for (uint32_t i = 0; i < b->n; i++)
            run->at->z[i] -= run->at->step[i];
    }
    return left <= CONVERGED;
}

static int
solve_linear(evaluator *v, const program_block *b, struct block_run *run, bool constant)
{
    size_t singular;

    memset(run->at->z, 0, b->n * sizeof(double));
    residuals(v, b, run->at->z, run->at->r);
    if (!constant || !run->factored) {
        partials(v, b, run->at->value);
        if (!factor_numeric(run->factor, run->at->value, &singular))
            return !constant && solve_shared(v, b, run) ? 0 : fail(v, b, (uint32_t)singular, true);
        run->factored = true;
    }
    /* the second round removes the error that cancellation left in the first */
    for (int round = 0; round < 2; round++) {
        factor_solve(run->factor, run->at->r);
        for (uint32_t i = 0; i < b->n; i++)
            run->at->z[i] -= run->at->r[i];
        residuals(v, b, run->at->z, run->at->r);
    }
    return 0;
}

/* Scales the matrix columns by the sizes of their unknowns, or by the sizes used before. */
static void
scale_columns(const program_block *b, struct block_run *run, bool back)
{
    for (uint32_t j = 0; j < b->n; j++)
        for (int64_t k = b->column_start[j]; k < b->column_start[j + 1]; k++)
            run->at->value[k] *= back ? 1 / run->at->size[j] : run->at->size[j];
}

/* Factors for the next step; the old ones while they are good enough. If the matrix seems singular, its columns are
 * scaled by the unknowns: in a blocking junction the entry of its effort is far below rounding beside 1/ampere, but
 * not beside the picoamperes that flow. False: it is singular. */
static bool
factor_or_keep(const program_block *b, struct block_run *run, size_t *singular)
{
    run->old = run->serves;
    if (run->serves)
        return true;
    run->sized = false;
    if (factor_numeric(run->factor, run->at->value, singular))
        return true;
    for (uint32_t i = 0; i < b->n; i++) {
        int exponent;
        double size = fabs(run->at->z[i]);

        frexp(size, &exponent);
        run->at->size[i] = size > NOTHING ? ldexp(1, exponent < MOST_EXPONENT ? exponent : MOST_EXPONENT) : 1;
        run->sized |= run->at->size[i] != 1;
    }
    if (!run->sized)
        return false;
    scale_columns(b, run, false);
    run->sized = factor_numeric(run->factor, run->at->value, singular);
    scale_columns(b, run, true);
    return run->sized;
}

/* Only some sums are determined, and the steps left their terms uneven: takes the solution of least norm of the same
 * linear equations, if it also solves the block. */
static void
share_evenly(evaluator *v, const program_block *b, struct block_run *run, const double *offset)
{
    bool solves = factor_shared_step(run->factor, run->at->value, run->at->r, run->at->z, true, run->at->step, NULL);

    for (uint32_t i = 0; i < b->n && solves; i++)
        run->at->trial[i] = run->at->z[i] - run->at->step[i];
    if (solves)
        residuals_beside(v, b, run->at->trial, offset, run->at->r);
    for (uint32_t i = 0; i < b->n && solves; i++)
        solves = fabs(run->at->r[i]) <= fmax(CONVERGED * run->weight[i], NOTHING);
    if (solves)
        memcpy(run->at->z, run->at->trial, b->n * sizeof(double));
}

/* If unknowns are undetermined, others that should be zero (flows through closed valves) contain rounding, which
 * later iterations could not tell from a flow. Sets them to exactly zero if the residuals allow it. */
static void
clear_rounding(evaluator *v, const program_block *b, struct block_run *run)
{
    bool zero = true;

    residuals(v, b, run->at->z, run->at->before);
    for (uint32_t i = 0; i < b->n; i++)
        run->at->trial[i] = fabs(run->at->z[i]) <= CLEARED * run->at->reach[i] ? 0 : run->at->z[i];
    residuals(v, b, run->at->trial, run->at->r);
    for (uint32_t i = 0; i < b->n && zero; i++)
        zero = fabs(run->at->r[i]) <= fmax(CONVERGED * run->weight[i], fabs(run->at->before[i]));
    if (zero)
        memcpy(run->at->z, run->at->trial, b->n * sizeof(double));
}

/* An unknown at zero (the flow through a closed valve) contains what rounding leaves of the others, in its own equation
 * beside nothing else: there the weight is raised to the rounding of the equations in which it is among the largest
 * coefficients. Otherwise no step would seem to lead nearer to the solution. */
static void
weigh_rounding(const program_block *b, struct block_run *run)
{
    double *most = bg_calloc(2 * (size_t)b->n + 1, sizeof *most), *size = most + b->n;

    for (int64_t k = 0; k < b->column_start[b->n]; k++)
        most[b->row[k]] = fmax(most[b->row[k]], fabs(run->at->value[k]));
    for (uint32_t j = 0; j < b->n; j++)
        for (int64_t k = b->column_start[j]; k < b->column_start[j + 1]; k++)
            if (fabs(run->at->value[k]) >= PIVOTS * most[b->row[k]] && run->at->value[k] != 0)
                size[j] = fmax(size[j], run->weight[b->row[k]] / fabs(run->at->value[k]));
    for (uint32_t j = 0; j < b->n; j++)
        for (int64_t k = b->column_start[j]; k < b->column_start[j + 1]; k++)
            run->weight[b->row[k]] = fmax(run->weight[b->row[k]], ROUNDED * fabs(run->at->value[k]) * size[j]);
    free(most);
}

/* Does the step lead far beyond all sizes of the unknowns? Nothing but that a law has no slope can be learned from it
 * (an exponential that blocks, whose equation has no solution). */
static bool
leads_far(const program_block *b, const struct block_run *run)
{
    bool far = false;

    for (uint32_t i = 0; i < b->n; i++)
        far |= fabs(run->at->step[i]) > fmax(FAR * fmax(fabs(run->at->z[i]), run->at->reach[i]), FAR_LEAST);
    return far;
}

static int
iterate_block(evaluator *v, const program_block *b, struct block_run *run, const double *offset)
{
    uint32_t worst = 0;
    size_t singular;
    int small_steps = 0, regular = 0, shared = 0;
    bool known = false; /* the residuals at z, which is in w already */

    memcpy(run->at->most, v->memory->seen + b->unknown0, b->n * sizeof(double));
    memcpy(run->at->reach, v->memory->reached + b->unknown0, b->n * sizeof(double));
    for (int it = 0; it < MAX_ITERATIONS; it++) {
        bool evenly = run->shares && it < EVENLY;
        double norm, length = 0, damping = evenly && it > 0 ? 0.5 : 1;

        if (!known)
            residuals_beside(v, b, run->at->z, offset, run->at->r);
        partials(v, b, run->at->value);
        residual_weights(b, run);
        for (uint32_t i = 0; i < b->n && it == 0; i++) {
            run->at->most[i] = fmax(run->at->most[i], run->weight[i]);
            run->at->reach[i] = fmax(run->at->reach[i], fabs(run->at->z[i]));
        }
        norm = scaled_norm(b, run->at->r, run->weight, &worst);
        if (!isfinite(norm))
            return fail(v, b, worst, false);
        if (norm == 0 && !evenly)
            return 0;
        run->regular = factor_or_keep(b, run, &singular);
        if (run->regular) {
            regular++;
            memcpy(run->at->step, run->at->r, b->n * sizeof(double));
            factor_solve(run->factor, run->at->step);
            for (uint32_t i = 0; i < b->n && run->sized; i++)
                run->at->step[i] *= run->at->size[i];
        } else if (b->n == 1 || b->n > MOST_SHARED ||
                   ((!b->smooth || regular < REGULAR) && !run->keeps && !run->shares) ||
                   !factor_shared_step(run->factor, run->at->value, run->at->r, run->at->z,
                                       evenly || (shared == 0 && !run->keeps && !run->shares), run->at->step, NULL)) {
            return residuals_are_zero(b, run, false) ? 0 : fail(v, b, (uint32_t)singular, true);
        } else {
            shared++;
        }
        memcpy(run->at->before, run->at->r, b->n * sizeof(double));
        for (uint32_t i = 0; i < b->n; i++) {
            if (run->at->step[i] != 0)
                length = fmax(length, fabs(run->at->step[i]) /
                                          fmax(fabs(run->at->z[i]), fabs(run->at->z[i] - run->at->step[i])));
        }
        if (!evenly && residuals_are_zero(b, run, true)) {
            /* a last step is free and reduces rounding */
            for (uint32_t i = 0; i < b->n && norm <= CONVERGED; i++)
                run->at->z[i] -= run->at->step[i];
            if (shared > 1 && !run->keeps)
                share_evenly(v, b, run, offset);
            if (run->shares || run->keeps)
                clear_rounding(v, b, run);
            return 0;
        }
        /* steps at rounding level that no longer reduce the residual */
        if (length < SHORT && ++small_steps >= 2)
            return shared || norm > MET ? fail(v, b, worst, shared > 0) : 0;
        for (int halving = 0; halving <= MAX_HALVINGS; halving++) {
            double next;
            uint32_t dummy = 0;

            for (uint32_t i = 0; i < b->n; i++)
                run->at->trial[i] = run->at->z[i] - damping * run->at->step[i];
            residuals_beside(v, b, run->at->trial, offset, run->at->r);
            next = scaled_norm(b, run->at->r, run->weight, &dummy);
            if (halving == 0 && !(next < norm) && b->n > 1) {
                weigh_rounding(b, run);
                norm = scaled_norm(b, run->at->before, run->weight, &dummy);
                next = scaled_norm(b, run->at->r, run->weight, &dummy);
            }
            if (halving == 0)
                run->serves = b->n >= LEAST_KEPT && next <= LITTLE * norm;
            /* Old factors are judged by their whole step. While only sums are determined, and after the last halving,
             * a greater residual is taken too: near zero its terms are so small that the norm measures rounding. */
            if (run->old || next < norm ||
                ((halving == MAX_HALVINGS || ((run->keeps || run->shares) && shared)) && isfinite(next)))
                break;
            damping /= 2;
        }
        known = !run->old || run->serves;
        if (!known) /* continues from here with a new matrix */
            continue;
        /* the shortest part of the step changed no bit of the residuals: they are rounding of terms that cancel */
        if (!shared && !leads_far(b, run) && damping < 1.5 / (1 << MAX_HALVINGS) &&
            !memcmp(run->at->r, run->at->before, b->n * sizeof(double)))
            return 0;
        memcpy(run->at->z, run->at->trial, b->n * sizeof(double));
    }
    return fail(v, b, worst, false);
}

/* Newton from run->at->z towards r(z) = offset (NULL: zero). On success run->at->z is the solution. */
static int
newton_on_block(evaluator *v, const program_block *b, struct block_run *run, const double *offset)
{
    int status;

    run->regular = false;
    status = iterate_block(v, b, run, offset);
    run->sense = status == 0 && run->regular ? (int8_t)factor_sense(run->factor) : 0;
    return status;
}

/* Newton homotopy from z0: r(z) = (1 - lambda) r(z0), lambda from 0 to 1 in steps that adapt. */
static int
homotopy(evaluator *v, const program_block *b, struct block_run *run, const double *z0)
{
    double *r0 = bg_malloc((size_t)b->n * 3 * sizeof(double)), *offset = r0 + b->n, *kept = offset + b->n;
    double lambda = 0, step = HOMOTOPY_FIRST;
    int status = 1;

    memcpy(run->at->z, z0, b->n * sizeof(double));
    residuals(v, b, run->at->z, r0);
    memcpy(kept, run->at->z, b->n * sizeof(double));
    for (int i = 0; i < MAX_HOMOTOPY_STEPS && step > HOMOTOPY_LEAST; i++) {
        double next = fmin(1, lambda + step);

        for (uint32_t k = 0; k < b->n; k++)
            offset[k] = (1 - next) * r0[k];
        if (newton_on_block(v, b, run, offset) == 0) {
            lambda = next;
            memcpy(kept, run->at->z, b->n * sizeof(double));
            step *= 2;
            if (lambda >= 1) {
                status = 0;
                break;
            }
        } else {
            memcpy(run->at->z, kept, b->n * sizeof(double));
            step /= 4;
        }
    }
    free(r0);
    return status;
}

/* The number with as many numbers on the side of lo as on that of hi. A mean would reach a zero of 1e-40, between 0 and
 * 1e-15, after a hundred halvings only. */
static double
half_way(double lo, double hi)
{
    double a = fabs(lo), b = fabs(hi), middle;
    uint64_t of_a, of_b;

    if ((lo < 0 && hi > 0) || (lo > 0 && hi < 0))
        return 0;
    memcpy(&of_a, &a, sizeof a);
    memcpy(&of_b, &b, sizeof b);
    of_a = of_a < of_b ? of_a + (of_b - of_a) / 2 : of_b + (of_a - of_b) / 2;
    memcpy(&middle, &of_a, sizeof middle);
    return lo < 0 || hi < 0 ? -middle : middle;
}

/* Bisects a residual of one unknown, which has the sign of `below` at lo and the opposite one at hi. */
static bool
bisect(evaluator *v, const program_block *b, struct block_run *run, double lo, double hi, double below)
{
    double r;

    for (int i = 0; i < MAX_BISECTIONS; i++) {
        double middle = half_way(lo, hi);

        residuals(v, b, &middle, &r);
        if (!isfinite(r))
            return false;
        *((r < 0) == (below < 0) ? &lo : &hi) = middle;
    }
    run->at->z[0] = half_way(lo, hi);
    return newton_on_block(v, b, run, NULL) == 0 && fabs(run->at->z[0] - lo) <= ZERO_MET * fabs(lo) + ZERO_LEAST;
}

/* One unknown: a residual that changes sign has a zero there, even if Newton's method runs into a fold or starts at
 * zero slope. Searches outwards from z0 on both sides with growing steps, up to `far`, and takes the first zero. Of
 * two at equal distance it takes the positive one, since a temperature has no other. */
static bool
scan(evaluator *v, const program_block *b, struct block_run *run, double z0, double far)
{
    double at[2] = { z0, z0 }, value[2], r;

    residuals(v, b, &z0, &r);
    value[0] = value[1] = r;
    for (double step = z0 != 0 ? SCAN_FROM * fabs(z0) : SCAN_FROM_ZERO; step < 2 * far; step *= 2)
        for (int side = 0; side < 2; side++) {
            double lo = at[side], hi = z0 + (side ? -step : step), below = value[side];

            residuals(v, b, &hi, &r);
            if (!isfinite(r))
                continue;
            at[side] = hi;
            value[side] = r;
            if (isfinite(below) && (r < 0) != (below < 0) && bisect(v, b, run, lo, hi, below))
                return true;
        }
    return false;
}

/* Sizes of the unknowns at which their terms equal the terms without them: least and greatest over the residuals.
 * Quadratic and cubic laws have zero slope at zero, so that nothing else gives a scale to start from. */
static void
start_sizes(evaluator *v, const program_block *b, struct block_run *run, double *least, double *greatest)
{
    double *r0 = run->at->step;

    *least = INFINITY;
    *greatest = 0;
    memset(run->at->trial, 0, b->n * sizeof(double));
    residuals(v, b, run->at->trial, r0);
    for (uint32_t i = 0; i < b->n; i++)
        run->weight[i] = 0; /* reached */
    for (double size = SIZE_LEAST; size < SIZE_MOST; size *= 10) {
        for (uint32_t i = 0; i < b->n; i++)
            run->at->trial[i] = size;
        residuals(v, b, run->at->trial, run->at->r);
        for (uint32_t i = 0; i < b->n; i++)
            if (r0[i] != 0 && run->weight[i] == 0 && fabs(run->at->r[i] - r0[i]) >= fabs(r0[i])) {
                run->weight[i] = 1;
                *least = fmin(*least, size);
                *greatest = fmax(*greatest, size);
            }
    }
}

/* Newton's method from several starts away from zero. */
static bool
from_afar(evaluator *v, const program_block *b, struct block_run *run)
{
    double size[3];

    start_sizes(v, b, run, &size[0], &size[1]);
    size[2] = 1;
    for (int k = 0; k < 3; k++)
        for (int signs = 0; signs < 3; signs++) {
            if (!isfinite(size[k]) || size[k] == 0)
                continue;
            for (uint32_t i = 0; i < b->n; i++)
                run->at->z[i] = signs == 0 || (signs == 1 && bg_hash_mix(i + 1, 7) >> 63) ? size[k] : -size[k];
            if (newton_on_block(v, b, run, NULL) == 0)
                return true;
        }
    return false;
}

/* From the last accepted solution, in such a way that undetermined unknowns (the pressure between two closed valves)
 * keep their values. If modes may have made the matrix singular, this is tried next; otherwise when all else failed, so
 * that a solution that determines every unknown is preferred. */
static bool
from_before(evaluator *v, const program_block *b, struct block_run *run, const double *start)
{
    bool found;

    memcpy(run->at->z, start, b->n * sizeof(double));
    run->keeps = true;
    found = newton_on_block(v, b, run, NULL) == 0;
    run->keeps = false;
    return found;
}

/* At the start of a run, with equations that leave unknowns undetermined (closed valves in a row): the iteration
 * from one of the starts determines them. */
static bool
from_afar_shared(evaluator *v, const program_block *b, struct block_run *run)
{
    bool found;

    run->shares = true;
    found = from_afar(v, b, run);
    if (found) {
        double *z = bg_malloc(b->n * sizeof *z);

        memcpy(z, run->at->z, b->n * sizeof *z);
        if (newton_on_block(v, b, run, NULL) != 0)
            memcpy(run->at->z, z, b->n * sizeof *z);
        free(z);
    }
    run->shares = false;
    return found;
}

/* Does the solution continue the last accepted one? If so, the determinant keeps its sign along the way, as long as
 * the modes are the same. */
static bool
leads_on(const evaluator *v, const program_block *b, const struct block_run *run)
{
    const block_memory *m = v->memory;

    return !m->sense || run->sense * m->sense[b->block] >= 0 ||
           memcmp(m->modes, v->modes, m->nmodes * sizeof(double)) != 0;
}

static int
solve_from(evaluator *v, const program_block *b, struct block_run *run, const double *start, bool started)
{
    memcpy(run->at->z, start, b->n * sizeof(double));
    if (newton_on_block(v, b, run, NULL) == 0) {
        double found = run->at->z[0], far = fabs(found);

        /* at the start of a run another zero may be nearer */
        if (started || b->n > 1 || found == 0 || !scan(v, b, run, 0, far))
            run->at->z[0] = found;
        return 0;
    }
    if (b->n == 1)
        return !scan(v, b, run, started ? start[0] : 0, SCAN_FAR * fmax(1, started ? fabs(start[0]) : 0));
    if (started && !b->smooth && v->memory->failed_singular && from_before(v, b, run, start))
        return 0;
    if (started) {
        memcpy(run->at->z, b->first, b->n * sizeof(double));
        if (newton_on_block(v, b, run, NULL) == 0)
            return 0;
    }
    return !from_afar(v, b, run) && homotopy(v, b, run, b->first) != 0 &&
           !(started ? from_before(v, b, run, start) : from_afar_shared(v, b, run));
}

/* If Newton's method has jumped to another branch, follows the branch of the start. */
static bool
follow_branch(evaluator *v, const program_block *b, struct block_run *run, const double *start)
{
    return (b->n == 1 ? scan(v, b, run, start[0], BRANCH_FAR * fabs(start[0])) : homotopy(v, b, run, start) == 0) &&
           leads_on(v, b, run);
}

/* Does the residual of one unknown rise, or fall, all the way from the start to the solution? Then it moved there,
 * however far that is of what it has been (the flow between equal levels is their rounding). */
static bool
is_one_way(evaluator *v, const program_block *b, const struct block_run *run, const double *start)
{
    double r[ONE_WAY + 1];
    bool rises = true, falls = true;

    for (int k = 0; k <= ONE_WAY; k++) {
        double z = start[0] + (run->at->z[0] - start[0]) * k / ONE_WAY;

        residuals(v, b, &z, &r[k]);
    }
    for (int k = 0; k < ONE_WAY; k++) {
        rises = rises && r[k + 1] > r[k];
        falls = falls && r[k + 1] < r[k];
    }
    return rises || falls;
}

/* Is the solution far from the start, compared with the unknowns' greatest sizes? */
static bool
is_leap(const evaluator *v, const program_block *b, const struct block_run *run, const double *start)
{
    const double *reached = v->memory->reached + b->unknown0;

    for (uint32_t i = 0; i < b->n; i++)
        if (fabs(run->at->z[i] - start[i]) > LEAP * fmax(reached[i], fabs(run->at->z[i])))
            return true;
    return false;
}

static int
solve_nonlinear(evaluator *v, const program_block *b, struct block_run *run)
{
    bool started = v->memory->started[b->block];
    const double *start = started ? v->memory->start + b->unknown0 : b->first;
    int status = solve_from(v, b, run, start, started);

    if (status == 0 && started)
        v->memory->leapt |= is_leap(v, b, run, start) && !(b->n == 1 && is_one_way(v, b, run, start));
    if (status != 0 || !started || leads_on(v, b, run))
        return status;
    double *found = bg_malloc(b->n * sizeof *found);
    int8_t sense = run->sense;

    memcpy(found, run->at->z, b->n * sizeof *found);
    if (!follow_branch(v, b, run, start)) {
        memcpy(run->at->z, found, b->n * sizeof *found);
        run->sense = sense;
        v->memory->left = true;
    }
    free(found);
    return 0;
}

int
evaluator_run_block(evaluator *v, uint32_t k)
{
    const program_block *b = &v->g->block.at[k];
    struct block_run *run = &v->block[k];
    int status = b->linear ? solve_linear(v, b, run, b->constant) : solve_nonlinear(v, b, run);

    memcpy(v->w + b->w0, run->at->z, b->n * sizeof(double));
    for (uint32_t i = 0; i < b->n && status == 0; i++)
        if (!isfinite(run->at->z[i]))
            status = fail(v, b, i, false);
    return status;
}

void
evaluator_residuals(evaluator *v, uint32_t k, const double *z, double *r)
{
    residuals(v, &v->g->block.at[k], z, r);
}

bool
evaluator_solve_from(evaluator *v, uint32_t k, const double *z0, double *z)
{
    const program_block *b = &v->g->block.at[k];
    struct block_run *run = &v->block[k];
    bool found;

    memcpy(run->at->z, z0, b->n * sizeof *z0);
    found = newton_on_block(v, b, run, NULL) == 0 && run->regular;
    memcpy(z, run->at->z, b->n * sizeof *z);
    return found;
}

bool
evaluator_step(evaluator *v, uint32_t k, const double *z, double *step)
{
    const program_block *b = &v->g->block.at[k];
    size_t singular;

    residuals(v, b, z, step);
    partials(v, b, v->block[k].at->value);
    v->block[k].serves = false;
    if (!factor_numeric(v->block[k].factor, v->block[k].at->value, &singular))
        return false;
    factor_solve(v->block[k].factor, step);
    return true;
}

bool
evaluator_solve_between(evaluator *v, uint32_t k, double lo, double hi, double below, double *z)
{
    bool found = bisect(v, &v->g->block.at[k], &v->block[k], lo, hi, below);

    *z = v->block[k].at->z[0];
    return found;
}

void
evaluator_start_sizes(evaluator *v, uint32_t k, double *least, double *greatest)
{
    start_sizes(v, &v->g->block.at[k], &v->block[k], least, greatest);
}

void
evaluator_put_back(evaluator *v, uint32_t k, const double *z)
{
    memcpy(v->w + v->g->block.at[k].w0, z, v->g->block.at[k].n * sizeof *z);
    memcpy(v->block[k].at->z, z, v->g->block.at[k].n * sizeof *z);
}
