/* program.c - see program.h */
#include <stdlib.h>
#include <string.h>
#include "program.h"

enum {
    KERNEL_MEMBERS = 64, /* classes from here on get a kernel, where no code is kept */
    AFFINE_RUN = 32,     /* shorter runs of regular positions go through tables */
    CHUNK_NODES = 1000,
    MAX_INLINED = 300, /* nodes a definition may have and still be put where it is read */
    OPTIMISED_KERNELS = 32,
    OPTIMISED_NODES = 4000 /* irregular code up to here is optimised too */
};

/* A template with its parameter parts taken out: each becomes one slot, computed once per parameter set. */
struct canon {
    node from, root;
    uint32_t mask0, n, next; /* which of the n slots are parameters */
    uint32_t nv, v0;         /* variable slots, in order: which of the old ones */
    uint32_t np, p0;         /* parameter slots: expressions over the old slots */
};

struct class_ {
    node root;
    bool to_out;
    uint32_t spaces0, nv, np; /* of the variable slots */
    uint32_t next;
    uint32_t first, n; /* members in `order` */
    bool kernel;
    uint32_t obase;
    uint32_t size; /* nodes */
    /* made by program_code */
    int32_t *stride; /* of variable slots */
    bool *regular;   /* the stride holds for all members */
    int64_t *pbase;
    int32_t *pstride;
    uint32_t *position;               /* [slot][member] */
    const int32_t **tables;           /* by slot: positions of the members, where they are not regular */
    bool has_affine, has_table;       /* variants that the schedule uses */
    uint32_t affine_code, table_code; /* their handles */
};

struct planner {
    equations *e;
    VEC(struct canon) canon;
    VEC(bool) masks;
    VEC(uint32_t) vslots;
    VEC(node) proots;
    map canon_index;
    VEC(struct class_) class_;
    VEC(uint8_t) spaces;
    map class_index;
    VEC(uint32_t) assign_canon; /* parallel to program.assign */
    VEC(uint32_t) order;        /* assignments, class by class */
    VEC(uint32_t) kernels;      /* classes with kernels, by falling population */
    VEC(uint32_t) position;     /* along the graph, parallel to assign */
    /* scratch */
    VEC(bool) mask, constant;
    VEC(node) mapped;
    map shared;                /* parameter data of chunks: hash -> first */
    VEC(uint32_t) shared_next; /* parallel to program.parameter */
};

static bool
is_parameter(const flat_model *f, var_id v)
{
    return f->var.at[v].kind == VAR_PARAM || f->var.at[v].kind == VAR_LITERAL;
}

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

        if (is_parameter(f, v))
            continue;
        leaves++;
        time_only = time_only && f->var.at[v].kind == VAR_TIME;
    }
    if (time_only || forced)
        return false;
    if (leaves == 1 && uses <= 2 && ex_size(f->pool, i.root) <= 4)
        return true;
    return uses <= 1 && ex_size(f->pool, i.root) <= MAX_INLINED;
}

/* ---------------------------------------------------------------- plan: classes */

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

static uint32_t
canon_of(struct planner *pl, inst i)
{
    const flat_model *f = pl->e->f;
    uint64_t hash;
    uint32_t k;

    vec_resize(&pl->mask, i.n);
    for (uint32_t s = 0; s < i.n; s++)
        pl->mask.at[s] = is_parameter(f, f->slot.at[i.first + s]);
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

static enum space
space_of(const flat_model *f, const equations *e, var_id v)
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
        spaces[s] = (uint8_t)space_of(f, pl->e, f->slot.at[i.first + pl->vslots.at[c->v0 + s]]);
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
    uint32_t canon = canon_of(pl, def);
    assign a = { def, var, target, class_of(pl, def, canon, var == VAR_NONE), 0 };

    pl->class_.at[a.class_].n++;
    vec_push(&g->assign, a);
    vec_push(&pl->assign_canon, canon);
    vec_push(&pl->position, position);
}

