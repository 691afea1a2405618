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
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>
#include <stdio.h>
#include <string.h>

#include "code_key.h"
#include "codegen.h"
#include "native.h"

/* Where functions go: into the generator, or into what outlives it. */
enum { OWN, KEPT, NPLACES };
enum { PIECE = 600 }; /* nodes a function of a chunk: about 1000 instructions */

/* Parameters of both shapes; the spaces are in the order of enum space. */
enum {
    ARG_T,
    ARG_X,
    ARG_W,
    ARG_P,
    ARG_M,
    ARG_O,
    CHUNK_ARGS,
    ARG_BASE = CHUNK_ARGS,
    ARG_TABLE,
    ARG_OBASE,
    ARG_BEGIN,
    ARG_END,
    KERNEL_ARGS,
    ARG_AT = CHUNK_ARGS,
    LOCATED_ARGS
};

/* What is known of a node while a template is emitted. Conditions are kept as flags and become numbers only where asked
 * for. */
struct site {
    LLVMValueRef value, flag;
    bool fixed; /* the same for all members of a kernel: emitted before the loop */
};

/* A module under construction */
struct unit {
    LLVMModuleRef module;
    bool optimise;
    linker *linker;
    VEC(LLVMValueRef) entry;      /* functions to be found */
    VEC(uint32_t) handle;         /* whose */
    LLVMValueRef callee[EX_NOPS]; /* declared so far */
};

_Static_assert(ARG_T == (int)SP_TIME && ARG_X == (int)SP_X && ARG_W == (int)SP_W && ARG_P == (int)SP_P &&
                   ARG_M == (int)SP_M && ARG_O == (int)SP_OUT,
               "a space is found by its number");

struct types {
    LLVMTypeRef real, real_ptr, i1, i32, i32_ptr, i64, i64_ptr, none, unary, binary, lookup, kernel, chunk, located;
    LLVMValueRef tbaa_real, tbaa_i32;
    unsigned tbaa, loop;
};

/* A function that the store gets when it is compiled */
struct leaving {
    code_key key;
    uint32_t handle;
};

struct gen {
    pool *p;
    code_store *kept;     /* NULL: none */
    const native *native; /* the store's, or ours */
    native own_native;
    linker linker;    /* of what is not kept */
    code_index index; /* what was added: handles */
    VEC(struct leaving) leaving;
    LLVMContextRef ctx; /* NULL between gen_finish and the next addition */
    struct types type;
    struct unit unit[NPLACES][NMODULE];
    LLVMBuilderRef before, at; /* before the loop and in it; the same in chunks */
    struct unit *now;          /* what is being added to */
    VEC(struct site) site;     /* by node */
    VEC(LLVMValueRef) slot;    /* values of the slots of the template being emitted */
    VEC(bool) fixed;
    VEC(uintptr_t) address; /* by handle; 0 until compiled */
    key_maker keys;
    char *error; /* the first; gen_finish reports it */
};

static void
set_error(gen *g, char *text)
{
    if (g->error)
        free(text);
    else
        g->error = text;
}

/* Without it an error in code generation would end the process. */
static void
on_diagnostic(LLVMDiagnosticInfoRef info, void *ctx)
{
    char *text;

    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError)
        return;
    text = LLVMGetDiagInfoDescription(info);
    set_error(ctx, bg_format("LLVM: %s", text));
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
        set_error(g, why);
    return g;
}

/* ---------------------------------------------------------------- modules */

static LLVMValueRef
tbaa_tag(gen *g, const char *name)
{
    LLVMMetadataRef zero = LLVMValueAsMetadata(LLVMConstInt(g->type.i64, 0, 0));
    LLVMMetadataRef root[1] = { LLVMMDStringInContext2(g->ctx, "bgc", 3) };
    LLVMMetadataRef kind[3] = { LLVMMDStringInContext2(g->ctx, name, strlen(name)),
                                LLVMMDNodeInContext2(g->ctx, root, 1), zero };
    LLVMMetadataRef tag[3] = { NULL, NULL, zero };

    tag[0] = tag[1] = LLVMMDNodeInContext2(g->ctx, kind, 3);
    return LLVMMetadataAsValue(g->ctx, LLVMMDNodeInContext2(g->ctx, tag, 3));
}

