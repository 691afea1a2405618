/* rewrite_initial.h - initial values that a smaller model contradicts
 *
 * Two masses behind a rigid spring, a spring without a mass behind it: what each had to itself at the start follows
 * from the other now. The model says which stated value contradicts which; the one that follows is taken out of the
 * text, and reported.
 */
#ifndef BG_REWRITE_INITIAL_H
#define BG_REWRITE_INITIAL_H

#include "compile.h"
#include "rewrite.h"

typedef VEC(rewrite_change) rewrite_changes;

/* tried: a text made from now's by e, that was compiled and could not start. Adds a change of now's text for each
 * stated value that its diagnostics call contradicted, as far as the text says it once (a part of the model itself, a
 * `let`). Returns how many are new: with none, it is of no use to try again. In the arena. */
size_t rewrite_contradicted(const compilation *tried, const edits *e, const compilation *now, arena *a,
                            rewrite_changes *out);

#endif
