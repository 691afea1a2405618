/* partials.c - see partials.h */
#include <stdlib.h>
#include <string.h>

#include "partials.h"

typedef struct share {
    uint32_t to, from, move;
} share; /* value[to] += inner[from]*slope[move]; of the columns by parameters */
typedef struct copy {
    uint32_t to, from;
} copy;

struct partials {
    equations *e;
    jacobian *inner; /* by every parameter that moves with the chosen ones */
    var_id *by;
    size_t nby;
    parameter_moves moves; /* whatever is set */
    double *slope;         /* [moves] now */
    VEC(copy) copy;
    VEC(share) share;
    double *value; /* of inner */
    size_t n, nx;
    int64_t *column, *row;
};

/* Rates, then outputs, in one program, so that both are differentiated by the same variables. */
static jacobian *
make_inner(equations *e, layout l, block_memory *memory, bool optimise, const var_id *weight, uint32_t nweights,
           size_t noutputs, partials_beside beside)
{
    flat_model *f = e->f;
    VEC(inst) target = { 0 };
    VEC(uint32_t) position = { 0 };
    program *g;
    jacobian *j;

    for (size_t i = 0; i < e->state.n; i++) {
        vec_push(&target, inst_var(f, e->state.at[i].rate));
        vec_push(&position, f->var.at[e->state.at[i].var].position);
    }
    for (size_t i = 0; i < noutputs; i++) {
        vec_push(&target, e->output.at[i]);
        vec_push(&position, 0);
    }
    for (size_t i = 0; i < beside.nrows; i++) {
        vec_push(&target, beside.row[i]);
        vec_push(&position, 0);
    }
    g = program_plan(e, target.at, position.at, (uint32_t)target.n);
    j = jacobian_new(e, g, l, memory, optimise, weight, nweights);
    program_free(g);
    vec_free(&target);
    vec_free(&position);
    return j;
}

struct entry {
    uint32_t row, column;
};

static int
compare_entry(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return x->column != y->column ? (x->column > y->column) - (x->column < y->column)
                                  : (x->row > y->row) - (x->row < y->row);
}

