/* turning.c - angular velocities and frequencies, temperatures and their differences, which have the same unit in SI
 *
 * Nothing is converted within these pairs: a frequency given as an angular velocity is too small by 2*pi, and a
 * difference shown in degC is off by 273.15. The declared units tell which one is meant.
 *
 * needs     units of bonds, for check_turning
 * reports   warnings: unit-hertz, unit-difference
 */
#include <string.h>

#include "elab.h"

static bool
mentions(const unit *u, const char *const *word)
{
    for (; u && *word; word++)
        if (strstr(unit_text(u), *word))
            return true;
    return false;
}

static bool
is_hertz(const unit *u)
{
    static const char *const words[] = { "Hz", "hertz", "Hertz", NULL };

    return mentions(u, words);
}

static bool
is_turning(const unit *u)
{
    static const char *const words[] = { "rad", "rpm", "rev", "deg", "turn", NULL };

    return mentions(u, words) && unit_offset(u) == 0;
}

void
turning_given(elab *el, val v, span at, const unit *target, const char *name)
{
    bool to_hertz = is_hertz(target) && is_turning(v.said);

    if (!to_hertz && !(is_turning(target) && is_hertz(v.said)))
        return;
    diag_warn(el->s, "unit-hertz", at, "%s is in [%s], but its value in [%s] is not %s by 2*pi: both units are 1/s",
              name, unit_text(target), unit_text(v.said), to_hertz ? "divided" : "multiplied");
    if (to_hertz)
        diag_help(el->s, "Write %s/(2*pi) for a frequency, or declare it in [rad/s].", text_of(el, at));
    else
        diag_help(el->s, "Write 2*pi*%s for a speed, or declare it in [Hz].", text_of(el, at));
}

/* A flow in 1/s on a bond with true power is an angular velocity: its effort is a torque. */
void
turning_flow(elab *el, val v, span at, const char *name)
{
    if (v.bad || !is_hertz(v.said))
        return;
    diag_warn(el->s, "unit-hertz", at, "%s is a speed in [rad/s], but its value in [%s] is not multiplied by 2*pi",
              name, unit_text(v.said));
    diag_help(el->s, "Write 2*pi*%s, or give it in [rpm].", text_of(el, at));
}

/* The terms of the argument of sin or cos. */
struct angle {
    elab *el;
    scope *in;
    const unit *hertz;
    bool time, circle;
};

/* pi or 2*pi, as people write them: 3.14, 3.1416, 6.283 */
static bool
is_pi_or_turn(double x)
{
    static const double between[2][2] = { { 3.14, 3.15 }, { 6.28, 6.29 } };

    return (x > between[0][0] && x < between[0][1]) || (x > between[1][0] && x < between[1][1]);
}

static void
see(void *ctx, const ast_expr *e)
{
    struct angle *a = ctx;
    const unit *u = NULL;
    uint32_t k;
    const char *why;
    ast_part room;

    if (e->kind == AST_NUMBER) {
        u = ast_number_unit(e) ? unit_parse(a->el->u, ast_number_unit(e)->text, &why) : NULL;
        a->circle |= is_pi_or_turn(e->number.value);
    } else if (e->kind == AST_REF && ast_expr_ref(e, &room).nparts == 1) {
        const char *name = ast_expr_ref(e, &room).part[0].name;

        a->time |= name == a->el->n_time;
        a->circle |= name == a->el->n_pi;
        k = find_value(a->el, a->in, name);
        u = k == NONE ? NULL : a->el->value.at[k].declared;
    }
    if (is_hertz(u))
        a->hertz = u;
}

void
turning_angle(elab *el, scope *in, const ast_expr *e, const char *name)
{
    struct angle a = { .el = el, .in = in };

    ast_visit(e, see, &a);
    if (!a.hertz || !a.time || a.circle)
        return;
    diag_warn(el->s, "unit-hertz", e->at,
              "%s takes an angle in radians, but its argument has a frequency in [%s] that is not multiplied by 2*pi",
              name, unit_text(a.hertz));
    diag_help(el->s, "Write %s(2*pi*%s).", name, text_of(el, e->at));
}

