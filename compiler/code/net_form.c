/* net_form.c - see net_form.h */
#include "net_form.h"

#include <stdlib.h>

#include "equations.h"
#include "joined.h"

/* The number of a unit among those that were met */
static uint32_t
unit_number(map *units, size_t *n, const unit *u)
{
    uint64_t key = map_ptr_key(u);
    uint32_t k = map_get(units, key);

    if (k == MAP_NONE)
        map_set(units, key, k = (uint32_t)(*n)++);
    return k;
}

static void
add_units(net_form *f, const equations *e, const uint32_t *position)
{
    map units = { 0 };

    f->group = bg_calloc(f->nx + 1, sizeof *f->group);
    f->unit = bg_calloc(f->nheld + 1, sizeof *f->unit);
    for (size_t i = 0; i < f->nx; i++) {
        var_id v = e->state.at[i].var;

        f->group[position[v]] = unit_number(&units, &f->ngroups, var_unit(e->f, v));
    }
    map_free(&units);
    /* what was made for the equations' sake (an exponential) is as large as it is, whatever else has its unit */
    for (size_t i = 0; i < f->nheld; i++) {
        const flat_var *v = &e->f->var.at[e->held.at[i]];

        f->unit[i] = v->kind == VAR_AUX ? (uint32_t)f->nunits++
                                        : unit_number(&units, &f->nunits, var_unit(e->f, e->held.at[i]));
    }
    map_free(&units);
}

net_form *
net_form_new(const equations *e, const uint32_t *position)
{
    net_form *f;

    if (!e->net.n)
        return NULL;
    f = bg_calloc(1, sizeof *f);
    *f = (net_form){ .n = e->net.n, .nmodes = e->mode.n, .nheld = e->held.n, .nwatch = e->watch.n, .nx = e->state.n };
    f->net = bg_calloc(f->n, sizeof *f->net);
    f->watch = bg_calloc(f->nwatch + 1, sizeof *f->watch);
    f->mode = bg_calloc(e->net_mode.n + 1, sizeof *f->mode);
    f->near = bg_malloc((f->nheld + 1) * sizeof *f->near);
    f->at = bg_calloc(f->nheld + 1, sizeof *f->at);
    for (size_t i = 0; i < f->n; i++) {
        const eq_net *q = &e->net.at[i];

        f->net[i] = (net_part){ q->held0, q->n, q->watch0, q->nwatch, q->mode0, q->nmodes, q->curved, q->at };
    }
    for (size_t i = 0; i < f->nwatch; i++)
        f->watch[i] = e->watch.at[i].mode;
    for (size_t i = 0; i < e->net_mode.n; i++)
        f->mode[i] = e->net_mode.at[i];
    for (size_t i = 0; i < f->nheld; i++) {
        f->at[i] = e->row.at[i].at;
        f->near[i] = NONE;
    }
    for (size_t i = 0; i < e->near.n; i++)
        f->near[e->var.at[e->near.at[i].held].index] = e->near.at[i].mode;
    add_units(f, e, position);
    return f;
}

void
net_form_free(net_form *f)
{
    if (!f)
        return;
    free(f->net);
    free(f->watch);
    free(f->mode);
    free(f->near);
    free(f->at);
    free(f->group);
    free(f->unit);
    free(f);
}

void
net_form_join(const net_form *f, uint32_t *set)
{
    for (size_t k = 0; k < f->n; k++)
        for (uint32_t i = 1; i < f->net[k].nmodes; i++)
            joined_join(set, f->mode[f->net[k].mode0], f->mode[f->net[k].mode0 + i]);
}
