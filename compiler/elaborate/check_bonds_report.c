/* check_bonds_report.c - messages about clashing units of bonds, with suggestions */
#include <string.h>

#include "check_bonds_inside.h"
#include "written.h"

static const char *
element_called(const struct check *c, uint32_t e)
{
    const flat_element *x = &c->f->element.at[e];

    return arena_format(c->el->a, "%s:%s", element_type_name(x->type), x->name);
}

static uint32_t
equation_element(const struct check *c, const struct equation *e)
{
    const flat_model *f = c->f;

    if (e->kind == EQ_LAW)
        return f->port.at[f->law.at[e->index].port].element;
    if (e->kind == EQ_INITIAL && f->initial.at[e->index].port != NONE)
        return f->port.at[f->initial.at[e->index].port].element;
    return NONE;
}

static const char *
called(const struct check *c, const struct equation *e)
{
    const flat_model *f = c->f;
    uint32_t x = equation_element(c, e);

    if (x != NONE)
        return element_called(c, x);
    if (e->kind == EQ_INITIAL)
        return arena_format(c->el->a, "%u:%s", f->junction.at[f->initial.at[e->index].junction].type,
                            f->junction.at[f->initial.at[e->index].junction].name);
    if (e->kind == EQ_REINIT)
        return arena_format(c->el->a, "\"%s\"", var_name(f, f->reinit.at[e->index].target));
    if (e->kind == EQ_DELAY)
        return arena_format(c->el->a, "\"%s\"", var_name(f, f->delay.at[e->index].var));
    return arena_format(c->el->a, "\"%s\"", var_name(f, e->index));
}

/* The target of the equation, in words. */
static const char *
target(const struct check *c, const struct equation *e)
{
    const flat_model *f = c->f;

    if (e->kind == EQ_LAW)
        return arena_format(c->el->a, "%s.%s", port_name(f, f->law.at[e->index].port),
                            quantity_letter(f->law.at[e->index].out));
    if (e->kind == EQ_INITIAL) {
        const flat_initial *i = &f->initial.at[e->index];

        return arena_format(c->el->a, "%s.%s(0)",
                            i->port != NONE ? port_name(f, i->port) : f->junction.at[i->junction].name,
                            quantity_letter(i->q));
    }
    return called(c, e);
}

/* The value to which a variable belongs, if an instance or the experiment defined it; else NULL. */
static const value *
given_value(const elab *el, var_id v)
{
    const value *x = value_of_variable(el, v);

    return x && (x->given || x->let) ? x : NULL;
}

/* Notes the event that gives a signal that holds its unit. Returns the number of notes. */
static int
note_set(struct check *c, var_id v)
{
    const flat_model *f = c->f;

    for (size_t k = 0; k < f->reinit.n; k++) {
        measure m = f->reinit.at[k].target == v ? bonds_expression(c, f->reinit.at[k].value) : anything;

        if (m.known && m.stated && m.sym == NONE) {
            diag_note(c->el->s, f->reinit.at[k].at, "\"%s\" is set to a value in %s here", var_name(f, v),
                      unit_said(c->el, m.known));
            return 1;
        }
    }
    return 0;
}

/* Notes values read by the equation that have no declared unit and got theirs from what was assigned to them. */
static void
note_given(struct check *c, const struct equation *e)
{
    const flat_model *f = c->f;
    inst i = e->kind == EQ_LAW ? f->law.at[e->index].def : INST_NONE;
    int notes = 0;

    for (uint32_t k = 0; inst_known(i) && k < i.n && notes < 2; k++) {
        var_id of = inst_slots(f, i)[k];
        const value *v = given_value(c->el, of), *own = value_of_variable(c->el, of);

        if (f->var.at[of].holds && own && !own->declared)
            notes += note_set(c, of);
        if (!v || v->declared)
            continue;
        diag_note(c->el->s, v->expr->at, "\"%s\" is given here", v->name);
        notes++;
    }
}

static span
equation_place(const struct check *c, const struct equation *e)
{
    const flat_model *f = c->f;
    uint32_t x = equation_element(c, e);

    if (e->kind == EQ_INITIAL)
        return f->initial.at[e->index].at;
    if (e->kind == EQ_REINIT)
        return f->reinit.at[e->index].at;
    if (e->kind == EQ_DELAY)
        return f->delay.at[e->index].at;
    if (e->kind == EQ_SIGNAL && given_value(c->el, e->index))
        return given_value(c->el, e->index)->expr->at;
    return x != NONE ? element_at(&f->element.at[x]) : var_at(f, e->index);
}

