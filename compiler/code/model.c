/* model.c - see model.h */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "equations.h"
#include "bounds.h"
#include "clocks.h"
#include "curvature.h"
#include "poles.h"
#include "evaluate.h"
#include "initial.h"
#include "parameters.h"
#include "jacobian.h"
#include "interpret.h"
#include "net.h"
#include "partials.h"
#include "project.h"
#include "storage.h"
#include "model.h"

typedef VEC(var_id) var_list;

struct bg_model {
    flat_model *f;
    causal *c;
    equations *e;
    bool long_run;
    uint32_t *position; /* layout: of states in x, of modes in m, by variable */
    uint32_t *state_of; /* state number -> number in the equations */
    bool *stated;       /* by state */
    program *program[PART_COUNT];
    evaluator *evaluator[PART_COUNT];
    double *scratch[PART_COUNT]; /* outputs as the classes order them */
    jacobian *jacobian;
    VEC(partials *) partials;
    partials *weighed; /* one of them, by flat.weight */
    projector *projector;
    nets *nets; /* NULL: no ideal switches */
    jacobian *net_partials;
    block_memory memory;
    double *value;    /* of parameters and literals, by variable */
    bool *overridden; /* parameters set by model_set_parameter */
    double *modes;
    double *slope, *offset; /* of known modes */
    const char **mode_text;
    clock_list clock;
    bool clocks_known;
    bend_list bend;
    bounds *bounds, *bends; /* of the clocks; of what may bend within little of the states */
    pole_list pole;
    bool poles_known;
    double *determinant; /* by block, of the last look at the poles; NULL: none of them is one */
    bool held;
    double held_at; /* time stands still there */
    void (*give)(void *ctx, double t, double *modes);
    void *give_ctx;
    double compile_seconds;
};

/* ---------------------------------------------------------------- parameters */

static void
compute_parameters(bg_model *m)
{
    parameter_values(m->f, m->value, m->overridden);
}

double
model_value(const bg_model *m, inst i)
{
    VEC(double) slot = { 0 };
    double value;

    for (uint32_t k = 0; k < i.n; k++)
        vec_push(&slot, m->value[m->f->slot.at[i.first + k]]);
    value = ex_eval(m->f->pool, i.root, slot.at);
    vec_free(&slot);
    return value;
}

static void
distribute_parameters(bg_model *m)
{
    for (int k = 0; k < PART_COUNT; k++)
        if (m->evaluator[k]) {
            program_set_parameters(m->program[k], m->value);
            evaluator_reset(m->evaluator[k]);
        }
    if (m->jacobian)
        jacobian_set_parameters(m->jacobian, m->value);
    if (m->net_partials)
        jacobian_set_parameters(m->net_partials, m->value);
    if (m->nets)
        nets_reset(m->nets);
    for (size_t k = 0; k < m->partials.n; k++)
        partials_set_parameters(m->partials.at[k], m->value, m->overridden);
    for (size_t k = 0; k < m->e->mode.n; k++)
        if (m->e->mode.at[k].known) {
            m->slope[k] = model_value(m, m->e->mode.at[k].slope);
            m->offset[k] = model_value(m, m->e->mode.at[k].offset);
        }
}

var_id
model_parameter(const bg_model *m, const char *name)
{
    for (uint32_t v = 0; v < m->f->var.n; v++)
        if (m->f->var.at[v].kind == VAR_PARAM && !strcmp(m->f->var.at[v].name, name))
            return v;
    return VAR_NONE;
}

double
model_parameter_value(const bg_model *m, var_id v)
{
    return m->value[v];
}

bool
model_set_parameter(bg_model *m, const char *name, double value)
{
    var_id v = model_parameter(m, name);

    if (v == VAR_NONE)
        return false;
    m->overridden[v] = true;
    m->value[v] = value;
    compute_parameters(m);
    distribute_parameters(m);
    return true;
}

/* ---------------------------------------------------------------- parts */

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

struct targets {
    inst *at;
    size_t n, cap;
};
struct positions {
    uint32_t *at;
    size_t n, cap;
};

static void
add_expansion(equations *e, const eq_expansion *x, struct targets *target, struct positions *position)
{
    for (int k = 0; k < 3; k++) {
        vec_push(target, x->d[k] == VAR_NONE ? inst_const(e->f, 0) : inst_var(e->f, x->d[k]));
        vec_push(position, e->f->var.at[x->d[0]].position);
    }
}

/* What net.h calls rows. */
static void
add_net_rows(equations *e, struct targets *target, struct positions *position)
{
    for (size_t i = 0; i < e->row.n; i++)
        add_expansion(e, &e->row.at[i].r, target, position);
    for (size_t i = 0; i < e->watch.n; i++)
        add_expansion(e, &e->watch.at[i].g, target, position);
}

static int run_permuted(bg_model *m, enum model_part part, double t, const double *x, double *out);

static program *
plan_part(bg_model *m, enum model_part part)
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
    case PART_NETS: add_net_rows(e, &target, &position); break;
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

static double
code_seconds(const bg_model *m)
{
    double sum = m->jacobian ? jacobian_code_seconds(m->jacobian) : 0;

    for (int k = 0; k < PART_COUNT; k++)
        if (m->program[k])
            sum += m->program[k]->code_seconds;
    return sum;
}

double
model_compile_seconds(const bg_model *m)
{
    return m->compile_seconds + code_seconds(m);
}

