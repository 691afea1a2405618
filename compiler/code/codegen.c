/* codegen.c - templates to machine code through the LLVM C API
 *
 * needs     templates, and where their slots lie
 * provides  addresses of kernels and chunks that give what ex_eval gives, bit for bit: no contraction, no reassociation, the same
 *           libm functions (by address, under names LLVM does not know)
 * keeps     code generation linear: long chunks are cut into functions of bounded size; the quick module goes through no passes and
 *           the quickest instruction selection
 *
 * Objects are made here, one for the quick and one for the optimised functions of each gen_finish; ORC only links them. An object
 * exports one symbol, the table of its functions' addresses. IR and its context live from the first addition to gen_finish.
 */
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>

#include "codegen.h"

enum { QUICK, OPTIMISED, NMODULE };
enum { PIECE = 600 };               /* nodes a function of a chunk: about 1000 instructions */

/* Parameters of both shapes; the spaces are in the order of enum space. */
enum { ARG_T, ARG_X, ARG_W, ARG_P, ARG_M, ARG_O, CHUNK_ARGS, ARG_BASE = CHUNK_ARGS, ARG_TABLE, ARG_OBASE, ARG_BEGIN, ARG_END, KERNEL_ARGS };

/* What is known of a node while a template is emitted. Conditions are kept as flags and become numbers only where asked for. */
struct site {
    LLVMValueRef value, flag;
    bool fixed;                     /* the same for all members of a kernel: emitted before the loop */
};

/* A module under construction */
struct unit {
    LLVMModuleRef module;
    VEC(LLVMValueRef) entry;        /* functions to be found */
    VEC(uint32_t) handle;           /* whose */
    LLVMValueRef callee[EX_NOPS];   /* declared so far */
};

_Static_assert(ARG_T == (int)SP_TIME && ARG_X == (int)SP_X && ARG_W == (int)SP_W && ARG_P == (int)SP_P && ARG_M == (int)SP_M && ARG_O == (int)SP_OUT,
               "a space is found by its number");

struct types {
    LLVMTypeRef real, real_ptr, i1, i32, i32_ptr, i64, i64_ptr, none, unary, binary, lookup, kernel, chunk;
    LLVMValueRef tbaa_real, tbaa_i32;
    unsigned tbaa, loop;
};

struct gen {
    pool *p;
    LLVMTargetMachineRef machine[NMODULE];
    LLVMTargetDataRef layout;
    char *triple;
    LLVMOrcLLJITRef jit;            /* made by the first gen_finish */
    LLVMContextRef ctx;             /* NULL between gen_finish and the next addition */
    struct types type;
    struct unit unit[NMODULE];
    LLVMBuilderRef before, at;      /* before the loop and in it; the same in chunks */
    struct unit *now;               /* what is being added to */
    VEC(struct site) site;          /* by node */
    VEC(LLVMValueRef) slot;         /* values of the slots of the template being emitted */
    VEC(bool) fixed;
    VEC(uintptr_t) address;         /* by handle; 0 until compiled */
    uint32_t functions, batches;    /* made so far; make names unique */
    char *error;                    /* the first; gen_finish reports it */
};

/* Functions called by generated code, by operation */
static const struct callee { const char *name; double (*unary)(double); double (*binary)(double, double); } callees[EX_NOPS] = {
    [EX_POW] = { "bgc_pow", NULL, pow },
    [EX_SPOW] = { "bgc_spow", NULL, ex_signed_power },
    [EX_APOW] = { "bgc_apow", NULL, ex_absolute_power },
    [EX_EXP] = { "bgc_exp", exp, NULL },
    [EX_LN] = { "bgc_ln", log, NULL },
    [EX_LOG10] = { "bgc_log10", log10, NULL },
    [EX_SIN] = { "bgc_sin", sin, NULL },
    [EX_COS] = { "bgc_cos", cos, NULL },
    [EX_TAN] = { "bgc_tan", tan, NULL },
    [EX_ASIN] = { "bgc_asin", asin, NULL },
    [EX_ACOS] = { "bgc_acos", acos, NULL },
    [EX_ATAN] = { "bgc_atan", atan, NULL },
    [EX_ATAN2] = { "bgc_atan2", NULL, atan2 },
    [EX_SINH] = { "bgc_sinh", sinh, NULL },
    [EX_COSH] = { "bgc_cosh", cosh, NULL },
    [EX_TANH] = { "bgc_tanh", tanh, NULL },
    [EX_ASINH] = { "bgc_asinh", asinh, NULL },
    [EX_TABLE] = { "bgc_table", NULL, NULL },
    [EX_TABLE_SLOPE] = { "bgc_table_slope", NULL, NULL },
};

