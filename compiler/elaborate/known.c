/* known.c - numbers known while the model is built: sizes of arrays, ranges of loops, indexes, conditions of statements
 *
 * These may read numbers without unit, sizes of the model, loop variables, and constants computed from such. A size
 * that is not an integer is an error: (n + 1)/2 is allowed where n is odd.
 */
#include <math.h>
#include <string.h>

#include "elab.h"
#include "expr_pool.h"

enum {
    DEEPEST = 4000, /* depth of constants that read constants */
    MOST_STEPS = 100000
};
static const double GREATEST_WHOLE = 1e15; /* of a size or an index: up to here doubles count exactly */

struct reader {
    elab *el;
    const char *what;
    bool quiet, sized;
    int depth, steps;
};

static bool read_known_number(struct reader *r, scope *in, const ast_expr *e, double *x);

bool
find_known(const scope *in, const char *name, known_value *found)
{
    for (; in; in = in->parent)
        for (uint32_t k = 0; k < in->nknown; k++)
            if (in->known[k].name == name) {
                if (found) {
                    *found = in->known[k];
                    if (in->loop)
                        found->value = in->round;
                }
                return true;
            }
    return false;
}

static bool
unknown(struct reader *r, span at, const char *why)
{
    elab *el = r->el;

    if (r->quiet)
        return false;
    diag_error(el->s, "known-number", at, "%s must be known while the model is built, but %s", r->what, why);
    diag_help(el->s,
              "It may read numbers, sizes of the model (model truck(n = 10)), loop variables, and constants of these.");
    return false;
}

static bool
read_known_name(struct reader *r, scope *in, const ast_expr *e, double *x)
{
    elab *el = r->el;
    ast_part room;
    const ast_ref ref = ast_expr_ref(e, &room);
    const char *name = ref.part[0].name, *near;
    known_value k;
    bool known = find_known(in, name, &k);
    uint32_t at;
    const value *v;

    if (ref.nparts > 1 || ref.part[0].nindex)
        return unknown(r, ref.at, arena_format(el->a, "\"%s\" is not", text_of(el, ref.at)));
    if (known) {
        *x = k.value;
        r->sized = true;
        return true;
    }
    if (name == el->n_pi) {
        *x = M_PI;
        return true;
    }
    at = find_value(el, in, name);
    if (at == NONE) {
        if (r->quiet || refused_before(el, in, name))
            return false;
        diag_error(el->s, "name-unknown", ref.at, "nothing is called \"%s\"", name);
        near = nearest_value(el, in, name);
        if (near)
            diag_help(el->s, "Did you mean \"%s\"?", near);
        return false;
    }
    v = &el->value.at[at];
    if (v->kind != AST_CONSTANT || v->rank || !v->expr || v->declared) {
        unknown(r, ref.at,
                arena_format(el->a, v->kind == AST_CONSTANT ? "\"%s\" is no plain number" : "\"%s\" is not", name));
        if (!r->quiet)
            diag_note(el->s, v->at, "declared here");
        if (!r->quiet && v->kind == AST_PARAMETER && v->expr && v->expr->kind == AST_NUMBER)
            diag_help(el->s,
                      "A parameter may change from run to run. Write `constant %s = %s;`, or make it a size of the "
                      "model: model NAME(%s = %s).",
                      name, text_of(el, v->expr->at), name, text_of(el, v->expr->at));
        return false;
    }
    return read_known_number(r, v->expr_in, v->expr, x);
}

static bool
read_call(struct reader *r, scope *in, const ast_expr *e, double *x)
{
    static const enum ex_op calls[] = { EX_MIN, EX_MAX, EX_ABS, EX_FLOOR, EX_CEIL };
    double a[2] = { 0, 0 };

    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
        const struct ex_op_info *f = &ex_ops[calls[k]];

        if (strcmp(f->name, e->call.name) || e->call.nargs != f->arity ||
            find_function(r->el, in, e->call.name) != NONE)
            continue;
        for (int i = 0; i < f->arity; i++)
            if (!read_known_number(r, in, e->call.arg[i], &a[i]))
                return false;
        *x = ex_apply(calls[k], a[0], a[1], 0, NULL);
        return true;
    }
    return unknown(r, e->at,
                   arena_format(r->el->a, "it calls %s; min, max, abs, floor and ceil may stand in it", e->call.name));
}

