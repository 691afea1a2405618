/* paced.h - a linear map carried along pieces of a run in steps that keep a tolerance of their own
 *
 * Derivatives by initial values and parameters may have fast modes where the run itself has none, so that the run's
 * steps are no measure for theirs. A step is taken whole and in two halves; Richardson's estimate of what is left of
 * the halves decides how long the next ones may be, and how many may go without being looked at. Numbers whose
 * differences no shorter step makes smaller are rounding, and let be.
 *
 * source   Hairer, Norsett, Wanner (1993), Solving ODE I, II.4; tangent.h: order 5
 */
#ifndef BG_PACED_H
#define BG_PACED_H

#include <stdbool.h>
#include <stddef.h>

#include "model.h"

typedef struct paced {
    size_t n;
    double rtol;
    /* One step of v [n] from t0 to t1 (before t0 on the way back), in place. False: it has no value. */
    bool (*map)(void *ctx, double t0, double t1, double *v);
    /* What of v does not matter beside the greatest seen so far: floor [n]. */
    void (*least)(void *ctx, const double *seen, double *floor);
    void *ctx;
    double *seen, *floor, *noise, *whole, *from; /* [n]; noise: as part of the greatest of all */
    double pace, trusted;                        /* s: longest step; longest that need not be looked at */
    size_t unseen;                               /* how many of these */
} paced;

/* p: n, rtol (0: 1e-6), map, least, ctx set. paced_close it. */
void paced_open(paced *p);
void paced_close(paced *p);
bool paced_step(paced *p, double t0, double t1, double *v);
/* Something happened: what was trusted is no longer. */
void paced_forget(paced *p);

/* What derivatives of states by something, or (dual) of something by states, do not need to tell: a thousandth of the
 * greatest, as energies measure them, and of what moves the state, or that something, by its own size. metric: [n]
 * square roots of the energy's second derivatives, 0 of what stores none; size: [n] of the states. */
void paced_metric(const bg_model *m, const double *x, double *metric);
void paced_sizes(size_t n, const double *x, double *size); /* grow to |x| */
void paced_least(size_t n, const double *metric, const double *size, double something, bool dual, const double *seen,
                 double *floor);

#endif
