/* bonds.c - see bonds.h */
#include <math.h>
#include <string.h>

#include "bonds.h"
#include "operand.h"

struct finder {
    const compilation *c;
    const bond_measure *m;
    arena *a;
    map arrow; /* start of each arrow in the model's own chains -> 1 */
    map taken; /* interned names of parts -> 1 */
    bond_candidates *out;
};

/* ---------------------------------------------------------------- the text */

static void
take_name(struct finder *d, const char *name)
{
    map_set(&d->taken, map_ptr_key(name), 1);
}

/* Collects the names of parts, wherever they are declared. The parser limits nesting. */
static void
gather_names(struct finder *d, const ast_stmt *s)
{
    switch (s->kind) {
    case AST_STMT_CHAIN:
        for (int k = 0; k < s->nnodes; k++)
            if (ast_node_nparts(&ast_chain(s)[k]))
                take_name(d, ast_node_name(&ast_chain(s)[k]));
        if (s->named)
            take_name(d, ast_chain_bond(s).name);
        break;
    case AST_STMT_PORT:
        for (int k = 0; k < s->port.n; k++)
            if (ast_node_nparts(&s->port.junction[k]))
                take_name(d, ast_node_name(&s->port.junction[k]));
        break;
    case AST_STMT_FOR:
        for (int k = 0; k < s->loop.n; k++)
            gather_names(d, s->loop.body[k]);
        break;
    case AST_STMT_IF:
        for (int k = 0; k < s->cond.nthen; k++)
            gather_names(d, s->cond.then[k]);
        for (int k = 0; k < s->cond.nother; k++)
            gather_names(d, s->cond.other[k]);
        break;
    case AST_STMT_VALUE:
    case AST_STMT_WITHOUT:
    case AST_STMT_INITIAL:
    case AST_STMT_WHEN: break;
    }
}

static void
gather_text(struct finder *d)
{
    const ast_model *m = d->c->flat->ast;

    for (int i = 0; i < m->nstmt; i++) {
        const ast_stmt *s = m->stmt[i];

        gather_names(d, s);
        for (int k = 0; s->kind == AST_STMT_CHAIN && k + 1 < s->nnodes; k++)
            map_set(&d->arrow, ast_chain(s)[k + 1].arrow, 1);
    }
}

static bool
in_model(const struct finder *d, span arrow)
{
    return arrow.file == d->c->flat->ast->at.file && map_get(&d->arrow, arrow.begin) != MAP_NONE;
}

/* The part of the model's text that contains a junction: the junction itself, or the component whose port it is
 * (interned). NULL: the text does not write it once, under a name that an expression can read. */
static const char *
part_of(const struct finder *d, uint32_t j)
{
    const flat_model *f = d->c->flat;
    const flat_junction *x = &f->junction.at[j];
    const flat_origin *o = x->parent == NONE ? NULL : &f->origin.at[x->parent];

    if (x->implicit || x->thinned || strchr(x->name, '['))
        return NULL;
    return !o ? x->name : o->name && o->parent == NONE && x->port ? names_intern_z(d->c->names, o->name) : NULL;
}

/* A free name: "a_on_b", with a number appended where that is taken. */
static const char *
free_name(struct finder *d, const char *by, const char *on)
{
    names *n = d->c->names;
    char *plain = arena_format(d->a, "%s_on_%s", by, on);
    const char *name;

    for (char *dot = plain; (dot = strchr(dot, '.'));)
        *dot = '_';
    name = names_intern_z(n, plain);
    for (int k = 2; map_get(&d->taken, map_ptr_key(name)) != MAP_NONE; k++)
        name = names_intern_z(n, arena_format(d->a, "%s_%d", plain, k));
    take_name(d, name);
    return name;
}

/* ---------------------------------------------------------------- candidates */

static bond_candidate
candidate(void)
{
    return (bond_candidate){ .bond = NONE, .element = NONE, .ratio = { NAN, NAN } };
}

/* Sets the ratios; where nothing flows at one end, the other end alone decides. */
static void
set_ratios(const struct finder *d, bond_candidate *x, double tail, double head)
{
    double limit = d->m ? d->m->limit : 0;

    x->ratio[0] = tail;
    x->ratio[1] = head;
    x->negligible[0] = tail < limit || (isnan(tail) && head < limit);
    x->negligible[1] = head < limit || (isnan(head) && tail < limit);
}

