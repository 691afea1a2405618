/* rest.c - see rest.h
 *
 * Edges lead from a state to its rate, from a variable to what its definition reads, from an unknown to its block's
 * residuals. Integrals in a cycle are found as strongly connected sets (Tarjan, iterative); from them and from all
 * other states, everything that is read is marked.
 */
#include <stdlib.h>

#include "rest.h"

/* A node whose edges s->next[first, at) are still to be followed. */
struct frame {
    uint32_t node;
    size_t first, at;
};

/* Nodes are variables by number, then blocks. */
struct search {
    const equations *e;
    uint32_t nvars;
    uint32_t *index, *low, counter;
    bool *on_stack;
    VEC(uint32_t) stack, next;
    VEC(struct frame) call;
};

static void
add_slots(struct search *s, inst d)
{
    for (uint32_t k = 0; k < d.n; k++)
        vec_push(&s->next, s->e->f->slot.at[d.first + k]);
}

/* Appends what node n reads to s->next. */
static void
append_reads_of(struct search *s, uint32_t n)
{
    const equations *e = s->e;

    if (n >= s->nvars) {
        const eq_block *b = &e->block.at[n - s->nvars];

        for (uint32_t i = 0; i < b->n; i++)
            add_slots(s, e->residual.at[b->residual0 + i]);
        return;
    }
    switch (e->var.at[n].kind) {
    case DEF_STATE: vec_push(&s->next, e->state.at[e->var.at[n].index].rate); break;
    case DEF_EXPLICIT: add_slots(s, e->var.at[n].def); break;
    case DEF_BLOCK: vec_push(&s->next, s->nvars + e->var.at[n].index); break;
    default:
        if (e->f->var.at[n].kind == VAR_MODE)
            add_slots(s, e->mode.at[e->f->var.at[n].owner].g);
    }
}

static void
open_rest_node(struct search *s, uint32_t n)
{
    size_t first = s->next.n;

    s->index[n] = s->low[n] = ++s->counter;
    s->on_stack[n] = true;
    vec_push(&s->stack, n);
    append_reads_of(s, n);
    vec_push(&s->call, ((struct frame){ n, first, s->next.n }));
}

/* Pops the set with the root n: a state in a set with others takes part. */
static void
close_circle(struct search *s, equations *e, uint32_t n)
{
    bool circle = s->stack.at[s->stack.n - 1] != n;
    uint32_t w;

    do {
        w = s->stack.at[--s->stack.n];
        s->on_stack[w] = false;
        if (circle && w < s->nvars && e->var.at[w].kind == DEF_STATE)
            e->state.at[e->var.at[w].index].only_outputs = false;
    } while (w != n);
}

static void
visit_state(struct search *s, equations *e, uint32_t root)
{
    open_rest_node(s, root);
    while (s->call.n) {
        struct frame *c = &s->call.at[s->call.n - 1];
        uint32_t n = c->node;

        if (c->at > c->first) {
            uint32_t w = s->next.at[--c->at];

            if (!s->index[w])
                open_rest_node(s, w);
            else if (s->on_stack[w] && s->index[w] < s->low[n])
                s->low[n] = s->index[w];
            continue;
        }
        s->next.n = c->first;
        s->call.n--;
        if (s->call.n) {
            uint32_t up = s->call.at[s->call.n - 1].node;

            if (s->low[n] < s->low[up])
                s->low[up] = s->low[n];
        }
        if (s->low[n] == s->index[n])
            close_circle(s, e, n);
    }
}

/* Marks what participating states read. */
static void
follow_states(struct search *s, equations *e)
{
    bool *seen = bg_calloc(s->nvars + e->block.n + 1, sizeof *seen);

    s->next.n = 0;
    for (size_t i = 0; i < e->state.n; i++)
        if (!e->state.at[i].only_outputs)
            vec_push(&s->next, e->state.at[i].var);
    while (s->next.n) {
        uint32_t n = s->next.at[--s->next.n];

        if (seen[n])
            continue;
        seen[n] = true;
        if (n < s->nvars && e->var.at[n].kind == DEF_STATE)
            e->state.at[e->var.at[n].index].only_outputs = false;
        append_reads_of(s, n);
    }
    free(seen);
}

void
mark_only_outputs(equations *e)
{
    struct search s = { .e = e, .nvars = (uint32_t)e->var.n };
    size_t nodes = e->var.n + e->block.n + 1;
    bool any = false;

    for (size_t i = 0; i < e->state.n; i++)
        any |= e->state.at[i].only_outputs = e->f->var.at[e->state.at[i].var].kind == VAR_INTEGRAL;
    if (!any)
        return;
    s.index = bg_calloc(nodes, sizeof *s.index);
    s.low = bg_calloc(nodes, sizeof *s.low);
    s.on_stack = bg_calloc(nodes, sizeof *s.on_stack);
    for (size_t i = 0; i < e->state.n; i++)
        if (e->state.at[i].only_outputs && !s.index[e->state.at[i].var])
            visit_state(&s, e, e->state.at[i].var);
    follow_states(&s, e);
    free(s.index);
    free(s.low);
    free(s.on_stack);
    vec_free(&s.stack);
    vec_free(&s.next);
    vec_free(&s.call);
}
