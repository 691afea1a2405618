/* partials.c - see partials.h */
#include <stdlib.h>
#include <string.h>

#include "partials.h"
#include "program.h"

typedef struct share {
    uint32_t to, from, move;
} share; /* value[to] += inner[from]*slope[move]; of the columns by parameters */
typedef struct copy {
    uint32_t to, from;
} copy;

struct partials_form {
    jacobian_form *inner; /* by every parameter that moves with the chosen ones */
    struct model_pattern of_inner;
    var_id *by;
    size_t nby, noutputs;
    bool held;           /* with what ideal switches determine */
    moves_program moves; /* whatever is set */
    VEC(copy) copy;
    VEC(share) share;
    size_t n, nx;
    int64_t *column, *row;
};

struct partials {
    const partials_form *form;
    jacobian *inner;
    double *slope; /* [moves] now */
    double *value; /* of inner */
};

/* Rates, then outputs, then (held) conditions with their derivatives, in one program, so that all are differentiated by
 * the same variables. */
static jacobian_form *
make_inner(partials_form *p, equations *e, layout l, bool optimise, const var_id *weight, uint32_t nweights,
           program_list *made)
{
    flat_model *f = e->f;
    target_list target = { 0 };
    program *g;
    jacobian_form *j;

    target_add_rates(&target, e);
    for (size_t i = 0; i < p->noutputs; i++)
        target_add(&target, e->output.at[i], 0);
    for (size_t i = 0; i < e->row.n && p->held; i++)
        for (int k = 0; k < 3; k++) {
            var_id d = e->row.at[i].r.d[k];

            target_add(&target, d == VAR_NONE ? inst_const(f, 0) : inst_var(f, d), 0);
        }
    g = program_plan_list(e, &target);
    j = jacobian_form_new(e, g, l, optimise, weight, nweights, made);
    program_free(g);
    return j;
}

struct entry {
    uint32_t row, column;
};

static int
compare_entry(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return x->column != y->column ? (x->column > y->column) - (x->column < y->column)
                                  : (x->row > y->row) - (x->row < y->row);
}

