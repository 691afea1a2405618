/* laws.c - laws of elements and initial values
 *
 * needs     ports; values and units of bonds
 * provides  one law an element, `= expr` written out; stated initial values, the experiment's before the model's
 */
#include <string.h>

#include "elab.h"

/* ---------------------------------------------------------------- laws */

/* The two quantities related by a law; the second is the stored one, if there is any. */
static const struct {
    enum quantity a, b;
    const char *names;
} related[] = {
    [EL_R] = { Q_EFFORT, Q_FLOW, "e and f" },
    [EL_C] = { Q_DISPLACEMENT, Q_EFFORT, "q and e" },
    [EL_I] = { Q_MOMENTUM, Q_FLOW, "p and f" },
};

static bool
find_quantity(const elab *el, const char *name, enum quantity *q)
{
    const char *const known[] = { el->n_e, el->n_f, el->n_q, el->n_p };

    for (int k = 0; k < 4; k++) {
        if (known[k] == name) {
            *q = (enum quantity)k;
            return true;
        }
    }
    return false;
}

static var_id
port_var(const flat_port *p, enum quantity q)
{
    return q == Q_EFFORT ? p->e : q == Q_FLOW ? p->f : p->stored;
}

static void
add_element_law(elab *el, uint32_t e, flat_law law)
{
    flat_element *x = &el->f->element.at[e];

    vec_push(&el->f->law, law);
    x->nlaws++;
}

static void
say_modulated(elab *el, const flat_element *x, const ast_expr *e)
{
    const char *type = element_type_name(x->type);

    if (x->modulated || element_is_source(x->type))
        return;
    diag_info(el->s, "modulated-spelling", element_at(x), "\"%s\" varies during the run; write M%s:%s to show it",
              text_of(el, e->at), type, x->name);
}

/* Name of the reader in messages about values read too early; a law never reads too early. */
static const char a_law[] = "a law";

static void
make_linear(elab *el, scope *in, uint32_t e)
{
    flat_model *f = el->f;
    flat_element *x = &f->element.at[e];
    const ast_expr *expr = x->node->own->linear;
    const char *who = element_is_source(x->type)
                          ? arena_join(el->a, "the law of ", element_type_name(x->type), ":", x->name, NULL)
                          : a_law;
    builder b = builder_new(el, in, READ_ALL, who);
    flat_law law = { .kind = element_is_two_port(x->type) ? LAW_MODULUS : LAW_ASSIGN,
                     .port = x->port0,
                     .at = expr->at };
    const flat_port *p = x->nports ? &f->port.at[x->port0] : NULL;
    val v = resolve_law(&b, expr);
    node n;
    bool varies;

    as_number(el, &v);
    if (v.bad || !p) {
        builder_free(&b);
        return;
    }
    if (element_is_source(x->type))
        units_give(el, v, expr->at, var_unit(f, x->type == EL_SE ? p->e : p->f), who);
    if (x->type == EL_SF)
        turning_flow(el, v, expr->at, arena_format(el->a, "the flow of %s:%s", element_type_name(x->type), x->name));
    varies = !only_parameters(f, b.slot.at, b.slot.n);
    n = v.n;
    switch (x->type) {
    case EL_SE: law.out = Q_EFFORT; break;
    case EL_SF: law.out = Q_FLOW; break;
    case EL_R:
        law.out = Q_EFFORT;
        n = ex_mul(f->pool, n, builder_slot(&b, p->f));
        break;
    case EL_C:
        law.out = Q_DISPLACEMENT;
        n = ex_mul(f->pool, n, builder_slot(&b, p->e));
        break;
    case EL_I:
        law.out = Q_MOMENTUM;
        n = ex_mul(f->pool, n, builder_slot(&b, p->f));
        break;
    case EL_TF:
    case EL_GY: law.out = Q_EFFORT; break;
    }
    law.def = builder_inst(&b, n);
    builder_free(&b);
    x->linear = true;
    add_element_law(el, e, law);
    if (varies)
        say_modulated(el, x, expr);
}

