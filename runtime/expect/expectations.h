/* expectations.h - compares a run with the expectations of its experiment (`expect` in the text)
 *
 * needs    a model compiled with compile_options.expect
 * units    SI, except that an activity is a share
 * moments  values are those of the integrator's steps at that time, not interpolated between samples; where something
 *          switches or jumps at that time, those after it, as in the table of a run
 */
#ifndef BG_EXPECTATIONS_H
#define BG_EXPECTATIONS_H

#include "compile.h"
#include "simulate.h"

typedef struct expectation {
    const flat_expect *of;
    bool holds;
    double value, wanted; /* at that time; for a trajectory or another model where the difference is greatest */
    double within, off;   /* tolerance, |value - wanted| */
    double time;          /* s; NAN: for the whole run */
    size_t moments;       /* compared */
    char *why;            /* why it could not be compared; else NULL */
} expectation;

typedef struct expectations {
    VEC(expectation) list;
    double seconds; /* of the run */
} expectations;

typedef struct expect_options {
    /* changes the run's options, as for simulate; may be NULL */
    void (*adjust)(void *ctx, bg_model *m, sim_options *o);
    void *ctx;
} expect_options;

/* Runs the model of c and compares. False: it did not run, see its diagnostics. Call expectations_free in any case. */
bool expectations_run(compilation *c, const expect_options *o, expectations *e);
void expectations_free(expectations *e);

#endif
