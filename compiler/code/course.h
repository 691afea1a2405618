/* course.h - interval arithmetic on a value and its first two time derivatives
 *
 * Bounds are not rounded outwards.
 */
#ifndef BG_COURSE_H
#define BG_COURSE_H

#include "expr.h"

typedef struct interval {
    double lo, hi;
} interval;
typedef struct course {
    interval v, d, s;
} course; /* value, first and second derivative */

extern const interval interval_everything, interval_zero;
interval interval_point(double x);
bool interval_is_point(interval x);
interval interval_join(interval x, interval y);

course course_still(double x);
course course_unary(uint8_t op, const course *u);
course course_binary(uint8_t op, const course *x, const course *y);
/* The value or slope of a table at x. piece: the number of the piece that contains x; NULL: any around x. */
course course_table(const ex_table *t, bool slopes, const course *x, const course *piece);

#endif
