/* values.c - parameters, constants, inputs, signals and outputs, in order of dependency
 *
 * A depth-first walk over dependences, with an explicit stack: units that are not stated follow from what is read, and
 * a cycle among values fixed before the run is an error.
 */
#include "elab.h"

enum { LONGEST_CYCLE = 10 }; /* names of a cycle that are printed */

/* An instance may give any expression to an input. */
static bool
before_the_run(const value *v)
{
    return v->kind == AST_PARAMETER || v->kind == AST_CONSTANT || (v->kind == AST_INPUT && !v->given);
}

/* What a message calls a value that is given elsewhere: by a `let`, or by an option, which the message shows. */
static const char *
given_who(elab *el, const char *name, const ast_expr *by)
{
    return arena_format(el->a, from_outside(el, by->at) ? "\"%s\"" : "\"let %s\"", name);
}

static const char *
value_who(elab *el, const value *v)
{
    static const char *const word[] = { "parameter", "constant", "signal", "input", "output" };

    return v->let ? given_who(el, v->name, v->expr) : arena_format(el->a, "%s \"%s\"", word[v->kind], v->name);
}

static builder
value_builder(elab *el, const value *v, scope *in, bool let)
{
    builder b = builder_new(el, in, READ_ALL, value_who(el, v));

    if (v->kind == AST_CONSTANT)
        b.reads = READ_CONSTANTS;
    else if (v->kind == AST_INPUT && !(v->given && !let))
        b.reads = let ? READ_TIME : READ_PARAMETERS;
    else if (v->kind == AST_PARAMETER)
        b.reads = READ_PARAMETERS;
    b.structure = b.reads <= READ_PARAMETERS;
    b.units = b.reads == READ_PARAMETERS;
    return b;
}

/* An input given by a formula is a signal. */
static void
define_value(elab *el, const value *v, uint32_t entry, inst def)
{
    flat_var *x = &el->f->var.at[v->var + entry];

    var_say(el->f, v->var + entry)->def = def;
    if (v->kind == AST_INPUT && !only_parameters(el->f, inst_slots(el->f, def), def.n))
        x->kind = VAR_SIGNAL;
}

/* Defines the entries of a value that is given as a whole: one number for all, or a vector or matrix of its size. */
static void
define_entries(elab *el, const value *v, builder *b, const val *x)
{
    const matrix *m = x->m;
    inst all;

    if (!m) {
        all = builder_inst(b, x->n);
        for (uint32_t k = 0; k < v->count; k++)
            define_value(el, v, k, all);
        return;
    }
    if (m->rank != v->rank || m->rows != v->size[0] || (v->rank == 2 && m->cols != v->size[1])) {
        val own = { .m = &(matrix){ .rank = v->rank, .rows = v->size[0], .cols = v->rank == 2 ? v->size[1] : 1 } };

        if (v->rank)
            diag_error(el->s, "matrix-size", v->expr->at, "\"%s\" is %s, but this is %s", v->name, size_words(el, &own),
                       size_words(el, x));
        else
            diag_error(el->s, "matrix-size", v->expr->at, "\"%s\" is one number, but this is %s", v->name,
                       size_words(el, x));
        if (v->let || v->given)
            diag_note(el->s, v->at, "\"%s\" is declared here", v->name);
        else if (!v->rank)
            diag_help(el->s, m->rank == 1 ? "An array says its size: %s[%u]." : "An array says its size: %s[%u,%u].",
                      v->stmt->value.name, m->rows, m->cols);
        return;
    }
    for (uint32_t k = 0; k < v->count; k++)
        define_value(el, v, k, builder_entry(b, m->at[k]));
}

/* Defines entries that the experiment sets one by one. */
static void
override_entries(elab *el, uint32_t index)
{
    value *v = &el->value.at[index];

    for (uint32_t k = 0; k < v->count && v->entries_set; k++) {
        uint32_t at = map_get(&el->override_of, entry_key(index, k));
        const initial_override *o;
        builder b;
        val x;

        if (at == MAP_NONE)
            continue;
        o = &el->override.at[at];
        if (o->set) {
            define_value(el, v, k, set_inst(el, o->set_value));
            continue;
        }
        b = value_builder(el, v, el->model_scope, true);
        b.who = given_who(el, var_name(el->f, v->var + k), o->expr);
        x = resolve(&b, o->expr, true);
        need_single(el, &x, o->expr->at);
        as_number(el, &x);
        if (!x.bad)
            define_value(el, v, k, builder_inst(&b, x.n));
        if (units_give(el, x, o->expr->at, v->declared, b.who) || x.bad) {
            builder_free(&b);
            continue;
        }
        v->clash = true;
        diag_note(el->s, v->at, "\"%s\" is declared here", v->name);
        builder_free(&b);
    }
}

