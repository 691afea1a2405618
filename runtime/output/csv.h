/* csv.h - trajectories as columns of a CSV file
 *
 * One line a point; heads are `name [unit]` in the units that the model declares, values converted to them.
 * A head that a spreadsheet would compute (-body.f) begins with an apostrophe, which `table` in a model leaves out
 * again.
 */
#ifndef BG_CSV_H
#define BG_CSV_H

#include <stdio.h>
#include "columns.h"

void csv_write(FILE *out, const columns *c);

#endif