static int
compare_rank(const void *a, const void *b, void *ctx)
{
    const equations *e = ctx;
    uint32_t x = e->var.at[*(const var_id *)a].rank, y = e->var.at[*(const var_id *)b].rank;

    return (x > y) - (x < y);
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

/* Members class by class along the graph; places in w and in the output follow, classes with kernels first. */
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

        if (!c->kernel)
            continue;
        qsort_r(pl->order.at + c->first, c->n, sizeof(uint32_t), compare_position, pl);
        c->obase = c->to_out ? out : w;
        *(c->to_out ? &out : &w) += c->n;
        for (uint32_t i = 0; i < c->n; i++) {
            assign *a = &g->assign.at[pl->order.at[c->first + i]];

            a->index = i;
            if (c->to_out)
                g->out_index[a->target] = c->obase + i;
            else
                g->w_position[a->var] = c->obase + i;
        }
    }
    for (size_t i = 0; i < g->assign.n; i++) {
        assign *a = &g->assign.at[i];

        if (pl->class_.at[a->class_].kernel)
            continue;
        if (a->var == VAR_NONE)
            g->out_index[a->target] = out++;
        else
            g->w_position[a->var] = w++;
    }
    for (size_t k = 0; k < g->block.n; k++) {
        program_block *b = &g->block.at[k];
        const eq_block *q = &g->e->block.at[b->block];

        b->w0 = w;
        for (uint32_t i = 0; i < b->n; i++)
            g->w_position[g->e->unknown.at[q->unknown0 + i]] = w++;
    }
    g->nw = w;
}

program *
program_plan(equations *e, const inst *target, const uint32_t *target_position, uint32_t ntargets)
{
    program *g = bg_calloc(1, sizeof *g);
    size_t nvars = e->var.n;
    struct needs n = { .g = g };
    struct composed c;

    g->e = e;
    g->arena = arena_new();
    g->ntargets = ntargets;
    g->planner = bg_calloc(1, sizeof *g->planner);
    g->planner->e = e;
    g->w_position = bg_malloc((nvars + 1) * sizeof *g->w_position);
    memset(g->w_position, 0xff, (nvars + 1) * sizeof *g->w_position);
    g->out_index = bg_calloc(ntargets + 1, sizeof *g->out_index);

    n.uses = bg_calloc(nvars + 1, sizeof *n.uses);
    n.seen = bg_calloc(nvars + 1, sizeof *n.seen);
    n.forced = bg_calloc(nvars + 1, sizeof *n.forced);
    n.block_seen = bg_calloc(e->block.n + 1, sizeof *n.block_seen);
    for (uint32_t i = 0; i < ntargets; i++)
        need_slots(&n, target[i], false);
    find_needs(&n);
    if (n.explicit_.n)
        qsort_r(n.explicit_.at, n.explicit_.n, sizeof *n.explicit_.at, compare_rank, e);

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
    for (size_t k = 0; k < n.blocks.n; k++) {
        program_block b = { .block = n.blocks.at[k], .n = e->block.at[n.blocks.at[k]].n };

        for (uint32_t i = 0; i < b.n; i++)
            vec_push(&b.residual, put_in(g, &c, e->residual.at[e->block.at[b.block].residual0 + i]));
        vec_push(&g->block, b);
    }
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

/* ---------------------------------------------------------------- code: layout of slots */

static uint32_t
position_of(const program *g, layout l, var_id v)
{
    switch (space_of(g->e->f, g->e, v)) {
    case SP_X:
    case SP_M: return l.position[v];
    case SP_W: return g->w_position[v];
    default: return 0;
    }
}

/* A part of an assignment's expression over the same slots. */
static inst
part_of(program *g, inst def, node sub)
{
    return inst_part(g->e->composer, sub, inst_slots(g->e->f, def), def.n);
}

static uint32_t
add_parameter(program *g, inst def)
{
    vec_push(&g->parameter, ((parameter_slot){ def }));
    vec_push(&g->planner->shared_next, MAP_NONE);
    return (uint32_t)g->parameter.n - 1;
}

static uint32_t
share_parameter(program *g, inst def)
{
    struct planner *pl = g->planner;
    const flat_model *f = g->e->f;
    uint64_t hash = bg_hash_bytes(inst_slots(f, def), def.n * sizeof(var_id), def.root);
    uint32_t first = map_get(&pl->shared, hash), k;

    for (k = first; k != MAP_NONE; k = pl->shared_next.at[k])
        if (inst_equal(f, g->parameter.at[k].def, def))
            return k;
    k = add_parameter(g, def);
    pl->shared_next.at[k] = first;
    map_set(&pl->shared, hash, k);
    return k;
}

static void
lay_out_class(program *g, struct class_ *c, layout l)
{
    struct planner *pl = g->planner;
    const flat_model *f = g->e->f;

    c->stride = arena_new_array(g->arena, int32_t, c->nv + 1);
    c->regular = arena_new_array(g->arena, bool, c->nv + 1);
    c->position = arena_new_array(g->arena, uint32_t, (size_t)c->nv * c->n + 1);
    c->pbase = arena_new_array(g->arena, int64_t, c->np + 1);
    c->pstride = arena_new_array(g->arena, int32_t, c->np + 1);
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t a = pl->order.at[c->first + i];
        const struct canon *k = &pl->canon.at[pl->assign_canon.at[a]];
        inst def = g->assign.at[a].def;

        for (uint32_t s = 0; s < c->nv; s++)
            c->position[(size_t)s * c->n + i] = position_of(g, l, f->slot.at[def.first + pl->vslots.at[k->v0 + s]]);
    }
    for (uint32_t s = 0; s < c->nv; s++) {
        const uint32_t *at = c->position + (size_t)s * c->n;
        int64_t candidate = 1;
        uint32_t votes = 0;

        /* the commonest step, by majority vote */
        for (uint32_t i = 0; i + 1 < c->n; i++) {
            int64_t d = (int64_t)at[i + 1] - at[i];

            if (!votes)
                candidate = d, votes = 1;
            else if (d == candidate)
                votes++;
            else
                votes--;
        }
        /* strides are in the code: kernels are found again where they are few */
        if (candidate > INT16_MAX || candidate < INT16_MIN || (g->e->code && candidate != 0))
            candidate = 1;
        c->stride[s] = (int32_t)candidate;
        c->regular[s] = true;
        for (uint32_t i = 0; i + 1 < c->n && c->regular[s]; i++)
            c->regular[s] = (int64_t)at[i + 1] - at[i] == candidate;
    }
    for (uint32_t s = 0; s < c->np; s++) {
        inst *def = bg_malloc(c->n * sizeof *def);
        bool equal = true;

        for (uint32_t i = 0; i < c->n; i++) {
            uint32_t a = pl->order.at[c->first + i];
            const struct canon *k = &pl->canon.at[pl->assign_canon.at[a]];

            def[i] = part_of(g, g->assign.at[a].def, pl->proots.at[k->p0 + s]);
            equal = equal && inst_equal(f, def[0], def[i]);
        }
        c->pbase[s] = (int64_t)g->parameter.n;
        c->pstride[s] = !equal;
        for (uint32_t i = 0; i < (equal ? 1 : c->n); i++)
            add_parameter(g, def[i]);
        free(def);
    }
}

