/* codegen_llvm.c - the back end that makes machine code: operations and functions as LLVM instructions (backend.h) */
#include <string.h>

#include "codegen_inside.h"

/* ---------------------------------------------------------------- operations */

static code_value
number(void *of, double v)
{
    const gen *g = of;

    return llvm.ConstReal(g->type.real, v);
}

static LLVMValueRef
integer(const gen *g, int64_t v)
{
    return llvm.ConstInt(g->type.i64, (unsigned long long)v, 1);
}

static LLVMBuilderRef
builder_of(const gen *g, bool once)
{
    return once ? g->before : g->at;
}

/* LLVM modifies its argument */
static LLVMValueRef
ref(code_value v)
{
    return (LLVMValueRef)(uintptr_t)v;
}

static LLVMValueRef
intrinsic(gen *g, LLVMBuilderRef b, const char *name, LLVMValueRef a)
{
    unsigned id = llvm.LookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = llvm.GetIntrinsicDeclaration(g->now->module, id, &g->type.real, 1);

    return llvm.BuildCall2(b, llvm.IntrinsicGetType(g->ctx, id, &g->type.real, 1), f, &a, 1, "");
}

static LLVMValueRef
call_function(gen *g, LLVMBuilderRef b, enum ex_op op, LLVMValueRef *arg)
{
    LLVMTypeRef type = ex_ops[op].one ? g->type.unary : ex_ops[op].two ? g->type.binary : g->type.lookup;
    LLVMValueRef *f = &g->now->callee[op];

    if (!*f) {
        LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
        char name[NATIVE_NAME];

        *f = llvm.AddFunction(g->now->module, native_callee(op, name), type);
        gen_add_attribute(g, *f, whole, "nounwind");
        gen_add_attribute(g, *f, whole, "willreturn");
#if LLVM_VERSION_MAJOR >= 16
        gen_add_attribute(g, *f, whole, "memory"); /* value 0: none */
#else
        gen_add_attribute(g, *f, whole, "readnone");
#endif
    }
    return llvm.BuildCall2(b, type, *f, arg, llvm.CountParamTypes(type), "");
}

static LLVMValueRef
absolute(gen *g, LLVMBuilderRef b, LLVMValueRef a)
{
    if (g->now->optimise)
        return intrinsic(g, b, "llvm.fabs", a);
    /* FastISel does not know llvm.fabs */
    a = llvm.BuildBitCast(b, a, g->type.i64, "");
    a = llvm.BuildAnd(b, a, llvm.ConstInt(g->type.i64, UINT64_C(0x7fffffffffffffff), 0), "");
    return llvm.BuildBitCast(b, a, g->type.real, "");
}

static code_value
operate(void *of, bool once, enum ex_op op, const code_value *operand)
{
    gen *g = of;
    LLVMBuilderRef b = builder_of(g, once);
    LLVMValueRef x = ref(operand[0]);

    switch (op) {
    case EX_ADD: return llvm.BuildFAdd(b, x, ref(operand[1]), "");
    case EX_SUB: return llvm.BuildFSub(b, x, ref(operand[1]), "");
    case EX_MUL: return llvm.BuildFMul(b, x, ref(operand[1]), "");
    case EX_DIV: return llvm.BuildFDiv(b, x, ref(operand[1]), "");
    case EX_NEG: return llvm.BuildFNeg(b, x, "");
    case EX_SQRT: return intrinsic(g, b, "llvm.sqrt", x);
    case EX_FLOOR: return intrinsic(g, b, "llvm.floor", x);
    case EX_CEIL: return intrinsic(g, b, "llvm.ceil", x);
    case EX_ABS: return absolute(g, b, x);
    case EX_LT: return llvm.BuildFCmp(b, LLVMRealOLT, x, ref(operand[1]), "");
    case EX_LE: return llvm.BuildFCmp(b, LLVMRealOLE, x, ref(operand[1]), "");
    case EX_EQ: return llvm.BuildFCmp(b, LLVMRealOEQ, x, ref(operand[1]), "");
    case EX_NE: return llvm.BuildFCmp(b, LLVMRealUNE, x, ref(operand[1]), "");
    case EX_AND: return llvm.BuildAnd(b, x, ref(operand[1]), "");
    case EX_OR: return llvm.BuildOr(b, x, ref(operand[1]), "");
    case EX_NOT: return llvm.BuildNot(b, x, "");
    case EX_SELECT: return llvm.BuildSelect(b, x, ref(operand[1]), ref(operand[2]), "");
    default: return NULL;
    }
}

