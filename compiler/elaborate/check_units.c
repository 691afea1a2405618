/* check_units.c - checks the units in expressions
 *
 * A bare number is in SI and fits any unit, alone and in sums. In a product it is a pure factor beside a unit that the
 * text states with a number, parameter or constant, and adapts beside variables of bonds and time alone: m/2 is in
 * [kg], 40*q is whatever a spring gives. Beside a name declared in a unit that is not coherent with SI ([bar], [mm]) it
 * is an error, because readers would take it in that unit; 0 is the same in all units.
 */
#include <math.h>
#include <string.h>

#include "elab.h"

/* Exponents that are fractions: their greatest denominator, their greatest size, and how near to it a computed one is.
 */
enum { GREATEST_DENOMINATOR = 12, GREATEST_FRACTION = 1000 };
static const double EXACT = 1e-9;

val
val_bad(elab *el)
{
    return (val){ .n = ex_const(el->pool, 0), .fit = FIT_ANY, .bad = true };
}

val
val_unit(node n, const unit *written)
{
    if (!written)
        return (val){ .n = n, .fit = FIT_ANY };
    return (val){ .n = n,
                  .fit = FIT_UNIT,
                  .unit = unit_dimension(written),
                  .shown = unit_is_coherent(written) ? NULL : written,
                  .written = written,
                  .said = written,
                  .zero = unit_offset(written) != 0 ? ZERO_POINT : ZERO_NONE };
}

const char *
unit_said(elab *el, const unit *u)
{
    const char *base = unit_base_text(el->u, u), *said = unit_text(u);

    return !strcmp(base, said) || unit_is_number(u) ? arena_format(el->a, "[%s]", said)
                                                    : arena_format(el->a, "[%s] (%s)", said, base);
}

/* As written in the text, if known. */
static const char *
said_of(elab *el, val v)
{
    return unit_said(el, v.said ? v.said : v.unit);
}

static const char *
in_words(elab *el, val v)
{
    return unit_is_number(v.unit) ? "a pure number" : arena_format(el->a, "in %s", said_of(el, v));
}

/* Beside a name in [bar], a bare number is almost certainly a mistake. */
static bool
bare_clash(elab *el, val named, val bare, span bare_at)
{
    if (bare.fit != FIT_BARE || !named.shown)
        return false;
    diag_error(el->s, "unit-bare", bare_at, "a bare number is in SI (%s), but the value beside it is declared in [%s]",
               unit_is_number(named.unit) ? "a pure number" : unit_text(named.unit), unit_text(named.shown));
    if (unit_is_number(named.unit))
        diag_help(el->s, "Write the unit behind the number: [%s].", unit_text(named.shown));
    else if (unit_offset(named.shown) != 0)
        diag_help(el->s, "Write the unit behind the number: [%s].", unit_text(named.unit));
    else
        diag_help(el->s, "Write the unit behind the number: [%s] or [%s].", unit_text(named.shown),
                  unit_text(named.unit));
    return true;
}

void
units_help_factor(elab *el, const unit *takes, const unit *is)
{
    const unit *missing = unit_divide(el->u, unit_dimension(takes), is);

    if (missing)
        diag_help(el->s, "Beside a stated unit, a number without a unit is a pure factor; a number in [%s] would fit.",
                  unit_text(missing));
}

/* Explains a letter with two meanings: [C] is a coulomb in SI and a degree to many. */
static void
help_letters(elab *el, val v, const unit *wanted)
{
    static const struct {
        const char *letter, *wanted, *help;
    } read[] = {
        { "C", "K", "[C] is a coulomb. Degrees Celsius are [degC], a difference of temperatures is in [K]." },
        { "F", "K", "[F] is a farad. Degrees Fahrenheit are [degF], a difference of temperatures is in [K]." },
        { "H", "s", "[H] is a henry. An hour is [h]." },
        { "S", "s", "[S] is a siemens. A second is [s]." },
        { "g", "m/s^2", "[g] is a gram. An acceleration is in [m/s^2]: 9.81 [m/s^2]." },
        { "G", "m/s^2", "[G] is a gauss. An acceleration is in [m/s^2]: 9.81 [m/s^2]." },
        { "T", "kg", "[T] is a tesla. A tonne is [t]." },
        { "W", "kg.m/s^2", "[W] is a watt. A force is in [N]." },
        { "kg", "kg.m/s^2", "[kg] is a mass. The weight of 1 kg is 9.81 [N], or [kgf]." },
        { "lb", "kg.m/s^2", "[lb] is a mass. A force is in [lbf]." },
    };

    for (size_t k = 0; v.said && k < sizeof read / sizeof *read; k++)
        if (!strcmp(unit_text(v.said), read[k].letter) && !strcmp(unit_base_text(el->u, wanted), read[k].wanted))
            diag_help(el->s, "%s", read[k].help);
}

