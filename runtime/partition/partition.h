/* partition.h - divides a model at bonds of low activity: ratios, conditioning, subgraphs, texts, errors
 *
 * The order: local activity ratios from the runs; the plan of links to cut; freezing of signals; the conditioned text,
 * compiled and run, which may refuse a link of the plan; subgraphs and loops; the error that conditioning causes; on
 * request a text for each partition, and runs of these one after the other.
 *
 * units    SI
 */
#ifndef BG_PARTITION_H
#define BG_PARTITION_H

#include "partition_report.h"

typedef struct partition_options {
    const recording *run;
    size_t nruns; /* all of one text; the graph is that of the first experiment */
    /* limit: a bond with a smaller ratio is inactive; mora: share of the activity that the remaining elements must
     * have */
    double limit, mora;
    const freeze *freeze;
    size_t nfreezes;
    const char *folder;   /* folder for the texts; NULL: write none */
    const regime *regime; /* further times at which the model as given is ranked */
    size_t nregimes;
    size_t points; /* points of recorded signals; 0: as many as needed */
    int (*failed)(void *ctx, const sources *s);
    void *ctx; /* reports a text that does not compile or run; returns a status */
} partition_options;

typedef struct partitioning {
    arena *arena;
    compilation graph, causal; /* compilations of the text: as elaborated, and with its causality */
    local_ratios local;
    link_plan plan;
    subgraphs subgraphs;
    const char *one_piece; /* one_piece.h */
    const link *next;
    double next_ratio; /* likewise: ratio above which a higher threshold would separate more */
    run_errors error;
    without less_whole, less_parts; /* without the elements that are inactive in the whole, and in the partitions */
    parts parts;
    folder_runs runs;
    table_rows table;
    name_lists inactive; /* inactive elements of the model as given, then of each partition */
    /* those of all partitions together, and those of the whole model that no output misses (of_whole) */
    name_list all_inactive;
    name_list of_whole;
    kept_parts kept;       /* elements inactive in the whole model that have to stay in the partitions */
    VEC(share_list) share; /* beside `inactive` */
    frozen_list frozen;
    double mora;  /* as asked for */
    bool regimes; /* the model as given was also ranked at further times */
    bool changed; /* something is conditioned or frozen */
    char *why;    /* PARTITION_USAGE, PARTITION_INTERNAL, PARTITION_FILE */
} partitioning;

enum partition_result { PARTITION_DONE, PARTITION_FAILED, PARTITION_USAGE, PARTITION_INTERNAL, PARTITION_FILE };
/* Fills *out. Call partitioning_free(out) in any case. */
enum partition_result partition_find(const partition_options *o, partitioning *out);
/* Ratios, links and subgraphs for several values of a parameter: partition_compile compiles the models once, then
 * partition_look finds them for each value (set; NULL: as compiled). The graphs in `out` belong to `of`. Call
 * partitioning_free in any case. */
enum partition_result partition_compile(const partition_options *o, partitioning *out, local_models *models);
enum partition_result partition_look(const partition_options *o, const partitioning *of, const local_models *models,
                                     const local_setting *set, partitioning *out);
partition_report partition_report_of(const partitioning *p);
void partitioning_free(partitioning *p);

#endif
