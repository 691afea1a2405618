/* program_thresholds.h - conditions that compare one quantity with a parameter each, where many compare the same one
 *
 * Only the quantity is evaluated: which of its thresholds may be met next is known from their order.
 */
#ifndef BG_PROGRAM_THRESHOLDS_H
#define BG_PROGRAM_THRESHOLDS_H

#include "equations.h"

struct threshold {
    uint32_t of; /* number of the quantity; NONE: a condition like others */
    bool above;  /* g is the quantity minus the threshold, otherwise the threshold minus the quantity */
    inst at;
};

typedef struct thresholds {
    struct threshold *of_mode; /* [modes of the equations] */
    VEC(inst) quantity;
} thresholds;

thresholds thresholds_find(equations *e);
void thresholds_free(thresholds *s);

#endif
