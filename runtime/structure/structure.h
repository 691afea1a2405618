/* structure.h - the structured form of a model at a point, from its bond graph
 *
 * With z what independent storage gives (z = S x), d_out = L d_in what dissipators give, u what sources give:
 *     dx/dt = J_SS z + J_SL d_out + J_SU u + J_SX x
 *     d_in  = J_LS z + J_LL d_out + J_LU u + J_LX x
 *     d_out = L d_in + L_X x
 *     A = J_SX + (J_SS + J_SL L (I - J_LL L)^-1 J_LS) S + ...,   B = J_SU + J_SL L (I - J_LL L)^-1 J_LU
 * (Rosenberg 1971; Orbak, Eskinat, Turkay 2004, eqs. 1-6.) The J come from junctions and two-ports alone. What signals
 * add - moduli, sources and laws that read states - is in J_SX, J_LX, L_X, which are zero where there is none. Laws
 * count with their slopes at the point.
 *
 * Dependent storage is eliminated: with x_d = C_d z_d, z_d = G x it adds C_d G dx/dt to where its rate goes, and the J
 * here are those that include it, so that the equations above hold as they stand. This is exact at a point where all
 * coefficients rest. Where it moves and a modulus or slope on the way to dependent storage varies, its rates have to be
 * taken as the model's own equations have them (as_equations): A is right again, but what a single store does to it is
 * not in the J.
 *
 * Which way an open resistor is taken: from flow to effort on a 1-junction, from effort to flow on a 0-junction, as far
 * as this goes.
 *
 * shapes   dense, by columns, rows first: J_SL is n by nl. n states, nz storage ports that are states, nl dissipator
 *          ports, nu sources, nd dependent ports
 * text     of each entry, where asked for, over variables of the flat model as slots; same shapes; NULL else
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
    structure_block
        output[4]; /* the text's outputs by z, d_out, u, x: y = J_YS z + J_YL d_out + ...; where asked for */
    /* of dependent storage: C_d (nd by nd), G (nd by n), G_S (nd by nz), what a rate that it adds does to dx/dt in the
     * end (n by nd) */
    double *C_d, *G, *G_S, *H;
    double *J;      /* n by nz: dx/dt by z, dissipators solved: A = J S + what signals add */
    double *D_in;   /* nl by n: d_in by x */
    double *K;      /* n by nl: dx/dt by what a dissipator gives, the others solved */
    bool modulated; /* J_SX, J_LX or L_X are not all zero */
    char *why;      /* no structured form: a sentence. NULL: there is one */
} structure;

/* m: compiled with open inputs and sources. x: state by state as the model has them; order[i]: the model's state in row
 * i. Modes as they are. text: with expressions. as_equations: see above; there is no dependent storage then (nd is 0).
 * structure_free it in any case; the pool grows with what is made. */
void structure_make(bg_model *m, double t, const double *x, const size_t *order, bool text, bool as_equations,
                    bool outputs, structure *s);
void structure_free(structure *s);
const char *structure_matrix_name(enum structure_matrix k);

#endif
