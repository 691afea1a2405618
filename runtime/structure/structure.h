/* structure.h - the structured form of a model at a point, from its bond graph
 *
 * With z the outputs of independent storage (z = S x), d_out = L d_in the outputs of dissipators, u those of sources:
 *     dx/dt = J_SS z + J_SL d_out + J_SU u + J_SX x
 *     d_in  = J_LS z + J_LL d_out + J_LU u + J_LX x
 *     d_out = L d_in + L_X x
 *     A = J_SX + (J_SS + J_SL L (I - J_LL L)^-1 J_LS) S + ...,   B = J_SU + J_SL L (I - J_LL L)^-1 J_LU
 * (Rosenberg 1971; Orbak, Eskinat, Turkay 2004, eqs. 1-6.) The J come from junctions and two-ports alone. Signals
 * (moduli, sources and laws that read states) contribute J_SX, J_LX and L_X, which are zero where there are none. Laws
 * enter with their slopes at the point.
 *
 * Dependent storage is eliminated: with x_d = C_d z_d, z_d = G x it adds C_d G dx/dt where its rate enters, and the J
 * here include it, so that the equations above hold as written. This is exact at a point where all coefficients are
 * constant. At a point that moves, where a modulus or slope of dependent storage varies, the rates of dependent storage
 * have to be taken from the model's own equations (as_equations): A is then right, but the effect of a single storage
 * element is not in the J.
 *
 * The causality of a resistor that the strokes leave open: from flow to effort on a 1-junction, from effort to flow on
 * a 0-junction, as far as possible.
 *
 * shapes   dense, by columns, rows first: J_SL is n by nl. n states, nz storage ports that are states, nl dissipator
 *          ports, nu sources, nd dependent ports
 * text     expressions of the entries, on request, over variables of the flat model as slots; same shapes; else NULL
 */
#ifndef BG_STRUCTURE_H
#define BG_STRUCTURE_H

#include "model.h"

enum structure_matrix {
    M_S,
    M_L,
    M_J_SS,
    M_J_SL,
    M_J_SU,
    M_J_SX,
    M_J_LS,
    M_J_LL,
    M_J_LU,
    M_J_LX,
    M_L_X,
    M_A,
    M_B,
    M_COUNT
};

typedef struct structure_block {
    size_t rows, columns;
    double *value;
    node *text;
} structure_block;

typedef struct structure {
    size_t n, nz, nl, nu, nd;
    uint32_t *storage, *dissipator, *dependent; /* ports */
    uint32_t *source;                           /* numbers in flat.opening */
    size_t *storage_state;                      /* [nz] row of x */
    bool *flow_in;                              /* [nl] the dissipator's input is its flow */
    structure_block matrix[M_COUNT];
    structure_block output[4]; /* outputs of the text by z, d_out, u, x: y = J_YS z + J_YL d_out + ...; on request */
    /* of dependent storage: C_d (nd by nd), G (nd by n), G_S (nd by nz), effect on dx/dt of an added rate (n by nd) */
    double *C_d, *G, *G_S, *H;
    double *J;      /* n by nz: dx/dt by z, with dissipators solved: A = J S plus the part of signals */
    double *D_in;   /* nl by n: d_in by x */
    double *K;      /* n by nl: dx/dt by the output of a dissipator, with the others solved */
    bool modulated; /* J_SX, J_LX or L_X are not all zero */
    char *why;      /* why there is no structured form: a sentence; NULL: there is one */
} structure;

/* m: compiled with open inputs and sources. x: in the model's order of states; order[i]: the model's state in row i.
 * Uses the present modes. text: with expressions (adds to the pool). as_equations: see above; then there is no
 * dependent storage (nd is 0). Call structure_free in any case. */
void structure_make(bg_model *m, double t, const double *x, const size_t *order, bool text, bool as_equations,
                    bool outputs, structure *s);
void structure_free(structure *s);
const char *structure_matrix_name(enum structure_matrix k);

#endif
