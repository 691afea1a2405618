/* initial_program.c - see initial_program.h */
#include "initial_program.h"

#include <stdlib.h>
#include <string.h>

#include "equations.h"
#include "expr_pool.h"
#include "program.h"

struct making {
    initial_program *g;
    const flat_model *f;
    const causal *c;
    const equations *e;
    map number; /* variable -> number */
    VEC(uint32_t) slot;
};

static uint32_t
number_of(struct making *w, var_id v)
{
    const flat_var *x = &w->f->var.at[v];
    bool mode = x->kind == VAR_MODE;
    uint32_t k;

    if (x->kind == VAR_TIME)
        return INITIAL_TIME;
    k = map_get(&w->number, v);
    if (k == MAP_NONE) {
        k = INITIAL_READ + (uint32_t)w->g->read.n;
        vec_push(&w->g->read, ((struct initial_read){ mode, mode ? x->owner : v }));
        map_set(&w->number, v, k);
    }
    return k;
}

static formula
stated_value(struct making *w, inst i)
{
    w->slot.n = 0;
    if (!inst_known(i))
        return formula_write(&w->g->book, w->f->pool, ex_const(w->f->pool, 0), NULL, 0);
    for (uint32_t k = 0; k < i.n; k++)
        vec_push(&w->slot, number_of(w, inst_slots(w->f, i)[k]));
    return formula_write(&w->g->book, w->f->pool, i.root, w->slot.at, i.n);
}

/* ---------------------------------------------------------------- laws of storage elements */

/* The variables of a law's slots, with `own` read as variable `as`; *at: the slot of `own`, NONE: none. False if the
 * law also reads other variables. */
static bool
law_slots(struct making *w, const flat_law *law, var_id own, enum initial_number as, uint32_t *at)
{
    w->slot.n = 0;
    *at = NONE;
    for (uint32_t k = 0; k < law->def.n; k++) {
        var_id v = inst_slots(w->f, law->def)[k];
        enum var_kind kind = w->f->var.at[v].kind;

        if (v == own)
            *at = k;
        else if (kind != VAR_TIME && kind != VAR_PARAM && kind != VAR_LITERAL && kind != VAR_MODE)
            return false;
        vec_push(&w->slot, v == own ? as : number_of(w, v));
    }
    return true;
}

/* The port's law solved for its stored quantity, from its effort (C) or flow (I); NONE if it reads more than its own
 * variables. */
static uint32_t
solved_law(struct making *w, uint32_t port)
{
    pool *p = w->f->pool;
    const flat_port *q = &w->f->port.at[port];
    const flat_law *law = port_law(w->f, port);
    bool direct = law->out == Q_DISPLACEMENT || law->out == Q_MOMENTUM;
    var_id given = port_has_momentum(w->f, port) ? q->f : q->e;
    struct initial_law x = { .solved = true };
    node solution, divisor, root = law->def.root;
    uint32_t own, n = law->def.n;

    if (!law_slots(w, law, direct ? given : q->stored, direct ? INITIAL_GIVEN : INITIAL_OWN, &own) || own == NONE)
        return NONE;
    vec_push(&w->slot, INITIAL_GIVEN);
    if (direct) {
        x.stored = formula_write(&w->g->book, p, root, w->slot.at, n);
    } else if (ex_solve(p, ex_sub(p, root, ex_slot(p, n)), own, &solution, &divisor)) {
        x.stored = formula_write(&w->g->book, p, solution, w->slot.at, n + 1);
    } else {
        x.solved = false;
        x.law = formula_write(&w->g->book, p, root, w->slot.at, n);
        x.slope = formula_write(&w->g->book, p, ex_derivative(p, root, own), w->slot.at, n);
    }
    vec_push(&w->g->law, x);
    return (uint32_t)w->g->law.n - 1;
}

/* The law with its conditions in place of their modes. False: one is no comparison. */
static bool
write_out(struct making *w, inst law, inst *written)
{
    static const enum ex_op op[] = { [MODE_LESS] = EX_LT, [MODE_LESS_EQUAL] = EX_LE, [MODE_EQUAL] = EX_EQ };
    pool *p = w->f->pool;
    VEC(inst) inner = { 0 };
    bool any = false, ok = true;

    for (uint32_t k = 0; k < law.n && ok; k++) {
        const flat_var *x = &w->f->var.at[inst_slots(w->f, law)[k]];
        const eq_mode *q = x->kind == VAR_MODE ? &w->e->mode.at[x->owner] : NULL;
        inst g = INST_NONE;

        if (q) {
            ok = q->kind < sizeof op / sizeof *op && op[q->kind] && write_out(w, q->g, &g);
            if (ok)
                g = inst_part(w->e->composer, ex_make(p, op[q->kind], g.root, ex_const(p, 0), NODE_NONE),
                              inst_slots(w->f, g), g.n);
            any = true;
        }
        vec_push(&inner, g);
    }
    *written = ok && any ? inst_compose(w->e->composer, law, inner.at) : law;
    vec_free(&inner);
    return ok;
}

