/* expressions.c - see expressions.h */
#include "expressions.h"

#include <stdlib.h>

#include "poles.h"

static formula
written(formula_book *b, const flat_model *f, inst i)
{
    return formula_write(b, f->pool, i.root, inst_slots(f, i), i.n);
}

/* As in the text: with two sides if it is a comparison. */
static void
print_condition(const flat_model *f, const eq_mode *q, strbuf *b)
{
    const char *sign = q->kind == MODE_LESS         ? " < 0"
                       : q->kind == MODE_LESS_EQUAL ? " <= 0"
                       : q->kind == MODE_EQUAL      ? " == 0"
                                                    : "";
    const ex_node *x = pool_node(f->pool, q->g.root);

    if (q->kind == MODE_PIECE)
        strbuf_printf(b, "table %s at ", pool_table(f->pool, q->table)->name);
    else if (q->kind == MODE_FLOOR)
        strbuf_puts(b, "floor of ");
    else if (q->kind == MODE_SIGN)
        strbuf_puts(b, "sign of ");
    if (*sign && (x->op == EX_SUB || x->op == EX_NEG)) {
        bool less = q->kind != MODE_EQUAL && x->op == EX_NEG; /* -a < 0 is a > 0 */

        flat_print(f, (inst){ x->a, q->g.first, q->g.n }, b);
        strbuf_printf(b, " %s ",
                      q->kind == MODE_EQUAL  ? "=="
                      : q->kind == MODE_LESS ? (less ? ">" : "<")
                      : less                 ? ">="
                                             : "<=");
        if (x->op == EX_SUB)
            flat_print(f, (inst){ x->b, q->g.first, q->g.n }, b);
        else
            strbuf_puts(b, "0");
    } else {
        flat_print(f, q->g, b);
        strbuf_puts(b, sign);
    }
}

expression_program *
expression_program_new(const equations *e)
{
    expression_program *p = bg_calloc(1, sizeof *p);
    strbuf text = { 0 };

    p->arena = arena_new();
    for (size_t k = 0; k < e->mode.n; k++) {
        vec_push(&p->mode, written(&p->book, e->f, e->mode.at[k].g));
        text.n = 0;
        print_condition(e->f, &e->mode.at[k], &text);
        vec_push(&p->mode_text, arena_strdup(p->arena, text.at));
    }
    for (size_t k = 0; k < e->output.n; k++)
        vec_push(&p->output, written(&p->book, e->f, e->output.at[k]));
    for (size_t k = 0; k < e->circle.n; k++)
        vec_push(&p->circle,
                 ((struct expression_circle){ e->circle.at[k].v, arena_strdup(p->arena, e->circle.at[k].path) }));
    formula_close(&p->book);
    strbuf_free(&text);
    return p;
}

void
expression_program_free(expression_program *p)
{
    if (!p)
        return;
    formula_book_free(&p->book);
    vec_free(&p->mode);
    vec_free(&p->output);
    vec_free(&p->mode_text);
    vec_free(&p->circle);
    arena_free(p->arena);
    free(p);
}

expression_poles *
expression_poles_new(const equations *e, const pole_list *list)
{
    expression_poles *p = bg_calloc(1, sizeof *p);

    p->arena = arena_new();
    for (size_t k = 0; k < list->n; k++) {
        const eq_pole *q = &list->at[k];
        struct expression_pole x = { .block = q->block };

        x.pole.at = q->at;
        x.pole.var = q->var == VAR_NONE ? NULL : equations_name(e, q->var, p->arena);
        if (q->block == NONE)
            x.divisor = written(&p->book, e->f, q->divisor);
        else
            p->determinants = true;
        vec_push(&p->pole, x);
    }
    formula_close(&p->book);
    p->text = bg_calloc(p->pole.n + 1, sizeof *p->text);
    return p;
}

void
expression_poles_free(expression_poles *p)
{
    if (!p)
        return;
    for (size_t k = 0; k < p->pole.n; k++)
        free(atomic_load(&p->text[k]));
    free(p->text);
    formula_book_free(&p->book);
    vec_free(&p->pole);
    arena_free(p->arena);
    free(p);
}