static bool
read_binary(struct reader *r, scope *in, const ast_expr *e, double *x)
{
    double a, b;

    if (!read_known_number(r, in, e->bin.a, &a) || !read_known_number(r, in, e->bin.b, &b))
        return false;
    *x = tree_turned(e->op) ? ex_apply(tree_operation(e->op), b, a, 0, NULL)
                            : ex_apply(tree_operation(e->op), a, b, 0, NULL);
    return true;
}

static bool
read_inside(struct reader *r, scope *in, const ast_expr *e, double *x)
{
    double c;

    switch (e->kind) {
    case AST_NUMBER:
        if (ast_number_unit(e))
            return unknown(r, e->at, "a number with a unit stands in it");
        *x = e->number.value;
        return true;
    case AST_REF: return read_known_name(r, in, e, x);
    case AST_NEG:
        if (!read_known_number(r, in, e->un.a, x))
            return false;
        *x = -*x;
        return true;
    case AST_NOT:
        if (!read_known_number(r, in, e->un.a, x))
            return false;
        *x = *x == 0;
        return true;
    case AST_BINARY: return read_binary(r, in, e, x);
    case AST_IF:
        for (; e->kind == AST_IF; e = e->cond.b) {
            if (!read_known_number(r, in, e->cond.c, &c))
                return false;
            if (c != 0)
                return read_known_number(r, in, e->cond.a, x);
        }
        return read_known_number(r, in, e, x);
    case AST_CALL: return read_call(r, in, e, x);
    case AST_STRING:
    case AST_MATRIX: break;
    }
    return unknown(r, e->at, "this is no number");
}

static bool
read_known_number(struct reader *r, scope *in, const ast_expr *e, double *x)
{
    bool fine;

    if (r->depth >= DEEPEST || r->steps >= MOST_STEPS)
        return unknown(r, e->at, "its constants read each other too deeply");
    r->depth++;
    r->steps++;
    fine = read_inside(r, in, e, x);
    r->depth--;
    return fine;
}

bool
known_number(elab *el, scope *in, const ast_expr *e, const char *what, bool quiet, double *x, bool *sized)
{
    struct reader r = { .el = el, .what = what, .quiet = quiet };
    bool fine = read_known_number(&r, in, e, x);

    if (sized)
        *sized = r.sized;
    return fine;
}

/* i, i + 1, 3: nearly all indexes in loops, for integers small enough to be exact. */
static bool
plain_index(const scope *in, const ast_expr *e, int depth, int64_t *x)
{
    int64_t a, b;

    switch (e->kind) {
    case AST_NUMBER:
        if (ast_number_unit(e) || !(fabs(e->number.value) <= MOST_INDEX) || e->number.value != floor(e->number.value))
            return false;
        *x = (int64_t)e->number.value;
        return true;
    case AST_REF:
        if (!in->loop || in->nknown != 1 || ast_expr_name(e) != in->known->name)
            return false;
        *x = in->round;
        return true;
    case AST_BINARY:
        if ((e->op != AST_ADD && e->op != AST_SUB) || !depth || !plain_index(in, e->bin.a, depth - 1, &a) ||
            !plain_index(in, e->bin.b, depth - 1, &b))
            return false;
        *x = e->op == AST_ADD ? a + b : a - b;
        return true;
    default: return false;
    }
}

bool
known_integer(elab *el, scope *in, const ast_expr *e, const char *what, int64_t *x)
{
    double d;

    if (plain_index(in, e, 4, x))
        return true;
    if (!known_number(el, in, e, what, false, &d, NULL))
        return false;
    if (isnan(d)) {
        diag_error(el->s, "known-number", e->at, "%s must be a whole number; it is not a number", what);
        return false;
    }
    if (!isfinite(d) || d != floor(d)) {
        diag_error(el->s, "known-number", e->at, "%s must be a whole number; it is %.15g", what, d);
        return false;
    }
    *x = (int64_t)fmin(fmax(d, -GREATEST_WHOLE), GREATEST_WHOLE);
    return true;
}

bool
known_index(elab *el, scope *in, const ast_expr *e, const char *what, int32_t *x)
{
    int64_t i;

    if (!known_integer(el, in, e, what, &i))
        return false;
    if (i < -MOST_INDEX || i > MOST_INDEX) {
        diag_error(el->s, "model-size", e->at, "%s is %lld; arrays have at most %d items", what, (long long)i,
                   MOST_INDEX);
        return false;
    }
    *x = (int32_t)i;
    return true;
}
