/* equations_junctions.c - balances of junctions, and the variable that each of them defines */
#include <stdlib.h>

#include "equations_inside.h"

enum { SUM_TERMS = 16 }; /* longer balances become trees of sums, so that templates stay small */

void
equations_add_term(struct terms *t, var_id v, int8_t sign)
{
    vec_push(&t->var, v);
    vec_push(&t->sign, sign);
}

/* The term of an incidence in junction j's balance. */
static var_id
incidence_var(const flat_model *f, uint32_t j, const flat_incidence *inc)
{
    if (inc->is_bond) {
        const flat_bond *b = &f->bond.at[inc->index];

        return b->own != VAR_NONE ? b->own : f->junction.at[b->from == j ? b->to : b->from].common;
    } else {
        const flat_port *p = &f->port.at[inc->index];

        return p->e == f->junction.at[j].common ? p->f : p->e;
    }
}

struct term_pair {
    var_id var;
    int32_t weight;
};

static int
by_variable(const void *a, const void *b)
{
    const struct term_pair *x = a, *y = b;

    return (x->var > y->var) - (x->var < y->var);
}

inst
equations_sum_of(equations *e, struct terms *t, uint32_t junction)
{
    flat_model *f = e->f;
    inst sum;

    while (t->var.n > SUM_TERMS) {
        struct terms up = { 0 };

        for (size_t i = 0; i < t->var.n; i += SUM_TERMS) {
            size_t n = t->var.n - i < SUM_TERMS ? t->var.n - i : SUM_TERMS;
            inst part = inst_sum(e->composer, t->var.at + i, t->sign.at + i, n);
            var_id v = eq_new_var(e, VAR_AUX, junction, f->junction.at[junction].name, f->junction.at[junction].at,
                                  f->var.at[t->var.at[i]].position);

            eq_define(e, v, part);
            equations_add_term(&up, v, 1);
        }
        vec_free(&t->var);
        vec_free(&t->sign);
        *t = up;
    }
    sum = t->var.n ? inst_sum(e->composer, t->var.at, t->sign.at, t->var.n) : inst_const(f, 0);
    return sum;
}

static uint32_t
representative(uint32_t *equal, uint32_t j)
{
    while (equal[j] != j)
        j = equal[j] = equal[equal[j]];
    return j;
}

void
equations_find_equal(equations *e)
{
    const flat_model *f = e->f;
    VEC(uint32_t) path = { 0 };

    e->equal = bg_malloc((f->junction.n + 1) * sizeof *e->equal);
    for (uint32_t j = 0; j < f->junction.n; j++)
        e->equal[j] = NONE;
    for (uint32_t j = 0; j < f->junction.n; j++) {
        uint32_t k = j;

        path.n = 0;
        while (e->equal[k] == NONE) {
            const flat_incidence *inc = e->c->strong[k] == NONE ? NULL : &f->incidence.at[e->c->strong[k]];
            const flat_bond *b = inc && inc->is_bond ? &f->bond.at[inc->index] : NULL;

            vec_push(&path, k);
            e->equal[k] = k; /* also ends a cycle of such bonds, which causality has refused */
            if (b && b->own != VAR_NONE)
                k = b->from == k ? b->to : b->from;
        }
        k = e->equal[k];
        for (size_t i = 0; i < path.n; i++)
            e->equal[path.at[i]] = k;
    }
    vec_free(&path);
    for (uint32_t i = 0; i < f->bond.n; i++)
        if (f->bond.at[i].own != VAR_NONE && e->c->bond_from[i] == ST_OPEN && e->c->bond_to[i] == ST_OPEN)
            e->equal[representative(e->equal, f->bond.at[i].to)] = representative(e->equal, f->bond.at[i].from);
    for (uint32_t j = 0; j < f->junction.n; j++)
        e->equal[j] = representative(e->equal, j);
}

/* The terms of junction j, by variable: parallel bonds name the same one several times, which gives one term. Returns
 * their number; all: space for as many as there are incidences. */
