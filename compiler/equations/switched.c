/* switched.c - see switched.h */
#include <stdlib.h>
#include <string.h>

#include "loops.h"
#include "joined.h"
#include "straighten.h"
#include "rough.h"
#include "walks.h"
#include "switched.h"

struct net_maker {
    equations *e;
    struct groups *g;
    struct rates *r;
    VEC(var_id) held; /* in the order found; equations have them net by net */
    VEC(eq_row) row;  /* parallel */
    VEC(bool) curved; /* parallel: belongs to a nonlinear set */
    VEC(eq_watch) watch;
    uint32_t *up; /* union-find: held unknowns, then watches */
    /* of a walk */
    group_walk reads;
    VEC(uint32_t) reached; /* held unknowns */
    VEC(uint32_t) mode;
};

/* ---- dependences of an expansion ---- */

static void
walk_on(struct net_maker *m)
{
    equations *e = m->e;
    var_id v;

    while (group_walk_next(&m->reads, &v))
        if (e->var.at[v].kind == DEF_HELD)
            vec_push(&m->reached, e->var.at[v].index);
        else if (e->f->var.at[v].kind == VAR_MODE && e->mode.at[e->f->var.at[v].owner].kind != MODE_GIVEN)
            vec_push(&m->mode, e->f->var.at[v].owner);
        else
            group_walk_enter(&m->reads, v);
}

static void
start_walk(struct net_maker *m)
{
    group_walk_begin(&m->reads, m->e, m->g);
    m->reached.n = m->mode.n = 0;
}

static void
walk_expansion(struct net_maker *m, const eq_expansion *x, int order)
{
    for (int k = 0; k <= order; k++)
        if (x->d[k] != VAR_NONE)
            group_walk_read(&m->reads, inst_var(m->e->f, x->d[k]));
    walk_on(m);
}

/* ---- expansions ---- */

static eq_expansion
expand_in_time(struct net_maker *m, inst i, const char *name, span at, uint32_t position)
{
    eq_expansion x = { { eq_new_var(m->e, VAR_AUX, NONE, name, at, position), VAR_NONE, VAR_NONE } };

    eq_define(m->e, x.d[0], i);
    for (int k = 0; k < 2 && x.d[k] != VAR_NONE; k++) {
        x.d[k + 1] = rate_of(m->r, x.d[k]);
        define_rates(m->r);
    }
    return x;
}

/* The storage port with a state whose law gives v, alone but for moduli on the way; *ratio: v by what that law gives.
 * NONE: v follows from more than one law. */
static uint32_t
giver_of(equations *e, var_id v, inst *ratio)
{
    flat_model *f = e->f;
    inst all = inst_var(f, v);

    for (;;) {
        const eq_var *d = &e->var.at[v];
        VEC(inst) inner = { 0 };
        uint32_t from = NONE;

        if (d->kind != DEF_EXPLICIT)
            return NONE;
        if (d->by == DEF_BY_LAW) {
            *ratio = inst_part(e->composer, ex_derivative(f->pool, all.root, inst_slot_of(f, all, v)),
                               inst_slots(f, all), all.n);
            return f->port.at[d->of].stored != VAR_NONE && e->var.at[f->port.at[d->of].stored].kind == DEF_STATE ? d->of
                                                                                                                 : NONE;
        }
        for (uint32_t k = 0; k < d->def.n; k++) {
            enum var_kind kind = f->var.at[inst_slots(f, d->def)[k]].kind;

            if (kind != VAR_PARAM && kind != VAR_LITERAL)
                from = from == NONE ? k : d->def.n;
        }
        if (from >= d->def.n || (d->by != DEF_BY_BOND && d->by != DEF_BY_TWO_PORT && d->by != DEF_BY_BALANCE))
            return NONE;
        for (uint32_t k = 0; k < all.n; k++)
            vec_push(&inner, inst_slots(f, all)[k] == v ? d->def : INST_NONE);
        v = inst_slots(f, d->def)[from];
        all = inst_compose(e->composer, all, inner.at);
        vec_free(&inner);
    }
}

