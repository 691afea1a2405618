/* maker_graph.c - tables of an image from the flat model: elements, ports, bonds, junctions, readers of each
 * variable, states, variables, names */
#include <stdlib.h>
#include <string.h>

#include "domain.h"
#include "maker_inside.h"
#include "written.h"

struct making {
    const flat_model *f;
    image_graph *g;
    VEC(struct model_instance) instance;
};

static const char *
keep(struct making *w, const char *name)
{
    return name ? arena_strdup(w->g->arena, name) : NULL;
}

static bool
is_pseudo(const flat_model *f, uint32_t junction)
{
    const flat_domain *d = junction_domain(f, junction);

    return d && d->power != NODE_NONE;
}

static void
add_element(struct making *w, uint32_t i)
{
    const flat_model *f = w->f;
    const flat_element *e = &f->element.at[i];
    struct model_element x = { .name = keep(w, e->name), .at = element_at(e) };

    x.type = e->type;
    x.linear = e->linear;
    x.keep = e->keep;
    x.port0 = e->port0;
    x.nports = e->nports;
    x.instance = e->parent;
    x.ratio0 = (uint32_t)w->g->ratio.n;
    for (uint32_t p = e->port0; p < e->port0 + e->nports; p++)
        x.pseudo |= is_pseudo(f, f->port.at[p].junction);
    for (uint32_t k = 0; k < e->nlaws; k++) {
        const flat_law *law = &f->law.at[e->law0 + k];

        x.switched |= law->switched;
        if (is_two_port(e)) {
            vec_push(&w->g->ratio,
                     formula_write(&w->g->book, f->pool, law->def.root, inst_slots(f, law->def), law->def.n));
            x.nratios++;
        }
    }
    w->g->graph.element[i] = x;
}

static void
add_port(struct making *w, uint32_t i)
{
    const flat_model *f = w->f;
    const flat_port *p = &f->port.at[i];
    struct model_port x = { .element = p->element,
                            .junction = p->junction,
                            .e = p->e,
                            .f = p->f,
                            .stored = p->stored,
                            .sign = p->sign,
                            .momentum = port_has_momentum(f, i),
                            .crossed = p->crossed,
                            .bond = keep(w, port_bond_name(f, p)) };

    if (p->stored != VAR_NONE) {
        const flat_law *law = port_law(f, i);
        const ex_node *root = pool_node(f->pool, law->def.root);

        x.given = law->out == Q_DISPLACEMENT || law->out == Q_MOMENTUM;
        x.inverse = root->op == EX_DIV && pool_node(f->pool, root->a)->op == EX_SLOT;
    }
    x.own = keep(w, port_own_name(f, i));
    x.name = x.own ? x.own : w->g->graph.element[p->element].name;
    x.at = keep(w, junction_label(f, p->junction, i));
    w->g->graph.port[i] = x;
}

static void
add_bond(struct making *w, uint32_t i)
{
    const flat_bond *b = &w->f->bond.at[i];

    w->g->graph.bond[i] = (struct model_bond){ b->from, b->to, keep(w, b->name),
                                               keep(w, junction_label(w->f, b->from, NONE)),
                                               keep(w, junction_label(w->f, b->to, NONE)) };
}

/* For an output or recorded expression that is the effort or flow of one bond. */
static const char *
bond_quantity(const flat_model *f, inst def)
{
    var_id v;

    if (def.n != 1 || pool_node(f->pool, def.root)->op != EX_SLOT)
        return NULL;
    v = inst_slots(f, def)[0];
    if (f->var.at[v].kind == VAR_SIGNAL && inst_known(var_def(f, v)) && var_def(f, v).n == 1 &&
        pool_node(f->pool, var_def(f, v).root)->op == EX_SLOT)
        v = inst_slots(f, var_def(f, v))[0];
    return quantity_name(f, v);
}

static void
add_output_row(struct making *w, size_t k)
{
    const flat_output *o = flat_output_at(w->f, k);

    w->g->graph.output[k] = (struct model_output){ keep(w, o->name), keep(w, bond_quantity(w->f, o->def)), o->unit,
                                                   o->display, o->at };
}

static void
add_junction(struct making *w, uint32_t i)
{
    const flat_junction *j = &w->f->junction.at[i];

    w->g->graph.junction[i] = (struct model_junction){ j->type, is_pseudo(w->f, i), j->common, j->parent, j->inc0,
                                                       j->ninc };
}

