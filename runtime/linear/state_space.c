/* state_space.c - see state_space.h */
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dense.h"
#include "factor.h"
#include "state_space.h"

#define NEARLY_UNIT 0.1 /* entries: far enough below 1 that the matrix is certainly regular */
#define SAME 1e-9       /* relative: both ways give the same number */
#define CANCELLED 2e-15 /* relative to the terms of a sum: rounding */
enum { ORDERS = 3 };    /* of a condition: its value and two time derivatives */

state_space
state_space_new(size_t n, size_t nu, size_t ny)
{
    return (state_space){ n,
                          nu,
                          ny,
                          bg_calloc(n * n + 1, sizeof(double)),
                          bg_calloc(n * nu + 1, sizeof(double)),
                          bg_calloc(ny * n + 1, sizeof(double)),
                          bg_calloc(ny * nu + 1, sizeof(double)) };
}

state_space
state_space_copy(const state_space *s)
{
    state_space c = state_space_new(s->n, s->nu, s->ny);

    memcpy(c.A, s->A, s->n * s->n * sizeof(double));
    memcpy(c.B, s->B, s->n * s->nu * sizeof(double));
    memcpy(c.C, s->C, s->ny * s->n * sizeof(double));
    memcpy(c.D, s->D, s->ny * s->nu * sizeof(double));
    return c;
}

void
state_space_free(state_space *s)
{
    free(s->A);
    free(s->B);
    free(s->C);
    free(s->D);
    *s = (state_space){ 0 };
}

/* The part of the matrix for kept variables: columns and rows nx .. nx+nz. */
struct inner {
    size_t nx, nz;
    int64_t *column, *row;
    uint32_t *from;
    double *value;
    factor *factor;
};

static void
inner_open(struct inner *g, struct model_pattern p, size_t nz)
{
    size_t count = 0;

    *g = (struct inner){ .nx = p.nx,
                         .nz = nz,
                         .column = bg_calloc(nz + 1, sizeof *g->column),
                         .row = bg_calloc(p.nonzeros + 1, sizeof *g->row),
                         .from = bg_calloc(p.nonzeros + 1, sizeof *g->from),
                         .value = bg_calloc(p.nonzeros + 1, sizeof *g->value) };
    for (size_t c = 0; c < nz; c++) {
        for (int64_t k = p.column[p.nx + c]; k < p.column[p.nx + c + 1]; k++) {
            size_t r = (size_t)p.row[k];

            if (r >= p.nx && r < p.nx + nz) {
                g->row[count] = (int64_t)(r - p.nx);
                g->from[count++] = (uint32_t)k;
            }
        }
        g->column[c + 1] = (int64_t)count;
    }
    g->factor = factor_new(nz, g->column, g->row, 0);
}

static void
inner_close(struct inner *g)
{
    factor_free(g->factor);
    free(g->column);
    free(g->row);
    free(g->from);
    free(g->value);
}

/* One column of A and C, or of B and D: the entries of states and outputs, plus the effect of the kept variables, which
 * are solved for in z. */
static bool
fill_column(struct model_pattern p, const double *value, struct inner *g, size_t c, size_t ny, double *z, double *state,
            double *output)
{
    size_t nx = p.nx, first_output = p.n - ny;
    bool any = false;

    memset(z, 0, g->nz * sizeof *z);
    for (int64_t k = p.column[c]; k < p.column[c + 1]; k++) {
        size_t r = (size_t)p.row[k];

        if (r < nx) {
            state[r] += value[k];
        } else if (r < nx + g->nz) {
            z[r - nx] = -value[k];
            any = any || value[k] != 0;
        } else if (r >= first_output) {
            output[r - first_output] += value[k];
        }
    }
    if (!any)
        return true;
    if (!factor_solve(g->factor, z))
        return false;
    for (size_t i = 0; i < g->nz; i++)
        for (int64_t k = p.column[nx + i]; k < p.column[nx + i + 1] && z[i] != 0; k++) {
            size_t r = (size_t)p.row[k];

            if (r < nx)
                state[r] += value[k] * z[i];
            else if (r >= first_output)
                output[r - first_output] += value[k] * z[i];
        }
    return true;
}

