/* effects.c - see effects.h */
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "block_form.h"
#include "curvature.h"
#include "dense.h"
#include "effects.h"
#include "held_modes.h"
#include "structure_pencil.h"

/* relative to the size of W dA U: entries below the diagonal that are rounding, so that the cluster does not split */
#define NO_SPLIT 1e-6
#define DEPENDENT 1e-13 /* relative to the greatest singular value: the equilibrium does not determine a state */
#define SOLVED \
    1e-7 /* relative to the terms of an equation: what an equilibrium that moves smoothly may leave of it \
          */
#define ONE_JACOBIAN 1e-8 /* relative to a row: the structure's A is the Jacobian */

/* ---------------------------------------------------------------- clusters */

static int
falling_size(const void *a, const void *b)
{
    double x = cabs(*(const double complex *)a), y = cabs(*(const double complex *)b);

    return (x < y) - (x > y);
}

/* Converts M = W dA U of one cluster (m by m by columns) to the derivatives of its eigenvalues. splits: does any
 * perturbation split a defective cluster like a root? */
static void
moves_of(const cluster *c, double complex *M, bool splits, double complex *move)
{
    size_t m = c->n;
    double complex mean = 0;

    for (size_t i = 0; i < m; i++) {
        move[i] = M[i + m * i];
        mean += M[i + m * i] / (double)m;
    }
    if (m == 1)
        return;
    if (c->defective) {
        for (size_t i = 0; i < m && splits; i++)
            move[i] = mean;
        return;
    }
    LAPACKE_zgeev(LAPACK_COL_MAJOR, 'N', 'N', (lapack_int)m, (lapack_complex_double *)M, (lapack_int)m,
                  (lapack_complex_double *)move, NULL, 1, NULL, 1);
    qsort(move, m, sizeof *move, falling_size);
}

/* Has M entries below the diagonal, so that it splits a defective cluster? */
static bool
splits(size_t m, const double complex *M)
{
    double below = 0, most = 0;

    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < m; k++) {
            most = fmax(most, cabs(M[i + m * k]));
            if (i > k)
                below = fmax(below, cabs(M[i + m * k]));
        }
    return below > NO_SPLIT * most;
}

/* ---------------------------------------------------------------- parameters */

struct mover {
    linearization *l;
    const held_space *held; /* NULL: no ideal switches */
    curvature *c;
    size_t n, np;
    double *dx; /* NULL: the equilibrium is not differentiated */
};

/* The linear equations that the moves of an equilibrium satisfy: rows of the rates and of conserved combinations, each
 * divided by its greatest entry, and states in units of their scales (block_form.h). The rank is that of the machine
 * then, not of its units. */
struct moved {
    size_t used, rows;
    size_t *active; /* [used] state of each column; integrals that only outputs read have none */
    double *scale;  /* [n] */
    double *A, *right;
};

static void
moved_open(const linearization *l, size_t np, const state_space *all, struct moved *e)
{
    size_t n = l->space.n;
    block_form f;

    *e = (struct moved){ .active = bg_calloc(n + 1, sizeof *e->active), .scale = bg_calloc(n + 1, sizeof(double)) };
    block_form_make(n, l->space.A, &f);
    memcpy(e->scale, f.scale, n * sizeof *e->scale);
    block_form_free(&f);
    for (size_t k = 0; k < n; k++)
        if (!model_state(l->model, l->order[k]).only_outputs)
            e->active[e->used++] = k;
    e->rows = e->used + l->nconserved;
    e->A = bg_calloc(e->rows * e->used + 1, sizeof *e->A);
    e->right = bg_calloc(e->rows * np + 1, sizeof *e->right);
    for (size_t i = 0; i < e->rows; i++) {
        bool rate = i < e->used;
        double most = 0;

        for (size_t k = 0; k < e->used; k++) {
            double x = rate ? l->space.A[e->active[i] + n * e->active[k]]
                            : l->conserved[(i - e->used) * n + e->active[k]];

            e->A[i + e->rows * k] = x == 0 ? 0 : x * e->scale[e->active[k]];
            most = fmax(most, fabs(e->A[i + e->rows * k]));
        }
        most = most > 0 ? most : rate ? e->scale[e->active[i]] : 1;
        for (size_t k = 0; k < e->used; k++)
            e->A[i + e->rows * k] /= most;
        for (size_t p = 0; p < np && rate; p++)
            e->right[i + e->rows * p] = -all->B[l->order[e->active[i]] + n * p] / most;
    }
}

