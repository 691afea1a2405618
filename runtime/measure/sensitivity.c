/* sensitivity.c - see sensitivity.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "factor.h"
#include "model_graph.h"
#include "sensitivity.h"

/* Memory limit for changes that are integrated together, in numbers. */
enum { MOST_TOGETHER = 8 << 20 };

struct solver {
    bg_model *model;
    struct model_pattern pattern;
    size_t nx, n;        /* number of states; with kept variables */
    size_t first_output; /* its row */
    size_t noutputs;
    double *value, *fresh; /* of J with weights and outputs: the current values; values being evaluated */
    bool known;
    int64_t *column, *row; /* of the first n rows and columns, which are solved with */
    uint32_t *from;        /* its entries in J */
    double *matrix;
    factor *factor;
};

/* One block of changes: [change][...] */
struct followed {
    const weight_change *change;
    size_t count;
    double *state;  /* [n] dx, dz */
    double *rate;   /* [nx] rates of dx at the last point */
    double *right;  /* [n] */
    double *output; /* [noutputs] */
};

static void
open_solver(struct solver *s, bg_model *m)
{
    size_t count = 0;

    memset(s, 0, sizeof *s);
    s->model = m;
    s->pattern = model_weighed_pattern(m);
    if (!s->pattern.n)
        return;
    s->nx = s->pattern.nx;
    s->noutputs = model_graph_of(m)->ndeclared;
    s->first_output = s->pattern.n - s->noutputs;
    s->n = s->first_output - 2 * model_nweights(m);
    s->value = bg_calloc(s->pattern.nonzeros + 1, sizeof *s->value);
    s->fresh = bg_calloc(s->pattern.nonzeros + 1, sizeof *s->fresh);
    s->column = bg_calloc(s->n + 1, sizeof *s->column);
    s->row = bg_calloc(s->pattern.nonzeros + 1, sizeof *s->row);
    s->from = bg_calloc(s->pattern.nonzeros + 1, sizeof *s->from);
    s->matrix = bg_calloc(s->pattern.nonzeros + 1, sizeof *s->matrix);
    for (size_t c = 0; c < s->n; c++) {
        for (int64_t k = s->pattern.column[c]; k < s->pattern.column[c + 1]; k++)
            if ((size_t)s->pattern.row[k] < s->n) {
                s->row[count] = s->pattern.row[k];
                s->from[count++] = (uint32_t)k;
            }
        s->column[c + 1] = (int64_t)count;
    }
    s->factor = factor_new(s->n, s->column, s->row, 0);
}

static void
close_solver(struct solver *s)
{
    factor_free(s->factor);
    free(s->value);
    free(s->fresh);
    free(s->column);
    free(s->row);
    free(s->from);
    free(s->matrix);
}

/* J at point i of the grid, in the modes of that point. Where it is not finite (the slope of a root at zero), that of
 * the previous point is used, or of the first point where it is finite. */
static bool
evaluate_point(struct solver *s, const sim_result *r, size_t i)
{
    size_t nmodes = model_nmodes(s->model);
    bool fine = false;

    do {
        const double *x = r->state + i * s->nx;

        if (nmodes)
            memcpy(model_modes(s->model), r->mode + i * nmodes, nmodes * sizeof(double));
        if (model_has_blocks(s->model))
            model_accept(s->model, r->time[i], x);
        fine = model_weighed(s->model, r->time[i], x, s->fresh) == 0;
        i++;
    } while (!fine && !s->known && i < r->points);
    if (fine) {
        double *swap = s->value;

        s->value = s->fresh;
        s->fresh = swap;
        s->known = true;
    }
    return s->known;
}

/* Factors [I - gamma f_x, -gamma f_z; g_x, g_z], and for infinite gamma [f_x, f_z; g_x, g_z], with unit rows for states
 * that only outputs read. */
static bool
factor_forward(struct solver *s, double gamma)
{
    size_t singular;

    for (size_t c = 0; c < s->n; c++)
        for (int64_t k = s->column[c]; k < s->column[c + 1]; k++) {
            size_t i = (size_t)s->row[k];
            double v = s->value[s->from[k]];

            if (i >= s->nx)
                s->matrix[k] = v;
            else if (gamma < INFINITY)
                s->matrix[k] = (i == c) - gamma * v;
            else
                s->matrix[k] = model_state(s->model, i).only_outputs ? i == c : v;
        }
    return factor_numeric(s->factor, s->matrix, &singular);
}

/* Adds `by` times column c of J: rows of states and variables to `inner`, of outputs to `output` (NULL: not needed). */
static void
add_change_column(const struct solver *s, size_t c, double by, double *inner, double *output)
{
    for (int64_t k = s->pattern.column[c]; k < s->pattern.column[c + 1] && by != 0; k++) {
        size_t i = (size_t)s->pattern.row[k];

        if (i < s->n)
            inner[i] += s->value[k] * by;
        else if (i >= s->first_output && output)
            output[i - s->first_output] += s->value[k] * by;
    }
}

