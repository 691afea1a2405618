/* part_backward.c - see part_backward.h */
#include "part_backward.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The error of a part that has no tolerance left or exceeds it by this factor: known to be hopeless, unlike INFINITY,
 * which means unknown. */
static const double HOPELESS = 1e300;
static const double MOST_WORK = 4e9, WORK_OF_STATE = 20, MOST_NUMBERS = 3e7;

/* A point of the grid costs as much as so many runs that pass it. */
enum { POINT_IN_RUNS = 16 };

/* Runs processed together in one pass, because little is done for each. */
enum { TOGETHER = 8 };

bool
backward_open(struct backward *b, bg_model *m, const held_output *held, size_t nheld)
{
    double work;

    *b = (struct backward){ .model = m, .held = held, .nheld = nheld, .nelements = model_nelements(m) };
    b->by = bg_calloc(b->nelements + 1, sizeof *b->by);
    b->part = bg_calloc(b->nelements + 1, sizeof *b->part);
    b->column_of = bg_calloc(b->nelements + 1, sizeof *b->column_of);
    for (size_t e = 0; e < b->nelements; e++) {
        b->part[e] = model_removal(m, e);
        b->column_of[e] = b->nby;
        if (b->part[e].factor != VAR_NONE)
            b->by[b->nby++] = b->part[e].factor;
    }
    b->of = model_partials(m, b->by, b->nby, model_noutputs(m));
    if (b->of) {
        b->pattern = model_partials_pattern(b->of);
        b->nx = b->pattern.nx;
        b->first_output = b->pattern.n - model_noutputs(m);
        b->n = b->first_output - b->nby;
        for (size_t e = 0; e < b->nelements; e++)
            b->column_of[e] += b->n;
    }
    work = (double)nheld * POINTS * (WORK_OF_STATE * (double)b->n + (double)b->nelements);
    b->ntimes = TIMES_MOST;
    while (b->ntimes >= TIMES_LEAST &&
           ((double)b->ntimes * work > MOST_WORK || (double)(b->ntimes * nheld * (b->n + b->nelements)) > MOST_NUMBERS))
        b->ntimes--;
    return b->of && nheld && b->ntimes >= TIMES_LEAST;
}

void
backward_close(struct backward *b)
{
    free(b->by);
    free(b->part);
    free(b->column_of);
}

static struct step_factor
new_step(const struct backward *b)
{
    return (struct step_factor){ .of = factor_beside(b->analysed), .tried = NO_INDEX, .chosen = NO_INDEX };
}

void
backward_turn_pattern(struct backward *b)
{
    int64_t *next = bg_calloc(b->n + 1, sizeof *next);

    b->column = bg_calloc(b->n + 1, sizeof *b->column);
    b->row = bg_calloc(b->pattern.nonzeros + 1, sizeof *b->row);
    b->from = bg_calloc(b->pattern.nonzeros + 1, sizeof *b->from);
    for (int64_t k = 0; k < b->pattern.column[b->n]; k++)
        if ((size_t)b->pattern.row[k] < b->n)
            b->column[b->pattern.row[k] + 1]++;
    for (size_t c = 0; c < b->n; c++)
        next[c] = b->column[c + 1] += b->column[c];
    for (size_t c = b->n; c-- > 0;)
        next[c] = b->column[c];
    for (size_t c = 0; c < b->n; c++)
        for (int64_t k = b->pattern.column[c]; k < b->pattern.column[c + 1]; k++) {
            size_t r = (size_t)b->pattern.row[k];

            if (r < b->n) {
                b->row[next[r]] = (int64_t)c;
                b->from[next[r]++] = (uint32_t)k;
            }
        }
    free(next);
    b->analysed = factor_new(b->n, b->column, b->row, 0);
    b->steps = bg_calloc(SHARED_POINTS_KEPT, sizeof *b->steps);
    for (size_t k = 0; k < SHARED_POINTS_KEPT; k++)
        b->steps[k] = new_step(b);
}

void
backward_release_pattern(struct backward *b)
{
    for (size_t k = 0; k < SHARED_POINTS_KEPT; k++)
        factor_free(b->steps[k].of);
    factor_free(b->analysed);
    free(b->steps);
    free(b->column);
    free(b->row);
    free(b->from);
}

static void
prepare_backward(struct backward *b)
{
    b->points.own = bg_calloc(b->points.numbers, sizeof *b->points.own);
    b->matrix = bg_calloc(b->pattern.nonzeros + 1, sizeof *b->matrix);
    b->w = bg_malloc((b->room * b->n + 1) * sizeof *b->w);
    b->right = bg_malloc((b->room * b->n + 1) * sizeof *b->right);
    b->moved = bg_malloc((b->room + TOGETHER) * 2 * b->nelements * sizeof *b->moved);
    b->begins = factor_beside(b->analysed);
    b->pivots = factor_beside(b->analysed);
    b->pivots_of = NO_INDEX;
    b->own = new_step(b);
}

