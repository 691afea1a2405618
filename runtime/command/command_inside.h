/* command_inside.h - what the command*.c files share; nobody else includes it */
#ifndef BG_COMMAND_INSIDE_H
#define BG_COMMAND_INSIDE_H

#include "command.h"
#include "refuse.h"
#include "quote.h"
#include "reading.h"

/* ---- command.c ---- */

/* One line on standard error; names and paths in it are someone else's. */
void command_say(const char *before, const char *fmt, va_list ap);

/* ---- command_options.c ---- */
int command_wrong(const request *q, const char *fmt, ...);

#endif
