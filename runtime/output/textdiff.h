/* textdiff.h - a unified diff of two texts, one of which was made from the other by edits
 *
 * Lines are matched by the origin of their text, not by search: this is linear, and shows exactly the edits that were
 * made.
 */
#ifndef BG_TEXTDIFF_H
#define BG_TEXTDIFF_H

#include <stdio.h>
#include "base.h"

/* origin(ctx, at): the place in the old text from which byte `at` of the new one came. Prints nothing for equal texts.
 * On a terminal, control characters are shown as `?`; elsewhere lines are unchanged. */
void textdiff_print(FILE *out, const char *old_name, const char *old_text, size_t old_n, const char *new_name,
                    const char *new_text, size_t new_n, size_t (*origin)(void *ctx, size_t at), void *ctx, bool color);

#endif
