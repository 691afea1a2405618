/* lint.c - see lint.h */
#include <string.h>

#include "lint.h"

struct lint {
    const flat_model *f;
    sources *s;
    uint32_t file;
    map said;   /* places already reported, by their start */
    map joined; /* ports of instances that outside bonds connect, by port_key */
};

/* Is it a place in the file's own text that was not reported yet? For copies made by loops and arrays it is reported
 * once. */
static bool
is_first_report(struct lint *l, span at)
{
    if (at.file != l->file || map_get(&l->said, (uint64_t)at.begin + 1) != MAP_NONE)
        return false;
    map_set(&l->said, (uint64_t)at.begin + 1, 1);
    return true;
}

/* ---------------------------------------------------------------- ports and junctions */

/* The instance that a part belongs to; NONE: the model itself. */
static uint32_t
instance_of(const flat_model *f, uint32_t origin)
{
    while (origin != NONE && !f->origin.at[origin].name)
        origin = f->origin.at[origin].parent;
    return origin;
}

static bool
is_within(const flat_model *f, uint32_t origin, uint32_t instance)
{
    while (origin != NONE && origin != instance)
        origin = f->origin.at[origin].parent;
    return origin == instance;
}

static uint32_t
parent_across(const flat_model *f, uint32_t junction, const flat_incidence *i)
{
    const flat_bond *b;

    if (!i->is_bond)
        return f->element.at[f->port.at[i->index].element].parent;
    b = &f->bond.at[i->index];
    return f->junction.at[b->from == junction ? b->to : b->from].parent;
}

/* Key of the ports that an instance has from one declaration: one port, or an array. */
static uint64_t
declared_port_key(const flat_junction *j, uint32_t instance)
{
    return bg_hash_mix(map_ptr_key(j->node), instance);
}

/* In an array of ports one connected port suffices: the others may be for other uses. */
static void
note_joined(struct lint *l, uint32_t at)
{
    const flat_model *f = l->f;
    const flat_junction *j = &f->junction.at[at];
    uint32_t instance = instance_of(f, j->parent);

    for (uint32_t k = 0; j->port && k < j->ninc; k++)
        if (!is_within(f, parent_across(f, at, &f->incidence.at[j->inc0 + k]), instance))
            map_set(&l->joined, declared_port_key(j, instance), 1);
}

static void
lint_port(struct lint *l, uint32_t at)
{
    const flat_model *f = l->f;
    const flat_junction *j = &f->junction.at[at];
    uint32_t instance = instance_of(f, j->parent);

    if (instance == NONE || !f->origin.at[instance].node ||
        map_get(&l->joined, declared_port_key(j, instance)) != MAP_NONE)
        return;
    if (is_first_report(l, ast_node_ref_at(f->origin.at[instance].node))) {
        diag_warn(l->s, "port-unjoined", ast_node_ref_at(f->origin.at[instance].node), "no bond joins port \"%s\"",
                  j->name);
        diag_note(l->s, j->at, "it is declared here");
    }
}

static void
lint_junction(struct lint *l, uint32_t at)
{
    const flat_junction *j = &l->f->junction.at[at];

    if (j->port) {
        lint_port(l, at);
    } else if (j->ninc == 1 && j->implicit) {
        const flat_incidence *i = &l->f->incidence.at[j->inc0];

        if (is_first_report(l, j->at))
            diag_warn(l->s, "port-unjoined", j->at, "no bond joins port \"%s\"", port_name(l->f, i->index));
    } else if (j->ninc == 1 && !j->thinned && is_first_report(l, j->at)) {
        diag_warn(l->s, "junction-single", j->at, "only one bond joins \"%s\", so its %s is zero", j->name,
                  j->type ? "effort" : "flow");
        diag_help(l->s, j->type ? "Efforts add up to zero at a 1-junction: add the missing bond, or delete the "
                                  "junction."
                                : "Flows add up to zero at a 0-junction: add the missing bond, or delete the "
                                  "junction.");
    }
}

/* ---------------------------------------------------------------- elements */

