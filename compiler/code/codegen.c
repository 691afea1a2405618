/* codegen.c - templates to machine code through the LLVM C API
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

enum { PIECE = 600 }; /* nodes a function of a chunk: about 1000 instructions */

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
gen_on_diagnostic(LLVMDiagnosticInfoRef info, void *ctx)
{
    char *text;

    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError)
        return;
    text = LLVMGetDiagInfoDescription(info);
    gen_set_error(ctx, bg_format("LLVM: %s", text));
    LLVMDisposeMessage(text);
}

gen *
gen_new(pool *p, code_store *kept)
{
    gen *g = bg_calloc(1, sizeof *g);
    char *why = NULL;

    g->p = p;
    g->kept = kept;
    g->native = kept ? &kept->native : &g->own_native;
    if (kept)
        kept->users++;
    if (!(kept ? code_store_ready(kept, &why) : native_find(&g->own_native, &why)))
        gen_set_error(g, why);
    return g;
}

/* ---------------------------------------------------------------- keys */

static bool
is_kept(const gen *g, const code_key *key)
{
    return g->kept && !key->fixed && !code_store_full(g->kept);
}

/* A handle for what is there already, in this generator or in the store; UINT32_MAX: it has to be made. */
static uint32_t
find_made(gen *g, const code_key *key)
{
    uintptr_t found = code_index_find(&g->index, key);

    if (found != UINTPTR_MAX)
        return (uint32_t)found;
    if (!g->kept || key->fixed || (found = code_index_find(&g->kept->index, key)) == UINTPTR_MAX)
        return UINT32_MAX;
    vec_push(&g->address, found);
    code_index_add(&g->index, key, g->address.n - 1);
    return (uint32_t)(g->address.n - 1);
}

/* What was made under this handle is known by its key from now on. Takes the key. */
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

/* Before the loop: where slot k lies, or its value where all members share it. */
static LLVMValueRef
slot_origin(gen *g, LLVMValueRef f, const struct gen_slot *s, uint32_t k)
{
    LLVMValueRef index = gen_integer(g, k), at, space;

    if (s->space == SP_TIME)
        return LLVMGetParam(f, ARG_T);
    space = LLVMGetParam(f, (unsigned)s->space);
    if (s->table) {
        at = LLVMBuildInBoundsGEP2(g->before, g->type.i32_ptr, LLVMGetParam(f, ARG_TABLE), &index, 1, "");
        return LLVMBuildLoad2(g->before, g->type.i32_ptr, at, "table");
    }
    at = LLVMBuildInBoundsGEP2(g->before, g->type.i64, LLVMGetParam(f, ARG_BASE), &index, 1, "");
    at = gen_position(g, g->before, space, LLVMBuildLoad2(g->before, g->type.i64, at, "base"));
    return s->stride == 0 ? gen_load(g, g->before, at) : at;
}

/* In the loop: the value of a slot for member i */
static LLVMValueRef
slot_value(gen *g, LLVMValueRef f, const struct gen_slot *s, LLVMValueRef origin, LLVMValueRef i)
{
    LLVMValueRef at;

    if (!s->table)
        return gen_load(g, g->at,
                        gen_position(g, g->at, origin,
                                     s->stride == 1 ? i : LLVMBuildNSWMul(g->at, i, gen_integer(g, s->stride), "")));
    at = LLVMBuildInBoundsGEP2(g->at, g->type.i32, origin, &i, 1, "");
    at = gen_tagged(g, LLVMBuildLoad2(g->at, g->type.i32, at, ""), g->type.tbaa_i32);
    return gen_load(
        g, g->at,
        gen_position(g, g->at, LLVMGetParam(f, (unsigned)s->space), LLVMBuildSExt(g->at, at, g->type.i64, "")));
}

