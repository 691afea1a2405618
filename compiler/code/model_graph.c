/* model_graph.c - see model_graph.h */
#include "model_graph.h"

#include <string.h>

#include "domain.h"
#include "model_inside.h"
#include "written.h"

/* ---------------------------------------------------------------- made from the flat model */

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
    struct model_element x = { .name = keep(w, e->name), .at = e->at };

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
                            .bond = keep(w, p->bond_name) };

    if (p->stored != VAR_NONE) {
        const flat_law *law = port_law(f, i);
        const ex_node *root = pool_node(f->pool, law->def.root);

        x.given = law->out == Q_DISPLACEMENT || law->out == Q_MOMENTUM;
        x.inverse = root->op == EX_DIV && pool_node(f->pool, root->a)->op == EX_SLOT;
    }
    x.own = keep(w, p->name);
    x.name = x.own ? x.own : w->g->graph.element[p->element].name;
    x.at = keep(w, junction_label(f, p->junction, i));
    w->g->graph.port[i] = x;
}

static void
add_bond(struct making *w, uint32_t i)
{
    const flat_bond *b = &w->f->bond.at[i];

    w->g->graph.bond[i] = (struct model_bond){ b->from, b->to, keep(w, b->name),
                                               keep(w, junction_label(w->f, b->from, UINT32_MAX)),
                                               keep(w, junction_label(w->f, b->to, UINT32_MAX)) };
}

/* Of an output or recorded expression that is one bond's effort or flow */
static const char *
quantity_of(const flat_model *f, inst def)
{
    var_id v;

    if (def.n != 1 || pool_node(f->pool, def.root)->op != EX_SLOT)
        return NULL;
    v = inst_slots(f, def)[0];
    if (f->var.at[v].kind == VAR_SIGNAL && inst_known(f->var.at[v].def) && f->var.at[v].def.n == 1 &&
        pool_node(f->pool, f->var.at[v].def.root)->op == EX_SLOT)
        v = inst_slots(f, f->var.at[v].def)[0];
    return quantity_name(f, v);
}

static void
add_output(struct making *w, size_t k)
{
    const flat_output *o = flat_output_at(w->f, k);

    w->g->graph.output[k] = (struct model_output){ keep(w, o->name), keep(w, quantity_of(w->f, o->def)), o->unit,
                                                   o->display, o->at };
}

static void
add_junction(struct making *w, uint32_t i)
{
    const flat_junction *j = &w->f->junction.at[i];

    w->g->graph.junction[i] = (struct model_junction){ j->type, is_pseudo(w->f, i), j->common, j->parent, j->inc0,
                                                       j->ninc };
}

/* ---- what is opened ---- */

/* Does that move, and by time alone? All that it reads is looked at, signals by what they read, modes by what they
 * watch. */
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
            inst by = v->kind == VAR_SIGNAL ? v->def : v->kind == VAR_MODE ? m->e->mode.at[v->owner].g : INST_NONE;

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

/* The law of a source that an opening moves. */
static const flat_law *
law_of(const flat_model *f, const flat_opening *o)
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
    const flat_law *law = o->element == UINT32_MAX ? NULL : law_of(f, o);
    struct model_opening x = { .name = keep(w, o->name),
                               .rate_name = keep(w, o->rate_name),
                               .by = o->by,
                               .rate = o->rate,
                               .element = o->element,
                               .port = law ? law->port : UINT32_MAX,
                               .moves = law && moves_by_time(k, law->def),
                               .unit = o->unit,
                               .display = o->display };

    for (uint32_t n = 0; law && n < law->def.n; n++)
        x.reads_time |= f->var.at[inst_slots(f, law->def)[n]].kind == VAR_TIME;
    w->g->graph.opening[i] = x;
}

static image_graph *
make_graph(const maker *k)
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
        add_output(&w, i);
    for (size_t i = 0; i < to->nopenings; i++)
        add_opening(&w, k, i);
    if (to->ndependent)
        memcpy(to->dependent, k->c->dependent.at, to->ndependent * sizeof *to->dependent);
    formula_close(&g->book);
    return g;
}

void
image_graph_free(image_graph *g)
{
    if (!g)
        return;
    free(g->graph.element);
    free(g->graph.port);
    free(g->graph.bond);
    free(g->graph.junction);
    free(g->graph.incidence);
    free(g->graph.instance);
    free(g->graph.output);
    free(g->graph.opening);
    free(g->graph.dependent);
    formula_book_free(&g->book);
    vec_free(&g->ratio);
    arena_free(g->arena);
    free(g);
}

const image_graph *
image_graph_of(image *m, maker *k)
{
    image_graph *g = atomic_load(&m->graph);

    if (g)
        return g;
    maker_lock(k);
    g = atomic_load(&m->graph); /* another thread may have been first */
    if (!g)
        atomic_store(&m->graph, g = make_graph(k));
    maker_unlock(k);
    return g;
}

const model_graph *
model_graph_of(const bg_model *m)
{
    return &image_graph_of(m->image, m->maker)->graph;
}

size_t
model_output_find(const bg_model *m, const char *name)
{
    const model_graph *g = model_graph_of(m);

    for (size_t k = 0; k < g->noutputs; k++)
        if (!strcmp(g->output[k].name, name))
            return k;
    return SIZE_MAX;
}

