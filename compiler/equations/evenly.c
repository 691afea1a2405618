/* evenly.c - see evenly.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evenly.h"
#include "equations_inside.h"
#include "parameters.h"
#include "relays.h"
#include "views.h"

enum {
    PER_DECADE = 16, /* points at which a law is evaluated: powers of ten to both sides of zero, */
    DECADES = 13,    /* from 10^-DECADES on to 10^DECADES, in SI */
    LEAST_FLAT = 3   /* equal values one after the other: a piece without slope */
};
#define BACK 1e-9   /* of the greatest value: a law that goes back by no more rises or falls all along */
#define EQUAL 1e-12 /* relative: two ratios that differ by less are equal */

/* A resistor whose law gives `out` by `in`, seen from `in`. */
struct saturating {
    view as;
    uint32_t port;
    var_id in, out;
    bool solved;             /* the law defines `in`, */
    uint32_t group;          /* or determines it in this group; NONE: it defines `out` */
    uint32_t like;           /* the first equal law: itself, if there is none before */
    uint32_t next;           /* with the same hash */
    bool several, saturates; /* of the first: there are others; known if there are */
};

/* A variable that is a multiple of another one, or that one of it. */
struct relation {
    var_id v;
    double by;
};

struct evenly {
    equations *e;
    struct groups *g;
    VEC(struct saturating) law; /* those in groups first */
    view_variables others;
    map first;     /* hash of root and others -> law */
    double *value; /* [variables] of parameters and literals */
    /* by variable: its relations are relation[start[v]..start[v+1]]; it is `ratio` times the variable `base`, or not
     * yet reached (NONE) */
    uint32_t *start;
    struct relation *relation;
    var_id *base;
    double *ratio;
};

/* ---- laws ---- */

static struct saturating
law_of(const struct evenly *z, uint32_t port)
{
    const flat_port *p = &z->e->f->port.at[port];
    bool effort = port_law(z->e->f, port)->out == Q_EFFORT;
    var_id in = effort ? p->f : p->e, out = effort ? p->e : p->f;
    const eq_var *d = &z->e->var.at[in];
    bool is = d->kind == DEF_EXPLICIT;
    uint32_t group = is ? NONE : group_of(z->g, in);

    if (group != NONE && group_size(z->g, group) > 1)
        group = NONE;
    return (struct saturating){ .port = port,
                                .in = in,
                                .out = out,
                                .solved = is && d->by == DEF_BY_LAW && d->of == port,
                                .group = group };
}

/* ---- how a law goes ---- */

/* Does it rise, or fall, all along, and is it flat somewhere? By its values at many points, with what else it reads at
 * values of order 1. */
static bool
saturates(struct evenly *z, const struct saturating *law)
{
    pool *p = z->e->f->pool;
    const flat_model *f = z->e->f;
    double *slot = bg_malloc((law->as.n + 1) * sizeof *slot), before = NAN, up = 0, down = 0, most = 0;
    uint32_t equal = 0, flat = 0;

    relays_values(slot, law->as.n + 1, 1);
    for (uint32_t k = 0; k < law->as.n; k++) {
        var_id v = z->others.at[law->as.others0 + k];

        if (f->var.at[v].kind == VAR_PARAM)
            slot[k + 1] = z->value[v];
    }
    for (int i = -2 * DECADES * PER_DECADE - 1; i <= 2 * DECADES * PER_DECADE + 1; i++) {
        double size = pow(10, (double)(i < 0 ? -i : i) / PER_DECADE - DECADES), value;

        slot[0] = i < 0 ? -size : i > 0 ? size : 0;
        value = ex_eval(p, law->as.root, slot);
        if (!isfinite(value)) { /* an exponential far out */
            before = NAN;
            continue;
        }
        up = fmax(up, value - before);
        down = fmax(down, before - value);
        equal = value == before ? equal + 1 : 0;
        flat = equal > flat ? equal : flat;
        if (fabs(slot[0]) <= 1e3)
            most = fmax(most, fabs(value));
        before = value;
    }
    free(slot);
    return flat >= LEAST_FLAT && fmin(up, down) <= BACK * most;
}

static bool
is_parameter(const struct evenly *z, var_id v)
{
    return z->e->f->var.at[v].kind == VAR_PARAM;
}