static bool
is_bare_value(val v)
{
    return v.fit == FIT_BARE || v.fit == FIT_ZERO;
}

static bool
is_bare_number(val v)
{
    return is_bare_value(v) || (v.fit == FIT_ANY && v.number);
}

/* Where the model's text has the name of a value at this place whose unit the text does not state, and the experiment
 * gives it: notes where. */
static void
note_let(elab *el, span at)
{
    const span model = el->model_scope && el->model_scope->model ? el->model_scope->model->at : SPAN_NONE;
    const char *name = text_of(el, at);
    uint32_t k = at.file == model.file && at.begin >= model.begin && at.end <= model.end
                     ? find_value(el, el->model_scope, names_intern_z(el->names, name))
                     : NONE;

    if (k != NONE && el->value.at[k].let && !el->value.at[k].declared && el->value.at[k].expr)
        diag_note(el->s, el->value.at[k].expr->at, "\"%s\" is given here", name);
}

val
units_together(elab *el, const char *verb, val a, span a_at, val b, span b_at)
{
    val r = a;

    if (a.bad || b.bad)
        return val_bad(el);
    if (a.fit == FIT_UNIT && b.fit == FIT_UNIT && a.unit != b.unit) {
        diag_error(el->s, "unit-clash", span_join(a_at, b_at), "[%s] and [%s] cannot be %s",
                   unit_text(a.said ? a.said : a.unit), unit_text(b.said ? b.said : b.unit), verb);
        diag_note(el->s, a_at, "\"%s\" is %s", text_of(el, a_at), in_words(el, a));
        note_let(el, a_at);
        diag_note(el->s, b_at, "\"%s\" is %s", text_of(el, b_at), in_words(el, b));
        note_let(el, b_at);
        help_letters(el, a, b.unit);
        help_letters(el, b, a.unit);
        if (a.factor || b.factor)
            units_help_factor(el, a.factor ? b.unit : a.unit, a.factor ? a.unit : b.unit);
        return val_bad(el);
    }
    if (bare_clash(el, a, b, b_at) || bare_clash(el, b, a, a_at))
        return val_bad(el);
    if (b.fit > r.fit) {
        r.fit = b.fit;
        r.unit = b.unit;
        r.stated = b.stated;
    } else if (a.fit == FIT_UNIT && b.fit == FIT_UNIT) {
        r.stated = a.stated && b.stated; /* time - 1 [s] is still a time */
    }
    r.number = r.fit == FIT_ANY && is_bare_number(a) && is_bare_number(b);
    if (r.number)
        r.unit = el->one;
    else if (r.fit == FIT_ANY && (a.fit != FIT_ANY   ? a.fit != FIT_ZERO
                                  : b.fit != FIT_ANY ? b.fit != FIT_ZERO
                                                     : a.unit != b.unit))
        r.unit = NULL; /* 0.05 + 0.01*time: the unit of the one number determines that of the other */
    r.factor = a.factor || b.factor;
    if (!r.shown)
        r.shown = b.shown;
    if (r.written != b.written)
        r.written = NULL;
    if (r.said != b.said)
        r.said = a.fit == FIT_UNIT && b.fit == FIT_UNIT ? NULL : a.said ? a.said : b.said;
    if (r.zero != b.zero)
        r.zero = ZERO_NONE;
    return r;
}