/* ---------------------------------------------------------------- code: schedule */

struct pending_chunk {
    VEC(struct gen_assign) assign;
    size_t nodes;
};

struct scheduler {
    program *g;
    layout l;
    uint32_t nnodes; /* assignments, then blocks */
    uint32_t *waits;
    VEC(uint32_t) user_first, user;
    VEC(uint32_t) * ready; /* by class; one more for irregular assignments and blocks */
    struct pending_chunk chunk;
};

static struct gen_ref
ref_of(struct scheduler *s, var_id v)
{
    enum space sp = space_of(s->g->e->f, s->g->e, v);

    return (struct gen_ref){ sp, position_of(s->g, s->l, v) };
}

/* The slots of a canonical template for one expression, for straight-line code. */
static struct gen_assign
straight(struct scheduler *s, inst def, uint32_t canon, struct gen_ref to)
{
    program *g = s->g;
    struct planner *pl = g->planner;
    struct canon c = pl->canon.at[canon];
    struct gen_ref *slot = arena_new_array(g->arena, struct gen_ref, c.nv + c.np + 1);

    for (uint32_t k = 0; k < c.nv; k++)
        slot[k] = ref_of(s, g->e->f->slot.at[def.first + pl->vslots.at[c.v0 + k]]);
    for (uint32_t k = 0; k < c.np; k++) {
        inst part = part_of(g, def, pl->proots.at[c.p0 + k]);

        slot[c.nv + k] = (struct gen_ref){ SP_P, share_parameter(g, part) };
    }
    return (struct gen_assign){ c.root, slot, to };
}

