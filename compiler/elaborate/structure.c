/* structure.c - bonds and ports in normal form; the signs of bonds, from their arrows, are decided here
 *
 * needs     declared parts
 * provides  ports on junctions, implicit 1-junctions between elements, bonds between junctions; their variables
 * reports   arrows in the wrong direction, elements with too few or too many bonds
 */
#include <string.h>

#include "elab.h"

/* The parts at the two sides of a chain's node, which differ for a component with two ports. NONE after an error. */
struct ends {
    uint32_t in, out;
    const ast_part *port;
}; /* port: as written after a field */
static const struct ends no_ends = { NONE, NONE, NULL };

static const char *
port_names(elab *el, const scope *in, const scope *inside)
{
    size_t prefix = strlen(in->prefix);
    strbuf b = { 0 };
    const char *text;

    for (uint32_t k = 0; k < inside->nports && k < 2; k++)
        strbuf_printf(&b, "%s%s", k ? ", " : "", el->part.at[inside->port[k]].name + prefix);
    if (inside->nports > 2)
        strbuf_puts(&b, ", ...");
    text = arena_strdup(el->a, b.at ? b.at : "");
    strbuf_free(&b);
    return text;
}

/* A component stands for its port, or in the middle of a chain for its two ports. */
static struct ends
component_ends(elab *el, const scope *in, const part *p, span at, bool middle)
{
    const scope *inside = part_inside(p);

    if (!inside)
        return no_ends;
    if (inside->nports == 1)
        return (struct ends){ inside->port[0], inside->port[0], NULL };
    if (inside->nports == 2 && middle)
        return (struct ends){ inside->port[0], inside->port[1], NULL };
    if (el->incomplete)
        return no_ends;
    if (!inside->nports) {
        diag_error(el->s, "bond-component", at, "\"%s\" has no ports; bonds cannot join it", p->name);
        return no_ends;
    }
    diag_error(el->s, "bond-component", at, "\"%s\" has %u ports; a bond says which one", p->name, inside->nports);
    diag_help(el->s, "Its ports: %s.", port_names(el, in, inside));
    return no_ends;
}