/* Copies the rows and columns of states and kept variables. */
static void
take_sparse(struct model_pattern j, size_t nz, const double *value, sparse_jacobian *A)
{
    size_t n = j.nx + nz;
    int64_t count = 0;

    *A = (sparse_jacobian){ n, j.nx, bg_calloc(n + 1, sizeof *A->column), bg_calloc(j.nonzeros + 1, sizeof *A->row),
                            bg_calloc(j.nonzeros + 1, sizeof *A->value) };
    for (size_t c = 0; c < n; c++) {
        for (int64_t k = j.column[c]; k < j.column[c + 1]; k++)
            if ((size_t)j.row[k] < n) {
                A->row[count] = j.row[k];
                A->value[count++] = value[k];
            }
        A->column[c + 1] = count;
    }
}

/* sparse: A goes there instead of into s. */
static enum space_result
matrices_at(bg_model *m, partials *p, size_t nu, size_t ny, double t, const double *x, state_space *s,
            sparse_jacobian *sparse)
{
    struct model_pattern j = model_partials_pattern(p);
    size_t nz = j.n - j.nx - nu - ny, singular;
    double *value = bg_calloc(j.nonzeros + 1, sizeof *value), *z = bg_calloc(nz + 1, sizeof *z),
           *column = bg_calloc(j.nx + 1, sizeof *column);
    enum space_result result = SPACE_DONE;
    struct inner g;

    *s = (state_space){ j.nx,
                        nu,
                        ny,
                        sparse ? NULL : bg_calloc(j.nx * j.nx + 1, sizeof(double)),
                        bg_calloc(j.nx * nu + 1, sizeof(double)),
                        bg_calloc(ny * j.nx + 1, sizeof(double)),
                        bg_calloc(ny * nu + 1, sizeof(double)) };
    inner_open(&g, j, nz);
    if (model_has_blocks(m))
        model_accept(m, t, x);
    if (model_partials_at(m, p, t, x, value) != 0) {
        result = SPACE_NO_VALUE;
    } else {
        for (size_t k = 0; k < (size_t)g.column[nz]; k++)
            g.value[k] = value[g.from[k]];
        if (nz && !factor_numeric(g.factor, g.value, &singular))
            result = SPACE_SINGULAR;
        if (sparse)
            take_sparse(j, nz, value, sparse);
    }
    for (size_t c = 0; c < j.nx && result == SPACE_DONE; c++)
        if (!fill_column(j, value, &g, c, ny, z, sparse ? column : s->A + c * j.nx, s->C + c * ny))
            result = SPACE_SINGULAR;
    for (size_t c = 0; c < nu && result == SPACE_DONE; c++)
        if (!fill_column(j, value, &g, j.nx + nz + c, ny, z, s->B + c * j.nx, s->D + c * ny))
            result = SPACE_SINGULAR;
    inner_close(&g);
    free(value);
    free(z);
    free(column);
    return result;
}

enum space_result
state_space_at(bg_model *m, partials *p, size_t nu, size_t ny, double t, const double *x, state_space *s)
{
    return matrices_at(m, p, nu, ny, t, x, s, NULL);
}

enum space_result
state_space_sparse(bg_model *m, partials *p, size_t nu, size_t ny, double t, const double *x, state_space *s,
                   sparse_jacobian *A)
{
    *A = (sparse_jacobian){ 0 };
    return matrices_at(m, p, nu, ny, t, x, s, A);
}

/* From columns of the conditions' derivatives by something, its effect on the held unknowns, into the rows of G (nw by
 * columns). */
static bool
held_by(bg_model *m, size_t nw, size_t first, size_t rows, const double *C, size_t columns, double *G)
{
    bool fine = true;

    for (size_t c = 0; c < columns && fine; c++)
        fine = model_held_by(m, C + first + rows * c, G + nw * c);
    return fine;
}

/* M (rows by columns, leading dimension lead) -= left (rows by k) G (k by columns); cancelled entries become zero. */
static void
subtract_product(size_t rows, size_t lead, const double *left, size_t left_lead, size_t k, const double *G,
                 size_t columns, double *M)
{
    for (size_t c = 0; c < columns; c++)
        for (size_t i = 0; i < rows; i++) {
            double *to = &M[i + lead * c], size = fabs(*to);

            for (size_t j = 0; j < k; j++) {
                double by = left[i + left_lead * j] * G[j + k * c];

                *to -= by;
                size += fabs(by);
            }
            if (fabs(*to) <= CANCELLED * size)
                *to = 0;
        }
}

void
held_space_free(held_space *h)
{
    free(h->J);
    free(h->G);
    *h = (held_space){ 0 };
}

/* G = W^-1 G. W is the unit matrix except for laws that are not linear in what is held, and for unknowns of which only
 * sums are determined, as of parallel switches: those share equally. */
