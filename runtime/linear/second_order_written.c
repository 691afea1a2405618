/* second_order_written.c - the matrices of second_order.c from the relations of the bond graph: expressions, and
 * numbers in which what is zero by structure is zero
 *
 * The balances of forces, with inertias by their laws from velocity to momentum (P) and dependent storage by its own:
 *     P v' = J_PS z + J_PL d_out + J_PU u + J_PD r,   r = C_d d/dt (G_S z + G_U u)
 * What dissipators give, rates of displacements and r are taken out, accelerations stay: M v' + D v + F e = L u. With
 * de/dt = G v + G_u u, K = F G and N = -F G_u.
 */
#include <math.h>
#include <string.h>

#include "dense.h"
#include "second_order.h"
#include "structure_inside.h"

#define AGREES 1e-8 /* expressions at the point with numbers, of the greatest entry */

/* Columns, in this order: what balances leave over, a pivot for each of them; what is taken out; what stays. u:
 * openings, then their rates. */
struct columns {
    size_t left, e_rate, r, in, out, e, v_rate, v, q, u, integral, end;
};

struct written {
    struct work w;
    structure t;
    struct dependence d;
    size_t np, ne, nopen;
    size_t *momentum, *displacement; /* [state] its number among them, SIZE_MAX */
    size_t *state_of_p, *state_of_e, *port_of_p;
    structure_block P; /* np by np */
    struct columns at;
    elimination *r;
};

static bool
is_nothing(const struct written *k, struct slope a)
{
    double x;

    return a.value == 0 && (!k->w.pool || (ex_is_const(k->w.pool, a.text, &x) && x == 0));
}

static struct slope
entry(const structure_block *b, size_t row, size_t column)
{
    size_t i = row + b->rows * column;

    return (struct slope){ b->value[i], b->text ? b->text[i] : NODE_NONE };
}

static struct slope
times(const struct written *k, struct slope a, struct slope b)
{
    return (struct slope){ a.value * b.value, k->w.pool ? ex_mul(k->w.pool, a.text, b.text) : NODE_NONE };
}

static struct slope
number(const struct written *k, double x)
{
    return (struct slope){ x, work_number(&k->w, x) };
}

/* ---------------------------------------------------------------- rows */

static void
put(struct written *k, size_t column, struct slope a)
{
    if (!is_nothing(k, a))
        elimination_put(k->r, (uint32_t)column, a.value, a.text);
}

/* a times a state, or its rate. */
static void
put_state(struct written *k, size_t state, struct slope a, bool rate)
{
    size_t i = k->momentum[state];

    if (k->displacement[state] != SIZE_MAX)
        put(k, (rate ? k->at.e_rate : k->at.e) + k->displacement[state], a);
    for (size_t j = 0; j < k->np && i != SIZE_MAX && !is_nothing(k, a); j++)
        put(k, (rate ? k->at.v_rate : k->at.v) + j, times(k, a, entry(&k->P, i, j)));
}

/* a times what storage port z gives, or the rate of that. */
static void
put_given(struct written *k, size_t z, struct slope a, bool rate)
{
    const structure *s = &k->t;
    size_t i = k->momentum[s->storage_state[z]];

    if (i != SIZE_MAX)
        put(k, (rate ? k->at.v_rate : k->at.v) + i, a);
    for (size_t e = 0; e < s->n && i == SIZE_MAX && !is_nothing(k, a); e++)
        put_state(k, e, times(k, a, entry(&s->matrix[M_S], z, e)), rate);
}

/* What a row of the structured form is of; NULL: nothing of that kind. */
struct parts {
    const structure_block *z, *d, *u, *x, *rate;
};

