/* linear_report.h - prints linear models as JSON and as text for people
 *
 * JSON: matrices are arrays of rows in SI units; eigenvalues are [re, im]; a number that does not exist is null.
 */
#ifndef BG_LINEAR_REPORT_H
#define BG_LINEAR_REPORT_H

#include <stdio.h>

#include "gramians.h"
#include "json.h"
#include "linearize.h"
#include "transfer.h"
#include "yardstick.h"

/* What is shown besides the model itself. */
typedef struct linear_view {
    const char *experiment;
    size_t ntransfer;
    const size_t (*transfer)[2]; /* input, output */
    const yardstick *reductions; /* NULL: none */
} linear_view;

/* One object, keys as documented in `bgc linearize -h`. */
void linear_json(const linearization *l, const linear_view *v, json *j);
void linear_text(const linearization *l, const linear_view *v, FILE *out);

#endif
