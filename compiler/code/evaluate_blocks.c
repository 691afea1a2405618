/* evaluate_blocks.c - blocks solved: linear ones by factors, others by Newton's method from one start after the other
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate_inside.h"

enum {
    MAX_ITERATIONS = 60,
    MAX_HALVINGS = 8,
    MAX_HOMOTOPY_STEPS = 200,
    MAX_BISECTIONS = 60, /* then Newton's method is near enough */
    REGULAR = 2,         /* steps before which a singular matrix is taken for a bad start */
    MOST_SHARED = 100,   /* unknowns of a block in which only sums of some are determined */
    EVENLY = 20,         /* steps, half as long as they might be, that share what is open evenly */
    SHARED_ROUNDS = 3,   /* of linear equations: rounding in the first is left to the others */
    MOST_EXPONENT = 300  /* of an unknown by which a column is scaled: entries stay finite */
};

/* Residuals are zero where they are CONVERGED of their terms; or ROUNDED of what these were before, if what is left of
 * the step is STILL of what the unknowns were (a flow that comes to an end through a law without slope there: not
 * exponentials that are on their way from a far start, whose terms were greater than anything by then); or of no size
 * that any quantity has. */
#define CONVERGED 1e-13
#define ROUNDED 1e-16
#define STILL 1e-7
#define NOTHING 1e-250
#define CLEARED 1e-13 /* of what an unknown was on the way: so much of it is rounding */
#define SHORT 1e-13   /* of the unknowns: two steps no longer than this are all that rounding lets Newton's method do */
#define HOMOTOPY_FIRST 0.1  /* of the way, and the least step on it: */
#define HOMOTOPY_LEAST 1e-6 /* a way that asks for shorter ones leads to a fold */
#define ZERO_MET 1e-6       /* of an unknown: Newton's method leads from a bisected zero to the same, not to another */
#define ZERO_LEAST 1e-100   /* or both are nothing */
#define SCAN_FROM 1e-6      /* of the unknown: the first step outwards, doubled from step to step; */
#define SCAN_FROM_ZERO 1e-15
#define SCAN_FAR 1e15    /* of the unknown, or of 1: the last; */
#define BRANCH_FAR 1e3   /* and where the solution on the branch of the last accepted point is looked for */
#define SIZE_LEAST 1e-12 /* sizes of unknowns in SI at which terms are looked for, in decades up to */
#define SIZE_MOST 1e13
#define LEAP 0.5    /* of an unknown's greatest size: a step in which it moves farther is looked at */
#define LITTLE 0.02 /* of a residual: what steps leave with which factors are kept */

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

/* offset: NULL, zero */
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
    for (uint32_t i = 0; i < b->n; i++) {
        run->weight[i] += fabs(rest[i]);
        run->at->most[i] = fmax(run->at->most[i], run->weight[i]);
    }
}

/* Are all residuals zero to rounding? stepped: the step from here is known. */
static bool
residuals_are_zero(const program_block *b, const struct block_run *run, bool stepped)
{
    bool converged = true;

    for (uint32_t i = 0; i < b->n; i++) {
        if (!(fabs(run->at->r[i]) <= fmax(CONVERGED * run->weight[i], fmax(ROUNDED * run->at->most[i], NOTHING))))
            return false;
        converged = converged && fabs(run->at->r[i]) <= fmax(CONVERGED * run->weight[i], NOTHING);
    }
    for (uint32_t i = 0; i < b->n && stepped && !converged; i++)
        if (!(fabs(run->at->step[i]) <= STILL * run->at->reach[i]))
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

/* Linear equations that leave something open (the pressures between valves that are shut), from the last accepted
 * point: it stays what it was, and is shared evenly at first. False: they contradict each other, or are too many. */
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
    /* the second round removes what cancellation in the first left behind */
    for (int round = 0; round < 2; round++) {
        factor_solve(run->factor, run->at->r);
        for (uint32_t i = 0; i < b->n; i++)
            run->at->z[i] -= run->at->r[i];
        residuals(v, b, run->at->z, run->at->r);
    }
    return 0;
}

/* Columns of the matrix by the sizes of their unknowns, or by what these were scaled by. */
static void
scale_columns(const program_block *b, struct block_run *run, bool back)
{
    for (uint32_t j = 0; j < b->n; j++)
        for (int64_t k = b->column_start[j]; k < b->column_start[j + 1]; k++)
            run->at->value[k] *= back ? 1 / run->at->size[j] : run->at->size[j];
}

/* Factors for the next step: those there are, as long as they serve. Where the matrix seems singular, its columns are
 * scaled by the unknowns: what a blocking junction says of its effort is far below rounding beside 1/ampere, though not
 * beside the picoamperes that flow. False: it is singular. */
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

/* A solution of which only sums are determined, and which steps have left uneven, shared evenly: what is least of all
 * that solve the same linear equations, if it solves these. */
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

/* Where something is left open, unknowns that are zero (flows through valves that are shut) end at what rounding made
 * of them, which no later iteration could tell from a flow: zero it is, if the residuals grant it. */
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

