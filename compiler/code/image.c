/* image.c - see image.h */
#include "image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model_inside.h"

/* ---------------------------------------------------------------- the maker */

maker *
maker_new(flat_model *f, causal *c, equations *e, bool long_run)
{
    maker *k = bg_calloc(1, sizeof *k);
    pthread_mutexattr_t again;

    pthread_mutexattr_init(&again);
    pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&k->lock, &again);
    pthread_mutexattr_destroy(&again);
    k->f = f;
    k->c = c;
    k->e = e;
    k->long_run = long_run;
    k->mode_text = bg_calloc(e->mode.n + 1, sizeof *k->mode_text);
    return k;
}

void
maker_free(maker *k)
{
    for (int p = 0; p < PART_COUNT; p++)
        program_free(k->program[p]);
    jacobian_form_free(k->jacobian);
    jacobian_form_free(k->net_partials);
    for (size_t i = 0; i < k->partials.n; i++)
        partials_form_free(k->partials.at[i]);
    vec_free(&k->partials);
    for (size_t i = 0; i < k->conditions.n; i++)
        condition_program_free(k->conditions.at[i]);
    vec_free(&k->conditions);
    vec_free(&k->clock);
    vec_free(&k->bend);
    vec_free(&k->pole);
    free(k->mode_text);
    pthread_mutex_destroy(&k->lock);
    free(k);
}

void
maker_lock(maker *k)
{
    pthread_mutex_lock(&k->lock);
}

void
maker_unlock(maker *k)
{
    pthread_mutex_unlock(&k->lock);
}

static double
code_seconds(const maker *k)
{
    double sum = k->jacobian ? jacobian_form_seconds(k->jacobian) : 0;

    for (int p = 0; p < PART_COUNT; p++)
        if (k->program[p])
            sum += k->program[p]->code_seconds;
    return sum;
}

double
maker_seconds(const maker *k)
{
    return k->compile_seconds + code_seconds(k);
}

/* ---------------------------------------------------------------- the image */

/* Has state variable v of the equations a stated value? Of initial values those on the state itself. */
static void
find_stated(image *m, const maker *k)
{
    const flat_model *f = k->f;
    const equations *e = k->e;

    for (size_t i = 0; i < f->initial.n; i++) {
        const flat_initial *in = &f->initial.at[i];
        var_id v = in->port != UINT32_MAX ? f->port.at[in->port].stored : f->junction.at[in->junction].common;

        if (v != VAR_NONE && m->position[v] != UINT32_MAX && e->var.at[v].kind == DEF_STATE)
            m->stated[m->position[v]] = true;
    }
    for (uint32_t i = 0; i < e->state.n; i++) {
        const flat_var *v = &f->var.at[e->state.at[i].var];

        if (v->kind == VAR_INTEGRAL && inst_known(v->init))
            m->stated[m->position[e->state.at[i].var]] = true;
    }
}

static const char *
copied(image *m, const char *text)
{
    return text ? arena_strdup(m->arena, text) : NULL;
}

static void
add_names(image *m, const flat_model *f)
{
    m->name = copied(m, f->name);
    m->at = f->at;
    m->run_at = f->experiment.name && span_known(f->experiment.at) ? f->experiment.at : f->at;
    m->sources = f->sources;
    m->output = bg_calloc(f->output.n + 1, sizeof *m->output);
    for (size_t i = 0; i < f->output.n; i++)
        m->output[i] = copied(m, f->output.at[i].name);
}

/* The value of a parameter expression; of none that of nothing. */
static struct image_setting
setting(image *m, const flat_model *f, inst i)
{
    const formula none = { FORMULA_ITSELF, 0, 1 };

    return (struct image_setting){ inst_known(i) ? parameter_program_add(m->parameters, f, i) : none, inst_known(i) };
}

static void
add_experiment(image *m, const flat_model *f)
{
    const flat_experiment *e = &f->experiment;
    const inst given[SETTING_COUNT] = { e->start, e->stop, e->rtol, e->atol, e->max_step, e->max_time };

    m->experiment = (struct model_experiment){ .name = copied(m, e->name),
                                               .solver = copied(m, e->solver),
                                               .equilibrium = e->equilibrium,
                                               .nwindows = e->window.n };
    for (int k = 0; k < SETTING_COUNT; k++)
        m->setting[k] = setting(m, f, given[k]);
    for (size_t k = 0; k < e->window.n; k++) {
        vec_push(&m->window, parameter_program_add(m->parameters, f, e->window.at[k].from));
        vec_push(&m->window, parameter_program_add(m->parameters, f, e->window.at[k].to));
    }
}

