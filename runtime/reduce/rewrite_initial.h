/* rewrite_initial.h - removes initial values that a smaller model contradicts
 *
 * Where two masses are joined by a rigid spring, or a spring has lost its mass, some initial values follow from others.
 * The compiler's diagnostics say which stated value contradicts which; the dependent one is removed from the text and
 * reported.
 */
#ifndef BG_REWRITE_INITIAL_H
#define BG_REWRITE_INITIAL_H

#include "compile.h"
#include "rewrite.h"

typedef VEC(rewrite_change) rewrite_changes;

/* tried: a text made from that of `now` by e, which was compiled and had no consistent start. Adds a change of now's
 * text for each stated value that the diagnostics call contradicted, if the text states it once (in the model itself,
 * or by a `let`). Returns the number of new ones; if there are none, trying again is useless. In the arena. */
size_t rewrite_contradicted(const compilation *tried, const edits *e, const compilation *now, arena *a,
                            rewrite_changes *out);

#endif
