/* metrics.c - see metrics.h */
#include "metrics.h"

#include <math.h>
#include <string.h>

#include "kl.h"
#include "quartic.h"

#include <cblas.h>

static const struct {
    const char *name, *unit;
} metrics[METRIC_COUNT] = { [METRIC_ACTIVITY] = { "activity", "J" },
                            [METRIC_RMS] = { "rms", "W" },
                            [METRIC_KL] = { "kl", "1" },
                            [METRIC_KL_NORMALISED] = { "kl-normalised", "1" },
                            [METRIC_REAPER] = { "reaper", "1" },
                            [METRIC_RELATIVE] = { "relative-energy", "J" },
                            [METRIC_JUNCTION] = { "junction", "J" } };

const char *
metric_name(enum metric m)
{
    return metrics[m].name;
}
const char *
metric_unit(enum metric m)
{
    return metrics[m].unit;
}

bool
metric_find(const char *name, enum metric *m)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        if (!strcmp(name, metrics[i].name)) {
            *m = (enum metric)i;
            return true;
        }
    return false;
}

/* ---------------------------------------------------------------- rankings */

static int
by_importance(const void *pa, const void *pb)
{
    const metric_row *a = pa, *b = pb;

    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return a->element < b->element ? -1 : a->element > b->element;
}

/* Sorts the rows and computes total and shares; equal values are ordered by `element`. */
static void
finish_ranking(ranking *r)
{
    double sum = 0;

    if (r->row.n)
        qsort(r->row.at, r->row.n, sizeof *r->row.at, by_importance);
    for (size_t i = r->row.n; i-- > 0;) /* small ones first, for accuracy */
        r->total += r->row.at[i].value;
    for (size_t i = 0; i < r->row.n; i++) {
        metric_row *row = &r->row.at[i];

        sum += row->value;
        row->index = r->total > 0 ? row->value / r->total : 0;
        row->cumulative = r->total > 0 ? i + 1 == r->row.n ? 1 : fmin(sum / r->total, 1) : 0;
    }
}

static metric_row
metric_row_of(const model_graph *g, uint32_t i)
{
    const struct model_element *e = &g->element[i];

    return (metric_row){ .element = i,
                         .name = e->name,
                         .type = element_type_name(e->type),
                         .source = element_is_source(e->type),
                         .keep = e->keep };
}

void
ranking_make(const bg_model *of, const sim_result *r, enum metric m, ranking *out)
{
    const model_graph *g = model_graph_of(of);

    memset(out, 0, sizeof *out);
    out->metric = m;
    for (uint32_t i = 0; i < g->nelements; i++) {
        metric_row row = metric_row_of(g, i);

        if (element_is_two_port(g->element[i].type))
            continue;
        row.value = m == METRIC_ACTIVITY   ? r->activity[i]
                    : r->window_length > 0 ? sqrt(r->square[i] / r->window_length)
                                           : 0;
        vec_push(&out->row, row);
    }
    finish_ranking(out);
}

void
ranking_decide(ranking *r, double threshold)
{
    double total = 0, rest = 0;
    bool going = true;

    for (size_t i = r->row.n; i-- > 0;)
        total += r->row.at[i].source ? 0 : r->row.at[i].value;
    /* from the small end: what goes together must stay within the share that the threshold leaves */
    for (size_t i = r->row.n; i-- > 0;) {
        metric_row *row = &r->row.at[i];

        row->decision = DECISION_SOURCE;
        if (row->source)
            continue;
        rest += row->value;
        going = going && total > 0 && !(rest > (1 - threshold) * total);
        row->decision = !going ? DECISION_STAYS : row->keep ? DECISION_KEPT : DECISION_GOES;
    }
}

