/* declare.c - the names of a file and of a model, and what they stand for
 *
 * Loops, conditions of statements and components are written out here: each statement is looked at once in every place
 * where it is made.
 *
 * provides  values with their variables, junctions and elements of the flat model without bonds; the chains of bonds
 *           and what `without` names, to be looked up when all names are there
 * reports   names declared twice, unknown types, shadowing, sizes that are not known or too large, components within
 *           themselves
 * time      linear in what is made
 */
#include <math.h>
#include <string.h>

#include "elab.h"

/* ---------------------------------------------------------------- element types */

static const struct type_row {
    const char *name;
    bool junction;
    uint8_t junction_type;
    enum element_type element;
    bool modulated;
} types[] = { { "0", true, 0, EL_SE, false },   { "1", true, 1, EL_SE, false },   { "Se", false, 0, EL_SE, false },
              { "Sf", false, 0, EL_SF, false }, { "R", false, 0, EL_R, false },   { "C", false, 0, EL_C, false },
              { "I", false, 0, EL_I, false },   { "TF", false, 0, EL_TF, false }, { "GY", false, 0, EL_GY, false },
              { "MSe", false, 0, EL_SE, true }, { "MSf", false, 0, EL_SF, true }, { "MR", false, 0, EL_R, true },
              { "MC", false, 0, EL_C, true },   { "MI", false, 0, EL_I, true },   { "MTF", false, 0, EL_TF, true },
              { "MGY", false, 0, EL_GY, true } };
enum { NTYPES = sizeof types / sizeof *types, SHOWN_ARGUMENTS = 10 /* named in a message */ };

static const struct type_row *
find_type(const char *name)
{
    for (int k = 0; k < NTYPES; k++)
        if (!strcmp(types[k].name, name))
            return &types[k];
    return NULL;
}

static void
unknown_type(elab *el, scope *in, const ast_node *written)
{
    const char **list, *near;
    size_t n = 0, all = NTYPES;
    const module *m = &el->module.at[in->module];

    if (el->incomplete)
        return;
    diag_error(el->s, "type-unknown", written->type_at, "there is no element type or model called \"%s\"",
               written->type);
    if (errors_are_many(el))
        return;
    for (size_t i = 0; i <= m->import.n; i++)
        all += (i < m->import.n ? &el->module.at[m->import.at[i]] : m)->file->ndecls;
    list = bg_calloc(all, sizeof *list);
    for (int k = 0; k < NTYPES; k++)
        list[n++] = types[k].name;
    for (size_t i = 0; i <= m->import.n; i++) {
        const ast_file *file = (i < m->import.n ? &el->module.at[m->import.at[i]] : m)->file;

        for (size_t k = 0; k < file->ndecls; k++)
            if (file->decl[k].kind == AST_DECL_MODEL)
                list[n++] = file->decl[k].model->name;
    }
    near = nearest_name(written->type, list, n);
    if (habit_type(written->type))
        diag_help(el->s, "%s", habit_type(written->type));
    else if (near)
        diag_help(el->s, "Did you mean \"%s\"?", near);
    else
        diag_help(el->s, "A model of another file or of the library is known after its import, as in: import motors;");
    free(list);
}

/* ---------------------------------------------------------------- values */

/* The unit of the name, or of a value that is one number or matrix: m = 267 [kg] */
static const unit *
stated_unit(elab *el, const ast_stmt *s)
{
    const ast_expr *e = s->value.value;

    if (s->value.unit)
        return read_unit(el, s->value.unit);
    if (e && e->kind == AST_NEG)
        e = e->un.a;
    if (e && e->kind == AST_NUMBER)
        return read_unit(el, e->number.unit);
    return e && e->kind == AST_MATRIX ? read_unit(el, e->matrix.unit) : NULL;
}

