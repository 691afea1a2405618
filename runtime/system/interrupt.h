/* interrupt.h - what happens when the program is told to stop
 *
 * SIGINT, SIGTERM, SIGHUP and what else ends a program from outside end it as they always do, but before that files
 * that are not complete are removed and a program at work for it (gnuplot, dot) is stopped. Ending by exit removes them
 * too. Work that can stop between two steps and keep what it has puts itself between interrupt_defer(true) and (false):
 * the first SIGINT, SIGTERM or SIGHUP then only raises a flag; the second ends the program, as do some seconds in which
 * the work has not come to (false). interrupt_finish, last in main, ends a program that was told to stop by the signal
 * that told it.
 *
 * threads  for programs with one thread of their own; of a process that never calls interrupt_install nothing changes
 */
#ifndef BG_INTERRUPT_H
#define BG_INTERRUPT_H

#include <stdbool.h>
#include <sys/types.h>

void interrupt_install(void); /* signals that are ignored stay ignored */
void interrupt_defer(bool on);
int interrupt_asked(void); /* the signal of a deferred request to stop, 0: none */
void interrupt_finish(void);

/* Between the two a signal waits: for what must be done whole. They nest. */
void interrupt_hold(void);
void interrupt_release(void);

/* A file to be removed at the end unless it is forgotten before. The name was allocated before the file was made (when
 * memory ends there must be no file that nobody removes), and is free()d by interrupt_forgets. False: too many at once;
 * the name is the caller's still. */
bool interrupt_removes(char *path);
void interrupt_forgets(const char *path);
/* The program to be stopped; 0: none. One at a time. */
void interrupt_stops(pid_t child);

#endif
