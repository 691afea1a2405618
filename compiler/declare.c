/* declare.c - the names of a file and of a model, and what they stand for
 *
 * provides  values with their variables, junctions and elements of the flat model without bonds
 * reports   names declared twice, unknown types, shadowing, and constructs that are not built yet
 */
#include <string.h>

#include "elab.h"

/* ---------------------------------------------------------------- element types */

static const struct type_row { const char *name; bool junction; uint8_t junction_type; enum element_type element; bool modulated; } types[] = {
    { "0", true, 0, EL_SE, false },    { "1", true, 1, EL_SE, false },
    { "Se", false, 0, EL_SE, false },  { "Sf", false, 0, EL_SF, false },  { "R", false, 0, EL_R, false },
    { "C", false, 0, EL_C, false },    { "I", false, 0, EL_I, false },    { "TF", false, 0, EL_TF, false },
    { "GY", false, 0, EL_GY, false },  { "MSe", false, 0, EL_SE, true },  { "MSf", false, 0, EL_SF, true },
    { "MR", false, 0, EL_R, true },    { "MC", false, 0, EL_C, true },    { "MI", false, 0, EL_I, true },
    { "MTF", false, 0, EL_TF, true },  { "MGY", false, 0, EL_GY, true },
};
enum { NTYPES = sizeof types / sizeof *types };

static const struct type_row *
find_type(const char *name)
{
    for (int k = 0; k < NTYPES; k++)
        if (!strcmp(types[k].name, name))
            return &types[k];
    return NULL;
}

static void
unknown_type(elab *el, const ast_node *written)
{
    const char **list, *near;
    size_t n = 0;

    if (map_get(&el->models, map_ptr_key(written->type)) != MAP_NONE) {
        not_built(el, written->at, "components (models with ports, used in others) are");
        return;
    }
    if (el->incomplete)
        return;
    diag_error(el->s, "type-unknown", written->type_at, "there is no element type or model called \"%s\"", written->type);
    if (errors_are_many(el))
        return;
    list = bg_calloc(NTYPES + el->file->ndecls, sizeof *list);
    for (int k = 0; k < NTYPES; k++)
        list[n++] = types[k].name;
    for (size_t k = 0; k < el->file->ndecls; k++)
        if (el->file->decl[k].kind == AST_DECL_MODEL)
            list[n++] = el->file->decl[k].model->name;
    near = nearest_name(written->type, list, n);
    if (near)
        diag_help(el->s, "Did you mean \"%s\"?", near);
    free(list);
}

/* ---------------------------------------------------------------- declarations */

static void
declare_value(elab *el, scope *in, const ast_stmt *s)
{
    value v = { .kind = s->value.kind, .name = s->value.name, .at = s->value.name_at, .in = in, .stmt = s, .expr = s->value.value };
    const ast_expr *e = s->value.value;
    uint32_t before = map_get(&el->values, scope_key(in, v.name)), outer;
    flat_var *x;

    if (before != MAP_NONE) {
        said_twice(el, v.at, v.name, el->value.at[before].at);
        return;
    }
    if (s->value.nsize) {
        not_built(el, s->value.size[0]->at, "arrays are");
        map_set(&el->refused, scope_key(in, v.name), 1);
    }
    outer = in->parent ? find_value(el, in->parent, v.name) : NONE;
    if (outer != NONE) {
        diag_info(el->s, "name-shadow", v.at, "in this model, \"%s\" is not the constant of that name", v.name);
        diag_note(el->s, el->value.at[outer].at, "the constant is declared here");
    }
    /* the unit of the name, or of a value that is one number: m = 267 [kg] */
    if (s->value.unit) {
        v.declared = read_unit(el, s->value.unit);
    } else if (e && e->kind == AST_NUMBER) {
        v.declared = read_unit(el, e->number.unit);
    } else if (e && e->kind == AST_NEG && e->un.a->kind == AST_NUMBER) {
        v.declared = read_unit(el, e->un.a->number.unit);
    }
    v.var = flat_add_var(el->f, v.kind == AST_SIGNAL || v.kind == AST_OUTPUT ? VAR_SIGNAL : VAR_PARAM, NONE, v.name, v.at);
    x = &el->f->var.at[v.var];
    x->display = v.declared;
    x->unit = v.declared ? unit_dimension(v.declared) : NULL;
    map_set(&el->values, scope_key(in, v.name), (uint32_t)el->value.n);
    vec_push(&el->value, v);
}