double
model_ratio(bg_model *m, uint32_t k, const double *value)
{
    const image_graph *g = image_graph_of(m->image, m->maker);

    if (!m->ratio_room)
        m->ratio_room = bg_calloc(g->book.room + 1, sizeof *m->ratio_room);
    return formula_value(&g->book, g->ratio.at[k], value, m->ratio_room);
}

const char *
model_bond_label(arena *a, const struct model_bond *b)
{
    return b->name ? b->name : arena_format(a, "%s -> %s", b->from_label, b->to_label);
}

/* ---------------------------------------------------------------- who reads what */

typedef VEC(var_id) read_list;

static void
add_reads(const flat_model *f, inst i, read_list *list)
{
    for (uint32_t k = 0; inst_known(i) && k < i.n; k++)
        vec_push(list, inst_slots(f, i)[k]);
}

static model_reads *
make_reads(const flat_model *f)
{
    model_reads *r = bg_calloc(1, sizeof *r);
    size_t noutputs = f->output.n + f->experiment.record.n;
    read_list list = { 0 };

    r->of_element = bg_calloc(f->element.n + 1, sizeof *r->of_element);
    r->of_output = bg_calloc(noutputs + 1, sizeof *r->of_output);
    r->of_variable = bg_calloc(f->var.n + 1, sizeof *r->of_variable);
    for (size_t i = 0; i < f->element.n; i++) {
        r->of_element[i] = (uint32_t)list.n;
        for (uint32_t k = 0; k < f->element.at[i].nlaws; k++)
            add_reads(f, f->law.at[f->element.at[i].law0 + k].def, &list);
    }
    r->of_element[f->element.n] = (uint32_t)list.n;
    for (size_t i = 0; i < noutputs; i++) {
        r->of_output[i] = (uint32_t)list.n;
        add_reads(f, flat_output_at(f, i)->def, &list);
    }
    r->of_output[noutputs] = (uint32_t)list.n;
    for (size_t i = 0; i < f->var.n; i++) {
        const flat_var *v = &f->var.at[i];

        r->of_variable[i] = (uint32_t)list.n;
        if (v->kind == VAR_PARAM || v->kind == VAR_SIGNAL)
            add_reads(f, v->def, &list);
    }
    r->of_variable[f->var.n] = (uint32_t)list.n;
    r->read = list.at;
    return r;
}

void
image_reads_free(model_reads *r)
{
    if (!r)
        return;
    free(r->read);
    free(r->of_element);
    free(r->of_output);
    free(r->of_variable);
    free(r);
}

const model_reads *
model_reads_of(const bg_model *m)
{
    model_reads *r = atomic_load(&m->image->reads);

    if (r)
        return r;
    maker_lock(m->maker);
    r = atomic_load(&m->image->reads); /* another thread may have been first */
    if (!r)
        atomic_store(&m->image->reads, r = make_reads(m->maker->f));
    maker_unlock(m->maker);
    return r;
}

/* ---------------------------------------------------------------- states */

static struct model_state *
make_states(image *m, const maker *k)
{
    const flat_model *f = k->f;
    size_t n = m->nstates;
    struct model_state *table = bg_calloc(n + 1, sizeof *table);
    const unit **shown = bg_calloc(n + 1, sizeof *shown);
    var_id *var = bg_calloc(n + 1, sizeof *var);

    for (size_t i = 0; i < n; i++)
        var[i] = k->e->state.at[m->state_of[i]].var;
    units_written(f, var, n, shown);
    m->state_names = arena_new();
    for (size_t i = 0; i < n; i++) {
        const flat_var *v = &f->var.at[var[i]];

        table[i] = (struct model_state){ .name = arena_strdup(m->state_names, v->name),
                                         .at = v->at,
                                         .unit = v->unit,
                                         .display = v->display,
                                         .shown = shown[i],
                                         .var = var[i],
                                         .kind = v->kind,
                                         .port = v->kind == VAR_STORED ? v->owner : UINT32_MAX,
                                         .junction = v->kind == VAR_STORED   ? f->port.at[v->owner].junction
                                                     : v->kind == VAR_COMMON ? v->owner
                                                                             : UINT32_MAX,
                                         .only_outputs = k->e->state.at[m->state_of[i]].only_outputs,
                                         .stated = m->stated[i],
                                         .holds = v->holds };
    }
    free(shown);
    free(var);
    return table;
}

const struct model_state *
image_states(image *m, maker *k)
{
    struct model_state *table = atomic_load(&m->state);

    if (table)
        return table;
    maker_lock(k);
    table = atomic_load(&m->state); /* another thread may have been first */
    if (!table)
        atomic_store(&m->state, table = make_states(m, k));
    maker_unlock(k);
    return table;
}

struct model_state
model_state(const bg_model *m, size_t i)
{
    return image_states(m->image, m->maker)[i];
}

shown_text
model_state_shown(const bg_model *m, size_t i, double si)
{
    const struct model_state *s = &image_states(m->image, m->maker)[i];

    return value_shown(s->unit, s->shown, si);
}
