/* second_order.c - see second_order.h */
#include "second_order.h"

#include <math.h>
#include <string.h>

#include "dense.h"
#include "hamiltonian.h"
#include "kinetic.h"
#include "compiled.h"

#define ROUNDING 1e-10
#define CARRIED 1e-12 /* relative to velocities: rounding */

enum { MOMENTUM, DISPLACEMENT, APART }; /* apart: only outputs read it */

/* The kind of state i; *why where it is none of these. */
static int
kind_of_state(const linearization *l, size_t i, char **why)
{
    const struct model_state s = model_state(l->model, l->order[i]);

    if (s.only_outputs)
        return APART;
    if (s.kind == VAR_STORED)
        return model_graph_of(l->model)->port[s.port].momentum ? MOMENTUM : DISPLACEMENT;
    if (s.kind == VAR_INTEGRAL)
        return DISPLACEMENT;
    if (s.kind == VAR_COMMON)
        return kinetic_is_velocity(l->model, l->order[i]) ? MOMENTUM : DISPLACEMENT;
    if (!*why)
        *why = bg_format("no inertia stores the state \"%s\" by itself", linear_state_name(l, i));
    return APART;
}

/* Selected columns or rows of the state space. */
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
        switch (kind_of_state(l, i, why)) {
        case MOMENTUM: w->p[w->np++] = i; break;
        case DISPLACEMENT: w->e[w->ne++] = i; break;
        default: break;
        }
    if (w->np == 0 && !*why)
        *why = bg_strdup("it has no inertia whose momentum is a state");
}

/* The submatrix from[rows, columns] of a matrix with n rows. */
static double *
take_submatrix(const double *from, size_t n, size_t rows, const size_t *row, size_t columns, const size_t *column)
{
    double *to = bg_calloc(rows * columns + 1, sizeof *to);

    for (size_t c = 0; c < columns; c++)
        for (size_t r = 0; r < rows; r++)
            to[r + rows * c] = from[row[r] + n * (column ? column[c] : c)];
    return to;
}

/* The same where a ratio between inertias varies: each momentum belongs to an inertia that is a number, or a velocity
 * is itself the state. */
static double *
own_velocities(const linearization *l, const struct parts *w, char **why)
{
    const model_graph *g = model_graph_of(l->model);
    double *S = bg_calloc(w->np * w->np + 1, sizeof *S), *x = linearization_states(l);

    for (size_t i = 0; i < w->np; i++) {
        size_t state = l->order[w->p[i]];
        bool stored = model_state(l->model, state).kind == VAR_STORED;

        S[i + w->np * i] = stored ? model_energy_curvature(l->model, state, x) : 1;
        if (!isfinite(S[i + w->np * i]) && !*why)
            *why = bg_format("the law of \"%s\" has no slope", linear_state_name(l, w->p[i]));
    }
    for (size_t i = 0; i < g->nelements && !*why; i++)
        if (g->element[i].type == EL_I && !g->element[i].linear)
            *why = bg_format("a ratio between inertias varies, and the law of \"%s\" is not given by one number",
                             g->element[i].name);
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
                    *why = bg_format("the rate of \"%s\" depends on its momentum and on the displacement \"%s\"",
                                     linear_storage_name(l, z), linear_state_name(l, w->e[k]));
        }
    return to;
}

