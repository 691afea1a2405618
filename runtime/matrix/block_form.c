/* block_form.c - see block_form.h */
#include "block_form.h"

#include <btf.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base.h"
#include "dense.h"

enum { EXPONENT_MOST = 250 }; /* of a factor between blocks: products of entries and scales stay finite */

/* Finds blocks and places; within a block the states keep their order. */
static void
find_blocks(size_t n, const double *A, block_form *f)
{
    size_t nonzeros = 0;
    int *column = bg_calloc(n + 1, sizeof *column), *row, *place = bg_calloc(n + 1, sizeof *place),
        *first = bg_calloc(n + 2, sizeof *first), *work = bg_calloc(4 * n + 1, sizeof *work);
    size_t *block = bg_calloc(n + 1, sizeof *block), *next = bg_calloc(n + 1, sizeof *next);

    for (size_t i = 0; i < n * n; i++)
        nonzeros += A[i] != 0;
    row = bg_calloc(nonzeros + 1, sizeof *row);
    nonzeros = 0;
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < n; i++)
            if (A[i + n * k] != 0)
                row[nonzeros++] = (int)i;
        column[k + 1] = (int)nonzeros;
    }
    f->nblocks = n ? (size_t)btf_strongcomp((int)n, column, row, NULL, place, first, work) : 0;
    for (size_t b = 0; b < f->nblocks; b++) {
        next[b] = f->first[b] = (size_t)first[b];
        for (int i = first[b]; i < first[b + 1]; i++)
            block[place[i]] = b;
    }
    f->first[f->nblocks] = n;
    for (size_t i = 0; i < n; i++) {
        f->block_of[next[block[i]]] = block[i];
        f->order[next[block[i]]++] = i;
    }
    free(column);
    free(row);
    free(place);
    free(first);
    free(work);
    free(block);
    free(next);
}

/* Balances the diagonal blocks by their entries off the diagonal, which alone depend on the scales. */
static void
balance_blocks(const double *A, block_form *f)
{
    for (size_t b = 0; b < f->nblocks; b++) {
        size_t at = f->first[b], m = f->first[b + 1] - at;
        double *block = bg_calloc(m * m + 1, sizeof *block), *scale = bg_calloc(m + 1, sizeof *scale);
        lapack_int low, high;

        for (size_t i = 0; i < m; i++)
            for (size_t k = 0; k < m; k++)
                if (i != k)
                    block[i + m * k] = A[f->order[at + i] + f->n * f->order[at + k]];
        LAPACKE_dgebal(LAPACK_COL_MAJOR, 'S', (lapack_int)m, block, (lapack_int)m, &low, &high, scale);
        for (size_t i = 0; i < m; i++)
            f->scale[f->order[at + i]] = scale[i];
        free(block);
        free(scale);
    }
}

/* M, sizes and greatest entries from the scales. */
static void
scale_matrix(const double *A, block_form *f)
{
    size_t n = f->n;

    memset(f->greatest, 0, f->nblocks * f->nblocks * sizeof *f->greatest);
    memset(f->size, 0, f->nblocks * sizeof *f->size);
    for (size_t k = 0; k < n; k++) {
        size_t c = f->block_of[k];
        double sum = 0;

        for (size_t i = 0; i < n; i++) {
            size_t to = f->order[i], from = f->order[k];
            double x = A[to + n * from], *greatest = &f->greatest[f->block_of[i] + f->nblocks * c];

            f->M[i + n * k] = x == 0 ? 0 : x * (f->scale[from] / f->scale[to]);
            *greatest = fmax(*greatest, fabs(f->M[i + n * k]));
            sum += f->block_of[i] == c ? fabs(f->M[i + n * k]) : 0;
        }
        f->size[c] = fmax(f->size[c], sum);
    }
}

/* Exponent of what block `from` moves in block `to`, both having exponents so far, over the greater of their rates. */
static int
reach_of_block(const block_form *f, const int *exponent, size_t to, size_t from)
{
    double rate = fmax(f->size[to], f->size[from]);
    int e = (int)ceil(log2(f->greatest[to + f->nblocks * from]) - (rate > 0 ? log2(rate) : 0));

    return exponent[from] - exponent[to] + e;
}