static bool
is_strong(int8_t s)
{
    return s == ST_STRONG;
}

/* A source of the common variable of junction `by`, which replaces a bond to junction `on`. */
static rewrite_bond
one_way(struct finder *d, const flat_bond *b, const char *label, uint32_t by, uint32_t on, bool forward)
{
    const flat_model *f = d->c->flat;
    const char *driver = f->junction.at[by].name, *name = free_name(d, driver, f->junction.at[on].name);
    bool flow = f->junction.at[by].type == 1;

    return (rewrite_bond){ .arrow = b->at,
                           .label = label,
                           .source = name,
                           .driver = part_of(d, by),
                           .forward = forward,
                           .text = arena_format(d->a, "MS%c:%s = %s.%c", flow ? 'f' : 'e', name, driver,
                                                flow ? 'f' : 'e') };
}

static void
find_bond(struct finder *d, uint32_t i)
{
    const flat_model *f = d->c->flat;
    const flat_bond *b = &f->bond.at[i];
    bond_candidate x = candidate();

    if (!part_of(d, b->from) || !part_of(d, b->to) || !in_model(d, b->at))
        return;
    x.bond = i;
    x.at = b->at;
    x.from = f->junction.at[b->from].name;
    x.to = f->junction.at[b->to].name;
    x.name = b->name ? b->name : arena_format(d->a, "%s -> %s", x.from, x.to);
    if (d->m)
        set_ratios(d, &x, d->m->from[i], d->m->to[i]);
    x.may[BOND_DROP] = true;
    x.change[BOND_DROP] = (rewrite_bond){ .arrow = b->at, .label = x.name };
    x.may[BOND_FORWARD] = !is_strong(d->c->causal->bond_from[i]);
    x.may[BOND_BACKWARD] = !is_strong(d->c->causal->bond_to[i]);
    if (x.may[BOND_FORWARD])
        x.change[BOND_FORWARD] = one_way(d, b, x.name, b->from, b->to, true);
    if (x.may[BOND_BACKWARD])
        x.change[BOND_BACKWARD] = one_way(d, b, x.name, b->to, b->from, false);
    vec_push(d->out, x);
}

/* The source that replaces a two-port that becomes one-way, on the side of its out-port (forward) or its in-port. */
static bool
turn_one_way(struct finder *d, const flat_element *e, bool forward, rewrite_bond *out)
{
    const flat_model *f = d->c->flat;
    const flat_port *by = &f->port.at[e->port0 + (forward ? 0 : 1)];
    const flat_junction *j = &f->junction.at[by->junction];
    bool reads_flow = j->type == 1, gyrates = e->type == EL_GY, flow = reads_flow != gyrates;
    /* TF: e_in = n*e_out, f_out = n*f_in. GY: e_in = r*f_out, e_out = r*f_in. */
    bool times = gyrates ? reads_flow : forward ? reads_flow : !reads_flow;
    operand common, modulus, value;

    if (!part_of(d, by->junction) || !in_model(d, by->at) ||
        is_strong(d->c->causal->port[e->port0 + (forward ? 0 : 1)]) ||
        !operand_of(d->c->sources, e->node->own->linear, d->a, &modulus))
        return false;
    common = operand_name(arena_format(d->a, "%s.%c", j->name, reads_flow ? 'f' : 'e'));
    value = times ? operand_product(d->a, modulus, common) : operand_quotient(d->a, common, modulus);
    *out = (rewrite_bond){ .arrow = by->at,
                           .label = e->name,
                           .source = e->name,
                           .driver = part_of(d, by->junction),
                           .forward = forward,
                           .two_port = true,
                           .text = arena_format(d->a, "MS%c:%s = %s", flow ? 'f' : 'e', e->name, value.text) };
    return true;
}

/* Is it an element that the model's own text writes once? */
static bool
is_own_element(const struct finder *d, const flat_element *e)
{
    return e->node && e->parent == NONE && !e->thinned && !e->keep && !strchr(e->name, '[') && e->nports &&
           in_model(d, d->c->flat->port.at[e->port0].at);
}