/* For the branch of a loop: vectors as wide as the processor likes, but one a turn. More fill the caches with code that
 * waits for memory all the same, and take as much longer to compile. */
static LLVMValueRef
loop_tag(gen *g)
{
    static const char count[] = "llvm.loop.interleave.count";
    LLVMMetadataRef interleave[2] = { LLVMMDStringInContext2(g->ctx, count, strlen(count)),
                                      LLVMValueAsMetadata(LLVMConstInt(g->type.i32, 1, 0)) };
    LLVMMetadataRef self = LLVMTemporaryMDNode(g->ctx, NULL, 0),
                    part[2] = { self, LLVMMDNodeInContext2(g->ctx, interleave, 2) };
    LLVMMetadataRef tag = LLVMMDNodeInContext2(g->ctx, part, 2);

    LLVMMetadataReplaceAllUsesWith(self, tag); /* names itself, as loops must; frees the placeholder */
    return LLVMMetadataAsValue(g->ctx, tag);
}

static void
make_types(gen *g)
{
    struct types *t = &g->type;
    LLVMTypeRef arg[KERNEL_ARGS];

    t->real = LLVMDoubleTypeInContext(g->ctx);
    t->i1 = LLVMInt1TypeInContext(g->ctx);
    t->i32 = LLVMInt32TypeInContext(g->ctx);
    t->i64 = LLVMInt64TypeInContext(g->ctx);
    t->none = LLVMVoidTypeInContext(g->ctx);
    t->real_ptr = LLVMPointerType(t->real, 0);
    t->i32_ptr = LLVMPointerType(t->i32, 0);
    t->i64_ptr = LLVMPointerType(t->i64, 0);
    arg[0] = arg[1] = t->real;
    t->unary = LLVMFunctionType(t->real, arg, 1, 0);
    t->binary = LLVMFunctionType(t->real, arg, 2, 0);
    arg[0] = t->i64;
    arg[2] = t->real;
    t->lookup = LLVMFunctionType(t->real, arg, 3, 0);
    arg[ARG_T] = t->real;
    for (int i = ARG_X; i <= ARG_O; i++)
        arg[i] = t->real_ptr;
    t->chunk = LLVMFunctionType(t->none, arg, CHUNK_ARGS, 0);
    arg[ARG_AT] = t->i32_ptr;
    t->located = LLVMFunctionType(t->none, arg, LOCATED_ARGS, 0);
    arg[ARG_BASE] = t->i64_ptr;
    arg[ARG_TABLE] = LLVMPointerType(t->i32_ptr, 0);
    arg[ARG_OBASE] = arg[ARG_BEGIN] = arg[ARG_END] = t->i64;
    t->kernel = LLVMFunctionType(t->none, arg, KERNEL_ARGS, 0);
    t->tbaa = LLVMGetMDKindIDInContext(g->ctx, "tbaa", 4);
    t->tbaa_real = tbaa_tag(g, "double");
    t->tbaa_i32 = tbaa_tag(g, "int32");
    t->loop = LLVMGetMDKindIDInContext(g->ctx, "llvm.loop", 9);
}

static void
open_unit(gen *g, bool optimise, bool kept)
{
    struct unit *u = &g->unit[kept ? KEPT : OWN][optimise ? OPTIMISED : QUICK];

    g->now = u;
    if (!g->ctx) {
        g->ctx = LLVMContextCreate();
        LLVMContextSetDiagnosticHandler(g->ctx, on_diagnostic, g);
        make_types(g);
        g->at = LLVMCreateBuilderInContext(g->ctx);
    }
    if (!u->module) {
        u->module = LLVMModuleCreateWithNameInContext(optimise ? "optimised" : "quick", g->ctx);
        LLVMSetTarget(u->module, g->native->triple);
        LLVMSetModuleDataLayout(u->module, g->native->layout);
        u->optimise = optimise;
        u->linker = kept ? &g->kept->linker : &g->linker;
    }
}

