/* block_form.h - a square matrix in blocks that act on each other one way only, its states scaled
 *
 * States whose rates depend on each other, directly or around, make a block. The blocks are ordered so that each is
 * driven by later ones only: the matrix is upper block triangular and its eigenvalues are those of the diagonal blocks,
 * however large the coefficients between blocks are. LAPACK's Hessenberg and Schur forms keep these zeros exactly.
 *
 * scale    A state is scale * its number in M, a power of 2: within a block as balancing chooses it, between blocks so
 *          that what drives a block is no larger than the rates of the two. Units of states do not matter then.
 * source   Parlett & Reinsch (1969), Numer. Math. 13:293; Duff & Reid (1978), ACM TOMS 4(2):137
 */
#ifndef BG_BLOCK_FORM_H
#define BG_BLOCK_FORM_H

#include <stdbool.h>
#include <stddef.h>

typedef struct block_form {
    size_t n, nblocks;
    size_t *order;    /* [n] the state at each place of M */
    size_t *block_of; /* [n] the block of each place */
    size_t *first;    /* [nblocks + 1] the first place of each block */
    double *scale;    /* [n] of each state */
    double *size;     /* [nblocks] norm of the diagonal block: rounding of its eigenvalues is relative to it */
    double *greatest; /* [nblocks * nblocks] magnitude of the greatest entry of M in a block's rows and columns */
    double *M;        /* [n * n] by columns and places */
} block_form;

/* A: finite. Call block_form_free. */
void block_form_make(size_t n, const double *A, block_form *f);
void block_form_free(block_form *f);
/* The real Schur form: A = V T W with V W = I (n by n each, by columns), the places of M on the diagonal of T being
 * those of its blocks. False: no convergence. */
bool block_form_schur(const block_form *f, double *T, double *V, double *W);

#endif
