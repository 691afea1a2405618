/* separate.h - makes a text for each partition of a conditioned text, which compiles and runs alone
 *
 * Each text is the conditioned one without the elements of other partitions. A variable of another partition becomes an
 * input; experiments give it as a spline through the values that the other's run wrote: `let vx_f =
 * spline("S1_test.csv", "vx.f", time);`. Variables that other partitions read are recorded. An output stands in the
 * text of the last partition that it reads. Experiments that were not asked for are removed.
 *
 * needs    a text in which each part is written once
 * cost     linear in the text, for each partition
 */
#ifndef BG_SEPARATE_H
#define BG_SEPARATE_H

#include "local.h"
#include "subgraphs.h"

typedef struct part {
    const char *name; /* name of its first subgraph: its file is NAME.bg, its runs are NAME_EXPERIMENT.csv */
    char *text;
    size_t length;
    VEC(const char *) recorded; /* expressions that other partitions read, as text */
    VEC(uint32_t) reads;        /* parts before it */
    /* greatest rms error of its outputs against those of the conditioned text, over the output's rms; NAN: it has no
     * outputs */
    double replay;
    bool wanted; /* false: nothing in it was asked for and no wanted part needs it; then it has no text */
} part;
typedef struct parts {
    VEC(part) part;
} parts;

/* run[i].text: the conditioned text. name_of(ctx, f, s) names a subgraph of it. The parts come in an order in which
 * they can run; names and texts of reports are in the arena. False: *why (free() it). Call parts_free(out) in any
 * case. */
bool separate_text(const recording *run, size_t nruns,
                   const char *(*name_of)(void *ctx, const flat_model *f, const subgraph *s), void *ctx, arena *a,
                   parts *out, char **why);
void parts_free(parts *p);
/* "S1_smooth.csv" */
const char *part_csv(const part *p, const char *experiment, arena *a);

#endif
