/* partition.h - a model taken apart where its power hardly flows: ratios, conditioning, subgraphs, from the text and its experiments
 *
 * units    SI
 */
#ifndef BG_PARTITION_H
#define BG_PARTITION_H

#include "partition_report.h"

typedef struct partition_options {
    const recording *run; size_t nruns;      /* of one text; the first experiment's graph is what is looked at */
    double limit;
    void (*failed)(void *ctx, const sources *s); void *ctx;      /* messages of a text that does not compile or run */
} partition_options;

typedef struct partitioning {
    arena *arena;
    compilation graph, causal;               /* of the text: as elaborated; with its causality */
    local_ratios local;
    link_plan plan;
    subgraphs subgraphs;
    const char *one_piece;                   /* one_piece.h */
    const char *other;                       /* PARTITION_OTHER_GRAPH: the experiment */
} partitioning;

enum partition_result { PARTITION_DONE, PARTITION_FAILED, PARTITION_OTHER_GRAPH };
/* *out is filled; partitioning_free it in any case. */
enum partition_result partition_find(const partition_options *o, partitioning *out);
partition_report partition_report_of(const partitioning *p);
void partitioning_free(partitioning *p);

#endif
