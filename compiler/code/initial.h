/* initial.h - initial states from the stated values
 *
 * A value stated for a state's own storage sets it directly, or through its law. Values stated elsewhere (dependent
 * storage, junctions) are conditions that determine states without a value of their own; redundant values must agree.
 * States that remain are zero; it is an error if the law has no value there.
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