bool
model_need(bg_model *m, enum model_part part)
{
    layout l = { m->position };

    if (part == PART_JACOBIAN && m->nets)
        return nets_pattern(m->nets).n > 0;
    /* first of all: evaluations come this way, and asking for the time would cost more than they do */
    if (part == PART_JACOBIAN ? m->jacobian != NULL : m->evaluator[part] != NULL)
        return true;

    double start = bg_cpu_seconds(), code = code_seconds(m);
    bool ok = true;

    if (part == PART_JACOBIAN) {
        m->jacobian = jacobian_new(m->e, m->program[PART_RHS], l, &m->memory, m->long_run, NULL, 0);
        ok = m->jacobian != NULL;
        if (ok)
            jacobian_set_parameters(m->jacobian, m->value);
    } else {
        if (!m->program[part])
            m->program[part] = plan_part(m, part);
        ok = program_code(m->program[part], l, m->long_run);
        if (ok) {
            m->evaluator[part] = evaluator_new(m->program[part], &m->memory);
            m->scratch[part] = bg_calloc(m->program[part]->ntargets + 1, sizeof(double));
            program_set_parameters(m->program[part], m->value);
        }
    }
    m->compile_seconds += bg_cpu_seconds() - start - (code_seconds(m) - code);
    return ok;
}

static char *
condition_text(bg_model *m, const eq_mode *q)
{
    const char *sign = q->kind == MODE_LESS         ? " < 0"
                       : q->kind == MODE_LESS_EQUAL ? " <= 0"
                       : q->kind == MODE_EQUAL      ? " == 0"
                                                    : "";
    const ex_node *x = pool_node(m->f->pool, q->g.root);
    strbuf b = { 0 };
    char *text;

    if (q->kind == MODE_PIECE)
        strbuf_printf(&b, "table %s at ", pool_table(m->f->pool, q->table)->name);
    else if (q->kind == MODE_FLOOR)
        strbuf_puts(&b, "floor of ");
    else if (q->kind == MODE_SIGN)
        strbuf_puts(&b, "sign of ");
    if (*sign && (x->op == EX_SUB || x->op == EX_NEG)) {      /* as it was written: two sides */
        bool less = q->kind != MODE_EQUAL && x->op == EX_NEG; /* -a < 0 is a > 0 */

        flat_print(m->f, (inst){ x->a, q->g.first, q->g.n }, &b);
        strbuf_printf(&b, " %s ",
                      q->kind == MODE_EQUAL  ? "=="
                      : q->kind == MODE_LESS ? (less ? ">" : "<")
                      : less                 ? ">="
                                             : "<=");
        if (x->op == EX_SUB)
            flat_print(m->f, (inst){ x->b, q->g.first, q->g.n }, &b);
        else
            strbuf_puts(&b, "0");
    } else {
        flat_print(m->f, q->g, &b);
        strbuf_puts(&b, sign);
    }
    text = arena_strdup(m->f->arena, b.at);
    strbuf_free(&b);
    return text;
}

static int
net_rows_of(void *ctx, double t, const double *x, double *out)
{
    return run_permuted(ctx, PART_NETS, t, x, out);
}

/* Rates and the rows of nets in one program, with the held unknowns' columns. */
static jacobian *
net_partials_of(void *ctx)
{
    bg_model *m = ctx;
    struct targets target = { 0 };
    struct positions position = { 0 };
    program *g;

    for (size_t i = 0; i < m->e->state.n; i++) {
        vec_push(&target, inst_var(m->f, m->e->state.at[i].rate));
        vec_push(&position, m->f->var.at[m->e->state.at[i].var].position);
    }
    add_net_rows(m->e, &target, &position);
    g = program_plan(m->e, target.at, position.at, (uint32_t)target.n);
    m->net_partials = jacobian_new(m->e, g, (layout){ m->position }, &m->memory, m->long_run, m->e->held.at,
                                   (uint32_t)m->e->held.n);
    program_free(g);
    if (m->net_partials)
        jacobian_set_parameters(m->net_partials, m->value);
    vec_free(&target);
    vec_free(&position);
    return m->net_partials;
}

bg_model *
model_new(flat_model *f, causal *c, struct equations *eq, bool long_run)
{
    bg_model *m = bg_calloc(1, sizeof *m);
    double start = bg_cpu_seconds();

    m->f = f;
    m->c = c;
    m->e = eq;
    m->long_run = long_run;
    m->position = bg_malloc((f->var.n + 1) * sizeof *m->position);
    memset(m->position, 0xff, (f->var.n + 1) * sizeof *m->position);
    m->state_of = bg_malloc((eq->state.n + 1) * sizeof *m->state_of);
    m->stated = bg_calloc(eq->state.n + 1, sizeof *m->stated);
    m->memory.start = bg_calloc(eq->unknown.n + 1, sizeof(double));
    m->memory.started = bg_calloc(eq->block.n + 1, sizeof(bool));
    m->memory.failed = UINT32_MAX;
    m->value = bg_calloc(f->var.n + 1, sizeof *m->value);
    m->overridden = bg_calloc(f->var.n + 1, sizeof *m->overridden);
    m->modes = bg_calloc(eq->mode.n + eq->held.n + 1, sizeof *m->modes);
    m->slope = bg_calloc(eq->mode.n + 1, sizeof *m->slope);
    m->offset = bg_calloc(eq->mode.n + 1, sizeof *m->offset);
    m->mode_text = bg_calloc(eq->mode.n + 1, sizeof *m->mode_text);

    /* the states stand in the order of their rates' classes */
    m->program[PART_RHS] = plan_part(m, PART_RHS);
    for (uint32_t i = 0; i < eq->state.n; i++) {
        m->position[eq->state.at[i].var] = m->program[PART_RHS]->out_index[i];
        m->state_of[m->program[PART_RHS]->out_index[i]] = i;
    }
    for (uint32_t k = 0; k < eq->mode.n; k++)
        m->position[eq->mode.at[k].var] = k;
    for (uint32_t i = 0; i < eq->held.n; i++)
        m->position[eq->held.at[i]] = (uint32_t)eq->mode.n + i;
    for (size_t i = 0; i < f->initial.n; i++) {
        const flat_initial *in = &f->initial.at[i];
        var_id v = in->port != UINT32_MAX ? f->port.at[in->port].stored : f->junction.at[in->junction].common;

        if (v != VAR_NONE && m->position[v] != UINT32_MAX && eq->var.at[v].kind == DEF_STATE)
            m->stated[m->position[v]] = true;
    }
    for (uint32_t i = 0; i < eq->state.n; i++) {
        const flat_var *v = &f->var.at[eq->state.at[i].var];

        if (v->kind == VAR_INTEGRAL && inst_known(v->init))
            m->stated[m->position[eq->state.at[i].var]] = true;
    }
    compute_parameters(m);
    distribute_parameters(m);
    if (eq->net.n)
        m->nets = nets_new(eq, m->modes, m->position, (nets_access){ m, net_rows_of, net_partials_of });
    m->compile_seconds = bg_cpu_seconds() - start;
    return m;
}