static void
close_units(gen *g)
{
    for (int i = 0; i < NPLACES * NMODULE; i++) {
        struct unit *u = &g->unit[i / NMODULE][i % NMODULE];

        if (u->module)
            LLVMDisposeModule(u->module);
        vec_free(&u->entry);
        vec_free(&u->handle);
        *u = (struct unit){ 0 };
    }
    if (g->ctx) {
        LLVMDisposeBuilder(g->at);
        LLVMContextDispose(g->ctx);
    }
    g->ctx = NULL;
    g->at = g->before = NULL;
}

static void
add_attribute(gen *g, LLVMValueRef f, LLVMAttributeIndex at, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    if (kind)
        LLVMAddAttributeAtIndex(f, at, LLVMCreateEnumAttribute(g->ctx, kind, 0));
}

/* A function of ours, not yet with code */
static LLVMValueRef
add_function(gen *g, LLVMTypeRef type, const char *kind)
{
    char name[64];
    LLVMValueRef f;
    unsigned n = LLVMCountParamTypes(type);
    LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

    snprintf(name, sizeof name, "bgc_%s_%u", kind, (unsigned)g->now->linker->names++);
    f = LLVMAddFunction(g->now->module, name, type);
    LLVMSetVisibility(f, LLVMHiddenVisibility);
    add_attribute(g, f, whole, "noinline");
    add_attribute(g, f, whole, "nounwind");
    for (unsigned i = 0; i < n; i++)
        if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetParam(f, i))) == LLVMPointerTypeKind)
            add_attribute(g, f, i + 1, "noalias");
    return f;
}

static uint32_t
add_handle(gen *g, LLVMValueRef f)
{
    if (f) {
        vec_push(&g->now->entry, f);
        vec_push(&g->now->handle, (uint32_t)g->address.n);
    }
    vec_push(&g->address, 0);
    return (uint32_t)(g->address.n - 1);
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

/* ---------------------------------------------------------------- templates */

static LLVMValueRef
number(gen *g, double v)
{
    return LLVMConstReal(g->type.real, v);
}

static LLVMValueRef
integer(gen *g, int64_t v)
{
    return LLVMConstInt(g->type.i64, (unsigned long long)v, 1);
}

/* Not "in bounds": member 0 of a run that begins later may lie before the space. */
static LLVMValueRef
position(gen *g, LLVMBuilderRef b, LLVMValueRef space, LLVMValueRef index)
{
    return LLVMBuildGEP2(b, g->type.real, space, &index, 1, "");
}

static bool
optimised(const gen *g)
{
    return g->now->optimise;
}

/* Tells passes that tables and numbers are different memory. */
static LLVMValueRef
tagged(gen *g, LLVMValueRef access, LLVMValueRef tag)
{
    if (optimised(g))
        LLVMSetMetadata(access, g->type.tbaa, tag);
    return access;
}

static LLVMValueRef
load(gen *g, LLVMBuilderRef b, LLVMValueRef at)
{
    return tagged(g, LLVMBuildLoad2(b, g->type.real, at, ""), g->type.tbaa_real);
}

static void
store(gen *g, LLVMValueRef v, LLVMValueRef at)
{
    tagged(g, LLVMBuildStore(g->at, v, at), g->type.tbaa_real);
}

static LLVMValueRef
intrinsic(gen *g, LLVMBuilderRef b, const char *name, LLVMValueRef a)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(g->now->module, id, &g->type.real, 1);

    return LLVMBuildCall2(b, LLVMIntrinsicGetType(g->ctx, id, &g->type.real, 1), f, &a, 1, "");
}

static LLVMValueRef
call(gen *g, LLVMBuilderRef b, enum ex_op op, LLVMValueRef *arg)
{
    const struct callee *c = &native_callees[op];
    LLVMTypeRef type = c->unary ? g->type.unary : c->binary ? g->type.binary : g->type.lookup;
    LLVMValueRef *f = &g->now->callee[op];

    if (!*f) {
        LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

        *f = LLVMAddFunction(g->now->module, c->name, type);
        add_attribute(g, *f, whole, "nounwind");
        add_attribute(g, *f, whole, "willreturn");
#if LLVM_VERSION_MAJOR >= 16
        add_attribute(g, *f, whole, "memory"); /* value 0: none */
#else
        add_attribute(g, *f, whole, "readnone");
#endif
    }
    return LLVMBuildCall2(b, type, *f, arg, LLVMCountParamTypes(type), "");
}

