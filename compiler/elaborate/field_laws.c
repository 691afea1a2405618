/* field_laws.c - laws of elements with ports of their own
 *
 * needs     ports and their variables (fields.c, which also explains the signs)
 * provides  one law for each port (for storage by differentiation of an energy, or given one by one), moduli of the
 *           pairs of transformer fields
 * reports   ports without a law or with two, laws that no element of the type can have
 */
#include <string.h>

#include "elab.h"

bool
field_initial_quantity(const elab *el, uint32_t p, enum quantity q)
{
    const field_port *x = &el->field_port.at[p];

    for (size_t k = 0; k < el->field.n; k++) {
        const field *f = &el->field.at[k];
        enum element_type type = el->f->element.at[f->element].type;

        if (p >= f->first && p < f->first + f->n)
            return (type == EL_C || type == EL_I) &&
                   (x->momentum ? q == Q_MOMENTUM || q == Q_FLOW : q == Q_DISPLACEMENT || q == Q_EFFORT);
    }
    return false;
}

static builder
law_builder(elab *el, scope *in, uint32_t e)
{
    const flat_element *x = &el->f->element.at[e];
    builder b = builder_new(el, in, READ_ALL,
                            arena_format(el->a, "the law of %s:%s", element_type_name(x->type), x->name));

    b.own = e;
    return b;
}

static void
push_law(elab *el, uint32_t e, flat_law law)
{
    vec_push(&el->f->law, law);
    el->f->element.at[e].nlaws++;
}

static uint32_t
slot_of(const builder *b, var_id v)
{
    for (size_t k = 0; k < b->slot.n; k++)
        if (b->slot.at[k] == v)
            return (uint32_t)k;
    return NONE;
}

static bool
law_reads(const elab *el, const builder *b, node n, var_id v)
{
    uint32_t s = slot_of(b, v);
    double zero;

    return s != NONE && !(ex_is_const(el->pool, ex_derivative(el->pool, n, s), &zero) && zero == 0);
}

/* The law of each port of the field: the derivative of the energy n by its stored quantity. */
static void
push_slopes(elab *el, const field *f, builder *b, node n, span at)
{
    uint32_t *slot = bg_malloc((f->n + 1) * sizeof *slot);
    node *slope = bg_malloc((f->n + 1) * sizeof *slope);
    bool branches = pool_node(el->pool, n)->switching;

    for (uint32_t k = 0; k < f->n; k++)
        slot[k] = slot_of(b, el->field_port.at[f->first + k].stored);
    if (!branches)
        ex_gradient(el->pool, n, slot, f->n, slope);
    for (uint32_t k = 0; k < f->n; k++) {
        const field_port *p = &el->field_port.at[f->first + k];
        node s = branches ? ex_derivative(el->pool, n, slot[k]) : slope[k];

        push_law(el, f->element,
                 (flat_law){ .kind = LAW_ASSIGN,
                             .port = p->port,
                             .out = p->momentum ? Q_FLOW : Q_EFFORT,
                             .at = at,
                             .def = builder_inst(b, p->out ? ex_neg(el->pool, s) : s) });
    }
    free(slot);
    free(slope);
}

/* energy = ...: the output of each port is the derivative of the energy by its stored quantity. */
static void
make_by_energy(elab *el, scope *in, const field *f, const ast_law_item *item)
{
    const flat_element *x = &el->f->element.at[f->element];
    builder b = law_builder(el, in, f->element);
    val v;

    v = resolve(&b, item->right, true);
    need_number(el, &v, item->right->at);
    for (uint32_t k = 0; k < f->n && !v.bad; k++) {
        const field_port *p = &el->field_port.at[f->first + k];

        if (slot_of(&b, p->e) != NONE && !p->momentum) {
            diag_error(el->s, "field-energy", item->right->at,
                       "the energy of %s:%s reads %s.e; it must be a function of the stored quantities",
                       element_type_name(x->type), x->name, p->name);
            v.bad = true;
        } else if (slot_of(&b, p->f) != NONE && p->momentum) {
            diag_error(el->s, "field-energy", item->right->at,
                       "the energy of %s:%s reads %s.f; it must be a function of the stored quantities",
                       element_type_name(x->type), x->name, p->name);
            v.bad = true;
        } else if (slot_of(&b, p->stored) == NONE) {
            diag_error(el->s, "field-energy", p->at,
                       "the energy of %s:%s does not depend on %s.%s: this port would have no effect",
                       element_type_name(x->type), x->name, p->name, p->momentum ? "p" : "q");
            v.bad = true;
        }
    }
    if (!v.bad)
        push_slopes(el, f, &b, v.n, item->at);
    builder_free(&b);
}

static bool
law_quantity(const elab *el, const flat_element *x, const field_port *p, const char *name, enum quantity *q)
{
    bool stores = x->type == EL_C || x->type == EL_I;

    if (x->type == EL_TF) {
        *q = Q_FLOW;
        return p->out && name == el->n_f;
    }
    if (name == el->n_e && (!stores || !p->momentum))
        *q = Q_EFFORT;
    else if (name == el->n_f && (!stores || p->momentum))
        *q = Q_FLOW;
    else if (stores && !p->momentum && name == el->n_q)
        *q = Q_DISPLACEMENT;
    else if (stores && p->momentum && name == el->n_p)
        *q = Q_MOMENTUM;
    else
        return false;
    return true;
}

