/* second_order.c - see second_order.h */
#include "second_order.h"

#include <math.h>
#include <string.h>

#include "dense.h"
#include "elimination.h"
#include "equations.h"
#include "hamiltonian.h"
#include "kinetic.h"

#define ROUNDING 1e-10

enum { MOMENTUM, DISPLACEMENT, APART }; /* apart: read by outputs alone */

/* What state i is; another kind of state: *why. */
static int
kind_of(const linearization *l, size_t i, char **why)
{
    const flat_model *f = model_flat(l->model);
    const struct model_state s = model_state(l->model, l->order[i]);
    const flat_var *v = &f->var.at[s.var];

    if (s.only_outputs)
        return APART;
    if (v->kind == VAR_STORED) {
        const flat_port *p = &f->port.at[v->owner];

        return (f->element.at[p->element].type == EL_I) != p->crossed ? MOMENTUM : DISPLACEMENT;
    }
    if (v->kind == VAR_INTEGRAL)
        return DISPLACEMENT;
    if (l->as_equations && kinetic_is_velocity(l->model, l->order[i]))
        return MOMENTUM;
    if (!*why)
        *why = bg_format("no inertia stores the state \"%s\" by itself", linear_state_name(l, i));
    return APART;
}

/* Columns or rows of the state space. */
struct parts {
    size_t np, ne;
    size_t *p, *e; /* states */
};

static void
sort_states(const linearization *l, struct parts *w, char **why)
{
    size_t n = l->space.n;

    w->p = bg_calloc(n + 1, sizeof *w->p);
    w->e = bg_calloc(n + 1, sizeof *w->e);
    for (size_t i = 0; i < n; i++)
        switch (kind_of(l, i, why)) {
        case MOMENTUM: w->p[w->np++] = i; break;
        case DISPLACEMENT: w->e[w->ne++] = i; break;
        default: break;
        }
    if (w->np == 0 && !*why)
        *why = bg_strdup("it has no inertia whose momentum is a state");
}

/* from[rows, columns] of a matrix with n rows. */
static double *
take(const double *from, size_t n, size_t rows, const size_t *row, size_t columns, const size_t *column)
{
    double *to = bg_calloc(rows * columns + 1, sizeof *to);

    for (size_t c = 0; c < columns; c++)
        for (size_t r = 0; r < rows; r++)
            to[r + rows * c] = from[row[r] + n * (column ? column[c] : c)];
    return to;
}

/* The same where a ratio between inertias varies: each momentum is of an inertia that is a number, or a velocity is the
 * state itself. */
static double *
own_velocities(const linearization *l, const struct parts *w, char **why)
{
    const flat_model *f = model_flat(l->model);
    double *S = bg_calloc(w->np * w->np + 1, sizeof *S), *x = linearization_states(l);

    for (size_t i = 0; i < w->np; i++) {
        size_t state = l->order[w->p[i]];
        bool stored = f->var.at[model_state(l->model, state).var].kind == VAR_STORED;

        S[i + w->np * i] = stored ? model_energy_curvature(l->model, state, x) : 1;
        if (!isfinite(S[i + w->np * i]) && !*why)
            *why = bg_format("the law of \"%s\" has no slope", linear_state_name(l, w->p[i]));
    }
    for (size_t i = 0; i < f->element.n && !*why; i++)
        if (f->element.at[i].type == EL_I && !f->element.at[i].linear)
            *why = bg_format("a ratio between inertias varies, and the law of \"%s\" is not given by one number",
                             f->element.at[i].name);
    free(x);
    return S;
}

/* S: velocities by momenta. */
static double *
velocities(const linearization *l, const struct parts *w, char **why)
{
    const structure *s = &l->structure;
    const double *S = s->matrix[M_S].value;
    double *to = bg_calloc(w->np * w->np + 1, sizeof *to);

    for (size_t i = 0; i < w->np; i++)
        for (size_t z = 0; z < s->nz; z++) {
            if (s->storage_state[z] != w->p[i])
                continue;
            for (size_t k = 0; k < w->np; k++)
                to[i + w->np * k] = S[z + s->nz * w->p[k]];
            for (size_t k = 0; k < w->ne && !*why; k++)
                if (S[z + s->nz * w->e[k]] != 0)
                    *why = bg_format("\"%s\" moves by its momentum and by the displacement \"%s\"",
                                     linear_storage_name(l, z), linear_state_name(l, w->e[k]));
        }
    return to;
}

