/* equations.c - see equations.h: from the causal graph to definitions */
#include <math.h>
#include <stdlib.h>

#include "domain.h"
#include "equations_inside.h"
#include "evenly.h"
#include "approach.h"
#include "walks.h"
#include "zero_divisors.h"

/* ---------------------------------------------------------------- states, outputs, known conditions */

static void
add_state(equations *e, var_id v, var_id rate, uint32_t port)
{
    e->var.at[v].kind = DEF_STATE;
    e->var.at[v].index = (uint32_t)e->state.n;
    vec_push(&e->state, ((eq_state){ v, rate, port == NONE ? NONE : e->f->port.at[port].element, port, false }));
}

static void
make_states(equations *e)
{
    flat_model *f = e->f;

    for (uint32_t i = 0; i < f->port.n; i++)
        if (f->port.at[i].stored != VAR_NONE && (e->c->state[i] || e->loose[i])) {
            flat_port p = f->port.at[i];

            add_state(e, p.stored, port_has_momentum(f, i) ? p.e : p.f, i);
        }
    for (size_t i = 0; i < e->c->junction_state.n; i++) {
        var_id v = f->junction.at[e->c->junction_state.at[i]].common;

        add_state(e, v, eq_new_rate(e, v), NONE);
    }
    for (uint32_t i = 0, n = (uint32_t)f->var.n; i < n; i++)
        if (f->var.at[i].kind == VAR_INTEGRAL) {
            inst def = var_def(f, i);
            var_id rate = eq_new_rate(e, i);

            e->defining = (defined){ DEF_BY_TEXT, 0 };
            eq_define(e, rate, def);
            add_state(e, i, rate, NONE);
        }
}

/* The power into an element, port by port. */
static inst
power_of_element(equations *e, const flat_element *el)
{
    flat_model *f = e->f;
    pool *p = f->pool;
    node sum = ex_const(p, 0);
    VEC(var_id) slots = { 0 };
    inst power;

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
    power = inst_compose(e->composer, flat_inst(f, sum, slots.at, (uint32_t)slots.n), NULL);
    vec_free(&slots);
    return power;
}

void
equations_powers(equations *e)
{
    flat_model *f = e->f;
    node plain[2] = { NODE_NONE, NODE_NONE }; /* for a port that takes or gives e*f: most elements have just one */

    vec_reserve(&e->power, f->element.n);
    for (uint32_t i = 0; i < f->element.n; i++) {
        const flat_element *el = &f->element.at[i];
        const flat_port *q = el->nports == 1 ? &f->port.at[el->port0] : NULL;
        const flat_domain *d = q ? junction_domain(f, q->junction) : NULL;
        node *known = q && (!d || d->power == NODE_NONE) ? &plain[q->sign > 0] : NULL;
        inst power = known && *known != NODE_NONE ? flat_inst(f, *known, (var_id[]){ q->e, q->f }, 2)
                                                  : power_of_element(e, el);

        if (known)
            *known = power.root;
        vec_push(&e->power, power);
    }
}

static void
list_outputs(equations *e)
{
    const flat_model *f = e->f;

    for (size_t i = 0; i < f->output.n; i++)
        vec_push(&e->output, f->output.at[i].def);
    for (size_t i = 0; i < f->experiment.record.n; i++)
        vec_push(&e->output, f->experiment.record.at[i].def);
}

/* Is v the whole part of what is linear in time? */
static bool
is_count(const equations *e, var_id v)
{
    const eq_mode *m = e->f->var.at[v].kind == VAR_MODE ? &e->mode.at[e->f->var.at[v].owner] : NULL;

    return m && m->known && m->kind == MODE_FLOOR;
}

/* g with explicit definitions substituted if they depend on time and parameters alone, or (counts) on whole parts of
 * what is linear in time; INST_NONE otherwise. */