static struct ends
node_ends(elab *el, scope *in, const ast_node *written, bool middle)
{
    ast_part room;
    ast_ref ref = ast_node_ref(written, &room);
    path_end x;
    uint32_t at, entry;
    const part *p;

    if (el->incomplete && own_family(el, in, ast_node_name(written), true) == NONE)
        return no_ends;
    x = follow(el, in, in, &ref, false,
               FOLLOW_GONE | (written->own->type ? FOLLOW_QUIET : 0)); /* a bond is removed with its ends */
    if (x.kind == PLACE_NONE)
        return no_ends;
    if (written->own->type && (!x.one || family_item(el, x.family, x.low, &entry) == NONE))
        return no_ends; /* its declaration failed */
    at = single_item(el, &x, ref.at, &entry);
    if (at == NONE)
        return no_ends;
    p = &el->part.at[at];
    if (written->own->type && (p->node != written || (p->in != in && ast_node_nindex(written))))
        return no_ends;
    if (x.used < ref.nparts - p->field) {
        diag_error(el->s, "name-unknown", ref.part[x.used].at, "\"%s\" has no ports", p->name);
        return no_ends;
    }
    if (p->kind == DECLARED_BOND) {
        diag_error(el->s, "bond-end", ref.at, "\"%s\" is a bond; bonds join junctions and elements", p->name);
        diag_note(el->s, part_at(p), "named here");
        return no_ends;
    }
    if (p->kind == DECLARED_INSTANCE)
        return component_ends(el, in, p, ref.at, middle);
    if (x.used > 1 && !p->port) {
        diag_error(el->s, "bond-inside", ref.at, "\"%s\" is inside a component; bonds from outside join its ports",
                   p->name);
        diag_note(el->s, part_at(p), "declared here");
        return no_ends;
    }
    return (struct ends){ at, at, x.used < ref.nparts ? &ref.part[x.used] : NULL };
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
make_links(elab *el, const chain_made *c)
{
    const ast_stmt *s = c->stmt;
    struct ends from;

    from = node_ends(el, c->in, &ast_chain(s)[0], false);
    for (int k = 1; k < s->nnodes; k++) {
        struct ends to = node_ends(el, c->in, &ast_chain(s)[k], k + 1 < s->nnodes);
        link l = { .from = from.out,
                   .to = to.in,
                   .file = s->at.file,
                   .begin = ast_arrow_at(ast_chain(s), k).begin,
                   .junction_from = NONE,
                   .junction_to = NONE };

        if (to.in != NONE && from.out == to.in)
            diag_error(el->s, "bond-self", link_at(&l), "a bond from \"%s\" to itself", el->part.at[to.in].name);
        if (c->bond != NONE || from.port || to.port) {
            l.said = (uint32_t)el->said.n;
            vec_push(&el->said, ((link_said){ .name = c->bond == NONE ? NULL : el->part.at[c->bond].name,
                                              .in = c->in,
                                              .from_name = from.port,
                                              .to_name = to.port,
                                              .from_port = NONE,
                                              .to_port = NONE,
                                              .e = VAR_NONE,
                                              .f = VAR_NONE }));
        }
        if (c->bond != NONE)
            el->part.at[c->bond].index = l.said;
        vec_push(&el->link, l);
        from = to;
        if (to.port && k + 1 < s->nnodes) {
            diag_error(el->s, "bond-port", ast_node_at(&ast_chain(s)[k]),
                       "a chain cannot go through a port of \"%s\": it ends there", el->part.at[to.in].name);
            from = no_ends;
        }
    }
}

/* The port of a field that a bond names. NONE: the part is no field; false after an error. */
static bool
field_end(elab *el, scope *in, uint32_t at, const ast_part *name, span where, uint32_t *port)
{
    const part *x = at == NONE ? NULL : &el->part.at[at];

    if (!x || !x->field || x->index == NONE || !is_field(el, x->index))
        return true;
    if (field_broken(el, x->index))
        return false;
    *port = name ? find_field_port(el, x->index, name->name) : NONE;
    if (*port != NONE) {
        *port = single_field_port(el, in, x->index, name);
        return *port != NONE;
    }
    if (name)
        diag_error(el->s, "name-unknown", name->at, "\"%s\" has no port \"%s\"", x->name, name->name);
    else
        diag_error(el->s, "bond-port", where, "\"%s\" has ports of its own: a bond says which", x->name);
    diag_help(el->s, "Its ports are %s; write %s.%s.", field_ports_text(el, x->index), x->name,
              field_port_first(el, x->index));
    return false;
}

static void
join_fields(elab *el, uint32_t at)
{
    link *l = &el->link.at[at];
    link_said *x = &el->said.at[l->said];

    if (!field_end(el, x->in, l->from, x->from_name, link_at(l), &x->from_port))
        l->from = NONE;
    if (!field_end(el, x->in, l->to, x->to_name, link_at(l), &x->to_port))
        l->to = NONE;
    if (x->from_port != NONE)
        join_field_port(el, x->from_port, at, false);
    if (x->to_port != NONE)
        join_field_port(el, x->to_port, at, true);
}

/* Makes the flat junction or element of each remaining part, in the order of declaration. */
static void
make_parts(elab *el)
{
    flat_model *f = el->f;

    for (uint32_t k = 0; k < el->part.n; k++) {
        part *p = &el->part.at[k];

        if (p->gone)
            continue;
        if (p->kind == DECLARED_JUNCTION) {
            p->index = (uint32_t)f->junction.n;
            vec_push(&f->junction, ((flat_junction){ .type = p->junction,
                                                     .name = p->name,
                                                     .at = part_at(p),
                                                     .stmt = p->stmt,
                                                     .node = p->node,
                                                     .parent = p->in->origin,
                                                     .port = p->port,
                                                     .thinned = p->thinned }));
            f->junction.at[p->index].domain = read_domain(el, p->node);
            f->junction.at[p->index].common = flat_add_var(f, VAR_COMMON, p->index, NULL, SPAN_NONE);
        } else if (p->kind == DECLARED_ELEMENT) {
            p->index = (uint32_t)f->element.n;
            vec_push(&f->element, ((flat_element){ .type = p->element,
                                                   .modulated = p->modulated,
                                                   .name = p->name,
                                                   .stmt = p->stmt,
                                                   .node = p->node,
                                                   .parent = p->in->origin,
                                                   .thinned = p->thinned,
                                                   .rests = p->rests }));
            if (p->rests) {
                f->element.at[p->index].type = p->rest == Q_FLOW ? EL_SF : EL_SE;
                f->element.at[p->index].modulated = false;
            }
            vec_push(&el->element_part, k);
            declare_field(el, p->index, p->node);
        }
    }
}

static const char *
link_name(elab *el, const link *l)
{
    const char *name = el->said.at[l->said].name;

    return name ? name : arena_join(el->a, el->part.at[l->from].name, "-", el->part.at[l->to].name, NULL);
}

/* Makes the bond: both ends are junctions, or an implicit junction is put between two elements; a faulty bond stays
 * NONE. */
static void
settle_link(elab *el, link *l)
{
    const part *from, *to;
    flat_model *f = el->f;

    if (l->gone)
        return;
    if (l->from == NONE || l->to == NONE || l->from == l->to) {
        uint32_t left = l->from != NONE ? l->from : l->to;

        if (left != NONE && el->part.at[left].kind == DECLARED_JUNCTION)
            vec_push(&el->torn, el->part.at[left].index);
        return;
    }
    from = &el->part.at[l->from];
    to = &el->part.at[l->to];
    if (from->kind == DECLARED_JUNCTION)
        l->junction_from = from->index;
    if (to->kind == DECLARED_JUNCTION)
        l->junction_to = to->index;
    if (from->kind == DECLARED_ELEMENT && to->kind == DECLARED_ELEMENT) {
        const char *name = link_name(el, l);
        uint32_t j = (uint32_t)f->junction.n;

        vec_push(&f->junction, ((flat_junction){ .type = 1,
                                                 .implicit = true,
                                                 .name = name,
                                                 .at = link_at(l),
                                                 .parent = from->in->origin }));
        f->junction.at[j].common = flat_add_var(f, VAR_COMMON, j, NULL, SPAN_NONE);
        l->junction_from = l->junction_to = j;
    } else if (from->kind == DECLARED_ELEMENT) {
        l->junction_from = l->junction_to;
    } else if (to->kind == DECLARED_ELEMENT) {
        l->junction_to = l->junction_from;
    }
}

static void
make_bond(elab *el, const link *l)
{
    flat_model *f = el->f;
    flat_bond b = { .from = l->junction_from,
                    .to = l->junction_to,
                    .name = el->said.at[l->said].name,
                    .own = VAR_NONE,
                    .at = link_at(l) };
    const flat_junction *from, *to;
    var_id e, flow;

    if (l->junction_from == NONE || l->junction_to == NONE || l->junction_from == l->junction_to ||
        el->part.at[l->from].kind != DECLARED_JUNCTION || el->part.at[l->to].kind != DECLARED_JUNCTION)
        return;
    from = &f->junction.at[b.from];
    to = &f->junction.at[b.to];
    if (from->type == to->type) {
        b.own = flat_add_var(f, VAR_BOND, (uint32_t)f->bond.n, NULL, SPAN_NONE);
        e = from->type == 1 ? b.own : from->common;
        flow = from->type == 1 ? from->common : b.own;
    } else {
        e = from->type == 0 ? from->common : to->common;
        flow = from->type == 1 ? from->common : to->common;
    }
    if (l->said) {
        el->said.at[l->said].e = e;
        el->said.at[l->said].f = flow;
    }
    vec_push(&f->bond, b);
}

static void
make_port(elab *el, uint32_t e, uint32_t p, uint32_t l)
{
    flat_model *f = el->f;
    flat_element *x = &f->element.at[e];
    const link *k = &el->link.at[l];
    uint32_t j = k->junction_from, id = (uint32_t)f->port.n;
    bool flow_shared = f->junction.at[j].type == 1;
    var_id common = f->junction.at[j].common;
    var_id own = flat_add_var(f, VAR_PORT, id, NULL, SPAN_NONE);
    flat_port port = { .element = e, .junction = j, .sign = k->to == p ? 1 : -1, .stored = VAR_NONE, .at = link_at(k) };

    port.e = flow_shared ? own : common;
    port.f = flow_shared ? common : own;
    if (x->type == EL_C || x->type == EL_I)
        port.stored = flat_add_var(f, VAR_STORED, id, NULL, SPAN_NONE);
    flat_add_port(f, port, el->said.at[k->said].name, NULL);
    x->nports++;
    if (k->said && el->said.at[k->said].e == VAR_NONE) {
        el->said.at[k->said].e = port.e;
        el->said.at[k->said].f = port.f;
    }
}

/* Were all bonds of an element made? If not, an error was reported. */
static bool
links_sound(const elab *el, const part *p)
{
    for (uint32_t k = 0; k < p->nlinks && k < 2; k++)
        if (el->link.at[p->link[k]].junction_from == NONE)
            return false;
    return true;
}

/* Does an element lack a bond because of an error that was reported? It was declared twice, and the other declaration
 * has the bonds; or a bond names something unknown that is written much like it. */
static bool
lacks_bond(const elab *el, const part *p, uint32_t most)
{
    const char *name = p->node ? ast_node_name(p->node) : NULL;
    bool twice = !p->nlinks && name && map_get(&el->refused, scope_key(p->in, name)) != MAP_NONE;

    return twice || (name && p->nlinks < most &&
                     is_told(el, CAUSE_PART, map_ptr_key(scope_of_text(p->in)->model), map_ptr_key(name)));
}

/* A part's name as the text of the model writes it that holds both: without the component that is around them. */
static const char *
name_beside(const char *name, const char *other)
{
    size_t own = 0;

    for (size_t i = 0; name[i] && name[i] == other[i]; i++)
        own = name[i] == '.' ? i + 1 : own;
    return name + own;
}

static void
make_one_port(elab *el, uint32_t p, flat_element *x)
{
    const flat_model *f = el->f;
    const part *q = &el->part.at[p];
    const char *type = element_type_name(x->type);

    if (q->nlinks != 1) {
        if (lacks_bond(el, q, 1))
            return;
        diag_error(el->s, q->nlinks ? "bond-many" : "bond-none", element_at(x),
                   q->nlinks ? "%s:%s has %u bonds; it takes one" : "%s:%s has no bond", type, x->name, q->nlinks);
        if (q->nlinks) {
            diag_note(el->s, link_at(&el->link.at[q->link[0]]), "the first is here");
            diag_note(el->s, link_at(&el->link.at[q->link[1]]), "another is here");
            diag_help(el->s, "Elements with one port end a chain; join several bonds in a junction.");
        } else {
            diag_help(el->s,
                      element_is_source(x->type) ? "Join it to a junction, as in %s:%s = ... -> body."
                                                 : "Join it to a junction, as in body -> %s:%s = ....",
                      type, x->name);
        }
        return;
    }
    if (!links_sound(el, q))
        return;
    if (q->rests && (f->junction.at[el->link.at[q->link[0]].junction_from].type == 1) != (q->rest == Q_FLOW)) {
        const char *shared = q->rest == Q_FLOW ? "effort" : "flow", *added = q->rest == Q_FLOW ? "flow" : "effort";

        diag_error(el->s, "without-variable", part_rests_at(el, q),
                   "\"%s\" is bonded to a %d-junction, which shares the %s and adds up the %s", q->name,
                   q->rest == Q_FLOW ? 0 : 1, shared, added);
        diag_help(el->s, "Write %s.%s to hold the junction at zero, %s to take the element out.", q->name,
                  q->rest == Q_FLOW ? "e" : "f", q->name);
        return;
    }
    if (!element_is_source(x->type) && el->link.at[q->link[0]].to != p) {
        const link *l = &el->link.at[q->link[0]];

        diag_error(el->s, "bond-arrow", link_at(l), "the arrow points away from %s:%s, which takes power", type,
                   x->name);
        diag_help(el->s, "Write %s -> %s:%s.", name_beside(el->part.at[l->to].name, x->name), type,
                  name_beside(x->name, el->part.at[l->to].name));
    }
    make_port(el, q->index, p, q->link[0]);
}

static void
make_two_ports(elab *el, uint32_t p, flat_element *x)
{
    const part *q = &el->part.at[p];
    const char *type = element_type_name(x->type);
    bool first_in;

    if (q->nlinks != 2) {
        if (lacks_bond(el, q, 2))
            return;
        diag_error(el->s, q->nlinks ? "bond-many" : "bond-none", element_at(x),
                   q->nlinks == 0   ? "%s:%s has no bonds; it takes one in and one out"
                   : q->nlinks == 1 ? "%s:%s has one bond; it takes one in and one out"
                                    : "%s:%s has %u bonds; it takes one in and one out",
                   type, x->name, q->nlinks);
        diag_help(el->s, "It stands inside a chain: a -> %s:%s = ... -> b.", type, x->name);
        return;
    }
    if (!links_sound(el, q))
        return;
    first_in = el->link.at[q->link[0]].to == p;
    if (first_in == (el->link.at[q->link[1]].to == p)) {
        diag_error(el->s, "bond-arrow", link_at(&el->link.at[q->link[1]]),
                   "both arrows point %s %s:%s; a two-port has one in and one out", first_in ? "at" : "away from", type,
                   x->name);
        diag_note(el->s, link_at(&el->link.at[q->link[0]]), "the other one is here");
        return;
    }
    make_port(el, q->index, p, q->link[first_in ? 0 : 1]);
    make_port(el, q->index, p, q->link[first_in ? 1 : 0]);
}

/* Keeps what expressions may read of the bonds, and drops the rest. */
static void
keep_said(elab *el)
{
    for (size_t k = 0; k < el->link.n && el->said.n > 1; k++) {
        const link *l = &el->link.at[k];
        link_said *x = &el->said.at[l->said];

        if (!l->said)
            continue;
        x->from = l->from;
        x->to = l->to;
        x->junction = l->junction_from;
        x->gone = l->gone;
    }
    vec_free(&el->link);
}

/* Prefetches the names of the chains after number k. The iterations of a loop use the same names repeatedly. */
static void
fetch_ends(const elab *el, size_t k)
{
    enum { AHEAD = 4 }; /* number of chains between two steps */

    for (int step = 0; step < FETCHES; step++) {
        size_t at = k + (size_t)(FETCHES - step) * AHEAD;
        const chain_made *c = at < el->chain.n ? &el->chain.at[at] : NULL;

        for (int i = 0; c && !c->in->loop && i < c->stmt->nnodes; i++)
            fetch_part(el, c->in, ast_node_name(&ast_chain(c->stmt)[i]), (enum fetch)step);
    }
}

void
make_structure(elab *el)
{
    flat_model *f = el->f;

    vec_push(&el->said, ((link_said){ .from_port = NONE, .to_port = NONE }));
    for (size_t k = 0; k < el->chain.n; k++) {
        fetch_ends(el, k);
        make_links(el, &el->chain.at[k]);
    }
    vec_free(&el->chain);
    clean_up(el);
    make_parts(el);
    for (uint32_t k = 0; k < el->link.n; k++) {
        link *l = &el->link.at[k];

        if (l->gone)
            continue;
        join_fields(el, k);
        touch(el, l->from, k);
        touch(el, l->to, k);
        settle_link(el, l);
    }
    for (uint32_t p = 0; p < el->part.n; p++) {
        const part *q = &el->part.at[p];

        if (q->gone)
            continue;
        if (q->kind == DECLARED_ELEMENT) {
            flat_element *x = &f->element.at[q->index];

            x->port0 = (uint32_t)f->port.n;
            if (is_field(el, q->index))
                make_field(el, q->index);
            else if (element_is_two_port(x->type))
                make_two_ports(el, p, x);
            else
                make_one_port(el, p, x);
        }
    }
    for (size_t k = 0; k < el->link.n; k++)
        make_bond(el, &el->link.at[k]);
    keep_said(el);
}