static int
within(int exponent)
{
    return exponent > EXPONENT_MOST ? EXPONENT_MOST : exponent < -EXPONENT_MOST ? -EXPONENT_MOST : exponent;
}

/* The factors between blocks: a driven one is as large as its greatest drive makes it; one that nothing drives is as
 * large as the least of what it drives allows. */
static void
scale_between(block_form *f)
{
    size_t n = f->nblocks;
    int *exponent = bg_calloc(n + 1, sizeof *exponent);
    bool *driven = bg_calloc(n + 1, sizeof *driven);

    for (size_t c = n; c-- > 0;) {
        int most = 0;

        for (size_t b = c + 1; b < n; b++)
            if (f->greatest[c + n * b] != 0) {
                int e = reach_of_block(f, exponent, c, b);

                most = !driven[c] || e > most ? e : most;
                driven[c] = true;
            }
        exponent[c] = within(most);
    }
    for (size_t b = 0; b < n; b++) {
        int least = 0;
        bool any = false;

        for (size_t c = 0; c < b && !driven[b]; c++)
            if (f->greatest[c + n * b] != 0) {
                int e = -reach_of_block(f, exponent, c, b);

                least = !any || e < least ? e : least;
                any = true;
            }
        exponent[b] = within(exponent[b] + least);
    }
    for (size_t i = 0; i < f->n; i++)
        f->scale[f->order[i]] = ldexp(f->scale[f->order[i]], exponent[f->block_of[i]]);
    free(exponent);
    free(driven);
}

void
block_form_make(size_t n, const double *A, block_form *f)
{
    *f = (block_form){ .n = n,
                       .order = bg_calloc(n + 1, sizeof *f->order),
                       .block_of = bg_calloc(n + 1, sizeof *f->block_of),
                       .first = bg_calloc(n + 1, sizeof *f->first),
                       .scale = bg_calloc(n + 1, sizeof *f->scale),
                       .M = bg_calloc(n * n + 1, sizeof *f->M) };
    find_blocks(n, A, f);
    f->size = bg_calloc(f->nblocks + 1, sizeof *f->size);
    f->greatest = bg_calloc(f->nblocks * f->nblocks + 1, sizeof *f->greatest);
    balance_blocks(A, f);
    scale_matrix(A, f);
    if (f->nblocks > 1) {
        scale_between(f);
        scale_matrix(A, f);
    }
}

void
block_form_free(block_form *f)
{
    void *const all[] = { f->order, f->block_of, f->first, f->scale, f->size, f->greatest, f->M };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    *f = (block_form){ 0 };
}

bool
block_form_schur(const block_form *f, double *T, double *V, double *W)
{
    lapack_int n = (lapack_int)f->n;
    double *Q = bg_malloc((f->n * f->n + 1) * sizeof *Q), *tau = bg_calloc(f->n + 1, sizeof *tau),
           *re = bg_calloc(f->n + 1, sizeof *re), *im = bg_calloc(f->n + 1, sizeof *im);
    bool fine = true;

    memcpy(T, f->M, f->n * f->n * sizeof *T);
    if (n) {
        fine = LAPACKE_dgehrd(LAPACK_COL_MAJOR, n, 1, n, T, n, tau) == 0;
        memcpy(Q, T, f->n * f->n * sizeof *Q);
        fine = fine && LAPACKE_dorghr(LAPACK_COL_MAJOR, n, 1, n, Q, n, tau) == 0 &&
               LAPACKE_dhseqr(LAPACK_COL_MAJOR, 'S', 'V', n, 1, n, T, n, re, im, Q, n) == 0;
    }
    for (size_t i = 0; i < f->n; i++)
        for (size_t k = 0; k < f->n; k++) {
            size_t state = f->order[i];

            V[state + f->n * k] = Q[i + f->n * k] * f->scale[state];
            W[k + f->n * state] = Q[i + f->n * k] / f->scale[state];
        }
    free(Q);
    free(tau);
    free(re);
    free(im);
    return fine;
}