/* Reports an input without a value. In a component the instance lacks it: reported there, once for all its copies. */
static void
say_unset(elab *el, const value *v)
{
    const scope *in = scope_of_text(v->in);
    const part *made = in->outer ? &el->part.at[in->instance] : NULL;
    const char *name = v->stmt->value.name;

    if (!made) {
        diag_error(el->s, "input-unset", v->at, "input \"%s\" has neither a default nor a value in experiment \"%s\"",
                   v->name, el->experiment->name);
        diag_help(el->s, "Add: let %s = ...;", v->name);
        return;
    }
    if (told_before(el, CAUSE_UNSET, map_ptr_key(made->node), map_ptr_key(v->stmt)))
        return;
    diag_error(el->s, "input-unset", part_at(made), "\"%s\" leaves its input \"%s\" without a value", made->name, name);
    diag_note(el->s, v->at, "\"%s\" is declared here, without a default", name);
    for (const scope *s = scope_of_text(made->in); s->outer; s = scope_of_text(s->outer))
        diag_note(el->s, part_at(&el->part.at[s->instance]), "it stands in \"%s\", made here",
                  el->part.at[s->instance].name);
    if (v->stmt->value.nsize && scope_of_text(v->in) != v->in)
        diag_help(el->s, "Give it in the experiment: let %s = ...;", v->name);
    else
        diag_help(el->s, "Give it in parentheses, %s:%s(%s = ...), or in the experiment: let %s = ...;",
                  made->node->own->type, ast_node_name(made->node), name, v->name);
}

/* Values set from outside, or without a value. */
static void
make_unset(elab *el, value *v)
{
    inst def;

    if (!v->set && v->kind == AST_INPUT && el->experiment) {
        say_unset(el, v);
    } else if (!v->set && v->kind != AST_INPUT) {
        diag_error(el->s, "value-missing", v->at, "\"%s\" has no value", v->name);
    }
    v->fits = (val){ .fit = FIT_BARE };
    def = set_inst(el, v->set ? v->set_value : 0);
    for (uint32_t k = 0; k < v->count; k++)
        var_say(el->f, v->var + k)->def = def;
}

static void
make_value(elab *el, uint32_t index)
{
    value *v = &el->value.at[index];
    builder b;
    val x;

    if (v->set || !v->expr) {
        make_unset(el, v);
        override_entries(el, index);
        return;
    }
    b = value_builder(el, v, v->expr_in, v->let);
    if (v->kind == AST_SIGNAL && is_integral(el, v->expr) && !v->rank) {
        el->f->var.at[v->var].kind = VAR_INTEGRAL;
        x = make_integral(&b, v->expr, v->var);
    } else {
        x = resolve(&b, v->expr, true);
        if (!x.m)
            as_number(el, &x);
        if (!x.bad)
            define_entries(el, v, &b, &x);
    }
    builder_free(&b);
    v->clash = !x.bad && !in_doubt(el, v) && !units_give(el, x, v->expr->at, v->declared, value_who(el, v));
    if (v->clash && !v->let)
        told_before(el, CAUSE_UNIT, map_ptr_key(v->stmt), 0);
    if (v->clash && (v->given || v->let))
        diag_note(el->s, v->at, "\"%s\" is declared here", v->name);
    v->fits = x;
    v->fits.m = NULL;
    if (x.bad) {
        v->fits = (val){ .fit = FIT_ANY };
        v->unread = !v->declared;
    }
    if (!v->declared && x.fit == FIT_UNIT)
        for (uint32_t k = 0; k < v->count; k++)
            var_set_unit(el->f, v->var + k, x.unit);
    override_entries(el, index);
}

struct frame {
    uint32_t at;
    size_t first, next;
};

/* seen: items so far, limited like the expressions that read them */
struct value_reads {
    elab *el;
    scope *in;
    uint64_t seen;
    VEC(uint32_t) dep;
};

