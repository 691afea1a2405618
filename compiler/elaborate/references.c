/* references.c - names in expressions: values, arguments, the element's own quantities, quantities of parts
 *
 * reports   unknown names with the most similar one, quantities that a part does not have, and values that are not
 *           known before the run
 */
#include <math.h>
#include <string.h>

#include "domain.h"
#include "elab.h"

static const char *
value_word(enum ast_value_kind k)
{
    static const char *const word[] = { "parameter", "constant", "signal", "input", "output" };

    return word[k];
}

/* Is it the effort of a bond whose domain has temperatures as efforts? */
static bool
is_temperature(const elab *el, var_id v)
{
    const flat_model *f = el->f;
    const flat_var *x = &f->var.at[v];
    uint32_t j = NONE;
    const flat_domain *d;

    if (x->kind == VAR_COMMON && f->junction.at[x->owner].type == 0)
        j = x->owner;
    else if (x->kind == VAR_PORT && f->port.at[x->owner].e == v)
        j = f->port.at[x->owner].junction;
    d = j == NONE ? NULL : junction_domain(f, j);
    return d && d->effort && el->kelvin && unit_dimension(d->effort) == el->kelvin;
}

val
read_variable(builder *b, var_id v)
{
    val r = { .fit = FIT_ANY, .unit = var_unit(b->el->f, v) };

    if (r.unit)
        r.fit = FIT_UNIT;
    r.zero = is_temperature(b->el, v) ? ZERO_POINT : ZERO_NONE;
    r.n = builder_slot(b, v);
    return r;
}

static bool
allowed(builder *b, const value *x, span at)
{
    static const char *const may[] = { "constants", "parameters and constants", "parameters, constants and time" };
    bool ok = b->reads == READ_ALL || x->kind == AST_CONSTANT ||
              (x->kind == AST_PARAMETER && b->reads >= READ_PARAMETERS);

    if (x->gone) {
        diag_error(b->el->s, "part-gone", at, "the component of \"%s\" was taken out, but it is read here", x->name);
        return false;
    }
    if (!ok) {
        diag_error(b->el->s, "read-early", at, "%s reads %s \"%s\", but it is fixed before the run: it may read %s",
                   b->who, value_word(x->kind), x->name, may[b->reads]);
        diag_note(b->el->s, x->at, "\"%s\" is declared here", x->name);
    }
    return ok;
}

static val
value_fits(const elab *el, const value *x, uint32_t entry)
{
    const unit *found;
    val v;

    if (x->declared) {
        v = val_unit(NODE_NONE, x->declared);
        v.stated = !unit_is_number(x->declared);
    } else {
        v = x->mark == MARK_DONE ? x->fits : (val){ .fit = FIT_ANY };
        if (v.fit == FIT_ZERO)
            v.fit = FIT_BARE; /* happens to be 0 at present */
        found = v.fit == FIT_ANY && x->var != VAR_NONE ? var_unit(el->f, x->var + entry) : NULL;
        if (found) /* from the bonds that it reads */
            v = (val){ .fit = FIT_UNIT, .unit = found, .zero = v.zero };
    }
    /* what changes during the run is a variable, in whatever unit it is declared */
    if (x->kind != AST_PARAMETER && x->kind != AST_CONSTANT)
        v.stated = false;
    v.bad = v.condition = v.factor = false;
    v.m = NULL;
    return v;
}

/* The items of an array, read into a vector or matrix. */
struct gather {
    builder *b;
    span at;
    const ast_part *q;
    VEC(node) n;
    val fits;
    bool any;
};

static bool
gather_value(void *ctx, uint32_t index, uint32_t entry)
{
    struct gather *g = ctx;
    const value *x = &g->b->el->value.at[index];

    if (!g->any) {
        if (!allowed(g->b, x, g->at) || x->unread || in_doubt(g->b->el, x))
            return false;
        g->fits = value_fits(g->b->el, x, entry);
        g->any = true;
    }
    vec_push(&g->n, builder_slot(g->b, x->var + entry));
    return true;
}