/* factor times row i, or its derivative in time. */
static void
put_row(struct written *k, const struct parts *b, size_t i, struct slope factor, bool rate)
{
    for (size_t j = 0; j < b->z->columns; j++)
        put_given(k, j, times(k, factor, entry(b->z, i, j)), rate);
    for (size_t j = 0; b->d && j < b->d->columns; j++)
        put(k, k->at.out + j, times(k, factor, entry(b->d, i, j)));
    for (size_t j = 0; j < b->u->columns; j++) {
        struct slope a = times(k, factor, entry(b->u, i, j));

        if (!rate || j < k->nopen)
            put(k, k->at.u + j + (rate ? k->nopen : 0), a);
        else if (!is_nothing(k, a))
            work_fail(&k->w, "inertias move with the rate of a source");
    }
    for (size_t j = 0; j < b->x->columns; j++)
        put_state(k, j, times(k, factor, entry(b->x, i, j)), rate);
    for (size_t j = 0; b->rate && j < b->rate->columns; j++)
        put(k, k->at.r + j, times(k, factor, entry(b->rate, i, j)));
}

static void
put_taken_out(struct written *k)
{
    const structure *s = &k->t;
    const structure_block *M = s->matrix;
    const struct dependence *d = &k->d;
    const struct parts state = { &M[M_J_SS], &M[M_J_SL], &M[M_J_SU], &M[M_J_SX], &d->J_SD },
                       into = { &M[M_J_LS], &M[M_J_LL], &M[M_J_LU], &M[M_J_LX], &d->J_LD },
                       given = { &d->G_S, NULL, &d->G_U, &d->G_X, NULL };

    for (size_t i = 0; i < k->ne; i++) {
        put(k, k->at.e_rate + i, number(k, 1));
        put_row(k, &state, k->state_of_e[i], number(k, -1), false);
        elimination_end(k->r);
    }
    for (size_t i = 0; i < s->nd; i++) {
        put(k, k->at.r + i, number(k, -1));
        for (size_t j = 0; j < s->nd; j++)
            put_row(k, &given, j, entry(&d->C, i, j), true);
        elimination_end(k->r);
    }
    for (size_t i = 0; i < s->nl; i++) {
        put(k, k->at.in + i, number(k, -1));
        put_row(k, &into, i, number(k, 1), false);
        elimination_end(k->r);
        put(k, k->at.out + i, number(k, -1));
        for (size_t j = 0; j < s->nl; j++)
            put(k, k->at.in + j, entry(&M[M_L], i, j));
        for (size_t j = 0; j < s->n; j++)
            put_state(k, j, entry(&M[M_L_X], i, j), false);
        for (size_t j = 0; j < s->nu; j++)
            put(k, k->at.u + j, entry(&M[M_L_X], i, s->n + j));
        elimination_end(k->r);
    }
}

/* Signs of ports: those of energies, so that M is what the numbers have. */
static void
put_balances(struct written *k)
{
    const structure *s = &k->t;
    const structure_block *M = s->matrix;
    const struct parts state = { &M[M_J_SS], &M[M_J_SL], &M[M_J_SU], &M[M_J_SX], &k->d.J_SD };

    for (size_t i = 0; i < k->np; i++) {
        double sign = k->w.f->port.at[s->storage[k->port_of_p[i]]].sign;

        put(k, k->at.left + i, number(k, 1));
        for (size_t j = 0; j < k->np; j++)
            put(k, k->at.v_rate + j, times(k, number(k, sign), entry(&k->P, i, j)));
        put_row(k, &state, k->state_of_p[i], number(k, -sign), false);
        elimination_end(k->r);
    }
}

/* Out of all rows, balances among them. */
static void
take_out(struct written *k, size_t first, size_t end)
{
    uint8_t *may = bg_calloc(k->at.end + 1, 1);

    for (size_t c = 0; c < k->np; c++)
        may[k->at.left + c] = INNER;
    for (size_t c = first; c < end; c++)
        may[c] = WANTED;
    elimination_eliminate(k->r, may);
    for (size_t c = first; c < end; c++)
        if (!elimination_solved(k->r, (uint32_t)c))
            work_fail(&k->w, "what dissipators give is not determined here");
    free(may);
}

