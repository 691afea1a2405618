/* several.c - functions of several numbers, or of the entries of vectors: sum, mean, norm, min, max; and mod and round,
 * which use floor */
#include <string.h>

#include "elab.h"

static const char *const several[] = { "sum", "mean", "norm", "min", "max", "mod", "round" };

bool
is_several(const char *name)
{
    for (size_t k = 0; k < sizeof several / sizeof *several; k++)
        if (!strcmp(several[k], name))
            return true;
    return false;
}

const char *
several_name(size_t k)
{
    return k < sizeof several / sizeof *several ? several[k] : NULL;
}

typedef VEC(node) nodes;

/* The numbers in all arguments, entries of vectors one by one, and their common unit. */
static val
gather_arguments(builder *b, const ast_expr *e, nodes *out)
{
    elab *el = b->el;
    val all = { .fit = FIT_ZERO };

    for (int k = 0; k < e->call.nargs; k++) {
        const ast_expr *a = e->call.arg[k];
        val v = resolve(b, a, true);

        if (!v.m)
            need_number(el, &v, a->at);
        if (v.bad)
            return val_bad(el);
        for (uint32_t i = 0; v.m && i < v.m->rows * v.m->cols; i++)
            vec_push(out, v.m->at[i]);
        if (!v.m)
            vec_push(out, v.n);
        v.m = NULL;
        all = k == 0        ? v
              : b->any_unit ? (val){ .fit = FIT_ANY }
                            : units_together(el, "taken together", all, e->call.arg[0]->at, v, a->at);
        if (all.bad)
            return all;
    }
    return all;
}

/* a op b op c as a balanced tree, so that long vectors make no deep trees */
static node
fold(pool *p, enum ex_op op, const node *at, size_t n)
{
    return n == 1 ? at[0] : ex_make(p, op, fold(p, op, at, n / 2), fold(p, op, at + n / 2, n - n / 2), NODE_NONE);
}

static node
made(pool *p, const char *name, nodes *x)
{
    switch (name[0] + name[1]) {
    case 's' + 'u': return fold(p, EX_ADD, x->at, x->n);
    case 'n' + 'o':
        for (size_t k = 0; k < x->n; k++)
            x->at[k] = ex_mul(p, x->at[k], x->at[k]);
        return ex_make(p, EX_SQRT, fold(p, EX_ADD, x->at, x->n), NODE_NONE, NODE_NONE);
    case 'm' + 'i': return fold(p, EX_MIN, x->at, x->n);
    case 'm' + 'a': return fold(p, EX_MAX, x->at, x->n);
    case 'm' + 'e': return ex_div(p, fold(p, EX_ADD, x->at, x->n), ex_const(p, (double)x->n));
    case 'm' + 'o':
        return ex_sub(p, x->at[0],
                      ex_mul(p, x->at[1], ex_make(p, EX_FLOOR, ex_div(p, x->at[0], x->at[1]), NODE_NONE, NODE_NONE)));
    default: return ex_make(p, EX_FLOOR, ex_add(p, x->at[0], ex_const(p, 0.5)), NODE_NONE, NODE_NONE);
    }
}

/* Is n zero by its form, or a zero of the text? */
static bool
is_written_zero(const builder *b, node n)
{
    const flat_model *f = b->el->f;
    const ex_node *x = pool_node(b->el->pool, n);
    double number = 1;

    if (x->op == EX_SLOT && !b->function && f->var.at[b->slot.at[x->a]].kind == VAR_LITERAL)
        number = var_value(f, b->slot.at[x->a]);
    return number == 0 || (ex_is_const(b->el->pool, n, &number) && number == 0);
}

val
call_several(builder *b, const ast_expr *e)
{
    elab *el = b->el;
    const char *name = e->call.name;
    bool mod = !strcmp(name, "mod"), round = !strcmp(name, "round");
    nodes x = { 0 };
    val r = gather_arguments(b, e, &x);

    if (!r.bad && (mod ? x.n != 2 : round ? x.n != 1 : !x.n)) {
        diag_error(el->s, "call-arguments", e->at, "%s takes %s; here %s %zu", name,
                   mod     ? "2 numbers"
                   : round ? "1 number"
                           : "numbers or vectors",
                   x.n == 1 ? "is" : "are", x.n);
        diag_help(el->s, "Write %s.",
                  mod     ? "mod(a, b), the remainder of a after whole multiples of b"
                  : round ? "round(x), the nearest whole number"
                          : arena_format(el->a, "%s(a, b, c) or %s(v) of a vector v", name, name));
        r = val_bad(el);
    }
    if (!r.bad && mod && is_written_zero(b, x.at[1])) {
        diag_error(el->s, "call-arguments", e->call.arg[1]->at, "mod divides by this, which is 0");
        r = val_bad(el);
    }
    if (!r.bad && round && !units_pure(el, r, e->call.arg[0]->at, name))
        r = val_bad(el);
    if (!r.bad && may_write_out(el, x.n, e->at)) {
        r.n = made(el->pool, name, &x);
        r.written = r.said = NULL;
        if (r.fit == FIT_ZERO)
            r.fit = FIT_BARE;
    } else {
        r = val_bad(el);
    }
    vec_free(&x);
    return r;
}