static bool
declare_part(elab *el, scope *in, part p)
{
    uint32_t before = map_get(&el->parts, scope_key(in, p.name));

    if (before != MAP_NONE) {
        said_twice(el, p.at, p.name, el->part.at[before].at);
        return false;
    }
    map_set(&el->parts, scope_key(in, p.name), (uint32_t)el->part.n);
    vec_push(&el->part, p);
    return true;
}

/* What a node can carry and this compiler does not build. */
static bool
refuse_unbuilt_node(elab *el, const ast_node *written)
{
    if (refuse_unbuilt_ref(el, &written->ref))
        return true;
    for (int k = 0; k < written->nitems; k++) {
        if (written->item[k].kind == AST_LAW_PORT) {
            not_built(el, written->item[k].at, "fields (elements with ports of their own) are");
            return true;
        }
    }
    if (written->domain)
        not_built(el, written->domain_at, "domains are");
    else if (written->nwithout)
        not_built(el, written->at, "components are");
    else
        return false;
    return true;
}

/* The row of a node's type, or NULL after saying why it cannot be declared. */
static const struct type_row *
declarable(elab *el, const ast_node *written)
{
    const struct type_row *type = find_type(written->type);

    if (!type) {
        unknown_type(el, written);
        return NULL;
    }
    if (refuse_unbuilt_node(el, written))
        return NULL;
    if (written->nargs) {
        diag_error(el->s, "type-arguments", written->args_at, "%s:%s takes no arguments in parentheses; only components do", written->type,
                   written->ref.part[0].name);
        return NULL;
    }
    return type;
}

static void
declare_node(elab *el, scope *in, const ast_stmt *s, const ast_node *written)
{
    flat_model *f = el->f;
    const struct type_row *type;
    span at;
    const char *name;

    if (!written->type)
        return;
    type = declarable(el, written);
    name = written->ref.part[0].name;
    at = span_join(written->type_at, written->ref.at);
    if (!type) {
        map_set(&el->refused, scope_key(in, name), 1);
        return;
    }
    if (type->junction) {
        if (!declare_part(el, in, (part){ .kind = PART_JUNCTION, .name = name, .at = at, .index = (uint32_t)f->junction.n }))
            return;
        vec_push(&f->junction, ((flat_junction){ .type = type->junction_type, .name = name, .at = at, .stmt = s, .node = written }));
        f->junction.at[f->junction.n - 1].common = flat_add_var(f, VAR_COMMON, (uint32_t)f->junction.n - 1,
                                                                arena_format(el->a, "%s.%s", name, type->junction_type ? "f" : "e"), at);
    } else {
        if (!declare_part(el, in, (part){ .kind = PART_ELEMENT, .name = name, .at = at, .index = (uint32_t)f->element.n }))
            return;
        vec_push(&f->element, ((flat_element){ .type = type->element, .modulated = type->modulated, .name = name, .at = at, .stmt = s, .node = written,
                                               .parent = NONE }));
    }
}