/* Displacements by those of the inertias: e = G q + G_u (integral of u). */
static void
put_displacements(struct written *k)
{
    for (size_t i = 0; i < k->ne; i++) {
        size_t own = k->at.e_rate + i;
        term unused;
        sum row = elimination_express(k->r, (uint32_t)own, &unused);

        put(k, k->at.e + i, number(k, 1));
        for (size_t a = 0; a < row.n; a++) {
            size_t c = row.at[a].column;
            struct slope by = { row.at[a].value, row.at[a].text };

            if (c >= k->at.v && c < k->at.q)
                put(k, c - k->at.v + k->at.q, by);
            else if (c >= k->at.u)
                put(k, c - k->at.u + k->at.integral, by);
            else if (c != own)
                work_fail(&k->w, "rates of displacements are made of velocities alone for these numbers only");
        }
        elimination_end(k->r);
    }
}

/* ---------------------------------------------------------------- the whole */

static void
sort_states(struct written *k, const linearization *l, const second_order *s)
{
    size_t n = k->t.n;

    k->momentum = bg_malloc((n + 1) * sizeof *k->momentum);
    k->displacement = bg_malloc((n + 1) * sizeof *k->displacement);
    k->state_of_p = bg_calloc(n + 1, sizeof *k->state_of_p);
    k->state_of_e = bg_calloc(n + 1, sizeof *k->state_of_e);
    k->port_of_p = bg_calloc(n + 1, sizeof *k->port_of_p);
    for (size_t i = 0; i < n; i++)
        k->momentum[i] = k->displacement[i] = SIZE_MAX;
    for (size_t i = 0; i < s->n; i++)
        k->momentum[s->momentum[i]] = i;
    k->np = s->n;
    for (size_t i = 0; i < n; i++)
        if (k->momentum[i] != SIZE_MAX) {
            k->state_of_p[k->momentum[i]] = i;
        } else if (!model_state(l->model, l->order[i]).only_outputs) {
            k->displacement[i] = k->ne;
            k->state_of_e[k->ne++] = i;
        }
    for (size_t z = 0; z < k->t.nz; z++)
        if (k->momentum[k->t.storage_state[z]] != SIZE_MAX)
            k->port_of_p[k->momentum[k->t.storage_state[z]]] = z;
}

/* Momenta by velocities. */
static void
make_inertias(struct written *k)
{
    uint32_t *port = bg_calloc(k->np + 1, sizeof *port);
    structure_block by_x = block_new(&k->w, k->np, k->t.n);

    k->P = block_new(&k->w, k->np, k->np);
    for (size_t i = 0; i < k->np; i++)
        port[i] = k->t.storage[k->port_of_p[i]];
    work_storage_laws(&k->w, port, k->np, false, &k->P, NULL, &by_x);
    for (size_t i = 0; i < k->np * k->t.n; i++)
        if (!is_nothing(k, entry(&by_x, i % k->np, i / k->np)))
            work_fail(&k->w, "laws of inertias read other states");
    block_free(&by_x);
    free(port);
}

static void
number_columns(struct written *k)
{
    size_t nl = k->t.nl, nu = k->t.nu;
    struct columns *c = &k->at;

    c->e_rate = k->np;
    c->r = c->e_rate + k->ne;
    c->in = c->r + k->t.nd;
    c->out = c->in + nl;
    c->e = c->out + nl;
    c->v_rate = c->e + k->ne;
    c->v = c->v_rate + k->np;
    c->q = c->v + k->np;
    c->u = c->q + k->np;
    c->integral = c->u + nu;
    c->end = c->integral + nu;
}

/* The input of the linear model that column i of the openings and their rates is, SIZE_MAX: none, it is zero. */
static size_t
input_of(const struct written *k, const linearization *l, size_t i)
{
    const flat_opening *o = &k->w.f->opening.at[i % k->nopen];

    for (size_t a = 0; a < l->input.n; a++)
        if (l->input.at[a].name == (i < k->nopen ? o->name : o->rate_name))
            return a;
    return SIZE_MAX;
}

