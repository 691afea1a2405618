/* simplify.h - takes out what no power goes through (idle.h), and folds what only passes a bond on (fold.h), round by
 * round until nothing is left to take
 *
 * Every round is checked against the graph it must give, compiled and run in all experiments: outputs and the activity
 * of every element must be what they were, to the tolerance of the integration. Folds that are not exact so, or do not
 * compile, are left out, and the report says so.
 */
#ifndef BG_SIMPLIFY_H
#define BG_SIMPLIFY_H

#include "reduce.h"

typedef struct simplify_options {
    const char *const *experiment;
    size_t nexperiments; /* at least one, all of one model */
    const struct elaborate_override *set;
    size_t nset;      /* those of the text as it was given to the reduction */
    bool idle, folds; /* which of the two */
    void (*adjust)(void *ctx, bg_model *m, sim_options *o);
    void *ctx;
} simplify_options;

/* Goes on with a reduction that is done. s: the sources of the text as given, whose number is file. False: internal;
 * *why (free it). */
bool reduction_simplify(const char *path, const simplify_options *o, const sources *s, uint32_t file, reduction *r,
                        char **why);

#endif