static void
release_backward(struct backward *b)
{
    factor_free(b->begins);
    factor_free(b->pivots);
    factor_free(b->own.of);
    free(b->points.own);
    free(b->matrix);
    free(b->w);
    free(b->right);
    free(b->moved);
}

/* Factors the transpose of [I - gamma f_x, -gamma f_z; g_x, g_z]. */
static bool
factor_backward(const struct backward *b, const double *value, double gamma, factor *out)
{
    size_t singular;

    for (size_t r = 0; r < b->n; r++)
        for (int64_t k = b->column[r]; k < b->column[r + 1]; k++) {
            double v = value[b->from[k]];

            b->matrix[k] = r >= b->nx ? v : ((size_t)b->row[k] == r) - gamma * v;
        }
    return factor_numeric(out, b->matrix, &singular);
}

/* The length of the step to the k-th point of the grid from its end. */
static double
step_length(const struct backward *b, size_t k)
{
    size_t p = b->run->points - 1 - k;

    return b->run->time[p + 1] - b->run->time[p];
}

/* Factors the step to the k-th point. It tries the pivots of the last point that this share has passed: where that is
 * not the one before, they may turn out to be others (step_at). */
static void
factor_step(const struct backward *b, size_t k, const double *value, struct step_factor *x)
{
    size_t choices;

    if (x->chosen != b->pivots_of)
        factor_follow(x->of, b->pivots);
    choices = factor_choices(x->of);
    x->tried = b->pivots_of;
    x->fine = factor_backward(b, value, step_length(b, k) / 2, x->of);
    x->chosen = !x->fine ? NO_INDEX : factor_choices(x->of) == choices ? b->pivots_of : k;
}

/* The factors of the step to the k-th point, the present one. They and their pivots are those that one share alone
 * would have, whichever share computed them. */
static bool
step_at(struct backward *b, size_t k, size_t place)
{
    b->step = place < SHARED_POINTS_KEPT ? &b->steps[place] : &b->own;
    if (b->step->tried != b->pivots_of)
        factor_step(b, k, b->value, b->step = &b->own);
    if (b->step->fine && b->step->chosen != b->pivots_of) {
        factor_follow(b->pivots, b->step->of);
        b->pivots_of = b->step->chosen;
    }
    return b->step->fine;
}

/* Place of the i-th of 2*nelements effects of a run: those of TOGETHER runs lie side by side. */
static inline size_t
moved_at(const struct backward *b, size_t i, size_t run)
{
    return (run / TOGETHER * 2 * b->nelements + i) * TOGETHER + run % TOGETHER;
}

/* Adds the effect of each element on the outputs of `count` runs (a constant for TOGETHER runs and half as many): the
 * column of its factor, and the rate of its state, times w; states weighted by `weight`, kept variables by `by`. */
static inline void
add_moves_of(const struct backward *b, size_t first, size_t count, double weight, double by)
{
    const double *w = b->w + first * b->n;

    for (size_t e = 0; e < b->nelements; e++) {
        const struct model_removal *p = &b->part[e];
        double *moved = b->moved + moved_at(b, 2 * e, first), sum[TOGETHER] = { 0 };
        const int64_t *column = b->pattern.column + b->column_of[e];

        for (int64_t k = column[0]; p->factor != VAR_NONE && k < column[1]; k++) {
            size_t r = (size_t)b->pattern.row[k];
            double times = r < b->nx ? weight : by;

            for (size_t i = 0; i < count && r < b->n; i++)
                sum[i] += b->value[k] * (times * w[i * b->n + r]);
        }
        for (size_t i = 0; i < count; i++)
            moved[i] += sum[i];
        for (size_t i = 0; i < count && p->state != NONE; i++)
            moved[TOGETHER + i] += weight * w[i * b->n + p->state] * b->rate[p->state];
    }
}

static void
add_element_moves(const struct backward *b, size_t first, size_t count, double weight, double by)
{
    while (count) {
        size_t group = TOGETHER - first % TOGETHER, n = group < count ? group : count;

        if (n == TOGETHER)
            add_moves_of(b, first, TOGETHER, weight, by);
        else if (n == TOGETHER / 2)
            add_moves_of(b, first, TOGETHER / 2, weight, by);
        else
            add_moves_of(b, first, n, weight, by);
        first += n;
        count -= n;
    }
}

/* out: [f_x' w; f_z' w] */
static void
multiply_transposed(const struct backward *b, const double *w, double *out)
{
    for (size_t c = 0; c < b->n; c++) {
        out[c] = 0;
        for (int64_t k = b->pattern.column[c]; k < b->pattern.column[c + 1]; k++)
            if ((size_t)b->pattern.row[k] < b->nx)
                out[c] += b->value[k] * w[b->pattern.row[k]];
    }
}

