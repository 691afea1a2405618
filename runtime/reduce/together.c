/* together.c - see together.h */
#include "together.h"

#include <math.h>

#include "in_image.h"

void
together_open(struct search *d, part_moves *of)
{
    struct together *g = &d->together;
    size_t at = 0;

    together_free(d);
    g->of = of;
    for (size_t x = 0; x < d->o->nexperiments; x++)
        g->n += of[x].n;
    if (g->n > TOGETHER_MOST) {
        together_free(d);
        return;
    }
    g->image = in_image_share(d->image.is);
    g->tolerance = bg_calloc(g->n + 1, sizeof *g->tolerance);
    for (size_t x = 0; x < d->o->nexperiments; x++)
        for (size_t k = 0; k < of[x].ntimes; k++)
            for (size_t i = 0; i < d->bound.n; i++) {
                const struct bound *b = &d->bound.at[i];

                if (b->experiment == x && b->tolerance < INFINITY)
                    g->tolerance[at++] = b->tolerance;
            }
}

void
together_measure(const struct search *d, const struct version *v, double *off)
{
    const struct together *g = &d->together;
    size_t at = 0;

    for (size_t x = 0; x < d->o->nexperiments; x++)
        for (size_t k = 0; k < g->of[x].ntimes; k++)
            for (size_t i = 0; i < d->bound.n; i++) {
                const struct bound *b = &d->bound.at[i];
                double t = g->of[x].time[k];

                if (b->experiment != x || !(b->tolerance < INFINITY))
                    continue;
                off[at] = (track_value(&v->outputs[x], b->slot, t) - track_value(&d->first.outputs[x], b->slot, t)) /
                          g->tolerance[at];
                at++;
            }
}

void
together_free(struct search *d)
{
    struct together *g = &d->together;

    for (size_t x = 0; g->of && x < d->o->nexperiments; x++)
        part_moves_free(&g->of[x]);
    in_image_leave(d, g->image);
    free(g->of);
    free(g->tolerance);
    *g = (struct together){ 0 };
}

static bool
is_element(const struct candidate *x, const struct reading *r)
{
    return x->element != NONE && !r->bond;
}

bool
together_add(const struct search *d, const struct candidate *x, int reading, double *sum)
{
    const struct together *g = &d->together;
    const struct reading *r = &x->reading[reading];
    bool known = g->n > 0 && is_element(x, r);
    size_t at = 0;

    for (size_t i = 0; i < d->o->nexperiments && known; i++) {
        const part_moves *m = &g->of[i];
        const float *by = m->at + (2 * (size_t)x->element + (r->kind == REWRITE_CLAMP)) * m->n;

        for (size_t k = 0; k < m->n; k++, at++)
            sum[at] += by[k] / g->tolerance[at];
        known = m->n == 0 || isfinite(by[0]);
    }
    return known;
}

void
together_take(struct search *d, struct candidate *const *taken, size_t n)
{
    for (size_t k = 0; k < n && d->together.n; k++) {
        const struct reading *r = &taken[k]->reading[taken[k]->chosen];

        for (size_t i = 0; i < d->o->nexperiments && is_element(taken[k], r); i++)
            if (d->together.of[i].influence)
                influence_take_out(d->together.of[i].influence, taken[k]->element, r->kind == REWRITE_CLAMP);
    }
}

bool
together_is_idle(const struct search *d, const struct candidate *x, int reading)
{
    const struct reading *r = &x->reading[reading];
    bool idle = d->together.n > 0 && is_element(x, r);

    for (size_t i = 0; i < d->o->nexperiments && idle; i++) {
        influence *of = d->together.of[i].influence;

        idle = d->together.of[i].n == 0 || (of && !influence_of(of, x->element, r->kind == REWRITE_CLAMP));
    }
    return idle;
}

double
together_worst(const struct search *d, const double *sum)
{
    double most = 0;

    for (size_t k = 0; k < d->together.n; k++)
        most = fmax(most, fabs(sum[k]));
    return most;
}