/* The equation of each port, in the order of the ports; false after errors. */
static bool
find_equations(elab *el, const field *f, const ast_law_item **of)
{
    const flat_element *x = &el->f->element.at[f->element];
    const char *type = element_type_name(x->type);
    enum quantity q;
    bool ok = true, whole;

    for (int k = 0; k < x->node->own->block->nitems; k++) {
        const ast_law_item *item = &x->node->own->block->item[k];
        ast_part room;
        ast_ref left;
        uint32_t at, n;

        if (item->kind != AST_LAW_EQUATION)
            continue;
        left = ast_law_left(item, &room);
        at = find_field_port(el, f->element, left.part[0].name);
        whole = at != NONE && el->field_port.at[at].count && !left.part[0].nindex;
        if (at == NONE || left.nparts != 2 || !law_quantity(el, x, &el->field_port.at[at], left.part[1].name, &q)) {
            diag_error(el->s, "law-quantity", left.at, "\"%s\" cannot stand left of = in %s:%s", text_of(el, left.at),
                       type, x->name);
            if (x->type == EL_TF)
                diag_help(el->s,
                          "A transformer field gives the flows of the ports right of its arrow; their efforts follow.");
            else if (x->type == EL_R)
                diag_help(el->s, "Each port (%s) has one equation, for its e or its f.",
                          field_ports_text(el, f->element));
            else
                diag_help(el->s, "Write energy = ..., or one equation for what each port (%s) gives or stores.",
                          field_ports_text(el, f->element));
            ok = false;
            continue;
        }
        n = whole ? el->field_port.at[at].count : 1;
        if (!whole)
            at = single_field_port(el, element_scope(el, f->element), f->element, &left.part[0]);
        ok = ok && at != NONE;
        for (uint32_t i = 0; i < n && at != NONE; i++) {
            if (!of[at + i - f->first]) {
                of[at + i - f->first] = item;
                continue;
            }
            diag_error(el->s, "law-twice", item->at, "port %s has two laws", el->field_port.at[at + i].full);
            diag_note(el->s, of[at + i - f->first]->at, "the other one is here");
            ok = false;
            break;
        }
    }
    for (uint32_t k = 0; k < f->n && ok; k++) {
        const field_port *p = &el->field_port.at[f->first + k];

        if (of[k] || (x->type == EL_TF && !p->out))
            continue;
        diag_error(el->s, "law-missing", p->at, "port %s has no law", p->full);
        ok = false;
    }
    return ok;
}

/* Does the equation give all ports of an array at once? Then its value is a vector. */
static bool
is_array_law(const elab *el, const field *f, uint32_t k, const ast_law_item *item)
{
    ast_part room;
    const ast_ref left = ast_law_left(item, &room);

    return el->field_port.at[f->first + k].count && !left.part[0].nindex;
}

static bool
vector_fits(elab *el, const field_port *p, const val *v, const ast_law_item *item)
{
    ast_part room;
    const ast_ref left = ast_law_left(item, &room);

    if (v->bad || (v->m && v->m->rank == 1 && v->m->rows == p->count))
        return !v->bad;
    diag_error(el->s, "matrix-size", item->right->at, "%s is a vector of %u, but this is %s", text_of(el, left.at),
               p->count, size_words(el, v));
    return false;
}

/* Makes the law of port k, or for an array of ports with one equation those of all; v: right side of the equation. */
static void
make_port_law(elab *el, const field *f, uint32_t k, const ast_law_item *item, builder *b, val v)
{
    ast_part room;
    const ast_ref left = ast_law_left(item, &room);
    const flat_element *x = &el->f->element.at[f->element];
    const field_port *p = &el->field_port.at[f->first + k];
    flat_law law = { .kind = LAW_ASSIGN, .port = p->port, .at = item->at };
    enum quantity out = law.out;
    var_id given;

    law_quantity(el, x, p, left.part[1].name, &out);
    law.out = out;
    given = law.out == Q_EFFORT ? p->e : law.out == Q_FLOW ? p->f : p->stored;
    if (!units_give(el, v, item->right->at, var_unit(el->f, given), text_of(el, left.at)))
        v.bad = v.bad || var_unit(el->f, given);
    if (!v.bad && law_reads(el, b, v.n, given)) {
        diag_error(el->s, "law-circular", item->right->at, "%s stands on both sides of its law", text_of(el, left.at));
        v.bad = true;
    }
    if (v.bad)
        return;
    law.def = builder_inst(b, v.n);
    push_law(el, f->element, law);
}

