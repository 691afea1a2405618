/* model.c - see model.h */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model_inside.h"

/* ---------------------------------------------------------------- parameters */

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

/* When a known mode switches. */
static void
time_mode(bg_model *m, size_t k)
{
    if (m->e->mode.at[k].known) {
        m->slope[k] = model_value(m, m->e->mode.at[k].slope);
        m->offset[k] = model_value(m, m->e->mode.at[k].offset);
    }
}

static void
time_modes_anew(bg_model *m, const var_id *changed, size_t n)
{
    if (!m->known_modes.first) {
        VEC(inst) line = { 0 };

        for (size_t k = 0; k < m->e->mode.n; k++) {
            bool known = m->e->mode.at[k].known;

            vec_push(&line, known ? m->e->mode.at[k].slope : (inst){ 0 });
            vec_push(&line, known ? m->e->mode.at[k].offset : (inst){ 0 });
        }
        readers_of(m->f, line.at, line.n, &m->known_modes);
        vec_free(&line);
    }
    for (size_t c = 0; c < n; c++)
        for (uint32_t i = m->known_modes.first[changed[c]]; i < m->known_modes.first[changed[c] + 1]; i++)
            time_mode(m, m->known_modes.reader[i] / 2);
}

/* Brings what changed to where it is read. */
static void
follow_parameters(bg_model *m, const var_id *changed, size_t n)
{
    for (int k = 0; k < PART_COUNT; k++)
        if (m->evaluator[k] && program_follow_parameters(m->program[k], m->value, changed, n))
            evaluator_reset(m->evaluator[k]);
    if (m->jacobian)
        jacobian_follow_parameters(m->jacobian, m->value, changed, n);
    if (m->net_partials)
        jacobian_follow_parameters(m->net_partials, m->value, changed, n);
    if (m->nets)
        nets_reset(m->nets);
    for (size_t k = 0; k < m->partials.n; k++)
        partials_follow_parameters(m->partials.at[k], m->value, m->overridden, changed, n);
    time_modes_anew(m, changed, n);
}

var_id
model_parameter(const bg_model *m, const char *name)
{
    return parameter_store_find(m->parameters, name);
}

double
model_parameter_value(const bg_model *m, var_id v)
{
    return m->value[v];
}

void
model_set(bg_model *m, var_id v, double value)
{
    const var_id *changed;
    size_t n = parameter_store_set(m->parameters, v, value, &changed);

    follow_parameters(m, changed, n);
}