void
ranking_combine(const ranking *one, size_t n, ranking *out)
{
    map seen = { 0 };
    VEC(const metric_row *) found = { 0 };

    memset(out, 0, sizeof *out);
    out->metric = n ? one[0].metric : METRIC_ACTIVITY;
    out->nper = n;
    for (size_t e = 0; e < n; e++)
        for (size_t i = 0; i < one[e].row.n; i++) {
            const metric_row *x = &one[e].row.at[i];
            uint64_t key = bg_hash_bytes(x->name, strlen(x->name), bg_hash_bytes(x->type, strlen(x->type), 0));
            uint32_t at = map_get(&seen, key);
            metric_row *row;

            if (at == MAP_NONE) {
                at = (uint32_t)out->row.n;
                map_set(&seen, key, at);
                vec_push(&out->row, *x);
                out->row.at[at].value = 0;
                out->row.at[at].slot = at;
                for (size_t k = 0; k < n; k++)
                    vec_push(&found, NULL);
            }
            row = &out->row.at[at];
            row->value = fmax(row->value, x->index);
            row->keep |= x->keep;
            found.at[at * n + e] = x;
        }
    map_free(&seen);
    finish_ranking(out);
    for (size_t i = 0; i < out->row.n; i++)
        for (size_t k = 0; k < n; k++)
            vec_push(&out->per, found.at[out->row.at[i].slot * n + k]);
    vec_free(&found);
}

void
ranking_free(ranking *r)
{
    vec_free(&r->row);
    vec_free(&r->per);
}

/* ---------------------------------------------------------------- measuring a run */

/* What is ranked: the channel of an element or of a component. */
struct subject {
    metric_row row;
    size_t channel;
};

/* Rows of five values of a step are collected before they are multiplied. */
enum { GRAM_ROWS = 320 };

/* A bond that leads into a component (sign +1) or out of it. Numbers of bonds between junctions follow those of ports,
 * as in model.h. */
struct connector {
    size_t bond, group;
    int sign;
};

/* The powers of a Karhunen-Loeve expansion: integrals of products of two of them, or samples. */
struct expansion {
    size_t n;
    const size_t *channel;
    double *gram;                /* [n][n] integrals of products of powers, upper triangle of rows; NULL: samples */
    double *rows;                /* [GRAM_ROWS][n] rows not yet added to it */
    size_t nrows, samples, room; /* samples taken; capacity */
    double *sampled;             /* [n][room] */
};

struct measure {
    bg_model *model;
    measure_options o;
    size_t elements, groups, bonds;  /* numbers of channels, in this order; bonds: 0 unless asked for */
    VEC(struct connector) connector; /* for components with pseudo bonds */
    double *all_bonds;               /* work array: bond values, where no channels are made of them */
    bool *by_connectors;             /* [groups] */
    uint32_t *leader;
    size_t ports;    /* [ports] junction_port_leaders; only where bonds are asked for */
    uint32_t *group; /* [elements] NONE: in no component */
    VEC(struct subject) subject, connection;
    arena *arena; /* of names of connections */
    activity_extra extra;
    activity_sampler sampler[3];
    struct expansion of_subjects, of_connections;
    double product_root[5][5];
    relative relative;
};

/* Channels of components and bonds at one moment. */
static int
evaluate_extra(void *ctx, double t, const double *x, const double *power, double *value)
{
    measure *q = ctx;
    double *bond = value + q->groups;
    int status;

    memset(value, 0, q->groups * sizeof *value);
    for (size_t i = 0; q->groups && i < q->elements; i++)
        if (q->group[i] != NONE && !q->by_connectors[q->group[i]])
            value[q->group[i]] += power[i];
    if (!q->bonds && !q->connector.n)
        return 0;
    bond = q->bonds ? bond : q->all_bonds;
    status = model_bond_values(q->model, t, x, bond);
    for (size_t i = 0; i < q->connector.n; i++)
        value[q->connector.at[i].group] += q->connector.at[i].sign * bond[q->connector.at[i].bond];
    if (!q->bonds)
        return status;
    for (size_t p = 0; p < q->ports; p++)
        if (q->leader[p] != p) { /* one bond of the text */
            bond[q->leader[p]] += bond[p];
            bond[p] = 0;
        }
    return status;
}

static void
take_powers(void *ctx, const activity_sample *s)
{
    struct expansion *x = ctx;

    if (s->index >= x->room) {
        size_t room = x->room * 2;
        double *wider = bg_malloc((room * x->n + 1) * sizeof *wider);

        for (size_t i = 0; i < x->n; i++)
            memcpy(wider + i * room, x->sampled + i * x->room, x->room * sizeof *wider);
        free(x->sampled);
        x->sampled = wider;
        x->room = room;
    }
    for (size_t i = 0; i < x->n; i++)
        x->sampled[i * x->room + s->index] = s->value[x->channel[i]];
    x->samples = s->index + 1;
}

