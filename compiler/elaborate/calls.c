/* calls.c - calls in expressions: der, integral, table, built-in functions, and functions of the model, which are
 * inlined
 *
 * Each function becomes a template over its arguments once, callees first; a call substitutes the arguments, once for
 * equal arguments, so that nested calls do not multiply. The total amount of inlined code is limited.
 */
#include <string.h>

#include "elab.h"

enum {
    LARGEST_FUNCTION = 100000, /* operations */
    MOST_INLINED = 50000000,   /* limit for copied operations, whole model: takes seconds */
    INNER_WEIGHT = 10          /* for copies into other functions: chains of functions grow quadratically */
};

/* ---------------------------------------------------------------- der, integral, table */

/* These make variables of the model, so they are allowed only in signals and laws. */
static bool
may_make(builder *b, const ast_expr *e)
{
    if (b->function) {
        diag_error(b->el->s, "function-state", e->at, "%s cannot stand in a function", e->call.name);
        diag_help(b->el->s, "Make it a signal and pass that as an argument.");
    } else if (b->reads != READ_ALL) {
        diag_error(b->el->s, "read-early", e->at, "%s cannot contain %s: it is fixed before the run", b->who,
                   e->call.name);
    }
    return !b->function && b->reads == READ_ALL;
}

static bool
takes_arguments(builder *b, const ast_expr *e, int least, int most, const char *how)
{
    if (e->call.nargs >= least && e->call.nargs <= most)
        return true;
    if (least == most)
        diag_error(b->el->s, "call-arguments", e->at, "%s takes %d argument%s; here %s %d", e->call.name, least,
                   least == 1 ? "" : "s", e->call.nargs == 1 ? "is" : "are", e->call.nargs);
    else
        diag_error(b->el->s, "call-arguments", e->at, "%s takes %d or %d arguments; here %s %d", e->call.name, least,
                   most, e->call.nargs == 1 ? "is" : "are", e->call.nargs);
    diag_help(b->el->s, "Write %s.", how);
    return false;
}

static builder
inner(builder *b)
{
    builder in = builder_new(b->el, b->in, b->reads, b->who);

    in.own = b->own;
    return in;
}

static uint64_t
inst_hash(const flat_model *f, inst i)
{
    return bg_hash_bytes(inst_slots(f, i), i.n * sizeof(var_id), i.root);
}

static bool
same_inst(const flat_model *f, inst a, inst b)
{
    return a.root == b.root && a.n == b.n &&
           (a.n == 0 || !memcmp(inst_slots(f, a), inst_slots(f, b), a.n * sizeof(var_id)));
}

/* The variable for an expression: itself if it is one name, else a hidden signal, shared by equal expressions. */
static var_id
hidden_signal(elab *el, inst i, const ast_expr *e, const unit *u)
{
    flat_model *f = el->f;
    uint64_t key;
    uint32_t v;

    if (i.n == 1 && pool_node(el->pool, i.root)->op == EX_SLOT)
        return inst_slots(f, i)[0];
    key = inst_hash(f, i);
    while ((v = map_get(&el->hidden_rates, key)) != MAP_NONE && !same_inst(f, var_def(f, v), i))
        key++;
    if (v == MAP_NONE) {
        v = flat_add_var(f, VAR_SIGNAL, NONE, text_of(el, e->at), e->at);
        var_say(f, v)->def = i;
        var_set_unit(f, v, u);
        map_set(&el->hidden_rates, key, v);
    }
    return v;
}

static val
make_der(builder *b, const ast_expr *e)
{
    elab *el = b->el;
    builder in;
    val v;
    var_id owner;
    uint32_t rate;

    if (!may_make(b, e) || !takes_arguments(b, e, 1, 1, "der(x)"))
        return val_bad(el);
    in = inner(b);
    v = resolve(&in, e->call.arg[0], false);
    need_number(el, &v, e->call.arg[0]->at);
    if (v.bad) {
        builder_free(&in);
        return v;
    }
    if (v.fit == FIT_UNIT)
        v = (val){ .n = v.n, .fit = FIT_UNIT, .unit = unit_divide(el->u, v.unit, el->second) };
    else
        v = (val){ .n = v.n,
                   .fit = FIT_ANY,
                   .unit = v.fit == FIT_ANY && v.unit ? unit_divide(el->u, v.unit, el->second) : NULL };
    {
        inst i = builder_inst(&in, v.n);

        builder_free(&in);
        if (only_parameters(el->f, inst_slots(el->f, i), i.n)) {
            v.n = ex_const(el->pool, 0);
            return v;
        }
        owner = hidden_signal(el, i, e->call.arg[0],
                              v.fit == FIT_UNIT ? unit_multiply(el->u, v.unit, el->second) : NULL);
    }
    rate = map_get(&el->rates, owner);
    if (rate == MAP_NONE) {
        rate = flat_add_var(el->f, VAR_RATE, owner, arena_format(el->a, "der(%s)", var_name(el->f, owner)), e->at);
        var_set_unit(el->f, rate, v.unit);
        map_set(&el->rates, owner, rate);
    }
    v.n = builder_slot(b, rate);
    return v;
}