static bool
solve_held(size_t nw, double *W, size_t columns, double *G)
{
    double *sigma, off = 0;
    lapack_int rank;
    bool fine;

    for (size_t i = 0; i < nw * nw; i++)
        off = fmax(off, fabs(W[i] - (i / nw == i % nw)));
    if (off < NEARLY_UNIT)
        return dense_solve(nw, W, columns, G);
    sigma = bg_calloc(nw + 1, sizeof *sigma);
    fine = LAPACKE_dgelsd(LAPACK_COL_MAJOR, (lapack_int)nw, (lapack_int)nw, (lapack_int)columns, W, (lapack_int)nw, G,
                          (lapack_int)nw, sigma, SAME, &rank) == 0;
    free(sigma);
    return fine;
}

/* Does r alone determine z, for all states, with the result of the elimination? */
static bool
held_are_regular(const held_space *h)
{
    size_t n = h->n, nw = h->nw, N = n + nw;
    double *D = bg_calloc(nw * nw + 1, sizeof *D), *z = bg_calloc(nw * n + 1, sizeof *z);
    bool fine;

    for (size_t i = 0; i < nw; i++) {
        for (size_t k = 0; k < nw; k++)
            D[i + nw * k] = h->J[n + i + N * (n + k)];
        for (size_t k = 0; k < n; k++)
            z[i + nw * k] = h->J[n + i + N * k];
    }
    fine = dense_solve(nw, D, n, z);
    for (size_t i = 0; i < nw && fine; i++) {
        double size = 0, off = 0;

        for (size_t k = 0; k < n; k++) {
            size = fmax(size, fmax(fabs(h->G[i + nw * k]), fabs(z[i + nw * k])));
            off = fmax(off, fabs(h->G[i + nw * k] - z[i + nw * k]));
        }
        fine = off <= SAME * size;
    }
    free(D);
    free(z);
    return fine;
}

/* all: the held unknowns follow the inputs, their conditions, three for each, follow the outputs. */
static void
join_conditions(const state_space *all, size_t ny, held_space *h)
{
    size_t n = h->n, nw = h->nw, N = n + nw, wide = all->ny;

    h->J = bg_calloc(N * N + 1, sizeof *h->J);
    for (size_t k = 0; k < N; k++)
        for (size_t i = 0; i < N; i++) {
            const double *rates = k < n ? all->A + n * k : all->B + n * (h->nu + k - n),
                         *rows = k < n ? all->C + wide * k : all->D + wide * (h->nu + k - n);

            h->J[i + N * k] = i < n ? rates[i] : rows[ny + ORDERS * (i - n)];
        }
}

enum space_result
state_space_held(bg_model *m, partials *p, size_t nu, size_t ny, double t, const double *x, state_space *s,
                 held_space *h)
{
    size_t nw = model_nheld(m), wide = ny + ORDERS * nw, n;
    state_space all;
    enum space_result result = state_space_at(m, p, nu + nw, wide, t, x, &all);
    double *W = bg_calloc(nw * nw + 1, sizeof *W), *G, *H;

    n = all.n;
    G = bg_calloc(nw * (n + nu) + 1, sizeof *G);
    H = G + nw * n;
    *h = (held_space){ .n = n, .nw = nw, .nu = nu, .G = G, .H = H };
    *s = state_space_new(n, nu, ny);
    /* W w + G x + H u = 0 */
    if (result == SPACE_DONE &&
        (!held_by(m, nw, ny, wide, all.D + wide * nu, nw, W) || !held_by(m, nw, ny, wide, all.C, n, G) ||
         !held_by(m, nw, ny, wide, all.D, nu, H) || !solve_held(nw, W, n + nu, G)))
        result = SPACE_SINGULAR;
    if (result == SPACE_DONE) {
        join_conditions(&all, ny, h);
        h->regular = held_are_regular(h);
        memcpy(s->A, all.A, n * n * sizeof(double));
        memcpy(s->B, all.B, n * nu * sizeof(double));
        subtract_product(n, n, all.B + n * nu, n, nw, G, n, s->A);
        subtract_product(n, n, all.B + n * nu, n, nw, H, nu, s->B);
        for (size_t i = 0; i < ny; i++) {
            for (size_t k = 0; k < n; k++)
                s->C[i + ny * k] = all.C[i + wide * k];
            for (size_t k = 0; k < nu; k++)
                s->D[i + ny * k] = all.D[i + wide * k];
        }
        subtract_product(ny, ny, all.D + wide * nu, wide, nw, G, n, s->C);
        subtract_product(ny, ny, all.D + wide * nu, wide, nw, H, nu, s->D);
    }
    state_space_free(&all);
    free(W);
    return result;
}
