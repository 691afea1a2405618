/* equations.c - from the causal graph to definitions (see equations.h) */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "blocks.h"
#include "constraints.h"
#include "equations.h"
#include "freeze.h"
#include "jumps.h"
#include "mode.h"
#include "parameters.h"
#include "stick.h"
#include "switched.h"
#include "rates.h"
#include "rest.h"

enum { SUM_TERMS = 16 }; /* longer balances become trees of sums, so that templates stay small */

/* ---------------------------------------------------------------- preparing */

bool
inst_is_parameter(const flat_model *f, inst i)
{
    for (uint32_t k = 0; k < i.n; k++) {
        enum var_kind kind = f->var.at[f->slot.at[i.first + k]].kind;

        if (kind != VAR_PARAM && kind != VAR_LITERAL)
            return false;
    }
    return true;
}

/* Does a condition choose between alternatives? */
static bool
reads_mode(const flat_model *f, inst i)
{
    for (uint32_t k = 0; k < i.n; k++)
        if (f->var.at[f->slot.at[i.first + k]].kind == VAR_MODE)
            return true;
    return false;
}

/* A number that the runtime gives, as a mode. */
static void
give(equations *e, var_id v, span at)
{
    inst zero = inst_const(e->f, 0);

    e->f->var.at[v].owner = (uint32_t)e->mode.n;
    vec_push(
        &e->mode,
        ((eq_mode){ .var = v, .kind = MODE_GIVEN, .g = zero, .known = true, .slope = zero, .offset = zero, .at = at }));
}

/* What is delayed stands as what its mode watches: who asks what a delayed value depends on finds it there. */
static void
freeze_delay(equations *e, freezer *z, flat_delay *d)
{
    d->of = freeze(z, d->of, false, d->at);
    e->mode.at[e->f->var.at[d->var].owner].g = d->of;
}

/* The values of samples are taken at instants: nothing in them needs to be watched. */
static void
freeze_whens(freezer *z, flat_model *f)
{
    for (size_t i = 0; i < f->when.n; i++) {
        flat_when *w = &f->when.at[i];

        w->condition = freeze(z, w->condition, false, w->at);
        for (size_t r = w->reinit0; r < w->reinit0 + w->nreinits && w->kind != WHEN_SAMPLES; r++)
            f->reinit.at[r].value = freeze(z, f->reinit.at[r].value, false, f->reinit.at[r].at);
    }
}

equations *
equations_prepare(flat_model *f)
{
    equations *e = bg_calloc(1, sizeof *e);
    freezer *z;

    e->f = f;
    e->composer = composer_new(f);
    for (size_t i = 0; i < f->draw.n; i++)
        give(e, f->draw.at[i].var, f->draw.at[i].at);
    for (size_t i = 0; i < f->delay.n; i++)
        give(e, f->delay.at[i].var, f->delay.at[i].at);
    z = freezer_new(e);
    for (size_t i = 0; i < f->law.n; i++) {
        f->law.at[i].def = freeze(z, f->law.at[i].def, true, f->law.at[i].at);
        f->law.at[i].switched = f->law.at[i].kind == LAW_RESIDUAL && reads_mode(f, f->law.at[i].def);
    }
    for (size_t i = 0; i < f->var.n; i++) {
        enum var_kind kind = f->var.at[i].kind;

        if (kind == VAR_SIGNAL || kind == VAR_INTEGRAL) {
            inst def = freeze(z, f->var.at[i].def, false, f->var.at[i].at);

            f->var.at[i].def = def;
        }
    }
    for (size_t i = 0; i < f->experiment.record.n; i++)
        f->experiment.record.at[i].def = freeze(z, f->experiment.record.at[i].def, false,
                                                f->experiment.record.at[i].at);
    freeze_whens(z, f);
    for (size_t i = 0; i < f->delay.n; i++)
        freeze_delay(e, z, &f->delay.at[i]);
    freezer_free(z);
    return e;
}

static var_id
quantity_var(const flat_port *p, enum quantity q)
{
    switch (q) {
    case Q_EFFORT: return p->e;
    case Q_FLOW: return p->f;
    default: return p->stored;
    }
}

/* law - its left side, as one expression */
static inst
law_residual(equations *e, const flat_law *law)
{
    flat_model *f = e->f;
    var_id out = quantity_var(&f->port.at[law->port], law->out);
    inst inner[2] = { law->def, INST_NONE };
    inst difference = flat_inst(f, ex_sub(f->pool, ex_slot(f->pool, 0), ex_slot(f->pool, 1)), (var_id[]){ out, out },
                                2);

    return inst_compose(e->composer, difference, inner);
}

