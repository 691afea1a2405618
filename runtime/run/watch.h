/* watch.h - what may become infinite without the integrator seeing it
 *
 * Outputs: nothing reads them, so that a run goes on where one has no value; each is reported once, with the first time
 * and the operation that has none. Poles: a divisor that changes its sign within a step was zero there. Where the rates
 * grow without bound towards that place the run has to end; sin(x)/x has a divisor that changes its sign too, and
 * nothing happens. What solves nonlinear equations, or those of ideal switches, has no divisor to look at: its
 * reciprocal is one, that changes its sign where the unknown does and grew before.
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

/* The outputs y were computed for a point of the grid at (t, x). False: one has no value. */
bool watch_outputs(watch *w, double t, const double *x, const double *y);
/* Reports outputs without a value. Returns how many there are. */
size_t watch_report(watch *w);

/* The run sets out anew from (t, x). */
void watch_start(watch *w, double t, const double *x);
/* The part of the last step up to (t, x) is accepted. False: a pole is in it. */
bool watch_step(watch *w, integrator *g, double t, const double *x);
/* Are there equations solved together whose unknowns may pass through infinity? Known once a run has set out. Then this
 * is asked too, after model_accept there. */
bool watch_solves(const watch *w);
bool watch_solved(watch *w, integrator *g, double t, const double *x);
/* No step, however short, leads on from t. False: it is a place where an unknown goes through infinity. */
bool watch_edge(watch *w, integrator *g, double t);
/* A condition contradicts its mode at (t, x) within the last step, the modes being those before. False: what it reads
 * went through infinity, and not through zero. */
bool watch_switching(watch *w, integrator *g, double t, const double *x);

#endif
