/* codegen_module.c - modules: opened, optimised, compiled, kept */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "codegen_inside.h"

/* ---------------------------------------------------------------- modules */

static LLVMValueRef
tbaa_tag(gen *g, const char *name)
{
    LLVMMetadataRef zero = llvm.ValueAsMetadata(llvm.ConstInt(g->type.i64, 0, 0));
    LLVMMetadataRef root[1] = { llvm.MDStringInContext2(g->ctx, "bgc", 3) };
    LLVMMetadataRef kind[3] = { llvm.MDStringInContext2(g->ctx, name, strlen(name)),
                                llvm.MDNodeInContext2(g->ctx, root, 1), zero };
    LLVMMetadataRef tag[3] = { NULL, NULL, zero };

    tag[0] = tag[1] = llvm.MDNodeInContext2(g->ctx, kind, 3);
    return llvm.MetadataAsValue(g->ctx, llvm.MDNodeInContext2(g->ctx, tag, 3));
}

LLVMValueRef
gen_loop_tag(gen *g)
{
    static const char count[] = "llvm.loop.interleave.count";
    LLVMMetadataRef interleave[2] = { llvm.MDStringInContext2(g->ctx, count, strlen(count)),
                                      llvm.ValueAsMetadata(llvm.ConstInt(g->type.i32, 1, 0)) };
    LLVMMetadataRef self = llvm.TemporaryMDNode(g->ctx, NULL, 0),
                    part[2] = { self, llvm.MDNodeInContext2(g->ctx, interleave, 2) };
    LLVMMetadataRef tag = llvm.MDNodeInContext2(g->ctx, part, 2);

    llvm.MetadataReplaceAllUsesWith(self, tag); /* refers to itself, as loop metadata must; frees the placeholder */
    return llvm.MetadataAsValue(g->ctx, tag);
}

/* LLVM would end the process at an error in code generation. */
static void
on_diagnostic(LLVMDiagnosticInfoRef info, void *ctx)
{
    char *text;

    if (llvm.GetDiagInfoSeverity(info) != LLVMDSError)
        return;
    text = llvm.GetDiagInfoDescription(info);
    gen_set_error(ctx, bg_format("LLVM: %s", text));
    llvm.DisposeMessage(text);
}

static void
make_types(gen *g)
{
    struct types *t = &g->type;
    LLVMTypeRef arg[KERNEL_ARGS];

    t->real = llvm.DoubleTypeInContext(g->ctx);
    t->i1 = llvm.Int1TypeInContext(g->ctx);
    t->i32 = llvm.Int32TypeInContext(g->ctx);
    t->i64 = llvm.Int64TypeInContext(g->ctx);
    t->none = llvm.VoidTypeInContext(g->ctx);
    t->real_ptr = llvm.PointerType(t->real, 0);
    t->i32_ptr = llvm.PointerType(t->i32, 0);
    t->i64_ptr = llvm.PointerType(t->i64, 0);
    arg[0] = arg[1] = t->real;
    t->unary = llvm.FunctionType(t->real, arg, 1, 0);
    t->binary = llvm.FunctionType(t->real, arg, 2, 0);
    arg[0] = t->i64;
    arg[2] = t->real;
    t->lookup = llvm.FunctionType(t->real, arg, 3, 0);
    arg[ARG_T] = t->real;
    for (int i = ARG_X; i <= ARG_O; i++)
        arg[i] = t->real_ptr;
    t->chunk = llvm.FunctionType(t->none, arg, CHUNK_ARGS, 0);
    arg[ARG_AT] = t->i32_ptr;
    t->located = llvm.FunctionType(t->none, arg, LOCATED_ARGS, 0);
    arg[ARG_BASE] = t->i64_ptr;
    arg[ARG_TABLE] = llvm.PointerType(t->i32_ptr, 0);
    arg[ARG_OBASE] = arg[ARG_BEGIN] = arg[ARG_END] = t->i64;
    t->kernel = llvm.FunctionType(t->none, arg, KERNEL_ARGS, 0);
    t->tbaa = llvm.GetMDKindIDInContext(g->ctx, "tbaa", 4);
    t->tbaa_real = tbaa_tag(g, "double");
    t->tbaa_i32 = tbaa_tag(g, "int32");
    t->loop = llvm.GetMDKindIDInContext(g->ctx, "llvm.loop", 9);
}

