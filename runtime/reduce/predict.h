/* predict.h - predicts from trajectories whether a candidate should be dropped or clamped
 *
 * An element's power is small either because its own variable is small compared with the other terms summed at its
 * junction, or because the junction's common variable is small compared with its neighbours'. In the first case the
 * element can be dropped. In the second the junction is nearly at rest and can be clamped: a body becomes ground, a
 * spring becomes rigid.
 *
 * units    SI
 */
#ifndef BG_PREDICT_H
#define BG_PREDICT_H

#include "compile.h"
#include "simulate.h"

/* A text and how one experiment of it is run. */
typedef struct recording {
    const char *path, *text;
    size_t length;
    const char *experiment;
    const struct elaborate_override *set;
    size_t nset;
    void (*adjust)(void *ctx, bg_model *m, sim_options *o);
    void *ctx;
    const compile_shared *shared; /* shared compilation data; NULL: none. Must outlive the models */
} recording;
/* The options with which its text is compiled. */
static inline compile_options
recording_options(const recording *r)
{
    return (compile_options){ .experiment = r->experiment, .set = r->set, .nset = r->nset, .shared = r->shared };
}

typedef struct factor {
    double activity; /* integral of |P| */
    /* Its own variable and the common variable, each over the greatest it is compared with; INFINITY: there is none.
     * The own variable is compared with the terms at its junction, or with those at the junctions to which the
     * neighbours pass it on (a strut's efforts at the bodies), whichever gives the smaller ratio. */
    double own, common;
} factor;

/* Factors by element, from n experiments of one model, which are run again with their compiled models. adjust fills run
 * options that the experiment does not (NULL: none). workers: number of parallel runs, 0: one a core; the result does
 * not depend on it. False: the runs give no factors, for instance because efforts or flows are not finite. */
bool predict_factors(bg_model *const *m, size_t n, size_t workers,
                     void (*adjust)(void *ctx, bg_model *m, sim_options *o), void *ctx, factor *out);
/* The same in two parts: with several workers the runs proceed in other threads in between, with instances of their
 * own. The models, and the array of them, must outlive them. */
typedef struct factors_run factors_run;
factors_run *factors_begin(bg_model *const *m, size_t n, size_t workers,
                           void (*adjust)(void *ctx, bg_model *m, sim_options *o), void *ctx);
void factors_await(factors_run *r); /* no thread runs any more when it returns. NULL is fine */
/* Frees r. */
bool factors_end(factors_run *r, factor *out);
void factors_drop(factors_run *r); /* they are not needed; frees r. NULL is fine */

#endif