/* u: the unit of the product without bare numbers; NULL: unknown */
static val
unit_product(elab *el, val a, val b, const unit *u)
{
    bool any = a.fit != FIT_UNIT || b.fit != FIT_UNIT;
    val r = { .n = a.n, .fit = FIT_ANY, .unit = u, .number = is_bare_number(a) && is_bare_number(b) };

    if (a.bad || b.bad)
        return val_bad(el);
    if (is_bare_value(a) && is_bare_value(b))
        return (val){ .n = a.n, .fit = FIT_BARE };
    r.stated = (a.stated || b.stated) && u && !unit_is_number(u);
    r.factor = a.factor || b.factor || (any && (a.stated || b.stated));
    if (u && (!any || a.stated || b.stated))
        r.fit = FIT_UNIT;
    return r;
}

static const unit *
own_unit(elab *el, val v)
{
    return is_bare_value(v) ? el->one : v.unit;
}

val
units_multiply(elab *el, val a, val b)
{
    const unit *x = own_unit(el, a), *y = own_unit(el, b);

    return unit_product(el, a, b, x && y ? unit_multiply(el->u, x, y) : NULL);
}

val
units_divide(elab *el, val a, val b)
{
    const unit *x = own_unit(el, a), *y = own_unit(el, b);

    /* 1/k may have any unit beside a stiffness */
    b.stated = b.stated && !is_bare_value(a);
    return unit_product(el, a, b, x && y ? unit_divide(el->u, x, y) : NULL);
}

bool
small_fraction(double x, int *num, int *den)
{
    if (!(fabs(x) <= GREATEST_FRACTION))
        return false;
    for (*den = 1; *den <= GREATEST_DENOMINATOR; ++*den) {
        double n = round(x * *den);

        if (fabs(x * *den - n) < EXACT) {
            *num = (int)n;
            return true;
        }
    }
    return false;
}

val
units_power(elab *el, val a, span a_at, val exponent, span exponent_at)
{
    double x;
    int num, den;
    const unit *u;

    if (a.bad || exponent.bad)
        return val_bad(el);
    if (exponent.fit == FIT_UNIT && !unit_is_number(exponent.unit)) {
        diag_error(el->s, "unit-exponent", exponent_at, "an exponent is a pure number; \"%s\" is in %s",
                   text_of(el, exponent_at), said_of(el, exponent));
        return val_bad(el);
    }
    if (a.fit != FIT_UNIT) {
        bool known = a.fit == FIT_ANY && a.unit && ex_is_const(el->pool, exponent.n, &x) &&
                     small_fraction(x, &num, &den);

        if (is_bare_number(a) && !(is_bare_value(a) && is_bare_value(exponent)))
            return (val){ .n = a.n, .fit = FIT_ANY, .unit = el->one, .number = true };
        return (val){ .n = a.n,
                      .fit = is_bare_value(a) && is_bare_value(exponent) ? FIT_BARE : FIT_ANY,
                      .unit = known ? unit_power(el->u, a.unit, num, den) : NULL };
    }
    if (unit_is_number(a.unit))
        return (val){ .n = a.n, .fit = FIT_UNIT, .unit = a.unit };
    if (!ex_is_const(el->pool, exponent.n, &x)) {
        diag_error(el->s, "unit-exponent", exponent_at, "a quantity in %s can only be raised to a literal number",
                   said_of(el, a));
        diag_note(el->s, a_at, "\"%s\" is in %s", text_of(el, a_at), said_of(el, a));
        diag_help(el->s, "Divide it by a reference value first, so that the base is a pure number.");
        return val_bad(el);
    }
    u = small_fraction(x, &num, &den) ? unit_power(el->u, a.unit, num, den) : NULL;
    if (!u) {
        diag_error(el->s, "unit-exponent", span_join(a_at, exponent_at), "%s to the power %g is not a unit",
                   said_of(el, a), x);
        diag_help(el->s, "Divide by a reference value first, so that the base is a pure number.");
        return val_bad(el);
    }
    return (val){ .n = a.n, .fit = FIT_UNIT, .unit = u, .stated = a.stated, .factor = a.factor };
}