/* Does the law have a piece on which its value does not change with slot k? Then it has no inverse there. */
static bool
is_flat_in(pool *p, node n, uint32_t k)
{
    node d = ex_derivative(p, n, k);
    size_t count;
    const node *tape;

    if (ex_is_const(p, d, NULL) && pool_node(p, d)->value == 0)
        return true;
    tape = ex_tape(p, d, &count);
    for (size_t i = 0; i < count; i++) {
        const ex_node *x = pool_node(p, tape[i]);

        if (x->op == EX_SELECT && ((ex_is_const(p, x->b, NULL) && pool_node(p, x->b)->value == 0) ||
                                   (ex_is_const(p, x->c, NULL) && pool_node(p, x->c)->value == 0)))
            return true;
    }
    /* constants on both sides of a condition: a jump (sign) */
    tape = ex_tape(p, n, &count);
    for (size_t i = 0; i < count; i++) {
        const ex_node *x = pool_node(p, tape[i]);

        if (x->op == EX_SELECT && ex_is_const(p, x->b, NULL) && x->b != x->c)
            return true;
    }
    return false;
}

static bool
solvable(equations *e, const flat_law *law, var_id y)
{
    inst r = law_residual(e, law);
    uint32_t k = inst_slot_of(e->f, r, y);
    node solution, divisor;

    return k != UINT32_MAX && ex_solve(e->f->pool, r.root, k, &solution, &divisor);
}

/* Does the law jump where v, or what contains it, passes zero? */
static bool
reads_sign_of(const equations *e, inst law, var_id v)
{
    const flat_model *f = e->f;

    for (uint32_t k = 0; k < law.n; k++) {
        const flat_var *s = &f->var.at[f->slot.at[law.first + k]];

        if (s->kind == VAR_AUX && s->owner < e->sign.n && inst_slot_of(f, e->sign.at[s->owner].x, v) != UINT32_MAX)
            return true;
    }
    return false;
}

void
equations_ways(const equations *eq, enum law_way *way, bool *varying, bool *invertible, bool *stated)
{
    equations *e = (equations *)eq; /* templates are added to the pool, nothing else changes */
    flat_model *f = e->f;

    memset(varying, 0, f->element.n * sizeof *varying);
    memset(invertible, 0, f->port.n * sizeof *invertible);
    memset(stated, 0, f->port.n * sizeof *stated);
    for (size_t i = 0; i < f->port.n; i++)
        way[i] = WAY_EITHER;
    for (size_t i = 0; i < f->law.n; i++) {
        flat_law law = f->law.at[i];
        flat_port *p = &f->port.at[law.port];
        flat_element *el = &f->element.at[p->element];

        if (law.kind == LAW_MODULUS) {
            varying[p->element] = !inst_is_parameter(f, law.def);
        } else if (el->type == EL_R && law.kind == LAW_ASSIGN) {
            var_id in = law.out == Q_EFFORT ? p->f : p->e;
            uint32_t k = inst_slot_of(f, law.def, in);

            if (k == UINT32_MAX ||
                ((is_flat_in(f->pool, law.def.root, k) || reads_sign_of(e, law.def, in)) && !solvable(e, &law, in)))
                way[law.port] = law.out == Q_EFFORT ? WAY_GIVES_EFFORT : WAY_GIVES_FLOW;
        } else if (el->type == EL_C || el->type == EL_I) {
            invertible[law.port] = law.out == Q_DISPLACEMENT || law.out == Q_MOMENTUM || solvable(e, &law, p->stored);
        }
    }
    for (size_t i = 0; i < f->initial.n; i++)
        if (f->initial.at[i].port != UINT32_MAX)
            stated[f->initial.at[i].port] = true;
}

/* ---------------------------------------------------------------- definitions */

void
eq_sync(equations *e)
{
    if (e->var.n < e->f->var.n) {
        size_t from = e->var.n;

        vec_resize(&e->var, e->f->var.n);
        for (size_t i = from; i < e->var.n; i++) {
            enum var_kind kind = e->f->var.at[i].kind;

            e->var.at[i].kind = kind == VAR_TIME || kind == VAR_PARAM || kind == VAR_LITERAL || kind == VAR_MODE
                                    ? DEF_GIVEN
                                    : DEF_NONE;
            e->var.at[i].def = INST_NONE;
        }
    }
}

var_id
eq_new_var(equations *e, enum var_kind kind, uint32_t owner, const char *name, span at, uint32_t position)
{
    var_id v = flat_add_var(e->f, kind, owner, name, at);

    e->f->var.at[v].position = position;
    eq_sync(e);
    return v;
}

void
eq_define(equations *e, var_id v, inst def)
{
    e->var.at[v].kind = DEF_EXPLICIT;
    e->var.at[v].def = def;
}

