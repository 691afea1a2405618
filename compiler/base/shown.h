/* shown.h - values as messages say them, in the units of the text
 *
 * All computing is in SI. A message about a number that the user wrote in [bar] says it in bar; one about a number that
 * has no unit in the text says it in SI, with the unit if one is known.
 */
#ifndef BG_SHOWN_H
#define BG_SHOWN_H

#include "units.h"

/* si in `display`, which may be NULL: as it is. */
double to_display(const unit *display, double si);
/* The unit to write behind it; NULL: a pure number without one, or not known. */
const char *unit_shown(const unit *u, const unit *display);

/* "3 bar": six digits, and the unit. */
typedef struct shown_text {
    char text[256];
} shown_text;
shown_text value_shown(const unit *u, const unit *display, double si);

#endif