/* Notes that an expression names a part, so that it cannot be taken out. */
static void
note_part_read(builder *b, const part *p, span at)
{
    flat_model *f = b->el->f;

    if (p->index == NONE || b->only_looks)
        return;
    if (p->kind == DECLARED_JUNCTION && !f->junction.at[p->index].read) {
        flat_note_read(f, true, p->index, at);
    } else if (p->kind == DECLARED_ELEMENT && p->index != b->own && !f->element.at[p->index].read) {
        flat_note_read(f, false, p->index, at);
    } else if (p->kind == DECLARED_BOND) {
        const link_said *l = &b->el->said.at[p->index];

        if (l->from != NONE && b->el->part.at[l->from].kind != DECLARED_BOND)
            note_part_read(b, &b->el->part.at[l->from], at);
        if (l->to != NONE && b->el->part.at[l->to].kind != DECLARED_BOND)
            note_part_read(b, &b->el->part.at[l->to], at);
    }
}

/* What was gathered from a place. */
static val
gathered(elab *el, const path_end *p, struct gather *g, bool fine)
{
    uint32_t rows = (uint32_t)(p->high[0] - p->low[0] + 1),
             cols = family_of(el, p->family).rank > 1 ? (uint32_t)(p->high[1] - p->low[1] + 1) : 1;
    val v;

    if (!fine || g->n.n != (size_t)rows * cols) {
        vec_free(&g->n);
        return val_bad(el);
    }
    v = matrix_of(el, family_of(el, p->family).rank, rows, cols, g->n.at);
    v.fit = g->fits.fit;
    v.unit = g->fits.unit;
    v.shown = g->fits.shown;
    v.written = g->fits.written;
    v.said = g->fits.said;
    v.zero = g->fits.zero;
    vec_free(&g->n);
    return v;
}

static bool
too_many_entries(elab *el, const path_end *p, span at)
{
    uint64_t n = 1;

    for (int k = 0; k < family_of(el, p->family).rank; k++)
        n *= (uint64_t)(p->high[k] - p->low[k] + 1);
    if (n > MOST_ENTRIES)
        diag_error(el->s, "model-size", at, "this vector would have %llu entries; the most is %d",
                   (unsigned long long)n, MOST_ENTRIES);
    return n > MOST_ENTRIES || !may_write_out(el, n, at);
}

static val
read_value(builder *b, const path_end *p, span at)
{
    elab *el = b->el;
    struct gather g = { .b = b, .at = at };
    const value *x;
    uint32_t entry, index;
    val v;

    if (!p->one) {
        if (too_many_entries(el, p, at))
            return val_bad(el);
        return gathered(el, p, &g, each_item(el, p, at, false, gather_value, &g));
    }
    index = single_item(el, p, at, &entry);
    if (index == NONE)
        return val_bad(el);
    x = &el->value.at[index];
    if (!allowed(b, x, at) || x->unread || in_doubt(el, x))
        return val_bad(el);
    v = value_fits(el, x, entry);
    v.n = builder_slot(b, x->var + entry);
    return v;
}