/* The slope of a storage port's law by what it stores. */
static inst
storage_slope(equations *e, uint32_t port)
{
    flat_model *f = e->f;
    inst law = port_law(f, port)->def;
    uint32_t k = inst_slot_of(f, law, f->port.at[port].stored);

    return inst_part(e->composer, ex_derivative(f->pool, law.root, k), inst_slots(f, law), law.n);
}

/* While the laws of a loose storage port and of the one that gives its effort (C) or flow (I) are both flat, no share
 * of what they take contradicts them: then both take the same power, which is added to the first derivative of the
 * condition. */
static void
share_evenly_while_flat(struct net_maker *m, eq_expansion *x, uint32_t port)
{
    equations *e = m->e;
    flat_model *f = e->f;
    pool *p = f->pool;
    bool momentum = port_has_momentum(f, port);
    const flat_port *own = &f->port.at[port];
    inst inner[6], ratio;
    uint32_t other = giver_of(e, momentum ? own->f : own->e, &ratio);
    var_id takes = momentum ? own->e : own->f, rate = x->d[1];
    node zero = ex_const(p, 0), took, root;

    if (other == NONE || rate == VAR_NONE)
        return;
    took = ex_mul(p, ex_slot(p, 5), ex_slot(p, 2));
    root = own->sign == f->port.at[other].sign ? ex_sub(p, took, ex_slot(p, 3)) : ex_add(p, took, ex_slot(p, 3));
    root = ex_make(p, EX_SELECT, ex_make(p, EX_EQ, ex_slot(p, 1), zero, NODE_NONE), root, zero);
    root = ex_make(p, EX_SELECT, ex_make(p, EX_EQ, ex_slot(p, 0), zero, NODE_NONE), root, zero);
    inner[0] = storage_slope(e, port);
    inner[1] = storage_slope(e, other);
    inner[2] = inst_var(f, takes);
    inner[3] = inst_var(f, e->state.at[e->var.at[f->port.at[other].stored].index].rate);
    inner[4] = inst_var(f, rate);
    inner[5] = ratio;
    x->d[1] = eq_new_var(e, VAR_AUX, NONE, var_name(f, rate), var_at(f, rate), f->var.at[rate].position);
    eq_define(e, x->d[1],
              inst_compose(e->composer, flat_inst(f, ex_add(p, ex_slot(p, 4), root), (var_id[6]){ 0 }, 6), inner));
    x->d[2] = rate_of(m->r, x->d[1]);
    define_rates(m->r);
}

/* ---- nets ---- */

/* Is an equation of a set linear in the variables of the set? */
static bool
is_linear(const struct net_maker *m, const struct loops *found, inst i, uint32_t set)
{
    const equations *e = m->e;
    bool *own = bg_calloc(i.n + 1, sizeof *own), linear;

    for (uint32_t k = 0; k < i.n; k++) {
        var_id v = e->f->slot.at[i.first + k];
        uint32_t group = e->var.at[v].kind == DEF_EXPLICIT ? NONE : group_of(m->g, v);

        own[k] = (e->var.at[v].kind == DEF_EXPLICIT || group != NONE) &&
                 found->set[group == NONE ? v : (uint32_t)e->var.n + group] == set;
    }
    linear = ex_affine_in(e->f->pool, i.root, own, i.n);
    free(own);
    return linear;
}

/* linear[set]: all of its equations are linear in its variables, for the present conditions. */
static void
find_linear_sets(const struct net_maker *m, const struct loops *found, bool *linear)
{
    const equations *e = m->e;

    memset(linear, true, found->nsets);
    for (var_id v = 0; v < e->var.n; v++)
        if (e->var.at[v].kind == DEF_EXPLICIT && found->loop[v] && linear[found->set[v]])
            linear[found->set[v]] = is_linear(m, found, e->var.at[v].def, found->set[v]);
    for (uint32_t k = 0; k < m->g->group.n; k++) {
        uint32_t set = found->set[e->var.n + k];

        for (uint32_t i = 0; i < group_size(m->g, k) && linear[set]; i++)
            linear[set] = is_linear(m, found, group_residual(m->g, k, i), set);
    }
}

/* A valve whose pieces are not linear, and that nothing else depends on through equations, so that a state drives it:
 * its pieces are solved for what it gives, which makes it linear. */