bool
units_give(elab *el, val v, span at, const unit *target, const char *name)
{
    if (v.bad)
        return false;
    if (!target)
        return true;
    if (v.fit == FIT_UNIT && v.unit != unit_dimension(target)) {
        diag_error(el->s, "unit-clash", at, "%s is in %s, but its value is %s", name, unit_said(el, target),
                   in_words(el, v));
        help_letters(el, v, unit_dimension(target));
        if (v.factor)
            units_help_factor(el, target, v.unit);
        return false;
    }
    if (v.fit == FIT_BARE && !unit_is_coherent(target)) {
        diag_error(el->s, "unit-bare", at, "%s is in [%s], and a bare number is in SI", name, unit_text(target));
        if (strspn(text_of(el, at), "-0123456789.eE") == strlen(text_of(el, at)) && unit_offset(target) == 0 &&
            !unit_is_number(target))
            diag_help(el->s, "Write the unit behind the number: %s [%s], or %s [%s] if that is meant.", text_of(el, at),
                      unit_text(target), text_of(el, at), unit_text(unit_dimension(target)));
        else if (strspn(text_of(el, at), "-0123456789.eE") == strlen(text_of(el, at)))
            diag_help(el->s, "Write the unit behind the number: %s [%s].", text_of(el, at), unit_text(target));
        else
            diag_help(el->s, "Write the unit behind its number, as in 3 [%s]*x.", unit_text(target));
        return false;
    }
    turning_given(el, v, at, target, name);
    zero_given(el, v, at, target, name);
    return true;
}

void
claim_unit(builder *b, val v, span at, const unit *want, const char *name)
{
    if (!v.bad && v.fit == FIT_ANY && !v.number && b->reads == READ_ALL && !b->function)
        vec_push(&b->el->claim, ((unit_claim){ builder_entry(b, v.n), at, want, name }));
}

bool
claim_given(builder *b, val v, span at, const unit *target, const char *name)
{
    if (!units_give(b->el, v, at, target, name))
        return false;
    if (target)
        claim_unit(b, v, at, target, name);
    return true;
}

bool
units_pure(elab *el, val v, span at, const char *name)
{
    if (v.bad)
        return false;
    if (v.fit == FIT_UNIT && !unit_is_number(v.unit)) {
        diag_error(el->s, "unit-argument", at, "%s takes a pure number; \"%s\" is in %s", name, text_of(el, at),
                   said_of(el, v));
        diag_help(el->s, "Divide by a value in [%s].", unit_text(v.unit));
        return false;
    }
    return true;
}

void
need_single(elab *el, val *v, span at)
{
    if (v->bad || !v->m)
        return;
    diag_error(el->s, "matrix-number", at, "a number is needed here; \"%s\" is %s", text_of(el, at), size_words(el, v));
    *v = val_bad(el);
}

void
need_number(elab *el, val *v, span at)
{
    need_single(el, v, at);
    if (v->bad || !v->condition)
        return;
    diag_error(el->s, "condition-number", at, "a number is needed here; \"%s\" is true or false", text_of(el, at));
    diag_help(el->s, "Write: if %s then 1 else 0.", text_of(el, at));
    *v = val_bad(el);
}

void
condition_clash(elab *el, span at, const unit *said)
{
    diag_error(el->s, "condition-number", at, "a condition is needed here; \"%s\" is in %s", text_of(el, at),
               unit_said(el, said));
    diag_help(el->s, "Compare it with something, as in %s > 0.", text_of(el, at));
}

void
need_condition(builder *b, val *v, span at)
{
    elab *el = b->el;

    need_single(el, v, at);
    if (v->bad || v->condition)
        return;
    if (v->fit == FIT_UNIT && !unit_is_number(v->unit)) {
        condition_clash(el, at, v->said ? v->said : v->unit);
        *v = val_bad(el);
        return;
    }
    claim_unit(b, *v, at, NULL, NULL);
    *v = (val){ .n = ex_make(el->pool, EX_NE, v->n, ex_const(el->pool, 0), NODE_NONE),
                .fit = FIT_ANY,
                .condition = true };
}

void
as_number(elab *el, val *v)
{
    if (v->bad || !v->condition)
        return;
    *v = (val){ .n = ex_make(el->pool, EX_SELECT, v->n, ex_const(el->pool, 1), ex_const(el->pool, 0)),
                .fit = FIT_BARE };
}
