/* maker_parts.c - what each part of a model computes, as a program: rates, powers, outputs, conditions, rows of nets */

#include "domain.h"
#include "maker_inside.h"

/* Power of a bond of this junction, times the sign. */
static inst
power_of(equations *e, uint32_t junction, var_id effort, var_id flow, int sign)
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

/* The derivative of the stored energy by what a port stores: of a true bond its conjugate; of a pseudo bond what its
 * power is for each unit of the flow (a capacitance of heat has an energy of heat, whatever its temperature). */
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
add_expansion(equations *e, const eq_expansion *x, struct targets *target, struct positions *position)
{
    for (int k = 0; k < 3; k++) {
        vec_push(target, x->d[k] == VAR_NONE ? inst_const(e->f, 0) : inst_var(e->f, x->d[k]));
        vec_push(position, e->f->var.at[x->d[0]].position);
    }
}

void
model_add_net_rows(equations *e, struct targets *target, struct positions *position)
{
    for (size_t i = 0; i < e->row.n; i++)
        add_expansion(e, &e->row.at[i].r, target, position);
    for (size_t i = 0; i < e->watch.n; i++)
        add_expansion(e, &e->watch.at[i].g, target, position);
}

program *
model_plan_part(maker *m, enum model_part part)
{
    equations *e = m->e;
    flat_model *f = m->f;
    struct targets target = { 0 };
    struct positions position = { 0 };
    program *g;

    switch (part) {
    case PART_RHS:
        for (size_t i = 0; i < e->state.n; i++) {
            vec_push(&target, inst_var(f, e->state.at[i].rate));
            vec_push(&position, f->var.at[e->state.at[i].var].position);
        }
        break;
    case PART_POWERS:
        for (size_t i = 0; i < e->power.n; i++) {
            vec_push(&target, e->power.at[i]);
            vec_push(&position, f->element.at[i].nports ? f->var.at[f->port.at[f->element.at[i].port0].e].position : 0);
        }
        break;
    case PART_OUTPUTS:
        for (size_t i = 0; i < e->output.n; i++) {
            vec_push(&target, e->output.at[i]);
            vec_push(&position, (uint32_t)i);
        }
        break;
    case PART_REINITS:
        for (size_t i = 0; i < f->when.n; i++)
            vec_push(&target, f->when.at[i].condition);
        for (size_t i = 0; i < f->reinit.n; i++)
            vec_push(&target, f->reinit.at[i].value);
        for (uint32_t i = 0; i < target.n; i++)
            vec_push(&position, i);
        break;
    case PART_DELAYS:
        for (uint32_t i = 0; i < f->delay.n; i++) {
            vec_push(&target, f->delay.at[i].of);
            vec_push(&position, i);
        }
        break;
    case PART_CONSTRAINTS:
        for (size_t i = 0; i < e->constraint.n; i++) {
            vec_push(&target, inst_var(f, e->constraint.at[i]));
            vec_push(&position, (uint32_t)i);
        }
        break;
    case PART_NETS: model_add_net_rows(e, &target, &position); break;
    case PART_CLOCKS:
        for (uint32_t i = 0; i < m->clock.n; i++) {
            vec_push(&target, m->clock.at[i].def);
            vec_push(&position, i);
        }
        break;
    case PART_PORTS:
        for (uint32_t i = 0; i < f->port.n; i++) {
            const flat_port *p = &f->port.at[i];

            vec_push(&target, inst_var(f, p->e));
            vec_push(&target, inst_var(f, p->f));
            vec_push(&position, f->var.at[p->e].position);
            vec_push(&position, f->var.at[p->f].position);
        }
        break;
    case PART_POLES:
        for (uint32_t i = 0; i < m->pole.n; i++) {
            vec_push(&target, m->pole.at[i].divisor);
            vec_push(&position, i);
        }
        break;
    case PART_BONDS:
        for (uint32_t i = 0; i < f->port.n; i++) {
            const flat_port *p = &f->port.at[i];

            vec_push(&target, power_of(e, p->junction, p->e, p->f, p->sign));
            vec_push(&position, f->var.at[p->e].position);
        }
        for (uint32_t i = 0; i < f->bond.n; i++) {
            const flat_bond *b = &f->bond.at[i];
            const flat_junction *from = &f->junction.at[b->from], *to = &f->junction.at[b->to];
            var_id effort = from->type == 0 ? from->common : to->type == 0 ? to->common : b->own;
            var_id flow = from->type == 1 ? from->common : to->type == 1 ? to->common : b->own;

            vec_push(&target, power_of(e, b->from, effort, flow, 1));
            vec_push(&position, f->var.at[effort].position);
        }
        for (uint32_t i = 0; i < f->port.n; i++)
            if (f->port.at[i].stored != VAR_NONE) {
                const flat_port *p = &f->port.at[i];

                vec_push(&target, inst_var(f, p->stored));
                vec_push(&target, energy_slope(e, i));
                vec_push(&position, f->var.at[p->stored].position);
                vec_push(&position, f->var.at[p->stored].position);
            }
        break;
    default:
        for (size_t i = 0; i < e->mode.n; i++) {
            vec_push(&target, e->mode.at[i].g);
            vec_push(&position, (uint32_t)i);
        }
    }
    g = program_plan(e, target.at, position.at, (uint32_t)target.n);
    vec_free(&target);
    vec_free(&position);
    return g;
}