static inst
over_time(equations *e, inst g, bool counts)
{
    flat_model *f = e->f;

    for (int round = 0; round < 64; round++) {
        VEC(inst) inner = { 0 };
        bool more = false, ok = true;

        for (uint32_t k = 0; k < g.n; k++) {
            var_id v = f->slot.at[g.first + k];
            enum var_kind kind = f->var.at[v].kind;
            inst in = INST_NONE;

            if (kind != VAR_TIME && kind != VAR_PARAM && kind != VAR_LITERAL && !(counts && is_count(e, v))) {
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
        if (!ok || !ex_fits(f->pool, g.root, 2000))
            return INST_NONE;
        if (!more)
            return g;
    }
    return INST_NONE;
}

/* The part of g that is proportional to slot k, by a coefficient of parameters, is taken out of *rest. INST_NONE: the
 * coefficient depends on more. */
static inst
take_linear(equations *e, const var_id *slots, uint32_t n, uint32_t k, node *rest)
{
    flat_model *f = e->f;
    inst coefficient = inst_part(e->composer, ex_derivative(f->pool, *rest, k), slots, n);
    VEC(node) zero = { 0 };

    for (uint32_t s = 0; s < coefficient.n; s++) {
        enum var_kind kind = f->var.at[f->slot.at[coefficient.first + s]].kind;

        if (kind != VAR_PARAM && kind != VAR_LITERAL)
            return INST_NONE;
    }
    for (uint32_t s = 0; s < n; s++)
        vec_push(&zero, s == k ? ex_const(f->pool, 0) : NODE_NONE);
    *rest = ex_substitute(f->pool, *rest, zero.at, n);
    vec_free(&zero);
    return coefficient;
}

/* Modes whose g is linear in time; with counts: and in one whole part of what is linear in time. */
static void
find_linear(equations *e, bool counts)
{
    flat_model *f = e->f;

    for (uint32_t i = 0; i < e->mode.n; i++) {
        eq_mode *m = &e->mode.at[i];
        bool asked = counts ? !m->known && m->side == 0 && (m->kind == MODE_LESS || m->kind == MODE_LESS_EQUAL)
                            : m->kind != MODE_DOMAIN && m->kind != MODE_GIVEN;
        inst g = asked ? over_time(e, m->g, counts) : INST_NONE;
        uint32_t k = inst_known(g) ? inst_slot_of(f, g, 0) : NONE, counted = NONE;
        VEC(var_id) slots = { 0 };
        node rest = g.root;

        for (uint32_t s = 0; k != NONE && s < g.n; s++) {
            vec_push(&slots, f->slot.at[g.first + s]);
            if (is_count(e, slots.at[s]))
                counted = s;
        }
        if (k != NONE && (!counts || counted != NONE)) {
            inst slope = take_linear(e, slots.at, g.n, k, &rest),
                 by = counts ? take_linear(e, slots.at, g.n, counted, &rest) : INST_NONE,
                 offset = inst_part(e->composer, rest, slots.at, g.n);

            m->known = inst_known(slope) && (!counts || inst_known(by));
            for (uint32_t s = 0; s < offset.n; s++) /* of another whole part */
                m->known = m->known && !is_count(e, f->slot.at[offset.first + s]);
            if (m->known) {
                m->slope = slope;
                m->offset = offset;
                m->by = by;
                m->count = counts ? f->var.at[slots.at[counted]].owner : NONE;
            }
        }
        vec_free(&slots);
    }
}

static void
find_known_modes(equations *e)
{
    find_linear(e, false);
    find_linear(e, true);
}

/* Checks what depends on numbers: finite parameters, no derivatives of what jumps, no conditions divided by zero. */
static bool
check_numbers(equations *e, const struct rates *r, size_t differentiated)
{
    double *value = bg_calloc(e->f->var.n + 1, sizeof *value);
    bool ok;

    parameter_values(e->f, value, NULL);
    ok = parameters_finite(e->f, value) && jumps_check(e, value, r->differentiated.at, differentiated);
    zero_divisors_warn_of_conditions(e, value);
    free(value);
    return ok;
}

/* Names the first few states on which v depends; returns the first. */
static var_id
note_states(equations *e, var_id v)
{
    enum { MOST = 4 };
    definition_walk r;
    var_id w, first = VAR_NONE;

    definition_walk_begin(&r, e);
    definition_walk_add(&r, v);
    for (int named = 0; named < MOST && definition_walk_next(&r, &w);)
        if (e->var.at[w].kind == DEF_STATE) {
            diag_note(e->f->sources, var_at(e->f, w), "it follows from \"%s\"", var_name(e->f, w));
            first = first == VAR_NONE ? w : first;
            named++;
        }
    definition_walk_free(&r);
    return first;
}

/* Checks that `reinit` sets states only, since everything else follows from states. */
static bool
check_reinits(equations *e)
{
    flat_model *f = e->f;
    bool ok = true;

    for (size_t i = 0; i < f->reinit.n; i++) {
        const flat_reinit *r = &f->reinit.at[i];
        const eq_var *d = &e->var.at[r->target];
        var_id state;

        if (d->kind == DEF_STATE)
            continue;
        ok = false;
        diag_error(f->sources, "reinit-dependent", r->at, "\"%s\" is not a state here, so an event cannot set it",
                   r->said);
        state = note_states(e, r->target);
        if (state != VAR_NONE)
            diag_help(f->sources,
                      "Set what is stored, { reinit %s = ...; }, or put a compliance or a resistor between so "
                      "that it has a state of its own.",
                      var_name(f, state));
        else
            diag_help(f->sources, "Put a compliance or a resistor between so that it has a state of its own.");
    }
    return ok;
}

/* A junction's variable that the law of an element on it gives. */
static bool
is_of_element(const equations *e, var_id v)
{
    const eq_var *d = &e->var.at[v];

    return e->f->var.at[v].kind == VAR_COMMON && d->kind == DEF_EXPLICIT && d->by == DEF_BY_LAW;
}

span
equations_place(const equations *e, var_id v)
{
    const flat_model *f = e->f;

    return is_of_element(e, v) ? element_at(&f->element.at[f->port.at[e->var.at[v].of].element]) : var_at(f, v);
}

const char *
equations_name(const equations *e, var_id v, arena *to)
{
    return is_of_element(e, v) ? var_name_at_port(e->f, v, e->var.at[v].of, to) : var_name_in(e->f, v, to);
}

/* ---- relations of the rank check for dependent storage ---- */

var_id
equations_output_var(const flat_model *f, uint32_t port)
{
    const flat_port *p = &f->port.at[port];
    enum element_type t = f->element.at[p->element].type;

    return t == EL_SE || t == EL_C ? p->e : p->f;
}

/* d with `value` substituted for variable v. */
static inst
put_in_place(equations *e, inst d, var_id v, inst value)
{
    uint32_t k = inst_slot_of(e->f, d, v);
    VEC(inst) inner = { 0 };

    if (k == NONE)
        return d;
    for (uint32_t i = 0; i < d.n; i++)
        vec_push(&inner, i == k ? value : INST_NONE);
    d = inst_compose(e->composer, d, inner.at);
    vec_free(&inner);
    return d;
}

/* The imposed variable of a dependent storage element reduces to outputs of states and sources, but through several
 * balances: differentiated one by one these would depend on each other's rates without end. Where the rank check has
 * found the sum, the stored quantity is computed from it. */
static void
use_relations(equations *e, struct groups *g)
{
    flat_model *f = e->f;

    for (size_t i = 0; i < e->c->relation.n; i++) {
        causal_relation r = e->c->relation.at[i];
        flat_port p = f->port.at[r.port];
        uint32_t group = group_of(g, e->loose[r.port] ? port_has_momentum(f, r.port) ? p.e : p.f : p.stored);
        struct terms sum = { 0 };
        inst value;

        for (uint32_t k = 0; k < r.n; k++) {
            causal_term t = e->c->term.at[r.first + k];
            var_id v = equations_output_var(f, t.port);

            if (t.nmoduli || fabs(t.weight) != 1) {
                inst term = inst_var(f, v);

                for (int m = 0; m < t.nmoduli; m++)
                    term = equations_combine(e, t.inverse[m] ? EX_DIV : EX_MUL, term, t.modulus[m]);
                term = equations_combine(e, EX_MUL, inst_const(f, fabs(t.weight)), term);
                v = eq_new_var(e, VAR_AUX, r.port, var_name(f, v), var_at(f, v), f->var.at[v].position);
                eq_define(e, v, term);
            }
            equations_add_term(&sum, v, t.weight < 0 ? -1 : 1);
        }
        value = equations_sum_of(e, &sum, p.junction);
        vec_free(&sum.var);
        vec_free(&sum.sign);
        if (group == NONE) {
            if (e->var.at[p.stored].kind == DEF_EXPLICIT)
                e->var.at[p.stored].def = put_in_place(e, e->var.at[p.stored].def, equations_output_var(f, r.port),
                                                       value);
        } else {
            for (uint32_t k = 0; k < group_size(g, group); k++)
                g->group.at[group].residual.at[k] = put_in_place(e, group_residual(g, group, k),
                                                                 equations_output_var(f, r.port), value);
        }
    }
}

/* ---------------------------------------------------------------- the steps */

/* Passed between the steps besides the equations. */
struct build {
    equations *e;
    struct groups group; /* the groups so far */
    struct rates rate;
    struct constraints constraint;
    struct switches ideal;
    uint32_t *component_group; /* [junction] group of its open component */
    /* number of variables that the model itself differentiates: what sticking needs may jump */
    size_t differentiated;
};

static bool
find_equal(struct build *b)
{
    equations_find_equal(b->e);
    eq_sync(b->e);
    return true;
}

static bool
group_components(struct build *b)
{
    const causal *c = b->e->c;

    for (size_t n = 0; n + 1 < c->component.n; n++) {
        uint32_t group = group_new(&b->group);

        for (uint32_t i = c->component.at[n]; i < c->component.at[n + 1]; i++)
            b->component_group[c->open_junction.at[i]] = group;
    }
    return true;
}

static bool
states(struct build *b)
{
    make_states(b->e);
    return true;
}

static bool
signals(struct build *b)
{
    flat_model *f = b->e->f;

    for (uint32_t i = 0, n = (uint32_t)f->var.n; i < n; i++)
        if (f->var.at[i].kind == VAR_SIGNAL) {
            b->e->defining = (defined){ DEF_BY_TEXT, 0 };
            eq_define(b->e, i, var_def(f, i));
        }
    return true;
}

static bool
define_elements(struct build *b)
{
    flat_model *f = b->e->f;
    struct closed_forms forms = { 0 };

    for (uint32_t i = 0; i < f->element.n; i++)
        equations_define_element(b->e, &b->group, &b->rate, &b->constraint, &b->ideal, &forms, i, b->component_group);
    map_free(&forms.index);
    vec_free(&forms.at);
    return true;
}

static bool
removable_elements(struct build *b)
{
    for (uint32_t i = 0; b->e->removable && i < b->e->f->element.n; i++)
        equations_weigh_element(b->e, i);
    return true;
}

static bool
open_bonds(struct build *b)
{
    equations *e = b->e;
    flat_model *f = e->f;

    for (uint32_t i = 0; i < f->bond.n; i++) {
        flat_bond x = f->bond.at[i];

        e->defining = (defined){ DEF_BY_BOND, i };
        if (x.own != VAR_NONE && e->c->bond_from[i] == ST_OPEN && e->c->bond_to[i] == ST_OPEN)
            group_add(&b->group, b->component_group[x.from], x.own,
                      equations_combine(e, EX_SUB, inst_var(f, f->junction.at[x.from].common),
                                        inst_var(f, f->junction.at[x.to].common)));
    }
    return true;
}

static bool
junctions(struct build *b)
{
    bool ok = true;

    for (uint32_t j = 0; j < b->e->f->junction.n; j++)
        ok = equations_define_junction(b->e, &b->group, j, b->component_group) && ok;
    free(b->component_group);
    b->component_group = NULL;
    free(b->e->equal);
    b->e->equal = NULL;
    return ok;
}

static bool
relations_of_storage(struct build *b)
{
    use_relations(b->e, &b->group);
    return true;
}

static bool
equal_laws(struct build *b)
{
    if (!b->e->removable)
        evenly_share(b->e, &b->group);
    return true;
}

static bool
split_groups(struct build *b)
{
    groups_split(b->e, &b->group);
    return true;
}

/* der(expr) of the text */
static bool
written_rates(struct build *b)
{
    equations *e = b->e;
    flat_model *f = e->f;

    for (uint32_t i = 0, n = (uint32_t)f->var.n; i < n; i++)
        if (f->var.at[i].kind == VAR_RATE && e->var.at[i].kind == DEF_NONE && group_of(&b->group, i) == NONE) {
            var_id v = f->var.at[i].owner, d = v == 0 ? VAR_NONE : rate_of(&b->rate, v);

            e->defining = (defined){ DEF_BY_RATE, v };
            if (d != i)
                eq_define(e, i, v == 0 ? inst_const(f, 1) : d == VAR_NONE ? inst_const(f, 0) : inst_var(f, d));
        }
    return true;
}

static bool
rates(struct build *b)
{
    define_rates(&b->rate);
    return b->rate.ok;
}

static bool
residual_sources(struct build *b)
{
    return constraints_make(&b->constraint, &b->rate) && b->rate.ok;
}

static bool
sticking(struct build *b)
{
    b->differentiated = b->rate.differentiated.n;
    stick_define(b->e, &b->group, &b->rate);
    return b->rate.ok;
}

static bool
approached_limits(struct build *b)
{
    approach_define(b->e, &b->group, &b->rate, &b->ideal);
    return true;
}

static bool
ideal_switches(struct build *b)
{
    switched_define(b->e, &b->group, &b->rate, b->ideal.at, b->ideal.n);
    return b->rate.ok;
}

static bool
outputs(struct build *b)
{
    list_outputs(b->e);
    eq_sync(b->e);
    return true;
}

static bool
order_and_blocks(struct build *b)
{
    return blocks_sort(b->e, &b->group);
}

static bool
only_outputs(struct build *b)
{
    mark_only_outputs(b->e);
    return true;
}

static bool
known_modes(struct build *b)
{
    find_known_modes(b->e);
    return true;
}

static bool
values(struct build *b)
{
    return check_numbers(b->e, &b->rate, b->differentiated);
}

static bool
targets_of_reinit(struct build *b)
{
    return check_reinits(b->e);
}

/* Executed from top to bottom. A step that `goes_on` runs even after errors, so that all of them are reported. */
static const struct step {
    bool (*run)(struct build *b); /* false: errors were reported */
    bool goes_on;
} steps[] = {
    /* needs the graph; gives one name to common variables that bonds make equal. First, because terms cancel only under
     * one name. */
    { find_equal, true },
    /* needs the open components of causality; gives each an empty group. Before elements, which fill the groups. */
    { group_components, true },
    /* needs the states chosen by causality; gives states and the variables that are their rates. */
    { states, true },
    /* gives signals their definitions in the text. */
    { signals, true },
    /* needs groups and states; gives what elements impose by their laws, in the direction of their strokes, and adds
     * unknowns and laws of open ones to their groups. Finds residual sources and ideal switches. */
    { define_elements, true },
    /* needs the definitions by laws; multiplies them by the factors that take elements out of a run, if asked for.
     * Before balances read them: nothing else may be done to them in between. */
    { removable_elements, true },
    /* needs groups; adds the condition that both common variables are equal for bonds between open junctions of one
     * kind. */
    { open_bonds, true },
    /* needs what elements bring to junctions; gives balances and common variables. Now every variable of the graph has
     * a definition or a group. */
    { junctions, true },
    /* needs balances; replaces them by the sums that the rank check found for dependent storage. Before anything is
     * differentiated: one balance after the other would have no end. */
    { relations_of_storage, true },
    /* needs all definitions but those of rates; of equal laws that saturate in a row one stays. Not where elements are
     * to be taken out one by one. */
    { equal_laws, true },
    /* needs complete groups; splits them where possible. */
    { split_groups, true },
    /* needs all definitions; gives der(...) of the text its rate. Before `rates`, which defines the rates asked for
     * here. */
    { written_rates, true },
    /* needs the list of rates asked for, by dependent storage and by the text; gives their definitions. */
    { rates, true },
    /* needs rates; gives the conditions of residual sources, differentiated as often as necessary. Not after errors,
     * because it differentiates definitions that must be complete. */
    { residual_sources, false },
    /* needs all rates of the model itself, and counts them; defines for sign(x) what keeps x at zero, which needs
     * further rates. */
    { sticking, true },
    /* needs all definitions, and everything differentiated but for ideal switches; resistors whose laws approach a
     * limit become such switches where a state drives them towards it. */
    { approached_limits, true },
    /* needs all other equations; gives those of ideal switches, as nets. */
    { ideal_switches, true },
    /* gives outputs. */
    { outputs, true },
    /* needs every equation; gives the order of evaluation and the blocks. Nothing may be defined from here on. */
    { order_and_blocks, false },
    /* needs the order; marks states that only outputs read. */
    { only_outputs, false },
    /* needs closed forms of loops, which the order gives; finds modes that depend on time alone. */
    { known_modes, false },
    /* needs everything: checks what depends on numbers, and the targets of `reinit`. */
    { values, false },
    { targets_of_reinit, false },
};

bool
equations_build(equations *e, const causal *c)
{
    struct build b = { .e = e,
                       .rate = { .e = e, .ok = true },
                       .component_group = bg_malloc((e->f->junction.n + 1) * sizeof *b.component_group) };
    bool ok = true;

    b.rate.g = &b.group;
    b.group.e = e;
    e->c = c;
    e->loose = equations_loose_storage(e, c);
    for (const struct step *s = steps; s < steps + sizeof steps / sizeof *steps; s++)
        if (ok || s->goes_on) {
            e->defining = (defined){ DEF_BY_NOTHING, 0 };
            ok = s->run(&b) && ok;
        }
    rates_free(&b.rate);
    constraints_free(&b.constraint);
    groups_free(&b.group);
    vec_free(&b.ideal);
    free(b.component_group);
    free(e->loose);
    e->loose = NULL;
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
    vec_free(&e->jump);
    vec_free(&e->power);
    vec_free(&e->constraint);
    vec_free(&e->held);
    vec_free(&e->row);
    vec_free(&e->watch);
    vec_free(&e->net_mode);
    vec_free(&e->net);
    vec_free(&e->near);
    vec_free(&e->output);
    vec_free(&e->circle);
    vec_free(&e->part);
    free(e);
}
