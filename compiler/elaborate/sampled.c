/* sampled.c - earlier values: previous(x) and the random numbers noise(seed), uniform(seed), allowed only in `every`,
 * and delay(x, T)
 *
 * previous(x) is x for the values of its variables at the last sample. Each variable that does not hold its value by
 * itself gets a memory: a state without a rate, which every sample sets to the variable's value.
 */
#include <string.h>

#include "elab.h"

static bool
in_every(builder *b, const ast_expr *e)
{
    if (b->every != NONE)
        return true;
    diag_error(b->el->s, "every-only", e->at, "%s has a meaning only within the values that `every` sets",
               e->call.name);
    diag_help(b->el->s, "Write: signal u = 0; every 50 [ms] { u = ... }");
    return false;
}

static bool
takes_one_argument(builder *b, const ast_expr *e)
{
    if (e->call.nargs == 1)
        return true;
    diag_error(b->el->s, "call-arguments", e->at, "%s takes 1 argument; here %s %d", e->call.name,
               e->call.nargs == 1 ? "is" : "are", e->call.nargs);
    return false;
}

/* The value of v at the last sample of the current block. */
static var_id
remember_sample(builder *b, var_id v, span at)
{
    elab *el = b->el;
    flat_model *f = el->f;
    enum var_kind kind = f->var.at[v].kind;
    var_id memory;

    bool memory_of = false;
    flat_said *said;

    for (size_t k = 0; k < el->remembered.n; k++) {
        if (el->remembered.at[k].of == v)
            return el->remembered.at[k].memory;
        memory_of |= el->remembered.at[k].memory == v;
    }
    if (kind == VAR_PARAM || kind == VAR_LITERAL || (f->var.at[v].holds && !memory_of))
        return v;
    memory = flat_add_var(f, VAR_INTEGRAL, NONE, arena_format(el->a, "previous(%s)", var_name(f, v)), at);
    var_set_unit(f, memory, var_unit(f, v));
    f->var.at[memory].holds = true;
    said = var_say(f, memory);
    said->display = var_display(f, v);
    said->def = said->init = set_inst(el, 0);
    vec_push(&el->remembered, ((struct remembered){ v, memory }));
    return memory;
}

val
make_previous(builder *b, const ast_expr *e)
{
    elab *el = b->el;
    builder in;
    val v;

    if (!in_every(b, e) || !takes_one_argument(b, e))
        return val_bad(el);
    in = builder_new(el, b->in, b->reads, b->who);
    in.own = b->own;
    in.every = b->every;
    v = resolve(&in, e->call.arg[0], false);
    need_number(el, &v, e->call.arg[0]->at);
    if (!v.bad) {
        node *with = bg_calloc(in.slot.n + 1, sizeof *with);

        for (size_t k = 0; k < in.slot.n; k++)
            with[k] = builder_slot(b, remember_sample(b, in.slot.at[k], e->at));
        v.n = ex_substitute(el->pool, v.n, with, (uint32_t)in.slot.n);
        free(with);
    }
    v.shown = v.written = v.said = NULL;
    builder_free(&in);
    return v;
}

val
make_draw(builder *b, const ast_expr *e, bool normal)
{
    elab *el = b->el;
    flat_draw d = { .normal = normal, .when = b->every, .seed = INST_NONE, .at = e->at };
    val seed;

    if (!in_every(b, e) || !takes_one_argument(b, e))
        return val_bad(el);
    seed = initial_value(el, b->in, e->call.arg[0], "the seed", el->one, &d.seed);
    if (seed.bad || !inst_known(d.seed))
        return val_bad(el);
    d.var = flat_add_var(el->f, VAR_MODE, NONE, text_of(el, e->at), e->at);
    vec_push(&el->f->draw, d);
    return (val){ .n = builder_slot(b, d.var), .fit = FIT_BARE };
}

val
make_delay(builder *b, const ast_expr *e)
{
    elab *el = b->el;
    flat_delay d = { .of = INST_NONE, .by = INST_NONE, .before = INST_NONE, .at = e->at };
    builder in;
    val v, by, before = { .bad = false };

    if (e->call.nargs < 2 || e->call.nargs > 3) {
        diag_error(el->s, "call-arguments", e->at, "delay takes 2 or 3 arguments; here %s %d",
                   e->call.nargs == 1 ? "is" : "are", e->call.nargs);
        diag_help(el->s, "Write delay(x, T) or delay(x, T, before).");
        return val_bad(el);
    }
    in = builder_new(el, b->in, b->reads, b->who);
    in.own = b->own;
    v = resolve(&in, e->call.arg[0], false);
    need_number(el, &v, e->call.arg[0]->at);
    by = initial_value(el, b->in, e->call.arg[1], "the time of the delay", el->second, &d.by);
    if (e->call.nargs > 2 && !v.bad)
        before = initial_value(el, b->in, e->call.arg[2], "the value before the start",
                               v.fit == FIT_UNIT ? v.unit : NULL, &d.before);
    if (before.fit == FIT_UNIT)
        claim_unit(&in, v, e->call.arg[0]->at, before.unit, "by its value before the start, what is delayed");
    if (v.bad || by.bad || before.bad || !inst_known(d.by)) {
        builder_free(&in);
        return val_bad(el);
    }
    d.of = builder_inst(&in, v.n);
    builder_free(&in);
    d.var = flat_add_var(el->f, VAR_MODE, NONE, text_of(el, e->at), e->at);
    if (v.fit == FIT_UNIT)
        var_set_unit(el->f, d.var, v.unit);
    vec_push(&el->f->delay, d);
    v.n = builder_slot(b, d.var);
    v.shown = v.written = v.said = NULL;
    if (v.fit == FIT_ZERO)
        v.fit = FIT_BARE;
    return v;
}
