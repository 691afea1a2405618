/* one_piece.h - why a model does not fall apart, and at which threshold its bonds would let it
 *
 * Links are added from the strongest to the weakest. The ratio of a link is here the smaller one of the ends that may
 * be left out, infinite where neither may. The link that first makes the graph one piece holds it together: at a
 * threshold just above its ratio the graph falls apart (as far as bonds go; signals may still form a loop).
 *
 * cost     n log n
 */
#ifndef BG_ONE_PIECE_H
#define BG_ONE_PIECE_H

#include "subgraphs.h"

/* The weakest link that holds subgraphs together at the plan's threshold, and its ratio: above that ratio there are
 * more subgraphs. NULL: no link can go. */
const link *next_to_part(const flat_model *f, const link_plan *p, double *ratio);
/* A sentence (in the arena) that says why there is one partition; NULL: there are several. */
const char *one_piece(const flat_model *f, const link_plan *p, const subgraphs *s, arena *a);

#endif
