/* references.c - what a name in an expression reads: values, arguments, the element's own, quantities of parts
 *
 * reports   unknown names with the nearest, quantities a part does not have, and reading what is not known before the run
 */
#include <string.h>

#include "elab.h"

static void
unknown_name(builder *b, const ast_part *p)
{
    elab *el = b->el;
    const char *near;

    if (find_part(el, b->in, p->name) != NONE) {
        const part *x = &el->part.at[find_part(el, b->in, p->name)];
        const flat_junction *j = x->kind == PART_JUNCTION ? &el->f->junction.at[x->index] : NULL;

        diag_error(el->s, "name-part", p->at, "\"%s\" is %s, not a value", p->name,
                   j ? "a junction" : x->kind == PART_ELEMENT ? "an element" : "a bond");
        diag_note(el->s, x->at, "declared here");
        diag_help(el->s, "Say what is read of it: %s.%s.", p->name, j && j->type == 0 ? "e" : "f");
        return;
    }
    if (refused_before(el, b->in, p->name))
        return;
    diag_error(el->s, "name-unknown", p->at, "nothing is called \"%s\"", p->name);
    near = nearest_value(el, b->in, p->name);
    if (near)
        diag_help(el->s, "Did you mean \"%s\"?", near);
}

static const char *
value_word(enum ast_value_kind k)
{
    static const char *const word[] = { "parameter", "constant", "signal", "input", "output" };

    return word[k];
}

static val
read_variable(builder *b, var_id v)
{
    const flat_var *x = &b->el->f->var.at[v];
    val r = { .fit = FIT_ANY };

    if (x->unit) {
        r.fit = FIT_UNIT;
        r.unit = x->unit;
    }
    r.n = builder_slot(b, v);
    return r;
}

static bool
allowed(builder *b, const value *x, span at)
{
    static const char *const may[] = { "constants", "parameters and constants", "parameters, constants and time" };
    bool ok = b->reads == READ_ALL || x->kind == AST_CONSTANT || (x->kind == AST_PARAMETER && b->reads >= READ_PARAMETERS);

    if (!ok) {
        diag_error(b->el->s, "read-early", at, "%s reads %s \"%s\", but it is fixed before the run: it may read %s", b->who, value_word(x->kind), x->name,
                   may[b->reads]);
        diag_note(b->el->s, x->at, "\"%s\" is declared here", x->name);
    }
    return ok;
}

static val
read_value(builder *b, uint32_t index, span at)
{
    elab *el = b->el;
    const value *x = &el->value.at[index];
    val v;

    if (!allowed(b, x, at))
        return val_bad(el);
    if (x->declared) {
        v = val_unit(NODE_NONE, x->declared);
    } else {
        v = x->mark == MARK_DONE ? x->fits : (val){ .fit = FIT_ANY };
        if (v.fit == FIT_ZERO)
            v.fit = FIT_BARE;       /* 0 for now, not 0 by nature */
    }
    v.bad = v.condition = false;
    v.n = builder_slot(b, x->var);
    return v;
}

