/* gates.c - see gates.h */
#include <stdlib.h>

#include "gates.h"

enum reach { UNKNOWN, BEFORE, AFTER }; /* whether a variable is determined before or after something is solved for */

struct finder {
    const equations *e;
    uint8_t *of; /* [var] enum reach */
    VEC(var_id) todo;
};

/* The reach of what an expression reads. UNKNOWN: todo got the variables that have to be followed first. */
static enum reach
reach_of(struct finder *d, inst i)
{
    const var_id *slot = inst_slots(d->e->f, i);
    enum reach all = BEFORE;

    for (uint32_t k = 0; k < i.n && all != AFTER; k++)
        if (d->of[slot[k]] == AFTER)
            all = AFTER;
    for (uint32_t k = 0; k < i.n && all != AFTER; k++)
        if (d->of[slot[k]] == UNKNOWN) {
            vec_push(&d->todo, slot[k]);
            all = UNKNOWN;
        }
    return all;
}

/* Follows definitions with a list of its own, since they may be long chains. */
static void
follow(struct finder *d)
{
    while (d->todo.n) {
        var_id v = d->todo.at[d->todo.n - 1];
        const eq_var *x = &d->e->var.at[v];
        enum reach found;

        if (d->of[v] == UNKNOWN) {
            if (x->kind == DEF_EXPLICIT)
                found = reach_of(d, x->def);
            else
                found = x->kind == DEF_BLOCK || x->kind == DEF_HELD ? AFTER : BEFORE;
            d->of[v] = (uint8_t)found;
        }
        if (d->of[v] != UNKNOWN)
            d->todo.n--;
    }
}

void
gates_find(const equations *e, gate_list *gates)
{
    struct finder d = { .e = e, .of = bg_calloc(e->var.n + 1, sizeof *d.of) };

    for (uint32_t k = 0; k < e->mode.n; k++) {
        const eq_mode *m = &e->mode.at[k];
        enum reach found;

        if (m->known || m->side != 0 ||
            (m->kind != MODE_LESS && m->kind != MODE_LESS_EQUAL && m->kind != MODE_EQUAL && m->kind != MODE_PIECE &&
             m->kind != MODE_FLOOR))
            continue;
        while ((found = reach_of(&d, m->g)) == UNKNOWN)
            follow(&d);
        if (found == BEFORE)
            vec_push(gates, k);
    }
    vec_free(&d.todo);
    free(d.of);
}