void
model_free(bg_model *m)
{
    if (!m)
        return;
    for (int k = 0; k < PART_COUNT; k++) {
        evaluator_free(m->evaluator[k]);
        program_free(m->program[k]);
        free(m->scratch[k]);
    }
    jacobian_free(m->jacobian);
    for (size_t k = 0; k < m->partials.n; k++)
        partials_free(m->partials.at[k]);
    vec_free(&m->partials);
    projector_free(m->projector);
    nets_free(m->nets);
    jacobian_free(m->net_partials);
    free(m->position);
    free(m->state_of);
    free(m->stated);
    free(m->memory.start);
    free(m->memory.started);
    free(m->value);
    free(m->overridden);
    free(m->modes);
    free(m->slope);
    free(m->offset);
    free(m->mode_text);
    bounds_free(m->bounds);
    bounds_free(m->bends);
    vec_free(&m->bend);
    vec_free(&m->clock);
    vec_free(&m->pole);
    free(m->determinant);
    free(m);
}

size_t
model_nstates(const bg_model *m)
{
    return m->e->state.n;
}
size_t
model_nmodes(const bg_model *m)
{
    return m->e->mode.n;
}
size_t
model_noutputs(const bg_model *m)
{
    return m->e->output.n;
}
size_t
model_nelements(const bg_model *m)
{
    return m->f->element.n;
}
const flat_model *
model_flat(const bg_model *m)
{
    return m->f;
}
double *
model_modes(bg_model *m)
{
    return m->modes;
}
const struct equations *
model_equations(const bg_model *m)
{
    return m->e;
}
const causal *
model_causal(const bg_model *m)
{
    return m->c;
}

struct model_state
model_state(const bg_model *m, size_t i)
{
    const eq_state *s = &m->e->state.at[m->state_of[i]];
    const flat_var *v = &m->f->var.at[s->var];

    return (struct model_state){ v->name, v->at, v->unit, v->display, s->var, s->only_outputs, m->stated[i], v->holds };
}

inst
model_mode_watched(const bg_model *m, size_t k)
{
    return m->e->mode.at[k].g;
}

struct model_mode
model_mode(const bg_model *m, size_t k)
{
    const eq_mode *q = &m->e->mode.at[k];
    double slope = m->slope[k], offset = m->offset[k];

    if (!m->mode_text[k])
        m->mode_text[k] = condition_text((bg_model *)m, q);
    if (m->held && slope != 0) { /* as just behind that time, for good */
        double there = offset + slope * m->held_at,
               least = 8 * DBL_EPSILON * fmax(fabs(offset), fabs(slope * m->held_at));

        offset = fabs(there) <= least ? copysign(fmax(least, DBL_MIN), slope) : there;
        slope = 0;
    }
    return (struct model_mode){ q->kind,         q->at,
                                m->mode_text[k], q->kind == MODE_PIECE ? pool_table(m->f->pool, q->table) : NULL,
                                q->partner,      q->side,
                                q->known,        slope,
                                offset };
}

bool
model_has_blocks(const bg_model *m)
{
    for (size_t k = 0; k < m->e->block.n; k++)
        if (!m->e->block.at[k].linear)
            return true;
    return false;
}

/* Of a block: a root stands there as its inverse, a power above 1. */
static bool
has_root(pool *p, node n, bool of_block)
{
    size_t count;
    const node *tape = ex_tape(p, n, &count);
    double b;

    for (size_t i = 0; i < count; i++) {
        const ex_node *x = pool_node(p, tape[i]);

        if (x->op == EX_SQRT ||
            ((x->op == EX_SPOW || x->op == EX_POW) && (!ex_is_const(p, x->b, &b) || (b > 0 && b < 1))) ||
            (of_block && x->op == EX_SPOW))
            return true;
    }
    return false;
}

/* What d reads is to be looked at; those of a block once. */
static void
read_by(const bg_model *m, inst d, var_list *todo)
{
    for (uint32_t k = 0; k < d.n; k++)
        vec_push(todo, m->f->slot.at[d.first + k]);
}

