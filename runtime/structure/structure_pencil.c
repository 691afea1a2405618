/* structure_pencil.c - see structure_pencil.h */
#include <stdlib.h>
#include <string.h>

#include "structure_relations.h"
#include "structure_pencil.h"

/* Where each part of v begins, and the rows of K in the same order: rates of states, rates of dependent storage;
 * balances of states that are junctions of dependent storage, its laws, those of dissipators, remaining relations. */
struct places {
    size_t *x; /* [states] */
    size_t stored, rate, given, loose, N;
};

static size_t
mark_loose(struct relations *w)
{
    size_t n = 0;

    for (uint32_t c = 0; c < w->ncolumns; c++)
        if (w->kind[c] == FREE_NONE && !elimination_solved(w->r, c) && elimination_occurs(w->r, c))
            relations_set_free(w, c, FREE_LOOSE, n++);
    return n;
}

static size_t
count_left(const struct relations *w)
{
    size_t n = 0, row = 0;
    sum unused;

    while (elimination_left(w->r, &row, &unused))
        n++;
    return n;
}

static void
place_parts(const struct relations *w, size_t nloose, structure_pencil *p, struct places *at)
{
    const structure *s = w->s;
    size_t n = 0, nleft = count_left(w);

    at->x = bg_calloc(s->n + 1, sizeof *at->x);
    for (size_t i = 0; i < s->n; i++)
        if (!w->rests[i])
            at->x[i] = n++;
    at->stored = n;
    p->n = n + s->nd;
    n = p->n;
    for (size_t i = 0; i < s->n; i++)
        if (w->rests[i])
            at->x[i] = n++;
    at->rate = n;
    at->given = at->rate + s->nd;
    at->loose = at->given + s->nl;
    at->N = at->loose + (nloose > nleft ? nloose : nleft);
    p->nw = at->N - p->n;
}

/* One of several expressions by each part of v, except the outputs of storage. */
struct expression {
    structure_block z, d, x, rate, loose;
};

static struct expression
expression_new(struct relations *w, size_t nloose)
{
    const structure *s = w->s;

    return (struct expression){ block_new(w, 1, s->nz), block_new(w, 1, s->nl), block_new(w, 1, s->n),
                                block_new(w, 1, s->nd), block_new(w, 1, nloose) };
}

static void
expression_free(struct expression *q)
{
    block_free(&q->z);
    block_free(&q->d);
    block_free(&q->x);
    block_free(&q->rate);
    block_free(&q->loose);
}

/* Adds factor * expression to row `row` of K, which is N by N or has one row (lead); outputs of storage enter through S
 * and are added to of_z. */
static void
put_pencil_row(const structure *s, const struct places *at, const struct expression *q, double factor, size_t row,
               size_t lead, double *K, double *of_z)
{
    for (size_t j = 0; j < s->nz; j++) {
        if (of_z)
            of_z[row + lead * j] += factor * q->z.value[j];
        for (size_t i = 0; i < s->n; i++)
            K[row + lead * at->x[i]] += factor * q->z.value[j] * s->matrix[M_S].value[j + s->nz * i];
    }
    for (size_t i = 0; i < s->n; i++)
        K[row + lead * at->x[i]] += factor * q->x.value[i];
    for (size_t i = 0; i < s->nl; i++)
        K[row + lead * (at->given + i)] += factor * q->d.value[i];
    for (size_t i = 0; i < s->nd; i++)
        K[row + lead * (at->rate + i)] += factor * q->rate.value[i];
    for (size_t i = 0; i < q->loose.columns; i++)
        K[row + lead * (at->loose + i)] += factor * q->loose.value[i];
}

/* The expression of a column. u: storage for the terms of sources, which are left out. */
static struct expression
column_expression(struct relations *w, uint32_t column, const sum *row, size_t nloose, const char *what)
{
    struct expression q = expression_new(w, nloose);
    structure_block u = block_new(w, 1, w->s->nu);
    struct receivers to = { &q.z, &q.d, &u, &q.x, &q.rate, &q.loose };

    if (row)
        relations_spread_sum(w, row, 0, &to, 1, what);
    else
        relations_spread(w, column, 0, &to, 1, what);
    block_free(&u);
    return q;
}