bool
is_integral(const elab *el, const ast_expr *e)
{
    return e && e->kind == AST_CALL && e->call.name == el->n_integral;
}

val
make_integral(builder *b, const ast_expr *e, var_id into)
{
    elab *el = b->el;
    builder in;
    val rate, r;
    inst init;

    if (!may_make(b, e) || !takes_arguments(b, e, 1, 2, "integral(x) or integral(x, initial)"))
        return val_bad(el);
    in = inner(b);
    rate = resolve(&in, e->call.arg[0], false);
    need_number(el, &rate, e->call.arg[0]->at);
    r = (val){ .fit = FIT_ANY, .bad = rate.bad };
    if (rate.fit == FIT_UNIT) {
        r.fit = FIT_UNIT;
        r.unit = unit_multiply(el->u, rate.unit, el->second);
    }
    init = set_inst(el, 0);
    if (e->call.nargs > 1) {
        const unit *own = var_display(el->f, into);
        /* as the text calls it, [N.m] and not [J]; in [mm] a bare number would have to be refused */
        const unit *want = own && r.unit && unit_is_coherent(own) && unit_dimension(own) == r.unit ? own : r.unit;
        val v = initial_value(el, b->in, e->call.arg[1],
                              arena_format(el->a, "the initial value of %s", var_name(el->f, into)), want, &init);

        if (r.fit != FIT_UNIT && v.fit == FIT_UNIT) {
            r.fit = FIT_UNIT;
            r.unit = v.unit;
        }
        r.bad = r.bad || v.bad;
    }
    if (!r.bad) {
        inst def = builder_inst(&in, rate.n);

        var_say(el->f, into)->def = def;
        var_say(el->f, into)->init = init;
        if (!var_unit(el->f, into))
            var_set_unit(el->f, into, r.unit);
    }
    builder_free(&in);
    r.n = ex_const(el->pool, 0);
    return r;
}

static val
hidden_integral(builder *b, const ast_expr *e)
{
    elab *el = b->el;
    var_id v;
    val r;

    if (!may_make(b, e))
        return val_bad(el);
    v = flat_add_var(el->f, VAR_INTEGRAL, NONE, text_of(el, e->at), e->at);
    r = make_integral(b, e, v);
    if (!r.bad)
        r.n = builder_slot(b, v);
    return r;
}

/* In an option of the command line time is a pure number, which would fit a first column in any unit: of metres, say.
 */
static bool
reads_over_time(const elab *el, const ast_expr *table, const unit *first)
{
    const ast_expr *x = table->call.arg[2];

    if (!first || !from_outside(el, x->at) || !ast_expr_name(x) || ast_expr_name(x) != el->n_time ||
        unit_dimension(first) == unit_dimension(el->second))
        return true;
    diag_error(el->s, "table-unit", x->at, "the first column of \"%s\" must be the time; it is in [%s]",
               table->call.arg[0]->string, unit_text(first));
    return false;
}

