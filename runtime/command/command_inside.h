/* command_inside.h - declarations shared by the files command*.c; no other file includes it */
#ifndef BG_COMMAND_INSIDE_H
#define BG_COMMAND_INSIDE_H

#include "command.h"
#include "refuse.h"
#include "quote.h"
#include "reading.h"

/* ---- command.c ---- */

/* Prints one line on standard error; names and paths in it are quoted, since they come from the user or a model. */
void command_say(const char *before, const char *fmt, va_list ap);

/* ---- command_options.c ---- */
int command_wrong(const request *q, const char *fmt, ...);

#endif