/* ---- inputs and sources opened for linear analysis ---- */

/* Does it vary, and with time alone? Follows everything that it reads: signals by what they read, modes by the
 * conditions that they watch. */
static bool
moves_by_time(const maker *m, inst i)
{
    const flat_model *f = m->f;
    VEC(inst) todo = { 0 };
    map seen = { 0 };
    bool time = false, other = false;

    vec_push(&todo, i);
    while (todo.n && !other) {
        inst x = todo.at[--todo.n];

        for (uint32_t k = 0; k < x.n; k++) {
            var_id id = inst_slots(f, x)[k];
            const flat_var *v = &f->var.at[id];
            inst by = v->kind == VAR_SIGNAL ? var_def(f, id)
                      : v->kind == VAR_MODE ? m->e->mode.at[v->owner].g
                                            : INST_NONE;

            if (v->kind == VAR_TIME) {
                time = true;
            } else if (v->kind != VAR_SIGNAL && v->kind != VAR_MODE) {
                other = other || (v->kind != VAR_PARAM && v->kind != VAR_LITERAL);
            } else if (!inst_known(by)) {
                other = true;
            } else if (map_get(&seen, id) == MAP_NONE) {
                map_set(&seen, id, 1);
                vec_push(&todo, by);
            }
        }
    }
    vec_free(&todo);
    map_free(&seen);
    return time && !other;
}

/* The law of a source that an opened input moves. */
static const flat_law *
opened_law(const flat_model *f, const flat_opening *o)
{
    const flat_element *e = &f->element.at[o->element];

    for (uint32_t k = 0; k < e->nlaws; k++) {
        const flat_law *law = &f->law.at[e->law0 + k];

        if (!strcmp(port_name(f, law->port), o->name))
            return law;
    }
    return NULL;
}

static void
add_opening(struct making *w, const maker *k, size_t i)
{
    const flat_model *f = w->f;
    const flat_opening *o = &f->opening.at[i];
    const flat_law *law = o->element == NONE ? NULL : opened_law(f, o);
    struct model_opening x = { .name = keep(w, o->name),
                               .rate_name = keep(w, o->rate_name),
                               .by = o->by,
                               .rate = o->rate,
                               .element = o->element,
                               .port = law ? law->port : NONE,
                               .moves = law && moves_by_time(k, law->def),
                               .unit = o->unit,
                               .display = o->display };

    for (uint32_t n = 0; law && n < law->def.n; n++)
        x.reads_time |= f->var.at[inst_slots(f, law->def)[n]].kind == VAR_TIME;
    w->g->graph.opening[i] = x;
}

image_graph *
image_graph_make(const maker *k)
{
    const flat_model *f = k->f;
    image_graph *g = bg_calloc(1, sizeof *g);
    struct making w = { .f = f, .g = g };
    model_graph *to = &g->graph;

    g->arena = arena_new();
    *to = (model_graph){ bg_calloc(f->element.n + 1, sizeof *to->element),
                         bg_calloc(f->port.n + 1, sizeof *to->port),
                         bg_calloc(f->bond.n + 1, sizeof *to->bond),
                         bg_calloc(f->junction.n + 1, sizeof *to->junction),
                         bg_calloc(f->incidence.n + 1, sizeof *to->incidence),
                         bg_calloc(f->origin.n + 1, sizeof *to->instance),
                         bg_calloc(f->output.n + f->experiment.record.n + 1, sizeof *to->output),
                         bg_calloc(f->opening.n + 1, sizeof *to->opening),
                         bg_calloc(k->c->dependent.n + 1, sizeof *to->dependent),
                         f->element.n,
                         f->port.n,
                         f->bond.n,
                         f->junction.n,
                         f->origin.n,
                         f->output.n + f->experiment.record.n,
                         f->opening.n,
                         k->c->dependent.n,
                         f->output.n,
                         k->c->junction_state.n > 0 };
    for (uint32_t i = 0; i < f->element.n; i++)
        add_element(&w, i);
    for (uint32_t i = 0; i < f->port.n; i++)
        add_port(&w, i);
    for (uint32_t i = 0; i < f->bond.n; i++)
        add_bond(&w, i);
    for (uint32_t i = 0; i < f->junction.n; i++)
        add_junction(&w, i);
    for (size_t i = 0; i < f->incidence.n; i++)
        to->incidence[i] = (struct model_incidence){ f->incidence.at[i].is_bond, f->incidence.at[i].index };
    for (size_t i = 0; i < f->origin.n; i++) {
        const flat_origin *x = &f->origin.at[i];

        to->instance[i] = (struct model_instance){ keep(&w, x->name), x->model ? keep(&w, x->model->name) : NULL,
                                                   x->parent };
    }
    for (size_t i = 0; i < to->noutputs; i++)
        add_output_row(&w, i);
    for (size_t i = 0; i < to->nopenings; i++)
        add_opening(&w, k, i);
    if (to->ndependent)
        memcpy(to->dependent, k->c->dependent.at, to->ndependent * sizeof *to->dependent);
    formula_close(&g->book);
    return g;
}

