/* yardstick.h - reduced linear models compared with the full one: H-infinity errors, bounds of balanced truncation,
 * passivity
 *
 * Errors are those of the transfer from all inputs to all outputs, with both bounds proved (norms.h). Unstable modes
 * that are not transmitted are left out of both (gramians.h).
 */
#ifndef BG_YARDSTICK_H
#define BG_YARDSTICK_H

#include "norms.h"

typedef struct yardstick_row {
    char *name;
    size_t order;
    bool truncation;
    struct norm_bounds error;
    double bound; /* of balanced truncation: twice the sum of the truncated values; NAN */
    enum passivity passivity;
    double omega; /* where the full model's transfer is passive */
    char *why;    /* why no error is known: a sentence; NULL: it is known */
} yardstick_row;

typedef struct yardstick {
    state_space full; /* its stable part */
    struct norm_bounds norm;
    double *sigma; /* Hankel values */
    /* as many inputs as outputs, and the transfer between them is passive: they are the two variables of ports */
    bool ports;
    VEC(yardstick_row) row;
    char *why; /* why there are no norms: a sentence */
} yardstick;

/* False: y->why. Call yardstick_free in any case. */
bool yardstick_open(const state_space *full, yardstick *y);
void yardstick_truncate(yardstick *y, size_t order);
/* small: with inputs and outputs in the order of the full model. */
void yardstick_against(yardstick *y, const char *name, const state_space *small);
void yardstick_free(yardstick *y);
/* "yes", "no", "not known"; "-" where the question makes no sense */
const char *yardstick_passive(const yardstick *y, const yardstick_row *r);

#endif