void
gen_open_unit(gen *g, bool optimise, bool kept)
{
    struct unit *u = &g->unit[kept ? KEPT : OWN][optimise ? OPTIMISED : QUICK];

    g->now = u;
    if (!g->ctx) {
        g->ctx = llvm.ContextCreate();
        llvm.ContextSetDiagnosticHandler(g->ctx, on_diagnostic, g);
        make_types(g);
        g->at = llvm.CreateBuilderInContext(g->ctx);
    }
    if (!u->module) {
        u->module = llvm.ModuleCreateWithNameInContext(optimise ? "optimised" : "quick", g->ctx);
        llvm.SetTarget(u->module, g->native->triple);
        llvm.SetModuleDataLayout(u->module, g->native->layout);
        u->optimise = optimise;
        u->linker = kept ? &g->kept->linker : &g->linker;
    }
}

void
gen_close_units(gen *g)
{
    for (int i = 0; i < NPLACES * NMODULE; i++) {
        struct unit *u = &g->unit[i / NMODULE][i % NMODULE];

        if (u->module)
            llvm.DisposeModule(u->module);
        vec_free(&u->entry);
        vec_free(&u->handle);
        *u = (struct unit){ 0 };
    }
    if (g->ctx) {
        llvm.DisposeBuilder(g->at);
        llvm.ContextDispose(g->ctx);
    }
    g->ctx = NULL;
    g->at = g->before = NULL;
}

void
gen_add_attribute(gen *g, LLVMValueRef f, LLVMAttributeIndex at, const char *name)
{
    unsigned kind = llvm.GetEnumAttributeKindForName(name, strlen(name));

    if (kind)
        llvm.AddAttributeAtIndex(f, at, llvm.CreateEnumAttribute(g->ctx, kind, 0));
}

/* Do other processes use its functions? */
static bool
is_shared(const gen *g, const struct unit *u)
{
    return g->kept && g->kept->share && u->linker == &g->kept->linker;
}

LLVMValueRef
gen_add_function(gen *g, LLVMTypeRef type, const char *kind)
{
    char name[LINKER_NAME];
    LLVMValueRef f;
    unsigned n = llvm.CountParamTypes(type);
    LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

    linker_name(g->now->linker, kind, is_shared(g, g->now), name);
    f = llvm.AddFunction(g->now->module, name, type);
    llvm.SetVisibility(f, LLVMHiddenVisibility);
    gen_add_attribute(g, f, whole, "noinline");
    gen_add_attribute(g, f, whole, "nounwind");
    for (unsigned i = 0; i < n; i++)
        if (llvm.GetTypeKind(llvm.TypeOf(llvm.GetParam(f, i))) == LLVMPointerTypeKind)
            gen_add_attribute(g, f, i + 1, "noalias");
    return f;
}

uint32_t
gen_add_handle(gen *g, code_value function)
{
    if (function) {
        vec_push(&g->now->entry, (LLVMValueRef)(uintptr_t)function);
        vec_push(&g->now->handle, (uint32_t)g->address.n);
    }
    vec_push(&g->address, 0);
    return (uint32_t)(g->address.n - 1);
}

/* ---------------------------------------------------------------- linking */

/* The table of function addresses, as int64 */
static void
add_entries(gen *g, struct unit *u, const char *name)
{
    LLVMTypeRef type = llvm.ArrayType(g->type.i64, (unsigned)u->entry.n);
    LLVMValueRef *address = bg_malloc(u->entry.n * sizeof *address), table = llvm.AddGlobal(u->module, type, name);

    for (size_t i = 0; i < u->entry.n; i++)
        address[i] = llvm.ConstPtrToInt(u->entry.at[i], g->type.i64);
    llvm.SetInitializer(table, llvm.ConstArray(g->type.i64, address, (unsigned)u->entry.n));
    free(address);
}

/* The IR already shares values, has gathered loads, and computes everything common to all members before the loop.
 * So only vectorisation is left: of loops in kernels and of neighbouring assignments in chunks. O2 takes four times
 * as long and gives the same loops. */
static const char passes[] = "function(loop-simplify,lcssa,loop-vectorize,early-cse,slp-vectorizer)";

