/* watch.h - quantities that may become infinite unnoticed by the integrator
 *
 * Outputs: nothing reads them, so that a run continues when one has no value; each is reported once, with the first
 * time and the operation that has no value. Poles: a divisor that changes its sign within a step was zero there. If the
 * rates grow without bound towards that place, the run has to stop; but sin(x)/x has a divisor that changes its sign,
 * too, and nothing happens. Nonlinear equations and those of ideal switches have no divisor to look at: for them the
 * reciprocal of an unknown is one, which changes its sign where the unknown does after growing.
 *
 * units    SI
 * errors   go to the model's sources (codes "run-output", "run-pole")
 */
#ifndef BG_WATCH_H
#define BG_WATCH_H

#include "integrator.h"

typedef struct watch watch;

/* powers: they are integrated, so that their poles count too */
watch *watch_new(bg_model *m, bool powers);
void watch_free(watch *w);

/* Call with the outputs y of a point of the grid at (t, x). False: one has no value. */
bool watch_outputs(watch *w, double t, const double *x, const double *y);
/* Reports outputs without a value. Returns how many there are. */
size_t watch_report(watch *w);

/* The run sets out anew from (t, x). */
void watch_start(watch *w, double t, const double *x);
/* Call when the part of the last step up to (t, x) is accepted. False: it contains a pole. */
bool watch_step(watch *w, integrator *g, double t, const double *x);
/* Whether equations that are solved together have unknowns that may pass through infinity; known once a run has
 * started. If so, call this too, after model_accept there. */
bool watch_solves(const watch *w);
bool watch_solved(watch *w, integrator *g, double t, const double *x);
/* Call when no step from t succeeds, however short. False: an unknown goes through infinity there. */
bool watch_edge(watch *w, integrator *g, double t);
/* Adds the divisor that comes to zero at (t, x), if one does, to an error that was just reported. */
void watch_note_divisor(watch *w, double t, const double *x);
/* Call when a condition contradicts its mode at (t, x) within the last step, with the modes before it. False: what it
 * reads went through infinity, not through zero. */
bool watch_switching(watch *w, integrator *g, double t, const double *x);

#endif