/* e f q p in the block of an element. NODE_NONE in n: another name. */
static val
read_own(builder *b, const ast_part *p)
{
    elab *el = b->el;
    const flat_element *x = &el->f->element.at[b->own];
    const flat_port *port = x->nports ? &el->f->port.at[x->port0] : NULL;
    uint32_t hidden;
    var_id v = VAR_NONE;

    if (p->name != el->n_e && p->name != el->n_f && p->name != el->n_q && p->name != el->n_p)
        return (val){ .n = NODE_NONE };
    if (!is_field(el, b->own) && !takes_no_index(el, p, "one number of this element"))
        return val_bad(el);
    hidden = find_value(el, b->in, p->name);
    if (hidden != NONE && map_get(&el->shadow_said, hidden) == MAP_NONE) {
        map_set(&el->shadow_said, hidden, 1);
        diag_info(el->s, "name-shadow", p->at, "in a block, \"%s\" is the element's own, not the %s of that name",
                  p->name, value_word(el->value.at[hidden].kind));
        diag_note(el->s, el->value.at[hidden].at, "the %s is declared here", value_word(el->value.at[hidden].kind));
    }
    if (is_field(el, b->own))
        return (val){ .n = NODE_NONE };
    if (!port)
        return val_bad(el);
    if ((x->type == EL_C && p->name == el->n_f) || (x->type == EL_I && p->name == el->n_e)) {
        diag_error(el->s, "law-quantity", p->at, "a law of %s:%s relates %s, not %s", element_type_name(x->type),
                   x->name, x->type == EL_C ? "q and e" : "p and f", p->name);
        diag_help(el->s, "Put what depends on %s into an R beside it.", p->name);
        return val_bad(el);
    }
    if (p->name == el->n_e)
        v = port->e;
    else if (p->name == el->n_f)
        v = port->f;
    else if (p->name == el->n_q && x->type == EL_C)
        v = port->stored;
    else if (p->name == el->n_p && x->type == EL_I)
        v = port->stored;
    if (v == VAR_NONE) {
        diag_error(el->s, "law-quantity", p->at, "%s:%s has no %s %s", element_type_name(x->type), x->name,
                   p->name == el->n_q ? "displacement" : "momentum", p->name);
        diag_help(el->s, "A C has q, an I has p; every element has e and f.");
        return val_bad(el);
    }
    return read_variable(b, v);
}

/* A size or loop variable: data like a number in the text, so that all iterations share one template. */
static val
read_known(builder *b, const known_value *k)
{
    elab *el = b->el;
    uint64_t bits, key;
    uint32_t v;

    if (b->structure)
        return (val){ .n = ex_const(el->pool, k->value), .fit = FIT_BARE };
    memcpy(&bits, &k->value, sizeof bits);
    key = bits;
    while ((v = map_get(&el->numbers, key)) != MAP_NONE && var_value(el->f, v) != k->value)
        key++;
    if (v == MAP_NONE) {
        v = flat_add_literal(el->f, k->value, arena_format(el->a, "%.15g", k->value), k->at);
        map_set(&el->numbers, key, v);
    }
    return (val){ .n = builder_slot(b, v), .fit = FIT_BARE };
}

static val
read_plain_name(builder *b, const ast_ref *r)
{
    elab *el = b->el;
    const ast_part *p = &r->part[0];
    known_value k;
    path_end x;
    uint32_t at;

    if (p->name == el->n_pi)
        return (val){ .n = ex_const(el->pool, M_PI), .fit = FIT_BARE };
    if (b->function) {
        at = map_get(b->formal, map_ptr_key(p->name));
        if (at != MAP_NONE) {
            val v = b->formal_fits[at];

            if (!takes_no_index(el, p, "one argument"))
                return val_bad(el);
            v.n = ex_slot(el->pool, at);
            return v;
        }
    }
    if (p->name == el->n_time) {
        if (b->function) {
            diag_error(el->s, "function-time", p->at, "a function cannot read time; pass it as an argument");
            return val_bad(el);
        }
        if (b->reads < READ_TIME) {
            diag_error(el->s, "read-early", p->at, "%s reads time, but it is fixed before the run", b->who);
            return val_bad(el);
        }
        /* in files without units, and in formulas on the command line, time is a pure number: sin(time) */
        if (from_outside(el, p->at) || !el->file->units)
            return (val){ .n = builder_slot(b, 0), .fit = FIT_ANY };
        return (val){ .n = builder_slot(b, 0), .fit = FIT_UNIT, .unit = el->second };
    }
    if (b->own != NONE) {
        val v = read_own(b, p);

        if (v.bad || v.n != NODE_NONE)
            return v;
    }
    if (find_known(b->in, p->name, &k))
        return takes_no_index(el, p, "one number") ? read_known(b, &k) : val_bad(el);
    if (find_family(el, b->in, p->name, false) == NONE && find_part(el, b->in, p->name) != NONE) {
        const part *q = &el->part.at[find_part(el, b->in, p->name)];

        diag_error(el->s, "name-part", p->at, "\"%s\" is %s, not a value", p->name,
                   q->kind == DECLARED_JUNCTION  ? "a junction"
                   : q->kind == DECLARED_ELEMENT ? "an element"
                   : q->kind == DECLARED_BOND    ? "a bond"
                                                 : "a component");
        diag_note(el->s, part_at(q), "declared here");
        if (q->kind != DECLARED_INSTANCE)
            diag_help(el->s, "Write which of its variables to read: %s.%s.", text_of(el, p->at),
                      q->kind == DECLARED_JUNCTION && !q->junction ? "e" : "f");
        return val_bad(el);
    }
    x = follow(el, b->in, b->in, r, true, 0);
    if (x.kind == PLACE_NONE || import_clash(el, b->in, p->name, p->at))
        return val_bad(el);
    return read_value(b, &x, p->at);
}

