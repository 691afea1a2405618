/* blocks.c - see blocks.h */
#include <stdlib.h>
#include <string.h>
#include "alike.h"
#include "blocks.h"
#include "rates.h"
#include "rough.h"

enum {
    SMALL_SET = 64,     /* up to this size, sets are reduced to the fewest unknowns */
    MAX_INLINED = 2000, /* nodes; larger definitions remain unknowns of their block */
    LONGEST_CIRCLE = 10 /* names of a cycle that are printed */
};

struct insts {
    inst *at;
    size_t n, cap;
};
struct vars {
    var_id *at;
    size_t n, cap;
};

/* ---------------------------------------------------------------- groups */

uint32_t
group_new(struct groups *g)
{
    vec_push(&g->group, ((struct group){ { 0 }, { 0 } }));
    return (uint32_t)g->group.n - 1;
}

void
group_add(struct groups *g, uint32_t group, var_id unknown, inst residual)
{
    vec_push(&g->group.at[group].unknown, unknown);
    vec_push(&g->group.at[group].residual, residual);
    map_set(&g->of, unknown, group);
    eq_note(g->e, unknown);
}

uint32_t
group_of(const struct groups *g, var_id v)
{
    uint32_t k = map_get(&g->of, v);

    return k == MAP_NONE ? NONE : k;
}

void
group_dissolve(struct groups *g, uint32_t group)
{
    struct group *q = &g->group.at[group];

    for (size_t i = 0; i < q->unknown.n; i++)
        map_set(&g->of, q->unknown.at[i], MAP_NONE);
    q->unknown.n = q->residual.n = 0;
}

uint32_t
group_size(const struct groups *g, uint32_t group)
{
    return (uint32_t)g->group.at[group].unknown.n;
}

var_id
group_unknown(const struct groups *g, uint32_t group, uint32_t i)
{
    return g->group.at[group].unknown.at[i];
}

inst
group_residual(const struct groups *g, uint32_t group, uint32_t i)
{
    return g->group.at[group].residual.at[i];
}

void
group_set_residual(struct groups *g, uint32_t group, uint32_t i, inst residual)
{
    g->group.at[group].residual.at[i] = residual;
}

void
groups_free(struct groups *g)
{
    for (size_t i = 0; i < g->group.n; i++) {
        vec_free(&g->group.at[i].unknown);
        vec_free(&g->group.at[i].residual);
    }
    vec_free(&g->group);
    map_free(&g->of);
}

/* ---------------------------------------------------------------- sorting */

/* Nodes of the dependency graph: variables with explicit definitions by their number, then groups. */
struct sorter {
    equations *e;
    struct groups *g;
    uint32_t nvars, nnodes;
    struct mark {
        uint32_t index, low : 31; /* Tarjan's numbers; 0: not visited */
        uint32_t on_stack : 1;
    } * mark; /* by node; both together, because nodes are visited in no order of their numbers */
    VEC(uint32_t) stack, members;
    struct frame {
        uint32_t node, eq, slot;
    } * call;
    uint32_t ncalls, counter;
    uint32_t *local; /* by variable: 1 + its index in the set that becomes a block */
    uint32_t *uses;  /* by variable: how many definitions of the set read it */
    size_t room;     /* of both */
    bool ok;
};

static uint32_t
block_node_of(const struct sorter *s, var_id v)
{
    const eq_var *d = &s->e->var.at[v];
    uint32_t group;

    if (d->kind == DEF_EXPLICIT)
        return v;
    if (d->kind == DEF_GIVEN || d->kind == DEF_STATE || d->kind == DEF_HELD)
        return NONE;
    group = group_of(s->g, v);
    return group == NONE ? NONE : s->nvars + group;
}

static uint32_t
equations_in(const struct sorter *s, uint32_t n)
{
    return n < s->nvars ? 1 : group_size(s->g, n - s->nvars);
}

