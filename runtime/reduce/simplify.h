/* simplify.h - removes parts without power (idle.h) and folds parts that only pass a bond on (fold.h), in rounds, until
 * nothing is left to do
 *
 * After every round the graph is compared with the expected one, and the text is compiled and run in all experiments:
 * outputs and the activity of every element must agree with those before, within the tolerance of the integration.
 * Folds that do not agree, or do not compile, are left out and reported.
 */
#ifndef BG_SIMPLIFY_H
#define BG_SIMPLIFY_H

#include "reduce.h"

typedef struct simplify_options {
    const char *const *experiment;
    size_t nexperiments; /* at least one, all of one model */
    const struct elaborate_override *set;
    size_t nset;            /* those of the text as it was given to the reduction */
    bool idle, folds;       /* which of the two to do */
    compile_shared *shared; /* as for reduce_within */
    void (*adjust)(void *ctx, bg_model *m, sim_options *o);
    void *ctx;
} simplify_options;

/* Continues a finished reduction. s: the sources of the text as given, whose number is file. False: an internal error,
 * *why (free() it). */
bool reduction_simplify(const char *path, const simplify_options *o, const sources *s, uint32_t file, reduction *r,
                        char **why);

#endif
