/* structure.c - bonds and ports in normal form
 *
 * needs     declared parts
 * provides  ports on junctions, implicit 1-junctions between elements, bonds between junctions; their variables
 * reports   arrows that point the wrong way, elements with too few or too many bonds
 */
#include "elab.h"

/* The part a node of a chain stands for, NONE after an error. */
static uint32_t
node_part(elab *el, scope *in, const ast_node *written)
{
    const ast_part *p = &written->ref.part[0];
    uint32_t at = find_part(el, in, p->name);
    const char *near;

    if (written->type)
        return at != NONE && el->part.at[at].at.begin == written->type_at.begin ? at : NONE;     /* else its declaration failed */
    if (refuse_unbuilt_ref(el, &written->ref) || (at == NONE && refused_before(el, in, p->name)))
        return NONE;
    if (written->ref.nparts > 1) {
        not_built(el, written->ref.at, "bonds into components and fields are");
        return NONE;
    }
    if (at == NONE) {
        diag_error(el->s, "name-unknown", p->at, "no junction or element is called \"%s\"", p->name);
        near = nearest_part(el, in, p->name);
        if (near)
            diag_help(el->s, "Did you mean \"%s\"?", near);
        else if (find_value(el, in, p->name) != NONE)
            diag_note(el->s, el->value.at[find_value(el, in, p->name)].at, "this \"%s\" is a value", p->name);
        return NONE;
    }
    if (el->part.at[at].kind == PART_BOND) {
        diag_error(el->s, "bond-end", p->at, "\"%s\" is a bond; bonds join junctions and elements", p->name);
        diag_note(el->s, el->part.at[at].at, "named here");
        return NONE;
    }
    return at;
}

static void
touch(elab *el, uint32_t p, uint32_t l)
{
    part *x;

    if (p == NONE)
        return;
    x = &el->part.at[p];
    if (x->nlinks < 2)
        x->link[x->nlinks] = l;
    x->nlinks++;
}

static void
make_links(elab *el, scope *in, const ast_stmt *s)
{
    uint32_t from;

    if (s->kind != AST_STMT_CHAIN)
        return;
    from = node_part(el, in, &s->chain.node[0]);
    for (int k = 1; k < s->chain.nnodes; k++) {
        uint32_t to = node_part(el, in, &s->chain.node[k]), l = (uint32_t)el->link.n;

        if (to != NONE && from == to)
            diag_error(el->s, "bond-self", s->chain.arrow[k - 1], "a bond from \"%s\" to itself", el->part.at[to].name);
        vec_push(&el->link, ((link){ .from = from, .to = to, .name = s->chain.nnodes == 2 ? s->chain.bond : NULL, .at = s->chain.arrow[k - 1],
                                     .junction_from = NONE, .junction_to = NONE, .e = VAR_NONE, .f = VAR_NONE }));
        touch(el, from, l);
        touch(el, to, l);
        from = to;
    }
}

static const char *
link_name(elab *el, const link *l)
{
    return l->name ? l->name : arena_format(el->a, "%s-%s", el->part.at[l->from].name, el->part.at[l->to].name);
}

/* Where both ends are junctions or a junction stands between two elements; a broken bond stays NONE. */
static void
settle_link(elab *el, link *l)
{
    const part *from, *to;
    flat_model *f = el->f;

    if (l->from == NONE || l->to == NONE || l->from == l->to)
        return;
    from = &el->part.at[l->from];
    to = &el->part.at[l->to];
    if (from->kind == PART_JUNCTION)
        l->junction_from = from->index;
    if (to->kind == PART_JUNCTION)
        l->junction_to = to->index;
    if (from->kind == PART_ELEMENT && to->kind == PART_ELEMENT) {
        const char *name = link_name(el, l);
        uint32_t j = (uint32_t)f->junction.n;

        vec_push(&f->junction, ((flat_junction){ .type = 1, .implicit = true, .name = name, .at = l->at }));
        f->junction.at[j].common = flat_add_var(f, VAR_COMMON, j, arena_format(el->a, "%s.f", name), l->at);
        l->junction_from = l->junction_to = j;
    } else if (from->kind == PART_ELEMENT) {
        l->junction_from = l->junction_to;
    } else if (to->kind == PART_ELEMENT) {
        l->junction_to = l->junction_from;
    }
}

static void
make_bond(elab *el, link *l)
{
    flat_model *f = el->f;
    flat_bond b = { l->junction_from, l->junction_to, VAR_NONE, l->name, l->at };
    const flat_junction *from, *to;
    bool efforts;

    if (l->junction_from == NONE || l->junction_to == NONE || l->junction_from == l->junction_to || el->part.at[l->from].kind != PART_JUNCTION ||
        el->part.at[l->to].kind != PART_JUNCTION)
        return;
    from = &f->junction.at[b.from];
    to = &f->junction.at[b.to];
    if (from->type == to->type) {
        efforts = from->type == 1;
        b.own = flat_add_var(f, VAR_BOND, (uint32_t)f->bond.n, arena_format(el->a, "%s.%s", link_name(el, l), efforts ? "e" : "f"), l->at);
        l->e = efforts ? b.own : from->common;
        l->f = efforts ? from->common : b.own;
    } else {
        l->e = from->type == 0 ? from->common : to->common;
        l->f = from->type == 1 ? from->common : to->common;
    }
    vec_push(&f->bond, b);
}

