/* check_bonds_measure.c - the unit of an expression while some units are unknown */
#include <math.h>

#include "check_bonds_inside.h"

/* ---------------------------------------------------------------- known units */

measure
bonds_plain(const unit *u)
{
    return (measure){ .known = u, .sym = NONE, .num = 0, .den = 1 };
}

measure
bonds_stated(const unit *u)
{
    return (measure){ .known = u, .sym = NONE, .num = 0, .den = 1, .stated = true };
}

static measure
region_measure(const struct check *c, uint32_t r, bool effort)
{
    const struct region *x = &c->region[r];
    const unit *u = effort ? x->effort : x->flow;

    if (u && c->opened != r)
        return bonds_stated(u);
    if (x->apart)
        return (measure){ .known = c->el->one, .sym = 2 * r + effort, .num = 1, .den = 1 };
    return (measure){ .known = effort ? c->watt : c->el->one, .sym = 2 * r, .num = effort ? -1 : 1, .den = 1 };
}

/* A bare number times a (sign 1) or over a (-1). */
static measure
bare_times(const struct check *c, measure a, int sign)
{
    if (a.one || a.bare)
        return bare_number;
    if (!a.known)
        return anything;
    if (sign < 0) {
        a.known = unit_power(c->el->u, a.known, -1, 1);
        a.num = -a.num;
    }
    a.loose = !a.written || sign < 0;
    a.factor |= !a.loose;
    a.written = a.written && sign > 0;
    return a.known ? a : anything;
}

measure
bonds_times(const struct check *c, measure a, measure b, int sign)
{
    measure r = anything;

    if (a.bare || b.bare)
        return a.bare ? bare_times(c, b, sign) : bare_times(c, a, 1);
    if (a.one)
        a.known = c->el->one;
    if (b.one)
        b.known = c->el->one;
    if (!a.known || !b.known || (a.sym != NONE && b.sym != NONE && a.sym != b.sym))
        return r;
    r.known = sign > 0 ? unit_multiply(c->el->u, a.known, b.known) : unit_divide(c->el->u, a.known, b.known);
    r.sym = a.sym != NONE ? a.sym : b.sym;
    r.stated = a.stated || b.stated;
    r.written = a.written || b.written;
    r.factor = a.factor || b.factor;
    r.loose = (a.loose || b.loose) && !r.written;
    r.den = 1;
    if (r.sym != NONE) {
        r.num = (a.sym != NONE ? a.num * (b.sym != NONE ? b.den : 1) : 0) +
                (b.sym != NONE ? sign * b.num * (a.sym != NONE ? a.den : 1) : 0);
        r.den = (a.sym != NONE ? a.den : 1) * (b.sym != NONE ? b.den : 1);
        if (abs(r.num) > 1000 || r.den > 1000)
            return anything;
        if (!r.num)
            r.sym = NONE;
    }
    if (r.sym == NONE && unit_is_number(r.known))
        r.written = false; /* time/1 [s] is an ordinary number */
    return r;
}

static measure
raised(const struct check *c, measure a, int num, int den)
{
    if (!a.known)
        return a.bare ? a : anything;
    a.known = unit_power(c->el->u, a.known, num, den);
    a.num *= num;
    a.den *= den;
    if (!a.known || abs(a.num) > 1000 || a.den > 1000)
        return anything;
    return a;
}

uint32_t
bonds_region_of(const struct check *c, var_id v)
{
    const flat_var *x = &c->f->var.at[v];

    switch (x->kind) {
    case VAR_COMMON: return c->root[x->owner];
    case VAR_PORT:
    case VAR_STORED: return c->root[c->f->port.at[x->owner].junction];
    case VAR_BOND: return c->root[c->f->bond.at[x->owner].from];
    default: return NONE;
    }
}

/* For a number of the text, a parameter or a constant. */
static measure
given_number(const unit *u)
{
    measure m = u ? bonds_stated(u) : bare_number;

    m.written = u && !unit_is_number(u);
    return m;
}

