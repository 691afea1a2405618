/* idle.c - see idle.h */
#include "idle.h"

#include <math.h>

/* An activity below this share of the greatest one is rounding. */
static const double ROUNDING = 1e-13;

/* Is there no power at any port of the element? */
static bool
is_idle(const flat_element *e, const double *port, double least)
{
    for (uint32_t k = 0; k < e->nports; k++)
        if (!(port[e->port0 + k] <= least))
            return false;
    return e->nports > 0;
}

/* Is it a source that is written in the model's own text? */
static bool
is_own_source(const flat_model *f, const flat_element *e)
{
    return is_source(e) && e->node && ast_node_nparts(e->node) == 1 && e->nports == 1 && e->parent == NONE &&
           !e->keep && port_own_name(f, e->port0) == NULL;
}

bool
idle_find(const compilation *c, const recording *r, size_t n, arena *a, idle_parts *out)
{
    const flat_model *f = c->flat;
    bond_candidates list = { 0 };
    bond_measure m;
    double least = 0;
    bool fine = bonds_measure(f, r, n, METRIC_ACTIVITY, 0, &m);

    for (size_t i = 0; i < f->bond.n && fine; i++)
        least = fmax(least, m.from[i]);
    for (size_t i = 0; i < f->port.n && fine; i++)
        least = fmax(least, m.port[i]);
    least *= ROUNDING;
    if (fine)
        bonds_find(c, NULL, a, &list);
    for (size_t i = 0; i < list.n; i++) {
        const bond_candidate *x = &list.at[i];
        rewrite_bond *kept;

        if (x->element != NONE && is_idle(&f->element.at[x->element], m.port, least))
            vec_push(out, ((idle_part){ .name = x->name, .at = x->at }));
        if (x->bond == NONE || !x->may[BOND_DROP] || !(m.from[x->bond] <= least))
            continue;
        kept = arena_new_array(a, rewrite_bond, 1);
        *kept = x->change[BOND_DROP];
        vec_push(out, ((idle_part){ .name = x->name, .at = x->at, .bond = kept }));
    }
    for (uint32_t i = 0; i < f->element.n && fine; i++)
        if (is_own_source(f, &f->element.at[i]) && is_idle(&f->element.at[i], m.port, least))
            vec_push(out, ((idle_part){ .name = f->element.at[i].name, .at = element_at(&f->element.at[i]) }));
    vec_free(&list);
    bond_measure_free(&m);
    return fine;
}
