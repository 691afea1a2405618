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
#include "separate.h"
#include "subgraphs.h"

/* One model of the comparison: as given, conditioned, each partition. */
typedef struct table_row { const char *name; size_t elements, states, dependent, loops; uint64_t steps; double seconds; } table_row;
typedef VEC(table_row) table_rows;
/* Elements that a threshold on activity would take out, in a model. */
typedef struct name_list { const char *of; VEC(const char *) name; } name_list;
typedef VEC(name_list) name_lists;
typedef VEC(frozen) frozen_list;

typedef struct partition_report {
    const char *model;
    const flat_model *f;
    const local_ratios *local;
    const link_plan *plan;
    const subgraphs *subgraphs;
    const char *one_piece;       /* why it is one; NULL: it is not */
    const run_errors *error;     /* of the conditioned text, in all experiments */
    const parts *parts;
    const folder_runs *runs;
    const table_rows *table;
    const name_lists *inactive;  /* of the whole, then of each partition */
    double mora;
    const frozen_list *frozen;
    bool conditioned;            /* a text was conditioned */
} partition_report;

void partition_report_json(const partition_report *r, FILE *out);
void partition_report_text(const partition_report *r, bool verbose, FILE *out);

#endif
