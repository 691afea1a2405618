/* relative.h - which bonds matter to an element that stores energy
 *
 * At the junction of a port of storage, dE is the energy that came through it since the window began, dE_k that through
 * a neighbouring bond:
 *
 *     ratio9  = max |dE_k| / max |dE|
 *     ratio10 = max |dE_k / (dE/ds)| / max |s|        s: what is stored; E(s): the energy stored; only where E is at
 *     least 1 % of its maximum
 *
 * A neighbour with both far below 1 hardly moves the element's state (Ye and Youcef-Toumi). The derivative dE/ds
 * vanishes with E, hence the guard, which is this program's. Where the law reads more than its own port, half of s
 * dE/ds stands for E. There is a row for each pair of a port of storage and a neighbour, and what is kept while running
 * is of that size.
 */
#ifndef BG_RELATIVE_H
#define BG_RELATIVE_H

#include "activity.h"

enum { RELATIVE_SAMPLES = 20001 };
#define RELATIVE_GUARD 0.01

typedef struct relative_neighbour {
    bool is_bond;
    uint32_t index;         /* of the flat model: bond, or port */
    double change;          /* max |dE_k|, J */
    double ratio9, ratio10; /* NAN: the element's energy, or its state, never changed or never was there */
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
    struct relative_track *track; /* of a run that is not over */
} relative;

void relative_begin(bg_model *m, relative *r);
/* A sample: bond values (model.h) and their integrals. */
void relative_take(relative *r, bool first, const double *value, const double *energy);
void relative_end(relative *r);
void relative_free(relative *r);

#endif