/* Storage that others determine without telling what it stores: see equations.loose. */
static void
add_loose(struct making *w, uint32_t state)
{
    const eq_state *s = &w->e->state.at[state];
    flat_law law;
    uint32_t own;

    if (s->port == NONE || w->c->state[s->port])
        return;
    law = *port_law(w->f, s->port);
    if (write_out(w, law.def, &law.def) && law_slots(w, &law, s->var, INITIAL_OWN, &own))
        vec_push(&w->g->loose,
                 ((struct initial_loose){
                     state, port_has_momentum(w->f, s->port) ? w->f->port.at[s->port].f : w->f->port.at[s->port].e,
                     formula_write(&w->g->book, w->f->pool, law.def.root, w->slot.at, law.def.n) }));
}

static void
add_zero(struct making *w, uint32_t state)
{
    const eq_state *s = &w->e->state.at[state];
    const flat_law *law;
    uint32_t own;

    if (s->port == NONE)
        return;
    law = port_law(w->f, s->port);
    if (law_slots(w, law, s->var, INITIAL_OWN, &own))
        vec_push(&w->g->zero,
                 ((struct initial_zero){
                     state, s->port, formula_write(&w->g->book, w->f->pool, law->def.root, w->slot.at, law->def.n) }));
}

/* ---------------------------------------------------------------- what is stated */

/* Through the storage law of the port, if its stored quantity is a state and the law determines it. */
static void
follows_from_law(struct making *w, uint32_t port, struct initial_stated *s)
{
    s->law = solved_law(w, port);
    if (s->law != NONE)
        s->state = w->e->var.at[w->f->port.at[port].stored].index;
}

static void
stated_on_port(struct making *w, const flat_initial *in, struct initial_stated *s)
{
    const flat_port *q = &w->f->port.at[in->port];
    bool state = q->stored != VAR_NONE && w->c->state[in->port];

    s->var = in->q == Q_EFFORT ? q->e : in->q == Q_FLOW ? q->f : q->stored;
    if (s->var == q->stored && w->e->var.at[s->var].kind == DEF_STATE)
        s->state = w->e->var.at[s->var].index;
    else if (state && in->q == (port_has_momentum(w->f, in->port) ? Q_FLOW : Q_EFFORT))
        follows_from_law(w, in->port, s);
}

static void
stated_on_junction(struct making *w, const flat_initial *in, struct initial_stated *s)
{
    const flat_model *f = w->f;
    uint32_t strong = w->c->strong[in->junction], port;

    s->var = f->junction.at[in->junction].common;
    if (w->e->var.at[s->var].kind == DEF_STATE) {
        s->state = w->e->var.at[s->var].index;
        s->last = true;
        return;
    }
    if (strong == NONE || f->incidence.at[strong].is_bond)
        return;
    port = f->incidence.at[strong].index;
    if (f->port.at[port].stored != VAR_NONE && w->c->state[port])
        follows_from_law(w, port, s);
}

static void
add_stated(struct making *w, const flat_initial *in)
{
    struct initial_stated s = { stated_value(w, in->def), in->at, in->written, VAR_NONE, NONE, NONE, false };

    if (in->port != NONE)
        stated_on_port(w, in, &s);
    else
        stated_on_junction(w, in, &s);
    vec_push(&w->g->stated, s);
}