static void
solve_pieces(struct net_maker *m, const struct loops *found, uint32_t group)
{
    equations *e = m->e;
    uint32_t node_of = (uint32_t)e->var.n + group;
    inst law = group_size(m->g, group) == 1 ? group_residual(m->g, group, 0) : INST_NONE;
    uint32_t k = inst_known(law) ? inst_slot_of(e->f, law, group_unknown(m->g, group, 0)) : NONE;
    node written = k == NONE || found->loop[node_of] || is_linear(m, found, law, found->set[node_of])
                       ? NODE_NONE
                       : straighten_pieces(e->f->pool, law.root, k);

    if (written != NODE_NONE)
        group_set_residual(m->g, group, 0, (inst){ written, law.first, law.n });
}

/* In the definitions of a nonlinear set, functions that overflow or are undefined get unknowns of their own (rough.h).
 * member: of the set (loops.h). New unknowns are added to one of its groups. */
static void
smooth_set(struct net_maker *m, const uint32_t *member, size_t n, uint32_t nvars)
{
    equations *e = m->e;
    VEC(var_id) among = { 0 };
    size_t u0 = e->unknown.n, r0 = e->residual.n;
    struct group *q = NULL;
    unfolding *z;

    for (size_t i = 0; i < n; i++) {
        if (member[i] < nvars) {
            vec_push(&among, member[i]);
            continue;
        }
        q = &m->g->group.at[member[i] - nvars];
        for (size_t k = 0; k < q->unknown.n; k++)
            vec_push(&among, q->unknown.at[k]);
    }
    z = rough_among(e, among.at, among.n);
    for (size_t i = 0; i < n; i++) {
        struct group *own = member[i] < nvars ? NULL : &m->g->group.at[member[i] - nvars];

        if (!own) {
            inst d = rough_reuse(z, e->var.at[member[i]].def);

            e->var.at[member[i]].def = d;
        }
        for (size_t k = 0; own && k < own->residual.n; k++) {
            inst d = rough_reuse(z, own->residual.at[k]);

            own->residual.at[k] = d;
        }
    }
    for (size_t i = u0; q && i < e->unknown.n; i++) {
        vec_push(&q->unknown, e->unknown.at[i]);
        vec_push(&q->residual, e->residual.at[r0 + i - u0]);
    }
    e->unknown.n = u0;
    e->residual.n = r0;
    rough_free(z);
    vec_free(&among);
}

/* The same for all flagged sets. */
static void
smooth_sets(struct net_maker *m, const struct loops *found, const bool *flag, uint32_t nvars, uint32_t ngroups)
{
    VEC(uint32_t) of = { 0 };
    uint32_t *next = bg_malloc((nvars + ngroups + 1) * sizeof *next),
             *first = bg_malloc((found->nsets + 1) * sizeof *first);

    memset(first, 0xff, found->nsets * sizeof *first);
    for (uint32_t i = nvars + ngroups; i-- > 0;)
        if (flag[found->set[i]] &&
            (i < nvars ? m->e->var.at[i].kind == DEF_EXPLICIT && found->loop[i] : group_size(m->g, i - nvars) > 0)) {
            next[i] = first[found->set[i]];
            first[found->set[i]] = i;
        }
    for (uint32_t set = 0; set < found->nsets; set++) {
        of.n = 0;
        for (uint32_t i = first[set]; i != NONE; i = next[i])
            vec_push(&of, i);
        if (of.n)
            smooth_set(m, of.at, of.n, nvars);
    }
    vec_free(&of);
    free(next);
    free(first);
}