/* In the order of the evaluator's power() */
static LLVMValueRef
integer_power(gen *g, LLVMBuilderRef b, LLVMValueRef x, int n)
{
    LLVMValueRef r = NULL;

    for (unsigned m = (unsigned)abs(n); m;) {
        if (m & 1)
            r = r ? LLVMBuildFMul(b, r, x, "") : x;
        if (m >>= 1)
            x = LLVMBuildFMul(b, x, x, "");
    }
    return n < 0 ? LLVMBuildFDiv(b, number(g, 1), r, "") : r;
}

static LLVMValueRef
absolute(gen *g, LLVMBuilderRef b, LLVMValueRef a)
{
    if (optimised(g))
        return intrinsic(g, b, "llvm.fabs", a);
    /* FastISel does not know llvm.fabs */
    a = LLVMBuildBitCast(b, a, g->type.i64, "");
    a = LLVMBuildAnd(b, a, LLVMConstInt(g->type.i64, UINT64_C(0x7fffffffffffffff), 0), "");
    return LLVMBuildBitCast(b, a, g->type.real, "");
}

/* m >= 0 with the sign of x */
static LLVMValueRef
with_sign(gen *g, LLVMBuilderRef b, LLVMValueRef m, LLVMValueRef x)
{
    LLVMValueRef bits = LLVMBuildAnd(b, LLVMBuildBitCast(b, x, g->type.i64, ""),
                                     LLVMConstInt(g->type.i64, UINT64_C(1) << 63, 0), "");

    bits = LLVMBuildOr(b, LLVMBuildBitCast(b, m, g->type.i64, ""), bits, "");
    return LLVMBuildBitCast(b, bits, g->type.real, "");
}

/* The exponents that ex_signed_power and ex_absolute_power treat by themselves; NULL: another */
static LLVMValueRef
signed_power(gen *g, LLVMBuilderRef b, enum ex_op op, LLVMValueRef x, double exponent)
{
    LLVMValueRef m = absolute(g, b, x), least = number(g, EX_LEAST_BASE);

    if (op == EX_SPOW) {
        if (exponent == 2)
            return LLVMBuildFMul(b, x, m, "");
        if (exponent == 0.5)
            return with_sign(g, b, intrinsic(g, b, "llvm.sqrt", m), x);
        return exponent == 1.5 ? LLVMBuildFMul(b, x, intrinsic(g, b, "llvm.sqrt", m), "") : NULL;
    }
    if (exponent == 1)
        return m;
    if (exponent == 0.5)
        return intrinsic(g, b, "llvm.sqrt", m);
    if (exponent != -0.5)
        return NULL;
    m = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOLT, m, least, ""), least, m, "");
    return LLVMBuildFDiv(b, number(g, 1), intrinsic(g, b, "llvm.sqrt", m), "");
}

/* a < b ? a : b, the operands compared given in turn; a itself when it is no number */
static LLVMValueRef
lesser(LLVMBuilderRef b, LLVMValueRef low, LLVMValueRef high, LLVMValueRef x, LLVMValueRef y)
{
    LLVMValueRef r = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOLT, low, high, ""), x, y, "");

    return LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealUNO, x, x, ""), x, r, "");
}

static LLVMBuilderRef
builder_of(const gen *g, node n)
{
    return g->site.at[n].fixed ? g->before : g->at;
}

static LLVMValueRef
value_of(gen *g, node n)
{
    struct site *s = &g->site.at[n];

    if (!s->value)
        s->value = LLVMBuildSelect(builder_of(g, n), s->flag, number(g, 1), number(g, 0), "");
    return s->value;
}

static LLVMValueRef
flag_of(gen *g, node n)
{
    struct site *s = &g->site.at[n];

    if (!s->flag)
        s->flag = LLVMBuildFCmp(builder_of(g, n), LLVMRealUNE, s->value, number(g, 0), "");
    return s->flag;
}

