/* columns.c - the columns of a run's table */
#include <string.h>

#include "columns.h"
#include "model_graph.h"

static void
append_column(columns *c, map *seen, column x)
{
    uint64_t key = bg_hash_bytes(x.name, strlen(x.name), 0);

    if (map_get(seen, key) != MAP_NONE)
        return;
    map_set(seen, key, (uint32_t)c->column.n);
    vec_push(&c->column, x);
}

void
columns_make(bg_model *m, const sim_result *r, columns *c)
{
    const model_graph *g = model_graph_of(m);
    size_t nout = model_noutputs(m), nx = model_nstates(m);
    map seen = { 0 };

    memset(c, 0, sizeof *c);
    c->points = r->points;
    c->time = r->time;
    for (size_t k = 0; r->output && k < nout; k++) {
        const struct model_output *o = &g->output[k];

        append_column(c, &seen, (column){ o->name, o->quantity, o->unit, o->display, r->output + k, nout });
    }
    for (size_t k = 0; r->state && k < nx; k++) {
        struct model_state s = model_state(m, k);

        append_column(c, &seen, (column){ s.name, NULL, s.unit, s.display, r->state + k, nx });
    }
    map_free(&seen);
}

void
columns_free(columns *c)
{
    vec_free(&c->column);
}

double
column_shown(const column *c, size_t point)
{
    return to_display(c->display, column_at(c, point)) + 0.0;
}

const char *
column_unit(const column *c)
{
    return unit_shown(c->unit, c->display);
}
