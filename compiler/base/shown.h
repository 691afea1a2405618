/* shown.h - values in messages, in the units of the text
 *
 * All computation is in SI. A message about a number that was written in [bar] shows it in bar; a number without a unit
 * in the text is shown in SI, with the unit if it is known.
 */
#ifndef BG_SHOWN_H
#define BG_SHOWN_H

#include "units.h"

/* Converts from SI to `display`; NULL: unchanged. */
double to_display(const unit *display, double si);
/* The unit to write after the number; NULL: a pure number, or unknown. */
const char *unit_shown(const unit *u, const unit *display);

/* Six digits and the unit: "3 bar". */
typedef struct shown_text {
    char text[256];
} shown_text;
shown_text value_shown(const unit *u, const unit *display, double si);

#endif
