/* check_bonds.c - units of bonds: effort times flow is power
 *
 * All bonds that meet in junctions carry the same effort and flow, so a region of junctions has one unit of flow F, and [W]/F of effort. One
 * element with a unit in a linear law fixes it: R: F^2 = W/r, C: F^2 = c W/s, I: F^2 = W s/m, Se: F = W/e, Sf: F = f. Two-ports take it to the
 * next region: TF: F_out = n F_in, GY: F_out = W/(r F_in).
 *
 * needs     ports and bonds; the values fixed before the run. Laws that read anything else say nothing here.
 * provides  units of the bonds' variables and of q and p, for the checks that follow
 * reports   unit-bond: a unit that no bond has; unit-clash: two elements that disagree
 */
#include "elab.h"

struct region { const unit *flow; uint32_t from; };    /* from: the element that fixed it */

struct spread {
    elab *el;
    const unit *const *stated;      /* by element */
    uint32_t *root;                 /* of a junction's region */
    struct region *region;          /* by root */
    const unit *watt;
    uint32_t *first, *next;         /* two-ports of a region: lists of ports */
    VEC(uint32_t) open;             /* regions whose two-ports are to be looked at */
};

static uint32_t
find_root(uint32_t *root, uint32_t j)
{
    while (root[j] != j)
        j = root[j] = root[root[j]];
    return j;
}

static void
join_regions(struct spread *s)
{
    const flat_model *f = s->el->f;

    for (uint32_t j = 0; j < f->junction.n; j++)
        s->root[j] = j;
    for (size_t b = 0; b < f->bond.n; b++) {
        uint32_t x = find_root(s->root, f->bond.at[b].from), y = find_root(s->root, f->bond.at[b].to);

        s->root[x > y ? x : y] = x > y ? y : x;
    }
}

static const char *
element_name(const struct spread *s, uint32_t e)
{
    const flat_element *x = &s->el->f->element.at[e];

    return arena_format(s->el->a, "%s:%s", element_type_name(x->type), x->name);
}

static const char *
carries(const struct spread *s, const unit *flow)
{
    return arena_format(s->el->a, "effort in [%s], flow in [%s]", unit_text(unit_divide(s->el->u, s->watt, flow)), unit_text(flow));
}

/* e says that its bonds' flow is in this unit. */
static void
say_flow(struct spread *s, uint32_t junction, const unit *flow, uint32_t e)
{
    elab *el = s->el;
    uint32_t r = find_root(s->root, junction);
    const flat_element *x = &el->f->element.at[e];

    if (!s->region[r].flow) {
        s->region[r] = (struct region){ flow, e };
        vec_push(&s->open, r);
    } else if (s->region[r].flow != flow) {
        uint32_t other = s->region[r].from;

        diag_error(el->s, "unit-clash", x->at, "the bonds of %s and %s carry different things", element_name(s, e), element_name(s, other));
        diag_note(el->s, x->at, "%s says %s", element_name(s, e), carries(s, flow));
        diag_note(el->s, el->f->element.at[other].at, "%s says %s", element_name(s, other), carries(s, s->region[r].flow));
    }
}

static const unit *
flow_of(const struct spread *s, const flat_element *x, const unit *u)
{
    unit_system *us = s->el->u;

    switch (x->type) {
    case EL_SE: return unit_divide(us, s->watt, u);
    case EL_SF: return u;
    case EL_R:  return unit_power(us, unit_divide(us, s->watt, u), 1, 2);
    case EL_C:  return unit_power(us, unit_divide(us, unit_multiply(us, u, s->watt), s->el->second), 1, 2);
    case EL_I:  return unit_power(us, unit_divide(us, unit_multiply(us, s->watt, s->el->second), u), 1, 2);
    case EL_TF:
    case EL_GY: break;
    }
    return NULL;
}

static void
read_one_ports(struct spread *s)
{
    elab *el = s->el;

    for (uint32_t e = 0; e < el->f->element.n; e++) {
        const flat_element *x = &el->f->element.at[e];
        const unit *u = s->stated[e], *flow;

        if (!u || x->nports != 1)
            continue;
        flow = flow_of(s, x, u);
        if (flow) {
            say_flow(s, el->f->port.at[x->port0].junction, flow, e);
            continue;
        }
        diag_error(el->s, "unit-bond", x->node->linear->at, "%s is given in [%s], which no bond has whose effort times flow is power", element_name(s, e), unit_text(u));
        diag_help(el->s, x->type == EL_R   ? "A resistance is effort by flow, as [N.s/m] or [ohm]; the law is e = r*f."
                         : x->type == EL_C ? "A C takes its compliance, displacement by effort, as [m/N] or [F]; a stiffness k is written 1/k. A pseudo bond says its domain with `in`."
                                           : "An I takes momentum by flow, as [kg] or [H]. A pseudo bond says its domain with `in`.");
    }
}

