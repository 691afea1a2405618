/* open.c - inputs and sources that can be moved, for linear analysis
 *
 * A constant input is moved by its own parameter. For an input given by a formula, and for the law of every source, a
 * hidden parameter of 0 is added. Each has a second parameter for its time derivative, because equations may read that
 * (der, a storage element on an ideal source).
 *
 * Outputs for the caller are the efforts and flows of all ports, then the opened inputs. Nothing is made unless it is
 * asked for.
 */
#include "elab.h"

static var_id
hidden_parameter(elab *el, const char *name, const unit *u)
{
    var_id v = flat_add_var(el->f, VAR_PARAM, NONE, name, SPAN_NONE);

    var_say(el->f, v)->def = set_inst(el, 0);
    var_set_unit(el->f, v, u);
    return v;
}

/* The sum of i and the parameter by. */
static inst
with_offset(elab *el, inst i, var_id by)
{
    var_id *slot = bg_malloc((i.n + 1) * sizeof *slot);
    inst sum;

    for (uint32_t k = 0; k < i.n; k++)
        slot[k] = inst_slots(el->f, i)[k];
    slot[i.n] = by;
    sum = flat_inst(el->f, ex_add(el->pool, i.root, ex_slot(el->pool, i.n)), slot, i.n + 1);
    free(slot);
    return sum;
}

static void
note_opening(elab *el, flat_opening o)
{
    o.rate_name = arena_format(el->a, "der(%s)", o.name);
    o.rate = hidden_parameter(el, o.rate_name, NULL);
    el->f->var.at[o.by].owner = o.rate;
    vec_push(&el->f->opening, o);
}

static void
open_input(elab *el, var_id v)
{
    flat_var *x = &el->f->var.at[v];
    flat_opening o = { .name = var_name(el->f, v),
                       .by = v,
                       .element = NONE,
                       .unit = var_unit(el->f, v),
                       .display = var_display(el->f, v) };

    if (x->kind == VAR_SIGNAL) {
        o.by = hidden_parameter(el, var_name(el->f, v), var_unit(el->f, v));
        var_say(el->f, v)->def = with_offset(el, var_def(el->f, v), o.by);
    }
    note_opening(el, o);
}

static void
open_source(elab *el, uint32_t e)
{
    flat_element *x = &el->f->element.at[e];

    for (uint32_t k = 0; k < x->nlaws; k++) {
        flat_law *law = &el->f->law.at[x->law0 + k];
        const flat_port *p = &el->f->port.at[law->port];
        flat_opening o = { .name = port_name(el->f, law->port), .element = e };

        if (law->kind != LAW_ASSIGN || !inst_known(law->def))
            continue;
        o.by = hidden_parameter(el, o.name, var_unit(el->f, x->type == EL_SE ? p->e : p->f));
        o.unit = var_unit(el->f, o.by);
        law = &el->f->law.at[x->law0 + k];
        law->def = with_offset(el, law->def, o.by);
        note_opening(el, o);
    }
}

static void
show_open(elab *el, const char *name, var_id v)
{
    vec_push(&el->f->output, ((flat_output){ .name = name,
                                             .def = flat_inst(el->f, ex_slot(el->pool, 0), &v, 1),
                                             .unit = var_unit(el->f, v) }));
}

static void
show_ports(elab *el)
{
    for (uint32_t p = 0; p < el->f->port.n; p++) {
        const char *name = port_name(el->f, p);

        show_open(el, arena_format(el->a, "%s.e", name), el->f->port.at[p].e);
        show_open(el, arena_format(el->a, "%s.f", name), el->f->port.at[p].f);
    }
}

void
open_ends(elab *el)
{
    if (el->opt->ports)
        show_ports(el);
    if (!el->opt->open)
        return;
    for (size_t i = 0; i < el->value.n; i++) {
        const value *v = &el->value.at[i];

        if (v->kind == AST_INPUT && !v->given && !v->gone)
            for (uint32_t k = 0; k < v->count; k++) {
                open_input(el, v->var + k);
                if (el->opt->ports)
                    show_open(el, var_name(el->f, v->var + k), v->var + k);
            }
    }
    for (uint32_t e = 0; e < el->f->element.n; e++)
        if (el->f->element.at[e].type == EL_SE || el->f->element.at[e].type == EL_SF)
            open_source(el, e);
}
