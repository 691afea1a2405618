/* covered.h - a run whose recorded points cover the time that it actually ran
 *
 * Points are spread from start to stop before the run. Where `stop when` ends the run early, few of them are left; then
 * the experiment is run again with a stop time a little after that end.
 */
#ifndef BG_COVERED_H
#define BG_COVERED_H

#include "simulate.h"

/* Like simulate; changes o->stop. A follower of the run is told of the start a second time. */
bool covered_run(bg_model *m, sim_options *o, sim_result *r);

#endif
