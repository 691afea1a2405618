/* wholes.c - see wholes.h */
#include "wholes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "dense.h"
#include "joined.h"
#include "compiled.h"

#define NO_ENTRY 1e-12  /* relative to the greatest entry of its row and column: two coefficients are not coupled */
#define SAME_ENTRY 1e-9 /* relative: a matrix counts as symmetric */

/* The stored quantities by the outputs: [nz] square, the inverse of S. NULL: it is singular. */
static double *
stored_by_given(const structure *s)
{
    size_t nz = s->nz;
    double *S = bg_calloc(nz * nz + 1, sizeof *S), *X = dense_identity(nz);
    bool fine;

    for (size_t i = 0; i < nz; i++)
        for (size_t k = 0; k < nz; k++)
            S[i + nz * k] = s->matrix[M_S].value[i + nz * s->storage_state[k]];
    fine = dense_solve(nz, S, nz, X);
    free(S);
    if (!fine) {
        free(X);
        return NULL;
    }
    return X;
}

/* X plus the part of dependent storage: G^T C_d G. */
static double *
moved_together(const structure *s, const double *X)
{
    size_t nz = s->nz, nd = s->nd;
    double *M = bg_calloc(nz * nz + 1, sizeof *M), *CG = bg_calloc(nd * nz + 1, sizeof *CG),
           *G = dense_transpose(nd, nz, s->G_S);

    memcpy(M, X, nz * nz * sizeof *M);
    dense_multiply(nd, nd, nz, 1, s->C_d, s->G_S, 0, CG);
    dense_multiply(nz, nd, nz, 1, G, CG, 1, M);
    free(CG);
    free(G);
    return M;
}

/* ---------------------------------------------------------------- J before rates were eliminated */

/* The rows of storage give dx/dt with dependent storage already solved for; the input is M S dx/dt. */
static void
undo_rates(const structure *s, const double *M, network *k)
{
    size_t nz = s->nz, n = k->n;
    double *S = bg_calloc(nz * nz + 1, sizeof *S), *MS = bg_calloc(nz * nz + 1, sizeof *MS),
           *row = bg_calloc(nz + 1, sizeof *row), *to = bg_calloc(nz + 1, sizeof *to);

    for (size_t i = 0; i < nz; i++)
        for (size_t j = 0; j < nz; j++)
            S[i + nz * j] = s->matrix[M_S].value[i + nz * s->storage_state[j]];
    dense_multiply(nz, nz, nz, 1, M, S, 0, MS);
    for (size_t c = 0; c < n + k->nu; c++) {
        double *acts = c < n ? k->J + n * c : k->B + n * (c - n);

        memcpy(row, acts, nz * sizeof *row);
        dense_multiply(nz, nz, 1, 1, MS, row, 0, to);
        memcpy(acts, to, nz * sizeof *row);
    }
    free(S);
    free(MS);
    free(row);
    free(to);
}

/* ---------------------------------------------------------------- wholes one by one */

/* The parts at[0..n) of the network that M (size square) couples. */
struct whole {
    size_t n, *at;
    double *M; /* [n] square */
};

static bool
whole_is_symmetric(const struct whole *h)
{
    double size = 0, off = 0;

    for (size_t i = 0; i < h->n; i++)
        for (size_t k = 0; k < h->n; k++) {
            size = fmax(size, fabs(h->M[i + h->n * k]));
            off = fmax(off, fabs(h->M[i + h->n * k] - h->M[k + h->n * i]));
        }
    return off <= SAME_ENTRY * size;
}

/* Transforms the columns of the whole in A (rows by k->n) by its eigenvectors Q. */
static void
turn_columns(const struct whole *h, const double *Q, double *A, size_t rows)
{
    double *old = bg_calloc(rows * h->n + 1, sizeof *old);

    for (size_t a = 0; a < h->n; a++)
        memcpy(old + rows * a, A + rows * h->at[a], rows * sizeof *old);
    for (size_t b = 0; b < h->n; b++)
        for (size_t i = 0; i < rows; i++) {
            double sum = 0;

            for (size_t a = 0; a < h->n; a++)
                sum += old[i + rows * a] * Q[a + h->n * b];
            A[i + rows * h->at[b]] = sum;
        }
    free(old);
}

static void
turn_rows(const struct whole *h, const double *Q, double *A, size_t rows, size_t count)
{
    double *old = bg_calloc(h->n + 1, sizeof *old);

    for (size_t c = 0; c < count; c++) {
        for (size_t a = 0; a < h->n; a++)
            old[a] = A[h->at[a] + rows * c];
        for (size_t b = 0; b < h->n; b++) {
            double sum = 0;

            for (size_t a = 0; a < h->n; a++)
                sum += old[a] * Q[a + h->n * b];
            A[h->at[b] + rows * c] = sum;
        }
    }
    free(old);
}