/* e f q p in the block of an element. NODE_NONE in n: not one of these. */
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
    hidden = find_value(el, b->in, p->name);
    if (hidden != NONE && map_get(&el->shadow_said, hidden) == MAP_NONE) {
        map_set(&el->shadow_said, hidden, 1);
        diag_info(el->s, "name-shadow", p->at, "in a block, \"%s\" is the element's own, not the %s of that name", p->name,
                  value_word(el->value.at[hidden].kind));
        diag_note(el->s, el->value.at[hidden].at, "the %s is declared here", value_word(el->value.at[hidden].kind));
    }
    if (!port)
        return val_bad(el);
    if ((x->type == EL_C && p->name == el->n_f) || (x->type == EL_I && p->name == el->n_e)) {
        diag_error(el->s, "law-quantity", p->at, "a law of %s:%s relates %s, not %s", element_type_name(x->type), x->name, x->type == EL_C ? "q and e" : "p and f", p->name);
        diag_help(el->s, "What depends on %s is an R beside it.", p->name);
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

static val
read_name(builder *b, const ast_part *p)
{
    elab *el = b->el;
    uint32_t at;

    if (p->name == el->n_pi)
        return (val){ .n = ex_const(el->pool, 3.14159265358979323846), .fit = FIT_BARE };
    if (b->function) {
        at = map_get(b->formal, map_ptr_key(p->name));
        if (at != MAP_NONE) {
            val v = b->formal_fits[at];

            v.n = ex_slot(el->pool, at);
            return v;
        }
    }
    if (p->name == el->n_time) {
        if (b->function) {
            diag_error(el->s, "function-time", p->at, "a function does not see time; pass it as an argument");
            return val_bad(el);
        }
        if (b->reads < READ_TIME) {
            diag_error(el->s, "read-early", p->at, "%s reads time, but it is fixed before the run", b->who);
            return val_bad(el);
        }
        return (val){ .n = builder_slot(b, 0), .fit = FIT_UNIT, .unit = el->second };
    }
    if (b->own != NONE) {
        val v = read_own(b, p);

        if (v.bad || v.n != NODE_NONE)
            return v;
    }
    at = find_value(el, b->in, p->name);
    if (at != NONE)
        return read_value(b, at, p->at);
    unknown_name(b, p);
    return val_bad(el);
}

static val
no_such_quantity(builder *b, const ast_part *p, const ast_part *q, const char *what, const char *has)
{
    diag_error(b->el->s, "name-quantity", q->at, "\"%s\" is %s; it has no \"%s\"", p->name, what, q->name);
    diag_help(b->el->s, "%s", has);
    return val_bad(b->el);
}

static val
read_junction(builder *b, const ast_part *p, const ast_part *q, const flat_junction *j)
{
    elab *el = b->el;

    if (q->name == (j->type ? el->n_f : el->n_e))
        return read_variable(b, j->common);
    if (j->type)
        return no_such_quantity(b, p, q, "a 1-junction", arena_format(el->a,
            "Its bonds share the flow, %s.f; each has its own effort: read that of an element on it, or name a bond.", p->name));
    return no_such_quantity(b, p, q, "a 0-junction", arena_format(el->a,
        "Its bonds share the effort, %s.e; each has its own flow: read that of an element on it, or name a bond.", p->name));
}

static val
power_of(builder *b, var_id e, var_id f, bool into)
{
    elab *el = b->el;
    node ne = builder_slot(b, e), nf = builder_slot(b, f);
    node n = ex_mul(el->pool, ne, nf);

    return (val){ .n = into ? n : ex_neg(el->pool, n), .fit = FIT_ANY };
}

static val
read_element(builder *b, const ast_part *p, const ast_part *q, const flat_element *x)
{
    elab *el = b->el;
    const flat_port *port = x->nports ? &el->f->port.at[x->port0] : NULL;
    const char *type = element_type_name(x->type);

    if (!x->nports)
        return val_bad(el);         /* its bonds were wrong, which was said */
    if (x->nports > 1)
        return no_such_quantity(b, p, q, arena_format(el->a, "a two-port (%s)", type),
                                "Read the junctions at its sides, or name the bond (`as name`) and read that.");
    if (q->name == el->n_e)
        return read_variable(b, port->e);
    if (q->name == el->n_f)
        return read_variable(b, port->f);
    if (q->name == el->n_power)
        return power_of(b, port->e, port->f, port->sign > 0);
    if ((q->name == el->n_q && x->type == EL_C) || (q->name == el->n_p && x->type == EL_I))
        return read_variable(b, port->stored);
    return no_such_quantity(b, p, q, arena_format(el->a, "%s %s", strchr("RI", *type) || *type == 'S' ? "an" : "a", type),
                            arena_format(el->a, "It has %s.e, %s.f, %s.power%s%s%s.", p->name, p->name, p->name,
                                         x->type == EL_C || x->type == EL_I ? " and " : "", x->type == EL_C || x->type == EL_I ? p->name : "",
                                         x->type == EL_C ? ".q" : x->type == EL_I ? ".p" : ""));
}

static val
read_bond(builder *b, const ast_part *p, const ast_part *q, const link *l)
{
    elab *el = b->el;

    if (l->e == VAR_NONE || l->f == VAR_NONE)
        return val_bad(el);
    if (q->name == el->n_e)
        return read_variable(b, l->e);
    if (q->name == el->n_f)
        return read_variable(b, l->f);
    if (q->name == el->n_power)
        return power_of(b, l->e, l->f, true);
    return no_such_quantity(b, p, q, "a bond", arena_format(el->a, "It has %s.e, %s.f and %s.power.", p->name, p->name, p->name));
}

static val
read_part(builder *b, const ast_ref *r)
{
    elab *el = b->el;
    const ast_part *p = &r->part[0], *q = &r->part[1];
    uint32_t at = find_part(el, b->in, p->name);
    const char *near;
    const part *x;

    if (at == NONE) {
        uint32_t v = find_value(el, b->in, p->name);

        if (v != NONE && !refused_before(el, b->in, p->name)) {
            diag_error(el->s, "name-value", r->at, "\"%s\" is a %s; values have no \".%s\"", p->name, value_word(el->value.at[v].kind), q->name);
            diag_note(el->s, el->value.at[v].at, "declared here");
            return val_bad(el);
        }
        if (refused_before(el, b->in, p->name))
            return val_bad(el);
        diag_error(el->s, "name-unknown", p->at, "no junction, element or bond is called \"%s\"", p->name);
        near = nearest_part(el, b->in, p->name);
        if (near)
            diag_help(el->s, "Did you mean \"%s\"?", near);
        return val_bad(el);
    }
    if (b->function || b->reads != READ_ALL) {
        diag_error(el->s, "read-early", r->at, b->function ? "%s reads \"%s\"; a function sees its arguments and constants"
                                                           : "%s reads \"%s\", but it is fixed before the run", b->who, text_of(el, r->at));
        return val_bad(el);
    }
    if (r->nparts > 2) {
        diag_error(el->s, "name-quantity", r->part[2].at, "\"%s.%s\" has no parts of its own", p->name, q->name);
        return val_bad(el);
    }
    x = &el->part.at[at];
    switch (x->kind) {
    case PART_JUNCTION: return read_junction(b, p, q, &el->f->junction.at[x->index]);
    case PART_ELEMENT:  return read_element(b, p, q, &el->f->element.at[x->index]);
    case PART_BOND:     break;
    }
    return read_bond(b, p, q, &el->link.at[x->index]);
}

val
read_ref(builder *b, const ast_ref *r)
{
    if (refuse_unbuilt_ref(b->el, r))
        return val_bad(b->el);
    return r->nparts == 1 ? read_name(b, &r->part[0]) : read_part(b, r);
}
