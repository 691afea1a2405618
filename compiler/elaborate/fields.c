/* fields.c - elements with ports of their own
 *
 * needs     declared parts; bonds that name ports; values for the laws
 * provides  ports and their variables, implicit junctions and the bonds between them
 * reports   bonds that name no port or have the wrong direction, quantities that a port does not have
 *
 * Signs: effort and flow of a port are positive along its arrow. The stored quantity of a port integrates its flow
 * (effort) along the arrow too, so that after the arrow, where power leaves, an effort is minus the derivative of the
 * energy. A transformer field consists of a pair of ports for each flow on which one of its flows depends. The pairs of
 * one incoming port meet in a 1-junction, those of one outgoing port in a 0-junction: the junction at the end of the
 * bond if it is of that kind, otherwise an implicit one.
 */
#include <string.h>

#include "elab.h"

static uint64_t
field_port_key(uint32_t number, const char *name)
{
    return (number + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15) ^ map_ptr_key(name);
}

const field *
field_of(const elab *el, uint32_t element)
{
    uint32_t k = map_get(&el->field_of, element);

    return k == MAP_NONE ? NULL : &el->field.at[k];
}

bool
is_field(const elab *el, uint32_t element)
{
    return field_of(el, element) != NULL;
}

bool
field_broken(const elab *el, uint32_t element)
{
    const field *f = field_of(el, element);

    return f && f->broken;
}

uint32_t
find_field_port(const elab *el, uint32_t element, const char *name)
{
    uint32_t k = map_get(&el->field_of, element);
    uint32_t at = k == MAP_NONE ? MAP_NONE : map_get(&el->field_ports, field_port_key(k, name));

    return at == MAP_NONE ? NONE : at;
}

uint32_t
single_field_port(elab *el, scope *in, uint32_t element, const ast_part *p)
{
    uint32_t first = find_field_port(el, element, p->name);
    const field_port *x = first == NONE ? NULL : &el->field_port.at[first];
    int32_t i;

    if (!x)
        return NONE;
    if (!x->count && !p->nindex)
        return first;
    if (!x->count || p->nindex != 1 || p->brackets->index[0].to) {
        diag_error(el->s, "index-count", p->at,
                   x->count ? "port %s is %u ports; one of them is meant here, as in %s[1]"
                            : "port %s is one port, without an index",
                   p->name, x->count, p->name);
        diag_note(el->s, x->at, "declared here");
        return NONE;
    }
    if (!known_index(el, in, p->brackets->index[0].from, "an index", &i))
        return NONE;
    if (i < 1 || (uint32_t)i > x->count) {
        diag_error(el->s, "index-range", p->brackets->index[0].from->at,
                   "there is no %s[%d]: port %s goes from 1 to %u", p->name, i, p->name, x->count);
        diag_note(el->s, x->at, "declared here");
        return NONE;
    }
    return first + (uint32_t)i - 1;
}

/* The ports as text: `plate has the ports gap and charge` */
const char *
field_ports_text(elab *el, uint32_t element)
{
    const field *f = field_of(el, element);
    strbuf b = { 0 };
    const char *text;

    for (uint32_t k = 0, step, shown = 0; k < f->n && shown < 8; k += step, shown++) {
        const field_port *p = &el->field_port.at[f->first + k];

        step = p->count ? p->count : 1;
        strbuf_printf(&b, "%s%s", !k ? "" : k + step >= f->n ? " and " : ", ", p->name);
        if (p->count)
            strbuf_printf(&b, "[%u]", p->count);
        if (shown == 7 && k + step < f->n)
            strbuf_puts(&b, ", ...");
    }
    text = arena_strdup(el->a, b.at);
    strbuf_free(&b);
    return text;
}

const char *
field_port_first(const elab *el, uint32_t element)
{
    const field *f = field_of(el, element);

    return f->n ? el->field_port.at[f->first].name : "port";
}

/* ---------------------------------------------------------------- declaring */

struct looks {
    const elab *el;
    const char *port;
    bool q, p;
};

static void
see_stored(void *ctx, const ast_expr *e)
{
    struct looks *l = ctx;

    if (e->kind != AST_REF || e->plain || e->path.nparts != 2 || e->path.part[0].name != l->port)
        return;
    l->q = l->q || e->path.part[1].name == l->el->n_q;
    l->p = l->p || e->path.part[1].name == l->el->n_p;
}