/* Are they equal, but for parameters of their own? */
static bool
is_equal_law(const struct evenly *z, const struct saturating *a, const struct saturating *b)
{
    const var_id *x = z->others.at + a->as.others0, *y = z->others.at + b->as.others0;
    bool equal = a->as.root == b->as.root && a->as.n == b->as.n;

    for (uint32_t k = 0; k < a->as.n && equal; k++)
        equal = x[k] == y[k] || (is_parameter(z, x[k]) && is_parameter(z, y[k]));
    return equal;
}

/* And these have equal values? */
static bool
has_equal_values(const struct evenly *z, const struct saturating *a, const struct saturating *b)
{
    const var_id *x = z->others.at + a->as.others0, *y = z->others.at + b->as.others0;
    bool equal = true;

    for (uint32_t k = 0; k < a->as.n && equal; k++)
        equal = x[k] == y[k] || z->value[x[k]] == z->value[y[k]];
    return equal;
}

static bool
is_resistor(const flat_model *f, uint32_t port)
{
    const flat_element *el = &f->element.at[f->port.at[port].element];

    return el->type == EL_R && el->nports == 1 && port_law(f, port)->kind == LAW_ASSIGN;
}

static void
add_law(struct evenly *z, struct saturating law)
{
    uint64_t hash = law.as.root;
    uint32_t k;

    for (uint32_t i = 0; i < law.as.n; i++) {
        var_id v = z->others.at[law.as.others0 + i];

        hash = bg_hash_mix(hash, is_parameter(z, v) ? 0 : v);
    }
    k = law.next = map_get(&z->first, hash);

    while (k != MAP_NONE && !is_equal_law(z, &z->law.at[k], &law))
        k = z->law.at[k].next;
    law.like = k == MAP_NONE ? (uint32_t)z->law.n : k;
    if (k == MAP_NONE)
        map_set(&z->first, hash, law.like);
    else
        z->law.at[k].several = true;
    vec_push(&z->law, law);
}

/* Linear laws have no part without a slope, unless they have parts. */
static bool
is_straight(const struct evenly *z, const struct saturating *law)
{
    flat_model *f = z->e->f;
    inst def = port_law(f, law->port)->def;
    bool *own = bg_calloc(def.n + 1, sizeof *own), straight;

    for (uint32_t k = 0; k < def.n; k++)
        own[k] = inst_slots(f, def)[k] == law->in;
    straight = !equations_reads_mode(f, def) && ex_affine_in(f->pool, def.root, own, def.n);
    free(own);
    return straight;
}

/* Lists the laws that determine their argument, and those with the same template that define their output. */
static void
find_laws(struct evenly *z)
{
    const flat_model *f = z->e->f;
    map grouped = { 0 };

    for (int defines = 0; defines < 2; defines++)
        for (uint32_t port = 0; port < f->port.n; port++) {
            struct saturating law;

            if (!is_resistor(f, port) || (defines && map_get(&grouped, port_law(f, port)->def.root) == MAP_NONE))
                continue;
            law = law_of(z, port);
            if ((law.group == NONE && !law.solved) != (bool)defines || is_straight(z, &law))
                continue;
            law.as = view_from(z->e, port_law(f, port)->def, law.in, true, &z->others);
            if (law.as.root == NODE_NONE)
                continue;
            map_set(&grouped, port_law(f, port)->def.root, 1);
            add_law(z, law);
        }
    map_free(&grouped);
}

/* Finds which of the laws that others equal saturate. False: none does. */
static bool
examine_laws(struct evenly *z)
{
    bool any = false;

    for (size_t k = 0; k < z->law.n; k++) {
        struct saturating *law = &z->law.at[k];

        if (!law->several)
            continue;
        if (!z->value) {
            z->value = bg_calloc(z->e->f->var.n + 1, sizeof *z->value);
            parameter_values(z->e->f, z->value, NULL);
        }
        law->saturates = saturates(z, law);
        any |= law->saturates;
    }
    return any;
}

/* ---- multiples ---- */

/* Does it say that one variable is a multiple of another, with a factor of parameters? r is zero, or (of) defines that
 * variable. */
