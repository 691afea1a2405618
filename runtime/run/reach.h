/* reach.h - limits steps so that nothing that depends on time alone happens inside one unnoticed
 *
 * Bounds of clocks (bounds.h) are computed for windows ahead that are longer than a step, so that they are needed once
 * in many steps.
 *
 * units    s
 */
#ifndef BG_REACH_H
#define BG_REACH_H

#include "model.h"

typedef struct reach reach;

/* all: for every clock, else for those that rates read. NULL: there are none. The run is from start to stop. */
reach *reach_new(bg_model *m, double start, double stop, bool all);
void reach_free(reach *r);
/* Modes changed. */
void reach_forget(reach *r);
/* For a step from t of length h, not beyond `end`: the length allowed. */
double reach_step(reach *r, double t, double h, double end);
/* Does nothing happen within from..to? */
bool reach_clear(reach *r, double from, double to, size_t *clock);

#endif