static void
make_general(elab *el, scope *in, uint32_t e, const ast_law_item *item)
{
    ast_part room;
    const ast_ref left = ast_law_left(item, &room);
    flat_model *f = el->f;
    const flat_element *x = &f->element.at[e];
    const char *type = element_type_name(x->type);
    builder b = builder_new(el, in, READ_ALL, a_law);
    const flat_port *p = x->nports ? &f->port.at[x->port0] : NULL;
    enum quantity q;
    val v;

    if (!find_quantity(el, left.part[0].name, &q) || (q != related[x->type].a && q != related[x->type].b)) {
        diag_error(el->s, "law-quantity", left.at, "\"%s\" cannot stand left of = in %s:%s: a law of %s relates %s",
                   text_of(el, left.at), type, x->name, type, related[x->type].names);
        return;
    }
    b.own = e;
    v = resolve_law(&b, item->right);
    as_number(el, &v);
    if (p && !units_give(el, v, item->right->at, var_unit(el->f, port_var(p, q)), text_of(el, left.at)))
        v.bad = v.bad || var_unit(f, port_var(p, q));
    if (!v.bad && p) {
        flat_law law = { .kind = LAW_ASSIGN, .port = x->port0, .out = q, .at = item->at };

        law.def = builder_inst(&b, v.n);
        for (uint32_t k = 0; k < law.def.n; k++) {
            if (inst_slots(f, law.def)[k] != port_var(p, q))
                continue;
            diag_error(el->s, "law-circular", item->right->at, "%s stands on both sides of the law of %s:%s",
                       left.part[0].name, type, x->name);
            diag_help(el->s, "Solve it for one of %s.", related[x->type].names);
        }
        add_element_law(el, e, law);
    }
    builder_free(&b);
}

/* ---------------------------------------------------------------- laws of two-ports */

/* Output and input of a two-port's law; is its coefficient the modulus or its inverse? */
static const struct two_port_law {
    enum element_type type;
    bool out;
    enum quantity give;
    bool from_out;
    enum quantity from;
    bool inverse;
} two_port_laws[] = {
    { EL_TF, false, Q_EFFORT, true, Q_EFFORT, false }, { EL_TF, true, Q_FLOW, false, Q_FLOW, false },
    { EL_TF, true, Q_EFFORT, false, Q_EFFORT, true },  { EL_TF, false, Q_FLOW, true, Q_FLOW, true },
    { EL_GY, false, Q_EFFORT, true, Q_FLOW, false },   { EL_GY, true, Q_EFFORT, false, Q_FLOW, false },
    { EL_GY, true, Q_FLOW, false, Q_EFFORT, true },    { EL_GY, false, Q_FLOW, true, Q_EFFORT, true },
};

static const char *
two_port_help(enum element_type t)
{
    return t == EL_TF ? "A TF relates in.f and out.f, or in.e and out.e, as in out.f = in.f/20; the other two follow."
                      : "A GY relates in.e and out.f, or in.f and out.e, as in out.e = k*in.f; the other two follow.";
}

/* Parses in.e or out.f: port and quantity; false if it is neither. */
static bool
two_port_quantity(const elab *el, const ast_ref *r, bool *out, enum quantity *q)
{
    if (r->nparts != 2 || r->part[0].nindex || r->part[1].nindex || !find_quantity(el, r->part[1].name, q) ||
        *q > Q_FLOW)
        return false;
    *out = r->part[0].name == el->n_out;
    return *out || r->part[0].name == el->n_in;
}

val
read_two_port(builder *b, const ast_ref *r)
{
    elab *el = b->el;
    const flat_element *x = &el->f->element.at[b->own];
    enum quantity q;
    bool out;

    if (!two_port_quantity(el, r, &out, &q))
        return (val){ .n = NODE_NONE };
    return x->nports == 2 ? read_variable(b, port_var(&el->f->port.at[x->port0 + out], q)) : val_bad(el);
}

/* The coefficient of the one quantity that a law reads; NODE_NONE unless the law is that quantity times a factor. */
static node
coefficient_of(elab *el, const builder *b, node n, var_id from)
{
    node *with = bg_calloc(b->slot.n, sizeof *with), slope = NODE_NONE;
    double rest;

    for (uint32_t k = 0; k < b->slot.n; k++)
        with[k] = NODE_NONE;
    for (uint32_t k = 0; k < b->slot.n; k++) {
        if (b->slot.at[k] != from)
            continue;
        slope = ex_derivative(el->pool, n, k);
        with[k] = ex_const(el->pool, 0);
        if (ex_substitute(el->pool, slope, with, (uint32_t)b->slot.n) != slope ||
            !ex_is_const(el->pool, ex_substitute(el->pool, n, with, (uint32_t)b->slot.n), &rest) || rest != 0)
            slope = NODE_NONE;
    }
    free(with);
    return slope;
}