static bool
see_item(void *ctx, uint32_t index, uint32_t entry)
{
    struct value_reads *r = ctx;

    (void)entry;
    r->seen++;
    if (!r->dep.n || r->dep.at[r->dep.n - 1] != index)
        vec_push(&r->dep, index);
    return true;
}

static void
see_value(void *ctx, const ast_expr *e)
{
    struct value_reads *r = ctx;
    path_end p;
    ast_part room;
    ast_ref ref;

    if (e->kind != AST_REF)
        return;
    ref = ast_expr_ref(e, &room);
    if (ref.nparts == 1 && find_known(r->in, ref.part[0].name, NULL))
        return;
    p = follow(r->el, r->in, r->in, &ref, true, FOLLOW_QUIET);
    if (p.kind != PLACE_VALUE)
        return;
    if (r->el->family.at[p.family].block)
        see_item(r, r->el->family.at[p.family].first, 0);
    else if (p.one || r->seen + (uint64_t)(p.high[0] - p.low[0]) < MOST_WRITTEN)
        each_item(r->el, &p, e->at, true, see_item, r);
}

/* Reports a cycle among values fixed before the run; cycles of signals are handled by the equations stage. */
static void
report_parameter_cycle(elab *el, const struct frame *path, size_t n, uint32_t again)
{
    const value *v = &el->value.at[again];
    size_t begin = 0;
    strbuf text = { 0 };

    while (path[begin].at != again)
        begin++;
    for (size_t k = begin; k < n; k++)
        if (!before_the_run(&el->value.at[path[k].at]))
            return;
    for (size_t k = begin; k < n; k++) {
        if (k - begin == LONGEST_CYCLE && n - k > 1)
            strbuf_puts(&text, "... -> ");
        if (k - begin < LONGEST_CYCLE || k == n - 1)
            strbuf_printf(&text, "%s -> ", el->value.at[path[k].at].name);
    }
    strbuf_puts(&text, v->name);
    diag_error(el->s, "value-cycle", v->let && from_outside(el, v->expr->at) ? v->expr->at : v->at,
               "values that are computed from each other in a circle: %s", text.at);
    for (size_t k = begin + 1; k < n && k < begin + 4; k++)
        diag_note(el->s, el->value.at[path[k].at].at, "\"%s\" is part of it", el->value.at[path[k].at].name);
    strbuf_free(&text);
}

static void
open_value(elab *el, struct value_reads *r, uint32_t at, struct frame *to)
{
    value *v = &el->value.at[at];

    v->mark = MARK_OPEN;
    *to = (struct frame){ at, r->dep.n, r->dep.n };
    r->in = v->expr_in;
    if (v->expr && !v->set)
        ast_visit(v->expr, see_value, r);
    r->in = el->model_scope;
    for (uint32_t k = 0; k < v->count && v->entries_set; k++) {
        uint32_t o = map_get(&el->override_of, entry_key(at, k));

        if (o != MAP_NONE && !el->override.at[o].set)
            ast_visit(el->override.at[o].expr, see_value, r);
    }
}

void
make_values(elab *el, bool early)
{
    struct value_reads r = { .el = el };
    VEC(struct frame) open = { 0 };

    for (uint32_t k = 0; k < el->value.n; k++) {
        struct frame x;

        if (el->value.at[k].gone || el->value.at[k].mark != MARK_NEW || (early && !before_the_run(&el->value.at[k])))
            continue;
        open_value(el, &r, k, &x);
        vec_push(&open, x);
        while (open.n) {
            struct frame *top = &open.at[open.n - 1];

            if (top->next < r.dep.n) {
                uint32_t dep = r.dep.at[top->next++];

                if (el->value.at[dep].mark == MARK_OPEN) {
                    report_parameter_cycle(el, open.at, open.n, dep);
                } else if (el->value.at[dep].mark == MARK_NEW) {
                    open_value(el, &r, dep, &x);
                    vec_push(&open, x);
                }
            } else {
                make_value(el, top->at);
                el->value.at[top->at].mark = MARK_DONE;
                r.dep.n = top->first;
                open.n--;
            }
        }
    }
    vec_free(&r.dep);
    vec_free(&open);
}

const value *
value_of_variable(const elab *el, var_id v)
{
    size_t low = 0, high = el->value.n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (el->value.at[mid].var + el->value.at[mid].count <= v)
            low = mid + 1;
        else
            high = mid;
    }
    return low < el->value.n && el->value.at[low].var <= v ? &el->value.at[low] : NULL;
}