/* The law of a port, solved for y; where that has no closed form, y is found by iteration. */
/* Makes y what the law says of it: a definition, or a group of its own, whose number is given; UINT32_MAX: none. */
static uint32_t
define_by_law(equations *e, struct groups *g, const flat_law *law, var_id y)
{
    flat_model *f = e->f;
    inst r;
    uint32_t k;
    node solution, divisor;
    /* laws of a field are solved together, with pivots, not one by one */
    bool alone = f->element.at[f->port.at[law->port].element].nports == 1;

    if (quantity_var(&f->port.at[law->port], law->out) == y) {
        eq_define(e, y, law->def);
        return UINT32_MAX;
    }
    r = law_residual(e, law);
    k = inst_slot_of(f, r, y);
    /* nor one that has no slope on a side of its condition (a closed valve): there it would divide by zero */
    if (alone && k != UINT32_MAX && !is_flat_in(f->pool, r.root, k) &&
        ex_solve(f->pool, r.root, k, &solution, &divisor)) {
        VEC(var_id) slots = { 0 };

        for (uint32_t i = 0; i < r.n; i++)
            vec_push(&slots, f->slot.at[r.first + i]);
        eq_define(e, y, inst_part(e->composer, solution, slots.at, r.n));
        vec_free(&slots);
        return UINT32_MAX;
    }
    uint32_t group = group_new(g);

    group_add(g, group, y, r);
    return group;
}

/* v = a*b or a/b of two variables' expressions */
static inst
combine(equations *e, enum ex_op op, inst a, inst b)
{
    flat_model *f = e->f;
    node root = ex_make(f->pool, op, ex_slot(f->pool, 0), ex_slot(f->pool, 1), NODE_NONE);
    inst outer = flat_inst(f, root, (var_id[]){ 0, 0 }, 2), inner[2] = { a, b };

    return inst_compose(e->composer, outer, inner);
}

/* ---- balances ---- */

struct terms {
    VEC(var_id) var;
    VEC(int8_t) sign;
};

static void
add_term(struct terms *t, var_id v, int8_t sign)
{
    vec_push(&t->var, v);
    vec_push(&t->sign, sign);
}

/* What an incidence adds to junction j's balance. */
static var_id
incidence_var(const flat_model *f, uint32_t j, const flat_incidence *inc)
{
    if (inc->is_bond) {
        const flat_bond *b = &f->bond.at[inc->index];

        return b->own != VAR_NONE ? b->own : f->junction.at[b->from == j ? b->to : b->from].common;
    } else {
        const flat_port *p = &f->port.at[inc->index];

        return p->e == f->junction.at[j].common ? p->f : p->e;
    }
}

struct term_pair {
    var_id var;
    int32_t weight;
};

static int
compare_term(const void *a, const void *b)
{
    const struct term_pair *x = a, *y = b;

    return (x->var > y->var) - (x->var < y->var);
}

/* Sum of the terms; above SUM_TERMS through a tree of sums with variables of their own. */
static inst
sum_of(equations *e, struct terms *t, uint32_t junction)
{
    flat_model *f = e->f;
    inst sum;

    while (t->var.n > SUM_TERMS) {
        struct terms up = { 0 };

        for (size_t i = 0; i < t->var.n; i += SUM_TERMS) {
            size_t n = t->var.n - i < SUM_TERMS ? t->var.n - i : SUM_TERMS;
            inst part = inst_sum(e->composer, t->var.at + i, t->sign.at + i, n);
            var_id v = eq_new_var(e, VAR_AUX, junction, f->junction.at[junction].name, f->junction.at[junction].at,
                                  f->var.at[t->var.at[i]].position);

            eq_define(e, v, part);
            add_term(&up, v, 1);
        }
        vec_free(&t->var);
        vec_free(&t->sign);
        *t = up;
    }
    sum = t->var.n ? inst_sum(e->composer, t->var.at, t->sign.at, t->var.n) : inst_const(f, 0);
    return sum;
}

static uint32_t
representative(uint32_t *equal, uint32_t j)
{
    while (equal[j] != j)
        j = equal[j] = equal[equal[j]];
    return j;
}

/* Junctions whose common variables are equal by bonds between junctions of one kind, by the one that determines the
 * value (in an open component: by any one): with one name for all of them, what cancels cancels. */
static void
find_equal(equations *e)
{
    const flat_model *f = e->f;
    VEC(uint32_t) path = { 0 };

    e->equal = bg_malloc((f->junction.n + 1) * sizeof *e->equal);
    for (uint32_t j = 0; j < f->junction.n; j++)
        e->equal[j] = UINT32_MAX;
    for (uint32_t j = 0; j < f->junction.n; j++) {
        uint32_t k = j;

        path.n = 0;
        while (e->equal[k] == UINT32_MAX) {
            const flat_incidence *inc = e->c->strong[k] == UINT32_MAX ? NULL : &f->incidence.at[e->c->strong[k]];
            const flat_bond *b = inc && inc->is_bond ? &f->bond.at[inc->index] : NULL;

            vec_push(&path, k);
            e->equal[k] = k; /* also ends a cycle of such bonds, which causality has refused */
            if (b && b->own != VAR_NONE)
                k = b->from == k ? b->to : b->from;
        }
        k = e->equal[k];
        for (size_t i = 0; i < path.n; i++)
            e->equal[path.at[i]] = k;
    }
    vec_free(&path);
    for (uint32_t i = 0; i < f->bond.n; i++)
        if (f->bond.at[i].own != VAR_NONE && e->c->bond_from[i] == ST_OPEN && e->c->bond_to[i] == ST_OPEN)
            e->equal[representative(e->equal, f->bond.at[i].to)] = representative(e->equal, f->bond.at[i].from);
    for (uint32_t j = 0; j < f->junction.n; j++)
        e->equal[j] = representative(e->equal, j);
}

