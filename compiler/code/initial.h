/* initial.h - initial states from the stated values
 *
 * Stated on a state's own storage: directly, or through its law. Stated elsewhere (dependent storage, junctions):
 * conditions that determine states without a value of their own; what is stated twice must agree. Unstated is zero, or
 * an error where the law has no value there.
 */
#ifndef BG_INITIAL_H
#define BG_INITIAL_H

#include "maker.h"

struct initial_problem {
    bg_model *m;
    image *image;
    maker *maker;
    const double *value; /* of parameters */
    double t;
    double *x;
};

/* False after errors: initial-contradiction, initial-missing, initial-value. */
bool initial_values(const struct initial_problem *p);

#endif