static size_t
gather_terms(const equations *e, uint32_t j, var_id except, struct term_pair *all)
{
    const flat_model *f = e->f;
    const flat_junction *jn = &f->junction.at[j];
    size_t n = 0, merged = 0;
    bool sorted = true;

    for (uint32_t i = 0; i < jn->ninc; i++) {
        const flat_incidence *inc = &f->incidence.at[jn->inc0 + i];
        var_id v = incidence_var(f, j, inc);

        if (v != except && f->var.at[v].kind == VAR_COMMON) {
            var_id same = f->junction.at[e->equal[f->var.at[v].owner]].common;

            v = same == except ? v : same;
        }
        sorted &= !n || all[n - 1].var <= v;
        all[n++] = (struct term_pair){ v, inc->sign };
    }
    if (!sorted)
        qsort(all, n, sizeof *all, by_variable);
    for (size_t i = 0; i < n; i++)
        if (merged && all[merged - 1].var == all[i].var)
            all[merged - 1].weight += all[i].weight;
        else
            all[merged++] = all[i];
    return merged;
}

/* Balance of junction j without `except` (VAR_NONE: all terms), times -1/weight of `except`. */
static inst
junction_balance(equations *e, uint32_t j, var_id except, bool *determined)
{
    flat_model *f = e->f;
    struct term_pair few[SUM_TERMS], *all = few;
    var_id few_var[SUM_TERMS];
    int8_t few_sign[SUM_TERMS];
    struct terms t = { 0 };
    int32_t weight = 0;
    size_t n, total = 0;
    inst sum;

    if (f->junction.at[j].ninc > SUM_TERMS)
        all = bg_malloc(f->junction.at[j].ninc * sizeof *all);
    n = gather_terms(e, j, except, all);
    for (size_t i = 0; i < n; i++)
        if (all[i].var == except)
            weight = all[i].weight;
    for (size_t i = 0; i < n; i++) {
        int32_t w = weight > 0 ? -all[i].weight : all[i].weight;

        for (int32_t k = 0; k < (w < 0 ? -w : w) && all[i].var != except; k++, total++) {
            if (total == SUM_TERMS)
                for (size_t m = 0; m < total; m++)
                    equations_add_term(&t, few_var[m], few_sign[m]);
            if (total >= SUM_TERMS) {
                equations_add_term(&t, all[i].var, w < 0 ? -1 : 1);
            } else {
                few_var[total] = all[i].var;
                few_sign[total] = w < 0 ? -1 : 1;
            }
        }
    }
    if (all != few)
        free(all);
    if (determined)
        *determined = weight != 0;
    if (total && total <= SUM_TERMS)
        sum = inst_sum(e->composer, few_var, few_sign, total);
    else
        sum = equations_sum_of(e, &t, j);
    vec_free(&t.var);
    vec_free(&t.sign);
    if (weight > 1 || weight < -1)
        sum = equations_combine(e, EX_DIV, sum, inst_const(f, weight < 0 ? -weight : weight));
    return sum;
}

bool
equations_define_junction(equations *e, struct groups *g, uint32_t j, const uint32_t *component_group)
{
    flat_model *f = e->f;
    const causal *c = e->c;
    const flat_incidence *inc;
    bool determined;
    var_id y;

    e->defining = (defined){ DEF_BY_BALANCE, j };
    if (c->strong[j] == NONE) {
        /* open: one unknown and one equation of its component; or a junction state, whose rate the balance
         * determines */
        if (e->var.at[f->junction.at[j].common].kind == DEF_STATE)
            group_add(g, group_new(g), e->state.at[e->var.at[f->junction.at[j].common].index].rate,
                      junction_balance(e, j, VAR_NONE, NULL));
        else
            group_add(g, component_group[j], f->junction.at[j].common, junction_balance(e, j, VAR_NONE, NULL));
        return true;
    }
    inc = &f->incidence.at[c->strong[j]];
    y = incidence_var(f, j, inc);
    if (inc->is_bond && f->bond.at[inc->index].own != VAR_NONE) {
        const flat_bond *b = &f->bond.at[inc->index];

        e->defining = (defined){ DEF_BY_BOND, inc->index };
        eq_define(e, f->junction.at[j].common, inst_var(f, f->junction.at[b->from == j ? b->to : b->from].common));
        e->defining = (defined){ DEF_BY_BALANCE, j };
    }
    inst def = junction_balance(e, j, y, &determined);

    if (!determined) {
        diag_error(f->sources, "causality-singular", f->junction.at[j].at,
                   "the bonds between \"%s\" and its neighbour cancel: nothing determines \"%s\"",
                   f->junction.at[j].name, var_name(f, y));
        return false;
    }
    eq_define(e, y, def);
    return true;
}