static void
fill_kernel(gen *g, LLVMValueRef f, node root, const struct gen_slot *slot, const bool *used, uint32_t nslots)
{
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(g->ctx, f, "entry"),
                      before = LLVMAppendBasicBlockInContext(g->ctx, f, "before");
    LLVMBasicBlockRef loop = LLVMAppendBasicBlockInContext(g->ctx, f, "members"),
                      done = LLVMAppendBasicBlockInContext(g->ctx, f, "done");
    LLVMValueRef begin = LLVMGetParam(f, ARG_BEGIN), end = LLVMGetParam(f, ARG_END), i, next, out, branch;

    g->before = LLVMCreateBuilderInContext(g->ctx);
    LLVMPositionBuilderAtEnd(g->at, entry);
    LLVMBuildCondBr(g->at, LLVMBuildICmp(g->at, LLVMIntSLT, begin, end, ""), before, done);
    LLVMPositionBuilderAtEnd(g->before, before);
    LLVMPositionBuilderAtEnd(g->at, loop);
    i = LLVMBuildPhi(g->at, g->type.i64, "i");
    LLVMAddIncoming(i, &begin, &before, 1);
    vec_resize(&g->slot, nslots);
    vec_resize(&g->fixed, nslots);
    for (uint32_t k = 0; k < nslots; k++) {
        LLVMValueRef origin;

        if (!used[k])
            continue;
        origin = slot_origin(g, f, &slot[k], k);
        g->fixed.at[k] = slot[k].space == SP_TIME || (!slot[k].table && slot[k].stride == 0);
        g->slot.at[k] = g->fixed.at[k] ? origin : slot_value(g, f, &slot[k], origin, i);
    }
    out = gen_position(g, g->before, LLVMGetParam(f, ARG_O), LLVMGetParam(f, ARG_OBASE));
    gen_store_value(g, gen_emit(g, root), gen_position(g, g->at, out, i));
    next = LLVMBuildNSWAdd(g->at, i, gen_integer(g, 1), "");
    LLVMAddIncoming(i, &next, &loop, 1);
    branch = LLVMBuildCondBr(g->at, LLVMBuildICmp(g->at, LLVMIntSLT, next, end, ""), loop, done);
    LLVMSetMetadata(branch, g->type.loop, gen_loop_tag(g));
    LLVMBuildBr(g->before, loop);
    LLVMDisposeBuilder(g->before);
    LLVMPositionBuilderAtEnd(g->at, done);
    LLVMBuildRetVoid(g->at);
}

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
    LLVMValueRef f;
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
    handle = find_made(g, &key);
    if (handle == UINT32_MAX) {
        gen_open_unit(g, optimise, is_kept(g, &key));
        f = gen_add_function(g, g->type.kernel, "kernel");
        fill_kernel(g, f, root, slot, used, nslots);
        handle = gen_add_handle(g, f);
        note_made(g, &key, handle);
    } else {
        strbuf_free(&key.bytes);
    }
    free(used);
    return handle;
}

/* ---------------------------------------------------------------- chunks */

/* A function of a chunk being filled. What was read or written stays known, so that memory is read once. */
struct piece {
    LLVMValueRef f;
    const map *place; /* space and index -> number of the place; NULL: places are in the code */
    size_t nodes;
    map known; /* space and index -> where in value */
    VEC(LLVMValueRef) value;
};

static uint64_t
ref_key(struct gen_ref r)
{
    return (uint64_t)r.space << 32 | r.index;
}

static void
piece_begin(gen *g, struct piece *p)
{
    p->f = gen_add_function(g, p->place ? g->type.located : g->type.chunk, "chunk");
    LLVMPositionBuilderAtEnd(g->at, LLVMAppendBasicBlockInContext(g->ctx, p->f, "entry"));
}

static LLVMValueRef
piece_end(gen *g, struct piece *p)
{
    LLVMValueRef f = p->f;

    LLVMBuildRetVoid(g->at);
    map_free(&p->known);
    vec_free(&p->value);
    *p = (struct piece){ .place = p->place };
    return f;
}

static LLVMValueRef
ref_position(gen *g, const struct piece *p, struct gen_ref r)
{
    LLVMValueRef index = gen_integer(g, p->place ? map_get(p->place, ref_key(r)) : r.index);

    if (p->place) {
        index = LLVMBuildInBoundsGEP2(g->at, g->type.i32, LLVMGetParam(p->f, ARG_AT), &index, 1, "");
        index = LLVMBuildSExt(g->at, gen_tagged(g, LLVMBuildLoad2(g->at, g->type.i32, index, ""), g->type.tbaa_i32),
                              g->type.i64, "");
    }
    return gen_position(g, g->at, LLVMGetParam(p->f, (unsigned)r.space), index);
}

static void
remember(struct piece *p, struct gen_ref r, LLVMValueRef v)
{
    map_set(&p->known, ref_key(r), (uint32_t)p->value.n);
    vec_push(&p->value, v);
}

static LLVMValueRef
ref_value(gen *g, struct piece *p, struct gen_ref r)
{
    uint32_t known;
    LLVMValueRef v;

    if (r.space == SP_TIME)
        return LLVMGetParam(p->f, ARG_T);
    known = map_get(&p->known, ref_key(r));
    if (known != MAP_NONE)
        return p->value.at[known];
    v = gen_load(g, g->at, ref_position(g, p, r));
    remember(p, r, v);
    return v;
}