/* The unit of the coefficient of a linear law that follows from the units of its bond; NULL for other laws. */
static const unit *
unit_of_coefficient(const struct check *c, const struct equation *e, const unit *effort, const unit *flow)
{
    uint32_t x = equation_element(c, e);
    const flat_element *y = x != NONE ? &c->f->element.at[x] : NULL;
    unit_system *us = c->el->u;

    if (e->kind != EQ_LAW || !y->linear || y->nports != 1)
        return NULL;
    switch (y->type) {
    case EL_R: return unit_divide(us, effort, flow);
    case EL_C: return unit_divide(us, unit_multiply(us, flow, c->el->second), effort);
    case EL_I: return unit_divide(us, unit_multiply(us, effort, c->el->second), flow);
    default: return NULL;
    }
}

/* The same unit as written, if the coefficient is one number or name. */
static const unit *
coefficient_said(const struct check *c, uint32_t element, const unit *u)
{
    const flat_element *y = &c->f->element.at[element];
    const ast_expr *e = y->node ? y->node->own->linear : NULL;
    const unit *said = NULL;
    const char *why;
    uint32_t k = NONE;
    ast_part room;

    if (e && e->kind == AST_NUMBER && ast_number_unit(e))
        said = unit_parse(c->el->u, ast_number_unit(e)->text, &why);
    else if (e && e->kind == AST_REF && ast_expr_ref(e, &room).nparts == 1)
        k = find_value(c->el, element_scope(c->el, element), ast_expr_ref(e, &room).part[0].name);
    if (k != NONE)
        said = c->el->value.at[k].declared;
    return said && unit_dimension(said) == u ? said : u;
}

/* The expression that the equation reads. */
static inst
expression_read(const struct check *c, const struct equation *e)
{
    const flat_model *f = c->f;

    switch (e->kind) {
    case EQ_LAW: return f->law.at[e->index].def;
    case EQ_INITIAL: return f->initial.at[e->index].def;
    case EQ_SIGNAL: return var_def(f, e->index);
    case EQ_REINIT: return f->reinit.at[e->index].value;
    case EQ_DELAY: return f->delay.at[e->index].of;
    }
    return INST_NONE;
}

/* The unit u as written in the equation; NULL: it does not occur. */
static const unit *
written_in(const struct check *c, const struct equation *e, const unit *u)
{
    const unit *own = e->kind == EQ_SIGNAL    ? var_display(c->f, e->index)
                      : e->kind == EQ_INITIAL ? c->f->initial.at[e->index].written
                                              : NULL;

    return own && unit_dimension(own) == u ? own : unit_written(c->f, expression_read(c, e), u);
}

/* "[bar] (kg/(m.s^2))" if the equation contains that unit as bar, else `plain`. */
static const char *
said_in(const struct check *c, const struct equation *e, const unit *u, const char *plain)
{
    const unit *written = written_in(c, e, u);

    return written && strcmp(unit_text(written), unit_text(u)) ? unit_said(c->el, written)
                                                               : arena_format(c->el->a, "[%s]", plain);
}

/* ", in [N.m/A],": the unit of a two-port's ratio as written; empty if it fits any. */
static const char *
ratio_in(struct check *c, const flat_law *law)
{
    measure m = bonds_expression(c, law->def);

    if (!m.known || m.sym != NONE)
        return "";
    return unit_is_number(m.known)
               ? ", a pure number,"
               : arena_format(c->el->a, ", in [%s],",
                              unit_text(coefficient_said(c, c->f->port.at[law->port].element, m.known)));
}

static void
note_says(struct check *c, const struct equation *e, const unit *effort, const unit *flow)
{
    const unit *k = unit_of_coefficient(c, e, effort, flow);
    bool turning = unit_is_number(unit_multiply(c->el->u, flow, c->el->second)) &&
                   effort == unit_multiply(c->el->u, c->watt, c->el->second);
    const flat_law *law = e->kind == EQ_LAW ? &c->f->law.at[e->index] : NULL;
    bool carried = law && law->kind == LAW_MODULUS;
    const char *in = k         ? arena_format(c->el->a, ", in %s,",
                                              unit_said(c->el, coefficient_said(c, equation_element(c, e), k)))
                     : carried ? ratio_in(c, law)
                               : "";

    /* a torque is not called an energy */
    diag_note(c->el->s, equation_place(c, e),
              carried ? "through the ratio of %s%s the bonds have effort in %s, flow in %s"
                      : "%s%s requires effort in %s, flow in %s",
              called(c, e), in, said_in(c, e, effort, turning ? "N.m" : unit_text(effort)),
              said_in(c, e, flow, turning ? "rad/s" : unit_text(flow)));
}