initial_program *
initial_program_new(const flat_model *f, const causal *c, const equations *e)
{
    initial_program *g = bg_calloc(1, sizeof *g);
    struct making w = { .g = g, .f = f, .c = c, .e = e };

    for (uint32_t i = 0; i < e->state.n; i++) {
        var_id v = e->state.at[i].var;
        const flat_var *x = &f->var.at[v];

        vec_push(&g->state, v);
        if (x->kind == VAR_INTEGRAL)
            vec_push(&g->stated, ((struct initial_stated){ stated_value(&w, var_init(f, v)), var_at(f, v), NULL, v, i,
                                                           NONE, true }));
    }
    /* stated stored quantities first; values that go through laws then determine the rest */
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < f->initial.n; i++) {
            const flat_initial *in = &f->initial.at[i];

            if ((in->port != NONE && (in->q == Q_DISPLACEMENT || in->q == Q_MOMENTUM)) == (pass == 0))
                add_stated(&w, in);
        }
    for (size_t i = 0; i < e->constraint.n; i++)
        vec_push(&g->constraint, e->constraint.at[i]);
    for (uint32_t i = 0; i < e->state.n; i++) {
        add_zero(&w, i);
        add_loose(&w, i);
    }
    formula_close(&g->book);
    vec_free(&w.slot);
    map_free(&w.number);
    return g;
}

void
initial_program_free(initial_program *g)
{
    if (!g)
        return;
    formula_book_free(&g->book);
    vec_free(&g->read);
    vec_free(&g->stated);
    vec_free(&g->law);
    vec_free(&g->zero);
    vec_free(&g->loose);
    vec_free(&g->state);
    vec_free(&g->constraint);
    free(g);
}

/* ---------------------------------------------------------------- conditions */

size_t
initial_conditions_most(const initial_program *g)
{
    return g->stated.n + g->constraint.n + g->loose.n;
}

size_t
initial_conditions(const initial_program *g, bool all, var_id *list)
{
    bool *set = bg_calloc(g->state.n + 1, sizeof *set);
    size_t n = 0;

    for (size_t i = 0; i < g->stated.n; i++) {
        const struct initial_stated *in = &g->stated.at[i];
        bool state = in->state != NONE && (in->last || !set[in->state]);

        if (!state || (all && in->law != NONE && !g->law.at[in->law].solved))
            list[n++] = in->var;
        if (state)
            set[in->state] = true;
    }
    for (size_t i = 0; i < g->constraint.n; i++)
        list[n++] = g->constraint.at[i];
    for (size_t i = 0; i < g->loose.n; i++)
        list[n++] = g->loose.at[i].given;
    free(set);
    return n;
}

/* Adds the states on which variable v depends to the list. stamp, todo: by variable; no stamp equals `mark` yet. */
static void
add_cone(condition_program *g, const equations *e, var_id v, uint32_t *stamp, uint32_t mark, uint32_t *todo)
{
    size_t n = 0;

    todo[n++] = v;
    stamp[v] = mark;
    while (n) {
        var_id w = todo[--n];
        const eq_var *d = &e->var.at[w];
        uint32_t count = d->kind == DEF_EXPLICIT ? 1 : d->kind == DEF_BLOCK ? e->block.at[d->index].n : 0;

        if (d->kind == DEF_STATE)
            vec_push(&g->state, d->index);
        for (uint32_t i = 0; i < count; i++) {
            inst x = d->kind == DEF_EXPLICIT ? d->def : e->residual.at[e->block.at[d->index].residual0 + i];

            for (uint32_t k = 0; k < x.n; k++) {
                var_id u = e->f->slot.at[x.first + k];

                if (stamp[u] != mark) {
                    stamp[u] = mark;
                    todo[n++] = u;
                }
            }
        }
    }
}

condition_program *
condition_program_new(equations *e, layout at, const var_id *var, size_t n, program_list *made)
{
    condition_program *g = bg_calloc(1, sizeof *g);
    inst *target = bg_malloc((n + 1) * sizeof *target);
    program *plan;
    uint32_t *stamp = bg_calloc(e->var.n + 1, sizeof *stamp), *todo = bg_malloc((e->var.n + 1) * sizeof *todo);

    vec_push(&g->first, 0);
    for (uint32_t i = 0; i < n; i++) {
        target[i] = inst_var(e->f, var[i]);
        vec_push(&g->var, var[i]);
        add_cone(g, e, var[i], stamp, i + 1, todo);
        vec_push(&g->first, (uint32_t)g->state.n);
    }
    plan = program_plan(e, target, NULL, (uint32_t)n);
    vec_push(made, plan);
    g->routine = program_give(plan);
    free(target);
    free(stamp);
    free(todo);
    if (program_code(plan, at, false))
        return g;
    condition_program_free(g);
    return NULL;
}

void
condition_program_free(condition_program *g)
{
    routine_free(g->routine);
    vec_free(&g->var);
    vec_free(&g->state);
    vec_free(&g->first);
    free(g);
}
