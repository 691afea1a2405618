/* second_order_written.c - the matrices of second_order.c from the relations of the bond graph: symbolic, and as
 * numbers in which structural zeros are exact
 *
 * The balances of forces at the inertias that are coordinates, for deviations from the operating point:
 *     0 = d/dt p - e,   with e from the junctions: springs, dampers, sources and dependent inertias
 * The laws give momenta from the velocities of ports, and these from those of the coordinates: p = P v + P_e e + P_u u.
 * Then d/dt p = P a + P' v + ..., where P' is the rate of P along the motion; it contains the terms of a varying ratio,
 * with accelerations and forces at the operating point as named values. Dependent storage gives its rate in the same
 * way. The outputs of dissipators, the rates of displacements and those of dependent storage are eliminated,
 * accelerations are kept: M a + D v + F e = L u. Rates of displacements are G v + G_u u + A_ee e. Where A_ee is not
 * zero, e = G q + G_u (integral of u) holds if G' = A_ee G, which is true where displacements are functions of
 * positions. Then K = F G and N = -F G_u.
 */
#include <math.h>
#include <string.h>

#include "coefficient_rates.h"
#include "dense.h"
#include "second_order.h"
#include "structure_relations.h"
#include "compiled.h"

#define AGREES 1e-8 /* relative to the greatest entry: expressions evaluated at the point agree with the numbers */
#define RESTS 1e-9  /* relative to their terms: rates of displacements are zero */

/* Columns of the balances, in this order: residuals, one pivot for each balance; eliminated variables; remaining ones.
 * u: openings, then their rates. */
struct columns {
    size_t left, e_rate, r, in, out, e, v_rate, v, q, u, integral, end;
};

/* Columns of the laws of storage: outputs of springs, momenta and stored quantities of dependent storage, one pivot for
 * each law; remaining ones. */
struct stores {
    size_t given, momentum, dependent, e, v, u, out, r, end;
};

struct written {
    struct relations w;
    structure t;
    const linearization *l;
    size_t np, ne, nopen;
    size_t *momentum, *displacement;             /* [state] its index among them; NO_INDEX */
    size_t *state_of_p, *state_of_e, *port_of_p; /* port_of_p NO_INDEX: the state is a junction's velocity */
    uint32_t *number_of;                         /* [port] index among states, dependent storage or dissipators */
    struct columns at;
    struct stores in;
    elimination *laws, *r;
    coefficient_rates *rates;
    struct slope *sum; /* [in.end] a row that is being assembled */
    size_t *held, nheld;
    bool *holds;
};

static bool
slope_is_zero(const struct written *k, struct slope a)
{
    double x;

    return a.value == 0 && (!k->w.pool || (ex_is_const(k->w.pool, a.text, &x) && x == 0));
}

static struct slope
times(const struct written *k, struct slope a, struct slope b)
{
    return (struct slope){ a.value * b.value,
                           k->w.pool ? elimination_product(k->w.pool, a.text, b.text, false) : NODE_NONE };
}

static struct slope
constant_slope(const struct written *k, double x)
{
    return (struct slope){ x, relations_number(&k->w, x) };
}

static struct slope
law_coefficient(const term *t)
{
    return (struct slope){ t->value, t->text };
}

/* Expresses a column by the other terms of its row: all but its own, and their sign. */
static sum
made_of(const elimination *r, size_t column, term *one, double *sign)
{
    sum s = elimination_express(r, (uint32_t)column, one);

    *sign = elimination_solved(r, (uint32_t)column) ? -1 : 1;
    return s;
}

/* ---------------------------------------------------------------- assembled rows */

static void
gather_kept(struct written *k, size_t column, struct slope a)
{
    term t = { (uint32_t)column, a.value, a.text };

    if (!k->holds[column]) {
        k->holds[column] = true;
        k->held[k->nheld++] = column;
    } else {
        t = elimination_added(k->laws, (term){ t.column, k->sum[column].value, k->sum[column].text }, t);
    }
    k->sum[column] = (struct slope){ t.value, t.text };
}