static void
take_groups(struct net_maker *m, const switch_group *group, size_t n)
{
    struct loops found;
    equations *e = m->e;
    uint32_t nvars = (uint32_t)e->var.n, ngroups = (uint32_t)m->g->group.n;
    bool *taken, *linear, *curved;
    const switch_group none = { NONE, SPAN_NONE, false, NONE };
    switch_group *of = bg_malloc((ngroups + 1) * sizeof *of);
    VEC(inst) residual = { 0 };
    VEC(switch_group) by = { 0 };

    loops_find(e, m->g, NULL, NULL, &found);
    taken = bg_calloc(3 * (size_t)found.nsets + 3, sizeof *taken);
    linear = taken + found.nsets + 1;
    curved = linear + found.nsets + 1;
    for (size_t i = 0; i < n; i++)
        if (group[i].valve)
            solve_pieces(m, &found, group[i].group);
    find_linear_sets(m, &found, linear);
    for (uint32_t k = 0; k < ngroups; k++)
        of[k] = none;
    for (size_t i = 0; i < n; i++) {
        uint32_t set = found.set[nvars + group[i].group];

        taken[set] |= !group[i].valve || linear[set];
        of[group[i].group] = group[i];
    }
    for (uint32_t set = 0; set < found.nsets; set++)
        curved[set] = taken[set] && !linear[set];
    smooth_sets(m, &found, curved, nvars, ngroups);
    for (uint32_t k = 0; k < ngroups; k++) {
        struct group *q = &m->g->group.at[k];

        if (!q->unknown.n || !taken[found.set[nvars + k]])
            continue;
        for (size_t i = 0; i < q->unknown.n; i++) {
            e->var.at[q->unknown.at[i]].kind = DEF_HELD;
            e->var.at[q->unknown.at[i]].index = (uint32_t)m->held.n;
            vec_push(&m->held, q->unknown.at[i]);
            vec_push(&m->curved, !linear[found.set[nvars + k]]);
            vec_push(&residual, q->residual.at[i]);
            vec_push(&by, of[k]);
        }
        q->unknown.n = q->residual.n = 0;
    }
    free(taken);
    loops_free(&found);
    for (size_t i = 0; i < residual.n; i++) {
        const flat_var *v = &e->f->var.at[m->held.at[i]];
        eq_row x = { expand_in_time(m, residual.at[i], var_name(e->f, m->held.at[i]), var_at(e->f, m->held.at[i]),
                                    v->position),
                     by.at[i].at };

        if (by.at[i].loose != NONE)
            share_evenly_while_flat(m, &x.r, by.at[i].loose);
        vec_push(&m->row, x);
    }
    free(of);
    vec_free(&residual);
    vec_free(&by);
}

static void
find_watches(struct net_maker *m)
{
    equations *e = m->e;
    VEC(uint32_t) modes = { 0 };
    bool *seen = bg_calloc(e->mode.n + 1, sizeof *seen);

    for (size_t i = 0; i < m->row.n; i++) {
        start_walk(m);
        walk_expansion(m, &m->row.at[i].r, 0);
        for (size_t k = 0; k < m->mode.n; k++)
            if (!seen[m->mode.at[k]]) {
                seen[m->mode.at[k]] = true;
                vec_push(&modes, m->mode.at[k]);
            }
    }
    for (size_t k = 0; k < modes.n; k++) {
        const eq_mode *q = &e->mode.at[modes.at[k]];

        if (q->kind == MODE_LESS || q->kind == MODE_LESS_EQUAL) {
            uint32_t mode = modes.at[k], position = q->g.n ? e->f->var.at[e->f->slot.at[q->g.first]].position : 0;
            eq_watch w = { mode, expand_in_time(m, q->g, var_name(e->f, q->var), var_at(e->f, q->var), position) };

            /* depends on time alone: does not belong to the net */
            start_walk(m);
            walk_expansion(m, &w.g, 2);
            if (m->reached.n)
                vec_push(&m->watch, w);
        }
    }
    free(seen);
    vec_free(&modes);
}

/* Joins the held unknowns that an expansion reads. */
static void
join_held(struct net_maker *m, const eq_expansion *x, uint32_t with)
{
    start_walk(m);
    walk_expansion(m, x, 2);
    for (size_t i = 0; i < m->reached.n; i++)
        m->up[joined_first(m->up, m->reached.at[i])] = joined_first(m->up, with);
}

/* Joins a watch with the nets whose conditions read its mode. */
static void
join_modes(struct net_maker *m)
{
    uint32_t nheld = (uint32_t)m->held.n;
    map watch_of = { 0 };

    for (uint32_t w = 0; w < m->watch.n; w++)
        map_set(&watch_of, m->watch.at[w].mode, nheld + w);
    for (uint32_t i = 0; i < nheld; i++) {
        start_walk(m);
        walk_expansion(m, &m->row.at[i].r, 0);
        for (size_t k = 0; k < m->mode.n; k++) {
            uint32_t w = map_get(&watch_of, m->mode.at[k]);

            if (w != MAP_NONE)
                m->up[joined_first(m->up, w)] = joined_first(m->up, i);
        }
    }
    map_free(&watch_of);
}

