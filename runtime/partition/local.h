/* local.h - local activity ratios: each bond against the largest at each of its junctions, in each window of each
 * experiment
 *
 * A study is one window of one experiment (the whole run where it has none). Its ratios are those of junction.h. A bond
 * counts as inactive at a junction only where it is so in every study, so that the greatest ratio over the studies
 * decides.
 *
 * units    J; ratios are pure numbers, NAN where nothing flows at the junction, or at that end of the bond there is
 *          none
 * source   Rideout and Stein, eqs. 1 and 2
 */
#ifndef BG_LOCAL_H
#define BG_LOCAL_H

#include "junction.h"
#include "predict.h"

typedef struct local_study {
    const char *experiment;
    double from, to;                             /* s */
    double *bond_activity, *bond_from, *bond_to; /* [nbond] */
    double *port_activity, *port;                /* [nport] */
} local_study;

typedef struct local_ratios {
    size_t nbonds, nports;
    VEC(local_study) study;
    local_study
        greatest; /* over the studies; activities: of an experiment the sum over its windows, of several the greatest */
} local_ratios;

enum local_result {
    LOCAL_DONE,
    LOCAL_FAILED, /* a run failed: `failed` was called with its messages */
    LOCAL_OTHER_GRAPH
}; /* an experiment makes another graph of the text (sizes): *other is its name */
/* A recording's model each. */
typedef struct local_models {
    compilation *c;
    size_t n;
} local_models;
/* f: of the text of the recordings. local_models_free *out in any case. */
enum local_result local_compile(const flat_model *f, const recording *r, size_t n,
                                void (*failed)(void *ctx, const sources *s), void *ctx, local_models *out,
                                const char **other);
void local_models_free(local_models *m);
/* What the models have by another value of a parameter (SI): instances of their own are run. */
typedef struct local_setting {
    const char *parameter;
    double value;
} local_setting;
/* set: NULL: none. local_free *out in any case. */
enum local_result local_measure(const local_models *m, const recording *r, const local_setting *set,
                                void (*failed)(void *ctx, const sources *s), void *ctx, local_ratios *out);
void local_free(local_ratios *l);

#endif
