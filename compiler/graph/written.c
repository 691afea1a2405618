/* written.c - see written.h */
#include "written.h"

#include <string.h>

const unit *
unit_written(const flat_model *f, inst i, const unit *u)
{
    for (uint32_t k = 0; inst_known(i) && u && k < i.n; k++) {
        const unit *in = var_display(f, inst_slots(f, i)[k]);

        if (in && unit_dimension(in) == unit_dimension(u))
            return in;
    }
    return NULL;
}

/* Is it the initial value of this variable, or of another one of the same owner? */
static bool
is_initial_of(const flat_model *f, const flat_initial *x, const flat_var *v)
{
    switch (v->kind) {
    case VAR_STORED:
    case VAR_PORT: return x->port == v->owner;
    case VAR_COMMON: return (x->port == NONE ? x->junction : f->port.at[x->port].junction) == v->owner;
    default: return false;
    }
}

shown_text
variable_shown(const flat_model *f, var_id v, double si)
{
    const flat_var *x = &f->var.at[v];
    const unit *display = var_display(f, v);

    if (!display)
        display = unit_written(f, x->kind == VAR_INTEGRAL ? var_init(f, v) : var_def(f, v), var_unit(f, v));
    for (size_t i = 0; i < f->initial.n && var_unit(f, v) && !display; i++) {
        const flat_initial *y = &f->initial.at[i];

        if (y->written && is_initial_of(f, y, x) && unit_dimension(y->written) == unit_dimension(var_unit(f, v)))
            display = y->written;
    }
    return value_shown(var_unit(f, v), display, si);
}

/* The unit of its declaration, or of its definition. */
static const unit *
declared_in(const flat_model *f, var_id v)
{
    const flat_said *x = var_said(f, v);

    return x->display ? x->display
                      : unit_written(f, f->var.at[v].kind == VAR_INTEGRAL ? x->init : x->def, var_unit(f, v));
}

void
units_written(const flat_model *f, const var_id *list, size_t n, const unit **in)
{
    uint32_t *place = bg_calloc(f->var.n + 1, sizeof *place); /* 1 + index in the list, by variable */

    for (size_t i = 0; i < n; i++) {
        in[i] = declared_in(f, list[i]);
        place[list[i]] = (uint32_t)i + 1;
    }
    for (size_t i = 0; i < f->initial.n; i++) {
        const flat_initial *x = &f->initial.at[i];
        const flat_port *p = x->port != NONE ? &f->port.at[x->port] : NULL;
        var_id may[4] = { f->junction.at[p ? p->junction : x->junction].common, p ? p->stored : VAR_NONE,
                          p ? p->e : VAR_NONE, p ? p->f : VAR_NONE };

        for (int k = 0; k < 4 && x->written; k++) {
            uint32_t at = may[k] == VAR_NONE ? 0 : place[may[k]];
            const flat_var *v = at ? &f->var.at[may[k]] : NULL;

            if (v && !in[at - 1] && var_unit(f, may[k]) && is_initial_of(f, x, v) &&
                unit_dimension(x->written) == unit_dimension(var_unit(f, may[k])))
                in[at - 1] = x->written;
        }
    }
    free(place);
}
