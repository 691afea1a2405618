/* bounds.h - bounds over an interval for expressions that depend on time alone
 *
 * Interval arithmetic on the values and first two time derivatives of the clocks (clocks.h), with the present modes. It
 * tells the integrator how long a step may be before something happens inside it that its ends do not show, such as a
 * pulse of 20 ms in an hour. Each term of a clock that is a sum has its own range over the whole run, so that a small
 * pulse beside a large offset counts.
 *
 * units    s
 * cost     linear in the clocks' expressions. Bounds are not rounded outwards: they determine lengths of steps, nothing
 *          is proved by them
 * source   Moore, Kearfott, Cloud (2009), Introduction to Interval Analysis, SIAM
 */
#ifndef BG_BOUNDS_H
#define BG_BOUNDS_H

#include "bounds_form.h"

typedef struct bounds bounds;

/* value[v]: of parameters and literals, by variable. Both arguments stay with the caller and must outlive the
 * result. */
bounds *bounds_new(const bounds_form *clocks, const double *value);
void bounds_free(bounds *b);

/* The difference of a mode's condition where it is a known function of time, offset + slope t; otherwise NAN. */
struct bounds_line {
    double slope, offset;
};
/* Computes the ranges of the terms for a run from start to stop. Call again after parameters changed. line: by mode;
 * belongs to b from now on. */
void bounds_over(bounds *b, struct bounds_line *line, double start, double stop);
/* Longest step within from..to in which each term deviates from a straight line by a small share of its range; for the
 * clocks that rates read, or (all) for every clock. INFINITY: nothing limits it. 0: a bound is not finite over the
 * interval. *clock: the limiting one, NO_INDEX. */
double bounds_step(bounds *b, const double *modes, double from, double to, bool all, size_t *clock);
/* The times at which terms read by rates are greatest, and how long these peaks are: at most `most`, unordered. */
size_t bounds_peaks(bounds *b, double *time, double *width, size_t most);

/* ---- expressions of states that may vary strongly within a small range ---- A mass may pass a magnet within one step,
 * whose ends do not show the force. NULL if there is no such expression with bounded values. modes: the initial ones;
 * the run is from start to stop. */
bounds *bounds_of_bends(const bounds_form *bends, const double *value, const double *modes, double start, double stop);
/* For a step from t0 to t1 with states x and rates f at its ends: the part of it, from its start, in which no
 * expression varies much within an eighth of the step; 1: all of it. */
double bounds_clear(bounds *b, const double *modes, const double t[2], const double *const x[2],
                    const double *const f[2]);

#endif
