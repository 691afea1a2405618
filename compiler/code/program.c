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
    case SP_W: return g->routine->w_position[v];
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
    vec_push(&g->parameter, def);
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
        if (inst_equal(f, g->parameter.at[k], def))
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
    int32_t *at = arena_new_array(g->routine->arena, int32_t, (size_t)c->nv * c->n + 1);

    c->tables = arena_new_array(g->routine->arena, const int32_t *, c->nv + c->np + 1);
    for (uint32_t k = 0; k < c->nv; k++) {
        if (pl->spaces.at[c->spaces0 + k] == SP_TIME || c->regular[k])
            continue;
        for (uint32_t i = 0; i < c->n; i++)
            at[(size_t)k * c->n + i] = (int32_t)c->position[(size_t)k * c->n + i];
        c->tables[k] = at + (size_t)k * c->n;
    }
}

struct gen_slot *
program_kernel_slots(const program *g, const struct class_ *c, bool affine)
{
    struct planner *pl = g->planner;
    struct gen_slot *slot = bg_calloc(c->nv + c->np + 1, sizeof *slot);

    for (uint32_t k = 0; k < c->nv; k++)
        slot[k] = (struct gen_slot){ pl->spaces.at[c->spaces0 + k], !affine && c->tables[k], c->stride[k] };
    for (uint32_t k = 0; k < c->np; k++)
        slot[c->nv + k] = (struct gen_slot){ SP_P, false, c->pstride[k] };
    return slot;
}

static uint32_t
code_kernel(const program *g, gen *made, const struct class_ *c, bool affine, bool optimise)
{
    struct gen_slot *slot = program_kernel_slots(g, c, affine);
    uint32_t handle = gen_add_kernel(made, c->root, slot, c->nv + c->np, optimise);

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

/* The schedule with the addresses of its code. Takes what was generated. */
static machine_code *
addresses(program *g, gen *made, bool optimised)
{
    struct planner *pl = g->planner;
    machine_code *m = bg_calloc(1, sizeof *m);

    m->gen = made;
    m->optimised = optimised;
    m->item = bg_malloc((g->item.n + 1) * sizeof *m->item);
    m->located = bg_calloc(g->chunk.n + 1, sizeof *m->located);
    for (size_t i = 0; i < g->item.n; i++) {
        item *it = &m->item[i];

        *it = g->item.at[i];
        if (it->kind == ITEM_KERNEL) {
            const struct class_ *c = &pl->class_.at[it->code / 2];

            it->table = c->tables;
            it->kernel = gen_kernel_at(made, it->code & 1 ? c->table_code : c->affine_code);
        } else if (it->kind == ITEM_CHUNK) {
            it->chunk = gen_chunk_at(made, g->chunk.at[it->code].handle);
        }
    }
    for (size_t k = 0; k < g->chunk.n; k++)
        if (g->chunk.at[k].place)
            m->located[k] = gen_located_at(made, g->chunk.at[k].handle);
    return m;
}

/* Machine code for the schedule as it stands; replaces what was there. */
static bool
generate(program *g, bool optimise)
{
    struct planner *pl = g->planner;
    bool optimise_chunks = optimise && g->irregular <= OPTIMISED_NODES;
    double start = bg_cpu_seconds();
    gen *made = gen_new(g->e->f->pool, g->e->code);
    char *why = NULL;

    g->nkernels = 0;
    for (size_t i = 0; i < pl->kernels.n; i++) {
        struct class_ *c = &pl->class_.at[pl->kernels.at[i]];
        bool fast = optimise && i < OPTIMISED_KERNELS;

        if (c->has_affine)
            c->affine_code = code_kernel(g, made, c, true, fast);
        if (c->has_table)
            c->table_code = code_kernel(g, made, c, false, fast);
        g->nkernels += (size_t)c->has_affine + c->has_table;
    }
    for (size_t i = 0; i < g->chunk.n; i++) {
        chunk *c = &g->chunk.at[i];

        c->handle = c->place ? gen_add_located(made, c->assign, c->n, optimise_chunks, c->place)
                             : gen_add_chunk(made, c->assign, c->n, optimise_chunks);
    }
    if (g->keep_ir)
        g->ir = gen_print_ir(made);
    if (!gen_finish(made, &why)) {
        diag_error(g->e->f->sources, "codegen", g->e->f->at, "the code generator failed: %s",
                   why ? why : "no reason given");
        free(why);
        gen_free(made);
        return false;
    }
    gen_close(made);
    routine_exchange(g->routine, addresses(g, made, optimise));
    g->code_seconds += bg_cpu_seconds() - start;
    return true;
}

/* Parameter data in closed form. */
static void
close_parameters(program *g)
{
    routine *r = g->routine;
    flat_model *f = g->e->f;

    vec_reserve(&r->parameter, g->parameter.n);
    for (size_t i = 0; i < g->parameter.n; i++) {
        inst d = g->parameter.at[i];

        vec_push(&r->parameter, formula_write(&r->book, f->pool, d.root, inst_slots(f, d), d.n));
    }
    formula_close(&r->book);
}

void
program_lay_out(program *g, layout l)
{
    struct planner *pl = g->planner;
    routine *r = g->routine;
    struct scheduler s = { .g = g, .l = l };

    for (uint32_t k = 0; k < pl->class_.n; k++) {
        struct class_ *c = &pl->class_.at[k];

        r->work += (size_t)c->size * c->n;
        if (c->kernel) {
            lay_out_class(g, c, l);
            vec_push(&pl->kernels, k);
        } else {
            g->irregular += (size_t)c->size * c->n;
        }
    }
    program_make_schedule(&s);
    r->nitems = g->item.n;
    for (size_t k = 0; k < r->block.n; k++) {
        r->work += (size_t)r->block.at[k].n * r->block.at[k].n;
        g->irregular += (size_t)r->block.at[k].n * 20;
    }
    if (pl->kernels.n)
        qsort_r(pl->kernels.at, pl->kernels.n, sizeof *pl->kernels.at, compare_population, pl);
    for (size_t i = 0; i < pl->kernels.n; i++)
        if (pl->class_.at[pl->kernels.at[i]].has_table)
            make_tables(g, &pl->class_.at[pl->kernels.at[i]]);
    close_parameters(g);
}

bool
program_code(program *g, layout l, bool long_run)
{
    program_lay_out(g, l);
    return generate(g, long_run || (g->e->code && code_store_is_busy(g->e->code)));
}

bool
program_optimise(program *g)
{
    return generate(g, true);
}

routine *
program_give(program *g)
{
    g->given = true;
    return g->routine;
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
    for (size_t i = 0; i < g->block.n; i++)
        vec_free(&g->block.at[i].residual);
    vec_free(&g->assign);
    vec_free(&g->block);
    vec_free(&g->item);
    vec_free(&g->chunk);
    vec_free(&g->parameter);
    free(g->ir);
    if (!g->given)
        routine_free(g->routine);
    arena_free(g->arena);
    free(g);
}
