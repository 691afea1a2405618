/* linear_report_inside.h - declarations shared by the files linear_report*.c; no other file includes it */
#ifndef BG_LINEAR_REPORT_INSIDE_H
#define BG_LINEAR_REPORT_INSIDE_H

#include "linear_report.h"

/* why a total effect is not known */
#define NOT_DETERMINED \
    "the linear equations at this equilibrium do not determine how it moves: it is one of many, or jumps away"

const char *linear_input_name(const linearization *l, size_t i);
const char *linear_output_name(const linearization *l, size_t i);
/* Participation of state k in mode i. */
double complex linear_participation(const modes *m, size_t i, size_t k);
/* Is it a condition of the text, which has a branch at the operating point? */
bool linear_is_condition(const struct model_mode *m);

#endif