/* TF:gear { out.f = in.f/20; } */
static void
make_two_port(elab *el, scope *in, uint32_t e, const ast_law_item *item)
{
    ast_part room;
    const ast_ref left = ast_law_left(item, &room);
    flat_model *f = el->f;
    const flat_element *x = &f->element.at[e];
    const char *type = element_type_name(x->type);
    const struct two_port_law *l = NULL;
    builder b = builder_new(el, in, READ_ALL, a_law);
    enum quantity q;
    bool out;
    val v;

    if (two_port_quantity(el, &left, &out, &q))
        for (size_t k = 0; k < sizeof two_port_laws / sizeof *two_port_laws; k++)
            if (two_port_laws[k].type == x->type && two_port_laws[k].out == out && two_port_laws[k].give == q)
                l = &two_port_laws[k];
    if (!l) {
        diag_error(el->s, "law-quantity", left.at, "\"%s\" cannot stand left of = in %s:%s", text_of(el, left.at), type,
                   x->name);
        diag_help(el->s, "%s", two_port_help(x->type));
        return;
    }
    b.own = e;
    v = resolve_law(&b, item->right);
    as_number(el, &v);
    need_single(el, &v, item->right->at);
    if (!v.bad && x->nports == 2) {
        const flat_port *p = &f->port.at[x->port0];
        node n = coefficient_of(el, &b, v.n, port_var(&p[l->from_out], l->from));
        double zero;

        if (n == NODE_NONE || (ex_is_const(el->pool, n, &zero) && zero == 0)) {
            diag_error(el->s, "law-two-port", item->right->at, "the law of %s:%s is not %s.%s times a factor", type,
                       x->name, l->from_out ? "out" : "in", l->from == Q_EFFORT ? "e" : "f");
            diag_help(el->s, "%s", two_port_help(x->type));
        } else {
            n = l->inverse ? ex_div(el->pool, ex_const(el->pool, 1), n) : n;
            add_element_law(el, e,
                            (flat_law){ .kind = LAW_MODULUS,
                                        .port = x->port0,
                                        .out = Q_EFFORT,
                                        .def = builder_inst(&b, n),
                                        .at = item->right->at });
            f->element.at[e].linear = true;
            if (!only_parameters(f, inst_slots(f, f->law.at[f->law.n - 1].def), f->law.at[f->law.n - 1].def.n))
                say_modulated(el, x, item->right);
        }
    }
    builder_free(&b);
}

/* `such that expr`: the source imposes whatever makes expr zero. */
static void
make_residual(elab *el, scope *in, uint32_t e)
{
    const flat_element *x = &el->f->element.at[e];
    const ast_expr *expr = x->node->own->more->such_that;
    builder b = builder_new(el, in, READ_ALL,
                            arena_format(el->a, "the condition of %s:%s", element_type_name(x->type), x->name));
    val v;

    b.any_unit = true;
    v = resolve(&b, expr, true);
    need_number(el, &v, expr->at);
    if (!v.bad && x->nports) {
        flat_law law = { .kind = LAW_RESIDUAL,
                         .port = x->port0,
                         .out = x->type == EL_SE ? Q_EFFORT : Q_FLOW,
                         .def = builder_inst(&b, v.n),
                         .at = expr->at };

        add_element_law(el, e, law);
    }
    builder_free(&b);
}

