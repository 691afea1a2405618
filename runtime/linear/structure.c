/* structure.c - see structure.h
 *
 * The variables of the bond graph are columns of linear relations: balances, bonds, two-ports, signals, laws of sources. Storage and dissipators are
 * cut: what they give is free, what they get is solved for.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dense.h"
#include "equations.h"
#include "elimination.h"
#include "structure.h"

enum { NEVER, INNER, WANTED, EITHER };   /* how willingly a column is a pivot: 1 first */

struct work {
    bg_model *m;
    flat_model *f;
    const equations *e;
    const causal *c;
    structure *s;
    pool *pool;                      /* NULL without text */
    double *v;                       /* numbers of all variables */
    elimination *r;
    size_t nvars;                    /* of the flat model; columns behind: sources' own parts, then residuals of junctions that are states */
    uint8_t *may;
    uint8_t *seen;                   /* variables whose definition is a row already */
    VEC(var_id) todo;
    uint32_t *row_of;                /* [var] row of x where it is a state's variable, UINT32_MAX */
    uint32_t *rate;                  /* [n] column that is dx/dt, UINT32_MAX: zero */
    bool *rests;                     /* [n] the balance says nothing of dx/dt itself: a junction of dependent storage */
    /* what a free column is */
    uint32_t *kind, *index;          /* [column] of FREE_*, number */
    bool *block_seen;
    bool as_equations;               /* dependent storage by the model's own equations */
    bool fine;
};
enum { FREE_NONE, FREE_Z, FREE_D, FREE_U, FREE_X, FREE_RATE };

static void fail(struct work *w, const char *fmt, ...) BG_PRINTF(2, 3);

static void
fail(struct work *w, const char *fmt, ...)
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

static node
number(const struct work *w, double x)
{
    return w->pool ? ex_const(w->pool, x) : NODE_NONE;
}

/* A template with variables as slots. */
static node
over_variables(struct work *w, node root, inst i)
{
    node *with, result;

    if (!w->pool)
        return NODE_NONE;
    with = bg_malloc((i.n + 1) * sizeof *with);
    for (uint32_t k = 0; k < i.n; k++)
        with[k] = ex_slot(w->pool, inst_slots(w->f, i)[k]);
    result = ex_substitute(w->pool, root, with, i.n);
    free(with);
    return result;
}

struct slope { double value; node text; };

static struct slope
slope_of(struct work *w, inst i, uint32_t k)
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

static bool
moves(const struct work *w, var_id v)
{
    enum var_kind kind = w->f->var.at[v].kind;

    return kind != VAR_TIME && kind != VAR_PARAM && kind != VAR_LITERAL && kind != VAR_MODE;
}

static void
need(struct work *w, var_id v)
{
    if (!w->seen[v])
        vec_push(&w->todo, v);
    w->seen[v] = 1;
}

/* factor times the departure of an expression, into the row being made. skip: a variable left out (VAR_NONE: none). */
static void
put_departure(struct work *w, inst i, double factor, var_id skip)
{
    for (uint32_t k = 0; k < i.n; k++) {
        var_id v = inst_slots(w->f, i)[k];
        struct slope s;

        if (v == skip || !moves(w, v))
            continue;
        s = slope_of(w, i, k);
        if (!isfinite(s.value))
            fail(w, "a slope of what \"%s\" is read by is not finite here", w->f->var.at[v].name);
        need(w, v);
        elimination_put(w->r, v, factor * s.value, w->pool ? ex_mul(w->pool, ex_const(w->pool, factor), s.text) : NODE_NONE);
    }
}

static void
put(struct work *w, uint32_t column, double value)
{
    elimination_put(w->r, column, value, number(w, value));
}

/* var = the departure of its definition */
static void
define(struct work *w, var_id v, inst def)
{
    put(w, v, -1);
    put_departure(w, def, 1, VAR_NONE);
    elimination_end(w->r);
}

/* ---------------------------------------------------------------- rows */

static var_id
given_by(const flat_model *f, uint32_t port)
{
    return port_has_momentum(f, port) ? f->port.at[port].f : f->port.at[port].e;
}

static var_id
rate_into(const flat_model *f, uint32_t port)
{
    return port_has_momentum(f, port) ? f->port.at[port].e : f->port.at[port].f;
}

static void
balance_rows(struct work *w)
{
    const flat_model *f = w->f;

    for (uint32_t j = 0; j < f->junction.n; j++) {
        const flat_junction *q = &f->junction.at[j];
        uint32_t row = w->row_of[q->common];

        for (uint32_t k = 0; k < q->ninc; k++) {
            const flat_incidence *inc = &f->incidence.at[q->inc0 + k];

            if (inc->is_bond) {
                const flat_bond *b = &f->bond.at[inc->index];

                put(w, b->own != VAR_NONE ? b->own : f->junction.at[b->from == j ? b->to : b->from].common, inc->sign);
            } else {
                const flat_port *p = &f->port.at[inc->index];

                put(w, p->e == q->common ? p->f : p->e, inc->sign);
            }
        }
        if (row != UINT32_MAX && w->rests[row])          /* a state of its own: what the balance sums is what moves it */
            put(w, w->rate[row], -1);
        elimination_end(w->r);
    }
    for (uint32_t i = 0; i < f->bond.n; i++)
        if (f->bond.at[i].own != VAR_NONE) {
            put(w, f->junction.at[f->bond.at[i].from].common, 1);
            put(w, f->junction.at[f->bond.at[i].to].common, -1);
            elimination_end(w->r);
        }
}

