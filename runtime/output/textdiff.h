/* textdiff.h - two texts, one made from the other by edits, as a unified diff
 *
 * Lines are matched by where their text came from, not by search: linear, and what the diff shows is what was done.
 */
#ifndef BG_TEXTDIFF_H
#define BG_TEXTDIFF_H

#include <stdio.h>
#include "base.h"

/* origin(ctx, at): the place in the old text that byte `at` of the new one came from. Nothing is printed for equal
 * texts. Lines that go to a terminal have `?` for what would steer it; elsewhere they are as they are. */
void textdiff_print(FILE *out, const char *old_name, const char *old_text, size_t old_n, const char *new_name,
                    const char *new_text, size_t new_n, size_t (*origin)(void *ctx, size_t at), void *ctx, bool color);

#endif