/* Is it a signal without unit that is a number or a function of numbers? For an input this depends on who sets it. */
static bool
is_plain_number(const elab *el, var_id v)
{
    const value *x = el->f->var.at[v].role == ROLE_INPUT ? NULL : value_of_variable(el, v);

    return x && (x->fits.fit == FIT_BARE || (x->fits.fit == FIT_ANY && x->fits.number));
}

measure
bonds_variable(const struct check *c, var_id v)
{
    const flat_var *x = &c->f->var.at[v];
    uint32_t r = bonds_region_of(c, v);
    const flat_model *f = c->f;
    const unit *u = var_unit(f, v);

    switch (x->kind) {
    case VAR_COMMON: return region_measure(c, r, f->junction.at[x->owner].type == 0);
    case VAR_PORT: return region_measure(c, r, f->junction.at[f->port.at[x->owner].junction].type == 1);
    case VAR_BOND: return region_measure(c, r, f->junction.at[f->bond.at[x->owner].from].type == 1);
    case VAR_STORED:
        return bonds_times(c, region_measure(c, r, port_has_momentum(f, x->owner)), bonds_plain(c->el->second), 1);
    case VAR_RATE:
        if (f->var.at[x->owner].kind == VAR_RATE)
            return u ? bonds_stated(u) : anything;
        return bonds_times(c, bonds_variable(c, x->owner), bonds_plain(c->el->second), -1);
    case VAR_TIME: return c->el->file->units ? bonds_plain(c->el->second) : anything;
    case VAR_PARAM:
    case VAR_LITERAL:
        return x->kind == VAR_PARAM && x->role != ROLE_PARAMETER && x->role != ROLE_CONSTANT
                   ? (u ? bonds_stated(u) : anything)
                   : given_number(u);
    case VAR_SIGNAL:
        if (!u && is_plain_number(c->el, v))
            return bare_number;
        return u ? bonds_stated(u) : anything;
    default: return u ? bonds_stated(u) : anything;
    }
}

/* ---------------------------------------------------------------- expressions */

static void
note_clash(struct check *c, node a, const unit *ua, node b, const unit *ub)
{
    if (!c->found.clash) {
        c->found.clash = true;
        c->found.a = a;
        c->found.b = b;
        c->found.ua = ua;
        c->found.ub = ub;
    }
}

measure
bonds_same_unit(struct check *c, node na, measure a, node nb, measure b)
{
    elab *el = c->el;
    uint32_t sym;
    int num, den;
    const unit *x;

    if ((a.bare || a.one) && (b.bare || b.one))
        return a.one && b.one ? a : bare_number;
    if (!a.known || !b.known)
        return a.bare && b.bare ? a : a.loose || b.loose ? anything : a.known ? a : b.known ? b : anything;
    if (a.loose || b.loose)
        return !a.loose ? a : !b.loose ? b : anything;
    a.written = a.written && b.written;
    a.stated = b.stated = a.stated || b.stated;
    if (!a.stated)
        return a;
    if (a.sym != NONE && b.sym != NONE && a.sym != b.sym)
        return a;
    sym = a.sym != NONE ? a.sym : b.sym;
    num = (a.sym != NONE ? a.num * (b.sym != NONE ? b.den : 1) : 0) -
          (b.sym != NONE ? b.num * (a.sym != NONE ? a.den : 1) : 0);
    den = (a.sym != NONE ? a.den : 1) * (b.sym != NONE ? b.den : 1);
    if (sym == NONE || !num) {
        if (a.known != b.known)
            note_clash(c, na, sym == NONE ? a.known : NULL, nb, sym == NONE ? b.known : NULL);
        return a;
    }
    if (c->found.sym != NONE || c->found.impossible)
        return a;
    x = unit_power(el->u, unit_divide(el->u, b.known, a.known), num > 0 ? den : -den, abs(num));
    if (x && unit_is_whole(x)) { /* variables of bonds have units without roots */
        c->found.sym = sym;
        c->found.is = x;
    } else {
        c->found.impossible = true;
    }
    return a;
}