/* Rates of displacements by displacements have to vanish, against the square of the fastest swing of the model. */
static void
check_rates(const linearization *l, const struct parts *w, char **why)
{
    const double *A = l->space.A;
    size_t n = l->space.n;
    double fast = 0;

    for (size_t i = 0; i < w->ne; i++)
        for (size_t k = 0; k < w->np; k++)
            fast = fmax(fast, fabs(A[w->e[i] + n * w->p[k]] * A[w->p[k] + n * w->e[i]]));
    for (size_t i = 0; i < w->ne && !*why; i++) {
        double most = 0;

        for (size_t k = 0; k < w->ne; k++)
            most = fmax(most, fabs(A[w->e[i] + n * w->e[k]]));
        if (most * most > ROUNDING * ROUNDING * fast)
            *why = bg_format("the rate of \"%s\" is not made of velocities of inertias alone; a damper in series or a "
                             "filter makes it so",
                             linear_state_name(l, w->e[i]));
    }
}

static bool
is_symmetric(size_t n, const double *A)
{
    double most = dense_norm(n * n, A), worst = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            worst = fmax(worst, fabs(A[i + n * k] - A[k + n * i]));
    return worst <= ROUNDING * most;
}

/* Least eigenvalue of the symmetric part over the greatest magnitude. */
static double
least_of(size_t n, const double *A)
{
    double *copy = bg_calloc(n * n + 1, sizeof *copy), *value = bg_calloc(n + 1, sizeof *value), most, result = NAN;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            copy[i + n * k] = (A[i + n * k] + A[k + n * i]) / 2;
    if (n && dense_symmetric(n, copy, false, value)) {
        most = fmax(fabs(value[0]), fabs(value[n - 1]));
        result = most > 0 ? value[0] / most : 0;
    }
    free(copy);
    free(value);
    return result;
}

/* M and M S where a ratio between inertias varies: from B of the kinetic energy by states, M = S^-1 B S^-1, S being
 * diagonal. */
static bool
own_masses(const linearization *l, const struct parts *w, const double *S, double *M, double *MS)
{
    kinetic *k = kinetic_new(l->model);
    size_t np = w->np, *at = bg_calloc(l->space.n + 1, sizeof *at);
    double *B = bg_calloc(np * np + 1, sizeof *B), *x = linearization_states(l);
    bool fine = kinetic_count(k) == np;

    for (size_t i = 0; i < np && fine; i++)
        at[kinetic_states(k)[i]] = i; /* row of B */
    fine = fine && kinetic_masses(k, l->time, x, B) == 0;
    for (size_t i = 0; i < np && fine; i++)
        for (size_t j = 0; j < np; j++) {
            double b = B[at[l->order[w->p[i]]] + np * at[l->order[w->p[j]]]], si = S[i * (np + 1)],
                   sj = S[j * (np + 1)];

            MS[i + np * j] = b / si;
            M[i + np * j] = b / (si * sj);
        }
    kinetic_free(k);
    free(at);
    free(B);
    free(x);
    return fine;
}

/* M, and M S = S^-T Q in MS. */
static bool
masses(const linearization *l, const struct parts *w, const double *S, double *M, double *MS)
{
    size_t np = w->np;
    double *energy = hamiltonian_energy(l), *Q = take(energy, l->space.n, np, w->p, np, w->p),
           *T = dense_transpose(np, np, S);
    bool fine = dense_solve(np, T, np, Q); /* S^-T Q */

    memcpy(MS, Q, np * np * sizeof *MS);
    /* M S^T = (S^-T Q)^T, Q being symmetric: M^T = S^-T (S^-T Q)^T */
    for (size_t i = 0; i < np; i++)
        for (size_t k = 0; k < np; k++)
            M[i + np * k] = Q[k + np * i];
    free(T);
    T = dense_transpose(np, np, S);
    fine = fine && dense_solve(np, T, np, M);
    for (size_t i = 0; i < np && fine; i++) /* what rounding made of its symmetry */
        for (size_t k = 0; k < i; k++)
            M[i + np * k] = M[k + np * i] = (M[i + np * k] + M[k + np * i]) / 2;
    free(T);
    free(Q);
    free(energy);
    return fine;
}

