/* verify_strokes.h - checks strokes and what follows from them against their rules (causality.h)
 *
 * Every junction has one strong end, or is a state, or open; bonds and two-ports transmit causality correctly; sources
 * impose what they should; states are the storage ports with integral causality; components contain every open junction
 * once.
 *
 * cost     linear
 */
#ifndef BG_VERIFY_STROKES_H
#define BG_VERIFY_STROKES_H

#include "causality.h"

/* f: checked by verify_graph. NULL: correct. Else a description of the error (free() it). */
char *verify_strokes(const flat_model *f, const causal *c);

#endif