bool
model_root_states(bg_model *m, bool *fed)
{
    const equations *e = m->e;
    map roots = { 0 }; /* template -> has one */
    bool *seen = bg_calloc(e->var.n + 1, sizeof *seen), *seen_block = bg_calloc(e->block.n + 1, sizeof *seen_block),
         any = false;
    var_list todo = { 0 };

    memset(fed, 0, e->state.n * sizeof *fed);
    for (size_t i = 0; i < e->var.n + e->residual.n; i++) {
        bool of_block = i >= e->var.n;
        inst d = of_block ? e->residual.at[i - e->var.n] : e->var.at[i].def;
        uint64_t key = (uint64_t)d.root << 1 | of_block;

        if (!of_block && e->var.at[i].kind != DEF_EXPLICIT)
            continue;
        if (map_get(&roots, key) == MAP_NONE)
            map_set(&roots, key, has_root(m->f->pool, d.root, of_block));
        if (map_get(&roots, key))
            read_by(m, d, &todo);
    }
    while (todo.n) {
        var_id v = todo.at[--todo.n];
        const eq_var *d = &e->var.at[v];

        if (seen[v])
            continue;
        seen[v] = true;
        if (d->kind == DEF_STATE) {
            fed[m->position[v]] = any = true;
        } else if (d->kind == DEF_EXPLICIT) {
            read_by(m, d->def, &todo);
        } else if (d->kind == DEF_BLOCK && !seen_block[d->index]) {
            seen_block[d->index] = true;
            for (uint32_t i = 0; i < e->block.at[d->index].n; i++)
                read_by(m, e->residual.at[e->block.at[d->index].residual0 + i], &todo);
        }
    }
    map_free(&roots);
    vec_free(&todo);
    free(seen);
    free(seen_block);
    return any;
}

size_t
model_nconstraints(const bg_model *m)
{
    return m->e->constraint.n;
}

/* ---------------------------------------------------------------- evaluation */

/* 0 times each value added up: not a number if one is not finite */
static bool
all_finite(const double *v, size_t n)
{
    double sum[8] = { 0 }, all = 0;
    size_t i = 0;

    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++)
            sum[k] += v[i + (size_t)k] * 0;
    for (; i < n; i++)
        all += v[i] * 0;
    for (int k = 0; k < 8; k++)
        all += sum[k];
    return all == 0;
}

void
model_hold(bg_model *m, double t)
{
    m->held = true;
    m->held_at = t;
}

void
model_let_go(bg_model *m)
{
    m->held = false;
}

/* The time that equations read, with what depends on it put into the modes. */
static double
time_of(const bg_model *m, double t)
{
    t = m->held ? m->held_at : t;
    if (m->give)
        m->give(m->give_ctx, t, m->modes);
    return t;
}

void
model_give(bg_model *m, void (*at)(void *ctx, double t, double *modes), void *ctx)
{
    m->give = at;
    m->give_ctx = ctx;
}

static int
run_part(bg_model *m, enum model_part part, double t, const double *x, double *out)
{
    int status;

    t = time_of(m, t);
    if (!m->evaluator[part] && !model_need(m, part))
        return -1;
    if (m->nets && part != PART_NETS && part != PART_CLOCKS && (status = nets_solve(m->nets, t, x)) != 0)
        return status;
    return evaluator_run(m->evaluator[part], t, x, m->modes, out);
}

static int
run_permuted(bg_model *m, enum model_part part, double t, const double *x, double *out)
{
    int status;
    const program *g;

    if (!model_need(m, part))
        return -1;
    status = run_part(m, part, t, x, m->scratch[part]);
    g = m->program[part];
    for (uint32_t i = 0; i < g->ntargets; i++)
        out[i] = m->scratch[part][g->out_index[i]];
    return status;
}

int
model_constraints(bg_model *m, double t, const double *x, double *c)
{
    int status;

    if (!m->e->constraint.n)
        return 0;
    status = run_permuted(m, PART_CONSTRAINTS, t, x, c);
    if (status)
        return status;
    return all_finite(c, m->e->constraint.n) ? 0 : 1;
}

size_t
model_nclocks(bg_model *m)
{
    if (!m->clocks_known)
        clocks_find(m->e, &m->clock, &m->bend);
    m->clocks_known = true;
    return m->clock.n;
}

bool
model_bends(bg_model *m)
{
    (void)model_nclocks(m);
    for (size_t k = 0; k < m->bend.n; k++)
        if (!m->bend.at[k].reciprocal)
            return true;
    return false;
}

bool
model_bends_over(bg_model *m, double start, double stop)
{
    (void)model_nclocks(m);
    bounds_free(m->bends);
    m->bends = m->bend.n ? bounds_of_bends(m->e, &m->bend, m->position, m->value, m->modes, start, stop) : NULL;
    return m->bends;
}

double
model_clear(bg_model *m, const double t[2], const double *const x[2], const double *const f[2])
{
    return m->bends ? bounds_clear(m->bends, m->modes, t, x, f) : 1;
}

int
model_clocks(bg_model *m, double t, double *value)
{
    if (!model_nclocks(m))
        return 0;
    if (!model_need(m, PART_CLOCKS))
        return -1;
    return run_permuted(m, PART_CLOCKS, t, NULL, value);
}

void
model_clocks_over(bg_model *m, double start, double stop)
{
    if (!model_nclocks(m))
        return;
    if (!m->bounds)
        m->bounds = bounds_new(m->e, &m->clock, m->position, m->value);
    bounds_over(m->bounds, start, stop);
}

double
model_clock_step(bg_model *m, double from, double to, bool all, size_t *clock)
{
    *clock = SIZE_MAX;
    return m->bounds ? bounds_step(m->bounds, m->modes, from, to, all, clock) : INFINITY;
}

size_t
model_clock_peaks(bg_model *m, double *time, double *width, size_t most)
{
    return m->bounds ? bounds_peaks(m->bounds, time, width, most) : 0;
}

span
model_clock_place(bg_model *m, size_t k)
{
    return k < model_nclocks(m) ? m->clock.at[k].at : SPAN_NONE;
}

size_t
model_npoles(bg_model *m)
{
    if (!m->poles_known)
        poles_find(m->e, &m->pole);
    for (size_t k = 0; k < m->pole.n && !m->determinant; k++)
        if (m->pole.at[k].block != NO_BLOCK)
            m->determinant = bg_calloc(m->e->block.n, sizeof *m->determinant);
    m->poles_known = true;
    return m->pole.n;
}

