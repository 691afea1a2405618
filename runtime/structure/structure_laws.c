/* structure_laws.c - slopes of laws for structure.c: S, L, and dependences on other variables
 *
 * Laws of one-ports are entered one by one; the ports of a field are solved together for their outputs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "structure_relations.h"

/* ---------------------------------------------------------------- matrices */

structure_block
block_new(const struct relations *w, size_t rows, size_t columns)
{
    structure_block b = { rows, columns, bg_calloc(rows * columns + 1, sizeof(double)), NULL };

    if (w->pool) {
        b.text = bg_malloc((rows * columns + 1) * sizeof *b.text);
        for (size_t i = 0; i < rows * columns; i++)
            b.text[i] = ex_const(w->pool, 0);
    }
    return b;
}

void
block_free(structure_block *b)
{
    free(b->value);
    free(b->text);
    *b = (structure_block){ 0 };
}

void
block_add(struct relations *w, structure_block *b, size_t row, size_t column, double value, node text)
{
    size_t at = row + column * b->rows;

    b->value[at] += value;
    if (w->pool)
        b->text[at] = ex_add(w->pool, b->text[at], text);
}

void
relations_spread_sum(struct relations *w, const sum *s, size_t row, const struct receivers *to, double factor,
                     const char *what)
{
    for (size_t k = 0; k < s->n; k++) {
        const term *t = &s->at[k];
        structure_block *const by[] = {
            [FREE_NONE] = NULL, [FREE_Z] = to->z,       [FREE_D] = to->d,        [FREE_U] = to->u,
            [FREE_X] = to->x,   [FREE_RATE] = to->rate, [FREE_LOOSE] = to->loose
        };

        if (!by[w->kind[t->column]]) {
            if (t->value != 0)
                relations_fail(w,
                               w->kind[t->column] == FREE_NONE
                                   ? "the junctions leave what \"%s\" depends on undetermined"
                                   : "\"%s\" depends on more than states",
                               what);
            continue;
        }
        block_add(w, by[w->kind[t->column]], row, w->index[t->column], factor * t->value,
                  w->pool ? ex_mul(w->pool, ex_const(w->pool, factor), t->text) : NODE_NONE);
    }
}

void
relations_spread(struct relations *w, uint32_t column, size_t row, const struct receivers *to, double factor,
                 const char *what)
{
    term one;
    sum s = elimination_express(w->r, column, &one);
    size_t own = 0;

    if (!elimination_solved(w->r, column)) {
        relations_spread_sum(w, &s, row, to, factor, what);
        return;
    }
    while (s.at[own].column != column)
        own++;
    relations_spread_sum(w, &(sum){ s.at, own, own }, row, to, -factor, what);
    relations_spread_sum(w, &(sum){ s.at + own + 1, s.n - own - 1, s.n - own - 1 }, row, to, -factor, what);
}

/* A variable that a law reads, as a row over x and the requested inputs; through outputs of storage too, once their
 * slopes are known. */
static structure_block
departure_by_states(struct relations *w, var_id v, bool storage_known, const char *reader)
{
    const structure *s = w->s;
    structure_block x = block_new(w, 1, s->n + w->ninput), z = block_new(w, 1, s->nz), u = block_new(w, 1, w->ninput);

    relations_spread(
        w, v, 0, &(struct receivers){ .x = &x, .z = storage_known ? &z : NULL, .u = w->ninput ? &u : NULL }, 1, reader);
    for (size_t i = 0; i < w->ninput; i++)
        block_add(w, &x, 0, s->n + i, u.value[i], w->pool ? u.text[i] : NODE_NONE);
    block_free(&u);
    for (size_t j = 0; j < s->nz && storage_known; j++)
        for (size_t i = 0; i < s->n; i++) {
            const structure_block *S = &s->matrix[M_S];

            if (z.value[j] != 0 && S->value[j + s->nz * i] != 0)
                block_add(w, &x, 0, i, z.value[j] * S->value[j + s->nz * i],
                          w->pool ? ex_mul(w->pool, z.text[j], S->text[j + s->nz * i]) : NODE_NONE);
        }
    block_free(&z);
    return x;
}

/* Adds a law's dependence on a variable other than its own. */
static void
add_other(struct relations *w, structure_block *by_x, size_t row, size_t column, double value, node text,
          const char *law)
{
    if (column < by_x->columns)
        block_add(w, by_x, row, column, value, text);
    else if (value != 0)
        relations_fail(w, "\"%s\" depends on more than states", law);
}

