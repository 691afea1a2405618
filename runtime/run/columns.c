/* columns.c - what a run's table shows */
#include <string.h>

#include "domain.h"
#include "columns.h"

const flat_output *
model_output(const flat_model *f, size_t k)
{
    return k < f->output.n ? &f->output.at[k] : &f->experiment.record.at[k - f->output.n];
}

size_t
model_find_output(const flat_model *f, const char *name)
{
    for (size_t k = 0; k < f->output.n + f->experiment.record.n; k++)
        if (!strcmp(model_output(f, k)->name, name))
            return k;
    return SIZE_MAX;
}

static void
add(columns *c, map *seen, column x)
{
    uint64_t key = bg_hash_bytes(x.name, strlen(x.name), 0);

    if (map_get(seen, key) != MAP_NONE)
        return;
    map_set(seen, key, (uint32_t)c->column.n);
    vec_push(&c->column, x);
}

/* Of an output or recorded expression that is one bond's effort or flow. */
static const char *
quantity_of(const flat_model *f, inst def)
{
    var_id v;

    if (def.n != 1 || pool_node(f->pool, def.root)->op != EX_SLOT)
        return NULL;
    v = inst_slots(f, def)[0];
    if (f->var.at[v].kind == VAR_SIGNAL && inst_known(f->var.at[v].def) && f->var.at[v].def.n == 1 &&
        pool_node(f->pool, f->var.at[v].def.root)->op == EX_SLOT)
        v = inst_slots(f, f->var.at[v].def)[0];
    return quantity_name(f, v);
}

void
columns_make(bg_model *m, const sim_result *r, columns *c)
{
    const flat_model *f = model_flat(m);
    size_t nout = model_noutputs(m), nx = model_nstates(m);
    map seen = { 0 };

    memset(c, 0, sizeof *c);
    c->points = r->points;
    c->time = r->time;
    for (size_t k = 0; r->output && k < nout; k++) {
        const flat_output *o = model_output(f, k);

        add(c, &seen, (column){ o->name, quantity_of(f, o->def), o->unit, o->display, r->output + k, nout });
    }
    for (size_t k = 0; r->state && k < nx; k++) {
        struct model_state s = model_state(m, k);

        add(c, &seen, (column){ s.name, NULL, s.unit, s.display, r->state + k, nx });
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
    return to_display(c->display, column_at(c, point));
}

const char *
column_unit(const column *c)
{
    return unit_shown(c->unit, c->display);
}