static void
flush_gram(struct expansion *x)
{
    int n = (int)x->n;

    if (x->nrows) /* gram += rows' rows */
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, n, (int)x->nrows, 1, x->rows, n, 1, x->gram, n);
    x->nrows = 0;
}

static void
multiply(struct expansion *x, double root, double product_root[5][5], const double *const value[5])
{
    if (!x->gram)
        return;
    for (int r = 0; r < 5; r++) {
        double *row = x->rows + x->nrows++ * x->n;

        for (size_t i = 0; i < x->n; i++) {
            size_t c = x->channel[i];

            row[i] = 0;
            for (int k = r; k < 5; k++)
                row[i] += root * product_root[r][k] * value[k][c];
        }
    }
    if (x->nrows + 5 > GRAM_ROWS)
        flush_gram(x);
}

/* Adds the integrals of products of powers over a piece of a step. */
static void
add_products(void *ctx, double h, const double *const value[5])
{
    measure *q = ctx;
    double root = sqrt(fmax(h, 0));

    multiply(&q->of_subjects, root, q->product_root, value);
    multiply(&q->of_connections, root, q->product_root, value);
}

static void
take_bonds(void *ctx, const activity_sample *s)
{
    measure *q = ctx;
    size_t from = q->elements + q->groups;

    relative_take(&q->relative, s->first, s->value + from, s->energy + from);
}

/* For each origin the outermost instance around it; NONE where there are only loops. An origin comes after the one that
 * contains it. */
static uint32_t *
outermost_instances(const model_graph *g)
{
    uint32_t *top = bg_malloc((g->ninstances + 1) * sizeof *top);

    for (uint32_t i = 0; i < g->ninstances; i++) {
        const struct model_instance *x = &g->instance[i];

        top[i] = x->parent == NONE ? NONE : top[x->parent];
        if (top[i] == NONE && x->name)
            top[i] = i;
    }
    return top;
}

static void
add_connector(measure *q, size_t bond, uint32_t group, int sign)
{
    if (group != NONE && q->by_connectors[group])
        vec_push(&q->connector, ((struct connector){ bond, group, sign }));
}

/* The group of the instance that contains a junction or element. */
static uint32_t
group_of_instance(const uint32_t *top, const uint32_t *group, uint32_t parent)
{
    return parent == NONE || top[parent] == NONE ? NONE : group[top[parent]];
}

/* Junctions conserve true power, so that the power of a component through its connectors is the sum over its elements.
 * For pseudo bonds that is not so (a thermal resistor passes on what it receives): there the connectors themselves are
 * summed. */
static void
find_connectors(measure *q, const uint32_t *top, const uint32_t *group)
{
    const model_graph *g = model_graph_of(q->model);
    bool any = false;

    q->by_connectors = bg_calloc(q->groups + 1, sizeof *q->by_connectors);
    for (uint32_t j = 0; j < g->njunctions; j++) {
        uint32_t in = group_of_instance(top, group, g->junction[j].instance);

        if (g->junction[j].pseudo && in != NONE)
            any = q->by_connectors[in] = true;
    }
    for (uint32_t p = 0; p < g->nports && any; p++) {
        uint32_t of = group_of_instance(top, group, g->element[g->port[p].element].instance);
        uint32_t at = group_of_instance(top, group, g->junction[g->port[p].junction].instance);

        if (of != at) {
            add_connector(q, p, of, 1);
            add_connector(q, p, at, -1);
        }
    }
    for (uint32_t b = 0; b < g->nbonds && any; b++) {
        uint32_t from = group_of_instance(top, group, g->junction[g->bond[b].from].instance),
                 to = group_of_instance(top, group, g->junction[g->bond[b].to].instance);

        if (from != to) {
            add_connector(q, g->nports + b, from, -1);
            add_connector(q, g->nports + b, to, 1);
        }
    }
    if (q->connector.n)
        q->all_bonds = bg_calloc(model_nbond_values(q->model) + 1, sizeof *q->all_bonds);
}

