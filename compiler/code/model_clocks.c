/* model_clocks.c - what depends on time alone, and what is divided by or may be infinite: clocks, bends, poles */
#include <math.h>
#include <string.h>

#include "model_inside.h"

size_t
model_nclocks(bg_model *m)
{
    if (!m->clocks_known)
        clocks_find(m->e, &m->clock, &m->bend);
    m->clocks_known = true;
    return m->clock.n;
}

bool
model_bends(bg_model *m)
{
    (void)model_nclocks(m);
    for (size_t k = 0; k < m->bend.n; k++)
        if (!m->bend.at[k].reciprocal)
            return true;
    return false;
}

bool
model_bends_over(bg_model *m, double start, double stop)
{
    (void)model_nclocks(m);
    bounds_free(m->bends);
    m->bends = m->bend.n ? bounds_of_bends(m->e, &m->bend, m->position, m->value, m->modes, start, stop) : NULL;
    return m->bends;
}

double
model_clear(bg_model *m, const double t[2], const double *const x[2], const double *const f[2])
{
    return m->bends ? bounds_clear(m->bends, m->modes, t, x, f) : 1;
}

int
model_clocks(bg_model *m, double t, double *value)
{
    if (!model_nclocks(m))
        return 0;
    if (!model_need(m, PART_CLOCKS))
        return -1;
    return model_run_permuted(m, PART_CLOCKS, t, NULL, value);
}

void
model_clocks_over(bg_model *m, double start, double stop)
{
    if (!model_nclocks(m))
        return;
    if (!m->bounds)
        m->bounds = bounds_new(m->e, &m->clock, m->position, m->value);
    bounds_over(m->bounds, start, stop);
}

double
model_clock_step(bg_model *m, double from, double to, bool all, size_t *clock)
{
    *clock = SIZE_MAX;
    return m->bounds ? bounds_step(m->bounds, m->modes, from, to, all, clock) : INFINITY;
}

size_t
model_clock_peaks(bg_model *m, double *time, double *width, size_t most)
{
    return m->bounds ? bounds_peaks(m->bounds, time, width, most) : 0;
}

span
model_clock_place(bg_model *m, size_t k)
{
    return k < model_nclocks(m) ? m->clock.at[k].at : SPAN_NONE;
}

size_t
model_npoles(bg_model *m)
{
    if (!m->poles_known)
        poles_find(m->e, &m->pole);
    for (size_t k = 0; k < m->pole.n && !m->determinant; k++)
        if (m->pole.at[k].block != NO_BLOCK)
            m->determinant = bg_calloc(m->e->block.n, sizeof *m->determinant);
    m->poles_known = true;
    return m->pole.n;
}

int
model_poles(bg_model *m, double t, const double *x, double *value)
{
    int status;

    if (!model_npoles(m))
        return 0;
    if (!model_need(m, PART_POLES))
        return -1;
    status = model_run_permuted(m, PART_POLES, t, x, value);
    if (status == 0 && m->determinant) {
        evaluator_determinants(m->evaluator[PART_POLES], m->determinant);
        for (size_t k = 0; k < m->pole.n; k++)
            if (m->pole.at[k].block != NO_BLOCK)
                value[k] = m->determinant[m->pole.at[k].block];
    }
    return status;
}

struct model_pole
model_pole(bg_model *m, size_t k)
{
    const eq_pole *p = &m->pole.at[k];
    strbuf b = { 0 };
    struct model_pole out = { .at = p->at, .var = p->var == VAR_NONE ? NULL : m->f->var.at[p->var].name };

    if (p->block != NO_BLOCK)
        return out;
    flat_print(m->f, p->divisor, &b);
    out.text = arena_strdup(m->f->arena, b.at ? b.at : "");
    strbuf_free(&b);
    return out;
}

size_t
model_nsolved(bg_model *m)
{
    size_t n = 0;

    if (!model_need(m, PART_RHS))
        return 0;
    for (size_t k = 0; k < m->program[PART_RHS]->block.n; k++) {
        const program_block *b = &m->program[PART_RHS]->block.at[k];

        if (!m->e->block.at[b->block].linear)
            n += b->n;
    }
    return n + (m->nets && nets_vary(m->nets) ? m->e->held.n : 0);
}

void
model_solved(const bg_model *m, double *value)
{
    const double *w = evaluator_variables(m->evaluator[PART_RHS]);

    for (size_t k = 0; k < m->program[PART_RHS]->block.n; k++) {
        const program_block *b = &m->program[PART_RHS]->block.at[k];

        if (m->e->block.at[b->block].linear)
            continue;
        memcpy(value, w + b->w0, b->n * sizeof *value);
        value += b->n;
    }
    if (m->nets && nets_vary(m->nets))
        memcpy(value, m->modes + m->e->mode.n, m->e->held.n * sizeof *value);
}

struct model_pole
model_solved_pole(const bg_model *m, size_t k)
{
    var_id v = VAR_NONE;

    for (size_t i = 0; i < m->program[PART_RHS]->block.n && v == VAR_NONE; i++) {
        const program_block *b = &m->program[PART_RHS]->block.at[i];
        const eq_block *q = &m->e->block.at[b->block];

        if (q->linear)
            continue;
        if (k < b->n)
            v = m->e->unknown.at[q->unknown0 + k];
        k -= v == VAR_NONE ? b->n : 0;
    }
    if (v == VAR_NONE)
        v = m->e->held.at[k];
    return (struct model_pole){ .at = m->f->var.at[v].at, .var = m->f->var.at[v].name };
}

span
model_constraint_place(const bg_model *m, size_t k)
{
    return m->f->var.at[m->e->constraint.at[k]].at;
}
