/* moves.c - see moves.h */
#include "moves.h"

#include <stdlib.h>
#include <string.h>

#include "parameters.h"

static uint32_t
move_of(const moves_program *p, var_id v, uint32_t by)
{
    for (uint32_t m = p->first[v]; m < p->first[v + 1]; m++)
        if (p->by.at[m] == by)
            return m;
    return NONE;
}

static int
compare_noted_rank(const void *a, const void *b, void *ctx)
{
    const uint32_t *rank = ctx, x = rank[*(const var_id *)a], y = rank[*(const var_id *)b];

    return (x > y) - (x < y);
}

/* v by each parameter that it reads */
static void
add_turns(moves_program *p, const flat_model *f, var_id v)
{
    inst d = var_def(f, v);

    for (uint32_t k = 0; k < d.n; k++) {
        var_id from = inst_slots(f, d)[k];
        struct moves_turn t = { .of = v, .link0 = (uint32_t)p->link.n };

        for (uint32_t m = p->first[from]; m < p->first[from + 1]; m++)
            vec_push(&p->link, ((struct moves_link){ move_of(p, v, p->by.at[m]), m }));
        t.nlinks = (uint32_t)p->link.n - t.link0;
        if (!t.nlinks)
            continue;
        t.slope = formula_write(&p->book, f->pool, ex_derivative(f->pool, d.root, k), inst_slots(f, d), d.n);
        vec_push(&p->turn, t);
        p->computed[v] = true;
    }
}

void
moves_make(moves_program *p, const flat_model *f, const var_id *by, size_t n)
{
    uint32_t nvars = (uint32_t)f->var.n, *rank = bg_calloc(nvars + 1, sizeof *rank);
    double *none = bg_calloc(nvars + 1, sizeof *none);
    VEC(var_id) order = { 0 };
    parameter_moves all; /* the set does not depend on the numbers */

    *p = (moves_program){ .computed = bg_calloc(nvars + 1, sizeof(bool)) };
    parameter_moves_find(f, none, NULL, by, n, &all);
    free(none);
    p->first = all.first;
    for (size_t m = 0; m < all.entry.n; m++)
        vec_push(&p->by, all.entry.at[m].by);
    vec_free(&all.entry);
    for (uint32_t i = 0; i < n; i++)
        vec_push(&p->own, by[i] == VAR_NONE ? NONE : move_of(p, by[i], i));
    parameter_order(f, rank);
    for (uint32_t v = 0; v < nvars; v++)
        if (rank[v] && p->first[v + 1] > p->first[v])
            vec_push(&order, v);
    if (order.n)
        qsort_r(order.at, order.n, sizeof *order.at, compare_noted_rank, rank);
    for (size_t i = 0; i < order.n; i++)
        add_turns(p, f, order.at[i]);
    formula_close(&p->book);
    vec_free(&order);
    free(rank);
}

void
moves_free(moves_program *p)
{
    free(p->first);
    free(p->computed);
    vec_free(&p->by);
    vec_free(&p->own);
    vec_free(&p->turn);
    vec_free(&p->link);
    formula_book_free(&p->book);
}

void
moves_slopes(const moves_program *p, const double *value, const bool *fixed, double *slope)
{
    double *room = bg_malloc((p->book.room + 1) * sizeof *room);

    memset(slope, 0, p->by.n * sizeof *slope);
    for (size_t i = 0; i < p->own.n; i++)
        if (p->own.at[i] != NONE)
            slope[p->own.at[i]] = 1;
    for (size_t k = 0; k < p->turn.n; k++) {
        const struct moves_turn *t = &p->turn.at[k];
        double d;

        if (fixed[t->of])
            continue;
        d = formula_value(&p->book, t->slope, value, room);
        for (uint32_t i = t->link0; i < t->link0 + t->nlinks; i++)
            slope[p->link.at[i].to] += d * slope[p->link.at[i].from];
    }
    free(room);
}