static void
find_subjects(measure *q)
{
    const model_graph *g = model_graph_of(q->model);
    uint32_t *top = outermost_instances(g), *group = bg_malloc((g->ninstances + 1) * sizeof *group);

    memset(group, 0xff, (g->ninstances + 1) * sizeof *group);
    q->group = bg_malloc((q->elements + 1) * sizeof *q->group);
    for (uint32_t i = 0; i < g->nelements; i++) {
        const struct model_element *e = &g->element[i];
        uint32_t instance = q->o.components && e->instance != NONE ? top[e->instance] : NONE;
        struct subject s = { metric_row_of(g, i), i };

        q->group[i] = NONE;
        if (instance != NONE) {
            const struct model_instance *x = &g->instance[instance];

            if (group[instance] == NONE) {
                group[instance] = (uint32_t)q->groups++;
                s.channel = q->elements + group[instance];
                s.row = (metric_row){ .element = i, .name = x->name, .type = x->type ? x->type : "component" };
                vec_push(&q->subject, s);
            }
            q->group[i] = group[instance];
        } else if (!element_is_two_port(e->type) && !(q->o.without_sources && element_is_source(e->type))) {
            vec_push(&q->subject, s);
        }
    }
    find_connectors(q, top, group);
    free(top);
    free(group);
}

/* The bonds of the text, in the order of bond values: of elements, then between junctions. */
static void
find_connections(measure *q)
{
    const model_graph *g = model_graph_of(q->model);

    q->arena = arena_new();
    for (uint32_t p = 0; p < g->nports; p++) {
        const struct model_port *x = &g->port[p];
        const struct model_element *e = &g->element[x->element];
        const char *at = x->at, *element = x->name;
        struct subject s = { .channel = q->elements + q->groups + p };

        if (q->leader[p] != p || (q->o.without_sources && element_is_source(e->type)))
            continue;
        s.row = metric_row_of(g, x->element);
        s.row.element = p;
        s.row.name = x->bond
                         ? x->bond
                         : arena_format(q->arena, "%s -> %s", x->sign > 0 ? at : element, x->sign > 0 ? element : at);
        vec_push(&q->connection, s);
    }
    for (uint32_t b = 0; b < g->nbonds; b++) {
        struct subject s = { .channel = q->elements + q->groups + g->nports + b };

        s.row = (metric_row){ .element = (uint32_t)g->nports + b,
                              .type = "bond",
                              .name = model_bond_label(q->arena, &g->bond[b]) };
        vec_push(&q->connection, s);
    }
}

/* Prepares an expansion of the powers in these channels: exact, unless there are too many or samples are asked for. */
static void
expand_over(measure *q, const struct subject *of, size_t n, struct expansion *x, size_t *nsamplers)
{
    size_t *channel = bg_malloc((n + 1) * sizeof *channel);

    for (size_t i = 0; i < n; i++)
        channel[i] = of[i].channel;
    *x = (struct expansion){ .n = n, .channel = channel };
    if (!q->o.samples && n <= KL_MOST_EXACT) {
        quartic_tables t;

        quartic_make_tables(&t);
        quartic_product_root(&t, q->product_root);
        x->gram = bg_calloc(n * n + 1, sizeof *x->gram);
        x->rows = bg_malloc((GRAM_ROWS * n + 1) * sizeof *x->rows);
        q->extra.step = add_products;
    } else {
        x->room = q->o.samples ? q->o.samples : KL_SAMPLES;
        q->sampler[(*nsamplers)++] = (activity_sampler){ x->room, take_powers, x };
        x->room += 8; /* windows round up */
        x->sampled = bg_malloc((x->room * n + 1) * sizeof *x->sampled);
    }
}

static void
expansion_free(struct expansion *x)
{
    free((void *)x->channel);
    free(x->sampled);
    free(x->gram);
    free(x->rows);
}