/* The variables of expression i, to those of a list that are not there. */
static void
add_reads(const flat_model *f, inst i, var_list *list)
{
    for (uint32_t k = 0; k < i.n; k++) {
        bool there = false;

        for (size_t j = 0; j < list->n && !there; j++)
            there = list->at[j] == inst_slots(f, i)[k];
        if (!there)
            vec_push(list, inst_slots(f, i)[k]);
    }
}

/* What a condition reads, through others that it stands on. */
static void
find_reads(image *m, const maker *k, inst condition, struct image_when *to)
{
    var_list list = { 0 };
    var_id *kept;

    add_reads(k->f, condition, &list);
    for (size_t i = 0; i < list.n; i++) {
        const flat_var *v = &k->f->var.at[list.at[i]];

        if (v->kind == VAR_MODE && v->owner < k->e->mode.n)
            add_reads(k->f, k->e->mode.at[v->owner].g, &list);
    }
    kept = arena_new_array(m->arena, var_id, list.n + 1);
    if (list.n)
        memcpy(kept, list.at, list.n * sizeof *kept);
    to->reads = kept;
    to->nreads = list.n;
    vec_free(&list);
}

/* Is there a way from i to a delayed value without a state between? */
static bool
follows_delayed(const maker *m, inst i)
{
    const equations *e = m->e;
    bool *seen = bg_calloc(m->f->var.n + 1, sizeof *seen), found = false;
    var_list todo = { 0 };

    model_read_by(m->f, i, &todo);
    while (todo.n && !found) {
        var_id v = todo.at[--todo.n];
        const eq_var *d = &e->var.at[v];

        if (seen[v])
            continue;
        seen[v] = true;
        found = d->kind == DEF_HELD ||
                (m->f->var.at[v].kind == VAR_MODE && e->mode.at[m->f->var.at[v].owner].kind == MODE_GIVEN);
        if (d->kind == DEF_EXPLICIT)
            model_read_by(m->f, d->def, &todo);
        for (uint32_t k = 0; d->kind == DEF_BLOCK && k < e->block.at[d->index].n; k++)
            model_read_by(m->f, e->residual.at[e->block.at[d->index].residual0 + k], &todo);
    }
    vec_free(&todo);
    free(seen);
    return found;
}

static void
add_events(image *m, const maker *k)
{
    const flat_model *f = k->f;

    for (size_t i = 0; i < f->when.n; i++) {
        const flat_when *q = &f->when.at[i];
        struct image_setting period = setting(m, f, q->period), offset = setting(m, f, q->offset);
        struct image_when x = { .when = { q->kind, q->at, copied(m, q->text), copied(m, q->says), q->reinit0,
                                          q->nreinits, NAN, 0, offset.there },
                                .period = period.value,
                                .offset = offset.value,
                                .periodic = period.there };

        if (inst_known(q->condition))
            find_reads(m, k, q->condition, &x);
        vec_push(&m->when, x);
    }
    for (size_t i = 0; i < f->reinit.n; i++)
        vec_push(&m->reinit, ((struct image_reinit){ m->position[f->reinit.at[i].target], f->reinit.at[i].remembers }));
    for (size_t i = 0; i < f->draw.n; i++) {
        const flat_draw *d = &f->draw.at[i];

        vec_push(&m->draw, ((struct image_draw){ { m->position[d->var], d->when, d->normal, 0, d->at },
                                                 parameter_program_add(m->parameters, f, d->seed) }));
    }
    for (size_t i = 0; i < f->delay.n; i++) {
        const flat_delay *d = &f->delay.at[i];
        struct image_setting before = setting(m, f, d->before);

        vec_push(&m->delay, ((struct image_delay){ { m->position[d->var], 0, NAN, d->at,
                                                     copied(m, f->var.at[d->var].name), follows_delayed(k, d->of) },
                                                   parameter_program_add(m->parameters, f, d->by),
                                                   before.value,
                                                   before.there }));
    }
}

static void
add_modes(image *m, const maker *k)
{
    m->mode = bg_calloc(m->nmodes + 1, sizeof *m->mode);
    for (size_t i = 0; i < m->nmodes; i++) {
        const eq_mode *q = &k->e->mode.at[i];

        m->mode[i] = (struct image_mode){ (enum mode_kind)q->kind,
                                          q->at,
                                          q->kind == MODE_PIECE ? pool_table(k->f->pool, q->table) : NULL,
                                          q->partner,
                                          q->side,
                                          q->corner,
                                          q->known };
        vec_push(&m->line, setting(m, k->f, q->known ? q->slope : INST_NONE).value);
        vec_push(&m->line, setting(m, k->f, q->known ? q->offset : INST_NONE).value);
    }
}

static void
add_elements(image *m, const maker *k)
{
    const equations *e = k->e;

    if (!e->removable)
        return;
    m->element = bg_calloc(m->nelements + 1, sizeof *m->element);
    for (size_t i = 0; i < m->nelements; i++)
        m->element[i] = (struct model_removal){ e->part.at[i].factor, e->part.at[i].rests, UINT32_MAX };
    for (size_t i = 0; i < e->state.n; i++)
        if (e->state.at[i].element != UINT32_MAX)
            m->element[e->state.at[i].element].state = m->position[e->state.at[i].var];
}

