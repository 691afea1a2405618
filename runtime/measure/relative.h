/* relative.h - which bonds matter to a storage element
 *
 * At the junction of a storage port, dE is the energy that came through the port since the beginning of the window,
 * dE_k the energy through a neighbouring bond:
 *
 *     ratio9  = max |dE_k| / max |dE|
 *     ratio10 = max |dE_k / (dE/ds)| / max |s|        s: stored quantity; E(s): stored energy; only where E is at
 *                                                    least 1 % of its maximum
 *
 * A neighbour with both far below 1 hardly affects the element's state (Ye and Youcef-Toumi). The derivative dE/ds
 * vanishes with E; the guard of 1 % is an addition of this program. Where the law reads more than its own port, half of
 * s dE/ds replaces E. There is a row for each pair of a storage port and a neighbour, and memory is proportional to
 * that.
 */
#ifndef BG_RELATIVE_H
#define BG_RELATIVE_H

#include "activity.h"

enum { RELATIVE_SAMPLES = 20001 };
#define RELATIVE_GUARD 0.01

typedef struct relative_neighbour {
    bool is_bond;
    uint32_t index;         /* in the flat model: a bond or a port */
    double change;          /* max |dE_k|, J */
    double ratio9, ratio10; /* NAN: the element's energy, or its state, was zero or never changed */
} relative_neighbour;

typedef struct relative_row {
    uint32_t port;
    double change;   /* max |dE|, J */
    double stored;   /* max |s| */
    size_t first, n; /* neighbours */
} relative_row;

typedef struct relative {
    VEC(relative_row) row; /* in the order of ports */
    VEC(relative_neighbour) neighbour;
    struct relative_track *track; /* data of a run in progress */
} relative;

void relative_begin(bg_model *m, relative *r);
/* Adds a sample: bond values (model.h) and their integrals. */
void relative_take(relative *r, bool first, const double *value, const double *energy);
void relative_end(relative *r);
void relative_free(relative *r);

#endif
