/* equations_elements.c - definitions by the laws of elements, in the direction of their strokes */
#include <stdlib.h>

#include "equations_inside.h"
#include "poles.h"

inst
equations_law_residual(equations *e, const flat_law *law)
{
    flat_model *f = e->f;
    var_id out = equations_quantity_var(&f->port.at[law->port], law->out);
    inst inner[2] = { law->def, INST_NONE };
    inst difference = flat_inst(f, ex_sub(f->pool, ex_slot(f->pool, 0), ex_slot(f->pool, 1)), (var_id[]){ out, out },
                                2);

    return inst_compose(e->composer, difference, inner);
}

inst
equations_combine(equations *e, enum ex_op op, inst a, inst b)
{
    flat_model *f = e->f;
    node root = ex_make(f->pool, op, ex_slot(f->pool, 0), ex_slot(f->pool, 1), NODE_NONE);
    inst outer = flat_inst(f, root, (var_id[]){ 0, 0 }, 2), inner[2] = { a, b };

    return inst_compose(e->composer, outer, inner);
}

/* Can the divisor of the law's inverse become zero during a run, like the opening of a valve? */
static bool
may_shut(const flat_model *f, inst r, node divisor)
{
    uint32_t most = r.n;
    bool *used = bg_calloc(most + 1, sizeof *used), moves = false;

    ex_slots_used(f->pool, divisor, used, most);
    for (uint32_t k = 0; k < most; k++) {
        enum var_kind kind = f->var.at[f->slot.at[r.first + k]].kind;

        /* a condition that only chooses between numbers is handled by equations_is_flat_in */
        moves |= used[k] && kind != VAR_PARAM && kind != VAR_LITERAL && kind != VAR_MODE;
    }
    free(used);
    return moves && poles_may_be_zero(f->pool, divisor);
}

static uint64_t
form_key(const struct closed_form *x)
{
    return bg_hash_mix((uint64_t)x->law << 32 | x->nslots, (uint64_t)x->out << 32 | x->asked);
}

static bool
form_equal(const struct closed_form *a, const struct closed_form *b)
{
    return a->law == b->law && a->nslots == b->nslots && a->out == b->out && a->asked == b->asked;
}

/* Are the slots of a law few and distinct, so that their places identify them? */
static bool
has_form(const flat_model *f, const flat_law *law)
{
    const var_id *slot = inst_slots(f, law->def);
    bool distinct = law->def.n <= sizeof((struct closed_form *)NULL)->from / sizeof(var_id);

    for (uint32_t k = 0; k < law->def.n && distinct; k++)
        for (uint32_t i = 0; i < k && distinct; i++)
            distinct = slot[i] != slot[k];
    return distinct;
}

/* The result of a law of the same form solved for y before, with the variables of this law. */
static bool
known_form(const equations *e, const struct closed_forms *forms, const struct closed_form *wanted, const flat_law *law,
           var_id out, inst *solved)
{
    uint32_t at = map_get(&forms->index, form_key(wanted));
    const struct closed_form *x = at == MAP_NONE ? NULL : &forms->at.at[at];
    var_id slot[sizeof x->from / sizeof *x->from];

    if (!x || !form_equal(x, wanted))
        return false;
    for (uint32_t k = 0; k < x->n; k++)
        slot[k] = x->from[k] == x->nslots ? out : inst_slots(e->f, law->def)[x->from[k]];
    *solved = flat_inst(e->f, x->root, slot, x->n);
    return true;
}

static void
keep_form(const equations *e, struct closed_forms *forms, struct closed_form x, const flat_law *law, var_id out,
          inst solved)
{
    uint64_t key = form_key(&x);

    if (solved.n > sizeof x.from / sizeof *x.from || map_get(&forms->index, key) != MAP_NONE)
        return;
    x.root = solved.root;
    x.n = solved.n;
    for (uint32_t k = 0; k < solved.n; k++) {
        var_id v = inst_slots(e->f, solved)[k];

        x.from[k] = v == out ? x.nslots : inst_slot_of(e->f, law->def, v);
    }
    map_set(&forms->index, key, (uint32_t)forms->at.n);
    vec_push(&forms->at, x);
}

/* Defines y by the law of a port. Without a closed form it makes a group, whose number is returned, so that y is found
 * by iteration. NONE: no group. */
