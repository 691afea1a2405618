/* domain.c - see domain.h; flat_power is declared in flat.h */
#include <stdlib.h>

#include "domain.h"

/* ---------------------------------------------------------------- power */

uint32_t
flat_power_reads(const flat_model *f, uint32_t junction, const var_id **reads)
{
    const flat_domain *d = junction_domain(f, junction);

    *reads = d ? d->reads : NULL;
    return d ? d->nreads : 0;
}

node
flat_power(flat_model *f, uint32_t junction, node e, node flow, uint32_t first)
{
    const flat_domain *d = junction_domain(f, junction);
    node *with, power;

    if (!d || d->power == NODE_NONE)
        return ex_mul(f->pool, e, flow);
    with = bg_calloc(2 + d->nreads, sizeof *with);
    with[0] = e;
    with[1] = flow;
    for (uint32_t k = 0; k < d->nreads; k++)
        with[2 + k] = ex_slot(f->pool, first + k);
    power = ex_substitute(f->pool, d->power, with, 2 + d->nreads);
    free(with);
    return power;
}

/* ---------------------------------------------------------------- names in reports */

const char *
effort_name(const flat_model *f, uint32_t junction)
{
    const flat_domain *d = junction_domain(f, junction);

    return d ? d->effort_name : "effort";
}

const char *
flow_name(const flat_model *f, uint32_t junction)
{
    const flat_domain *d = junction_domain(f, junction);

    return d ? d->flow_name : "flow";
}

const char *
quantity_name(const flat_model *f, var_id v)
{
    const flat_var *x = &f->var.at[v];
    uint32_t j;
    bool common = x->kind == VAR_COMMON;

    switch (x->kind) {
    case VAR_COMMON: j = x->owner; break;
    case VAR_PORT:   j = f->port.at[x->owner].junction; break;
    case VAR_BOND:   j = f->bond.at[x->owner].from; break;
    default:         return NULL;
    }
    if (!junction_domain(f, j))
        return NULL;
    return (f->junction.at[j].type == 1) == common ? flow_name(f, j) : effort_name(f, j);
}