static void
note_region(struct check *c, uint32_t r)
{
    const struct region *x = &c->region[r];
    const flat_domain *d = junction_domain(c->f, r);

    if (!x->effort || !x->flow)
        return;
    if (x->from != NONE)
        note_says(c, &c->eq.at[x->from], x->effort, x->flow);
    else if (d)
        diag_note(c->el->s, d->at, "domain %s has %s in [%s], %s in [%s]", d->name, d->effort_name,
                  unit_text(d->effort ? d->effort : x->effort), d->flow_name, unit_text(d->flow ? d->flow : x->flow));
}

static const char *
node_text(const struct check *c, node n, inst i)
{
    strbuf b = { 0 };
    const char *text;

    flat_print(c->f, (inst){ n, i.first, i.n }, &b);
    text = b.n > 60 ? arena_format(c->el->a, "%.57s...", b.at) : arena_strdup(c->el->a, b.at ? b.at : "");
    strbuf_free(&b);
    return text;
}

/* As written in e, if it occurs there. */
static const char *
said_in_unit(const struct check *c, const struct equation *e, const unit *u)
{
    const unit *written = written_in(c, e, u);

    return unit_is_number(u) ? "a pure number"
                             : arena_format(c->el->a, "in %s", unit_said(c->el, written ? written : u));
}

/* The same for the equation's target, which may be declared in [rad]. */
static const char *
target_unit(const struct check *c, const struct equation *e, const unit *u)
{
    const unit *own = e->kind == EQ_SIGNAL ? var_display(c->f, e->index) : NULL;

    return own && unit_is_number(u) && unit_dimension(own) == u ? arena_format(c->el->a, "in [%s]", unit_text(own))
                                                                : said_in_unit(c, e, u);
}

/* The unit of the coefficient of a one-port's linear law: that of the law with the multiplied quantity taken as a bare
 * 1. NULL: none. */
static const unit *
given_in(struct check *c, const struct equation *e)
{
    uint32_t x = equation_element(c, e);
    const flat_element *y = x != NONE ? &c->f->element.at[x] : NULL;
    inst def;
    var_id multiplied;
    node *with;
    measure m;

    if (!y || e->kind != EQ_LAW || !y->linear || y->nports != 1 || element_is_source(y->type))
        return NULL;
    def = c->f->law.at[e->index].def;
    multiplied = y->type == EL_C ? c->f->port.at[y->port0].e : c->f->port.at[y->port0].f;
    with = bg_calloc(def.n, sizeof *with);
    for (uint32_t k = 0; k < def.n; k++)
        with[k] = inst_slots(c->f, def)[k] == multiplied ? ex_const(c->el->pool, 1) : ex_slot(c->el->pool, k);
    def.root = ex_substitute(c->el->pool, def.root, with, def.n);
    free(with);
    c->at = bg_realloc(c->at, pool_count(c->el->pool) * sizeof *c->at);
    m = bonds_expression(c, def);
    return m.sym == NONE ? m.known : NULL;
}

/* The inverse in the shortest notation: 1/k for k, k for 1/k. */
static const char *
inverse_text(elab *el, const ast_expr *x)
{
    bool word = x->kind == AST_REF || x->kind == AST_NUMBER,
         inverse = x->kind == AST_BINARY && x->op == AST_DIV && x->bin.a->kind == AST_NUMBER &&
                   !ast_number_unit(x->bin.a) && x->bin.a->number.value == 1;

    return inverse ? text_of(el, x->bin.b->at) : arena_format(el->a, word ? "1/%s" : "1/(%s)", text_of(el, x->at));
}

/* If an element is given the inverse of what a bond with this effort and flow needs, suggests the line that would
 * fit. */
