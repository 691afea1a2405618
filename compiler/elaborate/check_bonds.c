/* check_bonds.c - units of bonds: effort times flow is power
 *
 * All bonds that are connected through junctions carry the same effort and flow: a region. Without a declared domain,
 * effort is power over flow, so that the unit F of the flow determines all others: e in W/F, f in F, q in F*s, p in
 * W*s/F. Every law is an equation of units over those of its regions and of the values that it reads. An equation that
 * contains a single unknown F is solved for it (R in [N.s/m]: F^2 = W/(N.s/m)), and the result is used in all laws that
 * read the same region. Two-ports and fields relate units of different regions because their laws do.
 *
 * A bare number fits any unit, and so does its product; an unknown unit implies nothing. Domains give their units
 * directly.
 *
 * needs     ports, bonds and domains; laws, initial values, signals; units of declared values
 * provides  units of the bonds' variables, of q and p, and of signals that state none
 * reports   unit-bond: a unit that no bond has; unit-clash: two that disagree. One for each region
 * time      linear in the size of the laws, times the number of regions that one of them reads
 */
#include <math.h>

#include "check_bonds_inside.h"

/* ---------------------------------------------------------------- equations */

static var_id
quantity_var(const flat_port *p, enum quantity q)
{
    return q == Q_EFFORT ? p->e : q == Q_FLOW ? p->f : p->stored;
}

uint32_t
bonds_in_port(const flat_model *f, const flat_law *law)
{
    uint32_t port0 = f->element.at[f->port.at[law->port].element].port0;

    return law->port - (law->port - port0) % 2;
}

static void
look_at_two_port(struct check *c, const flat_law *law)
{
    uint32_t in = bonds_in_port(c->f, law);
    bool transformer = c->f->element.at[c->f->port.at[in].element].type == EL_TF;
    const flat_port *x = &c->f->port.at[in], *y = x + 1;
    measure m = bonds_expression(c, law->def);

    bonds_same_unit(c, NODE_NONE, bonds_variable(c, x->e), NODE_NONE,
                    bonds_times(c, m, bonds_variable(c, transformer ? y->e : y->f), 1));
    bonds_same_unit(c, NODE_NONE, bonds_variable(c, transformer ? y->f : y->e), NODE_NONE,
                    bonds_times(c, m, bonds_variable(c, x->f), 1));
}

/* The unit of the value that an equation other than a law gives, and of its target. */
static measure
given(struct check *c, const struct equation *e, measure *to)
{
    const flat_model *f = c->f;
    measure from;

    if (e->kind == EQ_INITIAL) {
        const flat_initial *i = &f->initial.at[e->index];
        var_id v = i->port != NONE ? quantity_var(&f->port.at[i->port], i->q) : f->junction.at[i->junction].common;

        *to = v == VAR_NONE ? anything : bonds_variable(c, v);
        return i->unit ? bonds_stated(i->unit) : anything;
    }
    if (e->kind == EQ_DELAY) {
        const flat_delay *d = &f->delay.at[e->index];

        *to = bonds_variable(c, d->var);
        return bonds_expression(c, d->of);
    }
    if (e->kind == EQ_REINIT) {
        *to = bonds_variable(c, f->reinit.at[e->index].target);
        return bonds_expression(c, f->reinit.at[e->index].value);
    }
    *to = bonds_variable(c, e->index);
    c->shows = f->var.at[e->index].role == ROLE_OUTPUT && var_display(f, e->index);
    from = bonds_expression(c, var_def(f, e->index));
    c->shows = false;
    return from;
}