static uint32_t
add_chunk(program *g, const struct gen_assign *list, size_t n)
{
    chunk c = { .assign = arena_new_array(g->arena, struct gen_assign, n), .n = n };

    memcpy(c.assign, list, n * sizeof *list);
    vec_push(&g->chunk, c);
    return (uint32_t)g->chunk.n - 1;
}

/* A chunk of a block: blocks of equal form have equal code. */
static uint32_t
add_located(program *g, const struct gen_assign *list, size_t n)
{
    uint32_t k = add_chunk(g, list, n);
    size_t places = n;

    for (size_t i = 0; i < n; i++)
        places += ex_slot_bound(g->e->f->pool, list[i].root);
    g->chunk.at[k].at = arena_new_array(g->arena, int32_t, places);
    return k;
}

static void
close_chunk(struct scheduler *s)
{
    if (!s->chunk.assign.n)
        return;
    item it = { .kind = ITEM_CHUNK, .code = add_chunk(s->g, s->chunk.assign.at, s->chunk.assign.n) };

    vec_push(&s->g->item, it);
    s->chunk.assign.n = 0;
    s->chunk.nodes = 0;
}

static void
add_to_chunk(struct scheduler *s, struct gen_assign a)
{
    vec_push(&s->chunk.assign, a);
    s->chunk.nodes += ex_size(s->g->e->f->pool, a.root);
    if (s->chunk.nodes >= CHUNK_NODES)
        close_chunk(s);
}

static void
code_expression(struct scheduler *s, struct pending_chunk *list, inst def, uint32_t to)
{
    struct gen_assign a = straight(s, def, canon_of(s->g->planner, def), (struct gen_ref){ SP_OUT, to });

    vec_push(&list->assign, a);
    list->nodes += ex_size(s->g->e->f->pool, a.root);
}

static bool
is_unknown(const program *g, const program_block *b, var_id v)
{
    const eq_var *d = &g->e->var.at[v];

    return d->kind == DEF_BLOCK && d->index == b->block;
}

/* Pattern of a block's partial derivatives: residuals are gone through in order, so that rows ascend in each column. */
static void
make_pattern(program *g, program_block *b)
{
    const flat_model *f = g->e->f;
    int64_t *fill = bg_malloc((b->n + 1) * sizeof *fill);

    b->column_start = arena_new_array(g->arena, int64_t, b->n + 1);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < b->n; i++) {
            inst r = b->residual.at[i];

            for (uint32_t k = 0; k < r.n; k++) {
                var_id v = f->slot.at[r.first + k];

                if (!is_unknown(g, b, v))
                    continue;
                if (pass == 0)
                    b->column_start[g->w_position[v] - b->w0 + 1]++;
                else
                    b->row[fill[g->w_position[v] - b->w0]++] = i;
            }
        }
        if (pass == 0) {
            for (uint32_t j = 0; j < b->n; j++)
                b->column_start[j + 1] += b->column_start[j];
            memcpy(fill, b->column_start, (b->n + 1) * sizeof *fill);
            b->row = arena_new_array(g->arena, int64_t, (size_t)b->column_start[b->n] + 1);
        }
    }
    free(fill);
}

/* Code of a block's residuals and partial derivatives, in chunks of their own. */
static void
code_block(struct scheduler *s, program_block *b)
{
    program *g = s->g;
    flat_model *f = g->e->f;
    struct pending_chunk list = { 0 };
    uint32_t *next = bg_calloc(b->n + 1, sizeof *next);

    for (uint32_t i = 0; i < b->n; i++) {
        code_expression(s, &list, b->residual.at[i], i);
        if (list.nodes >= CHUNK_NODES || i + 1 == b->n) {
            vec_push(&b->residual_code, add_located(g, list.assign.at, list.assign.n));
            list.assign.n = list.nodes = 0;
        }
    }
    make_pattern(g, b);
    for (uint32_t i = 0; i < b->n; i++) {
        inst r = b->residual.at[i];

        for (uint32_t k = 0; k < r.n; k++) {
            var_id v = f->slot.at[r.first + k];
            uint32_t j;

            if (!is_unknown(g, b, v))
                continue;
            j = g->w_position[v] - b->w0;
            code_expression(s, &list, part_of(g, r, ex_derivative(f->pool, r.root, k)),
                            (uint32_t)b->column_start[j] + next[j]++);
            if (list.nodes >= CHUNK_NODES) {
                vec_push(&b->jacobian_code, add_located(g, list.assign.at, list.assign.n));
                list.assign.n = list.nodes = 0;
            }
        }
    }
    if (list.assign.n)
        vec_push(&b->jacobian_code, add_located(g, list.assign.at, list.assign.n));
    vec_free(&list.assign);
    free(next);
}

