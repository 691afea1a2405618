/* solutions.h - further solutions of a nonlinear block
 *
 * Laws that decrease somewhere (a tunnel diode, a pump with a hump in its curve) may have several intersections with
 * others. Newton's method ends at one of them. The search here need not be complete: a single unknown is followed over
 * eight decades, several unknowns are started from many points.
 */
#ifndef BG_SOLUTIONS_H
#define BG_SOLUTIONS_H

#include "evaluate.h"

/* Solutions of block k (of the routine that v runs) besides that of the last run, everything else unchanged: *others,
 * [returned * unknowns], freed by the caller. Solutions that are not isolated are left out. */
size_t solutions_of_block(evaluator *v, uint32_t k, double **others);

#endif
