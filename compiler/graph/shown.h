/* shown.h - values as messages say them, in the units of the text
 *
 * All computing is in SI. A message about a number that the user wrote in [bar] says it in bar; one about a number that
 * has no unit in the text says it in SI, with the unit if one is known.
 */
#ifndef BG_SHOWN_H
#define BG_SHOWN_H

#include "flat.h"

/* si in `display`, which may be NULL: as it is. */
double to_display(const unit *display, double si);
/* The unit to write behind it; NULL: a pure number without one, or not known. */
const char *unit_shown(const unit *u, const unit *display);

/* What the text calls the unit u where it says what i reads: [bar] of 3 [bar] + 2 [kPa]*x. NULL: nothing in it has u's
 * dimension. */
const unit *unit_written(const flat_model *f, inst i, const unit *u);

/* "3 bar": six digits, and the unit. */
typedef struct shown_text {
    char text[256];
} shown_text;
shown_text value_shown(const unit *u, const unit *display, double si);
/* The same of a variable: in the unit that it is declared in, that its stated initial value is in, or that what it is
 * given says. */
shown_text variable_shown(const flat_model *f, var_id v, double si);
/* The same, in the unit of the initial value that is stated there. */
shown_text stated_shown(const flat_model *f, var_id v, span at, double si);

#endif
