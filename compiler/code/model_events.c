/* model_events.c - what `when`, samples, draws and delays of a model are and give */
#include <math.h>
#include <stdlib.h>

#include "model_inside.h"

size_t
model_nwhens(const bg_model *m)
{
    return m->maker->f->when.n;
}

size_t
model_nreinits(const bg_model *m)
{
    return m->maker->f->reinit.n;
}

struct model_when
model_when(const bg_model *m, size_t w)
{
    const flat_when *q = &m->maker->f->when.at[w];

    return (struct model_when){ q->kind,
                                q->at,
                                q->text,
                                q->says,
                                q->reinit0,
                                q->nreinits,
                                inst_known(q->period) ? model_value(m, q->period) : NAN,
                                inst_known(q->offset) ? model_value(m, q->offset) : 0,
                                inst_known(q->offset) };
}

bool
model_reinit_remembers(const bg_model *m, size_t r)
{
    return m->maker->f->reinit.at[r].remembers;
}

size_t
model_ndraws(const bg_model *m)
{
    return m->maker->f->draw.n;
}

struct model_draw
model_draw(const bg_model *m, size_t k)
{
    const flat_draw *d = &m->maker->f->draw.at[k];

    return (struct model_draw){ m->image->position[d->var], d->when, d->normal, model_value(m, d->seed), d->at };
}

size_t
model_reinit_state(const bg_model *m, size_t r)
{
    return m->image->position[m->maker->f->reinit.at[r].target];
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
    return m->maker->f->delay.n;
}

/* Is there a way from i to a delayed value without a state between? The maker's lock is held. */
static bool
follows_delayed(const bg_model *m, inst i)
{
    const equations *e = m->maker->e;
    bool *seen = bg_calloc(m->image->nvars + 1, sizeof *seen), found = false;
    var_list todo = { 0 };

    model_read_by(m, i, &todo);
    while (todo.n && !found) {
        var_id v = todo.at[--todo.n];
        const eq_var *d = &e->var.at[v];

        if (seen[v])
            continue;
        seen[v] = true;
        found = d->kind == DEF_HELD || (m->maker->f->var.at[v].kind == VAR_MODE &&
                                        e->mode.at[m->maker->f->var.at[v].owner].kind == MODE_GIVEN);
        if (d->kind == DEF_EXPLICIT)
            model_read_by(m, d->def, &todo);
        for (uint32_t k = 0; d->kind == DEF_BLOCK && k < e->block.at[d->index].n; k++)
            model_read_by(m, e->residual.at[e->block.at[d->index].residual0 + k], &todo);
    }
    vec_free(&todo);
    free(seen);
    return found;
}

struct model_delay
model_delay(const bg_model *m, size_t k)
{
    const flat_delay *d = &m->maker->f->delay.at[k];
    bool feeds;

    maker_lock(m->maker);
    feeds = follows_delayed(m, d->of);
    maker_unlock(m->maker);
    return (struct model_delay){ m->image->position[d->var],
                                 model_value(m, d->by),
                                 inst_known(d->before) ? model_value(m, d->before) : NAN,
                                 d->at,
                                 m->maker->f->var.at[d->var].name,
                                 feeds };
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
    /* the unknowns at an accepted point come from an evaluation there; rates may not read all of them */
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
    memset(m->memory.started, 0, of->nblocks * sizeof *m->memory.started);
    memset(m->memory.of_round, 0, of->nblocks * sizeof *m->memory.of_round);
    memset(m->memory.sense, 0, of->nblocks * sizeof *m->memory.sense);
    memset(m->memory.modes, 0, of->nmodes * sizeof *m->memory.modes);
    m->memory.round = 0;
    m->memory.left = m->memory.failed_singular = false;
    m->memory.failed = UINT32_MAX;
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
