/* program_plan.c - what is needed, what is put where it is read, and what are classes */
#include <stdlib.h>
#include <string.h>

#include "program_inside.h"

/* ---------------------------------------------------------------- plan: what is needed, what is put where it is read
 */

struct needs {
    program *g;
    uint32_t *uses;      /* by variable */
    bool *seen, *forced; /* forced: read by a block, which iterates */
    VEC(var_id) todo, explicit_;
    bool *block_seen;
    VEC(uint32_t) blocks;
};

static void
need_slots(struct needs *n, inst i, bool forced)
{
    const flat_model *f = n->g->e->f;

    for (uint32_t k = 0; k < i.n; k++) {
        var_id v = f->slot.at[i.first + k];

        n->uses[v]++;
        n->forced[v] = n->forced[v] || forced;
        if (!n->seen[v]) {
            n->seen[v] = true;
            vec_push(&n->todo, v);
        }
    }
}

static void
find_needs(struct needs *n)
{
    equations *e = n->g->e;

    while (n->todo.n) {
        var_id v = n->todo.at[--n->todo.n];
        eq_var *d = &e->var.at[v];

        if (d->kind == DEF_EXPLICIT) {
            vec_push(&n->explicit_, v);
            need_slots(n, d->def, false);
        } else if (d->kind == DEF_BLOCK && !n->block_seen[d->index]) {
            const eq_block *b = &e->block.at[d->index];

            n->block_seen[d->index] = true;
            vec_push(&n->blocks, d->index);
            for (uint32_t i = 0; i < b->n; i++)
                need_slots(n, e->residual.at[b->residual0 + i], true);
        }
    }
}

struct composed {
    inst *of;
    bool *inlined;
};

static inst
put_in(program *g, const struct composed *c, inst i)
{
    equations *e = g->e;
    inst few[16], *inner = i.n <= 16 ? few : bg_malloc(i.n * sizeof *inner);
    bool any = false;

    for (uint32_t k = 0; k < i.n; k++) {
        var_id v = e->f->slot.at[i.first + k];

        inner[k] = c->inlined[v] ? c->of[v] : INST_NONE;
        any = any || inst_known(inner[k]);
    }
    if (any)
        i = inst_compose(e->composer, i, inner);
    if (inner != few)
        free(inner);
    return i;
}

static bool
should_inline(program *g, inst i, uint32_t uses, bool forced)
{
    flat_model *f = g->e->f;
    uint32_t leaves = 0;
    bool time_only = true;

    if (pool_node(f->pool, i.root)->op == EX_SLOT || inst_is_parameter(f, i))
        return true;
    for (uint32_t k = 0; k < i.n; k++) {
        var_id v = f->slot.at[i.first + k];

        if (program_is_parameter(f, v))
            continue;
        leaves++;
        time_only = time_only && f->var.at[v].kind == VAR_TIME;
    }
    if (time_only || forced)
        return false;
    if (leaves == 1 && uses <= 2 && ex_fits(f->pool, i.root, 4))
        return true;
    return uses <= 1 && ex_fits(f->pool, i.root, MAX_INLINED);
}

static node
hoist(struct planner *pl, struct canon *r, node sub)
{
    pool *p = pl->e->f->pool;

    for (uint32_t i = 0; i < r->np; i++)
        if (pl->proots.at[r->p0 + i] == sub)
            return ex_slot(p, r->nv + i);
    vec_push(&pl->proots, sub);
    return ex_slot(p, r->nv + r->np++);
}

