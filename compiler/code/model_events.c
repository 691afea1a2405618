/* model_events.c - `when`, samples, random draws and delays of a model, and their values */
#include <string.h>

#include "model_inside.h"

size_t
model_nwhens(const bg_model *m)
{
    return m->image->when.n;
}

size_t
model_nreinits(const bg_model *m)
{
    return m->image->reinit.n;
}

struct model_when
model_when(const bg_model *m, size_t w)
{
    const struct image_when *q = &m->image->when.at[w];
    struct model_when when = q->when;

    if (q->periodic)
        when.period = parameter_store_value(m->parameters, q->period);
    if (when.begins)
        when.offset = parameter_store_value(m->parameters, q->offset);
    return when;
}

void
model_when_reads(const bg_model *m, size_t when, const var_id **list, size_t *n)
{
    *list = m->image->when.at[when].reads;
    *n = m->image->when.at[when].nreads;
}

bool
model_reinit_remembers(const bg_model *m, size_t r)
{
    return m->image->reinit.at[r].remembers;
}

size_t
model_ndraws(const bg_model *m)
{
    return m->image->draw.n;
}

struct model_draw
model_draw(const bg_model *m, size_t k)
{
    struct model_draw draw = m->image->draw.at[k].draw;

    draw.seed = parameter_store_value(m->parameters, m->image->draw.at[k].seed);
    return draw;
}

size_t
model_reinit_state(const bg_model *m, size_t r)
{
    return m->image->reinit.at[r].state;
}

int
model_reinits(bg_model *m, double t, const double *x, double *value)
{
    if (!model_need(m, PART_REINITS))
        return -1;
    return model_run_permuted(m, PART_REINITS, t, x, value);
}

size_t
model_ndelays(const bg_model *m)
{
    return m->image->delay.n;
}

struct model_delay
model_delay(const bg_model *m, size_t k)
{
    const struct image_delay *q = &m->image->delay.at[k];
    struct model_delay delay = q->delay;

    delay.by = parameter_store_value(m->parameters, q->by);
    if (q->said)
        delay.before = parameter_store_value(m->parameters, q->before);
    return delay;
}

int
model_delayed(bg_model *m, double t, const double *x, double *value)
{
    if (!model_need(m, PART_DELAYS))
        return -1;
    return model_run_permuted(m, PART_DELAYS, t, x, value);
}

void
model_accept(bg_model *m, double t, const double *x)
{
    static const enum model_part others[] = { PART_CONDITIONS, PART_OUTPUTS, PART_POWERS };

    if (!m->evaluator[PART_RHS] && !model_need(m, PART_RHS))
        return;
    t = model_time_of(m, t);
    if (m->nets && nets_solve(m->nets, t, x) != 0)
        return;
    /* The unknowns at an accepted point need an evaluation there, since rates may not read all of them. */
    m->memory.round++;
    if (evaluator_run(m->evaluator[PART_RHS], t, x, m->modes, m->scratch[PART_RHS]) == 0)
        evaluator_accept(m->evaluator[PART_RHS]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        evaluator *v = m->evaluator[others[i]];

        if (v && evaluator_lacks(v) && evaluator_run(v, t, x, m->modes, m->scratch[others[i]]) == 0)
            evaluator_accept(v);
    }
}

int
model_kick(bg_model *m, double t, double *x)
{
    return m->nets ? model_need(m, PART_NETS) ? nets_kick(m->nets, model_time_of(m, t), x) : -1 : 0;
}

void
model_forget(bg_model *m)
{
    const image *of = m->image;

    memset(m->modes, 0, (of->nmodes + of->nheld) * sizeof *m->modes);
    memset(m->memory.start, 0, of->nunknowns * sizeof *m->memory.start);
    memset(m->memory.seen, 0, of->nunknowns * sizeof *m->memory.seen);
    memset(m->memory.reached, 0, of->nunknowns * sizeof *m->memory.reached);
    memset(m->memory.started, 0, of->nblocks * sizeof *m->memory.started);
    memset(m->memory.of_round, 0, of->nblocks * sizeof *m->memory.of_round);
    memset(m->memory.sense, 0, of->nblocks * sizeof *m->memory.sense);
    memset(m->memory.modes, 0, of->nmodes * sizeof *m->memory.modes);
    m->memory.round = 0;
    m->chose = false;
    m->memory.left = m->memory.failed_singular = false;
    m->memory.failed = NONE;
    for (int k = 0; k < PART_COUNT; k++)
        if (m->evaluator[k])
            evaluator_forget(m->evaluator[k]);
    if (m->jacobian)
        jacobian_forget(m->jacobian);
    if (m->net_partials)
        jacobian_forget(m->net_partials);
    for (size_t k = 0; k < m->partials.n; k++)
        partials_forget(m->partials.at[k]);
    if (m->projector)
        projector_forget(m->projector);
    if (m->nets)
        nets_forget(m->nets);
}