static inst
equation_in(const struct sorter *s, uint32_t n, uint32_t i)
{
    return n < s->nvars ? s->e->var.at[n].def : group_residual(s->g, n - s->nvars, i);
}

static bool
reads_itself(const struct sorter *s, uint32_t n)
{
    for (uint32_t i = 0; i < equations_in(s, n); i++) {
        inst d = equation_in(s, n, i);

        for (uint32_t k = 0; k < d.n; k++)
            if (block_node_of(s, s->e->f->slot.at[d.first + k]) == n)
                return true;
    }
    return false;
}

static int
compare_uses(const void *a, const void *b, void *ctx)
{
    const struct sorter *s = ctx;
    var_id x = *(const var_id *)a, y = *(const var_id *)b;
    bool rx = s->e->f->var.at[x].kind == VAR_PORT, ry = s->e->f->var.at[y].kind == VAR_PORT;

    if (s->uses[x] != s->uses[y])
        return s->uses[x] < s->uses[y] ? 1 : -1;
    if (rx != ry)
        return rx ? -1 : 1;
    return (x > y) - (x < y);
}

/* The set's definitions with the inlined ones substituted. */
static inst
substitute(struct sorter *s, inst d, const struct insts *composed)
{
    struct insts inner = { 0 };
    bool any = false;

    for (uint32_t k = 0; k < d.n; k++) {
        var_id v = s->e->f->slot.at[d.first + k];
        inst in = s->local[v] ? composed->at[s->local[v] - 1] : INST_NONE;

        any = any || inst_known(in);
        vec_push(&inner, in);
    }
    if (any)
        d = inst_compose(s->e->composer, d, inner.at);
    vec_free(&inner);
    return d;
}

/* The cycle of definitions in the set that leads from v back to v, each read by the one before; empty where a variable
 * leads outside. */
static void
find_circle(struct sorter *s, var_id v, struct vars *circle)
{
    const equations *e = s->e;
    var_id at = v;

    for (size_t m = 0; m < s->members.n; m++)
        if (s->members.at[m] < s->nvars)
            s->local[s->members.at[m]] = 1;
    do {
        inst d = e->var.at[at].def;
        var_id next = VAR_NONE;

        vec_push(circle, at);
        s->local[at] = 2;
        for (uint32_t k = 0; k < d.n && next == VAR_NONE; k++) {
            var_id w = e->f->slot.at[d.first + k];

            if (w == v || s->local[w] == 1)
                next = w;
        }
        at = next;
    } while (at != VAR_NONE && at != v);
    if (at == VAR_NONE)
        circle->n = 0;
    for (size_t m = 0; m < s->members.n; m++)
        if (s->members.at[m] < s->nvars)
            s->local[s->members.at[m]] = 0;
}

static void
put_circle(const flat_model *f, const struct vars *circle, strbuf *text)
{
    for (size_t k = 0; k < circle->n; k++) {
        if (k == LONGEST_CIRCLE && circle->n - k > 1)
            strbuf_puts(text, "... -> ");
        if (k < LONGEST_CIRCLE || k + 1 == circle->n)
            strbuf_printf(text, "%s -> ", var_name(f, circle->at[k]));
    }
    if (circle->n)
        strbuf_puts(text, var_name(f, circle->at[0]));
}

/* If the cycle through v consists of signals alone, stores it for messages during a run. */
static void
remember_circle(struct sorter *s, var_id v)
{
    equations *e = s->e;
    struct vars circle = { 0 };
    strbuf text = { 0 };

    for (size_t m = 0; m < s->members.n; m++)
        if (s->members.at[m] >= s->nvars || e->f->var.at[s->members.at[m]].kind != VAR_SIGNAL)
            return;
    find_circle(s, v, &circle);
    put_circle(e->f, &circle, &text);
    if (circle.n)
        vec_push(&e->circle, ((eq_circle){ v, arena_strdup(e->f->arena, text.at) }));
    strbuf_free(&text);
    vec_free(&circle);
}

