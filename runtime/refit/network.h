/* network.h - a linear model as what its junctions join: parts (storage, dissipators) of one coefficient each
 *
 * With z what the parts give (structure.h),
 *     K(s) z = B u,  y = C z + D u,  K(s) = diag(s c_i of storage | r_i of dissipators) - J
 * c is what stores (the mass, the compliance), r the inverse of the gain from what a dissipator gets to what it gives;
 * J, B, C, D are constant, they come from junctions and two-ports. Outputs may read what a part stores, c z: F diag(c)
 * z more in y. An integral of a signal is a part like storage of coefficient 1, which outputs alone read. So the
 * response to a coefficient is of rank one, and a part that goes is one without a row: it gives nothing, c or r
 * infinite (row and column go), or it gets nothing, c or r zero. On a 1-junction, whose flow all share, an inertia that
 * gets nothing has left and one that gives nothing is at rest. Fields and dependent storage are in it as wholes.
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
    uint32_t port; /* NONE: an integral */
    bool storage;
    bool locked; /* it is read by name, or no element: it has to stay */
    bool whole;  /* of a field, or of storage that others go along with (wholes.h); it stays, and is not fitted */
    double coefficient; /* c or r; INFINITY: it gives nothing as it is */
    bool gives_effort;  /* what it gives is its effort, else its flow */
} network_part;

typedef struct network {
    size_t n, nu, ny;
    network_part *part;
    double *J, *B, *C, *D, *F;
} network;

/* l: of m, at its point. False: *why (free it), a sentence; network_free it in any case. */
bool network_of(bg_model *m, const linearization *l, network *k, char **why);
void network_free(network *k);

/* Parts with their fates: those that stay or get nothing and stand between inputs and outputs. member[at] for at < n:
 * numbers of parts, in an order in which what J joins is near (Cuthill, McKee 1969): at most `band` apart. */
typedef struct network_piece {
    size_t n, states, band;
    bool whole; /* all that is locked is in it */
    size_t *member;
} network_piece;
void network_piece_of(const network *k, const uint8_t *fate, network_piece *p);
void network_piece_free(network_piece *p);

/* What part i adds to output y for what it gives. factor: of its coefficient. */
static inline double
network_seen(const network *k, size_t y, size_t i, double factor)
{
    size_t at = y + k->ny * i;

    return k->F[at] == 0 ? k->C[at] : k->C[at] + k->F[at] * factor * k->part[i].coefficient;
}

/* The piece at s = i omega: G (ny by nu); from (n by nu) K^-1 B; to (n by ny) K^-T C^T; own (n) the diagonal of K^-1,
 * NULL: not wanted. factor: what each part's coefficient is multiplied by. False: singular. */
bool network_at(const network *k, const network_piece *p, const uint8_t *fate, const double *factor, double omega,
                double complex *G, double complex *from, double complex *to, double complex *own);

#endif
