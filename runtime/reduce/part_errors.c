/* part_errors.c - see part_errors.h */
#include "part_errors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "factor.h"
#include "shared_points.h"
#include "side_by_side.h"

/* Points of the grid, and number of times T: fewer where there is much to compute or store, so that it takes some
 * seconds at most; with fewer than TIMES_LEAST there is no prediction. */
enum { POINTS = 501, TIMES_MOST = 40, TIMES_LEAST = 4 };
/* The error of a part that has no tolerance left or exceeds it by this factor: known to be hopeless, unlike INFINITY,
 * which means unknown. */
static const double HOPELESS = 1e300;
/* Rates that change at a switching by less than this share of their greatest value count as continuous: a step of the
 * grid lies between the switching and the points that are compared. */
static const double SMOOTH = 0.05;
static const double MOST_WORK = 4e9, WORK_OF_STATE = 20, MOST_NUMBERS = 3e7;

/* A point of the grid costs as much as so many runs that pass it. */
enum { POINT_IN_RUNS = 16 };

/* What those that share the times T tell each other. */
struct division {
    atomic_size_t left[TIMES_MOST]; /* by share: points that it has not passed */
    atomic_uint owner[TIMES_MOST];  /* by time: the share that computes its runs, from 1 on; 0: open */
    float moves[];                  /* as in part_moves, if they are asked for */
};

/* The LU factors of the step to a point, and the points at which their pivots were chosen, and those tried first (0: in
 * the first runs' own factors). */
struct step_factor {
    factor *of;
    size_t tried, chosen;
    bool fine;
};

/* Data of the model for the backward runs. */
struct backward {
    bg_model *model;
    partials *of;
    var_id *by; /* the factors, which it differentiates by */
    size_t nby;
    struct model_pattern pattern;
    size_t nx, n;        /* states; and kept variables */
    size_t first_output; /* its row */
    size_t nelements;
    struct model_removal *part; /* by element */
    size_t *column_of;          /* of its factor, in the pattern */
    struct shared_points points;
    const double *value, *rate; /* partial derivatives; rates of states: at the present point */
    int64_t *column, *row;      /* of the transposed matrix of states and kept variables */
    uint32_t *from;             /* its entries in the pattern */
    double *matrix;
    factor *analysed;          /* of this pattern, never of numbers */
    factor *begins;            /* where runs begin */
    struct step_factor *steps; /* of the points that are kept, for all shares; behind them, one of this share alone */
    struct step_factor own, *step; /* step: to the present point */
    factor *pivots;                /* as they were at the last point */
    size_t pivots_of;              /* where they were chosen; NO_INDEX: nowhere yet */
    const held_output *held;
    /* number of backward runs that have begun: those of the latest times T, one for each output */
    size_t nheld, ntimes, begun;
    size_t times, share, shares; /* number of times T so far; this share, of so many */
    size_t time[TIMES_MOST];     /* those of the runs that have begun here */
    struct division *division;
    const sim_result *run; /* forwards */
    part_moves *moves;     /* NULL: not computed */
    size_t room;           /* capacity in runs */
    double *w, *right;     /* [run][n], in the order in which they begin */
    double *moved;         /* see moved_at */
};

/* Runs processed together in one pass, because little is done for each. */
enum { TOGETHER = 8 };

static bool
open_backward(struct backward *b, bg_model *m, const held_output *held, size_t nheld)
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

static struct step_factor
new_step(const struct backward *b)
{
    return (struct step_factor){ .of = factor_beside(b->analysed), .tried = NO_INDEX, .chosen = NO_INDEX };
}

/* The transposed pattern, and factors for it. */
static void
turn_pattern(struct backward *b)
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

static void
release_pattern(struct backward *b)
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

/* Adds the effect of each element on the outputs of `count` runs (a constant for TOGETHER runs): the column of its
 * factor, and the rate of its state, times w; states weighted by `weight`, kept variables by `by`. */
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

/* The point of the grid at which the runs of a time begin: the last point, and others evenly spaced before it. */
static size_t
begins_at(const struct backward *b, size_t time)
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
            work += b->nheld * (begins_at(b, k) < left ? begins_at(b, k) : left);
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

static void
set_grid_modes(const struct backward *b, size_t p)
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

    set_grid_modes(b, p);
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
        size_t next = begins_at(b, b->times);
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