/* Number of equations in an element's block; reports those that are not allowed. */
static int
count_equations(elab *el, const flat_element *x)
{
    const ast_node *written = x->node;
    const char *type = element_type_name(x->type);
    int n = 0;

    for (int k = 0; k < written->own->block->nitems; k++) {
        const ast_law_item *item = &written->own->block->item[k];
        ast_part room;
        ast_ref left;

        if (item->kind != AST_LAW_EQUATION)
            continue;
        left = ast_law_left(item, &room);
        if (element_is_two_port(x->type) && left.nparts == 2) {
            if (n++ || written->own->linear) {
                diag_error(el->s, "law-twice", item->at, "%s:%s has two laws", type, x->name);
                diag_note(el->s, written->own->linear ? written->own->linear->at : element_at(x),
                          "the other one is here");
                diag_help(el->s, "%s", two_port_help(x->type));
                return -1;
            }
            continue;
        }
        if (left.nparts > 1 || !strcmp(left.part[0].name, "energy")) {
            diag_error(el->s, "law-quantity", left.at,
                       "\"%s\" cannot stand left of = in %s:%s, which has no ports of its own", text_of(el, left.at),
                       type, x->name);
            if (left.nparts == 2 && left.part[1].name[1] == '\0' && !element_is_source(x->type) &&
                !element_is_two_port(x->type))
                diag_help(el->s,
                          "The effort and flow of an element with one bond are e and f alone, as in %s:%s { %s = "
                          "...; }; a field declares its ports, port a, b; and bonds join %s.a and %s.b.",
                          type, x->name, left.part[1].name, x->name, x->name);
            else
                diag_help(el->s, "Declare them in the block: port a, b; and join bonds to %s.a and %s.b.", x->name,
                          x->name);
            return -1;
        }
        if (element_is_source(x->type) || element_is_two_port(x->type)) {
            diag_error(el->s, "law-block", item->at, "%s:%s takes its value behind =, not in a block", type, x->name);
            diag_help(el->s, "Write %s:%s = %s.", type, x->name, text_of(el, item->right->at));
            return -1;
        }
        if (n++ || written->own->linear) {
            diag_error(el->s, "law-twice", item->at, "%s:%s has two laws", type, x->name);
            diag_note(el->s, written->own->linear ? written->own->linear->at : element_at(x), "the other one is here");
            if (written->own->linear && (x->type == EL_C || x->type == EL_I)) {
                const char *of = text_of(el, left.at);

                if (strlen(of) != 1 || !strchr("efqp", *of)) /* q0, x0, ... */
                    of = x->type == EL_C ? "q" : "p";
                diag_help(el->s, "An initial value is %s(0) = %s;", of, text_of(el, item->right->at));
            }
            return -1;
        }
    }
    return n;
}

/* The law of an element whose effort or flow was taken out. */
static void
make_rest(elab *el, uint32_t e)
{
    flat_element *x = &el->f->element.at[e];

    if (!x->nports)
        return;
    x->linear = true;
    add_element_law(el, e,
                    (flat_law){ .kind = LAW_ASSIGN,
                                .port = x->port0,
                                .out = x->type == EL_SE ? Q_EFFORT : Q_FLOW,
                                .def = set_inst(el, 0),
                                .at = element_at(x) });
}

void
make_law(elab *el, scope *in, uint32_t e)
{
    flat_element *x = &el->f->element.at[e];
    const ast_node *written = x->node;
    int n;

    x->law0 = (uint32_t)el->f->law.n;
    if (x->rests) {
        make_rest(el, e);
        return;
    }
    if (is_field(el, e)) {
        make_field_laws(el, in, e);
        return;
    }
    n = count_equations(el, x);
    if (n < 0)
        return;
    if (written->own->more->such_that) {
        if (element_is_source(x->type))
            make_residual(el, in, e);
        else
            diag_error(el->s, "law-residual", written->own->more->such_that->at,
                       "\"such that\" belongs to sources, Se or Sf");
        return;
    }
    if (written->own->linear) {
        make_linear(el, in, e);
    } else if (n) {
        for (int k = 0; k < written->own->block->nitems; k++)
            if (written->own->block->item[k].kind == AST_LAW_EQUATION)
                (element_is_two_port(x->type) ? make_two_port : make_general)(el, in, e, &written->own->block->item[k]);
    } else {
        diag_error(el->s, "law-missing", element_at(x), "%s:%s has no %s", element_type_name(x->type), x->name,
                   element_is_source(x->type) ? "value"
                   : x->type == EL_TF         ? "ratio"
                   : x->type == EL_GY         ? "modulus"
                                              : "law");
        if (element_is_source(x->type) || element_is_two_port(x->type))
            diag_help(el->s, "Write %s:%s = ....", element_type_name(x->type), x->name);
        else
            diag_help(el->s, "Write %s:%s = ... for a linear one, or a block { ... } that relates %s.",
                      element_type_name(x->type), x->name, related[x->type].names);
    }
}

/* ---------------------------------------------------------------- initial values */

val
initial_value(elab *el, scope *in, const ast_expr *e, const char *who, const unit *want, inst *out)
{
    builder b = builder_new(el, in, READ_PARAMETERS, who);
    val v;

    b.structure = b.units = true;
    v = resolve(&b, e, true);
    need_number(el, &v, e->at);
    if (!units_give(el, v, e->at, want, who))
        v.bad = v.bad || want;
    if (!v.bad)
        *out = builder_inst(&b, v.n);
    builder_free(&b);
    return v;
}