static void
make_canon(struct planner *pl, struct canon *r)
{
    pool *p = pl->e->f->pool;
    size_t count;
    const node *shared = ex_tape(p, r->from, &count);
    node *tape = bg_malloc(count * sizeof *tape);
    uint32_t *number = bg_calloc(r->n + 1, sizeof *number);
    VEC(bool) used = { 0 };

    memcpy(tape, shared, count * sizeof *tape);
    vec_resize(&used, r->n);
    ex_slots_used(p, r->from, used.at, r->n);
    r->v0 = (uint32_t)pl->vslots.n;
    for (uint32_t k = 0; k < r->n; k++)
        if (used.at[k] && !pl->masks.at[r->mask0 + k]) {
            number[k] = r->nv++;
            vec_push(&pl->vslots, k);
        }
    vec_free(&used);
    r->p0 = (uint32_t)pl->proots.n;
    if (pl->mapped.n < pool_count(p)) {
        vec_resize(&pl->mapped, pool_count(p));
        vec_resize(&pl->constant, pool_count(p));
    }
    for (size_t i = 0; i < count; i++) {
        node n = tape[i];
        ex_node x = *pool_node(p, n);
        node operand[3] = { x.a, x.b, x.c };
        bool constant = true;

        if (x.op == EX_CONST) {
            pl->constant.at[n] = true;
            pl->mapped.at[n] = n;
            continue;
        }
        if (x.op == EX_SLOT) {
            pl->constant.at[n] = pl->masks.at[r->mask0 + x.a];
            pl->mapped.at[n] = pl->constant.at[n] ? n : ex_slot(p, number[x.a]);
            continue;
        }
        for (int k = 0; k < 3; k++)
            if (operand[k] != NODE_NONE)
                constant = constant && pl->constant.at[operand[k]];
        pl->constant.at[n] = constant;
        if (constant)
            continue;
        /* a division by parameters is a multiplication by what was divided once */
        if (x.op == EX_DIV && pl->constant.at[x.b] && pool_node(p, x.b)->op != EX_CONST) {
            node inverse = ex_div(p, ex_const(p, 1), x.b);

            pl->mapped.at[n] = ex_mul(p, pl->mapped.at[x.a], hoist(pl, r, inverse));
            continue;
        }
        for (int k = 0; k < 3; k++) {
            if (operand[k] == NODE_NONE)
                continue;
            if (!pl->constant.at[operand[k]] || pool_node(p, operand[k])->op == EX_CONST)
                operand[k] = pl->mapped.at[operand[k]];
            else
                operand[k] = hoist(pl, r, operand[k]);
        }
        if (x.op == EX_TABLE || x.op == EX_TABLE_SLOPE)
            pl->mapped.at[n] = ex_table_node(p, x.op, x.table, operand[0], operand[1]);
        else
            pl->mapped.at[n] = ex_make(p, x.op, operand[0], operand[1], operand[2]);
    }
    r->root = !pl->constant.at[r->from]               ? pl->mapped.at[r->from]
              : pool_node(p, r->from)->op == EX_CONST ? r->from
                                                      : hoist(pl, r, r->from);
    free(tape);
    free(number);
}

uint32_t
program_canon_of(struct planner *pl, inst i)
{
    const flat_model *f = pl->e->f;
    uint64_t hash;
    uint32_t k;

    vec_resize(&pl->mask, i.n);
    for (uint32_t s = 0; s < i.n; s++)
        pl->mask.at[s] = program_is_parameter(f, f->slot.at[i.first + s]);
    hash = bg_hash_bytes(pl->mask.at, i.n * sizeof(bool), i.root);
    for (k = map_get(&pl->canon_index, hash); k != MAP_NONE; k = pl->canon.at[k].next) {
        const struct canon *c = &pl->canon.at[k];

        if (c->from == i.root && c->n == i.n &&
            (i.n == 0 || !memcmp(pl->masks.at + c->mask0, pl->mask.at, i.n * sizeof(bool))))
            return k;
    }
    struct canon fresh = { .from = i.root,
                           .mask0 = (uint32_t)pl->masks.n,
                           .n = i.n,
                           .next = map_get(&pl->canon_index, hash) };

    for (uint32_t s = 0; s < i.n; s++)
        vec_push(&pl->masks, pl->mask.at[s]);
    make_canon(pl, &fresh);
    k = (uint32_t)pl->canon.n;
    map_set(&pl->canon_index, hash, k);
    vec_push(&pl->canon, fresh);
    return k;
}

enum space
program_space_of(const flat_model *f, const equations *e, var_id v)
{
    switch (f->var.at[v].kind) {
    case VAR_TIME: return SP_TIME;
    case VAR_MODE: return SP_M;
    case VAR_PARAM:
    case VAR_LITERAL: return SP_P;
    default: return e->var.at[v].kind == DEF_STATE ? SP_X : e->var.at[v].kind == DEF_HELD ? SP_M : SP_W;
    }
}