/* Balance of junction j: without `except` (VAR_NONE: all terms), times -1/weight of `except`. */
static inst
balance(equations *e, uint32_t j, var_id except, bool *determined)
{
    flat_model *f = e->f;
    const flat_junction *jn = &f->junction.at[j];
    VEC(struct term_pair) all = { 0 };
    struct terms t = { 0 };
    int32_t weight = 0;
    inst sum;

    for (uint32_t i = 0; i < jn->ninc; i++) {
        const flat_incidence *inc = &f->incidence.at[jn->inc0 + i];

        var_id v = incidence_var(f, j, inc);

        if (v != except && f->var.at[v].kind == VAR_COMMON) {
            var_id same = f->junction.at[e->equal[f->var.at[v].owner]].common;

            v = same == except ? v : same;
        }
        vec_push(&all, ((struct term_pair){ v, inc->sign }));
    }
    /* parallel bonds name the same variable more than once */
    if (all.n)
        qsort(all.at, all.n, sizeof *all.at, compare_term);
    size_t merged = 0;
    for (size_t i = 0, k; i < all.n; i = k) {
        int32_t w = 0;

        for (k = i; k < all.n && all.at[k].var == all.at[i].var; k++)
            w += all.at[k].weight;
        if (all.at[i].var == except)
            weight = w;
        else
            all.at[merged++] = (struct term_pair){ all.at[i].var, w };
    }
    for (size_t i = 0; i < merged; i++) {
        int32_t w = all.at[i].weight;

        if (weight > 0)
            w = -w;
        for (int32_t k = 0; k < (w < 0 ? -w : w); k++)
            add_term(&t, all.at[i].var, w < 0 ? -1 : 1);
    }
    vec_free(&all);
    if (determined)
        *determined = weight != 0;
    sum = sum_of(e, &t, j);
    vec_free(&t.var);
    vec_free(&t.sign);
    if (weight > 1 || weight < -1)
        sum = combine(e, EX_DIV, sum, inst_const(f, weight < 0 ? -weight : weight));
    return sum;
}

static bool
define_junction(equations *e, struct groups *g, uint32_t j, const uint32_t *component_group)
{
    flat_model *f = e->f;
    const causal *c = e->c;
    const flat_incidence *inc;
    bool determined;
    var_id y;

    if (c->strong[j] == UINT32_MAX) {
        /* open: one unknown and one equation of its component; or a junction state, whose rate the balance determines
         */
        if (e->var.at[f->junction.at[j].common].kind == DEF_STATE)
            group_add(g, group_new(g), e->state.at[e->var.at[f->junction.at[j].common].index].rate,
                      balance(e, j, VAR_NONE, NULL));
        else
            group_add(g, component_group[j], f->junction.at[j].common, balance(e, j, VAR_NONE, NULL));
        return true;
    }
    inc = &f->incidence.at[c->strong[j]];
    y = incidence_var(f, j, inc);
    if (inc->is_bond && f->bond.at[inc->index].own != VAR_NONE) {
        const flat_bond *b = &f->bond.at[inc->index];

        eq_define(e, f->junction.at[j].common, inst_var(f, f->junction.at[b->from == j ? b->to : b->from].common));
    }
    inst def = balance(e, j, y, &determined);

    if (!determined) {
        diag_error(f->sources, "causality-singular", f->junction.at[j].at,
                   "the bonds between \"%s\" and its neighbour cancel: nothing determines \"%s\"",
                   f->junction.at[j].name, f->var.at[y].name);
        return false;
    }
    eq_define(e, y, def);
    return true;
}

/* ---- elements ---- */

