/* crew.h - threads that work beside the one that made them
 *
 * For computations with instances of compiled models (model.h), of which any number may run at a time: nothing of the
 * program's memory is copied, as it is where processes are made (side_by_side.h). Whatever else they use must be made
 * for several threads, or be used under a lock. Signals are left to the other threads of the program.
 */
#ifndef BG_CREW_H
#define BG_CREW_H

#include <stdbool.h>
#include <stddef.h>

/* Computes one(ctx, i) for i < n, each in a thread of its own; the last, and what no thread can be made for, in this
 * one. */
void crew_share(size_t n, void (*one)(void *ctx, size_t i), void *ctx);

/* Computes one(ctx, i) for i < n, so many of them at a time; with one worker, in their order in this thread. */
void crew_each(size_t n, size_t workers, void (*one)(void *ctx, size_t i), void *ctx);

/* At most n threads that take work as it is decided upon; each computes work(ctx, crew, its number from 0 on) once.
 * There may be fewer, also none. */
typedef struct crew crew;
crew *crew_begin(size_t n, void (*work)(void *ctx, crew *c, size_t which), void *ctx);
/* Waits until each has done its work, and frees c. */
void crew_finish(crew *c);
/* They should end soon, which crew_is_stopped tells them. */
void crew_stop(crew *c);
bool crew_is_stopped(const crew *c);
void crew_end(crew *c); /* crew_stop, then crew_finish */
/* This thread tells them that there may be work for them, which they wait for. */
void crew_announce(crew *c);
void crew_await_news(crew *c);
/* They tell this thread that a result is there, for which it waits; it does not where there are no threads. */
void crew_report(crew *c);
void crew_await_result(crew *c);

#endif