static void
find_two_port(struct finder *d, uint32_t i)
{
    const flat_model *f = d->c->flat;
    const flat_element *e = &f->element.at[i];
    const flat_port *in = &f->port.at[e->port0], *to = in + 1;
    bond_candidate x = candidate();

    if (!is_own_element(d, e) || e->nports != 2 || !e->node->own->linear || !in_model(d, to->at))
        return;
    x.element = i;
    x.at = element_at(e);
    x.name = e->name;
    x.from = f->junction.at[in->junction].implicit ? NULL : f->junction.at[in->junction].name;
    x.to = f->junction.at[to->junction].implicit ? NULL : f->junction.at[to->junction].name;
    if (d->m)
        set_ratios(d, &x, d->m->port[e->port0], d->m->port[e->port0 + 1]);
    x.may[BOND_DROP] = true;
    x.may[BOND_FORWARD] = turn_one_way(d, e, true, &x.change[BOND_FORWARD]);
    x.may[BOND_BACKWARD] = turn_one_way(d, e, false, &x.change[BOND_BACKWARD]);
    vec_push(d->out, x);
}

/* An element with one port, or a field, whose greatest ratio over all ports counts. */
static void
find_element(struct finder *d, uint32_t i)
{
    const flat_model *f = d->c->flat;
    const flat_element *e = &f->element.at[i];
    bond_candidate x = candidate();
    double most = 0;

    if (!e->node || e->keep || e->nports == 0 || is_source(e))
        return;
    x.element = i;
    x.at = element_at(e);
    x.name = e->name;
    x.from = f->junction.at[f->port.at[e->port0].junction].implicit
                 ? NULL
                 : f->junction.at[f->port.at[e->port0].junction].name;
    for (uint32_t k = 0; k < e->nports && d->m; k++) {
        double r = d->m->port[e->port0 + k];

        most = isnan(r) ? INFINITY : fmax(most, r);
    }
    if (d->m)
        set_ratios(d, &x, most < INFINITY ? most : NAN, NAN);
    x.may[BOND_DROP] = true;
    vec_push(d->out, x);
}

void
bonds_find(const compilation *c, const bond_measure *m, arena *a, bond_candidates *out)
{
    struct finder d = { .c = c, .m = m, .a = a, .out = out };

    gather_text(&d);
    for (uint32_t i = 0; i < c->flat->bond.n; i++)
        find_bond(&d, i);
    for (uint32_t i = 0; i < c->flat->element.n; i++)
        if (is_two_port(&c->flat->element.at[i]))
            find_two_port(&d, i);
        else
            find_element(&d, i);
    map_free(&d.arrow);
    map_free(&d.taken);
}

/* ---------------------------------------------------------------- measures */

void
bond_measure_free(bond_measure *m)
{
    free(m->from);
    free(m->to);
    free(m->port);
    *m = (bond_measure){ 0 };
}

static void
take_junction(const model_graph *g, const junction_table *t, bond_measure *out)
{
    for (size_t i = 0; i < t->row.n; i++) {
        const junction_row *x = &t->row.at[i];

        if (x->is_bond) {
            out->from[x->index] = fmax(out->from[x->index], x->ratio_from);
            out->to[x->index] = fmax(out->to[x->index], x->ratio_to);
        } else {
            out->port[x->index] = fmax(out->port[x->index], g->port[x->index].sign > 0 ? x->ratio_from : x->ratio_to);
        }
    }
}

static void
take_relative(const relative *r, bond_measure *out)
{
    for (size_t i = 0; i < r->row.n; i++)
        for (size_t k = r->row.at[i].first; k < r->row.at[i].first + r->row.at[i].n; k++) {
            const relative_neighbour *x = &r->neighbour.at[k];
            double ratio = isnan(x->ratio9) || isnan(x->ratio10) ? INFINITY : fmax(x->ratio9, x->ratio10);
            double *at = x->is_bond ? &out->from[x->index] : &out->port[x->index];

            *at = fmax(*at, ratio);
            if (x->is_bond)
                out->to[x->index] = *at;
        }
}