static void
gather_store(struct written *k, size_t column, struct slope a)
{
    term one;
    double sign;
    sum s = made_of(k->laws, column, &one, &sign);

    for (size_t i = 0; i < s.n; i++)
        if (sign > 0 || s.at[i].column != column)
            gather_kept(k, s.at[i].column, times(k, times(k, constant_slope(k, sign), a), law_coefficient(&s.at[i])));
}

/* The column of the laws for a variable that the junctions leave free. */
static size_t
store_column(struct written *k, uint32_t column)
{
    const struct relations *w = &k->w;
    const structure *s = &k->t;
    size_t i = w->index[column], state;

    switch (w->kind[column]) {
    case FREE_Z:
        state = s->storage_state[i];
        return k->momentum[state] != NO_INDEX ? k->in.v + k->momentum[state] : k->in.given + i;
    case FREE_X:
        if (k->momentum[i] == NO_INDEX)
            return k->displacement[i] == NO_INDEX ? NO_INDEX : k->in.e + k->displacement[i];
        return (k->port_of_p[k->momentum[i]] == NO_INDEX ? k->in.v : k->in.momentum) + k->momentum[i];
    case FREE_D: return k->in.out + i;
    case FREE_U: return k->in.u + i;
    case FREE_RATE: return k->in.r + i;
    default: return NO_INDEX;
    }
}

/* Adds a times a variable, before the laws of storage are solved: into `to`, or (NULL) into the assembled row. */
static void
spread_slope(struct written *k, uint32_t column, struct slope a, elimination *to)
{
    term one;
    double sign;
    sum s;

    if (slope_is_zero(k, a))
        return;
    s = made_of(k->w.r, column, &one, &sign);
    for (size_t i = 0; i < s.n && k->w.fine; i++) {
        struct slope b = times(k, times(k, constant_slope(k, sign), a), law_coefficient(&s.at[i]));
        size_t at;

        if ((sign < 0 && s.at[i].column == column) || slope_is_zero(k, b))
            continue;
        at = store_column(k, s.at[i].column);
        if (at == NO_INDEX && column < k->w.nvars)
            relations_fail(&k->w, "the relations leave what \"%s\" is open", var_name(k->w.f, column));
        else if (at == NO_INDEX)
            relations_fail(&k->w, "the relations leave the rate of a velocity open");
        else if (to)
            elimination_put(to, (uint32_t)at, b.value, b.text);
        else
            gather_store(k, at, b);
    }
}

static void
gather_slope(struct written *k, uint32_t column, struct slope a)
{
    spread_slope(k, column, a, NULL);
}

/* ---------------------------------------------------------------- rows of balances */

static void
put(struct written *k, size_t column, struct slope a)
{
    if (!slope_is_zero(k, a))
        elimination_put(k->r, (uint32_t)column, a.value, a.text);
}

/* The column of the balances for a column of the laws. */
static size_t
balance_column(const struct written *k, size_t c)
{
    const struct stores *in = &k->in;

    return c >= in->r     ? c - in->r + k->at.r
           : c >= in->out ? c - in->out + k->at.out
           : c >= in->u   ? c - in->u + k->at.u
           : c >= in->v   ? c - in->v + k->at.v
                          : c - in->e + k->at.e;
}

static void
forget_rows(struct written *k)
{
    for (size_t i = 0; i < k->nheld; i++)
        k->holds[k->held[i]] = false;
    k->nheld = 0;
}

static void
put_gathered(struct written *k)
{
    for (size_t i = 0; i < k->nheld; i++)
        put(k, balance_column(k, k->held[i]), k->sum[k->held[i]]);
    forget_rows(k);
}