static bool
help_inverse(struct check *c, const struct equation *e, const unit *effort, const unit *flow)
{
    elab *el = c->el;
    uint32_t x = e->kind == EQ_LAW ? equation_element(c, e) : NONE;
    const flat_element *y = x != NONE ? &c->f->element.at[x] : NULL;
    const unit *given = y ? given_in(c, e) : NULL, *takes;

    if (!given || !effort || !flow || !y->node || !y->node->own->linear)
        return false;
    takes = y->type == EL_C   ? unit_divide(el->u, unit_multiply(el->u, flow, el->second), effort)
            : y->type == EL_I ? unit_divide(el->u, unit_multiply(el->u, effort, el->second), flow)
                              : unit_divide(el->u, effort, flow);
    if (given == takes || unit_multiply(el->u, given, takes) != el->one)
        return false;
    diag_help(el->s, "%s would fit: %s.", inverse_text(el, y->node->own->linear),
              y->type == EL_C   ? "the value of a C is its compliance; write a stiffness k as 1/k"
              : y->type == EL_R ? "the value of an R is its resistance; write a conductance g as 1/g"
                                : "an I takes its inertia");
    return true;
}

/* Is it given in a unit with kelvin (u, if it is one coefficient), or does its law read a value in one? */
static bool
reads_kelvin(const struct check *c, const struct equation *e, const unit *u)
{
    inst i = expression_read(c, e);
    bool any = u && strchr(unit_text(u), 'K');

    for (uint32_t k = 0; inst_known(i) && k < i.n && !any; k++) {
        const unit *of = var_unit(c->f, inst_slots(c->f, i)[k]);

        any = of && strchr(unit_text(unit_dimension(of)), 'K');
    }
    return any;
}

static void
no_such_bond(struct check *c, const struct equation *e)
{
    elab *el = c->el;
    uint32_t x = equation_element(c, e);
    const flat_element *y = x != NONE ? &c->f->element.at[x] : NULL;
    const unit *u = given_in(c, e);

    if (u)
        diag_error(el->s, "unit-bond", y->node && y->node->own->linear ? y->node->own->linear->at : element_at(y),
                   "%s is given in %s, which fits no bond whose effort times flow is power", called(c, e),
                   unit_said(el, coefficient_said(c, x, u)));
    else
        diag_error(el->s, "unit-bond", equation_place(c, e),
                   "the units in the law of %s fit no bond whose effort times flow is power", called(c, e));
    note_given(c, e);
    if (y && y->type == EL_R)
        diag_help(el->s, "A resistance is effort divided by flow, as [N.s/m] or [ohm]; the law is e = r*f.");
    else if (y && y->type == EL_C)
        diag_help(el->s, "The value of a C is its compliance, displacement divided by effort, as [m/N] or [F]; write a "
                         "stiffness k as 1/k.");
    else if (y && y->type == EL_I)
        diag_help(el->s, "The value of an I is momentum divided by flow, as [kg] or [H].");
    if (reads_kelvin(c, e, u))
        diag_help(el->s, "Temperature and heat flow are a pseudo bond, whose product is no power: write `import heat;` "
                         "and `0:node in heat`.");
}

/* Suggests a condition for a source that reads its own variables: Se:diode = min(diode.f, -diode.e). */
static void
help_condition(struct check *c, const struct equation *e)
{
    uint32_t x = e->kind == EQ_LAW ? equation_element(c, e) : NONE;
    const flat_element *y = x != NONE ? &c->f->element.at[x] : NULL;
    const char *text, *dot = y ? strrchr(y->name, '.') : NULL, *name = dot ? dot + 1 : y ? y->name : "";

    if (!y || !element_is_source(y->type) || !y->node || !y->node->own->linear)
        return;
    text = text_of(c->el, y->node->own->linear->at);
    if (strstr(text, arena_format(c->el->a, "%s.", name)))
        diag_help(c->el->s, "To make a source meet a condition, write %s:%s such that %s.", element_type_name(y->type),
                  name, text);
}