static bool
is_multiple(const struct evenly *z, inst r, var_id of, var_id v[2], double factor[2])
{
    flat_model *f = z->e->f;
    uint32_t n = 0;
    double *slot = bg_calloc(2 * (size_t)r.n + 2, sizeof *slot), *by = slot + r.n + 1;
    bool *flag = bg_calloc(r.n + 1, sizeof *flag), is = true;

    if (of != VAR_NONE) {
        v[n] = of;
        factor[n++] = -1;
    }
    for (uint32_t k = 0; k < r.n && is; k++) {
        var_id u = inst_slots(f, r)[k];
        enum var_kind kind = f->var.at[u].kind;

        flag[k] = kind != VAR_PARAM && kind != VAR_LITERAL;
        slot[k] = flag[k] ? 0 : z->value[u];
        is = !flag[k] || n < 2;
        if (is && flag[k])
            v[n++] = u;
    }
    is = is && n == 2 && view_is_combination(f->pool, r.root, flag, slot, r.n, by);
    for (uint32_t k = 0; k < r.n && is; k++)
        if (flag[k])
            factor[inst_slots(f, r)[k] == v[0] ? 0 : 1] = by[k];
    free(slot);
    free(flag);
    return is;
}

typedef void relation_found(struct evenly *z, var_id u, struct relation r);

static void
each_relation(struct evenly *z, relation_found *found)
{
    equations *e = z->e;
    var_id v[2];
    double factor[2];

    for (var_id u = 0; u < e->var.n; u++)
        if (e->var.at[u].kind == DEF_EXPLICIT && is_multiple(z, e->var.at[u].def, u, v, factor)) {
            found(z, v[0], (struct relation){ v[1], -factor[0] / factor[1] });
            found(z, v[1], (struct relation){ v[0], -factor[1] / factor[0] });
        }
    for (uint32_t k = 0; k < z->g->group.n; k++)
        for (uint32_t i = 0; i < group_size(z->g, k); i++)
            if (is_multiple(z, group_residual(z->g, k, i), VAR_NONE, v, factor)) {
                found(z, v[0], (struct relation){ v[1], -factor[0] / factor[1] });
                found(z, v[1], (struct relation){ v[0], -factor[1] / factor[0] });
            }
}

static void
count_relation(struct evenly *z, var_id u, struct relation r)
{
    (void)r;
    z->start[u + 2]++;
}

static void
store_relation(struct evenly *z, var_id u, struct relation r)
{
    z->relation[z->start[u + 1]++] = r;
}

static void
find_relations(struct evenly *z)
{
    size_t n = z->e->var.n;

    z->start = bg_calloc(n + 3, sizeof *z->start);
    each_relation(z, count_relation);
    for (size_t v = 0; v < n + 1; v++)
        z->start[v + 1] += z->start[v];
    z->relation = bg_malloc((z->start[n + 1] + 1) * sizeof *z->relation);
    each_relation(z, store_relation);
    z->ratio = bg_calloc(n + 1, sizeof *z->ratio);
    z->base = bg_malloc((n + 1) * sizeof *z->base);
    memset(z->base, 0xff, (n + 1) * sizeof *z->base);
}

/* Finds the variables that are multiples of `from`, if it is not known to be one itself. */
static void
walk_multiples(struct evenly *z, var_id from)
{
    VEC(var_id) reached = { 0 };

    if (z->base[from] != NONE)
        return;
    z->base[from] = from;
    z->ratio[from] = 1;
    vec_push(&reached, from);
    for (size_t i = 0; i < reached.n; i++) {
        var_id u = reached.at[i];

        for (uint32_t k = z->start[u]; k < z->start[u + 1]; k++) {
            var_id v = z->relation[k].v;

            if (z->base[v] != NONE)
                continue;
            z->base[v] = from;
            z->ratio[v] = z->ratio[u] * z->relation[k].by;
            vec_push(&reached, v);
        }
    }
    vec_free(&reached);
}

/* ---- all of it ---- */

/* Expressions in the slots of which others follow one another. */
struct joint {
    equations *e;
    VEC(var_id) slot;
};

/* i over the slots of the joint. */
static node
join_inst(struct joint *j, inst i)
{
    VEC(node) with = { 0 };
    node root;

    for (uint32_t k = 0; k < i.n; k++) {
        vec_push(&with, ex_slot(j->e->f->pool, (uint32_t)j->slot.n));
        vec_push(&j->slot, inst_slots(j->e->f, i)[k]);
    }
    root = ex_substitute(j->e->f->pool, i.root, with.at, i.n);
    vec_free(&with);
    return root;
}

static node
join_var(struct joint *j, var_id v)
{
    vec_push(&j->slot, v);
    return ex_slot(j->e->f->pool, (uint32_t)j->slot.n - 1);
}

