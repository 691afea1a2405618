/* junction.c - see junction.h */
#include "junction.h"

#include <math.h>
#include <string.h>

static int
by_bond_activity(const void *pa, const void *pb)
{
    const junction_row *a = pa, *b = pb;

    if (a->activity != b->activity)
        return a->activity > b->activity ? -1 : 1;
    if (a->is_bond != b->is_bond)
        return a->is_bond ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

uint32_t *
junction_port_leaders(const model_graph *g)
{
    uint32_t *leader = bg_malloc((g->nports + 1) * sizeof *leader);

    for (uint32_t i = 0; i < g->nelements; i++) {
        const struct model_element *e = &g->element[i];
        map first = { 0 }; /* by the port's name in the text */

        for (uint32_t p = e->port0; p < e->port0 + e->nports; p++) {
            const char *name = g->port[p].own;
            uint64_t key = name ? bg_hash_bytes(name, strlen(name), 0) : 0;
            uint32_t seen = name ? map_get(&first, key) : MAP_NONE;

            leader[p] = seen != MAP_NONE ? seen : p;
            if (name && seen == MAP_NONE)
                map_set(&first, key, p);
        }
        map_free(&first);
    }
    return leader;
}

void
junction_ratios(const model_graph *g, const double *activity, junction_table *out)
{
    double *top = bg_calloc(g->njunctions + 1, sizeof *top);
    uint32_t *leader = junction_port_leaders(g);

    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < g->nports; i++) {
        uint32_t j = g->port[i].junction;

        if (leader[i] == i)
            top[j] = fmax(top[j], activity[i]);
    }
    for (uint32_t i = 0; i < g->nbonds; i++) {
        const struct model_bond *b = &g->bond[i];
        double a = activity[g->nports + i];

        top[b->from] = fmax(top[b->from], a);
        top[b->to] = fmax(top[b->to], a);
    }
    for (uint32_t i = 0; i < g->nbonds; i++) {
        const struct model_bond *b = &g->bond[i];
        double a = activity[g->nports + i];

        vec_push(&out->row, ((junction_row){ true, i, a, top[b->from] > 0 ? a / top[b->from] : NAN,
                                             top[b->to] > 0 ? a / top[b->to] : NAN }));
    }
    for (uint32_t i = 0; i < g->nports; i++) {
        const struct model_port *p = &g->port[i];
        double ratio = top[p->junction] > 0 ? activity[i] / top[p->junction] : NAN;

        if (leader[i] != i)
            continue;
        vec_push(&out->row,
                 ((junction_row){ false, i, activity[i], p->sign > 0 ? ratio : NAN, p->sign > 0 ? NAN : ratio }));
    }
    if (out->row.n)
        qsort(out->row.at, out->row.n, sizeof *out->row.at, by_bond_activity);
    for (size_t i = out->row.n; i-- > 0;)
        out->total += out->row.at[i].activity;
    free(top);
    free(leader);
}

void
junction_free(junction_table *t)
{
    vec_free(&t->row);
}