int
model_poles(bg_model *m, double t, const double *x, double *value)
{
    int status;

    if (!model_npoles(m))
        return 0;
    if (!model_need(m, PART_POLES))
        return -1;
    status = run_permuted(m, PART_POLES, t, x, value);
    if (status == 0 && m->determinant) {
        evaluator_determinants(m->evaluator[PART_POLES], m->determinant);
        for (size_t k = 0; k < m->pole.n; k++)
            if (m->pole.at[k].block != NO_BLOCK)
                value[k] = m->determinant[m->pole.at[k].block];
    }
    return status;
}

struct model_pole
model_pole(bg_model *m, size_t k)
{
    const eq_pole *p = &m->pole.at[k];
    strbuf b = { 0 };
    struct model_pole out = { .at = p->at, .var = p->var == VAR_NONE ? NULL : m->f->var.at[p->var].name };

    if (p->block != NO_BLOCK)
        return out;
    flat_print(m->f, p->divisor, &b);
    out.text = arena_strdup(m->f->arena, b.at ? b.at : "");
    strbuf_free(&b);
    return out;
}

span
model_constraint_place(const bg_model *m, size_t k)
{
    return m->f->var.at[m->e->constraint.at[k]].at;
}

struct at_time {
    bg_model *m;
    double t;
};

static int
constraints_at(void *ctx, const double *x, double *c)
{
    const struct at_time *a = ctx;

    return model_constraints(a->m, a->t, x, c);
}

int
model_project(bg_model *m, double t, double *x)
{
    struct at_time a = { m, t = time_of(m, t) };

    if (m->nets) {
        int status = nets_project(m->nets, t, x);

        if (status)
            return status;
    }
    if (!m->e->constraint.n)
        return 0;
    if (!m->projector)
        m->projector = projector_new(m->e, m->position);
    return projector_run(m->projector, constraints_at, &a, x);
}

bool
model_projects(const bg_model *m)
{
    return m->e->constraint.n > 0 || m->nets;
}

bool
model_has_nets(const bg_model *m)
{
    return m->nets != NULL;
}
bool
model_net_mode(const bg_model *m, size_t k)
{
    return m->nets && nets_watches(m->nets, (uint32_t)k);
}

enum nets_status
model_search(bg_model *m, double t, double *x, double ahead, double farther, bool start, nets_report *r)
{
    if (!m->nets || !model_need(m, PART_NETS))
        return m->nets ? NETS_FAILED : NETS_SAME;
    return nets_search(m->nets, time_of(m, t), x, ahead, farther, start ? m->stated : NULL, r);
}

int
model_rhs(bg_model *m, double t, const double *x, double *dx)
{
    int status = run_part(m, PART_RHS, t, x, dx);

    if (status)
        return status;
    if (m->nets)
        nets_rest(m->nets, dx);
    return all_finite(dx, m->e->state.n) ? 0 : 1;
}

int
model_powers(bg_model *m, double t, const double *x, double *power)
{
    if (!model_need(m, PART_POWERS))
        return -1;
    return run_permuted(m, PART_POWERS, t, x, power);
}

int
model_powers_unordered(bg_model *m, double t, const double *x, double *power)
{
    return run_part(m, PART_POWERS, t, x, power);
}

const uint32_t *
model_power_places(bg_model *m)
{
    return model_need(m, PART_POWERS) ? m->program[PART_POWERS]->out_index : NULL;
}

int
model_outputs(bg_model *m, double t, const double *x, double *y)
{
    if (!model_need(m, PART_OUTPUTS))
        return -1;
    return run_permuted(m, PART_OUTPUTS, t, x, y);
}

int
model_conditions(bg_model *m, double t, const double *x, double *g)
{
    if (!model_need(m, PART_CONDITIONS))
        return -1;
    int status = run_permuted(m, PART_CONDITIONS, t, x, g);

    if (status == 0 && m->nets)
        nets_quiet(m->nets, g);
    return status;
}

size_t
model_nbond_values(const bg_model *m)
{
    size_t n = m->f->port.n + m->f->bond.n;

    for (size_t i = 0; i < m->f->port.n; i++)
        n += m->f->port.at[i].stored != VAR_NONE ? 2 : 0;
    return n;
}

int
model_bond_values(bg_model *m, double t, const double *x, double *value)
{
    int status;

    if (!model_need(m, PART_BONDS))
        return -1;
    status = run_permuted(m, PART_BONDS, t, x, value);
    return status ? status : all_finite(value, m->program[PART_BONDS]->ntargets) ? 0 : 1;
}

int
model_port_values(bg_model *m, double t, const double *x, double *value)
{
    int status;

    if (!model_need(m, PART_PORTS))
        return -1;
    status = run_permuted(m, PART_PORTS, t, x, value);
    return status ? status : all_finite(value, m->program[PART_PORTS]->ntargets) ? 0 : 1;
}

double
model_stored_energy(const bg_model *m, uint32_t port, double stored, double conjugate)
{
    return storage_energy(m->f, m->value, port, (double[]){ 0, 0 }, (double[]){ stored, conjugate });
}

double
model_energy_taken(const bg_model *m, uint32_t port, const double from[2], const double to[2])
{
    return storage_is_alone(m->f, port) ? storage_energy(m->f, m->value, port, from, to) : NAN;
}

double
model_energy_curvature(const bg_model *m, size_t state, const double *x)
{
    const flat_var *v = &m->f->var.at[m->e->state.at[m->state_of[state]].var];

    return v->kind == VAR_STORED ? storage_curvature(m->f, m->value, m->position, v->owner, x) : NAN;
}