static uint32_t
class_of(struct planner *pl, inst i, uint32_t canon, bool to_out)
{
    const flat_model *f = pl->e->f;
    const struct canon *c = &pl->canon.at[canon];
    uint8_t few[32], *spaces = c->nv <= 32 ? few : bg_malloc(c->nv);
    uint64_t hash;
    uint32_t k;

    for (uint32_t s = 0; s < c->nv; s++)
        spaces[s] = (uint8_t)program_space_of(f, pl->e, f->slot.at[i.first + pl->vslots.at[c->v0 + s]]);
    hash = bg_hash_mix(bg_hash_bytes(spaces, c->nv, c->root), to_out);
    for (k = map_get(&pl->class_index, hash); k != MAP_NONE; k = pl->class_.at[k].next) {
        const struct class_ *x = &pl->class_.at[k];

        if (x->root == c->root && x->to_out == to_out && x->nv == c->nv && x->np == c->np &&
            (c->nv == 0 || !memcmp(pl->spaces.at + x->spaces0, spaces, c->nv)))
            break;
    }
    if (k == MAP_NONE) {
        struct class_ x = { .root = c->root,
                            .to_out = to_out,
                            .nv = c->nv,
                            .np = c->np,
                            .spaces0 = (uint32_t)pl->spaces.n,
                            .next = map_get(&pl->class_index, hash) };

        x.size = (uint32_t)ex_size(f->pool, c->root);
        for (uint32_t s = 0; s < c->nv; s++)
            vec_push(&pl->spaces, spaces[s]);
        k = (uint32_t)pl->class_.n;
        map_set(&pl->class_index, hash, k);
        vec_push(&pl->class_, x);
    }
    if (spaces != few)
        free(spaces);
    return k;
}

static void
add_assign(program *g, inst def, var_id var, uint32_t target, uint32_t position)
{
    struct planner *pl = g->planner;
    uint32_t canon = program_canon_of(pl, def);
    assign a = { def, var, target, class_of(pl, def, canon, var == VAR_NONE), 0 };

    pl->class_.at[a.class_].n++;
    vec_push(&g->assign, a);
    vec_push(&pl->assign_canon, canon);
    vec_push(&pl->position, position);
}

static int
compare_position(const void *a, const void *b, void *ctx)
{
    const struct planner *pl = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    if (pl->position.at[x] != pl->position.at[y])
        return pl->position.at[x] < pl->position.at[y] ? -1 : 1;
    return (x > y) - (x < y);
}

/* Members class by class along the graph; places in w and in the output follow, whether or not a class gets a kernel:
 * the order of states, and with it the last digits of a run, is the same with and without code that is kept. */
static void
order_classes(program *g)
{
    struct planner *pl = g->planner;
    uint32_t at = 0, w = 0, out = 0;

    for (size_t k = 0; k < pl->class_.n; k++) {
        pl->class_.at[k].first = at;
        at += pl->class_.at[k].n;
        pl->class_.at[k].kernel = g->e->code || pl->class_.at[k].n >= KERNEL_MEMBERS;
        pl->class_.at[k].n = 0;
    }
    vec_resize(&pl->order, at);
    for (uint32_t i = 0; i < g->assign.n; i++) {
        struct class_ *c = &pl->class_.at[g->assign.at[i].class_];

        pl->order.at[c->first + c->n++] = i;
    }
    for (size_t k = 0; k < pl->class_.n; k++) {
        struct class_ *c = &pl->class_.at[k];

        qsort_r(pl->order.at + c->first, c->n, sizeof(uint32_t), compare_position, pl);
        c->obase = c->to_out ? out : w;
        *(c->to_out ? &out : &w) += c->n;
        for (uint32_t i = 0; i < c->n; i++) {
            assign *a = &g->assign.at[pl->order.at[c->first + i]];

            a->index = i;
            if (c->to_out)
                g->routine->out_index[a->target] = c->obase + i;
            else
                g->routine->w_position[a->var] = c->obase + i;
        }
    }
    for (size_t k = 0; k < g->block.n; k++) {
        program_block *b = &g->routine->block.at[k];
        const eq_block *q = &g->e->block.at[b->block];

        b->w0 = w;
        for (uint32_t i = 0; i < b->n; i++)
            g->routine->w_position[g->e->unknown.at[q->unknown0 + i]] = w++;
    }
    g->routine->nw = w;
}

static bool
reads_no_mode(const equations *e, const eq_block *q)
{
    for (uint32_t i = 0; i < q->n; i++) {
        inst r = e->residual.at[q->residual0 + i];

        for (uint32_t k = 0; k < r.n; k++)
            if (e->f->var.at[e->f->slot.at[r.first + k]].kind == VAR_MODE)
                return false;
    }
    return true;
}