/* The slope of a one-port's law from the input to the output asked for, and its other dependences, in by_x. */
static void
law_slope(struct relations *w, uint32_t port, var_id in, var_id out, structure_block *slope, size_t row, size_t column,
          structure_block *by_x)
{
    const flat_law *law = port_law(w->f, port);
    const flat_port *p = &w->f->port.at[port];
    var_id left = law->out == Q_EFFORT ? p->e : law->out == Q_FLOW ? p->f : p->stored;
    uint32_t k = inst_slot_of(w->f, law->def, left == out ? in : out);
    struct slope s = k == NONE ? (struct slope){ 0, relations_number(w, 0) } : relations_slope(w, law->def, k);
    double factor = 1;
    node text = relations_number(w, 1);

    if (left != out) { /* in = law(out, ...): out = (in - rest)/slope */
        if (s.value == 0) {
            relations_fail(w, "the law of %s has no slope here", port_name(w->f, port));
            return;
        }
        factor = -1 / s.value;
        text = w->pool ? ex_div(w->pool, ex_const(w->pool, -1), s.text) : NODE_NONE;
        s.value = 1 / s.value;
        s.text = w->pool ? ex_div(w->pool, ex_const(w->pool, 1), s.text) : NODE_NONE;
    }
    if (!isfinite(s.value))
        relations_fail(w, "the law of %s has no finite slope here", port_name(w->f, port));
    block_add(w, slope, row, column, s.value, s.text);
    for (uint32_t a = 0; a < law->def.n; a++) {
        var_id v = inst_slots(w->f, law->def)[a];
        structure_block one = { 0 };
        struct slope q;

        if (a == k || !relations_moves(w, v))
            continue;
        q = relations_slope(w, law->def, a);
        if (q.value == 0 && !w->pool)
            continue;
        one = departure_by_states(w, v, slope != &w->s->matrix[M_S], port_name(w->f, port));
        for (size_t i = 0; i < one.columns; i++)
            if (one.value[i] != 0 || (w->pool && !ex_is_const(w->pool, one.text[i], NULL)))
                add_other(w, by_x, row, i, factor * q.value * one.value[i],
                          w->pool ? ex_mul(w->pool, ex_mul(w->pool, text, q.text), one.text[i]) : NODE_NONE,
                          port_name(w->f, port));
        block_free(&one);
    }
}

/* The dependences of one law of a field, as a row of r: columns are outputs and inputs of its ports, and states. */
static void
field_row(struct relations *w, elimination *r, const flat_element *el, const flat_law *law, const var_id *in,
          const var_id *out)
{
    size_t n = el->nports;
    const flat_port *p = &w->f->port.at[law->port];
    var_id own = law->out == Q_EFFORT ? p->e : law->out == Q_FLOW ? p->f : p->stored;

    for (size_t j = 0; j < n; j++)
        if (own == out[j] || own == in[j])
            elimination_put(r, (uint32_t)(own == out[j] ? j : n + j), -1, relations_number(w, -1));
    for (uint32_t a = 0; a < law->def.n; a++) {
        var_id v = inst_slots(w->f, law->def)[a];
        structure_block one;
        struct slope q;
        size_t j = 0;

        if (!relations_moves(w, v))
            continue;
        q = relations_slope(w, law->def, a);
        while (j < n && v != out[j] && v != in[j])
            j++;
        if (j < n) {
            elimination_put(r, (uint32_t)(v == out[j] ? j : n + j), q.value, q.text);
            continue;
        }
        one = departure_by_states(w, v, el->type == EL_R, el->name);
        for (size_t i = 0; i < one.columns; i++)
            elimination_put(r, (uint32_t)(2 * n + i), q.value * one.value[i],
                            w->pool ? ex_mul(w->pool, q.text, one.text[i]) : NODE_NONE);
        block_free(&one);
    }
    elimination_end(r);
}

/* One field: at[k] is the index of its port k in the list. Its laws are solved together for the outputs of its
 * ports. */
