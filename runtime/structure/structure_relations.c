/* structure_relations.c - rows of structure.c: relations of junctions, bonds, two-ports, sources and signals */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "structure_relations.h"

void
relations_fail(struct relations *w, const char *fmt, ...)
{
    va_list ap;

    if (!w->fine)
        return;
    w->fine = false;
    va_start(ap, fmt);
    if (vasprintf(&w->s->why, fmt, ap) < 0)
        abort();
    va_end(ap);
}

node
relations_number(const struct relations *w, double x)
{
    return w->pool ? ex_const(w->pool, x) : NODE_NONE;
}

/* A template with variables as slots; conditions have their values at the point. */
static node
over_variables(struct relations *w, node root, inst i)
{
    node *with, result;

    if (!w->pool)
        return NODE_NONE;
    with = bg_malloc((i.n + 1) * sizeof *with);
    for (uint32_t k = 0; k < i.n; k++) {
        var_id v = inst_slots(w->f, i)[k];

        with[k] = w->f->var.at[v].kind == VAR_MODE ? ex_const(w->pool, w->v[v]) : ex_slot(w->pool, v);
    }
    result = ex_substitute(w->pool, root, with, i.n);
    free(with);
    return result;
}

struct slope
relations_slope(struct relations *w, inst i, uint32_t k)
{
    node d = ex_derivative(w->f->pool, i.root, k);
    VEC(double) slot = { 0 };
    struct slope s;

    for (uint32_t a = 0; a < i.n; a++)
        vec_push(&slot, w->v[inst_slots(w->f, i)[a]]);
    s.value = ex_eval(w->f->pool, d, slot.at);
    s.text = over_variables(w, d, i);
    vec_free(&slot);
    return s;
}

bool
relations_moves(const struct relations *w, var_id v)
{
    enum var_kind kind = w->f->var.at[v].kind;

    return (w->acts && w->acts[v]) ||
           (kind != VAR_TIME && kind != VAR_PARAM && kind != VAR_LITERAL && kind != VAR_MODE);
}

void
relations_need(struct relations *w, var_id v)
{
    if (!w->seen[v])
        vec_push(&w->todo, v);
    w->seen[v] = 1;
}

/* Adds factor times the deviation of an expression to the row being built. skip: a variable left out (VAR_NONE:
 * none). */
static void
put_departure(struct relations *w, inst i, double factor, var_id skip)
{
    for (uint32_t k = 0; k < i.n; k++) {
        var_id v = inst_slots(w->f, i)[k];
        struct slope s;

        if (v == skip || !relations_moves(w, v))
            continue;
        s = relations_slope(w, i, k);
        if (!isfinite(s.value))
            relations_fail(w, "a slope of what \"%s\" is read by is not finite here", var_name(w->f, v));
        relations_need(w, v);
        elimination_put(w->r, v, factor * s.value,
                        w->pool ? ex_mul(w->pool, ex_const(w->pool, factor), s.text) : NODE_NONE);
    }
}

static void
put_relation(struct relations *w, uint32_t column, double value)
{
    elimination_put(w->r, column, value, relations_number(w, value));
}

/* var = the deviation of its definition */
static void
define_row(struct relations *w, var_id v, inst def)
{
    put_relation(w, v, -1);
    put_departure(w, def, 1, VAR_NONE);
    elimination_end(w->r);
}

/* ---------------------------------------------------------------- rows */

var_id
port_gives(const flat_model *f, uint32_t port)
{
    return port_has_momentum(f, port) ? f->port.at[port].f : f->port.at[port].e;
}

var_id
port_rate(const flat_model *f, uint32_t port)
{
    return port_has_momentum(f, port) ? f->port.at[port].e : f->port.at[port].f;
}

static void
balance_rows(struct relations *w)
{
    const flat_model *f = w->f;

    for (uint32_t j = 0; j < f->junction.n; j++) {
        const flat_junction *q = &f->junction.at[j];
        uint32_t row = w->row_of[q->common];

        for (uint32_t k = 0; k < q->ninc; k++) {
            const flat_incidence *inc = &f->incidence.at[q->inc0 + k];

            if (inc->is_bond) {
                const flat_bond *b = &f->bond.at[inc->index];

                put_relation(w, b->own != VAR_NONE ? b->own : f->junction.at[b->from == j ? b->to : b->from].common,
                             inc->sign);
            } else {
                const flat_port *p = &f->port.at[inc->index];

                put_relation(w, p->e == q->common ? p->f : p->e, inc->sign);
            }
        }
        if (row != NONE && w->rests[row]) /* a state of its own: the balance is its rate */
            put_relation(w, w->rate[row], -1);
        elimination_end(w->r);
    }
    for (uint32_t i = 0; i < f->bond.n; i++)
        if (f->bond.at[i].own != VAR_NONE) {
            put_relation(w, f->junction.at[f->bond.at[i].from].common, 1);
            put_relation(w, f->junction.at[f->bond.at[i].to].common, -1);
            elimination_end(w->r);
        }
}

/* a = m*b, with the deviation of m */
static void
modulus_row(struct relations *w, var_id a, inst m, var_id b)
{
    VEC(double) slot = { 0 };
    double value;

    for (uint32_t k = 0; k < m.n; k++)
        vec_push(&slot, w->v[inst_slots(w->f, m)[k]]);
    value = ex_eval(w->f->pool, m.root, slot.at);
    vec_free(&slot);
    put_relation(w, a, -1);
    elimination_put(w->r, b, value, over_variables(w, m.root, m));
    for (uint32_t k = 0; k < m.n; k++) {
        var_id v = inst_slots(w->f, m)[k];
        struct slope s;

        if (!relations_moves(w, v))
            continue;
        s = relations_slope(w, m, k);
        relations_need(w, v);
        elimination_put(w->r, v, s.value * w->v[b], w->pool ? ex_mul(w->pool, s.text, ex_slot(w->pool, b)) : NODE_NONE);
    }
    elimination_end(w->r);
}