static void
add_block(program *g, const struct composed *c, uint32_t number)
{
    const equations *e = g->e;
    const eq_block *q = &e->block.at[number];
    planned_block b = { .block = number };
    program_block r = { .block = number,
                        .unknown0 = q->unknown0,
                        .n = q->n,
                        .linear = q->linear,
                        .constant = q->constant,
                        .smooth = reads_no_mode(e, q) };

    double *first = arena_new_array(g->routine->arena, double, q->n + 1);
    for (uint32_t i = 0; i < q->n; i++)
        first[i] = e->var.at[e->unknown.at[q->unknown0 + i]].from_one;
    r.first = first;
    for (uint32_t i = 0; i < q->n; i++)
        vec_push(&b.residual, put_in(g, c, e->residual.at[q->residual0 + i]));
    vec_push(&g->block, b);
    vec_push(&g->routine->block, r);
}

void
target_add(target_list *t, inst i, uint32_t position)
{
    vec_push(&t->at, i);
    vec_push(&t->position, position);
}

void
target_add_rates(target_list *t, const equations *e)
{
    for (size_t i = 0; i < e->state.n; i++)
        target_add(t, inst_var(e->f, e->state.at[i].rate), e->f->var.at[e->state.at[i].var].position);
}

void
target_add_var(target_list *t, const equations *e, var_id v)
{
    target_add(t, inst_var(e->f, v), e->f->var.at[v].position);
}

program *
program_plan_list(equations *e, target_list *t)
{
    program *g = program_plan(e, t->at.at, t->position.at, (uint32_t)t->at.n);

    vec_free(&t->at);
    vec_free(&t->position);
    return g;
}

program *
program_plan(equations *e, const inst *target, const uint32_t *target_position, uint32_t ntargets)
{
    program *g = bg_calloc(1, sizeof *g);
    size_t nvars = e->var.n;
    struct needs n = { .g = g };
    struct composed c;
    routine *r;

    g->e = e;
    g->arena = arena_new();
    g->planner = bg_calloc(1, sizeof *g->planner);
    g->planner->e = e;
    g->routine = r = routine_new(nvars);
    r->ntargets = ntargets;
    r->w_position = bg_malloc((nvars + 1) * sizeof *r->w_position);
    memset(r->w_position, 0xff, (nvars + 1) * sizeof *r->w_position);
    r->out_index = bg_calloc(ntargets + 1, sizeof *r->out_index);

    n.uses = bg_calloc(nvars + 1, sizeof *n.uses);
    n.seen = bg_calloc(nvars + 1, sizeof *n.seen);
    n.forced = bg_calloc(nvars + 1, sizeof *n.forced);
    n.block_seen = bg_calloc(e->block.n + 1, sizeof *n.block_seen);
    for (uint32_t i = 0; i < ntargets; i++)
        need_slots(&n, target[i], false);
    find_needs(&n);
    if (n.explicit_.n)
        qsort_r(n.explicit_.at, n.explicit_.n, sizeof *n.explicit_.at, eq_compare_rank, e);

    c.of = bg_malloc((nvars + 1) * sizeof *c.of);
    c.inlined = bg_calloc(nvars + 1, sizeof *c.inlined);
    for (size_t i = 0; i < n.explicit_.n; i++) {
        var_id v = n.explicit_.at[i];

        c.of[v] = put_in(g, &c, e->var.at[v].def);
        c.inlined[v] = should_inline(g, c.of[v], n.uses[v], n.forced[v]);
        if (!c.inlined[v])
            add_assign(g, c.of[v], v, 0, e->f->var.at[v].position);
    }
    for (uint32_t i = 0; i < ntargets; i++)
        add_assign(g, put_in(g, &c, target[i]), VAR_NONE, i, target_position ? target_position[i] : i);
    if (n.blocks.n) /* those that are equal follow each other as they do in the model */
        qsort(n.blocks.at, n.blocks.n, sizeof *n.blocks.at, bg_compare_numbers);
    for (size_t k = 0; k < n.blocks.n; k++)
        add_block(g, &c, n.blocks.at[k]);
    order_classes(g);
    g->nclasses = g->planner->class_.n;
    free(n.uses);
    free(n.seen);
    free(n.forced);
    free(n.block_seen);
    vec_free(&n.todo);
    vec_free(&n.explicit_);
    vec_free(&n.blocks);
    free(c.of);
    free(c.inlined);
    return g;
}