size_t
model_nwhens(const bg_model *m)
{
    return m->f->when.n;
}
size_t
model_nreinits(const bg_model *m)
{
    return m->f->reinit.n;
}

struct model_when
model_when(const bg_model *m, size_t w)
{
    const flat_when *q = &m->f->when.at[w];

    return (struct model_when){ q->kind,
                                q->at,
                                q->text,
                                q->says,
                                q->reinit0,
                                q->nreinits,
                                inst_known(q->period) ? model_value(m, q->period) : NAN,
                                inst_known(q->offset) ? model_value(m, q->offset) : 0,
                                inst_known(q->offset) };
}

bool
model_reinit_remembers(const bg_model *m, size_t r)
{
    return m->f->reinit.at[r].remembers;
}
size_t
model_ndraws(const bg_model *m)
{
    return m->f->draw.n;
}

struct model_draw
model_draw(const bg_model *m, size_t k)
{
    const flat_draw *d = &m->f->draw.at[k];

    return (struct model_draw){ m->position[d->var], d->when, d->normal, model_value(m, d->seed), d->at };
}

size_t
model_reinit_state(const bg_model *m, size_t r)
{
    return m->position[m->f->reinit.at[r].target];
}

int
model_reinits(bg_model *m, double t, const double *x, double *value)
{
    if (!model_need(m, PART_REINITS))
        return -1;
    return run_permuted(m, PART_REINITS, t, x, value);
}

size_t
model_ndelays(const bg_model *m)
{
    return m->f->delay.n;
}

/* Is there a way from i to a delayed value without a state between? */
static bool
follows_delayed(const bg_model *m, inst i)
{
    const equations *e = m->e;
    bool *seen = bg_calloc(m->f->var.n + 1, sizeof *seen), found = false;
    var_list todo = { 0 };

    read_by(m, i, &todo);
    while (todo.n && !found) {
        var_id v = todo.at[--todo.n];
        const eq_var *d = &e->var.at[v];

        if (seen[v])
            continue;
        seen[v] = true;
        found = d->kind == DEF_HELD ||
                (m->f->var.at[v].kind == VAR_MODE && e->mode.at[m->f->var.at[v].owner].kind == MODE_GIVEN);
        if (d->kind == DEF_EXPLICIT)
            read_by(m, d->def, &todo);
        for (uint32_t k = 0; d->kind == DEF_BLOCK && k < e->block.at[d->index].n; k++)
            read_by(m, e->residual.at[e->block.at[d->index].residual0 + k], &todo);
    }
    vec_free(&todo);
    free(seen);
    return found;
}

struct model_delay
model_delay(const bg_model *m, size_t k)
{
    const flat_delay *d = &m->f->delay.at[k];

    return (struct model_delay){ m->position[d->var],
                                 model_value(m, d->by),
                                 inst_known(d->before) ? model_value(m, d->before) : NAN,
                                 d->at,
                                 m->f->var.at[d->var].name,
                                 follows_delayed(m, d->of) };
}

int
model_delayed(bg_model *m, double t, const double *x, double *value)
{
    if (!model_need(m, PART_DELAYS))
        return -1;
    return run_permuted(m, PART_DELAYS, t, x, value);
}

void
model_accept(bg_model *m, double t, const double *x)
{
    if (!m->evaluator[PART_RHS] && !model_need(m, PART_RHS))
        return;
    t = time_of(m, t);
    if (m->nets && nets_solve(m->nets, t, x) != 0)
        return;
    /* the unknowns at an accepted point come from an evaluation there */
    if (evaluator_run(m->evaluator[PART_RHS], t, x, m->modes, m->scratch[PART_RHS]) == 0)
        evaluator_accept(m->evaluator[PART_RHS]);
}

struct model_pattern
model_jacobian_pattern(bg_model *m)
{
    if (m->nets)
        return nets_pattern(m->nets);
    if (!model_need(m, PART_JACOBIAN))
        return (struct model_pattern){ 0, 0, NULL, NULL, 0 };
    return jacobian_pattern(m->jacobian);
}

int
model_jacobian(bg_model *m, double t, const double *x, double *value)
{
    int status;

    t = time_of(m, t);
    if (m->nets) {
        status = nets_jacobian(m->nets, t, x, value);
        return status ? status : all_finite(value, nets_pattern(m->nets).nonzeros) ? 0 : 1;
    }
    if (!model_need(m, PART_JACOBIAN))
        return -1;
    status = jacobian_evaluate(m->jacobian, t, x, m->modes, value);
    return status ? status : all_finite(value, jacobian_pattern(m->jacobian).nonzeros) ? 0 : 1;
}

partials *
model_partials(bg_model *m, const var_id *by, size_t n, size_t noutputs)
{
    partials *p = partials_new(m->e, (layout){ m->position }, &m->memory, m->long_run, by, n, noutputs,
                               (partials_beside){ 0 });

    if (p) {
        partials_set_parameters(p, m->value, m->overridden);
        vec_push(&m->partials, p);
    }
    return p;
}

partials *
model_partials_held(bg_model *m, const var_id *by, size_t n, size_t noutputs)
{
    struct targets row = { 0 };
    struct positions unused = { 0 };
    partials *p;

    for (size_t i = 0; i < m->e->row.n; i++)
        add_expansion(m->e, &m->e->row.at[i].r, &row, &unused);
    p = partials_new(m->e, (layout){ m->position }, &m->memory, m->long_run, by, n, noutputs,
                     (partials_beside){ m->e->held.at, m->e->held.n, row.at, row.n });
    if (p) {
        partials_set_parameters(p, m->value, m->overridden);
        vec_push(&m->partials, p);
    }
    vec_free(&row);
    vec_free(&unused);
    return p;
}

size_t
model_nheld(const bg_model *m)
{
    return m->e->held.n;
}

