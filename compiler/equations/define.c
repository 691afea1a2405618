/* define.c - see define.h */
#include "define.h"

void
eq_sync(equations *e)
{
    if (e->var.n < e->f->var.n) {
        size_t from = e->var.n;

        vec_resize(&e->var, e->f->var.n);
        for (size_t i = from; i < e->var.n; i++) {
            enum var_kind kind = e->f->var.at[i].kind;

            e->var.at[i].kind = kind == VAR_TIME || kind == VAR_PARAM || kind == VAR_LITERAL || kind == VAR_MODE
                                    ? DEF_GIVEN
                                    : DEF_NONE;
            e->var.at[i].def = INST_NONE;
        }
    }
}

var_id
eq_new_var(equations *e, enum var_kind kind, uint32_t owner, const char *name, span at, uint32_t position)
{
    var_id v = flat_add_var(e->f, kind, owner, name, at);

    e->f->var.at[v].position = position;
    eq_sync(e);
    return v;
}

var_id
eq_new_rate(equations *e, var_id v)
{
    return eq_new_var(e, VAR_RATE, v, NULL, SPAN_NONE, e->f->var.at[v].position);
}

void
eq_note(equations *e, var_id v)
{
    e->var.at[v].by = e->defining.by;
    e->var.at[v].of = e->defining.of;
}

void
eq_define(equations *e, var_id v, inst def)
{
    e->var.at[v].kind = DEF_EXPLICIT;
    e->var.at[v].def = def;
    eq_note(e, v);
}