/* Two-ports: what the element gives at each port follows from the strokes; open regions take every port as weak. */
static void
define_two_port(equations *e, struct groups *g, const flat_element *el, uint32_t port, const uint32_t *component_group)
{
    flat_model *f = e->f;
    flat_port *in = &f->port.at[port], *out = in + 1;
    inst m = port_law(f, port)->def;
    bool tf = el->type == EL_TF;
    /* effort at one side belongs to (TF) effort, (GY) flow at the other */
    var_id in_partner_of_e = tf ? out->e : out->f, in_partner_of_f = tf ? out->f : out->e;
    bool link = (f->junction.at[in->junction].type == f->junction.at[out->junction].type) == tf;
    bool open = e->c->port[port] == ST_OPEN && e->c->port[port + 1] == ST_OPEN;

    if (link && open) {
        /* common variables are tied, the others are one unknown: chosen so that nothing is divided */
        bool in_is_effort = f->junction.at[in->junction].type == 0;
        var_id ci = f->junction.at[in->junction].common, co = f->junction.at[out->junction].common;
        var_id xi = in_is_effort ? in->f : in->e, xo = out->e == co ? out->f : out->e;
        /* TF: e_in = n e_out, f_out = n f_in; GY: e_in = r f_out, e_out = r f_in */
        bool in_follows = !in_is_effort; /* x_in = m x_out, c_out = m c_in */
        uint32_t group = component_group[in->junction];

        if (in_follows) {
            eq_define(e, xi, combine(e, EX_MUL, m, inst_var(f, xo)));
            group_add(g, group, xo, combine(e, EX_SUB, inst_var(f, co), combine(e, EX_MUL, m, inst_var(f, ci))));
        } else {
            eq_define(e, xo, combine(e, EX_MUL, m, inst_var(f, xi)));
            group_add(g, group, xi, combine(e, EX_SUB, inst_var(f, ci), combine(e, EX_MUL, m, inst_var(f, co))));
        }
        return;
    }
    for (int side = 0; side < 2; side++) {
        flat_port *p = side ? out : in;
        bool strong = e->c->port[port + (uint32_t)side] == ST_STRONG;
        var_id common = f->junction.at[p->junction].common, given = strong ? common : p->e == common ? p->f : p->e;

        if (side == 0 && given == in->e) /* e_in = m * partner */
            eq_define(e, given, combine(e, EX_MUL, m, inst_var(f, in_partner_of_e)));
        else if (side == 0) /* f_in = partner / m */
            eq_define(e, given, combine(e, EX_DIV, inst_var(f, in_partner_of_f), m));
        else if (given == out->e) /* TF: e_out = e_in / n; GY: e_out = r f_in */
            eq_define(e, given,
                      tf ? combine(e, EX_DIV, inst_var(f, in->e), m) : combine(e, EX_MUL, m, inst_var(f, in->f)));
        else /* TF: f_out = n f_in; GY: f_out = e_in / r */
            eq_define(e, given,
                      tf ? combine(e, EX_MUL, m, inst_var(f, in->f)) : combine(e, EX_DIV, inst_var(f, in->e), m));
    }
}

struct switches {
    switch_group *at;
    size_t n, cap;
};

/* A resistor that is an ideal switch on one of its pieces: each of them linear, one without slope (a closed valve), and
 * the law is asked for what it does not give there. */
static bool
is_valve(equations *e, const flat_law *law)
{
    flat_model *f = e->f;
    const flat_port *p = &f->port.at[law->port];
    inst r = law_residual(e, law);
    bool *own = bg_calloc(r.n + 1, sizeof *own), valve;

    for (uint32_t k = 0; k < r.n; k++) {
        var_id v = f->slot.at[r.first + k];

        own[k] = v == p->e || v == p->f;
    }
    valve = f->element.at[p->element].nports == 1 && reads_mode(f, law->def) && ex_affine_in(f->pool, r.root, own, r.n);
    free(own);
    return valve;
}

static void
define_one_port(equations *e, struct groups *g, struct rates *r, struct constraints *k, struct switches *sw,
                uint32_t port)
{
    flat_model *f = e->f;
    flat_port *p = &f->port.at[port];
    flat_element *el = &f->element.at[p->element];
    flat_law law = *port_law(f, port);
    var_id common = f->junction.at[p->junction].common, own = p->e == common ? p->f : p->e;

    switch (el->type) {
    case EL_SE:
    case EL_SF: {
        var_id given = el->type == EL_SE ? p->e : p->f;

        if (law.switched) {
            uint32_t group = group_new(g);

            group_add(g, group, e->c->port[port] == ST_STRONG ? common : own, law.def);
            vec_push(sw, ((switch_group){ group, el->at }));
        } else if (law.kind == LAW_RESIDUAL) {
            constraints_add(k, g, given, law.def, port);
        } else {
            eq_define(e, given, law.def);
        }
        break;
    }
    case EL_C:
    case EL_I: {
        bool momentum = port_has_momentum(f, port);
        var_id given = momentum ? p->f : p->e, rate = momentum ? p->e : p->f;

        if (e->c->state[port]) {
            define_by_law(e, g, &law, given);
        } else {
            var_id stored = p->stored;

            define_by_law(e, g, &law, stored);
            var_id d = rate_of(r, stored);

            eq_define(e, rate, d == VAR_NONE ? inst_const(f, 0) : inst_var(f, d));
        }
        break;
    }
    default: {
        uint32_t group = define_by_law(e, g, &law, e->c->port[port] == ST_STRONG ? common : own);

        if (group != UINT32_MAX && is_valve(e, &law))
            vec_push(sw, ((switch_group){ group, el->at }));
    }
    }
}

/* ---------------------------------------------------------------- states, outputs, known conditions */

