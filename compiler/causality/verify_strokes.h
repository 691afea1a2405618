/* verify_strokes.h - holds strokes and what follows from them against their rules (causality.h)
 *
 * Every junction has one strong end, or is a state, or open; bonds and two-ports hand on what they must; sources give
 * what they impose; states are the storages with integral causality; components hold every open junction once.
 *
 * cost     linear
 */
#ifndef BG_VERIFY_STROKES_H
#define BG_VERIFY_STROKES_H

#include "causality.h"

/* f: as verify_graph leaves it. NULL: they are as they should be. Else what is not (free it). */
char *verify_strokes(const flat_model *f, const causal *c);

#endif
