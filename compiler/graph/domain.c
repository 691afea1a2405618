/* domain.c - see domain.h */
#include <stdlib.h>
#include <string.h>

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
    case VAR_PORT: j = f->port.at[x->owner].junction; break;
    case VAR_BOND: j = f->bond.at[x->owner].from; break;
    default: return NULL;
    }
    if (!junction_domain(f, j))
        return NULL;
    return (f->junction.at[j].type == 1) == common ? flow_name(f, j) : effort_name(f, j);
}

/* ---------------------------------------------------------------- names in expressions */

static const struct letter {
    const char *name;
    bool effort;
    const char *unit;
} letters[] = {
    { "F", true, "N" },      { "v", false, "m/s" },   { "u", true, "V" },      { "i", false, "A" },
    { "M", true, "N.m" },    { "tau", true, "N.m" },  { "w", false, "rad/s" }, { "omega", false, "rad/s" },
    { "p", true, "Pa" },     { "Q", false, "m^3/s" }, { "T", true, "K" },      { "T", true, "N.m" },
    { "mu", true, "J/mol" }, { "v", true, "V" } /* where only an effort can be meant */
};
enum { NLETTERS = sizeof letters / sizeof *letters };

bool
quantity_of_domain(const flat_domain *d, const char *name)
{
    return d && (!strcmp(d->effort_name, name) || !strcmp(d->flow_name, name));
}

bool
quantity_by_name(const flat_model *f, uint32_t junction, bool common_effort, const char *name, enum quantity *is)
{
    const flat_domain *d = junction_domain(f, junction);

    if (quantity_of_domain(d, name)) {
        *is = strcmp(d->effort_name, name) ? Q_FLOW : Q_EFFORT;
        return true;
    }
    for (int k = 0; k < NLETTERS; k++) {
        if (strcmp(letters[k].name, name) != 0 || (common_effort && !letters[k].effort))
            continue;
        *is = letters[k].effort ? Q_EFFORT : Q_FLOW;
        return true;
    }
    return false;
}

static const unit *
letter_unit(unit_system *u, int k)
{
    const char *why;
    const unit *x = unit_parse(u, letters[k].unit, &why);

    return x ? unit_dimension(x) : NULL;
}

const char *
quantity_unit(unit_system *u, const char *name, bool effort, const unit *is)
{
    const char *first = NULL;

    for (int k = 0; k < NLETTERS; k++) {
        if (strcmp(letters[k].name, name) || letters[k].effort != effort)
            continue;
        if (letter_unit(u, k) == is)
            return NULL;
        first = first ? first : letters[k].unit;
    }
    return first;
}

const char *
quantity_name_of(unit_system *u, bool effort, const unit *is)
{
    for (int k = 0; k < NLETTERS; k++)
        if (letters[k].effort == effort && letter_unit(u, k) == is)
            return letters[k].name;
    return NULL;
}
