/* program.c - see program.h */
#include <stdlib.h>

#include "program_inside.h"

bool
program_is_parameter(const flat_model *f, var_id v)
{
    return f->var.at[v].kind == VAR_PARAM || f->var.at[v].kind == VAR_LITERAL;
}

/* ---------------------------------------------------------------- code: layout of slots */

uint32_t
program_position_of(const program *g, layout l, var_id v)
{
    switch (program_space_of(g->e->f, g->e, v)) {
    case SP_X:
    case SP_M: return l.position[v];
    case SP_W: return g->w_position[v];
    default: return 0;
    }
}

inst
program_part_of(program *g, inst def, node sub)
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

uint32_t
program_share_parameter(program *g, inst def)
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
            c->position[(size_t)s * c->n + i] = program_position_of(g, l,
                                                                    f->slot.at[def.first + pl->vslots.at[k->v0 + s]]);
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

            def[i] = program_part_of(g, g->assign.at[a].def, pl->proots.at[k->p0 + s]);
            equal = equal && inst_equal(f, def[0], def[i]);
        }
        c->pbase[s] = (int64_t)g->parameter.n;
        c->pstride[s] = !equal;
        for (uint32_t i = 0; i < (equal ? 1 : c->n); i++)
            add_parameter(g, def[i]);
        free(def);
    }
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
    program_make_schedule(&s);
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

typedef VEC(double) slot_values;

/* slot: room that is used again. */
static double
parameter_datum(const program *g, size_t i, const double *value, slot_values *slot)
{
    flat_model *f = g->e->f;
    inst d = g->parameter.at[i].def;

    if (pool_node(f->pool, d.root)->op == EX_SLOT)
        return value[f->slot.at[d.first]];
    slot->n = 0;
    for (uint32_t k = 0; k < d.n; k++)
        vec_push(slot, value[f->slot.at[d.first + k]]);
    return ex_eval(f->pool, d.root, slot->at);
}

void
program_set_parameters(program *g, const double *value)
{
    slot_values slot = { 0 };

    for (size_t i = 0; i < g->parameter.n; i++)
        g->p[i] = parameter_datum(g, i, value, &slot);
    vec_free(&slot);
}

bool
program_follow_parameters(program *g, const double *value, const var_id *changed, size_t n)
{
    slot_values slot = { 0 };
    bool any = false;

    if (!g->by_parameter.first) {
        VEC(inst) def = { 0 };

        for (size_t i = 0; i < g->parameter.n; i++)
            vec_push(&def, g->parameter.at[i].def);
        readers_of(g->e->f, def.at, def.n, &g->by_parameter);
        vec_free(&def);
    }
    for (size_t c = 0; c < n; c++)
        for (uint32_t k = g->by_parameter.first[changed[c]]; k < g->by_parameter.first[changed[c] + 1]; k++) {
            uint32_t i = g->by_parameter.reader[k];

            g->p[i] = parameter_datum(g, i, value, &slot);
            any = true;
        }
    vec_free(&slot);
    return any;
}

void
program_free(program *g)
{
    struct planner *pl;

    if (!g)
        return;
    readers_free(&g->by_parameter);
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
