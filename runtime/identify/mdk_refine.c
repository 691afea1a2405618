/* mdk_refine.c - minimizes the squared error of the midpoint rule's simulation against the data (see mdk.h)
 *
 * Parameters: the lower triangles of factors of M, D and K (M = L L', so that every step keeps them semidefinite and
 * the rule stable), by columns, then the first two positions. The derivative of M by L's entry (a, b) is e_a l_b' + l_b
 * e_a', where l_b is column b of L.
 */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base.h"
#include "least_squares.h"
#include "mdk_parts.h"

/* A residual, relative to its noise, at which a simulation counts as diverged; its square is still finite. */
static const double FARTHEST = 1e100;

double
mdk_spread(const mdk_data *d, size_t i)
{
    const double *y = d->y + i * d->samples;
    size_t count = d->samples - 2;
    double mean = 0, sum = 0;

    for (size_t k = 2; k < d->samples; k++)
        mean += y[k] / (double)count;
    for (size_t k = 2; k < d->samples; k++)
        sum += (y[k] - mean) * (y[k] - mean);
    return sqrt(sum / (double)count);
}

struct simulation {
    const mdk_data *d;
    const double *fd;
    size_t n, triangle; /* number of entries of one factor */
    size_t parameters;  /* of all, or 2n where only the first two positions are free */
    double *weight;     /* [n] 1/std */
    double *L[3]; /* factors of M, D, K, [n][n] with zeros above the diagonal; NULL where only positions are free */
    double *matrix[3];
    double *inverse, *Dd, *Kd; /* of Md */
    double *q[3];              /* positions at the present step, one and two steps before */
    double *S[3];              /* [parameters][n] their derivatives */
    double *right;             /* [parameters][n] */
    double *row;
};

static void
open_simulation(struct simulation *s, const mdk_data *d, const double *fd, bool factors)
{
    size_t n = d->n;

    memset(s, 0, sizeof *s);
    s->d = d;
    s->fd = fd;
    s->n = n;
    s->triangle = n * (n + 1) / 2;
    s->parameters = 2 * n + (factors ? 3 * s->triangle : 0);
    s->weight = bg_malloc(n * sizeof(double));
    for (size_t i = 0; i < n; i++)
        s->weight[i] = 1 / mdk_spread(d, i);
    for (int k = 0; k < 3; k++) {
        s->L[k] = factors ? bg_calloc(n * n, sizeof(double)) : NULL;
        s->matrix[k] = bg_calloc(n * n, sizeof(double));
        s->q[k] = bg_calloc(n, sizeof(double));
        s->S[k] = bg_calloc(s->parameters * n, sizeof(double));
    }
    s->inverse = bg_calloc(n * n, sizeof(double));
    s->Dd = bg_calloc(n * n, sizeof(double));
    s->Kd = bg_calloc(n * n, sizeof(double));
    s->right = bg_calloc(s->parameters * n, sizeof(double));
    s->row = bg_calloc(s->parameters, sizeof(double));
}

static void
close_simulation(struct simulation *s)
{
    for (int k = 0; k < 3; k++) {
        free(s->L[k]);
        free(s->matrix[k]);
        free(s->q[k]);
        free(s->S[k]);
    }
    free(s->weight);
    free(s->inverse);
    free(s->Dd);
    free(s->Kd);
    free(s->right);
    free(s->row);
}

/* Md^-1, Dd and Kd of the matrices. */
static bool
discretise(struct simulation *s)
{
    size_t n = s->n;
    lapack_int *pivot = bg_malloc(n * sizeof *pivot);
    bool fine;

    midpoint_discrete(n * n, s->d->step, s->matrix[0], s->matrix[1], s->matrix[2], s->inverse, s->Dd, s->Kd);
    fine = LAPACKE_dgetrf(LAPACK_COL_MAJOR, (lapack_int)n, (lapack_int)n, s->inverse, (lapack_int)n, pivot) == 0 &&
           LAPACKE_dgetri(LAPACK_COL_MAJOR, (lapack_int)n, s->inverse, (lapack_int)n, pivot) == 0;
    free(pivot);
    return fine;
}