/* Adds factor times the rate of the assembled row. whose: for a message */
static void
put_rate_of_gathered(struct written *k, double factor, const char *whose)
{
    const struct stores *in = &k->in;

    for (size_t i = 0; i < k->nheld; i++) {
        size_t c = k->held[i];
        struct slope a = times(k, constant_slope(k, factor), k->sum[c]);

        put(k, balance_column(k, c), coefficient_rate(k->rates, a));
        if (slope_is_zero(k, a))
            continue;
        if (c >= in->out)
            relations_fail(&k->w, "the rate of \"%s\" depends on damper forces", whose);
        else if (c >= in->u + k->nopen)
            relations_fail(&k->w, "the rate of \"%s\" depends on the rate of a source", whose);
        else
            put(k,
                c >= in->u   ? balance_column(k, c + k->nopen)
                : c >= in->v ? c - in->v + k->at.v_rate
                             : c - in->e + k->at.e_rate,
                a);
    }
    forget_rows(k);
}

/* ---------------------------------------------------------------- laws */

static var_id
dissipator_gets(const struct written *k, uint32_t port)
{
    const flat_port *p = &k->w.f->port.at[port];

    return k->t.flow_in[k->number_of[port]] ? p->f : p->e;
}

/* The port of an element whose own column v is: the input of a dissipator, or what dependent storage stores. NONE: v is
 * neither. */
static uint32_t
port_with(const struct written *k, const flat_element *el, var_id v, bool storage)
{
    const flat_port *port = k->w.f->port.at;

    for (uint32_t p = el->port0; p < el->port0 + el->nports; p++)
        if (storage ? v == port[p].stored && !k->w.c->state[p] : v == dissipator_gets(k, p))
            return p;
    return NONE;
}

/* Adds the law of a port: of storage, over stored quantity and output, to the laws; of a dissipator, over input and
 * output, to the balances. */
static void
put_law(struct written *k, const flat_law *law, bool storage)
{
    const flat_model *f = k->w.f;
    const flat_port *p = &f->port.at[law->port];
    uint32_t n = law->def.n;

    for (uint32_t a = 0; a <= n; a++) {
        var_id v = a < n                  ? inst_slots(f, law->def)[a]
                   : law->out == Q_EFFORT ? p->e
                   : law->out == Q_FLOW   ? p->f
                                          : p->stored;
        struct slope by = constant_slope(k, -1);
        uint32_t own;

        if (a < n && !relations_moves(&k->w, v))
            continue;
        if (a < n)
            by = relations_slope(&k->w, law->def, a);
        if (!isfinite(by.value))
            relations_fail(&k->w, "the law of %s has no finite slope here", port_name(f, law->port));
        own = port_with(k, &f->element.at[p->element], v, storage);
        if (own == NONE)
            spread_slope(k, v, by, storage ? k->laws : NULL);
        else if (storage)
            elimination_put(k->laws, (uint32_t)(k->in.dependent + k->number_of[own]), by.value, by.text);
        else
            put(k, k->at.in + k->number_of[own], by);
    }
    if (!storage)
        put_gathered(k);
    elimination_end(storage ? k->laws : k->r);
}

static void
put_taken_out(struct written *k)
{
    const structure *s = &k->t;
    const flat_model *f = k->w.f;

    for (size_t i = 0; i < k->ne; i++) {
        uint32_t rate = k->w.rate[k->state_of_e[i]];

        if (!k->w.rests[k->state_of_e[i]]) /* otherwise the state is a junction's effort: its balance has no residual */
            put(k, k->at.e_rate + i, constant_slope(k, 1));
        if (rate != NONE && (rate >= k->w.nvars || relations_moves(&k->w, rate)))
            gather_slope(k, rate, constant_slope(k, -1));
        put_gathered(k);
        elimination_end(k->r);
    }
    for (size_t i = 0; i < s->nd; i++) {
        put(k, k->at.r + i, constant_slope(k, -1));
        gather_store(k, k->in.dependent + i, constant_slope(k, 1));
        put_rate_of_gathered(k, 1, port_name(f, s->dependent[i]));
        elimination_end(k->r);
    }
    for (size_t i = 0; i < s->nl; i++) {
        put(k, k->at.in + i, constant_slope(k, -1));
        gather_slope(k, dissipator_gets(k, s->dissipator[i]), constant_slope(k, 1));
        put_gathered(k);
        elimination_end(k->r);
        put_law(k, port_law(f, s->dissipator[i]), false);
    }
}

