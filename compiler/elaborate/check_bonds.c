/* check_bonds.c - units of bonds: effort times flow is power
 *
 * All bonds that meet in junctions carry the same effort and flow: a region. Where nobody says a domain, effort is
 * power by flow, so that one unit F of flow tells the rest: e in W/F, f in F, q in F*s, p in W*s/F. Every law is an
 * equation of units over those of its regions and of the values it reads; one that leaves a single F open solves for it
 * (R in [N.s/m]: F^2 = W/(N.s/m)), and what it finds takes part in the laws that read the same region. Two-ports and
 * fields carry units across regions because their laws do.
 *
 * A bare number fits any unit, and so does what it multiplies; what nothing is known of says nothing. Domains give
 * their units outright.
 *
 * needs     ports, bonds and domains; laws, initial values, signals; units of declared values
 * provides  units of the bonds' variables, of q and p, and of signals that state none
 * reports   unit-bond: a unit that no bond has; unit-clash: two that disagree. One a region
 * time      linear in the size of the laws, times the number of regions one of them reads
 */
#include <math.h>
#include <string.h>

#include "elab.h"

/* known*X^(num/den), X the unit of symbol sym; sym NONE: just known. known NULL: fits any; one: a bare 1, any in sums
 * and no factor. stated: a unit of the text takes part. Where none does, nothing is said: models without units are in
 * plain numbers. bare: a number or parameter without unit. written: a number, parameter or constant with one takes
 * part, beside which a bare number is a pure factor. loose: a bare number multiplies what is made of variables alone,
 * and so fits any; known is the unit without it. factor: a bare number was taken for a pure factor. */
typedef struct measure {
    const unit *known;
    uint32_t sym;
    int num, den;
    bool one, stated, bare, written, loose, factor;
} measure;

struct region {
    const unit *effort, *flow; /* NULL: not known yet */
    bool apart;                /* a pseudo bond that does not say its units: neither follows from the other */
    uint32_t from;             /* equation that fixed it; NONE: its domain */
    bool said;                 /* a clash was reported */
};

enum equation_kind { EQ_LAW, EQ_INITIAL, EQ_SIGNAL, EQ_REINIT };
struct equation {
    enum equation_kind kind;
    uint32_t index;   /* in flat.law, initial, var, reinit */
    uint32_t unknown; /* regions and signals it reads and that are not known */
    bool queued;
};

/* What one look at an equation finds. */
struct finding {
    uint32_t sym;
    const unit *is;         /* a symbol solved; NONE: none */
    bool clash, impossible; /* units differ; what would be needed is no unit */
    node a, b;              /* what clashes, NODE_NONE: the two sides */
    const unit *ua, *ub;
};

struct check {
    elab *el;
    flat_model *f;
    const unit *watt;
    uint32_t *root;        /* of a junction */
    struct region *region; /* by root */
    uint32_t opened;       /* a region looked at as if nothing were known of it, NONE */
    measure *at;           /* by node, scratch */
    VEC(struct equation) eq;
    uint32_t *reader0,
        *reader; /* equations that read an item: a region (its root) or a signal (junctions + variable) */
    VEC(uint32_t) queue;
    size_t head;
    struct finding found;
    bool shows; /* the equation gives an output that has a unit */
};

static const measure anything = { .sym = NONE }, bare_number = { .sym = NONE, .bare = true };

/* ---------------------------------------------------------------- what is known */

static measure
plain(const unit *u)
{
    return (measure){ .known = u, .sym = NONE, .num = 0, .den = 1 };
}

static measure
stated(const unit *u)
{
    return (measure){ .known = u, .sym = NONE, .num = 0, .den = 1, .stated = true };
}

static measure
region_measure(const struct check *c, uint32_t r, bool effort)
{
    const struct region *x = &c->region[r];
    const unit *u = effort ? x->effort : x->flow;

    if (u && c->opened != r)
        return stated(u);
    if (x->apart)
        return (measure){ .known = c->el->one, .sym = 2 * r + effort, .num = 1, .den = 1 };
    return (measure){ .known = effort ? c->watt : c->el->one, .sym = 2 * r, .num = effort ? -1 : 1, .den = 1 };
}

/* A bare number times a (sign 1) or by it (-1). */
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

static measure
times(const struct check *c, measure a, measure b, int sign)
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
        r.written = false; /* time/1 [s] is a number like others */
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

/* The region a bond variable belongs to, NONE for others. */
static uint32_t
region_of(const struct check *c, var_id v)
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

/* Of a number of the text, a parameter or a constant. */
static measure
given_number(const flat_var *x)
{
    measure m = x->unit ? stated(x->unit) : bare_number;

    m.written = x->unit && !unit_is_number(x->unit);
    return m;
}

