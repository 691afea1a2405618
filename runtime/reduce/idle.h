/* idle.h - parts without power in any of some experiments: bonds, elements, two-ports and sources
 *
 * A bond is idle because its effort or its flow is zero. At a junction whose common variable is not zero, its own
 * variable is: it adds nothing to the sum. Where all bonds of a junction are idle, the junction may be removed. So all
 * idle parts may be removed together without any error, and with them junctions that are left alone (junction
 * inactivity: Ersal, Fathy and Stein 2008) and sources of zero. This holds for the given experiments only. Where a
 * remaining part reads an idle one, only some may be removed: the caller has to check the result.
 */
#ifndef BG_IDLE_H
#define BG_IDLE_H

#include "bonds.h"

/* A part that may be removed by itself, by its name or as a bond. */
typedef struct idle_part {
    const char *name; /* interned, or the label of the bond */
    span at;
    const rewrite_bond *bond; /* NULL: an element or two-port */
} idle_part;
typedef VEC(idle_part) idle_parts;

/* c: compiled (STAGE_CAUSALITY at least). Runs the recordings, which have the same text. In the arena. False: they do
 * not run. */
bool idle_find(const compilation *c, const recording *r, size_t n, arena *a, idle_parts *out);

#endif