static void
moved_free(struct moved *e)
{
    free(e->active);
    free(e->scale);
    free(e->A);
    free(e->right);
}

/* dx/dtheta of the equilibrium, in the model's order; NAN where it is not differentiable. *determined: is it, for every
 * parameter that moves a rate? */
static double *
equilibrium_moves(const linearization *l, size_t np, const state_space *all, bool *determined)
{
    size_t n = l->space.n, rows, used;
    double *dx = bg_calloc(n * np + 1, sizeof *dx), *s = bg_calloc(n + 1, sizeof *s), *left, *moves;
    struct moved e;
    lapack_int rank = 0;

    moved_open(l, np, all, &e);
    rows = e.rows;
    used = e.used;
    left = bg_calloc(rows * used + 1, sizeof *left);
    moves = bg_calloc(rows * np + 1, sizeof *moves);
    memcpy(left, e.A, rows * used * sizeof *left);
    memcpy(moves, e.right, rows * np * sizeof *moves);
    *determined = true;
    if (used && np &&
        LAPACKE_dgelsd(LAPACK_COL_MAJOR, (lapack_int)rows, (lapack_int)used, (lapack_int)np, left, (lapack_int)rows,
                       moves, (lapack_int)rows, s, DEPENDENT, &rank) != 0)
        rank = 0;
    for (size_t p = 0; p < np && used; p++) {
        double worst = 0, size = 0;
        bool known;

        for (size_t i = 0; i < rows; i++) {
            double sum = e.right[i + rows * p];

            size = fmax(size, fabs(sum));
            for (size_t k = 0; k < used; k++) {
                sum -= e.A[i + rows * k] * moves[k + rows * p];
                size = fmax(size, fabs(e.A[i + rows * k] * moves[k + rows * p]));
            }
            worst = fmax(worst, fabs(sum));
        }
        known = (size_t)rank == used && worst <= SOLVED * size;
        *determined = *determined && (known || size == 0);
        for (size_t k = 0; k < used; k++)
            dx[l->order[e.active[k]] + n * p] = known       ? moves[k + rows * p] * e.scale[e.active[k]]
                                                : size == 0 ? 0
                                                            : NAN;
    }
    moved_free(&e);
    free(left);
    free(moves);
    free(s);
    return dx;
}

/* Of a cluster of A, in the model's order. */
static void
plain_vectors(const linearization *l, const cluster *c, mode_vectors *v)
{
    size_t n = l->space.n;

    *v = (mode_vectors){ n, c->n, bg_calloc(n * c->n + 1, sizeof *v->left), bg_calloc(n * c->n + 1, sizeof *v->right) };
    for (size_t k = 0; k < c->n; k++)
        for (size_t j = 0; j < n; j++) {
            v->left[l->order[j] + n * k] = l->modes.W[c->first + k + l->modes.count * j];
            v->right[l->order[j] + n * k] = l->modes.U[j + n * (c->first + k)];
        }
}

/* Derivative by parameter p of the quantities that ideal switches determine: at fixed states, or with dx. */
static double
held_move(const struct mover *v, size_t j, size_t p, bool total)
{
    const held_space *h = v->held;
    double move = -h->H[j + h->nw * p];

    for (size_t i = 0; i < h->n && total; i++)
        move -= h->G[j + h->nw * i] * v->dx[i + h->n * p];
    return move;
}

/* W dA U of the cluster for all parameters: at[p*m*m ...], total likewise. */
static bool
cluster_matrices(struct mover *v, const cluster *c, double complex *at, double complex *total)
{
    size_t n = v->n, m = c->n, N = n + (v->held ? v->held->nw : 0);
    double complex *by = bg_calloc(v->np + 1, sizeof *by), *state = bg_calloc(N + 1, sizeof *state);
    mode_vectors q = { 0 };
    bool fine = true;

    if (v->held)
        fine = held_vectors(v->l, v->held, c, &q);
    else
        plain_vectors(v->l, c, &q);
    for (size_t i = 0; i < q.m && fine; i++)
        for (size_t k = 0; k < q.m && fine; k++) {
            fine = curvature_gradient(v->c, q.left + N * i, q.right + N * k, state, by);
            for (size_t p = 0; p < v->np && fine; p++) {
                double complex fixed = by[p], moved = by[p];

                for (size_t j = n; j < N; j++)
                    if (state[j] != 0) {
                        fixed += state[j] * held_move(v, j - n, p, false);
                        moved += v->dx ? state[j] * held_move(v, j - n, p, true) : 0;
                    }
                for (size_t j = 0; j < n && v->dx; j++)
                    if (state[j] != 0)
                        moved += state[j] * v->dx[j + n * p];
                at[p * m * m + i + m * k] = fixed;
                total[p * m * m + i + m * k] = moved;
            }
        }
    mode_vectors_free(&q);
    free(by);
    free(state);
    return fine;
}