/* A port whose p is read stores a momentum, whatever the element's type; likewise q. */
static bool
stores_momentum(elab *el, const ast_node *written, enum element_type type, const ast_law_port *port)
{
    struct looks l = { .el = el, .port = port->name };

    for (int k = 0; k < written->own->block->nitems; k++) {
        const ast_law_item *item = &written->own->block->item[k];

        if (item->kind == AST_LAW_PORT)
            continue;
        if (!item->plain && item->ref->nparts == 2 && item->ref->part[0].name == port->name) {
            l.q = l.q || item->ref->part[1].name == el->n_q;
            l.p = l.p || item->ref->part[1].name == el->n_p;
        }
        ast_visit(item->right, see_stored, &l);
    }
    if (l.q && l.p && (type == EL_C || type == EL_I)) {
        diag_error(el->s, "field-stored", port->at, "port %s is read with its q and with its p; it stores one of them",
                   port->name);
        return type == EL_I;
    }
    return type == EL_I ? !l.q : l.p;
}

static bool
has_ports(const ast_node *written)
{
    for (int k = 0; k < written->own->block->nitems; k++)
        if (written->own->block->item[k].kind == AST_LAW_PORT)
            return true;
    return false;
}

static void
declare_port(elab *el, uint32_t number, const ast_node *written, const ast_law_port *port)
{
    field *f = &el->field.at[number];
    const flat_element *x = &el->f->element.at[f->element];
    uint64_t key = field_port_key(number, port->name);
    uint32_t before = map_get(&el->field_ports, key);
    field_port p = { .name = port->name,
                     .full = arena_format(el->a, "%s.%s", x->name, port->name),
                     .at = port->at,
                     .out = port->arrow == 2,
                     .link = NONE,
                     .port = NONE,
                     .e = VAR_NONE,
                     .f = VAR_NONE,
                     .stored = VAR_NONE };
    bool broken = f->broken;
    int32_t size;

    if (before != MAP_NONE) {
        said_twice(el, port->at, port->name, el->field_port.at[before].at);
        return;
    }
    p.momentum = stores_momentum(el, written, x->type, port);
    if (!port->size) {
        map_set(&el->field_ports, key, (uint32_t)el->field_port.n);
        vec_push(&el->field_port, p);
        f->n++;
        return;
    }
    /* names are resolved to ports only later */
    f->broken = true;
    if (!known_index(el, element_scope(el, f->element), port->size,
                     arena_format(el->a, "the size of port %s", port->name), &size))
        return;
    if (size < 1) {
        diag_error(el->s, "known-number", port->size->at, "port %s has a size of %d; it must be 1 at least", port->name,
                   size);
        return;
    }
    if (!may_make_more(el, (uint64_t)size, port->at))
        return;
    f->broken = broken;
    map_set(&el->field_ports, key, (uint32_t)el->field_port.n);
    p.count = (uint32_t)size;
    for (p.number = 1; p.number <= p.count; p.number++) {
        p.full = arena_format(el->a, "%s.%s[%u]", x->name, port->name, p.number);
        vec_push(&el->field_port, p);
    }
    f->n += p.count;
}

void
declare_field(elab *el, uint32_t element, const ast_node *written)
{
    const flat_element *x = &el->f->element.at[element];
    uint32_t number = (uint32_t)el->field.n;

    if (!has_ports(written))
        return;
    if (element_is_source(x->type) || x->type == EL_GY) {
        diag_error(el->s, "field-type", element_at(x), "%s:%s cannot have ports of its own; R, C, I and TF can",
                   element_type_name(x->type), x->name);
        return;
    }
    vec_push(&el->field, ((field){ .element = element, .first = (uint32_t)el->field_port.n }));
    map_set(&el->field_of, element, number);
    for (int k = 0; k < written->own->block->nitems; k++)
        for (int i = 0; written->own->block->item[k].kind == AST_LAW_PORT && i < written->own->block->item[k].nports;
             i++)
            declare_port(el, number, written, &written->own->block->item[k].port[i]);
}

/* ---------------------------------------------------------------- bonds */