static measure
measure_power(struct check *c, const ex_node *x)
{
    measure a = c->at[x->a];
    double exponent;
    int num, den;

    if (ex_is_const(c->el->pool, x->b, &exponent)) {
        if (!(fabs(exponent) <= 100) || !small_fraction(exponent, &num, &den))
            return anything;
        return raised(c, a, num, den);
    }
    bonds_same_unit(c, x->b, c->at[x->b], NODE_NONE, bonds_plain(c->el->one));
    if (a.bare || a.one || !a.known)
        return a.bare || a.one ? bare_number : anything;
    bonds_same_unit(c, x->a, a, NODE_NONE, bonds_plain(c->el->one));
    return bonds_plain(c->el->one);
}

/* A number that belongs to a formula (q^2/2) and is not data: in an output, whose unit is declared, it is a pure
 * factor. */
static measure
form_number(const struct check *c, double x)
{
    if (fabs(x) == 1)
        return (measure){ .sym = NONE, .den = 1, .one = true };
    return c->shows ? bonds_plain(c->el->one) : bare_number;
}

static measure
measure_of_alternatives(struct check *c, node a, node b)
{
    return c->any_unit ? anything : bonds_same_unit(c, a, c->at[a], b, c->at[b]);
}

static measure
table_measure(const struct check *c, uint32_t table)
{
    const unit *u = table < c->el->table_unit.n ? c->el->table_unit.at[table] : NULL;

    return u ? bonds_stated(u) : anything;
}

static measure
measure_operation(struct check *c, node n, const var_id *slot)
{
    const ex_node *x = pool_node(c->el->pool, n);
    measure one = bonds_plain(c->el->one);

    switch (x->op) {
    case EX_CONST: return form_number(c, x->value);
    case EX_SLOT: return bonds_variable(c, slot[x->a]);
    case EX_SELECT: return measure_of_alternatives(c, x->b, x->c);
    case EX_MIN:
    case EX_MAX: return measure_of_alternatives(c, x->a, x->b);
    case EX_TABLE: return table_measure(c, x->table);
    default: break;
    }
    switch (ex_ops[x->op].units) {
    case EX_UNITS_KEPT: return c->at[x->a];
    case EX_UNITS_SAME: return bonds_same_unit(c, x->a, c->at[x->a], x->b, c->at[x->b]);
    case EX_UNITS_PRODUCT: return bonds_times(c, c->at[x->a], c->at[x->b], 1);
    case EX_UNITS_QUOTIENT: return bonds_times(c, c->at[x->a], c->at[x->b], -1);
    case EX_UNITS_POWER: return measure_power(c, x);
    case EX_UNITS_ROOT: return raised(c, c->at[x->a], 1, 2);
    case EX_UNITS_PURE:
        if (c->at[x->a].loose || !c->at[x->a].known)
            return bare_number;
        bonds_same_unit(c, x->a, c->at[x->a], NODE_NONE, one);
        return one;
    case EX_UNITS_RATIO: bonds_same_unit(c, x->a, c->at[x->a], x->b, c->at[x->b]); return one;
    case EX_UNITS_SIGN: return one;
    case EX_UNITS_NONE: break;
    }
    return anything;
}

measure
bonds_expression(struct check *c, inst i)
{
    const node *tape;
    const var_id *slot = inst_slots(c->f, i);
    size_t n;

    if (!inst_known(i))
        return anything;
    tape = ex_tape(c->el->pool, i.root, &n);
    for (size_t k = 0; k < n; k++)
        c->at[tape[k]] = measure_operation(c, tape[k], slot);
    return c->at[i.root].one || c->at[i.root].bare || c->at[i.root].loose ? anything : c->at[i.root];
}