static void
solve_storage(struct written *k)
{
    const structure *s = &k->t;
    uint8_t *may = bg_calloc(k->in.end + 1, 1);

    k->laws = elimination_new(k->in.end, k->w.pool);
    for (size_t i = 0; i < s->nz && k->w.fine; i++) {
        size_t m = k->momentum[s->storage_state[i]];

        may[m == NO_INDEX ? k->in.given + i : k->in.momentum + m] = WANTED;
        put_law(k, port_law(k->w.f, s->storage[i]), true);
    }
    for (size_t i = 0; i < s->nd && k->w.fine; i++) {
        may[k->in.dependent + i] = WANTED;
        put_law(k, port_law(k->w.f, s->dependent[i]), true);
    }
    elimination_eliminate(k->laws, may);
    for (size_t c = 0; c < k->in.e; c++)
        if (may[c] && !elimination_solved(k->laws, (uint32_t)c))
            relations_fail(&k->w, "the laws of storage have no slopes that way here");
    free(may);
}

/* ---------------------------------------------------------------- balances */

/* Signs of ports are those of energies, so that M agrees with the numbers. If a junction's velocity is the state, the
 * residual of its balance is the flow into it. */
static void
put_balances(struct written *k)
{
    const flat_model *f = k->w.f;

    for (size_t i = 0; i < k->np; i++) {
        size_t z = k->port_of_p[i];
        uint32_t rate = k->w.rate[k->state_of_p[i]];
        double sign = z == NO_INDEX ? 1 : f->port.at[k->t.storage[z]].sign;

        put(k, k->at.left + i, constant_slope(k, 1));
        if (z != NO_INDEX) {
            gather_store(k, k->in.momentum + i, constant_slope(k, 1));
            put_rate_of_gathered(k, sign, port_name(f, k->t.storage[z]));
        }
        gather_slope(k, rate, constant_slope(k, -sign));
        put_gathered(k);
        elimination_end(k->r);
    }
}

/* Eliminates these columns from all rows, balances included. */
static void
take_out_columns(struct written *k, size_t first, size_t end)
{
    uint8_t *may = bg_calloc(k->at.end + 1, 1);

    for (size_t c = 0; c < k->np; c++)
        may[k->at.left + c] = INNER;
    for (size_t c = first; c < end; c++)
        may[c] = WANTED;
    elimination_eliminate(k->r, may);
    for (size_t c = first; c < end; c++)
        if (!elimination_solved(k->r, (uint32_t)c))
            relations_fail(&k->w, "the efforts and flows of dissipators are not determined here");
    free(may);
}

/* Rates of displacements by velocities, inputs and displacements. */
struct displacements {
    struct slope *G;   /* ne by np, then nu */
    struct slope *own; /* ne by ne: A_ee */
};

static struct displacements
read_displacements(struct written *k)
{
    size_t ne = k->ne, wide = k->np + k->t.nu;
    struct displacements d = { bg_calloc(ne * wide + 1, sizeof *d.G), bg_calloc(ne * ne + 1, sizeof *d.own) };

    for (size_t i = 0; i < ne * wide; i++)
        d.G[i] = constant_slope(k, 0);
    for (size_t i = 0; i < ne * ne; i++)
        d.own[i] = constant_slope(k, 0);
    for (size_t i = 0; i < ne; i++) {
        term unused;
        sum row = elimination_express(k->r, (uint32_t)(k->at.e_rate + i), &unused);

        for (size_t a = 0; a < row.n; a++) {
            size_t c = row.at[a].column;
            struct slope by = times(k, constant_slope(k, -1), law_coefficient(&row.at[a]));

            if (c >= k->at.u)
                d.G[i + ne * (k->np + c - k->at.u)] = by;
            else if (c >= k->at.v && c < k->at.q)
                d.G[i + ne * (c - k->at.v)] = by;
            else if (c >= k->at.e && c < k->at.v_rate)
                d.own[i + ne * (c - k->at.e)] = by;
            else if (c != k->at.e_rate + i)
                relations_fail(&k->w, "the rate of \"%s\" has accelerations in it",
                               linear_state_name(k->l, k->state_of_e[i]));
        }
    }
    return d;
}