/* A condition: its flag. NULL when the operation is none. */
static LLVMValueRef
condition(gen *g, LLVMBuilderRef b, const ex_node *e)
{
    switch (e->op) {
    case EX_LT: return LLVMBuildFCmp(b, LLVMRealOLT, value_of(g, e->a), value_of(g, e->b), "");
    case EX_LE: return LLVMBuildFCmp(b, LLVMRealOLE, value_of(g, e->a), value_of(g, e->b), "");
    case EX_EQ: return LLVMBuildFCmp(b, LLVMRealOEQ, value_of(g, e->a), value_of(g, e->b), "");
    case EX_NE: return LLVMBuildFCmp(b, LLVMRealUNE, value_of(g, e->a), value_of(g, e->b), "");
    case EX_AND: return LLVMBuildAnd(b, flag_of(g, e->a), flag_of(g, e->b), "");
    case EX_OR: return LLVMBuildOr(b, flag_of(g, e->a), flag_of(g, e->b), "");
    case EX_NOT: return LLVMBuildNot(b, flag_of(g, e->a), "");
    default: return NULL;
    }
}

static LLVMValueRef
operation(gen *g, LLVMBuilderRef b, const ex_node *e)
{
    int m = e->b == NODE_NONE ? 1 : e->c == NODE_NONE ? 2 : 3, n;
    LLVMValueRef x, y, arg[3];
    double c;

    if (e->op == EX_SELECT)
        return LLVMBuildSelect(b, flag_of(g, e->a), value_of(g, e->b), value_of(g, e->c), "");
    x = value_of(g, e->a);
    y = m > 1 ? value_of(g, e->b) : NULL;
    switch (e->op) {
    case EX_ADD: return LLVMBuildFAdd(b, x, y, "");
    case EX_SUB: return LLVMBuildFSub(b, x, y, "");
    case EX_MUL: return LLVMBuildFMul(b, x, y, "");
    case EX_DIV: return LLVMBuildFDiv(b, x, y, "");
    case EX_NEG: return LLVMBuildFNeg(b, x, "");
    case EX_SQRT: return intrinsic(g, b, "llvm.sqrt", x);
    case EX_FLOOR: return intrinsic(g, b, "llvm.floor", x);
    case EX_CEIL: return intrinsic(g, b, "llvm.ceil", x);
    case EX_ABS: return absolute(g, b, x);
    case EX_MIN: return lesser(b, x, y, x, y);
    case EX_MAX: return lesser(b, y, x, x, y);
    case EX_SIGN:
        y = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOLT, x, number(g, 0), ""), number(g, -1), x, "");
        return LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOGT, x, number(g, 0), ""), number(g, 1), y, "");
    case EX_POW:
        if (ex_is_const(g->p, e->b, &c) && ex_integer_power(c, &n))
            return integer_power(g, b, x, n);
        break;
    case EX_SPOW:
    case EX_APOW:
        if (ex_is_const(g->p, e->b, &c) && (arg[0] = signed_power(g, b, e->op, x, c)))
            return arg[0];
        break;
    case EX_TABLE:
    case EX_TABLE_SLOPE:
        arg[0] = integer(g, (int64_t)(uintptr_t)pool_table(g->p, e->table));
        arg[1] = m > 1 ? y : number(g, -1);
        arg[2] = x;
        return call(g, b, e->op, arg);
    default: break;
    }
    arg[0] = x;
    arg[1] = y;
    return call(g, b, e->op, arg);
}

/* The value of a template; g->slot and g->fixed (the same for all members) say what its slots are. */
static LLVMValueRef
emit(gen *g, node root)
{
    size_t count;
    const node *tape = ex_tape(g->p, root, &count);

    if (g->site.n <= root)
        vec_resize(&g->site, pool_count(g->p));
    for (size_t i = 0; i < count; i++) {
        const ex_node *e = pool_node(g->p, tape[i]);
        struct site *s = &g->site.at[tape[i]];

        *s = (struct site){ .fixed = true };
        if (e->op == EX_CONST) {
            s->value = number(g, e->value);
        } else if (e->op == EX_SLOT) {
            s->value = g->slot.at[e->a];
            s->fixed = g->fixed.at[e->a];
        } else {
            s->fixed = g->site.at[e->a].fixed && (e->b == NODE_NONE || g->site.at[e->b].fixed) &&
                       (e->c == NODE_NONE || g->site.at[e->c].fixed);
            s->flag = condition(g, builder_of(g, tape[i]), e);
            if (!s->flag)
                s->value = operation(g, builder_of(g, tape[i]), e);
        }
    }
    return value_of(g, root);
}

