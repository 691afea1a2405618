/* side_by_side.h - independent computations on all cores
 *
 * Each worker is a process with a copy of the program's memory at the call, so that all of them can use a compiled
 * model; results come back through shared memory. What is computed, and the order in which results are used, does not
 * depend on the number of cores.
 */
#ifndef BG_SIDE_BY_SIDE_H
#define BG_SIDE_BY_SIDE_H

#include <stdbool.h>
#include <stddef.h>

/* Computes result[i] = one(ctx, i) for i < n, each of `size` bytes; one() must not print. Where it returns false or its
 * process dies, all bytes are 0xff (a double is then NAN). workers 0: side_by_side_workers(). Worker i modulo their
 * number computes the i-th result, in order; the last worker is this process. */
void side_by_side(size_t n, size_t size, size_t workers, bool (*one)(void *ctx, size_t i, void *result), void *ctx,
                  void *result);
/* The same, with each result computed by the first free worker; this process begins with the first one. If one() sets
 * *last, results after the i-th are not needed: they are not begun, or stopped if another process computes them. All
 * before it are computed. */
void side_by_side_in_turn(size_t n, size_t size, size_t workers,
                          bool (*one)(void *ctx, size_t i, void *result, bool *last), void *ctx, void *result);
/* Computes one(ctx, 0, result), of `size` bytes, in a process of its own while this one goes on, until the result is
 * asked for. With workers == 1, or where no process can be made, it is computed then. */
typedef struct side_run side_run;
side_run *side_run_begin(size_t size, size_t workers, bool (*one)(void *ctx, size_t i, void *result), void *ctx);
/* Frees r. */
void side_run_end(side_run *r, void *result);
/* Is the present computation in turn no longer needed? It may then return anything. */
int side_by_side_useless(void);
/* Number of cores that this process may use. */
size_t side_by_side_workers(void);

#endif
