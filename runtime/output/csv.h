/* csv.h - trajectories as columns of a CSV file
 *
 * One line for each point; headers are `name [unit]` in the units that the model declares, and values are converted to
 * them. A header that a spreadsheet would evaluate (-body.f) begins with an apostrophe, which `table` in a model
 * ignores.
 */
#ifndef BG_CSV_H
#define BG_CSV_H

#include <stdio.h>
#include "columns.h"

void csv_write(FILE *out, const columns *c);

#endif
