/* library.h - the contents of the standard library, by the names that `import` takes */
#ifndef BG_LIBRARY_H
#define BG_LIBRARY_H

#include "base.h"

/* Calls `see` with the name of each file (hydraulic, mechanics.rotation) and its path, in the order of names; the first
 * folder that has a file wins. */
void library_each(void (*see)(void *ctx, const char *name, const char *path), void *ctx);

#endif
