/* side_by_side.h - independent computations on all cores
 *
 * Each worker is a process with a copy of the program's memory at the call, so that all of them can use a compiled
 * model; results come back through shared memory. What is computed, and the order in which results are used, does not
 * depend on the number of cores.
 */
#ifndef BG_SIDE_BY_SIDE_H
#define BG_SIDE_BY_SIDE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Computes result[i] = one(ctx, i) for i < n, each of `size` bytes; one() must not print. Where it returns false or its
 * process dies, all bytes are 0xff (a double is then NAN). workers 0: side_by_side_workers(). Worker i modulo their
 * number computes the i-th result, in order; the last worker is this process. */
void side_by_side(size_t n, size_t size, size_t workers, bool (*one)(void *ctx, size_t i, void *result), void *ctx,
                  void *result);
/* Zeroed memory, aligned for every type, that the processes made from now on have in common with this one. NULL: memory
 * cannot be shared. */
void *side_memory_new(size_t bytes);
void side_memory_free(void *p, size_t bytes);
/* What tells whether the present computation of this thread is no longer needed, so that it may end and return
 * anything. NULL: it is needed. */
void side_by_side_watch(bool (*is_useless)(void *ctx), void *ctx);
int side_by_side_useless(void);
/* Number of cores that this process may use. */
size_t side_by_side_workers(void);
/* Waits until all processes have ended that this thread has made here and whose work is done. Otherwise they end while
 * the program goes on. */
void side_by_side_end(void);

/* ---- processes that take work as it is decided upon ---- */

/* Memory shared with so many processes, which begin later: zeroes, aligned for every type. Where memory cannot be
 * shared there are none, and this process does all the work. */
typedef struct side_team side_team;
side_team *side_team_new(size_t bytes, size_t workers);
void *side_team_memory(const side_team *t);
/* Each process computes work(ctx, t, its number from 1 on) and ends. */
void side_team_begin(side_team *t, void (*work)(void *ctx, side_team *t, size_t worker), void *ctx);
/* Ends those that still work, without waiting for that. */
void side_team_stop(const side_team *t);
void side_team_free(side_team *t);
/* This process tells the others that there may be work for them, which they wait for, up to some time. */
void side_team_announce(side_team *t);
void side_team_await_news(side_team *t);
/* The state of a piece of work in that memory; SIDE_TAKEN and more: the process with this number is at it, the one that
 * made the team with 0. side_team_take: begins with it, unless it is done or another process has begun. */
enum { SIDE_OPEN, SIDE_DONE, SIDE_TAKEN };
bool side_team_take(atomic_uint *state, size_t worker);
/* They tell this process that a result is there, for which it waits, up to some time. Returns the number of one that
 * has died, once; 0: none. */
void side_team_report(side_team *t);
size_t side_team_await_result(side_team *t);
/* Has the process that made this one ended? Then nothing is needed. */
bool side_team_orphaned(const side_team *t);

#endif