/* A part's name relative to this scope; for an array without the index, if no item is meant. */
static const char *
name_from_here(builder *b, const ast_part *p, const part *x)
{
    const char *name = x->name;
    size_t n = strlen(b->in->prefix);

    if (!strncmp(name, b->in->prefix, n))
        name += n;
    if (p->nindex || !strrchr(name, '[') || name[strlen(name) - 1] != ']')
        return name;
    return arena_format(b->el->a, "%.*s", (int)(strrchr(name, '[') - name), name);
}

static val
no_such_quantity(builder *b, const char *name, const ast_part *q, const char *what, const char *has)
{
    const char *habit = habit_quantity(q->name), *gap = habit ? strstr(habit, "{}") : NULL;

    if (told_before(b->el, CAUSE_QUANTITY, map_ptr_key(scope_of_text(b->in)->model),
                    bg_hash_bytes(name, strlen(name), map_ptr_key(q->name))))
        return val_bad(b->el);
    diag_error(b->el->s, "name-quantity", q->at, "\"%s\" is %s; it has no \"%s\"", name, what, q->name);
    if (gap)
        diag_help(b->el->s, "%.*s%s%s", (int)(gap - habit), habit, name, gap + 2);
    diag_help(b->el->s, "%s", has);
    return val_bad(b->el);
}

static val
read_junction(builder *b, const char *name, const ast_part *q, const ast_part *written, const flat_junction *j)
{
    elab *el = b->el;

    if (q->name == (j->type ? el->n_f : el->n_e))
        return read_variable(b, j->common);
    if (j->type)
        return no_such_quantity(b, name, written, "a 1-junction",
                                arena_format(el->a,
                                             "Its bonds share the flow, %s.f; each has its own effort: read that of an "
                                             "element on it, or name a bond.",
                                             name));
    return no_such_quantity(b, name, written, "a 0-junction",
                            arena_format(el->a,
                                         "Its bonds share the effort, %s.e; each has its own flow: read that of an "
                                         "element on it, or name a bond.",
                                         name));
}

static val
power_of(builder *b, uint32_t junction, var_id e, var_id f, bool into)
{
    elab *el = b->el;
    node ne = builder_slot(b, e), nf = builder_slot(b, f), n;
    const var_id *reads;
    uint32_t nreads = flat_power_reads(el->f, junction, &reads);
    node *with = bg_calloc(2 + nreads, sizeof *with);

    with[0] = ne;
    with[1] = nf;
    for (uint32_t k = 0; k < nreads; k++)
        with[2 + k] = builder_slot(b, reads[k]);
    n = ex_substitute(el->pool, flat_power(el->f, junction, ex_slot(el->pool, 0), ex_slot(el->pool, 1), 2), with,
                      2 + nreads);
    free(with);
    if (var_unit(el->f, e) && var_unit(el->f, f))
        return (val){ .n = into ? n : ex_neg(el->pool, n), .fit = FIT_UNIT, .unit = el->watt };
    return (val){ .n = into ? n : ex_neg(el->pool, n), .fit = FIT_ANY };
}