/* The port of storage that stores v, if one does */
static uint32_t
stored_at(const flat_model *f, var_id v)
{
    return f->var.at[v].kind == VAR_STORED ? f->var.at[v].owner : UINT32_MAX;
}

image *
image_new(maker *k)
{
    image *m = bg_calloc(1, sizeof *m);
    const equations *e = k->e;
    const uint32_t *place;
    double start = bg_cpu_seconds();

    m->arena = arena_new();
    m->tables = tables_keep(pool_tables(k->f->pool));
    add_names(m, k->f);
    m->nvars = k->f->var.n;
    m->nstates = e->state.n;
    m->nmodes = e->mode.n;
    m->nheld = e->held.n;
    m->noutputs = e->output.n;
    m->nelements = k->f->element.n;
    m->nunknowns = e->unknown.n;
    m->nblocks = e->block.n;
    m->nconstraints = e->constraint.n;
    m->nweights = k->f->weight.n;
    m->ndeclared = k->f->output.n;
    m->constraint_at = bg_calloc(m->nconstraints + 1, sizeof *m->constraint_at);
    for (size_t i = 0; i < m->nconstraints; i++)
        m->constraint_at[i] = k->f->var.at[e->constraint.at[i]].at;
    m->nbond_values = k->f->port.n + k->f->bond.n;
    for (size_t i = 0; i < k->f->port.n; i++)
        m->nbond_values += k->f->port.at[i].stored != VAR_NONE ? 2 : 0;
    for (size_t i = 0; i < e->block.n; i++)
        m->iterates |= !e->block.at[i].linear;
    m->position = bg_malloc((m->nvars + 1) * sizeof *m->position);
    memset(m->position, 0xff, (m->nvars + 1) * sizeof *m->position);
    m->state_of = bg_malloc((m->nstates + 1) * sizeof *m->state_of);
    m->state_port = bg_malloc((m->nstates + 1) * sizeof *m->state_port);
    m->stated = bg_calloc(m->nstates + 1, sizeof *m->stated);
    m->parameters = parameter_program_new(k->f);
    add_modes(m, k);

    /* the states stand in the order of their rates' classes */
    k->program[PART_RHS] = model_plan_part(k, PART_RHS);
    place = k->program[PART_RHS]->routine->out_index;
    for (uint32_t i = 0; i < m->nstates; i++) {
        m->position[e->state.at[i].var] = place[i];
        m->state_of[place[i]] = i;
        m->state_port[place[i]] = stored_at(k->f, e->state.at[i].var);
    }
    for (uint32_t i = 0; i < m->nmodes; i++)
        m->position[e->mode.at[i].var] = i;
    for (uint32_t i = 0; i < m->nheld; i++)
        m->position[e->held.at[i]] = (uint32_t)m->nmodes + i;
    find_stated(m, k);
    add_elements(m, k);
    add_experiment(m, k->f);
    add_events(m, k);
    k->compile_seconds += bg_cpu_seconds() - start;
    return m;
}

void
image_free(image *m)
{
    parameter_program_free(m->parameters);
    free(atomic_load(&m->variable));
    free(atomic_load(&m->state));
    image_graph_free(atomic_load(&m->graph));
    image_reads_free(atomic_load(&m->reads));
    arena_free(m->variable_names);
    arena_free(m->state_names);
    arena_free(m->arena);
    tables_release(m->tables);
    vec_free(&m->when);
    vec_free(&m->reinit);
    vec_free(&m->draw);
    vec_free(&m->delay);
    vec_free(&m->window);
    free(m->constraint_at);
    readers_free(&m->line_readers);
    vec_free(&m->line);
    free(m->mode);
    free(m->element);
    initial_program_free(atomic_load(&m->initial));
    storage_program_free(atomic_load(&m->storage));
    interpret_program_free(atomic_load(&m->numbers));
    free(m->output);
    free(m->position);
    free(m->state_of);
    free(m->state_port);
    free(m->stated);
    free(m);
}

/* ---------------------------------------------------------------- its parts */

routine *
image_part(image *m, maker *k, enum model_part part)
{
    routine *r = atomic_load(&m->part[part]);
    double start, code;

    if (r)
        return r;
    maker_lock(k);
    start = bg_cpu_seconds();
    code = code_seconds(k);
    r = atomic_load(&m->part[part]); /* another thread may have been first */
    if (!r) {
        if (!k->program[part])
            k->program[part] = model_plan_part(k, part);
        if (program_code(k->program[part], (layout){ m->position }, k->long_run))
            r = k->program[part]->routine;
        atomic_store(&m->part[part], r);
    }
    k->compile_seconds += bg_cpu_seconds() - start - (code_seconds(k) - code);
    maker_unlock(k);
    return r;
}

