/* partition_report.h - what a partitioning found, as JSON and for people
 *
 * JSON is SI; the keys of its bonds, subgraphs and loops are a contract (other programs rely on them).
 */
#ifndef BG_PARTITION_REPORT_H
#define BG_PARTITION_REPORT_H

#include <stdio.h>

#include "subgraphs.h"

typedef struct partition_report {
    const char *model;
    const flat_model *f;
    const local_ratios *local;
    const link_plan *plan;
    const subgraphs *subgraphs;
    const char *one_piece;       /* why it is one; NULL: it is not */
} partition_report;

void partition_report_json(const partition_report *r, FILE *out);
void partition_report_text(const partition_report *r, bool verbose, FILE *out);

#endif
