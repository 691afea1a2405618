/* second_order_report.h - M, D and K of a linear model as text, JSON, expressions, LaTeX */
#ifndef BG_SECOND_ORDER_REPORT_H
#define BG_SECOND_ORDER_REPORT_H

#include <stdio.h>

#include "json.h"
#include "linearize.h"

/* symbolic: entries are expressions; latex: as LaTeX. j: written as an object of this JSON where it is given. False:
 * *why (free() it). */
bool second_order_report(const linearization *l, const char *experiment, bool symbolic, bool latex, FILE *out, json *j,
                         char **why);

#endif
