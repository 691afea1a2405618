/* written.h - the units in which the text says what a variable is: messages say it in these (shown.h) */
#ifndef BG_WRITTEN_H
#define BG_WRITTEN_H

#include "flat.h"
#include "shown.h"

/* What the text calls the unit u where it says what i reads: [bar] of 3 [bar] + 2 [kPa]*x. NULL: nothing in it has u's
 * dimension. */
const unit *unit_written(const flat_model *f, inst i, const unit *u);

/* The value of a variable: in the unit that it is declared in, that its stated initial value is in, or that what it is
 * given says. */
shown_text variable_shown(const flat_model *f, var_id v, double si);
/* The units that variable_shown takes for these n variables: in[i] of list[i], NULL: SI. Linear in the model. */
void units_written(const flat_model *f, const var_id *list, size_t n, const unit **in);

#endif
