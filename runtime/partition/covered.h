/* covered.h - a run whose points lie where it went
 *
 * Points are spread from start to stop before the run; where its `stop when` ends it early, few are left. It is run
 * again then, to a little behind that.
 */
#ifndef BG_COVERED_H
#define BG_COVERED_H

#include "simulate.h"

/* As simulate; o->stop moves. A follower is told of the start again. */
bool covered_run(bg_model *m, sim_options *o, sim_result *r);

#endif