static code_value
with_sign(void *of, bool once, code_value m, code_value x)
{
    gen *g = of;
    LLVMBuilderRef b = builder_of(g, once);
    LLVMValueRef bits = llvm.BuildAnd(b, llvm.BuildBitCast(b, ref(x), g->type.i64, ""),
                                      llvm.ConstInt(g->type.i64, UINT64_C(1) << 63, 0), "");

    bits = llvm.BuildOr(b, llvm.BuildBitCast(b, ref(m), g->type.i64, ""), bits, "");
    return llvm.BuildBitCast(b, bits, g->type.real, "");
}

static code_value
call(void *of, bool once, enum ex_op op, const code_value *operand)
{
    gen *g = of;

    return call_function(g, builder_of(g, once), op, (LLVMValueRef[]){ ref(operand[0]), ref(operand[1]) });
}

static code_value
look_up(void *of, bool once, enum ex_op op, const ex_table *t, code_value piece, code_value x)
{
    gen *g = of;
    LLVMValueRef arg[3] = { integer(g, (int64_t)(uintptr_t)t), ref(piece ? piece : number(g, -1)), ref(x) };

    return call_function(g, builder_of(g, once), op, arg);
}

static code_value
now(void *of)
{
    const gen *g = of;

    return llvm.GetParam(g->function, ARG_T);
}

/* ---------------------------------------------------------------- memory */

/* Not "in bounds": member 0 of a run that begins later may lie before the space. */
static LLVMValueRef
position(gen *g, LLVMBuilderRef b, LLVMValueRef space, LLVMValueRef index)
{
    return llvm.BuildGEP2(b, g->type.real, space, &index, 1, "");
}

/* Tells passes that tables and numbers are different memory. */
static LLVMValueRef
tagged(const gen *g, LLVMValueRef access, LLVMValueRef tag)
{
    if (g->now->optimise)
        llvm.SetMetadata(access, g->type.tbaa, tag);
    return access;
}

static LLVMValueRef
load_real(gen *g, LLVMBuilderRef b, LLVMValueRef at)
{
    return tagged(g, llvm.BuildLoad2(b, g->type.real, at, ""), g->type.tbaa_real);
}

static void
store_real(gen *g, LLVMValueRef v, LLVMValueRef at)
{
    tagged(g, llvm.BuildStore(g->at, v, at), g->type.tbaa_real);
}

/* ---------------------------------------------------------------- kernels */

static void
begin_kernel(void *of)
{
    gen *g = of;
    LLVMBasicBlockRef entry;
    LLVMValueRef f = gen_add_function(g, g->type.kernel, "kernel"), begin = llvm.GetParam(f, ARG_BEGIN);

    g->function = f;
    entry = llvm.AppendBasicBlockInContext(g->ctx, f, "entry");
    g->block_before = llvm.AppendBasicBlockInContext(g->ctx, f, "before");
    g->block_loop = llvm.AppendBasicBlockInContext(g->ctx, f, "members");
    g->block_done = llvm.AppendBasicBlockInContext(g->ctx, f, "done");
    g->before = llvm.CreateBuilderInContext(g->ctx);
    llvm.PositionBuilderAtEnd(g->at, entry);
    llvm.BuildCondBr(g->at, llvm.BuildICmp(g->at, LLVMIntSLT, begin, llvm.GetParam(f, ARG_END), ""), g->block_before,
                     g->block_done);
    llvm.PositionBuilderAtEnd(g->before, g->block_before);
    llvm.PositionBuilderAtEnd(g->at, g->block_loop);
    g->member = llvm.BuildPhi(g->at, g->type.i64, "i");
    llvm.AddIncoming(g->member, &begin, &g->block_before, 1);
}

static code_value
origin(void *of, const struct gen_slot *s, uint32_t k)
{
    gen *g = of;
    LLVMValueRef index = integer(g, k), at, space = llvm.GetParam(g->function, (unsigned)s->space);

    if (s->table) {
        at = llvm.BuildInBoundsGEP2(g->before, g->type.i32_ptr, llvm.GetParam(g->function, ARG_TABLE), &index, 1, "");
        return llvm.BuildLoad2(g->before, g->type.i32_ptr, at, "table");
    }
    at = llvm.BuildInBoundsGEP2(g->before, g->type.i64, llvm.GetParam(g->function, ARG_BASE), &index, 1, "");
    at = position(g, g->before, space, llvm.BuildLoad2(g->before, g->type.i64, at, "base"));
    return s->stride == 0 ? load_real(g, g->before, at) : at;
}

