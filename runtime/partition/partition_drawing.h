/* partition_drawing.h - the bond graph with its partitions coloured, and a block arrow where a bond is inactive
 *
 * A block arrow comes from the junction at which the bond's activity is negligible; a bond that goes has two and is
 * grey. Signals that were there before are dotted, those that close a loop red.
 *
 * source   Rideout and Stein, Figure 2
 */
#ifndef BG_PARTITION_DRAWING_H
#define BG_PARTITION_DRAWING_H

#include "subgraphs.h"

/* Text for Graphviz. */
void partition_drawing(const flat_model *f, const link_plan *p, const subgraphs *s, strbuf *out);

#endif
