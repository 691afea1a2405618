/* mechanisms.h - random mechanical models as text, and their mass, damping and stiffness from the equations of motion
 *
 * models   bodies with a mass each, or two of them a field of inertia, or one of them a field with a motion that
 *          depends on it; motions that are sums of others' through levers, through ratios that read positions, and of
 *          what sources give; on all of them masses (dependent ones), fields of them, springs, springs in series and
 *          behind levers, hardening ones, fields of springs, dampers, cubic ones, fields of dampers, friction by what
 *          another damper or spring gives, gyrators between bodies, condensers behind gyrators, forces
 * source   positions y_k(q) of all motions with their first and second derivatives; the forces on the bodies are
 *          R(a, v, q, u) = sum over parts of (dy/dq)' times what the part gives, with accelerations dy/dq a + v'
 *          d2y/dq2 v. M = dR/da, D = dR/dv, K = dR/dq by complex steps, exact but for rounding; so are inputs' columns
 * numbers  from one stream of random numbers, what is built from another: the same model with other numbers has the
 *          same text but for these
 */
#ifndef BG_TEST_MECHANISMS_H
#define BG_TEST_MECHANISMS_H

#include "base.h"

enum { MECHANISM_BODIES = 6 };

typedef struct mechanism mechanism;

/* round: numbers are often ones and halves, so that some are equal. */
mechanism *mechanism_new(uint64_t seed, uint64_t numbers, bool round);
void mechanism_free(mechanism *g);
size_t mechanism_bodies(const mechanism *g);
bool mechanism_moves(const mechanism *g); /* some ratio reads a position */
char *mechanism_text(const mechanism *g); /* free it */
/* What a state has at the point, by its name. False: there is no such state. */
bool mechanism_state(const mechanism *g, const char *name, double *value);
/* M, D, K by bodies, by columns; L by the inputs F, w, der(w); N by F, w, der(w). Each MECHANISM_BODIES rows. */
void mechanism_matrices(const mechanism *g, double *const to[5]);

#endif