static measure
variable(const struct check *c, var_id v)
{
    const flat_var *x = &c->f->var.at[v];
    uint32_t r = region_of(c, v);
    const flat_model *f = c->f;

    switch (x->kind) {
    case VAR_COMMON: return region_measure(c, r, f->junction.at[x->owner].type == 0);
    case VAR_PORT: return region_measure(c, r, f->junction.at[f->port.at[x->owner].junction].type == 1);
    case VAR_BOND: return region_measure(c, r, f->junction.at[f->bond.at[x->owner].from].type == 1);
    case VAR_STORED: return times(c, region_measure(c, r, port_has_momentum(f, x->owner)), plain(c->el->second), 1);
    case VAR_RATE:
        if (f->var.at[x->owner].kind == VAR_RATE)
            return x->unit ? stated(x->unit) : anything;
        return times(c, variable(c, x->owner), plain(c->el->second), -1);
    case VAR_TIME: return c->el->file->units ? plain(c->el->second) : anything;
    case VAR_PARAM:
    case VAR_LITERAL:
        return x->kind == VAR_PARAM && x->role != ROLE_PARAMETER && x->role != ROLE_CONSTANT
                   ? (x->unit ? stated(x->unit) : anything)
                   : given_number(x);
    default: return x->unit ? stated(x->unit) : anything;
    }
}

/* ---------------------------------------------------------------- expressions */

static void
clash(struct check *c, node a, const unit *ua, node b, const unit *ub)
{
    if (!c->found.clash) {
        c->found.clash = true;
        c->found.a = a;
        c->found.b = b;
        c->found.ua = ua;
        c->found.ub = ub;
    }
}

/* a and b are in one unit: both known, they must agree; with one symbol open, it is solved. Returns what both are. */
static measure
same(struct check *c, node na, measure a, node nb, measure b)
{
    elab *el = c->el;
    uint32_t sym;
    int num, den;
    const unit *x;

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
            clash(c, na, sym == NONE ? a.known : NULL, nb, sym == NONE ? b.known : NULL);
        return a;
    }
    if (c->found.sym != NONE || c->found.impossible)
        return a;
    x = unit_power(el->u, unit_divide(el->u, b.known, a.known), num > 0 ? den : -den, abs(num));
    if (x && unit_is_whole(x)) { /* what bonds carry has no roots in it */
        c->found.sym = sym;
        c->found.is = x;
    } else {
        c->found.impossible = true;
    }
    return a;
}

/* x as a fraction with a small denominator */
static bool
fraction(double x, int *num, int *den)
{
    if (!(fabs(x) <= 100))
        return false;
    for (*den = 1; *den <= 12; ++*den) {
        double n = round(x * *den);

        if (fabs(x * *den - n) < 1e-9) {
            *num = (int)n;
            return true;
        }
    }
    return false;
}

static measure
to_power(struct check *c, const ex_node *x)
{
    measure a = c->at[x->a];
    double exponent;
    int num, den;

    if (ex_is_const(c->el->pool, x->b, &exponent)) {
        if (!fraction(exponent, &num, &den))
            return anything;
        return raised(c, a, num, den);
    }
    same(c, x->b, c->at[x->b], NODE_NONE, plain(c->el->one));
    return same(c, x->a, a, NODE_NONE, a.known ? plain(c->el->one) : anything).known ? plain(c->el->one) : anything;
}

/* Numbers that are the form of a formula (q^2/2) rather than data: in an output, whose unit is declared, they are pure
 * factors. */
static measure
form_number(const struct check *c, double x)
{
    if (fabs(x) == 1)
        return (measure){ .sym = NONE, .den = 1, .one = true };
    return c->shows ? plain(c->el->one) : bare_number;
}

static measure
operation(struct check *c, node n, const var_id *slot)
{
    const ex_node *x = pool_node(c->el->pool, n);
    measure one = plain(c->el->one);

    switch ((enum ex_op)x->op) {
    case EX_CONST: return form_number(c, x->value);
    case EX_SLOT: return variable(c, slot[x->a]);
    case EX_ADD:
    case EX_SUB:
    case EX_MIN:
    case EX_MAX: return same(c, x->a, c->at[x->a], x->b, c->at[x->b]);
    case EX_SELECT: return same(c, x->b, c->at[x->b], x->c, c->at[x->c]);
    case EX_MUL: return times(c, c->at[x->a], c->at[x->b], 1);
    case EX_DIV: return times(c, c->at[x->a], c->at[x->b], -1);
    case EX_NEG:
    case EX_ABS:
    case EX_FLOOR:
    case EX_CEIL: return c->at[x->a];
    case EX_POW:
    case EX_SPOW:
    case EX_APOW: return to_power(c, x);
    case EX_SQRT: return raised(c, c->at[x->a], 1, 2);
    case EX_EXP:
    case EX_LN:
    case EX_LOG10:
    case EX_SIN:
    case EX_COS:
    case EX_TAN:
    case EX_ASIN:
    case EX_ACOS:
    case EX_ATAN:
    case EX_SINH:
    case EX_COSH:
    case EX_TANH:
    case EX_ASINH:
        if (c->at[x->a].loose)
            return anything;
        return same(c, x->a, c->at[x->a], NODE_NONE, c->at[x->a].known ? one : anything).known ? one : anything;
    case EX_ATAN2:
    case EX_LT:
    case EX_LE:
    case EX_EQ:
    case EX_NE: same(c, x->a, c->at[x->a], x->b, c->at[x->b]); return one;
    case EX_SIGN:
    case EX_AND:
    case EX_OR:
    case EX_NOT: return one;
    case EX_TABLE:
    case EX_TABLE_SLOPE:
    case EX_NOPS: break;
    }
    return anything;
}

