/* evaluate.c - see evaluate.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate_inside.h"

evaluator *
evaluator_new(routine *g, block_memory *memory)
{
    evaluator *v = bg_calloc(1, sizeof *v);

    v->g = g;
    v->memory = memory;
    v->code = routine_take(g);
    v->w = bg_calloc(g->nw + 1, sizeof *v->w);
    v->p = bg_calloc(g->parameter.n + 1, sizeof *v->p);
    v->room = bg_calloc(g->book.room + 1, sizeof *v->room);
    v->block = bg_calloc(g->block.n + 1, sizeof *v->block);
    for (size_t k = 0; k < g->block.n; k++)
        v->block[k].factor = factor_new(g->block.at[k].n, g->block.at[k].column_start, g->block.at[k].row, TINY_PIVOT);
    block_rooms_open(&v->rooms, g, LEAST_KEPT, v->block);
    return v;
}

void
evaluator_free(evaluator *v)
{
    if (!v)
        return;
    for (size_t k = 0; k < v->g->block.n; k++)
        factor_free(v->block[k].factor);
    block_rooms_close(&v->rooms);
    routine_give_back(v->g, v->code);
    free(v->block);
    free(v->w);
    free(v->p);
    free(v->room);
    free(v);
}

void
evaluator_forget(evaluator *v)
{
    memset(v->w, 0, v->g->nw * sizeof *v->w);
    memset(v->rooms.numbers, 0, v->rooms.n * sizeof *v->rooms.numbers);
    for (size_t k = 0; k < v->g->block.n; k++) {
        struct block_run *b = &v->block[k];

        b->serves = b->old = b->sized = b->keeps = b->regular = false;
        b->factored = false;
        b->sense = 0;
    }
}

static void
evaluator_reset(evaluator *v)
{
    for (size_t k = 0; k < v->g->block.n; k++)
        v->block[k].factored = false;
}

void
evaluator_set_parameters(evaluator *v, const double *value)
{
    for (size_t i = 0; i < v->g->parameter.n; i++)
        v->p[i] = formula_value(&v->g->book, v->g->parameter.at[i], value, v->room);
    evaluator_reset(v);
}

bool
evaluator_follow_parameters(evaluator *v, const double *value, const uint32_t *changed, size_t n)
{
    routine *g = v->g;
    const readers *by = readers_of(&g->by_parameter, &g->book, g->parameter.at, g->parameter.n, g->nvars);
    bool any = false;

    for (size_t c = 0; c < n; c++)
        for (uint32_t k = by->first[changed[c]]; k < by->first[changed[c] + 1]; k++) {
            uint32_t i = by->reader[k];

            v->p[i] = formula_value(&g->book, g->parameter.at[i], value, v->room);
            any = true;
        }
    if (any)
        evaluator_reset(v);
    return any;
}

const routine *
evaluator_routine(const evaluator *v)
{
    return v->g;
}

const double *
evaluator_variables(const evaluator *v)
{
    return v->w;
}

void
evaluator_accept(evaluator *v)
{
    for (size_t k = 0; k < v->g->block.n; k++) {
        const program_block *b = &v->g->block.at[k];

        if (v->memory->of_round[b->block] == v->memory->round)
            continue; /* computed by another evaluator, whose last digits may differ */
        memcpy(v->memory->start + b->unknown0, v->w + b->w0, b->n * sizeof(double));
        v->memory->started[b->block] = true;
        v->memory->of_round[b->block] = v->memory->round;
        if (v->memory->sense)
            v->memory->sense[b->block] = v->block[k].sense;
        for (uint32_t i = 0; i < b->n; i++) {
            double *seen = &v->memory->seen[b->unknown0 + i], *reached = &v->memory->reached[b->unknown0 + i];

            *seen = fmax(*seen, v->block[k].weight[i]);
            *reached = fmax(*reached, fabs(v->w[b->w0 + i]));
        }
    }
    if (v->memory->sense && v->g->block.n)
        memcpy(v->memory->modes, v->modes, v->memory->nmodes * sizeof(double));
}

bool
evaluator_lacks(const evaluator *v)
{
    for (size_t k = 0; k < v->g->block.n; k++)
        if (v->memory->of_round[v->g->block.at[k].block] != v->memory->round)
            return true;
    return false;
}

void
evaluator_determinants(const evaluator *v, double *by_block)
{
    for (size_t k = 0; k < v->g->block.n; k++) {
        struct block_run *run = &v->block[k];
        size_t singular;

        if (run->old) {
            run->serves = factor_numeric(run->factor, run->at->value, &singular);
            run->sized = false;
        }
        run->old = false;
        by_block[v->g->block.at[k].block] = factor_determinant(run->factor);
    }
}

/* ---------------------------------------------------------------- schedule */

/* Quick code costs about a nanosecond more for ten operations; optimising costs some 2 ms a kernel. Evaluations are
 * counted, not timed, so that runs are reproducible. Both codes give the same bits. */
static const size_t optimise_after = 60000000;

/* Uses optimised code from now on, which another evaluator may have requested. */
static bool
improve(evaluator *v)
{
    machine_code *now = routine_take(v->g);

    if (!now->optimised && v->memory->optimise) {
        routine_give_back(v->g, now);
        if (!v->memory->optimise(v->memory->ctx, v->g))
            return false;
        now = routine_take(v->g);
    }
    routine_give_back(v->g, v->code);
    v->code = now;
    v->work = 0;
    return true;
}

int
evaluator_run(evaluator *v, double t, const double *x, const double *modes, double *out)
{
    const item *it, *end;

    if (!v->code->optimised) {
        v->work += v->g->work;
        if (v->work > optimise_after && !improve(v))
            return 1;
    }
    it = v->code->item;
    end = it + v->g->nitems;
    v->t = t;
    v->x = x;
    v->modes = modes;
    for (; it < end; it++) {
        switch (it->kind) {
        case ITEM_KERNEL:
            it->kernel(t, x, v->w, v->p, modes, it->to_out ? out : v->w, it->base, it->table, it->obase, it->begin,
                       it->end);
            break;
        case ITEM_CHUNK: it->chunk(t, x, v->w, v->p, modes, out); break;
        default:
            for (int64_t k = it->begin; k < it->end; k++)
                if (evaluator_run_block(v, (uint32_t)k))
                    return 1;
        }
    }
    return 0;
}