/* Ports that are one bond of the text get the activity of that bond. */
static void
take_activity(const model_graph *g, const junction_table *t, bond_measure *out)
{
    uint32_t *leader = junction_port_leaders(g);

    for (size_t i = 0; i < t->row.n; i++) {
        const junction_row *x = &t->row.at[i];
        double *at = x->is_bond ? &out->from[x->index] : &out->port[x->index];

        *at = fmax(*at, x->activity);
        if (x->is_bond)
            out->to[x->index] = *at;
    }
    for (uint32_t p = 0; p < g->nports; p++)
        out->port[p] = out->port[leader[p]];
    free(leader);
}

/* The share of each together with everything less important. */
static void
take_reaper(const flat_model *f, const ranking *r, bond_measure *out)
{
    double total = 0, rest = 0;

    for (size_t i = r->row.n; i-- > 0;)
        total += r->row.at[i].source ? 0 : r->row.at[i].value;
    for (size_t i = r->row.n; i-- > 0 && total > 0;) {
        const metric_row *x = &r->row.at[i];

        if (x->source)
            continue;
        rest += x->value;
        if (x->element < f->port.n) {
            out->port[x->element] = fmax(out->port[x->element], rest / total);
        } else {
            double *from = &out->from[x->element - f->port.n], *to = &out->to[x->element - f->port.n];

            *from = *to = fmax(*from, rest / total);
        }
    }
}

static void
begin_measure(const flat_model *f, bond_measure *out)
{
    out->from = bg_calloc(f->bond.n + 1, sizeof(double));
    out->to = bg_calloc(f->bond.n + 1, sizeof(double));
    out->port = bg_calloc(f->port.n + 1, sizeof(double));
    for (size_t i = 0; i < f->bond.n; i++)
        out->from[i] = out->to[i] = NAN;
    for (size_t i = 0; i < f->port.n; i++)
        out->port[i] = NAN;
}

bool
bonds_measure(const flat_model *f, const recording *r, size_t n, enum metric metric, double limit, bond_measure *out)
{
    measure_options mo = { .metrics = METRIC(metric == METRIC_ACTIVITY ? METRIC_JUNCTION : metric) };
    bool fine = true;

    *out = (bond_measure){ .metric = metric, .limit = limit };
    begin_measure(f, out);
    for (size_t i = 0; i < n && fine; i++) {
        compile_options co = recording_options(&r[i]);
        compilation c = { 0 };
        sim_options so = { 0 };
        sim_result run = { 0 };
        measure *q = NULL;

        /* with sizes from an experiment the same text may make another graph */
        fine = compile_text(&c, r[i].path, r[i].text, r[i].length, STAGE_MODEL, &co) &&
               sim_options_from_experiment(c.model, &so) && c.flat->bond.n == f->bond.n && c.flat->port.n == f->port.n;
        if (fine && r[i].adjust)
            r[i].adjust(r[i].ctx, c.model, &so);
        fine = fine && (q = measure_new(c.model, &mo, &so)) && simulate(c.model, &so, &run);
        if (fine && (metric == METRIC_JUNCTION || metric == METRIC_ACTIVITY)) {
            junction_table t;

            measure_junction(q, &run, &t);
            (metric == METRIC_JUNCTION ? take_junction : take_activity)(model_graph_of(c.model), &t, out);
            junction_free(&t);
        } else if (fine && metric == METRIC_REAPER) {
            ranking k;

            fine = measure_ranking(q, &run, metric, &k);
            if (fine)
                take_reaper(f, &k, out);
            ranking_free(&k);
        } else if (fine) {
            take_relative(measure_relative(q), out);
        }
        measure_free(q);
        sim_options_free(&so);
        sim_result_free(&run);
        compile_free(&c);
    }
    return fine;
}

/* ---------------------------------------------------------------- readings */

