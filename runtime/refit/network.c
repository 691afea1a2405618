/* network.c - see network.h */
#include "network.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "band.h"
#include "columns.h"
#include "dense.h"
#include "wholes.h"
#include "compiled.h"

/* Relative: the least singular value of the input matrix that is not rounding; the remainder of the inputs that it must
 * reproduce; the difference between the network's response and the model's that is rounding. */
static const double DEPENDENT_INPUT = 1e-12, SAME_INPUTS = 1e-9, SAME_RESPONSE = 1e-8;
static const double LEAST_FREQUENCY = 1e-300; /* rad/s: where no eigenvalue differs from zero */
enum { LOOKS = 3, LOOKS_APART = 7 };          /* frequencies at which responses are compared, and their ratio */

/* Number of states that are integrals and belong to no element; state NULL: only counts them. */
static size_t
integrals(const structure *s, size_t *state)
{
    bool *stores = bg_calloc(s->n + 1, sizeof *stores);
    size_t n = 0;

    for (size_t i = 0; i < s->nz; i++)
        stores[s->storage_state[i]] = true;
    for (size_t i = 0; i < s->n; i++)
        if (!stores[i]) {
            if (state)
                state[n] = i;
            n++;
        }
    free(stores);
    return n;
}

/* Makes one part for each storage element and dissipator, in the order of the structure, then for each integral. */
static void
list_parts(bg_model *m, const structure *s, network *k)
{
    const flat_model *f = model_flat(m);
    size_t elements = s->nz + s->nl;

    k->n = elements + integrals(s, NULL);
    k->part = bg_calloc(k->n + 1, sizeof *k->part);
    for (size_t i = elements; i < k->n; i++)
        k->part[i] = (network_part){ .port = NONE, .storage = true, .locked = true, .coefficient = 1 };
    for (size_t i = 0; i < elements; i++) {
        bool storage = i < s->nz;
        uint32_t port = storage ? s->storage[i] : s->dissipator[i - s->nz];
        const flat_element *el = &f->element.at[f->port.at[port].element];
        double gain = storage ? s->matrix[M_S].value[i + s->nz * s->storage_state[i]]
                              : s->matrix[M_L].value[(i - s->nz) * (s->nl + 1)];

        k->part[i] = (network_part){ .port = port,
                                     .storage = storage,
                                     .locked = el->read || el->keep,
                                     .coefficient = gain != 0 ? 1 / gain : INFINITY,
                                     .gives_effort = storage ? !port_has_momentum(f, port) : s->flow_in[i - s->nz] };
    }
}

/* Relates columns of sources to columns of inputs, from B by sources and B by inputs. */
static bool
sources_by_inputs(const linearization *l, const structure *s, double *W)
{
    size_t n = s->n, nu = l->space.nu, rows = n > s->nu ? n : s->nu;
    double *M = bg_calloc(n * s->nu + 1, sizeof *M), *X = bg_calloc(rows * nu + 1, sizeof *X),
           *sigma = bg_calloc(rows + 1, sizeof *sigma), *check = bg_calloc(n * nu + 1, sizeof *check), size;
    lapack_int rank;
    bool fine;

    memcpy(M, s->matrix[M_B].value, n * s->nu * sizeof *M);
    for (size_t c = 0; c < nu; c++)
        memcpy(X + rows * c, l->space.B + n * c, n * sizeof *X);
    fine = LAPACKE_dgelsd(LAPACK_COL_MAJOR, (lapack_int)n, (lapack_int)s->nu, (lapack_int)nu, M, (lapack_int)n, X,
                          (lapack_int)rows, sigma, DEPENDENT_INPUT, &rank) == 0;
    for (size_t c = 0; c < nu; c++)
        memcpy(W + s->nu * c, X + rows * c, s->nu * sizeof *W);
    memcpy(check, l->space.B, n * nu * sizeof *check);
    dense_multiply(n, s->nu, nu, 1, s->matrix[M_B].value, W, -1, check);
    size = dense_norm(n * nu, l->space.B);
    fine = fine && dense_norm(n * nu, check) <= SAME_INPUTS * size;
    free(M);
    free(X);
    free(sigma);
    free(check);
    return fine;
}