static uint32_t
define_by_law(equations *e, struct groups *g, struct closed_forms *forms, const flat_law *law, var_id y)
{
    flat_model *f = e->f;
    inst r;
    uint32_t k;
    node solution, divisor;
    /* laws of a field are solved together, with pivoting, not one by one */
    const flat_element *el = &f->element.at[f->port.at[law->port].element];
    bool alone = el->nports == 1, open = el->type == EL_R && e->c->port[law->port] == ST_OPEN;
    bool repeats = alone && !open && has_form(f, law);
    var_id out = equations_quantity_var(&f->port.at[law->port], law->out);
    struct closed_form form = { .law = law->def.root,
                                .nslots = law->def.n,
                                .out = inst_slot_of(f, law->def, out),
                                .asked = inst_slot_of(f, law->def, y) };
    inst solved;

    if (out == y) {
        eq_define(e, y, law->def);
        return NONE;
    }
    if (repeats && known_form(e, forms, &form, law, out, &solved)) {
        eq_define(e, y, solved);
        return NONE;
    }
    r = equations_law_residual(e, law);
    k = inst_slot_of(f, r, y);
    /* nor a law that has no slope on one side of its condition (a closed valve): there it would divide by zero */
    if (alone && k != NONE && !equations_is_flat_in(f->pool, r.root, k) &&
        ex_solve(f->pool, r.root, k, &solution, &divisor) &&
        !(open && divisor != NODE_NONE && may_shut(f, r, divisor))) {
        VEC(var_id) slots = { 0 };

        for (uint32_t i = 0; i < r.n; i++)
            vec_push(&slots, f->slot.at[r.first + i]);
        solved = inst_part(e->composer, solution, slots.at, r.n);
        eq_define(e, y, solved);
        if (repeats)
            keep_form(e, forms, form, law, out, solved);
        vec_free(&slots);
        return NONE;
    }
    uint32_t group = group_new(g);

    group_add(g, group, y, r);
    return group;
}

/* Two-ports: the strokes tell what the element gives at each port; in open regions every port counts as weak. */
static void
define_two_port(equations *e, struct groups *g, const flat_element *el, uint32_t port, const uint32_t *component_group)
{
    flat_model *f = e->f;
    flat_port *in = &f->port.at[port], *out = in + 1;
    inst m = port_law(f, port)->def;
    bool tf = el->type == EL_TF;
    /* the effort at one side is related to the effort (TF) or flow (GY) at the other */
    var_id in_partner_of_e = tf ? out->e : out->f, in_partner_of_f = tf ? out->f : out->e;
    bool link = (f->junction.at[in->junction].type == f->junction.at[out->junction].type) == tf;
    bool open = e->c->port[port] == ST_OPEN && e->c->port[port + 1] == ST_OPEN;

    if (link && open) {
        /* common variables are related, the others are one unknown: chosen so that nothing is divided */
        bool in_is_effort = f->junction.at[in->junction].type == 0;
        var_id ci = f->junction.at[in->junction].common, co = f->junction.at[out->junction].common;
        var_id xi = in_is_effort ? in->f : in->e, xo = out->e == co ? out->f : out->e;
        /* TF: e_in = n e_out, f_out = n f_in; GY: e_in = r f_out, e_out = r f_in */
        bool in_follows = !in_is_effort; /* x_in = m x_out, c_out = m c_in */
        uint32_t group = component_group[in->junction];

        if (in_follows) {
            eq_define(e, xi, equations_combine(e, EX_MUL, m, inst_var(f, xo)));
            group_add(g, group, xo,
                      equations_combine(e, EX_SUB, inst_var(f, co), equations_combine(e, EX_MUL, m, inst_var(f, ci))));
        } else {
            eq_define(e, xo, equations_combine(e, EX_MUL, m, inst_var(f, xi)));
            group_add(g, group, xi,
                      equations_combine(e, EX_SUB, inst_var(f, ci), equations_combine(e, EX_MUL, m, inst_var(f, co))));
        }
        return;
    }
    for (int side = 0; side < 2; side++) {
        flat_port *p = side ? out : in;
        bool strong = e->c->port[port + (uint32_t)side] == ST_STRONG;
        var_id common = f->junction.at[p->junction].common, given = strong ? common : p->e == common ? p->f : p->e;

        if (side == 0 && given == in->e) /* e_in = m * partner */
            eq_define(e, given, equations_combine(e, EX_MUL, m, inst_var(f, in_partner_of_e)));
        else if (side == 0) /* f_in = partner / m */
            eq_define(e, given, equations_combine(e, EX_DIV, inst_var(f, in_partner_of_f), m));
        else if (given == out->e) /* TF: e_out = e_in / n; GY: e_out = r f_in */
            eq_define(e, given,
                      tf ? equations_combine(e, EX_DIV, inst_var(f, in->e), m)
                         : equations_combine(e, EX_MUL, m, inst_var(f, in->f)));
        else /* TF: f_out = n f_in; GY: f_out = e_in / r */
            eq_define(e, given,
                      tf ? equations_combine(e, EX_MUL, m, inst_var(f, in->f))
                         : equations_combine(e, EX_DIV, inst_var(f, in->e), m));
    }
}

/* Is it a resistor that acts as an ideal switch on one of its pieces: one has no slope (a closed valve), and the law is
 * to give y, the variable that this piece does not determine? The pieces are linear, or may be written so
 * (straighten.h).
 */