static void
add_output_moves(const struct solver *s, const weight_change *change, double *inner, double *output)
{
    for (size_t k = 0; k < change->n; k++)
        add_change_column(s, s->n + change->move[k].weight, change->move[k].by, inner, output);
}

/* dx and dz of change i at the first point, for which J is factored. */
static bool
first_slopes(struct solver *s, struct followed *f, size_t i, bool rests)
{
    double *right = f->right;

    memset(right, 0, s->n * sizeof *right);
    add_output_moves(s, &f->change[i], right, NULL);
    for (size_t k = 0; k < s->n; k++)
        right[k] = k < s->nx && (!rests || model_state(s->model, k).only_outputs) ? 0 : -right[k];
    memcpy(f->state + i * s->n, right, s->n * sizeof *right);
    return factor_solve(s->factor, f->state + i * s->n);
}

/* dx and dz after a step of length h; J is factored for h/2 at its end. */
static bool
next_point(struct solver *s, struct followed *f, size_t i, double h)
{
    double *right = f->right, *state = f->state + i * s->n, *rate = f->rate + i * s->nx;

    memset(right, 0, s->n * sizeof *right);
    add_output_moves(s, &f->change[i], right, NULL);
    for (size_t k = 0; k < s->n; k++)
        right[k] = k < s->nx ? state[k] + h / 2 * (rate[k] + right[k]) : -right[k];
    memcpy(state, right, s->n * sizeof *right);
    return factor_solve(s->factor, state);
}

/* The changes of the outputs, and the rates of dx. */
static void
measure(struct solver *s, struct followed *f, size_t i, const held_output *held, size_t nheld, double *greatest)
{
    const double *state = f->state + i * s->n;
    double *inner = f->right;

    memset(inner, 0, s->n * sizeof *inner);
    memset(f->output, 0, s->noutputs * sizeof *f->output);
    for (size_t c = 0; c < s->n; c++)
        add_change_column(s, c, state[c], inner, f->output);
    add_output_moves(s, &f->change[i], inner, f->output);
    memcpy(f->rate + i * s->nx, inner, s->nx * sizeof *inner);
    for (size_t k = 0; k < nheld; k++) {
        double d = fabs(f->output[held[k].output]);
        double ratio = d == 0 ? 0 : held[k].tolerance > 0 ? d / held[k].tolerance : INFINITY;

        if (!(ratio <= *greatest)) /* NAN is kept */
            *greatest = ratio;
    }
}

static bool
follow_outputs(struct solver *s, const sim_result *r, bool equilibrium, struct followed *f, const held_output *held,
               size_t nheld, double *greatest)
{
    bool rests;

    s->known = false;
    if (!evaluate_point(s, r, 0))
        return false;
    rests = equilibrium && factor_forward(s, INFINITY);
    if (!rests && !factor_forward(s, 0))
        return false;
    for (size_t i = 0; i < f->count; i++) {
        if (!first_slopes(s, f, i, rests))
            return false;
        measure(s, f, i, held, nheld, &greatest[i]);
    }
    for (size_t p = 1; p < r->points; p++) {
        double h = r->time[p] - r->time[p - 1];

        if (!evaluate_point(s, r, p) || !factor_forward(s, h / 2))
            return false;
        for (size_t i = 0; i < f->count; i++) {
            if (!next_point(s, f, i, h))
                return false;
            measure(s, f, i, held, nheld, &greatest[i]);
        }
    }
    return true;
}

bool
sensitivity(bg_model *m, const sim_result *r, bool equilibrium, const weight_change *change, size_t n,
            const held_output *held, size_t nheld, double *greatest)
{
    struct solver s;
    struct followed f;
    size_t together;
    bool fine;

    open_solver(&s, m);
    fine = s.pattern.n > 0 && r->points > 0;
    together = MOST_TOGETHER / (2 * s.n + 1) + 1;
    if (together > n)
        together = n;
    f = (struct followed){ .state = bg_calloc(together * s.n + 1, sizeof(double)),
                           .rate = bg_calloc(together * s.nx + 1, sizeof(double)),
                           .right = bg_calloc(s.n + 1, sizeof(double)),
                           .output = bg_calloc(s.noutputs + 1, sizeof(double)) };
    for (size_t i = 0; i < n && fine; i += together) {
        f.change = change + i;
        f.count = n - i < together ? n - i : together;
        fine = follow_outputs(&s, r, equilibrium, &f, held, nheld, greatest + i);
    }
    free(f.state);
    free(f.rate);
    free(f.right);
    free(f.output);
    close_solver(&s);
    return fine;
}