/* smooth: a spline through the points. */
static val
look_up_table(builder *b, const ast_expr *e, bool smooth)
{
    elab *el = b->el;
    const ast_expr *column;
    const char *name = NULL;
    double number_of = 0;
    uint32_t table;
    const unit *ux = NULL, *uy = NULL;
    val x, r;

    if ((smooth || e->call.nargs != 1) &&
        !takes_arguments(b, e, 3, 3,
                         smooth ? "spline(\"file.csv\", column, x)"
                                : "table(\"file.csv\", column, x), or for a matrix table(\"file.csv\")"))
        return val_bad(el);
    if (e->call.arg[0]->kind != AST_STRING) {
        diag_error(el->s, "table-call", e->call.arg[0]->at,
                   "the first argument of %s is the name of a CSV file, in quotes", e->call.name);
        return val_bad(el);
    }
    if (e->call.nargs == 1)
        return read_matrix(el, e, e->call.arg[0]->string);
    column = e->call.arg[1];
    if (column->kind == AST_STRING) {
        name = column->string;
    } else if (ast_expr_name(column)) {
        name = ast_expr_name(column);
    } else if (column->kind == AST_NUMBER && !ast_number_unit(column)) {
        number_of = column->number.value;
    } else {
        diag_error(el->s, "table-call", column->at,
                   "the second argument of %s is a column: its name or its number, counted from 1", e->call.name);
        return val_bad(el);
    }
    table = read_table(el, e, e->call.arg[0]->string, name, number_of, column->at, smooth, &ux, &uy);
    x = resolve(b, e->call.arg[2], false);
    need_number(el, &x, e->call.arg[2]->at);
    if (table == NONE || x.bad || !reads_over_time(el, e, ux) ||
        !claim_given(b, x, e->call.arg[2]->at, ux ? unit_dimension(ux) : NULL, "the first column of the table"))
        return val_bad(el);
    set_table_unit(el, table, uy ? unit_dimension(uy) : NULL);
    r = val_unit(NODE_NONE, uy ? unit_dimension(uy) : NULL);
    r.n = ex_table_node(el->pool, EX_TABLE, table, x.n, NODE_NONE);
    return r;
}

/* ---------------------------------------------------------------- calls */

static const char *const others[] = { "der",   "integral", "table", "table2d", "spline",
                                      "delay", "previous", "noise", "uniform" };
enum { NOTHERS = sizeof others / sizeof *others };

/* EX_NOPS: there is none of that name */
static enum ex_op
find_builtin(const char *name)
{
    for (enum ex_op op = 0; op < EX_NOPS; op++)
        if (ex_ops[op].called && !strcmp(ex_ops[op].name, name))
            return op;
    return EX_NOPS;
}

bool
is_function(const elab *el, const scope *in, const char *name)
{
    return find_builtin(name) != EX_NOPS || is_several(name) || find_function(el, in, name) != NONE;
}

static void
unknown_function(builder *b, const ast_expr *e)
{
    elab *el = b->el;
    size_t n = 0, several = 0;
    const char **list, *near, *habit = habit_function(e->call.name);

    if (el->incomplete ||
        told_before(el, CAUSE_FUNCTION, map_ptr_key(el->module.at[b->in->module].file), map_ptr_key(e->call.name)))
        return;
    diag_error(el->s, "name-unknown", ast_call_name_at(e), "no function is called \"%s\"", e->call.name);
    if (errors_are_many(el))
        return;
    while (several_name(several))
        several++;
    list = bg_calloc(several + EX_NOPS + NOTHERS + el->function.n, sizeof *list);
    for (; n < several; n++)
        list[n] = several_name(n);
    for (enum ex_op op = 0; op < EX_NOPS; op++)
        if (ex_ops[op].called)
            list[n++] = ex_ops[op].name;
    for (int k = 0; k < NOTHERS; k++)
        list[n++] = others[k];
    for (size_t k = 0; k < el->function.n; k++)
        list[n++] = el->function.at[k].ast->name;
    if (habit)
        diag_help(el->s, "%s", habit);
    else if (find_value(el, b->in, e->call.name) != NONE)
        diag_help(el->s, "\"%s\" is a value, not a function: a product needs `*`, an index stands in brackets, %s[1].",
                  e->call.name, e->call.name);
    else if ((near = nearest_name(e->call.name, list, n)))
        diag_help(el->s, "Did you mean \"%s\"?", near);
    free(list);
}

static val
pure_result(elab *el, val arg)
{
    if (arg.fit == FIT_UNIT)
        return (val){ .fit = FIT_UNIT, .unit = el->one };
    if (arg.fit == FIT_ANY)
        return (val){ .fit = FIT_ANY, .unit = el->one, .number = true };
    return (val){ .fit = FIT_BARE };
}

