/* interpret.c - see interpret.h */
#include <math.h>
#include <stdlib.h>

#include "interpret.h"

static int
compare_rank(const void *a, const void *b, void *ctx)
{
    const equations *e = ctx;
    uint32_t x = e->var.at[*(const var_id *)a].rank, y = e->var.at[*(const var_id *)b].rank;

    return (x > y) - (x < y);
}

var_id
interpret(const equations *e, const uint32_t *position, double t, const double *x, const double *modes, double *v,
          node *culprit, bool all)
{
    const flat_model *f = e->f;
    VEC(var_id) order = { 0 };
    VEC(double) slot = { 0 };
    var_id bad = VAR_NONE;
    node blamed;

    v[0] = t;
    for (size_t i = 0; i < e->state.n; i++)
        v[e->state.at[i].var] = x[position[e->state.at[i].var]];
    for (size_t k = 0; k < e->mode.n; k++)
        v[e->mode.at[k].var] = modes[k];
    for (size_t k = 0; k < e->held.n; k++)
        v[e->held.at[k]] = modes[e->mode.n + k];
    for (uint32_t i = 0; i < e->var.n; i++)
        if (e->var.at[i].kind == DEF_EXPLICIT)
            vec_push(&order, i);
    if (order.n)
        qsort_r(order.at, order.n, sizeof *order.at, compare_rank, (void *)e);
    for (size_t i = 0; i < order.n && (all || bad == VAR_NONE); i++) {
        inst d = e->var.at[order.at[i]].def;
        bool known = true;

        slot.n = 0;
        for (uint32_t k = 0; k < d.n; k++) {
            vec_push(&slot, v[f->slot.at[d.first + k]]);
            known = known && isfinite(slot.at[k]);
        }
        v[order.at[i]] = known ? ex_eval_explain(f->pool, d.root, slot.at, culprit ? culprit : &blamed) : NAN;
        if (known && !isfinite(v[order.at[i]]) && bad == VAR_NONE)
            bad = order.at[i];
    }
    vec_free(&order);
    vec_free(&slot);
    return bad;
}
