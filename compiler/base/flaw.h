/* flaw.h - what a verifier finds wrong: the first of it
 *
 * A verifier holds what a pass gives against what the passes behind it rely on. What it finds is a mistake of this
 * program, never of a model.
 */
#ifndef BG_FLAW_H
#define BG_FLAW_H

#include <stdbool.h>

#include "base.h"

/* Keeps the text in *flaw (malloc'd) unless there is one. Always false. */
bool flaw_found(char **flaw, const char *fmt, ...) BG_PRINTF(2, 3);

#endif