static void
fill(const linearization *l, const struct parts *w, const double *S, second_order *s)
{
    size_t n = l->space.n, np = w->np, ne = w->ne, nu = l->space.nu;
    double *App = take(l->space.A, n, np, w->p, np, w->p), *Ape = take(l->space.A, n, np, w->p, ne, w->e),
           *Aep = take(l->space.A, n, ne, w->e, np, w->p), *Bp = take(l->space.B, n, np, w->p, nu, NULL),
           *Be = take(l->space.B, n, ne, w->e, nu, NULL), *MS = bg_calloc(np * np + 1, sizeof *MS),
           *to = bg_calloc(np * np + 1, sizeof *to), *G = bg_calloc(ne * np + 1, sizeof *G),
           *MSA = bg_calloc(np * ne + 1, sizeof *MSA), *T = dense_transpose(np, np, S);

    s->M = bg_calloc(np * np + 1, sizeof(double));
    s->D = bg_calloc(np * np + 1, sizeof(double));
    s->K = bg_calloc(np * np + 1, sizeof(double));
    s->L = bg_calloc(np * nu + 1, sizeof(double));
    s->N = bg_calloc(np * nu + 1, sizeof(double));
    if (!(l->as_equations ? own_masses : masses)(l, w, S, s->M, MS))
        s->why = bg_strdup("an inertia has no slope: its velocity does not follow from its momentum");
    /* X S^-1 by transposes: S^T Y = X^T, Y^T = X S^-1 */
    dense_multiply(np, np, np, -1, MS, App, 0, to);
    for (size_t i = 0; i < np; i++)
        for (size_t k = 0; k < np; k++)
            s->D[k + np * i] = to[i + np * k];
    if (!s->why && dense_solve(np, T, np, s->D)) {
        double *back = dense_transpose(np, np, s->D);

        memcpy(s->D, back, np * np * sizeof *back);
        free(back);
    }
    free(T);
    T = dense_transpose(np, np, S);
    if (ne) {
        double *rows = dense_transpose(ne, np, Aep); /* np by ne */

        if (!s->why && dense_solve(np, T, ne, rows))
            for (size_t i = 0; i < ne; i++)
                for (size_t k = 0; k < np; k++)
                    G[i + ne * k] = rows[k + np * i];
        free(rows);
        dense_multiply(np, np, ne, 1, MS, Ape, 0, MSA);
        dense_multiply(np, ne, np, -1, MSA, G, 0, s->K);
        if (nu)
            dense_multiply(np, ne, nu, 1, MSA, Be, 0, s->N);
    }
    if (nu)
        dense_multiply(np, np, nu, 1, MS, Bp, 0, s->L);
    for (size_t k = 0; k < np * nu; k++)
        s->integrals |= s->N[k] != 0;
    free(App);
    free(Ape);
    free(Aep);
    free(Bp);
    free(Be);
    free(MS);
    free(to);
    free(G);
    free(MSA);
    free(T);
}

void
second_order_make(const linearization *l, second_order *s)
{
    struct parts w = { 0 };
    double *S = NULL;

    *s = (second_order){ .nu = l->space.nu };
    if (l->structure.why)
        s->why = bg_strdup(l->structure.why);
    else
        sort_states(l, &w, &s->why);
    if (!s->why)
        check_rates(l, &w, &s->why);
    if (!s->why)
        S = (l->as_equations ? own_velocities : velocities)(l, &w, &s->why);
    if (!s->why) {
        const double *all[3];

        fill(l, &w, S, s);
        s->n = w.np;
        all[0] = s->M, all[1] = s->D, all[2] = s->K;
        for (int k = 0; k < 3; k++) {
            s->symmetric[k] = is_symmetric(s->n, all[k]);
            s->least[k] = least_of(s->n, all[k]);
        }
    }
    s->momentum = w.p;
    free(w.e);
    free(S);
}

void
second_order_free(second_order *s)
{
    free(s->momentum);
    free(s->M);
    free(s->D);
    free(s->K);
    free(s->L);
    free(s->N);
    free(s->why);
}

char *
second_order_name(const linearization *l, const second_order *s, size_t i)
{
    const char *name = linear_state_name(l, s->momentum[i]);
    size_t n = strlen(name);

    return bg_format("%.*s", (int)(n > 2 && name[n - 2] == '.' ? n - 2 : n), name);
}

/* ---------------------------------------------------------------- as expressions */

static structure_block
new_block(pool *p, size_t rows, size_t columns)
{
    structure_block b = { rows, columns, bg_calloc(rows * columns + 1, sizeof(double)),
                          bg_calloc(rows * columns + 1, sizeof(node)) };

    for (size_t k = 0; k < rows * columns; k++)
        b.text[k] = ex_const(p, 0);
    return b;
}

static void
free_block(structure_block *b)
{
    free(b->value);
    free(b->text);
}