static bool
is_valve(equations *e, const flat_law *law, var_id y)
{
    flat_model *f = e->f;
    const flat_port *p = &f->port.at[law->port];
    inst r = equations_law_residual(e, law);
    bool *own = bg_calloc(r.n + 1, sizeof *own), valve;

    for (uint32_t k = 0; k < r.n; k++) {
        var_id v = f->slot.at[r.first + k];

        own[k] = v == p->e || v == p->f;
    }
    valve = f->element.at[p->element].nports == 1 && equations_reads_mode(f, law->def) &&
            (ex_affine_in(f->pool, r.root, own, r.n) || equations_is_flat_in(f->pool, r.root, inst_slot_of(f, r, y)));
    free(own);
    return valve;
}

static void
define_one_port(equations *e, struct groups *g, struct rates *r, struct constraints *k, struct switches *sw,
                struct closed_forms *forms, uint32_t port)
{
    flat_model *f = e->f;
    flat_port *p = &f->port.at[port];
    flat_element *el = &f->element.at[p->element];
    flat_law law = *port_law(f, port);
    var_id common = f->junction.at[p->junction].common, own = p->e == common ? p->f : p->e;

    switch (el->type) {
    case EL_SE:
    case EL_SF: {
        var_id given = el->type == EL_SE ? p->e : p->f;

        if (law.switched) {
            uint32_t group = group_new(g);

            group_add(g, group, e->c->port[port] == ST_STRONG ? common : own, law.def);
            vec_push(sw, ((switch_group){ group, element_at(el), false, NONE }));
        } else if (law.kind == LAW_RESIDUAL) {
            e->defining.by = DEF_BY_RESIDUAL;
            constraints_add(k, g, given, law.def, port);
        } else {
            eq_define(e, given, law.def);
        }
        break;
    }
    case EL_C:
    case EL_I: {
        bool momentum = port_has_momentum(f, port);
        var_id given = momentum ? p->f : p->e, rate = momentum ? p->e : p->f;

        if (e->c->state[port]) {
            define_by_law(e, g, forms, &law, given);
        } else if (e->loose[port]) {
            uint32_t group = group_new(g);

            group_add(g, group, rate, equations_law_residual(e, &law));
            vec_push(sw, ((switch_group){ group, element_at(el), false, port }));
        } else {
            var_id stored = p->stored;

            define_by_law(e, g, forms, &law, stored);
            var_id d = rate_of(r, stored);

            e->defining = (defined){ DEF_BY_RATE, stored };
            eq_define(e, rate, d == VAR_NONE ? inst_const(f, 0) : inst_var(f, d));
        }
        break;
    }
    default: {
        var_id y = e->c->port[port] == ST_STRONG ? common : own;
        uint32_t group = define_by_law(e, g, forms, &law, y);

        if (group != NONE && is_valve(e, &law, y))
            vec_push(sw, ((switch_group){ group, element_at(el), true, NONE }));
    }
    }
}

void
equations_define_element(equations *e, struct groups *g, struct rates *r, struct constraints *k, struct switches *sw,
                         struct closed_forms *forms, uint32_t element, const uint32_t *component_group)
{
    flat_element el = e->f->element.at[element];
    bool two = el.type == EL_TF || el.type == EL_GY;

    for (uint32_t p = el.port0; p < el.port0 + el.nports; p++) {
        e->defining = (defined){ two ? DEF_BY_TWO_PORT : DEF_BY_LAW, p };
        if (!two)
            define_one_port(e, g, r, k, sw, forms, p);
        else if ((p - el.port0) % 2 == 0)
            define_two_port(e, g, &el, p, component_group);
    }
}

void
equations_weigh_element(equations *e, uint32_t element)
{
    flat_model *f = e->f;
    const flat_element *el = &f->element.at[element];
    eq_part part = { VAR_NONE, false };
    flat_port p;
    var_id common, given;

    if (el->nports == 1 && !port_law(f, el->port0)->switched) {
        p = f->port.at[el->port0];
        common = f->junction.at[p.junction].common;
        given = el->type == EL_R ? (e->c->port[el->port0] == ST_STRONG ? common
                                    : p.e == common                    ? p.f
                                                                       : p.e)
                                 : equations_output_var(f, el->port0);
        if (e->var.at[given].kind == DEF_EXPLICIT && e->var.at[given].by == DEF_BY_LAW) {
            part = (eq_part){ eq_new_var(e, VAR_PARAM, NONE, "a part's factor", element_at(el),
                                         f->var.at[given].position),
                              given == common };
            var_say(f, part.factor)->def = inst_const(f, 1);
            e->var.at[given].def = equations_combine(e, EX_MUL, inst_var(f, part.factor), e->var.at[given].def);
        }
    }
    vec_push(&e->part, part);
}
