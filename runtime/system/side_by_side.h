/* side_by_side.h - independent computations on all cores
 *
 * Each worker is a process with the program's memory as it was at the call, so that a compiled model serves all of
 * them; results come back through shared memory. What is computed, and in what order results are used, does not depend
 * on the number of cores.
 */
#ifndef BG_SIDE_BY_SIDE_H
#define BG_SIDE_BY_SIDE_H

#include <stdbool.h>
#include <stddef.h>

/* result[i] = what one() gives for i < n, of `size` bytes; it must not print. All bytes are 0xff (a double is then no
 * number) where it returns false or its process ended. workers 0: side_by_side_workers(). The i-th is done by worker i
 * modulo their number, in order; the last worker is this process. */
void side_by_side(size_t n, size_t size, size_t workers, bool (*one)(void *ctx, size_t i, void *result), void *ctx,
                  void *result);
/* The same, each by the worker that comes to it first; this process begins with the first. Where one() sets *last, what
 * comes after the i-th is of no use: it is not begun, or ended where another process is at it. All before it are done.
 */
void side_by_side_in_turn(size_t n, size_t size, size_t workers,
                          bool (*one)(void *ctx, size_t i, void *result, bool *last), void *ctx, void *result);
/* result = what one(ctx, 0, result) gives, of `size` bytes, as above: by a process of its own while this one goes on,
 * until that asks for it. With workers == 1, or where there is no process to be had, it is computed then. */
typedef struct side_run side_run;
side_run *side_run_begin(size_t size, size_t workers, bool (*one)(void *ctx, size_t i, void *result), void *ctx);
/* Frees r. */
void side_run_end(side_run *r, void *result);
/* Is what this process does in turn of no use any more? It may come to an end as it likes. */
int side_by_side_useless(void);
/* The cores that this process may use */
size_t side_by_side_workers(void);

#endif