measure *
measure_new(bg_model *m, const measure_options *o, sim_options *run)
{
    measure *q = bg_calloc(1, sizeof *q);
    bool of_bonds = o->metrics & (METRIC(METRIC_RELATIVE) | METRIC(METRIC_JUNCTION) | METRIC(METRIC_REAPER));
    size_t n = 0;

    q->model = m;
    q->o = *o;
    q->elements = model_nelements(m);
    find_subjects(q);
    if ((of_bonds || q->connector.n) && !model_need(m, PART_BONDS)) {
        measure_free(q);
        return NULL;
    }
    if (of_bonds) {
        q->bonds = model_nbond_values(m);
        q->ports = model_graph_of(m)->nports;
        q->leader = junction_port_leaders(model_graph_of(m));
    }
    q->extra = (activity_extra){ q->groups + q->bonds, evaluate_extra, q, NULL };
    if (o->metrics & (METRIC(METRIC_KL) | METRIC(METRIC_KL_NORMALISED)))
        expand_over(q, q->subject.at, q->subject.n, &q->of_subjects, &n);
    if (o->metrics & METRIC(METRIC_REAPER)) {
        find_connections(q);
        expand_over(q, q->connection.at, q->connection.n, &q->of_connections, &n);
    }
    if (o->metrics & METRIC(METRIC_RELATIVE)) {
        relative_begin(m, &q->relative);
        q->sampler[n++] = (activity_sampler){ RELATIVE_SAMPLES, take_bonds, q };
    }
    run->activity = true;
    run->extra = q->extra.n || q->extra.step ? &q->extra : NULL;
    run->sampler = q->sampler;
    run->nsamplers = n;
    return q;
}

void
measure_free(measure *q)
{
    if (!q)
        return;
    relative_free(&q->relative);
    vec_free(&q->subject);
    free(q->group);
    free(q->leader);
    vec_free(&q->connector);
    free(q->all_bonds);
    free(q->by_connectors);
    expansion_free(&q->of_subjects);
    expansion_free(&q->of_connections);
    vec_free(&q->connection);
    if (q->arena)
        arena_free(q->arena);
    free(q);
}

static bool
expand_powers(struct expansion *x, bool normalised, double *importance)
{
    size_t n = x->n;
    double *s = bg_malloc(((x->gram ? n : x->samples) * n + 1) * sizeof *s);
    bool ok;

    if (x->gram) {
        flush_gram(x);
        memcpy(s, x->gram, n * n * sizeof *s);
        ok = kl_importance_exact(s, n, normalised, importance);
        free(s);
        return ok;
    }
    for (size_t i = 0; i < n; i++)
        memcpy(s + i * x->samples, x->sampled + i * x->room, x->samples * sizeof *s);
    ok = kl_importance(s, x->samples, n, normalised, importance);
    free(s);
    return ok;
}

/* The value of an integral metric from the run. */
static double
integral_of(const sim_result *r, enum metric m, size_t channel)
{
    return m != METRIC_RMS        ? r->activity[channel]
           : r->window_length > 0 ? sqrt(r->square[channel] / r->window_length)
                                  : 0;
}

bool
measure_ranking(measure *q, const sim_result *r, enum metric m, ranking *out)
{
    const struct subject *of = m == METRIC_REAPER ? q->connection.at : q->subject.at;
    size_t n = m == METRIC_REAPER ? q->connection.n : q->subject.n;
    double *importance = NULL;
    bool ok = true;

    memset(out, 0, sizeof *out);
    out->metric = m;
    if (metric_expands(m)) {
        importance = bg_calloc(n + 1, sizeof *importance);
        ok = expand_powers(m == METRIC_REAPER ? &q->of_connections : &q->of_subjects, m == METRIC_KL_NORMALISED,
                           importance);
    }
    for (size_t i = 0; ok && i < n; i++) {
        metric_row row = of[i].row;

        row.value = importance ? importance[i] : integral_of(r, m, of[i].channel);
        vec_push(&out->row, row);
    }
    free(importance);
    finish_ranking(out);
    return ok;
}

size_t
measure_samples(const measure *q, enum metric m)
{
    return m == METRIC_REAPER ? q->of_connections.samples : q->of_subjects.samples;
}

const relative *
measure_relative(measure *q)
{
    if (q->relative.track)
        relative_end(&q->relative);
    return &q->relative;
}

void
measure_junction(const measure *q, const sim_result *r, junction_table *out)
{
    junction_ratios(model_graph_of(q->model), r->activity + q->elements + q->groups, out);
}