/* What stands in the brackets of a declaration: the sizes of an array, or in a loop the indexes of one item. */
static bool
read_brackets(elab *el, scope *in, ast_expr *const *e, int n, const char *what, int32_t *x)
{
    bool fine = true;

    for (int k = 0; k < n; k++) {
        if (!known_index(el, in, e[k], what, &x[k])) {
            fine = false;
        } else if (!in->loop && x[k] < 0) {
            diag_error(el->s, "known-number", e[k]->at, "%s must not be negative; it is %d", what, x[k]);
            fine = false;
        }
    }
    return fine;
}

static void
say_shadow(elab *el, scope *in, const value *v, const char *name)
{
    const scope *file = el->module.at[in->module].scope;
    const known_value *k = find_known(in, name);
    uint32_t outer = in == file ? NONE : own_family(el, file, name, false);

    if (k) {
        said_twice(el, v->at, name, k->at);
        return;
    }
    if (outer == NONE || map_get(&el->shadow_said, map_ptr_key(v->stmt)) != MAP_NONE)
        return;
    map_set(&el->shadow_said, map_ptr_key(v->stmt), 1);
    diag_info(el->s, "name-shadow", v->at, "in this model, \"%s\" is not the constant of that name", name);
    diag_note(el->s, el->family.at[outer].at, "the constant is declared here");
}

static void
make_entries(elab *el, scope *in, value *v, const char *name, const int32_t *idx)
{
    static const uint8_t role[] = { [AST_PARAMETER] = ROLE_PARAMETER,
                                    [AST_CONSTANT] = ROLE_CONSTANT,
                                    [AST_SIGNAL] = ROLE_SIGNAL,
                                    [AST_INPUT] = ROLE_INPUT,
                                    [AST_OUTPUT] = ROLE_OUTPUT };

    for (uint32_t k = 0; k < v->count; k++) {
        int32_t at[2] = { idx[0], idx[1] };
        const char *full = v->name;
        var_id x;

        if (v->rank) {
            at[0] = (int32_t)(v->rank == 1 ? k : k / v->size[1]) + 1;
            at[1] = v->rank == 1 ? 0 : (int32_t)(k % v->size[1]) + 1;
            full = full_name(el, in, name, v->rank, at);
        }
        x = flat_add_var(el->f, v->kind == AST_SIGNAL || v->kind == AST_OUTPUT ? VAR_SIGNAL : VAR_PARAM, NONE, full,
                         v->at);
        if (!k)
            v->var = x;
        el->f->var.at[x].role = role[v->kind];
        el->f->var.at[x].display = v->declared;
        el->f->var.at[x].unit = v->declared ? unit_dimension(v->declared) : NULL;
    }
}

/* `output NAME [unit];` shows a signal or input of that name. */
static void
show_signal(elab *el, const shown_made *x)
{
    const ast_stmt *s = x->stmt;
    const char *name = s->value.name;
    int32_t at[2] = { 0, 0 };
    uint32_t f = own_family(el, x->in, name, false), first, last, entry;
    const family *of = f == NONE ? NULL : &el->family.at[f];

    if (!read_brackets(el, x->in, s->value.size, s->value.nsize, "an index", at))
        return;
    if (!of || !of->n) {
        if (refused_before(el, x->in, name))
            return;
        diag_error(el->s, "value-missing", s->value.name_at, "output \"%s\" has no value, and no signal has its name",
                   name);
        diag_help(el->s, "Write: output %s = ...; or output NAME; for a signal.", name);
        return;
    }
    first = of->first;
    last = of->block ? first : of->first + of->n - 1;
    if (s->value.nsize) {
        first = last = of->block || of->rank != s->value.nsize ? NONE : family_item(el, of, at, &entry);
        if (first == NONE) {
            diag_error(el->s, "index-missing", s->value.name_at, "there is no signal of this name and index");
            return;
        }
    }
    for (uint32_t k = first; k <= last; k++) {
        value *v = &el->value.at[k];

        if (v->in->id != x->in->id || v->stmt->value.name != name)
            continue; /* made between two items of a loop */
        if (v->kind != AST_SIGNAL && v->kind != AST_INPUT) {
            diag_error(el->s, "value-missing", s->value.name_at,
                       "\"%s\" is %s; an output without a value shows a signal or an input", name,
                       v->kind == AST_OUTPUT ? "an output already" : "fixed before the run");
            diag_note(el->s, v->at, "declared here");
            return;
        }
        if (v->shown && s != v->shown) {
            said_twice(el, s->value.name_at, name, v->shown->value.name_at);
            return;
        }
        v->shown = s;
    }
}