/* Reports that both sides of e clash, where nothing determines the units of its bonds. */
static void
plain_clash(struct check *c, const struct equation *e)
{
    elab *el = c->el;
    const flat_model *f = c->f;
    struct finding x = c->found;
    inst i = expression_read(c, e);
    const unit *coefficient_unit = given_in(c, e);
    span at = e->kind == EQ_LAW && span_known(f->law.at[e->index].at) ? f->law.at[e->index].at : equation_place(c, e);

    if (coefficient_unit && x.a == NODE_NONE && x.ua && x.ub)
        diag_error(el->s, "unit-clash", at, "%s is given in %s, but its bond requires %s", called(c, e),
                   unit_said(el, coefficient_said(c, equation_element(c, e), coefficient_unit)),
                   unit_said(el, unit_divide(el->u, unit_multiply(el->u, coefficient_unit, x.ua), x.ub)));
    else if (!x.ua || !x.ub)
        diag_error(el->s, "unit-clash", at, "the units in the law of %s do not fit together", called(c, e));
    else if (x.a != NODE_NONE && x.b != NODE_NONE)
        diag_error(el->s, "unit-clash", at, "in the law of %s, \"%s\" is %s and \"%s\" is %s", called(c, e),
                   node_text(c, x.a, i), said_in_unit(c, e, x.ua), node_text(c, x.b, i), said_in_unit(c, e, x.ub));
    else if (x.a != NODE_NONE)
        diag_error(el->s, "unit-clash", at, "in the law of %s, \"%s\" must be %s and is %s", called(c, e),
                   node_text(c, x.a, i), said_in_unit(c, e, x.ub), said_in_unit(c, e, x.ua));
    else if (e->kind == EQ_LAW && f->law.at[e->index].kind == LAW_MODULUS)
        diag_error(el->s, "unit-clash", at,
                   "the ratio of %s%s does not fit its bonds: one side is %s, the other times the ratio is %s",
                   called(c, e), ratio_in(c, &f->law.at[e->index]), said_in_unit(c, e, x.ua), said_in_unit(c, e, x.ub));
    else
        diag_error(el->s, "unit-clash", at, "%s is %s, but its value is %s", target(c, e), target_unit(c, e, x.ua),
                   said_in_unit(c, e, x.ub));
    if (coefficient_unit && e->kind == EQ_LAW) {
        const struct region *r = &c->region[c->root[f->port.at[f->law.at[e->index].port].junction]];

        help_inverse(c, e, r->effort, r->flow);
    }
    help_condition(c, e);
    if (e->kind == EQ_SIGNAL && var_display(f, e->index) && !strcmp(unit_text(var_display(f, e->index)), "C") && x.ub &&
        !strcmp(unit_text(x.ub), "K"))
        diag_help(el->s, "[C] is a coulomb. Degrees Celsius are [degC], a difference of temperatures is in [K].");
    if (e->kind == EQ_LAW && x.ua && x.ub && strstr(said_in_unit(c, e, x.ua), "[K]") &&
        strstr(said_in_unit(c, e, x.ub), "[C]"))
        diag_help(el->s, "[C] is a coulomb. Degrees Celsius are [degC].");
    if (coefficient_unit && strstr(unit_text(coefficient_said(c, equation_element(c, e), coefficient_unit)), "/C"))
        diag_help(el->s, "[C] is a coulomb. A difference of temperatures is in [K], as in [J/K].");
    if (e->kind == EQ_SIGNAL && given_value(el, e->index))
        diag_note(el->s, var_at(f, e->index), "it is declared here");
    if (x.a != NODE_NONE && x.b == NODE_NONE && x.ua && x.ub && unit_is_number(x.ub) && !unit_is_number(x.ua))
        diag_help(el->s, "Divide it by a value in [%s], as in %s/1 [%s].", unit_text(x.ua), node_text(c, x.a, i),
                  unit_text(x.ua));
    note_given(c, e);
}

/* The same for a two-port between bonds with known units. */
static void
help_inverse_ratio(struct check *c, const struct equation *e)
{
    const flat_law *law = e->kind == EQ_LAW ? &c->f->law.at[e->index] : NULL;
    measure a, b, m;
    uint32_t in;
    const flat_element *y;
    const unit *takes;

    if (!law || law->kind != LAW_MODULUS)
        return;
    in = bonds_in_port(c->f, law);
    y = &c->f->element.at[c->f->port.at[in].element];
    a = bonds_variable(c, c->f->port.at[in].e);
    b = bonds_variable(c, y->type == EL_TF ? c->f->port.at[in + 1].e : c->f->port.at[in + 1].f);
    m = bonds_expression(c, law->def);
    if (!a.known || !b.known || !m.known || a.sym != NONE || b.sym != NONE || m.sym != NONE || !y->node ||
        !y->node->own->linear)
        return;
    takes = unit_divide(c->el->u, a.known, b.known);
    if (m.known != takes && unit_multiply(c->el->u, m.known, takes) == c->el->one)
        diag_help(c->el->s, "In %s:%s, %s would fit: %s.", element_type_name(y->type), y->name,
                  inverse_text(c->el, y->node->own->linear),
                  y->type == EL_TF ? "the ratio of a TF is e_in/e_out, which is f_out/f_in"
                                   : "the ratio of a GY is e_in/f_out, which is e_out/f_in");
}