static void
fill_network(const linearization *l, const structure *s, const double *W, network *k)
{
    size_t n = k->n, nz = s->nz, nl = s->nl, nu = l->space.nu, *integral = bg_calloc(s->n + 1, sizeof *integral);
    double *by_source = bg_calloc(n * s->nu + 1, sizeof *by_source);

    integrals(s, integral);
    k->nu = nu;
    k->ny = l->space.ny;
    k->J = bg_calloc(n * n + 1, sizeof(double));
    k->B = bg_calloc(n * nu + 1, sizeof(double));
    k->C = bg_calloc(k->ny * n + 1, sizeof(double));
    k->D = bg_calloc(k->ny * nu + 1, sizeof(double));
    k->F = bg_calloc(k->ny * n + 1, sizeof(double));
    for (size_t i = 0; i < n; i++) {
        bool of_state = k->part[i].storage;
        size_t state = !of_state ? 0
                       : i < nz  ? s->storage_state[i]
                                 : integral[i - nz - nl],
               row = of_state ? state : i - nz, rows = of_state ? s->n : nl;

        for (size_t c = 0; c < nz; c++)
            k->J[i + n * c] = s->matrix[of_state ? M_J_SS : M_J_LS].value[row + rows * c];
        for (size_t c = 0; c < nl; c++)
            k->J[i + n * (nz + c)] = s->matrix[of_state ? M_J_SL : M_J_LL].value[row + rows * c];
        for (size_t c = 0; c < s->nu; c++)
            by_source[i + n * c] = s->matrix[of_state ? M_J_SU : M_J_LU].value[row + rows * c];
        for (size_t y = 0; y < k->ny && of_state; y++) {
            k->F[y + k->ny * i] = s->output[3].value[y + k->ny * state];
            k->part[i].locked = k->part[i].locked || k->F[y + k->ny * i] != 0;
        }
    }
    dense_multiply(n, s->nu, nu, 1, by_source, W, 0, k->B);
    memcpy(k->C, s->output[0].value, k->ny * nz * sizeof(double));
    memcpy(k->C + k->ny * nz, s->output[1].value, k->ny * nl * sizeof(double));
    dense_multiply(k->ny, s->nu, nu, 1, s->output[2].value, W, 0, k->D);
    free(by_source);
    free(integral);
}

/* Names a signal that feeds a state back into the bond graph's equations, and the state. */
static char *
who_reads_states(bg_model *m, const linearization *l, const structure *s)
{
    static const enum structure_matrix by[] = { M_J_SX, M_J_LX, M_L_X };
    const flat_model *f = model_flat(m);

    for (size_t b = 0; b < sizeof by / sizeof *by; b++) {
        const structure_block *M = &s->matrix[by[b]];

        for (size_t i = 0; i < M->rows * M->columns; i++)
            if (M->value[i] != 0) {
                const char *of = by[b] == M_J_SX ? linear_state_name(l, i % M->rows)
                                                 : port_name(f, s->dissipator[i % M->rows]),
                           *state = linear_state_name(l, i / M->rows);

                return by[b] == M_L_X ? bg_format("the law of %s is not linear, or reads %s", of, state)
                                      : bg_format("a modulus, a source or a law on the way to %s reads %s", of, state);
            }
    }
    return bg_strdup("moduli, sources or laws read states");
}

