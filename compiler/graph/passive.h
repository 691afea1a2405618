/* passive.h - elements that can give power though their kind takes it, as far as numbers tell without a run
 *
 * A resistor whose law is linear over parameters gives power where its matrix has a negative part; storage whose stored
 * energy has no lowest point is unstable by itself. What depends on the state is noted by the audit of a run
 * (runtime/run/audit.h).
 */
#ifndef BG_PASSIVE_H
#define BG_PASSIVE_H

#include "flat.h"

/* Notes on the elements of f, by the numbers of its parameters. */
void passive_notes(const flat_model *f);

#endif
