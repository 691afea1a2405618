/* directions.h - directions in parameter space that data do not determine, made easy to read
 *
 * Where several directions are undetermined, any basis of their span is equally valid. This one makes each direction of
 * as few parameters as possible: a parameter that nothing reads stands alone, and so do groups of parameters that are
 * independent of each other.
 *
 * source   reduced echelon form; Golub, Van Loan: Matrix Computations, 3.4 (complete pivoting)
 */
#ifndef BG_DIRECTIONS_H
#define BG_DIRECTIONS_H

#include <stddef.h>

/* v: in [count][n], linearly independent; out: a basis of the same span, each vector of length 1 and with one parameter
 * that no other vector has, ordered by that parameter. */
void directions_part(size_t n, size_t count, double *v);

#endif
