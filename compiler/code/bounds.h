/* bounds.h - what the equations read of time alone, bounded over an interval
 *
 * Interval arithmetic on the clocks' (clocks.h) values and first two derivatives by time, with the modes as they are.
 * Who takes steps learns how long one may be before something happens within it that its ends do not show, a pulse of
 * 20 ms in an hour. Each term of a clock that is a sum has a range of its own, that over the whole run, so that a small
 * pulse beside a large offset counts.
 *
 * units    s
 * cost     linear in the clocks' expressions; bounds are not rounded outwards: they decide lengths of steps, nothing is
 *          proved by them
 * source   Moore, Kearfott, Cloud (2009), Introduction to Interval Analysis, SIAM
 */
#ifndef BG_BOUNDS_H
#define BG_BOUNDS_H

#include "bounds_form.h"

typedef struct bounds bounds;

/* value[v]: of parameters and literals, by variable; both stay the caller's. */
bounds *bounds_new(const bounds_form *clocks, const double *value);
void bounds_free(bounds *b);

/* The run is from start to stop: ranges of the terms. After parameters changed, too. */
void bounds_over(bounds *b, double start, double stop);
/* Longest step within from..to in which each term, of the clocks that rates read or (all) of every clock, strays from a
 * straight line by a small part of its range; INFINITY where nothing limits it. 0: a bound is not finite over so long
 * an interval. *clock: which limits it, NO_INDEX. */
double bounds_step(bounds *b, const double *modes, double from, double to, bool all, size_t *clock);
/* Where terms that rates read are greatest, and how long they are about it: at most `most` places, ascending in no
 * order. */
size_t bounds_peaks(bounds *b, double *time, double *width, size_t most);

/* ---- what rates read of states and may bend within little of them ----
 * A mass that passes a magnet, a step long: its ends do not show the force. NULL where there is nothing of the kind
 * whose values have bounds. modes: as they are at first; the run is from start to stop. */
bounds *bounds_of_bends(const bounds_form *bends, const double *value, const double *modes, double start, double stop);
/* A step from t0 to t1, states x and rates f at its ends: the part of it, from its start, in which nothing moves far
 * within an eighth of the step; 1: all of it. */
double bounds_clear(bounds *b, const double *modes, const double t[2], const double *const x[2],
                    const double *const f[2]);

#endif
