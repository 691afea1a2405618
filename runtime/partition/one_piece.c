/* one_piece.c - see one_piece.h */
#include "one_piece.h"

#include <math.h>

#include "joined.h"

struct held {
    double ratio;
    size_t at;
};

static int
by_strength(const void *pa, const void *pb)
{
    const struct held *a = pa, *b = pb;

    if (a->ratio != b->ratio)
        return a->ratio > b->ratio ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static double
strength_of(const link *x)
{
    double r = INFINITY;

    for (int k = 0; k < 2; k++)
        if (!x->strong[k] && x->ratio[k] < r)
            r = x->ratio[k];
    return x->refused ? INFINITY : r;
}

const link *
next_to_part(const flat_model *f, const link_plan *p, double *ratio)
{
    struct held *order = bg_calloc(p->link.n + 1, sizeof *order);
    uint32_t *root = joined_new(f->junction.n);
    const link *last = NULL;

    for (uint32_t i = 0; i < f->element.n; i++)
        for (uint32_t k = 1;
             k < f->element.at[i].nports && f->element.at[i].type != EL_TF && f->element.at[i].type != EL_GY; k++)
            joined_join(root, f->port.at[f->element.at[i].port0 + k].junction,
                        f->port.at[f->element.at[i].port0].junction);
    for (size_t i = 0; i < p->link.n; i++)
        order[i] = (struct held){ strength_of(&p->link.at[i]), i };
    if (p->link.n)
        qsort(order, p->link.n, sizeof *order, by_strength);
    for (size_t i = 0; i < p->link.n && !(order[i].ratio < p->limit); i++) {
        const link *x = &p->link.at[order[i].at];

        if (joined_first(root, x->end[0]) == joined_first(root, x->end[1]))
            continue;
        joined_join(root, x->end[0], x->end[1]);
        *ratio = order[i].ratio;
        last = isfinite(order[i].ratio) ? x : NULL;
    }
    free(order);
    free(root);
    return last;
}

static const link *
first_refused(const link_plan *p)
{
    for (size_t i = 0; i < p->link.n; i++)
        if (p->link.at[i].refused)
            return &p->link.at[i];
    return NULL;
}

const char *
one_piece(const flat_model *f, const link_plan *p, const subgraphs *s, arena *a)
{
    const link *weakest, *refused = first_refused(p);
    const char *cause;
    double ratio = NAN;

    if (s->partition.n != 1)
        return NULL;
    if (s->subgraph.n > 1)
        return "signals lead in a circle through all of its subgraphs";
    if (p->link.n == 0)
        return "it has no bond between two junctions";
    weakest = next_to_part(f, p, &ratio);
    if (p->conditioned)
        cause = arena_format(a, "other bonds join both sides of %s that is conditioned",
                             p->conditioned == 1 ? "the one" : "each");
    else if (refused)
        cause = arena_format(a, "no bond that is inactive may be left out (%s: %s)", refused->name, refused->refused);
    else
        cause = arena_format(a, "no bond between two junctions is below %.6g %%", 100 * p->limit);
    if (weakest)
        return arena_format(a, "%s; it is held together by %s, with %.3g %% of the greatest at its weaker end", cause,
                            weakest->name, 100 * ratio);
    return arena_format(a, "%s; no threshold would divide it at its bonds", cause);
}
