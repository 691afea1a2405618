/* idle.h - what no power goes through in any of some experiments: bonds, elements, two-ports and sources
 *
 * A bond is idle because its effort or its flow is zero. At a junction whose shared variable is not, its own variable
 * is: it adds nothing there. Where all bonds of a junction are idle it may be gone. So all that is idle may go
 * together, without loss, and with it junctions that are left alone (junction inactivity: Ersal, Fathy and Stein 2008);
 * also sources of zero. It holds for these experiments. Where something that stays reads a part, only some may go: who
 * takes it out has to look at what comes of it.
 */
#ifndef BG_IDLE_H
#define BG_IDLE_H

#include "bonds.h"

/* One that may go by itself: by its name, or as a bond. */
typedef struct idle_part {
    const char *name; /* interned, or what the bond is called */
    span at;
    const rewrite_bond *bond; /* NULL: by name */
} idle_part;
typedef VEC(idle_part) idle_parts;

/* c: compiled (STAGE_CAUSALITY at least). Runs the recordings, of the same text. In the arena. False where they do not
 * run. */
bool idle_find(const compilation *c, const recording *r, size_t n, arena *a, idle_parts *out);

#endif
