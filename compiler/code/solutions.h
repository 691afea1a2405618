/* solutions.h - the other solutions of a nonlinear block
 *
 * Laws that fall somewhere (a tunnel diode, a pump with a hump in its curve) may meet the others at several points.
 * Newton's method ends at one of them. What is found here is not all there is for certain: one unknown is followed over
 * eight decades, several start from many places.
 */
#ifndef BG_SOLUTIONS_H
#define BG_SOLUTIONS_H

#include "evaluate.h"

/* Solutions of block k (of the routine that v runs) besides that of the last run, everything else unchanged: *others,
 * [returned * unknowns], freed by the caller. Solutions that are not isolated are left out. */
size_t solutions_of_block(evaluator *v, uint32_t k, double **others);

#endif