/* M, D, K, L, N of the balances, each of them 0 = residual + M v' + D v + K q - L u - N integral. */
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
            size_t c = row.at[a].column, column = SIZE_MAX;
            int b = c >= at->integral ? 4 : c >= at->u ? 3 : c >= at->q ? 2 : c >= at->v ? 1 : 0;

            if (c >= at->u)
                column = input_of(k, l, (c - at->u) % k->t.nu);
            else if (c >= at->v_rate)
                column = (c - at->v_rate) % k->np;
            if (column != SIZE_MAX) {
                struct slope by = times(k, number(k, b < 3 ? 1 : -1),
                                        (struct slope){ row.at[a].value, row.at[a].text });

                block_add(&k->w, &out[b], i, column, by.value, by.text);
            }
        }
    }
}

/* Whether they are what A and B have at the point: laws may read what no column here stands for. */
static bool
agrees(const second_order *s, const structure_block out[5])
{
    const double *const value[5] = { s->M, s->D, s->K, s->L, s->N };
    double most[5];

    for (int b = 0; b < 5; b++) {
        size_t n = out[b].rows * out[b].columns;

        most[b] = fmax(dense_norm(n, value[b]), b > 2 ? most[b - 2] : 0); /* L beside D, N beside K */
        for (size_t i = 0; i < n; i++)
            if (!(fabs(out[b].value[i] - value[b][i]) <= AGREES * most[b]))
                return false;
    }
    return true;
}

static void
written_free(struct written *k)
{
    elimination_free(k->r);
    block_free(&k->P);
    dependence_free(&k->d);
    structure_free(&k->t);
    work_close(&k->w);
    free(k->momentum);
    free(k->displacement);
    free(k->state_of_p);
    free(k->state_of_e);
    free(k->port_of_p);
}

/* With expressions where there is a pool. What is in out is freed by the caller in any case. */
static bool
write(const linearization *l, const second_order *s, pool *p, structure_block out[5], char **why)
{
    const flat_model *f = model_flat(l->model);
    struct written k = { .nopen = f->opening.n };
    var_id *input = bg_calloc(2 * k.nopen + 1, sizeof *input);
    double *x = linearization_states(l);

    for (size_t i = 0; i < k.nopen; i++) {
        input[i] = f->opening.at[i].by;
        input[k.nopen + i] = f->opening.at[i].rate;
    }
    k.w = (struct work){ .pool = p, .input = input, .ninput = 2 * k.nopen };
    work_open(&k.w, l->model, l->time, x, l->order, &k.t);
    if (k.w.fine && l->as_equations)
        work_fail(&k.w, "a ratio between inertias varies");
    if (k.w.fine)
        work_matrices(&k.w, &k.d);
    if (k.w.fine)
        work_laws(&k.w, &k.d);
    if (k.w.fine) {
        sort_states(&k, l, s);
        make_inertias(&k);
    }
    if (k.w.fine) {
        number_columns(&k);
        k.r = elimination_new(k.at.end, p);
        put_taken_out(&k);
        put_balances(&k);
        take_out(&k, k.at.e_rate, k.at.e);
    }
    if (k.w.fine)
        put_displacements(&k);
    if (k.w.fine)
        take_out(&k, k.at.e, k.at.v_rate);
    if (k.w.fine)
        read_balances(&k, l, out);
    if (k.w.fine && !agrees(s, out))
        work_fail(&k.w, "laws read what no matrix has a column for");
    *why = k.w.fine ? NULL : bg_format("%s; its matrices are numbers alone", k.t.why);
    written_free(&k);
    free(input);
    free(x);
    return !*why;
}

bool
second_order_write(const linearization *l, const second_order *s, structure_block out[5], char **why)
{
    return write(l, s, ((flat_model *)model_flat(l->model))->pool, out, why); /* its pool grows */
}

void
second_order_sharpen(const linearization *l, second_order *s)
{
    double *const value[5] = { s->M, s->D, s->K, s->L, s->N };
    structure_block out[5] = { 0 };
    char *why = NULL;

    if (write(l, s, NULL, out, &why))
        for (int b = 0; b < 5; b++)
            for (size_t i = 0; i < out[b].rows * out[b].columns; i++)
                value[b][i] = out[b].value[i];
    for (int b = 0; b < 5; b++)
        block_free(&out[b]);
    free(why);
}