/* ---------------------------------------------------------------- kernels */

/* Before the loop: where slot k lies, or its value where all members share it. */
static LLVMValueRef
slot_origin(gen *g, LLVMValueRef f, const struct gen_slot *s, uint32_t k)
{
    LLVMValueRef index = integer(g, k), at, space;

    if (s->space == SP_TIME)
        return LLVMGetParam(f, ARG_T);
    space = LLVMGetParam(f, (unsigned)s->space);
    if (s->table) {
        at = LLVMBuildInBoundsGEP2(g->before, g->type.i32_ptr, LLVMGetParam(f, ARG_TABLE), &index, 1, "");
        return LLVMBuildLoad2(g->before, g->type.i32_ptr, at, "table");
    }
    at = LLVMBuildInBoundsGEP2(g->before, g->type.i64, LLVMGetParam(f, ARG_BASE), &index, 1, "");
    at = position(g, g->before, space, LLVMBuildLoad2(g->before, g->type.i64, at, "base"));
    return s->stride == 0 ? load(g, g->before, at) : at;
}

/* In the loop: the value of a slot for member i */
static LLVMValueRef
slot_value(gen *g, LLVMValueRef f, const struct gen_slot *s, LLVMValueRef origin, LLVMValueRef i)
{
    LLVMValueRef at;

    if (!s->table)
        return load(
            g, g->at,
            position(g, g->at, origin, s->stride == 1 ? i : LLVMBuildNSWMul(g->at, i, integer(g, s->stride), "")));
    at = LLVMBuildInBoundsGEP2(g->at, g->type.i32, origin, &i, 1, "");
    at = tagged(g, LLVMBuildLoad2(g->at, g->type.i32, at, ""), g->type.tbaa_i32);
    return load(g, g->at,
                position(g, g->at, LLVMGetParam(f, (unsigned)s->space), LLVMBuildSExt(g->at, at, g->type.i64, "")));
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
    out = position(g, g->before, LLVMGetParam(f, ARG_O), LLVMGetParam(f, ARG_OBASE));
    store(g, emit(g, root), position(g, g->at, out, i));
    next = LLVMBuildNSWAdd(g->at, i, integer(g, 1), "");
    LLVMAddIncoming(i, &next, &loop, 1);
    branch = LLVMBuildCondBr(g->at, LLVMBuildICmp(g->at, LLVMIntSLT, next, end, ""), loop, done);
    LLVMSetMetadata(branch, g->type.loop, loop_tag(g));
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
        set_error(g, bg_format("a kernel reads %u slots and was given %u", (unsigned)ex_slot_bound(g->p, root),
                               (unsigned)nslots));
    if (g->error)
        return add_handle(g, NULL);
    used = bg_calloc(nslots, sizeof *used);
    ex_slots_used(g->p, root, used, nslots);
    key_kernel(g, &key, root, slot, used, nslots, optimise);
    handle = find_made(g, &key);
    if (handle == UINT32_MAX) {
        open_unit(g, optimise, is_kept(g, &key));
        f = add_function(g, g->type.kernel, "kernel");
        fill_kernel(g, f, root, slot, used, nslots);
        handle = add_handle(g, f);
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
    p->f = add_function(g, p->place ? g->type.located : g->type.chunk, "chunk");
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
    LLVMValueRef index = integer(g, p->place ? map_get(p->place, ref_key(r)) : r.index);

    if (p->place) {
        index = LLVMBuildInBoundsGEP2(g->at, g->type.i32, LLVMGetParam(p->f, ARG_AT), &index, 1, "");
        index = LLVMBuildSExt(g->at, tagged(g, LLVMBuildLoad2(g->at, g->type.i32, index, ""), g->type.tbaa_i32),
                              g->type.i64, "");
    }
    return position(g, g->at, LLVMGetParam(p->f, (unsigned)r.space), index);
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
    v = load(g, g->at, ref_position(g, p, r));
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
    v = emit(g, a->root);
    store(g, v, ref_position(g, p, a->to));
    remember(p, a->to, v);
    p->nodes += count;
}

/* The function that calls the pieces one after the other */
static LLVMValueRef
join(gen *g, LLVMTypeRef type, const LLVMValueRef *piece, size_t n)
{
    LLVMValueRef f = add_function(g, type, "chunk"), arg[LOCATED_ARGS];

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
        return add_handle(g, NULL);
    open_unit(g, optimise, false);
    return add_handle(g, fill_chunk(g, a, n, NULL));
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
        return add_handle(g, NULL);
    key_located(g, &key, a, n, optimise, &place, at);
    handle = find_made(g, &key);
    if (handle == UINT32_MAX) {
        open_unit(g, optimise, is_kept(g, &key));
        handle = add_handle(g, fill_chunk(g, a, n, &place));
        note_made(g, &key, handle);
    } else {
        strbuf_free(&key.bytes);
    }
    map_free(&place);
    return handle;
}

/* ---------------------------------------------------------------- linking */

/* The table of function addresses, as int64 */
static void
add_entries(gen *g, struct unit *u, const char *name)
{
    LLVMTypeRef type = LLVMArrayType(g->type.i64, (unsigned)u->entry.n);
    LLVMValueRef *address = bg_malloc(u->entry.n * sizeof *address), table = LLVMAddGlobal(u->module, type, name);

    for (size_t i = 0; i < u->entry.n; i++)
        address[i] = LLVMConstPtrToInt(u->entry.at[i], g->type.i64);
    LLVMSetInitializer(table, LLVMConstArray(g->type.i64, address, (unsigned)u->entry.n));
    free(address);
}

/* The IR comes with values shared, loads gathered and what is common to all members before the loop: what is left to do
 * is to vectorise, loops in kernels and neighbouring assignments in chunks. O2 takes four times as long and gives the
 * same loops. */
static const char passes[] = "function(loop-simplify,lcssa,loop-vectorize,early-cse,slp-vectorizer)";

static char *
run_passes(const gen *g, struct unit *u)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    char *why = native_error(LLVMRunPasses(u->module, passes, g->native->machine[OPTIMISED], options), "optimising");

    LLVMDisposePassBuilderOptions(options);
    return why;
}

