/* views.c - see views.h */
#include <math.h>
#include <stdlib.h>

#include "views.h"

/* The variable that an expression is seen from, and the slots of the others. */
struct viewer {
    equations *e;
    var_id from;
    bool whole;
    const var_id *other;
};

/* Is v a condition on the variable itself, to be written out? */
static bool
is_own_condition(const struct viewer *w, var_id v)
{
    const equations *e = w->e;
    const flat_var *x = &e->f->var.at[v];

    return w->whole && x->kind == VAR_MODE && inst_slot_of(e->f, e->mode.at[x->owner].g, w->from) != NONE;
}

/* What the condition v compares with zero. */
static inst
compared_by(const struct viewer *w, var_id v)
{
    return w->e->mode.at[w->e->f->var.at[v].owner].g;
}

/* A condition on g as an expression; NODE_NONE: of another kind. */
static node
condition_on(pool *p, uint8_t kind, node g)
{
    node zero = ex_const(p, 0);

    switch (kind) {
    case MODE_LESS: return ex_make(p, EX_LT, g, zero, NODE_NONE);
    case MODE_LESS_EQUAL: return ex_make(p, EX_LE, g, zero, NODE_NONE);
    case MODE_PIECE: return ex_const(p, -1); /* a table without a given piece searches for it */
    default: return NODE_NONE;
    }
}

static void
list_others(const struct viewer *w, inst i, view_variables *to)
{
    const flat_model *f = w->e->f;

    for (uint32_t k = 0; k < i.n; k++) {
        var_id v = inst_slots(f, i)[k];

        if (is_own_condition(w, v))
            list_others(w, compared_by(w, v), to);
        else if (v != w->from && f->var.at[v].kind != VAR_LITERAL)
            vec_push(to, v);
    }
}

/* Sorts the variables from `first` on; each stays once. */
static void
sort_others(view_variables *v, size_t first)
{
    size_t n = first;

    if (v->n > first)
        qsort(v->at + first, v->n - first, sizeof *v->at, bg_compare_numbers);
    for (size_t k = first; k < v->n; k++)
        if (k == first || v->at[k] != v->at[n - 1])
            v->at[n++] = v->at[k];
    v->n = n;
}

static node
node_for(const struct viewer *w, var_id v)
{
    flat_model *f = w->e->f;
    uint32_t at = 0;

    if (v == w->from)
        return ex_slot(f->pool, 0);
    if (f->var.at[v].kind == VAR_LITERAL)
        return ex_const(f->pool, var_value(f, v));
    while (w->other[at] != v)
        at++;
    return ex_slot(f->pool, at + 1);
}

static node
seen(const struct viewer *w, inst i)
{
    flat_model *f = w->e->f;
    VEC(node) with = { 0 };
    node root = 0;

    for (uint32_t k = 0; k < i.n && root != NODE_NONE; k++) {
        var_id v = inst_slots(f, i)[k];

        if (is_own_condition(w, v)) {
            node g = seen(w, compared_by(w, v));

            root = g == NODE_NONE ? NODE_NONE : condition_on(f->pool, w->e->mode.at[f->var.at[v].owner].kind, g);
        } else {
            root = node_for(w, v);
        }
        vec_push(&with, root);
    }
    if (root != NODE_NONE)
        root = ex_substitute(f->pool, i.root, with.at, i.n);
    vec_free(&with);
    return root;
}

view
view_from(equations *e, inst i, var_id from, bool whole, view_variables *others)
{
    struct viewer w = { .e = e, .from = from, .whole = whole };
    view to = { .others0 = (uint32_t)others->n };

    list_others(&w, i, others);
    sort_others(others, to.others0);
    to.n = (uint32_t)others->n - to.others0;
    w.other = to.n ? others->at + to.others0 : NULL;
    to.root = seen(&w, i);
    return to;
}

bool
view_is_combination(pool *p, node root, const bool *flag, const double *value, uint32_t n, double *factor)
{
    bool is = ex_affine_in(p, root, flag, n) && ex_eval(p, root, value) == 0;

    for (uint32_t k = 0; k < n && is; k++)
        if (flag[k]) {
            factor[k] = ex_eval(p, ex_derivative(p, root, k), value);
            is = isfinite(factor[k]) && factor[k] != 0;
        }
    return is;
}
