/* codegen.c - templates to machine code: what is asked for, by key, and made once
 *
 * needs     templates, and where their slots lie
 * provides  addresses of kernels and chunks that give what ex_eval gives, bit for bit: no contraction, no
 *           reassociation, the same libm functions (by address, under names LLVM does not know)
 * keeps     code generation linear: long chunks are cut into functions of bounded size; the quick module goes through
 *           no passes and the quickest instruction selection
 *
 * Objects are made here: for the quick and for the optimised functions of each gen_finish, of those to be kept one and
 * of the others one; ORC only links them. An object exports one symbol, the table of its functions' addresses. IR and
 * its context live from the first addition to gen_finish. What computes the same is one function: a key, the bytes of
 * the template with what its slots are, tells.
 */
#include <string.h>

#include "codegen_inside.h"

bool codegen_owns_llvm;

_Static_assert(ARG_T == (int)SP_TIME && ARG_X == (int)SP_X && ARG_W == (int)SP_W && ARG_P == (int)SP_P &&
                   ARG_M == (int)SP_M && ARG_O == (int)SP_OUT,
               "a space is found by its number");

void
gen_set_error(gen *g, char *text)
{
    if (g->error)
        free(text);
    else
        g->error = text;
}

void
gen_lock(const gen *g)
{
    if (g->kept)
        pthread_mutex_lock(&g->kept->lock);
}

void
gen_unlock(const gen *g)
{
    if (g->kept)
        pthread_mutex_unlock(&g->kept->lock);
}

gen *
gen_new(pool *p, code_store *kept)
{
    gen *g = bg_calloc(1, sizeof *g);
    char *why = NULL;

    g->p = p;
    g->lower = (lowering){ .p = p, .back = &gen_llvm, .of = g };
    g->kept = kept;
    g->native = kept ? &kept->native : &g->own_native;
    bg_need_room(LLVM_ROOM);
    gen_lock(g);
    if (kept)
        kept->users++;
    if (!(kept ? code_store_ready(kept, &why) : native_find(&g->own_native, &why)))
        gen_set_error(g, why);
    gen_unlock(g);
    return g;
}

/* ---------------------------------------------------------------- keys */

static bool
code_is_kept(const gen *g, const code_key *key)
{
    return g->kept && !key->fixed && !code_store_full(g->kept);
}

/* A handle for code that exists already, in this generator or in the store; NONE: it has to be made. */
static uint32_t
find_made(gen *g, const code_key *key)
{
    uintptr_t found = code_index_find(&g->index, key);

    if (found != UINTPTR_MAX)
        return (uint32_t)found;
    if (!g->kept || key->fixed || (found = code_store_find(g->kept, key)) == UINTPTR_MAX)
        return NONE;
    vec_push(&g->address, found);
    code_index_add(&g->index, key, g->address.n - 1);
    return (uint32_t)(g->address.n - 1);
}

/* Registers the code of this handle under its key. Takes ownership of the key. */
static void
note_made(gen *g, code_key *key, uint32_t handle)
{
    code_index_add(&g->index, key, handle);
    if (g->now->linker != &g->linker)
        vec_push(&g->leaving, ((struct leaving){ *key, handle }));
    else
        strbuf_free(&key->bytes);
}

/* ---------------------------------------------------------------- kernels */

static void
key_kernel(gen *g, code_key *key, node root, const struct gen_slot *slot, const bool *used, uint32_t nslots,
           bool optimise)
{
    key_number(key, optimise ? 'K' : 'k');
    key_template(&g->keys, g->p, key, root);
    for (uint32_t k = 0; k < nslots; k++) {
        if (!used[k])
            continue;
        key_number(key, (uint32_t)slot[k].space * 2 + slot[k].table);
        key_number(key, (uint32_t)slot[k].stride);
    }
}