void
show_signals(elab *el)
{
    for (size_t k = 0; k < el->shown.n; k++)
        show_signal(el, &el->shown.at[k]);
}

static void
declare_value(elab *el, scope *in, const ast_stmt *s)
{
    const char *name = s->value.name;
    value v = { .kind = s->value.kind,
                .at = s->value.name_at,
                .in = in,
                .stmt = s,
                .expr = s->value.value,
                .expr_in = in,
                .count = 1 };
    uint8_t rank = (uint8_t)s->value.nsize;
    int32_t idx[2] = { 0, 0 };
    bool block = !in->loop && rank,
         fine = read_brackets(el, in, s->value.size, rank, in->loop ? "an index" : "a size", idx);

    if (in->loop && !rank) {
        diag_error(el->s, "loop-index", v.at, "\"%s\" is declared in every round of the loop; it needs an index", name);
        diag_help(el->s, "Write %s[%s].", name, in->known[0].name);
        fine = false;
    }
    if (block) {
        uint64_t n = 1;

        v.rank = rank;
        for (int k = 0; k < rank && fine; k++) {
            v.size[k] = (uint32_t)idx[k];
            n *= v.size[k];
        }
        if (fine && n > MOST_ENTRIES) {
            diag_error(el->s, "model-size", s->value.size[0]->at, "\"%s\" would have %llu entries; the most is %d",
                       name, (unsigned long long)n, MOST_ENTRIES);
            fine = false;
        }
        v.count = (uint32_t)n;
    }
    if (!fine || !may_make_more(el, v.count, v.at)) {
        map_set(&el->refused, scope_key(in, name), 1);
        return;
    }
    if (!enter_name(el, in, false, name, v.at, rank, idx, block, (uint32_t)el->value.n))
        return;
    v.name = full_name(el, in, name, block ? 0 : rank, idx);
    say_shadow(el, in, &v, name);
    v.declared = stated_unit(el, s);
    make_entries(el, in, &v, name, idx);
    vec_push(&el->value, v);
}

/* ---------------------------------------------------------------- parts */

/* A new scope for what stands in an instance or one round of a loop. */
static scope *
new_scope(elab *el, scope x)
{
    scope *s = arena_alloc(el->a, sizeof *s);

    *s = x;
    return s;
}

static void declare_body(elab *el, scope *in, ast_stmt *const *stmt, int n);

/* Sizes of a model: its own, what an instance gives, what is set from outside. */
static void
read_sizes(elab *el, scope *s, const ast_model *m, const ast_node *made)
{
    s->known = arena_new_array(el->a, known_value, m->nsize);
    for (int k = 0; k < m->nsize; k++) {
        const ast_size_param *p = &m->size[k];
        known_value x = { p->name, p->at, 0 };
        const ast_expr *e = p->value;
        scope *in = s;

        for (int i = 0; made && i < made->nargs; i++) {
            if (made->arg[i].name == p->name) {
                e = made->arg[i].value;
                in = s->outer;
            }
        }
        for (uint32_t i = 0; i < s->nknown; i++)
            if (s->known[i].name == p->name)
                said_twice(el, p->at, p->name, s->known[i].at);
        if (!known_number(el, in, e, arena_format(el->a, "size \"%s\"", p->name), false, &x.value, NULL))
            el->incomplete = true;
        if (!made)
            override_size(el, s, &x);
        if (!isfinite(x.value)) {
            diag_error(el->s, "known-number", e->at, "size \"%s\" must be a finite number; it is %s", p->name,
                       isnan(x.value) ? "not a number" : "infinite");
            x.value = 1;
            el->incomplete = true;
        }
        s->known[s->nknown++] = x;
    }
}