static void
no_initial(elab *el, const ast_law_item *item, const char *name, const char *which)
{
    ast_part room;
    const ast_ref left = ast_law_left(item, &room);

    diag_error(el->s, "initial-quantity", left.at, "%s has no initial value %s(0)", name, text_of(el, left.at));
    diag_help(el->s, "%s", which);
}

static void
add_initial(elab *el, scope *in, flat_initial at, const char *name, const ast_expr *e)
{
    var_id v = at.port != NONE ? port_var(&el->f->port.at[at.port], at.q) : el->f->junction.at[at.junction].common;
    val given;

    given = initial_value(el, in, e, arena_format(el->a, "%s.%s(0)", name, quantity_letter(at.q)), var_unit(el->f, v),
                          &at.def);
    at.unit = !given.bad && given.fit == FIT_UNIT ? given.unit : NULL;
    at.written = at.unit ? given.said : NULL;
    if (at.q == Q_FLOW)
        turning_flow(el, given, e->at, arena_format(el->a, "%s.f(0)", name));
    vec_push(&el->f->initial, at);
}

/* Initial values of a field's ports: gap.q(0) = ... */
static void
make_field_initial(elab *el, scope *in, uint32_t element)
{
    const flat_element *x = &el->f->element.at[element];
    VEC(uint32_t) stated = { 0 };
    enum quantity q;

    if (field_broken(el, element))
        return;
    for (int k = 0; k < x->node->own->block->nitems; k++) {
        const ast_law_item *item = &x->node->own->block->item[k];
        const field_port *p;
        ast_part room;
        ast_ref left;
        uint32_t at;

        if (item->kind != AST_LAW_INITIAL)
            continue;
        left = ast_law_left(item, &room);
        at = find_field_port(el, element, left.part[0].name);
        p = at == NONE ? NULL : &el->field_port.at[at];
        if (p) { /* for an array of ports the one with its index */
            at = single_field_port(el, in, element, &left.part[0]);
            if (at == NONE)
                continue;
            p = &el->field_port.at[at];
        }
        if (!p || left.nparts != 2 || !find_quantity(el, left.part[1].name, &q) || !field_initial_quantity(el, at, q)) {
            diag_error(el->s, "initial-quantity", left.at, "%s:%s has no initial value %s(0)",
                       element_type_name(x->type), x->name, text_of(el, left.at));
            if (x->type == EL_C || x->type == EL_I)
                diag_help(el->s,
                          "Its ports (%s) have one for what they store and one for what they give: %s.q(0) and .e(0), "
                          "or .p(0) and .f(0).",
                          field_ports_text(el, element), field_port_first(el, element));
            else
                diag_help(el->s, "Only C, I and junctions have initial values.");
            continue;
        }
        at = single_field_port(el, in, element, &left.part[0]);
        if (at == NONE)
            continue;
        p = &el->field_port.at[at];
        for (size_t i = 0; i < stated.n; i++)
            if (stated.at[i] == at)
                diag_error(el->s, "initial-twice", item->at, "port %s has two initial values", p->full);
        vec_push(&stated, at);
        if (p->port != NONE && map_get(&el->override_of, field_key(at)) == MAP_NONE)
            add_initial(el, in,
                        (flat_initial){ .port = p->port, .junction = NONE, .q = q, .def = INST_NONE, .at = item->at },
                        p->full, item->right);
    }
    vec_free(&stated);
}

/* The experiment's: let plate.gap.q(0) = ... */
void
override_fields(elab *el)
{
    for (uint32_t k = 0; k < el->field_port.n; k++) {
        const field_port *p = &el->field_port.at[k];
        uint32_t over = map_get(&el->override_of, field_key(k));
        const initial_override *o = over == MAP_NONE ? NULL : &el->override.at[over];
        flat_initial at = { .port = p->port, .junction = NONE, .def = INST_NONE };

        if (!o || p->port == NONE)
            continue;
        at.q = o->q;
        at.at = o->at;
        if (o->set) {
            at.def = set_inst(el, o->set_value);
            vec_push(&el->f->initial, at);
        } else {
            add_initial(el, o->in, at, p->full, o->expr);
        }
    }
}