static bool
is_zero_leaf(const flat_model *f, inst def, node n)
{
    const ex_node *x = pool_node(f->pool, n);
    const flat_var *v;

    if (x->op != EX_SLOT)
        return x->op == EX_CONST && x->value == 0;
    v = &f->var.at[inst_slots(f, def)[x->a]];
    return v->kind == VAR_LITERAL && var_value(f, inst_slots(f, def)[x->a]) == 0;
}

/* Is the law linear with the number 0 as its coefficient, or a source of 0? */
static bool
is_zero_law(const flat_model *f, const flat_element *e)
{
    const flat_law *law = e->nlaws == 1 && e->linear ? &f->law.at[e->law0] : NULL;
    const ex_node *x = law && inst_known(law->def) ? pool_node(f->pool, law->def.root) : NULL;

    if (!x)
        return false;
    if (x->op == EX_MUL)
        return is_zero_leaf(f, law->def, x->a) || is_zero_leaf(f, law->def, x->b);
    return is_zero_leaf(f, law->def, law->def.root);
}

/* Warns of elements that add nothing to the sum of their junction: an effort of zero at a 1-junction, a flow of zero at
 * a 0-junction. A source of zero on a junction of the other kind is no mistake: it marks the ground. */
static void
lint_zero(struct lint *l, const flat_element *e)
{
    const flat_port *p = e->nports == 1 ? &l->f->port.at[e->port0] : NULL;
    bool efforts;

    if (!p || e->rests || !is_zero_law(l->f, e))
        return;
    efforts = l->f->junction.at[p->junction].type == 1;
    if (efforts ? e->type != EL_R && e->type != EL_I : e->type != EL_C)
        return;
    if (is_first_report(l, element_at(e)))
        diag_warn(l->s, "element-idle", element_at(e), "\"%s\" has no effect: its %s is always zero", e->name,
                  efforts ? "effort" : "flow");
}

/* Warns of elements at a junction whose common variable a source holds at zero. */
static void
check_held(struct lint *l, const flat_element *source)
{
    const flat_model *f = l->f;
    const flat_port *p = source->nports == 1 ? &f->port.at[source->port0] : NULL;
    const flat_junction *j = p ? &f->junction.at[p->junction] : NULL;

    if (!j || source->rests || source->type != (j->type ? EL_SF : EL_SE) || !is_zero_law(f, source))
        return;
    for (uint32_t k = 0; k < j->ninc; k++) {
        const flat_incidence *i = &f->incidence.at[j->inc0 + k];
        const flat_element *e = i->is_bond ? NULL : &f->element.at[f->port.at[i->index].element];

        if (!e || e->nports != 1 || (e->type != EL_R && e->type != EL_I && e->type != EL_C) ||
            !is_first_report(l, element_at(e)))
            continue;
        diag_warn(l->s, "element-idle", element_at(e), "\"%s\" has no effect: its %s is held at zero", e->name,
                  j->type ? "flow" : "effort");
        diag_note(l->s, element_at(source), "by \"%s\"", source->name);
    }
}

/* ---------------------------------------------------------------- units */

static uint32_t
root(uint32_t *up, uint32_t j)
{
    while (up[j] != j)
        j = up[j] = up[up[j]];
    return j;
}

/* Warns of bonds whose unit cannot be derived although the text states some units: at the first junction of each
 * connected piece. Derived units are stored in the junctions' common variables. */
static void
check_units(struct lint *l)
{
    const flat_model *f = l->f;
    uint32_t *up = bg_calloc(f->junction.n, sizeof *up);
    bool *known = bg_calloc(f->junction.n, sizeof *known), any = false;

    for (uint32_t j = 0; j < f->junction.n; j++)
        up[j] = j;
    for (size_t b = 0; b < f->bond.n; b++)
        up[root(up, f->bond.at[b].from)] = root(up, f->bond.at[b].to);
    for (uint32_t j = 0; j < f->junction.n; j++) {
        bool has = f->junction.at[j].domain || var_unit(f, f->junction.at[j].common);

        for (uint32_t k = 0; k < f->junction.at[j].ninc && !has; k++) {
            const flat_incidence *i = &f->incidence.at[f->junction.at[j].inc0 + k];

            has = !i->is_bond && (var_unit(f, f->port.at[i->index].e) || var_unit(f, f->port.at[i->index].f));
        }
        known[root(up, j)] |= has;
        any = any || has;
    }
    for (uint32_t j = 0; j < f->junction.n && any; j++) {
        const flat_junction *x = &f->junction.at[j];

        if (known[root(up, j)] || x->implicit || !x->ninc)
            continue;
        known[root(up, j)] = true;
        if (is_first_report(l, x->at)) {
            diag_warn(l->s, "unit-lost", x->at,
                      "no unit is known for the bonds at \"%s\", so their units are not "
                      "checked",
                      x->name);
            diag_help(l->s, "One unit there is enough: of a coefficient, a source or an initial value.");
        }
    }
    free(up);
    free(known);
}