void
bonds_look(struct check *c, const struct equation *e)
{
    measure to, from;

    c->found = (struct finding){ .sym = NONE, .a = NODE_NONE, .b = NODE_NONE };
    if (e->kind == EQ_LAW) {
        const flat_law *law = &c->f->law.at[e->index];

        if (law->kind == LAW_MODULUS) {
            look_at_two_port(c, law);
        } else {
            c->any_unit = law->kind == LAW_RESIDUAL;
            from = bonds_expression(c, law->def);
            c->any_unit = false;
            if (law->kind == LAW_ASSIGN)
                bonds_same_unit(c, NODE_NONE, bonds_variable(c, quantity_var(&c->f->port.at[law->port], law->out)),
                                NODE_NONE, from);
        }
        return;
    }
    from = given(c, e, &to);
    if (e->kind == EQ_SIGNAL && c->f->var.at[e->index].kind == VAR_INTEGRAL) {
        from = bonds_times(c, from, bonds_plain(c->el->second), 1);
        bonds_same_unit(c, NODE_NONE, to, NODE_NONE, from);
        bonds_same_unit(c, NODE_NONE, to, NODE_NONE, bonds_expression(c, var_init(c->f, e->index)));
    } else {
        bonds_same_unit(c, NODE_NONE, to, NODE_NONE, from);
    }
}

/* ---------------------------------------------------------------- dependences between equations */

static void
add_item(struct items *t, uint32_t item)
{
    if (t->stamp[item] == t->now)
        return;
    t->stamp[item] = t->now;
    vec_push(&t->item, item);
}

/* Delays are in the order of their variables. */
static bool
is_delayed(const flat_model *f, var_id v)
{
    size_t low = 0, high = f->var.at[v].kind == VAR_MODE ? f->delay.n : 0, n = high;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (f->delay.at[mid].var < v)
            low = mid + 1;
        else
            high = mid;
    }
    return low < n && f->delay.at[low].var == v;
}

static void
add_unit_variable(struct items *t, var_id v)
{
    const flat_model *f = t->c->f;
    uint32_t r;

    while (f->var.at[v].kind == VAR_RATE)
        v = f->var.at[v].owner;
    r = bonds_region_of(t->c, v);
    if (r != NONE)
        add_item(t, r);
    else if ((!var_unit(f, v) || t->c->follows[v]) &&
             (f->var.at[v].kind == VAR_SIGNAL || f->var.at[v].kind == VAR_INTEGRAL || is_delayed(f, v)))
        add_item(t, (uint32_t)f->junction.n + v);
}

static void
add_inst(struct items *t, inst i)
{
    for (uint32_t k = 0; inst_known(i) && k < i.n; k++)
        add_unit_variable(t, inst_slots(t->c->f, i)[k]);
}

void
bonds_list_read(struct items *t, inst i)
{
    t->now++;
    t->item.n = 0;
    add_inst(t, i);
}

void
bonds_list_items(struct items *t, const struct equation *e)
{
    const flat_model *f = t->c->f;

    t->now++;
    t->item.n = 0;
    switch (e->kind) {
    case EQ_LAW: {
        const flat_law *law = &f->law.at[e->index];

        add_inst(t, law->def);
        add_item(t, t->c->root[f->port.at[law->port].junction]);
        if (law->kind == LAW_MODULUS) {
            uint32_t in = bonds_in_port(f, law);

            add_item(t, t->c->root[f->port.at[in].junction]);
            add_item(t, t->c->root[f->port.at[in + 1].junction]);
        }
        break;
    }
    case EQ_INITIAL: {
        const flat_initial *i = &f->initial.at[e->index];

        add_item(t, t->c->root[i->port != NONE ? f->port.at[i->port].junction : i->junction]);
        break;
    }
    case EQ_REINIT:
        add_unit_variable(t, f->reinit.at[e->index].target);
        add_inst(t, f->reinit.at[e->index].value);
        break;
    case EQ_SIGNAL:
        add_inst(t, var_def(f, e->index));
        if (f->var.at[e->index].kind == VAR_INTEGRAL)
            add_inst(t, var_init(f, e->index));
        break;
    case EQ_DELAY: add_inst(t, f->delay.at[e->index].of); break;
    }
}

static bool
item_known(const struct check *c, uint32_t item)
{
    if (item >= c->f->junction.n)
        return var_unit(c->f, item - c->f->junction.n) != NULL;
    return c->region[item].flow && c->region[item].effort;
}

/* A signal whose definition was reported is not checked again. */
static bool
clash_said(const elab *el, var_id v)
{
    const value *x = value_of_variable(el, v);

    return x && x->clash;
}

