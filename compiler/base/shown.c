/* shown.c - see shown.h */
#include "shown.h"

#include <stdio.h>

double
to_display(const unit *display, double si)
{
    return display ? (si - unit_offset(display)) / unit_scale(display) : si;
}

const char *
unit_shown(const unit *u, const unit *display)
{
    if (display)
        return unit_text(display);
    return u && !unit_is_number(u) ? unit_text(u) : NULL;
}

shown_text
value_shown(const unit *u, const unit *display, double si)
{
    const char *in = unit_shown(u, display);
    shown_text s;

    snprintf(s.text, sizeof s.text, "%.6g%s%s", to_display(display, si), in ? " " : "", in ? in : "");
    return s;
}