/* Reports v, which no residual of the set contains any more. */
static void
say_undetermined(struct sorter *s, var_id v)
{
    const flat_model *f = s->e->f;
    struct vars circle = { 0 };
    strbuf text = { 0 };

    if (s->e->var.at[v].kind == DEF_EXPLICIT && diag_errors(f->sources) < SOURCES_MAX_ERRORS)
        find_circle(s, v, &circle);
    put_circle(f, &circle, &text);
    if (circle.n) {
        diag_error(f->sources, "block-singular", var_at(f, v),
                   "\"%s\" is defined by itself, in a circle that leaves it undetermined: %s", var_name(f, v), text.at);
        for (size_t k = 1; k < circle.n && k < 4; k++)
            diag_note(f->sources, var_at(f, circle.at[k]), "\"%s\" is part of it", var_name(f, circle.at[k]));
    } else {
        diag_error(f->sources, "block-singular", var_at(f, v), "no equation determines \"%s\"", var_name(f, v));
    }
    strbuf_free(&text);
    vec_free(&circle);
}

static bool
check_unknowns(struct sorter *s, eq_block *b)
{
    equations *e = s->e;
    bool all = true;

    for (uint32_t i = 0; i < b->n; i++)
        s->uses[e->unknown.at[b->unknown0 + i]] = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        inst r = e->residual.at[b->residual0 + i];

        for (uint32_t k = 0; k < r.n; k++)
            s->uses[e->f->slot.at[r.first + k]]++;
    }
    for (uint32_t i = 0; i < b->n; i++) {
        var_id v = e->unknown.at[b->unknown0 + i];

        if (s->uses[v])
            continue;
        all = false;
        say_undetermined(s, v);
    }
    return all;
}

/* Are all residuals affine in the block's unknowns, and the coefficients functions of parameters only? */
static void
classify(struct sorter *s, eq_block *b)
{
    equations *e = s->e;
    flat_model *f = e->f;
    VEC(bool) flag = { 0 };
    VEC(var_id) slots = { 0 };

    b->linear = b->constant = true;
    for (uint32_t i = 0; i < b->n; i++)
        s->local[e->unknown.at[b->unknown0 + i]] = NONE;
    for (uint32_t i = 0; i < b->n && b->linear; i++) {
        inst r = e->residual.at[b->residual0 + i];

        flag.n = slots.n = 0;
        for (uint32_t k = 0; k < r.n; k++) {
            vec_push(&slots, f->slot.at[r.first + k]);
            vec_push(&flag, s->local[slots.at[k]] == NONE);
        }
        b->linear = ex_affine_in(f->pool, r.root, flag.at, r.n);
        for (uint32_t k = 0; k < r.n && b->linear && b->constant; k++)
            if (flag.at[k])
                b->constant = inst_is_parameter(
                    f, inst_part(e->composer, ex_derivative(f->pool, r.root, k), slots.at, r.n));
    }
    b->constant = b->constant && b->linear;
    for (uint32_t i = 0; i < b->n; i++)
        s->local[e->unknown.at[b->unknown0 + i]] = 0;
    vec_free(&flag);
    vec_free(&slots);
}

/* Enlarges the arrays after variables were added. */
static void
make_room(struct sorter *s)
{
    size_t n = s->e->var.n;

    if (n <= s->room)
        return;
    s->local = bg_realloc(s->local, (n + 1) * sizeof *s->local);
    s->uses = bg_realloc(s->uses, (n + 1) * sizeof *s->uses);
    memset(s->local + s->room, 0, (n + 1 - s->room) * sizeof *s->local);
    memset(s->uses + s->room, 0, (n + 1 - s->room) * sizeof *s->uses);
    s->room = n;
}

