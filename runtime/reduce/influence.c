/* influence.c - see influence.h */
#include "influence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points of the run at which derivatives are looked at: evenly spaced, without the start, where much is zero. */
enum { POINTS = 3 };

struct influence {
    bg_model *model; /* an instance of its own, without what was taken out */
    partials *of;
    struct model_pattern pattern;
    size_t nx, n, first_output, nelements; /* states; and kept variables; row of the first output */
    struct model_removal *part;            /* by element */
    size_t *column_of;                     /* by element: the column of its factor */
    double time[POINTS], *state, *mode;    /* of the points */
    double *value, *sum;                   /* partial derivatives in a point; magnitudes in all of them */
    size_t *begin, *entry, *column;        /* entries by row, and their columns */
    bool *reached;                         /* row: what it defines acts on an output; output: it is one of them */
    VEC(size_t) todo;
    bool *held; /* by output */
    bool known, failed;
};

static void
keep_points(influence *x, const sim_result *run)
{
    size_t nmodes = model_nmodes(x->model);

    for (size_t k = 0; k < POINTS; k++) {
        size_t p = (run->points - 1) * (k + 1) / POINTS;

        x->time[k] = run->time[p];
        memcpy(x->state + k * x->nx, run->state + p * x->nx, x->nx * sizeof(double));
        if (nmodes)
            memcpy(x->mode + k * nmodes, run->mode + p * nmodes, nmodes * sizeof(double));
    }
}

/* The entries by row, from those by column: a counting sort. Counts are kept two places further on, so that the second
 * loop, which moves each row's beginning up to its end, leaves begin[r] where row r begins. */
static void
turn_pattern(influence *x)
{
    const struct model_pattern *p = &x->pattern;

    for (size_t k = 0; k < p->nonzeros; k++)
        x->begin[p->row[k] + 2]++;
    for (size_t r = 0; r < p->n; r++)
        x->begin[r + 2] += x->begin[r + 1];
    for (size_t c = 0; c < p->n; c++)
        for (int64_t k = p->column[c]; k < p->column[c + 1]; k++) {
            size_t at = x->begin[p->row[k] + 1]++;

            x->entry[at] = (size_t)k;
            x->column[at] = c;
        }
}

influence *
influence_new(bg_model *m, const held_output *held, size_t nheld, const sim_result *run)
{
    influence *x = bg_calloc(1, sizeof *x);
    VEC(var_id) by = { 0 };

    x->model = model_another(m);
    x->nelements = model_nelements(m);
    x->part = bg_calloc(x->nelements + 1, sizeof *x->part);
    x->column_of = bg_calloc(x->nelements + 1, sizeof *x->column_of);
    for (size_t e = 0; e < x->nelements; e++) {
        x->part[e] = model_removal(m, e);
        x->column_of[e] = by.n;
        if (x->part[e].factor != VAR_NONE)
            vec_push(&by, x->part[e].factor);
    }
    x->of = model_partials(x->model, by.at, by.n, model_noutputs(m));
    if (!x->of) {
        vec_free(&by);
        influence_free(x);
        return NULL;
    }
    x->pattern = model_partials_pattern(x->of);
    x->nx = x->pattern.nx;
    x->first_output = x->pattern.n - model_noutputs(m);
    x->n = x->first_output - by.n;
    for (size_t e = 0; e < x->nelements; e++)
        x->column_of[e] += x->n;
    vec_free(&by);
    x->state = bg_calloc(POINTS * x->nx + 1, sizeof *x->state);
    x->mode = bg_calloc(POINTS * model_nmodes(m) + 1, sizeof *x->mode);
    x->value = bg_calloc(x->pattern.nonzeros + 1, sizeof *x->value);
    x->sum = bg_calloc(x->pattern.nonzeros + 1, sizeof *x->sum);
    x->begin = bg_calloc(x->pattern.n + 3, sizeof *x->begin);
    x->entry = bg_calloc(x->pattern.nonzeros + 1, sizeof *x->entry);
    x->column = bg_calloc(x->pattern.nonzeros + 1, sizeof *x->column);
    x->reached = bg_calloc(x->pattern.n + 1, sizeof *x->reached);
    x->held = bg_calloc(model_noutputs(m) + 1, sizeof *x->held);
    for (size_t i = 0; i < nheld; i++)
        x->held[held[i].output] = true;
    keep_points(x, run);
    turn_pattern(x);
    return x;
}

