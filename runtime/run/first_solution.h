/* first_solution.h - which solution a model sets out from, where equations that are solved together have several
 *
 * The one with the least power: the sum of |e f| over all elements. What comes later (a run, the search for rest)
 * follows it. That there are several is said.
 */
#ifndef BG_FIRST_SOLUTION_H
#define BG_FIRST_SOLUTION_H

#include "events.h"

enum first_solution {
    FIRST_ALONE,  /* there is no other; or it was chosen before, since the model was last told to forget */
    FIRST_KEPT,   /* that found first is the one */
    FIRST_CHANGED /* another one is: what followed from that found first is out of date */
};

/* At (t, x), where the modes agree; what is chosen is kept in the model's memory, and modes that go with it are set. */
enum first_solution first_solution(bg_model *m, events *e, double t, const double *x);

/* The point that a model is looked at without a run: its stated values at t or the rest that follows from them, the
 * modes that hold there, the first solution. What was there before is forgotten. False: said. */
bool first_point(bg_model *m, double t, bool rests, double *x);

#endif
