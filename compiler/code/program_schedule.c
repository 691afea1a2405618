/* program_schedule.c - the order of evaluation, and its code: kernels over runs of members, chunks, runs of blocks */
#include <stdlib.h>
#include <string.h>

#include "program_inside.h"

struct gen_ref
program_ref_of(struct scheduler *s, var_id v)
{
    enum space sp = program_space_of(s->g->e->f, s->g->e, v);

    return (struct gen_ref){ sp, program_position_of(s->g, s->l, v) };
}

struct gen_assign
program_straight(struct scheduler *s, inst def, uint32_t canon, struct gen_ref to)
{
    program *g = s->g;
    struct planner *pl = g->planner;
    struct canon c = pl->canon.at[canon];
    struct gen_ref *slot = arena_new_array(g->arena, struct gen_ref, c.nv + c.np + 1);

    for (uint32_t k = 0; k < c.nv; k++)
        slot[k] = program_ref_of(s, g->e->f->slot.at[def.first + pl->vslots.at[c.v0 + k]]);
    for (uint32_t k = 0; k < c.np; k++) {
        inst part = program_part_of(g, def, pl->proots.at[c.p0 + k]);

        slot[c.nv + k] = (struct gen_ref){ SP_P, program_share_parameter(g, part) };
    }
    return (struct gen_assign){ c.root, slot, to };
}

uint32_t
program_add_chunk(program *g, const struct gen_assign *list, size_t n)
{
    chunk c = { .assign = arena_new_array(g->arena, struct gen_assign, n), .n = n };

    memcpy(c.assign, list, n * sizeof *list);
    vec_push(&g->chunk, c);
    return (uint32_t)g->chunk.n - 1;
}

static void
close_chunk(struct scheduler *s)
{
    if (!s->chunk.assign.n)
        return;
    item it = { .kind = ITEM_CHUNK, .code = program_add_chunk(s->g, s->chunk.assign.at, s->chunk.assign.n) };

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

static uint32_t
node_of_var(const program *g, const uint32_t *producer, var_id v)
{
    return g->routine->w_position[v] == NONE ? NONE : producer[g->routine->w_position[v]];
}

static inst
scheduled_inst(const program *g, uint32_t n, uint32_t i)
{
    return n < g->assign.n ? g->assign.at[n].def : g->block.at[n - g->assign.n].residual.at[i];
}

static uint32_t
scheduled_count(const program *g, uint32_t n)
{
    return n < g->assign.n ? 1 : g->routine->block.at[n - g->assign.n].n;
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

                    if (from == NONE || from == n)
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
release_readers_of(struct scheduler *s, uint32_t n)
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
    base = arena_new_array(g->routine->arena, int64_t, c->nv + c->np + 1);
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

/* Blocks that follow each other are one run. */
static void
schedule_block(struct scheduler *s, uint32_t number)
{
    program *g = s->g;
    item *last = g->item.n ? &g->item.at[g->item.n - 1] : NULL;

    program_code_block(s, number);
    if (last && last->kind == ITEM_BLOCK && last->end == number)
        last->end++;
    else
        vec_push(&g->item, ((item){ .kind = ITEM_BLOCK, .begin = number, .end = (int64_t)number + 1 }));
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
                struct gen_ref to = { a->var == VAR_NONE ? SP_OUT : SP_W, a->var == VAR_NONE
                                                                              ? g->routine->out_index[a->target]
                                                                              : g->routine->w_position[a->var] };

                add_to_chunk(s, program_straight(s, a->def, pl->assign_canon.at[n], to));
            } else {
                close_chunk(s);
                schedule_block(s, n - (uint32_t)g->assign.n);
            }
            release_readers_of(s, n);
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
            release_readers_of(s, batch.at[i]);
    }
    vec_free(&batch);
}

void
program_make_schedule(struct scheduler *s)
{
    program *g = s->g;
    struct planner *pl = g->planner;
    uint32_t *producer = bg_malloc((g->routine->nw + 1) * sizeof *producer);
    size_t nbuckets = pl->class_.n + 1;
    VEC(size_t) active = { 0 };

    s->nnodes = (uint32_t)(g->assign.n + g->block.n);
    s->waits = bg_calloc(s->nnodes + 1, sizeof *s->waits);
    s->ready = bg_calloc(nbuckets, sizeof *s->ready);
    for (uint32_t i = 0; i < g->assign.n; i++)
        if (g->assign.at[i].var != VAR_NONE)
            producer[g->routine->w_position[g->assign.at[i].var]] = i;
    for (uint32_t k = 0; k < g->block.n; k++)
        for (uint32_t i = 0; i < g->routine->block.at[k].n; i++)
            producer[g->routine->block.at[k].w0 + i] = (uint32_t)g->assign.n + k;
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
    program_blocks_done(s);
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