const jacobian_form *
image_jacobian(const image *m, maker *k)
{
    const jacobian_form *j;
    double start, code;

    maker_lock(k);
    start = bg_cpu_seconds();
    code = code_seconds(k);
    if (!k->jacobian)
        k->jacobian = jacobian_form_new(k->e, k->program[PART_RHS], (layout){ m->position }, k->long_run, NULL, 0);
    k->compile_seconds += bg_cpu_seconds() - start - (code_seconds(k) - code);
    j = k->jacobian;
    maker_unlock(k);
    return j;
}

/* Rates and the rows of nets in one program, with the held unknowns' columns. */
static jacobian_form *
make_net_partials(const image *m, const maker *k)
{
    equations *e = k->e;
    struct targets target = { 0 };
    struct positions position = { 0 };
    jacobian_form *j;
    program *g;

    for (size_t i = 0; i < e->state.n; i++) {
        vec_push(&target, inst_var(k->f, e->state.at[i].rate));
        vec_push(&position, k->f->var.at[e->state.at[i].var].position);
    }
    model_add_net_rows(e, &target, &position);
    g = program_plan(e, target.at, position.at, (uint32_t)target.n);
    j = jacobian_form_new(e, g, (layout){ m->position }, k->long_run, e->held.at, (uint32_t)e->held.n);
    program_free(g);
    vec_free(&target);
    vec_free(&position);
    return j;
}

const jacobian_form *
image_net_partials(const image *m, maker *k)
{
    const jacobian_form *j;

    maker_lock(k);
    if (!k->net_partials)
        k->net_partials = make_net_partials(m, k);
    j = k->net_partials;
    maker_unlock(k);
    return j;
}

static partials_form *
make_partials(const image *m, const maker *k, const var_id *by, size_t n, size_t noutputs, bool held)
{
    struct targets row = { 0 };
    struct positions unused = { 0 };
    partials_beside beside = { 0 };
    partials_form *p;

    for (size_t i = 0; i < k->e->row.n && held; i++)
        model_add_expansion(k->e, &k->e->row.at[i].r, &row, &unused);
    if (held)
        beside = (partials_beside){ k->e->held.at, k->e->held.n, row.at, row.n };
    p = partials_form_new(k->e, (layout){ m->position }, k->long_run, by, n, noutputs, beside);
    vec_free(&row);
    vec_free(&unused);
    return p;
}

const partials_form *
image_partials(const image *m, maker *k, const var_id *by, size_t n, size_t noutputs, bool held)
{
    partials_form *p = NULL;

    maker_lock(k);
    for (size_t i = 0; i < k->partials.n && !p; i++)
        if (partials_form_is(k->partials.at[i], by, n, noutputs, held))
            p = k->partials.at[i];
    if (!p && (p = make_partials(m, k, by, n, noutputs, held)))
        vec_push(&k->partials, p);
    maker_unlock(k);
    return p;
}

const initial_program *
image_initial(image *m, maker *k)
{
    initial_program *g = atomic_load(&m->initial);

    if (g)
        return g;
    maker_lock(k);
    g = atomic_load(&m->initial); /* another thread may have been first */
    if (!g)
        atomic_store(&m->initial, g = initial_program_new(k->f, k->c, k->e));
    maker_unlock(k);
    return g;
}

const storage_program *
image_storage(image *m, maker *k)
{
    storage_program *g = atomic_load(&m->storage);

    if (g)
        return g;
    maker_lock(k);
    g = atomic_load(&m->storage); /* another thread may have been first */
    if (!g)
        atomic_store(&m->storage, g = storage_program_new(k->e, m->position));
    maker_unlock(k);
    return g;
}

const interpret_program *
image_numbers(image *m, maker *k)
{
    interpret_program *g = atomic_load(&m->numbers);

    if (g)
        return g;
    maker_lock(k);
    g = atomic_load(&m->numbers); /* another thread may have been first */
    if (!g)
        atomic_store(&m->numbers, g = interpret_program_new(k->e, m->position));
    maker_unlock(k);
    return g;
}

const condition_program *
image_conditions(const image *m, maker *k, const var_id *var, size_t n)
{
    condition_program *g = NULL;

    maker_lock(k);
    for (size_t i = 0; i < k->conditions.n && !g; i++)
        if (k->conditions.at[i]->var.n == n && !memcmp(k->conditions.at[i]->var.at, var, n * sizeof *var))
            g = k->conditions.at[i];
    if (!g && (g = condition_program_new(k->e, (layout){ m->position }, var, n)))
        vec_push(&k->conditions, g);
    maker_unlock(k);
    return g;
}