static measure
expression(struct check *c, inst i)
{
    const node *tape;
    const var_id *slot = inst_slots(c->f, i);
    size_t n;

    if (!inst_known(i))
        return anything;
    tape = ex_tape(c->el->pool, i.root, &n);
    for (size_t k = 0; k < n; k++)
        c->at[tape[k]] = operation(c, tape[k], slot);
    return c->at[i.root].one || c->at[i.root].bare || c->at[i.root].loose ? anything : c->at[i.root];
}

/* ---------------------------------------------------------------- equations */

static var_id
port_quantity(const flat_port *p, enum quantity q)
{
    return q == Q_EFFORT ? p->e : q == Q_FLOW ? p->f : p->stored;
}

static uint32_t
in_port(const flat_model *f, const flat_law *law)
{
    uint32_t port0 = f->element.at[f->port.at[law->port].element].port0;

    return law->port - (law->port - port0) % 2;
}

static void
look_at_two_port(struct check *c, const flat_law *law)
{
    uint32_t in = in_port(c->f, law);
    bool transformer = c->f->element.at[c->f->port.at[in].element].type == EL_TF;
    const flat_port *x = &c->f->port.at[in], *y = x + 1;
    measure m = expression(c, law->def);

    same(c, NODE_NONE, variable(c, x->e), NODE_NONE, times(c, m, variable(c, transformer ? y->e : y->f), 1));
    same(c, NODE_NONE, variable(c, transformer ? y->f : y->e), NODE_NONE, times(c, m, variable(c, x->f), 1));
}

/* The value that an equation but a law gives, and to what. */
static measure
given(struct check *c, const struct equation *e, measure *to)
{
    const flat_model *f = c->f;
    measure from;

    if (e->kind == EQ_INITIAL) {
        const flat_initial *i = &f->initial.at[e->index];
        var_id v = i->port != NONE ? port_quantity(&f->port.at[i->port], i->q) : f->junction.at[i->junction].common;

        *to = v == VAR_NONE ? anything : variable(c, v);
        return i->unit ? stated(i->unit) : anything;
    }
    if (e->kind == EQ_REINIT) {
        *to = variable(c, f->reinit.at[e->index].target);
        return expression(c, f->reinit.at[e->index].value);
    }
    *to = variable(c, e->index);
    c->shows = f->var.at[e->index].role == ROLE_OUTPUT && f->var.at[e->index].display;
    from = expression(c, f->var.at[e->index].def);
    c->shows = false;
    return from;
}

static void
look(struct check *c, const struct equation *e)
{
    measure to, from;

    c->found = (struct finding){ .sym = NONE, .a = NODE_NONE, .b = NODE_NONE };
    if (e->kind == EQ_LAW) {
        const flat_law *law = &c->f->law.at[e->index];

        if (law->kind == LAW_MODULUS) {
            look_at_two_port(c, law);
        } else {
            from = expression(c, law->def);
            if (law->kind == LAW_ASSIGN)
                same(c, NODE_NONE, variable(c, port_quantity(&c->f->port.at[law->port], law->out)), NODE_NONE, from);
        }
        return;
    }
    from = given(c, e, &to);
    if (e->kind == EQ_SIGNAL && c->f->var.at[e->index].kind == VAR_INTEGRAL) {
        from = times(c, from, plain(c->el->second), 1);
        same(c, NODE_NONE, to, NODE_NONE, from);
        same(c, NODE_NONE, to, NODE_NONE, expression(c, c->f->var.at[e->index].init));
    } else {
        same(c, NODE_NONE, to, NODE_NONE, from);
    }
}

/* ---------------------------------------------------------------- who reads what */

/* Calls see for each region and each signal without unit that e reads, once each. */
struct items {
    const struct check *c;
    uint32_t *stamp, now;
    VEC(uint32_t) item;
};

static void
add_item(struct items *t, uint32_t item)
{
    if (t->stamp[item] == t->now)
        return;
    t->stamp[item] = t->now;
    vec_push(&t->item, item);
}

static void
add_variable(struct items *t, var_id v)
{
    const flat_model *f = t->c->f;
    uint32_t r;

    while (f->var.at[v].kind == VAR_RATE)
        v = f->var.at[v].owner;
    r = region_of(t->c, v);
    if (r != NONE)
        add_item(t, r);
    else if (!f->var.at[v].unit && (f->var.at[v].kind == VAR_SIGNAL || f->var.at[v].kind == VAR_INTEGRAL))
        add_item(t, (uint32_t)f->junction.n + v);
}