/* The law with the parameters of another one. */
static inst
with_parameters_of(struct evenly *z, const struct saturating *law, const struct saturating *other)
{
    flat_model *f = z->e->f;
    inst def = port_law(f, law->port)->def;
    VEC(var_id) slot = { 0 };

    for (uint32_t k = 0; k < def.n; k++)
        vec_push(&slot, inst_slots(f, def)[k]);
    for (uint32_t k = 0; k < def.n; k++)
        for (uint32_t i = 0; i < law->as.n; i++)
            if (z->others.at[law->as.others0 + i] == inst_slots(f, def)[k])
                slot.at[k] = z->others.at[other->as.others0 + i];
    def = flat_inst(f, def.root, slot.at, def.n);
    vec_free(&slot);
    return def;
}

/* That b takes as much as a as long as their parameters are equal, and else its own law. Where they are equal, it says
 * of small changes of parameters what the laws say, if they have a slope: of L(e, p) = L(e', p') the terms up to the
 * first order. */
static inst
equal_share(struct evenly *z, const struct saturating *a, const struct saturating *b)
{
    pool *p = z->e->f->pool;
    struct joint j = { .e = z->e };
    node difference = ex_sub(p, join_var(&j, b->in), join_var(&j, a->in)), same = NODE_NONE, zero = ex_const(p, 0),
         root;
    inst result;

    for (uint32_t k = 0; k < a->as.n; k++) {
        var_id x = z->others.at[a->as.others0 + k], y = z->others.at[b->as.others0 + k];
        node equal;

        if (x == y)
            continue;
        equal = ex_make(p, EX_EQ, join_var(&j, x), join_var(&j, y), NODE_NONE);
        same = same == NODE_NONE ? equal : ex_make(p, EX_AND, same, equal, NODE_NONE);
    }
    root = difference;
    if (same != NODE_NONE) {
        inst law = port_law(z->e->f, a->port)->def;
        uint32_t k = inst_slot_of(z->e->f, law, a->in);
        node slope = join_inst(
            &j, inst_part(z->e->composer, ex_derivative(p, law.root, k), inst_slots(z->e->f, law), law.n));
        node moved = ex_sub(p, join_inst(&j, with_parameters_of(z, a, b)), join_inst(&j, law));

        root = ex_add(p, difference,
                      ex_make(p, EX_SELECT, ex_make(p, EX_EQ, slope, zero, NODE_NONE), zero, ex_div(p, moved, slope)));
        root = ex_make(p, EX_SELECT, same, root,
                       join_inst(&j, equations_law_residual(z->e, port_law(z->e->f, b->port))));
    }
    result = inst_part(z->e->composer, root, j.slot.at, (uint32_t)j.slot.n);
    vec_free(&j.slot);
    return result;
}

/* Of equal laws with equal output one stays: one that defines its output, if there is one. */
static void
share_among_equals(struct evenly *z)
{
    map stays = { 0 }; /* hash of law and base -> law, chained by `next` */

    for (size_t k = z->law.n; k-- > 0;) {
        struct saturating *law = &z->law.at[k];
        uint64_t hash;
        uint32_t at;

        if (!z->law.at[law->like].saturates)
            continue;
        walk_multiples(z, law->out);
        hash = bg_hash_mix(law->like, z->base[law->out]);
        at = map_get(&stays, hash);
        while (at != MAP_NONE && !(has_equal_values(z, &z->law.at[at], law) &&
                                   fabs(z->ratio[z->law.at[at].out] / z->ratio[law->out] - 1) <= EQUAL))
            at = z->law.at[at].next;
        if (at == MAP_NONE) {
            law->next = map_get(&stays, hash);
            map_set(&stays, hash, (uint32_t)k);
        } else if (law->solved) {
            inst r = equal_share(z, &z->law.at[at], law);

            z->e->var.at[law->in].kind = DEF_NONE;
            z->e->defining = (defined){ DEF_BY_LAW, law->port };
            group_add(z->g, group_new(z->g), law->in, r);
        } else if (law->group != NONE) {
            inst r = equal_share(z, &z->law.at[at], law);

            group_set_residual(z->g, law->group, 0, r);
        }
    }
    map_free(&stays);
}

void
evenly_share(equations *e, struct groups *g)
{
    struct evenly z = { .e = e, .g = g };

    find_laws(&z);
    if (examine_laws(&z)) {
        find_relations(&z);
        share_among_equals(&z);
    }
    vec_free(&z.law);
    vec_free(&z.others);
    map_free(&z.first);
    free(z.value);
    free(z.start);
    free(z.relation);
    free(z.base);
    free(z.ratio);
}
