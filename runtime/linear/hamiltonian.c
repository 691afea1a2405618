/* hamiltonian.c - see hamiltonian.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dense.h"
#include "hamiltonian.h"
#include "model_graph.h"

#define ROUNDING 1e-10
#define CANCELS 1e-13 /* relative to the terms of a sum: the sum counts as zero */

double *
hamiltonian_energy(const linearization *l)
{
    const structure *s = &l->structure;
    const model_graph *g = model_graph_of(l->model);
    size_t n = s->n;
    double *Q = bg_calloc(n * n + 1, sizeof *Q);

    for (size_t j = 0; j < s->nz; j++)
        for (size_t k = 0; k < n; k++)
            Q[s->storage_state[j] + n * k] += g->port[s->storage[j]].sign * s->matrix[M_S].value[j + s->nz * k];
    for (size_t d = 0; d < s->nd; d++)
        for (size_t a = 0; a < s->nd; a++)
            for (size_t i = 0; i < n && s->C_d[d + s->nd * a] != 0; i++)
                for (size_t k = 0; k < n; k++)
                    Q[i + n * k] += g->port[s->dependent[d]].sign * s->G[d + s->nd * i] * s->C_d[d + s->nd * a] *
                                    s->G[a + s->nd * k];
    return Q;
}

/* The smallest eigenvalue relative to the greatest, after scaling the diagonal to 1 where it is positive: small values
 * of one domain are not lost beside large ones of another. */
static double
least_eigenvalue(size_t n, const double *A)
{
    double *copy = bg_malloc((n * n + 1) * sizeof *copy), *value = bg_calloc(n + 1, sizeof *value), most = 0,
           result = NAN;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            double row = A[i * (n + 1)] > 0 ? sqrt(A[i * (n + 1)]) : 1,
                   column = A[k * (n + 1)] > 0 ? sqrt(A[k * (n + 1)]) : 1;

            copy[i + n * k] = A[i + n * k] / row / column;
        }
    if (dense_symmetric(n, copy, false, value) && n) {
        most = fmax(fabs(value[0]), fabs(value[n - 1]));
        result = most > 0 ? value[0] / most : 0;
    }
    free(copy);
    free(value);
    return result;
}

/* Makes A symmetric if it is, up to rounding; false if it is not. */
static bool
symmetrize(size_t n, double *A)
{
    double most = dense_norm(n * n, A), worst = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) {
            worst = fmax(worst, fabs(A[i + n * k] - A[k + n * i]));
            A[i + n * k] = A[k + n * i] = (A[i + n * k] + A[k + n * i]) / 2;
        }
    return worst <= ROUNDING * most;
}

void
hamiltonian_make(const linearization *l, hamiltonian *h)
{
    const structure *s = &l->structure;
    size_t n = s->n, m = 0;
    double *whole, *M, *QT;
    bool *in = bg_calloc(n + 1, sizeof *in);

    *h = (hamiltonian){ .state = bg_calloc(n + 1, sizeof *h->state), .least_R = NAN, .least_Q = NAN };
    if (s->why) {
        h->why = bg_strdup(s->why);
        free(in);
        return;
    }
    whole = hamiltonian_energy(l);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            in[i] = in[i] || whole[i + n * k] != 0;
    for (size_t i = 0; i < n; i++)
        if (in[i])
            h->state[m++] = i;
    h->n = m;
    if (!m)
        h->why = bg_strdup("nothing in it stores energy");
    h->J = bg_calloc(m * m + 1, sizeof(double));
    h->R = bg_calloc(m * m + 1, sizeof(double));
    h->Q = bg_calloc(m * m + 1, sizeof(double));
    h->B = bg_calloc(m * l->space.nu + 1, sizeof(double));
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < l->space.nu; k++)
            h->B[i + m * k] = l->space.B[h->state[i] + n * k];
    M = bg_calloc(m * m + 1, sizeof *M);
    for (size_t i = 0; i < m; i++) {
        for (size_t k = 0; k < n; k++)
            if (!in[k] && l->space.A[h->state[i] + n * k] != 0 && !h->why)
                h->why = bg_format("\"%s\", which stores no energy, acts on \"%s\"", linear_state_name(l, k),
                                   linear_state_name(l, h->state[i]));
        for (size_t k = 0; k < m; k++)
            h->Q[i + m * k] = whole[h->state[i] + n * h->state[k]];
    }
    if (!h->why && !symmetrize(m, h->Q))
        h->why = bg_strdup("the slopes of storage are no second derivatives of an energy");
    /* (J - R)^T = Q^-T A^T */
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < m; k++)
            M[i + m * k] = l->space.A[h->state[k] + n * h->state[i]];
    QT = dense_transpose(m, m, h->Q);
    if (!h->why && !dense_solve(m, QT, m, M))
        h->why = bg_strdup("a store has no slope: the energy does not depend on its state");
    if (!h->why) {
        for (size_t i = 0; i < m; i++)
            for (size_t k = 0; k < m; k++) {
                double there = M[k + m * i], back = M[i + m * k], size = CANCELS * (fabs(there) + fabs(back));

                h->J[i + m * k] = fabs(there - back) > size ? (there - back) / 2 : 0;
                h->R[i + m * k] = fabs(there + back) > size ? -(there + back) / 2 : 0;
            }
        h->least_Q = least_eigenvalue(m, h->Q);
        h->least_R = least_eigenvalue(m, h->R);
        h->passive = h->least_Q > 0 && h->least_R >= -ROUNDING;
    }
    free(whole);
    free(M);
    free(QT);
    free(in);
}

void
hamiltonian_free(hamiltonian *h)
{
    free(h->state);
    free(h->J);
    free(h->R);
    free(h->Q);
    free(h->B);
    free(h->why);
    *h = (hamiltonian){ 0 };
}