static char *
run_llvm_passes(const gen *g, struct unit *u)
{
    LLVMPassBuilderOptionsRef options = llvm.CreatePassBuilderOptions();
    char *why = native_error(llvm.RunPasses(u->module, passes, g->native->machine[OPTIMISED], options), "optimising");

    llvm.DisposePassBuilderOptions(options);
    return why;
}

/* Gives an object to the other processes. Handles ascend in the unit and among those that are leaving for the store. */
static void
share_object(const gen *g, const struct unit *u, LLVMMemoryBufferRef object, const char *symbol)
{
    code_key *key = bg_calloc(u->entry.n + 1, sizeof *key);
    size_t n = 0;

    for (size_t i = 0; i < g->leaving.n && n < u->entry.n; i++)
        if (g->leaving.at[i].handle == u->handle.at[n])
            key[n++] = g->leaving.at[i].key;
    assert(n == u->entry.n);
    code_share_put(g->kept->share, &(struct code_parcel){ .object = llvm.GetBufferStart(object),
                                                          .symbol = symbol,
                                                          .size = llvm.GetBufferSize(object),
                                                          .n = u->entry.n,
                                                          .key = key });
    free(key);
}

/* NULL, or the reason why it failed (malloc'ed). */
static char *
compile(gen *g, struct unit *u)
{
    char name[LINKER_NAME], *why = NULL, *said;
    LLVMMemoryBufferRef object = NULL;
    const int64_t *address;

    bg_need_room(LLVM_ROOM + (u->entry.n < MOST_ROOMS ? u->entry.n : MOST_ROOMS) * FUNCTION_ROOM);
    linker_name(u->linker, "entries", is_shared(g, u), name);
    add_entries(g, u, name);
    if (llvm.VerifyModule(u->module, LLVMReturnStatusAction, &why)) {
        said = bg_format("LLVM, checking the code: %s", why);
        llvm.DisposeMessage(why);
        return said;
    }
    llvm.DisposeMessage(why);
    if (u->optimise && (said = run_llvm_passes(g, u)))
        return said;
    why = NULL;
    if (llvm.TargetMachineEmitToMemoryBuffer(g->native->machine[u->optimise ? OPTIMISED : QUICK], u->module,
                                             LLVMObjectFile, &why, &object)) {
        said = bg_format("LLVM, generating code: %s", why);
        llvm.DisposeMessage(why);
        return said;
    }
    if (is_shared(g, u))
        share_object(g, u, object, name);
    address = (const int64_t *)linker_add(u->linker, object, name, &said);
    for (size_t i = 0; address && i < u->entry.n; i++)
        g->address.at[u->handle.at[i]] = (uintptr_t)address[i];
    return said;
}

/* Compiled code that is to be kept goes to the store. */
static void
leave(gen *g)
{
    for (size_t i = 0; i < g->leaving.n; i++) {
        struct leaving *x = &g->leaving.at[i];

        /* another thread may have made the same meanwhile */
        if (!g->error && code_index_find(&g->kept->index, &x->key) == UINTPTR_MAX)
            code_index_add(&g->kept->index, &x->key, g->address.at[x->handle]);
        strbuf_free(&x->key.bytes);
    }
    g->leaving.n = 0;
}

bool
gen_finish(gen *g, char **why)
{
    gen_lock(g);
    for (int i = 0; i < NPLACES * NMODULE && !g->error; i++) {
        struct unit *u = &g->unit[i / NMODULE][i % NMODULE];

        if (u->module && (*why = compile(g, u)))
            gen_set_error(g, *why);
    }
    leave(g);
    gen_unlock(g);
    gen_close_units(g);
    if (!g->error)
        return true;
    *why = bg_strdup(g->error);
    return false;
}

char *
gen_print_ir(const gen *g)
{
    strbuf out = { 0 };

    strbuf_puts(&out, "");
    for (int i = 0; i < NPLACES * NMODULE; i++) {
        LLVMModuleRef module = g->unit[i / NMODULE][i % NMODULE].module;
        char *ir = module ? llvm.PrintModuleToString(module) : NULL;

        if (ir)
            strbuf_puts(&out, ir);
        llvm.DisposeMessage(ir);
    }
    return out.at;
}