static void
add_inst(struct items *t, inst i)
{
    for (uint32_t k = 0; inst_known(i) && k < i.n; k++)
        add_variable(t, inst_slots(t->c->f, i)[k]);
}

static void
list_items(struct items *t, const struct equation *e)
{
    const flat_model *f = t->c->f;

    t->now++;
    t->item.n = 0;
    switch (e->kind) {
    case EQ_LAW: {
        const flat_law *law = &f->law.at[e->index];

        add_inst(t, law->def);
        add_item(t, t->c->root[f->port.at[law->port].junction]);
        if (law->kind == LAW_MODULUS) {
            uint32_t in = in_port(f, law);

            add_item(t, t->c->root[f->port.at[in].junction]);
            add_item(t, t->c->root[f->port.at[in + 1].junction]);
        }
        break;
    }
    case EQ_INITIAL: {
        const flat_initial *i = &f->initial.at[e->index];

        add_item(t, t->c->root[i->port != NONE ? f->port.at[i->port].junction : i->junction]);
        break;
    }
    case EQ_REINIT:
        add_variable(t, f->reinit.at[e->index].target);
        add_inst(t, f->reinit.at[e->index].value);
        break;
    case EQ_SIGNAL:
        add_inst(t, f->var.at[e->index].def);
        if (f->var.at[e->index].kind == VAR_INTEGRAL)
            add_inst(t, f->var.at[e->index].init);
        break;
    }
}

static bool
item_known(const struct check *c, uint32_t item)
{
    if (item >= c->f->junction.n)
        return c->f->var.at[item - c->f->junction.n].unit != NULL;
    return c->region[item].flow && c->region[item].effort;
}

/* The value that a variable is one of, or NULL. Values are in the order of their variables. */
static const value *
value_of(const elab *el, var_id v)
{
    size_t low = 0, high = el->value.n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (el->value.at[mid].var + el->value.at[mid].count <= v)
            low = mid + 1;
        else
            high = mid;
    }
    return low < el->value.n && el->value.at[low].var <= v ? &el->value.at[low] : NULL;
}

/* A signal whose clash was said where it is given is not looked at again. */
static bool
clash_said(const elab *el, var_id v)
{
    const value *x = value_of(el, v);

    return x && x->clash;
}

static void
list_equations(struct check *c)
{
    const flat_model *f = c->f;

    for (uint32_t k = 0; k < f->law.n; k++)
        if (f->law.at[k].port < f->port.n &&
            f->law.at[k].kind != LAW_RESIDUAL) /* only compared with zero: `if closed then s.e else s.f` */
            vec_push(&c->eq, ((struct equation){ .kind = EQ_LAW, .index = k }));
    for (uint32_t k = 0; k < f->initial.n; k++)
        vec_push(&c->eq, ((struct equation){ .kind = EQ_INITIAL, .index = k }));
    for (uint32_t k = 0; k < f->var.n; k++)
        if ((f->var.at[k].kind == VAR_SIGNAL || f->var.at[k].kind == VAR_INTEGRAL) && inst_known(f->var.at[k].def) &&
            !clash_said(c->el, k))
            vec_push(&c->eq, ((struct equation){ .kind = EQ_SIGNAL, .index = k }));
    for (uint32_t k = 0; k < f->reinit.n; k++)
        vec_push(&c->eq, ((struct equation){ .kind = EQ_REINIT, .index = k }));
}

static void
list_readers(struct check *c)
{
    size_t nitems = c->f->junction.n + c->f->var.n;
    struct items t = { .c = c, .stamp = bg_calloc(nitems, sizeof(uint32_t)) };
    uint32_t *fill;

    c->reader0 = bg_calloc(nitems + 1, sizeof *c->reader0);
    for (size_t e = 0; e < c->eq.n; e++) {
        list_items(&t, &c->eq.at[e]);
        for (size_t k = 0; k < t.item.n; k++) {
            c->reader0[t.item.at[k] + 1]++;
            c->eq.at[e].unknown += !item_known(c, t.item.at[k]);
        }
    }
    for (size_t k = 0; k < nitems; k++)
        c->reader0[k + 1] += c->reader0[k];
    c->reader = bg_calloc(c->reader0[nitems], sizeof *c->reader);
    fill = bg_calloc(nitems, sizeof *fill);
    for (size_t e = 0; e < c->eq.n; e++) {
        list_items(&t, &c->eq.at[e]);
        for (size_t k = 0; k < t.item.n; k++)
            c->reader[c->reader0[t.item.at[k]] + fill[t.item.at[k]]++] = (uint32_t)e;
    }
    free(fill);
    free(t.stamp);
    vec_free(&t.item);
}

/* ---------------------------------------------------------------- spreading */

