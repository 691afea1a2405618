/* loops.c - see loops.h
 *
 * Strongly connected sets by Tarjan's method, iterative.
 */
#include <stdlib.h>

#include "loops.h"

enum { UNSEEN = 0 };

struct frame {
    uint32_t node, equation, slot;
};

/* Nodes are variables by number, then groups. */
struct search {
    const equations *e;
    const struct groups *g;
    uint32_t nvars;
    const map *own; /* variables defined by `definition`, by number there */
    const inst *definition;
    uint32_t *index, *low, counter;
    bool *on_stack;
    VEC(uint32_t) stack;
    VEC(struct frame) call;
};

static uint32_t
own_of(const struct search *s, var_id v)
{
    return s->own ? map_get(s->own, v) : MAP_NONE;
}

static uint32_t
equations_of(const struct search *s, uint32_t n)
{
    return n < s->nvars ? 1 : group_size(s->g, n - s->nvars);
}

static inst
equation_of(const struct search *s, uint32_t n, uint32_t i)
{
    uint32_t k;

    if (n >= s->nvars)
        return group_residual(s->g, n - s->nvars, i);
    k = own_of(s, n);
    return k != MAP_NONE ? s->definition[k] : s->e->var.at[n].def;
}

/* The node that must be known before v, or NONE. */
static uint32_t
loop_node_of(const struct search *s, var_id v)
{
    uint32_t group;

    if (s->e->var.at[v].kind == DEF_EXPLICIT || own_of(s, v) != MAP_NONE)
        return v;
    group = group_of(s->g, v);
    return group == NONE ? NONE : s->nvars + group;
}

static void
open_loop_node(struct search *s, uint32_t n)
{
    s->index[n] = s->low[n] = ++s->counter;
    s->on_stack[n] = true;
    vec_push(&s->stack, n);
    vec_push(&s->call, ((struct frame){ n, 0, 0 }));
}

/* Pops the set with the root n from the stack. */
static void
close_loop(struct search *s, uint32_t n, struct loops *out)
{
    uint32_t w, set = out->nsets++;
    bool loop = s->stack.at[s->stack.n - 1] != n;

    do {
        w = s->stack.at[--s->stack.n];
        s->on_stack[w] = false;
        out->set[w] = set;
        out->loop[w] = loop;
    } while (w != n);
}

static void
visit(struct search *s, uint32_t root, struct loops *out)
{
    open_loop_node(s, root);
    while (s->call.n) {
        struct frame *c = &s->call.at[s->call.n - 1];
        uint32_t n = c->node;

        if (c->equation < equations_of(s, n)) {
            inst d = equation_of(s, n, c->equation);
            uint32_t w;

            if (c->slot >= d.n) {
                c->equation++;
                c->slot = 0;
                continue;
            }
            w = loop_node_of(s, s->e->f->slot.at[d.first + c->slot++]);
            if (w == NONE)
                continue;
            if (s->index[w] == UNSEEN)
                open_loop_node(s, w);
            else if (s->on_stack[w] && s->index[w] < s->low[n])
                s->low[n] = s->index[w];
            continue;
        }
        s->call.n--;
        if (s->call.n) {
            uint32_t up = s->call.at[s->call.n - 1].node;

            if (s->low[n] < s->low[up])
                s->low[up] = s->low[n];
        }
        if (s->low[n] == s->index[n])
            close_loop(s, n, out);
    }
}

void
loops_find(const equations *e, const struct groups *g, const map *own, const inst *definition, struct loops *out)
{
    struct search s = { .e = e, .g = g, .nvars = (uint32_t)e->var.n, .own = own, .definition = definition };
    size_t nodes = e->var.n + g->group.n;

    *out = (struct loops){ .set = bg_calloc(nodes + 1, sizeof *out->set),
                           .loop = bg_calloc(nodes + 1, sizeof *out->loop) };
    s.index = bg_calloc(nodes + 1, sizeof *s.index);
    s.low = bg_calloc(nodes + 1, sizeof *s.low);
    s.on_stack = bg_calloc(nodes + 1, sizeof *s.on_stack);
    for (uint32_t n = 0; n < nodes; n++) {
        bool real = n >= s.nvars ? group_size(g, n - s.nvars) > 0
                                 : e->var.at[n].kind == DEF_EXPLICIT || own_of(&s, n) != MAP_NONE;

        if (real && s.index[n] == UNSEEN)
            visit(&s, n, out);
    }
    free(s.index);
    free(s.low);
    free(s.on_stack);
    vec_free(&s.stack);
    vec_free(&s.call);
}

void
loops_free(struct loops *l)
{
    free(l->set);
    free(l->loop);
}
