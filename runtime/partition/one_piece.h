/* one_piece.h - why a model does not fall apart, and at which threshold its bonds would let it
 *
 * Links are taken up from the strongest: the ratio of a link here is the least at an end that may be left out, infinite
 * where none may. The one that makes the graph one piece is what holds it together: at a threshold just above its ratio
 * the graph falls apart (by bonds; signals may still lead in a circle).
 *
 * cost     n log n
 */
#ifndef BG_ONE_PIECE_H
#define BG_ONE_PIECE_H

#include "subgraphs.h"

/* The weakest of the links that hold subgraphs together at the plan's threshold, and its ratio: above that there are
 * more of them. NULL: none can go. */
const link *next_to_part(const flat_model *f, const link_plan *p, double *ratio);
/* A sentence in the arena; NULL: there are several partitions. */
const char *one_piece(const flat_model *f, const link_plan *p, const subgraphs *s, arena *a);

#endif