/* An input that acts through its rate also acts directly: the rate of N (integral of u') = N u is N u' + N' u, and A_ee
 * N u is part of the rate of e. */
static void
take_rates_of_inputs(struct written *k, struct displacements *d)
{
    size_t ne = k->ne;

    for (size_t i = 0; i < ne; i++)
        for (size_t j = 0; j < k->nopen; j++) {
            struct slope *to = &d->G[i + ne * (k->np + j)], by = d->G[i + ne * (k->np + k->nopen + j)];
            struct slope more = times(k, constant_slope(k, -1), coefficient_rate(k->rates, by));

            for (size_t e = 0; e <= ne; e++) {
                if (!slope_is_zero(k, more)) {
                    to->value += more.value;
                    to->text = k->w.pool ? ex_add(k->w.pool, to->text, more.text) : NODE_NONE;
                }
                if (e < ne)
                    more = times(k, d->own[i + ne * e], d->G[e + ne * (k->np + k->nopen + j)]);
            }
        }
}

/* Checks that displacements follow from positions, e = G q, although their rates depend on displacements: G' = A_ee
 * G. */
static void
check_displacements(struct written *k, struct displacements *d)
{
    size_t ne = k->ne, wide = k->np + k->nopen;
    bool *moved = second_order_rates_moved(k->l, k->momentum);

    for (size_t i = 0; i < ne && k->w.fine; i++) {
        bool fixed = true;
        double most = 0, worst = 0;

        for (size_t j = 0; j < wide && moved[k->state_of_e[i]]; j++) {
            struct slope rate = coefficient_rate(k->rates, d->G[i + ne * j]);
            double off = rate.value;

            fixed = fixed && slope_is_zero(k, rate);
            for (size_t e = 0; e < ne; e++) {
                double part = d->own[i + ne * e].value * d->G[e + ne * j].value;

                off -= part;
                most = fmax(most, fabs(part));
            }
            most = fmax(most, fabs(rate.value));
            worst = fmax(worst, fabs(off));
        }
        if (worst > RESTS * most)
            relations_fail(&k->w,
                           fixed ? "the rate of \"%s\" does not depend on velocities of inertias alone: a damper in "
                                   "series or a filter is involved"
                                 : "\"%s\" is not a function of the positions: its rate makes it depend on the path",
                           linear_state_name(k->l, k->state_of_e[i]));
    }
    free(moved);
}

/* Displacements by those of the inertias: e = G q + G_u (integral of u). */
static void
put_displacements(struct written *k)
{
    struct displacements d = read_displacements(k);
    size_t ne = k->ne;

    take_rates_of_inputs(k, &d);
    check_displacements(k, &d);
    for (size_t i = 0; i < ne; i++) {
        put(k, k->at.e + i, constant_slope(k, -1));
        for (size_t j = 0; j < k->np; j++)
            put(k, k->at.q + j, d.G[i + ne * j]);
        for (size_t j = 0; j < k->t.nu; j++)
            put(k, k->at.integral + j, d.G[i + ne * (k->np + j)]);
        elimination_end(k->r);
    }
    free(d.G);
    free(d.own);
}

/* ---------------------------------------------------------------- the complete derivation */

