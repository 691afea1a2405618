/* model_solutions.c - several solutions of nonlinear blocks and of nets of ideal switches, see model.h */
#include <stdlib.h>
#include <string.h>

#include "model_inside.h"
#include "solutions.h"

static const enum model_part parts_with_blocks[] = { PART_RHS, PART_CONDITIONS, PART_OUTPUTS, PART_POWERS };
enum { NPARTS = sizeof parts_with_blocks / sizeof *parts_with_blocks };

struct model_choice {
    bg_model *model;
    double t;
    const double *x;
    bool all;
    bool *seen; /* by block */
    bool stale; /* the chosen solution is not in the part's values yet */
    size_t part, at;
    double *others;
    const program_block *block; /* the present one: */
    double *start;              /* where it started from before; NULL: from nowhere */
    int8_t sense;
};

bool
model_chooses(bg_model *m)
{
    bool before = m->chose;

    m->chose = true;
    return !before;
}

struct model_choice *
model_choice_new(bg_model *m, double t, const double *x, bool all)
{
    struct model_choice *c = bg_calloc(1, sizeof *c);

    c->model = m;
    c->t = model_time_of(m, t);
    c->x = x;
    c->all = all;
    c->seen = bg_calloc(m->image->nblocks + 1, sizeof *c->seen);
    c->stale = true;
    return c;
}

void
model_choice_free(struct model_choice *c)
{
    if (!c)
        return;
    free(c->seen);
    free(c->others);
    free(c->start);
    free(c);
}

/* Keeps where the present block starts from. */
static void
keep_start(struct model_choice *c)
{
    const block_memory *memory = &c->model->memory;
    size_t size = c->block->n * sizeof *c->start;

    free(c->start);
    c->start = memory->started[c->block->block] ? bg_malloc(size) : NULL;
    c->sense = memory->sense[c->block->block];
    if (c->start)
        memcpy(c->start, memory->start + c->block->unknown0, size);
}

bool
model_choice_next(struct model_choice *c, struct model_solutions *s)
{
    bg_model *m = c->model;

    for (; c->part < NPARTS; c->part++, c->at = 0, c->stale = true) {
        enum model_part part = parts_with_blocks[c->part];
        evaluator *v = m->evaluator[part];

        while (v && c->at < evaluator_routine(v)->block.n) {
            size_t k = c->at++;

            c->block = &evaluator_routine(v)->block.at[k];
            if (c->seen[c->block->block] || c->block->linear || (m->memory.started[c->block->block] && !c->all))
                continue;
            c->seen[c->block->block] = true;
            if (c->stale && evaluator_run(v, c->t, c->x, m->modes, m->scratch[part]) != 0)
                break;
            c->stale = false;
            keep_start(c);
            free(c->others);
            s->n = solutions_of_block(v, (uint32_t)k, &c->others);
            s->other = c->others;
            s->unknowns = c->block->n;
            if (s->n > 0)
                return true;
        }
    }
    return false;
}

void
model_choose(struct model_choice *c, const double *z)
{
    block_memory *memory = &c->model->memory;

    memory->sense[c->block->block] = z ? 0 : c->sense;
    z = z ? z : c->start;
    memory->started[c->block->block] = z != NULL;
    if (z)
        memcpy(memory->start + c->block->unknown0, z, c->block->n * sizeof *z);
    c->stale = true;
}

bool
model_chosen(struct model_choice *c, double *power, double *z)
{
    bg_model *m = c->model;

    if (model_powers(m, c->t, c->x, power) != 0)
        return false;
    const double *w = evaluator_variables(m->evaluator[PART_POWERS]);
    const routine *r = evaluator_routine(m->evaluator[PART_POWERS]);

    for (size_t k = 0; k < r->block.n; k++)
        if (r->block.at[k].block == c->block->block) {
            memcpy(z, w + r->block.at[k].w0, r->block.at[k].n * sizeof *z);
            return true;
        }
    return false;
}

var_id
model_choice_unknown(const struct model_choice *c, size_t i)
{
    return c->model->image->unknown[c->block->unknown0 + i];
}

size_t
model_nnets(const bg_model *m)
{
    return m->nets ? nets_count(m->nets) : 0;
}

span
model_net_place(const bg_model *m, size_t net)
{
    return nets_place(m->nets, net);
}

size_t
model_net_others(bg_model *m, size_t net, double t, const double *x, double ahead, size_t most, double **others,
                 size_t *tried)
{
    return nets_others(m->nets, net, model_time_of(m, t), x, ahead, most, others, tried);
}

void
model_net_take(bg_model *m, size_t net, const double *others, size_t one)
{
    nets_take(m->nets, net, others + one * nets_wide(m->nets, net));
}

bool
model_nets_hold(bg_model *m, double t, const double *x, double ahead)
{
    return !m->nets || nets_hold(m->nets, model_time_of(m, t), x, ahead);
}
