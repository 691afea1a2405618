/* values.c - parameters, constants, inputs, signals and outputs, in the order of what they read
 *
 * A depth-first walk over what reads what, with a stack of its own: units left unstated follow from what was read, and a circle among values
 * fixed before the run is a mistake.
 */
#include "elab.h"

enum { LONGEST_CYCLE = 10 };            /* names printed of a circle */

static bool
before_the_run(enum ast_value_kind k)
{
    return k == AST_PARAMETER || k == AST_CONSTANT || k == AST_INPUT;
}

static const char *
value_who(elab *el, const value *v)
{
    static const char *const word[] = { "parameter", "constant", "signal", "input", "output" };

    return v->let ? arena_format(el->a, "\"let %s\"", v->name) : arena_format(el->a, "%s \"%s\"", word[v->kind], v->name);
}

static void
make_value(elab *el, uint32_t index)
{
    value *v = &el->value.at[index];
    builder b = builder_new(el, v->in, READ_ALL, value_who(el, v));
    val x;
    inst def = INST_NONE;

    if (v->set || !v->expr) {
        if (!v->set && v->kind == AST_INPUT && el->experiment) {
            diag_error(el->s, "input-unset", v->at, "input \"%s\" has neither a default nor a value in experiment \"%s\"", v->name, el->experiment->name);
            diag_help(el->s, "Add: let %s = ...;", v->name);
        } else if (!v->set && v->kind != AST_INPUT) {
            diag_error(el->s, "value-missing", v->at, "\"%s\" has no value", v->name);
        }
        v->fits = (val){ .fit = FIT_BARE };
        def = set_inst(el, v->set ? v->set_value : 0);
        el->f->var.at[v->var].def = def;
        return;
    }
    if (v->kind == AST_CONSTANT)
        b.reads = READ_CONSTANTS;
    else if (v->kind == AST_INPUT)
        b.reads = v->let ? READ_TIME : READ_PARAMETERS;
    else if (v->kind == AST_PARAMETER)
        b.reads = READ_PARAMETERS;
    b.structure = b.reads <= READ_PARAMETERS;
    if (v->kind == AST_SIGNAL && is_integral(el, v->expr)) {
        el->f->var.at[v->var].kind = VAR_INTEGRAL;
        x = make_integral(&b, v->expr, v->var);
    } else {
        x = resolve(&b, v->expr, true);
        as_number(el, &x);
        if (!x.bad) {
            def = builder_inst(&b, x.n);
            el->f->var.at[v->var].def = def;
            if (v->kind == AST_INPUT && !only_parameters(el->f, inst_slots(el->f, def), def.n))
                el->f->var.at[v->var].kind = VAR_SIGNAL;
        }
    }
    builder_free(&b);
    units_give(el, x, v->expr->at, v->declared, value_who(el, v));
    v->fits = x;
    if (x.bad)
        v->fits = (val){ .fit = FIT_ANY };
    if (!v->declared && x.fit == FIT_UNIT)
        el->f->var.at[v->var].unit = x.unit;
}

struct frame { uint32_t at; size_t first, next; };

struct reading { elab *el; const scope *in; VEC(uint32_t) dep; };

static void
see_value(void *ctx, const ast_expr *e)
{
    struct reading *r = ctx;
    uint32_t at;

    if (e->kind != AST_REF || e->ref.nparts != 1)
        return;
    at = find_value(r->el, r->in, e->ref.part[0].name);
    if (at != NONE)
        vec_push(&r->dep, at);
}

/* A circle among what is fixed before the run; one through signals is the equations' business. */
static void
report_cycle(elab *el, const struct frame *path, size_t n, uint32_t again)
{
    size_t begin = 0;
    strbuf text = { 0 };

    while (path[begin].at != again)
        begin++;
    for (size_t k = begin; k < n; k++)
        if (!before_the_run(el->value.at[path[k].at].kind))
            return;
    for (size_t k = begin; k < n; k++) {
        if (k - begin == LONGEST_CYCLE && n - k > 1)
            strbuf_puts(&text, "... -> ");
        if (k - begin < LONGEST_CYCLE || k == n - 1)
            strbuf_printf(&text, "%s -> ", el->value.at[path[k].at].name);
    }
    strbuf_puts(&text, el->value.at[again].name);
    diag_error(el->s, "value-cycle", el->value.at[again].at, "values that are computed from each other in a circle: %s", text.at);
    for (size_t k = begin + 1; k < n && k < begin + 4; k++)
        diag_note(el->s, el->value.at[path[k].at].at, "\"%s\" is part of it", el->value.at[path[k].at].name);
    strbuf_free(&text);
}

static void
open_value(elab *el, struct reading *r, uint32_t at, struct frame *to)
{
    value *v = &el->value.at[at];

    v->mark = MARK_OPEN;
    *to = (struct frame){ at, r->dep.n, r->dep.n };
    r->in = v->in;
    if (v->expr && !v->set)
        each_expr(v->expr, see_value, r);
}

void
make_values(elab *el, bool early)
{
    struct reading r = { .el = el };
    VEC(struct frame) open = { 0 };

    for (uint32_t k = 0; k < el->value.n; k++) {
        struct frame x;

        if (el->value.at[k].mark != MARK_NEW || (early && !before_the_run(el->value.at[k].kind)))
            continue;
        open_value(el, &r, k, &x);
        vec_push(&open, x);
        while (open.n) {
            struct frame *top = &open.at[open.n - 1];

            if (top->next < r.dep.n) {
                uint32_t dep = r.dep.at[top->next++];

                if (el->value.at[dep].mark == MARK_OPEN) {
                    report_cycle(el, open.at, open.n, dep);
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