static void
number_coordinates(struct written *k, const linearization *l, const second_order *s)
{
    size_t n = k->t.n;

    k->momentum = bg_malloc((n + 1) * sizeof *k->momentum);
    k->displacement = bg_malloc((n + 1) * sizeof *k->displacement);
    k->state_of_p = bg_calloc(n + 1, sizeof *k->state_of_p);
    k->state_of_e = bg_calloc(n + 1, sizeof *k->state_of_e);
    k->port_of_p = bg_malloc((n + 1) * sizeof *k->port_of_p);
    k->number_of = bg_calloc(k->w.f->port.n + 1, sizeof *k->number_of);
    for (size_t i = 0; i < n; i++)
        k->momentum[i] = k->displacement[i] = k->port_of_p[i] = NO_INDEX;
    for (size_t i = 0; i < s->n; i++)
        k->momentum[s->momentum[i]] = i;
    k->np = s->n;
    for (size_t i = 0; i < n; i++)
        if (k->momentum[i] != NO_INDEX) {
            k->state_of_p[k->momentum[i]] = i;
        } else if (!model_state(l->model, l->order[i]).only_outputs) {
            k->displacement[i] = k->ne;
            k->state_of_e[k->ne++] = i;
        }
    for (size_t z = 0; z < k->t.nz; z++)
        if (k->momentum[k->t.storage_state[z]] != NO_INDEX)
            k->port_of_p[k->momentum[k->t.storage_state[z]]] = z;
    for (size_t i = 0; i < k->t.nd; i++)
        k->number_of[k->t.dependent[i]] = (uint32_t)i;
    for (size_t i = 0; i < k->t.nl; i++)
        k->number_of[k->t.dissipator[i]] = (uint32_t)i;
}

static void
number_columns(struct written *k)
{
    size_t nl = k->t.nl, nu = k->t.nu, nd = k->t.nd, wide;
    struct columns *c = &k->at;
    struct stores *in = &k->in;

    c->e_rate = k->np;
    c->r = c->e_rate + k->ne;
    c->in = c->r + nd;
    c->out = c->in + nl;
    c->e = c->out + nl;
    c->v_rate = c->e + k->ne;
    c->v = c->v_rate + k->np;
    c->q = c->v + k->np;
    c->u = c->q + k->np;
    c->integral = c->u + nu;
    c->end = c->integral + nu;
    in->momentum = k->t.nz;
    in->dependent = in->momentum + k->np;
    in->e = in->dependent + nd;
    in->v = in->e + k->ne;
    in->u = in->v + k->np;
    in->out = in->u + nu;
    in->r = in->out + nl;
    in->end = in->r + nd;
    wide = in->end + 1;
    k->sum = bg_calloc(wide, sizeof *k->sum);
    k->held = bg_calloc(wide, sizeof *k->held);
    k->holds = bg_calloc(wide, sizeof *k->holds);
}

/* The input of the linear model for column i of the openings and their rates; NO_INDEX: none, it is zero. */
static size_t
input_of(const struct written *k, const linearization *l, size_t i)
{
    const struct model_opening *o = &model_graph_of(l->model)->opening[i % k->nopen];

    for (size_t a = 0; a < l->input.n; a++)
        if (l->input.at[a].name == (i < k->nopen ? o->name : o->rate_name))
            return a;
    return NO_INDEX;
}

/* Reads M, D, K, L, N from the balances, each of them 0 = residual + M v' + D v + K q - L u - N integral. */
static void
read_balances(struct written *k, const linearization *l, structure_block out[5])
{
    const struct columns *at = &k->at;

    for (int b = 0; b < 5; b++)
        out[b] = block_new(&k->w, k->np, b < 3 ? k->np : l->input.n);
    for (size_t i = 0; i < k->np; i++) {
        term unused;
        sum row = elimination_express(k->r, (uint32_t)(at->left + i), &unused);

        for (size_t a = 0; a < row.n; a++) {
            size_t c = row.at[a].column, column = NO_INDEX;
            int b = c >= at->integral ? 4 : c >= at->u ? 3 : c >= at->q ? 2 : c >= at->v ? 1 : 0;

            if (c >= at->u)
                column = input_of(k, l, (c - at->u) % k->t.nu);
            else if (c >= at->v_rate)
                column = (c - at->v_rate) % k->np;
            if (column != NO_INDEX) {
                struct slope by = times(k, constant_slope(k, b < 3 ? 1 : -1), law_coefficient(&row.at[a]));

                block_add(&k->w, &out[b], i, column, by.value, by.text);
            }
        }
    }
}

