/* predict.h - what trajectories say about candidates before anything is taken out
 *
 * An element's power is small because its own variable is small beside what else is summed at its junction, or because
 * the variable that the junction's bonds share is small beside its neighbours'. The first reads: without the element
 * nothing changes (drop it). The second: the junction is at rest (clamp it): a body that is ground, a spring that is
 * rigid.
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
    const compile_shared *shared; /* what it compiles with others of its kind; NULL: nothing. Outlives the models */
} recording;
/* How its text is compiled. */
static inline compile_options
recording_options(const recording *r)
{
    return (compile_options){ .experiment = r->experiment, .set = r->set, .nset = r->nset, .shared = r->shared };
}

typedef struct factor {
    double activity; /* integral of |P| */
    /* of its own and of the shared variable over the greatest it stands beside; INFINITY: beside none. Its own stands
     * beside what is summed at its junction, or at those that its junction's neighbours pass it on to (a strut's
     * efforts at the bodies), whichever makes it smaller. */
    double own, common;
} factor;

/* By element, from the sum over n experiments of one model, which are run again: their compiled models, and what fills
 * their runs' options beyond the experiment's (NULL: nothing). workers: so many runs at a time, 0: as many as there are
 * cores; what comes of it is the same. False where the runs do not tell, as efforts and flows
 * are not finite all along. */
bool predict_factors(bg_model *const *m, size_t n, size_t workers,
                     void (*adjust)(void *ctx, bg_model *m, sim_options *o), void *ctx, factor *out);
/* The same in two parts: with several workers the runs are made beside this process between them. m outlives them. */
typedef struct factors_run factors_run;
factors_run *factors_begin(bg_model *const *m, size_t n, size_t workers,
                           void (*adjust)(void *ctx, bg_model *m, sim_options *o), void *ctx);
/* Frees r. */
bool factors_end(factors_run *r, factor *out);

#endif