static void
parameter_effects(linearization *l, const var_id *by, size_t np, const state_space *all, const held_space *held)
{
    size_t n = l->space.n, count = l->modes.count;
    double *x = linearization_states(l);
    struct mover v = { .l = l, .held = held, .n = n, .np = np };
    effect_table *t = &l->effect;
    bool known;

    *t = (effect_table){ np,
                         bg_calloc(np + 1, sizeof *t->parameter),
                         bg_calloc(np + 1, sizeof(double)),
                         bg_calloc(count * np + 1, sizeof *t->at),
                         bg_calloc(count * np + 1, sizeof *t->total),
                         l->equilibrium && !l->sparse && (!held || held->regular),
                         true };
    for (size_t p = 0; p < np; p++) {
        t->parameter[p] = model_variable(l->model, by[p]).name;
        t->value[p] = model_parameter_value(l->model, by[p]);
    }
    for (size_t i = 0; i < count * np; i++)
        t->at[i] = t->total[i] = NAN;
    v.c = (held ? model_curvature_held : model_curvature)(l->model, by, np);
    if (t->has_total)
        v.dx = equilibrium_moves(l, np, all, &t->determined);
    known = model_curvature_at(l->model, v.c, l->time, x);
    for (size_t k = 0; k < l->modes.nclusters && known; k++) {
        const cluster *c = &l->modes.cluster[k];
        size_t m = c->n;
        double complex *at, *total, *move = bg_calloc(m + 1, sizeof *move);

        /* the conjugate of the eigenvalue before it, both being simple */
        if (m == 1 && cimag(c->eigenvalue) < 0 && k > 0 && l->modes.cluster[k - 1].n == 1 &&
            l->modes.cluster[k - 1].eigenvalue == conj(c->eigenvalue)) {
            for (size_t p = 0; p < np; p++) {
                t->at[p * count + c->first] = conj(t->at[p * count + c->first - 1]);
                t->total[p * count + c->first] = conj(t->total[p * count + c->first - 1]);
            }
            free(move);
            continue;
        }
        at = bg_calloc(np * m * m + 1, sizeof *at);
        total = bg_calloc(np * m * m + 1, sizeof *total);
        if (cluster_matrices(&v, c, at, total)) {
            bool root = false, root_total = false;

            for (size_t p = 0; p < np && c->defective; p++) {
                root = root || splits(m, at + p * m * m);
                root_total = root_total || splits(m, total + p * m * m);
            }
            l->holder[k] = root;
            for (size_t p = 0; p < np; p++) {
                moves_of(c, at + p * m * m, root, move);
                memcpy(t->at + p * count + c->first, move, m * sizeof *move);
                moves_of(c, total + p * m * m, root_total, move);
                memcpy(t->total + p * count + c->first, move, m * sizeof *move);
            }
        }
        free(at);
        free(total);
        free(move);
    }
    curvature_free(v.c);
    free(v.dx);
    free(x);
}

/* ---------------------------------------------------------------- elements */

/* Derivative of A by a slope: a sum of up to two products column * row. */
struct rank_one {
    const double *column, *row;
    double factor;
    size_t stride;
};

/* The vectors of a cluster, of A or of a pencil. */
static bool
vectors_of(const linearization *l, const held_space *pencil, const cluster *c, mode_vectors *v)
{
    const modes *q = &l->modes;
    size_t n = q->n;

    if (pencil)
        return held_vectors(l, pencil, c, v);
    *v = (mode_vectors){ n, c->n, bg_calloc(n * c->n + 1, sizeof *v->left), bg_calloc(n * c->n + 1, sizeof *v->right) };
    for (size_t k = 0; k < c->n; k++)
        for (size_t i = 0; i < n; i++) {
            v->left[i + n * k] = q->W[c->first + k + n * i];
            v->right[i + n * k] = q->U[i + n * (c->first + k)];
        }
    return true;
}