/* ---------------------------------------------------------------- target */

static once_flag llvm_once = ONCE_FLAG_INIT;

static void
llvm_start(void)
{
    /* strength reduction takes half of the time that code for a loop takes and wins nothing: base + 8*i is an address the
     * processor adds itself. A version without the option ignores it. */
    const char *const argument[] = { "bgc", "-disable-lsr" };

    LLVMParseCommandLineOptions(2, argument, NULL);
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
}

static void
set_error(gen *g, char *text)
{
    if (g->error)
        free(text);
    else
        g->error = text;
}

/* Takes LLVM's text of an error; true when there was none. */
static bool
llvm_ok(gen *g, LLVMErrorRef e, const char *doing)
{
    char *text;

    if (!e)
        return true;
    text = LLVMGetErrorMessage(e);
    set_error(g, bg_format("LLVM, %s: %s", doing, text));
    LLVMDisposeErrorMessage(text);
    return false;
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

static void
find_machine(gen *g)
{
    static const LLVMCodeGenOptLevel level[NMODULE] = { LLVMCodeGenLevelNone, LLVMCodeGenLevelDefault };
    char *cpu = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures(), *why = NULL;
    LLVMTargetRef target;

    g->triple = LLVMGetDefaultTargetTriple();
    if (LLVMGetTargetFromTriple(g->triple, &target, &why)) {
        set_error(g, bg_format("LLVM cannot generate code for %s: %s", g->triple, why));
        LLVMDisposeMessage(why);
    } else {
        /* the small model has the FastISel of level 0 load constants directly; calls far away go through stubs of the linker */
        for (int i = 0; i < NMODULE; i++)
            g->machine[i] = LLVMCreateTargetMachine(target, g->triple, cpu, features, level[i], LLVMRelocPIC, LLVMCodeModelSmall);
        if (g->machine[QUICK] && g->machine[OPTIMISED])
            g->layout = LLVMCreateTargetDataLayout(g->machine[QUICK]);
        else
            set_error(g, bg_format("LLVM cannot generate code for %s", g->triple));
    }
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
}

gen *
gen_new(pool *p)
{
    gen *g = bg_calloc(1, sizeof *g);

    call_once(&llvm_once, llvm_start);
    g->p = p;
    find_machine(g);
    return g;
}

/* ---------------------------------------------------------------- modules */

static LLVMValueRef
tbaa_tag(gen *g, const char *name)
{
    LLVMMetadataRef zero = LLVMValueAsMetadata(LLVMConstInt(g->type.i64, 0, 0));
    LLVMMetadataRef root[1] = { LLVMMDStringInContext2(g->ctx, "bgc", 3) };
    LLVMMetadataRef kind[3] = { LLVMMDStringInContext2(g->ctx, name, strlen(name)), LLVMMDNodeInContext2(g->ctx, root, 1), zero };
    LLVMMetadataRef tag[3] = { NULL, NULL, zero };

    tag[0] = tag[1] = LLVMMDNodeInContext2(g->ctx, kind, 3);
    return LLVMMetadataAsValue(g->ctx, LLVMMDNodeInContext2(g->ctx, tag, 3));
}

/* For the branch of a loop: vectors as wide as the processor likes, but one a turn. More fill the caches with code that waits for
 * memory all the same, and take as much longer to compile. */
static LLVMValueRef
loop_tag(gen *g)
{
    static const char count[] = "llvm.loop.interleave.count";
    LLVMMetadataRef interleave[2] = { LLVMMDStringInContext2(g->ctx, count, strlen(count)), LLVMValueAsMetadata(LLVMConstInt(g->type.i32, 1, 0)) };
    LLVMMetadataRef self = LLVMTemporaryMDNode(g->ctx, NULL, 0), part[2] = { self, LLVMMDNodeInContext2(g->ctx, interleave, 2) };
    LLVMMetadataRef tag = LLVMMDNodeInContext2(g->ctx, part, 2);

    LLVMMetadataReplaceAllUsesWith(self, tag);      /* names itself, as loops must; frees the placeholder */
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
open_unit(gen *g, bool optimise)
{
    struct unit *u = &g->unit[optimise ? OPTIMISED : QUICK];

    g->now = u;
    if (!g->ctx) {
        g->ctx = LLVMContextCreate();
        LLVMContextSetDiagnosticHandler(g->ctx, on_diagnostic, g);
        make_types(g);
        g->at = LLVMCreateBuilderInContext(g->ctx);
    }
    if (!u->module) {
        u->module = LLVMModuleCreateWithNameInContext(optimise ? "optimised" : "quick", g->ctx);
        LLVMSetTarget(u->module, g->triple);
        LLVMSetModuleDataLayout(u->module, g->layout);
    }
}

static void
close_units(gen *g)
{
    for (int i = 0; i < NMODULE; i++) {
        if (g->unit[i].module)
            LLVMDisposeModule(g->unit[i].module);
        vec_free(&g->unit[i].entry);
        vec_free(&g->unit[i].handle);
        g->unit[i] = (struct unit){ 0 };
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

    snprintf(name, sizeof name, "bgc_%s_%u", kind, (unsigned)g->functions++);
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
    return g->now == &g->unit[OPTIMISED];
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
    const struct callee *c = &callees[op];
    LLVMTypeRef type = c->unary ? g->type.unary : c->binary ? g->type.binary : g->type.lookup;
    LLVMValueRef *f = &g->now->callee[op];

    if (!*f) {
        LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

        *f = LLVMAddFunction(g->now->module, c->name, type);
        add_attribute(g, *f, whole, "nounwind");
        add_attribute(g, *f, whole, "willreturn");
#if LLVM_VERSION_MAJOR >= 16
        add_attribute(g, *f, whole, "memory");          /* value 0: none */
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

    for (unsigned m = (unsigned)abs(n); m; ) {
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
    LLVMValueRef bits = LLVMBuildAnd(b, LLVMBuildBitCast(b, x, g->type.i64, ""), LLVMConstInt(g->type.i64, UINT64_C(1) << 63, 0), "");

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
    case EX_SPOW: case EX_APOW:
        if (ex_is_const(g->p, e->b, &c) && (arg[0] = signed_power(g, b, e->op, x, c)))
            return arg[0];
        break;
    case EX_TABLE: case EX_TABLE_SLOPE:
        arg[0] = integer(g, (int64_t)(uintptr_t)pool_table(g->p, e->table));
        arg[1] = m > 1 ? y : number(g, -1);
        arg[2] = x;
        return call(g, b, e->op, arg);
    default:
        break;
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
            s->fixed = g->site.at[e->a].fixed && (e->b == NODE_NONE || g->site.at[e->b].fixed) && (e->c == NODE_NONE || g->site.at[e->c].fixed);
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
        return load(g, g->at, position(g, g->at, origin, s->stride == 1 ? i : LLVMBuildNSWMul(g->at, i, integer(g, s->stride), "")));
    at = LLVMBuildInBoundsGEP2(g->at, g->type.i32, origin, &i, 1, "");
    at = tagged(g, LLVMBuildLoad2(g->at, g->type.i32, at, ""), g->type.tbaa_i32);
    return load(g, g->at, position(g, g->at, LLVMGetParam(f, (unsigned)s->space), LLVMBuildSExt(g->at, at, g->type.i64, "")));
}

static void
fill_kernel(gen *g, LLVMValueRef f, node root, const struct gen_slot *slot, const bool *used, uint32_t nslots)
{
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(g->ctx, f, "entry"), before = LLVMAppendBasicBlockInContext(g->ctx, f, "before");
    LLVMBasicBlockRef loop = LLVMAppendBasicBlockInContext(g->ctx, f, "members"), done = LLVMAppendBasicBlockInContext(g->ctx, f, "done");
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

uint32_t
gen_add_kernel(gen *g, node root, const struct gen_slot *slot, uint32_t nslots, bool optimise)
{
    LLVMValueRef f;
    bool *used;

    if (ex_slot_bound(g->p, root) > nslots)
        set_error(g, bg_format("a kernel reads %u slots and was given %u", (unsigned)ex_slot_bound(g->p, root), (unsigned)nslots));
    if (g->error)
        return add_handle(g, NULL);
    open_unit(g, optimise);
    f = add_function(g, g->type.kernel, "kernel");
    used = bg_calloc(nslots, sizeof *used);
    ex_slots_used(g->p, root, used, nslots);
    fill_kernel(g, f, root, slot, used, nslots);
    free(used);
    return add_handle(g, f);
}

/* ---------------------------------------------------------------- chunks */

/* A function of a chunk being filled. What was read or written stays known, so that memory is read once. */
struct piece {
    LLVMValueRef f;
    size_t nodes;
    map known;                      /* space and index -> place in value */
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
    p->f = add_function(g, g->type.chunk, "chunk");
    LLVMPositionBuilderAtEnd(g->at, LLVMAppendBasicBlockInContext(g->ctx, p->f, "entry"));
}

static LLVMValueRef
piece_end(gen *g, struct piece *p)
{
    LLVMValueRef f = p->f;

    LLVMBuildRetVoid(g->at);
    map_free(&p->known);
    vec_free(&p->value);
    *p = (struct piece){ 0 };
    return f;
}

static LLVMValueRef
ref_position(gen *g, const struct piece *p, struct gen_ref r)
{
    return position(g, g->at, LLVMGetParam(p->f, (unsigned)r.space), integer(g, r.index));
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
join(gen *g, const LLVMValueRef *piece, size_t n)
{
    LLVMValueRef f = add_function(g, g->type.chunk, "chunk"), arg[CHUNK_ARGS];

    LLVMPositionBuilderAtEnd(g->at, LLVMAppendBasicBlockInContext(g->ctx, f, "entry"));
    LLVMGetParams(f, arg);
    for (size_t i = 0; i < n; i++)
        LLVMBuildCall2(g->at, g->type.chunk, piece[i], arg, CHUNK_ARGS, "");
    LLVMBuildRetVoid(g->at);
    return f;
}

uint32_t
gen_add_chunk(gen *g, const struct gen_assign *a, size_t n, bool optimise)
{
    struct piece piece = { 0 };
    VEC(LLVMValueRef) done = { 0 };
    LLVMValueRef f;

    if (g->error)
        return add_handle(g, NULL);
    open_unit(g, optimise);
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
    f = done.n == 1 ? done.at[0] : join(g, done.at, done.n);
    vec_free(&done);
    return add_handle(g, f);
}

/* ---------------------------------------------------------------- linking */

static bool
define_callees(gen *g, LLVMOrcJITDylibRef lib)
{
    LLVMOrcCSymbolMapPairs pair = bg_calloc(EX_NOPS, sizeof *pair);
    LLVMErrorRef e;
    size_t n = 0;

    for (int op = 0; op < EX_NOPS; op++) {
        const struct callee *c = &callees[op];

        if (!c->name)
            continue;
        pair[n].Name = LLVMOrcLLJITMangleAndIntern(g->jit, c->name);
        pair[n].Sym.Address = c->unary ? (uintptr_t)c->unary : c->binary ? (uintptr_t)c->binary
            : op == EX_TABLE ? (uintptr_t)ex_table_at : (uintptr_t)ex_table_slope;
        pair[n].Sym.Flags.GenericFlags = LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
        n++;
    }
    e = LLVMOrcJITDylibDefine(lib, LLVMOrcAbsoluteSymbols(pair, n));
    free(pair);
    return llvm_ok(g, e, "defining functions");
}

static bool
make_jit(gen *g)
{
    LLVMOrcDefinitionGeneratorRef process;
    LLVMOrcJITDylibRef lib;

    if (g->jit)
        return true;
    if (!llvm_ok(g, LLVMOrcCreateLLJIT(&g->jit, NULL), "starting the linker")) {
        g->jit = NULL;
        return false;
    }
    lib = LLVMOrcLLJITGetMainJITDylib(g->jit);
    /* memcpy and the like, which the optimiser may call */
    if (!llvm_ok(g, LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, LLVMOrcLLJITGetGlobalPrefix(g->jit), NULL, NULL),
                 "finding the functions of this process"))
        return false;
    LLVMOrcJITDylibAddGenerator(lib, process);
    return define_callees(g, lib);
}

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

/* The IR comes with values shared, loads gathered and what is common to all members before the loop: what is left to do is to
 * vectorise, loops in kernels and neighbouring assignments in chunks. O2 takes four times as long and gives the same loops. */
static const char passes[] = "function(loop-simplify,lcssa,loop-vectorize,early-cse,slp-vectorizer)";

static bool
run_passes(gen *g, struct unit *u)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    bool ok = llvm_ok(g, LLVMRunPasses(u->module, passes, g->machine[OPTIMISED], options), "optimising");

    LLVMDisposePassBuilderOptions(options);
    return ok;
}

static bool
compile(gen *g, int which)
{
    struct unit *u = &g->unit[which];
    char name[64], *why = NULL;
    LLVMMemoryBufferRef object = NULL;
    LLVMOrcExecutorAddress at;
    const int64_t *address;
    bool bad;

    snprintf(name, sizeof name, "bgc_entries_%u", (unsigned)g->batches++);
    add_entries(g, u, name);
    bad = LLVMVerifyModule(u->module, LLVMReturnStatusAction, &why);
    if (bad)
        set_error(g, bg_format("LLVM, checking the code: %s", why));
    LLVMDisposeMessage(why);
    if (bad || (which == OPTIMISED && !run_passes(g, u)) || !make_jit(g))
        return false;
    why = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(g->machine[which], u->module, LLVMObjectFile, &why, &object)) {
        set_error(g, bg_format("LLVM, generating code: %s", why));
        LLVMDisposeMessage(why);
        return false;
    }
    if (!llvm_ok(g, LLVMOrcLLJITAddObjectFile(g->jit, LLVMOrcLLJITGetMainJITDylib(g->jit), object), "linking") ||
        !llvm_ok(g, LLVMOrcLLJITLookup(g->jit, &at, name), "linking"))
        return false;
    address = (const int64_t *)(uintptr_t)at;
    for (size_t i = 0; i < u->entry.n; i++)
        g->address.at[u->handle.at[i]] = (uintptr_t)address[i];
    return true;
}

bool
gen_finish(gen *g, char **why)
{
    for (int i = 0; i < NMODULE && !g->error; i++)
        if (g->unit[i].module)
            compile(g, i);
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
    if (g->jit)
        LLVMConsumeError(LLVMOrcDisposeLLJIT(g->jit));
    if (g->layout)
        LLVMDisposeTargetData(g->layout);
    for (int i = 0; i < NMODULE; i++)
        if (g->machine[i])
            LLVMDisposeTargetMachine(g->machine[i]);
    LLVMDisposeMessage(g->triple);
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

char *
gen_print_ir(const gen *g)
{
    strbuf out = { 0 };

    strbuf_puts(&out, "");
    for (int i = 0; i < NMODULE; i++) {
        char *ir = g->unit[i].module ? LLVMPrintModuleToString(g->unit[i].module) : NULL;

        if (ir)
            strbuf_puts(&out, ir);
        LLVMDisposeMessage(ir);
    }
    return out.at;
}