/* The same for the two-port that determined the units of a region, with those that follow from e. */
static void
help_inverse_region(struct check *c, uint32_t r, const unit *flow)
{
    struct region *x = &c->region[r], was = *x;

    if (x->from == NONE)
        return;
    x->flow = flow;
    x->effort = unit_divide(c->el->u, c->watt, flow);
    help_inverse_ratio(c, &c->eq.at[was.from]);
    *x = was;
}

/* Suggests the other kind of two-port or source where an effort was made of a flow, or a flow of an effort. */
static void
help_other_kind(struct check *c, const struct equation *said, const unit *effort, const unit *flow,
                const unit *other_flow)
{
    const flat_law *law = said->kind == EQ_LAW ? &c->f->law.at[said->index] : NULL;
    const flat_element *y = law ? &c->f->element.at[c->f->port.at[law->port].element] : NULL;

    if (!y || effort != other_flow || flow == other_flow)
        return;
    if (law->kind == LAW_MODULUS)
        diag_help(c->el->s, "%s:%s would fit: a TF relates efforts, a GY an effort and a flow.",
                  y->type == EL_TF ? "GY" : "TF", y->name);
    else if (element_is_source(y->type) && law->kind == LAW_ASSIGN)
        diag_help(c->el->s, "%s:%s would fit: an Se gives an effort, an Sf a flow.", y->type == EL_SE ? "Sf" : "Se",
                  y->name);
}

/* If a source is given a product in which a bare number was taken as a pure factor, such as a weight -9.81*m, suggests
 * the unit of the number. */
static bool
help_pure_factor(struct check *c, const struct equation *e, const struct region *x)
{
    const flat_law *law = e->kind == EQ_LAW ? &c->f->law.at[e->index] : NULL;
    const unit *takes;
    measure m;

    if (!law || law->kind != LAW_ASSIGN || !element_is_source(c->f->element.at[equation_element(c, e)].type))
        return false;
    m = bonds_expression(c, law->def);
    takes = law->out == Q_EFFORT ? x->effort : x->flow;
    if (!m.factor || !m.known || m.sym != NONE || !takes)
        return false;
    units_help_factor(c->el, takes, m.known);
    return true;
}

static bool
told_place(map *told, span at)
{
    uint64_t place = bg_hash_mix(at.begin, at.file);
    bool before = map_get(told, place) != MAP_NONE;

    map_set(told, place, 1);
    return before;
}

/* Notes that an error was reported at an item, and so at all items whose units follow from its own. */
static void
say_item(struct check *c, uint32_t item)
{
    uint32_t njunctions = (uint32_t)c->f->junction.n;
    struct items *t = c->behind;
    VEC(uint32_t) todo = { 0 };

    vec_push(&todo, item);
    while (todo.n) {
        uint32_t at = todo.at[--todo.n];

        if (c->said[at])
            continue;
        c->said[at] = true;
        for (uint32_t k = c->reader0[at]; k < c->reader0[at + 1]; k++) {
            uint32_t e = c->reader[k];
            var_id v = bonds_takes_unit(c->f, &c->eq.at[e]);

            if (v != VAR_NONE && c->follows[v])
                vec_push(&todo, njunctions + v);
            bonds_list_items(t, &c->eq.at[e]);
            for (size_t i = 0; i < t->item.n; i++)
                if (t->item.at[i] < njunctions && c->region[t->item.at[i]].from == e)
                    vec_push(&todo, t->item.at[i]);
        }
    }
    vec_free(&todo);
}

/* Was an error reported at one of the items? */
static bool
is_said(const struct check *c, const struct items *t)
{
    for (size_t k = 0; k < t->item.n; k++)
        if (c->said[t->item.at[k]])
            return true;
    return false;
}