/* The flow of a bond, if a value is just that; or VAR_NONE. */
static var_id
flow_alone(const elab *el, const value *v)
{
    const flat_model *f = el->f;
    inst i = var_def(f, v->var);
    var_id x = inst_known(i) && i.n == 1 && pool_node(el->pool, i.root)->op == EX_SLOT ? inst_slots(f, i)[0] : VAR_NONE;
    const flat_var *y = x == VAR_NONE ? NULL : &f->var.at[x];

    if (!y)
        return VAR_NONE;
    if (y->kind == VAR_COMMON)
        return f->junction.at[y->owner].type == 1 ? x : VAR_NONE;
    if (y->kind == VAR_PORT)
        return f->junction.at[f->port.at[y->owner].junction].type == 0 ? x : VAR_NONE;
    return VAR_NONE;
}

void
check_turning(elab *el)
{
    for (uint32_t k = 0; k < el->value.n; k++) {
        const value *v = &el->value.at[k];
        const unit *shown = v->shown ? read_unit(el, v->shown->value.unit) : NULL;
        const unit *u = is_hertz(shown) ? shown : v->declared;
        var_id x;

        if (!is_hertz(u) || v->gone || !unit_is_number(unit_multiply(el->u, unit_dimension(u), el->second)))
            continue;
        x = flow_alone(el, v);
        if (x == VAR_NONE)
            continue;
        diag_warn(el->s, "unit-hertz", v->at,
                  "\"%s\" shows a speed in [%s] as it is in rad/s: 1/s, not divided by 2*pi", v->name, unit_text(u));
        diag_help(el->s, "Write %s/(2*pi) for a frequency, or show it in [rad/s] or [rpm].", var_name(el->f, x));
    }
}

/* ---------------------------------------------------------------- temperatures */

/* A number that is the zero of degC is a temperature: a value less 273.15 is a difference, whatever was meant by it. */
uint8_t
zero_of_number(double x)
{
    static const double zero_of_celsius = 273.15;

    return x == zero_of_celsius ? ZERO_POINT : ZERO_NONE;
}

uint8_t
zero_of_sum(bool adds, val a, val b)
{
    if (a.zero == ZERO_POINT && b.zero == ZERO_POINT)
        return adds ? ZERO_SUM : ZERO_DIFFERENCE;
    if (a.zero == ZERO_SUM && b.zero == ZERO_POINT && !adds)
        return ZERO_POINT;
    if (a.zero == ZERO_DIFFERENCE && b.zero == ZERO_DIFFERENCE)
        return ZERO_DIFFERENCE;
    if (a.zero == ZERO_POINT || (b.zero == ZERO_POINT && adds))
        return ZERO_POINT;
    return ZERO_NONE;
}

void
zero_given(elab *el, val v, span at, const unit *target, const char *name)
{
    if (v.zero == ZERO_DIFFERENCE && unit_offset(target) != 0) {
        diag_warn(el->s, "unit-difference", at,
                  "%s is in [%s], but its value is a difference of temperatures: a difference of 0 is shown as %g",
                  name, unit_text(target), -unit_offset(target) / unit_scale(target));
        diag_help(el->s, "Declare a difference in [%s]; a temperature needs no conversion to [%s].",
                  unit_text(unit_dimension(target)), unit_text(target));
    } else if (v.zero == ZERO_SUM && v.fit == FIT_UNIT && v.unit == unit_dimension(target)) {
        diag_warn(el->s, "unit-difference", at,
                  "%s is given a sum of two temperatures that are both counted from absolute "
                  "zero: 20 [degC] and 5 [degC] are 571.3 [K]",
                  name);
        diag_help(el->s, "Declare the one that is a difference in [%s].", unit_text(unit_dimension(target)));
    }
}
