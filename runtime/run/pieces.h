/* pieces.h - cuts a step into pieces over which what depends on time alone is smooth
 *
 * A step is as long as the states allow. What is driven by time without moving them (a lamp on the mains beside a slow
 * tank, a rectifier that waits for the next peak) may run through many periods meanwhile: its power, and the conditions
 * that read it, are looked at piece by piece.
 *
 * units    s
 * cost     seven evaluations of the clocks (model.h) a piece, and bounds of them (reach.h) that hold for many; nothing
 *          in a model without clocks
 */
#ifndef BG_PIECES_H
#define BG_PIECES_H

#include "model.h"

typedef struct pieces pieces;

/* NULL where the model reads nothing of time alone but what is linear in it. */
pieces *pieces_new(bg_model *m, double start, double stop); /* the run is from start to stop */
void pieces_free(pieces *p);
/* Modes changed. */
void pieces_forget(pieces *p);
/* Ends of the pieces of t0..t1, ascending, the last of them t1: over each a polynomial of degree four through five
 * places meets every clock within `share` of its size, and nothing happens between the places that they do not show.
 * *end stays until the next call. A fault of the evaluation cuts no further. */
void pieces_cut(pieces *p, double t0, double t1, double share, const double **end, size_t *n);
/* The same one piece after the other, for who may be content with the first: begins with t0..t1, then returns the end
 * of each; t1 is the last. */
void pieces_begin(pieces *p, double t0, double t1, double share);
double pieces_next(pieces *p);
/* Was something faster than the pieces may be short? The clock, or NO_INDEX. */
size_t pieces_unresolved(const pieces *p);

#endif
