/* model_clocks.c - what depends on time alone, and what is divided by or may be infinite: clocks, bends, poles */
#include <math.h>
#include <string.h>

#include "model_inside.h"

size_t
model_nclocks(bg_model *m)
{
    maker *k = m->maker;
    size_t n;

    maker_lock(k);
    if (!k->clocks_known)
        clocks_find(k->e, &k->clock, &k->bend);
    k->clocks_known = true;
    n = k->clock.n;
    maker_unlock(k);
    return n;
}

bool
model_bends(bg_model *m)
{
    (void)model_nclocks(m);
    for (size_t k = 0; k < m->maker->bend.n; k++)
        if (!m->maker->bend.at[k].reciprocal)
            return true;
    return false;
}

bool
model_bends_over(bg_model *m, double start, double stop)
{
    maker *k = m->maker;

    (void)model_nclocks(m);
    bounds_free(m->bends);
    m->bends = NULL;
    if (k->bend.n) {
        maker_lock(k);
        m->bends = bounds_of_bends(k->e, &k->bend, m->image->position, m->value, m->modes, start, stop);
        maker_unlock(k);
    }
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
    if (!m->bounds) {
        maker_lock(m->maker);
        m->bounds = bounds_new(m->maker->e, &m->maker->clock, m->image->position, m->value);
        maker_unlock(m->maker);
    }
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
    return k < model_nclocks(m) ? m->maker->clock.at[k].at : SPAN_NONE;
}

size_t
model_npoles(bg_model *m)
{
    maker *k = m->maker;
    size_t n;

    maker_lock(k);
    if (!k->poles_known)
        poles_find(k->e, &k->pole);
    k->poles_known = true;
    n = k->pole.n;
    maker_unlock(k);
    for (size_t i = 0; i < n && !m->determinant; i++)
        if (k->pole.at[i].block != NO_BLOCK)
            m->determinant = bg_calloc(m->image->nblocks, sizeof *m->determinant);
    return n;
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
        for (size_t k = 0; k < m->maker->pole.n; k++)
            if (m->maker->pole.at[k].block != NO_BLOCK)
                value[k] = m->determinant[m->maker->pole.at[k].block];
    }
    return status;
}

struct model_pole
model_pole(bg_model *m, size_t k)
{
    const eq_pole *p = &m->maker->pole.at[k];
    strbuf b = { 0 };
    struct model_pole out = { .at = p->at, .var = p->var == VAR_NONE ? NULL : m->maker->f->var.at[p->var].name };

    if (p->block != NO_BLOCK)
        return out;
    maker_lock(m->maker);
    flat_print(m->maker->f, p->divisor, &b);
    out.text = arena_strdup(m->maker->f->arena, b.at ? b.at : "");
    maker_unlock(m->maker);
    strbuf_free(&b);
    return out;
}

size_t
model_nsolved(bg_model *m)
{
    const routine *r;
    size_t n = 0;

    if (!model_need(m, PART_RHS))
        return 0;
    r = evaluator_routine(m->evaluator[PART_RHS]);
    for (size_t k = 0; k < r->block.n; k++)
        if (!r->block.at[k].linear)
            n += r->block.at[k].n;
    return n + (m->nets && nets_vary(m->nets) ? m->image->nheld : 0);
}

void
model_solved(const bg_model *m, double *value)
{
    const double *w = evaluator_variables(m->evaluator[PART_RHS]);
    const routine *r = evaluator_routine(m->evaluator[PART_RHS]);

    for (size_t k = 0; k < r->block.n; k++) {
        const program_block *b = &r->block.at[k];

        if (b->linear)
            continue;
        memcpy(value, w + b->w0, b->n * sizeof *value);
        value += b->n;
    }
    if (m->nets && nets_vary(m->nets))
        memcpy(value, m->modes + m->image->nmodes, m->image->nheld * sizeof *value);
}

struct model_pole
model_solved_pole(const bg_model *m, size_t k)
{
    const routine *r = evaluator_routine(m->evaluator[PART_RHS]);
    var_id v = VAR_NONE;

    for (size_t i = 0; i < r->block.n && v == VAR_NONE; i++) {
        const program_block *b = &r->block.at[i];

        if (b->linear)
            continue;
        if (k < b->n)
            v = m->maker->e->unknown.at[b->unknown0 + k];
        k -= v == VAR_NONE ? b->n : 0;
    }
    if (v == VAR_NONE)
        v = m->maker->e->held.at[k];
    return (struct model_pole){ .at = m->maker->f->var.at[v].at,
                                .var = m->maker->f->var.at[v].name,
                                .unit = m->maker->f->var.at[v].unit };
}

span
model_constraint_place(const bg_model *m, size_t k)
{
    return m->image->constraint_at[k];
}
