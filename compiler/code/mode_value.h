/* mode_value.h - the value of a mode, by the difference of its condition */
#ifndef BG_MODE_VALUE_H
#define BG_MODE_VALUE_H

#include <math.h>

#include "expr.h"
#include "kinds.h"

/* kind: of one that switches. table: of MODE_PIECE. */
static inline double
mode_value(enum mode_kind kind, const ex_table *table, double g)
{
    return kind == MODE_PIECE        ? ex_table_piece(table, g)
           : kind == MODE_FLOOR      ? floor(g)
           : kind == MODE_SIGN       ? (g > 0) - (g < 0)
           : kind == MODE_LESS       ? g < 0
           : kind == MODE_LESS_EQUAL ? g <= 0
                                     : g == 0;
}

/* Do modes of this kind switch? */
static inline bool
mode_switches(enum mode_kind kind)
{
    return kind != MODE_DOMAIN && kind != MODE_GIVEN && kind != MODE_STICK;
}

#endif
