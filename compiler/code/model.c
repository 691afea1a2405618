/* model.c - see model.h */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model_inside.h"

/* ---------------------------------------------------------------- parameters */

enum { OF_MODE = 4 }; /* formulas of image->line for each mode */

/* When a known mode switches, or at which value of its quantity another. */
static void
time_mode(bg_model *m, size_t k)
{
    const formula *line = m->image->line.at + OF_MODE * k;

    if (m->image->mode[k].known) {
        m->slope[k] = parameter_store_value(m->parameters, line[0]);
        m->offset[k] = parameter_store_value(m->parameters, line[1]);
        m->by[k] = parameter_store_value(m->parameters, line[2]);
    }
    if (m->image->mode[k].of != NONE)
        m->threshold[k] = parameter_store_value(m->parameters, line[3]);
}

static void
time_modes_anew(bg_model *m, const var_id *changed, size_t n)
{
    const readers *by = parameter_program_readers(m->image->parameters, &m->image->line_readers, m->image->line.at,
                                                  m->image->line.n);

    for (size_t c = 0; c < n; c++)
        for (uint32_t i = by->first[changed[c]]; i < by->first[changed[c] + 1]; i++)
            time_mode(m, by->reader[i] / OF_MODE);
}

static void
partials_follow(bg_model *m, const var_id *changed, size_t n)
{
    for (size_t k = 0; k < m->partials.n; k++)
        partials_follow_parameters(m->partials.at[k], m->value, m->overridden, changed, n);
}

/* Copies changed parameters to where code reads them. */
static void
follow_parameters(bg_model *m, const var_id *changed, size_t n)
{
    for (int k = 0; k < PART_COUNT; k++)
        if (m->evaluator[k])
            evaluator_follow_parameters(m->evaluator[k], m->value, changed, n);
    if (m->jacobian)
        jacobian_follow_parameters(m->jacobian, m->value, changed, n);
    if (m->net_partials)
        jacobian_follow_parameters(m->net_partials, m->value, changed, n);
    if (m->nets)
        nets_reset(m->nets);
    partials_follow(m, changed, n);
    time_modes_anew(m, changed, n);
}

var_id
model_parameter(const bg_model *m, const char *name)
{
    const image_parameters *p = image_parameters_of(m->image, m->maker);
    uint32_t k = map_get(&p->index, bg_hash_bytes(name, strlen(name), 0));

    while (k != MAP_NONE && strcmp(p->list.at[k].name, name))
        k = p->list.at[k].next;
    return k == MAP_NONE ? VAR_NONE : p->list.at[k].v;
}