static void
make_port(elab *el, uint32_t e, uint32_t p, uint32_t l, const char *side)
{
    flat_model *f = el->f;
    flat_element *x = &f->element.at[e];
    link *k = &el->link.at[l];
    uint32_t j = k->junction_from, id = (uint32_t)f->port.n;
    bool flow_shared = f->junction.at[j].type == 1;
    var_id common = f->junction.at[j].common;
    var_id own = flat_add_var(f, VAR_PORT, id, arena_format(el->a, "%s%s.%s", x->name, side, flow_shared ? "e" : "f"), x->at);
    flat_port port = { .element = e, .junction = j, .sign = k->to == p ? 1 : -1, .stored = VAR_NONE, .bond_name = k->name, .at = k->at };

    port.e = flow_shared ? own : common;
    port.f = flow_shared ? common : own;
    if (x->type == EL_C || x->type == EL_I)
        port.stored = flat_add_var(f, VAR_STORED, id, arena_format(el->a, "%s.%s", x->name, x->type == EL_C ? "q" : "p"), x->at);
    vec_push(&f->port, port);
    x->nports++;
    if (k->e == VAR_NONE) {
        k->e = port.e;
        k->f = port.f;
    }
}

/* Whether all bonds of an element came about; if not, an error was reported where they were made. */
static bool
links_sound(const elab *el, const part *p)
{
    for (uint32_t k = 0; k < p->nlinks && k < 2; k++)
        if (el->link.at[p->link[k]].junction_from == NONE)
            return false;
    return true;
}

static void
make_one_port(elab *el, uint32_t p, flat_element *x)
{
    const part *q = &el->part.at[p];
    const char *type = element_type_name(x->type);

    if (q->nlinks != 1) {
        diag_error(el->s, q->nlinks ? "bond-many" : "bond-none", x->at, q->nlinks ? "%s:%s has %u bonds; it takes one" : "%s:%s has no bond", type, x->name,
                   q->nlinks);
        if (q->nlinks) {
            diag_note(el->s, el->link.at[q->link[0]].at, "the first is here");
            diag_note(el->s, el->link.at[q->link[1]].at, "another is here");
            diag_help(el->s, "Elements with one port end a chain; join several bonds in a junction.");
        } else {
            diag_help(el->s, is_source(x->type) ? "Join it to a junction, as in %s:%s = ... -> body." : "Join it to a junction, as in body -> %s:%s = ....", type, x->name);
        }
        return;
    }
    if (!links_sound(el, q))
        return;
    if (!is_source(x->type) && el->link.at[q->link[0]].to != p) {
        const link *l = &el->link.at[q->link[0]];

        diag_error(el->s, "bond-arrow", l->at, "the arrow points away from %s:%s, which takes power", type, x->name);
        diag_help(el->s, "Write %s -> %s:%s.", el->part.at[l->to].name, type, x->name);
    }
    make_port(el, q->index, p, q->link[0], "");
}

static void
make_two_ports(elab *el, uint32_t p, flat_element *x)
{
    const part *q = &el->part.at[p];
    const char *type = element_type_name(x->type);
    bool first_in;

    if (q->nlinks != 2) {
        diag_error(el->s, q->nlinks ? "bond-many" : "bond-none", x->at,
                   q->nlinks == 0 ? "%s:%s has no bonds; it takes one in and one out"
                   : q->nlinks == 1 ? "%s:%s has one bond; it takes one in and one out"
                                    : "%s:%s has %u bonds; it takes one in and one out", type, x->name, q->nlinks);
        diag_help(el->s, "It stands inside a chain: a -> %s:%s = ... -> b.", type, x->name);
        return;
    }
    if (!links_sound(el, q))
        return;
    first_in = el->link.at[q->link[0]].to == p;
    if (first_in == (el->link.at[q->link[1]].to == p)) {
        diag_error(el->s, "bond-arrow", el->link.at[q->link[1]].at, "both arrows point %s %s:%s; a two-port has one in and one out", first_in ? "at" : "away from", type,
                   x->name);
        diag_note(el->s, el->link.at[q->link[0]].at, "the other one is here");
        return;
    }
    make_port(el, q->index, p, q->link[first_in ? 0 : 1], ".in");
    make_port(el, q->index, p, q->link[first_in ? 1 : 0], ".out");
}

void
make_structure(elab *el, scope *in, const ast_model *m)
{
    flat_model *f = el->f;

    for (int k = 0; k < m->nstmt; k++)
        make_links(el, in, m->stmt[k]);
    for (size_t k = 0; k < el->link.n; k++)
        settle_link(el, &el->link.at[k]);
    for (uint32_t p = 0; p < el->part.n; p++) {
        const part *q = &el->part.at[p];

        if (q->kind == PART_JUNCTION && !q->nlinks) {
            diag_warn(el->s, "junction-alone", q->at, "no bond joins \"%s\"", q->name);
        } else if (q->kind == PART_ELEMENT) {
            flat_element *x = &f->element.at[q->index];

            x->port0 = (uint32_t)f->port.n;
            if (is_two_port(x->type))
                make_two_ports(el, p, x);
            else
                make_one_port(el, p, x);
        }
    }
    for (size_t k = 0; k < el->link.n; k++)
        make_bond(el, &el->link.at[k]);
}