static void
list_equations(struct check *c)
{
    const flat_model *f = c->f;

    for (uint32_t k = 0; k < f->law.n; k++)
        if (f->law.at[k].port < f->port.n)
            vec_push(&c->eq, ((struct equation){ .kind = EQ_LAW, .index = k }));
    for (uint32_t k = 0; k < f->initial.n; k++)
        vec_push(&c->eq, ((struct equation){ .kind = EQ_INITIAL, .index = k }));
    for (uint32_t k = 0; k < f->var.n; k++)
        if ((f->var.at[k].kind == VAR_SIGNAL || f->var.at[k].kind == VAR_INTEGRAL) && inst_known(var_def(f, k)) &&
            !f->var.at[k].holds && !clash_said(c->el, k)) /* a held value is an integral without a rate */
            vec_push(&c->eq, ((struct equation){ .kind = EQ_SIGNAL, .index = k }));
    for (uint32_t k = 0; k < f->delay.n; k++)
        vec_push(&c->eq, ((struct equation){ .kind = EQ_DELAY, .index = k }));
    for (uint32_t k = 0; k < f->reinit.n; k++)
        vec_push(&c->eq, ((struct equation){ .kind = EQ_REINIT, .index = k }));
}

static void
list_readers(struct check *c)
{
    size_t nitems = c->f->junction.n + c->f->var.n;
    struct items t = { .c = c, .stamp = bg_calloc(nitems, sizeof(uint32_t)) };
    uint32_t *fill;

    c->reader0 = bg_calloc(nitems + 1, sizeof *c->reader0);
    for (size_t e = 0; e < c->eq.n; e++) {
        bonds_list_items(&t, &c->eq.at[e]);
        for (size_t k = 0; k < t.item.n; k++) {
            c->reader0[t.item.at[k] + 1]++;
            c->eq.at[e].unknown += !item_known(c, t.item.at[k]);
        }
    }
    for (size_t k = 0; k < nitems; k++)
        c->reader0[k + 1] += c->reader0[k];
    c->reader = bg_calloc(c->reader0[nitems], sizeof *c->reader);
    fill = bg_calloc(nitems, sizeof *fill);
    for (size_t e = 0; e < c->eq.n; e++) {
        bonds_list_items(&t, &c->eq.at[e]);
        for (size_t k = 0; k < t.item.n; k++)
            c->reader[c->reader0[t.item.at[k]] + fill[t.item.at[k]]++] = (uint32_t)e;
    }
    free(fill);
    free(t.stamp);
    vec_free(&t.item);
}

/* ---------------------------------------------------------------- spreading */

static void
enqueue(struct check *c, uint32_t e)
{
    if (c->eq.at[e].queued)
        return;
    c->eq.at[e].queued = true;
    vec_push(&c->queue, e);
}

/* An item has become known: evaluates the equations with at most one unknown again. */
static void
wake_readers(struct check *c, uint32_t item)
{
    for (uint32_t k = c->reader0[item]; k < c->reader0[item + 1]; k++) {
        struct equation *e = &c->eq.at[c->reader[k]];

        if (e->unknown)
            e->unknown--;
        if (e->unknown <= 1)
            enqueue(c, c->reader[k]);
    }
}

static void
settle_unit(struct check *c, uint32_t sym, const unit *u, uint32_t e)
{
    struct region *x = &c->region[sym / 2];

    if (sym % 2)
        x->effort = u;
    else
        x->flow = u;
    if (!x->apart)
        x->effort = unit_divide(c->el->u, c->watt, u);
    x->from = e;
    if (x->effort && x->flow)
        wake_readers(c, sym / 2);
}

var_id
bonds_takes_unit(const flat_model *f, const struct equation *e)
{
    var_id target;

    switch (e->kind) {
    case EQ_SIGNAL: return e->index;
    case EQ_DELAY: return f->delay.at[e->index].var;
    case EQ_REINIT:
        target = f->reinit.at[e->index].target;
        return f->reinit.at[e->index].remembers || f->var.at[target].holds ? target : VAR_NONE;
    case EQ_LAW:
    case EQ_INITIAL: break;
    }
    return VAR_NONE;
}

