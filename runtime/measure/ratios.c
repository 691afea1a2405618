/* ratios.c - see ratios.h */
#include "ratios.h"

#include <math.h>
#include <string.h>

static int
by_size(const void *pa, const void *pb)
{
    const ratio_row *a = pa, *b = pb;

    if (a->value[0] != b->value[0])
        return a->value[0] > b->value[0] ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void
sort_rows(ratio_table *t)
{
    if (t->row.n)
        qsort(t->row.at, t->row.n, sizeof *t->row.at, by_size);
}

void
ratios_relative(const model_graph *g, const relative *r, ratio_table *out)
{
    memset(out, 0, sizeof *out);
    out->metric = METRIC_RELATIVE;
    out->arena = arena_new();
    for (size_t i = 0; i < r->row.n; i++) {
        const relative_row *x = &r->row.at[i];
        const struct model_port *p = &g->port[x->port];

        out->total += x->change;
        for (size_t k = x->first; k < x->first + x->n; k++) {
            const relative_neighbour *b = &r->neighbour.at[k];

            vec_push(&out->row, ((ratio_row){ .of = p->name,
                                              .type = element_type_name(g->element[p->element].type),
                                              .from = p->at,
                                              .to = b->is_bond ? model_bond_label(out->arena, &g->bond[b->index])
                                                               : g->port[b->index].name,
                                              .bond = b->is_bond,
                                              .value = { x->change, b->change, b->ratio9, b->ratio10 },
                                              .order = out->row.n }));
        }
    }
    sort_rows(out);
}

void
ratios_junction(const model_graph *g, const junction_table *t, ratio_table *out)
{
    memset(out, 0, sizeof *out);
    out->metric = METRIC_JUNCTION;
    out->arena = arena_new();
    out->total = t->total;
    for (size_t i = 0; i < t->row.n; i++) {
        const junction_row *x = &t->row.at[i];
        ratio_row row = { .bond = x->is_bond, .value = { x->activity, x->ratio_from, x->ratio_to, NAN }, .order = i };

        if (x->is_bond) {
            const struct model_bond *b = &g->bond[x->index];

            row.from = b->from_label;
            row.to = b->to_label;
            row.of = model_bond_label(out->arena, b);
            row.named = b->name != NULL;
        } else {
            const struct model_port *p = &g->port[x->index];
            const char *at = p->at, *element = p->name;

            row.from = p->sign > 0 ? at : element;
            row.to = p->sign > 0 ? element : at;
            row.of = p->bond ? p->bond : arena_format(out->arena, "%s -> %s", row.from, row.to);
            row.named = p->bond != NULL;
        }
        vec_push(&out->row, row);
    }
    sort_rows(out);
}

/* Identifies the same bond in every experiment: by its names and its number among equal ones (parallel bonds). */
static uint64_t
row_key(const ratio_row *r, map *count)
{
    uint64_t key = bg_hash_bytes(r->of, strlen(r->of), r->bond);
    uint32_t n;

    key = bg_hash_bytes(r->from, strlen(r->from), key);
    key = bg_hash_bytes(r->to, strlen(r->to), key);
    n = map_get(count, key);
    n = n == MAP_NONE ? 0 : n + 1;
    map_set(count, key, n);
    return bg_hash_bytes(&n, sizeof n, key);
}

void
ratios_combine(const ratio_table *one, size_t n, ratio_table *out)
{
    map seen = { 0 };
    VEC(const ratio_row *) found = { 0 };

    memset(out, 0, sizeof *out);
    out->metric = n ? one[0].metric : METRIC_JUNCTION;
    out->nper = n;
    for (size_t e = 0; e < n; e++) {
        map count = { 0 };

        out->total = fmax(out->total, one[e].total);
        for (size_t i = 0; i < one[e].row.n; i++) {
            const ratio_row *x = &one[e].row.at[i];
            uint64_t key = row_key(x, &count);
            uint32_t at = map_get(&seen, key);

            if (at == MAP_NONE) {
                at = (uint32_t)out->row.n;
                map_set(&seen, key, at);
                vec_push(&out->row, *x);
                out->row.at[at].order = at;
                for (size_t k = 0; k < n; k++)
                    vec_push(&found, NULL);
            }
            for (int k = 0; k < RATIO_VALUES; k++)
                out->row.at[at].value[k] = fmax(out->row.at[at].value[k], x->value[k]);
            found.at[at * n + e] = x;
        }
        map_free(&count);
    }
    map_free(&seen);
    sort_rows(out);
    for (size_t i = 0; i < out->row.n; i++)
        for (size_t k = 0; k < n; k++)
            vec_push(&out->per, found.at[out->row.at[i].order * n + k]);
    vec_free(&found);
}

void
ratios_free(ratio_table *t)
{
    vec_free(&t->row);
    vec_free(&t->per);
    if (t->arena)
        arena_free(t->arena);
}

bool
ratio_negligible(const ratio_table *t, const ratio_row *r, double limit)
{
    if (t->metric == METRIC_RELATIVE)
        return r->value[RATIO_9] < limit && r->value[RATIO_10] < limit;
    bool from = !isnan(r->value[RATIO_FROM]), to = !isnan(r->value[RATIO_TO]);
    return (from || to) && (!from || r->value[RATIO_FROM] < limit) && (!to || r->value[RATIO_TO] < limit);
}
