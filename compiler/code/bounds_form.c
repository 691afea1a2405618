/* bounds_form.c - see bounds_form.h */
#include "bounds_form.h"

#include <stdlib.h>

#include "clocks.h"

struct making {
    bounds_form *form;
    const equations *e;
    const uint32_t *position;
    bool of_states;      /* states and unknowns are no parameters */
    uint32_t *of_var;    /* 1 + op, by variable; 0: none yet */
    VEC(uint32_t) place; /* ops of the tape at hand */
    map place_of;
};

static struct making
begin_form(const equations *e, const uint32_t *position, bool of_states)
{
    return (struct making){ .form = bg_calloc(1, sizeof(bounds_form)),
                            .e = e,
                            .position = position,
                            .of_states = of_states,
                            .of_var = bg_calloc(e->var.n + 1, sizeof(uint32_t)) };
}

static bounds_form *
finish_form(struct making *w)
{
    free(w->of_var);
    vec_free(&w->place);
    map_free(&w->place_of);
    return w->form;
}

/* The operations of an expression whose variables have theirs already. Returns the last one's number. */
static uint32_t
add_formula(struct making *w, inst i)
{
    const flat_model *f = w->e->f;
    const var_id *slot = inst_slots(f, i);
    size_t n;
    const node *tape = ex_tape(f->pool, i.root, &n);

    w->place.n = 0;
    map_free(&w->place_of);
    for (size_t k = 0; k < n; k++) {
        const ex_node *x = pool_node(f->pool, tape[k]);
        const node child[3] = { x->a, x->b, x->c };
        uint32_t operand[3] = { NONE, NONE, NONE }, place;

        if (x->op == EX_SLOT) {
            place = w->of_var[slot[x->a]] - 1;
        } else {
            for (int c = 0; c < 3 && x->op != EX_CONST; c++)
                if (child[c] != NODE_NONE)
                    operand[c] = w->place.at[map_get(&w->place_of, child[c])];
            place = (uint32_t)w->form->op.n;
            vec_push(&w->form->op, ((struct bounds_op){ .op = x->op,
                                                        .a = operand[0],
                                                        .b = operand[1],
                                                        .c = operand[2],
                                                        .value = x->value,
                                                        .table = x->op == EX_TABLE || x->op == EX_TABLE_SLOPE
                                                                     ? pool_table(f->pool, x->table)
                                                                     : NULL }));
        }
        map_set(&w->place_of, tape[k], (uint32_t)k);
        vec_push(&w->place, place);
    }
    return w->place.at[n - 1];
}

/* The operations of v and of everything it needs. Uses a list, not recursion, since chains of definitions may be
 * long. */
static void
add_variable(struct making *w, var_id v)
{
    const equations *e = w->e;
    VEC(var_id) todo = { 0 };

    vec_push(&todo, v);
    while (todo.n) {
        var_id at = todo.at[todo.n - 1];
        const flat_var *x = &e->f->var.at[at];
        const eq_var *q = &e->var.at[at];
        bool ready = true;
        struct bounds_op o = { .a = at };

        if (w->of_var[at]) {
            todo.n--;
            continue;
        }
        for (uint32_t k = 0; k < q->def.n && q->kind == DEF_EXPLICIT; k++) {
            var_id needed = inst_slots(e->f, q->def)[k];
            if (!w->of_var[needed]) {
                vec_push(&todo, needed);
                ready = false;
            }
        }
        if (!ready)
            continue;
        todo.n--;
        if (q->kind == DEF_EXPLICIT) {
            w->of_var[at] = 1 + add_formula(w, q->def);
            continue;
        }
        o.op = at == 0 ? OP_TIME : OP_GIVEN;
        if (x->kind == VAR_MODE) {
            const eq_mode *m = &e->mode.at[x->owner];
            o.op = OP_MODE;
            o.a = w->position[at];
            o.kind = m->kind;
            o.table = m->kind == MODE_PIECE ? pool_table(e->f->pool, m->table) : NULL;
        } else if (w->of_states && q->kind == DEF_STATE) {
            o = (struct bounds_op){ .op = OP_STATE, .a = w->position[at], .b = (uint32_t)w->form->moving.n };
            vec_push(&w->form->moving, (uint32_t)w->form->op.n);
        } else if (w->of_states && at != 0 && q->kind != DEF_GIVEN && q->kind != DEF_NONE) {
            o.op = OP_UNKNOWN;
        }
        vec_push(&w->form->op, o);
        w->of_var[at] = (uint32_t)w->form->op.n;
    }
    vec_free(&todo);
}

/* The terms that operation k is a sum of. */
static void
add_sum_terms(struct making *w, uint32_t k, uint32_t clock)
{
    VEC(uint32_t) todo = { 0 };

    vec_push(&todo, k);
    while (todo.n) {
        uint32_t at = todo.at[--todo.n];
        const struct bounds_op *o = &w->form->op.at[at];

        if (o->op == EX_ADD || o->op == EX_SUB) {
            vec_push(&todo, o->a);
            vec_push(&todo, o->b);
        } else if (o->op == EX_NEG) {
            vec_push(&todo, o->a);
        } else if (o->op != OP_TIME && o->op != OP_GIVEN && o->op != OP_MODE && o->op != EX_CONST) {
            vec_push(&w->form->term, ((struct bounds_term){ .op = at, .clock = clock }));
        }
    }
    vec_free(&todo);
}

/* The operation of an expression, after those it needs. */
static uint32_t
add_whole(struct making *w, inst def)
{
    for (uint32_t i = 0; i < def.n; i++)
        add_variable(w, inst_slots(w->e->f, def)[i]);
    return add_formula(w, def);
}

bounds_form *
bounds_form_of_clocks(const equations *e, const clock_list *clocks, const uint32_t *position)
{
    struct making w = begin_form(e, position, false);

    for (int driving = 1; driving >= 0; driving--) {
        for (uint32_t k = 0; k < clocks->n; k++)
            if (clocks->at[k].driving == driving)
                add_sum_terms(&w, add_whole(&w, clocks->at[k].def), k);
        if (driving) {
            w.form->driving_ops = w.form->op.n;
            w.form->driving_terms = w.form->term.n;
        }
    }
    return finish_form(&w);
}

bounds_form *
bounds_form_of_bends(const equations *e, const bend_list *bends, const uint32_t *position)
{
    struct making w = begin_form(e, position, true);

    for (uint32_t k = 0; k < bends->n; k++) {
        uint32_t op = add_whole(&w, bends->at[k].def);

        if (bends->at[k].reciprocal) {
            vec_push(&w.form->op, ((struct bounds_op){ .op = EX_CONST, .value = 1 }));
            vec_push(&w.form->op, ((struct bounds_op){ .op = EX_DIV, .a = (uint32_t)w.form->op.n - 1, .b = op }));
            op = (uint32_t)w.form->op.n - 1;
        }
        vec_push(&w.form->term, ((struct bounds_term){ .op = op }));
    }
    return finish_form(&w);
}

void
bounds_form_free(bounds_form *f)
{
    if (!f)
        return;
    vec_free(&f->op);
    vec_free(&f->term);
    vec_free(&f->moving);
    free(f);
}
