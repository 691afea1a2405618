/* report.h - tables for people: aligned columns, bars
 *
 * Widths count characters, not bytes. Bars and colours appear only on a terminal that shows them.
 */
#ifndef BG_REPORT_H
#define BG_REPORT_H

#include <stdio.h>
#include "ratios.h"

/* threshold: as given to ranking_decide. experiment: the names of the experiments that the ranking combines. */
void report_ranking(FILE *out, const ranking *r, const char *const *experiment, double threshold, bool terminal,
                    bool color);
void report_ratios(FILE *out, const ratio_table *t, double limit, bool terminal, bool color);
const char *decision_name(enum decision d);

/* Like fprintf, for lines that contain text of a model: control characters are printed as `?`. */
void put_text(FILE *out, const char *fmt, ...) BG_PRINTF(2, 3);

/* A table of text: cells are copied; the first `left` columns are aligned left, the others right, the last one left too
 * with `tail`. No line ends in blanks. */
typedef struct table {
    int columns, left;
    bool tail;
    VEC(char *) cell;
} table;
void table_put(table *t, const char *fmt, ...) BG_PRINTF(2, 3);
void table_print(table *t, FILE *out, const char *indent); /* and frees it */

#endif