static val
read_element(builder *b, const char *name, const ast_part *q, const flat_element *x)
{
    elab *el = b->el;
    const flat_port *port = x->nports ? &el->f->port.at[x->port0] : NULL;
    const char *type = element_type_name(x->type);

    if (!x->nports)
        return val_bad(el); /* its bonds had errors, which were reported */
    if (x->nports > 1)
        return no_such_quantity(b, name, q, arena_format(el->a, "a two-port (%s)", type),
                                "Read the junctions at its sides, or name the bond (`as name`) and read that.");
    if (q->name == el->n_e)
        return read_variable(b, port->e);
    if (q->name == el->n_f)
        return read_variable(b, port->f);
    if (q->name == el->n_power)
        return power_of(b, port->junction, port->e, port->f, port->sign > 0);
    if ((q->name == el->n_q && x->type == EL_C) || (q->name == el->n_p && x->type == EL_I))
        return read_variable(b, port->stored);
    if (x->rests) {
        const part *of = &el->part.at[el->element_part.at[x - el->f->element.at]];

        diag_error(el->s, "part-gone", q->at, "\"%s\" has no \"%s\": its %s was taken out", name, q->name,
                   of->rest == Q_FLOW ? "flow" : "effort");
        diag_note(el->s, part_rests_at(b->el, of), "taken out here");
        return val_bad(el);
    }
    return no_such_quantity(b, name, q,
                            arena_format(el->a, "%s %s", strchr("RI", *type) || *type == 'S' ? "an" : "a", type),
                            arena_format(el->a,
                                         x->type == EL_C || x->type == EL_I ? "It has %s.e, %s.f, %s.power and %s.%s."
                                                                            : "It has %s.e, %s.f and %s.power.",
                                         name, name, name, name, x->type == EL_C ? "q" : "p"));
}

static val
read_bond(builder *b, const char *name, const ast_part *q, const link_said *l)
{
    elab *el = b->el;

    if (l->e == VAR_NONE || l->f == VAR_NONE)
        return val_bad(el);
    if (q->name == el->n_e)
        return read_variable(b, l->e);
    if (q->name == el->n_f)
        return read_variable(b, l->f);
    if (q->name == el->n_power)
        return power_of(b, l->junction, l->e, l->f, true);
    return no_such_quantity(b, name, q, "a bond",
                            arena_format(el->a, "It has %s.e, %s.f and %s.power.", name, name, name));
}

static val
read_quantity(builder *b, const ast_part *p, const ast_part *q, const part *x)
{
    elab *el = b->el;
    const char *name;

    if (x->gone || (x->kind == DECLARED_BOND && x->index != NONE && el->said.at[x->index].gone)) {
        diag_error(el->s, "part-gone", p->at, "\"%s\" was taken out, but it is read here", x->name);
        if (x->gone)
            diag_note(el->s, part_gone_at(b->el, x), "taken out here");
        return val_bad(el);
    }
    if (x->index == NONE)
        return val_bad(el);
    note_part_read(b, x, q->at);
    name = name_from_here(b, p, x);
    if (x->kind != DECLARED_INSTANCE) {
        const flat_element *e = x->kind == DECLARED_ELEMENT ? &el->f->element.at[x->index] : NULL;
        const flat_junction *j = x->kind == DECLARED_JUNCTION ? &el->f->junction.at[x->index] : NULL;
        uint32_t junction = j   ? x->index
                            : e ? (e->nports == 1 ? el->f->port.at[e->port0].junction : NONE)
                                : el->said.at[x->index].junction;
        ast_part renamed;
        const ast_part *as = junction == NONE ? q
                                              : plain_quantity(el, junction, e && (e->type == EL_I || e->rests),
                                                               j && !j->type, q, &renamed);
        val v = j   ? read_junction(b, name, as, q, j)
                : e ? read_element(b, name, as, e)
                    : read_bond(b, name, as, &el->said.at[x->index]);

        note_quantity(el, junction, q, as, v);
        return v;
    }
    return no_such_quantity(b, name, q, "a component", arena_format(el->a, "Read one of its parts: %s.part.f.", name));
}