/* Compares the response of the network with that of the model: whatever one of them lacks would show here. */
static bool
same_response(const linearization *l, const network *k)
{
    size_t ny = k->ny, nu = k->nu, n = k->n;
    uint8_t *fate = bg_calloc(n + 1, 1);
    double *factor = bg_calloc(n + 1, sizeof *factor), omega = fmax(l->modes.size, LEAST_FREQUENCY);
    double complex *G = bg_calloc(ny * nu + 1, sizeof *G), *from = bg_calloc(n * nu + 1, sizeof *from),
                   *to = bg_calloc(n * ny + 1, sizeof *to), *M = bg_calloc(l->space.n * l->space.n + 1, sizeof *M),
                   *X = bg_calloc(l->space.n * nu + 1, sizeof *X);
    network_piece p;
    bool fine = true;

    for (size_t i = 0; i < n; i++)
        factor[i] = 1;
    network_piece_of(k, fate, &p);
    for (int at = 0; at < LOOKS && fine; at++, omega /= LOOKS_APART) {
        double size = 0, off = 0;
        size_t order = l->space.n;

        for (size_t i = 0; i < order * order; i++)
            M[i] = (i % (order + 1) == 0 ? I * omega : 0) - l->space.A[i];
        for (size_t i = 0; i < order * nu; i++)
            X[i] = l->space.B[i];
        fine = network_at(k, &p, fate, factor, omega, G, from, to, NULL) && dense_solve_complex(order, M, nu, X);
        for (size_t y = 0; y < ny && fine; y++)
            for (size_t u = 0; u < nu; u++) {
                double complex exact = l->space.D[y + ny * u];

                for (size_t i = 0; i < order; i++)
                    exact += l->space.C[y + ny * i] * X[i + order * u];
                size = fmax(size, cabs(exact));
                off = fmax(off, cabs(exact - G[y + ny * u]));
            }
        fine = fine && off <= SAME_RESPONSE * size;
    }
    network_piece_free(&p);
    free(fate);
    free(factor);
    free(G);
    free(from);
    free(to);
    free(M);
    free(X);
    return fine;
}

bool
network_of(bg_model *m, const linearization *l, network *k, char **why)
{
    structure s = { 0 };
    double *x = linearization_states(l), *W = NULL;

    *k = (network){ 0 };
    *why = NULL;
    structure_make(m, l->time, x, l->order, false, false, true, &s);
    W = bg_calloc(s.nu * l->space.nu + 1, sizeof *W);
    if (l->switched)
        *why = bg_strdup("it has ideal switches: each of their modes is another linear model");
    else if (s.why)
        *why = bg_strdup(s.why);
    else if (s.modulated)
        *why = who_reads_states(m, l, &s);
    else if (!sources_by_inputs(l, &s, W))
        *why = bg_strdup("its inputs do not act through sources alone");
    else {
        list_parts(m, &s, k);
        fill_network(l, &s, W, k);
        if (network_wholes(m, &s, k, why) && !same_response(l, k))
            *why = bg_strdup("its elements alone do not give its response");
    }
    structure_free(&s);
    free(x);
    free(W);
    return !*why;
}

void
network_free(network *k)
{
    free(k->part);
    free(k->J);
    free(k->B);
    free(k->C);
    free(k->D);
    free(k->F);
    *k = (network){ 0 };
}

/* ---------------------------------------------------------------- a piece of it */

static bool
is_left(const network *k, const uint8_t *fate, size_t i)
{
    return fate[i] != PART_GIVES_NOTHING && isfinite(k->part[i].coefficient);
}

static bool
parts_join(const network *k, size_t a, size_t b)
{
    return k->J[a + k->n * b] != 0 || k->J[b + k->n * a] != 0;
}

/* Collects the parts connected with `first`; do they reach inputs, and outputs? */
static void
spread_group(const network *k, const uint8_t *fate, size_t first, size_t *group, size_t number, size_t *stack,
             bool reach[2])
{
    size_t depth = 0;

    stack[depth++] = first;
    group[first] = number;
    while (depth) {
        size_t i = stack[--depth];

        for (size_t u = 0; u < k->nu; u++)
            reach[0] = reach[0] || k->B[i + k->n * u] != 0;
        for (size_t y = 0; y < k->ny; y++)
            reach[1] = reach[1] || k->C[y + k->ny * i] != 0 || k->F[y + k->ny * i] != 0;
        for (size_t j = 0; j < k->n; j++)
            if (!group[j] && is_left(k, fate, j) && parts_join(k, i, j)) {
                group[j] = number;
                stack[depth++] = j;
            }
    }
}

/* Orders the members by levels, starting from one with few neighbours; within a level those with few neighbours
 * first. */