static void
put_row(elimination *r, size_t i, const structure_block *b, size_t first)
{
    for (size_t k = 0; k < b->columns; k++)
        elimination_put(r, (uint32_t)(first + k), b->value[i + b->rows * k], b->text[i + b->rows * k]);
}

/* dx/dt by what storage gives (J, n by nz) and by inputs (B), dissipators eliminated; where there is dependent storage
 * without what its rates do. */
static void
write_rates(const structure *s, pool *p, structure_block *J, structure_block *B)
{
    const structure_block *M = s->matrix, *const with[6] = { &M[M_J_SS], &M[M_J_SL], &M[M_J_SU],
                                                             &M[M_J_LS], &M[M_J_LL], &M[M_J_LU] };
    const structure_block *from[6];
    size_t n = s->n, nl = s->nl, d = n, in = d + nl, z = in + nl, u = z + s->nz;
    elimination *r = elimination_new(u + s->nu, p);
    uint8_t *may = bg_calloc(u + s->nu + 1, 1);

    for (int k = 0; k < 6; k++)
        from[k] = s->nd ? &s->apart[k] : with[k];
    memset(may, 2, z);
    memset(may, 3, n);
    *J = new_block(p, n, s->nz);
    *B = new_block(p, n, s->nu);
    for (size_t i = 0; i < n; i++) {
        elimination_put(r, (uint32_t)i, -1, ex_const(p, -1));
        put_row(r, i, from[0], z);
        put_row(r, i, from[1], d);
        put_row(r, i, from[2], u);
        elimination_end(r);
    }
    for (size_t i = 0; i < nl; i++) {
        elimination_put(r, (uint32_t)(in + i), -1, ex_const(p, -1));
        put_row(r, i, from[3], z);
        put_row(r, i, from[4], d);
        put_row(r, i, from[5], u);
        elimination_end(r);
        elimination_put(r, (uint32_t)(d + i), -1, ex_const(p, -1));
        put_row(r, i, &M[M_L], in);
        elimination_end(r);
    }
    elimination_eliminate(r, may);
    for (size_t i = 0; i < n; i++) {
        term unused;
        sum row = elimination_express(r, (uint32_t)i, &unused);

        for (size_t k = 0; k < row.n; k++) {
            size_t c = row.at[k].column;

            if (c >= u)
                B->text[i + n * (c - u)] = ex_neg(p, row.at[k].text);
            else if (c >= z)
                J->text[i + n * (c - z)] = ex_neg(p, row.at[k].text);
        }
    }
    elimination_free(r);
    free(may);
}

/* The storage port of a state. */
static size_t
port_of(const structure *s, size_t state)
{
    size_t z = 0;

    while (z < s->nz && s->storage_state[z] != state)
        z++;
    return z;
}

static bool
is_zero(const pool *p, node n)
{
    double value;

    return ex_is_const(p, n, &value) && value == 0;
}

static bool
is_momentum(const second_order *s, size_t state)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->momentum[i] == state)
            return true;
    return false;
}

/* M: of each inertia its own, and those of dependent ones by their ratios: diag(1/S) + G_S' C_d G_S. */
static void
write_masses(const second_order *s, const structure *t, pool *p, structure_block *to)
{
    const structure_block *S = &t->matrix[M_S], *G = &t->rates[2], *C = &t->rates[5];
    size_t n = s->n, nd = t->nd;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            size_t zi = port_of(t, s->momentum[i]), zk = port_of(t, s->momentum[k]);
            node total = i == k ? ex_make(p, EX_DIV, ex_const(p, 1), S->text[zi + t->nz * s->momentum[i]], NODE_NONE)
                                : ex_const(p, 0);

            for (size_t a = 0; a < nd; a++)
                for (size_t b = 0; b < nd; b++)
                    if (!is_zero(p, C->text[a + nd * b]) && !is_zero(p, G->text[a + nd * zi]) &&
                        !is_zero(p, G->text[b + nd * zk]))
                        total = ex_make(
                            p, EX_ADD, total,
                            ex_mul(p, ex_mul(p, G->text[a + nd * zi], C->text[a + nd * b]), G->text[b + nd * zk]),
                            NODE_NONE);
            to->text[i + n * k] = total;
        }
}

/* Forces of springs on inertia i by displacements, and these by what moves them (`moved`, [states] down column k of a
 * block), added with the sign to total. */