static void
two_port_rows(struct relations *w)
{
    const flat_model *f = w->f;

    for (uint32_t i = 0; i < f->element.n; i++) {
        const flat_element *el = &f->element.at[i];

        if (el->type != EL_TF && el->type != EL_GY)
            continue;
        for (uint32_t p = el->port0; p < el->port0 + el->nports; p += 2) {
            const flat_port *in = &f->port.at[p], *out = in + 1;
            inst m = port_law(f, p)->def;
            bool tf = el->type == EL_TF;

            modulus_row(w, in->e, m, tf ? out->e : out->f);
            modulus_row(w, tf ? out->f : out->e, m, in->f);
        }
    }
}

static void
source_rows(struct relations *w)
{
    const flat_model *f = w->f;

    for (size_t i = 0, k = 0; i < f->opening.n; i++) {
        const flat_opening *o = &f->opening.at[i];

        if (o->element == NONE)
            continue;
        for (uint32_t l = 0; l < f->element.at[o->element].nlaws; l++) {
            const flat_law *law = &f->law.at[f->element.at[o->element].law0 + l];
            const flat_port *p = &f->port.at[law->port];
            var_id given = f->element.at[o->element].type == EL_SE ? p->e : p->f;

            if (inst_slot_of(f, law->def, o->by) == NONE)
                continue;
            put_relation(w, given, -1);
            if (!w->input)
                put_relation(w, (uint32_t)(w->nvars + k), 1);
            put_departure(w, law->def, 1, VAR_NONE);
            elimination_end(w->r);
        }
        k++;
    }
    for (uint32_t i = 0; i < f->law.n; i++)
        if (f->law.at[i].kind == LAW_RESIDUAL) {
            put_departure(w, f->law.at[i].def, 1, VAR_NONE);
            elimination_end(w->r);
        }
}

static bool
is_rate_of_state(const struct relations *w, var_id v)
{
    for (size_t i = 0; i < w->s->n; i++)
        if (w->rate[i] == v)
            return true;
    return false;
}

/* The equations of a block, with its unknowns. */
static void
block_rows(struct relations *w, uint32_t block)
{
    const eq_block *b = &w->e->block.at[block];

    if (w->block_seen[block])
        return;
    w->block_seen[block] = true;
    for (uint32_t i = 0; i < b->n; i++) {
        put_departure(w, w->e->residual.at[b->residual0 + i], 1, VAR_NONE);
        elimination_end(w->r);
    }
}

/* Rates of dependent storage from the model's own equations, with all variation of coefficients. */
static void
dependent_rows(struct relations *w)
{
    for (size_t i = 0; i < w->s->nd; i++) {
        var_id v = port_rate(w->f, w->s->dependent[i]);

        if (w->e->var.at[v].kind == DEF_EXPLICIT)
            define_row(w, v, w->e->var.at[v].def);
        else
            relations_fail(w, "the rate of dependent %s is found by iteration", port_name(w->f, w->s->dependent[i]));
    }
}

/* Definitions of the signals that rows read, and of what these read in turn. */
static void
signal_rows(struct relations *w)
{
    const flat_model *f = w->f;

    while (w->todo.n && w->fine) {
        var_id v = w->todo.at[--w->todo.n];
        enum var_kind kind = f->var.at[v].kind;

        if (w->row_of[v] != NONE)
            continue;
        if (kind == VAR_SIGNAL)
            define_row(w, v, var_def(f, v));
        else if ((kind == VAR_RATE || kind == VAR_AUX || kind == VAR_STORED) && w->e->var.at[v].kind == DEF_EXPLICIT)
            define_row(w, v, w->e->var.at[v].def);
        else if ((kind == VAR_RATE || kind == VAR_AUX || kind == VAR_STORED) && w->e->var.at[v].kind == DEF_BLOCK &&
                 !is_rate_of_state(w, v))
            block_rows(w, w->e->var.at[v].index);
    }
}

void
relations_collect(struct relations *w)
{
    const flat_model *f = w->f;

    balance_rows(w);
    two_port_rows(w);
    source_rows(w);
    if (w->as_equations)
        dependent_rows(w);
    for (size_t i = 0; i < w->s->n; i++) /* integrals: what they integrate */
        if (w->rate[i] != NONE && w->rate[i] < w->nvars && w->e->var.at[w->rate[i]].kind == DEF_EXPLICIT)
            relations_need(w, w->rate[i]);
    for (size_t i = 0; i < f->law.n; i++) /* other variables that laws of storage and dissipators read */
        for (uint32_t k = 0; k < f->law.at[i].def.n; k++) {
            var_id v = inst_slots(f, f->law.at[i].def)[k];

            if (f->var.at[v].kind == VAR_SIGNAL || f->var.at[v].kind == VAR_RATE || f->var.at[v].kind == VAR_AUX)
                relations_need(w, v);
        }
    for (size_t i = 0; i < f->output.n && w->outputs; i++)
        relations_need(w, f->slot.at[f->output.at[i].def.first]);
    signal_rows(w);
}