static int
iterate(evaluator *v, const program_block *b, struct block_run *run, const double *offset)
{
    uint32_t worst = 0;
    size_t singular;
    int small_steps = 0, regular = 0, shared = 0;
    bool known = false; /* the residuals at z, and w has it */

    memcpy(run->at->most, v->memory->seen + b->unknown0, b->n * sizeof(double));
    memcpy(run->at->reach, v->memory->reached + b->unknown0, b->n * sizeof(double));
    for (int it = 0; it < MAX_ITERATIONS; it++) {
        bool evenly = run->shares && it < EVENLY;
        double norm, length = 0, damping = evenly && it > 0 ? 0.5 : 1;

        if (!known)
            residuals_beside(v, b, run->at->z, offset, run->at->r);
        partials(v, b, run->at->value);
        residual_weights(b, run);
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
            run->at->reach[i] = fmax(run->at->reach[i], fabs(run->at->z[i]));
            if (run->at->step[i] != 0)
                length = fmax(length, fabs(run->at->step[i]) /
                                          fmax(fabs(run->at->z[i]), fabs(run->at->z[i] - run->at->step[i])));
        }
        if (!evenly && residuals_are_zero(b, run, true)) {
            /* the last step costs nothing more and rounds well */
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
            return shared ? fail(v, b, worst, true) : 0;
        for (int halving = 0; halving <= MAX_HALVINGS; halving++) {
            double next;
            uint32_t dummy = 0;

            for (uint32_t i = 0; i < b->n; i++)
                run->at->trial[i] = run->at->z[i] - damping * run->at->step[i];
            residuals_beside(v, b, run->at->trial, offset, run->at->r);
            next = scaled_norm(b, run->at->r, run->weight, &dummy);
            if (halving == 0)
                run->serves = b->n >= LEAST_KEPT && next <= LITTLE * norm;
            /* where something is left open, flows of no size make the norm what rounding is */
            if (run->old || next < norm ||
                ((halving == MAX_HALVINGS || ((run->keeps || run->shares) && shared)) && isfinite(next)))
                break;
            damping /= 2;
        }
        known = !run->old || run->serves;
        if (!known) /* from here again, with the matrix as it is here */
            continue;
        /* a small part of the step changes no bit: the residual is what is left of terms that cancel, whatever they are
         */
        if (!shared && damping < 1.5 / (1 << MAX_HALVINGS) &&
            !memcmp(run->at->r, run->at->before, b->n * sizeof(double)))
            return 0;
        memcpy(run->at->z, run->at->trial, b->n * sizeof(double));
    }
    return fail(v, b, worst, false);
}

/* Newton from run->at->z towards r(z) = offset (NULL: zero). On success run->at->z is the solution. */
static int
newton(evaluator *v, const program_block *b, struct block_run *run, const double *offset)
{
    int status;

    run->regular = false;
    status = iterate(v, b, run, offset);
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
        if (newton(v, b, run, offset) == 0) {
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

/* A residual of one unknown that is zero between lo and hi, where it has the signs of `below` and the opposite one. */
static bool
bisect(evaluator *v, const program_block *b, struct block_run *run, double lo, double hi, double below)
{
    double r;

    for (int i = 0; i < MAX_BISECTIONS; i++) {
        double middle = lo + (hi - lo) / 2;

        residuals(v, b, &middle, &r);
        if (!isfinite(r))
            return false;
        *((r < 0) == (below < 0) ? &lo : &hi) = middle;
    }
    run->at->z[0] = lo + (hi - lo) / 2;
    return newton(v, b, run, NULL) == 0 && fabs(run->at->z[0] - lo) <= ZERO_MET * fabs(lo) + ZERO_LEAST;
}

/* One unknown: a residual that changes sign has a zero there, also where Newton's method runs into a fold or starts
 * from zero slope. Looks outwards from z0 on both sides, in steps that grow, and takes the first zero met; of two
 * equally far the positive one (a temperature has no other). Not beyond `far`. */
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

/* Sizes of the unknowns at which terms of them reach those that are there without them: least and greatest over the
 * residuals. Quadratic and cubic laws have no slope at zero, so that nothing else tells where to begin. */
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
            if (newton(v, b, run, NULL) == 0)
                return true;
        }
    return false;
}

/* Where nothing else is a solution: from the last one, and what is not determined (the pressure between two valves that
 * are shut) stays what it was. */
static bool
from_before(evaluator *v, const program_block *b, struct block_run *run, const double *start)
{
    bool found;

    memcpy(run->at->z, start, b->n * sizeof(double));
    run->keeps = true;
    found = newton(v, b, run, NULL) == 0;
    run->keeps = false;
    return found;
}

/* Nothing was before, and the equations leave something open (valves in a row that are shut from the start): it is what
 * the way from one of the starts makes of it. */
static bool
from_afar_shared(evaluator *v, const program_block *b, struct block_run *run)
{
    bool found;

    run->shares = true;
    found = from_afar(v, b, run);
    if (found) {
        double *z = bg_malloc(b->n * sizeof *z);

        memcpy(z, run->at->z, b->n * sizeof *z);
        if (newton(v, b, run, NULL) != 0)
            memcpy(run->at->z, z, b->n * sizeof *z);
        free(z);
    }
    run->shares = false;
    return found;
}

/* Does the solution lead on from the last accepted point? On the way the determinant does not change its sign, as long
 * as the modes are the same. */
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
    if (newton(v, b, run, NULL) == 0) {
        double found = run->at->z[0], far = fabs(found);

        /* where nothing was before, another zero may be nearer */
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
        if (newton(v, b, run, NULL) == 0)
            return 0;
    }
    return !from_afar(v, b, run) && homotopy(v, b, run, b->first) != 0 &&
           !(started ? from_before(v, b, run, start) : from_afar_shared(v, b, run));
}

/* Where Newton's method has jumped to another branch, that of the start is followed. */
static bool
follow_branch(evaluator *v, const program_block *b, struct block_run *run, const double *start)
{
    return (b->n == 1 ? scan(v, b, run, start[0], BRANCH_FAR * fabs(start[0])) : homotopy(v, b, run, start) == 0) &&
           leads_on(v, b, run);
}

/* Is it far from the start, beside how large its unknowns ever were? */
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
        v->memory->leapt |= is_leap(v, b, run, start);
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
    found = newton(v, b, run, NULL) == 0 && run->regular;
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