static uint32_t
node_of_var(const program *g, const uint32_t *producer, var_id v)
{
    return g->w_position[v] == UINT32_MAX ? UINT32_MAX : producer[g->w_position[v]];
}

static inst
scheduled_inst(const program *g, uint32_t n, uint32_t i)
{
    return n < g->assign.n ? g->assign.at[n].def : g->block.at[n - g->assign.n].residual.at[i];
}

static uint32_t
scheduled_count(const program *g, uint32_t n)
{
    return n < g->assign.n ? 1 : g->block.at[n - g->assign.n].n;
}

static void
link_nodes(struct scheduler *s, const uint32_t *producer)
{
    program *g = s->g;
    const flat_model *f = g->e->f;
    VEC(uint32_t) fill = { 0 };

    vec_resize(&s->user_first, s->nnodes + 1);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t n = 0; n < s->nnodes; n++)
            for (uint32_t i = 0; i < scheduled_count(g, n); i++) {
                inst d = scheduled_inst(g, n, i);

                for (uint32_t k = 0; k < d.n; k++) {
                    uint32_t from = node_of_var(g, producer, f->slot.at[d.first + k]);

                    if (from == UINT32_MAX || from == n)
                        continue;
                    if (pass == 0) {
                        s->user_first.at[from + 1]++;
                        s->waits[n]++;
                    } else {
                        s->user.at[fill.at[from]++] = n;
                    }
                }
            }
        if (pass == 0) {
            for (uint32_t n = 0; n < s->nnodes; n++)
                s->user_first.at[n + 1] += s->user_first.at[n];
            vec_resize(&s->user, s->user_first.at[s->nnodes]);
            for (uint32_t n = 0; n < s->nnodes; n++)
                vec_push(&fill, s->user_first.at[n]);
        }
    }
    vec_free(&fill);
}

static size_t
bucket_of(const struct scheduler *s, uint32_t n)
{
    const struct planner *pl = s->g->planner;

    if (n < s->g->assign.n && pl->class_.at[s->g->assign.at[n].class_].kernel)
        return s->g->assign.at[n].class_;
    return pl->class_.n;
}

static void
release(struct scheduler *s, uint32_t n)
{
    for (uint32_t k = s->user_first.at[n]; k < s->user_first.at[n + 1]; k++) {
        uint32_t u = s->user.at[k];

        if (--s->waits[u] == 0)
            vec_push(&s->ready[bucket_of(s, u)], u);
    }
}

static int
compare_index(const void *a, const void *b, void *ctx)
{
    const program *g = ctx;
    uint32_t x = g->assign.at[*(const uint32_t *)a].index, y = g->assign.at[*(const uint32_t *)b].index;

    return (x > y) - (x < y);
}

static void
emit_run(program *g, struct class_ *c, uint32_t begin, uint32_t end, bool affine)
{
    item it = { .kind = ITEM_KERNEL, .to_out = c->to_out, .obase = c->obase, .begin = begin, .end = end };
    int64_t *base;

    /* neighbouring table runs are one */
    if (!affine && g->item.n) {
        item *last = &g->item.at[g->item.n - 1];

        if (last->kind == ITEM_KERNEL && last->code == (uint32_t)(c - g->planner->class_.at) * 2 + 1 &&
            last->end == begin) {
            last->end = end;
            return;
        }
    }
    it.code = (uint32_t)(c - g->planner->class_.at) * 2 + !affine;
    base = arena_new_array(g->arena, int64_t, c->nv + c->np + 1);
    for (uint32_t s = 0; s < c->nv; s++)
        base[s] = (int64_t)c->position[(size_t)s * c->n + begin] - (int64_t)c->stride[s] * begin;
    for (uint32_t s = 0; s < c->np; s++)
        base[c->nv + s] = c->pbase[s];
    it.base = base;
    vec_push(&g->item, it);
    if (affine)
        c->has_affine = true;
    else
        c->has_table = true;
}

