/* parameters.c - see parameters.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parameters.h"

enum { NEW, OPEN, DONE };

static bool
to_compute(const flat_model *f, var_id v, const bool *fixed)
{
    return f->var.at[v].kind == VAR_PARAM && !(fixed && fixed[v]) && inst_known(var_def(f, v));
}

/* Calls see(ctx, v) for every computed parameter, after those that it depends on. */
static void
each_computed(const flat_model *f, const bool *fixed, void (*see)(void *ctx, var_id v), void *ctx)
{
    uint8_t *state = bg_calloc(f->var.n + 1, 1);
    VEC(var_id) stack = { 0 };

    for (uint32_t v = 0; v < f->var.n; v++)
        if (to_compute(f, v, fixed))
            vec_push(&stack, v);
    while (stack.n) {
        var_id v = stack.at[stack.n - 1];
        inst d = var_def(f, v);
        bool ready = true;

        if (state[v] == DONE) {
            stack.n--;
            continue;
        }
        for (uint32_t k = 0; k < d.n && state[v] == NEW; k++) {
            var_id w = f->slot.at[d.first + k];

            if (to_compute(f, w, fixed) && state[w] == NEW) {
                vec_push(&stack, w);
                ready = false;
            }
        }
        if (!ready) {
            state[v] = OPEN;
            continue;
        }
        see(ctx, v);
        state[v] = DONE;
        stack.n--;
    }
    vec_free(&stack);
    free(state);
}

struct values {
    const flat_model *f;
    double *value;
    VEC(double) slot;
};

static void
compute_value(void *ctx, var_id v)
{
    struct values *x = ctx;
    inst d = var_def(x->f, v);

    x->slot.n = 0;
    for (uint32_t k = 0; k < d.n; k++)
        vec_push(&x->slot, x->value[x->f->slot.at[d.first + k]]);
    x->value[v] = ex_eval(x->f->pool, d.root, x->slot.at);
}

void
parameter_values(const flat_model *f, double *value, const bool *fixed)
{
    struct values x = { .f = f, .value = value };

    for (uint32_t v = 0; v < f->var.n; v++)
        if (f->var.at[v].kind == VAR_LITERAL)
            value[v] = var_value(f, v);
    each_computed(f, fixed, compute_value, &x);
    vec_free(&x.slot);
}

struct ranks {
    uint32_t *rank, n;
};

static void
give_rank(void *ctx, var_id v)
{
    struct ranks *r = ctx;

    r->rank[v] = ++r->n;
}

void
parameter_order(const flat_model *f, uint32_t *rank)
{
    struct ranks r = { rank, 0 };

    each_computed(f, NULL, give_rank, &r);
}

/* ---------------------------------------------------------------- derivatives */

/* Derivatives of a parameter as a linked list, unordered. */
struct link {
    uint32_t by, next;
    double slope;
};
struct chains {
    const flat_model *f;
    const double *value;
    uint32_t *head; /* [var] index into link; NONE: it does not move */
    VEC(struct link) link;
    VEC(double) slot;
};

static void
add_move(struct chains *c, var_id v, uint32_t by, double slope)
{
    for (uint32_t i = c->head[v]; i != NONE; i = c->link.at[i].next)
        if (c->link.at[i].by == by) {
            c->link.at[i].slope += slope;
            return;
        }
    vec_push(&c->link, ((struct link){ by, c->head[v], slope }));
    c->head[v] = (uint32_t)c->link.n - 1;
}

static void
compute_moves(void *ctx, var_id v)
{
    struct chains *c = ctx;
    inst d = var_def(c->f, v);

    c->slot.n = 0;
    for (uint32_t k = 0; k < d.n; k++)
        vec_push(&c->slot, c->value[c->f->slot.at[d.first + k]]);
    for (uint32_t k = 0; k < d.n; k++) {
        uint32_t from = c->head[c->f->slot.at[d.first + k]];
        double slope;

        if (from == NONE)
            continue;
        slope = ex_eval(c->f->pool, ex_derivative(c->f->pool, d.root, k), c->slot.at);
        for (uint32_t i = from; i != NONE; i = c->link.at[i].next)
            add_move(c, v, c->link.at[i].by, slope * c->link.at[i].slope);
    }
}

void
parameter_moves_find(const flat_model *f, const double *value, const bool *fixed, const var_id *by, size_t n,
                     parameter_moves *out)
{
    struct chains c = { .f = f, .value = value, .head = bg_malloc((f->var.n + 1) * sizeof(uint32_t)) };

    memset(c.head, 0xff, (f->var.n + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < n; i++)
        if (by[i] != VAR_NONE)
            add_move(&c, by[i], i, 1);
    each_computed(f, fixed, compute_moves, &c);
    *out = (parameter_moves){ .first = bg_calloc(f->var.n + 1, sizeof(uint32_t)) };
    for (uint32_t v = 0; v < f->var.n; v++) {
        for (uint32_t i = c.head[v]; i != NONE; i = c.link.at[i].next)
            vec_push(&out->entry, ((parameter_move){ c.link.at[i].by, c.link.at[i].slope }));
        out->first[v + 1] = (uint32_t)out->entry.n;
    }
    vec_free(&c.link);
    vec_free(&c.slot);
    free(c.head);
}

void
parameter_moves_free(parameter_moves *m)
{
    free(m->first);
    vec_free(&m->entry);
    *m = (parameter_moves){ 0 };
}

bool
parameters_finite(const flat_model *f, const double *value)
{
    bool all = true;

    for (uint32_t v = 0; v < f->var.n; v++) {
        inst d = var_def(f, v);
        bool first = true;
        strbuf text = { 0 };

        if (!to_compute(f, v, NULL) || isfinite(value[v]))
            continue;
        all = false;
        for (uint32_t k = 0; k < d.n; k++)
            first = first && isfinite(value[f->slot.at[d.first + k]]);
        if (!first)
            continue;
        flat_print(f, d, &text);
        diag_error(f->sources, "parameter-value", var_at(f, v), "\"%s\" has no finite value: it is %s", var_name(f, v),
                   text.n ? text.at : "");
        for (uint32_t k = 0; k < d.n; k++) {
            var_id w = f->slot.at[d.first + k];

            if (f->var.at[w].kind == VAR_PARAM)
                diag_note(f->sources, var_at(f, w), "\"%s\" is %.6g", var_name(f, w), value[w]);
        }
        strbuf_free(&text);
    }
    return all;
}