/* Bond l ends (or begins) at port p. */
void
join_field_port(elab *el, uint32_t p, uint32_t l, bool ends)
{
    field_port *x = &el->field_port.at[p];
    const link *k = &el->link.at[l];

    if (x->link != NONE) {
        diag_error(el->s, "bond-many", link_at(k), "port %s has two bonds; it takes one", x->full);
        diag_note(el->s, link_at(&el->link.at[x->link]), "the first is here");
        return;
    }
    x->link = l;
    if (ends != x->out)
        return;
    diag_error(el->s, "bond-arrow", link_at(k),
               x->out ? "the arrow points at %s, where power goes out"
                      : "the arrow points away from %s, which takes power",
               x->full);
    diag_note(el->s, x->at, x->out ? "it stands right of the arrow here" : "port %s is declared here", x->name);
}

/* ---------------------------------------------------------------- ports */

/* Adds a junction of an element, with its origin. */
static uint32_t
add_field_junction(elab *el, uint32_t element, uint8_t type, const char *name, span at)
{
    flat_model *f = el->f;
    uint32_t j = (uint32_t)f->junction.n;

    vec_push(&f->junction, ((flat_junction){ .type = type,
                                             .implicit = true,
                                             .name = name,
                                             .at = at,
                                             .parent = f->element.at[element].parent }));
    f->junction.at[j].common = flat_add_var(f, VAR_COMMON, j, arena_format(el->a, "%s.%s", name, type ? "f" : "e"), at);
    return j;
}

/* Adds a bond between an implicit junction and another one; returns its effort and flow. */
static void
add_field_bond(elab *el, uint32_t from, uint32_t to, const char *name, const char *bond_name, span at, var_id *e,
               var_id *flow)
{
    flat_model *f = el->f;
    flat_bond b = { .from = from, .to = to, .name = bond_name, .own = VAR_NONE, .at = at };
    const flat_junction *x = &f->junction.at[from], *y = &f->junction.at[to];
    var_id one = x->type == 1 ? x->common : y->common, zero = x->type == 0 ? x->common : y->common;

    *e = zero;
    *flow = one;
    if (x->type == y->type) {
        b.own = flat_add_var(f, VAR_BOND, (uint32_t)f->bond.n, arena_format(el->a, "%s.%s", name, x->type ? "e" : "f"),
                             at);
        *(x->type ? e : flow) = b.own;
    }
    vec_push(&f->bond, b);
}

static uint32_t
add_field_port(elab *el, uint32_t element, uint32_t junction, const field_port *p, const char *name, const char *stored)
{
    flat_model *f = el->f;
    flat_element *x = &f->element.at[element];
    uint32_t id = (uint32_t)f->port.n;
    bool flow_shared = f->junction.at[junction].type == 1;
    var_id common = f->junction.at[junction].common;
    var_id own = flat_add_var(f, VAR_PORT, id, arena_format(el->a, "%s.%s", name, flow_shared ? "e" : "f"), p->at);
    flat_port port = { .element = element, .junction = junction, .sign = p->out ? -1 : 1, .stored = VAR_NONE };

    port.at = p->link == NONE ? p->at : link_at(&el->link.at[p->link]);
    port.e = flow_shared ? own : common;
    port.f = flow_shared ? common : own;
    if (stored) {
        port.stored = flat_add_var(f, VAR_STORED, id, arena_format(el->a, "%s.%s", name, stored), p->at);
        port.crossed = p->momentum != (x->type == EL_I);
    }
    flat_add_port(f, port, p->link == NONE ? NULL : el->said.at[el->link.at[p->link].said].name, name);
    x->nports++;
    return id;
}

/* The junction to which the port's bond is connected; an implicit one if it has none: no flow into C and R, no effort
 * on I and TF. */
static uint32_t
outer_junction(elab *el, uint32_t element, const field_port *p, enum element_type type)
{
    if (p->link == NONE)
        return add_field_junction(el, element, type == EL_TF || p->momentum, p->full, p->at);
    return el->link.at[p->link].junction_from;
}

struct mentions {
    elab *el;
    uint32_t element;
    bool *seen;
    uint32_t first;
};

