/* zero_divisors.c - see zero_divisors.h */
#include "zero_divisors.h"

#include "parameters.h"

struct search {
    const equations *e;
    const double *value;
    VEC(node) todo;
    VEC(double) slot;
};

/* Is it made of parameters and numbers alone, with the value 0? */
static bool
is_zero(struct search *s, inst def, node divisor)
{
    const flat_model *f = s->e->f;
    const uint32_t *v = inst_slots(f, def);
    bool *used = bg_calloc(def.n + 1, sizeof *used), fixed = true;

    ex_slots_used(f->pool, divisor, used, def.n);
    s->slot.n = 0;
    for (uint32_t k = 0; k < def.n; k++) {
        enum var_kind kind = f->var.at[v[k]].kind;

        fixed = fixed && (!used[k] || kind == VAR_PARAM || kind == VAR_LITERAL);
        vec_push(&s->slot, s->value[v[k]]);
    }
    free(used);
    return fixed && ex_eval(f->pool, divisor, s->slot.at) == 0;
}

/* The first divisor that is zero, NODE_NONE: there is none. */
static node
find_zero_divisor(struct search *s, inst def)
{
    const pool *p = s->e->f->pool;

    s->todo.n = 0;
    vec_push(&s->todo, def.root);
    while (s->todo.n) {
        const ex_node *x = pool_node(p, s->todo.at[--s->todo.n]);

        if (x->op == EX_CONST || x->op == EX_SLOT || x->op == EX_SELECT)
            continue;
        if (x->op == EX_DIV && is_zero(s, def, x->b))
            return x->b;
        if (x->b != NODE_NONE)
            vec_push(&s->todo, x->b);
        if (x->a != NODE_NONE)
            vec_push(&s->todo, x->a);
    }
    return NODE_NONE;
}

/* Names the parameters in the divisor: those that are zero, or if none is (a - b) all of them. */
static void
note_parameters(struct search *s, inst def, node divisor)
{
    flat_model *f = s->e->f;
    bool *used = bg_calloc(def.n + 1, sizeof *used), zero = false;

    ex_slots_used(f->pool, divisor, used, def.n);
    for (uint32_t k = 0; k < def.n; k++) {
        used[k] = used[k] && f->var.at[inst_slots(f, def)[k]].kind == VAR_PARAM;
        zero = zero || (used[k] && s->value[inst_slots(f, def)[k]] == 0);
    }
    for (uint32_t k = 0; k < def.n; k++) {
        var_id v = inst_slots(f, def)[k];

        if (used[k] && (!zero || s->value[v] == 0))
            diag_note(f->sources, var_at(f, v), "\"%s\" is %.6g", var_name(f, v), s->value[v]);
    }
    free(used);
}

static void
search_free(struct search *s)
{
    vec_free(&s->todo);
    vec_free(&s->slot);
}

void
zero_divisors_warn(const equations *e, const double *value)
{
    const flat_model *f = e->f;
    struct search s = { .e = e, .value = value };
    arena *a = arena_new();

    for (var_id v = 0; v < f->var.n; v++) {
        inst def = e->var.at[v].def;
        node divisor = e->var.at[v].kind == DEF_EXPLICIT && inst_known(def) ? find_zero_divisor(&s, def) : NODE_NONE;
        const char *name;
        strbuf text = { 0 };

        if (divisor == NODE_NONE)
            continue;
        flat_print(f, def, &text);
        name = equations_name(e, v, a);
        diag_warn(f->sources, "value-zero", equations_place(e, v), "\"%s\" divides by zero: it is %s", name ? name : "",
                  text.at);
        note_parameters(&s, def, divisor);
        strbuf_free(&text);
    }
    arena_free(a);
    search_free(&s);
}

void
zero_divisors_warn_of_conditions(const equations *e, const double *value)
{
    struct search s = { .e = e, .value = value };

    for (size_t k = 0; k < e->mode.n; k++) {
        const eq_mode *m = &e->mode.at[k];
        node divisor = inst_known(m->g) ? find_zero_divisor(&s, m->g) : NODE_NONE;
        strbuf text = { 0 };

        if (divisor == NODE_NONE)
            continue;
        flat_print(e->f, m->g, &text);
        diag_warn(e->f->sources, "value-zero", m->at, "what is compared or counted here divides by zero: it is %s",
                  text.at);
        note_parameters(&s, m->g, divisor);
        strbuf_free(&text);
    }
    search_free(&s);
}