/* sign(a)*abs(a)^b: infinite at 0 if b < 0, like a^b */
static node
make_signed_power(pool *p, node a, node b)
{
    double exponent;

    if (!ex_is_const(p, b, &exponent) || exponent > 0)
        return ex_make(p, EX_SPOW, a, b, NODE_NONE);
    if (exponent == 0)
        return ex_make(p, EX_SIGN, a, NODE_NONE, NODE_NONE);
    return ex_div(p, ex_const(p, 1), ex_make(p, EX_SPOW, a, ex_const(p, -exponent), NODE_NONE));
}

static val
call_builtin(builder *b, const ast_expr *e, enum ex_op op)
{
    elab *el = b->el;
    const struct ex_op_info *f = &ex_ops[op];
    ast_expr *const *arg = e->call.arg;
    val x[2] = { { .n = NODE_NONE }, { .n = NODE_NONE } }, r;

    if (!takes_arguments(b, e, f->arity, f->arity,
                         f->arity == 1 ? arena_format(el->a, "%s(x)", f->name)
                                       : arena_format(el->a, "%s(a, b)", f->name)))
        return val_bad(el);
    for (int k = 0; k < f->arity; k++) {
        bool structure = b->structure;

        b->structure = structure || (f->units == EX_UNITS_POWER && k == 1);
        x[k] = resolve(b, arg[k], false);
        b->structure = structure;
        need_number(el, &x[k], arg[k]->at);
    }
    if (x[0].bad || x[1].bad)
        return val_bad(el);
    switch (f->units) {
    case EX_UNITS_PURE:
        if (!strcmp(f->name, "sin") || !strcmp(f->name, "cos"))
            turning_angle(el, b->in, arg[0], f->name);
        r = units_pure(el, x[0], arg[0]->at, f->name) ? pure_result(el, x[0]) : val_bad(el);
        break;
    case EX_UNITS_KEPT: r = x[0]; break;
    case EX_UNITS_SIGN:
        r = x[0].fit == FIT_BARE || x[0].fit == FIT_ZERO ? (val){ .fit = FIT_BARE }
                                                         : (val){ .fit = FIT_UNIT, .unit = el->one };
        break;
    case EX_UNITS_RATIO:
        r = units_together(el, "compared", x[0], arg[0]->at, x[1], arg[1]->at);
        if (!r.bad)
            r = pure_result(el, r);
        break;
    case EX_UNITS_POWER: r = units_power(el, x[0], arg[0]->at, x[1], arg[1]->at); break;
    case EX_UNITS_ROOT:
    default:
        r = units_power(el, x[0], arg[0]->at, (val){ .n = ex_const(el->pool, 0.5), .fit = FIT_BARE }, e->at);
        break;
    }
    if (!r.bad)
        r.n = op == EX_SPOW ? make_signed_power(el->pool, x[0].n, x[1].n)
                            : ex_make(el->pool, op, x[0].n, x[1].n, NODE_NONE);
    if (r.fit == FIT_ZERO)
        r.fit = FIT_BARE;
    return r;
}

/* The function's template with its arguments substituted, once for equal arguments. */
static node
inline_call(builder *b, uint32_t index, const node *arg)
{
    elab *el = b->el;
    const user_function *f = &el->function.at[index];
    uint64_t key = bg_hash_bytes(arg, f->nargs * sizeof *arg, index);
    uint32_t at = map_get(&b->calls, key), n = f->nargs + (uint32_t)f->captured.n;
    node *to, result;

    if (at != MAP_NONE && b->call_memo.at[at].function == index &&
        !memcmp(b->call_memo.at[at].arg, arg, f->nargs * sizeof *arg))
        return b->call_memo.at[at].result;
    to = bg_calloc(n, sizeof *to);
    if (f->nargs)
        memcpy(to, arg, f->nargs * sizeof *to);
    for (uint32_t k = 0; k < f->captured.n; k++)
        to[f->nargs + k] = builder_slot(b, f->captured.at[k]);
    result = ex_substitute(el->pool, f->root, to, n);
    free(to);
    at = (uint32_t)b->call_memo.n;
    vec_push(&b->call_memo, ((struct call_memo){ index, bg_calloc(f->nargs, sizeof *arg), result }));
    if (f->nargs)
        memcpy(b->call_memo.at[at].arg, arg, f->nargs * sizeof *arg);
    map_set(&b->calls, key, at);
    return result;
}

