/* model_clocks.c - functions of time alone, divisors and unknowns that may be infinite: clocks, bends, poles */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mode_value.h"
#include "model_inside.h"

size_t
model_nclocks(bg_model *m)
{
    return image_clocks_of(m->image, m->maker)->n;
}

const bool *
model_waving(bg_model *m)
{
    return image_clocks_of(m->image, m->maker)->waving;
}

bool
model_hides(bg_model *m)
{
    return image_clocks_of(m->image, m->maker)->hides;
}

bool
model_bends(bg_model *m)
{
    return image_clocks_of(m->image, m->maker)->bends;
}

bool
model_bends_over(bg_model *m, double start, double stop)
{
    const image_clocks *c = image_clocks_of(m->image, m->maker);

    bounds_free(m->bends);
    m->bends = c->bending ? bounds_of_bends(c->bending, m->value, m->modes, start, stop) : NULL;
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
    struct bounds_line *lines;

    if (!model_nclocks(m))
        return;
    if (!m->bounds)
        m->bounds = bounds_new(image_clocks_of(m->image, m->maker)->bounds, m->value);
    lines = bg_malloc((model_nmodes(m) + 1) * sizeof *lines);
    for (size_t k = 0; k < model_nmodes(m); k++) {
        struct model_mode mode = model_mode(m, k);
        bool known = mode.known && mode.by == 0;

        lines[k] = (struct bounds_line){ known ? mode.slope : NAN, known ? mode.offset : NAN };
    }
    bounds_over(m->bounds, lines, start, stop);
}

void
model_modes_at(bg_model *m, double t)
{
    double *modes = model_modes(m);

    for (int reads_floor = 0; reads_floor < 2; reads_floor++)
        for (size_t k = 0; k < model_nmodes(m); k++) {
            struct model_mode mode = model_mode(m, k);
            double g = mode.offset + mode.slope * t;

            if (!mode.known || !mode_switches(mode.kind) || (mode.by != 0) != reads_floor)
                continue;
            modes[k] = mode_value(mode.kind, mode.table, reads_floor ? g + mode.by * modes[mode.count] : g);
        }
}

double
model_clock_step(bg_model *m, double from, double to, bool all, size_t *clock)
{
    *clock = NO_INDEX;
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
    return k < model_nclocks(m) ? image_clocks_of(m->image, m->maker)->at[k] : SPAN_NONE;
}

size_t
model_npoles(bg_model *m)
{
    return image_poles_of(m->image, m->maker)->pole.n;
}

int
model_poles(bg_model *m, double t, const double *x, double *value)
{
    const expression_poles *p = image_poles_of(m->image, m->maker);
    int status;

    if (!p->pole.n)
        return 0;
    if (!model_need(m, PART_POLES))
        return -1;
    if (p->determinants && !m->determinant)
        m->determinant = bg_calloc(m->image->nblocks, sizeof *m->determinant);
    status = model_run_permuted(m, PART_POLES, t, x, value);
    if (status == 0 && m->determinant) {
        evaluator_determinants(m->evaluator[PART_POLES], m->determinant);
        for (size_t k = 0; k < p->pole.n; k++)
            if (p->pole.at[k].block != NONE)
                value[k] = m->determinant[p->pole.at[k].block];
    }
    return status;
}

/* Kept, since messages may ask for it repeatedly. */
static const char *
divisor_text(bg_model *m, const expression_poles *p, size_t k)
{
    char *text = atomic_load(&p->text[k]), *other = NULL;
    strbuf b = { 0 };

    if (text)
        return text;
    model_print_formula(m, &p->book, p->pole.at[k].divisor, &b);
    text = b.at;
    if (atomic_compare_exchange_strong(&p->text[k], &other, text))
        return text;
    free(text); /* another thread was first */
    return other;
}

struct model_pole
model_pole(bg_model *m, size_t k)
{
    const expression_poles *p = image_poles_of(m->image, m->maker);
    struct model_pole out = p->pole.at[k].pole;

    if (p->pole.at[k].block == NONE)
        out.text = divisor_text(m, p, k);
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
    const image_unknowns *u = image_unknowns_of(m->image, m->maker);

    for (size_t i = 0; i < r->block.n; i++) {
        const program_block *b = &r->block.at[i];

        if (b->linear)
            continue;
        if (k < b->n)
            return u->at[b->unknown0 + k];
        k -= b->n;
    }
    return u->at[m->image->nunknowns + k];
}

span
model_constraint_place(const bg_model *m, size_t k)
{
    return m->image->constraint_at[k];
}