/* Makes a block of the strongly connected set in s->members. */
static void
make_block(struct sorter *s)
{
    equations *e = s->e;
    flat_model *f = e->f;
    VEC(var_id) explicit_ = { 0 }; /* explicit definitions in the set */
    VEC(var_id) candidates = { 0 }, order = { 0 }, users = { 0 };
    VEC(uint32_t) waits = { 0 }, first = { 0 };
    VEC(bool) done = { 0 };
    struct insts composed = { 0 };
    eq_block b = { .unknown0 = (uint32_t)e->unknown.n, .residual0 = (uint32_t)e->residual.n, .at = SPAN_NONE };
    var_id closed = VAR_NONE; /* the unknown, if it has a closed form */
    alike same;
    bool small;

    for (size_t i = 0; i < s->members.n; i++) {
        uint32_t n = s->members.at[i];

        if (n < s->nvars) {
            vec_push(&explicit_, n);
            s->local[n] = (uint32_t)explicit_.n;
        } else {
            for (uint32_t k = 0; k < group_size(s->g, n - s->nvars); k++)
                vec_push(&e->unknown, group_unknown(s->g, n - s->nvars, k));
        }
    }
    small = explicit_.n + (e->unknown.n - b.unknown0) <= SMALL_SET;

    /* dependences within the set */
    vec_resize(&waits, explicit_.n);
    vec_resize(&first, explicit_.n + 1);
    vec_resize(&done, explicit_.n);
    vec_resize(&composed, explicit_.n);
    for (size_t i = 0; i < explicit_.n; i++)
        s->uses[explicit_.at[i]] = 0, composed.at[i] = INST_NONE;
    for (size_t m = 0; m < s->members.n; m++)
        for (uint32_t q = 0; q < equations_in(s, s->members.at[m]); q++) {
            inst d = equation_in(s, s->members.at[m], q);

            for (uint32_t k = 0; k < d.n; k++) {
                var_id v = f->slot.at[d.first + k];

                if (!s->local[v])
                    continue;
                s->uses[v]++;
                if (s->members.at[m] < s->nvars) {
                    waits.at[s->local[s->members.at[m]] - 1]++;
                    first.at[s->local[v]]++;
                }
            }
        }
    for (size_t i = 0; i < explicit_.n; i++)
        first.at[i + 1] += first.at[i];
    vec_resize(&users, first.at[explicit_.n]);
    {
        VEC(uint32_t) fill = { 0 };

        for (size_t i = 0; i < explicit_.n; i++)
            vec_push(&fill, first.at[i]);
        for (size_t i = 0; i < explicit_.n; i++) {
            inst d = e->var.at[explicit_.at[i]].def;

            for (uint32_t k = 0; k < d.n; k++) {
                uint32_t l = s->local[f->slot.at[d.first + k]];

                if (l)
                    users.at[fill.at[l - 1]++] = (uint32_t)i;
            }
        }
        vec_free(&fill);
    }
    for (size_t i = 0; i < explicit_.n; i++)
        vec_push(&candidates, explicit_.at[i]);
    if (candidates.n)
        qsort_r(candidates.at, candidates.n, sizeof *candidates.at, compare_uses, s);

    /* removes definitions that depend only on unknowns and earlier ones; when none can be removed, the most read
     * variable becomes an unknown */
    VEC(uint32_t) ready = { 0 };
    size_t next = 0, left = explicit_.n;

    for (size_t i = 0; i < explicit_.n; i++)
        if (!waits.at[i])
            vec_push(&ready, (uint32_t)i);
    for (size_t head = 0; left;) {
        uint32_t i;

        if (head < ready.n) {
            i = ready.at[head++];
            if (done.at[i])
                continue;
            inst c = substitute(s, e->var.at[explicit_.at[i]].def, &composed);

            if (ex_fits(f->pool, c.root, MAX_INLINED) && (small || s->uses[explicit_.at[i]] <= 1 || c.n <= 2))
                composed.at[i] = c;
            else
                vec_push(&e->unknown, explicit_.at[i]);
            vec_push(&order, explicit_.at[i]);
        } else {
            while (done.at[s->local[candidates.at[next]] - 1])
                next++;
            i = s->local[candidates.at[next]] - 1;
            vec_push(&e->unknown, explicit_.at[i]);
            vec_push(&order, explicit_.at[i]);
        }
        done.at[i] = true;
        left--;
        for (uint32_t k = first.at[i]; k < first.at[i + 1]; k++)
            if (--waits.at[users.at[k]] == 0)
                vec_push(&ready, users.at[k]);
    }
    b.n = (uint32_t)(e->unknown.n - b.unknown0);

    /* residuals: those of the groups, then definition - variable for each variable made an unknown */
    for (size_t m = 0; m < s->members.n; m++)
        if (s->members.at[m] >= s->nvars)
            for (uint32_t q = 0; q < group_size(s->g, s->members.at[m] - s->nvars); q++) {
                inst r = inst_compact(e->composer, substitute(s, equation_in(s, s->members.at[m], q), &composed));

                vec_push(&e->residual, r);
            }
    for (uint32_t i = (uint32_t)(e->residual.n - b.residual0); i < b.n; i++) {
        var_id v = e->unknown.at[b.unknown0 + i];
        inst inner[2] = { substitute(s, e->var.at[v].def, &composed), INST_NONE };
        inst difference = flat_inst(f, ex_sub(f->pool, ex_slot(f->pool, 0), ex_slot(f->pool, 1)), (var_id[]){ v, v },
                                    2);
        inst r = inst_compact(e->composer, inst_compose(e->composer, difference, inner));

        vec_push(&e->residual, r);
    }
    for (size_t i = 0; i < explicit_.n; i++)
        s->local[explicit_.at[i]] = 0;
    alike_leave_out(e, b.unknown0, b.residual0, &same);
    b.n = (uint32_t)(e->unknown.n - b.unknown0);

    if (b.n)
        remember_circle(s, e->unknown.at[b.unknown0]);
    b.at = var_at(f, e->unknown.at[b.unknown0]);
    b.rank = e->nranks++;
    if (!check_unknowns(s, &b)) {
        s->ok = false;
    } else if (b.n == 1) {
        var_id v = e->unknown.at[b.unknown0];
        inst r = e->residual.at[b.residual0];
        node solution, divisor;

        if (ex_solve(f->pool, r.root, inst_slot_of(f, r, v), &solution, &divisor)) {
            VEC(var_id) slots = { 0 };

            for (uint32_t k = 0; k < r.n; k++)
                vec_push(&slots, f->slot.at[r.first + k]);
            e->var.at[v].kind = DEF_EXPLICIT;
            e->var.at[v].def = inst_part(e->composer, solution, slots.at, r.n);
            e->var.at[v].rank = b.rank;
            vec_free(&slots);
            e->unknown.n = b.unknown0;
            e->residual.n = b.residual0;
            b.n = 0;
            closed = v;
            /* a group's unknown now has a node of its own, which is finished */
            s->mark[v].index = s->mark[v].low = ++s->counter;
        }
    }
    e->nloops++;
    if (b.n && s->ok) {
        unfolding *z = rough_unfold(e, b.unknown0, b.residual0);

        for (size_t i = 0; i < explicit_.n && e->unknown.n > b.unknown0 + b.n; i++)
            if (inst_known(composed.at[i])) {
                inst given = alike_replace(e, &same, composed.at[i]), d = rough_reuse(z, given);

                if (!inst_equal(f, d, given))
                    e->var.at[explicit_.at[i]].def = d;
            }
        rough_free(z);
        b.n = (uint32_t)(e->unknown.n - b.unknown0);
        make_room(s);
        classify(s, &b);
        for (uint32_t i = 0; i < b.n; i++) {
            eq_var *d = &e->var.at[e->unknown.at[b.unknown0 + i]];

            d->kind = DEF_BLOCK;
            d->index = (uint32_t)e->block.n;
        }
        vec_push(&e->block, b);
    }
    for (size_t i = 0; i < same.same.n; i++) { /* nodes of their own now, like what has a closed form */
        var_id v = same.same.at[i].v;

        e->var.at[v].rank = e->nranks++;
        s->mark[v].index = s->mark[v].low = ++s->counter;
    }
    for (size_t i = 0; i < order.n; i++)
        if (e->var.at[order.at[i]].kind == DEF_EXPLICIT && order.at[i] != closed &&
            map_get(&same.of, order.at[i]) == MAP_NONE)
            e->var.at[order.at[i]].rank = e->nranks++;
    vec_free(&explicit_);
    vec_free(&candidates);
    vec_free(&order);
    vec_free(&users);
    vec_free(&waits);
    vec_free(&first);
    vec_free(&done);
    vec_free(&ready);
    vec_free(&composed);
    alike_free(&same);
}