/* Declares a statement's names. nlinks counts the bonds of the text: a named one is declared before it is made. */
static void
declare_stmt(elab *el, scope *in, const ast_stmt *s, uint32_t *nlinks)
{
    switch (s->kind) {
    case AST_STMT_VALUE:
        declare_value(el, in, s);
        break;
    case AST_STMT_CHAIN:
        for (int k = 0; k < s->chain.nnodes; k++)
            declare_node(el, in, s, &s->chain.node[k]);
        if (s->chain.bond && s->chain.nnodes != 2) {
            diag_error(el->s, "bond-name", s->chain.as_at, "\"as\" names one bond; here are %d", s->chain.nnodes - 1);
            diag_help(el->s, "Give the bond to be named a statement of its own.");
        } else if (s->chain.bond) {
            declare_part(el, in, (part){ .kind = PART_BOND, .name = s->chain.bond, .at = s->chain.bond_at, .index = *nlinks });
        }
        *nlinks += (uint32_t)s->chain.nnodes - 1;
        break;
    case AST_STMT_PORT:
        not_built(el, s->at, "ports of a model (components) are");
        el->incomplete = true;
        break;
    case AST_STMT_FOR:
        not_built(el, s->at, "for loops are");
        el->incomplete = true;
        break;
    case AST_STMT_IF:
        not_built(el, s->at, "if statements are");
        el->incomplete = true;
        break;
    case AST_STMT_WITHOUT:
        not_built(el, s->at, "without statements are");
        break;
    case AST_STMT_WHEN:
        not_built(el, s->at, "when statements are");
        break;
    }
}

static void
declare_top(elab *el, map *into, const char *name, span at, uint32_t decl, span before)
{
    if (map_get(into, map_ptr_key(name)) != MAP_NONE)
        said_twice(el, at, name, before);
    else
        map_set(into, map_ptr_key(name), decl);
}

static void
declare_function(elab *el, const ast_function *ast)
{
    uint32_t before = map_get(&el->functions, map_ptr_key(ast->name));
    user_function f = { .ast = ast, .nargs = (uint32_t)ast->nargs, .root = NODE_NONE };

    if (before != MAP_NONE) {
        said_twice(el, ast->name_at, ast->name, el->function.at[before].ast->name_at);
        return;
    }
    f.arg_unit = arena_new_array(el->a, const unit *, f.nargs + 1);
    map_set(&el->functions, map_ptr_key(ast->name), (uint32_t)el->function.n);
    vec_push(&el->function, f);
}

void
declare_file(elab *el)
{
    for (uint32_t k = 0; k < el->file->ndecls; k++) {
        const ast_decl *d = &el->file->decl[k];
        uint32_t before;

        switch (d->kind) {
        case AST_DECL_MODEL:
            before = map_get(&el->models, map_ptr_key(d->model->name));
            if (find_type(d->model->name))
                diag_error(el->s, "name-reserved", d->model->name_at, "\"%s\" is the name of an element type", d->model->name);
            declare_top(el, &el->models, d->model->name, d->model->name_at, k,
                        before != MAP_NONE ? el->file->decl[before].model->name_at : SPAN_NONE);
            break;
        case AST_DECL_EXPERIMENT:
            before = map_get(&el->experiments, map_ptr_key(d->experiment->name));
            declare_top(el, &el->experiments, d->experiment->name, d->experiment->name_at, k,
                        before != MAP_NONE ? el->file->decl[before].experiment->name_at : SPAN_NONE);
            break;
        case AST_DECL_FUNCTION:
            declare_function(el, d->function);
            break;
        case AST_DECL_CONSTANT:
            declare_value(el, &el->file_scope, d->constant);
            break;
        case AST_DECL_DOMAIN:
            not_built(el, d->domain->at, "domains are");
            el->incomplete = true;
            break;
        case AST_DECL_IMPORT:
            not_built(el, d->import->at, "imports are");
            el->incomplete = true;
            break;
        }
    }
}

void
declare_model(elab *el, scope *in, const ast_model *m)
{
    uint32_t nlinks = 0;

    if (m->nsize)
        not_built(el, span_join(m->size[0].at, m->size[m->nsize - 1].at), "models with sizes, as in model truck(n = 10), are");
    for (int k = 0; k < m->nstmt; k++)
        declare_stmt(el, in, m->stmt[k], &nlinks);
}