static node
add_springs(const second_order *s, const structure *t, pool *p, const structure_block *J, size_t i,
            const structure_block *moved, size_t k, bool minus, node total)
{
    const structure_block *S = &t->matrix[M_S];

    for (size_t z = 0; z < t->nz; z++) {
        node force = J->text[s->momentum[i] + t->n * z];

        for (size_t e = 0; e < t->n && !is_momentum(s, t->storage_state[z]) && !is_zero(p, force); e++)
            if (!is_zero(p, S->text[z + t->nz * e]) && !is_zero(p, moved->text[e + t->n * k])) {
                node part = ex_mul(p, ex_mul(p, force, S->text[z + t->nz * e]), moved->text[e + t->n * k]);

                total = minus ? ex_sub(p, total, part) : ex_make(p, EX_ADD, total, part, NODE_NONE);
            }
    }
    return total;
}

static void
write_blocks(const second_order *s, const structure *t, pool *p, structure_block out[5])
{
    structure_block J, B;
    size_t n = s->n;

    write_rates(t, p, &J, &B);
    for (int k = 0; k < 5; k++)
        out[k] = new_block(p, n, k < 3 ? n : t->nu);
    write_masses(s, t, p, &out[0]);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < t->nu; k++) {
            out[3].text[i + n * k] = B.text[s->momentum[i] + t->n * k];
            out[4].text[i + n * k] = add_springs(s, t, p, &J, i, &B, k, false, ex_const(p, 0));
        }
        for (size_t k = 0; k < n; k++) {
            size_t zk = port_of(t, s->momentum[k]);

            out[1].text[i + n * k] = ex_neg(p, J.text[s->momentum[i] + t->n * zk]);
            out[2].text[i + n * k] = add_springs(s, t, p, &J, i, &J, zk, true, ex_const(p, 0));
        }
    }
    free_block(&J);
    free_block(&B);
}

static bool
any_value(const structure_block *b)
{
    for (size_t k = 0; k < b->rows * b->columns; k++)
        if (b->value[k] != 0)
            return true;
    return false;
}

static bool
any_in_row(const structure_block *b, size_t row)
{
    for (size_t k = 0; k < b->columns; k++)
        if (b->value[row + b->rows * k] != 0)
            return true;
    return false;
}

/* Does the rate of dependent storage d move any state? What moves with a source alone does not. */
static bool
acts(const structure *t, size_t d)
{
    const structure_block *J = &t->rates[0], *C = &t->rates[5];

    for (size_t k = 0; k < t->nd; k++)
        for (size_t i = 0; i < t->n && C->value[k + t->nd * d] != 0; i++)
            if (J->value[i + t->n * k] != 0)
                return true;
    return false;
}

/* Why dependent storage cannot be written; NULL: it can, inertias that move by fixed ratios with others. */
static char *
dependence_unwritten(const linearization *l, const second_order *s, const structure *t)
{
    const flat_model *f = model_flat(l->model);
    bool rates = any_value(&t->rates[1]);

    for (size_t d = 0; d < t->nd; d++) {
        const flat_port *p = &f->port.at[t->dependent[d]];

        if ((f->element.at[p->element].type == EL_I) == p->crossed)
            return bg_strdup("springs move together; the matrices are numbers alone");
        rates |= acts(t, d) && (any_in_row(&t->rates[3], d) || any_in_row(&t->rates[4], d));
        for (size_t i = 0; i < t->n; i++)
            rates |= !is_momentum(s, i) && t->rates[0].value[i + t->n * d] != 0;
    }
    return rates ? bg_strdup("inertias move with sources or drive dampers by their forces; the matrices are numbers "
                             "alone")
                 : NULL;
}

bool
second_order_write(const linearization *l, const second_order *s, structure_block out[5], char **why)
{
    const flat_model *f = model_flat(l->model);
    double *x = linearization_states(l);
    structure t;

    structure_make(l->model, l->time, x, l->order, true, l->as_equations, false, &t);
    free(x);
    *why = t.why             ? bg_strdup(t.why)
           : t.modulated     ? bg_strdup("signals act in it; its matrices are numbers alone")
           : l->as_equations ? bg_strdup("a ratio between inertias varies; its matrices are numbers alone")
                             : dependence_unwritten(l, s, &t);
    for (size_t i = 0; i < s->n && !*why; i++)
        for (size_t k = 0; k < s->n && !*why; k++)
            if (i != k && !is_zero(f->pool, t.matrix[M_S].text[port_of(&t, s->momentum[i]) + t.nz * s->momentum[k]]))
                *why = bg_strdup("inertias are a field; its matrices are numbers alone");
    if (!*why)
        write_blocks(s, &t, f->pool, out);
    structure_free(&t);
    return !*why;
}
