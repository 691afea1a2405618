/* first_solution.h - which solution a run sets out from, where equations that are solved together have several
 *
 * The one with the least power: the sum of |e f| over all elements. Later the run follows it. That there are several is
 * said.
 */
#ifndef BG_FIRST_SOLUTION_H
#define BG_FIRST_SOLUTION_H

#include "events.h"

/* At (t, x), where the modes agree; what is chosen is kept in the model's memory, and modes that go with it are set.
 * True: it is another one than that found first, so that what followed from that is out of date. */
bool first_solution(bg_model *m, events *e, double t, const double *x);

#endif