bool
model_held_by(bg_model *m, const double *rows, double *held)
{
    return m->nets && nets_combine(m->nets, rows, held);
}

int
model_partials_at(bg_model *m, partials *p, double t, const double *x, double *value)
{
    t = time_of(m, t);

    int status = m->nets ? nets_solve(m->nets, t, x) : 0;

    if (status == 0)
        status = partials_evaluate(p, t, x, m->modes, value);
    return status ? status : all_finite(value, partials_pattern(p).nonzeros) ? 0 : 1;
}

struct model_pattern
model_partials_pattern(const partials *p)
{
    return partials_pattern(p);
}

struct model_pattern
model_weighed_pattern(bg_model *m)
{
    if (!m->weighed) {
        VEC(var_id) weight = { 0 };

        for (size_t i = 0; i < m->f->weight.n; i++) {
            vec_push(&weight, m->f->weight.at[i].factor);
            vec_push(&weight, m->f->weight.at[i].offset);
        }
        m->weighed = model_partials(m, weight.at, weight.n, m->f->output.n);
        vec_free(&weight);
    }
    return m->weighed ? partials_pattern(m->weighed) : (struct model_pattern){ 0, 0, NULL, NULL, 0 };
}

int
model_weighed(bg_model *m, double t, const double *x, double *value)
{
    model_weighed_pattern(m);
    return m->weighed ? model_partials_at(m, m->weighed, t, x, value) : -1;
}

bool
model_initial(bg_model *m, double t, double *x)
{
    struct initial_problem p = { m, m->f, m->c, m->e, m->position, m->value, t, x };

    return initial_values(&p);
}

/* ---------------------------------------------------------------- when it fails */

static const char *
slot_name(void *ctx, uint32_t slot)
{
    const void *const *pair = ctx;
    const flat_model *f = pair[0];
    const inst *i = pair[1];

    return f->var.at[f->slot.at[i->first + slot]].name;
}

/* Numbers of parameters and of the unknowns of blocks, as compiled code found them last. */
static void
fill_known(const bg_model *m, double *v)
{
    equations *e = m->e;

    memcpy(v, m->value, m->f->var.n * sizeof *v);
    for (size_t i = 0; i < e->unknown.n; i++)
        for (int k = 0; k < PART_COUNT; k++)
            if (m->evaluator[k] && m->program[k]->w_position[e->unknown.at[i]] != UINT32_MAX) {
                v[e->unknown.at[i]] = evaluator_variables(m->evaluator[k])[m->program[k]->w_position[e->unknown.at[i]]];
                break;
            }
}

bool
model_variables(bg_model *m, double t, const double *x, double *v)
{
    bool fine = model_need(m, PART_RHS) && run_part(m, PART_RHS, t, x, m->scratch[PART_RHS]) == 0;

    /* blocks that the rates do not need */
    for (size_t i = 0; i < m->e->unknown.n && fine; i++)
        if (m->program[PART_RHS]->w_position[m->e->unknown.at[i]] == UINT32_MAX) {
            fine = model_need(m, PART_BONDS) && run_part(m, PART_BONDS, t, x, m->scratch[PART_BONDS]) == 0 &&
                   model_need(m, PART_OUTPUTS) && run_part(m, PART_OUTPUTS, t, x, m->scratch[PART_OUTPUTS]) == 0;
            break;
        }
    if (!fine)
        return false;
    fill_known(m, v);
    return interpret(m->e, m->position, t, x, m->modes, v, NULL, false) == VAR_NONE;
}

curvature *
model_curvature(bg_model *m, const var_id *by, size_t n)
{
    return curvature_new(m->e, m->position, by, n);
}

bool
model_curvature_at(bg_model *m, curvature *c, double t, const double *x)
{
    double *v = bg_calloc(m->f->var.n + 1, sizeof *v);
    bool fine = model_variables(m, t, x, v) && curvature_at(c, v, m->overridden);

    free(v);
    return fine;
}

/* A part of an expression, with the numbers of all variables. */
static double
part_value(bg_model *m, inst d, node part, const double *number)
{
    double *slot = bg_calloc((size_t)d.n + 1, sizeof *slot), value;

    for (uint32_t k = 0; k < d.n; k++)
        slot[k] = number[m->f->slot.at[d.first + k]];
    value = ex_eval(m->f->pool, part, slot);
    free(slot);
    return value;
}

/* def: of what is called so */
static char *
describe(bg_model *m, const char *called, inst def, node culprit, const double *number)
{
    flat_model *f = m->f;
    const void *pair[2] = { f, &def };
    const ex_node *x = pool_node(f->pool, culprit == NODE_NONE ? def.root : culprit);
    strbuf b = { 0 };
    const char *what = "no finite value";

    switch (x->op) {
    case EX_DIV: what = part_value(m, def, x->b, number) == 0 ? "division by zero" : "overflow"; break;
    case EX_ADD:
    case EX_SUB:
    case EX_MUL:
    case EX_LN:
    case EX_LOG10: what = "logarithm of a number that is not positive"; break;
    case EX_SQRT: what = "square root of a negative number"; break;
    case EX_POW: what = "power without a value"; break;
    case EX_EXP:
    case EX_SINH:
    case EX_COSH: what = "overflow"; break;
    case EX_ASIN:
    case EX_ACOS: what = "angle of a number outside -1..1"; break;
    default: break;
    }
    strbuf_printf(&b, "\"%s\": %s in ", called, what);
    ex_print(f->pool, culprit == NODE_NONE ? def.root : culprit, slot_name, pair, &b);
    return b.at;
}