/* Do they agree with A and B at the operating point? Laws may depend on variables that have no column here. */
static bool
agrees_with_numbers(const second_order *s, const structure_block out[5])
{
    const double *const value[5] = { s->M, s->D, s->K, s->L, s->N };
    double most[5];

    for (int b = 0; b < 5; b++) {
        size_t n = out[b].rows * out[b].columns;

        most[b] = fmax(dense_norm(n, value[b]), b > 2 ? most[b - 2] : 0); /* L is compared with D, N with K */
        for (size_t i = 0; i < n; i++)
            if (!(fabs(out[b].value[i] - value[b][i]) <= AGREES * most[b]))
                return false;
    }
    return true;
}

static void
written_free(struct written *k)
{
    void *const owned[] = { k->momentum,  k->displacement, k->state_of_p, k->state_of_e, k->port_of_p,
                            k->number_of, k->sum,          k->held,       k->holds };

    coefficient_rates_free(k->rates);
    elimination_free(k->laws);
    elimination_free(k->r);
    structure_free(&k->t);
    relations_close(&k->w);
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
}

/* Symbolic where there is a pool. The caller frees what is in out in any case. */
static bool
write(const linearization *l, const second_order *s, pool *p, structure_block out[5], char **why)
{
    const flat_model *f = model_flat(l->model);
    struct written k = { .l = l, .nopen = f->opening.n };
    var_id *input = bg_calloc(2 * k.nopen + 1, sizeof *input);
    double *x = linearization_states(l);

    for (size_t i = 0; i < k.nopen; i++) {
        input[i] = f->opening.at[i].by;
        input[k.nopen + i] = f->opening.at[i].rate;
    }
    k.w = (struct relations){ .pool = p, .input = input, .ninput = 2 * k.nopen };
    relations_open(&k.w, l->model, l->time, x, l->order, &k.t);
    if (k.w.fine) {
        number_coordinates(&k, l, s);
        number_columns(&k);
        k.rates = coefficient_rates_new(&k.w);
        solve_storage(&k);
    }
    if (k.w.fine) {
        k.r = elimination_new(k.at.end, p);
        put_taken_out(&k);
        put_balances(&k);
        take_out_columns(&k, k.at.e_rate, k.at.e);
    }
    if (k.w.fine)
        put_displacements(&k);
    if (k.w.fine)
        take_out_columns(&k, k.at.e, k.at.v_rate);
    if (k.w.fine)
        read_balances(&k, l, out);
    if (k.w.fine && s->M && !agrees_with_numbers(s, out))
        relations_fail(&k.w, "laws read a variable that no matrix has a column for");
    *why = k.w.fine ? NULL : bg_strdup(k.t.why);
    written_free(&k);
    free(input);
    free(x);
    return !*why;
}

static pool *
pool_of(const linearization *l)
{
    return ((flat_model *)model_flat(l->model))->pool; /* it grows */
}

bool
second_order_write(const linearization *l, const second_order *s, structure_block out[5], char **why)
{
    char *reason = NULL;

    if (!write(l, s, pool_of(l), out, &reason))
        *why = bg_format("%s; its matrices are numbers alone", reason);
    free(reason);
    return !*why;
}

bool
second_order_values(const linearization *l, second_order *s, bool moves, char **why)
{
    double **const value[5] = { &s->M, &s->D, &s->K, &s->L, &s->N };
    structure_block out[5] = { 0 };
    bool fine = write(l, s, moves ? pool_of(l) : NULL, out, why);

    for (int b = 0; b < 5; b++) {
        if (fine) {
            free(*value[b]);
            *value[b] = out[b].value;
            out[b].value = NULL;
        }
        block_free(&out[b]);
    }
    return fine;
}
