/* sampled.h - a run's columns as a table to be read by splines: as few points as do
 *
 * The natural cubic splines through the points that are written are no further from any sample than a share of its
 * column's range. Where the run switched and a column has a corner or a jump, the time is written twice, with the
 * values from either side: the spline parts there (`spline` in LANGUAGE.md), so that corners stay corners. However
 * often it switches, the values are those of the run.
 *
 * units    the columns'; times in s
 * source   de Boor (2001), A Practical Guide to Splines, IV
 */
#ifndef BG_SAMPLED_H
#define BG_SAMPLED_H

#include <stdio.h>

#include "columns.h"

/* event: [nevents] times at which something may jump, ascending. sides: of those that are known two rows each, before
 * and after, the same columns. share: 0 writes all samples. *points: rows written. The return value is the greatest
 * distance of a sample from its spline, as a share of its column's range. */
double sampled_write(FILE *out, const columns *c, const columns *sides, const double *event, size_t nevents,
                     double share, size_t *points);

#endif
