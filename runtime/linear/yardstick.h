/* yardstick.h - reduced linear models beside the full one: H-infinity errors, the bounds of balanced truncation,
 * passivity
 *
 * Errors are those of the transfer from all inputs to all outputs, with both bounds proved (norms.h). What is not
 * stable but not transmitted either is left out of both (gramians.h).
 */
#ifndef BG_YARDSTICK_H
#define BG_YARDSTICK_H

#include "norms.h"

typedef struct yardstick_row {
    char *name;
    size_t order;
    bool truncation;
    struct norm_bounds error;
    double bound; /* of balanced truncation: twice the sum of the values left out; NAN */
    enum passivity passivity;
    double omega; /* of the transfer, where the full one is passive */
    char *why;    /* no error is known: a sentence. NULL: it is */
} yardstick_row;

typedef struct yardstick {
    state_space full; /* its stable part */
    struct norm_bounds norm;
    double *sigma; /* Hankel values */
    bool ports;    /* inputs and outputs are as many, and their transfer is passive: the two variables of ports */
    VEC(yardstick_row) row;
    char *why; /* no norms: a sentence */
} yardstick;

/* False: y->why. yardstick_free it in any case. */
bool yardstick_open(const state_space *full, yardstick *y);
void yardstick_truncate(yardstick *y, size_t order);
/* small: inputs and outputs in the order of the full model. */
void yardstick_against(yardstick *y, const char *name, const state_space *small);
void yardstick_free(yardstick *y);
/* "yes", "no", "not known"; "-" where the question has no sense */
const char *yardstick_passive(const yardstick *y, const yardstick_row *r);

#endif