static void
enqueue(struct check *c, uint32_t e)
{
    if (c->eq.at[e].queued)
        return;
    c->eq.at[e].queued = true;
    vec_push(&c->queue, e);
}

/* An item has become known: equations that have at most one left are looked at again. */
static void
wake_readers(struct check *c, uint32_t item)
{
    for (uint32_t k = c->reader0[item]; k < c->reader0[item + 1]; k++) {
        struct equation *e = &c->eq.at[c->reader[k]];

        if (e->unknown)
            e->unknown--;
        if (e->unknown <= 1)
            enqueue(c, c->reader[k]);
    }
}

static void
settle(struct check *c, uint32_t sym, const unit *u, uint32_t e)
{
    struct region *x = &c->region[sym / 2];

    if (sym % 2)
        x->effort = u;
    else
        x->flow = u;
    if (!x->apart)
        x->effort = unit_divide(c->el->u, c->watt, u);
    x->from = e;
    if (x->effort && x->flow)
        wake_readers(c, sym / 2);
}

static void
drain(struct check *c)
{
    while (c->head < c->queue.n) {
        uint32_t e = c->queue.at[c->head++];
        struct equation *x = &c->eq.at[e];

        x->queued = false;
        for (look(c, x); c->found.sym != NONE; look(c, x))
            settle(c, c->found.sym, c->found.is, e);
        if (x->kind == EQ_SIGNAL && !c->f->var.at[x->index].unit) {
            measure to, from;

            from = given(c, x, &to);
            if (c->f->var.at[x->index].kind == VAR_INTEGRAL)
                from = times(c, from, plain(c->el->second), 1);
            if (from.known && from.stated && from.sym == NONE) {
                c->f->var.at[x->index].unit = from.known;
                wake_readers(c, (uint32_t)c->f->junction.n + x->index);
            }
        }
    }
}

/* Laws say what bonds carry before signals and outputs do, which only read them. */
static void
spread(struct check *c)
{
    for (int round = 0; round < 2; round++) {
        for (uint32_t e = 0; e < c->eq.n; e++)
            if ((c->eq.at[e].kind == EQ_LAW || c->eq.at[e].kind == EQ_INITIAL) == (round == 0))
                enqueue(c, e);
        drain(c);
    }
}

/* ---------------------------------------------------------------- messages */

static const char *
element_called(const struct check *c, uint32_t e)
{
    const flat_element *x = &c->f->element.at[e];

    return arena_format(c->el->a, "%s:%s", element_type_name(x->type), x->name);
}

static uint32_t
element_of(const struct check *c, const struct equation *e)
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
    uint32_t x = element_of(c, e);

    if (x != NONE)
        return element_called(c, x);
    if (e->kind == EQ_INITIAL)
        return arena_format(c->el->a, "%u:%s", f->junction.at[f->initial.at[e->index].junction].type,
                            f->junction.at[f->initial.at[e->index].junction].name);
    if (e->kind == EQ_REINIT)
        return arena_format(c->el->a, "\"%s\"", f->var.at[f->reinit.at[e->index].target].name);
    return arena_format(c->el->a, "\"%s\"", f->var.at[e->index].name);
}

/* What the equation gives a value to. */
static const char *
target(const struct check *c, const struct equation *e)
{
    static const char *const q[] = { "e", "f", "q", "p" };
    const flat_model *f = c->f;

    if (e->kind == EQ_LAW)
        return arena_format(c->el->a, "%s.%s", port_name(f, f->law.at[e->index].port), q[f->law.at[e->index].out]);
    if (e->kind == EQ_INITIAL) {
        const flat_initial *i = &f->initial.at[e->index];

        return arena_format(c->el->a, "%s.%s(0)",
                            i->port != NONE ? port_name(f, i->port) : f->junction.at[i->junction].name, q[i->q]);
    }
    return called(c, e);
}

/* The value that a variable is one of, if an instance or the experiment gave it what it is; else NULL. */
static const value *
given_value(const elab *el, var_id v)
{
    const value *x = value_of(el, v);

    return x && (x->given || x->let) ? x : NULL;
}

/* What an equation reads that had no unit of its own and got one where it was given a value. */
static void
note_given(const struct check *c, const struct equation *e)
{
    const flat_model *f = c->f;
    inst i = e->kind == EQ_LAW ? f->law.at[e->index].def : INST_NONE;
    int notes = 0;

    for (uint32_t k = 0; inst_known(i) && k < i.n && notes < 2; k++) {
        const value *v = given_value(c->el, inst_slots(f, i)[k]);

        if (!v || v->declared)
            continue;
        diag_note(c->el->s, v->expr->at, "\"%s\" is given here", v->name);
        notes++;
    }
}

