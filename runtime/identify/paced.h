/* paced.h - applies a linear map along a run in steps that keep a tolerance of their own
 *
 * Derivatives by initial values and parameters may have fast modes where the run itself has none, so that the steps of
 * the run may be too long for them. Each step is made once whole and once in two halves; Richardson's estimate of the
 * error of the halves gives the next step. Ten steps that are no longer are then made without this check. Differences
 * that do not decrease with shorter steps are rounding errors and are accepted, as are those that the map reports as
 * such.
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
    /* One step of v [n] from t0 to t1 (backwards: t1 < t0), in place; adds the possible rounding errors of v to
     * `rounding` where that is not NULL. False: the map is not defined. */
    bool (*map)(void *ctx, double t0, double t1, double *v, double *rounding);
    /* Absolute tolerances floor [n], from the greatest values of v seen so far. */
    void (*least)(void *ctx, const double *seen, double *floor);
    void *ctx;
    double rtol;
    size_t steps, most;                  /* taken; allowed */
    double *seen, *floor, *whole, *from; /* [n] */
    double *rounding, *noise;            /* [n] of the last checked step; relative to the greatest value */
    double pace, until;                  /* s: longest step; clock time at which to stop */
    size_t unseen;                       /* number of further steps that need no check */
    bool wary;                           /* check the last step of each call in any case (paced_wary) */
    size_t worst;                        /* of the last checked step: the component with the greatest error */
    const char *why;                     /* NULL: the map is not defined */
} paced;

/* p: n, map, least, ctx set; rtol and limits as in the run. Call paced_close in any case. */
void paced_open(paced *p, const sim_options *o);
void paced_close(paced *p);
/* For ideal switches among laws with roots: where a switch closes or opens, a slope may be infinite, and the end of any
 * piece may be such a place. */
bool paced_wary(bg_model *m);
/* False: *why, if not NULL, says which limit was reached. */
bool paced_step(paced *p, double t0, double t1, double *v);
/* After an event: the step length is unknown again. */
void paced_forget(paced *p);

/* Absolute tolerances for derivatives of states by some quantity, or (dual) of some quantity by states: an error that
 * moves the state, or the quantity, by a thousandth of its own size, or of the effect of the greatest of these
 * derivatives. scale: [n] sizes of the states, tiny where unknown. Returns that greatest derivative, in sizes of states
 * by the quantity. */
double paced_least(size_t n, const double *scale, double something, bool dual, const double *seen, double *floor);
double paced_share(double size);  /* error that does not matter for a value of this size */
double paced_known(double scale); /* size of a state, or of one that has rested so far */

#endif