/* The law in which a root is taken of a negative number; MODE g of it is negative. */
static const eq_mode *
outside(bg_model *m, double t, const double *x)
{
    const eq_mode *found = NULL;
    double *g;

    if (!m->e->mode.n)
        return NULL;
    g = bg_calloc(m->e->mode.n, sizeof *g);
    if (model_need(m, PART_CONDITIONS) && model_conditions(m, t, x, g) == 0)
        for (size_t k = 0; k < m->e->mode.n && !found; k++)
            if (m->e->mode.at[k].kind == MODE_DOMAIN && g[k] < 0)
                found = &m->e->mode.at[k];
    free(g);
    return found;
}

char *
model_explain_output(bg_model *m, size_t k, double t, const double *x)
{
    flat_model *f = m->f;
    double *v = bg_calloc(f->var.n + 1, sizeof *v);
    const char *called = k < f->output.n ? f->output.at[k].name : f->experiment.record.at[k - f->output.n].name;
    inst def = m->e->output.at[k];
    VEC(double) slot = { 0 };
    node culprit = NODE_NONE;
    char *text = NULL;

    fill_known(m, v);
    interpret(m->e, m->position, t, x, m->modes, v, &culprit, true);
    for (size_t depth = 0; depth <= f->var.n && !text; depth++) {
        var_id next = VAR_NONE;

        slot.n = 0;
        for (uint32_t i = 0; i < def.n; i++) {
            var_id s = inst_slots(f, def)[i];

            vec_push(&slot, v[s]);
            if (!isfinite(v[s]) && next == VAR_NONE)
                next = s;
        }
        if (next != VAR_NONE && m->e->var.at[next].kind == DEF_EXPLICIT) {
            called = f->var.at[next].name;
            def = m->e->var.at[next].def;
            continue;
        }
        culprit = NODE_NONE;
        if (next != VAR_NONE || isfinite(ex_eval_explain(f->pool, def.root, slot.at, &culprit)))
            break;
        text = describe(m, called, def, culprit, v);
    }
    vec_free(&slot);
    free(v);
    return text;
}

/* The circle of signals that v stands for, NULL if it is none. */
static const char *
circle_of(const bg_model *m, var_id v)
{
    for (size_t k = 0; k < m->e->circle.n; k++)
        if (m->e->circle.at[k].v == v)
            return m->e->circle.at[k].path;
    return NULL;
}

span
model_explain(bg_model *m, double t, const double *x, char **text)
{
    double *v = bg_calloc(m->f->var.n + 1, sizeof *v);
    node culprit = NODE_NONE;
    span at = SPAN_NONE;
    var_id bad;

    fill_known(m, v);
    bad = interpret(m->e, m->position, t, x, m->modes, v, &culprit, false);
    *text = NULL;
    if (bad != VAR_NONE) {
        const char *path = circle_of(m, bad);

        at = m->f->var.at[bad].at;
        if (path && culprit != NODE_NONE && pool_node(m->f->pool, culprit)->op == EX_DIV)
            *text = bg_format("a loop of signals that no values satisfy, or any: %s", path);
        else
            *text = describe(m, m->f->var.at[bad].name, m->e->var.at[bad].def, culprit, v);
    } else if (m->memory.failed != UINT32_MAX) {
        const eq_block *b = &m->e->block.at[m->memory.failed];
        var_id u = m->e->unknown.at[b->unknown0 + (m->memory.failed_row < b->n ? m->memory.failed_row : 0)];

        at = m->f->var.at[u].at;
        if (circle_of(m, m->e->unknown.at[b->unknown0]))
            *text = bg_format("a loop of signals that no values were found for: %s",
                              circle_of(m, m->e->unknown.at[b->unknown0]));
        else if (m->memory.failed_singular)
            *text = bg_format("the equation%s that \"%s\" is solved from do%s not determine it here",
                              b->n == 1 ? "" : "s", m->f->var.at[u].name, b->n == 1 ? "es" : "");
        else
            *text = b->n == 1
                        ? bg_format("no value of \"%s\" was found that satisfies its equation", m->f->var.at[u].name)
                        : bg_format(
                              "no values were found that satisfy the %u equations of \"%s\" and what depends on it",
                              b->n, m->f->var.at[u].name);
    }
    if (!*text) {
        const eq_mode *q = outside(m, t, x);
        strbuf b = { 0 };

        if (q) {
            const ex_node *g = pool_node(m->f->pool, q->g.root);

            at = q->at;
            flat_print(m->f, g->op == EX_SELECT ? (inst){ g->b, q->g.first, q->g.n } : q->g, &b);
            *text = bg_format("root of a negative number, %s", b.at);
        }
        strbuf_free(&b);
    }
    free(v);
    return at;
}

char *
model_statistics(const bg_model *m)
{
    size_t classes = 0, kernels = 0, chunks = 0, items = 0, kept = 0;

    for (int k = 0; k < PART_COUNT; k++)
        if (m->program[k]) {
            classes += m->program[k]->nclasses;
            kernels += m->program[k]->nkernels;
            chunks += m->program[k]->chunk.n;
            items += m->program[k]->item.n;
        }
    if (m->jacobian)
        kept = jacobian_pattern(m->jacobian).n - jacobian_pattern(m->jacobian).nx;
    return bg_format("%zu states, %zu blocks, %zu conditions; %zu classes, %zu kernels, %zu chunks, %zu schedule "
                     "entries, %zu kept variables; compiled in %.1f ms cpu",
                     m->e->state.n, m->e->block.n, m->e->mode.n, classes, kernels, chunks, items, kept,
                     1e3 * model_compile_seconds(m));
}

char *
model_ir(bg_model *m)
{
    program *g = plan_part(m, PART_RHS);
    char *text = NULL;

    g->keep_ir = true;
    if (program_code(g, (layout){ m->position }, m->long_run)) {
        text = g->ir;
        g->ir = NULL;
    }
    program_free(g);
    return text;
}