/* The flow of an outgoing port: its derivatives by the incoming flows are the moduli of the pairs. */
static void
make_moduli(elab *el, const field *f, uint32_t k, const ast_law_item *item, builder *b, val v)
{
    const flat_element *x = &el->f->element.at[f->element];
    node *rest = bg_calloc(b->slot.n + 1, sizeof *rest);
    bool *flows = bg_calloc(b->slot.n + 1, sizeof *flows), linear;

    for (size_t s = 0; s < b->slot.n; s++)
        rest[s] = NODE_NONE;
    for (uint32_t i = 0; i < f->npairs; i++) {
        const field_pair *q = &el->field_pair.at[f->pair0 + i];
        uint32_t s = slot_of(b, el->field_port.at[q->in].f);

        if (q->out == f->first + k && s != NONE) {
            rest[s] = ex_const(el->pool, 0);
            flows[s] = true;
        }
    }
    linear = ex_affine_in(el->pool, v.n, flows, (uint32_t)b->slot.n);
    if (linear) {
        double zero;

        linear = ex_is_const(el->pool, ex_substitute(el->pool, v.n, rest, (uint32_t)b->slot.n), &zero) && zero == 0;
    }
    if (!linear) {
        diag_error(el->s, "field-linear", item->right->at,
                   "the flow of %s must be proportional to those of the ports left of the arrow",
                   el->field_port.at[f->first + k].full);
        diag_help(el->s,
                  "Only then do the efforts follow from the power: write ratios times flows, as in %s.f = n*%s.f.",
                  el->field_port.at[f->first + k].name, el->field_port.at[f->first].name);
        goto out;
    }
    for (uint32_t i = 0; i < f->npairs; i++) {
        const field_pair *q = &el->field_pair.at[f->pair0 + i];
        uint32_t s = slot_of(b, el->field_port.at[q->in].f);
        node slope;

        if (q->out != f->first + k)
            continue;
        slope = s == NONE ? ex_const(el->pool, 0) : ex_derivative(el->pool, v.n, s);
        push_law(el, f->element,
                 (flat_law){ .kind = LAW_MODULUS,
                             .port = x->port0 + 2 * i,
                             .out = Q_EFFORT,
                             .def = builder_inst(b, slope),
                             .at = item->at });
    }
out:
    free(rest);
    free(flows);
}

/* Makes the law of port k and, if one equation gives an array of ports, those of the adjacent others. Returns the
 * number of ports. */
static uint32_t
make_equation(elab *el, scope *in, const field *f, uint32_t k, const ast_law_item *item)
{
    bool transformer = el->f->element.at[f->element].type == EL_TF, whole = is_array_law(el, f, k, item);
    uint32_t n = whole ? el->field_port.at[f->first + k].count : 1;
    builder b = law_builder(el, in, f->element);
    val v = whole ? resolve(&b, item->right, true) : resolve_law(&b, item->right);
    bool fine = true;

    if (transformer) { /* a port without an incoming flow was reported already */
        fine = false;
        for (uint32_t i = 0; i < f->npairs; i++)
            fine = fine || el->field_pair.at[f->pair0 + i].out == f->first + k;
    }
    if (!fine)
        v.bad = true;
    else if (whole)
        fine = vector_fits(el, &el->field_port.at[f->first + k], &v, item);
    else
        as_number(el, &v);
    for (uint32_t i = 0; i < n && fine && !v.bad; i++) {
        val one = v;

        one.m = NULL;
        one.n = whole ? v.m->at[i] : v.n;
        if (transformer)
            make_moduli(el, f, k + i, item, &b, one);
        else
            make_port_law(el, f, k + i, item, &b, one);
    }
    builder_free(&b);
    return n;
}

void
make_field_laws(elab *el, scope *in, uint32_t e)
{
    const field *f = field_of(el, e);
    const flat_element *x = &el->f->element.at[e];
    const ast_law_item **of, *energy = NULL, *other = NULL;
    static const char word[] = "energy";

    if (!f->made)
        return;
    if (x->node->own->linear) {
        diag_error(el->s, "law-twice", x->node->own->linear->at,
                   "%s:%s has ports of its own; its laws stand in its block", element_type_name(x->type), x->name);
        return;
    }
    for (int k = 0; k < x->node->own->block->nitems; k++) {
        const ast_law_item *item = &x->node->own->block->item[k];
        ast_part room;
        ast_ref left;

        if (item->kind != AST_LAW_EQUATION)
            continue;
        left = ast_law_left(item, &room);
        if (left.nparts == 1 && !strcmp(left.part[0].name, word) && (x->type == EL_C || x->type == EL_I)) {
            if (energy) {
                diag_error(el->s, "law-twice", item->at, "%s:%s has two energies", element_type_name(x->type), x->name);
                diag_note(el->s, energy->at, "the other one is here");
                return;
            }
            energy = item;
        } else {
            other = item;
        }
    }
    if (energy && other) {
        diag_error(el->s, "law-twice", other->at, "%s:%s has an energy, from which all its laws follow",
                   element_type_name(x->type), x->name);
        diag_note(el->s, energy->at, "the energy is here");
        return;
    }
    if (energy) {
        el->field.at[f - el->field.at].by_energy = true;
        make_by_energy(el, in, f, energy);
        return;
    }
    of = bg_calloc(f->n + 1, sizeof *of);
    if (find_equations(el, f, of))
        for (uint32_t k = 0; k < f->n;)
            k += of[k] ? make_equation(el, in, f, k, of[k]) : 1;
    free(of);
}
