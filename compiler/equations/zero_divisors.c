/* zero_divisors.c - see zero_divisors.h */
#include "zero_divisors.h"

#include "parameters.h"

/* Is the divisor made of parameters and numbers alone, with the value 0? slot: room for the numbers that it reads. */
static bool
is_zero(const equations *e, inst def, node divisor, const double *value, double *slot)
{
    const flat_model *f = e->f;
    const uint32_t *v = inst_slots(f, def);
    bool *used = bg_calloc(def.n + 1, sizeof *used), fixed = true;

    ex_slots_used(f->pool, divisor, used, def.n);
    for (uint32_t k = 0; k < def.n; k++) {
        enum var_kind kind = f->var.at[v[k]].kind;

        fixed = fixed && (!used[k] || kind == VAR_PARAM || kind == VAR_LITERAL);
        slot[k] = value[v[k]];
    }
    free(used);
    return fixed && ex_eval(f->pool, divisor, slot) == 0;
}

static void
warn(const equations *e, var_id v, node divisor, const double *slot)
{
    flat_model *f = e->f;
    inst def = e->var.at[v].def;
    bool *used = bg_calloc(def.n + 1, sizeof *used);
    strbuf text = { 0 };
    arena *a = arena_new();
    const char *name = equations_name(e, v, a);

    ex_slots_used(f->pool, divisor, used, def.n);
    flat_print(f, def, &text);
    diag_warn(f->sources, "value-zero", equations_place(e, v), "\"%s\" is divided by zero: it is %s", name ? name : "",
              text.at);
    arena_free(a);
    for (uint32_t k = 0; k < def.n; k++) {
        var_id w = inst_slots(f, def)[k];

        if (used[k] && f->var.at[w].kind == VAR_PARAM)
            diag_note(f->sources, var_at(f, w), "\"%s\" is %.6g", var_name(f, w), slot[k]);
    }
    strbuf_free(&text);
    free(used);
}

void
zero_divisors_warn(const equations *e)
{
    const flat_model *f = e->f;
    double *value = bg_calloc(f->var.n + 1, sizeof *value);
    VEC(double) slot = { 0 };

    parameter_values(f, value, NULL);
    for (var_id v = 0; v < f->var.n; v++) {
        inst def = e->var.at[v].def;
        const ex_node *x = e->var.at[v].kind == DEF_EXPLICIT && inst_known(def) ? pool_node(f->pool, def.root) : NULL;

        if (!x || x->op != EX_DIV)
            continue;
        while (slot.n < def.n)
            vec_push(&slot, 0);
        if (is_zero(e, def, x->b, value, slot.at))
            warn(e, v, x->b, slot.at);
    }
    vec_free(&slot);
    free(value);
}