static void
order_members(const network *k, network_piece *p)
{
    size_t *degree = bg_calloc(k->n + 1, sizeof *degree), *out = bg_calloc(p->n + 1, sizeof *out), n = 0;
    bool *done = bg_calloc(k->n + 1, sizeof *done);

    for (size_t a = 0; a < p->n; a++)
        for (size_t b = 0; b < p->n; b++)
            degree[p->member[a]] += a != b && parts_join(k, p->member[a], p->member[b]);
    for (size_t next = 0; n < p->n;) {
        if (next == n) {
            size_t first = NO_INDEX;

            for (size_t a = 0; a < p->n; a++)
                if (!done[p->member[a]] && (first == NO_INDEX || degree[p->member[a]] < degree[first]))
                    first = p->member[a];
            done[first] = true;
            out[n++] = first;
        }
        for (size_t from = out[next++], begin = n, a = 0; a < p->n; a++) {
            size_t part = p->member[a], at = n;

            if (done[part] || !parts_join(k, from, part))
                continue;
            done[part] = true;
            for (; at > begin && degree[out[at - 1]] > degree[part]; at--)
                out[at] = out[at - 1];
            out[at] = part;
            n++;
        }
    }
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < a; b++)
            if (a - b > p->band && parts_join(k, out[a], out[b]))
                p->band = a - b;
    free(p->member);
    p->member = out;
    free(degree);
    free(done);
}

void
network_piece_of(const network *k, const uint8_t *fate, network_piece *p)
{
    size_t *group = bg_calloc(k->n + 1, sizeof *group), *stack = bg_calloc(k->n + 1, sizeof *stack), groups = 0;
    bool *good = bg_calloc(k->n + 2, sizeof *good);

    *p = (network_piece){ .member = bg_calloc(k->n + 1, sizeof *p->member) };
    for (size_t i = 0; i < k->n; i++)
        if (!group[i] && is_left(k, fate, i)) {
            bool reach[2] = { false, false };

            spread_group(k, fate, i, group, ++groups, stack, reach);
            good[groups] = reach[0] && reach[1];
        }
    p->whole = true;
    for (size_t i = 0; i < k->n; i++)
        if (group[i] && good[group[i]]) {
            p->member[p->n++] = i;
            p->states += k->part[i].storage && fate[i] == PART_STAYS;
        } else if (k->part[i].locked) {
            p->whole = false;
        }
    order_members(k, p);
    free(group);
    free(stack);
    free(good);
}

void
network_piece_free(network_piece *p)
{
    free(p->member);
    *p = (network_piece){ 0 };
}

bool
network_at(const network *k, const network_piece *p, const uint8_t *fate, const double *factor, double omega,
           double complex *G, double complex *from, double complex *to, double complex *own)
{
    size_t n = p->n, nu = k->nu, ny = k->ny;
    band_matrix K = band_new(n, p->band);
    bool fine;

    for (size_t c = 0; c < n; c++)
        for (size_t i = c > p->band ? c - p->band : 0; i < n && i <= c + p->band; i++)
            *band_entry(&K, i, c) = -k->J[p->member[i] + k->n * p->member[c]];
    for (size_t i = 0; i < n; i++) {
        const network_part *q = &k->part[p->member[i]];

        if (fate[p->member[i]] == PART_STAYS)
            *band_entry(&K, i, i) += factor[p->member[i]] * q->coefficient * (q->storage ? I * omega : 1);
        for (size_t u = 0; u < nu; u++)
            from[i + n * u] = k->B[p->member[i] + k->n * u];
        for (size_t y = 0; y < ny; y++)
            to[i + n * y] = network_seen(k, y, p->member[i], factor[p->member[i]]);
    }
    fine = band_factor(&K);
    for (size_t u = 0; u < nu && fine; u++)
        band_solve(&K, from + n * u);
    for (size_t y = 0; y < ny && fine; y++)
        band_solve_transposed(&K, to + n * y);
    for (size_t y = 0; y < ny && fine; y++)
        for (size_t u = 0; u < nu; u++) {
            double complex g = k->D[y + ny * u];

            for (size_t i = 0; i < n; i++)
                g += network_seen(k, y, p->member[i], factor[p->member[i]]) * from[i + n * u];
            G[y + ny * u] = g;
            fine = fine && isfinite(creal(g)) && isfinite(cimag(g));
        }
    if (fine && own) {
        double complex *work = bg_calloc(n + 1, sizeof *work);

        for (size_t i = 0; i < n; i++)
            own[i] = band_inverse_entry(&K, i, work);
        free(work);
    }
    band_free(&K);
    return fine;
}