/* Clears what a run adds to. New memory is written before it is read: what is read first becomes a page of zeros that
 * the first write replaces, for which the system interrupts the other threads. */
static void
clear_run(struct backward *b, size_t run)
{
    memset(b->w + run * b->n, 0, b->n * sizeof *b->w);
    if (run % TOGETHER == 0)
        memset(b->moved + moved_at(b, 0, run), 0, 2 * b->nelements * TOGETHER * sizeof *b->moved);
}

/* Starts w for an output with its row of partial derivatives; adds what the output reads of a factor directly. */
static void
read_output(struct backward *b, size_t run, size_t row)
{
    double *w = b->w + run * b->n;

    clear_run(b, run);
    for (size_t c = 0; c < b->n; c++)
        for (int64_t k = b->pattern.column[c]; k < b->pattern.column[c + 1]; k++)
            if ((size_t)b->pattern.row[k] == row)
                w[c] = b->value[k];
    for (size_t e = 0; e < b->nelements; e++)
        for (int64_t k = b->pattern.column[b->column_of[e]];
             b->part[e].factor != VAR_NONE && k < b->pattern.column[b->column_of[e] + 1]; k++)
            if ((size_t)b->pattern.row[k] == row)
                b->moved[moved_at(b, 2 * e, run)] += b->value[k];
}

size_t
backward_begins_at(const struct backward *b, size_t time)
{
    return (b->run->points - 1) * (b->ntimes - time) / b->ntimes;
}

/* The work that is left for a share, in runs that pass one point. */
static size_t
work_left(const struct backward *b, size_t share)
{
    size_t left = atomic_load(&b->division->left[share]), work = left * POINT_IN_RUNS;

    for (size_t k = 0; k < b->ntimes; k++)
        if (atomic_load(&b->division->owner[k]) == share + 1)
            work += b->nheld * (backward_begins_at(b, k) < left ? backward_begins_at(b, k) : left);
    return work;
}

/* Does this share compute the runs of the k-th time? The share that comes there first gives them to the one with the
 * least work left: another may have begun later, or may get less of its core. */
static bool
is_own_time(const struct backward *b, size_t k)
{
    size_t least = b->share, work = work_left(b, b->share);
    unsigned open = 0;

    for (size_t i = 0; i < b->shares && atomic_load(&b->division->owner[k]) == 0; i++)
        if (work_left(b, i) < work) {
            work = work_left(b, i);
            least = i;
        }
    atomic_compare_exchange_strong(&b->division->owner[k], &open, (unsigned)least + 1);
    return atomic_load(&b->division->owner[k]) == b->share + 1;
}

/* Starts the runs of one more time at the present point. They count with half of the grid's next interval `left`. Kept
 * variables are eliminated from the output's row, so that it depends on states alone, and from A' w. Every share of the
 * times factors the matrix, so that all of them use the same pivots; the first step begins with these too. */
static bool
begin_runs(struct backward *b, double left)
{
    size_t first = b->begun;
    double *w = b->w + first * b->n, *right = b->right + first * b->n;

    if (!factor_backward(b, b->value, 0, b->begins))
        return false;
    if (b->times == 0) {
        factor_follow(b->pivots, b->begins);
        b->pivots_of = 0;
    }
    if (!is_own_time(b, b->times++))
        return true;
    b->time[first / b->nheld] = b->times - 1;
    b->begun += b->nheld;
    for (size_t i = 0; i < b->nheld; i++)
        read_output(b, first + i, b->first_output + b->held[i].output);
    if (!factor_solve_several(b->begins, b->nheld, w))
        return false;
    add_element_moves(b, first, b->nheld, 0, -1);
    for (size_t i = 0; i < b->nheld; i++)
        multiply_transposed(b, w + i * b->n, right + i * b->n);
    if (!factor_solve_several(b->begins, b->nheld, right))
        return false;
    for (size_t i = 0; i < b->nheld; i++) {
        double *of = w + i * b->n, *next = right + i * b->n;

        memcpy(of + b->nx, next + b->nx, (b->n - b->nx) * sizeof *of);
        for (size_t k = 0; k < b->nx; k++)
            next[k] = of[k] + left / 2 * next[k];
    }
    add_element_moves(b, first, b->nheld, left / 2, -left / 2);
    return true;
}

/* One step backwards of length h; its end counts with half of the next interval `left` too. right: w + h/2 A' w of the
 * later point. */