/* Components within components: not too deep, and none within itself. */
static bool
may_nest(elab *el, scope *in, const ast_model *m, const ast_node *written)
{
    strbuf chain = { 0 };
    bool again = false;

    if (in->depth >= DEEPEST_COMPONENTS) {
        diag_error(el->s, "component-depth", written->at, "components nest deeper than %d levels", DEEPEST_COMPONENTS);
        return false;
    }
    for (const scope *s = in; s; s = s->loop ? s->parent : s->outer)
        again |= s->model == m && !s->loop;
    if (!again)
        return true;
    strbuf_puts(&chain, m->name);
    for (const scope *s = in; s; s = s->loop ? s->parent : s->outer) {
        char *inner;

        if (s->loop)
            continue;
        inner = bg_format("%s -> %s", s->model->name, chain.at);
        chain.n = 0;
        strbuf_puts(&chain, inner);
        free(inner);
        if (s->model == m)
            break;
    }
    diag_error(el->s, "component-circle", written->at, "a component within itself: %s", chain.at);
    strbuf_free(&chain);
    return false;
}

/* Names the parameters and inputs of a model that was given another. */
static void
help_arguments(elab *el, const scope *inside, const char *model)
{
    strbuf list = { 0 };
    size_t count = 0;

    for (size_t k = 0; k < el->family.n && count <= SHOWN_ARGUMENTS; k++) {
        const family *f = &el->family.at[k];
        if (f->is_part || f->scope != inside->id || !f->n)
            continue;
        const value *v = &el->value.at[f->first];
        if (v->kind != AST_PARAMETER && v->kind != AST_INPUT)
            continue;
        if (count++ < SHOWN_ARGUMENTS)
            strbuf_printf(&list, "%s%s", list.n ? ", " : "", f->name);
    }
    if (count)
        diag_help(el->s, "%s takes %s%s.", model, list.at, count > SHOWN_ARGUMENTS ? ", ..." : "");
    strbuf_free(&list);
}

/* Gives an instance's parameters and inputs their values. */
static void
give_arguments(elab *el, scope *outer, scope *inside, const ast_model *m, const ast_node *written)
{
    for (int k = 0; k < written->nargs; k++) {
        const ast_arg *a = &written->arg[k];
        bool is_size = false, twice = false;
        const char *near;
        uint32_t at;
        value *v;

        for (int i = 0; i < m->nsize; i++)
            is_size |= m->size[i].name == a->name;
        for (int i = 0; i < k; i++)
            twice |= written->arg[i].name == a->name;
        if (twice) {
            diag_error(el->s, "argument-twice", a->name_at, "\"%s\" is given twice", a->name);
            continue;
        }
        if (is_size)
            continue;
        at = own_family(el, inside, a->name, false);
        v = at == NONE || !el->family.at[at].n ? NULL : &el->value.at[el->family.at[at].first];
        if (!v && at == NONE) {
            if (refused_before(el, inside, a->name))
                continue;
            diag_error(el->s, "argument-unknown", a->name_at, "model \"%s\" has no parameter or input called \"%s\"",
                       m->name, a->name);
            near = nearest_value(el, inside, a->name);
            if (near && own_family(el, inside, near, false) != NONE)
                diag_help(el->s, "Did you mean \"%s\"?", near);
            else if (!errors_are_many(el))
                help_arguments(el, inside, m->name);
        } else if (v && v->kind != AST_PARAMETER && v->kind != AST_INPUT) {
            diag_error(el->s, "argument-target", a->name_at,
                       "\"%s\" of model \"%s\" is %s; parameters and inputs can be given", a->name, m->name,
                       v->kind == AST_CONSTANT ? "a constant"
                       : v->kind == AST_SIGNAL ? "a signal"
                                               : "an output");
            diag_note(el->s, v->at, "declared here");
        } else if (v && !el->family.at[at].block && el->family.at[at].rank) {
            diag_error(el->s, "argument-target", a->name_at,
                       "\"%s\" is declared in a loop; its items cannot be given from here", a->name);
            diag_note(el->s, v->at, "declared here");
        } else if (v) {
            v->expr = a->value;
            v->expr_in = outer;
            v->given = true;
        }
    }
}