/* Members [begin, end) of a class, consecutive and ready: regular runs go through the affine kernel, the rest through
 * tables. */
static void
emit_members(program *g, struct class_ *c, uint32_t begin, uint32_t end)
{
    uint32_t i = begin, table_from = begin;

    while (i < end) {
        uint32_t k = i + 1;

        for (; k < end; k++) {
            bool regular = true;

            for (uint32_t s = 0; s < c->nv && regular; s++)
                regular = (int64_t)c->position[(size_t)s * c->n + k] - c->position[(size_t)s * c->n + k - 1] ==
                          c->stride[s];
            if (!regular)
                break;
        }
        if (k - i >= AFFINE_RUN) {
            if (table_from < i)
                emit_run(g, c, table_from, i, false);
            emit_run(g, c, i, k, true);
            table_from = k;
        }
        i = k;
    }
    if (table_from < end)
        emit_run(g, c, table_from, end, false);
}

static void
run_bucket(struct scheduler *s, size_t bucket)
{
    program *g = s->g;
    struct planner *pl = g->planner;

    if (bucket == pl->class_.n) {
        /* one after the other, also what becomes ready meanwhile */
        for (size_t head = 0; head < s->ready[bucket].n; head++) {
            uint32_t n = s->ready[bucket].at[head];

            if (n < g->assign.n) {
                assign *a = &g->assign.at[n];
                struct gen_ref to = { a->var == VAR_NONE ? SP_OUT : SP_W,
                                      a->var == VAR_NONE ? g->out_index[a->target] : g->w_position[a->var] };

                add_to_chunk(s, straight(s, a->def, pl->assign_canon.at[n], to));
            } else {
                close_chunk(s);
                code_block(s, &g->block.at[n - g->assign.n]);
                vec_push(&g->item, ((item){ .kind = ITEM_BLOCK, .code = n - (uint32_t)g->assign.n }));
            }
            release(s, n);
        }
        s->ready[bucket].n = 0;
        return;
    }

    VEC(uint32_t) batch = { 0 };

    close_chunk(s);
    while (s->ready[bucket].n) {
        /* members that become ready meanwhile are the next batch */
        batch.n = 0;
        for (size_t i = 0; i < s->ready[bucket].n; i++)
            vec_push(&batch, s->ready[bucket].at[i]);
        s->ready[bucket].n = 0;
        qsort_r(batch.at, batch.n, sizeof *batch.at, compare_index, g);
        for (size_t i = 0, k; i < batch.n; i = k) {
            uint32_t first = g->assign.at[batch.at[i]].index;

            for (k = i + 1; k < batch.n && g->assign.at[batch.at[k]].index == first + (k - i); k++)
                ;
            emit_members(g, &pl->class_.at[bucket], first, first + (uint32_t)(k - i));
        }
        for (size_t i = 0; i < batch.n; i++)
            release(s, batch.at[i]);
    }
    vec_free(&batch);
}

static void
make_schedule(struct scheduler *s)
{
    program *g = s->g;
    struct planner *pl = g->planner;
    uint32_t *producer = bg_malloc((g->nw + 1) * sizeof *producer);
    size_t nbuckets = pl->class_.n + 1;
    VEC(size_t) active = { 0 };

    s->nnodes = (uint32_t)(g->assign.n + g->block.n);
    s->waits = bg_calloc(s->nnodes + 1, sizeof *s->waits);
    s->ready = bg_calloc(nbuckets, sizeof *s->ready);
    for (uint32_t i = 0; i < g->assign.n; i++)
        if (g->assign.at[i].var != VAR_NONE)
            producer[g->w_position[g->assign.at[i].var]] = i;
    for (uint32_t k = 0; k < g->block.n; k++)
        for (uint32_t i = 0; i < g->block.at[k].n; i++)
            producer[g->block.at[k].w0 + i] = (uint32_t)g->assign.n + k;
    link_nodes(s, producer);
    for (uint32_t n = 0; n < s->nnodes; n++)
        if (!s->waits[n])
            vec_push(&s->ready[bucket_of(s, n)], n);
    for (size_t b = 0; b < nbuckets; b++)
        if (b == pl->class_.n || pl->class_.at[b].kernel)
            vec_push(&active, b);
    for (;;) {
        size_t best = active.at[0];

        for (size_t i = 1; i < active.n; i++)
            if (s->ready[active.at[i]].n > s->ready[best].n)
                best = active.at[i];
        if (!s->ready[best].n)
            break;
        run_bucket(s, best);
    }
    close_chunk(s);
    for (size_t b = 0; b < nbuckets; b++)
        vec_free(&s->ready[b]);
    free(s->ready);
    free(s->waits);
    free(producer);
    vec_free(&s->user_first);
    vec_free(&s->user);
    vec_free(&s->chunk.assign);
    vec_free(&active);
}

