/* report.h - tables for people: aligned columns, bars
 *
 * Widths count characters, not bytes. Bars and colour only where the terminal shows them.
 */
#ifndef BG_REPORT_H
#define BG_REPORT_H

#include <stdio.h>
#include "metrics.h"

void report_ranking(FILE *out, const ranking *r, bool terminal, bool color);

/* A table of text: cells are copied; the first `left` columns are set left, the others right. */
typedef struct table { int columns, left; VEC(char *) cell; } table;
void table_put(table *t, const char *fmt, ...) BG_PRINTF(2, 3);
void table_print(table *t, FILE *out, const char *indent);           /* and frees it */

#endif