static void
add_state(equations *e, var_id v, var_id rate, uint32_t port)
{
    e->var.at[v].kind = DEF_STATE;
    e->var.at[v].index = (uint32_t)e->state.n;
    vec_push(&e->state,
             ((eq_state){ v, rate, port == UINT32_MAX ? UINT32_MAX : e->f->port.at[port].element, port, false }));
}

static void
make_states(equations *e)
{
    flat_model *f = e->f;

    for (uint32_t i = 0; i < f->port.n; i++)
        if (f->port.at[i].stored != VAR_NONE && e->c->state[i]) {
            flat_port p = f->port.at[i];

            add_state(e, p.stored, port_has_momentum(f, i) ? p.e : p.f, i);
        }
    for (size_t i = 0; i < e->c->junction_state.n; i++) {
        var_id v = f->junction.at[e->c->junction_state.at[i]].common;
        char *name = bg_format("der(%s)", f->var.at[v].name);

        add_state(e, v,
                  eq_new_var(e, VAR_RATE, v, names_intern_z(f->names, name), f->var.at[v].at, f->var.at[v].position),
                  UINT32_MAX);
        free(name);
    }
    for (uint32_t i = 0, n = (uint32_t)f->var.n; i < n; i++)
        if (f->var.at[i].kind == VAR_INTEGRAL) {
            char *name = bg_format("der(%s)", f->var.at[i].name);
            inst def = f->var.at[i].def;
            var_id rate = eq_new_var(e, VAR_RATE, i, names_intern_z(f->names, name), f->var.at[i].at,
                                     f->var.at[i].position);

            free(name);
            eq_define(e, rate, def);
            add_state(e, i, rate, UINT32_MAX);
        }
}

static void
make_powers(equations *e)
{
    flat_model *f = e->f;
    pool *p = f->pool;

    vec_reserve(&e->power, f->element.n);
    for (uint32_t i = 0; i < f->element.n; i++) {
        const flat_element *el = &f->element.at[i];
        node sum = ex_const(p, 0);
        VEC(var_id) slots = { 0 };

        for (uint32_t k = 0; k < el->nports; k++) {
            const flat_port *q = &f->port.at[el->port0 + k];
            uint32_t at = (uint32_t)slots.n;
            node product = flat_power(f, q->junction, ex_slot(p, at), ex_slot(p, at + 1), at + 2);
            const var_id *reads;
            uint32_t nreads = flat_power_reads(f, q->junction, &reads);

            vec_push(&slots, q->e);
            vec_push(&slots, q->f);
            for (uint32_t j = 0; j < nreads; j++)
                vec_push(&slots, reads[j]);
            sum = q->sign > 0 ? ex_add(p, sum, product) : ex_sub(p, sum, product);
        }
        vec_push(&e->power, inst_compose(e->composer, flat_inst(f, sum, slots.at, (uint32_t)slots.n), NULL));
        vec_free(&slots);
    }
    for (size_t i = 0; i < f->output.n; i++)
        vec_push(&e->output, f->output.at[i].def);
    for (size_t i = 0; i < f->experiment.record.n; i++)
        vec_push(&e->output, f->experiment.record.at[i].def);
}

/* g with explicit definitions put in where they lead to time and parameters alone; INST_NONE where they do not. */
static inst
over_time(equations *e, inst g)
{
    flat_model *f = e->f;

    for (int round = 0; round < 64; round++) {
        VEC(inst) inner = { 0 };
        bool more = false, ok = true;

        for (uint32_t k = 0; k < g.n; k++) {
            var_id v = f->slot.at[g.first + k];
            enum var_kind kind = f->var.at[v].kind;
            inst in = INST_NONE;

            if (kind != VAR_TIME && kind != VAR_PARAM && kind != VAR_LITERAL) {
                if (e->var.at[v].kind == DEF_EXPLICIT && (kind == VAR_SIGNAL || kind == VAR_RATE))
                    in = e->var.at[v].def, more = true;
                else
                    ok = false;
            }
            vec_push(&inner, in);
        }
        if (ok && more)
            g = inst_compose(e->composer, g, inner.at);
        vec_free(&inner);
        if (!ok || ex_size(f->pool, g.root) > 2000)
            return INST_NONE;
        if (!more)
            return g;
    }
    return INST_NONE;
}

static void
find_known_modes(equations *e)
{
    flat_model *f = e->f;

    for (size_t i = 0; i < e->mode.n; i++) {
        eq_mode *m = &e->mode.at[i];
        inst g = over_time(e, m->g);
        uint32_t k = inst_known(g) ? inst_slot_of(f, g, 0) : UINT32_MAX;
        VEC(var_id) slots = { 0 };
        VEC(node) zero = { 0 };
        node slope;

        if (k == UINT32_MAX || m->kind == MODE_DOMAIN || m->kind == MODE_GIVEN)
            continue;
        slope = ex_derivative(f->pool, g.root, k);
        for (uint32_t s = 0; s < g.n; s++) {
            vec_push(&slots, f->slot.at[g.first + s]);
            vec_push(&zero, s == k ? ex_const(f->pool, 0) : NODE_NONE);
        }
        m->slope = inst_part(e->composer, slope, slots.at, g.n);
        if (inst_slot_of(f, m->slope, 0) == UINT32_MAX) {
            m->offset = inst_part(e->composer, ex_substitute(f->pool, g.root, zero.at, g.n), slots.at, g.n);
            m->known = true;
        }
        vec_free(&slots);
        vec_free(&zero);
    }
}