/* ---------------------------------------------------------------- code: kernels */

/* Tables of positions for the slots that need them. */
static void
make_tables(program *g, struct class_ *c)
{
    struct planner *pl = g->planner;
    int32_t *at = arena_new_array(g->arena, int32_t, (size_t)c->nv * c->n + 1);

    c->tables = arena_new_array(g->arena, const int32_t *, c->nv + c->np + 1);
    for (uint32_t k = 0; k < c->nv; k++) {
        if (pl->spaces.at[c->spaces0 + k] == SP_TIME || c->regular[k])
            continue;
        for (uint32_t i = 0; i < c->n; i++)
            at[(size_t)k * c->n + i] = (int32_t)c->position[(size_t)k * c->n + i];
        c->tables[k] = at + (size_t)k * c->n;
    }
}

static uint32_t
code_kernel(program *g, const struct class_ *c, bool affine, bool optimise)
{
    struct planner *pl = g->planner;
    struct gen_slot *slot = bg_calloc(c->nv + c->np + 1, sizeof *slot);
    uint32_t handle;

    for (uint32_t k = 0; k < c->nv; k++)
        slot[k] = (struct gen_slot){ pl->spaces.at[c->spaces0 + k], !affine && c->tables[k], c->stride[k] };
    for (uint32_t k = 0; k < c->np; k++)
        slot[c->nv + k] = (struct gen_slot){ SP_P, false, c->pstride[k] };
    handle = gen_add_kernel(g->gen, c->root, slot, c->nv + c->np, optimise);
    free(slot);
    return handle;
}

static int
compare_population(const void *a, const void *b, void *ctx)
{
    const struct planner *pl = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    if (pl->class_.at[x].n != pl->class_.at[y].n)
        return pl->class_.at[x].n < pl->class_.at[y].n ? 1 : -1;
    return (x > y) - (x < y);
}

/* Machine code for the schedule as it stands; replaces what was there. */
static bool
generate(program *g, bool optimise)
{
    struct planner *pl = g->planner;
    gen *before = g->gen;
    bool optimise_chunks = optimise && g->irregular <= OPTIMISED_NODES;
    double start = bg_cpu_seconds();
    char *why = NULL;

    g->gen = gen_new(g->e->f->pool, g->e->code);
    g->nkernels = 0;
    for (size_t i = 0; i < pl->kernels.n; i++) {
        struct class_ *c = &pl->class_.at[pl->kernels.at[i]];
        bool fast = optimise && i < OPTIMISED_KERNELS;

        if (c->has_affine)
            c->affine_code = code_kernel(g, c, true, fast);
        if (c->has_table)
            c->table_code = code_kernel(g, c, false, fast);
        g->nkernels += (size_t)c->has_affine + c->has_table;
    }
    for (size_t i = 0; i < g->chunk.n; i++) {
        chunk *c = &g->chunk.at[i];

        c->handle = c->at ? gen_add_located(g->gen, c->assign, c->n, optimise_chunks, c->at)
                          : gen_add_chunk(g->gen, c->assign, c->n, optimise_chunks);
    }
    if (g->keep_ir)
        g->ir = gen_print_ir(g->gen);
    if (!gen_finish(g->gen, &why)) {
        diag_error(g->e->f->sources, "codegen", g->e->f->at, "the code generator failed: %s",
                   why ? why : "no reason given");
        free(why);
        gen_free(g->gen);
        g->gen = before;
        return false;
    }
    for (size_t i = 0; i < g->item.n; i++) {
        item *it = &g->item.at[i];

        if (it->kind == ITEM_KERNEL) {
            const struct class_ *c = &pl->class_.at[it->code / 2];

            it->table = c->tables;
            it->kernel = gen_kernel_at(g->gen, it->code & 1 ? c->table_code : c->affine_code);
        } else if (it->kind == ITEM_CHUNK) {
            it->chunk = gen_chunk_at(g->gen, g->chunk.at[it->code].handle);
        } else {
            program_block *b = &g->block.at[it->code];

            for (size_t k = 0; k < b->residual_code.n; k++)
                b->residual_chunk[k] = gen_located_at(g->gen, g->chunk.at[b->residual_code.at[k]].handle);
            for (size_t k = 0; k < b->jacobian_code.n; k++)
                b->jacobian_chunk[k] = gen_located_at(g->gen, g->chunk.at[b->jacobian_code.at[k]].handle);
        }
    }
    gen_free(before);
    g->optimised = optimise;
    g->code_seconds += bg_cpu_seconds() - start;
    return true;
}