static code_value
member(void *of, const struct gen_slot *s, code_value origin_)
{
    gen *g = of;
    LLVMValueRef i = g->member, at;

    if (!s->table)
        return load_real(g, g->at,
                         position(g, g->at, ref(origin_),
                                  s->stride == 1 ? i : llvm.BuildNSWMul(g->at, i, integer(g, s->stride), "")));
    at = llvm.BuildInBoundsGEP2(g->at, g->type.i32, ref(origin_), &i, 1, "");
    at = tagged(g, llvm.BuildLoad2(g->at, g->type.i32, at, ""), g->type.tbaa_i32);
    return load_real(
        g, g->at,
        position(g, g->at, llvm.GetParam(g->function, (unsigned)s->space), llvm.BuildSExt(g->at, at, g->type.i64, "")));
}

static code_value
end_kernel(void *of, code_value result)
{
    gen *g = of;
    LLVMValueRef f = g->function, next, branch,
                 out = position(g, g->before, llvm.GetParam(f, ARG_O), llvm.GetParam(f, ARG_OBASE));

    store_real(g, ref(result), position(g, g->at, out, g->member));
    next = llvm.BuildNSWAdd(g->at, g->member, integer(g, 1), "");
    llvm.AddIncoming(g->member, &next, &g->block_loop, 1);
    branch = llvm.BuildCondBr(g->at, llvm.BuildICmp(g->at, LLVMIntSLT, next, llvm.GetParam(f, ARG_END), ""),
                              g->block_loop, g->block_done);
    llvm.SetMetadata(branch, g->type.loop, gen_loop_tag(g));
    llvm.BuildBr(g->before, g->block_loop);
    llvm.DisposeBuilder(g->before);
    llvm.PositionBuilderAtEnd(g->at, g->block_done);
    llvm.BuildRetVoid(g->at);
    return f;
}

/* ---------------------------------------------------------------- chunks */

static void
begin_chunk(void *of, bool located)
{
    gen *g = of;

    g->function = gen_add_function(g, located ? g->type.located : g->type.chunk, "chunk");
    g->located = located;
    g->before = g->at;
    llvm.PositionBuilderAtEnd(g->at, llvm.AppendBasicBlockInContext(g->ctx, g->function, "entry"));
}

static LLVMValueRef
pointer_to(gen *g, struct gen_ref r)
{
    LLVMValueRef index = integer(g, r.index);

    if (g->located) {
        index = llvm.BuildInBoundsGEP2(g->at, g->type.i32, llvm.GetParam(g->function, ARG_AT), &index, 1, "");
        index = llvm.BuildSExt(g->at, tagged(g, llvm.BuildLoad2(g->at, g->type.i32, index, ""), g->type.tbaa_i32),
                               g->type.i64, "");
    }
    return position(g, g->at, llvm.GetParam(g->function, (unsigned)r.space), index);
}

static code_value
load(void *of, struct gen_ref r)
{
    gen *g = of;

    return load_real(g, g->at, pointer_to(g, r));
}

static void
store(void *of, struct gen_ref to, code_value v)
{
    gen *g = of;

    store_real(g, ref(v), pointer_to(g, to));
}

static code_value
end_chunk(void *of)
{
    gen *g = of;

    llvm.BuildRetVoid(g->at);
    return g->function;
}

static code_value
join(void *of, bool located, const code_value *function, size_t n)
{
    gen *g = of;
    LLVMTypeRef type = located ? g->type.located : g->type.chunk;
    LLVMValueRef f = gen_add_function(g, type, "chunk"), arg[LOCATED_ARGS];

    llvm.PositionBuilderAtEnd(g->at, llvm.AppendBasicBlockInContext(g->ctx, f, "entry"));
    llvm.GetParams(f, arg);
    for (size_t i = 0; i < n; i++)
        llvm.BuildCall2(g->at, type, ref(function[i]), arg, llvm.CountParamTypes(type), "");
    llvm.BuildRetVoid(g->at);
    return f;
}

const backend gen_llvm = BACKEND_OF_THIS_FILE;
