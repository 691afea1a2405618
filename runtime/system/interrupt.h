/* interrupt.h - cleaning up when the program is asked to stop
 *
 * SIGINT, SIGTERM, SIGHUP and other signals that end a program do so as usual, but first incomplete files are removed
 * and a child program (gnuplot, dot) is stopped. Ending by exit removes the files too. Work that can stop between two
 * steps and keep its results calls interrupt_defer(true) before and interrupt_defer(false) after: then the first
 * SIGINT, SIGTERM or SIGHUP only sets a flag. A second one ends the program, and so does a delay of some seconds
 * without interrupt_defer(false). interrupt_finish, last in main, ends a program that was asked to stop by raising that
 * signal.
 *
 * threads  for programs with a single thread of their own; a process that never calls interrupt_install is not affected
 */
#ifndef BG_INTERRUPT_H
#define BG_INTERRUPT_H

#include <stdbool.h>
#include <sys/types.h>

void interrupt_install(void); /* signals that are ignored stay ignored */
void interrupt_defer(bool on);
int interrupt_asked(void); /* the signal of a deferred request to stop; 0: none */
void interrupt_finish(void);

/* Between the two calls signals wait: for steps that must not be interrupted. Calls nest. */
void interrupt_hold(void);
void interrupt_release(void);

/* Registers a file to be removed at the end unless interrupt_forgets is called. The name must be allocated before the
 * file is made (if memory runs out there must be no file that nobody removes); interrupt_forgets free()s it. False: too
 * many files; the name still belongs to the caller. */
bool interrupt_removes(char *path);
void interrupt_forgets(const char *path);
/* Registers the child program to be stopped; 0: none. One at a time. */
void interrupt_stops(pid_t child);

#endif
