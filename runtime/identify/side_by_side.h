/* side_by_side.h - independent computations on all cores
 *
 * Each worker is a process with the program's memory as it was at the call, so that a compiled model serves all of them; results come back through
 * shared memory. What is computed, and in what order results are used, does not depend on the number of cores.
 */
#ifndef BG_SIDE_BY_SIDE_H
#define BG_SIDE_BY_SIDE_H

#include <stdbool.h>
#include <stddef.h>

/* result[i][width] = what one() gives for i < n; it must not print. NAN in all of them where it returns false or its process ended. workers 0: the
 * machine's cores. */
void side_by_side(size_t n, size_t width, size_t workers, bool (*one)(void *ctx, size_t i, double *result), void *ctx, double *result);

#endif