static bool
step_back(struct backward *b, double h, double left)
{
    if (!b->begun)
        return true;
    for (size_t i = 0; i < b->begun; i++) {
        double *w = b->w + i * b->n, *right = b->right + i * b->n;

        memcpy(w, right, b->nx * sizeof *w);
        memset(w + b->nx, 0, (b->n - b->nx) * sizeof *w);
    }
    if (!factor_solve_beside(b->step->of, b->pivots, b->begun, b->w))
        return false;
    add_element_moves(b, 0, b->begun, (h + left) / 2, -(h + left) / h);
    for (size_t i = 0; i < b->begun; i++) {
        double *w = b->w + i * b->n, *right = b->right + i * b->n;

        for (size_t k = 0; k < b->nx; k++) /* the solution differs from w by A' w h/2 */
            right[k] = w[k] + (w[k] - right[k]) * left / h;
    }
    return true;
}

void
backward_set_modes(const struct backward *b, size_t p)
{
    size_t n = model_nmodes(b->model);

    if (n)
        memcpy(model_modes(b->model), b->run->mode + p * n, n * sizeof(double));
}

/* Partial derivatives and rates at the k-th point of the grid from its end, and the factors of the step to it */
static bool
compute_point(void *ctx, size_t k, size_t place, double *out)
{
    struct backward *b = ctx;
    const sim_result *r = b->run;
    size_t p = r->points - 1 - k;
    const double *x = r->state + p * b->nx;

    backward_set_modes(b, p);
    if (model_has_blocks(b->model))
        model_accept(b->model, r->time[p], x);
    if (model_partials_at(b->model, b->of, r->time[p], x, out) != 0 ||
        model_rhs(b->model, r->time[p], x, out + b->pattern.nonzeros) != 0)
        return false;
    if (k > 0)
        factor_step(b, k, out, place < SHARED_POINTS_KEPT ? &b->steps[place] : &b->own);
    return true;
}

static bool
look_at_point(struct backward *b, size_t p)
{
    size_t k = b->run->points - 1 - p, place;

    b->value = shared_points_at(&b->points, k, compute_point, b, &place);
    b->rate = b->value ? b->value + b->pattern.nonzeros : NULL;
    return b->value && (k == 0 || step_at(b, k, place));
}

static bool
run_back(struct backward *b)
{
    const sim_result *r = b->run;
    bool fine = true;

    for (size_t p = r->points; p-- > 0 && fine;) {
        size_t next = backward_begins_at(b, b->times);
        double left = p > 0 ? r->time[p] - r->time[p - 1] : 0;

        atomic_store(&b->division->left[b->share], p);
        fine = look_at_point(b, p) && (p + 1 == r->points || step_back(b, r->time[p + 1] - r->time[p], left)) &&
               (p != next || p == 0 || begin_runs(b, left));
    }
    return fine;
}

/* Does the k-th number of an element refer to its junction at rest (and not to dropping it)? */
static bool
is_resting(const struct backward *b, size_t e, int k)
{
    return (k == 0) == b->part[e].rests;
}

double *
backward_of_reading(const struct backward *b, part_error *out, size_t e, int k)
{
    return is_resting(b, e, k) ? &out[e].rests : &out[e].dropped;
}

void
backward_raise(double *to, double error)
{
    if (isnan(error) || error > *to) /* NAN is kept */
        *to = error > HOPELESS ? HOPELESS : error;
}

/* Converts the effects to errors over tolerances. */
static void
measure_errors_back(const struct backward *b, part_error *out)
{
    for (size_t i = 0; i < 2 * b->nelements; i++)
        for (size_t run = 0; run < b->begun; run++) {
            double moved = fabs(b->moved[moved_at(b, i, run)]), tolerance = b->held[run % b->nheld].tolerance;

            backward_raise(backward_of_reading(b, out, i / 2, i % 2), moved == 0 ? 0 : moved / tolerance);
        }
}

bool
backward_knows_reading(const struct backward *b, size_t e, int k)
{
    return k == 0 ? b->part[e].factor != VAR_NONE : b->part[e].state != NONE;
}

/* Writes the moves of this share: a factor changes from 1 to 0, and a rate is no longer taken up. */
static void
write_moves(const struct backward *b)
{
    for (size_t i = 0; i < 2 * b->nelements; i++) {
        bool known = backward_knows_reading(b, i / 2, i % 2);
        float *to = b->division->moves + (i / 2 * 2 + is_resting(b, i / 2, i % 2)) * b->moves->n;

        for (size_t run = 0; run < b->begun; run++)
            to[b->time[run / b->nheld] * b->nheld + run % b->nheld] = known ? -(float)b->moved[moved_at(b, i, run)]
                                                                            : NAN;
    }
}

bool
backward_run_share(struct backward *b, size_t i, part_error *out)
{
    bool fine;

    memset(out, 0, (b->nelements + 1) * sizeof *out);
    b->share = b->points.user = i;
    b->begun = b->times = 0;
    prepare_backward(b);
    fine = run_back(b);
    if (fine)
        measure_errors_back(b, out + 1);
    if (fine && b->moves)
        write_moves(b);
    release_backward(b);
    return fine;
}