/* ---------------------------------------------------------------- who reads what */

typedef VEC(var_id) read_list;

static void
append_reads(const flat_model *f, inst i, read_list *list)
{
    for (uint32_t k = 0; inst_known(i) && k < i.n; k++)
        vec_push(list, inst_slots(f, i)[k]);
}

model_reads *
image_reads_make(const maker *k)
{
    const flat_model *f = k->f;
    model_reads *r = bg_calloc(1, sizeof *r);
    size_t noutputs = f->output.n + f->experiment.record.n;
    read_list list = { 0 };

    r->of_element = bg_calloc(f->element.n + 1, sizeof *r->of_element);
    r->of_output = bg_calloc(noutputs + 1, sizeof *r->of_output);
    r->of_variable = bg_calloc(f->var.n + 1, sizeof *r->of_variable);
    for (size_t i = 0; i < f->element.n; i++) {
        r->of_element[i] = (uint32_t)list.n;
        for (uint32_t n = 0; n < f->element.at[i].nlaws; n++)
            append_reads(f, f->law.at[f->element.at[i].law0 + n].def, &list);
    }
    r->of_element[f->element.n] = (uint32_t)list.n;
    for (size_t i = 0; i < noutputs; i++) {
        r->of_output[i] = (uint32_t)list.n;
        append_reads(f, flat_output_at(f, i)->def, &list);
    }
    r->of_output[noutputs] = (uint32_t)list.n;
    for (size_t i = 0; i < f->var.n; i++) {
        const flat_var *v = &f->var.at[i];

        r->of_variable[i] = (uint32_t)list.n;
        if (v->kind == VAR_PARAM || v->kind == VAR_SIGNAL)
            append_reads(f, var_def(f, i), &list);
    }
    r->of_variable[f->var.n] = (uint32_t)list.n;
    r->read = list.at;
    return r;
}

/* ---------------------------------------------------------------- states and variables */

image_states *
image_states_make(const image *m, const maker *k)
{
    const flat_model *f = k->f;
    size_t n = m->nstates;
    image_states *s = bg_calloc(1, sizeof *s);
    struct model_state *table = s->at = bg_calloc(n + 1, sizeof *table);
    const unit **shown = bg_calloc(n + 1, sizeof *shown);
    var_id *var = bg_calloc(n + 1, sizeof *var);

    for (size_t i = 0; i < n; i++)
        var[i] = k->e->state.at[k->state_of[i]].var;
    units_written(f, var, n, shown);
    s->names = arena_new();
    for (size_t i = 0; i < n; i++) {
        const flat_var *v = &f->var.at[var[i]];

        table[i] = (struct model_state){ .name = var_name_in(f, var[i], s->names),
                                         .at = var_at(f, var[i]),
                                         .unit = var_unit(f, var[i]),
                                         .display = var_display(f, var[i]),
                                         .shown = shown[i],
                                         .var = var[i],
                                         .kind = v->kind,
                                         .port = v->kind == VAR_STORED ? v->owner : NONE,
                                         .junction = v->kind == VAR_STORED   ? f->port.at[v->owner].junction
                                                     : v->kind == VAR_COMMON ? v->owner
                                                                             : NONE,
                                         .only_outputs = k->e->state.at[k->state_of[i]].only_outputs,
                                         .stated = m->stated[i],
                                         .holds = v->holds };
    }
    free(shown);
    free(var);
    return s;
}

