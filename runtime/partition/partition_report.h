/* partition_report.h - what a partitioning found, as JSON and for people
 *
 * JSON is SI; the keys of its bonds, subgraphs and loops are a contract (other programs rely on them).
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
/* A model without what is inactive in it: what of that has to stay, for else it does not run, and the errors of the
 * rest. */
typedef struct without {
    name_list stay;
    run_errors error;
} without;
typedef VEC(frozen) frozen_list;

/* An element that the model as given loses and the partitions together do not: its shares of the activity, and what its
 * loss would do. */
typedef struct kept_part {
    const char *name, *part; /* the partition that it is in */
    double share, share_of_part;
    const char *output, *experiment; /* that would be off most; NULL: what is left would not run */
    double off, off_before;          /* its rms error as a share of its rms, without the element and with it */
} kept_part;
typedef VEC(kept_part) kept_parts;

typedef struct partition_report {
    const char *model;
    const flat_model *f;
    const local_ratios *local;
    const link_plan *plan;
    const subgraphs *subgraphs;
    const char *one_piece; /* why it is one; NULL: it is not */
    const link *next;
    double next_ratio;       /* what a higher threshold would part; NULL: nothing */
    const run_errors *error; /* of the conditioned text, in all experiments */
    const parts *parts;
    const folder_runs *runs;
    const table_rows *table;
    const name_lists *inactive;             /* of the whole, then of each partition */
    const name_list *all_inactive;          /* of all partitions together, and of the whole what no output misses */
    const name_list *of_whole;              /* the latter */
    const kept_parts *kept;                 /* what of the whole stays in the partitions after all */
    const without *less_whole, *less_parts; /* without these */
    double mora;
    bool regimes; /* the model as given was ranked in times of its own too */
    const frozen_list *frozen;
    bool conditioned; /* a text was conditioned */
} partition_report;

void partition_report_json(const partition_report *r, FILE *out);
void partition_report_text(const partition_report *r, bool verbose, FILE *out);

#endif