/* Does the experiment's value replace the model's? */
static bool
is_unstated(const elab *el, span at)
{
    for (size_t k = 0; k < el->opt->nunstated; k++)
        if (el->opt->unstated[k].file == at.file && el->opt->unstated[k].begin == at.begin)
            return true;
    return false;
}

void
make_initial(elab *el, scope *in, uint32_t p)
{
    const part *x = &el->part.at[p];
    bool junction = x->kind == DECLARED_JUNCTION;
    const flat_junction *j = junction ? &el->f->junction.at[x->index] : NULL;
    const flat_element *element = junction ? NULL : &el->f->element.at[x->index];
    const ast_node *written = junction ? j->node : element->node;
    const ast_law_item *first = NULL;
    uint32_t over = map_get(&el->override_of, part_key(p));
    flat_initial at = { .port = junction || !element->nports ? NONE : element->port0,
                        .junction = junction ? x->index : NONE,
                        .def = INST_NONE };
    const char *which = junction                ? (j->type ? "A 1-junction has f(0)." : "A 0-junction has e(0).")
                        : element->type == EL_C ? "A C has q(0) or e(0)."
                        : element->type == EL_I ? "An I has p(0) or f(0)."
                                                : "Only C, I and junctions have initial values.";

    if (!junction && is_field(el, x->index)) {
        make_field_initial(el, in, x->index);
        return;
    }
    if (x->rests)
        return;
    for (int k = 0; k < written->own->block->nitems; k++) {
        const ast_law_item *item = &written->own->block->item[k];
        ast_part room;
        ast_ref left;
        enum quantity q;

        if (item->kind != AST_LAW_INITIAL || is_unstated(el, item->at))
            continue;
        left = ast_law_left(item, &room);
        if (left.nparts > 1 || !find_quantity(el, left.part[0].name, &q) ||
            (junction ? q != (j->type ? Q_FLOW : Q_EFFORT)
                      : (element->type != EL_C && element->type != EL_I) ||
                            (q != related[element->type].a && q != related[element->type].b))) {
            no_initial(el, item,
                       junction ? arena_format(el->a, "%u:%s", j->type, x->name)
                                : arena_format(el->a, "%s:%s", element_type_name(element->type), x->name),
                       which);
            continue;
        }
        if (first) {
            diag_error(el->s, "initial-twice", item->at, "\"%s\" has two initial values", x->name);
            diag_note(el->s, first->at, "the first one is here");
            continue;
        }
        first = item;
        if (over == MAP_NONE && (junction || element->nports)) {
            at.q = q;
            at.at = item->at;
            add_initial(el, in, at, x->name, item->right);
        }
    }
    if (over != MAP_NONE && (junction || element->nports)) {
        const initial_override *o = &el->override.at[over];

        at.q = o->q;
        at.at = o->at;
        if (o->set) {
            at.def = set_inst(el, o->set_value);
            vec_push(&el->f->initial, at);
        } else {
            add_initial(el, o->in, at, x->name, o->expr);
        }
    }
}

/* For a signal that is an integral. */
void
override_integrals(elab *el)
{
    for (uint32_t k = 0; k < el->value.n; k++) {
        value *v = &el->value.at[k];
        uint32_t over = map_get(&el->override_of, value_key(k));
        inst init = INST_NONE;

        if (over == MAP_NONE || v->gone || el->f->var.at[v->var].kind != VAR_INTEGRAL)
            continue;
        if (el->override.at[over].set)
            init = set_inst(el, el->override.at[over].set_value);
        else
            initial_value(el, el->override.at[over].in, el->override.at[over].expr,
                          arena_format(el->a, "%s(0)", v->name), v->declared, &init);
        var_say(el->f, v->var)->init = init;
    }
}

void
check_junction(elab *el, const flat_junction *j)
{
    const ast_node *written = j->node;

    if (!written)
        return;
    if (written->own->linear || written->own->more->such_that) {
        diag_error(el->s, "law-junction",
                   written->own->linear ? written->own->linear->at : written->own->more->such_that->at,
                   "a junction has no law; \"%s\" joins bonds", j->name);
        return;
    }
    for (int k = 0; k < written->own->block->nitems; k++) {
        if (written->own->block->item[k].kind == AST_LAW_EQUATION) {
            diag_error(el->s, "law-junction", written->own->block->item[k].at,
                       "a junction has no law; \"%s\" joins bonds", j->name);
            return;
        }
    }
}