static void
declare_instance(elab *el, scope *in, uint32_t at, const ast_stmt *s, const ast_node *written, const ast_model *m,
                 uint32_t module_of)
{
    uint32_t origin = (uint32_t)el->f->origin.n;
    const char *name = el->part.at[at].name;
    scope *inside;

    if (!may_nest(el, in, m, written)) {
        el->incomplete = true;
        return;
    }
    vec_push(&el->f->origin, ((flat_origin){ name, s, written, m, 0, in->origin }));
    inside = new_scope(el, (scope){ .id = ++el->nscopes,
                                    .parent = el->module.at[module_of].scope,
                                    .model = m,
                                    .module = module_of,
                                    .prefix = names_intern_z(el->names, arena_format(el->a, "%s.", name)),
                                    .outer = in,
                                    .depth = in->depth + 1,
                                    .origin = origin,
                                    .instance = at });
    el->part.at[at].inside = inside;
    read_sizes(el, inside, m, written);
    declare_body(el, inside, m->stmt, m->nstmt);
    give_arguments(el, in, inside, m, written);
    for (int k = 0; k < written->nwithout; k++)
        vec_push(&el->without, ((without_made){ &written->without[k], inside, in }));
}

/* What a node's type is, after what cannot be there was said. */
struct kind {
    const struct type_row *type;
    const ast_model *model;
    uint32_t module;
};

static bool
declarable(elab *el, scope *in, const ast_node *written, struct kind *k)
{
    k->type = find_type(written->type);
    if (!k->type) {
        k->model = find_model(el, in, written->type, &k->module);
        if (!k->model) {
            unknown_type(el, in, written);
            return false;
        }
        if (import_ambiguous(el, in, written->type, true, written->type_at))
            return false;
        if (written->linear || written->such_that || written->has_block) {
            diag_error(el->s, "component-law", written->at, "\"%s\" is a component; it has no law of its own",
                       written->ref.part[0].name);
            diag_help(el->s, "Its parameters and inputs are given in parentheses: %s:%s(k = 2).", written->type,
                      written->ref.part[0].name);
            return false;
        }
        if (written->domain) {
            diag_error(el->s, "domain-element", written->domain_at,
                       "what bonds carry is said of a junction, not of a component");
            return false;
        }
        return true;
    }
    if (written->args_at.end > written->args_at.begin && span_known(written->args_at) && written->nargs) {
        diag_error(el->s, "type-arguments", written->args_at,
                   "only components take arguments in parentheses, and %s is an element", written->type);
        diag_help(el->s, "Write %s:%s = ....", written->type, written->ref.part[0].name);
        return false;
    }
    if (written->nwithout) {
        diag_error(el->s, "component-law", written->at, "\"without\" takes parts out of a component; %s:%s has none",
                   written->type, written->ref.part[0].name);
        return false;
    }
    if (written->domain && !k->type->junction) {
        diag_error(el->s, "domain-element", written->domain_at, "what bonds carry is said of a junction, not of %s:%s",
                   written->type, written->ref.part[0].name);
        diag_help(el->s, "Write it behind the junction it is on, as in 0:node in %s;", written->domain);
    }
    return true;
}

static void
make_part(elab *el, scope *in, const struct kind *k, const ast_stmt *s, const ast_node *written, uint8_t rank,
          const int32_t *idx, bool is_port)
{
    part p = { .kind = k->model            ? PART_INSTANCE
                       : k->type->junction ? PART_JUNCTION
                                           : PART_ELEMENT,
               .in = in,
               .stmt = s,
               .node = written,
               .name = full_name(el, in, written->ref.part[0].name, rank, idx),
               .at = span_join(written->type_at, written->ref.at),
               .port = is_port,
               .index = NONE };

    if (k->type) {
        p.junction = k->type->junction_type;
        p.element = k->type->element;
        p.modulated = k->type->modulated;
        for (int i = 0; i < written->nitems; i++)
            p.field |= written->item[i].kind == AST_LAW_PORT && p.kind == PART_ELEMENT;
    }
    if (is_port) {
        if (in->nports < 2)
            in->port[in->nports] = (uint32_t)el->part.n;
        in->nports++;
    }
    vec_push(&el->part, p);
}

