/* walks.c - see walks.h */
#include "walks.h"

#include <stdlib.h>

void
definition_walk_begin(definition_walk *r, const equations *e)
{
    *r = (definition_walk){ .e = e, .met = bg_calloc(e->var.n + 1, sizeof *r->met) };
}

void
definition_walk_free(definition_walk *r)
{
    vec_free(&r->todo);
    free(r->met);
}

void
definition_walk_add(definition_walk *r, var_id v)
{
    vec_push(&r->todo, v);
}

void
definition_walk_read(definition_walk *r, inst i)
{
    for (uint32_t k = 0; k < i.n; k++)
        vec_push(&r->todo, inst_slots(r->e->f, i)[k]);
}

bool
definition_walk_next(definition_walk *r, var_id *v)
{
    const equations *e = r->e;
    const eq_var *d;

    do {
        if (!r->todo.n)
            return false;
        *v = r->todo.at[--r->todo.n];
    } while (r->met[*v]);
    r->met[*v] = true;
    d = &e->var.at[*v];
    if (d->kind == DEF_EXPLICIT) {
        definition_walk_read(r, d->def);
    } else if (d->kind == DEF_BLOCK) {
        const eq_block *b = &e->block.at[d->index];

        for (uint32_t i = 0; i < b->n; i++) {
            r->met[e->unknown.at[b->unknown0 + i]] = true;
            definition_walk_read(r, e->residual.at[b->residual0 + i]);
        }
    }
    return true;
}

/* ---------------------------------------------------------------- while definitions are built */

void
group_walk_free(group_walk *w)
{
    vec_free(&w->met);
    vec_free(&w->group_met);
    vec_free(&w->todo);
}

void
group_walk_begin(group_walk *w, const equations *e, const struct groups *g)
{
    w->e = e;
    w->g = g;
    vec_resize(&w->met, e->var.n);
    vec_resize(&w->group_met, g->group.n);
    w->number++;
    w->todo.n = 0;
}

void
group_walk_read(group_walk *w, inst i)
{
    for (uint32_t s = 0; s < i.n; s++) {
        var_id v = inst_slots(w->e->f, i)[s];

        if (w->met.at[v] == w->number)
            continue;
        w->met.at[v] = w->number;
        vec_push(&w->todo, v);
    }
}

bool
group_walk_next(group_walk *w, var_id *v)
{
    while (w->todo.n) {
        *v = w->todo.at[--w->todo.n];
        if (w->e->var.at[*v].kind != DEF_EXPLICIT)
            return true;
        group_walk_read(w, w->e->var.at[*v].def);
    }
    return false;
}

void
group_walk_enter(group_walk *w, var_id v)
{
    uint32_t group = w->e->var.at[v].kind == DEF_NONE ? group_of(w->g, v) : NONE;

    if (group == NONE || w->group_met.at[group] == w->number)
        return;
    w->group_met.at[group] = w->number;
    for (uint32_t i = 0; i < group_size(w->g, group); i++)
        group_walk_read(w, group_residual(w->g, group, i));
}

bool
group_walk_follows(group_walk *w, const equations *e, const struct groups *g, inst i, var_id v)
{
    bool found = false;
    var_id u;

    group_walk_begin(w, e, g);
    group_walk_read(w, i);
    while (!found && group_walk_next(w, &u)) {
        found = u == v;
        group_walk_enter(w, u);
    }
    return found;
}

/* Is it a quantity of the past, whose rate is unknown? How near to its limit a law ends (eq_near) is constant. */
static bool
is_past(const equations *e, var_id v)
{
    bool past = e->f->var.at[v].kind == VAR_MODE && e->mode.at[e->f->var.at[v].owner].kind == MODE_GIVEN;

    for (size_t i = 0; i < e->near.n && past; i++)
        past = e->near.at[i].mode != e->f->var.at[v].owner;
    return past;
}

bool
group_walk_moves(group_walk *w, const equations *e, const struct groups *g, inst x, var_id s)
{
    VEC(var_id) rate = { 0 };
    bool past = false, found = false;
    var_id v;

    group_walk_begin(w, e, g);
    group_walk_read(w, x);
    while (!past && group_walk_next(w, &v)) {
        past = is_past(e, v);
        if (e->var.at[v].kind == DEF_STATE)
            vec_push(&rate, e->state.at[e->var.at[v].index].rate);
        group_walk_enter(w, v);
    }
    group_walk_begin(w, e, g);
    for (size_t i = 0; i < rate.n && !past; i++)
        group_walk_read(w, inst_var(e->f, rate.at[i]));
    while (!past && !found && group_walk_next(w, &v)) {
        found = v == s;
        group_walk_enter(w, v);
    }
    vec_free(&rate);
    return found;
}
