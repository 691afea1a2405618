/* sampled.h - writes the columns of a run as a table for spline interpolation, with as few points as needed
 *
 * The natural cubic splines through the written points stay within a given share of each column's range of all samples.
 * Where the run switched and a column has a corner or a jump, the time is written twice, with the values on either
 * side: a spline ends there and a new one begins (`spline` in LANGUAGE.md), so that corners stay sharp.
 *
 * units    those of the columns; times in s
 * source   de Boor (2001), A Practical Guide to Splines, IV
 */
#ifndef BG_SAMPLED_H
#define BG_SAMPLED_H

#include <stdio.h>

#include "columns.h"

/* event: [nevents] ascending times at which a column may jump. sides: for the events whose sides are known two rows
 * each, before and after, with the same columns. share: tolerated distance, 0 writes all samples. *points: rows
 * written. Returns the greatest distance of a sample from its spline, as a share of the column's range. */
double sampled_write(FILE *out, const columns *c, const columns *sides, const double *event, size_t nevents,
                     double share, size_t *points);

#endif