/* alone: the node is the whole statement, and brackets outside of a loop say how many of it there are. */
static void
declare_node(elab *el, scope *in, const ast_stmt *s, const ast_node *written, bool alone, bool is_port)
{
    const ast_part *name = &written->ref.part[0];
    uint8_t rank = (uint8_t)name->nindex;
    bool block = rank && !in->loop, fine;
    ast_expr *bracket[2] = { NULL, NULL };
    int32_t idx[2] = { 0, 0 }, i[2] = { 0, 0 };
    struct kind kind = { NULL, NULL, 0 };
    uint64_t n = 1;
    uint32_t first = (uint32_t)el->part.n;

    if (!written->type)
        return;
    fine = declarable(el, in, written, &kind);
    for (int k = 0; k < rank; k++) {
        bracket[k] = name->index[k].from;
        if (name->index[k].to) {
            diag_error(el->s, "declare-range", name->index_at,
                       "a declaration says how many there are, as in %s:%s[10], not a range", written->type,
                       name->name);
            fine = false;
        }
    }
    if (fine && in->loop && !rank && kind.type && kind.type->junction) {
        /* one junction for all rounds, which the first declares */
        while (in->loop)
            in = in->parent;
        first = own_family(el, in, name->name, true);
        if (first != NONE && el->family.at[first].n && el->part.at[el->family.at[first].first].node == written)
            return;
        first = (uint32_t)el->part.n;
    } else if (fine && in->loop && !rank) {
        diag_error(el->s, "loop-index", written->ref.at,
                   "\"%s\" is declared in every round of the loop; it needs an index", name->name);
        diag_help(el->s, "Write %s:%s[%s].", written->type, name->name, in->known[0].name);
        fine = false;
    }
    if (fine && block && !alone) {
        diag_error(el->s, "declare-chain", written->ref.at, "\"%s\" would be an array; bonds join its items one by one",
                   name->name);
        diag_help(el->s, "Declare it in a statement of its own, or in a loop: for i in 1..%s { ... %s:%s[i] ... }",
                  text_of(el, name->index[0].from->at), written->type, name->name);
        fine = false;
    }
    fine = fine && read_brackets(el, in, bracket, rank, block ? "a size" : "an index", idx);
    for (int k = 0; k < rank && block && fine; k++)
        n *= (uint64_t)idx[k];
    if (!fine || !may_make_more(el, n, written->ref.at)) {
        map_set(&el->refused, scope_key(in, name->name), 1);
        return;
    }
    if (!enter_name(el, in, true, name->name, span_join(written->type_at, written->ref.at), rank, idx, block, first))
        return;
    for (uint64_t k = 0; k < n; k++) {
        if (block && rank == 1) {
            i[0] = (int32_t)k + 1;
        } else if (block) {
            i[0] = (int32_t)(k / (uint64_t)idx[1]) + 1;
            i[1] = (int32_t)(k % (uint64_t)idx[1]) + 1;
        }
        make_part(el, in, &kind, s, written, rank, block ? i : idx, is_port);
    }
    for (uint32_t k = 0; k < n && kind.model && !el->made_too_much; k++)
        declare_instance(el, in, first + k, s, written, kind.model, kind.module);
}

