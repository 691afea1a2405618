/* reach.h - how far a step may go before something happens that depends on time alone and that the step's ends do not
 * show
 *
 * Bounds of what is read of time (bounds.h in compiler/equations) hold for windows ahead that are longer than a step,
 * so that they are worked out once in many steps.
 *
 * units    s
 */
#ifndef BG_REACH_H
#define BG_REACH_H

#include "model.h"

typedef struct reach reach;

/* all: of every clock, else of those that rates read. NULL where there are none. The run is from start to stop. */
reach *reach_new(bg_model *m, double start, double stop, bool all);
void reach_free(reach *r);
/* Modes changed. */
void reach_forget(reach *r);
/* A step from t that wants to go h far, not beyond `end`: how far it may. */
double reach_step(reach *r, double t, double h, double end);
/* Does nothing happen within from..to? */
bool reach_clear(reach *r, double from, double to, size_t *clock);

#endif
