/* model_graph.c - see model_graph.h */
#include "model_graph.h"

#include <string.h>

#include "model_inside.h"

const model_graph *
model_graph_of(const bg_model *m)
{
    return &image_graph_of(m->image, m->maker)->graph;
}

size_t
model_output_find(const bg_model *m, const char *name)
{
    const model_graph *g = model_graph_of(m);

    for (size_t k = 0; k < g->noutputs; k++)
        if (!strcmp(g->output[k].name, name))
            return k;
    return NO_INDEX;
}

double
model_ratio(bg_model *m, uint32_t k, const double *value)
{
    const image_graph *g = image_graph_of(m->image, m->maker);

    if (!m->ratio_room)
        m->ratio_room = bg_calloc(g->book.room + 1, sizeof *m->ratio_room);
    return formula_value(&g->book, g->ratio.at[k], value, m->ratio_room);
}

const char *
model_bond_label(arena *a, const struct model_bond *b)
{
    return b->name ? b->name : arena_format(a, "%s -> %s", b->from_label, b->to_label);
}

const model_reads *
model_reads_of(const bg_model *m)
{
    return image_reads_of(m->image, m->maker);
}

struct model_state
model_state(const bg_model *m, size_t i)
{
    return image_states_of(m->image, m->maker)->at[i];
}

shown_text
model_state_shown(const bg_model *m, size_t i, double si)
{
    const struct model_state *s = &image_states_of(m->image, m->maker)->at[i];

    return value_shown(s->unit, s->shown, si);
}