/* Adds the factors' derivatives to the right side: minus dM w_M + dD w_D + dK w_K. */
static void
add_factor_derivatives(struct simulation *s)
{
    size_t n = s->n, at = 0;
    double h = s->d->step, *w = s->row; /* borrowed: [n] */

    for (int k = 0; k < 3 && s->L[0]; k++) {
        for (size_t i = 0; i < n; i++) {
            double now = s->q[0][i], before = s->q[1][i], first = s->q[2][i];

            w[i] = k == 0   ? (now - 2 * before + first) / h
                   : k == 1 ? (now - first) / 2
                            : h * (now + 2 * before + first) / 4;
        }
        for (size_t b = 0; b < n; b++) {
            const double *l = s->L[k] + b * n;
            double along = cblas_ddot((int)(n - b), l + b, 1, w + b, 1);

            for (size_t a = b; a < n; a++, at++) {
                double *column = s->right + at * n;

                column[a] -= along;
                for (size_t i = b; i < n; i++)
                    column[i] -= l[i] * w[a];
            }
        }
    }
}

/* One step; the oldest position is overwritten by the new one. */
static void
advance_rule(struct simulation *s, size_t k)
{
    size_t n = s->n;
    int in = (int)n, ip = (int)s->parameters;
    double *q = s->q[2], *S = s->S[2], *f = s->row;

    memset(f, 0, n * sizeof *f);
    for (size_t c = 0; c < s->d->m; c++)
        f[s->d->at[c]] += s->fd[c * (s->d->samples - 2) + k];
    cblas_dgemv(CblasColMajor, CblasNoTrans, in, in, -1, s->Dd, in, s->q[0], 1, 1, f, 1);
    cblas_dgemv(CblasColMajor, CblasNoTrans, in, in, -1, s->Kd, in, s->q[1], 1, 1, f, 1);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, in, ip, in, -1, s->Dd, in, s->S[0], in, 0, s->right, in);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, in, ip, in, -1, s->Kd, in, s->S[1], in, 1, s->right, in);
    cblas_dgemv(CblasColMajor, CblasNoTrans, in, in, 1, s->inverse, in, f, 1, 0, q, 1);
    s->q[2] = s->q[1];
    s->q[1] = s->q[0];
    s->q[0] = q;
    s->S[2] = s->S[1];
    s->S[1] = s->S[0];
    s->S[0] = S;
    add_factor_derivatives(s);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, in, ip, in, 1, s->inverse, in, s->right, in, 0, S, in);
}

static bool
add_error_rows(struct simulation *s, size_t k, ls_rows *rows)
{
    for (size_t i = 0; i < s->n; i++) {
        double r = (s->q[0][i] - s->d->y[i * s->d->samples + k + 2]) * s->weight[i];

        if (!(fabs(r) < FARTHEST))
            return false;
        for (size_t c = 0; c < s->parameters; c++)
            s->row[c] = s->S[0][c * s->n + i] * s->weight[i];
        ls_rows_add(rows, s->row, r);
    }
    return true;
}

/* Simulates from the two positions; adds rows of the error and its derivatives. False where it diverges. */
static bool
run_rule(struct simulation *s, const double *position, ls_rows *rows)
{
    size_t n = s->n, first = s->parameters - 2 * n;

    if (!discretise(s))
        return false;
    for (size_t k = 0; k < s->d->samples - 2; k++) {
        if (k < 2) {
            double *q = s->q[2], *S = s->S[2];

            s->q[2] = s->q[1], s->q[1] = s->q[0], s->q[0] = q;
            s->S[2] = s->S[1], s->S[1] = s->S[0], s->S[0] = S;
            memcpy(q, position + k * n, n * sizeof *q);
            memset(S, 0, s->parameters * n * sizeof *S);
            for (size_t i = 0; i < n; i++)
                S[(first + k * n + i) * n + i] = 1;
        } else {
            advance_rule(s, k);
        }
        if (!add_error_rows(s, k, rows))
            return false;
    }
    return true;
}