static void
assign(gen *g, struct piece *p, const struct gen_assign *a)
{
    uint32_t bound = ex_slot_bound(g->p, a->root);
    size_t count;
    const node *tape = ex_tape(g->p, a->root, &count);
    LLVMValueRef v;

    vec_resize(&g->slot, bound);
    vec_resize(&g->fixed, bound);
    for (size_t i = 0; i < count; i++) {
        const ex_node *e = pool_node(g->p, tape[i]);

        if (e->op == EX_SLOT) {
            g->slot.at[e->a] = ref_value(g, p, a->slot[e->a]);
            g->fixed.at[e->a] = false;
        }
    }
    v = gen_emit(g, a->root);
    gen_store_value(g, v, ref_position(g, p, a->to));
    remember(p, a->to, v);
    p->nodes += count;
}

/* The function that calls the pieces one after the other */
static LLVMValueRef
join(gen *g, LLVMTypeRef type, const LLVMValueRef *piece, size_t n)
{
    LLVMValueRef f = gen_add_function(g, type, "chunk"), arg[LOCATED_ARGS];

    LLVMPositionBuilderAtEnd(g->at, LLVMAppendBasicBlockInContext(g->ctx, f, "entry"));
    LLVMGetParams(f, arg);
    for (size_t i = 0; i < n; i++)
        LLVMBuildCall2(g->at, type, piece[i], arg, LLVMCountParamTypes(type), "");
    LLVMBuildRetVoid(g->at);
    return f;
}

static LLVMValueRef
fill_chunk(gen *g, const struct gen_assign *a, size_t n, const map *place)
{
    struct piece piece = { .place = place };
    VEC(LLVMValueRef) done = { 0 };
    LLVMValueRef f;

    g->before = g->at;
    piece_begin(g, &piece);
    for (size_t i = 0; i < n; i++) {
        if (piece.nodes >= PIECE) {
            vec_push(&done, piece_end(g, &piece));
            piece_begin(g, &piece);
        }
        assign(g, &piece, &a[i]);
    }
    vec_push(&done, piece_end(g, &piece));
    f = done.n == 1 ? done.at[0] : join(g, place ? g->type.located : g->type.chunk, done.at, done.n);
    vec_free(&done);
    return f;
}

uint32_t
gen_add_chunk(gen *g, const struct gen_assign *a, size_t n, bool optimise)
{
    if (g->error)
        return gen_add_handle(g, NULL);
    gen_open_unit(g, optimise, false);
    return gen_add_handle(g, fill_chunk(g, a, n, NULL));
}

/* The number of a place, in the order in which places are first named; the key tells the places of each assignment by
 * these numbers. */
static void
name_place(code_key *key, map *place, struct gen_ref r, int32_t *at)
{
    uint32_t k = map_get(place, ref_key(r));

    if (r.space != SP_TIME && k == MAP_NONE) {
        k = (uint32_t)place->n;
        map_set(place, ref_key(r), k);
        at[k] = (int32_t)r.index;
    }
    key_number(key, (uint32_t)r.space);
    key_number(key, k);
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
                name_place(key, place, a[i].slot[k], at);
        name_place(key, place, a[i].to, at);
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
    handle = find_made(g, &key);
    if (handle == UINT32_MAX) {
        gen_open_unit(g, optimise, is_kept(g, &key));
        handle = gen_add_handle(g, fill_chunk(g, a, n, &place));
        note_made(g, &key, handle);
    } else {
        strbuf_free(&key.bytes);
    }
    map_free(&place);
    return handle;
}

void
gen_free(gen *g)
{
    if (!g)
        return;
    gen_close_units(g);
    for (size_t i = 0; i < g->leaving.n; i++)
        strbuf_free(&g->leaving.at[i].key.bytes);
    vec_free(&g->leaving);
    code_index_free(&g->index);
    key_maker_free(&g->keys);
    linker_free(&g->linker);
    native_free(&g->own_native);
    vec_free(&g->site);
    vec_free(&g->slot);
    vec_free(&g->fixed);
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

char *
gen_print_ir(const gen *g)
{
    strbuf out = { 0 };

    strbuf_puts(&out, "");
    for (int i = 0; i < NPLACES * NMODULE; i++) {
        LLVMModuleRef module = g->unit[i / NMODULE][i % NMODULE].module;
        char *ir = module ? LLVMPrintModuleToString(module) : NULL;

        if (ir)
            strbuf_puts(&out, ir);
        LLVMDisposeMessage(ir);
    }
    return out.at;
}