static double *
of_reading(const struct backward *b, part_error *out, size_t e, int k)
{
    return is_resting(b, e, k) ? &out[e].rests : &out[e].dropped;
}

static void
raise(double *to, double error)
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

            raise(of_reading(b, out, i / 2, i % 2), moved == 0 ? 0 : moved / tolerance);
        }
}

static bool
is_known_reading(const struct backward *b, size_t e, int k)
{
    return k == 0 ? b->part[e].factor != VAR_NONE : b->part[e].state != NONE;
}

/* Writes the moves of this share: a factor changes from 1 to 0, and a rate is no longer taken up. */
static void
write_moves(const struct backward *b)
{
    for (size_t i = 0; i < 2 * b->nelements; i++) {
        bool known = is_known_reading(b, i / 2, i % 2);
        float *to = b->division->moves + (i / 2 * 2 + is_resting(b, i / 2, i % 2)) * b->moves->n;

        for (size_t run = 0; run < b->begun; run++)
            to[b->time[run / b->nheld] * b->nheld + run % b->nheld] = known ? -(float)b->moved[moved_at(b, i, run)]
                                                                            : NAN;
    }
}

/* The runs of one share of the times. *result: a leading zero, then one error for each element. */
static bool
run_share(struct backward *b, size_t i, part_error *out)
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

static void
open_moves(const struct backward *b)
{
    part_moves *m = b->moves;

    *m = (part_moves){ .ntimes = b->ntimes, .nheld = b->nheld, .n = b->ntimes * b->nheld };
    m->time = bg_calloc(m->ntimes + 1, sizeof *m->time);
    m->at = bg_malloc((2 * b->nelements * m->n + 1) * sizeof *m->at);
    for (size_t k = 0; k < m->ntimes; k++)
        m->time[k] = b->run->time[begins_at(b, k)];
}

void
part_moves_free(part_moves *m)
{
    free(m->time);
    free(m->at);
    influence_free(m->influence);
    *m = (part_moves){ 0 };
}

/* All shares: what they say of the elements, one behind the other; each of several threads has an instance of its own.
 */
struct shares {
    const struct backward *all;
    struct backward *of;
    part_error *said;
};

static void
run_in_thread(void *ctx, size_t i)
{
    const struct shares *s = ctx;
    part_error *said = s->said + i * (s->all->nelements + 1);

    if (!s->of[i].of || !run_share(&s->of[i], i, said))
        said->dropped = NAN;
}

static bool
run_in_process(void *ctx, size_t i, void *result)
{
    struct backward own = *((const struct shares *)ctx)->all;

    return run_share(&own, i, result);
}

/* Runs the shares in threads. */
static void
run_threads(struct shares *s)
{
    const struct backward *b = s->all;

    s->of = bg_calloc(b->shares, sizeof *s->of);
    for (size_t i = 0; i < b->shares; i++) {
        s->of[i] = *b;
        if (i == 0)
            continue;
        s->of[i].model = model_another(b->model);
        s->of[i].of = model_partials(s->of[i].model, b->by, b->nby, model_noutputs(b->model));
    }
    crew_share(b->shares, run_in_thread, s);
    for (size_t i = 1; i < b->shares; i++)
        model_free(s->of[i].model);
    free(s->of);
}

/* The solution of a block starts from that of the last point, and so may depend on it: such models go on from the end
 * of the run, in processes with a copy of everything where memory can be shared. */
static void
run_shares(struct backward *b, size_t moves, part_error *said)
{
    size_t bytes = sizeof *b->division + moves;
    bool apart = model_has_blocks(b->model) && b->shares > 1;
    struct shares s = { .all = b, .said = said };
    void *shared = apart ? side_memory_new(bytes) : NULL;

    b->division = shared ? shared : bg_calloc(1, bytes);
    if (apart && !shared)
        b->shares = 1;
    turn_pattern(b);
    b->points =
        (struct shared_points){ .users = b->shares, .numbers = b->pattern.nonzeros + b->nx + 1, .n = b->run->points };
    if (!apart && b->shares > 1)
        b->points.memory = shared_points_new(b->shares, b->points.numbers);
    for (size_t i = 0; i < b->shares; i++)
        atomic_store(&b->division->left[i], b->run->points);
    if (apart)
        side_by_side(b->shares, (b->nelements + 1) * sizeof *said, b->shares, run_in_process, &s, said);
    else
        run_threads(&s);
    if (b->moves)
        memcpy(b->moves->at, b->division->moves, moves);
    if (shared)
        side_memory_free(shared, bytes);
    else
        free(b->division);
    free(b->points.memory);
    release_pattern(b);
}

