/* flaw.h - the first error that a verifier finds
 *
 * A verifier checks the result of a pass against what later passes rely on. An error is a fault of this program, never
 * of a model.
 */
#ifndef BG_FLAW_H
#define BG_FLAW_H

#include <stdbool.h>

#include "base.h"

/* Stores the text in *flaw (free() it) unless there is one already. Always returns false. */
bool flaw_found(char **flaw, const char *fmt, ...) BG_PRINTF(2, 3);

#endif
