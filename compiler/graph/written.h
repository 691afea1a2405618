/* written.h - the units in which the text states a variable, for messages (shown.h) */
#ifndef BG_WRITTEN_H
#define BG_WRITTEN_H

#include "flat.h"
#include "shown.h"

/* The unit of dimension u that is written in what i reads: [bar] in 3 [bar] + 2 [kPa]*x. NULL: nothing in it has u's
 * dimension. */
const unit *unit_written(const flat_model *f, inst i, const unit *u);

/* The value of a variable in the unit of its declaration, of its stated initial value, or of what it is assigned. */
shown_text variable_shown(const flat_model *f, var_id v, double si);
/* The units that variable_shown uses for these n variables: in[i] for list[i]; NULL: SI. Linear in the model. */
void units_written(const flat_model *f, const var_id *list, size_t n, const unit **in);

#endif