/* Counts the copy of a function about to be made. */
static bool
inlined_too_much(builder *b, const user_function *f, span at)
{
    elab *el = b->el;

    el->inlined += (f->size + f->captured.n) * (b->function ? INNER_WEIGHT : 1);
    if (el->inlined < MOST_INLINED)
        return false;
    if (!el->inlined_too_much)
        diag_error(el->s, "function-size", at, "the functions of this model expand to more than %d operations",
                   MOST_INLINED / INNER_WEIGHT);
    return el->inlined_too_much = true;
}

static val
call_user_function(builder *b, const ast_expr *e, uint32_t index)
{
    elab *el = b->el;
    const user_function *f = &el->function.at[index];
    node *arg;
    val r;

    if (e->call.nargs != (int)f->nargs) {
        diag_error(el->s, "call-arguments", e->at, "%s takes %u argument%s; here %s %d", e->call.name, f->nargs,
                   f->nargs == 1 ? "" : "s", e->call.nargs == 1 ? "is" : "are", e->call.nargs);
        diag_note(el->s, f->ast->name_at, "\"%s\" is declared here", e->call.name);
        return val_bad(el);
    }
    r = f->fits;
    r.bad = f->bad || f->root == NODE_NONE;
    arg = bg_calloc(f->nargs, sizeof *arg);
    for (uint32_t k = 0; k < f->nargs; k++) {
        const ast_expr *a = e->call.arg[k];
        val v = resolve(b, a, true);

        need_number(el, &v, a->at);
        if (v.bad || !claim_given(b, v, a->at, f->arg_unit[k],
                                  arena_format(el->a, "argument \"%s\" of %s", f->ast->arg[k].name, e->call.name)))
            r.bad = true;
        arg[k] = v.n;
    }
    r.shown = r.written = r.said = NULL;
    if (!r.bad && inlined_too_much(b, f, e->at))
        r.bad = true;
    r.n = r.bad ? ex_const(el->pool, 0) : inline_call(b, index, arg);
    free(arg);
    return r;
}

val
resolve_call(builder *b, const ast_expr *e)
{
    elab *el = b->el;
    uint32_t index;
    enum ex_op f;

    if (e->call.name == el->n_der)
        return make_der(b, e);
    if (e->call.name == el->n_integral)
        return hidden_integral(b, e);
    if (e->call.name == el->n_table)
        return look_up_table(b, e, false);
    index = find_function(el, b->in, e->call.name);
    if (index != MAP_NONE)
        return import_ambiguous(el, b->in, e->call.name, false, ast_call_name_at(e)) ? val_bad(el)
                                                                                     : call_user_function(b, e, index);
    if (is_several(e->call.name))
        return call_several(b, e);
    f = find_builtin(e->call.name);
    if (f != EX_NOPS)
        return call_builtin(b, e, f);
    if (!strcmp(e->call.name, "delay"))
        return may_make(b, e) ? make_delay(b, e) : val_bad(el);
    if (!strcmp(e->call.name, "table2d"))
        return look_up_plane(b, e);
    if (!strcmp(e->call.name, "spline"))
        return look_up_table(b, e, true);
    if (!strcmp(e->call.name, "previous"))
        return make_previous(b, e);
    if (!strcmp(e->call.name, "noise") || !strcmp(e->call.name, "uniform"))
        return make_draw(b, e, *e->call.name == 'n');
    unknown_function(b, e);
    return val_bad(el);
}

/* ---------------------------------------------------------------- functions */

static void
function_head(elab *el, user_function *f, map *formal, val *fits)
{
    const ast_function *ast = f->ast;

    for (uint32_t k = 0; k < f->nargs; k++) {
        uint32_t hidden = find_value(el, f->in, ast->arg[k].name);

        if (map_get(formal, map_ptr_key(ast->arg[k].name)) != MAP_NONE) {
            diag_error(el->s, "name-twice", ast->arg[k].at, "%s has two arguments called \"%s\"", ast->name,
                       ast->arg[k].name);
            f->bad = true;
        }
        if (hidden != NONE) {
            diag_info(el->s, "name-shadow", ast->arg[k].at,
                      "in %s, \"%s\" is its argument, not the constant of that name", ast->name, ast->arg[k].name);
            diag_note(el->s, el->value.at[hidden].at, "the constant is declared here");
        }
        map_set(formal, map_ptr_key(ast->arg[k].name), k);
        f->arg_unit[k] = read_unit(el, ast->arg[k].unit);
        fits[k] = val_unit(NODE_NONE, f->arg_unit[k]);
    }
    f->result = read_unit(el, ast->unit);
}