/* What only numbers can tell: parameters without a finite value, derivatives of what jumps. */
static bool
check_values(equations *e, const struct rates *r, size_t differentiated)
{
    double *value = bg_calloc(e->f->var.n + 1, sizeof *value);
    bool ok;

    parameter_values(e->f, value, NULL);
    ok = parameters_finite(e->f, value) && jumps_check(e, value, r->differentiated.at, differentiated);
    free(value);
    return ok;
}

/* Names the states that v follows from, the first few. */
static void
note_states(equations *e, var_id v)
{
    enum { MOST = 4 };
    VEC(var_id) todo = { 0 };
    map seen = { 0 };
    int named = 0;

    vec_push(&todo, v);
    while (todo.n && named < MOST) {
        var_id w = todo.at[--todo.n];
        const eq_var *d = &e->var.at[w];

        if (map_get(&seen, w) != MAP_NONE)
            continue;
        map_set(&seen, w, 1);
        if (d->kind == DEF_STATE) {
            diag_note(e->f->sources, e->f->var.at[w].at, "it follows from \"%s\"", e->f->var.at[w].name);
            named++;
        } else if (d->kind == DEF_EXPLICIT) {
            for (uint32_t k = 0; k < d->def.n; k++)
                vec_push(&todo, e->f->slot.at[d->def.first + k]);
        } else if (d->kind == DEF_BLOCK) {
            const eq_block *b = &e->block.at[d->index];

            for (uint32_t i = 0; i < b->n; i++)
                for (uint32_t k = 0; k < e->residual.at[b->residual0 + i].n; k++)
                    vec_push(&todo, e->f->slot.at[e->residual.at[b->residual0 + i].first + k]);
        }
    }
    vec_free(&todo);
    map_free(&seen);
}

/* What `reinit` sets must be a state: the rest follows from states. */
static bool
check_reinits(equations *e)
{
    flat_model *f = e->f;
    bool ok = true;

    for (size_t i = 0; i < f->reinit.n; i++) {
        const flat_reinit *r = &f->reinit.at[i];
        const eq_var *d = &e->var.at[r->target];
        const char *name = f->var.at[r->target].name;

        if (d->kind == DEF_STATE)
            continue;
        ok = false;
        diag_error(f->sources, "reinit-dependent", r->at, "\"%s\" is no state here, so it cannot be set anew", name);
        note_states(e, r->target);
        diag_help(f->sources, "Set a state it depends on, or put a compliance or a resistor between so that it has a "
                              "state of its own.");
    }
    return ok;
}

/* ---- what the rank check knows of dependent storage ---- */

static var_id
output_var(const flat_model *f, uint32_t port)
{
    const flat_port *p = &f->port.at[port];
    enum element_type t = f->element.at[p->element].type;

    return t == EL_SE || t == EL_C ? p->e : p->f;
}

/* d with variable v put in as `value`. */
static inst
put_in_place(equations *e, inst d, var_id v, inst value)
{
    uint32_t k = inst_slot_of(e->f, d, v);
    VEC(inst) inner = { 0 };

    if (k == UINT32_MAX)
        return d;
    for (uint32_t i = 0; i < d.n; i++)
        vec_push(&inner, i == k ? value : INST_NONE);
    d = inst_compose(e->composer, d, inner.at);
    vec_free(&inner);
    return d;
}

/* The imposed variable of a dependent storage cancels down to outputs of states and sources, but across several
 * balances: differentiated one by one they would seem to depend on each other's rates without end. Where the rank check
 * has the sum, what is stored is computed from that. */
static void
use_relations(equations *e, struct groups *g)
{
    flat_model *f = e->f;

    for (size_t i = 0; i < e->c->relation.n; i++) {
        causal_relation r = e->c->relation.at[i];
        flat_port p = f->port.at[r.port];
        uint32_t group = group_of(g, p.stored);
        struct terms sum = { 0 };
        inst value;

        for (uint32_t k = 0; k < r.n; k++) {
            causal_term t = e->c->term.at[r.first + k];
            var_id v = output_var(f, t.port);

            if (t.nmoduli || fabs(t.weight) != 1) {
                inst term = inst_var(f, v);

                for (int m = 0; m < t.nmoduli; m++)
                    term = combine(e, t.inverse[m] ? EX_DIV : EX_MUL, term, t.modulus[m]);
                term = combine(e, EX_MUL, inst_const(f, fabs(t.weight)), term);
                v = eq_new_var(e, VAR_AUX, r.port, f->var.at[v].name, f->var.at[v].at, f->var.at[v].position);
                eq_define(e, v, term);
            }
            add_term(&sum, v, t.weight < 0 ? -1 : 1);
        }
        value = sum_of(e, &sum, p.junction);
        vec_free(&sum.var);
        vec_free(&sum.sign);
        if (group == UINT32_MAX) {
            if (e->var.at[p.stored].kind == DEF_EXPLICIT)
                e->var.at[p.stored].def = put_in_place(e, e->var.at[p.stored].def, output_var(f, r.port), value);
        } else {
            for (uint32_t k = 0; k < group_size(g, group); k++)
                g->group.at[group].residual.at[k] = put_in_place(e, group_residual(g, group, k), output_var(f, r.port),
                                                                 value);
        }
    }
}