bool *
second_order_rates_moved(const linearization *l, const size_t *momentum)
{
    const double *A = l->space.A;
    size_t n = l->space.n;
    bool *moved = bg_calloc(n + 1, sizeof *moved);
    double fast = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            if (momentum[i] == NO_INDEX && momentum[k] != NO_INDEX)
                fast = fmax(fast, fabs(A[i + n * k] * A[k + n * i]));
    for (size_t i = 0; i < n; i++) {
        double most = 0;

        for (size_t k = 0; k < n && momentum[i] == NO_INDEX; k++)
            if (momentum[k] == NO_INDEX && !model_state(l->model, l->order[i]).only_outputs)
                most = fmax(most, fabs(A[i + n * k]));
        moved[i] = most * most > ROUNDING * ROUNDING * fast;
    }
    return moved;
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
least_share(size_t n, const double *A)
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

/* Do inertias alone determine M, and do they depend on states alone? A capacitor behind a gyrator acts as an inertia
 * too. */
static bool
inertias_are_all(const linearization *l, kinetic *k, const double *x)
{
    const flat_model *f = model_flat(l->model);

    for (uint32_t p = 0; p < f->port.n; p++)
        if (f->port.at[p].stored != VAR_NONE && !port_has_momentum(f, p) && !model_causal(l->model)->state[p])
            return false;
    return kinetic_carried(k, l->time, x) < CARRIED;
}

/* M and M S where a ratio between inertias varies, from B, the second derivative of the kinetic energy: M = S^-1 B
 * S^-1, with S diagonal. */
static bool
own_masses(const linearization *l, const struct parts *w, const double *S, double *M, double *MS)
{
    kinetic *k = kinetic_new(l->model);
    size_t np = w->np, *at = bg_calloc(l->space.n + 1, sizeof *at);
    double *B = bg_calloc(np * np + 1, sizeof *B), *x = linearization_states(l);
    bool fine = kinetic_count(k) == np && inertias_are_all(l, k, x);

    for (size_t i = 0; i < np && fine; i++)
        at[kinetic_states(k)[i]] = i; /* its row in B */
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

/* M, and MS = M S = S^-T Q. */
static bool
masses(const linearization *l, const struct parts *w, const double *S, double *M, double *MS)
{
    size_t np = w->np;
    double *energy = hamiltonian_energy(l), *Q = take_submatrix(energy, l->space.n, np, w->p, np, w->p),
           *T = dense_transpose(np, np, S);
    bool fine = dense_solve(np, T, np, Q); /* S^-T Q */

    memcpy(MS, Q, np * np * sizeof *MS);
    /* M S^T = (S^-T Q)^T with symmetric Q: M^T = S^-T (S^-T Q)^T */
    for (size_t i = 0; i < np; i++)
        for (size_t k = 0; k < np; k++)
            M[i + np * k] = Q[k + np * i];
    free(T);
    T = dense_transpose(np, np, S);
    fine = fine && dense_solve(np, T, np, M);
    for (size_t i = 0; i < np && fine; i++) /* removes the asymmetry of rounding */
        for (size_t k = 0; k < i; k++)
            M[i + np * k] = M[k + np * i] = (M[i + np * k] + M[k + np * i]) / 2;
    free(T);
    free(Q);
    free(energy);
    return fine;
}

/* own: S is diagonal (own_velocities). */
static void
fill_matrices(const linearization *l, const struct parts *w, const double *S, bool own, second_order *s, char **why)
{
    size_t n = l->space.n, np = w->np, ne = w->ne, nu = l->space.nu;
    double *App = take_submatrix(l->space.A, n, np, w->p, np, w->p),
           *Ape = take_submatrix(l->space.A, n, np, w->p, ne, w->e),
           *Aep = take_submatrix(l->space.A, n, ne, w->e, np, w->p),
           *Bp = take_submatrix(l->space.B, n, np, w->p, nu, NULL),
           *Be = take_submatrix(l->space.B, n, ne, w->e, nu, NULL), *MS = bg_calloc(np * np + 1, sizeof *MS),
           *to = bg_calloc(np * np + 1, sizeof *to), *G = bg_calloc(ne * np + 1, sizeof *G),
           *MSA = bg_calloc(np * ne + 1, sizeof *MSA), *T = dense_transpose(np, np, S);

    s->M = bg_calloc(np * np + 1, sizeof(double));
    s->D = bg_calloc(np * np + 1, sizeof(double));
    s->K = bg_calloc(np * np + 1, sizeof(double));
    s->L = bg_calloc(np * nu + 1, sizeof(double));
    s->N = bg_calloc(np * nu + 1, sizeof(double));
    if (!(own ? own_masses : masses)(l, w, S, s->M, MS))
        *why = bg_strdup("an inertia has no slope: its velocity does not follow from its momentum");
    /* X S^-1 through transposes: S^T Y = X^T, Y^T = X S^-1 */
    dense_multiply(np, np, np, -1, MS, App, 0, to);
    for (size_t i = 0; i < np; i++)
        for (size_t k = 0; k < np; k++)
            s->D[k + np * i] = to[i + np * k];
    if (!*why && dense_solve(np, T, np, s->D)) {
        double *back = dense_transpose(np, np, s->D);

        memcpy(s->D, back, np * np * sizeof *back);
        free(back);
    }
    free(T);
    T = dense_transpose(np, np, S);
    if (ne) {
        double *rows = dense_transpose(ne, np, Aep); /* np by ne */

        if (!*why && dense_solve(np, T, ne, rows))
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

/* Does the mass of an inertia depend on its momentum? */
static bool
inertias_bend(const flat_model *f)
{
    for (uint32_t p = 0; p < f->port.n; p++) {
        const flat_law *law = f->port.at[p].stored != VAR_NONE && port_has_momentum(f, p) ? port_law(f, p) : NULL;

        for (uint32_t k = 0; law && k < law->def.n; k++) {
            var_id v = inst_slots(f, law->def)[k];
            enum var_kind kind = f->var.at[v].kind;
            node slope = ex_derivative(f->pool, law->def.root, k);

            for (uint32_t j = 0; j < law->def.n; j++)
                if (kind != VAR_PARAM && kind != VAR_LITERAL && kind != VAR_MODE && kind != VAR_TIME &&
                    inst_slots(f, law->def)[j] == v && !ex_is_const(f->pool, ex_derivative(f->pool, slope, j), NULL))
                    return true;
        }
    }
    return false;
}

/* From A and B, if each inertia has a row of its own there. */
static bool
by_matrices(const linearization *l, const struct parts *w, second_order *s)
{
    bool own = l->as_equations || l->structure.why;
    char *why = NULL;
    double *S;

    for (size_t i = 0; i < w->np; i++)
        own = own || model_state(l->model, l->order[w->p[i]]).kind != VAR_STORED;
    S = (own ? own_velocities : velocities)(l, w, &why);
    if (!why)
        fill_matrices(l, w, S, own, s, &why);
    free(S);
    if (why) {
        double **const all[] = { &s->M, &s->D, &s->K, &s->L, &s->N };

        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            free(*all[i]);
            *all[i] = NULL;
        }
        free(why);
        return false;
    }
    return true;
}

/* Computes the numbers; s->why: there are none. */
static void
find_numbers(const linearization *l, const struct parts *w, second_order *s)
{
    size_t n = l->space.n;
    size_t *momentum = bg_malloc((n + 1) * sizeof *momentum);
    bool bends = inertias_bend(model_flat(l->model)), moves = false, *moved, given = !bends && by_matrices(l, w, s);
    char *why = NULL;

    for (size_t i = 0; i < n; i++)
        momentum[i] = NO_INDEX;
    for (size_t i = 0; i < w->np; i++)
        momentum[w->p[i]] = i;
    moved = second_order_rates_moved(l, momentum);
    for (size_t i = 0; i < n; i++)
        moves = moves || moved[i];
    if (!second_order_values(l, s, moves || bends || l->as_equations, &why) && (moves || !given))
        s->why = why;
    else
        free(why);
    free(momentum);
    free(moved);
}

void
second_order_make(const linearization *l, second_order *s)
{
    struct parts w = { 0 };

    *s = (second_order){ .nu = l->space.nu };
    sort_states(l, &w, &s->why);
    s->momentum = w.p;
    s->n = s->why ? 0 : w.np;
    if (!s->why)
        find_numbers(l, &w, s);
    if (!s->why) {
        const double *const all[3] = { s->M, s->D, s->K };

        for (size_t k = 0; k < s->n * s->nu; k++)
            s->integrals |= s->N[k] != 0;
        for (int k = 0; k < 3; k++) {
            s->symmetric[k] = is_symmetric(s->n, all[k]);
            s->least[k] = least_share(s->n, all[k]);
        }
    }
    free(w.e);
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
