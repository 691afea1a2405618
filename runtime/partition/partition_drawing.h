/* partition_drawing.h - draws the bond graph with its partitions coloured, and a block arrow for each inactive bond
 *
 * A block arrow starts at the junction where the bond's activity is negligible; a bond that is cut altogether has two
 * and is grey. Signals of the original model are dotted; those that close a loop are red.
 *
 * source   Rideout and Stein, Figure 2
 */
#ifndef BG_PARTITION_DRAWING_H
#define BG_PARTITION_DRAWING_H

#include "subgraphs.h"

/* Text for Graphviz. */
void partition_drawing(const flat_model *f, const link_plan *p, const subgraphs *s, strbuf *out);

#endif