static void
list_two_ports(struct spread *s)
{
    const flat_model *f = s->el->f;

    for (uint32_t j = 0; j < f->junction.n; j++)
        s->first[j] = NONE;
    for (uint32_t p = 0; p < f->port.n; p++) {
        uint32_t e = f->port.at[p].element;

        s->next[p] = NONE;
        if (f->element.at[e].nports == 2 && s->stated[e]) {
            uint32_t r = find_root(s->root, f->port.at[p].junction);

            s->next[p] = s->first[r];
            s->first[r] = p;
        }
    }
}

/* Each region's two-ports are looked at once, when its flow has become known. */
static void
cross_two_ports(struct spread *s)
{
    const flat_model *f = s->el->f;
    unit_system *us = s->el->u;

    for (size_t k = 0; k < s->open.n; k++) {
        uint32_t r = s->open.at[k];

        for (uint32_t p = s->first[r]; p != NONE; p = s->next[p]) {
            uint32_t e = f->port.at[p].element;
            const flat_element *x = &f->element.at[e];
            bool in = p == x->port0;
            const unit *u = s->stated[e], *flow = s->region[r].flow;

            if (x->type == EL_GY)
                flow = unit_divide(us, unit_divide(us, s->watt, u), flow);
            else
                flow = in ? unit_multiply(us, flow, u) : unit_divide(us, flow, u);
            say_flow(s, f->port.at[in ? p + 1 : p - 1].junction, flow, e);
        }
    }
}

static void
set_unit(flat_model *f, var_id v, const unit *u)
{
    if (v != VAR_NONE && !f->var.at[v].unit)
        f->var.at[v].unit = u;
}

static void
set_variables(struct spread *s)
{
    flat_model *f = s->el->f;
    unit_system *us = s->el->u;

    for (uint32_t j = 0; j < f->junction.n; j++) {
        const unit *flow = s->region[find_root(s->root, j)].flow;

        if (flow)
            set_unit(f, f->junction.at[j].common, f->junction.at[j].type ? flow : unit_divide(us, s->watt, flow));
    }
    for (size_t p = 0; p < f->port.n; p++) {
        const flat_port *x = &f->port.at[p];
        const unit *flow = s->region[find_root(s->root, x->junction)].flow;

        if (!flow)
            continue;
        set_unit(f, x->e, unit_divide(us, s->watt, flow));
        set_unit(f, x->f, flow);
        set_unit(f, x->stored, unit_multiply(us, f->element.at[x->element].type == EL_C ? flow : unit_divide(us, s->watt, flow), s->el->second));
    }
    for (size_t b = 0; b < f->bond.n; b++) {
        const unit *flow = s->region[find_root(s->root, f->bond.at[b].from)].flow;

        if (flow)
            set_unit(f, f->bond.at[b].own, f->junction.at[f->bond.at[b].from].type ? unit_divide(us, s->watt, flow) : flow);
    }
}

static void
check_bonds(elab *el, const unit *const *stated)
{
    size_t nj = el->f->junction.n;
    const char *why;
    struct spread s = { .el = el, .stated = stated };

    s.watt = unit_parse(el->u, "W", &why);
    s.watt = s.watt ? unit_dimension(s.watt) : el->one;
    s.root = bg_calloc(nj, sizeof *s.root);
    s.region = bg_calloc(nj, sizeof *s.region);
    s.first = bg_calloc(nj, sizeof *s.first);
    s.next = bg_calloc(el->f->port.n, sizeof *s.next);
    join_regions(&s);
    read_one_ports(&s);
    list_two_ports(&s);
    cross_two_ports(&s);
    set_variables(&s);
    free(s.root);
    free(s.region);
    free(s.first);
    free(s.next);
    vec_free(&s.open);
}

/* ---------------------------------------------------------------- what linear laws say without reading bonds */

struct plain { const elab *el; const scope *in; bool yes; };

static void
see_plain(void *ctx, const ast_expr *e)
{
    struct plain *p = ctx;
    uint32_t v;

    if (e->kind == AST_CALL || e->kind == AST_MATRIX || e->kind == AST_STRING)
        p->yes = false;
    if (e->kind != AST_REF)
        return;
    v = e->ref.nparts == 1 && !e->ref.part[0].nindex ? find_value(p->el, p->in, e->ref.part[0].name) : NONE;
    if (v == NONE || (p->el->value.at[v].mark != MARK_DONE && !p->el->value.at[v].declared))
        p->yes = false;
}

void
make_bond_units(elab *el, scope *in)
{
    const unit **stated = bg_calloc(el->f->element.n, sizeof *stated);

    for (uint32_t e = 0; e < el->f->element.n; e++) {
        const ast_expr *expr = el->f->element.at[e].node->linear;
        struct plain p = { el, in, expr != NULL };
        builder b;
        val v;

        if (expr)
            each_expr(expr, see_plain, &p);
        if (!p.yes)
            continue;
        b = builder_new(el, in, READ_ALL, "");
        v = resolve_law(&b, expr);
        builder_free(&b);
        stated[e] = v.bad ? NULL : v.fit == FIT_UNIT ? v.unit : v.likely;
    }
    if (!el->incomplete)
        check_bonds(el, stated);
    free(stated);
}
