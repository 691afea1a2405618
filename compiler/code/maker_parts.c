/* maker_parts.c - what each part of a model computes, as a program: rates, powers, outputs, conditions, rows of nets */

#include "domain.h"
#include "maker_inside.h"

/* Power of a bond of this junction, times its sign. */
static inst
power_of_bond(equations *e, uint32_t junction, var_id effort, var_id flow, int sign)
{
    flat_model *f = e->f;
    const var_id *reads;
    uint32_t nreads = flat_power_reads(f, junction, &reads);
    node product = flat_power(f, junction, ex_slot(f->pool, 0), ex_slot(f->pool, 1), 2);
    VEC(var_id) slot = { 0 };
    inst i;

    vec_push(&slot, effort);
    vec_push(&slot, flow);
    for (uint32_t k = 0; k < nreads; k++)
        vec_push(&slot, reads[k]);
    i = flat_inst(f, sign > 0 ? product : ex_sub(f->pool, ex_const(f->pool, 0), product), slot.at, (uint32_t)slot.n);
    vec_free(&slot);
    return inst_compose(e->composer, i, NULL);
}

/* The derivative of the stored energy by the stored quantity of a port. For a true bond it is the conjugate
 * variable; for a pseudo bond, the power per unit of the flow (a heat capacitance stores heat, whatever its
 * temperature). */
static inst
energy_slope(equations *e, uint32_t port)
{
    flat_model *f = e->f;
    const flat_port *p = &f->port.at[port];
    const flat_domain *d = junction_domain(f, p->junction);
    VEC(var_id) slot = { 0 };
    const var_id *reads;
    uint32_t nreads;
    node one, power;
    inst i;

    if (!d || d->power == NODE_NONE)
        return inst_var(f, storage_conjugate(f, port));
    one = ex_const(f->pool, 1);
    nreads = flat_power_reads(f, p->junction, &reads);
    power = port_has_momentum(f, port) ? flat_power(f, p->junction, one, ex_slot(f->pool, 0), 1)
                                       : flat_power(f, p->junction, ex_slot(f->pool, 0), one, 1);
    vec_push(&slot, port_has_momentum(f, port) ? p->f : p->e);
    for (uint32_t k = 0; k < nreads; k++)
        vec_push(&slot, reads[k]);
    i = inst_compose(e->composer, flat_inst(f, power, slot.at, (uint32_t)slot.n), NULL);
    vec_free(&slot);
    return i;
}

static void
add_expansion(const equations *e, const eq_expansion *x, target_list *target)
{
    for (int k = 0; k < 3; k++)
        target_add(target, x->d[k] == VAR_NONE ? inst_const(e->f, 0) : inst_var(e->f, x->d[k]),
                   e->f->var.at[x->d[0]].position);
}

void
model_add_net_rows(const equations *e, target_list *target)
{
    for (size_t i = 0; i < e->row.n; i++)
        add_expansion(e, &e->row.at[i].r, target);
    for (size_t i = 0; i < e->watch.n; i++)
        add_expansion(e, &e->watch.at[i].g, target);
}

/* Powers of ports and bonds, then stored quantities and the derivatives of the energy by them. */
static void
add_bonds(equations *e, target_list *target)
{
    const flat_model *f = e->f;

    for (uint32_t i = 0; i < f->port.n; i++) {
        const flat_port *p = &f->port.at[i];

        target_add(target, power_of_bond(e, p->junction, p->e, p->f, p->sign), f->var.at[p->e].position);
    }
    for (uint32_t i = 0; i < f->bond.n; i++) {
        const flat_bond *b = &f->bond.at[i];
        const flat_junction *from = &f->junction.at[b->from], *to = &f->junction.at[b->to];
        var_id effort = from->type == 0 ? from->common : to->type == 0 ? to->common : b->own;
        var_id flow = from->type == 1 ? from->common : to->type == 1 ? to->common : b->own;

        target_add(target, power_of_bond(e, b->from, effort, flow, 1), f->var.at[effort].position);
    }
    for (uint32_t i = 0; i < f->port.n; i++)
        if (f->port.at[i].stored != VAR_NONE) {
            var_id stored = f->port.at[i].stored;

            target_add_var(target, e, stored);
            target_add(target, energy_slope(e, i), f->var.at[stored].position);
        }
}

program *
model_plan_part(maker *m, enum model_part part)
{
    equations *e = m->e;
    flat_model *f = m->f;
    target_list target = { 0 };

    switch (part) {
    case PART_RHS: target_add_rates(&target, e); break;
    case PART_POWERS:
        for (size_t i = 0; i < e->power.n; i++)
            target_add(&target, e->power.at[i],
                       f->element.at[i].nports ? f->var.at[f->port.at[f->element.at[i].port0].e].position : 0);
        break;
    case PART_OUTPUTS:
        for (uint32_t i = 0; i < e->output.n; i++)
            target_add(&target, e->output.at[i], i);
        break;
    case PART_REINITS:
        for (uint32_t i = 0; i < f->when.n; i++)
            target_add(&target, f->when.at[i].condition, i);
        for (uint32_t i = 0; i < f->reinit.n; i++)
            target_add(&target, f->reinit.at[i].value, (uint32_t)f->when.n + i);
        break;
    case PART_DELAYS:
        for (uint32_t i = 0; i < f->delay.n; i++)
            target_add(&target, f->delay.at[i].of, i);
        break;
    case PART_CONSTRAINTS:
        for (uint32_t i = 0; i < e->constraint.n; i++)
            target_add(&target, inst_var(f, e->constraint.at[i]), i);
        break;
    case PART_NETS: model_add_net_rows(e, &target); break;
    case PART_CLOCKS:
        for (uint32_t i = 0; i < m->clock.n; i++)
            target_add(&target, m->clock.at[i].def, i);
        break;
    case PART_PORTS:
        for (uint32_t i = 0; i < f->port.n; i++) {
            target_add_var(&target, e, f->port.at[i].e);
            target_add_var(&target, e, f->port.at[i].f);
        }
        break;
    case PART_POLES:
        for (uint32_t i = 0; i < m->pole.n; i++)
            target_add(&target, m->pole.at[i].divisor, i);
        break;
    case PART_BONDS: add_bonds(e, &target); break;
    case PART_GATES:
        for (uint32_t i = 0; i < m->gate.n; i++)
            target_add(&target, e->mode.at[m->gate.at[i].mode].g, i);
        break;
    default: /* conditions, but for those with a threshold of a quantity; then these quantities */
        for (uint32_t i = 0; i < e->mode.n; i++)
            if (m->thresholds.of_mode[i].of == NONE)
                target_add(&target, e->mode.at[i].g, i);
        for (uint32_t i = 0; i < m->thresholds.quantity.n; i++)
            target_add(&target, m->thresholds.quantity.at[i], (uint32_t)e->mode.n + i);
    }
    return program_plan_list(e, &target);
}