void
lint_model(const flat_model *f, const ast_file *file)
{
    struct lint l = { .f = f, .s = f->sources, .file = file->file };

    for (uint32_t j = 0; j < f->junction.n; j++)
        note_joined(&l, j);
    for (uint32_t j = 0; j < f->junction.n; j++)
        lint_junction(&l, j);
    for (size_t e = 0; e < f->element.n; e++) {
        check_held(&l, &f->element.at[e]);
        lint_zero(&l, &f->element.at[e]);
    }
    if (file->units)
        check_units(&l);
    map_free(&l.said);
    map_free(&l.joined);
}

/* ---------------------------------------------------------------- values */

/* Names that are read: as the first name of a path within a model, and after a dot anywhere. */
struct reads {
    map first, inner;
};

static void
mark_read(void *ctx, const ast_ref *r)
{
    struct reads *x = ctx;

    for (int k = 0; k < r->nparts; k++) {
        map *m = k ? &x->inner : &x->first;

        map_set(m, bg_hash_bytes(r->part[k].name, strlen(r->part[k].name), 0), 1);
    }
}

static void
note_read_name(void *ctx, const ast_expr *e)
{
    ast_part room;

    if (e->kind == AST_REF) {
        ast_ref ref = ast_expr_ref(e, &room);

        mark_read(ctx, &ref);
    }
}

static bool
parameter_is_read(const struct reads *x, const char *name)
{
    uint64_t key = bg_hash_bytes(name, strlen(name), 0);

    return map_get(&x->first, key) != MAP_NONE || map_get(&x->inner, key) != MAP_NONE;
}

static void
lint_unread(sources *s, const ast_model *m, const struct reads *x)
{
    static const char *const what[] = { [AST_PARAMETER] = "parameter",
                                        [AST_CONSTANT] = "constant",
                                        [AST_SIGNAL] = "signal",
                                        [AST_INPUT] = "input" };
    bool component = ast_is_component(m);

    for (int i = 0; i < m->nstmt; i++) {
        const ast_stmt *v = m->stmt[i];

        if (v->kind != AST_STMT_VALUE || v->value.kind == AST_OUTPUT || parameter_is_read(x, v->value.name) ||
            (component && v->value.kind == AST_SIGNAL))
            continue;
        diag_warn(s, "value-unread", v->value.name_at, "nothing reads %s \"%s\"", what[v->value.kind], v->value.name);
    }
}

/* An output that shows a signal of the same name reads it. */
static void
note_outputs(const ast_model *m, struct reads *x)
{
    for (int i = 0; i < m->nstmt; i++)
        if (m->stmt[i]->kind == AST_STMT_VALUE && m->stmt[i]->value.kind == AST_OUTPUT && !m->stmt[i]->value.value)
            map_set(&x->first, bg_hash_bytes(m->stmt[i]->value.name, strlen(m->stmt[i]->value.name), 0), 1);
}

void
lint_values(sources *s, const ast_file *file)
{
    struct reads x = { 0 };

    ast_visit_file(file, note_read_name, &x);
    for (size_t i = 0; i < file->ndecls; i++)
        if (file->decl[i].kind == AST_DECL_MODEL)
            note_outputs(file->decl[i].model, &x);
    for (size_t i = 0; i < file->ndecls; i++)
        if (file->decl[i].kind == AST_DECL_MODEL)
            lint_unread(s, file->decl[i].model, &x);
    map_free(&x.first);
    map_free(&x.inner);
}