uint32_t
gen_add_kernel(gen *g, node root, const struct gen_slot *slot, uint32_t nslots, bool optimise)
{
    code_key key = { 0 };
    uint32_t handle;
    bool *used;

    if (ex_slot_bound(g->p, root) > nslots)
        gen_set_error(g, bg_format("a kernel reads %u slots and was given %u", (unsigned)ex_slot_bound(g->p, root),
                                   (unsigned)nslots));
    if (g->error)
        return gen_add_handle(g, NULL);
    used = bg_calloc(nslots, sizeof *used);
    ex_slots_used(g->p, root, used, nslots);
    key_kernel(g, &key, root, slot, used, nslots, optimise);
    gen_lock(g);
    handle = find_made(g, &key);
    if (handle == NONE) {
        gen_open_unit(g, optimise, code_is_kept(g, &key));
        handle = gen_add_handle(g, lower_kernel(&g->lower, root, slot, used, nslots));
        note_made(g, &key, handle);
    } else {
        strbuf_free(&key.bytes);
    }
    gen_unlock(g);
    free(used);
    return handle;
}

/* ---------------------------------------------------------------- chunks */

uint32_t
gen_add_chunk(gen *g, const struct gen_assign *a, size_t n, bool optimise)
{
    uint32_t handle;

    if (g->error)
        return gen_add_handle(g, NULL);
    gen_lock(g);
    gen_open_unit(g, optimise, false);
    handle = gen_add_handle(g, lower_chunk(&g->lower, a, n, NULL));
    gen_unlock(g);
    return handle;
}

/* In the key, the slots of each assignment appear as numbers. */
static void
key_place(code_key *key, map *place, struct gen_ref r, int32_t *at)
{
    key_number(key, (uint32_t)r.space);
    key_number(key, lower_name_place(place, r, at));
}

static void
key_located(gen *g, code_key *key, const struct gen_assign *a, size_t n, bool optimise, map *place, int32_t *at)
{
    VEC(bool) used = { 0 };

    key_number(key, optimise ? 'L' : 'l');
    for (size_t i = 0; i < n; i++) {
        uint32_t bound = ex_slot_bound(g->p, a[i].root);

        key_template(&g->keys, g->p, key, a[i].root);
        used.n = 0;
        vec_resize(&used, bound);
        ex_slots_used(g->p, a[i].root, used.at, bound);
        for (uint32_t k = 0; k < bound; k++)
            if (used.at[k])
                key_place(key, place, a[i].slot[k], at);
        key_place(key, place, a[i].to, at);
    }
    vec_free(&used);
}

uint32_t
gen_add_located(gen *g, const struct gen_assign *a, size_t n, bool optimise, int32_t *at)
{
    code_key key = { 0 };
    map place = { 0 };
    uint32_t handle;

    if (g->error)
        return gen_add_handle(g, NULL);
    key_located(g, &key, a, n, optimise, &place, at);
    gen_lock(g);
    handle = find_made(g, &key);
    if (handle == NONE) {
        gen_open_unit(g, optimise, code_is_kept(g, &key));
        handle = gen_add_handle(g, lower_chunk(&g->lower, a, n, &place));
        note_made(g, &key, handle);
    } else {
        strbuf_free(&key.bytes);
    }
    gen_unlock(g);
    map_free(&place);
    return handle;
}

void
gen_close(gen *g)
{
    gen_close_units(g);
    for (size_t i = 0; i < g->leaving.n; i++)
        strbuf_free(&g->leaving.at[i].key.bytes);
    vec_free(&g->leaving);
    code_index_free(&g->index);
    key_maker_free(&g->keys);
    lowering_free(&g->lower);
    g->index = (code_index){ 0 };
    g->keys = (key_maker){ 0 };
    g->lower = (lowering){ 0 };
    g->p = NULL;
    native_free(&g->own_native);
}

void
gen_free(gen *g)
{
    if (!g)
        return;
    gen_close(g);
    linker_free(&g->linker);
    vec_free(&g->address);
    free(g->error);
    free(g);
}

gen_kernel *
gen_kernel_at(const gen *g, uint32_t handle)
{
    return (gen_kernel *)g->address.at[handle];
}

gen_chunk *
gen_chunk_at(const gen *g, uint32_t handle)
{
    return (gen_chunk *)g->address.at[handle];
}

gen_located *
gen_located_at(const gen *g, uint32_t handle)
{
    return (gen_located *)g->address.at[handle];
}
