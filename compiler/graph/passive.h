/* passive.h - notes on elements that can give power although their kind should take it, as far as numbers tell without
 * a run
 *
 * A resistor whose law is linear with parameter coefficients gives power if its matrix has a negative part; storage
 * whose energy has no minimum is unstable by itself. What depends on the state is noted by the audit of a run
 * (runtime/run/audit.h).
 */
#ifndef BG_PASSIVE_H
#define BG_PASSIVE_H

#include "flat.h"

/* Notes on the elements of f, for the values of its parameters. */
void passive_notes(const flat_model *f);

#endif
