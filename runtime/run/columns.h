/* columns.h - the columns of a run's table: outputs, recorded expressions and, on request, states
 *
 * units    values in SI; display is the declared unit, NULL if that is SI or unknown
 */
#ifndef BG_COLUMNS_H
#define BG_COLUMNS_H

#include "shown.h"
#include "simulate.h"

/* quantity: the domain's name of an effort or flow; NULL for others */
typedef struct column {
    const char *name, *quantity;
    const unit *unit, *display;
    const double *at;
    size_t stride;
} column;
typedef struct columns {
    size_t points;
    const double *time;
    VEC(column) column;
} columns;

/* Uses m and r, which must outlive it. A state that is also an output of the same name appears once. */
void columns_make(bg_model *m, const sim_result *r, columns *c);
void columns_free(columns *c);
/* In SI. Adding 0 removes the sign of a zero. */
static inline double
column_at(const column *c, size_t point)
{
    return c->at[point * c->stride] + 0.0;
}
/* In the column's unit. */
double column_shown(const column *c, size_t point);
/* The unit as text; NULL for pure numbers and unknown units. */
const char *column_unit(const column *c);

#endif