/* The owner of the equation, and its place in the text. */
static void
name_equation(const flat_model *f, uint32_t of, struct model_variable *v)
{
    switch (v->by) {
    case DEF_BY_LAW:
    case DEF_BY_TWO_PORT:
    case DEF_BY_RESIDUAL:
        v->equation = port_name(f, of);
        v->equation_at = port_law(f, of)->at;
        break;
    case DEF_BY_BALANCE:
        v->equation = f->junction.at[of].name;
        v->equation_at = f->junction.at[of].at;
        break;
    case DEF_BY_BOND:
        v->equation = f->bond.at[of].name;
        v->equation_at = f->bond.at[of].at;
        break;
    case DEF_BY_RATE:
        v->equation = var_name(f, of);
        v->equation_at = var_at(f, of);
        break;
    case DEF_BY_TEXT: v->equation_at = v->at; break;
    case DEF_BY_NOTHING: break;
    }
}

/* Is it given as a number? If so, nothing from which it is computed is a parameter. */
static bool
is_given_as_number(const flat_model *f, var_id v)
{
    inst def = var_def(f, v);

    if (f->var.at[v].kind != VAR_PARAM || f->var.at[v].role != ROLE_PARAMETER || !var_name(f, v))
        return false;
    for (uint32_t k = 0; inst_known(def) && k < def.n; k++)
        if (f->var.at[f->slot.at[def.first + k]].kind != VAR_LITERAL)
            return false;
    return true;
}

image_variables *
image_variables_make(const maker *k)
{
    const flat_model *f = k->f;
    const equations *e = k->e;
    image_variables *made = bg_calloc(1, sizeof *made);
    struct model_variable *table = made->at = bg_calloc(f->var.n + 1, sizeof *table);
    const unit **shown = bg_calloc(f->var.n + 1, sizeof *shown);
    var_id *all = bg_calloc(f->var.n + 1, sizeof *all);

    for (uint32_t i = 0; i < f->var.n; i++)
        all[i] = i;
    units_written(f, all, f->var.n, shown);
    free(all);
    made->names = arena_new();
    for (uint32_t i = 0; i < f->var.n; i++) {
        const flat_var *v = &f->var.at[i];
        bool state = e->var.at[i].kind == DEF_STATE;
        const eq_var *d = &e->var.at[state ? e->state.at[e->var.at[i].index].rate : i];

        table[i] = (struct model_variable){ .name = var_name_in(f, i, made->names),
                                            .at = var_at(f, i),
                                            .unit = var_unit(f, i),
                                            .display = var_display(f, i),
                                            .shown = shown[i],
                                            .kind = v->kind,
                                            .role = v->role,
                                            .state = state,
                                            .number = is_given_as_number(f, i),
                                            .by = (enum defined_by)d->by,
                                            .equation_at = SPAN_NONE };
        name_equation(f, d->of, &table[i]);
        table[i].said = equations_name(e, i, made->names);
        table[i].said_at = equations_place(e, i);
        if (table[i].equation)
            table[i].equation = arena_strdup(made->names, table[i].equation);
    }
    free(shown);
    return made;
}

static struct model_pole
unknown_said(const flat_model *f, var_id v, arena *to)
{
    const flat_var *x = &f->var.at[v];

    return (struct model_pole){ .at = var_at(f, v),
                                .var = arena_strdup(to, var_name(f, v)),
                                .unit = var_unit(f, v),
                                .stands_in = x->kind == VAR_AUX };
}

image_unknowns *
image_unknowns_make(const maker *k)
{
    const equations *e = k->e;
    image_unknowns *u = bg_calloc(1, sizeof *u);

    u->names = arena_new();
    u->at = bg_calloc(e->unknown.n + e->held.n + 1, sizeof *u->at);
    for (size_t i = 0; i < e->unknown.n; i++)
        u->at[i] = unknown_said(k->f, e->unknown.at[i], u->names);
    for (size_t i = 0; i < e->held.n; i++)
        u->at[e->unknown.n + i] = unknown_said(k->f, e->held.at[i], u->names);
    return u;
}

image_parameters *
image_parameters_make(const maker *k)
{
    const flat_model *f = k->f;
    image_parameters *p = bg_calloc(1, sizeof *p);

    p->names = arena_new();
    for (uint32_t v = (uint32_t)f->var.n; v-- > 0;) { /* of two with the same name, the first is found */
        const char *name;
        uint64_t hash;

        if (f->var.at[v].kind != VAR_PARAM)
            continue;
        name = var_name(f, v);
        hash = bg_hash_bytes(name, strlen(name), 0);
        vec_push(&p->list, ((struct image_parameter){ arena_strdup(p->names, name), v, map_get(&p->index, hash) }));
        map_set(&p->index, hash, (uint32_t)p->list.n - 1);
    }
    return p;
}