/* Reports an equation that contradicts what is known. told: places of those that only read bonds. */
static void
report_equation(struct check *c, struct items *t, const struct equation *e, map *told)
{
    struct finding plainly = c->found;
    uint32_t notes = 0, element = equation_element(c, e);
    const unit *found;
    bool linear = e->kind == EQ_LAW && c->f->element.at[element].linear;
    /* the units of bonds follow from laws and initial values; others only read them, and one wrong says nothing about
     * the next */
    bool determines = e->kind == EQ_LAW || e->kind == EQ_INITIAL;

    if (!determines && told_place(told, equation_place(c, e)))
        return;
    bonds_list_items(t, e);
    if (is_said(c, t))
        return;
    for (size_t k = 0; e->kind == EQ_LAW && k < t->item.n; k++) {
        uint32_t r = t->item.at[k];
        const struct region *x = r < c->f->junction.n ? &c->region[r] : NULL;

        if (!x || x->from == NONE || !x->flow || x->apart)
            continue;
        c->opened = r;
        bonds_look(c, e);
        c->opened = NONE;
        if (c->found.impossible && linear) {
            no_such_bond(c, e);
            if (equation_element(c, &c->eq.at[x->from]) != element)
                note_region(c, r);
            say_item(c, r);
            return;
        }
        if (c->found.clash || c->found.sym != 2 * r || c->found.is == x->flow)
            continue;
        diag_error(c->el->s, "unit-clash", equation_place(c, e), "the bonds of %s and %s have incompatible units",
                   called(c, e), called(c, &c->eq.at[x->from]));
        note_says(c, e, unit_divide(c->el->u, c->watt, c->found.is), c->found.is);
        note_given(c, e);
        note_region(c, r);
        say_item(c, r);
        found = c->found.is;
        if (!help_pure_factor(c, e, x) && !help_inverse(c, e, x->effort, x->flow) &&
            !help_inverse(c, &c->eq.at[x->from], unit_divide(c->el->u, c->watt, found), found)) {
            help_other_kind(c, &c->eq.at[x->from], x->effort, x->flow, found);
            help_other_kind(c, e, unit_divide(c->el->u, c->watt, found), found, x->flow);
        }
        help_inverse_ratio(c, e);
        help_inverse_region(c, r, found);
        for (size_t i = 0; i < t->item.n && notes < 2; i++)
            if (t->item.at[i] < c->f->junction.n && t->item.at[i] != r)
                notes++, note_region(c, t->item.at[i]);
        return;
    }
    c->found = plainly;
    if (c->found.clash)
        plain_clash(c, e);
    else
        no_such_bond(c, e);
    for (size_t k = 0; k < t->item.n; k++) {
        if (t->item.at[k] >= c->f->junction.n)
            continue;
        if (determines)
            say_item(c, t->item.at[k]);
        if (plainly.clash && notes++ < 2)
            note_region(c, t->item.at[k]);
    }
}

/* Reports what does not fit its unit now that those of bonds are known, once for a place in the text. */
static void
verify_claims(struct check *c, struct items *t, map *told)
{
    for (size_t k = 0; k < c->el->claim.n; k++) {
        const unit_claim *x = &c->el->claim.at[k];
        measure m = bonds_expression(c, x->of);

        if (!m.known || !m.stated || m.sym != NONE || m.known == (x->want ? unit_dimension(x->want) : c->el->one))
            continue;
        bonds_list_read(t, x->of);
        if (is_said(c, t) || told_place(told, x->at))
            continue;
        if (x->want)
            units_give(c->el, (val){ .fit = FIT_UNIT, .unit = m.known }, x->at, x->want, x->name);
        else
            condition_clash(c->el, x->at, m.known);
    }
}

void
bonds_verify(struct check *c)
{
    size_t nitems = c->f->junction.n + c->f->var.n;
    struct items t = { .c = c, .stamp = bg_calloc(nitems, sizeof(uint32_t)) };
    struct items behind = { .c = c, .stamp = bg_calloc(nitems, sizeof(uint32_t)) };
    map told = { 0 };

    c->behind = &behind;
    for (size_t k = 0; k < c->el->torn.n && c->f->domain.n; k++) /* the missing bond might give it a domain */
        say_item(c, c->root[c->el->torn.at[k]]);
    for (size_t e = 0; e < c->eq.n; e++) {
        bonds_look(c, &c->eq.at[e]);
        if (c->found.clash || c->found.impossible)
            report_equation(c, &t, &c->eq.at[e], &told);
    }
    verify_claims(c, &t, &told);
    c->behind = NULL;
    map_free(&told);
    free(t.stamp);
    vec_free(&t.item);
    free(behind.stamp);
    vec_free(&behind.item);
}
