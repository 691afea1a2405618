/* linear_report.h - linear models as JSON and as text for people
 *
 * JSON: matrices are arrays of rows in SI units; eigenvalues as [re, im]; a number that there is not is null.
 */
#ifndef BG_LINEAR_REPORT_H
#define BG_LINEAR_REPORT_H

#include <stdio.h>

#include "gramians.h"
#include "json.h"
#include "linearize.h"
#include "transfer.h"

/* What is asked for beside the model itself. */
typedef struct linear_view {
    const char *experiment;
    size_t ntransfer; const size_t (*transfer)[2];       /* input, output */
    bool symbolic, latex;
} linear_view;

/* One object, keys as documented in `bgc linearize -h`. */
void linear_json(const linearization *l, const linear_view *v, json *j);
void linear_text(const linearization *l, const linear_view *v, FILE *out);
/* The matrices' entries as expressions, S to B. False: *why (free it). latex: as LaTeX. */
bool linear_symbolic(linearization *l, bool latex, FILE *out, json *j, char **why);

#endif
