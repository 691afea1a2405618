/* first_solution.h - the solution that a model starts from, where equations that are solved together have several
 *
 * It is the one with the least power, the sum of |e f| over all elements. What comes later (a run, the search for an
 * equilibrium) continues from it. A note says that there are several.
 */
#ifndef BG_FIRST_SOLUTION_H
#define BG_FIRST_SOLUTION_H

#include "events.h"

enum first_solution {
    FIRST_ALONE,  /* there is only one; or it was chosen before, since the model was last told to forget */
    FIRST_KEPT,   /* that found first is the one */
    FIRST_CHANGED /* another one is: what followed from that found first is out of date */
};

/* At (t, x) with consistent modes. The choice is kept in the model's memory, and its modes are set. */
enum first_solution first_solution(bg_model *m, events *e, double t, const double *x);

/* Says which states start elsewhere than at `from` (stated values, or an equilibrium), because ideal switches leave
 * them no other values: at x. */
void first_moved(const bg_model *m, const double *from, const double *x);

/* The point at which a model is analysed without a run: its stated values at t or the equilibrium that follows from
 * them, the modes that hold there, and the first solution. Earlier modes and solutions are forgotten. False: a
 * diagnostic says why. */
bool first_point(bg_model *m, double t, bool rests, double *x);

#endif