/* left M right for each perturbation, with the vectors of a cluster of m: M[j*m*m ...]. */
static void
perturb(const mode_vectors *v, size_t m, const struct rank_one (*what)[2], size_t count, double complex *M)
{
    for (size_t j = 0; j < count; j++)
        for (int part = 0; part < 2; part++) {
            const struct rank_one *r = &what[j][part];

            if (r->factor == 0)
                continue;
            for (size_t a = 0; a < v->m; a++)
                for (size_t b = 0; b < v->m; b++) {
                    double complex left = 0, right = 0;

                    for (size_t i = 0; i < v->n; i++) {
                        left += v->left[i + v->n * a] * r->column[i];
                        right += r->row[i * r->stride] * v->right[i + v->n * b];
                    }
                    M[j * m * m + a + m * b] += r->factor * left * right;
                }
        }
}

/* Derivatives of the eigenvalues of cluster k for a list of perturbations, each a sum of two products: value[eigenvalue
 * + n*j]. */
static void
element_effects(linearization *l, const mode_vectors *v, size_t k, const struct rank_one (*what)[2], size_t count,
                double *value)
{
    const cluster *c = &l->modes.cluster[k];
    size_t m = c->n;
    double complex *M = bg_calloc(count * m * m + 1, sizeof *M), *move = bg_calloc(m + 1, sizeof *move);
    bool root = false;

    perturb(v, m, what, count, M);
    for (size_t j = 0; j < count && c->defective; j++)
        root = root || splits(m, M + j * m * m);
    l->holder[k] = l->holder[k] || root;
    for (size_t j = 0; j < count; j++) {
        moves_of(c, M + j * m * m, root, move);
        for (size_t i = 0; i < m; i++)
            value[c->first + i + l->modes.n * j] = cabs(move[i]);
    }
    free(M);
    free(move);
}

static double *
scaled_columns(const double *E, size_t n, size_t count, const double *factor)
{
    double *out = bg_calloc(n * count + 1, sizeof *out);

    for (size_t j = 0; j < count; j++)
        for (size_t i = 0; i < n; i++)
            out[i + n * j] = E[i + n * j] * fabs(factor[j]);
    return out;
}

/* The perturbations by the laws of storage, of dissipators and of dependent storage. */
struct laws {
    struct rank_one (*storage)[2], (*dissipator)[2], (*dependent)[2];
};

/* E of all elements; pencil: the perturbations refer to it, NULL: to A. NAN: a cluster has no vectors. */
static void
law_effects(linearization *l, const held_space *pencil, const struct laws *w)
{
    const structure *s = &l->structure;
    size_t n = s->n, count[] = { s->nz, s->nl, s->nd };
    const struct rank_one(*const what[])[2] = { w->storage, w->dissipator, w->dependent };
    double *by_storage = bg_calloc(s->nz + 1, sizeof *by_storage), *by_slope = bg_calloc(s->nl + 1, sizeof *by_slope),
           *slope = bg_calloc(s->nz + s->nl + 1, sizeof *slope);
    double *value[3];

    for (int kind = 0; kind < 3; kind++)
        value[kind] = bg_calloc(n * count[kind] + 1, sizeof(double));
    l->E_IC = value[0], l->E_R = value[1], l->E_D = value[2];
    for (size_t k = 0; k < l->modes.nclusters; k++) {
        const cluster *c = &l->modes.cluster[k];
        mode_vectors v = { 0 };
        bool known = vectors_of(l, pencil, c, &v);

        for (int kind = 0; kind < 3; kind++)
            if (known)
                element_effects(l, &v, k, what[kind], count[kind], value[kind]);
            else
                for (size_t i = 0; i < count[kind] * c->n; i++)
                    value[kind][c->first + i % c->n + n * (i / c->n)] = NAN;
        mode_vectors_free(&v);
    }
    for (size_t j = 0; j < s->nz; j++) {
        slope[j] = s->matrix[M_S].value[j + s->nz * s->storage_state[j]];
        by_storage[j] = !strcmp(linear_storage_parameter(l, j), "k") ? 1 : slope[j] * slope[j];
    }
    l->E_IC_physical = scaled_columns(l->E_IC, n, s->nz, by_storage);
    l->E_IC_relative = scaled_columns(l->E_IC, n, s->nz, slope);
    for (size_t j = 0; j < s->nl; j++) {
        slope[j] = s->matrix[M_L].value[j + s->nl * j];
        by_slope[j] = s->flow_in[j] ? 1 : slope[j] * slope[j];
    }
    l->E_R_physical = scaled_columns(l->E_R, n, s->nl, by_slope);
    l->E_R_relative = scaled_columns(l->E_R, n, s->nl, slope);
    free(by_storage);
    free(by_slope);
    free(slope);
}