static bool
gather_part(void *ctx, uint32_t index, uint32_t entry)
{
    struct gather *g = ctx;
    const ast_part *q = g->q;
    val v = read_quantity(g->b, q - 1, q, &g->b->el->part.at[index]);

    (void)entry;
    if (v.bad)
        return false;
    if (!g->any || (g->fits.fit == FIT_ANY && v.fit == FIT_UNIT))
        g->fits = v;
    g->any = true;
    vec_push(&g->n, v.n);
    return true;
}

/* front.spring.q, v[2].f, v.f for an array; front.k: a value in a component */
static val
read_part(builder *b, const ast_ref *r)
{
    elab *el = b->el;
    const ast_part *p = &r->part[0];
    struct gather g = { .b = b, .at = r->at };
    uint32_t first = find_part(el, b->in, p->name), index, entry;
    ast_ref moved;
    path_end x;

    if (first == NONE) {
        uint32_t v = find_value(el, b->in, p->name);

        if (v != NONE && !refused_before(el, b->in, p->name)) {
            diag_error(el->s, "name-value", r->at, "\"%s\" is a %s; values have no \".%s\"", p->name,
                       value_word(el->value.at[v].kind), r->part[1].name);
            diag_note(el->s, el->value.at[v].at, "declared here");
            return val_bad(el);
        }
    }
    x = follow(el, b->in, b->in, r, true, 0);
    if (x.kind == PLACE_NONE)
        return val_bad(el);
    if (x.kind == PLACE_VALUE)
        return read_value(b, &x, r->at);
    if (r->part[r->nparts - 1].nindex) {
        if (!index_of_quantity(el, r, &moved))
            return val_bad(el);
        r = &moved;
        x = follow(el, b->in, b->in, r, true, 0);
        if (x.kind != PLACE_PART)
            return val_bad(el);
    }
    if (b->function || b->reads != READ_ALL) {
        diag_error(el->s, "read-early", r->at,
                   b->function ? "%s reads \"%s\"; a function can read only its arguments and constants"
                               : "%s reads \"%s\", but it is fixed before the run",
                   b->who, text_of(el, r->at));
        return val_bad(el);
    }
    first = family_of(el, x.family).n ? family_of(el, x.family).first : NONE;
    if (first != NONE && el->part.at[first].kind == DECLARED_ELEMENT && el->part.at[first].index != NONE &&
        is_field(el, el->part.at[first].index)) {
        index = single_item(el, &x, r->at, &entry);
        if (index != NONE)
            note_part_read(b, &el->part.at[index], r->at);
        return index == NONE || el->part.at[index].index == NONE ? val_bad(el)
                                                                 : read_field(b, r, x.used, el->part.at[index].index);
    }
    if (r->nparts > x.used + 1) {
        diag_error(el->s, "name-quantity", r->part[x.used + 1].at, "\"%s.%s\" has no parts of its own",
                   r->part[x.used - 1].name, r->part[x.used].name);
        return val_bad(el);
    }
    g.q = &r->part[x.used];
    if (!x.one)
        return too_many_entries(el, &x, r->at) ? val_bad(el)
                                               : gathered(el, &x, &g, each_item(el, &x, r->at, false, gather_part, &g));
    index = single_item(el, &x, r->at, &entry);
    return index == NONE ? val_bad(el) : read_quantity(b, &r->part[x.used - 1], g.q, &el->part.at[index]);
}

val
read_ref(builder *b, const ast_ref *r)
{
    if (b->own != NONE && r->nparts > 1 && is_field(b->el, b->own)) {
        val v = read_own_port(b, r);

        if (v.bad || v.n != NODE_NONE)
            return v;
    } else if (b->own != NONE && r->nparts > 1 && element_is_two_port(b->el->f->element.at[b->own].type)) {
        val v = read_two_port(b, r);

        if (v.bad || v.n != NODE_NONE)
            return v;
    }
    return r->nparts == 1 ? read_plain_name(b, r) : read_part(b, r);
}