static bool
evaluate_refined(void *ctx, const double *theta, ls_rows *rows)
{
    struct simulation *s = ctx;
    size_t n = s->n, at = 0;
    int in = (int)n;

    for (int k = 0; k < 3; k++) {
        for (size_t b = 0; b < n; b++)
            for (size_t a = b; a < n; a++)
                s->L[k][b * n + a] = theta[at++];
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, in, in, in, 1, s->L[k], in, s->L[k], in, 0, s->matrix[k],
                    in);
    }
    return run_rule(s, theta + at, rows);
}

static void
first_positions(const mdk_data *d, double *position)
{
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < d->n; i++)
            position[k * d->n + i] = d->y[i * d->samples + 2 + k];
}

void
mdk_cost(const mdk_data *d, const double *fd, mdk_result *r)
{
    struct simulation s;
    ls_rows rows;
    double *position = bg_calloc(2 * d->n, sizeof *position), *z = bg_calloc(2 * d->n, sizeof *z), total;
    const double *matrix[3] = { r->M, r->D, r->K };
    bool fine;

    open_simulation(&s, d, fd, false);
    ls_rows_open(&rows, s.parameters);
    for (int k = 0; k < 3; k++)
        memcpy(s.matrix[k], matrix[k], d->n * d->n * sizeof(double));
    first_positions(d, position);
    r->evaluations++;
    fine = run_rule(&s, position, &rows);
    if (fine) {
        /* linear in the positions: the residual at their optimum is the part outside the triangle */
        total = ls_rows_triangle(&rows, NULL, z);
        for (size_t i = 0; i < s.parameters; i++)
            total -= z[i] * z[i];
        r->cost = fmax(total, 0) / (double)rows.count;
    } else {
        r->cost = NAN;
    }
    ls_rows_free(&rows);
    close_simulation(&s);
    free(position);
    free(z);
}

bool
mdk_refine(const mdk_data *d, const double *fd, mdk_result *r, char **why)
{
    struct simulation s;
    ls_problem p = { .evaluate = evaluate_refined, .most_steps = 100 };
    ls_result found;
    size_t n = d->n, at = 0;
    double *matrix[3] = { r->M, r->D, r->K }, *theta, *copy = bg_malloc(n * n * sizeof *copy);
    bool fine = true;

    open_simulation(&s, d, fd, true);
    theta = bg_calloc(s.parameters, sizeof *theta);
    for (int k = 0; k < 3; k++) {
        memcpy(copy, matrix[k], n * n * sizeof *copy);
        fine &= LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', (lapack_int)n, copy, (lapack_int)n) == 0;
        for (size_t b = 0; b < n; b++)
            for (size_t a = b; a < n; a++)
                theta[at++] = copy[b * n + a];
    }
    if (!fine) {
        *why = bg_format("the start is not definite");
    } else {
        first_positions(d, theta + at);
        p.n = s.parameters;
        p.ctx = &s;
        least_squares(&p, theta, &found);
        r->evaluations += found.evaluations;
        r->steps = found.steps;
        r->cost = found.rows ? found.cost / (double)found.rows : NAN;
        fine = found.end == LS_CONVERGED;
        if (found.end == LS_NO_START)
            *why = bg_format("the simulation with the first estimates diverges");
        else if (!fine)
            *why = bg_format("the refinement did not converge in %zu steps", found.steps);
        free(found.triangle);
    }
    for (int k = 0, from = 0; k < 3 && fine; k++) {
        memset(copy, 0, n * n * sizeof *copy);
        for (size_t b = 0; b < n; b++)
            for (size_t a = b; a < n; a++)
                copy[b * n + a] = theta[from++];
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)n, (int)n, (int)n, 1, copy, (int)n, copy, (int)n, 0,
                    matrix[k], (int)n);
    }
    close_simulation(&s);
    free(theta);
    free(copy);
    return fine;
}
