/* rates.c - see rates.h */
#include <stdlib.h>
#include "rates.h"

enum { MAX_DERIVATIVE_ORDER = 4 };

var_id
rate_of(struct rates *r, var_id v)
{
    equations *e = r->e;
    flat_model *f = e->f;
    var_id d;

    if (e->var.at[v].kind == DEF_STATE)
        return e->state.at[e->var.at[v].index].rate;
    if (e->var.at[v].kind == DEF_HELD)
        return VAR_NONE;
    if (f->var.at[v].kind == VAR_MODE && e->mode.at[f->var.at[v].owner].kind == MODE_GIVEN && r->ok && !r->spare) {
        diag_error(f->sources, "derivative-delay", var_at(f, v),
                   "\"%s\" would have to be differentiated, but the rate of a delayed value is not known",
                   var_name(f, v));
        diag_help(f->sources, "Delay the rate instead, delay(der(x), T); or put a resistor between the delayed value "
                              "and the storage.");
        r->ok = false;
    }
    if (e->var.at[v].kind == DEF_GIVEN)
        return f->var.at[v].kind == VAR_PARAM ? f->var.at[v].owner : VAR_NONE; /* the derivative of time is 1 */
    d = map_get(&r->of, v);
    if (d != MAP_NONE)
        return d;
    d = eq_new_rate(e, v);
    map_set(&r->of, v, d);
    vec_resize(&r->order, f->var.n);
    r->order.at[d] = (uint8_t)(r->order.at[v] + 1);
    if (r->order.at[d] > MAX_DERIVATIVE_ORDER) {
        if (r->ok && !r->spare) {
            diag_error(f->sources, "derivative-order", var_at(f, v),
                       "\"%s\" would have to be differentiated more than %d times", var_name(f, v),
                       MAX_DERIVATIVE_ORDER);
            diag_help(f->sources, "A dependent storage reads what depends on its own rate; put a compliance or a "
                                  "resistor between.");
        }
        r->ok = r->ok && r->spare;
        eq_define(e, d, inst_const(f, 0));
        return d;
    }
    vec_push(&r->pending, d);
    return d;
}

inst
differentiate(struct rates *r, inst i)
{
    equations *e = r->e;
    flat_model *f = e->f;
    pool *p = f->pool;
    VEC(var_id) slots = { 0 };
    node sum = ex_const(p, 0);
    inst result;

    for (uint32_t k = 0; k < i.n; k++)
        vec_push(&slots, f->slot.at[i.first + k]);
    for (uint32_t k = 0; k < i.n; k++) {
        node d = ex_derivative(p, i.root, k);
        double value;

        if (ex_is_const(p, d, &value) && value == 0)
            continue;
        if (slots.at[k] == 0) {
            sum = ex_add(p, sum, d);
        } else {
            var_id rate = rate_of(r, slots.at[k]);

            if (rate == VAR_NONE)
                continue;
            sum = ex_add(p, sum, ex_mul(p, d, ex_slot(p, (uint32_t)slots.n)));
            vec_push(&slots, rate);
        }
    }
    /* a rate may already be in the slots: composition makes them distinct */
    result = inst_compose(e->composer, flat_inst(f, sum, slots.at, (uint32_t)slots.n), NULL);
    vec_free(&slots);
    return inst_compact(e->composer, result);
}

void
define_rates(struct rates *r)
{
    equations *e = r->e;

    while (r->pending.n) {
        var_id d = r->pending.at[--r->pending.n], v = e->f->var.at[d].owner;
        uint32_t group = group_of(r->g, v);

        if (e->var.at[d].kind != DEF_NONE || group_of(r->g, d) != NONE)
            continue;
        e->defining = (defined){ DEF_BY_RATE, v };
        if (group == NONE) {
            /* of a rate: defines the rate first */
            if (e->var.at[v].kind == DEF_NONE && e->f->var.at[v].kind == VAR_RATE) {
                vec_push(&r->pending, d);
                vec_push(&r->pending, v);
                continue;
            }
            if (e->var.at[v].kind == DEF_EXPLICIT) {
                inst def = differentiate(r, e->var.at[v].def);

                eq_define(e, d, def);
                vec_push(&r->differentiated, v);
            } else {
                eq_define(e, d, inst_const(e->f, 0));
            }
            continue;
        }
        /* unknowns of a block: its differentiated equations are a block for the rates, with the same matrix */
        if (map_get(&r->group_of, group) == MAP_NONE) {
            uint32_t rates = group_new(r->g), n = group_size(r->g, group);

            map_set(&r->group_of, group, rates);
            for (uint32_t i = 0; i < n; i++) {
                var_id u = group_unknown(r->g, group, i), du = rate_of(r, u);
                inst residual = differentiate(r, group_residual(r->g, group, i));

                e->defining = (defined){ DEF_BY_RATE, u };
                group_add(r->g, rates, du, residual);
            }
        }
    }
}

void
rates_free(struct rates *r)
{
    vec_free(&r->differentiated);
    vec_free(&r->pending);
    vec_free(&r->order);
    map_free(&r->of);
    map_free(&r->group_of);
}