static void
drain(struct check *c)
{
    while (c->head < c->queue.n) {
        uint32_t e = c->queue.at[c->head++];
        struct equation *x = &c->eq.at[e];
        var_id to;

        x->queued = false;
        for (bonds_look(c, x); c->found.sym != NONE; bonds_look(c, x))
            settle_unit(c, c->found.sym, c->found.is, e);
        to = bonds_takes_unit(c->f, x);
        if (to != VAR_NONE && !var_unit(c->f, to)) {
            measure unused, from = given(c, x, &unused);

            if (x->kind == EQ_SIGNAL && c->f->var.at[to].kind == VAR_INTEGRAL)
                from = bonds_times(c, from, bonds_plain(c->el->second), 1);
            if (from.known && from.stated && from.sym == NONE) {
                var_set_unit(c->f, to, from.known);
                c->follows[to] = true;
                wake_readers(c, (uint32_t)c->f->junction.n + to);
            }
        }
    }
}

/* Laws determine units of bonds before signals and outputs, which only read them. */
static void
spread_units(struct check *c)
{
    for (int round = 0; round < 2; round++) {
        for (uint32_t e = 0; e < c->eq.n; e++)
            if ((c->eq.at[e].kind == EQ_LAW || c->eq.at[e].kind == EQ_INITIAL) == (round == 0))
                enqueue(c, e);
        drain(c);
    }
}

/* ---------------------------------------------------------------- the pass */

static void
start_regions(struct check *c)
{
    unit_system *us = c->el->u;

    for (uint32_t j = 0; j < c->f->junction.n; j++) {
        const flat_domain *d = junction_domain(c->f, j);
        struct region *x = &c->region[j];

        x->from = NONE;
        if (!d || c->root[j] != j)
            continue;
        x->effort = d->effort ? unit_dimension(d->effort) : NULL;
        x->flow = d->flow ? unit_dimension(d->flow) : NULL;
        x->apart = d->power != NODE_NONE && (!x->effort || !x->flow);
        if (!x->apart && !x->effort && x->flow)
            x->effort = unit_divide(us, c->watt, x->flow);
        if (!x->apart && !x->flow && x->effort)
            x->flow = unit_divide(us, c->watt, x->effort);
    }
}

static void
set_units(struct check *c)
{
    for (var_id v = 0; v < c->f->var.n; v++) {
        const flat_var *x = &c->f->var.at[v];

        uint32_t r = bonds_region_of(c, v);

        if (!var_unit(c->f, v) && (r != NONE ? !c->said[r] : x->kind == VAR_RATE)) {
            measure m = bonds_variable(c, v);

            if (m.known && m.sym == NONE)
                var_set_unit(c->f, v, m.known);
        }
    }
}

/* Does anything in the model have a unit? Otherwise there is nothing to check. */
static bool
units_are_said(const elab *el)
{
    const flat_model *f = el->f;

    if (el->file->units || f->domain.n)
        return true;
    for (size_t k = 0; k < f->initial.n; k++)
        if (f->initial.at[k].unit)
            return true;
    for (size_t k = 0; k < f->var.n; k++)
        if (var_unit(f, k) && f->var.at[k].kind != VAR_TIME)
            return true;
    return false;
}

void
set_table_unit(elab *el, uint32_t table, const unit *u)
{
    while (el->table_unit.n <= table)
        vec_push(&el->table_unit, NULL);
    el->table_unit.at[table] = u;
}

void
check_bonds(elab *el)
{
    struct check c = { .el = el, .f = el->f, .watt = el->watt, .opened = NONE };

    if (el->incomplete || el->domains_wrong || !el->watt || !el->second || !units_are_said(el))
        return;
    c.root = junction_regions(el->f);
    c.region = bg_calloc(el->f->junction.n, sizeof *c.region);
    c.at = bg_calloc(pool_count(el->pool), sizeof *c.at);
    c.said = bg_calloc(el->f->junction.n + el->f->var.n, sizeof *c.said);
    c.follows = bg_calloc(el->f->var.n, sizeof *c.follows);
    start_regions(&c);
    list_equations(&c);
    list_readers(&c);
    spread_units(&c);
    bonds_verify(&c);
    set_units(&c);
    free(c.root);
    free(c.region);
    free(c.at);
    free(c.reader0);
    free(c.reader);
    free(c.said);
    free(c.follows);
    vec_free(&c.eq);
    vec_free(&c.queue);
}
