/* directions.h - what data do not tell, taken apart
 *
 * Where several directions are unknown, any turn of them among each other is as good. Here each is made of as few
 * parameters as can be: one that nothing reads stands alone, and so do groups of parameters that have nothing to do
 * with each other.
 *
 * source   reduced echelon form; Golub, Van Loan: Matrix Computations, 3.4 (complete pivoting)
 */
#ifndef BG_DIRECTIONS_H
#define BG_DIRECTIONS_H

#include <stddef.h>

/* v: [count][n], independent of each other; out: as many of the same span, each of length 1, ordered by the parameter
 * that it alone has (of which there is one). */
void directions_part(size_t n, size_t count, double *v);

#endif