static span
place(const struct check *c, const struct equation *e)
{
    const flat_model *f = c->f;
    uint32_t x = element_of(c, e);

    if (e->kind == EQ_INITIAL)
        return f->initial.at[e->index].at;
    if (e->kind == EQ_REINIT)
        return f->reinit.at[e->index].at;
    if (e->kind == EQ_SIGNAL && given_value(c->el, e->index))
        return given_value(c->el, e->index)->expr->at;
    return x != NONE ? f->element.at[x].at : f->var.at[e->index].at;
}

/* The unit of the one coefficient of a linear law, from what the law says its bond carries; NULL for others. */
static const unit *
coefficient(const struct check *c, const struct equation *e, const unit *effort, const unit *flow)
{
    uint32_t x = element_of(c, e);
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

static void
note_says(const struct check *c, const struct equation *e, const unit *effort, const unit *flow)
{
    const unit *k = coefficient(c, e, effort, flow);
    bool turning = unit_is_number(unit_multiply(c->el->u, flow, c->el->second)) &&
                   effort == unit_multiply(c->el->u, c->watt, c->el->second);
    bool carried = e->kind == EQ_LAW && c->f->law.at[e->index].kind == LAW_MODULUS;
    const char *in = k ? arena_format(c->el->a, ", in [%s],", unit_text(k)) : "";

    /* a torque is not called an energy */
    diag_note(c->el->s, place(c, e),
              carried ? "over %s%s they carry effort in [%s], flow in [%s]" : "%s%s says effort in [%s], flow in [%s]",
              called(c, e), in, turning ? "N.m" : unit_text(effort), turning ? "rad/s" : unit_text(flow));
}

static void
note_region(const struct check *c, uint32_t r)
{
    const struct region *x = &c->region[r];
    const flat_domain *d = junction_domain(c->f, r);

    if (!x->effort || !x->flow)
        return;
    if (x->from != NONE)
        note_says(c, &c->eq.at[x->from], x->effort, x->flow);
    else if (d)
        diag_note(c->el->s, d->at, "domain %s says %s in [%s], %s in [%s]", d->name, d->effort_name,
                  unit_text(x->effort), d->flow_name, unit_text(x->flow));
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

static const char *
in_unit(const struct check *c, const unit *u)
{
    return unit_is_number(u) ? "a pure number" : arena_format(c->el->a, "in [%s]", unit_text(u));
}

/* The unit of the coefficient of a linear law of one port: the law with the quantity it multiplies taken as a bare 1.
 * NULL: none. */
static const unit *
given_in(struct check *c, const struct equation *e)
{
    uint32_t x = element_of(c, e);
    const flat_element *y = x != NONE ? &c->f->element.at[x] : NULL;
    inst def;
    var_id multiplied;
    node *with;
    measure m;

    if (!y || e->kind != EQ_LAW || !y->linear || y->nports != 1 || is_source(y->type))
        return NULL;
    def = c->f->law.at[e->index].def;
    multiplied = y->type == EL_C ? c->f->port.at[y->port0].e : c->f->port.at[y->port0].f;
    with = bg_calloc(def.n, sizeof *with);
    for (uint32_t k = 0; k < def.n; k++)
        with[k] = inst_slots(c->f, def)[k] == multiplied ? ex_const(c->el->pool, 1) : ex_slot(c->el->pool, k);
    def.root = ex_substitute(c->el->pool, def.root, with, def.n);
    free(with);
    c->at = bg_realloc(c->at, pool_count(c->el->pool) * sizeof *c->at);
    m = expression(c, def);
    return m.sym == NONE ? m.known : NULL;
}

static void
no_such_bond(struct check *c, const struct equation *e)
{
    elab *el = c->el;
    uint32_t x = element_of(c, e);
    const flat_element *y = x != NONE ? &c->f->element.at[x] : NULL;
    const unit *u = given_in(c, e);

    if (u)
        diag_error(el->s, "unit-bond", y->node && y->node->linear ? y->node->linear->at : y->at,
                   "%s is given in [%s], which no bond has whose effort times flow is power", called(c, e),
                   unit_text(u));
    else
        diag_error(el->s, "unit-bond", place(c, e), "what %s relates fits no bond whose effort times flow is power",
                   called(c, e));
    note_given(c, e);
    diag_help(el->s, y && y->type == EL_R ? "A resistance is effort by flow, as [N.s/m] or [ohm]; the law is e = r*f. "
                                            "A pseudo bond says its domain with `in`."
                     : y && y->type == EL_C ? "A C takes its compliance, displacement by effort, as [m/N] or [F]; a "
                                              "stiffness k is written 1/k. A pseudo bond says its domain with `in`."
                     : y && y->type == EL_I
                         ? "An I takes momentum by flow, as [kg] or [H]. A pseudo bond says its domain with `in`."
                         : "A pseudo bond says its domain with `in`, as in 0:node in heat.");
}

/* Both sides of e clash, and nothing in it tells what its bonds should carry. */
static void
plain_clash(struct check *c, const struct equation *e)
{
    elab *el = c->el;
    const flat_model *f = c->f;
    struct finding x = c->found;
    inst i = e->kind == EQ_LAW      ? f->law.at[e->index].def
             : e->kind == EQ_SIGNAL ? f->var.at[e->index].def
             : e->kind == EQ_REINIT ? f->reinit.at[e->index].value
                                    : INST_NONE;
    const unit *coefficient_unit = given_in(c, e);
    span at = e->kind == EQ_LAW && span_known(f->law.at[e->index].at) ? f->law.at[e->index].at : place(c, e);

    if (coefficient_unit && x.a == NODE_NONE && x.ua && x.ub)
        diag_error(el->s, "unit-clash", at, "%s is given in [%s], and its bond takes [%s]", called(c, e),
                   unit_text(coefficient_unit),
                   unit_text(unit_divide(el->u, unit_multiply(el->u, coefficient_unit, x.ua), x.ub)));
    else if (!x.ua || !x.ub)
        diag_error(el->s, "unit-clash", at, "the units in the law of %s do not fit together", called(c, e));
    else if (x.a != NODE_NONE && x.b != NODE_NONE)
        diag_error(el->s, "unit-clash", at, "in the law of %s, \"%s\" is %s and \"%s\" is %s", called(c, e),
                   node_text(c, x.a, i), in_unit(c, x.ua), node_text(c, x.b, i), in_unit(c, x.ub));
    else if (x.a != NODE_NONE)
        diag_error(el->s, "unit-clash", at, "in the law of %s, \"%s\" must be %s and is %s", called(c, e),
                   node_text(c, x.a, i), in_unit(c, x.ub), in_unit(c, x.ua));
    else if (e->kind == EQ_LAW && f->law.at[e->index].kind == LAW_MODULUS)
        diag_error(el->s, "unit-clash", at,
                   "%s joins bonds that its ratio does not fit: one side is %s, the other times the ratio %s",
                   called(c, e), in_unit(c, x.ua), in_unit(c, x.ub));
    else
        diag_error(el->s, "unit-clash", at, "%s is %s, what it is given is %s", target(c, e), in_unit(c, x.ua),
                   in_unit(c, x.ub));
    if (e->kind == EQ_SIGNAL && given_value(el, e->index))
        diag_note(el->s, f->var.at[e->index].at, "it is declared here");
    note_given(c, e);
}

/* Whether what an element is given is the inverse of what a bond with this effort and flow takes: said with the line
 * that would fit. */
static bool
help_inverse(struct check *c, const struct equation *e, const unit *effort, const unit *flow)
{
    elab *el = c->el;
    uint32_t x = e->kind == EQ_LAW ? element_of(c, e) : NONE;
    const flat_element *y = x != NONE ? &c->f->element.at[x] : NULL;
    const unit *given = y ? given_in(c, e) : NULL, *takes;
    const char *text;

    if (!given || !effort || !flow || !y->node || !y->node->linear)
        return false;
    takes = y->type == EL_C   ? unit_divide(el->u, unit_multiply(el->u, flow, el->second), effort)
            : y->type == EL_I ? unit_divide(el->u, unit_multiply(el->u, effort, el->second), flow)
                              : unit_divide(el->u, effort, flow);
    if (given == takes || unit_multiply(el->u, given, takes) != el->one)
        return false;
    text = text_of(el, y->node->linear->at);
    diag_help(el->s, "1/%s%s%s would fit: %s.",
              y->node->linear->kind == AST_REF || y->node->linear->kind == AST_NUMBER ? "" : "(", text,
              y->node->linear->kind == AST_REF || y->node->linear->kind == AST_NUMBER ? "" : ")",
              y->type == EL_C   ? "a C takes its compliance, a stiffness k is written 1/k"
              : y->type == EL_R ? "an R takes its resistance, a conductance g is written 1/g"
                                : "an I takes its inertia");
    return true;
}

/* The same of a two-port between bonds that are known. */
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
    in = in_port(c->f, law);
    y = &c->f->element.at[c->f->port.at[in].element];
    a = variable(c, c->f->port.at[in].e);
    b = variable(c, y->type == EL_TF ? c->f->port.at[in + 1].e : c->f->port.at[in + 1].f);
    m = expression(c, law->def);
    if (!a.known || !b.known || !m.known || a.sym != NONE || b.sym != NONE || m.sym != NONE || !y->node ||
        !y->node->linear)
        return;
    takes = unit_divide(c->el->u, a.known, b.known);
    if (m.known != takes && unit_multiply(c->el->u, m.known, takes) == c->el->one)
        diag_help(c->el->s, "1/(%s) would fit: %s.", text_of(c->el, y->node->linear->at),
                  y->type == EL_TF ? "a TF takes e_in/e_out, which is f_out/f_in"
                                   : "a GY takes e_in/f_out, which is e_out/f_in");
}

/* Whether a source is given a product in which a bare number was taken for a pure factor, a weight of -9.81*m say: the
 * number's unit is said. */
static bool
help_pure_factor(struct check *c, const struct equation *e, const struct region *x)
{
    const flat_law *law = e->kind == EQ_LAW ? &c->f->law.at[e->index] : NULL;
    const unit *takes;
    measure m;

    if (!law || law->kind != LAW_ASSIGN || !is_source(c->f->element.at[element_of(c, e)].type))
        return false;
    m = expression(c, law->def);
    takes = law->out == Q_EFFORT ? x->effort : x->flow;
    if (!m.factor || !m.known || m.sym != NONE || !takes)
        return false;
    units_help_factor(c->el, takes, m.known);
    return true;
}

/* An equation that does not hold with all that is known. */
static void
report(struct check *c, struct items *t, const struct equation *e)
{
    struct finding plainly = c->found;
    uint32_t notes = 0, element = element_of(c, e);
    const unit *found;
    bool linear = e->kind == EQ_LAW && c->f->element.at[element].linear;

    list_items(t, e);
    for (size_t k = 0; k < t->item.n; k++)
        if (t->item.at[k] < c->f->junction.n && c->region[t->item.at[k]].said)
            return;
    for (size_t k = 0; e->kind == EQ_LAW && k < t->item.n; k++) {
        uint32_t r = t->item.at[k];
        const struct region *x = r < c->f->junction.n ? &c->region[r] : NULL;

        if (!x || x->from == NONE || !x->flow || x->apart)
            continue;
        c->opened = r;
        look(c, e);
        c->opened = NONE;
        if (c->found.impossible && linear) {
            no_such_bond(c, e);
            if (element_of(c, &c->eq.at[x->from]) != element)
                note_region(c, r);
            c->region[r].said = true;
            return;
        }
        if (c->found.clash || c->found.sym != 2 * r || c->found.is == x->flow)
            continue;
        diag_error(c->el->s, "unit-clash", place(c, e), "the bonds of %s and %s carry different things", called(c, e),
                   called(c, &c->eq.at[x->from]));
        note_says(c, e, unit_divide(c->el->u, c->watt, c->found.is), c->found.is);
        note_given(c, e);
        note_region(c, r);
        c->region[r].said = true;
        found = c->found.is;
        if (!help_pure_factor(c, e, x) && !help_inverse(c, e, x->effort, x->flow))
            help_inverse(c, &c->eq.at[x->from], unit_divide(c->el->u, c->watt, found), found);
        help_inverse_ratio(c, e);
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
        c->region[t->item.at[k]].said = true;
        if (plainly.clash && notes++ < 2)
            note_region(c, t->item.at[k]);
    }
}

static void
verify(struct check *c)
{
    struct items t = { .c = c, .stamp = bg_calloc(c->f->junction.n + c->f->var.n, sizeof(uint32_t)) };

    for (size_t e = 0; e < c->eq.n; e++) {
        look(c, &c->eq.at[e]);
        if (c->found.clash || c->found.impossible)
            report(c, &t, &c->eq.at[e]);
    }
    free(t.stamp);
    vec_free(&t.item);
}

/* ---------------------------------------------------------------- the pass */

static void
start_regions(struct check *c)
{
    unit_system *us = c->el->u;

    for (uint32_t j = 0; j < c->f->junction.n; j++) {
        const flat_domain *d = junction_domain(c->f, j);
        struct region *x = &c->region[j];

        x->from = NONE;
        if (!d || c->root[j] != j)
            continue;
        x->effort = d->effort ? unit_dimension(d->effort) : NULL;
        x->flow = d->flow ? unit_dimension(d->flow) : NULL;
        x->apart = d->power != NODE_NONE && (!x->effort || !x->flow);
        if (!x->apart && !x->effort && x->flow)
            x->effort = unit_divide(us, c->watt, x->flow);
        if (!x->apart && !x->flow && x->effort)
            x->flow = unit_divide(us, c->watt, x->effort);
    }
}

static void
set_units(struct check *c)
{
    for (var_id v = 0; v < c->f->var.n; v++) {
        flat_var *x = &c->f->var.at[v];

        if (!x->unit && (region_of(c, v) != NONE || x->kind == VAR_RATE)) {
            measure m = variable(c, v);

            if (m.known && m.sym == NONE)
                x->unit = m.known;
        }
    }
}

void
check_bonds(elab *el)
{
    struct check c = { .el = el, .f = el->f, .watt = el->watt, .opened = NONE };

    if (el->incomplete || !el->watt || !el->second)
        return;
    c.root = junction_regions(el->f);
    c.region = bg_calloc(el->f->junction.n, sizeof *c.region);
    c.at = bg_calloc(pool_count(el->pool), sizeof *c.at);
    start_regions(&c);
    list_equations(&c);
    list_readers(&c);
    spread(&c);
    verify(&c);
    set_units(&c);
    free(c.root);
    free(c.region);
    free(c.at);
    free(c.reader0);
    free(c.reader);
    vec_free(&c.eq);
    vec_free(&c.queue);
}