void
influence_free(influence *x)
{
    if (!x)
        return;
    model_free(x->model);
    free(x->part);
    free(x->column_of);
    free(x->state);
    free(x->mode);
    free(x->value);
    free(x->sum);
    free(x->begin);
    free(x->entry);
    free(x->column);
    free(x->reached);
    free(x->held);
    vec_free(&x->todo);
    free(x);
}

/* Where its factor does not express the way in which it goes, nothing is cut: a spring held at its length joins its
 * ends rigidly, and without a mass the springs at both of its sides are in series. */
void
influence_take_out(influence *x, size_t element, bool rests)
{
    model_take_out(x->model, element, rests);
    x->known = false;
}

/* ---------------------------------------------------------------- how far outputs reach */

static bool
look_at_points(influence *x)
{
    size_t nmodes = model_nmodes(x->model);

    memset(x->sum, 0, x->pattern.nonzeros * sizeof *x->sum);
    for (size_t p = 0; p < POINTS; p++) {
        const double *at = x->state + p * x->nx;

        if (nmodes)
            memcpy(model_modes(x->model), x->mode + p * nmodes, nmodes * sizeof(double));
        if (model_has_blocks(x->model))
            model_accept(x->model, x->time[p], at);
        if (model_partials_at(x->model, x->of, x->time[p], at, x->value) != 0)
            return false;
        for (size_t k = 0; k < x->pattern.nonzeros; k++)
            x->sum[k] += fabs(x->value[k]);
    }
    return true;
}

static void
reach(influence *x, size_t row)
{
    if (!x->reached[row])
        vec_push(&x->todo, row);
    x->reached[row] = true;
}

/* Something reached reads column c. A state is reached by its rate. Another kept variable has no equation of its own:
 * it follows from all those that it occurs in, so each of them is reached. */
static void
reach_variable(influence *x, size_t c)
{
    if (c < x->nx)
        reach(x, c);
    for (int64_t k = x->pattern.column[c]; c >= x->nx && k < x->pattern.column[c + 1]; k++)
        if ((size_t)x->pattern.row[k] >= x->nx && (size_t)x->pattern.row[k] < x->n && x->sum[k] > 0)
            reach(x, (size_t)x->pattern.row[k]);
}

static void
look(influence *x)
{
    x->failed = !look_at_points(x);
    x->known = true;
    memset(x->reached, 0, x->pattern.n * sizeof *x->reached);
    for (size_t r = x->first_output; r < x->pattern.n; r++)
        if (x->held[r - x->first_output])
            reach(x, r);
    while (x->todo.n) {
        size_t r = x->todo.at[--x->todo.n];

        for (size_t k = x->begin[r]; k < x->begin[r + 1]; k++)
            if (x->column[k] < x->n && x->sum[x->entry[k]] > 0)
                reach_variable(x, x->column[k]);
    }
}

bool
influence_of(influence *x, size_t element, bool rests)
{
    const struct model_removal *p = &x->part[element];
    size_t c = x->column_of[element];
    bool acts = false;

    if (!x->known)
        look(x);
    if (x->failed)
        return true;
    if (p->factor == VAR_NONE || p->rests != rests)
        return p->state == NONE || x->reached[p->state];
    for (int64_t k = x->pattern.column[c]; k < x->pattern.column[c + 1]; k++)
        acts = acts || (x->sum[k] > 0 && x->reached[x->pattern.row[k]]);
    return acts;
}
