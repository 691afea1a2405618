/* partition.h - a model taken apart where its power hardly flows: ratios, conditioning, subgraphs, texts, errors
 *
 * In this order: local ratios of the runs; the plan; signals frozen; the conditioned text, compiled and run, which may
 * refuse a link of the plan; subgraphs and loops; what the conditioning costs; on request a text for each partition,
 * run one after the other.
 *
 * units    SI
 */
#ifndef BG_PARTITION_H
#define BG_PARTITION_H

#include "partition_report.h"

typedef struct partition_options {
    const recording *run;
    size_t nruns;       /* of one text; the first experiment's graph is what is looked at */
    double limit, mora; /* below it a bond is inactive; what the elements that stay must add up to */
    const freeze *freeze;
    size_t nfreezes;
    const char *folder;   /* where the texts go; NULL: nowhere */
    const regime *regime; /* in which the model as given is ranked too */
    size_t nregimes;
    size_t points; /* of recorded signals; 0: as many as needed */
    int (*failed)(void *ctx, const sources *s);
    void *ctx; /* messages of a text that does not compile or run; returns a status */
} partition_options;

typedef struct partitioning {
    arena *arena;
    compilation graph, causal; /* of the text: as elaborated; with its causality */
    local_ratios local;
    link_plan plan;
    subgraphs subgraphs;
    const char *one_piece; /* one_piece.h */
    const link *next;
    double next_ratio; /* likewise: what a higher threshold would part */
    run_errors error;
    without less_whole, less_parts; /* without what is inactive in the whole, in the partitions */
    parts parts;
    folder_runs runs;
    table_rows table;
    name_lists inactive;    /* of the model as given, then of each partition */
    name_list all_inactive; /* of all partitions together, and of the whole what no output misses: of_whole */
    name_list of_whole;
    kept_parts kept;       /* what of the whole stays in the partitions after all */
    VEC(share_list) share; /* beside `inactive` */
    frozen_list frozen;
    double mora;  /* as asked for */
    bool regimes; /* the model as given was ranked in other times too */
    bool changed; /* something is conditioned or frozen */
    char *why;    /* PARTITION_USAGE, PARTITION_INTERNAL, PARTITION_FILE */
} partitioning;

enum partition_result { PARTITION_DONE, PARTITION_FAILED, PARTITION_USAGE, PARTITION_INTERNAL, PARTITION_FILE };
/* *out is filled; partitioning_free it in any case. */
enum partition_result partition_find(const partition_options *o, partitioning *out);
/* Ratios, links and subgraphs for several values of a parameter: the models are compiled once, and then looked at by
 * each (set; NULL: as they are). out's graphs are of's. partitioning_free in any case. */
enum partition_result partition_compile(const partition_options *o, partitioning *out, local_models *models);
enum partition_result partition_look(const partition_options *o, const partitioning *of, const local_models *models,
                                     const local_setting *set, partitioning *out);
partition_report partition_report_of(const partitioning *p);
void partitioning_free(partitioning *p);

#endif