static void
see_port(void *ctx, const ast_expr *e)
{
    struct mentions *m = ctx;
    const ast_part *index;
    uint32_t p, n;
    double i;

    if (e->kind != AST_REF || e->plain || e->path.nparts != 2)
        return;
    p = find_field_port(m->el, m->element, e->path.part[0].name);
    if (p == NONE || m->el->field_port.at[p].out)
        return;
    n = m->el->field_port.at[p].count;
    n = n ? n : 1;
    index = &e->path.part[e->path.part[0].nindex ? 0 : 1]; /* x[2].f or x.f[2] */
    if (n > 1 && index->nindex == 1 && !index->brackets->index[0].to &&
        known_number(m->el, element_scope(m->el, m->element), index->brackets->index[0].from, "an index", true, &i,
                     NULL) &&
        i >= 1 && i <= n) {
        p += (uint32_t)i - 1;
        n = 1;
    }
    for (uint32_t k = 0; k < n; k++)
        m->seen[p + k - m->first] = true;
}

/* Marks the incoming ports on which the flow of outgoing port p depends. Returns their number. */
static uint32_t
mentioned(elab *el, const field *f, uint32_t p, bool *seen)
{
    const ast_node *written = el->f->element.at[f->element].node;
    struct mentions m = { el, f->element, seen, f->first };
    uint32_t n = 0;

    memset(seen, 0, f->n * sizeof *seen);
    for (int k = 0; k < written->own->block->nitems; k++) {
        const ast_law_item *item = &written->own->block->item[k];

        if (item->kind == AST_LAW_EQUATION && !item->plain && item->ref->nparts == 2 &&
            item->ref->part[0].name == el->field_port.at[p].name)
            ast_visit(item->right, see_port, &m);
    }
    for (uint32_t k = 0; k < f->n; k++)
        n += seen[k];
    return n;
}

/* The sum of the efforts (flows) of a port's pairs, as a readable variable. */
static var_id
sum_of_pairs(elab *el, const field *f, uint32_t p, bool effort)
{
    flat_model *m = el->f;
    const field_port *x = &el->field_port.at[p];
    VEC(var_id) slot = { 0 };
    node sum = ex_const(m->pool, 0);
    var_id v;

    for (uint32_t k = f->pair0; k < f->pair0 + f->npairs; k++) {
        const field_pair *q = &el->field_pair.at[k];
        const flat_port *port = &m->port.at[m->element.at[f->element].port0 + 2 * (k - f->pair0) + (q->out == p)];

        if (q->in != p && q->out != p)
            continue;
        sum = ex_add(m->pool, sum, ex_slot(m->pool, (uint32_t)slot.n));
        vec_push(&slot, effort ? port->e : port->f);
    }
    if (slot.n == 1) {
        v = slot.at[0];
    } else {
        v = flat_add_var(m, VAR_SIGNAL, NONE, arena_format(el->a, "%s.%s", x->full, effort ? "e" : "f"), x->at);
        var_say(m, v)->def = flat_inst(m, sum, slot.at, (uint32_t)slot.n);
    }
    vec_free(&slot);
    return v;
}

