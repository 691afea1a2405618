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

const unit *
unit_written(const flat_model *f, inst i, const unit *u)
{
    for (uint32_t k = 0; inst_known(i) && u && k < i.n; k++) {
        const flat_var *v = &f->var.at[inst_slots(f, i)[k]];

        if (v->display && unit_dimension(v->display) == unit_dimension(u))
            return v->display;
    }
    return NULL;
}

shown_text
value_shown(const unit *u, const unit *display, double si)
{
    const char *in = unit_shown(u, display);
    shown_text s;

    snprintf(s.text, sizeof s.text, "%.6g%s%s", to_display(display, si), in ? " " : "", in ? in : "");
    return s;
}

/* Is it the initial value of this variable, or of another that shares its owner? */
static bool
starts(const flat_model *f, const flat_initial *x, const flat_var *v)
{
    switch (v->kind) {
    case VAR_STORED:
    case VAR_PORT: return x->port == v->owner;
    case VAR_COMMON: return (x->port == UINT32_MAX ? x->junction : f->port.at[x->port].junction) == v->owner;
    default: return false;
    }
}

shown_text
stated_shown(const flat_model *f, var_id v, span at, double si)
{
    const flat_var *x = &f->var.at[v];
    const unit *display = x->display;
    bool here = false;

    if (!display)
        display = unit_written(f, x->kind == VAR_INTEGRAL ? x->init : x->def, x->unit);
    for (size_t i = 0; i < f->initial.n && x->unit && !here; i++) {
        const flat_initial *y = &f->initial.at[i];

        here = y->at.file == at.file && y->at.begin == at.begin;
        if ((here || !display) && y->written && starts(f, y, x) &&
            unit_dimension(y->written) == unit_dimension(x->unit))
            display = y->written;
    }
    return value_shown(x->unit, display, si);
}

shown_text
variable_shown(const flat_model *f, var_id v, double si)
{
    return stated_shown(f, v, SPAN_NONE, si);
}