static uint32_t
find_entry(const partials *p, uint32_t row, uint32_t column)
{
    int64_t low = p->column[column], high = p->column[column + 1];

    while (low < high) {
        int64_t middle = (low + high) / 2;

        if (p->row[middle] < (int64_t)row)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low;
}

/* The pattern, and where each entry comes from. weight[i] stands in the inner column first + i, first being the number
 * of states and kept variables; the last nbeside of them are columns of their own. noutputs: rows behind, all of them.
 */
static void
compose(partials *p, const var_id *weight, size_t nweights, size_t nbeside, size_t noutputs)
{
    struct model_pattern in = jacobian_pattern(p->inner);
    size_t first = in.n - noutputs - nweights, moving = nweights - nbeside, distinct = 0;
    VEC(struct entry) list = { 0 };

    p->nx = in.nx;
    p->n = first + p->nby + nbeside + noutputs;
    /* two rounds: entries, then where they come from */
    for (int round = 0; round < 2; round++) {
        for (uint32_t c = 0; c < first + nweights; c++)
            for (int64_t k = in.column[c]; k < in.column[c + 1]; k++) {
                bool plain = c < first || c >= first + moving;
                uint32_t r = (uint32_t)in.row[k], row = r < first ? r : (uint32_t)(r - nweights + p->nby + nbeside);
                var_id v = plain ? 0 : weight[c - first];

                if (r >= first && r < first + nweights)
                    continue;
                for (uint32_t m = plain ? 0 : p->moves.first[v]; m < (plain ? 1 : p->moves.first[v + 1]); m++) {
                    uint32_t column = c < first ? c
                                      : plain   ? (uint32_t)(c - moving + p->nby)
                                                : (uint32_t)first + p->moves.entry.at[m].by;

                    if (round == 0)
                        vec_push(&list, ((struct entry){ row, column }));
                    else if (plain)
                        vec_push(&p->copy, ((copy){ find_entry(p, row, column), (uint32_t)k }));
                    else
                        vec_push(&p->share, ((share){ find_entry(p, row, column), (uint32_t)k, m }));
                }
            }
        if (round == 1)
            break;
        if (list.n)
            qsort(list.at, list.n, sizeof *list.at, compare_entry);
        p->column = bg_calloc(p->n + 1, sizeof *p->column);
        p->row = bg_calloc(list.n + 1, sizeof *p->row);
        for (size_t i = 0; i < list.n; i++)
            if (i == 0 || compare_entry(&list.at[i - 1], &list.at[i])) {
                p->row[distinct++] = list.at[i].row;
                p->column[list.at[i].column + 1]++;
            }
        for (size_t c = 0; c < p->n; c++)
            p->column[c + 1] += p->column[c];
    }
    vec_free(&list);
}

partials *
partials_new(equations *e, layout l, block_memory *memory, bool optimise, const var_id *by, size_t n, size_t noutputs,
             partials_beside beside)
{
    partials *p = bg_calloc(1, sizeof *p);
    VEC(var_id) weight = { 0 };
    double *none = bg_calloc(e->f->var.n + 1, sizeof *none);

    p->e = e;
    p->nby = n;
    p->by = bg_malloc((n + 1) * sizeof *p->by);
    if (n)
        memcpy(p->by, by, n * sizeof *by);
    parameter_moves_find(e->f, none, NULL, by, n, &p->moves);
    free(none);
    p->slope = bg_calloc(p->moves.entry.n + 1, sizeof *p->slope);
    for (uint32_t v = 0; v < e->f->var.n; v++)
        if (p->moves.first[v + 1] > p->moves.first[v])
            vec_push(&weight, v);
    for (size_t i = 0; i < beside.ncolumns; i++)
        vec_push(&weight, beside.column[i]);
    p->inner = make_inner(e, l, memory, optimise, weight.at, (uint32_t)weight.n, noutputs, beside);
    if (p->inner) {
        compose(p, weight.at, weight.n, beside.ncolumns, noutputs + beside.nrows);
        p->value = bg_calloc(jacobian_pattern(p->inner).nonzeros + 1, sizeof *p->value);
    }
    vec_free(&weight);
    if (!p->inner) {
        partials_free(p);
        return NULL;
    }
    return p;
}

void
partials_free(partials *p)
{
    if (!p)
        return;
    jacobian_free(p->inner);
    parameter_moves_free(&p->moves);
    vec_free(&p->copy);
    vec_free(&p->share);
    free(p->by);
    free(p->slope);
    free(p->value);
    free(p->column);
    free(p->row);
    free(p);
}

/* How computed parameters move with those asked for. */
static void
find_slopes(partials *p, const double *value, const bool *fixed)
{
    parameter_moves now;

    parameter_moves_find(p->e->f, value, fixed, p->by, p->nby, &now);
    for (uint32_t v = 0; v < p->e->f->var.n; v++)
        for (uint32_t m = p->moves.first[v]; m < p->moves.first[v + 1]; m++) {
            p->slope[m] = 0; /* of what is set: it does not follow */
            for (uint32_t k = now.first[v]; k < now.first[v + 1]; k++)
                if (now.entry.at[k].by == p->moves.entry.at[m].by)
                    p->slope[m] = now.entry.at[k].slope;
        }
    parameter_moves_free(&now);
}

void
partials_set_parameters(partials *p, const double *value, const bool *fixed)
{
    jacobian_set_parameters(p->inner, value);
    find_slopes(p, value, fixed);
}

void
partials_follow_parameters(partials *p, const double *value, const bool *fixed, const var_id *changed, size_t n)
{
    jacobian_follow_parameters(p->inner, value, changed, n);
    /* what nothing is computed from, and is computed from nothing, moves as it did */
    if (n > 1 || inst_known(p->e->f->var.at[changed[0]].def))
        find_slopes(p, value, fixed);
}

struct model_pattern
partials_pattern(const partials *p)
{
    return (struct model_pattern){ p->n, p->nx, p->column, p->row, (size_t)p->column[p->n] };
}

int
partials_evaluate(partials *p, double t, const double *x, const double *modes, double *value)
{
    int status = jacobian_evaluate(p->inner, t, x, modes, p->value);

    if (status)
        return status;
    memset(value, 0, (size_t)p->column[p->n] * sizeof *value);
    for (size_t i = 0; i < p->copy.n; i++)
        value[p->copy.at[i].to] = p->value[p->copy.at[i].from];
    for (size_t i = 0; i < p->share.n; i++) {
        const share *s = &p->share.at[i];
        double slope = p->slope[s->move];

        if (slope != 0)
            value[s->to] += p->value[s->from] * slope;
    }
    return 0;
}