/* ---------------------------------------------------------------- the stage */

bool
equations_build(equations *e, const causal *c)
{
    flat_model *f = e->f;
    struct groups g = { 0 };
    struct rates r = { .e = e, .g = &g, .ok = true };
    struct constraints k = { 0 };
    struct switches sw = { 0 };
    size_t differentiated; /* by the model: what sticking asks for may jump */
    uint32_t *component_group = bg_malloc((f->junction.n + 1) * sizeof *component_group);
    bool ok = true;

    e->c = c;
    find_equal(e);
    eq_sync(e);
    for (size_t n = 0; n + 1 < c->component.n; n++) {
        uint32_t group = group_new(&g);

        for (uint32_t i = c->component.at[n]; i < c->component.at[n + 1]; i++)
            component_group[c->open_junction.at[i]] = group;
    }
    make_states(e);
    for (uint32_t i = 0, n = (uint32_t)f->var.n; i < n; i++)
        if (f->var.at[i].kind == VAR_SIGNAL)
            eq_define(e, i, f->var.at[i].def);
    vec_resize(&r.order, f->var.n);
    for (uint32_t i = 0; i < f->element.n; i++) {
        flat_element el = f->element.at[i];

        for (uint32_t p = el.port0; p < el.port0 + el.nports; p++) {
            if (el.type != EL_TF && el.type != EL_GY)
                define_one_port(e, &g, &r, &k, &sw, p);
            else if ((p - el.port0) % 2 == 0)
                define_two_port(e, &g, &el, p, component_group);
        }
    }
    for (uint32_t i = 0; i < f->bond.n; i++) {
        flat_bond b = f->bond.at[i];

        if (b.own != VAR_NONE && c->bond_from[i] == ST_OPEN && c->bond_to[i] == ST_OPEN)
            group_add(&g, component_group[b.from], b.own,
                      combine(e, EX_SUB, inst_var(f, f->junction.at[b.from].common),
                              inst_var(f, f->junction.at[b.to].common)));
    }
    for (uint32_t j = 0; j < f->junction.n; j++)
        ok = define_junction(e, &g, j, component_group) && ok;
    use_relations(e, &g);
    groups_split(e, &g);
    /* der(expr) of the text: the same rates */
    for (uint32_t i = 0, n = (uint32_t)f->var.n; i < n; i++)
        if (f->var.at[i].kind == VAR_RATE && e->var.at[i].kind == DEF_NONE && group_of(&g, i) == UINT32_MAX) {
            var_id v = f->var.at[i].owner, d = v == 0 ? VAR_NONE : rate_of(&r, v);

            if (d != i)
                eq_define(e, i, v == 0 ? inst_const(f, 1) : d == VAR_NONE ? inst_const(f, 0) : inst_var(f, d));
        }
    define_rates(&r);
    ok = ok && r.ok && constraints_make(&k, &r) && r.ok;
    differentiated = r.differentiated.n;
    stick_define(e, &g, &r);
    switched_define(e, &g, &r, sw.at, sw.n);
    ok = ok && r.ok;
    make_powers(e);
    eq_sync(e);
    ok = ok && blocks_sort(e, &g);
    if (ok) {
        mark_only_outputs(e);
        find_known_modes(e);
        ok = check_values(e, &r, differentiated) && check_reinits(e);
    }
    rates_free(&r);
    constraints_free(&k);
    groups_free(&g);
    vec_free(&sw);
    free(component_group);
    return ok;
}

void
equations_free(equations *e)
{
    if (!e)
        return;
    free(e->equal);
    composer_free(e->composer);
    vec_free(&e->var);
    vec_free(&e->state);
    vec_free(&e->block);
    vec_free(&e->unknown);
    vec_free(&e->residual);
    vec_free(&e->mode);
    vec_free(&e->sign);
    vec_free(&e->power);
    vec_free(&e->constraint);
    vec_free(&e->held);
    vec_free(&e->row);
    vec_free(&e->watch);
    vec_free(&e->net_mode);
    vec_free(&e->net);
    vec_free(&e->output);
    vec_free(&e->circle);
    free(e);
}