static void
make_function(elab *el, uint32_t index)
{
    user_function *f = &el->function.at[index];
    const char *who = arena_format(el->a, "function \"%s\"", f->ast->name);
    builder b = builder_new(el, f->in, READ_CONSTANTS, who);
    map formal = { 0 };
    val *fits = bg_calloc(f->nargs, sizeof *fits), v;

    function_head(el, f, &formal, fits);
    b.function = f->ast;
    b.formal = &formal;
    b.formal_fits = fits;
    for (uint32_t k = 0; k < f->nargs; k++)
        builder_slot(&b, VAR_NONE - 1 - k); /* placeholders for the arguments, not variables */
    v = resolve(&b, f->ast->body, true);
    need_number(el, &v, f->ast->body->at);
    if (!units_give(el, v, f->ast->body->at, f->result, who))
        f->bad = f->bad || v.bad || f->result;
    f->bad = f->bad || v.bad;
    f->fits = f->result ? val_unit(NODE_NONE, f->result) : v;
    if (f->fits.fit == FIT_ZERO)
        f->fits.fit = FIT_BARE;
    f->fits.bad = false;
    f->root = v.n;
    f->size = f->bad ? 0 : ex_size(el->pool, v.n);
    if (f->size > LARGEST_FUNCTION) {
        diag_error(el->s, "function-size", f->ast->name_at, "function \"%s\" expands to more than %d operations",
                   f->ast->name, LARGEST_FUNCTION);
        f->bad = true;
    }
    for (size_t k = f->nargs; k < b.slot.n; k++)
        vec_push(&f->captured, b.slot.at[k]);
    free(fits);
    map_free(&formal);
    builder_free(&b);
}

struct callees {
    elab *el;
    uint32_t caller;
};

static void
note_callee(void *ctx, const ast_expr *e)
{
    struct callees *c = ctx;
    uint32_t f = e->kind == AST_CALL ? find_function(c->el, c->el->function.at[c->caller].in, e->call.name) : MAP_NONE;

    if (f != MAP_NONE)
        vec_push(&c->el->function.at[c->caller].callee, f);
}

struct frame {
    uint32_t at, next;
};

static void
report_recursion(elab *el, const struct frame *path, size_t n, uint32_t again)
{
    size_t begin = 0;
    strbuf text = { 0 };

    while (path[begin].at != again)
        begin++;
    for (size_t k = begin; k < n; k++) {
        if (k - begin == 10 && n - k > 2)
            strbuf_puts(&text, "... -> ");
        if (k - begin < 10 || n - k <= 2)
            strbuf_printf(&text, "%s -> ", el->function.at[path[k].at].ast->name);
    }
    strbuf_puts(&text, el->function.at[again].ast->name);
    diag_error(el->s, "function-cycle", el->function.at[again].ast->name_at,
               "functions call each other in a circle: %s", text.at);
    for (size_t k = begin; k < n; k++)
        el->function.at[path[k].at].bad = true;
    strbuf_free(&text);
}

void
make_functions(elab *el)
{
    VEC(struct frame) open = { 0 };

    for (uint32_t k = 0; k < el->function.n; k++)
        ast_visit(el->function.at[k].ast->body, note_callee, &(struct callees){ el, k });
    for (uint32_t k = 0; k < el->function.n; k++) {
        if (el->function.at[k].mark != MARK_NEW)
            continue;
        el->function.at[k].mark = MARK_OPEN;
        vec_push(&open, ((struct frame){ k, 0 }));
        while (open.n) {
            struct frame *top = &open.at[open.n - 1];
            user_function *f = &el->function.at[top->at];

            if (top->next < f->callee.n) {
                uint32_t g = f->callee.at[top->next++];

                if (el->function.at[g].mark == MARK_OPEN) {
                    report_recursion(el, open.at, open.n, g);
                } else if (el->function.at[g].mark == MARK_NEW) {
                    el->function.at[g].mark = MARK_OPEN;
                    vec_push(&open, ((struct frame){ g, 0 }));
                }
            } else {
                make_function(el, top->at);
                f->mark = MARK_DONE;
                open.n--;
            }
        }
    }
    vec_free(&open);
}