static uint32_t
find_entry(const partials_form *p, uint32_t row, uint32_t column)
{
    int64_t low = p->column[column], high = p->column[column + 1];

    while (low < high) {
        int64_t middle = (low + high) / 2;

        if (p->row[middle] < (int64_t)row)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low;
}

/* The pattern, and where each entry comes from. weight[i] stands in the inner column first + i, first being the number
 * of states and kept variables; the last nbeside of them are columns of their own. noutputs: rows behind, all of them.
 */
static void
compose(partials_form *p, const var_id *weight, size_t nweights, size_t nbeside, size_t noutputs)
{
    struct model_pattern in = p->of_inner;
    size_t first = in.n - noutputs - nweights, moving = nweights - nbeside, distinct = 0;
    VEC(struct entry) list = { 0 };

    p->nx = in.nx;
    p->n = first + p->nby + nbeside + noutputs;
    /* two rounds: entries, then where they come from */
    for (int round = 0; round < 2; round++) {
        for (uint32_t c = 0; c < first + nweights; c++)
            for (int64_t k = in.column[c]; k < in.column[c + 1]; k++) {
                bool plain = c < first || c >= first + moving;
                uint32_t r = (uint32_t)in.row[k], row = r < first ? r : (uint32_t)(r - nweights + p->nby + nbeside);
                var_id v = plain ? 0 : weight[c - first];

                if (r >= first && r < first + nweights)
                    continue;
                for (uint32_t m = plain ? 0 : p->moves.first[v]; m < (plain ? 1 : p->moves.first[v + 1]); m++) {
                    uint32_t column = c < first ? c
                                      : plain   ? (uint32_t)(c - moving + p->nby)
                                                : (uint32_t)first + p->moves.by.at[m];

                    if (round == 0)
                        vec_push(&list, ((struct entry){ row, column }));
                    else if (plain)
                        vec_push(&p->copy, ((copy){ find_entry(p, row, column), (uint32_t)k }));
                    else
                        vec_push(&p->share, ((share){ find_entry(p, row, column), (uint32_t)k, m }));
                }
            }
        if (round == 1)
            break;
        if (list.n)
            qsort(list.at, list.n, sizeof *list.at, compare_entry);
        p->column = bg_calloc(p->n + 1, sizeof *p->column);
        p->row = bg_calloc(list.n + 1, sizeof *p->row);
        for (size_t i = 0; i < list.n; i++)
            if (i == 0 || compare_entry(&list.at[i - 1], &list.at[i])) {
                p->row[distinct++] = list.at[i].row;
                p->column[list.at[i].column + 1]++;
            }
        for (size_t c = 0; c < p->n; c++)
            p->column[c + 1] += p->column[c];
    }
    vec_free(&list);
}

partials_form *
partials_form_new(equations *e, layout l, bool optimise, const var_id *by, size_t n, size_t noutputs, bool held,
                  program_list *made)
{
    partials_form *p = bg_calloc(1, sizeof *p);
    VEC(var_id) weight = { 0 };
    size_t nheld = held ? e->held.n : 0;

    p->nby = n;
    p->noutputs = noutputs;
    p->held = nheld > 0;
    p->by = bg_malloc((n + 1) * sizeof *p->by);
    if (n)
        memcpy(p->by, by, n * sizeof *by);
    moves_make(&p->moves, e->f, by, n);
    for (uint32_t v = 0; v < e->f->var.n; v++)
        if (p->moves.first[v + 1] > p->moves.first[v])
            vec_push(&weight, v);
    for (size_t i = 0; i < nheld; i++)
        vec_push(&weight, e->held.at[i]);
    p->inner = make_inner(p, e, l, optimise, weight.at, (uint32_t)weight.n, made);
    if (p->inner) {
        p->of_inner = jacobian_form_pattern(p->inner);
        compose(p, weight.at, weight.n, nheld, noutputs + (p->held ? 3 * e->row.n : 0));
    }
    vec_free(&weight);
    if (!p->inner) {
        partials_form_free(p);
        return NULL;
    }
    return p;
}

void
partials_form_free(partials_form *p)
{
    if (!p)
        return;
    jacobian_form_free(p->inner);
    moves_free(&p->moves);
    vec_free(&p->copy);
    vec_free(&p->share);
    free(p->by);
    free(p->column);
    free(p->row);
    free(p);
}

bool
partials_form_is(const partials_form *p, const var_id *by, size_t n, size_t noutputs, bool held)
{
    return p->nby == n && p->noutputs == noutputs && p->held == held && (n == 0 || !memcmp(p->by, by, n * sizeof *by));
}

partials *
partials_new(const partials_form *f, block_memory *memory)
{
    partials *p = bg_calloc(1, sizeof *p);

    p->form = f;
    p->inner = jacobian_new(f->inner, memory);
    p->slope = bg_calloc(f->moves.by.n + 1, sizeof *p->slope);
    p->value = bg_calloc(f->of_inner.nonzeros + 1, sizeof *p->value);
    return p;
}

void
partials_free(partials *p)
{
    if (!p)
        return;
    jacobian_free(p->inner);
    free(p->slope);
    free(p->value);
    free(p);
}

void
partials_set_parameters(partials *p, const double *value, const bool *fixed)
{
    jacobian_set_parameters(p->inner, value);
    moves_slopes(&p->form->moves, value, fixed, p->slope);
}

void
partials_forget(partials *p)
{
    jacobian_forget(p->inner);
}

void
partials_follow_parameters(partials *p, const double *value, const bool *fixed, const var_id *changed, size_t n)
{
    jacobian_follow_parameters(p->inner, value, changed, n);
    /* what nothing is computed from, and is computed from nothing, moves as it did */
    if (n > 1 || p->form->moves.computed[changed[0]])
        moves_slopes(&p->form->moves, value, fixed, p->slope);
}

struct model_pattern
partials_pattern(const partials *p)
{
    const partials_form *f = p->form;

    return (struct model_pattern){ f->n, f->nx, f->column, f->row, (size_t)f->column[f->n] };
}

int
partials_evaluate(partials *p, double t, const double *x, const double *modes, double *value)
{
    const partials_form *f = p->form;
    int status = jacobian_evaluate(p->inner, t, x, modes, p->value);

    if (status)
        return status;
    memset(value, 0, (size_t)f->column[f->n] * sizeof *value);
    for (size_t i = 0; i < f->copy.n; i++)
        value[f->copy.at[i].to] = p->value[f->copy.at[i].from];
    for (size_t i = 0; i < f->share.n; i++) {
        const share *s = &f->share.at[i];
        double slope = p->slope[s->move];

        if (slope != 0)
            value[s->to] += p->value[s->from] * slope;
    }
    return 0;
}