static void
declare_chain(elab *el, scope *in, const ast_stmt *s)
{
    chain_made c = { s, in, NONE };

    for (int k = 0; k < s->chain.nnodes; k++)
        declare_node(el, in, s, &s->chain.node[k], s->chain.nnodes == 1, false);
    if (s->chain.bond && s->chain.nnodes != 2) {
        diag_error(el->s, "bond-name", s->chain.as_at, "\"as\" names one bond; here are %d", s->chain.nnodes - 1);
        diag_help(el->s, "Give the bond to be named a statement of its own.");
    } else if (s->chain.bond && in->loop) {
        diag_error(el->s, "bond-name", s->chain.as_at, "\"as\" names one bond; a loop makes it in every round");
        diag_help(el->s, "Read an element or junction at its ends instead.");
    } else if (s->chain.bond && enter_name(el, in, true, s->chain.bond, s->chain.bond_at, 0, (int32_t[]){ 0, 0 }, false,
                                           (uint32_t)el->part.n)) {
        c.bond = (uint32_t)el->part.n;
        vec_push(&el->part, ((part){ .kind = PART_BOND,
                                     .name = full_name(el, in, s->chain.bond, 0, NULL),
                                     .at = s->chain.bond_at,
                                     .in = in,
                                     .index = NONE }));
    }
    if (may_make_more(el, s->chain.nnodes > 1 ? (uint64_t)s->chain.nnodes - 1 : 1, s->at))
        vec_push(&el->chain, c);
}

/* ---------------------------------------------------------------- loops and conditions */

static void
declare_loop(elab *el, scope *in, const ast_stmt *s)
{
    int64_t from, to;
    uint32_t outer = find_value(el, in, s->loop.var);
    const known_value *before = find_known(in, s->loop.var);
    span range = span_join(s->loop.from->at, s->loop.to->at);

    if (!known_integer(el, in, s->loop.from, "the begin of a loop", &from) ||
        !known_integer(el, in, s->loop.to, "the end of a loop", &to)) {
        el->incomplete = true;
        return;
    }
    if ((outer != NONE || before) && map_get(&el->shadow_said, map_ptr_key(s)) == MAP_NONE) {
        map_set(&el->shadow_said, map_ptr_key(s), 1);
        diag_info(el->s, "name-shadow", s->loop.var_at, "in this loop, \"%s\" is its variable, not the %s of that name",
                  s->loop.var, before ? "number" : "value");
        diag_note(el->s, before ? before->at : el->value.at[outer].at, "declared here");
    }
    if (to < from)
        return;
    if (to - from >= MOST_MADE) {
        diag_error(el->s, "model-size", range,
                   "this loop would run %lld times; a model has at most %d rounds and parts",
                   (long long)(to - from) + 1, MOST_MADE);
        el->incomplete = true;
        return;
    }
    if (from < -MOST_MADE || to > MOST_MADE) {
        diag_error(el->s, "model-size", range, "indexes go up to %d", MOST_MADE);
        el->incomplete = true;
        return;
    }
    if (!may_make_more(el, (uint64_t)(to - from) + 1, range))
        return;
    for (int64_t i = from; i <= to && !el->made_too_much && !errors_are_many(el); i++) {
        scope *round = new_scope(el, *in);

        round->parent = in;
        round->loop = true;
        round->nknown = 1;
        round->known = arena_new_array(el->a, known_value, 1);
        round->known[0] = (known_value){ s->loop.var, s->loop.var_at, (double)i };
        round->origin = (uint32_t)el->f->origin.n;
        vec_push(&el->f->origin, ((flat_origin){ NULL, s, NULL, NULL, (int32_t)i, in->origin }));
        declare_body(el, round, s->loop.body, s->loop.n);
    }
}

static void
declare_ports(elab *el, scope *in, const ast_stmt *s)
{
    if (in->loop) {
        diag_error(el->s, "port-loop", s->at, "ports are declared outside of loops: they belong to the model");
        diag_help(el->s, "An array of ports says how many: port 1:hub[3];");
        return;
    }
    for (int k = 0; k < s->port.n; k++)
        declare_node(el, in, s, &s->port.junction[k], true, true);
}