bool
model_set_parameter(bg_model *m, const char *name, double value)
{
    var_id v = model_parameter(m, name);

    if (v == VAR_NONE)
        return false;
    model_set(m, v, value);
    return true;
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

    double start = bg_cpu_seconds(), code = model_code_seconds(m);
    bool ok = true;

    if (part == PART_JACOBIAN) {
        m->jacobian = jacobian_new(m->e, m->program[PART_RHS], l, &m->memory, m->long_run, NULL, 0);
        ok = m->jacobian != NULL;
        if (ok)
            jacobian_set_parameters(m->jacobian, m->value);
    } else {
        if (!m->program[part])
            m->program[part] = model_plan_part(m, part);
        ok = program_code(m->program[part], l, m->long_run);
        if (ok) {
            m->evaluator[part] = evaluator_new(m->program[part], &m->memory);
            m->scratch[part] = bg_calloc(m->program[part]->ntargets + 1, sizeof(double));
            program_set_parameters(m->program[part], m->value);
        }
    }
    m->compile_seconds += bg_cpu_seconds() - start - (model_code_seconds(m) - code);
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
    return model_run_permuted(ctx, PART_NETS, t, x, out);
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
    model_add_net_rows(m->e, &target, &position);
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
    m->parameters = parameter_store_new(f);
    m->value = parameter_store_values(m->parameters);
    m->overridden = parameter_store_fixed(m->parameters);
    m->modes = bg_calloc(eq->mode.n + eq->held.n + 1, sizeof *m->modes);
    m->slope = bg_calloc(eq->mode.n + 1, sizeof *m->slope);
    m->offset = bg_calloc(eq->mode.n + 1, sizeof *m->offset);
    m->mode_text = bg_calloc(eq->mode.n + 1, sizeof *m->mode_text);

    /* the states stand in the order of their rates' classes */
    m->program[PART_RHS] = model_plan_part(m, PART_RHS);
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
    for (size_t k = 0; k < eq->mode.n; k++)
        time_mode(m, k);
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
    parameter_store_free(m->parameters);
    readers_free(&m->known_modes);
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

size_t
model_nconstraints(const bg_model *m)
{
    return m->e->constraint.n;
}

/* ---------------------------------------------------------------- evaluation */

bool
model_all_finite(const double *v, size_t n)
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

double
model_time_of(const bg_model *m, double t)
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

int
model_run_part(bg_model *m, enum model_part part, double t, const double *x, double *out)
{
    int status;

    t = model_time_of(m, t);
    if (!m->evaluator[part] && !model_need(m, part))
        return -1;
    if (m->nets && part != PART_NETS && part != PART_CLOCKS && (status = nets_solve(m->nets, t, x)) != 0)
        return status;
    return evaluator_run(m->evaluator[part], t, x, m->modes, out);
}

int
model_run_permuted(bg_model *m, enum model_part part, double t, const double *x, double *out)
{
    int status;
    const program *g;

    if (!model_need(m, part))
        return -1;
    status = model_run_part(m, part, t, x, m->scratch[part]);
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
    status = model_run_permuted(m, PART_CONSTRAINTS, t, x, c);
    if (status)
        return status;
    return model_all_finite(c, m->e->constraint.n) ? 0 : 1;
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
    struct at_time a = { m, t = model_time_of(m, t) };

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
    return nets_search(m->nets, model_time_of(m, t), x, ahead, farther, start ? m->stated : NULL, r);
}

int
model_rhs(bg_model *m, double t, const double *x, double *dx)
{
    int status = model_run_part(m, PART_RHS, t, x, dx);

    if (status)
        return status;
    if (m->nets)
        nets_rest(m->nets, dx);
    return model_all_finite(dx, m->e->state.n) ? 0 : 1;
}

int
model_powers(bg_model *m, double t, const double *x, double *power)
{
    if (!model_need(m, PART_POWERS))
        return -1;
    return model_run_permuted(m, PART_POWERS, t, x, power);
}

int
model_powers_unordered(bg_model *m, double t, const double *x, double *power)
{
    return model_run_part(m, PART_POWERS, t, x, power);
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
    return model_run_permuted(m, PART_OUTPUTS, t, x, y);
}

int
model_conditions(bg_model *m, double t, const double *x, double *g)
{
    if (!model_need(m, PART_CONDITIONS))
        return -1;
    int status = model_run_permuted(m, PART_CONDITIONS, t, x, g);

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
    status = model_run_permuted(m, PART_BONDS, t, x, value);
    return status ? status : model_all_finite(value, m->program[PART_BONDS]->ntargets) ? 0 : 1;
}

int
model_port_values(bg_model *m, double t, const double *x, double *value)
{
    int status;

    if (!model_need(m, PART_PORTS))
        return -1;
    status = model_run_permuted(m, PART_PORTS, t, x, value);
    return status ? status : model_all_finite(value, m->program[PART_PORTS]->ntargets) ? 0 : 1;
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

bool
model_initial(bg_model *m, double t, double *x)
{
    struct initial_problem p = { m, m->f, m->c, m->e, m->position, m->value, t, x };

    return initial_values(&p);
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
    program *g = model_plan_part(m, PART_RHS);
    char *text = NULL;

    g->keep_ir = true;
    if (program_code(g, (layout){ m->position }, m->long_run)) {
        text = g->ir;
        g->ir = NULL;
    }
    program_free(g);
    return text;
}