bool
program_code(program *g, layout l, bool long_run)
{
    struct planner *pl = g->planner;
    struct scheduler s = { .g = g, .l = l };

    for (uint32_t k = 0; k < pl->class_.n; k++) {
        struct class_ *c = &pl->class_.at[k];

        g->work += (size_t)c->size * c->n;
        if (c->kernel) {
            lay_out_class(g, c, l);
            vec_push(&pl->kernels, k);
        } else {
            g->irregular += (size_t)c->size * c->n;
        }
    }
    make_schedule(&s);
    for (size_t k = 0; k < g->block.n; k++) {
        program_block *b = &g->block.at[k];

        g->work += (size_t)b->n * b->n;
        g->irregular += (size_t)b->n * 20;
        b->residual_chunk = arena_new_array(g->arena, gen_located *, b->residual_code.n + 1);
        b->jacobian_chunk = arena_new_array(g->arena, gen_located *, b->jacobian_code.n + 1);
    }
    if (pl->kernels.n)
        qsort_r(pl->kernels.at, pl->kernels.n, sizeof *pl->kernels.at, compare_population, pl);
    for (size_t i = 0; i < pl->kernels.n; i++)
        if (pl->class_.at[pl->kernels.at[i]].has_table)
            make_tables(g, &pl->class_.at[pl->kernels.at[i]]);
    g->p = bg_calloc(g->parameter.n + 1, sizeof *g->p);
    return generate(g, long_run || (g->e->code && code_store_is_busy(g->e->code)));
}

bool
program_optimise(program *g)
{
    return generate(g, true);
}

void
program_set_parameters(program *g, const double *value)
{
    flat_model *f = g->e->f;
    VEC(double) slot = { 0 };

    for (size_t i = 0; i < g->parameter.n; i++) {
        inst d = g->parameter.at[i].def;

        if (pool_node(f->pool, d.root)->op == EX_SLOT) {
            g->p[i] = value[f->slot.at[d.first]];
            continue;
        }
        slot.n = 0;
        for (uint32_t k = 0; k < d.n; k++)
            vec_push(&slot, value[f->slot.at[d.first + k]]);
        g->p[i] = ex_eval(f->pool, d.root, slot.at);
    }
    vec_free(&slot);
}

void
program_free(program *g)
{
    struct planner *pl;

    if (!g)
        return;
    pl = g->planner;
    vec_free(&pl->canon);
    vec_free(&pl->masks);
    vec_free(&pl->vslots);
    vec_free(&pl->proots);
    vec_free(&pl->class_);
    vec_free(&pl->spaces);
    vec_free(&pl->assign_canon);
    vec_free(&pl->order);
    vec_free(&pl->kernels);
    vec_free(&pl->position);
    vec_free(&pl->mask);
    vec_free(&pl->constant);
    vec_free(&pl->mapped);
    vec_free(&pl->shared_next);
    map_free(&pl->canon_index);
    map_free(&pl->class_index);
    map_free(&pl->shared);
    free(pl);
    for (size_t i = 0; i < g->block.n; i++) {
        vec_free(&g->block.at[i].residual);
        vec_free(&g->block.at[i].residual_code);
        vec_free(&g->block.at[i].jacobian_code);
    }
    vec_free(&g->assign);
    vec_free(&g->block);
    vec_free(&g->item);
    vec_free(&g->chunk);
    vec_free(&g->parameter);
    free(g->w_position);
    free(g->out_index);
    free(g->p);
    free(g->ir);
    gen_free(g->gen);
    arena_free(g->arena);
    free(g);
}
