/* maker.c - see maker.h */
#include "maker_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef VEC(var_id) var_list;

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
    return k;
}

/* Owned by it; what it was given belongs to the caller. */
static void
let_go_of_maker(maker *k)
{
    for (int p = 0; p < PART_COUNT; p++) {
        program_free(k->program[p]);
        k->program[p] = NULL;
    }
    for (size_t i = 0; i < k->other.n; i++)
        program_free(k->other.at[i]);
    vec_free(&k->other);
    vec_free(&k->clock);
    free(k->waving);
    k->waving = NULL;
    vec_free(&k->bend);
    vec_free(&k->pole);
    vec_free(&k->gate);
    thresholds_free(&k->thresholds);
    free(k->state_of);
    k->state_of = NULL;
    k->f = NULL;
    k->c = NULL;
    k->e = NULL;
}

void
maker_free(maker *k)
{
    let_go_of_maker(k);
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

static void
count_program(struct maker_counts *to, const program *g)
{
    to->classes += g->nclasses;
    to->kernels += g->nkernels;
    to->chunks += g->chunk.n;
    to->items += g->item.n;
}

static double
code_seconds(const maker *k)
{
    double sum = 0;

    for (int p = 0; p < PART_COUNT; p++)
        sum += k->program[p] ? k->program[p]->code_seconds : 0;
    for (size_t i = 0; i < k->other.n; i++)
        sum += k->other.at[i]->code_seconds;
    return sum;
}

struct maker_counts
maker_count(maker *k)
{
    struct maker_counts now;

    maker_lock(k);
    now = k->closed;
    for (int p = 0; p < PART_COUNT; p++)
        if (k->program[p])
            count_program(&now, k->program[p]);
    now.seconds += k->compile_seconds + code_seconds(k);
    maker_unlock(k);
    return now;
}

double
maker_seconds(maker *k)
{
    if (pthread_mutex_trylock(&k->lock) == 0) {
        atomic_store(&k->seconds, k->closed.seconds + k->compile_seconds + code_seconds(k));
        maker_unlock(k);
    }
    return atomic_load(&k->seconds);
}

static program *
program_of(const maker *k, const routine *r)
{
    for (int p = 0; p < PART_COUNT; p++)
        if (k->program[p] && k->program[p]->routine == r)
            return k->program[p];
    for (size_t i = 0; i < k->other.n; i++)
        if (k->other.at[i]->routine == r)
            return k->other.at[i];
    return NULL;
}

bool
maker_improve(maker *k, routine *r)
{
    machine_code *now;
    program *g;
    bool ok;

    maker_lock(k);
    now = routine_take(r);
    g = program_of(k, r);
    ok = now->optimised || !g || program_optimise(g);
    routine_give_back(r, now);
    maker_unlock(k);
    return ok;
}

/* ---------------------------------------------------------------- the image */

/* Has state variable v of the equations a stated initial value of its own? */
static void
find_stated(image *m, const maker *k)
{
    const flat_model *f = k->f;
    const equations *e = k->e;

    for (size_t i = 0; i < f->initial.n; i++) {
        const flat_initial *in = &f->initial.at[i];
        var_id v = in->port != NONE ? f->port.at[in->port].stored : f->junction.at[in->junction].common;

        if (v != VAR_NONE && m->position[v] != NONE && e->var.at[v].kind == DEF_STATE)
            m->stated[m->position[v]] = true;
    }
    for (uint32_t i = 0; i < e->state.n; i++) {
        const flat_var *v = &f->var.at[e->state.at[i].var];

        if (v->kind == VAR_INTEGRAL && inst_known(var_init(f, e->state.at[i].var)))
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

/* The value of a parameter expression; 0 without one. */
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

/* Adds the variables of expression i that are not in the list yet. */
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

/* The variables of a condition, including those of conditions it depends on. */
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

/* Does i depend on a delayed value without a state in between? */
static bool
follows_delayed(const maker *m, inst i)
{
    const equations *e = m->e;
    bool found = false;
    definition_walk r;
    var_id v;

    definition_walk_begin(&r, e);
    definition_walk_read(&r, i);
    while (!found && definition_walk_next(&r, &v))
        found = e->var.at[v].kind == DEF_HELD ||
                (m->f->var.at[v].kind == VAR_MODE && e->mode.at[m->f->var.at[v].owner].kind == MODE_GIVEN);
    definition_walk_free(&r);
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

        vec_push(&m->delay, ((struct image_delay){ { m->position[d->var], 0, NAN, d->at, copied(m, var_name(f, d->var)),
                                                     follows_delayed(k, d->of) },
                                                   parameter_program_add(m->parameters, f, d->by),
                                                   before.value,
                                                   before.there }));
    }
}

/* Is it a comparison of states, parameters and time? */
static bool
compares_states(const equations *e, const eq_mode *q)
{
    bool alone = q->kind == MODE_LESS || q->kind == MODE_LESS_EQUAL || q->kind == MODE_EQUAL;

    for (uint32_t s = 0; s < q->g.n && alone; s++) {
        var_id v = inst_slots(e->f, q->g)[s];
        enum var_kind kind = e->f->var.at[v].kind;

        alone = kind == VAR_TIME || kind == VAR_PARAM || kind == VAR_LITERAL || e->var.at[v].kind == DEF_STATE;
    }
    return alone;
}

static void
add_modes(image *m, const maker *k)
{
    m->mode = bg_calloc(m->nmodes + 1, sizeof *m->mode);
    m->nquantities = k->thresholds.quantity.n;
    for (size_t i = 0; i < m->nmodes; i++) {
        const eq_mode *q = &k->e->mode.at[i];
        const struct threshold *limit = &k->thresholds.of_mode[i];

        m->mode[i] = (struct image_mode){ (enum mode_kind)q->kind,
                                          q->at,
                                          q->kind == MODE_PIECE ? pool_table(k->f->pool, q->table) : NULL,
                                          q->partner,
                                          q->side,
                                          q->corner,
                                          q->relay,
                                          q->apart,
                                          q->known,
                                          q->known ? q->count : NONE,
                                          compares_states(k->e, q),
                                          q->g.root,
                                          limit->of,
                                          limit->above };
        vec_push(&m->line, setting(m, k->f, q->known ? q->slope : INST_NONE).value);
        vec_push(&m->line, setting(m, k->f, q->known ? q->offset : INST_NONE).value);
        vec_push(&m->line, setting(m, k->f, m->mode[i].count != NONE ? q->by : INST_NONE).value);
        vec_push(&m->line, setting(m, k->f, limit->of != NONE ? limit->at : INST_NONE).value);
        if (limit->of == NONE)
            vec_push(&m->others, (uint32_t)i);
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
        m->element[i] = (struct model_removal){ e->part.at[i].factor, e->part.at[i].rests, NONE };
    for (size_t i = 0; i < e->state.n; i++)
        if (e->state.at[i].element != NONE)
            m->element[e->state.at[i].element].state = m->position[e->state.at[i].var];
}

/* The storage port with stored quantity v, if there is one. */
static uint32_t
stored_at(const flat_model *f, var_id v)
{
    return f->var.at[v].kind == VAR_STORED ? f->var.at[v].owner : NONE;
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
    for (size_t i = 0; i < k->f->weight.n; i++) {
        vec_push(&m->weight, k->f->weight.at[i].factor);
        vec_push(&m->weight, k->f->weight.at[i].offset);
    }
    m->ndeclared = k->f->output.n;
    m->constraint_at = bg_calloc(m->nconstraints + 1, sizeof *m->constraint_at);
    for (size_t i = 0; i < m->nconstraints; i++)
        m->constraint_at[i] = var_at(k->f, e->constraint.at[i]);
    m->nbond_values = k->f->port.n + k->f->bond.n;
    for (size_t i = 0; i < k->f->port.n; i++)
        m->nbond_values += k->f->port.at[i].stored != VAR_NONE ? 2 : 0;
    m->unknown = bg_malloc((m->nunknowns + 1) * sizeof *m->unknown);
    for (size_t i = 0; i < m->nunknowns; i++)
        m->unknown[i] = e->unknown.at[i];
    m->block = bg_calloc(m->nblocks + 1, sizeof *m->block);
    for (size_t i = 0; i < m->nblocks; i++) {
        m->block[i] = (struct image_block){ e->block.at[i].unknown0, e->block.at[i].n };
        m->iterates |= !e->block.at[i].linear;
    }
    m->position = bg_malloc((m->nvars + 1) * sizeof *m->position);
    memset(m->position, 0xff, (m->nvars + 1) * sizeof *m->position);
    k->state_of = bg_malloc((m->nstates + 1) * sizeof *k->state_of);
    m->state_port = bg_malloc((m->nstates + 1) * sizeof *m->state_port);
    m->stated = bg_calloc(m->nstates + 1, sizeof *m->stated);
    m->parameters = parameter_program_new(k->f);
    k->thresholds = thresholds_find(k->e);
    add_modes(m, k);

    /* the states stand in the order of their rates' classes */
    k->program[PART_RHS] = model_plan_part(k, PART_RHS);
    place = k->program[PART_RHS]->routine->out_index;
    for (uint32_t i = 0; i < m->nstates; i++) {
        m->position[e->state.at[i].var] = place[i];
        k->state_of[place[i]] = i;
        m->state_port[place[i]] = stored_at(k->f, e->state.at[i].var);
    }
    for (uint32_t i = 0; i < m->nmodes; i++)
        m->position[e->mode.at[i].var] = i;
    for (uint32_t i = 0; i < m->nheld; i++)
        m->position[e->held.at[i]] = (uint32_t)m->nmodes + i;
    m->nets = net_form_new(e, m->position);
    gates_find(e, &k->gate);
    for (uint32_t i = 0; i < k->gate.n; i++) {
        vec_push(&m->gate, k->gate.at[i].mode);
        vec_push(&m->gate_level, k->gate.at[i].level);
    }
    find_stated(m, k);
    add_elements(m, k);
    add_experiment(m, k->f);
    add_events(m, k);
    k->compile_seconds += bg_cpu_seconds() - start;
    return m;
}

/* ---------------------------------------------------------------- parts that are tables and formulas */

static void
find_clocks(maker *k)
{
    if (!k->clocks_known)
        k->waving = clocks_find(k->e, &k->clock, &k->bend);
    k->clocks_known = true;
}

static void
find_poles(maker *k)
{
    if (!k->poles_known)
        poles_find(k->e, &k->pole);
    k->poles_known = true;
}

static image_clocks *
make_clocks(const image *m, maker *k)
{
    image_clocks *c = bg_calloc(1, sizeof *c);

    find_clocks(k);
    c->n = k->clock.n;
    if (k->waving) {
        c->waving = bg_calloc(m->nmodes, sizeof *c->waving);
        memcpy(c->waving, k->waving, m->nmodes * sizeof *c->waving);
    }
    c->at = bg_calloc(c->n + 1, sizeof *c->at);
    for (size_t i = 0; i < c->n; i++)
        c->at[i] = k->clock.at[i].at;
    for (size_t i = 0; i < k->bend.n; i++)
        c->bends |= k->bend.at[i].driving && !k->bend.at[i].reciprocal;
    for (size_t i = 0; i < k->bend.n; i++)
        c->hides |= !k->bend.at[i].driving;
    c->bounds = bounds_form_of_clocks(k->e, &k->clock, m->position);
    if (k->bend.n)
        c->bending = bounds_form_of_bends(k->e, &k->bend, m->position);
    return c;
}

static expression_poles *
make_poles(maker *k)
{
    find_poles(k);
    return expression_poles_new(k->e, &k->pole);
}

/* ---------------------------------------------------------------- parts that are code */

static jacobian_form *
make_jacobian(const image *m, maker *k)
{
    return jacobian_form_new(k->e, k->program[PART_RHS], (layout){ m->position }, k->long_run, NULL, 0, &k->other);
}

/* Rates and the rows of nets in one program, which includes the columns of held unknowns. */
static jacobian_form *
make_net_partials(const image *m, maker *k)
{
    equations *e = k->e;
    target_list target = { 0 };
    jacobian_form *j;
    program *g;

    target_add_rates(&target, e);
    model_add_net_rows(e, &target);
    g = program_plan_list(e, &target);
    j = jacobian_form_new(e, g, (layout){ m->position }, k->long_run, e->held.at, (uint32_t)e->held.n, &k->other);
    program_free(g);
    return j;
}

static void *
make(enum image_later what, image *m, maker *k)
{
    switch (what) {
    case LATER_VARIABLES: return image_variables_make(k);
    case LATER_STATES: return image_states_make(m, k);
    case LATER_UNKNOWNS: return image_unknowns_make(k);
    case LATER_PARAMETERS: return image_parameters_make(k);
    case LATER_GRAPH: return image_graph_make(k);
    case LATER_READS: return image_reads_make(k);
    case LATER_EXPRESSIONS: return expression_program_new(k->e);
    case LATER_POLES: return make_poles(k);
    case LATER_CLOCKS: return make_clocks(m, k);
    case LATER_ROOTS: return image_roots_make(m, k);
    case LATER_PROJECTION: return projection_new(k->e, m->position);
    case LATER_INITIAL: return initial_program_new(k->f, k->c, k->e);
    case LATER_STORAGE: return storage_program_new(k->e, m->position);
    case LATER_NUMBERS: return interpret_program_new(k->e, m->position);
    case LATER_JACOBIAN: return make_jacobian(m, k);
    case LATER_NET_PARTIALS: return make_net_partials(m, k);
    case LATER_COUNT: break;
    }
    return NULL;
}

/* A part is made under the lock. The time for it counts as the maker's, except for machine code, which programs
 * count. */
struct making_part {
    double start, code;
};

static struct making_part
begin_part(maker *k)
{
    maker_lock(k);
    return (struct making_part){ bg_cpu_seconds(), code_seconds(k) };
}

static void
end_part(maker *k, struct making_part w)
{
    k->compile_seconds += bg_cpu_seconds() - w.start - (code_seconds(k) - w.code);
    maker_unlock(k);
}

const void *
image_have(image *m, maker *k, enum image_later what)
{
    void *part = atomic_load(&m->later[what]);
    struct making_part w;

    if (part)
        return part;
    w = begin_part(k);
    part = atomic_load(&m->later[what]); /* another thread may have been first */
    if (!part && k->e)
        atomic_store(&m->later[what], part = make(what, m, k));
    end_part(k, w);
    return part;
}

routine *
image_part(image *m, maker *k, enum model_part part)
{
    routine *r = atomic_load(&m->part[part]);
    struct making_part w;

    if (r)
        return r;
    w = begin_part(k);
    r = atomic_load(&m->part[part]); /* another thread may have been first */
    if (!r && k->e) {
        if (!k->program[part])
            k->program[part] = model_plan_part(k, part);
        if (program_code(k->program[part], (layout){ m->position }, k->long_run))
            atomic_store(&m->part[part], r = program_give(k->program[part]));
    }
    end_part(k, w);
    return r;
}

/* ---------------------------------------------------------------- what depends on what is asked for */

static void
say_closed(const image *m, const char *what)
{
    diag_error(m->sources, "model-closed", m->at, "%s: not available once the model's source was released", what);
}

const partials_form *
image_partials(image *m, maker *k, const var_id *by, size_t n, size_t noutputs, bool held)
{
    partials_form *p = NULL;

    maker_lock(k);
    for (size_t i = 0; i < m->partials.n && !p; i++)
        if (partials_form_is(m->partials.at[i], by, n, noutputs, held))
            p = m->partials.at[i];
    if (!p && !k->e)
        say_closed(m, "derivatives by parameters");
    else if (!p &&
             (p = partials_form_new(k->e, (layout){ m->position }, k->long_run, by, n, noutputs, held, &k->other)))
        vec_push(&m->partials, p);
    maker_unlock(k);
    return p;
}

static const condition_program *
add_conditions(image *m, maker *k, const var_id *var, size_t n)
{
    condition_program *g = condition_program_new(k->e, (layout){ m->position }, var, n, &k->other);

    if (g)
        vec_push(&m->conditions, g);
    return g;
}

const condition_program *
image_conditions(image *m, maker *k, const var_id *var, size_t n)
{
    const condition_program *g = NULL;

    maker_lock(k);
    for (size_t i = 0; i < m->conditions.n && !g; i++)
        if (m->conditions.at[i]->var.n == n && !memcmp(m->conditions.at[i]->var.at, var, n * sizeof *var))
            g = m->conditions.at[i];
    if (!g && k->e)
        g = add_conditions(m, k, var, n);
    else if (!g)
        /* for a closed image the last program is of everything that may be requested */
        g = m->conditions.at[m->conditions.n - 1];
    maker_unlock(k);
    return g;
}

curvature *
image_curvature(const image *m, maker *k, const var_id *by, size_t n, bool held)
{
    curvature *c = NULL;

    maker_lock(k);
    if (k->e)
        c = curvature_new(k->e, m->position, by, n, held);
    else
        say_closed(m, "second derivatives");
    maker_unlock(k);
    return c;
}

/* ---------------------------------------------------------------- closing */

/* Conditions on initial values: first those for which every law can be solved, then all possible ones. */
static bool
close_conditions(image *m, maker *k)
{
    const initial_program *g = image_initial_of(m, k);
    var_id *list = bg_malloc((initial_conditions_most(g) + 1) * sizeof *list);
    size_t n = initial_conditions(g, false, list);
    bool fine = n == 0 || image_conditions(m, k, list, n);

    n = initial_conditions(g, true, list);
    fine = fine && (n == 0 || add_conditions(m, k, list, n));
    free(list);
    return fine;
}

/* Does this model have such a part? Making an empty part costs almost nothing. */
static bool
is_asked_for(image *m, maker *k, enum model_part part)
{
    switch (part) {
    case PART_CONSTRAINTS: return m->nconstraints > 0;
    case PART_CLOCKS: return image_clocks_of(m, k)->n > 0;
    case PART_POLES: return image_poles_of(m, k)->pole.n > 0;
    case PART_NETS: return m->nets != NULL;
    case PART_GATES: return m->gate.n > 0;
    case PART_JACOBIAN: return false; /* not a routine */
    default: return true;
    }
}

bool
image_close(image *m, maker *k)
{
    bool fine = true;

    maker_lock(k);
    for (enum image_later what = 0; what < LATER_COUNT && k->e; what++)
        if (!(what == LATER_NET_PARTIALS && !m->nets) && !(what == LATER_JACOBIAN && m->nets))
            fine = image_have(m, k, what) && fine;
    for (enum model_part part = 0; part < PART_COUNT && k->e; part++)
        if (is_asked_for(m, k, part))
            fine = image_part(m, k, part) && fine;
    fine = fine && (!k->e || close_conditions(m, k));
    if (fine) {
        struct maker_counts now = maker_count(k);

        let_go_of_maker(k);
        k->compile_seconds = 0;
        k->closed = now;
    }
    maker_unlock(k);
    return fine;
}