static const char *
why_small(const bond_candidate *x, enum metric metric, arena *a)
{
    strbuf b = { 0 };
    const char *text;

    if (metric == METRIC_REAPER)
        return isnan(x->ratio[0]) ? NULL
                                  : arena_format(a, "together with all less important ones %.3g %% of the whole",
                                                 100 * fmax(x->ratio[0], isnan(x->ratio[1]) ? 0 : x->ratio[1]));
    if (metric == METRIC_RELATIVE)
        return isnan(x->ratio[0])
                   ? NULL
                   : arena_format(a, "%.3g %% of the energy through the storage beside it", 100 * x->ratio[0]);
    for (int k = 0; k < 2; k++) {
        const char *at = k ? x->to : x->from;

        if (isnan(x->ratio[k]))
            continue;
        strbuf_printf(&b, "%s%.3g %%%s", b.n ? ", " : "", 100 * x->ratio[k], b.n ? "" : " of the greatest");
        if (at)
            strbuf_printf(&b, " at %s", at);
    }
    text = b.n ? arena_strdup(a, b.at) : NULL;
    strbuf_free(&b);
    return text;
}

static struct reading
reading(const bond_candidate *x, enum bond_way way, const char *why)
{
    bool by_name = way == BOND_DROP && x->element != NONE;
    enum rewrite_kind kind = way != BOND_DROP ? REWRITE_CONDITION : by_name ? REWRITE_ELEMENT : REWRITE_DROP_BOND;

    return (struct reading){ .kind = kind, .why = why, .bond = by_name ? NULL : &x->change[way] };
}

static int
add_bond_reading(const bond_candidate *x, enum bond_way way, enum metric metric, arena *a,
                 struct reading out[READINGS_MOST], int n)
{
    const char *why = why_small(x, metric, a);

    if (!x->may[way])
        return n;
    if (way != BOND_DROP)
        why = why ? arena_format(a, "%s: %s", x->change[way].text, why) : x->change[way].text;
    out[n] = reading(x, way, why);
    return n + 1;
}

/* The way that drops the balance at the end with the smaller ratio comes first. */
static int
add_ways(const bond_candidate *x, enum metric metric, arena *a, struct reading out[READINGS_MOST], int n)
{
    bool backward_first = x->ratio[1] < x->ratio[0];

    n = add_bond_reading(x, backward_first ? BOND_BACKWARD : BOND_FORWARD, metric, a, out, n);
    return add_bond_reading(x, backward_first ? BOND_FORWARD : BOND_BACKWARD, metric, a, out, n);
}

int
bonds_readings(const bond_candidate *x, enum metric metric, arena *a, struct reading out[READINGS_MOST])
{
    bool tail = x->negligible[0], head = x->negligible[1];

    if (tail && head)
        return metric == METRIC_RELATIVE
                   ? add_bond_reading(x, BOND_DROP, metric, a, out, 0)
                   : add_ways(x, metric, a, out, add_bond_reading(x, BOND_DROP, metric, a, out, 0));
    if (metric != METRIC_JUNCTION)
        return 0;
    return tail   ? add_bond_reading(x, BOND_FORWARD, metric, a, out, 0)
           : head ? add_bond_reading(x, BOND_BACKWARD, metric, a, out, 0)
                  : 0;
}

int
bonds_all_readings(const bond_candidate *x, arena *a, struct reading out[READINGS_MOST])
{
    return add_ways(x, METRIC_JUNCTION, a, out, add_bond_reading(x, BOND_DROP, METRIC_JUNCTION, a, out, 0));
}

static double
least_ratio(const bond_candidate *x)
{
    double r = isnan(x->ratio[0]) ? x->ratio[1] : isnan(x->ratio[1]) ? x->ratio[0] : fmin(x->ratio[0], x->ratio[1]);

    return isnan(r) ? INFINITY : r;
}

struct ranked {
    double ratio;
    size_t at;
};

static int
by_ratio(const void *pa, const void *pb)
{
    const struct ranked *a = pa, *b = pb;

    if (a->ratio != b->ratio)
        return a->ratio < b->ratio ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

void
bonds_sort(bond_candidates *list)
{
    struct ranked *order = bg_calloc(list->n + 1, sizeof *order);
    bond_candidate *sorted = bg_calloc(list->n + 1, sizeof *sorted);

    for (size_t i = 0; i < list->n; i++)
        order[i] = (struct ranked){ least_ratio(&list->at[i]), i };
    qsort(order, list->n, sizeof *order, by_ratio);
    for (size_t i = 0; i < list->n; i++)
        sorted[i] = list->at[order[i].at];
    if (list->n)
        memcpy(list->at, sorted, list->n * sizeof *sorted);
    free(order);
    free(sorted);
}