static void
make_transformer(elab *el, field *f)
{
    bool *seen = bg_calloc(f->n + 1, sizeof *seen), *used = bg_calloc(f->n + 1, sizeof *used);
    uint32_t *landing = bg_malloc((f->n + 1) * sizeof *landing);

    f->pair0 = (uint32_t)el->field_pair.n;
    for (uint32_t k = 0; k < f->n; k++) {
        field_port *p = &el->field_port.at[f->first + k];
        uint32_t outer = outer_junction(el, f->element, p, EL_TF),
                 n = p->out ? mentioned(el, f, f->first + k, seen) : 2;
        uint8_t type = el->f->junction.at[outer].type;
        bool taken = false;

        landing[k] = outer;
        for (uint32_t i = 0; i < k; i++)
            taken = taken || landing[i] == outer;
        if (p->out ? n > 1 && type == 1 : type == 0 || taken) {
            landing[k] = add_field_junction(el, f->element, p->out ? 0 : 1, p->full, p->at);
            if (p->out)
                add_field_bond(el, landing[k], outer, p->full, NULL, p->at, &p->e, &p->f);
            else
                add_field_bond(el, outer, landing[k], p->full, NULL, p->at, &p->e, &p->f);
            if (!p->out) /* two ports on one junction differ by their flow */
                p->f = el->f->junction.at[landing[k]].common;
        }
        for (uint32_t i = 0; p->out && i < f->n; i++) {
            used[i] = used[i] || seen[i];
            if (seen[i])
                vec_push(&el->field_pair, ((field_pair){ f->first + i, f->first + k }));
        }
        if (p->out && !n)
            diag_error(el->s, "law-missing", p->at, "nothing in TF:%s gives the flow of %s from that of another port",
                       el->f->element.at[f->element].name, p->name);
    }
    f->npairs = (uint32_t)el->field_pair.n - f->pair0;
    for (uint32_t k = 0; k < f->npairs; k++) {
        const field_pair *q = &el->field_pair.at[f->pair0 + k];
        const field_port *in = &el->field_port.at[q->in], *out = &el->field_port.at[q->out];

        add_field_port(el, f->element, landing[q->in - f->first], in, in->full, NULL);
        add_field_port(el, f->element, landing[q->out - f->first], out, out->full, NULL);
    }
    for (uint32_t k = 0; k < f->n; k++) {
        field_port *p = &el->field_port.at[f->first + k];
        bool effort = !p->out;

        if (!p->out && !used[k])
            diag_error(el->s, "law-missing", p->at, "no flow in TF:%s depends on %s.f",
                       el->f->element.at[f->element].name, p->name);
        if (p->e == VAR_NONE && (p->out || used[k]) && el->f->junction.at[landing[k]].type == (effort ? 1 : 0)) {
            var_id sum = sum_of_pairs(el, f, f->first + k, effort), common = el->f->junction.at[landing[k]].common;

            p->e = effort ? sum : common;
            p->f = effort ? common : sum;
        } else if (p->e == VAR_NONE && f->npairs) {
            /* an outgoing port with one pair on a 1-junction */
            for (uint32_t i = 0; i < f->npairs; i++)
                if (el->field_pair.at[f->pair0 + i].out == f->first + k) {
                    const flat_port *port = &el->f->port.at[el->f->element.at[f->element].port0 + 2 * i + 1];

                    p->e = port->e;
                    p->f = port->f;
                }
        }
    }
    free(seen);
    free(used);
    free(landing);
}

void
make_field(elab *el, uint32_t element)
{
    uint32_t number = map_get(&el->field_of, element);
    field *f = &el->field.at[number];
    enum element_type type = el->f->element.at[element].type;
    bool sound = true, joined = false;

    for (uint32_t k = 0; k < f->n; k++) {
        const field_port *p = &el->field_port.at[f->first + k];

        joined = joined || p->link != NONE;
        sound = sound && (p->link == NONE || el->link.at[p->link].junction_from != NONE);
    }
    if (f->broken)
        return;
    if (!joined)
        diag_error(el->s, "bond-none", element_at(&el->f->element.at[element]), "%s:%s has no bond",
                   element_type_name(type), el->f->element.at[element].name);
    if (!sound || !joined)
        return; /* said already */
    f->made = true;
    if (type == EL_TF) {
        make_transformer(el, f);
    } else {
        map taken = { 0 };

        for (uint32_t k = 0; k < f->n; k++) {
            field_port *p = &el->field_port.at[f->first + k];
            bool stores = type == EL_C || type == EL_I;
            uint32_t j = outer_junction(el, element, p, type), outer = j;
            const flat_port *port;
            var_id e, flow;

            /* two ports on one junction need a variable that differs */
            if (map_get(&taken, outer) != MAP_NONE) {
                j = add_field_junction(el, element, el->f->junction.at[outer].type, p->full, p->at);
                add_field_bond(el, p->out ? j : outer, p->out ? outer : j, p->full, NULL, p->at, &e, &flow);
            }
            map_set(&taken, outer, 1);
            p->port = add_field_port(el, element, j, p, p->full, !stores ? NULL : p->momentum ? "p" : "q");
            port = &el->f->port.at[p->port];
            p->e = port->e;
            p->f = port->f;
            p->stored = port->stored;
        }
        map_free(&taken);
    }
    for (uint32_t k = 0; k < f->n; k++) {
        const field_port *p = &el->field_port.at[f->first + k];
        link_said *x = p->link == NONE ? NULL : &el->said.at[el->link.at[p->link].said];

        if (x && x->e == VAR_NONE) {
            x->e = p->e;
            x->f = p->f;
        }
    }
}

