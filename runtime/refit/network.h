/* network.h - a linear model as a network of parts (storage, dissipators) with one coefficient each, joined by
 * junctions
 *
 * With z the outputs of the parts (structure.h),
 *     K(s) z = B u,  y = C z + D u,  K(s) = diag(s c_i of storage | r_i of dissipators) - J
 * c is the storage coefficient (mass, compliance) and r the inverse of a dissipator's gain from its input to its
 * output; J, B, C, D are constant and come from junctions and two-ports. Outputs may read what a part stores, c z,
 * which adds F diag(c) z to y. The integral of a signal is a part like a storage element with coefficient 1 that
 * outputs alone read. So the response depends on each coefficient by a term of rank one. Removing a part removes its
 * row: it gives nothing (c or r infinite; row and column are removed), or gets nothing (c or r zero). On a 1-junction,
 * whose bonds share the flow, an inertia that gets nothing is gone, and one that gives nothing is at rest. Fields and
 * dependent storage are included as wholes.
 *
 * shapes   by columns: J n by n, B n by nu, C and F ny by n, D ny by nu
 * units    SI
 */
#ifndef BG_NETWORK_H
#define BG_NETWORK_H

#include <complex.h>

#include "linearize.h"

enum part_fate { PART_STAYS, PART_GIVES_NOTHING, PART_GETS_NOTHING };

typedef struct network_part {
    uint32_t port; /* NONE: the integral of a signal */
    bool storage;
    bool locked; /* it is read by name, or it is no element: it has to stay */
    bool whole;  /* part of a field, or of storage with dependent storage (wholes.h): it stays and is not fitted */
    double coefficient; /* c or r; INFINITY: it gives nothing from the beginning */
    bool gives_effort;  /* its output is its effort, otherwise its flow */
} network_part;

typedef struct network {
    size_t n, nu, ny;
    network_part *part;
    double *J, *B, *C, *D, *F;
} network;

/* l: linearization of m, at its operating point. False: *why (free() it), a sentence. Call network_free in any case. */
bool network_of(bg_model *m, const linearization *l, network *k, char **why);
void network_free(network *k);

/* Parts with their fates: those that stay or get nothing, and connect inputs with outputs. member[at] for at < n:
 * numbers of parts in an order in which J has a narrow band (Cuthill, McKee 1969), at most `band` wide. */
typedef struct network_piece {
    size_t n, states, band;
    bool whole; /* it contains everything that is locked */
    size_t *member;
} network_piece;
void network_piece_of(const network *k, const uint8_t *fate, network_piece *p);
void network_piece_free(network_piece *p);

/* What part i adds to output y per unit of its output. factor: multiplies its coefficient. */
static inline double
network_seen(const network *k, size_t y, size_t i, double factor)
{
    size_t at = y + k->ny * i;

    return k->F[at] == 0 ? k->C[at] : k->C[at] + k->F[at] * factor * k->part[i].coefficient;
}

/* The piece at s = i omega: G (ny by nu); from (n by nu) K^-1 B; to (n by ny) K^-T C^T; own (n) the diagonal of K^-1,
 * NULL: not computed. factor: multiplies each part's coefficient. False: singular. */
bool network_at(const network *k, const network_piece *p, const uint8_t *fate, const double *factor, double omega,
                double complex *G, double complex *from, double complex *to, double complex *own);

#endif
