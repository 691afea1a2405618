/* separate.h - one text for each partition of a conditioned text, which compiles and runs alone
 *
 * Each is the conditioned text without the elements of the others. What it reads of them becomes an input, given in its
 * experiments by a spline of the signal as the other's run wrote it: `let vx_f = spline("S1_test.csv", "vx.f", time);`.
 * What others read of it is recorded. An output stands in the text of the last partition that it reads. Experiments
 * that were not asked for go.
 *
 * needs    a text that says each part once
 * cost     linear in the text for each partition
 */
#ifndef BG_SEPARATE_H
#define BG_SEPARATE_H

#include "local.h"
#include "subgraphs.h"

typedef struct part {
    const char *name; /* of its first subgraph: its file is NAME.bg, its runs NAME_EXPERIMENT.csv */
    char *text;
    size_t length;
    VEC(const char *) recorded; /* what others read of it, as text */
    VEC(uint32_t) reads;        /* parts before it */
    double replay; /* of its outputs against the conditioned text's: the greatest rms error over its own; NAN: it has
                      none */
    bool wanted;   /* something that stands in it was asked for, or it is needed for such a part; else it has no text */
} part;
typedef struct parts {
    VEC(part) part;
} parts;

/* run[i].text: the conditioned text. names[subgraph of it] by the caller: name_of(ctx, first element or junction).
 * Parts in an order in which they can run. Texts of reports in the arena. False: *why (free it). parts_free it in any
 * case. */
bool separate_text(const recording *run, size_t nruns,
                   const char *(*name_of)(void *ctx, const flat_model *f, const subgraph *s), void *ctx, arena *a,
                   parts *out, char **why);
void parts_free(parts *p);
/* "S1_smooth.csv" */
const char *part_csv(const part *p, const char *experiment, arena *a);

#endif
