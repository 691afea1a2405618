/* paced.h - a linear map carried along pieces of a run in steps that keep a tolerance of their own
 *
 * Derivatives by initial values and parameters may have fast modes where the run itself has none, so that the run's
 * steps are no measure for theirs. A step is taken whole and in two halves; Richardson's estimate of what is left of
 * the halves says how long steps may be. Ten steps that are no longer then go without being looked at. Numbers whose
 * differences no shorter step makes smaller are rounding, and let be, as are those that the map says are.
 *
 * source   Hairer, Norsett, Wanner (1993), Solving ODE I, II.4; tangent.h: order 5
 */
#ifndef BG_PACED_H
#define BG_PACED_H

#include <stdbool.h>
#include <stddef.h>

#include "simulate.h"

typedef struct paced {
    size_t n;
    /* One step of v [n] from t0 to t1 (before t0 on the way back), in place; what rounding may leave in it added to
     * rounding, if not NULL. False: it has no value. */
    bool (*map)(void *ctx, double t0, double t1, double *v, double *rounding);
    /* What of v does not matter, from the greatest seen so far: floor [n]. */
    void (*least)(void *ctx, const double *seen, double *floor);
    void *ctx;
    double rtol;
    size_t steps, most;                  /* taken; allowed */
    double *seen, *floor, *whole, *from; /* [n] */
    double *rounding, *noise;            /* [n] of the last step looked at; as part of the greatest of all */
    double pace, until;                  /* s: longest step; of the clock, when time is up */
    size_t unseen;                       /* so many more need not be looked at */
    bool wary;                           /* the last one of each call is looked at all the same (paced_wary) */
    size_t worst;                        /* of the last one looked at: off by most */
    const char *why;                     /* NULL: the map has no value */
} paced;

/* p: n, map, least, ctx set; rtol and limits as of the run. paced_close it. */
void paced_open(paced *p, const sim_options *o);
void paced_close(paced *p);
/* Of ideal switches among laws with roots: where they close or open, a slope may be infinite, and all pieces' ends may
 * be such a place. */
bool paced_wary(bg_model *m);
/* False: *why, if not NULL, says which limit was reached. */
bool paced_step(paced *p, double t0, double t1, double *v);
/* Something happened: how long steps may be is not known any more. */
void paced_forget(paced *p);

/* What does not matter in derivatives of states by something, or (dual) of something by states: what moves the state,
 * or that something, by a thousandth of its own size, or of what the greatest of these derivatives does. scale: [n] of
 * the states, next to nothing where nothing is known. The result is, in sizes of states by something, that greatest. */
double paced_least(size_t n, const double *scale, double something, bool dual, const double *seen, double *floor);
double paced_share(double size);  /* what does not matter beside it */
double paced_known(double scale); /* of a state, or that of one that has rested so far */

#endif
