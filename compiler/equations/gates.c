/* gates.c - see gates.h */
#include <stdlib.h>
#include <string.h>

#include "gates.h"

/* Whether a variable is determined before or after something is solved for. OPEN: what it reads is being followed. */
enum reach { UNKNOWN, OPEN, BEFORE, AFTER };

struct finder {
    const equations *e;
    uint8_t *of;       /* [var] enum reach */
    uint32_t *level;   /* [var] above those of the gates that it reads */
    uint32_t *mode_of; /* [var] NONE: not a mode */
    bool *sign;        /* [var] the sign of a relay or friction that states, parameters, time and modes determine */
    bool modes_held;   /* modes are not followed: they have the values that they have */
    VEC(var_id) todo;
};

static bool
may_be_gate(const eq_mode *m)
{
    return !m->known && m->side == 0 &&
           (m->kind == MODE_LESS || m->kind == MODE_LESS_EQUAL || m->kind == MODE_EQUAL || m->kind == MODE_PIECE ||
            m->kind == MODE_FLOOR);
}

/* What v reads: the difference of a condition, or an explicit definition. */
static inst
what_is_read(const struct finder *d, var_id v)
{
    return d->mode_of[v] != NONE ? d->e->mode.at[d->mode_of[v]].g : d->e->var.at[v].def;
}

/* Of a variable that reads nothing, or nothing that has to be followed. A mode that is no gate (a relay that may slide,
 * a friction that sticks) has a value too: gates that read it are set again when it switches. So has its sign, which
 * only sliding determines by rates, and so perhaps by the gates that read it. */
static enum reach
reach_alone(const struct finder *d, var_id v)
{
    const eq_var *x = &d->e->var.at[v];

    if (d->mode_of[v] != NONE)
        return !d->modes_held && may_be_gate(&d->e->mode.at[d->mode_of[v]]) ? OPEN : BEFORE;
    if (d->sign[v])
        return BEFORE;
    return x->kind == DEF_EXPLICIT ? OPEN : x->kind == DEF_BLOCK || x->kind == DEF_HELD ? AFTER : BEFORE;
}

/* Follows v and what it reads, with a list of its own, since definitions may be long chains. */
static void
follow_reads(struct finder *d, var_id v)
{
    vec_push(&d->todo, v);
    while (d->todo.n) {
        var_id at = d->todo.at[d->todo.n - 1];
        enum reach found = (enum reach)d->of[at];
        size_t before = d->todo.n;
        inst reads;

        if (found == UNKNOWN) {
            d->of[at] = (uint8_t)(found = reach_alone(d, at));
            d->level[at] = found == BEFORE && (d->mode_of[at] != NONE || d->sign[at]); /* what reads it jumps with it */
        } else if (found == OPEN) {
            found = UNKNOWN; /* all that it reads has been followed */
        }
        if (found == BEFORE || found == AFTER) {
            d->todo.n--;
            continue;
        }
        reads = what_is_read(d, at);
        const var_id *slot = inst_slots(d->e->f, reads);
        for (uint32_t k = 0; k < reads.n && found == OPEN; k++)
            if (d->of[slot[k]] == UNKNOWN)
                vec_push(&d->todo, slot[k]);
        if (d->todo.n > before)
            continue;
        d->of[at] = BEFORE;
        for (uint32_t k = 0; k < reads.n; k++) {
            d->of[at] = d->of[slot[k]] != BEFORE ? AFTER : d->of[at]; /* an open one: a loop through conditions */
            if (d->level[slot[k]] > d->level[at])
                d->level[at] = d->level[slot[k]];
        }
        d->level[at] += d->mode_of[at] != NONE;
        d->todo.n--;
    }
}

/* Finds the signs that something explicit determines where modes have the values that they have. */
static void
find_signs(struct finder *d)
{
    bool *found = bg_calloc(d->e->sign.n + 1, sizeof *found);

    d->modes_held = true;
    for (uint32_t k = 0; k < d->e->sign.n; k++) {
        follow_reads(d, d->e->sign.at[k].s);
        found[k] = d->of[d->e->sign.at[k].s] == BEFORE;
    }
    d->modes_held = false;
    memset(d->of, UNKNOWN, d->e->var.n);
    memset(d->level, 0, d->e->var.n * sizeof *d->level);
    for (uint32_t k = 0; k < d->e->sign.n; k++)
        d->sign[d->e->sign.at[k].s] = found[k];
    free(found);
}

/* Marks the modes that an expression reads. What `met` has of an earlier one is marked already. */
static void
mark_modes_read(const struct finder *d, inst i, bool *met, bool *read)
{
    VEC(var_id) todo = { 0 };

    for (uint32_t k = 0; k < i.n; k++)
        vec_push(&todo, inst_slots(d->e->f, i)[k]);
    while (todo.n) {
        var_id v = todo.at[--todo.n];

        if (met[v])
            continue;
        met[v] = true;
        if (d->mode_of[v] != NONE)
            read[d->mode_of[v]] = true;
        else if (d->e->var.at[v].kind == DEF_EXPLICIT)
            for (uint32_t k = 0; k < d->e->var.at[v].def.n; k++)
                vec_push(&todo, inst_slots(d->e->f, d->e->var.at[v].def)[k]);
    }
    vec_free(&todo);
}

static int
by_level(const void *a, const void *b)
{
    const struct gate *x = a, *y = b;

    return x->level != y->level ? (x->level > y->level) - (x->level < y->level)
                                : (x->mode > y->mode) - (x->mode < y->mode);
}

void
gates_find(const equations *e, gate_list *gates)
{
    size_t n = e->var.n + 1;
    struct finder d = { .e = e };
    bool *met, *read;

    if (!e->mode.n)
        return;
    d.of = bg_calloc(n, sizeof *d.of);
    d.level = bg_calloc(n, sizeof *d.level);
    d.mode_of = bg_malloc(n * sizeof *d.mode_of);
    d.sign = bg_calloc(n, sizeof *d.sign);
    met = bg_calloc(n, sizeof *met);
    read = bg_calloc(e->mode.n + 1, sizeof *read);
    for (size_t i = 0; i < n; i++)
        d.mode_of[i] = NONE;
    for (uint32_t k = 0; k < e->mode.n; k++)
        d.mode_of[e->mode.at[k].var] = k;
    find_signs(&d);
    for (uint32_t k = 0; k < e->mode.n; k++) {
        var_id v = e->mode.at[k].var;

        if (!may_be_gate(&e->mode.at[k]))
            continue;
        follow_reads(&d, v);
        if (d.of[v] == BEFORE && d.level[v] > 1)
            mark_modes_read(&d, e->mode.at[k].g, met, read);
    }
    for (uint32_t k = 0; k < e->mode.n; k++) {
        var_id v = e->mode.at[k].var;

        if (may_be_gate(&e->mode.at[k]) && d.of[v] == BEFORE && (d.level[v] > 1 || read[k] || e->row.n))
            vec_push(gates, ((struct gate){ k, d.level[v] - 1 }));
    }
    if (gates->n > 1)
        qsort(gates->at, gates->n, sizeof *gates->at, by_level);
    vec_free(&d.todo);
    free(d.of);
    free(d.level);
    free(d.mode_of);
    free(d.sign);
    free(met);
    free(read);
}