static void
list_modes(struct net_maker *m, eq_net *net)
{
    equations *e = m->e;

    start_walk(m);
    for (uint32_t i = net->held0; i < net->held0 + net->n; i++)
        walk_expansion(m, &e->row.at[i].r, 2);
    for (uint32_t i = net->watch0; i < net->watch0 + net->nwatch; i++)
        walk_expansion(m, &e->watch.at[i].g, 2);
    net->mode0 = (uint32_t)e->net_mode.n;
    for (size_t k = 0; k < m->mode.n; k++)
        vec_push(&e->net_mode, m->mode.at[k]);
    net->nmodes = (uint32_t)e->net_mode.n - net->mode0;
}

/* Sorts held unknowns, rows and watches by net. */
static void
gather_nets(struct net_maker *m)
{
    equations *e = m->e;
    uint32_t nheld = (uint32_t)m->held.n, all = nheld + (uint32_t)m->watch.n, *net = bg_malloc((all + 1) * sizeof *net);
    VEC(uint32_t) start = { 0 }, member = { 0 };

    memset(net, 0xff, (all + 1) * sizeof *net);
    for (uint32_t i = 0; i < nheld; i++) {
        uint32_t root = joined_first(m->up, i);

        if (net[root] == NONE) {
            net[root] = (uint32_t)e->net.n;
            vec_push(&e->net, ((eq_net){ .at = var_at(e->f, m->held.at[i]) }));
        }
    }
    /* members of each net, by counting */
    vec_resize(&start, e->net.n + 1);
    vec_resize(&member, all);
    for (uint32_t i = 0; i < all; i++)
        start.at[net[joined_first(m->up, i)] + 1]++;
    for (size_t k = 0; k < e->net.n; k++)
        start.at[k + 1] += start.at[k];
    for (uint32_t i = 0; i < all; i++)
        member.at[start.at[net[joined_first(m->up, i)]]++] = i;
    for (size_t k = 0, i = 0; k < e->net.n; k++) {
        eq_net *q = &e->net.at[k];

        q->held0 = (uint32_t)e->held.n;
        q->watch0 = (uint32_t)e->watch.n;
        for (; i < start.at[k]; i++) {
            uint32_t x = member.at[i];

            if (x >= nheld) {
                vec_push(&e->watch, m->watch.at[x - nheld]);
            } else {
                e->var.at[m->held.at[x]].index = (uint32_t)e->held.n;
                vec_push(&e->held, m->held.at[x]);
                vec_push(&e->row, m->row.at[x]);
                q->curved |= m->curved.at[x];
            }
        }
        q->n = (uint32_t)e->held.n - q->held0;
        q->nwatch = (uint32_t)e->watch.n - q->watch0;
    }
    for (size_t k = 0; k < e->net.n; k++)
        list_modes(m, &e->net.at[k]);
    vec_free(&start);
    vec_free(&member);
    free(net);
}

void
switched_define(equations *e, struct groups *g, struct rates *r, const switch_group *group, size_t n)
{
    struct net_maker m = { .e = e, .g = g, .r = r };
    bool spare = r->spare;

    if (!n)
        return;
    r->spare = true;
    take_groups(&m, group, n);
    find_watches(&m);
    m.up = bg_malloc((m.held.n + m.watch.n + 1) * sizeof *m.up);
    for (uint32_t i = 0; i < m.held.n + m.watch.n; i++)
        m.up[i] = i;
    join_modes(&m);
    for (uint32_t i = 0; i < m.held.n; i++)
        join_held(&m, &m.row.at[i].r, i);
    for (uint32_t i = 0; i < m.watch.n; i++)
        join_held(&m, &m.watch.at[i].g, (uint32_t)m.held.n + i);
    gather_nets(&m);
    r->spare = spare;
    free(m.up);
    vec_free(&m.held);
    vec_free(&m.row);
    vec_free(&m.curved);
    vec_free(&m.watch);
    group_walk_free(&m.reads);
    vec_free(&m.reached);
    vec_free(&m.mode);
}