static void
field_block(struct relations *w, const flat_element *el, const size_t *at, const var_id *in, const var_id *out,
            structure_block *slope, const size_t *column, structure_block *by_x)
{
    size_t n = el->nports, columns = 2 * n + w->s->n + w->ninput;
    elimination *r = elimination_new(columns, w->pool);
    uint8_t *may = bg_calloc(columns + 1, 1);
    var_id *fin = bg_calloc(n + 1, sizeof *fin), *fout = bg_calloc(n + 1, sizeof *fout);

    for (size_t k = 0; k < n; k++) {
        fin[k] = in[at[k]];
        fout[k] = out[at[k]];
        may[k] = 1;
    }
    for (size_t k = 0; k < n; k++)
        field_row(w, r, el, &w->f->law.at[el->law0 + k], fin, fout);
    elimination_eliminate(r, may);
    for (size_t a = 0; a < n && w->fine; a++) {
        term unused;
        sum row = elimination_express(r, (uint32_t)a, &unused);

        if (!elimination_solved(r, (uint32_t)a)) {
            relations_fail(w, "the laws of %s have no slopes that way here", el->name);
            break;
        }
        for (size_t k = 0; k < row.n; k++) {
            const term *t = &row.at[k];
            node text = w->pool ? ex_neg(w->pool, t->text) : NODE_NONE;

            if (!isfinite(t->value))
                relations_fail(w, "the laws of %s have no finite slopes here", el->name);
            if (t->column >= 2 * n)
                add_other(w, by_x, at[a], t->column - 2 * n, -t->value, text, el->name);
            else if (t->column >= n)
                block_add(w, slope, at[a], column ? column[at[t->column - n]] : at[t->column - n], -t->value, text);
        }
    }
    elimination_free(r);
    free(may);
    free(fin);
    free(fout);
}

/* Laws as a block from inputs to outputs of ports: one-ports one by one, fields together. column: of each port's input;
 * NULL: its number. */
static void
law_block(struct relations *w, const uint32_t *port, size_t count, const var_id *in, const var_id *out,
          structure_block *slope, const size_t *column, structure_block *by_x)
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
        else if (found != el->nports)
            relations_fail(w, "%s is dependent storage in part", el->name);
        else if (first)
            field_block(w, el, at, in, out, slope, column, by_x);
        free(at);
    }
}

void
relations_storage_laws(struct relations *w, const uint32_t *port, size_t n, bool gives, structure_block *slope,
                       const size_t *column, structure_block *by_x)
{
    const flat_model *f = w->f;
    var_id *stored = bg_calloc(n + 1, sizeof *stored), *given = bg_calloc(n + 1, sizeof *given);

    for (size_t i = 0; i < n; i++) {
        stored[i] = f->port.at[port[i]].stored;
        given[i] = port_gives(f, port[i]);
    }
    law_block(w, port, n, gives ? stored : given, gives ? given : stored, slope, column, by_x);
    free(stored);
    free(given);
}

/* The laws of storage and dissipators. */
void
relations_laws(struct relations *w, struct dependence *d)
{
    const flat_model *f = w->f;
    structure *s = w->s;
    var_id *in = bg_calloc(s->nl + 1, sizeof *in), *out = bg_calloc(s->nl + 1, sizeof *out);
    structure_block by_x = block_new(w, s->nd, s->n);

    s->matrix[M_S] = block_new(w, s->nz, s->n);
    relations_storage_laws(w, s->storage, s->nz, true, &s->matrix[M_S], s->storage_state, &s->matrix[M_S]);
    for (size_t i = 0; i < s->nl; i++) {
        const flat_port *p = &f->port.at[s->dissipator[i]];

        in[i] = s->flow_in[i] ? p->f : p->e;
        out[i] = s->flow_in[i] ? p->e : p->f;
    }
    s->matrix[M_L] = block_new(w, s->nl, s->nl);
    s->matrix[M_L_X] = block_new(w, s->nl, s->n + w->ninput);
    law_block(w, s->dissipator, s->nl, in, out, &s->matrix[M_L], NULL, &s->matrix[M_L_X]);
    d->C = block_new(w, s->nd, s->nd);
    relations_storage_laws(w, s->dependent, s->nd, false, &d->C, NULL, &by_x);
    for (size_t i = 0; i < s->nd; i++)
        for (size_t k = 0; k < s->n; k++)
            if (by_x.value[i + s->nd * k] != 0)
                relations_fail(w, "the law of dependent %s reads other states", port_name(w->f, s->dependent[i]));
    s->C_d = bg_calloc(s->nd * s->nd + 1, sizeof(double));
    memcpy(s->C_d, d->C.value, s->nd * s->nd * sizeof(double));
    block_free(&by_x);
    free(in);
    free(out);
}
