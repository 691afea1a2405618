/* pieces.h - divides a step into pieces over which everything that depends on time alone is smooth
 *
 * A step is as long as the states allow. What is driven by time without affecting them (a lamp on the mains beside a
 * slow tank, a rectifier that waits for the next peak) may go through many periods meanwhile: its power, and conditions
 * that depend on it, are evaluated piece by piece.
 *
 * units    s
 * cost     seven evaluations of the clocks (model.h) for each piece, and bounds of them (reach.h) that hold for many
 *          pieces; none in a model without clocks
 */
#ifndef BG_PIECES_H
#define BG_PIECES_H

#include "model.h"

typedef struct pieces pieces;

/* NULL if the model depends on time only linearly. */
pieces *pieces_new(bg_model *m, double start, double stop); /* the run is from start to stop */
void pieces_free(pieces *p);
/* Modes changed. */
void pieces_forget(pieces *p);
/* Ends of the pieces of t0..t1, ascending, the last one is t1. Over each piece a polynomial of degree four through five
 * places approximates every clock within `share` of its size, and nothing happens between the places that they do not
 * show. *end is valid until the next call. If an evaluation fails, the rest is not divided. */
void pieces_cut(pieces *p, double t0, double t1, double share, const double **end, size_t *n);
/* The same piece by piece, for callers that may need the first ones only: begins with t0..t1, then returns the end of
 * each; the last is t1. */
void pieces_begin(pieces *p, double t0, double t1, double share);
double pieces_next(pieces *p);
/* Was a clock faster than the shortest allowed piece? The clock, or NO_INDEX. */
size_t pieces_unresolved(const pieces *p);

#endif