/* NULL, or why it cannot be done (malloc'ed). */
static char *
compile(gen *g, struct unit *u)
{
    char name[64], *why = NULL, *said;
    LLVMMemoryBufferRef object = NULL;
    const int64_t *address;

    snprintf(name, sizeof name, "bgc_entries_%u", (unsigned)u->linker->names++);
    add_entries(g, u, name);
    if (LLVMVerifyModule(u->module, LLVMReturnStatusAction, &why)) {
        said = bg_format("LLVM, checking the code: %s", why);
        LLVMDisposeMessage(why);
        return said;
    }
    LLVMDisposeMessage(why);
    if (u->optimise && (said = run_passes(g, u)))
        return said;
    why = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(g->native->machine[u->optimise ? OPTIMISED : QUICK], u->module,
                                            LLVMObjectFile, &why, &object)) {
        said = bg_format("LLVM, generating code: %s", why);
        LLVMDisposeMessage(why);
        return said;
    }
    address = (const int64_t *)linker_add(u->linker, object, name, &said);
    for (size_t i = 0; address && i < u->entry.n; i++)
        g->address.at[u->handle.at[i]] = (uintptr_t)address[i];
    return said;
}

/* What is compiled and to be kept goes to the store. */
static void
leave(gen *g)
{
    for (size_t i = 0; i < g->leaving.n; i++) {
        struct leaving *x = &g->leaving.at[i];

        if (!g->error)
            code_index_add(&g->kept->index, &x->key, g->address.at[x->handle]);
        strbuf_free(&x->key.bytes);
    }
    g->leaving.n = 0;
}

bool
gen_finish(gen *g, char **why)
{
    for (int i = 0; i < NPLACES * NMODULE && !g->error; i++) {
        struct unit *u = &g->unit[i / NMODULE][i % NMODULE];

        if (u->module && (*why = compile(g, u)))
            set_error(g, *why);
    }
    leave(g);
    close_units(g);
    if (!g->error)
        return true;
    *why = bg_strdup(g->error);
    return false;
}

void
gen_free(gen *g)
{
    if (!g)
        return;
    close_units(g);
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