/* Replaces its parts by those of the eigenvectors of M. */
static bool
turn_whole(struct whole *h, network *k)
{
    double *c = bg_calloc(h->n + 1, sizeof *c);
    bool fine;

    for (size_t i = 0; i < h->n; i++)
        for (size_t j = 0; j < i; j++) { /* skew part */
            double skew = (h->M[i + h->n * j] - h->M[j + h->n * i]) / 2;

            k->J[h->at[i] + k->n * h->at[j]] -= skew;
            k->J[h->at[j] + k->n * h->at[i]] += skew;
            h->M[i + h->n * j] -= skew;
            h->M[j + h->n * i] += skew;
        }
    fine = dense_symmetric(h->n, h->M, true, c);
    if (fine) {
        turn_columns(h, h->M, k->J, k->n);
        turn_rows(h, h->M, k->J, k->n, k->n);
        turn_rows(h, h->M, k->B, k->n, k->nu);
        turn_columns(h, h->M, k->C, k->ny);
    }
    for (size_t a = 0; a < h->n; a++) {
        network_part *q = &k->part[h->at[a]];

        q->coefficient = c[a];
        q->locked = q->whole = true;
        for (size_t y = 0; y < k->ny; y++)
            k->F[y + k->ny * h->at[a]] = 0;
    }
    free(c);
    return fine;
}

/* An output that reads what a part of the whole stores depends on the outputs of all its parts. X: stored quantities by
 * outputs, nz square. */
static void
read_given(const struct whole *h, const double *X, size_t nz, network *k)
{
    for (size_t a = 0; a < h->n; a++)
        for (size_t y = 0; y < k->ny; y++)
            for (size_t b = 0; b < h->n; b++)
                k->C[y + k->ny * h->at[b]] += k->F[y + k->ny * h->at[a]] * X[h->at[a] + nz * h->at[b]];
}

/* Makes the wholes of the coefficients M (n square) of parts first .. first+n. X: NULL for dissipators. */
static bool
make_wholes(bg_model *m, const double *M, size_t first, size_t n, const double *X, network *k, char **why)
{
    uint32_t *parent = joined_new(n);
    bool fine = true;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (i != j && fabs(M[i + n * j]) > NO_ENTRY * sqrt(fabs(M[i + n * i] * M[j + n * j])))
                joined_join(parent, i, j);
    for (size_t i = 0; i < n && fine; i++) {
        struct whole h = { 0, bg_calloc(n + 1, sizeof *h.at), NULL };
        bool is_one;

        if (joined_first(parent, (uint32_t)i) == i) /* once for each whole, at its first member */
            for (size_t j = 0; j < n; j++)
                if (joined_first(parent, (uint32_t)j) == i)
                    h.at[h.n++] = first + j;
        h.M = bg_calloc(h.n * h.n + 1, sizeof *h.M);
        for (size_t a = 0; a < h.n; a++)
            for (size_t b = 0; b < h.n; b++)
                h.M[a + h.n * b] = M[h.at[a] - first + n * (h.at[b] - first)];
        /* a single element can have dependent storage too */
        is_one = h.n > 1 || (h.n == 1 && X && h.M[0] != X[i + n * i]);
        if (is_one && X && !whole_is_symmetric(&h)) {
            *why = bg_format("what %s stores with others is not symmetric: it has no energy",
                             port_name(model_flat(m), k->part[h.at[0]].port));
            fine = false;
        }
        if (is_one && X && fine)
            read_given(&h, X, n, k);
        if (is_one && fine && !turn_whole(&h, k)) {
            *why = bg_strdup("the eigenvalues of a field's coefficients do not converge");
            fine = false;
        }
        free(h.at);
        free(h.M);
    }
    free(parent);
    return fine;
}

/* The inputs of dissipators by their outputs, where some belong to fields; NULL: all are single. */
static double *
resistances(const structure *s, bool *fine)
{
    size_t nl = s->nl;
    double *L = bg_calloc(nl * nl + 1, sizeof *L), *R = NULL;
    bool joined = false;

    *fine = true;
    memcpy(L, s->matrix[M_L].value, nl * nl * sizeof *L);
    for (size_t i = 0; i < nl; i++) {
        bool other = false;

        for (size_t j = 0; j < nl; j++)
            other = other || (i != j && (L[i + nl * j] != 0 || L[j + nl * i] != 0));
        joined = joined || other;
        if (!other && L[i + nl * i] == 0)
            L[i + nl * i] = 1; /* a single one that gives nothing keeps its infinite coefficient */
    }
    if (joined) {
        R = dense_identity(nl);
        *fine = dense_solve(nl, L, nl, R);
    }
    free(L);
    return R;
}

bool
network_wholes(bg_model *m, const structure *s, network *k, char **why)
{
    double *X = stored_by_given(s), *M = X ? moved_together(s, X) : NULL, *R;
    bool regular, fine = X != NULL;

    R = resistances(s, &regular);
    if (!fine || !regular)
        *why = bg_strdup("the slopes of a field are singular: what it stores or gets does not follow from what it "
                         "gives");
    fine = fine && regular;
    if (fine && s->nd)
        undo_rates(s, M, k);
    fine = fine && make_wholes(m, M, 0, s->nz, X, k, why) && (!R || make_wholes(m, R, s->nz, s->nl, NULL, k, why));
    free(X);
    free(M);
    free(R);
    return fine;
}