static struct laws
laws_new(const structure *s)
{
    struct laws w;

    w.storage = bg_calloc(s->nz + 1, sizeof *w.storage);
    w.dissipator = bg_calloc(s->nl + 1, sizeof *w.dissipator);
    w.dependent = bg_calloc(s->nd + 1, sizeof *w.dependent);
    return w;
}

static void
laws_free(struct laws *w)
{
    free(w->storage);
    free(w->dissipator);
    free(w->dependent);
}

static void
structure_effects(linearization *l)
{
    const structure *s = &l->structure;
    size_t n = s->n;
    struct laws w = laws_new(s);
    double *unit_row = dense_identity(n), *HC = bg_calloc(n * s->nz + 1, sizeof *HC),
           *GA = bg_calloc(s->nd * n + 1, sizeof *GA), *CG = bg_calloc(s->nd * s->nz + 1, sizeof *CG);
    double *transposed = dense_transpose(n, n, s->matrix[M_A].value), *inputs = dense_transpose(s->nl, n, s->D_in),
           *rates;

    dense_multiply(s->nd, s->nd, s->nz, 1, s->C_d, s->G_S, 0, CG);
    dense_multiply(n, s->nd, s->nz, 1, s->H, CG, 0, HC);
    dense_multiply(s->nd, n, n, 1, s->G, s->matrix[M_A].value, 0, GA);
    rates = dense_transpose(s->nd, n, GA);
    for (size_t j = 0; j < s->nz; j++) {
        size_t x = s->storage_state[j];

        w.storage[j][0] = (struct rank_one){ s->J + n * j, unit_row + n * x, 1, 1 };
        w.storage[j][1] = (struct rank_one){ HC + n * j, transposed + n * x, s->nd ? 1 : 0, 1 };
    }
    for (size_t j = 0; j < s->nl; j++)
        w.dissipator[j][0] = (struct rank_one){ s->K + n * j, inputs + n * j, 1, 1 };
    for (size_t j = 0; j < s->nd; j++) {
        double C = s->C_d[j + s->nd * j];

        w.dependent[j][0] = (struct rank_one){ s->H + n * j, rates + n * j, C * C, 1 };
    }
    law_effects(l, NULL, &w);
    laws_free(&w);
    free(unit_row);
    free(HC);
    free(GA);
    free(CG);
    free(transposed);
    free(inputs);
    free(rates);
}

/* For ideal switches that constrain states. Nothing is computed where the pencil lacks the eigenvalues of A. */
static void
pencil_effects(linearization *l)
{
    structure s;
    structure_pencil p;
    double *x = linearization_states(l), *one = NULL;
    bool fine;

    fine = structure_pencil_make(l->model, l->time, x, l->order, &s, &p);
    if (fine && p.n + p.nw <= HELD_MOST) {
        size_t N = p.n + p.nw;
        held_space pencil = { .n = p.n, .nw = p.nw, .J = p.K };
        struct laws w = laws_new(&s);

        s.why = l->structure.why;
        l->structure.why = NULL;
        structure_free(&l->structure);
        l->structure = s;
        one = dense_identity(N);
        for (size_t j = 0; j < s.nz; j++)
            w.storage[j][0] = (struct rank_one){ p.of_z + N * j, p.x + N * s.storage_state[j], 1, 1 };
        for (size_t j = 0; j < s.nl; j++)
            w.dissipator[j][0] = (struct rank_one){ one + N * (p.first_given + j), p.in + N * j, 1, 1 };
        for (size_t j = 0; j < s.nd; j++) {
            double C = s.C_d[j + s.nd * j];

            w.dependent[j][0] = (struct rank_one){ one + N * (p.first_law + j), p.depends + N * j, C * C, 1 };
        }
        law_effects(l, &pencil, &w);
        laws_free(&w);
    } else {
        structure_free(&s);
    }
    structure_pencil_free(&p);
    free(one);
    free(x);
}

void
effects_find(linearization *l, const var_id *by, size_t n, const state_space *all, const held_space *held)
{
    l->holder = bg_calloc(l->modes.nclusters + 1, sizeof *l->holder);
    parameter_effects(l, by, n, all, held);
    /* if the structure's A is not the Jacobian, its derivatives would be those of another matrix */
    if (!l->structure.why && !l->as_equations && l->mismatch < ONE_JACOBIAN)
        structure_effects(l);
    else if (l->switched && l->structure.why)
        pencil_effects(l);
}