bool
model_is_parameter(const bg_model *m, var_id v)
{
    const image_parameters *p = image_parameters_of(m->image, m->maker);
    size_t low = 0, high = p->list.n; /* the last comes first */

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (p->list.at[middle].v > v)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->list.n && p->list.at[low].v == v;
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

struct model_removal
model_removal(const bg_model *m, size_t element)
{
    return m->image->element ? m->image->element[element] : (struct model_removal){ VAR_NONE, false, NONE };
}

bool
model_take_out(bg_model *m, size_t element, bool rests)
{
    struct model_removal x = model_removal(m, element);

    if (x.factor == VAR_NONE || x.rests != rests)
        return false;
    model_set(m, x.factor, 0);
    if (x.state != NONE)
        vec_push(&m->still, x.state);
    return true;
}

static bool
need_jacobian(bg_model *m)
{
    const jacobian_form *form;

    if (!m->jacobian && (form = image_jacobian_of(m->image, m->maker))) {
        m->jacobian = jacobian_new(form, &m->memory);
        jacobian_set_parameters(m->jacobian, m->value);
    }
    return m->jacobian != NULL;
}

bool
model_need(bg_model *m, enum model_part part)
{
    routine *r;

    if (part == PART_JACOBIAN)
        return m->nets ? nets_pattern(m->nets).n > 0 : need_jacobian(m);
    if (m->evaluator[part])
        return true;
    if (!(r = image_part(m->image, m->maker, part)))
        return false;
    m->evaluator[part] = evaluator_new(r, &m->memory);
    m->scratch[part] = bg_calloc(r->ntargets + 1, sizeof(double));
    evaluator_set_parameters(m->evaluator[part], m->value);
    return true;
}

/* With ideal switches this is the most frequent of all evaluations. */
static int
net_rows_of(void *ctx, double t, const double *x, double *out)
{
    bg_model *m = ctx;
    const routine *r;
    const double *raw;

    t = model_time_of(m, t);
    if (!m->evaluator[PART_NETS] && !model_need(m, PART_NETS))
        return -1;
    raw = m->scratch[PART_NETS];
    r = evaluator_routine(m->evaluator[PART_NETS]);
    if (evaluator_run(m->evaluator[PART_NETS], t, x, m->modes, m->scratch[PART_NETS]) != 0)
        return 1;
    for (uint32_t i = 0; out && i < r->ntargets; i++)
        out[i] = raw[r->out_index[i]];
    return 0;
}

static const double *
net_rows_unordered(void *ctx, const uint32_t **place)
{
    bg_model *m = ctx;

    *place = evaluator_routine(m->evaluator[PART_NETS])->out_index;
    return m->scratch[PART_NETS];
}

static jacobian *
net_partials_of(void *ctx)
{
    bg_model *m = ctx;
    const jacobian_form *form = image_net_partials_of(m->image, m->maker);

    if (form) {
        m->net_partials = jacobian_new(form, &m->memory);
        jacobian_set_parameters(m->net_partials, m->value);
    }
    return m->net_partials;
}

static bool
optimise(void *ctx, routine *r)
{
    return maker_improve(ctx, r);
}

bg_model *
model_of(image *of, maker *k, parameter_store *parameters)
{
    bg_model *m = bg_calloc(1, sizeof *m);

    m->image = of;
    m->maker = k;
    m->memory.start = bg_calloc(of->nunknowns + 1, sizeof(double));
    m->memory.seen = bg_calloc(of->nunknowns + 1, sizeof(double));
    m->memory.reached = bg_calloc(of->nunknowns + 1, sizeof(double));
    m->memory.started = bg_calloc(of->nblocks + 1, sizeof(bool));
    m->memory.of_round = bg_calloc(of->nblocks + 1, sizeof *m->memory.of_round);
    m->memory.sense = bg_calloc(of->nblocks + 1, sizeof *m->memory.sense);
    m->memory.modes = bg_calloc(of->nmodes + 1, sizeof(double));
    m->memory.nmodes = of->nmodes;
    m->memory.failed = NONE;
    m->memory.optimise = optimise;
    m->memory.ctx = k;
    m->parameters = parameters;
    m->value = parameter_store_values(m->parameters);
    m->overridden = parameter_store_fixed(m->parameters);
    m->modes = bg_calloc(of->nmodes + of->nheld + 1, sizeof *m->modes);
    m->slope = bg_calloc(of->nmodes + 1, sizeof *m->slope);
    m->offset = bg_calloc(of->nmodes + 1, sizeof *m->offset);
    m->by = bg_calloc(of->nmodes + 1, sizeof *m->by);
    m->threshold = bg_calloc(of->nmodes + 1, sizeof *m->threshold);
    m->quantity = bg_calloc(of->nquantities + 1, sizeof *m->quantity);
    for (size_t i = 0; i < of->nmodes; i++)
        time_mode(m, i);
    if (of->nets)
        m->nets = nets_new(of->nets, m->modes, (nets_access){ m, net_rows_of, net_rows_unordered, net_partials_of });
    return m;
}

bg_model *
model_another(const bg_model *m)
{
    return model_of(m->image, m->maker, parameter_store_another(m->parameters));
}

bool
model_close(bg_model *m)
{
    return image_close(m->image, m->maker);
}

void
model_free(bg_model *m)
{
    if (!m)
        return;
    for (int k = 0; k < PART_COUNT; k++) {
        evaluator_free(m->evaluator[k]);
        free(m->scratch[k]);
    }
    jacobian_free(m->jacobian);
    for (size_t k = 0; k < m->partials.n; k++)
        partials_free(m->partials.at[k]);
    vec_free(&m->partials);
    projector_free(m->projector);
    nets_free(m->nets);
    jacobian_free(m->net_partials);
    free(m->memory.start);
    free(m->memory.seen);
    free(m->memory.reached);
    free(m->memory.started);
    free(m->memory.of_round);
    free(m->memory.sense);
    free(m->memory.modes);
    parameter_store_free(m->parameters);
    vec_free(&m->still);
    free(m->modes);
    free(m->slope);
    free(m->offset);
    free(m->by);
    free(m->threshold);
    free(m->quantity);
    bounds_free(m->bounds);
    bounds_free(m->bends);
    free(m->determinant);
    free(m->storage_number);
    free(m->storage_room);
    free(m->ratio_room);
    if (m->owner) {
        image_free(m->image);
        maker_free(m->maker);
    }
    free(m);
}

size_t
model_nstates(const bg_model *m)
{
    return m->image->nstates;
}

size_t
model_nmodes(const bg_model *m)
{
    return m->image->nmodes;
}

size_t
model_noutputs(const bg_model *m)
{
    return m->image->noutputs;
}

size_t
model_nelements(const bg_model *m)
{
    return m->image->nelements;
}

double *
model_modes(bg_model *m)
{
    return m->modes;
}

static struct model_setting
setting_value(const bg_model *m, int k)
{
    const struct image_setting *q = &m->image->setting[k];

    return (struct model_setting){ q->there, q->there ? parameter_store_value(m->parameters, q->value) : 0 };
}

struct model_experiment
model_experiment(const bg_model *m)
{
    struct model_experiment e = m->image->experiment;

    e.start = setting_value(m, SETTING_START);
    e.stop = setting_value(m, SETTING_STOP);
    e.rtol = setting_value(m, SETTING_RTOL);
    e.atol = setting_value(m, SETTING_ATOL);
    e.max_step = setting_value(m, SETTING_MAX_STEP);
    e.max_time = setting_value(m, SETTING_MAX_TIME);
    return e;
}

void
model_window(const bg_model *m, size_t k, double *from, double *to)
{
    *from = parameter_store_value(m->parameters, m->image->window.at[2 * k]);
    *to = parameter_store_value(m->parameters, m->image->window.at[2 * k + 1]);
}

/* Time stays as model_hold says: what is linear in it has its value just behind that time. */
static double
held_value(const bg_model *m, double offset, double slope)
{
    double there = offset + slope * m->held_at, least = 8 * DBL_EPSILON * fmax(fabs(offset), fabs(slope * m->held_at));

    return fabs(there) <= least ? copysign(fmax(least, DBL_MIN), slope) : there;
}

struct model_mode
model_mode(const bg_model *m, size_t k)
{
    const struct image_mode *q = &m->image->mode[k];
    uint32_t count = q->count != NONE ? q->count : 0;
    double slope = m->slope[k], offset = m->offset[k], by = q->count != NONE ? m->by[k] : 0;
    const char *text = image_expressions_of(m->image, m->maker)->mode_text.at[k];

    if (m->held && slope != 0) {
        if (by != 0)
            offset += by * floor(held_value(m, m->offset[count], m->slope[count]));
        offset = held_value(m, offset, slope);
        slope = by = 0;
    }
    return (struct model_mode){ q->kind,  q->at,    text,  q->table, q->partner, q->side, q->corner, q->relay,
                                q->apart, q->known, slope, offset,   by,         count,   q->form };
}

bool
model_has_blocks(const bg_model *m)
{
    return m->image->iterates;
}

size_t
model_nconstraints(const bg_model *m)
{
    return m->image->nconstraints;
}

/* ---------------------------------------------------------------- evaluation */

bool
model_all_finite(const double *v, size_t n)
{
    double all = 0;
    size_t i = 0;

    if (n >= 8) {
        double sum[8] = { 0 };

        for (; i + 8 <= n; i += 8)
            for (int k = 0; k < 8; k++)
                sum[k] += v[i + (size_t)k] * 0;
        for (int k = 0; k < 8; k++)
            all += sum[k];
    }
    for (; i < n; i++)
        all += v[i] * 0;
    return all == 0;
}

void
model_hold(bg_model *m, double t)
{
    m->held = true;
    m->held_at = t;
    m->held_fixed = bg_calloc(m->image->nstates + 1, sizeof *m->held_fixed);
}

void
model_let_go(bg_model *m)
{
    m->held = false;
    free(m->held_fixed);
    m->held_fixed = NULL;
}

double
model_time_of(const bg_model *m, double t)
{
    t = m->held ? m->held_at : t;
    if (m->give && !m->gives_not)
        m->give(m->give_ctx, t, m->modes);
    return t;
}

void
model_give(bg_model *m, void (*at)(void *ctx, double t, double *modes), void *ctx)
{
    m->give = at;
    m->give_ctx = ctx;
}

void
model_let_give(bg_model *m, bool may)
{
    m->gives_not = !may;
}

int
model_run_part(bg_model *m, enum model_part part, double t, const double *x, double *out)
{
    int status;

    t = model_time_of(m, t);
    if (!m->evaluator[part] && !model_need(m, part))
        return -1;
    if (m->nets && part != PART_NETS && part != PART_CLOCKS && part != PART_GATES &&
        (status = nets_solve(m->nets, t, x)) != 0)
        return status;
    return evaluator_run(m->evaluator[part], t, x, m->modes, out);
}

int
model_run_permuted(bg_model *m, enum model_part part, double t, const double *x, double *out)
{
    int status;
    const routine *r;

    if (!m->evaluator[part] && !model_need(m, part))
        return -1;
    status = model_run_part(m, part, t, x, m->scratch[part]);
    r = evaluator_routine(m->evaluator[part]);
    for (uint32_t i = 0; i < r->ntargets; i++)
        out[i] = m->scratch[part][r->out_index[i]];
    return status;
}

int
model_constraints(bg_model *m, double t, const double *x, double *c)
{
    int status;

    if (!m->image->nconstraints)
        return 0;
    status = model_run_permuted(m, PART_CONSTRAINTS, t, x, c);
    if (status)
        return status;
    return model_all_finite(c, m->image->nconstraints) ? 0 : 1;
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
    if (!m->image->nconstraints)
        return 0;
    if (!m->projector)
        m->projector = projector_new(image_projection_of(m->image, m->maker));
    return projector_run(m->projector, constraints_at, &a, x);
}

bool
model_projects(const bg_model *m)
{
    return m->image->nconstraints > 0 || m->nets;
}

bool
model_has_nets(const bg_model *m)
{
    return m->nets != NULL;
}

bool
model_has_limits(const bg_model *m)
{
    return m->nets && nets_have_limits(m->nets);
}

bool
model_nets_curved(const bg_model *m)
{
    return m->nets && nets_curved(m->nets);
}

bool
model_net_mode(const bg_model *m, size_t k)
{
    return m->nets && nets_watches(m->nets, (uint32_t)k);
}

void
model_nets_join(const bg_model *m, uint32_t *set)
{
    if (m->nets)
        net_form_join(m->image->nets, set);
}

enum nets_status
model_search(bg_model *m, double t, double *x, double ahead, double farther, bool start, nets_report *r)
{
    if (!m->nets || !model_need(m, PART_NETS))
        return m->nets ? NETS_FAILED : NETS_SAME;
    return nets_search(m->nets, model_time_of(m, t), x, ahead, farther,
                       m->held ? m->held_fixed
                       : start ? m->image->stated
                               : NULL,
                       r);
}

int
model_rhs(bg_model *m, double t, const double *x, double *dx)
{
    int status = model_run_part(m, PART_RHS, t, x, dx);

    if (status)
        return status;
    for (size_t i = 0; i < m->still.n; i++)
        dx[m->still.at[i]] = 0;
    if (m->nets)
        nets_rest(m->nets, dx);
    return model_all_finite(dx, m->image->nstates) ? 0 : 1;
}

int
model_powers(bg_model *m, double t, const double *x, double *power)
{
    if (!m->evaluator[PART_POWERS] && !model_need(m, PART_POWERS))
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
    return model_need(m, PART_POWERS) ? evaluator_routine(m->evaluator[PART_POWERS])->out_index : NULL;
}

int
model_outputs(bg_model *m, double t, const double *x, double *y)
{
    if (!model_need(m, PART_OUTPUTS))
        return -1;
    return model_run_permuted(m, PART_OUTPUTS, t, x, y);
}

size_t
model_ngates(const bg_model *m)
{
    return m->image->gate.n;
}

uint32_t
model_gate(const bg_model *m, size_t i)
{
    return m->image->gate.at[i];
}

uint32_t
model_gate_level(const bg_model *m, size_t i)
{
    return m->image->gate_level.at[i];
}

int
model_gates(bg_model *m, double t, const double *x, double *g)
{
    if (!m->evaluator[PART_GATES] && !model_need(m, PART_GATES))
        return -1;
    return model_run_permuted(m, PART_GATES, t, x, g);
}

size_t
model_nquantities(const bg_model *m)
{
    return m->image->nquantities;
}

struct model_threshold
model_threshold(const bg_model *m, size_t k)
{
    const struct image_mode *q = &m->image->mode[k];

    return (struct model_threshold){ q->of, q->above, m->threshold[k] };
}

static int
conditions_apart(bg_model *m, double t, const double *x, double *g, double *quantity)
{
    const uint32_t *place;
    const double *raw;
    size_t from = m->image->others.n;
    int status;

    m->memory.left = false;
    if (!m->image->nquantities)
        return model_run_permuted(m, PART_CONDITIONS, t, x, g);
    status = model_run_part(m, PART_CONDITIONS, t, x, m->scratch[PART_CONDITIONS]);
    raw = m->scratch[PART_CONDITIONS];
    place = evaluator_routine(m->evaluator[PART_CONDITIONS])->out_index;
    for (size_t i = 0; i < from; i++)
        g[m->image->others.at[i]] = raw[place[i]];
    for (size_t q = 0; q < m->image->nquantities; q++)
        quantity[q] = raw[place[from++]];
    return status;
}

int
model_conditions_raw(bg_model *m, double t, const double *x, double *g)
{
    int status;

    if (!m->evaluator[PART_CONDITIONS] && !model_need(m, PART_CONDITIONS))
        return -1;
    status = conditions_apart(m, t, x, g, m->quantity);
    for (size_t k = 0; k < m->image->nmodes && m->image->nquantities; k++) {
        struct model_threshold at = model_threshold(m, k);

        if (at.of != NONE)
            g[k] = model_past(at, m->quantity[at.of]);
    }
    return status;
}

int
model_conditions(bg_model *m, double t, const double *x, double *g)
{
    int status = model_conditions_raw(m, t, x, g);

    if (status == 0 && m->nets)
        nets_quiet(m->nets, g);
    return status;
}

int
model_conditions_apart(bg_model *m, double t, const double *x, double *g, double *quantity)
{
    int status;

    if (!m->evaluator[PART_CONDITIONS] && !model_need(m, PART_CONDITIONS))
        return -1;
    status = conditions_apart(m, t, x, g, quantity);
    if (status == 0 && m->nets)
        nets_quiet(m->nets, g);
    return status;
}

bool
model_left_branch(const bg_model *m)
{
    return m->memory.left;
}

bool
model_leapt(const bg_model *m)
{
    return m->memory.leapt || m->memory.left;
}

void
model_follow_branch(bg_model *m)
{
    m->memory.leapt = m->memory.left = false;
    m->memory.failed = NONE;
}

size_t
model_nbond_values(const bg_model *m)
{
    return m->image->nbond_values;
}

int
model_bond_values(bg_model *m, double t, const double *x, double *value)
{
    int status;

    if (!model_need(m, PART_BONDS))
        return -1;
    status = model_run_permuted(m, PART_BONDS, t, x, value);
    return status ? status : model_all_finite(value, evaluator_routine(m->evaluator[PART_BONDS])->ntargets) ? 0 : 1;
}

int
model_port_values(bg_model *m, double t, const double *x, double *value)
{
    int status;

    if (!model_need(m, PART_PORTS))
        return -1;
    status = model_run_permuted(m, PART_PORTS, t, x, value);
    return status ? status : model_all_finite(value, evaluator_routine(m->evaluator[PART_PORTS])->ntargets) ? 0 : 1;
}

bool
model_initial(bg_model *m, double t, double *x)
{
    return initial_values(&(struct initial_problem){ m, m->image, m->maker, m->value, t, x });
}

char *
model_statistics(const bg_model *m)
{
    const struct maker_counts made = maker_count(m->maker);
    size_t kept = 0;

    if (m->jacobian)
        kept = jacobian_pattern(m->jacobian).n - jacobian_pattern(m->jacobian).nx;
    return bg_format("%zu states, %zu blocks, %zu conditions; %zu classes, %zu kernels, %zu chunks, %zu schedule "
                     "entries, %zu kept variables; compiled in %.1f ms cpu",
                     m->image->nstates, m->image->nblocks, m->image->nmodes, made.classes, made.kernels, made.chunks,
                     made.items, kept, 1e3 * made.seconds);
}

double
model_compile_seconds(const bg_model *m)
{
    return maker_seconds(m->maker);
}
