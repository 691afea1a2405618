/* declare_parts.c - parts of a model: nodes, instances; expansion of loops and conditions */
#include <math.h>
#include <string.h>

#include "declare_inside.h"

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
enum { NTYPES = sizeof types / sizeof *types, SHOWN_ARGUMENTS = 10 /* listed in a message */ };

const struct type_row *
declare_find_type(const char *name)
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

    if (el->incomplete || told_before(el, CAUSE_TYPE, map_ptr_key(m->file), map_ptr_key(written->own->type)))
        return;
    diag_error(el->s, "type-unknown", ast_type_at(written), "there is no element type or model called \"%s\"",
               written->own->type);
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
    near = nearest_name(written->own->type, list, n);
    if (habit_type(written->own->type))
        diag_help(el->s, "%s", habit_type(written->own->type));
    else if (near)
        diag_help(el->s, "Did you mean \"%s\"?", near);
    else
        diag_help(el->s, "A model of another file or of the library is known after its import, as in: import motors;");
    free(list);
}

/* ---------------------------------------------------------------- parts */

/* A new scope for an instance or an iteration of a loop. */
static scope *
new_scope(elab *el, scope x)
{
    scope *s = arena_alloc(el->own, sizeof *s);

    *s = x;
    return s;
}

void
declare_read_sizes(elab *el, scope *s, const ast_model *m, const ast_node *made)
{
    s->known = arena_new_array(el->own, known_value, m->nsize);
    for (int k = 0; k < m->nsize; k++) {
        const ast_size_param *p = &m->size[k];
        known_value x = { p->name, p->at, 0 };
        const ast_expr *e = p->value;
        scope *in = s;

        for (int i = 0; made && i < made->own->more->nargs; i++) {
            if (made->own->more->arg[i].name == p->name) {
                e = made->own->more->arg[i].value;
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

/* Checks the nesting of components: limited depth, none within itself. */
static bool
may_nest(elab *el, scope *in, const ast_model *m, const ast_node *written)
{
    strbuf chain = { 0 };
    bool again = false;

    if (in->depth >= DEEPEST_COMPONENTS) {
        diag_error(el->s, "component-depth", ast_node_at(written), "components nest deeper than %d levels",
                   DEEPEST_COMPONENTS);
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
    diag_error(el->s, "component-circle", ast_node_at(written), "a component contains itself: %s", chain.at);
    strbuf_free(&chain);
    return false;
}

/* Lists the parameters and inputs of a model that was given an unknown one. */
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

static bool
is_declared_port(const elab *el, const scope *inside, const char *name)
{
    uint32_t at = own_family(el, inside, name, true);

    return at != NONE && family_of(el, at).n && el->part.at[family_of(el, at).first].port;
}

/* Does argument k repeat a name? met: names so far, for a long list */
static bool
given_before(const ast_more *m, int k, map *met)
{
    enum { FEW = 16 };
    uint64_t key = map_ptr_key(m->arg[k].name);
    bool twice = false;

    if (m->nargs > FEW) {
        twice = map_get(met, key) != MAP_NONE;
        map_set(met, key, 1);
        return twice;
    }
    for (int i = 0; i < k; i++)
        twice |= m->arg[i].name == m->arg[k].name;
    return twice;
}

/* Assigns the arguments to an instance's parameters and inputs. */
static void
give_arguments(elab *el, scope *outer, scope *inside, const ast_model *m, const ast_node *written)
{
    map met = { 0 };

    for (int k = 0; k < written->own->more->nargs; k++) {
        const ast_arg *a = &written->own->more->arg[k];
        bool is_size = false;
        const char *near;
        uint32_t at;
        value *v;

        for (int i = 0; i < m->nsize; i++)
            is_size |= m->size[i].name == a->name;
        if (given_before(written->own->more, k, &met)) {
            diag_error(el->s, "argument-twice", a->name_at, "\"%s\" is given twice", a->name);
            continue;
        }
        if (is_size)
            continue;
        at = own_family(el, inside, a->name, false);
        v = at == NONE || !el->family.at[at].n ? NULL : &el->value.at[el->family.at[at].first];
        if (!v && at == NONE) {
            if (refused_before(el, inside, a->name) ||
                told_before(el, CAUSE_ARGUMENT, map_ptr_key(m), map_ptr_key(a->name)))
                continue;
            diag_error(el->s, "argument-unknown", a->name_at, "model \"%s\" has no parameter or input called \"%s\"",
                       m->name, a->name);
            near = nearest_value(el, inside, a->name);
            if (is_declared_port(el, inside, a->name))
                diag_help(el->s, "It is a port, which a bond joins: `node -> %s.%s`.", ast_node_name(written), a->name);
            else if (near && own_family(el, inside, near, false) != NONE)
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
    map_free(&met);
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
                                    .depth = (uint8_t)(in->depth + 1),
                                    .origin = origin,
                                    .instance = at });
    el->part.at[at].inside = inside;
    declare_read_sizes(el, inside, m, written);
    declare_body(el, inside, m->stmt, m->nstmt);
    give_arguments(el, in, inside, m, written);
    for (int k = 0; k < written->own->more->nwithout; k++)
        vec_push(&el->without, ((without_made){ &written->own->more->without[k], inside, in }));
}

/* The type of a node, after errors in it were reported. */
struct kind {
    const struct type_row *type;
    const ast_model *model;
    uint32_t module;
};

static bool
declarable(elab *el, scope *in, const ast_node *written, struct kind *k)
{
    k->type = declare_find_type(written->own->type);
    if (!k->type) {
        k->model = find_model(el, in, written->own->type, &k->module);
        if (!k->model) {
            unknown_type(el, in, written);
            return false;
        }
        if (import_ambiguous(el, in, written->own->type, true, ast_type_at(written)))
            return false;
        if (written->own->linear || written->own->more->such_that || ast_has_block(written)) {
            diag_error(el->s, "component-law", ast_node_at(written), "\"%s\" is a component; it has no law of its own",
                       ast_node_name(written));
            diag_help(el->s, "Its parameters and inputs are given in parentheses: %s:%s(k = 2).", written->own->type,
                      ast_node_name(written));
            return false;
        }
        if (written->own->more->domain) {
            diag_error(el->s, "domain-element", written->own->more->domain_at,
                       "a domain is declared at a junction, not at a component");
            return false;
        }
        return true;
    }
    if (written->own->more->args_at.end > written->own->more->args_at.begin &&
        span_known(written->own->more->args_at) && written->own->more->nargs) {
        diag_error(el->s, "type-arguments", written->own->more->args_at,
                   "only components take arguments in parentheses, and %s is an element", written->own->type);
        diag_help(el->s, "Write %s:%s = ....", written->own->type, ast_node_name(written));
        return false;
    }
    if (written->own->more->nwithout) {
        diag_error(el->s, "component-law", ast_node_at(written),
                   "\"without\" takes parts out of a component; %s:%s has none", written->own->type,
                   ast_node_name(written));
        return false;
    }
    if (written->own->more->domain && !k->type->junction) {
        diag_error(el->s, "domain-element", written->own->more->domain_at,
                   "a domain is declared at a junction, not at %s:%s", written->own->type, ast_node_name(written));
        diag_help(el->s, "Write it behind the junction it is on, as in 0:node in %s;", written->own->more->domain);
    }
    return true;
}

static void
make_part(elab *el, scope *in, const struct kind *k, const ast_stmt *s, const ast_node *written, uint8_t rank,
          const int32_t *idx, bool is_port)
{
    part p = { .kind = k->model            ? DECLARED_INSTANCE
                       : k->type->junction ? DECLARED_JUNCTION
                                           : DECLARED_ELEMENT,
               .in = in,
               .stmt = s,
               .node = written,
               .name = part_name(el, in, ast_node_name(written), rank, idx),
               .port = is_port,
               .index = NONE };

    if (k->type) {
        p.junction = k->type->junction_type != 0;
        p.element = k->type->element;
        p.modulated = k->type->modulated;
        for (int i = 0; i < written->own->block->nitems && !p.field; i++)
            p.field = written->own->block->item[i].kind == AST_LAW_PORT && p.kind == DECLARED_ELEMENT;
    }
    if (is_port) {
        if (in->nports < 2)
            in->port[in->nports] = (uint32_t)el->part.n;
        in->nports++;
    }
    vec_push(&el->part, p);
}

/* alone: the node is the whole statement, and brackets outside of a loop give the number of copies. */
static void
declare_node(elab *el, scope *in, const ast_stmt *s, const ast_node *written, bool alone, bool is_port)
{
    ast_part room;
    const ast_part *name = ast_node_ref(written, &room).part;
    uint8_t rank = (uint8_t)name->nindex;
    bool block = rank && !in->loop, fine;
    ast_expr *bracket[2] = { NULL, NULL };
    int32_t idx[2] = { 0, 0 }, i[2] = { 0, 0 };
    struct kind kind = { NULL, NULL, 0 };
    uint64_t n = 1;
    uint32_t first = (uint32_t)el->part.n;

    if (!written->own->type)
        return;
    fine = declarable(el, in, written, &kind);
    for (int k = 0; k < rank; k++) {
        bracket[k] = name->brackets->index[k].from;
        if (name->brackets->index[k].to) {
            diag_error(el->s, "declare-range", name->brackets->at,
                       "a declaration states the size, as in %s:%s[10], not a range", written->own->type, name->name);
            fine = false;
        }
    }
    if (fine && in->loop && !rank && kind.type && kind.type->junction) {
        /* one junction for all iterations, declared by the first */
        while (in->loop)
            in = in->parent;
        first = own_family(el, in, name->name, true);
        if (first != NONE && family_of(el, first).n && el->part.at[family_of(el, first).first].node == written)
            return;
        first = (uint32_t)el->part.n;
    } else if (fine && in->loop && !rank) {
        diag_error(el->s, "loop-index", ast_node_ref_at(written),
                   "\"%s\" is declared in every round of the loop; it needs an index", name->name);
        diag_help(el->s, "Write %s:%s[%s].", written->own->type, name->name, in->known[0].name);
        fine = false;
    }
    if (fine && block && !alone) {
        diag_error(el->s, "declare-chain", ast_node_ref_at(written),
                   "\"%s\" would be an array; bonds join its items one by one", name->name);
        diag_help(el->s, "Declare it in a statement of its own, or in a loop: for i in 1..%s { ... %s:%s[i] ... }",
                  text_of(el, name->brackets->index[0].from->at), written->own->type, name->name);
        fine = false;
    }
    fine = fine && declare_read_brackets(el, in, bracket, rank, block ? "a size" : "an index", idx);
    for (int k = 0; k < rank && block && fine; k++)
        n *= (uint64_t)idx[k];
    if (!fine || !may_make_more(el, n, ast_node_ref_at(written))) {
        map_set(&el->refused, scope_key(in, name->name), 1);
        return;
    }
    if (!enter_name(el, in, true, name->name, span_join(ast_type_at(written), ast_node_ref_at(written)), rank, idx,
                    block, first))
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

    for (int k = 0; k < s->nnodes; k++)
        declare_node(el, in, s, &ast_chain(s)[k], s->nnodes == 1, false);
    if (s->named && s->nnodes != 2) {
        diag_error(el->s, "bond-name", ast_chain_bond(s).at, "\"as\" names one bond; here are %d", s->nnodes - 1);
        diag_help(el->s, "Give the bond to be named a statement of its own.");
    } else if (s->named && in->loop) {
        diag_error(el->s, "bond-name", ast_chain_bond(s).at, "\"as\" names one bond; a loop makes it in every round");
        diag_help(el->s, "Read an element or junction at its ends instead.");
    } else if (s->named && enter_name(el, in, true, ast_chain_bond(s).name, ast_chain_bond(s).name_at, 0,
                                      (int32_t[]){ 0, 0 }, false, (uint32_t)el->part.n)) {
        c.bond = (uint32_t)el->part.n;
        vec_push(&el->part, ((part){ .kind = DECLARED_BOND,
                                     .name = full_name(el, in, ast_chain_bond(s).name, 0, NULL),
                                     .stmt = s,
                                     .in = in,
                                     .index = NONE }));
    }
    if (may_make_more(el, s->nnodes > 1 ? (uint64_t)s->nnodes - 1 : 1, s->at) &&
        (s->nnodes > 1 || !ast_chain(s)[0].own->type))
        vec_push(&el->chain, c);
}

/* ---------------------------------------------------------------- loops and conditions */

static void
declare_loop(elab *el, scope *in, const ast_stmt *s)
{
    int64_t from, to;
    uint32_t outer = find_value(el, in, s->loop.var);
    known_value known = { .name = s->loop.var, .at = s->loop.var_at }, outer_known, *shared;
    bool before = find_known(in, s->loop.var, &outer_known);
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
        diag_note(el->s, before ? outer_known.at : el->value.at[outer].at, "declared here");
    }
    if (to < from) {
        vec_push(&el->idle, ((idle_text){ s, s->loop.body, s->loop.n, in }));
        return;
    }
    if (to - from >= MOST_INDEX) {
        diag_error(el->s, "model-size", range,
                   "this loop would run %lld times; a model has at most %d rounds and parts",
                   (long long)(to - from) + 1, MOST_INDEX);
        el->incomplete = true;
        return;
    }
    if (from < -MOST_INDEX || to > MOST_INDEX) {
        diag_error(el->s, "model-size", range, "indexes go up to %d", MOST_INDEX);
        el->incomplete = true;
        return;
    }
    if (!may_make_more(el, (uint64_t)(to - from) + 1, range))
        return;
    shared = arena_alloc(el->own, sizeof *shared);
    *shared = known;
    for (int64_t i = from; i <= to && !el->made_too_much && !errors_are_many(el); i++) {
        scope *round = new_scope(el, *in);

        round->parent = in;
        round->loop = true;
        round->nknown = 1;
        round->known = shared;
        round->round = (int32_t)i;
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
        diag_help(el->s, "An array of ports states its size: port 1:hub[3];");
        return;
    }
    for (int k = 0; k < s->port.n; k++)
        declare_node(el, in, s, &s->port.junction[k], true, true);
}

static void
declare_branch(elab *el, scope *in, const ast_stmt *s, bool then)
{
    idle_text other = { s, then ? s->cond.other : s->cond.then, then ? s->cond.nother : s->cond.nthen, in };

    if (other.n)
        vec_push(&el->idle, other);
    declare_body(el, in, then ? s->cond.then : s->cond.other, then ? s->cond.nthen : s->cond.nother);
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
        else
            declare_branch(el, in, s, x != 0);
        break;
    case AST_STMT_WITHOUT:
        for (int k = 0; k < s->without.n && may_make_more(el, 1, s->at); k++)
            vec_push(&el->without, ((without_made){ &s->without.ref[k], in, in }));
        break;
    case AST_STMT_WHEN:
        if (may_make_more(el, 1, s->at))
            vec_push(&el->when, ((pending_when){ in, s, NONE }));
        break;
    case AST_STMT_INITIAL:
        if (may_make_more(el, 1, s->at))
            vec_push(&el->initial, ((initial_made){ s, in }));
        break;
    }
}

/* Prefetches the names of a chain, which will be looked up soon. */
static void
fetch_declared(const elab *el, const scope *in, const ast_stmt *s)
{
    for (int k = 0; s->kind == AST_STMT_CHAIN && k < s->nnodes; k++)
        if (ast_chain(s)[k].own->type)
            fetch_part(el, in, ast_node_name(&ast_chain(s)[k]), FETCH_PLACE);
}

void
declare_body(elab *el, scope *in, ast_stmt *const *stmt, int n)
{
    enum { AHEAD = 6 };

    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < n; k++) {
            if (pass == 1 && !in->loop && n - k > AHEAD)
                fetch_declared(el, in, stmt[k + AHEAD]);
            if ((stmt[k]->kind == AST_STMT_VALUE && stmt[k]->value.kind == AST_CONSTANT) == (pass == 0))
                declare_stmt(el, in, stmt[k]);
        }
}