/* ---------------------------------------------------------------- reading */

static val
port_variable(builder *b, var_id v)
{
    val r = { .fit = FIT_ANY, .unit = var_unit(b->el->f, v) };

    if (r.unit)
        r.fit = FIT_UNIT;
    r.n = builder_slot(b, v);
    return r;
}

static val
no_quantity(builder *b, const field_port *p, enum element_type type, const ast_part *q)
{
    const char *stored = type != EL_C && type != EL_I ? "" : p->momentum ? ", p" : ", q";

    diag_error(b->el->s, "name-quantity", q->at, "port %s has no \"%s\"", p->full, q->name);
    diag_help(b->el->s, "It has e, f%s and power.", stored);
    return val_bad(b->el);
}

static val
field_quantity(builder *b, uint32_t at, enum element_type type, const ast_part *q)
{
    elab *el = b->el;
    const field_port *p = &el->field_port.at[at];
    const ast_part *as = q;
    ast_part renamed;
    val e, f;

    if (p->e == VAR_NONE || p->f == VAR_NONE)
        return val_bad(el);
    if (p->port != NONE) {
        uint32_t junction = el->f->port.at[p->port].junction;

        as = plain_quantity(el, junction, p->stored != VAR_NONE, false, q, &renamed);
        note_quantity(el, junction, q, as, (val){ .n = NODE_NONE });
        q = as;
    }
    if (q->name == el->n_e)
        return port_variable(b, p->e);
    if (q->name == el->n_f)
        return port_variable(b, p->f);
    if (p->stored != VAR_NONE && q->name == (p->momentum ? el->n_p : el->n_q))
        return port_variable(b, p->stored);
    if (q->name != el->n_power)
        return no_quantity(b, p, type, q);
    e = port_variable(b, p->e);
    f = port_variable(b, p->f);
    e.n = ex_mul(el->pool, e.n, f.n);
    if (e.fit == FIT_UNIT && f.fit == FIT_UNIT)
        return (val){ .n = e.n, .fit = FIT_UNIT, .unit = el->watt };
    return (val){ .n = e.n, .fit = FIT_ANY };
}

/* The ports of x[2..4], where `first` is the first of this name. 0: an error was reported. */
static uint32_t
port_range(elab *el, scope *in, uint32_t *first, const ast_part *name)
{
    const field_port *x = &el->field_port.at[*first];
    int32_t from, to;

    if (!known_index(el, in, name->brackets->index[0].from, "an index", &from) ||
        !known_index(el, in, name->brackets->index[0].to, "an index", &to))
        return 0;
    if (to < from) {
        diag_error(el->s, "index-range", name->brackets->at, "the range %d..%d is empty", from, to);
        return 0;
    }
    if (from < 1 || (uint32_t)to > x->count) {
        diag_error(el->s, "index-range", name->brackets->at, "there is no %s[%d]: port %s goes from 1 to %u",
                   name->name, from < 1 ? from : to, name->name, x->count);
        diag_note(el->s, x->at, "declared here");
        return 0;
    }
    *first += (uint32_t)from - 1;
    return (uint32_t)(to - from) + 1;
}

/* x.q for an array of ports is a vector, and so is x[2..4].q; x[3].q is a number. first: the first port of this
 * name. */
static val
ports_quantity(builder *b, uint32_t element, uint32_t first, const ast_part *name, const ast_part *q)
{
    elab *el = b->el;
    enum element_type type = el->f->element.at[element].type;
    uint32_t count = el->field_port.at[first].count;
    val r, one;

    if (count && name->nindex == 1 && name->brackets->index[0].to) {
        count = port_range(el, b->in, &first, name);
        if (!count)
            return val_bad(el);
    } else if (!count || name->nindex) {
        first = single_field_port(el, b->in, element, name);
        return first == NONE ? val_bad(el) : field_quantity(b, first, type, q);
    }
    r = matrix_of(el, 1, count, 1, NULL);
    for (uint32_t k = 0; k < count; k++) {
        one = field_quantity(b, first + k, type, q);
        if (one.bad)
            return one;
        r.m->at[k] = one.n;
        if (!k || one.fit == FIT_UNIT) {
            r.fit = one.fit;
            r.unit = one.unit;
        }
    }
    return r;
}

