/* partition_report.h - prints a partitioning, as JSON and for people
 *
 * JSON values are SI; the keys of bonds, subgraphs and loops are a contract: other programs rely on them.
 */
#ifndef BG_PARTITION_REPORT_H
#define BG_PARTITION_REPORT_H

#include <stdio.h>

#include "condition.h"
#include "folder.h"
#include "frozen.h"
#include "inactive.h"
#include "separate.h"
#include "subgraphs.h"

typedef VEC(table_row) table_rows;
typedef VEC(name_list) name_lists;
/* A model without its inactive elements: those that have to stay because it would not run without them, and the
 * errors. */
typedef struct without {
    name_list stay;
    run_errors error;
} without;
typedef VEC(frozen) frozen_list;

/* An element that goes from the whole model and stays in the partitions: its shares of the activity, and the effect of
 * taking it out. */
typedef struct kept_part {
    const char *name, *part; /* the partition that contains it */
    double share, share_of_part;
    const char *output, *experiment; /* the output that would change most; NULL: the model would not run */
    double off, off_before;          /* rms error of that output over its rms, without the element and with it */
} kept_part;
typedef VEC(kept_part) kept_parts;

typedef struct partition_report {
    const char *model;
    const flat_model *f;
    const local_ratios *local;
    const link_plan *plan;
    const subgraphs *subgraphs;
    const char *one_piece; /* why there is one partition only; NULL: there are several */
    const link *next;
    double next_ratio;       /* the link that a higher threshold would cut; NULL: none */
    const run_errors *error; /* errors of the conditioned text, in all experiments */
    const parts *parts;
    const folder_runs *runs;
    const table_rows *table;
    const name_lists *inactive; /* inactive elements of the whole, then of each partition */
    /* those of all partitions together, and those of the whole that no output misses */
    const name_list *all_inactive;
    const name_list *of_whole;              /* the latter */
    const kept_parts *kept;                 /* elements inactive in the whole that have to stay in the partitions */
    const without *less_whole, *less_parts; /* without these */
    double mora;
    bool regimes; /* the model as given was also ranked at further times */
    const frozen_list *frozen;
    bool conditioned; /* a text was conditioned */
} partition_report;

void partition_report_json(const partition_report *r, FILE *out);
void partition_report_text(const partition_report *r, bool verbose, FILE *out);

#endif