static void
finish_set(struct sorter *s)
{
    uint32_t n = s->members.at[0];

    if (s->members.n == 1 && n < s->nvars && !reads_itself(s, n)) {
        s->e->var.at[n].rank = s->e->nranks++;
        return;
    }
    make_block(s);
}

static void
visit_definition(struct sorter *s, uint32_t root)
{
    s->ncalls = 0;
    s->call[s->ncalls++] = (struct frame){ root, 0, 0 };
    s->mark[root].index = s->mark[root].low = ++s->counter;
    s->mark[root].on_stack = true;
    vec_push(&s->stack, root);
    while (s->ncalls) {
        struct frame *c = &s->call[s->ncalls - 1];
        uint32_t n = c->node;

        if (c->eq < equations_in(s, n)) {
            inst d = equation_in(s, n, c->eq);

            if (c->slot >= d.n) {
                c->eq++;
                c->slot = 0;
                continue;
            }
            uint32_t w = block_node_of(s, s->e->f->slot.at[d.first + c->slot++]);

            if (w == NONE)
                continue;
            if (!s->mark[w].index) {
                s->mark[w].index = s->mark[w].low = ++s->counter;
                s->mark[w].on_stack = true;
                vec_push(&s->stack, w);
                s->call[s->ncalls++] = (struct frame){ w, 0, 0 };
            } else if (s->mark[w].on_stack && s->mark[w].index < s->mark[n].low) {
                s->mark[n].low = s->mark[w].index;
            }
            continue;
        }
        s->ncalls--;
        if (s->ncalls) {
            uint32_t up = s->call[s->ncalls - 1].node;

            if (s->mark[n].low < s->mark[up].low)
                s->mark[up].low = s->mark[n].low;
        }
        if (s->mark[n].low == s->mark[n].index) {
            uint32_t w;

            s->members.n = 0;
            do {
                w = s->stack.at[--s->stack.n];
                s->mark[w].on_stack = false;
                vec_push(&s->members, w);
            } while (w != n);
            finish_set(s);
        }
    }
}

bool
blocks_sort(equations *e, struct groups *g)
{
    struct sorter s = { .e = e, .g = g, .ok = true };

    s.nvars = (uint32_t)e->var.n;
    s.nnodes = s.nvars + (uint32_t)g->group.n;
    s.mark = bg_calloc(s.nnodes + 1, sizeof *s.mark);
    s.call = bg_calloc(s.nnodes + 1, sizeof *s.call);
    s.local = bg_calloc(s.nvars + 1, sizeof *s.local);
    s.uses = bg_calloc(s.nvars + 1, sizeof *s.uses);
    s.room = s.nvars;
    for (uint32_t n = 0; n < s.nnodes && s.ok; n++) {
        bool real = n >= s.nvars ? group_size(g, n - s.nvars) > 0 : e->var.at[n].kind == DEF_EXPLICIT;

        if (real && !s.mark[n].index)
            visit_definition(&s, n);
    }
    free(s.mark);
    free(s.call);
    free(s.local);
    free(s.uses);
    vec_free(&s.stack);
    vec_free(&s.members);
    return s.ok;
}