/* port.quantity in the block of the field itself. NODE_NONE in n: no port of this name. */
val
read_own_port(builder *b, const ast_ref *r)
{
    elab *el = b->el;
    uint32_t at = r->nparts < 2 ? NONE : find_field_port(el, b->own, r->part[0].name), hidden;
    const flat_element *x = &el->f->element.at[b->own];
    const ast_part *q = &r->part[1];
    const field_port *p;
    ast_ref moved;

    if (at == NONE)
        return (val){ .n = NODE_NONE };
    p = &el->field_port.at[at];
    hidden = find_part(el, b->in, r->part[0].name);
    if (hidden != NONE && map_get(&el->shadow_said, UINT64_C(1) << 40 | at) == MAP_NONE) {
        map_set(&el->shadow_said, UINT64_C(1) << 40 | at, 1);
        diag_info(el->s, "name-shadow", r->part[0].at, "in the block of %s, \"%s\" is its port", x->name, p->name);
        diag_note(el->s, part_at(&el->part.at[hidden]), "the part of that name is declared here");
    }
    if (r->nparts > 2) {
        diag_error(el->s, "name-quantity", r->part[2].at, "\"%s.%s\" has no parts of its own", p->full, q->name);
        return val_bad(el);
    }
    if ((x->type == EL_C || x->type == EL_I) && q->name == (p->momentum ? el->n_e : el->n_f)) {
        diag_error(el->s, "law-quantity", r->at,
                   "a law of %s:%s relates what its ports store to the %s they give; it cannot read %s.%s",
                   element_type_name(x->type), x->name, p->momentum ? "flows" : "efforts", p->name, q->name);
        return val_bad(el);
    }
    if (x->type == EL_TF && (p->out || q->name != el->n_f)) {
        diag_error(el->s, "law-quantity", r->at,
                   "the flows of TF:%s depend on the flows of its ports left of the arrow; %s.%s is not one of them",
                   x->name, p->name, q->name);
        return val_bad(el);
    }
    if (!index_of_quantity(el, r, &moved))
        return val_bad(el);
    return ports_quantity(b, b->own, at, &moved.part[0], &moved.part[1]);
}

/* plate.power, plate.gap.q from outside the block */
val
read_field(builder *b, const ast_ref *r, int first, uint32_t element)
{
    elab *el = b->el;
    const flat_element *x = &el->f->element.at[element];
    const field *f = field_of(el, element);
    const ast_part *q = &r->part[first];
    uint32_t at = find_field_port(el, element, q->name);

    if (!f->made)
        return val_bad(el);
    if (r->nparts == first + 1 && q->name == el->n_power && at == NONE) {
        node sum = ex_const(el->pool, 0);

        for (uint32_t k = x->port0; k < x->port0 + x->nports; k++) {
            const flat_port *p = &el->f->port.at[k];
            node e = builder_slot(b, p->e), flow = builder_slot(b, p->f), product = ex_mul(el->pool, e, flow);

            sum = p->sign > 0 ? ex_add(el->pool, sum, product) : ex_sub(el->pool, sum, product);
        }
        return (val){ .n = sum, .fit = FIT_ANY };
    }
    if (at == NONE || r->nparts != first + 2) {
        if (at == NONE)
            diag_error(el->s, "name-quantity", q->at, "%s:%s has no port \"%s\"", element_type_name(x->type), x->name,
                       q->name);
        else if (r->nparts == first + 1)
            diag_error(el->s, "name-quantity", q->at, "%s is a port, not a value", el->field_port.at[at].full);
        else
            diag_error(el->s, "name-quantity", r->part[first + 2].at, "\"%s.%s\" has no parts of its own",
                       el->field_port.at[at].full, r->part[first + 1].name);
        diag_help(el->s, "Its ports are %s; read one as %s.%s.e, or %s.power.", field_ports_text(el, element), x->name,
                  el->field_port.at[f->first].name, x->name);
        return val_bad(el);
    }
    return ports_quantity(b, element, at, q, &r->part[first + 1]);
}
