/* local.h - local activity ratios: the activity of each bond against the largest at each of its junctions
 *
 * A study is one window of one experiment (the whole run where it has none); its ratios are those of junction.h. A bond
 * counts as inactive at a junction only where it is inactive in every study, so that the greatest ratio over all
 * studies decides.
 *
 * units    J; ratios are pure numbers, NAN where nothing flows at the junction, or where the bond has no junction at
 *          that end
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
    /* over the studies; activities: summed over the windows of an experiment, then the greatest of all
     * experiments */
    local_study greatest;
} local_ratios;

enum local_result {
    LOCAL_DONE,
    LOCAL_FAILED, /* a run failed: `failed` was called with its messages */
    LOCAL_OTHER_GRAPH
}; /* an experiment makes another graph of the text (sizes): *other is its name */
/* The compiled model of each recording. */
typedef struct local_models {
    compilation *c;
    size_t n;
} local_models;
/* f: flat model of the text of the recordings. Call local_models_free(out) in any case. */
enum local_result local_compile(const flat_model *f, const recording *r, size_t n,
                                void (*failed)(void *ctx, const sources *s), void *ctx, local_models *out,
                                const char **other);
void local_models_free(local_models *m);
/* Another value of a parameter (SI): the models' runs then use instances of their own. */
typedef struct local_setting {
    const char *parameter;
    double value;
} local_setting;
/* set NULL: parameters as compiled. Call local_free(out) in any case. */
enum local_result local_measure(const local_models *m, const recording *r, const local_setting *set,
                                void (*failed)(void *ctx, const sources *s), void *ctx, local_ratios *out);
void local_free(local_ratios *l);

#endif
