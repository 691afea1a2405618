/* declare.c - names of a file and of a model, and what they denote
 *
 * Loops, conditional statements and components are expanded here: each statement is processed once for every place
 * where it is made.
 *
 * provides  values with their variables, junctions and elements of the flat model without bonds; the chains of bonds
 *           and the lists of `without`, to be resolved when all names are declared
 * reports   names declared twice, unknown types, shadowing, sizes that are unknown or too large, components within
 *           themselves
 * time      linear in what is made
 */

#include "declare_inside.h"

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
        return read_unit(el, ast_number_unit(e));
    return e && e->kind == AST_MATRIX ? read_unit(el, e->matrix.unit) : NULL;
}

bool
declare_read_brackets(elab *el, scope *in, ast_expr *const *e, int n, const char *what, int32_t *x)
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
    known_value k;
    uint32_t outer = in == file ? NONE : own_family(el, file, name, false);

    if (find_known(in, name, &k)) {
        said_twice(el, v->at, name, k.at);
        return;
    }
    if (outer == NONE || map_get(&el->shadow_said, map_ptr_key(v->stmt)) != MAP_NONE)
        return;
    map_set(&el->shadow_said, map_ptr_key(v->stmt), 1);
    diag_info(el->s, "name-shadow", v->at, "in this model, \"%s\" is not the constant of that name", name);
    diag_note(el->s, family_at(el, outer), "the constant is declared here");
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
        var_say(el->f, x)->display = v->declared;
        var_set_unit(el->f, x, v->declared ? unit_dimension(v->declared) : NULL);
    }
}

/* `output NAME [unit];` makes the signal or input of that name an output. */
static void
show_signal(elab *el, const shown_made *x)
{
    const ast_stmt *s = x->stmt;
    const char *name = s->value.name;
    int32_t at[2] = { 0, 0 };
    uint32_t f = own_family(el, x->in, name, false), first, last, entry;
    const family *of = f == NONE ? NULL : &el->family.at[f];

    if (!declare_read_brackets(el, x->in, s->value.size, s->value.nsize, "an index", at))
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
        first = last = of->block || of->rank != s->value.nsize ? NONE : family_item(el, f, at, &entry);
        if (first == NONE) {
            diag_error(el->s, "index-missing", s->value.name_at, "there is no signal of this name and index");
            return;
        }
    }
    for (uint32_t k = first; k <= last; k++) {
        value *v = &el->value.at[k];

        if (v->in->id != x->in->id || v->stmt->value.name != name)
            continue; /* lies between two items of a loop */
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

void
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
         fine = declare_read_brackets(el, in, s->value.size, rank, in->loop ? "an index" : "a size", idx);

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
    v.unread = s->value.unit && !v.declared;
    make_entries(el, in, &v, name, idx);
    vec_push(&el->value, v);
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
            if (declare_find_type(d->model->name))
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
                el->function.at[j].in = m->scope; /* the function of its power */
            break;
        case AST_DECL_IMPORT: break; /* loaded before */
        }
    }
}

/* Imported files come first: sizes of arrays may read their constants. */
void
declare_files(elab *el)
{
    for (size_t k = el->module.n; k-- > 0;)
        declare_module(el, &el->module.at[k], k == 0);
}

void
declare_model(elab *el, scope *in, const ast_model *m)
{
    declare_read_sizes(el, in, m, NULL);
    declare_body(el, in, m->stmt, m->nstmt);
}