static void
declare_stmt(elab *el, scope *in, const ast_stmt *s)
{
    double x;

    switch (s->kind) {
    case AST_STMT_VALUE:
        if (s->value.kind != AST_OUTPUT || s->value.value)
            declare_value(el, in, s);
        else if (may_make_more(el, 1, s->at))
            vec_push(&el->shown, ((shown_made){ s, in }));
        break;
    case AST_STMT_CHAIN: declare_chain(el, in, s); break;
    case AST_STMT_PORT: declare_ports(el, in, s); break;
    case AST_STMT_FOR: declare_loop(el, in, s); break;
    case AST_STMT_IF:
        if (!known_number(el, in, s->cond.cond, "the condition of an if statement", false, &x, NULL))
            el->incomplete = true;
        else if (x != 0)
            declare_body(el, in, s->cond.then, s->cond.nthen);
        else
            declare_body(el, in, s->cond.other, s->cond.nother);
        break;
    case AST_STMT_WITHOUT:
        for (int k = 0; k < s->without.n && may_make_more(el, 1, s->at); k++)
            vec_push(&el->without, ((without_made){ &s->without.ref[k], in, in }));
        break;
    case AST_STMT_WHEN:
        if (may_make_more(el, 1, s->at))
            vec_push(&el->when, ((pending_when){ in, s }));
        break;
    }
}

/* Constants first: sizes below may read them, wherever they stand. */
static void
declare_body(elab *el, scope *in, ast_stmt *const *stmt, int n)
{
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < n; k++)
            if ((stmt[k]->kind == AST_STMT_VALUE && stmt[k]->value.kind == AST_CONSTANT) == (pass == 0))
                declare_stmt(el, in, stmt[k]);
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
declare_function(elab *el, module *m, const ast_function *ast)
{
    uint32_t before = map_get(&m->functions, map_ptr_key(ast->name));
    user_function f = { .ast = ast, .in = m->scope, .nargs = (uint32_t)ast->nargs, .root = NODE_NONE };

    if (before != MAP_NONE) {
        said_twice(el, ast->name_at, ast->name, el->function.at[before].ast->name_at);
        return;
    }
    f.arg_unit = arena_new_array(el->a, const unit *, f.nargs + 1);
    map_set(&m->functions, map_ptr_key(ast->name), (uint32_t)el->function.n);
    vec_push(&el->function, f);
}

/* main: the file itself, whose experiments can be run. */
static void
declare_module(elab *el, module *m, bool main)
{
    const ast_file *file = m->file;
    const elaborate_index *known = main && el->opt->index && el->opt->index->known ? el->opt->index : NULL;
    size_t n = known ? known->others.n : file->ndecls;

    if (known) {
        m->models = known->models;
        el->experiments = known->experiments;
        el->index_lent = true;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = known ? known->others.at[i] : i, before;
        const ast_decl *d = &file->decl[k];

        switch (d->kind) {
        case AST_DECL_MODEL:
            before = map_get(&m->models, map_ptr_key(d->model->name));
            if (find_type(d->model->name))
                diag_error(el->s, "name-reserved", d->model->name_at, "\"%s\" is the name of an element type",
                           d->model->name);
            declare_top(el, &m->models, d->model->name, d->model->name_at, k,
                        before != MAP_NONE ? file->decl[before].model->name_at : SPAN_NONE);
            break;
        case AST_DECL_EXPERIMENT:
            if (!main)
                break;
            before = map_get(&el->experiments, map_ptr_key(d->experiment->name));
            declare_top(el, &el->experiments, d->experiment->name, d->experiment->name_at, k,
                        before != MAP_NONE ? file->decl[before].experiment->name_at : SPAN_NONE);
            break;
        case AST_DECL_FUNCTION: declare_function(el, m, d->function); break;
        case AST_DECL_CONSTANT: declare_value(el, m->scope, d->constant); break;
        case AST_DECL_DOMAIN:
            before = (uint32_t)el->function.n;
            declare_domain(el, d->domain);
            for (size_t j = before; j < el->function.n; j++)
                el->function.at[j].in = m->scope; /* of its power */
            break;
        case AST_DECL_IMPORT: break; /* loaded before */
        }
    }
}

/* What is imported comes first: sizes of arrays may read its constants. */
void
declare_files(elab *el)
{
    for (size_t k = el->module.n; k-- > 0;)
        declare_module(el, &el->module.at[k], k == 0);
}

void
declare_model(elab *el, scope *in, const ast_model *m)
{
    read_sizes(el, in, m, NULL);
    declare_body(el, in, m->stmt, m->nstmt);
}