static void
fill_states(struct relations *w, size_t nloose, const struct places *at, structure_pencil *p)
{
    const structure *s = w->s;

    for (size_t i = 0; i < s->n; i++) {
        struct expression q;

        p->x[at->x[i] + at->N * i] = 1;
        if (w->rate[i] == NONE || (w->rate[i] < w->nvars && !relations_moves(w, w->rate[i])))
            continue;
        q = column_expression(w, w->rate[i], NULL, nloose, "a rate");
        put_pencil_row(s, at, &q, 1, at->x[i], at->N, p->K, p->of_z);
        expression_free(&q);
    }
}

/* lambda x_d = rate, 0 = C_d z_d - x_d */
static void
fill_dependent(struct relations *w, size_t nloose, const struct places *at, structure_pencil *p)
{
    const structure *s = w->s;
    double *K = p->K;

    for (size_t j = 0; j < s->nd; j++) {
        struct expression q = column_expression(w, port_gives(w->f, s->dependent[j]), NULL, nloose,
                                                port_name(w->f, s->dependent[j]));
        double *row = bg_calloc(at->N + 1, sizeof *row);

        K[at->stored + j + at->N * (at->rate + j)] = 1;
        K[at->rate + j + at->N * (at->stored + j)] = -1;
        put_pencil_row(s, at, &q, 1, 0, 1, row, NULL);
        memcpy(p->depends + at->N * j, row, at->N * sizeof *row);
        for (size_t i = 0; i < s->nd; i++)
            put_pencil_row(s, at, &q, s->C_d[i + s->nd * j], at->rate + i, at->N, K, p->of_z);
        expression_free(&q);
        free(row);
    }
}

/* 0 = L d_in + L_X x - d_out */
static void
fill_dissipators(struct relations *w, size_t nloose, const struct places *at, structure_pencil *p)
{
    const structure *s = w->s;
    double *K = p->K;

    for (size_t j = 0; j < s->nl; j++) {
        const flat_port *port = &w->f->port.at[s->dissipator[j]];
        struct expression q = column_expression(w, s->flow_in[j] ? port->f : port->e, NULL, nloose,
                                                port_name(w->f, s->dissipator[j]));

        K[at->given + j + at->N * (at->given + j)] -= 1;
        for (size_t i = 0; i < s->n; i++)
            K[at->given + j + at->N * at->x[i]] += s->matrix[M_L_X].value[j + s->nl * i];
        put_pencil_row(s, at, &q, 1, 0, 1, p->in + at->N * j, NULL);
        for (size_t i = 0; i < s->nl; i++)
            put_pencil_row(s, at, &q, s->matrix[M_L].value[i + s->nl * j], at->given + i, at->N, K, p->of_z);
        expression_free(&q);
    }
}

static void
fill_left(struct relations *w, size_t nloose, const struct places *at, structure_pencil *p)
{
    size_t row = 0, k = 0;
    sum left;

    for (; elimination_left(w->r, &row, &left); k++) {
        struct expression q = column_expression(w, 0, &left, nloose, "a condition");

        put_pencil_row(w->s, at, &q, 1, at->loose + k, at->N, p->K, p->of_z);
        expression_free(&q);
    }
}

bool
structure_pencil_make(bg_model *m, double t, const double *x, const size_t *order, structure *s, structure_pencil *p)
{
    struct relations w = { 0 };
    struct dependence d = { 0 };
    struct places at = { 0 };
    size_t nloose = 0;

    *p = (structure_pencil){ 0 };
    relations_open(&w, m, t, x, order, s);
    if (w.fine) {
        nloose = mark_loose(&w);
        relations_laws(&w, &d);
        block_free(&d.C);
    }
    if (w.fine) {
        place_parts(&w, nloose, p, &at);
        p->first_law = at.rate;
        p->first_given = at.given;
        p->K = bg_calloc(at.N * at.N + 1, sizeof(double));
        p->x = bg_calloc(at.N * s->n + 1, sizeof(double));
        p->of_z = bg_calloc(at.N * s->nz + 1, sizeof(double));
        p->in = bg_calloc(at.N * s->nl + 1, sizeof(double));
        p->depends = bg_calloc(at.N * s->nd + 1, sizeof(double));
        fill_states(&w, nloose, &at, p);
        fill_dependent(&w, nloose, &at, p);
        fill_dissipators(&w, nloose, &at, p);
        fill_left(&w, nloose, &at, p);
    }
    free(at.x);
    relations_close(&w);
    return w.fine;
}

void
structure_pencil_free(structure_pencil *p)
{
    free(p->K);
    free(p->x);
    free(p->of_z);
    free(p->in);
    free(p->depends);
    *p = (structure_pencil){ 0 };
}