/* a = m*b, m moving too */
static void
modulus_row(struct work *w, var_id a, inst m, var_id b)
{
    VEC(double) slot = { 0 };
    double value;

    for (uint32_t k = 0; k < m.n; k++)
        vec_push(&slot, w->v[inst_slots(w->f, m)[k]]);
    value = ex_eval(w->f->pool, m.root, slot.at);
    vec_free(&slot);
    put(w, a, -1);
    elimination_put(w->r, b, value, over_variables(w, m.root, m));
    for (uint32_t k = 0; k < m.n; k++) {
        var_id v = inst_slots(w->f, m)[k];
        struct slope s;

        if (!moves(w, v))
            continue;
        s = slope_of(w, m, k);
        need(w, v);
        elimination_put(w->r, v, s.value * w->v[b], w->pool ? ex_mul(w->pool, s.text, ex_slot(w->pool, b)) : NODE_NONE);
    }
    elimination_end(w->r);
}

static void
two_port_rows(struct work *w)
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
source_rows(struct work *w)
{
    const flat_model *f = w->f;

    for (size_t i = 0, k = 0; i < f->opening.n; i++) {
        const flat_opening *o = &f->opening.at[i];

        if (o->element == UINT32_MAX)
            continue;
        for (uint32_t l = 0; l < f->element.at[o->element].nlaws; l++) {
            const flat_law *law = &f->law.at[f->element.at[o->element].law0 + l];
            const flat_port *p = &f->port.at[law->port];
            var_id given = f->element.at[o->element].type == EL_SE ? p->e : p->f;

            if (inst_slot_of(f, law->def, o->by) == UINT32_MAX)
                continue;
            put(w, given, -1);
            put(w, (uint32_t)(w->nvars + k), 1);
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
is_rate_of_state(const struct work *w, var_id v)
{
    for (size_t i = 0; i < w->s->n; i++)
        if (w->rate[i] == v)
            return true;
    return false;
}

/* The equations of a block: its unknowns together. */
static void
block_rows(struct work *w, uint32_t block)
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

/* Rates of dependent storage as the model's own equations have them: with whatever varies on the way. */
static void
dependent_rows(struct work *w)
{
    for (size_t i = 0; i < w->s->nd; i++) {
        var_id v = rate_into(w->f, w->s->dependent[i]);

        if (w->e->var.at[v].kind == DEF_EXPLICIT)
            define(w, v, w->e->var.at[v].def);
        else
            fail(w, "the rate of dependent %s is found by iteration", port_name(w->f, w->s->dependent[i]));
    }
}

/* Definitions of the signals that rows read, and what these read in turn. */
static void
signal_rows(struct work *w)
{
    const flat_model *f = w->f;

    while (w->todo.n && w->fine) {
        var_id v = w->todo.at[--w->todo.n];
        enum var_kind kind = f->var.at[v].kind;

        if (w->row_of[v] != UINT32_MAX)
            continue;
        if (kind == VAR_SIGNAL)
            define(w, v, f->var.at[v].def);
        else if ((kind == VAR_RATE || kind == VAR_AUX || kind == VAR_STORED) && w->e->var.at[v].kind == DEF_EXPLICIT)
            define(w, v, w->e->var.at[v].def);
        else if ((kind == VAR_RATE || kind == VAR_AUX || kind == VAR_STORED) && w->e->var.at[v].kind == DEF_BLOCK && !is_rate_of_state(w, v))
            block_rows(w, w->e->var.at[v].index);
    }
}

/* ---------------------------------------------------------------- what is free */

static void
set_free(struct work *w, uint32_t column, uint32_t kind, size_t index)
{
    w->may[column] = NEVER;
    if (w->kind[column] == FREE_NONE || kind == FREE_X) {
        w->kind[column] = kind;
        w->index[column] = (uint32_t)index;
    }
}

static void
count_parts(struct work *w)
{
    const flat_model *f = w->f;
    structure *s = w->s;

    s->storage = bg_calloc(f->port.n + 1, sizeof *s->storage);
    s->dissipator = bg_calloc(f->port.n + 1, sizeof *s->dissipator);
    s->dependent = bg_calloc(f->port.n + 1, sizeof *s->dependent);
    s->source = bg_calloc(f->opening.n + 1, sizeof *s->source);
    s->storage_state = bg_calloc(f->port.n + 1, sizeof *s->storage_state);
    s->flow_in = bg_calloc(f->port.n + 1, sizeof *s->flow_in);
    /* storage in the order of the states */
    for (size_t i = 0; i < s->n; i++)
        for (uint32_t p = 0; p < f->port.n; p++)
            if (f->port.at[p].stored != VAR_NONE && w->c->state[p] && w->row_of[f->port.at[p].stored] == i) {
                s->storage_state[s->nz] = i;
                s->storage[s->nz++] = p;
            }
    for (uint32_t p = 0; p < f->port.n; p++) {
        if (f->element.at[f->port.at[p].element].type == EL_R)
            s->dissipator[s->nl++] = p;
        if (f->port.at[p].stored != VAR_NONE && !w->c->state[p])
            s->dependent[s->nd++] = p;
    }
    for (uint32_t i = 0; i < f->opening.n; i++)
        if (f->opening.at[i].element != UINT32_MAX)
            s->source[s->nu++] = i;
}

/* The states: which column is each, and which its rate. */
static void
find_states(struct work *w, const size_t *order)
{
    size_t n = w->s->n;
    uint32_t *row_of_state = bg_calloc(n + 1, sizeof *row_of_state);

    for (size_t i = 0; i < n; i++)
        row_of_state[order[i]] = (uint32_t)i;
    for (size_t i = 0; i < n; i++)
        w->row_of[model_state(w->m, i).var] = row_of_state[i];
    for (size_t i = 0; i < n; i++) {
        const eq_state *q = &w->e->state.at[i];
        uint32_t row = w->row_of[q->var];

        w->rate[row] = q->rate;
        if (w->f->var.at[q->var].kind == VAR_COMMON && !w->as_equations) {
            w->rate[row] = (uint32_t)(w->nvars + w->s->nu + row);
            w->rests[row] = true;
        }
    }
    free(row_of_state);
}

static void
mark_columns(struct work *w)
{
    const flat_model *f = w->f;
    structure *s = w->s;

    for (uint32_t v = 0; v < w->nvars; v++)
        w->may[v] = moves(w, v) ? INNER : NEVER;
    for (size_t i = 0; i < s->nl; i++)
        for (int side = 0; side < 2; side++) {
            const flat_port *p = &f->port.at[s->dissipator[i]];
            var_id v = side ? p->e : p->f;

            /* the variable that it would rather get: its junction's own */
            w->may[v] = f->junction.at[p->junction].common == v ? WANTED : EITHER;
        }
    for (size_t i = 0; i < s->n; i++)
        if (w->rate[i] != UINT32_MAX && w->rate[i] >= w->nvars)
            w->may[w->rate[i]] = INNER;
    for (size_t i = 0; i < s->nd && !w->as_equations; i++)
        set_free(w, rate_into(f, s->dependent[i]), FREE_RATE, i);
    for (size_t i = 0; i < s->nz; i++)
        set_free(w, given_by(f, s->storage[i]), FREE_Z, i);
    for (size_t i = 0; i < s->nu; i++)
        set_free(w, (uint32_t)(w->nvars + i), FREE_U, i);
    for (uint32_t v = 0; v < w->nvars; v++)
        if (w->row_of[v] != UINT32_MAX)
            set_free(w, v, FREE_X, w->row_of[v]);
}

static bool
is_loose(const struct work *w, uint32_t column)
{
    return !elimination_solved(w->r, column) && w->kind[column] == FREE_NONE;
}

/* Both variables of dissipator i came out solved: one of them is given back for a free one of another dissipator, which had both or is freed in turn. */
static bool
loosen(struct work *w, size_t i, bool *tried)
{
    const structure *s = w->s;
    const flat_port *p = &w->f->port.at[s->dissipator[i]];

    tried[i] = true;
    for (int round = 0; round < 2; round++)
        for (int side = 0; side < 2; side++) {
            var_id own = side ? p->e : p->f;

            if (!elimination_solved(w->r, own))
                continue;
            for (size_t k = 0; k < s->nl; k++) {
                const flat_port *q = &w->f->port.at[s->dissipator[k]];

                for (int other = 0; other < 2 && !tried[k]; other++) {
                    var_id v = other ? q->e : q->f;
                    bool both = is_loose(w, q->e) && is_loose(w, q->f);

                    if (!is_loose(w, v) || (round == 0) != both || !elimination_exchange(w->r, own, v))
                        continue;
                    if (both || loosen(w, k, tried))
                        return true;
                    elimination_exchange(w->r, v, own);
                }
            }
        }
    return false;
}

/* Which way each dissipator is taken: what it gives is a variable that was no pivot. */
static void
direct(struct work *w)
{
    const flat_model *f = w->f;
    structure *s = w->s;
    bool *done = bg_calloc(s->nl + 1, sizeof *done), *tried = bg_calloc(s->nl + 1, sizeof *tried), progress = true;

    for (size_t i = 0; i < s->nl; i++) {
        const flat_port *p = &f->port.at[s->dissipator[i]];

        memset(tried, 0, s->nl * sizeof *tried);
        if (!is_loose(w, p->e) && !is_loose(w, p->f))
            loosen(w, i, tried);
    }
    free(tried);
    while (progress) {
        progress = false;
        for (int round = 0; round < 2 && !progress; round++)
            for (size_t i = 0; i < s->nl; i++) {
                const flat_port *p = &f->port.at[s->dissipator[i]];
                bool e = is_loose(w, p->e), flow = is_loose(w, p->f);
                bool rather = f->junction.at[p->junction].common == p->f;        /* gets the flow, gives the effort */

                if (done[i] || (!e && !flow) || (round == 0 && e && flow))
                    continue;
                s->flow_in[i] = e && flow ? rather : e;
                set_free(w, s->flow_in[i] ? p->e : p->f, FREE_D, i);
                done[i] = progress = true;
            }
    }
    for (size_t i = 0; i < s->nl; i++)
        if (!done[i])
            fail(w, "the junctions leave %s nothing to determine", port_name(f, s->dissipator[i]));
    free(done);
}

/* ---------------------------------------------------------------- matrices */

static structure_block
block_new(const struct work *w, size_t rows, size_t columns)
{
    structure_block b = { rows, columns, bg_calloc(rows * columns + 1, sizeof(double)), NULL };

    if (w->pool) {
        b.text = bg_malloc((rows * columns + 1) * sizeof *b.text);
        for (size_t i = 0; i < rows * columns; i++)
            b.text[i] = ex_const(w->pool, 0);
    }
    return b;
}

static void
block_add(struct work *w, structure_block *b, size_t row, size_t column, double value, node text)
{
    size_t at = row + column * b->rows;

    b->value[at] += value;
    if (w->pool)
        b->text[at] = ex_add(w->pool, b->text[at], text);
}

/* Where the coefficients of a solved variable go, by what their column is; a NULL block may hold nothing. */
struct targets { structure_block *z, *d, *u, *x, *rate; };

static void
spread(struct work *w, uint32_t column, size_t row, const struct targets *to, double factor, const char *what)
{
    term one;
    sum s = elimination_express(w->r, column, &one);
    bool solved = elimination_solved(w->r, column);

    for (size_t k = 0; k < s.n; k++) {
        const term *t = &s.at[k];
        structure_block *const by[] = { [FREE_NONE] = NULL, [FREE_Z] = to->z, [FREE_D] = to->d, [FREE_U] = to->u, [FREE_X] = to->x, [FREE_RATE] = to->rate };
        double sign = solved ? -factor : factor;

        if (solved && t->column == column)
            continue;
        if (!by[w->kind[t->column]]) {
            if (t->value != 0)
                fail(w, w->kind[t->column] == FREE_NONE ? "the junctions leave what \"%s\" depends on undetermined" : "\"%s\" depends on more than states",
                     what);
            continue;
        }
        block_add(w, by[w->kind[t->column]], row, w->index[t->column], sign * t->value,
                  w->pool ? ex_mul(w->pool, ex_const(w->pool, sign), t->text) : NODE_NONE);
    }
}

/* A variable that a law reads, as a row over x: through what storage gives too, once its slopes are known. */
static structure_block
departure_by_states(struct work *w, var_id v, bool storage_known, const char *reader)
{
    const structure *s = w->s;
    structure_block x = block_new(w, 1, s->n), z = block_new(w, 1, s->nz);

    spread(w, v, 0, &(struct targets){ .x = &x, .z = storage_known ? &z : NULL }, 1, reader);
    for (size_t j = 0; j < s->nz && storage_known; j++)
        for (size_t i = 0; i < s->n; i++) {
            const structure_block *S = &s->matrix[M_S];

            if (z.value[j] != 0 && S->value[j + s->nz * i] != 0)
                block_add(w, &x, 0, i, z.value[j] * S->value[j + s->nz * i], w->pool ? ex_mul(w->pool, z.text[j], S->text[j + s->nz * i]) : NODE_NONE);
        }
    free(z.value);
    free(z.text);
    return x;
}

/* The law of a one-port as a slope from what is wanted in to what is wanted out, and what else it reads, into x. */
static void
law_slope(struct work *w, uint32_t port, var_id in, var_id out, structure_block *slope, size_t row, size_t column, structure_block *by_x)
{
    const flat_law *law = port_law(w->f, port);
    const flat_port *p = &w->f->port.at[port];
    var_id left = law->out == Q_EFFORT ? p->e : law->out == Q_FLOW ? p->f : p->stored;
    uint32_t k = inst_slot_of(w->f, law->def, left == out ? in : out);
    struct slope s = k == UINT32_MAX ? (struct slope){ 0, number(w, 0) } : slope_of(w, law->def, k);
    double factor = 1;
    node text = number(w, 1);

    if (left != out) {                   /* in = law(out, ...): out = (in - rest)/slope */
        if (s.value == 0) {
            fail(w, "the law of %s has no slope here", port_name(w->f, port));
            return;
        }
        factor = -1 / s.value;
        text = w->pool ? ex_div(w->pool, ex_const(w->pool, -1), s.text) : NODE_NONE;
        s.value = 1 / s.value;
        s.text = w->pool ? ex_div(w->pool, ex_const(w->pool, 1), s.text) : NODE_NONE;
    }
    if (!isfinite(s.value))
        fail(w, "the law of %s has no finite slope here", port_name(w->f, port));
    block_add(w, slope, row, column, s.value, s.text);
    for (uint32_t a = 0; a < law->def.n; a++) {
        var_id v = inst_slots(w->f, law->def)[a];
        structure_block one = { 0 };
        struct slope q;

        if (a == k || !moves(w, v))
            continue;
        q = slope_of(w, law->def, a);
        if (q.value == 0 && !w->pool)
            continue;
        one = departure_by_states(w, v, slope != &w->s->matrix[M_S], port_name(w->f, port));
        for (size_t i = 0; i < w->s->n; i++)
            if (one.value[i] != 0 || (w->pool && !ex_is_const(w->pool, one.text[i], NULL)))
                block_add(w, by_x, row, i, factor * q.value * one.value[i],
                          w->pool ? ex_mul(w->pool, ex_mul(w->pool, text, q.text), one.text[i]) : NODE_NONE);
        free(one.value);
        free(one.text);
    }
}

/* Ports of a field: their laws together, solved for what they give. Only numbers. in, out, slope by port of the element; x: what else they read. */
static bool
field_slopes(struct work *w, const flat_element *el, const var_id *in, const var_id *out, double *slope, structure_block *by_x)
{
    size_t n = el->nports, nx = w->s->n;
    double *left = bg_calloc(n * n + 1, sizeof *left), *right = bg_calloc(n * (n + nx) + 1, sizeof *right);
    bool fine;

    for (size_t k = 0; k < n; k++) {
        const flat_law *law = &w->f->law.at[el->law0 + k];
        const flat_port *p = &w->f->port.at[law->port];
        var_id own = law->out == Q_EFFORT ? p->e : law->out == Q_FLOW ? p->f : p->stored;

        for (size_t j = 0; j < n; j++) {
            if (own == out[j])
                left[k + n * j] += 1;
            if (own == in[j])
                right[k + n * j] -= 1;
        }
        for (uint32_t a = 0; a < law->def.n; a++) {
            var_id v = inst_slots(w->f, law->def)[a];
            bool found = false;
            double q;

            if (!moves(w, v))
                continue;
            q = slope_of(w, law->def, a).value;
            for (size_t j = 0; j < n && !found; j++) {
                found = v == out[j] || v == in[j];
                if (v == out[j])
                    left[k + n * j] -= q;
                else if (v == in[j])
                    right[k + n * j] += q;
            }
            if (!found && q != 0) {
                structure_block one = departure_by_states(w, v, el->type == EL_R, el->name);

                for (size_t i = 0; i < nx; i++)
                    right[k + n * (n + i)] += q * one.value[i];
                free(one.value);
                free(one.text);
            }
        }
    }
    fine = dense_solve(n, left, n + nx, right);
    memcpy(slope, right, n * n * sizeof *slope);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < nx; i++)
            by_x->value[k + n * i] = right[k + n * (n + i)];
    free(left);
    free(right);
    if (!fine)
        fail(w, "the laws of %s have no slopes that way here", el->name);
    return fine;
}

/* One field among the ports: at[k] is the place of its port k in the list. */
static void
field_block(struct work *w, const flat_element *el, const size_t *at, const var_id *in, const var_id *out, structure_block *slope, const size_t *column,
            structure_block *by_x)
{
    size_t n = el->nports, nx = w->s->n;
    double *s = bg_calloc(n * n + 1, sizeof *s);
    structure_block x = { n, nx, bg_calloc(n * nx + 1, sizeof(double)), NULL };
    var_id *fin = bg_calloc(n + 1, sizeof *fin), *fout = bg_calloc(n + 1, sizeof *fout);

    for (size_t k = 0; k < n; k++) {
        fin[k] = in[at[k]];
        fout[k] = out[at[k]];
    }
    if (field_slopes(w, el, fin, fout, s, &x))
        for (size_t a = 0; a < n; a++) {
            for (size_t b = 0; b < n; b++)
                slope->value[at[a] + slope->rows * (column ? column[at[b]] : at[b])] += s[a + n * b];
            for (size_t b = 0; b < nx; b++)
                by_x->value[at[a] + by_x->rows * b] += x.value[a + n * b];
        }
    free(s);
    free(x.value);
    free(fin);
    free(fout);
}

/* Laws as a block from what ports get to what they give: of one-ports entry by entry, of fields together. column: of each port's input; NULL: its number. */
static void
law_block(struct work *w, const uint32_t *port, size_t count, const var_id *in, const var_id *out, structure_block *slope, const size_t *column,
          structure_block *by_x)
{
    const flat_model *f = w->f;

    for (size_t i = 0; i < count && w->fine; i++) {
        const flat_element *el = &f->element.at[f->port.at[port[i]].element];
        size_t *at = bg_calloc(el->nports + 1, sizeof *at), found = 0;
        bool first = true;

        for (size_t k = 0; k < count && el->nports > 1; k++)
            if (&f->element.at[f->port.at[port[k]].element] == el) {
                first = first && k >= i;
                at[port[k] - el->port0] = k;
                found++;
            }
        if (el->nports == 1)
            law_slope(w, port[i], in[i], out[i], slope, i, column ? column[i] : i, by_x);
        else if (w->pool)
            fail(w, "%s has several ports: its entries are not written out", el->name);
        else if (found != el->nports)
            fail(w, "%s is dependent storage in part", el->name);
        else if (first)
            field_block(w, el, at, in, out, slope, column, by_x);
        free(at);
    }
}

/* The laws of storage and dissipators. */
static void
make_laws(struct work *w)
{
    const flat_model *f = w->f;
    structure *s = w->s;
    size_t most = f->port.n + 1;
    var_id *in = bg_calloc(most, sizeof *in), *out = bg_calloc(most, sizeof *out);
    structure_block dependent = block_new(w, s->nd, s->nd), none = block_new(w, s->nd, s->n);

    for (size_t i = 0; i < s->nz; i++) {
        in[i] = f->port.at[s->storage[i]].stored;
        out[i] = given_by(f, s->storage[i]);
    }
    s->matrix[M_S] = block_new(w, s->nz, s->n);
    law_block(w, s->storage, s->nz, in, out, &s->matrix[M_S], s->storage_state, &s->matrix[M_S]);
    for (size_t i = 0; i < s->nl; i++) {
        const flat_port *p = &f->port.at[s->dissipator[i]];

        in[i] = s->flow_in[i] ? p->f : p->e;
        out[i] = s->flow_in[i] ? p->e : p->f;
    }
    s->matrix[M_L] = block_new(w, s->nl, s->nl);
    s->matrix[M_L_X] = block_new(w, s->nl, s->n);
    law_block(w, s->dissipator, s->nl, in, out, &s->matrix[M_L], NULL, &s->matrix[M_L_X]);
    for (size_t i = 0; i < s->nd; i++) {
        in[i] = given_by(f, s->dependent[i]);
        out[i] = f->port.at[s->dependent[i]].stored;
    }
    law_block(w, s->dependent, s->nd, in, out, &dependent, NULL, &none);
    s->C_d = bg_calloc(s->nd + 1, sizeof(double));
    for (size_t i = 0; i < s->nd; i++) {
        s->C_d[i] = dependent.value[i + s->nd * i];
        for (size_t k = 0; k < s->n; k++)
            if (none.value[i + s->nd * k] != 0)
                fail(w, "the law of dependent %s reads other states", port_name(f, s->dependent[i]));
    }
    free(dependent.value);
    free(dependent.text);
    free(none.value);
    free(none.text);
    free(in);
    free(out);
}

/* ---------------------------------------------------------------- dependent storage */

/* What its rates add. raw: J_SD (n by nd), J_LD (nl by nd); G_U (nd by nu). */
struct dependence { structure_block J_SD, J_LD, G_S, G_X, G_U; };

static void
include_dependent(struct work *w, struct dependence *d)
{
    structure *s = w->s;
    size_t n = s->n, nd = s->nd, nl = s->nl;
    static const enum structure_matrix state_row[] = { M_J_SS, M_J_SL, M_J_SU, M_J_SX }, in_row[] = { M_J_LS, M_J_LL, M_J_LU, M_J_LX };
    double *F = bg_calloc(n * n + 1, sizeof *F), *CG = bg_calloc(nd * n + 1, sizeof *CG), *LCG = bg_calloc(nl * n + 1, sizeof *LCG);

    s->G = bg_calloc(nd * n + 1, sizeof(double));
    s->G_S = bg_calloc(nd * s->nz + 1, sizeof(double));
    memcpy(s->G_S, d->G_S.value, nd * s->nz * sizeof(double));
    memcpy(s->G, d->G_X.value, nd * n * sizeof(double));
    dense_multiply(nd, s->nz, n, 1, d->G_S.value, s->matrix[M_S].value, 1, s->G);
    for (size_t i = 0; i < nd; i++)
        for (size_t k = 0; k < n; k++)
            CG[i + nd * k] = s->C_d[i] * s->G[i + nd * k];
    /* (E0 - J_SD C G) dx/dt = what the other terms say */
    for (size_t i = 0; i < n; i++)
        F[i + n * i] = !w->rests[i];
    dense_multiply(n, nd, n, -1, d->J_SD.value, CG, 1, F);
    for (int k = 0; k < 5 && w->fine; k++) {
        structure_block *b = k < 4 ? &s->matrix[state_row[k]] : &d->J_SD;
        double *copy = bg_calloc(n * n + 1, sizeof *copy);

        memcpy(copy, F, n * n * sizeof *copy);
        if (n && b->columns && !dense_solve(n, copy, b->columns, b->value))
            fail(w, "dependent storage leaves a rate undetermined here");
        free(copy);
    }
    dense_multiply(nl, nd, n, 1, d->J_LD.value, CG, 0, LCG);
    for (int k = 0; k < 5; k++) {
        structure_block *b = k < 4 ? &s->matrix[in_row[k]] : &d->J_LD, *rate = k < 4 ? &s->matrix[state_row[k]] : &d->J_SD;

        dense_multiply(nl, n, b->columns, 1, LCG, rate->value, 1, b->value);
    }
    free(F);
    free(CG);
    free(LCG);
}

/* ---------------------------------------------------------------- the whole */

/* Dissipators solved: J, D_in, K, H, and with them A and B. */
static void
solve_dissipators(struct work *w, const struct dependence *d)
{
    structure *s = w->s;
    const structure_block *M = s->matrix;
    size_t n = s->n, nl = s->nl, nz = s->nz, nu = s->nu, nd = s->nd, wide = nz + nu + n + nd + nl;
    double *left = bg_calloc(nl * nl + 1, sizeof *left), *given = bg_calloc(nl * wide + 1, sizeof *given), *out = bg_calloc(n * wide + 1, sizeof *out);
    const double *of_z = given, *of_x;

    /* d_out = (I - L J_LL)^-1 (L (J_LS z + J_LU u + J_LX x + J_LD rate) + L_X x + 1) */
    for (size_t i = 0; i < nl; i++) {
        left[i + nl * i] = 1;
        given[i + nl * (nz + nu + n + nd + i)] = 1;
    }
    dense_multiply(nl, nl, nl, -1, M[M_L].value, M[M_J_LL].value, 1, left);
    dense_multiply(nl, nl, nz, 1, M[M_L].value, M[M_J_LS].value, 1, given);
    dense_multiply(nl, nl, nu, 1, M[M_L].value, M[M_J_LU].value, 1, given + nl * nz);
    memcpy(given + nl * (nz + nu), M[M_L_X].value, nl * n * sizeof(double));
    dense_multiply(nl, nl, n, 1, M[M_L].value, M[M_J_LX].value, 1, given + nl * (nz + nu));
    dense_multiply(nl, nl, nd, 1, M[M_L].value, d->J_LD.value, 1, given + nl * (nz + nu + n));
    if (nl && !dense_solve(nl, left, wide, given))
        fail(w, "what dissipators give is not determined here");
    memcpy(out, M[M_J_SS].value, n * nz * sizeof(double));
    memcpy(out + n * nz, M[M_J_SU].value, n * nu * sizeof(double));
    memcpy(out + n * (nz + nu), M[M_J_SX].value, n * n * sizeof(double));
    memcpy(out + n * (nz + nu + n), d->J_SD.value, n * nd * sizeof(double));
    dense_multiply(n, nl, wide, 1, M[M_J_SL].value, given, 1, out);
    of_x = given + nl * (nz + nu);
    s->J = bg_calloc(n * nz + 1, sizeof(double));
    s->H = bg_calloc(n * nd + 1, sizeof(double));
    s->K = bg_calloc(n * nl + 1, sizeof(double));
    s->D_in = bg_calloc(nl * n + 1, sizeof(double));
    memcpy(s->J, out, n * nz * sizeof(double));
    memcpy(s->H, out + n * (nz + nu + n), n * nd * sizeof(double));
    memcpy(s->K, out + n * (nz + nu + n + nd), n * nl * sizeof(double));
    memcpy(s->matrix[M_B].value, out + n * nz, n * nu * sizeof(double));
    memcpy(s->matrix[M_A].value, out + n * (nz + nu), n * n * sizeof(double));
    dense_multiply(n, nz, n, 1, s->J, M[M_S].value, 1, s->matrix[M_A].value);
    /* d_in = (J_LS S + J_LX) x + J_LL d_out */
    if (nl) {
        double *d_out = bg_calloc(nl * n + 1, sizeof *d_out);

        memcpy(d_out, of_x, nl * n * sizeof(double));
        dense_multiply(nl, nz, n, 1, of_z, M[M_S].value, 1, d_out);
        memcpy(s->D_in, M[M_J_LX].value, nl * n * sizeof(double));
        dense_multiply(nl, nz, n, 1, M[M_J_LS].value, M[M_S].value, 1, s->D_in);
        dense_multiply(nl, nl, n, 1, M[M_J_LL].value, d_out, 1, s->D_in);
        free(d_out);
    }
    free(left);
    free(given);
    free(out);
}

/* A and B as expressions: the relations once more, with the laws among them. */
static void
write_out(struct work *w)
{
    structure *s = w->s;
    size_t n = s->n, nz = s->nz, nl = s->nl, nu = s->nu, total = n + nz + nl + nl + n + nu;
    /* columns: dx/dt, z, d_out, d_in, x, u */
    size_t z = n, d = n + nz, in = d + nl, x = in + nl, u = x + n;
    elimination *r = elimination_new(total, w->pool);
    uint8_t *may = bg_calloc(total + 1, 1);

    for (size_t c = 0; c < x; c++)
        may[c] = c < n ? EITHER : c >= d ? WANTED : INNER;
    for (size_t i = 0; i < n; i++) {
        const struct { const structure_block *b; size_t first; } part[] = { { &s->matrix[M_J_SS], z }, { &s->matrix[M_J_SL], d }, { &s->matrix[M_J_SX], x },
                                                                           { &s->matrix[M_J_SU], u } };

        elimination_put(r, (uint32_t)i, -1, ex_const(w->pool, -1));
        for (int p = 0; p < 4; p++)
            for (size_t k = 0; k < part[p].b->columns; k++)
                elimination_put(r, (uint32_t)(part[p].first + k), part[p].b->value[i + n * k], part[p].b->text[i + n * k]);
        elimination_end(r);
    }
    for (size_t i = 0; i < nl; i++) {
        const struct { const structure_block *b; size_t first; } part[] = { { &s->matrix[M_J_LS], z }, { &s->matrix[M_J_LL], d }, { &s->matrix[M_J_LX], x },
                                                                           { &s->matrix[M_J_LU], u } };

        elimination_put(r, (uint32_t)(in + i), -1, ex_const(w->pool, -1));
        for (int p = 0; p < 4; p++)
            for (size_t k = 0; k < part[p].b->columns; k++)
                elimination_put(r, (uint32_t)(part[p].first + k), part[p].b->value[i + nl * k], part[p].b->text[i + nl * k]);
        elimination_end(r);
        elimination_put(r, (uint32_t)(d + i), -1, ex_const(w->pool, -1));
        for (size_t k = 0; k < nl; k++)
            elimination_put(r, (uint32_t)(in + k), s->matrix[M_L].value[i + nl * k], s->matrix[M_L].text[i + nl * k]);
        for (size_t k = 0; k < n; k++)
            elimination_put(r, (uint32_t)(x + k), s->matrix[M_L_X].value[i + nl * k], s->matrix[M_L_X].text[i + nl * k]);
        elimination_end(r);
    }
    for (size_t i = 0; i < nz; i++) {
        elimination_put(r, (uint32_t)(z + i), -1, ex_const(w->pool, -1));
        for (size_t k = 0; k < n; k++)
            elimination_put(r, (uint32_t)(x + k), s->matrix[M_S].value[i + nz * k], s->matrix[M_S].text[i + nz * k]);
        elimination_end(r);
    }
    elimination_eliminate(r, may);
    for (size_t i = 0; i < n; i++) {
        term one;
        sum row = elimination_express(r, (uint32_t)i, &one);

        for (size_t k = 0; k < row.n; k++) {
            size_t c = row.at[k].column;

            if (c >= u)
                s->matrix[M_B].text[i + n * (c - u)] = ex_neg(w->pool, row.at[k].text);
            else if (c >= x)
                s->matrix[M_A].text[i + n * (c - x)] = ex_neg(w->pool, row.at[k].text);
        }
    }
    elimination_free(r);
    free(may);
}

static void
fill_matrices(struct work *w, struct dependence *d)
{
    structure *s = w->s;
    structure_block *M = s->matrix;

    M[M_J_SS] = block_new(w, s->n, s->nz);
    M[M_J_SL] = block_new(w, s->n, s->nl);
    M[M_J_SU] = block_new(w, s->n, s->nu);
    M[M_J_SX] = block_new(w, s->n, s->n);
    M[M_J_LS] = block_new(w, s->nl, s->nz);
    M[M_J_LL] = block_new(w, s->nl, s->nl);
    M[M_J_LU] = block_new(w, s->nl, s->nu);
    M[M_J_LX] = block_new(w, s->nl, s->n);
    M[M_A] = block_new(w, s->n, s->n);
    M[M_B] = block_new(w, s->n, s->nu);
    *d = (struct dependence){ block_new(w, s->n, s->nd), block_new(w, s->nl, s->nd), block_new(w, s->nd, s->nz), block_new(w, s->nd, s->n),
                              block_new(w, s->nd, s->nu) };
    for (size_t i = 0; i < s->n; i++)
        if (w->rate[i] != UINT32_MAX && (w->rate[i] >= w->nvars || moves(w, w->rate[i])))
            spread(w, w->rate[i], i, &(struct targets){ &M[M_J_SS], &M[M_J_SL], &M[M_J_SU], &M[M_J_SX], &d->J_SD }, 1, "a rate");
    for (size_t i = 0; i < s->nl; i++) {
        const flat_port *p = &w->f->port.at[s->dissipator[i]];

        spread(w, s->flow_in[i] ? p->f : p->e, i, &(struct targets){ &M[M_J_LS], &M[M_J_LL], &M[M_J_LU], &M[M_J_LX], &d->J_LD }, 1,
               port_name(w->f, s->dissipator[i]));
    }
    for (size_t i = 0; i < s->nd; i++)
        spread(w, given_by(w->f, s->dependent[i]), i, &(struct targets){ &d->G_S, NULL, &d->G_U, &d->G_X, NULL }, 1,
               port_name(w->f, s->dependent[i]));
}

static void
dependence_free(struct dependence *d)
{
    structure_block *const all[] = { &d->J_SD, &d->J_LD, &d->G_S, &d->G_X, &d->G_U };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        free(all[i]->value);
        free(all[i]->text);
    }
}

static bool
any(const structure_block *b)
{
    for (size_t i = 0; i < b->rows * b->columns; i++)
        if (b->value[i] != 0)
            return true;
    return false;
}

void
structure_make(bg_model *m, double t, const double *x, const size_t *order, bool text, bool as_equations, structure *s)
{
    flat_model *f = (flat_model *)model_flat(m);             /* its pool grows, nothing else changes */
    struct work w = { .m = m, .f = f, .e = model_equations(m), .c = model_causal(m), .s = s, .pool = text ? f->pool : NULL, .nvars = f->var.n, .as_equations = as_equations, .fine = true };
    struct dependence d = { 0 };
    size_t ncolumns;

    *s = (structure){ .n = model_nstates(m) };
    w.v = bg_calloc(f->var.n + 1, sizeof *w.v);
    w.row_of = bg_malloc((f->var.n + 1) * sizeof *w.row_of);
    memset(w.row_of, 0xff, (f->var.n + 1) * sizeof *w.row_of);
    w.rate = bg_malloc((s->n + 1) * sizeof *w.rate);
    memset(w.rate, 0xff, (s->n + 1) * sizeof *w.rate);
    w.rests = bg_calloc(s->n + 1, sizeof *w.rests);
    for (size_t i = 0; i < f->opening.n; i++)
        s->nu += f->opening.at[i].element != UINT32_MAX;
    ncolumns = w.nvars + s->nu + s->n;
    find_states(&w, order);
    s->nu = 0;
    count_parts(&w);
    w.may = bg_calloc(ncolumns + 1, 1);
    w.seen = bg_calloc(w.nvars + 1, 1);
    w.block_seen = bg_calloc(w.e->block.n + 1, sizeof *w.block_seen);
    w.kind = bg_calloc(ncolumns + 1, sizeof *w.kind);
    w.index = bg_calloc(ncolumns + 1, sizeof *w.index);
    w.r = elimination_new(ncolumns, w.pool);
    if (!model_variables(m, t, x, w.v))
        fail(&w, "not all variables have finite values here");
    if (w.fine) {
        mark_columns(&w);
        balance_rows(&w);
        two_port_rows(&w);
        source_rows(&w);
        if (as_equations)
            dependent_rows(&w);
        for (size_t i = 0; i < s->n; i++)        /* integrals: what they integrate */
            if (w.rate[i] != UINT32_MAX && w.rate[i] < w.nvars && w.e->var.at[w.rate[i]].kind == DEF_EXPLICIT)
                need(&w, w.rate[i]);
        for (size_t i = 0; i < f->law.n; i++)    /* what laws of storage and dissipators read beside their own quantities */
            for (uint32_t k = 0; k < f->law.at[i].def.n; k++) {
                var_id v = inst_slots(f, f->law.at[i].def)[k];

                if (f->var.at[v].kind == VAR_SIGNAL || f->var.at[v].kind == VAR_RATE || f->var.at[v].kind == VAR_AUX)
                    need(&w, v);
            }
        signal_rows(&w);
        if (as_equations)
            s->nd = 0;
    }
    if (w.fine) {
        elimination_eliminate(w.r, w.may);
        direct(&w);
    }
    if (w.fine)
        fill_matrices(&w, &d);
    if (w.fine)
        make_laws(&w);
    if (w.fine && s->nd && text)
        fail(&w, "entries with dependent storage are not written out");
    if (w.fine)
        include_dependent(&w, &d);
    if (w.fine)
        solve_dissipators(&w, &d);
    if (w.fine && text)
        write_out(&w);
    if (w.fine)
        s->modulated = any(&s->matrix[M_J_SX]) || any(&s->matrix[M_J_LX]) || any(&s->matrix[M_L_X]);
    dependence_free(&d);
    elimination_free(w.r);
    vec_free(&w.todo);
    free(w.v);
    free(w.row_of);
    free(w.rate);
    free(w.rests);
    free(w.may);
    free(w.seen);
    free(w.block_seen);
    free(w.kind);
    free(w.index);
}

void
structure_free(structure *s)
{
    void *const all[] = { s->storage, s->dissipator, s->dependent, s->source, s->storage_state, s->flow_in, s->C_d, s->G, s->G_S, s->H, s->J, s->D_in,
                          s->K, s->why };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    for (int k = 0; k < M_COUNT; k++) {
        free(s->matrix[k].value);
        free(s->matrix[k].text);
    }
    *s = (structure){ 0 };
}

const char *
structure_matrix_name(enum structure_matrix k)
{
    static const char *const name[M_COUNT] = { "S", "L", "J_SS", "J_SL", "J_SU", "J_SX", "J_LS", "J_LL", "J_LU", "J_LX", "L_X", "A", "B" };

    return name[k];
}