/* Runs all shares; each element gets the greatest error of any share. */
static bool
run_all(struct backward *b, part_error *out)
{
    size_t each = b->nelements + 1, moves = 0;
    part_error *of = bg_calloc(b->shares * each, sizeof *of);
    bool fine = true;

    b->room = b->ntimes * b->nheld;
    if (b->moves) {
        open_moves(b);
        moves = 2 * b->nelements * b->moves->n * sizeof(float);
    }
    run_shares(b, moves, of);
    for (size_t i = 0; i < b->shares; i++) {
        const part_error *said = of + i * each;

        fine = fine && said->dropped == 0;
        for (size_t e = 0; e < b->nelements && fine; e++) {
            raise(&out[e].dropped, said[e + 1].dropped);
            raise(&out[e].rests, said[e + 1].rests);
        }
    }
    for (size_t e = 0; e < b->nelements; e++) {
        for (int k = 0; k < 2; k++) {
            double *to = of_reading(b, out, e, k);

            *to = is_known_reading(b, e, k) && isfinite(*to) ? *to : INFINITY;
        }
    }
    free(of);
    return fine;
}

/* The greatest rate of each state; `rate` is a work array. False: rates are not known. */
static bool
find_greatest_rates(const struct backward *b, double *rate, double *greatest)
{
    const sim_result *r = b->run;
    bool fine = true;

    for (size_t p = 0; p < r->points && fine; p++) {
        set_grid_modes(b, p);
        fine = model_rhs(b->model, r->time[p], r->state + p * b->nx, rate) == 0;
        for (size_t i = 0; i < b->nx && fine; i++)
            greatest[i] = fmax(greatest[i], fabs(rate[i]));
    }
    return fine;
}

/* Where rates are continuous at every switching, errors and w pass it unchanged. A jump of the rates would add a
 * dependence on the time of switching, and events that set states would make jumps of their own. */
static bool
switches_smoothly(const struct backward *b)
{
    const sim_result *r = b->run;
    size_t n = model_nmodes(b->model);
    double *rate = bg_calloc(3 * b->nx + 1, sizeof *rate), *before = rate + b->nx, *greatest = before + b->nx;
    bool fine = n && model_nwhens(b->model) == 0 && find_greatest_rates(b, rate, greatest);

    for (size_t p = 1; p < r->points && fine; p++) {
        const double *x = r->state + p * b->nx;

        if (!memcmp(r->mode + p * n, r->mode + (p - 1) * n, n * sizeof(double)))
            continue;
        set_grid_modes(b, p - 1);
        fine = model_rhs(b->model, r->time[p], x, before) == 0;
        set_grid_modes(b, p);
        fine = fine && model_rhs(b->model, r->time[p], x, rate) == 0;
        for (size_t i = 0; i < b->nx && fine; i++)
            fine = fabs(rate[i] - before[i]) <= SMOOTH * greatest[i];
    }
    free(rate);
    return fine;
}

bool
part_errors(bg_model *m, sim_options *so, const held_output *held, size_t nheld, size_t workers, part_error *out,
            part_moves *moves)
{
    struct backward b;
    sim_result r = { 0 };
    bool fine = open_backward(&b, m, held, nheld);

    so->points = POINTS;
    so->outputs = false;
    so->states = so->modes = true;
    b.run = &r;
    b.moves = moves;
    b.shares = workers < b.ntimes ? workers : b.ntimes;
    fine = fine && simulate(m, so, &r) && r.nparted == 0 && r.nsamples == 0 && !r.stopped &&
           (r.nevents == 0 || switches_smoothly(&b)) && run_all(&b, out);
    if (!fine && moves)
        part_moves_free(moves);
    else if (moves)
        moves->influence = influence_new(m, held, nheld, &r);
    sim_result_free(&r);
    free(b.by);
    free(b.part);
    free(b.column_of);
    return fine;
}
